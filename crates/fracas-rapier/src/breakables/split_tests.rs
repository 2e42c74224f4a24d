//! A break between two steps: what the fragments' bodies have from the body that broke, what is
//! told of it, and when its trees are there.

use std::sync::atomic::{AtomicU64, Ordering};

use fracas_core::sphere_tree::{BuildOptions, SplitMethod};
use fracas_core::testing::box_grid;
use fracas_core::{Crack, FieldOptions};
use glam::{Quat, Vec3};
use parry3d::math::Pose;
use rapier3d::prelude::*;

use super::*;
use crate::DebrisPolicy;
use crate::breakables::BreakSettings;
use crate::parry_shape::ParryShape;
use crate::{Blueprint, ContactMode};

/// A box of 2 x 1 x 1, from the origin.
fn blueprint() -> Arc<Blueprint> {
    let mesh = Arc::new(box_grid([8, 4, 4], Vec3::new(2.0, 1.0, 1.0)));
    let options = (FieldOptions::default(), BuildOptions::default());
    Arc::new(Blueprint::build(mesh, &options.0, &options.1).unwrap())
}

fn settings() -> BreakSettings {
    BreakSettings {
        contacts: ContactMode::default(),
        restructuring: SplitMethod::MaximumDistance,
        most_breaks_per_step: 10,
        event_impulse: f32::INFINITY,
        units: 1.0,
        sleep: true,
        fragments_sleep: false,
        fragment_modes: Default::default(),
        look_ahead: 0.5,
        debris: DebrisPolicy {
            min_breaking_share: 0.0,
            ..DebrisPolicy::default()
        },
    }
}

/// An engine with breakable bodies; every look at the clock is a second later.
struct Scene {
    physics: PhysicsWorld,
    breakables: Breakables,
}

impl Scene {
    fn new(settings: BreakSettings) -> Self {
        let mut breakables = Breakables::new(settings);
        let seconds = AtomicU64::new(0);
        breakables.set_clock(move || seconds.fetch_add(1, Ordering::Relaxed) as f64);
        Self {
            physics: PhysicsWorld::default(),
            breakables,
        }
    }

    fn add(&mut self, options: Breakable) -> PieceId {
        let (bodies, colliders) = (&mut self.physics.bodies, &mut self.physics.colliders);
        let object = self.breakables.add(options, 0.0, bodies, colliders);
        PieceId {
            object,
            fragment: FragmentId(0),
        }
    }

    fn break_by(&mut self, piece: PieceId, fracture: Fracture) -> Vec<PieceId> {
        let mut engine = Engine::from(&mut self.physics);
        self.breakables.break_piece(piece, fracture, &mut engine)
    }

    /// Cuts a piece across the x axis of its object.
    fn cut(&self, piece: PieceId, at: f32) -> Fracture {
        let shape = self.breakables.shape(piece).unwrap();
        let state = shape.object().read();
        let fragments = state.fragments();
        let mesh = fragments.mesh();
        let nodes = fragments.fragment(piece.fragment).nodes();
        let level = |n: u32| mesh.positions()[n as usize].x - at;
        Fracture {
            fragment: piece.fragment,
            cracks: vec![Crack::from_level(mesh, 0, nodes, level).unwrap()],
        }
    }

    fn body(&self, piece: PieceId) -> &RigidBody {
        &self.physics.bodies[self.breakables.body(piece).unwrap()]
    }

    fn body_mut(&mut self, piece: PieceId) -> &mut RigidBody {
        &mut self.physics.bodies[self.breakables.body(piece).unwrap()]
    }

    fn collider(&self, piece: PieceId) -> &Collider {
        &self.physics.colliders[self.breakables.collider(piece).unwrap()]
    }

    fn pieces(&self) -> Vec<PieceId> {
        self.breakables.pieces().collect()
    }
}

