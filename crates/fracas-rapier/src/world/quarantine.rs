//! A piece whose state is not finite, or beyond all measure, is removed before it spoils
//! others.
//!
//! The engine itself disables a body whose state is no longer finite, but only after its
//! step, when contacts have carried the damage on; and a speed of 1e30 is finite. So
//! pieces are looked at before the engine's step and after it. Removals are told by
//! [`Event::Lost`] and counted in [`World::bodies_lost`]; the world goes on. Bodies of the game
//! are the game's: they are left to the engine.

use glam::Vec3;
use rapier3d::prelude::{RigidBody, RigidBodyHandle};

use super::{Event, World};

/// Beyond these a body has left every world that single precision can hold: positions
/// are then a metre apart from the next number, and squares of speeds overflow soon
/// after. In metres, and in metres or radians per second.
const FARTHEST: f32 = 1e7;
const FASTEST: f32 = 1e7;

/// Whether a body's state is one that the engine can go on with.
pub(super) fn is_sound(body: &RigidBody, units: f32) -> bool {
    let within = |v: Vec3, most: f32| v.is_finite() && v.abs().max_element() <= most;
    let pose = body.position();
    if body.is_fixed() {
        // A floor may be anywhere that is a place.
        return pose.translation.is_finite() && pose.rotation.is_finite();
    }
    within(pose.translation, FARTHEST * units)
        && pose.rotation.is_finite()
        && within(body.linvel(), FASTEST * units)
        && within(body.angvel(), FASTEST)
        && body.user_force().is_finite()
        && body.user_torque().is_finite()
}

impl World {
    /// Removes every piece whose state is not sound.
    pub(super) fn quarantine(&mut self) {
        let is_spoilt = |handle: &RigidBodyHandle| {
            let body = self.physics.bodies.get(*handle);
            body.is_some_and(|body| !is_sound(body, self.units))
        };
        let bodies = self
            .pieces()
            .filter_map(|piece| self.breakables.body(piece));
        let spoilt: Vec<RigidBodyHandle> = bodies.filter(is_spoilt).collect();
        self.take_away(&spoilt);
    }

    /// Removes the pieces behind these bodies, with an event; leaves bodies of the game.
    pub(super) fn take_away(&mut self, handles: &[RigidBodyHandle]) {
        for &handle in handles {
            let colliders = self.physics.bodies.get(handle).map(RigidBody::colliders);
            let pieces = colliders.into_iter().flatten().map(|&c| self.piece_of(c));
            if let Some(piece) = pieces.flatten().next() {
                self.remove_and_tell(piece, Event::Lost);
                self.bodies_lost += 1;
            }
        }
    }
}
