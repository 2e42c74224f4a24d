//! Voxel contacts in the world: they hold bodies up, repeat, and keep to a budget.

use std::sync::Arc;

use fracas_core::sphere_tree::BuildOptions;
use fracas_core::testing::{Rng, box_grid};
use fracas_core::{Crack, FieldOptions, Fracture, FragmentId, TetMesh};
use fracas_rapier::{
    Blueprint, Breakable, ContactMode, ContactSettings, FrameBudget, ObjectId, PieceId,
    VoxelSettings, VoxelStats, World, WorldSettings,
};
use glam::Vec3;
use parry3d::math::Pose;
use rapier3d::prelude::{ColliderBuilder, RigidBodyType, SharedShape};

const SIDE: f32 = 0.2;

fn blueprint() -> Arc<Blueprint> {
    let mesh = Arc::new(box_grid([4, 4, 4], Vec3::splat(SIDE)));
    let made = Blueprint::build(mesh, &FieldOptions::default(), &BuildOptions::default());
    Arc::new(made.unwrap())
}

fn world(mode: ContactMode) -> World {
    let base = WorldSettings::measured();
    let mut world = World::new(WorldSettings {
        contacts: ContactSettings {
            mode,
            ..base.contacts
        },
        length_unit: 0.1,
        ..base
    })
    .with_dt(1.0 / 120.0);
    world.add_floor(0.0, 0.6);
    world
}

/// A heap: boxes dropped over one another, two of them broken in the air.
fn heap(mode: ContactMode, boxes: u32) -> World {
    let mut world = world(mode);
    let blueprint = blueprint();
    for i in 0..boxes {
        let at = Vec3::new(
            0.07 * (i % 3) as f32,
            0.3 + 0.3 * i as f32,
            0.05 * (i % 2) as f32,
        );
        world.add(Breakable::new(blueprint.clone()).at(Pose::from_translation(at)));
    }
    for i in 0..2 {
        let mesh = blueprint.mesh();
        let nodes: Vec<u32> = (0..mesh.positions().len() as u32).collect();
        let crack = Crack::from_level(mesh, 0, &nodes, |n| {
            let p = mesh.positions()[n as usize];
            p.x + 0.3 * p.y - 0.12
        });
        let piece = PieceId {
            object: ObjectId(i),
            fragment: FragmentId(0),
        };
        let fracture = Fracture {
            fragment: FragmentId(0),
            cracks: vec![crack.unwrap()],
        };
        assert_eq!(world.break_piece(piece, fracture).len(), 2);
    }
    world
}

/// Nothing below the floor, nothing flies, no energy from nowhere.
fn assert_sound(world: &mut World, steps: u32) {
    let start = world.energy();
    for step in 0..steps {
        world.step();
        assert!(
            world.energy() < 1.05 * start,
            "step {step}: {} of {start}",
            world.energy()
        );
        for id in world.pieces().collect::<Vec<_>>() {
            let body = world.body(id).unwrap();
            assert!(
                body.center_of_mass().y > 0.0,
                "step {step}: {id:?} fell through the floor"
            );
            assert!(body.linvel().length() < 8.0, "step {step}: {id:?} flies");
        }
    }
}

fn voxels(budget: FrameBudget) -> VoxelSettings {
    VoxelSettings {
        resolution: 10,
        ..VoxelSettings::within(budget)
    }
}

#[test]
fn a_box_comes_to_rest_on_the_floor() {
    let mut world = world(ContactMode::VoxelTree(voxels(FrameBudget::Unlimited)));
    let id = world.add(Breakable::new(blueprint()).at(Pose::from_translation(Vec3::Y * 0.1)));
    for _ in 0..240 {
        world.step();
    }
    let piece = PieceId {
        object: id,
        fragment: FragmentId(0),
    };
    let body = world.body(piece).unwrap();
    assert!(body.linvel().length() < 0.02, "{}", body.linvel());
    assert!((body.center_of_mass().y - 0.5 * SIDE).abs() < 0.01);
    assert_eq!(world.stats().voxel.pairs, 1);
}

