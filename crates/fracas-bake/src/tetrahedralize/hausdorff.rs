//! How far two surfaces are apart, both ways.
//!
//! Each surface is covered with samples no farther apart than a given step; the
//! distance of each sample to the other surface is exact (closest point by a tree).
//! Distance changes by at most one per unit of length, so the true one-sided
//! Hausdorff distance lies between the largest sampled value and that plus the step.
//!
//! Parts of the input that lie inside the solid (surfaces that run through one
//! another) are no part of its boundary and do not count.

use fracas_core::TetMesh;
use glam::DVec3;

use super::bvh::Bvh;
use super::surface_domain::SurfaceDomain;
use crate::SurfaceMesh;

/// One-sided distances.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hausdorff {
    /// From the input surface to the mesh's boundary: what the mesh misses.
    pub surface_to_mesh: f64,
    /// From the mesh's boundary to the input surface: what it adds.
    pub mesh_to_surface: f64,
    /// The root mean square of the latter.
    pub rms: f64,
}

/// Measures with samples at most `step` apart.
#[must_use]
pub fn hausdorff(surface: &SurfaceMesh, mesh: &TetMesh, step: f64) -> Hausdorff {
    let positions: Vec<DVec3> = mesh.positions().iter().map(|p| p.as_dvec3()).collect();
    let faces: Vec<[u32; 3]> = mesh.boundary().map(|f| f.nodes).collect();
    let a = Bvh::build(surface.positions(), surface.triangles());
    let b = Bvh::build(&positions, &faces);
    let solid = SurfaceDomain::new(surface.positions(), surface.triangles());
    let outer = |p: DVec3, normal: DVec3| solid.bounds_solid(p, normal);
    let (surface_to_mesh, _) = one_way(&a, &b, step, &outer);
    let (mesh_to_surface, rms) = one_way(&b, &a, step, &|_, _| true);
    Hausdorff {
        surface_to_mesh,
        mesh_to_surface,
        rms,
    }
}

/// A point where the surface and the mesh's boundary are farthest apart, and how far
/// that is: seen from the corners and middles of both, so a place to look at, no bound.
#[must_use]
pub fn farthest_apart(surface: &SurfaceMesh, mesh: &TetMesh) -> (DVec3, f64) {
    let positions: Vec<DVec3> = mesh.positions().iter().map(|p| p.as_dvec3()).collect();
    let faces: Vec<[u32; 3]> = mesh.boundary().map(|f| f.nodes).collect();
    let a = Bvh::build(surface.positions(), surface.triangles());
    let b = Bvh::build(&positions, &faces);
    let mut worst = (DVec3::ZERO, -1.0);
    for (from, to) in [(&a, &b), (&b, &a)] {
        for &[p, q, r] in &from.corners {
            for at in [p, q, r, (p + q + r) / 3.0] {
                let squared = to
                    .closest(at, f64::INFINITY)
                    .map_or(0.0, |c| c.distance_squared);
                if squared > worst.1 {
                    worst = (at, squared);
                }
            }
        }
    }
    (worst.0, f64::max(worst.1, 0.0).sqrt())
}

/// Largest and root mean square distance of samples of `from` that count to `to`.
fn one_way(from: &Bvh, to: &Bvh, step: f64, counts: &dyn Fn(DVec3, DVec3) -> bool) -> (f64, f64) {
    let (mut largest, mut squares, mut weight) = (0.0_f64, 0.0, 0.0);
    for (entry, &[a, b, c]) in from.corners.iter().enumerate() {
        let normal = from.normal(entry as u32);
        let longest = a.distance(b).max(b.distance(c)).max(c.distance(a));
        // A grid of n parts a side: no point is farther than a part from a sample.
        let n = (longest / step).ceil().clamp(1.0, 200.0) as u32;
        let area = (b - a).cross(c - a).length() / f64::from((n + 1) * (n + 2));
        for i in 0..=n {
            for j in 0..=n - i {
                let (u, v) = (f64::from(i) / f64::from(n), f64::from(j) / f64::from(n));
                let p = a + (b - a) * u + (c - a) * v;
                let d = to
                    .closest(p, f64::INFINITY)
                    .map_or(f64::INFINITY, |q| q.distance_squared);
                // Asked only where it matters: it is the costlier question.
                if d > largest && counts(p, normal) {
                    largest = d;
                }
                squares += d * area;
                weight += area;
            }
        }
    }
    (
        largest.sqrt(),
        (squares / weight.max(f64::MIN_POSITIVE)).sqrt(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use fracas_core::testing::box_grid;
    use glam::Vec3;

    #[test]
    fn a_larger_box_is_a_corner_away() {
        let mesh = box_grid([2, 2, 2], Vec3::splat(1.0));
        let positions: Vec<DVec3> = mesh.positions().iter().map(|p| p.as_dvec3()).collect();
        let faces: Vec<[u32; 3]> = mesh.boundary().map(|f| f.nodes).collect();
        let centre = positions.iter().sum::<DVec3>() / positions.len() as f64;
        let same = SurfaceMesh::repair(positions.clone(), &faces).unwrap().0;
        let h = hausdorff(&same, &mesh, 0.1);
        assert_eq!((h.surface_to_mesh, h.mesh_to_surface), (0.0, 0.0));
        let grown = positions
            .iter()
            .map(|&p| centre + (p - centre) * 1.2)
            .collect();
        let grown = SurfaceMesh::repair(grown, &faces).unwrap().0;
        let h = hausdorff(&grown, &mesh, 0.05);
        assert!((h.surface_to_mesh - 0.1 * 3.0_f64.sqrt()).abs() < 1e-6);
        assert!((h.mesh_to_surface - 0.1).abs() < 1e-6);
    }
}
