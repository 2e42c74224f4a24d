//! Worlds in other units than metres.
//!
//! Lengths of a world are in its own units: meshes, positions, speeds, gravity, boxes. Masses
//! are kilograms and times seconds in every world. What is known in SI units (materials,
//! densities, settings, forces of hands, impulses that the game strikes with) is converted
//! where it enters, and what is reported in SI units (impulses, energies, areas) where it
//! leaves: so a body breaks at the same physical height in any units.

use std::sync::Arc;

use fracas_core::FragmentId;
use fracas_fracture::{Breaker, Modes};

use super::{Breakable, World};

impl World {
    /// An object in this world's units.
    pub(super) fn in_own_units(&mut self, mut options: Breakable) -> Breakable {
        options.density = self.own_density(options.density);
        options.breaker = options.breaker.map(|b| self.breaker_in_own_units(b));
        options
    }

    /// A density (kg/m³) in kilograms per cubic length unit.
    pub(super) fn own_density(&self, density: f32) -> f32 {
        (f64::from(density) / f64::from(self.units).powi(3)) as f32
    }

    /// A breaker in this world's units. One that has them already stays as it is.
    pub(super) fn breaker_in_own_units(&mut self, breaker: Breaker) -> Breaker {
        let units = self.units;
        if breaker.units() == units {
            return breaker;
        }
        let whole = breaker.modes(FragmentId(0)).cloned();
        let whole = whole.map(|modes| self.modes_in_own_units(&modes));
        breaker.in_units(units, whole)
    }

    /// Modes are shared by all objects of a kind: each is converted once.
    fn modes_in_own_units(&mut self, modes: &Arc<Modes>) -> Arc<Modes> {
        let units = self.units;
        let known = self
            .converted
            .iter()
            .find(|(from, _)| Arc::ptr_eq(from, modes));
        if let Some((_, converted)) = known {
            return Arc::clone(converted);
        }
        let converted = Arc::new(modes.in_units(units));
        self.converted
            .push((Arc::clone(modes), Arc::clone(&converted)));
        converted
    }
}
