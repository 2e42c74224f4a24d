//! IPC Toolkit on the same two frames of the same mesh (`crates/fracas-report/peers`).

use std::path::{Path, PathBuf};
use std::process::Command;

use fracas_conformance::ccd::{self, SCENES};
use fracas_fastcd::{Contacts, FastBvh, Scratch, Settings};
use fracas_scenes::sequences::{folded::folded, ripple::ripple};
use glam::DVec3;
use serde_json::{Value, json};

use super::{Instant, ms};
use crate::board::{Board, Measured, Target};

struct Step {
    start: Vec<DVec3>,
    end: Vec<DVec3>,
    triangles: Vec<[u32; 3]>,
}

/// Rows against the peer, and on several threads.
pub fn rows(board: &mut Board) {
    threads(board);
    update_threads(board);
    let sheets = ["ripple", "folded-free", "folded-touching"];
    let row = |name: &str| format!("fast-bvh/{name}-vs-ipctk");
    let wanted = |board: &mut Board, name: &str| board.wants_row(&row(name));
    if !sheets
        .iter()
        .chain(&["cloth-ball"])
        .any(|n| wanted(board, n))
    {
        return;
    }
    let Some(python) = python_with_ipctk() else {
        for name in sheets.iter().chain(&["cloth-ball"]) {
            board.skip(&row(name), NO_PEER);
        }
        return;
    };
    for name in sheets {
        if wanted(board, name) {
            compare(board, &row(name), &sheet(name), &python);
        }
    }
    match ccd::read_scene(SCENES[0]) {
        Some(data) => {
            let step = Step {
                start: data.start,
                end: data.end,
                triangles: data.triangles,
            };
            compare(board, &row("cloth-ball"), &step, &python);
        }
        None => board.skip(&row("cloth-ball"), "no ccd/scalable-ccd"),
    }
}

const NO_PEER: &str = "no Python with ipctk: `pip install ipctk`, or set FRACAS_IPCTK_PYTHON";

/// The Python of the environment variable, or the first on the path, if it has ipctk.
fn python_with_ipctk() -> Option<PathBuf> {
    let named = std::env::var_os("FRACAS_IPCTK_PYTHON").map(PathBuf::from);
    let usual = ["python3", "python"].map(PathBuf::from);
    named.into_iter().chain(usual).find(|python| {
        Command::new(python)
            .args(["-c", "import ipctk, numpy"])
            .output()
            .is_ok_and(|output| output.status.success())
    })
}

/// One of the three sheets of 92,450 triangles.
fn sheet(name: &str) -> Step {
    let (start, end, triangles) = match name {
        "ripple" => ripple(215),
        "folded-free" => folded(215, 0.8),
        _ => folded(215, 1.1),
    };
    Step {
        start,
        end,
        triangles,
    }
}

/// Calls `row` for each number of threads that there are processors for, with the row's name
/// and the target.
fn on_threads(board: &mut Board, what: &str, row: impl Fn(&mut Board, &str, usize, Target)) {
    let most = std::thread::available_parallelism().map_or(1, usize::from);
    for (threads, target) in [(2, 1.8), (16, 8.0)] {
        let name = format!("fast-bvh/{what}-on-{threads}-threads");
        if !board.wants_row(&name) {
            continue;
        }
        if threads > most {
            board.skip(&name, &format!("there are {most} processors"));
            continue;
        }
        row(board, &name, threads, Target::AtLeast(target));
    }
}

/// The query of the folded sheet that touches, on several threads. By the wall's clock.
fn threads(board: &mut Board) {
    on_threads(board, "contacts", |board, name, threads, target| {
        let step = sheet("folded-touching");
        let mut scene = FastBvh::new(Settings::default());
        let body = scene.add(&step.start, &step.triangles).expect("valid");
        scene.update();
        scene.move_vertices(body, &step.end).expect("finite");
        scene.update();
        let ask = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            let pool = pool.expect("threads can be made");
            let (mut scratch, mut found) = (Scratch::parallel(), Contacts::default());
            let mut best = f64::INFINITY;
            for _ in 0..7 {
                let start = std::time::Instant::now();
                pool.install(|| scene.contacts(&mut scratch, &mut found));
                best = best.min(start.elapsed().as_secs_f64() * 1e3);
            }
            (best, found)
        };
        let (one, alone) = ask(1);
        let (many, shared) = ask(threads);
        board.row(name, "x", target, || {
            assert_eq!(alone, shared, "the same bits on any number of threads");
            Measured::new(one / many).note(format!(
                "{one:.1} ms on one, {many:.1} on {threads}; folded sheet that touches, {} contacts",
                alone.vertex_face.len() + alone.edge_edge.len()
            ))
        });
    });
}

