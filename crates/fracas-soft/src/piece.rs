//! What a body is moved by: pieces, each with its springs ([`crate::elastic`]).

use glam::Vec3;

/// An edge that resists stretch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spring {
    pub nodes: [u32; 2],
    pub length: f32,
    pub stiffness: f32,
}

/// What hangs together by nodes, in a numbering of its own: moves for itself, so that pieces of
/// one body can be moved on several threads.
#[derive(Clone, Debug, Default)]
pub(crate) struct Piece {
    /// The body's numbers of its nodes, in order.
    pub nodes: Vec<u32>,
    /// Its tetrahedra, each with its volume at rest.
    pub tets: Vec<([u32; 4], f32)>,
    pub springs: Vec<Spring>,
    pub inverse_masses: Vec<f32>,
    pub positions: Vec<Vec3>,
    pub previous: Vec<Vec3>,
    pub velocities: Vec<Vec3>,
}
