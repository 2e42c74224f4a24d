//! The whole bunny against itself.

use fracas_conformance::broken::Broken;
use fracas_core::sphere_tree::{PairState, Query, QueryScratch, QueryStats, Selection};
use fracas_core::{FragmentId, Pose, TetMesh};
use fracas_scenes::experiments::rivals::{Rival, RivalPair, VERSION};
use glam::Vec3;
use parry3d::shape::SharedShape;

use super::{Memory, Mode, TOLERANCE, ask, best_cpu_ms, surfaces, work};
use crate::board::{Board, Measured, Target};

/// The whole bunny against itself: just touching, sliding and deep.
pub(super) fn rows(board: &mut Board, mesh: &TetMesh) {
    if !board.wants_group("sphere-tree/bunny-pair") {
        return;
    }
    let object = Broken::new(mesh.clone());
    let tree = object.tree(FragmentId(0));
    let (low, high) = mesh.bounds();
    let size = high - low;
    let surface = &surfaces(&object)[0].1;
    let shapes: Vec<(Rival, SharedShape)> = [Rival::TriMesh, Rival::Vhacd, Rival::Hull]
        .into_iter()
        .filter_map(|rival| Some((rival, rival.build(surface)?)))
        .collect();
    let touch = find_touch(&object, size);
    for name in ["touching", "sliding", "deep"] {
        let poses = choose_poses(name, touch, size);
        let mut memory = Memory::default();
        let per_pose = |mode: Mode, memory: &mut Memory| {
            best_cpu_ms(9, || {
                let mut stats = QueryStats::default();
                let mut states = <[PairState; 2]>::default();
                for pose in &poses {
                    for (pose, state) in [*pose, pose.inverse()].iter().zip(&mut states) {
                        let partner = object.distance(FragmentId(0));
                        stats.add(&ask(tree, pose, &partner, mode, state, memory));
                    }
                }
                stats
            })
        };
        let (ours, stats) = per_pose(Mode::Adaptive, &mut memory);
        let (full, full_stats) = per_pose(Mode::Full, &mut memory);
        let (naive, naive_stats) = per_pose(Mode::NaiveFirst8, &mut memory);
        let count = poses.len() as f64;
        let rivals: Vec<(Rival, f64, usize)> = shapes
            .iter()
            .map(|(rival, shape)| {
                let (ms, points) = best_cpu_ms(3, || {
                    let mut pair = RivalPair::default();
                    let prediction = TOLERANCE * tree.object_radius();
                    poses
                        .iter()
                        .map(|pose| pair.contacts(shape, shape, pose, prediction))
                        .sum::<usize>()
                });
                (*rival, ms, points)
            })
            .collect();
        let trimesh = rivals[0].1;
        board.row(
            &format!("sphere-tree/bunny-pair-{name}"),
            "x",
            Target::AtLeast(10.0),
            || {
                Measured::new(trimesh / ours)
                    .against(rivals[0].0.name(), VERSION, 1.0)
                    .note(format!(
                        "per pair: ours {:.4} ms ({}), full {:.4} ({}), naive {:.4} ({}); {}",
                        ours / count,
                        work(&stats),
                        full / count,
                        work(&full_stats),
                        naive / count,
                        work(&naive_stats),
                        rivals
                            .iter()
                            .map(|(r, ms, points)| format!(
                                "{} {:.4} ({points} points)",
                                r.name(),
                                ms / count
                            ))
                            .collect::<Vec<_>>()
                            .join(", ")
                    ))
            },
        );
    }
}

/// How far to the side the bunny just touches itself.
fn find_touch(object: &Broken, size: Vec3) -> f32 {
    let tree = object.tree(FragmentId(0));
    // Moved in from the side until the surfaces meet, found by halving.
    let touches = |x: f32| {
        let pose = Pose::translation(Vec3::new(x, 0.05 * size.y, 0.02 * size.z));
        let query = Query::new(0.0, tree.object_radius()).select(Selection::First(1));
        let mut out = Vec::new();
        let partner = object.distance(FragmentId(0));
        tree.contacts(
            &pose,
            &partner,
            &query,
            &mut QueryScratch::default(),
            &mut out,
        );
        !out.is_empty()
    };
    let (mut inside, mut outside) = (0.2 * size.x, 1.1 * size.x);
    for _ in 0..30 {
        let middle = 0.5 * (inside + outside);
        if touches(middle) {
            inside = middle;
        } else {
            outside = middle;
        }
    }
    inside
}

/// Poses in which the bunny touches, slides along or lies deep in itself.
fn choose_poses(name: &str, touch: f32, size: Vec3) -> Vec<Pose> {
    let at = |depth: f32, slide: f32| {
        Pose::translation(Vec3::new(
            touch - depth * size.x,
            (0.05 + slide) * size.y,
            0.02 * size.z,
        ))
    };
    (0..8)
        .map(|k| match name {
            "touching" => at(0.0005 * k as f32, 0.0),
            "sliding" => at(0.01, 0.004 * k as f32),
            _ => at(0.15 + 0.002 * k as f32, 0.0),
        })
        .collect()
}
