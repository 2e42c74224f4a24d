//! glTF 2.0 with all that belongs to looks.
//!
//! The document is kept as JSON; geometry and pictures are taken out of the buffers.

use std::collections::HashSet;

use glam::{DMat4, DQuat, DVec3};
use serde_json::Value;

use super::{Attribute, Model, ModelImage, ModelPart};
use crate::error::{Place, ReadError, ReadErrorKind};
use crate::read::beside::path_below;
use crate::read::gltf::{base64, document_and_blob, percent_decoded, triangles_of};

type Result<T> = std::result::Result<T, ReadError>;

fn damaged(what: &'static str, index: usize, reason: impl Into<String>) -> ReadError {
    ReadError::new(
        ReadErrorKind::Syntax,
        Place::Element { what, index },
        reason,
        "the file is damaged: export it again",
    )
}

pub(super) fn read(bytes: &[u8], beside: &mut dyn FnMut(&str) -> Result<Vec<u8>>) -> Result<Model> {
    let (document, blob): (Value, _) = document_and_blob(bytes)?;
    let mut reader = Reader {
        buffers: Vec::new(),
        warnings: Vec::new(),
        parts: Vec::new(),
        budget: 0,
        document,
    };
    reader.read_buffers(blob, beside)?;
    // What a file may make: a few times its own size.
    reader.budget = 8 * (bytes.len() + reader.buffers.iter().map(Vec::len).sum::<usize>());
    reader.read_scene()?;
    let images = reader.read_images(beside);
    reader.warn_of_what_is_left_out();
    let mut document = reader.document;
    for key in [
        "accessors",
        "bufferViews",
        "buffers",
        "meshes",
        "animations",
        "skins",
        "images",
    ] {
        if let Some(map) = document.as_object_mut() {
            map.remove(key);
        }
    }
    for node in list_mut(&mut document, "nodes") {
        if let Some(map) = node.as_object_mut() {
            map.remove("mesh");
            map.remove("skin");
            map.remove("weights");
        }
    }
    Ok(Model {
        parts: reader.parts,
        document,
        images,
        warnings: reader.warnings,
    })
}

/// A list of the document; empty where there is none.
pub(super) fn list<'a>(document: &'a Value, key: &str) -> &'a [Value] {
    document[key].as_array().map_or(&[], Vec::as_slice)
}

fn list_mut<'a>(document: &'a mut Value, key: &str) -> &'a mut [Value] {
    document
        .get_mut(key)
        .and_then(Value::as_array_mut)
        .map_or(&mut [], Vec::as_mut_slice)
}

fn index(value: &Value) -> Option<usize> {
    value.as_u64().and_then(|v| usize::try_from(v).ok())
}

/// The transformation of a node.
pub(super) fn matrix_of(node: &Value) -> DMat4 {
    let numbers = |key: &str, count: usize| -> Option<Vec<f64>> {
        let list = node[key].as_array()?;
        let all: Option<Vec<f64>> = list.iter().map(Value::as_f64).collect();
        all.filter(|all| all.len() == count)
    };
    if let Some(m) = numbers("matrix", 16) {
        return DMat4::from_cols_slice(&m);
    }
    let t = numbers("translation", 3).map_or(DVec3::ZERO, |t| DVec3::from_slice(&t));
    let s = numbers("scale", 3).map_or(DVec3::ONE, |s| DVec3::from_slice(&s));
    let r = numbers("rotation", 4).map_or(DQuat::IDENTITY, |r| DQuat::from_slice(&r));
    DMat4::from_scale_rotation_translation(s, r, t)
}

struct Reader {
    document: Value,
    buffers: Vec<Vec<u8>>,
    parts: Vec<ModelPart>,
    warnings: Vec<String>,
    budget: usize,
}

impl Reader {
    fn read_buffers(
        &mut self,
        blob: Option<&[u8]>,
        beside: &mut dyn FnMut(&str) -> Result<Vec<u8>>,
    ) -> Result<()> {
        let mut blob = blob;
        for (i, buffer) in list(&self.document, "buffers").iter().enumerate() {
            let bytes = match buffer["uri"].as_str() {
                None => blob
                    .take()
                    .ok_or_else(|| damaged("buffer", i, "the buffer has no data"))?
                    .to_vec(),
                Some(uri) => {
                    data_of(uri, beside).map_err(|e| damaged("buffer", i, e.to_string()))?
                }
            };
            self.buffers.push(bytes);
        }
        Ok(())
    }

