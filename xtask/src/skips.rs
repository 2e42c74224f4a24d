//! What the tests skipped: counted, told, and held against a number that is kept.
//!
//! A test that misses its public data says `SKIPPED in NAME: needs FILE` on standard
//! error and goes on with the cases made in code. `conformance/most-skipped` holds how
//! many tests may do so; more is a failure, so that no test is lost without a word, and
//! fewer asks for the number to be lowered.

use std::collections::BTreeMap;
use std::fs;

use crate::stage::Outcome;
use crate::test_run;

const MOST: &str = "conformance/most-skipped";

/// Tests, each with the files it missed.
type Skipped = BTreeMap<String, Vec<String>>;

/// Runs the tests that `cargo` with these arguments would run, and counts what was skipped.
pub fn cargo_test(arguments: &[&str]) -> Outcome {
    let mut skipped = Skipped::new();
    test_run::run(arguments, &mut |line| note(&mut skipped, line))?;
    judge(&skipped, most()?)
}

fn note(skipped: &mut Skipped, line: &str) {
    // A line of another thread may stand before it.
    let Some((_, told)) = line.split_once("SKIPPED in ") else {
        return;
    };
    if let Some((test, what)) = told.split_once(": needs ") {
        let file = what.split(" under ").next().unwrap_or(what);
        skipped.entry(test.into()).or_default().push(file.into());
    }
}

/// The number that is kept.
fn most() -> Result<usize, String> {
    let text = fs::read_to_string(MOST).map_err(|e| format!("cannot read {MOST}: {e}"))?;
    text.trim()
        .parse()
        .map_err(|_| format!("{MOST} holds `{}`, which is no number", text.trim()))
}

fn judge(skipped: &Skipped, most: usize) -> Outcome {
    for (test, files) in skipped {
        println!("   skipped in {test}: {}", files.join(", "));
    }
    let count = skipped.len();
    println!("   {count} tests ran without their public data ({most} may)");
    if count > most {
        return Err(format!(
            "{count} tests miss public data, {most} may (see {MOST}): give the new ones a \
             case made in code, then raise the number"
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skips_are_counted_by_test() {
        let mut skipped = Skipped::new();
        for line in [
            "SKIPPED in a: needs tet/x.msh under /data (set FRACAS_DATA)",
            "test b ... SKIPPED in a: needs tet/y.msh under /data (set FRACAS_DATA)",
            "SKIPPED in c: needs z under /data (set FRACAS_DATA)",
            "running 3 tests",
        ] {
            note(&mut skipped, line);
        }
        assert_eq!(skipped["a"], ["tet/x.msh", "tet/y.msh"]);
        assert!(judge(&skipped, 2).is_ok());
        assert!(judge(&skipped, 1).unwrap_err().contains("2 tests"));
    }
}
