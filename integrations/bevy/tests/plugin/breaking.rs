//! Objects in an app without a renderer: they fall, break, are counted, and go.

use crate::common::{
    self, add_brick, add_floor, app, app_with, bodies, brick, brick_of, cells, count, fragile,
    steps, told,
};
use bevy::prelude::*;
use bevy_fracas::prelude::*;
use bevy_rapier3d::prelude::*;
use fracas_fracture::{Breaker, Material, Strength};
use fracas_rapier::{Breakable as Body, World as Destruction, WorldSettings};

#[test]
fn what_falls_breaks_and_is_told_in_order() {
    let mut app = app();
    add_floor(&mut app);
    let object = add_brick(&mut app, Vec3::Y);
    steps(&mut app, 5);
    assert_eq!(told(&app), [format!("ready {object}")]);
    assert!(app.world().get::<Piece>(object).is_some());
    steps(&mut app, 60);
    let told = told(&app);
    assert_eq!(told[1], format!("broke {object}"), "{told:?}");
    let into: Vec<&str> = told
        .iter()
        .filter_map(|t| t.strip_prefix("into "))
        .collect();
    assert!(into.len() > 1, "{told:?}");
    // All that came of the first break is named by it, and born after it, in its order.
    let first = told[2..]
        .iter()
        .take_while(|t| t.starts_with("into "))
        .count();
    for (i, entity) in into[..first].iter().enumerate() {
        assert_eq!(told[2 + first + i], format!("born {entity}"));
    }
    assert!(app.world().get::<Piece>(object).is_none());
    assert_eq!(count::<Fragment>(&mut app), bodies(&mut app));
}

#[test]
fn fragments_are_children_with_names_and_lie_where_their_bodies_are() {
    let mut app = app();
    add_floor(&mut app);
    let parent = app
        .world_mut()
        .spawn(Transform::from_xyz(3.0, 0.0, 0.0))
        .id();
    let object = add_brick(&mut app, Vec3::Y);
    app.world_mut().entity_mut(object).insert(ChildOf(parent));
    steps(&mut app, 80);
    let world = app.world_mut();
    let mut sets = world.query::<&RapierRigidBodySet>();
    let places: Vec<(Entity, Vec3)> = sets
        .single(world)
        .unwrap()
        .bodies
        .iter()
        .map(|(_, b)| {
            (
                Entity::from_bits(b.user_data as u64),
                b.position().translation,
            )
        })
        .collect();
    assert!(places.len() > 1);
    for (entity, place) in places {
        assert_eq!(world.get::<ChildOf>(entity).unwrap().parent(), object);
        assert_eq!(world.get::<Fragment>(entity).unwrap().object, object);
        assert!(
            world
                .get::<Name>(entity)
                .unwrap()
                .starts_with("brick fragment ")
        );
        let seen = world.get::<GlobalTransform>(entity).unwrap().translation();
        assert!((seen - place).length() < 1e-5, "{seen} {place}");
        assert!((seen.x - 3.0).abs() < 1.0, "{seen}");
    }
}

#[test]
fn the_plugin_makes_the_bits_of_the_librarys_own_world() {
    let settings = WorldSettings::default();
    let mut app = app_with(settings, "assets");
    add_floor(&mut app);
    let mut world = Destruction::new(settings);
    world.add_floor(0.0, 0.6);
    let blueprint = brick_of(6);
    for (x, y) in [(0.0, 0.6), (0.1, 0.9), (0.5, 1.2)] {
        add_brick(&mut app, Vec3::new(x, y, 0.0));
        let breaker = Breaker::new(Material::BRICK, None).with_strength(Strength {
            speed: 1.0,
            most_pieces: 6,
        });
        let place = Vec3::new(x, y, 0.0);
        let options = Body::new(blueprint.clone()).with_breaker(breaker);
        world.add(options.at((place, Quat::IDENTITY).into()));
    }
    for frame in 0..122 {
        app.update();
        // The first frames of an app make no step.
        let made = app.world().resource::<Fracas>().world().steps();
        while world.steps() < made {
            world.step();
        }
        let ours = bevy_fracas::digest(app.world_mut()).unwrap();
        if made > 0 {
            assert_eq!(ours, world.digest(), "frame {frame}, step {made}");
        }
    }
    assert!(world.steps() >= 119);
    assert!(world.pieces().count() > 6);
}

