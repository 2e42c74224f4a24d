//! The whole against brute force, on small scenes.

use glam::{DVec3, Vec3, dvec3};

use super::*;
use fracas_geometry::testing::Rng;

/// A sheet of `n` x `n` quads in the plane z = 0, over the unit square.
pub(super) fn sheet(n: u32) -> (Vec<DVec3>, Vec<[u32; 3]>) {
    let mut positions = Vec::new();
    for y in 0..=n {
        for x in 0..=n {
            positions.push(dvec3(f64::from(x), f64::from(y), 0.0) / f64::from(n));
        }
    }
    let mut triangles = Vec::new();
    for y in 0..n {
        for x in 0..n {
            let a = y * (n + 1) + x;
            let (b, c, d) = (a + 1, a + n + 1, a + n + 2);
            triangles.extend([[a, b, d], [a, d, c]]);
        }
    }
    (positions, triangles)
}

fn settings(culling: Culling) -> Settings {
    Settings {
        culling,
        ..Settings::default()
    }
}

/// Modes that must not miss anything.
const SAFE: [Culling; 3] = [Culling::Off, Culling::FullContour, Culling::StarContour];

fn check(scene: &FastBvh, what: &str) -> (usize, usize) {
    scene.validate().unwrap_or_else(|e| panic!("{what}: {e}"));
    let (mut scratch, mut contacts, mut pairs) =
        (Scratch::default(), Contacts::default(), Vec::new());
    scene.contacts(&mut scratch, &mut contacts);
    assert_eq!(contacts, brute_force::contacts(scene), "{what}");
    scene.intersections(&mut scratch, &mut pairs);
    assert_eq!(pairs, brute_force::intersections(scene), "{what}");
    (
        contacts.vertex_face.len() + contacts.edge_edge.len(),
        pairs.len(),
    )
}

#[test]
fn crumpling_sheets_match_brute_force() {
    let mut rng = Rng(1);
    let (mut contacts, mut pairs) = (0, 0);
    for round in 0..12 {
        let n = 4 + round % 5;
        let (rest, triangles) = sheet(n);
        let bend = f64::from(rng.range(0.0, 6.0));
        let noise = rng.range(0.0, 0.1);
        let shape = |rng: &mut Rng, bend: f64| -> Vec<DVec3> {
            rest.iter()
                .map(|p| {
                    let angle = bend * p.x;
                    let rolled = if bend.abs() < 1e-9 {
                        *p
                    } else {
                        dvec3(
                            libm::sin(angle) / bend,
                            p.y,
                            (1.0 - libm::cos(angle)) / bend,
                        )
                    };
                    rolled + (rng.direction() * noise).as_dvec3()
                })
                .collect()
        };
        let (start, end) = (shape(&mut rng, bend), shape(&mut rng, bend + 1.0));
        for culling in SAFE {
            let mut scene = FastBvh::new(settings(culling));
            let body = scene.add(&start, &triangles).unwrap();
            scene.update();
            scene.move_vertices(body, &end).unwrap();
            scene.update();
            let (c, p) = check(&scene, &format!("round {round} {culling:?}"));
            contacts += c;
            pairs += p;
        }
    }
    assert!(contacts > 50 && pairs > 50, "{contacts} {pairs}");
}

#[test]
fn smooth_sheets_are_culled_whole() {
    let (rest, triangles) = sheet(12);
    let wave = |t: f64| -> Vec<DVec3> {
        rest.iter()
            .map(|p| *p + dvec3(0.0, 0.0, 0.1 * libm::sin(3.0 * p.x + t)))
            .collect()
    };
    for culling in [Culling::FullContour, Culling::StarContour] {
        let mut scene = FastBvh::new(settings(culling));
        let body = scene.add(&wave(0.0), &triangles).unwrap();
        scene.update();
        scene.move_vertices(body, &wave(0.2)).unwrap();
        let stats = scene.update();
        // The full contour test does not divide time, and here culls parts only.
        assert!(stats.culled_subtrees > 0, "{culling:?}");
        if culling == Culling::StarContour {
            assert_eq!((stats.culled_subtrees, stats.cost_self), (1, 0.0));
        }
        check(&scene, "wave");
    }
}

