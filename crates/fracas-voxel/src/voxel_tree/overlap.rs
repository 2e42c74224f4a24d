//! The exact overlap of two cubes: what eq. 7 stands in for.
//!
//! Steps: take the six faces of cube B in the frame of cube A -> cut them by the six
//! planes of A, closing each cut with a cap -> the volume of what is left, by the
//! pyramids over its faces.
//!
//! Source: K of [Dingliana 2004, eq. 4]. The paper leaves it at that ("an expensive
//! process") and measures interpenetration by a length instead, kappa of eq. 7, see
//! [`interpenetration`](super::interpenetration). This file is the oracle for it,
//! used by tests and by the error experiment, not by detection.
//!
//! **Guarantee**: exact to f64 rounding. kappa is never below K: where the objects
//! may be in each other, eq. 7 does not look away (tested; for kappa up to one half
//! it follows from the concavity of a cube's sections, by Brunn and Minkowski).

use glam::{DVec3, Mat3, Vec3};

/// K of eq. 4: the volume shared by a cube of edge `a` and one of edge `b`, turned
/// by `rotation` and displaced by `offset` in A's frame, as a share of the smaller.
#[must_use]
pub fn overlap_share(rotation: &Mat3, offset: Vec3, a: f32, b: f32) -> f64 {
    let (half_a, half_b) = (0.5 * f64::from(a), 0.5 * f64::from(b));
    let columns = [rotation.x_axis, rotation.y_axis, rotation.z_axis].map(|c| c.as_dvec3());
    let mut faces = cube_faces(columns, offset.as_dvec3(), half_b);
    for axis in 0..3 {
        for sign in [-1.0, 1.0] {
            clip(&mut faces, axis, sign, half_a);
        }
    }
    let smaller = 2.0 * half_a.min(half_b);
    (volume(&faces) / (smaller * smaller * smaller)).clamp(0.0, 1.0)
}

/// The faces of a cube, counter-clockwise from outside.
fn cube_faces(columns: [DVec3; 3], centre: DVec3, half: f64) -> Vec<Vec<DVec3>> {
    let mut faces = Vec::with_capacity(6);
    for axis in 0..3 {
        let (u, v) = (columns[(axis + 1) % 3], columns[(axis + 2) % 3]);
        for sign in [-1.0, 1.0] {
            let middle = centre + columns[axis] * (sign * half);
            // u, v and the axis are right-handed: the other side runs the other way.
            let turns = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)];
            faces.push(
                turns
                    .iter()
                    .map(|&(s, t)| middle + (u * (s * sign) + v * t) * half)
                    .collect(),
            );
        }
    }
    faces
}

/// Keeps the part with `sign * x[axis] <= half`.
fn clip(faces: &mut Vec<Vec<DVec3>>, axis: usize, sign: f64, half: f64) {
    let room = |p: DVec3| half - sign * p[axis];
    let mut cap: Vec<DVec3> = Vec::new();
    let mut has_face_there = false;
    for face in faces.iter_mut() {
        let old = std::mem::take(face);
        for (i, &p) in old.iter().enumerate() {
            let q = old[(i + 1) % old.len()];
            let (r, s) = (room(p), room(q));
            if r >= 0.0 {
                face.push(p);
            }
            if (r > 0.0 && s < 0.0) || (r < 0.0 && s > 0.0) {
                let mut cut = p + (q - p) * (r / (r - s));
                cut[axis] = sign * half;
                face.push(cut);
            }
        }
        // Cuts lie on the plane exactly, so equality finds them.
        let on_plane = |p: &&DVec3| p[axis] == sign * half;
        let count = face.iter().filter(on_plane).count();
        has_face_there |= count == face.len() && count > 2;
        cap.extend(face.iter().filter(on_plane));
    }
    faces.retain(|face| face.len() > 2);
    if !has_face_there && cap.len() > 2 && !faces.is_empty() {
        faces.push(convex_order(cap, axis, sign));
    }
}

/// Points of a plane across `axis` in the order of a convex polygon, seen from the
/// side that `sign` names.
fn convex_order(mut points: Vec<DVec3>, axis: usize, sign: f64) -> Vec<DVec3> {
    let middle = points.iter().sum::<DVec3>() / points.len() as f64;
    let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
    let angle = |p: &DVec3| sign * libm::atan2(p[v] - middle[v], p[u] - middle[u]);
    points.sort_by(|p, q| angle(p).total_cmp(&angle(q)));
    points
}

