//! A simple threshold for things without modes: break when hit fast enough.
//!
//! A body of density rho that stops by v in one wave passage feels the stress
//! `rho c v` with `c = sqrt(E / rho)`; so it breaks above `v = sigma_c / sqrt(E rho)`:
//! 3.4 m/s for glass, 0.6 m/s for brick. The speed is the impulse over the mass.
//! Plain and tunable, for games and for fragments whose modes are not ready.
//!
//! That holds for an impact on something hard. What is soft stretches the impact: by Hertz' law
//! the force goes with the 2/5th power of the contact's modulus, so below a modulus of
//! 1 GPa an impulse counts by that much less.
//!
//! Into how many pieces is a matter of taste (`Strength::breaks`), or of the material
//! (`Strength::branched`): weak materials are overloaded most and still part in few, since
//! their cracks branch late.

use glam::Vec3;

use crate::impact::Impact;
use crate::material::Material;

/// When a body without modes breaks, and into how many pieces.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Strength {
    /// Change of speed that it just survives (m/s).
    pub speed: f32,
    /// Most pieces of one break.
    pub most_pieces: u32,
}

/// Contact modulus (Pa) from which on a body counts as hard: all brittle materials are.
const HARD: f64 = 1e9;

/// Share of an impulse that counts, by the contact modulus (Pa) of what gave it; zero stands
/// for the body's own material.
fn hardness(modulus: f64) -> f32 {
    if modulus > 0.0 && modulus < HARD {
        libm::pow(modulus / HARD, 0.4) as f32
    } else {
        1.0
    }
}

/// Most pieces of one break by branching cracks.
const MOST_BRANCHED: u32 = 48;

impl Strength {
    /// The threshold that a material implies.
    #[must_use]
    pub fn of(material: &Material) -> Self {
        Self {
            speed: (material.strength / (material.young * material.density).sqrt()) as f32,
            most_pieces: 12,
        }
    }

    /// How many times over the threshold the impacts are, together (no unit).
    #[must_use]
    pub(crate) fn overload(&self, impacts: &[Impact], mass: f32) -> f32 {
        let sum: f32 = impacts
            .iter()
            .map(|i| i.impulse.length() * hardness(i.other_modulus))
            .filter(|j| j.is_finite())
            .sum();
        if mass > 0.0 && self.speed > 0.0 {
            sum / mass / self.speed
        } else {
            0.0
        }
    }

    /// Into how many pieces a body of a material and a size (m) falls that is so many times
    /// overloaded; one: it holds.
    ///
    /// Along the way through the body a crack can branch `size / way` times
    /// ([`Material::branching_way`]), at the material's strength and not above: then the
    /// crack opens and unloads what it parts. How often it does goes with the root of that,
    /// and so does what a harder impact adds. The root is not derived: it is what
    /// `fracas_scenes::experiments::everyday` finds by modes (decisions/0019). Where a body is
    /// smaller than its cracks' way to branch, only a harder impact parts it.
    #[must_use]
    pub(crate) fn branched(material: &Material, size: f32, overload: f32) -> u32 {
        let times = size / material.branching_way() as f32 * overload;
        if !(overload > 1.0 && times.is_finite()) {
            return 1;
        }
        (1.0 + times.sqrt()).min(MOST_BRANCHED as f32) as u32
    }

    /// The hardest impact's point and direction, if they break a body of this mass;
    /// and into how many pieces: two at the threshold, growing with the overload.
    #[must_use]
    pub(crate) fn breaks(&self, impacts: &[Impact], mass: f32) -> Option<(Vec3, Vec3, u32)> {
        let overload = self.overload(impacts, mass);
        if overload.is_nan() || overload <= 1.0 {
            return None;
        }
        let hardest = impacts.iter().fold(None, |best: Option<&Impact>, i| {
            let harder = best.is_none_or(|b| i.impulse.length() > b.impulse.length());
            if i.impulse.is_finite() && harder {
                Some(i)
            } else {
                best
            }
        })?;
        let pieces = (2.0 * overload).min(self.most_pieces as f32) as u32;
        let direction = hardest.impulse.try_normalize()?;
        Some((hardest.point, direction, pieces.max(2)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hit(impulse: f32) -> Impact {
        Impact {
            point: Vec3::X,
            impulse: Vec3::new(0.0, impulse, 0.0),
            speed: 0.0,
            effective_mass: 0.0,
            radius: 0.0,
            other_modulus: 0.0,
        }
    }

    /// The figure of decision 0019 (0.2 m) from 3 m: medians of eight orientations are 16.5,
    /// 7, 6.5 and 4.5 pieces by modes.
    #[test]
    fn as_brittle_as_their_cracks_branch() {
        let speed = 7.7;
        let from_3_m = |material: &Material| {
            let overload = speed / Strength::of(material).speed;
            Strength::branched(material, 0.2, overload)
        };
        let order = [
            (Material::GLASS, 16.5),
            (Material::EARTHENWARE, 7.0),
            (Material::ICE, 6.5),
            (Material::GRANITE, 4.5),
        ];
        for (material, median) in order {
            let ratio = from_3_m(&material) as f32 / median;
            assert!((0.67..1.5).contains(&ratio), "{}", from_3_m(&material));
        }
        // A pebble of granite holds where a pebble of glass does not.
        assert_eq!(Strength::branched(&Material::GRANITE, 0.02, 3.0), 1);
        assert!(Strength::branched(&Material::GLASS, 0.02, 3.0) > 3);
        assert_eq!(Strength::branched(&Material::GLASS, 0.2, 0.9), 1);
        assert_eq!(Strength::branched(&Material::GLASS, 0.2, f32::NAN), 1);
        assert_eq!(Strength::branched(&Material::GLASS, 9.0, 1e6), 48);
    }

    #[test]
    fn thresholds_are_those_of_waves_and_pieces_grow() {
        assert!((Strength::of(&Material::GLASS).speed - 3.4).abs() < 0.05);
        assert!((Strength::of(&Material::BRICK).speed - 0.58).abs() < 0.01);
        let s = Strength {
            speed: 2.0,
            most_pieces: 9,
        };
        assert!(s.breaks(&[hit(1.9)], 1.0).is_none());
        assert_eq!(s.breaks(&[hit(2.1)], 1.0).unwrap().2, 2);
        assert_eq!(s.breaks(&[hit(6.5)], 1.0).unwrap().2, 6);
        assert_eq!(s.breaks(&[hit(1e9)], 1.0).unwrap().2, 9);
        assert_eq!(
            s.breaks(&[hit(1.0), hit(3.0)], 1.0).unwrap().0,
            Vec3::X,
            "small ones add up"
        );
        let on = |material: Material| Impact {
            other_modulus: material.contact_modulus(),
            ..hit(2.1)
        };
        assert!(s.breaks(&[on(Material::GRANITE)], 1.0).is_some());
        assert!(s.breaks(&[on(Material::PLASTER)], 1.0).is_some());
        assert!(s.breaks(&[on(Material::CARPET)], 1.0).is_none());
        assert!(s.breaks(&[hit(f32::NAN)], 1.0).is_none());
        assert!(s.breaks(&[hit(9.0)], 0.0).is_none());
        assert!(s.breaks(&[], 1.0).is_none());
    }
}
