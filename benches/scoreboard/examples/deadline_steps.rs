//! The falling rabbits within a budget, step by step: which steps are late and what they did,
//! and how deep the pile is.
//!
//! `cargo run --release -p fracas-scoreboard --example deadline_steps -- voxels 2 0 1 2`: the
//! method (`voxels`, `both`, or `points` for the sphere-tree method alone), the budget
//! (milliseconds; `none`; or `work=60000` for a counted one), seeds (default: 0). `LATE=1`
//! before it tells of every late step, `DEPTH=25` of the depth every 25 steps, and of the
//! deepest pairs.

use std::str::FromStr;

use fracas_rapier::{ContactMode, FrameBudget, StepStats, VoxelSettings, World};
use fracas_scenes::rigid::{self, SceneOptions};

/// The edge of the rabbits' finest voxels, in millimetres.
const VOXEL: f32 = 12.6;

/// Thread CPU time in seconds.
fn cpu_seconds() -> f64 {
    let t = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    t.tv_sec as f64 + t.tv_nsec as f64 * 1e-9
}

fn main() {
    // One thread, the one whose clock is asked.
    let one = rayon::ThreadPoolBuilder::new().num_threads(1);
    if let Err(error) = one.use_current_thread().build_global() {
        return eprintln!("error: cannot set the number of threads: {error}");
    }
    if let Err(error) = run(std::env::args().skip(1)) {
        eprintln!("error: {error}");
        std::process::exit(2);
    }
}

fn run(mut arguments: impl Iterator<Item = String>) -> Result<(), String> {
    let method = arguments.next().unwrap_or_else(|| "voxels".into());
    let budget = arguments.next().unwrap_or_else(|| "2".into());
    let contacts = contacts(&method, &budget)?;
    let mut seeds: Vec<u64> = arguments.map(|a| number(&a)).collect::<Result<_, _>>()?;
    if seeds.is_empty() {
        seeds.push(0);
    }
    for seed in seeds {
        play(&method, &budget, contacts, seed);
    }
    Ok(())
}

fn number<T: FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("{text:?} is no number"))
}

fn contacts(method: &str, budget: &str) -> Result<ContactMode, String> {
    let budget = match (budget, budget.strip_prefix("work=")) {
        ("none", _) => FrameBudget::Unlimited,
        (_, Some(units)) => FrameBudget::Work(number(units)?),
        (ms, _) => FrameBudget::Milliseconds(number(ms)?),
    };
    let settings = VoxelSettings::within(budget);
    match method {
        "both" => Ok(ContactMode::Budgeted(settings)),
        "points" => Ok(ContactMode::default()),
        "voxels" => Ok(ContactMode::VoxelTree(settings)),
        _ => Err(format!("{method:?} is none of voxels, both, points")),
    }
}

/// What came of a run.
#[derive(Default)]
struct Seen {
    late: u32,
    /// Milliseconds, and the step.
    worst: (f64, u64),
    mean: f64,
    served: u64,
    asked: u64,
    /// The greatest speed, and the lowest centre.
    fastest: f32,
    lowest: f32,
    /// The deepest overlap ever looked at, in metres.
    deepest: f32,
    pairs: u64,
    finished: u64,
}

