//! A world around a game's own engine: its time, its parameters and its bodies are its own.

mod common;

use std::sync::Mutex;

use common::{brick, fragile};
use fracas_rapier::{Breakable, Coupling, Event, World, WorldSettings};
use glam::{Quat, Vec3};
use parry3d::math::Pose;
use rapier3d::prelude::*;

/// A game's engine with a floor.
fn engine(dt: f32) -> PhysicsWorld {
    let mut physics = PhysicsWorld::default();
    physics.integration_parameters.dt = dt;
    physics.insert_collider(
        ColliderBuilder::new(SharedShape::halfspace(Vec3::Y)).friction(0.6),
        None,
    );
    physics
}

/// A brick that breaks on the floor within a second.
fn falling_brick(x: f32) -> Breakable {
    let pose = Pose::new(Vec3::new(x, 0.6, 0.0), Vec3::new(0.3, 0.1, 0.2));
    let mut brick = Breakable::new(brick()).with_breaker(fragile(8)).at(pose);
    brick.velocity = Vec3::Y * -3.0;
    brick
}

fn broke(world: &mut World) -> bool {
    let events = world.take_events();
    events.iter().any(|e| matches!(e, Event::Broke { .. }))
}

#[test]
fn time_passes_as_the_engine_says_when_something_breaks() {
    let steady = |dt: f32| move |_| dt;
    let varies = |step: usize| [1.0 / 50.0, 1.0 / 75.0, 1.0 / 40.0, 1.0 / 110.0][step % 4];
    let rates: [(&str, &dyn Fn(usize) -> f32); 4] = [
        ("1/30", &steady(1.0 / 30.0)),
        ("1/60", &steady(1.0 / 60.0)),
        ("1/120", &steady(1.0 / 120.0)),
        ("variable", &varies),
    ];
    for (name, dt) in rates {
        let mut world = World::around(engine(dt(0)), WorldSettings::default());
        world.add(falling_brick(0.0));
        // Far from the brick: one at a constant speed, and a platform.
        let drifting = RigidBodyBuilder::dynamic()
            .translation(Vec3::new(0.0, 50.0, 40.0))
            .gravity_scale(0.0)
            .linvel(Vec3::X);
        let (drifting, _) = world.physics.insert(drifting, ColliderBuilder::ball(0.1));
        let (mut time, mut breaks) = (0.0_f64, 0);
        for step in 0..90 {
            let dt = dt(step);
            world.physics.integration_parameters.dt = dt;
            world.step();
            time += f64::from(dt);
            assert_eq!(world.physics.integration_parameters.dt, dt, "{name}");
            let x = world.physics.bodies[drifting].translation().x;
            assert!(
                (f64::from(x) - time).abs() < 1e-5 * (1.0 + time),
                "{name}: {x} s passed in {time} s"
            );
            breaks += u32::from(broke(&mut world));
        }
        assert!(breaks > 0, "{name}: nothing broke");
    }
}

#[test]
fn hands_follow_at_any_step() {
    for dt in [1.0 / 30.0, 1.0 / 60.0, 1.0 / 240.0] {
        let mut physics = engine(1.0 / 60.0);
        physics.gravity = Vec3::ZERO;
        let mut world = World::around(physics, WorldSettings::default());
        world.add(Breakable::new(brick()).at(Pose::translation(0.0, 1.0, 0.0)));
        let piece = world.pieces().next().unwrap();
        let coupling = Coupling {
            stiffness: 2e3,
            damping: 200.0,
            ..Coupling::default()
        };
        let hand = world.grab(piece, Vec3::Y, coupling).unwrap();
        world.physics.integration_parameters.dt = dt;
        let mut time = 0.0;
        while time < 1.5 {
            time += dt;
            // Set before the game has said how long the step is to be.
            world.physics.integration_parameters.dt = 1.0 / 60.0;
            let to = Vec3::Y + Vec3::X * time;
            world.move_hand(hand, Pose::from_translation(to));
            world.physics.integration_parameters.dt = dt;
            world.step();
        }
        // The body is where the hand will be after the next step.
        let ahead = world.body(piece).unwrap().translation().x - time;
        assert!(
            (ahead - dt).abs() < 0.002,
            "dt {dt}: {ahead} m ahead of the hand"
        );
    }
}

