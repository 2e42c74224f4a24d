//! An unbroken object as plain numbers: what is computed ahead of it, for files.
//!
//! [`ObjectData::of`] computes field, sphere tree, surface and mass of a mesh and lists their
//! numbers; [`ObjectData::load`] puts them together again, in time linear in their count.
//! What follows from others with less work than reading it takes is not listed: ranges of
//! points and children in the tree, boxes and normals of faces, corners of the surface.
//!
//! **Guarantee**: what is loaded equals, bit for bit, what would be built. Numbers that do not
//! fit the mesh, whoever wrote them, are refused with the list and the place; what is accepted
//! may be wrong, but asking or breaking it neither panics nor runs on for ever. The rule, list
//! by list: decision 0014, *What loading checks*.

use std::sync::Arc;

use glam::{DMat3, DVec3};

use crate::fragment_field::object_data::{
    ObjectData, ObjectDataError, all_fit, has_length, misfit,
};
use crate::fragment_field::{BuildError, FieldOptions, FragmentField};
use crate::fragment_mass::{FragmentMass, MassScratch};
use crate::fragment_surface::{FragmentSurface, SurfaceScratch};
use crate::mass_properties::MassProperties;
use crate::sphere_tree::SphereTree;
use crate::tet_mesh::{NONE, TetMesh};
use crate::{FragmentId, Fragments};

/// An object that is still whole, with all that is computed ahead of it.
#[derive(Clone, Debug)]
pub struct WholeObject {
    /// Its fragments: one.
    pub fragments: Fragments,
    /// Its distance field.
    pub field: FragmentField,
    /// Its sphere tree.
    pub tree: SphereTree,
    /// Its surface.
    pub surface: FragmentSurface,
    /// Its mass at unit density, and its box.
    pub mass: FragmentMass,
}

/// A piece of work that may be done on another thread.
type Work<'a, T> = &'a (dyn Fn() -> T + Sync);

/// Checks that a list holds every face of the boundary once.
fn is_boundary(
    list: &'static str,
    mesh: &TetMesh,
    count: usize,
    faces: &[u32],
) -> Result<(), ObjectDataError> {
    has_length(list, faces.len(), count)?;
    // A bit for each local face.
    let mut seen = vec![0_u8; mesh.tets().len()];
    for (place, &face) in faces.iter().enumerate() {
        let (tet, bit) = ((face / 4) as usize, 1 << (face % 4));
        let across = mesh.neighbours().get(tet);
        if across.is_none_or(|a| a[face as usize % 4] != NONE) || seen[tet] & bit != 0 {
            return Err(misfit(list, place));
        }
        seen[tet] |= bit;
    }
    Ok(())
}

impl ObjectData<'_> {
    /// Computes the object of a mesh, as numbers.
    ///
    /// # Errors
    /// When the options allow no field.
    pub fn of(mesh: &Arc<TetMesh>, options: &FieldOptions) -> Result<Self, ObjectDataError> {
        Ok(WholeObject::build(mesh, options)?.to_data())
    }

    /// The object of these numbers.
    ///
    /// # Errors
    /// When they are not those of the mesh, see [`ObjectDataError`].
    pub fn load(&self, mesh: &Arc<TetMesh>) -> Result<WholeObject, ObjectDataError> {
        all_fit("volume, centre and inertia", &self.mass, f64::is_finite)?;
        let across = mesh.neighbours().as_flattened().iter();
        let boundary = across.fold(0_u32, |sum, &tet| sum + u32::from(tet == NONE)) as usize;
        is_boundary(
            "the faces of the surface",
            mesh,
            boundary,
            &self.surface_faces,
        )?;
        is_boundary("the features", mesh, boundary, &self.feature_faces)?;
        let fragments = Fragments::with_known_boundary(mesh.clone(), self.touches_itself);
        let field = FragmentField::from_data(&fragments, self)?;
        let tree = SphereTree::from_data(mesh, self)?;
        let surface = if self.touches_itself {
            FragmentSurface::extract(&fragments, FragmentId(0), &mut SurfaceScratch::default())
        } else {
            FragmentSurface::of_boundary(mesh, &self.surface_faces, mass_of(&self.mass))
        };
        let (low, high) = surface.bounds();
        let mass = FragmentMass {
            properties: mass_of(&self.mass),
            low,
            high,
        };
        Ok(WholeObject {
            fragments,
            field,
            tree,
            surface,
            mass,
        })
    }
}

impl WholeObject {
    /// Computes the object of a mesh.
    #[cfg_attr(feature = "research", visibility::make(pub))]
    pub(crate) fn build(
        mesh: &Arc<TetMesh>,
        options: &FieldOptions,
    ) -> Result<Self, ObjectDataError> {
        let tree = SphereTree::of_nodes(mesh);
        let one_by_one = |surface: Work<'_, _>, mass: Work<'_, _>| (surface(), mass());
        Ok(Self::of_tree(mesh.clone(), tree, options, one_by_one)?)
    }

    /// Computes the object of a mesh and its sphere tree. `both` does two pieces of work,
    /// perhaps at once.
    ///
    /// # Errors
    /// When the options allow no field.
    pub fn of_tree(
        mesh: Arc<TetMesh>,
        tree: SphereTree,
        options: &FieldOptions,
        both: impl FnOnce(
            Work<'_, FragmentSurface>,
            Work<'_, FragmentMass>,
        ) -> (FragmentSurface, FragmentMass),
    ) -> Result<Self, BuildError> {
        let fragments = Fragments::new(mesh);
        let field = FragmentField::build(&fragments, options)?;
        let whole = FragmentId(0);
        let (surface, mass) = both(
            &|| FragmentSurface::extract(&fragments, whole, &mut SurfaceScratch::default()),
            &|| FragmentMass::of(&fragments, whole, &mut MassScratch::default()),
        );
        Ok(Self {
            fragments,
            field,
            tree,
            surface,
            mass,
        })
    }

    /// Its numbers.
    #[cfg_attr(feature = "research", visibility::make(pub))]
    pub(crate) fn to_data(&self) -> ObjectData<'static> {
        let mut data = self.field.to_data().unwrap_or_default();
        self.tree.add_to_data(&mut data);
        data.touches_itself = self.fragments.touches_itself();
        data.surface_faces = self.surface.origins().to_vec().into();
        let MassProperties {
            volume,
            centre,
            inertia,
        } = self.mass.properties;
        data.mass[0] = volume;
        data.mass[1..4].copy_from_slice(&centre.to_array());
        data.mass[4..].copy_from_slice(&inertia.to_cols_array());
        data
    }
}

fn mass_of(numbers: &[f64; 13]) -> MassProperties {
    let [volume, x, y, z, inertia @ ..] = *numbers;
    MassProperties {
        volume,
        centre: DVec3::new(x, y, z),
        inertia: DMat3::from_cols_array(&inertia),
    }
}
