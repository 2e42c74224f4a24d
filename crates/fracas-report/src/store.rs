//! The report's folder: one JSON file per section, one per shard, and what is drawn
//! from them. Files are replaced whole, so an interrupted run leaves whole files.
//!
//! ```text
//! OUT/report.html  OUT/report.json  OUT/sections/ID.json  OUT/shards/ID.I-of-N.json
//! OUT/figures/ID-N.svg, ID-N.png: the plots and pictures of a section, in its order
//! ```

use std::fs;
use std::path::{Path, PathBuf};

use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde::Serialize;
use serde::de::DeserializeOwned;
use thiserror::Error;

use crate::section::{Block, Section};
use crate::sections::{CHAPTERS, SECTIONS};
use crate::shards::ShardFile;
use crate::{html, svg};

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
    root: PathBuf,
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

    /// Keeps a section, and draws the page anew.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn keep(&self, section: &Section) -> Result<(), StoreError> {
        let path = self
            .root
            .join("sections")
            .join(format!("{}.json", section.id));
        write_json(&path, section)?;
        for (number, figure) in figures(section).iter().enumerate() {
            let name = format!("{}-{}.{}", section.id, number + 1, figure.ending);
            write(&self.root.join("figures").join(name), &figure.bytes)?;
        }
        self.draw()
    }

    /// Keeps a part of a section.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn keep_shard(&self, shard: &ShardFile) -> Result<(), StoreError> {
        let name = format!("{}.{}-of-{}.json", shard.id, shard.index, shard.count);
        write_json(&self.root.join("shards").join(name), shard)
    }

    /// All sections that were measured, in the report's order.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn sections(&self) -> Result<Vec<Section>, StoreError> {
        let mut sections: Vec<Section> = read_folder(&self.root.join("sections"))?;
        let place = |id: &str| SECTIONS.iter().position(|s| s.id == id);
        sections.retain(|s| place(&s.id).is_some());
        sections.sort_by_key(|s| place(&s.id));
        Ok(sections)
    }

    /// All parts of sections.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn shards(&self) -> Result<Vec<ShardFile>, StoreError> {
        read_folder(&self.root.join("shards"))
    }

    /// Draws the page and the one JSON file from what is there.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn draw(&self) -> Result<(), StoreError> {
        let sections = self.sections()?;
        write(
            &self.page_path(),
            html::page(&sections, CHAPTERS).as_bytes(),
        )?;
        write_json(
            &self.json_path(),
            &serde_json::json!({ "format": "fracas report 1", "sections": sections }),
        )
    }
}

/// A plot or picture of a section, as a file.
pub(crate) struct Figure {
    /// `svg` or `png`.
    pub ending: &'static str,
    /// What the file holds.
    pub bytes: Vec<u8>,
}

/// The plots and pictures of a section, in its order.
pub(crate) fn figures(section: &Section) -> Vec<Figure> {
    let file = |block: &Block| match block {
        Block::Plot(plot) => Some(Figure {
            ending: "svg",
            bytes: svg::file(plot).into_bytes(),
        }),
        Block::Picture { png, .. } => Some(Figure {
            ending: "png",
            bytes: BASE64_STANDARD.decode(png).ok()?,
        }),
        _ => None,
    };
    section.blocks.iter().filter_map(file).collect()
}

fn write_json(path: &Path, value: &impl Serialize) -> Result<(), StoreError> {
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

fn read_folder<T: DeserializeOwned>(folder: &Path) -> Result<Vec<T>, StoreError> {
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
