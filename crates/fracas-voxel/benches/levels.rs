//! What an early stop saves: contacts of two balls of voxels at every level of their trees,
//! against the finest.
//!
//! `cargo bench -p fracas-voxel`. Prints microseconds and ratios.

use std::error::Error;
use std::time::Instant;

use fracas_voxel::geometry::Pose;
use fracas_voxel::geometry::grid::bent_grid;
use fracas_voxel::{Averaging, Budget, Detection, Grouping, VoxTree, VoxelGrid, primitive, reduce};
use glam::Vec3;

/// Runs of which the fastest counts.
const RUNS: usize = 9;

fn main() -> Result<(), Box<dyn Error>> {
    let ball = bent_grid([12, 12, 12], false, |p| {
        let p = p / 6.0 - 1.0;
        p.normalize_or_zero() * p.abs().max_element()
    })?;
    let cell = 2.0 / 32.0;
    let tree = VoxTree::build(&VoxelGrid::from_tets(&ball, cell)?, 2);
    let apart = Pose::translation(Vec3::new(1.2, 1.3, 0.2));
    let finest = tree.levels().len() as u32 - 1;
    let (mut detection, mut contacts) = (Detection::default(), Vec::new());
    let times: Vec<f64> = (0..=finest)
        .map(|level| {
            best_us(|| {
                let budget = Budget {
                    level: Some(level),
                    ..Budget::default()
                };
                detection.restart();
                detection.refine(&tree, &tree, &apart, &budget);
                let pairs = detection.pairs();
                let mut primitives: Vec<_> = pairs
                    .map(|pair| primitive(&tree, &tree, &apart, pair))
                    .collect();
                let (how, by) = (Averaging::Weighted, Grouping::ByRegion);
                reduce(&mut primitives, how, by, apart.translation, &mut contacts);
            })
        })
        .collect();
    for (level, us) in times.iter().enumerate() {
        let share = us / times[finest as usize];
        println!("level {level}: {us:9.1} us, {share:.3} of the finest level");
    }
    Ok(())
}

fn best_us(mut run: impl FnMut()) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..RUNS {
        let start = Instant::now();
        run();
        best = best.min(start.elapsed().as_secs_f64() * 1e6);
    }
    best
}
