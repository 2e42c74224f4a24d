//! Where the contacts of a pair are known by hand: cubes with a side of 2, and balls.

use std::sync::Arc;

use fracas_core::testing::box_grid;
use glam::{Quat, Vec3};
use parry3d::shape::{Ball, SharedShape};

use super::*;
use crate::blueprint::Blueprint;

/// A cube with a side of 2, from the origin.
pub(crate) fn cube() -> FragmentShape {
    let mesh = Arc::new(box_grid([4; 3], Vec3::splat(2.0)));
    let cube = Blueprint::build(mesh, &Default::default(), &Default::default());
    cube.unwrap().object().1
}

pub(crate) fn beside(x: f32) -> Pose {
    Pose::from_translation(Vec3::X * x)
}

fn turned() -> Pose {
    let rotation = Quat::from_axis_angle(Vec3::new(0.6, 0.0, 0.8), 0.7);
    Pose::from_parts(Vec3::new(0.3, -0.2, 0.5), rotation)
}

/// A contact tells its distance by its points and normal.
#[track_caller]
fn assert_consistent(contact: &PairContact, pos12: &Pose) {
    let way = *pos12 * contact.point2 - contact.point1;
    let along = way.dot(contact.normal1);
    assert!((along - contact.distance).abs() < 1e-4, "{contact:?}");
    assert!(way.distance(contact.normal1 * along) < 1e-4, "{contact:?}");
    assert!((contact.normal1.length() - 1.0).abs() < 1e-4);
}

#[test]
fn contacts_of_a_field_are_placed_in_both_frames() {
    let pos12 = turned();
    let found = Contact {
        point: Vec3::new(0.1, 0.2, 0.3),
        normal: Vec3::new(0.0, 0.6, 0.8),
        distance: -0.25,
        point_id: 7,
    };
    let surface = found.point + found.normal * 0.25;
    for first_is_tree in [true, false] {
        let placed = Placed {
            pos12: &pos12,
            first_is_tree,
        };
        let contact = placed.place(&found);
        assert_consistent(&contact, &pos12);
        assert_eq!(contact.distance, -0.25);
        // The point goes from the frame of its tree to that of the field, and back.
        let p = Vec3::new(1.0, 2.0, 3.0);
        if first_is_tree {
            assert!(placed.pose().point(p).distance(pos12.inverse() * p) < 1e-5);
            assert_eq!(contact.point_id, PointId::of_first(7));
            assert_eq!(contact.point2, surface);
            assert!(contact.point1.distance(pos12 * found.point) < 1e-6);
        } else {
            assert!(placed.pose().point(p).distance(pos12 * p) < 1e-5);
            assert_eq!(contact.point_id, PointId::of_second(7));
            assert_eq!(contact.point1, surface);
            assert_eq!(contact.normal1, found.normal);
        }
    }
}

#[test]
fn modes_say_how_they_adapt() {
    let settings = AdaptiveSettings {
        depth_share: 0.5,
        ..AdaptiveSettings::default()
    };
    assert_eq!(ContactMode::Adaptive(settings).adaptive(), Some(settings));
    let voxels = VoxelSettings::default();
    for mode in [
        ContactMode::VoxelTree(voxels),
        ContactMode::Budgeted(voxels),
    ] {
        assert_eq!(mode.adaptive(), Some(AdaptiveSettings::default()));
        assert_eq!(mode.parry_shape(), None);
    }
    for mode in [ContactMode::Full, ContactMode::Fixed(3)] {
        assert_eq!(mode.adaptive(), None);
    }
    #[cfg(feature = "research")]
    assert_eq!(
        ContactMode::Parry(ParryShape::Hull).parry_shape(),
        Some(ParryShape::Hull)
    );
    let measuring = ContactSettings::measuring();
    assert_eq!(measuring.mode, ContactMode::Full);
    assert_eq!(measuring.normals, Normals::Gradient);
    let look = Look::within(0.3);
    assert_eq!((look.reach, look.visits), (0.3, u32::MAX));
}

