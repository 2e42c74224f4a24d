//! Runs the test programs once for each mutant, and tells which ones no test noticed.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::stage::Outcome;

/// A mutant may take so much more time of the processor than the unbroken program takes by
/// the clock, and so many seconds more, before it counts as one that does not end. By the
/// clock it may take far longer: machines are shared.
const PATIENCE: f64 = 2.0;
const MORE_PATIENCE: f64 = 20.0;
const CLOCK_PATIENCE: f64 = 30.0;

/// The signal that a program ends by which has used up its processor time.
const TIME_USED_UP: i32 = 24;

/// Memory that a program may have, in kilobytes: a loop that lost its end fills it.
const MOST_MEMORY: u64 = 8_000_000;

/// A test program.
struct Program {
    path: String,
    home: String,
    package: String,
    library: bool,
    seconds: f64,
}

/// How a run of a program ended.
#[derive(Clone, Copy, PartialEq)]
enum Run {
    Passed,
    Failed,
    Timeout,
}

/// Runs all programs of the folder's plan once without a mutant, then for each mutant until
/// one fails. Prints the shares and writes `results.json` beside the plan.
pub fn run(folder: &Path, jobs: usize, longest: f64, only: &[String]) -> Outcome {
    let folder = folder
        .canonicalize()
        .map_err(|e| format!("cannot find {}: {e}", folder.display()))?;
    let plan = folder.join("plan.json");
    let text =
        fs::read_to_string(&plan).map_err(|e| format!("cannot read {}: {e}", plan.display()))?;
    let plan: Value = serde_json::from_str(&text).map_err(|e| e.to_string())?;
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let jobs = if jobs == 0 { cores } else { jobs };
    let threads = (cores / jobs).max(1);
    let programs = try_unbroken(&folder, &plan, threads, longest)?;

    let all = plan["mutants"]
        .as_array()
        .ok_or("the plan has no mutants")?;
    let named = |m: &Value| {
        let name = m["name"].as_str().unwrap_or_default();
        only.is_empty() || only.iter().any(|o| name.contains(o.as_str()))
    };
    let mutants: Vec<&Value> = all.iter().filter(|m| named(m)).collect();
    let (next, results) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                while let Some(mutant) = mutants.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let (state, by) = try_mutant(&folder, mutant, &programs, threads);
                    let name = mutant["name"].as_str().unwrap_or_default();
                    println!("   {state:<9} {name}{by}");
                    let mut result = (*mutant).clone();
                    result["state"] = state.into();
                    let mut results = results.lock().unwrap_or_else(|e| e.into_inner());
                    results.push(result);
                }
            });
        }
    });
    let results = results.into_inner().unwrap_or_else(|e| e.into_inner());
    print_shares(&results);
    let path = folder.join("results.json");
    let text = serde_json::to_string_pretty(&json!(results)).map_err(|e| e.to_string())?;
    fs::write(&path, text).map_err(|e| format!("cannot write {}: {e}", path.display()))
}

/// Runs every program without a mutant: it must pass, and its time says how long to wait.
/// Those that take too long are left out, and it is said.
fn try_unbroken(
    folder: &Path,
    plan: &Value,
    threads: usize,
    longest: f64,
) -> Result<Vec<Program>, String> {
    let mut programs = Vec::new();
    for told in plan["programs"].as_array().into_iter().flatten() {
        let text = |key: &str| told[key].as_str().unwrap_or_default().to_owned();
        let mut program = Program {
            path: text("program"),
            home: text("home"),
            package: text("package"),
            library: told["library"] == true,
            seconds: longest,
        };
        let begun = Instant::now();
        let ended = run_program(folder, &program, &[], 0, threads, 2.0 * longest);
        program.seconds = begun.elapsed().as_secs_f64();
        match ended {
            Run::Failed => return Err(format!("{} fails without a mutant", program.path)),
            Run::Timeout => println!("   left out, too long: {}", program.path),
            Run::Passed if program.seconds > longest && !program.library => {
                println!("   left out, {:.0} s: {}", program.seconds, program.path);
            }
            Run::Passed => {
                println!("   {:>6.1} s {}", program.seconds, program.path);
                programs.push(program);
            }
        }
    }
    if programs.is_empty() {
        return Err("no test program is left to run".into());
    }
    programs.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
    Ok(programs)
}

/// What the tests say of a mutant, and which program said it.
fn try_mutant(
    folder: &Path,
    mutant: &Value,
    programs: &[Program],
    threads: usize,
) -> (&'static str, String) {
    match mutant["state"].as_str() {
        Some("planted") => (),
        Some("unviable") => return ("unviable", String::new()),
        _ => return ("left out", String::new()),
    }
    let number = mutant["number"].as_u64().unwrap_or(0);
    let word = mutant["word"].as_str().unwrap_or_default();
    let subject = mutant["subject"].as_str().unwrap_or_default();
    let package = subject.split('/').next().unwrap_or_default();
    // The crate's own unit tests of the subject first, then all of them, then the quickest.
    let own = programs.iter().find(|p| p.library && p.package == package);
    let mut runs: Vec<(&Program, Vec<&str>)> = Vec::new();
    if let Some(own) = own {
        if !word.is_empty() {
            runs.push((own, vec![word]));
        }
        runs.push((
            own,
            if word.is_empty() {
                vec![]
            } else {
                vec!["--skip", word]
            },
        ));
    }
    let others = programs
        .iter()
        .filter(|p| !(p.library && p.package == package));
    runs.extend(others.map(|p| (p, Vec::new())));
    for (program, filter) in runs {
        let limit = PATIENCE * program.seconds + MORE_PATIENCE;
        let by = format!(" ({})", program.path);
        match run_program(folder, program, &filter, number, threads, limit) {
            Run::Passed => (),
            Run::Failed => return ("caught", by),
            Run::Timeout => return ("timeout", by),
        }
    }
    ("missed", String::new())
}

