//! What a pair remembers from step to step: one type, for pairs of every kind.
//!
//! | remembered | what for | source |
//! | --- | --- | --- |
//! | contacts of each part, in both directions | a point at rest is not asked again | [`PairState`] |
//! | the direction along which two fragments were last apart | one look at it tells that they still are | [`SeparatingAxis`] |
//! | where no gap was to be seen | none is looked for until the pair has moved | |
//! | what was asked last | a step that is made again asks nothing twice | |
//!
//! All of it is saved with a world ([`save`]): a run that goes on from a snapshot has the
//! same bits.
//!
//! **Guarantee**: a memory is about two shapes as they were. It belongs to the pair and goes
//! with it; a fragment that breaks is another shape, and its pairs are new.

#[cfg(feature = "world")]
mod save;

use fracas_core::SphereTree;
use fracas_core::sphere_tree::{Hull, PairState, SeparatingAxis};
use parry3d::math::Pose;

/// A pair in which no gap was to be seen is looked at again when it has moved by this
/// share of the near reach.
const LOOK_AGAIN_SHARE: f32 = 0.5;

/// What a pair remembers between two steps.
#[derive(Clone, Debug, Default)]
pub(crate) struct PairMemory {
    /// Both directions of each of its parts.
    parts: Vec<[PairState; 2]>,
    /// The direction along which two fragments were last seen apart.
    axis: SeparatingAxis,
    /// Where the pair was when no gap was to be seen.
    not_apart: Option<fracas_core::Pose>,
    /// Where the pair was at its last query, and how far that looked.
    asked: Option<(Pose, f32)>,
}

impl PairMemory {
    /// Whether the last query asked the same: a step that is made again finds most pairs
    /// where they were (docs/decisions/0015-what-breaks-gives-way.md). Notes the question.
    pub(crate) fn repeats(&mut self, pos12: &Pose, prediction: f32) -> bool {
        let same = self.asked_last(pos12, prediction);
        if !same {
            self.asked = Some((*pos12, prediction));
        }
        same
    }

    /// Whether the last query asked the same.
    pub(crate) fn asked_last(&self, pos12: &Pose, prediction: f32) -> bool {
        let last = self.asked;
        last.is_some_and(|(pose, reach)| pose == *pos12 && prediction <= reach)
    }

    /// Whether the contacts that the engine has of this pair, perhaps none, are an answer.
    pub(crate) fn was_asked(&self) -> bool {
        self.asked.is_some()
    }

    /// To be told where a pair got contacts without being asked: none of them is an answer.
    pub(crate) fn forget_question(&mut self) {
        self.asked = None;
    }

    /// What is remembered of the contacts of a part, in both directions.
    pub(crate) fn part(&mut self, part: usize) -> &mut [PairState; 2] {
        if self.parts.len() <= part {
            self.parts.resize(part + 1, Default::default());
        }
        &mut self.parts[part]
    }

    /// Whether there was no gap as wide as `near`, and the first body, whose points these
    /// are, has hardly moved against the second since: there is none now.
    pub(crate) fn is_not_apart(
        &self,
        tree: &SphereTree,
        pose: &fracas_core::Pose,
        near: f32,
    ) -> bool {
        let then = self.not_apart.as_ref();
        then.is_some_and(|then| tree.motion_bound(then, pose) < LOOK_AGAIN_SHARE * near)
    }

    /// The widest gap that is to be seen between two bodies, the first placed by `pose` in
    /// the frame of the second, up to `far`. Notes where it was narrower than `near`.
    pub(crate) fn gap(
        &mut self,
        pose: &fracas_core::Pose,
        [first, second]: [Hull<'_>; 2],
        [near, far]: [f32; 2],
    ) -> f32 {
        let gap = self.axis.gap(pose, first, second, far);
        self.not_apart = (gap < near).then_some(*pose);
        gap
    }
}

#[cfg(test)]
mod tests {
    use fracas_core::sphere_tree::BuildOptions;
    use fracas_core::testing::box_grid;
    use glam::Vec3;

    use super::*;

    #[test]
    fn a_question_is_repeated_only_where_place_and_reach_are_the_same() {
        let mut memory = PairMemory::default();
        let here = Pose::from_translation(Vec3::X);
        assert!(!memory.repeats(&here, 0.1), "a new pair");
        assert!(memory.repeats(&here, 0.1));
        assert!(memory.repeats(&here, 0.05), "a shorter look sees no more");
        assert!(!memory.repeats(&here, 0.2), "a farther one may");
        assert!(memory.repeats(&here, 0.1), "it was asked up to 0.2");
        let there = Pose::from_translation(Vec3::X * (1.0 + f32::EPSILON));
        assert!(!memory.repeats(&there, 0.1));
        let nowhere = Pose::from_translation(Vec3::splat(f32::NAN));
        memory.repeats(&nowhere, 0.1);
        assert!(!memory.repeats(&nowhere, 0.1));
    }

    #[test]
    fn a_gap_is_looked_for_again_when_the_pair_has_moved() {
        let mesh = box_grid([2, 2, 2], Vec3::ONE);
        let tree = SphereTree::build(&mesh, &BuildOptions::default()).unwrap();
        let hull = Hull {
            tree: &tree,
            others: &[],
        };
        let at = |x: f32| fracas_core::Pose::translation(Vec3::X * x);
        let (near, mut memory) = (0.1, PairMemory::default());
        assert!(
            !memory.is_not_apart(&tree, &at(0.9), near),
            "nobody has looked"
        );
        // A unit box beside another: they overlap, are near, are apart.
        assert!(memory.gap(&at(0.9), [hull; 2], [near, 1.0]) < 0.0);
        assert!(memory.is_not_apart(&tree, &at(0.9), near));
        assert!(memory.is_not_apart(&tree, &at(0.94), near));
        assert!(!memory.is_not_apart(&tree, &at(0.96), near), "half of near");
        let gap = memory.gap(&at(1.05), [hull; 2], [near, 1.0]);
        assert!((gap - 0.05).abs() < 1e-5, "{gap}");
        assert!(memory.is_not_apart(&tree, &at(1.05), near));
        let gap = memory.gap(&at(1.3), [hull; 2], [near, 1.0]);
        assert!((gap - 0.3).abs() < 1e-5, "{gap}");
        assert!(!memory.is_not_apart(&tree, &at(1.3), near));
        let nowhere = at(f32::NAN);
        assert!(!memory.is_not_apart(&tree, &nowhere, near));
    }

    #[test]
    fn parts_keep_their_places() {
        let mut memory = PairMemory::default();
        memory.part(2);
        assert_eq!(memory.parts.len(), 3);
        memory.part(0);
        assert_eq!(memory.parts.len(), 3);
    }
}
