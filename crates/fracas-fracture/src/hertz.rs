//! How long a contact lasts and how hard it presses: Hertz' elastic impact.
//!
//! Source: Hertz 1881; Johnson, Contact Mechanics (1985), section 11.4.
//!
//! | symbol | variable | |
//! | --- | --- | --- |
//! | m* | `mass` | 1 / (sum of inverse effective masses along the normal) |
//! | R* | `radius` | 1 / (1/R1 + 1/R2) |
//! | E* | `modulus` | 1 / ((1 - nu1²)/E1 + (1 - nu2²)/E2) |
//! | v | `speed` | relative normal speed before the impact |
//!
//! `delta = (15 m* v² / (16 E* sqrt R*))^(2/5)`, `t_c = 2.94328 delta / v`,
//! `F = 4/3 E* sqrt(R*) delta^(3/2)`.

/// An impact of two elastic bodies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HertzImpact {
    /// Effective mass m* (kg).
    pub mass: f64,
    /// Effective radius of curvature R* (m).
    pub radius: f64,
    /// Effective modulus E* (Pa).
    pub modulus: f64,
    /// Relative normal speed (m/s).
    pub speed: f64,
}

/// The integral 2 ∫ dx / sqrt(1 - x^(5/2)) over 0..1.
const DURATION_FACTOR: f64 = 2.943_275;

impl HertzImpact {
    /// Largest approach (m).
    #[must_use]
    pub fn depth(&self) -> f64 {
        let stiffness = 16.0 * self.modulus * self.radius.sqrt();
        libm::pow(15.0 * self.mass * self.speed * self.speed / stiffness, 0.4)
    }

    /// Duration of the contact (s). Grows without bound as the speed goes to zero.
    #[must_use]
    pub fn duration(&self) -> f64 {
        DURATION_FACTOR * self.depth() / self.speed
    }

    /// Largest force (N).
    #[must_use]
    pub fn force(&self) -> f64 {
        let depth = self.depth();
        4.0 / 3.0 * self.modulus * self.radius.sqrt() * depth * depth.sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn near(value: f64, expected: f64, digits: f64) {
        assert!((value - expected).abs() <= digits, "{value} for {expected}");
    }

    #[test]
    fn steel_ball_on_a_wall_and_two_glass_balls() {
        let steel = HertzImpact {
            mass: 0.032_882,
            radius: 0.010,
            modulus: 55.11e9,
            speed: 2.0,
        };
        near(steel.depth() * 1e6, 54.94, 0.005);
        near(steel.duration() * 1e6, 80.85, 0.01);
        near(steel.force(), 2993.0, 0.6);
        let glass = HertzImpact {
            mass: 0.083_776,
            radius: 0.020,
            modulus: 21.93e9,
            speed: 3.0,
        };
        near(glass.depth() * 1e6, 139.0, 0.05);
        near(glass.duration() * 1e6, 136.4, 0.05);
        near(glass.force(), 6779.0, 1.0);
    }

    #[test]
    fn the_duration_factor_is_its_integral() {
        // Substituting x = (1 - u²)^(2/5) removes the singularity at x = 1:
        // 2 ∫ (4/5) (1 - u²)^(-3/5) du, whose own end is tamed by u = sin(w).
        let n = 2_000_000;
        let h = std::f64::consts::FRAC_PI_2 / f64::from(n);
        let sum: f64 = (0..n)
            .map(|i| {
                let w = (f64::from(i) + 0.5) * h;
                libm::pow(libm::cos(w), -0.2)
            })
            .sum();
        near(1.6 * sum * h, DURATION_FACTOR, 2e-5);
    }

    #[test]
    fn the_closed_form_agrees_with_integrating_the_motion() {
        let impact = HertzImpact {
            mass: 0.05,
            radius: 0.015,
            modulus: 30e9,
            speed: 1.5,
        };
        let k = 4.0 / 3.0 * impact.modulus * impact.radius.sqrt();
        let dt = impact.duration() / 200_000.0;
        let (mut x, mut v, mut t, mut deepest) = (0.0_f64, impact.speed, 0.0, 0.0_f64);
        while x >= 0.0 {
            v -= k * x * x.sqrt() / impact.mass * dt;
            x += v * dt;
            t += dt;
            deepest = deepest.max(x);
        }
        assert!((t / impact.duration() - 1.0).abs() < 1e-4);
        assert!((deepest / impact.depth() - 1.0).abs() < 1e-4);
    }
}
