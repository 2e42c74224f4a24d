//! Finding public test data that is not part of the repository.

use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use fracas_core::TetMesh;

use crate::procedural;

/// The tet meshes that are broken in every way: solid, thin, hollow, ringed.
pub const BREAKABLE: [&str; 4] = [
    "tet/ipc_bunny.msh",
    "tet/ipc_plate1.msh",
    "tet/derived_ftetwild_mug.msh",
    "tet/bullet_torus.vtk",
];

/// The meshes of [`BREAKABLE`] that are there, and those made in code, with names.
#[must_use]
pub fn breakable() -> Vec<(&'static str, Arc<TetMesh>)> {
    let public = BREAKABLE
        .into_iter()
        .filter_map(|file| Some((file, tet_mesh(file)?)));
    public.chain(procedural::tet_meshes()).collect()
}

/// A tet mesh of the public data, or `None` where it is absent.
///
/// # Panics
/// When the file is there but cannot be read.
#[must_use]
pub fn tet_mesh(relative: &str) -> Option<Arc<TetMesh>> {
    let read = fracas_bake::read_tet_mesh(find(relative)?);
    Some(Arc::new(read.expect("public data is sound").0))
}

/// The path of a data file, or `None` where the data is absent; then it says so
/// on standard error, past the test harness' capture, so that a skip is seen.
#[must_use]
pub fn find(relative: &str) -> Option<PathBuf> {
    let root = std::env::var_os("FRACAS_DATA").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/data")),
        PathBuf::from,
    );
    let path = root.join(relative);
    if path.exists() {
        return Some(path);
    }
    // Written to the handle, which libtest does not capture.
    let test = std::thread::current();
    let _ = writeln!(
        std::io::stderr(),
        "SKIPPED in {}: needs {relative} under {} (set FRACAS_DATA)",
        test.name().unwrap_or("a thread"),
        root.display()
    );
    None
}
