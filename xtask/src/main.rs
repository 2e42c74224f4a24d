//! The project's own commands: `cargo xtask test`, `cargo xtask bench`.
//!
//! Each does all the set-up it needs and says what it is doing.

use std::env;
use std::process::{Command, ExitCode};
use std::time::Instant;

use clap::{Parser, Subcommand};

/// Commands for working on fracas.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Xtask {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Everything a change must pass: format, lints, documentation, tests, wasm build.
    Test,
    /// The scoreboard: measure every target (arguments are passed on; see --help).
    Bench {
        /// For example `--only field`, `--json FILE`.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
}

const WASM: &str = "wasm32-unknown-unknown";
/// The crates that must build for the browser.
const WASM_CRATES: [&str; 6] = [
    "fracas",
    "fracas-fracture",
    "fracas-bake",
    "fracas-rapier",
    "fracas-soft",
    "fracas-scenes",
];

fn main() -> ExitCode {
    let result = match Xtask::parse().task {
        Task::Test => test(),
        Task::Bench { arguments } => {
            let mut all = vec![
                "run",
                "--release",
                "--quiet",
                "--package",
                "fracas-scoreboard",
                "--",
            ];
            all.extend(arguments.iter().map(String::as_str));
            cargo("scoreboard", &all, &[])
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}

fn test() -> Result<(), String> {
    let start = Instant::now();
    cargo("format", &["fmt", "--all", "--check"], &[])?;
    cargo(
        "lints",
        &[
            "clippy",
            "--workspace",
            "--all-targets",
            "--",
            "-D",
            "warnings",
        ],
        &[],
    )?;
    cargo(
        "documentation",
        &["doc", "--workspace", "--no-deps"],
        &[("RUSTDOCFLAGS", "-D warnings")],
    )?;
    wasm()?;
    cargo("tests", &["test", "--workspace"], &[])?;
    println!("\nall passed in {:.0} s", start.elapsed().as_secs_f64());
    Ok(())
}

/// Builds the library crates for the browser, on one thread: no feature `parallel`.
fn wasm() -> Result<(), String> {
    ensure_wasm_target()?;
    let mut arguments = vec!["build", "--target", WASM, "--no-default-features"];
    for package in WASM_CRATES {
        arguments.extend(["--package", package]);
    }
    cargo("wasm build", &arguments, &[])
}

fn ensure_wasm_target() -> Result<(), String> {
    let sysroot = Command::new("rustc")
        .args(["--print", "target-libdir", "--target", WASM])
        .output();
    let there = sysroot.is_ok_and(|out| {
        std::path::Path::new(String::from_utf8_lossy(&out.stdout).trim()).is_dir()
    });
    if there {
        return Ok(());
    }
    println!("== installing the Rust target {WASM}");
    let added = Command::new("rustup")
        .args(["target", "add", WASM])
        .status();
    match added {
        Ok(status) if status.success() => Ok(()),
        _ => Err(format!(
            "the Rust target {WASM} is missing and `rustup target add {WASM}` failed: install it by hand"
        )),
    }
}

fn cargo(what: &str, arguments: &[&str], environment: &[(&str, &str)]) -> Result<(), String> {
    println!("== {what}: cargo {}", arguments.join(" "));
    let program = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(program)
        .args(arguments)
        .envs(environment.iter().copied())
        .status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{what} failed ({status})")),
        Err(error) => Err(format!("{what}: cannot run cargo: {error}")),
    }
}