#[test]
fn a_heap_of_boxes_and_fragments_stays_sound_at_any_budget() {
    for budget in [
        FrameBudget::Unlimited,
        FrameBudget::Work(20_000),
        FrameBudget::Work(500),
        FrameBudget::Work(0),
    ] {
        let mut world = heap(ContactMode::VoxelTree(voxels(budget)), 6);
        assert_sound(&mut world, 300);
    }
}

#[test]
fn work_budgets_are_kept_and_repeat_bit_for_bit() {
    for mode in [ContactMode::VoxelTree, ContactMode::Budgeted] {
        let mut digests = Vec::new();
        for _ in 0..2 {
            let mut world = heap(mode(voxels(FrameBudget::Work(4_000))), 5);
            for _ in 0..200 {
                world.step();
                let voxel = world.stats().voxel;
                // Roots are always tested, and a pair of cubes is refined wholly.
                assert!(voxel.tests <= 4_000 + 64 + voxel.pairs, "{voxel:?}");
            }
            digests.push(world.digest());
        }
        assert_eq!(digests[0], digests[1]);
    }
}

#[test]
fn pairs_that_do_not_fit_fall_back_and_are_counted() {
    // Room for nothing: all fall back. Room for all: none does.
    for (work, fall_back) in [(0, true), (u64::MAX / 4, false)] {
        let mut world = heap(ContactMode::Budgeted(voxels(FrameBudget::Work(work))), 5);
        let (mut fallbacks, mut main) = (0, 0);
        for _ in 0..150 {
            world.step();
            fallbacks += world.stats().voxel.fallbacks;
            main += world.stats().voxel.sphere_tree_pairs;
            if fall_back {
                assert_eq!(world.stats().visited_points, 0);
            }
        }
        assert_eq!(fallbacks > 0, fall_back, "{fallbacks}");
        assert_eq!(main > 0, !fall_back, "{main}");
    }
    let mut both = heap(ContactMode::Budgeted(voxels(FrameBudget::Work(30_000))), 6);
    let (mut fallbacks, mut main) = (0, 0);
    let start = both.energy();
    for _ in 0..250 {
        both.step();
        fallbacks += both.stats().voxel.fallbacks;
        main += both.stats().voxel.sphere_tree_pairs;
        assert!(both.energy() < 1.05 * start);
    }
    assert!(
        fallbacks > 0 && main > 0,
        "{fallbacks} fell back, {main} did not"
    );
    for id in both.pieces().collect::<Vec<_>>() {
        assert!(both.body(id).unwrap().center_of_mass().y > 0.0);
    }
}

#[test]
fn one_body_of_a_world_can_use_voxels() {
    let mut world = world(ContactMode::default());
    let blueprint = blueprint();
    for i in 0..2 {
        let at = Vec3::new(i as f32, 0.1, 0.0);
        world.add(Breakable::new(blueprint.clone()).at(Pose::from_translation(at)));
    }
    world.set_voxel_contacts(ObjectId(1), Some(VoxelSettings::default()));
    let mut asked = 0;
    for _ in 0..120 {
        world.step();
        asked += world.stats().visited_points;
    }
    // One pair by voxels, the other by points, which keeps its contacts at rest.
    assert_eq!(world.stats().voxel.pairs, 1);
    assert!(asked > 0 && world.stats().contacts > 0);
    for id in world.pieces().collect::<Vec<_>>() {
        let height = world.body(id).unwrap().center_of_mass().y;
        assert!((height - 0.5 * SIDE).abs() < 0.01, "{id:?} at {height}");
    }
    world.set_voxel_contacts(ObjectId(1), None);
    world.step();
    assert_eq!(world.stats().voxel.pairs, 0);
}

