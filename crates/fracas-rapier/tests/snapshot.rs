//! Saved worlds go on as if nothing had happened.

mod common;

use common::{blueprint, brick, fragile, shatter};
use fracas_rapier::{
    Breakable, ContactMode, ContactSettings, Coupling, DebrisPolicy, Event, Falloff,
    FragmentModesPolicy, FrameBudget, ParryShape, PieceId, RestoreError, SnapshotError,
    VoxelSettings, World, WorldSettings,
};
use glam::Vec3;
use parry3d::math::Pose;
use parry3d::shape::SharedShape;
use rapier3d::prelude::{
    Collider, ColliderBuilder, ColliderHandle, Group, InteractionGroups, InteractionTestMode,
    PhysicsWorld, RigidBodyBuilder,
};

fn settings() -> WorldSettings {
    WorldSettings {
        debris: DebrisPolicy {
            lifetime_steps: Some(60),
            max_fragments: Some(20),
            ..DebrisPolicy::default()
        },
        // Some breaks wait for the next step.
        most_breaks_per_step: 1,
        ..WorldSettings::default()
    }
}

/// What comes into the world before a step, in any run.
fn act(world: &mut World, bricks: &[Breakable]) {
    match world.steps() {
        0 => {
            world.add_floor(0.0, 0.6);
            let resting = Breakable {
                breaker: None,
                ..bricks[0].clone()
            };
            world.add(resting.at(Pose::translation(0.5, 0.033, 0.0)));
            for (i, brick) in bricks.iter().enumerate() {
                let height = 0.4 + 0.3 * i as f32;
                world.add(
                    brick
                        .clone()
                        .at(Pose::translation(0.02 * i as f32, height, 0.0)),
                );
            }
        }
        40 => {
            let ball = RigidBodyBuilder::dynamic().translation(Vec3::new(0.05, 0.6, 0.02));
            let heavy = ColliderBuilder::ball(0.05).density(7800.0);
            world
                .physics
                .insert(ball.linvel(Vec3::new(0.0, -8.0, 0.0)), heavy);
            let piece = world.pieces().next().unwrap();
            world.grab(piece, Vec3::new(0.5, 0.06, 0.0), Coupling::default());
        }
        _ => {}
    }
}

/// Runs on to a step.
fn run(world: &mut World, bricks: &[Breakable], until: u64) {
    while world.steps() < until {
        act(world, bricks);
        world.step();
    }
}

/// A world that was never saved, one that was, and one that was restored from it go on
/// alike, whenever that is.
fn check(settings: WorldSettings, saves: &[u64], end: u64) {
    let bricks: Vec<Breakable> = (0..3)
        .map(|_| Breakable::new(brick()).with_breaker(fragile(6)))
        .collect();
    let mut never_saved = World::new(settings);
    let digests: Vec<u64> = (0..end)
        .map(|step| {
            run(&mut never_saved, &bricks, step + 1);
            never_saved.digest()
        })
        .collect();
    let mut after_saves = 0;
    for &at in saves {
        let mut saved = World::new(settings);
        run(&mut saved, &bricks, at);
        let bytes = saved.snapshot().unwrap();
        assert_eq!(saved.snapshot().unwrap(), bytes, "saving changes nothing");
        // As in a new process: nothing but the kinds of objects is known.
        let mut fresh = World::new(settings);
        fresh.stock(&bricks[0]);
        fresh.restore(&bytes).unwrap();
        assert_eq!(fresh.digest(), saved.digest());
        assert_eq!(fresh.steps(), at);
        for step in at..end {
            run(&mut saved, &bricks, step + 1);
            run(&mut fresh, &bricks, step + 1);
            after_saves += fresh.stats().broken;
            assert_eq!(
                saved.digest(),
                digests[step as usize],
                "step {step} of the run saved at step {at}"
            );
            assert_eq!(
                fresh.digest(),
                saved.digest(),
                "step {step} of the run restored from step {at}"
            );
        }
        assert_eq!(fresh.decisions(), saved.decisions());
        assert_eq!(fresh.decisions(), never_saved.decisions());
    }
    assert!(after_saves > 0, "pieces break after a snapshot too");
}

