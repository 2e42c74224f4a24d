//! Every shape of the engine against a fragment: contacts, overlap, distance and casts,
//! held against brute-force sampling of the fragment's surface.

mod common;

use common::blueprint;
use fracas_core::testing::Rng;
use fracas_rapier::{FragmentDispatcher, FragmentShape, check_shape};
use glam::{IVec3, Quat, Vec3};
use parry3d::bounding_volume::{Aabb, BoundingSphere};
use parry3d::mass_properties::MassProperties;
use parry3d::math::Pose;
use parry3d::query::{
    NonlinearRigidMotion, PointProjection, PointQuery, QueryDispatcher, Ray, RayCast,
    RayIntersection, ShapeCastOptions,
};
use parry3d::shape::{Ball, FeatureId, Shape, ShapeType, SharedShape, TriMesh, TypedShape};
use parry3d::utils::Array2;

/// Signed distance of a point of the shape's frame, by other means than ours.
type Truth = Box<dyn Fn(Vec3) -> f32>;

struct Cell {
    name: &'static str,
    shape: SharedShape,
    truth: Truth,
    /// Whether it is solid all the way down, so that any depth is known.
    solid: bool,
}

fn box_truth(half: Vec3) -> Truth {
    Box::new(move |p| {
        let beyond = p.abs() - half;
        beyond.max(Vec3::ZERO).length() + beyond.max_element().min(0.0)
    })
}

/// Parry's own projection.
fn projected(shape: &SharedShape) -> Truth {
    let shape = shape.clone();
    Box::new(move |p| {
        let found = shape.project_local_point(p, false);
        let sign = if found.is_inside { -1.0 } else { 1.0 };
        sign * found.point.distance(p)
    })
}

fn box_mesh(half: Vec3) -> TriMesh {
    let cuboid = parry3d::shape::Cuboid::new(half);
    let (vertices, triangles) = cuboid.to_trimesh();
    TriMesh::new(vertices, triangles).unwrap()
}

/// The slope of the height field.
const SLOPE: f32 = 0.5;

/// Half the extents of the boxes.
const HALF: Vec3 = Vec3::new(0.3, 0.2, 0.25);

fn cells() -> Vec<Cell> {
    let mut cells = convex_cells();
    cells.extend(other_cells());
    cells
}

fn convex_cells() -> Vec<Cell> {
    let corners: Vec<Vec3> = (0..8)
        .map(|i| {
            let sign = |bit: i32| if i & bit == 0 { -1.0 } else { 1.0 };
            HALF * Vec3::new(sign(1), sign(2), sign(4))
        })
        .collect();
    let by_projection = |name, shape: SharedShape| Cell {
        name,
        truth: projected(&shape),
        shape,
        solid: true,
    };
    vec![
        Cell {
            name: "half-space",
            shape: SharedShape::halfspace(Vec3::Y),
            truth: Box::new(|p| p.y),
            solid: true,
        },
        Cell {
            name: "ball",
            shape: SharedShape::ball(0.3),
            truth: Box::new(|p| p.length() - 0.3),
            solid: true,
        },
        Cell {
            name: "cuboid",
            shape: SharedShape::cuboid(HALF.x, HALF.y, HALF.z),
            truth: box_truth(HALF),
            solid: true,
        },
        by_projection("capsule", SharedShape::capsule_y(0.2, 0.15)),
        by_projection("cylinder", SharedShape::cylinder(0.25, 0.2)),
        by_projection("cone", SharedShape::cone(0.3, 0.25)),
        Cell {
            name: "convex polyhedron",
            shape: SharedShape::convex_hull(&corners).unwrap(),
            truth: box_truth(HALF),
            solid: true,
        },
        by_projection(
            "round cuboid",
            SharedShape::round_cuboid(0.2, 0.15, 0.2, 0.05),
        ),
        by_projection(
            "round cylinder",
            SharedShape::round_cylinder(0.2, 0.2, 0.05),
        ),
        by_projection("round cone", SharedShape::round_cone(0.25, 0.2, 0.05)),
        Cell {
            name: "round convex polyhedron",
            shape: SharedShape::round_convex_hull(&corners, 0.05).unwrap(),
            truth: {
                let inner = box_truth(HALF);
                Box::new(move |p| inner(p) - 0.05)
            },
            solid: true,
        },
        Cell {
            name: "segment",
            shape: SharedShape::segment(Vec3::NEG_X * 0.3, Vec3::X * 0.3),
            truth: Box::new(|p| p.distance(Vec3::X * p.x.clamp(-0.3, 0.3))),
            solid: true,
        },
        by_projection(
            "round triangle",
            SharedShape::round_triangle(
                Vec3::new(-0.3, 0.0, -0.2),
                Vec3::new(0.3, 0.0, -0.2),
                Vec3::new(0.0, 0.0, 0.3),
                0.05,
            ),
        ),
    ]
}

