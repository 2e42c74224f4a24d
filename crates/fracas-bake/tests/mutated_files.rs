//! No file, however damaged, makes a reader panic, hang or return a broken mesh.
//!
//! A small file of every format and encoding is written here, read once as it is, and
//! then cut short at every byte, changed at every byte, and mutated at random: bytes
//! flipped, ranges removed, doubled or taken from another place, numbers replaced by
//! nasty ones.

use std::io::Write as _;
use std::time::{Duration, Instant};

use fracas_bake::{Mesh, ReadError, read_bytes_with};
use proptest::prelude::*;

/// No reading of a file of a kilobyte may come near this, on whatever machine.
const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Clone)]
struct Sample {
    name: &'static str,
    bytes: Vec<u8>,
    /// The other file of a pair.
    beside: Option<Vec<u8>>,
}

impl Sample {
    fn new(name: &'static str, bytes: impl Into<Vec<u8>>) -> Self {
        Self {
            name,
            bytes: bytes.into(),
            beside: None,
        }
    }

    fn with(self, beside: impl Into<Vec<u8>>) -> Self {
        Self {
            beside: Some(beside.into()),
            ..self
        }
    }

    /// Reads it, and holds a mesh that comes out to its own promises.
    fn read(&self) -> Result<Mesh, ReadError> {
        let start = Instant::now();
        let missing = read_bytes_with("none", b"", &mut |_| unreachable!()).unwrap_err();
        let beside = self.beside.clone();
        let result = read_bytes_with(self.name, &self.bytes, &mut |_| {
            beside.clone().ok_or_else(|| missing.clone())
        });
        match &result {
            Ok(Mesh::Surface(mesh, _)) => mesh.validate().unwrap(),
            Ok(Mesh::Tets(soup)) => {
                if let Ok((mesh, _)) = soup.clone().into_mesh() {
                    mesh.validate().unwrap();
                }
            }
            Err(error) => {
                assert!(!error.reason().is_empty() && !error.help().is_empty());
                assert!(!error.file().is_empty());
            }
        }
        assert!(start.elapsed() < PATIENCE, "{} took too long", self.name);
        result
    }
}

const QUAD_CUBE: [[u8; 4]; 6] = [
    [0, 2, 3, 1],
    [4, 5, 7, 6],
    [0, 1, 5, 4],
    [2, 6, 7, 3],
    [0, 4, 6, 2],
    [1, 3, 7, 5],
];

fn cube_corner(v: u8) -> [u8; 3] {
    [v & 1, v >> 1 & 1, v >> 2]
}

/// Two tetrahedra on a common face.
const TET_NODES: [[f64; 3]; 5] = [
    [0.0, 0.0, 0.0],
    [1.0, 0.0, 0.0],
    [0.0, 1.0, 0.0],
    [0.0, 0.0, 1.0],
    [1.0, 1.0, 1.0],
];
const TETS: [[u8; 4]; 2] = [[0, 1, 2, 3], [1, 3, 2, 4]];

fn lines<const N: usize, T: ToString>(rows: &[[T; N]]) -> String {
    let line = |row: &[T; N]| row.iter().map(T::to_string).collect::<Vec<_>>().join(" ") + "\n";
    rows.iter().map(line).collect()
}

fn obj() -> String {
    let mut text = String::from("# cube\nmtllib x.mtl\nvt 0 0\nvt 1 0.5\n");
    for v in 0..8 {
        let [x, y, z] = cube_corner(v);
        text += &format!("v {x} {y} {z}\n");
    }
    for [a, b, c, d] in QUAD_CUBE {
        text += &format!("f {}/1 {}/2 {}/-1 {}/1\n", a + 1, b + 1, c + 1, d + 1);
    }
    text + "f -1 -2 -3\nf 1/1/ 2// 3\n"
}

fn off() -> String {
    let corners: Vec<_> = (0..8).map(cube_corner).collect();
    let faces: String = QUAD_CUBE
        .iter()
        .map(|[a, b, c, d]| format!("4 {a} {b} {c} {d}\n"))
        .collect();
    format!("OFF\n8 6 0\n{}{faces}", lines(&corners))
}

