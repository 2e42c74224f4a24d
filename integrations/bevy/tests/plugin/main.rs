//! The plugin in apps without a renderer. One program: each would compile Bevy's generic code
//! anew.

mod breaking;
mod common;
#[cfg(feature = "gizmos")]
mod gizmos;
mod guest;
mod looks;
#[cfg(feature = "render")]
mod materials;
mod modes;
mod sources;
