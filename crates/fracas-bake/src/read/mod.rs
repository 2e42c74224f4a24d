//! Mesh files in.
//!
//! | format | holds | module |
//! | --- | --- | --- |
//! | OBJ | surface | `obj` |
//! | PLY, text and binary | surface | `ply` |
//! | STL, text and binary | surface | `stl` |
//! | OFF | surface | `off` |
//! | glTF 2.0, `.glb` and `.gltf` | surface | `gltf` |
//! | Gmsh 2.2 and 4.1, text and binary | tetrahedra or surface | `msh` |
//! | Medit `.mesh` | tetrahedra or surface | `medit` |
//! | TetGen `.node` and `.ele` | tetrahedra | `tetgen` |
//! | legacy VTK, text and binary | tetrahedra or surface | `vtk` |
//! | VTK XML `.vtu`, text and base64 | tetrahedra or surface | `vtu` |
//! | NRRD, raw arrays | volumes, by their own functions | [`volume`] |
//!
//! Any of them may be gzipped. The format is known from the content where that is
//! unmistakable, and from the name otherwise.
//!
//! **Guarantee**, for every file whatever it holds: no panic, time linear in its size
//! (up to a logarithm), memory at most a small multiple of its size. A count claimed
//! by a header is never believed beyond the bytes that follow it; a gzipped file may
//! inflate to [`INFLATE_FACTOR`] times its size plus a megabyte.

pub(crate) mod beside;
mod binary;
pub(crate) mod gltf;
mod medit;
mod msh;
mod obj;
pub(crate) mod obj_model;
mod off;
mod ply;
pub(crate) mod scanner;
mod stl;
mod tetgen;
#[cfg(not(feature = "research"))]
mod volume;
#[cfg(feature = "research")]
pub mod volume;
mod vtk;
mod vtu;

use std::io::Read as _;
use std::path::Path;

use fracas_core::TetMesh;
use glam::DVec3;

use crate::error::{Place, ReadError, ReadErrorKind};
use crate::repair::{PolygonSoup, Repair, Repairs};
use crate::surface_mesh::{SurfaceMesh, SurfaceMeshError};
use crate::tet_soup::{TetSoup, TetSoupError};
use scanner::Result;

/// A gzipped file may inflate to this many times its size, and a megabyte.
#[cfg_attr(feature = "research", visibility::make(pub))]
pub(crate) const INFLATE_FACTOR: u64 = 100;

/// What a mesh file held.
#[derive(Clone, Debug, PartialEq)]
pub enum Mesh {
    /// Triangles, and what was repaired.
    Surface(SurfaceMesh, Repairs),
    /// Tetrahedra as read.
    Tets(TetSoup),
}

/// Reads a file of any known format.
///
/// # Errors
/// With file, place, reason and remedy, see [`ReadError`].
pub fn read(path: impl AsRef<Path>) -> Result<Mesh> {
    let path = path.as_ref();
    let name = path.display().to_string();
    let bytes = read_file(path).map_err(|e| e.in_file(&name))?;
    let folder = path.parent().unwrap_or(Path::new(""));
    read_bytes_with(&name, &bytes, &mut |other| read_file(&folder.join(other)))
}

/// Reads a surface.
///
/// # Errors
/// As [`read`], and where the file holds tetrahedra.
pub fn read_surface(path: impl AsRef<Path>) -> Result<(SurfaceMesh, Repairs)> {
    let path = path.as_ref();
    match read(path)? {
        Mesh::Surface(mesh, repairs) => Ok((mesh, repairs)),
        Mesh::Tets(_) => Err(wrong_kind(path, "tetrahedra", "a surface")),
    }
}

/// Reads a surface exactly as listed (OBJ, PLY, OFF; polygons fanned, nothing welded,
/// removed or turned), so that vertices and triangles keep the file's numbers.
///
/// # Errors
/// As [`read`], and for formats that do not list shared vertices.
#[cfg_attr(feature = "research", visibility::make(pub))]
pub(crate) fn read_as_listed(path: impl AsRef<Path>) -> Result<(Vec<DVec3>, Vec<[u32; 3]>)> {
    let path = path.as_ref();
    let name = path.display().to_string();
    let listed = || {
        let bytes = read_file(path)?;
        let bytes = if is_gzip(&bytes) {
            inflate(&bytes)?
        } else {
            bytes
        };
        let plain = strip_suffix(&name, ".gz").unwrap_or(&name);
        let soup = match format_of(plain, &bytes)? {
            Format::Obj => obj::read(&bytes)?,
            Format::Ply => ply::read(&bytes)?,
            Format::Off => off::read(&bytes)?,
            _ => {
                return Err(ReadError::new(
                    ReadErrorKind::WrongKind,
                    Place::File,
                    "its format does not list vertices that triangles share",
                    "convert it to OBJ, PLY or OFF",
                ));
            }
        };
        soup.into_listed().map_err(surface_error)
    };
    listed().map_err(|e| e.in_file(&name))
}

