//! A wall of bricks in Bevy, broken by a ball, with bevy_rapier3d doing the physics.
//!
//! Three systems: `build` gives the narrow phase our dispatcher and puts the bricks
//! into Rapier's sets; `break_bricks` runs after each step of the engine; `follow`
//! moves what is seen to where the bodies are.

use std::collections::HashMap;
use std::sync::Arc;

use bevy::asset::RenderAssetUsages;
use bevy::mesh::{Indices, PrimitiveTopology};
use bevy::prelude::*;
use bevy_rapier3d::plugin::context::{
    RapierContextColliders, RapierContextJoints, RapierContextSimulation, RapierRigidBodySet,
};
use bevy_rapier3d::prelude::*;
use bevy_rapier3d::rapier::prelude::SoftBodySet;
use fracas::FieldOptions;
use fracas::sphere_tree::BuildOptions;
use fracas::testing::box_grid;
use fracas_fracture::{Breaker, Material, Strength};
use fracas_rapier::breakables::{Event, ObjectOptions, PieceId};
use fracas_rapier::{Blueprint, Breakables, Engine};

/// Length, height and depth of a brick, in metres.
const BRICK: Vec3 = Vec3::new(0.215, 0.065, 0.1025);

/// The bricks, and the entity that shows each piece.
#[derive(Resource, Default)]
struct Bricks {
    breakables: Breakables,
    shown: HashMap<PieceId, Entity>,
    colour: Handle<StandardMaterial>,
}

/// Rapier's sets, as bevy_rapier3d keeps them.
type Sets<'w, 's> = Query<
    'w,
    's,
    (
        &'static mut RapierContextSimulation,
        &'static mut RapierContextColliders,
        &'static mut RapierContextJoints,
        &'static mut RapierRigidBodySet,
    ),
>;

fn main() {
    App::new()
        .add_plugins(DefaultPlugins)
        .add_plugins(RapierPhysicsPlugin::<NoUserData>::default().in_fixed_schedule())
        .init_resource::<Bricks>()
        .add_systems(Startup, (look, build))
        .add_systems(FixedUpdate, break_bricks.after(PhysicsSet::StepSimulation))
        .add_systems(Update, follow)
        .run();
}

/// Camera, light, floor, and the ball, all as any Bevy program has them.
fn look(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    commands.spawn((
        Camera3d::default(),
        Transform::from_xyz(2.0, 1.4, 3.0).looking_at(Vec3::Y * 0.4, Vec3::Y),
    ));
    commands.spawn((
        DirectionalLight::default(),
        Transform::from_xyz(3.0, 5.0, 2.0).looking_at(Vec3::ZERO, Vec3::Y),
    ));
    commands.spawn((
        Collider::halfspace(Vec3::Y).expect("up is a direction"),
        Mesh3d(meshes.add(Plane3d::default().mesh().size(10.0, 10.0))),
        MeshMaterial3d(materials.add(Color::srgb(0.4, 0.45, 0.4))),
    ));
    commands.spawn((
        RigidBody::Dynamic,
        Collider::ball(0.12),
        ColliderMassProperties::Density(7800.0),
        Velocity::linear(Vec3::new(0.0, 1.0, -9.0)),
        Transform::from_xyz(0.1, 0.4, 2.5),
        Mesh3d(meshes.add(Sphere::new(0.12))),
        MeshMaterial3d(materials.add(Color::srgb(0.2, 0.2, 0.25))),
    ));
}

