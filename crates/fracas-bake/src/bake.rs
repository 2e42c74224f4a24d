//! From something to break to an [`Asset`]: the list of what is computed ahead.
//!
//! Stages, in order: read (or generate), fill with tetrahedra, modes where they are
//! asked for, pack. What other modules compute ahead joins the list here, each stage
//! as its own section of the asset.
//!
//! ```
//! use fracas_bake::bake::{BakeOptions, Source, bake};
//!
//! let baked = bake(Source::open("brick")?, &BakeOptions::default(), &mut |_| ())?;
//! assert_eq!(baked.asset.name(), "brick");
//! # Ok::<(), fracas_bake::bake::BakeError>(())
//! ```

use std::cell::{Cell, RefCell};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use fracas_core::{FragmentId, Fragments, TetMesh};
use fracas_fracture::modes::ModesError;
use fracas_fracture::{Material, Modes, ModesOptions};
use glam::DVec3;
use thiserror::Error;

use crate::asset::{Asset, AssetError};
use crate::error::ReadError;
use crate::fill::{FillNote, FillOptions, fill_while};
use crate::read::{Mesh, read};
use crate::repair::Repairs;
use crate::shapes::{self, Shape};
use crate::surface_mesh::SurfaceMesh;
use crate::tet_soup::TetSoupError;
use crate::tetrahedralize::quality::{Angles, angles};
use crate::tetrahedralize::{Grading, Size, TetrahedralizeError, Thicken};

/// Why there is no asset.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BakeError {
    /// Neither a file nor a shape.
    #[error("there is no file `{input}`, and no shape of that name; the shapes are: {shapes}")]
    Unknown {
        /// As given.
        input: String,
        /// What there is.
        shapes: String,
    },
    /// The file cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The asset cannot be read.
    #[error(transparent)]
    Asset(#[from] AssetError),
    /// The tetrahedra in the file make no mesh.
    #[error("{file}: {source}")]
    Tets {
        /// Which file.
        file: String,
        /// What is wrong.
        source: TetSoupError,
    },
    /// The surface cannot be filled.
    #[error("cannot fill the surface: {0}")]
    Fill(TetrahedralizeError),
    /// The tetrahedra have no modes.
    #[error("cannot compute modes: {0}; bake without them, or repair the mesh")]
    Modes(ModesError),
    /// The edge length is not a length.
    #[error("an edge length of {0} is not possible; give one above 0, in the units of the mesh")]
    EdgeLength(f64),
    /// The caller's progress callback stopped it.
    #[error("baking was cancelled")]
    Cancelled,
}

impl From<TetrahedralizeError> for BakeError {
    fn from(error: TetrahedralizeError) -> Self {
        match error {
            TetrahedralizeError::Cancelled => Self::Cancelled,
            error => Self::Fill(error),
        }
    }
}

impl From<ModesError> for BakeError {
    fn from(error: ModesError) -> Self {
        match error {
            ModesError::Cancelled => Self::Cancelled,
            error => Self::Modes(error),
        }
    }
}

/// What is baked.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Source {
    /// A thing of the procedural set.
    Shape(&'static Shape),
    /// A surface to be filled; it stays visible as the skin.
    Surface(String, SurfaceMesh),
    /// Tetrahedra, used as they are.
    Tets(String, TetMesh),
    /// What was baked before: its tetrahedra and its skin are used as they are, and so
    /// are its modes where no others are asked for.
    Asset(Box<Asset>),
}

impl Source {
    /// The file of this name, or, where there is none, the shape.
    ///
    /// # Errors
    /// When there is neither, or the file cannot be read.
    pub fn open(input: impl AsRef<Path>) -> Result<Self, BakeError> {
        Self::open_with_repairs(input).map(|(source, _)| source)
    }

    /// As [`Source::open`], and says what was repaired on the way.
    ///
    /// # Errors
    /// When there is neither, or the file cannot be read.
    pub fn open_with_repairs(input: impl AsRef<Path>) -> Result<(Self, Repairs), BakeError> {
        let path = input.as_ref();
        if !path.exists() {
            return match path.to_str().and_then(shapes::by_name) {
                Some(shape) => Ok((Self::Shape(shape), Repairs::default())),
                None => Err(BakeError::Unknown {
                    input: path.display().to_string(),
                    shapes: shapes::names().collect::<Vec<_>>().join(", "),
                }),
            };
        }
        if Asset::is_asset_name(path) {
            let asset = Asset::load(path)?;
            return Ok((Self::Asset(Box::new(asset)), Repairs::default()));
        }
        let name = path
            .file_stem()
            .map_or_else(String::new, |s| s.to_string_lossy().into());
        match read(path)? {
            Mesh::Surface(mesh, repairs) => Ok((Self::Surface(name, mesh), repairs)),
            Mesh::Tets(soup) => {
                let made = soup.into_mesh();
                let (mesh, repairs) = made.map_err(|source| BakeError::Tets {
                    file: path.display().to_string(),
                    source,
                })?;
                Ok((Self::Tets(name, mesh), repairs))
            }
        }
    }
}

