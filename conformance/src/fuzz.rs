//! Everything that reads bytes from outside, as functions from bytes to nothing: they
//! return, whatever the bytes are, within a bound of time, and what they accept keeps
//! its own promises. `tests/fuzz.rs` runs them on damaged files; `cargo xtask fuzz` for
//! as long as one likes.

use std::sync::Arc;
use std::time::{Duration, Instant};

use fracas_bake::asset::OBJECT;
use fracas_bake::model::{Attribute, Model};
use fracas_bake::read::volume::read_volume_bytes;
use fracas_bake::write::glb::{Glb, Material as GlbMaterial, Part, Place};
use fracas_bake::{
    Asset, Mesh, ReadError, read_bytes, read_bytes_with, shapes, write_msh, write_obj, write_ply,
    write_vtu,
};
use fracas_core::FieldOptions;
use fracas_core::object_trial::use_up;
use fracas_core::sphere_tree::BuildOptions;
use fracas_core::testing::{Rng, box_grid};
use fracas_rapier::{Blueprint, Breakable, World, WorldSettings};
use fracas_scenes::film::{Film, Filming};
use fracas_scenes::rigid::user::UserScene;
use fracas_scenes::rigid::{SceneOptions, by_name};
use fracas_scenes::soak::Plan;
use glam::Vec3;

use crate::{procedural, textured};

/// No file of some kilobytes may take longer, on whatever machine.
const PATIENCE: Duration = Duration::from_secs(10);

/// Time of the processor spent by this thread, where the system tells; else by the clock:
/// on a busy machine a reader may wait for long without being slow.
fn time_spent(start: Instant) -> Duration {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = told.and_then(|t| t.split_whitespace().next()?.parse().ok());
    nanoseconds.map_or_else(|| start.elapsed(), Duration::from_nanos)
}

/// Gives bytes to a reader, whatever comes of it.
type Read = Box<dyn Fn(&[u8])>;

/// Damages a file, with bytes of another at hand.
type Damage = fn(&mut Vec<u8>, &[u8], &mut Rng);

/// A reader under test, with sound files to damage.
pub struct Target {
    /// Its name.
    pub name: &'static str,
    /// Sound files.
    pub corpus: Vec<Vec<u8>>,
    /// How they are damaged.
    damage: Damage,
    read: Read,
}

impl Target {
    /// Reads the bytes.
    ///
    /// # Panics
    /// When the reader does, takes too long, or accepts what breaks its own promises.
    pub fn try_bytes(&self, bytes: &[u8]) {
        let start = Instant::now();
        let before = time_spent(start);
        (self.read)(bytes);
        let spent = time_spent(start).saturating_sub(before);
        assert!(spent < PATIENCE, "{} took too long", self.name);
    }

    /// A damaged file of the corpus.
    #[must_use]
    pub fn damaged(&self, rng: &mut Rng) -> Vec<u8> {
        let mut bytes = self.corpus[rng.below(self.corpus.len())].clone();
        for _ in 0..=rng.below(4) {
            let other = rng.below(self.corpus.len());
            (self.damage)(&mut bytes, &self.corpus[other], rng);
        }
        bytes
    }
}

const NASTY: [&[u8]; 10] = [
    b"4294967295",
    b"18446744073709551615",
    b"99999999999999999999999",
    b"-1",
    b"0",
    b"nan",
    b"-inf",
    b"1e999",
    b"353535235358",
    b"\xff\xff\xff\xff",
];

/// One piece of damage: bytes changed, left out, doubled, moved, taken from elsewhere;
/// numbers replaced by nasty ones; checksums are not mended.
fn damage(bytes: &mut Vec<u8>, other: &[u8], rng: &mut Rng) {
    if bytes.is_empty() {
        return;
    }
    let at = rng.below(bytes.len());
    let end = (at + 1 + rng.below(40)).min(bytes.len());
    match rng.below(8) {
        0 => bytes[at] = rng.below(256) as u8,
        1 => bytes[at] ^= 1 << rng.below(8),
        2 => bytes.truncate(at),
        3 => drop(bytes.drain(at..end)),
        4 => {
            let part = bytes[at..end].to_vec();
            bytes.splice(at..at, part);
        }
        5 if !other.is_empty() => {
            let from = rng.below(other.len());
            let part = other[from..(from + 32).min(other.len())].to_vec();
            bytes.splice(at..end, part);
        }
        6 => {
            let four = [u32::MAX, 0, 1, i32::MAX as u32, 1 << 16][rng.below(5)];
            for (slot, byte) in bytes[at..].iter_mut().zip(four.to_le_bytes()) {
                *slot = byte;
            }
        }
        _ => {
            let digits = bytes[at..].iter().position(u8::is_ascii_digit);
            if let Some(start) = digits.map(|d| at + d) {
                let run = bytes[start..].iter().take_while(|b| b.is_ascii_digit());
                let end = start + run.count();
                let nasty = NASTY[rng.below(NASTY.len())].iter().copied();
                bytes.splice(start..end, nasty);
            }
        }
    }
}

