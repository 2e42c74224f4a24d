//! Ahead of time: mesh files to surfaces, tetrahedra and fracas assets.
//!
//! | what | module | main items |
//! | --- | --- | --- |
//! | mesh files in | [`read`](mod@read), [`error`], [`repair`] | [`read()`], [`read_surface`], [`read_tets`], [`Repairs`] |
//! | what they hold | [`surface_mesh`], [`tet_soup`] | [`SurfaceMesh`], [`TetSoup`] |
//! | things generated in code | [`shapes`] | [`shapes::by_name`] |
//! | everything in one file | [`asset`] | [`Asset`] |
//! | all of it in order | [`mod@bake`] | [`bake::bake`] |
//! | as fine as needed | [`mod@fill`] | [`fill::fill`] |
//! | to pieces, without a simulation | [`mod@shatter`], [`limits`] | [`shatter::Subject`], [`shatter::plan`], [`shatter::dress`], [`shatter::shared_areas`] |
//! | tetrahedra out | [`tetrahedralize`] | [`tetrahedralize::surface`], [`tetrahedralize::implicit`] |
//! | what a mesh is | [`inspect`] | [`inspect_surface`], [`inspect_tets`] |
//! | files out | [`write`](mod@write) | [`write_vtu`], [`write_msh`], [`write_obj`], [`write_ply`], [`write::glb::Glb`] |
//! | visible skin, finer than the tetrahedra | [`skin`] | [`Skin`] |

pub mod asset;
pub mod bake;
pub mod error;
pub mod fill;
mod glb_container;
pub mod inspect;
pub mod limits;
pub mod model;
mod orient;
mod polygon;
pub mod read;
pub mod repair;
mod repairs;
mod self_intersection;
pub mod shapes;
pub mod shatter;
pub mod skin;
pub mod surface_mesh;
pub mod tet_soup;
pub mod tetrahedralize;
mod topology;
pub mod write;

pub use asset::{Asset, AssetError, SectionTag};
pub use error::{Place, ReadError, ReadErrorKind};
pub use inspect::{SurfaceReport, TetReport, boundary_surface, inspect_surface, inspect_tets};
pub use read::volume::{RawLayout, Volume, read_raw_volume, read_volume};
pub use read::{
    Mesh, read, read_as_listed, read_bytes, read_bytes_with, read_surface, read_tet_mesh,
    read_tets, tet_mesh_of,
};
pub use repair::{Repair, Repairs};
pub use skin::{Skin, SkinPart};
pub use surface_mesh::{SurfaceMesh, SurfaceMeshError};
pub use tet_soup::{TetSoup, TetSoupError};
pub use write::{Field, write_msh, write_obj, write_ply, write_vtu};
