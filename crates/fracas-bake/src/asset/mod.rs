//! Everything computed ahead about one object, in one file.
//!
//! An [`Asset`] has a name, a tet mesh, perhaps a visible skin that is finer than
//! the tets, perhaps the modes by which it breaks, and any number of further
//! sections that other modules add (fields, trees): [`Asset::put_section`] and [`Asset::section`], with [`Encoder`] and
//! [`Decoder`] for what is in them. A reader skips sections it does not know, so
//! adding one changes nothing for the others. The layout of the file is described in
//! `container.rs`.
//!
//! | tag | content |
//! | --- | --- |
//! | `NAME` | text |
//! | `MESH` | positions (f32), tetrahedra |
//! | `NBR1` | per tetrahedron: its neighbours across its four faces |
//! | `SKIN` | positions (f64), triangles, texture coordinates |
//! | `MOD2` | modes of the whole object, see `modes.rs` |
//! | `OBJ3` | field, sphere tree, surface and mass of the whole object, see `object.rs` |
//!
//! The same asset gives the same bytes. A file that is cut short or altered gives an
//! error that says which part, never a panic and never more memory than a small
//! multiple of the file.

mod codec;
mod container;
mod modes;
mod object;

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fracas_core::{TetMesh, TetMeshError};
use fracas_fracture::Modes;
use fracas_fracture::modes::ModesDataError;
use glam::{DVec3, Vec2, Vec3};
use thiserror::Error;

use crate::surface_mesh::{SurfaceMesh, SurfaceMeshError};

pub use codec::DecodeError;
#[cfg_attr(feature = "research", visibility::make(pub))]
pub(crate) use codec::{Decoder, Encoder};
pub use object::{OBJECT, ObjectError};

/// Names a section: four characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SectionTag(pub [u8; 4]);

impl fmt::Display for SectionTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", self.0.escape_ascii())
    }
}

const NAME: SectionTag = SectionTag(*b"NAME");
const MESH: SectionTag = SectionTag(*b"MESH");
const NEIGHBOURS: SectionTag = SectionTag(*b"NBR1");
const SKIN: SectionTag = SectionTag(*b"SKIN");
const MODE: SectionTag = SectionTag(*b"MOD2");

