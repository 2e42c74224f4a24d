//! What gizmos draw, without a renderer: the lines are read from where one would find them.

use std::any::TypeId;

use crate::common::{self, add_brick, add_floor, app_to_finish, brick_of, fragile, steps};
use bevy::gizmos::GizmoHandles;
use bevy::prelude::*;
use bevy_fracas::prelude::*;
use bevy_rapier3d::prelude::*;
use fracas_rapier::WorldSettings;

/// Ends of lines, and strips of lines.
#[derive(Default)]
struct Drawn {
    lines: Vec<[Vec3; 2]>,
    strips: Vec<Vec<Vec3>>,
}

fn app_that_draws(what: FracasGizmos) -> App {
    let mut app = app_to_finish(WorldSettings::default(), "assets");
    app.init_asset::<GizmoAsset>()
        .add_plugins(FracasGizmosPlugin)
        .insert_gizmo_config(what, default());
    app.finish();
    app.cleanup();
    app
}

const NOTHING: FracasGizmos = FracasGizmos {
    contacts: false,
    normal_length: 0.05,
    sheets: false,
    boxes: false,
    spheres: None,
};

/// What the last frame has drawn.
fn drawn(app: &App) -> Drawn {
    let handles = app.world().resource::<GizmoHandles>().handles();
    let Some(handle) = &handles[&TypeId::of::<FracasGizmos>()] else {
        return Drawn::default();
    };
    let assets = app.world().resource::<Assets<GizmoAsset>>();
    let view = assets.get(handle).unwrap().buffer().buffer();
    let (lines, _) = view.list_positions.as_chunks::<2>();
    // Strips end with what is not a number.
    let strips = view.strip_positions.split(|p| p.is_nan());
    Drawn {
        lines: lines.to_vec(),
        strips: strips
            .filter(|s| !s.is_empty())
            .map(<[_]>::to_vec)
            .collect(),
    }
}

fn area(corners: &[Vec3]) -> f32 {
    let first = corners[0];
    let sides = corners[1..].windows(2);
    let twice: Vec3 = sides.map(|s| (s[0] - first).cross(s[1] - first)).sum();
    0.5 * twice.length()
}

/// A brick in the air, broken into pieces that stay where they are.
fn break_in_the_air(app: &mut App, pieces: u32) {
    let made = BreakableBlueprint::new(brick_of(8));
    let place = Transform::from_xyz(0.5, 2.0, 1.0).with_rotation(Quat::from_rotation_x(0.7));
    let brick = (fragile(), made, place, GravityScale(0.0));
    let object = app.world_mut().spawn(brick).id();
    steps(app, 3);
    let by = crate::common::cells(pieces);
    app.world_mut().commands().entity(object).break_with(by);
    steps(app, 2);
}

#[test]
fn sheets_are_the_cracks_between_pieces_that_lie_where_they_parted() {
    let mut app = app_that_draws(FracasGizmos {
        sheets: true,
        ..NOTHING
    });
    add_brick(&mut app, Vec3::Y);
    steps(&mut app, 3);
    assert!(drawn(&app).strips.is_empty());
    break_in_the_air(&mut app, 12);
    // Each part of a crack has a piece on both sides of it, and is drawn once.
    let fracas = app.world().resource::<Fracas>().world();
    let (mut cracks, mut pieces) = (0.0, 0);
    for piece in fracas.pieces() {
        let surface = fracas.surface(piece).unwrap();
        let triangles = surface.outer_triangles()..surface.triangles().len();
        cracks += triangles.map(|t| area(&surface.corners(t))).sum::<f32>();
        pieces += 1;
    }
    assert!(pieces > 8, "{pieces}");
    let sheets: f32 = drawn(&app).strips.iter().map(|s| area(s)).sum();
    assert!(
        (2.0 * sheets / cracks - 1.0).abs() < 1e-3,
        "{sheets} of {cracks}"
    );
    // They lie in the brick, where it is now.
    let size = common::BRICK;
    let back = Quat::from_rotation_x(-0.7);
    for &corner in drawn(&app).strips.iter().flatten() {
        let local = back * (corner - Vec3::new(0.5, 2.0, 1.0));
        assert!(local.abs().cmple(0.5 * size + 1e-3).all(), "{local}");
    }
    // What flies apart has none.
    let world = app.world_mut();
    let mut sets = world.query::<&mut RapierRigidBodySet>();
    let bodies = &mut sets.single_mut(world).unwrap().bodies;
    for (_, body) in bodies.iter_mut() {
        let away = body.center_of_mass() - Vec3::new(0.5, 2.0, 1.0);
        body.set_linvel(20.0 * away, true);
    }
    steps(&mut app, 20);
    assert!(drawn(&app).strips.is_empty());
}