/// The wall, straight into Rapier's sets.
fn build(
    mut bricks: ResMut<Bricks>,
    mut materials: ResMut<Assets<StandardMaterial>>,
    mut sets: Sets,
) -> Result {
    bricks.colour = materials.add(Color::srgb(0.65, 0.3, 0.2));
    let (mut simulation, mut colliders, _, mut bodies) = sets.single_mut()?;
    let narrow_phase = &mut simulation.narrow_phase;
    narrow_phase.set_query_dispatcher(fracas_rapier::dispatcher());
    let tets = Arc::new(box_grid([6, 2, 3], BRICK));
    let blueprint = Blueprint::build(tets, &FieldOptions::default(), &BuildOptions::default())?;
    let blueprint = Arc::new(blueprint);
    let breaker = Breaker::new(Material::BRICK, None).with_strength(Strength {
        speed: 1.5,
        most_pieces: 5,
    });
    for row in 0..10 {
        for column in 0..6 {
            let shift = if row % 2 == 0 { 0.0 } else { 0.5 };
            let corner = Vec3::new(
                (column as f32 + shift - 3.0) * 1.02 * BRICK.x,
                row as f32 * BRICK.y,
                0.0,
            );
            let options = ObjectOptions::new(blueprint.clone())
                .breakable(breaker.clone())
                .at((corner, Quat::IDENTITY).into());
            bricks
                .breakables
                .add(options, &mut bodies.bodies, &mut colliders.colliders);
        }
    }
    Ok(())
}

/// After a step: what was hit hard enough becomes its fragments, here and in Bevy.
fn break_bricks(
    mut bricks: ResMut<Bricks>,
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut sets: Sets,
) -> Result {
    let (mut simulation, mut colliders, mut joints, mut bodies) = sets.single_mut()?;
    let dt = simulation.integration_parameters.dt;
    let RapierContextSimulation {
        islands,
        narrow_phase,
        ..
    } = &mut *simulation;
    let RapierContextJoints {
        impulse_joints,
        multibody_joints,
        ..
    } = &mut *joints;
    let mut engine = Engine {
        bodies: &mut bodies.bodies,
        colliders: &mut colliders.colliders,
        narrow_phase,
        islands,
        impulse_joints,
        multibody_joints,
        soft_bodies: &mut SoftBodySet::new(),
    };
    let bricks = &mut *bricks;
    bricks.breakables.after_step(dt, &mut engine);
    for event in bricks.breakables.take_events() {
        match event {
            Event::Broke { piece, .. } | Event::Removed(piece) => {
                if let Some(entity) = bricks.shown.remove(&piece) {
                    commands.entity(entity).despawn();
                }
            }
            Event::Born(piece) => {
                let Some(surface) = bricks.breakables.surface(piece) else {
                    continue;
                };
                let mesh = seen(surface);
                let entity = commands
                    .spawn((
                        Mesh3d(meshes.add(mesh)),
                        MeshMaterial3d(bricks.colour.clone()),
                        Transform::default(),
                    ))
                    .id();
                // So that bevy_rapier3d's own queries name the entity.
                let collider = bricks.breakables.collider(piece);
                if let Some(collider) = collider.and_then(|c| engine.colliders.get_mut(c)) {
                    collider.user_data = u128::from(entity.to_bits());
                }
                bricks.shown.insert(piece, entity);
            }
            _ => {}
        }
    }
    Ok(())
}

/// Moves what is seen to where the bodies are.
fn follow(
    bricks: Res<Bricks>,
    bodies: Query<&RapierRigidBodySet>,
    mut seen: Query<&mut Transform>,
) -> Result {
    let bodies = bodies.single()?;
    for (&piece, &entity) in &bricks.shown {
        let body = bricks.breakables.body(piece);
        let body = body.and_then(|handle| bodies.bodies.get(handle));
        if let (Some(body), Ok(mut transform)) = (body, seen.get_mut(entity)) {
            let pose = body.position();
            transform.translation = Vec3::from_array(pose.translation.to_array());
            transform.rotation = Quat::from_array(pose.rotation.to_array());
        }
    }
    Ok(())
}

/// A flat-shaded mesh of a piece's surface.
fn seen(surface: &fracas::FragmentSurface) -> Mesh {
    let positions: Vec<[f32; 3]> = surface.positions().iter().map(|p| p.to_array()).collect();
    let indices = surface.triangles().iter().flatten().copied().collect();
    Mesh::new(
        PrimitiveTopology::TriangleList,
        RenderAssetUsages::default(),
    )
    .with_inserted_attribute(Mesh::ATTRIBUTE_POSITION, positions)
    .with_inserted_indices(Indices::U32(indices))
    .with_duplicated_vertices()
    .with_computed_flat_normals()
}
