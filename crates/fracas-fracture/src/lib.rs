//! From an impact to cracks: modal analysis, stress, crack growth and fracture patterns.

pub mod hertz;
pub mod material;
pub mod oscillator;
pub mod patterns;
pub mod principal;
pub mod random;
pub mod sequence;
