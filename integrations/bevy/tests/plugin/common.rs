//! An app without a window, and a note of what observers were told.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use bevy::asset::AssetPlugin;
use bevy::ecs::error::ErrorContext;
use bevy::prelude::*;
use bevy::time::TimeUpdateStrategy;
use bevy_fracas::prelude::*;
use bevy_rapier3d::prelude::*;
use fracas_core::testing::box_grid;
use fracas_core::{FieldOptions, TetMesh};
use fracas_rapier::{Blueprint, WorldSettings};

pub const BRICK: Vec3 = Vec3::new(0.215, 0.065, 0.1025);

/// What observers were told, in order.
#[derive(Resource, Default)]
pub struct Told(pub Vec<String>);

/// What went to the error handler, of all tests.
pub static ERRORS: Mutex<Vec<String>> = Mutex::new(Vec::new());

fn note_error(error: BevyError, _: ErrorContext) {
    // Without the backtrace that Bevy adds.
    let text = error.to_string();
    let first = text.lines().next().unwrap_or_default();
    ERRORS.lock().unwrap().push(first.into());
}

/// Whether an error with this text was told.
pub fn was_told(text: &str) -> bool {
    ERRORS.lock().unwrap().iter().any(|e| e.contains(text))
}

pub fn app_with(settings: WorldSettings, assets: &str) -> App {
    let mut app = app_to_finish(settings, assets);
    app.finish();
    app.cleanup();
    app
}

/// The same, to which plugins can still be added.
pub fn app_to_finish(settings: WorldSettings, assets: &str) -> App {
    let mut app = App::new();
    app.set_error_handler(note_error);
    app.add_plugins((
        MinimalPlugins,
        TransformPlugin,
        AssetPlugin {
            file_path: assets.into(),
            ..default()
        },
    ));
    app.init_asset::<Mesh>();
    let step = Duration::from_secs_f32(1.0 / 60.0);
    app.insert_resource(TimeUpdateStrategy::ManualDuration(step));
    app.add_plugins(RapierPhysicsPlugin::<NoUserData>::default().in_fixed_schedule());
    app.add_plugins(FracasPlugin::<NoUserData>::new(settings));
    app.init_resource::<Told>();
    app.add_observer(|on: On<BreakableReady>, mut told: ResMut<Told>| {
        told.0.push(format!("ready {}", on.entity));
    });
    app.add_observer(|on: On<Broke>, mut told: ResMut<Told>| {
        told.0.push(format!("broke {}", on.piece));
        for fragment in &on.children {
            told.0.push(format!("into {fragment}"));
        }
    });
    app.add_observer(|on: On<Born>, mut told: ResMut<Told>| {
        told.0.push(format!("born {}", on.piece));
    });
    app.add_observer(|on: On<Removed>, mut told: ResMut<Told>| {
        told.0.push(format!("removed {}", on.piece));
    });
    app.add_observer(|on: On<Contact>, mut told: ResMut<Told>| {
        told.0.push(format!("contact {}", on.piece));
    });
    app
}

pub fn app() -> App {
    app_with(WorldSettings::default(), "assets")
}

/// A brick round the origin, in so many cells along its length.
pub fn brick_of(cells: u32) -> Arc<Blueprint> {
    let corner = box_grid([cells, 2, 3], BRICK);
    let positions = corner.positions().iter().map(|p| *p - 0.5 * BRICK);
    let mesh = TetMesh::build(positions.collect(), corner.tets().to_vec()).unwrap();
    let (field, tree) = (FieldOptions::default(), default());
    Arc::new(Blueprint::build(Arc::new(mesh), &field, &tree).unwrap())
}

pub fn brick() -> BreakableBlueprint {
    BreakableBlueprint::new(brick_of(6))
}

/// Breaks at one metre per second into six pieces at most.
pub fn fragile() -> Breakable {
    Breakable::of(BreakMaterial::BRICK).with_strength(1.0, 6)
}

/// The pattern of so many cells.
pub fn cells(pieces: u32) -> BreakPattern {
    BreakPattern::Voronoi(VoronoiOptions {
        pieces,
        ..default()
    })
}

pub fn add_floor(app: &mut App) -> Entity {
    let floor = Collider::halfspace(Vec3::Y).unwrap();
    app.world_mut()
        .spawn((floor, Friction::coefficient(0.6), Transform::default()))
        .id()
}

pub fn add_brick(app: &mut App, place: Vec3) -> Entity {
    let place = Transform::from_translation(place);
    app.world_mut()
        .spawn((fragile(), brick(), place, Name::new("brick")))
        .id()
}

pub fn steps(app: &mut App, count: usize) {
    for _ in 0..count {
        app.update();
    }
}

pub fn count<C: Component>(app: &mut App) -> usize {
    let world = app.world_mut();
    world.query::<&C>().iter(world).count()
}

/// Bodies in the engine.
pub fn bodies(app: &mut App) -> usize {
    let world = app.world_mut();
    let mut sets = world.query::<&RapierRigidBodySet>();
    sets.single(world).unwrap().bodies.len()
}

pub fn told(app: &App) -> Vec<String> {
    app.world().resource::<Told>().0.clone()
}

/// Waits for what other threads do.
pub fn wait_until(app: &mut App, mut is_done: impl FnMut(&mut App) -> bool) {
    for _ in 0..2000 {
        if is_done(app) {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
        app.update();
    }
    panic!("it never came: {:?}", ERRORS.lock().unwrap());
}
