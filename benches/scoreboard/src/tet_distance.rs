//! Soft, cuttable objects [Marchal 2004]: marches, partial marches, collision.

use std::sync::OnceLock;
use std::time::Instant;

use fracas_scenes::experiments::tet_collision::{CollisionSettings, collisions};
use fracas_scenes::soft::SoftScene;
use fracas_tet_distance::unstable::error_table::error_table;
use fracas_tet_distance::unstable::specimens::{
    Specimen, bumpy_ball, cut_disc, shaken_box, slit_rectangle, twisted_bar,
};
use fracas_tet_distance::{DepthField, Method, Response, Topology};
use glam::Vec3;

use crate::board::{Board, Measured, Target, best_ms, growth_exponent};

mod soft_scenes;

/// Rows of the subject.
pub fn rows(board: &mut Board) {
    if !board.wants_group("tet-distance") {
        return;
    }
    errors(board);
    // 6 * 37^3 = 303,918 tetrahedra, and the bar 6 * 18 * 18 * 144 = 279,936.
    for (name, specimen) in [
        ("box", shaken_box(37)),
        ("ball", bumpy_ball(37)),
        ("bar", twisted_bar(19)),
    ] {
        marches(board, name, &specimen);
    }
    after_cuts(board);
    scaling(board);
    collision(board);
    share(board);
    soft_scenes::rows(board);
}

fn march_ms(specimen: &Specimen, method: Method, runs: usize) -> f64 {
    let mut field = DepthField::new(method);
    best_ms(runs, || {
        field.march(&specimen.topology, &specimen.positions)
    })
}

fn marches(board: &mut Board, name: &str, specimen: &Specimen) {
    let tets = specimen.topology.tets().len();
    let nodes = specimen.topology.nodes();
    let points = std::cell::OnceCell::new();
    let points = || *points.get_or_init(|| march_ms(specimen, Method::ClosestPoint, 15));
    board.row(
        &format!("tet-distance/cpfm-300k-{name}"),
        "ms",
        Target::AtMost(20.0),
        || {
            Measured::new(points())
                .against("Marchal 2004, Fig. 7", "2004", 100.0)
                .note(format!("{tets} tets, {nodes} nodes"))
        },
    );
    board.row(
        &format!("tet-distance/cffm-over-cpfm-{name}"),
        "ratio",
        Target::AtMost(3.0),
        || {
            let features = march_ms(specimen, Method::ClosestFeature, 15);
            Measured::new(features / points()).note(format!("CFFM {features:.1} ms"))
        },
    );
    for (method, short) in [
        (Method::ClosestPoint, "cpfm"),
        (Method::ClosestFeature, "cffm"),
    ] {
        board.row(
            &format!("tet-distance/partial-1-percent-{short}-{name}"),
            "x",
            Target::AtLeast(5.0),
            || partial(specimen, method),
        );
    }
}

/// Marks the tetrahedra of a contact: those nearest to a point outside, until they
/// are one in a hundred.
fn contact_marks(specimen: &Specimen, share: f64) -> Vec<u32> {
    let (mut lo, mut hi) = (Vec3::splat(f32::INFINITY), Vec3::splat(f32::NEG_INFINITY));
    for &p in &specimen.positions {
        (lo, hi) = (lo.min(p), hi.max(p));
    }
    let intruder =
        Vec3::new(0.5 * (lo.x + hi.x), 0.5 * (lo.y + hi.y), lo.z) - Vec3::Z * (hi.x - lo.x);
    let mut order: Vec<(f32, u32)> = specimen
        .topology
        .tets()
        .iter()
        .enumerate()
        .map(|(t, nodes)| {
            let centre = nodes
                .map(|n| specimen.positions[n as usize])
                .iter()
                .sum::<Vec3>()
                / 4.0;
            (centre.distance(intruder), t as u32)
        })
        .collect();
    order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let count = (order.len() as f64 * share) as usize;
    order[..count].iter().map(|o| o.1).collect()
}

fn partial(specimen: &Specimen, method: Method) -> Measured {
    partial_to(specimen, method, &contact_marks(specimen, 0.01))
}

/// A box is cut in two; the tetrahedra beside the cut changed, up to a quarter of all.
fn after_cuts(board: &mut Board) {
    let cut = std::cell::OnceCell::new();
    for (share, percent) in [(0.05, 5), (0.1, 10), (0.25, 25)] {
        for (method, short) in [
            (Method::ClosestPoint, "cpfm"),
            (Method::ClosestFeature, "cffm"),
        ] {
            let row = format!("tet-distance/partial-after-cut-{percent}-percent-{short}");
            board.row(&row, "x", Target::AtLeast(1.0), || {
                let cut = cut.get_or_init(|| cut_in_two(shaken_box(37)));
                partial_to(cut, method, &marks_at_cut(cut, share))
            });
        }
    }
}

