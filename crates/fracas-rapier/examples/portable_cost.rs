//! What the feature `enhanced-determinism` costs: steps of two scenes, to be counted.
//!
//! A stack of ten bricks, and the cube of interlocking pieces while it falls on its corner
//! and breaks up. Built twice, and the instructions of `play_steps` counted:
//!
//! ```text
//! cargo build --release -p fracas-rapier --example portable_cost [--no-default-features --features world]
//! valgrind --tool=callgrind --toggle-collect='*play_steps*' target/release/examples/portable_cost cube 5 60
//! ```
//!
//! Arguments: `stack` or `cube`, the cut's seed, steps.

#[path = "../tests/common/mod.rs"]
mod common;
#[path = "../tests/common/cut_cube.rs"]
mod cut_cube;

use fracas_core::testing::Rng;
use fracas_rapier::{Breakable, World, WorldSettings};
use glam::{Quat, Vec3};
use parry3d::math::Pose;

fn main() -> Result<(), String> {
    let mut arguments = std::env::args().skip(1);
    let scene = arguments.next().unwrap_or_default();
    let mut number = || arguments.next().and_then(|n| n.parse().ok());
    let seed = number().ok_or("say a seed")?;
    let steps = number().ok_or("say how many steps")?;
    let mut world = match scene.as_str() {
        "stack" => stack(),
        "cube" => cube(seed),
        _ => return Err("say which scene: stack or cube".into()),
    };
    play_steps(&mut world, steps);
    let (points, contacts) = (world.stats().visited_points, world.stats().contacts);
    println!(
        "{scene} {seed}, {steps} steps: digest {:016x}, at the end {points} points asked, {contacts} contacts",
        world.digest()
    );
    Ok(())
}

/// What is counted.
#[inline(never)]
fn play_steps(world: &mut World, steps: u64) {
    for _ in 0..steps {
        world.step();
    }
}

/// Ten bricks on each other, nothing asleep.
fn stack() -> World {
    let mut world = World::new(WorldSettings::measured());
    world.add_floor(0.0, 0.6);
    let brick = common::brick();
    for i in 0..10 {
        let at = Pose::from_translation(Vec3::Y * (0.0325 + 0.065 * i as f32));
        world.add(Breakable::new(brick.clone()).at(at));
    }
    world
}

/// The cube in its pieces, about to touch the floor.
fn cube(seed: u64) -> World {
    let turn = Quat::from_rotation_arc(Vec3::ONE.normalize(), Vec3::NEG_Y);
    let pose = Pose::from_parts(Vec3::Y * 0.9, turn);
    let mut world = cut_cube::cube(cut_cube::best(), pose, 0.6);
    world.add_floor(0.0, 0.6);
    cut_cube::cut(&mut world, &cut_cube::groups(&mut Rng(seed)));
    world
}
