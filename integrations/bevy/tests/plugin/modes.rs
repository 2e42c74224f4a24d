//! Modes: a thing breaks in an app as the library's `Breakable::open` and
//! `Breakable::of_asset` make it break, to the bit.

use std::fmt::Write;
use std::sync::Arc;

use crate::common::{self, add_floor, app, brick_of, count, steps, wait_until, was_told};
use bevy::mesh::VertexAttributeValues;
use bevy::prelude::*;
use bevy_fracas::prelude::*;
use bevy_rapier3d::prelude::*;
use fracas_bake::Asset;
use fracas_bake::bake::{BakeModes, BakeOptions, Source, Stage, bake};
use fracas_bake::tetrahedralize::Size;
use fracas_fracture::Material;
use fracas_rapier::{Breakable as Body, World as Destruction, WorldSettings};

/// How it is thrown at the floor.
const PLACE: Vec3 = Vec3::new(0.0, 0.6, 0.0);
const VELOCITY: Vec3 = Vec3::new(2.0, -14.0, 1.0);

/// An app with a floor in which no time passes yet.
fn held_app() -> App {
    let mut app = app();
    add_floor(&mut app);
    app.update();
    run(&mut app, false);
    app
}

fn run(app: &mut App, is_active: bool) {
    let world = app.world_mut();
    let mut engine = world.query::<&mut RapierConfiguration>();
    engine.single_mut(world).unwrap().physics_pipeline_active = is_active;
}

fn throw(app: &mut App, parts: impl Bundle) -> Entity {
    let velocity = Velocity::linear(VELOCITY);
    let place = Transform::from_translation(PLACE);
    app.world_mut().spawn((parts, velocity, place)).id()
}

fn has_modes(app: &App, object: Entity) -> Option<Material> {
    let made = app.world().get::<BreakableBlueprint>(object).unwrap();
    made.modes.as_ref().map(|modes| *modes.material())
}

/// Waits until it is baked, then lets it fall beside the library's own body: the same bits in
/// every step, and it breaks. Gives the number of pieces.
fn compare(app: &mut App, body: Body) -> usize {
    wait_until(app, |app| count::<Piece>(app) == 1);
    let mut world = Destruction::new(WorldSettings::default());
    world.add_floor(0.0, 0.6);
    world.add(body.at((PLACE, Quat::IDENTITY).into()).moving(VELOCITY));
    run(app, true);
    for step in 1..=40 {
        app.update();
        world.step();
        let made = app.world().resource::<Fracas>().world().steps();
        assert_eq!(made, world.steps());
        let ours = bevy_fracas::digest(app.world_mut()).unwrap();
        assert_eq!(ours, world.digest(), "step {step}");
    }
    world.pieces().count()
}

/// The mesh as an OBJ file.
fn write_obj(mesh: &Mesh) -> String {
    let Some(VertexAttributeValues::Float32x3(places)) = mesh.attribute(Mesh::ATTRIBUTE_POSITION)
    else {
        panic!("no positions");
    };
    let mut text = String::new();
    for [x, y, z] in places {
        writeln!(text, "v {x} {y} {z}").unwrap();
    }
    let corners: Vec<usize> = mesh.indices().unwrap().iter().map(|i| i + 1).collect();
    for [a, b, c] in corners.as_chunks::<3>().0 {
        writeln!(text, "f {a} {b} {c}").unwrap();
    }
    text
}

