//! `fracas shatter`: a mesh in, its closed and named fragments out, without any
//! simulation.
//!
//! Steps: read the mesh (or make the shape of that name) -> tetrahedra -> a
//! fracture, by a pattern or by an impact -> cut -> the model's own skin cut at the
//! cracks -> one named node per fragment, with the model's materials and textures, its
//! cracks in a material of their own, its origin at its centre of mass.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use fracas_bake::bake::{BakeError, BakeOptions, Source};
use fracas_bake::limits::{Cost, tets_of};
use fracas_bake::model::Model;
use fracas_bake::model::detail::CrackDetail;
use fracas_bake::model::pieces::{Buffers, ModelPiece};
use fracas_bake::model::write::{self, Format};
use fracas_bake::shatter::{self, LookOptions, PlanError, ShatterOptions, Shattered, Subject};
use fracas_bake::tetrahedralize::{Size, TetrahedralizeError, Thicken};
use fracas_core::TetMesh;
use fracas_fracture::Material;
use fracas_picture::{Camera, Colour, Mesh as PictureMesh, Quality, Scene};
use fracas_report::looks::Looks;
use glam::Vec3;
use parry3d::transformation::try_convex_hull;
use thiserror::Error;

use crate::arguments::{number, refuse_same_files, target, whole};
use crate::files::{self, SaveError};
use crate::limits::Limits;
use crate::output::say;
use crate::skin_choice::SkinChoice;

/// How it breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Pattern {
    /// Cells round random seeds; smaller near --at, if given.
    Voronoi,
    /// Flat cuts; parallel ones across --direction, if given.
    Slices,
    /// Spokes (and --rings) round an axis through --at along --direction.
    Radial,
    /// Shells chipped off at --at, inwards along --direction.
    Conchoidal,
    /// Physics: a steel ball hits --at along --direction with --speed; or, with
    /// --drop, it falls on stone with --direction pointing down.
    Impact,
}

/// In what the fragments are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OutputFormat {
    /// Binary glTF, one file.
    Glb,
    /// glTF as text, with a .bin and pictures beside it.
    Gltf,
    /// Wavefront OBJ, with an MTL and pictures beside it.
    Obj,
    /// Universal Scene Description as text.
    Usda,
}

/// Options of `fracas shatter`.
#[derive(Args, Debug)]
pub struct Shatter {
    /// A mesh file (OBJ, OFF, Gmsh …), an asset of `fracas bake`, or a shape (see `fracas shapes`), such as plate.
    mesh: PathBuf,
    /// How it breaks.
    #[arg(long, value_enum, default_value = "voronoi")]
    pattern: Pattern,
    /// How many pieces (spokes, for radial, where rings and folds make more; at most, for
    /// the others).
    #[arg(long, default_value_t = 16, value_parser = whole::<u32>(2, u32::MAX.into()))]
    pieces: u32,
    /// Where it is hit, in the mesh's own units; by default its middle (impact and
    /// conchoidal: its top).
    #[arg(long, value_name = "X,Y,Z", value_parser = parse_vector, allow_hyphen_values = true)]
    at: Option<Vec3>,
    /// Direction of the impact, or the axis of slices and spokes.
    #[arg(long, value_name = "X,Y,Z", value_parser = parse_direction, allow_hyphen_values = true)]
    direction: Option<Vec3>,
    /// How many rings of a radial pattern.
    #[arg(long, default_value_t = 1, value_parser = whole::<u32>(0, u32::MAX.into()))]
    rings: u32,
    /// Roughness of the cracks, as a share of the object's size.
    #[arg(long, default_value_t = 0.004, value_parser = number(0.0_f32, 1.0))]
    roughness: f32,
    /// Seed of all chance: the same seed gives the same pieces.
    #[arg(long, default_value_t = 0, value_parser = seed)]
    seed: u64,
    /// About how many tetrahedra to fill a surface or a shape with.
    #[arg(long, value_parser = whole::<u64>(1, u64::MAX))]
    tets: Option<u64>,
    /// Make an open surface, which has no inside, so thick (in the units of the mesh).
    #[arg(long, value_name = "LENGTH", value_parser = crate::bake::length)]
    thicken: Option<f64>,
    /// Material of an impact: glass, porcelain, earthenware, brick, granite,
    /// concrete, plaster, ice, or an everyday word for one of them. The mesh's unit is
    /// then the metre.
    #[arg(long, default_value = "glass", value_parser = Material::by_name)]
    material: Material,
    /// Speed of the ball of an impact (m/s).
    #[arg(long, default_value_t = 8.0, value_parser = above_zero)]
    speed: f32,
    /// Mass of the ball of an impact (kg).
    #[arg(long, default_value_t = 0.1, value_parser = above_zero)]
    mass: f32,
    /// Height from which it falls on stone, instead of the ball (m).
    #[arg(long, value_parser = above_zero)]
    drop: Option<f32>,
    /// Move the pieces apart by this share of their distance from the middle.
    #[arg(long, default_value_t = 0.0, value_parser = number(0.0_f32, 1e3))]
    explode: f32,
    /// Also draw the pieces (PNG).
    #[arg(long, value_name = "PNG", value_parser = target(&["png"]))]
    picture: Option<PathBuf>,
    /// From where the picture is taken.
    #[arg(long, value_name = "X,Y,Z", value_parser = parse_direction, allow_hyphen_values = true, default_value = "0.5,0.75,0.9")]
    from: Vec3,
    /// Where the fragments go.
    #[arg(short, long, value_name = "OUT.glb", value_parser = target(&["glb", "gltf", "obj", "usda"]))]
    output: PathBuf,
    /// In what they are written; by default what the name of the output says, or glb.
    #[arg(long, value_enum)]
    format: Option<OutputFormat>,
    /// How often a texture repeats on crack faces, per unit of length.
    #[arg(long, default_value_t = 1.0, value_parser = above_zero)]
    crack_scale: f32,
    /// How high bumps on crack faces are that are finer than the tetrahedra, as a share of
    /// the object's size, for example 0.003; both sides of a crack fit to less than that.
    #[arg(long, value_name = "SHARE", default_value_t = 0.0, value_parser = number(0.0_f32, 0.1))]
    crack_detail: f32,
    /// Which surface the pieces have.
    #[arg(long, value_enum, default_value_t)]
    skin: SkinChoice,
    /// Also write the convex hull of each piece, by the same names, to OUT-hulls: what
    /// engines collide with that have no better.
    #[arg(long)]
    hulls: bool,
    #[command(flatten)]
    limits: Limits,
}

