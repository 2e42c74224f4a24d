//! What test programs skipped, read from what they print.
//!
//! Tests with public data (see [`crate::public_data`]) may skip it: they are named at the end
//! of their stage. Nothing else may be skipped or ignored.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};

use crate::stage::Outcome;

/// Collected from the lines of a stage.
#[derive(Default)]
pub struct Skips {
    /// Tests that ran without their public data.
    without_data: BTreeSet<String>,
    /// What must not be.
    others: Vec<String>,
}

impl Skips {
    /// Reads a line of libtest, pytest or the page's tests.
    pub fn read(&mut self, line: &str) {
        // A line of another thread may stand before it.
        if let Some((_, rest)) = line.split_once("SKIPPED in ") {
            let test = rest.split_once(": needs ").map_or(rest, |(test, _)| test);
            self.without_data.insert(test.to_owned());
        } else if let Some((place, why)) = line
            .strip_prefix("SKIPPED [")
            .and_then(|l| l.split_once("] ")?.1.split_once(": "))
        {
            if why.starts_with("public data") {
                self.without_data.insert(place.to_owned());
            } else {
                self.others.push(format!("{place} was skipped: {why}"));
            }
        } else if let Some(why) = line.trim_start().strip_prefix("skipped: ") {
            self.others.push(format!("a test was skipped: {why}"));
        } else if line.starts_with("test ") && line.contains(" ... ignored") {
            self.others.push(format!("{line}: no test may be ignored"));
        }
    }

    /// How many tests ran without their public data.
    pub fn without_data(&self) -> usize {
        self.without_data.len()
    }

    /// Prints what ran without data; fails if anything else was skipped.
    pub fn conclude(self) -> Outcome {
        if !self.without_data.is_empty() {
            let names: Vec<String> = self.without_data.into_iter().collect();
            println!(
                "   without public data (set FRACAS_DATA), so on shapes made in code alone: {}",
                names.join(", ")
            );
        }
        match self.others.is_empty() {
            true => Ok(()),
            false => Err(self.others.join("\n")),
        }
    }
}

/// Runs a program of tests, shows what it prints as it comes, and checks what it skipped.
pub fn run(command: &mut Command) -> Outcome {
    let name = command.get_program().to_string_lossy().into_owned();
    let child = command.stdout(Stdio::piped()).spawn();
    let mut child = child.map_err(|e| format!("cannot run {name}: {e}"))?;
    let mut skips = Skips::default();
    let out = child.stdout.take().map(BufReader::new);
    for line in out.into_iter().flat_map(|o| o.split(b'\n')) {
        let Ok(line) = line else { break };
        let line = String::from_utf8_lossy(&line);
        println!("{line}");
        let _ = std::io::stdout().flush();
        skips.read(&line);
    }
    let status = child.wait();
    let status = status.map_err(|e| format!("cannot run {name}: {e}"))?;
    if !status.success() {
        return Err(format!("{name} ended with {status}"));
    }
    skips.conclude()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(lines: &[&str]) -> Skips {
        let mut skips = Skips::default();
        lines.iter().for_each(|line| skips.read(line));
        skips
    }

    #[test]
    fn missing_public_data_is_no_failure() {
        let skips = read(&[
            "SKIPPED in public_a: needs tet/x.msh under /data (set FRACAS_DATA)",
            "test b ... SKIPPED in public_a: needs tet/y.msh under /data (set FRACAS_DATA)",
            "SKIPPED [1] tests/test_bits.py:150: public data tet/a.msh is not under /data",
            "test result: ok. 5 passed; 0 failed; 0 ignored; 0 measured; 9 filtered out",
        ]);
        let names = ["public_a", "tests/test_bits.py:150"].map(String::from);
        assert_eq!(skips.without_data, names.into());
        assert!(skips.conclude().is_ok());
    }

    #[test]
    fn every_other_skip_is_a_failure() {
        for line in [
            "SKIPPED [3] tests/conftest.py:24: FRACAS_BITS does not name the program",
            "      skipped: no WebGL",
            "test voxel::slow ... ignored, takes hours",
        ] {
            assert!(read(&[line]).conclude().is_err(), "{line}");
        }
    }

    #[test]
    fn failed_program_is_a_failure() {
        if cfg!(unix) {
            assert!(run(Command::new("sh").args(["-c", "exit 3"])).is_err());
            assert!(run(Command::new("sh").args(["-c", "echo 'skipped: no'"])).is_err());
        }
    }
}