/// Reads tetrahedra as they are in the file.
///
/// # Errors
/// As [`read`], and where the file holds a surface only.
#[cfg_attr(feature = "research", visibility::make(pub))]
pub(crate) fn read_tets(path: impl AsRef<Path>) -> Result<TetSoup> {
    let path = path.as_ref();
    match read(path)? {
        Mesh::Tets(soup) => Ok(soup),
        Mesh::Surface(..) => Err(wrong_kind(path, "a surface", "tetrahedra")),
    }
}

/// Reads tetrahedra and makes a mesh of them, see [`TetSoup::into_mesh`].
///
/// # Errors
/// As [`read_tets`], and where they make no mesh.
pub fn read_tet_mesh(path: impl AsRef<Path>) -> Result<(TetMesh, Repairs)> {
    let path = path.as_ref();
    tet_mesh_of(&path.display().to_string(), read_tets(path)?)
}

/// [`TetSoup::into_mesh`] with an error that speaks of the file `name`.
///
/// # Errors
/// Where the tetrahedra make no mesh.
#[cfg_attr(feature = "research", visibility::make(pub))]
pub(crate) fn tet_mesh_of(name: &str, soup: TetSoup) -> Result<(TetMesh, Repairs)> {
    tet_mesh(soup).map_err(|e| e.in_file(name))
}

/// Reads a file that is already in memory; its name tells the format and appears in
/// errors.
///
/// # Errors
/// As [`read`], and where the file refers to another.
pub fn read_bytes(name: &str, bytes: &[u8]) -> Result<Mesh> {
    read_bytes_with(name, bytes, &mut |other| {
        Err(ReadError::new(
            ReadErrorKind::Io,
            Place::File,
            format!("it needs the file `{other}` beside it, which was not given"),
            "give both, or use a format of one file",
        ))
    })
}

/// As [`read_bytes`]; `beside` is asked for files that lie beside this one (the
/// `.node` of an `.ele`, the buffers of a `.gltf`), by a plain name without folders.
///
/// # Errors
/// As [`read`].
#[cfg_attr(feature = "research", visibility::make(pub))]
pub(crate) fn read_bytes_with(
    name: &str,
    bytes: &[u8],
    beside: &mut dyn FnMut(&str) -> Result<Vec<u8>>,
) -> Result<Mesh> {
    read_any(name, bytes, beside).map_err(|e| e.in_file(name))
}

fn read_any(
    name: &str,
    bytes: &[u8],
    beside: &mut dyn FnMut(&str) -> Result<Vec<u8>>,
) -> Result<Mesh> {
    let inflated;
    let (bytes, name) = if is_gzip(bytes) {
        inflated = inflate(bytes)?;
        (&inflated[..], strip_suffix(name, ".gz").unwrap_or(name))
    } else {
        (bytes, name)
    };
    match format_of(name, bytes)? {
        Format::Obj => surface(obj::read(bytes)?),
        Format::Ply => surface(ply::read(bytes)?),
        Format::Stl => surface(stl::read(bytes)?),
        Format::Off => surface(off::read(bytes)?),
        Format::Gltf => surface(gltf::read(bytes, beside)?),
        Format::Msh => msh::read(bytes)?.into_mesh(),
        Format::Medit => medit::read(bytes)?.into_mesh(),
        Format::Vtk => vtk::read(bytes)?.into_mesh(),
        Format::Vtu => vtu::read(bytes)?.into_mesh(),
        Format::TetgenNodes => {
            let other = sibling(name, ".node", ".ele");
            let nodes = tetgen::read_nodes(bytes)?;
            let elements = beside_inflated(&other, beside)?;
            let cells = tetgen::read_elements(&elements, nodes);
            cells.map_err(|e| e.in_file(&other))?.into_mesh()
        }
        Format::TetgenElements => {
            let other = sibling(name, ".ele", ".node");
            let nodes = tetgen::read_nodes(&beside_inflated(&other, beside)?);
            let nodes = nodes.map_err(|e| e.in_file(&other))?;
            tetgen::read_elements(bytes, nodes)?.into_mesh()
        }
    }
}

/// The plain name of the other file of a pair.
fn sibling(name: &str, suffix: &str, other: &str) -> String {
    let plain = name.rsplit(['/', '\\']).next().unwrap_or(name);
    format!("{}{other}", strip_suffix(plain, suffix).unwrap_or(plain))
}

