//! Flat cuts: parallel ones along an axis (planks, bread), or in all directions,
//! each halving what is largest (a cake cut by somebody in a hurry).
//!
//! **Guarantee**: as many cracks as asked for minus one, as long as a part with
//! two nodes remains on both sides of the planes drawn (eight tries each); no more
//! pieces than asked for ([`crate::crumbs`]).

use fracas_core::{Fracture, FragmentId, Fragments};
use glam::Vec3;

use crate::crumbs::{CrumbRule, at_most, merge_and_count};
use crate::random::{Noise, Random};
use crate::sequence::CrackSequence;

/// Options of [`slices`].
#[derive(Clone, Debug, PartialEq)]
pub struct SlicesOptions {
    /// How many pieces.
    pub pieces: u32,
    /// Parallel cuts across this direction; without one, cuts in all directions.
    pub axis: Option<Vec3>,
    /// How irregular the cuts are: 0 evenly spaced and parallel, 1 wild.
    pub irregularity: f32,
    /// How far the faces leave their planes at most (m).
    pub roughness: f32,
    /// Seed of all chance.
    pub seed: u64,
}

impl Default for SlicesOptions {
    fn default() -> Self {
        Self {
            pieces: 8,
            axis: None,
            irregularity: 0.3,
            roughness: 0.0,
            seed: 0,
        }
    }
}

/// Breaks a fragment by flat cuts.
#[must_use]
pub fn slices(fragments: &Fragments, id: FragmentId, options: &SlicesOptions) -> Option<Fracture> {
    at_most(options.pieces as usize, |cuts| {
        let fewer = SlicesOptions {
            pieces: cuts,
            ..options.clone()
        };
        draw_slices(fragments, id, &fewer, options.pieces as usize)
    })
}

/// Slices, at most as many pieces as asked for where the body is connected, and the number
/// of pieces.
fn draw_slices(
    fragments: &Fragments,
    id: FragmentId,
    options: &SlicesOptions,
    most: usize,
) -> Option<(Fracture, usize)> {
    let mut sequence = CrackSequence::new(fragments, id)?;
    let positions = fragments.mesh().positions();
    let mut random = Random::new(options.seed).fork(u64::from(id.0));
    let noise = Noise::new(random.bits(), 6.0 * options.roughness);
    let wild = options.irregularity.clamp(0.0, 1.0);
    let axis = options.axis.and_then(Vec3::try_normalize);
    for cut in 1..options.pieces {
        // Tries: a plane may miss all nodes but those of one side.
        for _ in 0..8 {
            let part = match axis {
                // The remaining slab is what leaves each time.
                Some(_) => sequence.part_count() as u32 - 1,
                None => largest(&sequence),
            };
            let nodes = sequence.part(part);
            let tilt = random.direction();
            let normal = match axis {
                Some(axis) => (axis + 0.5 * wild * tilt).try_normalize().unwrap_or(axis),
                None => tilt,
            };
            let heights = || nodes.iter().map(|&n| normal.dot(positions[n as usize]));
            let lo = heights().fold(f32::INFINITY, f32::min);
            let hi = heights().fold(f32::NEG_INFINITY, f32::max);
            let even = match axis {
                Some(_) => 1.0 / (options.pieces - cut + 1) as f32,
                None => 0.5,
            };
            let share = even * (1.0 + 0.6 * wild * random.range(-1.0, 1.0));
            let height = lo + (hi - lo) * share;
            let level = |n: u32| {
                let p = positions[n as usize];
                normal.dot(p) - height + options.roughness * noise.at(p)
            };
            if sequence.split(part, level).is_some() {
                break;
            }
        }
    }
    let rule = CrumbRule {
        most: Some(most),
        ..CrumbRule::default()
    };
    Some(merge_and_count(fragments, sequence.finish()?, &rule))
}

fn largest(sequence: &CrackSequence) -> u32 {
    (0..sequence.part_count() as u32).fold(0, |best, part| {
        if sequence.part(part).len() > sequence.part(best).len() {
            part
        } else {
            best
        }
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use fracas_core::testing::box_grid;

    use super::*;

    #[test]
    fn regular_slices_along_an_axis_have_equal_size() {
        let mut fragments =
            Fragments::new(Arc::new(box_grid([20, 3, 3], Vec3::new(10.0, 1.0, 1.0))));
        let options = SlicesOptions {
            pieces: 5,
            axis: Some(Vec3::X),
            irregularity: 0.0,
            ..Default::default()
        };
        let fracture = slices(&fragments, FragmentId(0), &options).unwrap();
        fragments.apply(&fracture).unwrap();
        let sizes: Vec<usize> = fragments
            .living()
            .map(|f| fragments.fragment(f).nodes().len())
            .collect();
        assert_eq!(sizes.len(), 5);
        assert!(sizes.iter().all(|&s| (48..=80).contains(&s)), "{sizes:?}");
    }
}
