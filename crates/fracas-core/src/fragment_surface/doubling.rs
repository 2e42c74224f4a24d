//! Makes a surface 2-manifold where the object touches itself in an edge or a
//! point, by giving each fan of triangles its own vertex.
//!
//! Steps: pair the triangles at every edge -> triangles paired at an edge belong
//! to one fan at both its ends -> the second and later fans of a vertex get a copy
//! of it.
//!
//! Where more than two triangles meet in an edge, those that bound the same wedge
//! of the solid belong together; the wedge is walked through, tetrahedron by
//! tetrahedron. Only edges of the mesh can be like that (see the module above).

use crate::tet_mesh::{NONE, TetMesh};

use super::FragmentSurface;
use crate::triangle_fans::{EdgeSide, fans, pair_up};

impl FragmentSurface {
    /// Gives every fan its own vertex.
    pub(super) fn double_vertices(&mut self, mesh: &TetMesh) {
        let fans = fans(&self.triangles, |[low, high], group| {
            let mut nodes: Vec<u32> = self.names[low as usize]
                .into_iter()
                .chain(self.names[high as usize])
                .filter(|&n| n != NONE)
                .collect();
            nodes.sort_unstable();
            nodes.dedup();
            match nodes[..] {
                [a, b] => self.pair_by_wedge(mesh, [a, b], group),
                _ => pair_up(group),
            }
        });
        let mut first_fan = vec![NONE; self.positions.len()];
        let mut copy_of_fan = vec![NONE; fans.len()];
        for (corner, &fan) in fans.iter().enumerate() {
            let v = self.triangles[corner / 3][corner % 3] as usize;
            if first_fan[v] == NONE || first_fan[v] == fan {
                first_fan[v] = fan;
                continue;
            }
            if copy_of_fan[fan as usize] == NONE {
                copy_of_fan[fan as usize] = self.positions.len() as u32;
                self.positions.push(self.positions[v]);
                self.names.push(self.names[v]);
            }
            self.triangles[corner / 3][corner % 3] = copy_of_fan[fan as usize];
        }
    }

    fn pair_by_wedge(&self, mesh: &TetMesh, edge: [u32; 2], group: &[EdgeSide]) -> Vec<[usize; 2]> {
        let mut pairs = Vec::new();
        for (i, side) in group.iter().enumerate() {
            let triangle = side.triangle() as usize;
            if triangle >= self.outer_triangles {
                return pair_up(group);
            }
            let end = across_wedge(mesh, edge, self.tet(triangle), self.side(triangle));
            let partner = group.iter().position(|other| {
                let t = other.triangle() as usize;
                t < self.outer_triangles && (self.tet(t), self.side(t)) == end
            });
            match partner {
                Some(j) if j > i => pairs.push([i, j]),
                Some(_) => {}
                None => return pair_up(group),
            }
        }
        pairs
    }
}

/// From a boundary face at an edge, through all tetrahedra around the edge, to the
/// boundary face on the other side of the solid.
fn across_wedge(mesh: &TetMesh, edge: [u32; 2], mut tet: u32, mut face: u8) -> (u32, u8) {
    loop {
        let nodes = mesh.tets()[tet as usize];
        let other = (0..4_u8).find(|&k| k != face && !edge.contains(&nodes[k as usize]));
        let Some(other) = other else {
            return (tet, face);
        };
        let next = mesh.neighbours()[tet as usize][other as usize];
        if next == NONE {
            return (tet, other);
        }
        let back = mesh.neighbours()[next as usize]
            .iter()
            .position(|&t| t == tet);
        face = back.map_or(0, |k| k as u8);
        tet = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::box_grid;
    use crate::{FragmentId, Fragments, SurfaceScratch};
    use glam::Vec3;
    use std::sync::Arc;

    /// A grid of cubes from which the tetrahedra of some cubes are taken away.
    fn without(cells: [u32; 3], gone: impl Fn(Vec3) -> bool) -> TetMesh {
        let size = Vec3::new(cells[0] as f32, cells[1] as f32, cells[2] as f32);
        let mesh = box_grid(cells, size);
        let kept: Vec<[u32; 4]> = (0..mesh.tets().len() as u32)
            .filter(|&t| !gone((mesh.corners(t).iter().sum::<Vec3>() * 0.25).floor()))
            .map(|t| mesh.tets()[t as usize])
            .collect();
        let mut index = vec![NONE; mesh.positions().len()];
        let mut positions = Vec::new();
        let kept: Vec<[u32; 4]> = kept
            .iter()
            .map(|tet| {
                tet.map(|n| {
                    if index[n as usize] == NONE {
                        index[n as usize] = positions.len() as u32;
                        positions.push(mesh.positions()[n as usize]);
                    }
                    index[n as usize]
                })
            })
            .collect();
        TetMesh::build(positions, kept).unwrap()
    }

    fn check(mesh: TetMesh, doubled: usize) {
        let boundary = mesh.boundary_nodes().iter().filter(|&&b| b).count();
        let fragments = Fragments::new(Arc::new(mesh));
        assert!(fragments.touches_itself());
        let surface =
            FragmentSurface::extract(&fragments, FragmentId(0), &mut SurfaceScratch::default());
        surface.validate().unwrap();
        assert_eq!(surface.positions().len(), boundary + doubled);
    }

    #[test]
    fn cubes_that_meet_in_an_edge_get_their_own_vertices_there() {
        // Two opposite cubes of a two by two square, held together by a slab below.
        let diagonal = |c: Vec3| c.z > 0.5 && (c.x > 0.5) == (c.y > 0.5);
        // The edge runs from the slab (where nothing is doubled) to the top.
        check(without([2, 2, 2], diagonal), 1);
    }

    #[test]
    fn cubes_that_meet_in_a_point_get_their_own_vertices_there() {
        // Opposite corners of a cube of eight, joined by a frame around it.
        let hole = |c: Vec3| {
            let inner = |x: f32| x > 0.5 && x < 2.5;
            inner(c.x) && inner(c.y) && inner(c.z) && c != Vec3::ONE && c != Vec3::splat(2.0)
        };
        check(without([4, 4, 4], hole), 1);
    }

    #[test]
    fn a_plain_box_needs_nothing() {
        assert!(!crate::triangle_fans::touches_itself(&box_grid(
            [2, 3, 2],
            Vec3::ONE
        )));
    }
}
