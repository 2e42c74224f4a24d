//! Textured models: those of the public data, and two made in code, as files.
//!
//! The vase is a thick-walled turned thing of one texture with a seam. The box has two
//! materials, two sets of texture coordinates, tangents and vertex colours, below a turned
//! node and a mirrored one. Both keep buffer and texture as most exporters do: the texture
//! in a folder below.

use std::f64::consts::PI;
use std::path::{Path, PathBuf};
use std::{fs, io};

use fracas_picture::{Colour, Image};
use glam::{DVec2, DVec3};
use serde_json::{Value, json};

/// The public models, below the folder of the data.
pub const PUBLIC: [&str; 8] = [
    "textured/BoxTextured.glb",
    "textured/Avocado/Avocado.gltf",
    "textured/MultiUVTest.glb",
    "textured/IridescenceSuzanne.glb",
    "textured/CesiumMilkTruck.glb",
    "textured/GlassVaseFlowers.glb",
    "textured/VertexColorTest.glb",
    "textured/NegativeScaleTest.glb",
];

/// Writes the models made in code into a folder. Returns their names and files.
///
/// # Errors
/// When a file cannot be written.
pub fn make(folder: &Path) -> io::Result<Vec<(&'static str, PathBuf)>> {
    fs::create_dir_all(folder.join("textures"))?;
    let mut made = Vec::new();
    for (name, model) in [("vase", vase()), ("box", painted_box())] {
        fs::write(folder.join(format!("{name}.bin")), &model.data)?;
        fs::write(folder.join(format!("textures/{name}.png")), model.picture)?;
        let path = folder.join(format!("{name}.gltf"));
        fs::write(&path, model.document.to_string())?;
        made.push((name, path));
    }
    Ok(made)
}

/// The models made in code in memory: each as its document with the files beside it, and as
/// one binary file.
#[must_use]
pub fn in_memory() -> Vec<InMemory> {
    [("vase", vase()), ("box", painted_box())]
        .into_iter()
        .map(|(name, made)| InMemory {
            document: made.document.to_string().into_bytes(),
            beside: vec![
                (format!("{name}.bin"), made.data.clone()),
                (format!("textures/{name}.png"), made.picture.clone()),
            ],
            binary: made.to_binary(),
        })
        .collect()
}

/// A model in memory.
pub struct InMemory {
    /// A `.gltf` file.
    pub document: Vec<u8>,
    /// The files it names.
    pub beside: Vec<(String, Vec<u8>)>,
    /// The same as a `.glb` file.
    pub binary: Vec<u8>,
}

/// A glTF file in the making.
struct Made {
    document: Value,
    data: Vec<u8>,
    picture: Vec<u8>,
}

impl Made {
    fn new(name: &str, picture: Vec<u8>) -> Self {
        let document = json!({
            "asset": { "version": "2.0" },
            "scene": 0,
            "images": [{ "uri": format!("textures/{name}.png") }],
            "textures": [{ "source": 0, "sampler": 0 }],
            "samplers": [{ "wrapS": 10497, "wrapT": 33071 }],
            "accessors": [], "bufferViews": [],
        });
        Self {
            document,
            data: Vec::new(),
            picture,
        }
    }

    /// Adds an accessor of floats, with its bounds; returns its number.
    fn floats(&mut self, width: usize, values: &[f32]) -> Value {
        let bounds = |pick: fn(f32, f32) -> f32| -> Vec<f32> {
            let of = |k: usize| values.iter().skip(k).step_by(width).copied().reduce(pick);
            (0..width).filter_map(of).collect()
        };
        let kind = ["SCALAR", "VEC2", "VEC3", "VEC4"][width - 1];
        let (low, high) = (bounds(f32::min), bounds(f32::max));
        let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        self.accessor(
            &bytes,
            json!({ "componentType": 5126, "type": kind, "count": values.len() / width,
                "min": low, "max": high }),
        )
    }

    fn indices(&mut self, triangles: &[[u32; 3]]) -> Value {
        let all = triangles.as_flattened();
        let bytes: Vec<u8> = all.iter().flat_map(|v| v.to_le_bytes()).collect();
        let count = all.len();
        self.accessor(
            &bytes,
            json!({ "componentType": 5125, "type": "SCALAR", "count": count }),
        )
    }

