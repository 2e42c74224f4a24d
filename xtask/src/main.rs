//! The project's own commands: `cargo xtask test`, `bench`, `web`, `bevy-window`, `bevy-web`,
//! `wheel`, `ray`, `soak`, `fuzz`, `mutants`, `digests`.
//!
//! Each does all the set-up it needs and says what it is doing.

mod bevy;
mod licences;
mod long_functions;
mod mutants;
mod needs;
mod newcomer;
mod public_data;
mod python;
mod skips;
mod stage;
mod stranger;
mod test_run;
mod web;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use stage::{Outcome, Stage, When, cargo};

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
    /// tests, the Python module, the Bevy plugin, the page (and with it the wasm build of all libraries) in a
    /// browser.
    Test {
        /// Only the stages whose name contains this, or one of these separated by commas.
        #[arg(long)]
        only: Option<String>,
        /// In a fresh clone of what is committed, with nothing beside it: the stages that build
        /// nothing, or all (`--as-stranger=whole`).
        #[arg(long, value_enum, num_args = 0..=1, require_equals = true, default_missing_value = "quick")]
        as_stranger: Option<stranger::Extent>,
        /// The stages that run beside the others; with those that cannot run, as JSON.
        #[arg(long, hide = true)]
        beside: Option<String>,
    },
    /// Build the page of apps/web into apps/web/dist.
    Web,
    /// Compile the Bevy plugin with what draws, and its examples with a window.
    BevyWindow,
    /// Build the Bevy plugin's examples `wall` and `china_shop` for a browser into
    /// integrations/bevy/dist.
    BevyWeb,
    /// Build the Python wheel of bindings/python into target/wheels.
    Wheel,
    /// Install Ray, and run the Python tests on clusters of several nodes on this machine.
    Ray,
    /// Random scenes with random edits, for as long as told; what fails is made small and
    /// written to out/soak as a TOML scene.
    Soak {
        /// How long.
        #[arg(long, default_value_t = 5.0)]
        minutes: f64,
        /// The first scene's seed.
        #[arg(long, default_value_t = 0)]
        seed: u64,
    },
    /// Damaged files into every reader, for as long as told; what fails goes to out/fuzz.
    Fuzz {
        /// How long.
        #[arg(long, default_value_t = 5.0)]
        minutes: f64,
        /// Of all chance.
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// Only the readers whose name contains this, or one of these with commas between.
        #[arg(long, default_value = "")]
        only: String,
    },
    /// Break lines, one at a time, and tell which ones no test notices: a sample of each
    /// subject (decision 0018). Takes hours on two cores; not part of the tests.
    Mutants(mutants::Options),
    /// Compare the state in which every scene ends with the digests that are kept: in debug
    /// (serial and parallel, as `cargo xtask test` does) and in release, each crate alone.
    Digests {
        /// Keep those of today instead; say so in the commit.
        #[arg(long)]
        write: bool,
    },
    /// The scoreboard: measure every target (arguments are passed on; see --help).
    Bench {
        /// For example `--only field`, `--json FILE`.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
}

/// The stages of `cargo xtask test`; in each of the two processes, what fails soonest first.
const STAGES: &[Stage] = &[
    Stage {
        name: "format",
        about: "rustfmt changes nothing",
        minutes: 0.1,
        when: When::Next,
        run: format,
    },
    Stage {
        name: "public-data",
        about: "every test that uses public data has a twin that does not",
        minutes: 0.1,
        when: When::Next,
        run: public_data::check,
    },
    Stage {
        name: "licences",
        about: "all dependencies are permissive (deny.toml)",
        minutes: 0.1,
        when: When::Next,
        run: licences::check,
    },
    Stage {
        name: "packages",
        about: "every crate that is to be published can be packed",
        minutes: 0.3,
        when: When::Next,
        run: packages,
    },
    Stage {
        name: "tests",
        about: "unit, property, conformance and documentation tests",
        minutes: 20.0,
        when: When::Next,
        run: tests,
    },
    Stage {
        name: "stranger",
        about: "a clone with nothing beside it passes what builds nothing; tests pass without data",
        minutes: 0.5,
        when: When::Next,
        run: stranger::check,
    },
    Stage {
        name: "python",
        about: "the Python module agrees with Rust, whatever it is given",
        minutes: 4.0,
        when: When::Next,
        run: python::test,
    },
    Stage {
        name: "page",
        about: "the page builds, and its first load is small",
        minutes: 4.0,
        when: When::Beside,
        run: web::build,
    },
    Stage {
        name: "lints",
        about: "no function is over 100 lines, clippy has no warning",
        minutes: 4.0,
        when: When::Beside,
        run: lints,
    },
    Stage {
        name: "documentation",
        about: "rustdoc has no warning",
        minutes: 1.0,
        when: When::Beside,
        run: documentation,
    },
    Stage {
        name: "newcomer",
        about: "the guide's blocks and the examples build and run outside the workspace",
        minutes: 8.0,
        when: When::Beside,
        run: newcomer::check,
    },
    Stage {
        name: "bevy",
        about: "the plugin for Bevy passes its tests, without a renderer",
        minutes: 8.0,
        when: When::Beside,
        run: bevy::test,
    },
    Stage {
        name: "web",
        about: "the page works in Chromium",
        minutes: 8.0,
        when: When::Last,
        run: web::test,
    },
];

