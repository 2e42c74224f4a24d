//! Numbers that are none: a body whose state is not finite, or beyond all measure, is
//! taken away before it spoils others.
//!
//! The engine itself disables a body whose state is no longer finite, but only after its
//! step, when contacts have carried the damage on; and a speed of 1e30 is finite. So
//! bodies are looked at before the engine's step and after it. What goes is told by
//! [`Event::Lost`] and counted in [`World::bodies_lost`]; the world goes on.

use glam::Vec3;
use rapier3d::prelude::{RigidBody, RigidBodyHandle};

use super::{Event, World};

/// Beyond these a body has left every world that single precision can hold: positions
/// are then a metre apart from the next number, and squares of speeds overflow soon
/// after. In units of length, and of length or radians per second.
const FARTHEST: f32 = 1e7;
const FASTEST: f32 = 1e7;

/// Whether a body's state is one that the engine can go on with.
fn is_sound(body: &RigidBody) -> bool {
    let within = |v: Vec3, most: f32| v.is_finite() && v.abs().max_element() <= most;
    let pose = body.position();
    if body.is_fixed() {
        // A floor may be anywhere that is a place.
        return pose.translation.is_finite() && pose.rotation.is_finite();
    }
    within(pose.translation, FARTHEST)
        && pose.rotation.is_finite()
        && within(body.linvel(), FASTEST)
        && within(body.angvel(), FASTEST)
        && body.user_force().is_finite()
        && body.user_torque().is_finite()
}

impl World {
    /// Takes away every body whose state is not sound.
    pub(super) fn quarantine(&mut self) {
        let spoilt: Vec<RigidBodyHandle> = self
            .physics
            .bodies
            .iter()
            .filter(|(_, body)| !is_sound(body))
            .map(|(handle, _)| handle)
            .collect();
        self.take_away(&spoilt);
    }

    /// Removes bodies, ours and others, and says so.
    pub(super) fn take_away(&mut self, handles: &[RigidBodyHandle]) {
        for &handle in handles {
            let colliders = self.physics.bodies.get(handle).map(RigidBody::colliders);
            let piece = colliders.and_then(|c| self.piece_of(*c.first()?));
            match piece {
                Some(piece) => {
                    self.remove_and_tell(piece, Event::Lost);
                }
                None => {
                    self.physics.remove_body(handle);
                }
            }
            self.bodies_lost += 1;
        }
    }
}
