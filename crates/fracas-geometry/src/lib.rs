//! Geometry that the collision systems of fracas share: tetrahedral meshes, cracks and
//! fragments, rigid placements, and exact tests between simple shapes.
//!
//! | to do | use |
//! | --- | --- |
//! | describe an object | [`TetMesh`]; [`grid::bent_grid`] builds one in code |
//! | describe how it breaks | [`Crack`], [`Fracture`] |
//! | break it | [`Fragments::apply`], which returns a [`Split`] |
//! | the convex pieces inside a cut tetrahedron | [`tet_part`] |
//! | place it | [`Pose`] |
//! | test a pair of triangles, tetrahedra, moving points and edges | [`primitives`] |
//! | seeded random numbers, and a digest of a run | [`splitmix64`], [`Digest`] |
//!
//! ```
//! use std::sync::Arc;
//!
//! use fracas_geometry::grid::bent_grid;
//! use fracas_geometry::{Crack, Fracture, FragmentId, Fragments};
//!
//! // A bar of 4 x 1 x 1 metres, broken at its middle.
//! let mesh = Arc::new(bent_grid([4, 1, 1], false, |p| p)?);
//! let mut fragments = Fragments::new(mesh.clone());
//! let whole = FragmentId(0);
//! let nodes = fragments.fragment(whole).nodes();
//! let level = |node: u32| mesh.positions()[node as usize].x - 1.9;
//! let crack = Crack::from_level(&mesh, 0, nodes, level).expect("nodes on both sides");
//!
//! let split = fragments.apply(&Fracture { fragment: whole, cracks: vec![crack] })?;
//! assert_eq!(split.children.len(), 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Source of cracks and fragments: Glondu 2013, section 4.1 (see [`crack`] for the deviation).
//! Lengths are in the mesh's own unit; the same input gives the same bits on every machine.

pub mod chunk_list;
pub mod crack;
mod digest;
pub mod fragment;
pub mod grid;
mod pose;
pub mod primitives;
mod splitmix;
/// Small meshes and a seeded random generator, for tests; may change in any version.
#[doc(hidden)]
pub mod testing;
pub mod tet_mesh;
pub mod tet_part;
pub mod triangle_fans;

pub use crack::{Crack, Fracture, FractureError, FragmentId};
pub use digest::Digest;
pub use fragment::{CutEdge, Fragment, Fragments, Split, TetCut};
pub use pose::Pose;
pub use splitmix::{GOLDEN, hash64, splitmix64};
pub use tet_mesh::{TetMesh, TetMeshError};
