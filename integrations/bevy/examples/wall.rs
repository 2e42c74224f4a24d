//! A wall of bricks to throw balls at.
//!
//! `cargo run --example wall --features window`; in a browser: `cargo xtask bevy-web`.
//!
//! The left mouse button throws, the right one looks, WASD walks, G shows contacts.

mod common;

use bevy::prelude::*;
use bevy_fracas::prelude::*;
use bevy_rapier3d::prelude::*;

/// Of a standard brick, in metres: length, height, depth.
const BRICK: Vec3 = Vec3::new(0.215, 0.065, 0.1025);
/// Bricks in a course, and courses.
const LENGTH: usize = 8;
const COURSES: usize = 8;
/// Beside each other, and above each other: next to nothing, so that they do not fall.
const GAP: f32 = 0.001;
const RISE: f32 = 0.0001;
/// Tetrahedra in a brick.
const TETS: usize = 650;

fn main() -> AppExit {
    let mut app = App::new();
    app.add_plugins(DefaultPlugins.set(WindowPlugin {
        primary_window: Some(Window {
            title: "fracas: a wall".into(),
            fit_canvas_to_parent: true,
            ..default()
        }),
        ..default()
    }));
    common::add(&mut app);
    app.add_systems(Startup, spawn);
    app.run()
}

fn spawn(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    common::spawn_camera(&mut commands, Vec3::new(0.5, 0.7, 2.0), Vec3::Y * 0.35);
    common::spawn_floor(&mut commands, &mut meshes, &mut materials, 12.0);
    // Whole bricks and halves, each baked once.
    let half = Vec3::new(0.5 * (BRICK.x - GAP), BRICK.y, BRICK.z);
    let whole = meshes.add(Cuboid::from_size(BRICK));
    let half = meshes.add(Cuboid::from_size(half));
    let shades = [0.0, 0.04, 0.08].map(|d| {
        materials.add(StandardMaterial {
            base_color: Color::srgb(0.58 + d, 0.25 + d, 0.18 + 0.5 * d),
            perceptual_roughness: 0.9,
            ..default()
        })
    });
    let pitch = BRICK.x + GAP;
    let left = -0.5 * pitch * LENGTH as f32;
    for course in 0..COURSES {
        let y = 0.5 * BRICK.y + course as f32 * (BRICK.y + RISE);
        // Every other course begins and ends with half a brick.
        let halves = course % 2 == 1;
        let bricks = LENGTH + usize::from(halves);
        for i in 0..bricks {
            let is_half = halves && (i == 0 || i == LENGTH);
            let shift = match (halves, i) {
                (false, _) => 0.5,
                (true, 0) => 0.25,
                (true, LENGTH) => -0.25,
                (true, _) => 0.0,
            };
            let x = left + pitch * (i as f32 + shift);
            let mesh = if is_half { &half } else { &whole };
            commands.spawn((
                // As fine as the library's own brick: ready in no time, in a browser, too.
                Breakable::of(BreakMaterial::BRICK).with_tets(TETS),
                Mesh3d(mesh.clone()),
                MeshMaterial3d(shades[(5 * i + 3 * course) % 3].clone()),
                Friction::coefficient(0.7),
                Transform::from_xyz(x, y, 0.0),
            ));
        }
    }
}
