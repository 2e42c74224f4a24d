//! Hits, explosions, damage, breaks on request, materials of the game's colliders, contact
//! events.

mod common;

use std::sync::Arc;

use common::{blueprint, brick, fragile, momenta};
use fracas_fracture::patterns::{RadialOptions, VoronoiOptions};
use fracas_fracture::{
    BreakPattern, Breaker, FragmentModes, Material, RefractureRule, material::MaterialError,
};
use fracas_rapier::{
    ActionError, Breakable, Contact, Event, Falloff, PieceId, World, WorldSettings,
};
use glam::Vec3;
use parry3d::math::Pose;
use rapier3d::prelude::{ColliderBuilder, RigidBodyBuilder, RigidBodyHandle};

/// Nothing falls.
fn space() -> World {
    World::new(WorldSettings {
        gravity: Vec3::ZERO,
        ..WorldSettings::default()
    })
}

fn fragile_brick() -> Breakable {
    Breakable::new(brick()).with_breaker(fragile(8))
}

fn add(world: &mut World, brick: Breakable) -> PieceId {
    let object = world.add(brick);
    world.first_piece(object).unwrap()
}

fn ball(world: &mut World, at: Vec3, radius: f32) -> RigidBodyHandle {
    let body = RigidBodyBuilder::dynamic().translation(at);
    let collider = ColliderBuilder::ball(radius).density(1000.0);
    world.physics.insert(body, collider).0
}

#[test]
fn weak_hit_pushes_and_hard_hit_breaks() {
    for (speed, breaks) in [(0.9, false), (1.1, true)] {
        let mut world = space();
        let piece = add(&mut world, fragile_brick());
        let impulse = Vec3::new(0.0, speed * world.body(piece).unwrap().mass(), 0.0);
        let point = Vec3::new(0.08, -0.03, 0.0);
        world.hit(piece, point, impulse).unwrap();
        assert_eq!(momenta(&world).0.length(), 0.0, "it waits for the step");
        world.step();
        assert_eq!(world.pieces().count() > 1, breaks, "{speed}");
        let error = momenta(&world).0 - impulse.as_dvec3();
        assert!(
            error.length() < 1e-4 * f64::from(impulse.length()),
            "{error}"
        );
        if breaks {
            let mut speeds: Vec<(f32, f32)> = world
                .pieces()
                .map(|p| world.body(p).unwrap())
                .map(|b| (b.center_of_mass().distance(point), b.linvel().y))
                .collect();
            speeds.sort_by(|a, b| a.0.total_cmp(&b.0));
            assert!(speeds[0].1 > 2.0 * speeds.last().unwrap().1, "{speeds:?}");
        } else {
            let spin = world.body(piece).unwrap().angvel();
            assert!(spin.z > 0.0, "{spin}");
        }
    }
}

/// A piece that is fixed to the world breaks where it is hit; its loose fragments move.
#[test]
fn anchored_piece_breaks_by_a_hit() {
    let mut world = space();
    let half = 0.5 * Vec3::new(0.215, 0.065, 0.1025);
    let wall = fragile_brick().anchored(-half * 2.0, Vec3::new(-0.1, half.y * 2.0, half.z * 2.0));
    let piece = add(&mut world, wall);
    assert!(world.body(piece).unwrap().is_fixed());
    world.hit(piece, Vec3::X * 0.1, Vec3::Y * 20.0).unwrap();
    world.step();
    let bodies = world.pieces().map(|p| world.body(p).unwrap());
    let (fixed, loose): (Vec<_>, Vec<_>) = bodies.partition(|b| b.is_fixed());
    assert!(!fixed.is_empty() && !loose.is_empty());
    let momentum: f32 = loose.iter().map(|b| b.mass() * b.linvel().y).sum();
    // Some of it goes into the part that stays.
    assert!((16.0..20.1).contains(&momentum), "{momentum}");
}

#[test]
fn explosion_pushes_by_seen_area() {
    let mut world = space();
    let near = ball(&mut world, Vec3::new(0.6, 0.0, 0.0), 0.1);
    let boxed = RigidBodyBuilder::dynamic().translation(Vec3::new(0.0, -1.0, 0.0));
    let plate = ColliderBuilder::cuboid(0.3, 0.01, 0.2).density(1000.0);
    let plate = world.physics.insert(boxed, plate).0;
    let far = ball(&mut world, Vec3::new(0.0, 2.2, 0.0), 0.1);
    let sensor = ColliderBuilder::ball(0.1).sensor(true).density(1.0);
    let ghost = RigidBodyBuilder::dynamic().translation(Vec3::Z);
    let ghost = world.physics.insert(ghost, sensor).0;
    world.step();
    world
        .explode(Vec3::ZERO, 2.0, 100.0, Falloff::Linear)
        .unwrap();
    world.step();
    let impulse = |handle: RigidBodyHandle| {
        let body = &world.physics.bodies[handle];
        body.linvel() * body.mass()
    };
    let expected = [
        (near, Vec3::X * (100.0 * 0.75 * std::f32::consts::PI * 0.01)),
        (plate, Vec3::NEG_Y * (100.0 * 0.505 * 0.24)),
        (far, Vec3::ZERO),
        (ghost, Vec3::ZERO),
    ];
    for (handle, want) in expected {
        let found = impulse(handle);
        assert!(
            found.distance(want) <= 1e-3 * want.length(),
            "{found} {want}"
        );
    }
}

