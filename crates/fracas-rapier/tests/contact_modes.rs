//! One scene on every way of finding contacts, and what is measured of it.

mod common;

use common::{blueprint, fragile, shatter};
use fracas_rapier::{
    Breakable, ContactMode, ContactSettings, Event, ParryShape, World, WorldSettings,
};
use glam::Vec3;
use parry3d::math::Pose;

fn settings(mode: ContactMode) -> WorldSettings {
    let base = WorldSettings::measured();
    WorldSettings {
        contacts: ContactSettings {
            mode,
            ..base.contacts
        },
        ..base
    }
}

#[test]
fn a_block_breaks_and_rests_whichever_way_contacts_are_found() {
    for mode in [
        ContactMode::default(),
        ContactMode::Full,
        ContactMode::Fixed(8),
        ContactMode::Parry(ParryShape::TriMesh),
        ContactMode::Parry(ParryShape::Hull),
        ContactMode::Parry(ParryShape::Decomposed),
    ] {
        let mut world = World::new(settings(mode)).with_dt(1.0 / 120.0);
        world.add_floor(0.0, 0.6);
        let block = blueprint([4, 3, 3], Vec3::new(0.3, 0.2, 0.2));
        let options = Breakable::new(block).with_breaker(fragile(6));
        world.add(options.at(Pose::translation(0.0, 0.5, 0.0)));
        let mass = world.body(world.pieces().next().unwrap()).unwrap().mass();
        let (mut updated, mut broken, mut contacts, mut pairs) = (0.0, 0, 0, 0);
        for _ in 0..120 {
            world.step();
            let stats = world.stats();
            updated += stats.times.update;
            broken += stats.broken;
            contacts += stats.solver_contacts;
            pairs += stats.pairs;
        }
        let pieces: Vec<_> = world.pieces().collect();
        assert!(broken >= 1 && pieces.len() > 2, "{mode:?}: {pieces:?}");
        assert!(updated > 0.0, "{mode:?} tells what its shapes cost");
        assert!(contacts > 0 && pairs > 0, "{mode:?}: {contacts} {pairs}");
        // The pieces weigh what the block weighed, whatever shapes stand for them.
        let after: f32 = pieces.iter().map(|&p| world.body(p).unwrap().mass()).sum();
        assert!(
            (after - mass).abs() < 1e-4 * mass,
            "{mode:?}: {mass} {after}"
        );
        // A triangle mesh has no inside: it may well lose pieces. Others must not.
        if mode != ContactMode::Parry(ParryShape::TriMesh) {
            assert_eq!(world.bodies_lost(), 0, "{mode:?}");
        }
        for piece in pieces {
            let collider = world.collider(piece).unwrap();
            assert_eq!(world.piece_of(collider), Some(piece));
        }
    }
}

#[test]
fn overlap_is_measured_with_every_point_and_true_distances() {
    let mut world = World::new(WorldSettings {
        gravity: Vec3::ZERO,
        count_colliding: true,
        ..WorldSettings::measured()
    })
    .with_dt(1e-6);
    let cube = blueprint([4, 4, 4], Vec3::splat(0.2));
    for x in [0.0, 0.197] {
        let cube = Breakable::new(cube.clone());
        world.add(cube.at(Pose::translation(x, 0.0, 0.0)));
    }
    world.add_floor(-0.099, 0.5);
    world.step();
    let overlaps = world.overlaps();
    assert_eq!(overlaps.len(), 3, "{overlaps:?}");
    let depth = |other: bool| {
        let with = overlaps.iter().filter(|o| o.other.is_some() == other);
        with.map(|o| o.depth).fold(0.0, f32::max)
    };
    assert!((depth(true) - 0.003).abs() < 1e-4, "{overlaps:?}");
    assert!((depth(false) - 0.001).abs() < 1e-4, "{overlaps:?}");
    assert!((world.deepest_overlap() - 0.003).abs() < 1e-4);
    // The 9 inner nodes of both faces against each other (the others touch the rim
    // from outside), and 25 of each cube in the floor.
    assert!(world.colliding_points() >= 18 + 50);
    assert_eq!(
        world.stats().colliding_points,
        Some(world.colliding_points())
    );
}

#[test]
fn what_falls_out_of_the_world_is_taken_away_and_counted() {
    let mut world = World::new(WorldSettings {
        lost_below: Some(-0.5),
        ..WorldSettings::measured()
    });
    let cube = blueprint([2, 2, 2], Vec3::splat(0.1));
    let object = world.add(Breakable::new(cube));
    let piece = world.pieces().next().unwrap();
    assert_eq!(piece.object, object);
    let children = shatter(&mut world, piece, 2);
    world.take_events();
    for _ in 0..60 {
        world.step();
    }
    let lost = world.take_events();
    assert_eq!(
        lost,
        children.iter().map(|&c| Event::Lost(c)).collect::<Vec<_>>()
    );
    assert_eq!(
        (world.bodies_lost(), world.pieces().count()),
        (children.len(), 0)
    );
    assert_eq!(world.physics.bodies.len(), 0);
}
