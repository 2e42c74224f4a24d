//! Breaking in a world: what is conserved, what rests, what repeats.

mod common;

use common::{blueprint, brick, fragile, momenta, momenta_of, shatter, world};
use fracas_core::Fracture;
use fracas_fracture::{Breaker, Material, Strength};
use fracas_rapier::{Breakable, Event, PieceId, World, WorldSettings};
use glam::Vec3;
use parry3d::math::Pose;
use rapier3d::prelude::{ColliderBuilder, RigidBody, RigidBodyBuilder};

#[test]
fn a_body_that_breaks_keeps_its_momentum_angular_momentum_and_energy() {
    let mut world = World::new(WorldSettings {
        gravity: Vec3::ZERO,
        ..WorldSettings::measured()
    });
    let mesh = blueprint([8, 4, 4], Vec3::new(0.4, 0.2, 0.2));
    world.add(Breakable {
        velocity: Vec3::new(1.0, -2.0, 0.5),
        spin: Vec3::new(3.0, 10.0, -5.0),
        ..Breakable::new(mesh).at(Pose::translation(0.3, 1.0, -0.2))
    });
    world.step();
    let ((p, l), energy) = (momenta(&world), world.energy());
    let piece = world.pieces().next().unwrap();
    let children = shatter(&mut world, piece, 9);
    assert!(children.len() >= 8, "{} pieces", children.len());
    let ((p_now, l_now), energy_now) = (momenta(&world), world.energy());
    assert!((p_now - p).length() < 1e-5 * p.length(), "{p} -> {p_now}");
    assert!((l_now - l).length() < 1e-5 * l.length(), "{l} -> {l_now}");
    assert!(
        (energy_now - energy).abs() < 1e-5 * energy,
        "{energy} -> {energy_now}"
    );
    assert!(
        world
            .break_piece(
                piece,
                Fracture {
                    fragment: piece.fragment,
                    cracks: vec![]
                }
            )
            .is_empty()
    );
}

/// A hammer strikes a block that breaks by it.
fn struck() -> World {
    let mut world = World::new(WorldSettings {
        gravity: Vec3::ZERO,
        ..WorldSettings::measured()
    })
    .with_dt(1.0 / 240.0);
    let glass = Material::by_name("glass").unwrap();
    let fragile = Breaker::new(glass, None).with_strength(Strength {
        speed: 0.5,
        most_pieces: 6,
    });
    let target = blueprint([8, 4, 4], Vec3::new(0.4, 0.2, 0.2));
    world.add(Breakable {
        spin: Vec3::new(0.3, 1.0, -0.5),
        ..Breakable::new(target).with_breaker(fragile)
    });
    let hammer = Breakable {
        density: 5000.0,
        velocity: Vec3::new(0.0, -8.0, 0.0),
        ..Breakable::new(blueprint([2, 2, 2], Vec3::splat(0.15)))
    };
    world.add(hammer.at(Pose::translation(0.1, 0.35, 0.02)));
    world.step();
    world
}

#[test]
fn an_impact_that_breaks_adds_no_momentum_and_no_energy() {
    let mut world = struck();
    let ((p, _), energy) = (momenta(&world), world.energy());
    let mut broke = 0;
    for _ in 0..60 {
        world.step();
        broke += world
            .take_events()
            .iter()
            .filter(|e| matches!(e, Event::Broke { .. }))
            .count();
    }
    let (p_now, _) = momenta(&world);
    assert!(broke > 0, "the impact breaks it");
    let off = (p_now - p).length() / p.length();
    println!("momentum off by {off:.1e}");
    assert!(off < 1e-5, "momentum {p} -> {p_now}");
    assert!(
        world.energy() <= energy * 1.01,
        "energy {energy} -> {}",
        world.energy()
    );
}

