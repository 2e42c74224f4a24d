//! Thin walls without a lattice: the surface and its inward offset, tetrahedra between.
//!
//! 1. Each vertex gets an inward direction: the mean of its triangles' normals weighted
//!    by angle, and a depth: the wall's thickness, but at most 0.4 of the way to the
//!    opposite side.
//! 2. Each triangle and its copies below make prisms, `layers` of them. With the
//!    corners sorted a < b < c, a prism is the tetrahedra (a, b, c, a'), (b, c, a', b'),
//!    (c, a', b', c'): neighbours split their common side alike, since both sort by the
//!    same indices.
//! 3. Where a tetrahedron is not positive or too flat, the depth of its vertices is
//!    halved, and all is checked again.
//! 4. Nodes below the surface whose tetrahedra are still flat move, by less than half
//!    their depth, to where their worst angle is best.
//!
//! **Guarantee.** The outer boundary is the input, triangle by triangle. Needs a
//! closed, consistently oriented manifold. The wall is as thick as asked where the
//! shape allows, thinner in sharp edges and narrow places; [`Shell::thinned`] counts those.

use fracas_core::TetMesh;
use glam::DVec3;

use super::bvh::Bvh;
use super::quality::{self, min_sine};
use super::topology::boundary_topology;
use super::{Report, Tetrahedralization, TetrahedralizeError};
use crate::SurfaceMesh;

/// A tetrahedron with a smaller sine of a dihedral angle counts as not positive. More
/// is not asked for: a shallower wall makes flat tetrahedra flatter still.
const FLATTEST: f64 = 0.01;
/// How often a depth may be halved.
const HALVINGS: usize = 10;
/// Part of the way to the opposite side that a wall may take.
const OPPOSITE: f64 = 0.4;
/// Nodes of tetrahedra with a smaller sine move: that of 12 degrees.
const GOAL: f64 = 0.21;
/// How far they go at most, as a part of their depth.
const WAY: f64 = 0.45;
/// How often all are looked at.
const SWEEPS: usize = 30;

/// A shell and how well it went.
#[derive(Clone, Debug, PartialEq)]
pub struct Shell {
    /// The tetrahedra.
    pub made: Tetrahedralization,
    /// Vertices under which the wall is thinner than asked.
    pub thinned: usize,
}

/// Extrudes a closed surface inward by `thickness`, in `layers` of tetrahedra.
///
/// # Errors
/// An option out of range, a surface that is not closed and manifold, or one whose
/// walls cannot be made positive.
pub fn shell(
    surface: &SurfaceMesh,
    thickness: f64,
    layers: usize,
) -> Result<Shell, TetrahedralizeError> {
    if !(thickness > 0.0 && thickness.is_finite()) {
        return Err(TetrahedralizeError::BadOption {
            option: "the wall's thickness",
            value: thickness,
            expected: "positive and finite",
        });
    }
    if !(1..=64).contains(&layers) {
        return Err(TetrahedralizeError::BadOption {
            option: "the number of layers",
            value: layers as f64,
            expected: "from 1 to 64",
        });
    }
    let count = surface.positions().len();
    let topology = boundary_topology(count, surface.triangles());
    if !topology.is_manifold() {
        return Err(TetrahedralizeError::NotClosed {
            edges: topology.bad_edges,
            vertices: topology.bad_nodes,
        });
    }
    let normals = vertex_normals(surface);
    let mut depths = first_depths(surface, &normals, thickness);
    let triangles = prisms(surface, layers);
    let place = |depths: &[f64], node: u32| {
        let (layer, v) = (node as usize / count, node as usize % count);
        let part = layer as f64 / layers as f64;
        surface.positions()[v] - normals[v] * (depths[v] * part)
    };
    for _ in 0..HALVINGS {
        let mut narrow = vec![false; count];
        for tet in &triangles {
            if min_sine(tet.map(|n| place(&depths, n))) < FLATTEST {
                for n in tet {
                    narrow[*n as usize % count] = true;
                }
            }
        }
        if !narrow.contains(&true) {
            break;
        }
        for (depth, _) in depths.iter_mut().zip(&narrow).filter(|(_, n)| **n) {
            *depth *= 0.5;
        }
    }
    let mut positions: Vec<DVec3> = (0..(count * (layers + 1)) as u32)
        .map(|n| place(&depths, n))
        .collect();
    move_below(&mut positions, &triangles, &normals);
    let angles = quality::angles(&positions, &triangles);
    let mesh = TetMesh::build(positions.iter().map(|p| p.as_vec3()).collect(), triangles)?;
    let faces: Vec<[u32; 3]> = mesh.boundary().map(|f| f.nodes).collect();
    let report = Report {
        spacing: thickness / layers as f64,
        volume: mesh.volume(),
        angles,
        boundary: boundary_topology(mesh.positions().len(), &faces),
        dropped_pieces: 0,
        dropped_volume: 0.0,
        copied_nodes: 0,
        removed_tets: 0,
        enclosed: None,
        lids: 0,
        thickened: None,
        crosses_itself: false,
    };
    Ok(Shell {
        made: Tetrahedralization { mesh, report },
        thinned: depths.iter().filter(|d| **d < 0.999 * thickness).count(),
    })
}

