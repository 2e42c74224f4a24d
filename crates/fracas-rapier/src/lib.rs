//! Breakable bodies in Rapier: shape, query dispatcher and world.
//!
//! [`shape`] and [`mod@dispatcher`] need parry3d alone, so they serve every engine that
//! takes parry's dispatchers. With the feature `world` (on by default) [`breakables`]
//! breaks bodies in anybody's Rapier world, and [`world`] is the ready-made whole.

#[cfg(feature = "world")]
pub mod breakables;
mod cast;
#[cfg(feature = "world")]
mod codec;
mod convex;
pub mod dispatcher;
mod late_tree;
pub mod manifold;
pub mod object;
pub mod pair;
mod parallel;
pub mod parry_shape;
mod partner;
#[cfg(feature = "world")]
mod saved_workspace;
pub mod shape;
pub mod trace;
mod untangle;
pub mod voxel;
#[cfg(feature = "world")]
pub mod world;

#[cfg(feature = "world")]
pub use breakables::{Breakables, Engine};
pub use dispatcher::{FragmentDispatcher, dispatcher};
pub use object::{Blueprint, ObjectError, SharedObject};
pub use pair::{ContactMode, ContactSettings, Normals};
pub use parry_shape::ParryShape;
pub use partner::{UnsupportedShape, check_shape};
pub use shape::FragmentShape;
pub use voxel::{FrameBudget, VoxelSettings, VoxelStats};