/// How fine, and with what.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BakeOptions {
    /// By count or by edge length; by default a shape's own resolution, and for a
    /// surface as fine as it needs (see [`mod@crate::fill`]). Tetrahedra that are given
    /// are used as they are.
    pub size: Option<Size>,
    /// Where finer (surfaces only).
    pub grading: Grading,
    /// What becomes of a surface that has no inside.
    pub thicken: Thicken,
    /// The modes by which it breaks; by default none.
    pub modes: Option<BakeModes>,
}

/// Which modes are baked. The unit of the mesh must then be the metre.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BakeModes {
    /// How many at least.
    pub count: usize,
    /// Of what it is made.
    pub material: Material,
}

impl BakeModes {
    /// The usual number of modes, of a material.
    #[must_use]
    pub fn of(material: Material) -> Self {
        Self {
            count: ModesOptions::default().count,
            material,
        }
    }
}

/// What is being done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stage {
    /// Tetrahedra are made.
    Fill,
    /// The modes are computed.
    Modes,
    /// Everything is put together.
    Pack,
    /// What was baked before is read from a [`BakeCache`](crate::cache::BakeCache).
    Load,
}

impl Stage {
    /// All stages of a bake, in order.
    pub const ALL: [Self; 3] = [Self::Fill, Self::Modes, Self::Pack];

    /// What to tell the user.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            Self::Fill => "filling with tetrahedra",
            Self::Modes => "computing modes",
            Self::Pack => "packing",
            Self::Load => "loading",
        }
    }
}

/// How far the work is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// What is being done.
    pub stage: Stage,
    /// How much of it is done, 0 to 1; a stage that cannot tell says 0.
    pub share: f32,
}

/// An asset and what is worth knowing about it.
#[derive(Clone, Debug)]
pub struct Baked {
    /// The asset.
    pub asset: Asset,
    /// The angles of its tetrahedra.
    pub angles: Angles,
    /// The volume that the input surface encloses, where there is one.
    pub surface_volume: Option<f64>,
    /// What was chosen unasked, and what is not as in the input.
    pub notes: Vec<FillNote>,
}

/// Receives the progress of a bake, and stops it by [`ControlFlow::Break`].
pub type Watch<'a> = dyn FnMut(Progress) -> ControlFlow<()> + 'a;

/// Computes everything; `progress` receives each stage as it begins, and on the way.
///
/// # Errors
/// See [`BakeError`].
pub fn bake(
    source: Source,
    options: &BakeOptions,
    progress: &mut dyn FnMut(Progress),
) -> Result<Baked, BakeError> {
    bake_while(source, options, &mut |told| {
        progress(told);
        ControlFlow::Continue(())
    })
}

/// As [`bake`], but stops soon after `progress` returns [`ControlFlow::Break`]: within one
/// pass over the tetrahedra, or one step of the solver for the modes.
///
/// # Errors
/// [`BakeError::Cancelled`] when it was stopped, else see [`BakeError`].
pub fn bake_while(
    source: Source,
    options: &BakeOptions,
    progress: &mut Watch<'_>,
) -> Result<Baked, BakeError> {
    let begin = |stage| Progress { stage, share: 0.0 };
    if let Some(Size::EdgeLength(length)) = options.size
        && !(length > 0.0 && length.is_finite())
    {
        return Err(BakeError::EdgeLength(length));
    }
    if progress(begin(Stage::Fill)).is_break() {
        return Err(BakeError::Cancelled);
    }
    let mut before = None;
    let mut notes = Vec::new();
    let mut surface_volume = None;
    let (name, mesh, skin) = match source {
        Source::Shape(shape) => (shape.name().to_owned(), build(shape, options.size), None),
        Source::Tets(name, mesh) => (name, mesh, None),
        Source::Asset(asset) => {
            let mesh = asset.mesh().clone();
            let name = asset.name().to_owned();
            before = Some(asset);
            (name, mesh, None)
        }
        Source::Surface(name, skin) => {
            let with = FillOptions {
                size: options.size,
                grading: options.grading,
                thicken: options.thicken,
                quick: false,
            };
            let watch = RefCell::new(&mut *progress);
            let stopped = Cell::new(false);
            let keep_going = || {
                if !stopped.get() {
                    stopped.set(watch.borrow_mut()(begin(Stage::Fill)).is_break());
                }
                !stopped.get()
            };
            let filled = fill_while(&skin, &with, &keep_going)?;
            notes = filled.notes;
            surface_volume = filled.made.report().enclosed;
            (name, filled.made.into_mesh(), Some(skin))
        }
    };
    let mesh = Arc::new(mesh);
    let modes = options
        .modes
        .map(|wanted| modes_of(&mesh, &wanted, progress))
        .transpose()?;
    if progress(begin(Stage::Pack)).is_break() {
        return Err(BakeError::Cancelled);
    }
    let positions: Vec<DVec3> = mesh.positions().iter().map(|p| p.as_dvec3()).collect();
    let angles = angles(&positions, mesh.tets());
    let mut asset = match before {
        Some(asset) => *asset,
        None => Asset::new(name, Arc::unwrap_or_clone(mesh)),
    };
    if let Some(modes) = modes {
        asset
            .set_modes(Arc::new(modes))
            .expect("modes that were just computed are of this mesh");
    }
    if let Some(skin) = skin {
        asset.set_skin(skin);
    }
    Ok(Baked {
        asset,
        angles,
        surface_volume,
        notes,
    })
}

