//! Which blocks of a tree of faces hold faces of one fragment.
//!
//! A tree is shared by all fragments that its faces bound. A search for the surface of
//! one of them passes by what is nearer but not its own: right after a fracture that is
//! nearly everything. A bit per block and fragment says where there is anything to find.
//!
//! **Guarantee**: a block without the bit holds no face of the fragment; one with it may
//! hold none either.

use super::face_tree::FaceTree;
use super::feature::FeatureId;

/// Bits over the blocks of one tree.
#[derive(Clone, Debug, Default)]
pub(super) struct FaceMask {
    /// Empty while all faces are the fragment's: the object is whole.
    words: Box<[u64]>,
}

impl FaceMask {
    /// No face of a tree.
    pub(super) fn none_of(tree: &FaceTree) -> Self {
        Self {
            words: vec![0; tree.block_count().div_ceil(64)].into(),
        }
    }

    /// Whether a block may hold faces of the fragment.
    #[inline]
    pub(super) fn has(&self, block: u32) -> bool {
        self.words
            .get((block / 64) as usize)
            .is_none_or(|word| word >> (block % 64) & 1 != 0)
    }

    /// Adds a face: its block and those above it.
    #[inline]
    pub(super) fn add(&mut self, tree: &FaceTree, feature: FeatureId) {
        for block in tree.blocks_of(feature) {
            let word = &mut self.words[(block / 64) as usize];
            let bit = 1 << (block % 64);
            if *word & bit != 0 {
                return;
            }
            *word |= bit;
        }
    }

    /// The faces of the tree's marked blocks.
    pub(super) fn faces<'a>(&'a self, tree: &'a FaceTree) -> impl Iterator<Item = FeatureId> + 'a {
        tree.lowest_blocks()
            .filter(|(block, _)| self.has(*block))
            .flat_map(|(_, faces)| faces)
    }

    pub(super) fn bytes(&self) -> usize {
        self.words.len() * 8
    }
}
