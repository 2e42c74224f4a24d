//! How bodies came at each other: where they were and how they moved before the step.
//!
//! After the step a contact tells its impulse, and not whether something hit or only
//! weighed on it: when a pile is put up, or what held it breaks, the load of all that is
//! above comes at once, with hardly any motion. See [`super::decide`].
//!
//! Where a body breaks, the step is taken back for the bodies that the break concerns: see
//! [`super::give_way`].

use std::collections::BTreeSet;

use glam::Vec3;
use parry3d::math::Pose;
use rapier3d::prelude::{RigidBody, RigidBodyHandle, RigidBodySet};

/// A body's handle in its two parts, which have an order.
pub(crate) type BodyKey = (u32, u32);

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
        self.before(handle)
            .filter(|before| !before.asleep)
            .map_or(Moved::default(), |before| Moved {
                velocity: before.velocity,
                spin: before.spin,
            })
    }

    /// How fast a body was before the step, asleep or not, in length units per second.
    pub(crate) fn speed(&self, handle: RigidBodyHandle) -> f32 {
        self.before(handle).map_or(0.0, |b| b.velocity.length())
    }

    /// Where a body was before the step.
    pub(crate) fn pose(&self, handle: RigidBodyHandle) -> Option<Pose> {
        self.before(handle).map(|before| before.pose)
    }

    fn before(&self, handle: RigidBodyHandle) -> Option<&Before> {
        let key = |before: &Before| before.handle.into_raw_parts();
        let found = self
            .bodies
            .binary_search_by_key(&handle.into_raw_parts(), key);
        found.ok().map(|at| &self.bodies[at])
    }

    /// The ways of all kinematic bodies that moved in the step: from where, to where.
    pub(crate) fn kinematic_paths(
        &self,
        bodies: &RigidBodySet,
    ) -> Vec<(RigidBodyHandle, Pose, Pose)> {
        let moved = |before: &Before| {
            let body = bodies.get(before.handle).filter(|b| b.is_kinematic())?;
            let path = (before.handle, before.pose, *body.position());
            (path.1 != path.2).then_some(path)
        };
        self.bodies.iter().filter_map(moved).collect()
    }

    /// Puts these bodies back to where they were, moving as they did.
    pub(crate) fn restore(&self, concerned: &BTreeSet<BodyKey>, bodies: &mut RigidBodySet) {
        let is_concerned = |b: &&Before| concerned.contains(&b.handle.into_raw_parts());
        for before in self.bodies.iter().filter(is_concerned) {
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
            body.set_linvel(before.velocity, wake);
            body.set_angvel(before.spin, wake);
        }
    }
}