/// All readers.
///
/// # Panics
/// When a file of the corpus cannot be made.
#[must_use]
pub fn targets() -> Vec<Target> {
    let mut all = mesh_targets();
    all.extend(model_targets());
    all.extend(tetgen_targets());
    all.push(volume_target());
    all.extend(asset_targets());
    all.push(snapshot_target());
    all.push(recording_target());
    all.push(scene_target());
    all
}

fn mesh_targets() -> Vec<Target> {
    let ring = procedural::torus(1.0, 0.3, 5, 4);
    let tets = box_grid([1, 2, 1], Vec3::ONE);
    let mut files: Vec<(&'static str, Vec<u8>)> = Vec::new();
    let mut write = |name, fill: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = Vec::new();
        fill(&mut bytes);
        files.push((name, bytes));
    };
    write("a.obj", &|out| write_obj(out, &ring).expect("memory"));
    write("a.ply", &|out| write_ply(out, &ring).expect("memory"));
    write("a.msh", &|out| write_msh(out, &tets, &[]).expect("memory"));
    write("a.vtu", &|out| write_vtu(out, &tets, &[]).expect("memory"));
    write("a.off", &|out| {
        out.extend(b"OFF\n4 4 0\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 1 2 3\n3 0 3 2\n3 0 1 3\n3 0 2 1\n");
    });
    write("a.stl", &|out| {
        out.extend(b"solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\nendsolid a\n");
    });
    write("a.mesh", &|out| {
        out.extend(b"MeshVersionFormatted 2\nDimension 3\nVertices 4\n0 0 0 0\n1 0 0 0\n0 1 0 0\n0 0 1 0\nTetrahedra 1\n1 2 3 4 0\nEnd\n");
    });
    write("a.vtk", &|out| {
        out.extend(b"# vtk DataFile Version 3.0\nt\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 4 double\n0 0 0 1 0 0 0 1 0 0 0 1\nCELLS 1 5\n4 0 1 2 3\nCELL_TYPES 1\n10\n");
    });
    write("a.glb", &|out| {
        let mut glb = Glb::new();
        let paint = glb.material(&GlbMaterial::new("m", [1.0; 4]));
        let positions: Vec<Vec3> = ring.positions().iter().map(|p| p.as_vec3()).collect();
        let part = Part::new(&positions, ring.triangles(), paint);
        let mesh = glb.mesh("ring", &[part]).expect("a mesh");
        glb.node("ring", Some(mesh), Place::default())
            .expect("a node");
        out.extend(glb.to_bytes().expect("a file"));
    });
    files
        .into_iter()
        .map(|(name, bytes)| Target {
            name,
            corpus: vec![bytes],
            damage,
            read: Box::new(move |bytes| read_mesh(name, bytes)),
        })
        .collect()
}

/// Models with their looks: GLB, glTF with sound files beside it, MTL beside a sound OBJ.
fn model_targets() -> Vec<Target> {
    let models = textured::in_memory();
    let documents = models.iter().map(|m| m.document.clone()).collect();
    let binaries = models.iter().map(|m| m.binary.clone()).collect();
    let beside: Vec<_> = models.into_iter().flat_map(|m| m.beside).collect();
    let object = b"mtllib a.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nvt 0 0\nusemtl red\n\
        f 1/1 3/1 2/1\nusemtl blue\nf 1 2 4\nf 2 3 4\nf 3 1 4\n";
    let materials = b"newmtl red\nKd 1 0 0\nNs 90.5\nd 0.5\nmap_Kd -s 1 1 1 -o 0 0 0 a.png\n\
        newmtl blue\nKa 0 0 0\nKd 0 0 1\nKs 1 1 1\nKe 0 0 0\nNi 1.5\nillum 2\n\
        map_Bump -bm 0.3 b.png\nTr 0.25\nPr 0.4\nPm 0\n";
    vec![
        Target {
            name: "model.glb",
            corpus: binaries,
            damage,
            read: Box::new(|bytes| read_model("a.glb", bytes, &mut |name| Err(missing(name)))),
        },
        Target {
            name: "model.gltf",
            corpus: documents,
            damage,
            read: Box::new(move |bytes| {
                read_model("a.gltf", bytes, &mut |name| {
                    let found = beside.iter().find(|(n, _)| n == name);
                    found.map(|f| f.1.clone()).ok_or_else(|| missing(name))
                });
            }),
        },
        Target {
            name: "model.mtl",
            corpus: vec![materials.to_vec()],
            damage,
            read: Box::new(move |bytes| {
                read_model("a.obj", object, &mut |name| {
                    let is_it = name == "a.mtl";
                    is_it.then(|| bytes.to_vec()).ok_or_else(|| missing(name))
                });
            }),
        },
    ]
}

