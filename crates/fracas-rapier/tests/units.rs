//! Things break at the same height at any rate of steps, in any units, along any gravity.

mod common;

use std::sync::Arc;

use common::blueprint;
use fracas_core::{FragmentId, Fragments};
use fracas_fracture::{Breaker, Material, Modes, ModesOptions};
use fracas_rapier::{Blueprint, Breakable, Event, World, WorldSettings};
use glam::{Quat, Vec3};
use parry3d::math::Pose;
use rapier3d::prelude::*;

/// Metres per second squared.
const GRAVITY: f32 = 9.81;

/// Metres.
const SIZE: Vec3 = Vec3::new(0.2, 0.02, 0.15);
/// So that one corner comes first.
const TILT: Vec3 = Vec3::new(0.4, 0.1, 0.5);

/// A tile of plaster in the units of a world.
struct Tile {
    units: f32,
    blueprint: Arc<Blueprint>,
    /// In SI units, of a mesh as if in metres.
    breaker: Breaker,
}

impl Tile {
    fn new(units: f32, by_modes: bool) -> Self {
        let blueprint = blueprint([8, 2, 6], SIZE * units);
        let material = Material::GLASS;
        let modes = by_modes.then(|| {
            let fragments = Fragments::new(blueprint.mesh().clone());
            let options = ModesOptions {
                count: 16,
                ..ModesOptions::default()
            };
            let modes = Modes::compute(&fragments, FragmentId(0), &material, &options, &mut |_| ());
            Arc::new(modes.unwrap())
        });
        Self {
            units,
            blueprint,
            breaker: Breaker::new(material, modes),
        }
    }

    fn breakable(&self) -> Breakable {
        let mut tile = Breakable::new(self.blueprint.clone()).with_breaker(self.breaker.clone());
        tile.density = self.breaker.material().density as f32;
        tile
    }

    /// Whether the tile breaks that falls flat from a height (m), or flies as fast without
    /// gravity, along a direction. Steps last as `dt` says.
    fn breaks(&self, height: f32, down: Vec3, falls: bool, dt: &dyn Fn(usize) -> f32) -> bool {
        let mut physics = PhysicsWorld::default();
        physics.integration_parameters.length_unit = self.units;
        physics.gravity = if falls {
            down * GRAVITY * self.units
        } else {
            Vec3::ZERO
        };
        let floor = ColliderBuilder::new(SharedShape::halfspace(-down));
        physics.insert_collider(floor.friction(0.6), None);
        let mut world = World::around(physics, WorldSettings::default());
        assert_eq!(world.units_per_meter(), self.units);
        let turn = Quat::from_rotation_arc(Vec3::Y, -down);
        let turn = turn * Quat::from_scaled_axis(TILT);
        let speed = (2.0 * GRAVITY * height).sqrt();
        let (way, velocity) = if falls {
            (height, Vec3::ZERO)
        } else {
            (0.1, down * speed * self.units)
        };
        let at = -down * (way + self.reach(turn, down)) * self.units;
        let tile = self.breakable().at(Pose::from_parts(at, turn));
        world.add(tile.moving(velocity));
        let (mut time, mut step) = (0.0, 0);
        // The first impact alone: what bounces off comes down by chance.
        let until = if falls { speed / GRAVITY } else { 0.1 / speed };
        while time < until + 0.05 {
            world.physics.integration_parameters.dt = dt(step);
            time += dt(step);
            step += 1;
            world.step();
            let events = world.take_events();
            if events.iter().any(|e| matches!(e, Event::Broke { .. })) {
                return true;
            }
        }
        false
    }

    /// How far below its middle the tile reaches (m).
    fn reach(&self, turn: Quat, down: Vec3) -> f32 {
        let half = 0.5 * SIZE;
        (turn.inverse() * down).abs().dot(half)
    }