/// Runs a program with a mutant on (zero: none) until it ends, a test of it fails, or each of
/// its threads has had `limit` seconds of a processor.
fn run_program(
    folder: &Path,
    program: &Program,
    filter: &[&str],
    mutant: u64,
    threads: usize,
    limit: f64,
) -> Run {
    let path = folder.join(&program.path);
    let home = folder.join(&program.home);
    let mut command = if cfg!(unix) {
        let mut shell = Command::new("sh");
        let processor = (limit * threads as f64).ceil();
        let limits = format!("ulimit -v {MOST_MEMORY}; ulimit -S -t {processor}");
        shell.args(["-c", &format!("{limits}; exec \"$0\" \"$@\"")]);
        shell.arg(&path);
        shell
    } else {
        Command::new(&path)
    };
    command
        .args(filter)
        .env("FRACAS_MUTANT", mutant.to_string())
        .env("RUST_TEST_THREADS", threads.to_string())
        .env("RUST_BACKTRACE", "0")
        .env("PROPTEST_FAILURE_PERSISTENCE", "off")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    if home.is_dir() {
        command.current_dir(home);
    }
    let Ok(mut child) = command.spawn() else {
        return Run::Failed;
    };
    let (told, lines) = channel();
    let out = child.stdout.take();
    let reader = thread::spawn(move || {
        for line in out.map(BufReader::new).into_iter().flat_map(|o| o.lines()) {
            let Ok(line) = line else { break };
            if told.send(line).is_err() {
                break;
            }
        }
    });
    let end = Instant::now() + Duration::from_secs_f64(CLOCK_PATIENCE * limit);
    let ended = loop {
        match lines.recv_timeout(end.saturating_duration_since(Instant::now())) {
            // The first test that fails is enough.
            Ok(line) if line.starts_with("test ") && line.ends_with("FAILED") => {
                break Some(Run::Failed);
            }
            Ok(_) => (),
            Err(RecvTimeoutError::Timeout) => break Some(Run::Timeout),
            Err(RecvTimeoutError::Disconnected) => break None,
        }
    };
    drop(lines);
    if ended.is_some() {
        let _ = child.kill();
    }
    let status = child.wait();
    let _ = reader.join();
    ended.unwrap_or_else(|| match status {
        Ok(status) if status.success() => Run::Passed,
        Ok(status) if signal(status) == Some(TIME_USED_UP) => Run::Timeout,
        _ => Run::Failed,
    })
}

/// The signal that ended a program.
fn signal(status: std::process::ExitStatus) -> Option<i32> {
    #[cfg(unix)]
    return std::os::unix::process::ExitStatusExt::signal(&status);
    #[cfg(not(unix))]
    {
        let _ = status;
        None
    }
}

/// The share that was noticed, of those that compile, for each subject. What does not end is
/// noticed, as cargo-mutants counts.
fn shares(results: &[Value]) -> BTreeMap<String, [usize; 3]> {
    let mut shares = BTreeMap::<String, [usize; 3]>::new();
    for result in results {
        let subject = result["subject"].as_str().unwrap_or_default();
        let slot = match result["state"].as_str() {
            Some("caught") => 0,
            Some("timeout") => 1,
            Some("missed") => 2,
            _ => continue,
        };
        shares.entry(subject.into()).or_default()[slot] += 1;
    }
    shares
}

fn print_shares(results: &[Value]) {
    println!("   subject                       caught  timeout  missed   share");
    let mut together = [0; 3];
    let line = |name: &str, counts: [usize; 3]| {
        let [caught, timeout, missed] = counts;
        let share = 100.0 * (caught + timeout) as f64 / (caught + timeout + missed).max(1) as f64;
        println!("   {name:<28} {caught:>7} {timeout:>8} {missed:>7} {share:>6.0}%");
    };
    for (subject, counts) in shares(results) {
        line(&subject, counts);
        for (sum, count) in together.iter_mut().zip(counts) {
            *sum += count;
        }
    }
    line("together", together);
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn runs_end_as_the_program_does() {
        let folder = crate::web::target_folder().unwrap().join("mutants-test");
        fs::create_dir_all(&folder).unwrap();
        let program = |name: &str, text: &str| {
            let path = folder.join(name);
            fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
            Program {
                path: name.into(),
                home: String::new(),
                package: "a".into(),
                library: true,
                seconds: 0.0,
            }
        };
        let try_it = |program: &Program, mutant: u64, limit: f64| {
            run_program(&folder, program, &["tree"], mutant, 1, limit)
        };
        let switched = program("switched", "test \"$1\" = tree && test $FRACAS_MUTANT != 3");
        assert!(try_it(&switched, 2, 60.0) == Run::Passed);
        assert!(try_it(&switched, 3, 60.0) == Run::Failed);
        // The first failed test ends it: nobody waits for the rest.
        let slow = program("slow", "echo 'test a ... FAILED'; exec sleep 1000");
        assert!(try_it(&slow, 1, 60.0) == Run::Failed);
        let asleep = program("asleep", "exec sleep 1000");
        assert!(try_it(&asleep, 1, 0.01) == Run::Timeout);
        let endless = program("endless", "while :; do :; done");
        assert!(try_it(&endless, 1, 1.0) == Run::Timeout);
    }

    #[test]
    fn shares_count_what_compiles() {
        let result = |state: &str| json!({ "subject": "a", "state": state });
        let all = [
            "caught", "caught", "timeout", "missed", "unviable", "left out",
        ];
        let counted = shares(&all.map(result));
        assert_eq!(counted["a"], [2, 1, 1]);
    }
}
