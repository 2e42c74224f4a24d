//! `fracas run SCENE --compare`: one scene and seed with every contact method, in one
//! table.
//!
//! The first method decides what breaks; the others break the same bodies in the same
//! way after the same steps, so that all have the same fragments.

use std::error::Error;
use std::time::Instant;

use fracas_rapier::{BreakScript, ContactMode};
use fracas_scenes::measure;
use fracas_scenes::recording::{RecordOptions, Recording, Summary};
use fracas_scenes::rigid::fresh_fracture::{ConvexCells, structures};
use fracas_scenes::rigid::{CONTACTS, Scene, contacts_by_name};

use super::job::{Job, Settings};
use crate::interrupt;
use crate::output::say;
use crate::progress::Progress;

/// One line of the table.
struct Line {
    method: String,
    total: Summary,
    first: f64,
    collision: Summary,
    build: f64,
    deepest: Option<f64>,
    lost: usize,
    fragments: usize,
    spread: f64,
}

/// Runs the scene with every method.
pub fn run(job: &Job, settings: &Settings) -> Result<(), Box<dyn Error>> {
    let mut lines = Vec::new();
    let mut script = None;
    let interrupt = interrupt::Stoppable::new();
    for method in CONTACTS {
        let line = with_method(job, settings, method, &mut script, &interrupt)?;
        if interrupt.stopped() {
            say!("interrupted: only whole runs are in the table");
            break;
        }
        lines.push(line);
    }
    if job.is("fresh-fracture") && !interrupt.stopped() {
        lines.push(convex_cells(job.seed, settings.steps.unwrap_or(480)));
    }
    print(&lines, job.seed);
    Ok(())
}

fn with_method(
    job: &Job,
    settings: &Settings,
    method: &str,
    script: &mut Option<BreakScript>,
    interrupt: &interrupt::Stoppable,
) -> Result<Line, Box<dyn Error>> {
    let mut scene = {
        let progress = Progress::new(3);
        let job = job.with_contacts(method);
        job.build(settings, &mut |stage| progress.stage(stage))?
    };
    match script.clone() {
        None => scene.world_mut().note_breaks(),
        Some(script) => scene.world_mut().follow(script),
    }
    let made = made_before(job, &scene, method)?;
    let steps = settings.steps.unwrap_or(scene.steps());
    let options = RecordOptions {
        numbers_only: true,
        ..RecordOptions::default()
    };
    let recording = {
        let progress = Progress::steps(steps);
        Recording::record_while(&mut scene, steps, options, &mut |_| {
            progress.step();
            !interrupt.stopped()
        })
    };
    let world = scene.world();
    if script.is_none() {
        *script = world.noted_breaks().cloned();
    }
    let at_breaks = recording.steps.iter().map(|s| s.times.update);
    Ok(Line {
        method: method.into(),
        total: recording.summary(|s| s.times.total),
        first: recording.steps.first().map_or(0.0, |s| s.times.total),
        collision: recording.summary(|s| s.times.collision),
        build: at_breaks.fold(made, f64::max),
        deepest: Some(f64::from(measure::overlaps(world).deepest)),
        lost: measure::lost(world, scene.floor_height()).total(),
        fragments: recording.steps.last().map_or(0, |s| s.fragments),
        spread: measure::spread(world),
    })
}

/// How long it took to make the structures of what was broken from the start.
fn made_before(job: &Job, scene: &Scene, method: &str) -> Result<f64, Box<dyn Error>> {
    if !job.is("fresh-fracture") {
        return Ok(0.0);
    }
    let start = Instant::now();
    if let ContactMode::Parry(shape) = contacts_by_name(method)? {
        let world = scene.world();
        for surface in world.pieces().filter_map(|piece| world.surface(piece)) {
            std::hint::black_box(shape.build(surface));
        }
        return Ok(start.elapsed().as_secs_f64() * 1e3);
    }
    let clock = move || start.elapsed().as_secs_f64();
    Ok(structures(job.seed, 3, &clock)?.update() * 1e3)
}

/// The engine's convex shapes on the exact cells of the break.
fn convex_cells(seed: u64, steps: u64) -> Line {
    let start = Instant::now();
    let mut cells = ConvexCells::build(seed);
    let build = start.elapsed().as_secs_f64() * 1e3;
    let mut total = Vec::new();
    for _ in 0..steps {
        let start = Instant::now();
        cells.physics.step();
        total.push(start.elapsed().as_secs_f64() * 1e3);
    }
    Line {
        method: "convex cells".into(),
        first: total.first().copied().unwrap_or(0.0),
        total: Summary::of(total),
        collision: Summary::default(),
        build,
        deepest: None,
        lost: 0,
        fragments: cells.count(),
        spread: cells.spread(),
    }
}

fn print(lines: &[Line], seed: u64) {
    say!("seed {seed}; times in ms, one run each\n");
    say!(
        "{:<18} {:>9} {:>9} {:>9} {:>10} {:>9} {:>10} {:>5} {:>10} {:>9}",
        "contacts",
        "mean step",
        "max",
        "first",
        "collision",
        "shapes",
        "deepest mm",
        "lost",
        "fragments",
        "spread m"
    );
    for line in lines {
        let deepest = line
            .deepest
            .map_or("-".into(), |d| format!("{:.2}", d * 1e3));
        say!(
            "{:<18} {:>9.3} {:>9.2} {:>9.2} {:>10.3} {:>9.2} {:>10} {:>5} {:>10} {:>9.3}",
            line.method,
            line.total.mean,
            line.total.max,
            line.first,
            line.collision.mean,
            line.build,
            deepest,
            line.lost,
            line.fragments,
            line.spread
        );
    }
    say!(
        "\nall break as {} did; shapes: time to make the collision structures at the most expensive break; deepest: \
         overlap at the end by full detection on our own surfaces",
        CONTACTS[0]
    );
}
