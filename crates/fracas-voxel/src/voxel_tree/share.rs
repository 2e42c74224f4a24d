//! One budget for many pairs: the pair most in need is refined first.
//!
//! Need is the edge of the coarsest cube in a pair's answer, as a multiple of the
//! pair's weight: a pair that is seen coarsely, or that matters (fast, large, near
//! the viewer), goes before one that is seen finely. A pair is refined one level,
//! or one slice of tests, at a time, then compared again; what is sought deep is sought at once. Ties go to the earlier
//! pair, so with a budget of tests the outcome repeats bit for bit. Pairs of infinite weight
//! are refined to the end one after the other, before all others: where many must be seen and
//! time is short, some are seen finely rather than all coarsely.
//!
//! Floors and other plain shapes share the budget: their cubes cost a distance each.
//!
//! Source: [Dingliana 2004, section 1] asks for a fair use of the frame's time; the
//! rule is ours.

use std::collections::BinaryHeap;

use super::deep::MOST_TESTS;
use super::detect::{Budget, Detection, Plane, Solid, Stop};
use super::tree::VoxTree;
use fracas_geometry::Pose;

/// The other body of a pair.
#[derive(Clone, Copy)]
pub enum Other<'a> {
    /// A tree, and where it is in A's frame.
    Tree(&'a VoxTree, Pose),
    /// A plain shape in A's frame, and how near counts.
    Solid(Solid<'a>, f32),
    /// A floor in A's frame, and how near counts.
    Plane(Plane, f32),
}

/// A pair that waits for contacts.
pub struct SharedPair<'a> {
    /// Body A.
    pub a: &'a VoxTree,
    /// Body B.
    pub b: Other<'a>,
    /// How much this pair matters: 1 is ordinary, infinity goes first and to the end.
    pub weight: f32,
    /// Whether it is asked first where they are deep in each other.
    pub seeks_deep: bool,
    /// Its detection, started or new.
    pub detection: &'a mut Detection,
    /// Why it stopped, once [`refine_all`] has returned.
    pub stop: Option<Stop>,
}

/// Tests a pair makes before the others are looked at again: small against a
/// frame (about 3 microseconds), large against the cost of comparing.
const SLICE: u64 = 256;

/// Need of a pair, greatest first; of equals the earlier.
#[derive(PartialEq)]
struct Need(f32, usize);

impl Eq for Need {}
impl Ord for Need {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0).then(other.1.cmp(&self.1))
    }
}
impl PartialOrd for Need {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// How far a shared refinement has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Tests made.
    pub tests: u64,
    /// Pairs of overlapping cubes in hand: what reduction will have to go through.
    pub in_hand: usize,
}