fn ply(format: &str) -> Vec<u8> {
    let mut file = format!("ply\nformat {format} 1.0\ncomment a cube\nelement vertex 8\nproperty float x\nproperty double y\nproperty int z\nproperty uchar red\nelement face 6\nproperty list uchar ushort vertex_indices\nproperty list int short extra\nend_header\n").into_bytes();
    let big = format.ends_with("big_endian");
    macro_rules! put {
        ($n:expr) => {
            file.extend_from_slice(&if big {
                $n.to_be_bytes()
            } else {
                $n.to_le_bytes()
            })
        };
    }
    for v in 0..8 {
        let [x, y, z] = cube_corner(v);
        if format == "ascii" {
            writeln!(file, "{x} {y} {z} 255").unwrap();
            continue;
        }
        put!(f32::from(x));
        put!(f64::from(y));
        put!(i32::from(z));
        put!(255_u8);
    }
    for face in QUAD_CUBE {
        if format == "ascii" {
            let [a, b, c, d] = face;
            writeln!(file, "4 {a} {b} {c} {d} 1 7").unwrap();
            continue;
        }
        put!(4_u8);
        for v in face {
            put!(u16::from(v));
        }
        put!(1_i32);
        put!(7_i16);
    }
    file
}

fn stl_triangles() -> Vec<[[u8; 3]; 3]> {
    QUAD_CUBE
        .iter()
        .flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]])
        .map(|t| t.map(cube_corner))
        .collect()
}

fn stl_text() -> String {
    let mut text = String::from("solid cube\n");
    for corners in stl_triangles() {
        text += "facet normal 0 0 0\nouter loop\n";
        for [x, y, z] in corners {
            text += &format!("vertex {x} {y} {z}\n");
        }
        text += "endloop\nendfacet\n";
    }
    text + "endsolid cube\n"
}

fn stl_binary() -> Vec<u8> {
    let mut file = vec![b' '; 80];
    file.extend_from_slice(&12_u32.to_le_bytes());
    for corners in stl_triangles() {
        file.extend_from_slice(&[0; 12]);
        for number in corners.iter().flatten() {
            file.extend_from_slice(&f32::from(*number).to_le_bytes());
        }
        file.extend_from_slice(&[0; 2]);
    }
    file
}

fn gltf_buffer() -> Vec<u8> {
    let mut bytes = Vec::new();
    for v in 0..8 {
        for number in cube_corner(v) {
            bytes.extend_from_slice(&f32::from(number).to_le_bytes());
        }
    }
    bytes.extend(
        QUAD_CUBE
            .iter()
            .flat_map(|&[a, b, c, d]| [a, b, c, a, c, d]),
    );
    bytes
}

fn gltf(uri: &str) -> String {
    format!(
        r#"{{"asset":{{"version":"2.0"}},"scene":0,"scenes":[{{"nodes":[0]}}],"nodes":[{{"mesh":0,"children":[1]}},{{"mesh":0,"translation":[2,0,0],"rotation":[0,0,0,1]}}],"meshes":[{{"primitives":[{{"attributes":{{"POSITION":0}},"indices":1}}]}}],"accessors":[{{"bufferView":0,"componentType":5126,"count":8,"type":"VEC3"}},{{"bufferView":1,"componentType":5121,"count":36,"type":"SCALAR"}}],"bufferViews":[{{"buffer":0,"byteLength":96,"byteStride":12}},{{"buffer":0,"byteOffset":96,"byteLength":36}}],"buffers":[{{{uri}"byteLength":132}}]}}"#
    )
}

fn glb() -> Vec<u8> {
    let mut json = gltf("").into_bytes();
    json.resize(json.len().next_multiple_of(4), b' ');
    let mut file = b"glTF\x02\0\0\0\0\0\0\0".to_vec();
    for (kind, data) in [(b"JSON", &json), (b"BIN\0", &gltf_buffer())] {
        file.extend_from_slice(&(data.len() as u32).to_le_bytes());
        file.extend_from_slice(kind);
        file.extend_from_slice(data);
    }
    file
}

fn msh_2(binary: bool) -> Vec<u8> {
    if !binary {
        let mut text = String::from(
            "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n1\n3 1 \"a\"\n$EndPhysicalNames\n$Nodes\n5\n",
        );
        for (i, [x, y, z]) in TET_NODES.iter().enumerate() {
            text += &format!("{} {x} {y} {z}\n", 10 * i + 7);
        }
        text += "$EndNodes\n$Elements\n3\n1 15 2 0 1 7\n";
        for (t, tet) in TETS.iter().enumerate() {
            let [a, b, c, d] = tet.map(|n| 10 * u32::from(n) + 7);
            text += &format!("{} 4 2 0 1 {a} {b} {c} {d}\n", t + 2);
        }
        return (text + "$EndElements\n").into_bytes();
    }
    // Big-endian, to have that too.
    let mut file = b"$MeshFormat\n2.2 1 8\n\0\0\0\x01\n$EndMeshFormat\n$Nodes\n5\n".to_vec();
    for (i, node) in TET_NODES.iter().enumerate() {
        file.extend_from_slice(&(i as i32 + 1).to_be_bytes());
        node.iter()
            .for_each(|x| file.extend_from_slice(&x.to_be_bytes()));
    }
    file.extend_from_slice(b"\n$EndNodes\n$Elements\n2\n");
    [4_i32, 2, 1]
        .iter()
        .for_each(|n| file.extend_from_slice(&n.to_be_bytes()));
    for (t, tet) in TETS.iter().enumerate() {
        let tet = tet.map(|n| i32::from(n) + 1);
        let numbers = [&[t as i32 + 1, 9][..], &tet].concat();
        numbers
            .iter()
            .for_each(|n| file.extend_from_slice(&n.to_be_bytes()));
    }
    file.extend_from_slice(b"\n$EndElements\n");
    file
}

