//! The pieces as they lie, and all that happened, as files that other programs open.

use fracas_bake::model::pieces::ModelPiece;
use fracas_bake::write::glb::{Glb, GlbError, Material, MaterialId, MeshId, NodeId, Part, Place};
use fracas_rapier::PieceId;
use fracas_scenes::film::{Film, FilmBody, FilmPiece, FilmShape};
use fracas_scenes::rigid::PropShape;
use glam::{DVec3, Vec3};
use parry3d::math::Pose;

use crate::stage::Stage;

/// All pieces as binary glTF, as `fracas shatter` writes them: a named node each at its
/// centre of mass, with mass, volume and that centre in its `extras`. What was a model keeps
/// its materials and textures; other things have their colour, and a paler one at cracks.
///
/// # Errors
/// See [`GlbError`].
pub fn glb(stage: &Stage) -> Result<Vec<u8>, GlbError> {
    let pieces = lying(stage);
    if let Some(look) = stage.own_look() {
        let told: Vec<ModelPiece> = pieces
            .iter()
            .filter_map(|piece| {
                let state = stage.world().shape(piece.id)?.object().read();
                let surfaces = look.surfaces(state.fragments(), piece.id.fragment, piece.pose);
                Some(ModelPiece {
                    name: piece.name.clone(),
                    centre: piece.centre,
                    volume: piece.volume,
                    mass: piece.mass,
                    surfaces,
                })
            })
            .collect();
        return Ok(look.glb(&told, stage.name()));
    }
    let mut glb = Glb::new();
    for piece in &pieces {
        let Some(surface) = stage.world().surface(piece.id) else {
            continue;
        };
        let paint = paint(&mut glb, stage.colour(piece.id.object));
        let seen = stage.dressed(piece.id);
        let (positions, normals, triangles, outer) = match &seen {
            Some(seen) => (
                &*seen.positions,
                &*seen.normals,
                &*seen.triangles,
                seen.outer_triangles,
            ),
            None => (
                surface.positions(),
                &[][..],
                surface.triangles(),
                surface.outer_triangles(),
            ),
        };
        let middle = surface.mass_properties().centre.as_vec3();
        let positions: Vec<Vec3> = positions.iter().map(|&p| p - middle).collect();
        let sides = sides(&positions, normals, triangles, outer);
        let mesh = glb.mesh(&piece.name, &parts(&sides, paint))?;
        let place = Place {
            translation: piece.centre.as_vec3(),
            rotation: piece.pose.rotation.to_array(),
            ..Place::default()
        };
        let node = glb.node(&piece.name, Some(mesh), place)?;
        let extras = serde_json::json!({
            "mass": piece.mass, "volume": piece.volume, "centreOfMass": piece.centre.to_array(),
        });
        glb.set_extras(node, extras)?;
    }
    glb.to_bytes()
}

/// A piece where it lies.
struct Lying {
    id: PieceId,
    name: String,
    pose: Pose,
    /// Its centre of mass, in the world.
    centre: DVec3,
    volume: f64,
    mass: f64,
}

/// All pieces that have a surface, named one after another.
fn lying(stage: &Stage) -> Vec<Lying> {
    let world = stage.world();
    let mut all = Vec::new();
    for id in world.pieces() {
        let (Some(surface), Some(pose)) = (world.surface(id), world.pose(id)) else {
            continue;
        };
        if surface.triangles().is_empty() {
            continue;
        }
        let properties = surface.mass_properties();
        all.push(Lying {
            id,
            name: format!("fragment-{:03}", all.len()),
            pose,
            centre: (pose * properties.centre.as_vec3()).as_dvec3(),
            volume: properties.volume,
            mass: world.body(id).map_or(0.0, |body| f64::from(body.mass())),
        });
    }
    all
}

/// All that happened, as binary glTF: a node for each body, which moves and is shown as
/// long as the body is there.
///
/// # Errors
/// See [`GlbError`].
pub fn film_glb(film: &Film) -> Result<Vec<u8>, GlbError> {
    let mut glb = Glb::new();
    for (i, body) in film.bodies.iter().enumerate() {
        let (name, mesh) = match &body.shape {
            FilmShape::Piece(piece) if piece.triangles.is_empty() => continue,
            FilmShape::Piece(piece) => {
                let name = format!("{} {}", piece.object, piece.fragment);
                let mesh = piece_mesh(&mut glb, &name, piece)?;
                (name, mesh)
            }
            FilmShape::Ball(radius) => {
                let name = format!("ball {i}");
                let shape = PropShape::Ball(*radius);
                let mesh = prop_mesh(&mut glb, &name, shape, STEEL)?;
                (name, mesh)
            }
            FilmShape::Block(half) => {
                let name = format!("block {i}");
                let mesh = prop_mesh(&mut glb, &name, PropShape::Block(*half), WOOD)?;
                (name, mesh)
            }
            // Soft bodies have no poses: their vertices move.
            FilmShape::Soft(_) => continue,
        };
        let node = glb.node(&name, Some(mesh), Place::default())?;
        animate(&mut glb, node, body, film)?;
    }
    glb.to_bytes()
}

