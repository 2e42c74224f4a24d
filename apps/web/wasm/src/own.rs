//! A mesh file that the user dropped on the page, made breakable.
//!
//! Read -> fill with tetrahedra, with more of them where walls and handles need them and
//! the page's patience allows -> distances and sphere tree -> a world in which it falls.
//! Files come in any unit, so it is scaled to `SIZE`.
//!
//! It breaks by a pattern around the impact once it is hit hard enough to pay for a crack
//! through it ([`strength`]), into as many pieces as cracks in its material branch
//! ([`Strength::branched`]), and not by its modes as the scenes' bodies do: a solid lump of
//! that size holds out against everything that the page can throw at it, and nobody would
//! wait for its modes.

use std::sync::Arc;

use fracas_bake::fill::{FillNote, FillOptions, Filled, fill};
use fracas_bake::tetrahedralize::{Size, TetrahedralizeError};
use fracas_bake::{Mesh, read_bytes, tet_mesh_of};
use fracas_core::sphere_tree::BuildOptions;
use fracas_core::{FieldOptions, TetMesh};
use fracas_fracture::{Breaker, Material, RefractureRule, Strength};
use fracas_rapier::{Blueprint, Breakable, WorldSettings};
use fracas_scenes::rigid::Scene;
use glam::{Quat, Vec3};
use parry3d::math::Pose;

use crate::own_look::OwnLook;
use crate::stage::Stage;

/// The longest side of what is dropped on the page, in metres.
const SIZE: f32 = 0.3;
/// How finely it is filled: enough to break well, little enough to wait for.
const TETS: usize = 6000;
/// The most that are tried where so few cannot hold the shape.
const MOST_FILLED: usize = 120_000;
/// Where more are said to be needed, nothing finer is tried.
const MOST_NEEDED: usize = 400_000;
/// Seconds after which no finer filling is begun.
const PATIENCE: f64 = 60.0;
/// Files that hold tetrahedra are taken as they are, up to this many.
const MOST_TETS: usize = 60_000;
/// Of the energy of a lump's motion, what its cracks get. Ten times what bricks and blocks of
/// ice in decision 0019 need: what falls here is meant to break.
const SHARE: f64 = 0.02;
/// The colour of a mesh without one.
const CLAY: [u8; 3] = [196, 143, 106];

/// Makes a world in which the mesh of a file falls and breaks. `step_budget`: see
/// [`WorldSettings::step_budget`].
///
/// # Errors
/// In a sentence that says what to do.
pub fn build(
    file: &str,
    bytes: &[u8],
    material: Material,
    step_budget: Option<f32>,
    progress: &mut dyn FnMut(&str),
) -> Result<Stage, String> {
    progress("reading the file");
    let name = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    let mesh = match read_bytes(file, bytes).map_err(|e| e.to_string())? {
        Mesh::Surface(surface, _) => {
            let mut fill_with = |tets| {
                // It is waited for; what has a look of its own is seen as itself.
                let options = FillOptions {
                    size: Some(Size::Tets(tets)),
                    quick: true,
                    ..FillOptions::default()
                };
                fill(&surface, &options)
            };
            filled(file, &mut fill_with, progress)?
        }
        Mesh::Tets(soup) => {
            let (mesh, _) = tet_mesh_of(file, soup).map_err(|e| e.to_string())?;
            if mesh.tets().len() > MOST_TETS {
                return Err(format!(
                    "{file} holds {} tetrahedra, more than the {MOST_TETS} that the page can take; drop its surface instead",
                    mesh.tets().len()
                ));
            }
            mesh
        }
    };
    let (mesh, moved) = fitted(&mesh)?;
    let look = OwnLook::read(file, bytes, &mesh, moved);
    let mesh = Arc::new(mesh);
    progress("distances and sphere tree");
    let blueprint = Blueprint::build(mesh, &FieldOptions::default(), &BuildOptions::default())
        .map_err(|e| e.to_string())?;
    let (low, high) = blueprint.surface().bounds();
    let settings = WorldSettings {
        length_unit: 0.05,
        step_budget,
        ..WorldSettings::default()
    };
    let view = (Vec3::new(-0.35, 0.0, -0.3), Vec3::new(0.35, 0.35, 0.3));
    let mut scene = Scene::new(name, settings, 0, view);
    scene.world_mut().add_floor(0.0, 0.6);
    let middle = 0.5 * (low + high);
    let turn = Quat::from_scaled_axis(Vec3::new(0.2, 0.3, 0.15));
    let place = Vec3::new(0.0, 1.2, 0.0) - turn * middle;
    // Whether pieces break again is for the visitor to say.
    let once = RefractureRule {
        most_generations: 1,
        ..RefractureRule::default()
    };
    let breaker = Breaker::new(material, None)
        .with_branching()
        .with_strength(strength(&material))
        .with_rule(once);
    let body = Breakable::new(Arc::new(blueprint))
        .with_breaker(breaker)
        .at(Pose::from_parts(place, turn));
    scene.add(body, CLAY);
    Ok(Stage::own(scene, look))
}

