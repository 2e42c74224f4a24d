//! What is known of fans ([`super::fans`]), kept with the tree.

use super::threads::{ByteSlots, Slots};

/// What is known of the fan of each vertex.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fans {
    /// Opposite edges that the ray crosses, or that it is not clear; by global id.
    pub(super) crossings: ByteSlots,
    /// Sum of the normals.
    pub(super) axis: Slots,
    pub(super) homes: Homes,
}

/// Which task looks at a vertex, when tasks run on threads: the one that has all its
/// triangles. The others have lists of theirs, in the order of places. So the normals of a fan
/// are added up in the same order as without threads.
#[derive(Clone, Debug, Default)]
pub(super) struct Homes {
    /// By global id: a task, or `NONE`.
    pub(super) home: Vec<u32>,
    /// Vertices whose triangles are not all of one task, in the order of places.
    pub(super) border: Vec<u32>,
    /// Where the list of each of them begins in `around`, and where the last one ends.
    pub(super) starts: Vec<u32>,
    /// The triangles around them: four times the place, plus the corner.
    pub(super) around: Vec<u32>,
    pub(super) known: bool,
}

impl Fans {
    #[inline]
    pub(crate) fn is_clear(&self, vertex: u32) -> bool {
        self.crossings.get(vertex) == 1
    }

    /// The tree was written anew.
    pub(crate) fn forget_places(&mut self) {
        self.homes.known = false;
    }
}
