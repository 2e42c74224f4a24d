//! A model as an artist made it: surfaces with materials, textures and any number of
//! attributes, so that its fragments can be given back the same way.
//!
//! | what | module |
//! | --- | --- |
//! | glTF and GLB in | `gltf` |
//! | OBJ with MTL in | `obj` |
//! | fragments as vertex buffers | [`pieces`] |
//! | the same where the model's triangles do not close them | [`drape`] |
//! | bumps on cracks, finer than the tetrahedra | [`detail`] |
//! | glTF, GLB, OBJ and USDA out | [`write`](mod@write) |
//!
//! What belongs to looks stays the JSON it was (materials, textures, samplers, their
//! extensions, nodes), so that nothing is lost that this library does not know.
//! Animations, morphs and joints do not survive breaking and are named as left out.

pub mod detail;
pub mod drape;
mod gltf;
pub(crate) mod mend;
mod obj;
pub mod pieces;
pub mod write;

use std::collections::BTreeSet;
use std::path::Path;

use glam::{DMat4, DVec3};
use serde_json::{Value, json};

use crate::error::{Place, ReadError, ReadErrorKind};

/// A vertex attribute other than the position.
#[derive(Clone, Debug, PartialEq)]
pub struct Attribute {
    /// As glTF names it: `NORMAL`, `TANGENT`, `TEXCOORD_0`, `COLOR_0`, …
    pub name: String,
    /// Numbers for each vertex.
    pub width: usize,
    /// The numbers, vertex by vertex.
    pub values: Vec<f32>,
}

/// Triangles with one material, placed in the scene.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelPart {
    /// The node that shows it.
    pub node: usize,
    /// Its material, by its place in the document.
    pub material: Option<usize>,
    /// From the node to the scene.
    pub placed: DMat4,
    /// Where the vertices are in the scene.
    pub positions: Vec<DVec3>,
    /// Its triangles, counter-clockwise seen from outside in the scene.
    pub triangles: Vec<[u32; 3]>,
    /// Other attributes, in the node's own frame.
    pub attributes: Vec<Attribute>,
}

/// A picture that textures use: its bytes as they were.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelImage {
    /// What it is called.
    pub name: String,
    /// `image/png`, `image/jpeg` or another.
    pub mime: String,
    /// The file; empty where it is missing.
    pub bytes: Vec<u8>,
}

/// A model with all that belongs to its looks.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    parts: Vec<ModelPart>,
    /// Materials, textures, samplers, nodes, scenes and extensions as glTF.
    document: Value,
    images: Vec<ModelImage>,
    warnings: Vec<String>,
}

/// Pictures larger than this are passed on, with a word of warning.
const LARGE_IMAGE: usize = 32 << 20;

