//! Ahead of time: mesh files to surfaces, tetrahedra and fracas assets.

pub mod tetrahedralize;