#[test]
fn a_query_is_asked_as_the_settings_say() {
    let shape = cube();
    let mut settings = ContactSettings {
        traversal: Traversal::Alternating,
        ..ContactSettings::default()
    };
    for (normals, rule) in [
        (Normals::Chosen, NormalRule::default()),
        (Normals::Gradient, NormalRule::Field),
    ] {
        settings.normals = normals;
        let look = Look {
            visits: 17,
            ..Look::within(0.2)
        };
        let mut ask = Ask {
            settings: &settings,
            look,
            scratch: &mut PairScratch::default(),
            stats: QueryStats::default(),
        };
        let query = ask.query(&shape, 2);
        assert_eq!((query.tolerance, query.visit_limit), (0.2, 17));
        // What is left of the total is shared by the questions to come.
        ask.look.total = 25;
        ask.stats.distance_queries = 3;
        ask.stats.nodes_visited = 2;
        assert_eq!(ask.query(&shape, 2).visit_limit, 10);
        assert_eq!(ask.query(&shape, 1).visit_limit, 17);
        assert_eq!(query.traversal, Traversal::Alternating);
        assert_eq!(query.normals.rule, rule);
    }
}

/// Contacts of two cubes, the second placed so; and what was counted.
fn of_cubes(x: f32, settings: &ContactSettings) -> (Vec<PairContact>, QueryStats) {
    let (first, second) = (cube(), cube());
    let mut scratch = PairScratch::default();
    // What another pair left does not stay.
    scratch.contacts.push(PairContact {
        point1: Vec3::ZERO,
        point2: Vec3::ZERO,
        normal1: Vec3::Y,
        distance: 1.0,
        point_id: PointId::of_first(0),
    });
    let memory = &mut PairMemory::default();
    let look = Look::within(0.1);
    let stats = ask_fragments(
        &beside(x),
        &first,
        &second,
        look,
        settings,
        memory,
        &mut scratch,
    );
    (scratch.contacts, stats)
}

#[test]
fn points_of_both_cubes_are_told_with_their_depth() {
    let fixed = ContactSettings {
        mode: ContactMode::Fixed(3),
        ..ContactSettings::default()
    };
    let full = ContactSettings {
        mode: ContactMode::Full,
        ..ContactSettings::default()
    };
    for settings in [
        full,
        fixed,
        ContactSettings::measuring(),
        Default::default(),
    ] {
        for depth in [0.05, -0.04] {
            let (contacts, stats) = of_cubes(2.0 - depth, &settings);
            let of = |first: bool| {
                let is_of = |c: &&PairContact| c.point_id.is_of_first == first;
                contacts.iter().filter(is_of).count()
            };
            assert!(of(true) > 0 && of(false) > 0, "{settings:?}");
            assert_eq!(stats.contacts as usize, contacts.len());
            assert!(stats.distance_queries as usize >= contacts.len());
            if settings == fixed {
                assert_eq!((of(true), of(false)), (3, 3));
            }
            if settings == full {
                // All nodes of the faces that meet: five by five of each.
                assert!(of(true) >= 9 && of(false) >= 9, "{}", contacts.len());
            }
            for contact in &contacts {
                assert_consistent(contact, &beside(2.0 - depth));
                if settings.normals == Normals::Chosen {
                    assert!((contact.distance + depth).abs() < 1e-4, "{contact:?}");
                    assert!(contact.normal1.distance(Vec3::X) < 1e-4);
                }
            }
        }
        assert!(of_cubes(2.2, &settings).0.is_empty(), "beyond the reach");
    }
}

/// Turned by half of a right angle in its place, a cube is caught: every point is pushed its
/// own way. They get one way out, unless the true distances are asked for.
#[test]
fn what_is_caught_gets_one_way_out() {
    let centre = Vec3::ONE;
    let turn = Quat::from_axis_angle(Vec3::X, std::f32::consts::FRAC_PI_4);
    let pos12 = Pose::from_parts(centre + 0.2 * Vec3::X - turn * centre, turn);
    let (first, second) = (cube(), cube());
    let normals_of = |settings: &ContactSettings| -> Vec<Vec3> {
        let memory = &mut PairMemory::default();
        let mut scratch = PairScratch::default();
        let look = Look::within(0.01);
        ask_fragments(
            &pos12,
            &first,
            &second,
            look,
            settings,
            memory,
            &mut scratch,
        );
        scratch.contacts.iter().map(|c| c.normal1).collect()
    };
    let out = normals_of(&ContactSettings {
        mode: ContactMode::Full,
        ..ContactSettings::default()
    });
    assert!(!out.is_empty());
    assert!(out.iter().all(|n| n.distance(Vec3::X) < 1e-4), "{out:?}");
    let measured = normals_of(&ContactSettings::measuring());
    assert!(measured.iter().any(|n| n.y > 0.5) && measured.iter().any(|n| n.y < -0.5));
}

