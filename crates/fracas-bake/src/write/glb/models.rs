//! Pieces of models in a [`Glb`], with the materials, textures and attributes that the
//! models had.

use serde_json::{Value, json};

use super::{Glb, GlbError, MaterialId, MeshId, Part, VERTICES};
use crate::model::Model;
use crate::model::pieces::Buffers;
use crate::model::write::usable;

/// The materials of a model in a [`Glb`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Looks {
    first: u32,
    count: u32,
}

impl Glb {
    /// Adds the materials, textures and pictures of a model; others may be there already.
    pub fn looks(&mut self, model: &Model) -> Looks {
        let list = |key: &str| model.document()[key].as_array().cloned();
        let materials = list("materials").unwrap_or_default();
        let looks = Looks {
            first: self.materials.len() as u32,
            count: materials.len() as u32,
        };
        let required = list("extensionsRequired").unwrap_or_default();
        let (textures, samplers) = (self.textures.len(), self.texture_samplers.len());
        let images = self.images.len();
        for mut material in materials {
            self.note_extensions(&material, &required);
            shift(&mut material, &|key, within| {
                (key == "index" && within.ends_with("Texture")).then_some(textures)
            });
            self.materials.push(material);
        }
        for mut texture in list("textures").unwrap_or_default() {
            self.note_extensions(&texture, &required);
            shift(&mut texture, &|key, _| match key {
                "source" => Some(images),
                "sampler" => Some(samplers),
                _ => None,
            });
            self.textures.push(texture);
        }
        self.texture_samplers
            .extend(list("samplers").unwrap_or_default());
        for image in model.images() {
            // One that is missing stays missing, by its name.
            let entry = if image.bytes.is_empty() {
                json!({ "uri": image.name })
            } else {
                let start = self.bytes.len();
                self.bytes.extend(&image.bytes);
                let view = self.view(start, None);
                let padded = self.bytes.len().next_multiple_of(4);
                self.bytes.resize(padded, 0);
                json!({ "name": image.name, "mimeType": image.mime, "bufferView": view })
            };
            self.images.push(entry);
        }
        looks
    }

    /// Adds a mesh: a piece of a model, its cracks in `crack`, what has no material in
    /// `bare`.
    ///
    /// # Errors
    /// See [`GlbError`]; nothing is added then.
    pub fn piece(
        &mut self,
        name: &str,
        surfaces: &[Buffers],
        looks: Looks,
        [bare, crack]: [MaterialId; 2],
    ) -> Result<MeshId, GlbError> {
        let full = surfaces.iter().filter(|s| !s.triangles.is_empty());
        let parts: Vec<(&Buffers, Part<'_>)> = full
            .map(|surface| {
                let own = surface.material.filter(|&m| m < looks.count as usize);
                let material = match own {
                    _ if surface.is_crack => crack,
                    Some(material) => MaterialId(looks.first + material as u32),
                    None => bare,
                };
                let part = Part::new(&surface.positions, &surface.triangles, material);
                (surface, part)
            })
            .collect();
        for (_, part) in &parts {
            self.check_part(name, part)?;
        }
        let primitives: Vec<Value> = parts
            .iter()
            .map(|(surface, part)| self.worn(surface, part))
            .collect();
        if primitives.is_empty() {
            return Err(GlbError::Empty {
                what: "mesh",
                name: name.into(),
            });
        }
        self.meshes
            .push(json!({ "name": name, "primitives": primitives }));
        Ok(MeshId(self.meshes.len() as u32 - 1))
    }

    fn worn(&mut self, surface: &Buffers, part: &Part<'_>) -> Value {
        let mut primitive = self.primitive(part);
        for attribute in &surface.attributes {
            let kind = ["SCALAR", "VEC2", "VEC3", "VEC4"][(attribute.width - 1).min(3)];
            let values = usable(attribute).into_iter();
            let accessor = self.floats(values, kind, Some(VERTICES));
            primitive["attributes"][&attribute.name] = json!(accessor);
        }
        primitive
    }

    fn note_extensions(&mut self, value: &Value, required: &[Value]) {
        if let Some(names) = value["extensions"].as_object() {
            for name in names.keys() {
                let must = required.iter().any(|r| r == name);
                self.extensions.insert(name.clone(), must);
            }
        }
        let inner: Vec<&Value> = match value {
            Value::Object(map) => map.values().collect(),
            Value::Array(list) => list.iter().collect(),
            _ => return,
        };
        for value in inner {
            self.note_extensions(value, required);
        }
    }
}

/// Adds to numbers in a document that name entries of another list: `by` is asked with the
/// key of a number and the key of what holds it.
fn shift(value: &mut Value, by: &dyn Fn(&str, &str) -> Option<usize>) {
    fn walk(value: &mut Value, within: &str, by: &dyn Fn(&str, &str) -> Option<usize>) {
        match value {
            Value::Object(map) => {
                for (key, inner) in map {
                    match (inner.as_u64(), by(key, within)) {
                        (Some(number), Some(shift)) => *inner = json!(number + shift as u64),
                        _ => walk(inner, key, by),
                    }
                }
            }
            Value::Array(list) => list.iter_mut().for_each(|v| walk(v, within, by)),
            _ => {}
        }
    }
    walk(value, "", by);
}

#[cfg(test)]
mod tests {
    use super::super::{Material, Place};
    use super::*;
    use crate::model::Attribute;
    use glam::Vec3;

