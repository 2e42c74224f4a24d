//! What a sphere tree says of its points, and how far they can move: where that is known
//! exactly. Written for mutants that no other test noticed (decision 0018).

use fracas_core::Pose;
use fracas_core::sphere_tree::{BuildOptions, FeatureKind, SphereTree};
use fracas_core::testing::{Rng, box_grid};
use glam::{Mat3, Quat, Vec3};

/// A box of 1 x 1 x 1 around nothing: from the origin to (1, 1, 1), with a point every quarter.
fn sampled_box() -> SphereTree {
    let options = BuildOptions {
        sample_spacing: Some(0.25),
    };
    SphereTree::build(&box_grid([1, 1, 1], Vec3::ONE), &options).unwrap()
}

/// The outward normals of the faces of the box that a point is on.
fn faces_of(p: Vec3) -> Vec<Vec3> {
    let axes = [Vec3::X, Vec3::Y, Vec3::Z];
    let on = |axis: &Vec3| match p.dot(*axis) {
        t if t.abs() < 1e-6 => Some(-*axis),
        t if (t - 1.0).abs() < 1e-6 => Some(*axis),
        _ => None,
    };
    axes.iter().filter_map(on).collect()
}

#[test]
fn samples_know_the_faces_they_lie_on() {
    let tree = sampled_box();
    let mut on_edges = 0;
    for (i, &p) in tree.positions().iter().enumerate() {
        let feature = tree.feature(i as u32);
        let faces = faces_of(p);
        let normal: Vec3 = faces.iter().sum();
        let kind = match faces.len() {
            1 => FeatureKind::Face,
            2 => FeatureKind::Edge,
            3 => continue,
            _ => panic!("{p} is inside of the box"),
        };
        assert_eq!(feature.kind, kind, "{p}");
        let apart = feature.normal.distance(normal.normalize());
        assert!(apart < 1e-5, "{p}: {} of {faces:?}", feature.normal);
        if let [m, n] = faces[..] {
            on_edges += 1;
            // Along the edge both ways, and into both faces.
            let along = m.cross(n);
            for want in [along, -along, -m, -n] {
                let found = feature.tangents().iter().any(|t| t.distance(want) < 1e-5);
                assert!(found, "{p}: {want} is none of {:?}", feature.tangents());
            }
            assert_eq!(feature.tangents().len(), 4, "{p}");
        }
    }
    // Three between the ends of each of the twelve, each once.
    assert_eq!(on_edges, 36);
}

#[test]
fn no_two_points_are_at_one_place() {
    let mut places = sampled_box().positions().to_vec();
    places.sort_by(|a, b| {
        a.to_array()
            .map(f32::to_bits)
            .cmp(&b.to_array().map(f32::to_bits))
    });
    let twice = places.windows(2).find(|w| w[0].distance(w[1]) < 1e-5);
    assert_eq!(twice, None);
    // Corners, edges, diagonals of the six squares, and in each of the twelve triangles the
    // inside of a lattice whose longest side has steps of a quarter.
    let steps = (2.0_f32.sqrt() / 0.25).ceil() as usize;
    let inside = (steps - 1) * (steps - 2) / 2;
    assert_eq!(places.len(), 8 + 36 + 6 * (steps - 1) + 12 * inside);
}

#[test]
fn no_point_moves_farther_than_the_bound() {
    let tree = sampled_box();
    let mut rng = Rng(3);
    let axis = |rng: &mut Rng| {
        Vec3::from_array([(); 3].map(|()| rng.range(-1.0, 1.0))).normalize_or(Vec3::X)
    };
    for _ in 0..200 {
        let place = |rng: &mut Rng| {
            let turn = Quat::from_axis_angle(axis(rng), rng.range(-3.0, 3.0));
            Pose {
                rotation: Mat3::from_quat(turn),
                translation: axis(rng) * rng.range(0.0, 2.0),
            }
        };
        let (from, to) = (place(&mut rng), place(&mut rng));
        let bound = tree.motion_bound(&from, &to);
        for &p in tree.positions() {
            let moved = from.point(p).distance(to.point(p));
            assert!(moved <= bound, "{moved} beyond {bound}");
        }
    }
}

#[test]
fn the_bound_of_a_motion_is_no_wider_than_the_motion_of_its_sphere() {
    let tree = sampled_box();
    let (centre, radius) = tree.bounding_sphere();
    let still = Pose::IDENTITY;
    for angle in [0.001_f32, 0.1, 1.0, 2.0, 3.0] {
        // About the middle of the sphere: its farthest point moves by the chord.
        let rotation = Mat3::from_rotation_y(angle);
        let turned = Pose {
            rotation,
            translation: centre - rotation * centre,
        };
        let chord = 2.0 * radius * (0.5 * angle).sin();
        let bound = tree.motion_bound(&still, &turned);
        assert!(
            bound >= chord && bound < 1.001 * chord + 1e-5,
            "{bound}, {chord}"
        );
    }
    let moved = Pose {
        translation: Vec3::new(3.0, 0.0, 4.0),
        ..still
    };
    let bound = tree.motion_bound(&still, &moved);
    assert!((5.0..5.01).contains(&bound), "{bound}");
}
