//! Closest points of a vertex and a face, and of two edges.
//!
//! Vertex and face by regions of the triangle's plane [Ericson 2005, 5.1.5]; edges by the
//! closest points of the two lines where these lie on both, and the ends against the other
//! edge, which also answers for edges that are parallel.
//!
//! **Guarantee**: the weights name points of the two features, so the distance is never less
//! than the true one but by rounding. It can be more, by rounding, where edges are nearly
//! parallel. No NaN comes out of finite input.

use glam::DVec3;

/// The closest points of two features of four vertices together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Closest {
    /// What each vertex counts: the sum of all points with these weights is `apart`. Those
    /// of the first feature sum to 1, those of the second to -1.
    pub weights: [f64; 4],
    /// From the point of the second feature to that of the first.
    pub apart: DVec3,
}

impl Closest {
    fn of(points: [DVec3; 4], weights: [f64; 4]) -> Self {
        // Differences first: far from the origin the sum would lose digits.
        let apart = (0..3).map(|i| weights[i] * (points[i] - points[3]));
        Self {
            weights,
            apart: apart.sum(),
        }
    }

    fn nearer(self, other: Self) -> Self {
        if other.apart.length_squared() < self.apart.length_squared() {
            other
        } else {
            self
        }
    }
}

/// A vertex and a triangle.
#[must_use]
pub fn vertex_face(p: DVec3, [a, b, c]: [DVec3; 3]) -> Closest {
    let points = [p, a, b, c];
    let (ab, ac, ap) = (b - a, c - a, p - a);
    let normal = ab.cross(ac);
    let area = normal.length_squared();
    // Barycentric coordinates of the foot on the plane.
    let v = ap.cross(ac).dot(normal) / area;
    let w = ab.cross(ap).dot(normal) / area;
    let u = 1.0 - v - w;
    if u >= 0.0 && v >= 0.0 && w >= 0.0 {
        return Closest::of(points, [1.0, -u, -v, -w]);
    }
    // Outside, or no area: the closest point is on a side.
    let side = |i: usize, j: usize| {
        let s = along(p, points[i], points[j]);
        let mut weights = [1.0, 0.0, 0.0, 0.0];
        weights[i] = s - 1.0;
        weights[j] = -s;
        Closest::of(points, weights)
    };
    side(1, 2).nearer(side(2, 3)).nearer(side(3, 1))
}

/// Two edges.
#[must_use]
pub fn edge_edge([a, b]: [DVec3; 2], [c, d]: [DVec3; 2]) -> Closest {
    let points = [a, b, c, d];
    let at = |s: f64, t: f64| Closest::of(points, [1.0 - s, s, t - 1.0, -t]);
    let (e, f, r) = (b - a, d - c, a - c);
    let (ee, ff, ef) = (e.length_squared(), f.length_squared(), e.dot(f));
    let ends = at(0.0, along(a, c, d))
        .nearer(at(1.0, along(b, c, d)))
        .nearer(at(along(c, a, b), 0.0))
        .nearer(at(along(d, a, b), 1.0));
    let square = ee * ff - ef * ef;
    let s = (ef * f.dot(r) - ff * e.dot(r)) / square;
    let t = (ee * f.dot(r) - ef * e.dot(r)) / square;
    let inside = |x: f64| (0.0..=1.0).contains(&x);
    if inside(s) && inside(t) {
        ends.nearer(at(s, t))
    } else {
        ends
    }
}

/// Where on the way from `a` to `b` the point closest to `p` is, from 0 to 1.
fn along(p: DVec3, a: DVec3, b: DVec3) -> f64 {
    let side = b - a;
    let s = (p - a).dot(side) / side.length_squared();
    if s.is_finite() {
        s.clamp(0.0, 1.0)
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Rng;

    fn point(rng: &mut Rng) -> DVec3 {
        rng.in_box(glam::Vec3::splat(-1.0), glam::Vec3::ONE)
            .as_dvec3()
    }

    /// No sampled pair of points is closer, and one is nearly as close.
    fn check(points: [DVec3; 4], found: Closest, sample: impl Fn(f64, f64) -> [f64; 4]) {
        let sum: DVec3 = (0..4).map(|i| found.weights[i] * points[i]).sum();
        assert!(sum.distance(found.apart) < 1e-12, "{found:?}");
        let distance = found.apart.length();
        let mut least = f64::INFINITY;
        for i in 0..=40 {
            for j in 0..=40 {
                let weights = sample(f64::from(i) / 40.0, f64::from(j) / 40.0);
                let apart: DVec3 = (0..4).map(|i| weights[i] * points[i]).sum();
                least = least.min(apart.length());
            }
        }
        assert!(distance <= least + 1e-9, "{distance} but sampled {least}");
        assert!(distance > least - 0.1, "{distance} but sampled {least}");
    }

    #[test]
    fn no_sampled_points_are_closer() {
        let mut rng = Rng(23);
        for round in 0..400 {
            let mut p: [DVec3; 4] = std::array::from_fn(|_| point(&mut rng));
            match round % 4 {
                // Without area, and parallel.
                1 => p[3] = p[1].lerp(p[2], 0.3),
                2 => p[3] = p[2] + (p[1] - p[0]) * 0.7,
                _ => {}
            }
            let face = vertex_face(p[0], [p[1], p[2], p[3]]);
            check(p, face, |s, t| {
                let (v, w) = if s + t > 1.0 {
                    (1.0 - s, 1.0 - t)
                } else {
                    (s, t)
                };
                [1.0, v + w - 1.0, -v, -w]
            });
            let edges = edge_edge([p[0], p[1]], [p[2], p[3]]);
            check(p, edges, |s, t| [1.0 - s, s, t - 1.0, -t]);
        }
        let point = DVec3::splat(0.25);
        assert_eq!(vertex_face(point, [point; 3]).apart, DVec3::ZERO);
        assert_eq!(edge_edge([point; 2], [point; 2]).apart, DVec3::ZERO);
    }
}
