//! glTF 2.0, `.glb` and `.gltf`: the triangles of all meshes that the scene shows,
//! placed by their nodes, with the first set of texture coordinates.
//!
//! Buffers are embedded, data URIs, or files beside the `.gltf` or in folders below it.
//!
//! By hand on `serde_json`, because the accessor iterators of `gltf` (1.4) panic on
//! what a damaged file can say (a count of 0, offsets near 2^64, a sparse list longer
//! than its values), and believe a count that no data back; what remains of the crate
//! is the model of the JSON, of which a mesh needs little.
//!
//! Not read: sparse accessors, Draco and meshopt compression, morphs, skins.

use std::collections::HashSet;

use base64::alphabet;
use base64::engine::{DecodePaddingMode, Engine as _, GeneralPurpose, GeneralPurposeConfig};
use glam::{DMat4, DQuat, DVec3, Vec2};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::beside::path_below;
use super::binary;
use super::scanner::Result;
use crate::error::{Place, ReadError, ReadErrorKind};
use crate::repair::PolygonSoup;

/// Reads a file; `beside` gives the buffers that lie beside it.
pub(super) fn read(
    bytes: &[u8],
    beside: &mut dyn FnMut(&str) -> Result<Vec<u8>>,
) -> Result<PolygonSoup> {
    let (document, blob): (Document, _) = document_and_blob(bytes)?;
    for extension in &document.extensions_required {
        if extension.contains("draco") || extension.contains("meshopt") {
            return Err(fault(
                ReadErrorKind::Unsupported,
                Place::File,
                format!("its meshes are compressed ({extension})"),
                "export without mesh compression",
            ));
        }
    }
    let buffers = buffers(&document, blob, beside)?;
    let held: usize = buffers.iter().map(Vec::len).sum();
    let mut reader = Reader {
        source: Source {
            document: &document,
            buffers: &buffers,
        },
        // The format splits vertices at seams: joining them is no repair.
        soup: PolygonSoup::unshared(),
        budget: 4 * (bytes.len() + held) as u64,
        visited: HashSet::new(),
    };
    reader.scene()?;
    Ok(reader.soup)
}

fn fault(kind: ReadErrorKind, place: Place, reason: String, help: &str) -> ReadError {
    ReadError::new(kind, place, reason, help)
}

fn damaged(place: Place, reason: impl Into<String>) -> ReadError {
    ReadError::new(
        ReadErrorKind::Syntax,
        place,
        reason,
        "the file is damaged: export it again",
    )
}

/// The JSON of a file, as what is wanted of it, and the binary chunk of a GLB.
pub(crate) fn document_and_blob<T: DeserializeOwned>(bytes: &[u8]) -> Result<(T, Option<&[u8]>)> {
    let (json, blob) = if bytes.starts_with(b"glTF") {
        chunks(bytes)?
    } else {
        (bytes, None)
    };
    let document = serde_json::from_slice(json).map_err(|error| {
        ReadError::new(
            ReadErrorKind::Syntax,
            Place::Line(error.line().max(1)),
            format!("the JSON part is not glTF: {error}"),
            "export the file again",
        )
    })?;
    Ok((document, blob))
}

/// JSON and binary chunk of a GLB.
fn chunks(bytes: &[u8]) -> Result<(&[u8], Option<&[u8]>)> {
    let truncated = || {
        fault(
            ReadErrorKind::Truncated,
            Place::Byte(bytes.len()),
            "the file ends inside a chunk".into(),
            "it is incomplete: export or download it again",
        )
    };
    let word = |at: usize| {
        let raw = bytes.get(at..at + 4).ok_or_else(truncated)?;
        Ok(binary::u32(raw, false))
    };
    let version = word(4)?;
    if version != 2 {
        return Err(fault(
            ReadErrorKind::Unsupported,
            Place::Byte(4),
            format!("glTF version {version} is not read"),
            "export as glTF 2.0",
        ));
    }
    let chunk = |at: usize, kind: &[u8]| -> Result<Option<&[u8]>> {
        if at + 8 > bytes.len() || &bytes[at + 4..at + 8] != kind {
            return Ok(None);
        }
        let length = word(at)? as usize;
        let end = (at + 8).checked_add(length).ok_or_else(truncated)?;
        bytes.get(at + 8..end).map(Some).ok_or_else(truncated)
    };
    let json = chunk(12, b"JSON")?.ok_or_else(truncated)?;
    // Chunks begin at multiples of four bytes.
    let next = (20 + json.len()).next_multiple_of(4);
    Ok((json, chunk(next, b"BIN\0")?))
}

