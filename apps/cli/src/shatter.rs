//! `fracas shatter`: a mesh in, its closed and named fragments out, without any
//! simulation.
//!
//! Steps: read the mesh (or make the shape of that name) -> tetrahedra -> a
//! fracture, by a pattern or by an impact -> cut -> the model's own skin cut at the
//! cracks -> one named node per fragment, with the model's materials and textures, its
//! cracks in a material of their own, its origin at its centre of mass.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, ValueEnum};
use fracas::dressing::{FineBoundary, SkinMap, SkinMapError};
use fracas::fragment_surface::{FragmentSurface, SurfaceScratch};
use fracas::{Fracture, FragmentId, Fragments, TetMesh};
use fracas_bake::bake::{BakeError, BakeOptions, Source, bake};
use fracas_bake::model::drape::Drape;
use fracas_bake::model::pieces::{Buffers, ModelPiece, plain_surfaces, surfaces as surfaces_of};
use fracas_bake::model::write::{CrackLook, Format, files as model_files};
use fracas_bake::model::{Attribute, Model};
use fracas_bake::tetrahedralize::{Size, TetrahedralizeError, Thicken};
use fracas_bake::{ReadError, SurfaceMesh};
use fracas_fracture::material::STEEL_CONTACT_MODULUS;
use fracas_fracture::modes::ModesError;
use fracas_fracture::patterns::{
    self, ConchoidalOptions, RadialOptions, SlicesOptions, VoronoiOptions,
};
use fracas_fracture::{
    FractureEvent, FractureSettings, Impact, Material, Modes, ModesOptions, Outcome,
};
use fracas_picture::{Camera, Colour, Mesh as PictureMesh, Quality, Scene, Texture};
use glam::{Vec2, Vec3};
use thiserror::Error;

use crate::bake::tets_of;
use crate::files::{self, SaveError};
use crate::limits::{Cost, Limits};
use crate::output::say;
use crate::skin_choice::{self, SkinChoice};

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
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u32).range(2..), allow_negative_numbers = true)]
    pieces: u32,
    /// Where it is hit, in the mesh's own units; by default its middle (impact and
    /// conchoidal: its top).
    #[arg(long, value_name = "X,Y,Z", value_parser = parse_vector, allow_hyphen_values = true)]
    at: Option<Vec3>,
    /// Direction of the blow, or the axis of slices and spokes.
    #[arg(long, value_name = "X,Y,Z", value_parser = parse_direction, allow_hyphen_values = true)]
    direction: Option<Vec3>,
    /// How many rings of a radial pattern.
    #[arg(long, default_value_t = 1)]
    rings: u32,
    /// Roughness of the cracks, as a share of the object's size.
    #[arg(long, default_value_t = 0.004)]
    roughness: f32,
    /// Seed of all chance: the same seed gives the same pieces.
    #[arg(long, default_value_t = 0, value_parser = seed, allow_negative_numbers = true)]
    seed: u64,
    /// About how many tetrahedra to fill a surface or a shape with.
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..), allow_negative_numbers = true)]
    tets: Option<u64>,
    /// Make an open surface, which has no inside, so thick (in the units of the mesh).
    #[arg(long, value_name = "LENGTH", value_parser = crate::bake::length, allow_negative_numbers = true)]
    thicken: Option<f64>,
    /// Material of an impact: glass, porcelain, earthenware, brick, granite,
    /// concrete, plaster, ice, or an everyday word for one of them. The mesh's unit is
    /// then the metre.
    #[arg(long, default_value = "glass", value_parser = Material::by_name)]
    material: Material,
    /// Speed of the ball of an impact (m/s).
    #[arg(long, default_value_t = 8.0, value_parser = above_zero, allow_negative_numbers = true)]
    speed: f32,
    /// Mass of the ball of an impact (kg).
    #[arg(long, default_value_t = 0.1, value_parser = above_zero, allow_negative_numbers = true)]
    mass: f32,
    /// Height from which it falls on stone, instead of the ball (m).
    #[arg(long, value_parser = above_zero, allow_negative_numbers = true)]
    drop: Option<f32>,
    /// Move the pieces apart by this share of their distance from the middle.
    #[arg(long, default_value_t = 0.0)]
    explode: f32,
    /// Also draw the pieces (PNG).
    #[arg(long, value_name = "PNG")]
    picture: Option<PathBuf>,
    /// From where the picture is taken.
    #[arg(long, value_name = "X,Y,Z", value_parser = parse_direction, allow_hyphen_values = true, default_value = "0.5,0.75,0.9")]
    from: Vec3,
    /// Where the fragments go.
    #[arg(short, long, value_name = "OUT.glb")]
    output: PathBuf,
    /// In what they are written; by default what the name of the output says, or glb.
    #[arg(long, value_enum)]
    format: Option<OutputFormat>,
    /// How often a texture repeats on crack faces, per unit of length.
    #[arg(long, default_value_t = 1.0)]
    crack_scale: f32,
    /// Which surface the pieces have.
    #[arg(long, value_enum, default_value_t)]
    skin: SkinChoice,
    #[command(flatten)]
    limits: Limits,
}

