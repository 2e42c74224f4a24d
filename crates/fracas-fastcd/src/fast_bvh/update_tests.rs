//! Updates: on threads, of bodies that were just born, of bodies that lose their shape for a
//! while.

use glam::{DVec3, dvec3};

use super::tests::{moved, roll, sheet};
use super::*;
use fracas_geometry::testing::Rng;

/// What an update and the queries after it tell, and how much work the queries have: fans that
/// are clear show there alone.
type Told = (UpdateStats, Contacts, Vec<[u32; 2]>, [QueryStats; 2]);

/// A sheet that is rolled up and crumples, a sheet that keeps its shape, and rolls that are cut; large enough
/// to be cut for threads.
fn play(parallel: bool, detection: Detection) -> Vec<Told> {
    let mut scene = FastBvh::new(Settings {
        detection,
        parallel,
        ..Settings::default()
    });
    let mut rng = Rng(12);
    let (flat, triangles) = sheet(72);
    // With a hole: what is seen of a contour counts.
    let holed = [&triangles[..2000], &triangles[2004..]].concat();
    let folding = scene.add(&flat, &holed).unwrap();
    let lifted: Vec<DVec3> = flat.iter().map(|p| *p + dvec3(0.1, 0.1, 0.5)).collect();
    let rippling = scene.add(&lifted, &triangles).unwrap();
    let (rolled, faces) = roll(12, 0.05);
    let mut rolls: Vec<(BodyId, Vec<DVec3>)> = Vec::new();
    for i in 0..4 {
        let by = dvec3(0.3 * f64::from(i), 0.1, -0.2);
        let shape: Vec<DVec3> = rolled.iter().map(|p| *p + by).collect();
        rolls.push((scene.add(&shape, &faces).unwrap(), shape));
    }
    let mut found = Vec::new();
    // More than it takes until what could not be culled is tried again.
    for frame in 0..11 {
        let time = f64::from(frame);
        if frame == 2 {
            let (body, shape) = rolls.remove(1);
            let count = scene.triangles(body).unwrap().len() as u32;
            let part = |from: u32, to: u32| Part {
                kept: (from..to).collect(),
                ..Part::default()
            };
            let parts = [part(0, count / 2), part(count / 2, count)];
            for new in scene.split(body, &parts, &[]).unwrap() {
                let own = new.vertex_origin.iter().map(|&v| shape[v as usize]);
                rolls.push((new.id, own.collect()));
            }
        }
        // Rolled up more and more, and crumpled: large parts are not culled.
        let bend = 0.5 * time + 0.1;
        let mut fold = |p: &DVec3| {
            let angle = bend * p.x;
            let rolled = dvec3(libm::sin(angle), bend * p.y, 1.0 - libm::cos(angle)) / bend;
            rolled + rng.direction().as_dvec3() * (0.04 * time / 72.0)
        };
        let now: Vec<DVec3> = flat.iter().map(&mut fold).collect();
        scene.move_vertices(folding, &now).unwrap();
        let ripple =
            |p: &DVec3| *p - dvec3(0.0, 0.004 * libm::sin(6.0 * p.x + 0.1 * time), 0.09 * time);
        let now: Vec<DVec3> = lifted.iter().map(ripple).collect();
        scene.move_vertices(rippling, &now).unwrap();
        for (body, shape) in &rolls {
            let axis = rng.direction().as_dvec3();
            let now = moved(shape, axis, 0.02 * time, dvec3(0.0, 0.0, 0.01 * time));
            scene.move_vertices(*body, &now).unwrap();
        }
        let stats = scene.update();
        scene.validate().unwrap();
        let (mut scratch, mut contacts) = (Scratch::default(), Contacts::default());
        let mut pairs = Vec::new();
        let work = [
            scene.contacts(&mut scratch, &mut contacts),
            scene.intersections(&mut scratch, &mut pairs),
        ];
        found.push((stats, contacts, pairs, work));
    }
    found
}

#[test]
fn updates_on_threads_are_the_same() {
    for detection in [Detection::Continuous, Detection::Discrete] {
        let alone = play(false, detection);
        assert!(alone.iter().any(|f| f.0.clear_bodies > 2));
        assert!(alone.iter().any(|f| f.2.len() > 50));
        assert!(alone.iter().any(|f| f.3[0].cleared_neighbours > 1000));
        for threads in [1, 2, 5] {
            #[cfg(feature = "parallel")]
            let shared = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap()
                .install(|| play(true, detection));
            #[cfg(not(feature = "parallel"))]
            let shared = play(threads > 0, detection);
            assert!(alone == shared, "{detection:?} on {threads}");
        }
    }
}

