//! Bodies that rest, slide, collide and pile up as mechanics says they must.

mod common;

use common::{blueprint, brick, fragile, momenta, world};
use fracas_fracture::{Breaker, Material};
use fracas_rapier::{Breakable, Overlap, World, WorldSettings};
use glam::{Quat, Vec3};
use parry3d::math::Pose;
use parry3d::shape::SharedShape;
use rapier3d::prelude::{ColliderBuilder, RigidBodyBuilder};

/// As a game runs it, but awake: sleeping would hide what contacts do.
fn awake() -> WorldSettings {
    WorldSettings {
        sleep: false,
        ..WorldSettings::default()
    }
}

fn clay(options: Breakable) -> Breakable {
    Breakable {
        density: 1800.0,
        ..options
    }
}

#[test]
fn a_brick_rests_for_a_minute_at_the_right_height() {
    for settings in [awake(), WorldSettings::measured()] {
        let mut world = World::new(settings);
        world.add_floor(0.0, 0.6);
        world.add(clay(Breakable::new(brick())).at(Pose::translation(0.0, 0.033, 0.0)));
        let piece = world.pieces().next().unwrap();
        for _ in 0..60 {
            world.step();
        }
        let settled = world.pose(piece).unwrap();
        let mut farthest: f32 = 0.0;
        for _ in 0..3600 {
            world.step();
            let now = world.pose(piece).unwrap().translation;
            farthest = farthest.max(now.distance(settled.translation));
        }
        let height = world.pose(piece).unwrap().translation.y;
        println!("brick: drift {farthest} m in 60 s, height {height} m");
        assert!(farthest < 1e-3, "crept {farthest} m");
        assert!((height - 0.0325).abs() < 1e-3, "stands at {height}");
    }
}

#[test]
fn ten_bricks_stand_on_each_other_for_a_minute() {
    // Without contact recycling the engine's own boxes do not stand either:
    // docs/decisions/0004-engine-settings-for-stacks.md.
    let mut world = World::new(awake());
    world.add_floor(0.0, 0.6);
    let brick = brick();
    for i in 0..10 {
        let height = 0.0325 + 0.065 * i as f32;
        let options = clay(Breakable::new(brick.clone()));
        world.add(options.at(Pose::translation(0.0, height, 0.0)));
    }
    for _ in 0..3600 {
        world.step();
    }
    let (mut aside, mut down): (f32, f32) = (0.0, 0.0);
    for (i, piece) in world.pieces().enumerate() {
        let p = world.pose(piece).unwrap().translation;
        aside = aside.max(p.with_y(0.0).length());
        down = down.max((p.y - (0.0325 + 0.065 * i as f32)).abs());
    }
    println!("stack: {aside} m aside, {down} m off in height after 60 s");
    assert!(aside < 0.02, "wandered {aside} m");
    assert!(down < 0.01, "off by {down} m in height");
}

#[test]
fn a_block_on_a_slope_holds_or_slides_as_coulomb_says() {
    let friction = 0.5;
    for degrees in [20.0_f32, 30.0, 40.0] {
        let angle = degrees.to_radians();
        let turn = Quat::from_rotation_z(-angle);
        let mut world = World::new(WorldSettings {
            lost_below: Some(-100.0),
            ..awake()
        });
        let slope = SharedShape::halfspace(turn * Vec3::Y);
        let slope = ColliderBuilder::new(slope).friction(friction);
        world.physics.insert_collider(slope, None);
        let block = blueprint([4, 2, 4], Vec3::new(0.2, 0.1, 0.2));
        let options = Breakable {
            friction,
            ..Breakable::new(block)
        };
        world.add(options.at(Pose::from_parts(turn * (Vec3::Y * 0.05), turn)));
        let piece = world.pieces().next().unwrap();
        let down = turn * Vec3::X;
        let speed = |world: &World| world.body(piece).unwrap().linvel().dot(down);
        for _ in 0..12 {
            world.step();
        }
        let (early, start) = (speed(&world), world.pose(piece).unwrap().translation);
        for _ in 0..60 {
            world.step();
        }
        let measured = speed(&world) - early;
        let slid = (world.pose(piece).unwrap().translation - start).dot(down);
        let expected = 9.81 * (angle.sin() - friction * angle.cos());
        println!("slope {degrees} degrees: {measured} m/s2, Coulomb {expected}, slid {slid} m");
        if expected < 0.0 {
            assert!(
                slid.abs() < 1e-3,
                "{degrees} degrees: crept {slid} m in a second"
            );
        } else {
            assert!(
                (measured - expected).abs() < 0.05 * expected,
                "{degrees} degrees: {measured} m/s2 instead of {expected}"
            );
        }
    }
}

