//! An app that scales, moves, hits and blows up things as it does with bodies of its own.

use crate::common::{
    BRICK, ERRORS, add_brick, add_floor, app, app_with, bodies, brick, brick_of, cells, count,
    fragile, steps, told, wait_until, was_told,
};
use bevy::prelude::*;
use bevy_fracas::prelude::*;
use bevy_rapier3d::prelude::*;
use bevy_rapier3d::rapier::prelude::RigidBody as EngineBody;
use fracas_fracture::{Breaker, Strength};
use fracas_rapier::{Breakable as Body, DebrisPolicy, World as Destruction, WorldSettings};

/// The library's own body of what `fragile` is.
fn fragile_body() -> Body {
    let strength = Strength {
        speed: 1.0,
        most_pieces: 6,
    };
    let breaker = Breaker::new(BreakMaterial::BRICK, None).with_strength(strength);
    Body::new(brick_of(6)).with_breaker(breaker)
}

/// Steps an app and a world side by side, and compares their bits.
fn compare(app: &mut App, world: &mut Destruction, frames: usize) {
    for frame in 0..frames {
        app.update();
        let made = app.world().resource::<Fracas>().world().steps();
        while world.steps() < made {
            world.step();
        }
        let ours = bevy_fracas::digest(app.world_mut()).unwrap();
        if made > 0 {
            assert_eq!(ours, world.digest(), "frame {frame}, step {made}");
        }
    }
}

fn engine_body(app: &mut App, entity: Entity) -> EngineBody {
    let &Piece(piece) = app.world().get::<Piece>(entity).unwrap();
    let fracas = app.world().resource::<Fracas>().world();
    let handle = fracas.body_handle(piece).unwrap();
    let world = app.world_mut();
    let mut sets = world.query::<&RapierRigidBodySet>();
    sets.single(world).unwrap().bodies[handle].clone()
}

fn translation(app: &App, entity: Entity) -> Vec3 {
    app.world()
        .get::<GlobalTransform>(entity)
        .unwrap()
        .translation()
}

fn hold(app: &mut App, is_held: bool) {
    let world = app.world_mut();
    let mut engine = world.query::<&mut RapierConfiguration>();
    engine.single_mut(world).unwrap().physics_pipeline_active = !is_held;
}

#[test]
fn scale_of_the_transform_is_the_objects() {
    let mut app = app();
    add_floor(&mut app);
    app.update();
    hold(&mut app, true);
    let mesh = Mesh::from(Cuboid::from_size(BRICK));
    let mesh = Mesh3d(app.world_mut().resource_mut::<Assets<Mesh>>().add(mesh));
    let place = Vec3::new(1.0, 1.0, 0.0);
    let rotation = Quat::from_rotation_y(0.7);
    let parent = app
        .world_mut()
        .spawn(Transform::from_scale(Vec3::splat(0.5)))
        .id();
    let local = Transform::from_translation(2.0 * place)
        .with_rotation(rotation)
        .with_scale(Vec3::splat(4.0));
    let parts = (fragile(), brick(), mesh, local, ChildOf(parent));
    let object = app.world_mut().spawn(parts).id();
    wait_until(&mut app, |app| count::<Piece>(app) == 1);
    hold(&mut app, false);

    let mut world = Destruction::new(WorldSettings::default());
    world.add_floor(0.0, 0.6);
    let start = *engine_body(&mut app, object).position();
    assert!((start.translation - place).length() < 1e-6);
    assert!(start.rotation.angle_between(rotation) < 1e-3);
    let body = fragile_body().scaled(2.0).unwrap();
    world.add(body.at(start));
    let made = app.world().resource::<Fracas>().world().steps();
    assert_eq!(made, 0);
    compare(&mut app, &mut world, 60);
    assert!(world.pieces().count() > 1);

    // Fragments are as large as they look.
    wait_until(&mut app, |app| {
        let world = app.world_mut();
        let mut unseen = world.query_filtered::<(), (With<Fragment>, Without<Mesh3d>)>();
        unseen.iter(world).next().is_none()
    });
    let world = app.world_mut();
    let mut seen = world.query_filtered::<(&Mesh3d, &GlobalTransform), With<Fragment>>();
    let seen: Vec<_> = seen.iter(world).map(|(m, t)| (m.0.clone(), *t)).collect();
    let mut largest = 0.0_f32;
    for (mesh, transform) in seen {
        assert!((transform.scale() - 1.0).abs().max_element() < 1e-4);
        let meshes = app.world().resource::<Assets<Mesh>>();
        let positions = meshes
            .get(&mesh)
            .unwrap()
            .attribute(Mesh::ATTRIBUTE_POSITION);
        let positions = positions.unwrap().as_float3().unwrap();
        let points = positions.iter().map(|p| Vec3::from_array(*p).abs());
        largest = largest.max(points.fold(0.0, |far, p| far.max(p.x)));
    }
    assert!((largest - BRICK.x).abs() < 1e-3, "{largest}");
}

