//! Entities of fragments: born, moved, despawned; and the events that tell of it.

use bevy::prelude::*;
use fracas_rapier::{Event, PieceId};

use crate::components::{Breakable, Fragment, Piece, StandIn};
use crate::engine::{Fracas, with_engine};
use crate::error::FracasError;
use crate::events::{Broke, FragmentBorn, FragmentRemoved, Impact};
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
            } => {
                let fracas = world.resource::<Fracas>();
                let Some(entity) = fracas.object_of(piece) else {
                    continue;
                };
                let broken = fracas.entity_of(piece).unwrap_or(entity);
                let fragments =
                    spawn_fragments(world, entity, &children).map_err(BevyError::error)?;
                let stands_in = look::start(world, entity, broken, &fragments);
                world.resource_mut::<Fracas>().entities.remove(&piece);
                world.trigger(Broke {
                    entity,
                    broken,
                    fragments,
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
            }
            Event::Born(piece) => {
                let fracas = world.resource::<Fracas>();
                let (Some(entity), Some(fragment)) =
                    (fracas.object_of(piece), fracas.entity_of(piece))
                else {
                    continue;
                };
                // The object itself is told by `BreakableReady`.
                if entity != fragment {
                    let volume = fracas.world.shape(piece).map_or(0.0, |s| s.volume() as f32);
                    world.trigger(FragmentBorn {
                        entity,
                        fragment,
                        volume,
                    });
                }
            }
            Event::Removed(piece) => remove(world, piece, false),
            Event::Lost(piece) => remove(world, piece, true),
            Event::Contact(contact) => {
                for piece in contact.pieces.into_iter().flatten() {
                    let fracas = world.resource::<Fracas>();
                    let Some(entity) = fracas.object_of(piece) else {
                        continue;
                    };
                    let hit = fracas.entity_of(piece).unwrap_or(entity);
                    let breakable = world.get::<Breakable>(entity);
                    let material = breakable.map(|b| b.material.clone()).unwrap_or_default();
                    world.trigger(Impact {
                        entity,
                        piece: hit,
                        position: contact.point,
                        impulse: contact.impulse,
                        material,
                    });
                }
            }
            _ => {}
        }
        world.flush();
    }
    Ok(())
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

fn remove(world: &mut World, piece: PieceId, lost: bool) {
    let fracas = world.resource::<Fracas>();
    let (Some(entity), Some(fragment)) = (fracas.object_of(piece), fracas.entity_of(piece)) else {
        return;
    };
    world.trigger(FragmentRemoved {
        entity,
        fragment,
        lost,
    });
    world.resource_mut::<Fracas>().entities.remove(&piece);
    despawn(world, fragment);
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
/// moves with.
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
            if let Some(pose) = fracas.world.pose(piece) {
                place(world, entity, pose.translation, pose.rotation);
            }
        }
    })
    .map_err(BevyError::error)
}

/// Writes where an entity is, where that has changed: others watch for changes.
fn place(world: &mut World, entity: Entity, translation: Vec3, rotation: Quat) {
    let parent = world.get::<ChildOf>(entity).map(ChildOf::parent);
    let parent = parent.and_then(|parent| world.get::<GlobalTransform>(parent));
    let parent = parent.copied().unwrap_or_default();
    let local = place_under(&parent, translation, rotation);
    if let Some(mut place) = world.get_mut::<Transform>(entity) {
        let scaled = local.with_scale(place.scale);
        place.set_if_neq(scaled);
    }
    if let Some(mut place) = world.get_mut::<GlobalTransform>(entity) {
        place.set_if_neq(parent.mul_transform(local));
    }
}