fn msh_4(binary: bool) -> Vec<u8> {
    if !binary {
        let nodes = lines(&TET_NODES);
        return format!("$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Entities\n0 0 0 1\n1 0 0 0 1 1 1 0 0\n$EndEntities\n$Nodes\n1 5 1 5\n3 1 0 5\n1\n2\n3\n4\n5\n{nodes}$EndNodes\n$Elements\n2 3 1 3\n2 1 2 1\n1 1 2 3\n3 1 4 2\n2 1 2 3 4\n3 2 4 3 5\n$EndElements\n").into_bytes();
    }
    let mut file = b"$MeshFormat\n4.1 1 8\n\x01\0\0\0\n$EndMeshFormat\n$Nodes\n".to_vec();
    let sizes = |file: &mut Vec<u8>, numbers: &[u64]| {
        numbers
            .iter()
            .for_each(|n| file.extend_from_slice(&n.to_le_bytes()));
    };
    let ints = |file: &mut Vec<u8>, numbers: &[i32]| {
        numbers
            .iter()
            .for_each(|n| file.extend_from_slice(&n.to_le_bytes()));
    };
    sizes(&mut file, &[1, 5, 1, 5]);
    ints(&mut file, &[3, 1, 0]);
    sizes(&mut file, &[5, 1, 2, 3, 4, 5]);
    TET_NODES
        .iter()
        .flatten()
        .for_each(|x| file.extend_from_slice(&x.to_le_bytes()));
    file.extend_from_slice(b"\n$EndNodes\n$Elements\n");
    sizes(&mut file, &[1, 2, 1, 2]);
    ints(&mut file, &[3, 1, 4]);
    sizes(&mut file, &[2]);
    for (t, tet) in TETS.iter().enumerate() {
        sizes(&mut file, &[t as u64 + 1]);
        sizes(&mut file, &tet.map(|n| u64::from(n) + 1));
    }
    file.extend_from_slice(b"\n$EndElements\n");
    file
}

fn medit() -> String {
    let nodes: String = TET_NODES
        .iter()
        .map(|[x, y, z]| format!("{x} {y} {z} 0\n"))
        .collect();
    let tets: String = TETS
        .iter()
        .map(|tet| lines(&[tet.map(|n| n + 1)]).replace('\n', " 1\n"))
        .collect();
    format!(
        "MeshVersionFormatted 2\nDimension 3\nVertices\n5\n{nodes}Triangles\n1\n1 2 3 0\nEdges 1\n1 2 0\nTetrahedra\n2\n{tets}End\n"
    )
}

fn tetgen() -> (String, String) {
    let numbered = |i: usize, row: String| format!("{} {row}", i + 1);
    let nodes: String = (0..5)
        .map(|i| numbered(i, lines(&[TET_NODES[i]])))
        .collect();
    let tets: String = (0..2)
        .map(|t| numbered(t, lines(&[TETS[t].map(|n| n + 1)])))
        .collect();
    (format!("5 3 0 0\n{nodes}"), format!("2 4 0\n{tets}"))
}

fn vtk(binary: bool) -> Vec<u8> {
    let head = |encoding| {
        format!(
            "# vtk DataFile Version 3.0\ntitle\n{encoding}\nDATASET UNSTRUCTURED_GRID\nPOINTS 5 double\n"
        )
    };
    if !binary {
        return format!(
            "{}{}CELLS 3 12\n4 0 1 2 3\n4 1 3 2 4\n1 0\nCELL_TYPES 3\n10\n10\n1\nCELL_DATA 3\n",
            head("ASCII"),
            lines(&TET_NODES)
        )
        .into_bytes();
    }
    let mut file = head("BINARY").into_bytes();
    TET_NODES
        .iter()
        .flatten()
        .for_each(|x| file.extend_from_slice(&x.to_be_bytes()));
    let ints = |file: &mut Vec<u8>, numbers: &[i32]| {
        numbers
            .iter()
            .for_each(|n| file.extend_from_slice(&n.to_be_bytes()));
    };
    file.extend_from_slice(b"\nCELLS 2 10\n");
    ints(&mut file, &[4, 0, 1, 2, 3, 4, 1, 3, 2, 4]);
    file.extend_from_slice(b"\nCELL_TYPES 2\n");
    ints(&mut file, &[10, 10]);
    file
}

