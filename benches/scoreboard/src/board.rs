//! Rows of the scoreboard: a value, its target, and what it was compared with.

#![allow(
    dead_code,
    reason = "the vocabulary of rows is complete before all rows are"
)]

use std::time::Instant;

use serde::Serialize;

/// What a value must reach.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// Smaller is better.
    AtMost(f64),
    /// Larger is better.
    AtLeast(f64),
    /// Both bounds count as reached.
    Between(f64, f64),
    /// Printed for the record: nothing to reach.
    None,
}

impl Target {
    fn met(self, value: f64) -> bool {
        match self {
            Self::AtMost(limit) => value <= limit,
            Self::AtLeast(limit) => value >= limit,
            Self::Between(low, high) => (low..=high).contains(&value),
            Self::None => true,
        }
    }

    fn text(self) -> String {
        match self {
            Self::AtMost(limit) => format!("<= {}", plain(limit)),
            Self::AtLeast(limit) => format!(">= {}", plain(limit)),
            Self::Between(low, high) => format!("{} .. {}", plain(low), plain(high)),
            Self::None => "-".into(),
        }
    }
}

/// A number with no more digits than anybody reads.
fn plain(number: f64) -> String {
    let rounded = (number * 1e4).round() / 1e4;
    if rounded == 0.0 || number.abs() >= 1e4 {
        number.to_string()
    } else {
        rounded.to_string()
    }
}

/// What the value was compared with, measured in the same run on the same input,
/// or taken from a paper (then the version is its year).
#[derive(Clone, Debug, Serialize)]
pub struct Reference {
    /// What it is: "parry3d TriMesh", "Glondu 2013".
    pub what: String,
    /// Its version.
    pub version: String,
    /// Its value, in the row's unit.
    pub value: f64,
}

/// One line of the table.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    name: String,
    value: f64,
    unit: &'static str,
    target: String,
    met: bool,
    reference: Option<Reference>,
    note: String,
}

/// What a measurement returns.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    value: f64,
    reference: Option<Reference>,
    note: String,
}

impl Measured {
    /// A value alone.
    pub fn new(value: f64) -> Self {
        Self {
            value,
            ..Self::default()
        }
    }

    /// Adds what it was compared with.
    pub fn against(mut self, what: &str, version: &str, value: f64) -> Self {
        self.reference = Some(Reference {
            what: what.into(),
            version: version.into(),
            value,
        });
        self
    }

    /// Adds a remark: input size, fit, where the time goes.
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.note = note.into();
        self
    }
}

/// Collects rows, prints them as they come, and knows which were asked for.
#[derive(Debug)]
pub struct Board {
    only: Option<String>,
    rows: Vec<Row>,
    skipped: Vec<String>,
}

impl Board {
    /// All rows, or those whose name contains `only`.
    pub fn new(only: Option<String>) -> Self {
        println!(
            "{:<44} {:>12} {:<8} {:>14}  {:<6} compared with",
            "name", "value", "unit", "target", "met"
        );
        Self {
            only,
            rows: Vec::new(),
            skipped: Vec::new(),
        }
    }

    /// Whether any row whose name starts with `group` could be wanted: lets a
    /// group skip its set-up. A name is `group/what`.
    pub fn wants_group(&self, group: &str) -> bool {
        self.only.as_deref().is_none_or(|only| {
            only.starts_with(group) || group.contains(only) || !only.contains('/')
        })
    }

    /// Whether this row is wanted.
    pub fn wants_row(&self, name: &str) -> bool {
        self.only.as_deref().is_none_or(|only| name.contains(only))
    }

    /// Measures one row, if wanted.
    pub fn row(
        &mut self,
        name: &str,
        unit: &'static str,
        target: Target,
        measure: impl FnOnce() -> Measured,
    ) {
        if self
            .only
            .as_deref()
            .is_some_and(|only| !name.contains(only))
        {
            return;
        }
        let Measured {
            value,
            reference,
            note,
        } = measure();
        let row = Row {
            name: name.into(),
            value,
            unit,
            target: target.text(),
            met: target.met(value),
            reference,
            note,
        };
        let met = match target {
            Target::None => "-",
            _ if row.met => "yes",
            _ => "MISSED",
        };
        let compared = row.reference.as_ref().map_or(String::new(), |r| {
            format!("{} {}: {:.4}", r.what, r.version, r.value)
        });
        let note = if row.note.is_empty() {
            String::new()
        } else {
            format!("  [{}]", row.note)
        };
        println!(
            "{:<44} {:>12.4} {:<8} {:>14}  {:<6} {compared}{note}",
            row.name, row.value, unit, row.target, met
        );
        self.rows.push(row);
    }

    /// Says that a row cannot be measured here, and why (data absent).
    pub fn skip(&mut self, name: &str, why: &str) {
        if self.only.as_deref().is_none_or(|only| name.contains(only)) {
            println!("{name:<44} skipped: {why}");
            self.skipped.push(name.into());
        }
    }

    /// All rows as JSON.
    pub fn json(&self) -> serde_json::Value {
        serde_json::json!({ "rows": self.rows, "skipped": self.skipped })
    }

    /// Prints the count of reached and missed targets.
    pub fn close(&self) {
        let missed = self.rows.iter().filter(|r| !r.met).count();
        println!(
            "\n{} rows, {missed} missed, {} skipped",
            self.rows.len(),
            self.skipped.len()
        );
    }
}

/// The shortest of `runs` timings of `work`, in milliseconds: noise only ever adds.
pub fn best_ms<T>(runs: usize, mut work: impl FnMut() -> T) -> f64 {
    (0..runs)
        .map(|_| {
            let start = Instant::now();
            std::hint::black_box(work());
            start.elapsed().as_secs_f64() * 1e3
        })
        .fold(f64::INFINITY, f64::min)
}

/// Seconds that all threads of this process have spent on processors: what others do on
/// a shared machine is not in it. For work that is done by one thread at a time.
pub fn processor_seconds() -> f64 {
    let t = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    t.tv_sec as f64 + t.tv_nsec as f64 * 1e-9
}

/// As [`best_ms`], on the processor.
pub fn best_processor_ms<T>(runs: usize, mut work: impl FnMut() -> T) -> f64 {
    (0..runs)
        .map(|_| {
            let start = processor_seconds();
            std::hint::black_box(work());
            (processor_seconds() - start) * 1e3
        })
        .fold(f64::INFINITY, f64::min)
}

/// Slope of log y over log x by least squares: the exponent of growth.
pub fn growth_exponent(points: &[(f64, f64)]) -> f64 {
    let n = points.len() as f64;
    let logs: Vec<(f64, f64)> = points.iter().map(|(x, y)| (x.ln(), y.ln())).collect();
    let (mx, my) = (
        logs.iter().map(|p| p.0).sum::<f64>() / n,
        logs.iter().map(|p| p.1).sum::<f64>() / n,
    );
    let covariance: f64 = logs.iter().map(|p| (p.0 - mx) * (p.1 - my)).sum();
    let variance: f64 = logs.iter().map(|p| (p.0 - mx).powi(2)).sum();
    covariance / variance
}