#[test]
fn a_restored_world_goes_on_with_the_same_bits() {
    // Before anything moves, while bricks fall, in the steps where they break (found
    // by saving in several), and when pieces rest and sleep.
    check(
        settings(),
        &[1, 14, 15, 16, 17, 18, 19, 20, 30, 45, 110],
        150,
    );
}

#[test]
fn also_where_work_is_handed_on() {
    let tight = WorldSettings {
        step_budget: Some(0.2e-3),
        ..settings()
    };
    check(tight, &[14, 15, 16, 17, 18, 19, 20, 30, 45], 110);
    let bricks: Vec<Breakable> = (0..3)
        .map(|_| Breakable::new(brick()).with_breaker(fragile(6)))
        .collect();
    let mut world = World::new(tight);
    let mut waited = 0;
    while world.steps() < 110 {
        act(&mut world, &bricks);
        world.step();
        waited += world.stats().pairs_waiting;
    }
    assert!(waited > 20, "{waited} pairs waited");
}

#[test]
fn also_without_recycling_with_full_contacts_and_with_parrys_shapes() {
    let full = WorldSettings {
        contacts: ContactSettings {
            mode: ContactMode::Full,
            ..settings().contacts
        },
        recycle_contacts: false,
        sleep: false,
        ..settings()
    };
    check(full, &[17, 45], 70);
    let hulls = WorldSettings {
        contacts: ContactSettings {
            mode: ContactMode::Parry(ParryShape::Hull),
            ..settings().contacts
        },
        ..settings()
    };
    check(hulls, &[17, 45], 70);
}

#[test]
fn saving_every_few_steps_leaves_a_pile_as_it_is() {
    let bricks: Vec<Breakable> = (0..3)
        .map(|_| Breakable::new(brick()).with_breaker(fragile(6)))
        .collect();
    let (mut never, mut often) = (World::new(settings()), World::new(settings()));
    let mut broken = 0;
    for step in 0..160 {
        run(&mut never, &bricks, step + 1);
        run(&mut often, &bricks, step + 1);
        if step % 4 == 0 {
            often.snapshot().unwrap();
        }
        assert_eq!(never.digest(), often.digest(), "step {step}");
        let asked = |world: &World| (world.stats().pairs, world.stats().visited_points);
        assert_eq!(asked(&never), asked(&often), "work of step {step}");
        broken += never.stats().broken;
    }
    assert!(broken > 0, "bricks have broken");
}

#[test]
fn with_voxel_contacts_the_saved_and_the_restored_world_go_on_alike() {
    let voxels = WorldSettings {
        contacts: ContactSettings {
            mode: ContactMode::VoxelTree(VoxelSettings {
                resolution: 10,
                ..VoxelSettings::within(FrameBudget::Work(20_000))
            }),
            ..settings().contacts
        },
        ..settings()
    };
    let bricks: Vec<Breakable> = (0..3)
        .map(|_| Breakable::new(brick()).with_breaker(fragile(6)))
        .collect();
    let mut saved = World::new(voxels);
    run(&mut saved, &bricks, 45);
    assert!(saved.pieces().count() > 4, "bricks have broken");
    let bytes = saved.snapshot().unwrap();
    let mut restored = World::new(voxels);
    restored.stock(&bricks[0]);
    restored.restore(&bytes).unwrap();
    for step in 45..90 {
        run(&mut saved, &bricks, step + 1);
        run(&mut restored, &bricks, step + 1);
        assert_eq!(restored.digest(), saved.digest(), "step {step}");
    }
}

#[test]
fn modes_under_way_come_at_their_step_after_a_restore_too() {
    let settings = WorldSettings {
        fragment_modes: FragmentModesPolicy::AfterSteps(8),
        ..settings()
    };
    check(settings, &[16, 22, 60], 80);
}

