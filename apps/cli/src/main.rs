//! The `fracas` command: one module per subcommand, this file only dispatches.

mod arguments;
mod bake;
mod collide;
mod files;
mod film;
mod inspect;
mod interrupt;
mod limits;
mod look;
mod output;
mod progress;
mod report;
mod run;
mod shapes;
mod shatter;
mod skin_choice;
mod view;

use std::fmt::Display;
use std::process::ExitCode;

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

const EXAMPLES: &str = "\
Examples:
  fracas run piggy-bank
  fracas view plates
  fracas shatter bunny.obj --pieces 20 -o broken.glb
  fracas bake bunny.obj -o bunny.fracas
  fracas inspect bunny.obj
  fracas report
  fracas collide --continuous frame1.ply frame2.ply

`fracas COMMAND --help` says more about each command.
Exit status: 0 all went well, 1 a file or scene is bad, 2 wrong usage, 130 interrupted.";

/// Break things: collision detection and destruction for meshes.
#[derive(Parser)]
#[command(name = "fracas", version, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run a scene.
    Run(run::Run),
    /// Break a mesh into closed, named fragments, without any simulation.
    Shatter(Box<shatter::Shatter>),
    /// Compute everything ahead, into one file.
    Bake(bake::Bake),
    Inspect(inspect::Arguments),
    Collide(collide::Collide),
    /// Open the page: break things by hand, play recordings, look inside.
    View(view::View),
    /// Measure every table and figure of the papers, and the peers, into one page.
    Report(report::Report),
    /// List the things that are generated in code.
    Shapes(shapes::Shapes),
}

fn main() -> ExitCode {
    interrupt::install();
    let command = arguments::allow_negative_numbers(Cli::command());
    let told = Cli::from_arg_matches(&command.get_matches());
    let code = match told.unwrap_or_else(|e| e.exit()).command {
        Command::Run(options) => end(run::run(&options)),
        Command::Shatter(options) => end(shatter::run(&options)),
        Command::Bake(options) => end(bake::run(&options)),
        Command::Inspect(arguments) => inspect::run(&arguments),
        Command::Collide(options) => end(collide::run(&options)),
        Command::View(options) => end(view::run(&options)),
        Command::Report(options) => end(report::run(&options)),
        Command::Shapes(options) => end(shapes::run(&options)),
    };
    if let Err(error) = output::finish() {
        output::complain(&format!("error: cannot write to standard output: {error}"));
        return ExitCode::FAILURE;
    }
    if interrupt::stopped() {
        return ExitCode::from(interrupt::INTERRUPTED);
    }
    code
}

fn end(result: Result<(), impl Display>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            output::complain(&format!("error: {error}"));
            ExitCode::FAILURE
        }
    }
}
