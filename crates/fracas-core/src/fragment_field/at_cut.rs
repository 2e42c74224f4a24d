//! The surface of a fragment where one of its edges was cut: `touch_at_cut`.
//!
//! What two fragments have in common right after a crack has parted them is known from the
//! cut. An edge is cut at most once, and later cracks miss the cut: in each tetrahedron
//! around the edge one polygon of the crack ends there, and where the edge lies on the
//! boundary, so do two faces of it. So contacts of a newborn pair (`sphere_tree/newborn.rs`)
//! need no tree of faces.
//!
//! **Guarantee**: the distance is that of the surface around the cut, as if it went on as it
//! is there: no larger than the way that the point has come from the cut, and exact as long
//! as nothing but the faces that meet at the cut is as near. Faces that do not meet there, and
//! what later cracks have taken of those that do, are not looked at.

use glam::Vec3;

use super::feature::corners_of_face;
use super::own_faces::{for_each_quad, side_of_face};
use super::query::{FragmentDistance, SignedDistance};
use super::{Around, NearFace};
use crate::fragment_surface::FaceKind;
use crate::primitives::point_triangle::to_quad;
use crate::tet_mesh::{NONE, TET_FACES};
use crate::tet_part::{CornerPoints, Side, TetPart};

impl FragmentDistance<'_> {
    /// As [`Self::touch`], for a point that lay where the edge from `own`, a node of this
    /// fragment, to `other`, a node of another one, was cut, and has hardly moved since.
    /// `None` where that edge is not cut.
    pub(crate) fn touch_at_cut(
        &self,
        edge: [u32; 2],
        p: Vec3,
        around: Around,
        faces: &mut Vec<NearFace>,
    ) -> Option<SignedDistance> {
        faces.clear();
        let (mut best, mut least) = (None, f32::INFINITY);
        self.for_each_face_at_cut(edge, |quad, normal, kind, tet| {
            let to = to_quad(p, quad);
            let distance = to.length();
            if distance < least {
                (best, least) = (Some([to, normal]), distance);
            }
            faces.push(NearFace {
                normal,
                distance,
                plane_distance: normal.dot(p - quad[0]),
                kind,
                tet,
            });
        });
        self.settle(p, f32::INFINITY, around, best?, None, faces)
    }

    /// Calls `visit` with corners and outward normal of each face that ends where an edge was
    /// cut, its kind and the tetrahedron in which it lies. A triangle has its last corner twice.
    #[inline]
    fn for_each_face_at_cut(
        &self,
        [own, other]: [u32; 2],
        mut visit: impl FnMut([Vec3; 4], Vec3, FaceKind, u32),
    ) {
        let (mesh, features) = (self.fragments.mesh(), &self.field.features);
        for &tet in mesh.adjacent_tets(own) {
            let nodes = mesh.tets()[tet as usize];
            let Some(j) = (0..4).find(|&j| nodes[j] == other) else {
                continue;
            };
            let (Some(i), Some(cut)) = ((0..4).find(|&i| nodes[i] == own), self.fragments.cut(tet))
            else {
                continue;
            };
            // The plane that parts the two ends.
            let planes = cut.planes().iter().enumerate();
            let Some((k, plane)) = { planes }.find(|(_, plane)| plane[i] * plane[j] < 0.0) else {
                continue;
            };
            let feature = features.of_cut(self.fragments.cut_index(tet))[k];
            let normal = features.normal(mesh, feature);
            let outward = if plane[i] > 0.0 { -normal } else { normal };
            visit(*features.crack(feature), outward, FaceKind::Crack, tet);
            let across = mesh.neighbours()[tet as usize];
            // The face opposite a node holds the three others.
            for face in (0..4).filter(|&k| across[k] == NONE && k != i && k != j) {
                let [a, b, c] = corners_of_face(mesh, 4 * tet + face as u32);
                let normal = (b - a).cross(c - a).normalize_or_zero();
                let mut visit = |quad| visit(quad, normal, FaceKind::Outer, tet);
                // An earlier plane has parted its third node from both ends.
                if TET_FACES[face].iter().any(|&n| plane[n] == 0.0) {
                    let points = CornerPoints::new(mesh, tet, Some(cut));
                    if let Some(polygon) = TetPart::polygon(cut, i, Side::Face(face as u8)) {
                        for_each_quad(&points, &polygon, visit);
                    }
                } else if let Some(quad) = side_of_face(&mesh.corners(tet), &nodes, face, plane, i)
                {
                    visit(quad);
                }
            }
        }
    }
}