#[test]
fn a_world_returns_to_its_own_past() {
    let mut world = World::new(settings());
    world.add_floor(0.0, 0.6);
    let block = blueprint([4, 3, 3], Vec3::new(0.3, 0.2, 0.2));
    world.add(Breakable::new(block).at(Pose::translation(0.0, 0.5, 0.0)));
    for _ in 0..10 {
        world.step();
    }
    let (before, digest) = (world.snapshot().unwrap(), world.digest());
    let piece = world.pieces().next().unwrap();
    let children = shatter(&mut world, piece, 5);
    assert!(children.len() > 2);
    let broken = world.snapshot().unwrap();
    for _ in 0..30 {
        world.step();
    }
    let end = world.digest();
    world.restore(&before).unwrap();
    assert_eq!((world.digest(), world.pieces().count()), (digest, 1));
    world.restore(&broken).unwrap();
    assert_eq!(world.pieces().collect::<Vec<_>>(), children);
    for _ in 0..30 {
        world.step();
    }
    assert_eq!(world.digest(), end);
}

#[test]
fn bad_bytes_and_unknown_kinds_are_refused_and_change_nothing() {
    let mut world = World::new(settings());
    world.add(Breakable::new(brick()));
    world.step();
    let bytes = world.snapshot().unwrap();
    let digest = world.digest();
    assert_eq!(world.restore(&[]), Err(RestoreError::NotASnapshot));
    assert_eq!(world.restore(b"fracas"), Err(RestoreError::NotASnapshot));
    let mut old = bytes.clone();
    old[7] -= 1;
    let saved = old[7];
    assert_eq!(
        world.restore(&old),
        Err(RestoreError::OtherVersion { saved })
    );
    for cut in (8..bytes.len()).step_by(7) {
        assert_eq!(world.restore(&bytes[..cut]), Err(RestoreError::Damaged));
    }
    for at in (0..bytes.len()).step_by(11) {
        let mut altered = bytes.clone();
        altered[at] ^= 0x10;
        assert!(world.restore(&altered).is_err(), "byte {at}");
    }
    assert_eq!(world.digest(), digest);
    let mut other = World::new(settings());
    let unknown = other.restore(&bytes).unwrap_err();
    assert!(matches!(
        unknown,
        RestoreError::UnknownBlueprint { object: 0, .. }
    ));
    // A fragment that the world does not own cannot be restored: said when saving.
    let (_, shape) = brick().object();
    let foreign = world
        .physics
        .insert_collider(ColliderBuilder::new(SharedShape::new(shape)), None);
    assert_eq!(world.snapshot(), Err(SnapshotError::ForeignShape(foreign)));
}

/// A hand lets go of what is no more, however it went; else the snapshot names a piece
/// that is not there, and is refused.
#[test]
fn a_world_whose_held_piece_is_gone_is_saved_and_restored() {
    for spoilt in [true, false] {
        let mut world = World::new(WorldSettings::default());
        world.add_floor(0.0, 0.6);
        for x in [0.0, 0.5] {
            world.add(Breakable::new(brick()).at(Pose::translation(x, 0.1, 0.0)));
        }
        let piece = world.pieces().next().unwrap();
        let hand = world.grab(piece, Vec3::Y * 0.1, Coupling::default());
        if spoilt {
            let body = world.body_mut(piece).unwrap();
            body.set_linvel(Vec3::splat(f32::NAN), true);
            world.step();
        } else {
            assert!(world.remove_piece(piece));
        }
        assert_eq!(world.pieces().count(), 1);
        assert_eq!(world.held_piece(hand.unwrap()), None);
        let bytes = world.snapshot().unwrap();
        world.restore(&bytes).unwrap();
        assert_eq!(world.pieces().count(), 1);
    }
}