#[test]
fn riders_of_distant_platforms_do_not_notice_a_break() {
    for dt in [1.0 / 30.0, 1.0 / 60.0, 1.0 / 120.0] {
        let ride = |breaks: bool| {
            let mut world = World::around(engine(dt), WorldSettings::default());
            let mut brick = falling_brick(0.0);
            if !breaks {
                brick.breaker = None;
            }
            world.add(brick);
            let platform = RigidBodyBuilder::kinematic_position_based().translation(Vec3::X * 20.0);
            let shape = ColliderBuilder::cuboid(1.0, 0.1, 1.0);
            let (platform, _) = world.physics.insert(platform, shape);
            let rider = RigidBodyBuilder::dynamic().translation(Vec3::new(20.0, 0.35, 0.0));
            let shape = ColliderBuilder::cuboid(0.25, 0.25, 0.25);
            let (rider, _) = world.physics.insert(rider, shape);
            let (mut states, mut breaks, mut y) = (Vec::new(), 0, 0.0);
            for _ in 0..(1.5 / dt) as u32 {
                y += 2.0 * dt;
                let to = Vec3::new(20.0, y, 0.0);
                world.physics.bodies[platform].set_next_kinematic_translation(to);
                world.step();
                states.push(bits(&world.physics, &[platform, rider]));
                breaks += u32::from(broke(&mut world));
            }
            (states, breaks)
        };
        let ((with, breaks), (without, none)) = (ride(true), ride(false));
        assert!(breaks > 0 && none == 0);
        assert!(with == without, "dt {dt}");
    }
}

/// A lift on which something breaks: what lies beside it goes on at the lift's speed.
#[test]
fn platforms_keep_their_speed_in_a_redo() {
    let mut physics = engine(1.0 / 60.0);
    let lift = RigidBodyBuilder::kinematic_position_based().translation(Vec3::Y * 2.0);
    let (lift, _) = physics.insert(lift, ColliderBuilder::cuboid(1.0, 0.1, 1.0));
    let mut world = World::around(physics, WorldSettings::default());
    let rider = RigidBodyBuilder::dynamic().translation(Vec3::new(0.5, 2.2, 0.0));
    let rider_shape = ColliderBuilder::cuboid(0.1, 0.1, 0.1);
    let (rider, _) = world.physics.insert(rider, rider_shape);
    let mut y = 2.0;
    let (mut fastest, mut breaks) = (0.0_f32, 0);
    for step in 0..90 {
        if step == 20 {
            let mut brick = falling_brick(0.0);
            brick.pose.translation.y = y + 0.5;
            brick.velocity.y = -9.0;
            world.add(brick);
        }
        y += 2.0 / 60.0;
        world.physics.bodies[lift].set_next_kinematic_translation(Vec3::Y * y);
        world.step();
        breaks += u32::from(broke(&mut world));
        if step > 5 {
            fastest = fastest.max(world.physics.bodies[rider].linvel().length());
        }
        assert!((world.physics.bodies[lift].translation().y - y).abs() < 1e-5);
    }
    assert!(breaks > 0);
    assert!(fastest < 3.0, "thrown at {fastest} m/s");
}

/// All that the engine tells, in order.
#[derive(Default)]
struct Told(Mutex<Vec<String>>);

impl EventHandler for Told {
    fn handle_collision_event(
        &self,
        _: &RigidBodySet,
        _: &ColliderSet,
        event: CollisionEvent,
        _: Option<&ContactPair>,
    ) {
        self.0.lock().unwrap().push(format!("{event:?}"));
    }

    fn handle_contact_force_event(
        &self,
        dt: f32,
        _: &RigidBodySet,
        _: &ColliderSet,
        pair: &ContactPair,
        total: f32,
    ) {
        let told = format!("{:?} {:?} {dt} {total}", pair.collider1, pair.collider2);
        self.0.lock().unwrap().push(told);
    }

    fn handle_soft_body_tear_event(&self, _: &SoftBodySet, _: &SoftBodyTearEvent) {}
}

