//! What takes minutes: every scene at its full size over ten seeds, and a wall that is
//! hit for ten thousand steps. Run by name, in release:
//! `cargo test --release -p fracas-scenes --test long -- --ignored --nocapture`.

use fracas_scenes::measure;
use fracas_scenes::recording::{RecordOptions, Recording};
use fracas_scenes::rigid::{self, SCENES, Scene, SceneOptions, wall};

fn assert_nothing_lost(scene: &Scene, what: &str) {
    let lost = measure::lost(scene.world(), scene.floor_height());
    assert_eq!(lost.total(), 0, "{what}: {lost:?}");
    assert_eq!(scene.world().bodies_lost(), 0, "{what}");
}

#[test]
#[ignore = "ten minutes"]
fn ten_seeds_of_every_scene_lose_nothing() {
    // The wall of a thousand bricks has its own test below.
    for info in SCENES.iter().filter(|s| s.name != "wall") {
        let (mut pieces, mut growth, mut deepest) = (Vec::new(), 0.0_f64, 0.0_f32);
        for seed in 0..10 {
            let options = SceneOptions {
                seed,
                ..SceneOptions::default()
            };
            let mut scene = rigid::by_name(info.name, &options, &mut |_| ()).unwrap();
            let steps = scene.steps();
            let recording =
                Recording::record(&mut scene, steps, RecordOptions::NUMBERS, &mut |_| ());
            assert_nothing_lost(&scene, &format!("{}, seed {seed}", info.name));
            pieces.push(recording.steps.last().map_or(0, |s| s.fragments));
            growth = growth.max(recording.energy_growth_of_input());
            deepest = deepest.max(scene.world().deepest_overlap());
        }
        println!(
            "{}: fragments {pieces:?}, energy grew by {:.2}% at most, {:.1} mm deep at the end",
            info.name,
            growth * 1e2,
            deepest * 1e3
        );
    }
}

#[test]
#[ignore = "minutes"]
fn ten_thousand_steps_of_a_wall_are_steady() {
    let options = SceneOptions::default();
    let mut scene = wall::build_sized([12, 8], &options, &mut |_| ()).unwrap();
    let recording = Recording::record(&mut scene, 10_000, RecordOptions::NUMBERS, &mut |_| ());
    let lost = measure::lost(scene.world(), scene.floor_height());
    assert_eq!(lost.not_a_number, 0);
    assert!(recording.breaks.len() > 20, "{:?}", recording.breaks);
    // Work and pieces, thousand by thousand: they rise while the wall falls, and then
    // no longer.
    let mut rows = Vec::new();
    for thousand in recording.steps.chunks(1000) {
        let mean =
            |of: &dyn Fn(&_) -> f64| thousand.iter().map(of).sum::<f64>() / thousand.len() as f64;
        let fragments = thousand.iter().map(|s| s.fragments).max().unwrap_or(0);
        let points = mean(&|s: &fracas_rapier::StepStats| s.visited_points as f64);
        let ms = mean(&|s: &fracas_rapier::StepStats| s.times.total);
        println!("most fragments {fragments}, points visited {points:.0}, {ms:.2} ms a step");
        rows.push((fragments, points));
    }
    let early = rows[1..4].iter().map(|r| r.1).fold(0.0, f64::max);
    for (fragments, points) in &rows[4..] {
        assert!(
            *points <= 1.5 * early,
            "{points} points visited, {early} before"
        );
        assert!(*fragments <= rows[3].0 * 3 / 2, "{fragments} fragments");
    }
}
