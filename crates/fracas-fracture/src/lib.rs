//! From an impact to cracks: modal analysis, stress, crack growth and fracture patterns.

mod crack_growth;
pub mod event;
pub mod hertz;
pub mod impact;
pub mod material;
pub mod modes;
pub mod oscillator;
pub mod patterns;
mod piece_volume;
pub mod principal;
pub mod random;
pub mod refracture;
pub mod sequence;
pub mod stiffness;
pub mod strength;
pub mod stress_modes;

pub use crack_growth::GrowthOptions;
pub use event::{Decision, FractureEvent, FractureSettings, FractureStats, Outcome};
pub use fracas_sparse::Kind as Arithmetic;
pub use impact::Impact;
pub use material::Material;
pub use modes::{Modes, ModesOptions};
pub use refracture::{Breaker, BreakerStats, FragmentModes, RefractureRule};
pub use strength::Strength;
