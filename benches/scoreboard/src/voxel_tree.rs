//! Time-critical contacts [Dingliana 2004]: errors per level, occupancy, deadline.

use std::time::Instant;

use fracas_core::testing::{Rng, box_grid};
use fracas_core::{Crack, Fracture, FragmentId, Fragments, Pose};
use fracas_rapier::FrameBudget;
use fracas_scenes::experiments::voxel_contacts::{LevelErrors, contact_errors};
use fracas_scenes::experiments::voxel_contacts_deadline::{Method, falling_rabbits};
use fracas_voxel::{
    Averaging, Budget, Detection, Grouping, ObjectVoxels, Primitive, SplitScratch, Stop,
    TriangleLevel, TriangleScratch, VoxTree, VoxelGrid, WithTriangles, primitive, reduce,
    triangle_primitives,
};
use glam::{Mat3, Vec3};

use crate::board::{Board, Measured, Target, best_ms};

/// Rows of the subject.
pub fn rows(board: &mut Board) {
    if !board.wants_group("voxel-tree") {
        return;
    }
    errors(board);
    occupancy(board);
    relabel(board);
    triangles(board);
    deadline(board);
}

/// Figs. 7 and 8: weighted against simple, at every level.
fn errors(board: &mut Board) {
    if !["direction", "point", "product", "spin", "speed", "velocity"]
        .iter()
        .any(|what| board.wants_row(&format!("voxel-tree/{what}-level-1")))
    {
        return;
    }
    let errors = contact_errors(1000, 2004);
    type Read = fn(&LevelErrors) -> f64;
    let kinds: [(&str, &str, &str, Read, f64); 6] = [
        ("direction", "degrees", "7A", |e| e.direction, 0.95),
        ("point", "radii", "7A", |e| e.point, 0.95),
        ("product", "-", "7B", LevelErrors::product, 0.9),
        ("spin", "rad/s", "8", |e| e.angular_speed, 1.0),
        ("speed", "share", "8", |e| e.speed, 1.0),
        ("velocity", "degrees", "8", |e| e.velocity_direction, 1.0),
    ];
    for (what, unit, figure, read, margin) in kinds {
        for level in 0..errors.simple.len() {
            let (simple, weighted) = (read(&errors.simple[level]), read(&errors.weighted[level]));
            // At the root there is one pair of cubes: nothing to weigh.
            let target = if (1..=2).contains(&level) {
                Target::AtMost(margin * simple)
            } else {
                Target::None
            };
            let exact = errors.exact.get(level).map_or(String::new(), |e| {
                format!("; with the exact overlap of eq. 4: {:.4}", read(e))
            });
            let root = read(&errors.root[level]);
            let exact = format!("{exact}; by the roots of the weights: {root:.4}");
            board.row(
                &format!("voxel-tree/{what}-level-{level}"),
                unit,
                target,
                || {
                    Measured::new(weighted)
                        .against("simple average", "eq. 1-2", simple)
                        .note(format!("Fig. {figure}, 1,000 collisions{exact}"))
                },
            );
        }
    }
}

/// A closed box with its low corner at `at`.
fn cuboid(size: Vec3, at: Vec3, inward: bool, into: &mut (Vec<Vec3>, Vec<[u32; 3]>)) {
    let mesh = box_grid([1, 1, 1], size);
    let first = into.0.len() as u32;
    into.0.extend(mesh.positions().iter().map(|p| *p + at));
    into.1.extend(mesh.boundary().map(|f| {
        let [a, b, c] = f.nodes.map(|n| n + first);
        if inward { [a, c, b] } else { [a, b, c] }
    }));
}

/// Occupancies add up to the volume.
fn occupancy(board: &mut Board) {
    #[expect(
        clippy::type_complexity,
        reason = "name, mesh, voxel, volume: used here only"
    )]
    let mut cases: Vec<(&str, (Vec<Vec3>, Vec<[u32; 3]>), f32, f64)> = Vec::new();
    let mut two = Default::default();
    cuboid(Vec3::ONE, Vec3::ZERO, false, &mut two);
    cuboid(Vec3::splat(0.7), Vec3::new(1.5, 0.2, -0.3), false, &mut two);
    cases.push(("two-cubes", two, 0.11, 1.343));
    let mut needle = Default::default();
    cuboid(Vec3::new(2.0, 0.01, 0.013), Vec3::ZERO, false, &mut needle);
    cases.push(("needle", needle, 0.1, 2.0 * 0.01 * 0.013));
    let mut plate = Default::default();
    cuboid(Vec3::new(1.0, 1.0, 0.004), Vec3::ZERO, false, &mut plate);
    cases.push(("thin-plate", plate, 0.05, 0.004));
    let mut shell = Default::default();
    cuboid(Vec3::ONE, Vec3::ZERO, false, &mut shell);
    cuboid(Vec3::splat(0.9), Vec3::splat(0.05), true, &mut shell);
    cases.push(("hollow-shell", shell, 0.08, 1.0 - 0.729));
    for (name, (positions, triangles), cell, volume) in cases {
        board.row(
            &format!("voxel-tree/occupancy-{name}"),
            "%",
            Target::AtMost(0.1),
            || {
                let grid = VoxelGrid::from_surface(&positions, &triangles, cell)
                    .expect("boxes are closed");
                Measured::new(100.0 * (grid.volume() - volume).abs() / volume)
                    .note(format!("{:?} voxels", grid.counts()))
            },
        );
    }
}

