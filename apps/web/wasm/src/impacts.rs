//! What can be heard of a step, and what raises dust: breaks and hard contacts.
//!
//! Only looks at the world, never changes it: a world that is listened to goes on with
//! the same bits.

use std::collections::BTreeMap;

use fracas_fracture::{FractureStats, Material};
use fracas_rapier::{PieceId, World};
use glam::Vec3;
use rapier3d::prelude::{Collider, ColliderHandle};

use crate::actors::name_of;

/// Numbers of an impact: place (3), energy (J), size of what rings (m), what it is made of
/// and whether it broke, area of new cracks (m²).
pub const NUMBERS: usize = 7;
/// Impacts kept until the page takes them.
const MOST_KEPT: usize = 64;
/// Impacts told at a time: the loudest.
const MOST_TOLD: usize = 16;
/// Softer ones are not heard (J).
const LEAST_ENERGY: f32 = 2e-5;

/// Listens to a world.
#[derive(Default)]
pub struct Ear {
    /// Whether contacts are listened to; breaks always are.
    pub open: bool,
    /// How hard each pair pressed in the last step (N s).
    pressed: BTreeMap<[u32; 4], f32>,
    heard: Vec<Impact>,
}

#[derive(Clone, Copy)]
struct Impact {
    at: Vec3,
    energy: f32,
    size: f32,
    material: u32,
    broke: bool,
    area: f32,
}

/// What is heard of two things is the sound of the one that rings.
struct Ringing {
    material: u32,
    size: f32,
}

impl Ear {
    /// A body broke.
    pub fn hear_break(&mut self, world: &World, children: &[PieceId], stats: &FractureStats) {
        let (mut at, mut volume, mut count) = (Vec3::ZERO, 0.0, 0.0);
        let mut material = STONE;
        for &child in children {
            let Some(body) = world.body(child) else {
                continue;
            };
            let made_of = world.breaker(child.object).map(|b| *b.material());
            at += body.center_of_mass();
            volume += body.mass() / made_of.map_or(2500.0, |m| m.density as f32);
            material = made_of.map_or(STONE, |m| index_of(&m));
            count += 1.0;
        }
        if count > 0.0 {
            self.keep(Impact {
                at: at / count,
                energy: stats.brought.max(stats.spent) as f32,
                size: libm::cbrtf(volume / count),
                material,
                broke: true,
                area: stats.area as f32,
            });
        }
    }

    /// A step was made: who hits whom, and how hard.
    pub fn hear_contacts(&mut self, world: &World) {
        if !self.open {
            self.pressed.clear();
            return;
        }
        let before = std::mem::take(&mut self.pressed);
        let (dt, gravity) = (world.dt(), world.settings().gravity.length());
        for pair in world.physics.narrow_phase.contact_pairs() {
            let (mut impulse, mut at) = (0.0, Vec3::ZERO);
            let first = world.physics.colliders.get(pair.collider1);
            let second = world.physics.colliders.get(pair.collider2);
            let (Some(first), Some(second)) = (first, second) else {
                continue;
            };
            for manifold in pair.solver_manifolds() {
                for point in &manifold.points {
                    impulse += point.data.impulse;
                    at += point.data.impulse * (*first.position() * point.local_p1);
                }
            }
            if impulse <= 0.0 {
                continue;
            }
            let ((a, b), (c, d)) = (
                pair.collider1.into_raw_parts(),
                pair.collider2.into_raw_parts(),
            );
            self.pressed.insert([a, b, c, d], impulse);
            let mass = mass_of(world, first).min(mass_of(world, second));
            // What lies presses, too: heard is what comes on top of it.
            let was = before.get(&[a, b, c, d]).copied().unwrap_or(0.0);
            let hit = impulse - 2.0 * was - 2.0 * mass * gravity * dt;
            let energy = 0.5 * hit * hit / mass;
            if !(hit > 0.0 && energy > LEAST_ENERGY && energy.is_finite()) {
                continue;
            }
            let sounds = [(pair.collider1, first), (pair.collider2, second)];
            // The smaller one rings.
            let rings = sounds
                .into_iter()
                .filter_map(|(handle, collider)| ringing(world, handle, collider))
                .min_by(|a, b| a.size.total_cmp(&b.size));
            if let Some(Ringing { material, size }) = rings {
                self.keep(Impact {
                    at: at / impulse,
                    energy,
                    size,
                    material,
                    broke: false,
                    area: 0.0,
                });
            }
        }
    }

    /// The world went elsewhere: what was heard there does not count.
    pub fn forget(&mut self) {
        self.pressed.clear();
        self.heard.clear();
    }

    /// Takes what was heard, breaks first, then the loudest; see [`NUMBERS`].
    pub fn take(&mut self) -> Vec<f32> {
        let mut heard = std::mem::take(&mut self.heard);
        heard.sort_by(|a, b| {
            (b.broke, b.energy)
                .partial_cmp(&(a.broke, a.energy))
                .unwrap_or(std::cmp::Ordering::Equal)
        });
        heard
            .iter()
            .take(MOST_TOLD)
            .flat_map(|i| {
                let kind = (2 * i.material + u32::from(i.broke)) as f32;
                [i.at.x, i.at.y, i.at.z, i.energy, i.size, kind, i.area]
            })
            .collect()
    }

    fn keep(&mut self, impact: Impact) {
        if self.heard.len() < MOST_KEPT {
            self.heard.push(impact);
        } else if let Some(softest) = self
            .heard
            .iter_mut()
            .min_by(|a, b| a.energy.total_cmp(&b.energy))
            .filter(|softest| softest.energy < impact.energy)
        {
            *softest = impact;
        }
    }
}

/// Numbers of what has no name among the materials: told after those that have.
const STONE: u32 = 100;
const STEEL: u32 = 101;
const WOOD: u32 = 102;

/// The number of a material in the list that the page has.
fn index_of(material: &Material) -> u32 {
    let name = name_of(material);
    let at = Material::names().position(|n| Some(n) == name);
    at.map_or(STONE, |at| at as u32)
}

/// What sounds when a collider is hit; nothing where that is the floor.
fn ringing(world: &World, handle: ColliderHandle, collider: &Collider) -> Option<Ringing> {
    if let Some(piece) = world.piece_of(handle) {
        let Some(breaker) = world.breaker(piece.object) else {
            // What cannot break: a shelf.
            return Some(Ringing {
                material: WOOD,
                size: 0.3,
            });
        };
        let volume = world.body(piece)?.mass() / breaker.material().density as f32;
        return Some(Ringing {
            material: index_of(breaker.material()),
            size: libm::cbrtf(volume),
        });
    }
    let ball = collider.shape().as_ball()?;
    Some(Ringing {
        material: STEEL,
        size: 2.0 * ball.radius,
    })
}

/// Infinite where it does not move.
fn mass_of(world: &World, collider: &Collider) -> f32 {
    let body = collider.parent().and_then(|b| world.physics.bodies.get(b));
    match body {
        Some(body) if body.is_dynamic() => body.mass(),
        _ => f32::INFINITY,
    }
}
