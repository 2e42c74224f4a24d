//! The world.
pub mod debris;
pub mod hand;
