//! A vase of porcelain falls and breaks.
//!
//! `cargo run --example minimal --features window`

use bevy::core_pipeline::tonemapping::Tonemapping;
use bevy::prelude::*;
use bevy_fracas::prelude::*;
use bevy_rapier3d::prelude::*;

fn main() -> AppExit {
    App::new()
        .add_plugins(DefaultPlugins)
        .add_plugins(RapierPhysicsPlugin::<NoUserData>::default().in_fixed_schedule())
        .add_plugins(FracasPlugin::<NoUserData>::default())
        .add_systems(Startup, spawn)
        .run()
}

fn spawn(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    let eye = Transform::from_xyz(0.0, 1.0, 2.0).looking_at(Vec3::Y * 0.3, Vec3::Y);
    commands.spawn((Camera3d::default(), Tonemapping::AcesFitted, eye));
    let sun = Transform::from_xyz(1.0, 3.0, 2.0).looking_at(Vec3::ZERO, Vec3::Y);
    commands.spawn((DirectionalLight::default(), sun));
    let floor = Mesh3d(meshes.add(Cuboid::new(4.0, 0.2, 4.0)));
    let grey = MeshMaterial3d(materials.add(Color::srgb(0.5, 0.5, 0.5)));
    let place = Transform::from_xyz(0.0, -0.1, 0.0);
    commands.spawn((floor, grey, place, Collider::cuboid(2.0, 0.1, 2.0)));
    let vase = Mesh3d(meshes.add(Cylinder::new(0.12, 0.4)));
    let blue = MeshMaterial3d(materials.add(Color::srgb(0.2, 0.4, 0.8)));
    let place = Transform::from_xyz(0.0, 1.5, 0.0).with_rotation(Quat::from_rotation_z(0.4));
    commands.spawn((Breakable::of(BreakMaterial::PORCELAIN), vase, blue, place));
}
