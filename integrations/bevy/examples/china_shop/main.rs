//! A china shop: a textured GLB scene in which everything breaks.
//!
//! `cargo run --example china_shop --features window` makes its own scene;
//! `cargo run --example china_shop --features window -- my.glb` takes yours, in metres, with
//! the floor at the height 0. What a thing is made of is read from the names of its node and
//! material (`glass`, `porcelain`, `marble`, ...); it is porcelain where they say nothing.
//! A thing called `glass bottle` is not filled where there is a `glass-bottle.fracas` beside
//! the scene (`fracas bake`).
//!
//! In a browser (`cargo xtask bevy-web`) scene and assets are loaded from the server.
//!
//! The left mouse button throws, the right one looks, WASD walks, G shows contacts. With
//! `--shots FOLDER` it throws by itself, writes three pictures, and ends.

#[path = "../common/mod.rs"]
mod common;
mod shots;

use std::path::PathBuf;
use std::sync::Arc;

use bevy::asset::{AssetMetaCheck, UnapprovedPathMode};
use bevy::gltf::{GltfAssetLabel, GltfMaterialName};
use bevy::prelude::*;
use bevy::world_serialization::WorldInstanceReady;
use bevy_fracas::prelude::*;
use bevy_rapier3d::prelude::*;
use fracas_core::FieldOptions;
use fracas_core::sphere_tree::BuildOptions;
use fracas_rapier::Blueprint;

/// In a browser there are no files, and one thread: all is baked ahead.
const IN_BROWSER: bool = cfg!(target_family = "wasm");

/// The file that is shown, and what some of its things are made of, by their names.
#[derive(Resource, Default)]
struct Scene {
    file: PathBuf,
    blueprints: Vec<(String, Arc<Blueprint>)>,
}

fn main() -> AppExit {
    let mut file = None;
    let mut folder = None;
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        if word == "--shots" {
            folder = words.next().map(PathBuf::from);
        } else {
            file = Some(PathBuf::from(word));
        }
    }
    let scene = match find_scene(file) {
        Ok(scene) => scene,
        Err(error) => {
            eprintln!("error: there is no scene: {error}");
            return AppExit::error();
        }
    };
    let mut app = App::new();
    let window = Window {
        title: "fracas: a china shop".into(),
        resolution: (960, 540).into(),
        fit_canvas_to_parent: true,
        ..default()
    };
    app.add_plugins(
        DefaultPlugins
            .set(WindowPlugin {
                primary_window: Some(window),
                ..default()
            })
            // The file may lie anywhere, and nothing beside it says how to load it.
            .set(AssetPlugin {
                unapproved_path_mode: UnapprovedPathMode::Allow,
                meta_check: AssetMetaCheck::Never,
                ..default()
            }),
    );
    common::add(&mut app);
    app.insert_resource(scene)
        .add_systems(Startup, spawn)
        .add_observer(make_breakable)
        .add_observer(|on: On<BreakableReady>, names: Query<&Name>| {
            let name = names.get(on.entity).map_or("thing", |name| name.as_str());
            info!("the {name} is ready");
        });
    if let Some(folder) = folder {
        shots::add(&mut app, folder);
    }
    app.run()
}

/// The scene of this file, or of the server; or its own, which it makes.
fn find_scene(file: Option<PathBuf>) -> Result<Scene, Box<dyn std::error::Error>> {
    let file = match file {
        Some(file) => std::path::absolute(file)?,
        None if IN_BROWSER => "china_shop.glb".into(),
        None => return write_scene(),
    };
    Ok(Scene { file, ..default() })
}

/// Makes the scene and writes it to a file of the system's folder for such.
fn write_scene() -> Result<Scene, Box<dyn std::error::Error>> {
    let folder = std::env::temp_dir().join("fracas-china-shop");
    std::fs::create_dir_all(&folder)?;
    let file = folder.join("china_shop.glb");
    let things = china_shop::things();
    std::fs::write(&file, china_shop::write(&things))?;
    let mut blueprints = Vec::new();
    for thing in things {
        // The others are filled by the plugin, from their meshes.
        if let Some(tets) = thing.tets {
            let (field, tree) = (FieldOptions::default(), BuildOptions::default());
            let blueprint = Blueprint::build(Arc::new(tets), &field, &tree)?;
            blueprints.push((thing.name, Arc::new(blueprint)));
        }
    }
    Ok(Scene { file, blueprints })
}

fn spawn(
    mut commands: Commands,
    scene: Res<Scene>,
    server: Res<AssetServer>,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    let eye = Vec3::new(0.30, 1.10, 1.35);
    common::spawn_camera(&mut commands, eye, Vec3::new(0.02, 0.56, 0.0));
    common::spawn_floor(&mut commands, &mut meshes, &mut materials, 12.0);
    let scene = GltfAssetLabel::Scene(0).from_asset(scene.file.clone());
    commands.spawn(WorldAssetRoot(server.load(scene)));
}

/// A mesh of the scene, the name of its material, and its own.
type Part = (
    &'static Mesh3d,
    &'static MeshMaterial3d<StandardMaterial>,
    Option<&'static GltfMaterialName>,
    Option<&'static Name>,
);

/// Every mesh of the scene becomes a thing of its own that breaks.
fn make_breakable(
    ready: On<WorldInstanceReady>,
    children: Query<&Children>,
    parts: Query<Part>,
    places: TransformHelper,
    scene: Res<Scene>,
    server: Res<AssetServer>,
    mut meshes: ResMut<Assets<Mesh>>,
    mut commands: Commands,
) {
    for part in children.iter_descendants(ready.entity) {
        let (Ok((mesh, material, look, name)), Ok(place)) =
            (parts.get(part), places.compute_global_transform(part))
        else {
            continue;
        };
        // The loader names a mesh by its node, a point, and its material.
        let name = name.map_or("thing", |name| name.as_str());
        let name = name.split('.').next().unwrap_or(name);
        let words = format!("{name} {}", look.map_or("", |look| look.0.as_str()));
        let (scale, rotation, translation) = place.to_scale_rotation_translation();
        // Sizes are baked, not scaled.
        let mut mesh = mesh.clone();
        if (scale - Vec3::ONE).abs().max_element() > 1e-6
            && let Some(scaled) = meshes.get(&mesh.0).map(|m| m.clone().scaled_by(scale))
        {
            mesh = Mesh3d(meshes.add(scaled));
        }
        let place = Transform::from_translation(translation).with_rotation(rotation);
        let parts = (mesh, material.clone(), place, Friction::coefficient(0.6));
        // Without modes: it begins sooner, and what a browser loads is small.
        let breakable = Breakable::of(material_in(&words)).by_threshold();
        let mut thing = commands.spawn((breakable, parts, Name::new(name.to_owned())));
        let baked = scene.file.with_file_name(china_shop::file_name(name));
        if let Some((_, blueprint)) = scene.blueprints.iter().find(|(of, _)| of == name) {
            thing.insert(BreakableBlueprint::new(blueprint.clone()));
        } else if IN_BROWSER || baked.exists() {
            thing.insert(BreakableAsset(server.load(baked)));
        }
    }
    commands.entity(ready.entity).despawn();
}

/// The first word that names a material.
fn material_in(words: &str) -> BreakMaterial {
    words
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .find_map(|word| BreakMaterial::by_name(word).ok())
        .unwrap_or(BreakMaterial::PORCELAIN)
}
