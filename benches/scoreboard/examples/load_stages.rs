//! Loading a baked object, stage by stage: processor time of this thread, best of many, so
//! that a busy machine disturbs least.
//!
//! `cargo run --release -p fracas-scoreboard --example load_stages [SHAPE] [RUNS]`; with RUNS
//! of 1 for a profiler that counts instructions (`valgrind --tool=callgrind
//! --toggle-collect='*load_blueprint*'`).

use std::hint::black_box;

use fracas_bake::Asset;
use fracas_rapier::Blueprint;
use rustix::time::{ClockId, clock_gettime};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let shape = arguments.next().unwrap_or_else(|| "piggy-bank".into());
    let runs: usize = arguments.next().and_then(|n| n.parse().ok()).unwrap_or(40);
    let mesh = fracas_bake::shapes::by_name(&shape).expect("a shape of the set");
    let mut asset = Asset::new(shape.as_str(), mesh.build());
    asset.add_object().expect("a field and a tree");
    let bytes = asset.to_bytes();
    let (mesh, stored) = (asset.mesh(), bytes.len());
    println!(
        "{shape}: {} nodes, {} tetrahedra, {stored} bytes",
        mesh.positions().len(),
        mesh.tets().len()
    );
    if runs == 1 {
        black_box(load_blueprint(&bytes));
        return;
    }
    let read = || Asset::from_bytes(&bytes).expect("it loads");
    let loaded = read();
    best("asset of bytes", runs, read);
    best("object of asset", runs, || {
        loaded.object().expect("it was baked")
    });
    best("bytes to blueprint", runs, || load_blueprint(&bytes));
}

/// What is measured: all that lies between the bytes of a file and bodies.
#[inline(never)]
fn load_blueprint(bytes: &[u8]) -> Blueprint {
    let asset = Asset::from_bytes(bytes).expect("it loads");
    Blueprint::of_asset(&asset).expect("it was baked")
}

fn best<T>(name: &str, runs: usize, mut work: impl FnMut() -> T) {
    let least = (0..runs).map(|_| {
        let start = processor_ms();
        black_box(work());
        processor_ms() - start
    });
    println!("{:8.3} ms  {name}", least.fold(f64::INFINITY, f64::min));
}

fn processor_ms() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 * 1e-6
}
