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
    let residuals = &mesh.rest.residuals;
    for v in 0..count as u32 {
        residuals[0].set(v, Vec3::ZERO);
        residuals[1].set(v, Vec3::ZERO);
    }
    if shared {
        residuals[1].set(1, Vec3::X * differ);
        residuals[0].set(3, Vec3::Y * differ);
    } else {
        residuals[1].set(3, Vec3::Z * differ);
    }
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
                let (mut mesh, mut body) = listed(shared, margin, 0.1);
                let limits = Limits {
                    stretch,
                    strain: if shared { 10.0 } else { strain },
                    spread: 10.0,
                    room,
                };
                let tree = Tree::default();
                let (ground, _) = Ground::of(&mut mesh, &tree, &[], false);
                let mut choose = |limits: &Limits, most| {
                    let few = choose_pairs(&ground, &mut body, limits, f64::INFINITY, most);
                    (few, body.clearance.pairs.len())
                };
                assert_eq!(
                    choose(&limits, 9),
                    (true, usize::from(tested)),
                    "{shared} {stretch} {room} {share}"
                );
                // Gives up where more are to be tested than walking the tree costs.
                assert_eq!(choose(&limits, 0).0, !tested);
                // What is no number proves nothing.
                let none = Limits {
                    room: f64::NAN,
                    ..limits
                };
                assert_eq!(choose(&none, 9), (true, 1));
            }
        }
    }
}