/// Voxel contacts that are chosen after a snapshot and taken back with it are found anew
/// when they are chosen again: as if for the first time.
#[test]
fn a_choice_of_voxel_contacts_is_replayed_from_before_it() {
    let mut world = World::new(WorldSettings::default());
    world.add_floor(0.0, 0.6);
    let object = world.add(
        Breakable::new(brick())
            .with_breaker(fragile(6))
            .at(Pose::translation(0.0, 0.1, 0.0))
            .moving(Vec3::NEG_Y * 6.0),
    );
    world.step();
    let bytes = world.snapshot().unwrap();
    let replay = |world: &mut World| {
        (0..60)
            .map(|step| {
                // Pieces of pieces, while nothing is chosen: their voxels depend in their
                // last bits on whether those of the pieces in between were made.
                if step == 5 || step == 10 {
                    let largest = world
                        .pieces()
                        .max_by(|a, b| {
                            let volume = |p| world.shape(p).unwrap().volume();
                            volume(*a).total_cmp(&volume(*b))
                        })
                        .unwrap();
                    assert!(shatter(world, largest, 5).len() > 1);
                }
                if step == 20 {
                    world.set_voxel_contacts(object, Some(VoxelSettings::default()));
                }
                world.step();
                world.digest()
            })
            .collect::<Vec<u64>>()
    };
    let first = replay(&mut world);
    world.restore(&bytes).unwrap();
    world.set_voxel_contacts(object, None);
    assert_eq!(replay(&mut world), first);
}

/// Two bricks in the air over a floor, the first of them held.
fn two_bricks() -> (World, PieceId, ColliderHandle) {
    let mut world = World::new(WorldSettings::default());
    world.add_floor(0.0, 0.6);
    for x in [0.0, 0.5] {
        world.add(Breakable::new(brick()).at(Pose::translation(x, 0.3, 0.0)));
    }
    world.step();
    world.take_events();
    let piece = world.pieces().next().unwrap();
    world.grab(piece, Vec3::Y * 0.3, Coupling::default());
    let collider = world.collider(piece).unwrap();
    (world, piece, collider)
}

#[track_caller]
fn assert_saves_and_loads(world: &World, pieces: usize) {
    let bytes = world.snapshot().unwrap();
    let mut restored = World::new(WorldSettings::default());
    restored.stock(&Breakable::new(brick()));
    restored.restore(&bytes).unwrap();
    assert_eq!(restored.pieces().count(), pieces);
}

#[test]
fn piece_removed_through_the_engine_is_given_up() {
    for keeps_body in [false, true] {
        let (mut world, piece, collider) = two_bricks();
        if keeps_body {
            world.physics.remove_collider(collider);
        } else {
            let body = world.physics.colliders[collider].parent().unwrap();
            world.physics.remove_body(body);
        }
        let bodies = world.physics.bodies.len();
        // Before the world has noticed, and after.
        assert_saves_and_loads(&world, 1);
        assert_eq!(world.take_events(), []);
        world.step();
        assert_eq!(world.take_events(), [Event::Removed(piece)]);
        assert_eq!(world.pieces().count(), 1);
        assert_eq!(world.piece_of(collider), None);
        assert_eq!(world.physics.bodies.len(), bodies);
        assert_saves_and_loads(&world, 1);
    }
}

/// What the caller keeps of a piece, or takes for a body of its own, is the caller's.
#[test]
fn collider_taken_from_a_piece_is_the_callers() {
    for given_away in [false, true] {
        let (mut world, piece, collider) = two_bricks();
        let body = world.physics.colliders[collider].parent().unwrap();
        if given_away {
            let own = RigidBodyBuilder::fixed().translation(Vec3::Y);
            let own = world.physics.insert_body(own);
            let physics = &mut world.physics;
            let bodies = &mut physics.bodies;
            physics.colliders.set_parent(collider, Some(own), bodies);
        } else {
            world.physics.remove_body_with_colliders(body, false);
        }
        let refused = Err(SnapshotError::ForeignShape(collider));
        assert_eq!(world.snapshot(), refused);
        assert_eq!(shatter_or_nothing(&mut world, piece), []);
        world.step();
        assert_eq!(world.take_events(), [Event::Removed(piece)]);
        assert!(world.physics.colliders.contains(collider));
        assert_eq!(world.snapshot(), refused);
        world.physics.remove_collider(collider);
        assert_saves_and_loads(&world, 1);
    }
}

