//! The one contact type, with sign and frame stated once, here.

use glam::Vec3;

/// A point of body A against the surface of body B, as a rigid-body solver wants it:
/// the tuple (c, d, n) of Glondu 2013, section 3.
///
/// Frame: everything is in **B's local frame** (the frame of the distance field
/// that was asked), unless the function that returns it says otherwise.
///
/// Sign: `distance` is negative when the point is inside B (its depth), positive
/// when it is outside. `normal` is a unit vector that points **out of B**: moving
/// A along it separates the two.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// The point of A.
    pub point: Vec3,
    /// Signed distance to B's surface: negative inside.
    pub distance: f32,
    /// Unit, out of B.
    pub normal: Vec3,
    /// Names the point of A (not of the pair): stable from step to step while A
    /// does not break, so that a solver can start warm.
    pub point_id: u32,
}
