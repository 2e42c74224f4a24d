//! Collision between soft, cuttable objects: distance to the boundary, recomputed on
//! the tet mesh itself every step, only as deep as the contact reaches.
//! [Marchal 2004]
//!
//! ```text
//!  tets ----> Topology (again only after a tear)
//!                |
//!  positions ----+--> SurfaceFinder   edges of surfaces in tets of other parts
//!                |    Detector   overlapping tets, triangles in tets
//!                |        | marks
//!                +--> DepthField::march_to   depth of the marked tets' nodes
//!                |        |
//!                +--> respond    forces on nodes: points or segments in objects
//! ```

mod bound;
mod box_rows;
#[cfg(not(feature = "research"))]
mod detect;
#[cfg(feature = "research")]
pub mod detect;
#[cfg(feature = "research")]
pub mod error_table;
mod features;
#[cfg(feature = "research")]
pub mod grid_march;
mod march;
mod partial;
mod queue;
#[cfg(not(feature = "research"))]
mod respond;
#[cfg(feature = "research")]
pub mod respond;
#[cfg(feature = "research")]
pub mod specimens;
mod surface;
#[cfg(test)]
mod test_meshes;
mod topology;
#[cfg(not(feature = "research"))]
mod voxel_hash;
#[cfg(feature = "research")]
pub mod voxel_hash;

pub use detect::{Detector, EdgeInTet, Object, Sheet, TetOf, TriangleInTet};
#[cfg(feature = "research")]
pub use features::{Feature, exact_squared_distance};
pub use march::{CAUSALITY, DepthField, Method};
pub use respond::{Push, Pushed, Responder, Response};
pub use surface::SurfaceFinder;
pub use topology::Topology;
