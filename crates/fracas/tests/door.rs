//! The door, as a program outside uses it: nothing but `fracas` and `rapier3d`.

use std::error::Error;
use std::fs;

use fracas::bake::write::glb::{Glb, Material as Paint, Part, Place};
use fracas::prelude::*;
use rapier3d::prelude::*;

/// A floor of the game's own.
fn physics() -> PhysicsWorld {
    let mut physics = PhysicsWorld::default();
    let floor = ColliderBuilder::new(SharedShape::halfspace(Vector::Y)).friction(0.6);
    physics.insert_collider(floor, None);
    physics
}

fn thrown(brick: &Breakable) -> Breakable {
    let high = brick.clone().at(Pose::translation(0.0, 1.0, 0.0));
    high.moving(Vector::new(3.0, -14.0, 1.0))
}

#[test]
fn a_world_around_another_is_the_same_world() -> Result<(), Box<dyn Error>> {
    let brick = Breakable::open("brick", Material::BRICK)?;
    let mut new = World::new(WorldSettings::default());
    new.add_floor(0.0, 0.6);
    let mut engine = physics();
    engine.integration_parameters = WorldSettings::default().engine_parameters();
    let mut around = World::around(engine, WorldSettings::default());
    for world in [&mut new, &mut around] {
        world.add(thrown(&brick));
    }
    for step in 0..60 {
        new.step();
        // With an engine's step of one's own.
        around.step_with(&mut |physics| physics.step_with_events(&(), &()));
        assert_eq!(new.digest(), around.digest(), "step {step}");
    }
    assert!(new.pieces().count() > 1, "it breaks");
    Ok(())
}

#[test]
fn gravity_step_and_bodies_of_the_engine_stay() {
    let mut physics = physics();
    physics.gravity = Vector::new(0.0, -1.62, 0.0);
    physics.integration_parameters.dt = 1.0 / 120.0;
    let ball = RigidBodyBuilder::dynamic().translation(Vector::Y * 10.0);
    let (ball, _) = physics.insert(ball, ColliderBuilder::ball(0.1));
    let mut world = World::around(physics, WorldSettings::default());
    for _ in 0..120 {
        world.step();
    }
    let fallen = 10.0 - world.physics.bodies[ball].translation().y;
    assert!((fallen - 0.81).abs() < 0.02, "{fallen} m on the moon");
}

#[test]
fn a_model_is_dropped_and_saved_in_the_middle_of_its_break() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("slab.glb");
    write_box(&file, [0.3, 0.1, 0.2])?;
    let slab = Breakable::open(&file, Material::EARTHENWARE)?;
    let mut world = World::around(physics(), WorldSettings::default());
    world.add(thrown(&slab));
    let broke = |world: &mut World| {
        let events = world.take_events();
        events.iter().any(|e| matches!(e, Event::Broke { .. }))
    };
    assert!((0..60).any(|_| {
        world.step();
        broke(&mut world)
    }));
    let save = folder.path().join("game.save");
    fs::write(&save, world.snapshot()?)?;

    // Another day: the world knows what it may meet in a saved game.
    let mut loaded = World::around(physics(), WorldSettings::default());
    loaded.stock(&slab);
    loaded.restore(&fs::read(&save)?)?;
    assert_eq!(loaded.digest(), world.digest());
    for step in 0..30 {
        world.step();
        loaded.step();
        assert_eq!(loaded.digest(), world.digest(), "step {step}");
    }
    Ok(())
}

#[test]
fn a_model_is_shattered_into_a_file() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let (model, broken) = (folder.path().join("box.glb"), folder.path().join("out.glb"));
    write_box(&model, [0.2, 0.2, 0.2])?;
    let options = ShatterOptions {
        pieces: 6,
        ..ShatterOptions::default()
    };
    assert_eq!(
        shatter(&model, &broken, &options)?.as_slice(),
        std::slice::from_ref(&broken)
    );
    let pieces = fracas::bake::model::Model::read(&broken)?;
    assert!(pieces.parts().len() >= 6);
    let wrong = shatter(&model, folder.path().join("out.fbx"), &options);
    let wrong = wrong.unwrap_err().to_string();
    assert!(
        wrong.contains(".glb") && wrong.contains("out.fbx"),
        "{wrong}"
    );
    Ok(())
}

#[test]
fn what_is_not_there_is_named() {
    let error = Breakable::open("no-such-mug.glb", Material::GLASS).unwrap_err();
    let error = error.to_string();
    assert!(error.contains("no-such-mug.glb"), "{error}");
}

/// The guide names one crate: what a program outside the workspace has.
#[test]
fn the_guide_needs_nothing_but_the_door() {
    let guide = include_str!("../../../docs/guide.md");
    let mut blocks = 0;
    for block in guide.split("```rust").skip(1) {
        let code = block.split("```").next().unwrap_or_default();
        assert!(!code.contains("fracas_"), "{code}");
        blocks += 1;
    }
    assert!(blocks >= 6, "{blocks} blocks");
}

/// A closed box as a model file.
fn write_box(path: &std::path::Path, [x, y, z]: [f32; 3]) -> Result<(), Box<dyn Error>> {
    let corner = |i: u32| {
        let end = |bit: u32, size: f32| if i & bit == 0 { 0.0 } else { size };
        glam::Vec3::new(end(1, x), end(2, y), end(4, z))
    };
    let corners: Vec<_> = (0..8).map(corner).collect();
    let faces = [
        [0, 2, 3, 1],
        [4, 5, 7, 6],
        [0, 1, 5, 4],
        [2, 6, 7, 3],
        [0, 4, 6, 2],
        [1, 3, 7, 5],
    ];
    let triangles: Vec<[u32; 3]> = faces
        .iter()
        .flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]])
        .collect();
    let mut glb = Glb::new();
    let paint = glb.material(&Paint::new("clay", [0.7, 0.4, 0.3, 1.0]));
    let mesh = glb.mesh("box", &[Part::new(&corners, &triangles, paint)])?;
    glb.node("box", Some(mesh), Place::default())?;
    Ok(glb.save(path)?)
}