#[test]
fn anchors_scale_with_the_object() {
    let mut app = app();
    // Its right end, in its own frame: of the scaled one only where boxes are scaled, too.
    let box_ = (Vec3::new(0.4, -1.0, -1.0) * BRICK, BRICK);
    let place = Transform::from_xyz(0.0, 3.0, 0.0).with_scale(Vec3::splat(0.25));
    let held = fragile().anchored(box_.0, box_.1);
    let held = app.world_mut().spawn((held, brick(), place)).id();
    wait_until(&mut app, |app| count::<Piece>(app) == 1);
    assert!(engine_body(&mut app, held).is_fixed());
    let volume = {
        let &Piece(piece) = app.world().get::<Piece>(held).unwrap();
        app.world()
            .resource::<Fracas>()
            .world()
            .shape(piece)
            .unwrap()
            .volume()
    };
    let expected = f64::from(BRICK.element_product()) / 64.0;
    assert!((volume - expected).abs() < 1e-3 * expected, "{volume}");
}

#[test]
fn scale_changed_later_is_an_error() {
    let mut app = app();
    let object = add_brick(&mut app, Vec3::Y);
    steps(&mut app, 3);
    let mut place = app.world_mut().get_mut::<Transform>(object).unwrap();
    place.scale = Vec3::splat(2.0);
    steps(&mut app, 3);
    assert!(was_told(&format!("{object} was scaled after")));
    let count = || {
        let told = ERRORS.lock().unwrap();
        told.iter()
            .filter(|e| e.contains(&format!("{object} was scaled")))
            .count()
    };
    assert_eq!(count(), 1, "once");
}

#[test]
fn written_transform_moves_the_body() {
    let mut app = app();
    let object = add_brick(&mut app, Vec3::Y);
    steps(&mut app, 10);
    let speed = engine_body(&mut app, object).linvel();
    assert!(speed.y < -1.0);
    let to = Transform::from_xyz(5.0, 3.0, 1.0).with_rotation(Quat::from_rotation_x(0.5));
    *app.world_mut().get_mut::<Transform>(object).unwrap() = to;
    steps(&mut app, 1);
    let body = engine_body(&mut app, object);
    assert!((body.translation() - to.translation).length() < 0.1);
    assert!(body.rotation().angle_between(to.rotation) < 1e-3);
    assert!(body.linvel().y < speed.y, "it keeps its velocity");
    assert_eq!(translation(&app, object), body.translation());
}

#[test]
fn moved_parent_moves_the_body_and_a_fragment_can_be_moved() {
    let mut app = app();
    let parent = app.world_mut().spawn(Transform::default()).id();
    let object = add_brick(&mut app, Vec3::Y);
    let still = (ChildOf(parent), GravityScale(0.0));
    app.world_mut().entity_mut(object).insert(still);
    steps(&mut app, 3);
    *app.world_mut().get_mut::<Transform>(parent).unwrap() = Transform::from_xyz(4.0, 0.0, 0.0);
    steps(&mut app, 2);
    let place = engine_body(&mut app, object).translation();
    assert!(
        (place - Vec3::new(4.0, 1.0, 0.0)).length() < 1e-5,
        "{place}"
    );
    app.world_mut()
        .commands()
        .entity(object)
        .break_with(cells(3));
    steps(&mut app, 2);
    let world = app.world_mut();
    let mut fragments = world.query_filtered::<Entity, With<Fragment>>();
    let fragment = fragments.iter(world).next().unwrap();
    world.get_mut::<Transform>(fragment).unwrap().translation = Vec3::new(0.0, 7.0, 0.0);
    steps(&mut app, 1);
    let place = engine_body(&mut app, fragment).translation();
    assert!(
        (place - Vec3::new(4.0, 8.0, 0.0)).length() < 1e-3,
        "{place}"
    );
}

/// Rounding of transforms is not taken for a change: else the bits would differ.
#[test]
fn unmoved_transforms_leave_bits_alone() {
    let mut app = app();
    add_floor(&mut app);
    let turned = Quat::from_euler(EulerRot::XYZ, 0.3, 0.7, -0.4);
    let parent = Transform::from_xyz(1.3, 0.1, 0.7).with_rotation(turned);
    let parent = app.world_mut().spawn(parent).id();
    let object = add_brick(&mut app, Vec3::new(0.2, 1.1, -0.3));
    app.world_mut().entity_mut(object).insert(ChildOf(parent));
    let mut world = Destruction::new(WorldSettings::default());
    world.add_floor(0.0, 0.6);
    while app.world().get::<Piece>(object).is_none() {
        app.update();
    }
    // The first step may be made already.
    let body = engine_body(&mut app, object);
    let steps = app.world().resource::<Fracas>().world().steps();
    assert!(steps <= 1);
    let mut start = *body.position();
    if steps == 1 {
        // It fell from rest, and nothing turned it.
        let local = Transform::from_xyz(0.2, 1.1, -0.3);
        let global =
            GlobalTransform::from(Transform::from_xyz(1.3, 0.1, 0.7).with_rotation(turned));
        let (_, rotation, place) = global.mul_transform(local).to_scale_rotation_translation();
        start = (place, rotation).into();
    }
    world.add(fragile_body().at(start));
    compare(&mut app, &mut world, 90);
    assert!(world.pieces().count() > 1);
}

