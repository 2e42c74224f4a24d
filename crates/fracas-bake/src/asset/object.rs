//! The section `OBJ3`: all that is computed ahead of the unbroken object, so that loading it
//! computes nothing that takes long.
//!
//! | bytes | what |
//! | --- | --- |
//! | 4 x 3, 4, 4 | cells of location, occupancy and outer surface in mean edges (f32), most cells, whether the surface touches itself (u32) |
//! | 8 x 13, 4 | volume, centre, inertia at unit density (f64), zero |
//! | list | cells that the object occupies, a bit each (u64) |
//! | list | boundary faces in the order of the surface's triangles (u32) |
//! | 2 lists | boundary faces in the order of the field's features, these in the order of the tree of faces (u32) |
//! | list | per node: distance, way to the surface x y z (f32) |
//! | list | per node: the feature it is closest to (u32) |
//! | list | per grid point: distance (f32), face, tetrahedron (u32) |
//! | 2 lists | per cell of point location: where its tetrahedra begin; these (u32) |
//! | list | per node: first and last of the cells around it, packed (u32) |
//! | list | the nodes in the order of the sphere tree's leaves (u32) |
//! | 2 lists | per sphere: number of children (u32), radius (f32) |
//! | 2 lists | normals of nodes on the surface, tangents of all, x y z (f32) |
//! | list | per sphere: level (u8) |
//! | list | per node: kind of surface and number of tangents (u8) |
//!
//! Nothing in it is trusted: what does not fit the mesh is refused (`fracas_core::ObjectData`).
//! Of files with the sections `OBJ1` or `OBJ2`, of earlier versions, it is computed.

use std::borrow::Cow;

use fracas_core::{FieldOptions, ObjectData, ObjectDataError, WholeObject};
use thiserror::Error;

use super::{Asset, DecodeError, Decoder, Encoder, SectionTag};

/// Where the object is in an asset.
pub const OBJECT: SectionTag = SectionTag(*b"OBJ3");

/// Why an asset holds no object, or a bad one.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ObjectError {
    /// It was baked without.
    #[error("the asset has no section {OBJECT}; bake it again")]
    Missing,
    /// The section is not what it should be.
    #[error("section {OBJECT} of the asset: {0}")]
    Content(#[from] DecodeError),
    /// What is in it is not of the asset's mesh.
    #[error("section {OBJECT} of the asset: {0}")]
    Misfit(#[from] ObjectDataError),
}

impl Asset {
    /// Computes the object (field, sphere tree, surface, mass) and adds it.
    ///
    /// # Errors
    /// When the mesh has no field.
    pub fn add_object(&mut self) -> Result<(), ObjectError> {
        let data = ObjectData::of(&self.mesh, &FieldOptions::default())?;
        self.sections.insert(OBJECT, encode(&data));
        Ok(())
    }

    /// The object that was baked: what `fracas_rapier::Blueprint::of_parts` takes
    /// (`Blueprint::of_asset` does all of it).
    ///
    /// # Errors
    /// See [`ObjectError`].
    pub fn object(&self) -> Result<WholeObject, ObjectError> {
        let bytes = self.section(OBJECT).ok_or(ObjectError::Missing)?;
        Ok(decode(bytes)?.load(&self.mesh)?)
    }
}

fn encode(data: &ObjectData<'_>) -> Vec<u8> {
    let mut out = Encoder::new();
    out.f32(data.options.location_cell);
    out.f32(data.options.occupancy_cell);
    out.f32(data.options.outer_surface_cell);
    out.u32(data.options.outer_surface_most_cells);
    out.u32(data.touches_itself.into());
    data.mass.iter().for_each(|&x| out.f64(x));
    out.u32(0);
    out.u64s(&data.cells);
    out.u32s(&data.surface_faces);
    out.u32s(&data.feature_faces);
    out.u32s(&data.feature_order);
    out.f32s(data.nodes.as_flattened());
    out.u32s(&data.node_features);
    out.u32s(data.grid_points.as_flattened());
    out.u32s(&data.location_starts);
    out.u32s(&data.location_tets);
    out.u32s(data.node_cells.as_flattened());
    out.u32s(&data.tree_points);
    out.u32s(&data.tree_children);
    out.f32s(&data.tree_radii);
    out.f32s(data.point_normals.as_flattened());
    out.f32s(data.point_tangents.as_flattened());
    out.u8s(&data.tree_levels);
    out.u8s(&data.point_kinds);
    out.finish()
}

fn decode(bytes: &[u8]) -> Result<ObjectData<'_>, DecodeError> {
    let mut input = Decoder::new(bytes);
    let options = FieldOptions {
        location_cell: input.f32()?,
        occupancy_cell: input.f32()?,
        outer_surface_cell: input.f32()?,
        outer_surface_most_cells: input.u32()?,
        ..FieldOptions::default()
    };
    let touches_itself = input.u32()? != 0;
    let mut mass = [0.0; 13];
    for number in &mut mass {
        *number = input.f64()?;
    }
    // So that the list of u64 that follows can be read where it lies.
    let _ = input.u32()?;
    // Fields are read in the order in which they are written here.
    let data = ObjectData {
        options,
        touches_itself,
        mass,
        cells: flat(input.borrowed_u64s()?),
        surface_faces: flat(input.borrowed_u32s()?),
        feature_faces: flat(input.borrowed_u32s()?),
        feature_order: flat(input.borrowed_u32s()?),
        nodes: input.borrowed_f32s()?,
        node_features: flat(input.borrowed_u32s()?),
        grid_points: input.borrowed_u32s()?,
        location_starts: flat(input.borrowed_u32s()?),
        location_tets: flat(input.borrowed_u32s()?),
        node_cells: input.borrowed_u32s()?,
        tree_points: flat(input.borrowed_u32s()?),
        tree_children: flat(input.borrowed_u32s()?),
        tree_radii: flat(input.borrowed_f32s()?),
        point_normals: input.borrowed_f32s()?,
        point_tangents: input.borrowed_f32s()?,
        tree_levels: flat(input.borrowed_u8s()?),
        point_kinds: flat(input.borrowed_u8s()?),
    };
    input.finish()?;
    Ok(data)
}