/// Contacts of a cube and a shape, and what was counted.
fn of_shape(pos12: &Pose, shape: &dyn Shape, reach: f32) -> (Vec<PairContact>, QueryStats) {
    let settings = ContactSettings::default();
    let (mut memory, mut scratch) = (PairMemory::default(), PairScratch::default());
    let look = Look::within(reach);
    let cube = cube();
    let found = ask_fragment_and_shape(
        pos12,
        &cube,
        shape,
        look,
        &settings,
        &mut memory,
        &mut scratch,
    );
    (scratch.contacts, found.unwrap())
}

#[test]
fn a_ball_touches_by_its_centre_exactly() {
    // Turned about itself, above the middle of a face, between the nodes.
    let turn = Quat::from_axis_angle(Vec3::X, 1.1);
    let at = |y: f32| Pose::from_parts(Vec3::new(1.1, y, 0.8), turn);
    for (y, reach, touches) in [
        (2.15, 0.05, true),
        (2.24, 0.05, true),
        (2.28, 0.05, false),
        (2.28, 0.1, true),
    ] {
        let (contacts, stats) = of_shape(&at(y), &Ball::new(0.2), reach);
        let own: Vec<_> = contacts
            .iter()
            .filter(|c| !c.point_id.is_of_first)
            .collect();
        assert_eq!(own.len(), usize::from(touches), "{y} {reach}");
        assert_eq!(stats.contacts as usize, contacts.len());
        for contact in own {
            assert_consistent(contact, &at(y));
            assert!((contact.distance - (y - 2.2)).abs() < 1e-5);
            assert!(contact.normal1.distance(Vec3::Y) < 1e-5);
            assert!(contact.point1.distance(Vec3::new(1.1, 2.0, 0.8)) < 1e-5);
            assert!(contact.point2.distance(turn.inverse() * Vec3::NEG_Y * 0.2) < 1e-5);
            assert_eq!(contact.point_id, PointId::of_second(0));
            assert!(stats.distance_queries > 0);
        }
    }
}

#[test]
fn parts_of_a_compound_are_told_in_the_frame_of_the_whole() {
    let parts = [-0.5, 0.5].map(|x| (beside(x), SharedShape::ball(0.2)));
    let compound = SharedShape::compound(parts.to_vec());
    let pos12 = Pose::from_translation(Vec3::new(1.05, 2.15, 0.85));
    let (contacts, _) = of_shape(&pos12, &*compound, 0.05);
    let places: Vec<f32> = contacts
        .iter()
        .filter(|c| !c.point_id.is_of_first)
        .map(|c| c.point2.x)
        .collect();
    assert_eq!(places.len(), 2, "{contacts:?}");
    assert!(places.iter().any(|x| (x - 0.5).abs() < 1e-4));
    assert!(places.iter().any(|x| (x + 0.5).abs() < 1e-4));
    for contact in &contacts {
        assert_consistent(contact, &pos12);
    }
}

