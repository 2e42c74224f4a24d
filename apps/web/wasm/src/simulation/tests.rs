use super::*;

fn played(name: &str) -> Simulation {
    let options = SceneOptions {
        measured: false,
        detail: 0.6,
        ..SceneOptions::default()
    };
    Simulation::new(Stage::scene(name, &options, &mut |_| ()).unwrap())
}

#[test]
fn the_landing_scene_waits_and_a_broken_pig_comes_to_rest() {
    let mut waiting = played("your-plates");
    for _ in 0..150 {
        assert_eq!(waiting.step(), 0, "something broke by itself");
    }
    assert!(waiting.is_at_rest());
    let mut pig = played("piggy-bank");
    let mut broke = 0;
    let rest = (0..1200).find(|_| {
        broke += pig.step();
        pig.is_at_rest()
    });
    assert!(broke > 0 && rest.is_some(), "{broke} breaks, rest {rest:?}");
    let digest = pig.digest();
    pig.step();
    assert_eq!(pig.digest(), digest, "a step at rest changes something");
}

/// Hits plates of the landing scene here and there, and pieces of them again.
fn break_plates(seed: u64) -> Simulation {
    let mut plates = played("your-plates");
    plates.tune("", 1.0, true).ok();
    let mut rng = fracas_core::testing::Rng(seed);
    for _ in 0..5 {
        for _ in 0..40 {
            plates.step();
        }
        let all: Vec<PieceId> = plates.world().pieces().collect();
        let piece = all[rng.below(all.len())];
        let pose = plates.world().pose(piece).unwrap();
        let middle = plates.world().body(piece).unwrap().center_of_mass();
        let at = pose.inverse_transform_point(middle).to_array();
        let from = Vec3::new(rng.range(-0.5, 0.5), 1.0, rng.range(-0.2, 0.8));
        let normal = pose.rotation.inverse() * from;
        let at = [at, normal.to_array()].concat();
        plates.hit(piece.object.0, piece.fragment.0, &at, 12.0, 0.026);
    }
    plates
}

#[test]
fn whatever_is_broken_of_the_landing_scene_comes_to_rest() {
    for seed in 0..6 {
        let mut plates = break_plates(seed);
        let rest = (0..600).find(|_| {
            plates.step();
            plates.is_at_rest()
        });
        let pieces = plates.world().pieces().count();
        assert!(rest.is_some(), "{pieces} pieces, seed {seed}");
    }
}

#[test]
fn what_is_taken_home_has_a_node_for_every_piece() {
    let mut pig = played("piggy-bank");
    while pig.step() == 0 {}
    let pieces = pig.world().pieces().count();
    assert!(pieces > 2);
    let bytes = take_home::glb(&pig.stage).unwrap();
    let length = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
    let json: serde_json::Value = serde_json::from_slice(&bytes[20..20 + length]).unwrap();
    let nodes = json["nodes"].as_array().unwrap();
    assert_eq!(nodes.len(), pieces);
    let mass = |piece| f64::from(pig.world().body(piece).unwrap().mass());
    let all: f64 = pig.world().pieces().map(mass).sum();
    let told = nodes.iter().map(|n| n["extras"]["mass"].as_f64().unwrap());
    assert!((told.sum::<f64>() / all - 1.0).abs() < 1e-4);
    assert!(nodes[0]["name"] == "fragment-000" && nodes[0]["extras"]["volume"].is_number());
    // A node stands at its centre of mass.
    assert_eq!(
        nodes[1]["translation"][1].as_f64().unwrap() as f32,
        nodes[1]["extras"]["centreOfMass"][1].as_f64().unwrap() as f32
    );
}

#[test]
fn undo_lets_go_and_goes_on_as_if_nothing_had_happened() {
    let mut undone = played("your-plates");
    // A hand takes hold before a state is saved, and lets go after it.
    let hand = undone.grab(1, 0, 0.0, 0.0, 0.0).unwrap();
    for _ in 0..=SAVE_EVERY {
        undone.step();
    }
    undone.release(hand);
    undone.hit(3, 0, &[0.0, 0.0, 0.0, 0.0, 1.0, 0.0], 12.0, 0.03);
    assert!(
        (0..10).any(|_| undone.step() > 0),
        "the plate did not break"
    );
    assert!(undone.undo());
    assert_eq!(undone.steps(), SAVE_EVERY as f64);
    let mut again = played("your-plates");
    let hand = again.grab(1, 0, 0.0, 0.0, 0.0).unwrap();
    for _ in 0..SAVE_EVERY {
        again.step();
    }
    again.release(hand);
    again.tune("", 1.0, false).ok();
    for _ in 0..60 {
        undone.step();
        again.step();
        assert_eq!(undone.digest(), again.digest());
    }
}

#[test]
fn what_was_broken_by_hand_is_undone_and_done_again_with_the_same_bits() {
    let mut plates = played("your-plates");
    for _ in 0..=SAVE_EVERY {
        plates.step();
    }
    let whole = plates.world().pieces().count();
    let break_and_cut = |plates: &mut Simulation| {
        let made = plates.shatter(1, 0, "cells", 7, 5, &[0.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
        assert!((2..=7).contains(&made), "{made}");
        // From the front, slanting across all plates.
        assert!(plates.cut(&[0.0, 0.5, 3.0, -1.0, -0.3, -2.0, 1.0, 0.1, -2.0]) > 0);
        for _ in 0..20 {
            plates.step();
        }
        plates.digest()
    };
    let first = break_and_cut(&mut plates);
    assert!(plates.world().pieces().count() > whole + 6);
    assert!(plates.undo());
    assert_eq!(plates.steps(), SAVE_EVERY as f64);
    assert_eq!(plates.world().pieces().count(), whole);
    plates.step();
    assert_eq!(break_and_cut(&mut plates), first);
    // What makes no sense breaks nothing.
    assert_eq!(
        plates.shatter(1, 0, "cells", 7, 5, &[0.0; 6]),
        0,
        "it is gone"
    );
    assert_eq!(plates.shatter(2, 0, "shreds", 7, 5, &[0.0; 6]), 0);
    assert_eq!(plates.shatter(2, 0, "cells", 7, 5, &[0.0; 3]), 0);
    assert_eq!(plates.cut(&[f32::NAN; 9]), 0);
}

#[test]
fn what_a_hand_holds_hangs_at_the_place() {
    let mut plates = played("your-plates");
    let piece = plates.world().pieces().find(|p| p.object.0 == 1).unwrap();
    let from = plates.world().body(piece).unwrap().center_of_mass();
    let at = plates
        .world()
        .pose(piece)
        .unwrap()
        .inverse_transform_point(from);
    let hand = plates.grab(1, 0, at.x, at.y, at.z).unwrap();
    for i in 0..120 {
        let up = 0.3 * (i as f32 / 40.0).min(1.0);
        plates.move_hand(hand, from.x, from.y + up, from.z);
        plates.step();
    }
    let now = plates.world().pose(piece).unwrap() * at;
    assert!(
        (now.y - from.y - 0.3).abs() < 0.002,
        "it hangs at {now}, {from}"
    );
}
