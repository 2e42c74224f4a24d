//! Public test data, which is not part of the repository.
//!
//! Only tests named `public_...` may use it, and each is listed in `conformance/public-data`
//! beside the test that checks the same behaviour on shapes made in code. `cargo xtask test`
//! compares that list with the sources before anything is built, whether the data is there or
//! not, so a test cannot come to depend on the data unseen.

use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use fracas_core::TetMesh;

/// A mesh and its name in messages.
pub type NamedMesh = (&'static str, Arc<TetMesh>);

/// Public tet meshes of every kind (solid, thin, hollow, ringed), as far as they are there.
#[must_use]
pub fn breakable() -> Vec<NamedMesh> {
    let files = [
        "tet/ipc_bunny.msh",
        "tet/ipc_plate1.msh",
        "tet/derived_ftetwild_mug.msh",
        "tet/bullet_torus.vtk",
    ];
    tet_meshes(&files)
}

/// Those of these tet meshes that are there, with their files' names.
#[must_use]
pub fn tet_meshes(files: &[&'static str]) -> Vec<NamedMesh> {
    let read = |&file: &&'static str| Some((file, tet_mesh(file)?));
    files.iter().filter_map(read).collect()
}

/// A tet mesh of the public data, or `None` where the data is absent.
///
/// # Panics
/// When the file is there but cannot be read.
#[must_use]
pub fn tet_mesh(relative: &str) -> Option<Arc<TetMesh>> {
    let read = fracas_bake::read_tet_mesh(find(relative)?);
    Some(Arc::new(read.expect("public data is sound").0))
}

/// The path of a data file, or `None` where the data is absent. Prints the missing file to
/// standard error, past the test harness' capture, so that a skip is visible.
///
/// # Panics
/// In a test that is not named `public_...`.
#[must_use]
pub fn find(relative: &str) -> Option<PathBuf> {
    let thread = std::thread::current();
    // Programs that are no tests have a main thread.
    let test = thread.name().unwrap_or("a thread without a name");
    let is_public = test.split("::").any(|part| part.starts_with("public_"));
    assert!(
        is_public || test == "main",
        "`{test}` uses public data ({relative}): only tests named `public_...` may; list it in \
         conformance/public-data beside a test that checks the same on shapes made in code"
    );
    let root = std::env::var_os("FRACAS_DATA").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/data")),
        PathBuf::from,
    );
    let path = root.join(relative);
    if path.exists() {
        return Some(path);
    }
    // Written to the handle, which libtest does not capture.
    let _ = writeln!(
        std::io::stderr(),
        "SKIPPED in {test}: needs {relative} under {} (set FRACAS_DATA)",
        root.display()
    );
    None
}

#[cfg(test)]
mod tests {
    #[test]
    #[should_panic(expected = "only tests named `public_...` may")]
    fn other_tests_find_no_data() {
        let _ = super::find("tet/ipc_bunny.msh");
    }
}
