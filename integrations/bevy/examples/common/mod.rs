//! What the examples share: light, a camera that flies, balls that are thrown.
//!
//! WASD and the right mouse button move and turn the camera, E and Q lift and sink it, the
//! left button throws a ball at what is under the pointer. G shows contacts. The window's title
//! says how much is ready.

use bevy::asset::UntypedAssetLoadFailedEvent;
use bevy::core_pipeline::tonemapping::Tonemapping;
use bevy::input::mouse::AccumulatedMouseMotion;
use bevy::light::CascadeShadowConfigBuilder;
use bevy::prelude::*;
use bevy_fracas::Unbreakable;
use bevy_fracas::prelude::*;
use bevy_rapier3d::prelude::*;

/// So many balls at most: the oldest goes.
const MOST_BALLS: usize = 24;
/// Metres a second of a thrown ball.
const BALL_SPEED: f32 = 14.0;
const BALL_RADIUS: f32 = 0.06;

/// Adds bevy_rapier3d, the plugin, and all that the module's text says.
pub fn add(app: &mut App) {
    app.add_plugins(RapierPhysicsPlugin::<NoUserData>::default().in_fixed_schedule())
        .add_plugins((FracasPlugin::<NoUserData>::default(), FracasGizmosPlugin))
        .add_systems(Startup, (spawn_light, hide_gizmos))
        .add_systems(Update, (fly, aim, toggle_gizmos, tell_progress))
        .add_systems(PreUpdate, hold_until_ready)
        .add_observer(|on: On<Broke>| info!("broke into {} pieces", on.children.len()));
}

/// Things that are not baked yet.
type Unready = (
    With<Breakable>,
    Without<BreakableBlueprint>,
    Without<Unbreakable>,
);

/// The world stands still until all is baked: what stands on a table is not to fall before
/// the table is there.
fn hold_until_ready(
    mut engine: Query<&mut RapierConfiguration>,
    unready: Query<(), Unready>,
    breakables: Query<(), With<Breakable>>,
) {
    for mut engine in &mut engine {
        let is_ready = !breakables.is_empty() && unready.is_empty();
        if engine.physics_pipeline_active != is_ready {
            engine.physics_pipeline_active = is_ready;
        }
    }
}

/// Tells in the window's title how much is ready, or what cannot be loaded. In a browser the
/// title becomes the canvas's attribute `alt`, where the page reads it.
fn tell_progress(
    mut window: Single<&mut Window>,
    mut name: Local<Option<String>>,
    mut trouble: Local<Option<String>>,
    mut failed: MessageReader<UntypedAssetLoadFailedEvent>,
    unready: Query<(), Unready>,
    breakables: Query<(), With<Breakable>>,
) {
    let name = name.get_or_insert_with(|| window.title.clone());
    if let Some(failed) = failed.read().last() {
        *trouble = Some(format!("cannot load {}", failed.path));
    }
    let (all, rest) = (breakables.iter().count(), unready.iter().count());
    let title = match (&*trouble, all, rest) {
        (Some(trouble), ..) => format!("{name} ({trouble})"),
        (None, 0, _) => format!("{name} (loading the scene)"),
        (None, _, 0) => name.clone(),
        _ => format!("{name} ({} of {all} things are ready)", all - rest),
    };
    if window.title != title {
        window.title = title;
    }
}

/// The camera, looking at a point.
pub fn spawn_camera(commands: &mut Commands, eye: Vec3, target: Vec3) {
    let place = Transform::from_translation(eye).looking_at(target, Vec3::Y);
    commands.spawn((Camera3d::default(), Tonemapping::AcesFitted, place));
}

/// A floor at the height 0, so long and wide.
pub fn spawn_floor(
    commands: &mut Commands,
    meshes: &mut Assets<Mesh>,
    materials: &mut Assets<StandardMaterial>,
    size: f32,
) {
    commands.spawn((
        Mesh3d(meshes.add(Plane3d::default().mesh().size(size, size))),
        MeshMaterial3d(materials.add(StandardMaterial {
            base_color: Color::srgb(0.36, 0.37, 0.39),
            perceptual_roughness: 0.95,
            ..default()
        })),
    ));
    let half = 0.5 * size;
    commands.spawn((
        Collider::cuboid(half, 0.5, half),
        Friction::coefficient(0.7),
        Transform::from_xyz(0.0, -0.5, 0.0),
    ));
}

