//! Forces separate, cancel, and follow the linear field.

use super::*;
use crate::tet_distance::detect::Detector;
use crate::tet_distance::march::Method;
use crate::tet_distance::topology::Topology;
use fracas_geometry::testing::{Rng, box_grid};

/// A tetrahedron with a node at its centre: the smallest object that has depth.
fn split_tet(corners: [Vec3; 4]) -> (Topology, Vec<Vec3>) {
    let mut positions = corners.to_vec();
    positions.push(corners.iter().sum::<Vec3>() / 4.0);
    let tets = [[0, 1, 2, 4], [0, 1, 4, 3], [0, 4, 2, 3], [4, 1, 2, 3]];
    (Topology::build(5, &tets).unwrap(), positions)
}

fn respond(objects: &[Object], response: Response) -> Vec<Push> {
    let mut pairs = Vec::new();
    Detector::default().overlaps(objects, &mut pairs);
    let fields: Vec<DepthField> = objects
        .iter()
        .enumerate()
        .map(|(i, o)| {
            let marked: Vec<u32> = pairs
                .iter()
                .flatten()
                .filter(|t| t.object == i as u32)
                .map(|t| t.tet)
                .collect();
            let mut field = DepthField::new(Method::ClosestFeature);
            field.march_to(o.topology, o.positions, &marked);
            field
        })
        .collect();
    let mut pushes = Vec::new();
    let mut responder = Responder::default();
    responder.pushes(objects, &fields, &pairs, response, &mut pushes);
    responder.parallel = true;
    let mut on_threads = Vec::new();
    responder.pushes(objects, &fields, &pairs, response, &mut on_threads);
    assert_eq!(pushes, on_threads, "the same on any threads");
    pushes
}

fn node_forces(objects: &[Object], pushes: &[Push]) -> Vec<Vec<DVec3>> {
    let mut forces: Vec<Vec<DVec3>> = objects
        .iter()
        .map(|o| vec![DVec3::ZERO; o.positions.len()])
        .collect();
    for push in pushes {
        let force = (push.normal * push.measure).as_dvec3();
        for (n, w) in push.pushed_nodes() {
            forces[push.object as usize][n as usize] += force * f64::from(w);
        }
        let pusher = push.tet.object as usize;
        let nodes = objects[pusher].topology.tets()[push.tet.tet as usize];
        for (n, w) in nodes.into_iter().zip(push.weights) {
            forces[pusher][n as usize] -= force * f64::from(w);
        }
    }
    forces
}

/// [Marchal 2004, Fig. 11]: two tetrahedra that cross by their edges.
fn crossing(gap: f32) -> [(Topology, Vec<Vec3>); 2] {
    let a = split_tet([
        Vec3::new(-1.0, 0.0, 0.2),
        Vec3::new(1.0, 0.0, 0.2),
        Vec3::new(0.0, 0.4, -1.0),
        Vec3::new(0.0, -0.4, -1.0),
    ]);
    let b = split_tet(
        [
            Vec3::new(0.0, -1.0, -0.2),
            Vec3::new(0.0, 1.0, -0.2),
            Vec3::new(-0.4, 0.0, 1.0),
            Vec3::new(0.4, 0.0, 1.0),
        ]
        .map(|p| p + Vec3::Z * gap),
    );
    [a, b]
}

#[test]
fn crossing_edges_get_no_point_response_and_a_segment_response_that_separates() {
    let bodies = crossing(0.0);
    let objects = [0, 1].map(|i| Object {
        topology: &bodies[i].0,
        positions: &bodies[i].1,
    });
    assert!(respond(&objects, Response::Point).is_empty());
    let pushes = respond(&objects, Response::Segment);
    assert!(!pushes.is_empty());
    let forces = node_forces(&objects, &pushes);
    let total = forces.map_sum();
    assert!(total[0].z < 0.0 && total[1].z > 0.0, "{total:?}");

    // Followed, the force separates them.
    let mut gap = 0.0;
    for _ in 0..200 {
        let bodies = crossing(gap);
        let objects = [0, 1].map(|i| Object {
            topology: &bodies[i].0,
            positions: &bodies[i].1,
        });
        let pushes = respond(&objects, Response::Segment);
        if pushes.is_empty() {
            break;
        }
        gap += (4.0 * node_forces(&objects, &pushes).map_sum()[1].z as f32).max(1e-3);
    }
    assert!((0.395..0.45).contains(&gap), "they part at 0.4, not {gap}");
}

trait MapSum {
    fn map_sum(&self) -> Vec<DVec3>;
}

impl MapSum for Vec<Vec<DVec3>> {
    fn map_sum(&self) -> Vec<DVec3> {
        self.iter().map(|f| f.iter().sum()).collect()
    }
}