/// [Heo 2010, Fig. 4]: a pipe that penetrates itself. Its lower half is nearly flat,
/// connected and has no boundary of its own, but its ends have grown through one
/// another.
#[test]
fn the_penetrating_pipe_is_missed_by_the_papers_mode_and_found_by_ours() {
    // A closed, flattened tube that winds one turn and a quarter; over the last
    // quarter it comes from below its beginning and rises through it.
    let (around, along) = (8_u32, 60_u32);
    let mut positions = Vec::new();
    for i in 0..=along {
        let s = f64::from(i) / f64::from(along) * 1.25 * std::f64::consts::TAU;
        let radial = dvec3(libm::cos(s), libm::sin(s), 0.0);
        let turns = s / std::f64::consts::TAU;
        let height = if turns < 0.25 {
            0.0
        } else if turns < 1.0 {
            -0.01 * (turns - 0.25) / 0.75
        } else {
            -0.01 + 0.02 * (turns - 1.0) / 0.25
        };
        let centre = radial + DVec3::Z * height;
        for j in 0..around {
            let a = f64::from(j) / f64::from(around) * std::f64::consts::TAU;
            positions.push(centre + radial * 0.25 * libm::cos(a) + DVec3::Z * 0.02 * libm::sin(a));
        }
    }
    let mut triangles = Vec::new();
    for i in 0..along {
        for j in 0..around {
            let k = (j + 1) % around;
            let [a, b, c, d] = [
                i * around + j,
                i * around + k,
                (i + 1) * around + j,
                (i + 1) * around + k,
            ];
            triangles.extend([[a, c, d], [a, d, b]]);
        }
    }
    // Caps close it: no real boundary.
    for (row, flip) in [(0, false), (along, true)] {
        for j in 1..around - 1 {
            let t = [row * around, row * around + j, row * around + j + 1];
            triangles.push(if flip { [t[0], t[2], t[1]] } else { t });
        }
    }
    let found = |culling| {
        let mut scene = FastBvh::new(Settings {
            builder: Builder::Grid { limit: 2000 },
            ..settings(culling)
        });
        scene.add(&positions, &triangles).unwrap();
        scene.update();
        // The paper's split: the lower half of the pipe is one node.
        scene.halve_for_test();
        let (mut scratch, mut pairs) = (Scratch::default(), Vec::new());
        scene.intersections(&mut scratch, &mut pairs);
        pairs
    };
    let truth = found(Culling::Off);
    assert!(truth.len() > 10);
    assert_eq!(found(Culling::StarContour), truth);
    assert_eq!(found(Culling::FullContour), truth);
    for risky in [Culling::DualCone, Culling::RealContour, Culling::NormalCone] {
        let pairs = found(risky);
        assert!(
            pairs.len() < truth.len(),
            "{risky:?} finds {} of {}",
            pairs.len(),
            truth.len()
        );
    }
}

impl FastBvh {
    /// Arranges a single body as the pipe of Fig. 4 wants it: below the root, the
    /// triangles with normals towards -z and all others.
    fn halve_for_test(&mut self) {
        let mesh = &self.mesh;
        let (down, up): (Vec<u32>, Vec<u32>) = (0..mesh.corners.len() as u32).partition(|&t| {
            let [a, b, c] = mesh.corners[t as usize].map(|v| mesh.positions[v as usize][1]);
            (b - a).cross(c - a).normalize().z < -0.3
        });
        self.tree
            .build_two(&self.mesh, &down, &up, &mut self.rewriting);
        self.tree.refit(
            &self.mesh,
            self.settings.detection,
            self.settings.culling,
            false,
        );
        self.tree.judge_fans(&self.mesh, false);
        self.tree
            .cull(&self.mesh, self.settings.culling, &mut self.culling, false);
        self.validate().unwrap();
    }
}

pub(super) fn blob(rng: &mut Rng, n: u32) -> (Vec<DVec3>, Vec<[u32; 3]>) {
    let (mut positions, triangles) = sheet(n);
    let at = rng.in_box(Vec3::splat(-0.4), Vec3::splat(0.4)).as_dvec3();
    let axis = rng.direction().as_dvec3();
    let (u, v) = axis.any_orthonormal_pair();
    for p in &mut positions {
        *p =
            at + u * p.x + v * p.y + axis * (0.3 * p.x * p.y) + (rng.direction() * 0.02).as_dvec3();
    }
    (positions, triangles)
}

