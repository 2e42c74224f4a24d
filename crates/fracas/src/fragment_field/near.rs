//! The real surface of a fragment near a point: `nearest` and `faces_near`.
//!
//! Steps: search the trees of features that can bound the fragment (the object's
//! boundary, and the cracks of its own fractures), where they hold its own -> a feature
//! in reach that bounds the fragment is its surface if no later crack took a part of it
//! away, or if the closest point is not in the part taken away -> else, clip.
//!
//! The paper leaves these queries out; a positive tolerance needs them.
//!
//! **Guarantee**: exact up to rounding. A feature holds what is left of it, so its
//! distance is a lower bound, and the distance itself where its closest point is left.

use glam::Vec3;

use super::feature::{
    CrackSide, FeatureId, cut_edge, quad_is_beyond, quad_normal, triangle_is_beyond,
};
use super::locate::barycentric;
use super::query::{FragmentDistance, NOISE};
use crate::cut_piece::{CornerPoints, Piece, Side};
use crate::fragment::TetCut;
use crate::fragment_surface::FaceKind;
use crate::primitives::point_triangle::{to_quad, to_triangle};
use crate::tet_mesh::{NONE, TET_FACES};

/// The surface nearest to a point outside a fragment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Nearest {
    /// Distance to the surface, not negative.
    pub distance: f32,
    /// Unit, from the surface to the point; the face's normal where they touch.
    pub normal: Vec3,
    /// The closest point of the surface.
    pub point: Vec3,
    /// The outward unit normal of the face it lies on.
    pub face_normal: Vec3,
    /// Whether that face is old or a crack.
    pub kind: FaceKind,
}

/// A face of a fragment's real surface near a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NearFace {
    /// Its outward unit normal.
    pub normal: Vec3,
    /// From the point to the face, not negative.
    pub distance: f32,
    /// From the face's plane to the point along the normal: negative inside.
    pub plane_distance: f32,
    /// Whether it is old or a crack.
    pub kind: FaceKind,
    /// The tetrahedron in which it lies.
    pub tet: u32,
}

/// A face within the limit: the way to it, and what it is.
#[derive(Clone, Copy)]
struct Face {
    to: Vec3,
    feature: FeatureId,
    /// Whether the feature's normal points into the fragment.
    inward: bool,
}

