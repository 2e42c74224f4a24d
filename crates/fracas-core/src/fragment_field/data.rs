//! The field of an unbroken object as plain numbers, and back ([`ObjectData`]).
//!
//! Nodal distances, both grids, the cells around nodes and of the whole object, and the orders
//! of faces are kept. The boxes of faces are made anew, which is quick.
//!
//! **Guarantee**: data of [`FragmentField::to_data`] give the same field, bit for bit;
//! data that do not fit the mesh are refused.

use std::sync::OnceLock;

use glam::Vec3;

use super::face_tree::Bounds;
use super::feature::Features;
use super::locate::TetGrid;
use super::object_data::{ObjectData, ObjectDataError, has_length, is_order, misfit};
use super::occupancy::{FragmentCells, Occupancy};
use super::outer_surface::OuterSurface;
use super::own_faces::{OwnFaces, SurfaceTree};
use super::propagate::Node;
use super::{FragmentField, Parts, check};
use crate::fragment::Fragments;

impl FragmentField {
    /// The numbers of a field whose object is still whole; `None` once it has broken. What
    /// is not of the field is empty.
    #[must_use]
    #[cfg_attr(feature = "research", visibility::make(pub))]
    pub(crate) fn to_data(&self) -> Option<ObjectData<'static>> {
        let [Some(whole)] = &self.views[..] else {
            return None;
        };
        let nodes = self.nodes.iter();
        let ways = nodes
            .clone()
            .map(|n| [n.distance, n.normal.x, n.normal.y, n.normal.z]);
        Some(ObjectData {
            options: self.options,
            feature_faces: self.features.outer_faces().to_vec().into(),
            feature_order: whole.faces.order().into(),
            nodes: ways.collect(),
            node_features: nodes.map(|n| n.feature).collect(),
            grid_points: self.outer_surface.parts().into(),
            location_starts: self.tets.parts().0.to_vec().into(),
            location_tets: self.tets.parts().1.to_vec().into(),
            node_cells: self.occupancy.parts().into(),
            cells: whole
                .cells
                .get()
                .map_or(&[][..], FragmentCells::rows)
                .to_vec()
                .into(),
            ..ObjectData::default()
        })
    }

    /// The field of an unbroken object from its numbers. The features must be the
    /// boundary faces.
    pub(crate) fn from_data(
        fragments: &Fragments,
        data: &ObjectData<'_>,
    ) -> Result<Self, ObjectDataError> {
        let options = &data.options;
        check(fragments, options)?;
        let mesh = fragments.mesh();
        let features = Features::known(mesh, (*data.feature_faces).into());
        has_length(
            "the features",
            data.feature_order.len(),
            features.outer_count(),
        )?;
        is_order("the features of the tree", &data.feature_order)?;
        let nodes = nodes_of(data, mesh.positions().len(), features.outer_count())?;
        let edge = mesh.mean_edge_length();
        let outer_surface = OuterSurface::from_parts(
            mesh,
            &features,
            (
                options.outer_surface_cell * edge,
                options.outer_surface_most_cells,
            ),
            &data.grid_points,
        )?;
        let location = (&*data.location_starts, &*data.location_tets);
        let cell = options.occupancy_cell * edge;
        let occupancy = Occupancy::from_parts(mesh, cell, &data.node_cells)?;
        let (low, high) = mesh.bounds();
        let cells = occupancy.of_rows(&Bounds { low, high }, &data.cells)?;
        let parts = Parts {
            nodes,
            tets: TetGrid::from_parts(mesh, options.location_cell * edge, location)?,
            outer_surface,
            occupancy,
            faces: OwnFaces::of_whole(SurfaceTree::of_whole(&features, mesh, &data.feature_order)),
            cells: OnceLock::from(cells),
            features,
        };
        Ok(Self::assemble(fragments, options, parts))
    }
}

