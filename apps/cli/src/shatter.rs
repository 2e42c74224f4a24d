//! `fracas shatter`: a mesh in, its closed and named fragments out, without any
//! simulation.
//!
//! Steps: read the mesh (or make the shape of that name) -> tetrahedra -> a
//! fracture, by a pattern or by an impact -> cut -> one named mesh per fragment, its
//! old surface and its cracks in two materials, its origin at its centre of mass.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, ValueEnum};
use fracas::fragment_surface::{FaceKind, FragmentSurface, SurfaceScratch};
use fracas::{Fracture, FragmentId, Fragments, TetMesh};
use fracas_bake::tetrahedralize::{self, Options as MesherOptions};
use fracas_bake::write::glb::{Glb, GlbError, Material as GlbMaterial, Part, Place};
use fracas_bake::{Asset, AssetError, Mesh, ReadError, shapes};
use fracas_fracture::material::{MaterialError, STEEL_CONTACT_MODULUS};
use fracas_fracture::modes::ModesError;
use fracas_fracture::patterns::{
    self, ConchoidalOptions, RadialOptions, SlicesOptions, VoronoiOptions,
};
use fracas_fracture::{FractureEvent, FractureSettings, Impact, Material, Modes, ModesOptions};
use fracas_picture::{Camera, Colour, Mesh as PictureMesh, Quality, Scene};
use glam::Vec3;
use thiserror::Error;

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

/// Options of `fracas shatter`.
#[derive(Args, Debug)]
pub struct Shatter {
    /// A mesh file (OBJ, OFF, Gmsh …), an asset of `fracas bake`, or a shape (see `fracas shapes`), such as plate.
    mesh: String,
    /// How it breaks.
    #[arg(long, value_enum, default_value = "voronoi")]
    pattern: Pattern,
    /// How many pieces (spokes, for radial; at most, for impact).
    #[arg(long, default_value_t = 16)]
    pieces: u32,
    /// Where it is hit, in the mesh's own units; by default its middle (impact and
    /// conchoidal: its top).
    #[arg(long, value_name = "X,Y,Z", value_parser = parse_vector, allow_hyphen_values = true)]
    at: Option<Vec3>,
    /// Direction of the blow, or the axis of slices and spokes.
    #[arg(long, value_name = "X,Y,Z", value_parser = parse_vector, allow_hyphen_values = true)]
    direction: Option<Vec3>,
    /// How many rings of a radial pattern.
    #[arg(long, default_value_t = 1)]
    rings: u32,
    /// Roughness of the cracks, as a share of the object's size.
    #[arg(long, default_value_t = 0.004)]
    roughness: f32,
    /// Seed of all chance: the same seed gives the same pieces.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// About how many tetrahedra to fill a surface or a shape with.
    #[arg(long)]
    tets: Option<usize>,
    /// Material of an impact: glass, porcelain, earthenware, brick, granite,
    /// concrete, plaster, ice. The mesh's unit is then the metre.
    #[arg(long, default_value = "glass")]
    material: String,
    /// Speed of the ball of an impact (m/s).
    #[arg(long, default_value_t = 8.0)]
    speed: f32,
    /// Mass of the ball of an impact (kg).
    #[arg(long, default_value_t = 0.1)]
    mass: f32,
    /// Height from which it falls on stone, instead of the ball (m).
    #[arg(long)]
    drop: Option<f32>,
    /// Move the pieces apart by this share of their distance from the middle.
    #[arg(long, default_value_t = 0.0)]
    explode: f32,
    /// Also draw the pieces (PNG).
    #[arg(long, value_name = "PNG")]
    picture: Option<PathBuf>,
    /// From where the picture is taken.
    #[arg(long, value_name = "X,Y,Z", value_parser = parse_vector, allow_hyphen_values = true, default_value = "0.5,0.75,0.9")]
    from: Vec3,
    /// Where the fragments go (binary glTF).
    #[arg(short, long, value_name = "OUT.glb")]
    output: PathBuf,
}