/// Re-labelling a broken object against voxelising its pieces anew.
fn relabel(board: &mut Board) {
    board.row("voxel-tree/relabel-rabbit", "ms", Target::None, || {
        let rabbit = fracas_bake::shapes::by_name("rabbit").expect("it is in the set");
        let mesh = std::sync::Arc::new(rabbit.build());
        let positions = mesh.positions().iter();
        let low = positions.clone().fold(Vec3::INFINITY, |a, &b| a.min(b));
        let high = positions.fold(Vec3::NEG_INFINITY, |a, &b| a.max(b));
        let cell = (high - low).max_element() / 20.0;
        let start = Instant::now();
        let voxels = ObjectVoxels::build(&mesh, cell).expect("a rabbit is closed");
        let ahead = start.elapsed().as_secs_f64() * 1e3;
        let mut fragments = Fragments::new(mesh.clone());
        let nodes: Vec<u32> = (0..mesh.positions().len() as u32).collect();
        let middle = 0.5 * (low + high);
        let crack = Crack::from_level(&mesh, 0, &nodes, |n| {
            (mesh.positions()[n as usize] - middle).dot(Vec3::new(0.6, 0.64, 0.48))
        });
        let fracture = Fracture {
            fragment: FragmentId(0),
            cracks: vec![crack.expect("a plane through the middle parts it")],
        };
        let split = fragments.apply(&fracture).expect("it fits");
        let mut scratch = SplitScratch::default();
        let ms = best_ms(5, || {
            voxels.split(&fragments, voxels.whole(), &split.children, &mut scratch)
        });
        let parts = voxels.split(&fragments, voxels.whole(), &split.children, &mut scratch);
        let trees = best_ms(5, || {
            parts
                .iter()
                .map(|p| VoxTree::build(&voxels.grid(p), 2).levels().len())
                .sum::<usize>()
        });
        let whole = best_ms(3, || VoxelGrid::from_tets(&mesh, cell));
        Measured::new(ms)
            .against("voxelising the whole anew", "ours", whole)
            .note(format!(
                "{} tets, {} voxels; trees {trees:.2} ms; ahead of time {ahead:.0} ms, {} KB",
                mesh.tets().len(),
                voxels.whole().len(),
                voxels.bytes() / 1024
            ))
    });
}

/// What triangles as the finest level (section 3.1) would cost and change for a pair that
/// comes into contact.
fn triangles(board: &mut Board) {
    let row = "voxel-tree/triangles-as-finest-level";
    board.row(row, "us", Target::None, || {
        let rabbit = fracas_bake::shapes::by_name("rabbit").expect("it is in the set");
        let mesh = rabbit.build();
        let positions = mesh.positions();
        let low = positions.iter().fold(Vec3::INFINITY, |a, &b| a.min(b));
        let high = positions.iter().fold(Vec3::NEG_INFINITY, |a, &b| a.max(b));
        let (middle, cell) = (0.5 * (low + high), (high - low).max_element() / 20.0);
        let faces: Vec<[u32; 3]> = mesh.boundary().map(|f| f.nodes).collect();
        let grid = VoxelGrid::from_surface(positions, &faces, cell).expect("a rabbit is closed");
        let tree = VoxTree::build(&grid, 2);
        let level = TriangleLevel::build(&tree, positions, &faces).expect("the same surface");
        let both = WithTriangles {
            tree: &tree,
            triangles: &level,
        };
        let mut rng = Rng(3);
        let (mut detection, mut scratch) = (Detection::default(), TriangleScratch::default());
        let (mut primitives, mut groups) = (Vec::new(), Vec::new());
        let (mut cubes, mut exact, mut tests) = (0.0, 0.0, 0);
        // Deepest contacts: by cubes of pairs whose triangles do not meet, and by both of
        // those whose triangles do.
        let (mut apart, mut meeting) = (Vec::new(), Vec::new());
        for _ in 0..150 {
            let rotation = Mat3::from_axis_angle(rng.direction(), rng.range(0.0, 3.1));
            let way = rng.direction();
            let mut at = 2.0 * (high - low).length();
            let mut refine = |at: f32| {
                let pose = Pose {
                    rotation,
                    translation: middle - rotation * middle + way * at,
                };
                detection.restart();
                let stop = detection.refine(&tree, &tree, &pose, &Budget::default());
                (pose, stop)
            };
            while refine(at).1 == Stop::Apart && at > 0.0 {
                at -= 0.5 * cell;
            }
            let (pose, stop) = refine(at - rng.range(0.0, 1.5) * cell);
            if stop != Stop::Finest {
                continue;
            }
            let mut deepest = |primitives: &mut Vec<Primitive>| {
                let grouping = Grouping::ByRegion;
                reduce(primitives, Averaging::Weighted, grouping, way, &mut groups);
                let distances = groups.iter().map(|c| c.distance);
                distances.fold(f32::INFINITY, f32::min) / cell
            };
            let start = Instant::now();
            primitives.clear();
            let pairs = detection.pairs();
            primitives.extend(pairs.map(|p| primitive(&tree, &tree, &pose, p)));
            let by_cubes = deepest(&mut primitives);
            cubes += start.elapsed().as_secs_f64() * 1e6;
            let start = Instant::now();
            let (most, out) = (u64::MAX, &mut primitives);
            triangle_primitives(both, both, &pose, &detection, most, &mut scratch, out);
            let by_triangles = deepest(out);
            exact += start.elapsed().as_secs_f64() * 1e6;
            tests += scratch.tests();
            if scratch.meeting().is_empty() {
                apart.push(by_cubes);
            } else {
                meeting.push((by_cubes, by_triangles));
            }
        }
        let count = (apart.len() + meeting.len()).max(1) as f64;
        let mean = |sum: f32, n: usize| sum / n.max(1) as f32;
        Measured::new(exact / count)
            .against("cubes", "ours", cubes / count)
            .note(format!(
                "per pair of rabbits whose voxels begin to meet, {} triangles each, {} tests; \
                 triangles of {} of {count} pairs meet: {:.2} voxels by triangles, {:.2} by cubes; \
                 of the others the cubes say {:.2}",
                level.len(),
                tests / count as u64,
                meeting.len(),
                mean(meeting.iter().map(|m| m.1).sum(), meeting.len()),
                mean(meeting.iter().map(|m| m.0).sum(), meeting.len()),
                mean(apart.iter().sum(), apart.len()),
            ))
    });
}

