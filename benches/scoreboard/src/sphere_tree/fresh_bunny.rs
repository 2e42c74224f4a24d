//! A bunny of 27 pieces in its original pose: all cracks in parallel contact.

use fracas_conformance::broken::{Broken, cells};
use fracas_core::sphere_tree::{KeepPoints, SplitMethod, SplitScratch};
use fracas_core::testing::Rng;
use fracas_core::{Fracture, FragmentId, Pose, SphereTree, Split, TetMesh};
use fracas_scenes::experiments::rivals::{Rival, RivalPair, VERSION};
use parry3d::shape::SharedShape;

use super::{Memory, Mode, Pairs, TOLERANCE, best_cpu_ms, kept, near_pairs, surfaces, work};
use crate::board::{Board, Measured, Target};

/// A rival's shapes of all pieces, with the time that building them took.
type Built = (Rival, (f64, Vec<(FragmentId, Option<SharedShape>)>));

pub(super) fn rows(board: &mut Board, mesh: &TetMesh) {
    if !board.wants_group("sphere-tree/fresh-bunny") {
        return;
    }
    let whole = Broken::new(mesh.clone());
    let fracture = (0..)
        .filter_map(|seed| cells(&whole.fragments, FragmentId(0), 27, &mut Rng(seed)))
        .find(|fracture| {
            let mut trial = whole.fragments.clone();
            trial
                .apply(fracture)
                .is_ok_and(|split| split.children.len() == 27)
        })
        .expect("some seed makes 27 pieces");
    let mut object = whole.clone();
    let split = object.apply(&fracture);
    let surfaces = surfaces(&object);
    let build = |rival: Rival, runs: usize| {
        best_cpu_ms(runs, || {
            surfaces
                .iter()
                .map(|(id, surface)| (*id, rival.build(surface)))
                .collect::<Vec<_>>()
        })
    };
    let built = [
        (Rival::TriMesh, build(Rival::TriMesh, 3)),
        (Rival::Vhacd, build(Rival::Vhacd, 1)),
        (Rival::Hull, build(Rival::Hull, 3)),
    ];
    add_ready_row(board, &whole, &fracture, &object, &built);
    add_query_rows(board, &whole, &split, &object, &built);
}

/// How long it takes until the pieces can be asked for contacts.
fn add_ready_row(
    board: &mut Board,
    whole: &Broken,
    fracture: &Fracture,
    object: &Broken,
    built: &[Built; 3],
) {
    let mut scratch = SplitScratch::default();
    let mut cut_tets = 0;
    let mut best = [f64::INFINITY; 3];
    for _ in 0..15 {
        let mut fresh = whole.clone();
        let (cut, split) = best_cpu_ms(1, || fresh.fragments.apply(fracture).expect("valid"));
        let (field, ()) = best_cpu_ms(1, || fresh.field.apply(&fresh.fragments, &split));
        let tree = fresh.trees[0].as_ref().expect("the whole");
        let (trees, _) = best_cpu_ms(1, || {
            tree.apply(
                &fresh.fragments,
                &split,
                SplitMethod::default(),
                &mut scratch,
            )
        });
        for (best, ms) in best.iter_mut().zip([trees, field, cut]) {
            *best = best.min(ms);
        }
        cut_tets = split.cut_tets.len();
    }
    let [trees_ms, field_ms, cut_ms] = best;
    let living = object.living();
    let points: usize = living.iter().map(|&id| object.tree(id).point_count()).sum();
    board.row(
        "sphere-tree/fresh-bunny-27-ready",
        "ms",
        Target::AtMost(2.0),
        || {
            Measured::new(trees_ms + field_ms)
                .against(Rival::Vhacd.name(), VERSION, built[1].1.0)
                .note(format!(
                    "trees {trees_ms:.3} + field {field_ms:.3}, after the cut itself {cut_ms:.3}; {points} points, {cut_tets} cut tets; TriMesh {:.2}, hull {:.2}",
                    built[0].1.0,
                    built[2].1.0
                ))
        },
    );
}