#[test]
fn explosion_breaks_and_throws_the_fragments() {
    let mut world = space();
    for x in [-0.3, 0.3] {
        add(
            &mut world,
            fragile_brick().at(Pose::translation(x, 0.0, 0.0)),
        );
    }
    let far = add(
        &mut world,
        fragile_brick().at(Pose::translation(0.0, 4.0, 0.0)),
    );
    let before = *world.pose(far).as_ref().unwrap();
    world.step();
    world.take_events();
    world
        .explode(Vec3::ZERO, 1.0, 2000.0, Falloff::Quadratic)
        .unwrap();
    world.step();
    let whole = |event: &Event| match event {
        Event::Broke { piece, .. } => piece.fragment.0 == 0,
        _ => false,
    };
    assert_eq!(world.take_events().iter().filter(|e| whole(e)).count(), 2);
    for piece in world.pieces().filter(|p| *p != far) {
        let body = world.body(piece).unwrap();
        let way = body.center_of_mass().normalize();
        // The pressure turns pieces, and neighbors push each other aside.
        assert!(body.linvel().dot(way) > 1.0, "{piece:?} {}", body.linvel());
    }
    assert_eq!(world.pose(far), Some(before));
}

/// What waits for the step, damage and materials are saved; runs go on alike.
#[test]
fn blows_damage_and_materials_are_saved() {
    let settings = WorldSettings {
        most_breaks_per_step: 1,
        ..WorldSettings::default()
    };
    let mut world = World::new(settings);
    let floor = world.add_floor(0.0, 0.6);
    world.set_collider_material(floor, Material::WOOD).unwrap();
    let mut pieces = Vec::new();
    for i in 0..4 {
        let at = Pose::translation(0.25 * i as f32, 0.05, 0.0);
        pieces.push(add(&mut world, fragile_brick().at(at)));
    }
    for _ in 0..10 {
        world.step();
    }
    world.damage(Vec3::new(0.0, 0.05, 0.0), 0.4, 0.5).unwrap();
    world.damage(Vec3::new(0.75, 0.05, 0.0), 0.1, 1.5).unwrap();
    world
        .explode(Vec3::new(0.3, 0.0, 0.2), 2.0, 400.0, Falloff::Linear)
        .unwrap();
    world
        .hit(pieces[0], Vec3::Y * 0.05, Vec3::NEG_Y * 9.0)
        .unwrap();
    let bytes = world.snapshot().unwrap();
    let mut restored = World::new(settings);
    restored.stock(&fragile_brick());
    restored.restore(&bytes).unwrap();
    assert_eq!(restored.collider_material(floor), Some(&Material::WOOD));
    let damage = pieces.iter().map(|&p| restored.piece_damage(p));
    let damage: Vec<f32> = damage.collect();
    assert!(
        damage[0] == 0.5 && damage[1] > 0.0 && damage[1] < 0.5,
        "{damage:?}"
    );
    assert_eq!(damage[3], 1.0);
    let mut broken = 0;
    for step in 0..60 {
        world.step();
        restored.step();
        assert_eq!(world.digest(), restored.digest(), "step {step}");
        broken += world.stats().broken;
    }
    assert!(broken >= 4, "{broken}");
}

#[test]
fn damage_weakens_and_is_inherited() {
    let hit = |damage: f32, speed: f32| {
        let mut world = space();
        let piece = add(&mut world, fragile_brick());
        world.damage(Vec3::ZERO, 0.0, damage).unwrap();
        let impulse = Vec3::Y * speed * world.body(piece).unwrap().mass();
        world.hit(piece, Vec3::ZERO, impulse).unwrap();
        world.step();
        world
    };
    assert_eq!(hit(0.0, 0.6).pieces().count(), 1);
    assert_eq!(hit(0.3, 0.6).pieces().count(), 1);
    let broken = hit(0.5, 0.6);
    assert!(broken.pieces().count() > 1);
    for piece in broken.pieces() {
        assert_eq!(broken.piece_damage(piece), 0.5);
    }
}