fn missing(name: &str) -> ReadError {
    let error = read_bytes(name, b"no mesh at all");
    error.expect_err("what is no mesh is refused")
}

fn read_model(
    name: &str,
    bytes: &[u8],
    beside: &mut dyn FnMut(&str) -> Result<Vec<u8>, ReadError>,
) {
    match Model::read_bytes(name, bytes, beside) {
        Ok(model) => {
            for part in model.parts() {
                let count = part.positions.len();
                let corners = part.triangles.as_flattened();
                assert!(corners.iter().all(|&c| (c as usize) < count));
                let fits = |a: &Attribute| a.values.len() == a.width * count;
                assert!(part.attributes.iter().all(fits));
                assert!(part.positions.iter().all(|p| p.is_finite()));
            }
        }
        Err(error) => assert!(!error.reason().is_empty() && !error.help().is_empty()),
    }
}

/// The two files of TetGen, each with a sound other one.
fn tetgen_targets() -> [Target; 2] {
    let nodes =
        b"# nodes\n5 3 1 1\n1 0 0 0 7 1\n2 1 0 0 7 1\n3 0 1 0 7 0\n4 0 0 1 7 1\n5 1 1 1 7 1\n";
    let elements = b"2 4 1\n1 1 2 3 4 5\n2 5 2 4 3 5\n";
    let target = |name: &'static str, bytes: &[u8], other: &[u8]| {
        let other = other.to_vec();
        Target {
            name,
            corpus: vec![bytes.to_vec()],
            damage,
            read: Box::new(move |bytes| {
                check_mesh(read_bytes_with(name, bytes, &mut |_| Ok(other.clone())));
            }),
        }
    };
    [
        target("a.node", nodes, elements),
        target("a.ele", elements, nodes),
    ]
}

fn volume_target() -> Target {
    let file = |fields: &str, data: &[u8]| {
        let head = format!("NRRD0004\n# a comment\n{fields}\nkey:=value\n\n");
        [head.as_bytes(), data].concat()
    };
    let plain = "type: uint8\ndimension: 3\nsizes: 3 2 2\nspacings: 1 0.5 2\nencoding: raw";
    let words = "type: short\ndimension: 3\nsizes: 2 2 2\nendian: big\nencoding: ascii\n\
        space: left-posterior-superior\nspace directions: (1,0,0) (0,1,0) (0,0,2)\n\
        space origin: (0,0,0)";
    Target {
        name: "a.nrrd",
        corpus: vec![
            file(plain, &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]),
            file(words, b"1 2 3 4 -5 6 7 8\n"),
        ],
        damage,
        read: Box::new(|bytes| match read_volume_bytes("a.nrrd", bytes) {
            Ok(volume) => {
                let count: u64 = volume.counts().iter().map(|&c| u64::from(c)).product();
                assert_eq!(count, volume.values().len() as u64);
            }
            Err(error) => assert!(!error.reason().is_empty() && !error.help().is_empty()),
        }),
    }
}

fn read_mesh(name: &str, bytes: &[u8]) {
    check_mesh(read_bytes(name, bytes));
}

fn check_mesh(read: Result<Mesh, ReadError>) {
    match read {
        Ok(Mesh::Surface(mesh, _)) => mesh.validate().expect("what is read is sound"),
        Ok(Mesh::Tets(soup)) => {
            if let Ok((mesh, _)) = soup.into_mesh() {
                mesh.validate().expect("what is read is sound");
            }
        }
        Err(error) => assert!(!error.reason().is_empty() && !error.help().is_empty()),
    }
}