/// Parts with faces of their own are known in the update in which they are born: those that
/// meet themselves are told all the same, then and when they bend.
#[test]
fn newborn_bodies_are_known_at_once() {
    for round in 0..12 {
        let mut scene = FastBvh::new(Settings {
            detection: Detection::Discrete,
            ..Settings::default()
        });
        let mut rng = Rng(200 + round);
        let (rest, triangles) = roll(6, 0.06);
        let body = scene.add(&rest, &triangles).unwrap();
        scene.update();
        let count = triangles.len() as u32;
        // Faces that close the part, some through it.
        let old = rest.len() as u32;
        let part = |from: u32, to: u32, rng: &mut Rng| {
            let inside = rest[triangles[from as usize][0] as usize];
            let size = [0.02, 0.4][round as usize % 2];
            let new_positions: Vec<DVec3> = (0..4)
                .map(|_| inside + rng.direction().as_dvec3() * size)
                .collect();
            let [a, b, _] = triangles[from as usize];
            Part {
                kept: (from..to).collect(),
                new_positions,
                new_triangles: vec![
                    [a, b, old],
                    [old, old + 1, old + 2],
                    [old, old + 2, old + 3],
                ],
            }
        };
        let parts = [
            part(0, count / 2, &mut rng),
            part(count / 2, count, &mut rng),
        ];
        let shapes: Vec<(BodyId, Vec<DVec3>)> = scene
            .split(body, &parts, &[])
            .unwrap()
            .into_iter()
            .zip(&parts)
            .map(|(new, part)| {
                let at = |&v: &u32| match v.checked_sub(old) {
                    Some(own) => part.new_positions[own as usize],
                    None => rest[v as usize],
                };
                (new.id, new.vertex_origin.iter().map(at).collect())
            })
            .collect();
        let (mut met, mut clear) = (0, 0);
        for frame in 0..8 {
            for (i, (body, shape)) in shapes.iter().enumerate() {
                // Rigid, then a little bent, then more.
                let bend = [0.0, 0.0, 0.0, 1e-4, 1e-3, 0.1, 0.3, 0.3][frame];
                let bent: Vec<DVec3> = shape
                    .iter()
                    .map(|p| *p + dvec3(0.0, 0.0, bend * p.x * p.y))
                    .collect();
                let by = dvec3(3.0 * i as f64, 0.1 * frame as f64, 0.0);
                let now = moved(&bent, DVec3::Z, 0.3 * frame as f64, by);
                scene.move_vertices(*body, &now).unwrap();
            }
            let stats = scene.update();
            scene.validate().unwrap();
            if frame == 0 {
                clear += stats.clear_bodies;
            }
            let mut pairs = Vec::new();
            scene.intersections(&mut Scratch::default(), &mut pairs);
            assert_eq!(pairs, brute_force::intersections(&scene), "{round} {frame}");
            met += pairs.len();
        }
        assert_eq!(clear, 2, "{round}");
        assert!(round % 2 == 0 || met > 0, "{round}");
    }
}

/// Two sheets of one body, one above the other, ripple together; they are shaken for a step,
/// then the upper one is pushed through the lower one, smoothly, and comes back. In the step
/// back the body has its shape again at both ends, by small strains; that its points were far
/// from where the shape has them at the start of the step must not be taken from an older one.
#[test]
fn where_a_step_starts_is_not_told_by_an_older_step() {
    let (flat, half) = sheet(40);
    let spacing = (2.0 + std::f64::consts::SQRT_2) / 3.0 / 40.0;
    let gap = 0.42 * spacing;
    let count = flat.len() as u32;
    let mut rest = flat.clone();
    rest.extend(flat.iter().map(|p| *p + dvec3(0.0, 0.0, gap)));
    let mut triangles = half.clone();
    triangles.extend(half.iter().map(|t| t.map(|v| v + count)));
    let mut rng = Rng(3);
    let mut shape = |shake: f64, push: f64| -> Vec<DVec3> {
        let place = |(i, p): (usize, &DVec3)| {
            let ripple = 0.26 * spacing * libm::sin(std::f64::consts::TAU * p.x);
            let off = dvec3(p.x - 0.5, p.y - 0.5, 0.0).length_squared();
            let pushed = if i < count as usize {
                0.0
            } else {
                push * spacing * libm::exp(-off / 0.12)
            };
            let noise = rng.direction().as_dvec3() * shake * spacing;
            *p + noise + dvec3(0.0, 0.0, ripple - pushed)
        };
        rest.iter().enumerate().map(place).collect()
    };
    let frames: Vec<Vec<DVec3>> = [(0.0, 0.0); 4]
        .into_iter()
        .chain([(0.3, 0.0), (0.0, 0.56), (0.0, 0.0)])
        .map(|(shake, push)| shape(shake, push))
        .collect();
    let play = |keep_clearance: bool| {
        let mut scene = FastBvh::new(Settings {
            keep_clearance,
            ..Settings::default()
        });
        let body = scene.add(&rest, &triangles).unwrap();
        scene.update();
        let mut last = (0, Contacts::default());
        let mut clear = Vec::new();
        for frame in &frames {
            scene.move_vertices(body, frame).unwrap();
            clear.push(scene.update().clear_bodies);
            scene.contacts(&mut Scratch::default(), &mut last.1);
        }
        (clear, last.1)
    };
    let (clear, found) = play(true);
    let (_, truth) = play(false);
    assert_eq!(clear[3..6], [1, 0, 0], "known, shaken, shaken at the start");
    assert!(!truth.vertex_face.is_empty());
    assert!(found == truth, "{clear:?}");
}
