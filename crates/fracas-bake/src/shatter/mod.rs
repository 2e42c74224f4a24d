//! An object to pieces without a simulation: what `fracas shatter` and the Python
//! `shatter` do.
//!
//! ```no_run
//! use fracas_bake::shatter::{ShatterOptions, Subject};
//!
//! let mug = Subject::open("mug.glb")?;
//! let broken = mug.shatter(&ShatterOptions::default())?;
//! broken.save("broken.glb")?;
//! # Ok::<(), fracas_bake::shatter::ShatterError>(())
//! ```
//!
//! Steps of [`Subject::shatter_with`]: [`plan`] lays a pattern, or computes an impact on the
//! modes -> the fracture is applied -> [`dress`] gives the pieces their visible surfaces.
//! [`shared_areas`] tells which pieces were neighbours.

mod look;
mod neighbours;
mod plan;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fracas_core::dressing::{FineBoundary, SkinMapError};
use fracas_core::fragment_surface::{FragmentSurface, SurfaceScratch};
use fracas_core::{Fracture, FragmentId, Fragments};
use fracas_fracture::FractureStats;
use glam::Vec3;
use thiserror::Error;

use crate::ReadError;
use crate::bake::{BakeError, BakeOptions, Baked, Progress, Source, bake};
use crate::model::Model;
use crate::model::detail::{CrackDetail, roughen};
use crate::model::pieces::{Buffers, ModelPiece};
use crate::model::write::{CrackLook, Format, files};
use crate::write::glb::GlbError;
use crate::write::write_file;

#[cfg_attr(feature = "research", visibility::make(pub))]
pub(crate) use look::{
    Look, Wardrobe, dress, model_of_boundary, model_of_surface, surface_of_tets,
};
pub use look::{SkinChoice, open_sides};
#[cfg_attr(feature = "research", visibility::make(pub))]
pub(crate) use neighbours::{SharedArea, shared_areas};
#[cfg_attr(feature = "research", visibility::make(pub))]
pub(crate) use plan::cost;
pub use plan::{Pattern, Plan, PlanError, ShatterOptions, plan};

