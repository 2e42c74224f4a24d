//! Everything that reads bytes from outside, as functions from bytes to nothing: they
//! return, whatever the bytes are, within a bound of time, and what they accept keeps
//! its own promises. `tests/fuzz.rs` runs them on damaged files; `cargo xtask fuzz` for
//! as long as one likes.

use std::sync::Arc;
use std::time::{Duration, Instant};

use fracas_bake::write::glb::{Glb, Material as GlbMaterial, Part, Place};
use fracas_bake::{Asset, Mesh, read_bytes, shapes, write_msh, write_obj, write_ply, write_vtu};
use fracas_core::testing::{Rng, box_grid};
use fracas_core::{FieldOptions, sphere_tree::BuildOptions};
use fracas_rapier::{Blueprint, Breakable, World, WorldSettings};
use fracas_scenes::film::{Film, Filming};
use fracas_scenes::rigid::user::UserScene;
use fracas_scenes::rigid::{SceneOptions, by_name};
use fracas_scenes::soak::Plan;
use glam::Vec3;

use crate::procedural;

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

/// A reader under test, with sound files to damage.
pub struct Target {
    /// Its name.
    pub name: &'static str,
    /// Sound files.
    pub corpus: Vec<Vec<u8>>,
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
            damage(&mut bytes, &self.corpus[other], rng);
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
    all.push(asset_target());
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
            read: Box::new(move |bytes| read_mesh(name, bytes)),
        })
        .collect()
}

fn read_mesh(name: &str, bytes: &[u8]) {
    match read_bytes(name, bytes) {
        Ok(Mesh::Surface(mesh, _)) => mesh.validate().expect("what is read is sound"),
        Ok(Mesh::Tets(soup)) => {
            if let Ok((mesh, _)) = soup.into_mesh() {
                mesh.validate().expect("what is read is sound");
            }
        }
        Err(error) => assert!(!error.reason().is_empty() && !error.help().is_empty()),
    }
}

fn asset_target() -> Target {
    let plain = Asset::new("box", box_grid([2, 1, 1], Vec3::ONE));
    let mut skinned = plain.clone();
    skinned.set_skin(procedural::torus(1.0, 0.3, 5, 4));
    Target {
        name: "asset",
        corpus: vec![plain.to_bytes(), skinned.to_bytes()],
        read: Box::new(|bytes| {
            if let Ok(asset) = Asset::from_bytes(bytes) {
                asset.mesh().validate().expect("what is read is sound");
            }
        }),
    }
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
        read: Box::new(|bytes| {
            if let Ok(text) = std::str::from_utf8(bytes) {
                let _ = UserScene::parse(text, "fuzz.toml");
            }
        }),
    }
}
