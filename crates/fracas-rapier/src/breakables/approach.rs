//! How bodies came at each other: where they were and how they moved before the step.
//!
//! After the step a contact tells its impulse, and not whether something hit or only
//! weighed on it: when a pile is put up, or what held it breaks, the load of all that is
//! above comes at once, with hardly any motion. See [`super::decide`].
//!
//! And where a body breaks, the step is taken back: see [`super::give_way`].

use glam::Vec3;
use parry3d::math::Pose;
use rapier3d::prelude::{RigidBody, RigidBodyHandle, RigidBodySet};

/// A body before a step.
#[derive(Clone, Copy, Debug)]
struct Before {
    handle: RigidBodyHandle,
    pose: Pose,
    velocity: Vec3,
    spin: Vec3,
    asleep: bool,
}

/// How a body moved before a step.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Moved {
    velocity: Vec3,
    spin: Vec3,
}

impl Moved {
    /// The velocity that its point had, in the world.
    pub(crate) fn at(&self, body: &RigidBody, point: Vec3) -> Vec3 {
        self.velocity + self.spin.cross(point - body.center_of_mass())
    }
}

/// Places and velocities of all bodies before a step.
#[derive(Clone, Debug, Default)]
pub(crate) struct Approach {
    /// In the order of the handles; empty when nobody noted them.
    bodies: Vec<Before>,
}

impl Approach {
    pub(crate) fn note(&mut self, bodies: &RigidBodySet) {
        self.bodies.clear();
        let moving = bodies.iter().filter(|(_, body)| !body.is_fixed());
        self.bodies.extend(moving.map(|(handle, body)| Before {
            handle,
            pose: *body.position(),
            velocity: body.linvel(),
            spin: body.angvel(),
            asleep: body.is_sleeping(),
        }));
        self.bodies
            .sort_unstable_by_key(|before| before.handle.into_raw_parts());
    }

    pub(crate) fn forget(&mut self) {
        self.bodies.clear();
    }

    /// Whether velocities are known.
    pub(crate) fn is_known(&self) -> bool {
        !self.bodies.is_empty()
    }

    /// How a body moved; not at all if it slept.
    pub(crate) fn of(&self, handle: RigidBodyHandle) -> Moved {
        let key = |before: &Before| before.handle.into_raw_parts();
        let found = self
            .bodies
            .binary_search_by_key(&handle.into_raw_parts(), key);
        found
            .map(|at| &self.bodies[at])
            .ok()
            .filter(|before| !before.asleep)
            .map_or(Moved::default(), |before| Moved {
                velocity: before.velocity,
                spin: before.spin,
            })
    }

    /// Puts all bodies back to where they were, moving as they did.
    pub(crate) fn restore(&self, bodies: &mut RigidBodySet) {
        for before in &self.bodies {
            let Some(body) = bodies.get(before.handle) else {
                continue;
            };
            let (pose, velocity, spin) = (*body.position(), body.linvel(), body.angvel());
            let moved = pose != before.pose || velocity != before.velocity || spin != before.spin;
            // Bodies that did not move are not touched: the engine would look at them anew.
            let Some(body) = bodies.get_mut(before.handle).filter(|_| moved) else {
                continue;
            };
            let wake = !before.asleep;
            body.set_position(before.pose, wake);
            if body.is_kinematic() {
                // It is to go there once more; velocities of such bodies are the user's.
                body.set_next_kinematic_position(pose);
            } else {
                body.set_linvel(before.velocity, wake);
                body.set_angvel(before.spin, wake);
            }
        }
    }
}
