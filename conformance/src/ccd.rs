//! The public ground truth for continuous collision detection: single queries with
//! rational coordinates, and whole scenes with every true pair.
//!
//! Numbering of a scene's features, as its lists use it: a vertex is its index v,
//! an edge `nV + e`, a face `nV + nE + f`; edges are the unique pairs of vertices,
//! sorted by the larger, then the smaller index.

use std::collections::BTreeSet;
use std::io::Read as _;
use std::path::Path;

use fracas_core::primitives::{edge_edge_ccd, vertex_face_ccd};
use fracas_fastcd::{Contacts, FastBvh};
use glam::DVec3;

/// One labelled query: four points at the start, four at the end of the step.
/// Vertex-face: vertex, then corners. Edge-edge: two ends, two ends.
#[derive(Clone, Copy, Debug)]
pub struct Query {
    /// The moving points.
    pub points: [[DVec3; 2]; 4],
    /// Whether they collide, decided exactly.
    pub collides: bool,
}

impl Query {
    /// The first impact by the exact test and by the quick one; `kind` is that of the
    /// query's folder.
    #[must_use]
    pub fn find_impacts(&self, kind: &str) -> [Option<f64>; 2] {
        let [p, q, r, s] = &self.points;
        if kind == "vertex-face" {
            [
                vertex_face_ccd::first_impact_exactly(p, [q, r, s]),
                vertex_face_ccd::first_impact(p, [q, r, s]),
            ]
        } else {
            [
                edge_edge_ccd::first_impact_exactly([p, q], [r, s]),
                edge_edge_ccd::first_impact([p, q], [r, s]),
            ]
        }
    }
}

/// The queries of one CSV file: eight rows each, numerator and denominator per
/// coordinate, and the label (absent labels read as false).
///
/// # Panics
/// When the file is not of that form, or a coordinate is no `f64`.
#[must_use]
pub fn read_queries(path: &Path) -> Vec<Query> {
    let text = std::fs::read_to_string(path).expect("a readable file");
    let rows: Vec<(DVec3, bool)> = text
        .lines()
        .filter(|line| line.starts_with(|c: char| c == '-' || c.is_ascii_digit()))
        .map(|line| {
            let cells: Vec<&str> = line.split(',').map(str::trim).collect();
            let number = |k: usize| {
                let top: i64 = cells[k].parse().expect("a numerator");
                let bottom: u128 = cells[k + 1].parse().expect("a denominator");
                assert!(bottom.is_power_of_two() && top.unsigned_abs() <= 1 << 53);
                top as f64 / bottom as f64
            };
            let label = cells.get(6).is_some_and(|cell| *cell == "1");
            (DVec3::new(number(0), number(2), number(4)), label)
        })
        .collect();
    rows.chunks_exact(8)
        .map(|rows| Query {
            points: [0, 1, 2, 3].map(|i| [rows[i].0, rows[i + 4].0]),
            collides: rows[0].1,
        })
        .collect()
}

/// A mesh in motion over one step, with every colliding pair.
#[derive(Clone, Debug)]
pub struct Scene {
    /// Positions at the start of the step.
    pub start: Vec<DVec3>,
    /// Positions at its end.
    pub end: Vec<DVec3>,
    /// The triangles.
    pub triangles: Vec<[u32; 3]>,
    /// Listed vertex-face pairs and whether each collides.
    pub vertex_face: Vec<([u32; 2], bool)>,
    /// Listed edge-edge pairs and whether each collides.
    pub edge_edge: Vec<([u32; 2], bool)>,
}

/// Pairs of features, by the numbers of a scene's lists.
pub type Pairs = BTreeSet<[u32; 2]>;

impl Scene {
    /// The number of a scene's first face, where `found` holds its one body.
    #[must_use]
    pub fn first_face(&self, found: &FastBvh) -> u32 {
        let edges = (0..).take_while(|&e| found.edge(e).is_some()).count();
        (self.start.len() + edges) as u32
    }

    /// What was found, vertex-face and edge-edge, numbered as the lists are.
    #[must_use]
    pub fn numbered(&self, found: &FastBvh, contacts: &Contacts) -> [Pairs; 2] {
        let (first_edge, first_face) = (self.start.len() as u32, self.first_face(found));
        let faces = contacts.vertex_face.iter();
        let edges = contacts.edge_edge.iter();
        [
            faces.map(|c| [c.vertex, first_face + c.face]).collect(),
            edges.map(|c| c.edges.map(|e| first_edge + e)).collect(),
        ]
    }
}