/// What can go wrong.
#[derive(Debug, Error)]
pub enum ShatterError {
    /// The mesh cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The asset cannot be read.
    #[error(transparent)]
    Asset(#[from] AssetError),
    /// It is neither a file nor a shape.
    #[error("there is no file and no shape named `{0}`; shapes are {names}", names = shapes::names().collect::<Vec<_>>().join(", "))]
    NoSuchMesh(String),
    /// The file's tetrahedra make no mesh.
    #[error(transparent)]
    Tets(#[from] fracas_bake::TetSoupError),
    /// The surface cannot be filled.
    #[error(transparent)]
    Fill(#[from] fracas_bake::tetrahedralize::TetrahedralizeError),
    /// The material is not known.
    #[error(transparent)]
    Material(#[from] MaterialError),
    /// No modes, hence no stress.
    #[error("an impact needs vibration modes: {0}")]
    Modes(#[from] ModesError),
    /// Nothing came apart.
    #[error("nothing breaks: {0}")]
    Whole(String),
    /// The fragments cannot be written.
    #[error(transparent)]
    Glb(#[from] GlbError),
    /// The picture cannot be written.
    #[error(transparent)]
    Picture(#[from] fracas_picture::ImageError),
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
    let (mesh, baked) = load(&options.mesh, options.tets)?;
    let mesh = Arc::new(mesh);
    println!(
        "{}: {} tetrahedra, {} nodes",
        options.mesh,
        mesh.tets().len(),
        mesh.positions().len()
    );
    let mut fragments = Fragments::new(Arc::clone(&mesh));
    let fracture = match options.pattern {
        Pattern::Impact => by_impact(&fragments, baked, options)?,
        _ => by_pattern(&fragments, options).ok_or_else(|| {
            ShatterError::Whole("the pattern leaves all nodes on one side; use more tetrahedra or pieces, or another --at".into())
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
    println!(
        "{} fragments, {} triangles, volume kept to {:.1e}",
        surfaces.len(),
        surfaces.iter().map(|s| s.triangles().len()).sum::<usize>(),
        (volume / mesh.volume() - 1.0).abs()
    );
    write_glb(&surfaces, &mesh, options)?;
    println!("wrote {}", options.output.display());
    if let Some(path) = &options.picture {
        draw(&surfaces, &mesh, options, path)?;
        println!("wrote {}", path.display());
    }
    Ok(())
}

/// Reads a file, or makes a shape. An asset may bring its modes along.
fn load(name: &str, tets: Option<usize>) -> Result<(TetMesh, Option<Arc<Modes>>), ShatterError> {
    if Path::new(name).exists() {
        if Path::new(name).extension().is_some_and(|e| e == "fracas") {
            let asset = Asset::load(name)?;
            return Ok((asset.mesh().clone(), asset.modes().cloned()));
        }
        let mesh = match fracas_bake::read(name)? {
            Mesh::Tets(soup) => soup.into_mesh()?.0,
            Mesh::Surface(surface, _) => {
                let options = MesherOptions::tets(tets.unwrap_or(20_000));
                tetrahedralize::surface(&surface, &options)?.into_mesh()
            }
        };
        return Ok((mesh, None));
    }
    let shape = shapes::by_name(name).ok_or_else(|| ShatterError::NoSuchMesh(name.into()))?;
    let mesh = match tets {
        Some(tets) => shape.build_with_tets(tets),
        None => shape.build(),
    };
    Ok((mesh, None))
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
    println!("computing vibration modes …");
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
    let material = Material::by_name(&options.material)?;
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
    println!(
        "contact {:.0} us, stress {:.1} times the strength after {:.0} us, cracks {:.1} cm2 for {:.3} of {:.3} J",
        stats.contact * 1e6,
        stats.overload,
        stats.time * 1e6,
        stats.area * 1e4,
        stats.spent,
        stats.available
    );
    decision.fracture.ok_or_else(|| {
        ShatterError::Whole(format!(
            "{:?}; hit harder with --speed or --mass",
            stats.outcome
        ))
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
fn offset(surface: &FragmentSurface, mesh: &TetMesh, explode: f32) -> Vec3 {
    let (lo, hi) = mesh.bounds();
    let centre = surface.mass_properties().centre.as_vec3();
    explode * (centre - 0.5 * (lo + hi))
}

fn write_glb(
    surfaces: &[FragmentSurface],
    mesh: &TetMesh,
    options: &Shatter,
) -> Result<(), ShatterError> {
    let mut glb = Glb::new();
    let cracks = glb.material(&GlbMaterial::new("crack", [0.55, 0.5, 0.45, 1.0]));
    for (i, surface) in surfaces.iter().enumerate() {
        let name = format!("fragment-{i:03}");
        let [r, g, b] = colour_of(i);
        let skin = glb.material(&GlbMaterial::new(format!("skin-{i:03}"), [r, g, b, 1.0]));
        let centre = surface.mass_properties().centre.as_vec3();
        let positions: Vec<Vec3> = surface.positions().iter().map(|&p| p - centre).collect();
        let (old, new) = surface.triangles().split_at(surface.old_triangles());
        let id = glb.mesh(
            &name,
            &[
                Part::new(&positions, old, skin),
                Part::new(&positions, new, cracks),
            ],
        )?;
        let place = Place {
            translation: centre + offset(surface, mesh, options.explode),
            ..Default::default()
        };
        glb.node(&name, Some(id), place)?;
    }
    Ok(glb.save(&options.output)?)
}

fn draw(
    surfaces: &[FragmentSurface],
    mesh: &TetMesh,
    options: &Shatter,
    path: &Path,
) -> Result<(), ShatterError> {
    let mut scene = Scene::new();
    for (i, surface) in surfaces.iter().enumerate() {
        let [r, g, b] = colour_of(i).map(|c| (255.0 * c) as u8);
        let skin = Colour::from_srgb(r, g, b);
        let crack = Colour::from_srgb(225, 215, 200);
        let by = offset(surface, mesh, options.explode);
        let colours = (0..surface.triangles().len())
            .map(|t| match surface.kind(t) {
                FaceKind::Old => skin,
                FaceKind::Crack => crack,
            })
            .collect();
        let positions = surface.positions().iter().map(|&p| p + by).collect();
        scene.add(
            PictureMesh::new(positions, surface.triangles().to_vec())
                .colours(colours)
                .smooth(35.0),
        );
    }
    scene.ground_under_all();
    let camera = Camera::framing_all(options.from);
    Ok(scene
        .render(&camera, 640, 420, Quality::default())
        .save(path)?)
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
