//! Time-critical contacts with voxel trees [Dingliana 2004].
//!
//! When the frame's time is spent, contacts must still be answered, and plausibly.
//! Objects are hierarchies of cubes that know how full they are; two hierarchies
//! are compared level by level until the budget ends; the overlapping cubes then in
//! hand, weighted by how probable a contact is behind each, make the contacts.
//!
//! ```text
//! surface, tets or volume --VoxelGrid--> VoxTree --Detection, within a Budget--> CubePair
//!     --primitive--> Primitive --reduce, group by group--> GroupContact
//! ObjectVoxels --split, when it breaks--> FragmentVoxels --grid--> VoxelGrid
//! ```
//!
//! Use it where a bound on the time matters more than the last millimetre: many
//! far or fast pieces, a crowded frame. Use [`crate::fragment`]'s side elsewhere.

mod box_test;
mod deep;
mod detect;
mod fragments;
mod groups;
mod inner;
mod node;
mod overlap;
mod reduce;
mod share;
mod tree;
#[cfg(feature = "research")]
mod triangles;
mod voxelize;

#[cfg(feature = "research")]
pub use detect::CubePair;
pub use detect::{Budget, Detection, Plane, Solid, Stop, roots_gap};
pub use fragments::{FragmentVoxels, ObjectVoxels, SplitScratch};
#[cfg(feature = "research")]
pub use node::Node;
#[cfg(feature = "research")]
pub use overlap::overlap_share;
#[cfg(feature = "research")]
pub use reduce::interpenetration;
pub use reduce::{
    Averaging, GroupContact, Grouping, Primitive, SpanPoint, primitive, primitive_against, reduce,
};
pub use share::{Other, Progress, SharedPair, refine_all, refine_while};
#[cfg(feature = "research")]
pub use tree::Level;
pub use tree::VoxTree;
#[cfg(feature = "research")]
pub use triangles::{
    TriangleError, TriangleLevel, TriangleScratch, WithTriangles, triangle_primitives,
};
#[cfg(feature = "research")]
pub use voxelize::LEAST_OCCUPANCY;
pub use voxelize::{VolumeError, VoxelGrid, VoxelizeError};

/// A box about the origin as a tree with two cubes to a side.
#[cfg(test)]
fn box_tree(size: glam::Vec3, cell: f32) -> VoxTree {
    let mesh = crate::testing::box_grid([1, 1, 1], size);
    let middle = 0.5 * size;
    let positions: Vec<glam::Vec3> = mesh.positions().iter().map(|p| *p - middle).collect();
    let triangles: Vec<[u32; 3]> = mesh.boundary().map(|f| f.nodes).collect();
    let grid = VoxelGrid::from_surface(&positions, &triangles, cell);
    VoxTree::build(&grid.expect("a box is closed"), 2)
}
