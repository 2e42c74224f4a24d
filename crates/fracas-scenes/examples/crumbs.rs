//! How high crumbs fly when the piggy bank bursts, and how far its pieces lie apart, beside
//! the engine's triangle meshes on the same pieces.
//!
//! Arguments: the scene (piggy-bank), how many seeds (8), parts of the scene's step (1).

use std::error::Error;

use fracas_rapier::{ContactMode, ParryShape};
use fracas_scenes::experiments::crumbs::{Burst, burst};
use fracas_scenes::rigid::SceneOptions;

fn tell(name: &str, burst: &Burst) {
    println!(
        "{name}: {} pieces, highest {:.3} m, of brought {:.3}, of left {:.3}; spread {:.3?}",
        burst.crumbs.len(),
        burst.highest(),
        burst.highest_of(|c| c.brought),
        burst.highest_of(|c| c.left),
        burst.spread,
    );
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().unwrap_or_else(|| "piggy-bank".into());
    let seeds: u64 = arguments.next().map_or(Ok(8), |n| n.parse())?;
    let parts: u64 = arguments.next().map_or(Ok(1), |n| n.parse())?;
    let theirs = arguments.next().is_none_or(|a| a != "ours");
    for seed in 0..seeds {
        let options = SceneOptions {
            seed,
            step: (parts > 1).then(|| 0.015 / parts as f32),
            ..SceneOptions::default()
        };
        let looks = [60 * parts, 133 * parts, 200 * parts];
        let ours = burst(&name, &options, &looks, None)?;
        tell(&format!("seed {seed}, ours"), &ours);
        if theirs {
            let contacts = ContactMode::Parry(ParryShape::TriMesh);
            let options = SceneOptions {
                contacts,
                ..options
            };
            let theirs = burst(&name, &options, &looks[..1], Some(ours.script.clone()))?;
            tell(&format!("seed {seed}, triangle meshes"), &theirs);
        }
    }
    Ok(())
}
