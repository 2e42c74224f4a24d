//! `Breakable` as a body builder: the engine's templates, and objects at other sizes.
#![cfg(feature = "world")]

use std::sync::Arc;

use fracas_core::grid::bent_grid;
use fracas_core::sphere_tree::BuildOptions;
use fracas_core::{FieldOptions, FragmentId, Fragments};
use fracas_fracture::patterns::{VoronoiOptions, voronoi};
use fracas_fracture::{Breaker, Material, Modes, ModesOptions};
use fracas_rapier::{Blueprint, Breakable, ObjectError, PieceId, World, WorldSettings};
use glam::Vec3;
use rapier3d::prelude::*;

/// A bar of 24 x 8 x 8 cm.
fn blueprint() -> Arc<Blueprint> {
    let mesh = bent_grid([6, 2, 2], false, |p| 0.04 * p).unwrap();
    let (field, tree) = (FieldOptions::default(), BuildOptions::default());
    Arc::new(Blueprint::build(Arc::new(mesh), &field, &tree).unwrap())
}

fn with_modes(blueprint: &Arc<Blueprint>) -> Breakable {
    let whole = Fragments::new(Arc::clone(blueprint.mesh()));
    let options = ModesOptions {
        count: 12,
        ..ModesOptions::default()
    };
    let material = Material::PLASTER;
    let modes = Modes::compute(&whole, FragmentId(0), &material, &options, &mut |_| ());
    let breaker = Breaker::new(material, Some(Arc::new(modes.unwrap())));
    Breakable::new(Arc::clone(blueprint)).with_breaker(breaker)
}

fn add(world: &mut World, body: Breakable) -> PieceId {
    let object = world.add(body);
    let piece = world.pieces().find(|p| p.object == object);
    piece.unwrap()
}

#[test]
fn templates_are_honoured() {
    let body = RigidBodyBuilder::kinematic_position_based()
        .pose(Pose::translation(1.0, 2.0, 3.0))
        .gravity_scale(0.25)
        .linear_damping(0.5)
        .angular_damping(0.75)
        .dominance_group(7)
        .lock_rotations()
        .additional_mass(3.0)
        .can_sleep(false)
        .ccd_enabled(true)
        .allow_fast_rotation(true)
        .enabled(false)
        .user_data(42)
        .additional_solver_iterations(3)
        .additional_pgs_iterations(2)
        .gyroscopic_forces_enabled(false)
        .linvel(Vector::new(0.1, 0.2, 0.3))
        .angvel(Vector::new(0.4, 0.5, 0.6));
    let groups = InteractionGroups::new(Group::GROUP_3, Group::GROUP_5, InteractionTestMode::And);
    let collider = ColliderBuilder::ball(1.0)
        .translation(Vector::X)
        .friction(0.3)
        .friction_combine_rule(CoefficientCombineRule::Max)
        .restitution(0.4)
        .restitution_combine_rule(CoefficientCombineRule::Min)
        .sensor(true)
        .active_collision_types(ActiveCollisionTypes::all())
        .active_hooks(ActiveHooks::FILTER_CONTACT_PAIRS)
        .active_events(ActiveEvents::COLLISION_EVENTS)
        .user_data(43)
        .collision_groups(groups)
        .solver_groups(groups)
        .contact_force_event_threshold(5.0)
        .contact_skin(0.001)
        .density(1234.0);
    let mut world = World::new(WorldSettings::default());
    let made = Breakable::new(blueprint())
        .body(body.clone())
        .collider(collider.clone());
    let piece = add(&mut world, made);
    // The engine's own, of the same builders.
    let (expected, shaped) = (body.build(), collider.build());
    let body = world.body(piece).unwrap();
    assert_eq!(body.body_type(), expected.body_type());
    assert_eq!(body.position(), expected.position());
    assert_eq!(
        (body.linvel(), body.angvel()),
        (expected.linvel(), expected.angvel())
    );
    assert_eq!(body.gravity_scale(), expected.gravity_scale());
    assert_eq!(body.linear_damping(), expected.linear_damping());
    assert_eq!(body.angular_damping(), expected.angular_damping());
    assert_eq!(body.dominance_group(), expected.dominance_group());
    assert_eq!(body.locked_axes(), expected.locked_axes());
    assert!(body.is_ccd_enabled() && !body.is_enabled());
    assert_eq!(body.user_data, 42);
    assert_eq!(body.additional_solver_iterations(), 3);
    let wanted = 1234.0 * 0.24 * 0.08 * 0.08 + 3.0;
    assert!((body.mass() / wanted - 1.0).abs() < 1e-4, "{}", body.mass());
    let collider = &world.physics.colliders[world.collider(piece).unwrap()];
    assert_eq!(collider.friction(), 0.3);
    assert_eq!(
        collider.friction_combine_rule(),
        CoefficientCombineRule::Max
    );
    assert_eq!(collider.restitution(), 0.4);
    assert_eq!(
        collider.restitution_combine_rule(),
        CoefficientCombineRule::Min
    );
    assert!(collider.is_sensor());
    assert_eq!(
        collider.active_collision_types(),
        shaped.active_collision_types()
    );
    assert_eq!(collider.active_hooks(), shaped.active_hooks());
    assert_eq!(collider.active_events(), shaped.active_events());
    assert_eq!(collider.user_data, 43);
    assert_eq!(
        (collider.collision_groups(), collider.solver_groups()),
        (groups, groups)
    );
    assert_eq!(collider.contact_force_event_threshold(), 5.0);
    assert_eq!(collider.contact_skin(), 0.001);
    assert_eq!(collider.position(), body.position());
    // What is said later counts.
    let moved = Breakable::new(blueprint())
        .body(RigidBodyBuilder::dynamic().translation(Vector::X))
        .at(Pose::translation(5.0, 0.0, 0.0));
    let piece = add(&mut world, moved);
    assert_eq!(world.pose(piece), Some(Pose::translation(5.0, 0.0, 0.0)));
}

