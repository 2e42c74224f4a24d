//! Writing a [`Fracture`] down crack by crack: which nodes are in which part, and
//! what is left out because it would make crumbs.
//!
//! Every source of cracks (growth from stress, patterns, a user's own levels) goes
//! through [`CrackSequence::split`], so that every fracture is one that
//! [`fracas_core::Fragments::apply`] accepts.

use fracas_core::{Crack, Fracture, FragmentId, Fragments, TetMesh};

/// Cracks of one fragment under construction.
#[derive(Debug)]
pub struct CrackSequence<'a> {
    mesh: &'a TetMesh,
    fragment: FragmentId,
    parts: Vec<Vec<u32>>,
    cracks: Vec<Crack>,
}

impl<'a> CrackSequence<'a> {
    /// Starts with the whole fragment as part 0. `None` when it is not alive or
    /// has fewer than two nodes, and so cannot break.
    #[must_use]
    pub fn new(fragments: &'a Fragments, id: FragmentId) -> Option<Self> {
        if id.0 as usize >= fragments.id_count() {
            return None;
        }
        let fragment = fragments.fragment(id);
        (fragment.is_alive() && fragment.nodes().len() >= 2).then(|| Self {
            mesh: fragments.mesh(),
            fragment: id,
            parts: vec![fragment.nodes().to_vec()],
            cracks: Vec::new(),
        })
    }

    /// The mesh the fragment is part of.
    #[must_use]
    pub fn mesh(&self) -> &'a TetMesh {
        self.mesh
    }

    /// How many parts there are by now.
    #[must_use]
    pub fn part_count(&self) -> usize {
        self.parts.len()
    }

    /// The nodes of a part, in increasing order.
    #[must_use]
    pub fn part(&self, part: u32) -> &[u32] {
        &self.parts[part as usize]
    }

    /// Splits a part by a level per node (see [`Crack::from_level`]): negative
    /// stays, positive leaves. Returns the new part, or `None` when all nodes are
    /// on one side and nothing has happened.
    pub fn split(&mut self, part: u32, level: impl FnMut(u32) -> f32) -> Option<u32> {
        let crack = Crack::from_level(self.mesh, part, &self.parts[part as usize], level)?;
        Some(self.push(crack))
    }

    /// Adds a crack that is known to cover its part and to have both signs.
    pub(crate) fn push(&mut self, crack: Crack) -> u32 {
        let side = |positive: bool| {
            crack
                .levels
                .iter()
                .filter(|&&(_, s)| (s > 0.0) == positive)
                .map(|&(n, _)| n)
                .collect::<Vec<u32>>()
        };
        self.parts[crack.part as usize] = side(false);
        self.parts.push(side(true));
        self.cracks.push(crack);
        self.parts.len() as u32 - 1
    }

    /// The fracture, or `None` when no crack came about.
    #[must_use]
    pub fn finish(self) -> Option<Fracture> {
        (!self.cracks.is_empty()).then_some(Fracture {
            fragment: self.fragment,
            cracks: self.cracks,
        })
    }
}