fn centre_of(specimen: &Specimen, tet: [u32; 4]) -> Vec3 {
    let corners = tet.map(|n| specimen.positions[n as usize]);
    corners.iter().sum::<Vec3>() / 4.0
}

/// The middle of a specimen along x.
fn middle(specimen: &Specimen) -> f32 {
    let xs = specimen.positions.iter().map(|p| p.x);
    let (low, high) = xs.fold((f32::INFINITY, f32::NEG_INFINITY), |(l, h), x| {
        (l.min(x), h.max(x))
    });
    0.5 * (low + high)
}

/// Opens all faces between the tetrahedra left and right of the middle.
fn cut_in_two(mut specimen: Specimen) -> Specimen {
    let middle = middle(&specimen);
    let mut tets = specimen.topology.tets().to_vec();
    let is_right = |tet: [u32; 4]| centre_of(&specimen, tet).x > middle;
    let sides: Vec<bool> = tets.iter().map(|&t| is_right(t)).collect();
    let mut on_left = vec![false; specimen.positions.len()];
    for (tet, _) in tets.iter().zip(&sides).filter(|(_, right)| !**right) {
        tet.iter().for_each(|&n| on_left[n as usize] = true);
    }
    let mut copies = vec![u32::MAX; specimen.positions.len()];
    for (tet, _) in tets.iter_mut().zip(&sides).filter(|(_, right)| **right) {
        for n in tet.iter_mut().filter(|n| on_left[**n as usize]) {
            let copy = &mut copies[*n as usize];
            if *copy == u32::MAX {
                *copy = specimen.positions.len() as u32;
                specimen.positions.push(specimen.positions[*n as usize]);
            }
            *n = *copy;
        }
    }
    specimen.topology = Topology::build(specimen.positions.len(), &tets).expect("still a mesh");
    specimen
}

/// The tetrahedra nearest to the cut, a share of all.
fn marks_at_cut(specimen: &Specimen, share: f64) -> Vec<u32> {
    let middle = middle(specimen);
    let tets = specimen.topology.tets().iter().zip(0..);
    let mut order: Vec<(f32, u32)> = tets
        .map(|(&tet, t)| ((centre_of(specimen, tet).x - middle).abs(), t))
        .collect();
    order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    order.truncate((order.len() as f64 * share) as usize);
    order.iter().map(|o| o.1).collect()
}

fn partial_to(specimen: &Specimen, method: Method, marked: &[u32]) -> Measured {
    let (topology, positions) = (&specimen.topology, &specimen.positions);
    let mut full = DepthField::new(method);
    let mut field = DepthField::new(method);
    // In turns, so that a disturbance of the machine meets both.
    let (mut full_ms, mut partial_ms) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..10 {
        full_ms = full_ms.min(best_ms(1, || full.march(topology, positions)));
        partial_ms = partial_ms.min(best_ms(1, || field.march_to(topology, positions, marked)));
    }
    let wrong = (0..topology.nodes() as u32)
        .filter(|&n| field.depth(n).is_some_and(|d| Some(d) != full.depth(n)))
        .count();
    let missing = marked
        .iter()
        .flat_map(|&t| topology.tets()[t as usize])
        .filter(|&n| field.depth(n).is_none())
        .count();
    assert_eq!(
        (wrong, missing),
        (0, 0),
        "a partial march must equal the full one"
    );
    Measured::new(full_ms / partial_ms).note(format!(
        "{partial_ms:.2} of {full_ms:.2} ms, {} of {} nodes, bit-equal",
        field.popped(),
        full.popped()
    ))
}

fn scaling(board: &mut Board) {
    board.row(
        "tet-distance/cpfm-growth-over-n-log-n",
        "exponent",
        Target::AtMost(1.1),
        || {
            let (mut points, mut text) = (Vec::new(), String::new());
            // 1,296 to 998,250 tetrahedra.
            for cells in [6, 10, 18, 32, 55] {
                let specimen = shaken_box(cells);
                let runs = if cells < 20 { 30 } else { 6 };
                let ms = march_ms(&specimen, Method::ClosestPoint, runs);
                // Inner nodes: a march computes nothing on the boundary, which is
                // most of a small mesh and little of a large one.
                let topology = &specimen.topology;
                let nodes = (topology.nodes() - topology.boundary_nodes().len()) as f64;
                points.push((nodes * nodes.ln(), ms));
                text += &format!("{} tets {ms:.3} ms, ", specimen.topology.tets().len());
            }
            Measured::new(growth_exponent(&points)).note(format!(
                "of time over n ln n, n inner nodes; {}",
                text.trim_end_matches(", ")
            ))
        },
    );
}

