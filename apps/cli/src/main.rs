//! The `fracas` command: one module per subcommand, this file only dispatches.

mod inspect;
mod output;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

const EXAMPLES: &str = "\
Examples:
  fracas run piggy-bank
  fracas inspect bunny.obj

`fracas COMMAND --help` says more about each command.
Exit status: 0 all went well, 1 a file or scene is bad, 2 wrong usage.";

/// Break things: collision detection and destruction for meshes.
#[derive(Parser)]
#[command(name = "fracas", version, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Inspect(inspect::Arguments),
    /// Run a scene.
    Run {
        /// Its name, for example piggy-bank.
        scene: String,
    },
}

fn main() -> ExitCode {
    match Cli::parse().command {
        Command::Inspect(arguments) => inspect::run(&arguments),
        Command::Run { scene } => {
            eprintln!("error: no scene is named `{scene}`");
            ExitCode::from(2)
        }
    }
}