#[test]
fn despawning_the_object_takes_all_its_fragments_away() {
    let mut app = app();
    add_floor(&mut app);
    let object = add_brick(&mut app, Vec3::Y);
    let other = add_brick(&mut app, Vec3::new(2.0, 0.04, 0.0));
    steps(&mut app, 80);
    assert!(bodies(&mut app) > 2);
    app.world_mut().entity_mut(object).despawn();
    steps(&mut app, 2);
    assert_eq!((bodies(&mut app), count::<Fragment>(&mut app)), (1, 0));
    assert!(app.world().get::<Piece>(other).is_some());
}

#[test]
fn an_object_despawned_while_it_breaks_leaves_nothing() {
    let mut app = app();
    add_floor(&mut app);
    add_brick(&mut app, Vec3::Y);
    app.add_observer(|on: On<Broke>, mut commands: Commands| {
        commands.entity(on.entity).despawn();
    });
    steps(&mut app, 80);
    assert!(told(&app).iter().any(|t| t.starts_with("broke")));
    assert_eq!((bodies(&mut app), count::<Piece>(&mut app)), (0, 0));
}

#[test]
fn the_debris_policy_is_a_resource() {
    let mut app = app();
    add_floor(&mut app);
    add_brick(&mut app, Vec3::Y);
    add_brick(&mut app, Vec3::new(1.0, 1.0, 0.0));
    steps(&mut app, 80);
    assert!(count::<Fragment>(&mut app) > 3);
    app.world_mut().resource_mut::<Debris>().0.max_fragments = Some(3);
    steps(&mut app, 2);
    assert_eq!(count::<Fragment>(&mut app), 3);
    assert!(told(&app).iter().any(|t| t.starts_with("removed")));
}

#[test]
fn two_hundred_objects_break_at_once() {
    let mut app = app();
    add_floor(&mut app);
    let blueprint = brick();
    for i in 0..200 {
        let place = Vec3::new(0.4 * (i % 20) as f32, 0.5, 0.4 * (i / 20) as f32);
        let place = Transform::from_translation(place);
        app.world_mut().spawn((fragile(), blueprint.clone(), place));
    }
    steps(&mut app, 3);
    assert_eq!(count::<Piece>(&mut app), 200);
    let world = app.world_mut();
    let all: Vec<Entity> = world
        .query_filtered::<Entity, With<Piece>>()
        .iter(world)
        .collect();
    for entity in all {
        world.commands().entity(entity).break_with(cells(4));
    }
    world.flush();
    steps(&mut app, 3);
    let broke = told(&app).iter().filter(|t| t.starts_with("broke")).count();
    assert_eq!(broke, 200);
    assert!(count::<Fragment>(&mut app) >= 400);
    assert_eq!(count::<Fragment>(&mut app), bodies(&mut app));
}

#[test]
fn a_wall_of_bricks_of_their_own_strength_settles_whole() {
    let mut app = app();
    add_floor(&mut app);
    let blueprint = brick();
    for (course, i) in (0..8).flat_map(|course| (0..6).map(move |i| (course, i))) {
        // Next to nothing above each other, every other course half a brick aside.
        let x = (common::BRICK.x + 0.001) * (i as f32 + 0.5 * (course % 2) as f32);
        let y = 0.5 * common::BRICK.y + course as f32 * (common::BRICK.y + 0.0001);
        let place = Transform::from_xyz(x, y, 0.0);
        let brick = (
            Breakable::of(BreakMaterial::BRICK),
            blueprint.clone(),
            place,
        );
        app.world_mut().spawn(brick);
    }
    steps(&mut app, 90);
    assert!(told(&app).iter().all(|t| t.starts_with("ready")));
    assert_eq!(bodies(&mut app), 48);
}

#[test]
fn fragments_break_on_command_too_and_have_the_groups_of_the_whole() {
    let mut app = app();
    let groups = CollisionGroups::new(Group::GROUP_3, Group::GROUP_4);
    let object = app
        .world_mut()
        .spawn((fragile(), brick(), groups, GravityScale(0.0)))
        .id();
    steps(&mut app, 3);
    let by = BreakPattern::Slices(SlicesOptions {
        pieces: 3,
        axis: Some(Vec3::X),
        ..default()
    });
    app.world_mut()
        .commands()
        .entity(object)
        .break_with(by.clone());
    steps(&mut app, 2);
    let first = count::<Fragment>(&mut app);
    assert!(first > 1);
    let world = app.world_mut();
    let fragment = world
        .query_filtered::<Entity, With<Fragment>>()
        .iter(world)
        .next()
        .unwrap();
    world.commands().entity(fragment).break_with(by);
    steps(&mut app, 2);
    assert!(count::<Fragment>(&mut app) > first);
    assert!(app.world().get_entity(fragment).is_err());
    let world = app.world_mut();
    let mut sets = world.query::<(&RapierContextColliders, &RapierRigidBodySet)>();
    let (colliders, bodies) = sets.single(world).unwrap();
    for (_, collider) in colliders.colliders.iter() {
        assert_eq!(collider.collision_groups(), groups.into());
    }
    assert!(bodies.bodies.iter().all(|(_, b)| b.gravity_scale() == 0.0));
}

