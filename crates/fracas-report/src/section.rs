//! What a section of the report holds: text, tables, plots, pictures, claims and
//! named numbers, with where they come from. Everything is plain data, written to
//! one JSON file per section; the page is drawn from those files alone.

use std::collections::BTreeMap;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde::{Deserialize, Serialize};

use crate::plot::Plot;

/// One section.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Section {
    /// Its name on the command line: `glondu-fig16`.
    pub id: String,
    /// What it belongs to: a paper, or the peers.
    pub group: String,
    /// Its heading.
    pub title: String,
    /// What is shown, in order.
    pub blocks: Vec<Block>,
    /// Numbers by name, for programs.
    pub values: BTreeMap<String, f64>,
    /// Where the numbers come from.
    pub provenance: Provenance,
}

/// Where numbers come from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Provenance {
    /// The command that prints them again.
    pub command: String,
    /// Seed of all chance.
    pub seed: u64,
    /// The commit that was built.
    pub commit: String,
    /// Processor, number of cores, system.
    pub machine: String,
    /// How much was measured: `tiny`, `default` or `full`.
    pub scale: String,
    /// Seconds it took.
    pub seconds: f64,
}

/// A part of a section.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Block {
    /// A paragraph.
    Text {
        /// The words; `code` between backticks.
        text: String,
    },
    /// A table.
    Table(Table),
    /// A drawing of numbers.
    Plot(Plot),
    /// A picture.
    Picture {
        /// What it shows.
        caption: String,
        /// PNG, base64.
        png: String,
        /// In pixels.
        width: usize,
        /// In pixels.
        height: usize,
    },
    /// What a paper says, and whether it holds.
    Claim(Claim),
    /// Something that was left out, and why.
    Notice {
        /// The words.
        text: String,
    },
}

/// A claim of a paper beside what was found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    /// Whose, and where: `Glondu 2013, 7.4`.
    pub source: String,
    /// The claim in our words.
    pub claim: String,
    /// What was found.
    pub found: String,
    /// Whether it holds with us.
    pub holds: bool,
    /// Why not, where it does not.
    pub reason: String,
}

/// A table.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// What it shows.
    pub caption: String,
    /// Headings of its columns.
    pub columns: Vec<Column>,
    /// Its rows.
    pub rows: Vec<Vec<Cell>>,
}

/// Whose numbers a column holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Names and remarks.
    #[default]
    Plain,
    /// Ours, measured in this run.
    Ours,
    /// The paper's.
    Paper,
    /// Another program's, measured in this run.
    Peer,
}

/// A column's heading.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Column {
    /// The words.
    pub head: String,
    /// Whose numbers.
    pub role: Role,
}

/// How a cell is meant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tone {
    /// As it is.
    #[default]
    Plain,
    /// At least as good as what it is compared with.
    Good,
    /// Worse.
    Bad,
}

/// A cell.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// What is written.
    pub text: String,
    /// How it is meant.
    #[serde(default)]
    pub tone: Tone,
}

impl Cell {
    /// Green when `ours` is not above `theirs`, red else.
    #[must_use]
    pub fn at_most(mut self, ours: f64, theirs: f64) -> Self {
        self.tone = if ours <= theirs {
            Tone::Good
        } else {
            Tone::Bad
        };
        self
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self {
            text,
            tone: Tone::Plain,
        }
    }
}

impl From<f64> for Cell {
    fn from(number: f64) -> Self {
        short(number).into()
    }
}

impl From<usize> for Cell {
    fn from(number: usize) -> Self {
        count(number as f64).into()
    }
}

impl Table {
    /// An empty table; columns are added with [`Table::columns`].
    #[must_use]
    pub fn new(caption: impl Into<String>) -> Self {
        Self {
            caption: caption.into(),
            ..Self::default()
        }
    }

    /// The same with columns of one role.
    #[must_use]
    pub fn columns(mut self, role: Role, heads: &[&str]) -> Self {
        self.columns.extend(heads.iter().map(|head| Column {
            head: (*head).into(),
            role,
        }));
        self
    }

    /// Adds a row.
    pub fn row<const N: usize>(&mut self, cells: [Cell; N]) {
        self.rows.push(cells.into());
    }
}

