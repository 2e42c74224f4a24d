//! Numbers that name bodies, vertices, edges and triangles.

/// No body, vertex, edge, triangle or place.
pub(crate) const NONE: u32 = u32::MAX;

/// Names a body. Ids of deleted, split and merged bodies are never used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BodyId(pub(crate) u32);
