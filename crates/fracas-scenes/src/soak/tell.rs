//! What is told of a body that breaks the rule of speed: what it is, and what it touches.

use fracas_rapier::{PieceId, World};
use rapier3d::prelude::{ColliderHandle, RigidBody};

/// Mass, volume and motion of a piece, then each body that pushed it in the last step: who,
/// how heavy, how fast, and the points with an impulse (N s), their depth (mm) and normal.
pub(super) fn tell_fast(world: &World, piece: PieceId) -> String {
    let (Some(body), Some(shape), Some(own)) =
        (world.body(piece), world.shape(piece), world.collider(piece))
    else {
        return format!("{piece:?} is gone");
    };
    let mut text = format!(
        "{piece:?} at {:.1} m/s: {}, {:.2} ml, at {:.3}",
        body.linvel().length(),
        tell_body(body),
        1e6 * shape.volume(),
        body.center_of_mass()
    );
    for pair in world.physics.narrow_phase.contact_pairs_with(own) {
        let is_first = pair.collider1 == own;
        let other = if is_first {
            pair.collider2
        } else {
            pair.collider1
        };
        for manifold in pair.manifolds() {
            let points = manifold.points.iter();
            let pushing: Vec<_> = points.filter(|p| p.data.impulse > 0.0).collect();
            if pushing.is_empty() {
                continue;
            }
            let normal = if is_first { -1.0 } else { 1.0 } * manifold.data.normal;
            text += &format!(
                "\n  {}: pushed along {normal:.2},",
                tell_other(world, other)
            );
            for point in pushing {
                let (depth, impulse) = (-1e3 * point.dist, point.data.impulse);
                text += &format!(" {depth:.2} mm {impulse:.4} N s,");
            }
        }
    }
    text
}

fn tell_body(body: &RigidBody) -> String {
    format!("{:.4} kg, {:.2} m/s", body.mass(), body.linvel())
}

fn tell_other(world: &World, collider: ColliderHandle) -> String {
    let name = match world.piece_of(collider) {
        Some(piece) => format!("{piece:?}"),
        None => "plain".into(),
    };
    let parent = world
        .physics
        .colliders
        .get(collider)
        .and_then(|c| c.parent());
    match parent.and_then(|parent| world.physics.bodies.get(parent)) {
        Some(body) => format!("{name} ({})", tell_body(body)),
        None => format!("{name} (fixed)"),
    }
}