/// Random edits; after each the tree validates, and reports what brute force and a
/// freshly built scene of the same mesh report.
#[test]
fn random_edits_match_brute_force() {
    for seed in 0..6 {
        let mut rng = Rng(100 + seed);
        let settings = Settings {
            builder: [
                Builder::Grid { limit: 8 },
                Builder::Median,
                Builder::BinnedSah,
            ][seed as usize % 3],
            restructuring: if seed == 5 {
                Restructuring::SelectiveByVolume
            } else {
                Restructuring::Selective
            },
            ..Settings::default()
        };
        let mut scene = FastBvh::new(settings);
        for step in 0..40 {
            let ids: Vec<BodyId> = scene.bodies().collect();
            let pick = |rng: &mut Rng| ids[rng.below(ids.len())];
            let what = match rng.below(6) {
                0 | 1 if ids.len() < 5 => {
                    let n = 1 + rng.below(4) as u32;
                    let (positions, triangles) = blob(&mut rng, n);
                    scene.add(&positions, &triangles).unwrap();
                    "add"
                }
                2 if ids.len() > 3 => {
                    scene.delete(pick(&mut rng)).unwrap();
                    "delete"
                }
                3 if !ids.is_empty() => {
                    let body = pick(&mut rng);
                    split_somehow(&mut scene, body, &mut rng);
                    "split"
                }
                4 if ids.len() > 1 => {
                    let (a, b) = (pick(&mut rng), pick(&mut rng));
                    if a != b {
                        scene.merge(&[a, b]).unwrap();
                    }
                    "merge"
                }
                _ => {
                    for id in ids {
                        let vertices = scene.vertices(id).unwrap().to_vec();
                        let by = (rng.direction() * 0.1).as_dvec3();
                        let to: Vec<DVec3> = vertices
                            .iter()
                            .map(|&v| {
                                scene.position(v).unwrap()[1]
                                    + by
                                    + (rng.direction() * 0.03).as_dvec3()
                            })
                            .collect();
                        scene.move_vertices(id, &to).unwrap();
                    }
                    "move"
                }
            };
            // Several edits may meet in one update.
            if rng.below(3) == 0 {
                continue;
            }
            scene.update();
            check(&scene, &format!("seed {seed} step {step} {what}"));
            let mut fresh = scene.clone();
            fresh.settings.restructuring = Restructuring::RebuildAlways;
            fresh.rebuild(Builder::Median);
            fresh.tree.refit(
                &fresh.mesh,
                Detection::Continuous,
                Culling::StarContour,
                false,
            );
            fresh.tree.judge_fans(&fresh.mesh, false);
            if !fresh.tree.nodes.is_empty() {
                fresh
                    .tree
                    .cull(&fresh.mesh, Culling::StarContour, &mut fresh.culling, false);
            }
            let (mut scratch, mut a, mut b) =
                (Scratch::default(), Contacts::default(), Contacts::default());
            fresh.validate().unwrap();
            scene.contacts(&mut scratch, &mut a);
            fresh.contacts(&mut scratch, &mut b);
            assert_eq!(a, b);
        }
    }
}

/// Two or three parts, a few triangles removed, a new one with a new vertex.
fn split_somehow(scene: &mut FastBvh, body: BodyId, rng: &mut Rng) {
    let count = scene.triangles(body).unwrap().len();
    let vertices = scene.vertices(body).unwrap().to_vec();
    let mut parts = vec![Part::default(); 2 + rng.below(2)];
    let mut removed = Vec::new();
    for t in 0..count as u32 {
        let p = rng.below(parts.len() * 3) / 3;
        if rng.below(12) == 0 {
            removed.push(t);
        } else {
            parts[p].kept.push(t);
        }
    }
    for part in &mut parts {
        if part.kept.is_empty() || rng.below(2) == 0 {
            let old = scene.position(vertices[0]).unwrap()[1];
            part.new_positions
                .push(old + (rng.direction() * 0.3).as_dvec3());
            part.new_triangles.push([0, 1, vertices.len() as u32]);
        }
    }
    let new = scene.split(body, &parts, &removed).unwrap();
    for (part, body) in parts.iter().zip(&new) {
        assert_eq!(
            scene.triangles(body.id).unwrap().len(),
            part.kept.len() + part.new_triangles.len()
        );
        assert_eq!(
            scene.vertices(body.id).unwrap().len(),
            body.vertex_origin.len()
        );
    }
}

