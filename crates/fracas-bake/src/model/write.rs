//! Fragments of a model as files that other programs open.
//!
//! glTF and GLB: the model's own document, with one node for each fragment below the
//! lowest node that has all of the model, its mass, volume and centre of mass in
//! `extras`, and a material `crack` for what broke. OBJ: one object for each fragment,
//! materials in an MTL. USDA: one `Xform` for each fragment. Textures stay the files
//! they were.

use std::fmt::Write as _;
use std::path::Path;

use glam::{DMat4, DVec3, Vec3};
use serde_json::{Value, json};

use crate::glb_container::{GlbError, container};

use super::gltf::{list, matrix_of};
use super::pieces::{Buffers, ModelPiece};
use super::{Attribute, Model};

/// In what the fragments are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Binary glTF, one file.
    Glb,
    /// glTF as text, with a `.bin` and pictures beside it.
    Gltf,
    /// Wavefront OBJ, with an MTL and pictures beside it.
    Obj,
    /// Universal Scene Description as text, with pictures beside it.
    Usda,
}

impl Format {
    /// By the ending of a file's name.
    #[must_use]
    pub fn of_path(path: &Path) -> Option<Self> {
        match path.extension()?.to_ascii_lowercase().to_str()? {
            "glb" => Some(Self::Glb),
            "gltf" => Some(Self::Gltf),
            "obj" => Some(Self::Obj),
            "usda" => Some(Self::Usda),
            _ => None,
        }
    }
}

/// How cracks look.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CrackLook {
    /// Linear red, green, blue, opacity.
    pub colour: [f32; 4],
}

impl Default for CrackLook {
    fn default() -> Self {
        Self {
            colour: [0.55, 0.5, 0.45, 1.0],
        }
    }
}

/// The files: names and bytes, the main one first. `stem` is the name without its end.
///
/// # Errors
/// When a binary glTF would be larger than the format can be.
#[cfg_attr(feature = "research", visibility::make(pub))]
pub(crate) fn files(
    model: &Model,
    pieces: &[ModelPiece],
    look: CrackLook,
    format: Format,
    stem: &str,
) -> Result<Vec<(String, Vec<u8>)>, GlbError> {
    match format {
        Format::Glb | Format::Gltf => gltf(model, pieces, look, format, stem),
        Format::Obj => Ok(obj(model, pieces, look, stem)),
        Format::Usda => Ok(usda(model, pieces, look, stem)),
    }
}

#[derive(Default)]
struct Data {
    bytes: Vec<u8>,
    views: Vec<Value>,
    accessors: Vec<Value>,
}

impl Data {
    fn view(&mut self, start: usize, target: Option<u32>) -> usize {
        let mut view = json!({
            "buffer": 0, "byteOffset": start, "byteLength": self.bytes.len() - start,
        });
        if let Some(target) = target {
            view["target"] = json!(target);
        }
        while !self.bytes.len().is_multiple_of(4) {
            self.bytes.push(0);
        }
        self.views.push(view);
        self.views.len() - 1
    }

    fn floats(&mut self, values: &[f32], width: usize, bounds: bool) -> usize {
        let start = self.bytes.len();
        self.bytes
            .extend(values.iter().flat_map(|v| v.to_le_bytes()));
        let view = self.view(start, Some(34962));
        let kind = ["SCALAR", "VEC2", "VEC3", "VEC4"][(width - 1).min(3)];
        let mut accessor = json!({
            "bufferView": view, "componentType": 5126, "count": values.len() / width, "type": kind,
        });
        if bounds {
            let mut low = vec![f32::INFINITY; width];
            let mut high = vec![f32::NEG_INFINITY; width];
            for (i, &v) in values.iter().enumerate() {
                low[i % width] = low[i % width].min(v);
                high[i % width] = high[i % width].max(v);
            }
            accessor["min"] = json!(low);
            accessor["max"] = json!(high);
        }
        self.accessors.push(accessor);
        self.accessors.len() - 1
    }

