//! Everyday drops: which of them end as people know it, and into how many pieces the same
//! figure falls in each material.
//!
//! `cargo run --release -p fracas-scenes --example everyday [HEIGHT]` (m, of the figures)

use fracas_fracture::{FractureSettings, Material};
use fracas_scenes::experiments::everyday::{CASES, ORIENTATIONS, agrees, figure, up};

fn main() {
    let height = std::env::args().nth(1).and_then(|a| a.parse().ok());
    let height: f64 = height.unwrap_or(3.0);
    let settings = FractureSettings::default();
    let mut agreeing = 0;
    println!("| thing | survive of {ORIENTATIONS} | break | | least heights (m) | pieces |");
    println!("| --- | --- | --- | --- | --- | --- |");
    for case in &CASES {
        let mut thing = case.thing();
        let (low, high) = (thing.broken(case.survives), thing.broken(case.breaks));
        let mut least: Vec<f64> = (0..ORIENTATIONS).map(|i| thing.least_height(i)).collect();
        least.sort_by(f64::total_cmp);
        let least: Vec<String> = least.iter().map(|h| format!("{h:.3}")).collect();
        let pieces: Vec<usize> = (0..ORIENTATIONS)
            .map(|i| thing.drop(up(i), case.breaks, &settings).stats.pieces)
            .collect();
        let agree = agrees(low, high);
        agreeing += usize::from(agree);
        println!(
            "| {} | {} at {} | {high} at {} | {} | {} | {pieces:?} |",
            case.name,
            ORIENTATIONS - low,
            case.survives,
            case.breaks,
            if agree { "agrees" } else { "differs" },
            least.join(" "),
        );
    }
    println!("{agreeing} of {} agree", CASES.len());
    for name in Material::names() {
        let material = Material::by_name(name).expect("one of the names");
        let mut thing = figure(&material);
        let mut pieces: Vec<usize> = (0..ORIENTATIONS)
            .map(|i| thing.drop(up(i), height, &settings).stats.pieces.max(1))
            .collect();
        pieces.sort_unstable();
        println!("figure of {name} from {height} m: {pieces:?}");
        let heights = [0.1, 0.3, 1.0, 3.0, 10.0, 30.0];
        let sums = heights.map(|height| {
            let falls = (0..ORIENTATIONS).map(|i| thing.drop(up(i), height, &settings));
            falls.map(|fall| fall.stats.pieces.max(1)).sum::<usize>()
        });
        println!("    of all orientations together from {heights:?} m: {sums:?}");
    }
}
