//! The container of binary glTF: a document and its buffer in one file of at most 4 GiB. What
//! writes scenes (`write::glb`) and what writes models (`model::write`) share it.

use std::io;

use serde_json::Value;
use thiserror::Error;

/// Why something cannot be part of a glTF file.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum GlbError {
    /// A mesh or an animation without content.
    #[error("{what} `{name}` is empty; leave it out")]
    Empty {
        /// "mesh" or "animation of node".
        what: &'static str,
        /// Its name.
        name: String,
    },
    /// Two lists that belong together have different lengths.
    #[error("`{name}` has {found} {what}, but {expected} are needed")]
    Length {
        /// Where.
        name: String,
        /// What is counted.
        what: &'static str,
        /// How many there are.
        found: usize,
        /// How many there must be.
        expected: usize,
    },
    /// A triangle names a vertex that does not exist.
    #[error("`{name}`: triangle {triangle} names vertex {vertex}, but there are only {vertices}")]
    VertexOutOfRange {
        /// The mesh.
        name: String,
        /// The triangle.
        triangle: usize,
        /// The vertex it names.
        vertex: u32,
        /// How many there are.
        vertices: usize,
    },
    /// A number is NaN or infinite, or a rotation has no length.
    #[error("`{name}`: {what} {index} is not a usable number")]
    NotUsable {
        /// Where.
        name: String,
        /// "position", "normal", "key time", …
        what: &'static str,
        /// Which one.
        index: usize,
    },
    /// Key times do not grow.
    #[error("`{name}`: key time {index} is not later than the one before")]
    TimeOrder {
        /// The node.
        name: String,
        /// Which one.
        index: usize,
    },
    /// A handle of another file.
    #[error("there is no {what} {index} in this file")]
    Unknown {
        /// "material", "mesh" or "node".
        what: &'static str,
        /// The handle.
        index: u32,
    },
    /// More than the 4 GiB that the format can hold.
    #[error("the file would have {bytes} bytes, more than glTF binary can hold; split it")]
    TooLarge {
        /// How many.
        bytes: usize,
    },
    /// The file cannot be written.
    #[error("cannot write {path}: {source}")]
    Write {
        /// Where it should have gone.
        path: String,
        /// What the system said.
        source: io::Error,
    },
}

/// Binary glTF of a document and its buffer, whose length is a multiple of four.
pub(crate) fn container(root: &Value, bytes: &[u8]) -> Result<Vec<u8>, GlbError> {
    let mut text = root.to_string().into_bytes();
    text.resize(text.len().next_multiple_of(4), b' ');
    let total = total_length(text.len(), bytes.len())?;
    let mut file = Vec::with_capacity(total);
    let word = |file: &mut Vec<u8>, v: usize| file.extend((v as u32).to_le_bytes());
    file.extend(b"glTF");
    word(&mut file, 2);
    word(&mut file, total);
    word(&mut file, text.len());
    file.extend(b"JSON");
    file.extend(&text);
    if !bytes.is_empty() {
        word(&mut file, bytes.len());
        file.extend(b"BIN\0");
        file.extend(bytes);
    }
    Ok(file)
}

/// The length of a file with so much text and so many bytes in its buffer.
pub(crate) fn total_length(text: usize, bytes: usize) -> Result<usize, GlbError> {
    let total = 12 + 8 + text + if bytes == 0 { 0 } else { 8 + bytes };
    match u32::try_from(total) {
        Ok(_) => Ok(total),
        Err(_) => Err(GlbError::TooLarge { bytes: total }),
    }
}