/// Assets with damage anywhere, which a checksum finds; and with damage inside of sections and
/// right checksums, so that what reads the sections is tried.
fn asset_targets() -> [Target; 2] {
    let plain = Asset::new("box", box_grid([2, 1, 1], Vec3::ONE));
    let mut skinned = plain.clone();
    skinned.set_skin(procedural::torus(1.0, 0.3, 5, 4));
    let mut baked = plain.clone();
    baked.add_object().expect("field and tree of a box");
    let baked = baked.to_bytes();
    let corpus = vec![plain.to_bytes(), skinned.to_bytes(), baked];
    let kinds: [(&'static str, Damage); 2] = [("asset", damage), ("section", damage_section)];
    kinds.map(|(name, damage)| Target {
        name,
        corpus: corpus.clone(),
        damage,
        read: Box::new(|bytes| {
            if let Ok(asset) = Asset::from_bytes(bytes) {
                asset.mesh().validate().expect("what is read is sound");
                // The rest is read when a body is made of it.
                if asset.section(OBJECT).is_some()
                    && let Ok(object) = asset.object()
                {
                    use_up(object, &mut Rng(1));
                }
            }
        }),
    })
}

/// Length of an asset's header, and of a section's (`fracas_bake::asset`).
const FILE_HEADER: usize = 32;
const SECTION_HEADER: usize = 24;

/// Damages the content of one section of a sound asset; lengths and checksums fit again.
fn damage_section(bytes: &mut Vec<u8>, other: &[u8], rng: &mut Rng) {
    let mut sections = Vec::new();
    let mut at = FILE_HEADER;
    while let Some(header) = bytes.get(at..at + SECTION_HEADER) {
        let length = u64::from_le_bytes(header[8..16].try_into().expect("eight bytes")) as usize;
        let content = at + SECTION_HEADER;
        sections.push((
            header[..8].to_vec(),
            bytes[content..content + length].to_vec(),
        ));
        at = content + length.next_multiple_of(8);
    }
    let hit = rng.below(sections.len());
    damage(&mut sections[hit].1, other, rng);
    bytes.truncate(16);
    for (head, content) in &sections {
        // Twelve bytes of the file's header are still to come.
        let mut section = head.clone();
        section.extend((content.len() as u64).to_le_bytes());
        let mut checksum = crc32fast::Hasher::new();
        checksum.update(&section);
        checksum.update(content);
        section.extend(checksum.finalize().to_le_bytes());
        section.extend([0; 4]);
        section.extend(content);
        section.resize(section.len().next_multiple_of(8), 0);
        bytes.extend(section);
    }
    let length = bytes.len() + (FILE_HEADER - 16);
    let mut header = bytes[..16].to_vec();
    header.extend((length as u64).to_le_bytes());
    header.extend(crc32fast::hash(&header).to_le_bytes());
    header.extend([0; 4]);
    bytes.splice(..16, header);
}

fn snapshot_target() -> Target {
    let mesh = shapes::by_name("brick")
        .expect("a brick")
        .build_with_tets(200);
    let field = FieldOptions::default();
    let blueprint = Blueprint::build(Arc::new(mesh), &field, &BuildOptions::default());
    let brick = Breakable::new(Arc::new(blueprint.expect("a brick")));
    let mut world = World::new(WorldSettings::default());
    world.add_floor(0.0, 0.6);
    world.add(brick.clone());
    for _ in 0..3 {
        world.step();
    }
    let bytes = world.snapshot().expect("a snapshot");
    Target {
        name: "snapshot",
        corpus: vec![bytes],
        damage,
        read: Box::new(move |bytes| {
            let mut world = World::new(WorldSettings::default());
            world.stock(&brick);
            // What is restored is as sound as the engine's own reader made it; it need
            // not step, but asking it must not fail.
            if world.restore(bytes).is_ok() {
                let _ = (world.digest(), world.pieces().count());
            }
        }),
    }
}

fn recording_target() -> Target {
    let mut scene = by_name("bricks", &SceneOptions::default(), &mut |_| ()).expect("a scene");
    let mut filming = Filming::new(&scene);
    for _ in 0..3 {
        scene.step();
        filming.frame(&scene);
    }
    Target {
        name: "recording",
        corpus: vec![filming.finish().to_bytes()],
        damage,
        read: Box::new(|bytes| {
            if let Ok(film) = Film::from_bytes(bytes) {
                for frame in 0..film.steps().min(8) {
                    let _ = film.at(frame).count();
                }
            }
        }),
    }
}

fn scene_target() -> Target {
    Target {
        name: "scene",
        corpus: (0..12)
            .map(|s| Plan::draw(s).to_toml().into_bytes())
            .collect(),
        damage,
        read: Box::new(|bytes| {
            if let Ok(text) = std::str::from_utf8(bytes) {
                let _ = UserScene::parse(text, "fuzz.toml");
            }
        }),
    }
}
