//! Where a mesh strays from the surface, so that the next lattice is finer there.
//!
//! A first mesh is compared with the surface, both ways: samples of the input against
//! the mesh's boundary, and the middles of the boundary's faces against the input.
//! Where they are farther apart than a part of the mean edge, a mark asks for cells of
//! half the size of the face at fault. So ridges, tips and narrow bends get the
//! tetrahedra that flat places do not need.

use glam::DVec3;

use super::bvh::Bvh;
use super::domain::Domain;
use super::stuffing::Stuffed;
use super::surface_domain::SurfaceDomain;
use super::topology;
use crate::SurfaceMesh;

/// At most so many samples of the input.
const SAMPLES: usize = 20_000;

/// Places that need smaller cells.
#[derive(Debug)]
pub(super) struct Marks {
    tree: Bvh,
    sizes: Vec<f64>,
}

/// A place where a mesh strays.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stray {
    place: DVec3,
    /// How far, over the mean edge.
    deviation: f64,
    /// Longest edge of the face at fault.
    size: f64,
}

/// Finds where `mesh` strays by more than `least` of its mean edge.
pub(super) fn strays(
    domain: &dyn Domain,
    surface: Option<(&SurfaceDomain, &SurfaceMesh)>,
    mesh: &Stuffed,
    least: f64,
) -> Vec<Stray> {
    let faces: Vec<[u32; 3]> = topology::boundary(&mesh.tets, &topology::neighbours(&mesh.tets))
        .into_iter()
        .map(|f| f.0)
        .collect();
    let edge = mean_edge(mesh);
    let longest = |[a, b, c]: [DVec3; 3]| a.distance(b).max(b.distance(c)).max(c.distance(a));
    let mut out = Vec::new();
    for face in &faces {
        let corners = face.map(|n| mesh.positions[n as usize]);
        let place = (corners[0] + corners[1] + corners[2]) / 3.0;
        let distance = domain.distance(place, 2.0 * edge).abs();
        if distance > least * edge {
            out.push(Stray {
                place,
                deviation: distance / edge,
                size: longest(corners),
            });
        }
    }
    if let Some((domain, surface)) = surface {
        let tree = Bvh::build(&mesh.positions, &faces);
        for (place, normal) in samples(surface, edge) {
            if tree.closest(place, least * edge).is_some() || !domain.bounds_solid(place, normal) {
                continue;
            }
            if let Some(found) = tree.closest(place, f64::INFINITY) {
                out.push(Stray {
                    place,
                    deviation: found.distance_squared.sqrt() / edge,
                    size: longest(tree.corners[found.entry as usize]),
                });
            }
        }
    }
    out
}

impl Marks {
    /// Marks the strays above `tolerance`; `None` if there are none.
    pub(super) fn new(strays: &[Stray], tolerance: f64) -> Option<Self> {
        let kept: Vec<&Stray> = strays.iter().filter(|s| s.deviation > tolerance).collect();
        if kept.is_empty() {
            return None;
        }
        let points: Vec<DVec3> = kept.iter().map(|s| s.place).collect();
        let entries: Vec<[u32; 3]> = (0..points.len() as u32).map(|i| [i; 3]).collect();
        Some(Self {
            tree: Bvh::build(&points, &entries),
            sizes: kept.iter().map(|s| 0.5 * s.size).collect(),
        })
    }

    /// The size asked for by the mark nearest to `p`, if there is one within `reach`.
    pub(super) fn size_at(&self, p: DVec3, reach: f64) -> Option<f64> {
        let found = self.tree.closest(p, reach)?;
        Some(self.sizes[self.tree.order[found.entry as usize] as usize])
    }
}

fn mean_edge(mesh: &Stuffed) -> f64 {
    let (mut sum, mut count) = (0.0, 0.0);
    for tet in &mesh.tets {
        for [i, j] in fracas_core::tet_mesh::TET_EDGES {
            sum += mesh.positions[tet[i] as usize].distance(mesh.positions[tet[j] as usize]);
            count += 1.0;
        }
    }
    if count > 0.0 { sum / count } else { 0.0 }
}

/// Points of the input's triangles about `step` apart, thinned out, with normals.
fn samples(surface: &SurfaceMesh, step: f64) -> Vec<(DVec3, DVec3)> {
    let mut out = Vec::new();
    for t in 0..surface.triangles().len() as u32 {
        let [a, b, c] = surface.corners(t);
        let normal = (b - a).cross(c - a).normalize_or_zero();
        let longest = a.distance(b).max(b.distance(c)).max(c.distance(a));
        let n = (longest / step).ceil().clamp(1.0, 60.0) as u32;
        out.push(((a + b + c) / 3.0, normal));
        for i in 0..=n {
            for j in 0..=n - i {
                let (u, v) = (f64::from(i) / f64::from(n), f64::from(j) / f64::from(n));
                out.push((a + (b - a) * u + (c - a) * v, normal));
            }
        }
    }
    let stride = out.len().div_ceil(SAMPLES).max(1);
    out.into_iter().step_by(stride).collect()
}