/// What the first and later frames of the pieces cost.
fn add_query_rows(
    board: &mut Board,
    whole: &Broken,
    split: &Split,
    object: &Broken,
    built: &[Built; 3],
) {
    let (rebuild_ms, rebuilt) = best_cpu_ms(1, || {
        object
            .trees
            .iter()
            .map(|tree| tree.as_ref().map(|t| t.rebuilt(KeepPoints::Surface)))
            .collect::<Vec<_>>()
    });
    let mut scratch = SplitScratch::default();
    let naive_trees: Vec<Option<SphereTree>> = {
        let tree = whole.tree(FragmentId(0));
        let parts = tree.apply(&object.fragments, split, SplitMethod::Naive, &mut scratch);
        std::iter::once(None)
            .chain(parts.into_iter().map(Some))
            .collect()
    };

    let poses = vec![Pose::IDENTITY; object.trees.len()];
    let pairs = near_pairs(object, &poses);
    let mut memory = Memory::default();
    let new = Pairs::new(pairs.clone());
    let mut measure = |trees: &[Option<SphereTree>], mode: Mode, known: &Pairs| {
        known.time(5, object, trees, &poses, mode, &mut memory)
    };
    let (first, first_stats) = measure(&object.trees, Mode::Adaptive, &new);
    let (full, full_stats) = measure(&object.trees, Mode::Full, &new);
    let (naive, naive_stats) = measure(&naive_trees, Mode::NaiveFirst8, &new);
    let (fresh_tree, fresh_stats) = measure(&rebuilt, Mode::Adaptive, &new);
    let mut later = new.clone();
    for _ in 0..10 {
        let mode = Mode::Adaptive;
        later.query(object, &object.trees, &poses, mode, &mut Memory::default());
    }
    let (later, later_stats) = measure(&object.trees, Mode::Adaptive, &later);
    kept::row(board, object, &new);
    let rivals = time_rivals(object, &pairs, built);
    board.row(
        "sphere-tree/fresh-bunny-27-queries",
        "x",
        Target::AtLeast(10.0),
        || {
            Measured::new(rivals[0].1 / first)
                .against(rivals[0].0.name(), VERSION, 1.0)
                .note(format!(
                    "{} pairs, first frame: ours {first:.2} ms ({}); {}",
                    pairs.len(),
                    work(&first_stats),
                    rivals
                        .iter()
                        .map(|(r, ms, points)| format!("{} {ms:.2} ({points} points)", r.name()))
                        .collect::<Vec<_>>()
                        .join(", ")
                ))
        },
    );
    for (name, ms, stats) in [
        ("later-frames", later, later_stats),
        ("full-detection", full, full_stats),
        ("naive-tree-and-queue", naive, naive_stats),
        ("rebuilt-surface-trees", fresh_tree, fresh_stats),
    ] {
        board.row(
            &format!("sphere-tree/fresh-bunny-27-{name}"),
            "ms",
            Target::None,
            || {
                let mut note = work(&stats);
                if name == "rebuilt-surface-trees" {
                    note = format!("{note}; rebuilding took {rebuild_ms:.1} ms");
                }
                Measured::new(ms).note(note)
            },
        );
    }
}

/// What the rivals' first frame costs: time and points.
fn time_rivals(
    object: &Broken,
    pairs: &[(FragmentId, FragmentId)],
    built: &[Built; 3],
) -> Vec<(Rival, f64, usize)> {
    let prediction = TOLERANCE * object.tree(object.living()[0]).object_radius();
    built
        .iter()
        .map(|(rival, (_, shapes))| {
            let shape =
                |id: FragmentId| shapes.iter().find(|s| s.0 == id).and_then(|s| s.1.clone());
            let (ms, points) = best_cpu_ms(1, || {
                let mut points = 0;
                for &(a, b) in pairs {
                    if let (Some(a), Some(b)) = (shape(a), shape(b)) {
                        points +=
                            RivalPair::default().contacts(&a, &b, &Pose::IDENTITY, prediction);
                    }
                }
                points
            });
            (*rival, ms, points)
        })
        .collect()
}
