//! How strong each node is.

use fracas_core::hash64;

use crate::modes::Modes;
use crate::settings::FractureSettings;

/// Strength of a node never falls below this share of the material's by scatter.
const WEAKEST: f64 = 0.4;

/// Strength of nodes, with or without scatter.
pub(super) struct NodeStrength {
    mean: f32,
    /// No node is weaker.
    pub(super) weakest: f32,
    /// 1 / m of Weibull's law, or zero for no scatter.
    exponent: f64,
    seed: u64,
}

impl NodeStrength {
    pub(super) fn new(modes: &Modes, settings: &FractureSettings, contact: f64) -> Self {
        let material = modes.material();
        let mean = (material.strength_for(contact) * settings.strength_scale.max(0.0)) as f32;
        Self {
            mean,
            weakest: if settings.scatter {
                WEAKEST as f32 * mean
            } else {
                mean
            },
            exponent: if settings.scatter {
                1.0 / material.weibull_modulus
            } else {
                0.0
            },
            seed: settings.seed,
        }
    }

    /// `sigma_c (-ln U)^(1/m)`, by the node's own number, the same in all events.
    pub(super) fn of(&self, node: u32) -> f32 {
        if self.exponent == 0.0 {
            return self.mean;
        }
        let bits = hash64(self.seed ^ hash64(u64::from(node) + 0x5EED));
        let u = ((bits >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
        let factor = libm::pow(-libm::log(u), self.exponent);
        self.mean * factor.clamp(WEAKEST, 2.5) as f32
    }
}
