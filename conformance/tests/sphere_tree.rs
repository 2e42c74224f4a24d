//! The sphere tree and its contact query, held against querying every point, and against the
//! true surfaces.

use fracas_conformance::broken::{Broken, cells, mean_spacing};
use fracas_conformance::{data, procedural};
use fracas_core::sphere_tree::maximum_distance_order;
use fracas_core::sphere_tree::{
    AdaptiveSettings, BuildOptions, HalfSpace, KeepPoints, NormalRule, NormalSettings, PairState,
    Partner, Query, QueryScratch, Question, Selection, SplitMethod, SplitScratch, Traversal,
};
use fracas_core::testing::{Rng, box_grid};
use fracas_core::{
    Contact, Digest, FragmentId, FragmentSurface, Fragments, Pose, SphereTree, StaticMesh,
    SurfaceScratch, TetMesh, brute_force,
};
use glam::Vec3;

type Object = (&'static str, TetMesh);

/// Objects made in code.
fn objects() -> Vec<Object> {
    let mut all = vec![("brick", box_grid([10, 4, 5], Vec3::new(0.25, 0.1, 0.12)))];
    let shapes = procedural::tet_meshes().into_iter();
    all.extend(shapes.map(|(name, mesh)| (name, TetMesh::clone(&mesh))));
    all
}

/// Broken up to three times, into about `pieces`.
fn broken(mesh: TetMesh, pieces: usize, rng: &mut Rng) -> Broken {
    let mut object = Broken::new(mesh);
    while object.living().len() < pieces {
        let before = object.living();
        let each = 2.max(pieces / (before.len() * 4)).min(8);
        for &id in &before {
            object.break_into(id, each, rng);
        }
        if object.living().len() == before.len() {
            break;
        }
    }
    object
}

/// A pose at which A and B are likely to overlap a little: A's random surface
/// point near B's, A otherwise on the far side.
fn random_pose(a: &SphereTree, b: &SphereTree, rng: &mut Rng) -> Pose {
    let (axis, angle) = (rng.direction(), rng.range(0.0, 3.1));
    let turned = Pose::new(axis, angle, Vec3::ZERO);
    let on_a = turned.point(a.positions()[rng.below(a.point_count())]);
    let on_b = b.positions()[rng.below(b.point_count())];
    let (centre_a, _) = a.bounding_sphere();
    let (centre_b, _) = b.bounding_sphere();
    let apart = (on_b - centre_b + turned.point(centre_a) - on_a).normalize_or_zero();
    let depth = rng.range(-0.02, 0.06) * a.object_radius();
    Pose {
        translation: on_b - on_a - apart * depth,
        ..turned
    }
}

/// Two living fragments, maybe the same twice.
fn two_of(living: &[FragmentId], rng: &mut Rng) -> (FragmentId, FragmentId) {
    (
        living[rng.below(living.len())],
        living[rng.below(living.len())],
    )
}

/// A self-adapting query.
fn adaptive(
    tree: &SphereTree,
    pose: &Pose,
    partner: &impl Partner,
    query: &Query,
    state: &mut PairState,
    scratch: &mut QueryScratch,
) -> Vec<Contact> {
    let (settings, mut out) = (AdaptiveSettings::default(), Vec::new());
    tree.contacts_adaptive(
        &Question::new(pose, partner, query),
        &settings,
        state,
        scratch,
        &mut out,
    );
    out
}

fn by_name(contacts: &[Contact]) -> Vec<Contact> {
    let mut sorted = contacts.to_vec();
    sorted.sort_by_key(|c| c.point_id);
    sorted
}

fn deepest(contacts: &[Contact]) -> f32 {
    contacts.iter().map(|c| c.distance).fold(0.0, f32::min)
}

#[test]
fn full_detection_finds_every_point() {
    check_full_detection(&objects());
}

#[test]
fn no_point_inside_is_missed() {
    check_points_inside(&objects());
}

#[test]
fn adaptive_selection_ends_near_the_deepest() {
    check_adaptive(&objects());
}

#[test]
fn cached_pairs_find_the_same_contacts() {
    check_cached_pairs(&objects());
}

#[test]
fn split_trees_equal_rebuilt_trees() {
    check_split_trees(&objects());
}

#[test]
fn covering_radius_falls_like_the_inverse_root() {
    check_covering_radius(&objects());
}

#[test]
fn public_meshes_have_sound_trees() {
    let files = [
        "tet/ipc_bunny.msh",
        "tet/ipc_plate1.msh",
        "tet/derived_ftetwild_mug.msh",
        "tet/ipc_torus.msh",
    ];
    let meshes = data::tet_meshes(&files).into_iter();
    let objects: Vec<Object> = meshes
        .map(|(file, mesh)| (file, TetMesh::clone(&mesh)))
        .collect();
    if objects.is_empty() {
        return;
    }
    check_full_detection(&objects);
    check_points_inside(&objects);
    check_adaptive(&objects);
    check_cached_pairs(&objects);
    check_split_trees(&objects);
    check_covering_radius(&objects);
}

fn check_full_detection(objects: &[Object]) {
    let mut rng = Rng(1);
    let mut scratch = QueryScratch::default();
    let (mut poses, mut touching) = (0, 0);
    for (name, mesh) in objects {
        for pieces in [1, 2, 9, 64] {
            let object = broken(mesh.clone(), pieces, &mut rng);
            let living = object.living();
            for _ in 0..120 {
                let (a, b) = two_of(&living, &mut rng);
                let (tree, partner) = (object.tree(a), object.distance(b));
                let pose = random_pose(tree, object.tree(b), &mut rng);
                let tolerance = [0.0, 0.005, -0.005][rng.below(3)] * tree.object_radius();
                let mut query = Query::new(tolerance, tree.object_radius());
                query.normals.rule =
                    [NormalRule::Field, NormalRule::Opposed, NormalRule::Cone][rng.below(3)];
                query.traversal = [
                    Traversal::WidestFirst,
                    Traversal::Alternating,
                    Traversal::Naive,
                ][rng.below(3)];
                let (mut found, mut expected) = (Vec::new(), Vec::new());
                tree.contacts(&pose, &partner, &query, &mut scratch, &mut found);
                tree.contacts_of_every_point(&pose, &partner, &query, &mut expected);
                assert_eq!(
                    by_name(&found),
                    by_name(&expected),
                    "{name} in {pieces}: {a} against {b}"
                );
                poses += 1;
                touching += usize::from(!found.is_empty());
            }
        }
    }
    assert!(
        touching * 2 > poses,
        "only {touching} of {poses} poses touch"
    );
}

fn check_points_inside(objects: &[Object]) {
    let mut rng = Rng(2);
    let (mut scratch, mut surfaces) = (QueryScratch::default(), SurfaceScratch::default());
    let (mut deep_points, count) = (0, objects.len());
    for (name, mesh) in objects {
        let edge = mesh.mean_edge_length();
        let object = broken(mesh.clone(), 27, &mut rng);
        let living = object.living();
        for _ in 0..12 {
            let (a, b) = two_of(&living, &mut rng);
            let (tree, partner) = (object.tree(a), object.distance(b));
            let surface = FragmentSurface::extract(&object.fragments, b, &mut surfaces);
            let pose = random_pose(tree, object.tree(b), &mut rng);
            let mut query = Query::new(0.0, tree.object_radius());
            query.normals = NormalSettings::field();
            let mut found = Vec::new();
            tree.contacts(&pose, &partner, &query, &mut scratch, &mut found);
            let (low, high) = surface.bounds();
            for i in 0..tree.point_count() as u32 {
                let p = pose.point(tree.positions()[i as usize]);
                if p.cmplt(low).any() || p.cmpgt(high).any() || !brute_force::inside(&surface, p) {
                    continue;
                }
                let Some(closest) = brute_force::closest(&surface, p) else {
                    continue;
                };
                // The field says: inside is exact up to rounding, depth never less.
                let depth = closest.distance as f32;
                if depth < 1e-3 * edge {
                    continue;
                }
                deep_points += 1;
                let contact = found.iter().find(|c| c.point_id == tree.point_id(i));
                let Some(contact) = contact else {
                    panic!("{name}: {p} is {depth} inside {b} and no contact")
                };
                assert!(
                    contact.distance <= -depth + 1e-3 * edge,
                    "{name}: {contact:?}, {depth}"
                );
            }
        }
    }
    // The brick alone, where the others are absent, has 72.
    assert!(
        deep_points > 50 * count,
        "only {deep_points} points were deep"
    );
}

fn check_adaptive(objects: &[Object]) {
    let mut rng = Rng(3);
    let mut scratch = QueryScratch::default();
    let settings = AdaptiveSettings::default();
    for (name, mesh) in objects {
        let object = broken(mesh.clone(), 9, &mut rng);
        let living = object.living();
        for _ in 0..25 {
            let (a, b) = two_of(&living, &mut rng);
            let (tree, partner) = (object.tree(a), object.distance(b));
            let pose = random_pose(tree, object.tree(b), &mut rng);
            let mut query = Query::new(0.0, tree.object_radius());
            query.normals = NormalSettings::field();
            let mut all = Vec::new();
            tree.contacts(&pose, &partner, &query, &mut scratch, &mut all);
            let mut state = PairState::default();
            let work = tree.node_count() + tree.point_count();
            let most = all.len() + work / settings.deep_work as usize + 2;
            for _ in 0..most {
                let limit = state.limit(&settings) as usize;
                let some = adaptive(tree, &pose, &partner, &query, &mut state, &mut scratch);
                assert!(some.len() <= limit);
                assert!(some.iter().all(|c| all.contains(c)), "{name}: not a subset");
                if state.is_adapted() {
                    break;
                }
            }
            assert!(
                state.is_adapted(),
                "{name}: not adapted after {most} queries"
            );
            let some = adaptive(tree, &pose, &partner, &query, &mut state, &mut scratch);
            let epsilon = settings.depth_share * tree.object_radius();
            assert!(deepest(&some) <= deepest(&all) + epsilon, "{name}");
        }
    }
}

fn check_cached_pairs(objects: &[Object]) {
    let mut rng = Rng(9);
    let mut scratch = QueryScratch::default();
    let (mut steps, mut touching, mut asked, mut asked_anew) = (0, 0, 0, 0);
    let (mut compared, mut exact, mut others) = (0_u32, 0, 0);
    for (name, mesh) in objects {
        let object = broken(mesh.clone(), 9, &mut rng);
        let living = object.living();
        for round in 0..12 {
            let (a, b) = two_of(&living, &mut rng);
            let (tree, partner) = (object.tree(a), object.distance(b));
            let radius = tree.object_radius();
            let query = Query::new(0.002 * radius, radius);
            // Every other pair starts as it broke, and is asked for all its contacts.
            let mut pose = if round % 2 == 0 {
                random_pose(tree, object.tree(b), &mut rng)
            } else {
                Pose::IDENTITY
            };
            let settings = AdaptiveSettings {
                first: [8, u32::MAX][round / 2 % 2],
                ..AdaptiveSettings::default()
            };
            let mut state = PairState::default();
            for _ in 0..25 {
                let (mut found, mut expected) = (Vec::new(), Vec::new());
                let state = &mut state;
                let done = tree.contacts_adaptive(
                    &Question::new(&pose, &partner, &query),
                    &settings,
                    state,
                    &mut scratch,
                    &mut found,
                );
                let all = tree.contacts(&pose, &partner, &query, &mut scratch, &mut expected);
                // As many, and the same ones. A kept contact does not follow the turn of its
                // point's own normal: one that touches nearly sideways may be decided as it
                // was when it was asked.
                let wanted = expected.len().min(settings.first as usize);
                others += wanted.saturating_sub(found.len());
                for f in &found {
                    let Some(e) = expected.iter().find(|e| e.point_id == f.point_id) else {
                        others += 1;
                        continue;
                    };
                    assert_eq!(f.point, e.point, "{name}");
                    // The plane of the same face is exact. Another face, or the field's own
                    // direction, tells a distance within the band of the closest.
                    // Deeper, the field's own error counts.
                    let off = (f.distance - e.distance).abs();
                    let is_deep = f.distance.min(e.distance) < -query.normals.fall_back_depth;
                    assert!(is_deep || off < 2.5 * query.normals.band, "{name}: {off}");
                    compared += 1;
                    exact += u32::from(off < 1e-5 * radius);
                }
                steps += 1;
                touching += u32::from(!found.is_empty());
                asked += done.distance_queries;
                asked_anew += all.distance_queries;
                let size = [0.0, 0.0005, 0.002, 0.002, 0.03][rng.below(5)] * radius;
                let turn = Pose::new(rng.direction(), size / radius, Vec3::ZERO);
                pose = pose.then(&turn);
                pose.translation += rng.direction() * rng.range(0.0, size);
            }
        }
    }
    println!(
        "{steps} steps, {touching} in touch: {asked} points asked, {asked_anew} without memory"
    );
    println!("{exact} of {compared} distances exact, {others} other contacts");
    assert!(others * 200 < compared as usize, "{others} of {compared}");
    // The others are deep, or of another face in the band.
    assert!(exact * 100 > compared * 94, "{exact} of {compared}");
    assert!(touching * 3 > steps && asked * 4 < asked_anew * 3);
}

fn check_split_trees(objects: &[Object]) {
    let mut rng = Rng(4);
    let mut scratch = QueryScratch::default();
    for (name, mesh) in objects {
        let mut object = Broken::new(mesh.clone());
        for round in 0..3 {
            for id in object.living() {
                if round < 2 || rng.below(3) == 0 {
                    object.break_into(id, 2 + rng.below(4), &mut rng);
                }
            }
            object.fragments.validate().unwrap();
            let living = object.living();
            for &id in &living {
                let tree = object.tree(id);
                tree.validate_for(&object.fragments, id)
                    .unwrap_or_else(|what| panic!("{name}: {what}"));
                let rebuilt = tree.rebuilt(KeepPoints::All);
                rebuilt.validate().unwrap();
                let other = living[rng.below(living.len())];
                let pose = random_pose(tree, object.tree(other), &mut rng);
                let query = Query::new(0.001 * tree.object_radius(), tree.object_radius());
                let (mut ours, mut theirs) = (Vec::new(), Vec::new());
                let partner = object.distance(other);
                tree.contacts(&pose, &partner, &query, &mut scratch, &mut ours);
                rebuilt.contacts(&pose, &partner, &query, &mut scratch, &mut theirs);
                assert_eq!(
                    by_name(&ours),
                    by_name(&theirs),
                    "{name}: {id} against {other}"
                );
            }
        }
    }
}

fn first_contacts(tree: &SphereTree, floor: &HalfSpace, traversal: Traversal) -> Option<f32> {
    let mut query = Query::new(0.01 * tree.object_radius(), tree.object_radius());
    query.selection = Selection::First(8);
    query.normals = NormalSettings::field();
    query.traversal = traversal;
    let mut out = Vec::new();
    let mut scratch = QueryScratch::default();
    tree.contacts(&Pose::IDENTITY, floor, &query, &mut scratch, &mut out);
    (out.len() == 8).then(|| mean_spacing(&out))
}

/// A plate lying flat, its lowest points' plane, and the trees of its fragments by
/// our restructuring and by the naive one.
fn plate_fragments(mesh: &TetMesh, seed: u64) -> (HalfSpace, [Vec<SphereTree>; 2]) {
    let tree = SphereTree::build(mesh, &BuildOptions::default()).unwrap();
    let mut fragments = Fragments::new(std::sync::Arc::new(mesh.clone()));
    let fracture = cells(&fragments, FragmentId(0), 9, &mut Rng(seed)).unwrap();
    let split = fragments.apply(&fracture).unwrap();
    let mut scratch = SplitScratch::default();
    let (low, high) = mesh.bounds();
    let size = high - low;
    let axis = (0..3).fold(0, |best, i| if size[i] < size[best] { i } else { best });
    let mut normal = Vec3::ZERO;
    normal[axis] = 1.0;
    let trees = [SplitMethod::MaximumDistance, SplitMethod::Naive]
        .map(|how| tree.apply(&fragments, &split, how, &mut scratch));
    (HalfSpace::new(normal, low[axis]), trees)
}

#[test]
fn the_first_contacts_of_plate_fragments_are_spread_wider_than_the_naive_way() {
    let mesh = box_grid([30, 2, 30], Vec3::new(2.0, 0.1, 2.0));
    let (mut ours, mut naive, mut count) = (0.0, 0.0, 0);
    for seed in 0..6 {
        let (floor, [good, bad]) = plate_fragments(&mesh, seed);
        for (good, bad) in good.iter().zip(&bad) {
            let pair = (
                first_contacts(good, &floor, Traversal::WidestFirst),
                first_contacts(bad, &floor, Traversal::Naive),
            );
            if let (Some(a), Some(b)) = pair {
                (ours, naive, count) = (ours + a, naive + b, count + 1);
            }
        }
    }
    assert!(count > 20);
    let ratio = ours / naive;
    println!("spacing of the first 8 contacts: {ratio:.3} times the naive one");
    assert!(ratio > 1.05, "only {ratio} times as wide");
}

fn check_covering_radius(objects: &[Object]) {
    let mut rng = Rng(6);
    let mut clouds: Vec<(&str, Vec<Vec3>)> =
        vec![("sphere", (0..40_000).map(|_| rng.direction()).collect())];
    for (name, mesh) in objects {
        let on = mesh.boundary_nodes();
        let positions = mesh.positions().iter().zip(on).filter(|(_, on)| *on);
        clouds.push((name, positions.map(|(p, _)| *p).collect()));
    }
    for (name, points) in clouds {
        let order = maximum_distance_order(&points);
        // The cloud itself must be much denser than the cover, or its own grain shows.
        let most = 4096.min(points.len() / 6);
        let logs: Vec<(f64, f64)> = std::iter::successors(Some(8_usize), |m| Some(m * 2))
            .take_while(|&m| m <= most)
            .map(|m| ((m as f64).ln(), f64::from(order.gaps[m]).ln()))
            .collect();
        if logs.len() < 5 {
            continue;
        }
        let n = logs.len() as f64;
        let (mx, my) = (
            logs.iter().map(|l| l.0).sum::<f64>() / n,
            logs.iter().map(|l| l.1).sum::<f64>() / n,
        );
        let slope = logs.iter().map(|l| (l.0 - mx) * (l.1 - my)).sum::<f64>()
            / logs.iter().map(|l| (l.0 - mx).powi(2)).sum::<f64>();
        println!("{name}: covering radius ~ m^{slope:.3} for m = 8 .. {most}");
        // Meshes have edges, rims and walls; a plain surface has none.
        let range = if name == "sphere" {
            -0.52..-0.48
        } else {
            -0.7..-0.4
        };
        assert!(range.contains(&slope), "{name}: exponent {slope}");
    }
}

/// FNV-1a over the bits of contacts.
fn digest(contacts: &[Contact]) -> u64 {
    let mut digest = Digest::default();
    for c in contacts {
        let words = [
            c.point.x, c.point.y, c.point.z, c.distance, c.normal.x, c.normal.y, c.normal.z,
        ]
        .map(f32::to_bits);
        for word in words.into_iter().chain([c.point_id]) {
            digest.add(word);
        }
    }
    digest.value()
}

#[test]
fn any_number_of_threads_finds_the_same_contacts_in_the_same_order() {
    let mut rng = Rng(7);
    let object = broken(box_grid([8, 8, 8], Vec3::ONE), 27, &mut rng);
    let living = object.living();
    let pairs: Vec<(FragmentId, FragmentId, Pose)> = (0..200)
        .map(|_| {
            let (a, b) = two_of(&living, &mut rng);
            (a, b, random_pose(object.tree(a), object.tree(b), &mut rng))
        })
        .collect();
    let query_one = |(a, b, pose): &(FragmentId, FragmentId, Pose), scratch: &mut QueryScratch| {
        let tree = object.tree(*a);
        let query = Query::new(0.01, tree.object_radius());
        let mut out = Vec::new();
        tree.contacts(pose, &object.distance(*b), &query, scratch, &mut out);
        digest(&out)
    };
    let mut digests = Vec::new();
    for threads in [1, 2, 5] {
        let mut results = vec![0_u64; pairs.len()];
        std::thread::scope(|scope| {
            for (pairs, results) in pairs
                .chunks(pairs.len().div_ceil(threads))
                .zip(results.chunks_mut(pairs.len().div_ceil(threads)))
            {
                scope.spawn(move || {
                    let mut scratch = QueryScratch::default();
                    for (pair, result) in pairs.iter().zip(results) {
                        *result = query_one(pair, &mut scratch);
                    }
                });
            }
        });
        digests.push(results);
    }
    assert_eq!(digests[0], digests[1]);
    assert_eq!(digests[0], digests[2]);
}

#[test]
fn bodies_rest_on_level_geometry_as_on_the_plane_it_is() {
    // A bumpy floor made of triangles, flat within the body's reach.
    let mut rng = Rng(8);
    let grid = 12_u32;
    let mut vertices = Vec::new();
    for z in 0..=grid {
        for x in 0..=grid {
            vertices.push(Vec3::new(x as f32 - 6.0, 0.0, z as f32 - 6.0));
        }
    }
    let mut triangles = Vec::new();
    for z in 0..grid {
        for x in 0..grid {
            let at = z * (grid + 1) + x;
            triangles.push([at, at + grid + 1, at + 1]);
            triangles.push([at + 1, at + grid + 1, at + grid + 2]);
        }
    }
    let level = StaticMesh::build(&vertices, &triangles)
        .unwrap()
        .with_thickness(2.0);
    let plane = HalfSpace::new(Vec3::Y, 0.0);
    let object = broken(box_grid([6, 6, 6], Vec3::ONE), 9, &mut rng);
    let mut scratch = QueryScratch::default();
    for id in object.living() {
        let tree = object.tree(id);
        for _ in 0..20 {
            let pose = Pose::new(rng.direction(), rng.range(0.0, 3.0), rng.direction());
            let query = Query::new(0.01, tree.object_radius());
            let (mut on_level, mut on_plane) = (Vec::new(), Vec::new());
            tree.contacts(&pose, &level, &query, &mut scratch, &mut on_level);
            tree.contacts(&pose, &plane, &query, &mut scratch, &mut on_plane);
            // A point on the tolerance's very edge may fall either way by rounding.
            let clear = |c: &&Contact| (c.distance - 0.01).abs() > 1e-5 && c.distance > -1.9;
            let names = |contacts: &[Contact]| {
                let mut names: Vec<u32> =
                    contacts.iter().filter(clear).map(|c| c.point_id).collect();
                names.sort_unstable();
                names
            };
            assert_eq!(names(&on_level), names(&on_plane));
        }
    }
    // And what a query says is what the mesh itself says.
    assert!(level.sample(Vec3::new(0.3, -0.5, 0.2), 0.0).is_some());
}

/// How deep the edges of one surface reach into another body: every edge is sampled so
/// finely that nothing of importance lies between.
fn deepest_along_edges(surface: &FragmentSurface, pose: &Pose, partner: &impl Partner) -> f32 {
    let (mut deepest, steps) = (0.0_f32, 16);
    for t in 0..surface.triangles().len() {
        let corners = surface.corners(t).map(|p| pose.point(p));
        for i in 0..3 {
            let (p, q) = (corners[i], corners[(i + 1) % 3]);
            let middle = 0.5 * (p + q);
            if !partner.sphere_may_touch(middle, p.distance(middle)) {
                continue;
            }
            for k in 0..=steps {
                let x = p.lerp(q, k as f32 / steps as f32);
                if let Some(sample) = partner.sample(x, 0.0) {
                    deepest = deepest.min(sample.distance);
                }
            }
        }
    }
    -deepest
}

#[test]
fn crossed_edges_without_a_point_are_shallow() {
    // Points at nodes and at cut edges see a face, an edge or a corner that comes in;
    // where two edges cross between their points, neither direction has a point inside.
    // How often, and how deep, on pieces of a few tetrahedra: the worst case.
    let mut rng = Rng(10);
    let object = broken(box_grid([4, 3, 3], Vec3::new(0.4, 0.3, 0.3)), 12, &mut rng);
    let edge = object.fragments.mesh().mean_edge_length();
    let living = object.living();
    let mut surfaces = SurfaceScratch::default();
    let mut scratch = QueryScratch::default();
    let (mut touching, mut unseen, mut worst, mut sum) = (0, 0, 0.0_f32, 0.0);
    for _ in 0..400 {
        let (a, b) = two_of(&living, &mut rng);
        let pose = random_pose(object.tree(a), object.tree(b), &mut rng);
        let mut contacts = Vec::new();
        let mut truth = 0.0_f32;
        for (from, to, pose) in [(a, b, pose), (b, a, pose.inverse())] {
            let tree = object.tree(from);
            let query = Query::new(0.0, tree.object_radius());
            let partner = object.distance(to);
            tree.contacts(&pose, &partner, &query, &mut scratch, &mut contacts);
            let surface = FragmentSurface::extract(&object.fragments, from, &mut surfaces);
            truth = truth.max(deepest_along_edges(&surface, &pose, &partner));
        }
        if truth > 0.01 * edge {
            touching += 1;
            if contacts.is_empty() {
                unseen += 1;
                worst = worst.max(truth / edge);
                sum += truth / edge;
            }
        }
    }
    println!(
        "{unseen} of {touching} overlaps have no point inside, mean depth {:.3} of an edge, deepest {worst:.3}",
        sum / unseen.max(1) as f32
    );
    assert!(touching > 150);
    assert!(unseen * 10 < touching && worst < 0.25);
}
