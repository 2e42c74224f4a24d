//! `cargo xtask digests`: a number for the state of every scene after 300 steps, which
//! changes with any bit of it; and whether it is the one that is kept.
//!
//! Arguments: `print`, `check` or `update`, then the file; with the feature `parallel`
//! the engine steps on two threads.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use fracas_scenes::rigid::{SCENES, SceneOptions, by_name};
use fracas_scenes::soft::SoftScene;

const STEPS: u64 = 300;
/// Steps of scenes whose steps are dear: a thousand bricks, soft bodies.
const FEW: u64 = 60;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let task = arguments.next().unwrap_or_else(|| "print".into());
    let file = arguments.next();
    let only = std::env::var("FRACAS_DIGESTS_ONLY").unwrap_or_default();
    let found = measure(&only)?;
    let text = write(&found);
    match (task.as_str(), file) {
        ("print", _) => print!("{text}"),
        ("update", Some(file)) => {
            std::fs::write(&file, text)?;
            println!("wrote {file}");
        }
        ("check", Some(file)) => {
            let kept = std::fs::read_to_string(&file)?;
            let kept: BTreeMap<&str, &str> = kept
                .lines()
                .filter(|l| !l.starts_with('#'))
                .filter_map(|l| l.split_once(' '))
                .collect();
            let mut differ = 0;
            for (name, told) in &found {
                match kept.get(name.as_str()) {
                    Some(&kept) if kept == told => println!("same   {name} {told}"),
                    Some(&kept) => {
                        differ += 1;
                        println!("DIFFER {name} {told}, kept is {kept}");
                    }
                    None => {
                        differ += 1;
                        println!("NEW    {name} {told}");
                    }
                }
            }
            if differ > 0 {
                return Err(format!(
                    "{differ} scenes differ from {file}; where that is meant, run `cargo xtask digests --update` and say so in the commit"
                )
                .into());
            }
        }
        _ => return Err("use: print | check FILE | update FILE".into()),
    }
    Ok(())
}

/// Name and "steps digest" of every scene whose name contains `only`, on all cores: a
/// scene by itself is serial.
fn measure(only: &str) -> Result<BTreeMap<String, String>, Box<dyn Error>> {
    let rigid = SCENES.iter().map(|s| (s.name, false));
    let soft = SoftScene::NAMES.iter().map(|&name| (name, true));
    let all: Vec<(&str, bool)> = rigid.chain(soft).filter(|s| s.0.contains(only)).collect();
    let next = AtomicUsize::new(0);
    let found = Mutex::new(Vec::new());
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| {
                while let Some(&(name, soft)) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let told = if soft { of_soft(name) } else { of_rigid(name) };
                    let mut found = found.lock().unwrap_or_else(|e| e.into_inner());
                    found.push((name, told));
                }
            });
        }
    });
    let found = found.into_inner().unwrap_or_else(|e| e.into_inner());
    let mut sorted = BTreeMap::new();
    for (name, told) in found {
        sorted.insert(name.to_owned(), told?);
    }
    Ok(sorted)
}

fn of_rigid(name: &str) -> Result<String, String> {
    let mut scene = by_name(name, &SceneOptions::default(), &mut |_| ());
    let scene = scene.as_mut().map_err(|e| e.to_string())?;
    #[cfg(feature = "parallel")]
    scene
        .world_mut()
        .physics
        .physics_pipeline
        .configure_thread_pool(2)
        .map_err(|e| format!("cannot start threads: {e}"))?;
    let steps = if name == "wall" { FEW } else { STEPS };
    for _ in 0..steps {
        scene.step();
        scene.world_mut().take_events();
    }
    Ok(format!("{steps} {:016x}", scene.world().digest()))
}

fn of_soft(name: &str) -> Result<String, String> {
    let mut scene = SoftScene::new(name).map_err(|e| e.to_string())?;
    for _ in 0..FEW {
        scene.step();
    }
    Ok(format!("{FEW} {:016x}", scene.digest()))
}

fn write(found: &BTreeMap<String, String>) -> String {
    let mut text = String::from(
        "# Scene, steps, digest of its state after them (seed 0, as measured).\n# `cargo xtask digests` compares; `cargo xtask digests --update` writes.\n",
    );
    for (name, told) in found {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{name} {told}");
    }
    text
}
