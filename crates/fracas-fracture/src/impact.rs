//! From contact impulses to stress: how hard a body rings, whether it can break at
//! all, and when.
//!
//! Steps of [`Shake::of`]: duration of the contact (Hertz) -> height of each mode's
//! half-sine force -> closed-form motion of each mode and the bound of its size.
//! Steps of [`Shake::critical_time`]: bound of the stress anywhere (a harmless impact
//! ends here, after microseconds) -> groups of nodes that could exceed the strength
//! -> their largest principal stress at 64 moments -> the first moment of excess
//! t1 -> the worst moment t* while a crack could run through the body.
//!
//! | symbol | here |
//! | --- | --- |
//! | t_c | `contact` |
//! | Q0 | pi J . phi / (2 t_c), summed over contacts |
//! | E_avail | `energy`: the lesser of strain energy and what the impact brought |
//!
//! **Deviations**: the bound uses the spectral norm of each mode's stress (the norm
//! of its six numbers is not a bound: six ones have norm 2.45 and principal stress
//! 3). A slow contact's Hertz time is capped by the step, which makes resting loads
//! quasi-static by themselves. Sampling looks at no more than [`MOST_GROUPS`] groups,
//! those with the largest bounds: which moment is worst may be missed by others,
//! not whether anything breaks where the bound is largest.

use glam::Vec3;

use crate::hertz::HertzImpact;
use crate::modes::Modes;
use crate::oscillator::{Response, damping_ratio};
use crate::principal::{principal_values, tension_exceeds};
use crate::stress_modes::{LANES, lane};

/// One contact of the body in one step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Impact {
    /// Where, in the frame of the mesh (m).
    pub point: Vec3,
    /// What the body received (N s), in the frame of the mesh.
    pub impulse: Vec3,
    /// Normal speed of approach before the impact (m/s); 0 when unknown.
    pub speed: f32,
    /// Effective mass of the pair along the normal, m* (kg); 0 when unknown.
    pub effective_mass: f32,
    /// Effective radius of curvature R* (m); 0 when unknown.
    pub radius: f32,
    /// Contact modulus E/(1 - nu²) of the other body (Pa); 0 for the same material.
    pub other_modulus: f64,
}

/// Radius of curvature where none is known, as a share of the body's radius.
const DEFAULT_CURVATURE: f64 = 0.1;
/// Least and largest radius of curvature, as shares of the body's radius.
const CURVATURE_RANGE: [f64; 2] = [0.02, 1.0];
/// Moments at which stress is sampled.
const SAMPLES: usize = 64;
/// Most groups of nodes that are sampled over time.
pub const MOST_GROUPS: usize = 32;

/// A contact's own neighbourhood, as shares of mean edge and wall thickness: modes
/// do not resolve the stress under a contact, and a point load on a node reads as
/// tension that is not there. No crack starts within the lesser of both.
const CONTACT_ZONE: [f32; 2] = [1.5, 0.9];

/// How a body rings after the impacts of one step.
#[derive(Clone, Debug)]
pub struct Shake {
    responses: Vec<Response>,
    bounds: Vec<f32>,
    contact: f64,
    brought: f64,
    /// Points of contact.
    points: Vec<Vec3>,
    zone_squared: f32,
}

/// The moment to break at, and what was seen on the way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CriticalTime {
    /// t*: when stress exceeds strength by most while a crack runs (s).
    pub time: f64,
    /// t1: when it first exceeds it (s).
    pub first: f64,
    /// Stress over strength at t*.
    pub overload: f32,
    /// Energy for cracks (J).
    pub energy: f64,
}

impl Shake {
    /// The response to the impacts of one step that lasts `step` seconds. `None`
    /// when there is none with an impulse.
    #[must_use]
    pub fn of(modes: &Modes, impacts: &[Impact], step: f32) -> Option<Self> {
        let usable =
            |i: &&Impact| i.impulse.is_finite() && i.point.is_finite() && i.impulse != Vec3::ZERO;
        let step = if step > 0.0 { f64::from(step) } else { 0.01 };
        let (mut contact, mut brought) = (0.0_f64, 0.0);
        for impact in impacts.iter().filter(usable) {
            let hertz = hertz_of(modes, impact);
            contact = contact.max(hertz.duration());
            brought += 0.5 * hertz.mass * hertz.speed * hertz.speed;
        }
        if contact.is_nan() || contact <= 0.0 {
            return None;
        }
        let contact = contact.min(step);
        let factor = std::f64::consts::PI / (2.0 * contact);
        let mut heights = vec![0.0; modes.count()];
        for impact in impacts.iter().filter(usable) {
            let surface = modes.nearest_surface(impact.point);
            for (height, shape) in heights.iter_mut().zip(modes.shapes_at(surface)) {
                *height += factor * f64::from(shape.dot(impact.impulse));
            }
        }
        let material = modes.material();
        let (alpha, beta) = (material.damping_alpha, material.damping_beta);
        let responses: Vec<Response> = modes
            .omegas()
            .iter()
            .zip(&heights)
            .map(|(&w, &height)| Response::new(w, damping_ratio(w, alpha, beta), contact, height))
            .collect();
        let zone = (CONTACT_ZONE[0] * modes.mean_edge()).min(CONTACT_ZONE[1] * modes.thickness());
        Some(Self {
            bounds: responses
                .iter()
                .map(|r| (r.bound() * (1.0 + 1e-6)) as f32)
                .collect(),
            responses,
            contact,
            brought,
            points: impacts.iter().filter(usable).map(|i| i.point).collect(),
            zone_squared: zone * zone,
        })
    }

