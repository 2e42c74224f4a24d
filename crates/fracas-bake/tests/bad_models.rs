//! Models with something wrong in them: what can be shown is shown, what is wrong is said
//! in exactly these words, and nothing is lost.

use fracas_bake::ReadErrorKind;
use fracas_bake::model::Model;
use fracas_bake::model::pieces::ModelPiece;
use fracas_bake::model::write::{CrackLook, Format, files};
use fracas_bake::shatter::{SkinChoice, Wardrobe, open_sides};
use fracas_core::{Crack, Fracture, FragmentId, Fragments};
use glam::Vec3;
use serde_json::{Value, json};
use std::sync::Arc;

/// A cube of twelve triangles, its buffer and its picture, which tests spoil.
struct Cube {
    positions: Vec<[f32; 3]>,
    uvs: Vec<[f32; 2]>,
    triangles: Vec<[u32; 3]>,
    picture: Option<Vec<u8>>,
    has_uvs: bool,
}

impl Cube {
    fn new() -> Self {
        let corner = |i: usize| [i & 1, i >> 1 & 1, i >> 2].map(|k| k as f32);
        let quads = [
            [0, 2, 3, 1],
            [4, 5, 7, 6],
            [0, 1, 5, 4],
            [2, 6, 7, 3],
            [0, 4, 6, 2],
            [1, 3, 7, 5],
        ];
        let (mut positions, mut uvs, mut triangles) = (Vec::new(), Vec::new(), Vec::new());
        for quad in quads {
            let first = positions.len() as u32;
            positions.extend(quad.map(corner));
            uvs.extend([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]);
            triangles.extend([[0, 1, 2], [0, 2, 3]].map(|t| t.map(|k: u32| first + k)));
        }
        Self {
            positions,
            uvs,
            triangles,
            picture: Some(b"\x89PNG\r\n\x1a\n and more".to_vec()),
            has_uvs: true,
        }
    }

    fn read(&self) -> Result<Model, fracas_bake::ReadError> {
        let mut data: Vec<u8> = Vec::new();
        data.extend(
            self.positions
                .iter()
                .flatten()
                .flat_map(|v| v.to_le_bytes()),
        );
        let uvs = data.len();
        data.extend(self.uvs.iter().flatten().flat_map(|v| v.to_le_bytes()));
        let indices = data.len();
        data.extend(
            self.triangles
                .iter()
                .flatten()
                .flat_map(|v| v.to_le_bytes()),
        );
        let (vertices, corners) = (self.positions.len(), 3 * self.triangles.len());
        let mut document = json!({
            "asset": { "version": "2.0" },
            "scene": 0, "scenes": [{ "nodes": [0] }], "nodes": [{ "name": "cube", "mesh": 0 }],
            "meshes": [{ "primitives": [{
                "attributes": { "POSITION": 0, "TEXCOORD_0": 1 }, "indices": 2, "material": 0 }] }],
            "materials": [{ "pbrMetallicRoughness": { "baseColorTexture": { "index": 0 } } }],
            "textures": [{ "source": 0 }],
            "images": [{ "uri": "textures/cube.png" }],
            "accessors": [
                { "bufferView": 0, "componentType": 5126, "count": vertices, "type": "VEC3" },
                { "bufferView": 1, "componentType": 5126, "count": vertices, "type": "VEC2" },
                { "bufferView": 2, "componentType": 5125, "count": corners, "type": "SCALAR" },
            ],
            "bufferViews": [
                { "buffer": 0, "byteLength": uvs },
                { "buffer": 0, "byteOffset": uvs, "byteLength": indices - uvs },
                { "buffer": 0, "byteOffset": indices, "byteLength": data.len() - indices },
            ],
            "buffers": [{ "uri": "cube.bin", "byteLength": data.len() }],
        });
        if !self.has_uvs {
            document["meshes"][0]["primitives"][0]["attributes"] = json!({ "POSITION": 0 });
        }
        let text = document.to_string();
        Model::read_bytes("cube.gltf", text.as_bytes(), &mut |name| match name {
            "cube.bin" => Ok(data.clone()),
            "textures/cube.png" => match &self.picture {
                Some(bytes) => Ok(bytes.clone()),
                None => fracas_bake::read("there is no such file").map(|_| Vec::new()),
            },
            _ => panic!("asked for {name}"),
        })
    }
}

