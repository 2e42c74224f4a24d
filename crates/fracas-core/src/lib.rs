//! Collision detection for things that break.
//!
//! The moment an object shatters, hundreds of new, non-convex, tightly packed
//! pieces need collision structures at once. `fracas` keeps those structures
//! ready: one tet mesh and one nodal field serve all fragments of an object, and a
//! fracture updates only what broke.
//!
//! ```text
//!  TetMesh --> Fragments <-- Fracture (cracks, from fracas-fracture or a pattern)
//!                 |
//!                 | Split: what broke, which tets and edges were cut
//!                 v
//!  surface, mass  FragmentField (distances)   SphereTree (points)
//!                 \_______________ query ____________/
//!                                  |
//!                                  v
//!                     Contact { point, distance, normal }
//! ```
//!
//! | system | module | paper | main type |
//! | --- | --- | --- | --- |
//! | what an object is made of | [`tet_mesh`] | | [`TetMesh`] |
//! | cracks and fragments | [`Crack`], [`fragment`] | Glondu 2013, §4.1 | [`Fragments`] |
//! | closed surfaces and masses of fragments | [`fragment_surface`], [`FragmentMass`], [`MassProperties`] | | [`FragmentSurface`] |
//! | skins of fragments, for drawing | [`dressing`] | | [`dressing::SkinMap`] |
//! | distances to fragments | [`fragment_field`] | Glondu 2013, §4 | [`FragmentField`] |
//! | the slow and certain answers | [`brute_force`] | | |
//! | points and contact query | [`sphere_tree`] | Glondu 2013, §3, §5, §6 | [`SphereTree`] |
//! | triangles of a game level | [`sphere_tree`] | | [`StaticMesh`] |
//!
//! Meshes, cracks, fragments and pairs of simple shapes are the crate `fracas-geometry`; their
//! names are exported here, too. Three further systems are crates of their own on the same
//! ground: `fracas-fastcd` (deforming triangle meshes), `fracas-tet-distance` (soft bodies) and
//! `fracas-voxel` (contacts that must be ready in time).
//!
//! **Features.** `research` shows the slower ways of the paper, exact answers, and what report,
//! scenes and tests look at. What only `research` shows may change in any version.

// What only `research` shows is compiled without it, too, where the library uses a part of it.
// With the feature, which the workspace's lints have on, nothing is allowed to be unused.
#![cfg_attr(not(feature = "research"), allow(dead_code, unused_imports))]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "research")]
pub mod brute_force;
mod contact;
pub mod dressing;
pub mod fragment_field;
mod fragment_mass;
pub mod fragment_surface;
mod mass_properties;
#[cfg(feature = "research")]
pub mod object_trial;
pub mod sphere_tree;
mod triangle_tree;
pub mod used_vertices;
mod whole_object;

pub use contact::Contact;
#[doc(hidden)]
pub use fracas_geometry::testing;
pub use fracas_geometry::{
    Crack, Digest, Fracture, FractureError, Fragment, FragmentId, Fragments, GOLDEN, Pose, Split,
    TetMesh, TetMeshError, hash64, splitmix64,
};
use fracas_geometry::{chunk_list, tet_part, triangle_fans};
pub use fracas_geometry::{fragment, grid, primitives, tet_mesh};

#[cfg(feature = "research")]
pub use fragment_field::Propagation;
pub use fragment_field::object_data::{ObjectData, ObjectDataError};
pub use fragment_field::{FieldOptions, FragmentDistance, FragmentField};
pub use fragment_mass::FragmentMass;
#[cfg(feature = "research")]
pub use fragment_mass::MassScratch;
pub use fragment_surface::{FragmentSurface, SurfaceScratch};
pub use mass_properties::MassProperties;
pub use sphere_tree::SphereTree;
#[cfg(feature = "research")]
pub use sphere_tree::{StaticMesh, StaticMeshError};
pub use whole_object::WholeObject;
