//! The falling rabbits within 2 ms, step by step: which steps are late, and what they did.
//!
//! `cargo run --release -p fracas-scoreboard --example deadline_steps -- voxels`
//! (or `both`): the late steps, and where the time of the worst went.

use fracas_rapier::{ContactMode, FrameBudget, StepStats, VoxelSettings};
use fracas_scenes::rigid::{self, SceneOptions};

/// Thread CPU time in seconds.
fn cpu_seconds() -> f64 {
    let t = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    t.tv_sec as f64 + t.tv_nsec as f64 * 1e-9
}

fn main() {
    let which = std::env::args().nth(1).unwrap_or_else(|| "voxels".into());
    let settings = VoxelSettings::within(FrameBudget::Milliseconds(2.0));
    let contacts = match which.as_str() {
        "both" => ContactMode::Budgeted(settings),
        _ => ContactMode::VoxelTree(settings),
    };
    let options = SceneOptions {
        contacts,
        ..SceneOptions::default()
    };
    let mut scene = match rigid::by_name("drop-bunnies", &options, &mut |_| {}) {
        Ok(scene) => scene,
        Err(error) => {
            println!("{error}");
            return;
        }
    };
    scene.world_mut().set_clock(cpu_seconds);
    let steps = scene.steps();
    let (mut late, mut served, mut asked) = (0, 0, 0);
    for _ in 0..steps {
        scene.step();
        let stats = scene.world().stats();
        served += stats.voxel.sphere_tree_pairs;
        asked += stats.voxel.sphere_tree_pairs + stats.voxel.fallbacks;
        if stats.times.collision > 2.2 {
            late += 1;
            tell(stats);
        }
    }
    println!(
        "{late} of {steps} steps late; the sphere-tree method served {served} of {asked} pairs ({:.1}%)",
        100.0 * served as f64 / asked.max(1) as f64
    );
}

fn tell(stats: &StepStats) {
    let (t, v) = (&stats.times, &stats.voxel);
    println!(
        "step {:3}: collision {:.2} ms, total {:.2}; broken {}, made again {}; last engine step: \
         refine {:.2} (find {:.2}, reduce {:.2}), relabel {:.2}; pairs {} kept {} apart {} main {} \
         late {} tests {}; pieces {}",
        stats.step,
        t.collision,
        t.total,
        stats.broken,
        stats.made_again,
        v.refine,
        v.find,
        v.reduce,
        v.relabel,
        v.pairs,
        v.kept,
        v.apart,
        v.sphere_tree_pairs,
        v.late,
        v.tests,
        stats.pieces,
    );
}
