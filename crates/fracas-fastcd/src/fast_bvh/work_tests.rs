//! How much work the stages do, counted: what makes a tree, a proof or a filter worse without
//! making an answer wrong shows here, and nowhere else.
//!
//! Every row is the sum of all counters over a short scene. They are equal for equal code, on
//! any machine: whoever changes the work on purpose puts in the row that the test prints.

use glam::{DVec3, dvec3};

use super::tests::{blob, moved, roll, sheet};
use super::*;
use fracas_geometry::testing::Rng;

/// Rebuilt subtrees and triangles, clear bodies, culled subtrees, costs (in ten-thousandths),
/// nodes and depth; then
/// the six counters of the discrete, of the continuous query, and of the one for what is near.
#[derive(Default)]
struct Work([u64; 26]);

impl Work {
    fn count(&mut self, scene: &FastBvh) {
        let stats = scene.stats();
        let mut scratch = Scratch::default();
        let discrete = scene.intersections(&mut scratch, &mut Vec::new());
        let continuous = scene.contacts(&mut scratch, &mut Contacts::default());
        let near = scene.candidates(0.02, &mut scratch, &mut Candidates::default());
        let mut all = vec![
            stats.rebuilt_subtrees as u64,
            stats.rebuilt_triangles as u64,
            stats.clear_bodies as u64,
            stats.culled_subtrees as u64,
            (1e4 * stats.cost_inter) as u64,
            (1e4 * stats.cost_self) as u64,
            stats.nodes as u64,
            stats.depth as u64,
        ];
        for query in [discrete, continuous, near] {
            all.extend([query.overlap_tests, query.triangle_pairs]);
            all.extend([query.cleared_neighbours, query.elementary_tests]);
            all.extend([query.filtered, query.hits]);
        }
        for (sum, count) in self.0.iter_mut().zip(all) {
            *sum += count;
        }
    }
}

/// Compares rows with those that are kept, all of them at once.
fn compare(found: &[(String, Work)], kept: &[&str]) {
    let line = |(name, work): &(String, Work)| {
        let numbers: Vec<String> = work.0.iter().map(u64::to_string).collect();
        format!("{name}: {}", numbers.join(" "))
    };
    let found: Vec<String> = found.iter().map(line).collect();
    let rows: Vec<String> = found
        .iter()
        .map(|row| format!("        \"{row}\","))
        .collect();
    assert!(
        found == kept,
        "other work than is kept; now\n{}",
        rows.join("\n")
    );
}

/// A sheet that is rolled up more and more, and crumples.
#[test]
fn crumpling_costs_what_it_did() {
    let mut found = Vec::new();
    for culling in [
        Culling::Off,
        Culling::NormalCone,
        Culling::FullContour,
        Culling::RealContour,
        Culling::DualCone,
        Culling::StarContour,
    ] {
        for detection in [Detection::Continuous, Detection::Discrete] {
            let mut scene = FastBvh::new(Settings {
                culling,
                detection,
                ..Settings::default()
            });
            let mut rng = Rng(31);
            let (flat, triangles) = sheet(8);
            let body = scene.add(&flat, &triangles).unwrap();
            let mut work = Work::default();
            for step in 0..5 {
                let (rolled, _) = roll(8, 0.8 - 0.22 * f64::from(step));
                let noise = 0.02 * (step % 3) as f32;
                let now: Vec<DVec3> = rolled
                    .iter()
                    .map(|p| *p + (rng.direction() * noise).as_dvec3())
                    .collect();
                scene.move_vertices(body, &now).unwrap();
                scene.update();
                work.count(&scene);
            }
            found.push((format!("{culling:?} {detection:?}"), work));
        }
    }
    compare(&found, &CRUMPLING);
}