    fn indices(&mut self, triangles: &[[u32; 3]]) -> usize {
        let start = self.bytes.len();
        let all = triangles.as_flattened();
        self.bytes.extend(all.iter().flat_map(|i| i.to_le_bytes()));
        let view = self.view(start, Some(34963));
        self.accessors.push(json!({
            "bufferView": view, "componentType": 5125, "count": all.len(), "type": "SCALAR",
        }));
        self.accessors.len() - 1
    }
}

/// The lowest node that has all parts below it, and where it is in the scene.
fn common_node(model: &Model) -> Option<(usize, DMat4)> {
    let nodes = list(&model.document, "nodes");
    let mut parent = vec![usize::MAX; nodes.len()];
    for (n, node) in nodes.iter().enumerate() {
        for child in list(node, "children").iter().filter_map(Value::as_u64) {
            if let Some(slot) = parent.get_mut(child as usize) {
                *slot = n;
            }
        }
    }
    let way = |mut n: usize| {
        let mut way = vec![n];
        while parent[n] != usize::MAX && way.len() <= nodes.len() {
            n = parent[n];
            way.push(n);
        }
        way.reverse();
        way
    };
    let mut shared: Option<Vec<usize>> = None;
    for part in &model.parts {
        let own = way(part.node);
        shared = Some(match shared {
            None => own,
            Some(shared) => shared
                .into_iter()
                .zip(own)
                .take_while(|(a, b)| a == b)
                .map(|(a, _)| a)
                .collect(),
        });
    }
    let shared = shared?;
    let &last = shared.last()?;
    let placed = shared
        .iter()
        .fold(DMat4::IDENTITY, |m, &n| m * matrix_of(&nodes[n]));
    Some((last, placed))
}

/// The model's pictures: in the file itself, or as files beside it.
fn add_images(
    data: &mut Data,
    model: &Model,
    format: Format,
    stem: &str,
) -> (Vec<Value>, Vec<(String, Vec<u8>)>) {
    let mut files = Vec::new();
    let told = model.images.iter().enumerate().map(|(i, image)| {
        if image.bytes.is_empty() {
            return json!({ "uri": image.name });
        }
        if format == Format::Glb {
            let start = data.bytes.len();
            data.bytes.extend(&image.bytes);
            let view = data.view(start, None);
            return json!({ "name": image.name, "bufferView": view, "mimeType": image.mime });
        }
        let name = image_file(stem, i, &image.mime);
        files.push((name.clone(), image.bytes.clone()));
        json!({ "name": image.name, "uri": name })
    });
    let images = told.collect();
    (images, files)
}

/// The node above all parts of the model, and the way back from where it is placed; `None`
/// where no node can say that way as scale, rotation and translation.
fn parent_of_pieces(model: &Model) -> Option<(usize, DMat4)> {
    let (node, placed) = common_node(model)?;
    let inverse = placed.inverse();
    if !inverse.is_finite() {
        return None;
    }
    let (scale, rotation, translation) = inverse.to_scale_rotation_translation();
    let again = DMat4::from_scale_rotation_translation(scale, rotation, translation);
    let entries = inverse.to_cols_array();
    let largest = entries.iter().fold(1.0, |m: f64, v| v.abs().max(m));
    let exact = again.abs_diff_eq(inverse, 1e-9 * largest);
    exact.then_some((node, inverse))
}

/// Puts a node into the document's scene; makes one where it has none.
fn add_to_scene(root: &mut Value, node: usize) {
    let scene = root["scene"].as_u64().unwrap_or(0) as usize;
    let mut scenes = list(root, "scenes").to_vec();
    if scenes.is_empty() {
        scenes.push(json!({ "nodes": [] }));
    }
    let at = scene.min(scenes.len() - 1);
    let mut roots = list(&scenes[at], "nodes").to_vec();
    roots.push(json!(node));
    scenes[at]["nodes"] = Value::Array(roots);
    root["scenes"] = Value::Array(scenes);
    root["scene"] = json!(at);
}

