//! What the page does with its worlds, tried without a browser: models of the visitor's own
//! break like their material and keep their look, and the landing scene may begin without
//! its modes.

use fracas_bake::write::glb::{Glb, Material as Paint, Part, Place};
use fracas_fracture::Material;
use fracas_scenes::rigid::SceneOptions;
use fracas_web::own::build;
use fracas_web::simulation::Simulation;
use fracas_web::stage::Stage;
use fracas_web::take_home;
use glam::Vec3;
use serde_json::Value;

/// A box, as an OBJ file.
fn block(cubes: [u32; 3], size: Vec3) -> String {
    let mesh = fracas_core::testing::box_grid(cubes, size);
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

/// Pieces of a block that fell, as the page has it: pieces break again.
fn fallen(material: Material) -> usize {
    let block = block([3, 2, 1], Vec3::new(3.0, 2.0, 1.0));
    let stage = build("block.obj", block.as_bytes(), material, None, &mut |_| ()).unwrap();
    let mut world = Simulation::new(stage);
    world.tune("", 1.0, true).ok();
    for _ in 0..150 {
        world.step();
    }
    world.world().pieces().count()
}

#[test]
fn glass_shatters_granite_parts_and_ice_and_earthenware_are_between() {
    let [glass, earthenware, ice, granite] = [
        Material::GLASS,
        Material::EARTHENWARE,
        Material::ICE,
        Material::GRANITE,
    ]
    .map(fallen);
    let told = format!("glass {glass}, earthenware {earthenware}, ice {ice}, granite {granite}");
    println!("{told}");
    assert!((2..=12).contains(&granite), "{told}");
    for between in [earthenware, ice] {
        assert!(granite < between && between < glass, "{told}");
    }
    assert!(glass >= 3 * granite, "{told}");
}

/// A painted block, as binary glTF.
fn painted() -> Vec<u8> {
    let mesh = fracas_core::testing::box_grid([3, 2, 2], Vec3::new(3.0, 2.0, 2.0));
    let faces = mesh.boundary();
    let triangles: Vec<[u32; 3]> = faces.map(|face| face.nodes).collect();
    let uvs: Vec<[f32; 2]> = mesh.positions().iter().map(|p| [p.x, p.y]).collect();
    let mut glb = Glb::new();
    let paint = glb.material(&Paint::new("paint", [0.8, 0.1, 0.1, 1.0]));
    let part = Part::new(mesh.positions(), &triangles, paint).uvs(&uvs);
    let block = glb.mesh("block", &[part]).unwrap();
    glb.node("block", Some(block), Place::default()).unwrap();
    glb.to_bytes().unwrap()
}

#[test]
fn pieces_taken_home_keep_their_paint_and_stand_where_they_lie() {
    let stage = build(
        "block.glb",
        &painted(),
        Material::PLASTER,
        None,
        &mut |_| (),
    )
    .unwrap();
    let mut world = Simulation::new(stage);
    for _ in 0..20 {
        world.step();
    }
    assert!(world.shatter(0, 0, "cells", 6, 1, &[0.0, 0.0, 0.0, 0.0, 1.0, 0.0]) > 2);
    world.step();
    let bytes = take_home::glb(world.stage()).unwrap();
    let length = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
    let json: Value = serde_json::from_slice(&bytes[20..20 + length]).unwrap();
    let nodes: Vec<&Value> = json["nodes"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|n| n["extras"].is_object())
        .collect();
    let pieces: Vec<_> = world.world().pieces().collect();
    assert_eq!(nodes.len(), pieces.len());
    for (node, &piece) in nodes.iter().zip(&pieces) {
        assert!(node["name"].as_str().unwrap().starts_with("fragment-"));
        let body = world.world().body(piece).unwrap();
        let (mass, centre) = (body.mass(), body.center_of_mass());
        let told = node["extras"]["mass"].as_f64().unwrap() as f32;
        assert!((told / mass - 1.0).abs() < 1e-4, "{told} {mass}");
        let told = [0, 1, 2].map(|i| node["extras"]["centreOfMass"][i].as_f64().unwrap() as f32);
        assert!(
            (Vec3::from(told) - centre).length() < 1e-4,
            "{told:?} {centre}"
        );
    }
    let names = json["materials"].as_array().unwrap().iter();
    let names: Vec<&str> = names.map(|m| m["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["paint", "crack"]);
    let meshes = json["meshes"].as_array().unwrap().iter();
    let all = meshes.flat_map(|m| m["primitives"].as_array().unwrap());
    let has_paint = |p: &&Value| p["material"] == 0 && p["attributes"]["TEXCOORD_0"].is_u64();
    assert!(all.filter(has_paint).count() >= nodes.len() / 2);
}

#[test]
fn plates_whose_modes_come_late_break_as_those_that_had_them() {
    let options = SceneOptions {
        measured: false,
        detail: 0.6,
        ..SceneOptions::default()
    };
    let mut scene = fracas_scenes::rigid::by_name("plates", &options, &mut |_| ()).unwrap();
    scene.wait();
    let mut early = Simulation::new(Stage::own(scene, None));
    let mut late = Simulation::new(Stage::scene("your-plates", &options, &mut |_| ()).unwrap());
    assert!(late.is_late() && !early.is_late());
    for world in [&mut early, &mut late] {
        world.tune("", 1.0, true).ok();
        world.hit(3, 0, &[0.0, 0.0, 0.0, 0.0, 1.0, 0.0], 12.0, 0.03);
    }
    let mut broke = 0;
    for _ in 0..30 {
        broke += late.step();
        early.step();
        assert_eq!(late.digest(), early.digest());
    }
    assert!(broke > 0 && !late.is_late());
    // Back at the start they are whole, and still have their modes.
    assert!(late.reset() && early.reset());
    for world in [&mut early, &mut late] {
        world.hit(2, 0, &[0.0, 0.0, 0.0, 0.0, 1.0, 0.0], 12.0, 0.03);
    }
    for _ in 0..20 {
        late.step();
        early.step();
        assert_eq!(late.digest(), early.digest());
    }
}