fn modes_of(
    mesh: &Arc<TetMesh>,
    wanted: &BakeModes,
    progress: &mut Watch<'_>,
) -> Result<Modes, BakeError> {
    let options = ModesOptions {
        count: wanted.count,
        ..ModesOptions::default()
    };
    let mut watch = |share| {
        progress(Progress {
            stage: Stage::Modes,
            share,
        })
    };
    if watch(0.0).is_break() {
        return Err(BakeError::Cancelled);
    }
    let whole = Fragments::new(Arc::clone(mesh));
    Ok(Modes::compute_while(
        &whole,
        FragmentId(0),
        &wanted.material,
        &options,
        &mut watch,
    )?)
}

fn build(shape: &Shape, size: Option<Size>) -> TetMesh {
    match size {
        None => shape.build(),
        Some(Size::Tets(count)) => shape.build_with_tets(count),
        Some(Size::EdgeLength(length)) => {
            let own = shape.build();
            let factor = f64::from(own.mean_edge_length()) / length;
            if (factor - 1.0).abs() < 0.02 {
                own
            } else {
                shape.build_refined(factor)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cancelling_stops_at_every_stage() {
        let mesh = shapes::by_name("brick").unwrap().build();
        let skin = crate::boundary_surface(&mesh);
        let options = BakeOptions {
            size: Some(Size::Tets(2000)),
            modes: Some(BakeModes::of(Material::BRICK)),
            ..BakeOptions::default()
        };
        let mut calls = Vec::new();
        let source = || Source::Surface("brick".into(), skin.clone());
        bake(source(), &options, &mut |told| calls.push(told)).unwrap();
        let of_fill = calls.iter().filter(|p| p.stage == Stage::Fill).count();
        assert!(of_fill > 5, "{of_fill} calls while filling");
        // At the beginning, in the middle of each stage, at the end.
        for stop in [1, of_fill / 2, of_fill + 1, of_fill + 5, calls.len()] {
            let mut seen = 0;
            let result = bake_while(source(), &options, &mut |_| {
                seen += 1;
                if seen == stop {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            });
            assert!(matches!(result, Err(BakeError::Cancelled)), "{stop}");
            assert_eq!(seen, stop, "it goes on after it was stopped");
        }
    }

    #[test]
    fn a_shape_is_baked_at_the_size_asked_for() {
        let brick = || Source::open("brick").unwrap();
        let own = bake(brick(), &BakeOptions::default(), &mut |_| ()).unwrap();
        let mut stages = Vec::new();
        let options = BakeOptions {
            size: Some(Size::EdgeLength(0.01)),
            ..BakeOptions::default()
        };
        let fine = bake(brick(), &options, &mut |p| stages.push(p.stage)).unwrap();
        assert_eq!(stages, [Stage::Fill, Stage::Pack]);
        assert!(fine.asset.mesh().tets().len() > 2 * own.asset.mesh().tets().len());
        let edge = f64::from(fine.asset.mesh().mean_edge_length());
        assert!((edge / 0.01 - 1.0).abs() < 0.25, "{edge}");
        assert!(fine.asset.skin().is_none() && fine.surface_volume.is_none());
    }

    #[test]
    fn modes_are_baked_where_asked_for_and_their_progress_is_told() {
        let options = BakeOptions {
            modes: Some(BakeModes {
                count: 12,
                material: Material::BRICK,
            }),
            ..BakeOptions::default()
        };
        let mut told: Vec<Progress> = Vec::new();
        let baked = bake(Source::open("brick").unwrap(), &options, &mut |p| {
            told.push(p)
        })
        .unwrap();
        let modes = baked.asset.modes().unwrap();
        assert!(modes.count() >= 12 && modes.material() == &Material::BRICK);
        // A brick of 215 mm sounds at a few kilohertz.
        let lowest = modes.frequencies()[0];
        assert!((2e3..6e3).contains(&lowest), "{lowest} Hz");
        let again = Asset::from_bytes(&baked.asset.to_bytes()).unwrap();
        assert_eq!(again, baked.asset);
        let shares: Vec<f32> = told
            .iter()
            .filter(|p| p.stage == Stage::Modes)
            .map(|p| p.share)
            .collect();
        assert!(shares.len() > 4 && shares.is_sorted() && shares.ends_with(&[1.0]));
        told.dedup_by_key(|p| p.stage);
        assert!(told.iter().map(|p| p.stage).eq(Stage::ALL));
    }

    #[test]
    fn what_cannot_be_is_said() {
        assert!(matches!(
            Source::open("no-such-thing"),
            Err(BakeError::Unknown { .. })
        ));
        let options = BakeOptions {
            size: Some(Size::EdgeLength(-1.0)),
            ..BakeOptions::default()
        };
        let result = bake(Source::open("brick").unwrap(), &options, &mut |_| ());
        assert!(matches!(result, Err(BakeError::EdgeLength(_))));
    }
}