/// Tetrahedra of all prisms; node v of layer l is l * vertices + v.
fn prisms(surface: &SurfaceMesh, layers: usize) -> Vec<[u32; 4]> {
    let count = surface.positions().len() as u32;
    let mut out = Vec::with_capacity(3 * layers * surface.triangles().len());
    for triangle in surface.triangles() {
        let mut sorted = *triangle;
        sorted.sort_unstable();
        // An even permutation keeps the orientation.
        let even =
            (0..3).any(|k| [triangle[k], triangle[(k + 1) % 3], triangle[(k + 2) % 3]] == sorted);
        for layer in 0..layers as u32 {
            let [a, b, c] = sorted.map(|v| v + layer * count);
            let [d, e, f] = [a, b, c].map(|v| v + count);
            // The triangle looks out and its copy lies inside: all three are negative
            // as listed if the sorted triangle looks out, too.
            for mut tet in [[a, b, c, d], [b, c, d, e], [c, d, e, f]] {
                if even {
                    tet.swap(2, 3);
                }
                out.push(tet);
            }
        }
    }
    out
}

/// Moves nodes below the surface to where the worst angle around them is best.
fn move_below(positions: &mut [DVec3], tets: &[[u32; 4]], normals: &[DVec3]) {
    let count = normals.len();
    let mut around: Vec<Vec<u32>> = vec![Vec::new(); positions.len()];
    for (t, tet) in tets.iter().enumerate() {
        tet.iter().for_each(|&n| around[n as usize].push(t as u32));
    }
    let start = positions.to_vec();
    for _ in 0..SWEEPS {
        let mut moved = false;
        for n in count..positions.len() {
            let depth = start[n].distance(positions[n % count]);
            let worst = |place: DVec3| {
                let at = |m: u32| match m as usize == n {
                    true => place,
                    false => positions[m as usize],
                };
                let all = around[n].iter();
                all.map(|&t| min_sine(tets[t as usize].map(at)))
                    .fold(f64::INFINITY, f64::min)
            };
            let mut best = (worst(positions[n]), positions[n]);
            if best.0 > GOAL {
                continue;
            }
            let down = normals[n % count];
            let (u, v) = down.any_orthonormal_pair();
            for step in [0.4, 0.2, 0.1, 0.05] {
                let from = best.1;
                for way in [u, v, down, u + v, u - v] {
                    for way in [way, -way] {
                        let place = from + way.normalize_or_zero() * (step * depth);
                        let quality = worst(place);
                        if quality > best.0 + 1e-9 && place.distance(start[n]) < WAY * depth {
                            best = (quality, place);
                        }
                    }
                }
            }
            moved |= best.1 != positions[n];
            positions[n] = best.1;
        }
        if !moved {
            break;
        }
    }
}

fn vertex_normals(surface: &SurfaceMesh) -> Vec<DVec3> {
    let mut sums = vec![DVec3::ZERO; surface.positions().len()];
    for (t, tri) in surface.triangles().iter().enumerate() {
        let p = surface.corners(t as u32);
        let normal = (p[1] - p[0]).cross(p[2] - p[0]).normalize_or_zero();
        for k in 0..3 {
            let (u, v) = (p[(k + 1) % 3] - p[k], p[(k + 2) % 3] - p[k]);
            let angle = libm::atan2(u.cross(v).length(), u.dot(v));
            sums[tri[k] as usize] += normal * angle;
        }
    }
    sums.into_iter().map(DVec3::normalize_or_zero).collect()
}

fn first_depths(surface: &SurfaceMesh, normals: &[DVec3], thickness: f64) -> Vec<f64> {
    let tree = Bvh::build(surface.positions(), surface.triangles());
    let (low, high) = surface.bounds();
    let size = (high - low).max_element();
    let reach = thickness / OPPOSITE;
    let mut hits = Vec::new();
    surface
        .positions()
        .iter()
        .zip(normals)
        .map(|(&p, &n)| {
            let start = p - n * (1e-6 * size);
            tree.hits(start, start - n * reach, &mut hits);
            hits.iter()
                .filter(|h| h.outward)
                .map(|h| h.t * thickness)
                .fold(thickness, f64::min)
        })
        .collect()
}
