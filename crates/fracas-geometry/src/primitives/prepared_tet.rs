//! Most pairs of tetrahedra are clear cases: a verdict in a few dozen operations.
//!
//! A tetrahedron that meets many others is prepared once: its four face planes in f32,
//! side by side, pointing inward. Then for some points at a time
//!
//! 1. the heights of a point above the four planes are computed together;
//! 2. all points surely below one plane: [`Sure::Apart`]; one point surely above all
//!    four: [`Sure::Inside`]; else [`Sure::Not`], and the exact tests
//!    ([`super::tet_tet`], [`super::tri_tet`]) decide.
//!
//! **Guarantee.** Never contradicts the exact tests. A height is `n.p - n.a`; with L the
//! tetrahedron's extent, M the largest coordinate of anything asked about, u = 2^-24:
//! the normal's components are at most 2 L^2 and wrong by 8 u L^2, which moves the height
//! by 48 u L^2 M; the two products are wrong by 18 each, their difference by 12. So less
//! than 100 u L^2 M, and 167 are kept back (underflow: a constant more). A tetrahedron that is flat
//! within that doubt, not finite, or so large that f32 overflows is never sure of
//! anything.

use glam::Vec3;

use super::tet_tet::{edges_part, tet_tet_overlap};
use crate::tet_mesh::TET_FACES;

/// What is certain about some points and a tetrahedron.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sure {
    /// One face has all points strictly beyond it.
    Apart,
    /// One of the points lies strictly inside.
    Inside,
    /// Nothing.
    Not,
}

/// A tetrahedron's face planes.
#[derive(Clone, Copy, Debug)]
pub struct PreparedTet {
    /// Components of the four inward normals.
    x: [f32; 4],
    y: [f32; 4],
    z: [f32; 4],
    /// Heights of the origin, negated.
    offset: [f32; 4],
    doubt: f32,
}

impl PreparedTet {
    /// Prepares a tetrahedron to be asked about points with coordinates of at most
    /// `farthest`.
    #[must_use]
    pub fn new(corners: [Vec3; 4], farthest: f32) -> Self {
        let [a, b, c, d] = corners;
        let (lo, hi) = (a.min(b).min(c.min(d)), a.max(b).max(c.max(d)));
        let extent = (hi - lo).max_element();
        let farthest = farthest.max(lo.abs().max(hi.abs()).max_element());
        let mut doubt = 1e-5 * extent * extent * farthest + 1e-30;
        // The face [b, c, d] is turned as the others are: it tells the orientation.
        let volume = (c - b).cross(d - b).dot(a - b);
        let inward = if volume > 0.0 { 1.0 } else { -1.0 };
        // Twelve times this is the largest sum on the way to a height: it must fit.
        let fits = extent * extent * farthest < 1e36;
        let sound = fits && corners.iter().all(|p| p.is_finite()) && volume.abs() > doubt;
        if !sound {
            doubt = f32::INFINITY;
        }
        let mut prepared = Self {
            x: [0.0; 4],
            y: [0.0; 4],
            z: [0.0; 4],
            offset: [0.0; 4],
            doubt,
        };
        for (f, face) in TET_FACES.iter().enumerate() {
            let [p, q, r] = face.map(|k| corners[k]);
            let normal = (q - p).cross(r - p) * inward;
            prepared.x[f] = normal.x;
            prepared.y[f] = normal.y;
            prepared.z[f] = normal.z;
            prepared.offset[f] = normal.dot(p);
        }
        prepared
    }

    /// Whether it surely has an interior.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.doubt < f32::INFINITY
    }

    #[inline]
    fn heights(&self, p: Vec3) -> [f32; 4] {
        let mut height = [0.0; 4];
        for f in 0..4 {
            height[f] = self.x[f] * p.x + self.y[f] * p.y + self.z[f] * p.z - self.offset[f];
        }
        height
    }

    /// For each face the points strictly in front of it, a bit each, if that is certain
    /// for all of them.
    fn front(&self, points: &[Vec3; 4]) -> Option<[u8; 4]> {
        let mut front = [0; 4];
        for (i, p) in points.iter().enumerate() {
            let heights = self.heights(*p);
            if !heights.iter().all(|h| h.abs() > self.doubt) {
                return None;
            }
            for f in 0..4 {
                front[f] |= u8::from(heights[f] > 0.0) << i;
            }
        }
        Some(front)
    }

    /// What is certain about the convex hull of some points.
    #[must_use]
    #[inline]
    pub fn judge<const N: usize>(&self, points: &[Vec3; N]) -> Sure {
        let mut highest = [f32::NEG_INFINITY; 4];
        let mut deepest = f32::NEG_INFINITY;
        let mut sum = Vec3::ZERO;
        for p in points {
            let height = self.heights(*p);
            for f in 0..4 {
                highest[f] = highest[f].max(height[f]);
            }
            let least = height[0].min(height[1]).min(height[2].min(height[3]));
            deepest = deepest.max(least);
            sum += *p;
        }
        if !sum.is_finite() {
            Sure::Not
        } else if highest.iter().any(|&h| h < -self.doubt) {
            Sure::Apart
        } else if deepest > self.doubt {
            Sure::Inside
        } else {
            Sure::Not
        }
    }
}