    /// A model of one triangle: a texture of its own, another in an extension.
    fn model(mark: u8) -> Model {
        let document = json!({
            "asset": { "version": "2.0" },
            "scene": 0, "scenes": [{ "nodes": [0] }], "nodes": [{ "mesh": 0 }],
            "meshes": [{ "primitives": [{ "attributes": { "POSITION": 0 }, "material": 1 }] }],
            "materials": [{}, {
                "pbrMetallicRoughness": { "baseColorTexture": { "index": 1, "texCoord": 1,
                    "extensions": { "KHR_texture_transform": { "rotation": 1 } } } },
                "extensions": { "KHR_materials_clearcoat": { "clearcoatTexture": { "index": 0, "texCoord": 1 } } },
            }],
            "textures": [{ "source": 0, "sampler": 0 }, { "source": 0 }],
            "samplers": [{ "wrapS": 33071 }],
            "images": [{ "name": "picture", "bufferView": 1, "mimeType": "image/png" }],
            "extensionsUsed": ["KHR_texture_transform", "KHR_materials_clearcoat", "KHR_lights"],
            "extensionsRequired": ["KHR_texture_transform"],
            "accessors": [{ "bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3",
                "min": [0, 0, 0], "max": [1, 1, 0] }],
            "bufferViews": [
                { "buffer": 0, "byteLength": 36 },
                { "buffer": 0, "byteOffset": 36, "byteLength": 9 },
            ],
            "buffers": [{ "uri": "a.bin", "byteLength": 45 }],
        });
        let numbers = [0.0_f32, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0];
        let mut bytes: Vec<u8> = numbers.iter().flat_map(|v| v.to_le_bytes()).collect();
        bytes.extend(b"\x89PNG\r\n\x1a\n");
        bytes.push(mark);
        let text = document.to_string();
        Model::read_bytes("a.gltf", text.as_bytes(), &mut |_| Ok(bytes.clone())).unwrap()
    }

    #[test]
    fn two_models_keep_their_own_textures_in_one_file() {
        let mut glb = Glb::new();
        let crack = glb.material(&Material::new("crack", [0.5; 4]));
        let plain = glb.material(&Material::new("plain", [0.9; 4]));
        for mark in [7, 9] {
            let model = model(mark);
            let looks = glb.looks(&model);
            let outside = Buffers {
                material: Some(1),
                positions: vec![Vec3::ZERO, Vec3::X, Vec3::Y],
                triangles: vec![[0, 1, 2]],
                attributes: vec![Attribute {
                    name: "TEXCOORD_1".into(),
                    width: 2,
                    values: vec![f32::from(mark); 6],
                }],
                ..Buffers::default()
            };
            let cracked = Buffers {
                material: None,
                is_crack: true,
                attributes: Vec::new(),
                ..outside.clone()
            };
            let bare = Buffers {
                material: None,
                ..outside.clone()
            };
            let mesh = glb
                .piece("piece", &[outside, bare, cracked], looks, [plain, crack])
                .unwrap();
            glb.node("piece", Some(mesh), Place::default()).unwrap();
        }
        let bytes = glb.to_bytes().unwrap();
        let again = Model::read_bytes("b.glb", &bytes, &mut |name| panic!("{name}")).unwrap();
        assert_eq!(again.warnings(), [""; 0]);
        let document = again.document();
        assert_eq!(
            document["extensionsUsed"],
            json!(["KHR_materials_clearcoat", "KHR_texture_transform"])
        );
        assert_eq!(
            document["extensionsRequired"],
            json!(["KHR_texture_transform"])
        );
        for (i, mark) in [7, 9].into_iter().enumerate() {
            let [outside, bare, cracked] = &again.parts()[3 * i..3 * i + 3] else {
                panic!("three parts a piece")
            };
            assert_eq!((bare.material, cracked.material), (Some(1), Some(0)));
            assert_eq!(outside.attributes[0].values, [f32::from(mark); 6]);
            let material = &document["materials"][outside.material.unwrap()];
            let base = &material["pbrMetallicRoughness"]["baseColorTexture"];
            assert_eq!(base["texCoord"], 1);
            let coat = &material["extensions"]["KHR_materials_clearcoat"]["clearcoatTexture"];
            for (texture, sampler) in [(base, None), (coat, Some(i))] {
                let texture = &document["textures"][texture["index"].as_u64().unwrap() as usize];
                assert_eq!(texture["sampler"].as_u64(), sampler.map(|s| s as u64));
                let image = &again.images()[texture["source"].as_u64().unwrap() as usize];
                assert_eq!(image.bytes.last(), Some(&mark));
            }
        }
    }
}
