//! The fracturable, adaptive sphere tree: the points of a body in an order that
//! spreads, split along with the body, and asked for contacts with anything that
//! can say how far away it is.
//!
//! Source: [Glondu 2013, sections 3, 5, 6].
//!
//! ```text
//!  TetMesh --build--> SphereTree --apply(Split)--> one SphereTree per fragment
//!                         |
//!                         | contacts(pose, partner, query, scratch, out)
//!                         v
//!                  Vec<Contact> in the partner's frame, QueryStats
//! ```
//!
//! | file | what it does |
//! | --- | --- |
//! | [`order`] | maximum-distance ordering of points (5.1) |
//! | `build` | points of an object, tree from an order (5.1, 6.1) |
//! | `split`, `insert` | the trees of the fragments of a broken body (6.2, 6.3) |
//! | `layout` | the flat arrays; radii |
//! | `data` | the tree of an unbroken object as plain numbers |
//! | [`query`] | Algorithm 1 (section 3) |
//! | [`traversal`] | the order in which nodes are visited (5.3) |
//! | [`adapt`] | self-adapting contact selection (5.2) |
//! | `newborn` | contacts of fragments that have just parted |
//! | `contact_cache` | the points a pair remembers from step to step |
//! | [`feature`], [`normal_choice`] | the surface around a point, the contact's normal |
//! | [`partner`] | what a tree is asked against: half-space, box, ball, mesh, fragment |
//! | [`advance`] | time of impact by conservative advancement |
//! | `separate` | a direction along which two bodies are apart |
//! | [`coverage`] | debug mode: places where point samples cannot see a contact |
//!
//! # The tree
//! Every point has one leaf. An inner node is represented by one of its points,
//! lists the child that holds this point first (its *own* child, same
//! representative), and its sphere, centred there, holds all its points. So the
//! occurrences of a point are a chain of own children that ends at its leaf, and
//! the first occurrence met on the way down is the only one that needs a test.
//! Nodes lie level by level with children side by side; points lie in the order
//! of the leaves, so that a node's points are a range that starts with its
//! representative.

#[cfg(not(feature = "research"))]
mod adapt;
#[cfg(feature = "research")]
pub mod adapt;
#[cfg(not(feature = "research"))]
mod advance;
#[cfg(feature = "research")]
pub mod advance;
mod build;
mod cached_point;
mod contact_cache;
#[cfg(feature = "research")]
pub mod coverage;
mod data;
#[cfg(feature = "research")]
mod determinism;
#[cfg(not(feature = "research"))]
mod feature;
#[cfg(feature = "research")]
pub mod feature;
mod insert;
mod layout;
mod newborn;
#[cfg(not(feature = "research"))]
mod normal_choice;
#[cfg(feature = "research")]
pub mod normal_choice;
#[cfg(not(feature = "research"))]
mod order;
#[cfg(feature = "research")]
pub mod order;
#[cfg(not(feature = "research"))]
mod partner;
#[cfg(feature = "research")]
pub mod partner;
#[cfg(not(feature = "research"))]
mod query;
#[cfg(feature = "research")]
pub mod query;
mod separate;
mod split;
mod split_work;
mod static_mesh;
#[cfg(not(feature = "research"))]
mod traversal;
#[cfg(feature = "research")]
pub mod traversal;
mod validate;

use std::sync::Arc;

use glam::Vec3;

pub use adapt::{AdaptiveSettings, PairState};
pub use advance::{Impact, Motion, Swept};
pub use build::{BuildError, BuildOptions, KeepPoints};
#[cfg(feature = "research")]
pub use determinism::determinism_digest;
#[cfg(feature = "research")]
pub use feature::{Feature, FeatureKind};
use feature::{FeaturePools, FeatureRef};
pub use normal_choice::NormalRule;
#[cfg(feature = "research")]
pub use normal_choice::NormalSettings;
#[cfg(feature = "research")]
pub use order::maximum_distance_order;
pub use partner::{Ball, BoxShape, HalfSpace, NearFace, Partner, Sample};
pub use query::{Query, QueryScratch, QueryStats, Question, Selection};
pub use separate::{Hull, SeparatingAxis};
pub use split::SplitScratch;
pub use split_work::SplitMethod;
#[cfg(feature = "research")]
pub use static_mesh::{StaticMesh, StaticMeshError};
#[cfg(feature = "research")]
pub use traversal::Traversal;

/// One node: a sphere around its representative that holds all its points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Node {
    /// Position of the representative.
    centre: Vec3,
    /// Distance to the furthest point below, rounded up; 0 for a leaf.
    radius: f32,
    /// Children are `first_child..first_child + child_count`; none for a leaf.
    first_child: u32,
    child_count: u32,
    /// The representative; the node's points are `point..point + point_count`.
    point: u32,
    point_count: u32,
}

