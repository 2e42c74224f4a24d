//! What a crack costs, what it sets free, and how far it relieves the stress beside it.

use super::stress_field::StressField;
use crate::crack_growth::Growth;
use crate::modes::Modes;
use crate::settings::FractureSettings;

/// What a unit of crack area costs (J/m²).
pub(super) fn price_of(modes: &Modes, settings: &FractureSettings) -> f64 {
    modes.material().fracture_energy() * settings.energy_scale.max(0.0)
}

/// About the area of a crack that parts the body (m²): through the mean wall, across half
/// of the body. More than a thin limb takes, whose stress modes tell too high where it joins
/// the body.
pub(super) fn least_crack(modes: &Modes) -> f64 {
    f64::from(modes.thickness() * modes.radius())
}

/// How far from a crack that parts the body stress has half recovered (m).
pub(super) fn whole_relief(modes: &Modes) -> f32 {
    (1.2 * modes.thickness()).min(0.3 * modes.radius())
}

/// Share of stress that a crack leaves at x reliefs from it: 1 - 1/(1 + x + x²/2).
pub(super) fn stress_left(x: f32) -> f32 {
    1.0 - 1.0 / (1.0 + x + 0.5 * x * x)
}

/// Strain energy that the last crack sets free (J), or `enough` where it is not less: that
/// of the stress it relieves. `size` is how far it relieves half of it: no farther than the
/// crack is wide, since stress flows round a small one (a round crack of area A in a large
/// body under even tension frees the energy of 0.9 A^3/2 [Sneddon 1946]; here of at most 3
/// A^3/2, as for one that parts a bar).
pub(super) fn released(
    growth: &Growth,
    field: &mut StressField<'_>,
    left: &[f32],
    size: f32,
    enough: f64,
) -> f64 {
    let (young, nu) = (field.modes.material().young, field.modes.material().poisson);
    let mut sum = 0.0;
    for (n, distance) in growth.near_crack() {
        let after = stress_left(distance / size);
        let volume = field.modes.volumes()[field.places[n as usize] as usize];
        let [xx, yy, zz, xy, yz, zx] = field.at(n).map(f64::from);
        let trace = xx + yy + zz;
        let squares = xx * xx + yy * yy + zz * zz + 2.0 * (xy * xy + yz * yz + zx * zx);
        let density = ((1.0 + nu) * squares - nu * trace * trace) / (2.0 * young);
        let share = f64::from(left[n as usize] * left[n as usize] * (1.0 - after * after));
        sum += density * share * f64::from(volume);
        if sum >= enough {
            return enough;
        }
    }
    sum
}

/// When running cracks branch: where the stress intensity `sigma sqrt(r)`, r from where
/// they started, exceeds K_B, [`Material::branching_constant`](crate::Material).
pub(super) struct Branching {
    constant: f32,
}

impl Branching {
    pub(super) fn of(modes: &Modes) -> Self {
        Self {
            constant: modes.material().branching_constant() as f32,
        }
    }

    /// Tension that branches a crack so far from its start (Pa).
    pub(super) fn limit(&self, far: f32) -> f32 {
        self.constant / far.max(1e-9).sqrt()
    }

    /// How far from a crack stress has half recovered (m): 1.2 wall thicknesses, at most
    /// 0.15 of its size; where cracks branch, the way after which they do.
    pub(super) fn relief(&self, modes: &Modes, tension: f32) -> f32 {
        let whole = whole_relief(modes);
        let branch = (self.constant / tension).powi(2);
        whole.min(branch.max(modes.mean_edge()))
    }
}
