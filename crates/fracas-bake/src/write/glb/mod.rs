//! Binary glTF 2.0: what opens in Blender, game engines and any viewer.
//!
//! A [`Glb`] holds materials, named meshes, nodes that place them, and one
//! animation of the nodes. Everything is checked as it is added, so that
//! [`Glb::to_bytes`] always gives a valid file: bounds on positions and key
//! times, buffers aligned to four bytes, unit quaternions, key times that grow.
//!
//! ```
//! use fracas_bake::write::glb::{Glb, Material, Part, Place};
//! use glam::Vec3;
//!
//! let mut glb = Glb::new();
//! let clay = glb.material(&Material::new("clay", [0.6, 0.3, 0.2, 1.0]));
//! let corners = [Vec3::ZERO, Vec3::X, Vec3::Y];
//! let triangle = glb.mesh("shard", &[Part::new(&corners, &[[0, 1, 2]], clay)])?;
//! let shard = glb.node("shard 1", Some(triangle), Place::default())?;
//! glb.animate_translation(shard, &[0.0, 1.0], &[Vec3::ZERO, Vec3::NEG_Y])?;
//! assert_eq!(&glb.to_bytes()?[..4], b"glTF");
//! # Ok::<(), fracas_bake::write::glb::GlbError>(())
//! ```
//!
//! Things that appear or vanish have no switch of their own in glTF: they are
//! scaled to zero and back, see [`Glb::animate_visibility`].

mod models;
#[cfg(test)]
mod tests;

pub use models::Looks;

use std::collections::BTreeMap;
use std::path::Path;

use glam::Vec3;
use serde_json::{Value, json};

pub use crate::glb_container::GlbError;
use crate::glb_container::container;

/// A material in a [`Glb`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MaterialId(u32);

/// A mesh in a [`Glb`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MeshId(u32);

/// A node in a [`Glb`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeId(u32);

/// What a surface looks like.
#[derive(Clone, Debug)]
pub struct Material {
    /// Its name.
    pub name: String,
    /// Linear red, green, blue and opacity, each in `0..=1`.
    pub base_colour: [f32; 4],
    /// 0: not a metal; 1: metal.
    pub metallic: f32,
    /// 0: mirror; 1: chalk.
    pub roughness: f32,
    /// Seen from behind too.
    pub double_sided: bool,
}

impl Material {
    /// A dull material of this linear colour.
    #[must_use]
    pub fn new(name: impl Into<String>, base_colour: [f32; 4]) -> Self {
        Self {
            name: name.into(),
            base_colour,
            metallic: 0.0,
            roughness: 0.8,
            double_sided: false,
        }
    }
}

/// The triangles of a mesh that share a material.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    positions: &'a [Vec3],
    normals: &'a [Vec3],
    uvs: &'a [[f32; 2]],
    triangles: &'a [[u32; 3]],
    material: MaterialId,
}

impl<'a> Part<'a> {
    /// Triangles, counter-clockwise seen from outside. Viewers shade flat without normals.
    #[must_use]
    pub fn new(positions: &'a [Vec3], triangles: &'a [[u32; 3]], material: MaterialId) -> Self {
        Self {
            positions,
            normals: &[],
            uvs: &[],
            triangles,
            material,
        }
    }

    /// One normal for each position.
    #[must_use]
    pub fn normals(mut self, normals: &'a [Vec3]) -> Self {
        self.normals = normals;
        self
    }

    /// One texture coordinate for each position.
    #[must_use]
    pub fn uvs(mut self, uvs: &'a [[f32; 2]]) -> Self {
        self.uvs = uvs;
        self
    }
}

/// Where a node is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    /// Moved by.
    pub translation: Vec3,
    /// Turned by: a quaternion x, y, z, w.
    pub rotation: [f32; 4],
    /// Scaled by, before anything else.
    pub scale: Vec3,
}

impl Default for Place {
    fn default() -> Self {
        Self {
            translation: Vec3::ZERO,
            rotation: [0.0, 0.0, 0.0, 1.0],
            scale: Vec3::ONE,
        }
    }
}

/// A glTF file in the making.
#[derive(Clone, Debug, Default)]
pub struct Glb {
    bytes: Vec<u8>,
    views: Vec<Value>,
    accessors: Vec<Value>,
    materials: Vec<Value>,
    meshes: Vec<Value>,
    nodes: Vec<Value>,
    samplers: Vec<Value>,
    channels: Vec<Value>,
    /// Textures of models, how they are read, and their pictures.
    textures: Vec<Value>,
    texture_samplers: Vec<Value>,
    images: Vec<Value>,
    /// Extensions that materials of models have, and whether a reader must know them.
    extensions: BTreeMap<String, bool>,
    /// Accessors of key times already stored, by the bits of the times.
    times: BTreeMap<Vec<u32>, usize>,
}

