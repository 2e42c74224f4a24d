//! The dispatcher's answers where they are known exactly: a cube of one metre, made of
//! tetrahedra with nodes at every quarter of a metre, beside shapes of the engine.
//!
//! `shapes.rs` holds the same questions against sampling, at random places; here the order of
//! a pair, signs, limits and states are told apart.

mod common;

use common::blueprint;
use fracas_rapier::{FragmentDispatcher, FragmentShape, dispatcher};
use glam::{Quat, Vec3};
use parry3d::math::{Pose, Rotation};
use parry3d::query::{
    ClosestPoints, Contact, ContactManifold, ContactManifoldsWorkspace, NonlinearRigidMotion,
    PersistentQueryDispatcher, QueryDispatcher, ShapeCastHit, ShapeCastOptions, ShapeCastStatus,
    Unsupported,
};
use parry3d::shape::{Ball, Shape, SharedShape};

fn cube() -> FragmentShape {
    blueprint([4, 4, 4], Vec3::ONE).object().1
}

fn floor() -> SharedShape {
    SharedShape::halfspace(Vec3::Y)
}

fn up(y: f32) -> Pose {
    Pose::from_translation(Vec3::Y * y)
}

fn ask() -> FragmentDispatcher {
    FragmentDispatcher::default()
}

#[track_caller]
fn near(found: f32, want: f32, within: f32) {
    assert!((found - want).abs() <= within, "{found}, not {want}");
}

#[track_caller]
fn near_vec(found: Vec3, want: Vec3) {
    assert!(found.distance(want) < 1e-3, "{found}, not {want}");
}

#[test]
fn pairs_without_a_fragment_are_handed_on() {
    let (ball, other, at) = (Ball::new(0.5), Ball::new(0.25), up(1.0));
    assert!(ask().distance(&at, &ball, &other).is_err());
    assert!(ask().intersection_test(&at, &ball, &other).is_err());
    assert!(ask().contact(&at, &ball, &other, 1.0).is_err());
    assert!(ask().overlap(&at, &ball, &other).is_none());
    let options = ShapeCastOptions::default();
    assert!(
        ask()
            .cast_shapes(&at, Vec3::NEG_Y, &ball, &other, options)
            .is_err()
    );
    let mut manifolds: Vec<ContactManifold<(), ()>> = Vec::new();
    let asked = ask().contact_manifolds(&at, &ball, &other, 1.0, &mut manifolds, &mut None);
    assert!(matches!(asked, Err(Unsupported)));
    // The chain asks the engine then.
    near(
        dispatcher().distance(&at, &ball, &other).unwrap().distance,
        0.25,
        1e-6,
    );
}

#[test]
fn a_contact_is_told_as_the_shapes_were_given() {
    let (cube, floor) = (cube(), floor());
    let above = ask()
        .contact(&up(0.45), &*floor, &cube, 0.0)
        .unwrap()
        .unwrap();
    near(above.dist, -0.05, 1e-5);
    near_vec(above.normal1, Vec3::Y);
    near_vec(above.normal2, Vec3::NEG_Y);
    near(above.point1.y, 0.0, 1e-5);
    near(above.point2.y, -0.5, 1e-5);
    let below = ask()
        .contact(&up(-0.45), &cube, &*floor, 0.0)
        .unwrap()
        .unwrap();
    near(below.dist, -0.05, 1e-5);
    near_vec(below.normal1, Vec3::NEG_Y);
    near_vec(below.normal2, Vec3::Y);
    near(below.point1.y, -0.5, 1e-5);
    near(below.point2.y, 0.0, 1e-5);
}

#[test]
fn the_second_normal_is_in_the_second_frame() {
    // The cube lies on its side: its own x looks up.
    let turned = Pose::from_parts(
        Vec3::Y * 0.45,
        Quat::from_rotation_z(0.5 * std::f32::consts::PI),
    );
    let found: Contact = ask()
        .contact(&turned, &*floor(), &cube(), 0.0)
        .unwrap()
        .unwrap();
    near(found.dist, -0.05, 1e-5);
    near_vec(found.normal1, Vec3::Y);
    near_vec(found.normal2, Vec3::NEG_X);
    near(found.point2.x, -0.5, 1e-4);
}

