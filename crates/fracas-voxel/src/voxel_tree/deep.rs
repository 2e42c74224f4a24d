//! Where two bodies are deep in each other: a few voxels that lie deep in both, and no others.
//!
//! Two bodies that are four voxels deep in each other have thousands of overlapping cubes. Level by
//! level they take the budget of a whole step, and where that ends before the finest level, which
//! alone knows how deep, nothing pushes the bodies out: in the next step it begins anew. But what
//! pushes them out is in the middle of the overlap, where a voxel lies deep in both.
//!
//! Steps: from the roots down into the pair of children that are farthest in each other, leaving
//! out those that cannot be deep, the [`common_depth`] of a pair of cubes being that of its deepest
//! voxels -> at the first pair of voxels, what cannot be nearly as deep is left out -> on with what
//! is left, finest first, until nothing is or the tests are used up.
//!
//! Not in [Dingliana 2004], whose contacts have no depth.
//!
//! **Guarantee**: what is found overlaps and is deep. With tests enough the deepest pair is among
//! it; with few it may not be, and a pair that is deep may not be found to be.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::box_test::BoxTest;
use super::detect::{CubePair, Detection, Stop, finer, is_finest, voxels};
use super::tree::VoxTree;
use fracas_geometry::Pose;

/// Bodies are deep in each other where a voxel of each, which overlap, lie so many edges under
/// their surfaces.
pub(super) const DEEP: f32 = 1.0;

/// Beside the deepest pair those count that are as deep as this share of it.
const NEARLY: f32 = 0.7;

/// Pairs of voxels at the most: a few regions, each with points to span it.
const MOST_PAIRS: usize = 48;

/// Tests at the most: some dives from the roots to the voxels.
pub(super) const MOST_TESTS: u64 = 768;

/// How deep voxels in a pair of cubes may lie in both bodies: exact on the finest level, else not
/// less than that.
fn common_depth(a: &VoxTree, b: &VoxTree, pair: &CubePair) -> f32 {
    deepest(a, pair.a).min(deepest(b, pair.b))
}

fn deepest(tree: &VoxTree, (level, node): (u32, u32)) -> f32 {
    tree.levels()[level as usize].extents[node as usize].deepest
}

/// A pair that waits: the finest first, of these the one whose cubes are farthest in each other, and
/// of equals the one that is named first.
struct Open {
    pair: CubePair,
    /// See [`common_depth`].
    depth: f32,
    /// How far the cubes are in each other.
    overlap: f32,
}

impl Open {
    fn level(&self) -> u32 {
        self.pair.a.0 + self.pair.b.0
    }

    fn name(&self) -> impl Ord + use<> {
        (self.pair.a, self.pair.b)
    }
}

impl PartialEq for Open {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl Eq for Open {}
impl Ord for Open {
    fn cmp(&self, other: &Self) -> Ordering {
        let finer = self.level().cmp(&other.level());
        let farther = finer.then(self.overlap.total_cmp(&other.overlap));
        farther.then_with(|| other.name().cmp(&self.name()))
    }
}
impl PartialOrd for Open {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Detection {
    /// Looks for where the bodies are deep in each other, before anything else is looked at, with
    /// `most` tests. Says [`Stop::Deep`] if they are, and has those pairs of voxels
    /// in hand, the deepest first; else nothing has changed, but for the tests that were made.
    pub(super) fn seek_deep(
        &mut self,
        a: &VoxTree,
        b: &VoxTree,
        b_to_a: &Pose,
        most: u64,
    ) -> Option<Stop> {
        if a.is_empty() || b.is_empty() {
            return None;
        }
        let (last_a, last_b) = (a.levels().last()?, b.levels().last()?);
        let test = BoxTest::new(b_to_a);
        let mut least = DEEP * last_a.cell.max(last_b.cell);
        let (mut open, mut found) = (BinaryHeap::new(), Vec::new());
        let root = CubePair {
            a: (0, 0),
            b: (0, 0),
        };
        let may_be = test.overlap(voxels(a, root.a), voxels(b, root.b));
        let (mut tests, mut parent) = (1, may_be.then_some(root));
        while let Some(pair) = parent
            && tests < most
        {
            let left = usize::try_from(most - tests).unwrap_or(usize::MAX);
            let (of_a, of_b) = (
                deep_children(a, pair.a, least),
                deep_children(b, pair.b, least),
            );
            let pairs = of_a.flat_map(|a| of_b.clone().map(move |b| CubePair { a, b }));
            let boxes = pairs.take(left).map(|pair| {
                tests += 1;
                let depth = common_depth(a, b, &pair);
                (voxels(a, pair.a), voxels(b, pair.b), (pair, depth))
            });
            test.each_overlap(boxes, |(pair, depth), overlap| {
                open.push(Open {
                    pair,
                    depth,
                    overlap,
                });
            });
            // Down to the next that is not a pair of voxels.
            parent = None;
            while let Some(Open { pair, depth, .. }) = open.pop() {
                if depth < least {
                    continue;
                }
                if is_finest(a, pair.a) && is_finest(b, pair.b) {
                    least = least.max(NEARLY * depth);
                    found.push((depth, pair));
                } else {
                    parent = Some(pair);
                    break;
                }
            }
        }
        found.retain(|(depth, _)| *depth >= least);
        found.sort_by(|(x, one), (y, two)| {
            let deeper = y.total_cmp(x);
            deeper.then_with(|| (one.a, one.b).cmp(&(two.a, two.b)))
        });
        found.truncate(MOST_PAIRS);
        self.note_deep(tests, found.into_iter().map(|(_, pair)| pair).collect())
    }
}

/// The children of a cube that have voxels so deep.
fn deep_children(
    tree: &VoxTree,
    at: (u32, u32),
    least: f32,
) -> impl Iterator<Item = (u32, u32)> + Clone {
    let (level, nodes) = finer(tree, at);
    let children = nodes.map(move |node| (level, node));
    children.filter(move |&child| deepest(tree, child) >= least)
}

#[cfg(test)]
mod tests {
    use glam::{Mat3, Vec3};

