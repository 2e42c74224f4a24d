//! Small geometric queries, one file per pair of shapes.

pub mod point_triangle;
pub mod tet_tet;
pub mod tri_tet;
