//! `cargo xtask fuzz`: damaged files for some minutes. Arguments: minutes, seed, parts of the
//! readers' names with commas between them.

use std::error::Error;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use fracas_conformance::fuzz::targets;
use fracas_core::testing::Rng;

/// A reader that takes longer never comes back, as far as anybody waits.
const HANGS: Duration = Duration::from_secs(60);

/// What is read now, and since when.
type Now = Arc<Mutex<Option<(Instant, &'static str, Vec<u8>)>>>;

/// Ends the program where a reader hangs, after its file is written.
fn watch(now: Now) {
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(Duration::from_secs(1));
            let now = now.lock().unwrap_or_else(|e| e.into_inner());
            if let Some((since, name, bytes)) = &*now
                && since.elapsed() > HANGS
            {
                let path = format!("out/fuzz/{name}-hangs");
                let written = std::fs::write(&path, bytes);
                println!("{name} hangs: {path} ({written:?})");
                std::process::exit(1);
            }
        }
    });
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let minutes: f64 = arguments.next().map_or(Ok(5.0), |m| m.parse())?;
    let seed: u64 = arguments.next().map_or(Ok(1), |s| s.parse())?;
    let only = arguments.next().unwrap_or_default();
    let mut targets = targets();
    for part in only.split(',') {
        if !targets.iter().any(|t| t.name.contains(part)) {
            return Err(format!("no reader has `{part}` in its name").into());
        }
    }
    targets.retain(|t| only.split(',').any(|part| t.name.contains(part)));
    let each = Duration::from_secs_f64(60.0 * minutes / targets.len() as f64);
    let (mut total, mut failures) = (0_u64, 0);
    std::fs::create_dir_all("out/fuzz")?;
    std::panic::set_hook(Box::new(|_| ()));
    let now = Now::default();
    watch(Arc::clone(&now));
    for target in &targets {
        let start = Instant::now();
        let mut rng = Rng(seed);
        let mut runs = 0_u64;
        while start.elapsed() < each {
            for _ in 0..32 {
                let bytes = target.damaged(&mut rng);
                runs += 1;
                let told = Some((Instant::now(), target.name, bytes.clone()));
                *now.lock().unwrap_or_else(|e| e.into_inner()) = told;
                if catch_unwind(AssertUnwindSafe(|| target.try_bytes(&bytes))).is_err() {
                    failures += 1;
                    let path = format!("out/fuzz/{}-{runs}", target.name);
                    std::fs::write(&path, &bytes)?;
                    println!("{}: run {runs} fails: {path}", target.name);
                }
            }
        }
        println!("{:<10} {runs:>12} runs", target.name);
        total += runs;
    }
    println!("{total} runs, {failures} failures");
    if failures > 0 {
        return Err("see out/fuzz".into());
    }
    Ok(())
}
