//! Why a mesh file could not be read: the file, the place in it, the reason, and
//! what its owner can do.

use std::fmt;

use thiserror::Error;

/// Where in a file something is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Place {
    /// The file as a whole.
    File,
    /// A line of a text file, counted from 1.
    Line(usize),
    /// A byte of a binary file, counted from 0.
    Byte(usize),
    /// A vertex, a face, a tetrahedron …, counted from 0.
    Element {
        /// What is counted, for example "vertex".
        what: &'static str,
        /// Which one.
        index: usize,
    },
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File => Ok(()),
            Self::Line(line) => write!(f, ", line {line}"),
            Self::Byte(byte) => write!(f, ", byte {byte}"),
            Self::Element { what, index } => write!(f, ", {what} {index} (counted from 0)"),
        }
    }
}

/// What sort of defect a [`ReadError`] is, for programs; people read the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReadErrorKind {
    /// The operating system would not give the file.
    Io,
    /// The format is not known from the name or the content.
    UnknownFormat,
    /// The format is known, but this variant of it is not read.
    Unsupported,
    /// The file holds a surface where tetrahedra were asked for, or the reverse.
    WrongKind,
    /// A word or number is not what the format asks for here.
    Syntax,
    /// The file ends, or a section ends, before everything promised is there.
    Truncated,
    /// A face or tetrahedron names a vertex that does not exist.
    IndexOutOfRange,
    /// A coordinate in use is NaN or infinite.
    NotFinite,
    /// The file is readable, and nothing is in it that could be used.
    Empty,
    /// Too large: more than 32-bit indices can name, or inflates beyond the limit.
    TooLarge,
    /// The elements are there, and do not make a mesh.
    BadMesh,
}

/// Why a mesh file could not be read.
#[derive(Clone, Debug, Error, PartialEq)]
#[error("{file}{place}: {reason}; {help}")]
pub struct ReadError {
    file: String,
    place: Place,
    kind: ReadErrorKind,
    reason: String,
    help: String,
}

impl ReadError {
    /// An error of a file that is named later, by [`ReadError::in_file`].
    pub(crate) fn new(
        kind: ReadErrorKind,
        place: Place,
        reason: impl Into<String>,
        help: impl Into<String>,
    ) -> Self {
        Self {
            file: String::new(),
            place,
            kind,
            reason: reason.into(),
            help: help.into(),
        }
    }

    /// The same error, said of `file`; a name already given stays.
    pub(crate) fn in_file(mut self, file: &str) -> Self {
        if self.file.is_empty() {
            self.file = file.into();
        }
        self
    }

    /// The file, as its name was given.
    #[must_use]
    pub fn file(&self) -> &str {
        &self.file
    }

    /// Where in the file.
    #[must_use]
    pub fn place(&self) -> Place {
        self.place
    }

    /// What sort of defect.
    #[must_use]
    pub fn kind(&self) -> ReadErrorKind {
        self.kind
    }

    /// What is wrong, in words.
    #[must_use]
    pub fn reason(&self) -> &str {
        &self.reason
    }

    /// What the owner of the file can do.
    #[must_use]
    pub fn help(&self) -> &str {
        &self.help
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_file_place_reason_and_remedy() {
        let error = ReadError::new(
            ReadErrorKind::IndexOutOfRange,
            Place::Line(7),
            "the face names vertex 9, but there are only 8",
            "correct the index",
        )
        .in_file("cow.obj")
        .in_file("second.obj");
        assert_eq!(
            error.to_string(),
            "cow.obj, line 7: the face names vertex 9, but there are only 8; correct the index"
        );
        assert_eq!(error.file(), "cow.obj");
    }
}
