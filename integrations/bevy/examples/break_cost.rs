//! What the frame of a break costs in the plugin beside the library's own `World`.
//!
//! `cargo run --release --example break_cost -- [fixed|all]`
//!
//! With `fixed` the app's `FixedUpdate` has one thread, with `all` every schedule has.
//!
//! The same block falls and breaks in the same step, with the same bits, in `World`, in the
//! plugin, and in the plugin with a mesh: then the meshes of its fragments are made, too, in a
//! task on another core. Runs of the three take turns. Processor time is that of the whole
//! process, the task included; on a busy machine it is surer than the clock. The difference is
//! told of medians and of least times, and as the median of the differences run by run. What
//! the plugin and the app add is told apart, too: the frame less what `World`'s own timers count.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bevy::ecs::schedule::SingleThreadedExecutor;
use bevy::prelude::*;
use bevy::time::TimeUpdateStrategy;
use bevy_fracas::prelude::*;
use bevy_rapier3d::prelude::*;
use cpu_time::ProcessTime;
use fracas_core::FieldOptions;
use fracas_core::testing::box_grid;
use fracas_fracture::{Breaker, Material, Strength};
use fracas_rapier::{Blueprint, Breakable as Body, StepTimes, World as Destruction, WorldSettings};

const RUNS: usize = 15;
/// Of the block, in metres, and how high its corner begins.
const SIZE: Vec3 = Vec3::new(0.8, 0.4, 0.4);
const HEIGHT: f32 = 8.0;
/// It breaks at this change of speed, into so many pieces at most.
const SPEED: f32 = 0.5;
const MOST: [u32; 3] = [20, 80, 240];

fn main() -> Result {
    let mesh = box_grid([16, 8, 8], SIZE);
    let blueprint = Blueprint::build(Arc::new(mesh), &FieldOptions::default(), &default())?;
    let blueprint = Arc::new(blueprint);
    MOST.into_iter()
        .try_for_each(|most| compare(&blueprint, most))
}

/// Breaks the block in the three ways in turn, and prints what they cost.
fn compare(blueprint: &Arc<Blueprint>, most: u32) -> Result {
    let mut runs: [Vec<Run>; 3] = default();
    for _ in 0..RUNS {
        runs[0].push(run_world(blueprint, most)?);
        runs[1].push(run_plugin(blueprint, most, false)?);
        runs[2].push(run_plugin(blueprint, most, true)?);
    }
    let first = &runs[0][0];
    let same = |run: &Run| (run.fragments, run.digest) == (first.fragments, first.digest);
    if !runs.iter().flatten().all(same) {
        return Err("the runs differ".into());
    }
    let fragments = first.fragments;
    println!(
        "{fragments} fragments; median of {RUNS} runs (least), ms; more: by medians (by least; median run by run)"
    );
    println!("| what | World | plugin | more | plugin with a mesh | more |");
    println!("| --- | --- | --- | --- | --- | --- |");
    for (name, pick) in ROWS {
        let spreads = [0, 1, 2].map(|i| spread(runs[i].iter().map(pick)));
        let more = |i: usize| {
            let (own, of) = (spreads[0], spreads[i]);
            let pairs = runs[i].iter().zip(&runs[0]);
            let paired = spread(pairs.map(|(run, own)| pick(run) - pick(own))).0;
            format!("{:+.2} ({:+.2}; {paired:+.2})", of.0 - own.0, of.1 - own.1)
        };
        let (first, second) = (more(1), more(2));
        let [own, bare, seen] = spreads.map(|of| format!("{:.2} ({:.2})", of.0, of.1));
        println!("| {name} | {own} | {bare} | {first} | {seen} | {second} |");
    }
    Ok(())
}

/// What is printed.
const ROWS: [(&str, fn(&Run) -> f64); 6] = [
    ("a step before anything touches, clock", |run| run.falls),
    ("step of the break, processor", |run| run.broke.processor),
    ("step of the break, clock", |run| run.broke.clock),
    ("of it not `World`'s own, clock", |run| {
        run.broke.clock - 1e-3 * run.times.total
    }),
    ("step after it, processor", |run| run.after.processor),
    ("step after it, clock", |run| run.after.clock),
];

/// Median and least, in milliseconds.
fn spread(seconds: impl Iterator<Item = f64>) -> (f64, f64) {
    let mut all: Vec<f64> = seconds.map(|s| 1e3 * s).collect();
    all.sort_by(f64::total_cmp);
    (all[all.len() / 2], all[0])
}

