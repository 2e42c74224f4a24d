//! What takes minutes: every scene at its full size over ten seeds, and a small wall that is
//! hit for ten thousand steps. Fails where a body is lost, or the wall's work does not settle.
//!
//! ```text
//! cargo run --release -p fracas-scenes --example long              # every scene, ten seeds
//! cargo run --release -p fracas-scenes --example long -- bricks 3  # one of them, three seeds
//! cargo run --release -p fracas-scenes --example long -- wall 10   # the thousand bricks, by themselves
//! cargo run --release -p fracas-scenes --example long -- settle    # the small wall
//! ```
//!
//! Of each scene: the deepest pair at the end, all seeds together; and of the pairs that
//! overlap, how many are deeper than 0.5 mm + 1% of the smaller one's radius
//! (docs/decisions/0023-where-the-break-stands.md).

use std::error::Error;

use fracas_rapier::StepStats;
use fracas_scenes::measure;
use fracas_scenes::recording::{RecordOptions, Recording};
use fracas_scenes::rigid::{self, SCENES, SceneOptions, wall};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let only = arguments.next();
    let seeds = arguments.next().map_or(Ok(10), |count| count.parse())?;
    if only.as_deref() == Some("settle") {
        return watch_the_wall();
    }
    // The wall of a thousand bricks takes as long as all others: played when asked for.
    let asked = |name: &str| only.as_deref().map_or(name != "wall", |only| only == name);
    println!(
        "| scene | seeds | lost | fragments | energy grew by, % | deepest pair, mm | allowed there, mm | pairs beyond the rule |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- |");
    let mut lost = 0;
    for name in SCENES.iter().map(|s| s.name).filter(|&name| asked(name)) {
        let found = play(name, seeds)?;
        println!("{}", found.row(name, seeds));
        lost += found.lost;
    }
    if lost > 0 {
        return Err(format!("{lost} bodies were lost").into());
    }
    Ok(())
}

/// What the runs of a scene came to.
#[derive(Default)]
struct Found {
    lost: usize,
    fragments: Vec<usize>,
    growth: f64,
    /// The deepest pair, and the radius of its smaller piece, in metres.
    deepest: (f32, f32),
    overlapping: usize,
    beyond: usize,
}

/// How deep a pair at rest may be.
fn allowed(radius: f32) -> f32 {
    0.5e-3 + 0.01 * radius
}

fn play(name: &str, seeds: u64) -> Result<Found, Box<dyn Error>> {
    let mut found = Found::default();
    for seed in 0..seeds {
        let options = SceneOptions {
            seed,
            ..SceneOptions::default()
        };
        let mut scene = rigid::by_name(name, &options, &mut |_| ())?;
        let steps = scene.steps();
        let recording = Recording::record(&mut scene, steps, RecordOptions::NUMBERS, &mut |_| ());
        let (world, floor) = (scene.world(), scene.floor_height());
        found.lost += measure::lost(world, floor).total();
        let fragments = recording.steps.last().map_or(0, |s| s.fragments);
        found.fragments.push(fragments);
        found.growth = found.growth.max(recording.energy_growth_of_input());
        let overlaps = world.overlaps();
        found.overlapping += overlaps.len();
        for pair in overlaps {
            found.beyond += usize::from(pair.depth > allowed(pair.radius));
            if pair.depth > found.deepest.0 {
                found.deepest = (pair.depth, pair.radius);
            }
        }
    }
    Ok(found)
}

impl Found {
    fn row(&self, name: &str, seeds: u64) -> String {
        let least = self.fragments.iter().min().unwrap_or(&0);
        let most = self.fragments.iter().max().unwrap_or(&0);
        format!(
            "| `{name}` | {seeds} | {} | {least} to {most} | {:.2} | {:.1} | {:.1} | {} of {} |",
            self.lost,
            1e2 * self.growth,
            1e3 * self.deepest.0,
            1e3 * allowed(self.deepest.1),
            self.beyond,
            self.overlapping
        )
    }
}

/// Work and pieces, thousand by thousand: they rise while the wall falls, and then no longer.
fn watch_the_wall() -> Result<(), Box<dyn Error>> {
    let options = SceneOptions::default();
    let mut scene = wall::build_sized([12, 8], &options, &mut |_| ())?;
    let recording = Recording::record(&mut scene, 10_000, RecordOptions::NUMBERS, &mut |_| ());
    let lost = measure::lost(scene.world(), scene.floor_height());
    if lost.not_a_number > 0 || recording.breaks.len() <= 20 {
        return Err(format!("{lost:?}, {} breaks", recording.breaks.len()).into());
    }
    let mut rows = Vec::new();
    for thousand in recording.steps.chunks(1000) {
        let mean =
            |of: &dyn Fn(&_) -> f64| thousand.iter().map(of).sum::<f64>() / thousand.len() as f64;
        let fragments = thousand.iter().map(|s| s.fragments).max().unwrap_or(0);
        let points = mean(&|s: &StepStats| s.visited_points as f64);
        let ms = mean(&|s: &StepStats| s.times.total);
        println!("most fragments {fragments}, points visited {points:.0}, {ms:.2} ms a step");
        rows.push((fragments, points));
    }
    let early = rows[1..4].iter().map(|r| r.1).fold(0.0, f64::max);
    for (fragments, points) in &rows[4..] {
        if *points > 1.5 * early || *fragments > rows[3].0 * 3 / 2 {
            return Err(format!("{fragments} fragments, {points} points, {early} before").into());
        }
    }
    Ok(())
}
