//! A copy of the tree with the mutants in it, and its test programs.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::list::Mutant;
use super::plant::{Planted, plant};
use crate::stage::Outcome;

/// Whose tests are run beside those of the broken crate.
const OTHERS: [&str; 2] = ["fracas-rapier", "fracas-conformance"];

/// How often mutants that do not compile are taken out: errors of types come before those of
/// borrows, and each round sees one kind.
const ROUNDS: usize = 8;

/// Tells a mutated crate which mutant is on.
const SWITCH: &str = r#"
/// Which mutant is on (`cargo xtask mutants`).
pub mod mutant_switch {
    /// Its number; zero is none.
    pub fn on() -> u32 {
        static NUMBER: std::sync::OnceLock<u32> = std::sync::OnceLock::new();
        *NUMBER.get_or_init(|| {
            let told = std::env::var("FRACAS_MUTANT").ok();
            told.and_then(|n| n.parse().ok()).unwrap_or(0)
        })
    }
}
"#;

/// Builds the tests of these packages (none: of [`OTHERS`] and the broken crates) with all
/// mutants that compile; the others are marked.
pub fn programs(
    folder: &Path,
    sample: &mut [Mutant],
    (proving, unit): (&[String], bool),
) -> Result<Vec<Value>, String> {
    let tree = folder.join("tree");
    let tracked = copy_tree(&tree)?;
    let mut packages: BTreeSet<&str> = proving.iter().map(String::as_str).collect();
    let broken: BTreeSet<String> = sample.iter().map(|m| m.package.clone()).collect();
    if packages.is_empty() {
        packages.extend(broken.iter().map(String::as_str).chain(OTHERS));
    }
    let named = packages.iter().flat_map(|p| ["--package", p]);
    let test = ["test", "--no-run", if unit { "--lib" } else { "--tests" }];
    let mut arguments: Vec<&str> = test.into_iter().chain(named).collect();
    // Compiling many bodies is what takes longest.
    let cheap = broken.iter().flat_map(|b| {
        let key = format!("profile.dev.package.{b}");
        [format!("{key}.opt-level=1"), format!("{key}.debug=false")]
    });
    let cheap: Vec<String> = cheap.collect();
    arguments.extend(cheap.iter().flat_map(|c| ["--config", c.as_str()]));
    for _ in 0..ROUNDS {
        let planted = plant_all(&tree, &tracked, sample)?;
        let (passed, messages) = build(&tree, &arguments)?;
        if passed {
            return gather(folder, &tree, &messages);
        }
        let guilty = guilty(&messages, &planted);
        if guilty.is_empty() {
            return Err("the copy of the tree does not compile, and no mutant is to blame".into());
        }
        for number in guilty {
            println!("   does not compile: {}", sample[number - 1].name);
            sample[number - 1].state = "unviable";
        }
    }
    Err(format!(
        "after {ROUNDS} rounds there are still mutants that do not compile"
    ))
}

/// Copies what git knows or would add; files that are the same are not touched, so that
/// cargo builds only what changed.
fn copy_tree(tree: &Path) -> Result<Vec<PathBuf>, String> {
    let out = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard"])
        .output()
        .map_err(|e| format!("cannot run git: {e}"))?;
    let listed = String::from_utf8_lossy(&out.stdout).into_owned();
    let files: Vec<PathBuf> = listed.lines().map(PathBuf::from).collect();
    for file in files.iter().filter(|f| f.is_file()) {
        // Sources that will be planted are written once, below.
        if file.extension().is_some_and(|e| e == "rs") {
            continue;
        }
        let bytes = fs::read(file).map_err(|e| format!("cannot read {}: {e}", file.display()))?;
        write_if_new(&tree.join(file), &bytes)?;
    }
    Ok(files)
}

fn write_if_new(path: &Path, bytes: &[u8]) -> Outcome {
    if fs::read(path).is_ok_and(|old| old == bytes) {
        return Ok(());
    }
    let fail = |e| format!("cannot write {}: {e}", path.display());
    fs::create_dir_all(path.parent().unwrap_or(Path::new("."))).map_err(fail)?;
    fs::write(path, bytes).map_err(fail)
}

/// Writes all sources, with the mutants that are still planted. Returns where they stand.
fn plant_all(
    tree: &Path,
    files: &[PathBuf],
    sample: &mut [Mutant],
) -> Result<BTreeMap<String, Planted>, String> {
    let mut by_file = BTreeMap::<String, Vec<usize>>::new();
    let mut roots = BTreeSet::new();
    for (i, mutant) in sample.iter().enumerate() {
        if let Some((crate_folder, _)) = mutant.file.split_once("/src/") {
            roots.insert(PathBuf::from(format!("{crate_folder}/src/lib.rs")));
        }
        if mutant.state == "planted" {
            by_file.entry(mutant.file.clone()).or_default().push(i);
        }
    }
    let mut planted_files = BTreeMap::new();
    let sources = files
        .iter()
        .filter(|f| f.extension().is_some_and(|e| e == "rs"));
    for file in sources.filter(|f| f.is_file()) {
        let name = file.to_string_lossy().replace('\\', "/");
        let source =
            fs::read_to_string(file).map_err(|e| format!("cannot read {}: {e}", file.display()))?;
        let mut text = match by_file.get(&name) {
            None => source,
            Some(here) => {
                let here: Vec<_> = here.iter().map(|&i| (i + 1, &sample[i])).collect();
                let (planted, lost) = plant(&source, &here, "crate::mutant_switch::on()");
                for number in lost {
                    sample[number - 1].state = "not switchable";
                }
                let text = planted.text.clone();
                planted_files.insert(name, planted);
                text
            }
        };
        if roots.contains(file) {
            text.push_str(SWITCH);
        }
        write_if_new(&tree.join(file), text.as_bytes())?;
    }
    Ok(planted_files)
}