/// Breaks a piece that may be gone.
fn shatter_or_nothing(world: &mut World, piece: PieceId) -> Vec<PieceId> {
    let fracture = fracas_core::Fracture {
        fragment: piece.fragment,
        cracks: Vec::new(),
    };
    world.break_piece(piece, fracture)
}

#[test]
fn shape_that_the_caller_gave_a_piece_is_saved() {
    let (mut world, _, collider) = two_bricks();
    world.physics.colliders[collider].set_shape(SharedShape::ball(0.1));
    world.step();
    let mut restored = World::new(WorldSettings::default());
    restored.stock(&Breakable::new(brick()));
    restored.restore(&world.snapshot().unwrap()).unwrap();
    let shape = restored.physics.colliders[collider].shape();
    assert_eq!(shape.as_ball().map(|ball| ball.radius), Some(0.1));
    for _ in 0..60 {
        world.step();
        restored.step();
        assert_eq!(restored.digest(), world.digest());
    }
}

#[test]
fn only_settings_that_change_a_run_are_compared() {
    let save = |mut world: World| {
        world.add(Breakable::new(brick()));
        world.step();
        (world.snapshot().unwrap(), world)
    };
    let load = |bytes: &[u8], mut world: World| {
        world.stock(&Breakable::new(brick()));
        world.restore(bytes).map(|()| world)
    };
    let plain = WorldSettings::default();
    // The engine's own default gravity has a negative zero.
    let (bytes, _) = save(World::around(PhysicsWorld::default(), plain));
    load(&bytes, World::new(plain)).unwrap();
    let (bytes, _) = save(World::new(plain));
    let mut around = load(&bytes, World::around(PhysicsWorld::default(), plain)).unwrap();
    around.step();
    // What is reported may differ, and stays that of the present world.
    let quiet = WorldSettings {
        event_impulse: 3.0,
        count_colliding: true,
        ..plain
    };
    let restored = load(&bytes, World::new(quiet)).unwrap();
    assert_eq!(restored.settings().event_impulse, 3.0);
    // The debris policy is state.
    let policy = DebrisPolicy {
        max_fragments: Some(7),
        sleep: false,
        ..DebrisPolicy::default()
    };
    let mut changed = World::new(plain);
    changed.set_debris(policy);
    let (bytes, mut changed) = save(changed);
    let mut restored = load(&bytes, World::new(plain)).unwrap();
    assert_eq!(restored.settings().debris, policy);
    for world in [&mut changed, &mut restored] {
        let piece = world.pieces().next().unwrap();
        for child in shatter(world, piece, 4) {
            let body = world.body(child).unwrap();
            assert!(body.activation().normalized_linear_threshold < 0.0);
        }
    }
    // What changes a run is named.
    let other = WorldSettings {
        look_ahead: 0.5,
        ..plain
    };
    let refused = load(&bytes, World::new(other)).err().unwrap();
    let expected = RestoreError::OtherSettings {
        setting: "look_ahead".into(),
        saved: "1".into(),
        present: "0.5".into(),
    };
    assert_eq!(refused, expected);
    let full = WorldSettings {
        contacts: ContactSettings {
            mode: ContactMode::Full,
            ..plain.contacts
        },
        ..plain
    };
    let text = load(&bytes, World::new(full)).err().unwrap().to_string();
    let parts = ["contacts.mode", "Adaptive", "Full"];
    assert!(parts.iter().all(|part| text.contains(part)), "{text}");
}

/// The file that the test below hands to a process of its own.
const SAVED: &str = "FRACAS_TEST_SNAPSHOT";

fn falling_brick() -> Breakable {
    Breakable::new(brick()).with_breaker(fragile(6))
}

/// Steps on until the brick has broken.
fn run_out(world: &mut World) -> u64 {
    for _ in 0..30 {
        world.step();
    }
    assert!(world.pieces().count() > 2);
    world.digest()
}

