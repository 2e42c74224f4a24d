//! What is known of a cube of a tree.

use glam::Vec3;

/// One cube.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Node {
    /// Its centre, in the object's frame.
    pub centre: Vec3,
    /// Its filled share: more than 0, at most 1.
    pub occupancy: f32,
    /// How far its centre is from the surface: positive inside. By the occupancy where the
    /// surface is in the cube, and on all levels but the finest.
    pub inner: f32,
    /// The outward direction of the surface in it, unit, or zero where it has none
    /// (sides that cancel; deep inside on all levels but the finest, where it is the way to
    /// the nearest surface).
    pub outward: Vec3,
    /// The near-planar region of the surface it belongs to (see `groups.rs`).
    pub group: u32,
    /// The box in it that holds its content: low and high corner.
    pub content: (Vec3, Vec3),
}
