//! The world: the scenes of Glondu 2013, Tables 2 and 3, and our own.
//!
//! One run of each scene, one thread, the paper's settings (nothing sleeps, the engine
//! keeps and merges no contacts). Times are those of the run as it is: the worst step
//! counts, and noise only ever adds to it.

use std::time::Instant;

use fracas_rapier::StepStats;
use fracas_scenes::measure;
use fracas_scenes::paper::{PaperScene, TABLES};
use fracas_scenes::recording::{RecordOptions, Recording, Summary};
use fracas_scenes::rigid::fresh_fracture::{ConvexCells, structures};
use fracas_scenes::rigid::{self, Scene, SceneOptions};

use crate::board::{Board, Measured, Target};

/// Rows of the world.
pub fn rows(board: &mut Board) {
    if !board.wants_group("world") {
        return;
    }
    for paper in &TABLES {
        table_rows(board, paper);
    }
    haptic_rows(board);
    fresh_rows(board);
}

fn run(name: &str) -> (Scene, Recording) {
    let mut scene = rigid::by_name(name, &SceneOptions::default(), &mut |_| ())
        .expect("the scenes of the set are sound");
    let steps = scene.steps();
    let recording = Recording::record(&mut scene, steps, RecordOptions::NUMBERS, &mut |_| ());
    (scene, recording)
}

fn table_rows(board: &mut Board, paper: &PaperScene) {
    let row = |what: &str| format!("world/{}-{what}", paper.name);
    let wanted = [
        "collision-mean",
        "collision-max",
        "total-mean",
        "total-max",
        "update-max",
        "fracture-max",
        "fragments",
        "triangles-before",
        "triangles-after",
        "bodies-lost",
        "energy-growth",
    ];
    if !wanted.iter().any(|what| board.wants_row(&row(what))) {
        return;
    }
    let (scene, recording) = run(paper.name);
    let collision = recording.summary(|s| s.times.collision);
    let total = recording.summary(|s| s.times.total - s.times.fracture);
    let at_breaks = |of: fn(&fracas_rapier::StepStats) -> f64| {
        Summary::of(recording.steps.iter().filter(|s| s.broken > 0).map(of))
    };
    let update = at_breaks(|s| s.times.update);
    let fracture = at_breaks(|s| s.times.fracture);
    let steps = recording.steps.len();
    for (what, value, theirs, times) in [
        ("collision-mean", collision.mean, paper.collision[0], 5.0),
        ("collision-max", collision.max, paper.collision[1], 5.0),
        ("total-mean", total.mean, paper.total[0], 5.0),
        ("total-max", total.max, paper.total[1], 5.0),
        ("update-max", update.max, paper.update, 3.0),
        ("fracture-max", fracture.max, paper.fracture, 3.0),
    ] {
        board.row(&row(what), "ms", Target::AtMost(theirs / times), || {
            let note = match what {
                "total-mean" | "total-max" => "without fracture".to_string(),
                _ => format!("{steps} steps of {:.0} ms", recording.step * 1e3),
            };
            Measured::new(value)
                .against("Glondu", "2013", theirs)
                .note(note)
        });
    }
    let fragments = recording.steps.last().map_or(0, |s| s.fragments) as f64;
    for (what, value, theirs) in [
        ("fragments", fragments, paper.fragments),
        (
            "triangles-before",
            recording.triangles[0] as f64,
            paper.triangles[0],
        ),
        (
            "triangles-after",
            recording.triangles[1] as f64,
            paper.triangles[1],
        ),
    ] {
        let near = Target::Between(0.8 * theirs, 1.2 * theirs);
        board.row(&row(what), "", near, || {
            Measured::new(value).against("Glondu", "2013", theirs)
        });
    }
    board.row(&row("bodies-lost"), "bodies", Target::AtMost(0.0), || {
        Measured::new(measure::lost(scene.world(), scene.floor_height()).total() as f64)
    });
    board.row(&row("energy-growth"), "%", Target::AtMost(1.0), || {
        Measured::new(recording.energy_growth() * 1e2)
    });
}

