//! Joints and colliders of a body that breaks go to its fragments.

mod common;

use common::{blueprint, fragile};
use fracas_core::{Crack, Fracture};
use fracas_rapier::{Breakable, Event, JointHandle, PieceId, World, WorldSettings};
use glam::{Quat, Vec3};
use parry3d::math::Pose;
use rapier3d::prelude::*;

fn add_bar(world: &mut World, pose: Pose) -> PieceId {
    let bar = blueprint([16, 2, 2], Vec3::new(1.6, 0.1, 0.1));
    let object = world.add(Breakable::new(bar).at(pose));
    let piece = world.pieces().find(|p| p.object == object);
    piece.unwrap()
}

/// Cuts a piece in two across the x axis of its object.
fn cut(world: &mut World, piece: PieceId, x: f32) -> Vec<PieceId> {
    let fracture = {
        let state = world.shape(piece).unwrap().object().read();
        let mesh = state.fragments().mesh();
        let nodes = state.fragments().fragment(piece.fragment).nodes();
        let level = |n: u32| mesh.positions()[n as usize].x - x;
        Fracture {
            fragment: piece.fragment,
            cracks: vec![Crack::from_level(mesh, 0, nodes, level).unwrap()],
        }
    };
    world.break_piece(piece, fracture)
}

fn weightless() -> World {
    World::new(WorldSettings {
        gravity: Vec3::ZERO,
        ..WorldSettings::default()
    })
}

fn handle(world: &World, piece: PieceId) -> RigidBodyHandle {
    let collider = world.collider(piece).unwrap();
    world.physics.colliders[collider].parent().unwrap()
}

fn center_x(world: &World, piece: PieceId) -> f32 {
    world.body(piece).unwrap().local_center_of_mass().x
}

#[test]
fn joint_follows_its_anchor_and_keeps_motor_and_limits() {
    let mut world = weightless();
    let turn = Quat::from_axis_angle(Vec3::Z, 0.5);
    let bar = add_bar(&mut world, Pose::from_parts(Vec3::new(0.0, 1.0, 0.0), turn));
    let post = world.physics.bodies.insert(RigidBodyBuilder::fixed());
    let end = Vec3::new(0.7, 0.0, 0.0);
    let at = *world.body(bar).unwrap().position() * end;
    let data = RevoluteJointBuilder::new(Vector::Z)
        .local_anchor1(at)
        .local_anchor2(end)
        .limits([-1.0, 1.0])
        .motor_velocity(0.25, 3.0);
    let body = handle(&world, bar);
    let joint = world.physics.impulse_joints.insert(post, body, data, true);
    let before = world.physics.impulse_joints.get(joint).unwrap().data;
    world.take_events();
    let children = cut(&mut world, bar, 0.1);
    let right = *children
        .iter()
        .find(|&&c| center_x(&world, c) > 0.1)
        .unwrap();
    let moved = world.physics.impulse_joints.get(joint).unwrap();
    assert_eq!(
        (moved.body1(), moved.body2()),
        (post, handle(&world, right))
    );
    assert_eq!(moved.data, before);
    let events = world.take_events();
    let expected = Event::JointMoved {
        old: JointHandle::Impulse(joint),
        new: JointHandle::Impulse(joint),
        piece: right,
    };
    assert!(events.contains(&expected), "{events:?}");
    // The joint still holds.
    for _ in 0..60 {
        world.step();
        let pose = world.pose(right).unwrap();
        assert!((pose * end).distance(at) < 0.01);
    }
}

#[test]
fn both_bodies_of_a_joint_may_break() {
    let mut world = weightless();
    let left = add_bar(&mut world, Pose::translation(-0.9, 0.0, 0.0));
    let right = add_bar(&mut world, Pose::translation(0.9, 0.0, 0.0));
    let data = SphericalJointBuilder::new()
        .local_anchor1(Vec3::X * 0.9)
        .local_anchor2(Vec3::X * -0.9);
    let bodies = [left, right].map(|p| handle(&world, p));
    let joint = world
        .physics
        .impulse_joints
        .insert(bodies[0], bodies[1], data, true);
    let inner = |world: &World, children: Vec<PieceId>, sign: f32| {
        let is_inner = |&c: &PieceId| sign * center_x(world, c) > 0.1;
        children.into_iter().find(is_inner).unwrap()
    };
    let children = cut(&mut world, left, 0.13);
    let left = inner(&world, children, 1.0);
    let children = cut(&mut world, right, -0.13);
    let right = inner(&world, children, -1.0);
    let moved = world.physics.impulse_joints.get(joint).unwrap();
    let bodies = [left, right].map(|p| handle(&world, p));
    assert_eq!([moved.body1(), moved.body2()], bodies);
    let events = world.take_events();
    let moves = events
        .iter()
        .filter(|e| matches!(e, Event::JointMoved { .. }));
    assert_eq!(moves.count(), 1, "two moves of one joint are one event");
    for _ in 0..30 {
        world.step();
    }
    assert_eq!(world.physics.impulse_joints.len(), 1);
}

