//! The scenes of the papers and our own: one file each, for tests, command line, report and browser.

pub mod digests;
pub mod experiments;
pub mod film;
pub mod measure;
pub mod paper;
pub mod recording;
pub mod rigid;
pub mod sequences;
pub mod skins;
pub mod soak;
pub mod soft;
