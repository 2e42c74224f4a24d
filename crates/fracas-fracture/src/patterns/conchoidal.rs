//! Shells chipped off at an impact: spheres whose centres lie outside the body,
//! beyond the point of contact, as stone, glass and brick corners break.
//!
//! **Guarantee**: no more pieces than shells and what stays behind ([`crate::crumbs`]), where
//! the body is connected: a shell that is wider than the body leaves rings and corners, which
//! join their neighbours.

use fracas_core::{Fracture, FragmentId, Fragments};
use glam::Vec3;

use super::bounding_sphere;
use crate::crumbs::{CrumbRule, at_most, merge_and_count};
use crate::random::{Noise, Random};
use crate::sequence::CrackSequence;

/// Options of [`conchoidal`].
#[derive(Clone, Debug, PartialEq)]
pub struct ConchoidalOptions {
    /// The point of contact (metres, the mesh's frame).
    pub impact: Vec3,
    /// The direction of the impact, into the body.
    pub inward: Vec3,
    /// How many nested shells.
    pub chips: u32,
    /// How deep the deepest one reaches, as a share of the fragment's radius.
    pub depth: f32,
    /// How far the faces leave their spheres at most (m).
    pub roughness: f32,
    /// Seed of all chance.
    pub seed: u64,
}

impl ConchoidalOptions {
    /// Two chips, the deeper one half a radius deep.
    #[must_use]
    pub fn at(impact: Vec3, inward: Vec3) -> Self {
        Self {
            impact,
            inward,
            chips: 2,
            depth: 0.5,
            roughness: 0.0,
            seed: 0,
        }
    }
}

/// Chips shells off a fragment.
#[must_use]
pub fn conchoidal(
    fragments: &Fragments,
    id: FragmentId,
    options: &ConchoidalOptions,
) -> Option<Fracture> {
    let most = options.chips.max(1) as usize + 1;
    at_most(most, |pieces| {
        let fewer = ConchoidalOptions {
            chips: pieces - 1,
            ..options.clone()
        };
        draw_shells(fragments, id, &fewer, most)
    })
}

/// Shells, at most as many pieces as asked for where the body is connected, and the number
/// of pieces.
fn draw_shells(
    fragments: &Fragments,
    id: FragmentId,
    options: &ConchoidalOptions,
    most: usize,
) -> Option<(Fracture, usize)> {
    let mut sequence = CrackSequence::new(fragments, id)?;
    let inward = options.inward.try_normalize()?;
    let positions = fragments.mesh().positions();
    let (_, radius) = bounding_sphere(fragments, id);
    let mut random = Random::new(options.seed).fork(u64::from(id.0));
    let noise = Noise::new(random.bits(), 6.0 * options.roughness);
    let chips = options.chips;
    // From the deepest inwards out: what lies inside a shell is split again.
    for chip in (1..=chips).rev() {
        let depth = options.depth * radius * chip as f32 / chips as f32;
        let depth = depth * random.range(0.85, 1.15);
        let tilt = (inward + 0.15 * random.direction()).normalize();
        // The centre lies outside, so that the shell is a bowl, not a ball.
        let back = 0.4 * depth;
        let centre = options.impact - back * tilt;
        // The first split makes part 1 of what stays behind; the chip is part 0.
        let _ = sequence.split(0, |n| {
            let p = positions[n as usize];
            p.distance(centre) - (depth + back) + options.roughness * noise.at(p)
        });
    }
    let rule = CrumbRule {
        most: Some(most),
        ..CrumbRule::default()
    };
    Some(merge_and_count(fragments, sequence.finish()?, &rule))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use fracas_core::testing::box_grid;

    use super::*;

    #[test]
    fn a_corner_is_chipped_off_a_brick() {
        let mesh = box_grid([20, 10, 6], Vec3::new(0.215, 0.1025, 0.065));
        let mut fragments = Fragments::new(Arc::new(mesh));
        let options = ConchoidalOptions::at(Vec3::ZERO, Vec3::ONE);
        let fracture = conchoidal(&fragments, FragmentId(0), &options).unwrap();
        fragments.apply(&fracture).unwrap();
        fragments.validate().unwrap();
        assert_eq!(fragments.living().count(), 3);
        let corner = fragments
            .fragment(fragments.node_fragment()[0])
            .nodes()
            .len();
        assert!(corner < 200, "the chip at the corner is small: {corner}");
    }

    #[test]
    fn shells_wider_than_the_body_make_no_more_pieces_than_asked_for() {
        for (cells, chips) in [([6, 6, 6], 7), ([20, 2, 3], 5), ([3, 3, 30], 9)] {
            let whole = box_grid(cells, Vec3::from_array(cells.map(|n| 0.1 * n as f32)));
            let mut fragments = Fragments::new(Arc::new(whole));
            let top = 0.05 * Vec3::from_array(cells.map(|n| n as f32)).with_y(0.0)
                + Vec3::Y * (0.1 * cells[1] as f32);
            let options = ConchoidalOptions {
                chips,
                ..ConchoidalOptions::at(top, Vec3::NEG_Y)
            };
            let fracture = conchoidal(&fragments, FragmentId(0), &options).unwrap();
            fragments.apply(&fracture).unwrap();
            fragments.validate().unwrap();
            let pieces = fragments.living().count();
            assert!(
                (2..=chips as usize + 1).contains(&pieces),
                "{pieces} of {chips}"
            );
        }
    }
}
