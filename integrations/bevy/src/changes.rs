//! What an app changes on its entities after their bodies are made, in bevy_rapier3d's way:
//! transforms, kinds of bodies, velocities, materials of colliders.

use bevy::prelude::*;
use bevy_rapier3d::dynamics::RapierRigidBodyHandle;
use bevy_rapier3d::geometry::RapierColliderHandle;
use bevy_rapier3d::plugin::context::{DefaultRapierContext, RapierRigidBodySet};
use bevy_rapier3d::prelude::{RigidBody, Velocity};
use bevy_rapier3d::rapier::prelude::{ColliderHandle, Pose, RigidBodyHandle, RigidBodyType};
use fracas_fracture::Material;

use crate::bake::tell;
use crate::components::{Breakable, ColliderMaterial, Piece};
use crate::engine::{Fracas, with_engine};
use crate::error::FracasError;

/// The transform that the plugin wrote last: one that differs was written by the app.
#[derive(Component, Clone, Copy, Debug)]
pub(crate) struct Placed(pub(crate) GlobalTransform);

/// Keeps bevy_rapier3d from making a second body for a breakable entity with [`RigidBody`].
pub(crate) fn claim_body(
    added: On<Add<(RigidBody, Breakable)>>,
    claimed: Query<(), (With<RigidBody>, With<Breakable>)>,
    mut commands: Commands,
) {
    if claimed.contains(added.entity) {
        let nothing = RapierRigidBodyHandle(RigidBodyHandle::invalid());
        commands.entity(added.entity).insert_if_new(nothing);
    }
}

/// Writes changed components to the bodies of pieces.
pub(crate) fn read_changes(
    fracas: Res<Fracas>,
    mut sets: Query<&mut RapierRigidBodySet, With<DefaultRapierContext>>,
    kinds: Query<(&Piece, &RigidBody, &Breakable), Changed<RigidBody>>,
    mut moved: Query<(Entity, &Piece, &GlobalTransform, &mut Placed), Changed<GlobalTransform>>,
    velocities: Query<(&Piece, &Velocity), Changed<Velocity>>,
    mut commands: Commands,
) {
    let Ok(mut set) = sets.single_mut() else {
        return;
    };
    let handle = |piece: &Piece| fracas.world.body_handle(piece.0);
    for (piece, &kind, breakable) in &kinds {
        let kind = RigidBodyType::from(kind);
        // What is anchored is fixed whatever its component says.
        if breakable.anchors.is_empty()
            && let Some(body) = handle(piece).and_then(|h| set.bodies.get_mut(h))
            && body.body_type() != kind
        {
            body.set_body_type(kind, true);
        }
    }
    for (entity, piece, transform, mut placed) in &mut moved {
        if placed.0 == *transform {
            continue;
        }
        let (old, new) = (placed.0.scale(), transform.scale());
        if (old - new).abs().max_element() > 1e-3 * old.max_element() {
            tell(&mut commands, FracasError::Rescaled { entity });
        }
        placed.0 = *transform;
        if let Some(body) = handle(piece).and_then(|h| set.bodies.get_mut(h)) {
            let (_, rotation, translation) = transform.to_scale_rotation_translation();
            let pose = Pose::from_parts(translation, rotation);
            if body.body_type() == RigidBodyType::KinematicPositionBased {
                body.set_next_kinematic_position(pose);
            } else {
                body.set_position(pose, true);
            }
        }
    }
    for (piece, velocity) in &velocities {
        if let Some(body) = handle(piece).and_then(|h| set.bodies.get_mut(h))
            && (body.linvel() != velocity.linear || body.angvel() != velocity.angular)
        {
            body.set_linvel(velocity.linear, true);
            body.set_angvel(velocity.angular, true);
        }
    }
}

/// Colliders of the app whose material is new.
type NewMaterials = Vec<(Entity, ColliderHandle, Material)>;

/// Finds colliders of the app whose material is new.
pub(crate) fn find_materials(
    colliders: Query<
        (Entity, &RapierColliderHandle, &ColliderMaterial),
        Or<(Changed<ColliderMaterial>, Changed<RapierColliderHandle>)>,
    >,
) -> NewMaterials {
    let found = colliders.iter();
    found
        .map(|(entity, handle, material)| (entity, handle.0, material.0))
        .collect()
}

/// Sets the materials of colliders.
pub(crate) fn set_materials(In(found): In<NewMaterials>, world: &mut World) {
    if found.is_empty() {
        return;
    }
    let errors = with_engine(world, |fracas, _| {
        let set = |(entity, collider, material)| {
            let set = fracas.world.set_collider_material(collider, material);
            set.err()
                .map(|source| FracasError::PieceAction { entity, source })
        };
        found.into_iter().filter_map(set).collect::<Vec<_>>()
    });
    for error in errors.unwrap_or_else(|error| vec![error]) {
        tell(&mut world.commands(), error);
    }
    world.flush();
}