/// What became of two blocks that met in free space.
struct Collision {
    /// Shares of what they carried.
    momentum: f64,
    angular: f64,
    energy: f64,
    most_energy: f64,
}

/// Two blocks meet, ours or the engine's own boxes.
fn collide(restitution: f32, friction: f32, engines: bool) -> Collision {
    let mut world = World::new(WorldSettings {
        gravity: Vec3::ZERO,
        ..WorldSettings::measured()
    })
    .with_dt(1.0 / 240.0);
    let size = Vec3::new(0.3, 0.12, 0.2);
    let block = blueprint([4, 2, 3], size);
    let reach = block.object().1.reach();
    for (side, spin) in [
        (-1.0, Vec3::new(2.0, 1.0, -3.0)),
        (1.0, Vec3::new(-4.0, 0.5, 1.0)),
    ] {
        let options = Breakable {
            velocity: Vec3::new(-side * 3.0, 0.2 * side, 0.1),
            spin,
            restitution,
            friction,
            ..Breakable::new(block.clone())
        };
        let pose = Pose::translation(side * 0.4, 0.03 * side, 0.02);
        if engines {
            let body = RigidBodyBuilder::dynamic()
                .pose(pose)
                .linvel(options.velocity)
                .angvel(spin)
                .soft_ccd_prediction(reach);
            let half = 0.5 * size;
            let collider = ColliderBuilder::cuboid(half.x, half.y, half.z)
                .density(options.density)
                .restitution(restitution)
                .friction(friction);
            world.physics.insert(body, collider);
        } else {
            world.add(options.at(pose));
        }
    }
    let energy = |world: &World| -> f64 {
        let bodies = world.physics.bodies.iter();
        bodies.map(|(_, b)| f64::from(b.kinetic_energy())).sum()
    };
    world.step();
    let ((p, l), before) = (momenta(&world), energy(&world));
    let mut most = before;
    for _ in 0..120 {
        world.step();
        most = most.max(energy(&world));
    }
    let (p_now, l_now) = momenta(&world);
    // Before, they moved against each other: measure against what each carried.
    let mass = world.physics.bodies.iter().next().unwrap().1.mass();
    Collision {
        momentum: (p_now - p).length() / (3.0 * f64::from(mass)),
        angular: (l_now - l).length() / l.length(),
        energy: energy(&world) / before,
        most_energy: most / before,
    }
}

#[test]
fn free_collisions_keep_momentum_and_add_no_energy() {
    for (restitution, friction) in [(0.0, 0.6), (0.5, 0.0), (0.9, 0.3)] {
        let [ours, engines] = [false, true].map(|e| collide(restitution, friction, e));
        for (name, c) in [("ours", &ours), ("the engine's boxes", &engines)] {
            println!(
                "collision (e {restitution}, mu {friction}), {name}: momentum off {:.1e}, angular {:.1e}, energy to {:.3}, most {:.4}",
                c.momentum, c.angular, c.energy, c.most_energy
            );
        }
        assert!(ours.energy < 0.999, "they did not meet");
        assert!(ours.momentum < 1e-4, "momentum off by {}", ours.momentum);
        // The engine holds contact points where they were at the beginning of a step, and
        // integrates spinning bodies to first order: both take a little.
        let most = (1.1 * engines.angular).max(0.05);
        assert!(
            ours.angular < most,
            "angular momentum off by {}",
            ours.angular
        );
        assert!(
            ours.most_energy < 1.01,
            "energy rose to {}",
            ours.most_energy
        );
    }
}

/// The engine stops a fast body where it touches, and must see it there in the next step,
/// however thick the body is against the distance by which the engine looks ahead.
#[test]
fn fast_bodies_do_not_enter_the_floor() {
    for length_unit in [0.01, 0.03, 0.1] {
        for size in [0.02, 0.1, 0.4_f32] {
            for speed in [3.0, 10.0, 30.0] {
                let mut world = World::new(WorldSettings {
                    length_unit,
                    ..WorldSettings::measured()
                })
                .with_dt(0.015);
                world.add_floor(0.0, 0.6);
                let block = blueprint([3, 3, 3], Vec3::splat(size));
                let mut options = Breakable::new(block);
                options.velocity = Vec3::Y * -speed;
                options.continuous = true;
                let start = Vec3::Y * (size + 0.4 * speed * 0.015);
                // Flat: a tilted one spins so fast after it that it turns into the floor.
                world.add(options.at(Pose::from_translation(start)));
                let piece = world.pieces().next().unwrap();
                let mut lowest = f32::INFINITY;
                for _ in 0..60 {
                    world.step();
                    lowest = lowest.min(world.body(piece).unwrap().center_of_mass().y);
                }
                // The engine lets a body in by a part of its thickness before it calls it fast.
                assert!(
                    lowest > 0.25 * size,
                    "unit {length_unit}, size {size}, speed {speed}: down to {lowest}"
                );
            }
        }
    }
}

