//! Cracks that start under a contact and split a stout body.
//!
//! Modes do not resolve the stress under a contact, so no crack of [`crate::event`] starts
//! there. In thin bodies that does not matter: they bend, and break by tension elsewhere. But
//! a ball does not bend. Nine tenths of the energy of its impact are in the contact, and glass
//! balls break from there: rings and cones round the contact (the edge of a Hertz contact
//! pulls with `(1 - 2 nu) / 3` of the largest pressure), then planes through it that part the
//! ball like an orange [Arbiter et al. 1969; Salman and Gorham 2000].
//!
//! The stress intensity of a crack of size c, large beside the contact that drives it by a
//! force F, is
//!
//! ```text
//! K = chi F / c^3/2
//! ```
//!
//! [Lawn, Fracture of Brittle Solids (1993), sections 8.1 and 8.2]. It falls as the crack
//! grows: such a crack stops where K is the toughness, and parts the body only if it gets
//! across. A crack of area A is taken as round, so `c = 2 sqrt(A / pi)`. Several planes share
//! what one would set free, `K² / E` per area.

use crate::material::Material;
use crate::settings::FractureSettings;

/// chi: 0.052 for cones in glass [Roesler 1956, kappa = 2.75e-3 = chi²]; 0.05 for median
/// cracks under a pyramid (`1 / (pi^3/2 tan 74 deg)`).
const DRIVE: f64 = 0.05;

/// More planes would make slivers that no mesh holds.
const MOST_PLANES: f64 = 8.0;

/// How hard a body of some material has to be pressed for it to split.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Splitting {
    toughness: f64,
}

impl Splitting {
    pub(crate) fn new(material: &Material, settings: &FractureSettings) -> Self {
        // What a crack costs goes with the square of the toughness.
        Self {
            toughness: material.toughness * settings.energy_scale.max(0.0).sqrt(),
        }
    }

    /// Stress intensity of a crack of an area (m²) over the toughness, under a force (N).
    pub(crate) fn overload(&self, force: f64, area: f64) -> f64 {
        let size = 2.0 * (area / std::f64::consts::PI).sqrt();
        DRIVE * force / (size * size.sqrt() * self.toughness)
    }

    /// Along how many planes of an area (m²) a force (N) splits a body.
    pub(crate) fn planes(&self, force: f64, area: f64) -> usize {
        let overload = self.overload(force, area);
        (overload * overload).min(MOST_PLANES) as usize
    }
}
