//! The field of an unbroken object as plain numbers, and back ([`ObjectData`]).
//!
//! Nodal distances, both grids, the cells around nodes and the orders of faces are kept. The
//! boxes of faces and the whole object's own cells are made anew, which is quick.
//!
//! **Guarantee**: data of [`FragmentField::to_data`] give the same field, bit for bit;
//! data that do not fit the mesh are refused.

use glam::Vec3;

use super::feature::Features;
use super::locate::TetGrid;
use super::occupancy::Occupancy;
use super::old_surface::OldSurface;
use super::own_faces::{OwnFaces, SurfaceTree};
use super::propagate::Node;
use super::{FragmentField, Parts, check};
use crate::fragment::Fragments;
use crate::object_data::{ObjectData, ObjectDataError, has_length, is_order, misfit};

impl FragmentField {
    /// The numbers of a field whose object is still whole; `None` once it has broken. What
    /// is not of the field is empty.
    #[must_use]
    #[cfg_attr(feature = "research", visibility::make(pub))]
    pub(crate) fn to_data(&self) -> Option<ObjectData> {
        let [Some(whole)] = &self.views[..] else {
            return None;
        };
        let (grid_distances, grid_faces, grid_tets) = self.old_surface.parts();
        let nodes = self.nodes.iter();
        Some(ObjectData {
            options: self.options,
            feature_faces: self.features.old_faces().to_vec(),
            feature_order: whole.faces.order(),
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
            ..ObjectData::default()
        })
    }

    /// The field of an unbroken object from its numbers, some of which are taken. The
    /// features must be the boundary faces.
    pub(crate) fn from_data(
        fragments: &Fragments,
        data: &mut ObjectData,
    ) -> Result<Self, ObjectDataError> {
        let options = &data.options;
        check(fragments, options)?;
        let mesh = fragments.mesh();
        let features = Features::known(mesh, data.feature_faces.as_slice().into());
        has_length(
            "the features",
            data.feature_order.len(),
            features.old_count(),
        )?;
        is_order("the features of the tree", &data.feature_order)?;
        let nodes = nodes_of(data, mesh.positions().len(), features.old_count())?;
        let edge = mesh.mean_edge_length();
        let old_surface = OldSurface::from_parts(
            mesh,
            &features,
            (
                options.old_surface_cell * edge,
                options.old_surface_most_cells,
            ),
            (&data.grid_distances, &data.grid_faces, &data.grid_tets),
        )?;
        let (starts, tets) = (&mut data.location_starts, &mut data.location_tets);
        let location = (std::mem::take(starts), std::mem::take(tets));
        let parts = Parts {
            nodes,
            tets: TetGrid::from_parts(mesh, options.location_cell * edge, location)?,
            old_surface,
            occupancy: Occupancy::from_parts(
                mesh,
                options.occupancy_cell * edge,
                &data.node_cells,
            )?,
            faces: OwnFaces::of_whole(SurfaceTree::of_whole(&features, mesh, &data.feature_order)),
            features,
        };
        Ok(Self::assemble(fragments, options, parts))
    }
}

/// What the nodes know, of so many nodes and features.
fn nodes_of(
    data: &ObjectData,
    count: usize,
    features: usize,
) -> Result<Vec<Node>, ObjectDataError> {
    let list = "the nodal distances";
    has_length(list, data.nodes.len(), count)?;
    has_length(list, data.node_features.len(), count)?;
    let mut nodes = Vec::with_capacity(count);
    let values = data.nodes.iter().zip(&data.node_features).enumerate();
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
        let again = FragmentField::from_data(&fragments, &mut data.clone()).unwrap();
        assert_eq!(again.to_data().unwrap(), data);
        let mut rng = Rng(4);
        let [one, two] = [&field, &again].map(|f| f.of(&fragments, FragmentId(0)));
        for _ in 0..500 {
            let p = rng.in_box(Vec3::splat(-1.0), Vec3::splat(6.0));
            assert_eq!(one.signed_distance(p, 2.0), two.signed_distance(p, 2.0));
        }
        let count = fragments.mesh().tets().len() as u32;
        let (cells, nodes) = (data.location_starts.len(), data.nodes.len());
        type Spoil<'a> = &'a dyn Fn(&mut ObjectData);
        let spoilt: [(Spoil<'_>, &str, usize); 16] = [
            (&|d| d.nodes[7][0] = f32::NAN, "the nodal distances", 7),
            (&|d| d.node_features[3] = 9999, "the nodal distances", 3),
            (
                &|d| d.nodes.truncate(nodes - 1),
                "the nodal distances",
                nodes - 1,
            ),
            (
                &|d| d.grid_faces[0] = 9999,
                "the faces of the surface's grid",
                0,
            ),
            (
                &|d| d.grid_tets[5] = u32::MAX,
                "the tetrahedra of the surface's grid",
                5,
            ),
            (
                &|d| d.grid_distances[6] = f32::INFINITY,
                "the distances of the surface's grid",
                6,
            ),
            (
                &|d| d.grid_distances.truncate(3),
                "the points of the surface's grid",
                3,
            ),
            (
                &|d| d.location_tets[9] = count,
                "the tetrahedra of point location",
                9,
            ),
            (
                &|d| d.location_starts[1] = u32::MAX,
                "the cells of point location",
                2,
            ),
            (
                &|d| d.location_starts[0] = 1,
                "the cells of point location",
                0,
            ),
            (
                &|d| d.location_starts.truncate(cells - 1),
                "the cells of point location",
                cells - 1,
            ),
            (
                &|d| d.location_tets.truncate(2),
                "the tetrahedra of point location",
                2,
            ),
            (&|d| d.node_cells[2][1] = 64, "the cells around nodes", 2),
            (&|d| d.node_cells[2] = [5, 4], "the cells around nodes", 2),
            (
                &|d| d.node_cells[2][0] |= 1 << 24,
                "the cells around nodes",
                2,
            ),
            (
                &|d| d.feature_order[8] = d.feature_order[1],
                "the features of the tree",
                8,
            ),
        ];
        for (spoil, list, place) in spoilt {
            let mut data = data.clone();
            spoil(&mut data);
            let refused = FragmentField::from_data(&fragments, &mut data).unwrap_err();
            assert_eq!(refused, misfit(list, place));
        }
    }
}
