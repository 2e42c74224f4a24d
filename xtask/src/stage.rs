//! Running the stages, and saying so.
//!
//! Most stages run one after another. Those marked [`When::Beside`] build into folders of
//! their own, so they need not wait: a second process runs them, one after another, beside the
//! others. Much of a build is one crate that all others wait for; two builds at a time keep two
//! cores busy. What the second process prints is told whole when it has ended. The stages
//! marked [`When::Last`] wait for all others: a browser is no test of anything while two
//! builds run.

use std::env;
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use crate::skips;
use crate::web::target_folder;

/// How a line begins that tells of a stage that was skipped as a whole.
const BUT_NOT: &str = "   BUT NOT";

/// What a stage ends with; an error is what to tell the user.
pub type Outcome = Result<(), String>;

/// A named step.
pub struct Stage {
    /// As in `--only`.
    pub name: &'static str,
    /// What it makes sure of.
    pub about: &'static str,
    /// When it runs.
    pub when: When,
    /// Does it.
    pub run: fn() -> Outcome,
}

/// When a stage runs.
#[derive(Clone, Copy, PartialEq)]
pub enum When {
    /// After the one above it.
    Next,
    /// Beside the others: it builds into a folder of its own.
    Beside,
    /// When all others have ended.
    Last,
}

/// Runs the stages whose name contains `only`, one after another, and stops at the first that
/// fails.
pub fn run_some(stages: &[Stage], only: &str) -> Outcome {
    let wanted: Vec<&Stage> = stages.iter().filter(|s| s.name.contains(only)).collect();
    if wanted.is_empty() {
        let names: Vec<_> = stages.iter().map(|s| s.name).collect();
        return Err(format!(
            "no stage is named so; there are: {}",
            names.join(", ")
        ));
    }
    run_in_order(&wanted)
}

/// Runs the stages that need not wait for others.
pub fn run_beside(stages: &[Stage]) -> Outcome {
    run_in_order(&of(stages, When::Beside))
}

/// Runs all stages. Whatever fails, what runs beside it is waited for and told, too.
pub fn run_all(stages: &[Stage]) -> Outcome {
    let start = Instant::now();
    let beside = Beside::start(&of(stages, When::Beside))?;
    let next = run_in_order(&of(stages, When::Next));
    let beside = beside.finish();
    next?;
    let skipped = beside?;
    run_in_order(&of(stages, When::Last))?;
    let minutes = start.elapsed().as_secs_f64() / 60.0;
    println!("\n== all stages passed, in {minutes:.1} minutes");
    skipped.iter().for_each(|line| println!("{line}"));
    Ok(())
}

fn of(stages: &[Stage], when: When) -> Vec<&Stage> {
    stages.iter().filter(|s| s.when == when).collect()
}

fn run_in_order(stages: &[&Stage]) -> Outcome {
    let start = Instant::now();
    let mut table = Vec::new();
    for (i, stage) in stages.iter().enumerate() {
        println!(
            "== [{}/{}] {}: {}",
            i + 1,
            stages.len(),
            stage.name,
            stage.about
        );
        let (begin, before) = (Instant::now(), processor_seconds());
        (stage.run)().map_err(|e| {
            format!(
                "stage `{0}` failed: {e}\n(again: cargo xtask test --only {0})",
                stage.name
            )
        })?;
        let worked = processor_seconds() - before;
        table.push((stage.name, begin.elapsed().as_secs_f64(), worked));
    }
    println!("\n== passed");
    for (name, why) in skips::skipped_stages() {
        println!("{BUT_NOT} {name}: it was skipped as a whole, {why}");
    }
    let together = start.elapsed().as_secs_f64();
    let worked = table.iter().map(|row| row.2).sum();
    for (name, seconds, worked) in table.into_iter().chain([("together", together, worked)]) {
        println!("   {name:<14} {seconds:>7.1} s   {worked:>7.1} processor s");
    }
    Ok(())
}

/// What all programs that we ran and that have ended took of the processor, in seconds; zero
/// where the system does not tell as Linux does (`man 5 proc`, fields 16 and 17 of `stat`, in
/// hundredths).
fn processor_seconds() -> f64 {
    let told = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The second field is a name in parentheses that may hold spaces.
    let fields = told.rsplit(')').next().unwrap_or_default();
    let ticks = fields.split_whitespace().skip(13).take(2);
    ticks.filter_map(|t| t.parse::<f64>().ok()).sum::<f64>() / 100.0
}

/// The process that runs stages beside the others.
struct Beside {
    child: Child,
    log: PathBuf,
}

impl Beside {
    /// Runs this program once more, with what it prints going to a file.
    fn start(stages: &[&Stage]) -> Result<Self, String> {
        let names: Vec<&str> = stages.iter().map(|s| s.name).collect();
        let log = target_folder()?.join("stages-beside.log");
        println!(
            "== beside the others: {} (what they print is told when they end; until then it is in {})",
            names.join(", "),
            log.display()
        );
        let fail = |e: std::io::Error| format!("cannot run stages beside others: {e}");
        let out = File::create(&log).map_err(fail)?;
        let child = Command::new(env::current_exe().map_err(fail)?)
            .args(["test", "--beside"])
            .stdin(Stdio::null())
            .stderr(out.try_clone().map_err(fail)?)
            .stdout(out)
            .spawn()
            .map_err(fail)?;
        Ok(Self { child, log })
    }

    /// Waits for it, and tells what it printed. Returns the lines on stages that were skipped
    /// as a whole: they are told once more at the end.
    fn finish(mut self) -> Result<Vec<String>, String> {
        let status = self.child.wait();
        println!("== beside the others:");
        let told = fs::read(&self.log).unwrap_or_default();
        let told = String::from_utf8_lossy(&told);
        print!("{told}");
        let skipped = told.lines().filter(|line| line.starts_with(BUT_NOT));
        match status {
            Ok(status) if status.success() => Ok(skipped.map(String::from).collect()),
            Ok(status) => Err(format!(
                "a stage beside the others failed ({status}): above"
            )),
            Err(error) => Err(format!("stages beside the others were lost: {error}")),
        }
    }
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

/// A target folder for what is checked and not built: cargo lets one process at a time use a
/// folder, and the tests use theirs for long.
pub fn check_folder() -> Result<String, String> {
    let folder = target_folder()?.join("check");
    let text = folder
        .to_str()
        .ok_or("the target folder's path is no text")?;
    Ok(text.to_owned())
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