/// Thread CPU time in seconds.
fn cpu_seconds() -> f64 {
    let t = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    t.tv_sec as f64 + t.tv_nsec as f64 * 1e-9
}

/// The falling rabbits within 2 ms.
fn deadline(board: &mut Board) {
    const BUDGET: f64 = 2.0;
    for (name, method) in [("voxels", Method::Voxels), ("both", Method::Both)] {
        let row = format!("voxel-tree/deadline-{name}");
        let sound = format!("voxel-tree/deadline-{name}-sound");
        if !["", "-worst", "-deepest", "-main-share", "-sound"]
            .iter()
            .any(|what| board.wants_row(&format!("{row}{what}")))
        {
            continue;
        }
        let start = Instant::now();
        let budget = FrameBudget::Milliseconds(BUDGET);
        let report = match falling_rabbits(method, budget, None, cpu_seconds) {
            Ok(report) => report,
            Err(error) => {
                board.skip(&row, &error.to_string());
                continue;
            }
        };
        let wall = start.elapsed().as_secs_f64();
        board.row(&row, "% steps", Target::AtLeast(99.99), || {
            Measured::new(100.0 * report.share()).note(format!(
                "{BUDGET} ms, {} steps, {} pieces; CPU: mean {:.2} ms, worst {:.2} ms (step {}); \
                 {} of {} voxel pairs to the end, {} fell back; the whole run {wall:.1} s by the wall",
                report.steps,
                report.pieces,
                report.mean,
                report.worst.0,
                report.worst.1,
                report.finished,
                report.pairs,
                report.fallbacks,
            ))
        });
        let worst = format!("voxel-tree/deadline-{name}-worst");
        board.row(&worst, "ms", Target::AtMost(2.2), || {
            Measured::new(report.worst.0).note(format!("step {}", report.worst.1))
        });
        let deepest = format!("voxel-tree/deadline-{name}-deepest");
        board.row(&deepest, "voxels", Target::AtMost(1.0), || {
            Measured::new(report.deepest_in_voxels()).note(format!(
                "at the end, by all sample points: {:.1} mm; a voxel of the finest level: {:.1} mm",
                1e3 * report.deepest_at_end,
                1e3 * report.voxel
            ))
        });
        if method == Method::Both {
            board.row(
                "voxel-tree/deadline-both-main-share",
                "%",
                Target::AtLeast(50.0),
                || {
                    Measured::new(100.0 * report.main_share()).note(format!(
                        "{} of {} pairs that are not known to be apart; {} waited with what was \
                         found before",
                        report.sphere_tree_pairs,
                        report.touching_pairs(),
                        report.waiting
                    ))
                },
            );
        }
        board.row(&sound, "yes", Target::AtLeast(1.0), || {
            Measured::new(f64::from(u8::from(report.sound()))).note(format!(
                "lowest centre at the end {:.3} m, ever {:.3} m; {} lost; fastest {:.1} m/s",
                report.lowest_at_end, report.lowest, report.lost, report.fastest
            ))
        });
    }
}