/// Surfaces, and shapes made of several.
fn other_cells() -> Vec<Cell> {
    let heights = Array2::new(
        9,
        9,
        (0..81)
            .map(|i| SLOPE * ((i / 9) as f32 / 8.0 - 0.5))
            .collect(),
    );
    let voxels: Vec<IVec3> = (0..64)
        .map(|i| IVec3::new(i % 4, (i / 4) % 4, i / 16) - IVec3::splat(2))
        .collect();
    let two = |p: Vec3| {
        (p - Vec3::X * 0.2)
            .length()
            .min((p + Vec3::X * 0.2).length())
            - 0.2
    };
    let at = |x: f32| Pose::from_translation(Vec3::X * x);
    let ball = || SharedShape::ball(0.2);
    vec![
        Cell {
            name: "triangle",
            // So large that no fragment here reaches round its edges: a floor at y = 0.
            shape: SharedShape::triangle(
                Vec3::new(-20.0, 0.0, -20.0),
                Vec3::new(0.0, 0.0, 40.0),
                Vec3::new(20.0, 0.0, -20.0),
            ),
            truth: Box::new(|p| p.y),
            solid: false,
        },
        Cell {
            name: "triangle mesh",
            shape: SharedShape::new(box_mesh(HALF)),
            truth: box_truth(HALF),
            solid: false,
        },
        Cell {
            name: "height field",
            shape: SharedShape::heightfield(heights, Vec3::new(8.0, 1.0, 8.0)),
            // It rises by SLOPE over 8 m along x.
            truth: Box::new(|p| {
                let (rise, length) = (SLOPE / 8.0, (1.0 + (SLOPE / 8.0).powi(2)).sqrt());
                (p.y - rise * p.x) / length
            }),
            solid: false,
        },
        Cell {
            name: "voxels",
            shape: SharedShape::voxels(Vec3::splat(0.1), &voxels),
            truth: box_truth(Vec3::splat(0.2)),
            // Each voxel knows its own depth only.
            solid: false,
        },
        Cell {
            name: "compound",
            shape: SharedShape::compound(vec![(at(0.2), ball()), (at(-0.2), ball())]),
            truth: Box::new(two),
            solid: true,
        },
    ]
}

fn fragment() -> FragmentShape {
    let blueprint = blueprint([8, 8, 8], Vec3::splat(0.2));
    blueprint.object().1
}

/// The least distance of a dense sample of the fragment's surface, and of the shape's.
fn brute(truth: &Truth, surface: &[Vec3], pos12: &Pose) -> f32 {
    let inverse = pos12.inverse();
    surface
        .iter()
        .map(|&p| truth(inverse * p))
        .fold(f32::INFINITY, f32::min)
}

/// Points on the cube's surface, ten millimetres apart.
fn dense() -> Vec<Vec3> {
    let mut points = Vec::new();
    for axis in 0..3 {
        for side in [-0.1_f32, 0.1] {
            for i in 0..=20 {
                for j in 0..=20 {
                    let mut p = Vec3::ZERO;
                    p[axis] = side;
                    p[(axis + 1) % 3] = -0.1 + 0.01 * i as f32;
                    p[(axis + 2) % 3] = -0.1 + 0.01 * j as f32;
                    points.push(p);
                }
            }
        }
    }
    points
}

fn pose(rng: &mut Rng, reach: f32) -> Pose {
    let turn = Quat::from_scaled_axis(rng.direction() * rng.range(0.0, 3.0));
    Pose::from_parts(rng.direction() * rng.range(0.0, reach), turn)
}