#[test]
fn distances_and_closest_points_are_those_of_the_faces() {
    let (cube, floor) = (cube(), floor());
    near(
        ask().distance(&up(0.7), &*floor, &cube).unwrap().distance,
        0.2,
        1e-5,
    );
    assert_eq!(
        ask().distance(&up(0.4), &*floor, &cube).unwrap().distance,
        0.0
    );
    let closest = |y: f32, most: f32| ask().closest_points(&up(y), &*floor, &cube, most).unwrap();
    match closest(0.7, 0.3) {
        ClosestPoints::WithinMargin(on_floor, on_cube) => {
            near(on_floor.y, 0.0, 1e-5);
            near(on_cube.y, -0.5, 1e-5);
            near(on_floor.x, on_cube.x, 1e-4);
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(closest(0.7, 0.1), ClosestPoints::Disjoint);
    assert_eq!(closest(0.4, 0.1), ClosestPoints::Intersecting);
    let touch = |y: f32| {
        ask()
            .intersection_test(&up(y), &*floor, &cube)
            .unwrap()
            .intersecting
    };
    assert!(touch(0.499) && !touch(0.501));
    assert!(
        ask()
            .contact(&up(0.6), &*floor, &cube, 0.05)
            .unwrap()
            .is_none()
    );
}

#[test]
fn overlap_counts_points_on_the_wrong_side() {
    let (cube, floor) = (cube(), floor());
    assert_eq!(ask().overlap(&up(0.6), &*floor, &cube), Some((0, 0.0)));
    // The lowest layer of nodes, then two: five by five each.
    let (count, depth) = ask().overlap(&up(0.45), &*floor, &cube).unwrap();
    assert_eq!(count, 25);
    near(depth, 0.05, 1e-5);
    let (more, deeper) = ask().overlap(&up(0.2), &*floor, &cube).unwrap();
    assert!(more > count, "{more}");
    near(deeper, 0.3, 1e-5);
}

/// Shapes, and how far their surface reaches from their middle along +x and along +y.
fn reaches() -> Vec<(&'static str, SharedShape, f32, f32)> {
    let hull: Vec<Vec3> = (0..8)
        .map(|i| {
            Vec3::new(0.3, 0.2, 0.25)
                * (Vec3::new((i & 1) as f32, (i >> 1 & 1) as f32, (i >> 2) as f32) * 2.0 - 1.0)
        })
        .collect();
    let at = |x: f32| Pose::from_translation(Vec3::X * x);
    let two = vec![
        (at(0.1), SharedShape::ball(0.2)),
        (at(-0.1), SharedShape::ball(0.1)),
    ];
    vec![
        ("ball", SharedShape::ball(0.3), 0.3, 0.3),
        ("cuboid", SharedShape::cuboid(0.3, 0.2, 0.25), 0.3, 0.2),
        ("capsule", SharedShape::capsule_y(0.2, 0.15), 0.15, 0.35),
        (
            "segment",
            SharedShape::segment(Vec3::NEG_Y * 0.2, Vec3::Y * 0.2),
            0.0,
            0.2,
        ),
        ("cylinder", SharedShape::cylinder(0.25, 0.2), 0.2, 0.25),
        ("cone", SharedShape::cone(0.3, 0.2), 0.2, 0.3),
        (
            "polyhedron",
            SharedShape::convex_hull(&hull).unwrap(),
            0.3,
            0.2,
        ),
        (
            "round cuboid",
            SharedShape::round_cuboid(0.2, 0.1, 0.2, 0.05),
            0.25,
            0.15,
        ),
        (
            "round cylinder",
            SharedShape::round_cylinder(0.2, 0.15, 0.05),
            0.2,
            0.25,
        ),
        (
            "round cone",
            SharedShape::round_cone(0.2, 0.15, 0.05),
            0.2,
            0.25,
        ),
        ("compound", SharedShape::compound(two), 0.3, 0.2),
    ]
}

#[test]
fn every_shape_is_as_far_as_it_reaches() {
    let cube = cube();
    for (name, shape, x, y) in reaches() {
        for (direction, reach) in [(Vec3::X, x), (Vec3::Y, y)] {
            // The shape is first at the origin; the cube's face is 0.2 beyond its end.
            let apart = Pose::from_translation(direction * (reach + 0.7));
            let found = ask().distance(&apart, &*shape, &cube).unwrap().distance;
            assert!(
                (found - 0.2).abs() < 2e-3,
                "{name} along {direction}: {found}"
            );
            let swapped = ask()
                .distance(&apart.inverse(), &cube, &*shape)
                .unwrap()
                .distance;
            assert!((found - swapped).abs() < 1e-5, "{name}: {found}, {swapped}");
            let inside = Pose::from_translation(direction * (reach + 0.45));
            let hit = ask().intersection_test(&inside, &*shape, &cube).unwrap();
            assert!(hit.intersecting, "{name} along {direction}");
        }
    }
}

#[test]
fn manifolds_hold_the_lowest_face_and_stay_when_asked_again() {
    let (cube, floor) = (cube(), floor());
    let mut manifolds: Vec<ContactManifold<(), u32>> = Vec::new();
    let mut workspace: Option<ContactManifoldsWorkspace> = None;
    let mut step = |y: f32, manifolds: &mut Vec<ContactManifold<(), u32>>| {
        let asked =
            ask().contact_manifolds(&up(y), &*floor, &cube, 0.02, manifolds, &mut workspace);
        asked.unwrap();
    };
    step(0.49, &mut manifolds);
    let points: Vec<_> = manifolds.iter().flat_map(|m| m.points.iter()).collect();
    assert!(points.len() >= 3, "{} points", points.len());
    for manifold in &manifolds {
        near_vec(manifold.local_n1, Vec3::Y);
        near_vec(manifold.local_n2, Vec3::NEG_Y);
    }
    for point in points {
        near(point.dist, -0.01, 1e-5);
        near(point.local_p1.y, 0.0, 1e-5);
        near(point.local_p2.y, -0.5, 1e-5);
    }
    // What the solver noted at a point is there in the next step.
    for (i, point) in manifolds.iter_mut().flat_map(|m| &mut m.points).enumerate() {
        point.data = 100 + i as u32;
    }
    step(0.488, &mut manifolds);
    let kept = manifolds
        .iter()
        .flat_map(|m| &m.points)
        .filter(|p| p.data >= 100);
    assert!(kept.count() >= 3);
    for point in manifolds.iter().flat_map(|m| &m.points) {
        near(point.dist, -0.012, 1e-5);
    }
    // Far away nothing is left.
    step(0.8, &mut manifolds);
    assert!(manifolds.iter().all(|m| m.points.is_empty()));
}

/// Two equal parts of a compound stand on a cube; the cube tilts away from the first. The
/// impulses of the second part stay its own.
#[test]
fn parts_of_a_compound_warm_start_from_their_own_impulses() {
    let foot = SharedShape::ball(0.1);
    let at = |x: f32| Pose::from_translation(Vec3::X * x);
    let feet = SharedShape::compound(vec![(at(-0.3), foot.clone()), (at(0.3), foot)]);
    let mut manifolds: Vec<ContactManifold<(), u32>> = Vec::new();
    let mut workspace: Option<ContactManifoldsWorkspace> = None;
    let mut step = |tilt: f32, manifolds: &mut Vec<ContactManifold<(), u32>>| {
        let turn = Rotation::from_rotation_z(tilt);
        let pose = Pose::from_parts(Vec3::new(0.0, 0.595, 0.0), turn);
        ask()
            .contact_manifolds(&pose, &cube(), &*feet, 0.02, manifolds, &mut workspace)
            .unwrap();
    };
    step(0.0, &mut manifolds);
    let mark = |x: f32| if x < 0.0 { 1 } else { 2 };
    for point in manifolds.iter_mut().flat_map(|m| &mut m.points) {
        point.data = mark(point.local_p2.x);
    }
    // The left ball rises out of reach.
    step(-0.1, &mut manifolds);
    let points: Vec<_> = manifolds.iter().flat_map(|m| &m.points).collect();
    assert!(points.iter().all(|p| p.local_p2.x > 0.0) && !points.is_empty());
    let kept = points.iter().filter(|p| p.data != 0);
    assert!(kept.clone().count() > 0, "the ball's own point is known");
    assert!(kept.clone().all(|p| p.data == 2), "{points:?}");
}

#[test]
fn shapes_that_cannot_be_met_have_no_manifolds() {
    let line = SharedShape::polyline(vec![Vec3::ZERO, Vec3::X], None);
    let mut manifolds: Vec<ContactManifold<(), ()>> = Vec::new();
    let asked = ask().contact_manifolds(&up(0.2), &cube(), &*line, 0.1, &mut manifolds, &mut None);
    assert!(matches!(asked, Err(Unsupported)));
}

fn falling(y: f32, speed: f32) -> NonlinearRigidMotion {
    NonlinearRigidMotion::new(up(y), Vec3::ZERO, Vec3::NEG_Y * speed, Vec3::ZERO)
}

fn go(
    [g1, g2]: [&dyn Shape; 2],
    [m1, m2]: [&NonlinearRigidMotion; 2],
    [start, end]: [f32; 2],
    stop: bool,
) -> Option<ShapeCastHit> {
    let hit = ask().cast_shapes_nonlinear(m1, g1, m2, g2, start, end, stop);
    hit.unwrap()
}

#[test]
fn a_cast_hits_when_the_face_arrives() {
    let (cube, floor) = (cube(), floor());
    let options = ShapeCastOptions::with_max_time_of_impact(10.0);
    let fall = |y: f32, options| ask().cast_shapes(&up(y), Vec3::NEG_Y, &*floor, &cube, options);
    // Closer than a fiftieth of its inner radius touches: up to 10 mm before it.
    let hit = fall(1.0, options).unwrap().unwrap();
    assert!((0.489..=0.5).contains(&hit.time_of_impact), "{hit:?}");
    assert_eq!(hit.status, ShapeCastStatus::Converged);
    near_vec(hit.normal1, Vec3::Y);
    near_vec(hit.normal2, Vec3::NEG_Y);
    // The other way round, as the first shape sees it.
    let swapped = ask().cast_shapes(&up(-1.0), Vec3::Y, &cube, &*floor, options);
    let swapped = swapped.unwrap().unwrap();
    near(swapped.time_of_impact, hit.time_of_impact, 1e-4);
    near_vec(swapped.normal1, Vec3::NEG_Y);
    near_vec(swapped.normal2, Vec3::Y);
    // Later than asked, or away from it: never.
    assert!(
        fall(1.0, ShapeCastOptions::with_max_time_of_impact(0.4))
            .unwrap()
            .is_none()
    );
    let away = ask().cast_shapes(&up(1.0), Vec3::Y, &*floor, &cube, options);
    assert!(away.unwrap().is_none());
    // Who is in at the beginning is told so, or not at all.
    let inside = fall(0.4, options).unwrap().unwrap();
    assert_eq!(inside.time_of_impact, 0.0);
    assert_eq!(
        inside.status,
        ShapeCastStatus::PenetratingOrWithinTargetDist
    );
    let not = ShapeCastOptions {
        stop_at_penetration: false,
        ..options
    };
    assert!(fall(0.4, not).unwrap().is_none());
    assert!(fall(1.0, not).unwrap().is_some());
}

#[test]
fn a_cast_between_times_tells_the_time_of_the_world() {
    let (cube, floor) = (cube(), floor());
    let rest = NonlinearRigidMotion::identity();
    // At time 2 it is at a height of 1, and the gap of half a metre lasts for half a second.
    let hit = go(
        [&*floor, &cube],
        [&rest, &falling(3.0, 1.0)],
        [2.0, 4.0],
        true,
    )
    .unwrap();
    assert!((2.489..=2.5).contains(&hit.time_of_impact), "{hit:?}");
    // Both move: it is their difference that counts.
    let hit = go(
        [&*floor, &cube],
        [&falling(0.0, 1.0), &falling(1.0, 3.0)],
        [0.0, 1.0],
        true,
    );
    near(hit.unwrap().time_of_impact, 0.245, 0.006);
}

#[test]
fn two_fragments_meet_between_them() {
    let (left, right) = (cube(), cube());
    let rest = NonlinearRigidMotion::identity();
    let place = |x: f32, v: f32| {
        let start = Pose::from_translation(Vec3::X * x);
        NonlinearRigidMotion::new(start, Vec3::ZERO, Vec3::X * v, Vec3::ZERO)
    };
    let hit = go(
        [&left, &right],
        [&rest, &place(3.0, -4.0)],
        [0.0, 1.0],
        true,
    )
    .unwrap();
    assert!((0.48..=0.5).contains(&hit.time_of_impact), "{hit:?}");
    near_vec(hit.normal1, Vec3::X);
    near_vec(hit.normal2, Vec3::NEG_X);
    let hit = go(
        [&left, &right],
        [&rest, &place(-3.0, 4.0)],
        [0.0, 1.0],
        true,
    )
    .unwrap();
    near_vec(hit.normal1, Vec3::NEG_X);
    assert!(
        go(
            [&left, &right],
            [&rest, &place(3.0, -1.0)],
            [0.0, 1.0],
            true
        )
        .is_none()
    );
    near(
        ask()
            .distance(&Pose::from_translation(Vec3::X * 1.3), &left, &right)
            .unwrap()
            .distance,
        0.3,
        1e-4,
    );
}

#[test]
fn only_what_goes_through_is_put_back() {
    let (cube, floor) = (cube(), floor());
    let rest = NonlinearRigidMotion::identity();
    let through = |from: f32, by: f32| {
        go(
            [&*floor, &cube],
            [&rest, &falling(from, by)],
            [0.0, 1.0],
            false,
        )
    };
    // A little into the floor is for contacts; deep into it is not, and the time is where it
    // went in.
    assert!(through(0.51, 0.05).is_none());
    let hit = through(1.0, 3.0).unwrap();
    assert!((0.15..0.25).contains(&hit.time_of_impact), "{hit:?}");
    near_vec(hit.normal1, Vec3::Y);
    assert!(through(5.0, 3.0).is_none());
}

#[test]
fn a_small_ball_between_the_nodes_does_not_go_through() {
    let (cube, ball) = (cube(), SharedShape::ball(0.05));
    let rest = NonlinearRigidMotion::identity();
    let shot = |x: f32, speed: f32| {
        let start = Pose::from_translation(Vec3::new(x, 0.9, 0.07));
        let motion = NonlinearRigidMotion::new(start, Vec3::ZERO, Vec3::NEG_Y * speed, Vec3::ZERO);
        go([&cube, &*ball], [&rest, &motion], [0.0, 1.0], false)
    };
    let hit = shot(0.13, 3.0).unwrap();
    near(hit.time_of_impact, 0.35 / 3.0, 0.01);
    near_vec(hit.normal1, Vec3::Y);
    assert!(shot(0.7, 3.0).is_none(), "it passes beside it");
    assert!(shot(0.13, 0.4).is_none(), "it only comes to touch it");
}

#[test]
fn a_sheet_is_crossed_from_its_front() {
    let cube = cube();
    let corners = [
        Vec3::new(-9.0, 0.0, -9.0),
        Vec3::new(0.0, 0.0, 9.0),
        Vec3::new(9.0, 0.0, -9.0),
    ];
    let mesh = SharedShape::trimesh(corners.to_vec(), vec![[0, 1, 2]]).unwrap();
    let rest = NonlinearRigidMotion::identity();
    let hit = go(
        [&*mesh, &cube],
        [&rest, &falling(1.0, 3.0)],
        [0.0, 1.0],
        false,
    )
    .unwrap();
    assert!((0.15..0.25).contains(&hit.time_of_impact), "{hit:?}");
    near_vec(hit.normal1, Vec3::Y);
    assert!(
        go(
            [&*mesh, &cube],
            [&rest, &falling(5.0, 3.0)],
            [0.0, 1.0],
            false
        )
        .is_none()
    );
}