fn gltf(
    model: &Model,
    pieces: &[ModelPiece],
    look: CrackLook,
    format: Format,
    stem: &str,
) -> Result<Vec<(String, Vec<u8>)>, GlbError> {
    let mut root = model.document.clone();
    root["asset"] =
        json!({ "version": "2.0", "generator": concat!("fracas ", env!("CARGO_PKG_VERSION")) });
    let mut data = Data::default();
    let (images, others) = add_images(&mut data, model, format, stem);
    let mut materials = list(&root, "materials").to_vec();
    materials.push(json!({
        "name": "crack",
        "pbrMetallicRoughness": {
            "baseColorFactor": look.colour, "metallicFactor": 0.0, "roughnessFactor": 0.9,
        },
    }));
    let crack = materials.len() - 1;
    let mut nodes = list(&root, "nodes").to_vec();
    let mut meshes = Vec::new();
    // Fragments hang where the model hung, and stay where they are in the scene.
    let (parent, back) = parent_of_pieces(model).unwrap_or_else(|| {
        nodes.push(json!({ "name": stem }));
        (nodes.len() - 1, DMat4::IDENTITY)
    });
    let is_new = parent >= list(&root, "nodes").len();
    let mut children = list(&nodes[parent], "children").to_vec();
    for piece in pieces {
        let centre = piece.centre.as_vec3();
        let primitives: Vec<Value> = piece
            .surfaces
            .iter()
            .map(|surface| primitive(&mut data, surface, centre, crack))
            .collect();
        if primitives.is_empty() {
            continue;
        }
        meshes.push(json!({ "name": piece.name, "primitives": primitives }));
        let place = back * DMat4::from_translation(centre.as_dvec3());
        let (scale, rotation, translation) = place.to_scale_rotation_translation();
        let rotation = rotation.normalize();
        nodes.push(json!({
            "name": piece.name,
            "mesh": meshes.len() - 1,
            "translation": translation.to_array(),
            "rotation": rotation.to_array(),
            "scale": scale.to_array(),
            "extras": {
                "mass": piece.mass, "volume": piece.volume,
                "centreOfMass": piece.centre.to_array(),
            },
        }));
        children.push(json!(nodes.len() - 1));
    }
    if !children.is_empty() {
        nodes[parent]["children"] = Value::Array(children);
    }
    if is_new {
        add_to_scene(&mut root, parent);
    }
    for (key, all) in [
        ("materials", materials),
        ("nodes", nodes),
        ("meshes", meshes),
        ("images", images),
        ("accessors", data.accessors),
        ("bufferViews", data.views),
    ] {
        if !all.is_empty() {
            root[key] = Value::Array(all);
        }
    }
    let mut buffer = json!({ "byteLength": data.bytes.len() });
    if format == Format::Gltf {
        buffer["uri"] = json!(format!("{stem}.bin"));
    }
    if !data.bytes.is_empty() {
        root["buffers"] = json!([buffer]);
    }
    if format == Format::Gltf {
        let text = serde_json::to_vec_pretty(&root).unwrap_or_default();
        let mut all = vec![
            (format!("{stem}.gltf"), text),
            (format!("{stem}.bin"), data.bytes),
        ];
        all.extend(others);
        return Ok(all);
    }
    let file = container(&root, &data.bytes)?;
    Ok(vec![(format!("{stem}.glb"), file)])
}

fn image_file(stem: &str, i: usize, mime: &str) -> String {
    let end = match mime {
        "image/png" => "png",
        "image/jpeg" => "jpg",
        "image/webp" => "webp",
        "image/ktx2" => "ktx2",
        _ => "bin",
    };
    format!("{stem}-image-{i}.{end}")
}

fn primitive(data: &mut Data, surface: &Buffers, centre: Vec3, crack: usize) -> Value {
    let local: Vec<f32> = surface
        .positions
        .iter()
        .flat_map(|&p| (p - centre).to_array())
        .collect();
    let mut attributes = json!({ "POSITION": data.floats(&local, 3, true) });
    for attribute in &surface.attributes {
        let values = usable(attribute);
        attributes[&attribute.name] = json!(data.floats(&values, attribute.width, false));
    }
    let mut primitive = json!({
        "attributes": attributes,
        "indices": data.indices(&surface.triangles),
    });
    let material = if surface.is_crack {
        Some(crack)
    } else {
        surface.material
    };
    if let Some(material) = material {
        primitive["material"] = json!(material);
    }
    primitive
}

