//! What every subcommand prints: tables for people, errors in one form.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::sync::{Mutex, PoisonError};

/// Names and values in two columns under headings.
#[derive(Default)]
pub struct Table {
    rows: Vec<(String, String)>,
}

impl Table {
    /// A heading.
    pub fn heading(&mut self, text: &str) {
        self.rows.push((text.into(), String::new()));
    }

    /// A name with its value.
    pub fn row(&mut self, name: &str, value: impl ToString) {
        self.rows.push((format!("  {name}"), value.to_string()));
    }

    /// All rows, values aligned.
    pub fn render(&self) -> String {
        let width = self
            .rows
            .iter()
            .filter(|(_, value)| !value.is_empty())
            .map(|(name, _)| name.chars().count())
            .max()
            .unwrap_or(0);
        let mut text = String::new();
        for (name, value) in &self.rows {
            // Writing to a string cannot fail.
            let _ = if value.is_empty() {
                writeln!(text, "{name}")
            } else {
                writeln!(text, "{name:width$}  {value}")
            };
        }
        text
    }
}

/// A number short enough for a table: six digits that count.
pub fn short(number: f64) -> String {
    if number == 0.0 {
        return "0".into();
    }
    let magnitude = number.abs();
    if !(1e-4..1e7).contains(&magnitude) {
        return format!("{number:.5e}");
    }
    let digits = (5 - magnitude.log10().floor() as i32).clamp(0, 9) as usize;
    let text = format!("{number:.digits$}");
    if text.contains('.') {
        return text.trim_end_matches('0').trim_end_matches('.').into();
    }
    text
}

/// A whole number with commas: 1,234,567.
pub fn count(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// What became of standard output: the first error, or that its reader went away.
static OUTPUT: Mutex<Option<io::Error>> = Mutex::new(None);

/// Prints to standard output. When that fails (its reader has gone, the disk is full),
/// the work goes on, so that files are still written; [`finish`] tells in the end.
pub fn print(text: &str) {
    let mut error = OUTPUT.lock().unwrap_or_else(PoisonError::into_inner);
    if error.is_none() {
        *error = io::stdout().write_all(text.as_bytes()).err();
    }
}

/// Whether all that was printed has arrived.
///
/// # Errors
/// What the system said, unless the reader went away: `| head -1` has what it wants.
pub fn finish() -> io::Result<()> {
    let mut error = OUTPUT.lock().unwrap_or_else(PoisonError::into_inner);
    let error = error.take().or_else(|| io::stdout().flush().err());
    match error {
        Some(e) if e.kind() != io::ErrorKind::BrokenPipe => Err(e),
        _ => Ok(()),
    }
}

/// Tells the user on standard error; if that is closed, there is nobody to tell.
pub fn complain(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}

/// A line on standard output, as `println!`, which would panic on a closed pipe.
macro_rules! say {
    () => { $crate::output::print("\n") };
    ($($what:tt)*) => { $crate::output::print(&(format!($($what)*) + "\n")) };
}
pub(crate) use say;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_right() {
        for (number, text) in [
            (0.0, "0"),
            (1.0, "1"),
            (0.1, "0.1"),
            (-12.345_678_9, "-12.3457"),
            (123_456.7, "123457"),
            (1e9, "1.00000e9"),
            (2.5e-7, "2.50000e-7"),
        ] {
            assert_eq!(short(number), text);
        }
        for (number, text) in [
            (0, "0"),
            (999, "999"),
            (1000, "1,000"),
            (1_234_567, "1,234,567"),
        ] {
            assert_eq!(count(number), text);
        }
    }

    #[test]
    fn values_stand_in_one_column() {
        let mut table = Table::default();
        table.heading("a heading that is long");
        table.row("x", 1);
        table.row("longer", 2);
        assert_eq!(
            table.render(),
            "a heading that is long\n  x       1\n  longer  2\n"
        );
    }
}