#[test]
fn forces_and_torques_cancel() {
    let mesh = box_grid([4, 4, 4], Vec3::ONE);
    let topology = Topology::build(mesh.positions().len(), mesh.tets()).unwrap();
    let mut rng = Rng(4);
    for response in [Response::Point, Response::Segment] {
        for _ in 0..4 {
            let offset = rng.direction() * 0.7;
            let moved: Vec<Vec3> = mesh
                .positions()
                .iter()
                .map(|&p| Vec3::new(p.z, p.x, p.y) + offset + 0.03 * rng.direction())
                .collect();
            let objects = [mesh.positions(), &moved].map(|positions| Object {
                topology: &topology,
                positions,
            });
            let pushes = respond(&objects, response);
            assert!(!pushes.is_empty());
            let forces = node_forces(&objects, &pushes);
            let (mut sum, mut torque, mut size) = (DVec3::ZERO, DVec3::ZERO, 0.0);
            for (object, forces) in objects.iter().zip(&forces) {
                for (&p, &f) in object.positions.iter().zip(forces) {
                    sum += f;
                    torque += p.as_dvec3().cross(f);
                    size += f.length();
                }
            }
            assert!(sum.length() < 1e-6 * size, "force {sum} of {size}");
            assert!(torque.length() < 2e-6 * size, "torque {torque} of {size}");
        }
    }
}

#[test]
fn point_depth_and_direction_are_those_of_a_linear_field() {
    let mut rng = Rng(2);
    for _ in 0..200 {
        let corners: [Vec3; 4] =
            std::array::from_fn(|_| rng.in_box(Vec3::splat(-1.0), Vec3::splat(1.0)));
        let direction = rng.direction();
        let depth = |p: Vec3| 2.0 + direction.dot(p);
        let Some(tet) = DepthTet::new(corners, corners.map(depth)) else {
            continue;
        };
        if fracas_geometry::tet_mesh::signed_volume(corners).abs() < 1e-3 {
            continue;
        }
        assert!(tet.normal().distance(-direction) < 1e-3);
        let w: [f32; 4] = std::array::from_fn(|_| rng.unit() + 0.01);
        let sum: f32 = w.iter().sum();
        let p = (0..4).map(|i| corners[i] * (w[i] / sum)).sum::<Vec3>();
        let (weights, d) = tet.point(p).expect("inside");
        assert!((d - depth(p)).abs() < 1e-4);
        assert!((0..4).all(|i| (weights[i] - w[i] / sum).abs() < 1e-3));

        // The integral along a segment, against many small steps.
        let (a, b) = (p - rng.direction(), p + rng.direction());
        let part = tet.segment(a, b);
        let steps = 2000;
        let (mut summed, mut of_entry) = (0.0, 0.0);
        for i in 0..steps {
            let s = (i as f32 + 0.5) / steps as f32;
            let x = a + (b - a) * s;
            if let (Some((_, d)), Some(part)) = (tet.point(x), part) {
                summed += d * a.distance(b) / steps as f32;
                // What presses between two points is borne by them as by a beam's ends.
                let [enter, leave] = part.along;
                let share = ((leave - s) / (leave - enter)).clamp(0.0, 1.0);
                of_entry += share * d * a.distance(b) / steps as f32;
            }
        }
        let integral = part.map_or(0.0, |part| part.integral);
        assert!((integral - summed).abs() < 5e-3, "{integral} {summed}");
        if let Some(part) = part {
            assert!((part.shares[0] + part.shares[1] - 1.0).abs() < 1e-6);
            let borne = part.shares[0] * part.integral;
            assert!((borne - of_entry).abs() < 5e-3, "{borne} {of_entry}");
            assert!(part.along[0] >= 0.0 && part.along[1] <= 1.0);
        }
    }
}

#[test]
fn flat_and_depthless_tets_push_nothing() {
    let unit = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z];
    assert!(DepthTet::new(unit, [0.0; 4]).is_none());
    assert!(
        DepthTet::new(
            [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::ONE.with_z(0.0)],
            [0.0, 0.0, 0.0, 1.0]
        )
        .is_none()
    );
    assert!(DepthTet::new([Vec3::NAN; 4], [0.0, 0.0, 0.0, 1.0]).is_none());
    let tet = DepthTet::new(unit, [0.0, 0.0, 0.0, 0.1]).unwrap();
    assert!(tet.segment(Vec3::NAN, Vec3::X).is_none());
    assert!(tet.point(Vec3::NAN).is_none());
    assert!(tet.segment(Vec3::splat(2.0), Vec3::splat(3.0)).is_none());
}
