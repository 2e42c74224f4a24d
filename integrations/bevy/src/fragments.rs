//! Entities of fragments: born, moved, despawned; and the events that tell of it.

use bevy::prelude::*;
use bevy_rapier3d::plugin::context::{DefaultRapierContext, RapierContextColliders};
use bevy_rapier3d::prelude::Velocity;
use fracas_fracture::FractureStats;
use fracas_rapier::{Event, PieceId};

use crate::changes::Placed;
use crate::components::{Fragment, Piece, StandIn};
use crate::engine::{Fracas, with_engine};
use crate::error::FracasError;
use crate::events::{Born, Broke, Contact, Dust, Fading, JointBroken, JointMoved, Lost, Removed};
use crate::look;

/// Turns what happened in the step into entities and events, in order.
pub(crate) fn tell_events(world: &mut World) -> Result {
    let events = world.resource_mut::<Fracas>().world.take_events();
    for event in events {
        match event {
            Event::Broke {
                piece,
                children,
                stats,
            } => tell_break(world, piece, &children, stats)?,
            Event::Born(piece) => tell_birth(world, piece),
            Event::Removed(piece) => {
                remove(world, piece, |world, entity, piece| {
                    world.trigger(Removed { entity, piece });
                });
            }
            Event::Lost(piece) => {
                remove(world, piece, |world, entity, piece| {
                    world.trigger(Lost { entity, piece });
                });
            }
            Event::Fading { piece, steps } => {
                if let Some((entity, piece)) = entities_of(world, piece) {
                    world.trigger(Fading {
                        entity,
                        piece,
                        steps,
                    });
                }
            }
            Event::Dust {
                parent,
                point,
                velocity,
                volume,
            } => {
                if let Some(entity) = world.resource::<Fracas>().object_of(parent) {
                    world.trigger(Dust {
                        entity,
                        point,
                        velocity,
                        volume,
                    });
                }
            }
            Event::JointMoved { old, new, piece } => {
                if let Some((entity, piece)) = entities_of(world, piece) {
                    world.trigger(JointMoved {
                        entity,
                        piece,
                        old,
                        new,
                    });
                }
            }
            Event::JointBroken { joint } => world.trigger(JointBroken { joint }),
            Event::Contact(contact) => tell_contact(world, &contact),
            _ => {}
        }
        world.flush();
    }
    Ok(())
}

/// The entities of a piece's object and of the piece.
fn entities_of(world: &World, piece: PieceId) -> Option<(Entity, Entity)> {
    let fracas = world.resource::<Fracas>();
    Some((fracas.object_of(piece)?, fracas.entity_of(piece)?))
}

fn tell_break(
    world: &mut World,
    piece: PieceId,
    children: &[PieceId],
    stats: FractureStats,
) -> Result {
    let fracas = world.resource::<Fracas>();
    let Some(entity) = fracas.object_of(piece) else {
        return Ok(());
    };
    let broken = fracas.entity_of(piece).unwrap_or(entity);
    let children = spawn_fragments(world, entity, children).map_err(BevyError::error)?;
    let stands_in = look::start(world, entity, broken, &children);
    world.resource_mut::<Fracas>().entities.remove(&piece);
    world.trigger(Broke {
        entity,
        piece: broken,
        children,
        stats,
    });
    // The object stays as the parent of its fragments.
    if broken == entity || stands_in {
        if let Ok(mut broken) = world.get_entity_mut(broken) {
            broken.remove::<(Piece, Fragment)>();
        }
    } else {
        despawn(world, broken);
    }
    Ok(())
}

fn tell_birth(world: &mut World, born: PieceId) {
    let Some((entity, piece)) = entities_of(world, born) else {
        return;
    };
    // The object itself has `BreakableReady`.
    if entity != piece {
        let shape = world.resource::<Fracas>().world.shape(born);
        let volume = shape.map_or(0.0, |shape| shape.volume() as f32);
        world.trigger(Born {
            entity,
            piece,
            volume,
        });
    }
}

/// One event for each of the two that is breakable.
fn tell_contact(world: &mut World, contact: &fracas_rapier::Contact) {
    let mut sets = world.query_filtered::<&RapierContextColliders, With<DefaultRapierContext>>();
    let sets = sets.single(world).ok();
    let fracas = world.resource::<Fracas>();
    let entities = [0, 1].map(|i| match contact.pieces[i] {
        Some(piece) => fracas.entity_of(piece).or(fracas.object_of(piece)),
        None => sets.and_then(|sets| sets.collider_entity(contact.colliders[i])),
    });
    for i in [0, 1] {
        let fracas = world.resource::<Fracas>();
        let object = contact.pieces[i].and_then(|piece| fracas.object_of(piece));
        let (Some(entity), Some(piece)) = (object, entities[i]) else {
            continue;
        };
        world.trigger(Contact {
            entity,
            piece,
            other: entities[1 - i],
            material: contact.materials[i],
            other_material: contact.materials[1 - i],
            point: contact.point,
            // The library's is along the force on the second.
            normal: if i == 0 {
                -contact.normal
            } else {
                contact.normal
            },
            impulse: contact.impulse,
        });
    }
}

