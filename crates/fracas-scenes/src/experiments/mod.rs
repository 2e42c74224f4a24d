//! Experiments of the papers that are not scenes: numbers for tests and report.

pub mod voxel_contacts;
pub mod voxel_contacts_deadline;
