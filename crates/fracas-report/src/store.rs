//! The report's folder: one JSON file per section, one per shard, and what is drawn
//! from them ([`crate::page`]). Files are replaced whole, so an interrupted run leaves whole files.
//!
//! ```text
//! OUT/report.html  OUT/report.json  OUT/sections/ID.json  OUT/shards/ID.I-of-N.json
//! OUT/figures/ID-N.svg, ID-N.png: the plots and pictures of a section, in its order
//! ```

use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;
use thiserror::Error;

use crate::shards::ShardFile;

/// Why a report cannot be read or written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StoreError {
    /// A file or folder cannot be used.
    #[error("cannot {what} {path}: {source}")]
    File {
        /// `read` or `write`.
        what: &'static str,
        /// Which.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// A file is not what it should be.
    #[error("{path} is not a file of a report: {source}; remove it, or run the section again")]
    Content {
        /// Which.
        path: String,
        /// Why.
        source: serde_json::Error,
    },
}

/// A report's folder.
#[derive(Clone, Debug)]
pub struct Store {
    pub(crate) root: PathBuf,
}

impl Store {
    /// The report in a folder, which need not be there yet.
    #[must_use]
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// Where the page is.
    #[must_use]
    pub fn page_path(&self) -> PathBuf {
        self.root.join("report.html")
    }

    /// Where the numbers are.
    #[must_use]
    pub fn json_path(&self) -> PathBuf {
        self.root.join("report.json")
    }

    /// Keeps a part of a section.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn keep_shard(&self, shard: &ShardFile) -> Result<(), StoreError> {
        let name = format!("{}.{}-of-{}.json", shard.id, shard.index, shard.count);
        write_json(&self.root.join("shards").join(name), shard)
    }

    /// All parts of sections.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn shards(&self) -> Result<Vec<ShardFile>, StoreError> {
        read_folder(&self.root.join("shards"))
    }
}

/// Writes a value as JSON.
pub(crate) fn write_json(path: &Path, value: &impl Serialize) -> Result<(), StoreError> {
    let mut text = serde_json::to_string_pretty(value).map_err(|source| StoreError::Content {
        path: path.display().to_string(),
        source,
    })?;
    text.push('\n');
    write(path, text.as_bytes())
}

/// Writes beside, then moves into place: never half a file.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    let fail = |source| StoreError::File {
        what: "write",
        path: path.display().to_string(),
        source,
    };
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(fail)?;
    }
    let beside = path.with_extension("part");
    fs::write(&beside, bytes).map_err(fail)?;
    fs::rename(&beside, path).map_err(fail)
}

/// Everything that the JSON files of a folder hold, in the order of their names.
pub(crate) fn read_folder<T: DeserializeOwned>(folder: &Path) -> Result<Vec<T>, StoreError> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Ok(Vec::new());
    };
    let mut paths: Vec<PathBuf> = entries
        .flatten()
        .map(|e| e.path())
        .filter(|p| p.extension().is_some_and(|e| e == "json"))
        .collect();
    paths.sort();
    let read = |path: &PathBuf| {
        let text = fs::read_to_string(path).map_err(|source| StoreError::File {
            what: "read",
            path: path.display().to_string(),
            source,
        })?;
        serde_json::from_str(&text).map_err(|source| StoreError::Content {
            path: path.display().to_string(),
            source,
        })
    };
    paths.iter().map(read).collect()
}
