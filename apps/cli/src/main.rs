//! The `fracas` command: one module per subcommand, this file only dispatches.

mod shatter;

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
    /// Break a mesh into closed, named fragments, without any simulation.
    Shatter(Box<shatter::Shatter>),
    /// Run a scene.
    Run {
        /// Its name, for example piggy-bank.
        scene: String,
    },
}

fn main() -> ExitCode {
    match Cli::parse().command {
        Command::Shatter(options) => match shatter::run(&options) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("error: {error}");
                ExitCode::FAILURE
            }
        },
        Command::Run { scene } => {
            eprintln!("error: no scene is named `{scene}`");
            ExitCode::from(2)
        }
    }
}
