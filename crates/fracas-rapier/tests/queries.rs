//! Rays and points find pieces at once.

mod common;

use common::{brick, shatter};
use fracas_rapier::{Breakable, PieceId, World, WorldSettings};
use glam::Vec3;
use parry3d::math::Pose;
use rapier3d::prelude::{ColliderBuilder, RigidBodyBuilder};

fn world_with_brick() -> (World, PieceId) {
    let mut world = World::new(WorldSettings {
        gravity: Vec3::ZERO,
        ..WorldSettings::default()
    });
    let object = world.add(Breakable::new(brick()).at(Pose::translation(1.0, 0.0, 0.0)));
    let piece = world.first_piece(object).unwrap();
    (world, piece)
}

#[test]
fn new_piece_is_found_before_the_first_step() {
    let (mut world, piece) = world_with_brick();
    for round in 0..3 {
        let hit = world.cast_ray(Vec3::new(0.0, 0.01, 0.02), Vec3::X * 7.0, 5.0);
        let hit = hit.unwrap();
        assert_eq!(
            (hit.piece, Some(hit.collider)),
            (Some(piece), world.collider(piece))
        );
        assert!(
            (hit.distance - (1.0 - 0.1075)).abs() < 1e-4,
            "{round}: {hit:?}"
        );
        assert!(hit.normal.distance(Vec3::NEG_X) < 1e-3);
        assert!(hit.point.distance(Vec3::new(0.8925, 0.01, 0.02)) < 1e-4);
        assert_eq!(world.piece_at(Vec3::new(1.1, 0.0, 0.0)), Some(piece));
        assert_eq!(world.piece_at(Vec3::new(1.2, 0.0, 0.0)), None);
        assert_eq!(world.cast_ray(Vec3::ZERO, Vec3::X, 0.5), None);
        assert_eq!(world.cast_ray(Vec3::ZERO, Vec3::ZERO, 5.0), None);
        assert_eq!(world.cast_ray(Vec3::ZERO, Vec3::NEG_X, 5.0), None);
        world.step();
    }
    let inside = world.cast_ray(Vec3::X, Vec3::X, 5.0).unwrap();
    assert_eq!((inside.distance, inside.normal), (0.0, Vec3::ZERO));
    let body = world.body_handle(piece).unwrap();
    assert!(world.physics.bodies.contains(body));
}

#[test]
fn fragments_are_found_right_after_the_break() {
    let (mut world, piece) = world_with_brick();
    for _ in 0..3 {
        world.step();
    }
    let children = shatter(&mut world, piece, 6);
    for &child in &children {
        let middle = world.body(child).unwrap().center_of_mass();
        let found = world.piece_at(middle);
        assert!(found.is_none_or(|p| children.contains(&p)), "{found:?}");
        let hit = world.cast_ray(middle - Vec3::Y, Vec3::Y, 2.0).unwrap();
        assert!(children.contains(&hit.piece.unwrap()));
    }
    let found = children.iter().filter(|&&child| {
        let body = world.body(child).unwrap();
        world.piece_at(body.center_of_mass()) == Some(child)
    });
    assert!(found.count() > 3);
    // Also in a world that was saved right now.
    let ray = |world: &World| world.cast_ray(Vec3::new(0.0, 0.01, 0.02), Vec3::X, 5.0);
    let mut restored = World::new(WorldSettings::default());
    restored.stock(&Breakable::new(brick()));
    restored.restore(&world.snapshot().unwrap()).unwrap();
    assert!(ray(&world).is_some());
    assert_eq!(ray(&restored), ray(&world));
    assert_eq!(world.body_handle(piece), None);
    assert_eq!(world.first_piece(piece.object), Some(children[0]));
    for child in children {
        world.remove_piece(child);
    }
    assert_eq!(world.cast_ray(Vec3::ZERO, Vec3::X, 5.0), None);
    assert_eq!(world.first_piece(piece.object), None);
}

#[test]
fn what_stands_before_a_new_piece_is_hit_first() {
    let (mut world, old) = world_with_brick();
    let crate_ = ColliderBuilder::cuboid(0.1, 0.1, 0.1);
    let body = RigidBodyBuilder::fixed().translation(Vec3::X * 0.5);
    let (_, front) = world.physics.insert(body, crate_);
    world.step();
    let object = world.add(Breakable::new(brick()).at(Pose::translation(0.75, 0.0, 0.0)));
    let new = world.first_piece(object).unwrap();
    let hit = world.cast_ray(Vec3::ZERO, Vec3::X, 5.0).unwrap();
    assert_eq!((hit.collider, hit.piece), (front, None));
    let behind = world.cast_ray(Vec3::new(0.61, 0.0, 0.0), Vec3::X, 5.0);
    assert_eq!(behind.unwrap().piece, Some(new));
    let back = world.cast_ray(Vec3::X * 3.0, Vec3::NEG_X, 5.0);
    assert_eq!(back.unwrap().piece, Some(old));
    world.physics.colliders[front].set_sensor(true);
    let hit = world.cast_ray(Vec3::ZERO, Vec3::X, 5.0).unwrap();
    assert_eq!(hit.piece, Some(new));
}
