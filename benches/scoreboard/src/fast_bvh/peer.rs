//! IPC Toolkit on the same two frames of the same mesh (`crates/fracas-report/peers`).

use std::path::{Path, PathBuf};
use std::process::Command;

use fracas_conformance::ccd::{self, SCENES};
use fracas_core::fast_bvh::{Contacts, FastBvh, Scratch, Settings};
use fracas_scenes::sequences::ripple::ripple;
use glam::DVec3;
use serde_json::{Value, json};

use super::{Instant, ms};
use crate::board::{Board, Measured, Target};

struct Step {
    start: Vec<DVec3>,
    end: Vec<DVec3>,
    triangles: Vec<[u32; 3]>,
}

/// Rows against the peer.
pub fn rows(board: &mut Board) {
    let names = ["fast-bvh/ripple-vs-ipctk", "fast-bvh/cloth-ball-vs-ipctk"];
    if !names.iter().any(|n| board.wants_row(n)) {
        return;
    }
    let Some(python) = std::env::var_os("FRACAS_IPCTK_PYTHON") else {
        for name in names {
            board.skip(
                name,
                "set FRACAS_IPCTK_PYTHON to a Python with ipctk 1.6.1 and numpy",
            );
        }
        return;
    };
    let (start, end, triangles) = ripple(215);
    let ripple = Step {
        start,
        end,
        triangles,
    };
    compare(board, names[0], &ripple, &PathBuf::from(&python));
    match ccd::read_scene(SCENES[0]) {
        Some(data) => {
            let step = Step {
                start: data.start,
                end: data.end,
                triangles: data.triangles,
            };
            compare(board, names[1], &step, &PathBuf::from(&python));
        }
        None => board.skip(names[1], "no ccd/scalable-ccd"),
    }
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
    board.row(name, "x", Target::AtLeast(3.0), || {
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
