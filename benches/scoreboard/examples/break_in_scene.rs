//! Breaks as they happen in a scene, not repeated: for every step in which something broke,
//! how many bodies were asked and how many broke, the processor time of each stage, and the
//! pages of memory that each stage was the first to touch. One thread.
//!
//! `cargo run --release -p fracas-scoreboard --example break_in_scene [SCENE]`

use std::sync::Arc;

use fracas_rapier::BreakStages;
use fracas_scenes::rigid::{self, Scene, SceneOptions};
use rustix::time::{ClockId, clock_gettime};

/// What one step with breaks took, in the unit of a clock.
struct Row {
    step: u64,
    asked: usize,
    broken: usize,
    stages: BreakStages,
}

fn main() {
    let only = std::env::args().nth(1);
    let scenes = match &only {
        Some(scene) => vec![scene.as_str()],
        None => vec!["piggy-bank", "plates", "bricks", "haptic"],
    };
    for scene in scenes {
        let times = run(scene, seconds);
        let pages = run(scene, pages_touched);
        println!("{scene}: processor ms (pages first touched)");
        println!(
            "  step  asked broke |   deciding      cutting       masses        field         tree          replacing"
        );
        for (time, page) in times.iter().zip(&pages) {
            let cell = |of: fn(&BreakStages) -> f64| {
                // The world counts in thousandths of what its clock tells.
                let pages = of(&page.stages) / 1e3;
                format!("{:7.3} ({:3})", of(&time.stages), pages.round())
            };
            println!(
                "  {:5} {:5} {:5} | {} {} {} {} {} {}",
                time.step,
                time.asked,
                time.broken,
                cell(|s| s.deciding),
                cell(|s| s.cutting),
                cell(|s| s.masses),
                cell(|s| s.field),
                cell(|s| s.tree),
                cell(|s| s.replacing),
            );
        }
    }
}

/// Runs a scene by a clock, and tells the steps in which something broke.
fn run(name: &str, clock: fn() -> f64) -> Vec<Row> {
    let mut scene: Scene =
        rigid::by_name(name, &SceneOptions::default(), &mut |_| ()).expect("a scene of the set");
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    let world = scene.world_mut();
    world
        .physics
        .set_thread_pool(Some(Arc::new(pool.expect("a thread can be started"))));
    world.set_clock(clock);
    let mut rows = Vec::new();
    for _ in 0..scene.steps() {
        let before = scene.world().decisions().events;
        scene.step();
        let stats = scene.world().stats();
        if stats.broken > 0 {
            rows.push(Row {
                step: stats.step,
                asked: scene.world().decisions().events - before,
                broken: stats.broken,
                stages: stats.times.breaking,
            });
        }
    }
    rows
}

/// Seconds that this thread has had the processor.
fn seconds() -> f64 {
    let t = clock_gettime(ClockId::ThreadCPUTime);
    t.tv_sec as f64 + t.tv_nsec as f64 * 1e-9
}

/// Pages that the process was the first to touch; zero where nobody tells.
fn pages_touched() -> f64 {
    let Ok(told) = std::fs::read_to_string("/proc/self/stat") else {
        return 0.0;
    };
    // After the name, which may hold anything: state, five ids, flags, minor faults.
    let after = told.rsplit(')').next().unwrap_or_default();
    let faults = after.split_whitespace().nth(7);
    faults.and_then(|f| f.parse().ok()).unwrap_or(0.0)
}
