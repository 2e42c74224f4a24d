//! `fast_bvh` and its primitives against public ground truth and against
//! exhaustive and exact answers.

use std::collections::BTreeSet;

use fracas_conformance::ccd::{SCENES, Scene, read_queries, read_scene};
use fracas_conformance::data::find;
use fracas_conformance::rational::{Verdict, edge_edge, vertex_face};
use fracas_core::primitives::{edge_edge_ccd, vertex_face_ccd};
use fracas_core::testing::Rng;
use fracas_fastcd::{Contacts, FastBvh, Scratch, Settings};
use glam::Vec3;

#[test]
fn public_sample_queries_are_exact() {
    let Some(root) = find("ccd/sample-queries") else {
        return;
    };
    for kind in ["vertex-face", "edge-edge"] {
        let (mut queries, mut hits, mut false_positives) = (0, 0, 0);
        let mut folders: Vec<_> = std::fs::read_dir(&root)
            .unwrap()
            .map(|e| e.unwrap().path())
            .collect();
        folders.sort();
        for folder in folders.iter().filter(|f| f.join(kind).is_dir()) {
            for file in std::fs::read_dir(folder.join(kind)).unwrap() {
                let file = file.unwrap().path();
                for (i, query) in read_queries(&file).iter().enumerate() {
                    let [found, quick] = query.find_impacts(kind);
                    agree_with_quick(found, quick);
                    assert!(
                        !query.collides || found.is_some(),
                        "{} query {i}",
                        file.display()
                    );
                    queries += 1;
                    hits += usize::from(query.collides);
                    false_positives += usize::from(found.is_some() && !query.collides);
                }
            }
        }
        println!("{kind}: {queries} queries, {hits} true, {false_positives} false positives");
        assert!(queries > 0 && hits > 0);
        assert_eq!(false_positives, 0, "of {queries}");
    }
}

/// Points that cross a triangle, or an edge that crosses another, at a known time; and
/// the same ones that stop short: told from exact arithmetic, not from us.
#[test]
fn queries_are_exact() {
    let mut rng = Rng(9);
    let mut point = || rng.direction().as_dvec3();
    for i in 0..200 {
        let [a, b, c] = [point(), point(), point()];
        let (from, across) = (point(), a * 0.3 + b * 0.3 + c * 0.4);
        let still = |p: glam::DVec3| [p, p];
        let beyond = [from, across + (across - from) * 0.5];
        let short = [from, from + (across - from) * 0.9];
        for moving in [beyond, short] {
            let truth = vertex_face(&moving, [&still(a), &still(b), &still(c)]);
            let found =
                vertex_face_ccd::first_impact_exactly(&moving, [&still(a), &still(b), &still(c)]);
            agree(truth, found, i);
            let ends = [moving, [moving[0] + from, moving[1] + from]];
            let truth = edge_edge([&ends[0], &ends[1]], [&still(a), &still(b)]);
            let found =
                edge_edge_ccd::first_impact_exactly([&ends[0], &ends[1]], [&still(a), &still(b)]);
            agree(truth, found, i);
        }
        let through = vertex_face(&beyond, [&still(a), &still(b), &still(c)]);
        let hit = matches!(through, Verdict::Touch(..));
        assert!(hit, "{i}: it was aimed at the triangle, {through:?}");
    }
}

/// The quick answer calls a touch what the exact one does, no later.
fn agree_with_quick(exact: Option<f64>, quick: Option<f64>) {
    if let Some(time) = exact {
        assert!(quick.is_some_and(|q| q <= time), "{quick:?}, {time}");
    }
}

/// What exact arithmetic is certain of is what was found.
fn agree(truth: Verdict, found: Option<f64>, query: usize) {
    match truth {
        Verdict::Touch(..) => assert!(found.is_some(), "{query}: {truth:?}"),
        Verdict::Apart => assert_eq!(found, None, "{query}"),
        Verdict::Grazing => {}
    }
}

/// A sheet that is pulled through a ball: every pair that exact arithmetic cannot call
/// apart, by looking at all of them.
fn sheet_through_ball() -> Scene {
    let ball = fracas_conformance::procedural::shape_surface("ball", 400);
    let (low, high) = ball.bounds();
    let size = high - low;
    let mut start = ball.positions().to_vec();
    let mut triangles = ball.triangles().to_vec();
    let first = start.len() as u32;
    const SIDE: u32 = 7;
    for i in 0..SIDE * SIDE {
        let at = |k: u32| f64::from(k) / f64::from(SIDE - 1);
        let (x, z) = (at(i % SIDE), at(i / SIDE));
        start.push(low + size * glam::DVec3::new(x, 1.05, z));
    }
    for i in 0..SIDE - 1 {
        for j in 0..SIDE - 1 {
            let a = first + i * SIDE + j;
            triangles.extend([[a, a + 1, a + SIDE], [a + 1, a + SIDE + 1, a + SIDE]]);
        }
    }
    let mut end = start.clone();
    for p in &mut end[first as usize..] {
        p.y -= 0.4 * size.y;
    }
    let mut edges: Vec<[u32; 2]> = triangles
        .iter()
        .flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]])
        .map(|[a, b]| [a.max(b), a.min(b)])
        .collect();
    edges.sort_unstable();
    edges.dedup();
    let moving = |v: u32| [start[v as usize], end[v as usize]];
    let mut vertex_face_pairs = Vec::new();
    let mut edge_edge_pairs = Vec::new();
    let (nv, ne) = (start.len() as u32, edges.len() as u32);
    let sheet = |v: u32| v >= first;
    for v in 0..nv {
        for (f, t) in triangles.iter().enumerate() {
            if sheet(v) != sheet(t[0]) {
                let [a, b, c] = t.map(moving);
                let verdict = vertex_face(&moving(v), [&a, &b, &c]);
                let hit = matches!(verdict, Verdict::Touch(..));
                vertex_face_pairs.push(([v, nv + ne + f as u32], hit));
            }
        }
    }
    for (i, e) in edges.iter().enumerate() {
        for (j, f) in edges.iter().enumerate().skip(i + 1) {
            if sheet(e[0]) != sheet(f[0]) {
                let ([a, b], [c, d]) = (e.map(moving), f.map(moving));
                let hit = matches!(edge_edge([&a, &b], [&c, &d]), Verdict::Touch(..));
                edge_edge_pairs.push(([nv + i as u32, nv + j as u32], hit));
            }
        }
    }
    Scene {
        start,
        end,
        triangles,
        vertex_face: vertex_face_pairs,
        edge_edge: edge_edge_pairs,
    }
}

