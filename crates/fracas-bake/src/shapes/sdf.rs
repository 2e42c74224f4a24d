//! Signed distance functions to model with: negative inside, smooth unions.
//!
//! Unions and ellipsoids are not exact distances, but they are zero exactly on the
//! surface and within a small factor of the distance near it, which is what the
//! mesher asks for.

use glam::DVec3;

/// Distance to a ball.
pub(super) fn ball(p: DVec3, centre: DVec3, radius: f64) -> f64 {
    p.distance(centre) - radius
}

/// About the distance to an ellipsoid with these radii along the axes: the level of
/// its implicit function over the length of that function's gradient.
pub(super) fn ellipsoid(p: DVec3, centre: DVec3, radii: DVec3) -> f64 {
    let q = p - centre;
    let level = (q / radii).length();
    let slope = (q / (radii * radii)).length();
    if slope > 0.0 {
        level * (level - 1.0) / slope
    } else {
        -radii.min_element()
    }
}

/// As [`ellipsoid`], with its axes along the given orthonormal directions.
pub(super) fn turned_ellipsoid(p: DVec3, centre: DVec3, axes: [DVec3; 3], radii: DVec3) -> f64 {
    let q = p - centre;
    let local = DVec3::new(q.dot(axes[0]), q.dot(axes[1]), q.dot(axes[2]));
    ellipsoid(local, DVec3::ZERO, radii)
}

/// About the distance to a rod with round ends whose radius goes from `ra` at `a` to
/// `rb` at `b`.
pub(super) fn rod(p: DVec3, a: DVec3, b: DVec3, ra: f64, rb: f64) -> f64 {
    let axis = b - a;
    let t = ((p - a).dot(axis) / axis.length_squared()).clamp(0.0, 1.0);
    p.distance(a + axis * t) - (ra + (rb - ra) * t)
}

/// Distance to a box with rounded edges.
pub(super) fn rounded_box(p: DVec3, centre: DVec3, half: DVec3, round: f64) -> f64 {
    let q = (p - centre).abs() - half + DVec3::splat(round);
    q.max(DVec3::ZERO).length() + q.max_element().min(0.0) - round
}

/// Distance to a cylinder with rounded rims, from `centre` half its length both ways
/// along the unit `axis`.
pub(super) fn rounded_cylinder(
    p: DVec3,
    centre: DVec3,
    axis: DVec3,
    [radius, half_length, round]: [f64; 3],
) -> f64 {
    let q = p - centre;
    let along = q.dot(axis);
    let away = (q - axis * along).length();
    let (x, y) = (away - radius + round, along.abs() - half_length + round);
    let outside = (x.max(0.0) * x.max(0.0) + y.max(0.0) * y.max(0.0)).sqrt();
    outside + x.max(y).min(0.0) - round
}

/// Union with a fillet: where both are closer than `blend`, the seam is filled.
pub(super) fn join(a: f64, b: f64, blend: f64) -> f64 {
    let overlap = (blend - (a - b).abs()).max(0.0);
    a.min(b) - overlap * overlap / (4.0 * blend)
}

/// `a` without `b`, the rim rounded by `blend`.
pub(super) fn carve(a: f64, b: f64, blend: f64) -> f64 {
    -join(-a, b, blend)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn surfaces_are_where_they_should_be() {
        let p = DVec3::new(0.3, 0.4, 0.0);
        assert!(ball(p, DVec3::ZERO, 0.5).abs() < 1e-15);
        assert!(ellipsoid(DVec3::Y * 2.0, DVec3::ZERO, DVec3::new(1.0, 2.0, 3.0)).abs() < 1e-15);
        assert!(ellipsoid(DVec3::ZERO, DVec3::ZERO, DVec3::new(1.0, 2.0, 3.0)) < 0.0);
        assert!(rod(DVec3::new(0.5, 0.25, 0.0), DVec3::ZERO, DVec3::X, 0.2, 0.3).abs() < 1e-15);
        assert!(rounded_box(DVec3::X, DVec3::ZERO, DVec3::new(1.0, 2.0, 3.0), 0.1).abs() < 1e-15);
        let disc = [0.5, 0.2, 0.05];
        let on_rim = DVec3::new(0.0, 0.5, 0.0);
        assert!(rounded_cylinder(on_rim, DVec3::ZERO, DVec3::X, disc).abs() < 1e-15);
        let on_front = DVec3::new(0.2, 0.1, 0.0);
        assert!(rounded_cylinder(on_front, DVec3::ZERO, DVec3::X, disc).abs() < 1e-15);
    }

    #[test]
    fn a_join_only_adds_and_only_near_the_seam() {
        assert_eq!(join(0.1, 0.9, 0.2), 0.1);
        assert!(join(0.1, 0.15, 0.2) < 0.1);
        assert_eq!(carve(-0.5, 0.4, 0.05), -0.4);
        assert_eq!(carve(-0.5, -0.1, 0.05), 0.1);
    }
}