#[test]
fn fragments_move_as_their_part_of_the_body_moved() {
    let mut scene = Scene::new(settings());
    let turn = Quat::from_axis_angle(Vec3::new(0.6, 0.0, 0.8), 0.7);
    let pose = Pose::from_parts(Vec3::new(3.0, -1.0, 2.0), turn);
    let whole = scene.add(Breakable::new(blueprint()).at(pose));
    let (velocity, spin) = (Vec3::new(1.0, -2.0, 0.5), Vec3::new(0.3, 2.0, -1.0));
    scene.body_mut(whole).set_linvel(velocity, true);
    scene.body_mut(whole).set_angvel(spin, true);
    let (mass, centre) = (scene.body(whole).mass(), scene.body(whole).center_of_mass());
    let old = scene.breakables.collider(whole).unwrap();
    let children = scene.break_by(whole, scene.cut(whole, 0.6));
    assert_eq!(children.len(), 2);
    assert_eq!(scene.pieces(), children);
    // Nothing of the old body is left.
    assert!(scene.breakables.body(whole).is_none() || children.contains(&whole));
    assert!(scene.physics.colliders.get(old).is_none());
    assert_eq!(scene.physics.bodies.len(), 2);
    let (mut masses, mut momentum) = (0.0, Vec3::ZERO);
    for &child in &children {
        let body = scene.body(child);
        let arm = body.center_of_mass() - centre;
        assert!(arm.length() > 0.2, "its own centre, not the body's");
        assert!(body.linvel().distance(velocity + spin.cross(arm)) < 1e-4);
        assert_eq!(body.angvel(), spin);
        assert!(body.position().translation.distance(pose.translation) < 1e-6);
        assert!(body.position().rotation.dot(turn).abs() > 1.0 - 1e-6);
        masses += body.mass();
        momentum += body.mass() * body.linvel();
        let collider = scene.breakables.collider(child).unwrap();
        assert_eq!(scene.breakables.piece_of(collider), Some(child));
        assert_eq!(scene.breakables.shape(child).unwrap().id(), child.fragment);
    }
    assert!((masses / mass - 1.0).abs() < 1e-4, "{masses} of {mass}");
    assert!(
        momentum.distance(mass * velocity) < 1e-3 * mass,
        "{momentum}"
    );
}

#[test]
fn fragments_have_what_the_caller_set_on_body_and_collider() {
    let mut scene = Scene::new(settings());
    let whole = scene.add(Breakable::new(blueprint()));
    let body = scene.body_mut(whole);
    body.set_gravity_scale(0.25, true);
    body.set_linear_damping(0.5);
    body.set_angular_damping(0.75);
    body.set_dominance_group(3);
    body.set_locked_axes(LockedAxes::ROTATION_LOCKED_X, true);
    body.user_data = 77;
    let handle = scene.breakables.collider(whole).unwrap();
    let collider = &mut scene.physics.colliders[handle];
    let groups = |a: u32, b: u32| {
        let (a, b) = (Group::from_bits_truncate(a), Group::from_bits_truncate(b));
        InteractionGroups::new(a, b, InteractionTestMode::And)
    };
    collider.set_collision_groups(groups(1, 6));
    collider.set_solver_groups(groups(2, 5));
    collider.set_friction(0.125);
    collider.set_friction_combine_rule(CoefficientCombineRule::Max);
    collider.set_restitution(0.375);
    collider.set_restitution_combine_rule(CoefficientCombineRule::Min);
    collider.set_active_events(ActiveEvents::COLLISION_EVENTS);
    collider.set_active_hooks(ActiveHooks::FILTER_CONTACT_PAIRS);
    collider.set_active_collision_types(ActiveCollisionTypes::DYNAMIC_FIXED);
    collider.set_contact_force_event_threshold(9.5);
    collider.set_contact_skin(0.01);
    collider.user_data = 78;
    for child in scene.break_by(whole, scene.cut(whole, 1.2)) {
        let body = scene.body(child);
        assert_eq!(body.gravity_scale(), 0.25);
        assert_eq!((body.linear_damping(), body.angular_damping()), (0.5, 0.75));
        assert_eq!((body.dominance_group(), body.user_data), (3, 77));
        assert_eq!(body.locked_axes(), LockedAxes::ROTATION_LOCKED_X);
        let collider = scene.collider(child);
        assert_eq!(collider.collision_groups(), groups(1, 6));
        assert_eq!(collider.solver_groups(), groups(2, 5));
        assert_eq!(
            (collider.friction(), collider.restitution()),
            (0.125, 0.375)
        );
        let (friction, restitution) = (
            collider.friction_combine_rule(),
            collider.restitution_combine_rule(),
        );
        assert_eq!(friction, CoefficientCombineRule::Max);
        assert_eq!(restitution, CoefficientCombineRule::Min);
        assert_eq!(collider.active_events(), ActiveEvents::COLLISION_EVENTS);
        assert_eq!(collider.active_hooks(), ActiveHooks::FILTER_CONTACT_PAIRS);
        let types = collider.active_collision_types();
        assert_eq!(types, ActiveCollisionTypes::DYNAMIC_FIXED);
        assert_eq!(collider.contact_force_event_threshold(), 9.5);
        assert_eq!((collider.contact_skin(), collider.user_data), (0.01, 78));
        // What is its own: how far it looks ahead, whether it may sleep.
        let reach = scene.breakables.shape(child).unwrap().reach();
        assert!((body.soft_ccd_prediction() - 0.5 * reach).abs() < 1e-6);
        assert!(reach > 0.2 && reach < 2.5, "{reach}");
        assert!(
            body.activation().normalized_linear_threshold < 0.0,
            "never asleep"
        );
    }
    let mut scene = Scene::new(BreakSettings {
        fragments_sleep: true,
        ..settings()
    });
    let whole = scene.add(Breakable::new(blueprint()));
    for child in scene.break_by(whole, scene.cut(whole, 1.2)) {
        assert!(scene.body(child).activation().normalized_linear_threshold > 0.0);
    }
}

