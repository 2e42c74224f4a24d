//! Closest point of a triangle, and of a flat convex quadrilateral, to a point.
//!
//! By regions of the triangle's plane (vertex, edge, interior), as in Ericson,
//! Real-Time Collision Detection (2005), section 5.1.5.
//!
//! **Deviation**: everything is relative to the query point, so that precision
//! depends on the distance and the triangle's size and not on where they are; a
//! triangle without area is treated as its sides.
//!
//! **Guarantee**: the returned point lies on the triangle within rounding, and no
//! NaN comes out of finite input.

use glam::Vec3;

/// The point of triangle `a b c` that is closest to `p`.
#[must_use]
pub fn closest_point_on_triangle(p: Vec3, [a, b, c]: [Vec3; 3]) -> Vec3 {
    p + closest_to_origin([a - p, b - p, c - p])
}

/// The vector from `p` to the closest point of triangle `a b c`.
#[must_use]
pub fn to_triangle(p: Vec3, [a, b, c]: [Vec3; 3]) -> Vec3 {
    closest_to_origin([a - p, b - p, c - p])
}

/// The vector from `p` to the closest point of the flat convex quadrilateral
/// `a b c d`; with `c == d` it is a triangle.
#[must_use]
pub fn to_quad(p: Vec3, [a, b, c, d]: [Vec3; 4]) -> Vec3 {
    let [a, b, c, d] = [a - p, b - p, c - p, d - p];
    let first = closest_to_origin([a, b, c]);
    if c == d {
        return first;
    }
    let second = closest_to_origin([a, c, d]);
    if second.length_squared() < first.length_squared() {
        second
    } else {
        first
    }
}

/// The point of segment `a b` that is closest to the origin.
fn segment_to_origin(a: Vec3, b: Vec3) -> Vec3 {
    let ab = b - a;
    let (along, length_squared) = (-a.dot(ab), ab.length_squared());
    if along <= 0.0 || length_squared <= 0.0 {
        a
    } else if along >= length_squared {
        b
    } else {
        a + ab * (along / length_squared)
    }
}

#[inline]
fn closest_to_origin([a, b, c]: [Vec3; 3]) -> Vec3 {
    let (ab, ac) = (b - a, c - a);
    let (d1, d2) = (-ab.dot(a), -ac.dot(a));
    if d1 <= 0.0 && d2 <= 0.0 {
        return a;
    }
    let (d3, d4) = (-ab.dot(b), -ac.dot(b));
    if d3 >= 0.0 && d4 <= d3 {
        return b;
    }
    let (d5, d6) = (-ab.dot(c), -ac.dot(c));
    if d6 >= 0.0 && d5 <= d6 {
        return c;
    }
    let vc = d1 * d4 - d3 * d2;
    let vb = d5 * d2 - d1 * d6;
    let va = d3 * d6 - d5 * d4;
    if va > 0.0 && vb > 0.0 && vc > 0.0 {
        // Over the interior: straight down to the plane, which is better rounded
        // than a sum of weighted corners.
        let normal = ab.cross(ac);
        let down = normal * (normal.dot(a) / normal.length_squared());
        if down.is_finite() {
            return down;
        }
    }
    // The closest side, certain even for slivers, where more than one of the signs
    // above can be negative.
    let sides = [
        segment_to_origin(a, b),
        segment_to_origin(b, c),
        segment_to_origin(c, a),
    ];
    let mut best = sides[0];
    for side in &sides[1..] {
        if side.length_squared() < best.length_squared() {
            best = *side;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Rng;
    use glam::DVec3;

    /// By dense search in f64: every point of the triangle on a fine grid, an
    /// upper bound that is off by at most one grid step.
    fn dense(p: Vec3, corners: [Vec3; 3], steps: i32) -> f64 {
        let [a, b, c] = corners.map(Vec3::as_dvec3);
        let mut best = f64::INFINITY;
        for i in 0..=steps {
            for j in 0..=steps - i {
                let (u, v) = (
                    f64::from(i) / f64::from(steps),
                    f64::from(j) / f64::from(steps),
                );
                let q: DVec3 = a + (b - a) * u + (c - a) * v;
                best = best.min(q.distance(p.as_dvec3()));
            }
        }
        best
    }

    fn random_triangle(rng: &mut Rng) -> [Vec3; 3] {
        let corner = |rng: &mut Rng| rng.in_box(Vec3::NEG_ONE, Vec3::ONE);
        [corner(rng), corner(rng), corner(rng)]
    }

    #[test]
    fn no_point_of_the_triangle_is_closer() {
        let mut rng = Rng(1);
        for _ in 0..300 {
            let triangle = random_triangle(&mut rng);
            let p = rng.in_box(Vec3::splat(-2.0), Vec3::splat(2.0));
            let found = f64::from(to_triangle(p, triangle).length());
            let dense = dense(p, triangle, 60);
            assert!(found <= dense + 1e-6, "{found} > {dense}");
            assert!(found >= dense - 0.1, "{found} is off the triangle");
        }
    }

    #[test]
    fn triangles_without_area_are_their_sides() {
        let p = Vec3::new(0.5, 1.0, 0.0);
        let flat = [Vec3::ZERO, Vec3::X, Vec3::new(0.25, 0.0, 0.0)];
        assert!((to_triangle(p, flat).length() - 1.0).abs() < 1e-6);
        assert!((to_triangle(p, [Vec3::ONE; 3]) - (Vec3::ONE - p)).length() < 1e-6);
    }

    #[test]
    fn far_from_the_origin_the_distance_stays_exact() {
        let shift = Vec3::splat(4096.0);
        let triangle = [shift, shift + Vec3::X, shift + Vec3::Y];
        let p = shift + Vec3::new(0.25, 0.25, 0.5);
        assert_eq!(to_triangle(p, triangle), Vec3::new(0.0, 0.0, -0.5));
    }

    #[test]
    fn a_quad_is_both_its_triangles() {
        let quad = [Vec3::ZERO, Vec3::X, Vec3::new(1.0, 1.0, 0.0), Vec3::Y];
        let mut rng = Rng(4);
        for _ in 0..100 {
            let p = rng.in_box(Vec3::splat(-1.0), Vec3::splat(2.0));
            let clamped = p.clamp(Vec3::ZERO, Vec3::new(1.0, 1.0, 0.0));
            assert!((to_quad(p, quad).length() - p.distance(clamped)).abs() < 1e-5);
        }
    }
}