/// Normals and tangents must be unit, colours between zero and one.
pub(crate) fn usable(attribute: &Attribute) -> Vec<f32> {
    let mut values = attribute.values.clone();
    let width = attribute.width;
    if attribute.name == "NORMAL" || attribute.name == "TANGENT" {
        for v in values.chunks_exact_mut(width) {
            let length = Vec3::new(v[0], v[1], v[2]).length();
            if (length - 1.0).abs() > 5e-4 {
                let unit = Vec3::new(v[0], v[1], v[2]).normalize_or(Vec3::Y);
                v[..3].copy_from_slice(&unit.to_array());
            }
        }
    } else if attribute.name.starts_with("COLOR") {
        for v in &mut values {
            *v = v.clamp(0.0, 1.0);
        }
    }
    values
}

fn find<'a>(surface: &'a Buffers, name: &str, width: usize) -> Option<&'a [f32]> {
    let found = surface
        .attributes
        .iter()
        .find(|a| a.name == name && a.width == width);
    found.map(|a| a.values.as_slice())
}

fn base_colour(material: &Value) -> [f64; 4] {
    let factor = &material["pbrMetallicRoughness"]["baseColorFactor"];
    std::array::from_fn(|i| factor[i].as_f64().unwrap_or(1.0))
}

/// The file of a material's base colour texture.
fn base_image(model: &Model, material: &Value, stem: &str) -> Option<String> {
    let texture = material["pbrMetallicRoughness"]["baseColorTexture"]["index"].as_u64()?;
    let source = list(&model.document, "textures").get(texture as usize)?["source"].as_u64()?;
    let image = model.images.get(source as usize)?;
    Some(image_file(stem, source as usize, &image.mime))
}

fn image_files(model: &Model, stem: &str) -> impl Iterator<Item = (String, Vec<u8>)> {
    let all: Vec<(String, Vec<u8>)> = model
        .images
        .iter()
        .enumerate()
        .filter(|(_, image)| !image.bytes.is_empty())
        .map(|(i, image)| (image_file(stem, i, &image.mime), image.bytes.clone()))
        .collect();
    all.into_iter()
}

/// A name that every format can spell.
fn plain_name(name: &str) -> String {
    let mut plain: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
        .collect();
    if plain.is_empty() || plain.starts_with(|c: char| c.is_ascii_digit()) {
        plain.insert(0, '_');
    }
    plain
}

fn material_names(model: &Model) -> Vec<String> {
    let mut names: Vec<String> = list(&model.document, "materials")
        .iter()
        .enumerate()
        .map(|(i, m)| {
            format!(
                "{}_{i}",
                plain_name(m["name"].as_str().unwrap_or("material"))
            )
        })
        .collect();
    names.push("crack".into());
    names
}

/// Writing to a string cannot fail.
macro_rules! line {
    ($out:expr, $($words:tt)*) => {{
        let _ = writeln!($out, $($words)*);
    }};
}

