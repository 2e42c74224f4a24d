//! The tree of an unbroken object as plain numbers, and back ([`ObjectData`]).
//!
//! A tree lies level by level with children side by side and points in the order of its
//! leaves. So the number of children of each sphere says everything about who is below whom:
//! the rest of a node is added up.
//!
//! **Guarantee**: the numbers of a tree give the same tree, bit for bit. Whatever they are,
//! what is accepted is a tree over all nodes of the mesh: one leaf for each, children after
//! their parents and on deeper levels.

use std::sync::Arc;

use glam::Vec3;

use super::feature::{BakedFeatures, FeaturePools, FeatureRef};
use super::{Node, PointData, SphereTree};
use crate::fragment_field::object_data::{
    ObjectData, ObjectDataError, all_fit, has_length, is_order, misfit,
};
use crate::tet_mesh::{NONE, TetMesh};

/// Levels are logarithms of numbers of points; what breaks off gets deeper ones.
const MOST_LEVELS: u8 = 64;

impl SphereTree {
    /// Adds its numbers. The tree must be that of an unbroken object without extra samples.
    pub(crate) fn add_to_data(&self, data: &mut ObjectData<'_>) {
        data.tree_points = self.points.iter().map(|p| p.id).collect();
        data.tree_children = self.nodes.iter().map(|n| n.child_count).collect();
        data.tree_levels = self.levels.clone().into();
        data.tree_radii = self.nodes.iter().map(|n| n.radius).collect();
        let mut kinds = vec![0; self.points.len()];
        let pool = self.features.baked();
        for point in &self.points {
            if let Some(kind) = pool.kinds.get(point.feature.index as usize) {
                kinds[point.id as usize] = *kind;
            }
        }
        data.point_kinds = kinds.into();
        let flat = |list: &[Vec3]| list.iter().map(|v| v.to_array()).collect();
        data.point_normals = flat(&pool.normals);
        data.point_tangents = flat(&pool.tangents);
    }

    /// The tree of an unbroken object from its numbers.
    pub(crate) fn from_data(
        mesh: &TetMesh,
        data: &ObjectData<'_>,
    ) -> Result<Self, ObjectDataError> {
        let at = mesh.positions();
        has_length("the points of the tree", data.tree_points.len(), at.len())?;
        is_order("the points of the tree", &data.tree_points)?;
        has_length("the kinds of points", data.point_kinds.len(), at.len())?;
        let pool = BakedFeatures::from_data(data)?;
        let (low, high) = mesh.bounds();
        // Of each mesh node, its place in the pool.
        let mut count = 0;
        let names: Vec<u32> = data
            .point_kinds
            .iter()
            .map(|&kind| {
                let is_in = kind == 0;
                count += u32::from(!is_in);
                if is_in { NONE } else { count - 1 }
            })
            .collect();
        let point = |&node: &u32| PointData {
            id: node,
            owner: node,
            across: NONE,
            feature: FeatureRef {
                index: names[node as usize],
                pool: 0,
                side: 0,
            },
        };
        let positions: Vec<Vec3> = data.tree_points.iter().map(|&n| at[n as usize]).collect();
        Ok(Self {
            nodes: nodes_of(data, &positions, low.distance(high))?,
            levels: data.tree_levels.to_vec(),
            positions,
            points: data.tree_points.iter().map(point).collect(),
            features: FeaturePools::new(pool),
            extras: Arc::new([]),
            next_id: at.len() as u32,
            object_radius: 0.5 * low.distance(high),
        })
    }
}

/// The spheres, whose radii may not be larger than the whole object.
fn nodes_of(
    data: &ObjectData<'_>,
    positions: &[Vec3],
    largest: f32,
) -> Result<Vec<Node>, ObjectDataError> {
    let list = "the spheres of the tree";
    let count = data.tree_children.len();
    has_length("the levels of the tree", data.tree_levels.len(), count)?;
    has_length("the radii of the tree", data.tree_radii.len(), count)?;
    let largest = largest * (1.0 + 1e-5);
    all_fit("the radii of the tree", &data.tree_radii, |r| {
        (r >= 0.0) & (r <= largest)
    })?;
    all_fit("the levels of the tree", &data.tree_levels, |l| {
        l < MOST_LEVELS
    })?;
    let mut nodes = Vec::with_capacity(count);
    // Children begin where those of the sphere before end.
    let mut next = 1;
    for (i, (&children, &radius)) in data.tree_children.iter().zip(&*data.tree_radii).enumerate() {
        // Somebody's child, and not the only one.
        if i >= next || children == 1 || children as usize > count - next {
            return Err(misfit(list, i));
        }
        nodes.push(Node {
            centre: Vec3::ZERO,
            radius,
            first_child: if children == 0 { 0 } else { next as u32 },
            child_count: children,
            point: 0,
            point_count: 1,
        });
        next += children as usize;
    }
    has_length(list, count, next)?;
    for i in (0..count).rev() {
        if nodes[i].child_count > 0 {
            let below = nodes[i].children();
            let below = &nodes[below.start as usize..below.end as usize];
            nodes[i].point_count = below.iter().map(|child| child.point_count).sum();
        }
    }
    has_length(list, nodes[0].point_count as usize, positions.len())?;
    nodes[0].centre = positions[0];
    for i in 0..count {
        let mut start = nodes[i].point;
        for child in nodes[i].children() {
            if data.tree_levels[child as usize] <= data.tree_levels[i] {
                return Err(misfit("the levels of the tree", child as usize));
            }
            let child = &mut nodes[child as usize];
            child.point = start;
            child.centre = positions[start as usize];
            start += child.point_count;
        }
    }
    Ok(nodes)
}
