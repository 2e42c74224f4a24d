//! A hand that holds a body by a spring and a damper, and feels the force.
//!
//! The virtual coupling of haptic rendering: the hand has a pose of its own (a
//! device, or the mouse), the body is pulled towards it, and the reaction is what
//! the user feels. The spring acts at the grabbed point; an optional angular
//! spring turns the body with the hand.
//!
//! Integration: the coupling is applied as a force over the step. To stay stable at
//! any step, stiffness and damping are replaced by those of an implicit step for
//! the body's effective mass at the grabbed point: with k, c, dt and m,
//! `f = -(k x + (c + k dt) v) / (1 + (c + k dt) dt / m)`.

use glam::{Mat3, Vec3};

/// Strength of the coupling.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coupling {
    /// In newtons per metre.
    pub stiffness: f32,
    /// In newton-seconds per metre.
    pub damping: f32,
    /// In newton-metres per radian; zero lets the body swing from the hand.
    pub angular_stiffness: f32,
    /// In newton-metre-seconds per radian.
    pub angular_damping: f32,
    /// The hand never pulls harder than this, in newtons.
    pub most_force: f32,
}

impl Default for Coupling {
    /// A hand that lifts a kilogram with a sag of 3 cm and swings it freely.
    fn default() -> Self {
        Self {
            stiffness: 300.0,
            damping: 30.0,
            angular_stiffness: 0.0,
            angular_damping: 0.02,
            most_force: 200.0,
        }
    }
}

/// Force and torque on the body, in newtons and newton-metres; the hand feels the
/// opposite.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Wrench {
    /// At the grabbed point.
    pub force: Vec3,
    /// About the centre of mass, the moment of `force` not included.
    pub torque: Vec3,
}

/// The state of the held body at the grabbed point.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    /// From the hand to the grabbed point.
    pub(crate) offset: Vec3,
    /// Velocity of the grabbed point relative to the hand.
    pub(crate) velocity: Vec3,
    /// One over the effective mass at the grabbed point.
    pub(crate) inverse_mass: f32,
    /// Rotation vector from the hand's orientation to the body's, in radians.
    pub(crate) turn: Vec3,
    /// Angular velocity relative to the hand.
    pub(crate) spin: Vec3,
    /// World-space inverse inertia.
    pub(crate) inverse_inertia: Mat3,
}

impl Coupling {
    /// The same in a world with so many length units per metre.
    pub(crate) fn in_units(&self, units: f32) -> Self {
        Self {
            angular_stiffness: self.angular_stiffness * units * units,
            angular_damping: self.angular_damping * units * units,
            most_force: self.most_force * units,
            ..*self
        }
    }

    /// What the hand does to the body over a step of `dt` seconds.
    pub(crate) fn wrench(&self, held: &Held, dt: f32) -> Wrench {
        let implicit = |k: f32, c: f32, x: Vec3, v: Vec3, inverse_mass: f32| {
            let c = c + k * dt;
            -(k * x + c * v) / (1.0 + c * dt * inverse_mass)
        };
        let force = implicit(
            self.stiffness,
            self.damping,
            held.offset,
            held.velocity,
            held.inverse_mass,
        );
        // The largest inverse inertia bounds how fast any axis can turn.
        let inverse = held.inverse_inertia.x_axis.x
            + held.inverse_inertia.y_axis.y
            + held.inverse_inertia.z_axis.z;
        let torque = implicit(
            self.angular_stiffness,
            self.angular_damping,
            held.turn,
            held.spin,
            inverse,
        );
        Wrench {
            force: force.clamp_length_max(self.most_force),
            torque,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn simulate(coupling: &Coupling, dt: f32, steps: usize) -> (f32, f32) {
        let (mut x, mut v) = (0.1_f32, 0.0_f32);
        let mut largest: f32 = 0.0;
        for _ in 0..steps {
            let held = Held {
                offset: Vec3::X * x,
                velocity: Vec3::X * v,
                inverse_mass: 1.0,
                turn: Vec3::ZERO,
                spin: Vec3::ZERO,
                inverse_inertia: Mat3::IDENTITY,
            };
            v += coupling.wrench(&held, dt).force.x * dt;
            x += v * dt;
            largest = largest.max(x.abs());
        }
        (x, largest)
    }

    #[test]
    fn the_body_comes_to_the_hand_at_any_step_and_stiffness() {
        for stiffness in [10.0, 300.0, 1e5, 1e8] {
            for dt in [1e-3, 1.0 / 60.0, 0.05] {
                let coupling = Coupling {
                    stiffness,
                    damping: 20.0,
                    most_force: f32::INFINITY,
                    ..Coupling::default()
                };
                let (end, largest) = simulate(&coupling, dt, (30.0 / dt) as usize);
                assert!(end.abs() < 1e-3, "k {stiffness} dt {dt}: ends at {end}");
                assert!(
                    largest <= 0.1 + 1e-6,
                    "k {stiffness} dt {dt}: overshoots to {largest}"
                );
            }
        }
    }

    #[test]
    fn the_hand_is_not_stronger_than_it_may_be() {
        let held = Held {
            offset: Vec3::Y * 100.0,
            velocity: Vec3::ZERO,
            inverse_mass: 1.0,
            turn: Vec3::ZERO,
            spin: Vec3::ZERO,
            inverse_inertia: Mat3::IDENTITY,
        };
        assert!(Coupling::default().wrench(&held, 0.01).force.length() <= 200.0 + 1e-3);
    }
}