fn play(method: &str, budget: &str, contacts: ContactMode, seed: u64) {
    let options = SceneOptions {
        contacts,
        seed,
        ..SceneOptions::default()
    };
    let mut scene = match rigid::by_name("drop-bunnies", &options, &mut |_| {}) {
        Ok(scene) => scene,
        Err(error) => return println!("{error}"),
    };
    scene.world_mut().set_clock(cpu_seconds);
    let limit = match contacts {
        ContactMode::VoxelTree(s) | ContactMode::Budgeted(s) => match s.budget {
            FrameBudget::Milliseconds(ms) => 1.1 * ms,
            _ => f64::INFINITY,
        },
        _ => 2.2,
    };
    let every = std::env::var("DEPTH").ok().and_then(|n| n.parse().ok());
    let every: u64 = every.unwrap_or(u64::MAX);
    let tells_late = std::env::var_os("LATE").is_some();
    let steps = scene.steps();
    let mut seen = Seen::default();
    for _ in 0..steps {
        scene.step();
        let stats = scene.world().stats();
        let spent = stats.times.collision;
        seen.served += stats.voxel.sphere_tree_pairs;
        let others = stats.voxel.waiting + stats.voxel.fallbacks;
        seen.asked += stats.voxel.sphere_tree_pairs + others;
        seen.pairs += stats.voxel.pairs;
        seen.finished += stats.voxel.finished;
        seen.mean += spent / steps as f64;
        if spent > seen.worst.0 {
            seen.worst = (spent, stats.step);
        }
        if spent > limit {
            seen.late += 1;
            if tells_late {
                tell(stats);
            }
        }
        if (stats.step + 1).is_multiple_of(every) {
            seen.deepest = seen.deepest.max(tell_depth(scene.world()));
        }
        for id in scene.world().pieces() {
            let Some(body) = scene.world().body(id) else {
                continue;
            };
            seen.fastest = seen.fastest.max(body.linvel().length());
            seen.lowest = seen.lowest.min(body.center_of_mass().y);
        }
    }
    let world = scene.world();
    let deepest = 1e3 * world.deepest_overlap();
    let speeds = world.pieces().filter_map(|id| world.body(id));
    let at_end = speeds.map(|b| b.linvel().length()).fold(0.0, f32::max);
    println!(
        "{method} {budget} seed {seed}: {} of {steps} late, worst {:.2} ms (step {}), mean {:.2}; \
         deepest {deepest:.1} mm ({:.2} voxels; ever looked at {:.1} mm); served {:.1}%; voxel pairs {} ({:.0}% to the \
         end); pieces {}, lost {}, fastest {:.1}, at the end {at_end:.2} m/s, lowest {:.3} m",
        seen.late,
        seen.worst.0,
        seen.worst.1,
        seen.mean,
        deepest / VOXEL,
        deepest.max(1e3 * seen.deepest),
        100.0 * seen.served as f64 / seen.asked.max(1) as f64,
        seen.pairs,
        100.0 * seen.finished as f64 / seen.pairs.max(1) as f64,
        world.pieces().count(),
        world.bodies_lost(),
        seen.fastest,
        seen.lowest,
    );
}

/// Tells how deep the pile is: the deepest overlap, in metres.
fn tell_depth(world: &World) -> f32 {
    let mut overlaps = world.overlaps();
    overlaps.sort_by(|a, b| b.depth.total_cmp(&a.depth));
    let deeper = |voxels: f32| {
        let deep = overlaps.iter();
        deep.filter(|o| 1e3 * o.depth > voxels * VOXEL).count()
    };
    let first: Vec<String> = overlaps
        .iter()
        .take(4)
        .map(|o| {
            let with = match o.other {
                None => "floor",
                Some(other) if other.object == o.piece.object => "sibling",
                Some(_) => "other",
            };
            format!("{:.0} {with}", 1e3 * o.depth)
        })
        .collect();
    let stats = world.stats();
    let v = &stats.voxel;
    println!(
        "  step {:3}: {:3} deeper than a voxel, {:3} than half; {}; {:.2} ms; pieces {} pairs {} \
         apart {} kept {} finest {} coarse {:?} by points {} fell back {}",
        stats.step,
        deeper(1.0),
        deeper(0.5),
        first.join(", "),
        stats.times.collision,
        stats.pieces,
        v.pairs,
        v.apart,
        v.kept,
        v.finished,
        v.coarse,
        v.sphere_tree_pairs,
        v.fallbacks,
    );
    overlaps.first().map_or(0.0, |o| o.depth)
}

fn tell(stats: &StepStats) {
    let (t, v) = (&stats.times, &stats.voxel);
    println!(
        "  step {:3}: collision {:.2} ms, total {:.2}; broken {}, made again {}; last engine step: \
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
