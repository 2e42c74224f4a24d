//! Which pairs of a body the theorem covers, by limits that are set by hand.

use glam::Vec3;

use super::super::{FastBvh, Settings};
use super::*;

/// A body of two triangles that share a corner, or two that share nothing, with residuals that
/// differ by `differ` along one edge of each, and one listed pair with this margin.
fn listed(shared: bool, margin: f32, differ: f32) -> (Mesh, Body) {
    let mut scene = FastBvh::new(Settings::default());
    let at = |x: f64, y: f64| glam::DVec3::new(x, y, 0.0);
    let positions = [
        at(0.0, 0.0),
        at(1.0, 0.0),
        at(0.0, 1.0),
        at(-1.0, 0.0),
        at(0.0, -1.0),
        at(-1.0, -1.0),
    ];
    let second = if shared { [0, 3, 4] } else { [3, 4, 5] };
    let count = if shared { 5 } else { 6 };
    let id = scene
        .add(&positions[..count], &[[0, 1, 2], second])
        .unwrap();
    scene.update();
    let mut mesh = std::mem::take(&mut scene.mesh);
    let mut body = mesh.bodies[id.0 as usize].take().unwrap();
    for residuals in &mut mesh.rest.residuals {
        residuals.clear();
        residuals.resize(count, Vec3::ZERO);
    }
    if shared {
        mesh.rest.residuals[1][1] = Vec3::X * differ;
        mesh.rest.residuals[0][3] = Vec3::Y * differ;
    } else {
        mesh.rest.residuals[1][3] = Vec3::Z * differ;
    }
    mesh.uncertain.clear();
    let near = vec![Near {
        margin,
        triangles: [0, 1],
    }];
    let own = &mut body.clearance;
    (own.joined, own.apart) = (Vec::new(), Vec::new());
    if shared {
        own.joined = near;
    } else {
        own.apart = near;
    }
    (mesh, body)
}

/// Pairs whose features may come as near as rounding and residuals allow are tested, others
/// are not: two corners strain by 0.1 each; residuals may be wrong by `room` each.
#[test]
fn pairs_are_tested_where_residuals_and_their_rounding_use_up_the_margin() {
    for shared in [true, false] {
        for (stretch, room) in [
            (1.0, 0.0),
            (1.0, 0.05),
            (0.5, 0.05),
            (0.5, 0.2),
            (2.0, 0.01),
        ] {
            // Joined: the strain of both, seen at any end of the step. Apart: the difference
            // of one corner of each, and the strain of the body twice.
            let strain = if shared { 0.1 } else { 0.03 };
            let differ = if shared { 0.2 } else { 0.1 + 2.0 * strain };
            let needed = (differ + 2.0 * room) / stretch;
            for (share, tested) in [(0.98, true), (1.02, false), (0.2, true)] {
                let margin = (share * needed) as f32;
                let (mut mesh, body) = listed(shared, margin, 0.1);
                let limits = Limits {
                    stretch,
                    strain: if shared { 10.0 } else { strain },
                    spread: 10.0,
                    room,
                };
                assert!(choose_pairs(&mut mesh, &body, &limits, f64::INFINITY, 9));
                let told = mesh.uncertain.len();
                assert_eq!(
                    told,
                    usize::from(tested),
                    "{shared} {stretch} {room} {share}"
                );
                // Gives up where more are to be tested than walking the tree costs.
                mesh.uncertain.clear();
                assert_eq!(
                    choose_pairs(&mut mesh, &body, &limits, f64::INFINITY, 0),
                    !tested
                );
                // What is no number proves nothing.
                mesh.uncertain.clear();
                let none = Limits {
                    room: f64::NAN,
                    ..limits
                };
                assert!(choose_pairs(&mut mesh, &body, &none, f64::INFINITY, 9));
                assert_eq!(mesh.uncertain.len(), 1);
            }
        }
    }
}
