//! The field of an unbroken object as plain numbers: what takes long to compute of it.
//!
//! Nodal distances, both grids and the cells around nodes are kept; features and the
//! whole object's own faces and cells are made anew, which is quick.
//!
//! **Guarantee**: data of [`FragmentField::to_data`] give the same field, bit for bit;
//! data that do not fit the mesh are refused.

use glam::Vec3;
use thiserror::Error;

use super::feature::Features;
use super::locate::TetGrid;
use super::occupancy::Occupancy;
use super::old_surface::OldSurface;
use super::propagate::Node;
use super::{BuildError, FieldOptions, FragmentField, Parts, check};
use crate::fragment::Fragments;

/// What takes long to compute of a field, as lists of numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FieldData {
    /// Per node: its distance to the surface, and the unit way there.
    pub nodes: Vec<[f32; 4]>,
    /// Per node: what it is closest to.
    pub node_features: Vec<u32>,
    /// Per grid point: its distance to the surface, negative inside.
    pub grid_distances: Vec<f32>,
    /// Per grid point: the boundary face it is closest to.
    pub grid_faces: Vec<u32>,
    /// Per grid point: a tetrahedron that holds it, or is close.
    pub grid_tets: Vec<u32>,
    /// Per cell of point location, and at the end: where its tetrahedra begin in the list.
    pub location_starts: Vec<u32>,
    /// The tetrahedra that reach into each cell.
    pub location_tets: Vec<u32>,
    /// Per node: the first and the last of the occupancy cells around it, x + 2⁸ y + 2¹⁶ z.
    pub node_cells: Vec<[u32; 2]>,
}

/// Why numbers are not the field of a mesh.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum FieldDataError {
    /// The object or the options allow no field.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// Not one entry per node, or values that cannot be.
    #[error("the nodal distances are not those of the mesh (first difference at node {0})")]
    Nodes(usize),
    /// Not one entry per grid point, or values that cannot be.
    #[error("the grid of the surface's distance is not that of the mesh and options")]
    Grid,
    /// The lists of tetrahedra by cells, or values that cannot be.
    #[error("the grid of tetrahedra is not that of the mesh and options")]
    Location,
    /// Not one entry per node, or cells that the grid does not have.
    #[error("the cells around nodes are not those of the mesh and options")]
    Cells,
}

impl FragmentField {
    /// The numbers of a field whose object is still whole; `None` once it has broken.
    #[must_use]
    pub fn to_data(&self) -> Option<FieldData> {
        if self.views.len() != 1 {
            return None;
        }
        let (grid_distances, grid_faces, grid_tets) = self.old_surface.parts();
        let nodes = self.nodes.iter();
        Some(FieldData {
            nodes: nodes
                .clone()
                .map(|n| [n.distance, n.normal.x, n.normal.y, n.normal.z])
                .collect(),
            node_features: nodes.map(|n| n.feature).collect(),
            grid_distances,
            grid_faces,
            grid_tets,
            location_starts: self.tets.parts().0.to_vec(),
            location_tets: self.tets.parts().1.to_vec(),
            node_cells: self.occupancy.parts(),
        })
    }

