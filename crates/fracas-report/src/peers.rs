//! Other people's programs, asked through an optional Python script.
//!
//! The script (`peers/peers.py`, part of this crate) reads one JSON file and prints
//! one line of JSON. Packages are pinned in `peers/requirements.txt`; one that is
//! missing makes its part of the answer an `error`, and the report says so.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::bench::{Bench, Skip};

const SCRIPT: &str = include_str!("../peers/peers.py");
/// The packages the script knows, pinned.
pub const REQUIREMENTS: &str = include_str!("../peers/requirements.txt");

/// Asks the script one question.
///
/// # Errors
/// When no Python was named, or it fails: with what to do about it.
pub fn ask(bench: &Bench<'_>, question: &str, input: &Value) -> Result<Value, Skip> {
    let Some(python) = &bench.options.python else {
        return Err(Skip(
            "no peers: install `crates/fracas-report/peers/requirements.txt` into a Python and name it with `--peers PYTHON`".into(),
        ));
    };
    let folder = std::env::temp_dir().join(format!("fracas-peers-{}", std::process::id()));
    let answer = ask_in(&folder, python, question, input);
    // Nothing is lost if the folder stays.
    let _ = std::fs::remove_dir_all(&folder);
    answer
}

fn ask_in(folder: &Path, python: &Path, question: &str, input: &Value) -> Result<Value, Skip> {
    std::fs::create_dir_all(folder).map_err(Skip::because)?;
    let (script, file) = (folder.join("peers.py"), folder.join("input.json"));
    std::fs::write(&script, SCRIPT).map_err(Skip::because)?;
    std::fs::write(&file, input.to_string()).map_err(Skip::because)?;
    let output = Command::new(python)
        .arg(&script)
        .arg(question)
        .arg(&file)
        .output()
        .map_err(|e| Skip(format!("cannot run {}: {e}", python.display())))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let last = text.lines().last().unwrap_or_default();
    serde_json::from_str(last).map_err(|_| {
        let why = String::from_utf8_lossy(&output.stderr);
        let why = why.lines().last().unwrap_or("it said nothing");
        Skip(format!("the peers' script failed: {why}"))
    })
}