/// Two hundred bodies of all kinds, in a heap or apart, in chains and on platforms.
fn busy_game(physics: &mut PhysicsWorld, heap: bool) -> Vec<RigidBodyHandle> {
    let (pitch, rise) = if heap { (0.9, 0.55) } else { (1.8, 0.0) };
    let told = ActiveEvents::COLLISION_EVENTS | ActiveEvents::CONTACT_FORCE_EVENTS;
    let mut bodies = Vec::new();
    for i in 0..150 {
        let at = Vec3::new(
            (i % 6) as f32 * pitch + 0.03 * (i % 7) as f32,
            0.6 + (i / 6) as f32 * rise,
            0.02 * (i % 5) as f32 - if heap { 0.0 } else { 2.0 * (i / 6) as f32 },
        );
        let turn = Quat::from_rotation_y(0.1 * i as f32);
        let body = RigidBodyBuilder::dynamic().pose(Pose::from_parts(at, turn));
        let shape = match i % 3 {
            0 => ColliderBuilder::ball(0.2),
            1 => ColliderBuilder::cuboid(0.2, 0.15, 0.25),
            _ => ColliderBuilder::capsule_y(0.1, 0.15),
        };
        bodies.push(physics.insert(body, shape.active_events(told)).0);
    }
    for chain in 0..4 {
        let mut last = physics.insert_body(RigidBodyBuilder::fixed().translation(Vec3::new(
            -3.0 - chain as f32,
            6.0,
            0.0,
        )));
        for link in 0..8 {
            let at = Vec3::new(-2.7 + 0.3 * link as f32 - chain as f32, 6.0, 0.0);
            let body = RigidBodyBuilder::dynamic().translation(at);
            let shape = ColliderBuilder::ball(0.1).active_events(told);
            let (next, _) = physics.insert(body, shape);
            let joint = SphericalJointBuilder::new()
                .local_anchor1(if link == 0 {
                    Vec3::ZERO
                } else {
                    Vec3::X * 0.15
                })
                .local_anchor2(Vec3::X * -0.15);
            physics.insert_impulse_joint(last, next, joint);
            bodies.push(next);
            last = next;
        }
    }
    for i in 0..12 {
        let at = Vec3::new(-2.0 - i as f32, 0.5, 5.0);
        let body = match i % 2 {
            0 => RigidBodyBuilder::kinematic_position_based(),
            _ => RigidBodyBuilder::kinematic_velocity_based().linvel(Vec3::X * 0.3),
        };
        let shape = ColliderBuilder::cuboid(0.4, 0.1, 0.4);
        bodies.push(physics.insert(body.translation(at), shape).0);
        let rider = RigidBodyBuilder::dynamic().translation(at + Vec3::Y * 0.4);
        let shape = ColliderBuilder::cuboid(0.2, 0.2, 0.2).active_events(told);
        bodies.push(physics.insert(rider, shape).0);
    }
    for i in 0..6 {
        let sensor = ColliderBuilder::cuboid(0.5, 0.5, 0.5)
            .sensor(true)
            .translation(Vec3::new(i as f32, 1.0, 0.0))
            .active_events(ActiveEvents::COLLISION_EVENTS);
        physics.insert_collider(sensor, None);
    }
    bodies
}

/// What a game does before a step.
fn play(physics: &mut PhysicsWorld, bodies: &[RigidBodyHandle], step: u32) {
    let swing = (0.02 * step as f32).sin();
    for (i, &handle) in bodies.iter().enumerate() {
        let body = &mut physics.bodies[handle];
        if body.body_type() == RigidBodyType::KinematicPositionBased {
            let at = body.translation() + Vec3::Y * 0.01 * swing;
            body.set_next_kinematic_translation(at);
        }
        if step % 97 == 40 && i % 13 == 0 && body.is_dynamic() {
            body.apply_impulse(Vec3::new(0.0, 0.3, 0.1), true);
        }
    }
}