fn obj(
    model: &Model,
    pieces: &[ModelPiece],
    look: CrackLook,
    stem: &str,
) -> Vec<(String, Vec<u8>)> {
    let names = material_names(model);
    let mut out = String::new();
    line!(out, "mtllib {stem}.mtl");
    let (mut vertices, mut uvs, mut normals) = (1, 1, 1);
    for piece in pieces {
        line!(out, "o {}", piece.name);
        for surface in &piece.surfaces {
            let material = if surface.is_crack {
                names.last()
            } else {
                surface.material.and_then(|m| names.get(m))
            };
            if let Some(name) = material {
                line!(out, "usemtl {name}");
            }
            for p in &surface.positions {
                line!(out, "v {} {} {}", p.x, p.y, p.z);
            }
            let own_uvs = find(surface, "TEXCOORD_0", 2).unwrap_or_default();
            for uv in own_uvs.chunks_exact(2) {
                line!(out, "vt {} {}", uv[0], 1.0 - uv[1]);
            }
            let own_normals = find(surface, "NORMAL", 3).unwrap_or_default();
            for n in own_normals.chunks_exact(3) {
                line!(out, "vn {} {} {}", n[0], n[1], n[2]);
            }
            for triangle in &surface.triangles {
                out.push('f');
                for &v in triangle {
                    let at = |first: usize| first + v as usize;
                    let _ = match (own_uvs.is_empty(), own_normals.is_empty()) {
                        (true, true) => write!(out, " {}", at(vertices)),
                        (false, true) => write!(out, " {}/{}", at(vertices), at(uvs)),
                        (true, false) => write!(out, " {}//{}", at(vertices), at(normals)),
                        (false, false) => {
                            write!(out, " {}/{}/{}", at(vertices), at(uvs), at(normals))
                        }
                    };
                }
                out.push('\n');
            }
            vertices += surface.positions.len();
            uvs += own_uvs.len() / 2;
            normals += own_normals.len() / 3;
        }
    }
    let mut library = String::new();
    for (material, name) in list(&model.document, "materials").iter().zip(&names) {
        let [r, g, b, alpha] = base_colour(material);
        line!(library, "newmtl {name}\nKd {r} {g} {b}\nd {alpha}");
        if let Some(file) = base_image(model, material, stem) {
            line!(library, "map_Kd {file}");
        }
    }
    let [r, g, b, alpha] = look.colour;
    line!(library, "newmtl crack\nKd {r} {g} {b}\nd {alpha}");
    let mut all = vec![
        (format!("{stem}.obj"), out.into_bytes()),
        (format!("{stem}.mtl"), library.into_bytes()),
    ];
    all.extend(image_files(model, stem));
    all
}

/// `(x, y, z)`.
fn usda_vector(p: [f32; 3]) -> String {
    format!("({}, {}, {})", p[0], p[1], p[2])
}

/// A surface of a piece, around its centre; `material` is the path of one.
fn usda_mesh(
    out: &mut String,
    (i, surface): (usize, &Buffers),
    centre: Vec3,
    material: Option<&str>,
) {
    let name = if surface.is_crack {
        "crack".to_owned()
    } else {
        format!("skin_{i}")
    };
    line!(
        out,
        "        def Mesh \"{name}\" (\n            prepend apiSchemas = [\"MaterialBindingAPI\"]\n        )\n        {{"
    );
    if let Some(material) = material {
        line!(out, "            rel material:binding = <{material}>");
    }
    line!(
        out,
        "            uniform token subdivisionScheme = \"none\""
    );
    let counts = vec!["3"; surface.triangles.len()].join(", ");
    line!(out, "            int[] faceVertexCounts = [{counts}]");
    let indices: Vec<String> = surface
        .triangles
        .as_flattened()
        .iter()
        .map(u32::to_string)
        .collect();
    line!(
        out,
        "            int[] faceVertexIndices = [{}]",
        indices.join(", ")
    );
    let points: Vec<String> = surface
        .positions
        .iter()
        .map(|&p| usda_vector((p - centre).to_array()))
        .collect();
    line!(
        out,
        "            point3f[] points = [{}]",
        points.join(", ")
    );
    if let Some(normals) = find(surface, "NORMAL", 3) {
        let all: Vec<String> = normals
            .chunks_exact(3)
            .map(|n| usda_vector([n[0], n[1], n[2]]))
            .collect();
        line!(
            out,
            "            normal3f[] normals = [{}] (\n                interpolation = \"vertex\"\n            )",
            all.join(", ")
        );
    }
    if let Some(uvs) = find(surface, "TEXCOORD_0", 2) {
        let all: Vec<String> = uvs
            .chunks_exact(2)
            .map(|uv| format!("({}, {})", uv[0], 1.0 - uv[1]))
            .collect();
        line!(
            out,
            "            texCoord2f[] primvars:st = [{}] (\n                interpolation = \"vertex\"\n            )",
            all.join(", ")
        );
    }
    line!(out, "        }}");
}