#[test]
fn bad_edits_are_refused_by_name() {
    let mut scene = FastBvh::new(Settings::default());
    let (positions, triangles) = sheet(1);
    let body = scene.add(&positions, &triangles).unwrap();
    let text = |e: Result<(), EditError>| e.unwrap_err().to_string();
    let bad = scene.add(&positions, &[[0, 1, 2], [0, 1, 9]]).map(|_| ());
    assert_eq!(
        text(bad),
        "triangle 1 of the new body names vertex 9, but there are 4: indices are local to the body"
    );
    assert!(matches!(
        scene.add(&positions, &[[0, 1, 1]]),
        Err(EditError::RepeatedVertex { triangle: 0, .. })
    ));
    assert!(matches!(
        scene.add(&positions, &[]),
        Err(EditError::Empty { .. })
    ));
    assert!(matches!(
        scene.move_vertices(body, &[DVec3::NAN; 4]),
        Err(EditError::BadPosition { vertex: 0, .. })
    ));
    assert!(matches!(
        scene.move_vertices(body, &positions[..3]),
        Err(EditError::WrongCount { given: 3, .. })
    ));
    let part = |kept: &[u32]| Part {
        kept: kept.to_vec(),
        ..Part::default()
    };
    for (parts, problem) in [
        (vec![part(&[0])], "is in no part and not removed"),
        (vec![part(&[0, 1]), part(&[1])], "is named twice"),
        (vec![part(&[0, 1, 2])], "is not in the body"),
    ] {
        let error = scene.split(body, &parts, &[]).unwrap_err().to_string();
        assert!(error.contains(problem), "{error}");
    }
    assert!(matches!(
        scene.merge(&[body, body]),
        Err(EditError::BadMerge { .. })
    ));
    scene.delete(body).unwrap();
    assert_eq!(scene.delete(body), Err(EditError::NoSuchBody { body: 0 }));
    scene.update();
    check(&scene, "empty");
}

#[test]
fn degenerate_meshes() {
    let points = [
        dvec3(0.0, 0.0, 0.0),
        dvec3(1.0, 0.0, 0.0),
        dvec3(2.0, 0.0, 0.0),
        dvec3(0.0, 0.0, 0.0),
    ];
    for scale in [1.0, 1e-25, 1e25] {
        let mut scene = FastBvh::new(Settings::default());
        // Three triangles on one edge, a flat one, two of the same corners, a point.
        let fan: Vec<DVec3> = [
            dvec3(0.0, 0.0, 0.0),
            dvec3(0.0, 0.0, 1.0),
            dvec3(1.0, 0.0, 0.0),
            dvec3(0.0, 1.0, 0.0),
            dvec3(-1.0, -1.0, 0.0),
        ]
        .iter()
        .map(|p| *p * scale)
        .collect();
        scene
            .add(&fan, &[[0, 1, 2], [0, 1, 3], [0, 1, 4], [1, 0, 4]])
            .unwrap();
        scene
            .add(&points.map(|p| p * scale), &[[0, 1, 2], [0, 1, 3]])
            .unwrap();
        scene.add(&[DVec3::ONE * scale; 3], &[[0, 1, 2]]).unwrap();
        scene.update();
        let (_, pairs) = check(&scene, "degenerate");
        assert!(pairs > 0);
    }
}

#[cfg(feature = "parallel")]
#[test]
fn threads_change_nothing() {
    let mut rng = Rng(9);
    let mut scene = FastBvh::new(Settings::default());
    for _ in 0..20 {
        let (positions, triangles) = blob(&mut rng, 12);
        let body = scene.add(&positions, &triangles).unwrap();
        let by = (rng.direction() * 0.5).as_dvec3();
        let moved: Vec<DVec3> = positions.iter().map(|p| *p + by).collect();
        scene.move_vertices(body, &moved).unwrap();
    }
    scene.update();
    let ask = |threads: usize, parallel: bool| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| {
            let mut scratch = Scratch {
                parallel,
                ..Scratch::default()
            };
            let (mut contacts, mut pairs) = (Contacts::default(), Vec::new());
            let stats = scene.contacts(&mut scratch, &mut contacts);
            scene.intersections(&mut scratch, &mut pairs);
            (contacts, pairs, stats)
        })
    };
    let one = ask(1, false);
    assert!(one.0.vertex_face.len() > 100 && one.1.len() > 100);
    for threads in [1, 2, 5] {
        assert_eq!(ask(threads, true), one);
    }
}