/// Names of the fields of a struct, from its debug text.
fn field_names(debug: &str) -> Vec<&str> {
    let mut depth = 0;
    let mut start = 0;
    let mut names = Vec::new();
    for (i, c) in debug.char_indices() {
        match c {
            '{' | '(' | '[' => depth += 1,
            '}' | ')' | ']' => depth -= 1,
            ':' if depth == 1 && start > 0 => names.push(debug[start..i].trim()),
            _ => {}
        }
        match c {
            '{' | ',' if depth == 1 => start = i + 1,
            ':' => start = 0,
            _ => {}
        }
    }
    names
}

/// A body in which every setting differs from the default.
fn unusual_body() -> RigidBodyBuilder {
    RigidBodyBuilder::dynamic()
        .linvel(Vec3::new(0.1, 0.2, 0.3))
        .angvel(Vec3::new(0.2, 0.1, -0.1))
        .gravity_scale(0.25)
        .linear_damping(0.5)
        .angular_damping(0.75)
        .locked_axes(LockedAxes::ROTATION_LOCKED_X)
        .additional_mass(500.0)
        .ccd_enabled(true)
        .soft_ccd_prediction(0.125)
        .allow_fast_rotation(true)
        .dominance_group(3)
        .enabled(false)
        .user_data(77)
        .additional_solver_iterations(5)
        .additional_pgs_iterations(6)
        .gyroscopic_forces_enabled(false)
}

/// Settings of a body that fragments copy.
fn copied(body: &RigidBody) -> impl PartialEq + std::fmt::Debug + use<> {
    (
        (
            body.gravity_scale(),
            body.linear_damping(),
            body.angular_damping(),
        ),
        (
            body.locked_axes(),
            body.is_ccd_enabled(),
            body.is_fast_rotation_allowed(),
        ),
        (body.dominance_group(), body.is_enabled(), body.user_data),
        (
            body.additional_solver_iterations(),
            body.additional_pgs_iterations(),
        ),
        (
            body.gyroscopic_forces_enabled(),
            body.activation().normalized_linear_threshold,
        ),
        (
            body.activation().angular_threshold,
            body.activation().time_until_sleep,
        ),
    )
}

