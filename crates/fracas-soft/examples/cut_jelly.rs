//! Two blocks of jelly fall on each other and are cut by a blade.
//!
//! `cargo run --release -p fracas-soft --example cut_jelly`

use std::error::Error;

use fracas_soft::{Knife, Material, SoftBody, SoftWorld, shapes};
use glam::{Mat3, Vec3};

/// The highest point of a body.
fn top(body: &SoftBody) -> f32 {
    let heights = body.positions().iter().map(|p| p.y);
    heights.fold(0.0, f32::max)
}

fn main() -> Result<(), Box<dyn Error>> {
    let block = shapes::cuboid([5, 3, 5], Vec3::new(0.2, 0.1, 0.2))?;
    let mut world = SoftWorld::new();
    world.floor = Some(0.0);
    for (height, turn) in [(0.06, 0.0), (0.165, 0.1)] {
        let body = SoftBody::build(&block, Material::default())?;
        world.add(body.placed(Mat3::from_rotation_y(turn), Vec3::Y * height));
    }

    for frame in 0..60 {
        world.step(1.0 / 60.0);
        if frame % 20 == 19 {
            let (high, touching) = (top(&world.bodies()[1]), world.stats().colliding_tets);
            println!("the upper one reaches {high:.3} m, {touching} tetrahedra touch");
        }
    }

    // A blade goes down through both: the cut follows its way, not the tetrahedra.
    for i in 0..world.bodies().len() {
        let knife = Knife::Swept {
            blade: [Vec3::new(0.01, 0.5, -1.0), Vec3::new(0.01, 0.5, 1.0)],
            motion: Vec3::NEG_Y,
        };
        let body = world.body_mut(i).expect("it was added");
        let before = body.rest_volume();
        let cut = body.cut(&knife);
        let lost = (body.rest_volume() - before).abs() / before;
        println!(
            "{i}: {} faces opened, volume changed by {lost:.1e}",
            cut.opened_faces
        );
    }
    for _ in 0..60 {
        world.step(1.0 / 60.0);
    }
    let high = top(&world.bodies()[1]);
    println!("a second later the upper one reaches {high:.3} m");
    Ok(())
}
