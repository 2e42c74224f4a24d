//! The page's steps beside native ones: the same scenes, the same bits, in Node's WebAssembly.
//!
//! Measured by `apps/web/tests/ratio.mjs`, in seconds of the processor. Needs Node, the page's
//! wasm (`cargo xtask web`), and the native program built as the wasm is.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

use crate::board::{Board, Measured, Target};

const SCENES: [&str; 3] = ["plates", "bricks", "piggy-bank"];
const BUILD: &str = "cargo build --profile web --package fracas-web --example native";

/// A line of the script: milliseconds a step.
#[derive(Deserialize)]
struct Step {
    scene: String,
    wasm: f64,
    native: f64,
    same_bits: bool,
}

/// Processor time of a step in wasm over native.
pub fn rows(board: &mut Board) {
    let name = |scene: &str| format!("page/wasm-over-native-{scene}");
    if !SCENES.iter().any(|scene| board.wants_row(&name(scene))) {
        return;
    }
    let steps = match measure() {
        Ok(steps) => steps,
        Err(why) => {
            return SCENES
                .iter()
                .for_each(|scene| board.skip(&name(scene), &why));
        }
    };
    for step in &steps {
        board.row(&name(&step.scene), "x", Target::AtMost(1.5), || {
            Measured::new(step.wasm / step.native).note(format!(
                "{:.2} ms of processor a step in wasm, {:.2} native; the same bits",
                step.wasm, step.native
            ))
        });
    }
}

fn measure() -> Result<Vec<Step>, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = root.join("apps/web");
    if !page.join("src/wasm/fracas_bg.wasm").exists() {
        return Err("the page is not built: cargo xtask web".into());
    }
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or(root.join("target"), PathBuf::from);
    let usual = target.join("web/examples/native");
    let native = std::env::var_os("FRACAS_NATIVE").map_or(usual, PathBuf::from);
    // It is run in the page's folder.
    let native = native
        .canonicalize()
        .map_err(|_| format!("there is no {}: {BUILD}", native.display()))?;
    let out = Command::new("node")
        .args(["tests/ratio.mjs", "--json"])
        .current_dir(page)
        .env("FRACAS_NATIVE", native)
        .output()
        .map_err(|e| format!("Node cannot be run: {e}"))?;
    if !out.status.success() {
        let told = String::from_utf8_lossy(&out.stderr);
        let cause = told.lines().find(|line| line.contains("Error"));
        return Err(cause.unwrap_or("node failed").into());
    }
    let lines = String::from_utf8_lossy(&out.stdout);
    let steps = lines.lines().map(serde_json::from_str);
    let steps: Vec<Step> = steps.collect::<Result<_, _>>().map_err(|e| e.to_string())?;
    match steps.iter().find(|step| !step.same_bits) {
        Some(step) => Err(format!("{} has other bits in wasm", step.scene)),
        None if steps.len() != SCENES.len() => Err("node measured other scenes".into()),
        None => Ok(steps),
    }
}