/// Why bytes are not an asset, or an asset could not be stored.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum AssetError {
    /// Another kind of file.
    #[error("this is not a fracas asset; make one with `fracas bake`")]
    NotAnAsset,
    /// Written by another version of the format.
    #[error("the asset has format version {found}, this program reads {supported}; bake it again")]
    Version {
        /// Of the file.
        found: u32,
        /// Of this program.
        supported: u32,
    },
    /// The file is shorter or longer than it says.
    #[error("the asset should have {expected} bytes but has {found}; copy or bake it again")]
    Truncated {
        /// By its header.
        expected: u64,
        /// As found.
        found: u64,
    },
    /// A checksum does not agree.
    #[error("the asset is damaged in {part}; copy or bake it again")]
    Damaged {
        /// Which part.
        part: String,
    },
    /// A section that must be there is not.
    #[error("the asset has no section {tag}; bake it again")]
    Missing {
        /// Which.
        tag: SectionTag,
    },
    /// A section is there twice.
    #[error("the asset has two sections {tag}; bake it again")]
    Twice {
        /// Which.
        tag: SectionTag,
    },
    /// A section that may not be skipped is of an unknown kind.
    #[error("the asset needs section {tag}, which this version does not know; update fracas")]
    UnknownRequired {
        /// Which.
        tag: SectionTag,
    },
    /// The tag belongs to the asset itself.
    #[error("section {tag} is written by the asset itself; choose another tag")]
    Reserved {
        /// Which.
        tag: SectionTag,
    },
    /// The content of a section is not what it should be.
    #[error("section {tag} of the asset: {source}")]
    Content {
        /// Which.
        tag: SectionTag,
        /// What is wrong.
        source: DecodeError,
    },
    /// The tetrahedra make no mesh.
    #[error("the mesh in the asset: {0}")]
    Mesh(#[from] TetMeshError),
    /// The neighbours that are stored are not those of the tetrahedra.
    #[error("section {tag} of the asset: {0}", tag = NEIGHBOURS)]
    Neighbours(TetMeshError),
    /// The numbers make no modes, or none of this mesh.
    #[error("section {tag} of the asset: {0}", tag = MODE)]
    Modes(#[from] ModesDataError),
    /// The skin makes no surface.
    #[error("the skin in the asset: {0}")]
    Skin(#[from] SurfaceMeshError),
    /// The file is not an asset, or a damaged one.
    #[error("{}: {source}", path.display())]
    In {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        source: Box<AssetError>,
    },
    /// The file cannot be read or written.
    #[error("cannot {verb} {}: {source}", path.display())]
    File {
        /// "read" or "write".
        verb: &'static str,
        /// Where.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// Everything computed ahead about one object.
#[derive(Clone, Debug, PartialEq)]
pub struct Asset {
    name: String,
    mesh: Arc<TetMesh>,
    skin: Option<SurfaceMesh>,
    modes: Option<Arc<Modes>>,
    sections: BTreeMap<SectionTag, Vec<u8>>,
}

impl Asset {
    /// An asset with nothing but its mesh.
    #[must_use]
    pub fn new(name: impl Into<String>, mesh: TetMesh) -> Self {
        Self {
            name: name.into(),
            mesh: Arc::new(mesh),
            skin: None,
            modes: None,
            sections: BTreeMap::new(),
        }
    }

    /// Adds the surface to be seen, where it is not the boundary of the tets.
    pub fn set_skin(&mut self, skin: SurfaceMesh) {
        self.skin = Some(skin);
    }

    /// Adds the modes by which it breaks: those of its mesh, whole.
    ///
    /// # Errors
    /// When they are of another mesh.
    pub fn set_modes(&mut self, modes: Arc<Modes>) -> Result<(), AssetError> {
        modes.validate_whole(self.mesh.positions().len())?;
        self.modes = Some(modes);
        Ok(())
    }

    /// What it is called.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its tetrahedra.
    #[must_use]
    pub fn mesh(&self) -> &TetMesh {
        &self.mesh
    }

    /// The same, for those who keep them.
    #[must_use]
    pub fn shared_mesh(&self) -> &Arc<TetMesh> {
        &self.mesh
    }

    /// The surface to be seen, where it is not the boundary of the tets.
    #[must_use]
    pub fn skin(&self) -> Option<&SurfaceMesh> {
        self.skin.as_ref()
    }

    /// The modes by which it breaks, where they were baked: what
    /// [`fracas_fracture::Breaker::new`] takes.
    #[must_use]
    pub fn modes(&self) -> Option<&Arc<Modes>> {
        self.modes.as_ref()
    }

    /// The content of a section that some module put there.
    #[must_use]
    pub fn section(&self, tag: SectionTag) -> Option<&[u8]> {
        self.sections.get(&tag).map(Vec::as_slice)
    }

    /// The tags of all further sections, in order.
    #[cfg_attr(feature = "research", visibility::make(pub))]
    pub(crate) fn section_tags(&self) -> impl Iterator<Item = SectionTag> + '_ {
        self.sections.keys().copied()
    }

    /// Adds or replaces a section. It must be possible to do without it, or to
    /// compute it from the mesh: older programs skip it.
    ///
    /// # Errors
    /// When the tag is one of the asset's own.
    #[cfg_attr(feature = "research", visibility::make(pub))]
    pub(crate) fn put_section(
        &mut self,
        tag: SectionTag,
        content: Vec<u8>,
    ) -> Result<(), AssetError> {
        if [NAME, MESH, NEIGHBOURS, SKIN, MODE].contains(&tag) {
            return Err(AssetError::Reserved { tag });
        }
        self.sections.insert(tag, content);
        Ok(())
    }

    /// The bytes of a file. The same asset gives the same bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut name = Encoder::new();
        name.text(&self.name);
        let mut own = vec![
            (NAME, false, name.finish()),
            (MESH, true, mesh_bytes(&self.mesh)),
            (NEIGHBOURS, false, neighbour_bytes(&self.mesh)),
        ];
        own.extend(self.skin.iter().map(|s| (SKIN, false, skin_bytes(s))));
        own.extend(self.modes.iter().map(|m| (MODE, false, modes::bytes(m))));
        let own = own
            .iter()
            .map(|(tag, required, content)| container::Section {
                tag: *tag,
                required: *required,
                content,
            });
        let others = self
            .sections
            .iter()
            .map(|(tag, content)| container::Section {
                tag: *tag,
                required: false,
                content,
            });
        container::write(&own.chain(others).collect::<Vec<_>>())
    }

    /// Reads the bytes of a file.
    ///
    /// # Errors
    /// See [`AssetError`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, AssetError> {
        let (mut name, mut mesh, mut skin) = (String::new(), None, None);
        let (mut neighbours, mut stored_modes) = (None, None);
        let mut sections = BTreeMap::new();
        for section in container::read(bytes)? {
            let tag = section.tag;
            let wrong = |source| AssetError::Content { tag, source };
            match tag {
                NAME => {
                    let mut input = Decoder::new(section.content);
                    name = input.text().map_err(wrong)?;
                    input.finish().map_err(wrong)?;
                }
                MESH => mesh = Some(read_mesh(section.content).map_err(wrong)?),
                NEIGHBOURS => {
                    let mut input = Decoder::new(section.content);
                    neighbours = Some(input.u32_rows().map_err(wrong)?);
                    input.finish().map_err(wrong)?;
                }
                SKIN => skin = Some(read_skin(section.content)?),
                MODE => stored_modes = Some(section.content),
                _ if section.required => return Err(AssetError::UnknownRequired { tag }),
                _ => {
                    sections.insert(tag, section.content.to_vec());
                }
            }
        }
        let (positions, tets) = mesh.ok_or(AssetError::Missing { tag: MESH })?;
        let mesh = match neighbours {
            Some(neighbours) => TetMesh::build_with_neighbours(positions, tets, neighbours),
            None => TetMesh::build(positions, tets),
        };
        let mesh = Arc::new(mesh.map_err(|error| match error {
            TetMeshError::NotNeighbours { .. } => AssetError::Neighbours(error),
            other => other.into(),
        })?);
        let modes = stored_modes
            .map(|content| modes::read(content, &mesh))
            .transpose()?
            .map(Arc::new);
        Ok(Self {
            name,
            mesh,
            skin,
            modes,
            sections,
        })
    }

    /// Whether a file is called `.fracas`, in either case of letters.
    #[must_use]
    pub fn is_asset_name(path: impl AsRef<Path>) -> bool {
        let suffix = path.as_ref().extension();
        suffix.is_some_and(|e| e.eq_ignore_ascii_case("fracas"))
    }

    /// Reads a file.
    ///
    /// # Errors
    /// See [`AssetError`].
    pub fn load(path: impl AsRef<Path>) -> Result<Self, AssetError> {
        let path = path.as_ref();
        let bytes = fs::read(path).map_err(|source| AssetError::File {
            verb: "read",
            path: path.into(),
            source,
        })?;
        Self::from_bytes(&bytes).map_err(|source| AssetError::In {
            path: path.into(),
            source: Box::new(source),
        })
    }

    /// Writes a file, whole or not at all (see [`crate::write::write_file`]).
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), AssetError> {
        let path = path.as_ref();
        crate::write::write_file(path, &self.to_bytes()).map_err(|source| AssetError::File {
            verb: "write",
            path: path.into(),
            source,
        })
    }
}

