//! What a body is moved by: pieces, each with its springs and volumes ([`crate::elastic`]).

use glam::{Vec3, Vec4};

use crate::rows::{SpringRow, VolumeRow};

/// An edge that resists stretch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spring {
    pub nodes: [u32; 2],
    pub length: f32,
    pub stiffness: f32,
    /// [`crate::colours`].
    pub colour: u8,
}

/// A tetrahedron of a piece.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Volume {
    pub nodes: [u32; 4],
    /// At rest.
    pub volume: f32,
    /// The body's number of it.
    pub tet: u32,
    /// [`crate::colours`].
    pub colour: u8,
}

/// What hangs together by nodes, in a numbering of its own: moves for itself, so that pieces of
/// one body can be moved on several threads.
#[derive(Clone, Debug, Default)]
pub(crate) struct Piece {
    /// The body's numbers of its nodes, in order.
    pub nodes: Vec<u32>,
    /// Its tetrahedra, in the body's order.
    pub volumes: Vec<Volume>,
    /// In order of their nodes.
    pub springs: Vec<Spring>,
    pub spring_rows: Vec<SpringRow>,
    pub volume_rows: Vec<VolumeRow>,
    /// Where the nodes are, with their inverse masses; after them one that no row moves, for
    /// places of rows that stay empty.
    pub positions: Vec<Vec4>,
    pub velocities: Vec<Vec3>,
}
