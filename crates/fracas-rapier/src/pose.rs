//! Poses of the engine and of the library.

use glam::Mat3;
use parry3d::math::Pose;
#[cfg(feature = "world")]
use rapier3d::prelude::{Collider, RigidBody, RigidBodySet};

/// The engine's pose as the library has it.
pub(crate) fn to_pose(pose: &Pose) -> fracas_core::Pose {
    fracas_core::Pose {
        rotation: Mat3::from_quat(pose.rotation),
        translation: pose.translation,
    }
}

/// Where a collider will be asked: one that the user has moved goes along with its body.
#[cfg(feature = "world")]
pub(crate) fn place(collider: &Collider, bodies: &RigidBodySet) -> Pose {
    place_by(collider, bodies, |body| *body.position())
}

/// Where it will be `dt` seconds later (where it was, if negative), as its body moves now.
#[cfg(feature = "world")]
pub(crate) fn place_after(collider: &Collider, bodies: &RigidBodySet, dt: f32) -> Pose {
    place_by(collider, bodies, |body| {
        body.predict_position_using_velocity(dt)
    })
}

#[cfg(feature = "world")]
fn place_by(
    collider: &Collider,
    bodies: &RigidBodySet,
    at: impl FnOnce(&RigidBody) -> Pose,
) -> Pose {
    let body = collider.parent().and_then(|h| bodies.get(h));
    body.map_or(*collider.position(), |body| {
        let at = at(body);
        collider
            .position_wrt_parent()
            .map_or(at, |local| at * *local)
    })
}
