//! A mesh file that the user dropped on the page, made breakable.
//!
//! Read -> fill with tetrahedra -> distances and sphere tree -> a world in which it
//! falls. Files come in any unit, so it is scaled to `SIZE`.
//!
//! It breaks by a pattern around the impact once it is hit faster than its material
//! stands ([`fracas_fracture::Strength`]), and not by its modes as the scenes' bodies
//! do: a solid lump of that size holds out against everything that the page can throw
//! at it, and nobody would wait for its modes.

use std::sync::Arc;

use fracas::sphere_tree::BuildOptions;
use fracas::{FieldOptions, TetMesh};
use fracas_bake::bake::{BakeOptions, Source, bake};
use fracas_bake::tetrahedralize::Size;
use fracas_bake::{Mesh, read_bytes, tet_mesh_of};
use fracas_fracture::{Breaker, Material};
use fracas_rapier::Blueprint;
use fracas_rapier::world::{ObjectOptions, World, WorldSettings};
use glam::{Quat, Vec3};
use parry3d::math::Pose;

use crate::stage::{Own, Stage, time};

/// The longest side of what is dropped on the page, in metres.
const SIZE: f32 = 0.3;
/// How finely it is filled: enough to break well, little enough to wait for.
const TETS: usize = 6000;
/// Files that hold tetrahedra are taken as they are, up to this many.
const MOST_TETS: usize = 60_000;

/// Makes a world in which the mesh of a file falls and breaks.
///
/// # Errors
/// In a sentence that says what to do.
pub fn build(
    file: &str,
    bytes: &[u8],
    material: Material,
    progress: &mut dyn FnMut(&'static str),
) -> Result<Stage, String> {
    progress("reading the file");
    let name = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    let source = match read_bytes(file, bytes).map_err(|e| e.to_string())? {
        Mesh::Surface(surface, _) => Source::Surface(name.into(), surface),
        Mesh::Tets(soup) => {
            let (mesh, _) = tet_mesh_of(file, soup).map_err(|e| e.to_string())?;
            if mesh.tets().len() > MOST_TETS {
                return Err(format!(
                    "{file} holds {} tetrahedra, more than the {MOST_TETS} that the page can take; drop its surface instead",
                    mesh.tets().len()
                ));
            }
            Source::Tets(name.into(), mesh)
        }
    };
    progress("filling with tetrahedra");
    let options = BakeOptions {
        size: Some(Size::Tets(TETS)),
        ..BakeOptions::default()
    };
    let baked = bake(source, &options, &mut |_| ()).map_err(|e| e.to_string())?;
    let mesh = Arc::new(fitted(baked.asset.mesh())?);
    progress("distances and sphere tree");
    let blueprint = Blueprint::build(mesh, &FieldOptions::default(), &BuildOptions::default())
        .map_err(|e| e.to_string())?;
    let (low, high) = blueprint.surface().bounds();
    let mut world = World::new(WorldSettings {
        length_unit: 0.05,
        ..WorldSettings::default()
    });
    time(&mut world);
    world.add_floor(0.0, 0.6);
    let middle = 0.5 * (low + high);
    let turn = Quat::from_scaled_axis(Vec3::new(0.2, 0.3, 0.15));
    let place = Vec3::new(0.0, 1.2, 0.0) - turn * middle;
    let body = ObjectOptions::new(Arc::new(blueprint))
        .breakable(Breaker::new(material, None))
        .at(Pose::from_parts(place, turn));
    world.add(body);
    Ok(Stage::Own(Box::new(Own {
        name: name.into(),
        world,
        view: (Vec3::new(-0.35, 0.0, -0.3), Vec3::new(0.35, 0.35, 0.3)),
    })))
}

/// The mesh at the page's size, around the origin.
fn fitted(mesh: &TetMesh) -> Result<TetMesh, String> {
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
    TetMesh::build(positions, mesh.tets().to_vec()).map_err(|e| e.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A cube of side 7, as an OBJ file.
    fn cube() -> String {
        let mesh = fracas::testing::box_grid([1, 1, 1], Vec3::splat(7.0));
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
            &mut |stage| stages.push(stage),
        )
        .unwrap();
        assert_eq!(stages.len(), 3);
        let piece = stage.world().pieces().next().unwrap();
        let (low, high) = stage.world().surface(piece).unwrap().bounds();
        assert!(((high - low).max_element() - SIZE).abs() < 1e-3);
        let bad = build("cube.obj", b"v 0 0\n", Material::PLASTER, &mut |_| ());
        let Err(error) = bad else {
            panic!("half a vertex was taken")
        };
        assert!(error.starts_with("cube.obj"), "{error}");
    }
}
