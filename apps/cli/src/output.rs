//! What every subcommand prints: tables for people, errors in one form.

use std::fmt::Write as _;

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
        if i > 0 && (digits.len() - i) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Prints to standard output; a closed pipe is no error of ours.
pub fn print(text: &str) {
    use std::io::Write as _;
    let _ = std::io::stdout().write_all(text.as_bytes());
}

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
