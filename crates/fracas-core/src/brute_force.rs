//! The slow and certain answer to every query: the oracle that fast paths are
//! held against.
//!
//! Everything is computed in f64 over all triangles of a closed surface, with no
//! acceleration. Nothing in the library's own queries calls this.

use glam::{DVec3, Vec3};

use crate::FragmentSurface;

/// The closest triangle of a surface, and where.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Closest {
    /// Distance, never negative.
    pub distance: f64,
    /// The closest point.
    pub point: DVec3,
    /// The triangle.
    pub triangle: usize,
}

/// The point of a surface closest to `p`; `None` when it has no triangles.
#[must_use]
pub fn closest(surface: &FragmentSurface, p: Vec3) -> Option<Closest> {
    let p = p.as_dvec3();
    (0..surface.triangles().len())
        .map(|triangle| {
            let point = closest_on_triangle(p, surface.corners(triangle).map(Vec3::as_dvec3));
            Closest {
                distance: point.distance(p),
                point,
                triangle,
            }
        })
        .min_by(|a, b| a.distance.total_cmp(&b.distance))
}

/// How often the surface winds around `p`: one inside, zero outside, by the solid
/// angles of all triangles (van Oosterom and Strackee 1983).
#[must_use]
pub fn winding_number(surface: &FragmentSurface, p: Vec3) -> f64 {
    let p = p.as_dvec3();
    let mut half_angles = 0.0;
    for t in 0..surface.triangles().len() {
        let [a, b, c] = surface.corners(t).map(|q| q.as_dvec3() - p);
        let (la, lb, lc) = (a.length(), b.length(), c.length());
        let over = a.dot(b.cross(c));
        let under = la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb;
        half_angles += libm::atan2(over, under);
    }
    half_angles / (2.0 * std::f64::consts::PI)
}

/// Whether `p` is inside a surface.
#[must_use]
pub fn inside(surface: &FragmentSurface, p: Vec3) -> bool {
    winding_number(surface, p) > 0.5
}

/// The point of a triangle closest to `p`, in f64: the plane's if it is inside all
/// sides, else the closest of the three sides'.
#[must_use]
pub fn closest_on_triangle(p: DVec3, [a, b, c]: [DVec3; 3]) -> DVec3 {
    let normal = (b - a).cross(c - a);
    let inner = |from: DVec3, to: DVec3| normal.dot((to - from).cross(p - from)) >= 0.0;
    if normal.length_squared() > 0.0 && inner(a, b) && inner(b, c) && inner(c, a) {
        return p - normal * (normal.dot(p - a) / normal.length_squared());
    }
    let on_side = |from: DVec3, to: DVec3| {
        let along = to - from;
        let share = (p - from).dot(along) / along.length_squared();
        if share.is_nan() {
            from
        } else {
            from + along * share.clamp(0.0, 1.0)
        }
    };
    [on_side(a, b), on_side(b, c), on_side(c, a)]
        .into_iter()
        .min_by(|x, y| x.distance_squared(p).total_cmp(&y.distance_squared(p)))
        .unwrap_or(a)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Rng, box_grid};
    use crate::{FragmentId, Fragments, SurfaceScratch};
    use std::sync::Arc;

    #[test]
    fn a_box_has_the_distances_of_a_box() {
        let fragments = Fragments::new(Arc::new(box_grid([2, 3, 2], Vec3::new(1.0, 2.0, 3.0))));
        let surface =
            FragmentSurface::extract(&fragments, FragmentId(0), &mut SurfaceScratch::default());
        let high = DVec3::new(1.0, 2.0, 3.0);
        let mut rng = Rng(3);
        for _ in 0..200 {
            let p = rng.in_box(Vec3::splat(-1.0), Vec3::splat(4.0));
            let q = p.as_dvec3();
            let is_inside = q.cmpgt(DVec3::ZERO).all() && q.cmplt(high).all();
            let expected = if is_inside {
                q.min(high - q).min_element()
            } else {
                q.distance(q.clamp(DVec3::ZERO, high))
            };
            let found = closest(&surface, p).unwrap();
            assert!((found.distance - expected).abs() < 1e-12);
            assert_eq!(inside(&surface, p), is_inside);
            let winding = winding_number(&surface, p);
            assert!((winding - f64::from(u8::from(is_inside))).abs() < 1e-9);
        }
    }
}