#[test]
fn fragments_inherit_every_field_of_the_body_builder() {
    // A new field of the engine's builder has to be inherited, too: see `inherit.rs`.
    let builder = format!("{:?}", RigidBodyBuilder::dynamic());
    let own = [
        "position",
        "linvel",
        "angvel",
        "body_type",
        "sleeping",
        "soft_ccd_prediction",
    ];
    let shared = ["additional_mass_properties"];
    let same = [
        "gravity_scale",
        "linear_damping",
        "angular_damping",
        "mprops_flags",
        "can_sleep",
        "ccd_enabled",
        "allow_fast_rotation",
        "dominance_group",
        "enabled",
        "user_data",
        "additional_solver_iterations",
        "additional_pgs_iterations",
        "gyroscopic_forces_enabled",
    ];
    let mut known = [&own[..], &shared, &same].concat();
    let mut names = field_names(&builder);
    known.sort_unstable();
    names.sort_unstable();
    assert_eq!(names, known);

    let mut scene = Scene::new(BreakSettings {
        fragments_sleep: true,
        ..settings()
    });
    let whole = scene.add(Breakable::new(blueprint()));
    let plain = scene.body(whole).mass();
    let handle = scene.breakables.body(whole).unwrap();
    let body = &mut scene.physics.bodies[handle];
    body.copy_from(&unusual_body().build());
    body.activation_mut().normalized_linear_threshold = 0.0625;
    body.activation_mut().angular_threshold = 0.25;
    body.activation_mut().time_until_sleep = 3.0;
    body.add_force(Vec3::new(1.0, 2.0, 3.0), true);
    body.add_torque(Vec3::new(3.0, 2.0, 1.0), true);
    body.recompute_mass_properties_from_colliders(&scene.physics.colliders);
    let parent = body.clone();
    assert!((parent.mass() - plain - 500.0).abs() < 0.1);
    // One of 0.6 and one of 1.4 by 1 by 1.
    let children = scene.break_by(whole, scene.cut(whole, 0.6));
    assert_eq!(children.len(), 2);
    let mut masses = 0.0;
    for &child in &children {
        let body = scene.body(child);
        assert_eq!(copied(body), copied(&parent));
        let share = scene.breakables.shape(child).unwrap().volume() as f32 / 2.0;
        let mass = share * (plain + 500.0);
        assert!(
            (body.mass() / mass - 1.0).abs() < 1e-3,
            "{} of {mass}",
            body.mass()
        );
        let off = [
            body.user_force() - parent.user_force() * share,
            body.user_torque() - parent.user_torque() * share,
        ];
        assert!(off[0].length() < 1e-4 && off[1].length() < 1e-4, "{off:?}");
        assert!(parent.user_force().length() > 1.0);
        masses += body.mass();
    }
    assert!((masses / parent.mass() - 1.0).abs() < 1e-4);
    // What the body that broke may not do, its fragments may not, either.
    let forbid = |activation: &mut RigidBodyActivation| {
        *activation = RigidBodyActivation::cannot_sleep();
    };
    forbid(scene.body_mut(children[0]).activation_mut());
    let cut = scene.cut(
        children[0],
        scene.body(children[0]).local_center_of_mass().x + 0.03,
    );
    for child in scene.break_by(children[0], cut) {
        assert!(scene.body(child).activation().normalized_linear_threshold < 0.0);
    }
}

#[test]
fn additional_mass_properties_are_shared_by_volume() {
    let mut scene = Scene::new(settings());
    let whole = scene.add(Breakable::new(blueprint()));
    let plain = scene.body(whole).mass();
    let ballast = MassProperties::from_ball(1000.0, 0.5);
    scene
        .body_mut(whole)
        .set_additional_mass_properties(ballast, true);
    let handle = scene.breakables.body(whole).unwrap();
    let (bodies, colliders) = (&mut scene.physics.bodies, &scene.physics.colliders);
    bodies[handle].recompute_mass_properties_from_colliders(colliders);
    for child in scene.break_by(whole, scene.cut(whole, 0.6)) {
        let shape = scene.breakables.shape(child).unwrap();
        let share = shape.volume() as f32 / 2.0;
        let body = scene.body(child);
        let mass = share * (plain + ballast.mass());
        assert!((body.mass() / mass - 1.0).abs() < 1e-3);
        let own_center = shape.unit_mass().centre.as_vec3();
        assert!(body.local_center_of_mass().distance(own_center) < 1e-3);
    }
}

