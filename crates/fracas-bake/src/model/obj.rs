//! Wavefront OBJ with its MTL: one part for each material, texture coordinates and
//! normals as given, materials as glTF has them.
//!
//! | MTL | here |
//! | --- | --- |
//! | `Kd`, `d` (or `Tr`), `map_Kd` | base colour and its texture |
//! | `Ns` | roughness: sqrt(2 / (Ns + 2)) (Blinn-Phong, Walter 2007) |
//! | `Pr`, `Pm` | roughness, metallic |
//! | `Ke`, `map_Ke` | emission |
//! | `norm` | normal map |
//!
//! Other lines change nothing. Instead of the name of a file beside it, a data URI will do:
//! so an OBJ can hold its materials, and those their pictures, as glTF can.

use std::collections::{BTreeMap, HashMap};

use glam::DMat4;
use serde_json::{Value, json};

use super::gltf::{embedded, mime_of};
use super::{Attribute, Model, ModelImage, ModelPart};
use crate::error::ReadError;
use crate::read::beside::path_below;
use crate::read::obj_model::{ObjModel, read_model};

type Result<T> = std::result::Result<T, ReadError>;

pub(super) fn read(
    stem: &str,
    bytes: &[u8],
    beside: &mut dyn FnMut(&str) -> Result<Vec<u8>>,
) -> Result<Model> {
    let obj = read_model(bytes)?;
    let mut warnings = Vec::new();
    let mut looks = Looks::default();
    for library in &obj.libraries {
        match embedded(library).or_else(|| beside_or_below(library, beside)) {
            Some(text) => looks.read_library(&String::from_utf8_lossy(&text)),
            None if library.starts_with("data:") => {
                warnings.push("the materials in it cannot be read: they stay grey".into());
            }
            None => warnings.push(format!(
                "the material file `{library}` cannot be read: its materials stay grey"
            )),
        }
    }
    let images = looks.read_images(beside, &mut warnings);
    let parts = parts(&obj, &mut looks);
    let mut document = json!({
        "scene": 0, "scenes": [{ "nodes": [0] }], "nodes": [{ "name": stem }],
    });
    let materials: Vec<Value> = looks.materials.iter().map(|m| m.json.clone()).collect();
    for (key, list) in [
        ("materials", materials),
        (
            "textures",
            (0..images.len()).map(|i| json!({ "source": i })).collect(),
        ),
    ] {
        if !list.is_empty() {
            document[key] = Value::Array(list);
        }
    }
    Ok(Model {
        parts,
        document,
        images,
        warnings,
    })
}

struct Look {
    name: String,
    json: Value,
}

#[derive(Default)]
struct Looks {
    materials: Vec<Look>,
    /// Files of pictures, in the order of their textures.
    files: Vec<String>,
}

impl Looks {
    fn material(&mut self, name: &str) -> usize {
        let known = self.materials.iter().position(|m| m.name == name);
        known.unwrap_or_else(|| {
            self.materials.push(Look {
                name: name.into(),
                json: json!({ "name": name, "pbrMetallicRoughness": {
                    "metallicFactor": 0.0, "roughnessFactor": 0.8 } }),
            });
            self.materials.len() - 1
        })
    }

    fn texture(&mut self, file: &str) -> usize {
        let known = self.files.iter().position(|f| f == file);
        known.unwrap_or_else(|| {
            self.files.push(file.into());
            self.files.len() - 1
        })
    }

