//! `cargo xtask test --as-stranger`, and the stage `stranger`: the tests as somebody runs them
//! who has cloned the project into an empty folder.
//!
//! Steps: clone what is committed into a temporary folder with nothing beside it -> an empty
//! home folder (cargo and rustup keep theirs) -> run stages in the clone, with public data
//! hidden. The stage runs those that build nothing, and then the tests with public data of the
//! build at hand, hidden from them.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::public_data;
use crate::skips::Skips;
use crate::stage::Outcome;
use crate::test_run;
use crate::web::target_folder;

/// The stages that build nothing.
const QUICK: &str = "format,licences,public-data,packages";

/// How much runs in the clone.
#[derive(Clone, Copy, PartialEq, clap::ValueEnum)]
pub enum Extent {
    /// What builds nothing.
    Quick,
    /// Everything; before a release.
    Whole,
}

/// The stage.
pub fn check() -> Outcome {
    match Path::new(".git").exists() {
        true => run(Extent::Quick)?,
        false => println!("   this folder is no clone of git's: no clone of it is tested"),
    }
    hidden_data()
}

/// Clones, and runs stages there.
pub fn run(extent: Extent) -> Outcome {
    if !Path::new(".git").exists() {
        return Err("this folder is no clone: `git clone` it, or leave this stage out".into());
    }
    let root = env::current_dir().map_err(|e| format!("cannot find this folder: {e}"))?;
    if !git(&root, &["status", "--porcelain"])?.trim().is_empty() {
        println!("   NOTE: there are changes that are not committed; the clone does not have them");
    }
    let folder = env::temp_dir().join(format!("fracas-stranger-{}", std::process::id()));
    let home = folder.join("home");
    fs::create_dir_all(&home).map_err(|e| format!("cannot make {}: {e}", home.display()))?;
    // Alone in its folder: nothing can lie beside it.
    let alone = folder.join("alone");
    fs::create_dir_all(&alone).map_err(|e| format!("cannot make {}: {e}", alone.display()))?;
    let clone = alone.join("fracas");
    let from = format!("file://{}", root.display());
    let into = clone.display().to_string();
    git(&alone, &["clone", "--quiet", "--depth", "1", &from, &into])?;
    println!("   in {into}:");
    let this = env::current_exe().map_err(|e| format!("cannot find this program: {e}"))?;
    let mut test = Command::new(this);
    test.arg("test").current_dir(&clone);
    test.env("FRACAS_DATA", folder.join("no-data"));
    match extent {
        Extent::Quick => {
            test.args(["--only", QUICK]);
            test.env("HOME", &home);
            test.env("CARGO_TARGET_DIR", target_folder()?.join("stranger"));
            keep_homes(&mut test);
        }
        // Programs that install packages keep their settings in the home folder.
        Extent::Whole => {
            test.env_remove("CARGO_TARGET_DIR");
        }
    }
    let status = test.status();
    let status = status.map_err(|e| format!("cannot run the tests in {into}: {e}"))?;
    if !status.success() {
        return Err(format!(
            "the tests in {into} ended with {status} (it is left there)"
        ));
    }
    // A clone that cannot be removed harms nobody.
    let _ = fs::remove_dir_all(&folder);
    Ok(())
}

/// Cargo and rustup find their own folders without the user's home.
fn keep_homes(command: &mut Command) {
    let home = env::home_dir().unwrap_or_default();
    for (name, folder) in [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")] {
        let kept = env::var_os(name).map_or_else(|| home.join(folder), PathBuf::from);
        command.env(name, kept);
    }
}

/// The tests with public data pass where it is absent.
fn hidden_data() -> Outcome {
    let hidden = env::temp_dir().join("fracas-no-data");
    let mut skips = Skips::default();
    let mut count = 0;
    for (file, tests) in public_data::listed()? {
        let Some(program) = file.strip_prefix("conformance/tests/") else {
            continue;
        };
        let program = program.trim_end_matches(".rs");
        let program = test_run::last_built("conformance", program)?;
        let out = Command::new(&program)
            .arg("--exact")
            .args(tests.keys())
            .current_dir("conformance")
            .env("FRACAS_DATA", &hidden)
            .output();
        let out = out.map_err(|e| format!("cannot run {}: {e}", program.display()))?;
        let text = [out.stdout, out.stderr].map(|t| String::from_utf8_lossy(&t).into_owned());
        let passed = format!("ok. {} passed", tests.len());
        if !out.status.success() || !text[0].contains(&passed) {
            return Err(format!(
                "{file} fails without public data:\n{}",
                text.concat()
            ));
        }
        let before = skips.without_data();
        text.iter()
            .flat_map(|t| t.lines())
            .for_each(|line| skips.read(line));
        if skips.without_data() != before + tests.len() {
            return Err(format!(
                "{file}: not every listed test used public data:\n{}",
                text.concat()
            ));
        }
        count += tests.len();
    }
    println!("   {count} tests with public data pass without it");
    Ok(())
}

fn git(folder: &Path, arguments: &[&str]) -> Result<String, String> {
    let out = Command::new("git")
        .args(arguments)
        .current_dir(folder)
        .output();
    let out = out.map_err(|e| format!("cannot run git: {e}"))?;
    if !out.status.success() {
        let why = String::from_utf8_lossy(&out.stderr).into_owned();
        return Err(format!("git {} failed: {why}", arguments.join(" ")));
    }
    Ok(String::from_utf8_lossy(&out.stdout).into_owned())
}