/// The engine's own limit counts in length units: 20 m/s among things of 5 cm.
#[test]
fn a_fast_body_keeps_its_speed_whatever_the_length_unit() {
    for length_unit in [0.01, 0.05, 1.0] {
        let mut world = World::new(WorldSettings {
            length_unit,
            gravity: Vec3::ZERO,
            ..WorldSettings::measured()
        })
        .with_dt(0.01);
        let mut options = Breakable::new(blueprint([2, 2, 2], Vec3::splat(0.05)));
        options.velocity = Vec3::X * 300.0;
        world.add(options.at(Pose::from_translation(Vec3::ZERO)));
        let piece = world.pieces().next().unwrap();
        (0..10).for_each(|_| world.step());
        let x = world.body(piece).unwrap().translation().x;
        assert!((x - 30.0).abs() < 0.01, "unit {length_unit}: {x} m");
    }
}

/// A block dropped on the floor, broken by the impact; and how much energy ever grew
/// over the least so far, as a share of what was there at the start.
fn broken_pile(settings: WorldSettings, rate: f32, tilt: f32) -> (World, f64) {
    let mut world = World::new(settings).with_dt(1.0 / rate);
    world.add_floor(0.0, 0.6);
    let block = blueprint([8, 6, 6], Vec3::new(0.3, 0.2, 0.2));
    let options = Breakable::new(block).with_breaker(fragile(10));
    let turn = Vec3::new(0.0, 0.0, tilt);
    world.add(options.at(Pose::new(Vec3::Y * 0.8, turn)));
    world.step();
    let start = world.energy();
    let (mut least, mut growth) = (start, 0.0_f64);
    for _ in 0..(3.0 * rate) as u32 {
        world.step();
        let now = world.energy();
        growth = growth.max((now - least) / start);
        least = least.min(now);
    }
    assert!(world.pieces().count() > 3);
    (world, growth)
}

#[test]
fn a_breaking_block_gains_no_energy_and_its_pile_overlaps_little_at_rest() {
    let measured = WorldSettings::measured();
    // Wanted: no pair over the limit. Seen in two builds: medians from 0.2 mm under it (at
    // 120 Hz) to 2 mm over (at 60 Hz), 6.5 at worst, where a piece lies wedged.
    for (name, settings, rate, slack) in [
        ("game", awake(), 60.0, 4e-3),
        ("measured, 120 Hz", measured, 120.0, 1.5e-3),
    ] {
        // Which piece comes to lie wedged is chance: the median of several drops counts.
        let mut worst: Vec<f32> = Vec::new();
        for i in 0..5 {
            let (world, growth) = broken_pile(settings, rate, 0.1 * i as f32);
            // What the engine leaves on purpose: half a hundredth of the length unit.
            let epsilon = 0.005 * settings.length_unit;
            let over = |o: &Overlap| o.depth - epsilon - 0.01 * o.radius;
            let overlaps = world.overlaps();
            worst.push(overlaps.iter().map(over).fold(f32::NEG_INFINITY, f32::max));
            println!(
                "{name}: energy grew by {growth:.4}; deepest overlap {:.5} m, {:.5} m over the limit (negative: under), {} pieces",
                world.deepest_overlap(),
                worst[i],
                world.pieces().count()
            );
            assert_eq!(world.bodies_lost(), 0);
            assert!(growth < 0.01, "{name}: energy grew by {growth}");
        }
        worst.sort_by(f32::total_cmp);
        assert!(worst[2] <= slack, "{name}: {worst:?}");
    }
}

