//! Trees of fragments in the making.

use glam::Vec3;

use super::layout::Draft;

/// How the trees of fragments are made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SplitMethod {
    /// In favour of the maximum-distance order (sections 6.2 and 6.3).
    #[default]
    MaximumDistance,
    /// Oblivious of the order, for comparison.
    Naive,
}

/// The drafts of all fragments, one after the other, parents before children.
#[derive(Clone, Debug, Default)]
pub(super) struct Work {
    pub draft: Draft,
    pub parents: Vec<u32>,
    /// Per draft node: the range of its points in `slots`.
    pub ranges: Vec<(u32, u32)>,
    /// Points (of the old tree) in provisional leaf order, and where they are.
    pub slots: Vec<u32>,
    pub slot_positions: Vec<Vec3>,
    /// Per point of the old tree: its draft leaf.
    pub leaf_of_point: Vec<u32>,
    /// Per draft node: squared radius, where insertion has asked for it.
    pub chain_radius_squared: Vec<f32>,
    pub roots: Vec<u32>,
    pub pieces: Vec<TreePart>,
    pub representatives: Vec<u32>,
}

/// Part of a tree being split: an old node whose points are all of one fragment,
/// or a joint (flagged), a copy of a splitting node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct TreePart(pub u32);

pub(super) const JOINT: u32 = 1 << 31;
