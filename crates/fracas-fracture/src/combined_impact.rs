//! How hard an impact presses a body that bends away from it.
//!
//! A force of given shape and impulse, as from rigid bodies, is wrong where the body is
//! soft: the corner of a thin plate gives way at once, and the floor cannot stop through
//! it what it would stop through a block. Prescribed so, the force puts more energy into
//! the plate than the fall has. Here the force is found together with the motion:
//!
//! ```text
//! M x'' = -F          what is stopped as a rigid body, x' = V at first touch
//! q_k'' + 2 a_k q_k' + w_k² q_k = p_k F     each mode
//! d = x - Σ p_k q_k                         how far the surfaces are pressed together
//! F = min(K d^3/2, C d)                     Hertz, and no more than the contact bears
//! ```
//!
//! Source: Timoshenko 1913 (Hertz' law with the bending of the struck beam), Zener 1941
//! (the same for plates); crushing as in Johnson, Contact Mechanics (1985), 6.3 and 11.5:
//! beyond a mean pressure p_c the contact bears no more. What is crushed is cut flat by the
//! floor: the area of a ball is `2 pi R d` then, so `C = 2 pi R p_c`; half of it elsewhere
//! (`impact/mod.rs`). It does not come back: unloading follows Hertz' law from there.
//!
//! | symbol | here |
//! | --- | --- |
//! | M, V | `mass`, `speed`: of all points together, `1/M = Σ J_i²/m_i / J²`, `V = Σ J_i v_i / J` |
//! | p_k | `shares`: `Σ J_i . phi_k(x_i) / J` (kg^-1/2) |
//! | K, C | `stiffness` (N/m^3/2), `crush` (N/m) |
//!
//! The points of one impact are pressed in the proportions of their impulses J_i, as one
//! contact with one F. Points nearer than a radius of curvature are one Hertz contact, the
//! others are springs side by side.
//!
//! **Guarantee**: the body never has more energy than the impact brought, `M V² / 2`, to
//! the accuracy of the integration (one percent; tested).

use crate::hertz::HertzImpact;
use crate::oscillator::Stepper;

/// One impact, told by all its points together.
#[derive(Clone, Debug)]
pub(crate) struct CombinedImpact {
    /// What is stopped (kg).
    pub(crate) mass: f64,
    /// At this speed (m/s).
    pub(crate) speed: f64,
    /// Of Hertz' law (N/m^3/2).
    pub(crate) stiffness: f64,
    /// Force per metre that the contact bears at most (N/m).
    pub(crate) crush: f64,
    /// How much each mode takes part (kg^-1/2).
    pub(crate) shares: Vec<f64>,
}

/// The motion that an impact leads to.
#[derive(Clone, Debug)]
pub(crate) struct Motion {
    /// Modal coordinates at equally spaced moments, the first one `every` after touch.
    pub(crate) coordinates: Vec<Vec<f32>>,
    /// Seconds between them.
    pub(crate) every: f64,
    /// Largest force (N).
    pub(crate) force: f64,
    /// When it pressed so hard, after touch (s).
    pub(crate) hardest: f64,
}

/// Steps of integration per radian of the contact's own oscillation: the energy is then
/// right to one percent.
const STEPS_PER_RADIAN: f64 = 4.0;
/// Most steps between two samples: very stiff and light contacts are integrated no finer.
const MOST_STEPS: f64 = 64.0;

impl CombinedImpact {
    /// Energy that it brings (J).
    pub(crate) fn energy(&self) -> f64 {
        0.5 * self.mass * self.speed * self.speed
    }

    /// Deepest approach of a rigid body (m).
    fn depth(&self) -> f64 {
        let elastic = libm::pow(2.5 * self.energy() / self.stiffness, 0.4);
        elastic.max((2.0 * self.energy() / self.crush).sqrt())
    }

    /// How long a rigid body is pressed (s): Hertz' time, or that of a contact which is
    /// crushed all the way (a quarter of the period of `M x'' = -C x`) and then springs
    /// back as fast as an elastic one.
    pub(crate) fn duration(&self) -> f64 {
        let hertz = HertzImpact {
            mass: self.mass,
            radius: 1.0,
            modulus: 0.75 * self.stiffness,
            speed: self.speed,
        };
        let elastic = hertz.duration();
        let crushed = std::f64::consts::FRAC_PI_2 * (self.mass / self.crush).sqrt();
        elastic.max(crushed + 0.5 * elastic)
    }

