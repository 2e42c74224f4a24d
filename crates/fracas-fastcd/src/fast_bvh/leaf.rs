//! A triangle in the order of the tree.

/// What the elementary tests read of a triangle.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Leaf {
    pub(crate) corners: [u32; 3],
    pub(crate) edges: [u32; 3],
    pub(crate) id: u32,
    /// Bits 0..3: corners it owns; bits 3..6: edges it owns.
    pub(crate) owned: u32,
}