impl Section {
    /// Adds a paragraph.
    pub fn text(&mut self, text: impl Into<String>) {
        self.blocks.push(Block::Text { text: text.into() });
    }

    /// Says that something was left out.
    pub fn notice(&mut self, text: impl Into<String>) {
        self.blocks.push(Block::Notice { text: text.into() });
    }

    /// Adds a table.
    pub fn table(&mut self, table: Table) {
        self.blocks.push(Block::Table(table));
    }

    /// Adds a plot.
    pub fn plot(&mut self, plot: Plot) {
        self.blocks.push(Block::Plot(plot));
    }

    /// Adds a picture; one that cannot be encoded becomes a notice.
    pub fn picture(&mut self, image: &fracas_picture::Image, caption: impl Into<String>) {
        match image.to_png() {
            Ok(png) => self.blocks.push(Block::Picture {
                caption: caption.into(),
                png: BASE64_STANDARD.encode(&png),
                width: image.width(),
                height: image.height(),
            }),
            Err(error) => self.notice(format!("no picture: {error}")),
        }
    }

    /// Adds a claim; `reason` is shown only where it does not hold, and gives the
    /// numbers that explain it.
    pub fn claim(
        &mut self,
        source: &str,
        claim: &str,
        holds: bool,
        found: impl Into<String>,
        reason: impl Into<String>,
    ) {
        self.blocks.push(Block::Claim(Claim {
            source: source.into(),
            claim: claim.into(),
            found: found.into(),
            holds,
            reason: if holds { String::new() } else { reason.into() },
        }));
    }

    /// Names a number; one that is not finite is left out.
    pub fn value(&mut self, name: impl Into<String>, value: f64) {
        if value.is_finite() {
            self.values.insert(name.into(), value);
        }
    }

    /// Its claims.
    pub fn claims(&self) -> impl Iterator<Item = &Claim> {
        self.blocks.iter().filter_map(|block| match block {
            Block::Claim(claim) => Some(claim),
            _ => None,
        })
    }

    /// Whether it says only that it was left out.
    #[must_use]
    pub fn is_skipped(&self) -> bool {
        self.blocks
            .iter()
            .all(|b| matches!(b, Block::Notice { .. }))
    }
}

/// A number of three digits that count, with commas from a thousand on.
#[must_use]
pub fn short(number: f64) -> String {
    if !number.is_finite() {
        return "–".into();
    }
    let size = number.abs();
    if size == 0.0 {
        return "0".into();
    }
    if size >= 1000.0 {
        return count(number);
    }
    if size < 1e-3 {
        return format!("{number:.1e}");
    }
    let digits = (2 - size.log10().floor() as i32).clamp(0, 6) as usize;
    format!("{number:.digits$}")
}

/// A whole number with commas.
#[must_use]
pub fn count(number: f64) -> String {
    let digits = format!("{:.0}", number.abs());
    let mut text = String::from(if number < -0.5 { "−" } else { "" });
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `mean (max)`, as the papers print.
#[must_use]
pub fn mean_max(mean: f64, max: f64) -> String {
    format!("{} ({})", short(mean), short(max))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        for (number, text) in [
            (0.0, "0"),
            (1234.4, "1,234"),
            (151.0, "151"),
            (1.63, "1.63"),
            (0.1400001, "0.140"),
            (0.00001, "1.0e-5"),
            (-1_234_567.0, "−1,234,567"),
        ] {
            assert_eq!(short(number), text);
        }
        assert_eq!(short(f64::NAN), "–");
        assert_eq!(mean_max(1.89, 13.0), "1.89 (13.0)");
    }

    #[test]
    fn sections_survive_their_file() {
        let mut section = Section {
            id: "x".into(),
            ..Section::default()
        };
        section.value("good", 1.5);
        section.value("bad", f64::NAN);
        section.claim("A", "b", false, "c", "d");
        let mut table = Table::new("t").columns(Role::Ours, &["a"]);
        table.row([Cell::from(2.0).at_most(2.0, 1.0)]);
        section.table(table);
        let text = serde_json::to_string(&section).unwrap();
        let back: Section = serde_json::from_str(&text).unwrap();
        assert_eq!(section, back);
        assert_eq!(back.values.len(), 1, "numbers that are none are left out");
    }
}