    /// The field of an unbroken object from its numbers.
    ///
    /// # Errors
    /// See [`FieldDataError`].
    pub fn from_data(
        fragments: &Fragments,
        options: &FieldOptions,
        data: &FieldData,
    ) -> Result<Self, FieldDataError> {
        check(fragments, options)?;
        let mesh = fragments.mesh();
        let features = Features::new(mesh);
        let count = mesh.positions().len();
        if data.nodes.len() != count || data.node_features.len() != count {
            let first = count.min(data.nodes.len()).min(data.node_features.len());
            return Err(FieldDataError::Nodes(first));
        }
        let mut nodes = Vec::with_capacity(count);
        let values = data.nodes.iter().zip(&data.node_features).enumerate();
        for (i, (&[distance, x, y, z], &feature)) in values {
            let normal = Vec3::new(x, y, z);
            let is_unit = (normal.length() - 1.0).abs() <= 1e-3;
            let is_distance = distance >= 0.0 && distance.is_finite();
            if !(is_unit && is_distance && (feature as usize) < features.old_count()) {
                return Err(FieldDataError::Nodes(i));
            }
            nodes.push(Node {
                distance,
                normal,
                feature,
            });
        }
        let edge = mesh.mean_edge_length();
        let old_surface = OldSurface::from_parts(
            mesh,
            &features,
            (
                options.old_surface_cell * edge,
                options.old_surface_most_cells,
            ),
            (&data.grid_distances, &data.grid_faces, &data.grid_tets),
        );
        let old_surface = old_surface.ok_or(FieldDataError::Grid)?;
        let tets = TetGrid::from_parts(
            mesh,
            options.location_cell * edge,
            (&data.location_starts, &data.location_tets),
        );
        let occupancy =
            Occupancy::from_parts(mesh, options.occupancy_cell * edge, &data.node_cells);
        let parts = Parts {
            nodes,
            features,
            tets: tets.ok_or(FieldDataError::Location)?,
            old_surface,
            occupancy: occupancy.ok_or(FieldDataError::Cells)?,
        };
        Ok(Self::assemble(fragments, options, parts))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FragmentId;
    use crate::testing::{Rng, box_grid};
    use std::sync::Arc;

    #[test]
    fn numbers_give_the_same_field_and_wrong_ones_are_refused() {
        let fragments = Fragments::new(Arc::new(box_grid([4, 3, 5], Vec3::new(4.0, 3.0, 5.0))));
        let options = FieldOptions::default();
        let field = FragmentField::build(&fragments, &options).unwrap();
        let data = field.to_data().unwrap();
        let again = FragmentField::from_data(&fragments, &options, &data).unwrap();
        assert_eq!(again.to_data().unwrap(), data);
        let mut rng = Rng(4);
        let [one, two] = [&field, &again].map(|f| f.of(&fragments, FragmentId(0)));
        for _ in 0..500 {
            let p = rng.in_box(Vec3::splat(-1.0), Vec3::splat(6.0));
            assert_eq!(one.signed_distance(p, 2.0), two.signed_distance(p, 2.0));
        }
        let spoilt = |spoil: &dyn Fn(&mut FieldData)| {
            let mut data = data.clone();
            spoil(&mut data);
            FragmentField::from_data(&fragments, &options, &data).unwrap_err()
        };
        assert_eq!(
            spoilt(&|d| d.nodes[7][0] = f32::NAN),
            FieldDataError::Nodes(7)
        );
        assert_eq!(
            spoilt(&|d| d.node_features[3] = 9999),
            FieldDataError::Nodes(3)
        );
        assert_eq!(
            spoilt(&|d| d.nodes.truncate(data.nodes.len() - 1)),
            FieldDataError::Nodes(data.nodes.len() - 1)
        );
        assert_eq!(spoilt(&|d| d.grid_faces[0] = 9999), FieldDataError::Grid);
        assert_eq!(spoilt(&|d| d.grid_tets[5] = u32::MAX), FieldDataError::Grid);
        assert_eq!(
            spoilt(&|d| d.grid_distances.truncate(3)),
            FieldDataError::Grid
        );
        let count = fragments.mesh().tets().len() as u32;
        let spoil_location: [&dyn Fn(&mut FieldData); 5] = [
            &|d| d.location_tets[9] = count,
            &|d| d.location_starts[1] = u32::MAX,
            &|d| d.location_starts[0] = 1,
            &|d| d.location_starts.truncate(2),
            &|d| d.location_tets.truncate(2),
        ];
        for spoil in spoil_location {
            assert_eq!(spoilt(spoil), FieldDataError::Location);
        }
        let spoil_cells: [&dyn Fn(&mut FieldData); 4] = [
            &|d| d.node_cells[2][1] = 64,
            &|d| d.node_cells[2] = [5, 4],
            &|d| d.node_cells[2][0] |= 1 << 24,
            &|d| d.node_cells.truncate(1),
        ];
        for spoil in spoil_cells {
            assert_eq!(spoilt(spoil), FieldDataError::Cells);
        }
    }
}
