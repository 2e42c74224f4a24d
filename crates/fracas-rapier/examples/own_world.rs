//! A Rapier world of your own, with a breakable body in it: the three lines that
//! fracas adds are numbered.
//!
//! `cargo run --release -p fracas-rapier --example own_world`

use std::sync::Arc;

use fracas::FieldOptions;
use fracas::sphere_tree::BuildOptions;
use fracas::testing::box_grid;
use fracas_rapier::Blueprint;
use glam::Vec3;
use rapier3d::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut world = PhysicsWorld::default();
    let floor = SharedShape::halfspace(Vec3::Y);
    world.insert_collider(ColliderBuilder::new(floor), None);

    // 1. The narrow phase asks fracas about pairs with a fragment.
    world.narrow_phase = NarrowPhase::with_query_dispatcher(fracas_rapier::dispatcher());
    // 2. Tetrahedra (from `fracas bake`, or any others) become a body's shape.
    let tets = Arc::new(box_grid([6, 3, 2], Vec3::new(0.6, 0.3, 0.2)));
    let (_object, shape) =
        Blueprint::build(tets, &FieldOptions::default(), &BuildOptions::default())?.object();
    // 3. A collider like any other.
    let collider = ColliderBuilder::new(SharedShape::new(shape)).density(1800.0);

    let body = RigidBodyBuilder::dynamic().translation(Vec3::new(0.0, 1.0, 0.0));
    let (handle, _) = world.insert(body, collider);
    for step in 0..120 {
        world.step();
        if step % 20 == 19 {
            println!(
                "{:.2} s: {:.3} m high",
                step as f32 / 60.0,
                world.bodies[handle].translation().y
            );
        }
    }
    Ok(())
}