/// Colours of balls and blocks (sRGB).
const STEEL: [u8; 3] = [92, 98, 112];
const WOOD: [u8; 3] = [154, 115, 80];

fn piece_mesh(glb: &mut Glb, name: &str, piece: &FilmPiece) -> Result<MeshId, GlbError> {
    let paint = paint(glb, piece.colour);
    let outer = piece.outer_triangles as usize;
    let sides = sides(&piece.positions, &piece.normals, &piece.triangles, outer);
    glb.mesh(name, &parts(&sides, paint))
}

fn prop_mesh(
    glb: &mut Glb,
    name: &str,
    shape: PropShape,
    colour: [u8; 3],
) -> Result<MeshId, GlbError> {
    let [r, g, b] = colour.map(linear);
    let look = glb.material(&Material::new("prop", [r, g, b, 1.0]));
    let (positions, triangles) = shape.triangles();
    glb.mesh(name, &[Part::new(&positions, &triangles, look)])
}

/// Moves a node along its body's poses, and shows it only as long as there are any.
fn animate(glb: &mut Glb, node: NodeId, body: &FilmBody, film: &Film) -> Result<(), GlbError> {
    let at = |frame: u32| frame as f32 * film.step;
    let last = body.first + body.poses.len() as u32;
    let times: Vec<f32> = (body.first..last).map(at).collect();
    let places: Vec<Vec3> = body.poses.iter().map(|p| Vec3::from_slice(p)).collect();
    let turns: Vec<[f32; 4]> = body
        .poses
        .iter()
        .map(|p| [p[3], p[4], p[5], p[6]])
        .collect();
    glb.animate_translation(node, &times, &places)?;
    glb.animate_rotation(node, &times, &turns)?;
    let mut shown = vec![(at(body.first), true)];
    if body.first > 0 {
        shown.insert(0, (0.0, false));
    }
    if last <= film.steps() {
        shown.push((at(last), false));
    }
    let (times, visible): (Vec<f32>, Vec<bool>) = shown.into_iter().unzip();
    glb.animate_visibility(node, &times, &visible)
}

/// Materials of the outer surface and of cracks of a body of some colour (sRGB).
fn paint(glb: &mut Glb, colour: [u8; 3]) -> [MaterialId; 2] {
    let [r, g, b] = colour.map(linear);
    let pale = |c: f32| c + 0.6 * (1.0 - c);
    let outer = Material::new("surface", [r, g, b, 1.0]);
    let new = Material::new("crack", [pale(r), pale(g), pale(b), 1.0]);
    [outer, new].map(|material| glb.material(&material))
}

/// Positions, triangles and normals of a part, every triangle with corners of its own.
type Side = (Vec<Vec3>, Vec<[u32; 3]>, Vec<Vec3>);

/// The outer surface and the cracks; `normals` may be none.
fn sides(positions: &[Vec3], normals: &[Vec3], triangles: &[[u32; 3]], outer: usize) -> [Side; 2] {
    let (before, cracks) = triangles.split_at(outer);
    [before, cracks].map(|triangles| {
        let of = |all: &[Vec3]| -> Vec<Vec3> {
            let corners = triangles.as_flattened().iter();
            corners.map(|&v| all[v as usize]).collect()
        };
        let numbers = (0..triangles.len() as u32).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]);
        let normals = if normals.is_empty() {
            Vec::new()
        } else {
            of(normals)
        };
        (of(positions), numbers.collect(), normals)
    })
}

/// The parts of a mesh that have triangles.
fn parts(sides: &[Side; 2], paint: [MaterialId; 2]) -> Vec<Part<'_>> {
    sides
        .iter()
        .zip(paint)
        .filter(|((_, triangles, _), _)| !triangles.is_empty())
        .map(|((places, triangles, normals), look)| {
            Part::new(places, triangles, look).normals(normals)
        })
        .collect()
}

/// From sRGB.
fn linear(c: u8) -> f32 {
    let c = f32::from(c) / 255.0;
    if c <= 0.040_45 {
        c / 12.92
    } else {
        libm::powf((c + 0.055) / 1.055, 2.4)
    }
}