fn errors(board: &mut Board) {
    let start = Instant::now();
    let clock = move || start.elapsed().as_secs_f64() * 1e3;
    for (name, specimen, grids, limits) in [
        ("disc", cut_disc(), [20, 100], (8e-5, 0.008)),
        ("rectangle", slit_rectangle(), [20, 100], (3e-6, 0.001)),
        ("ball", bumpy_ball(14), [20, 60], (0.0, 0.0)),
        ("box", shaken_box(14), [20, 60], (0.0, 0.0)),
    ] {
        let table = std::cell::OnceCell::new();
        let table = || table.get_or_init(|| error_table(&specimen, &grids, 10, clock));
        let deepest = || f64::from(table()[0].depths.iter().fold(0.0_f32, |a, &b| a.max(b)));
        let all = || {
            let lines: Vec<String> = table()
                .iter()
                .map(|r| {
                    format!(
                        "{}: {:.3} ms max {:.4} mean {:.5}",
                        r.name, r.time, r.max_error, r.mean_error
                    )
                })
                .collect();
            lines.join("; ")
        };
        for (method, limit, paper) in [("CFFM", 0.1, limits.0), ("CPFM", 5.0, limits.1)] {
            board.row(
                &format!("tet-distance/mean-error-{name}-{}", method.to_lowercase()),
                "% depth",
                Target::AtMost(limit),
                || {
                    let row = table().iter().find(|r| r.name == method);
                    let mean = row.map_or(f64::NAN, |r| r.mean_error);
                    let measured = Measured::new(100.0 * mean / deepest());
                    let measured = if method == "CFFM" {
                        measured.note(format!("deepest {:.3}; {}", deepest(), all()))
                    } else {
                        measured
                    };
                    if paper > 0.0 {
                        measured.against("Marchal 2004, mean, own units", "2004", paper)
                    } else {
                        measured
                    }
                },
            );
        }
    }
}

/// Time of detection, march and response for two boxes of 24,576 tetrahedra each, at
/// twelve random placements from a touch to half the volume.
fn collision(board: &mut Board) {
    let measure = |response: Response| -> Vec<(f64, f64)> {
        let settings = CollisionSettings {
            cells: 16,
            placements: 12,
            runs: 4,
        };
        collisions(response, settings, &|| 1e3 * seconds())
            .iter()
            .map(|c| (c.tets as f64, c.time))
            .collect()
    };
    for (response, name) in [(Response::Point, "point"), (Response::Segment, "segment")] {
        board.row(
            &format!("tet-distance/collision-linear-{name}"),
            "r^2",
            Target::AtLeast(0.97),
            || {
                let points = measure(response);
                let (base, slope, r2) = line_fit(&points);
                Measured::new(r2).note(format!(
                    "{base:.2} ms + {:.2} us per colliding tet; exponent {:.2}; {} tets {:.1} ms to {} tets {:.1} ms",
                    slope * 1e3,
                    growth_exponent(&points),
                    points[0].0,
                    points[0].1,
                    points[points.len() - 1].0,
                    points[points.len() - 1].1,
                ))
            },
        );
    }
}

fn seconds() -> f64 {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_secs_f64()
}

/// The share of collision in the torus that breaks on a cube, ten steps from the
/// first touch.
fn share(board: &mut Board) {
    for (response, name, paper) in [
        (Response::Point, "point", 100.0 * 28.0 / 120.0),
        (Response::Segment, "segment", 100.0 * 36.0 / 128.0),
    ] {
        board.row(
            &format!("tet-distance/collision-share-{name}"),
            "%",
            Target::None,
            || {
                let mut scene = SoftScene::new("torus-on-cube").expect("it is one of the scenes");
                let world = scene.world_mut();
                world.set_clock(seconds);
                world.response = response;
                if response == Response::Point {
                    // About the same force: an edge is a tenth of a metre long.
                    world.stiffness *= 0.1;
                }
                let (mut collision, mut whole) = (0.0, 0.0);
                for _ in 0..10 {
                    scene.step();
                    let s = scene.stats();
                    let here = s.detect_time + s.march_time + s.respond_time;
                    collision += here;
                    whole += here + s.simulate_time;
                }
                let s = scene.stats();
                Measured::new(100.0 * collision / whole)
                    .against("Marchal 2004, Fig. 13", "2004", paper)
                    .note(format!(
                        "{collision:.2} of {whole:.2} s in ten steps; {} colliding tets, {} pushes, {} pieces",
                        s.colliding_tets,
                        s.pushes,
                        scene.pieces()
                    ))
            },
        );
    }
}

/// Intercept, slope and coefficient of determination of a straight line.
fn line_fit(points: &[(f64, f64)]) -> (f64, f64, f64) {
    let n = points.len() as f64;
    let (mx, my) = (
        points.iter().map(|p| p.0).sum::<f64>() / n,
        points.iter().map(|p| p.1).sum::<f64>() / n,
    );
    let xy: f64 = points.iter().map(|p| (p.0 - mx) * (p.1 - my)).sum();
    let xx: f64 = points.iter().map(|p| (p.0 - mx).powi(2)).sum();
    let yy: f64 = points.iter().map(|p| (p.1 - my).powi(2)).sum();
    let slope = xy / xx;
    (my - slope * mx, slope, xy * xy / (xx * yy))
}
