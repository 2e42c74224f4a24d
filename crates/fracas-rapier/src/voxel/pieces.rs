//! The voxel trees of all pieces: made once for a kind of object, re-labelled when a
//! piece breaks, forgotten with it.

use std::collections::BTreeMap;
use std::sync::Arc;

use fracas_core::{FragmentId, TetMesh};
use fracas_voxel::{FragmentVoxels, ObjectVoxels, SplitScratch, VoxTree};
use glam::Vec3;

use super::VoxelSettings;
use crate::shape::FragmentShape;

/// Voxels of a piece.
struct Piece {
    voxels: FragmentVoxels,
    tree: Arc<VoxTree>,
    radius: f32,
    /// Whether the sphere-tree method has all that its first question to the piece needs.
    is_ready: bool,
    seen: u64,
}

/// A tree, and how far it reaches from the origin of its frame.
pub(super) type Placed = (Arc<VoxTree>, f32);

impl Piece {
    fn placed(&self) -> Placed {
        (self.tree.clone(), self.radius)
    }
}

/// A piece by its object and fragment.
type PieceKey = (usize, FragmentId);

/// Objects by their mesh, with the voxels of the unbroken whole.
pub(super) type Kinds = Vec<(Arc<TetMesh>, Arc<ObjectVoxels>)>;

/// The trees of this step's pieces.
#[derive(Default)]
pub(super) struct Pieces {
    pub(super) kinds: Kinds,
    pieces: BTreeMap<PieceKey, Piece>,
    scratch: SplitScratch,
}

impl Pieces {
    /// The same kinds, and no pieces yet.
    pub(super) fn of_kinds(kinds: Kinds) -> Self {
        Self {
            kinds,
            ..Self::default()
        }
    }

    /// The tree of a piece that was there before.
    pub(super) fn known(&mut self, shape: &FragmentShape, step: u64) -> Option<Placed> {
        let key = (shape.object().address(), shape.id());
        let piece = self.pieces.get_mut(&key)?;
        piece.seen = step;
        Some(piece.placed())
    }

    /// The tree of a new piece, made together with all that broke off with it: `shapes`
    /// are all pieces there are. None where the object cannot be voxelised.
    pub(super) fn make<'a>(
        &mut self,
        shape: &FragmentShape,
        shapes: impl Iterator<Item = &'a FragmentShape>,
        settings: &VoxelSettings,
        step: u64,
    ) -> Option<Placed> {
        let key = (shape.object().address(), shape.id());
        let state = shape.object().read();
        let fragments = state.fragments();
        let kind = self.kind_of(fragments.mesh(), settings.resolution)?;
        // The nearest ancestor whose voxels are known; the unbroken object at last.
        let ancestor_of = |id: FragmentId| {
            let mut at = id;
            while let Some(parent) = fragments.fragment(at).parent() {
                if self.pieces.contains_key(&(key.0, parent)) {
                    return Some(parent);
                }
                at = parent;
            }
            None
        };
        let ancestor = ancestor_of(shape.id());
        let new: Vec<FragmentId> = shapes
            .filter(|s| s.object().is_same(shape.object()))
            .map(FragmentShape::id)
            .filter(|&id| {
                !self.pieces.contains_key(&(key.0, id))
                    && id != FragmentId(0)
                    && ancestor_of(id) == ancestor
            })
            .collect();
        let made = if shape.id() == FragmentId(0) {
            vec![(FragmentId(0), kind.whole().clone())]
        } else {
            let parent = ancestor.and_then(|a| self.pieces.get(&(key.0, a)));
            let before = parent.map_or(kind.whole(), |p| &p.voxels);
            let split = kind.split(fragments, before, &new, &mut self.scratch);
            new.into_iter().zip(split).collect()
        };
        for (id, voxels) in made {
            let tree = VoxTree::build(&kind.grid(&voxels), settings.branching);
            let piece = Piece {
                voxels,
                radius: tree.radius(),
                tree: Arc::new(tree),
                is_ready: false,
                seen: step,
            };
            self.pieces.insert((key.0, id), piece);
        }
        self.pieces.get(&key).map(Piece::placed)
    }

    /// Whether the sphere-tree method can be asked about a piece without having to make anything
    /// first. `may_make`: whether what is missing may be made now, if its sphere tree is there.
    pub(super) fn is_ready(&mut self, shape: &FragmentShape, may_make: bool) -> bool {
        let key = (shape.object().address(), shape.id());
        let Some(piece) = self.pieces.get_mut(&key) else {
            return true;
        };
        if !piece.is_ready && may_make && shape.made_tree().is_some() {
            shape.make_field();
            piece.is_ready = true;
        }
        piece.is_ready
    }

    /// Drops the pieces that were not asked for in this step.
    pub(super) fn forget_unseen(&mut self, step: u64) {
        self.pieces.retain(|_, piece| piece.seen == step);
    }

    /// The voxels of a kind of object, computed when the first of it appears.
    fn kind_of(&mut self, mesh: &Arc<TetMesh>, resolution: u32) -> Option<Arc<ObjectVoxels>> {
        let known = self.kinds.iter().find(|(m, _)| Arc::ptr_eq(m, mesh));
        if let Some((_, voxels)) = known {
            return Some(voxels.clone());
        }
        let positions = mesh.positions().iter();
        let low = positions.clone().fold(Vec3::INFINITY, |a, &b| a.min(b));
        let high = positions.fold(Vec3::NEG_INFINITY, |a, &b| a.max(b));
        let cell = (high - low).max_element() / resolution.max(2) as f32;
        // A mesh that cannot be voxelised keeps the sphere-tree method.
        let voxels = Arc::new(ObjectVoxels::build(mesh, cell).ok()?);
        self.kinds.push((mesh.clone(), voxels.clone()));
        Some(voxels)
    }
}