const FLOAT: u32 = 5126;
const UNSIGNED_INT: u32 = 5125;
const VERTICES: u32 = 34962;
const INDICES: u32 = 34963;

impl Glb {
    /// An empty file.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a material; numbers outside their range are clamped.
    pub fn material(&mut self, material: &Material) -> MaterialId {
        let unit = |v: f32| if v.is_nan() { 0.0 } else { v.clamp(0.0, 1.0) };
        let colour = material.base_colour.map(unit);
        self.materials.push(json!({
            "name": material.name,
            "doubleSided": material.double_sided,
            "alphaMode": if colour[3] < 1.0 { "BLEND" } else { "OPAQUE" },
            "pbrMetallicRoughness": {
                "baseColorFactor": colour,
                "metallicFactor": unit(material.metallic),
                "roughnessFactor": unit(material.roughness),
            },
        }));
        MaterialId(self.materials.len() as u32 - 1)
    }

    /// Adds a mesh of one or more parts; empty parts are left out.
    ///
    /// # Errors
    /// See [`GlbError`]; nothing is added then.
    pub fn mesh(&mut self, name: &str, parts: &[Part<'_>]) -> Result<MeshId, GlbError> {
        for part in parts {
            self.check_part(name, part)?;
        }
        let full: Vec<_> = parts.iter().filter(|p| !p.triangles.is_empty()).collect();
        if full.is_empty() {
            return Err(GlbError::Empty {
                what: "mesh",
                name: name.into(),
            });
        }
        let primitives: Vec<Value> = full.into_iter().map(|p| self.primitive(p)).collect();
        self.meshes
            .push(json!({ "name": name, "primitives": primitives }));
        Ok(MeshId(self.meshes.len() as u32 - 1))
    }

    /// Adds a node.
    ///
    /// # Errors
    /// When the mesh is not of this file or the place is not finite.
    pub fn node(
        &mut self,
        name: &str,
        mesh: Option<MeshId>,
        place: Place,
    ) -> Result<NodeId, GlbError> {
        let mut node = json!({ "name": name });
        if let Some(MeshId(index)) = mesh {
            if index as usize >= self.meshes.len() {
                return Err(GlbError::Unknown {
                    what: "mesh",
                    index,
                });
            }
            node["mesh"] = json!(index);
        }
        let rotation = unit_rotations(name, &[place.rotation])?[0];
        check_finite(name, "translation", &[place.translation])?;
        check_finite(name, "scale", &[place.scale])?;
        node["translation"] = json!(place.translation.to_array());
        node["rotation"] = json!(rotation);
        node["scale"] = json!(place.scale.to_array());
        self.nodes.push(node);
        Ok(NodeId(self.nodes.len() as u32 - 1))
    }

    /// What else is known of a node, for whoever reads it.
    ///
    /// # Errors
    /// When the node is not of this file.
    pub fn set_extras(&mut self, node: NodeId, extras: Value) -> Result<(), GlbError> {
        let unknown = GlbError::Unknown {
            what: "node",
            index: node.0,
        };
        let node = self.nodes.get_mut(node.0 as usize).ok_or(unknown)?;
        node["extras"] = extras;
        Ok(())
    }

    /// Moves a node: its translation at each time (seconds), linear in between.
    ///
    /// # Errors
    /// See [`GlbError`].
    pub fn animate_translation(
        &mut self,
        node: NodeId,
        times: &[f32],
        values: &[Vec3],
    ) -> Result<(), GlbError> {
        let name = self.check_track(node, times, values.len())?;
        check_finite(&name, "translation", values)?;
        let output = self.floats(values.iter().flat_map(|v| v.to_array()), "VEC3", None);
        self.channel(node, "translation", "LINEAR", times, output);
        Ok(())
    }

    /// Turns a node: a quaternion x, y, z, w at each time, the shorter way in between.
    ///
    /// # Errors
    /// See [`GlbError`].
    pub fn animate_rotation(
        &mut self,
        node: NodeId,
        times: &[f32],
        values: &[[f32; 4]],
    ) -> Result<(), GlbError> {
        let name = self.check_track(node, times, values.len())?;
        let mut values = unit_rotations(&name, values)?;
        for i in 1..values.len() {
            let dot: f32 = (0..4).map(|k| values[i - 1][k] * values[i][k]).sum();
            if dot < 0.0 {
                values[i] = values[i].map(|v| -v);
            }
        }
        let output = self.floats(values.into_iter().flatten(), "VEC4", None);
        self.channel(node, "rotation", "LINEAR", times, output);
        Ok(())
    }

    /// Shows or hides a node from each time on.
    ///
    /// # Errors
    /// See [`GlbError`].
    pub fn animate_visibility(
        &mut self,
        node: NodeId,
        times: &[f32],
        visible: &[bool],
    ) -> Result<(), GlbError> {
        self.check_track(node, times, visible.len())?;
        let scale: [f32; 3] = serde_json::from_value(self.nodes[node.0 as usize]["scale"].clone())
            .unwrap_or([1.0; 3]);
        let values = visible
            .iter()
            .flat_map(|&v| if v { scale } else { [0.0; 3] });
        let output = self.floats(values, "VEC3", None);
        self.channel(node, "scale", "STEP", times, output);
        Ok(())
    }

    /// The bytes of the file. The same content gives the same bytes.
    ///
    /// # Errors
    /// When it is more than the format can hold.
    pub fn to_bytes(&self) -> Result<Vec<u8>, GlbError> {
        let mut root = json!({
            "asset": { "version": "2.0", "generator": concat!("fracas ", env!("CARGO_PKG_VERSION")) },
        });
        let lists = [
            ("materials", &self.materials),
            ("textures", &self.textures),
            ("samplers", &self.texture_samplers),
            ("images", &self.images),
            ("meshes", &self.meshes),
            ("nodes", &self.nodes),
            ("accessors", &self.accessors),
            ("bufferViews", &self.views),
        ];
        // Empty lists are not allowed: they are left out.
        for (key, list) in lists {
            if !list.is_empty() {
                root[key] = Value::Array(list.clone());
            }
        }
        let needed = |only: bool| {
            let all = self.extensions.iter().filter(|e| *e.1 || !only);
            all.map(|e| json!(e.0)).collect::<Vec<_>>()
        };
        for (key, names) in [
            ("extensionsUsed", needed(false)),
            ("extensionsRequired", needed(true)),
        ] {
            if !names.is_empty() {
                root[key] = Value::Array(names);
            }
        }
        if !self.nodes.is_empty() {
            let all: Vec<usize> = (0..self.nodes.len()).collect();
            root["scenes"] = json!([{ "nodes": all }]);
            root["scene"] = json!(0);
        }
        if !self.channels.is_empty() {
            root["animations"] =
                json!([{ "name": "run", "channels": self.channels, "samplers": self.samplers }]);
        }
        if !self.bytes.is_empty() {
            root["buffers"] = json!([{ "byteLength": self.bytes.len() }]);
        }
        container(&root, &self.bytes)
    }

    /// Writes the file.
    ///
    /// # Errors
    /// As [`Glb::to_bytes`], and when the file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), GlbError> {
        let path = path.as_ref();
        super::write_file(path, &self.to_bytes()?).map_err(|source| GlbError::Write {
            path: path.display().to_string(),
            source,
        })
    }