/// What is chosen and taken away leaves nothing: a world with it in its past has the bits of
/// one that was restored since then, and no step pays for it.
#[test]
fn a_chosen_object_that_is_gone_is_chosen_no_more() {
    let mut world = world(ContactMode::default());
    let blueprint = blueprint();
    let boxes: Vec<ObjectId> = [0.0, 0.05, 1.0]
        .into_iter()
        .enumerate()
        .map(|(i, x)| {
            let at = Vec3::new(x, 0.15 + 0.25 * (i % 2) as f32, 0.0);
            world.add(Breakable::new(blueprint.clone()).at(Pose::from_translation(at)))
        })
        .collect();
    let voxels = Some(VoxelSettings::default());
    world.set_voxel_contacts(boxes[2], voxels);
    world.step();
    assert!(world.stats().voxel.relabel > 0.0 || world.stats().voxel.find > 0.0);
    assert!(world.remove_piece(PieceId {
        object: boxes[2],
        fragment: FragmentId(0),
    }));
    world.step();
    assert_eq!(world.stats().voxel, VoxelStats::default());
    let bytes = world.snapshot().unwrap();
    let play = |world: &mut World| {
        let digests = (0..60).map(|step| {
            if step == 13 {
                world.set_voxel_contacts(boxes[1], voxels);
            }
            world.step();
            world.digest()
        });
        digests.collect::<Vec<u64>>()
    };
    let first = play(&mut world);
    assert!(world.stats().voxel.pairs > 0);
    world.restore(&bytes).unwrap();
    world.set_voxel_contacts(boxes[1], None);
    assert_eq!(play(&mut world), first);
}

/// A pile at rest is the sphere-tree method's: what it found is kept until a pair moves.
#[test]
fn a_pile_at_rest_keeps_what_the_sphere_tree_method_found() {
    let mut world = heap(
        ContactMode::Budgeted(voxels(FrameBudget::Work(10_000_000))),
        5,
    );
    for _ in 0..400 {
        world.step();
    }
    let (mut asked, mut served) = (0, 0);
    for _ in 0..20 {
        world.step();
        let stats = world.stats();
        assert_eq!(stats.voxel.fallbacks, 0);
        served += stats.voxel.sphere_tree_pairs;
        asked += stats.pairs;
    }
    assert!(served >= 20 * 6, "{served} of at least six pairs a step");
    assert!(4 * asked < served, "{asked} asked, {served} served");
    let depth = world.deepest_overlap();
    assert!(depth < 0.005, "{depth}");
}

/// A blueprint of a box of three edges about the origin.
fn centred(size: Vec3) -> Arc<Blueprint> {
    let mesh = box_grid([4, 4, 4], size);
    let positions = mesh.positions().iter().map(|p| *p - 0.5 * size);
    let mesh = TetMesh::build(positions.collect(), mesh.tets().to_vec()).unwrap();
    let made = Blueprint::build(
        Arc::new(mesh),
        &FieldOptions::default(),
        &BuildOptions::default(),
    );
    Arc::new(made.unwrap())
}

fn whole(object: ObjectId) -> PieceId {
    PieceId {
        object,
        fragment: FragmentId(0),
    }
}

/// A box above another that is fixed, in a world without a floor: both turned and shifted by a
/// seed.
fn box_over_box(budget: FrameBudget, seed: u64, gap: f32) -> (World, PieceId) {
    let base = WorldSettings::measured();
    let mut world = World::new(WorldSettings {
        contacts: ContactSettings {
            mode: ContactMode::VoxelTree(voxels(budget)),
            ..base.contacts
        },
        length_unit: 0.1,
        ..base
    })
    .with_dt(1.0 / 120.0);
    let mut rng = Rng(seed);
    let mut turned = |y: f32| {
        let shift = rng.in_box(Vec3::splat(-0.02), Vec3::splat(0.02)).with_y(y);
        let turn = glam::Quat::from_rotation_y(rng.range(-0.7, 0.7));
        Pose::from_parts(shift, turn)
    };
    let blueprint = centred(Vec3::splat(SIDE));
    let low = world.add(Breakable::new(blueprint.clone()).at(turned(0.0)));
    let low = world.body_mut(whole(low)).unwrap();
    low.set_body_type(RigidBodyType::Fixed, false);
    let high = world.add(Breakable::new(blueprint).at(turned(SIDE + gap)));
    (world, whole(high))
}

/// A box that is three voxels deep in another is pushed out, though no step has time for all of
/// their cubes.
#[test]
fn what_is_deep_is_pushed_out_within_a_small_budget() {
    for seed in 0..6 {
        let (mut world, high) = box_over_box(FrameBudget::Work(1500), seed, -0.06);
        world.physics.gravity = Vec3::ZERO;
        world.step();
        let before = world.deepest_overlap();
        let mut fastest = 0.0_f32;
        for _ in 0..120 {
            world.step();
            assert!(world.stats().voxel.tests < 2500);
            fastest = fastest.max(world.body(high).unwrap().linvel().length());
        }
        let depth = world.deepest_overlap();
        assert!(before > 0.05 && depth < 0.02, "seed {seed}: {depth} m deep");
        assert!(fastest < 1.0, "seed {seed}: {fastest} m/s");
    }
}

