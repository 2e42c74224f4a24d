//! The `fracas` command: one module per subcommand, this file only dispatches.

mod bake;
mod interrupt;
mod look;
mod progress;
mod run;
mod shapes;

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
    /// Compute everything ahead, into one file.
    Bake(bake::Bake),
    /// Run a scene.
    Run(run::Run),
    /// List the things that are generated in code.
    Shapes(shapes::Shapes),
}

fn main() -> ExitCode {
    interrupt::install();
    let result = match Cli::parse().command {
        Command::Bake(options) => bake::run(&options),
        Command::Run(options) => run::run(&options),
        Command::Shapes(options) => shapes::run(&options),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
