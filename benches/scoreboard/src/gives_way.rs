//! What breaks gives way: a ball through glass, beside what it was when the whole pane was
//! thrown first and fell apart afterwards (`gives_way: false`).

use fracas_rapier::{ContactMode, ParryShape};
use fracas_scenes::experiments::crumbs::{self, Burst};
use fracas_scenes::experiments::gives_way::{Outcome, Panes, Shot};
use fracas_scenes::experiments::rivals::VERSION;
use fracas_scenes::recording::{RecordOptions, Recording};
use fracas_scenes::rigid::user::UserScene;
use fracas_scenes::rigid::{self, Scene, SceneOptions};

use crate::board::{Board, Measured, Target};

/// The scene of a ball and a plate.
const BALL_AND_PLATE: &str = include_str!("../../../examples/ball-and-plate.toml");

/// Rows of this subject.
pub fn rows(board: &mut Board) {
    if !board.wants_group("gives-way") {
        return;
    }
    let panes = Panes::new().expect("a pane is sound");
    ball_rows(board, &panes);
    bullet_rows(board, &panes);
    crumb_rows(board);
    physics_rows(board);
}

fn both(panes: &Panes, shot: Shot) -> (Outcome, Outcome) {
    let before = Shot {
        gives_way: false,
        ..shot
    };
    (panes.shoot(&shot), panes.shoot(&before))
}

fn ball_rows(board: &mut Board, panes: &Panes) {
    let shot = Shot::default();
    let (out, old) = both(panes, shot);
    let far = 2.0 * shot.radius;
    let tenth = f64::from(0.1 * shot.speed);
    let note = "ball of 8 cm and 15 m/s, free glass pane 300x300x6 mm, 60 Hz";
    for (name, unit, target, value, was) in [
        (
            "ball-speed",
            "m/s",
            Target::AtLeast(f64::from(out.bound)),
            f64::from(out.ball_speed),
            f64::from(old.ball_speed),
        ),
        (
            "far-pieces-mean",
            "m/s",
            Target::AtMost(tenth),
            f64::from(out.mean_beyond(far)),
            f64::from(old.mean_beyond(far)),
        ),
        (
            "far-pieces-fastest",
            "m/s",
            Target::AtMost(tenth),
            f64::from(out.fastest_beyond(far)),
            f64::from(old.fastest_beyond(far)),
        ),
        (
            "momentum-error",
            "",
            Target::AtMost(1e-5),
            out.momentum_error,
            old.momentum_error,
        ),
        (
            "angular-momentum-error",
            "",
            Target::AtMost(5e-3),
            out.angular_error,
            old.angular_error,
        ),
        (
            "energy-most",
            "",
            Target::AtMost(1.0 + 1e-5),
            out.energy_most,
            old.energy_most,
        ),
        (
            "longest-collision",
            "ms",
            Target::None,
            out.collision.max,
            old.collision.max,
        ),
    ] {
        board.row(&format!("gives-way/{name}"), unit, target, || {
            Measured::new(value)
                .against("thrown whole", "before", was)
                .note(note)
        });
    }
}

fn bullet_rows(board: &mut Board, panes: &Panes) {
    for rate in [60.0, 240.0] {
        let shot = Shot {
            radius: 0.02,
            speed: 40.0,
            panes: 3,
            step: 1.0 / rate,
            ..Shot::default()
        };
        let (out, old) = both(panes, shot);
        let name = format!("gives-way/bullet-{rate}hz");
        let broken = Target::AtLeast(3.0);
        board.row(&format!("{name}-panes"), "panes", broken, || {
            Measured::new(out.broken as f64).against("thrown whole", "before", old.broken as f64)
        });
        let least = Target::AtLeast(f64::from(out.bound));
        board.row(&format!("{name}-speed"), "m/s", least, || {
            Measured::new(f64::from(out.ball_speed))
                .against("thrown whole", "before", f64::from(old.ball_speed))
                .note("4 cm, 40 m/s, three panes")
        });
    }
}

