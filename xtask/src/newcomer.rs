//! The stage `newcomer` of `cargo xtask test`: what a user who follows the documents would do.
//!
//! Every Rust block of the guide and of the first page, every example of the crate `fracas`, and
//! the game of `examples/game` become a program of a package outside the workspace that depends on `fracas` and
//! `rapier3d` alone, with default features. All are compiled; those that need no files of the
//! user (`no_run`) are run. So does every Rust block in the README of each crate that is used
//! without `fracas`: a package for each, which depends on that crate and on `glam` alone. The
//! packages lie in the target folder and share a target folder of their own there, so that a
//! second run compiles only what changed.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::stage::{Outcome, cargo};

/// Crates that are used without `fracas`.
const ALONE: [&str; 4] = [
    "fracas-geometry",
    "fracas-fastcd",
    "fracas-tet-distance",
    "fracas-voxel",
];

/// A package outside the workspace.
struct Package {
    /// The crate that it depends on, and what a program needs beside it.
    depends_on: &'static str,
    beside: &'static str,
    /// Names and places of the pages whose Rust blocks are its programs.
    pages: Vec<(String, String)>,
    /// A folder of examples that are its programs, too.
    examples: Option<&'static str>,
}

/// One package for each crate that is used alone, and that of those who use worlds.
fn packages() -> Vec<Package> {
    let page = |name: &str, place: &str| (name.to_owned(), place.to_owned());
    let world = Package {
        depends_on: "fracas",
        beside: r#"rapier3d = "0.36""#,
        pages: vec![
            page("guide", "docs/guide.md"),
            page("first_page", "README.md"),
        ],
        examples: Some("crates/fracas/examples"),
    };
    let alone = ALONE.map(|name| Package {
        depends_on: name,
        beside: r#"glam = "0.33""#,
        pages: vec![page(
            &name.replace('-', "_"),
            &format!("crates/{name}/README.md"),
        )],
        examples: None,
    });
    alone.into_iter().chain([world]).collect()
}

/// What would run for minutes where it is not optimised.
const PROFILES: &str = "[profile.dev.package]
fracas-core = { opt-level = 1 }
fracas-geometry = { opt-level = 1 }
fracas-sparse = { opt-level = 2 }
fracas-fracture = { opt-level = 1 }
glam = { opt-level = 1 }
";

const GAME: &str = "examples/game/src/main.rs";

/// A program of the package.
#[derive(Debug, PartialEq)]
struct Program {
    name: String,
    source: String,
    is_run: bool,
}

/// Writes the packages, builds them and runs their programs.
pub fn check() -> Outcome {
    let root = env::current_dir().map_err(|e| format!("where are we? {e}"))?;
    let target = env::var_os("CARGO_TARGET_DIR").map_or("target".into(), PathBuf::from);
    let all = root.join(target).join("newcomer");
    packages().iter().try_for_each(|package| {
        let folder = all.join(package.depends_on);
        check_package(package, &root, &folder, &all.join("target"))
    })
}

fn check_package(package: &Package, root: &Path, folder: &Path, built: &Path) -> Outcome {
    let programs = programs(package)?;
    if programs.is_empty() {
        return Err(format!("no Rust block shows {}", package.depends_on));
    }
    write_package(package, root, folder, &programs)?;
    let manifest = folder.join("Cargo.toml");
    let programs_at = built.join("debug");
    let [manifest, built] = [&manifest, built].map(|p| p.to_string_lossy().into_owned());
    let place = ["--manifest-path", &manifest, "--target-dir", &built];
    cargo(&[&["build", "--quiet", "--bins"], &place[..]].concat(), &[])?;
    for program in programs.iter().filter(|p| p.is_run) {
        let file = programs_at.join(&program.name);
        println!("   {}", program.name);
        let out = Command::new(file).current_dir(folder).output();
        let out = out.map_err(|e| format!("cannot run {}: {e}", program.name))?;
        if !out.status.success() {
            let told = String::from_utf8_lossy(&out.stderr);
            return Err(format!("{} failed: {told}", program.name));
        }
    }
    Ok(())
}

fn programs(package: &Package) -> Result<Vec<Program>, String> {
    let read = |path: &Path| {
        fs::read_to_string(path).map_err(|e| format!("cannot read {}: {e}", path.display()))
    };
    let mut all = Vec::new();
    for (name, page) in &package.pages {
        all.extend(blocks(name, &read(Path::new(page))?));
    }
    let Some(examples) = package.examples else {
        return Ok(all);
    };
    let folder = fs::read_dir(examples).map_err(|e| format!("cannot read {examples}: {e}"))?;
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
fn write_package(package: &Package, root: &Path, folder: &Path, programs: &[Program]) -> Outcome {
    let Package {
        depends_on, beside, ..
    } = package;
    let path = root.join("crates").join(depends_on);
    // Cargo warns of a profile for a package that is not used.
    let profiles = if *depends_on == "fracas" {
        PROFILES
    } else {
        ""
    };
    let manifest = format!(
        r#"# Written by `cargo xtask test --only newcomer`.
[workspace]

[package]
name = "newcomer"
edition = "2024"

[dependencies]
{depends_on} = {{ path = {:?} }}
{beside}

# Quick to compile; only what would run for minutes is optimised.
[profile.dev]
opt-level = 0
debug = false
incremental = false

{profiles}"#,
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