/// What is ours of a break: the step taken back, the cracks paid for, the fragments put in.
/// The engine's solution after it keeps angular momentum as well as it does for its own
/// shapes (tests/physics.rs).
#[test]
fn a_break_keeps_momentum_and_angular_momentum_to_rounding() {
    let mut world = struck();
    let mut seen = 0;
    for _ in 0..60 {
        let ((p, l), energy) = (momenta(&world), world.energy());
        let mut after_break = None;
        world.begin_step();
        world.physics.step();
        world.finish_step(&mut |physics| {
            if after_break.is_none() {
                let kinetic = |b: &RigidBody| f64::from(b.kinetic_energy());
                let sum: f64 = physics.bodies.iter().map(|(_, b)| kinetic(b)).sum();
                after_break = Some((momenta_of(&physics.bodies), sum));
            }
            physics.step();
        });
        let spent: f64 = world
            .take_events()
            .iter()
            .map(|e| match e {
                Event::Broke { stats, .. } => stats.spent,
                _ => 0.0,
            })
            .sum();
        let Some(((p_now, l_now), energy_now)) = after_break else {
            continue;
        };
        seen += 1;
        let [off, turned] = [
            (p_now - p).length() / p.length(),
            (l_now - l).length() / l.length(),
        ];
        let paid = energy - energy_now;
        println!(
            "momentum off by {off:.1e}, angular {turned:.1e}; cracks {spent:.4} J, paid {paid:.4}"
        );
        assert!(
            off < 1e-6 && turned < 1e-5,
            "{p} -> {p_now}, {l} -> {l_now}"
        );
        assert!((paid - spent).abs() < 1e-2 * spent + 1e-5 * energy);
    }
    assert!(seen > 0, "nothing broke");
}

#[test]
fn what_is_born_in_a_step_does_not_break_again_in_it() {
    let (mut steps_with_breaks, mut later) = (0, 0);
    for seed in 0..6 {
        let mut world = world(1.0 / 60.0);
        let block = blueprint([8, 6, 6], Vec3::new(0.3, 0.2, 0.2));
        let turn = Vec3::new(0.2, 0.1, 0.3) * seed as f32;
        let options = Breakable::new(block).with_breaker(fragile(10));
        world.add(options.at(Pose::new(Vec3::Y * 0.8, turn)));
        // Fast enough for several parts of a step, each of which could break something.
        let ball = RigidBodyBuilder::dynamic()
            .translation(Vec3::new(0.02, 3.0, 0.01))
            .linvel(Vec3::Y * -30.0)
            .ccd_enabled(true);
        let collider = ColliderBuilder::ball(0.04).density(7800.0);
        world.physics.insert(ball, collider);
        world.take_events();
        let mut ever_born: Vec<PieceId> = Vec::new();
        for _ in 0..60 {
            world.step();
            let mut born: Vec<PieceId> = Vec::new();
            for event in world.take_events() {
                if let Event::Broke {
                    piece, children, ..
                } = event
                {
                    assert!(!born.contains(&piece), "{piece:?} broke as it was born");
                    later += u32::from(ever_born.contains(&piece));
                    born.extend(children);
                }
            }
            steps_with_breaks += u32::from(!born.is_empty());
            ever_born.extend(born);
        }
    }
    println!("{steps_with_breaks} steps with breaks, {later} of pieces born before");
    assert!(
        steps_with_breaks > 6 && later > 0,
        "pieces do break again, later"
    );
}

#[test]
fn a_dropped_block_breaks_piles_up_and_rests_without_sinking() {
    let mut world = world(1.0 / 120.0);
    let block = blueprint([8, 6, 6], Vec3::new(0.3, 0.2, 0.2));
    world.add(
        Breakable::new(block)
            .with_breaker(fragile(10))
            .at(Pose::translation(0.0, 1.2, 0.0)),
    );
    let volume: f64 = world
        .pieces()
        .map(|p| world.shape(p).unwrap().volume())
        .sum();
    for _ in 0..480 {
        world.step();
    }
    let pieces: Vec<_> = world.pieces().collect();
    assert!(pieces.len() > 3, "{} pieces", pieces.len());
    let after: f64 = pieces
        .iter()
        .map(|&p| world.shape(p).unwrap().volume())
        .sum();
    assert!(
        (after - volume).abs() < 1e-6 * volume,
        "volume {volume} -> {after}"
    );
    for &piece in &pieces {
        let pose = world.pose(piece).unwrap();
        let lowest = |points: &[Vec3]| {
            let heights = points.iter().map(|p| (pose * *p).y);
            heights.fold(f32::INFINITY, f32::min)
        };
        let sampled = lowest(world.shape(piece).unwrap().tree().positions());
        assert!(sampled > -0.004, "{piece:?} has sunk to {sampled}");
        // Where cracks of two breaks meet inside a tetrahedron a piece has a corner that is
        // no sample point: half an edge of this coarse mesh it may stick out.
        let corner = lowest(world.surface(piece).unwrap().positions());
        assert!(corner > -0.018, "{piece:?} has sunk to {corner}");
        assert!(
            pose.translation.is_finite() && pose.translation.length() < 3.0,
            "{piece:?} flew to {pose:?}"
        );
        assert!(
            world.body(piece).unwrap().linvel().length() < 0.2,
            "{piece:?} does not rest"
        );
    }
}

