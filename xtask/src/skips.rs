//! What the tests skipped: counted, told, and held against numbers that are kept.
//!
//! A Rust test that misses its public data says `SKIPPED in NAME: needs FILE` on standard
//! error and goes on with the cases made in code; pytest says `SKIPPED [N] PLACE: WHY`; the
//! page's tests say `skipped: WHY`. `conformance/most-skipped` holds how many a stage may
//! skip; more is a failure, so that no test is lost without a word. A stage that cannot run
//! at all (no Python, no Rust for Bevy) is no failure, and is told once more at the end.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};
use std::sync::Mutex;

use crate::stage::Outcome;
use crate::test_run;

const MOST: &str = "conformance/most-skipped";

/// Stages that could not run at all, and why.
static WHOLE: Mutex<Vec<(&str, String)>> = Mutex::new(Vec::new());

/// Tells that a stage cannot run here.
pub fn whole(stage: &'static str, why: String) -> Outcome {
    println!("   SKIPPED as a whole: {why}");
    WHOLE
        .lock()
        .unwrap_or_else(|e| e.into_inner())
        .push((stage, why));
    Ok(())
}

/// The stages that could not run at all, for the end of all stages.
pub fn skipped_stages() -> Vec<(&'static str, String)> {
    WHOLE.lock().unwrap_or_else(|e| e.into_inner()).clone()
}

/// Tests that skipped something, each with what it missed.
type Skipped = BTreeMap<String, Vec<String>>;

/// Runs the tests that `cargo` with these arguments would run, and counts what was skipped.
pub fn cargo_test(stage: &str, arguments: &[&str]) -> Outcome {
    let mut skipped = Skipped::new();
    test_run::run(arguments, &mut |line| note(&mut skipped, line))?;
    judge(stage, &skipped, most(stage)?)
}

/// Runs a command, passes on what it prints, and counts what it says was skipped.
pub fn run_counted(stage: &str, command: &mut Command) -> Outcome {
    let name = command.get_program().to_string_lossy().into_owned();
    let child = command.stdout(Stdio::piped()).spawn();
    let mut child = child.map_err(|e| format!("cannot run {name}: {e}"))?;
    let mut skipped = Skipped::new();
    let out = child.stdout.take().map(BufReader::new);
    for line in out.into_iter().flat_map(|o| o.split(b'\n')) {
        let Ok(line) = line else { break };
        let line = String::from_utf8_lossy(&line);
        println!("{line}");
        // A line is told when it is there, not when a screenful is.
        let _ = std::io::stdout().flush();
        note(&mut skipped, &line);
    }
    let status = child
        .wait()
        .map_err(|e| format!("cannot run {name}: {e}"))?;
    if !status.success() {
        return Err(format!("{name} ended with {status}"));
    }
    judge(stage, &skipped, most(stage)?)
}

fn note(skipped: &mut Skipped, line: &str) {
    let mut add = |test: &str, what: &str| {
        skipped.entry(test.into()).or_default().push(what.into());
    };
    // A line of another thread may stand before it.
    if let Some((_, told)) = line.split_once("SKIPPED in ") {
        if let Some((test, what)) = told.split_once(": needs ") {
            add(test, what.split(" under ").next().unwrap_or(what));
        }
    } else if let Some(told) = line.strip_prefix("SKIPPED [") {
        if let Some((count, told)) = told.split_once("] ") {
            // One line may stand for several cases of one place.
            for case in 0..count.parse().unwrap_or(1) {
                let (place, why) = told.split_once(": ").unwrap_or((told, ""));
                add(&format!("{place} {why} {case}"), why);
            }
        }
    } else if let Some(why) = line.trim_start().strip_prefix("skipped: ") {
        let count = skipped.len();
        skipped
            .entry(format!("test {count}"))
            .or_default()
            .push(why.into());
    } else if let Some((ignored, _)) = line
        .strip_prefix("test result: ")
        .and_then(|l| l.split("; ").find_map(|p| p.split_once(" ignored")))
    {
        // No test is marked so without a reason in its own line; all of them count.
        for _ in 0..ignored.parse().unwrap_or(0) {
            let count = skipped.len();
            skipped
                .entry(format!("test {count}"))
                .or_default()
                .push("is ignored".into());
        }
    }
}

