//! Running the stages of `cargo xtask test`.
//!
//! Most stages run one after another. Those marked [`When::Beside`] build into folders of
//! their own, so a second process runs them at the same time: much of a build is one crate that
//! all others wait for, and two builds at a time keep two cores busy. Its progress lines are
//! shown at once, everything else that it prints when it has ended. Stages marked
//! [`When::Last`] run when all others have ended: a browser is no test of anything while two
//! builds run.
//!
//! A stage that fails stops no other; the summary at the end names every failure. What the
//! stages need is installed before the first one ([`crate::needs`]).

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;
use std::time::Instant;

use serde_json::{Value, json};

use crate::needs::{self, Missing};
use crate::web::target_folder;

/// What a command ends with; an error is the message for the user.
pub type Outcome = Result<(), String>;

/// A named step.
pub struct Stage {
    /// Its name for `--only`.
    pub name: &'static str,
    /// What it checks.
    pub about: &'static str,
    /// How long it takes on two cores from nothing, in minutes; used until a run has been timed.
    pub minutes: f64,
    /// When it runs.
    pub when: When,
    /// Runs it.
    pub run: fn() -> Outcome,
}

/// When a stage runs.
#[derive(Clone, Copy, PartialEq)]
pub enum When {
    /// After the one above it.
    Next,
    /// At the same time as the others: it builds into a folder of its own.
    Beside,
    /// When all others have ended.
    Last,
}

/// How a stage ended.
#[derive(Clone, Debug, PartialEq)]
enum End {
    Passed,
    Failed(String),
    /// It could not run here, and why.
    Skipped(String),
}

/// A stage that has ended.
#[derive(Clone, Debug, PartialEq)]
struct Record {
    name: String,
    end: End,
    seconds: f64,
    /// What all of its programs took of the processors.
    processor_seconds: f64,
}

/// How a line begins by which the second process reports a [`Record`].
const RECORD: &str = "@stage ";
/// How a line begins that is shown at once, even if the second process printed it.
const PROGRESS: &str = "== ";

impl Record {
    fn to_line(&self) -> String {
        let (end, why) = match &self.end {
            End::Passed => ("passed", ""),
            End::Failed(why) => ("failed", why.as_str()),
            End::Skipped(why) => ("skipped", why.as_str()),
        };
        let times = [self.seconds, self.processor_seconds];
        let value = json!({ "name": self.name, "end": end, "why": why, "times": times });
        format!("{RECORD}{value}")
    }

    fn of_line(line: &str) -> Option<Self> {
        let value: Value = serde_json::from_str(line.strip_prefix(RECORD)?).ok()?;
        let why = value["why"].as_str()?.to_owned();
        Some(Self {
            name: value["name"].as_str()?.to_owned(),
            end: match value["end"].as_str()? {
                "passed" => End::Passed,
                "failed" => End::Failed(why),
                "skipped" => End::Skipped(why),
                _ => return None,
            },
            seconds: value["times"][0].as_f64()?,
            processor_seconds: value["times"][1].as_f64()?,
        })
    }
}

/// Runs the stages whose name contains one of these words (separated by commas).
pub fn run_some(stages: &[Stage], only: &str) -> Outcome {
    let chosen = |s: &&Stage| only.split(',').any(|word| s.name.contains(word));
    let wanted: Vec<&Stage> = stages.iter().filter(chosen).collect();
    if wanted.is_empty() {
        let names: Vec<_> = stages.iter().map(|s| s.name).collect();
        return Err(format!(
            "no stage is named `{only}`; there are: {}",
            names.join(", ")
        ));
    }
    let start = Instant::now();
    let missing = needs::install(&wanted)?;
    let plan = Plan::new(&wanted);
    let records = run_in_order(&wanted, &missing, &plan, start);
    conclude(&records, start)
}

