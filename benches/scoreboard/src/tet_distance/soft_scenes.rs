//! The three soft scenes: how fast, how deep crumbs lie and for how long, when they are done.

use std::time::Instant;

use fracas_scenes::soft::SoftScene;
use fracas_soft::SoftBody;
use glam::Vec3;

use crate::board::{Board, Measured, Target};

/// Steps of a sixtieth of a second: three seconds.
const STEPS: u64 = 180;

/// A scene is played so many times, with the same bits: each step's time is the least.
const PLAYS: usize = 3;

/// What came of a run: the same every time.
#[derive(Default, PartialEq)]
struct Run {
    /// The longest time that something was deeper than a mean edge, in seconds.
    deep: f64,
    /// The deepest of all, and a mean edge, in metres.
    deepest: (f32, f32),
    last_tear: u64,
    pieces: usize,
    /// How fast the fastest part is at the end, by the mean of its nodes, in m/s.
    speed: f32,
}

/// Rows of each scene.
pub fn rows(board: &mut Board) {
    for name in SoftScene::NAMES {
        let row = |what: &str| format!("tet-distance/{name}-{what}");
        let names = [
            row("real-time"),
            row("deep-crumbs"),
            row("last-tear"),
            row("speed-at-end"),
        ];
        if !names.iter().any(|n| board.wants_row(n)) {
            continue;
        }
        let threads = std::thread::available_parallelism()
            .map_or(1, usize::from)
            .min(2);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.expect("threads can be made");
        let (run, mut steps) = pool.install(|| play(name));
        for _ in 1..PLAYS {
            let (again, times) = pool.install(|| play(name));
            assert!(again == run, "a scene ends the same every time");
            for (least, ms) in steps.iter_mut().zip(times) {
                *least = least.min(ms);
            }
        }
        let mean = steps.iter().sum::<f64>() / steps.len() as f64;
        // Frames of 33 ms of world time: two steps.
        let frames = steps.chunks(2).map(|pair| pair.iter().sum::<f64>());
        let worst = frames.fold(0.0, f64::max);
        board.row(&names[0], "ms", Target::AtMost(1e3 / 30.0), || {
            Measured::new(2.0 * mean).note(format!(
                "mean of {} frames of 33 ms of world time, {threads} threads, the least of {PLAYS} runs for each step; worst {worst:.0} ms; {} pieces at the end",
                STEPS / 2,
                run.pieces
            ))
        });
        board.row(&names[1], "s", Target::AtMost(0.2), || {
            Measured::new(run.deep).note(format!(
                "longest that something is deeper than a mean edge ({:.0} mm); deepest ever {:.0} mm",
                1e3 * run.deepest.1,
                1e3 * run.deepest.0
            ))
        });
        board.row(&names[2], "step", Target::AtMost(150.0), || {
            Measured::new(run.last_tear as f64).note(format!(
                "of {STEPS}: nothing moves in the last half second, so nothing may tear"
            ))
        });
        board.row(&names[3], "m/s", Target::AtMost(0.5), || {
            let note = format!("of the fastest part after {STEPS} steps, the mean of its nodes");
            Measured::new(f64::from(run.speed)).note(note)
        });
    }
}

/// The mean length of edges at rest.
fn mean_edge(bodies: &[SoftBody]) -> f32 {
    let (mut sum, mut count) = (0.0, 0.0);
    for body in bodies.iter().filter(|b| !b.is_fixed()) {
        for tet in body.tets() {
            let at = tet.map(|n| body.rest()[n as usize]);
            for (i, j) in [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)] {
                sum += f64::from(at[i].distance(at[j]));
                count += 1.0;
            }
        }
    }
    (sum / f64::max(count, 1.0)) as f32
}

/// Plays a scene. Also gives how long each step took by the clock, in milliseconds.
fn play(name: &str) -> (Run, Vec<f64>) {
    let mut scene = SoftScene::new(name).expect("it is one of the scenes");
    scene.world_mut().parallel = true;
    let edge = mean_edge(scene.world().bodies());
    let mut run = Run {
        deepest: (0.0, edge),
        ..Run::default()
    };
    let mut steps = Vec::new();
    let mut deep_since = 0.0;
    for step in 1..=STEPS {
        let start = Instant::now();
        scene.step();
        steps.push(start.elapsed().as_secs_f64() * 1e3);
        let depths = scene.world().pushes().iter().map(|p| p.depth);
        let deepest = depths.fold(0.0, f32::max);
        run.deepest.0 = run.deepest.0.max(deepest);
        deep_since = if deepest > edge {
            deep_since + f64::from(SoftScene::DT)
        } else {
            0.0
        };
        run.deep = run.deep.max(deep_since);
        if scene.stats().tears > 0 {
            run.last_tear = step;
        }
    }
    run.pieces = scene.pieces();
    let moving = scene.world().bodies().iter().filter(|b| !b.is_fixed());
    run.speed = moving.map(fastest_part).fold(0.0, f32::max);
    (run, steps)
}

fn fastest_part(body: &SoftBody) -> f32 {
    let speed = |part| {
        let tets = body.topology().part_tets(part).iter();
        let nodes = tets.flat_map(|&t| body.tets()[t as usize]);
        let (sum, count) = nodes.fold((Vec3::ZERO, 0.0_f32), |(sum, count), n| {
            (sum + body.velocities()[n as usize], count + 1.0)
        });
        sum.length() / count.max(1.0)
    };
    let parts = 0..body.topology().part_count() as u32;
    parts.map(speed).fold(0.0, f32::max)
}
