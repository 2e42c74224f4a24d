//! Finding public test data that is not part of the repository.

use std::io::Write as _;
use std::path::PathBuf;

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
    let _ = writeln!(
        std::io::stderr(),
        "SKIPPED: needs {relative} under {} (set FRACAS_DATA)",
        root.display()
    );
    None
}
