//! Bodies that go, by numbers that are none or on demand: with an event, and the world goes
//! on without a trace of them.

mod common;

use common::{brick, shatter};
use fracas_rapier::{Breakable, Event, World, WorldSettings};
use glam::Vec3;
use parry3d::math::Pose;

fn world() -> World {
    let mut world = World::new(WorldSettings::default());
    world.add_floor(0.0, 0.6);
    let brick = brick();
    for i in 0..3 {
        let pose = Pose::translation(0.0, 0.033 + 0.066 * i as f32, 0.0);
        world.add(Breakable::new(brick.clone()).at(pose));
    }
    for _ in 0..5 {
        world.step();
    }
    world.take_events();
    world
}

#[test]
fn a_push_beyond_all_measure_takes_away_one_body() {
    for impulse in [1e30, -1e25, f32::INFINITY, f32::NEG_INFINITY, f32::NAN] {
        // The middle one, which touches both others.
        let mut world = world();
        let middle = world.pieces().nth(1).unwrap();
        let body = world.body_mut(middle).unwrap();
        body.apply_impulse(Vec3::new(0.0, impulse, 0.0), true);
        let mut lost = Vec::new();
        for _ in 0..60 {
            world.step();
            for event in world.take_events() {
                if let Event::Lost(piece) = event {
                    lost.push(piece);
                }
            }
        }
        assert_eq!(lost, [middle], "{impulse}");
        assert_eq!((world.bodies_lost(), world.pieces().count()), (1, 2));
        for piece in world.pieces() {
            let body = world.body(piece).unwrap();
            assert!(body.position().translation.is_finite(), "{impulse}");
            assert!(body.linvel().length() < 2.0, "{impulse}: {}", body.linvel());
            assert!(body.position().translation.y > 0.02, "{impulse}");
        }
    }
}

#[test]
fn a_place_that_is_none_takes_away_one_body() {
    for place in [Vec3::splat(f32::NAN), Vec3::splat(1e20), Vec3::INFINITY] {
        let mut world = world();
        let top = world.pieces().nth(2).unwrap();
        world.body_mut(top).unwrap().set_translation(place, true);
        for _ in 0..30 {
            world.step();
        }
        assert_eq!(world.bodies_lost(), 1, "{place}");
        assert!(world.pieces().all(|p| p != top));
        assert!(world.digest() != 0 && world.pieces().count() == 2);
    }
}

#[test]
fn a_piece_is_removed_on_demand() {
    let mut world = world();
    let top = world.pieces().nth(2).unwrap();
    assert!(world.remove_piece(top));
    assert!(!world.remove_piece(top));
    assert_eq!(world.take_events(), [Event::Removed(top)]);
    world.step();
    assert_eq!((world.pieces().count(), world.bodies_lost()), (2, 0));
}

/// A snapshot holds what there is to be held: as long as a piece is there, the cracks that
/// made it.
#[test]
fn nothing_is_kept_of_an_object_whose_pieces_are_gone() {
    let mut world = world();
    let top = world.pieces().nth(2).unwrap();
    let pieces = shatter(&mut world, top, 8);
    assert!(pieces.len() >= 6, "{} pieces", pieces.len());
    let broken = world.snapshot().unwrap().len();
    let (last, others) = pieces.split_last().unwrap();
    for &piece in others {
        assert!(world.remove_piece(piece));
    }
    world.step();
    let one_left = world.snapshot().unwrap().len();
    assert!(world.remove_piece(*last));
    world.step();
    let bytes = world.snapshot().unwrap();
    let mut never_broken = self::world();
    never_broken.remove_piece(top);
    never_broken.step();
    let least = never_broken.snapshot().unwrap().len();
    // The cracks are most of the difference; places of bodies in the engine's lists stay.
    println!(
        "{broken} bytes broken, {one_left} with one piece, {} gone",
        bytes.len()
    );
    assert!(bytes.len() - least < (broken - least) / 10, "{least}");
    assert!(one_left - bytes.len() > 1000);
    let mut again = self::world();
    again.restore(&bytes).unwrap();
    for _ in 0..20 {
        world.step();
        again.step();
    }
    assert_eq!(again.digest(), world.digest());
}
