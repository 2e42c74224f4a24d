//! Soft bodies that deform, tear and are cut.
//!
//! The smallest simulation that makes `fracas_tet_distance` a system and not a
//! formula: tetrahedra that resist stretch and volume change, fail where they are
//! stretched too far, and part along their faces; a knife; cloth; and the penalty
//! contact of [Marchal 2004] between all of them.
//!
//! ```text
//!  each substep:  integrate -> solve -> stop what closes, move apart what overlaps
//!  some of them:  detect -> march to the marked tets -> find pushes
//!  each step:     tear what is stretched too far -> subdivide tets without inside
//! ```
//!
//! | what | module | main type |
//! | --- | --- | --- |
//! | a body of tetrahedra | [`body`] | [`SoftBody`] |
//! | its elasticity (XPBD springs and volumes) | [`elastic`] | |
//! | four constraints side by side, and which may be | `rows`, `lanes`, `colours` | |
//! | tearing along faces | [`tear`] | |
//! | cutting along a plane or a swept segment | [`knife`] | [`Knife`] |
//! | cloth that tears | [`cloth`] | [`Cloth`] |
//! | what a push does | `contact`, `contact_set` | |
//! | all together | [`world`] | [`SoftWorld`] |
//! | meshes to start from | [`shapes`] | |
//!
//! A whole program: `examples/cut_jelly.rs`, two blocks that fall on each other and are cut.

pub mod body;
pub mod cloth;
mod colours;
mod contact;
mod contact_set;
pub mod elastic;
pub mod knife;
mod lanes;
mod piece;
mod rows;
pub mod shapes;
pub mod tear;
mod threads;
pub mod world;

pub use body::{Material, SoftBody, SoftBodyError};
pub use cloth::Cloth;
pub use knife::Knife;
pub use world::{SoftWorld, WorldStats};