/// Breaks a model in two and reads what is written of it.
fn broken(model: &Model) -> Model {
    let mesh = Arc::new(fracas_core::testing::box_grid([3; 3], Vec3::ONE));
    let mut fragments = Fragments::new(mesh.clone());
    let all: Vec<u32> = (0..mesh.positions().len() as u32).collect();
    let crack = Crack::from_level(&mesh, 0, &all, |n| {
        let p = mesh.positions()[n as usize];
        p.x - 0.43 + 0.2 * p.y
    });
    let fracture = Fracture {
        fragment: FragmentId(0),
        cracks: vec![crack.unwrap()],
    };
    let ids = fragments.apply(&fracture).unwrap().children;
    let dressed = Wardrobe::default().dress(model, &fragments, &ids, SkinChoice::Auto, 1.0);
    let (dressed, warning) = dressed.unwrap();
    assert_eq!(warning, None, "the model's own triangles");
    let pieces: Vec<ModelPiece> = dressed
        .into_iter()
        .enumerate()
        .map(|(i, surfaces)| {
            assert_eq!(open_sides(&surfaces), 0, "piece {i}");
            ModelPiece {
                name: format!("piece {i}"),
                surfaces,
                ..ModelPiece::default()
            }
        })
        .collect();
    let look = CrackLook::default();
    let written = files(model, &pieces, look, Format::Glb, "out")
        .unwrap()
        .remove(0)
        .1;
    let mut missing = |_: &str| fracas_bake::read("there is no such file").map(|_| Vec::new());
    Model::read_bytes("out.glb", &written, &mut missing).unwrap()
}

fn area(model: &Model) -> f64 {
    let outside = model.parts().iter().filter(|p| p.material == Some(0));
    outside
        .flat_map(|part| {
            part.triangles.iter().map(|t| {
                let [a, b, c] = t.map(|v| part.positions[v as usize]);
                0.5 * (b - a).cross(c - a).length()
            })
        })
        .sum()
}

fn check_area(model: &Model) {
    assert!((area(model) - 6.0).abs() < 1e-5, "{}", area(model));
}

#[test]
fn a_good_model_has_no_warnings() {
    let model = Cube::new().read().unwrap();
    assert_eq!(model.warnings(), [""; 0]);
    let again = broken(&model);
    check_area(&again);
    assert_eq!(again.warnings(), [""; 0]);
}

#[test]
fn a_missing_picture_is_a_warning_and_its_material_stays() {
    let mut cube = Cube::new();
    cube.picture = None;
    let model = cube.read().unwrap();
    let told = "the picture `textures/cube.png` cannot be read: its textures stay empty";
    assert_eq!(model.warnings(), [told]);
    let again = broken(&model);
    check_area(&again);
    // Written by its name: whoever has the file puts it there.
    assert_eq!(again.warnings(), [told]);
    let base = &again.document()["materials"][0]["pbrMetallicRoughness"]["baseColorTexture"];
    assert_eq!(base, &json!({ "index": 0 }));
}

#[test]
fn textures_without_coordinates_are_a_warning() {
    let mut cube = Cube::new();
    cube.has_uvs = false;
    let model = cube.read().unwrap();
    let told = "part 0: its material has textures, but it has no coordinates for them (TEXCOORD_0)";
    assert_eq!(model.warnings(), [told]);
    let again = broken(&model);
    check_area(&again);
    assert_eq!(again.images()[0].bytes, model.images()[0].bytes);
}

#[test]
fn triangles_without_area_are_a_warning_and_leave_no_hole() {
    let mut cube = Cube::new();
    // A point, a line, and a needle along a side.
    cube.triangles.extend([[0, 0, 0], [0, 1, 0], [2, 3, 3]]);
    let model = cube.read().unwrap();
    assert_eq!(model.warnings(), ["part 0: 3 triangles have no area"]);
    check_area(&broken(&model));
}

#[test]
fn attributes_that_are_no_numbers_are_a_warning_and_positions_an_error() {
    let mut cube = Cube::new();
    cube.uvs[3] = [f32::NAN, f32::INFINITY];
    let model = cube.read().unwrap();
    let told = "part 0: 2 numbers of TEXCOORD_0 are not finite and count as 0";
    assert_eq!(model.warnings(), [told]);
    assert_eq!(model.parts()[0].attributes[0].values[6..8], [0.0, 0.0]);
    check_area(&broken(&model));
    cube.positions[3] = [0.0, f32::NAN, 0.0];
    let error = cube.read().unwrap_err();
    assert_eq!(error.kind(), ReadErrorKind::NotFinite, "{error}");
    assert!(error.to_string().contains("vertex 3"), "{error}");
}

#[test]
fn a_huge_picture_is_a_warning_and_passed_on() {
    let mut cube = Cube::new();
    let mut picture = b"\x89PNG\r\n\x1a\n".to_vec();
    picture.resize((33 << 20) + 5, 7);
    cube.picture = Some(picture);
    let model = cube.read().unwrap();
    let told = "the picture `textures/cube.png` has 33 MiB and is passed on as it is";
    assert_eq!(model.warnings(), [told]);
    let again = broken(&model);
    check_area(&again);
    assert_eq!(again.warnings(), [told]);
    assert!(
        again.images()[0].bytes == model.images()[0].bytes,
        "bit for bit"
    );
}

#[test]
fn a_material_that_is_not_there_is_no_material() {
    let mut model = Cube::new().read().unwrap();
    let document: &Value = model.document();
    assert_eq!(document["materials"].as_array().map(Vec::len), Some(1));
    model = model.without_materials();
    assert!(model.document()["materials"].is_null() && model.images().is_empty());
    assert_eq!(model.parts()[0].material, None);
}