#[test]
fn a_stack_does_not_break_by_its_own_weight_and_does_when_it_is_hit() {
    // The load of the lowest brick is thirteen times its weight, and comes within the
    // first steps: as an impact it would break bricks of this strength.
    let mut world = world(1.0 / 60.0);
    for i in 0..14 {
        let at = Vec3::Y * (0.0325 + 0.065 * i as f32);
        let options = Breakable::new(brick()).with_breaker(fragile(3));
        world.add(options.at(Pose::from_translation(at)));
    }
    for _ in 0..30 {
        world.step();
    }
    assert_eq!(world.pieces().count(), 14, "something broke by itself");
    let hammer = Breakable {
        velocity: Vec3::new(0.0, -6.0, 0.0),
        density: 7800.0,
        ..Breakable::new(blueprint([3, 3, 3], Vec3::splat(0.1)))
    };
    world.add(hammer.at(Pose::from_translation(Vec3::Y * 1.05)));
    for _ in 0..10 {
        world.step();
    }
    assert!(world.pieces().count() > 15, "the hammer broke nothing");
}

/// Bricks of brick's own strength, without modes, in courses that are put a little above
/// each other; half a brick at the ends of every other course.
fn wall(rise: f32) -> World {
    let mut world = world(1.0 / 60.0);
    let (long, high, deep) = (0.215, 0.065, 0.1025);
    let whole = blueprint([6, 2, 3], Vec3::new(long, high, deep));
    let half = blueprint([3, 2, 3], Vec3::new(0.5 * long - 0.0005, high, deep));
    for course in 0..8 {
        let y = 0.5 * high + course as f32 * (high + rise);
        let staggered = course % 2 == 1;
        for i in 0..(8 + usize::from(staggered)) {
            let is_half = staggered && (i == 0 || i == 8);
            let shift = match (staggered, i) {
                (false, _) => 0.5,
                (true, 0) => 0.25,
                (true, 8) => -0.25,
                (true, _) => 0.0,
            };
            let x = (long + 0.001) * (i as f32 + shift - 4.0);
            let shape = if is_half { half.clone() } else { whole.clone() };
            let breaker = Breaker::new(Material::by_name("brick").unwrap(), None);
            let brick = clay(Breakable::new(shape).with_breaker(breaker));
            world.add(brick.at(Pose::translation(x, y, 0.0)));
        }
    }
    world
}

#[test]
fn a_wall_settles_whole_and_breaks_where_a_ball_meets_it() {
    // The top of the last wall falls by 3.5 mm, so its bricks meet at 0.26 m/s at most: they
    // bear 0.6, and the weight of a wall in a step is 1.1.
    for rise in [0.0, 1e-4, 2e-4, 5e-4] {
        let mut world = wall(rise);
        for step in 0..90 {
            world.step();
            let pieces = world.pieces().count();
            assert_eq!(
                pieces, 68,
                "a rise of {rise} m: it broke by itself in step {step}"
            );
        }
        let ball = Breakable {
            velocity: Vec3::new(0.0, 0.0, -8.0),
            density: 7800.0,
            ..Breakable::new(blueprint([3, 3, 3], Vec3::splat(0.1)))
        };
        world.add(ball.at(Pose::translation(0.05, 0.26, 0.3)));
        for _ in 0..30 {
            world.step();
        }
        let pieces = world.pieces().count();
        println!("wall: a rise of {rise} m: {pieces} pieces of 68 bricks");
        assert!(
            (70..300).contains(&pieces),
            "a rise of {rise} m: {pieces} pieces"
        );
    }
}

#[test]
fn bodies_built_into_the_ground_stay_there_when_they_break() {
    let mut world = world(1.0 / 60.0);
    let wall = blueprint([6, 6, 2], Vec3::new(0.6, 0.6, 0.1));
    let options = Breakable {
        anchors: vec![(Vec3::new(-1.0, -0.31, -1.0), Vec3::new(1.0, -0.29, 1.0))],
        ..Breakable::new(wall).with_breaker(fragile(8))
    };
    world.add(options.at(Pose::translation(0.0, 0.3, 0.0)));
    let whole = world.pieces().next().unwrap();
    assert!(world.body(whole).unwrap().is_fixed());
    let pieces = common::shatter(&mut world, whole, 8);
    for _ in 0..60 {
        world.step();
    }
    let fixed = |&&p: &&_| world.body(p).is_some_and(|b| b.is_fixed());
    let fixed: Vec<_> = pieces.iter().filter(fixed).collect();
    assert!(!fixed.is_empty() && fixed.len() < pieces.len());
    for &&piece in &fixed {
        assert_eq!(world.pose(piece).unwrap().translation, Vec3::Y * 0.3);
    }
}