/// The bytes of all buffers.
fn buffers(
    document: &Document,
    blob: Option<&[u8]>,
    beside: &mut dyn FnMut(&str) -> Result<Vec<u8>>,
) -> Result<Vec<Vec<u8>>> {
    let mut buffers = Vec::new();
    let mut blob = blob;
    for (index, buffer) in document.buffers.iter().enumerate() {
        let place = Place::Element {
            what: "buffer",
            index,
        };
        buffers.push(match &buffer.uri {
            None => blob
                .take()
                .ok_or_else(|| damaged(place, "the buffer has neither a URI nor a binary chunk"))?
                .to_vec(),
            Some(uri) if uri.starts_with("data:") => {
                let (_, data) = uri
                    .split_once(";base64,")
                    .ok_or_else(|| damaged(place, "the data URI is not base64"))?;
                base64(data).ok_or_else(|| damaged(place, "the data URI is not base64"))?
            }
            Some(name) => {
                let name = percent_decoded(name);
                let Some(name) = path_below(&name) else {
                    return Err(fault(
                        ReadErrorKind::Unsupported,
                        place,
                        format!("its data are at `{name}`, and only files in its folder are read"),
                        "put the buffer beside the file, or export as .glb",
                    ));
                };
                beside(&name)?
            }
        });
    }
    Ok(buffers)
}

pub(crate) fn percent_decoded(uri: &str) -> String {
    let mut bytes = Vec::with_capacity(uri.len());
    let mut rest = uri.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let code = tail
            .get(..2)
            .filter(|hex| hex.iter().all(u8::is_ascii_hexdigit))
            .and_then(|hex| std::str::from_utf8(hex).ok())
            .and_then(|hex| u8::from_str_radix(hex, 16).ok());
        match code {
            Some(byte) if first == b'%' => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            _ => {
                bytes.push(first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Files leave padding away or have too much of it, and stray bits at the end.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::RequireNone),
);

pub(crate) fn base64(text: &str) -> Option<Vec<u8>> {
    LENIENT.decode(text.trim_end_matches('=')).ok()
}

/// Where the numbers are.
#[derive(Clone, Copy)]
struct Source<'a> {
    document: &'a Document,
    buffers: &'a [Vec<u8>],
}

struct Reader<'a> {
    source: Source<'a>,
    soup: PolygonSoup,
    /// Vertices and corners that may still be made. A mesh may be shown by many nodes;
    /// together they may make four for each byte of the file.
    budget: u64,
    visited: HashSet<usize>,
}