#[test]
fn a_mesh_breaks_as_its_file_does_that_the_library_opens() {
    // Sizes that text keeps to the bit.
    let mesh = Mesh::from(Cuboid::new(0.25, 0.125, 0.1875));
    let folder = std::env::temp_dir().join(format!("bevy-fracas-modes-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("box.obj");
    std::fs::write(&file, write_obj(&mesh)).unwrap();
    // `Body::open` with fewer tetrahedra, so that it does not take so long.
    let options = BakeOptions {
        size: Some(Size::Tets(300)),
        ..BakeOptions::default()
    };
    let source = Source::open(&file).unwrap();
    let body = Body::bake(source, &options, Material::EARTHENWARE, &mut |_| ()).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();

    let mut app = held_app();
    app.add_observer(|on: On<BakeProgress>, mut told: ResMut<common::Told>| {
        if on.stage == Stage::Modes {
            told.0.push("modes".into());
        }
    });
    let mesh = Mesh3d(app.world_mut().resource_mut::<Assets<Mesh>>().add(mesh));
    let object = throw(
        &mut app,
        (
            Breakable::of(BreakMaterial::EARTHENWARE).with_tets(300),
            mesh,
        ),
    );
    assert!(compare(&mut app, body) > 1);
    assert_eq!(has_modes(&app, object), Some(Material::EARTHENWARE));
    assert!(common::told(&app).contains(&"modes".into()));
}

/// A small brick with modes of glass.
fn glass_brick() -> Asset {
    let asset = Asset::new("brick", brick_of(6).mesh().as_ref().clone());
    let options = BakeOptions {
        modes: Some(BakeModes::of(Material::GLASS)),
        ..BakeOptions::default()
    };
    let source = Source::Asset(Box::new(asset));
    bake(source, &options, &mut |_| ()).unwrap().asset
}

#[test]
fn an_asset_breaks_as_the_library_lets_it_whatever_it_was_baked_as() {
    let asset = glass_brick();
    for material in [Material::GLASS, Material::BRICK] {
        let mut app = held_app();
        let mut assets = app.world_mut().resource_mut::<Assets<FracasAsset>>();
        let handle = assets.add(FracasAsset::new(asset.clone()).unwrap());
        let parts = (Breakable::of(material), BreakableAsset(handle));
        let object = throw(&mut app, parts);
        let body = Body::of_asset(&asset, material).unwrap();
        let pieces = compare(&mut app, body);
        assert!(pieces > 1, "{material:?}");
        assert_eq!(has_modes(&app, object), Some(material));
        let made = app.world().get::<BreakableBlueprint>(object).unwrap();
        let own = Arc::ptr_eq(made.modes.as_ref().unwrap(), asset.modes().unwrap());
        assert_eq!(
            own,
            material == Material::GLASS,
            "none are made that are there"
        );
    }
}

#[test]
fn modes_are_left_out_where_a_threshold_is_asked_for() {
    let mut app = held_app();
    let mut assets = app.world_mut().resource_mut::<Assets<FracasAsset>>();
    let handle = assets.add(FracasAsset::new(glass_brick()).unwrap());
    let parts = (
        Breakable::of(BreakMaterial::GLASS).by_threshold(),
        BreakableAsset(handle),
    );
    let object = throw(&mut app, parts);
    let breaker = fracas_fracture::Breaker::new(Material::GLASS, None);
    let body = Body::new(brick_of(6)).with_breaker(breaker);
    assert!(compare(&mut app, body) > 1);
    assert_eq!(has_modes(&app, object), None);
}

#[test]
fn one_mesh_has_modes_of_each_material() {
    let mut app = held_app();
    let mesh = Mesh::from(Cuboid::new(0.25, 0.125, 0.1875));
    let mesh = Mesh3d(app.world_mut().resource_mut::<Assets<Mesh>>().add(mesh));
    let bad = Material {
        young: -1.0,
        ..Material::GLASS
    };
    let [glass, brick, bad] = [Material::GLASS, Material::BRICK, bad].map(|material| {
        let breakable = Breakable::of(material).with_tets(150);
        throw(&mut app, (breakable, mesh.clone()))
    });
    wait_until(&mut app, |app| count::<Piece>(app) == 2);
    assert_eq!(has_modes(&app, glass), Some(Material::GLASS));
    assert_eq!(has_modes(&app, brick), Some(Material::BRICK));
    steps(&mut app, 1);
    assert!(app.world().get::<Piece>(bad).is_none() && was_told(&format!("{bad}: a material's")));
}

#[test]
fn an_asset_changed_while_its_modes_are_made_is_made_of_the_new_one() {
    let mut app = held_app();
    let of = |cells| Asset::new("brick", brick_of(cells).mesh().as_ref().clone());
    let of = |cells| FracasAsset::new(of(cells)).unwrap();
    let (old, new) = (of(6), of(4));
    let key = new.blueprint().key();
    let mut assets = app.world_mut().resource_mut::<Assets<FracasAsset>>();
    let handle = assets.add(old);
    let parts = (
        Breakable::of(BreakMaterial::BRICK),
        BreakableAsset(handle.clone()),
    );
    let object = throw(&mut app, parts);
    app.update();
    let mut assets = app.world_mut().resource_mut::<Assets<FracasAsset>>();
    *assets.get_mut(&handle).unwrap() = new;
    // The message of the change comes with a frame, is read in the next.
    steps(&mut app, 3);
    wait_until(&mut app, |app| count::<Piece>(app) == 1);
    let made = app.world().get::<BreakableBlueprint>(object).unwrap();
    assert_eq!(made.blueprint.key(), key);
    assert!(made.modes.is_some());
}

#[test]
fn a_wall_of_meshes_that_break_by_modes_settles_whole() {
    let mut app = held_app();
    let size = common::BRICK;
    let mesh = Mesh::from(Cuboid::from_size(size));
    let mesh = Mesh3d(app.world_mut().resource_mut::<Assets<Mesh>>().add(mesh));
    for (course, i) in (0..5).flat_map(|course| (0..4).map(move |i| (course, i))) {
        let x = (size.x + 0.001) * (i as f32 + 0.5 * (course % 2) as f32);
        let y = 0.5 * size.y + course as f32 * (size.y + 0.0001);
        let breakable = Breakable::of(BreakMaterial::BRICK).with_tets(300);
        let place = Transform::from_xyz(x, y, 0.0);
        app.world_mut().spawn((breakable, mesh.clone(), place));
    }
    wait_until(&mut app, |app| count::<Piece>(app) == 20);
    run(&mut app, true);
    steps(&mut app, 60);
    assert!(common::told(&app).iter().all(|t| t.starts_with("ready")));
    assert_eq!(common::bodies(&mut app), 20);
}
