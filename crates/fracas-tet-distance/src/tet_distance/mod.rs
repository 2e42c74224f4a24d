//! Adjacency, detection, marching and response; the references that these are measured against
//! are in `reference`.

mod bound;
mod box_rows;
mod detect;
mod features;
mod march;
mod partial;
mod queue;
#[cfg(any(test, feature = "unstable"))]
pub mod reference;
mod respond;
mod surface;
#[cfg(test)]
mod test_meshes;
mod topology;
mod voxel_hash;

pub use detect::{Detector, EdgeInTet, Object, Sheet, TetOf, TriangleInTet};
pub use features::Feature;
pub use march::{CAUSALITY, DepthField, Method};
pub use respond::{DepthTet, Push, Pushed, Responder, Response, SegmentInTet};
pub use surface::SurfaceFinder;
pub use topology::Topology;
