//! Collision between soft, cuttable objects: distance to the boundary, recomputed on
//! the tet mesh itself every step, only as deep as the contact reaches.
//! [Marchal 2004]
//!
//! ```text
//!  tets ----> Topology (again only after a tear)
//!                |
//!  positions ----+--> Detector   overlapping tets, triangles in tets
//!                |        | marks
//!                +--> DepthField::march_to   depth of the marked tets' nodes
//!                |        |
//!                +--> respond    forces on nodes: points or segments in objects
//! ```

mod features;
mod march;
mod queue;
mod topology;

pub use features::{Feature, exact_squared_distance};
pub use march::{CAUSALITY, DepthField, Method};
pub use topology::Topology;
