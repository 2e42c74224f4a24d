//! Broken objects for tests and benchmarks: fragments, distance field and sphere
//! trees, kept together through a sequence of fractures.

use std::sync::Arc;

use fracas_core::sphere_tree::{BuildOptions, SplitMethod, SplitScratch};
use fracas_core::testing::Rng;
use fracas_core::{
    Contact, FieldOptions, Fracture, FragmentDistance, FragmentField, FragmentId, Fragments,
    SphereTree, Split, TetMesh,
};
use fracas_fracture::sequence::CrackSequence;

/// An object with its field and the trees of its fragments.
#[derive(Clone, Debug)]
pub struct Broken {
    /// What belongs to whom.
    pub fragments: Fragments,
    /// Distances.
    pub field: FragmentField,
    /// Trees by fragment id; `None` for fragments that have broken.
    pub trees: Vec<Option<SphereTree>>,
    scratch: SplitScratch,
}

impl Broken {
    /// An unbroken object with default settings.
    ///
    /// # Panics
    /// When its field or tree cannot be built.
    #[must_use]
    pub fn new(mesh: TetMesh) -> Self {
        let tree = SphereTree::build(&mesh, &BuildOptions::default()).expect("no samples asked");
        let fragments = Fragments::new(Arc::new(mesh));
        let field = FragmentField::build(&fragments, &FieldOptions::default())
            .expect("the field of a test object");
        Self {
            fragments,
            field,
            trees: vec![Some(tree)],
            scratch: SplitScratch::default(),
        }
    }

    /// Breaks one fragment into about so many cells around random nodes. Returns
    /// what happened, or `None` when it cannot break.
    pub fn break_into(&mut self, id: FragmentId, pieces: usize, rng: &mut Rng) -> Option<Split> {
        let fracture = cells(&self.fragments, id, pieces, rng)?;
        Some(self.apply(&fracture))
    }

    /// Applies a fracture to everything.
    ///
    /// # Panics
    /// When the fracture is not one of a living fragment.
    pub fn apply(&mut self, fracture: &Fracture) -> Split {
        let split = self.fragments.apply(fracture).expect("a valid fracture");
        self.field.apply(&self.fragments, &split);
        let tree = self.trees[split.parent.0 as usize]
            .take()
            .expect("a living fragment has a tree");
        let parts = tree.apply(
            &self.fragments,
            &split,
            SplitMethod::default(),
            &mut self.scratch,
        );
        self.trees.extend(parts.into_iter().map(Some));
        split
    }

    /// The tree of a living fragment.
    ///
    /// # Panics
    /// When it has broken.
    #[must_use]
    pub fn tree(&self, id: FragmentId) -> &SphereTree {
        self.trees[id.0 as usize]
            .as_ref()
            .expect("a living fragment")
    }

    /// The distance field of a living fragment.
    #[must_use]
    pub fn distance(&self, id: FragmentId) -> FragmentDistance<'_> {
        self.field.of(&self.fragments, id)
    }

    /// All living fragments.
    #[must_use]
    pub fn living(&self) -> Vec<FragmentId> {
        self.fragments.living().collect()
    }
}

/// A fracture into cells around random nodes of a fragment: crack by crack, the
/// cell of one node leaves the rest.
#[must_use]
pub fn cells(
    fragments: &Fragments,
    id: FragmentId,
    pieces: usize,
    rng: &mut Rng,
) -> Option<Fracture> {
    let mesh = Arc::clone(fragments.mesh());
    let nodes = fragments.fragment(id).nodes();
    let centres: Vec<_> = (0..pieces)
        .map(|_| mesh.positions()[nodes[rng.below(nodes.len())] as usize])
        .collect();
    let mut sequence = CrackSequence::new(fragments, id)?;
    for i in 0..pieces.saturating_sub(1) {
        sequence.split(0, |n| {
            let p = mesh.positions()[n as usize];
            let others = centres[i + 1..].iter().map(|c| c.distance(p));
            others.fold(f32::INFINITY, f32::min) - centres[i].distance(p)
        });
    }
    sequence.finish()
}

/// Mean distance of each contact to the nearest other.
#[must_use]
pub fn mean_spacing(contacts: &[Contact]) -> f32 {
    let nearest = |c: &Contact| {
        let others = contacts.iter().filter(|d| d.point_id != c.point_id);
        others
            .map(|d| d.point.distance(c.point))
            .fold(f32::INFINITY, f32::min)
    };
    contacts.iter().map(nearest).sum::<f32>() / contacts.len() as f32
}