/// Whether the interiors of two prepared tetrahedra intersect: the same verdict as
/// [`tet_tet_overlap`], sooner.
#[must_use]
#[inline]
pub fn prepared_overlap(
    (a, a_corners): (&PreparedTet, &[Vec3; 4]),
    (b, b_corners): (&PreparedTet, &[Vec3; 4]),
) -> bool {
    let of_b = a.judge(b_corners);
    if of_b == Sure::Apart {
        return false;
    }
    let of_a = b.judge(a_corners);
    if of_a == Sure::Apart {
        return false;
    }
    if a.is_sound() && b.is_sound() {
        if of_a == Sure::Inside || of_b == Sure::Inside {
            return true;
        }
        // Faces surely do not part them, and no corner is inside: edges decide.
        if let (Some(front), Some(_)) = (a.front(b_corners), b.front(a_corners)) {
            return !edges_part(a_corners, b_corners, front);
        }
    }
    tet_tet_overlap(*a_corners, *b_corners)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::tri_tet::tri_tet_overlap;
    use crate::testing::Rng;

    fn largest(points: &[Vec3]) -> f32 {
        points
            .iter()
            .fold(0.0, |m: f32, p| m.max(p.abs().max_element()))
    }

    #[test]
    fn never_contradicts_the_exact_tests() {
        let mut rng = Rng(5);
        let (mut clear, mut all) = (0, 0);
        for round in 0..60_000 {
            // Far from the origin, on lattices, tiny, huge, almost touching.
            let scale = [1.0, 1e-3, 1e4, 1e-12, 1e12][round % 5];
            let offset = rng.direction() * [0.0, 1.0, 100.0][round % 3];
            let lattice = round % 2 == 0;
            let mut point = || {
                let p = rng.in_box(Vec3::ZERO, Vec3::splat(4.0));
                (if lattice { p.round() } else { p } + offset) * scale
            };
            let a: [Vec3; 4] = std::array::from_fn(|_| point());
            let mut b: [Vec3; 4] = std::array::from_fn(|_| point());
            if round % 7 == 0 {
                (b[0], b[1], b[2]) = (a[1], a[2], a[3]);
            }
            let farthest = largest(&a).max(largest(&b));
            let [pa, pb] = [a, b].map(|t| PreparedTet::new(t, farthest));
            let exact = tet_tet_overlap(a, b);
            let verdict = prepared_overlap((&pa, &a), (&pb, &b));
            assert_eq!(verdict, exact, "{a:?} {b:?}");
            // Of ordinary ones it should decide many.
            if scale == 1.0 && !lattice && round % 3 != 2 {
                let sure = pa.judge(&b) != Sure::Not || pb.judge(&a) != Sure::Not;
                (clear, all) = (clear + usize::from(sure), all + 1);
            }
            let triangle = [b[0], b[1], b[2]];
            match pa.judge(&triangle) {
                Sure::Apart => assert!(!tri_tet_overlap(triangle, a)),
                Sure::Inside => assert!(tri_tet_overlap(triangle, a)),
                Sure::Not => {}
            }
        }
        assert!(3 * clear > all, "it decides too few: {clear} of {all}");
    }

    #[test]
    fn nonsense_is_never_sure() {
        let unit = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z];
        let sound = PreparedTet::new(unit, 1.0);
        assert!(sound.is_sound());
        assert_eq!(sound.judge(&[Vec3::NAN; 3]), Sure::Not);
        assert_eq!(sound.judge(&[Vec3::splat(0.2), Vec3::NAN]), Sure::Not);
        assert_eq!(sound.judge(&[Vec3::splat(0.2), Vec3::ONE]), Sure::Inside);
        assert_eq!(sound.judge(&[Vec3::X * 3.0, Vec3::ONE]), Sure::Apart);
        for bad in [
            [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::X + Vec3::Y],
            [Vec3::NAN, Vec3::X, Vec3::Y, Vec3::Z],
            [Vec3::ZERO, Vec3::X * f32::INFINITY, Vec3::Y, Vec3::Z],
            [Vec3::ZERO; 4],
        ] {
            let bad = PreparedTet::new(bad, 1.0);
            assert!(!bad.is_sound());
            assert_eq!(bad.judge(&[Vec3::splat(9.0)]), Sure::Not);
        }
    }
}