fn beside_inflated(name: &str, beside: &mut dyn FnMut(&str) -> Result<Vec<u8>>) -> Result<Vec<u8>> {
    let bytes = beside(name)?;
    if is_gzip(&bytes) {
        return inflate(&bytes).map_err(|e| e.in_file(name));
    }
    Ok(bytes)
}

fn is_gzip(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0x1f, 0x8b])
}

#[derive(Clone, Copy)]
enum Format {
    Obj,
    Ply,
    Stl,
    Off,
    Gltf,
    Msh,
    Medit,
    TetgenNodes,
    TetgenElements,
    Vtk,
    Vtu,
}

/// By unmistakable content, else by name.
fn format_of(name: &str, bytes: &[u8]) -> Result<Format> {
    const MAGIC: [(&[u8], Format); 7] = [
        (b"ply\n", Format::Ply),
        (b"ply\r", Format::Ply),
        (b"glTF", Format::Gltf),
        (b"$MeshFormat", Format::Msh),
        (b"MeshVersionFormatted", Format::Medit),
        (b"# vtk DataFile", Format::Vtk),
        (b"OFF", Format::Off),
    ];
    const SUFFIX: [(&str, Format); 12] = [
        (".obj", Format::Obj),
        (".ply", Format::Ply),
        (".stl", Format::Stl),
        (".off", Format::Off),
        (".glb", Format::Gltf),
        (".gltf", Format::Gltf),
        (".msh", Format::Msh),
        (".mesh", Format::Medit),
        (".node", Format::TetgenNodes),
        (".ele", Format::TetgenElements),
        (".vtk", Format::Vtk),
        (".vtu", Format::Vtu),
    ];
    if bytes.starts_with(b"\x93FRACAS") || strip_suffix(name, ".fracas").is_some() {
        return Err(ReadError::new(
            ReadErrorKind::WrongKind,
            Place::File,
            "this is an asset that `fracas bake` made, not a mesh file",
            "open it as an asset",
        ));
    }
    let magic = MAGIC.iter().find(|(magic, _)| bytes.starts_with(magic));
    let suffix = SUFFIX
        .iter()
        .find(|(suffix, _)| strip_suffix(name, suffix).is_some());
    match (magic, suffix) {
        (Some((_, format)), _) | (None, Some((_, format))) => Ok(*format),
        (None, None) => Err(ReadError::new(
            ReadErrorKind::UnknownFormat,
            Place::File,
            "the format is not known from the name or the content",
            "use a surface (.obj .ply .stl .off .glb .gltf) or tetrahedra (.msh .mesh .node+.ele .vtk .vtu), gzipped or not",
        )),
    }
}

/// Without a suffix in either case of letters.
fn strip_suffix<'a>(name: &'a str, suffix: &str) -> Option<&'a str> {
    let start = name.len().checked_sub(suffix.len())?;
    let (head, tail) = (name.get(..start)?, name.get(start..)?);
    tail.eq_ignore_ascii_case(suffix).then_some(head)
}

fn read_file(path: &Path) -> Result<Vec<u8>> {
    let fail = |error: std::io::Error| {
        ReadError::new(
            ReadErrorKind::Io,
            Place::File,
            error.to_string(),
            "check the path and its permissions",
        )
        .in_file(&path.display().to_string())
    };
    // A pipe or device might never end.
    if !std::fs::metadata(path).map_err(fail)?.is_file() {
        return Err(fail(std::io::Error::other("not a regular file")));
    }
    std::fs::read(path).map_err(fail)
}

fn inflate(bytes: &[u8]) -> Result<Vec<u8>> {
    let limit = (bytes.len() as u64)
        .saturating_mul(INFLATE_FACTOR)
        .saturating_add(1 << 20);
    let mut inflated = Vec::new();
    flate2::read::MultiGzDecoder::new(bytes)
        .take(limit + 1)
        .read_to_end(&mut inflated)
        .map_err(|error| {
            ReadError::new(
                ReadErrorKind::Truncated,
                Place::File,
                format!("it does not inflate: {error}"),
                "it is damaged or incomplete: compress or download it again",
            )
        })?;
    if inflated.len() as u64 > limit {
        return Err(ReadError::new(
            ReadErrorKind::TooLarge,
            Place::File,
            format!("it inflates to more than {INFLATE_FACTOR} times its size"),
            "inflate it yourself if you trust it",
        ));
    }
    Ok(inflated)
}

/// Nodes with tetrahedra and faces: what formats of the finite element world hold.
#[derive(Default)]
struct Cells {
    positions: Vec<DVec3>,
    tets: Vec<[u32; 4]>,
    /// Its positions are empty until needed.
    faces: PolygonSoup,
    /// Points, lines and the like.
    ignored: usize,
}

