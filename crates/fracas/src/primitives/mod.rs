//! Tests and distances between pairs of simple shapes, named by the pair.

pub mod tet_tet;
pub mod tri_tet;
