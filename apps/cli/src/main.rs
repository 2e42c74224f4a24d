//! The `fracas` command: one module per subcommand, this file only dispatches.

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Break things: collision detection and destruction for meshes.
#[derive(Parser)]
#[command(name = "fracas", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run a scene.
    Run {
        /// Its name, for example piggy-bank.
        scene: String,
    },
}

fn main() -> ExitCode {
    match Cli::parse().command {
        Command::Run { scene } => {
            eprintln!("error: no scene is named `{scene}`");
            ExitCode::from(2)
        }
    }
}