/// What a collider has: a new field of the engine's builder does not compile here.
fn collider_settings(collider: &Collider) -> impl PartialEq + std::fmt::Debug + use<> {
    // Own are the shape, its mass and its place on the body.
    let ColliderBuilder {
        shape: _,
        mass_properties: _,
        position: _,
        friction,
        friction_combine_rule,
        restitution,
        restitution_combine_rule,
        is_sensor,
        active_collision_types,
        active_hooks,
        active_events,
        user_data,
        collision_groups,
        solver_groups,
        enabled,
        contact_force_event_threshold,
        contact_skin,
    } = ColliderBuilder {
        friction: collider.friction(),
        friction_combine_rule: collider.friction_combine_rule(),
        restitution: collider.restitution(),
        restitution_combine_rule: collider.restitution_combine_rule(),
        is_sensor: collider.is_sensor(),
        active_collision_types: collider.active_collision_types(),
        active_hooks: collider.active_hooks(),
        active_events: collider.active_events(),
        user_data: collider.user_data,
        collision_groups: collider.collision_groups(),
        solver_groups: collider.solver_groups(),
        enabled: collider.is_enabled(),
        contact_force_event_threshold: collider.contact_force_event_threshold(),
        contact_skin: collider.contact_skin(),
        ..ColliderBuilder::ball(1.0)
    };
    (
        (
            friction,
            restitution,
            contact_skin,
            contact_force_event_threshold,
        ),
        (
            friction_combine_rule,
            restitution_combine_rule,
            is_sensor,
            enabled,
        ),
        (
            active_collision_types,
            active_hooks,
            active_events,
            user_data,
        ),
        (collision_groups, solver_groups),
    )
}

#[test]
fn fragments_inherit_every_field_of_the_collider_builder() {
    let mut scene = Scene::new(settings());
    let whole = scene.add(Breakable::new(blueprint()));
    let handle = scene.breakables.collider(whole).unwrap();
    let collider = &mut scene.physics.colliders[handle];
    collider.set_sensor(true);
    collider.set_enabled(false);
    collider.set_density(2500.0);
    collider.set_friction(0.125);
    collider.set_friction_combine_rule(CoefficientCombineRule::Max);
    collider.set_restitution(0.375);
    collider.set_restitution_combine_rule(CoefficientCombineRule::Min);
    let one = InteractionGroups::new(Group::GROUP_2, Group::GROUP_5, InteractionTestMode::And);
    collider.set_collision_groups(one);
    collider.set_solver_groups(InteractionGroups::none());
    collider.set_active_events(ActiveEvents::COLLISION_EVENTS);
    collider.set_active_hooks(ActiveHooks::FILTER_CONTACT_PAIRS);
    collider.set_active_collision_types(ActiveCollisionTypes::DYNAMIC_FIXED);
    collider.set_contact_force_event_threshold(9.5);
    collider.set_contact_skin(0.01);
    collider.user_data = 78;
    let parent = scene.collider(whole).clone();
    let density = parent.mass() / 2.0;
    assert!((density - 2500.0).abs() < 1.0);
    let children = scene.break_by(whole, scene.cut(whole, 1.2));
    assert_eq!(children.len(), 2);
    for child in children {
        let collider = scene.collider(child);
        assert_eq!(collider_settings(collider), collider_settings(&parent));
        let volume = scene.breakables.shape(child).unwrap().volume() as f32;
        assert!((collider.mass() / (volume * density) - 1.0).abs() < 1e-4);
    }
}