#[test]
fn snapshot_continues_in_a_fresh_process() {
    let mut world = World::new(settings());
    world.add_floor(0.0, 0.6);
    world.add(falling_brick().at(Pose::translation(0.0, 0.6, 0.0)));
    for _ in 0..10 {
        world.step();
    }
    let path = std::env::temp_dir().join(format!("fracas-{}.saved", std::process::id()));
    std::fs::write(&path, world.snapshot().unwrap()).unwrap();
    let child = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "fresh_process", "--nocapture"])
        .env(SAVED, &path)
        .output()
        .unwrap();
    std::fs::remove_file(&path).unwrap();
    let text = String::from_utf8_lossy(&child.stdout);
    let expected = format!("digest {:016x}", run_out(&mut world));
    assert!(child.status.success() && text.contains(&expected), "{text}");
}

/// The other process of the test above; by itself it has nothing to do.
#[test]
fn fresh_process() {
    let Some(path) = std::env::var_os(SAVED) else {
        return;
    };
    let mut world = World::new(settings());
    world.stock(&falling_brick());
    world.restore(&std::fs::read(path).unwrap()).unwrap();
    println!("digest {:016x}", run_out(&mut world));
}

#[cfg(feature = "parallel")]
#[test]
fn threads_of_a_world_stay_when_it_is_restored() {
    let mut world = World::new(WorldSettings::default());
    let pipeline = &mut world.physics.physics_pipeline;
    pipeline.configure_thread_pool(3).unwrap();
    let bytes = world.snapshot().unwrap();
    world.restore(&bytes).unwrap();
    assert_eq!(world.physics.physics_pipeline.num_threads(), Some(3));
}

/// A game may save right after it has changed something, before the next step.
#[test]
fn changes_since_the_last_step_are_saved() {
    use rapier3d::prelude::{FixedJointBuilder, RevoluteJointBuilder};
    for change in 0..6 {
        let (mut world, piece, _) = two_bricks();
        let other = world.pieces().nth(1).unwrap();
        let [a, b] = [piece, other].map(|p| world.body_handle(p).unwrap());
        let hinge = RevoluteJointBuilder::new(Vec3::Z).local_anchor1(Vec3::X * 0.5);
        let hinge = world.physics.insert_impulse_joint(a, b, hinge);
        if change > 0 {
            world.step();
        }
        match change {
            1 => {
                let joint = world.physics.impulse_joints.get_mut(hinge, true).unwrap();
                let axis = rapier3d::prelude::JointAxis::AngX;
                joint.data.set_motor_velocity(axis, 5.0, 0.5);
            }
            2 => {
                world.physics.remove_body(b);
            }
            3 => {
                let body = &mut world.physics.bodies[a];
                body.set_translation(Vec3::new(0.0, 0.5, 0.1), true);
                body.set_linvel(Vec3::X, true);
            }
            4 => {
                let weld = FixedJointBuilder::new().local_anchor1(Vec3::Y * 0.3);
                let ball = RigidBodyBuilder::dynamic().translation(Vec3::new(0.0, 0.6, 0.0));
                let ball = world.physics.insert(ball, ColliderBuilder::ball(0.05)).0;
                world.physics.insert_impulse_joint(a, ball, weld);
            }
            5 => {
                let weld = FixedJointBuilder::new().local_anchor1(Vec3::Y * 0.3);
                let ball = RigidBodyBuilder::dynamic().translation(Vec3::new(0.0, 0.6, 0.0));
                let ball = world.physics.insert(ball, ColliderBuilder::ball(0.05)).0;
                let joints = &mut world.physics.multibody_joints;
                joints.insert(b, ball, weld, true).unwrap();
            }
            _ => {}
        }
        let mut restored = World::new(WorldSettings::default());
        restored.stock(&Breakable::new(brick()));
        restored.restore(&world.snapshot().unwrap()).unwrap();
        for step in 0..90 {
            world.step();
            restored.step();
            assert_eq!(restored.digest(), world.digest(), "{change}, step {step}");
        }
    }
}