fn spawn_light(mut commands: Commands) {
    commands.insert_resource(ClearColor(Color::srgb(0.62, 0.68, 0.74)));
    commands.insert_resource(GlobalAmbientLight {
        brightness: 800.0,
        ..default()
    });
    commands.spawn((
        DirectionalLight {
            illuminance: 5_500.0,
            shadow_maps_enabled: true,
            ..default()
        },
        CascadeShadowConfigBuilder {
            num_cascades: 1,
            maximum_distance: 8.0,
            ..default()
        }
        .build(),
        Transform::from_xyz(1.5, 3.0, 2.0).looking_at(Vec3::ZERO, Vec3::Y),
    ));
}

fn fly(
    mut camera: Single<&mut Transform, With<Camera3d>>,
    keys: Res<ButtonInput<KeyCode>>,
    buttons: Res<ButtonInput<MouseButton>>,
    motion: Res<AccumulatedMouseMotion>,
    time: Res<Time>,
) {
    let held = |key: KeyCode, way: Vec3| if keys.pressed(key) { way } else { Vec3::ZERO };
    let way = held(KeyCode::KeyW, Vec3::NEG_Z)
        + held(KeyCode::KeyS, Vec3::Z)
        + held(KeyCode::KeyA, Vec3::NEG_X)
        + held(KeyCode::KeyD, Vec3::X)
        + held(KeyCode::KeyE, Vec3::Y)
        + held(KeyCode::KeyQ, Vec3::NEG_Y);
    let step = camera.rotation * way * 2.0 * time.delta_secs();
    camera.translation += step;
    if buttons.pressed(MouseButton::Right) && motion.delta != Vec2::ZERO {
        let (yaw, pitch, _) = camera.rotation.to_euler(EulerRot::YXZ);
        let turn = -0.004 * motion.delta;
        let pitch = (pitch + turn.y).clamp(-1.5, 1.5);
        camera.rotation = Quat::from_euler(EulerRot::YXZ, yaw + turn.x, pitch, 0.0);
    }
}

/// Throws a ball to where the pointer is.
fn aim(
    buttons: Res<ButtonInput<MouseButton>>,
    window: Query<&Window>,
    camera: Single<(&Camera, &GlobalTransform)>,
    balls: Query<Entity, With<Ball>>,
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    if !buttons.just_pressed(MouseButton::Left) {
        return;
    }
    let (camera, eye) = *camera;
    let pointer = window.single().ok().and_then(Window::cursor_position);
    let ray = pointer.and_then(|at| camera.viewport_to_world(eye, at).ok());
    let ray = ray.unwrap_or_else(|| Ray3d::new(eye.translation(), eye.forward()));
    if balls.iter().count() >= MOST_BALLS
        && let Some(oldest) = balls.iter().min()
    {
        commands.entity(oldest).despawn();
    }
    let start = ray.get_point(0.3);
    let velocity = BALL_SPEED * *ray.direction;
    throw(&mut commands, &mut meshes, &mut materials, start, velocity);
}

/// A thrown ball.
#[derive(Component)]
pub struct Ball;

/// Throws a ball of iron.
pub fn throw(
    commands: &mut Commands,
    meshes: &mut Assets<Mesh>,
    materials: &mut Assets<StandardMaterial>,
    start: Vec3,
    velocity: Vec3,
) {
    commands.spawn((
        Ball,
        Mesh3d(meshes.add(Sphere::new(BALL_RADIUS))),
        MeshMaterial3d(materials.add(StandardMaterial {
            base_color: Color::srgb(0.10, 0.10, 0.12),
            perceptual_roughness: 0.4,
            ..default()
        })),
        RigidBody::Dynamic,
        Collider::ball(BALL_RADIUS),
        ColliderMassProperties::Density(7_000.0),
        Velocity::linear(velocity),
        Transform::from_translation(start),
    ));
}

fn hide_gizmos(mut store: ResMut<GizmoConfigStore>) {
    store.config_mut::<FracasGizmos>().0.enabled = false;
}

fn toggle_gizmos(keys: Res<ButtonInput<KeyCode>>, mut store: ResMut<GizmoConfigStore>) {
    if keys.just_pressed(KeyCode::KeyG) {
        let config = store.config_mut::<FracasGizmos>().0;
        config.enabled = !config.enabled;
        config.depth_bias = -1.0;
    }
}