/// Why it is not in pieces, or the pieces not in a file.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ShatterError {
    /// It cannot be read or filled with tetrahedra.
    #[error(transparent)]
    Bake(#[from] BakeError),
    /// The model cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// It does not break so.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The model's surface is no skin.
    #[error("the model cannot be cut: {0}")]
    Skin(#[from] SkinMapError),
    /// A file of this kind cannot hold pieces.
    #[error("pieces are written as .glb, .gltf, .obj or .usda, not as {}", .0.display())]
    Format(PathBuf),
    /// The pieces are too many for one file.
    #[error(transparent)]
    Glb(#[from] GlbError),
    /// The file cannot be written.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// A thing to break, and what it looks like.
#[derive(Clone, Debug)]
pub struct Subject {
    /// Its tetrahedra, perhaps its modes, and what was said of them.
    pub baked: Baked,
    /// Its triangles, materials and textures.
    pub model: Model,
    /// The fine surface of a shape of the procedural set, which is drawn instead.
    pub fine: Option<FineBoundary>,
    /// Skins of the model on its tetrahedra, kept from one break for the next.
    wardrobe: Wardrobe,
}

/// What the pieces get.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LookOptions {
    /// Which surface.
    pub skin: SkinChoice,
    /// Texture coordinates of cracks per metre.
    pub crack_scale: f32,
    /// Bumps on cracks, finer than the tetrahedra; `None`: cracks are as the tetrahedra have
    /// them.
    pub detail: Option<CrackDetail>,
}

impl Default for LookOptions {
    fn default() -> Self {
        Self {
            skin: SkinChoice::default(),
            crack_scale: 1.0,
            detail: None,
        }
    }
}

impl Subject {
    /// A mesh file, a baked asset, or a shape of the procedural set by its name; filled with
    /// tetrahedra as fine as it needs.
    ///
    /// # Errors
    /// When it cannot be read or filled.
    pub fn open(input: impl AsRef<Path>) -> Result<Self, ShatterError> {
        let source = Source::open(&input)?;
        Self::bake(source, input, &BakeOptions::default(), &mut |_| ())
    }

    /// What was opened from `input`, filled with tetrahedra as the options say.
    ///
    /// # Errors
    /// When it cannot be filled, or its materials cannot be read.
    pub fn bake(
        source: Source,
        input: impl AsRef<Path>,
        options: &BakeOptions,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Self, ShatterError> {
        let input = input.as_ref();
        let shape = match &source {
            Source::Shape(shape) => Some(*shape),
            _ => None,
        };
        let baked = bake(source, options, progress)?;
        let asset = &baked.asset;
        let model = match (shape, asset.skin()) {
            (Some(shape), _) => model_of_boundary(shape.name(), asset.mesh()),
            _ if Model::is_known(&input.to_string_lossy()) => Model::read(input)?,
            (_, Some(skin)) => model_of_surface(asset.name(), skin),
            _ => model_of_boundary(asset.name(), asset.mesh()),
        };
        let fine = shape.and_then(|shape| shape.fine_boundary(asset.mesh(), 1.0));
        Ok(Self {
            baked,
            model,
            fine,
            wardrobe: Wardrobe::default(),
        })
    }

    /// Breaks it.
    ///
    /// # Errors
    /// See [`ShatterError`].
    pub fn shatter(&self, options: &ShatterOptions) -> Result<Shattered<'_>, ShatterError> {
        self.shatter_with(options, &LookOptions::default(), &mut |_| ())
    }

    /// The same, in a look of choice; `tell` is told of what takes long.
    ///
    /// # Errors
    /// See [`ShatterError`].
    pub fn shatter_with(
        &self,
        options: &ShatterOptions,
        look: &LookOptions,
        tell: &mut dyn FnMut(&str),
    ) -> Result<Shattered<'_>, ShatterError> {
        let asset = &self.baked.asset;
        let mut fragments = Fragments::new(Arc::clone(asset.shared_mesh()));
        let whole = FragmentId(0);
        let Plan { fracture, stats } =
            plan(&fragments, whole, asset.modes().cloned(), options, tell)?;
        let split = fragments.apply(&fracture);
        let split = split.map_err(|e| PlanError::Whole(e.to_string()))?;
        let mut scratch = SurfaceScratch::default();
        let surfaces: Vec<FragmentSurface> = split
            .children
            .iter()
            .map(|&id| FragmentSurface::extract(&fragments, id, &mut scratch))
            .collect();
        let seen = Look {
            model: &self.model,
            fine: self.fine.as_ref(),
        };
        let (mut parts, warning) = dress(
            &self.wardrobe,
            &seen,
            &fragments,
            (&split.children, &surfaces),
            look.skin,
            look.crack_scale,
        )?;
        if let Some(detail) = &look.detail {
            for parts in &mut parts {
                roughen(parts, detail, look.crack_scale);
            }
        }
        let pieces = split.children.into_iter().zip(surfaces).zip(parts);
        Ok(Shattered {
            subject: self,
            fragments,
            fracture,
            pieces: pieces
                .map(|((id, surface), parts)| Piece { id, surface, parts })
                .collect(),
            stats,
            warning,
            density: options.material.density,
        })
    }
}

/// A piece of what broke.
#[derive(Clone, Debug)]
pub struct Piece {
    /// Its name among the fragments.
    pub id: FragmentId,
    /// The closed surface of its tetrahedra.
    pub surface: FragmentSurface,
    /// What is seen of it, one part for each material.
    pub parts: Vec<Buffers>,
}

impl Piece {
    /// With its mass, named by its number among the pieces, and moved away from the middle by
    /// `explode` of its way to it.
    #[must_use]
    #[cfg_attr(feature = "research", visibility::make(pub))]
    pub(crate) fn to_model(
        &self,
        number: usize,
        middle: Vec3,
        explode: f32,
        density: f64,
    ) -> ModelPiece {
        let properties = self.surface.mass_properties();
        let by: Vec3 = explode * (properties.centre.as_vec3() - middle);
        let mut surfaces = self.parts.clone();
        for p in surfaces.iter_mut().flat_map(|s| &mut s.positions) {
            *p += by;
        }
        ModelPiece {
            name: format!("fragment-{number:03}"),
            centre: properties.centre + by.as_dvec3(),
            volume: properties.volume,
            mass: properties.volume * density,
            surfaces,
        }
    }
}

/// The files of pieces: the first has the name that is given, whatever its ending; the others
/// stand beside it.
///
/// # Errors
/// When a binary glTF would be larger than the format can be.
#[cfg_attr(feature = "research", visibility::make(pub))]
pub(crate) fn files_of(
    model: &Model,
    pieces: &[ModelPiece],
    path: &Path,
    format: Format,
) -> Result<Vec<(PathBuf, Vec<u8>)>, GlbError> {
    let stem = path
        .file_stem()
        .map_or("fragments".into(), |s| s.to_string_lossy());
    let all = files(model, pieces, CrackLook::default(), format, &stem)?;
    let all = all.into_iter().enumerate();
    Ok(all
        .map(|(i, (name, bytes))| {
            let beside = || path.with_file_name(&name);
            (if i == 0 { path.into() } else { beside() }, bytes)
        })
        .collect())
}

/// An object in pieces.
#[derive(Clone, Debug)]
pub struct Shattered<'a> {
    subject: &'a Subject,
    /// Which node belongs to which piece.
    pub fragments: Fragments,
    /// What was applied to the whole.
    pub fracture: Fracture,
    /// The pieces, in order.
    pub pieces: Vec<Piece>,
    /// What an impact did, where there was one.
    pub stats: Option<FractureStats>,
    /// What the user should know of the look.
    pub warning: Option<String>,
    density: f64,
}

impl Shattered<'_> {
    /// Named pieces with masses, moved away from the middle by `explode` of their way to it.
    #[must_use]
    pub fn model_pieces(&self, explode: f32) -> Vec<ModelPiece> {
        let (low, high) = self.fragments.mesh().bounds();
        let middle = 0.5 * (low + high);
        let pieces = self.pieces.iter().enumerate();
        pieces
            .map(|(i, piece)| piece.to_model(i, middle, explode, self.density))
            .collect()
    }

    /// Writes all pieces to one file, `.glb`, `.gltf`, `.obj` or `.usda`, with pictures and
    /// materials beside it where the format wants them. Returns what was written.
    ///
    /// # Errors
    /// When the ending is of no such format, or a file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<Vec<PathBuf>, ShatterError> {
        let path = path.as_ref();
        let format = Format::of_path(path).ok_or_else(|| ShatterError::Format(path.into()))?;
        let mut written = Vec::new();
        for (path, bytes) in self.files(path, format, 0.0)? {
            write_file(&path, &bytes).map_err(|source| ShatterError::Write {
                path: path.clone(),
                source,
            })?;
            written.push(path);
        }
        Ok(written)
    }

    /// The files of all pieces: the first has the name that is given, whatever its ending;
    /// the others stand beside it.
    ///
    /// # Errors
    /// When a binary glTF would be larger than the format can be.
    pub fn files(
        &self,
        path: &Path,
        format: Format,
        explode: f32,
    ) -> Result<Vec<(PathBuf, Vec<u8>)>, GlbError> {
        files_of(
            &self.subject.model,
            &self.model_pieces(explode),
            path,
            format,
        )
    }
}