#[test]
fn piece_of_full_damage_falls_apart() {
    let mut world = space();
    let strong = Breaker::new(Material::STEEL, None);
    let piece = add(&mut world, Breakable::new(brick()).with_breaker(strong));
    let rock = add(
        &mut world,
        Breakable::new(brick()).at(Pose::translation(0.0, 0.2, 0.0)),
    );
    for _ in 0..2 {
        world.damage(Vec3::ZERO, 1.0, 0.6).unwrap();
    }
    assert_eq!(world.piece_damage(piece), 1.0);
    assert_eq!(world.piece_damage(rock), 0.0, "it cannot break");
    world.step();
    let fragments: Vec<PieceId> = world
        .pieces()
        .filter(|p| p.object == piece.object)
        .collect();
    assert!(fragments.len() > 2);
    assert!(fragments.iter().all(|&p| world.piece_damage(p) == 0.0));
    world.step();
    assert_eq!(world.pieces().count(), fragments.len() + 1, "no further");
}

#[test]
fn pattern_breaks_a_piece_or_says_why_not() {
    let mut world = space();
    let piece = add(&mut world, Breakable::new(brick()));
    let beside = RadialOptions::at(Vec3::X * 90.0, Vec3::Z);
    let missed = world.break_with(piece, &BreakPattern::Radial(beside));
    assert_eq!(missed, Err(ActionError::NothingParts(piece)));
    let cells = BreakPattern::Voronoi(VoronoiOptions {
        pieces: 5,
        ..VoronoiOptions::default()
    });
    let fragments = world.break_with(piece, &cells).unwrap();
    assert_eq!(fragments.len(), 5);
    assert_eq!(world.pieces().collect::<Vec<_>>(), fragments);
    let gone = Err(ActionError::UnknownPiece(piece));
    assert_eq!(world.break_with(piece, &cells), gone);
    assert_eq!(world.hit(piece, Vec3::ZERO, Vec3::X), gone.map(|_| ()));
}

#[test]
fn bad_numbers_are_refused_by_name() {
    let mut world = space();
    let piece = add(&mut world, Breakable::new(brick()));
    let nan = Vec3::splat(f32::NAN);
    let floor = world.add_floor(-1.0, 0.5);
    let soft = Material {
        young: -1.0,
        ..Material::CARPET
    };
    let refused = [
        world.hit(piece, nan, Vec3::X).unwrap_err(),
        world.hit(piece, Vec3::ZERO, nan).unwrap_err(),
        world.explode(nan, 1.0, 1.0, Falloff::Linear).unwrap_err(),
        world
            .explode(Vec3::ZERO, -1.0, 1.0, Falloff::Linear)
            .unwrap_err(),
        world
            .explode(Vec3::ZERO, 1.0, f32::INFINITY, Falloff::Linear)
            .unwrap_err(),
        world.damage(nan, 1.0, 1.0).unwrap_err(),
        world.damage(Vec3::ZERO, f32::NAN, 1.0).unwrap_err(),
        world.damage(Vec3::ZERO, 1.0, -0.1).unwrap_err(),
        world.set_collider_material(floor, soft).unwrap_err(),
    ];
    let names = [
        "point",
        "impulse",
        "center",
        "radius",
        "strength",
        "point",
        "radius",
        "amount",
        "Young's modulus",
    ];
    for (error, name) in refused.iter().zip(names) {
        assert!(error.to_string().contains(name), "{error}");
    }
    assert!(matches!(
        refused[8],
        ActionError::Material(MaterialError::OutOfRange { .. })
    ));
    world.physics.remove_collider(floor);
    let gone = world.set_collider_material(floor, Material::CARPET);
    assert_eq!(gone, Err(ActionError::UnknownCollider(floor)));
    world.step();
    assert_eq!(world.body(piece).unwrap().linvel(), Vec3::ZERO);
}

/// Falls flat or on an edge from a height (m) onto a floor; tells whether it breaks.
fn breaks_on(material: Option<Material>, thing: &Breakable, height: f32, turn: f32) -> bool {
    let mut world = World::new(WorldSettings::default());
    let floor = world.add_floor(0.0, 0.6);
    if let Some(material) = material {
        world.set_collider_material(floor, material).unwrap();
    }
    let rotation = glam::Quat::from_rotation_z(turn);
    let at = Pose::from_parts(Vec3::Y * height, rotation);
    world.add(thing.clone().at(at));
    for _ in 0..120 {
        world.step();
    }
    world.pieces().count() > 1
}

