//! Scenes with a budget for the whole step: it holds but for what cannot wait, and nothing is
//! lost by it.

use std::collections::BTreeMap;

use fracas_rapier::ObjectId;
use fracas_scenes::measure;
use fracas_scenes::recording::{RecordOptions, Recording};
use fracas_scenes::rigid::{self, Scene, SceneOptions};

/// Work may be as much more than the budget, or than what cannot wait where that is more: what
/// a pair will cost is known when it was asked.
const MISJUDGED: f64 = 1.15;

fn scene(name: &str, seed: u64, budget_ms: Option<f32>) -> Scene {
    let options = SceneOptions {
        seed,
        step_budget: budget_ms.map(|ms| 1e-3 * ms),
        detail: 0.6,
        ..SceneOptions::default()
    };
    rigid::by_name(name, &options, &mut |_| ()).unwrap()
}

struct Run {
    recording: Recording,
    /// Of the objects that broke, how many pieces each has.
    pieces: BTreeMap<ObjectId, usize>,
    lost: usize,
    deepest: f32,
    longest: f64,
}

fn run(name: &str, seed: u64, budget_ms: Option<f32>) -> Run {
    let mut scene = scene(name, seed, budget_ms);
    let steps = scene.steps();
    let recording = Recording::record(&mut scene, steps, RecordOptions::NUMBERS, &mut |_| ());
    let world = scene.world();
    let mut pieces = BTreeMap::new();
    for piece in world.pieces() {
        *pieces.entry(piece.object).or_default() += 1;
    }
    pieces.retain(|_, count| *count > 1);
    let work = recording.steps.iter().map(|s| s.work);
    Run {
        pieces,
        lost: measure::lost(world, scene.floor_height()).total(),
        deepest: world.deepest_overlap(),
        longest: work.fold(0.0, f64::max),
        recording,
    }
}

/// A scene with and without a budget: whatever the course of the pieces, what breaks, where it
/// comes to rest and how much energy it has does not hang on when work is done.
fn check(name: &str, seed: u64, budget_ms: f32, [later, deepest_mm]: [f32; 2]) -> [Run; 2] {
    let [free, held] = [run(name, seed, None), run(name, seed, Some(budget_ms))];
    let steps = &held.recording.steps;
    let waited: u64 = steps.iter().map(|s| s.pairs_waiting).sum();
    let last = |run: &Run| run.recording.breaks.last().copied().unwrap_or(0) as f32;
    let growth = 100.0 * held.recording.energy_growth_of_input();
    println!(
        "{name}, seed {seed}: longest step {:.1} -> {:.1} ms of work, {waited} pairs waited, {} \
         and {} objects in {} and {} pieces, last break {} and {}, energy grew by {growth:.2}%, \
         deepest {:.2} and {:.2} mm",
        free.longest,
        held.longest,
        free.pieces.len(),
        held.pieces.len(),
        free.pieces.values().sum::<usize>(),
        held.pieces.values().sum::<usize>(),
        last(&free),
        last(&held),
        1e3 * free.deepest,
        1e3 * held.deepest,
    );
    for step in steps {
        let most = step.least_work.max(f64::from(budget_ms));
        assert!(
            step.work <= MISJUDGED * most,
            "{name}, step {}: {:.2} ms of work, {:.2} of it could not wait",
            step.step,
            step.work,
            step.least_work
        );
    }
    assert!(waited > 100, "{waited} pairs waited");
    assert!(held.longest < free.longest);
    assert_eq!(held.lost, 0);
    assert!(growth < 1.0, "energy grew by {growth:.2}%");
    assert!(1e3 * held.deepest < deepest_mm);
    // All break that broke without, in so many steps more.
    assert!(held.pieces.len() + 1 >= free.pieces.len());
    assert!(last(&held) <= last(&free) + later);
    let first = |run: &Run| run.recording.breaks.first().copied();
    assert_eq!(first(&held), first(&free), "the first impact does not wait");
    [free, held]
}

#[test]
fn work_is_spread_over_steps_where_many_break_at_once() {
    let [free, held] = check("bricks", 0, 4.0, [20.0, 12.0]);
    assert!(2.0 * held.longest < free.longest);
    let hits = held.recording.steps.iter().map(|s| s.breaks_waiting);
    assert!(hits.max() > Some(2), "hits wait, too");
}

#[test]
fn pieces_of_one_break_wait_for_each_other() {
    check("piggy-bank", 0, 2.0, [0.0, 6.0]);
}

#[test]
fn without_a_budget_nothing_waits() {
    let free = run("piggy-bank", 1, None);
    for step in &free.recording.steps {
        assert_eq!((step.pairs_waiting, step.parts_spared), (0, 0));
        assert!(step.least_work <= step.work);
    }
    // Neither where it is never reached: the same bits.
    let ends = [None, Some(1e6)].map(|budget| {
        let mut scene = scene("piggy-bank", 1, budget);
        (0..60).for_each(|_| scene.step());
        scene.world().digest()
    });
    assert_eq!(ends[0], ends[1]);
}

#[test]
fn a_snapshot_goes_on_with_what_waits() {
    let mut scene = scene("bricks", 0, Some(4.0));
    while scene.world().stats().breaks_waiting == 0 {
        scene.step();
        assert!(scene.world().steps() < 60, "hits wait");
    }
    let bytes = scene.world().snapshot().unwrap();
    let mut ends = Vec::new();
    for restored in [false, true] {
        let world = scene.world_mut();
        if restored {
            world.restore(&bytes).unwrap();
        }
        let mut waited = 0;
        for _ in 0..15 {
            world.step();
            waited += world.stats().pairs_waiting;
        }
        assert!(waited > 100);
        ends.push((world.digest(), waited, world.stats().work));
    }
    assert_eq!(ends[0], ends[1]);
}

#[cfg(feature = "parallel")]
#[test]
fn threads_do_not_change_what_waits() {
    let ends = [1, 2].map(|threads| {
        let mut scene = scene("bricks", 0, Some(4.0));
        let physics = &mut scene.world_mut().physics;
        physics.configure_thread_pool(threads).unwrap();
        let mut waited = 0;
        for _ in 0..35 {
            scene.step();
            waited += scene.world().stats().pairs_waiting;
        }
        assert!(waited > 100);
        (scene.world().digest(), waited)
    });
    assert_eq!(ends[0], ends[1]);
}