#[test]
fn every_shape_answers_every_query_as_sampling_does() {
    let (fragment, surface) = (fragment(), dense());
    let ours = FragmentDispatcher::default();
    // The fragment's own points are 25 mm apart: no query can be nearer to the truth.
    let spacing = 0.013;
    for cell in cells() {
        check_shape(&*cell.shape).unwrap();
        let mut rng = Rng(7);
        let (mut near, mut overlaps, mut hits) = (0, 0, 0);
        for _ in 0..40 {
            let pos12 = pose(&mut rng, 0.6);
            let least = brute(&cell.truth, &surface, &pos12);
            let name = cell.name;
            // The shape's own corners may be nearer, or inside, than the fragment's points:
            // then the brute force knows less than we do.
            let distance = ours.distance(&pos12, &fragment, &*cell.shape).unwrap();
            let told = distance.distance;
            assert!(
                told < least.max(0.0) + spacing,
                "{name}: distance {told}, by sampling {least}"
            );
            let contact = ours.contact(&pos12, &fragment, &*cell.shape, 0.05).unwrap();
            let overlap = ours.intersection_test(&pos12, &fragment, &*cell.shape);
            let overlap = overlap.unwrap().intersecting;
            let known = cell.solid || least > -0.05;
            if (0.002..0.04).contains(&least) {
                near += 1;
                assert!(contact.is_some(), "{name}: none at {least}");
            }
            if least < -spacing && known {
                overlaps += 1;
                assert!(overlap, "{name}: no overlap at {least}");
                let depth = contact.map_or(0.0, |c| -c.dist);
                assert!(
                    depth > -least - spacing,
                    "{name}: {depth} deep, by sampling {}",
                    -least
                );
            }
            // Where bodies hardly overlap, the surface is where it is said to be.
            if let Some(contact) = contact.filter(|c| c.dist > -0.02) {
                let on = (cell.truth)(contact.point2);
                assert!(on.abs() < 0.012, "{name}: a point {on} off the surface");
            }
            if least > 0.05 {
                hits += cast(&ours, &cell, &fragment, &surface, &pos12);
            }
        }
        println!(
            "{}: {near} near, {overlaps} overlaps, {hits} hits",
            cell.name
        );
        // A segment has no inside to be found in.
        let thin = cell.name == "segment";
        assert!(
            near > 0 && (thin || overlaps > 0 && hits > 3),
            "{}",
            cell.name
        );
    }
}

/// The shape comes at the fragment; the time of touch against stepping.
fn cast(
    ours: &FragmentDispatcher,
    cell: &Cell,
    fragment: &FragmentShape,
    surface: &[Vec3],
    pos12: &Pose,
) -> u32 {
    let velocity = -pos12.translation * 2.0;
    let at = |t: f32| Pose::from_parts(pos12.translation + velocity * t, pos12.rotation);
    let touches = (0..=80)
        .map(|i| i as f32 / 80.0)
        .find(|&t| brute(&cell.truth, surface, &at(t)) < 0.0);
    let options = ShapeCastOptions {
        max_time_of_impact: 1.0,
        ..ShapeCastOptions::default()
    };
    let hit = ours.cast_shapes(pos12, velocity, fragment, &*cell.shape, options);
    let hit = hit.unwrap().map(|h| h.time_of_impact);
    // What the engine asks to keep bodies from passing through each other.
    let rest = NonlinearRigidMotion::identity();
    let moving = NonlinearRigidMotion::new(*pos12, Vec3::ZERO, velocity, Vec3::ZERO);
    let shape = &*cell.shape;
    let through = ours.cast_shapes_nonlinear(&rest, fragment, &moving, shape, 0.0, 1.0, false);
    let through = through.unwrap().map(|h| h.time_of_impact);
    let Some(touches) = touches else {
        return 0;
    };
    let name = cell.name;
    let slack = 0.03 / velocity.length() + 0.0125;
    // Its points, not its corners and edges, are cast to touch.
    if let Some(hit) = hit {
        assert!(
            hit < 1.0 && hit > touches - slack,
            "{name}: {hit} for {touches}"
        );
    } else {
        assert!(
            brute(&cell.truth, surface, &at(1.0)) > -0.03 || name.contains("segment"),
            "{name}: no hit for {touches}"
        );
    }
    // Deep in the end is through.
    let end = brute(&cell.truth, surface, &at(1.0));
    if end < -0.09 && cell.solid {
        let through = through.unwrap_or(2.0);
        assert!(through <= 1.0, "{name}: {end} deep and not through");
        assert!(through > touches - slack, "{name}: {through} for {touches}");
    }
    1
}

/// A shape of somebody else's: a ball that says it is none.
#[derive(Clone)]
struct Foreign(Ball);

impl PointQuery for Foreign {
    fn project_local_point(&self, p: Vec3, solid: bool) -> PointProjection {
        self.0.project_local_point(p, solid)
    }

    fn project_local_point_and_get_feature(&self, p: Vec3) -> (PointProjection, FeatureId) {
        self.0.project_local_point_and_get_feature(p)
    }
}

impl RayCast for Foreign {
    fn cast_local_ray_and_get_normal(
        &self,
        ray: &Ray,
        most: f32,
        solid: bool,
    ) -> Option<RayIntersection> {
        self.0.cast_local_ray_and_get_normal(ray, most, solid)
    }
}

impl Shape for Foreign {
    fn compute_local_aabb(&self) -> Aabb {
        self.0.compute_local_aabb()
    }

    fn compute_local_bounding_sphere(&self) -> BoundingSphere {
        self.0.compute_local_bounding_sphere()
    }

