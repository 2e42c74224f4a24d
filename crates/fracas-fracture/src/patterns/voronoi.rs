//! Voronoi cells: each piece is what is nearer to its own seed than to any other.
//!
//! Steps: draw seeds among the fragment's nodes (uniformly, or clustered round an
//! impact) -> even them out (Lloyd) -> snap them to distinct nodes, so that every
//! cell holds one -> split seeds and part in two, recursively; the level of a node
//! is its distance to the bisector of its nearest seed on either side.
//!
//! **Deviation** from splitting off one cell after the other: halving the seeds
//! costs O(nodes x cells) in all instead of O(nodes x cells²) and cuts each part
//! log(cells) times. The cells are the same.
//! **Guarantee**: `min(pieces, nodes)` fragments, fewer where roughness leaves a cell
//! without nodes; what strays from its cell joins a neighbour ([`crate::crumbs`]).

use fracas_core::{Fracture, FragmentId, Fragments};
use glam::Vec3;

use crate::crumbs::{CrumbRule, at_most, merge_and_count};
use crate::random::{Noise, Random};
use crate::sequence::CrackSequence;

/// Options of [`voronoi`].
#[derive(Clone, Debug, PartialEq)]
pub struct VoronoiOptions {
    /// How many cells.
    pub pieces: u32,
    /// Cells are smaller round this point, if given (metres, the mesh's frame).
    pub impact: Option<Vec3>,
    /// How far from the impact the cells have grown by a factor e in volume (m).
    pub spread: f32,
    /// Rounds of evening out: 0 gives cells of very different size.
    pub relaxation: u32,
    /// How far the faces leave their planes at most (m).
    pub roughness: f32,
    /// Seed of all chance.
    pub seed: u64,
}

impl Default for VoronoiOptions {
    fn default() -> Self {
        Self {
            pieces: 16,
            impact: None,
            spread: 0.1,
            relaxation: 2,
            roughness: 0.0,
            seed: 0,
        }
    }
}

/// Breaks a fragment into Voronoi cells.
#[must_use]
pub fn voronoi(
    fragments: &Fragments,
    id: FragmentId,
    options: &VoronoiOptions,
) -> Option<Fracture> {
    at_most(options.pieces as usize, |cells| {
        let fewer = VoronoiOptions {
            pieces: cells,
            ..options.clone()
        };
        draw_cells(fragments, id, &fewer, options.pieces as usize)
    })
}

/// Cells, at most as many pieces as asked for where the body is connected, and the number
/// of pieces.
fn draw_cells(
    fragments: &Fragments,
    id: FragmentId,
    options: &VoronoiOptions,
    most: usize,
) -> Option<(Fracture, usize)> {
    let mut sequence = CrackSequence::new(fragments, id)?;
    let positions = fragments.mesh().positions();
    let nodes = sequence.part(0).to_vec();
    let count = (options.pieces as usize).min(nodes.len());
    if count < 2 {
        return None;
    }
    let mut random = Random::new(options.seed).fork(u64::from(id.0));
    let points: Vec<Vec3> = nodes.iter().map(|&n| positions[n as usize]).collect();
    let weights = weights(&points, options);
    let mut seeds = draw(&points, &weights, count, &mut random);
    for _ in 0..options.relaxation {
        relax(&points, &weights, &mut seeds);
    }
    snap(&points, &mut seeds);
    let noise = Noise::new(random.bits(), 6.0 * options.roughness);
    let mut work = vec![(0_u32, seeds)];
    while let Some((part, mut seeds)) = work.pop() {
        if seeds.len() < 2 {
            continue;
        }
        let (left, right) = halve(&mut seeds);
        let level = |n: u32| {
            let p = positions[n as usize];
            let level = bisector_distance(p, left, right);
            if options.roughness > 0.0 {
                level + options.roughness * noise.at(p)
            } else {
                level
            }
        };
        // Noise may leave a cell without nodes; the rest goes on without it.
        match sequence.split(part, level) {
            Some(new) => {
                work.push((part, left.to_vec()));
                work.push((new, right.to_vec()));
            }
            None => {
                let inside = level(sequence.part(part)[0]) < 0.0;
                let side = if inside { left } else { right };
                work.push((part, side.to_vec()));
            }
        }
    }
    let rule = CrumbRule {
        most: Some(most.min(nodes.len())),
        ..CrumbRule::default()
    };
    Some(merge_and_count(fragments, sequence.finish()?, &rule))
}

/// Signed distance to the bisector between the nearest seed of either set:
/// negative on the side of `left`.
fn bisector_distance(p: Vec3, left: &[Vec3], right: &[Vec3]) -> f32 {
    let nearest = |seeds: &[Vec3]| {
        seeds.iter().map(|&c| (c, p.distance_squared(c))).fold(
            (Vec3::ZERO, f32::INFINITY),
            |a, b| if b.1 < a.1 { b } else { a },
        )
    };
    let ((a, to_a), (b, to_b)) = (nearest(left), nearest(right));
    (to_a - to_b) / (2.0 * a.distance(b)).max(f32::MIN_POSITIVE)
}