    fn check_part(&self, name: &str, part: &Part<'_>) -> Result<(), GlbError> {
        let expected = part.positions.len();
        for (what, found) in [("normals", part.normals.len()), ("uvs", part.uvs.len())] {
            if found != 0 && found != expected {
                return Err(GlbError::Length {
                    name: name.into(),
                    what,
                    found,
                    expected,
                });
            }
        }
        check_finite(name, "position", part.positions)?;
        check_finite(name, "normal", part.normals)?;
        if let Some(index) = part
            .uvs
            .iter()
            .position(|uv| !uv.iter().all(|c| c.is_finite()))
        {
            return Err(GlbError::NotUsable {
                name: name.into(),
                what: "uv",
                index,
            });
        }
        if part.material.0 as usize >= self.materials.len() {
            return Err(GlbError::Unknown {
                what: "material",
                index: part.material.0,
            });
        }
        for (triangle, corners) in part.triangles.iter().enumerate() {
            if let Some(&vertex) = corners.iter().find(|&&v| v as usize >= expected) {
                return Err(GlbError::VertexOutOfRange {
                    name: name.into(),
                    triangle,
                    vertex,
                    vertices: expected,
                });
            }
        }
        Ok(())
    }

    fn primitive(&mut self, part: &Part<'_>) -> Value {
        let flat = |vectors: &[Vec3]| {
            vectors
                .iter()
                .flat_map(|v| v.to_array())
                .collect::<Vec<_>>()
        };
        let mut attributes = json!({
            "POSITION": self.floats(flat(part.positions).into_iter(), "VEC3", Some(VERTICES)),
        });
        if !part.normals.is_empty() {
            // The format wants unit normals; one without length points up.
            let unit: Vec<Vec3> = part
                .normals
                .iter()
                .map(|n| n.normalize_or(Vec3::Y))
                .collect();
            attributes["NORMAL"] =
                json!(self.floats(flat(&unit).into_iter(), "VEC3", Some(VERTICES)));
        }
        if !part.uvs.is_empty() {
            let uvs = part.uvs.iter().copied().flatten();
            attributes["TEXCOORD_0"] = json!(self.floats(uvs, "VEC2", Some(VERTICES)));
        }
        let indices = part.triangles.as_flattened();
        let start = self.bytes.len();
        self.bytes
            .extend(indices.iter().flat_map(|i| i.to_le_bytes()));
        let view = self.view(start, Some(INDICES));
        self.accessors.push(json!({
            "bufferView": view, "componentType": UNSIGNED_INT, "count": indices.len(), "type": "SCALAR",
        }));
        json!({
            "attributes": attributes,
            "indices": self.accessors.len() - 1,
            "material": part.material.0,
        })
    }