/// How long something took, in seconds.
struct Cost {
    clock: f64,
    processor: f64,
}

/// What was measured in one run.
struct Run {
    /// By the clock, in seconds: the least of the steps before, which tells what a frame of the
    /// app costs by itself.
    falls: f64,
    broke: Cost,
    after: Cost,
    fragments: usize,
    digest: u64,
    /// `World`'s own, of the step of the break.
    times: StepTimes,
}

fn settings() -> WorldSettings {
    WorldSettings::default()
}

fn time(work: impl FnOnce()) -> Cost {
    let (clock, processor) = (Instant::now(), ProcessTime::now());
    work();
    Cost {
        clock: clock.elapsed().as_secs_f64(),
        processor: processor.elapsed().as_secs_f64(),
    }
}

fn run_world(blueprint: &Arc<Blueprint>, most: u32) -> Result<Run> {
    let mut world = Destruction::new(settings());
    world.add_floor(0.0, 0.6);
    let breaker = Breaker::new(Material::BRICK, None).with_strength(Strength {
        speed: SPEED,
        most_pieces: most,
    });
    let body = Body::new(blueprint.clone()).with_breaker(breaker);
    world.add(body.at((HEIGHT * Vec3::Y, Quat::IDENTITY).into()));
    measure(
        &mut world,
        |world| world.step(),
        |world| Look {
            fragments: world.pieces().count(),
            digest: world.digest(),
            times: world.stats().times,
        },
    )
}

fn run_plugin(blueprint: &Arc<Blueprint>, most: u32, is_seen: bool) -> Result<Run> {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, TransformPlugin, AssetPlugin::default()))
        .init_asset::<Mesh>()
        .add_plugins(RapierPhysicsPlugin::<NoUserData>::default().in_fixed_schedule())
        .add_plugins(FracasPlugin::<NoUserData>::new(settings()));
    let step = Duration::from_secs_f32(1.0 / 60.0);
    app.insert_resource(TimeUpdateStrategy::ManualDuration(step));
    app.finish();
    app.cleanup();
    let one_thread = |schedule: &mut Schedule| {
        schedule.set_executor(SingleThreadedExecutor::new());
    };
    match std::env::args().nth(1).as_deref() {
        Some("fixed") => {
            app.edit_schedule(FixedUpdate, one_thread);
        }
        Some("all") => {
            let mut schedules = app.world_mut().resource_mut::<Schedules>();
            schedules.iter_mut().for_each(|(_, s)| one_thread(s));
        }
        _ => {}
    }
    let mesh = Mesh::from(Cuboid::from_size(SIZE));
    let mesh = app.world_mut().resource_mut::<Assets<Mesh>>().add(mesh);
    let floor = Collider::halfspace(Vec3::Y).ok_or("up is no direction")?;
    let world = app.world_mut();
    world.spawn((floor, Friction::coefficient(0.6), Transform::default()));
    let breakable = Breakable::of(BreakMaterial::BRICK).with_strength(SPEED, most);
    let made = BreakableBlueprint::new(blueprint.clone());
    let place = Transform::from_translation(HEIGHT * Vec3::Y);
    let mut block = world.spawn((breakable, made, place));
    if is_seen {
        block.insert(Mesh3d(mesh));
    }
    // The first frame of an app makes no step; and what is worn is laid on by then.
    app.update();
    std::thread::sleep(Duration::from_millis(200));
    measure(&mut app, App::update, |app| {
        let digest = bevy_fracas::digest(app.world_mut()).unwrap_or(0);
        let world = app.world().resource::<Fracas>().world();
        Look {
            fragments: world.pieces().count(),
            digest,
            times: world.stats().times,
        }
    })
}

/// What there is after a step.
struct Look {
    fragments: usize,
    digest: u64,
    times: StepTimes,
}

/// Steps until something breaks, and once more.
fn measure<T>(run: &mut T, step: impl Fn(&mut T), look: impl Fn(&mut T) -> Look) -> Result<Run> {
    let mut falls = f64::INFINITY;
    for _ in 0..240 {
        let broke = time(|| step(run));
        let found = look(run);
        if found.fragments > 1 {
            return Ok(Run {
                falls,
                broke,
                after: time(|| step(run)),
                fragments: found.fragments,
                digest: found.digest,
                times: found.times,
            });
        }
        falls = falls.min(broke.clock);
    }
    Err("nothing broke".into())
}
