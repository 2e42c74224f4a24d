//! Ahead of time: mesh files to surfaces, tetrahedra and fracas assets.
//!
//! | what | module | main items |
//! | --- | --- | --- |
//! | mesh files in | [`read`](mod@read), [`error`], [`repair`] | [`read()`], [`read_surface`], [`read_tets`], [`Repairs`] |
//! | what they hold | [`surface_mesh`], [`tet_soup`] | [`SurfaceMesh`], [`TetSoup`] |
//! | things generated in code | [`shapes`] | [`shapes::by_name`] |
//! | everything in one file | [`asset`] | [`Asset`] |
//! | the same, kept for the next time | [`cache`] | [`cache::BakeCache`] |
//! | all of it in order | [`mod@bake`] | [`bake::bake`] |
//! | as fine as needed | [`mod@fill`] | [`fill::fill`] |
//! | to pieces, without a simulation | [`mod@shatter`], [`limits`] | [`shatter::Subject`], [`shatter::plan`], [`shatter::dress`], [`shatter::shared_areas`] |
//! | tetrahedra out | [`tetrahedralize`] | [`tetrahedralize::surface`], [`tetrahedralize::implicit`] |
//! | what a mesh is | [`inspect`] | [`inspect_surface`], [`inspect_tets`] |
//! | files out | [`write`](mod@write) | [`write_vtu`], [`write_msh`], [`write_obj`], [`write_ply`], [`write::glb::Glb`] |
//! | visible skin, finer than the tetrahedra | [`skin`] | [`Skin`] |
//!
//! A whole program: `examples/bake_and_shatter.rs`, from a mesh file to an asset with modes, and
//! to a file of its pieces.
//!
//! The feature `research` shows the parts (`fill`, `limits`, `write`, sections of assets, quality
//! of tetrahedra), for command line, report, scenes and tests. What it shows may change in any
//! version.

// What only `research` shows is compiled without it, too, where the library uses a part of it.
// With the feature, which the workspace's lints have on, nothing is allowed to be unused.
#![cfg_attr(not(feature = "research"), allow(dead_code, unused_imports))]
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod asset;
pub mod bake;
pub mod cache;
#[cfg(not(feature = "research"))]
mod error;
#[cfg(feature = "research")]
pub mod error;
#[cfg(not(feature = "research"))]
mod fill;
#[cfg(feature = "research")]
pub mod fill;
mod glb_container;
#[cfg(not(feature = "research"))]
mod inspect;
#[cfg(feature = "research")]
pub mod inspect;
#[cfg(not(feature = "research"))]
mod limits;
#[cfg(feature = "research")]
pub mod limits;
pub mod model;
mod orient;
mod polygon;
pub mod read;
#[cfg(not(feature = "research"))]
mod repair;
#[cfg(feature = "research")]
pub mod repair;
mod repairs;
mod self_intersection;
pub mod shapes;
pub mod shatter;
#[cfg(not(feature = "research"))]
mod skin;
#[cfg(feature = "research")]
pub mod skin;
#[cfg(not(feature = "research"))]
mod surface_mesh;
#[cfg(feature = "research")]
pub mod surface_mesh;
#[cfg(not(feature = "research"))]
mod tet_soup;
#[cfg(feature = "research")]
pub mod tet_soup;
pub mod tetrahedralize;
mod topology;
#[cfg(not(feature = "research"))]
mod write;
#[cfg(feature = "research")]
pub mod write;

pub use asset::{Asset, AssetError, SectionTag};
pub use error::{Place, ReadError, ReadErrorKind};
pub use fill::FillNote;
#[cfg(feature = "research")]
pub use inspect::{SurfaceReport, TetReport, boundary_surface, inspect_surface, inspect_tets};
#[cfg(feature = "research")]
pub use read::volume::{RawLayout, Volume, read_raw_volume, read_volume};
pub use read::{Mesh, read, read_bytes, read_surface, read_tet_mesh};
#[cfg(feature = "research")]
pub use read::{read_as_listed, read_bytes_with, read_tets, tet_mesh_of};
pub use repair::{Repair, Repairs};
pub use skin::{Skin, SkinPart};
pub use surface_mesh::{SurfaceMesh, SurfaceMeshError};
pub use tet_soup::{TetSoup, TetSoupError};
#[cfg(feature = "research")]
pub use write::{Field, write_msh, write_obj, write_ply, write_vtu};
