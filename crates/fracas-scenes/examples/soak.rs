//! `cargo xtask soak`: random scenes for some minutes; what fails is made small and
//! written as a TOML scene.
//!
//! Arguments: minutes, first seed, folder for failing scenes.

use std::error::Error;
use std::time::{Duration, Instant};

use fracas_scenes::soak::{Plan, Wardrobe, play_safely, shrink};

/// Time for making one failure small, or as long as the whole is to take.
const SHRINKING: Duration = Duration::from_secs(120);
/// Failures after which there is enough to mend.
const MOST_FAILURES: usize = 20;
/// Memory may grow by so much after the first scenes, which fill the wardrobe (MB).
const GROWTH: u64 = 300;
const WARM: u64 = 40;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let minutes: f64 = arguments.next().map_or(Ok(5.0), |m| m.parse())?;
    let first: u64 = arguments.next().map_or(Ok(0), |s| s.parse())?;
    let folder = arguments.next().unwrap_or_else(|| "out/soak".into());
    std::fs::create_dir_all(&folder)?;
    let start = Instant::now();
    let until = Duration::from_secs_f64(60.0 * minutes);
    let mut wardrobe = Wardrobe::default();
    let (mut scenes, mut steps, mut broke, mut replays, mut most) = (0_u64, 0, 0, 0, 0);
    let mut failures = 0;
    let mut warm = None;
    let mut seed = first;
    // A panic is told below, with its scene.
    std::panic::set_hook(Box::new(|_| ()));
    while start.elapsed() < until && failures < MOST_FAILURES {
        let plan = Plan::draw(seed);
        match play_safely(&plan, &mut wardrobe) {
            Ok(played) => {
                steps += played.steps;
                broke += played.broke;
                replays += played.replays;
                most = most.max(played.most);
            }
            Err(failure) => {
                failures += 1;
                println!(
                    "seed {seed}: {} at step {}: {}",
                    failure.rule, failure.step, failure.seen
                );
                let begun = Instant::now();
                let mut goes_on = || begun.elapsed() < SHRINKING.min(until);
                let (small, why) = shrink(&plan, &failure, &mut wardrobe, &mut goes_on);
                let path = format!("{folder}/soak-{seed}.toml");
                let seen = why.seen.replace('\n', "\n#");
                let text = format!("# {}: {seen}\n{}", why.rule, small.to_toml());
                std::fs::write(&path, &text)?;
                println!(
                    "  made small: {} bodies, {} edits, {} steps: {path}",
                    small.bodies.len(),
                    small.edits.len(),
                    small.steps
                );
            }
        }
        seed += 1;
        scenes += 1;
        let memory = resident();
        if scenes == WARM {
            warm = memory;
        }
        if let (Some(now), Some(then)) = (memory, warm)
            && now > then + GROWTH
        {
            failures += 1;
            println!("seed {seed}: memory grew from {then} to {now} MB");
            warm = memory;
        }
    }
    println!(
        "{scenes} scenes (seeds {first} to {}), {steps} steps, {broke} breaks, {replays} replays, at most {most} bodies, {} MB, in {:.1} minutes: {failures} failures",
        seed.saturating_sub(1),
        resident().unwrap_or(0),
        start.elapsed().as_secs_f64() / 60.0
    );
    if failures > 0 {
        return Err(format!("{failures} failures; scenes are in {folder}").into());
    }
    Ok(())
}

/// Megabytes in memory, where the system tells.
fn resident() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = text.split_whitespace().nth(1)?.parse().ok()?;
    Some(pages * 4096 / 1_000_000)
}
