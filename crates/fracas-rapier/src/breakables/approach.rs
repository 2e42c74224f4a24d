//! How bodies came at each other: their velocities before the step.
//!
//! After the step a contact tells its impulse, and not whether something hit or only
//! weighed on it: when a pile is put up, or what held it breaks, the load of all that is
//! above comes at once, with hardly any motion. See [`super::decide`].

use glam::Vec3;
use rapier3d::prelude::{RigidBody, RigidBodyHandle, RigidBodySet};

/// Velocities of all bodies before a step.
#[derive(Clone, Debug, Default)]
pub(crate) struct Approach {
    /// In the order of the handles; empty when nobody noted them.
    velocities: Vec<(RigidBodyHandle, [Vec3; 2])>,
}

impl Approach {
    pub(crate) fn note(&mut self, bodies: &RigidBodySet) {
        self.velocities.clear();
        let moving = bodies.iter().filter(|(_, body)| !body.is_sleeping());
        self.velocities
            .extend(moving.map(|(handle, body)| (handle, [body.linvel(), body.angvel()])));
        self.velocities
            .sort_unstable_by_key(|(handle, _)| handle.into_raw_parts());
    }

    pub(crate) fn forget(&mut self) {
        self.velocities.clear();
    }

    /// Whether velocities are known.
    pub(crate) fn is_known(&self) -> bool {
        !self.velocities.is_empty()
    }

    /// The velocity that a body's point had, in the world; zero if the body slept.
    pub(crate) fn at(&self, handle: RigidBodyHandle, body: &RigidBody, point: Vec3) -> Vec3 {
        let key = |(handle, _): &(RigidBodyHandle, _)| handle.into_raw_parts();
        let found = self
            .velocities
            .binary_search_by_key(&handle.into_raw_parts(), key);
        found.map_or(Vec3::ZERO, |at| {
            let [velocity, spin] = self.velocities[at].1;
            velocity + spin.cross(point - body.center_of_mass())
        })
    }
}
