//! Ahead of time: mesh files to surfaces, tetrahedra and fracas assets.
//!
//! | what | module | main items |
//! | --- | --- | --- |
//! | mesh files in | [`read`](mod@read), [`error`], [`repair`] | [`read()`], [`read_surface`], [`read_tets`], [`Repairs`] |
//! | what they hold | [`surface_mesh`], [`tet_soup`] | [`SurfaceMesh`], [`TetSoup`] |
//! | tetrahedra out | [`tetrahedralize`] | [`tetrahedralize::surface`], [`tetrahedralize::implicit`] |
//! | visible skin, finer than the tetrahedra | [`skin`] | [`Skin`] |

pub mod error;
mod polygon;
pub mod read;
pub mod repair;
pub mod skin;
pub mod surface_mesh;
pub mod tet_soup;
pub mod tetrahedralize;

pub use error::{Place, ReadError, ReadErrorKind};
pub use read::{Mesh, read, read_bytes, read_bytes_with, read_surface, read_tet_mesh, read_tets};
pub use repair::{Repair, Repairs};
pub use skin::{Skin, SkinPart};
pub use surface_mesh::{SurfaceMesh, SurfaceMeshError};
pub use tet_soup::{TetSoup, TetSoupError};
