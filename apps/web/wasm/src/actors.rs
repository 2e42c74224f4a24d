//! Which bodies there are, by a number each, and which came and went since the page
//! last asked.

use std::collections::BTreeMap;

use fracas_fracture::Material;
use fracas_rapier::PieceId;
use parry3d::math::Pose;
use parry3d::shape::TypedShape;
use rapier3d::prelude::ColliderHandle;

use crate::challenges::Challenge;
use crate::stage::Stage;

/// Something to be drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Actor {
    /// A breakable body or fragment.
    Piece(PieceId),
    /// A plain collider of the engine: floor, rail, ball; the two parts of its handle.
    Plain(u32, u32),
}

/// All actors by number.
#[derive(Default)]
pub struct Actors {
    numbers: BTreeMap<Actor, u32>,
    next: u32,
    born: Vec<u32>,
    gone: Vec<u32>,
}

impl Actors {
    /// Looks who is there.
    pub fn look(&mut self, stage: &Stage) {
        let world = stage.world();
        let mut now: BTreeMap<Actor, u32> = BTreeMap::new();
        let pieces = world.pieces().map(Actor::Piece);
        let plain = world
            .physics
            .colliders
            .iter()
            .filter(|(handle, _)| world.piece_of(*handle).is_none())
            .map(|(handle, _)| {
                let (index, generation) = handle.into_raw_parts();
                Actor::Plain(index, generation)
            });
        for actor in pieces.chain(plain) {
            let number = match self.numbers.remove(&actor) {
                Some(number) => number,
                None => {
                    self.next += 1;
                    self.born.push(self.next);
                    self.next
                }
            };
            now.insert(actor, number);
        }
        self.gone.extend(self.numbers.values());
        self.numbers = now;
    }

    /// Forgets all, so that everything is new: after the world went back in time.
    pub fn forget(&mut self) {
        self.gone.extend(self.numbers.values());
        self.numbers.clear();
    }

    /// Takes those that came and those that went.
    pub fn take(&mut self) -> (Vec<u32>, Vec<u32>) {
        (
            std::mem::take(&mut self.born),
            std::mem::take(&mut self.gone),
        )
    }

    /// The actor of a number.
    #[must_use]
    pub fn find(&self, number: u32) -> Option<Actor> {
        self.numbers
            .iter()
            .find(|(_, n)| **n == number)
            .map(|(actor, _)| *actor)
    }

    /// The piece of a number.
    #[must_use]
    pub fn piece(&self, number: u32) -> Option<PieceId> {
        match self.find(number)? {
            Actor::Piece(piece) => Some(piece),
            Actor::Plain(..) => None,
        }
    }

    /// Number and pose of all, eight numbers each: number, place, turn (x y z w).
    #[must_use]
    pub fn poses(&self, stage: &Stage) -> Vec<f32> {
        let mut out = Vec::with_capacity(8 * self.numbers.len());
        for (&actor, &number) in &self.numbers {
            if let Some(pose) = pose(actor, stage) {
                let (p, q) = (pose.translation, pose.rotation);
                out.extend([number as f32, p.x, p.y, p.z, q.x, q.y, q.z, q.w]);
            }
        }
        out
    }

    /// What an actor is, as JSON.
    #[must_use]
    pub fn describe(&self, number: u32, stage: &Stage) -> Option<serde_json::Value> {
        let world = stage.world();
        Some(match self.find(number)? {
            Actor::Piece(piece) => serde_json::json!({
                "kind": "piece",
                "object": piece.object.0,
                "fragment": piece.fragment.0,
                "colour": stage.colour(piece.object),
                "material": world.breaker(piece.object).and_then(|b| name_of(b.material())),
                "levels": world.shape(piece)?.tree().spheres().map(|s| s.2).max(),
            }),
            actor @ Actor::Plain(..) => match shape(actor, stage)? {
                TypedShape::Ball(ball) => {
                    serde_json::json!({ "kind": "ball", "radius": ball.radius, "colour": colour(actor, stage) })
                }
                TypedShape::Cuboid(cuboid) => {
                    let half = cuboid.half_extents;
                    serde_json::json!({ "kind": "box", "half": [half.x, half.y, half.z], "colour": colour(actor, stage) })
                }
                TypedShape::HalfSpace(_) => serde_json::json!({ "kind": "floor" }),
                _ => serde_json::json!({ "kind": "other" }),
            },
        })
    }
}

/// The name of a material, however strong it was made.
#[must_use]
pub fn name_of(material: &Material) -> Option<&'static str> {
    Material::names().find(|name| {
        Material::by_name(name)
            .is_ok_and(|m| m.density == material.density && m.young == material.young)
    })
}

fn pose(actor: Actor, stage: &Stage) -> Option<Pose> {
    match actor {
        Actor::Piece(piece) => stage.world().pose(piece),
        Actor::Plain(index, generation) => {
            let handle = ColliderHandle::from_raw_parts(index, generation);
            let collider = stage.world().physics.colliders.get(handle)?;
            Some(*collider.position())
        }
    }
}

/// The colour of a plain body that has one of its own.
fn colour(actor: Actor, stage: &Stage) -> Option<[u8; 3]> {
    let Actor::Plain(index, generation) = actor else {
        return None;
    };
    let physics = &stage.world().physics;
    let handle = ColliderHandle::from_raw_parts(index, generation);
    let body = physics.colliders.get(handle)?.parent()?;
    Challenge::colour(physics.bodies.get(body)?)
}

fn shape(actor: Actor, stage: &Stage) -> Option<TypedShape<'_>> {
    let Actor::Plain(index, generation) = actor else {
        return None;
    };
    let handle = ColliderHandle::from_raw_parts(index, generation);
    let collider = stage.world().physics.colliders.get(handle)?;
    Some(collider.shape().as_typed_shape())
}
