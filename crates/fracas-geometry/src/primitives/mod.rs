//! Elementary tests, one file per pair of shapes. Each states whether it is exact,
//! and if not, to which side it errs.

pub mod bernstein;
pub mod closest_features;
mod double_ccd;
pub mod edge_edge_ccd;
mod exact_ccd;
mod moving;
pub mod point_triangle;
pub mod prepared_tet;
pub mod tet_tet;
pub mod tri_tet;
pub mod tri_tri;
pub mod vertex_face_ccd;

pub use moving::Moving;