/// Parts in the same place, of which one reaches where the other does not: what is remembered
/// of the one says nothing of the other.
#[test]
fn parts_of_a_compound_are_asked_as_if_each_were_alone() {
    let here = Pose::identity();
    let bar = SharedShape::cuboid(0.1, 0.6, 0.1);
    let board = SharedShape::cuboid(0.6, 0.1, 0.6);
    let settings = ContactSettings {
        mode: ContactMode::Adaptive(AdaptiveSettings {
            first: u32::MAX,
            ..AdaptiveSettings::default()
        }),
        ..ContactSettings::default()
    };
    let cube = cube();
    let ask = |shape: &SharedShape, y: f32, memory: &mut PairMemory| {
        let mut scratch = PairScratch::default();
        let pos12 = Pose::from_translation(Vec3::new(1.0, y, 1.0));
        let look = Look::within(0.02);
        ask_fragment_and_shape(
            &pos12,
            &cube,
            &**shape,
            look,
            &settings,
            memory,
            &mut scratch,
        )
        .unwrap();
        let of_first = scratch.contacts.iter();
        let of_first = of_first.filter(|c| c.point_id.is_of_first);
        let of_first = of_first.map(|c| (c.point_id.point, c.distance));
        let mut of_first: Vec<(u32, f32)> = of_first.collect();
        of_first.sort_by(|a, b| a.partial_cmp(b).unwrap());
        of_first
    };
    for parts in [[&bar, &board], [&board, &bar]] {
        let whole = SharedShape::compound(parts.map(|p| (here, p.clone())).to_vec());
        let mut memory = PairMemory::default();
        // It sinks by less than what is remembered holds for, then farther.
        for y in [2.095, 2.09, 2.08, 2.0, 2.0] {
            let mut alone: Vec<(u32, f32)> = parts
                .iter()
                .flat_map(|part| ask(part, y, &mut PairMemory::default()))
                .collect();
            alone.sort_by(|a, b| a.partial_cmp(b).unwrap());
            let found = ask(&whole, y, &mut memory);
            let ids = |all: &[(u32, f32)]| all.iter().map(|c| c.0).collect::<Vec<_>>();
            assert_eq!(ids(&found), ids(&alone), "{y}");
            for (c, want) in found.iter().zip(&alone) {
                assert!((c.1 - want.1).abs() < 1e-5, "{y}: {c:?} {want:?}");
            }
            assert!(alone.len() > 9, "{alone:?}");
        }
    }
}

/// A square mesh in the plane y = 0, looking up, of cells with a side of 0.25.
fn ground(cells: u32) -> SharedShape {
    let side = cells + 1;
    let at = |i: u32| Vec3::new((i % side) as f32, 0.0, (i / side) as f32) * 0.25;
    let corners = (0..cells * cells).map(|c| c / cells * side + c % cells);
    let triangles = corners.flat_map(|c| [[c, c + side, c + 1], [c + 1, c + side, c + side + 1]]);
    SharedShape::trimesh((0..side * side).map(at).collect(), triangles.collect()).unwrap()
}

/// A body that slides over a mesh meets other vertices; those that it still touches keep
/// their ids.
#[test]
fn vertices_of_a_mesh_keep_their_ids() {
    let ground = ground(24);
    let vertices = |x: f32| {
        // The mesh in the frame of the cube, which sinks into it by a hundredth.
        let pos12 = Pose::from_translation(Vec3::new(-x, 0.01, -2.0));
        let (contacts, _) = of_shape(&pos12, &*ground, 0.02);
        let own = contacts.into_iter().filter(|c| !c.point_id.is_of_first);
        let place = |v: Vec3| [v.x, v.z].map(|x| (4.0 * x).round() as i32);
        own.map(|c| (place(c.point2), c.point_id))
            .collect::<Vec<_>>()
    };
    let (before, after) = (vertices(1.1), vertices(1.6));
    let known = |place: &[i32; 2]| before.iter().find(|(p, _)| p == place);
    let kept: Vec<_> = after.iter().filter(|(p, _)| known(p).is_some()).collect();
    assert!(
        kept.len() > 20 && kept.len() < after.len(),
        "{}",
        kept.len()
    );
    for (place, id) in kept {
        assert_eq!(known(place).unwrap().1, *id, "{place:?}");
    }
}

/// Two equal parts of a compound or of voxels have the same points: contacts tell them apart.
#[test]
fn parts_of_a_compound_share_no_ids() {
    let boxes = [-0.5, 0.5].map(|x| (beside(x), SharedShape::cuboid(0.2, 0.2, 0.2)));
    let voxels = [glam::IVec3::new(-2, 0, 0), glam::IVec3::new(1, 0, 0)];
    let voxels = SharedShape::voxels(Vec3::splat(0.4), &voxels);
    for shape in [SharedShape::compound(boxes.to_vec()), voxels] {
        let low = shape.compute_local_aabb().mins.y;
        let pos12 = Pose::from_translation(Vec3::new(1.05, 1.99 - low, 0.85));
        let (contacts, _) = of_shape(&pos12, &*shape, 0.05);
        let right = contacts.iter().filter(|c| c.point2.x > 0.0).count();
        assert!(right > 5 && right + 5 < contacts.len(), "{right}");
        for (i, contact) in contacts.iter().enumerate() {
            let same = |c: &&PairContact| c.point_id == contact.point_id;
            let first = contacts.iter().position(|c| same(&c));
            assert_eq!(first, Some(i), "{contact:?}");
        }
    }
}