    fn accessor(&mut self, bytes: &[u8], mut accessor: Value) -> Value {
        let views = self.document["bufferViews"].as_array_mut();
        let views = views.expect("a list by construction");
        accessor["bufferView"] = json!(views.len());
        views.push(json!({
            "buffer": 0, "byteOffset": self.data.len(), "byteLength": bytes.len(),
        }));
        self.data.extend(bytes);
        let accessors = self.document["accessors"].as_array_mut();
        let accessors = accessors.expect("a list by construction");
        accessors.push(accessor);
        json!(accessors.len() - 1)
    }

    /// As a GLB file: buffer and picture inside.
    fn to_binary(&self) -> Vec<u8> {
        let (mut document, mut data) = (self.document.clone(), self.data.clone());
        let views = document["bufferViews"].as_array_mut();
        let views = views.expect("a list by construction");
        document["images"] = json!([{ "bufferView": views.len(), "mimeType": "image/png" }]);
        let view = json!({
            "buffer": 0, "byteOffset": data.len(), "byteLength": self.picture.len(),
        });
        document["bufferViews"]
            .as_array_mut()
            .expect("a list")
            .push(view);
        data.extend(&self.picture);
        data.resize(data.len().next_multiple_of(4), 0);
        document["buffers"] = json!([{ "byteLength": data.len() }]);
        let mut text = document.to_string().into_bytes();
        text.resize(text.len().next_multiple_of(4), b' ');
        let mut bytes = b"glTF".to_vec();
        let length = 12 + 8 + text.len() + 8 + data.len();
        for number in [2, length as u32, text.len() as u32] {
            bytes.extend(number.to_le_bytes());
        }
        bytes.extend(b"JSON");
        bytes.extend(text);
        bytes.extend((data.len() as u32).to_le_bytes());
        bytes.extend(b"BIN\0");
        bytes.extend(data);
        bytes
    }

    fn finish(mut self, name: &str, rest: Value) -> Self {
        let length = self.data.len();
        self.document["buffers"] = json!([{ "uri": format!("{name}.bin"), "byteLength": length }]);
        for (key, value) in rest.as_object().into_iter().flatten() {
            self.document[key] = value.clone();
        }
        self
    }
}

fn floats(vectors: &[DVec3]) -> Vec<f32> {
    vectors
        .iter()
        .flat_map(|v| v.as_vec3().to_array())
        .collect()
}

/// White porcelain with blue bands, stars between them.
fn bands() -> Vec<u8> {
    const SIZE: usize = 256;
    let mut image = Image::new(SIZE, SIZE, Colour::from_srgb(238, 236, 228));
    let blue = Colour::from_srgb(35, 70, 150);
    for y in 0..SIZE {
        for x in 0..SIZE {
            let (u, v) = (x as f64 / SIZE as f64, y as f64 / SIZE as f64);
            let band = [0.08, 0.12, 0.4, 0.44]
                .iter()
                .any(|at| (v - at).abs() < 0.012);
            let cell = DVec2::new((u * 10.0).fract() - 0.5, (v - 0.31) * 14.0);
            let angle = cell.y.atan2(cell.x);
            let star = cell.length() < 0.3 + 0.12 * (6.0 * angle).cos();
            if band || star {
                image.set(x, y, blue);
            }
        }
    }
    image.to_png().expect("a small picture")
}

