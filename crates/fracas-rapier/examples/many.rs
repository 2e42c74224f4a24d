//! What it costs to add many objects of one blueprint: time, allocated bytes, memory of the
//! process.
//!
//! `cargo run --release -p fracas-rapier --example many [PIECES [MODE]]`: with mode `high` they
//! hang in the air, `low`: lie on a floor (boxes with a notch), `convex`: boxes without,
//! `rays`: are hit by a ray each, `broken`: an eighth of them is broken into eight pieces each.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use fracas_core::sphere_tree::BuildOptions;
use fracas_core::testing::box_grid;
use fracas_core::{FieldOptions, TetMesh};
use fracas_fracture::patterns::{VoronoiOptions, voronoi};
use fracas_fracture::{Breaker, Material, Modes, ModesOptions};
use fracas_rapier::{Blueprint, Breakable, PieceId, World, WorldSettings};
use glam::Vec3;
use parry3d::math::Pose;
use parry3d::query::{Ray, RayCast as _};

/// The system's allocator, counting.
struct Counting;

static LIVE: AtomicUsize = AtomicUsize::new(0);
static CALLS: AtomicUsize = AtomicUsize::new(0);

// SAFETY: everything is passed on to the system's allocator.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LIVE.fetch_add(layout.size(), Ordering::Relaxed);
        CALLS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: as required of the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: as required of the caller.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// A line of `/proc/self/status`, in megabytes.
fn status(name: &str) -> f64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find(|l| l.starts_with(name));
    let number = line.and_then(|l| l.split_whitespace().nth(1)?.parse::<f64>().ok());
    number.unwrap_or(f64::NAN) / 1024.0
}

/// A box with a notch in its upper side, so that it is not convex.
fn notched_box() -> TetMesh {
    let full = box_grid([16, 16, 16], Vec3::splat(0.2));
    let is_kept = |tet: &[u32; 4]| {
        let sum: Vec3 = tet.iter().map(|&n| full.positions()[n as usize]).sum();
        let middle = 0.25 * sum;
        middle.y < 0.1 || (middle.x - 0.1).abs() > 0.05
    };
    let tets: Vec<[u32; 4]> = full.tets().iter().copied().filter(is_kept).collect();
    let mut names = vec![u32::MAX; full.positions().len()];
    let mut positions = Vec::new();
    let mut name = |n: u32| {
        if names[n as usize] == u32::MAX {
            names[n as usize] = positions.len() as u32;
            positions.push(full.positions()[n as usize]);
        }
        names[n as usize]
    };
    let tets = tets.iter().map(|tet| tet.map(&mut name)).collect();
    TetMesh::build(positions, tets).expect("a part of a box")
}

/// Eight vibration modes of the unbroken box.
fn modes_of(fragments: &fracas_core::Fragments) -> Arc<Modes> {
    let options = ModesOptions {
        count: 8,
        ..ModesOptions::default()
    };
    let whole = fracas_core::FragmentId(0);
    let modes = Modes::compute(fragments, whole, &Material::BRICK, &options, &mut |_| ());
    Arc::new(modes.expect("modes of a box"))
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let pieces: usize = arguments
        .get(1)
        .map_or(8000, |n| n.parse().expect("a number"));
    let mode = arguments.get(2).map_or("low", String::as_str);
    let is_low = mode == "low" || mode == "convex";
    let height = if is_low { 0.001 } else { 5.0 };
    let objects = if mode == "broken" { pieces / 8 } else { pieces };
    let mesh = Arc::new(if mode == "convex" {
        box_grid([16, 16, 16], Vec3::splat(0.2))
    } else {
        notched_box()
    });
    println!(
        "{} nodes, {} tetrahedra",
        mesh.positions().len(),
        mesh.tets().len()
    );
    let (field, tree) = (FieldOptions::default(), BuildOptions::default());
    let blueprint = Arc::new(Blueprint::build(mesh, &field, &tree).expect("a box"));
    let object = blueprint.object().0;
    let breaker = {
        let state = object.read();
        Breaker::new(Material::BRICK, Some(modes_of(state.fragments())))
    };
    let brick = Breakable::new(blueprint).with_breaker(breaker);
    let mut world = World::new(WorldSettings::default());
    world.add_floor(0.0, 0.6);
    // What the first one makes ready serves all.
    world.add(brick.clone().at(Pose::translation(0.0, 0.11, -5.0)));
    world.step();
    println!("start: {:.1} MB", status("VmRSS"));
    let (live, rss, start) = (
        LIVE.load(Ordering::Relaxed),
        status("VmRSS"),
        Instant::now(),
    );
    for i in 0..objects {
        let (x, z) = (i % 100, i / 100);
        let pose = Pose::translation(x as f32 * 0.3, height, z as f32 * 0.3);
        world.add(brick.clone().at(pose));
        if i + 1 == 1000 {
            println!("1000 adds: {:.2} ms", start.elapsed().as_secs_f64() * 1e3);
        }
    }
    let report = |when: &str| {
        let bytes = LIVE.load(Ordering::Relaxed) - live;
        println!(
            "{when}: {:.2} kB a piece, {:.1} MB allocated, {:.1} MB of memory, {} calls",
            bytes as f64 / 1024.0 / pieces as f64,
            bytes as f64 / 1048576.0,
            status("VmRSS") - rss,
            CALLS.load(Ordering::Relaxed),
        );
    };
    report("added");
    let all: Vec<PieceId> = world.pieces().skip(1).collect();
    match mode {
        "rays" => {
            for piece in &all {
                let ray = Ray::new(Vec3::Y, -Vec3::Y);
                let _ = world
                    .shape(*piece)
                    .expect("it is there")
                    .cast_local_ray(&ray, 9.0, true);
            }
            report("hit by rays");
        }
        "broken" => {
            let options = VoronoiOptions {
                pieces: 8,
                ..VoronoiOptions::default()
            };
            for piece in all {
                let state = object.read();
                let fracture = voronoi(state.fragments(), piece.fragment, &options);
                world.break_piece(piece, fracture.expect("it breaks"));
            }
            report("broken");
        }
        _ => {}
    }
    for step in 0..20 {
        let start = Instant::now();
        world.step();
        let spent = start.elapsed().as_secs_f64() * 1e3;
        if step % 5 == 0 {
            println!("step {step}: {spent:.1} ms");
        }
    }
    report("after 20 steps");
    println!("peak of the process: {:.1} MB", status("VmHWM"));
}
