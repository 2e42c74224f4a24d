//! `fracas collide`: collision detection over the frames of a deforming mesh.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use fracas_bake::write::glb::{Glb, Material, MaterialId, Part, Place};
use fracas_bake::{Asset, boundary_surface, read_as_listed, read_tet_mesh};
use fracas_fastcd::{BodyId, Contacts, Detection, FastBvh, QueryStats, Scratch, Settings};
use glam::DVec3;
use serde_json::{Value, json};

use crate::arguments::{refuse_same_files, target};
use crate::files;
use crate::output::{count, print};
use crate::progress::Progress;

const EXAMPLES: &str = "\
Frames are OBJ, PLY or OFF (gzipped or not), one mesh each; tetrahedral files and assets
enter by their boundary. Vertices at exactly the same place are one (as in `fracas inspect`),
unless --as-listed is given: seams of textures are no gaps. Triangles keep the files'
numbers, and so do vertices, by the first of those that are one. Where two frames list
the same triangles, the second is the first, moved; where they do not, the mesh has
changed, and a continuous step across the change is seen at rest.

In the JSON, features are numbered through: a vertex is its number v, an edge is
vertices + e, a face vertices + edges + f. Edges are sorted by their larger, then their
smaller vertex.

Examples:
  fracas collide bunny.obj
  fracas collide --continuous cloth92.ply cloth93.ply --json contacts.json
  fracas collide frames/*.obj --glb collisions.glb";

/// Find what collides in a mesh, frame by frame, with itself and part with part.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Collide {
    /// Contacts over the step from each frame to the next, with times of impact,
    /// instead of intersections at each frame.
    #[arg(long)]
    continuous: bool,
    /// Keep vertices apart that the file lists apart, even at the same place.
    #[arg(long)]
    as_listed: bool,
    /// The frames, in order.
    #[arg(required = true)]
    frames: Vec<PathBuf>,
    /// Write everything found to this file.
    #[arg(long, value_name = "FILE", value_parser = target(&["json"]))]
    json: Option<PathBuf>,
    /// Write the frames to this file, with what collides in red.
    #[arg(long, value_name = "FILE", value_parser = target(&["glb"]))]
    glb: Option<PathBuf>,
}

/// A frame as listed in its file.
struct Frame {
    positions: Vec<DVec3>,
    triangles: Vec<[u32; 3]>,
    /// The number in the file of each triangle kept.
    numbers: Vec<u32>,
    /// Vertices that were found at the place of an earlier one.
    welded: usize,
}

/// The first vertex at the place of each; and how many are not the first.
fn weld(positions: &[DVec3]) -> (Vec<u32>, usize) {
    // -0 and 0 are one place; NaN is none, and stays alone.
    let key = |v: u32| {
        (positions[v as usize] + DVec3::ZERO)
            .to_array()
            .map(f64::to_bits)
    };
    let mut order: Vec<u32> = (0..positions.len() as u32).collect();
    order.sort_unstable_by_key(|&v| (key(v), v));
    let mut first: Vec<u32> = (0..positions.len() as u32).collect();
    let mut welded = 0;
    for same in order.chunk_by(|&a, &b| key(a) == key(b)) {
        for &v in &same[1..] {
            first[v as usize] = same[0];
            welded += 1;
        }
    }
    (first, welded)
}

fn read_frame(path: &Path, as_listed: bool) -> Result<Frame, Box<dyn Error>> {
    let tetrahedral = [".msh", ".mesh", ".vtk", ".vtu", ".ele", ".node"]
        .iter()
        .any(|ending| {
            path.to_string_lossy()
                .trim_end_matches(".gz")
                .ends_with(ending)
        });
    let (positions, listed) = if path.extension().is_some_and(|e| e == "fracas") {
        let asset = Asset::load(path).map_err(|e| format!("{}: {e}", path.display()))?;
        let surface = boundary_surface(asset.mesh());
        (surface.positions().to_vec(), surface.triangles().to_vec())
    } else if tetrahedral {
        let surface = boundary_surface(&read_tet_mesh(path)?.0);
        (surface.positions().to_vec(), surface.triangles().to_vec())
    } else {
        read_as_listed(path)?
    };
    let mut welded = 0;
    let mut listed = listed;
    if !as_listed {
        let (first, count) = weld(&positions);
        welded = count;
        for corner in listed.as_flattened_mut() {
            *corner = first[*corner as usize];
        }
    }
    // A triangle that names a corner twice is none.
    let whole = |t: &[u32; 3]| t[0] != t[1] && t[1] != t[2] && t[2] != t[0];
    let numbered = listed.iter().enumerate().filter(|(_, t)| whole(t));
    let (numbers, triangles) = numbered.map(|(i, t)| (i as u32, *t)).unzip();
    Ok(Frame {
        positions,
        triangles,
        numbers,
        welded,
    })
}

/// What was found in a frame.
struct Found {
    ms: f64,
    stats: QueryStats,
    pairs: Vec<[u32; 2]>,
    contacts: Contacts,
}

/// Runs the subcommand.
pub fn run(options: &Collide) -> Result<(), Box<dyn Error>> {
    if options.continuous && options.frames.len() < 2 {
        return Err(
            "--continuous needs at least two frames: a step leads from one to the next".into(),
        );
    }
    let frames: Vec<&Path> = options.frames.iter().map(PathBuf::as_path).collect();
    refuse_same_files(&frames, &[options.json.as_deref(), options.glb.as_deref()]);
    let detection = if options.continuous {
        Detection::Continuous
    } else {
        Detection::Discrete
    };
    let settings = Settings {
        detection,
        ..Settings::default()
    };
    let progress = Progress::new(options.frames.len());
    let mut scratch = Scratch::parallel();
    let mut scene = FastBvh::new(settings);
    let mut body: Option<BodyId> = None;
    let mut known: Option<Vec<[u32; 3]>> = None;
    let mut table = String::new();
    let mut frames = Vec::new();
    let mut picture = Picture::new();
    for (i, path) in options.frames.iter().enumerate() {
        progress.stage("frames");
        let name = path.display().to_string();
        let frame = read_frame(path, options.as_listed)?;
        let at_fault = |e: fracas_fastcd::EditError| format!("{name}: {e}");
        let start = Instant::now();
        let same = known.as_ref() == Some(&frame.triangles)
            && body.is_some_and(|b| {
                scene
                    .vertices(b)
                    .is_ok_and(|v| v.len() == frame.positions.len())
            });
        match body {
            Some(body) if same => scene
                .move_vertices(body, &frame.positions)
                .map_err(at_fault)?,
            _ => {
                scene = FastBvh::new(settings);
                body = Some(
                    scene
                        .add(&frame.positions, &frame.triangles)
                        .map_err(at_fault)?,
                );
                known = Some(frame.triangles.clone());
            }
        }
        scene.update();
        if options.continuous && i == 0 {
            continue;
        }
        let mut found = Found {
            ms: 0.0,
            stats: QueryStats::default(),
            pairs: Vec::new(),
            contacts: Contacts::default(),
        };
        found.stats = if options.continuous {
            scene.contacts(&mut scratch, &mut found.contacts)
        } else {
            scene.intersections(&mut scratch, &mut found.pairs)
        };
        found.ms = start.elapsed().as_secs_f64() * 1e3;
        table += &line(&name, &frame, &found, options.continuous, i > 0 && !same);
        frames.push(as_json(&name, &scene, &frame, &found, options.continuous));
        if options.glb.is_some() {
            picture.add(&scene, &frame, &found)?;
        }
    }
    drop(progress);
    let heading = if options.continuous {
        format!(
            "{:<32} {:>10} {:>9} {:>12} {:>9} {:>9}  first impact\n",
            "frame", "triangles", "ms", "overlaps", "v-f", "e-e"
        )
    } else {
        format!(
            "{:<32} {:>10} {:>9} {:>12} {:>9}\n",
            "frame", "triangles", "ms", "overlaps", "pairs"
        )
    };
    print(&(heading + &table));
    if let Some(path) = &options.json {
        files::save(path, format!("{:#}\n", json!({ "frames": frames })))?;
    }
    if let Some(path) = &options.glb {
        picture.save(path)?;
    }
    Ok(())
}

fn line(name: &str, frame: &Frame, found: &Found, continuous: bool, changed: bool) -> String {
    let short: String = name
        .chars()
        .rev()
        .take(32)
        .collect::<Vec<_>>()
        .into_iter()
        .rev()
        .collect();
    let overlaps = count(found.stats.overlap_tests as usize);
    let head = format!(
        "{short:<32} {:>10} {:>9.2} {overlaps:>12}",
        count(frame.triangles.len()),
        found.ms
    );
    let mut note = String::new();
    if changed {
        note += "  (mesh changed)";
    }
    if frame.welded > 0 {
        note += &format!("  ({} vertices welded)", count(frame.welded));
    }
    if !continuous {
        return format!("{head} {:>9}{note}\n", count(found.pairs.len()));
    }
    let first = found
        .contacts
        .earliest()
        .map_or("-".into(), |t| format!("{t:.6}"));
    let (vf, ee) = (
        found.contacts.vertex_face.len(),
        found.contacts.edge_edge.len(),
    );
    format!("{head} {:>9} {:>9}  {first}{note}\n", count(vf), count(ee))
}

fn as_json(name: &str, scene: &FastBvh, frame: &Frame, found: &Found, continuous: bool) -> Value {
    // One body in a scene of its own: ids are numbers in the file, and edges are
    // sorted as announced.
    let vertices = frame.positions.len() as u32;
    let edges = (0..).take_while(|&e| scene.edge(e).is_some()).count() as u32;
    let face = |f: u32| vertices + edges + frame.numbers[f as usize];
    let mut value = json!({
        "file": name,
        "vertices": vertices,
        "edges": edges,
        "triangles": frame.triangles.len(),
        "ms": found.ms,
        "overlap_tests": found.stats.overlap_tests,
    });
    if continuous {
        let vf = found
            .contacts
            .vertex_face
            .iter()
            .map(|c| json!([c.vertex, face(c.face), c.time]));
        let ee = found
            .contacts
            .edge_edge
            .iter()
            .map(|c| json!([vertices + c.edges[0], vertices + c.edges[1], c.time]));
        value["vf"] = vf.collect();
        value["ee"] = ee.collect();
        value["earliest_toi"] = json!(found.contacts.earliest());
    } else {
        value["tri_pairs"] = found.pairs.iter().map(|p| json!(p.map(face))).collect();
    }
    value
}

/// The frames, painted.
struct Picture {
    glb: Glb,
    calm: MaterialId,
    hit: MaterialId,
    nodes: Vec<fracas_bake::write::glb::NodeId>,
}

impl Picture {
    fn new() -> Self {
        let mut glb = Glb::new();
        let paint = |name: &str, colour| Material {
            double_sided: true,
            ..Material::new(name, colour)
        };
        let calm = glb.material(&paint("calm", [0.55, 0.6, 0.66, 1.0]));
        let hit = glb.material(&paint("colliding", [0.8, 0.05, 0.03, 1.0]));
        Self {
            glb,
            calm,
            hit,
            nodes: Vec::new(),
        }
    }

    fn add(&mut self, scene: &FastBvh, frame: &Frame, found: &Found) -> Result<(), Box<dyn Error>> {
        let mut red = vec![false; frame.triangles.len()];
        for f in found
            .pairs
            .iter()
            .flatten()
            .copied()
            .chain(found.contacts.vertex_face.iter().map(|c| c.face))
        {
            red[f as usize] = true;
        }
        let mut touched = vec![false; frame.positions.len()];
        for contact in &found.contacts.edge_edge {
            for v in contact
                .edges
                .iter()
                .filter_map(|&e| scene.edge(e))
                .flatten()
            {
                touched[v as usize] = true;
            }
        }
        let mut parts: [Vec<[u32; 3]>; 2] = Default::default();
        for (t, red) in frame.triangles.iter().zip(red) {
            let edge_hit = t.iter().filter(|&&v| touched[v as usize]).count() >= 2;
            parts[usize::from(red || edge_hit)].push(*t);
        }
        let positions: Vec<glam::Vec3> = frame.positions.iter().map(|p| p.as_vec3()).collect();
        let name = format!("frame {}", self.nodes.len());
        let [calm, hit] = &parts;
        let mesh = self.glb.mesh(
            &name,
            &[
                Part::new(&positions, calm, self.calm),
                Part::new(&positions, hit, self.hit),
            ],
        )?;
        self.nodes
            .push(self.glb.node(&name, Some(mesh), Place::default())?);
        Ok(())
    }

    fn save(mut self, path: &Path) -> Result<(), Box<dyn Error>> {
        const SECONDS: f32 = 1.0 / 24.0;
        if self.nodes.len() > 1 {
            let times: Vec<f32> = (0..self.nodes.len()).map(|i| i as f32 * SECONDS).collect();
            for (i, &node) in self.nodes.iter().enumerate() {
                let visible: Vec<bool> = (0..times.len()).map(|j| i == j).collect();
                self.glb.animate_visibility(node, &times, &visible)?;
            }
        }
        Ok(files::save(path, self.glb.to_bytes()?)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vertices_at_one_place_are_one() {
        let p = DVec3::new(1.0, 0.0, 2.0);
        let (first, welded) = weld(&[p, DVec3::X, -DVec3::ZERO, p, DVec3::ZERO, p]);
        assert_eq!(first, [0, 1, 2, 0, 2, 0]);
        assert_eq!(welded, 3);
    }
}
