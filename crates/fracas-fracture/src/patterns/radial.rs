//! Spokes and rings round an axis: a window hit by a stone.
//!
//! Steps: one plane through the axis -> in each half-space, rays at seeded angles,
//! halving wedges recursively (a wedge is at most half a turn wide, so a plane
//! through the axis parts it along one ray only) -> in each sector, rings at
//! seeded radii, so that rings of neighbouring sectors do not quite meet, as in
//! broken glass.

use fracas_core::{Fracture, FragmentId, Fragments};
use glam::Vec3;

use super::frame_of;
use crate::crumbs::{CrumbRule, merge_crumbs};
use crate::random::{Noise, Random};
use crate::sequence::CrackSequence;

/// Options of [`radial`].
#[derive(Clone, Debug, PartialEq)]
pub struct RadialOptions {
    /// A point on the axis: where it was hit (metres, the mesh's frame).
    pub centre: Vec3,
    /// The direction of the axis: of the impact, or the normal of the plate.
    pub axis: Vec3,
    /// How many rays (at least 2: one straight crack).
    pub spokes: u32,
    /// Radii of the rings (m); none for spokes alone.
    pub rings: Vec<f32>,
    /// How irregular angles and radii are: 0 even, 1 wild.
    pub irregularity: f32,
    /// How far the faces leave their planes at most (m).
    pub roughness: f32,
    /// Seed of all chance.
    pub seed: u64,
}

impl RadialOptions {
    /// Eight spokes, no ring.
    #[must_use]
    pub fn at(centre: Vec3, axis: Vec3) -> Self {
        Self {
            centre,
            axis,
            spokes: 8,
            rings: Vec::new(),
            irregularity: 0.5,
            roughness: 0.0,
            seed: 0,
        }
    }
}

/// Breaks a fragment by spokes and rings.
#[must_use]
pub fn radial(fragments: &Fragments, id: FragmentId, options: &RadialOptions) -> Option<Fracture> {
    let mut sequence = CrackSequence::new(fragments, id)?;
    let axis = options.axis.try_normalize()?;
    let positions = fragments.mesh().positions();
    let mut random = Random::new(options.seed).fork(u64::from(id.0));
    let noise = Noise::new(random.bits(), 6.0 * options.roughness);
    let wild = options.irregularity.clamp(0.0, 1.0);
    let (u, v) = frame_of(axis);
    let rough = |p: Vec3| options.roughness * noise.at(p);

    let turn = std::f32::consts::TAU;
    let first = random.range(0.0, turn);
    let mut sectors = Vec::new();
    let spokes = options.spokes.max(2);
    // Each half gets its share of the rays that are left after the first two.
    for half in 0..2_u32 {
        let rays = (spokes - 2 + half) / 2;
        let start = first + 0.5 * turn * half as f32;
        let gap = 0.5 * turn / (rays + 1) as f32;
        let angles: Vec<f32> = (1..=rays)
            .map(|i| start + gap * (i as f32 + 0.45 * wild * random.range(-1.0, 1.0)))
            .collect();
        sectors.push(angles);
    }
    // The level of the plane through the axis at an angle: positive beyond it.
    let beyond = |n: u32, angle: f32| {
        let p = positions[n as usize];
        let to = p - options.centre;
        let normal = libm::cosf(angle) * v - libm::sinf(angle) * u;
        normal.dot(to) + rough(p)
    };
    // Beyond the angle `first` lies the first half turn.
    let mut parts = Vec::new();
    let whole = sequence.split(0, |n| beyond(n, first));
    let halves = match whole {
        Some(new) => vec![(new, &sectors[0][..]), (0, &sectors[1][..])],
        None if beyond(sequence.part(0)[0], first) >= 0.0 => vec![(0, &sectors[0][..])],
        None => vec![(0, &sectors[1][..])],
    };
    let mut work = halves;
    while let Some((part, angles)) = work.pop() {
        if angles.is_empty() {
            parts.push(part);
            continue;
        }
        let (before, rest) = angles.split_at(angles.len() / 2);
        let (angle, after) = (rest[0], &rest[1..]);
        match sequence.split(part, |n| beyond(n, angle)) {
            Some(new) => work.extend([(part, before), (new, after)]),
            None if beyond(sequence.part(part)[0], angle) >= 0.0 => work.push((part, after)),
            None => work.push((part, before)),
        }
    }
    let mut rings: Vec<f32> = options.rings.iter().copied().filter(|r| *r > 0.0).collect();
    rings.sort_by(f32::total_cmp);
    for part in parts {
        let mut outer = part;
        for (i, &radius) in rings.iter().enumerate() {
            let below = if i == 0 { 0.0 } else { rings[i - 1] };
            let radius = radius + 0.3 * wild * (radius - below) * random.range(-1.0, 1.0);
            let split = sequence.split(outer, |n| {
                let p = positions[n as usize];
                let to = p - options.centre;
                (to - to.dot(axis) * axis).length() - radius + rough(p)
            });
            if let Some(new) = split {
                outer = new;
            }
        }
    }
    let rule = CrumbRule::default();
    Some(merge_crumbs(fragments, sequence.finish()?, &rule))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use fracas_core::testing::box_grid;

    use super::*;

    fn pieces(spokes: u32, rings: Vec<f32>) -> usize {
        let mesh = box_grid([30, 30, 1], Vec3::new(1.0, 1.0, 0.03));
        let mut fragments = Fragments::new(Arc::new(mesh));
        let options = RadialOptions {
            spokes,
            rings,
            ..RadialOptions::at(Vec3::new(0.51, 0.48, 0.0), Vec3::Z)
        };
        let fracture = radial(&fragments, FragmentId(0), &options).unwrap();
        fragments.apply(&fracture).unwrap();
        fragments.validate().unwrap();
        fragments.living().count()
    }

    #[test]
    fn spokes_and_rings_make_sectors() {
        assert_eq!(pieces(2, vec![]), 2);
        assert_eq!(pieces(7, vec![]), 7);
        assert_eq!(pieces(8, vec![0.25]), 16);
        assert_eq!(
            pieces(0, vec![0.3]),
            4,
            "never less than one straight crack"
        );
    }

    #[test]
    fn an_axis_beside_the_body_still_cuts_what_it_meets() {
        let mesh = box_grid([10, 10, 1], Vec3::new(1.0, 1.0, 0.1));
        let mut fragments = Fragments::new(Arc::new(mesh));
        let options = RadialOptions {
            spokes: 40,
            ..RadialOptions::at(Vec3::new(-0.5, 0.5, 0.0), Vec3::Z)
        };
        let fracture = radial(&fragments, FragmentId(0), &options).unwrap();
        fragments.apply(&fracture).unwrap();
        fragments.validate().unwrap();
    }
}
