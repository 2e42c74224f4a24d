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
#[inline]
pub fn to_triangle(p: Vec3, [a, b, c]: [Vec3; 3]) -> Vec3 {
    closest_to_origin([a - p, b - p, c - p])
}

/// The vector from `p` to the closest point of the flat convex quadrilateral
/// `a b c d`; with `c == d` it is a triangle.
///
/// Straight down to the plane if that is within all sides; else the closest of the
/// sides that it is beyond, since the closest point of a convex shape lies on a side
/// that faces the point.
#[must_use]
#[inline]
pub fn to_quad(p: Vec3, quad: [Vec3; 4]) -> Vec3 {
    let [a, b, c, d] = [quad[0] - p, quad[1] - p, quad[2] - p, quad[3] - p];
    let normal = (c - a).cross(d - b);
    let beyond = [
        normal.dot(a.cross(b)) < 0.0,
        normal.dot(b.cross(c)) < 0.0,
        normal.dot(c.cross(d)) < 0.0,
        normal.dot(d.cross(a)) < 0.0,
    ];
    if !(beyond[0] | beyond[1] | beyond[2] | beyond[3]) {
        let down = normal * (normal.dot(a) / normal.length_squared());
        if down.is_finite() {
            return down;
        }
        return closest_of_sides([a, b, c, d], [true; 4]);
    }
    closest_of_sides([a, b, c, d], beyond)
}

fn closest_of_sides(corners: [Vec3; 4], which: [bool; 4]) -> Vec3 {
    let mut best = (f32::INFINITY, corners[0]);
    for i in 0..4 {
        if which[i] {
            let point = segment_to_origin(corners[i], corners[(i + 1) % 4]);
            let distance_squared = point.length_squared();
            if distance_squared < best.0 {
                best = (distance_squared, point);
            }
        }
    }
    best.1
}

/// Squared distances of four points to the flat convex quadrilateral, without
/// branches, so that the four are computed side by side.
#[must_use]
#[inline]
pub fn four_to_quad_squared(points: &[Vec3; 4], quad: &[Vec3; 4]) -> [f32; 4] {
    // Comparisons instead of `min` and `max`, which must care for NaN: these become
    // one instruction for all four.
    let least = |a: f32, b: f32| if a < b { a } else { b };
    let most = |a: f32, b: f32| if a > b { a } else { b };
    let [a, b, c, d] = *quad;
    let normal = (c - a).cross(d - b);
    let normal_squared = normal.length_squared();
    // A quad without area is its sides.
    let (scale, mut within) = if normal_squared > 0.0 {
        (1.0 / normal_squared, [f32::INFINITY; 4])
    } else {
        (0.0, [f32::NEG_INFINITY; 4])
    };
    let [p, q, r, s] = *points;
    let x = [p.x - a.x, q.x - a.x, r.x - a.x, s.x - a.x];
    let y = [p.y - a.y, q.y - a.y, r.y - a.y, s.y - a.y];
    let z = [p.z - a.z, q.z - a.z, r.z - a.z, s.z - a.z];
    let mut best = [f32::INFINITY; 4];
    for (from, to) in [(a, b), (b, c), (c, d), (d, a)] {
        let (side, start) = (to - from, from - a);
        let length_squared = side.length_squared();
        let inverse = if length_squared > 0.0 {
            1.0 / length_squared
        } else {
            0.0
        };
        let inward = normal.cross(side);
        for i in 0..4 {
            let (px, py, pz) = (x[i] - start.x, y[i] - start.y, z[i] - start.z);
            let inner = px * inward.x + py * inward.y + pz * inward.z;
            within[i] = least(within[i], inner);
            let along = (px * side.x + py * side.y + pz * side.z) * inverse;
            let t = least(most(along, 0.0), 1.0);
            let (qx, qy, qz) = (px - side.x * t, py - side.y * t, pz - side.z * t);
            best[i] = least(qx * qx + qy * qy + qz * qz, best[i]);
        }
    }
    for i in 0..4 {
        let height = x[i] * normal.x + y[i] * normal.y + z[i] * normal.z;
        let plane = height * height * scale;
        best[i] = if within[i] >= 0.0 { plane } else { best[i] };
    }
    best
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
    fn any_flat_convex_quad_is_as_close_as_its_triangles() {
        let mut rng = Rng(14);
        for k in 0..2000 {
            // Corners of a circle in increasing angle, squeezed and placed anywhere.
            let turn = (rng.direction(), rng.direction());
            let (u, v) = (turn.0, turn.0.cross(turn.1) * rng.range(0.05, 1.0));
            let mut angles = [0.0; 4].map(|_: f32| rng.range(0.0, std::f32::consts::TAU));
            angles.sort_by(f32::total_cmp);
            let mut quad = angles.map(|t| u * t.cos() + v * t.sin());
            if k % 3 == 0 {
                quad[3] = quad[2];
            }
            let p = rng.in_box(Vec3::splat(-2.0), Vec3::splat(2.0));
            let [a, b, c, d] = quad;
            let expected = to_triangle(p, [a, b, c])
                .length()
                .min(to_triangle(p, [a, c, d]).length());
            let found = to_quad(p, quad);
            assert!(
                (found.length() - expected).abs() < 2e-5,
                "{found} {expected}"
            );
        }
    }

    #[test]
    fn quads_without_area_are_their_sides() {
        let p = Vec3::new(0.5, 1.0, 0.0);
        let x = |t: f32| Vec3::new(t, 0.0, 0.0);
        assert!((to_quad(p, [x(0.0), x(0.3), x(1.0), x(0.7)]).length() - 1.0).abs() < 1e-6);
        assert!((to_quad(p, [Vec3::ONE; 4]) - (Vec3::ONE - p)).length() < 1e-6);
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
