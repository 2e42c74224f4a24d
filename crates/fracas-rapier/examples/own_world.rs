//! A Rapier world of your own, in which things break: the lines that fracas adds are
//! numbered.
//!
//! `cargo run --release -p fracas-rapier --example own_world`

use std::sync::Arc;

use fracas::FieldOptions;
use fracas::sphere_tree::BuildOptions;
use fracas::testing::box_grid;
use fracas_fracture::{Breaker, Material, Strength};
use fracas_rapier::breakables::{Event, ObjectOptions};
use fracas_rapier::{Blueprint, Breakables, Engine};
use glam::Vec3;
use parry3d::math::Pose;
use rapier3d::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut world = PhysicsWorld::default();
    let floor = SharedShape::halfspace(Vec3::Y);
    world.insert_collider(ColliderBuilder::new(floor), None);

    // 1. The narrow phase asks fracas about pairs with a fragment.
    world.narrow_phase = NarrowPhase::with_query_dispatcher(fracas_rapier::dispatcher());
    // 2. Tetrahedra (from `fracas bake`, or any others) become a breakable body.
    let tets = Arc::new(box_grid([8, 4, 3], Vec3::new(0.6, 0.3, 0.2)));
    let block = Blueprint::build(tets, &FieldOptions::default(), &BuildOptions::default())?;
    let breaker = Breaker::new(Material::BRICK, None).with_strength(Strength {
        speed: 2.0,
        most_pieces: 8,
    });
    let options = ObjectOptions::new(Arc::new(block))
        .breakable(breaker)
        .at(Pose::translation(0.0, 1.0, 0.0));
    let mut breakables = Breakables::default();
    breakables.add(options, &mut world.bodies, &mut world.colliders);

    for step in 0..120 {
        world.step();
        // 3. After each step: what was hit hard enough becomes its fragments.
        let dt = world.integration_parameters.dt;
        breakables.after_step(dt, &mut Engine::from(&mut world));

        for event in breakables.take_events() {
            if let Event::Broke { children, .. } = event {
                println!("step {step}: broke into {} pieces", children.len());
            }
        }
    }
    for piece in breakables.pieces() {
        let body = &world.bodies[breakables.body(piece).expect("it lives")];
        println!(
            "piece {}: {:.3} kg, centre {:.3} m high",
            piece.fragment.0,
            body.mass(),
            body.center_of_mass().y
        );
    }
    Ok(())
}