/// Runs the stages of the second process.
pub fn run_beside(stages: &[Stage], missing: &str) -> Outcome {
    let wanted = of(stages, When::Beside);
    let missing = Missing::of_text(missing);
    let plan = Plan::new(&wanted);
    for record in run_in_order(&wanted, &missing, &plan, Instant::now()) {
        println!("{}", record.to_line());
    }
    Ok(())
}

/// Runs all stages.
pub fn run_all(stages: &[Stage]) -> Outcome {
    let start = Instant::now();
    let all: Vec<&Stage> = stages.iter().collect();
    let plan = Plan::new(&all);
    println!(
        "== {} stages, about {}",
        stages.len(),
        minutes(plan.left(&all, 0.0))
    );
    for stage in stages {
        let beside = if stage.when == When::Beside {
            "beside"
        } else {
            ""
        };
        let expected = minutes(plan.seconds(stage));
        println!(
            "   {:<14} {expected:>8}  {beside:<6}  {}",
            stage.name, stage.about
        );
    }
    let missing = needs::install(&all)?;
    let beside = Beside::start(&missing)?;
    let mut records = run_in_order(&of(stages, When::Next), &missing, &plan, start);
    records.extend(beside.finish()?);
    let last = of(stages, When::Last);
    records.extend(run_in_order(&last, &missing, &plan, start));
    let lost = |s: &&Stage| records.iter().all(|r| r.name != s.name);
    if let Some(stage) = stages.iter().find(lost) {
        return Err(format!(
            "the stage `{}` did not report how it ended",
            stage.name
        ));
    }
    conclude(&records, start)
}

fn of(stages: &[Stage], when: When) -> Vec<&Stage> {
    stages.iter().filter(|s| s.when == when).collect()
}

/// Runs stages one after another, whatever fails.
fn run_in_order(stages: &[&Stage], missing: &Missing, plan: &Plan, start: Instant) -> Vec<Record> {
    let mut records = Vec::new();
    for (i, stage) in stages.iter().enumerate() {
        let (count, name) = (stages.len(), stage.name);
        let expected = minutes(plan.seconds(stage));
        let left = minutes(plan.left(&stages[i..], start.elapsed().as_secs_f64()));
        println!("{PROGRESS}[{}/{count}] {name}: {}", i + 1, stage.about);
        println!("{PROGRESS}      about {expected}; {left} left in all");
        let (begin, before) = (Instant::now(), processor_seconds());
        let end = match missing.of_stage(name) {
            Some(why) => End::Skipped(why.to_owned()),
            None => (stage.run)().map_or_else(End::Failed, |()| End::Passed),
        };
        let seconds = begin.elapsed().as_secs_f64();
        match &end {
            End::Passed => println!("{PROGRESS}{name} passed in {seconds:.0} s"),
            End::Failed(why) => println!("{PROGRESS}{name} FAILED after {seconds:.0} s: {why}"),
            End::Skipped(why) => println!("{PROGRESS}{name} SKIPPED: {why}"),
        }
        // Progress is shown when it happens, also through a pipe.
        let _ = std::io::stdout().flush();
        records.push(Record {
            name: name.to_owned(),
            end,
            seconds,
            processor_seconds: processor_seconds() - before,
        });
    }
    records
}

/// Prints the summary, keeps the times, and fails if a stage failed.
fn conclude(records: &[Record], start: Instant) -> Outcome {
    keep_times(records);
    println!("\n{PROGRESS}summary");
    for record in records {
        let end = match &record.end {
            End::Passed => "passed".to_owned(),
            End::Failed(_) => "FAILED".to_owned(),
            End::Skipped(why) => format!("SKIPPED: {why}"),
        };
        println!(
            "   {:<14} {:>7.1} s {:>8.1} processor s   {end}",
            record.name, record.seconds, record.processor_seconds
        );
    }
    let elapsed = minutes(start.elapsed().as_secs_f64());
    let failed = records.iter().filter_map(|r| match &r.end {
        End::Failed(why) => Some(format!(
            "stage `{0}` failed: {why}\n   (again: cargo xtask test --only {0})",
            r.name
        )),
        _ => None,
    });
    let failed: Vec<String> = failed.collect();
    if failed.is_empty() {
        println!("{PROGRESS}all stages that ran passed, in {elapsed}");
        return Ok(());
    }
    Err(format!(
        "{} of {} stages failed, in {elapsed}\n{}",
        failed.len(),
        records.len(),
        failed.join("\n")
    ))
}

