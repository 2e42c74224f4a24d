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

use std::borrow::Cow;
use std::sync::Arc;

use glam::{DMat3, DVec3};
use thiserror::Error;

use crate::fragment_field::{self, FieldOptions, FragmentField};
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

/// The numbers of a [`WholeObject`], which may lie in the bytes of a file. A face is four times its tetrahedron plus the local face.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ObjectData<'a> {
    /// What the field was built with.
    pub options: FieldOptions,
    /// Whether the surface is not 2-manifold as it stands.
    pub touches_itself: bool,
    /// Volume, centre, and inertia column by column, at unit density.
    pub mass: [f64; 13],
    /// The faces of the boundary in the order of the surface's triangles.
    pub surface_faces: Cow<'a, [u32]>,
    /// The same in the order of the field's features.
    pub feature_faces: Cow<'a, [u32]>,
    /// The features in the order in which they lie in the tree of faces.
    pub feature_order: Cow<'a, [u32]>,
    /// Per node: its distance to the surface, and the unit way there.
    pub nodes: Cow<'a, [[f32; 4]]>,
    /// Per node: the feature it is closest to.
    pub node_features: Cow<'a, [u32]>,
    /// Per grid point: the bits of its distance to the surface, negative inside; the feature
    /// it is closest to; a tetrahedron that holds it, or is close.
    pub grid_points: Cow<'a, [[u32; 3]]>,
    /// Per cell of point location, and at the end: where its tetrahedra begin in the list.
    pub location_starts: Cow<'a, [u32]>,
    /// The tetrahedra that reach into each cell.
    pub location_tets: Cow<'a, [u32]>,
    /// Per node: the first and the last of the occupancy cells around it, x + 2⁸ y + 2¹⁶ z.
    pub node_cells: Cow<'a, [[u32; 2]]>,
    /// The cells that the object occupies, a bit each, all levels.
    pub cells: Cow<'a, [u64]>,
    /// The mesh nodes in the order of the sphere tree's leaves.
    pub tree_points: Cow<'a, [u32]>,
    /// Per sphere, parents before children and children side by side: how many children.
    pub tree_children: Cow<'a, [u32]>,
    /// Per sphere: its level.
    pub tree_levels: Cow<'a, [u8]>,
    /// Per sphere: its radius.
    pub tree_radii: Cow<'a, [f32]>,
    /// Per node: the kind of surface there (0 inside, 1 face, 2 edge, 3 vertex), and 16 times
    /// the number of tangents.
    pub point_kinds: Cow<'a, [u8]>,
    /// Per node that is not inside: the outward unit normal.
    pub point_normals: Cow<'a, [[f32; 3]]>,
    /// All tangents, node by node.
    pub point_tangents: Cow<'a, [[f32; 3]]>,
}

/// Why numbers are not those of an unbroken object of a mesh.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum ObjectDataError {
    /// The mesh or the options allow no field.
    #[error(transparent)]
    Field(#[from] fragment_field::BuildError),
    /// A list has not the length, or a number in it not the value, that the mesh asks for.
    #[error("{list} are not those of the mesh (first difference at {place})")]
    Misfit {
        /// Which list.
        list: &'static str,
        /// The first place that cannot be.
        place: usize,
    },
}

/// That a list does not fit from a place on.
pub(crate) fn misfit(list: &'static str, place: usize) -> ObjectDataError {
    ObjectDataError::Misfit { list, place }
}

/// Checks the length of a list.
pub(crate) fn has_length(
    list: &'static str,
    found: usize,
    expected: usize,
) -> Result<(), ObjectDataError> {
    if found == expected {
        Ok(())
    } else {
        Err(misfit(list, found.min(expected)))
    }
}

/// Checks all items of a list. The items are first looked at together: without a way out in
/// the middle that is several at a time.
pub(crate) fn all_fit<T: Copy>(
    list: &'static str,
    items: &[T],
    fits: impl Fn(T) -> bool,
) -> Result<(), ObjectDataError> {
    if items.iter().fold(true, |all, &item| all & fits(item)) {
        return Ok(());
    }
    let first = items.iter().position(|&item| !fits(item));
    Err(misfit(list, first.unwrap_or(0)))
}

/// Checks that a list holds every number below its length once.
pub(crate) fn is_order(list: &'static str, items: &[u32]) -> Result<(), ObjectDataError> {
    let mut seen = vec![false; items.len()];
    for (place, &item) in items.iter().enumerate() {
        let fresh = seen.get_mut(item as usize);
        if fresh.is_none_or(|seen| std::mem::replace(seen, true)) {
            return Err(misfit(list, place));
        }
    }
    Ok(())
}

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
        let fragments = Fragments::known(mesh.clone(), self.touches_itself);
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
        let fragments = Fragments::new(mesh.clone());
        let field = FragmentField::build(&fragments, options)?;
        let whole = FragmentId(0);
        Ok(Self {
            field,
            tree: SphereTree::of_nodes(mesh),
            surface: FragmentSurface::extract(&fragments, whole, &mut SurfaceScratch::default()),
            mass: FragmentMass::of(&fragments, whole, &mut MassScratch::default()),
            fragments,
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
