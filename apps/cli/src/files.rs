//! Files out: whole ones or none, and Ctrl-C never in the middle of one.

use std::path::Path;

use fracas_bake::write::{is_special_file, write_file};
use thiserror::Error;

use crate::interrupt;

/// A file could not be written.
#[derive(Debug, Error)]
#[error("cannot write {path}: {source}")]
pub struct SaveError {
    path: String,
    source: std::io::Error,
}

/// Writes a file; makes no folder. Regular files are replaced whole; devices, FIFOs and
/// links stay what they are.
pub fn save(path: &Path, bytes: impl AsRef<[u8]>) -> Result<(), SaveError> {
    // A FIFO waits for its reader: Ctrl-C must end that.
    let _whole = (!is_special_file(path)).then(interrupt::lock);
    write_file(path, bytes.as_ref()).map_err(|source| SaveError {
        path: path.display().to_string(),
        source,
    })
}

/// The same, and makes the folder if there is none.
pub fn save_in_folder(path: &Path, bytes: impl AsRef<[u8]>) -> Result<(), SaveError> {
    if let Some(folder) = path.parent().filter(|f| !f.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).map_err(|source| SaveError {
            path: folder.display().to_string(),
            source,
        })?;
    }
    save(path, bytes)
}
