//! What a body keeps about its distance from itself; [`super::clearance`] finds it.

use super::cells::{Cells, Cuts, LEVELS};
use super::fit::{Fit, Shape};

/// Updates to wait after a failure, at most.
pub(crate) const LONGEST_WAIT: u32 = 64;
/// Updates after which losing the shape counts as no failure.
const LONG_ENOUGH: u32 = 8;

/// Two triangles, by global id, and their margin.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Near {
    pub(crate) margin: f32,
    pub(crate) triangles: [u32; 2],
}

/// How far a body has come to be known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Stage {
    #[default]
    Unknown,
    Watched,
    Known,
}

/// What is known of a body's distance from itself.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clearance {
    pub(crate) stage: Stage,
    /// Whether it was added as it is and never looked at.
    pub(crate) added: bool,
    /// Whether it came to be in a split since the last update, with faces of its own.
    pub(crate) newborn: bool,
    /// Updates to wait before it is watched.
    pub(crate) wait: u32,
    /// Updates to wait after the next failure.
    pub(crate) patience: u32,
    /// Updates since it is known.
    pub(crate) age: u32,
    pub(crate) shape: Shape,
    /// At the end of the last step.
    pub(crate) last: Fit,
    /// Cells of the reference shape, once they are asked for.
    pub(crate) cells: Option<Cells>,
    /// What residuals of near points differed by at the end of the last step, if
    /// that was looked at.
    pub(crate) last_local: Option<[f64; LEVELS]>,
    /// In what tiles the triangles of the reference shape are cut.
    pub(crate) cuts: Cuts,
    /// Updates in a row that the lists did not reach far enough.
    pub(crate) missed: u32,
    /// Pairs with a common corner, up to `joined_reach`, by margin over the mean of the tiles
    /// along their edges, which is what is kept.
    pub(crate) joined: Vec<Near>,
    /// Pairs without, up to `reach`, by margin.
    pub(crate) apart: Vec<Near>,
    pub(crate) reach: f64,
    pub(crate) joined_reach: f64,
    /// How much its residuals may be for it to be star-shaped ([`super::star`]), if that is
    /// how it is known: then there are no lists.
    pub(crate) star: Option<f64>,
    /// Whether that was tried: it is once.
    pub(crate) tried_star: bool,
    /// Whether the theorem covers this step, but for the pairs to test.
    pub(crate) clear: bool,
    /// Pairs of triangles to test in this step, if it is clear.
    pub(crate) pairs: Vec<[u32; 2]>,
    /// Whether margins are to be found, and the reach for them.
    pub(crate) wanted: Option<f64>,
}

impl Clearance {
    /// Of a body that is added.
    pub(crate) fn of_added() -> Self {
        Self {
            added: true,
            ..Self::default()
        }
    }

    /// Whether nothing of the body needs a test against itself in this step, but for
    /// its [`Clearance::pairs`].
    pub(crate) fn is_clear(&self) -> bool {
        self.clear
    }

    pub(crate) fn is_wanted(&self) -> bool {
        self.wanted.is_some()
    }

    /// Nothing is known any more; it waits before it is watched again.
    pub(crate) fn fail(&mut self) {
        self.patience = if self.age >= LONG_ENOUGH {
            1
        } else {
            (2 * self.patience).clamp(1, LONGEST_WAIT)
        };
        self.stage = Stage::Unknown;
        self.star = None;
        self.wait = self.patience;
        self.joined = Vec::new();
        self.apart = Vec::new();
    }
}
