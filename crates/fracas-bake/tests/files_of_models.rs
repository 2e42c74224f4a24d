//! The files that a model names: in folders below its own they are read, elsewhere they
//! are not even looked for.

use std::fs;

use fracas_bake::model::Model;
use fracas_bake::{Mesh, ReadError, ReadErrorKind};
use serde_json::json;

/// The eight bytes with which every PNG begins.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";

/// A triangle: its corners and their coordinates on the picture, in a file of their own.
fn corners() -> Vec<u8> {
    let numbers = [
        0.0_f32, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, // corners
        0.0, 0.0, 1.0, 0.0, 0.0, 1.0, // coordinates
    ];
    numbers.iter().flat_map(|v| v.to_le_bytes()).collect()
}

/// A glTF file whose buffer and picture are where these names say.
fn gltf(buffer: &str, picture: &str) -> Vec<u8> {
    let document = json!({
        "asset": { "version": "2.0" },
        "scene": 0, "scenes": [{ "nodes": [0] }], "nodes": [{ "mesh": 0 }],
        "meshes": [{ "primitives": [{ "attributes": { "POSITION": 0, "TEXCOORD_0": 1 },
            "material": 0 }] }],
        "materials": [{ "pbrMetallicRoughness": { "baseColorTexture": { "index": 0 } } }],
        "textures": [{ "source": 0 }],
        "images": [{ "uri": picture }],
        "accessors": [{ "bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3",
            "min": [0, 0, 0], "max": [1, 1, 0] },
            { "bufferView": 1, "componentType": 5126, "count": 3, "type": "VEC2" }],
        "bufferViews": [{ "buffer": 0, "byteLength": 36 },
            { "buffer": 0, "byteOffset": 36, "byteLength": 24 }],
        "buffers": [{ "uri": buffer, "byteLength": 60 }],
    });
    document.to_string().into_bytes()
}

const OBJ: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nusemtl red\nf 1/1 2/1 3/1\n";

/// Names that lead out of the folder: as a URI may spell them.
const ELSEWHERE: [&str; 12] = [
    "../secret.png",
    "textures/../../secret.png",
    "..%2Fsecret.png",
    "%2e%2e/secret.png",
    "%2Fetc%2Fpasswd",
    "/etc/passwd",
    "//host/share/a.png",
    "C:/secret.png",
    "C:secret.png",
    "..\\secret.png",
    "..%5Csecret.png",
    "file:///etc/passwd",
];

#[test]
fn textures_and_buffers_in_folders_below_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let inside = |name: &str| folder.path().join(name);
    fs::create_dir_all(inside("data/deep")).unwrap();
    fs::create_dir_all(inside("my textures")).unwrap();
    fs::write(inside("data/deep/a.bin"), corners()).unwrap();
    fs::write(inside("my textures/a b.png"), PNG).unwrap();
    fs::write(
        inside("model.gltf"),
        gltf("data/deep/a.bin", "./my%20textures/a%20b.png"),
    )
    .unwrap();
    let model = Model::read(inside("model.gltf")).unwrap();
    assert_eq!(model.warnings(), [""; 0]);
    assert_eq!(model.images()[0].bytes, PNG);
    assert_eq!(model.parts()[0].triangles.len(), 1);
    // The other reader, which takes the surface alone.
    let Mesh::Surface(surface, _) = fracas_bake::read(inside("model.gltf")).unwrap() else {
        panic!("a surface")
    };
    assert_eq!(surface.triangles().len(), 1);

    let mtl = "newmtl red\nmap_Kd my textures/a b.png\n";
    fs::write(inside("data/a.mtl"), mtl).unwrap();
    fs::write(inside("model.obj"), format!("mtllib data/a.mtl\n{OBJ}")).unwrap();
    let model = Model::read(inside("model.obj")).unwrap();
    assert_eq!(model.warnings(), [""; 0]);
    assert_eq!(model.images()[0].bytes, PNG);
}

#[test]
fn names_that_leave_the_folder_are_never_looked_for() {
    let mut asked = |name: &str| -> Result<Vec<u8>, ReadError> { panic!("asked for {name}") };
    for name in ELSEWHERE {
        // Without its buffer a file is nothing: an error.
        let file = gltf(name, "data:image/png;base64,iVBORw0KGgo=");
        let read = Model::read_bytes("a.gltf", &file, &mut asked).unwrap_err();
        assert!(
            read.to_string().contains("only files in its folder"),
            "{read}"
        );
        let read = fracas_bake::read_bytes_with("a.gltf", &file, &mut asked).unwrap_err();
        assert_eq!(read.kind(), ReadErrorKind::Unsupported, "{name}");
        // Without a picture it is a model without that picture.
        let mut corners_alone = |other: &str| match other {
            "a.bin" => Ok(corners()),
            _ => panic!("asked for {other}"),
        };
        let file = gltf("a.bin", name);
        let model = Model::read_bytes("a.gltf", &file, &mut corners_alone).unwrap();
        assert_eq!(model.warnings().len(), 1, "{name}");
        assert!(model.images()[0].bytes.is_empty(), "{name}");
    }
    // OBJ and MTL know no `%`.
    for name in ELSEWHERE.into_iter().filter(|name| !name.contains('%')) {
        let file = format!("mtllib {name}\n{OBJ}");
        let model = Model::read_bytes("a.obj", file.as_bytes(), &mut asked).unwrap();
        assert_eq!(model.warnings().len(), 1, "{name}");
        let file = format!("mtllib a.mtl\n{OBJ}");
        let mtl = format!("newmtl red\nmap_Kd {name}\n");
        let mut materials_alone = |other: &str| match other {
            "a.mtl" => Ok(mtl.clone().into_bytes()),
            _ => panic!("asked for {other}"),
        };
        let model = Model::read_bytes("a.obj", file.as_bytes(), &mut materials_alone).unwrap();
        assert_eq!(model.warnings().len(), 1, "{name}");
        assert!(model.images()[0].bytes.is_empty(), "{name}");
    }
}