/// What comes fast is met at the surface: by voxels, too, bodies look ahead.
#[test]
fn what_comes_fast_is_met_at_the_surface() {
    for seed in 0..6 {
        let (mut world, high) = box_over_box(FrameBudget::Unlimited, seed, 0.1);
        // Three voxels and a half in a step.
        let speed = -Vec3::Y * 8.0;
        world.body_mut(high).unwrap().set_linvel(speed, true);
        let (mut deepest, mut met) = (0.0_f32, false);
        for _ in 0..40 {
            world.step();
            met |= world.body(high).unwrap().linvel().y > -1.0;
            deepest = deepest.max(world.deepest_overlap());
        }
        assert!(met, "seed {seed}");
        assert!(deepest < 0.02, "seed {seed}: {deepest} m deep");
    }
}

/// The same on plain shapes: a floor, a box, a mesh without inside.
#[test]
fn what_comes_fast_is_met_at_the_surface_of_plain_shapes() {
    let corner = |x: f32, z: f32| Vec3::new(x, 0.0, z);
    let corners = vec![
        corner(-1.0, -1.0),
        corner(1.0, -1.0),
        corner(1.0, 1.0),
        corner(-1.0, 1.0),
    ];
    let mesh = ColliderBuilder::trimesh(corners, vec![[0, 2, 1], [0, 3, 2]]).unwrap();
    let low_box = ColliderBuilder::cuboid(1.0, 0.5, 1.0).translation(Vec3::Y * -0.5);
    let floor = ColliderBuilder::new(SharedShape::halfspace(Vec3::Y));
    for (kind, ground) in [("floor", floor), ("box", low_box), ("mesh", mesh)] {
        let base = WorldSettings::measured();
        let mut world = World::new(WorldSettings {
            contacts: ContactSettings {
                mode: ContactMode::VoxelTree(voxels(FrameBudget::Unlimited)),
                ..base.contacts
            },
            length_unit: 0.1,
            ..base
        })
        .with_dt(1.0 / 120.0);
        world.physics.insert_collider(ground, None);
        let at = Pose::from_translation(Vec3::Y * (0.5 * SIDE + 0.14));
        let id = whole(world.add(Breakable::new(centred(Vec3::splat(SIDE))).at(at)));
        // Four voxels in a step.
        let speed = -Vec3::Y * 10.0;
        world.body_mut(id).unwrap().set_linvel(speed, true);
        let mut lowest = f32::INFINITY;
        for _ in 0..40 {
            world.step();
            lowest = lowest.min(world.body(id).unwrap().translation().y - 0.5 * SIDE);
        }
        assert!(lowest > -0.01, "{kind}: {} m deep", -lowest);
        assert!(lowest < 0.02, "{kind}: it was not met at {lowest} m");
    }
}

/// A fragment that cannot be voxelised, and so has no tree to take its radius from, is asked
/// again when it has only turned.
#[test]
fn what_has_no_voxels_and_spins_is_asked_again() {
    let settings = VoxelSettings {
        resolution: 1_000_000,
        ..VoxelSettings::within(FrameBudget::Work(10_000_000))
    };
    let mut world = world(ContactMode::Budgeted(settings));
    let blueprint = centred(Vec3::splat(SIDE));
    let at = Pose::from_translation(Vec3::Y * 0.5 * SIDE);
    let id = whole(world.add(Breakable::new(blueprint).at(at)));
    let mut asked = 0;
    for step in 0..40 {
        let body = world.body_mut(id).unwrap();
        body.set_angvel(Vec3::Y * 3.0, true);
        body.set_linvel(Vec3::ZERO, true);
        world.step();
        let stats = world.stats();
        assert_eq!(stats.voxel.pairs, 0, "it has no voxels");
        if step >= 10 {
            asked += stats.pairs;
        }
    }
    // A corner moves by 3.5 mm in a step. By its centre alone it does not move.
    assert!(asked >= 25, "{asked}");
}