/// What the nodes know, of so many nodes and features.
fn nodes_of(
    data: &ObjectData<'_>,
    count: usize,
    features: usize,
) -> Result<Vec<Node>, ObjectDataError> {
    let list = "the nodal distances";
    has_length(list, data.nodes.len(), count)?;
    has_length(list, data.node_features.len(), count)?;
    let mut nodes = Vec::with_capacity(count);
    let values = data.nodes.iter().zip(&*data.node_features).enumerate();
    for (i, (&[distance, x, y, z], &feature)) in values {
        let normal = Vec3::new(x, y, z);
        let is_unit = (normal.length() - 1.0).abs() <= 1e-3;
        let is_distance = distance >= 0.0 && distance.is_finite();
        if !(is_unit && is_distance && (feature as usize) < features) {
            return Err(misfit(list, i));
        }
        nodes.push(Node {
            distance,
            normal,
            feature,
        });
    }
    Ok(nodes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Rng, box_grid};
    use crate::{FieldOptions, FragmentId};
    use std::sync::Arc;

    #[test]
    fn numbers_give_the_same_field_and_wrong_ones_are_refused() {
        let fragments = Fragments::new(Arc::new(box_grid([4, 3, 5], Vec3::new(4.0, 3.0, 5.0))));
        let field = FragmentField::build(&fragments, &FieldOptions::default()).unwrap();
        let data = field.to_data().unwrap();
        let again = FragmentField::from_data(&fragments, &data).unwrap();
        assert_eq!(again.to_data().unwrap(), data);
        let mut rng = Rng(4);
        let [one, two] = [&field, &again].map(|f| f.of(&fragments, FragmentId(0)));
        for _ in 0..500 {
            let p = rng.in_box(Vec3::splat(-1.0), Vec3::splat(6.0));
            assert_eq!(one.signed_distance(p, 2.0), two.signed_distance(p, 2.0));
        }
        let count = fragments.mesh().tets().len() as u32;
        let (cells, nodes) = (data.location_starts.len(), data.nodes.len());
        type Spoil<'a> = &'a dyn Fn(&mut ObjectData<'static>);
        let grid = "the points of the surface's grid";
        let location = "the tetrahedra of point location";
        let starts = "the cells of point location";
        let around = "the cells around nodes";
        let near = "the nodal distances";
        let spoilt: [(Spoil<'_>, &str, usize); 17] = [
            (&|d| d.nodes.to_mut()[7][0] = f32::NAN, near, 7),
            (&|d| d.node_features.to_mut()[3] = 9999, near, 3),
            (&|d| d.nodes.to_mut().truncate(nodes - 1), near, nodes - 1),
            (&|d| d.grid_points.to_mut()[0][1] = 9999, grid, 0),
            (&|d| d.grid_points.to_mut()[5][2] = u32::MAX, grid, 5),
            (
                &|d| d.grid_points.to_mut()[6][0] = f32::INFINITY.to_bits(),
                grid,
                6,
            ),
            (&|d| d.grid_points.to_mut().truncate(3), grid, 3),
            (&|d| d.location_tets.to_mut()[9] = count, location, 9),
            (&|d| d.location_tets.to_mut().truncate(2), location, 2),
            (&|d| d.location_starts.to_mut()[1] = u32::MAX, starts, 2),
            (&|d| d.location_starts.to_mut()[0] = 1, starts, 0),
            (
                &|d| d.location_starts.to_mut().truncate(cells - 1),
                starts,
                cells - 1,
            ),
            (&|d| d.node_cells.to_mut()[2][1] = 64, around, 2),
            (&|d| d.node_cells.to_mut()[2] = [5, 4], around, 2),
            (&|d| d.node_cells.to_mut()[2][0] |= 1 << 24, around, 2),
            (
                &|d| d.cells.to_mut().truncate(4),
                "the cells of the object",
                4,
            ),
            (
                &|d| d.feature_order.to_mut()[8] = d.feature_order[1],
                "the features of the tree",
                8,
            ),
        ];
        for (spoil, list, place) in spoilt {
            let mut data = data.clone();
            spoil(&mut data);
            let refused = FragmentField::from_data(&fragments, &data).unwrap_err();
            assert_eq!(refused, misfit(list, place));
        }
    }
}
