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

mod detect;
mod fragments;
mod groups;
mod overlap;
mod reduce;
mod share;
mod tree;
mod triangles;
mod voxelize;

pub use detect::{Budget, CubePair, Detection, Plane, Solid, Stop, roots_gap};
pub use fragments::{FragmentVoxels, ObjectVoxels, SplitScratch};
pub use overlap::overlap_share;
pub use reduce::{
    Averaging, GroupContact, Grouping, Primitive, SpanPoint, interpenetration, primitive,
    primitive_against, reduce,
};
pub use share::{Other, Progress, SharedPair, refine_all, refine_while};
pub use tree::{Level, Node, VoxTree};
pub use triangles::{
    TriangleError, TriangleLevel, TriangleScratch, WithTriangles, triangle_primitives,
};
pub use voxelize::{LEAST_OCCUPANCY, VolumeError, VoxelGrid, VoxelizeError};