/// A material under `Looks`, with the picture that it shows.
fn usda_material(
    out: &mut String,
    material: &Value,
    image: Option<String>,
    (root, name): (&str, &str),
) {
    let [r, g, b, alpha] = base_colour(material);
    let path = format!("/{root}/Looks/{name}");
    line!(out, "        def Material \"{name}\"\n        {{");
    line!(
        out,
        "            token outputs:surface.connect = <{path}/Surface.outputs:surface>"
    );
    line!(out, "            def Shader \"Surface\"\n            {{");
    line!(
        out,
        "                uniform token info:id = \"UsdPreviewSurface\""
    );
    if image.is_some() {
        line!(
            out,
            "                color3f inputs:diffuseColor.connect = <{path}/Picture.outputs:rgb>"
        );
    } else {
        line!(
            out,
            "                color3f inputs:diffuseColor = ({r}, {g}, {b})"
        );
    }
    line!(out, "                float inputs:opacity = {alpha}");
    line!(out, "                token outputs:surface\n            }}");
    if let Some(file) = image {
        line!(out, "            def Shader \"Reader\"\n            {{");
        line!(
            out,
            "                uniform token info:id = \"UsdPrimvarReader_float2\"\n                string inputs:varname = \"st\"\n                float2 outputs:result\n            }}"
        );
        line!(out, "            def Shader \"Picture\"\n            {{");
        line!(
            out,
            "                uniform token info:id = \"UsdUVTexture\"\n                asset inputs:file = @{file}@\n                float2 inputs:st.connect = <{path}/Reader.outputs:result>\n                token inputs:wrapS = \"repeat\"\n                token inputs:wrapT = \"repeat\"\n                float4 inputs:scale = ({r}, {g}, {b}, 1)\n                float3 outputs:rgb\n            }}"
        );
    }
    line!(out, "        }}");
}

fn usda(
    model: &Model,
    pieces: &[ModelPiece],
    look: CrackLook,
    stem: &str,
) -> Vec<(String, Vec<u8>)> {
    let names = material_names(model);
    let root = plain_name(stem);
    let mut out = String::from("#usda 1.0\n");
    line!(
        out,
        "(\n    defaultPrim = \"{root}\"\n    upAxis = \"Y\"\n    metersPerUnit = 1\n)\n"
    );
    line!(out, "def Xform \"{root}\"\n{{");
    for piece in pieces {
        let centre = piece.centre.as_vec3();
        line!(out, "    def Xform \"{}\"\n    {{", plain_name(&piece.name));
        line!(out, "        custom double fracas:mass = {}", piece.mass);
        line!(
            out,
            "        custom double fracas:volume = {}",
            piece.volume
        );
        line!(
            out,
            "        double3 xformOp:translate = {}",
            usda_vector(centre.to_array())
        );
        line!(
            out,
            "        uniform token[] xformOpOrder = [\"xformOp:translate\"]"
        );
        for (i, surface) in piece.surfaces.iter().enumerate() {
            let material = if surface.is_crack {
                names.last()
            } else {
                surface.material.and_then(|m| names.get(m))
            };
            let material = material.map(|name| format!("/{root}/Looks/{name}"));
            usda_mesh(&mut out, (i, surface), centre, material.as_deref());
        }
        line!(out, "    }}");
    }
    line!(out, "    def Scope \"Looks\"\n    {{");
    let crack = json!({ "pbrMetallicRoughness": { "baseColorFactor": look.colour } });
    let materials = list(&model.document, "materials").iter().chain([&crack]);
    for (material, name) in materials.zip(&names) {
        let image = base_image(model, material, stem);
        usda_material(&mut out, material, image, (&root, name));
    }
    line!(out, "    }}\n}}");
    let mut all = vec![(format!("{stem}.usda"), out.into_bytes())];
    all.extend(image_files(model, stem));
    all
}

/// The volume that triangles enclose: for checks.
#[must_use]
#[cfg_attr(feature = "research", visibility::make(pub))]
pub(crate) fn enclosed_volume(surfaces: &[Buffers]) -> f64 {
    let mut sum = 0.0;
    for surface in surfaces {
        for triangle in &surface.triangles {
            let [a, b, c]: [DVec3; 3] = triangle.map(|v| surface.positions[v as usize].as_dvec3());
            sum += a.dot(b.cross(c)) / 6.0;
        }
    }
    sum
}