#[test]
fn moving_sheet_has_no_false_negative() {
    check_moving("sheet through ball", &sheet_through_ball());
}

#[test]
fn public_recordings_have_no_false_negative() {
    for recording in SCENES {
        if let Some(scene) = read_scene(recording) {
            check_moving(recording.0, &scene);
        }
    }
}

/// Every true pair is found. Pairs beyond the list are judged by exact arithmetic, and none of
/// them is provably wrong.
fn check_moving(name: &str, data: &Scene) {
    let mut scene = FastBvh::new(Settings::default());
    let body = scene.add(&data.start, &data.triangles).unwrap();
    scene.update();
    scene.move_vertices(body, &data.end).unwrap();
    scene.update();
    let mut contacts = Contacts::default();
    scene.contacts(&mut Scratch::default(), &mut contacts);
    let (nv, first_face) = (data.start.len() as u32, data.first_face(&scene));
    let [vf, ee] = data.numbered(&scene, &contacts);
    let moving = |v: u32| [data.start[v as usize], data.end[v as usize]];
    let mut wrong = 0;
    for (list, found, faces) in [
        (&data.vertex_face, &vf, true),
        (&data.edge_edge, &ee, false),
    ] {
        let truth: BTreeSet<[u32; 2]> = list.iter().filter(|l| l.1).map(|l| l.0).collect();
        let missed: Vec<_> = truth.difference(found).collect();
        assert!(!truth.is_empty() && missed.is_empty(), "{name}: {missed:?}");
        for &[a, b] in found.difference(&truth) {
            let verdict = if faces {
                let [p, q, r] = data.triangles[(b - first_face) as usize].map(moving);
                vertex_face(&moving(a), [&p, &q, &r])
            } else {
                let [e, f] = [a, b].map(|e| scene.edge(e - nv).unwrap().map(moving));
                edge_edge([&e[0], &e[1]], [&f[0], &f[1]])
            };
            wrong += usize::from(verdict == Verdict::Apart);
        }
    }
    println!(
        "{name}: {} vertex-face, {} edge-edge, {wrong} provably wrong",
        vf.len(),
        ee.len()
    );
    assert_eq!(wrong, 0);
}

/// Random and nearly degenerate queries: whatever exact arithmetic calls a touch is
/// found, not late, and not early by more than the tolerance, and nothing else is. On
/// the coarse grids what subdivision to 2^-60 cannot tell from a touch is one: the
/// polynomials have small whole coefficients, so their values at one another's roots are
/// zero or far larger.
#[test]
fn continuous_tests_against_exact_arithmetic() {
    let mut rng = Rng(77);
    let (mut touches, mut grazing, mut apart) = (0, 0, 0);
    for round in 0..3000 {
        // Coordinates on a coarse grid make touches in corners, edges and planes.
        let grid = [1e9, 4.0, 2.0][round % 3];
        let mut point = || {
            let p = |rng: &mut Rng| {
                let p = rng.in_box(Vec3::splat(-1.0), Vec3::splat(1.0)).as_dvec3();
                (p * grid).round() / grid
            };
            [p(&mut rng), p(&mut rng)]
        };
        let [a, b, c, d] = [point(), point(), point(), point()];
        for (exact, found, quick) in [
            (
                vertex_face(&a, [&b, &c, &d]),
                vertex_face_ccd::first_impact_exactly(&a, [&b, &c, &d]),
                vertex_face_ccd::first_impact(&a, [&b, &c, &d]),
            ),
            (
                edge_edge([&a, &b], [&c, &d]),
                edge_edge_ccd::first_impact_exactly([&a, &b], [&c, &d]),
                edge_edge_ccd::first_impact([&a, &b], [&c, &d]),
            ),
        ] {
            agree_with_quick(found, quick);
            match exact {
                Verdict::Touch(low, high) => {
                    touches += 1;
                    let time = found.unwrap_or_else(|| panic!("missed in round {round}"));
                    assert!(
                        time <= high && time > low - 1e-6,
                        "{time} against {low}..{high}"
                    );
                }
                Verdict::Apart => {
                    apart += 1;
                    assert_eq!(found, None, "in round {round}");
                }
                Verdict::Grazing => {
                    grazing += 1;
                    assert!(grid > 4.0 || found.is_some(), "missed in round {round}");
                }
            }
        }
    }
    println!("{touches} touches, {grazing} grazing, {apart} apart");
    assert!(touches > 300 && grazing > 100 && apart > 1000);
}