/// Expected times: those of the last run in this folder, or the estimates.
struct Plan {
    last: BTreeMap<String, f64>,
    beside: f64,
    last_stages: f64,
}

impl Plan {
    fn new(stages: &[&Stage]) -> Self {
        let text = times_file().and_then(|file| fs::read_to_string(file).ok());
        let last = text.and_then(|text| serde_json::from_str(&text).ok());
        let mut plan = Self {
            last: last.unwrap_or_default(),
            beside: 0.0,
            last_stages: 0.0,
        };
        let sum = |when| {
            stages
                .iter()
                .filter(|s| s.when == when)
                .map(|s| plan.seconds(s))
                .sum()
        };
        (plan.beside, plan.last_stages) = (sum(When::Beside), sum(When::Last));
        plan
    }

    /// How long a stage is expected to take.
    fn seconds(&self, stage: &Stage) -> f64 {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        let guess = 60.0 * stage.minutes * (2.0 / cores.max(1) as f64).max(0.3);
        self.last.get(stage.name).copied().unwrap_or(guess)
    }

    /// How long until the end of all stages, where `rest` are still to run in this process
    /// and `elapsed` seconds have passed.
    fn left(&self, rest: &[&Stage], elapsed: f64) -> f64 {
        let of = |when| {
            rest.iter()
                .filter(|s| s.when == when)
                .map(|s| self.seconds(s))
                .sum::<f64>()
        };
        if of(When::Next) == 0.0 && of(When::Beside) == 0.0 {
            return of(When::Last);
        }
        let next = of(When::Next);
        next.max(self.beside - elapsed).max(0.0) + self.last_stages
    }
}

fn times_file() -> Option<PathBuf> {
    Some(target_folder().ok()?.join("stage-times.json"))
}

/// Keeps how long stages took, for the next run's estimates.
fn keep_times(records: &[Record]) {
    let Some(file) = times_file() else { return };
    let text = fs::read_to_string(&file).unwrap_or_default();
    let mut times: BTreeMap<String, f64> = serde_json::from_str(&text).unwrap_or_default();
    let passed = records.iter().filter(|r| r.end == End::Passed);
    times.extend(passed.map(|r| (r.name.clone(), r.seconds)));
    // Estimates are a convenience: where they cannot be written, the next run has none.
    if let Ok(text) = serde_json::to_string(&times) {
        let _ = fs::write(file, text);
    }
}

fn minutes(seconds: f64) -> String {
    match seconds {
        s if s < 90.0 => format!("{:.0} s", s.ceil()),
        s => format!("{:.0} min", s / 60.0),
    }
}

/// Processor seconds of all programs that were run here and have ended; zero where the system
/// does not report them as Linux does (`man 5 proc`, fields 16 and 17 of `stat`, in
/// hundredths).
fn processor_seconds() -> f64 {
    let text = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The second field is a name in parentheses that may hold spaces.
    let fields = text.rsplit(')').next().unwrap_or_default();
    let ticks = fields.split_whitespace().skip(13).take(2);
    ticks.filter_map(|t| t.parse::<f64>().ok()).sum::<f64>() / 100.0
}

/// The second process.
struct Beside {
    child: Child,
    /// Reads what it prints; returns everything.
    reader: JoinHandle<Vec<String>>,
}

