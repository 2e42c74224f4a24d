//! Where objects come from: meshes, assets, saved states; and what is said of bad ones.

use crate::common::{
    self, add_brick, add_floor, app, app_with, bodies, brick_of, count, fragile, steps, told,
    wait_until, was_told,
};
use bevy::mesh::PrimitiveTopology;
use bevy::prelude::*;
use bevy_fracas::prelude::*;
use bevy_fracas::{Unbreakable, digest, load, save};
use fracas_bake::Asset;
use fracas_bake::bake::{BakeOptions, Source, bake};
use fracas_rapier::WorldSettings;

#[test]
fn a_mesh_is_baked_once_off_the_main_thread_and_breaks() {
    let mut app = app();
    add_floor(&mut app);
    app.add_observer(|on: On<BakeProgress>, mut told: ResMut<common::Told>| {
        told.0.push(format!("baking {}", on.entity));
    });
    let mesh = Mesh::from(Cuboid::new(0.3, 0.1, 0.2));
    let mesh = app.world_mut().resource_mut::<Assets<Mesh>>().add(mesh);
    for x in [0.0, 1.0] {
        let parts = (fragile().with_tets(200), Mesh3d(mesh.clone()));
        app.world_mut()
            .spawn((parts, Transform::from_xyz(x, 1.0, 0.0)));
    }
    wait_until(&mut app, |app| count::<Piece>(app) == 2);
    assert!(told(&app).iter().any(|t| t.starts_with("baking")));
    steps(&mut app, 80);
    assert!(count::<Fragment>(&mut app) >= 4);
    // What is seen is swapped: fragments have meshes of their own, the whole has none.
    wait_until(&mut app, |app| {
        let world = app.world_mut();
        let mut unseen = world.query_filtered::<(), (With<Fragment>, Without<Mesh3d>)>();
        unseen.iter(world).next().is_none()
    });
    let world = app.world_mut();
    let mut whole = world.query_filtered::<(), (With<Breakable>, With<Mesh3d>)>();
    assert_eq!(whole.iter(world).count(), 0);
    let mut seen = world.query_filtered::<&Mesh3d, With<Fragment>>();
    let seen: Vec<_> = seen.iter(world).map(|m| m.0.clone()).collect();
    let meshes = world.resource::<Assets<Mesh>>();
    for mesh in &seen {
        assert!(meshes.get(mesh).unwrap().count_vertices() >= 12);
    }
}

#[test]
fn what_cannot_break_is_told_and_nothing_panics() {
    let mut app = app();
    let open = Mesh::from(Rectangle::new(1.0, 1.0));
    let lines = Mesh::new(PrimitiveTopology::LineList, default());
    let mut meshes = app.world_mut().resource_mut::<Assets<Mesh>>();
    let (flat, lines) = (meshes.add(open), meshes.add(lines));
    let world = app.world_mut();
    let nothing = world.spawn(fragile()).id();
    let flat = world.spawn((fragile(), Mesh3d(flat))).id();
    let lines = world.spawn((fragile(), Mesh3d(lines))).id();
    let weightless = BreakMaterial {
        density: 0.0,
        ..BreakMaterial::GLASS
    };
    let weightless = (Breakable::of(weightless), common::brick());
    let weightless = world.spawn(weightless).id();
    let tall = Transform::from_scale(Vec3::new(1.0, 2.0, 1.0));
    let tall = world.spawn((fragile(), Mesh3d::default(), tall)).id();
    world.commands().entity(nothing).break_with(default());
    wait_until(&mut app, |app| count::<Unbreakable>(app) == 5);
    steps(&mut app, 2);
    for (entity, text) in [
        (nothing, "has no shape"),
        (flat, "cannot be broken"),
        (lines, "is no list of triangles"),
        (weightless, "density"),
        (tall, "scaled by"),
        (nothing, "is no piece"),
    ] {
        let told = common::ERRORS.lock().unwrap().clone();
        let own = told
            .iter()
            .find(|e| e.contains(&format!("{entity}")) && e.contains(text));
        assert!(own.is_some(), "{entity} {text}: {told:?}");
    }
    assert_eq!(bodies(&mut app), 0);
}

#[test]
fn a_step_that_the_plugin_cannot_follow_is_told() {
    let mut app = app();
    app.insert_resource(bevy_rapier3d::prelude::TimestepMode::Fixed {
        dt: 1.0 / 60.0,
        substeps: 7,
    });
    steps(&mut app, 3);
    assert!(was_told("substeps: 7"));
}

