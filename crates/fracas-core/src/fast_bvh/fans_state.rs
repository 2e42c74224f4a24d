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
/// triangles. Of the others all are looked at by one thread, in their order. So the normals
/// of a fan are added up in the same order as without threads.
#[derive(Clone, Debug, Default)]
pub(super) struct Homes {
    /// By global id: a task, or `NONE`.
    pub(super) home: Vec<u32>,
    /// Places with a corner that no task has to itself.
    pub(super) border: Vec<u32>,
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