#[test]
fn mass_of_a_template_becomes_a_density() {
    let mut world = World::new(WorldSettings::default());
    let body = Breakable::new(blueprint()).collider(ColliderBuilder::default().mass(6.0));
    let piece = add(&mut world, body);
    assert!((world.body(piece).unwrap().mass() - 6.0).abs() < 1e-3);
    // Without one the material's stays.
    let body = with_modes(&blueprint()).collider(ColliderBuilder::default().sensor(true));
    assert_eq!(body.density, Material::PLASTER.density as f32);
}

#[test]
fn scaled_bodies_share_and_scale_everything() {
    let own = with_modes(&blueprint()).anchored(Vec3::ZERO, Vec3::splat(0.01));
    let large = own.clone().scaled(2.0).unwrap();
    let again = own.clone().scaled(2.0).unwrap();
    assert!(Arc::ptr_eq(&large.blueprint, &again.blueprint));
    let modes = |body: &Breakable| {
        let modes = body.breaker.as_ref().unwrap().modes(FragmentId(0)).unwrap();
        Arc::clone(modes)
    };
    assert!(Arc::ptr_eq(&modes(&large), &modes(&again)));
    assert_ne!(large.blueprint.key(), own.blueprint.key());
    for (a, b) in modes(&large)
        .frequencies()
        .iter()
        .zip(modes(&own).frequencies())
    {
        assert!((a / b - 0.5).abs() < 1e-12);
    }
    assert_eq!(large.anchors, [(Vec3::ZERO, Vec3::splat(0.02))]);
    let mut world = World::new(WorldSettings::default());
    let [small, large] = [own.clone(), large].map(|body| add(&mut world, body));
    let mass = |piece| world.body(piece).unwrap().mass();
    assert!((mass(large) / mass(small) - 8.0).abs() < 1e-4);
    let deepest = |piece| {
        let state = world.shape(piece).unwrap().object().read();
        let nodes = 0..state.fragments().mesh().positions().len() as u32;
        nodes
            .map(|n| state.field().at_node(n).0)
            .fold(0.0, f32::max)
    };
    assert!((deepest(large) / deepest(small) - 2.0).abs() < 1e-5 && deepest(small) > 0.03);
    let radius = |piece| world.shape(piece).unwrap().tree().bounding_sphere().1;
    assert!((radius(large) / radius(small) - 2.0).abs() < 1e-5);
    // The original is the same for 1, and what cannot be is refused.
    assert!(Arc::ptr_eq(
        &own.clone().scaled(1.0).unwrap().blueprint,
        &own.blueprint
    ));
    for bad in [0.0, -1.0, f32::NAN, f32::INFINITY, 1e38] {
        let refused = own.clone().scaled(bad).unwrap_err();
        assert!(matches!(refused, ObjectError::Scale(_)), "{bad}: {refused}");
    }
}

#[test]
fn unused_scales_are_dropped() {
    let own = Breakable::new(blueprint());
    let first = Arc::downgrade(&own.clone().scaled(3.0).unwrap().blueprint);
    assert_eq!(first.strong_count(), 0);
}

/// Breaks a piece by a pattern.
fn broken(world: &mut World, piece: PieceId) -> Vec<PieceId> {
    let options = VoronoiOptions {
        pieces: 5,
        ..VoronoiOptions::default()
    };
    let fracture = {
        let state = world.shape(piece).unwrap().object().read();
        voronoi(state.fragments(), piece.fragment, &options).unwrap()
    };
    let children = world.break_piece(piece, fracture);
    assert!(children.len() > 2);
    children
}

