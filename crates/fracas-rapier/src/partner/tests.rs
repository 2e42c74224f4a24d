//! What pairs remember of sheets and of solids, held against pairs that remember nothing.

use fracas_core::sphere_tree::{
    AdaptiveSettings, BuildOptions, PairState, Query, QueryScratch, Question,
};
use fracas_core::testing::{Rng, box_grid};
use fracas_core::{Contact, Pose, SphereTree};
use parry3d::math::Pose as EnginePose;
use parry3d::shape::{HeightField, SharedShape, TriMesh};
use parry3d::utils::Array2;

use super::*;
use fracas_core::sphere_tree::NormalRule;

/// Hills with ridges, with free edges all round.
fn heights(rng: &mut Rng) -> HeightField {
    let cells = Array2::new(9, 9, (0..81).map(|_| rng.range(-0.3, 0.3)).collect());
    HeightField::new(cells, Vec3::new(4.0, 1.0, 4.0))
}

/// The same as triangles, with a thin wall on it.
fn mesh(field: &HeightField) -> TriMesh {
    let (mut vertices, mut triangles) = field.to_trimesh();
    let first = vertices.len() as u32;
    for (x, y) in [(-0.05, -0.2), (0.05, -0.2), (0.05, 0.6), (-0.05, 0.6)] {
        vertices.extend([-1.0, 1.0].map(|z| Vec3::new(x, y, z)));
    }
    for k in 0..4 {
        let [a, b] = [2 * k, 2 * ((k + 1) % 4)].map(|i| first + i);
        triangles.extend([[a, b, a + 1], [b, b + 1, a + 1]]);
    }
    TriMesh::new(vertices, triangles).unwrap()
}

#[test]
fn pairs_remember_sheets_and_find_what_pairs_without_memory_find() {
    let mut rng = Rng(7);
    let tree = box_grid([6, 3, 4], Vec3::new(0.9, 0.4, 0.6));
    let tree = SphereTree::build(&tree, &BuildOptions::default()).unwrap();
    let settings = AdaptiveSettings {
        first: u32::MAX,
        ..AdaptiveSettings::default()
    };
    let mut scratch = QueryScratch::default();
    let (mut touching, mut spared, mut lost, mut invented) = (0, 0, 0, 0);
    for round in 0..80 {
        let field = heights(&mut rng);
        let mesh = mesh(&field);
        let shape: &dyn Shape = if round % 2 == 0 { &field } else { &mesh };
        let tolerance = [0.0, 0.02][rng.below(2)];
        let query = Query::new(tolerance, tree.object_radius());
        let is_among = |contact: &Contact, all: &[Contact]| {
            let same = all.iter().find(|c| c.point_id == contact.point_id);
            same.is_some_and(|c| (c.distance - contact.distance).abs() < query.normals.band)
        };
        let mut pose = Pose::new(rng.direction(), 3.0, 1.6 * rng.direction());
        pose.translation.y = rng.range(0.35, 0.8);
        let mut state = PairState::default();
        for _ in 0..40 {
            let everywhere = Aabb::new(Vec3::splat(-9.0), Vec3::splat(9.0));
            let identity = EnginePose::identity();
            parts(shape, &identity, 0.2, &everywhere, &mut |_, _, part| {
                let [mut kept, mut asked, mut every] = [const { Vec::new() }; 3];
                let stats = tree.contacts_adaptive(
                    &Question::new(&pose, part, &query),
                    &settings,
                    &mut state,
                    &mut scratch,
                    &mut kept,
                );
                let plain = tree.contacts(&pose, part, &query, &mut scratch, &mut asked);
                tree.contacts_of_every_point(&pose, part, &query, &mut every);
                touching += u32::from(!asked.is_empty());
                spared += u32::from(stats.distance_queries < plain.distance_queries);
                // Nothing is lost, nothing invented. (Behind a free edge, and where triangles
                // cross, a search may leave out what asking every point finds.)
                lost += asked.iter().filter(|c| !is_among(c, &kept)).count();
                invented += kept.iter().filter(|c| !is_among(c, &every)).count();
            })
            .unwrap();
            let size = [0.0, 0.0003, 0.001, 0.001, 0.02][rng.below(5)];
            let turn = Pose::new(rng.direction(), rng.range(0.0, size), Vec3::ZERO);
            pose = pose.then(&turn);
            pose.translation += rng.direction() * size - Vec3::Y * 0.2 * size;
        }
    }
    assert!(touching > 1000 && spared > 500, "{touching}, {spared}");
    assert!(
        lost + invented == 0,
        "{lost} contacts are lost, {invented} invented"
    );
}

