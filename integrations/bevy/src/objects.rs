//! Bodies for entities that have what they are made of, and none for those that are gone.

use bevy::ecs::message::MessageCursor;
use bevy::prelude::*;
use bevy_rapier3d::prelude::{
    ActiveEvents, Ccd, CollisionGroups, Damping, Dominance, Friction, GravityScale, LockedAxes,
    Restitution, RigidBody, Sensor, SolverGroups, Velocity,
};
use bevy_rapier3d::rapier::prelude::{Pose, RigidBodyBuilder};
use fracas_core::FragmentId;
use fracas_fracture::Breaker;
use fracas_rapier::{Breakable as Body, PieceId};

use crate::asset::FracasAsset;
use crate::bake::{Baking, tell};
use crate::components::{
    Breakable, BreakableAsset, BreakableBlueprint, Breaks, Motion, Piece, Unbreakable,
};
use crate::engine::{Fracas, with_engine};
use crate::error::FracasError;
use crate::events::BreakableReady;
use crate::scale::{self, Scaled};
use crate::skin::Skin;

/// The entity is an object of the world already, whole or broken.
#[derive(Component, Clone, Copy, Debug)]
pub(crate) struct Added;

type Unadded = (
    With<Breakable>,
    With<BreakableBlueprint>,
    Without<Added>,
    Without<Unbreakable>,
);

/// Adds an object for every entity that is ready, in the order of the entities.
pub(crate) fn add_objects(world: &mut World) -> Result {
    let mut ready = world.query_filtered::<Entity, Unadded>();
    let mut ready: Vec<Entity> = ready.iter(world).collect();
    if ready.is_empty() {
        return Ok(());
    }
    // Where entities lie in memory is nothing that bits may depend on.
    ready.sort_unstable_by_key(|entity| (entity.index_u32(), entity.generation().to_bits()));
    let mut failed = Vec::new();
    ready.retain(|&entity| {
        scale::apply(world, entity).unwrap_or_else(|error| {
            failed.push((entity, Err(error)));
            false
        })
    });
    let added = with_engine(world, |fracas, world| {
        let added = ready.into_iter().map(|e| (e, add(fracas, world, e)));
        failed.into_iter().chain(added).collect::<Vec<_>>()
    });
    for (entity, added) in added.map_err(BevyError::error)? {
        match added {
            Ok(()) => world.trigger(BreakableReady { entity }),
            Err(error) => {
                world.entity_mut(entity).insert(Unbreakable);
                tell(&mut world.commands(), error);
            }
        }
    }
    world.flush();
    Ok(())
}

fn add(fracas: &mut Fracas, world: &mut World, entity: Entity) -> Result<(), FracasError> {
    let found = world.entity(entity);
    let (Some(breakable), Some(made)) = (found.get::<Breakable>(), found.get()) else {
        return Ok(());
    };
    let BreakableBlueprint { blueprint, modes } = made;
    let material = breakable.material;
    let checked = material.validate();
    checked.map_err(|source| FracasError::Material { entity, source })?;
    let breaker = match breakable.breaks {
        Breaks::ByModes => Breaker::new(material, modes.clone()),
        Breaks::ByThreshold => Breaker::new(material, None),
        Breaks::ByStrength(strength) => Breaker::new(material, None).with_strength(strength),
    };
    let global = found.get::<GlobalTransform>().copied().unwrap_or_default();
    let place = global.compute_transform();
    let kind = found.get::<RigidBody>().copied().unwrap_or_default();
    let mut options = Body::new(blueprint.clone())
        .with_breaker(breaker)
        .body(RigidBodyBuilder::new(kind.into()))
        .at(Pose::from_parts(place.translation, place.rotation));
    let scale = found.get::<Scaled>().map_or(1.0, |scaled| scaled.0);
    let anchors = breakable.anchors.iter();
    options.anchors = anchors
        .map(|&(low, high)| (low * scale, high * scale))
        .collect();
    if let Some(motion) = found.get::<Motion>() {
        (options.velocity, options.spin) = (motion.velocity, motion.spin);
    } else if let Some(velocity) = found.get::<Velocity>() {
        (options.velocity, options.spin) = (velocity.linear, velocity.angular);
    }
    if let Some(friction) = found.get::<Friction>() {
        options.friction = friction.coefficient;
    }
    if let Some(restitution) = found.get::<Restitution>() {
        options.restitution = restitution.coefficient;
    }
    let object = fracas.world.add(options);
    let piece = PieceId {
        object,
        fragment: FragmentId(0),
    };
    dress_engine(fracas, &found, piece);
    fracas.objects.push(entity);
    fracas.entities.insert(piece, entity);
    let mut entity = world.entity_mut(entity);
    entity.insert((Piece(piece), Added)).remove::<Motion>();
    Ok(())
}