/// Seeds of the piggy bank whose crumbs are followed.
const SEEDS: u64 = 8;

/// Steps of the comparison: 0.67 s after the piggy bank has met the floor.
const LOOK: u64 = 60;

/// How high crumbs of the piggy bank fly, and how far its pieces lie apart, beside the
/// engine's triangle meshes on the same pieces.
fn crumb_rows(board: &mut Board) {
    let theirs = ContactMode::Parry(ParryShape::TriMesh);
    let runs: Vec<[Burst; 2]> = (0..SEEDS)
        .map(|seed| {
            let options = SceneOptions {
                seed,
                ..SceneOptions::default()
            };
            let runs = crumbs::compare("piggy-bank", &options, theirs, &[LOOK]);
            runs.expect("the scenes of the set are sound")
        })
        .collect();
    let most = |which: usize, of: &dyn Fn(&Burst) -> f64| {
        runs.iter().map(|r| of(&r[which])).fold(0.0, f64::max)
    };
    let mean = |which: usize| runs.iter().map(|r| r[which].spread[0]).sum::<f64>() / SEEDS as f64;
    let note = format!("piggy-bank, the most of {SEEDS} seeds, {LOOK} steps");
    let brought = |b: &Burst| b.highest_of(|c| c.brought);
    let left = |b: &Burst| b.highest_of(|c| c.left);
    for (name, unit, target, of) in [
        (
            "crumbs-height-of-what-energy-allows",
            "x",
            Target::AtMost(1.5),
            &brought as &dyn Fn(&Burst) -> f64,
        ),
        (
            "crumbs-height-of-what-is-left-after-the-step",
            "x",
            Target::AtMost(1.5),
            &left,
        ),
        ("crumbs-highest", "m", Target::None, &Burst::highest),
    ] {
        board.row(&format!("gives-way/{name}"), unit, target, || {
            Measured::new(most(0, of))
                .against("parry3d TriMesh", VERSION, most(1, of))
                .note(note.clone())
        });
    }
    let (ours, meshes) = (mean(0), mean(1));
    let target = Target::Between(0.7 * meshes, 1.3 * meshes);
    board.row("gives-way/piggy-bank-spread", "m", target, || {
        Measured::new(ours)
            .against("parry3d TriMesh", VERSION, meshes)
            .note(format!("mean of {SEEDS} seeds, {LOOK} steps"))
    });
}

/// The engine's solver and casts.
fn physics_rows(board: &mut Board) {
    let options = SceneOptions::default();
    let no_file = &mut |_: &str, _| Err(String::from("the scene reads no file"));
    let user = UserScene::parse(BALL_AND_PLATE, "ball-and-plate.toml");
    let user = user.and_then(|s| s.build(&options, no_file, &mut |_| ()));
    let plates = rigid::by_name("plates", &options, &mut |_| ());
    for (name, scene) in [
        ("ball-and-plate", user.expect("the example is sound")),
        ("plates", plates.expect("the scenes of the set are sound")),
    ] {
        physics_of(board, name, scene);
    }
}

fn physics_of(board: &mut Board, name: &str, mut scene: Scene) {
    let steps = scene.steps();
    let recording = Recording::record(&mut scene, steps, RecordOptions::NUMBERS, &mut |_| ());
    let physics = recording.summary(|s| s.times.physics);
    for (what, value, most) in [("mean", physics.mean, 1.0), ("max", physics.max, 4.0)] {
        let row = format!("gives-way/{name}-physics-{what}");
        board.row(&row, "ms", Target::AtMost(most), || {
            Measured::new(value).note(format!("{steps} steps"))
        });
    }
    let row = format!("gives-way/{name}-energy-growth");
    board.row(&row, "%", Target::AtMost(1.0), || {
        Measured::new(recording.energy_growth() * 1e2)
    });
}
