//! Heavy balls are thrown into a heap of crumbs: how fast does a crumb fly off, and how deep
//! does a ball get into the floor? With balls as the engine makes them, and with balls that
//! look ahead as pieces do; by our contacts, and by the engine's own hulls.
//!
//! `cargo run -p fracas-rapier --example heap [how many throws]` (decision 0018, *The rule of
//! speed*).

#[path = "../tests/common/mod.rs"]
mod common;

use fracas_core::testing::Rng;
use fracas_rapier::{
    Breakable, ContactMode, ContactSettings, ParryShape, VoxelSettings, World, WorldSettings,
};
use glam::Vec3;
use parry3d::math::Pose;
use rapier3d::prelude::{ColliderBuilder, RigidBodyBuilder};

/// Steel, 13 and 15 kg.
const RADII: [f32; 2] = [0.0735, 0.077];

fn main() -> Result<(), String> {
    let told = std::env::args().nth(1);
    let told = told.map(|t| t.parse().map_err(|_| "say a number of throws"));
    let throws: u64 = told.transpose()?.unwrap_or(12);
    let voxels = ContactMode::VoxelTree(VoxelSettings::default());
    println!("contacts  balls   fastest crumb of each throw, m/s; deepest ball in the floor, mm");
    for (name, mode) in [
        ("adaptive", ContactMode::default()),
        ("voxels", voxels),
        ("hull", ContactMode::Parry(ParryShape::Hull)),
    ] {
        for (ball, ahead) in [("plain", false), ("ahead", true)] {
            let mut all: Vec<f32> = Vec::new();
            let mut deepest = 0.0_f32;
            for seed in 0..throws {
                let (fastest, deep) = throw(mode, seed, ahead);
                all.push(fastest);
                deepest = deepest.max(deep);
            }
            all.sort_by(f32::total_cmp);
            let all: Vec<String> = all.iter().map(|s| format!("{s:.1}")).collect();
            println!(
                "{name:<9} {ball:<6} {}; {:.0}",
                all.join(" "),
                1e3 * deepest
            );
        }
    }
    Ok(())
}

/// The largest speed of a crumb and the largest depth of a ball in the floor.
fn throw(mode: ContactMode, seed: u64, ahead: bool) -> (f32, f32) {
    // As in a soak.
    let mut world = World::new(WorldSettings {
        length_unit: 0.05,
        contacts: ContactSettings {
            mode,
            ..ContactSettings::default()
        },
        ..WorldSettings::measured()
    });
    world.add_floor(0.0, 0.6);
    let at = Pose::from_translation(Vec3::Y * 0.04);
    let brick = Breakable {
        density: 1_900.0,
        ..Breakable::new(common::blueprint(
            [12, 4, 6],
            Vec3::new(0.215, 0.065, 0.1025),
        ))
    };
    world.add(brick.at(at));
    let whole = world.pieces().next().expect("a brick was added");
    for piece in common::shatter(&mut world, whole, 20) {
        common::shatter(&mut world, piece, 3);
    }
    let mut rng = Rng(seed + 1);
    let (mut fastest, mut deepest) = (0.0_f32, 0.0_f32);
    let mut balls = Vec::new();
    for step in 0..60 {
        if let Some(&radius) = RADII.get(balls.len())
            && step == 20 + 4 * balls.len()
        {
            let at = Vec3::new(
                rng.range(-0.1, 0.1),
                rng.range(0.4, 0.7),
                rng.range(-0.05, 0.05),
            );
            let velocity = Vec3::new(rng.range(-2.0, 2.0), rng.range(-15.0, -8.0), 0.0);
            let mut ball = RigidBodyBuilder::dynamic().translation(at).linvel(velocity);
            if ahead {
                // As scenes make them.
                let look_ahead = world.settings().look_ahead_radii();
                ball = ball
                    .ccd_enabled(true)
                    .soft_ccd_prediction(look_ahead * radius);
            }
            let steel = ColliderBuilder::ball(radius).density(7_800.0);
            balls.push((world.physics.insert(ball, steel).0, radius));
        }
        world.step();
        let pieces = world.pieces().filter_map(|piece| world.body(piece));
        fastest = pieces.map(|b| b.linvel().length()).fold(fastest, f32::max);
        for &(handle, radius) in &balls {
            let height = world.physics.bodies[handle].translation().y;
            deepest = deepest.max(radius - height);
        }
    }
    (fastest, deepest)
}
