//! Everyday drops end as people know them, and materials break in their own ways. The whole
//! table: `cargo run --release -p fracas-scenes --example everyday`.

use fracas_fracture::{FractureSettings, Material};
use fracas_scenes::experiments::everyday::{CASES, ORIENTATIONS, agrees, figure, up};

/// Those whose modes are quick to compute.
const QUICK: [&str; 6] = [
    "dinner plate",
    "window pane, 300x300x4 mm",
    "tile, 200x200x8 mm",
    "brick",
    "paving slab, 400x400x40 mm",
    "block of ice, 5 kg",
];

#[test]
fn everyday_drops_end_as_people_know_them() {
    let cases: Vec<_> = CASES.iter().filter(|c| QUICK.contains(&c.name)).collect();
    assert_eq!(cases.len(), QUICK.len());
    for case in cases {
        let mut thing = case.thing();
        let (low, high) = (thing.broken(case.survives), thing.broken(case.breaks));
        assert!(agrees(low, high), "{}: {low} {high}", case.name);
    }
}

#[test]
fn glass_shatters_and_granite_parts_in_few() {
    let median = |name: &str| {
        let mut thing = figure(&Material::by_name(name).unwrap());
        let settings = FractureSettings::default();
        let mut pieces: Vec<usize> = (0..ORIENTATIONS)
            .map(|i| thing.drop(up(i), 3.0, &settings).stats.pieces.max(1))
            .collect();
        pieces.sort_unstable();
        pieces[ORIENTATIONS / 2]
    };
    let [glass, ice, granite] = ["glass", "ice", "granite"].map(median);
    assert!(
        glass >= 15 && granite <= 6,
        "{glass} of glass, {granite} of granite"
    );
    assert!(
        granite <= ice && 2 * ice <= glass,
        "{glass} of glass, {ice} of ice"
    );
}
