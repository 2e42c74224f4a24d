//! The project's own commands: `cargo xtask test`, `cargo xtask bench`, `cargo xtask web`.
//!
//! Each does all the set-up it needs and says what it is doing.

mod licences;
mod stage;
mod web;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use stage::{Outcome, Stage, cargo, ensure_component};

/// Commands for working on fracas.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Xtask {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Everything a change must pass: format, lints, documentation, licences, packages,
    /// tests, the page (and with it the wasm build of all libraries) in a browser.
    Test {
        /// Only the stages whose name contains this.
        #[arg(long)]
        only: Option<String>,
    },
    /// Build the page of apps/web into apps/web/dist.
    Web,
    /// The scoreboard: measure every target (arguments are passed on; see --help).
    Bench {
        /// For example `--only field`, `--json FILE`.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
}

/// The stages of `cargo xtask test`, cheapest first.
const STAGES: &[Stage] = &[
    Stage {
        name: "format",
        about: "rustfmt changes nothing",
        run: format,
    },
    Stage {
        name: "licences",
        about: "all dependencies are permissive (deny.toml)",
        run: licences::check,
    },
    Stage {
        name: "packages",
        about: "every crate that is to be published can be packed",
        run: packages,
    },
    Stage {
        name: "lints",
        about: "clippy has no warning",
        run: lints,
    },
    Stage {
        name: "documentation",
        about: "rustdoc has no warning",
        run: documentation,
    },
    Stage {
        name: "tests",
        about: "unit, property, conformance and documentation tests",
        run: tests,
    },
    Stage {
        name: "web",
        about: "the page builds, and works in Chromium",
        run: web::test,
    },
];

fn main() -> ExitCode {
    let result = match Xtask::parse().task {
        Task::Test { only } => stage::run_all(STAGES, only.as_deref()),
        Task::Web => web::build(),
        Task::Bench { arguments } => bench(&arguments),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}

fn bench(arguments: &[String]) -> Outcome {
    let mut all = vec![
        "run",
        "--release",
        "--quiet",
        "--package",
        "fracas-scoreboard",
        "--",
    ];
    all.extend(arguments.iter().map(String::as_str));
    cargo(&all, &[])
}

fn format() -> Outcome {
    ensure_component("rustfmt", &["fmt", "--version"])?;
    cargo(&["fmt", "--all", "--check"], &[])
}

fn lints() -> Outcome {
    ensure_component("clippy", &["clippy", "--version"])?;
    cargo(
        &[
            "clippy",
            "--workspace",
            "--all-targets",
            "--",
            "-D",
            "warnings",
        ],
        &[],
    )
}

fn documentation() -> Outcome {
    cargo(
        &["doc", "--workspace", "--no-deps"],
        &[("RUSTDOCFLAGS", "-D warnings")],
    )
}

/// Packs without building: the other stages build the same sources. Crates marked
/// `publish = false` are left out by hand, since cargo packs them too.
fn packages() -> Outcome {
    cargo(
        &[
            "package",
            "--workspace",
            "--exclude",
            "fracas-conformance",
            "--exclude",
            "fracas-scoreboard",
            "--exclude",
            "fracas-web",
            "--exclude",
            "fracas-web-glue",
            "--exclude",
            "xtask",
            "--no-verify",
            "--allow-dirty",
            "--quiet",
        ],
        &[],
    )
}

/// Builds the library crates for the browser, on one thread: no feature `parallel`.
fn tests() -> Outcome {
    cargo(&["test", "--workspace"], &[])
}
