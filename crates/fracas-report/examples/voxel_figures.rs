//! Draws the pictures of `docs/voxel_tree.md`, after [Dingliana 2004, Figs. 6 and 9]:
//! `cargo run --release -p fracas-report --example voxel_figures -- docs/pictures`

use std::path::PathBuf;
use std::process::ExitCode;

use fracas_report::sections::dingliana_pictures::{contacts, groups};

fn main() -> ExitCode {
    let folder = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| ".".into()));
    for (name, image) in [
        ("voxel-groups.png", groups()),
        ("voxel-contacts.png", contacts()),
    ] {
        if let Err(error) = image.save(folder.join(name)) {
            eprintln!("error: {error}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
