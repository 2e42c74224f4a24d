//! The stage `newcomer` of `cargo xtask test`: what a user who follows the documents would do.
//!
//! Every Rust block of the guide and of the first page, every example of the crate `fracas`, and
//! the game of `examples/game` become a program of a package outside the workspace that depends on `fracas` and
//! `rapier3d` alone, with default features. All are compiled; those that need no files of the
//! user (`no_run`) are run. The package lies in the target folder, with a target folder of its
//! own there, so that a second run compiles only what changed.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::stage::{Outcome, cargo};

const PAGES: [(&str, &str); 2] = [("guide", "docs/guide.md"), ("first_page", "README.md")];

const EXAMPLES: &str = "crates/fracas/examples";

const GAME: &str = "examples/game/src/main.rs";

/// A program of the package.
#[derive(Debug, PartialEq)]
struct Program {
    name: String,
    source: String,
    is_run: bool,
}

/// Writes the package, builds it and runs its programs.
pub fn check() -> Outcome {
    let root = env::current_dir().map_err(|e| format!("where are we? {e}"))?;
    let target = env::var_os("CARGO_TARGET_DIR").map_or("target".into(), PathBuf::from);
    let folder = root.join(target).join("newcomer");
    let programs = programs()?;
    write_package(&root, &folder, &programs)?;
    let manifest = folder.join("Cargo.toml");
    let built = folder.join("target");
    let [manifest, built] = [&manifest, &built].map(|p| p.to_string_lossy().into_owned());
    let place = ["--manifest-path", &manifest, "--target-dir", &built];
    cargo(&[&["build", "--quiet", "--bins"], &place[..]].concat(), &[])?;
    for program in programs.iter().filter(|p| p.is_run) {
        let file = folder.join("target/debug").join(&program.name);
        println!("   {}", program.name);
        let out = Command::new(file).current_dir(&folder).output();
        let out = out.map_err(|e| format!("cannot run {}: {e}", program.name))?;
        if !out.status.success() {
            let told = String::from_utf8_lossy(&out.stderr);
            return Err(format!("{} failed: {told}", program.name));
        }
    }
    Ok(())
}

fn programs() -> Result<Vec<Program>, String> {
    let read = |path: &Path| {
        fs::read_to_string(path).map_err(|e| format!("cannot read {}: {e}", path.display()))
    };
    let mut all = Vec::new();
    for (name, page) in PAGES {
        all.extend(blocks(name, &read(Path::new(page))?));
    }
    let folder = fs::read_dir(EXAMPLES).map_err(|e| format!("cannot read {EXAMPLES}: {e}"))?;
    let mut files: Vec<PathBuf> = folder.flatten().map(|entry| entry.path()).collect();
    files.sort();
    for file in files {
        let name = file.file_stem().unwrap_or_default().to_string_lossy();
        all.push(Program {
            name: format!("example_{name}"),
            source: read(&file)?,
            is_run: true,
        });
    }
    all.push(Program {
        name: "game".into(),
        source: read(Path::new(GAME))?,
        is_run: true,
    });
    Ok(all)
}

/// The Rust blocks of a page as programs, as rustdoc would run them.
fn blocks(page: &str, text: &str) -> Vec<Program> {
    let starts = text.split("\n```rust").skip(1);
    starts
        .enumerate()
        .map(|(i, rest)| {
            let block = rest.split("\n```").next().unwrap_or_default();
            let (marks, code) = block.split_once('\n').unwrap_or_default();
            let shown = |line: &str| line.strip_prefix("# ").unwrap_or(line).to_owned();
            let mut lines: Vec<String> = code.lines().map(shown).collect();
            let mut kind = "";
            if lines.last().is_some_and(|l| l.starts_with("Ok::<")) {
                kind = " -> Result<(), Box<dyn std::error::Error>>";
                lines.pop();
                lines.push("Ok(())".into());
            }
            let body = lines.join("\n    ");
            Program {
                name: format!("{page}_{}", i + 1),
                source: format!("fn main(){kind} {{\n    {body}\n}}\n"),
                is_run: !marks.contains("no_run"),
            }
        })
        .collect()
}

/// Files that are as they were keep their time, so that cargo need not build them anew.
fn write_package(root: &Path, folder: &Path, programs: &[Program]) -> Outcome {
    let path = root.join("crates/fracas");
    let manifest = format!(
        r#"# Written by `cargo xtask test --only newcomer`.
[workspace]

[package]
name = "newcomer"
edition = "2024"

[dependencies]
fracas = {{ path = {:?} }}
rapier3d = "0.36"

# Quick to compile; only what would run for minutes is optimised.
[profile.dev]
opt-level = 0
debug = false
incremental = false

[profile.dev.package]
fracas-core = {{ opt-level = 1 }}
fracas-geometry = {{ opt-level = 1 }}
fracas-sparse = {{ opt-level = 2 }}
fracas-fracture = {{ opt-level = 1 }}
glam = {{ opt-level = 1 }}
"#,
        path.display().to_string()
    );
    let bin = folder.join("src/bin");
    let wrong = |e: std::io::Error| format!("cannot write {}: {e}", folder.display());
    fs::create_dir_all(&bin).map_err(wrong)?;
    write_if_new(&folder.join("Cargo.toml"), &manifest).map_err(wrong)?;
    // The versions that the workspace is tested with.
    let lock = folder.join("Cargo.lock");
    if !lock.exists() {
        fs::copy(root.join("Cargo.lock"), lock).map_err(wrong)?;
    }
    let names: Vec<String> = programs.iter().map(|p| format!("{}.rs", p.name)).collect();
    for entry in fs::read_dir(&bin).map_err(wrong)? {
        let entry = entry.map_err(wrong)?;
        if !names.contains(&entry.file_name().to_string_lossy().into_owned()) {
            fs::remove_file(entry.path()).map_err(wrong)?;
        }
    }
    for (program, name) in programs.iter().zip(&names) {
        write_if_new(&bin.join(name), &program.source).map_err(wrong)?;
    }
    Ok(())
}

fn write_if_new(path: &Path, text: &str) -> std::io::Result<()> {
    if fs::read_to_string(path).is_ok_and(|old| old == text) {
        return Ok(());
    }
    fs::write(path, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_become_programs() {
        let page = "# A\n\n```rust\nlet a = 1;\n# let _ = a;\n```\n\n```sh\nls\n```\n\n\
                    ```rust,no_run\nb()?;\n# Ok::<(), E>(())\n```\n";
        let found = blocks("p", page);
        assert_eq!(found.len(), 2);
        assert_eq!(
            (found[0].name.as_str(), found[0].source.as_str()),
            ("p_1", "fn main() {\n    let a = 1;\n    let _ = a;\n}\n")
        );
        assert!(found[0].is_run && !found[1].is_run);
        assert!(
            found[1]
                .source
                .contains("Result<(), Box<dyn std::error::Error>>")
        );
        assert!(found[1].source.ends_with("    Ok(())\n}\n"));
    }
}