    fn clone_dyn(&self) -> Box<dyn Shape> {
        Box::new(self.clone())
    }

    fn scale_dyn(&self, _: Vec3, _: u32) -> Option<Box<dyn Shape>> {
        None
    }

    fn mass_properties(&self, density: f32) -> MassProperties {
        self.0.mass_properties(density)
    }

    fn shape_type(&self) -> ShapeType {
        ShapeType::Custom
    }

    fn as_typed_shape(&self) -> TypedShape<'_> {
        TypedShape::Custom(self)
    }

    fn ccd_thickness(&self) -> f32 {
        self.0.ccd_thickness()
    }

    fn ccd_angular_thickness(&self) -> f32 {
        self.0.ccd_angular_thickness()
    }
}

#[test]
fn shapes_that_cannot_be_met_are_refused_by_name() {
    let line = SharedShape::polyline(vec![Vec3::ZERO, Vec3::X, Vec3::Y], None);
    let why = check_shape(&*line).unwrap_err().to_string();
    assert!(why.contains("polyline"), "{why}");
    let ours = FragmentDispatcher::default();
    let pos12 = Pose::identity();
    let foreign = Foreign(Ball::new(0.1));
    let why = check_shape(&foreign).unwrap_err().to_string();
    assert!(why.contains("custom shape"), "{why}");
    for shape in [&*line as &dyn Shape, &foreign] {
        assert!(ours.contact(&pos12, &fragment(), shape, 0.1).is_err());
        assert!(ours.distance(&pos12, &fragment(), shape).is_err());
        assert!(ours.intersection_test(&pos12, &fragment(), shape).is_err());
        let options = ShapeCastOptions::default();
        let cast = ours.cast_shapes(&pos12, Vec3::X, &fragment(), shape, options);
        assert!(cast.is_err());
    }
    // One part that is refused refuses the whole.
    let parts = vec![
        (Pose::identity(), SharedShape::ball(0.1)),
        (Pose::identity(), SharedShape::new(foreign)),
    ];
    assert!(check_shape(&*SharedShape::compound(parts)).is_err());
    let inside = SharedShape::compound(vec![(Pose::identity(), SharedShape::ball(0.1))]);
    check_shape(&*inside).unwrap();
    check_shape(&fragment()).unwrap();
}

/// Rays and points at a fragment, as a game asks them.
#[test]
fn rays_and_points_know_the_fragment() {
    let fragment = fragment();
    let mut rng = Rng(3);
    for _ in 0..200 {
        let from = rng.direction() * 0.5;
        let to = rng.in_box(Vec3::splat(-0.05), Vec3::splat(0.05));
        let ray = Ray::new(from, to - from);
        let hit = fragment
            .cast_local_ray_and_get_normal(&ray, 2.0, true)
            .unwrap();
        let on = ray.point_at(hit.time_of_impact).abs().max_element();
        assert!((on - 0.1).abs() < 1e-4 && hit.normal.dot(ray.dir) < 0.0);
        let p = rng.in_box(Vec3::splat(-0.2), Vec3::splat(0.2));
        let inside = p.abs().max_element() < 0.1;
        assert_eq!(fragment.contains_local_point(p), inside, "{p}");
    }
}

/// A ridge whose faces meet at 20 degrees: behind it is behind it, whichever face of the
/// two is said to be closest.
#[test]
fn acute_ridges_have_one_front() {
    let ridge = TriMesh::new(
        vec![
            Vec3::new(-0.1, -0.5, -2.0),
            Vec3::new(-0.1, -0.5, 2.0),
            Vec3::new(0.1, -0.5, -2.0),
            Vec3::new(0.1, -0.5, 2.0),
            Vec3::new(0.0, 0.0, -2.0),
            Vec3::new(0.0, 0.0, 2.0),
        ],
        // Two steep faces and a bottom, all looking out.
        vec![
            [0, 1, 5],
            [0, 5, 4],
            [2, 5, 3],
            [2, 4, 5],
            [0, 2, 3],
            [0, 3, 1],
        ],
    )
    .unwrap();
    let (ours, fragment) = (FragmentDispatcher::default(), fragment());
    let mut rng = Rng(5);
    for _ in 0..200 {
        // Above the ridge, by a finger: in front of it, never inside.
        let at = Vec3::new(rng.range(-0.02, 0.02), -0.101 - rng.range(0.0, 0.02), 0.0);
        let turn = Quat::from_rotation_y(rng.range(-0.1, 0.1));
        let pos12 = Pose::from_parts(at, turn);
        let found = ours
            .contact(&pos12, &fragment, &ridge as &dyn Shape, 0.05)
            .unwrap();
        let found = found.expect("it is near");
        assert!(found.dist > -1e-3, "{found:?}");
    }
}
