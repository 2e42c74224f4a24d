//! Saved worlds go on as if nothing had happened.

mod common;

use common::{blueprint, brick, fragile, shatter};
use fracas_rapier::{
    Breakable, ContactMode, ContactSettings, Coupling, DebrisPolicy, FragmentModesPolicy,
    FrameBudget, ParryShape, RestoreError, SnapshotError, VoxelSettings, World, WorldSettings,
};
use glam::Vec3;
use parry3d::math::Pose;
use parry3d::shape::SharedShape;
use rapier3d::prelude::{ColliderBuilder, RigidBodyBuilder};

fn settings() -> WorldSettings {
    WorldSettings {
        debris: DebrisPolicy {
            lifetime_steps: Some(60),
            most_fragments: Some(20),
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
    let mut other = World::new(WorldSettings {
        gravity: Vec3::ZERO,
        ..settings()
    });
    assert_eq!(other.restore(&bytes), Err(RestoreError::OtherSettings));
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
