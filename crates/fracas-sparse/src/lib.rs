//! Eigenvalues of large symmetric matrices of 3x3 blocks, as elastic bodies have them.
//!
//! | step | module | source |
//! | --- | --- | --- |
//! | the matrix | [`BlockMatrix`] | |
//! | order of elimination | [`dissect`] | George 1973 |
//! | factor and solve, count by inertia | [`Factor`], [`eigenvalues_below`] | faer |
//! | largest eigenvalues of an operator | [`largest`] | Golub, Underwood 1977 |
//!
//! A crate of its own because the factor's generic code takes a minute to compile
//! and changes rarely.

mod block_matrix;
mod cholesky;
mod dense_eigen;
mod lanczos;
mod random;

pub use block_matrix::BlockMatrix;
pub use cholesky::{Factor, Kind, NotFactored, dissect, eigenvalues_below};
pub use lanczos::{BLOCK, Request, Row, Spectrum, largest};
