//! From an impact to cracks: modal analysis, stress, crack growth and fracture patterns.
