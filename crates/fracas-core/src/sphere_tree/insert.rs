//! New points of crack surfaces: two for every cut edge, one on either side.
//!
//! Source: [Glondu 2013, section 6.3]. The parent of a new point is the edge's end
//! on the same side. Of the parent's nodes (a chain of one point at several levels)
//! it is the lowest whose radius is larger than the distance to the new point: there
//! is some other descendant farther away. If there is none, the topmost.
//!
//! **Deviation**: radii that decide the level are those of the split tree before any
//! insertion, so the result does not depend on the order of insertion; the tree's own
//! radii are computed once, after all insertions, and hold everything.

use glam::Vec3;

use super::feature::FeatureRef;
use super::layout::{Attachments, furthest_squared};
use super::split_work::{SplitMethod, Work};
use super::{EXTRA, PointData, SphereTree};
use crate::Split;
use crate::tet_mesh::NONE;

/// The new points of one fracture: both sides of edge 0, of edge 1, and so on.
#[derive(Clone, Debug, Default)]
pub(super) struct CutPoints {
    positions: Vec<Vec3>,
    data: Vec<PointData>,
    /// Per mesh node: its point in the broken tree. Sized to the mesh once; only
    /// nodes of the broken tree are ever read.
    point_of_node: Vec<u32>,
}

impl CutPoints {
    pub fn collect(&mut self, tree: &SphereTree, split: &Split) {
        self.positions.clear();
        self.data.clear();
        for (e, edge) in split.cut_edges.iter().enumerate() {
            for side in 0..2 {
                self.positions.push(edge.point);
                self.data.push(PointData {
                    id: tree.next_id + 2 * e as u32 + u32::from(side),
                    owner: edge.nodes[side as usize],
                    across: edge.nodes[1 - side as usize],
                    feature: FeatureRef {
                        index: e as u32,
                        pool: tree.features.next_pool(),
                        side,
                    },
                });
            }
        }
        for (i, point) in tree.points.iter().enumerate() {
            if point.owner & EXTRA == 0 && point.id == point.owner {
                let node = point.owner as usize;
                if self.point_of_node.len() <= node {
                    self.point_of_node.resize(node + 1, NONE);
                }
                self.point_of_node[node] = i as u32;
            }
        }
    }

    pub fn positions(&self) -> &[Vec3] {
        &self.positions
    }

    pub fn data(&self) -> &[PointData] {
        &self.data
    }
}

/// Attaches every new point to a node of the drafts.
pub(super) fn attach_cut_points(
    tree: &SphereTree,
    split: &Split,
    new: &CutPoints,
    restructuring: SplitMethod,
    work: &mut Work,
    attachments: &mut Attachments,
) {
    attachments.items.clear();
    let first_new = tree.points.len() as u32;
    // Radii of chain nodes, computed when first asked for.
    work.chain_radius_squared.clear();
    work.chain_radius_squared
        .resize(work.draft.nodes.len(), f32::NAN);
    // From the last to the first, so that lists come out in the order of edges.
    for (e, edge) in split.cut_edges.iter().enumerate().rev() {
        for side in [1, 0] {
            let parent_point = new.point_of_node[edge.nodes[side] as usize];
            let leaf = work.leaf_of_point[parent_point as usize];
            let node = match restructuring {
                SplitMethod::Naive => leaf,
                SplitMethod::MaximumDistance => {
                    let parent = tree.positions[parent_point as usize];
                    level_for(work, leaf, edge.point.distance_squared(parent))
                }
            };
            let list = &mut work.draft.nodes[node as usize].attached;
            attachments
                .items
                .push((first_new + 2 * e as u32 + side as u32, *list));
            *list = attachments.items.len() as u32 - 1;
        }
    }
}

/// The lowest node of the leaf's chain with a radius larger than the distance, or
/// the topmost.
fn level_for(work: &mut Work, leaf: u32, distance_squared: f32) -> u32 {
    let point = work.draft.nodes[leaf as usize].point;
    let mut node = leaf;
    let mut radius_squared = 0.0;
    while radius_squared <= distance_squared {
        let parent = work.parents[node as usize];
        if parent == NONE || work.draft.nodes[parent as usize].point != point {
            break;
        }
        let known = work.chain_radius_squared[parent as usize];
        radius_squared = if known.is_nan() {
            let centre = work.slot_positions[work.ranges[leaf as usize].0 as usize];
            let (start, end) = work.ranges[parent as usize];
            let (own_start, own_end) = work.ranges[node as usize];
            let before = &work.slot_positions[start as usize..own_start as usize];
            let after = &work.slot_positions[own_end as usize..end as usize];
            furthest_squared(centre, before)
                .max(furthest_squared(centre, after))
                .max(radius_squared)
        } else {
            known
        };
        work.chain_radius_squared[parent as usize] = radius_squared;
        node = parent;
    }
    node
}
