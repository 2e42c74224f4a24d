//! From a draft of a tree to the flat arrays that queries run on.
//!
//! A draft says for every node its representative, its level and its children;
//! points may be attached to a node besides (insertion, section 6.3). Steps: count
//! points below -> breadth first, own child foremost, give every node its place and
//! its range of points -> radii from the leaves up.
//!
//! **Guarantee**: radii are the distance to the furthest descendant, evaluated in
//! f32 and rounded up by a few units in the last place; a sphere holds all its points.

use glam::Vec3;

use super::{Node, PointData};
use crate::tet_mesh::NONE;

/// Rounds a radius up by more than what evaluating it can have lost.
const ROUND_UP: f32 = 1.0 + 8.0 * f32::EPSILON;

/// A tree before its arrays are laid out. Nodes of several trees may share one draft.
#[derive(Clone, Debug, Default)]
pub(super) struct Draft {
    pub nodes: Vec<DraftNode>,
    /// Children of all nodes; each node owns a range.
    pub children: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct DraftNode {
    /// The representative: an index into the source's points.
    pub point: u32,
    /// Range in [`Draft::children`]; none for a leaf.
    pub first_child: u32,
    pub child_count: u32,
    /// Points attached to this node: head of a list in [`Attachments`].
    pub attached: u32,
    pub level: u8,
}

/// Lists of points attached to draft nodes.
#[derive(Clone, Debug, Default)]
pub(super) struct Attachments {
    /// For each list element: source point, next element.
    pub items: Vec<(u32, u32)>,
}

/// Where source points are looked up: those of an older tree, then new ones.
#[derive(Clone, Copy)]
pub(super) struct PointSource<'a> {
    pub old_positions: &'a [Vec3],
    pub old_points: &'a [PointData],
    pub new_positions: &'a [Vec3],
    pub new_points: &'a [PointData],
}

impl PointSource<'_> {
    #[inline]
    pub fn position(&self, point: u32) -> Vec3 {
        let at = point as usize;
        match self.old_positions.get(at) {
            Some(p) => *p,
            None => self.new_positions[at - self.old_positions.len()],
        }
    }

    #[inline]
    fn data(&self, point: u32) -> PointData {
        let at = point as usize;
        match self.old_points.get(at) {
            Some(p) => *p,
            None => self.new_points[at - self.old_points.len()],
        }
    }
}

/// The arrays of a [`super::SphereTree`].
#[derive(Clone, Debug)]
pub(super) struct Arrays {
    pub nodes: Vec<Node>,
    pub levels: Vec<u8>,
    pub positions: Vec<Vec3>,
    pub points: Vec<PointData>,
}

/// Reusable memory of [`lay_out`].
#[derive(Clone, Debug, Default)]
pub(super) struct LayoutScratch {
    /// Draft node of every placed node, or [`NONE`] for a leaf made here.
    sources: Vec<u32>,
    radius_squared: Vec<f32>,
}

/// Lays out the tree below the draft node `root`. `counts` holds for every draft
/// node the number of points below it, attached ones included.
pub(super) fn lay_out(
    draft: &Draft,
    attachments: &Attachments,
    counts: &[u32],
    root: u32,
    source: &PointSource<'_>,
    scratch: &mut LayoutScratch,
) -> Arrays {
    let point_count = counts[root as usize] as usize;
    let top = draft.nodes[root as usize];
    scratch.sources.clear();
    let mut layout = Layout {
        draft,
        counts,
        source,
        sources: &mut scratch.sources,
        arrays: Arrays {
            nodes: Vec::with_capacity(2 * point_count),
            levels: Vec::with_capacity(2 * point_count),
            positions: vec![Vec3::ZERO; point_count],
            points: vec![source.data(top.point); point_count],
        },
    };
    layout.place(top.point, 0, root, top.level);
    let mut next = 0;
    while next < layout.arrays.nodes.len() {
        layout.place_children(next, attachments);
        next += 1;
    }
    let mut arrays = layout.arrays;
    let radii = &mut scratch.radius_squared;
    set_radii(&mut arrays.nodes, &arrays.positions, radii);
    arrays
}

/// Arrays that are being laid out.
struct Layout<'a> {
    draft: &'a Draft,
    counts: &'a [u32],
    source: &'a PointSource<'a>,
    /// Draft node of every placed node, or [`NONE`] for a leaf made here.
    sources: &'a mut Vec<u32>,
    arrays: Arrays,
}

