//! Materials of fragments and of their cracks, without a renderer: which entity has which.

use std::collections::BTreeSet;

use bevy::prelude::*;
use bevy_fracas::prelude::*;
use bevy_fracas::{CrackFaces, CrackMaterials, look_inside};

use crate::common::{app, count, steps};
use crate::looks::{add_seen_brick, fragments, shatter, wait_for_meshes};

type Look = MeshMaterial3d<StandardMaterial>;

fn app_with_materials() -> App {
    let mut app = app();
    app.init_asset::<StandardMaterial>();
    app
}

fn add_material(app: &mut App, colour: Color) -> Handle<StandardMaterial> {
    let mut materials = app.world_mut().resource_mut::<Assets<StandardMaterial>>();
    materials.add(StandardMaterial::from(colour))
}

/// A brick that is seen, of this colour.
fn add_brick(app: &mut App, material: &Handle<StandardMaterial>) -> Entity {
    let object = add_seen_brick(app);
    let look = MeshMaterial3d(material.clone());
    app.world_mut().entity_mut(object).insert(look);
    steps(app, 3);
    object
}

/// Breaks it and waits for the looks of what it broke into.
fn break_up(app: &mut App, entity: Entity, pieces: u32) {
    let before = fragments(app).len();
    shatter(app, entity, pieces);
    steps(app, 1);
    wait_for_meshes(app);
    assert!(fragments(app).len() > before + 1);
}

/// The materials of all entities with a mesh and a component, none for those without.
fn looks<C: Component>(app: &mut App) -> Vec<Option<Handle<StandardMaterial>>> {
    let world = app.world_mut();
    let mut found = world.query_filtered::<Option<&Look>, (With<C>, With<Mesh3d>)>();
    let found = found.iter(world);
    found.map(|look| look.map(|look| look.0.clone())).collect()
}

#[test]
fn fragments_wear_the_material_of_the_whole_and_their_cracks_that_of_the_inside() {
    let mut app = app_with_materials();
    let red = add_material(&mut app, Color::srgb(0.9, 0.1, 0.1));
    let object = add_brick(&mut app, &red);
    break_up(&mut app, object, 4);
    // Fragments of fragments wear it, too.
    let largest = fragments(&mut app).into_iter().max_by(|&a, &b| {
        let volume = |entity| {
            let &Piece(piece) = app.world().get::<Piece>(entity).unwrap();
            let fracas = app.world().resource::<Fracas>();
            fracas.world().shape(piece).unwrap().volume()
        };
        volume(a).total_cmp(&volume(b))
    });
    break_up(&mut app, largest.unwrap(), 3);
    let outer = looks::<Fragment>(&mut app);
    assert!(outer.len() > 4);
    assert_eq!(outer, vec![Some(red.clone()); outer.len()]);
    // One material for all cracks, as brick looks inside.
    let cracks = looks::<CrackFaces>(&mut app);
    assert_eq!(cracks.len(), count::<Fragment>(&mut app));
    let inside = app.world().resource::<CrackMaterials>();
    let inside = inside.get(&BreakMaterial::BRICK).unwrap().clone();
    assert_eq!(cracks, vec![Some(inside.clone()); cracks.len()]);
    assert_ne!(inside, red);
    let materials = app.world().resource::<Assets<StandardMaterial>>();
    assert_eq!(materials.len(), 2);
    let (made, expected) = (
        materials.get(&inside).unwrap(),
        look_inside(&BreakMaterial::BRICK),
    );
    assert_eq!(made.base_color, expected.base_color);
    assert_eq!(made.perceptual_roughness, expected.perceptual_roughness);
    // What has no outer face has no mesh of its own, and still lets its cracks be seen.
    for fragment in fragments(&mut app) {
        assert!(app.world().get::<Visibility>(fragment).is_some());
    }
}

#[test]
fn cracks_look_as_the_app_says_for_an_object_or_for_a_material() {
    let mut app = app_with_materials();
    let [red, gold, grey] = [(0.9, 0.1, 0.1), (0.9, 0.7, 0.1), (0.5, 0.5, 0.5)]
        .map(|(r, g, b)| add_material(&mut app, Color::srgb(r, g, b)));
    let mut known = app.world_mut().resource_mut::<CrackMaterials>();
    known.insert(BreakMaterial::BRICK, grey.clone());
    let plain = add_brick(&mut app, &red);
    break_up(&mut app, plain, 4);
    let cracks = looks::<CrackFaces>(&mut app);
    assert_eq!(cracks, vec![Some(grey); cracks.len()]);
    app.world_mut().despawn(plain);
    let golden = add_brick(&mut app, &red);
    let own = CrackMaterial(gold.clone());
    app.world_mut().entity_mut(golden).insert(own);
    break_up(&mut app, golden, 4);
    let cracks = looks::<CrackFaces>(&mut app);
    assert!(cracks.len() > 2);
    assert_eq!(cracks, vec![Some(gold); cracks.len()]);
}

#[test]
fn materials_that_observers_add_stay() {
    let mut app = app_with_materials();
    let [red, blue, green] = [(0.9, 0.1, 0.1), (0.1, 0.1, 0.9), (0.1, 0.9, 0.1)]
        .map(|(r, g, b)| add_material(&mut app, Color::srgb(r, g, b)));
    let (outside, inside) = (blue.clone(), green.clone());
    app.add_observer(move |on: On<Born>, mut commands: Commands| {
        let look = MeshMaterial3d(outside.clone());
        commands.entity(on.piece).insert(look);
    });
    app.add_observer(move |on: On<Add<CrackFaces>>, mut commands: Commands| {
        let look = MeshMaterial3d(inside.clone());
        commands.entity(on.entity).insert(look);
    });
    let object = add_brick(&mut app, &red);
    break_up(&mut app, object, 4);
    let (outer, cracks) = (looks::<Fragment>(&mut app), looks::<CrackFaces>(&mut app));
    assert!(!outer.is_empty() && !cracks.is_empty());
    assert_eq!(outer, vec![Some(blue); outer.len()]);
    assert_eq!(cracks, vec![Some(green); cracks.len()]);
}

#[test]
fn a_thing_without_a_material_has_cracks_with_one_and_no_outer_one() {
    let mut app = app_with_materials();
    let object = add_seen_brick(&mut app);
    steps(&mut app, 3);
    break_up(&mut app, object, 4);
    assert!(looks::<Fragment>(&mut app).iter().all(Option::is_none));
    assert!(looks::<CrackFaces>(&mut app).iter().all(Option::is_some));
}

#[test]
fn insides_differ_and_glass_and_ice_are_clear() {
    let names = ["glass", "porcelain", "earthenware", "brick", "granite"];
    let names = [&names[..], &["concrete", "plaster", "ice", "steel"]].concat();
    let look = |name: &str| look_inside(&BreakMaterial::by_name(name).unwrap());
    let text = |name: &&str| format!("{:?}", look(name).base_color);
    let colours: BTreeSet<String> = names.iter().map(text).collect();
    assert_eq!(colours.len(), names.len());
    let is_clear = |name: &&&str| look(name).alpha_mode == AlphaMode::Blend;
    let clear: Vec<_> = names.iter().filter(is_clear).collect();
    assert_eq!(clear, [&"glass", &"ice"]);
}
