//! The plain numbers of an unbroken object, as a file holds them, and how lists are checked.
//!
//! Field and sphere tree list and read their own (`data.rs` of each); [`crate::WholeObject`]
//! puts all of them together.

use std::borrow::Cow;

use thiserror::Error;

use super::{BuildError, FieldOptions};

/// The numbers of an unbroken object, which may lie in the bytes of a file. A face is four
/// times its tetrahedron plus the local face.
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
    Field(#[from] BuildError),
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