    /// The bytes of a view.
    fn view(&self, view: usize) -> Option<(&[u8], usize)> {
        let view = list(&self.document, "bufferViews").get(view)?;
        let buffer = self.buffers.get(index(&view["buffer"])?)?;
        let start = index(&view["byteOffset"]).unwrap_or(0);
        let length = index(&view["byteLength"])?;
        let data = buffer.get(start..start.checked_add(length)?)?;
        Some((data, index(&view["byteStride"]).unwrap_or(0)))
    }

    /// The numbers of an accessor; integers that are normalised as fractions.
    fn accessor(&self, number: usize) -> Result<(usize, Vec<f32>)> {
        let fault = |reason: &str| damaged("accessor", number, reason);
        let accessor = list(&self.document, "accessors")
            .get(number)
            .ok_or_else(|| fault("there is no such accessor"))?;
        if !accessor["sparse"].is_null() {
            return Err(ReadError::new(
                ReadErrorKind::Unsupported,
                Place::Element {
                    what: "accessor",
                    index: number,
                },
                "sparse accessors are not read",
                "export without sparse accessors",
            ));
        }
        let width = match accessor["type"].as_str() {
            Some("SCALAR") => 1,
            Some("VEC2") => 2,
            Some("VEC3") => 3,
            Some("VEC4") => 4,
            _ => return Err(fault("its type is not a number or vector")),
        };
        let kind = accessor["componentType"].as_u64().unwrap_or(0);
        let size = match kind {
            5120 | 5121 => 1,
            5122 | 5123 => 2,
            5125 | 5126 => 4,
            _ => return Err(fault("its component type is not known")),
        };
        let count = index(&accessor["count"]).ok_or_else(|| fault("it has no count"))?;
        let normalised = accessor["normalized"].as_bool().unwrap_or(false);
        let Some(view) = index(&accessor["bufferView"]) else {
            // Zeros by definition; never more than the file could hold.
            if count.saturating_mul(width) > self.budget {
                return Err(fault("it promises more numbers than the file could hold"));
            }
            return Ok((width, vec![0.0; count * width]));
        };
        let (data, stride) = self
            .view(view)
            .ok_or_else(|| fault("its view is missing"))?;
        let stride = if stride == 0 { size * width } else { stride };
        let start = index(&accessor["byteOffset"]).unwrap_or(0);
        let end = count
            .checked_sub(1)
            .map_or(Some(0), |last| last.checked_mul(stride))
            .and_then(|at| at.checked_add(start)?.checked_add(size * width));
        if count > 0 && end.is_none_or(|end| end > data.len()) {
            return Err(ReadError::new(
                ReadErrorKind::Truncated,
                Place::Element {
                    what: "accessor",
                    index: number,
                },
                format!("its {count} items do not fit in their buffer"),
                "the file is damaged or incomplete: export it again",
            ));
        }
        let mut values = Vec::with_capacity(count * width);
        for item in 0..count {
            for component in 0..width {
                let at = start + item * stride + component * size;
                let raw = &data[at..at + size];
                let (value, most) = match kind {
                    5120 => (f32::from(raw[0] as i8), 127.0),
                    5121 => (f32::from(raw[0]), 255.0),
                    5122 => (f32::from(i16::from_le_bytes([raw[0], raw[1]])), 32767.0),
                    5123 => (f32::from(u16::from_le_bytes([raw[0], raw[1]])), 65535.0),
                    5125 => (
                        u32::from_le_bytes([raw[0], raw[1], raw[2], raw[3]]) as f32,
                        u32::MAX as f32,
                    ),
                    _ => (f32::from_le_bytes([raw[0], raw[1], raw[2], raw[3]]), 1.0),
                };
                let value = if normalised && kind != 5126 {
                    (value / most).max(-1.0)
                } else {
                    value
                };
                values.push(value);
            }
        }
        Ok((width, values))
    }

