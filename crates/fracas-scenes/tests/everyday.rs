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
fn glass_shatters_granite_parts_in_fewer_and_higher_falls_make_more_pieces() {
    let pieces = |name: &str| {
        let mut thing = figure(&Material::by_name(name).unwrap());
        let settings = FractureSettings::default();
        [0.3, 1.0, 3.0, 10.0].map(|height| {
            let falls = (0..ORIENTATIONS).map(|i| thing.drop(up(i), height, &settings));
            falls.map(|fall| fall.stats.pieces.max(1)).sum::<usize>()
        })
    };
    let all @ [glass, ice, granite] = ["glass", "ice", "granite"].map(pieces);
    for by_height in all {
        assert!(by_height.is_sorted(), "{all:?}");
    }
    assert!(
        2 * granite[2] <= glass[2] && granite[2] <= ice[2],
        "{all:?}"
    );
}
