//! Putting shapes back into the engine's colliders as if they had never left.
//!
//! The engine saves everything but shapes that are not parry's; balls stand in their
//! places. `Collider::set_shape` would mark them as changed, and the next step would
//! forget their contacts. So: the shapes are set in a copy of the colliders, a
//! collision pass over the copy takes the marks off again, and the clean colliders
//! are copied over those with the balls. Colliders that were marked when they were
//! saved (born after the last step) keep their marks, in their order.

use parry3d::shape::SharedShape;
use rapier3d::prelude::{
    BroadPhaseBvh, Collider, ColliderBuilder, ColliderHandle, ColliderSet, CollisionPipeline,
    IslandManager, NarrowPhase, PhysicsWorld, RigidBodySet,
};

/// Gives each collider its shape, and leaves everything else as it is.
pub(super) fn put_back(physics: &mut PhysicsWorld, shapes: &[(ColliderHandle, SharedShape)]) {
    let marked: Vec<ColliderHandle> = physics.colliders.take_modified().iter().copied().collect();
    let is_marked = |handle: &ColliderHandle| marked.contains(handle);
    let mut copy = physics.colliders.clone();
    for (handle, shape) in shapes.iter().filter(|(handle, _)| !is_marked(handle)) {
        if let Some(collider) = copy.get_mut(*handle) {
            collider.set_shape(shape.clone());
        }
    }
    // Bodies that were moved since the last step move their colliders in the copy; the
    // next step moves them to the same places again.
    let (mut bodies, mut islands) = (physics.bodies.clone(), physics.islands.clone());
    take_marks_off(&mut copy, &mut bodies, &mut islands);
    let set = &mut physics.colliders;
    for (handle, _) in shapes.iter().filter(|(handle, _)| !is_marked(handle)) {
        if let (Some(collider), Some(clean)) = (set.get_mut(*handle), copy.get(*handle)) {
            *collider = clean.clone();
        }
    }
    // Those that were marked: their own marks already say that the shape is new.
    let mut originals = Vec::new();
    let blank = blank();
    for handle in marked {
        let Some(collider) = set.get_mut(handle) else {
            continue;
        };
        let mut original = std::mem::replace(collider, blank.clone());
        if let Some((_, shape)) = shapes.iter().find(|(h, _)| *h == handle) {
            original.set_shape(shape.clone());
        }
        originals.push((handle, original));
    }
    set.take_modified();
    for (handle, original) in originals {
        if let Some(collider) = set.get_mut(handle) {
            *collider = original;
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
