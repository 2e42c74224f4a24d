//! Does selective restructuring [Heo 2010, §5.4] pay? Box tests of the query, mean over
//! frames spread through the scene, for trees that are
//! - never built anew, only refitted and cut where bodies are;
//! - built anew where it pays within 1 step (the paper's rule), or within 16 or 256;
//! - built anew by the metric of [Larsson 2006];
//! - built anew as a whole in each step: what restructuring aims at.
//!
//! Counted, not timed: the same on every machine. What is known of bodies that keep their
//! shape is switched off, since it leaves restructuring next to nothing to save.
//!
//! `cargo run --release -p fracas-scoreboard --example restructuring`

use fracas_fastcd::{Builder, Detection, Restructuring, Settings};
use fracas_scenes::experiments::sequence_times::worth;
use fracas_scenes::sequences::Sequence;
use fracas_scenes::sequences::breaking_walls::BreakingWalls;
use fracas_scenes::sequences::cloth::Cloth;
use fracas_scenes::sequences::exploding_dragon::ExplodingDragon;

fn show(name: &str, sequence: &mut dyn Sequence, settings: Settings, frames: usize, every: usize) {
    let found = worth(sequence, settings, frames, every);
    println!(
        "{name:<32} {:>12.0} box tests, TC_S {:>9.0}, {:>9} triangles built anew",
        found.box_tests, found.cost_self, found.rebuilt
    );
}

fn main() {
    let ways = [
        ("never", Restructuring::Never),
        ("1 step", Restructuring::Selective),
        ("16 steps", Restructuring::SelectiveOver { steps: 16 }),
        ("256 steps", Restructuring::SelectiveOver { steps: 256 }),
        ("by volume", Restructuring::SelectiveByVolume),
        ("all, always", Restructuring::RebuildAlways),
    ];
    let builders = [
        ("grid", Settings::default().builder),
        ("median", Builder::Median),
        ("SAH", Builder::BinnedSah),
    ];
    for (builder_name, builder) in builders {
        for (way, restructuring) in ways {
            let settings = |detection| Settings {
                detection,
                builder,
                restructuring,
                keep_clearance: false,
                ..Settings::default()
            };
            let name = |scene: &str| format!("{scene}, {builder_name}, {way}");
            let (discrete, moving) = (
                settings(Detection::Discrete),
                settings(Detection::Continuous),
            );
            show(&name("walls"), &mut BreakingWalls::new(), discrete, 60, 6);
            show(&name("cloth"), &mut Cloth::new(), moving, 400, 80);
            let mut dragon = ExplodingDragon::procedural();
            show(&name("knot"), &mut dragon, discrete, 70, 14);
        }
    }
}
