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
//! Each needs only the signs of determinants of four *input* points: in f32 where the
//! value is beyond doubt, else in f64, else by Shewchuk's adaptive `orient3d`, which is
//! exact. A corner of one strictly inside the other ends the test early.
//!
//! Step 2 asks few of its 24 planes: a corner of B strictly inside both faces of A that
//! meet in an edge lies on A's side of every plane that touches A along that edge, so no
//! such plane separates. (It is a point of the edge's line plus positive multiples of
//! the directions to A's two other corners, which are both on A's side.)
//!
//! **Guarantee.** No wrong verdict, touching and degenerate cases included; tested
//! against exact integer arithmetic.

use glam::{DVec3, Vec3};
use robust::{Coord3D, orient3d};

use crate::tet_mesh::{TET_EDGES, TET_FACES};

/// Whether the interiors of two tetrahedra intersect.
#[must_use]
pub fn tet_tet_overlap(a: [Vec3; 4], b: [Vec3; 4]) -> bool {
    let Some(doubt) = Doubt::of(&a, &b) else {
        return false;
    };
    let front = match faces_against(&a, &b, doubt) {
        Verdict::Apart => return false,
        Verdict::Inside => return orientation(&b, doubt) != 0,
        Verdict::Open(front) => front,
    };
    match faces_against(&b, &a, doubt) {
        Verdict::Apart => return false,
        Verdict::Inside => return true,
        Verdict::Open(_) => {}
    }
    !edge_plane_separates(&a, &b, front, doubt)
}

/// Whether a plane through an edge parts two tetrahedra that no face plane parts; for
/// each face of `a` the corners of `b` strictly in front of it, a bit each.
pub(super) fn edges_part(a: &[Vec3; 4], b: &[Vec3; 4], front: [u8; 4]) -> bool {
    Doubt::of(a, b).is_none_or(|doubt| edge_plane_separates(a, b, front, doubt))
}

/// Magnitudes below which a determinant of some points has to be computed with more
/// digits.
///
/// Differences of coordinates are at most L, the extent of all points. Each is
/// rounded once, each of the determinant's six products of three twice more, and
/// they are summed in five additions: less than 60 roundings of L^3, of 2^-24 each in
/// f32 and 2^-53 in f64. What f32 cannot hold (underflow) is covered by a constant; where
/// a product could overflow, f32 is never sure.
#[derive(Clone, Copy)]
pub(super) struct Doubt {
    single: f32,
    double: f64,
}

impl Doubt {
    /// `None` if the bounding boxes do not meet or a corner is not finite.
    #[inline]
    pub fn of(a: &[Vec3], b: &[Vec3]) -> Option<Self> {
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
        let cube = longest * longest * longest;
        let fits = cube < 1e37;
        Some(Self {
            single: if fits {
                (4e-6 * cube + 1e-30) as f32
            } else {
                f32::INFINITY
            },
            double: 1e-14 * cube,
        })
    }
}

/// A plane through three points, and on which side of it others lie.
pub(super) struct Plane {
    points: [Vec3; 3],
    normal: Vec3,
    doubt: Doubt,
}

impl Plane {
    #[inline]
    pub fn new(points: [Vec3; 3], doubt: Doubt) -> Self {
        let [a, b, c] = points;
        Self {
            points,
            normal: (b - a).cross(c - a),
            doubt,
        }
    }

    /// The sign of `(b - a) x (c - a) . (p - a)`: 1, 0 or -1, exactly.
    #[inline]
    pub fn side(&self, p: Vec3) -> i8 {
        self.sign(self.height(p), p)
    }

    #[inline]
    fn height(&self, p: Vec3) -> f32 {
        self.normal.dot(p - self.points[0])
    }

    #[inline]
    fn sign(&self, height: f32, p: Vec3) -> i8 {
        if height > self.doubt.single {
            1
        } else if height < -self.doubt.single {
            -1
        } else {
            self.careful_side(p)
        }
    }

    #[cold]
    fn careful_side(&self, p: Vec3) -> i8 {
        let [a, b, c] = self.points.map(Vec3::as_dvec3);
        let p = p.as_dvec3();
        let height = (b - a).cross(c - a).dot(p - a);
        if height > self.doubt.double {
            return 1;
        }
        if height < -self.doubt.double {
            return -1;
        }
        // orient3d is positive below the plane.
        let exact = orient3d(coord(a), coord(b), coord(c), coord(p));
        i8::from(exact < 0.0) - i8::from(exact > 0.0)
    }
}

/// What the face planes of a tetrahedron say about some points' convex hull.
pub(super) enum Verdict {
    /// All points lie on or beyond one face, or the tetrahedron is flat.
    Apart,
    /// One point lies strictly inside.
    Inside,
    /// Neither. For each face the points strictly in front of it, a bit each.
    Open([u8; 4]),
}

pub(super) fn faces_against<const N: usize>(
    tet: &[Vec3; 4],
    points: &[Vec3; N],
    doubt: Doubt,
) -> Verdict {
    let inside = orientation(tet, doubt);
    if inside == 0 {
        return Verdict::Apart;
    }
    let mut front = [0_u8; 4];
    let mut strictly_inside = u8::MAX;
    for (face, front) in TET_FACES.iter().zip(&mut front) {
        let plane = Plane::new(face.map(|k| tet[k]), doubt);
        // First all heights, then all signs: the compiler does them side by side.
        let heights = points.map(|p| plane.height(p));
        for (i, (&height, &p)) in heights.iter().zip(points).enumerate() {
            *front |= u8::from(plane.sign(height, p) == inside) << i;
        }
        if *front == 0 {
            return Verdict::Apart;
        }
        strictly_inside &= *front;
    }
    if strictly_inside == 0 {
        Verdict::Open(front)
    } else {
        Verdict::Inside
    }
}

/// On which side of each of its faces (they are all turned alike) a tetrahedron lies;
/// 0 if it is flat.
#[inline]
fn orientation(tet: &[Vec3; 4], doubt: Doubt) -> i8 {
    let [_, b, c, d] = *tet;
    Plane::new([b, c, d], doubt).side(tet[0])
}

/// Whether a plane through an edge of the tetrahedron and one of the points has
/// the tetrahedron on one side and all points on the other. `front` is what
/// [`faces_against`] found.
pub(super) fn edge_plane_separates(
    tet: &[Vec3; 4],
    points: &[Vec3],
    front: [u8; 4],
    doubt: Doubt,
) -> bool {
    TET_EDGES.iter().enumerate().any(|(e, edge)| {
        // The edge opposite edge e has index 5 - e: its nodes are the other two, and
        // face k lacks node k, so the faces at the edge have their numbers.
        let rest = TET_EDGES[5 - e];
        if front[rest[0]] & front[rest[1]] != 0 {
            return false;
        }
        let [from, to] = edge.map(|k| tet[k]);
        let rest = rest.map(|k| tet[k]);
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
