//! Fracture without physics, for games: a shape is laid over the fragment and cuts it.
//!
//! Every pattern takes the object, the fragment that breaks and its options, and
//! returns a [`fracas_core::Fracture`], or `None` when nothing would part (a fragment of
//! one node, a pattern that misses it). Cracks are nested binary splits, so
//! whatever a pattern draws, the fragments are closed and conforming.
//!
//! | pattern | looks like | options |
//! | --- | --- | --- |
//! | [`voronoi`] | crumbling stone, rubble; clustered at an impact | [`VoronoiOptions`] |
//! | [`slices`] | planks, bread, random flat cuts | [`SlicesOptions`] |
//! | [`radial`] | a window hit by a stone: spokes and rings | [`RadialOptions`] |
//! | [`conchoidal`] | shells chipped off stone or glass at an impact | [`ConchoidalOptions`] |
//! | [`user`] | whatever level functions say | |

mod conchoidal;
mod radial;
mod slices;
mod user;
mod voronoi;

pub use conchoidal::{ConchoidalOptions, conchoidal};
pub use radial::{RadialOptions, radial};
pub use slices::{SlicesOptions, slices};
pub use user::user;
pub use voronoi::{VoronoiOptions, voronoi};

use fracas_core::{Fracture, FragmentId, Fragments};
use glam::Vec3;

/// A pattern with its options, for code that takes any of them.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum BreakPattern {
    /// Crumbling stone and rubble: [`voronoi`].
    Voronoi(VoronoiOptions),
    /// Planks and random flat cuts: [`slices`].
    Slices(SlicesOptions),
    /// Spokes and rings of a broken window: [`radial`].
    Radial(RadialOptions),
    /// Shells chipped off at an impact: [`conchoidal`].
    Conchoidal(ConchoidalOptions),
}

impl Default for BreakPattern {
    /// Voronoi cells with their default options.
    fn default() -> Self {
        Self::Voronoi(VoronoiOptions::default())
    }
}

impl BreakPattern {
    /// Lays the pattern over a fragment. `None`: nothing would part.
    #[must_use]
    pub fn fracture(&self, fragments: &Fragments, id: FragmentId) -> Option<Fracture> {
        match self {
            Self::Voronoi(options) => voronoi(fragments, id, options),
            Self::Slices(options) => slices(fragments, id, options),
            Self::Radial(options) => radial(fragments, id, options),
            Self::Conchoidal(options) => conchoidal(fragments, id, options),
        }
    }
}

/// Centre and radius of a sphere round the nodes of a fragment (not the smallest).
pub(crate) fn bounding_sphere(fragments: &Fragments, id: FragmentId) -> (Vec3, f32) {
    let positions = fragments.mesh().positions();
    let nodes = fragments.fragment(id).nodes();
    let first = positions[nodes[0] as usize];
    let (lo, hi) = nodes.iter().fold((first, first), |(lo, hi), &n| {
        let p = positions[n as usize];
        (lo.min(p), hi.max(p))
    });
    let centre = 0.5 * (lo + hi);
    let squared = nodes
        .iter()
        .map(|&n| positions[n as usize].distance_squared(centre))
        .fold(0.0, f32::max);
    (centre, squared.sqrt())
}

/// Two unit vectors that are perpendicular to a unit vector and to each other.
pub(crate) fn frame_of(axis: Vec3) -> (Vec3, Vec3) {
    let helper = if axis.x.abs() < 0.6 { Vec3::X } else { Vec3::Y };
    let u = axis.cross(helper).normalize();
    (u, axis.cross(u))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use fracas_core::testing::box_grid;

    use super::*;

    fn plate() -> Fragments {
        Fragments::new(Arc::new(box_grid([12, 12, 1], Vec3::new(1.0, 1.0, 0.08))))
    }

    fn all(
        fragments: &Fragments,
        id: FragmentId,
        seed: u64,
    ) -> Vec<(&'static str, Option<Fracture>)> {
        let (at, radius) = bounding_sphere(fragments, id);
        vec![
            (
                "voronoi",
                voronoi(
                    fragments,
                    id,
                    &VoronoiOptions {
                        pieces: 9,
                        seed,
                        ..Default::default()
                    },
                ),
            ),
            (
                "clustered",
                voronoi(
                    fragments,
                    id,
                    &VoronoiOptions {
                        pieces: 9,
                        impact: Some(at),
                        spread: 0.3 * radius,
                        roughness: 0.02,
                        seed,
                        ..Default::default()
                    },
                ),
            ),
            (
                "slices",
                slices(
                    fragments,
                    id,
                    &SlicesOptions {
                        pieces: 6,
                        seed,
                        ..Default::default()
                    },
                ),
            ),
            (
                "radial",
                radial(
                    fragments,
                    id,
                    &RadialOptions {
                        seed,
                        ..RadialOptions::at(at, Vec3::Z)
                    },
                ),
            ),
            (
                "conchoidal",
                conchoidal(
                    fragments,
                    id,
                    &ConchoidalOptions {
                        seed,
                        ..ConchoidalOptions::at(Vec3::ZERO, Vec3::ONE)
                    },
                ),
            ),
        ]
    }

    #[test]
    fn every_pattern_is_accepted_again_and_again_and_repeats() {
        for seed in 0..4 {
            let mut fragments = plate();
            for round in 0..3 {
                let id = fragments
                    .living()
                    .max_by_key(|&f| fragments.fragment(f).nodes().len())
                    .unwrap();
                for (name, fracture) in all(&fragments, id, seed) {
                    let Some(fracture) = fracture else {
                        assert!(round > 0, "{name} missed the whole plate");
                        continue;
                    };
                    let mut copy = fragments.clone();
                    copy.apply(&fracture)
                        .unwrap_or_else(|e| panic!("{name}: {e}"));
                    copy.validate().unwrap_or_else(|e| panic!("{name}: {e}"));
                }
                let fractures = all(&fragments, id, seed);
                assert_eq!(fractures, all(&fragments, id, seed));
                let chosen = fractures[(seed as usize + round) % 3].1.clone().unwrap();
                fragments.apply(&chosen).unwrap();
            }
        }
    }

    #[test]
    fn a_fragment_that_cannot_break_gives_none() {
        let mut fragments = Fragments::new(Arc::new(box_grid([1, 1, 1], Vec3::ONE)));
        let options = VoronoiOptions {
            pieces: 100,
            ..Default::default()
        };
        let fracture = voronoi(&fragments, FragmentId(0), &options).unwrap();
        fragments.apply(&fracture).unwrap();
        assert_eq!(fragments.living().count(), 8, "one node each");
        for id in [FragmentId(0), FragmentId(1), FragmentId(77)] {
            for (name, fracture) in [("voronoi", voronoi(&fragments, id, &options))]
                .into_iter()
                .chain([("slices", slices(&fragments, id, &SlicesOptions::default()))])
                .chain([(
                    "radial",
                    radial(&fragments, id, &RadialOptions::at(Vec3::ZERO, Vec3::Z)),
                )])
            {
                assert!(fracture.is_none(), "{name}");
            }
        }
    }
}
