//! How well the cost metric tells good trees from bad ones [Heo 2010, §5.2.1]: many
//! random trees of one mesh, metric against observed overlap tests.

use fracas_fastcd::{Builder, Culling, Detection, FastBvh, Restructuring, Scratch, Settings};
use glam::{DVec3, dvec3};

use crate::sequences::shapes::{Mesh, icosphere, sheet};

/// Metric and observed overlap tests of one tree.
pub type Observation = (f64, f64);

/// One mesh's trees.
#[derive(Clone, Debug)]
pub struct MetricPoints {
    /// The mesh.
    pub name: &'static str,
    /// Against another body.
    pub inter: Vec<Observation>,
    /// Against itself.
    pub own: Vec<Observation>,
}

/// The meshes: a ball, a bumpy one, a folded cloth.
pub const MESHES: [&str; 3] = ["ball", "bumpy ball", "folded cloth"];

/// Builds `trees` random trees of a mesh, and asks each with `poses` small balls.
///
/// # Panics
/// When there is no such mesh.
#[must_use]
pub fn observe(mesh: usize, trees: u64, poses: usize) -> MetricPoints {
    let made = [|| icosphere(4), bumpy, folded][mesh]();
    let probe = icosphere(1);
    let mut scratch = Scratch::default();
    let mut pairs = Vec::new();
    let mut points = MetricPoints {
        name: MESHES[mesh],
        inter: Vec::new(),
        own: Vec::new(),
    };
    for seed in 0..trees {
        let mut scene = FastBvh::new(Settings {
            detection: Detection::Discrete,
            culling: Culling::StarContour,
            builder: Builder::RandomAxis { seed },
            restructuring: Restructuring::Never,
            ..Settings::default()
        });
        scene.add(&made.0, &made.1).expect("valid");
        let costs = scene.update();
        let alone = scene.intersections(&mut scratch, &mut pairs).overlap_tests as f64;
        points.own.push((costs.cost_self, alone));
        let mut more = 0.0;
        for pose in 0..poses {
            let turn = pose as f64 * 2.4;
            let at = dvec3(
                libm::cos(turn),
                libm::sin(turn),
                (pose as f64 / poses as f64 - 0.5) * 1.2,
            );
            let positions: Vec<DVec3> = probe.0.iter().map(|p| at * 0.9 + *p * 0.3).collect();
            let mut with = scene.clone();
            with.add(&positions, &probe.1).expect("valid");
            with.update();
            more += with.intersections(&mut scratch, &mut pairs).overlap_tests as f64 - alone;
        }
        points.inter.push((costs.cost_inter, more));
    }
    points
}

/// Pearson's coefficient of correlation.
#[must_use]
pub fn correlation(points: &[Observation]) -> f64 {
    let n = points.len() as f64;
    let (mx, my) = (
        points.iter().map(|p| p.0).sum::<f64>() / n,
        points.iter().map(|p| p.1).sum::<f64>() / n,
    );
    let sum = |f: &dyn Fn(&Observation) -> f64| points.iter().map(f).sum::<f64>();
    let covariance = sum(&|p| (p.0 - mx) * (p.1 - my));
    covariance
        / (sum(&|p| (p.0 - mx).powi(2)) * sum(&|p| (p.1 - my).powi(2)))
            .sqrt()
            .max(f64::MIN_POSITIVE)
}

fn bumpy() -> Mesh {
    let (positions, triangles) = icosphere(4);
    let bump = |p: &DVec3| *p * (1.0 + 0.25 * libm::sin(6.0 * p.x) * libm::cos(5.0 * p.y));
    (positions.iter().map(bump).collect(), triangles)
}

fn folded() -> Mesh {
    let (positions, triangles) = sheet(50, 50);
    let fold = |p: &DVec3| dvec3(p.x, p.y, 0.3 * libm::sin(7.0 * p.x));
    (positions.iter().map(fold).collect(), triangles)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn correlation_of_known_points() {
        assert!((correlation(&[(0.0, 0.0), (1.0, 2.0), (2.0, 4.0)]) - 1.0).abs() < 1e-12);
        assert!((correlation(&[(0.0, 1.0), (1.0, 0.0)]) + 1.0).abs() < 1e-12);
        let points = observe(0, 6, 2);
        assert_eq!((points.inter.len(), points.own.len()), (6, 6));
        assert!(points.inter.iter().all(|p| p.0 > 0.0 && p.1 > 0.0));
    }
}