#[test]
fn contacts_are_drawn_where_the_engine_solves_them() {
    let mut app = app_that_draws(FracasGizmos {
        contacts: true,
        ..NOTHING
    });
    add_floor(&mut app);
    add_brick(&mut app, Vec3::Y * (0.5 * common::BRICK.y));
    steps(&mut app, 30);
    let world = app.world_mut();
    let mut engine = world.query::<&RapierContextSimulation>();
    let pairs = engine.single(world).unwrap().narrow_phase.contact_pairs();
    let manifolds = pairs.flat_map(|pair| pair.manifolds());
    let solved: usize = manifolds.map(|m| m.data.solver_contacts.len()).sum();
    assert!(solved > 2, "{solved}");
    let Drawn { lines, .. } = drawn(&app);
    assert_eq!(lines.len(), solved);
    let half = 0.5 * common::BRICK + 1e-3;
    for [point, end] in lines {
        assert!(point.y.abs() < 2e-3, "{point}");
        assert!(point.xz().abs().cmple(half.xz()).all(), "{point}");
        assert!(((end - point).length() - NOTHING.normal_length).abs() < 1e-5);
        assert!((end - point).normalize().y.abs() > 0.999, "{end} {point}");
    }
}

#[test]
fn boxes_are_round_the_pieces_and_spheres_those_of_their_trees() {
    let mut app = app_that_draws(FracasGizmos {
        boxes: true,
        ..NOTHING
    });
    break_in_the_air(&mut app, 4);
    let boxes = drawn(&app);
    let fracas = app.world().resource::<Fracas>();
    let pieces: Vec<_> = fracas.world().pieces().collect();
    assert!(pieces.len() > 2);
    let mut expected = Vec::new();
    for &piece in &pieces {
        let place = *app.world().get(fracas.entity_of(piece).unwrap()).unwrap();
        let corners = fracas.world().surface(piece).unwrap().positions();
        expected.push((place, corners));
    }
    assert_eq!(boxes.strips.len(), pieces.len());
    for (place, corners) in &expected {
        let place: &GlobalTransform = place;
        let back = place.affine().inverse();
        let is_tight = |strip: &Vec<Vec3>| {
            let local = strip.iter().map(|&p| back.transform_point3(p));
            let (low, high) = bounds(local);
            let (least, most) = bounds(corners.iter().copied());
            low.abs_diff_eq(least, 1e-4) && high.abs_diff_eq(most, 1e-4)
        };
        assert_eq!(boxes.strips.iter().filter(|s| is_tight(s)).count(), 1);
    }
    // Levels are those of the whole object's tree: a piece may begin below the first.
    let level = {
        let fracas = app.world().resource::<Fracas>().world();
        let mut levels = fracas.shape(pieces[0]).unwrap().tree().spheres();
        levels.next().unwrap().2
    };
    let mut store = app.world_mut().resource_mut::<GizmoConfigStore>();
    let (_, what) = store.config_mut::<FracasGizmos>();
    what.boxes = false;
    what.spheres = Some(level);
    app.update();
    let fracas = app.world().resource::<Fracas>();
    let mut expected = Vec::new();
    for &piece in &pieces {
        let place: &GlobalTransform = app.world().get(fracas.entity_of(piece).unwrap()).unwrap();
        let tree = fracas.world().shape(piece).unwrap().tree();
        for (centre, radius, _) in tree.spheres().filter(|s| s.2 == level) {
            expected.push((place.transform_point(centre), radius));
        }
    }
    // A sphere is drawn as three circles about its centre.
    let circles = drawn(&app).strips;
    assert!(!expected.is_empty());
    assert_eq!(circles.len(), 3 * expected.len());
    for circle in circles.chunks(3) {
        let (low, high) = bounds(circle.iter().flatten().copied());
        let (middle, half) = (0.5 * (low + high), 0.5 * (high - low));
        let is_it = |&(centre, radius): &(Vec3, f32)| {
            middle.abs_diff_eq(centre, 1e-4) && half.abs_diff_eq(Vec3::splat(radius), 1e-4)
        };
        assert!(expected.iter().any(is_it), "{middle} {half}");
    }
}

fn bounds(points: impl Iterator<Item = Vec3>) -> (Vec3, Vec3) {
    points.fold((Vec3::MAX, Vec3::MIN), |(low, high), p| {
        (low.min(p), high.max(p))
    })
}