/// A lamp on a chain is shot: the step in which it breaks is made again.
#[test]
fn joint_of_a_body_broken_by_an_impact_still_holds() {
    let mut world = World::new(WorldSettings::default());
    let lamp = blueprint([8, 6, 6], Vec3::new(0.4, 0.3, 0.3));
    let object = world.add(
        Breakable::new(lamp)
            .with_breaker(fragile(6))
            .at(Pose::translation(0.0, 2.0, 0.0)),
    );
    let lamp = world.pieces().find(|p| p.object == object).unwrap();
    let ceiling = world.physics.bodies.insert(RigidBodyBuilder::fixed());
    let top = Vec3::new(0.0, 0.15, 0.0);
    let data = SphericalJointBuilder::new()
        .local_anchor1(Vec3::new(0.0, 2.15, 0.0))
        .local_anchor2(top);
    let body = handle(&world, lamp);
    let joint = world
        .physics
        .impulse_joints
        .insert(ceiling, body, data, true);
    let bullet = RigidBodyBuilder::dynamic()
        .translation(Vec3::new(-0.5, 1.9, 0.02))
        .linvel(Vec3::X * 20.0)
        .ccd_enabled(true);
    let shape = ColliderBuilder::ball(0.1).density(7800.0);
    world.physics.insert(bullet, shape);
    let mut heir = None;
    for _ in 0..60 {
        world.step();
        for event in world.take_events() {
            if let Event::JointMoved { old, new, piece } = event {
                assert_eq!(
                    (old, new),
                    (JointHandle::Impulse(joint), JointHandle::Impulse(joint))
                );
                heir = Some(piece);
            }
        }
    }
    let heir = heir.expect("the lamp broke");
    let held = world.physics.impulse_joints.get(joint).unwrap().body2();
    assert_eq!(held, handle(&world, heir));
    let at = world.pose(heir).unwrap() * top;
    assert!(at.distance(Vec3::new(0.0, 2.15, 0.0)) < 0.05, "{at}");
}

#[test]
fn multibody_joint_keeps_its_angle_and_tells_its_new_handle() {
    let mut world = World::new(WorldSettings::default());
    let bar = add_bar(&mut world, Pose::translation(0.8, 3.0, 0.0));
    let post = RigidBodyBuilder::fixed().translation(Vec3::Y * 3.0);
    let post = world.physics.bodies.insert(post);
    let data = RevoluteJointBuilder::new(Vector::Z).local_anchor2(Vec3::X * -0.8);
    let body = handle(&world, bar);
    let joints = &mut world.physics.multibody_joints;
    let joint = joints.insert(post, body, data, true).unwrap();
    // It swings down a little.
    for _ in 0..20 {
        world.step();
    }
    let (pose, spin) = (world.pose(bar).unwrap(), world.body(bar).unwrap().angvel());
    assert!(pose.translation.y < 2.9 && spin.z < -0.5);
    world.take_events();
    let children = cut(&mut world, bar, 0.1);
    let left = *children
        .iter()
        .find(|&&c| center_x(&world, c) < 0.1)
        .unwrap();
    let events = world.take_events();
    let moved = events.iter().find_map(|event| match event {
        Event::JointMoved { old, new, piece } => Some((*old, *new, *piece)),
        _ => None,
    });
    let (old, new, piece) = moved.expect("the joint has moved");
    assert_eq!((old, piece), (JointHandle::Multibody(joint), left));
    let JointHandle::Multibody(new) = new else {
        panic!("{new:?}");
    };
    assert!(world.physics.multibody_joints.get(new).is_some());
    world.step();
    let (now, spin_now) = (
        world.pose(left).unwrap(),
        world.body(left).unwrap().angvel(),
    );
    assert!(
        now.translation.distance(pose.translation) < 0.1,
        "{now:?} after {pose:?}"
    );
    assert!((spin_now.z - spin.z).abs() < 0.5, "{spin_now} after {spin}");
    for _ in 0..30 {
        world.step();
        let end = world.pose(left).unwrap() * (Vec3::X * -0.8);
        assert!(end.distance(Vec3::Y * 3.0) < 1e-3, "{end}");
    }
}

#[test]
fn collider_of_the_caller_goes_to_the_fragment_below_it() {
    let mut world = weightless();
    let bar = add_bar(&mut world, Pose::translation(0.0, 1.0, 0.0));
    let body = handle(&world, bar);
    let knob = ColliderBuilder::ball(0.03).translation(Vec3::new(0.6, 0.07, 0.0));
    let knob = world
        .physics
        .insert_collider(knob.density(4000.0), Some(body));
    world.step();
    world.body_mut(bar).unwrap().set_angvel(Vec3::Z * 2.0, true);
    let before = common::momenta(&world);
    let at = *world.physics.colliders[knob].position();
    let children = cut(&mut world, bar, 0.1);
    let right = *children
        .iter()
        .find(|&&c| center_x(&world, c) > 0.1)
        .unwrap();
    let collider = &world.physics.colliders[knob];
    assert_eq!(collider.parent(), Some(handle(&world, right)));
    assert!(collider.position().translation.distance(at.translation) < 1e-6);
    let after = common::momenta(&world);
    assert!((before.0 - after.0).length() < 1e-4 * before.1.length());
    assert!((before.1 - after.1).length() < 1e-4 * before.1.length());
    world.step();
}
