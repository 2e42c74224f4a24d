//! Runs the workspace's test programs, several at a time.
//!
//! `cargo test` runs one after the other, and most of them end with one slow test on one
//! core. Steps: build them all -> cargo's messages say where they are -> as many at a time as
//! there are cores, each in its package's folder as cargo would -> what each printed is told
//! when it ends, whole.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use serde_json::Value;

use crate::skips::Skips;
use crate::stage::Outcome;
use crate::web::target_folder;

/// A test program, and the folder it is run in.
#[derive(Debug, PartialEq)]
struct Program {
    path: PathBuf,
    folder: PathBuf,
}

impl Program {
    /// The program that a message of cargo tells of, if it is a test.
    fn of_message(line: &str) -> Option<Self> {
        let message: Value = serde_json::from_str(line).ok()?;
        let is_test = message["profile"]["test"].as_bool()?;
        let path = message["executable"].as_str()?;
        let manifest = Path::new(message["manifest_path"].as_str()?);
        is_test.then(|| Self {
            path: path.into(),
            folder: manifest.parent().unwrap_or(Path::new(".")).into(),
        })
    }

    fn name(&self) -> String {
        let file = self.path.file_name().unwrap_or_default().to_string_lossy();
        let package = self.folder.file_name().unwrap_or_default();
        let test = file.rsplit_once('-').map_or(&*file, |(name, _)| name);
        format!("{}/{test}", package.to_string_lossy())
    }
}

/// Builds and runs the tests that `cargo test` with these arguments would run.
pub fn run(arguments: &[&str]) -> Outcome {
    let programs = build(arguments)?;
    keep_places(&programs)?;
    let (next, skips) = (AtomicUsize::new(0), Mutex::new(Skips::default()));
    let ended = AtomicUsize::new(0);
    let failed = Mutex::new(Vec::new());
    let at_once = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..at_once.min(programs.len()) {
            scope.spawn(|| {
                while let Some(program) = programs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let begun = Instant::now();
                    let out = Command::new(&program.path)
                        .current_dir(&program.folder)
                        .stdin(Stdio::null())
                        .output();
                    let name = program.name();
                    let (passed, text) = match out {
                        Ok(out) => (
                            out.status.success(),
                            [out.stdout, out.stderr].map(|t| String::from_utf8_lossy(&t).into()),
                        ),
                        Err(error) => (false, [String::new(), error.to_string()]),
                    };
                    let mut skips = skips.lock().unwrap_or_else(|e| e.into_inner());
                    let seconds = begun.elapsed().as_secs_f64();
                    let (count, of) = (1 + ended.fetch_add(1, Ordering::Relaxed), programs.len());
                    println!("   == [{count}/{of}] {name} ({seconds:.1} s)");
                    for line in text.iter().flat_map(|t| t.lines()) {
                        skips.read(line);
                        println!("{line}");
                    }
                    if !passed {
                        failed.lock().unwrap_or_else(|e| e.into_inner()).push(name);
                    }
                }
            });
        }
    });
    let skips = skips.into_inner().unwrap_or_else(|e| e.into_inner());
    let mut failed = failed.into_inner().unwrap_or_else(|e| e.into_inner());
    failed.sort();
    match failed.is_empty() {
        true => skips.conclude(),
        false => Err(format!("tests failed: {}", failed.join(", "))),
    }
}

fn places_file() -> Result<PathBuf, String> {
    Ok(target_folder()?.join("test-programs.txt"))
}

/// Writes down where the programs are, for [`last_built`].
fn keep_places(programs: &[Program]) -> Outcome {
    let line = |p: &Program| format!("{}\t{}\n", p.name(), p.path.display());
    let text: String = programs.iter().map(line).collect();
    let file = places_file()?;
    std::fs::write(&file, text).map_err(|e| format!("cannot write {}: {e}", file.display()))
}

/// A test program of the last [`run`] in this folder.
pub fn last_built(package: &str, test: &str) -> Result<PathBuf, String> {
    let text = std::fs::read_to_string(places_file()?).unwrap_or_default();
    let name = format!("{package}/{test}\t");
    let path = text.lines().find_map(|line| line.strip_prefix(&name));
    let path = path.map(PathBuf::from).filter(|path| path.exists());
    path.ok_or_else(|| {
        format!("{package}/{test} is not built: run `cargo xtask test --only tests` first")
    })
}

/// Builds them, with cargo's own words on standard error, and says where they are.
fn build(arguments: &[&str]) -> Result<Vec<Program>, String> {
    let words = arguments.join(" ");
    println!("   cargo {words} --no-run");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut child = Command::new(cargo)
        .args(arguments)
        .args(["--no-run", "--message-format", "json-render-diagnostics"])
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|e| format!("cannot run cargo: {e}"))?;
    let messages = child.stdout.take().map(BufReader::new);
    let lines = messages.into_iter().flat_map(|m| m.lines());
    let lines = lines.map_while(Result::ok);
    let programs: Vec<Program> = lines.filter_map(|l| Program::of_message(&l)).collect();
    let status = child.wait().map_err(|e| format!("cannot run cargo: {e}"))?;
    if !status.success() {
        return Err(format!("cargo {words} --no-run ended with {status}"));
    }
    // Else nothing would run, and pass.
    if programs.is_empty() {
        return Err(format!("cargo {words} --no-run told of no test program"));
    }
    Ok(programs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_programs_are_read_from_cargos_messages() {
        let line = r#"{"reason":"compiler-artifact","manifest_path":"/w/crates/a/Cargo.toml",
            "profile":{"test":true},"executable":"/w/target/debug/deps/shapes-0123abcd"}"#;
        let found = Program::of_message(line).unwrap();
        assert_eq!(found.folder, Path::new("/w/crates/a"));
        assert_eq!(found.name(), "a/shapes");
        let library = line.replace("\"/w/target/debug/deps/shapes-0123abcd\"", "null");
        assert_eq!(Program::of_message(&library), None);
        assert_eq!(Program::of_message(&line.replace("true", "false")), None);
        assert_eq!(Program::of_message("no message"), None);
    }

    #[test]
    fn a_build_that_fails_is_an_error() {
        let told = run(&["test", "--package", "no-such-package"]);
        assert!(told.unwrap_err().contains("--no-run ended"));
    }
}