#[test]
fn snapshots_restore_scaled_objects() {
    let own = with_modes(&blueprint());
    let large = own.clone().scaled(1.7).unwrap();
    let mut world = World::new(WorldSettings::default());
    world.add_floor(-1.0, 0.6);
    let piece = add(&mut world, large.clone());
    broken(&mut world, piece);
    for _ in 0..10 {
        world.step();
    }
    let saved = world.snapshot().unwrap();
    let mut later = World::new(WorldSettings::default());
    // The kind at its own size is another kind.
    later.stock(&own);
    assert!(later.restore(&saved).is_err());
    // Computed anew, as another program does it.
    later.stock(&with_modes(&blueprint()).scaled(1.7).unwrap());
    later.restore(&saved).unwrap();
    assert_eq!(later.digest(), world.digest());
    for _ in 0..30 {
        world.step();
        later.step();
    }
    assert_eq!(later.digest(), world.digest());
}

/// Area of the triangles of a range of indices.
fn area(buffers: &fracas_rapier::VertexBuffers, range: std::ops::Range<u32>) -> f64 {
    let indices = &buffers.indices[range.start as usize..range.end as usize];
    let place = |v: &u32| Vec3::from_array(buffers.positions[*v as usize]).as_dvec3();
    let doubled = indices.chunks_exact(3).map(|t| {
        let [a, b, c] = [0, 1, 2].map(|i| place(&t[i]));
        (b - a).cross(c - a).length()
    });
    0.5 * doubled.sum::<f64>()
}

#[test]
fn vertex_buffers_hold_outside_and_cracks() {
    let mut world = World::new(WorldSettings::default());
    let whole = add(&mut world, Breakable::new(blueprint()));
    let before = world.vertex_buffers(whole).unwrap();
    assert!(before.is_closed() && before.inside.is_empty());
    // A box has flat sides and sharp edges: each normal is an axis, each corner has three.
    assert!(
        before
            .normals
            .iter()
            .all(|n| n.iter().filter(|x| x.abs() > 0.999).count() == 1)
    );
    let outside = area(&before, before.outside.clone());
    assert!(
        (outside - 2.0 * (2.0 * 0.24 * 0.08 + 0.08 * 0.08)).abs() < 1e-6,
        "{outside}"
    );
    assert!(Arc::ptr_eq(&before, &world.vertex_buffers(whole).unwrap()));
    let children = broken(&mut world, whole);
    assert!(
        world.vertex_buffers(whole).is_none(),
        "dropped with its piece"
    );
    let mut shown = 0.0;
    for &piece in &children {
        let buffers = world.vertex_buffers(piece).unwrap();
        assert!(buffers.is_closed());
        assert_eq!(buffers.outside.end, buffers.inside.start);
        assert_eq!(buffers.inside.end as usize, buffers.indices.len());
        let surface = world.surface(piece).unwrap();
        let triangles = 0..surface.triangles().len();
        let cracks = triangles.skip(surface.outer_triangles()).map(|t| {
            let [a, b, c] = surface.corners(t).map(Vec3::as_dvec3);
            0.5 * (b - a).cross(c - a).length()
        });
        let cracks: f64 = cracks.sum();
        assert!((area(&buffers, buffers.inside.clone()) / cracks - 1.0).abs() < 1e-9);
        shown += area(&buffers, buffers.outside.clone());
        let count = buffers.positions.len();
        assert!(buffers.normals.len() == count && buffers.uvs.len() == count);
        assert!(buffers.indices.iter().all(|&v| (v as usize) < count));
        let interleaved = buffers.interleaved();
        assert_eq!(interleaved.len(), count);
        assert_eq!(interleaved[0][..3], buffers.positions[0]);
        for normal in &buffers.normals {
            assert!((Vec3::from_array(*normal).length() - 1.0).abs() < 1e-5);
        }
    }
    assert!((shown / outside - 1.0).abs() < 1e-5, "{shown} of {outside}");
}

#[test]
fn jobs_on_threads_make_equal_bits() {
    let run = |threads: bool| {
        let mut world = World::new(WorldSettings::default());
        let whole = add(&mut world, Breakable::new(blueprint()));
        let children = broken(&mut world, whole);
        let jobs = children
            .iter()
            .map(|&piece| world.vertex_buffer_job(piece).unwrap());
        let jobs: Vec<_> = jobs.collect();
        assert!(jobs.iter().all(|job| job.get().is_none()));
        // Later cracks change nothing: a job sees what was there when it was made.
        let further = children.iter().max_by(|a, b| {
            let volume = |p: &PieceId| world.shape(*p).unwrap().volume();
            volume(a).total_cmp(&volume(b))
        });
        let further = *further.unwrap();
        if threads {
            broken(&mut world, further);
            let made = jobs
                .into_iter()
                .map(|job| std::thread::spawn(move || job.run()));
            made.map(|thread| thread.join().unwrap())
                .collect::<Vec<_>>()
        } else {
            jobs.iter().map(|job| job.run()).collect()
        }
    };
    let (one, other) = (run(false), run(true));
    assert!(one == other && one.iter().all(|buffers| buffers.is_closed()));
}
