//! Contacts in the frame of the break: what the steps around it cost, and how the cost
//! of what rests grows.
//!
//! One thread, one run of each scene by the clock.

use std::sync::Arc;

use fracas_core::sphere_tree::BuildOptions;
use fracas_core::testing::box_grid;
use fracas_core::{FieldOptions, TetMesh};
use fracas_fracture::patterns::{VoronoiOptions, voronoi};
use fracas_rapier::{Blueprint, Breakable, StepStats, World, WorldSettings};
use fracas_scenes::paper::TABLES;
use fracas_scenes::recording::{RecordOptions, Recording, Summary};
use fracas_scenes::rigid::{self, SceneOptions};
use glam::Vec3;
use parry3d::math::Pose;

use crate::board::{Board, Measured, Target, growth_exponent};

/// Rows of contacts.
pub fn rows(board: &mut Board) {
    if !board.wants_group("contacts") {
        return;
    }
    for paper in &TABLES {
        scene_rows(board, paper.name, paper.collision);
    }
    haptic_row(board);
    fresh_row(board);
    growth_row(board);
}

fn run(name: &str) -> Recording {
    let mut scene = rigid::by_name(name, &SceneOptions::default(), &mut |_| ())
        .expect("the scenes of the set are sound");
    let steps = scene.steps();
    Recording::record(&mut scene, steps, RecordOptions::NUMBERS, &mut |_| ())
}

/// Mean and longest step of collision against the paper's, and the longest after a break
/// against the steps around it.
fn scene_rows(board: &mut Board, scene: &str, [mean, longest]: [f64; 2]) {
    let row = |what: &str| format!("contacts/{scene}-{what}");
    let wanted = ["mean", "longest", "spike", "ns-a-point"];
    if !wanted.iter().any(|what| board.wants_row(&row(what))) {
        return;
    }
    let recording = run(scene);
    let collision = recording.summary(|s| s.times.collision);
    board.row(&row("mean"), "ms", Target::AtMost(mean / 5.0), || {
        Measured::new(collision.mean).against("Glondu", "2013", mean)
    });
    board.row(&row("longest"), "ms", Target::AtMost(longest / 3.0), || {
        let by = |a: &&StepStats, b: &&StepStats| a.times.collision.total_cmp(&b.times.collision);
        let note = recording
            .steps
            .iter()
            .max_by(by)
            .map_or(String::new(), |s| {
                format!(
                    "{} points asked of {} pairs, made again in {} parts",
                    s.visited_points, s.pairs, s.made_again
                )
            });
        Measured::new(collision.max)
            .against("Glondu", "2013", longest)
            .note(note)
    });
    board.row(&row("spike"), "x median", Target::AtMost(3.0), || {
        Measured::new(worst_spike(&recording.steps))
            .note("the longest of the three steps from a break on, over the median of ten around")
    });
    board.row(&row("ns-a-point"), "ns", Target::AtMost(250.0), || {
        let sum = |of: fn(&StepStats) -> f64| recording.steps.iter().map(of).sum::<f64>();
        let points = sum(|s| s.visited_points as f64).max(1.0);
        Measured::new(sum(|s| s.times.collision) * 1e6 / points)
            .note("all of collision, the engine's broad phase included, by points asked")
    });
}

/// The longest step of collision from a break on against the median of the ten steps
/// around the break, where that is longest.
fn worst_spike(steps: &[StepStats]) -> f64 {
    let collision = |s: &StepStats| s.times.collision;
    let spikes = (0..steps.len()).filter(|&i| steps[i].broken > 0).map(|i| {
        let around = &steps[i.saturating_sub(5)..(i + 5).min(steps.len())];
        let mut times: Vec<f64> = around.iter().map(collision).collect();
        times.sort_by(f64::total_cmp);
        let after = &steps[i..(i + 3).min(steps.len())];
        after.iter().map(collision).fold(0.0, f64::max) / times[times.len() / 2].max(1e-6)
    });
    spikes.fold(0.0, f64::max)
}

fn haptic_row(board: &mut Board) {
    board.row("contacts/haptic-longest", "ms", Target::AtMost(0.5), || {
        let recording = run("haptic");
        let collision = recording.summary(|s| s.times.collision);
        Measured::new(collision.max).note(format!(
            "{} steps, mean {:.3}, 99% {:.3}",
            recording.steps.len(),
            collision.mean,
            collision.p99
        ))
    });
}

fn fresh_row(board: &mut Board) {
    board.row(
        "contacts/fresh-first-step",
        "x mean",
        Target::AtMost(2.0),
        || {
            let recording = run("fresh-fracture");
            let collision = recording.summary(|s| s.times.collision);
            let first = recording.steps.first().map_or(0.0, |s| s.times.collision);
            Measured::new(first / collision.mean).note(format!(
                "{first:.2} ms, mean {:.2}; it lists the points of every cut and makes 64 sphere trees",
                collision.mean
            ))
        },
    );
}

/// Pieces of a brick that was cut and left to lie.
const PIECES: u32 = 4;

/// Bricks side by side on a floor, cut and left to lie: the cost of a step by the number
/// of fragments at rest.
fn growth_row(board: &mut Board) {
    board.row(
        "contacts/growth-at-rest",
        "exponent",
        Target::AtMost(1.1),
        || {
            let mut costs = Vec::new();
            let mut notes = Vec::new();
            for fragments in [100, 1_000, 10_000] {
                let mut world = resting(fragments / PIECES);
                let mut last = Vec::new();
                for step in 0..60 {
                    world.step();
                    if step >= 40 {
                        last.push(world.stats().times.collision);
                    }
                }
                let (cost, stats) = (Summary::of(last).mean, world.stats());
                costs.push((f64::from(fragments), cost));
                notes.push(format!(
                    "{fragments}: {cost:.2} ms, {} contacts, {} points asked",
                    stats.contacts, stats.visited_points
                ));
            }
            Measured::new(growth_exponent(&costs)).note(notes.join("; "))
        },
    );
}

/// So many bricks, each cut into a few pieces, on a floor; nothing sleeps.
fn resting(bricks: u32) -> World {
    let size = Vec3::new(0.215, 0.065, 0.1025);
    let corner = box_grid([6, 2, 3], size);
    let centred = corner.positions().iter().map(|p| *p - 0.5 * size).collect();
    let mesh = TetMesh::build(centred, corner.tets().to_vec()).expect("a grid of a box");
    let (field, tree) = (FieldOptions::default(), BuildOptions::default());
    let brick = Blueprint::build(Arc::new(mesh), &field, &tree).expect("a blueprint");
    let brick = Arc::new(brick);
    let mut world = World::new(WorldSettings::measured());
    world.add_floor(0.0, 0.6);
    let across = f64::from(bricks).sqrt().ceil() as u32;
    for i in 0..bricks {
        let at = Vec3::new((i % across) as f32, 0.1, (i / across) as f32) * 0.35;
        world.add(
            Breakable::new(brick.clone()).at(Pose::from_translation(Vec3 {
                y: 0.5 * size.y,
                ..at
            })),
        );
    }
    for (i, piece) in world.pieces().collect::<Vec<_>>().into_iter().enumerate() {
        let options = VoronoiOptions {
            pieces: PIECES,
            seed: i as u64,
            ..VoronoiOptions::default()
        };
        let fracture = world.shape(piece).and_then(|shape| {
            let state = shape.object().read();
            voronoi(state.fragments(), piece.fragment, &options)
        });
        if let Some(fracture) = fracture {
            world.break_piece(piece, fracture);
        }
    }
    world
}