impl Reader<'_> {
    fn scene(&mut self) -> Result<()> {
        let document = self.source.document;
        let scene = document.scene.unwrap_or(0);
        let roots: Vec<usize> = match self.source.document.scenes.get(scene) {
            Some(scene) => scene.nodes.clone(),
            // No scene: every node that is nobody's child.
            None => {
                let children: HashSet<usize> = self
                    .source
                    .document
                    .nodes
                    .iter()
                    .flat_map(|n| n.children.iter().copied())
                    .collect();
                (0..self.source.document.nodes.len())
                    .filter(|n| !children.contains(n))
                    .collect()
            }
        };
        let mut stack: Vec<(usize, DMat4)> = roots
            .into_iter()
            .rev()
            .map(|n| (n, DMat4::IDENTITY))
            .collect();
        while let Some((index, parent)) = stack.pop() {
            let place = Place::Element {
                what: "node",
                index,
            };
            let node = self
                .source
                .document
                .nodes
                .get(index)
                .ok_or_else(|| damaged(place, "there is no such node"))?;
            if !self.visited.insert(index) {
                return Err(damaged(place, "the node hangs below two others, or itself"));
            }
            let placed = parent * node.matrix();
            if let Some(mesh) = node.mesh {
                self.mesh(mesh, placed)?;
            }
            stack.extend(node.children.iter().rev().map(|&child| (child, placed)));
        }
        Ok(())
    }

    fn mesh(&mut self, index: usize, placed: DMat4) -> Result<()> {
        let place = Place::Element {
            what: "mesh",
            index,
        };
        let mesh = self
            .source
            .document
            .meshes
            .get(index)
            .ok_or_else(|| damaged(place, "there is no such mesh"))?;
        // Primitives of a mesh often share their vertices: those of the last one.
        let mut placed_vertices = None;
        for primitive in &mesh.primitives {
            self.primitive(primitive, placed, place, &mut placed_vertices)?;
        }
        Ok(())
    }

    /// `placed_vertices`: the accessor whose positions were placed last, and where
    /// they begin in the soup.
    fn primitive(
        &mut self,
        primitive: &Primitive,
        placed: DMat4,
        place: Place,
        placed_vertices: &mut Option<(usize, u64)>,
    ) -> Result<()> {
        let source = self.source;
        let mode = primitive.mode.unwrap_or(4);
        if mode < 4 {
            return Ok(()); // points and lines
        }
        let Some(position) = primitive.attributes.position else {
            return Ok(());
        };
        let positions = source.accessor(position, "VEC3")?;
        if positions.kind != FLOAT {
            return Err(damaged(place, "positions are not floats"));
        }
        let (first, fresh) = match *placed_vertices {
            Some((accessor, first)) if accessor == position => (first, false),
            _ => (self.soup.positions().len() as u64, true),
        };
        *placed_vertices = Some((position, first));
        let corners: Vec<u32> = match primitive.indices {
            Some(indices) => {
                let indices = source.accessor(indices, "SCALAR")?;
                let all: Option<Vec<u32>> = (0..indices.count).map(|i| indices.index(i)).collect();
                all.ok_or_else(|| damaged(place, "indices are not unsigned integers"))?
            }
            None => (0..positions.count as u32).collect(),
        };
        let vertices = if fresh { positions.count } else { 0 };
        let cost = (corners.len() + vertices) as u64;
        self.budget = self.budget.checked_sub(cost).ok_or_else(|| {
            fault(
                ReadErrorKind::TooLarge,
                place,
                "the scene shows its meshes so often that they outgrow the file".into(),
                "export the one object that is to be broken",
            )
        })?;
        if let Some(v) = corners.iter().find(|&&v| v as usize >= positions.count) {
            return Err(fault(
                ReadErrorKind::IndexOutOfRange,
                place,
                format!("a triangle names vertex {v} of {}", positions.count),
                "the file is damaged: export it again",
            ));
        }
        let uvs = match primitive.attributes.uv {
            Some(uv) => Some(source.accessor(uv, "VEC2")?)
                .filter(|uv| uv.kind == FLOAT && uv.count == positions.count),
            None => None,
        };
        let placed_positions: Vec<DVec3> = (0..vertices)
            .map(|v| {
                let [x, y, z] = [0, 1, 2].map(|k| f64::from(positions.float(v, k)));
                placed.transform_point3(DVec3::new(x, y, z))
            })
            .collect();
        let uvs: Option<Vec<Vec2>> = uvs.map(|uv| {
            (0..uv.count)
                .map(|v| Vec2::new(uv.float(v, 0), uv.float(v, 1)))
                .collect()
        });
        self.soup.positions_mut().extend(placed_positions);
        // A mirrored node turns its triangles inside out.
        let mirrored = placed.determinant() < 0.0;
        for mut triangle in triangles_of(mode.into(), &corners) {
            if mirrored {
                triangle.swap(1, 2);
            }
            self.soup
                .push_face(&triangle.map(|v| (first + u64::from(v)) as u32));
            if let Some(uvs) = &uvs {
                self.soup.push_uvs(&triangle.map(|v| uvs[v as usize]));
            }
        }
        Ok(())
    }
}

