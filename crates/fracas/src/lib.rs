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
//! | cracks and fragments | [`crack`], [`fragment`] | Glondu 2013, §4.1 | [`Fragments`] |

pub mod contact;
pub mod crack;
pub mod fast_bvh;
pub mod fragment;
pub mod primitives;
#[doc(hidden)]
pub mod testing;
pub mod tet_mesh;

pub use contact::Contact;
pub use crack::{Crack, Fracture, FractureError};
pub use fragment::{Fragment, FragmentId, Fragments, Split};
pub use tet_mesh::{TetMesh, TetMeshError};