fn vase() -> Made {
    /// Points of the profile, and of a turn.
    const ALONG: usize = 56;
    const AROUND: usize = 64;
    // From the middle of the foot, up outside, over the rim, down inside.
    let radius = |h: f64| 0.065 + 0.022 * (1.4 * PI * h + 0.3).sin();
    let profile = |s: f64| -> DVec2 {
        let (height, wall, floor) = (0.2, 0.028, 0.035);
        match s {
            s if s < 0.1 => DVec2::new(radius(0.0) * s / 0.1, 0.0),
            s if s < 0.5 => {
                let h = (s - 0.1) / 0.4;
                DVec2::new(radius(h), height * h)
            }
            s if s < 0.6 => {
                let turn = PI * (s - 0.5) / 0.1;
                let middle = radius(1.0) - 0.5 * wall;
                DVec2::new(
                    middle + 0.5 * wall * turn.cos(),
                    height + 0.5 * wall * turn.sin(),
                )
            }
            s if s < 0.92 => {
                let h = 1.0 - (s - 0.6) / 0.32 * (1.0 - floor / height);
                DVec2::new(radius(h) - wall, height * h)
            }
            s => {
                let inner = radius(floor / height) - wall;
                DVec2::new(inner * (1.0 - (s - 0.92) / 0.08).max(0.0), floor)
            }
        }
    };
    let (mut positions, mut normals, mut uvs, mut triangles) = (vec![], vec![], vec![], vec![]);
    for j in 0..=ALONG {
        let s = j as f64 / ALONG as f64;
        let at = profile(s);
        let ahead = profile((s + 1e-3).min(1.0)) - profile((s - 1e-3).max(0.0));
        let normal = DVec2::new(ahead.y, -ahead.x).normalize_or(DVec2::Y);
        for i in 0..=AROUND {
            let u = i as f64 / AROUND as f64;
            // The last column is at the same place as the first, bit for bit.
            let angle = 2.0 * PI * (i % AROUND) as f64 / AROUND as f64;
            let (sin, cos) = angle.sin_cos();
            let radius = if j == 0 || j == ALONG { 0.0 } else { at.x };
            positions.push(DVec3::new(radius * cos, at.y, radius * sin));
            normals.push(DVec3::new(normal.x * cos, normal.y, normal.x * sin));
            uvs.extend([u as f32, s as f32]);
        }
    }
    let at = |j: usize, i: usize| (j * (AROUND + 1) + i) as u32;
    for j in 0..ALONG {
        for i in 0..AROUND {
            let [a, b, c, d] = [at(j, i), at(j, i + 1), at(j + 1, i + 1), at(j + 1, i)];
            // Round the axis there are no squares, but triangles.
            if j > 0 {
                triangles.push([a, d, b]);
            }
            if j + 1 < ALONG {
                triangles.push([b, d, c]);
            }
        }
    }
    let mut made = Made::new("vase", bands());
    let primitive = json!({
        "attributes": {
            "POSITION": made.floats(3, &floats(&positions)),
            "NORMAL": made.floats(3, &floats(&normals)),
            "TEXCOORD_0": made.floats(2, &uvs),
        },
        "indices": made.indices(&triangles),
        "material": 0,
    });
    made.finish(
        "vase",
        json!({
            "materials": [{ "name": "porcelain", "pbrMetallicRoughness": {
                "baseColorTexture": { "index": 0 }, "metallicFactor": 0.0,
                "roughnessFactor": 0.35 } }],
            "meshes": [{ "name": "vase", "primitives": [primitive] }],
            "nodes": [{ "name": "vase", "mesh": 0 }],
            "scenes": [{ "nodes": [0] }],
        }),
    )
}

/// A chessboard of two browns.
fn chessboard() -> Vec<u8> {
    let mut image = Image::new(64, 64, Colour::from_srgb(150, 105, 60));
    for y in 0..64 {
        for x in 0..64 {
            if (x / 8 + y / 8) % 2 == 0 {
                image.set(x, y, Colour::from_srgb(205, 170, 120));
            }
        }
    }
    image.to_png().expect("a small picture")
}

