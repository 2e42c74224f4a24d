//! The pieces of surface that a node can be closest to: triangles of the unbroken
//! object, and crack polygons as they were when the crack opened.
//!
//! A later crack can take away part of an older crack's polygon, which then is
//! larger than the fragment's real surface. It still holds no point *inside* the
//! fragment, and a straight way from inside the fragment to any point that is not
//! inside must cross its surface: so the distance to a feature is never below the
//! exact distance, whatever has broken since.

use glam::Vec3;

use crate::cut_piece::{CornerPoints, Piece, Side};
use crate::fragment::{Fragments, TetCut};
use crate::primitives::point_triangle::{to_quad, to_triangle};
use crate::tet_mesh::{NONE, TET_FACES, TetMesh};

/// Names a feature: boundary faces in the order of [`TetMesh::boundary`], then
/// crack polygons in the order in which they opened.
pub(super) type FeatureId = u32;

/// All features of one object.
#[derive(Clone, Debug)]
pub(super) struct Features {
    /// Of each boundary face, four times the tetrahedron plus the local face.
    old: Vec<u32>,
    /// Flat, convex, the normal pointing to the side of positive levels; a
    /// triangle has its last corner twice.
    cracks: Vec<[Vec3; 4]>,
    /// By index of the cut, the feature of each of its planes.
    of_cut: Vec<[FeatureId; 3]>,
}

impl Features {
    /// The features of an unbroken object.
    pub(super) fn new(mesh: &TetMesh) -> Self {
        Self {
            old: mesh
                .boundary()
                .map(|face| face.tet * 4 + u32::from(face.face))
                .collect(),
            cracks: Vec::new(),
            of_cut: Vec::new(),
        }
    }

    /// How many boundary faces there are.
    pub(super) fn old_count(&self) -> usize {
        self.old.len()
    }

    /// The corners of a boundary face, counter-clockwise seen from outside.
    #[inline]
    pub(super) fn old_corners(&self, mesh: &TetMesh, at: usize) -> [Vec3; 3] {
        let origin = self.old[at];
        let nodes = mesh.tets()[(origin / 4) as usize];
        let [i, j, k] = TET_FACES[(origin % 4) as usize];
        let at = mesh.positions();
        [
            at[nodes[i] as usize],
            at[nodes[j] as usize],
            at[nodes[k] as usize],
        ]
    }

    /// The feature of a boundary face.
    pub(super) fn old_feature(&self, tet: u32, face: u8) -> FeatureId {
        let origin = tet * 4 + u32::from(face);
        self.old.binary_search(&origin).map_or(NONE, |at| at as u32)
    }

    /// From `p` to the closest point of a feature.
    #[inline]
    pub(super) fn to(&self, mesh: &TetMesh, feature: FeatureId, p: Vec3) -> Vec3 {
        let at = feature as usize;
        match at.checked_sub(self.old.len()) {
            None => to_triangle(p, self.old_corners(mesh, at)),
            Some(crack) => to_quad(p, self.cracks[crack]),
        }
    }

    /// The unit normal of a feature: outward if old, toward positive levels if a crack.
    pub(super) fn normal(&self, mesh: &TetMesh, feature: FeatureId) -> Vec3 {
        let at = feature as usize;
        match at.checked_sub(self.old.len()) {
            None => {
                let [a, b, c] = self.old_corners(mesh, at);
                (b - a).cross(c - a).normalize_or_zero()
            }
            Some(crack) => quad_normal(&self.cracks[crack]),
        }
    }

    /// The polygon of a crack feature.
    pub(super) fn crack(&self, feature: FeatureId) -> &[Vec3; 4] {
        &self.cracks[feature as usize - self.old.len()]
    }

    /// The features of the planes of a cut.
    #[inline]
    pub(super) fn of_cut(&self, cut: u32) -> &[FeatureId; 3] {
        &self.of_cut[cut as usize]
    }

    /// Adds polygons for the planes that a tetrahedron has gained since it was last
    /// seen; returns the index of the first new plane.
    pub(super) fn add_planes(&mut self, fragments: &Fragments, tet: u32) -> usize {
        let index = fragments.cut_index(tet) as usize;
        let Some(cut) = fragments.cut(tet) else {
            return 0;
        };
        if index >= self.of_cut.len() {
            self.of_cut.resize(index + 1, [NONE; 3]);
        }
        let known = self.of_cut[index]
            .iter()
            .take_while(|&&f| f != NONE)
            .count();
        for k in known..cut.planes().len() {
            self.of_cut[index][k] = (self.old.len() + self.cracks.len()) as u32;
            let quad = if k == 0 {
                first_plane(fragments.mesh(), tet, &cut.planes()[0])
            } else {
                later_plane(fragments.mesh(), tet, cut, k)
            };
            self.cracks.push(quad);
        }
        known
    }

    pub(super) fn bytes(&self) -> usize {
        self.old.len() * 4 + self.cracks.len() * 48 + self.of_cut.len() * 12
    }
}