fn main() -> ExitCode {
    let result = match Xtask::parse().task {
        Task::Test {
            only: Some(only), ..
        } => stage::run_some(STAGES, &only),
        Task::Test {
            as_stranger: Some(extent),
            ..
        } => stranger::run(extent),
        Task::Test {
            beside: Some(missing),
            ..
        } => stage::run_beside(STAGES, &missing),
        Task::Test { .. } => stage::run_all(STAGES),
        Task::Web => web::build(),
        Task::BevyWindow => bevy::window(),
        Task::BevyWeb => bevy::web(),
        Task::Wheel => python::wheel(),
        Task::Ray => python::ray(),
        Task::Soak { minutes, seed } => {
            let numbers = [minutes.to_string(), seed.to_string()];
            example("fracas-scenes", "soak", &[&numbers[0], &numbers[1]])
        }
        Task::Fuzz {
            minutes,
            seed,
            only,
        } => {
            let numbers = [minutes.to_string(), seed.to_string()];
            let told = [&numbers[0], &numbers[1], &only].map(String::as_str);
            example("fracas-conformance", "fuzz", &told)
        }
        Task::Mutants(options) => mutants::run(&options),
        Task::Digests { write } => digests(write),
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

/// Runs an example of a crate, in release.
fn example(package: &str, name: &str, arguments: &[&str]) -> Outcome {
    let mut all = vec![
        "run",
        "--release",
        "--quiet",
        "--package",
        package,
        "--example",
        name,
        "--",
    ];
    all.extend(arguments);
    cargo(&all, &[])
}

/// Where the digests of all scenes are kept.
const DIGESTS: &str = "crates/fracas-scenes/digests.txt";

fn digests(write: bool) -> Outcome {
    if write {
        return example("fracas-scenes", "digests", &["write", DIGESTS]);
    }
    let test = ["test", "--package", "fracas-scenes", "--test", "digests"];
    cargo(&[&test[..], &["--features", "parallel"]].concat(), &[])?;
    cargo(&test, &[])?;
    example("fracas-scenes", "digests", &["check", DIGESTS])
}

fn format() -> Outcome {
    cargo(&["fmt", "--all", "--check"], &[])
}

fn lints() -> Outcome {
    long_functions::check()?;
    cargo(
        &[
            "clippy",
            "--workspace",
            "--all-targets",
            "--",
            "-D",
            "warnings",
        ],
        &[("CARGO_TARGET_DIR", &stage::check_folder()?)],
    )
}

fn documentation() -> Outcome {
    let folder = stage::check_folder()?;
    cargo(
        &["doc", "--workspace", "--no-deps"],
        &[
            ("RUSTDOCFLAGS", "-D warnings"),
            ("CARGO_TARGET_DIR", &folder),
        ],
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
            "fracas-python",
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

/// `--tests`: what is marked `test = false` has none and is not linked once more. Examples are
/// not built: the lints have checked them, and the stages that run one build it.
fn tests() -> Outcome {
    test_run::run(&["test", "--workspace", "--tests"])?;
    cargo(&["test", "--workspace", "--doc"], &[])
}