/// Cargo's messages, and whether it succeeded. Registry crates come from the ordinary target
/// folder, so that only the workspace's own are built anew (other compiler flags would
/// build all of them).
fn build(tree: &Path, arguments: &[&str]) -> Result<(bool, Vec<Value>), String> {
    println!("   in the copy: cargo {}", arguments.join(" "));
    let target = crate::web::target_folder()?;
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let out = Command::new(cargo)
        .args(arguments)
        .args(["--message-format", "json"])
        .current_dir(tree)
        .env("CARGO_TARGET_DIR", target)
        .stderr(Stdio::inherit())
        .output()
        .map_err(|e| format!("cannot run cargo: {e}"))?;
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    let messages = text.lines().filter_map(|l| serde_json::from_str(l).ok());
    Ok((out.status.success(), messages.collect()))
}

/// The mutants in whose bodies the compiler found errors.
fn guilty(messages: &[Value], planted: &BTreeMap<String, Planted>) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    for message in messages.iter().filter(|m| m["message"]["level"] == "error") {
        for span in message["message"]["spans"].as_array().into_iter().flatten() {
            let file = span["file_name"].as_str().unwrap_or_default();
            let line = span["line_start"].as_u64().unwrap_or(0) as usize;
            let Some(planted) = planted.get(file) else {
                continue;
            };
            let here = planted.lines.iter().filter(|l| (l.0..=l.1).contains(&line));
            found.extend(here.map(|l| l.2));
        }
        if let Some(text) = message["message"]["rendered"].as_str()
            && found.is_empty()
        {
            println!("{text}");
        }
    }
    found
}

/// Puts the test programs that cargo tells of into the folder; says where each is run.
fn gather(folder: &Path, tree: &Path, messages: &[Value]) -> Result<Vec<Value>, String> {
    let into = folder.join("programs");
    fs::create_dir_all(&into).map_err(|e| format!("cannot make {}: {e}", into.display()))?;
    let mut programs = Vec::new();
    for message in messages.iter().filter(|m| m["profile"]["test"] == true) {
        let (Some(path), Some(target)) = (
            message["executable"].as_str(),
            message["target"]["name"].as_str(),
        ) else {
            continue;
        };
        let manifest = Path::new(message["manifest_path"].as_str().unwrap_or_default());
        let home = manifest.parent().unwrap_or(Path::new("."));
        let package = package_of(manifest)?;
        let is_library = message["target"]["kind"][0] == "lib";
        let file = format!("{package}-{}", if is_library { "lib" } else { target });
        let to = into.join(&file);
        fs::copy(path, &to).map_err(|e| format!("cannot copy {path}: {e}"))?;
        // Smaller to carry; where there is no `strip`, it is just larger.
        let _ = Command::new("strip").arg("--strip-debug").arg(&to).status();
        let home = home.strip_prefix(tree).unwrap_or(home).to_string_lossy();
        programs.push(json!({
            "program": format!("programs/{file}"),
            "package": package,
            "library": is_library,
            "home": format!("tree/{home}"),
        }));
    }
    Ok(programs)
}

fn package_of(manifest: &Path) -> Result<String, String> {
    let text = fs::read_to_string(manifest)
        .map_err(|e| format!("cannot read {}: {e}", manifest.display()))?;
    let line = text.lines().find_map(|l| l.strip_prefix("name = "));
    line.map(|l| l.trim_matches('"').to_owned())
        .ok_or_else(|| format!("{} names no package", manifest.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_laid_to_the_mutant_they_are_in() {
        let planted = Planted {
            text: String::new(),
            lines: vec![(4, 9, 1), (10, 15, 2)],
        };
        let planted = BTreeMap::from([("src/a.rs".to_owned(), planted)]);
        let error = |file: &str, line: usize, level: &str| {
            json!({ "message": { "level": level, "rendered": "",
                "spans": [{ "file_name": file, "line_start": line }] } })
        };
        let told = [
            error("src/a.rs", 12, "error"),
            error("src/a.rs", 5, "warning"),
        ];
        assert_eq!(guilty(&told, &planted), BTreeSet::from([2]));
        assert!(guilty(&[error("src/b.rs", 12, "error")], &planted).is_empty());
        assert!(guilty(&[error("src/a.rs", 99, "error")], &planted).is_empty());
    }
}