impl FragmentDistance<'_> {
    /// The exact distance from `p`, a point outside the fragment, to its surface,
    /// if it is at most `max`. Points inside other fragments count as outside.
    #[must_use]
    pub fn nearest(&self, p: Vec3, max: f32) -> Option<Nearest> {
        if !self.sphere_may_touch(p, max) {
            return None;
        }
        self.nearest_in_reach(p, max)
    }

    /// The same when the sphere test was done.
    pub(crate) fn nearest_in_reach(&self, p: Vec3, max: f32) -> Option<Nearest> {
        let mut best = None;
        self.for_each_face(p, max, |face, limit| {
            *limit = face.to.length_squared();
            best = Some(face);
        });
        let face: Face = best?;
        let distance = face.to.length();
        let (face_normal, kind) = self.normal_of(&face);
        Some(Nearest {
            distance,
            normal: if distance > NOISE * self.field.edge {
                -face.to / distance
            } else {
                face_normal
            },
            point: p + face.to,
            face_normal,
            kind,
        })
    }

    /// The faces of the fragment's real surface within `max` of `p`, wherever `p`
    /// is. `out` is cleared first; a face appears once for each tetrahedron it
    /// passes. Order is fixed but has no meaning.
    pub fn faces_near(&self, p: Vec3, max: f32, out: &mut Vec<NearFace>) {
        out.clear();
        if !self.sphere_may_touch(p, max) {
            return;
        }
        self.for_each_face(p, max, |face, _| {
            let (normal, kind) = self.normal_of(&face);
            let features = &self.field.features;
            let corner = features.corner(self.fragments.mesh(), face.feature);
            out.push(NearFace {
                normal,
                distance: face.to.length(),
                plane_distance: (p - corner).dot(normal),
                kind,
                tet: features.origin(face.feature).1 / 4,
            });
        });
    }

    /// Calls `visit` with the faces of the real surface within the limit, a squared
    /// distance that `visit` may lower.
    #[inline]
    fn for_each_face(&self, p: Vec3, max: f32, mut visit: impl FnMut(Face, &mut f32)) {
        if max.is_nan() || max < 0.0 {
            return;
        }
        let mut limit = max * max;
        let features = &self.field.features;
        for (fracture, mask) in &self.view.fractures {
            let tree = features.crack_tree(*fracture);
            tree.search(p, &mut limit, mask, |feature, limit| {
                if let Some(face) = self.crack_face(feature, p, *limit) {
                    visit(face, limit);
                }
            });
        }
        // Deep inside the object no boundary face is in reach: the grid knows.
        let (known, least) = self.field.old_surface.triangle_near(p);
        let least = (least * (1.0 - 1e-4)).max(0.0);
        if known != NONE && least * least > limit {
            return;
        }
        let (tree, mask) = (features.old_tree(), &self.view.old_faces);
        tree.search(p, &mut limit, mask, |feature, limit| {
            if let Some(face) = self.old_face(feature, p, *limit) {
                visit(face, limit);
            }
        });
    }

    /// What is left of a crack polygon on the fragment, if that is within the limit.
    #[inline]
    fn crack_face(&self, feature: FeatureId, p: Vec3, limit: f32) -> Option<Face> {
        let features = &self.field.features;
        let side = features.crack_side(feature, self.id);
        if side == CrackSide::Elsewhere {
            return None;
        }
        let quad = features.crack(feature);
        if quad_is_beyond(p, quad, limit) {
            return None;
        }
        let to = to_quad(p, *quad);
        // NaN is not within it.
        let within = to.length_squared() <= limit;
        if !within {
            return None;
        }
        if let CrackSide::Whole { inward } = side {
            return Some(Face {
                to,
                feature,
                inward,
            });
        }
        let (_, origin) = features.origin(feature);
        let (tet, k) = (origin / 4, (origin % 4) as usize);
        let labels = self.fragments.node_fragment();
        let nodes = self.fragments.mesh().tets()[tet as usize];
        let own = (0..4).find(|&i| labels[nodes[i] as usize] == self.id)?;
        let cut = self.fragments.cut(tet)?;
        let planes = cut.planes();
        if planes[k][own] == 0.0 {
            return None;
        }
        let inward = planes[k][own] > 0.0;
        let face = Face {
            to,
            feature,
            inward,
        };
        let cutters = &planes[k + 1..];
        if cutters.iter().all(|plane| plane[own] == 0.0) || self.is_left(tet, own, p + to, cutters)
        {
            return Some(face);
        }
        self.clipped(face, tet, cut, own, Side::Plane(k as u8), p, limit)
    }

    /// What is left of a boundary face on the fragment, if that is within the limit.
    #[inline]
    fn old_face(&self, feature: FeatureId, p: Vec3, limit: f32) -> Option<Face> {
        let mesh = self.fragments.mesh();
        let features = &self.field.features;
        let corners = features.old_corners(mesh, feature as usize);
        if triangle_is_beyond(p, &corners, limit) {
            return None;
        }
        let to = to_triangle(p, corners);
        // NaN is not within it.
        let within = to.length_squared() <= limit;
        if !within {
            return None;
        }
        let (_, origin) = features.origin(feature);
        let (tet, k) = (origin / 4, (origin % 4) as usize);
        let labels = self.fragments.node_fragment();
        let nodes = mesh.tets()[tet as usize];
        let of_face = |&&i: &&usize| labels[nodes[i] as usize] == self.id;
        let own = *TET_FACES[k].iter().find(of_face)?;
        let face = Face {
            to,
            feature,
            inward: false,
        };
        let Some(cut) = self.fragments.cut(tet) else {
            return Some(face);
        };
        if self.is_left(tet, own, p + to, cut.planes()) {
            return Some(face);
        }
        if let [plane] = cut.planes() {
            let to = to_quad(p, side_of_face(&mesh.corners(tet), &nodes, k, plane, own));
            return (to.length_squared() <= limit).then_some(Face { to, ..face });
        }
        self.clipped(face, tet, cut, own, Side::Face(k as u8), p, limit)
    }

    /// Whether a point of a tetrahedron is on the side of a node for all planes that
    /// concern the node.
    #[inline]
    fn is_left(&self, tet: u32, own: usize, q: Vec3, planes: &[[f32; 4]]) -> bool {
        let l = barycentric(self.fragments.mesh(), tet, q);
        planes.iter().all(|plane| {
            let level = plane[0] * l[0] + plane[1] * l[1] + plane[2] * l[2] + plane[3] * l[3];
            // A plane that does not concern the node has level zero there.
            level * plane[own] >= 0.0
        })
    }

    /// The way to what several planes have left of a polygon, if it is within the limit.
    #[cold]
    #[allow(
        clippy::too_many_arguments,
        reason = "all of one tetrahedron, for one caller"
    )]
    fn clipped(
        &self,
        face: Face,
        tet: u32,
        cut: &TetCut,
        own: usize,
        side: Side,
        p: Vec3,
        limit: f32,
    ) -> Option<Face> {
        let piece = Piece::of(Some(cut), own);
        let points = CornerPoints::new(self.fragments.mesh(), tet, Some(cut));
        let polygon = piece
            .polygons()
            .iter()
            .find(|polygon| polygon.side == side)?;
        let corners = polygon.corners();
        let first = points.at(corners[0]).as_vec3();
        let mut last = points.at(corners[1]).as_vec3();
        let mut to = Vec3::splat(f32::INFINITY);
        for &corner in &corners[2..] {
            let next = points.at(corner).as_vec3();
            let candidate = to_triangle(p, [first, last, next]);
            if candidate.length_squared() < to.length_squared() {
                to = candidate;
            }
            last = next;
        }
        (to.length_squared() <= limit).then_some(Face { to, ..face })
    }

    /// The outward unit normal of a face, and its kind.
    fn normal_of(&self, face: &Face) -> (Vec3, FaceKind) {
        let features = &self.field.features;
        if features.origin(face.feature).0 {
            let normal = quad_normal(features.crack(face.feature));
            let outward = if face.inward { -normal } else { normal };
            (outward, FaceKind::Crack)
        } else {
            let normal = features.normal(self.fragments.mesh(), face.feature);
            (normal, FaceKind::Old)
        }
    }
}

/// What one plane leaves of face `k` of a tetrahedron on the side of a node of that
/// face; a triangle has its last corner twice. The plane crosses the face.
#[inline]
fn side_of_face(
    corners: &[Vec3; 4],
    nodes: &[u32; 4],
    k: usize,
    plane: &[f32; 4],
    own: usize,
) -> [Vec3; 4] {
    let [a, b, c] = TET_FACES[k];
    let is_own = |i: usize| (plane[i] > 0.0) == (plane[own] > 0.0);
    // The corner that is alone on its side of the plane, and those after it.
    let turns = [[a, b, c], [b, c, a], [c, a, b]];
    let alone = turns
        .into_iter()
        .find(|&[i, j, l]| is_own(i) != is_own(j) && is_own(i) != is_own(l));
    let Some([i, j, l]) = alone else {
        return [corners[a], corners[b], corners[c], corners[c]];
    };
    let [to_j, to_l] = [j, l].map(|other| cut_edge(corners, nodes, plane, i, other));
    if is_own(i) {
        [corners[i], to_j, to_l, to_l]
    } else {
        [to_j, corners[j], corners[l], to_l]
    }
}