fn mesh_bytes(mesh: &TetMesh) -> Vec<u8> {
    let mut out = Encoder::new();
    let flat: Vec<f32> = mesh.positions().iter().flat_map(|p| p.to_array()).collect();
    out.f32s(&flat);
    out.u32s(mesh.tets().as_flattened());
    out.finish()
}

fn neighbour_bytes(mesh: &TetMesh) -> Vec<u8> {
    let mut out = Encoder::new();
    out.u32s(mesh.neighbours().as_flattened());
    out.finish()
}

fn read_mesh(bytes: &[u8]) -> Result<(Vec<Vec3>, Vec<[u32; 4]>), DecodeError> {
    let mut input = Decoder::new(bytes);
    let (positions, tets) = (input.f32_rows()?, input.u32_rows()?);
    input.finish()?;
    Ok((positions.into_iter().map(Vec3::from_array).collect(), tets))
}

fn skin_bytes(skin: &SurfaceMesh) -> Vec<u8> {
    let mut out = Encoder::new();
    let flat: Vec<f64> = skin.positions().iter().flat_map(|p| p.to_array()).collect();
    out.f64s(&flat);
    out.u32s(skin.triangles().as_flattened());
    let uvs = skin.uvs().unwrap_or_default();
    let flat: Vec<f32> = uvs.iter().flatten().flat_map(|uv| uv.to_array()).collect();
    out.f32s(&flat);
    out.finish()
}

fn read_skin(bytes: &[u8]) -> Result<SurfaceMesh, AssetError> {
    let wrong = |source| AssetError::Content { tag: SKIN, source };
    let mut input = Decoder::new(bytes);
    let points = input.f64_rows().map_err(wrong)?;
    let corners = input.u32_rows().map_err(wrong)?;
    let uvs = input.f32_rows::<6>().map_err(wrong)?;
    input.finish().map_err(wrong)?;
    let points = points.into_iter().map(DVec3::from_array).collect();
    let uvs = uvs.iter().map(|u| {
        let corner = |i: usize| Vec2::new(u[2 * i], u[2 * i + 1]);
        [corner(0), corner(1), corner(2)]
    });
    let uvs = Some(uvs.collect::<Vec<_>>()).filter(|u| !u.is_empty());
    Ok(SurfaceMesh::build_with_uvs(points, corners, uvs)?)
}

#[cfg(test)]
mod tests;