    /// The lowest height (m) from which it breaks, to two percent: the mean of falls that meet
    /// the floor at different moments of a step.
    fn height(&self, down: Vec3, falls: bool, dt: &dyn Fn(usize) -> f32) -> f32 {
        let drops = 16;
        let heights = (1..=drops).map(|i| {
            let share = i as f32 / drops as f32;
            let shifted = |step: usize| dt(step) * if step == 0 { share } else { 1.0 };
            let (mut low, mut high) = (0.002_f32, 60.0_f32);
            assert!(
                self.breaks(high, down, falls, &shifted),
                "it does not break"
            );
            while high / low > 1.02 {
                let middle = (low * high).sqrt();
                if self.breaks(middle, down, falls, &shifted) {
                    high = middle;
                } else {
                    low = middle;
                }
            }
            high
        });
        heights.sum::<f32>() / drops as f32
    }
}

/// All within a tenth of their mean.
fn assert_alike(heights: &[(String, f32)]) {
    let mean = heights.iter().map(|(_, height)| height).sum::<f32>() / heights.len() as f32;
    for (name, height) in heights {
        println!("{name}: {height:.3} m");
        let off = (height / mean - 1.0).abs();
        assert!(off < 0.1, "{name}: {height} m, and {mean} m on average");
    }
}

fn steady(rate: f32) -> impl Fn(usize) -> f32 {
    move |_| 1.0 / rate
}

#[test]
fn heights_are_the_same_in_any_units() {
    let heights = [1.0, 100.0, 1000.0].map(|units| {
        let height = Tile::new(units, true).height(Vec3::NEG_Y, true, &steady(60.0));
        (format!("{units} per metre"), height)
    });
    assert_alike(&heights);
}

/// Impulses in newton-seconds and events in SI units, whatever lengths are in.
#[test]
fn hits_break_alike_in_any_units() {
    for by_modes in [false, true] {
        let results = [1.0, 100.0, 1000.0].map(|units| {
            let tile = Tile::new(units, by_modes);
            // A new world is in the units of its settings.
            let settings = WorldSettings {
                gravity: Vec3::ZERO,
                units_per_meter: Some(units),
                ..WorldSettings::default()
            };
            let (mut low, mut high) = (0.01_f32, 1000.0_f32);
            let mut joules = 0.0;
            while high / low > 1.01 {
                let middle = (low * high).sqrt();
                let mut world = World::new(settings);
                let object = world.add(tile.breakable());
                let piece = world.first_piece(object).unwrap();
                let at = Vec3::new(0.01, 0.01, 0.0) * units;
                world.hit(piece, at, Vec3::NEG_Y * middle).unwrap();
                world.step();
                let broke = world.take_events().into_iter().find_map(|e| match e {
                    Event::Broke { stats, .. } => Some(stats.spent),
                    _ => None,
                });
                if let Some(spent) = broke {
                    (high, joules) = (middle, spent);
                } else {
                    low = middle;
                }
            }
            println!("{units} per metre, by modes {by_modes}: {high:.3} N s, {joules:.4} J");
            (high, joules)
        });
        for (impulse, joules) in results {
            assert!((impulse / results[0].0 - 1.0).abs() < 0.03);
            assert!((joules - results[0].1).abs() <= 0.1 * results[0].1);
        }
    }
}

/// By modes. What breaks by a pattern goes by the impulse of one step, of which a long step
/// holds more.
#[test]
fn heights_are_the_same_at_any_rate() {
    let tile = Tile::new(1.0, true);
    let varies = |step: usize| [1.0 / 60.0, 1.0 / 75.0, 1.0 / 50.0, 1.0 / 66.0][step % 4];
    let mut heights: Vec<(String, f32)> = [30.0, 60.0, 120.0]
        .map(|rate| {
            let height = tile.height(Vec3::NEG_Y, true, &steady(rate));
            (format!("{rate} Hz"), height)
        })
        .into();
    heights.push(("variable".into(), tile.height(Vec3::NEG_Y, true, &varies)));
    assert_alike(&heights);
}

#[test]
fn heights_are_the_same_along_any_gravity_and_without() {
    let tile = Tile::new(1.0, true);
    let slanted = Vec3::new(1.0, 2.0, -0.5).normalize();
    let mut heights: Vec<(String, f32)> = [Vec3::NEG_Y, Vec3::Y, Vec3::X, slanted]
        .map(|down| {
            let height = tile.height(down, true, &steady(60.0));
            (format!("along {down}"), height)
        })
        .into();
    let thrown = tile.height(Vec3::X, false, &steady(60.0));
    heights.push(("thrown".into(), thrown));
    assert_alike(&heights);
}
