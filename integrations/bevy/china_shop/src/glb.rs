//! Writes a scene of textured things as GLB: one node, mesh, material and picture a thing.

use fracas_core::TetMesh;

/// Red, green, blue, opacity.
pub type Pixel = [u8; 4];

/// A textured thing.
pub struct Thing {
    /// What it is made of, and what it is.
    pub name: String,
    /// In metres, above the place where it stands.
    pub positions: Vec<[f32; 3]>,
    /// Of the positions.
    pub normals: Vec<[f32; 3]>,
    /// Where in the picture the positions are.
    pub uvs: Vec<[f32; 2]>,
    /// Numbers of positions, counterclockwise from outside.
    pub triangles: Vec<[u32; 3]>,
    /// Its colours.
    pub picture: Picture,
    /// As in glTF, 0 to 1.
    pub roughness: f32,
    /// Where it stands, any number of times.
    pub places: Vec<[f32; 3]>,
    /// What it is made of, where its mesh is not to be filled.
    pub tets: Option<TetMesh>,
}

/// A square picture, row by row.
pub struct Picture {
    /// In pixels.
    pub side: u32,
    /// From the top left on.
    pub pixels: Vec<Pixel>,
}

/// The bytes of a GLB file.
#[must_use]
pub fn write(things: &[Thing]) -> Vec<u8> {
    let mut binary = Binary::default();
    let (mut nodes, mut meshes) = (Vec::new(), Vec::new());
    let (mut materials, mut textures, mut images) = (Vec::new(), Vec::new(), Vec::new());
    for (i, thing) in things.iter().enumerate() {
        let Thing { name, .. } = thing;
        let positions = binary.add_positions(&thing.positions);
        let normals = binary.add_floats(thing.normals.as_flattened(), 3);
        let uvs = binary.add_floats(thing.uvs.as_flattened(), 2);
        let corners = binary.add_corners(thing.triangles.as_flattened());
        let picture = binary.add_view(&png(&thing.picture));
        meshes.push(format!(
            r#"{{"name":"{name}","primitives":[{{"attributes":{{"POSITION":{positions},"NORMAL":{normals},"TEXCOORD_0":{uvs}}},"indices":{corners},"material":{i}}}]}}"#
        ));
        let is_clear = thing.picture.pixels.iter().any(|p| p[3] < 255);
        let mode = if is_clear { "BLEND" } else { "OPAQUE" };
        let roughness = thing.roughness;
        materials.push(format!(
            r#"{{"name":"{name}","alphaMode":"{mode}","pbrMetallicRoughness":{{"baseColorTexture":{{"index":{i}}},"metallicFactor":0,"roughnessFactor":{roughness}}}}}"#
        ));
        textures.push(format!(r#"{{"source":{i}}}"#));
        images.push(format!(
            r#"{{"bufferView":{picture},"mimeType":"image/png"}}"#
        ));
        for [x, y, z] in &thing.places {
            nodes.push(format!(
                r#"{{"name":"{name}","mesh":{i},"translation":[{x},{y},{z}]}}"#
            ));
        }
    }
    let roots: Vec<String> = (0..nodes.len()).map(|n| n.to_string()).collect();
    let list = |parts: &[String]| parts.join(",");
    let json = format!(
        r#"{{"asset":{{"version":"2.0"}},"scene":0,"scenes":[{{"nodes":[{}]}}],"nodes":[{}],"meshes":[{}],"materials":[{}],"textures":[{}],"images":[{}],"accessors":[{}],"bufferViews":[{}],"buffers":[{{"byteLength":{}}}]}}"#,
        list(&roots),
        list(&nodes),
        list(&meshes),
        list(&materials),
        list(&textures),
        list(&images),
        list(&binary.accessors),
        list(&binary.views),
        binary.bytes.len()
    );
    let mut json = json.into_bytes();
    json.resize(json.len().next_multiple_of(4), b' ');
    let length = 12 + 8 + json.len() + 8 + binary.bytes.len();
    let mut file = b"glTF".to_vec();
    for number in [2, length as u32, json.len() as u32] {
        file.extend(number.to_le_bytes());
    }
    file.extend(b"JSON");
    file.extend(json);
    file.extend((binary.bytes.len() as u32).to_le_bytes());
    file.extend(b"BIN\0");
    file.extend(binary.bytes);
    file
}

/// The buffer, and what says where what is in it.
#[derive(Default)]
struct Binary {
    bytes: Vec<u8>,
    views: Vec<String>,
    accessors: Vec<String>,
}

impl Binary {
    fn add_view(&mut self, bytes: &[u8]) -> usize {
        let (offset, length) = (self.bytes.len(), bytes.len());
        self.bytes.extend(bytes);
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        self.views.push(format!(
            r#"{{"buffer":0,"byteOffset":{offset},"byteLength":{length}}}"#
        ));
        self.views.len() - 1
    }

    fn add_accessor(&mut self, bytes: &[u8], what: &str) -> usize {
        let view = self.add_view(bytes);
        self.accessors
            .push(format!(r#"{{"bufferView":{view},{what}}}"#));
        self.accessors.len() - 1
    }

    fn add_floats(&mut self, values: &[f32], width: usize) -> usize {
        let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        let count = values.len() / width;
        let what = format!(r#""componentType":5126,"count":{count},"type":"VEC{width}""#);
        self.add_accessor(&bytes, &what)
    }

    /// Positions say their bounds, too.
    fn add_positions(&mut self, points: &[[f32; 3]]) -> usize {
        let (mut low, mut high) = ([f32::MAX; 3], [f32::MIN; 3]);
        for point in points {
            for k in 0..3 {
                low[k] = low[k].min(point[k]);
                high[k] = high[k].max(point[k]);
            }
        }
        let values = points.as_flattened();
        let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        let count = points.len();
        let what = format!(
            r#""componentType":5126,"count":{count},"type":"VEC3","min":{low:?},"max":{high:?}"#
        );
        self.add_accessor(&bytes, &what)
    }

    fn add_corners(&mut self, corners: &[u32]) -> usize {
        let bytes: Vec<u8> = corners.iter().flat_map(|v| v.to_le_bytes()).collect();
        let count = corners.len();
        let what = format!(r#""componentType":5125,"count":{count},"type":"SCALAR""#);
        self.add_accessor(&bytes, &what)
    }
}

/// A picture as PNG, not compressed: nothing is needed for it but sums.
fn png(picture: &Picture) -> Vec<u8> {
    let side = picture.side as usize;
    let mut rows = Vec::with_capacity((4 * side + 1) * side);
    for row in picture.pixels.chunks(side) {
        rows.push(0);
        rows.extend(row.as_flattened());
    }
    let mut data = vec![0x78, 0x01];
    let mut blocks = rows.chunks(65_535).peekable();
    while let Some(block) = blocks.next() {
        data.push(u8::from(blocks.peek().is_none()));
        let length = block.len() as u16;
        data.extend(length.to_le_bytes());
        data.extend((!length).to_le_bytes());
        data.extend(block);
    }
    data.extend(adler(&rows).to_be_bytes());
    let mut header = Vec::new();
    header.extend(picture.side.to_be_bytes());
    header.extend(picture.side.to_be_bytes());
    // Eight bits of red, green, blue and opacity.
    header.extend([8, 6, 0, 0, 0]);
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    for (name, bytes) in [(b"IHDR", &header), (b"IDAT", &data), (b"IEND", &Vec::new())] {
        file.extend((bytes.len() as u32).to_be_bytes());
        let start = file.len();
        file.extend(name);
        file.extend(bytes);
        let sum = crc(&file[start..]);
        file.extend(sum.to_be_bytes());
    }
    file
}

fn adler(bytes: &[u8]) -> u32 {
    let (mut a, mut b) = (1_u32, 0_u32);
    for &byte in bytes {
        a = (a + u32::from(byte)) % 65_521;
        b = (b + a) % 65_521;
    }
    b << 16 | a
}

fn crc(bytes: &[u8]) -> u32 {
    let mut sum = u32::MAX;
    for &byte in bytes {
        sum ^= u32::from(byte);
        for _ in 0..8 {
            let is_odd = sum & 1 == 1;
            sum >>= 1;
            if is_odd {
                sum ^= 0xedb8_8320;
            }
        }
    }
    !sum
}
