//! A heavy ball lands beside the middle of a crumb that lies on the floor, alone or against
//! another heavy ball: how fast does the crumb fly off? By our contacts, and by the engine's
//! own shapes.
//!
//! `cargo run -p fracas-rapier --example pinch [iterations of the solver]` prints the largest
//! speed of the crumb for each place where the ball lands (decision 0018, *The rule of speed*).

#[path = "../tests/common/mod.rs"]
mod common;

use fracas_rapier::{
    Breakable, ContactMode, ContactSettings, ParryShape, VoxelSettings, World, WorldSettings,
};
use glam::Vec3;
use parry3d::math::Pose;
use rapier3d::prelude::{ColliderBuilder, RigidBodyBuilder, RigidBodyHandle};

/// Edge of the crumb (m) and its density: 2 g.
const EDGE: f32 = 0.01;
const DENSITY: f32 = 2_000.0;
/// Of the ball: steel, 13 kg.
const RADIUS: f32 = 0.0735;
const SPEED: f32 = 15.0;

/// How the crumb is told to the engine.
#[derive(Clone, Copy)]
enum Crumb {
    Ours(ContactMode),
    Cuboid,
}

fn main() -> Result<(), String> {
    let told = std::env::args().nth(1);
    let told = told.map(|t| t.parse().map_err(|_| "say a number of iterations"));
    let iterations: usize = told.transpose()?.unwrap_or(4);
    let voxels = ContactMode::VoxelTree(VoxelSettings::default());
    let ways = [
        ("adaptive", Crumb::Ours(ContactMode::default())),
        ("voxels", Crumb::Ours(voxels)),
        ("hull", Crumb::Ours(ContactMode::Parry(ParryShape::Hull))),
        ("cuboid", Crumb::Cuboid),
    ];
    for (beside, name) in [(false, "alone"), (true, "against another ball")] {
        println!("the crumb lies {name}; {iterations} iterations");
        print_table(&ways, beside, iterations);
    }
    Ok(())
}

/// A row for each place where the ball lands.
fn print_table(ways: &[(&str, Crumb)], beside: bool, iterations: usize) {
    print!("offset mm");
    for (name, _) in ways {
        print!(" {name:>9}");
    }
    println!("   (m/s)");
    let mut most = vec![0.0_f32; ways.len()];
    for step in -6..=18 {
        let offset = 0.004 * step as f32;
        print!("{:>9.0}", 1e3 * offset);
        for (most, &(_, crumb)) in most.iter_mut().zip(ways) {
            let fastest = (0..5)
                .map(|phase| fastest(crumb, (offset, phase as f32 / 5.0), beside, iterations))
                .fold(0.0, f32::max);
            *most = most.max(fastest);
            print!(" {fastest:>9.1}");
        }
        println!();
    }
    print!("     most");
    most.iter().for_each(|most| print!(" {most:>9.1}"));
    println!();
}

/// The crumb's largest speed. The ball starts some share of a step's way higher, so that it
/// arrives at another time within the step.
fn fastest(crumb: Crumb, (offset, phase): (f32, f32), beside: bool, iterations: usize) -> f32 {
    let mode = match crumb {
        Crumb::Ours(mode) => mode,
        Crumb::Cuboid => ContactMode::default(),
    };
    // As in a soak.
    let mut world = World::new(WorldSettings {
        length_unit: 0.05,
        contacts: ContactSettings {
            mode,
            ..ContactSettings::default()
        },
        ..WorldSettings::measured()
    });
    let parameters = &mut world.physics.integration_parameters;
    parameters.num_solver_iterations = iterations;
    world.add_floor(0.0, 0.6);
    let at = Vec3::Y * 0.5 * EDGE;
    let handle = match crumb {
        Crumb::Cuboid => {
            let shape = ColliderBuilder::cuboid(0.5 * EDGE, 0.5 * EDGE, 0.5 * EDGE);
            let body = RigidBodyBuilder::dynamic().translation(at);
            world.physics.insert(body, shape.density(DENSITY)).0
        }
        Crumb::Ours(_) => {
            let shape = common::blueprint([2, 2, 2], Vec3::splat(EDGE));
            let breakable = Breakable {
                density: DENSITY,
                ..Breakable::new(shape)
            };
            world.add(breakable.at(Pose::from_translation(at)));
            piece_body(&world)
        }
    };
    let steel = || ColliderBuilder::ball(RADIUS).density(7_800.0);
    if beside {
        // The other ball touches the crumb's upper edge.
        let (up, half) = (RADIUS - EDGE, 0.5 * EDGE);
        let x = -half - (RADIUS * RADIUS - up * up).sqrt();
        let other = RigidBodyBuilder::dynamic().translation(Vec3::new(x, RADIUS, 0.0));
        world.physics.insert(other, steel());
    }
    for _ in 0..30 {
        world.step();
    }
    let height = RADIUS + 2.0 * EDGE + SPEED / 60.0 * (1.0 + phase);
    let ball = RigidBodyBuilder::dynamic().translation(Vec3::new(offset, height, 0.0003));
    let ball = ball.linvel(Vec3::NEG_Y * SPEED);
    world.physics.insert(ball, steel());
    let mut fastest = 0.0_f32;
    for _ in 0..12 {
        world.step();
        fastest = fastest.max(world.physics.bodies[handle].linvel().length());
    }
    fastest
}

/// The body of the world's only piece: the only one that moves so far.
fn piece_body(world: &World) -> RigidBodyHandle {
    let mut all = world.physics.bodies.iter();
    let crumb = all.find(|(_, body)| body.is_dynamic());
    crumb.expect("a body was added").0
}