impl<'a> Source<'a> {
    /// A view of an accessor's data, checked to lie within its buffer.
    fn accessor(self, index: usize, shape: &str) -> Result<Items<'a>> {
        let place = Place::Element {
            what: "accessor",
            index,
        };
        let get = || {
            let accessor = self.document.accessors.get(index)?;
            let view = self.document.buffer_views.get(accessor.buffer_view?)?;
            let buffer = self.buffers.get(view.buffer)?;
            Some((accessor, view, buffer))
        };
        let (accessor, view, buffer) =
            get().ok_or_else(|| damaged(place, "the accessor, its view or buffer is missing"))?;
        if accessor.sparse.is_some() {
            return Err(fault(
                ReadErrorKind::Unsupported,
                place,
                "sparse accessors are not read".into(),
                "export without sparse accessors",
            ));
        }
        let components = match shape {
            "VEC3" => 3,
            "VEC2" => 2,
            _ => 1,
        };
        let item = component_size(accessor.component_type).map(|size| size * components);
        let Some(item) = item.filter(|_| accessor.shape == shape) else {
            return Err(damaged(
                place,
                format!("the accessor is not of type {shape}"),
            ));
        };
        let stride = view.byte_stride.unwrap_or(item);
        let range = || {
            let view_end = view.byte_offset.checked_add(view.byte_length)?;
            let data = buffer.get(view.byte_offset..view_end)?;
            let data = data.get(accessor.byte_offset..)?;
            let last = accessor.count.checked_sub(1)?.checked_mul(stride)?;
            (last.checked_add(item)? <= data.len() && stride >= item).then_some(data)
        };
        let data = match accessor.count {
            0 => &[],
            _ => range().ok_or_else(|| {
                fault(
                    ReadErrorKind::Truncated,
                    place,
                    format!("its {} items do not fit in their buffer", accessor.count),
                    "the file is damaged or incomplete: export it again",
                )
            })?,
        };
        Ok(Items {
            data,
            stride,
            count: accessor.count,
            kind: accessor.component_type,
        })
    }
}

const FLOAT: u32 = 5126;

fn component_size(kind: u32) -> Option<usize> {
    match kind {
        5120 | 5121 => Some(1),
        5122 | 5123 => Some(2),
        5125 | FLOAT => Some(4),
        _ => None,
    }
}

/// The triangles of a list (4), a strip (5) or a fan (6).
pub(crate) fn triangles_of(mode: u64, corners: &[u32]) -> Vec<[u32; 3]> {
    match mode {
        5 => (2..corners.len())
            .map(|i| {
                let [a, b, c] = [corners[i - 2], corners[i - 1], corners[i]];
                if i % 2 == 0 { [a, b, c] } else { [b, a, c] }
            })
            .collect(),
        6 => (2..corners.len())
            .map(|i| [corners[0], corners[i - 1], corners[i]])
            .collect(),
        _ => corners
            .chunks_exact(3)
            .map(|t| [t[0], t[1], t[2]])
            .collect(),
    }
}

/// The items of an accessor. All reads lie within `data`, as `accessor` checked.
struct Items<'a> {
    data: &'a [u8],
    stride: usize,
    count: usize,
    kind: u32,
}