#[test]
fn fragments_have_the_friction_and_the_bounce_of_the_whole() {
    let mut app = app();
    let friction = Friction {
        coefficient: 0.91,
        combine_rule: CoefficientCombineRule::Max,
    };
    let restitution = Restitution {
        coefficient: 0.23,
        combine_rule: CoefficientCombineRule::Min,
    };
    let parts = (fragile(), brick(), friction, restitution);
    let object = app.world_mut().spawn(parts).id();
    steps(&mut app, 3);
    let shatter = |app: &mut App, entity| {
        app.world_mut()
            .commands()
            .entity(entity)
            .break_with(cells(3));
        steps(app, 2);
    };
    shatter(&mut app, object);
    assert!(count::<Fragment>(&mut app) > 1);
    let world = app.world_mut();
    let mut sets = world.query::<&RapierContextColliders>();
    for (_, collider) in sets.single(world).unwrap().colliders.iter() {
        assert_eq!(collider.friction(), 0.91);
        assert_eq!(collider.restitution(), 0.23);
        let rules = (
            collider.friction_combine_rule(),
            collider.restitution_combine_rule(),
        );
        let asked = (friction.combine_rule, restitution.combine_rule);
        assert_eq!(rules, (asked.0.into(), asked.1.into()));
    }
}

/// A component of the app's own.
#[derive(Component, Clone, Copy, Debug, PartialEq)]
struct Owner(u32);

fn hand_down(on: On<Born>, owners: Query<&Owner>, mut commands: Commands) {
    if let Ok(&owner) = owners.get(on.entity) {
        commands.entity(on.piece).insert(owner);
    }
}

#[test]
fn an_observer_copies_components_of_the_app_to_fragments() {
    let mut app = app();
    app.add_observer(hand_down);
    add_floor(&mut app);
    let objects = [0, 1, 2].map(|i| add_brick(&mut app, Vec3::new(i as f32, 1.0, 0.0)));
    // One has no owner, and so have its fragments none.
    let owners = [Some(Owner(7)), Some(Owner(8)), None];
    for (&object, owner) in objects.iter().zip(owners) {
        if let Some(owner) = owner {
            app.world_mut().entity_mut(object).insert(owner);
        }
    }
    steps(&mut app, 60);
    // Fragments of a fragment, too.
    let world = app.world_mut();
    let mut found = world.query::<(Entity, &Fragment)>();
    let of_first = found.iter(world).find(|(_, of)| of.object == objects[0]);
    let fragment = of_first.unwrap().0;
    world.commands().entity(fragment).break_with(cells(3));
    steps(&mut app, 3);
    assert!(app.world().get_entity(fragment).is_err());
    let world = app.world_mut();
    let mut found = world.query::<(&Fragment, Option<&Owner>)>();
    let mut seen = [0; 3];
    for (of, owner) in found.iter(world) {
        let which = objects.iter().position(|&o| o == of.object).unwrap();
        assert_eq!(owner.copied(), owners[which]);
        seen[which] += 1;
    }
    assert!(seen.iter().all(|&n| n > 1), "{seen:?}");
}