#[test]
fn porcelain_breaks_on_stone_and_survives_on_carpet() {
    let tile = blueprint([12, 1, 9], Vec3::new(0.2, 0.008, 0.15));
    let (_, shape) = tile.object();
    let modes = {
        let state = shape.object().read();
        let (material, rule) = (Material::PORCELAIN, RefractureRule::default());
        FragmentModes::compute(state.fragments(), shape.id(), &material, &rule).unwrap()
    };
    let by_modes = Breaker::new(Material::PORCELAIN, Some(Arc::new(modes)));
    let by_pattern = Breaker::new(Material::PORCELAIN, None);
    for (breaker, height, turn) in [(by_modes, 1.0, 0.3), (by_pattern, 1.6, 0.0)] {
        let thing = Breakable::new(tile.clone()).with_breaker(breaker);
        assert!(breaks_on(None, &thing, height, turn));
        assert!(breaks_on(Some(Material::GRANITE), &thing, height, turn));
        assert!(!breaks_on(Some(Material::CARPET), &thing, height, turn));
    }
}

#[test]
fn contacts_are_reported_once_for_each_pair_and_step() {
    let mut world = World::new(WorldSettings {
        event_impulse: 0.5,
        ..WorldSettings::default()
    });
    let floor = world.add_floor(0.0, 0.6);
    world.set_collider_material(floor, Material::WOOD).unwrap();
    let sturdy = Breaker::new(Material::STEEL, None);
    let brick = Breakable::new(brick()).with_breaker(sturdy);
    let piece = add(&mut world, brick.at(Pose::translation(0.0, 0.5, 0.0)));
    let plain = ball(&mut world, Vec3::new(1.0, 0.6, 0.0), 0.1);
    let collider = world.collider(piece).unwrap();
    let other = world.physics.bodies[plain].colliders()[0];
    let mut contacts: Vec<(u64, Contact)> = Vec::new();
    for _ in 0..60 {
        world.step();
        let step = world.steps();
        contacts.extend(world.take_events().into_iter().filter_map(|e| match e {
            Event::Contact(contact) => Some((step, contact)),
            _ => None,
        }));
    }
    let of = |c| {
        contacts
            .iter()
            .filter(move |(_, e)| e.colliders.contains(&c))
    };
    for (c, own, materials) in [
        (
            collider,
            Some(piece),
            [Some(Material::STEEL), Some(Material::WOOD)],
        ),
        (other, None, [None, Some(Material::WOOD)]),
    ] {
        let steps: Vec<u64> = of(c).map(|(step, _)| *step).collect();
        assert!(
            !steps.is_empty() && steps.is_sorted_by(|a, b| a < b),
            "{steps:?}"
        );
        // It stops within two or three steps.
        let body = world.physics.colliders[c].parent().unwrap();
        let momentum = world.physics.bodies[body].mass() * (2.0_f32 * 9.81 * 0.46).sqrt();
        let hard = of(c).take(3).map(|(_, e)| e.impulse).sum::<f32>();
        assert!((0.7..1.5).contains(&(hard / momentum)), "{hard} {momentum}");
        for (_, contact) in of(c) {
            let own_side = usize::from(contact.colliders[1] == c);
            assert_eq!(contact.colliders[1 - own_side], floor);
            assert_eq!(contact.pieces[own_side], own);
            assert_eq!(contact.pieces[1 - own_side], None);
            assert_eq!(contact.materials[own_side], materials[0]);
            assert_eq!(contact.materials[1 - own_side], materials[1]);
            // Away from the first: up on the body, down on the floor.
            let up = if own_side == 1 { 1.0 } else { -1.0 };
            assert!(contact.normal.distance(Vec3::Y * up) < 1e-3);
            assert!(contact.point.y.abs() < 0.05 && contact.impulse > 0.5);
        }
    }
}

#[cfg(feature = "parallel")]
#[test]
fn explosion_is_the_same_for_any_number_of_threads() {
    let digest = |threads: usize| {
        let mut world = World::new(WorldSettings::default());
        world.add_floor(0.0, 0.6);
        let pipeline = &mut world.physics.physics_pipeline;
        pipeline.configure_thread_pool(threads).unwrap();
        for i in 0..6 {
            let at = Pose::translation(0.22 * (i % 3) as f32, 0.04 + 0.07 * (i / 3) as f32, 0.0);
            add(&mut world, fragile_brick().at(at));
        }
        world.step();
        let center = Vec3::new(0.2, 0.05, 0.15);
        world.explode(center, 1.0, 800.0, Falloff::Linear).unwrap();
        for _ in 0..20 {
            world.step();
        }
        assert!(world.pieces().count() > 12);
        world.digest()
    };
    assert_eq!(digest(1), digest(3));
}