fn haptic_rows(board: &mut Board) {
    if !board.wants_row("world/haptic-longest-step") {
        return;
    }
    let (_, recording) = run("haptic");
    let total = recording.summary(|s| s.times.total);
    let steps = recording.steps.len();
    let late = recording
        .steps
        .iter()
        .filter(|s| s.times.total > 1.0)
        .count();
    board.row(
        "world/haptic-longest-step",
        "ms",
        Target::AtMost(1.0),
        || {
            let whole = |s: &StepStats| s.times.breaking.total();
            let breaks = recording.steps.iter();
            let most = breaks.max_by(|a, b| whole(a).total_cmp(&whole(b)));
            let stages = most.map(|s| s.times.breaking).unwrap_or_default();
            Measured::new(total.max).note(format!(
                "{late} of {steps} steps late; mean {:.3}, 99% {:.3}; the break itself {:.3}: deciding {:.3}, cutting {:.3}, masses {:.3}, field {:.3}, tree {:.3}, replacing {:.3}",
                total.mean,
                total.p99,
                stages.total(),
                stages.deciding,
                stages.cutting,
                stages.masses,
                stages.field,
                stages.tree,
                stages.replacing,
            ))
        },
    );
}

fn fresh_rows(board: &mut Board) {
    let names = [
        "world/fresh-structures",
        "world/fresh-first-step",
        "world/fresh-mean-step",
        "world/fresh-spread",
        "world/fresh-overlap",
    ];
    if !names.iter().any(|name| board.wants_row(name)) {
        return;
    }
    let options = SceneOptions::default();
    let mut scene = rigid::by_name("fresh-fracture", &options, &mut |_| ())
        .expect("the scenes of the set are sound");
    let start = Instant::now();
    let clock = move || start.elapsed().as_secs_f64();
    let made = structures(options.seed, 5, &clock).expect("the cube breaks");
    let before = measure::spread(scene.world());
    let pieces = scene.world().pieces().count();
    let steps = scene.steps();
    let recording = Recording::record(&mut scene, steps, RecordOptions::NUMBERS, &mut |_| ());
    let total = recording.summary(|s| s.times.total);
    let first = recording.steps.first().map_or(0.0, |s| s.times.total);
    let mut cells = ConvexCells::build(options.seed);
    let mut theirs = Vec::new();
    for _ in 0..steps {
        let start = Instant::now();
        cells.physics.step();
        theirs.push(start.elapsed().as_secs_f64() * 1e3);
    }
    let theirs = Summary::of(theirs);
    board.row(names[0], "ms", Target::AtMost(5.0), || {
        Measured::new(made.update() * 1e3).note(format!(
            "{pieces} pieces: field, grid bits and trees; cut and masses {:.1} ms more",
            made.cut_and_masses() * 1e3
        ))
    });
    board.row(names[1], "x mean", Target::AtMost(5.0), || {
        Measured::new(first / total.mean).note(format!("{first:.2} ms"))
    });
    board.row(names[2], "ms", Target::AtMost(theirs.mean), || {
        let note = format!("max {:.2}, theirs {:.2}", total.max, theirs.max);
        Measured::new(total.mean)
            .against("Rapier, exact convex cells", "0.36", theirs.mean)
            .note(note)
    });
    board.row(names[3], "m", Target::Between(0.4275, 0.4725), || {
        Measured::new(measure::spread(scene.world()))
            .against("Rapier, exact convex cells", "0.36", cells.spread())
            .note(format!("{before:.3} before it fell"))
    });
    board.row(names[4], "mm", Target::AtMost(1.0), || {
        let found = measure::overlaps(scene.world());
        Measured::new(f64::from(found.deepest) * 1e3)
            .note(format!("{} points in contact", found.points))
    });
}
