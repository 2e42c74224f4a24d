//! `cargo xtask mutants`: which lines can be broken without a test noticing?
//!
//! `cargo-mutants` (from the registry, into a folder under `target`) lists the ways to break
//! a line. Building the tests anew for each takes minutes, so they are not tried one build at
//! a time: a sample is drawn, every function with a mutant of it is written with all its
//! bodies into a copy of the tree, one of which `FRACAS_MUTANT` chooses when the tests run.
//!
//! Steps: list -> sample ([`list`]) -> copy and plant ([`plant`]) -> build, and leave out what
//! does not compile ([`build`]) -> run the tests once for each mutant ([`trial`]) -> shares.
//! Building and running are two steps (`--build-only`, `--run`): the folder between them needs
//! neither network nor cargo.

mod build;
mod list;
mod plant;
mod trial;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;
use serde_json::{Value, json};

use crate::stage::{Outcome, cargo};
use crate::web::target_folder;
use list::{Mutant, Subject};

/// What `cargo xtask mutants` is told.
#[derive(Args)]
pub struct Options {
    /// What to break: `CRATE` or `CRATE/WORD`, where a folder or file of the crate has that
    /// name (such as `fracas-core/sphere_tree`). Without one, the subjects of decision 0018.
    subjects: Vec<String>,
    /// How many mutants of each subject (0: all).
    #[arg(long, default_value_t = 25)]
    sample: usize,
    /// Of the sample.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How many mutants are tried at a time (0: as many as there are processors).
    #[arg(long, default_value_t = 0)]
    jobs: usize,
    /// Test programs that take longer than so many seconds without a mutant are left out.
    #[arg(long, default_value_t = 60.0)]
    longest: f64,
    /// Whose tests must notice (without one: the broken crate's, the engine's, conformance).
    #[arg(long)]
    tests: Vec<String>,
    /// Build and run only the unit tests of these crates.
    #[arg(long)]
    unit: bool,
    /// A list that `cargo mutants --list --json` wrote: then cargo-mutants is not needed.
    #[arg(long)]
    list: Option<PathBuf>,
    /// Only build the programs, into the folder that is printed.
    #[arg(long, conflicts_with = "run")]
    build_only: bool,
    /// Only run what was built into this folder.
    #[arg(long)]
    run: Option<PathBuf>,
    /// Try only the mutants whose name contains one of these.
    #[arg(long)]
    only: Vec<String>,
}

/// What decision 0018 reports of.
const SUBJECTS: [&str; 9] = [
    "fracas-core/sphere_tree",
    "fracas-core/fragment_field",
    "fracas-fastcd/fast_bvh",
    "fracas-tet-distance/tet_distance",
    "fracas-voxel/voxel_tree",
    "fracas-core/split",
    "fracas-rapier/pair",
    "fracas-rapier/manifold",
    "fracas-rapier/split",
];

/// The version whose list was read when this was written.
const TOOL: &str = "cargo-mutants@27.1.0";

/// Lists, samples, builds and runs, or the part that was asked for.
pub fn run(options: &Options) -> Outcome {
    if let Some(folder) = &options.run {
        return trial::run(folder, options.jobs, options.longest, &options.only);
    }
    let named = options.subjects.iter().map(String::as_str);
    let named: Vec<&str> = named.collect();
    let names: &[&str] = if named.is_empty() { &SUBJECTS } else { &named };
    let subjects: Vec<Subject> = names.iter().map(|n| Subject::parse(n)).collect();
    let folder = target_folder()?.join("mutants");
    let text = match &options.list {
        Some(file) => {
            fs::read_to_string(file).map_err(|e| format!("cannot read {}: {e}", file.display()))?
        }
        None => list_all(&folder, &subjects)?,
    };
    let mut sample = list::sample(&text, &subjects, options.sample, options.seed)?;
    for subject in &subjects {
        let count = sample.iter().filter(|m| m.subject == subject.name).count();
        if count == 0 {
            return Err(format!(
                "{} has nothing to break: no such file?",
                subject.name
            ));
        }
        println!("   {}: {count} mutants", subject.name);
    }
    let programs = build::programs(&folder, &mut sample, (&options.tests, options.unit))?;
    write_plan(&folder, &sample, &programs)?;
    if options.build_only {
        println!(
            "   built into {0}; cargo xtask mutants --run {0}",
            folder.display()
        );
        return Ok(());
    }
    trial::run(&folder, options.jobs, options.longest, &options.only)
}

/// What cargo-mutants can break in the crates of the subjects.
fn list_all(folder: &Path, subjects: &[Subject]) -> Result<String, String> {
    let tools = folder.join("tools");
    let program = tools.join("bin").join(if cfg!(windows) {
        "cargo-mutants.exe"
    } else {
        "cargo-mutants"
    });
    if !program.exists() {
        let root = tools.display().to_string();
        // Not optimised: it lists once, and compiling takes longer than that.
        let install = ["install", TOOL, "--locked", "--debug", "--root", &root];
        cargo(&install, &[]).map_err(|e| {
            format!(
                "{e}\n{TOOL} cannot be had from the registry. Where there is a network: `cargo \
                 mutants --list --json -p CRATE > FILE`, then here `--list FILE`"
            )
        })?;
    }
    let mut crates: Vec<&str> = subjects.iter().map(|s| s.package.as_str()).collect();
    crates.sort_unstable();
    crates.dedup();
    println!("   listing what can be broken in {}", crates.join(", "));
    let packages = crates.iter().flat_map(|c| ["--package", c]);
    let out = Command::new(&program)
        .args(["mutants", "--list", "--json"])
        .args(packages)
        .output()
        .map_err(|e| format!("cannot run {}: {e}", program.display()))?;
    if !out.status.success() {
        let told = String::from_utf8_lossy(&out.stderr);
        return Err(format!(
            "cargo mutants --list ended with {}: {told}",
            out.status
        ));
    }
    Ok(String::from_utf8_lossy(&out.stdout).into_owned())
}

/// What [`trial::run`] needs, beside the programs.
fn write_plan(folder: &Path, sample: &[Mutant], programs: &[Value]) -> Outcome {
    let mutants: Vec<Value> = sample
        .iter()
        .enumerate()
        .map(|(i, m)| {
            json!({
                "number": i + 1,
                "subject": m.subject,
                "word": m.word,
                "name": m.name,
                "state": m.state,
            })
        })
        .collect();
    let plan = json!({ "mutants": mutants, "programs": programs });
    let path = folder.join("plan.json");
    let text = serde_json::to_string_pretty(&plan).map_err(|e| e.to_string())?;
    fs::write(&path, text).map_err(|e| format!("cannot write {}: {e}", path.display()))
}
