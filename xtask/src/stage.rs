//! Running one stage after another, and saying so.

use std::env;
use std::process::Command;
use std::time::Instant;

use crate::skips;

/// What a stage ends with; an error is what to tell the user.
pub type Outcome = Result<(), String>;

/// A named step.
pub struct Stage {
    /// As in `--only`.
    pub name: &'static str,
    /// What it makes sure of.
    pub about: &'static str,
    /// Does it.
    pub run: fn() -> Outcome,
}

/// Runs the stages whose name contains `only` (all, without it) and stops at the first
/// that fails.
pub fn run_all(stages: &[Stage], only: Option<&str>) -> Outcome {
    let wanted: Vec<&Stage> = stages
        .iter()
        .filter(|s| only.is_none_or(|o| s.name.contains(o)))
        .collect();
    if wanted.is_empty() {
        let names: Vec<_> = stages.iter().map(|s| s.name).collect();
        return Err(format!(
            "no stage is named so; there are: {}",
            names.join(", ")
        ));
    }
    let start = Instant::now();
    let mut table = Vec::new();
    for (i, stage) in wanted.iter().enumerate() {
        println!(
            "== [{}/{}] {}: {}",
            i + 1,
            wanted.len(),
            stage.name,
            stage.about
        );
        let begin = Instant::now();
        (stage.run)().map_err(|e| {
            format!(
                "stage `{0}` failed: {e}\n(again: cargo xtask test --only {0})",
                stage.name
            )
        })?;
        table.push((stage.name, begin.elapsed().as_secs_f64()));
    }
    println!("\n== all passed");
    for (name, why) in skips::skipped_stages() {
        println!("   BUT NOT {name}: it was skipped as a whole, {why}");
    }
    for (name, seconds) in table {
        println!("   {name:<14} {seconds:>7.1} s");
    }
    println!(
        "   {:<14} {:>7.1} s",
        "together",
        start.elapsed().as_secs_f64()
    );
    Ok(())
}

/// Runs cargo with these arguments and environment.
pub fn cargo(arguments: &[&str], environment: &[(&str, &str)]) -> Outcome {
    println!("   cargo {}", arguments.join(" "));
    let program = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(program)
        .args(arguments)
        .envs(environment.iter().copied())
        .status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("cargo {} ended with {status}", arguments.join(" "))),
        Err(error) => Err(format!("cannot run cargo: {error}")),
    }
}

/// Makes sure that a part of the Rust tool chain is there, by asking `probe`.
pub fn ensure_component(component: &str, probe: &[&str]) -> Outcome {
    let there = Command::new("cargo").args(probe).output();
    if there.is_ok_and(|out| out.status.success()) {
        return Ok(());
    }
    println!("   installing the Rust component {component}");
    rustup(&["component", "add", component])
}

/// Makes sure that the standard library for a target is there.
pub fn ensure_target(target: &str) -> Outcome {
    let folder = Command::new("rustc")
        .args(["--print", "target-libdir", "--target", target])
        .output();
    let there = folder.is_ok_and(|out| {
        std::path::Path::new(String::from_utf8_lossy(&out.stdout).trim()).is_dir()
    });
    if there {
        return Ok(());
    }
    println!("   installing the Rust target {target}");
    rustup(&["target", "add", target])
}

fn rustup(arguments: &[&str]) -> Outcome {
    let command = format!("rustup {}", arguments.join(" "));
    match Command::new("rustup").args(arguments).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("`{command}` ended with {status}: run it by hand")),
        Err(error) => Err(format!(
            "`{command}` is needed, but rustup cannot be run ({error}): install that part of Rust by hand"
        )),
    }
}

/// The platform this runs on, as rustc names it.
pub fn host() -> Result<String, String> {
    let out = Command::new("rustc").arg("-vV").output();
    let out = out.map_err(|e| format!("cannot run rustc: {e}"))?;
    String::from_utf8_lossy(&out.stdout)
        .lines()
        .find_map(|line| line.strip_prefix("host: ").map(str::to_owned))
        .ok_or_else(|| "rustc does not say what its host is".into())
}