fn bits(physics: &PhysicsWorld, bodies: &[RigidBodyHandle]) -> Vec<u32> {
    let states = bodies.iter().map(|&handle| {
        let body = &physics.bodies[handle];
        let pose = body.position();
        let vectors = [pose.translation, body.linvel(), body.angvel()];
        let vectors = vectors.map(|v| v.to_array()).concat();
        let numbers = vectors.into_iter().chain(pose.rotation.to_array());
        let numbers = numbers.map(f32::to_bits);
        numbers
            .chain([u32::from(body.is_sleeping())])
            .collect::<Vec<u32>>()
    });
    states.flatten().collect()
}

#[test]
fn a_game_without_breakables_has_the_bits_of_the_plain_engine() {
    let (mut plain, mut game) = (engine(1.0 / 60.0), engine(1.0 / 60.0));
    let bodies = busy_game(&mut plain, true);
    assert_eq!(busy_game(&mut game, true), bodies);
    assert!(bodies.len() >= 200);
    let mut world = World::around(game, WorldSettings::default());
    let (heard, expected) = (Told::default(), Told::default());
    for step in 0..600 {
        play(&mut plain, &bodies, step);
        play(&mut world.physics, &bodies, step);
        plain.step_with_events(&(), &expected);
        world.step_with(&mut |physics| physics.step_with_events(&(), &heard));
        assert!(
            bits(&plain, &bodies) == bits(&world.physics, &bodies),
            "step {step}"
        );
    }
    let heard = heard.0.into_inner().unwrap();
    assert!(heard.len() > 1000, "{} events", heard.len());
    assert!(heard == expected.0.into_inner().unwrap());
    assert!(
        bodies
            .iter()
            .any(|&b| world.physics.bodies[b].is_sleeping())
    );
}

/// What a busy game goes through beside bricks that fall 100 m away.
struct Beside {
    /// After each step.
    states: Vec<Vec<u32>>,
    /// In each step, sorted.
    events: Vec<Vec<String>>,
    /// Steps in which a brick broke.
    redone: u32,
}

fn beside_bricks(heap: bool, bricks: usize, breaks: bool) -> Beside {
    let mut physics = engine(1.0 / 60.0);
    let bodies = busy_game(&mut physics, heap);
    let mut world = World::around(physics, WorldSettings::default());
    for i in 0..bricks {
        let mut brick = falling_brick(100.0);
        brick.pose.translation.y += i as f32 * 0.8;
        if !breaks {
            brick.breaker = None;
        }
        world.add(brick);
    }
    let (mut states, mut events, mut redone) = (Vec::new(), Vec::new(), 0);
    for step in 0..600 {
        play(&mut world.physics, &bodies, step);
        let heard = Told::default();
        world.step_with(&mut |physics| physics.step_with_events(&(), &heard));
        let mut heard = heard.0.into_inner().unwrap();
        heard.sort();
        events.push(heard);
        states.push(bits(&world.physics, &bodies));
        redone += u32::from(world.stats().made_again > 0);
    }
    Beside {
        states,
        events,
        redone,
    }
}

fn assert_nobody_notices(heap: bool, bricks: usize) {
    let with = beside_bricks(heap, bricks, true);
    let without = beside_bricks(heap, bricks, false);
    println!("{} steps made again", with.redone);
    assert!(with.redone > 0 && without.redone == 0);
    assert!(with.events.iter().flatten().count() > 1000);
    for step in 0..with.states.len() {
        assert!(with.states[step] == without.states[step], "step {step}");
        assert!(
            with.events[step] == without.events[step],
            "events of step {step}"
        );
    }
}

/// In a heap the engine itself guarantees no more than this: bodies that come and go anywhere
/// change the order in which its bounding volume tree reports new pairs, and with it, a hundred
/// steps later, the order in which the heap's contacts are solved.
#[test]
fn a_heap_elsewhere_does_not_notice_a_break_by_one_bit() {
    assert_nobody_notices(true, 1);
}

#[test]
fn bodies_elsewhere_do_not_notice_many_breaks_by_one_bit() {
    assert_nobody_notices(false, 6);
}

