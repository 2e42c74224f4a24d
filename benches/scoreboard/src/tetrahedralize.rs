//! Tetrahedra out: quality, fidelity and speed of the mesher on the public models.

use std::time::Instant;

use fracas_bake::SurfaceMesh;
use fracas_bake::tetrahedralize::{
    Grading, Hausdorff, Options, Report, boundary_topology, hausdorff, shell, surface,
};
use fracas_conformance::data;
use fracas_core::testing::unit_cube;
use glam::{DMat3, DVec3};

use crate::board::{Board, Measured, Target, best_ms};

/// Models, their files and the count at which they are judged.
const MODELS: [(&str, &str, usize); 9] = [
    ("bunny", "surface/bunny_manifold_hr.obj", 20_000),
    ("spot", "surface/spot.obj", 20_000),
    ("mug", "surface/mug.obj", 60_000),
    ("cow", "surface/cow.off", 20_000),
    ("elephant", "surface/elephant.off", 20_000),
    ("knot", "surface/knot1.off", 20_000),
    ("screw", "surface/screw-big.obj", 20_000),
    ("snowflake", "surface/snowflake.obj", 20_000),
    ("dragon", "surface/dragon_100k_watertight.obj", 60_000),
];

/// Rows of the mesher.
pub fn rows(board: &mut Board) {
    if !board.wants_group("tetrahedralize") {
        return;
    }
    for (name, file, count) in MODELS {
        model(board, name, file, count);
    }
    bricks(board);
    finer(board);
    grading(board);
    shells(board);
    speed(board);
}

fn load(file: &str) -> Option<SurfaceMesh> {
    Some(fracas_bake::read_surface(data::find(file)?).ok()?.0)
}

struct Judged {
    tets: usize,
    report: Report,
    volume_error: f64,
    apart: Hausdorff,
    edge: f64,
    seconds: f64,
}

fn judge(input: &SurfaceMesh, options: &Options) -> Result<Judged, String> {
    let start = Instant::now();
    let made = surface(input, options).map_err(|e| e.to_string())?;
    let seconds = start.elapsed().as_secs_f64();
    let edge = f64::from(made.mesh().mean_edge_length());
    Ok(Judged {
        tets: made.mesh().tets().len(),
        report: made.report().clone(),
        volume_error: 100.0 * (made.report().volume / input.volume().abs() - 1.0),
        apart: hausdorff(input, made.mesh(), 0.2 * edge),
        edge,
        seconds,
    })
}

fn model(board: &mut Board, name: &str, file: &str, count: usize) {
    let group = format!("tetrahedralize/{name}");
    if !board.wants_group(&group) {
        return;
    }
    let Some(input) = load(file) else {
        board.skip(&group, "needs the public models");
        return;
    };
    let judged = match judge(&input, &Options::tets(count)) {
        Ok(judged) => judged,
        Err(error) => {
            board.row(&group, "failed", Target::AtMost(0.0), || {
                Measured::new(1.0).note(error)
            });
            return;
        }
    };
    let Judged {
        tets,
        report,
        volume_error,
        apart,
        edge,
        seconds,
    } = judged;
    let row = |board: &mut Board, what: &str, unit, target, value: f64, note: String| {
        board.row(&format!("{group}-{what}"), unit, target, || {
            Measured::new(value).note(note)
        });
    };
    let wanted = count as f64;
    let within = Target::Between(0.9 * wanted, 1.1 * wanted);
    let note = format!("{seconds:.2} s wall clock with the count's search");
    row(board, "tets", "tets", within, tets as f64, note);
    let volume = Target::Between(-2.0, 2.0);
    row(
        board,
        "volume-error",
        "%",
        volume,
        volume_error,
        String::new(),
    );
    let far = apart.surface_to_mesh.max(apart.mesh_to_surface) / edge;
    let note = format!(
        "{:.2} input to mesh, {:.2} back, rms {:.3}; {:.2} of the lattice spacing",
        apart.surface_to_mesh / edge,
        apart.mesh_to_surface / edge,
        apart.rms / edge,
        far * edge / report.spacing,
    );
    row(board, "hausdorff", "edges", Target::AtMost(0.5), far, note);
    let angles = report.angles;
    let note = format!("largest {:.0}", angles.max);
    row(
        board,
        "min-dihedral",
        "deg",
        Target::AtLeast(5.0),
        angles.min,
        note,
    );
    let least = Target::AtLeast(10.0);
    row(
        board,
        "dihedral-99.9%",
        "deg",
        least,
        angles.per_mille,
        String::new(),
    );
    let bad = (report.boundary.bad_edges + report.boundary.bad_nodes) as f64;
    let note = format!(
        "{} nodes copied, {} tets removed, {} crumbs dropped on the way",
        report.copied_nodes, report.removed_tets, report.dropped_pieces
    );
    row(
        board,
        "non-manifold",
        "places",
        Target::AtMost(0.0),
        bad,
        note,
    );
    let input_genus = boundary_topology(input.positions().len(), input.triangles()).genus();
    if let (Some(before), Some(after)) = (input_genus, report.boundary.genus()) {
        let same = Target::Between(before as f64, before as f64);
        row(board, "genus", "handles", same, after as f64, String::new());
    }
}