/// When a lump of the page's size breaks: where a share of its motion's energy pays for a
/// crack through it, `share rho L v² / 2 = G_c` (Griffith). Stress is not asked: a lump lands
/// on a corner, where it is above any strength. So glass breaks before earthenware, and
/// earthenware before granite.
#[must_use]
pub fn strength(material: &Material) -> Strength {
    let energy = SHARE * material.density * f64::from(SIZE);
    Strength {
        speed: (2.0 * material.fracture_energy() / energy).sqrt() as f32,
        ..Strength::of(material)
    }
}

/// Fills a surface: coarsely, or as finely as it turns out to need. Where handles are lost, or
/// a wall has a slot that it should not have, it is filled once more, with twice as many; the
/// coarse one is taken where that cannot be done.
fn filled(
    file: &str,
    fill_with: &mut dyn FnMut(usize) -> Result<Filled, TetrahedralizeError>,
    progress: &mut dyn FnMut(&str),
) -> Result<TetMesh, String> {
    let start = web_time::Instant::now();
    let mut tets = TETS;
    let mut why = "";
    let mut coarse: Option<TetMesh> = None;
    loop {
        progress(&match tets {
            TETS => "filling with tetrahedra".into(),
            _ => format!(
                "{why}: filling with {} thousand tetrahedra",
                tets.div_ceil(1000)
            ),
        });
        let made = fill_with(tets);
        let is_late = start.elapsed().as_secs_f64() > PATIENCE;
        let error = match (made, coarse.take()) {
            (Ok(filled), before) => {
                let is_true = !filled.notes.iter().any(changes_topology);
                let mesh = filled.made.into_mesh();
                if is_true || is_late || before.is_some() || 2 * tets > MOST_FILLED {
                    return Ok(mesh);
                }
                coarse = Some(mesh);
                (tets, why) = (2 * tets, "handles and gaps");
                continue;
            }
            (Err(_), Some(mesh)) => return Ok(mesh),
            (Err(error), None) => error,
        };
        let needed = match &error {
            TetrahedralizeError::WallsTooThin { tets: needed, .. } => (*needed).max(2 * tets),
            TetrahedralizeError::TooFew { needed, .. } => needed + needed / 5,
            TetrahedralizeError::WrongVolume { .. } => 2 * tets,
            _ => return Err(format!("{file} cannot be filled: {error}.")),
        };
        // What is said to be needed is on the safe side: less is tried first.
        let wanted = needed.min(4 * tets);
        if wanted > MOST_FILLED || needed > MOST_NEEDED || is_late {
            let many = match needed.div_ceil(1000) {
                thousands @ ..1000 => format!("about {thousands} thousand"),
                _ => "millions of".into(),
            };
            return Err(format!(
                "{file} has walls or gaps too thin for this page: they need {many} tetrahedra. Make them thicker, or break it with `fracas shatter {file}`."
            ));
        }
        (tets, why) = (wanted, "thin walls");
    }
}

fn changes_topology(note: &FillNote) -> bool {
    matches!(note, FillNote::Topology { .. })
}

/// How a mesh was moved: its middle went to the origin, and then it was scaled.
#[derive(Clone, Copy, Debug)]
pub struct Moved {
    /// Where its middle was.
    pub middle: Vec3,
    /// By how much it became larger.
    pub scale: f32,
}

