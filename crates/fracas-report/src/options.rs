//! How a report is made, and why a part of it is left out.

use std::path::PathBuf;

use thiserror::Error;

/// How much is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scale {
    /// Enough to see that everything works: for tests.
    Tiny,
    /// Ten minutes on two cores.
    #[default]
    Default,
    /// As much as the papers did.
    Full,
}

impl Scale {
    /// One of three.
    pub fn pick<T>(self, tiny: T, default: T, full: T) -> T {
        match self {
            Self::Tiny => tiny,
            Self::Default => default,
            Self::Full => full,
        }
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.pick("tiny", "default", "full")
    }
}

/// How a report is made.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// How much is measured.
    pub scale: Scale,
    /// Seed of all chance.
    pub seed: u64,
    /// Threads for work that is counted, not timed.
    pub jobs: usize,
    /// A Python with the packages of `peers/requirements.txt`.
    pub python: Option<PathBuf>,
    /// The program of `benches/peers/box3d`.
    pub box3d: Option<PathBuf>,
    /// A folder of public meshes, used where it holds what a section wants.
    pub data: Option<PathBuf>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            scale: Scale::Default,
            seed: 0,
            jobs: std::thread::available_parallelism().map_or(1, usize::from),
            python: None,
            box3d: None,
            data: None,
        }
    }
}

/// Why a section was left out.
#[derive(Clone, Debug, Error, PartialEq)]
#[error("left out: {0}")]
pub struct Skip(pub String);

impl Skip {
    /// For any reason that can be said.
    pub fn because(why: impl ToString) -> Self {
        Self(why.to_string())
    }
}
