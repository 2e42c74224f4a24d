//! What a plot shows: curves, points or bars over two axes. Drawn by [`crate::svg`].

use serde::{Deserialize, Serialize};

/// A plot.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Plot {
    /// What it shows.
    pub caption: String,
    /// Across.
    pub x: Axis,
    /// Up.
    pub y: Axis,
    /// Curves, in the order of the legend.
    pub series: Vec<Series>,
    /// Upright lines: moments at which something happened.
    pub moments: Vec<f64>,
    /// Level lines with a name: a paper's value.
    pub levels: Vec<(String, f64)>,
    /// Names of the places across, for bars.
    pub names: Vec<String>,
    /// Half as wide as the page, beside another.
    pub narrow: bool,
}

/// An axis.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Axis {
    /// What and in which unit.
    pub label: String,
    /// Logarithmic.
    pub log: bool,
}

/// How a series is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mark {
    /// A line.
    #[default]
    Line,
    /// Dots.
    Dots,
    /// A line with dots.
    LineAndDots,
    /// Bars, one per name across, beside those of the other series.
    Bars,
    /// Bars on top of those of the series before.
    Stacked,
}

/// One curve.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// How it is drawn.
    pub mark: Mark,
    /// Where it goes through; for bars the first number is the place.
    pub points: Vec<[f64; 2]>,
    /// Number of its colour, from 0.
    pub colour: usize,
    /// Drawn with dashes: somebody else's, or a fit.
    pub dashed: bool,
}

impl Plot {
    /// An empty plot.
    #[must_use]
    pub fn new(caption: &str, x: &str, y: &str) -> Self {
        let axis = |label: &str| Axis {
            label: label.into(),
            log: false,
        };
        Self {
            caption: caption.into(),
            x: axis(x),
            y: axis(y),
            ..Self::default()
        }
    }

    /// The same with logarithmic axes.
    #[must_use]
    pub fn log(mut self, x: bool, y: bool) -> Self {
        (self.x.log, self.y.log) = (x, y);
        self
    }

    /// The same at half the page's width.
    #[must_use]
    pub fn narrow(mut self) -> Self {
        self.narrow = true;
        self
    }

    /// Adds a series in the next colour; points that are not finite are left out.
    pub fn add(
        &mut self,
        name: &str,
        mark: Mark,
        points: impl IntoIterator<Item = (f64, f64)>,
    ) -> &mut Series {
        let colour = self.series.len();
        self.series.push(Series {
            name: name.into(),
            mark,
            points: points
                .into_iter()
                .filter(|(x, y)| x.is_finite() && y.is_finite())
                .map(|(x, y)| [x, y])
                .collect(),
            colour,
            dashed: false,
        });
        self.series.last_mut().expect("just pushed")
    }
}
