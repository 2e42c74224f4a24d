//! A model file falls into a Rapier world, breaks, is saved in the middle of that, and goes on
//! from the file as if nothing had been.
//!
//! `cargo run --release -p fracas --example drop_and_save [MODEL.glb]`

use std::error::Error;
use std::fs;

use fracas::prelude::*;
use rapier3d::prelude::*;

/// A world of the game's own, with a floor.
fn physics() -> PhysicsWorld {
    let mut physics = PhysicsWorld::default();
    let floor = ColliderBuilder::new(SharedShape::halfspace(Vector::Y));
    physics.insert_collider(floor, None);
    physics
}

fn main() -> Result<(), Box<dyn Error>> {
    let model = std::env::args().nth(1).unwrap_or("plate".into());
    let plate = Breakable::open(&model, Material::PORCELAIN)?;
    let mut world = World::around(physics(), WorldSettings::default());
    let high = plate.clone().at(Pose::translation(0.0, 1.0, 0.0));
    world.add(high.moving(Vector::new(0.0, -8.0, 0.0)));
    while world.pieces().count() < 2 {
        world.step();
    }
    println!("{model} is in {} pieces", world.pieces().count());

    let save = std::env::temp_dir().join("fracas_drop_and_save");
    fs::write(&save, world.snapshot()?)?;

    // Another day: a world that knows the kinds of things it may meet in the file.
    let mut loaded = World::around(physics(), WorldSettings::default());
    loaded.stock(&plate);
    loaded.restore(&fs::read(&save)?)?;
    fs::remove_file(&save)?;
    for _ in 0..60 {
        world.step();
        loaded.step();
    }
    assert_eq!(loaded.digest(), world.digest());
    println!(
        "one second later both have {} pieces",
        loaded.pieces().count()
    );
    Ok(())
}
