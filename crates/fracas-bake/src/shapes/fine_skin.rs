//! What rounded things look like: their surface, finer than their tetrahedra.
//!
//! Points of the boundary go along the gradient of the thing's own function onto its
//! surface; for things turned on a wheel see [`revolved`](super::revolved).

use fracas_core::TetMesh;
use fracas_core::dressing::{FacePoint, FineBoundary, FinePoint, FineSurface};
use glam::DVec3;

/// The signed function of a thing, and by how much the mesh is larger than it.
pub(super) struct Rounded<'a> {
    pub(super) f: &'a dyn Fn(DVec3) -> f64,
    pub(super) scale: f64,
    /// No point goes farther than this, in units of the function.
    pub(super) reach: f64,
}

impl FineSurface for Rounded<'_> {
    fn place(&self, point: &FacePoint) -> FinePoint {
        self.near(point.flat)
    }

    fn settle(&self, p: DVec3) -> Option<FinePoint> {
        Some(self.near(p))
    }
}

impl Rounded<'_> {
    fn near(&self, p: DVec3) -> FinePoint {
        let place = onto(self.f, p / self.scale, self.reach);
        let normal = gradient(self.f, place, 0.01 * self.reach);
        FinePoint {
            position: place * self.scale,
            normal: normal.normalize_or(DVec3::Y).as_vec3(),
        }
    }
}

/// Each face of a mesh in so many parts a side that theirs are about `length` long.
pub(super) fn divide(mesh: &TetMesh, length: f64, surface: &dyn FineSurface) -> FineBoundary {
    let parts = (f64::from(mesh.mean_edge_length()) / length).round();
    FineBoundary::build(mesh, parts.clamp(1.0, 8.0) as usize, surface)
}

fn gradient(f: &dyn Fn(DVec3) -> f64, p: DVec3, h: f64) -> DVec3 {
    let along = |axis: DVec3| (f(p + axis * h) - f(p - axis * h)) / (2.0 * h);
    DVec3::new(along(DVec3::X), along(DVec3::Y), along(DVec3::Z))
}

/// Newton steps onto the surface where `f` is zero. Points from which they do not get
/// there within `reach` stay.
fn onto(f: &dyn Fn(DVec3) -> f64, start: DVec3, reach: f64) -> DVec3 {
    let close = 1e-4 * reach;
    let mut p = start;
    for _ in 0..12 {
        let value = f(p);
        if value.abs() < close {
            return p;
        }
        let slope = gradient(f, p, 0.01 * reach);
        let step = slope * (value / slope.length_squared().max(1e-12));
        p -= step.clamp_length_max(0.3 * reach);
        if p.distance(start) > reach {
            break;
        }
    }
    start
}

#[cfg(test)]
mod tests {
    use crate::shapes;
    use fracas_core::TetMesh;
    use glam::DVec3;
    use std::f64::consts::PI;

    /// How far middles of triangles are off a surface: median and 99%.
    fn off(triangles: &[[DVec3; 3]], f: &dyn Fn(DVec3) -> f64) -> [f64; 2] {
        let middle = |[a, b, c]: &[DVec3; 3]| (*a + *b + *c) / 3.0;
        let mut all: Vec<f64> = triangles.iter().map(|t| f(middle(t)).abs()).collect();
        all.sort_by(f64::total_cmp);
        [all.len() / 2, all.len() * 99 / 100].map(|i| all[i])
    }

    fn boundary(mesh: &TetMesh) -> Vec<[DVec3; 3]> {
        let at = |n: u32| mesh.positions()[n as usize].as_dvec3();
        mesh.boundary().map(|face| face.nodes.map(at)).collect()
    }

