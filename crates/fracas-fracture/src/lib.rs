//! From an impact to cracks: modal analysis, stress, crack growth and fracture patterns.

pub mod patterns;
pub mod random;
pub mod sequence;
