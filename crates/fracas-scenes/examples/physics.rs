//! Where the physics of a scene's most expensive steps goes: the engine's own stages, summed
//! over all engine steps of a step (one that breaks something is made again, in up to four
//! parts).
//!
//! Arguments: the scene, how many runs (3; the least of each number counts, so that a busy
//! machine is seen through), a seed (0).

use std::error::Error;

use fracas_scenes::rigid::{self, SceneOptions};

/// What is told of a step, in milliseconds but for the counts.
const NAMES: [&str; 10] = [
    "physics",
    "solver",
    "init",
    "ccd",
    "islands",
    "changes",
    "replacing",
    "steps",
    "contacts",
    "bodies",
];

fn run(name: &str, seed: u64) -> Result<Vec<[f64; 10]>, Box<dyn Error>> {
    let options = SceneOptions {
        seed,
        ..SceneOptions::default()
    };
    let mut scene = rigid::by_name(name, &options, &mut |_| ())?;
    let mut out = Vec::new();
    for _ in 0..scene.steps() {
        let mut row = [0.0; 10];
        scene.step_with(&mut |physics| {
            physics.step();
            let c = &physics.physics_pipeline.counters;
            let stages = [
                c.stages.solver_time.time_ms(),
                c.solver.velocity_assembly_time.time_ms(),
                c.ccd.toi_computation_time.time_ms(),
                c.stages.island_construction_time.time_ms(),
                c.stages.user_changes.time_ms(),
            ];
            for (sum, ms) in row[1..6].iter_mut().zip(stages) {
                *sum += ms;
            }
            row[7] += 1.0;
        });
        let stats = scene.world().stats();
        row[0] = stats.times.physics;
        row[6] = stats.times.breaking.replacing;
        row[8] = stats.solver_contacts as f64;
        row[9] = scene.world().physics.bodies.len() as f64;
        out.push(row);
    }
    Ok(out)
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().ok_or("which scene?")?;
    let runs: u32 = arguments.next().map_or(Ok(3), |n| n.parse())?;
    let seed = arguments.next().map_or(Ok(0), |n| n.parse())?;
    let mut least = run(&name, seed)?;
    for _ in 1..runs {
        for (best, row) in least.iter_mut().zip(run(&name, seed)?) {
            for (best, value) in best.iter_mut().zip(row) {
                *best = best.min(value);
            }
        }
    }
    let mut order: Vec<usize> = (0..least.len()).collect();
    order.sort_by(|&a, &b| least[b][0].total_cmp(&least[a][0]));
    println!("step  {}", NAMES.map(|n| format!("{n:>9}")).join(" "));
    for &i in order.iter().take(12) {
        println!("{i:4}  {}", least[i].map(|v| format!("{v:9.3}")).join(" "));
    }
    let mean = least.iter().map(|r| r[0]).sum::<f64>() / least.len() as f64;
    println!("physics of {} steps: mean {mean:.3} ms", least.len());
    Ok(())
}
