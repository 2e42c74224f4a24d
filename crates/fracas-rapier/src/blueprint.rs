//! What is computed ahead for objects of one kind.

use std::sync::Arc;

use fracas_core::sphere_tree::BuildOptions;
use fracas_core::{
    Digest, FieldOptions, FragmentField, FragmentId, FragmentSurface, Fragments, SphereTree,
    TetMesh, WholeObject,
};
use parry3d::shape::SharedShape;
use thiserror::Error;

use crate::convex_shape;
use crate::object::SharedObject;
use crate::parallel::both;
use crate::parry_shape::{ParryShape, WholeShapes};
use crate::shape::{FragmentShape, Tree};

/// Why tetrahedra do not make a breakable object.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ObjectError {
    /// No distance field could be made.
    #[error("no distance field: {0}")]
    Field(#[from] fracas_core::fragment_field::BuildError),
    /// No sphere tree could be made.
    #[error("no sphere tree: {0}")]
    Tree(#[from] fracas_core::sphere_tree::BuildError),
    /// What was baked of it is damaged.
    #[cfg(feature = "assets")]
    #[error(transparent)]
    Baked(#[from] fracas_bake::asset::ObjectError),
}

/// Everything computed ahead for objects of one kind; cheap to make many bodies of.
#[derive(Clone, Debug)]
pub struct Blueprint {
    fragments: Arc<Fragments>,
    field: Arc<FragmentField>,
    surface: Arc<FragmentSurface>,
    /// Shape of the unbroken object; the shapes of all bodies share what it holds.
    whole: FragmentShape,
    parry: WholeShapes,
    key: u64,
}

impl Blueprint {
    /// Computes field, tree and surface of an object made of tetrahedra.
    ///
    /// # Errors
    /// See [`ObjectError`].
    pub fn build(
        mesh: Arc<TetMesh>,
        field: &FieldOptions,
        tree: &BuildOptions,
    ) -> Result<Self, ObjectError> {
        let tree = SphereTree::build(&mesh, tree)?;
        let object = WholeObject::of_tree(mesh, tree, field, |surface, mass| both(surface, mass))?;
        Ok(Self::of_parts(object))
    }

    /// Of an asset: what is computed ahead is read from it. Where it was baked without, it
    /// is computed.
    ///
    /// # Errors
    /// See [`ObjectError`].
    #[cfg(feature = "assets")]
    pub fn of_asset(asset: &fracas_bake::Asset) -> Result<Self, ObjectError> {
        if asset.section(fracas_bake::asset::OBJECT).is_none() {
            let (field, tree) = (FieldOptions::default(), BuildOptions::default());
            return Self::build(asset.shared_mesh().clone(), &field, &tree);
        }
        Ok(Self::of_parts(asset.object()?))
    }

    /// Of an unbroken object that is there already: read from an asset
    /// (`fracas_bake::Asset::object`), not built.
    #[must_use]
    pub fn of_parts(object: WholeObject) -> Self {
        let WholeObject {
            fragments,
            field,
            tree,
            surface,
            mass,
        } = object;
        let key = key_of(fragments.mesh(), &tree);
        let convex = convex_shape::of_surface(&surface, mass.properties.volume);
        let (fragments, field) = (Arc::new(fragments), Arc::new(field));
        let (tree, surface) = (Arc::new(tree), Arc::new(surface));
        let reach = tree.bounding_sphere().1;
        let whole = FragmentShape::new(
            &SharedObject::new(fragments.clone(), field.clone()),
            FragmentId(0),
            (Tree::Made(tree), reach),
            &mass,
            Some(surface.clone()),
        );
        Self {
            whole: whole.with_convex(convex),
            fragments,
            field,
            surface,
            parry: WholeShapes::default(),
            key,
        }
    }

    /// A number that names what it was built of: equal for equal tetrahedra and
    /// sample points. Snapshots refer to blueprints by it.
    #[must_use]
    pub fn key(&self) -> u64 {
        self.key
    }

    /// The unbroken object as one of parry's shapes, built once.
    #[must_use]
    #[cfg_attr(feature = "research", visibility::make(pub))]
    pub(crate) fn parry_shape(&self, kind: ParryShape) -> SharedShape {
        self.parry.get(kind, &self.surface)
    }

    /// The tetrahedra.
    #[must_use]
    pub fn mesh(&self) -> &Arc<TetMesh> {
        self.fragments.mesh()
    }

    /// The outer surface.
    #[must_use]
    pub fn surface(&self) -> &Arc<FragmentSurface> {
        &self.surface
    }

    /// Volume of the unbroken object.
    #[cfg(feature = "world")]
    pub(crate) fn volume(&self) -> f64 {
        self.whole.volume()
    }

    /// A new, unbroken object with its shape.
    #[must_use]
    pub fn object(&self) -> (SharedObject, FragmentShape) {
        let object = SharedObject::new(self.fragments.clone(), self.field.clone());
        let shape = self.whole.of_object(&object);
        (object, shape)
    }
}

/// Over node positions, tetrahedra and sample points.
fn key_of(mesh: &TetMesh, tree: &SphereTree) -> u64 {
    let mut digest = Digest::default();
    let floats = mesh.positions().iter().chain(tree.positions());
    floats
        .flat_map(|p| p.to_array())
        .for_each(|x| digest.add(x.to_bits()));
    mesh.tets().iter().flatten().for_each(|&n| digest.add(n));
    digest.value()
}