    /// No more than this presses a body (N): Hertz' force, or that which crushes the
    /// contact, of a body that does not give way.
    pub(crate) fn force_bound(&self) -> f64 {
        let elastic = libm::pow(2.5 * self.energy() / self.stiffness, 0.4);
        let elastic = self.stiffness * elastic * elastic.sqrt();
        elastic.min((2.0 * self.energy() * self.crush).sqrt())
    }

    /// Moves the modes under the impact for `time` seconds; `steppers(dt)` are the modes.
    pub(crate) fn run(
        &self,
        time: f64,
        samples: usize,
        steppers: impl Fn(f64) -> Vec<Stepper>,
    ) -> Motion {
        let every = time / samples as f64;
        // The contact's own rate: its stiffness when deepest on all masses that it moves.
        let hardest = (1.5 * self.stiffness * self.depth().sqrt()).min(self.crush);
        let moved = 1.0 / self.mass + self.shares.iter().map(|p| p * p).sum::<f64>();
        let rate = (hardest * moved).sqrt();
        let steps = (every * rate * STEPS_PER_RADIAN)
            .ceil()
            .clamp(1.0, MOST_STEPS);
        let dt = every / steps;
        let modes = steppers(dt);
        let mut state = vec![[0.0_f64; 2]; modes.len()];
        let (mut x, mut v, mut time) = (0.0, self.speed, 0.0);
        let mut contact = Contact::default();
        let mut motion = Motion {
            coordinates: Vec::with_capacity(samples),
            every,
            force: 0.0,
            hardest: 0.0,
        };
        for _ in 0..samples {
            for _ in 0..steps as usize {
                let (mut d, mut d_rate) = (x, v);
                for (share, [q, q_rate]) in self.shares.iter().zip(&state) {
                    d -= share * q;
                    d_rate -= share * q_rate;
                }
                let force = contact.press(self, d + 0.5 * dt * d_rate);
                if force > motion.force {
                    motion.force = force;
                    motion.hardest = time;
                }
                time += dt;
                x += dt * (v - 0.5 * dt * force / self.mass);
                v -= dt * force / self.mass;
                for ((mode, share), state) in modes.iter().zip(&self.shares).zip(&mut state) {
                    *state = mode.step(*state, share * force);
                }
            }
            motion
                .coordinates
                .push(state.iter().map(|s| s[0] as f32).collect());
        }
        motion
    }
}

/// A contact's memory of what was crushed.
#[derive(Clone, Copy, Debug, Default)]
struct Contact {
    deepest: f64,
    /// Approach at which nothing presses any more (m).
    lost: f64,
}

impl Contact {
    /// Force at an approach.
    fn press(&mut self, combined: &CombinedImpact, d: f64) -> f64 {
        let hertz = |d: f64| combined.stiffness * d * d.max(0.0).sqrt();
        if d <= self.lost {
            return 0.0;
        }
        if d < self.deepest {
            return hertz(d - self.lost);
        }
        self.deepest = d;
        let (elastic, crushed) = (hertz(d - self.lost).max(0.0), combined.crush * d);
        if crushed < elastic {
            let sprung = libm::cbrt(crushed / combined.stiffness);
            self.lost = d - sprung * sprung;
            return crushed;
        }
        elastic
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A block that does not bend, from 0.3 m on a hard floor.
    fn block(crush: f64) -> CombinedImpact {
        CombinedImpact {
            mass: 2.0,
            speed: 2.4,
            stiffness: 5e9,
            crush,
            shares: Vec::new(),
        }
    }

    #[test]
    fn a_body_that_does_not_bend_is_pressed_as_hertz_says() {
        let combined = block(f64::INFINITY);
        let motion = combined.run(2e-3, 64, |_| Vec::new());
        let depth = libm::pow(2.5 * combined.energy() / combined.stiffness, 0.4);
        let expected = combined.stiffness * depth * depth.sqrt();
        assert!(
            (motion.force / expected - 1.0).abs() < 0.01,
            "{}",
            motion.force
        );
    }

    /// Crushed all the way, `M V² = C d²`: the largest force is `V sqrt(M C)`.
    #[test]
    fn a_contact_that_crushes_presses_no_harder_than_it_bears() {
        let combined = block(1e6);
        let motion = combined.run(20e-3, 64, |_| Vec::new());
        let expected = combined.speed * (combined.mass * combined.crush).sqrt();
        assert!(
            (motion.force / expected - 1.0).abs() < 0.02,
            "{} {expected}",
            motion.force
        );
        let hard = block(f64::INFINITY).run(2e-3, 64, |_| Vec::new()).force;
        assert!(motion.force < 0.5 * hard, "{} {hard}", motion.force);
    }
}
