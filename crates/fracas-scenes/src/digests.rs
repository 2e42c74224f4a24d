//! A number for the state of every scene after some steps, which changes with any bit of
//! it; and whether it is the one that is kept in `digests.txt`.
//!
//! `tests/digests.rs` compares, `cargo xtask digests --write` writes. Scenes are coarse
//! and short, so that all of them take less than a minute: what makes bits differ
//! (threads, optimisation, another order) shows within a few steps of the first contact.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::rigid::{SCENES, SceneOptions, by_name};
use crate::soft::SoftScene;

/// A digest after so many steps: enough for what falls to break; and after so many, when most
/// of it lies.
const STEPS: [u64; 2] = [120, 300];
/// Of scenes whose steps are expensive: a thousand bricks, soft bodies.
const FEW: u64 = 20;
/// Edges twice as long as the paper's.
const DETAIL: f64 = 0.5;

/// Scenes by name, each with its steps and their digest, once or twice.
pub type Digests = BTreeMap<String, String>;

/// Plays every scene whose name contains `only`, on all cores: a scene on one `thread`,
/// or with its own pool of several (needs the feature `parallel`).
///
/// # Errors
/// When a scene cannot be made, or a pool cannot be started.
pub fn measure(only: &str, threads: usize) -> Result<Digests, String> {
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
                    let told = if soft {
                        of_soft(name)
                    } else {
                        of_rigid(name, threads)
                    };
                    let mut found = found.lock().unwrap_or_else(|e| e.into_inner());
                    found.push((name, told));
                }
            });
        }
    });
    let found = found.into_inner().unwrap_or_else(|e| e.into_inner());
    let told = found.into_iter().map(|(name, t)| Ok((name.to_owned(), t?)));
    told.collect()
}

fn of_rigid(name: &str, threads: usize) -> Result<String, String> {
    let options = SceneOptions {
        detail: DETAIL,
        ..SceneOptions::default()
    };
    let mut scene = by_name(name, &options, &mut |_| ()).map_err(|e| e.to_string())?;
    start_threads(&mut scene.world_mut().physics, threads)?;
    let after: &[u64] = if name == "wall" { &[FEW] } else { &STEPS };
    let mut told = Vec::new();
    let mut played = 0;
    for &steps in after {
        for _ in played..steps {
            scene.step();
            scene.world_mut().take_events();
        }
        played = steps;
        told.push(format!("{steps} {:016x}", scene.world().digest()));
    }
    Ok(told.join(" "))
}

#[cfg(feature = "parallel")]
fn start_threads(
    physics: &mut rapier3d::prelude::PhysicsWorld,
    threads: usize,
) -> Result<(), String> {
    let started = physics.configure_thread_pool(threads);
    started.map_err(|e| format!("cannot start {threads} threads: {e}"))
}

#[cfg(not(feature = "parallel"))]
fn start_threads(_: &mut rapier3d::prelude::PhysicsWorld, threads: usize) -> Result<(), String> {
    match threads {
        1 => Ok(()),
        _ => Err("threads need the feature `parallel`".into()),
    }
}

fn of_soft(name: &str) -> Result<String, String> {
    let mut scene = SoftScene::new(name).map_err(|e| e.to_string())?;
    for _ in 0..FEW {
        scene.step();
    }
    Ok(format!("{FEW} {:016x}", scene.digest()))
}

/// As a file.
#[must_use]
pub fn to_text(found: &Digests) -> String {
    let mut text = String::from(
        "# Scene, steps, digest of its state after them, and of most after more steps (seed 0, \
         half the detail).\n\
         # `cargo xtask digests` compares; `cargo xtask digests --write` writes.\n",
    );
    for (name, told) in found {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{name} {told}");
    }
    text
}

/// What differs from a file, in words; nothing where all is the same.
#[must_use]
pub fn compare(found: &Digests, kept: &str) -> Vec<String> {
    let kept: BTreeMap<&str, &str> = kept
        .lines()
        .filter(|l| !l.starts_with('#'))
        .filter_map(|l| l.split_once(' '))
        .collect();
    let mut differ = Vec::new();
    for (name, told) in found {
        match kept.get(name.as_str()) {
            Some(&kept) if kept == told => {}
            Some(kept) => differ.push(format!("{name}: {told}, kept is {kept}")),
            None => differ.push(format!("{name}: {told}, none is kept")),
        }
    }
    for name in kept.keys().filter(|name| !found.contains_key(**name)) {
        differ.push(format!("{name}: kept, but there is no such scene"));
    }
    differ
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_is_told() {
        let digests = |all: &[(&str, &str)]| -> Digests {
            all.iter()
                .map(|(n, d)| ((*n).into(), (*d).into()))
                .collect()
        };
        let kept = to_text(&digests(&[("a", "20 01"), ("b", "20 02")]));
        assert!(compare(&digests(&[("a", "20 01"), ("b", "20 02")]), &kept).is_empty());
        let differ = compare(
            &digests(&[("a", "20 01"), ("b", "20 03"), ("c", "1 1")]),
            &kept,
        );
        assert_eq!(differ.len(), 2, "{differ:?}");
        assert_eq!(compare(&digests(&[("a", "20 01")]), &kept).len(), 1);
    }
}