/// Turns and shifts a shape.
pub(super) fn moved(shape: &[DVec3], axis: DVec3, angle: f64, by: DVec3) -> Vec<DVec3> {
    let (s, c) = (libm::sin(angle), libm::cos(angle));
    let turn = |p: DVec3| p * c + axis.cross(p) * s + axis * axis.dot(p) * (1.0 - c);
    shape.iter().map(|p| turn(*p) + by).collect()
}

/// A sheet rolled up, its ends apart by `gap` of a turn.
pub(super) fn roll(n: u32, gap: f64) -> (Vec<DVec3>, Vec<[u32; 3]>) {
    let (flat, triangles) = sheet(n);
    let bend = std::f64::consts::TAU * (1.0 - gap);
    let rolled = |p: &DVec3| {
        let (angle, r) = (bend * p.x, 1.0 / bend);
        dvec3(libm::sin(angle) * r, p.y, (1.0 - libm::cos(angle)) * r)
    };
    (flat.iter().map(rolled).collect(), triangles)
}

/// A roll that turns, shifts and closes slowly: at first it is not tested against
/// itself, and when its ends meet that is found all the same.
#[test]
fn a_body_that_keeps_its_shape_is_clear_until_it_closes() {
    for detection in [Detection::Continuous, Detection::Discrete] {
        let (start, triangles) = roll(9, 0.06);
        let mut scene = FastBvh::new(Settings {
            detection,
            ..Settings::default()
        });
        let body = scene.add(&start, &triangles).unwrap();
        let axis = dvec3(0.3, 0.5, 0.8).normalize();
        let (mut clear, mut hits) = (0, 0);
        for frame in 0..30 {
            let gap = 0.06 - 0.0045 * f64::from((frame - 10).max(0));
            let (shape, _) = roll(9, gap);
            let by = dvec3(0.1, -0.05, 0.02) * f64::from(frame);
            scene
                .move_vertices(body, &moved(&shape, axis, 0.11 * f64::from(frame), by))
                .unwrap();
            clear += scene.update().clear_bodies;
            let (c, p) = check(&scene, &format!("{detection:?} frame {frame}"));
            assert!(frame > 15 || (c, p) == (0, 0), "frame {frame}");
            hits += if detection == Detection::Continuous {
                c
            } else {
                p
            };
        }
        assert!(clear >= 8 && hits > 0, "{detection:?}: {clear} {hits}");
    }
}

/// A sheet that ripples by more than its lists reach, with a long triangle above it and a
/// small one that comes down on it: cells of space show that it keeps its shape, and what
/// touches is found.
#[test]
fn ripples_beyond_the_lists_reach_leave_a_body_known() {
    for detection in [Detection::Continuous, Detection::Discrete] {
        let mut scene = FastBvh::new(Settings {
            detection,
            ..Settings::default()
        });
        let (mut rest, mut triangles) = sheet(40);
        let first = rest.len() as u32;
        rest.extend([(0.5, 0.5), (0.52, 0.5), (0.5, 0.52)].map(|(x, y)| dvec3(x, y, 0.002)));
        rest.extend([(0.0, 0.0), (1.0, 0.0), (0.0, 1.0)].map(|(x, y)| dvec3(x, y, 0.3)));
        triangles.extend([0, 3].map(|k| [first + k, first + k + 1, first + k + 2]));
        let at = |frame: u32| -> Vec<DVec3> {
            let wave = |p: &DVec3| {
                let phase = std::f64::consts::TAU * p.x + 0.1 * f64::from(frame);
                let down = if p.z == 0.002 {
                    4e-4 * f64::from(frame)
                } else {
                    0.0
                };
                *p + dvec3(0.0, 0.0, 0.008 * libm::sin(phase) - down)
            };
            rest.iter().map(wave).collect()
        };
        let body = scene.add(&at(0), &triangles).unwrap();
        scene.update();
        let (mut rippled, mut touched) = (0, 0);
        for frame in 1..12 {
            scene.move_vertices(body, &at(frame)).unwrap();
            scene.update();
            scene.validate().unwrap();
            let known = &scene.mesh.bodies[0].as_ref().unwrap().clearance;
            let beyond = 2.0 * known.last.spread > known.reach;
            let mut pairs = Vec::new();
            scene.intersections(&mut Scratch::default(), &mut pairs);
            if scene.stats().clear_bodies == 1 && beyond {
                rippled += 1;
                touched += usize::from(!pairs.is_empty());
            }
            if frame == 9 {
                assert_eq!(pairs, brute_force::intersections(&scene), "frame {frame}");
            }
        }
        assert!(rippled > 1 && touched > 0, "{rippled} {touched}");
    }
}