pub(super) fn quad_normal([a, b, c, d]: &[Vec3; 4]) -> Vec3 {
    (*c - *a).cross(*d - *b).normalize_or_zero()
}

/// The polygon of the first plane of a tetrahedron: all four nodes have a level.
fn first_plane(mesh: &TetMesh, tet: u32, plane: &[f32; 4]) -> [Vec3; 4] {
    let corners = mesh.corners(tet);
    let nodes = mesh.tets()[tet as usize];
    let cut = |i: usize, j: usize| {
        // From the lower index to the higher, so that neighbours agree.
        let (i, j) = if nodes[i] < nodes[j] { (i, j) } else { (j, i) };
        let (s, t) = (f64::from(plane[i]), f64::from(plane[j]));
        corners[i] + (corners[j] - corners[i]) * (s / (s - t)) as f32
    };
    let positive = (0..4).fold(0_usize, |mask, i| mask | usize::from(plane[i] > 0.0) << i);
    // By the mask of positive nodes: a lone node and its face, or two and two.
    // Seen from the positive side, counter-clockwise.
    let lone = |i: usize, flip: bool| {
        let [j, k, l] = TET_FACES[i];
        let [x, y, z] = [cut(i, j), cut(i, k), cut(i, l)];
        if flip { [x, z, y, y] } else { [x, y, z, z] }
    };
    // Nodes i, j positive and k, l negative, (i, j, k, l) an even permutation.
    let pair =
        |i: usize, j: usize, k: usize, l: usize| [cut(i, k), cut(j, k), cut(j, l), cut(i, l)];
    match positive {
        0b0001 => lone(0, true),
        0b0010 => lone(1, true),
        0b0100 => lone(2, true),
        0b1000 => lone(3, true),
        0b1110 => lone(0, false),
        0b1101 => lone(1, false),
        0b1011 => lone(2, false),
        0b0111 => lone(3, false),
        0b0011 => pair(0, 1, 2, 3),
        0b0101 => pair(0, 2, 3, 1),
        0b1001 => pair(0, 3, 1, 2),
        0b1100 => pair(2, 3, 0, 1),
        0b1010 => pair(3, 1, 0, 2),
        _ => pair(1, 2, 0, 3),
    }
}

/// The polygon of plane `k`: as far as the part reached that it split.
fn later_plane(mesh: &TetMesh, tet: u32, cut: &TetCut, k: usize) -> [Vec3; 4] {
    let mut until = TetCut::default();
    for plane in &cut.planes()[..=k] {
        until.push(*plane);
    }
    let plane = &cut.planes()[k];
    let local = (0..4).find(|&i| plane[i] < 0.0).unwrap_or(0);
    let piece = Piece::of(Some(&until), local);
    let mut points = CornerPoints::new(mesh, tet, Some(&until));
    let cap = piece
        .polygons()
        .iter()
        .find(|polygon| polygon.side == Side::Plane(k as u8));
    let corners = cap.map_or(&[][..], |cap| cap.corners());
    debug_assert!((3..=4).contains(&corners.len()), "a cap is small");
    let mut quad = [Vec3::ZERO; 4];
    for (i, slot) in quad.iter_mut().enumerate() {
        if let Some(&corner) = corners.get(i).or(corners.last()) {
            *slot = points.at(corner).as_vec3();
        }
    }
    quad
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Rng, box_grid};
    use crate::{Crack, Fracture};
    use std::sync::Arc;

    #[test]
    fn the_quick_polygon_of_a_first_plane_is_the_exact_one_with_its_orientation() {
        let mesh = Arc::new(box_grid([2; 3], Vec3::ONE));
        let mut rng = Rng(6);
        for _ in 0..50 {
            let mut fragments = Fragments::new(mesh.clone());
            let all = fragments.fragment(crate::FragmentId(0)).nodes().to_vec();
            let crack = Crack::from_level(&mesh, 0, &all, |_| rng.range(-1.0, 1.0)).unwrap();
            let fragment = crate::FragmentId(0);
            let cracks = vec![crack];
            let split = fragments.apply(&Fracture { fragment, cracks }).unwrap();
            for tet in split.cut_tets {
                let cut = fragments.cut(tet).unwrap();
                let quick = first_plane(&mesh, tet, &cut.planes()[0]);
                let exact = later_plane(&mesh, tet, cut, 0);
                assert_eq!(quick[2] == quick[3], exact[2] == exact[3]);
                for corner in quick {
                    assert!(exact.iter().any(|e| e.distance(corner) < 1e-6));
                }
                let (n, m) = (quad_normal(&quick), quad_normal(&exact));
                assert!(n.dot(m) > 0.999, "{n} and {m}");
                for i in 0..4 {
                    let side = n.dot(mesh.corners(tet)[i] - quick[0]);
                    assert_eq!(side > 0.0, cut.planes()[0][i] > 0.0);
                }
            }
        }
    }
}