    /// Indices, which may be larger than a float can name.
    fn indices(&self, number: usize) -> Result<Vec<u32>> {
        let fault = |reason: &str| damaged("accessor", number, reason);
        let accessor = &list(&self.document, "accessors")
            .get(number)
            .ok_or_else(|| fault("there is no such accessor"))?;
        if accessor["componentType"].as_u64() != Some(5125) {
            let (width, values) = self.accessor(number)?;
            if width != 1 {
                return Err(fault("indices are not single numbers"));
            }
            return Ok(values.into_iter().map(|v| v as u32).collect());
        }
        let view = index(&accessor["bufferView"]).ok_or_else(|| fault("it has no view"))?;
        let (data, stride) = self
            .view(view)
            .ok_or_else(|| fault("its view is missing"))?;
        let stride = if stride == 0 { 4 } else { stride };
        let start = index(&accessor["byteOffset"]).unwrap_or(0);
        let count = index(&accessor["count"]).unwrap_or(0);
        let mut all = Vec::new();
        for i in 0..count {
            let at = i.checked_mul(stride).and_then(|at| at.checked_add(start));
            let word = at.and_then(|at| data.get(at..at.checked_add(4)?));
            let word = word.ok_or_else(|| fault("its items do not fit in their buffer"))?;
            all.push(u32::from_le_bytes([word[0], word[1], word[2], word[3]]));
        }
        Ok(all)
    }

    fn read_scene(&mut self) -> Result<()> {
        let nodes = list(&self.document, "nodes");
        let scene = index(&self.document["scene"]).unwrap_or(0);
        let roots: Vec<usize> = match list(&self.document, "scenes").get(scene) {
            Some(scene) => list(scene, "nodes").iter().filter_map(index).collect(),
            None => {
                let children: HashSet<usize> = nodes
                    .iter()
                    .flat_map(|n| list(n, "children").iter().filter_map(index))
                    .collect();
                (0..nodes.len()).filter(|n| !children.contains(n)).collect()
            }
        };
        let mut stack: Vec<(usize, DMat4)> = roots
            .into_iter()
            .rev()
            .map(|n| (n, DMat4::IDENTITY))
            .collect();
        let mut seen = HashSet::new();
        let mut shown = Vec::new();
        while let Some((n, parent)) = stack.pop() {
            let node = nodes
                .get(n)
                .ok_or_else(|| damaged("node", n, "there is no such node"))?;
            if !seen.insert(n) {
                return Err(damaged(
                    "node",
                    n,
                    "the node hangs below two others, or itself",
                ));
            }
            let placed = parent * matrix_of(node);
            if let Some(mesh) = index(&node["mesh"]) {
                shown.push((n, mesh, placed));
            }
            let children = list(node, "children").iter().rev().filter_map(index);
            stack.extend(children.map(|child| (child, placed)));
        }
        for (node, mesh, placed) in shown {
            let primitives = list(&self.document, "meshes")
                .get(mesh)
                .map(|m| list(m, "primitives").to_vec())
                .ok_or_else(|| damaged("mesh", mesh, "there is no such mesh"))?;
            for primitive in &primitives {
                self.read_primitive(primitive, mesh, node, placed)?;
            }
        }
        Ok(())
    }

    fn read_primitive(
        &mut self,
        primitive: &Value,
        mesh: usize,
        node: usize,
        placed: DMat4,
    ) -> Result<()> {
        let mode = primitive["mode"].as_u64().unwrap_or(4);
        if mode < 4 {
            self.warnings
                .push(format!("points or lines of mesh {mesh} are left out"));
            return Ok(());
        }
        let Some(position) = index(&primitive["attributes"]["POSITION"]) else {
            return Ok(());
        };
        let (width, values) = self.accessor(position)?;
        if width != 3 {
            return Err(damaged(
                "mesh",
                mesh,
                "positions have not three coordinates",
            ));
        }
        let count = values.len() / 3;
        let corners = match index(&primitive["indices"]) {
            Some(indices) => self.indices(indices)?,
            None => (0..count as u32).collect(),
        };
        let cost = corners.len() + values.len();
        self.budget = self.budget.checked_sub(cost).ok_or_else(|| {
            ReadError::new(
                ReadErrorKind::TooLarge,
                Place::Element {
                    what: "mesh",
                    index: mesh,
                },
                "the scene shows its meshes so often that they outgrow the file",
                "export the one object that is to be broken",
            )
        })?;
        if let Some(v) = corners.iter().find(|&&v| v as usize >= count) {
            return Err(ReadError::new(
                ReadErrorKind::IndexOutOfRange,
                Place::Element {
                    what: "mesh",
                    index: mesh,
                },
                format!("a triangle names vertex {v} of {count}"),
                "the file is damaged: export it again",
            ));
        }
        let attributes = self.read_attributes(primitive, mesh, count)?;
        let positions: Vec<DVec3> = values
            .chunks_exact(3)
            .map(|p| placed.transform_point3(DVec3::new(p[0].into(), p[1].into(), p[2].into())))
            .collect();
        if let Some(vertex) = positions.iter().position(|p| !p.is_finite()) {
            return Err(ReadError::new(
                ReadErrorKind::NotFinite,
                Place::Element {
                    what: "mesh",
                    index: mesh,
                },
                format!("vertex {vertex} is not finite"),
                "correct the model and export it again",
            ));
        }
        let mirrored = placed.determinant() < 0.0;
        let triangles = triangles_of(mode, &corners)
            .into_iter()
            .map(|[a, b, c]| if mirrored { [a, c, b] } else { [a, b, c] })
            .collect();
        self.parts.push(ModelPart {
            node,
            material: index(&primitive["material"]),
            placed,
            positions,
            triangles,
            attributes,
        });
        Ok(())
    }

