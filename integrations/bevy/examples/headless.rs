//! A brick falls and breaks, without a window.
//!
//! `cargo run --example headless`

use bevy::prelude::*;
use bevy::time::TimeUpdateStrategy;
use bevy_fracas::prelude::*;
use bevy_rapier3d::prelude::*;

fn main() {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, TransformPlugin, AssetPlugin::default()))
        .init_asset::<Mesh>()
        .add_plugins(RapierPhysicsPlugin::<NoUserData>::default().in_fixed_schedule())
        .add_plugins(FracasPlugin::<NoUserData>::default())
        .insert_resource(TimeUpdateStrategy::FixedTimesteps(1))
        .add_systems(Startup, spawn)
        .add_observer(|on: On<Broke>, mut exit: MessageWriter<AppExit>| {
            println!("{} broke into {} pieces", on.entity, on.children.len());
            exit.write(AppExit::Success);
        });
    app.run();
}

fn spawn(mut commands: Commands, mut meshes: ResMut<Assets<Mesh>>) -> Result {
    let floor = Collider::halfspace(Vec3::Y).ok_or("up is no direction")?;
    commands.spawn((floor, Transform::default()));
    let brick = Mesh3d(meshes.add(Cuboid::new(0.215, 0.065, 0.1025)));
    let place = Transform::from_xyz(0.0, 2.0, 0.0);
    commands.spawn((Breakable::of(BreakMaterial::BRICK), brick, place));
    Ok(())
}
