//! Do two tetrahedra overlap? Exact, for any corners in f32.
//!
//! **Rule.** They overlap if their *interiors* have a point in common. Touching in a
//! face, an edge or a corner is not overlapping, so neighbours of one mesh and the
//! two sides of a fresh tear do not collide. A flat tetrahedron has no interior and
//! overlaps nothing. Orientation does not matter: an inverted tetrahedron is the same
//! set of points. Corners that are not finite overlap nothing.
//!
//! **Steps.** Disjoint convex interiors are separated by a plane, and if by any, then
//! by one of these 32 [Ganovelli 2003, the scheme cited in Marchal 2004, section 3]:
//! 1. a face of A, or a face of B;
//! 2. a plane through an edge of A and a corner of B. (The plane through an edge of
//!    A parallel to an edge of B, which the separating-axis theorem names, can be
//!    turned about the edge of A until it meets B, or a face of A first.)
//!
//! Each needs only the signs of determinants of four *input* points: in f64 where the
//! value is beyond doubt, else by Shewchuk's adaptive `orient3d`, which is exact. A
//! corner of one strictly inside the other ends the test early.
//!
//! **Guarantee.** No wrong verdict, touching and degenerate cases included; tested
//! against exact integer arithmetic.

use glam::{DVec3, Vec3};
use robust::{Coord3D, orient3d};

use crate::tet_mesh::{TET_EDGES, TET_FACES};

/// Whether the interiors of two tetrahedra intersect.
#[must_use]
pub fn tet_tet_overlap(a: [Vec3; 4], b: [Vec3; 4]) -> bool {
    let Some(doubt) = doubt(&a, &b) else {
        return false;
    };
    let (a, b) = (a.map(Vec3::as_dvec3), b.map(Vec3::as_dvec3));
    match faces_against(&a, &b, doubt) {
        Verdict::Apart => return false,
        Verdict::Inside => return !is_flat(&b, doubt),
        Verdict::Open => {}
    }
    match faces_against(&b, &a, doubt) {
        Verdict::Apart => return false,
        Verdict::Inside => return true,
        Verdict::Open => {}
    }
    !edge_plane_separates(&a, &b, doubt)
}

/// A plane through three points, and on which side of it others lie.
pub(super) struct Plane {
    points: [DVec3; 3],
    normal: DVec3,
    doubt: f64,
}

impl Plane {
    pub fn new(points: [DVec3; 3], doubt: f64) -> Self {
        let [a, b, c] = points;
        Self {
            points,
            normal: (b - a).cross(c - a),
            doubt,
        }
    }

    /// The sign of `(b - a) x (c - a) . (p - a)`: 1, 0 or -1, exactly.
    #[inline]
    pub fn side(&self, p: DVec3) -> i8 {
        let height = self.normal.dot(p - self.points[0]);
        if height > self.doubt {
            return 1;
        }
        if height < -self.doubt {
            return -1;
        }
        let [a, b, c] = self.points.map(coord);
        // orient3d is positive below the plane.
        let exact = orient3d(a, b, c, coord(p));
        i8::from(exact < 0.0) - i8::from(exact > 0.0)
    }
}

/// What the face planes of a tetrahedron say about some points' convex hull.
pub(super) enum Verdict {
    /// All points lie on or beyond one face, or the tetrahedron is flat.
    Apart,
    /// One point lies strictly inside.
    Inside,
    /// Neither.
    Open,
}

pub(super) fn faces_against(tet: &[DVec3; 4], points: &[DVec3], doubt: f64) -> Verdict {
    let mut strictly_inside = [true; 4];
    for (f, face) in TET_FACES.iter().enumerate() {
        let plane = Plane::new(face.map(|k| tet[k]), doubt);
        let inside = plane.side(tet[f]);
        let mut any = false;
        for (p, point) in points.iter().enumerate() {
            let in_front = inside != 0 && plane.side(*point) == inside;
            strictly_inside[p] &= in_front;
            any |= in_front;
        }
        if !any {
            return Verdict::Apart;
        }
    }
    if strictly_inside[..points.len()].contains(&true) {
        Verdict::Inside
    } else {
        Verdict::Open
    }
}

fn is_flat(tet: &[DVec3; 4], doubt: f64) -> bool {
    Plane::new([tet[0], tet[1], tet[2]], doubt).side(tet[3]) == 0
}

/// Whether a plane through an edge of the tetrahedron and one of the points has
/// the tetrahedron on one side and all points on the other.
pub(super) fn edge_plane_separates(tet: &[DVec3; 4], points: &[DVec3], doubt: f64) -> bool {
    TET_EDGES.iter().enumerate().any(|(e, edge)| {
        let [from, to] = edge.map(|k| tet[k]);
        // The edge opposite edge e has index 5 - e: its nodes are the other two.
        let rest = TET_EDGES[5 - e].map(|k| tet[k]);
        points.iter().enumerate().any(|(i, &through)| {
            let plane = Plane::new([from, to, through], doubt);
            let [c, d] = rest.map(|r| plane.side(r));
            // Opposite sides, or both in the plane (then it is no plane at all).
            if c * d < 0 || (c == 0 && d == 0) {
                return false;
            }
            let side = if c == 0 { d } else { c };
            points
                .iter()
                .enumerate()
                .all(|(j, &p)| i == j || plane.side(p) * side <= 0)
        })
    })
}

