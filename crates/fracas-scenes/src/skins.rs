//! What things of the set look like, for pictures and models: finer and rounder than
//! their tetrahedra. Built when first asked for, never by the simulation.

use std::sync::{Arc, OnceLock};

pub use fracas::dressing::Dressed;
use fracas::dressing::FineBoundary;
use fracas::{FragmentId, Fragments, TetMesh};
use fracas_bake::shapes::Shape;

/// The fine surface of a shape on its tetrahedra.
#[derive(Debug)]
pub struct Skin {
    shape: &'static Shape,
    scale: f64,
    mesh: Arc<TetMesh>,
    built: OnceLock<Option<FineBoundary>>,
}

impl Skin {
    /// Of a shape, larger by `scale`, filled with these tetrahedra.
    #[must_use]
    pub fn new(shape: &'static Shape, scale: f64, mesh: Arc<TetMesh>) -> Self {
        Self {
            shape,
            scale,
            mesh,
            built: OnceLock::new(),
        }
    }

    /// Whether these fragments are of its tetrahedra.
    #[must_use]
    pub fn fits(&self, fragments: &Fragments) -> bool {
        Arc::ptr_eq(&self.mesh, fragments.mesh()) || *self.mesh == **fragments.mesh()
    }

    /// A fragment in it; none for things whose tetrahedra have their surface exactly.
    #[must_use]
    pub fn dress(&self, fragments: &Fragments, id: FragmentId) -> Option<Dressed> {
        let built = self
            .built
            .get_or_init(|| self.shape.fine_boundary(&self.mesh, self.scale));
        built.as_ref().map(|fine| fine.dress(fragments, id))
    }

    /// Whether anybody has asked for it yet.
    #[must_use]
    pub fn is_built(&self) -> bool {
        self.built.get().is_some()
    }
}
