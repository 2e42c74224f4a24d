//! Breakable bodies in Rapier: shape, query dispatcher and world.
