//! The section `OBJ2`: field and sphere tree of the unbroken object, so that loading it
//! computes neither.
//!
//! | bytes | what |
//! | --- | --- |
//! | 4 x 3, 4 | cells of location, occupancy and old surface in mean edges (f32), most cells (u32) |
//! | list | per node: distance, way to the surface x y z (f32) |
//! | list | per node: the feature it is closest to (u32) |
//! | 3 lists | per grid point: distance (f32), face (u32), tetrahedron (u32) |
//! | 2 lists | per cell of point location: where its tetrahedra begin; these (u32) |
//! | list | per node: first and last of the cells around it, packed (u32) |
//! | 2 lists | the nodes in maximum-distance order, and their parents' places (u32) |
//!
//! Nothing in it is trusted: what does not fit the mesh is refused.

use fracas_core::fragment_field::{FieldData, FieldDataError};
use fracas_core::sphere_tree::{BuildError, maximum_distance_order};
use fracas_core::{FieldOptions, FragmentField, Fragments, SphereTree};
use thiserror::Error;

use super::{Asset, DecodeError, Decoder, Encoder, SectionTag, whole};

/// Where field and tree are in an asset.
pub const OBJECT: SectionTag = SectionTag(*b"OBJ2");

/// An unbroken object, ready: what `fracas_rapier::Blueprint::of_parts` takes
/// (`Blueprint::of_asset` does all of it).
#[derive(Clone, Debug)]
pub struct BakedObject {
    /// Its fragments: one.
    pub fragments: Fragments,
    /// Its distance field.
    pub field: FragmentField,
    /// Its sphere tree.
    pub tree: SphereTree,
}

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
    /// The field in it is not one of the asset's mesh.
    #[error("section {OBJECT} of the asset: {0}")]
    Field(#[from] FieldDataError),
    /// The tree in it is not one of the asset's mesh.
    #[error("section {OBJECT} of the asset: {0}")]
    Tree(#[from] BuildError),
}

impl Asset {
    /// Computes field and tree and adds them.
    ///
    /// # Errors
    /// When the mesh has no field.
    pub fn add_object(&mut self) -> Result<(), ObjectError> {
        let options = FieldOptions::default();
        let fragments = Fragments::new(self.mesh.clone());
        let field = FragmentField::build(&fragments, &options).map_err(FieldDataError::from)?;
        let data = field.to_data().unwrap_or_default();
        let order = maximum_distance_order(self.mesh.positions());
        let mut out = Encoder::new();
        out.f32(options.location_cell);
        out.f32(options.occupancy_cell);
        out.f32(options.old_surface_cell);
        out.u32(options.old_surface_most_cells);
        out.f32s(data.nodes.as_flattened());
        out.u32s(&data.node_features);
        out.f32s(&data.grid_distances);
        out.u32s(&data.grid_faces);
        out.u32s(&data.grid_tets);
        out.u32s(&data.location_starts);
        out.u32s(&data.location_tets);
        out.u32s(data.node_cells.as_flattened());
        out.u32s(&order.points);
        out.u32s(&order.parents);
        self.sections.insert(OBJECT, out.finish());
        Ok(())
    }

    /// The object with the field and the tree that were baked.
    ///
    /// # Errors
    /// See [`ObjectError`].
    pub fn object(&self) -> Result<BakedObject, ObjectError> {
        let bytes = self.section(OBJECT).ok_or(ObjectError::Missing)?;
        let mut input = Decoder::new(bytes);
        let options = FieldOptions {
            location_cell: input.f32()?,
            occupancy_cell: input.f32()?,
            old_surface_cell: input.f32()?,
            old_surface_most_cells: input.u32()?,
            ..FieldOptions::default()
        };
        let nodes = input.f32s()?;
        let (nodes, rest) = nodes.as_chunks::<4>();
        whole(rest.len(), bytes.len())?;
        let mut data = FieldData {
            nodes: nodes.to_vec(),
            node_features: input.u32s()?,
            grid_distances: input.f32s()?,
            grid_faces: input.u32s()?,
            grid_tets: input.u32s()?,
            location_starts: input.u32s()?,
            location_tets: input.u32s()?,
            node_cells: Vec::new(),
        };
        let node_cells = input.u32s()?;
        let (node_cells, rest) = node_cells.as_chunks::<2>();
        whole(rest.len(), bytes.len())?;
        data.node_cells = node_cells.to_vec();
        let (points, parents) = (input.u32s()?, input.u32s()?);
        input.finish()?;
        let fragments = Fragments::new(self.mesh.clone());
        let field = FragmentField::from_data(&fragments, &options, &data)?;
        let tree = SphereTree::build_in_order(&self.mesh, &points, &parents)?;
        Ok(BakedObject {
            fragments,
            field,
            tree,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fracas_core::sphere_tree::BuildOptions;
    use fracas_core::testing::box_grid;
    use glam::Vec3;

    #[test]
    fn what_was_baked_is_what_would_be_built() {
        let mesh = box_grid([5, 4, 3], Vec3::new(0.5, 0.4, 0.3));
        let mut asset = Asset::new("box", mesh.clone());
        assert!(matches!(asset.object(), Err(ObjectError::Missing)));
        asset.add_object().unwrap();
        let bytes = asset.to_bytes();
        let read = Asset::from_bytes(&bytes).unwrap();
        assert_eq!(read, asset);
        let found = read.object().unwrap();
        let built = SphereTree::build(&mesh, &BuildOptions::default()).unwrap();
        assert!(found.tree.spheres().eq(built.spheres()));
        assert_eq!(found.tree.positions(), built.positions());
        for i in 0..built.point_count() as u32 {
            assert_eq!(found.tree.point_id(i), built.point_id(i));
            assert_eq!(found.tree.feature(i).normal, built.feature(i).normal);
        }
        let field = FragmentField::build(&found.fragments, &FieldOptions::default()).unwrap();
        assert_eq!(found.field.to_data(), field.to_data());
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