/// The number that is kept for a stage.
fn most(stage: &str) -> Result<usize, String> {
    let text = fs::read_to_string(MOST).map_err(|e| format!("cannot read {MOST}: {e}"))?;
    most_of(&text, stage)
}

fn most_of(text: &str, stage: &str) -> Result<usize, String> {
    let mut lines = text.lines().filter_map(|l| l.split_once(' '));
    let number = lines
        .find(|(name, _)| *name == stage)
        .map(|(_, n)| n.trim());
    let number = number.ok_or_else(|| format!("{MOST} has no line for the stage `{stage}`"))?;
    number
        .parse()
        .map_err(|_| format!("{MOST} holds `{number}`, which is no number"))
}

fn judge(stage: &str, skipped: &Skipped, most: usize) -> Outcome {
    for (test, missed) in skipped {
        println!("   skipped in {test}: {}", missed.join(", "));
    }
    let count = skipped.len();
    println!("   {count} tests of `{stage}` skipped something ({most} may)");
    if count > most {
        return Err(format!(
            "{count} tests of `{stage}` skipped something, {most} may (see {MOST}): give the new \
             ones a case made in code, then raise the number"
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noted(lines: &[&str]) -> Skipped {
        let mut skipped = Skipped::new();
        for line in lines {
            note(&mut skipped, line);
        }
        skipped
    }

    #[test]
    fn skips_are_counted_by_test() {
        let skipped = noted(&[
            "SKIPPED in a: needs tet/x.msh under /data (set FRACAS_DATA)",
            "test b ... SKIPPED in a: needs tet/y.msh under /data (set FRACAS_DATA)",
            "SKIPPED in c: needs z under /data (set FRACAS_DATA)",
            "running 3 tests",
            "test result: ok. 5 passed; 0 failed; 0 ignored; 0 measured; 9 filtered out",
        ]);
        assert_eq!(skipped["a"], ["tet/x.msh", "tet/y.msh"]);
        assert!(judge("tests", &skipped, 2).is_ok());
        assert!(judge("tests", &skipped, 1).unwrap_err().contains("2 tests"));
    }

    #[test]
    fn skips_of_other_programs_are_counted() {
        let python = noted(&[
            "SKIPPED [1] tests/test_bits.py:150: needs tet/a.msh under /data (set FRACAS_DATA)",
            "SKIPPED [1] tests/test_bits.py:150: needs tet/b.msh under /data (set FRACAS_DATA)",
            "SKIPPED [3] tests/conftest.py:24: FRACAS_BITS does not name the program",
            "5 passed, 5 skipped in 0.1s",
        ]);
        assert_eq!(python.len(), 5);
        let page = noted(&["   ok: a test", "      skipped: no", "      skipped: no"]);
        assert_eq!(page.len(), 2);
        let ignored = "test result: ok. 5 passed; 0 failed; 2 ignored; 0 measured; 0 filtered out";
        assert_eq!(noted(&[ignored]).len(), 2);
    }

    #[test]
    fn every_stage_has_its_number() {
        let text = "tests 38\npython 13\n";
        assert_eq!(most_of(text, "tests"), Ok(38));
        assert_eq!(most_of(text, "python"), Ok(13));
        assert!(most_of(text, "web").unwrap_err().contains("no line"));
        assert!(most_of("web many\n", "web").unwrap_err().contains("many"));
    }

    #[test]
    fn what_a_program_skips_is_held_against_its_number() {
        let say = |text: &str| {
            let mut shell = Command::new("sh");
            shell.args(["-c", text]);
            shell
        };
        // From the root of the repository, as the numbers are found.
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
        let kept = fs::read_to_string(format!("{root}/{MOST}")).unwrap();
        for stage in ["tests", "python", "bevy", "web"] {
            most_of(&kept, stage).unwrap();
        }
        if cfg!(unix) {
            assert!(run_counted("web", &mut say("exit 3")).is_err());
        }
    }
}