impl Shatter {
    /// What breaks it, and how.
    fn plan(&self) -> ShatterOptions {
        ShatterOptions {
            pattern: self.pattern.into(),
            pieces: self.pieces,
            at: self.at,
            direction: self.direction,
            rings: self.rings,
            roughness: self.roughness,
            seed: self.seed,
            material: self.material,
            speed: self.speed,
            mass: self.mass,
            drop: self.drop,
        }
    }
}

impl From<Pattern> for shatter::Pattern {
    fn from(pattern: Pattern) -> Self {
        match pattern {
            Pattern::Voronoi => Self::Voronoi,
            Pattern::Slices => Self::Slices,
            Pattern::Radial => Self::Radial,
            Pattern::Conchoidal => Self::Conchoidal,
            Pattern::Impact => Self::Impact,
        }
    }
}

/// What can go wrong.
#[derive(Debug, Error)]
pub enum ShatterError {
    /// The pieces do not fit into one file.
    #[error(transparent)]
    Glb(#[from] fracas_bake::write::glb::GlbError),
    /// The mesh cannot be read or filled.
    #[error("{0}{advice}", advice = advice(.0))]
    Bake(#[from] BakeError),
    /// It is not in pieces.
    #[error(transparent)]
    Shatter(shatter::ShatterError),
    /// It would take too long.
    #[error("{0}")]
    TooMuch(String),
    /// It does not break.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A file cannot be written.
    #[error(transparent)]
    Save(#[from] SaveError),
    /// There is no picture.
    #[error(transparent)]
    Picture(#[from] fracas_picture::ImageError),
}

impl From<shatter::ShatterError> for ShatterError {
    fn from(error: shatter::ShatterError) -> Self {
        match error {
            shatter::ShatterError::Bake(error) => Self::Bake(error),
            error => Self::Shatter(error),
        }
    }
}

/// What the options of this program can do about an error.
pub fn advice(error: &BakeError) -> &'static str {
    match error {
        BakeError::Fill(TetrahedralizeError::NoInside { .. }) => " with --thicken",
        _ => "",
    }
}

/// Seeds are whole numbers from 0.
pub fn seed(text: &str) -> Result<u64, String> {
    text.parse()
        .map_err(|_| format!("must be a whole number from 0 to {}", u64::MAX))
}

fn above_zero(text: &str) -> Result<f32, String> {
    let number: Option<f32> = text.parse().ok();
    number
        .filter(|x| *x > 0.0 && x.is_finite())
        .ok_or_else(|| "must be a number above 0".into())
}

fn parse_direction(text: &str) -> Result<Vec3, String> {
    let direction = parse_vector(text)?;
    if direction.try_normalize().is_none() {
        return Err(format!(
            "`{text}` has no direction: give three numbers like 0,-1,0"
        ));
    }
    Ok(direction)
}

fn parse_vector(text: &str) -> Result<Vec3, String> {
    let numbers: Vec<f32> = text
        .split(',')
        .map(|x| x.trim().parse::<f32>())
        .collect::<Result<_, _>>()
        .map_err(|_| format!("`{text}` is not three numbers like 0,1,0"))?;
    match numbers[..] {
        [x, y, z] if numbers.iter().all(|n| n.is_finite()) => Ok(Vec3::new(x, y, z)),
        _ => Err(format!("`{text}` is not three finite numbers like 0,1,0")),
    }
}

/// Runs the command.
pub fn run(options: &Shatter) -> Result<(), ShatterError> {
    let pictures = options.picture.as_deref();
    refuse_same_files(&[&options.mesh], &[Some(&options.output), pictures]);
    let subject = load(options)?;
    let mesh = subject.baked.asset.mesh();
    let (pieces, cost) = shatter::cost(mesh, &options.plan())?;
    let what = format!("{pieces} pieces of {} tetrahedra", mesh.tets().len());
    options
        .limits
        .check(&what, cost)
        .map_err(ShatterError::TooMuch)?;
    for warning in subject.model.warnings() {
        eprintln!("warning: {warning}");
    }
    say!(
        "{}: {} tetrahedra, {} nodes",
        options.mesh.display(),
        mesh.tets().len(),
        mesh.positions().len()
    );
    let look = LookOptions {
        skin: options.skin.into(),
        crack_scale: options.crack_scale,
        detail: detail(options, mesh),
    };
    let broken = subject.shatter_with(&options.plan(), &look, &mut |what| say!("{what}"))?;
    tell(options, &subject, &broken);
    let mut files = broken.files(&options.output, output_format(options), options.explode)?;
    if options.hulls {
        files.push(hulls(options, &broken.model_pieces(options.explode))?);
    }
    // Buffers, textures and hulls lie beside it, under names that nobody chose.
    let written: Vec<_> = files.iter().map(|(path, _)| Some(path.as_path())).collect();
    refuse_same_files(&[&options.mesh], &written);
    for (path, bytes) in files {
        files::save(&path, bytes)?;
        say!("wrote {}", path.display());
    }
    if let Some(path) = &options.picture {
        let pieces = broken.model_pieces(options.explode);
        draw(&subject.model, &pieces, options.from, path)?;
        say!("wrote {}", path.display());
    }
    Ok(())
}

/// Bumps as high as asked for, on triangles that are a quarter of the tetrahedra's.
fn detail(options: &Shatter, mesh: &TetMesh) -> Option<CrackDetail> {
    let (low, high) = mesh.bounds();
    (options.crack_detail > 0.0).then(|| CrackDetail {
        height: options.crack_detail * (high - low).length(),
        length: 0.3 * mesh.mean_edge_length(),
        seed: options.seed,
    })
}

/// The convex hulls of pieces as a GLB file. A piece so flat that it has none is left out.
fn hulls(options: &Shatter, pieces: &[ModelPiece]) -> Result<(PathBuf, Vec<u8>), ShatterError> {
    let hulls: Vec<ModelPiece> = pieces
        .iter()
        .filter_map(|piece| {
            let points = piece.surfaces.iter().flat_map(|s| &s.positions);
            let points: Vec<Vec3> = points.copied().collect();
            let (positions, triangles) = try_convex_hull(&points).ok()?;
            let surface = Buffers {
                material: Some(0),
                positions,
                triangles,
                ..Buffers::default()
            };
            Some(ModelPiece {
                surfaces: vec![surface],
                ..piece.clone()
            })
        })
        .collect();
    let model = Model::plain("hulls", Vec::new(), Vec::new(), [0.5, 0.7, 0.9, 1.0]);
    let stem = options.output.file_stem().unwrap_or_default();
    let stem = format!("{}-hulls", stem.to_string_lossy());
    let file = write::files(
        &model,
        &hulls,
        write::CrackLook::default(),
        Format::Glb,
        &stem,
    )?
    .remove(0);
    Ok((options.output.with_file_name(file.0), file.1))
}

/// Says what came of it.
fn tell(options: &Shatter, subject: &Subject, broken: &Shattered<'_>) {
    if let Some(stats) = broken.stats {
        say!(
            "contact {:.0} us, stress {:.1} times the strength after {:.0} us, cracks {:.1} cm2 for {:.3} of {:.3} J",
            stats.contact * 1e6,
            stats.overload,
            stats.time * 1e6,
            stats.area * 1e4,
            stats.spent,
            stats.available
        );
    }
    let surfaces = broken.pieces.iter().map(|piece| &piece.surface);
    let volume: f64 = surfaces.clone().map(|s| s.mass_properties().volume).sum();
    say!(
        "{} fragments{}, {} triangles, volume {:.3e}: kept to {:.1e} of the tetrahedra's{}",
        broken.pieces.len(),
        fewer(options, broken.pieces.len()),
        surfaces.map(|s| s.triangles().len()).sum::<usize>(),
        volume,
        (volume / subject.baked.asset.mesh().volume() - 1.0).abs(),
        subject
            .baked
            .surface_volume
            .map_or(String::new(), |v| format!(
                ", {:+.2}% against the surface",
                (volume / v - 1.0) * 100.0
            ))
    );
    if let Some(warning) = &broken.warning {
        eprintln!("warning: {warning}");
    }
}

/// Where the number of pieces is not the one asked for.
fn fewer(options: &Shatter, pieces: usize) -> String {
    let exact = matches!(options.pattern, Pattern::Voronoi | Pattern::Slices);
    if exact && pieces < options.pieces as usize {
        format!(
            " (of {} asked for: the mesh is too coarse or too thin for more)",
            options.pieces
        )
    } else {
        String::new()
    }
}

/// Reads a file, or makes a shape, and fills it.
fn load(options: &Shatter) -> Result<Subject, ShatterError> {
    let (source, repairs) = Source::open_with_repairs(&options.mesh)?;
    let tets = tets_of(&source, options.tets, None);
    let limits = options.limits;
    limits
        .check(&format!("{tets:.0} tetrahedra"), Cost::of_tets(tets))
        .map_err(ShatterError::TooMuch)?;
    let settings = BakeOptions {
        size: options.tets.map(|tets| Size::Tets(tets as usize)),
        thicken: options.thicken.map_or(Thicken::Refuse, Thicken::By),
        ..BakeOptions::default()
    };
    let sizes = options.tets.is_some() || options.thicken.is_some();
    let unused = crate::bake::unused_sizes(&source, sizes);
    let subject = Subject::bake(source, &options.mesh, &settings, &mut |_| ())?;
    let repairs = repairs.to_string();
    if !repairs.is_empty() {
        say!("repaired: {repairs}");
    }
    if let Some(note) = unused {
        say!("note: {note}");
    }
    for note in &subject.baked.notes {
        say!("note: {note}");
    }
    Ok(subject)
}

/// Colours that tell neighbours apart: hues by the golden ratio.
fn colour_of(index: usize) -> [f32; 3] {
    let hue = (index as f32 * 0.618_034).fract() * 6.0;
    let channel = |shift: f32| {
        let x = (hue + shift).rem_euclid(6.0);
        let ramp = (x - 3.0).abs() - 1.0;
        0.35 + 0.5 * ramp.clamp(0.0, 1.0)
    };
    [channel(0.0), channel(4.0), channel(2.0)]
}

fn output_format(options: &Shatter) -> Format {
    match options.format {
        None => Format::of_path(&options.output).unwrap_or(Format::Glb),
        Some(OutputFormat::Glb) => Format::Glb,
        Some(OutputFormat::Gltf) => Format::Gltf,
        Some(OutputFormat::Obj) => Format::Obj,
        Some(OutputFormat::Usda) => Format::Usda,
    }
}

fn draw(model: &Model, pieces: &[ModelPiece], from: Vec3, path: &Path) -> Result<(), ShatterError> {
    let mut scene = Scene::new();
    let looks = Looks::of(model);
    for (i, piece) in pieces.iter().enumerate() {
        for surface in &piece.surfaces {
            let [r, g, b] = colour_of(i).map(|c| (255.0 * c) as u8);
            let drawn = PictureMesh::new(surface.positions.clone(), surface.triangles.clone());
            let drawn = drawn.smooth(35.0);
            scene.add(if surface.is_crack {
                drawn.colour(Colour::from_srgb(225, 215, 200))
            } else if model.images().is_empty() {
                looks
                    .paint(drawn, surface)
                    .colour(Colour::from_srgb(r, g, b))
            } else {
                looks.paint(drawn, surface)
            });
        }
    }
    scene.ground_under_all();
    let camera = Camera::framing_all(from);
    let picture = scene.render(&camera, 640, 420, Quality::default());
    Ok(files::save(path, picture.to_png()?)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_are_read_and_nonsense_is_named() {
        assert_eq!(parse_vector("1, -2,0.5"), Ok(Vec3::new(1.0, -2.0, 0.5)));
        for bad in ["", "1,2", "1,2,3,4", "a,b,c", "1,2,inf"] {
            assert!(parse_vector(bad).is_err(), "{bad}");
        }
    }
}
