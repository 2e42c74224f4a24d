//! `cargo xtask fuzz`: damaged files for some minutes. Arguments: minutes, seed.

use std::error::Error;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use fracas_conformance::fuzz::targets;
use fracas_core::testing::Rng;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let minutes: f64 = arguments.next().map_or(Ok(5.0), |m| m.parse())?;
    let seed: u64 = arguments.next().map_or(Ok(1), |s| s.parse())?;
    let targets = targets();
    let each = Duration::from_secs_f64(60.0 * minutes / targets.len() as f64);
    let (mut total, mut failures) = (0_u64, 0);
    std::fs::create_dir_all("out/fuzz")?;
    std::panic::set_hook(Box::new(|_| ()));
    for target in &targets {
        let start = Instant::now();
        let mut rng = Rng(seed);
        let mut runs = 0_u64;
        while start.elapsed() < each {
            for _ in 0..32 {
                let bytes = target.damaged(&mut rng);
                runs += 1;
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