fn vtk_offsets() -> String {
    let nodes = lines(&TET_NODES);
    format!(
        "# vtk DataFile Version 5.1\ntitle\nASCII\nDATASET UNSTRUCTURED_GRID\nFIELD FieldData 1\nT 1 2 double\n1 2\nPOINTS 5 double\n{nodes}METADATA\nINFORMATION 0\n\nCELLS 3 8\nOFFSETS vtktypeint64\n0 4 8\nCONNECTIVITY vtktypeint64\n0 1 2 3 1 3 2 4\nCELL_TYPES 2\n10 10\n"
    )
}

fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn vtu() -> String {
    let points: String = lines(&TET_NODES);
    format!(
        "<VTKFile type=\"UnstructuredGrid\" byte_order=\"LittleEndian\">\n<UnstructuredGrid><Piece NumberOfPoints=\"5\" NumberOfCells=\"2\">\n<Points><DataArray type=\"Float64\" NumberOfComponents=\"3\" format=\"ascii\">\n{points}</DataArray></Points>\n<Cells><DataArray type=\"Int32\" Name=\"connectivity\">{}</DataArray>\n<DataArray type=\"Int32\" Name=\"offsets\">4 8</DataArray>\n<DataArray type=\"UInt8\" Name=\"types\">10 10</DataArray></Cells></Piece></UnstructuredGrid></VTKFile>\n",
        lines(&TETS)
    )
}

fn samples() -> Vec<Sample> {
    let (node, ele) = tetgen();
    vec![
        Sample::new("a.obj", obj()),
        Sample::new("a.off", off()),
        Sample::new("a.ply", ply("ascii")),
        Sample::new("a.ply", ply("binary_little_endian")),
        Sample::new("a.ply", ply("binary_big_endian")),
        Sample::new("a.stl", stl_text()),
        Sample::new("a.stl", stl_binary()),
        Sample::new("a.glb", glb()),
        Sample::new("a.gltf", gltf("\"uri\":\"b.bin\",")).with(gltf_buffer()),
        Sample::new("a.msh", msh_2(false)),
        Sample::new("a.msh", msh_2(true)),
        Sample::new("a.msh", msh_4(false)),
        Sample::new("a.msh", msh_4(true)),
        Sample::new("a.mesh", medit()),
        Sample::new("a.node", node.clone()).with(ele.clone()),
        Sample::new("a.ele", ele).with(node),
        Sample::new("a.vtk", vtk(false)),
        Sample::new("a.vtk", vtk(true)),
        Sample::new("a.vtk", vtk_offsets()),
        Sample::new("a.vtu", vtu()),
        Sample::new("a.obj.gz", gzipped(obj().as_bytes())),
    ]
}

#[test]
fn every_sample_is_read_as_it_is() {
    for sample in samples() {
        match sample.read().unwrap() {
            Mesh::Surface(mesh, repairs) => {
                let cubes = if sample.name.starts_with("a.gl") {
                    2
                } else {
                    1
                };
                let extra = if sample.name.starts_with("a.obj") {
                    2
                } else {
                    0
                };
                let report = fracas_bake::inspect_surface(&mesh);
                assert_eq!(
                    report.triangles,
                    12 * cubes + extra,
                    "{}: {repairs}",
                    sample.name
                );
                if extra == 0 {
                    assert!(
                        (report.volume - cubes as f64).abs() < 1e-12,
                        "{}",
                        sample.name
                    );
                }
            }
            Mesh::Tets(soup) => {
                assert_eq!(soup.positions().len(), 5, "{}", sample.name);
                let expected = TETS.map(|t| t.map(u32::from));
                assert_eq!(soup.tets(), expected, "{}", sample.name);
                let (mesh, _) = soup.into_mesh().unwrap();
                assert!((mesh.volume() - 0.5).abs() < 1e-12, "{}", sample.name);
            }
        }
    }
}

