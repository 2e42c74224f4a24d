//! What the frame of a break costs in the plugin beside the library's own `World`.
//!
//! `cargo run --release --example break_cost`
//!
//! The same block falls and breaks in the same step, with the same bits; the least time of
//! some runs of each. In the plugin it has a mesh, so its fragments' meshes are made, too.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bevy::prelude::*;
use bevy::time::TimeUpdateStrategy;
use bevy_fracas::prelude::*;
use bevy_rapier3d::prelude::*;
use fracas_core::FieldOptions;
use fracas_core::testing::box_grid;
use fracas_fracture::{Breaker, Material, Strength};
use fracas_rapier::{Blueprint, Breakable as Body, World as Destruction, WorldSettings};

const RUNS: usize = 15;
/// Of the block, in metres, and how high its corner begins.
const SIZE: Vec3 = Vec3::new(0.8, 0.4, 0.4);
const HEIGHT: f32 = 8.0;
/// It breaks at this change of speed, into so many pieces at most.
const SPEED: f32 = 0.5;
const MOST: u32 = 240;

fn main() -> Result {
    let mesh = box_grid([16, 8, 8], SIZE);
    let blueprint = Blueprint::build(Arc::new(mesh), &FieldOptions::default(), &default())?;
    let blueprint = Arc::new(blueprint);
    let (mut own, mut plugin) = (Sample::default(), Sample::default());
    for _ in 0..RUNS {
        own.add(run_world(&blueprint));
        plugin.add(run_plugin(&blueprint)?);
    }
    println!("{} fragments, least of {RUNS} runs, ms", own.fragments);
    println!("| step | World | plugin | difference |");
    println!("| --- | --- | --- | --- |");
    for (name, a, b) in [
        ("of the break", own.broke, plugin.broke),
        ("after it", own.after, plugin.after),
    ] {
        let (a, b) = (1e3 * a, 1e3 * b);
        println!("| {name} | {a:.2} | {b:.2} | {:+.2} |", b - a);
    }
    if own.fragments != plugin.fragments || own.digest != plugin.digest {
        return Err("the two runs differ".into());
    }
    Ok(())
}

/// What was measured, in seconds.
#[derive(Clone, Copy)]
struct Sample {
    broke: f64,
    after: f64,
    fragments: usize,
    digest: u64,
}

impl Default for Sample {
    fn default() -> Self {
        Self {
            broke: f64::INFINITY,
            after: f64::INFINITY,
            fragments: 0,
            digest: 0,
        }
    }
}

impl Sample {
    fn add(&mut self, other: Self) {
        self.broke = self.broke.min(other.broke);
        self.after = self.after.min(other.after);
        (self.fragments, self.digest) = (other.fragments, other.digest);
    }
}

fn settings() -> WorldSettings {
    WorldSettings::default()
}

/// How long something takes, in seconds.
fn time(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64()
}

fn run_world(blueprint: &Arc<Blueprint>) -> Sample {
    let mut world = Destruction::new(settings());
    world.add_floor(0.0, 0.6);
    let breaker = Breaker::new(Material::BRICK, None).with_strength(Strength {
        speed: SPEED,
        most_pieces: MOST,
    });
    let body = Body::new(blueprint.clone()).with_breaker(breaker);
    world.add(body.at((HEIGHT * Vec3::Y, Quat::IDENTITY).into()));
    measure(
        &mut world,
        |world| world.step(),
        |world| (world.pieces().count(), world.digest()),
    )
}

fn run_plugin(blueprint: &Arc<Blueprint>) -> Result<Sample> {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, TransformPlugin, AssetPlugin::default()))
        .init_asset::<Mesh>()
        .add_plugins(RapierPhysicsPlugin::<NoUserData>::default().in_fixed_schedule())
        .add_plugins(FracasPlugin::<NoUserData>::new(settings()));
    let step = Duration::from_secs_f32(settings().step);
    app.insert_resource(TimeUpdateStrategy::ManualDuration(step));
    app.finish();
    app.cleanup();
    let mesh = Mesh::from(Cuboid::from_size(SIZE));
    let mesh = app.world_mut().resource_mut::<Assets<Mesh>>().add(mesh);
    let floor = Collider::halfspace(Vec3::Y).ok_or("up is no direction")?;
    let world = app.world_mut();
    world.spawn((floor, Friction::coefficient(0.6), Transform::default()));
    let breakable = Breakable::of("brick").with_strength(SPEED, MOST);
    let made = BreakableBlueprint::new(blueprint.clone());
    let place = Transform::from_translation(HEIGHT * Vec3::Y);
    world.spawn((breakable, made, Mesh3d(mesh), place));
    // The first frame of an app makes no step; and what is worn is laid on by then.
    app.update();
    std::thread::sleep(Duration::from_millis(200));
    Ok(measure(&mut app, App::update, |app| {
        let count = app.world().resource::<Fracas>().world().pieces().count();
        (count, bevy_fracas::digest(app.world_mut()).unwrap_or(0))
    }))
}

/// Steps until something breaks, and once more.
fn measure<T>(run: &mut T, step: impl Fn(&mut T), look: impl Fn(&mut T) -> (usize, u64)) -> Sample {
    for _ in 0..240 {
        let broke = time(|| step(run));
        let (fragments, digest) = look(run);
        if fragments > 1 {
            let after = time(|| step(run));
            return Sample {
                broke,
                after,
                fragments,
                digest,
            };
        }
    }
    Sample::default()
}