/// A wall that an explosion takes apart, with more fragments than the limit allows: impacts
/// wait, steps are made again, fragments fade and make room.
#[test]
fn saves_in_the_middle_of_a_burst_go_on_alike() {
    let groups = InteractionGroups::new(Group::GROUP_3, !Group::GROUP_2, InteractionTestMode::And);
    let settings = WorldSettings {
        debris: DebrisPolicy {
            max_fragments: Some(30),
            lifetime_steps: Some(20),
            fade_steps: 6,
            groups: Some(groups),
            ..DebrisPolicy::default()
        },
        ..WorldSettings::default()
    };
    let kind = Breakable::new(brick()).with_breaker(fragile(6));
    let mut world = World::new(settings).with_dt(1.0 / 120.0);
    world.add_floor(0.0, 0.7);
    for (row, column) in (0..3).flat_map(|row| (0..4).map(move |column| (row, column))) {
        let x = 0.217 * (column as f32 - 2.0) + 0.108 * (row % 2) as f32;
        let at = Vec3::new(x, 0.033 + 0.066 * row as f32, 0.0);
        world.add(kind.clone().at(Pose::from_translation(at)));
    }
    for _ in 0..30 {
        world.step();
    }
    world.take_events();
    let center = Vec3::new(0.0, 0.1, 0.3);
    world.explode(center, 2.5, 1500.0, Falloff::Linear).unwrap();
    let (mut saves, mut digests) = (Vec::new(), Vec::new());
    let (mut waited, mut made_again, mut broken, mut removed) = (0, 0, 0, 0);
    for _ in 0..60 {
        saves.push(world.snapshot().unwrap());
        world.step();
        digests.push(world.digest());
        waited += world.stats().breaks_waiting;
        made_again += usize::from(world.stats().made_again > 0);
        broken += world.stats().broken;
        let events = world.take_events();
        let is_removal = |event: &&Event| matches!(event, Event::Removed(_));
        removed += events.iter().filter(is_removal).count();
    }
    let counts = (waited, made_again, broken, removed);
    assert!(
        waited > 10 && made_again > 1 && broken > 10 && removed > 10,
        "{counts:?}"
    );
    for (step, save) in saves.iter().enumerate() {
        let mut restored = World::new(settings).with_dt(1.0 / 120.0);
        restored.stock(&kind);
        restored.restore(save).unwrap();
        for (later, digest) in digests[step..].iter().take(3).enumerate() {
            restored.step();
            assert_eq!(restored.digest(), *digest, "saved at {step}, {later} later");
        }
    }
}

/// Such a change does not make the engine forget the contacts of the collider.
#[test]
fn changed_collider_of_a_piece_is_saved_with_its_contacts() {
    let changes: [fn(&mut Collider); 6] = [
        |c| c.set_friction(0.1),
        |c| c.set_position(*c.position()),
        |c| {
            c.set_collision_groups(InteractionGroups::new(
                Group::GROUP_3,
                Group::ALL,
                InteractionTestMode::And,
            ))
        },
        |c| c.set_sensor(true),
        |c| c.set_enabled(false),
        |c| c.set_density(5000.0),
    ];
    for (change, make) in changes.iter().enumerate() {
        let mut world = World::new(WorldSettings::default());
        world.add_floor(0.0, 0.6);
        for (turn, height) in [(0.1, 0.04), (0.4, 0.12)] {
            let at = Pose::new(Vec3::Y * height, Vec3::new(0.0, turn, 0.3 * turn));
            let kind = Breakable::new(brick()).at(at);
            world.add(kind.moving(Vec3::X));
        }
        for _ in 0..10 {
            world.step();
        }
        let piece = world.pieces().next().unwrap();
        let collider = world.collider(piece).unwrap();
        make(&mut world.physics.colliders[collider]);
        let mut restored = World::new(WorldSettings::default());
        restored.stock(&Breakable::new(brick()));
        restored.restore(&world.snapshot().unwrap()).unwrap();
        for step in 0..30 {
            world.step();
            restored.step();
            assert_eq!(restored.digest(), world.digest(), "{change}, step {step}");
        }
    }
}