/// Bodies that are added, split, merged, moved and deleted, with each builder.
#[test]
fn edits_cost_what_they_did() {
    let mut found = Vec::new();
    for builder in [
        Builder::Grid { limit: 8 },
        Builder::Grid { limit: 100 },
        Builder::Median,
        Builder::BinnedSah,
        Builder::RandomAxis { seed: 3 },
    ] {
        let mut scene = FastBvh::new(Settings {
            builder,
            ..Settings::default()
        });
        let mut rng = Rng(32);
        let mut work = Work::default();
        for step in 0..10 {
            let ids: Vec<BodyId> = scene.bodies().collect();
            match step {
                0 | 1 | 2 | 6 => {
                    let (positions, triangles) = blob(&mut rng, 5 + step);
                    scene.add(&positions, &triangles).unwrap();
                }
                3 | 7 => {
                    let body = ids[ids.len() - 1];
                    let count = scene.triangles(body).unwrap().len() as u32;
                    let part = |from: u32, to: u32| Part {
                        kept: (from..to).collect(),
                        ..Part::default()
                    };
                    let parts = [part(0, count / 3), part(count / 3, count)];
                    scene.split(body, &parts, &[]).unwrap();
                }
                4 => drop(scene.merge(&ids[..2]).unwrap()),
                8 => scene.delete(ids[0]).unwrap(),
                _ => (),
            }
            for id in scene.bodies().collect::<Vec<_>>() {
                let by = (rng.direction() * 0.1).as_dvec3();
                let vertices = scene.vertices(id).unwrap().iter();
                let to: Vec<DVec3> = vertices
                    .map(|&v| {
                        scene.position(v).unwrap()[1] + by + (rng.direction() * 0.01).as_dvec3()
                    })
                    .collect();
                scene.move_vertices(id, &to).unwrap();
            }
            scene.update();
            work.count(&scene);
        }
        found.push((format!("{builder:?}"), work));
    }
    compare(&found, &EDITS);
}

/// A sheet that is folded until nothing of the first tree fits it.
#[test]
fn rebuilding_costs_what_it_did() {
    let mut found = Vec::new();
    for restructuring in [
        Restructuring::Selective,
        Restructuring::SelectiveOver { steps: 1000 },
        Restructuring::SelectiveByVolume,
        Restructuring::Never,
        Restructuring::RebuildAlways,
    ] {
        for builder in [Builder::Median, Builder::BinnedSah] {
            let mut scene = FastBvh::new(Settings {
                restructuring,
                builder,
                culling: Culling::Off,
                keep_clearance: false,
                ..Settings::default()
            });
            let (flat, triangles) = sheet(20);
            let body = scene.add(&flat, &triangles).unwrap();
            let mut rng = Rng(33);
            let mut work = Work::default();
            for step in 0..4 {
                // Every vertex goes to a place of its own, in a part of the sheet alone.
                let share = [0.0, 0.3, 0.7, 1.0][step];
                let now: Vec<DVec3> = flat
                    .iter()
                    .map(|p| {
                        let way = rng.direction().as_dvec3() * 0.1;
                        let moves = f64::from(u8::from(p.x < share && p.y < 0.5));
                        *p + way * moves + dvec3(0.0, 0.0, 0.05 * libm::sin(9.0 * p.x))
                    })
                    .collect();
                scene.move_vertices(body, &now).unwrap();
                scene.update();
                work.count(&scene);
            }
            found.push((format!("{restructuring:?} {builder:?}"), work));
        }
    }
    compare(&found, &REBUILDING);
}

/// Rolls that turn and shift, deform by little and by more, and are split.
#[test]
fn keeping_shape_costs_what_it_did() {
    let mut found = Vec::new();
    for (noise, detection) in [
        (0.0, Detection::Continuous),
        (1e-5, Detection::Discrete),
        (2e-4, Detection::Continuous),
        (2e-3, Detection::Continuous),
        (4e-3, Detection::Continuous),
        (6e-3, Detection::Discrete),
        (1e-2, Detection::Continuous),
    ] {
        let mut scene = FastBvh::new(Settings {
            detection,
            ..Settings::default()
        });
        let (rest, triangles) = roll(7, 0.05);
        let mut shapes = vec![(scene.add(&rest, &triangles).unwrap(), rest)];
        let axis = dvec3(0.3, 0.5, 0.8).normalize();
        let (mut rng, mut work) = (Rng(34), Work::default());
        for frame in 0..18 {
            if frame == 6 {
                let (body, rest) = shapes.remove(0);
                let count = scene.triangles(body).unwrap().len() as u32;
                let part = |from: u32, to: u32| Part {
                    kept: (from..to).collect(),
                    ..Part::default()
                };
                let parts = [part(0, count / 3), part(count / 3, count)];
                for new in scene.split(body, &parts, &[]).unwrap() {
                    let own = new.vertex_origin.iter().map(|&v| rest[v as usize]);
                    shapes.push((new.id, own.collect()));
                }
            }
            for (body, rest) in &shapes {
                // At rest now and then; once all is bent.
                if frame % 5 == 4 {
                    continue;
                }
                let bend = if frame == 11 { 0.3 } else { 0.0 };
                let by = dvec3(0.0, 0.02 * f64::from(frame), 0.0);
                let bent: Vec<DVec3> = rest
                    .iter()
                    .map(|p| *p + dvec3(0.0, 0.0, bend * p.x * p.y))
                    .map(|p| p + rng.direction().as_dvec3() * noise)
                    .collect();
                let now = moved(&bent, axis, 0.2 * f64::from(frame), by);
                scene.move_vertices(*body, &now).unwrap();
            }
            scene.update();
            work.count(&scene);
        }
        found.push((format!("{noise} {detection:?}"), work));
    }
    compare(&found, &KEEPING);
}

