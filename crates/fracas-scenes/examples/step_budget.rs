//! Scenes with and without a budget for the whole step: the longest steps by counted work and
//! by the clock, what was handed on, and what became of the scene.
//!
//! `cargo run --release -p fracas-scenes --example step_budget -- piggy-bank 4 0 1 2`: the
//! scene, milliseconds of work in a step, seeds (default: 0). `RATES=1` before it prints, for
//! every step, what the fixed rates were fitted to.

use fracas_rapier::StepStats;
use fracas_scenes::recording::{RecordOptions, Recording, Summary};
use fracas_scenes::rigid::{self, SceneOptions};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().unwrap_or_else(|| "piggy-bank".into());
    let ms: f32 = arguments.next().and_then(|a| a.parse().ok()).unwrap_or(4.0);
    let mut seeds: Vec<u64> = arguments.filter_map(|a| a.parse().ok()).collect();
    if seeds.is_empty() {
        seeds.push(0);
    }
    println!(
        "| {name}, seed | budget | longest step: work, ms | of it least | steps over both | milliseconds: mean | 99% | max | pairs waited | hits waited (most at once) | parts spared | pieces | lost | energy grew by, % | deepest at the end, mm | steps with breaks, first to last |"
    );
    println!("|{}", " --- |".repeat(16));
    for seed in seeds {
        for budget in [None, Some(1e-3 * ms)] {
            play(&name, seed, budget);
        }
    }
}

fn play(name: &str, seed: u64, budget: Option<f32>) {
    let options = SceneOptions {
        seed,
        step_budget: budget,
        ..SceneOptions::default()
    };
    let mut scene = match rigid::by_name(name, &options, &mut |_| {}) {
        Ok(scene) => scene,
        Err(error) => return println!("{error}"),
    };
    let steps = scene.steps();
    let recording = Recording::record(&mut scene, steps, RecordOptions::NUMBERS, &mut |_| ());
    let run = &recording.steps;
    if std::env::var_os("RATES").is_some() {
        run.iter().for_each(tell);
    }
    let limit = budget.map_or(f64::INFINITY, |s| 1e3 * f64::from(s));
    let longest = run.iter().max_by(|a, b| a.work.total_cmp(&b.work));
    let (work, least) = longest.map_or((0.0, 0.0), |s| (s.work, s.least_work));
    let over = run.iter().filter(|s| s.work > limit.max(s.least_work));
    let time = Summary::of(run.iter().map(|s| s.times.total));
    let waited: u64 = run.iter().map(|s| s.pairs_waiting).sum();
    let hits: usize = run.iter().map(|s| s.breaks_waiting).sum();
    let most = run.iter().map(|s| s.breaks_waiting).max().unwrap_or(0);
    let spared: u32 = run.iter().map(|s| s.parts_spared).sum();
    let world = scene.world();
    println!(
        "| {seed} | {} | {work:.1} | {least:.1} | {} | {:.2} | {:.1} | {:.1} | {waited} | {hits} ({most}) | {spared} | {} | {} | {:.2} | {:.2} | {}: {} to {} |",
        budget.map_or("none".into(), |s| format!("{:.1} ms", 1e3 * s)),
        over.count(),
        time.mean,
        time.p99,
        time.max,
        world.pieces().count(),
        world.bodies_lost(),
        100.0 * recording.energy_growth_of_input(),
        1e3 * world.deepest_overlap(),
        recording.breaks.len(),
        recording.breaks.first().copied().unwrap_or(0),
        recording.breaks.last().copied().unwrap_or(0),
    );
}

/// One step for a fit of the rates: times in milliseconds, then counts.
fn tell(s: &StepStats) {
    let t = &s.times;
    println!(
        "step {} total {:.3} collision {:.3} physics {:.3} deciding {:.3} rest {:.3} later {:.3} pairs {} points {} solver {} pieces {} broken {} again {} work {:.3} least {:.3} waiting {}",
        s.step,
        t.total,
        t.collision,
        t.physics,
        t.breaking.deciding,
        t.fracture + t.update - t.breaking.deciding,
        t.breaking.later,
        s.pairs,
        s.visited_points,
        s.solver_contacts,
        s.pieces,
        s.broken,
        s.made_again,
        s.work,
        s.least_work,
        s.pairs_waiting,
    );
}
