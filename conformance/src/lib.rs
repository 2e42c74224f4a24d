//! Support for the conformance suite (`tests/`): the same cases through every system, each
//! compared with a slow and certain answer.
//!
//! Cases are made in code ([`procedural`]). Tests named `public_...` run public data as well,
//! which is not part of the repository (see [`data`]): it is looked for in `../shared/data`
//! beside the project, or in the folder that the environment variable `FRACAS_DATA` names.

pub mod broken;
pub mod ccd;
pub mod data;
pub mod fuzz;
pub mod procedural;
pub mod rational;
pub mod rational_tets;
pub mod rims;
pub mod textured;
