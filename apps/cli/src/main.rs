//! The `fracas` command: one module per subcommand, this file only dispatches.

mod shatter;
mod inspect;
mod output;
mod bake;
mod interrupt;
mod look;
mod progress;
mod run;
mod shapes;

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
    /// Break a mesh into closed, named fragments, without any simulation.
    Shatter(Box<shatter::Shatter>),
    Inspect(inspect::Arguments),
    /// Compute everything ahead, into one file.
    Bake(bake::Bake),
    /// Run a scene.
    Run(run::Run),
    /// List the things that are generated in code.
    Shapes(shapes::Shapes),
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
        Command::Inspect(arguments) => inspect::run(&arguments),
        Command::Run { scene } => {
            eprintln!("error: no scene is named `{scene}`");
            ExitCode::from(2)
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
