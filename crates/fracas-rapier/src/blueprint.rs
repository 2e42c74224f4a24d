//! What is computed ahead for objects of one kind.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use fracas_core::sphere_tree::BuildOptions;
use fracas_core::{
    Digest, FieldOptions, FragmentField, FragmentId, FragmentSurface, Fragments, SphereTree,
    TetMesh, WholeObject,
};
use fracas_fracture::Modes;
use parry3d::shape::SharedShape;
use thiserror::Error;

use crate::convex_shape;
use crate::object::SharedObject;
use crate::parallel::both;
use crate::parry_shape::{ParryShape, WholeShapes};
use crate::shape::{FragmentShape, Tree};
use crate::skin::Skin;

/// Why tetrahedra do not make a breakable object.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ObjectError {
    /// The scale of an object is not a finite number above zero, or too large or small for
    /// its lengths.
    #[error("an object cannot be scaled by {0}; give a finite number above 0, near 1")]
    Scale(f32),
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

/// Modes of an original, and those of its copy.
type ScaledModes = (Weak<Modes>, Weak<Modes>);

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
    /// Spacing of the sample points, where the tree has more than nodes.
    sampling: BuildOptions,
    skin: Option<Arc<Skin>>,
    /// Copies at other sizes that are in use, by the bits of their scale.
    scaled: Arc<Mutex<BTreeMap<u32, Weak<Blueprint>>>>,
    /// Modes of this copy, by those of the original.
    modes: Arc<Mutex<Vec<ScaledModes>>>,
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
        let sampling = *tree;
        let tree = SphereTree::build(&mesh, tree)?;
        let object = WholeObject::of_tree(mesh, tree, field, |surface, mass| both(surface, mass))?;
        Ok(Self {
            sampling,
            ..Self::of_parts(object)
        })
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
            let made = Self::build(asset.shared_mesh().clone(), &field, &tree)?;
            return Ok(made.with_skin_of(asset));
        }
        Ok(Self::of_parts(asset.object()?).with_skin_of(asset))
    }

    #[cfg(feature = "assets")]
    fn with_skin_of(mut self, asset: &fracas_bake::Asset) -> Self {
        self.skin = asset.skin().map(|skin| {
            let (positions, triangles) = (skin.positions().to_vec(), skin.triangles().to_vec());
            Arc::new(Skin::new(positions, triangles, skin.uvs().map(Into::into)))
        });
        self
    }

    /// The same object at another size: made at the first use of a scale, and shared as long as
    /// anything uses it.
    ///
    /// # Errors
    /// [`ObjectError::Scale`] when `scale` is not a finite number above zero, or lengths
    /// overflow; others as in [`Blueprint::build`].
    pub fn scaled(self: &Arc<Self>, scale: f32) -> Result<Arc<Self>, ObjectError> {
        if !(scale.is_finite() && scale > 0.0) {
            return Err(ObjectError::Scale(scale));
        }
        if scale == 1.0 {
            return Ok(self.clone());
        }
        // Held while it is made: whoever wants the same scale needs it anyway.
        let mut known = self.scaled.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(made) = known.get(&scale.to_bits()).and_then(Weak::upgrade) {
            return Ok(made);
        }
        let positions = self.mesh().positions().iter().map(|p| *p * scale);
        let mesh = TetMesh::build(positions.collect(), self.mesh().tets().to_vec());
        let mesh = mesh.map_err(|_| ObjectError::Scale(scale))?;
        let sampling = BuildOptions {
            sample_spacing: self.sampling.sample_spacing.map(|length| length * scale),
        };
        let made = Arc::new(Self {
            skin: self.skin.as_ref().map(|skin| Arc::new(skin.scaled(scale))),
            ..Self::build(Arc::new(mesh), self.field.options(), &sampling)?
        });
        known.retain(|_, made| made.strong_count() > 0);
        known.insert(scale.to_bits(), Arc::downgrade(&made));
        Ok(made)
    }

    /// The modes of the original, scaled: once for all bodies of this copy.
    pub(crate) fn scaled_modes(&self, original: &Arc<Modes>, scale: f32) -> Arc<Modes> {
        let mut known = self.modes.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|(original, _)| original.strong_count() > 0);
        let is_same = |other: &Weak<Modes>| other.as_ptr() == Arc::as_ptr(original);
        let found = known.iter().find(|(other, _)| is_same(other));
        if let Some(modes) = found.and_then(|(_, modes)| modes.upgrade()) {
            return modes;
        }
        known.retain(|(other, _)| !is_same(other));
        let modes = Arc::new(original.scaled(scale));
        known.push((Arc::downgrade(original), Arc::downgrade(&modes)));
        modes
    }

    /// What is seen of it, where it has a surface of its own.
    pub(crate) fn skin(&self) -> Option<&Arc<Skin>> {
        self.skin.as_ref()
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
            sampling: BuildOptions::default(),
            skin: None,
            scaled: Arc::default(),
            modes: Arc::default(),
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

    /// Volume of the unbroken object, in cubic length units.
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