fn painted_box() -> Made {
    const DIVISIONS: usize = 4;
    let size = DVec3::new(0.3, 0.2, 0.25);
    let mut made = Made::new("box", chessboard());
    let mut primitives = Vec::new();
    // The side that faces up has colours; all others have the texture.
    for top in [false, true] {
        let (mut positions, mut normals, mut triangles) = (vec![], vec![], vec![]);
        let (mut tangents, mut uvs, mut others, mut colours) = (vec![], vec![], vec![], vec![]);
        for (axis, side) in (0..6).map(|k| (k / 2, k % 2)) {
            if ((axis, side) == (1, 1)) != top {
                continue;
            }
            let first = positions.len() as u32;
            let sign = if side == 1 { 1.0 } else { -1.0 };
            let (along, up) = ((axis + 1) % 3, (axis + 2) % 3);
            for j in 0..=DIVISIONS {
                for i in 0..=DIVISIONS {
                    let [u, v] = [i, j].map(|k| k as f64 / DIVISIONS as f64);
                    let (mut p, mut normal, mut tangent) = ([0.0; 3], [0.0; 3], [0.0_f32; 3]);
                    p[axis] = 0.5 * sign * size[axis];
                    p[along] = (u - 0.5) * size[along];
                    p[up] = (v - 0.5) * size[up];
                    (normal[axis], tangent[along]) = (sign, 1.0);
                    positions.push(DVec3::from_array(p));
                    normals.push(DVec3::from_array(normal));
                    let [x, y, z] = tangent;
                    tangents.extend([x, y, z, sign as f32]);
                    uvs.extend([u as f32, v as f32]);
                    others.extend([(0.5 * u + 0.25) as f32, (axis as f64 + v) as f32]);
                    colours.extend([u as f32, 0.4, v as f32, 1.0]);
                }
            }
            let at = |i: usize, j: usize| first + (j * (DIVISIONS + 1) + i) as u32;
            for j in 0..DIVISIONS {
                for i in 0..DIVISIONS {
                    let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
                    match side {
                        1 => triangles.extend([[a, b, c], [a, c, d]]),
                        _ => triangles.extend([[a, c, b], [a, d, c]]),
                    }
                }
            }
        }
        let mut attributes = json!({
            "POSITION": made.floats(3, &floats(&positions)),
            "NORMAL": made.floats(3, &floats(&normals)),
        });
        if top {
            attributes["COLOR_0"] = made.floats(4, &colours);
        } else {
            attributes["TANGENT"] = made.floats(4, &tangents);
            attributes["TEXCOORD_0"] = made.floats(2, &uvs);
            attributes["TEXCOORD_1"] = made.floats(2, &others);
        }
        let indices = made.indices(&triangles);
        primitives.push(json!({
            "attributes": attributes, "indices": indices, "material": usize::from(top),
        }));
    }
    made.finish(
        "box",
        json!({
            "materials": [
                { "name": "wood", "pbrMetallicRoughness": {
                    "baseColorTexture": { "index": 0, "texCoord": 1 },
                    "metallicFactor": 0.0 } },
                { "name": "paint", "pbrMetallicRoughness": { "metallicFactor": 0.0 } },
            ],
            "meshes": [{ "name": "box", "primitives": primitives }],
            "nodes": [
                { "name": "place", "children": [1],
                    "rotation": [0.0, 0.6, 0.0, 0.8], "translation": [0.1, 0.2, 0.0] },
                { "name": "mirror", "mesh": 0, "scale": [-1.0, 1.0, 1.0] },
            ],
            "scenes": [{ "nodes": [0] }],
        }),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use fracas_bake::model::Model;
    use fracas_bake::{Mesh, inspect_surface};

    #[test]
    fn a_model_is_the_same_with_files_beside_it_and_in_one() {
        for made in in_memory() {
            let mut beside = |name: &str| {
                let found = made.beside.iter().find(|(n, _)| n == name);
                Ok(found.expect("a file it names").1.clone())
            };
            let apart = Model::read_bytes("a.gltf", &made.document, &mut beside).unwrap();
            let whole = Model::read_bytes("a.glb", &made.binary, &mut |_| unreachable!()).unwrap();
            assert_eq!(apart.parts(), whole.parts());
            assert_eq!(apart.images()[0].bytes, whole.images()[0].bytes);
            assert_eq!(whole.warnings(), [""; 0]);
        }
    }

    #[test]
    fn the_models_are_closed_and_have_all_they_name() {
        let folder = std::env::temp_dir().join(format!("fracas-made-{}", std::process::id()));
        for (name, path) in make(&folder).unwrap() {
            let model = Model::read(&path).unwrap();
            assert_eq!(model.warnings(), [""; 0], "{name}");
            assert!(model.images()[0].bytes.starts_with(b"\x89PNG"), "{name}");
            let Mesh::Surface(surface, repairs) = fracas_bake::read(&path).unwrap() else {
                panic!("{name} is a surface")
            };
            let report = inspect_surface(&surface);
            assert_eq!(report.boundary_edges, 0, "{name}: {repairs}");
            assert_eq!(report.self_intersections, 0, "{name}");
            assert!(report.volume > 1e-4, "{name}: {}", report.volume);
        }
        fs::remove_dir_all(folder).unwrap();
    }
}
