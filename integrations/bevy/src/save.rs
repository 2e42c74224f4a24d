//! The whole destruction to bytes and back.
//!
//! Bytes hold the engine's state and every fracture, not what objects are made of. So: spawn
//! the scene as it was spawned (the same bodies in the same order), wait until it is ready,
//! then [`load`]. It goes on with the bits of the one that was saved.

use bevy::prelude::*;
use bevy_rapier3d::plugin::context::{
    DefaultRapierContext, RapierContextColliders, RapierRigidBodySet,
};
use fracas_rapier::PieceId;

use crate::components::Piece;
use crate::engine::{Debris, Fracas, with_engine};
use crate::error::FracasError;
use crate::fragments::{follow_bodies, spawn_fragments};
use crate::look;

/// The state as bytes.
///
/// # Errors
/// Where a collider has a shape that cannot be saved.
pub fn save(world: &mut World) -> Result<Vec<u8>, FracasError> {
    with_engine(world, |fracas, _| fracas.world.snapshot())?.map_err(FracasError::Save)
}

/// Becomes the state that was saved: fragments' entities are despawned and spawned as the
/// pieces are. Nothing is told as an event.
///
/// # Errors
/// Where the bytes are no state of this scene; nothing has changed then.
pub fn load(world: &mut World, bytes: &[u8]) -> Result<(), FracasError> {
    let debris = *world.resource::<Debris>();
    let old = with_engine(world, |fracas, _| {
        fracas.world.set_debris(debris.0);
        let physics = &fracas.world.physics;
        let bodies = physics.bodies.iter().map(|(h, body)| (h, body.user_data));
        let bodies: Vec<_> = bodies.collect();
        let colliders = physics.colliders.iter().map(|(h, c)| (h, c.user_data));
        let colliders: Vec<_> = colliders.collect();
        fracas.world.restore(bytes).map_err(FracasError::Load)?;
        // Entities of the bodies that are not ours are this app's, not those of the saved one.
        let physics = &mut fracas.world.physics;
        for (handle, bits) in bodies {
            if let Some(body) = physics.bodies.get_mut(handle) {
                body.user_data = bits;
            }
        }
        for (handle, bits) in colliders {
            if let Some(collider) = physics.colliders.get_mut(handle) {
                collider.user_data = bits;
            }
        }
        Ok::<_, FracasError>(std::mem::take(&mut fracas.entities))
    })??;
    look::forget_looks(world);
    for entity in old.into_values() {
        if world.resource::<Fracas>().objects.contains(&entity) {
            world.entity_mut(entity).remove::<Piece>();
        } else if let Ok(fragment) = world.get_entity_mut(entity) {
            fragment.despawn();
        }
    }
    let fracas = world.resource::<Fracas>();
    let pieces: Vec<PieceId> = fracas.world.pieces().collect();
    for object in pieces.chunk_by(|a, b| a.object == b.object) {
        show(world, object)?;
    }
    let mut sets = world.query_filtered::<
        (&mut RapierRigidBodySet, &mut RapierContextColliders),
        With<DefaultRapierContext>,
    >();
    if let Ok((mut bodies, mut colliders)) = sets.single_mut(world) {
        bodies.rebuild_entity_maps();
        colliders.rebuild_entity_maps();
    }
    follow_bodies(world).map_err(|_| FracasError::NoContext)
}

/// Gives the pieces of one object their entities.
fn show(world: &mut World, pieces: &[PieceId]) -> Result<(), FracasError> {
    let Some(object) = world.resource::<Fracas>().object_of(pieces[0]) else {
        return Ok(());
    };
    if pieces.len() == 1 && pieces[0].fragment.0 == 0 {
        if let Ok(mut entity) = world.get_entity_mut(object) {
            entity.insert(Piece(pieces[0]));
        }
        look::show_whole(world, object);
        let bits = u128::from(object.to_bits());
        with_engine(world, |fracas, _| {
            fracas.entities.insert(pieces[0], object);
            fracas.name_piece(pieces[0], bits);
        })?;
    } else {
        let fragments = spawn_fragments(world, object, pieces)?;
        look::start(world, object, object, &fragments);
    }
    Ok(())
}

/// A number that changes with any bit of any piece's state: equal digests mean equal runs.
///
/// # Errors
/// Where there is no engine.
pub fn digest(world: &mut World) -> Result<u64, FracasError> {
    with_engine(world, |fracas, _| fracas.world.digest())
}