#[test]
fn every_sample_is_survived_when_cut_short_or_changed_at_any_byte() {
    for sample in samples() {
        let mut changed = sample.clone();
        for at in 0..sample.bytes.len() {
            changed.bytes.truncate(at);
            let _ = changed.read();
            changed.bytes.clone_from(&sample.bytes);
            for byte in [0, b'\n', b'-', b'9', 0x7f, 0xff, sample.bytes[at] ^ 1] {
                changed.bytes[at] = byte;
                let _ = changed.read();
            }
            changed.bytes[at] = sample.bytes[at];
        }
    }
}

/// A file may be short of the end of its last line; anything shorter is an error.
#[test]
fn a_file_cut_in_half_is_an_error() {
    for sample in samples() {
        let mut half = sample.clone();
        half.bytes.truncate(sample.bytes.len() / 2);
        // OBJ has neither counts nor an end: half of it is a whole file.
        if sample.name != "a.obj" {
            assert!(half.read().is_err(), "{}", sample.name);
        }
    }
}

#[test]
fn a_gzip_bomb_is_refused() {
    let bomb = gzipped(&vec![b'\n'; 50_000_000]);
    assert!(bomb.len() < 100_000);
    let error = Sample::new("a.obj.gz", bomb).read().unwrap_err();
    assert_eq!(error.kind(), fracas_bake::ReadErrorKind::TooLarge);
}

#[derive(Clone, Debug)]
enum Mutation {
    Flip(usize, u8),
    Truncate(usize),
    Remove(usize, usize),
    Repeat(usize, usize),
    Move(usize, usize, usize),
    Number(usize, usize),
    Four(usize, u32),
}

const NASTY: [&str; 12] = [
    "4294967295",
    "4294967296",
    "18446744073709551615",
    "99999999999999999999999",
    "-1",
    "0",
    "-9223372036854775808",
    "nan",
    "-inf",
    "1e999",
    "1e-320",
    "353535235358",
];

fn mutation() -> impl Strategy<Value = Mutation> {
    let at = || any::<usize>();
    prop_oneof![
        1 => (at(), any::<u8>()).prop_map(|(a, b)| Mutation::Flip(a, b)),
        1 => at().prop_map(Mutation::Truncate),
        1 => (at(), 1..40_usize).prop_map(|(a, n)| Mutation::Remove(a, n)),
        1 => (at(), 1..60_usize).prop_map(|(a, n)| Mutation::Repeat(a, n)),
        1 => (at(), at(), 1..40_usize).prop_map(|(a, b, n)| Mutation::Move(a, b, n)),
        4 => (at(), 0..NASTY.len()).prop_map(|(a, n)| Mutation::Number(a, n)),
        2 => (at(), any::<u32>()).prop_map(|(a, n)| Mutation::Four(a, n)),
    ]
}

fn apply(mutation: &Mutation, bytes: &mut Vec<u8>) {
    let length = bytes.len();
    if length == 0 {
        return;
    }
    let range = |at: usize, n: usize| at % length..(at % length + n).min(length);
    match *mutation {
        Mutation::Flip(at, byte) => bytes[at % length] = byte,
        Mutation::Truncate(at) => bytes.truncate(at % length),
        Mutation::Remove(at, n) => drop(bytes.drain(range(at, n))),
        Mutation::Repeat(at, n) => {
            let part = bytes[range(at, n)].to_vec();
            bytes.splice(at % length..at % length, part);
        }
        Mutation::Move(from, to, n) => {
            let part = bytes[range(from, n)].to_vec();
            let target = range(to, part.len());
            bytes.splice(target, part);
        }
        Mutation::Number(at, which) => {
            // The next run of digits becomes a nasty number.
            let is_digit = |b: &u8| b.is_ascii_digit();
            let Some(start) = bytes[at % length..].iter().position(is_digit) else {
                return;
            };
            let start = at % length + start;
            let end = bytes[start..]
                .iter()
                .position(|b| !is_digit(b))
                .map_or(length, |n| start + n);
            bytes.splice(start..end, NASTY[which].bytes());
        }
        Mutation::Four(at, number) => {
            // A binary count or index: often all ones, zeros or small.
            let number = [number, u32::MAX, 0, 1, i32::MAX as u32][number as usize % 5];
            let range = range(at, 4);
            let raw = number.to_le_bytes();
            let taken = range.len();
            bytes[range].copy_from_slice(&raw[..taken]);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn random_mutations_are_survived(
        which in 0..21_usize,
        mutations in prop::collection::vec(mutation(), 1..5),
    ) {
        let mut sample = samples().swap_remove(which);
        for mutation in &mutations {
            apply(mutation, &mut sample.bytes);
        }
        let _ = sample.read();
    }
}