/// Every solid that has a distance of its own, and two of them in one shape.
fn solids(rng: &mut Rng) -> Vec<(&'static str, SharedShape)> {
    let corners: Vec<Vec3> = (0..24).map(|_| 0.6 * rng.direction()).collect();
    let hull = || SharedShape::convex_hull(&corners).expect("a hull");
    let round_hull = || SharedShape::round_convex_hull(&corners, 0.05).expect("a hull");
    let identity = EnginePose::identity();
    let beside = EnginePose::from_translation(Vec3::X * 0.4);
    vec![
        ("half-space", SharedShape::halfspace(Vec3::Y)),
        ("ball", SharedShape::ball(0.5)),
        ("cuboid", SharedShape::cuboid(0.5, 0.4, 0.6)),
        ("capsule", SharedShape::capsule_y(0.4, 0.3)),
        ("cylinder", SharedShape::cylinder(0.4, 0.5)),
        ("cone", SharedShape::cone(0.5, 0.5)),
        ("hull", hull()),
        (
            "round cuboid",
            SharedShape::round_cuboid(0.4, 0.3, 0.5, 0.05),
        ),
        (
            "round cylinder",
            SharedShape::round_cylinder(0.4, 0.4, 0.05),
        ),
        ("round cone", SharedShape::round_cone(0.4, 0.4, 0.05)),
        ("round hull", round_hull()),
        (
            "compound",
            SharedShape::compound(vec![
                (identity, SharedShape::cylinder(0.3, 0.4)),
                (beside, hull()),
            ]),
        ),
    ]
}

/// What walks of a box against a solid came to.
#[derive(Debug, Default)]
struct Walks {
    contacts: usize,
    /// At the same distance as asked, to 1e-5 of the radius.
    exact: usize,
    /// Queries that ask fewer points than one without a memory.
    spared: usize,
    /// Asked and found, but not kept.
    lost: usize,
    /// Kept, but not found when asked.
    invented: usize,
}

#[test]
fn pairs_remember_solids_of_every_kind_and_find_what_pairs_without_memory_find() {
    let mut rng = Rng(8);
    let tree = box_grid([6, 3, 4], Vec3::new(0.9, 0.4, 0.6));
    let tree = SphereTree::build(&tree, &BuildOptions::default()).unwrap();
    let radius = tree.object_radius();
    let settings = AdaptiveSettings {
        first: u32::MAX,
        ..AdaptiveSettings::default()
    };
    let everywhere = Aabb::new(Vec3::splat(-9.0), Vec3::splat(9.0));
    let (identity, mut scratch) = (EnginePose::identity(), QueryScratch::default());
    for (name, shape) in solids(&mut rng) {
        let mut walks = Walks::default();
        for _ in 0..10 {
            let mut query = Query::new([0.0, 0.02][rng.below(2)], radius);
            let band = query.normals.band;
            // Beside the solid, with a corner in it.
            let turn = Pose::new(rng.direction(), rng.range(0.0, 3.0), Vec3::ZERO);
            let corner = turn.point(tree.positions()[rng.below(tree.point_count())]);
            let place = shape.project_local_point(rng.direction(), true).point;
            let mut pose = Pose {
                translation: 0.98 * place - corner,
                ..turn
            };
            let mut states = vec![PairState::default(); 2];
            for _ in 0..40 {
                let mut next = 0;
                parts(&*shape, &identity, 0.2, &everywhere, &mut |at, _, part| {
                    query.normals.rule = if part.smooth {
                        NormalRule::Field
                    } else {
                        NormalRule::Opposed
                    };
                    let pose = pose.then(&crate::pose::to_pose(&at.inverse()));
                    let [mut kept, mut asked] = [const { Vec::new() }; 2];
                    let question = Question::new(&pose, part, &query);
                    let state = &mut states[next];
                    next += 1;
                    let stats = tree.contacts_adaptive(
                        &question,
                        &settings,
                        state,
                        &mut scratch,
                        &mut kept,
                    );
                    let plain = tree.contacts(&pose, part, &query, &mut scratch, &mut asked);
                    walks.spared += usize::from(stats.distance_queries < plain.distance_queries);
                    let same = |c: &Contact, all: &[Contact]| {
                        all.iter().copied().find(|d| d.point_id == c.point_id)
                    };
                    for contact in &kept {
                        walks.contacts += 1;
                        let Some(found) = same(contact, &asked) else {
                            walks.invented += 1;
                            continue;
                        };
                        // A plane that is kept at a rim or a tip is off by the way that the point
                        // has come since, at most twice: less than a band.
                        let off = (found.distance - contact.distance).abs();
                        assert!(off < band, "{name}: {contact:?}, {found:?}");
                        walks.exact += usize::from(off < 1e-5 * radius);
                    }
                    walks.lost += asked.iter().filter(|c| same(c, &kept).is_none()).count();
                })
                .unwrap();
                let size = [0.0, 0.0003, 0.001, 0.001, 0.02][rng.below(5)];
                let turn = Pose::new(rng.direction(), rng.range(0.0, size), Vec3::ZERO);
                pose = pose.then(&turn);
                pose.translation += rng.direction() * size;
            }
        }
        println!("{name}: {walks:?}");
        assert!(
            walks.contacts > 500 && walks.spared > 100,
            "{name}: {walks:?}"
        );
        assert_eq!(walks.lost + walks.invented, 0, "{name}: {walks:?}");
        assert!(
            walks.exact * 1000 > walks.contacts * 995,
            "{name}: {walks:?}"
        );
    }
}
