//! Another material, or a stronger or weaker one, while the world runs.
//!
//! Modes of one shape in two materials differ by factors alone as long as Poisson's
//! ratio is the same: frequencies go with `sqrt(E / rho)`, mass-normalised shapes with
//! `1 / sqrt(rho)`, their stresses with `E / sqrt(rho)`. So nothing is solved anew.
//!
//! **Deviation**: Poisson's ratio stays that of the material the modes were computed
//! for (0.18 to 0.25 for all but ice), which moves stresses by a few percent.

use std::sync::Arc;

use fracas_core::FragmentId;
use fracas_fracture::{Breaker, Material, Modes, RefractureRule};

use crate::own::strength;

/// What the user chose.
#[derive(Clone, Debug, PartialEq)]
pub struct Tuning {
    /// Another material than the scene's own.
    pub material: Option<Material>,
    /// Strength and toughness times this.
    pub strength: f64,
    /// Whether pieces break again.
    pub again: bool,
}

impl Default for Tuning {
    fn default() -> Self {
        Self {
            material: None,
            strength: 1.0,
            again: false,
        }
    }
}

/// Tuned modes that many bodies share.
#[derive(Default)]
pub struct Memory(Vec<(Arc<Modes>, Arc<Modes>)>);

impl Tuning {
    /// The material that a body of `own` is to be of.
    #[must_use]
    pub fn material(&self, own: &Material) -> Material {
        let chosen = self.material.unwrap_or(*own);
        Material {
            strength: chosen.strength * self.strength,
            toughness: chosen.toughness * self.strength,
            ..chosen
        }
    }

    /// A breaker so tuned; `own` is as the scene made it.
    #[must_use]
    pub fn apply(&self, own: &Breaker, memory: &mut Memory) -> Breaker {
        if *self == Self::default() {
            return own.clone();
        }
        let material = self.material(own.material());
        let mut tuned = own.clone().with_material(material);
        if own.state().branching {
            tuned = tuned.with_strength(strength(&material));
        }
        if let Some(modes) = own.modes(FragmentId(0)) {
            let known = memory.0.iter().find(|(from, _)| Arc::ptr_eq(from, modes));
            let modes = match known {
                Some((_, to)) => to.clone(),
                None => {
                    let to = Arc::new(of_material(modes, material));
                    memory.0.push((modes.clone(), to.clone()));
                    to
                }
            };
            tuned.take_modes(FragmentId(0), modes);
        }
        if self.again {
            tuned = tuned.with_rule(RefractureRule::default());
        }
        tuned
    }
}

/// The same modes in another material.
fn of_material(modes: &Modes, material: Material) -> Modes {
    let mut data = modes.to_data();
    let own = data.material;
    let lighter = (own.density / material.density).sqrt();
    let stiffer = material.young / own.young;
    for omega in &mut data.omegas {
        *omega *= stiffer.sqrt() * lighter;
    }
    for shape in &mut data.shapes {
        *shape *= lighter as f32;
    }
    let factor = (stiffer * lighter) as f32;
    for stress in data.stress.as_flattened_mut() {
        *stress *= factor;
    }
    data.mass *= material.density / own.density;
    data.material = Material {
        poisson: own.poisson,
        ..material
    };
    Modes::from_data(data).expect("finite factors keep modes sound")
}

#[cfg(test)]
mod tests {
    use fracas_core::Fragments;
    use fracas_fracture::ModesOptions;
    use glam::Vec3;

    use super::*;

    #[test]
    fn scaled_modes_are_those_of_the_other_material() {
        let mesh = fracas_core::testing::box_grid([4, 3, 2], Vec3::new(0.2, 0.15, 0.05));
        let whole = Fragments::new(Arc::new(mesh));
        let options = ModesOptions {
            count: 8,
            ..ModesOptions::default()
        };
        let compute = |material: &Material| {
            Modes::compute(&whole, FragmentId(0), material, &options, &mut |_| ()).unwrap()
        };
        let glass = Material {
            poisson: Material::EARTHENWARE.poisson,
            ..Material::GLASS
        };
        let scaled = of_material(&compute(&Material::EARTHENWARE), glass);
        let solved = compute(&glass);
        for (a, b) in scaled.omegas().iter().zip(solved.omegas()) {
            assert!((a / b - 1.0).abs() < 1e-6, "{a} {b}");
        }
        for k in 0..scaled.count().min(4) {
            // A mode's sign is free: compare sizes.
            let size = |m: &Modes| m.shapes_at(0)[k].length() * 1e3;
            let (a, b) = (size(&scaled), size(&solved));
            assert!((a / b - 1.0).abs() < 1e-3, "mode {k}: {a} {b}");
            let stress = |m: &Modes| m.stress().of(0, k).map(f32::abs).iter().sum::<f32>();
            let (a, b) = (stress(&scaled), stress(&solved));
            assert!((a / b - 1.0).abs() < 1e-2, "mode {k}: stress {a} {b}");
        }
    }
}
