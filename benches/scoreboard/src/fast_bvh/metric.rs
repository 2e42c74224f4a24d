//! How well the cost metric tells good trees from bad ones [Heo 2010, §5.2.1]: many
//! random trees of one mesh, metric against observed overlap tests.

use fracas::fast_bvh::{Builder, Culling, Detection, FastBvh, Restructuring, Scratch, Settings};
use fracas_scenes::sequences::shapes::{Mesh, icosphere, sheet};
use glam::{DVec3, dvec3};

use crate::board::{Board, Measured, Target};

const TREES: u64 = 60;
const POSES: usize = 12;

/// Rows of the correlation.
pub fn rows(board: &mut Board) {
    let meshes: [(&str, Mesh); 3] = [
        ("ball", icosphere(4)),
        ("bumpy", bumpy()),
        ("cloth", folded()),
    ];
    let (mut inter, mut own, mut text) = (0.0, 0.0, String::new());
    if !board.wants_row("fast-bvh/metric-inter") && !board.wants_row("fast-bvh/metric-self") {
        return;
    }
    for (name, mesh) in &meshes {
        let (i, s) = correlations(mesh);
        inter += i / meshes.len() as f64;
        own += s / meshes.len() as f64;
        text += &format!("{name} {i:.2}/{s:.2} ");
    }
    board.row(
        "fast-bvh/metric-inter-correlation",
        "r",
        Target::None,
        || {
            Measured::new(inter)
                .against("Heo 2010", "2010", 0.71)
                .note(format!("inter/self per mesh: {text}"))
        },
    );
    board.row(
        "fast-bvh/metric-self-correlation",
        "r",
        Target::None,
        || Measured::new(own).against("Heo 2010", "2010", 0.48),
    );
}

fn correlations(mesh: &Mesh) -> (f64, f64) {
    let probe = icosphere(1);
    let mut scratch = Scratch::default();
    let mut pairs = Vec::new();
    let (mut inter, mut own) = (Vec::new(), Vec::new());
    for seed in 0..TREES {
        let mut scene = FastBvh::new(Settings {
            detection: Detection::Discrete,
            culling: Culling::StarContour,
            builder: Builder::RandomAxis { seed },
            restructuring: Restructuring::Never,
            ..Settings::default()
        });
        scene.add(&mesh.0, &mesh.1).expect("valid");
        let costs = scene.update();
        let alone = scene.intersections(&mut scratch, &mut pairs).overlap_tests as f64;
        own.push((costs.cost_self, alone));
        let mut more = 0.0;
        for pose in 0..POSES {
            let turn = pose as f64 * 2.4;
            let at = dvec3(
                turn.cos(),
                turn.sin(),
                (pose as f64 / POSES as f64 - 0.5) * 1.2,
            );
            let positions: Vec<DVec3> = probe.0.iter().map(|p| at * 0.9 + *p * 0.3).collect();
            let mut with = scene.clone();
            with.add(&positions, &probe.1).expect("valid");
            with.update();
            more += with.intersections(&mut scratch, &mut pairs).overlap_tests as f64 - alone;
        }
        inter.push((costs.cost_inter, more));
    }
    (pearson(&inter), pearson(&own))
}

fn pearson(points: &[(f64, f64)]) -> f64 {
    let n = points.len() as f64;
    let (mx, my) = (
        points.iter().map(|p| p.0).sum::<f64>() / n,
        points.iter().map(|p| p.1).sum::<f64>() / n,
    );
    let sum = |f: &dyn Fn(&(f64, f64)) -> f64| points.iter().map(f).sum::<f64>();
    let covariance = sum(&|p| (p.0 - mx) * (p.1 - my));
    covariance
        / (sum(&|p| (p.0 - mx).powi(2)) * sum(&|p| (p.1 - my).powi(2)))
            .sqrt()
            .max(f64::MIN_POSITIVE)
}

fn bumpy() -> Mesh {
    let (positions, triangles) = icosphere(4);
    let bump = |p: &DVec3| *p * (1.0 + 0.25 * (6.0 * p.x).sin() * (5.0 * p.y).cos());
    (positions.iter().map(bump).collect(), triangles)
}

fn folded() -> Mesh {
    let (positions, triangles) = sheet(50, 50);
    let fold = |p: &DVec3| dvec3(p.x, p.y, 0.3 * (7.0 * p.x).sin());
    (positions.iter().map(fold).collect(), triangles)
}
