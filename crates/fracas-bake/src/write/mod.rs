//! Mesh files out.

pub mod glb;
