//! Ahead of time: mesh files to surfaces, tetrahedra and fracas assets.
//!
//! | what | module | main items |
//! | --- | --- | --- |
//! | mesh files in | [`read`](mod@read), [`error`], [`repair`] | [`read()`], [`read_surface`], [`read_tets`], [`Repairs`] |
//! | what they hold | [`surface_mesh`], [`tet_soup`] | [`SurfaceMesh`], [`TetSoup`] |
//! | what a mesh is | [`inspect`] | [`inspect_surface`], [`inspect_tets`] |
//! | mesh files out | [`write`] | [`write_vtu`], [`write_msh`], [`write_obj`], [`write_ply`] |

pub mod error;
pub mod inspect;
mod orient;
mod polygon;
pub mod read;
pub mod repair;
mod self_intersection;
pub mod surface_mesh;
pub mod tet_soup;
mod topology;
pub mod write;

pub use error::{Place, ReadError, ReadErrorKind};
pub use inspect::{SurfaceReport, TetReport, boundary_surface, inspect_surface, inspect_tets};
pub use read::{
    Mesh, read, read_bytes, read_bytes_with, read_surface, read_tet_mesh, read_tets, tet_mesh_of,
};
pub use repair::{Repair, Repairs};
pub use surface_mesh::{SurfaceMesh, SurfaceMeshError};
pub use tet_soup::{TetSoup, TetSoupError};
pub use write::{Field, write_msh, write_obj, write_ply, write_vtu};