/// Half of the least distance, and half the reach where nothing is near.
#[test]
fn budgets_are_half_of_what_is_near() {
    let mut scene = FastBvh::new(Settings::default());
    for z in [0.0, 0.01, 0.5] {
        let corners = [dvec3(0.0, 0.0, z), dvec3(1.0, 0.0, z), dvec3(0.0, 1.0, z)];
        scene.add(&corners, &[[0, 1, 2]]).unwrap();
    }
    scene.update();
    let mut near = Candidates::default();
    scene.candidates(0.1, &mut Scratch::default(), &mut near);
    let mut budgets = Vec::new();
    near.budgets(&scene, &mut budgets);
    for (v, budget) in budgets.into_iter().enumerate() {
        let half = if v < 6 { 0.005 } else { 0.05 };
        assert!((budget / half - 1.0).abs() < 1e-5, "{v}: {budget}");
        assert!(budget < half);
    }
}

const CRUMPLING: [&str; 12] = [
    "Off Continuous: 0 0 0 0 313119 15285088 315 35 10803 4682 2288 2394 0 15 10803 4682 3024 1480 631 20 11507 4897 0 5037 0 20",
    "Off Discrete: 0 0 0 0 239914 14871298 315 35 9013 4095 2288 1807 0 15 9013 4095 3168 701 477 0 9153 4437 0 2302 0 62",
    "NormalCone Continuous: 0 0 0 22 313119 1271112 315 35 3617 936 530 406 0 15 3617 936 525 383 194 20 11507 4897 0 5037 0 20",
    "NormalCone Discrete: 0 0 0 37 239914 1494934 315 35 3084 994 712 282 0 15 3084 994 712 247 193 0 9153 4437 0 2302 0 62",
    "FullContour Continuous: 0 0 0 34 313119 1754731 315 35 4713 1248 723 525 0 15 4713 1248 716 508 287 20 11507 4897 0 5037 0 20",
    "FullContour Discrete: 0 0 0 37 239914 1494934 315 35 3084 994 712 282 0 15 3084 994 712 247 193 0 9153 4437 0 2302 0 62",
    "RealContour Continuous: 0 0 0 28 313119 1535995 315 35 4415 1129 652 477 0 15 4415 1129 646 460 247 20 11507 4897 0 5037 0 20",
    "RealContour Discrete: 0 0 0 37 239914 1494934 315 35 3084 994 712 282 0 15 3084 994 712 247 193 0 9153 4437 0 2302 0 62",
    "DualCone Continuous: 0 0 0 54 313119 3196592 315 35 6844 2049 1263 786 0 15 6844 2049 1252 727 341 20 11507 4897 0 5037 0 20",
    "DualCone Discrete: 0 0 0 48 239914 2085064 315 35 4509 1392 1017 375 0 15 4509 1392 1017 311 235 0 9153 4437 0 2302 0 62",
    "StarContour Continuous: 0 0 0 17 313119 3323457 315 35 4982 1477 917 560 0 15 4982 1477 909 520 270 20 11507 4897 0 5037 0 20",
    "StarContour Discrete: 0 0 0 20 239914 1030588 315 35 2541 713 501 212 0 15 2541 713 501 196 168 0 9153 4437 0 2302 0 62",
];
const EDITS: [&str; 5] = [
    "Grid { limit: 8 }: 0 0 3 39 369848 2587058 2452 110 16243 2239 0 2239 0 193 16243 2239 0 3298 1477 746 84243 18885 0 19681 0 1016",
    "Grid { limit: 100 }: 0 0 3 39 352949 2579962 1554 104 16026 2239 0 2239 0 193 16026 2239 0 3298 1477 746 74924 18885 0 19681 0 1016",
    "Median: 0 0 3 39 354363 2626789 1538 104 15975 2239 0 2239 0 193 15975 2239 0 3298 1477 746 73786 18885 0 19681 0 1016",
    "BinnedSah: 0 0 3 39 321237 2159530 1788 100 13015 2239 0 2239 0 193 13015 2239 0 3298 1477 746 64448 18885 0 19681 0 1016",
    "RandomAxis { seed: 3 }: 0 0 3 39 363121 2597655 1574 108 18266 2239 0 2239 0 193 18266 2239 0 3298 1477 746 86285 18885 0 19681 0 1016",
];
const KEEPING: [&str; 7] = [
    "0 Continuous: 0 0 29 30 725646 2441325 978 144 6861 1356 446 910 0 684 6861 1356 446 2136 86 1944 45497 10614 0 8596 0 1944",
    "0.00001 Discrete: 0 0 29 30 719423 2430733 978 144 5291 935 444 491 0 50 5291 935 444 838 838 0 36586 9979 0 3883 0 1944",
    "0.0002 Continuous: 0 0 29 29 721244 2660730 978 144 6673 1272 481 791 0 50 6673 1272 481 1571 626 379 45281 10617 0 8595 0 1944",
    "0.002 Continuous: 0 0 29 29 721287 2662710 978 144 6591 1274 481 793 0 50 6591 1274 481 1571 624 378 45263 10595 0 8504 0 1944",
    "0.004 Continuous: 0 0 27 27 1001917 6680388 978 144 9574 1930 1093 837 0 51 9574 1930 1093 1570 628 378 45185 10582 0 8484 0 1944",
    "0.006 Discrete: 0 0 0 6 1061451 43508829 978 144 31734 8589 7752 837 0 51 31734 8589 7752 876 876 0 36214 9926 0 3793 0 1944",
    "0.01 Continuous: 0 0 0 0 1207963 46192532 978 144 40592 9483 7974 1509 0 48 40592 9483 7944 1810 796 385 45431 10615 0 8556 0 1944",
];
const REBUILDING: [&str; 10] = [
    "Selective Median: 0 0 0 0 325058 82134082 1596 36 104700 36128 11745 24383 0 1661 104700 36128 14516 27816 5315 1831 114244 41402 0 53380 0 3119",
    "Selective BinnedSah: 0 0 0 0 280173 78212732 1660 40 85398 36128 11745 24383 0 1661 85398 36128 14516 27816 5315 1831 94536 41402 0 53380 0 3119",
    "SelectiveOver { steps: 1000 } Median: 8 748 0 0 328374 82222277 1596 36 104686 36128 11745 24383 0 1661 104686 36128 14516 27816 5315 1831 114482 41402 0 53380 0 3119",
    "SelectiveOver { steps: 1000 } BinnedSah: 15 730 0 0 295617 79047627 1820 45 87812 36128 11745 24383 0 1661 87812 36128 14516 27816 5315 1831 97710 41402 0 53380 0 3119",
    "SelectiveByVolume Median: 44 2452 0 0 328280 82387638 1596 36 105972 36128 11745 24383 0 1661 105972 36128 14516 27816 5315 1831 115906 41402 0 53380 0 3119",
    "SelectiveByVolume BinnedSah: 15 720 0 0 292627 78963380 1802 45 87300 36128 11745 24383 0 1661 87300 36128 14516 27816 5315 1831 96981 41402 0 53380 0 3119",
    "Never Median: 0 0 0 0 325058 82134082 1596 36 104700 36128 11745 24383 0 1661 104700 36128 14516 27816 5315 1831 114244 41402 0 53380 0 3119",
    "Never BinnedSah: 0 0 0 0 280173 78212732 1660 40 85398 36128 11745 24383 0 1661 85398 36128 14516 27816 5315 1831 94536 41402 0 53380 0 3119",
    "RebuildAlways Median: 0 0 0 0 341990 81798905 1596 36 105218 36128 11745 24383 0 1661 105218 36128 14516 27816 5315 1831 115150 41402 0 53380 0 3119",
    "RebuildAlways BinnedSah: 0 0 0 0 299421 78925096 1834 47 87122 36128 11745 24383 0 1661 87122 36128 14516 27816 5315 1831 97181 41402 0 53380 0 3119",
];