impl Cells {
    /// Tetrahedra where there are any; else the surface.
    fn into_mesh(mut self) -> Result<Mesh> {
        if self.tets.is_empty() {
            *self.faces.positions_mut() = self.positions;
            let repairs = self.faces.repairs_mut();
            repairs.add(Repair::OtherElementsIgnored, self.ignored);
            return surface(self.faces);
        }
        let mut repairs = Repairs::default();
        let ignored = self.ignored + self.faces.face_count();
        repairs.add(Repair::OtherElementsIgnored, ignored);
        Ok(Mesh::Tets(
            TetSoup::new(self.positions, self.tets).with_repairs(repairs),
        ))
    }
}

fn surface(soup: PolygonSoup) -> Result<Mesh> {
    if soup.face_count() == 0 {
        let vertices = soup.positions().len();
        return Err(ReadError::new(
            ReadErrorKind::Empty,
            Place::File,
            format!("it holds no faces ({vertices} vertices)"),
            "fracas needs a surface of triangles or polygons, or tetrahedra; points have to be meshed first",
        ));
    }
    let (mesh, repairs) = soup.into_surface().map_err(surface_error)?;
    Ok(Mesh::Surface(mesh, repairs))
}

fn surface_error(error: SurfaceMeshError) -> ReadError {
    let element = |what, index| Place::Element { what, index };
    let (kind, place, help) = match &error {
        SurfaceMeshError::Empty => (
            ReadErrorKind::Empty,
            Place::File,
            "every face names a corner twice; export the mesh again",
        ),
        SurfaceMeshError::TooLarge { .. } => {
            (ReadErrorKind::TooLarge, Place::File, "decimate the mesh")
        }
        SurfaceMeshError::NotFinite { vertex, .. } => (
            ReadErrorKind::NotFinite,
            element("vertex", *vertex as usize),
            "correct the coordinate, or remove the faces that use the vertex",
        ),
        SurfaceMeshError::VertexOutOfRange { triangle, .. } => (
            ReadErrorKind::IndexOutOfRange,
            element("face", *triangle),
            "correct the index or remove the face",
        ),
        SurfaceMeshError::PolygonTooLarge { face, .. } => (
            ReadErrorKind::TooLarge,
            element("face", *face),
            "cut it into triangles in a modelling program",
        ),
        SurfaceMeshError::RepeatedVertex { triangle, .. } => (
            ReadErrorKind::BadMesh,
            element("face", *triangle),
            "remove the face",
        ),
        SurfaceMeshError::UvCount { .. } => (
            ReadErrorKind::BadMesh,
            Place::File,
            "export without texture coordinates",
        ),
    };
    ReadError::new(kind, place, error.to_string(), help)
}

/// [`TetSoup::into_mesh`] with the error of a file.
fn tet_mesh(soup: TetSoup) -> Result<(TetMesh, Repairs)> {
    use fracas_core::TetMeshError as Mesh;
    soup.into_mesh().map_err(|error| {
        let tet = |index: usize| Place::Element {
            what: "tetrahedron",
            index,
        };
        let node = |index: usize| Place::Element {
            what: "node",
            index,
        };
        let (kind, place, help) = match &error {
            TetSoupError::Flat { tet: t, .. } => (
                ReadErrorKind::BadMesh,
                tet(*t),
                "remesh the object, asking for better elements",
            ),
            TetSoupError::TooFar { node: n, .. } => {
                (ReadErrorKind::TooLarge, node(*n), "change the unit")
            }
            TetSoupError::Mesh(Mesh::NotFinite { node: n, .. }) => (
                ReadErrorKind::NotFinite,
                node(*n as usize),
                "correct the coordinate",
            ),
            TetSoupError::Mesh(Mesh::NodeOutOfRange { tet: t, .. }) => (
                ReadErrorKind::IndexOutOfRange,
                tet(*t as usize),
                "correct the index or remove the tetrahedron",
            ),
            TetSoupError::Mesh(Mesh::RepeatedNode { tet: t, .. }) => (
                ReadErrorKind::BadMesh,
                tet(*t as usize),
                "remove the tetrahedron",
            ),
            TetSoupError::Mesh(Mesh::FaceShared { tets, .. }) => (
                ReadErrorKind::BadMesh,
                tet(tets[2] as usize),
                "remove the tetrahedra that overlap",
            ),
            TetSoupError::Mesh(_) => (ReadErrorKind::BadMesh, Place::File, "remesh the object"),
        };
        ReadError::new(kind, place, error.to_string(), help)
    })
}

fn wrong_kind(path: &Path, found: &str, wanted: &str) -> ReadError {
    ReadError::new(
        ReadErrorKind::WrongKind,
        Place::File,
        format!("it holds {found}, where {wanted} is needed"),
        format!("give a file that holds {wanted}"),
    )
    .in_file(&path.display().to_string())
}
