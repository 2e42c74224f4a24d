//! Contacts that are ready whenever the time is up: voxel trees, compared level by level until
//! a budget is spent (Dingliana and O'Sullivan 2004).
//!
//! ```
//! use fracas_voxel::geometry::Pose;
//! use fracas_voxel::geometry::grid::bent_grid;
//! use fracas_voxel::{
//!     Averaging, Budget, Detection, Grouping, VoxTree, VoxelGrid, primitive, reduce,
//! };
//! use glam::Vec3;
//!
//! // A block of 0.4 metres as voxels of 0.05 metres, and a second one pressed into it.
//! let block = bent_grid([1, 1, 1], false, |p| (p - 0.5) * 0.4)?;
//! let tree = VoxTree::build(&VoxelGrid::from_tets(&block, 0.05)?, 2);
//! let second = Pose::translation(Vec3::new(0.0, 0.38, 0.0));
//!
//! let mut detection = Detection::default();
//! let budget = Budget { tests: Some(2_000), ..Budget::default() };
//! detection.refine(&tree, &tree, &second, &budget);
//!
//! // What is in hand makes contacts, however early detection stopped.
//! let pairs = detection.pairs();
//! let mut primitives: Vec<_> = pairs.map(|p| primitive(&tree, &tree, &second, p)).collect();
//! let mut contacts = Vec::new();
//! let between = second.translation; // used where normals cancel
//! reduce(&mut primitives, Averaging::Weighted, Grouping::ByRegion, between, &mut contacts);
//! assert!(contacts[0].normal.y.abs() > 0.9);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! ```text
//! surface, tets or volume --VoxelGrid--> VoxTree --Detection, within a Budget--> CubePair
//!     --primitive--> Primitive --reduce, group by group--> GroupContact
//! ObjectVoxels --split, when it breaks--> FragmentVoxels --grid--> VoxelGrid
//! ```
//!
//! Use it where a limit on the time matters more than the last millimetre: many far or fast
//! pieces, a crowded frame. It is exact to a voxel, not to the surface.
//!
//! | paper | here |
//! | --- | --- |
//! | voxel trees, §3.1 | [`VoxelGrid`], [`VoxTree`] |
//! | interruptible detection, §3.1 | [`Detection`], [`Budget`], [`Stop`] |
//! | probability of contact, §3.2 to §3.6 | [`primitive`], [`Primitive::probability`] |
//! | direction from occupancy, groups, §3.7 to §3.9 | [`Node::outward`], [`Grouping`] |
//! | weighted contacts, eq. 9 and 10 | [`reduce`], [`GroupContact`] |
//! | triangles as the finest level, §3.1 | [`TriangleLevel`], [`triangle_primitives`] |
//! | not in the paper: one budget for many pairs; things that break | [`refine_all`]; [`ObjectVoxels`] |
//!
//! **Deviation**: formulas that are misprinted or would give negative probabilities are
//! replaced; the table is in `docs/voxel_tree.md` of the repository.
//!
//! Lengths are in the object's unit. Without a [`Budget::deadline`] the same input gives the
//! same bits.
//!
//! **Features**: `unstable` for the exact overlap of cubes (eq. 4), to compare with.

mod voxel_tree;

/// Meshes, fragments and poses: the types that this crate takes.
pub use fracas_geometry as geometry;
pub use voxel_tree::{
    Averaging, Budget, CubePair, Detection, FragmentVoxels, GroupContact, Grouping,
    LEAST_OCCUPANCY, Level, Node, ObjectVoxels, Other, Plane, Primitive, Progress, SharedPair,
    Solid, SpanPoint, SplitScratch, Stop, TriangleError, TriangleLevel, TriangleScratch,
    VolumeError, VoxTree, VoxelGrid, VoxelizeError, WithTriangles, interpenetration, primitive,
    primitive_against, reduce, refine_all, refine_while, roots_gap, triangle_primitives,
};

/// Measures for comparisons. They may change in any version.
#[cfg(any(test, feature = "unstable"))]
pub mod unstable {
    pub use crate::voxel_tree::overlap::overlap_share;
}