/// Density of seeds at each node, 1 without an impact.
fn weights(points: &[Vec3], options: &VoronoiOptions) -> Vec<f32> {
    let Some(at) = options.impact.filter(|at| at.is_finite()) else {
        return vec![1.0; points.len()];
    };
    let spread = options.spread.max(1e-6);
    let nearest = points
        .iter()
        .map(|p| p.distance(at))
        .fold(f32::INFINITY, f32::min);
    points
        .iter()
        .map(|p| libm::expf(-(p.distance(at) - nearest) / spread).max(1e-6))
        .collect()
}

/// Draws points with probability proportional to weight.
fn draw(points: &[Vec3], weights: &[f32], count: usize, random: &mut Random) -> Vec<Vec3> {
    let mut sums = Vec::with_capacity(weights.len());
    let mut sum = 0.0_f64;
    for &w in weights {
        sum += f64::from(w);
        sums.push(sum);
    }
    (0..count)
        .map(|_| {
            let x = random.unit_f64() * sum;
            let at = sums.partition_point(|&s| s <= x).min(points.len() - 1);
            points[at]
        })
        .collect()
}

/// Lloyd: every seed moves to the weighted mean of its cell.
fn relax(points: &[Vec3], weights: &[f32], seeds: &mut [Vec3]) {
    let mut sums = vec![(Vec3::ZERO, 0.0_f32); seeds.len()];
    for (p, &w) in points.iter().zip(weights) {
        let (nearest, _) = nearest_of(*p, seeds);
        sums[nearest].0 += w * *p;
        sums[nearest].1 += w;
    }
    for (seed, (sum, weight)) in seeds.iter_mut().zip(sums) {
        if weight > 0.0 {
            *seed = sum / weight;
        }
    }
}

fn nearest_of(p: Vec3, seeds: &[Vec3]) -> (usize, f32) {
    let mut best = (0, f32::INFINITY);
    for (i, &c) in seeds.iter().enumerate() {
        let squared = p.distance_squared(c);
        if squared < best.1 {
            best = (i, squared);
        }
    }
    best
}

/// Moves each seed to the nearest point that no earlier seed has taken.
fn snap(points: &[Vec3], seeds: &mut [Vec3]) {
    let mut taken = vec![false; points.len()];
    for seed in seeds {
        let mut best = (0, f32::INFINITY);
        for (i, p) in points.iter().enumerate() {
            let squared = p.distance_squared(*seed);
            if !taken[i] && squared < best.1 {
                best = (i, squared);
            }
        }
        taken[best.0] = true;
        *seed = points[best.0];
    }
}

/// Sorts seeds along their longest extent and halves them.
fn halve(seeds: &mut [Vec3]) -> (&[Vec3], &[Vec3]) {
    let (lo, hi) = seeds
        .iter()
        .fold((seeds[0], seeds[0]), |(lo, hi), &c| (lo.min(c), hi.max(c)));
    let size = hi - lo;
    let axis = (0..3).fold(0, |best, i| if size[i] > size[best] { i } else { best });
    seeds.sort_by(|a, b| a[axis].total_cmp(&b[axis]));
    seeds.split_at(seeds.len() / 2)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use fracas_core::testing::box_grid;

    use super::*;

    #[test]
    fn nodes_end_up_with_their_nearest_seed() {
        let mut fragments = Fragments::new(Arc::new(box_grid([7, 6, 5], Vec3::ONE)));
        let options = VoronoiOptions {
            pieces: 20,
            seed: 4,
            ..Default::default()
        };
        let fracture = voronoi(&fragments, FragmentId(0), &options).unwrap();
        fragments.apply(&fracture).unwrap();
        assert_eq!(
            fragments.living().count(),
            20,
            "a box is convex: one piece each"
        );
        assert_eq!(fracture.cracks.len(), 19);
        // The cells of the same seeds, by brute force.
        let points = fragments.mesh().positions().to_vec();
        let mut random = Random::new(4).fork(0);
        let weights = vec![1.0; points.len()];
        let mut seeds = draw(&points, &weights, 20, &mut random);
        relax(&points, &weights, &mut seeds);
        relax(&points, &weights, &mut seeds);
        snap(&points, &mut seeds);
        for (i, &p) in points.iter().enumerate() {
            let owner = fragments.node_fragment()[i];
            let (_, best) = nearest_of(p, &seeds);
            let mine = seeds.iter().find(|&&c| {
                let at = points.iter().position(|&q| q == c).unwrap();
                fragments.node_fragment()[at] == owner
            });
            assert!(p.distance_squared(*mine.unwrap()) <= best + 1e-5);
        }
    }

    #[test]
    fn clustering_makes_small_cells_at_the_impact() {
        let mut fragments =
            Fragments::new(Arc::new(box_grid([24, 24, 1], Vec3::new(1.0, 1.0, 0.05))));
        let options = VoronoiOptions {
            pieces: 30,
            impact: Some(Vec3::ZERO),
            spread: 0.15,
            ..Default::default()
        };
        let fracture = voronoi(&fragments, FragmentId(0), &options).unwrap();
        fragments.apply(&fracture).unwrap();
        let size = |n: usize| {
            fragments
                .fragment(fragments.node_fragment()[n])
                .nodes()
                .len()
        };
        let far = fragments.mesh().positions().len() - 1;
        assert!(size(far) > 8 * size(0), "{} against {}", size(far), size(0));
    }
}