fn volume(faces: &[Vec<DVec3>]) -> f64 {
    let Some(apex) = faces.first().and_then(|f| f.first()).copied() else {
        return 0.0;
    };
    let mut six = 0.0;
    for face in faces {
        for pair in face[1..].windows(2) {
            let [a, b, c] = [face[0], pair[0], pair[1]].map(|p| p - apex);
            six += a.dot(b.cross(c));
        }
    }
    (six / 6.0).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::voxel_tree::interpenetration;
    use fracas_geometry::testing::Rng;

    #[test]
    fn cubes_of_one_direction_share_a_box() {
        let k = |offset: Vec3, a, b| overlap_share(&Mat3::IDENTITY, offset, a, b);
        assert!((k(Vec3::ZERO, 1.0, 1.0) - 1.0).abs() < 1e-12);
        assert!((k(Vec3::new(0.25, 0.0, 0.0), 1.0, 1.0) - 0.75).abs() < 1e-12);
        assert!((k(Vec3::new(0.5, -0.5, 0.5), 1.0, 1.0) - 0.125).abs() < 1e-12);
        assert!((k(Vec3::new(0.1, 0.2, -0.3), 4.0, 1.0) - 1.0).abs() < 1e-12);
        assert_eq!(k(Vec3::X, 1.0, 1.0), 0.0, "touching is no volume");
        assert_eq!(k(Vec3::X * 3.0, 1.0, 1.0), 0.0);
        // A quarter turn changes nothing but which face is which.
        let quarter = Mat3::from_cols(Vec3::Y, -Vec3::X, Vec3::Z);
        let turned = overlap_share(&quarter, Vec3::new(0.25, 0.0, 0.0), 1.0, 1.0);
        assert!((turned - 0.75).abs() < 1e-12);
    }

    #[test]
    fn an_eighth_turn_leaves_an_octagonal_prism() {
        let turn = Mat3::from_rotation_z(std::f32::consts::FRAC_PI_4);
        let expected = 2.0 * (2.0_f64.sqrt() - 1.0);
        let found = overlap_share(&turn, Vec3::ZERO, 1.0, 1.0);
        assert!((found - expected).abs() < 1e-6, "{found}");
    }

    #[test]
    fn the_overlap_is_what_points_drawn_in_the_smaller_cube_find() {
        let mut rng = Rng(4);
        for _ in 0..60 {
            let rotation = Mat3::from_axis_angle(rng.direction(), rng.range(0.0, 6.0));
            let (a, b) = (rng.range(0.8, 1.5), rng.range(0.5, 0.8));
            let offset = rng.direction() * rng.range(0.0, 1.2);
            let exact = overlap_share(&rotation, offset, a, b);
            let (mut inside, drawn) = (0, 20_000);
            for _ in 0..drawn {
                let p = rng.in_box(Vec3::splat(-0.5 * b), Vec3::splat(0.5 * b));
                let in_a = rotation * p + offset;
                inside += u32::from(in_a.abs().max_element() <= 0.5 * a);
            }
            let share = f64::from(inside) / f64::from(drawn);
            assert!((share - exact).abs() < 0.02, "{exact}, drawn {share}");
            // The same seen from B.
            let back = rotation.transpose();
            let other = overlap_share(&back, -(back * offset), b, a);
            assert!((other - exact).abs() < 1e-5);
        }
    }

    #[test]
    fn kappa_is_never_below_the_exact_overlap_and_orders_cubes_as_it_does() {
        let mut rng = Rng(7);
        let (mut agree, mut pairs) = (0, 0);
        let mut last: Option<(f32, f64)> = None;
        for i in 0..4000 {
            let rotation = Mat3::from_axis_angle(rng.direction(), rng.range(0.0, 6.0));
            let (a, b) = if i % 2 == 0 {
                (1.0, 1.0)
            } else {
                (rng.range(0.3, 2.0), rng.range(0.3, 2.0))
            };
            let offset = rng.direction() * rng.range(0.0, 0.9 * (a + b));
            let exact = overlap_share(&rotation, offset, a, b);
            let kappa = interpenetration(a, b, offset.length());
            assert!(f64::from(kappa) > exact - 1e-5, "{kappa} below {exact}");
            if exact > 1.0 - 1e-9 {
                assert!(kappa > 0.999, "wholly inside, but kappa is {kappa}");
            }
            // Cubes of one size: what eq. 7 is for is to tell more from less.
            if i % 2 == 0 {
                if let Some((k, e)) = last
                    && (e - exact).abs() > 0.05
                {
                    pairs += 1;
                    agree += u32::from((k > kappa) == (e > exact));
                }
                last = Some((kappa, exact));
            }
        }
        assert!(
            pairs > 500 && agree > pairs * 95 / 100,
            "{agree} of {pairs}"
        );
    }
}
