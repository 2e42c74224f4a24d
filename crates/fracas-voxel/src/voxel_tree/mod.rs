//! Voxels, trees, detection, reduction; things that break.

mod box_test;
mod deep;
mod detect;
mod fragments;
mod groups;
mod inner;
mod node;
#[cfg(any(test, feature = "unstable"))]
pub mod overlap;
mod reduce;
mod share;
mod tree;
mod triangles;
mod voxelize;

pub use detect::{Budget, CubePair, Detection, Plane, Solid, Stop, roots_gap};
pub use fragments::{FragmentVoxels, ObjectVoxels, SplitScratch};
pub use node::Node;
pub use reduce::{
    Averaging, GroupContact, Grouping, Primitive, SpanPoint, interpenetration, primitive,
    primitive_against, reduce,
};
pub use share::{Other, Progress, SharedPair, refine_all, refine_while};
pub use tree::{Level, VoxTree};
pub use triangles::{
    TriangleError, TriangleLevel, TriangleScratch, WithTriangles, triangle_primitives,
};
pub use voxelize::{LEAST_OCCUPANCY, VolumeError, VoxelGrid, VoxelizeError};

/// A box about the origin as a tree with two cubes to a side.
#[cfg(test)]
fn box_tree(size: glam::Vec3, cell: f32) -> VoxTree {
    let mesh = fracas_geometry::testing::box_grid([1, 1, 1], size);
    let middle = 0.5 * size;
    let positions: Vec<glam::Vec3> = mesh.positions().iter().map(|p| *p - middle).collect();
    let triangles: Vec<[u32; 3]> = mesh.boundary().map(|f| f.nodes).collect();
    let grid = VoxelGrid::from_surface(&positions, &triangles, cell);
    VoxTree::build(&grid.expect("a box is closed"), 2)
}
