//! What the tree saves: a cloth ripples, and tears every tenth frame. One frame, update and
//! query, on the tree that is kept, against a tree that is built anew in every frame, and
//! without culling of self-collision.
//!
//! `cargo bench -p fracas-fastcd`. Prints milliseconds a frame and ratios to the default.

use std::time::Instant;

use fracas_fastcd::{BodyId, Culling, EditError, FastBvh, Part, Restructuring, Scratch, Settings};
use glam::{DVec3, dvec3};

/// Quads along a side of the cloth.
const QUADS: u32 = 80;
const FRAMES: u32 = 40;

fn main() -> Result<(), EditError> {
    let default = Settings::default();
    let kinds = [
        ("default", default),
        (
            "no culling",
            Settings {
                culling: Culling::Off,
                keep_clearance: false,
                ..default
            },
        ),
        (
            "a new tree in every frame",
            Settings {
                restructuring: Restructuring::RebuildAlways,
                ..default
            },
        ),
    ];
    let mut base = None;
    for (name, settings) in kinds {
        let (ms, pairs) = play(settings)?;
        let base = *base.get_or_insert(ms);
        println!(
            "{name:26} {ms:8.2} ms a frame, {:5.2} of the default; {pairs} pairs",
            ms / base
        );
    }
    Ok(())
}

/// Mean milliseconds of a frame, and how many pairs of triangles intersected in all.
fn play(settings: Settings) -> Result<(f64, usize), EditError> {
    let mut scene = FastBvh::new(settings);
    let (rest, triangles) = cloth();
    let mut pieces: Vec<(BodyId, Vec<u32>)> = Vec::new();
    let whole = scene.add(&rest, &triangles)?;
    pieces.push((whole, (0..rest.len() as u32).collect()));
    scene.update();
    let (mut scratch, mut pairs, mut found) = (Scratch::default(), Vec::new(), 0);
    let mut seconds = 0.0;
    for frame in 1..=FRAMES {
        let start = Instant::now();
        if frame % 10 == 0 {
            tear(&mut scene, &mut pieces)?;
        }
        for (k, (id, origin)) in pieces.iter().enumerate() {
            let time = 0.2 * f64::from(frame);
            let move_of = |v: &u32| {
                let p = rest[*v as usize];
                p + dvec3(
                    0.0,
                    0.02 * (9.0 * p.x + 4.0 * p.z + time).sin(),
                    0.01 * k as f64,
                )
            };
            scene.move_vertices(*id, &origin.iter().map(move_of).collect::<Vec<_>>())?;
        }
        scene.update();
        scene.intersections(&mut scratch, &mut pairs);
        seconds += start.elapsed().as_secs_f64();
        found += pairs.len();
    }
    Ok((seconds * 1e3 / f64::from(FRAMES), found))
}

/// Splits the last piece in two.
fn tear(scene: &mut FastBvh, pieces: &mut Vec<(BodyId, Vec<u32>)>) -> Result<(), EditError> {
    let Some((id, origin)) = pieces.pop() else {
        return Ok(());
    };
    let count = scene.triangles(id)?.len() as u32;
    let part = |kept: std::ops::Range<u32>| Part {
        kept: kept.collect(),
        ..Part::default()
    };
    for new in scene.split(id, &[part(0..count / 2), part(count / 2..count)], &[])? {
        let of = new.vertex_origin.iter().map(|&v| origin[v as usize]);
        pieces.push((new.id, of.collect()));
    }
    Ok(())
}

fn cloth() -> (Vec<DVec3>, Vec<[u32; 3]>) {
    let row = QUADS + 1;
    let at = |i: u32| f64::from(i) / f64::from(QUADS);
    let places = (0..row).flat_map(|z| (0..row).map(move |x| dvec3(at(x), 0.0, at(z))));
    let quads = (0..QUADS).flat_map(|z| (0..QUADS).map(move |x| z * row + x));
    let halves = quads.flat_map(|a| [[a, a + row, a + 1], [a + 1, a + row, a + row + 1]]);
    (places.collect(), halves.collect())
}
