//! Breakable bodies in Rapier: shape, query dispatcher and world.
//!
//! [`shape`] and [`mod@dispatcher`] need parry3d alone, so they serve every engine that
//! takes parry's dispatchers; [`world`] (feature `world`, on by default) is the
//! ready-made whole.

pub mod dispatcher;
pub mod manifold;
pub mod object;
pub mod pair;
mod partner;
pub mod shape;
#[cfg(feature = "world")]
pub mod world;

pub use dispatcher::{FragmentDispatcher, dispatcher};
pub use object::{Blueprint, ObjectError, SharedObject};
pub use pair::{ContactMode, ContactSettings};
pub use shape::FragmentShape;