#[test]
fn the_same_run_twice_has_the_same_bits() {
    let run = || {
        let mut world = world(1.0 / 60.0);
        world.add(
            Breakable::new(brick())
                .with_breaker(fragile(8))
                .at(Pose::translation(0.0, 0.8, 0.0)),
        );
        for _ in 0..90 {
            world.step();
        }
        (world.digest(), world.pieces().count())
    };
    let (first, second) = (run(), run());
    assert_eq!(first, second);
    assert!(first.1 > 1);
}

#[test]
fn worlds_can_be_shared_between_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<World>();
}

#[test]
fn fragments_have_what_was_set_on_the_body_that_broke() {
    use rapier3d::prelude::{ActiveEvents, Group, InteractionGroups, InteractionTestMode};
    let mut world = world(1.0 / 60.0);
    world.add(Breakable::new(brick()).at(Pose::translation(0.0, 1.0, 0.0)));
    let piece = world.pieces().next().unwrap();
    let groups = InteractionGroups::new(
        Group::GROUP_3,
        Group::GROUP_7,
        InteractionTestMode::default(),
    );
    let collider = world.collider(piece).unwrap();
    let collider = world.physics.colliders.get_mut(collider).unwrap();
    collider.set_collision_groups(groups);
    collider.set_friction(0.125);
    collider.set_active_events(ActiveEvents::COLLISION_EVENTS);
    collider.user_data = 42;
    let body = world.body_mut(piece).unwrap();
    body.set_gravity_scale(0.5, true);
    body.user_data = 43;
    let children = shatter(&mut world, piece, 4);
    assert!(children.len() > 1);
    for child in children {
        let collider = world.collider(child).unwrap();
        let collider = &world.physics.colliders[collider];
        assert_eq!(collider.collision_groups(), groups);
        assert_eq!(collider.friction(), 0.125);
        assert_eq!(collider.active_events(), ActiveEvents::COLLISION_EVENTS);
        assert_eq!(collider.user_data, 42);
        let body = world.body(child).unwrap();
        assert_eq!((body.gravity_scale(), body.user_data), (0.5, 43));
    }
}

#[test]
fn a_world_that_is_lent_another_engines_sets_makes_the_same_bits() {
    use rapier3d::prelude::PhysicsWorld;
    let brick = brick();
    let options = |x: f32| {
        Breakable::new(brick.clone())
            .with_breaker(fragile(6))
            .at(Pose::translation(x, 1.2, 0.0))
    };
    let (mut own, mut guest) = (world(1.0 / 60.0), world(1.0 / 60.0));
    for x in [0.0, 0.1, 0.3] {
        own.add(options(x));
        guest.add(options(x));
    }
    let mut engine = PhysicsWorld::default();
    std::mem::swap(&mut engine, &mut guest.physics);
    let mut made_again = 0;
    for _ in 0..60 {
        own.step();
        std::mem::swap(&mut engine, &mut guest.physics);
        guest.begin_step();
        std::mem::swap(&mut engine, &mut guest.physics);
        engine.step();
        std::mem::swap(&mut engine, &mut guest.physics);
        guest.finish_step(&mut |physics| {
            made_again += 1;
            physics.step();
        });
        assert_eq!(own.digest(), guest.digest());
        std::mem::swap(&mut engine, &mut guest.physics);
    }
    assert!(made_again > 0, "nothing broke");
}