/// What can go wrong.
#[derive(Debug, Error)]
pub enum ShatterError {
    /// The mesh cannot be read or filled.
    #[error("{0}{advice}", advice = advice(.0))]
    Bake(#[from] BakeError),
    /// It would take too long.
    #[error("{0}")]
    TooMuch(String),
    /// No modes, hence no stress.
    #[error("an impact needs vibration modes: {0}")]
    Modes(#[from] ModesError),
    /// Nothing came apart.
    #[error("nothing breaks: {0}")]
    Whole(String),
    /// The model's looks cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The model's surface is no skin.
    #[error(transparent)]
    Skin(#[from] SkinMapError),
    /// A file cannot be written.
    #[error(transparent)]
    Save(#[from] SaveError),
    /// There is no picture.
    #[error(transparent)]
    Picture(#[from] fracas_picture::ImageError),
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
    let name = options.mesh.display();
    let Loaded {
        mesh,
        modes: baked,
        enclosed,
        model,
        fine,
    } = load(options)?;
    let mesh = Arc::new(mesh);
    check_limits(options, &mesh)?;
    for warning in model.warnings() {
        eprintln!("warning: {warning}");
    }
    say!(
        "{name}: {} tetrahedra, {} nodes",
        mesh.tets().len(),
        mesh.positions().len()
    );
    let mut fragments = Fragments::new(Arc::clone(&mesh));
    let fracture = match options.pattern {
        Pattern::Impact => by_impact(&fragments, baked, options)?,
        _ => by_pattern(&fragments, options).ok_or_else(|| {
            ShatterError::Whole("the pattern leaves all of it on one side; use more --tets or --pieces, or another --at or --direction".into())
        })?,
    };
    let split = fragments
        .apply(&fracture)
        .map_err(|e| ShatterError::Whole(e.to_string()))?;
    let mut scratch = SurfaceScratch::default();
    let surfaces: Vec<FragmentSurface> = split
        .children
        .iter()
        .map(|&id| FragmentSurface::extract(&fragments, id, &mut scratch))
        .collect();
    let volume: f64 = surfaces.iter().map(|s| s.mass_properties().volume).sum();
    say!(
        "{} fragments{}, {} triangles, volume {:.3e}: kept to {:.1e} of the tetrahedra's{}",
        surfaces.len(),
        fewer(options, surfaces.len()),
        surfaces.iter().map(|s| s.triangles().len()).sum::<usize>(),
        volume,
        (volume / mesh.volume() - 1.0).abs(),
        enclosed.map_or(String::new(), |v| format!(
            ", {:+.2}% against the surface",
            (volume / v - 1.0) * 100.0
        ))
    );
    let density = options.material.density;
    let look = Look {
        model: &model,
        fine: fine.as_ref(),
    };
    let skins = choose_skins(&look, &fragments, &split.children, &surfaces, options)?;
    let pieces: Vec<ModelPiece> = surfaces
        .iter()
        .zip(skins)
        .enumerate()
        .map(|(i, (surface, skin))| {
            let properties = surface.mass_properties();
            ModelPiece {
                name: format!("fragment-{i:03}"),
                centre: properties.centre,
                volume: properties.volume,
                mass: properties.volume * density,
                surfaces: skin,
            }
        })
        .collect();
    write_pieces(&model, &pieces, &mesh, options)?;
    if let Some(path) = &options.picture {
        draw(&model, &pieces, &mesh, options, path)?;
        say!("wrote {}", path.display());
    }
    Ok(())
}

/// What the whole looks like.
struct Look<'a> {
    model: &'a Model,
    /// The fine surface of a shape of the set.
    fine: Option<&'a FineBoundary>,
}

/// What the pieces look like, see [`crate::skin_choice`].
fn choose_skins(
    &Look { model, fine }: &Look<'_>,
    fragments: &Fragments,
    pieces: &[FragmentId],
    surfaces: &[FragmentSurface],
    options: &Shatter,
) -> Result<Vec<Vec<Buffers>>, ShatterError> {
    let of_tets = || surfaces.iter().map(skin_choice::surface_of_tets).collect();
    if options.skin == SkinChoice::Tets {
        return Ok(of_tets());
    }
    if let Some(fine) = fine {
        let dressed = pieces.iter().map(|&id| fine.dress(fragments, id));
        let scale = options.crack_scale;
        return Ok(dressed.map(|d| plain_surfaces(&d, scale)).collect());
    }
    let draped = || {
        let drape = Drape::build(model, fragments.mesh());
        let scale = options.crack_scale;
        let pieces = pieces.iter();
        pieces
            .map(|&id| drape.surfaces(model, fragments, id, scale))
            .collect()
    };
    if options.skin == SkinChoice::Draped {
        return Ok(draped());
    }
    let (positions, triangles) = model.surface();
    let map = SkinMap::build(fragments.mesh(), &positions, &triangles)?;
    let dressed: Vec<Vec<Buffers>> = pieces
        .iter()
        .map(|&id| surfaces_of(model, &map.dress(fragments, id), options.crack_scale))
        .collect();
    let open = dressed.iter().filter(|s| skin_choice::open_sides(s) > 0);
    let open = open.count();
    if open == 0 {
        return Ok(dressed);
    }
    let gape = format!("{open} of {} pieces are not closed", dressed.len());
    if options.skin == SkinChoice::Model {
        eprintln!("warning: {gape}");
        return Ok(dressed);
    }
    eprintln!(
        "warning: in the model's own triangles {gape}: the model is draped over its \
         tetrahedra instead (more --tets may help; --skin model keeps its triangles)"
    );
    Ok(draped())
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

/// What is to be broken.
struct Loaded {
    mesh: TetMesh,
    /// An asset may bring its modes along.
    modes: Option<Arc<Modes>>,
    /// The volume inside the input surface.
    enclosed: Option<f64>,
    /// What it looks like.
    model: Model,
    /// The fine surface of a shape of the set.
    fine: Option<FineBoundary>,
}

/// Reads a file, or makes a shape.
fn load(options: &Shatter) -> Result<Loaded, ShatterError> {
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
    let shape = match &source {
        Source::Shape(shape) => Some(*shape),
        _ => None,
    };
    let baked = bake(source, &settings, &mut |_| ())?;
    let repairs = repairs.to_string();
    if !repairs.is_empty() {
        say!("repaired: {repairs}");
    }
    for note in &baked.notes {
        say!("note: {note}");
    }
    let asset = &baked.asset;
    let model = match shape {
        Some(shape) => of_boundary(shape.name(), asset.mesh()),
        None if Model::is_known(&options.mesh.to_string_lossy()) => Model::read(&options.mesh)?,
        None => match asset.skin() {
            Some(skin) => of_surface(asset.name(), skin),
            None => of_boundary(asset.name(), asset.mesh()),
        },
    };
    Ok(Loaded {
        mesh: asset.mesh().clone(),
        modes: asset.modes().cloned(),
        enclosed: baked.surface_volume,
        model,
        fine: shape.and_then(|shape| shape.fine_boundary(asset.mesh(), 1.0)),
    })
}

const PLAIN: [f32; 4] = [0.6, 0.58, 0.55, 1.0];

/// A surface without materials, with its texture coordinates where it has some.
fn of_surface(name: &str, surface: &SurfaceMesh) -> Model {
    let Some(uvs) = surface.uvs() else {
        return Model::plain(
            name,
            surface.positions().to_vec(),
            surface.triangles().to_vec(),
            PLAIN,
        );
    };
    // Each corner has its own coordinates.
    let positions = surface
        .triangles()
        .iter()
        .flatten()
        .map(|&v| surface.positions()[v as usize])
        .collect();
    let triangles = (0..surface.triangles().len() as u32)
        .map(|t| [3 * t, 3 * t + 1, 3 * t + 2])
        .collect();
    Model::plain(name, positions, triangles, PLAIN).with_attribute(Attribute {
        name: "TEXCOORD_0".into(),
        width: 2,
        values: uvs.iter().flatten().flat_map(|uv| uv.to_array()).collect(),
    })
}

/// The boundary of tetrahedra as the skin.
fn of_boundary(name: &str, mesh: &TetMesh) -> Model {
    let positions = mesh.positions().iter().map(|p| p.as_dvec3()).collect();
    let triangles = mesh.boundary().map(|face| face.nodes).collect();
    Model::plain(name, positions, triangles, PLAIN)
}

/// Whether so many pieces can be had in a few minutes.
fn check_limits(options: &Shatter, mesh: &TetMesh) -> Result<(), ShatterError> {
    let tets = mesh.tets().len() as f64;
    let rings = match options.pattern {
        Pattern::Radial => f64::from(options.rings) + 1.0,
        _ => 1.0,
    };
    let wanted = f64::from(options.pieces) * rings;
    // Every piece holds a node.
    let nodes = mesh.positions().len() as f64;
    if wanted > nodes {
        return Err(ShatterError::TooMuch(format!(
            "{wanted} pieces cannot be cut from {nodes} nodes, of which each needs one; \
             use more --tets, or ask for fewer"
        )));
    }
    let what = format!("{wanted} pieces of {tets} tetrahedra");
    let cost = Cost::of_pieces(wanted, tets);
    let limits = options.limits;
    limits.check(&what, cost).map_err(ShatterError::TooMuch)
}

/// The modes of the asset, where they are of this material, or new ones.
fn modes_of(
    fragments: &Fragments,
    baked: Option<Arc<Modes>>,
    material: &Material,
) -> Result<Arc<Modes>, ModesError> {
    if let Some(modes) = baked.filter(|m| m.material() == material) {
        return Ok(modes);
    }
    say!("computing vibration modes …");
    let options = ModesOptions::default();
    let modes = Modes::compute(fragments, FragmentId(0), material, &options, &mut |_| ())?;
    Ok(Arc::new(modes))
}

fn by_pattern(fragments: &Fragments, options: &Shatter) -> Option<Fracture> {
    let (lo, hi) = fragments.mesh().bounds();
    let size = (hi - lo).length();
    let middle = 0.5 * (lo + hi);
    let top = Vec3::new(middle.x, hi.y, middle.z);
    let roughness = options.roughness * size;
    let id = FragmentId(0);
    match options.pattern {
        Pattern::Voronoi => patterns::voronoi(
            fragments,
            id,
            &VoronoiOptions {
                pieces: options.pieces,
                impact: options.at,
                spread: 0.2 * size,
                roughness,
                seed: options.seed,
                ..Default::default()
            },
        ),
        Pattern::Slices => patterns::slices(
            fragments,
            id,
            &SlicesOptions {
                pieces: options.pieces,
                axis: options.direction,
                roughness,
                seed: options.seed,
                ..Default::default()
            },
        ),
        Pattern::Radial => patterns::radial(
            fragments,
            id,
            &RadialOptions {
                spokes: options.pieces,
                rings: (1..=options.rings)
                    .map(|i| 0.5 * size * i as f32 / (options.rings + 1) as f32)
                    .collect(),
                roughness,
                seed: options.seed,
                ..RadialOptions::at(
                    options.at.unwrap_or(middle),
                    options.direction.unwrap_or_else(|| thinnest(hi - lo)),
                )
            },
        ),
        Pattern::Conchoidal => patterns::conchoidal(
            fragments,
            id,
            &ConchoidalOptions {
                chips: options.pieces.saturating_sub(1).max(1),
                roughness,
                seed: options.seed,
                ..ConchoidalOptions::at(
                    options.at.unwrap_or(top),
                    options.direction.unwrap_or(Vec3::NEG_Y),
                )
            },
        ),
        Pattern::Impact => None,
    }
}

/// The axis along which a box is thinnest.
fn thinnest(size: Vec3) -> Vec3 {
    if size.y <= size.x && size.y <= size.z {
        Vec3::Y
    } else if size.x <= size.z {
        Vec3::X
    } else {
        Vec3::Z
    }
}

fn by_impact(
    fragments: &Fragments,
    baked: Option<Arc<Modes>>,
    options: &Shatter,
) -> Result<Fracture, ShatterError> {
    let material = options.material;
    let (lo, hi) = fragments.mesh().bounds();
    let top = Vec3::new(0.5 * (lo.x + hi.x), hi.y, 0.5 * (lo.z + hi.z));
    let modes = modes_of(fragments, baked, &material)?;
    let impact = match options.drop {
        Some(height) => fall(fragments, &modes, options, height),
        None => ball(&modes, options, options.at.unwrap_or(top)),
    };
    let settings = FractureSettings {
        max_cracks: options.pieces as usize,
        max_fragments: options.pieces as usize,
        seed: options.seed,
        ..Default::default()
    };
    let decision = FractureEvent::new().decide(
        fragments,
        FragmentId(0),
        &modes,
        &[impact],
        0.01,
        0,
        &settings,
    );
    let stats = decision.stats;
    say!(
        "contact {:.0} us, stress {:.1} times the strength after {:.0} us, cracks {:.1} cm2 for {:.3} of {:.3} J",
        stats.contact * 1e6,
        stats.overload,
        stats.time * 1e6,
        stats.area * 1e4,
        stats.spent,
        stats.available
    );
    let harder = match options.drop {
        Some(_) => "let it fall from higher with --drop",
        None => "hit harder with --speed or --mass",
    };
    decision.fracture.ok_or_else(|| {
        ShatterError::Whole(match stats.outcome {
            Outcome::NoImpact => "the blow has no force; turn it with --direction".into(),
            Outcome::Harmless | Outcome::Held => format!(
                "the stress stays below the strength ({:.0}% of it); {harder}",
                (100.0 * stats.overload).min(99.0)
            ),
            Outcome::NoCrack => format!(
                "the stress exceeds the strength, but no crack that the energy can pay for \
                 parts it; {harder}, or use more --tets or --pieces"
            ),
            Outcome::Unbreakable => "it is too small to break; use more --tets".into(),
            _ => "no crack parts it".into(),
        })
    })
}

fn blow(options: &Shatter) -> Vec3 {
    options
        .direction
        .and_then(Vec3::try_normalize)
        .unwrap_or(Vec3::NEG_Y)
}

/// A steel ball against the body, at rest and free.
fn ball(modes: &Modes, options: &Shatter, point: Vec3) -> Impact {
    let mass = options.mass.max(1e-6);
    let effective = mass * modes.mass() as f32 / (mass + modes.mass() as f32);
    let volume = f64::from(mass) / 7850.0;
    Impact {
        point,
        impulse: 1.5 * effective * options.speed * blow(options),
        speed: options.speed,
        effective_mass: effective,
        radius: (3.0 * volume / (4.0 * std::f64::consts::PI)).cbrt() as f32,
        other_modulus: STEEL_CONTACT_MODULUS,
    }
}

/// The body against a stone floor.
fn fall(fragments: &Fragments, modes: &Modes, options: &Shatter, height: f32) -> Impact {
    let up = -blow(options);
    let whole = FragmentSurface::extract(fragments, FragmentId(0), &mut SurfaceScratch::default());
    let properties = whole.mass_properties();
    let density = modes.material().density;
    let lowest = whole
        .positions()
        .iter()
        .copied()
        .min_by(|a, b| a.dot(up).total_cmp(&b.dot(up)))
        .unwrap_or(Vec3::ZERO);
    let normal = up.as_dvec3();
    let arm = (lowest.as_dvec3() - properties.centre).cross(normal);
    let turning = arm.dot((properties.inertia * density).inverse() * arm);
    let effective = 1.0 / (1.0 / (properties.volume * density) + turning);
    let speed = (2.0 * 9.81 * height.max(0.0)).sqrt();
    Impact {
        point: lowest,
        impulse: 1.2 * effective as f32 * speed * up,
        speed,
        effective_mass: effective as f32,
        radius: 0.0,
        other_modulus: Material::GRANITE.contact_modulus(),
    }
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

/// How far a piece is moved.
fn offset(piece: &ModelPiece, mesh: &TetMesh, explode: f32) -> Vec3 {
    let (lo, hi) = mesh.bounds();
    explode * (piece.centre.as_vec3() - 0.5 * (lo + hi))
}

fn output_format(options: &Shatter) -> Format {
    let end = options.output.extension().map(|e| e.to_ascii_lowercase());
    let by_name = match end.as_ref().and_then(|e| e.to_str()) {
        Some("gltf") => OutputFormat::Gltf,
        Some("obj") => OutputFormat::Obj,
        Some("usda") => OutputFormat::Usda,
        _ => OutputFormat::Glb,
    };
    match options.format.unwrap_or(by_name) {
        OutputFormat::Glb => Format::Glb,
        OutputFormat::Gltf => Format::Gltf,
        OutputFormat::Obj => Format::Obj,
        OutputFormat::Usda => Format::Usda,
    }
}

fn write_pieces(
    model: &Model,
    pieces: &[ModelPiece],
    mesh: &TetMesh,
    options: &Shatter,
) -> Result<(), ShatterError> {
    let moved: Vec<ModelPiece> = pieces
        .iter()
        .map(|piece| {
            let by = offset(piece, mesh, options.explode);
            let mut piece = piece.clone();
            piece.centre += by.as_dvec3();
            for surface in &mut piece.surfaces {
                for p in &mut surface.positions {
                    *p += by;
                }
            }
            piece
        })
        .collect();
    let stem = options
        .output
        .file_stem()
        .map_or_else(|| "fragments".to_owned(), |s| s.to_string_lossy().into());
    let all = model_files(
        model,
        &moved,
        CrackLook::default(),
        output_format(options),
        &stem,
    );
    for (i, (name, bytes)) in all.iter().enumerate() {
        // The main file has the name that was asked for, whatever its end.
        let path = if i == 0 {
            options.output.clone()
        } else {
            options.output.with_file_name(name)
        };
        files::save(&path, bytes)?;
        say!("wrote {}", path.display());
    }
    Ok(())
}

fn draw(
    model: &Model,
    pieces: &[ModelPiece],
    mesh: &TetMesh,
    options: &Shatter,
    path: &Path,
) -> Result<(), ShatterError> {
    let mut scene = Scene::new();
    let looks = Looks::of(model);
    for (i, piece) in pieces.iter().enumerate() {
        let by = offset(piece, mesh, options.explode);
        for surface in &piece.surfaces {
            let [r, g, b] = colour_of(i).map(|c| (255.0 * c) as u8);
            let positions: Vec<Vec3> = surface.positions.iter().map(|&p| p + by).collect();
            let drawn = PictureMesh::new(positions, surface.triangles.clone()).smooth(35.0);
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
    let camera = Camera::framing_all(options.from);
    let picture = scene.render(&camera, 640, 420, Quality::default());
    Ok(files::save(path, picture.to_png()?)?)
}

/// Base colours and textures of a model's materials, for pictures.
struct Looks {
    colours: Vec<Colour>,
    textures: Vec<Option<Arc<Texture>>>,
}

impl Looks {
    fn of(model: &Model) -> Self {
        let list = |key: &str| {
            model.document()[key]
                .as_array()
                .cloned()
                .unwrap_or_default()
        };
        let images: Vec<Option<Arc<Texture>>> = model
            .images()
            .iter()
            .map(|image| Texture::decode(&image.bytes).ok().map(Arc::new))
            .collect();
        let textures = list("textures");
        let (mut colours, mut of_material) = (Vec::new(), Vec::new());
        for material in list("materials") {
            let base = &material["pbrMetallicRoughness"];
            let part = |i: usize| base["baseColorFactor"][i].as_f64().unwrap_or(1.0) as f32;
            colours.push(Colour(Vec3::new(part(0), part(1), part(2))));
            let texture = base["baseColorTexture"]["index"].as_u64();
            let source = texture
                .and_then(|t| textures.get(t as usize))
                .and_then(|t| t["source"].as_u64());
            of_material.push(source.and_then(|s| images.get(s as usize).cloned().flatten()));
        }
        Self {
            colours,
            textures: of_material,
        }
    }

    fn paint(&self, mesh: PictureMesh, surface: &Buffers) -> PictureMesh {
        let find = |name: &str| surface.attributes.iter().find(|a| a.name == name);
        let mut mesh = mesh;
        if let Some(normals) = find("NORMAL") {
            let vectors = normals.values.chunks_exact(3);
            mesh = mesh.normals(vectors.map(|n| Vec3::new(n[0], n[1], n[2])).collect());
        }
        let Some(material) = surface.material else {
            return mesh;
        };
        if let Some(&colour) = self.colours.get(material) {
            mesh = mesh.colour(colour);
        }
        if let (Some(Some(texture)), Some(uvs)) = (self.textures.get(material), find("TEXCOORD_0"))
        {
            let uvs = uvs.values.chunks_exact(2);
            let uvs = uvs.map(|uv| Vec2::new(uv[0], uv[1])).collect();
            mesh = mesh.texture(Arc::clone(texture), uvs);
        }
        mesh
    }
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