#[test]
fn a_piece_that_holds_a_node_in_an_anchor_is_fixed() {
    // Nodes stand every quarter. Around one, with one on each of the two corners, on faces,
    // and in none though it is large.
    let at = Vec3::new;
    for (low, high, fixed) in [
        (at(0.2, 0.2, 0.2), at(0.3, 0.3, 0.3), Some(true)),
        (at(1.75, 0.5, 0.5), at(1.75, 0.5, 0.5), Some(false)),
        (at(-1.0, -1.0, -1.0), at(0.0, 0.0, 0.0), Some(true)),
        (at(2.0, 1.0, 1.0), at(3.0, 3.0, 3.0), Some(false)),
        (at(0.26, 0.26, 0.0), at(0.49, 0.49, 1.0), None),
        (at(0.0, 1.01, 0.0), at(2.0, 2.0, 1.0), None),
        (at(0.0, 0.0, -1.0), at(2.0, 1.0, -0.01), None),
        (at(2.01, 0.0, 0.0), at(3.0, 1.0, 1.0), None),
        // The corners the wrong way round hold nothing.
        (at(0.3, 0.2, 0.2), at(0.2, 0.3, 0.3), None),
    ] {
        let mut scene = Scene::new(settings());
        let whole = scene.add(Breakable::new(blueprint()).anchored(low, high));
        assert_eq!(
            scene.body(whole).is_fixed(),
            fixed.is_some(),
            "{low} {high}"
        );
        let children = scene.break_by(whole, scene.cut(whole, 1.1));
        for child in children {
            let is_left = scene.body(child).local_center_of_mass().x < 1.1;
            let want = fixed == Some(is_left);
            assert_eq!(scene.body(child).is_fixed(), want, "{low} {high} {is_left}");
            let piece = &scene.breakables.objects[0].pieces[&child.fragment];
            assert_eq!(piece.anchored, want);
        }
    }
    // Two anchors: a node in either is enough.
    let mut scene = Scene::new(settings());
    let ends = Breakable::new(blueprint())
        .anchored(at(-0.1, -0.1, -0.1), at(0.1, 0.1, 0.1))
        .anchored(at(1.9, 0.9, 0.9), at(2.1, 1.1, 1.1));
    let whole = scene.add(ends);
    for child in scene.break_by(whole, scene.cut(whole, 1.1)) {
        assert!(scene.body(child).is_fixed());
    }
}

#[test]
fn what_does_not_fit_breaks_nothing() {
    let mut scene = Scene::new(settings());
    let whole = scene.add(Breakable::new(blueprint()));
    let cut = scene.cut(whole, 0.6);
    let nobody = [
        PieceId {
            object: ObjectId(5),
            ..whole
        },
        PieceId {
            fragment: FragmentId(9),
            ..whole
        },
    ];
    scene.breakables.take_events();
    for piece in nobody {
        assert!(scene.break_by(piece, cut.clone()).is_empty());
    }
    let empty = Fracture {
        fragment: FragmentId(0),
        cracks: Vec::new(),
    };
    let other = Fracture {
        fragment: FragmentId(7),
        ..cut.clone()
    };
    for wrong in [empty, other] {
        assert!(scene.break_by(whole, wrong).is_empty());
    }
    assert_eq!(scene.pieces(), [whole]);
    assert!(scene.breakables.take_events().is_empty());
    assert!(scene.breakables.objects[0].history.is_empty());
    assert_eq!(scene.breakables.report.broken, 0);
    // And what fits, breaks.
    assert_eq!(scene.break_by(whole, cut).len(), 2);
}

#[test]
fn every_break_is_told_with_its_own_children() {
    let mut scene = Scene::new(settings());
    let objects = [0.0, 5.0].map(|z| {
        let pose = Pose::from_translation(Vec3::Z * z);
        scene.add(Breakable::new(blueprint()).at(pose))
    });
    scene.breakables.take_events();
    let first = scene.break_by(objects[0], scene.cut(objects[0], 0.6));
    let second = scene.break_by(objects[1], scene.cut(objects[1], 1.3));
    let earlier = scene.breakables.take_events();
    assert!(first.iter().all(|p| p.object == objects[0].object));
    assert!(second.iter().all(|p| p.object == objects[1].object));
    assert_eq!(scene.pieces(), [first.clone(), second.clone()].concat());
    // Three at once, two of them of one object: each is cut as it is then.
    let breaks: Vec<Break> = [first[0], first[1], second[1]]
        .into_iter()
        .map(|piece| Break {
            piece,
            fracture: scene.cut(piece, scene.body(piece).local_center_of_mass().x + 0.03),
            stats: FractureStats::default(),
            of_this_step: false,
        })
        .collect();
    let parents: Vec<PieceId> = breaks.iter().map(|b| b.piece).collect();
    let mut engine = Engine::from(&mut scene.physics);
    scene.breakables.break_bodies(breaks, 0, &mut engine);
    assert_eq!(scene.breakables.report.broken, 5);
    let events = [earlier, scene.breakables.take_events()].concat();
    let mut told = Vec::new();
    let mut events = events.into_iter();
    while let Some(event) = events.next() {
        let Event::Broke {
            piece, children, ..
        } = event
        else {
            panic!("{event:?} before what broke");
        };
        assert!(children.len() >= 2, "{children:?}");
        for child in &children {
            assert_eq!(events.next(), Some(Event::Born(*child)));
            assert_eq!(child.object, piece.object);
        }
        told.push(piece);
    }
    let expected = [&objects[..], &parents].concat();
    assert_eq!(told, expected);
    let histories = scene.breakables.objects.iter().map(|o| o.history.len());
    assert_eq!(histories.collect::<Vec<_>>(), [3, 2]);
    // Each of the five adds one piece more.
    assert_eq!(scene.pieces().len(), 7);
    assert_eq!(scene.physics.bodies.len(), 7);
}

