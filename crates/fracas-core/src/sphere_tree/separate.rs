//! A direction along which two bodies are apart: the cheapest proof that they have no
//! contact.
//!
//! Pieces of a break part, and nearly all of their pairs lie on either side of a plane
//! long before their boxes do. A pair keeps the last direction that it was apart along
//! and asks both bodies how far they reach along it; what is found too narrow is bettered
//! by reflection.
//!
//! Source: Chung and Wang 1996, quick collision detection of polytopes: if `a` and `b`
//! are the bodies' farthest points along u toward each other, the next direction is u
//! reflected at the line from `a` to `b`.
//!
//! **Guarantee**: a gap is a lower bound of the distance between the two sets of points,
//! their convex hulls included, up to rounding. None found does not mean that they touch.

use glam::Vec3;

use super::SphereTree;
use crate::Pose;

/// Directions that are tried in one query.
const MOST_TRIES: usize = 4;

/// What a pair remembers: the direction from the first body to the second, in the frame
/// of the second; zero for a new pair.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SeparatingAxis {
    direction: Vec3,
}

/// A body as the axis sees it.
#[derive(Clone, Copy, Debug)]
pub struct Hull<'a> {
    /// Its points.
    pub tree: &'a SphereTree,
    /// Points of its surface that the tree does not hold.
    pub others: &'a [Vec3],
}

impl Hull<'_> {
    /// The point that is farthest along a direction.
    fn farthest(&self, direction: Vec3) -> Vec3 {
        let mut best = self.tree.farthest(direction);
        for &p in self.others {
            if direction.dot(p) > direction.dot(best) {
                best = p;
            }
        }
        best
    }
}

impl SeparatingAxis {
    /// The direction, to save it with; zero where none is known.
    #[must_use]
    pub fn direction(&self) -> Vec3 {
        self.direction
    }

    /// An axis that was saved.
    #[must_use]
    pub fn of_direction(direction: Vec3) -> Self {
        Self { direction }
    }

    /// The widest gap that a few directions show between the first body, placed by `pose`
    /// in the frame of the second, and the second: negative if none shows one. Stops at
    /// `enough`.
    pub fn gap(&mut self, pose: &Pose, first: Hull<'_>, second: Hull<'_>, enough: f32) -> f32 {
        let mut direction = self.direction;
        if direction == Vec3::ZERO {
            let (one, two) = (first.tree.bounding_sphere(), second.tree.bounding_sphere());
            direction = (two.0 - pose.point(one.0)).normalize_or(Vec3::Y);
        }
        let mut widest = f32::NEG_INFINITY;
        for _ in 0..MOST_TRIES {
            let a = pose.point(first.farthest(pose.rotation.transpose() * direction));
            let b = second.farthest(-direction);
            let between = b - a;
            let gap = direction.dot(between);
            if gap <= widest {
                break;
            }
            (widest, self.direction) = (gap, direction);
            let Some(line) = between.try_normalize() else {
                break;
            };
            if widest >= enough {
                break;
            }
            direction = (direction - line * (2.0 * direction.dot(line))).normalize_or(line);
        }
        widest - first.tree.placement_error(pose)
    }
}

impl SphereTree {
    /// The point that is farthest along a direction of the tree's frame. Every point is
    /// looked at: for the few hundred of a fragment that is faster than a descent, in
    /// which spheres leave little out.
    #[must_use]
    #[cfg_attr(feature = "research", visibility::make(pub))]
    pub(crate) fn farthest(&self, direction: Vec3) -> Vec3 {
        // Lanes that do not wait for one another.
        const LANES: usize = 8;
        let (mut most, mut at) = ([f32::NEG_INFINITY; LANES], [0_u32; LANES]);
        let chunks = self.positions.chunks_exact(LANES);
        let rest = chunks.remainder();
        for (k, chunk) in chunks.enumerate() {
            for i in 0..LANES {
                let along = direction.dot(chunk[i]);
                let more = along > most[i];
                most[i] = if more { along } else { most[i] };
                at[i] = if more { k as u32 } else { at[i] };
            }
        }
        let mut best = (f32::NEG_INFINITY, 0);
        for i in 0..LANES {
            if most[i] > best.0 {
                best = (most[i], at[i] as usize * LANES + i);
            }
        }
        let start = self.positions.len() - rest.len();
        for (i, &p) in rest.iter().enumerate() {
            let along = direction.dot(p);
            if along > best.0 {
                best = (along, start + i);
            }
        }
        self.positions[best.1]
    }
}

#[cfg(test)]
mod tests {
    use super::super::BuildOptions;
    use super::*;
    use crate::testing::{Rng, box_grid};

    fn tree() -> SphereTree {
        let mesh = box_grid([6, 3, 4], Vec3::new(1.2, 0.6, 0.8));
        SphereTree::build(&mesh, &BuildOptions::default()).unwrap()
    }

    #[test]
    fn the_farthest_point_is_the_farthest() {
        let (tree, mut rng) = (tree(), Rng(3));
        for _ in 0..500 {
            let u = rng.direction() * rng.range(0.1, 3.0);
            let most = tree.positions().iter().map(|p| u.dot(*p));
            let most = most.fold(f32::NEG_INFINITY, f32::max);
            assert_eq!(u.dot(tree.farthest(u)), most);
        }
    }

    #[test]
    fn a_gap_is_never_wider_than_the_distance_and_is_found_where_there_is_one() {
        let (tree, mut rng) = (tree(), Rng(4));
        let hull = Hull {
            tree: &tree,
            others: &[],
        };
        let (mut apart, mut shown) = (0, 0);
        for _ in 0..300 {
            let mut axis = SeparatingAxis::default();
            let mut pose = Pose::new(rng.direction(), rng.range(0.0, 6.0), rng.direction() * 1.6);
            for _ in 0..5 {
                let gap = axis.gap(&pose, hull, hull, f32::INFINITY);
                let placed = tree.positions().iter().map(|&p| pose.point(p));
                let least = placed
                    .flat_map(|p| tree.positions().iter().map(move |q| p.distance(*q)))
                    .fold(f32::INFINITY, f32::min);
                assert!(gap <= least, "{gap} > {least}");
                apart += u32::from(least > 0.3);
                shown += u32::from(least > 0.3 && gap > 0.0);
                pose.translation += rng.direction() * 0.02;
            }
        }
        assert!(apart > 100 && shown * 10 > apart * 9, "{shown} of {apart}");
    }
}