    /// Whether a point is so near to a contact that modes say nothing about it.
    #[must_use]
    pub fn in_contact_zone(&self, point: Vec3) -> bool {
        self.points
            .iter()
            .any(|p| p.distance_squared(point) < self.zone_squared)
    }

    /// Duration of the contact (s).
    #[must_use]
    pub fn contact(&self) -> f64 {
        self.contact
    }

    /// Energy that the impacts brought (J).
    #[must_use]
    pub fn brought(&self) -> f64 {
        self.brought
    }

    /// Upper bound of any principal stress at any time and node (Pa).
    #[must_use]
    pub fn stress_bound(&self, modes: &Modes) -> f32 {
        modes.stress().bound(&self.bounds)
    }

    /// Modal coordinates at a time.
    #[must_use]
    pub fn coordinates(&self, time: f64) -> Vec<f32> {
        self.responses.iter().map(|r| r.at(time) as f32).collect()
    }

    /// When to break, or `None` when strength is nowhere exceeded. `strength` gives
    /// the strength of a node (by its place among the fragment's nodes), which is
    /// nowhere less than `weakest` (Pa).
    #[must_use]
    pub fn critical_time(
        &self,
        modes: &Modes,
        weakest: f32,
        strength: impl Fn(usize) -> f32,
    ) -> Option<CriticalTime> {
        if self.stress_bound(modes) <= weakest {
            return None;
        }
        let stress = modes.stress();
        let mut groups: Vec<(usize, f32)> = Vec::new();
        stress.groups_above(&self.bounds, weakest, |group, bound| {
            groups.push((group, bound));
        });
        if groups.is_empty() {
            return None;
        }
        let by_bound = |a: &(usize, f32), b: &(usize, f32)| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0));
        if groups.len() > MOST_GROUPS {
            groups.select_nth_unstable_by(MOST_GROUPS, by_bound);
            groups.truncate(MOST_GROUPS);
        }
        // The worst first: what follows is then mostly below what is known.
        groups.sort_unstable_by(by_bound);
        let slowest = std::f64::consts::TAU / modes.omegas()[0];
        let end = self.contact + 0.5 * slowest;
        let step = end / SAMPLES as f64;
        let times: [f64; SAMPLES] = std::array::from_fn(|i| step * (i + 1) as f64);
        let mut coordinates = vec![vec![0.0_f32; modes.count()]; SAMPLES];
        for (k, response) in self.responses.iter().enumerate() {
            response.samples(step, |i, q| coordinates[i][k] = q as f32, SAMPLES);
        }
        let sizes: Vec<Vec<f32>> = coordinates
            .iter()
            .map(|q| q.iter().map(|q| q.abs()).collect())
            .collect();
        let run = 2.0 * f64::from(modes.radius()) / modes.material().crack_speed();
        let run = ((run / step) as usize).min(SAMPLES);
        let mut overloads = [0.0_f32; SAMPLES];
        // Samples later than a crack's run after the first excess do not matter.
        let mut last = SAMPLES;
        for &(group, bound) in &groups {
            let strengths: [f32; LANES] = std::array::from_fn(|l| {
                let i = group * LANES + l;
                if i < stress.nodes() {
                    strength(i)
                } else {
                    f32::INFINITY
                }
            });
            let least = strengths.iter().copied().fold(f32::INFINITY, f32::min);
            if bound <= least {
                continue;
            }
            let mut i = 0;
            while i < last {
                let sample = i;
                i += 1;
                // Below one nothing breaks, and below the best nothing changes.
                let best = overloads[sample].max(1.0);
                if stress.group_bound(group, &sizes[sample]) <= least * best {
                    continue;
                }
                let at = stress.at_group(group, &coordinates[sample]);
                for l in 0..LANES {
                    let s = lane(&at, l);
                    if tension_exceeds(&s, strengths[l] * overloads[sample].max(1.0)) {
                        overloads[sample] = principal_values(&s)[0] as f32 / strengths[l];
                        last = last.min(sample + run + 1);
                    }
                }
            }
        }
        let first = overloads.iter().position(|&o| o > 1.0)?;
        let mut energy = 0.0_f64;
        let end = (first + run + 1).min(SAMPLES);
        let best = (first..end).fold(first, |best, i| {
            if overloads[i] > overloads[best] {
                i
            } else {
                best
            }
        });
        for q in &coordinates {
            let strain: f64 = q
                .iter()
                .zip(modes.omegas())
                .map(|(&q, w)| 0.5 * (f64::from(q) * w) * (f64::from(q) * w))
                .sum();
            energy = energy.max(strain);
        }
        Some(CriticalTime {
            time: times[best],
            first: times[first],
            overload: overloads[best],
            energy: energy.min(self.brought),
        })
    }
}