/// Crumpled bodies that touch themselves, under rigid motion with noise of all sizes,
/// split and merged on the way.
#[test]
fn known_bodies_match_brute_force_through_edits() {
    let mut rng = Rng(77);
    let mut clear = 0;
    for round in 0..16 {
        let detection = if round % 2 == 0 {
            Detection::Continuous
        } else {
            Detection::Discrete
        };
        let mut scene = FastBvh::new(Settings {
            detection,
            ..Settings::default()
        });
        let crumple = [0.0, 0.05, 0.3][round % 3];
        let (mut rest, triangles) = roll(5, 0.1);
        for p in &mut rest {
            *p += rng.direction().as_dvec3() * crumple;
        }
        // Known bodies must not lose precision far from the origin.
        let far = [0.0, 1e3, 1e6][(round / 2) % 3];
        let noise = [0.0, 1e-9, 1e-4, 1e-2][(round / 4) % 4];
        let mut shapes = vec![(scene.add(&rest, &triangles).unwrap(), rest)];
        let axis = rng.direction().as_dvec3().normalize();
        for frame in 0..16 {
            if frame == 7 {
                let (body, rest) = shapes.remove(0);
                let count = scene.triangles(body).unwrap().len() as u32;
                let cut = |from, to| Part {
                    kept: (from..to).collect(),
                    ..Part::default()
                };
                let parts = [cut(0, count / 3), cut(count / 3, count)];
                for new in scene.split(body, &parts, &[]).unwrap() {
                    let own = new.vertex_origin.iter().map(|&v| rest[v as usize]);
                    shapes.push((new.id, own.collect()));
                }
            }
            if frame == 12 {
                let ids: Vec<BodyId> = shapes.iter().map(|s| s.0).collect();
                let both = shapes.drain(..).flat_map(|s| s.1).collect();
                shapes.push((scene.merge(&ids).unwrap(), both));
            }
            for (body, rest) in &shapes {
                // At rest now and then.
                if frame % 5 == 4 {
                    continue;
                }
                let by = dvec3(far, 0.02 * f64::from(frame), -far);
                let mut now = moved(rest, axis, 0.2 * f64::from(frame), by);
                for p in &mut now {
                    *p += rng.direction().as_dvec3() * noise;
                }
                scene.move_vertices(*body, &now).unwrap();
            }
            clear += scene.update().clear_bodies;
            check(&scene, &format!("round {round} frame {frame}"));
        }
    }
    assert!(clear > 60, "{clear}");
}

/// Parts that touch in a vertex without a link across it: the vertex is found to be shared
/// only when the second part is made, after the first one's triangles were seen.
#[test]
fn parts_that_touch_in_a_point_part_there_too() {
    let around = |x: f64| [dvec3(x, -1.0, 0.0), dvec3(x, 0.0, 0.3), dvec3(x, 1.0, 0.0)];
    let mut positions = vec![DVec3::ZERO];
    positions.extend(around(-1.0));
    positions.extend(around(1.0));
    let triangles = [[0, 2, 1], [0, 3, 2], [0, 4, 5], [0, 5, 6]];
    let mut scene = FastBvh::new(Settings::default());
    let body = scene.add(&positions, &triangles).unwrap();
    scene.update();
    let part = |kept: [u32; 2]| Part {
        kept: kept.to_vec(),
        ..Part::default()
    };
    let new = scene
        .split(body, &[part([0, 1]), part([2, 3])], &[])
        .unwrap();
    scene.update();
    scene.validate().unwrap();
    let vertices = |i: usize| scene.vertices(new[i].id).unwrap().to_vec();
    assert!(vertices(0).iter().all(|v| !vertices(1).contains(v)));
    assert_eq!(vertices(0).len() + vertices(1).len(), 8);
    // The two touch where they were one.
    let mut contacts = Contacts::default();
    scene.contacts(&mut Scratch::default(), &mut contacts);
    assert_eq!(contacts.earliest(), Some(0.0));
}
