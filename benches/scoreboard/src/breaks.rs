//! Breaking inside one frame: the whole break, what it hands on, the longest steps.
//!
//! Rows of one thread run in a pool of one, and are times on the processor; those of two
//! threads say so, and are times by the clock. Contacts are part of the longest steps and
//! of nothing else.

use std::sync::Arc;

use fracas_rapier::{Breakable, StepStats, World, WorldSettings};
use fracas_scenes::recording::{RecordOptions, Recording, Summary};
use fracas_scenes::rigid::fresh_fracture::{newborn, structures};
use fracas_scenes::rigid::{self, SceneOptions};

use crate::board::{Board, Measured, Target, best_processor_ms, processor_seconds};

/// Rows of the break.
pub fn rows(board: &mut Board) {
    if !board.wants_group("break") {
        return;
    }
    whole_breaks(board);
    newborns(board);
    longest_steps(board);
    blueprints(board);
    loading(board);
    wall(board);
}

/// Runs a scene on so many threads.
fn run(name: &str, threads: usize, options: &SceneOptions, steps: Option<u64>) -> Recording {
    let mut scene =
        rigid::by_name(name, options, &mut |_| ()).expect("the scenes of the set are sound");
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.expect("threads can be started");
    let world = scene.world_mut();
    world.physics.set_thread_pool(Some(Arc::new(pool)));
    if threads == 1 {
        world.set_clock(processor_seconds);
    }
    let steps = steps.unwrap_or(scene.steps());
    Recording::record(&mut scene, steps, RecordOptions::NUMBERS, &mut |_| ())
}

/// Deciding to replacing, of bodies that broke; and what is handed on.
fn whole_breaks(board: &mut Board) {
    for (what, scene, limit) in [
        ("piggy-bank", "piggy-bank", 4.0),
        ("brick", "bricks", 0.3),
        ("plate", "plates", 1.5),
    ] {
        let (whole, later) = (
            format!("break/whole-{what}"),
            format!("break/handed-on-{what}"),
        );
        if !board.wants_row(&whole) && !board.wants_row(&later) {
            continue;
        }
        let recording = run(scene, 1, &SceneOptions::default(), None);
        let broke: Vec<&StepStats> = recording.steps.iter().filter(|s| s.broken > 0).collect();
        let each = |of: fn(&StepStats) -> f64| {
            Summary::of(broke.iter().map(|s| of(s) / s.broken as f64)).mean
        };
        board.row(&whole, "ms", Target::AtMost(limit), || {
            let of = |what: &str, of: fn(&StepStats) -> f64| format!("{what} {:.3}", each(of));
            let stages = [
                of("deciding", |s| s.times.breaking.deciding),
                of("cutting", |s| s.times.breaking.cutting),
                of("masses", |s| s.times.breaking.masses),
                of("field", |s| s.times.breaking.field),
                of("tree", |s| s.times.breaking.tree),
                of("replacing", |s| s.times.breaking.replacing),
            ];
            Measured::new(each(|s| s.times.breaking.total())).note(format!(
                "a body, mean of {} steps with breaks; {}",
                broke.len(),
                stages.join(", ")
            ))
        });
        board.row(&later, "ms", Target::AtMost(1.0), || {
            let later = recording.summary(|s| s.times.breaking.later);
            Measured::new(later.max).note("trees, the most in one step, by the clock")
        });
    }
}

/// The 64 fragments of a fresh fracture.
fn newborns(board: &mut Board) {
    board.row("break/newborn-64", "ms", Target::AtMost(2.0), || {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
        let (now, all) = pool.expect("a thread can be started").install(|| {
            let clock = &processor_seconds;
            (newborn(0, 9, clock), structures(0, 9, clock))
        });
        let (now, all) = (now.expect("the cube breaks"), all.expect("the cube breaks"));
        Measured::new(now.update() * 1e3).note(format!(
            "before the next step; with trees {:.2} ms; cut and masses {:.2} ms more",
            all.update() * 1e3,
            now.cut_and_masses() * 1e3
        ))
    });
}

fn longest_steps(board: &mut Board) {
    for (scene, threads, limit) in [
        ("piggy-bank", 1, 10.0),
        ("plates", 1, 10.0),
        ("interactive-bunnies", 1, 10.0),
        ("drop-bunnies", 2, 20.0),
        ("bricks", 2, 20.0),
    ] {
        board.row(
            &format!("break/longest-step-{scene}"),
            "ms",
            Target::AtMost(limit),
            || {
                let recording = run(scene, threads, &SceneOptions::default(), None);
                let total = recording.summary(|s| s.times.total);
                Measured::new(total.max).note(format!(
                    "threads {threads}; mean {:.2}, 99% {:.2}",
                    total.mean, total.p99
                ))
            },
        );
    }
}

/// Many bodies of one kind.
fn blueprints(board: &mut Board) {
    board.row(
        "break/1000-bodies-of-a-blueprint",
        "ms",
        Target::AtMost(50.0),
        || {
            let mesh = fracas_bake::shapes::by_name("piggy-bank").expect("a shape of the set");
            let kind = fracas_rapier::Blueprint::build(
                Arc::new(mesh.build()),
                &fracas_core::FieldOptions::default(),
                &fracas_core::sphere_tree::BuildOptions::default(),
            );
            let kind = Arc::new(kind.expect("a blueprint"));
            let ms = best_processor_ms(3, || {
                let mut world = World::new(WorldSettings::default());
                for _ in 0..1000 {
                    world.add(Breakable::new(kind.clone()));
                }
                world.pieces().count()
            });
            Measured::new(ms).note("piggy banks")
        },
    );
}

/// From the bytes of an asset to bodies.
fn loading(board: &mut Board) {
    board.row(
        "break/load-piggy-bank-to-blueprint",
        "ms",
        Target::AtMost(3.0),
        || {
            let mesh = fracas_bake::shapes::by_name("piggy-bank").expect("a shape of the set");
            let mut asset = fracas_bake::Asset::new("piggy-bank", mesh.build());
            asset.add_object().expect("a field and a tree");
            let bytes = asset.to_bytes();
            let mesh_ms = best_processor_ms(9, || {
                fracas_bake::Asset::from_bytes(&bytes).expect("it loads")
            });
            let ms = best_processor_ms(9, || {
                let asset = fracas_bake::Asset::from_bytes(&bytes).expect("it loads");
                fracas_rapier::Blueprint::of_asset(&asset).expect("it was baked")
            });
            Measured::new(ms).note(format!(
                "{} bytes; {mesh_ms:.2} ms of it for checksums, mesh and adjacency; no modes",
                bytes.len()
            ))
        },
    );
}

/// A thousand bricks, as a game runs.
fn wall(board: &mut Board) {
    let names = ["break/wall-mean", "break/wall-max"];
    if !names.iter().any(|name| board.wants_row(name)) {
        return;
    }
    let options = SceneOptions {
        measured: false,
        ..SceneOptions::default()
    };
    let recording = run("wall", 2, &options, Some(150));
    let total = recording.summary(|s| s.times.total);
    for (name, value, limit) in [(names[0], total.mean, 12.0), (names[1], total.max, 33.0)] {
        board.row(name, "ms", Target::AtMost(limit), || {
            Measured::new(value).note("150 steps, 2 threads, as a game runs")
        });
    }
}
