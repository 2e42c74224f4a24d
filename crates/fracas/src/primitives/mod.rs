//! Small geometric queries, one file per pair of shapes.

pub mod point_triangle;