#[test]
fn kinematic_body_follows_its_transform() {
    let mut app = app();
    let object = add_brick(&mut app, Vec3::Y);
    let kind = RigidBody::KinematicPositionBased;
    app.world_mut().entity_mut(object).insert(kind);
    steps(&mut app, 30);
    assert_eq!(bodies(&mut app), 1, "bevy_rapier3d makes no second body");
    assert_eq!(translation(&app, object), Vec3::Y);
    for i in 1..=30 {
        let mut place = app.world_mut().get_mut::<Transform>(object).unwrap();
        place.translation.x = 0.01 * i as f32;
        steps(&mut app, 1);
    }
    let body = engine_body(&mut app, object);
    assert!(body.is_kinematic());
    assert!((body.translation() - Vec3::new(0.3, 1.0, 0.0)).length() < 1e-5);
    // It was moved, not put there: what it touches is carried.
    assert!((body.linvel().x - 0.6).abs() < 1e-3, "{}", body.linvel());
    app.world_mut()
        .commands()
        .entity(object)
        .break_with(cells(4));
    steps(&mut app, 20);
    assert!(count::<Fragment>(&mut app) > 1);
    assert_eq!(count::<Fragment>(&mut app), bodies(&mut app));
    let world = app.world_mut();
    let mut fragments = world.query_filtered::<&GlobalTransform, With<Fragment>>();
    assert!(
        fragments
            .iter(world)
            .all(|place| place.translation().y < 0.9)
    );
}

#[test]
fn velocity_moves_a_kinematic_body_and_is_written_back() {
    let mut app = app();
    let kind = (RigidBody::KinematicVelocityBased, Velocity::linear(Vec3::X));
    let lift = app.world_mut().spawn((fragile(), brick(), kind)).id();
    let stone = add_brick(&mut app, 3.0 * Vec3::Y);
    app.world_mut().entity_mut(stone).insert(Velocity::zero());
    steps(&mut app, 31);
    let x = translation(&app, lift).x;
    assert!((0.4..0.55).contains(&x), "{x}");
    let fall = app.world().get::<Velocity>(stone).unwrap().linear.y;
    assert_eq!(fall, engine_body(&mut app, stone).linvel().y);
    assert!(fall < -4.0, "{fall}");
    let mut velocity = app.world_mut().get_mut::<Velocity>(lift).unwrap();
    velocity.linear = Vec3::Y;
    steps(&mut app, 30);
    let place = translation(&app, lift);
    assert!(
        (place.x - x).abs() < 1e-5 && (place.y - 0.5).abs() < 1e-3,
        "{place}"
    );
    // Let go, it falls.
    app.world_mut().entity_mut(lift).insert(RigidBody::Dynamic);
    steps(&mut app, 30);
    assert!(engine_body(&mut app, lift).is_dynamic());
    assert!(translation(&app, lift).y < place.y + 0.1);
    assert!(engine_body(&mut app, lift).linvel().y < -3.0);
}

#[test]
fn explosion_breaks_and_throws() {
    let mut app = app();
    let object = add_brick(&mut app, Vec3::new(0.3, 1.0, 0.0));
    let ball = (RigidBody::Dynamic, Collider::ball(0.1));
    let place = Transform::from_xyz(-0.5, 1.0, 0.0);
    let ball = app.world_mut().spawn((ball, Velocity::zero(), place)).id();
    steps(&mut app, 3);
    let center = Vec3::Y;
    app.world_mut()
        .commands()
        .explode(center, 2.0, 1000.0, Falloff::Linear);
    steps(&mut app, 3);
    assert!(app.world().get::<Piece>(object).is_none());
    assert!(count::<Fragment>(&mut app) > 1);
    let thrown = app.world().get::<Velocity>(ball).unwrap().linear;
    assert!(thrown.x < -1.0, "{thrown}");
    let mean: f32 = {
        let world = app.world_mut();
        let mut sets = world.query::<&RapierRigidBodySet>();
        let bodies = &sets.single(world).unwrap().bodies;
        let right = bodies.iter().filter(|(_, b)| b.translation().x > 0.0);
        right.map(|(_, b)| b.linvel().x * b.mass()).sum()
    };
    assert!(mean > 1.0, "{mean}");
}