impl Beside {
    fn start(missing: &Missing) -> Result<Self, String> {
        let fail = |e: std::io::Error| format!("cannot run stages beside others: {e}");
        let log = target_folder()?.join("stages-beside.log");
        println!(
            "{PROGRESS}what the stages beside the others print is shown when they end, and until then in {}",
            log.display()
        );
        let mut log = fs::File::create(&log).map_err(fail)?;
        let (read, write) = std::io::pipe().map_err(fail)?;
        let child = Command::new(env::current_exe().map_err(fail)?)
            .args(["test", "--beside", &missing.to_text()])
            .stdin(Stdio::null())
            .stderr(write.try_clone().map_err(fail)?)
            .stdout(write)
            .spawn()
            .map_err(fail)?;
        let reader = std::thread::spawn(move || {
            let mut all = Vec::new();
            for line in BufReader::new(read).split(b'\n') {
                let Ok(line) = line else { break };
                let line = String::from_utf8_lossy(&line).into_owned();
                if let Some(progress) = line.strip_prefix(PROGRESS) {
                    println!("{PROGRESS}beside: {progress}");
                }
                let _ = writeln!(log, "{line}");
                all.push(line);
            }
            all
        });
        Ok(Self { child, reader })
    }

    /// Waits for it and shows what it printed. Returns how its stages ended.
    fn finish(mut self) -> Result<Vec<Record>, String> {
        let status = self.child.wait();
        let lines = self.reader.join().unwrap_or_default();
        println!("{PROGRESS}printed beside the others:");
        let (records, rest): (Vec<_>, Vec<_>) = lines.iter().partition(|l| l.starts_with(RECORD));
        rest.iter().for_each(|line| println!("{line}"));
        match status {
            Ok(status) if status.success() => {
                Ok(records.iter().filter_map(|l| Record::of_line(l)).collect())
            }
            Ok(status) => Err(format!("the stages beside the others ended with {status}")),
            Err(error) => Err(format!("the stages beside the others were lost: {error}")),
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
        .ok_or("the target folder's path is not UTF-8")?;
    Ok(text.to_owned())
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

#[cfg(test)]
mod tests {
    use super::*;

    fn stage(name: &'static str, when: When, run: fn() -> Outcome) -> Stage {
        Stage {
            name,
            about: "",
            minutes: 1.0,
            when,
            run,
        }
    }

    #[test]
    fn failed_stage_stops_no_other() {
        let stages = [
            stage("a", When::Next, || Err("one\ntwo".into())),
            stage("b", When::Next, || panic!("it is skipped")),
            stage("c", When::Next, || Ok(())),
        ];
        let all: Vec<&Stage> = stages.iter().collect();
        let missing = Missing::of_text(r#"{"b":"no b"}"#);
        let records = run_in_order(&all, &missing, &Plan::new(&all), Instant::now());
        let ends: Vec<End> = records.iter().map(|r| r.end.clone()).collect();
        let failed = End::Failed("one\ntwo".into());
        assert_eq!(ends, [failed, End::Skipped("no b".into()), End::Passed]);
        for record in records {
            assert_eq!(Record::of_line(&record.to_line()), Some(record));
        }
        assert_eq!(Record::of_line("a line"), None);
    }

    #[test]
    fn time_left_counts_both_processes() {
        let nothing = || Ok(());
        let stages = [
            stage("a", When::Next, nothing),
            stage("b", When::Beside, nothing),
            stage("c", When::Beside, nothing),
            stage("d", When::Last, nothing),
        ];
        let all: Vec<&Stage> = stages.iter().collect();
        let plan = Plan {
            last: ["a", "b", "c", "d"].map(|n| (n.to_owned(), 10.0)).into(),
            beside: 20.0,
            last_stages: 10.0,
        };
        assert_eq!(plan.left(&all, 0.0), 30.0);
        assert_eq!(plan.left(&all[..1], 15.0), 20.0);
        assert_eq!(plan.left(&all[3..], 99.0), 10.0);
    }
}
