//! Breakable bodies in Rapier: shape, query dispatcher and world.
pub mod manifold;
pub mod world;