/// What bevy_rapier3d's components say of the body; fragments inherit it from there.
fn dress_engine(fracas: &mut Fracas, found: &EntityRef, piece: PieceId) {
    let bits = u128::from(found.id().to_bits());
    let collider = fracas.world.collider(piece);
    let physics = &mut fracas.world.physics;
    if let Some(collider) = collider.and_then(|c| physics.colliders.get_mut(c)) {
        collider.user_data = bits;
        if let Some(groups) = found.get::<CollisionGroups>() {
            collider.set_collision_groups((*groups).into());
        }
        if let Some(groups) = found.get::<SolverGroups>() {
            collider.set_solver_groups((*groups).into());
        }
        if let Some(events) = found.get::<ActiveEvents>() {
            collider.set_active_events((*events).into());
        }
        if let Some(friction) = found.get::<Friction>() {
            collider.set_friction_combine_rule(friction.combine_rule.into());
        }
        if let Some(restitution) = found.get::<Restitution>() {
            collider.set_restitution_combine_rule(restitution.combine_rule.into());
        }
        if found.contains::<Sensor>() {
            collider.set_sensor(true);
        }
    }
    if let Some(body) = fracas.world.body_mut(piece) {
        body.user_data = bits;
        if let Some(scale) = found.get::<GravityScale>() {
            body.set_gravity_scale(scale.0, true);
        }
        if let Some(damping) = found.get::<Damping>() {
            body.set_linear_damping(damping.linear_damping);
            body.set_angular_damping(damping.angular_damping);
        }
        if let Some(axes) = found.get::<LockedAxes>() {
            body.set_locked_axes((*axes).into(), true);
        }
        if let Some(dominance) = found.get::<Dominance>() {
            body.set_dominance_group(dominance.groups);
        }
        if let Some(ccd) = found.get::<Ccd>() {
            body.enable_ccd(ccd.enabled);
        }
    }
}

/// Notes that a piece's entity is gone; its body goes before the next step.
pub(crate) fn note_orphan(
    removed: On<Remove<Piece>>,
    pieces: Query<&Piece>,
    fracas: Option<ResMut<Fracas>>,
) {
    // Without the resource the plugin itself is at work, and knows.
    let (Ok(&Piece(piece)), Some(mut fracas)) = (pieces.get(removed.entity), fracas) else {
        return;
    };
    if fracas.entities.get(&piece) == Some(&removed.entity) {
        fracas.entities.remove(&piece);
        fracas.orphans.push(piece);
    }
}

/// Takes away the bodies of entities that are gone.
pub(crate) fn remove_orphans(world: &mut World) -> Result {
    if world.resource::<Fracas>().orphans.is_empty() {
        return Ok(());
    }
    with_engine(world, |fracas, _| {
        for piece in std::mem::take(&mut fracas.orphans) {
            fracas.world.remove_piece(piece);
        }
    })
    .map_err(BevyError::error)
}

/// An asset was changed: objects of it that are whole are made anew, where they are and
/// moving as they do. What is broken stays as it is.
pub(crate) fn renew_changed_assets(
    world: &mut World,
    mut cursor: Local<MessageCursor<AssetEvent<FracasAsset>>>,
) -> Result {
    let mut changed: Vec<AssetId<FracasAsset>> = Vec::new();
    if let Some(events) = world.get_resource::<Messages<AssetEvent<FracasAsset>>>() {
        changed.extend(cursor.read(events).filter_map(|event| match event {
            AssetEvent::Modified { id } => Some(*id),
            _ => None,
        }));
    }
    if changed.is_empty() {
        return Ok(());
    }
    let mut users = world.query::<(Entity, &BreakableAsset, Option<&Piece>)>();
    let users = users
        .iter(world)
        .filter(|(_, asset, _)| changed.contains(&asset.0.id()));
    let users: Vec<(Entity, Option<Piece>)> = users.map(|(e, _, p)| (e, p.copied())).collect();
    with_engine(world, |fracas, world| {
        for (entity, piece) in users {
            let is_added = world.entity(entity).contains::<Added>();
            if is_added && piece.is_none() {
                continue;
            }
            if let Some(Piece(piece)) = piece
                && let Some(body) = fracas.world.body(piece)
            {
                let (velocity, spin) = (body.linvel(), body.angvel());
                world.entity_mut(entity).insert(Motion { velocity, spin });
                fracas.entities.remove(&piece);
                fracas.world.remove_piece(piece);
            }
            let mut entity = world.entity_mut(entity);
            entity.remove::<(BreakableBlueprint, Scaled, Skin, Piece)>();
            entity.remove::<(Added, Unbreakable, Baking)>();
        }
    })
    .map_err(BevyError::error)
}