    /// Stores numbers with their bounds, as an accessor.
    fn floats(
        &mut self,
        values: impl Iterator<Item = f32>,
        kind: &'static str,
        target: Option<u32>,
    ) -> usize {
        let width = match kind {
            "SCALAR" => 1,
            "VEC2" => 2,
            "VEC3" => 3,
            _ => 4,
        };
        let start = self.bytes.len();
        let (mut low, mut high) = (vec![f32::INFINITY; width], vec![f32::NEG_INFINITY; width]);
        for (i, value) in values.enumerate() {
            self.bytes.extend(value.to_le_bytes());
            low[i % width] = low[i % width].min(value);
            high[i % width] = high[i % width].max(value);
        }
        let count = (self.bytes.len() - start) / 4 / width;
        let view = self.view(start, target);
        self.accessors.push(json!({
            "bufferView": view, "componentType": FLOAT, "count": count, "type": kind,
            "min": low, "max": high,
        }));
        self.accessors.len() - 1
    }

    fn view(&mut self, start: usize, target: Option<u32>) -> usize {
        let mut view = json!({
            "buffer": 0, "byteOffset": start, "byteLength": self.bytes.len() - start,
        });
        if let Some(target) = target {
            view["target"] = json!(target);
        }
        self.views.push(view);
        self.views.len() - 1
    }

    /// Checks the times and the count of values; returns the node's name.
    fn check_track(&self, node: NodeId, times: &[f32], values: usize) -> Result<String, GlbError> {
        let Some(entry) = self.nodes.get(node.0 as usize) else {
            return Err(GlbError::Unknown {
                what: "node",
                index: node.0,
            });
        };
        let name = entry["name"].as_str().unwrap_or_default().to_owned();
        if times.is_empty() {
            return Err(GlbError::Empty {
                what: "animation of node",
                name,
            });
        }
        if values != times.len() {
            return Err(GlbError::Length {
                name,
                what: "values",
                found: values,
                expected: times.len(),
            });
        }
        if let Some(index) = times.iter().position(|t| !t.is_finite() || *t < 0.0) {
            return Err(GlbError::NotUsable {
                name,
                what: "key time",
                index,
            });
        }
        if let Some(index) = times.windows(2).position(|w| w[1] <= w[0]) {
            return Err(GlbError::TimeOrder {
                name,
                index: index + 1,
            });
        }
        Ok(name)
    }

    fn channel(
        &mut self,
        node: NodeId,
        path: &str,
        interpolation: &str,
        times: &[f32],
        output: usize,
    ) {
        let bits: Vec<u32> = times.iter().map(|t| t.to_bits()).collect();
        let input = match self.times.get(&bits) {
            Some(&input) => input,
            None => {
                let input = self.floats(times.iter().copied(), "SCALAR", None);
                self.times.insert(bits, input);
                input
            }
        };
        self.samplers
            .push(json!({ "input": input, "output": output, "interpolation": interpolation }));
        self.channels.push(json!({
            "sampler": self.samplers.len() - 1, "target": { "node": node.0, "path": path },
        }));
    }
}

fn check_finite(name: &str, what: &'static str, values: &[Vec3]) -> Result<(), GlbError> {
    match values.iter().position(|v| !v.is_finite()) {
        None => Ok(()),
        Some(index) => Err(GlbError::NotUsable {
            name: name.into(),
            what,
            index,
        }),
    }
}

fn unit_rotations(name: &str, values: &[[f32; 4]]) -> Result<Vec<[f32; 4]>, GlbError> {
    let unit = |(index, q): (usize, &[f32; 4])| {
        let length = q.iter().map(|c| c * c).sum::<f32>().sqrt();
        if length.is_finite() && length > 1e-6 {
            return Ok(q.map(|c| c / length));
        }
        Err(GlbError::NotUsable {
            name: name.into(),
            what: "rotation",
            index,
        })
    };
    values.iter().enumerate().map(unit).collect()
}