    /// What the vertices of a primitive have beside their positions.
    fn read_attributes(
        &mut self,
        primitive: &Value,
        mesh: usize,
        count: usize,
    ) -> Result<Vec<Attribute>> {
        let mut attributes = Vec::new();
        let named = primitive["attributes"].as_object();
        for (name, accessor) in named.into_iter().flatten() {
            if name == "POSITION" || name.starts_with("JOINTS") || name.starts_with("WEIGHTS") {
                continue;
            }
            let Some(accessor) = index(accessor) else {
                continue;
            };
            let (width, values) = self.accessor(accessor)?;
            if values.len() != width * count {
                self.warnings.push(format!(
                    "{name} of mesh {mesh} has {} entries for {count} vertices and is left out",
                    values.len() / width
                ));
                continue;
            }
            attributes.push(Attribute {
                name: name.clone(),
                width,
                values,
            });
        }
        Ok(attributes)
    }

    fn read_images(&mut self, beside: &mut dyn FnMut(&str) -> Result<Vec<u8>>) -> Vec<ModelImage> {
        let mut images = Vec::new();
        for (i, image) in list(&self.document, "images").iter().enumerate() {
            let uri = image["uri"].as_str();
            let plain = uri.filter(|uri| !uri.starts_with("data:"));
            let name = image["name"]
                .as_str()
                .or(plain)
                .map_or_else(|| format!("image {i}"), str::to_owned);
            let data = match (index(&image["bufferView"]), uri) {
                (Some(view), _) => self.view(view).map(|v| v.0.to_vec()),
                (None, Some(uri)) => data_of(uri, beside).ok(),
                (None, None) => None,
            };
            let bytes = data.unwrap_or_else(|| {
                self.warnings.push(format!(
                    "the picture `{name}` cannot be read: its textures stay empty"
                ));
                Vec::new()
            });
            let mime = image["mimeType"]
                .as_str()
                .map_or_else(|| mime_of(&bytes).to_owned(), str::to_owned);
            images.push(ModelImage { name, mime, bytes });
        }
        images
    }

    fn warn_of_what_is_left_out(&mut self) {
        for (key, what) in [
            ("animations", "animations"),
            ("skins", "joints of characters"),
        ] {
            if !list(&self.document, key).is_empty() {
                self.warnings.push(format!("{what} are left out"));
            }
        }
    }
}

/// The kind of a picture, by its first bytes.
pub(super) fn mime_of(bytes: &[u8]) -> &'static str {
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => "image/png",
        [0xff, 0xd8, ..] => "image/jpeg",
        [
            b'R',
            b'I',
            b'F',
            b'F',
            _,
            _,
            _,
            _,
            b'W',
            b'E',
            b'B',
            b'P',
            ..,
        ] => "image/webp",
        _ => "application/octet-stream",
    }
}

/// The bytes that a data URI holds; `None` where it is none, or not base64.
pub(super) fn embedded(uri: &str) -> Option<Vec<u8>> {
    let (_, data) = uri.strip_prefix("data:")?.split_once(";base64,")?;
    base64(data)
}

/// The bytes that a URI names: in it, or in a file beside.
fn data_of(uri: &str, beside: &mut dyn FnMut(&str) -> Result<Vec<u8>>) -> Result<Vec<u8>> {
    let fault = |reason: String| {
        ReadError::new(
            ReadErrorKind::Unsupported,
            Place::File,
            reason,
            "put the data beside the file, or export as .glb",
        )
    };
    if uri.starts_with("data:") {
        return embedded(uri).ok_or_else(|| fault("a data URI is not base64".into()));
    }
    let name = percent_decoded(uri);
    let Some(name) = path_below(&name) else {
        return Err(fault(format!(
            "its data are at `{name}`, and only files in its folder are read"
        )));
    };
    beside(&name)
}