    fn read_library(&mut self, text: &str) {
        let mut current = None;
        for line in text.lines() {
            let line = line.split('#').next().unwrap_or_default().trim();
            let (keyword, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
            let rest = rest.trim();
            if keyword == "newmtl" {
                current = Some(self.material(rest));
                continue;
            }
            let Some(material) = current else {
                continue;
            };
            let numbers: Vec<f64> = rest
                .split_whitespace()
                .map_while(|w| w.parse().ok())
                .collect();
            // Options before the file begin with a dash and end at the last word; without
            // them a name may have spaces.
            let last = rest.split_whitespace().last().unwrap_or_default();
            let file = match rest.starts_with('-') || last.starts_with("data:") {
                true => last,
                false => rest,
            };
            let texture = |looks: &mut Self| json!({ "index": looks.texture(file) });
            let value = match keyword {
                "map_Kd" | "map_Ke" | "norm" if !file.is_empty() => Some(texture(self)),
                _ => None,
            };
            let json = &mut self.materials[material].json;
            let unit = |v: f64| v.clamp(0.0, 1.0);
            match (keyword, &numbers[..]) {
                ("Kd", [r, g, b, ..]) => {
                    let alpha = json["pbrMetallicRoughness"]["baseColorFactor"][3].as_f64();
                    let alpha = alpha.unwrap_or(1.0);
                    json["pbrMetallicRoughness"]["baseColorFactor"] =
                        json!([unit(*r), unit(*g), unit(*b), alpha]);
                }
                ("d" | "Tr", [v, ..]) => {
                    let alpha = if keyword == "d" {
                        unit(*v)
                    } else {
                        1.0 - unit(*v)
                    };
                    let mut colour = json["pbrMetallicRoughness"]["baseColorFactor"].clone();
                    if !colour.is_array() {
                        colour = json!([1.0, 1.0, 1.0, 1.0]);
                    }
                    colour[3] = json!(alpha);
                    json["pbrMetallicRoughness"]["baseColorFactor"] = colour;
                    if alpha < 1.0 {
                        json["alphaMode"] = json!("BLEND");
                    }
                }
                ("Ns", [v, ..]) => {
                    let roughness = (2.0 / (v.max(0.0) + 2.0)).sqrt();
                    json["pbrMetallicRoughness"]["roughnessFactor"] = json!(roughness);
                }
                ("Pr", [v, ..]) => {
                    json["pbrMetallicRoughness"]["roughnessFactor"] = json!(unit(*v))
                }
                ("Pm", [v, ..]) => json["pbrMetallicRoughness"]["metallicFactor"] = json!(unit(*v)),
                ("Ke", [r, g, b, ..]) => {
                    json["emissiveFactor"] = json!([unit(*r), unit(*g), unit(*b)]);
                }
                _ => {}
            }
            if let Some(value) = value {
                match keyword {
                    "map_Kd" => json["pbrMetallicRoughness"]["baseColorTexture"] = value,
                    "map_Ke" => json["emissiveTexture"] = value,
                    _ => json["normalTexture"] = value,
                }
            }
        }
    }

    fn read_images(
        &self,
        beside: &mut dyn FnMut(&str) -> Result<Vec<u8>>,
        warnings: &mut Vec<String>,
    ) -> Vec<ModelImage> {
        let mut images = Vec::new();
        for file in &self.files {
            let is_data = file.starts_with("data:");
            let name = if is_data {
                format!("picture {}", images.len() + 1)
            } else {
                file.clone()
            };
            let bytes = match is_data {
                true => embedded(file),
                false => beside_or_below(file, beside),
            };
            let bytes = bytes.unwrap_or_else(|| {
                warnings.push(format!(
                    "the picture `{name}` cannot be read: its textures stay empty"
                ));
                Vec::new()
            });
            images.push(ModelImage {
                name,
                mime: mime_of(&bytes).to_owned(),
                bytes,
            });
        }
        images
    }
}

/// A file beside the model or below its folder, where it is there.
fn beside_or_below(name: &str, beside: &mut dyn FnMut(&str) -> Result<Vec<u8>>) -> Option<Vec<u8>> {
    beside(&path_below(name)?).ok()
}

/// One part for each material, in the order of their first faces.
fn parts(obj: &ObjModel, looks: &mut Looks) -> Vec<ModelPart> {
    let mut order: Vec<Option<u32>> = Vec::new();
    let mut by_material: BTreeMap<Option<u32>, Vec<&[[u32; 3]; 3]>> = BTreeMap::new();
    for (material, face) in &obj.faces {
        if !by_material.contains_key(material) {
            order.push(*material);
        }
        by_material.entry(*material).or_default().push(face);
    }
    const NOTHING: u32 = u32::MAX;
    let mut parts = Vec::new();
    for key in order {
        let faces = &by_material[&key];
        let material = key.map(|k| looks.material(&obj.materials[k as usize]));
        let all = || faces.iter().flat_map(|f| f.iter());
        let (has_uvs, has_normals) = (
            all().any(|c| c[1] != NOTHING),
            all().any(|c| c[2] != NOTHING),
        );
        let mut vertices: HashMap<[u32; 3], u32> = HashMap::new();
        let (mut positions, mut uvs, mut normals) = (Vec::new(), Vec::new(), Vec::new());
        let mut triangles = Vec::new();
        for face in faces {
            triangles.push(face.map(|corner| {
                *vertices.entry(corner).or_insert_with(|| {
                    positions.push(obj.positions[corner[0] as usize]);
                    // The first row of an OBJ's picture is its lowest, of glTF's its highest.
                    let uv = obj
                        .uvs
                        .get(corner[1] as usize)
                        .copied()
                        .unwrap_or([0.0, 1.0]);
                    uvs.extend([uv[0], 1.0 - uv[1]]);
                    let normal = obj.normals.get(corner[2] as usize).copied();
                    normals.extend(normal.unwrap_or([0.0; 3]));
                    positions.len() as u32 - 1
                })
            }));
        }
        let mut attributes = Vec::new();
        if has_normals {
            attributes.push(Attribute {
                name: "NORMAL".into(),
                width: 3,
                values: normals,
            });
        }
        if has_uvs {
            attributes.push(Attribute {
                name: "TEXCOORD_0".into(),
                width: 2,
                values: uvs,
            });
        }
        parts.push(ModelPart {
            node: 0,
            material,
            placed: DMat4::IDENTITY,
            positions,
            triangles,
            attributes,
        });
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{Place, ReadErrorKind};

    const TRIANGLE: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nusemtl red\nf 1/1 2/1 3/1\n";
    /// `newmtl red`, `Kd 1 0 0`, `map_Kd` of eight bytes with which every PNG begins.
    const RED: &str =
        "bmV3bXRsIHJlZApLZCAxIDAgMAptYXBfS2QgZGF0YTppbWFnZS9wbmc7YmFzZTY0LGlWQk9SdzBLR2dvPQo=";

    fn read_alone(text: &str) -> Model {
        let mut beside = |name: &str| {
            Err(ReadError::new(
                ReadErrorKind::Io,
                Place::File,
                format!("{name} was asked for"),
                "nothing",
            ))
        };
        read("triangle", text.as_bytes(), &mut beside).unwrap()
    }

    #[test]
    fn materials_and_pictures_may_be_in_the_file_itself() {
        let model = read_alone(&format!("mtllib data:;base64,{RED}\n{TRIANGLE}"));
        assert!(model.warnings.is_empty(), "{:?}", model.warnings);
        let red = &model.document["materials"][0];
        let colour = &red["pbrMetallicRoughness"]["baseColorFactor"];
        assert_eq!(colour, &json!([1.0, 0.0, 0.0, 1.0]));
        let texture = &red["pbrMetallicRoughness"]["baseColorTexture"]["index"];
        assert_eq!(texture, &json!(0));
        assert_eq!(model.images[0].bytes, b"\x89PNG\r\n\x1a\n");
        assert_eq!(model.images[0].name, "picture 1");
    }

    #[test]
    fn what_is_no_data_is_told_in_a_few_words() {
        for uri in ["data:", "data:;base64,%%%", "data:text/plain,red"] {
            let model = read_alone(&format!("mtllib {uri}\n{TRIANGLE}"));
            assert_eq!(model.warnings.len(), 1, "{uri}: {:?}", model.warnings);
            assert!(model.warnings[0].contains("stay grey"));
        }
    }
}
