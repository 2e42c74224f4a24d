//! A Rapier world of your own, in which things break: the lines that fracas adds are
//! numbered.
//!
//! `cargo run --release -p fracas --example own_world [MESH]`

use fracas::prelude::*;
use rapier3d::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let input = std::env::args().nth(1).unwrap_or("brick".into());
    let mut physics = PhysicsWorld::default();
    physics.insert_collider(
        ColliderBuilder::new(SharedShape::halfspace(Vector::Y)),
        None,
    );

    // 1. The world goes round the engine's: `world.physics` is what `physics` was.
    let mut world = World::around(physics, WorldSettings::default());
    // 2. A mesh file, an asset of `fracas bake`, or a shape's name becomes a body.
    let brick = Breakable::open(&input, Material::BRICK)?;
    let thrown = brick.at(Pose::translation(0.0, 1.0, 0.0));
    world.add(thrown.moving(Vector::new(3.0, -12.0, 0.0)));

    for step in 0..120 {
        // 3. Instead of `physics.step()`.
        world.step();

        for event in world.take_events() {
            if let Event::Broke { children, .. } = event {
                println!("step {step}: broke into {} pieces", children.len());
            }
        }
    }
    for piece in world.pieces() {
        let body = world.body(piece).expect("it is there");
        let height = body.center_of_mass().y;
        let id = piece.fragment.0;
        println!(
            "piece {id}: {:.3} kg, centre {height:.3} m high",
            body.mass()
        );
    }
    Ok(())
}