    #[test]
    fn a_ball_is_round_whatever_its_size() {
        let shape = shapes::by_name("ball-sparse").unwrap();
        for scale in [1.0, 3.0] {
            let mesh = shape.build();
            let positions = mesh.positions().iter().map(|&p| p * scale as f32).collect();
            let mesh = TetMesh::build(positions, mesh.tets().to_vec()).unwrap();
            let fine = shape.fine_boundary(&mesh, scale).unwrap().triangles();
            let radius = 0.05 * scale;
            let edge = f64::from(mesh.mean_edge_length());
            for p in fine.iter().flatten() {
                assert!((p.length() - radius).abs() < 1.01e-4 * edge, "{p}");
            }
            let volume: f64 = fine.iter().map(|[a, b, c]| a.dot(b.cross(*c)) / 6.0).sum();
            let missing = 1.0 - volume / (4.0 / 3.0 * PI * radius.powi(3));
            assert!((0.0..0.003).contains(&missing), "{missing}");
            let f = |p: DVec3| p.length() - radius;
            let [_, fine] = off(&fine, &f);
            let [_, flat] = off(&boundary(&mesh), &f);
            assert!(fine < 0.8 * flat, "{fine} of {flat}");
        }
    }

    #[test]
    fn the_pig_and_the_rabbit_lie_on_their_functions_at_any_detail() {
        let things: [(&str, &dyn Fn(DVec3) -> f64); 2] = [
            ("piggy-bank", &shapes::piggy_bank),
            ("rabbit", &shapes::rabbit),
        ];
        for (name, f) in things {
            let shape = shapes::by_name(name).unwrap();
            for detail in [0.6, 1.0] {
                let mesh = shape.build_refined(detail);
                let fine = shape.fine_boundary(&mesh, 1.0).unwrap().triangles();
                let edge = f64::from(mesh.mean_edge_length());
                // Vertices are on the surface, but for a few that found no way.
                let vertices = fine.iter().flatten();
                let astray = vertices.filter(|&&p| f(p).abs() > 1e-3 * edge).count();
                assert!(astray * 1000 < fine.len(), "{name} {detail}: {astray}");
                let [median, most] = off(&fine, f);
                let [flat_median, flat_most] = off(&boundary(&mesh), f);
                println!(
                    "{name} {detail}: {} triangles, {astray} corners astray; off by {:.4} of \
                     {:.4} edges, 99% {:.4} of {:.4}",
                    fine.len(),
                    median / edge,
                    flat_median / edge,
                    most / edge,
                    flat_most / edge
                );
                // Small triangles lie along the surface, on ridges too.
                let turned = |[a, b, c]: &&[DVec3; 3]| {
                    let across = (*b - *a).cross(*c - *a).normalize_or_zero();
                    let normal = super::gradient(f, (*a + *b + *c) / 3.0, 1e-2 * edge);
                    across.dot(normal.normalize_or_zero()) < 0.5
                };
                let askew = fine.iter().filter(turned).count();
                println!("{name} {detail}: {askew} triangles askew by more than 60 degrees");
                assert!(askew * 200 < fine.len(), "{name} {detail}: {askew}");
                // Middles of flat faces are as often in front of the surface as behind it:
                // most of them are close.
                assert!(median < flat_median, "{name} {detail}");
                assert!(most < 0.5 * flat_most, "{name} {detail}");
            }
        }
    }

    #[test]
    fn plates_and_bowls_are_round_and_bricks_are_what_they_are() {
        for (name, radius) in [("plate", 0.130), ("bowl", 0.080)] {
            let shape = shapes::by_name(name).unwrap();
            let mesh = shape.build();
            let fine = shape.fine_boundary(&mesh, 1.0).unwrap();
            let all = fine.triangles();
            // The outermost points of the upper side are on one circle.
            let high = all.iter().flatten().map(|p| p.y).fold(0.0, f64::max);
            let rim: Vec<f64> = all
                .iter()
                .flatten()
                .filter(|p| p.y > high - 1e-6)
                .map(|p| p.x.hypot(p.z))
                .collect();
            assert!(rim.len() > 200, "{name}");
            for r in rim {
                assert!((r - radius).abs() < 1e-6, "{name}: {r}");
            }
            // Nodes are where they were.
            let flat = f64::from(mesh.volume() as f32);
            let volume: f64 = all.iter().map(|[a, b, c]| a.dot(b.cross(*c)) / 6.0).sum();
            assert!(
                (volume / flat - 1.0).abs() < 0.02,
                "{name}: {volume} {flat}"
            );
        }
        let brick = shapes::by_name("brick").unwrap();
        assert!(brick.fine_boundary(&brick.build(), 1.0).is_none());
    }
}
