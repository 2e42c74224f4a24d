//! Putting shapes back into the engine's colliders as if they had never left.
//!
//! The engine saves everything but shapes that are not parry's; balls stand in their
//! places. `Collider::set_shape` would mark them as changed, and the next step would
//! forget their contacts. So: the shapes are set in a copy of the colliders, a
//! collision pass over the copy takes the marks off again, and the clean colliders
//! are copied over those with the balls. Colliders that were marked when they were
//! saved (born, moved or changed since the engine's last step) get the marks that they had
//! then, and no others, in the same order.

use parry3d::shape::SharedShape;
use rapier3d::prelude::{
    BroadPhaseBvh, Collider, ColliderBuilder, ColliderChanges, ColliderHandle, ColliderMassProps,
    ColliderSet, ColliderType, CollisionPipeline, InteractionGroups, IslandManager, NarrowPhase,
    PhysicsWorld, RigidBodySet,
};
use serde::Deserialize;

use crate::codec::{self, CodecError};

/// Gives each collider its shape, and leaves everything else as it is.
pub(super) fn put_back(
    physics: &mut PhysicsWorld,
    shapes: &[(ColliderHandle, SharedShape)],
) -> Result<(), CodecError> {
    let marked: Vec<ColliderHandle> = physics.colliders.take_modified().iter().copied().collect();
    // A set does not list a collider again that is marked already: unmarked ones stand in
    // their places.
    let blank = blank();
    let mut originals = Vec::with_capacity(marked.len());
    for handle in marked {
        if let Some(collider) = physics.colliders.get_mut(handle) {
            originals.push((handle, std::mem::replace(collider, blank.clone())));
        }
    }
    let mut copy = physics.colliders.clone();
    for (handle, original) in &originals {
        if let Some(collider) = copy.get_mut(*handle) {
            *collider = original.clone();
        }
    }
    for (handle, shape) in shapes {
        if let Some(collider) = copy.get_mut(*handle) {
            collider.set_shape(shape.clone());
        }
    }
    // Bodies that were moved since the last step move their colliders in the copy; the
    // next step moves them to the same places again.
    let (mut bodies, mut islands) = (physics.bodies.clone(), physics.islands.clone());
    take_marks_off(&mut copy, &mut bodies, &mut islands);
    let set = &mut physics.colliders;
    for (handle, _) in shapes {
        if let (Some(collider), Some(clean)) = (set.get_mut(*handle), copy.get(*handle)) {
            *collider = clean.clone();
        }
    }
    set.take_modified();
    for (handle, mut original) in originals {
        let Some(collider) = set.get_mut(handle) else {
            continue;
        };
        if let Some((_, shape)) = shapes.iter().find(|(h, _)| *h == handle) {
            let start = Start::of(&original)?;
            if !start.marks.contains(ColliderChanges::SHAPE) {
                start.mark(collider, &original);
                continue;
            }
            original.set_shape(shape.clone());
        }
        *collider = original;
    }
    Ok(())
}

/// The first fields of a collider as the engine writes them. It shows its marks nowhere else.
#[derive(Deserialize)]
struct Start {
    _kind: ColliderType,
    _shape: SharedShape,
    mass: ColliderMassProps,
    marks: ColliderChanges,
}

impl Start {
    fn of(collider: &Collider) -> Result<Self, CodecError> {
        codec::read_start(&codec::write(collider)?)
    }

    /// Marks a clean collider as `original` is. A field is marked when it is set, most only when
    /// that changes them.
    fn mark(self, clean: &mut Collider, original: &Collider) {
        let is_marked = |mark| self.marks.contains(mark);
        if is_marked(ColliderChanges::POSITION) {
            clean.set_position(*original.position());
        }
        if let Some(local) = original.position_wrt_parent()
            && is_marked(ColliderChanges::PARENT)
        {
            clean.set_position_wrt_parent(*local);
        }
        if is_marked(ColliderChanges::GROUPS) {
            let groups = original.collision_groups();
            let other = InteractionGroups {
                memberships: !groups.memberships,
                ..groups
            };
            clean.set_collision_groups(other);
            clean.set_collision_groups(groups);
        }
        if is_marked(ColliderChanges::TYPE) {
            clean.set_sensor(!original.is_sensor());
            clean.set_sensor(original.is_sensor());
        }
        if is_marked(ColliderChanges::ENABLED_OR_DISABLED) {
            clean.set_enabled(!original.is_enabled());
            clean.set_enabled(original.is_enabled());
        }
        if is_marked(ColliderChanges::LOCAL_MASS_PROPERTIES) {
            clean.set_mass(f32::NAN);
            match self.mass {
                ColliderMassProps::Density(density) => clean.set_density(density),
                ColliderMassProps::Mass(mass) => clean.set_mass(mass),
                ColliderMassProps::MassProperties(mass) => clean.set_mass_properties(*mass),
            }
        }
    }
}

/// A collision pass that finds nothing of use but takes the marks off.
fn take_marks_off(
    colliders: &mut ColliderSet,
    bodies: &mut RigidBodySet,
    islands: &mut IslandManager,
) {
    CollisionPipeline::new().step(
        0.0,
        islands,
        &mut BroadPhaseBvh::new(),
        &mut NarrowPhase::new(),
        bodies,
        colliders,
        &(),
        &(),
    );
}

/// Any collider without marks.
fn blank() -> Collider {
    let mut set = ColliderSet::new();
    let handle = set.insert(ColliderBuilder::ball(1.0));
    take_marks_off(
        &mut set,
        &mut RigidBodySet::new(),
        &mut IslandManager::new(),
    );
    set.get(handle).expect("it was just inserted").clone()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_that_a_collider_had_are_set_again() {
        type Change = fn(&mut Collider);
        let changes: [(Change, ColliderChanges); 7] = [
            (|_| (), ColliderChanges::empty()),
            (|c| c.set_friction(0.1), ColliderChanges::empty()),
            (
                |c| c.set_translation(glam::Vec3::Y),
                ColliderChanges::POSITION,
            ),
            (
                |c| c.set_collision_groups(InteractionGroups::none()),
                ColliderChanges::GROUPS,
            ),
            (|c| c.set_sensor(true), ColliderChanges::TYPE),
            (
                |c| c.set_enabled(false),
                ColliderChanges::ENABLED_OR_DISABLED,
            ),
            (
                |c| c.set_density(3.0),
                ColliderChanges::LOCAL_MASS_PROPERTIES,
            ),
        ];
        for (change, marks) in changes {
            let mut original = blank();
            change(&mut original);
            let start = Start::of(&original).unwrap();
            assert_eq!(start.marks, marks);
            // The clean one has all that was set, and no marks.
            let mut clean = blank();
            change(&mut clean);
            let mut set = ColliderSet::new();
            let handle = set.insert(clean);
            take_marks_off(
                &mut set,
                &mut RigidBodySet::new(),
                &mut IslandManager::new(),
            );
            let mut clean = set[handle].clone();
            start.mark(&mut clean, &original);
            assert_eq!(
                codec::write(&clean).unwrap(),
                codec::write(&original).unwrap()
            );
        }
    }
}