#[test]
fn what_is_anchored_hangs_and_only_what_breaks_off_falls() {
    let mut app = app();
    let half = 0.5 * common::BRICK;
    // Its left end is built into a wall.
    let end = Vec3::new(-0.9 * half.x, half.y, half.z) + 1e-3;
    let breakable = fragile().anchored(-half - 1e-3, end);
    let place = Transform::from_xyz(0.0, 2.0, 0.0);
    let object = app.world_mut().spawn((breakable, brick(), place)).id();
    steps(&mut app, 30);
    assert_eq!(app.world().get::<Transform>(object), Some(&place));
    let by = BreakPattern::Slices(SlicesOptions {
        pieces: 3,
        axis: Some(Vec3::X),
        ..default()
    });
    app.world_mut().commands().entity(object).break_with(by);
    steps(&mut app, 30);
    let fracas = app.world().resource::<Fracas>().world();
    let (mut hang, mut fall) = (0, 0);
    for piece in fracas.pieces() {
        let surface = fracas.surface(piece).unwrap();
        let is_anchored = surface.bounds().0.x < -0.99 * half.x;
        let entity = app.world().resource::<Fracas>().entity_of(piece).unwrap();
        let y = app.world().get::<GlobalTransform>(entity).unwrap();
        let y = y.translation().y;
        if is_anchored {
            hang += 1;
            assert_eq!(y, 2.0);
        } else {
            fall += 1;
            // Half a second of free fall is 1.2 m.
            assert!(y < 1.2, "{y}");
        }
    }
    assert!(hang > 0 && fall > 0, "{hang} {fall}");
}

#[test]
fn what_breaks_on_stone_survives_a_carpet() {
    for (material, breaks) in [(None, true), (Some(Material::CARPET), false)] {
        let mut app = app();
        let floor = add_floor(&mut app);
        let object = add_brick(&mut app, Vec3::Y);
        steps(&mut app, 2);
        if let Some(material) = material {
            let material = ColliderMaterial(material);
            app.world_mut().entity_mut(floor).insert(material);
        }
        steps(&mut app, 80);
        let is_whole = app.world().get::<Piece>(object).is_some();
        assert_eq!(is_whole, !breaks, "{material:?}");
    }
}

/// All hard contacts.
#[derive(Resource, Default)]
struct Contacts(Vec<Contact>);

#[test]
fn hard_contacts_are_told_in_numbers_and_rays_name_fragments() {
    let settings = WorldSettings {
        event_impulse: 0.01,
        ..WorldSettings::default()
    };
    let mut app = app_with(settings, "assets");
    app.init_resource::<Contacts>();
    app.add_observer(|on: On<Contact>, mut all: ResMut<Contacts>| all.0.push(on.event().clone()));
    let floor = add_floor(&mut app);
    let steel = ColliderMaterial(Material::STEEL);
    app.world_mut().entity_mut(floor).insert(steel);
    let place = Vec3::new(3.0, 1.0, -2.0);
    let object = add_brick(&mut app, place);
    steps(&mut app, 120);
    let impacts = &app.world().resource::<Contacts>().0;
    let first = impacts.first().unwrap();
    assert_eq!((first.entity, first.piece), (object, object));
    assert_eq!(first.other, Some(floor));
    assert_eq!(first.material, Some(Material::BRICK));
    assert_eq!(first.other_material, Some(Material::STEEL));
    // The floor pushes it up.
    assert!(first.normal.y > 0.99, "{first:?}");
    let half = 0.5 * common::BRICK;
    let mass = common::BRICK.element_product() * Material::BRICK.density as f32;
    let speed = (2.0 * 9.81 * (place.y - half.y)).sqrt();
    for impact in impacts {
        assert_eq!(impact.entity, object);
        // One brick brings no more than it fell with, and the bounce.
        let most = 2.0 * mass * speed;
        assert!((0.01..most).contains(&impact.impulse), "{impact:?}");
    }
    // It lands flat on its underside: the first impact is told where that is, and the impacts of
    // the step stop it.
    let off = (first.point - place.with_y(0.0)).abs();
    assert!(off.cmple(half.with_y(0.0) + 0.01).all(), "{off}");
    let largest = impacts.iter().map(|i| i.impulse).fold(0.0, f32::max);
    assert!(
        largest > 0.1 * mass * speed,
        "{largest} of {}",
        mass * speed
    );
    let world = app.world_mut();
    let mut sets = world.query::<&RapierRigidBodySet>();
    let bodies = &sets.single(world).unwrap().bodies;
    let above = bodies.iter().next().unwrap().1.center_of_mass() + Vec3::Y;
    let hit = world.run_system_cached_with(cast_down, above);
    let entity = hit.unwrap().unwrap();
    assert!(app.world().get::<Fragment>(entity).is_some());
}

fn cast_down(from: In<Vec3>, context: ReadRapierContext) -> Option<Entity> {
    let hit = context.single().ok()?;
    let hit = hit.cast_ray(*from, Vec3::NEG_Y, 2.0, true, default());
    hit.map(|(entity, _)| entity)
}
