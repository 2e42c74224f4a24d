//! Eigenvalues of large symmetric matrices of 3x3 blocks, as elastic bodies have them.
//!
//! | step | module | source |
//! | --- | --- | --- |
//! | the matrix | [`BlockMatrix`] | |
//! | order of elimination | [`dissect`] | George 1973; Ashcraft, Liu 1998 |
//! | factor and solve, count by inertia | [`Factor`], [`eigenvalues_below`] | Liu 1986; Ng, Peyton 1993 |
//! | largest eigenvalues of an operator | [`largest`] | Golub, Underwood 1977 |
//!
//! Everything is plain arithmetic in a fixed order: the same bits on every machine,
//! native and wasm.
//!
//! A whole program: `examples/bar.rs`, the lowest frequencies of a clamped bar.

mod block_matrix;
mod dense_eigen;
mod dissect;
mod lanczos;
mod ldlt;
mod panels;
mod random;

pub use block_matrix::BlockMatrix;
pub use dissect::dissect;
pub use lanczos::{BLOCK, Request, Row, Spectrum, largest};
pub use ldlt::{Factor, NotFactored, eigenvalues_below};