/// The update of the same sheet. By the wall's clock.
fn update_threads(board: &mut Board) {
    on_threads(board, "update", |board, name, threads, target| {
        let step = sheet("folded-touching");
        let (one, many) = (update_ms(&step, 1), update_ms(&step, threads));
        board.row(name, "x", target, || {
            Measured::new(one / many).note(format!(
                "{one:.1} ms on one, {many:.1} on {threads}; folded sheet that touches"
            ))
        });
    });
}

/// The shortest of some updates from the first to the second shape, on so many threads.
fn update_ms(step: &Step, threads: usize) -> f64 {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.expect("threads can be made");
    let mut scene = FastBvh::new(Settings {
        parallel: true,
        ..Settings::default()
    });
    let body = scene.add(&step.start, &step.triangles).expect("valid");
    pool.install(|| {
        let mut best = f64::INFINITY;
        scene.update();
        for _ in 0..7 {
            scene.move_vertices(body, &step.start).expect("finite");
            scene.update();
            scene.move_vertices(body, &step.end).expect("finite");
            let start = std::time::Instant::now();
            scene.update();
            best = best.min(start.elapsed().as_secs_f64() * 1e3);
        }
        best
    })
}

fn compare(board: &mut Board, name: &str, step: &Step, python: &Path) {
    if !board.wants_row(name) {
        return;
    }
    let peer = match run_peer(step, python) {
        Ok(peer) => peer,
        Err(why) => return board.skip(name, &why),
    };
    let (ours, earliest) = run_ours(step);
    let theirs = peer["step_ms"].as_f64().unwrap_or(f64::NAN);
    let version = peer["version"].as_str().unwrap_or("?").to_owned();
    let their_step = peer["step"].as_f64().unwrap_or(f64::NAN);
    board.row(name, "x", Target::AtLeast(10.0), || {
        Measured::new(theirs / ours).against("ipctk LBVH, ms", &version, theirs).note(format!(
            "ours {ours:.1} ms, motion, update and all contacts; first impact {:.3e}, theirs {their_step:.3e} (a lower bound)",
            earliest.unwrap_or(1.0)
        ))
    });
    // Theirs is conservative: never later than the truth; the tolerance of 1e-6 is
    // one of space and, by the speed of the points, of time.
    board.row(
        &format!("{name}-first-impact-difference"),
        "steps",
        Target::Between(0.0, 1e-5),
        || Measured::new(earliest.unwrap_or(1.0) - their_step),
    );
}

fn run_ours(step: &Step) -> (f64, Option<f64>) {
    let mut scene = FastBvh::new(Settings::default());
    let body = scene.add(&step.start, &step.triangles).expect("valid");
    scene.update();
    let (mut scratch, mut contacts) = (Scratch::default(), Contacts::default());
    let mut best = f64::INFINITY;
    for _ in 0..4 {
        scene.move_vertices(body, &step.start).expect("finite");
        scene.update();
        let start = Instant::now();
        scene.move_vertices(body, &step.end).expect("finite");
        scene.update();
        scene.contacts(&mut scratch, &mut contacts);
        best = best.min(ms(start));
    }
    (best, contacts.earliest())
}

fn run_peer(step: &Step, python: &Path) -> Result<Value, String> {
    let folder = std::env::temp_dir().join(format!("fracas-peer-{}", std::process::id()));
    std::fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
    let input = folder.join("step.json");
    let flat = |points: &[DVec3]| points.iter().map(|p| p.to_array()).collect::<Vec<_>>();
    let text = json!({
        "start": flat(&step.start), "end": flat(&step.end), "triangles": step.triangles,
    })
    .to_string();
    let script = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../crates/fracas-report/peers/peers.py"
    );
    let output = std::fs::write(&input, text).and_then(|()| {
        Command::new(python)
            .args([script, "ipctk", "ipctk"])
            .arg(&input)
            .output()
    });
    let _ = std::fs::remove_dir_all(&folder);
    let output = output.map_err(|e| format!("cannot run {}: {e}", python.display()))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let last = text.lines().last().unwrap_or_default();
    let said: Value = serde_json::from_str(last).map_err(|_| {
        format!(
            "the peer failed: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        )
    })?;
    match said["error"].as_str() {
        Some(why) => Err(format!("the peer failed: {why}")),
        None => Ok(said),
    }
}