/// The scenes at hand: folder, frame and the names of its two frames.
pub const SCENES: [(&str, &str, [&str; 2]); 2] = [
    ("cloth-ball", "92", ["cloth_ball92.ply", "cloth_ball93.ply"]),
    ("cloth-funnel", "227", ["227.ply", "228.ply"]),
];

/// Reads a scene of [`SCENES`], or `None` where the data is absent.
///
/// # Panics
/// When a file is there, but not of the expected form.
#[must_use]
pub fn read_scene(scene: (&str, &str, [&str; 2])) -> Option<Scene> {
    let (name, frame, frames) = scene;
    let root = crate::data::find(&format!("ccd/scalable-ccd/{name}"))?;
    let mesh = |file: &str| read_ply(&open(&root.join("frames").join(file)));
    let ((start, triangles), (end, _)) = (mesh(frames[0]), mesh(frames[1]));
    let list = |kind: &str| {
        let json = |path: &Path| -> serde_json::Value {
            serde_json::from_slice(&open(path)).expect("a JSON list")
        };
        let pairs = json(&root.join("boxes").join(format!("{frame}{kind}.json")));
        let truth = json(
            &root
                .join("mma_bool")
                .join(format!("{frame}{kind}_mma_bool.json")),
        );
        let id = |v: &serde_json::Value| v.as_u64().expect("an id") as u32;
        pairs
            .as_array()
            .expect("pairs")
            .iter()
            .zip(truth.as_array().expect("labels"))
            .map(|(pair, label)| {
                (
                    [id(&pair[0]), id(&pair[1])],
                    label.as_bool().expect("a label"),
                )
            })
            .collect()
    };
    Some(Scene {
        start,
        end,
        triangles,
        vertex_face: list("vf"),
        edge_edge: list("ee"),
    })
}

/// The bytes of a file, or of its compressed twin `path.gz`.
fn open(path: &Path) -> Vec<u8> {
    if let Ok(bytes) = std::fs::read(path) {
        return bytes;
    }
    let mut packed = path.as_os_str().to_owned();
    packed.push(".gz");
    let file = std::fs::File::open(&packed).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(file)
        .read_to_end(&mut bytes)
        .expect("a whole archive");
    bytes
}

/// The binary PLY of these scenes: vertices of three floats or doubles, triangles.
fn read_ply(bytes: &[u8]) -> (Vec<DVec3>, Vec<[u32; 3]>) {
    const END: &[u8] = b"end_header\n";
    let header_end = bytes
        .windows(END.len())
        .position(|window| window == END)
        .expect("a header");
    let header = std::str::from_utf8(&bytes[..header_end]).expect("text");
    let big = header.contains("binary_big_endian");
    let double = header.contains("property double x");
    let count = |what: &str| -> usize {
        let at = header.find(what).expect("an element") + what.len();
        header[at..]
            .split_whitespace()
            .next()
            .and_then(|n| n.parse().ok())
            .expect("a count")
    };
    let mut rest = &bytes[header_end + END.len()..];
    let mut take = |n: usize| {
        let (now, later) = rest.split_at(n);
        rest = later;
        let mut buffer = [0_u8; 8];
        buffer[..n].copy_from_slice(now);
        if big {
            buffer[..n].reverse();
        }
        buffer
    };
    let number = |take: &mut dyn FnMut(usize) -> [u8; 8]| {
        if double {
            f64::from_le_bytes(take(8))
        } else {
            f64::from(f32::from_le_bytes(
                take(4)[..4].try_into().expect("four bytes"),
            ))
        }
    };
    let positions = (0..count("element vertex"))
        .map(|_| DVec3::new(number(&mut take), number(&mut take), number(&mut take)))
        .collect();
    let triangles = (0..count("element face"))
        .map(|_| {
            assert_eq!(take(1)[0], 3, "triangles only");
            [0; 3].map(|_: u8| u32::from_le_bytes(take(4)[..4].try_into().expect("four bytes")))
        })
        .collect();
    (positions, triangles)
}
