//! From an impact to cracks: modal analysis, stress, crack growth and fracture patterns.

pub mod hertz;
pub mod material;
pub mod modes;
pub mod oscillator;
pub mod patterns;
mod piece_volume;
pub mod principal;
pub mod random;
pub mod sequence;
pub mod stiffness;
pub mod stress_modes;