/// A box of triangles, turned.
fn brick(sides: DVec3) -> (SurfaceMesh, Vec<DVec3>) {
    let turn = DMat3::from_axis_angle(DVec3::new(1.0, 2.0, 3.0).normalize(), 0.7);
    let (corners, triangles) = unit_cube();
    let place = |p: DVec3| turn * (p * sides);
    let positions: Vec<DVec3> = corners.into_iter().map(place).collect();
    let mesh = SurfaceMesh::build(positions.clone(), triangles).expect("a box");
    (mesh, positions)
}

fn bricks(board: &mut Board) {
    for (name, sides, count) in [
        ("brick", DVec3::new(0.215, 0.1025, 0.065), 5_000),
        ("plate", DVec3::new(1.2, 1.2, 0.1), 5_000),
    ] {
        board.row(
            &format!("tetrahedralize/{name}-corner-error"),
            "% edge",
            Target::AtMost(5.0),
            || {
                let (input, corners) = brick(sides);
                let made = surface(&input, &Options::tets(count)).expect("a box can be filled");
                let mesh = made.mesh();
                let worst = corners
                    .iter()
                    .map(|c| {
                        mesh.positions()
                            .iter()
                            .map(|p| p.as_dvec3().distance(*c))
                            .fold(f64::INFINITY, f64::min)
                    })
                    .fold(0.0, f64::max);
                let edge = f64::from(mesh.mean_edge_length());
                let apart = hausdorff(&input, mesh, 0.2 * edge);
                let off = apart.mesh_to_surface.max(apart.surface_to_mesh) / edge;
                let angles = made.report().angles;
                Measured::new(100.0 * worst / edge).note(format!(
                    "turned; {} tets, faces and edges off by {off:.1e} edges, dihedral {:.0} to {:.0} deg",
                    mesh.tets().len(),
                    angles.min,
                    angles.max
                ))
            },
        );
    }
}

fn finer(board: &mut Board) {
    let Some(input) = load("surface/bunny_npm_3674.obj") else {
        board.skip("tetrahedralize/bunny-100k-volume-error", "needs the bunny");
        return;
    };
    board.row(
        "tetrahedralize/bunny-100k-volume-error",
        "%",
        Target::Between(-1.0, 1.0),
        || {
            let made = surface(&input, &Options::tets(100_000)).expect("the bunny can be filled");
            let error = made.report().volume / input.volume() - 1.0;
            Measured::new(100.0 * error).note(format!("{} tets", made.mesh().tets().len()))
        },
    );
}

fn grading(board: &mut Board) {
    let Some(input) = load("surface/bunny_npm_3674.obj") else {
        board.skip("tetrahedralize/graded-saves", "needs the bunny");
        return;
    };
    board.row("tetrahedralize/graded-saves", "%", Target::None, || {
        let (low, high) = input.bounds();
        let edge = (high - low).max_element() / 50.0;
        let count = |grading| {
            let options = Options::edge_length(edge).with_grading(grading);
            let made = surface(&input, &options).expect("the bunny can be filled");
            made.mesh().tets().len() as f64
        };
        let (graded, uniform) = (count(Grading::Graded), count(Grading::Uniform));
        Measured::new(100.0 * (1.0 - graded / uniform)).note(format!(
            "bunny, edges of 1/50 of its size: {graded} tets graded, {uniform} uniform"
        ))
    });
}

fn shells(board: &mut Board) {
    let Some(input) = load("surface/spot.obj") else {
        board.skip("tetrahedralize/shell-min-dihedral", "needs spot");
        return;
    };
    board.row(
        "tetrahedralize/shell-min-dihedral",
        "deg",
        Target::AtLeast(5.0),
        || {
            let made = shell(&input, 0.03, 1).expect("spot can be hollowed");
            let report = made.made.report();
            Measured::new(report.angles.min).note(format!(
                "spot, wall 0.03: {} tets, manifold {}, {} of {} vertices thinner",
                made.made.mesh().tets().len(),
                report.boundary.is_manifold(),
                made.thinned,
                input.positions().len()
            ))
        },
    );
}

fn speed(board: &mut Board) {
    let Some(input) = load("surface/spot.obj") else {
        board.skip("tetrahedralize/20k-time", "needs spot");
        return;
    };
    for (name, count, runs, limit) in [
        ("tetrahedralize/20k-time", 20_000, 3, 1.0),
        ("tetrahedralize/300k-time", 300_000, 1, 20.0),
    ] {
        board.row(name, "s", Target::AtMost(limit), || {
            let mut tets = 0;
            let mut processor = f64::INFINITY;
            let wall = best_ms(runs, || {
                let before = processor_seconds();
                let made = surface(&input, &Options::tets(count)).expect("spot can be filled");
                tets = made.mesh().tets().len();
                if let (Some(before), Some(after)) = (before, processor_seconds()) {
                    processor = processor.min(after - before);
                }
            }) / 1e3;
            let (value, clock) = if processor.is_finite() {
                (processor, "processor time")
            } else {
                (wall, "wall clock")
            };
            Measured::new(value).note(format!(
                "{clock}; spot, {tets} tets with search and improvement; best of {runs}; {wall:.2} s wall clock"
            ))
        });
    }
}

/// Time that this process has spent on a processor so far, which other processes do not
/// lengthen; known on Linux only (in ticks of 10 ms).
fn processor_seconds() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // User and system time are the 12th and 13th fields after the name in brackets.
    let fields: Vec<&str> = stat.rsplit(')').next()?.split_whitespace().collect();
    let ticks: f64 = fields.get(11)?.parse::<f64>().ok()? + fields.get(12)?.parse::<f64>().ok()?;
    Some(ticks / 100.0)
}
