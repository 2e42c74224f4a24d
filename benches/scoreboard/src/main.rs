//! The scoreboard: every speed, size and quality target, computed anew.
//!
//! `cargo xtask bench [--only NAME] [--json FILE]`. One module per subject, each
//! with one function that adds its rows. Rows run on one thread unless their name
//! says otherwise; a missed target stays in the table as missed.

mod assets;
mod board;
mod breaks;
mod contacts;
mod fast_bvh;
mod field;
mod fracture;
mod gives_way;
mod ground;
mod kd_tree;
mod meshes_in;
mod page;
mod skins;
mod sphere_tree;
mod tet_distance;
mod tetrahedralize;
mod voxel_tree;
mod world;

use std::path::PathBuf;
use std::process::ExitCode;

use board::Board;
use clap::Parser;

/// Measure every target and print the table.
#[derive(Parser)]
struct Options {
    /// Only rows whose name contains this.
    #[arg(long)]
    only: Option<String>,
    /// Also write the rows to this file.
    #[arg(long)]
    json: Option<PathBuf>,
}

fn main() -> ExitCode {
    let options = Options::parse();
    // One thread, the one that measures, wherever nothing else is said.
    let one = rayon::ThreadPoolBuilder::new().num_threads(1);
    if let Err(error) = one.use_current_thread().build_global() {
        eprintln!("error: cannot set the number of threads: {error}");
        return ExitCode::FAILURE;
    }
    let mut board = Board::new(options.only);
    for subject in SUBJECTS {
        subject(&mut board);
    }
    board.close();
    let Some(path) = options.json else {
        return ExitCode::SUCCESS;
    };
    match std::fs::write(&path, format!("{:#}\n", board.json())) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: cannot write {}: {error}", path.display());
            ExitCode::FAILURE
        }
    }
}

/// The subjects, in the order of the pipeline.
const SUBJECTS: &[fn(&mut Board)] = &[
    ground::rows,
    assets::rows,
    field::rows,
    fracture::rows,
    meshes_in::rows,
    fast_bvh::rows,
    tet_distance::rows,
    sphere_tree::rows,
    tetrahedralize::rows,
    voxel_tree::rows,
    world::rows,
    contacts::rows,
    breaks::rows,
    gives_way::rows,
    skins::rows,
    page::rows,
];