impl Model {
    /// Reads glTF, GLB or OBJ with its MTL.
    ///
    /// # Errors
    /// As [`crate::read()`]; for other formats [`ReadErrorKind::Unsupported`]. Pictures that
    /// are missing are no error but a warning.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, ReadError> {
        let path = path.as_ref();
        let name = path.display().to_string();
        let folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
        let mut beside = |other: &str| {
            std::fs::read(folder.join(other)).map_err(|e| {
                ReadError::new(
                    ReadErrorKind::Io,
                    Place::File,
                    format!("cannot read `{other}` beside it: {e}"),
                    "put the file beside it",
                )
            })
        };
        let bytes = std::fs::read(path).map_err(|e| {
            ReadError::new(
                ReadErrorKind::Io,
                Place::File,
                format!("cannot be read: {e}"),
                "check the name and the rights",
            )
            .in_file(&name)
        })?;
        Self::read_bytes(&name, &bytes, &mut beside)
    }

    /// Whether a file of this name is read with its looks.
    #[must_use]
    pub fn is_known(name: &str) -> bool {
        let lower = name.to_ascii_lowercase();
        [".glb", ".gltf", ".obj"]
            .iter()
            .any(|end| lower.ends_with(end))
    }

    /// Reads a model in memory; `beside` is asked for the files it names.
    ///
    /// # Errors
    /// As [`Model::read`].
    pub fn read_bytes(
        name: &str,
        bytes: &[u8],
        beside: &mut dyn FnMut(&str) -> Result<Vec<u8>, ReadError>,
    ) -> Result<Self, ReadError> {
        let lower = name.to_ascii_lowercase();
        let stem = Path::new(name)
            .file_stem()
            .map_or_else(String::new, |s| s.to_string_lossy().into());
        let mut model = if bytes.starts_with(b"glTF") || lower.ends_with(".gltf") {
            gltf::read(bytes, beside)
        } else if lower.ends_with(".obj") {
            obj::read(&stem, bytes, beside)
        } else {
            Err(ReadError::new(
                ReadErrorKind::Unsupported,
                Place::File,
                "materials and textures are read from glTF, GLB and OBJ only",
                "export the model as .glb",
            ))
        }
        .map_err(|e| e.in_file(name))?;
        model.check_attributes();
        model.check_triangles();
        model.check_coordinates();
        for image in &model.images {
            if image.bytes.len() > LARGE_IMAGE {
                let megabytes = image.bytes.len() >> 20;
                model.warnings.push(format!(
                    "the picture `{}` has {megabytes} MiB and is passed on as it is",
                    image.name
                ));
            }
        }
        Ok(model)
    }

    /// A plain model: one surface without textures.
    #[must_use]
    pub fn plain(
        name: &str,
        positions: Vec<DVec3>,
        triangles: Vec<[u32; 3]>,
        colour: [f32; 4],
    ) -> Self {
        let part = ModelPart {
            node: 0,
            material: Some(0),
            placed: DMat4::IDENTITY,
            positions,
            triangles,
            attributes: Vec::new(),
        };
        Self {
            parts: vec![part],
            document: json!({
                "scene": 0, "scenes": [{ "nodes": [0] }], "nodes": [{ "name": name }],
                "materials": [{ "name": name, "pbrMetallicRoughness": {
                    "baseColorFactor": colour, "metallicFactor": 0.0, "roughnessFactor": 0.8 } }],
            }),
            images: Vec::new(),
            warnings: Vec::new(),
        }
    }

    /// Adds an attribute to a part made by [`Model::plain`].
    #[must_use]
    pub fn with_attribute(mut self, attribute: Attribute) -> Self {
        self.parts[0].attributes.push(attribute);
        self
    }

    /// The same model with its vertices elsewhere: moved, turned by nothing, scaled alike
    /// in all directions.
    #[must_use]
    #[cfg_attr(feature = "research", visibility::make(pub))]
    pub(crate) fn moved(mut self, place: impl Fn(DVec3) -> DVec3) -> Self {
        for part in &mut self.parts {
            for p in &mut part.positions {
                *p = place(*p);
            }
        }
        self
    }

    /// The same model without materials and pictures: whoever shows it chooses a colour.
    #[must_use]
    #[cfg_attr(feature = "research", visibility::make(pub))]
    pub(crate) fn without_materials(mut self) -> Self {
        for part in &mut self.parts {
            part.material = None;
        }
        if let Some(map) = self.document.as_object_mut() {
            for key in ["materials", "textures", "samplers"] {
                map.remove(key);
            }
        }
        self.images.clear();
        self
    }

    /// Its surfaces.
    #[must_use]
    pub fn parts(&self) -> &[ModelPart] {
        &self.parts
    }

    /// Its pictures.
    #[must_use]
    pub fn images(&self) -> &[ModelImage] {
        &self.images
    }

    /// What was odd, in words.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Materials, textures, nodes and extensions, as glTF.
    #[must_use]
    #[cfg_attr(feature = "research", visibility::make(pub))]
    pub(crate) fn document(&self) -> &Value {
        &self.document
    }

    /// All surfaces as one: positions, triangles. Triangles of a part follow those of the
    /// part before it.
    #[must_use]
    pub fn surface(&self) -> (Vec<DVec3>, Vec<[u32; 3]>) {
        let (mut positions, mut triangles) = (Vec::new(), Vec::new());
        for part in &self.parts {
            let first = positions.len() as u32;
            positions.extend_from_slice(&part.positions);
            triangles.extend(part.triangles.iter().map(|t| t.map(|v| v + first)));
        }
        (positions, triangles)
    }

    /// Triangles without area are kept, and counted.
    fn check_triangles(&mut self) {
        for (p, part) in self.parts.iter().enumerate() {
            let is_flat = |t: &&[u32; 3]| {
                let [a, b, c] = t.map(|v| part.positions[v as usize]);
                (b - a).cross(c - a) == DVec3::ZERO
            };
            let flat = part.triangles.iter().filter(is_flat).count();
            if flat > 0 {
                self.warnings
                    .push(format!("part {p}: {flat} triangles have no area"));
            }
        }
    }

    /// Textures need coordinates: where a part has none, it is shown without them.
    fn check_coordinates(&mut self) {
        for (p, part) in self.parts.iter().enumerate() {
            let Some(material) = part.material else {
                continue;
            };
            let mut sets = BTreeSet::new();
            coordinate_sets(&self.document["materials"][material], &mut sets);
            for set in sets {
                let name = format!("TEXCOORD_{set}");
                if part.attributes.iter().all(|a| a.name != name) {
                    self.warnings.push(format!(
                        "part {p}: its material has textures, but it has no coordinates for \
                         them ({name})"
                    ));
                }
            }
        }
    }

    /// Numbers that are not finite become zero, and are counted.
    fn check_attributes(&mut self) {
        for (p, part) in self.parts.iter_mut().enumerate() {
            for attribute in &mut part.attributes {
                let mut bad = 0;
                for value in &mut attribute.values {
                    if !value.is_finite() {
                        *value = 0.0;
                        bad += 1;
                    }
                }
                if bad > 0 {
                    self.warnings.push(format!(
                        "part {p}: {bad} numbers of {} are not finite and count as 0",
                        attribute.name
                    ));
                }
            }
        }
    }
}

/// The sets of coordinates that the textures of a material use.
fn coordinate_sets(value: &Value, sets: &mut BTreeSet<u64>) {
    for (key, inner) in value.as_object().into_iter().flatten() {
        if key.ends_with("Texture") && inner["index"].is_u64() {
            sets.insert(inner["texCoord"].as_u64().unwrap_or(0));
        }
        coordinate_sets(inner, sets);
    }
}