/// What is known of a point besides its position.
#[derive(Clone, Copy, Debug, PartialEq)]
struct PointData {
    /// Its name in contacts.
    id: u32,
    /// The mesh node whose fragment it belongs to, or an extra point (flagged).
    owner: u32,
    /// For a point at which an edge was cut, the node at the edge's other end; else none.
    across: u32,
    feature: FeatureRef,
}

/// Set in [`PointData::owner`] for extra points, which go by place and not by node.
const EXTRA: u32 = 1 << 31;

/// A sample point on the boundary that is not a node of the mesh.
#[derive(Clone, Copy, Debug)]
struct ExtraPoint {
    tet: u32,
    barycentric: [f32; 4],
}

/// The sphere tree of one body: an unbroken object or a fragment. Immutable; a
/// fracture makes new trees ([`SphereTree::apply`]).
#[derive(Clone, Debug)]
pub struct SphereTree {
    nodes: Vec<Node>,
    /// Level of each node in the sense of section 5.1; grows from parent to child.
    levels: Vec<u8>,
    positions: Vec<Vec3>,
    points: Vec<PointData>,
    features: FeaturePools,
    extras: Arc<[ExtraPoint]>,
    /// Points ids from here on are free.
    next_id: u32,
    /// Half the diagonal of the box around the unbroken object: the scale of tolerances.
    object_radius: f32,
}

impl SphereTree {
    /// Positions of all points, in the order of the tree's leaves.
    #[must_use]
    pub fn positions(&self) -> &[Vec3] {
        &self.positions
    }

    /// How many points the tree holds.
    #[must_use]
    #[cfg_attr(feature = "research", visibility::make(pub))]
    pub(crate) fn point_count(&self) -> usize {
        self.points.len()
    }

    /// How many spheres the tree holds, leaves included.
    #[must_use]
    #[cfg_attr(feature = "research", visibility::make(pub))]
    pub(crate) fn node_count(&self) -> usize {
        self.nodes.len()
    }

    /// The name under which a point appears in [`crate::Contact::point_id`]. It
    /// stays the same when the body breaks.
    ///
    /// # Panics
    /// When there is no such point.
    #[must_use]
    #[cfg_attr(feature = "research", visibility::make(pub))]
    pub(crate) fn point_id(&self, point: u32) -> u32 {
        self.points[point as usize].id
    }

    /// The surface around a point.
    ///
    /// # Panics
    /// When there is no such point.
    #[must_use]
    #[cfg_attr(feature = "research", visibility::make(pub))]
    pub(crate) fn feature(&self, point: u32) -> feature::Feature {
        self.features.get(self.points[point as usize].feature)
    }

    /// Half the diagonal of the box around the unbroken object, from which
    /// tolerances are scaled.
    #[must_use]
    pub fn object_radius(&self) -> f32 {
        self.object_radius
    }

    /// A sphere that holds all points: centre and radius.
    #[must_use]
    pub fn bounding_sphere(&self) -> (Vec3, f32) {
        let root = &self.nodes[0];
        (root.centre, root.radius)
    }

    /// The longest way from the root to a leaf, in nodes.
    #[must_use]
    #[cfg_attr(feature = "research", visibility::make(pub))]
    pub(crate) fn depth(&self) -> usize {
        let mut depth = vec![1_usize; self.nodes.len()];
        for i in 0..self.nodes.len() {
            for child in self.nodes[i].children() {
                depth[child as usize] = depth[i] + 1;
            }
        }
        depth.into_iter().max().unwrap_or(0)
    }

    /// All spheres as centre, radius and level, parents before children: to be shown.
    pub fn spheres(&self) -> impl Iterator<Item = (Vec3, f32, u8)> + '_ {
        let levels = self.levels.iter().copied();
        let nodes = self.nodes.iter().zip(levels);
        nodes.map(|(node, level)| (node.centre, node.radius, level))
    }

    /// Bytes on the heap, shared feature pools not counted.
    #[must_use]
    #[cfg_attr(feature = "research", visibility::make(pub))]
    pub(crate) fn heap_bytes(&self) -> usize {
        self.nodes.capacity() * size_of::<Node>()
            + self.levels.capacity()
            + self.positions.capacity() * size_of::<Vec3>()
            + self.points.capacity() * size_of::<PointData>()
    }
}

impl Node {
    fn children(&self) -> std::ops::Range<u32> {
        self.first_child..self.first_child + self.child_count
    }

    fn point_range(&self) -> std::ops::Range<usize> {
        self.point as usize..(self.point + self.point_count) as usize
    }
}
