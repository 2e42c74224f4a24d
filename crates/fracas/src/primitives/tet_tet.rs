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
//! Each needs only the signs of determinants of four *input* points, which Shewchuk's
//! adaptive `orient3d` gives exactly. A corner of one strictly inside the other
//! ends the test early.
//!
//! **Guarantee.** No wrong verdict, touching and degenerate cases included; tested
//! against exact integer arithmetic.

use glam::Vec3;
use robust::{Coord3D, orient3d};

use crate::tet_mesh::{TET_EDGES, TET_FACES};

/// Whether the interiors of two tetrahedra intersect.
#[must_use]
pub fn tet_tet_overlap(a: [Vec3; 4], b: [Vec3; 4]) -> bool {
    if !boxes_overlap(&a, &b) {
        return false;
    }
    let (a, b) = (a.map(coord), b.map(coord));
    let (turn_a, turn_b) = (volume_sign(&a), volume_sign(&b));
    if turn_a == 0.0 || turn_b == 0.0 {
        return false;
    }
    match faces_against(&a, turn_a, &b) {
        Verdict::Apart => return false,
        Verdict::Inside => return true,
        Verdict::Open => {}
    }
    match faces_against(&b, turn_b, &a) {
        Verdict::Apart => return false,
        Verdict::Inside => return true,
        Verdict::Open => {}
    }
    !edge_plane_separates(&a, &b)
}

/// What the face planes of a tetrahedron say about some points' convex hull.
pub(super) enum Verdict {
    /// All points lie on or beyond one face.
    Apart,
    /// One point lies strictly inside.
    Inside,
    /// Neither.
    Open,
}

/// `turn` is the sign of the tetrahedron's volume.
pub(super) fn faces_against(
    tet: &[Coord3D<f64>; 4],
    turn: f64,
    points: &[Coord3D<f64>],
) -> Verdict {
    // Bit f is set while point p is not strictly inside face f.
    let mut outside = [0_u8; 4];
    for (f, face) in TET_FACES.iter().enumerate() {
        let [x, y, z] = face.map(|k| tet[k]);
        for (p, point) in points.iter().enumerate() {
            // orient3d is positive below the plane, where the inside is.
            if orient3d(x, y, z, *point) * turn <= 0.0 {
                outside[p] |= 1 << f;
            }
        }
    }
    let points = &outside[..points.len()];
    if points.iter().fold(u8::MAX, |all, bits| all & bits) != 0 {
        Verdict::Apart
    } else if points.contains(&0) {
        Verdict::Inside
    } else {
        Verdict::Open
    }
}

/// Whether a plane through an edge of the tetrahedron and one of the points has
/// the tetrahedron on one side and all points on the other.
pub(super) fn edge_plane_separates(tet: &[Coord3D<f64>; 4], points: &[Coord3D<f64>]) -> bool {
    TET_EDGES.iter().enumerate().any(|(e, edge)| {
        let [from, to] = edge.map(|k| tet[k]);
        // The edge opposite edge e has index 5 - e: its nodes are the other two.
        let rest = TET_EDGES[5 - e].map(|k| tet[k]);
        points.iter().enumerate().any(|(i, &through)| {
            let [c, d] = rest.map(|r| orient3d(from, to, through, r));
            // Opposite sides, or both in the plane (then it is no plane at all).
            if sign(c) * sign(d) < 0.0 || (c == 0.0 && d == 0.0) {
                return false;
            }
            let side = if c == 0.0 { d } else { c };
            points
                .iter()
                .enumerate()
                .all(|(j, &p)| i == j || sign(orient3d(from, to, through, p)) * sign(side) <= 0.0)
        })
    })
}

// Products of tiny determinants may underflow to zero: signs do not.
fn sign(x: f64) -> f64 {
    if x > 0.0 {
        1.0
    } else if x < 0.0 {
        -1.0
    } else {
        0.0
    }
}

pub(super) fn volume_sign(tet: &[Coord3D<f64>; 4]) -> f64 {
    // TET_FACES[3] with node 3 inside, as in `faces_against`.
    sign(orient3d(tet[0], tet[2], tet[1], tet[3]))
}

pub(super) fn coord(p: Vec3) -> Coord3D<f64> {
    Coord3D {
        x: f64::from(p.x),
        y: f64::from(p.y),
        z: f64::from(p.z),
    }
}

/// Whether the bounding boxes meet. False if a corner is not finite.
pub(super) fn boxes_overlap(a: &[Vec3], b: &[Vec3]) -> bool {
    let bounds = |points: &[Vec3]| {
        points.iter().fold(
            (Vec3::splat(f32::INFINITY), Vec3::splat(f32::NEG_INFINITY)),
            |(lo, hi), p| (lo.min(*p), hi.max(*p)),
        )
    };
    if !a.iter().chain(b).all(|p| p.is_finite()) {
        return false;
    }
    let ((a_lo, a_hi), (b_lo, b_hi)) = (bounds(a), bounds(b));
    a_lo.cmple(b_hi).all() && b_lo.cmple(a_hi).all()
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