impl Items<'_> {
    fn float(&self, item: usize, component: usize) -> f32 {
        let at = item * self.stride + 4 * component;
        binary::f32(&self.data[at..at + 4], false)
    }

    fn index(&self, item: usize) -> Option<u32> {
        let at = item * self.stride;
        match self.kind {
            5121 => Some(self.data[at].into()),
            5123 => Some(binary::u16(&self.data[at..at + 2], false).into()),
            5125 => Some(binary::u32(&self.data[at..at + 4], false)),
            _ => None,
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Document {
    scene: Option<usize>,
    #[serde(default)]
    extensions_required: Vec<String>,
    #[serde(default)]
    scenes: Vec<Scene>,
    #[serde(default)]
    nodes: Vec<Node>,
    #[serde(default)]
    meshes: Vec<Mesh>,
    #[serde(default)]
    accessors: Vec<Accessor>,
    #[serde(default)]
    buffer_views: Vec<BufferView>,
    #[serde(default)]
    buffers: Vec<Buffer>,
}

#[derive(Deserialize)]
struct Scene {
    #[serde(default)]
    nodes: Vec<usize>,
}

#[derive(Deserialize)]
struct Node {
    mesh: Option<usize>,
    #[serde(default)]
    children: Vec<usize>,
    matrix: Option<[f64; 16]>,
    translation: Option<[f64; 3]>,
    rotation: Option<[f64; 4]>,
    scale: Option<[f64; 3]>,
}

impl Node {
    fn matrix(&self) -> DMat4 {
        match &self.matrix {
            Some(matrix) => DMat4::from_cols_array(matrix),
            None => DMat4::from_scale_rotation_translation(
                self.scale.map_or(DVec3::ONE, DVec3::from_array),
                self.rotation.map_or(DQuat::IDENTITY, DQuat::from_array),
                self.translation.map_or(DVec3::ZERO, DVec3::from_array),
            ),
        }
    }
}

#[derive(Deserialize)]
struct Mesh {
    #[serde(default)]
    primitives: Vec<Primitive>,
}

#[derive(Deserialize)]
struct Primitive {
    attributes: Attributes,
    indices: Option<usize>,
    mode: Option<u32>,
}

#[derive(Deserialize)]
struct Attributes {
    #[serde(rename = "POSITION")]
    position: Option<usize>,
    #[serde(rename = "TEXCOORD_0")]
    uv: Option<usize>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Accessor {
    buffer_view: Option<usize>,
    #[serde(default)]
    byte_offset: usize,
    component_type: u32,
    count: usize,
    #[serde(rename = "type")]
    shape: String,
    sparse: Option<serde::de::IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct BufferView {
    buffer: usize,
    #[serde(default)]
    byte_offset: usize,
    byte_length: usize,
    byte_stride: Option<usize>,
}

#[derive(Deserialize)]
struct Buffer {
    uri: Option<String>,
}

#[cfg(test)]
mod tests {
    use base64::prelude::BASE64_STANDARD;

    use super::*;

    /// A square in two primitives that share vertices, shown by a mirrored node that
    /// hangs below a moved one.
    fn json(uri: &str) -> String {
        format!(
            r#"{{"asset":{{"version":"2.0"}},"scene":0,"scenes":[{{"nodes":[1]}}],
            "nodes":[{{"mesh":0,"scale":[-1,1,1]}},{{"children":[0],"translation":[0,0,5]}}],
            "meshes":[{{"primitives":[
              {{"attributes":{{"POSITION":0,"TEXCOORD_0":1}},"indices":2}},
              {{"attributes":{{"POSITION":0,"TEXCOORD_0":1}},"indices":3,"mode":5}}]}}],
            "accessors":[
              {{"bufferView":0,"componentType":5126,"count":4,"type":"VEC3"}},
              {{"bufferView":1,"componentType":5126,"count":4,"type":"VEC2"}},
              {{"bufferView":2,"componentType":5123,"count":3,"type":"SCALAR"}},
              {{"bufferView":2,"byteOffset":6,"componentType":5123,"count":3,"type":"SCALAR"}}],
            "bufferViews":[{{"buffer":0,"byteLength":48}},{{"buffer":0,"byteOffset":48,"byteLength":32}},
              {{"buffer":0,"byteOffset":80,"byteLength":12}}],
            "buffers":[{{"byteLength":92{uri}}}]}}"#
        )
    }

    fn blob() -> Vec<u8> {
        let mut bytes = Vec::new();
        for n in [0.0_f32, 0., 0., 1., 0., 0., 1., 1., 0., 0., 1., 0.] {
            bytes.extend_from_slice(&n.to_le_bytes());
        }
        for n in [0.0_f32, 0., 1., 0., 1., 1., 0., 1.] {
            bytes.extend_from_slice(&n.to_le_bytes());
        }
        for n in [0_u16, 1, 2, 0, 2, 3] {
            bytes.extend_from_slice(&n.to_le_bytes());
        }
        bytes
    }

    fn glb() -> Vec<u8> {
        let mut json = json("").into_bytes();
        json.resize(json.len().next_multiple_of(4), b' ');
        let mut file = b"glTF\x02\0\0\0\0\0\0\0".to_vec();
        for (kind, data) in [(b"JSON", &json), (b"BIN\0", &blob())] {
            file.extend_from_slice(&(data.len() as u32).to_le_bytes());
            file.extend_from_slice(kind);
            file.extend_from_slice(data);
        }
        file
    }

    fn encode(bytes: &[u8]) -> String {
        BASE64_STANDARD.encode(bytes)
    }

    fn nothing_beside(_: &str) -> Result<Vec<u8>> {
        Err(damaged(Place::File, "asked for another file"))
    }

    #[test]
    fn binary_data_uri_and_file_beside_agree() {
        let data = format!(
            ",\"uri\":\"data:application/octet-stream;base64,{}\"",
            encode(&blob())
        );
        let sources = [
            (glb(), false),
            (json(&data).into_bytes(), false),
            (json(",\"uri\":\"a%20b.bin\"").into_bytes(), true),
        ];
        for (file, beside) in sources {
            let soup = read(&file, &mut |name| {
                assert!(beside && name == "a b.bin");
                Ok(blob())
            });
            let (mesh, repairs) = soup.unwrap().into_surface().unwrap();
            assert!(repairs.is_empty(), "{repairs}");
            assert_eq!(mesh.positions()[2], DVec3::new(-1.0, 1.0, 5.0));
            assert_eq!(mesh.triangles(), [[0, 2, 1], [0, 3, 2]]);
            assert_eq!(mesh.uvs().unwrap()[1], [Vec2::ZERO, Vec2::Y, Vec2::ONE]);
            // Mirrored, and still facing +z.
            let [a, b, c] = mesh.corners(0);
            assert!((b - a).cross(c - a).z > 0.0);
        }
    }

    #[test]
    fn nothing_outside_the_folder_is_asked_for() {
        for uri in [
            "../x.bin",
            "/etc/passwd",
            "http://a/b",
            "..%2Fx",
            "c:x",
            "a\\\\b",
            "..",
        ] {
            let file = json(&format!(",\"uri\":\"{uri}\""));
            let error = read(file.as_bytes(), &mut nothing_beside).err().unwrap();
            assert_eq!(error.kind(), ReadErrorKind::Unsupported, "{uri}: {error}");
        }
    }

    #[test]
    fn lies_are_errors() {
        for (from, to) in [
            ("\"count\":3", "\"count\":4000000000"),
            ("\"count\":3", "\"count\":18446744073709551615"),
            ("\"byteOffset\":6", "\"byteOffset\":18446744073709551615"),
            ("\"byteOffset\":80", "\"byteOffset\":18446744073709551610"),
            ("\"children\":[0]", "\"children\":[0,0]"),
            ("\"children\":[0]", "\"children\":[1]"),
            ("\"children\":[0]", "\"children\":[7]"),
            ("\"mesh\":0", "\"mesh\":1"),
            ("\"POSITION\":0", "\"POSITION\":1"),
            ("\"buffer\":0", "\"buffer\":1"),
            ("\"indices\":2", "\"indices\":9"),
        ] {
            let data = format!(",\"uri\":\"data:;base64,{}\"", encode(&blob()));
            let text = json(&data).replacen(from, to, 1);
            assert_ne!(text, json(&data));
            assert!(read(text.as_bytes(), &mut nothing_beside).is_err(), "{to}");
        }
        let file = glb();
        for length in 0..file.len() {
            assert!(
                read(&file[..length], &mut nothing_beside).is_err(),
                "{length} bytes"
            );
        }
    }
}