/// The mesh at the page's size, around the origin.
fn fitted(mesh: &TetMesh) -> Result<(TetMesh, Moved), String> {
    let (low, high) = mesh.bounds();
    let longest = (high - low).max_element();
    if !(longest.is_finite() && longest > 0.0) {
        return Err("the mesh has no size; check its coordinates".into());
    }
    let (middle, scale) = (0.5 * (low + high), SIZE / longest);
    let positions = mesh
        .positions()
        .iter()
        .map(|&p| (p - middle) * scale)
        .collect();
    let fitted = TetMesh::build(positions, mesh.tets().to_vec()).map_err(|e| e.to_string())?;
    Ok((fitted, Moved { middle, scale }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A cube of side 7, as an OBJ file.
    fn cube() -> String {
        let mesh = fracas_core::testing::box_grid([1, 1, 1], Vec3::splat(7.0));
        let mut obj = String::new();
        for p in mesh.positions() {
            obj += &format!("v {} {} {}\n", p.x, p.y, p.z);
        }
        for face in mesh.boundary() {
            let [a, b, c] = face.nodes.map(|v| v + 1);
            obj += &format!("f {a} {b} {c}\n");
        }
        obj
    }

    #[test]
    fn a_dropped_cube_falls_and_a_bad_file_is_told() {
        let mut stages = Vec::new();
        let stage = build(
            "cube.obj",
            cube().as_bytes(),
            Material::PLASTER,
            None,
            &mut |stage| stages.push(stage.to_owned()),
        )
        .unwrap();
        assert_eq!(stages.len(), 3);
        let piece = stage.world().pieces().next().unwrap();
        let (low, high) = stage.world().surface(piece).unwrap().bounds();
        assert!(((high - low).max_element() - SIZE).abs() < 1e-3);
        let bad = build("cube.obj", b"v 0 0\n", Material::PLASTER, None, &mut |_| ());
        let Err(error) = bad else {
            panic!("half a vertex was taken")
        };
        assert!(error.starts_with("cube.obj"), "{error}");
    }

    /// A cup with a floor, all walls `wall` thick, ten high, as an OBJ file.
    fn cup(wall: f32) -> String {
        const AROUND: u32 = 48;
        let profile = [
            (0.0, 0.0),
            (4.0, 0.0),
            (4.0, 10.0),
            (4.0 - wall, 10.0),
            (4.0 - wall, wall),
            (0.0, wall),
        ];
        let mut obj = String::new();
        for &(r, y) in &profile {
            for i in 0..AROUND {
                let angle = i as f32 * std::f32::consts::TAU / AROUND as f32;
                obj += &format!("v {} {y} {}\n", r * angle.cos(), r * angle.sin());
            }
        }
        for ring in 0..profile.len() as u32 - 1 {
            for i in 0..AROUND {
                let (a, b) = (ring * AROUND, (ring + 1) * AROUND);
                let j = (i + 1) % AROUND;
                let corners = [a + i, a + j, b + j, b + i].map(|v| v + 1);
                let [p, q, r, s] = corners;
                obj += &format!("f {p} {r} {q}\nf {p} {s} {r}\n");
            }
        }
        obj
    }

    /// What is asked for, and how many tetrahedra are taken, where handles are lost below
    /// `enough` tetrahedra and nothing can be filled with more than `most`.
    fn asked(enough: usize, most: usize) -> (Vec<usize>, usize) {
        let Ok(Mesh::Surface(cube, _)) = read_bytes("cube.obj", cube().as_bytes()) else {
            panic!("the cube cannot be read")
        };
        let lost = FillNote::Topology {
            input: [1, 1],
            made: [1, 24],
            place: glam::DVec3::ZERO,
            distance: 0.1,
        };
        let (mut sizes, mut taken) = (Vec::new(), Vec::new());
        let mut fill_with = |tets: usize| {
            sizes.push(tets);
            // A real one, small; its size tells it apart.
            let options = FillOptions {
                size: Some(Size::Tets(1500 * sizes.len())),
                ..FillOptions::default()
            };
            let mut made = fill(&cube, &options)?;
            taken.push(made.made.mesh().tets().len());
            if tets > most {
                return Err(TetrahedralizeError::TooFew {
                    asked: tets,
                    needed: tets,
                });
            }
            made.notes = if tets < enough { vec![lost] } else { vec![] };
            Ok(made)
        };
        let mesh = filled("cube.obj", &mut fill_with, &mut |_| ()).unwrap();
        let which = taken.iter().position(|&n| n == mesh.tets().len());
        (sizes, which.unwrap())
    }

    #[test]
    fn lost_handles_and_slots_in_walls_are_filled_finer() {
        assert_eq!(asked(0, usize::MAX), (vec![6000], 0));
        assert_eq!(asked(12_000, usize::MAX), (vec![6000, 12_000], 1));
        let all = vec![6000, 12_000];
        assert_eq!(asked(100_000, usize::MAX), (all, 1), "it gives up");
        // Where nothing finer can be had, the coarse one is better than none.
        assert_eq!(asked(100_000, 7000), (vec![6000, 12_000], 0));
    }

    #[test]
    fn thin_walls_are_filled_finer_and_the_thinnest_told_in_plain_words() {
        let mut stages = Vec::new();
        let stage = build(
            "cup.obj",
            cup(0.6).as_bytes(),
            Material::PORCELAIN,
            None,
            &mut |stage| stages.push(stage.to_owned()),
        );
        assert!(stage.is_ok(), "{:?}", stage.err());
        assert!(
            stages.iter().any(|s| s.starts_with("thin walls")),
            "{stages:?}"
        );
        let paper = build(
            "cup.obj",
            cup(0.004).as_bytes(),
            Material::PORCELAIN,
            None,
            &mut |_| (),
        );
        let Err(error) = paper else {
            panic!("walls like paper were filled")
        };
        assert!(error.contains("too thin for this page"), "{error}");
        let digits = error.split(|c: char| !c.is_ascii_digit());
        assert!(digits.map(str::len).max() < Some(6), "{error}");
    }
}