/// Refines all pairs within one budget (its level is a limit for each pair).
/// Every pair gets at least its roots tested, so that none goes unanswered.
/// Returns the number of tests made.
pub fn refine_all(pairs: &mut [SharedPair<'_>], budget: &Budget) -> u64 {
    refine_while(pairs, budget, &mut |_| true).tests
}

/// As [`refine_all`], and asks `go_on` every few hundred tests (a thousand at the most), for
/// callers whose budget is a time: it knows what the clock says and what the cubes in
/// hand will cost.
pub fn refine_while(
    pairs: &mut [SharedPair<'_>],
    budget: &Budget,
    go_on: &mut dyn FnMut(Progress) -> bool,
) -> Progress {
    let mut left = budget.tests.unwrap_or(u64::MAX);
    let mut progress = Progress::default();
    let mut open = BinaryHeap::new();
    for (i, pair) in pairs.iter_mut().enumerate() {
        let (stop, tests) = advance(
            pair,
            &Budget {
                level: Some(0),
                ..Budget::default()
            },
        );
        progress.tests += tests;
        progress.in_hand += pair.detection.in_hand();
        left = left.saturating_sub(tests);
        if stop == Stop::Level {
            open.push(Need(need(pair), i));
        }
    }
    let mut asked = 0;
    while let Some(Need(_, i)) = open.pop() {
        if left > 0 && progress.tests >= asked {
            asked = progress.tests + SLICE;
            if !go_on(progress) {
                left = 0;
            }
        }
        let pair = &mut pairs[i];
        let next_level = pair.detection.level() + 1;
        let level = budget
            .level
            .map_or(next_level, |limit| limit.min(next_level));
        let slice = Budget {
            tests: Some(left.min(SLICE)),
            deadline: budget.deadline,
            level: Some(level),
        };
        let before = pair.detection.in_hand();
        let (stop, tests) = if left == 0 {
            (Stop::Tests, 0)
        } else if std::mem::take(&mut pair.seeks_deep) {
            seek_deep(pair, left.min(MOST_TESTS))
        } else {
            advance(pair, &slice)
        };
        progress.tests += tests;
        progress.in_hand = progress.in_hand + pair.detection.in_hand() - before;
        left = left.saturating_sub(tests);
        pair.stop = Some(stop);
        let goes_on = match stop {
            Stop::Level => budget
                .level
                .is_none_or(|limit| pair.detection.level() < limit),
            Stop::Tests => left > 0,
            // One pair saw the clock run out: the others need not ask.
            Stop::Deadline => {
                left = 0;
                false
            }
            Stop::Apart | Stop::Finest | Stop::Deep => false,
        };
        if goes_on {
            open.push(Need(need(pair), i));
        }
    }
    progress
}

fn advance(pair: &mut SharedPair<'_>, budget: &Budget) -> (Stop, u64) {
    let before = pair.detection.tests();
    let stop = match &pair.b {
        Other::Tree(b, b_to_a) => pair.detection.refine(pair.a, b, b_to_a, budget),
        Other::Solid(solid, reach) => pair.detection.refine_against(pair.a, solid, *reach, budget),
        Other::Plane(plane, reach) => {
            let detection = &mut pair.detection;
            detection.refine_against_plane(pair.a, plane, *reach, budget)
        }
    };
    pair.stop = Some(stop);
    (stop, pair.detection.tests() - before)
}

/// Asks where they are deep in each other, with `most` tests. If they are not, they are to be
/// looked at level by level.
fn seek_deep(pair: &mut SharedPair<'_>, most: u64) -> (Stop, u64) {
    let before = pair.detection.tests();
    let stop = match &pair.b {
        Other::Tree(b, b_to_a) => pair.detection.seek_deep(pair.a, b, b_to_a, most),
        Other::Solid(..) | Other::Plane(..) => None,
    };
    (stop.unwrap_or(Stop::Tests), pair.detection.tests() - before)
}

fn need(pair: &SharedPair<'_>) -> f32 {
    let level = pair.detection.level() as usize;
    let edge = |tree: &VoxTree| tree.levels()[level.min(tree.levels().len() - 1)].cell;
    let other = match &pair.b {
        Other::Tree(b, _) => edge(b),
        Other::Solid(..) | Other::Plane(..) => 0.0,
    };
    pair.weight * edge(pair.a).max(other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::voxel_tree::VoxelGrid;
    use fracas_geometry::testing::box_grid;
    use glam::{Mat3, Vec3};

    fn tree(size: f32) -> VoxTree {
        let mesh = box_grid([1, 1, 1], Vec3::splat(size));
        let triangles: Vec<[u32; 3]> = mesh.boundary().map(|f| f.nodes).collect();
        VoxTree::build(
            &VoxelGrid::from_surface(mesh.positions(), &triangles, size / 14.0).unwrap(),
            2,
        )
    }

    fn run(tests: Option<u64>) -> (u64, Vec<(Stop, u32, usize)>) {
        let (large, small) = (tree(1.0), tree(0.3));
        let mut detections = vec![Detection::default(); 6];
        let mut pairs: Vec<SharedPair<'_>> = detections
            .iter_mut()
            .enumerate()
            .map(|(i, detection)| SharedPair {
                a: &large,
                b: Other::Tree(
                    if i % 2 == 0 { &large } else { &small },
                    Pose {
                        rotation: Mat3::from_rotation_x(0.1 * i as f32),
                        translation: Vec3::new(0.9, 0.1, 0.1 * i as f32),
                    },
                ),
                weight: 1.0,
                seeks_deep: false,
                detection,
                stop: None,
            })
            .collect();
        let made = refine_all(
            &mut pairs,
            &Budget {
                tests,
                ..Budget::default()
            },
        );
        let result = pairs
            .iter()
            .map(|p| {
                (
                    p.stop.unwrap(),
                    p.detection.level(),
                    p.detection.pairs().count(),
                )
            })
            .collect();
        (made, result)
    }

    #[test]
    fn a_small_budget_is_shared_and_a_large_one_finishes_all() {
        let (made, result) = run(Some(5_000));
        // The last pair that is refined is refined wholly: 8 x 8 children.
        assert!(made < 5_000 + 64, "{made}");
        let levels: Vec<u32> = result.iter().map(|r| r.1).collect();
        assert!(
            levels.iter().max().unwrap() - levels.iter().min().unwrap() <= 2,
            "unfair: {levels:?}"
        );
        let (_, all) = run(None);
        assert!(
            all.iter()
                .all(|r| matches!(r.0, Stop::Finest | Stop::Apart)),
            "{all:?}"
        );
    }

    #[test]
    fn pairs_that_are_deep_are_sought_within_the_budget_and_the_others_go_on() {
        let large = tree(1.0);
        let places = [0.75, 1.02, 0.75, 0.98, 2.0, 0.7];
        for tests in [40, 100, 700, 3_000, 12_000, 200_000] {
            let mut detections = vec![Detection::default(); places.len()];
            let mut pairs: Vec<SharedPair<'_>> = detections
                .iter_mut()
                .zip(places)
                .map(|(detection, x)| SharedPair {
                    a: &large,
                    b: Other::Tree(
                        &large,
                        Pose {
                            rotation: Mat3::from_rotation_x(0.1),
                            translation: Vec3::new(x, 0.1, 0.1),
                        },
                    ),
                    weight: f32::INFINITY,
                    seeks_deep: true,
                    detection,
                    stop: None,
                })
                .collect();
            let budget = Budget {
                tests: Some(tests),
                ..Budget::default()
            };
            let mut asked = 0;
            let progress = refine_while(&mut pairs, &budget, &mut |progress| {
                assert!(progress.tests - asked <= MOST_TESTS + SLICE + 64);
                asked = progress.tests;
                true
            });
            assert!(progress.tests < tests + 64, "{} of {tests}", progress.tests);
            let stops: Vec<Stop> = pairs.iter().map(|p| p.stop.unwrap()).collect();
            assert_eq!(stops[4], Stop::Apart);
            if tests >= 12_000 {
                assert_eq!([stops[0], stops[2]], [Stop::Deep; 2], "{stops:?}");
            }
            if tests == 200_000 {
                assert_eq!([stops[1], stops[3]], [Stop::Finest; 2], "{stops:?}");
                assert_eq!(stops[5], Stop::Deep);
            }
        }
    }

    #[test]
    fn a_caller_can_stop_at_any_slice_and_is_told_what_is_in_hand() {
        let (large, mut detections) = (tree(1.0), vec![Detection::default(); 3]);
        let mut pairs: Vec<SharedPair<'_>> = detections
            .iter_mut()
            .map(|detection| SharedPair {
                a: &large,
                b: Other::Tree(
                    &large,
                    Pose {
                        rotation: Mat3::from_rotation_y(0.2),
                        translation: Vec3::new(0.9, 0.1, 0.1),
                    },
                ),
                weight: 1.0,
                seeks_deep: false,
                detection,
                stop: None,
            })
            .collect();
        let mut told = Vec::new();
        let end = refine_while(&mut pairs, &Budget::default(), &mut |progress| {
            told.push(progress);
            told.len() < 5
        });
        assert_eq!(told.len(), 5);
        assert_eq!(end, told[4], "nothing is done once the answer is no");
        let in_hand: usize = pairs.iter().map(|p| p.detection.pairs().count()).sum();
        assert_eq!(end.in_hand, in_hand);
        assert!(pairs.iter().all(|p| p.stop.is_some()));
        let most = told.windows(2).map(|w| w[1].tests - w[0].tests).max();
        assert!(most.unwrap() <= 2 * (SLICE + 64), "{told:?}");
    }

    #[test]
    fn pairs_of_infinite_weight_come_to_the_end_one_after_the_other() {
        let (large, mut detections) = (tree(1.0), vec![Detection::default(); 8]);
        let alone = {
            let mut detection = Detection::default();
            let pose = Pose::translation(Vec3::new(0.9, 0.1, 0.1));
            detection.refine(&large, &large, &pose, &Budget::default());
            detection.tests()
        };
        let mut pairs: Vec<SharedPair<'_>> = (0..)
            .zip(&mut detections)
            .map(|(i, detection)| SharedPair {
                a: &large,
                b: Other::Tree(&large, Pose::translation(Vec3::new(0.9, 0.1, 0.1))),
                weight: if i % 2 == 1 { f32::INFINITY } else { 1.0 },
                seeks_deep: false,
                detection,
                stop: None,
            })
            .collect();
        // Enough for two and a half of them.
        let budget = Budget {
            tests: Some(5 * alone / 2),
            ..Budget::default()
        };
        refine_all(&mut pairs, &budget);
        let levels: Vec<u32> = pairs.iter().map(|p| p.detection.level()).collect();
        let finest = |i: usize| pairs[i].stop == Some(Stop::Finest);
        assert!(finest(1) && finest(3) && !finest(5), "{levels:?}");
        assert!(levels[5] > 0, "{levels:?}");
        assert_eq!([0, 2, 4, 6, 7].map(|i: usize| levels[i]), [0; 5]);
    }

    #[test]
    fn no_pair_goes_unanswered_and_runs_repeat() {
        let (made, result) = run(Some(0));
        assert_eq!(
            made, 6,
            "the roots of all pairs are tested whatever the budget"
        );
        assert!(result.iter().all(|r| r.2 == 1));
        assert_eq!(run(Some(3_000)), run(Some(3_000)));
    }
}