#[test]
fn assets_are_loaded_and_bad_ones_told() {
    let folder = std::env::temp_dir().join(format!("bevy-fracas-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let baked = bake(
        Source::open("brick").unwrap(),
        &BakeOptions::default(),
        &mut |_| (),
    );
    baked
        .unwrap()
        .asset
        .save(folder.join("brick.fracas"))
        .unwrap();
    std::fs::write(folder.join("bad.fracas"), b"no asset").unwrap();
    let mut app = app_with(WorldSettings::default(), folder.to_str().unwrap());
    add_floor(&mut app);
    let server = app.world().resource::<AssetServer>().clone();
    let good = BreakableAsset(server.load("brick.fracas"));
    let bad = BreakableAsset(server.load("bad.fracas"));
    app.world_mut()
        .spawn((fragile(), good, Transform::from_xyz(0.0, 1.0, 0.0)));
    let bad = app.world_mut().spawn((fragile(), bad)).id();
    wait_until(&mut app, |app| {
        count::<Piece>(app) == 1 && count::<Unbreakable>(app) == 1
    });
    assert!(app.world().get::<Unbreakable>(bad).is_some());
    assert!(was_told("could not be loaded"));
    steps(&mut app, 80);
    assert!(count::<Fragment>(&mut app) > 1);
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_changed_asset_renews_whole_objects_and_leaves_broken_ones() {
    let mut app = app();
    add_floor(&mut app);
    let of = |cells| FracasAsset::new(Asset::new("brick", brick_of(cells).mesh().as_ref().clone()));
    let of = |cells| of(cells).unwrap();
    let mut assets = app.world_mut().resource_mut::<Assets<FracasAsset>>();
    let handle = assets.add(of(6));
    let spawn = |app: &mut App, y: f32| {
        let parts = (fragile(), BreakableAsset(handle.clone()));
        let place = Transform::from_xyz(y, y, 0.0);
        app.world_mut().spawn((parts, place)).id()
    };
    let (high, low) = (spawn(&mut app, 50.0), spawn(&mut app, 1.0));
    steps(&mut app, 60);
    let fragments = count::<Fragment>(&mut app);
    assert!(fragments > 1 && app.world().get::<Piece>(low).is_none());
    let before = app
        .world()
        .get::<GlobalTransform>(high)
        .unwrap()
        .translation();
    let key = |app: &App| {
        let made = app.world().get::<BreakableBlueprint>(high).unwrap();
        made.blueprint.key()
    };
    let old = key(&app);
    let mut assets = app.world_mut().resource_mut::<Assets<FracasAsset>>();
    *assets.get_mut(&handle).unwrap() = of(8);
    steps(&mut app, 5);
    assert_ne!(key(&app), old);
    assert!(app.world().get::<Piece>(high).is_some());
    assert_eq!(count::<Fragment>(&mut app), fragments);
    // It goes on as it fell: five steps at about ten metres a second.
    let after = app
        .world()
        .get::<GlobalTransform>(high)
        .unwrap()
        .translation();
    let fell = before.y - after.y;
    assert!((0.4..1.2).contains(&fell), "{fell}");
    assert_eq!(bodies(&mut app), fragments + 1);
}

#[test]
fn a_saved_state_continues_with_equal_bits_in_another_app() {
    let scene = || {
        let mut app = app();
        add_floor(&mut app);
        for x in [0.0, 0.1, 0.5] {
            add_brick(&mut app, Vec3::new(x, 1.0, 0.0));
        }
        app
    };
    let mut first = scene();
    steps(&mut first, 40);
    let bytes = save(first.world_mut()).unwrap();
    let fragments = count::<Fragment>(&mut first);
    assert!(fragments > 3);
    let mut second = scene();
    steps(&mut second, 3);
    assert!(load(second.world_mut(), &bytes[..20]).is_err());
    load(second.world_mut(), &bytes).unwrap();
    assert_eq!(count::<Fragment>(&mut second), fragments);
    for step in 0..40 {
        let (a, b) = (digest(first.world_mut()), digest(second.world_mut()));
        assert_eq!(a.unwrap(), b.unwrap(), "step {step}");
        steps(&mut first, 1);
        steps(&mut second, 1);
    }
    assert_eq!(count::<Fragment>(&mut second), bodies(&mut second));
}