impl Layout<'_> {
    /// Places a node whose points begin at `start`; returns where they end.
    #[inline]
    fn place(&mut self, point: u32, start: u32, draft_node: u32, level: u8) -> u32 {
        let count = if draft_node == NONE {
            1
        } else {
            self.counts[draft_node as usize]
        };
        let centre = self.source.position(point);
        let arrays = &mut self.arrays;
        if count == 1 {
            arrays.positions[start as usize] = centre;
            arrays.points[start as usize] = self.source.data(point);
        }
        arrays.nodes.push(Node {
            centre,
            radius: 0.0,
            first_child: 0,
            child_count: 0,
            point: start,
            point_count: count,
        });
        arrays.levels.push(level);
        self.sources.push(draft_node);
        start + count
    }

    /// Places the children of a node that is placed: the own child, the others, and the
    /// points that are attached to it.
    fn place_children(&mut self, at: usize, attachments: &Attachments) {
        let (draft, from) = (self.draft, self.sources[at]);
        // A leaf made here has no draft; a draft node of a single point is a leaf
        // unless it is a chain (naive restructuring keeps those).
        if from == NONE {
            return;
        }
        let node = draft.nodes[from as usize];
        if node.child_count == 0 && node.attached == NONE {
            return;
        }
        let first_child = self.arrays.nodes.len() as u32;
        let mut start = self.arrays.nodes[at].point;
        let below = node.level.saturating_add(1);
        let range = node.first_child as usize..(node.first_child + node.child_count) as usize;
        let children = &draft.children[range];
        let own = children
            .iter()
            .position(|&c| draft.nodes[c as usize].point == node.point);
        match own {
            Some(at) => {
                let child = children[at];
                let level = draft.nodes[child as usize].level;
                start = self.place(node.point, start, child, level);
            }
            None => {
                debug_assert!(children.is_empty(), "an inner node without its own child");
                start = self.place(node.point, start, NONE, below);
            }
        }
        for (at, &child) in children.iter().enumerate() {
            if Some(at) != own {
                let DraftNode { point, level, .. } = draft.nodes[child as usize];
                start = self.place(point, start, child, level);
            }
        }
        let mut item = node.attached;
        while item != NONE {
            let (point, after) = attachments.items[item as usize];
            start = self.place(point, start, NONE, below);
            item = after;
        }
        let nodes = &mut self.arrays.nodes;
        debug_assert_eq!(start as usize, nodes[at].point_range().end);
        nodes[at].first_child = first_child;
        nodes[at].child_count = nodes.len() as u32 - first_child;
    }
}

/// Radii from the leaves up. The own child has the same centre, so only the
/// points of the other children need looking at.
fn set_radii(nodes: &mut [Node], positions: &[Vec3], radius_squared: &mut Vec<f32>) {
    radius_squared.clear();
    radius_squared.resize(nodes.len(), 0.0);
    for i in (0..nodes.len()).rev() {
        let node = nodes[i];
        if node.child_count == 0 {
            continue;
        }
        let own = &nodes[node.first_child as usize];
        let others = (own.point + own.point_count) as usize..node.point_range().end;
        let squared = furthest_squared(node.centre, &positions[others])
            .max(radius_squared[node.first_child as usize]);
        radius_squared[i] = squared;
        nodes[i].radius = radius_of(squared);
    }
}

/// A radius from the square of the largest distance, rounded up. Squares of distances below
/// 1e-22 vanish: a sphere of several points is never smaller than what can be squared.
pub(super) fn radius_of(squared: f32) -> f32 {
    squared.max(1e-36).sqrt() * ROUND_UP
}

/// The largest squared distance from `centre` to any of the points; 0 for none.
#[inline]
pub(super) fn furthest_squared(centre: Vec3, positions: &[Vec3]) -> f32 {
    positions
        .iter()
        .fold(0.0, |far, p| far.max(p.distance_squared(centre)))
}

/// For every draft node the number of points below it. Children must come after
/// their parents in the draft when `parents_first`, before them otherwise.
pub(super) fn count_points(
    draft: &Draft,
    attachments: &Attachments,
    parents_first: bool,
    counts: &mut Vec<u32>,
) {
    counts.clear();
    counts.resize(draft.nodes.len(), 0);
    let mut count = |i: usize| {
        let node = &draft.nodes[i];
        let mut total = u32::from(node.child_count == 0);
        let range = node.first_child as usize..(node.first_child + node.child_count) as usize;
        for &child in &draft.children[range] {
            total += counts[child as usize];
        }
        let mut item = node.attached;
        while item != NONE {
            total += 1;
            item = attachments.items[item as usize].1;
        }
        counts[i] = total;
    };
    if parents_first {
        (0..draft.nodes.len()).rev().for_each(&mut count);
    } else {
        (0..draft.nodes.len()).for_each(&mut count);
    }
}
