//! Support for the conformance suite (`tests/`): where the public test data is,
//! and how a test says that it is skipped without it.
//!
//! Every test has a case made in code ([`procedural`]), so that it asserts something
//! where the data is absent. `cargo xtask test` counts what was skipped.
//!
//! The suite runs the same cases through every system and holds each against the
//! slow and certain answer. Data sets are not part of the repository: they are
//! looked for in `../shared/data` beside the project, or where the environment
//! variable `FRACAS_DATA` points.

pub mod broken;
pub mod ccd;
pub mod data;
pub mod fuzz;
pub mod procedural;
pub mod rational;
pub mod rational_tets;
pub mod rims;
pub mod textured;