#[test]
fn trees_are_there_four_steps_later_whoever_asked() {
    for asked in [false, true] {
        let mut scene = Scene::new(settings());
        let whole = scene.add(Breakable::new(blueprint()));
        let children = scene.break_by(whole, scene.cut(whole, 0.6));
        assert_eq!(scene.breakables.late.len(), 1);
        let late = scene.breakables.late[0].1.clone();
        if asked {
            for &child in &children {
                let _ = scene.breakables.shape(child).unwrap().tree();
            }
        }
        for step in 0..6_u64 {
            scene.breakables.steps = step;
            scene.breakables.report = super::super::BreakReport::default();
            scene.breakables.make_late();
            let later = scene.breakables.report.stages.later;
            let due = if asked { 0 } else { 4 };
            assert_eq!(scene.breakables.late.is_empty(), step >= due, "{step}");
            let want = if step == due {
                1e3 * late.spent().expect("it was made")
            } else {
                0.0
            };
            assert_eq!(later, want, "{step}");
        }
        assert!(late.spent().unwrap() > 0.0);
    }
}

#[test]
fn stages_are_told_in_milliseconds_and_add_up() {
    let hull = ContactMode::Parry(ParryShape::Hull);
    for contacts in [ContactMode::default(), hull] {
        let mut scene = Scene::new(BreakSettings {
            contacts,
            ..settings()
        });
        let objects = [0.0, 5.0].map(|z| {
            let pose = Pose::from_translation(Vec3::Z * z);
            scene.add(Breakable::new(blueprint()).at(pose))
        });
        for (count, object) in (1_u8..).zip(objects) {
            let children = scene.break_by(object, scene.cut(object, 0.6));
            let report = scene.breakables.report;
            let stages = report.stages;
            // One look at the clock from the begin of a stage to its end: a second.
            let second = f64::from(count) * 1e3;
            assert_eq!(report.broken, usize::from(count));
            assert_eq!((stages.cutting, stages.replacing), (second, second));
            let whole = |time: f64| time >= second && time % 1e3 == 0.0;
            assert!(whole(stages.masses), "{stages:?}");
            assert!(whole(stages.field), "{stages:?}");
            if contacts == hull {
                assert_eq!((stages.surfaces, stages.field), (second, second));
                // Field and tree, of ours.
                assert!(
                    report.apart >= 2.0 * second && whole(report.apart),
                    "{report:?}"
                );
                assert_eq!(stages.tree, 0.0);
            } else {
                assert_eq!((stages.surfaces, report.apart), (0.0, 0.0));
                assert!(whole(stages.tree), "{stages:?}");
            }
            for child in children {
                let is_hull = scene
                    .collider(child)
                    .shape()
                    .as_convex_polyhedron()
                    .is_some();
                assert_eq!(is_hull, contacts == hull);
            }
        }
    }
}

#[test]
fn spans_are_about_object_and_fragment() {
    let told = named(ObjectId(3), FragmentId(7));
    assert_eq!(told, [("object", 3), ("fragment", 7)]);
}