#[test]
fn parameters_of_the_engine_stay_as_they_are() {
    let mut physics = engine(1.0 / 50.0);
    let parameters = &mut physics.integration_parameters;
    parameters.num_solver_iterations = 8;
    parameters.normalized_max_linear_velocity = 2000.0;
    parameters.contact_softness.natural_frequency = 17.0;
    let before = *parameters;
    let bullet = RigidBodyBuilder::dynamic()
        .translation(Vec3::Y * 5.0)
        .linvel(Vec3::X * 900.0);
    let (bullet, _) = physics.insert(bullet, ColliderBuilder::ball(0.01));
    let mut world = World::around(physics, WorldSettings::default());
    world.add(falling_brick(-20.0));
    for _ in 0..30 {
        world.step();
    }
    world.equip();
    assert_eq!(world.physics.integration_parameters, before);
    assert!(world.physics.bodies[bullet].linvel().x > 890.0);
}

#[test]
fn warnings_name_what_suits_pieces_badly() {
    let mut world = World::around(PhysicsWorld::default(), WorldSettings::default());
    let named =
        |world: &World| -> Vec<&str> { world.warnings().iter().map(|w| w.parameter).collect() };
    let drift = "normalized_contact_recycle_distance";
    assert_eq!(named(&world), [drift, "contact_clustering"]);
    let warning = world.warnings()[0];
    assert!(warning.value == 0.05 && warning.better < warning.value);
    assert!(warning.to_string().contains("would be better"));
    let parameters = &mut world.physics.integration_parameters;
    parameters.normalized_contact_recycle_distance = warning.better;
    parameters.contact_clustering = false;
    parameters.num_solver_iterations = 2;
    assert_eq!(named(&world), ["num_solver_iterations"]);
    let ours = World::new(WorldSettings::default());
    assert!(ours.warnings().is_empty());
}

#[test]
fn bodies_of_the_game_are_never_removed() {
    let mut world = World::new(WorldSettings::default());
    world.add_floor(0.0, 0.6);
    let mut bodies = Vec::new();
    for at in [Vec3::Y * -3.0, Vec3::X * 2e7, Vec3::new(5.0, -1e8, 0.0)] {
        let body = RigidBodyBuilder::dynamic()
            .translation(at)
            .gravity_scale(0.0);
        bodies.push(world.physics.insert_body(body));
    }
    let fast = RigidBodyBuilder::dynamic().linvel(Vec3::Y * 2e7);
    bodies.push(world.physics.insert_body(fast));
    let spoilt = RigidBodyBuilder::dynamic().translation(Vec3::X * f32::NAN);
    bodies.push(world.physics.insert_body(spoilt));
    let low = world.add(Breakable::new(brick()).at(Pose::translation(0.0, -3.0, 0.0)));
    world.take_events();
    for _ in 0..10 {
        world.step();
    }
    assert!(bodies.iter().all(|&b| world.physics.bodies.contains(b)));
    let lost = |event: &Event| matches!(event, Event::Lost(piece) if piece.object == low);
    assert!(world.take_events().iter().any(lost), "a piece of ours is");
    assert_eq!(world.bodies_lost(), 1);
}

#[test]
fn pieces_are_lost_along_gravity_alone() {
    let settle = |gravity: Vec3, at: Vec3, lost_below: Option<f32>| {
        let mut world = World::new(WorldSettings {
            gravity,
            lost_below,
            ..WorldSettings::default()
        });
        world.add_floor(0.0, 0.6);
        world.add(Breakable::new(brick()).at(Pose::from_translation(at)));
        world.step();
        world.bodies_lost()
    };
    let down = Vec3::Y * -9.81;
    // Through the floor; and where gravity does not press on it.
    assert_eq!(settle(down, Vec3::Y * -2.0, None), 1);
    for gravity in [Vec3::ZERO, Vec3::Y * 9.81, Vec3::X * 9.81] {
        assert_eq!(settle(gravity, Vec3::Y * -2.0, None), 0, "{gravity}");
    }
    // By a height against gravity.
    assert_eq!(settle(down, Vec3::Y * 5.0, Some(4.0)), 0);
    assert_eq!(settle(down, Vec3::Y * 5.0, Some(6.0)), 1);
    let right = Vec3::X * 9.81;
    assert_eq!(settle(right, Vec3::X * -5.0, Some(4.0)), 0);
    assert_eq!(settle(right, Vec3::X * 5.0, Some(4.0)), 1);
}