fn coord(p: DVec3) -> Coord3D<f64> {
    Coord3D {
        x: p.x,
        y: p.y,
        z: p.z,
    }
}

/// The magnitude below which a determinant of these points, evaluated in f64, has
/// to be computed exactly; `None` if the bounding boxes do not meet or a corner is
/// not finite.
///
/// Differences of coordinates are at most L, the extent of all points. Each is
/// rounded once, each of the determinant's six products of three twice more, and
/// they are summed in five additions: less than 60 roundings of L^3 / 2^53.
pub(super) fn doubt(a: &[Vec3], b: &[Vec3]) -> Option<f64> {
    let bounds = |points: &[Vec3]| {
        points[1..]
            .iter()
            .fold((points[0], points[0]), |(lo, hi), p| {
                (lo.min(*p), hi.max(*p))
            })
    };
    if !a.iter().chain(b).all(|p| p.is_finite()) {
        return None;
    }
    let ((a_lo, a_hi), (b_lo, b_hi)) = (bounds(a), bounds(b));
    if !(a_lo.cmple(b_hi).all() && b_lo.cmple(a_hi).all()) {
        return None;
    }
    let extent = a_hi.max(b_hi).as_dvec3() - a_lo.min(b_lo).as_dvec3();
    let longest = extent.max_element();
    Some(1e-14 * longest * longest * longest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Rng;

    const UNIT: [Vec3; 4] = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z];

    #[test]
    fn known_pairs() {
        let shifted = |by: Vec3| UNIT.map(|p| p + by);
        assert!(tet_tet_overlap(UNIT, UNIT));
        assert!(tet_tet_overlap(UNIT, shifted(Vec3::splat(0.1))));
        // A corner on the slanted face touches; a hair further in overlaps.
        let third = 1.0 / 4.0;
        assert!(!tet_tet_overlap(
            UNIT,
            shifted(Vec3::new(0.5, third, third))
        ));
        let in_a_little = Vec3::new(0.5, third, f32::from_bits(third.to_bits() - 1));
        assert!(tet_tet_overlap(UNIT, shifted(in_a_little)));
        // A shared face, on the other side and on the same side.
        let mirrored = [Vec3::ZERO, Vec3::X, Vec3::Y, -Vec3::Z];
        assert!(!tet_tet_overlap(UNIT, mirrored));
        let inside = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::splat(0.2)];
        assert!(tet_tet_overlap(UNIT, inside));
        // Flat, and not finite.
        let flat = [Vec3::splat(0.1), Vec3::X, Vec3::Y, Vec3::splat(0.1)];
        assert!(!tet_tet_overlap(UNIT, flat));
        assert!(!tet_tet_overlap(UNIT, [Vec3::NAN; 4]));
        let infinite = [-Vec3::ONE, Vec3::X * f32::INFINITY, Vec3::Y, Vec3::Z];
        assert!(!tet_tet_overlap(UNIT, infinite));
    }

    #[test]
    fn crossing_by_edges_only_is_found() {
        // Each has an edge through the other and no corner inside it.
        let a = [
            Vec3::new(-1.0, 0.0, 0.1),
            Vec3::new(1.0, 0.0, 0.1),
            Vec3::new(0.0, -0.3, -1.0),
            Vec3::new(0.0, 0.3, -1.0),
        ];
        let b = [
            Vec3::new(0.0, -1.0, -0.1),
            Vec3::new(0.0, 1.0, -0.1),
            Vec3::new(-0.3, 0.0, 1.0),
            Vec3::new(0.3, 0.0, 1.0),
        ];
        assert!(tet_tet_overlap(a, b));
        let apart = b.map(|p| p + Vec3::new(0.0, 0.0, 0.25));
        assert!(!tet_tet_overlap(a, apart));
    }

    #[test]
    fn the_verdict_is_symmetric_and_ignores_order() {
        let mut rng = Rng(3);
        let mut overlaps = 0;
        for _ in 0..3000 {
            // A coarse lattice, so that touching and flat cases are common.
            let mut tet = || {
                std::array::from_fn::<Vec3, 4, _>(|_| {
                    Vec3::new(
                        rng.below(5) as f32,
                        rng.below(5) as f32,
                        rng.below(5) as f32,
                    )
                })
            };
            let (a, b) = (tet(), tet());
            let verdict = tet_tet_overlap(a, b);
            assert_eq!(verdict, tet_tet_overlap(b, a));
            assert_eq!(verdict, tet_tet_overlap([a[1], a[0], a[2], a[3]], b));
            assert_eq!(verdict, tet_tet_overlap([a[2], a[3], a[0], a[1]], b));
            overlaps += i32::from(verdict);
        }
        assert!((300..2700).contains(&overlaps), "{overlaps}");
    }
}
