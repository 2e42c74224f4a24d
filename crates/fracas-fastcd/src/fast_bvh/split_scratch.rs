//! Memory of splits ([`super::split`]), kept with the mesh.

/// Memory that stays between splits.
#[derive(Clone, Debug, Default)]
pub(crate) struct SplitScratch {
    /// By global id: the part of each triangle of the body that is split.
    pub(super) part_of: Vec<u32>,
    /// By global id: what stands for each vertex of the body in the part that is being made,
    /// with a mark; `NONE` if nothing does yet. All are `NONE` between parts.
    pub(super) copy_of: Vec<u32>,
    /// Half-edges to link, as the mesh links them.
    pub(super) slots: Vec<(u64, u32)>,
    /// Marked vertices and the triangles that have them.
    pub(super) owners: Vec<(u32, u32)>,
}