fn hertz_of(modes: &Modes, impact: &Impact) -> HertzImpact {
    let known = |x: f32| x.is_finite() && x > 0.0;
    let mass = if known(impact.effective_mass) {
        f64::from(impact.effective_mass)
    } else {
        modes.mass()
    };
    let size = f64::from(modes.radius());
    let radius = if known(impact.radius) {
        f64::from(impact.radius)
    } else {
        DEFAULT_CURVATURE * size
    };
    let own = modes.material().contact_modulus();
    let other = if impact.other_modulus > 0.0 {
        impact.other_modulus
    } else {
        own
    };
    // An impulse without a speed: as if the bodies had parted at a fifth of it.
    let speed = if known(impact.speed) {
        f64::from(impact.speed)
    } else {
        f64::from(impact.impulse.length()) / (1.2 * mass)
    };
    HertzImpact {
        mass,
        radius: radius.clamp(CURVATURE_RANGE[0] * size, CURVATURE_RANGE[1] * size),
        modulus: 1.0 / (1.0 / own + 1.0 / other),
        speed: speed.max(1e-4),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use fracas::testing::box_grid;
    use fracas::{FragmentId, Fragments};

    use super::*;
    use crate::material::{Material, STEEL_CONTACT_MODULUS};
    use crate::modes::ModesOptions;

    fn plate_modes() -> Modes {
        let mesh = box_grid([32, 32, 2], Vec3::new(0.2, 0.2, 0.01));
        let fragments = Fragments::new(Arc::new(mesh));
        Modes::compute(
            &fragments,
            FragmentId(0),
            &Material::GLASS,
            &ModesOptions::default(),
            &mut |_| (),
        )
        .unwrap()
    }

    /// The steel ball of the specification on the middle of a plate.
    fn ball(speed: f32) -> Impact {
        // 2,555 N half-sine of 80.85 us at 2 m/s.
        let impulse = 2.0 / std::f32::consts::PI * 2555.0 * 80.85e-6 * speed / 2.0;
        Impact {
            point: Vec3::new(0.1, 0.1, 0.01),
            impulse: Vec3::new(0.0, 0.0, -impulse),
            speed,
            effective_mass: 0.032_882,
            radius: 0.010,
            other_modulus: STEEL_CONTACT_MODULUS,
        }
    }

    #[test]
    fn stress_and_energy_of_the_plate_are_those_of_direct_integration() {
        // Newmark on the same mesh: 0.0732 J, and 19.42 MPa beyond 30 mm.
        let modes = plate_modes();
        let shake = Shake::of(&modes, &[ball(2.0)], 0.01).unwrap();
        assert!((shake.contact() / 80.85e-6 - 1.0).abs() < 0.01);
        let (mut peak, mut energy) = (0.0_f64, 0.0_f64);
        let mesh = box_grid([32, 32, 2], Vec3::new(0.2, 0.2, 0.01));
        for i in 1..400 {
            let q = shake.coordinates(i as f64 * 2e-6);
            let strain: f64 = q
                .iter()
                .zip(modes.omegas())
                .map(|(&q, w)| 0.5 * (f64::from(q) * w).powi(2))
                .sum();
            energy = energy.max(strain);
            for group in 0..modes.stress().groups() {
                let at = modes.stress().at_group(group, &q);
                for l in 0..LANES {
                    let i = group * LANES + l;
                    let Some(&n) = modes.nodes().get(i) else {
                        continue;
                    };
                    let p = mesh.positions()[n as usize];
                    if (p - Vec3::new(0.1, 0.1, p.z)).length() > 0.03 {
                        peak = peak.max(principal_values(&lane(&at, l))[0]);
                    }
                }
            }
        }
        assert!((energy / 0.0730 - 1.0).abs() < 0.03, "{energy}");
        assert!((peak / 19.42e6 - 1.0).abs() < 0.15, "{peak}");
        // What the ball brought is less: energy is capped by it.
        assert!((shake.brought() / 0.0658 - 1.0).abs() < 0.01);
    }

    #[test]
    fn the_bound_is_above_everything_sampled_and_a_touch_is_harmless() {
        let modes = plate_modes();
        let strength = |_: usize| 45e6_f32;
        let touch = Shake::of(&modes, &[ball(0.05)], 0.01).unwrap();
        assert!(touch.critical_time(&modes, 45e6, strength).is_none());
        let hard = Shake::of(&modes, &[ball(12.0)], 0.01).unwrap();
        let critical = hard.critical_time(&modes, 45e6, strength).unwrap();
        assert!(critical.overload > 1.0 && critical.first <= critical.time);
        assert!(critical.overload * 45e6 <= hard.stress_bound(&modes));
        assert!(critical.energy <= hard.brought());
        assert!(Shake::of(&modes, &[], 0.01).is_none());
        let mut nan = ball(1.0);
        nan.impulse.x = f32::NAN;
        assert!(Shake::of(&modes, &[nan], 0.01).is_none());
    }
}