    use super::*;
    use crate::voxel_tree::{Budget, box_tree};
    use fracas_geometry::testing::Rng;

    #[test]
    fn the_deepest_pairs_of_all_are_found_and_only_where_bodies_are_deep() {
        let cell = 0.05;
        let (a, b) = (
            box_tree(Vec3::new(0.7, 0.5, 0.4), cell),
            box_tree(Vec3::new(0.9, 0.35, 0.6), cell),
        );
        let mut rng = Rng(57);
        let (mut deep, mut shallow, mut missed) = (0, 0, 0);
        for _ in 0..60 {
            let b_to_a = Pose {
                rotation: Mat3::from_axis_angle(rng.direction(), rng.range(0.0, 3.0)),
                translation: rng.direction() * rng.range(0.2, 0.8),
            };
            // All voxels that overlap.
            let mut all = Detection::default();
            all.refine(&a, &b, &b_to_a, &Budget::default());
            let mut depths: Vec<f32> = all.pairs().map(|p| common_depth(&a, &b, p)).collect();
            depths.sort_by(|x, y| y.total_cmp(x));
            let deepest = depths.first().copied().unwrap_or(0.0);

            // With tests enough.
            let mut detection = Detection::default();
            let stop = detection.seek_deep(&a, &b, &b_to_a, u64::MAX);
            if deepest < DEEP * cell {
                assert_eq!(stop, None);
                // Nothing has changed.
                detection.refine(&a, &b, &b_to_a, &Budget::default());
                assert!(detection.pairs().eq(all.pairs()));
                shallow += 1;
                continue;
            }
            assert_eq!(stop, Some(Stop::Deep), "{deepest} deep");
            let told = |detection: &Detection| -> Vec<f32> {
                let pairs = detection.pairs();
                pairs.map(|p| common_depth(&a, &b, p)).collect()
            };
            let least = (NEARLY * deepest).max(DEEP * cell);
            let wanted = depths.iter().take_while(|d| **d >= least);
            let wanted: Vec<f32> = wanted.copied().take(MOST_PAIRS).collect();
            assert_eq!(told(&detection), wanted);
            // With few, what is found is deep, if not the deepest.
            let mut detection = Detection::default();
            let stop = detection.seek_deep(&a, &b, &b_to_a, MOST_TESTS);
            assert!(detection.tests() <= MOST_TESTS);
            let found = told(&detection);
            assert_eq!(stop.is_some(), !found.is_empty());
            assert!(found.iter().all(|&d| d >= DEEP * cell && d <= deepest));
            let first = found.first().copied().unwrap_or(0.0);
            missed += usize::from(first < 0.6 * deepest);
            deep += 1;
        }
        assert!(8 * missed <= deep, "{missed} of {deep} missed");
        assert!(deep > 15 && shallow > 15, "{deep} deep, {shallow} not");
    }
}