/// Rows of one number as a list of numbers.
fn flat<T: Clone>(rows: Cow<'_, [[T; 1]]>) -> Cow<'_, [T]> {
    match rows {
        Cow::Borrowed(rows) => Cow::Borrowed(rows.as_flattened()),
        Cow::Owned(rows) => Cow::Owned(rows.into_flattened()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fracas_core::testing::box_grid;
    use glam::Vec3;

    #[test]
    fn what_was_baked_is_what_would_be_built() {
        let mesh = box_grid([5, 4, 3], Vec3::new(0.5, 0.4, 0.3));
        let mut asset = Asset::new("box", mesh);
        assert!(matches!(asset.object(), Err(ObjectError::Missing)));
        asset.add_object().unwrap();
        let bytes = asset.to_bytes();
        let read = Asset::from_bytes(&bytes).unwrap();
        assert_eq!(read, asset);
        let found = read.object().unwrap();
        let built = WholeObject::build(asset.shared_mesh(), &FieldOptions::default()).unwrap();
        assert_eq!(found.to_data(), built.to_data());
    }

    #[test]
    fn damage_is_noticed_and_lies_are_refused() {
        let mut asset = Asset::new("box", box_grid([3, 3, 2], Vec3::ONE));
        asset.add_object().unwrap();
        let content = asset.section(OBJECT).unwrap().to_vec();
        let bytes = asset.to_bytes();
        for k in 1..200 {
            let mut altered = bytes.clone();
            let at = k * altered.len() / 200;
            altered[at] ^= 1 << (k % 8);
            assert!(Asset::from_bytes(&altered).is_err(), "byte {at}");
        }
        // A section whose checksum is right but whose content is not.
        for k in 0..400 {
            let mut lie = content.clone();
            let at = k * lie.len() / 400;
            lie[at] ^= 0x80;
            asset.put_section(OBJECT, lie).unwrap();
            if let Ok(object) = asset.object() {
                object.field.validate(&object.fragments).unwrap();
            }
            asset.put_section(OBJECT, content[..at].to_vec()).unwrap();
            assert!(asset.object().is_err(), "cut at {at}");
        }
    }
}