/// One entity for each new piece, under the object's.
pub(crate) fn spawn_fragments(
    world: &mut World,
    object: Entity,
    children: &[PieceId],
) -> Result<Vec<Entity>, FracasError> {
    let parent = world.get::<GlobalTransform>(object).copied();
    let name = world.get::<Name>(object).map(|name| name.to_string());
    let name = name.unwrap_or_else(|| "Breakable".into());
    // Its object is despawned: the bodies have nobody to show them.
    let Some(parent) = parent else {
        world.resource_mut::<Fracas>().orphans.extend(children);
        return Ok(Vec::new());
    };
    with_engine(world, |fracas, world| {
        let mut fragments = Vec::with_capacity(children.len());
        for &piece in children {
            let Some(pose) = fracas.world.pose(piece) else {
                continue;
            };
            let local = place_under(&parent, pose.translation, pose.rotation);
            let entity = world.spawn((
                Name::new(format!("{name} fragment {}", piece.fragment.0)),
                Piece(piece),
                Fragment { object },
                local,
                parent.mul_transform(local),
                ChildOf(object),
            ));
            let entity = entity.id();
            #[cfg(feature = "layers")]
            look::copy_layers(world, object, entity);
            fracas.name_piece(piece, u128::from(entity.to_bits()));
            fracas.entities.insert(piece, entity);
            fragments.push(entity);
        }
        fragments
    })
}

fn remove(world: &mut World, piece: PieceId, tell: impl FnOnce(&mut World, Entity, Entity)) {
    let Some((entity, removed)) = entities_of(world, piece) else {
        return;
    };
    tell(world, entity, removed);
    world.resource_mut::<Fracas>().entities.remove(&piece);
    despawn(world, removed);
}

/// Whoever was told of it may have despawned it already.
fn despawn(world: &mut World, entity: Entity) {
    if let Ok(entity) = world.get_entity_mut(entity) {
        entity.despawn();
    }
}

/// Where something is in its parent's frame.
fn place_under(parent: &GlobalTransform, translation: Vec3, rotation: Quat) -> Transform {
    let global = Transform::from_translation(translation).with_rotation(rotation);
    if *parent == GlobalTransform::IDENTITY {
        return global;
    }
    GlobalTransform::from(global).reparented_to(parent)
}

/// Moves entities to where their bodies are, and what stands in to where that is which it
/// moves with; and writes velocities to those that have the component.
pub(crate) fn follow_bodies(world: &mut World) -> Result {
    let mut stand_ins = world.query::<(Entity, &StandIn)>();
    let stand_ins = stand_ins.iter(world).map(|(e, s)| (e, s.carrier));
    let stand_ins: Vec<(Entity, Entity)> = stand_ins.collect();
    with_engine(world, |fracas, world| {
        // Before the fragments: an object that stands in is their parent.
        for (entity, carrier) in stand_ins {
            let piece = world.get::<Piece>(carrier);
            if let Some(pose) = piece.and_then(|&Piece(piece)| fracas.world.pose(piece)) {
                place(world, entity, pose.translation, pose.rotation);
            }
        }
        for (&piece, &entity) in &fracas.entities {
            let Some(body) = fracas.world.body(piece) else {
                continue;
            };
            let pose = body.position();
            place(world, entity, pose.translation, pose.rotation);
            if let Some(mut velocity) = world.get_mut::<Velocity>(entity) {
                let (linear, angular) = (body.linvel(), body.angvel());
                velocity.set_if_neq(Velocity { linear, angular });
            }
        }
    })
    .map_err(BevyError::error)
}

/// Writes where an entity is, where that has changed: others watch for changes.
fn place(world: &mut World, entity: Entity, translation: Vec3, rotation: Quat) {
    let parent = world.get::<ChildOf>(entity).map(ChildOf::parent);
    let parent = parent.and_then(|parent| world.get::<GlobalTransform>(parent));
    let parent = parent.copied();
    let local = place_under(&parent.unwrap_or_default(), translation, rotation);
    let Some(mut place) = world.get_mut::<Transform>(entity) else {
        return;
    };
    let local = local.with_scale(place.scale);
    place.set_if_neq(local);
    // To the bit what Bevy makes of it, so that what the app changes can be told from it.
    let global = match parent {
        Some(parent) => parent.mul_transform(local),
        None => local.into(),
    };
    if let Some(mut place) = world.get_mut::<GlobalTransform>(entity) {
        place.set_if_neq(global);
    }
    match world.get_mut::<Placed>(entity) {
        Some(mut placed) => placed.0 = global,
        None => {
            world.entity_mut(entity).insert(Placed(global));
        }
    }
}
