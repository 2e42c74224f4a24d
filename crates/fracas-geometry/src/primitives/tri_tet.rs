//! Does a triangle enter a tetrahedron? Exact, for any corners in f32.
//!
//! **Rule.** It does if some point of the closed triangle lies strictly inside the
//! tetrahedron. Touching the tetrahedron from outside is not entering. A triangle
//! without area (a segment, a point) is judged as the set of points it is; a flat
//! tetrahedron has no inside. Corners that are not finite enter nothing.
//!
//! **Steps.** As in [`super::tet_tet`]: a face of the tetrahedron, the plane of the
//! triangle, or a plane through an edge of the tetrahedron and a corner of the
//! triangle separates the two, or nothing does.
//!
//! **Guarantee.** No wrong verdict; tested against exact integer arithmetic.

use glam::Vec3;

use super::tet_tet::{Doubt, Plane, Verdict, edge_plane_separates, faces_against};

/// Whether a point of the closed triangle lies strictly inside the tetrahedron.
#[must_use]
pub fn tri_tet_overlap(triangle: [Vec3; 3], tet: [Vec3; 4]) -> bool {
    let Some(doubt) = Doubt::of(&triangle, &tet) else {
        return false;
    };
    let front = match faces_against(&tet, &triangle, doubt) {
        Verdict::Apart => return false,
        Verdict::Inside => return true,
        Verdict::Open(front) => front,
    };
    let plane = Plane::new(triangle, doubt);
    let sides = tet.map(|p| plane.side(p));
    // With neither, the triangle has no plane: its four determinants are all zero.
    if sides.contains(&1) != sides.contains(&-1) {
        return false;
    }
    !edge_plane_separates(&tet, &triangle, front, doubt)
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNIT: [Vec3; 4] = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z];

    #[test]
    fn known_pairs() {
        let at = |z: f32| {
            [
                Vec3::new(-5.0, -5.0, z),
                Vec3::new(5.0, -5.0, z),
                Vec3::new(0.0, 9.0, z),
            ]
        };
        assert!(tri_tet_overlap(at(0.5), UNIT));
        assert!(!tri_tet_overlap(at(0.0), UNIT), "lies in a face");
        assert!(!tri_tet_overlap(at(1.0), UNIT), "touches a corner");
        assert!(!tri_tet_overlap(at(1.5), UNIT));
        let small = [Vec3::splat(0.1), Vec3::splat(0.2), Vec3::new(0.1, 0.2, 0.1)];
        assert!(tri_tet_overlap(small, UNIT));
    }

    #[test]
    fn triangles_without_area_are_segments_and_points() {
        let (low, high) = (Vec3::splat(-1.0), Vec3::splat(1.0));
        assert!(tri_tet_overlap([low, high, low], UNIT));
        assert!(tri_tet_overlap([low, high, Vec3::ZERO], UNIT));
        assert!(tri_tet_overlap([Vec3::splat(0.2); 3], UNIT));
        assert!(!tri_tet_overlap([Vec3::ZERO; 3], UNIT));
        assert!(
            !tri_tet_overlap([Vec3::ZERO, Vec3::X, Vec3::X], UNIT),
            "along an edge"
        );
        assert!(!tri_tet_overlap([low, Vec3::ZERO, low], UNIT));
        assert!(!tri_tet_overlap([low, Vec3::NAN, high], UNIT));
    }
}
