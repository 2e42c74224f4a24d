//! `fast_bvh` and its primitives against public ground truth and against
//! exhaustive and exact answers.

use std::collections::BTreeSet;

use fracas::fast_bvh::{Contacts, FastBvh, Scratch, Settings};
use fracas::primitives::{edge_edge_ccd, vertex_face_ccd};
use fracas::testing::Rng;
use fracas_conformance::ccd::{SCENES, read_queries, read_scene};
use fracas_conformance::data::find;
use fracas_conformance::rational::{Verdict, edge_edge, vertex_face};
use glam::Vec3;

#[test]
fn sample_queries_have_no_false_negative() {
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
                    let [p, q, r, s] = &query.points;
                    let found = if kind == "vertex-face" {
                        vertex_face_ccd::first_impact(p, [q, r, s])
                    } else {
                        edge_edge_ccd::first_impact([p, q], [r, s])
                    };
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
        // The queries were chosen to be hard: most of the false ones touch within
        // rounding.
        assert!(
            false_positives * 10 <= queries,
            "{false_positives} of {queries}"
        );
    }
}

/// Both recorded scenes: every true pair is found; pairs beyond the lists are judged
/// by exact arithmetic, and none of them is provably wrong.
#[test]
fn recorded_scenes_have_no_false_negative() {
    for name in SCENES {
        let Some(data) = read_scene(name) else {
            return;
        };
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
            assert!(missed.is_empty(), "{}: {missed:?}", name.0);
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
            "{}: {} vertex-face, {} edge-edge, {wrong} provably wrong",
            name.0,
            vf.len(),
            ee.len()
        );
        assert_eq!(wrong, 0);
    }
}

/// Random and nearly degenerate queries: whatever exact arithmetic calls a touch is
/// found, not late, and not early by more than the tolerance.
#[test]
fn continuous_tests_against_exact_arithmetic() {
    let mut rng = Rng(77);
    let (mut touches, mut false_positives) = (0, 0);
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
        for (exact, found) in [
            (
                vertex_face(&a, [&b, &c, &d]),
                vertex_face_ccd::first_impact(&a, [&b, &c, &d]),
            ),
            (
                edge_edge([&a, &b], [&c, &d]),
                edge_edge_ccd::first_impact([&a, &b], [&c, &d]),
            ),
        ] {
            match exact {
                Verdict::Touch(low, high) => {
                    touches += 1;
                    let time = found.unwrap_or_else(|| panic!("missed in round {round}"));
                    assert!(
                        time <= high && time > low - 1e-6,
                        "{time} against {low}..{high}"
                    );
                }
                Verdict::Apart => false_positives += usize::from(found.is_some()),
                Verdict::Grazing => {}
            }
        }
    }
    println!("{touches} touches, {false_positives} false positives of 6000");
    assert!(touches > 300 && false_positives < 60);
}
