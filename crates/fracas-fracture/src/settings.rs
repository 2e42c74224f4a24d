//! Limits and tastes of fracture.

use crate::crack_growth::GrowthOptions;

/// Limits and tastes of fracture.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct FractureSettings {
    /// Most cracks in one event.
    pub max_cracks: usize,
    /// Most pieces that one event makes.
    pub max_fragments: usize,
    /// Pieces with fewer nodes start no crack.
    pub least_nodes: usize,
    /// What a crack costs, in units of the material's fracture energy: 1 is
    /// physics; 10 to 50 make few and large pieces.
    pub energy_scale: f64,
    /// Strength in units of the material's: 1 is pristine, less is worn or damaged.
    pub strength_scale: f64,
    /// How far from a crack stress has half recovered (m); by default from the
    /// body: 1.2 wall thicknesses, at most 0.15 of its size, or the way after which a
    /// crack branches, if that is less.
    pub relief: Option<f32>,
    /// Whether strength varies from node to node (Weibull), by the material's
    /// modulus.
    pub scatter: bool,
    /// How cracks grow.
    pub growth: GrowthOptions,
    /// Seed of all chance.
    pub seed: u64,
}

impl Default for FractureSettings {
    fn default() -> Self {
        Self {
            max_cracks: 16,
            max_fragments: 64,
            least_nodes: 12,
            energy_scale: 1.0,
            strength_scale: 1.0,
            relief: None,
            scatter: false,
            growth: GrowthOptions::default(),
            seed: 0,
        }
    }
}