#[test]
fn hits_and_damage_break() {
    let mut app = app();
    let still = GravityScale(0.0);
    let [struck, worn, far] = [0.0, 1.0, 2.0].map(|x| {
        let object = add_brick(&mut app, Vec3::new(x, 1.0, 0.0));
        app.world_mut().entity_mut(object).insert(still);
        object
    });
    steps(&mut app, 3);
    let mut commands = app.world_mut().commands();
    commands
        .entity(struck)
        .hit(Vec3::Y, Vec3::new(0.0, 30.0, 0.0));
    commands.damage(Vec3::new(1.0, 1.0, 0.0), 0.3, 0.6);
    steps(&mut app, 2);
    assert!(app.world().get::<Piece>(struck).is_none());
    let damage = |app: &App, entity| {
        let &Piece(piece) = app.world().get::<Piece>(entity).unwrap();
        app.world().resource::<Fracas>().world().piece_damage(piece)
    };
    assert_eq!((damage(&app, worn), damage(&app, far)), (0.6, 0.0));
    let mut commands = app.world_mut().commands();
    commands.damage(Vec3::new(1.0, 1.0, 0.0), 0.3, 0.6);
    steps(&mut app, 2);
    assert!(app.world().get::<Piece>(worn).is_none());
    assert!(app.world().get::<Piece>(far).is_some());
    let broke = told(&app).iter().filter(|t| t.starts_with("broke")).count();
    assert_eq!(broke, 2);
}

#[test]
fn wrong_commands_are_errors_with_the_entity() {
    let mut app = app();
    let object = add_brick(&mut app, Vec3::Y);
    let plain = app.world_mut().spawn_empty().id();
    steps(&mut app, 3);
    let mut commands = app.world_mut().commands();
    commands.entity(object).hit(Vec3::NAN, Vec3::X);
    commands.entity(plain).hit(Vec3::Y, Vec3::X);
    commands.explode(Vec3::ZERO, -7.5, 1.0, Falloff::Constant);
    app.world_mut().flush();
    assert!(was_told(&format!("{object}: the point must be finite")));
    assert!(was_told(&format!("{plain} is no piece")));
    assert!(was_told(
        "the radius must be zero or more, and finite, not -7.5"
    ));
}

/// Names of events, and their pieces.
#[derive(Resource, Default)]
struct Ends(Vec<(&'static str, Entity)>);

impl Ends {
    fn of(&self, what: &str) -> Vec<Entity> {
        let found = self.0.iter().filter(|(name, _)| *name == what);
        found.map(|(_, piece)| *piece).collect()
    }
}

#[test]
fn fading_removed_and_lost_have_events() {
    let debris = DebrisPolicy {
        lifetime_steps: Some(6),
        fade_steps: 5,
        ..DebrisPolicy::default()
    };
    let settings = WorldSettings {
        debris,
        lost_below: Some(-5.0),
        ..WorldSettings::default()
    };
    let mut app = app_with(settings, "assets");
    app.init_resource::<Ends>();
    app.add_observer(|on: On<Fading>, mut ends: ResMut<Ends>| {
        assert_eq!(on.steps, 5);
        ends.0.push(("fading", on.piece));
    });
    app.add_observer(|on: On<Removed>, mut ends: ResMut<Ends>| {
        ends.0.push(("removed", on.piece));
    });
    app.add_observer(|on: On<Lost>, mut ends: ResMut<Ends>| ends.0.push(("lost", on.piece)));
    let floor = add_floor(&mut app);
    let object = add_brick(&mut app, 0.04 * Vec3::Y);
    let lost = add_brick(&mut app, 2.0 * Vec3::Y);
    app.world_mut().entity_mut(lost).insert(GravityScale(0.0));
    steps(&mut app, 3);
    app.world_mut()
        .commands()
        .entity(object)
        .break_with(cells(4));
    steps(&mut app, 2);
    let fragments = count::<Fragment>(&mut app);
    assert!(fragments > 1);
    // They fade as soon as they lie still.
    let mut left = 600;
    while count::<Fragment>(&mut app) > 0 && left > 0 {
        steps(&mut app, 1);
        left -= 1;
    }
    let ends = app.world().resource::<Ends>();
    assert_eq!(ends.of("fading").len(), fragments);
    assert_eq!(ends.of("removed"), ends.of("fading"));
    app.world_mut().despawn(floor);
    let mut place = app.world_mut().get_mut::<Transform>(lost).unwrap();
    place.translation.y = -10.0;
    steps(&mut app, 2);
    assert_eq!(app.world().resource::<Ends>().of("lost"), [lost]);
    assert_eq!((count::<Fragment>(&mut app), bodies(&mut app)), (0, 0));
}
