//! How long a contact sheet takes: nine pictures of 40,000 triangles.
//!
//! `cargo run --release -p fracas-picture --example contact_sheet [FILE.png]`

use std::f32::consts::TAU;
use std::time::Instant;

use fracas_picture::{Camera, Colour, Mesh, Quality, Scene, Sheet};
use glam::{Mat3, Vec3};

/// A knobbly ring of `2 * rings * sides` triangles.
fn ring(rings: u32, sides: u32) -> Mesh {
    let mut positions = Vec::new();
    let mut triangles = Vec::new();
    for i in 0..rings {
        let u = i as f32 / rings as f32 * TAU;
        for j in 0..sides {
            let v = j as f32 / sides as f32 * TAU;
            let minor = 0.33 + 0.05 * (7.0 * u).sin() * (3.0 * v).cos();
            let r = 1.0 + minor * v.cos();
            positions.push(Vec3::new(r * u.cos(), minor * v.sin(), r * u.sin()));
            let at = |i: u32, j: u32| (i % rings) * sides + j % sides;
            let quad = [at(i, j), at(i, j + 1), at(i + 1, j + 1), at(i + 1, j)];
            triangles.push([quad[0], quad[1], quad[2]]);
            triangles.push([quad[0], quad[2], quad[3]]);
        }
    }
    Mesh::new(positions, triangles)
}

/// Twenty rings of 2,000 triangles in a heap that comes apart.
fn moment(time: f32) -> Scene {
    let mut scene = Scene::new();
    for i in 0..20_u8 {
        let t = f32::from(i);
        let turn = Mat3::from_rotation_y(t * 2.4) * Mat3::from_rotation_x(t + time);
        let out = (0.4 + time) * (t / 6.0).sqrt();
        let at = Vec3::new(out * (t * 2.4).cos(), 0.5 + 0.1 * t, out * (t * 2.4).sin());
        scene.add(
            ring(50, 20)
                .smooth(35.0)
                .gloss(0.3)
                .colour(Colour::from_srgb(230 - 9 * i, 120 + 4 * i, 90 + 5 * i))
                .moved(turn * Mat3::from_diagonal(Vec3::splat(0.4)), at),
        );
    }
    scene.ground_under_all();
    scene
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1);
    let start = Instant::now();
    let mut sheet = Sheet::new(3).title("nine pictures of 40,000 triangles");
    for i in 0..9_u8 {
        let time = f32::from(i) / 8.0;
        let picture = moment(time);
        let camera = Camera::framing_all(Vec3::new(0.6, 0.42, 1.0));
        sheet.add(
            picture.render(&camera, 420, 340, Quality::Fine),
            format!("{time:.2} s"),
        );
    }
    let sheet = sheet.image();
    println!("{:.2} s", start.elapsed().as_secs_f32());
    if let Some(path) = path {
        sheet.save(&path)?;
        println!("wrote {path}");
    }
    Ok(())
}
