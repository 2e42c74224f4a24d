//! What a mesh is: counts, bounds, topology, self-intersections, quality.
//!
//! Topology of a surface, by vertex numbers:
//! - an edge is on the *boundary* with one triangle, *non-manifold* with more than
//!   two, *inconsistent* with two that run along it in the same direction;
//! - the triangles around a vertex, joined across edges, make fans; a vertex with
//!   more than one fan is *pinched*;
//! - components are joined across edges;
//! - genus = (2 · components - (fans - edges + triangles)) / 2, summed over all
//!   components, for a closed surface without non-manifold or inconsistent edges.
//!   Counting fans for vertices takes a pinched surface apart at the pinch.
//!
//! Self-intersections: pairs of triangles that meet elsewhere than in a common vertex
//! or edge; the exact rule is at the head of `self_intersection.rs`.

use fracas_core::TetMesh;
use fracas_core::tet_mesh::{NONE, TET_EDGES, TET_FACES};
use glam::DVec3;
use serde::Serialize;

use crate::self_intersection;
use crate::surface_mesh::SurfaceMesh;
use crate::topology::{Edges, Sets};

/// What [`inspect_surface`] found.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SurfaceReport {
    /// Vertices.
    pub vertices: usize,
    /// Edges.
    pub edges: usize,
    /// Triangles.
    pub triangles: usize,
    /// Smallest coordinates.
    pub lower: [f64; 3],
    /// Largest coordinates.
    pub upper: [f64; 3],
    /// No edge has only one triangle.
    pub closed: bool,
    /// Every edge has one or two triangles, and no vertex is pinched.
    pub manifold: bool,
    /// Every two triangles on an edge run along it in opposite directions.
    pub oriented: bool,
    /// Edges of one triangle.
    pub boundary_edges: usize,
    /// Edges of more than two triangles.
    pub nonmanifold_edges: usize,
    /// Edges along which two triangles run in the same direction.
    pub inconsistent_edges: usize,
    /// Vertices whose triangles make more than one fan.
    pub pinched_vertices: usize,
    /// Components, joined across edges.
    pub components: usize,
    /// Handles of all components together, where that is defined.
    pub genus: Option<usize>,
    /// Triangles of zero area.
    pub flat_triangles: usize,
    /// Pairs of triangles on the same corners that face opposite ways.
    pub opposite_pairs: usize,
    /// Pairs of triangles that intersect.
    pub self_intersections: usize,
    /// False when the search was given up and there may be more.
    pub self_intersections_complete: bool,
    /// Total area.
    pub area: f64,
    /// Signed volume: enclosed when closed and oriented, negative when inside out.
    pub volume: f64,
}

/// Least, greatest and some percentiles of a quantity.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Spread {
    /// The least.
    pub least: f64,
    /// One in a thousand is smaller.
    pub permille_1: f64,
    /// One in a hundred is smaller.
    pub percent_1: f64,
    /// Half are smaller.
    pub median: f64,
    /// One in a hundred is greater.
    pub percent_99: f64,
    /// One in a thousand is greater.
    pub permille_999: f64,
    /// The greatest.
    pub greatest: f64,
}

/// What [`inspect_tets`] found.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TetReport {
    /// Nodes.
    pub nodes: usize,
    /// Tetrahedra.
    pub tets: usize,
    /// Smallest coordinates.
    pub lower: [f64; 3],
    /// Largest coordinates.
    pub upper: [f64; 3],
    /// Volume.
    pub volume: f64,
    /// Components, joined across faces.
    pub components: usize,
    /// Tetrahedra of negative volume (none, once they are a mesh).
    pub inverted: usize,
    /// Pairs of neighbours that lie on the same side of their common face.
    pub folded: usize,
    /// Dihedral angles in degrees, six for each tetrahedron.
    pub dihedral_angles: Spread,
    /// The smallest dihedral angle of each tetrahedron, in degrees.
    pub smallest_dihedral_angles: Spread,
    /// Radius of the circumscribed sphere to the shortest edge; 0.612 at best.
    pub radius_edge: Spread,
    /// Lengths of edges.
    pub edge_lengths: Spread,
    /// The boundary as a surface.
    pub boundary: SurfaceReport,
}

/// Examines a surface. O(n log n) but for the intersections themselves.
#[must_use]
pub fn inspect_surface(mesh: &SurfaceMesh) -> SurfaceReport {
    let edges = Edges::of(mesh.triangles());
    let fans = edges.fans(mesh.triangles(), mesh.positions().len());
    let components = edges.joined(mesh.triangles().len()).count();
    let (closed, edge_manifold) = (edges.boundary == 0, edges.nonmanifold == 0);
    let euler = fans.total as i64 - edges.count as i64 + mesh.triangles().len() as i64;
    let genus = (closed && edge_manifold && edges.inconsistent == 0)
        .then(|| usize::try_from((2 * components as i64 - euler) / 2).ok())
        .flatten();
    let intersections = self_intersection::count(mesh);
    let (lower, upper) = mesh.bounds();
    SurfaceReport {
        vertices: mesh.positions().len(),
        edges: edges.count,
        triangles: mesh.triangles().len(),
        lower: lower.to_array(),
        upper: upper.to_array(),
        closed,
        manifold: edge_manifold && fans.pinched == 0,
        oriented: edges.inconsistent == 0,
        boundary_edges: edges.boundary,
        nonmanifold_edges: edges.nonmanifold,
        inconsistent_edges: edges.inconsistent,
        pinched_vertices: fans.pinched,
        components,
        genus,
        flat_triangles: (0..mesh.triangles().len() as u32)
            .filter(|&t| self_intersection::is_flat(mesh.corners(t)))
            .count(),
        opposite_pairs: opposite_pairs(mesh.triangles()),
        self_intersections: intersections.pairs,
        self_intersections_complete: intersections.complete,
        area: mesh.area(),
        volume: mesh.volume(),
    }
}

/// Examines a tetrahedral mesh.
#[must_use]
pub fn inspect_tets(mesh: &TetMesh) -> TetReport {
    let (mut angles, mut smallest, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for t in 0..mesh.tets().len() as u32 {
        let corners = mesh.corners(t).map(|p| p.as_dvec3());
        let six = dihedral_angles(corners);
        angles.extend_from_slice(&six);
        smallest.push(six.into_iter().fold(f64::INFINITY, f64::min));
        ratios.push(radius_edge(corners));
    }
    let lengths = (0..mesh.positions().len() as u32)
        .flat_map(|a| {
            let after = move |&&b: &&u32| b > a;
            mesh.adjacent_nodes(a).iter().filter(after).map(move |&b| {
                let [a, b] = [a, b].map(|n| mesh.positions()[n as usize].as_dvec3());
                a.distance(b)
            })
        })
        .collect();
    let (lower, upper) = mesh.bounds();
    TetReport {
        nodes: mesh.positions().len(),
        tets: mesh.tets().len(),
        lower: lower.as_dvec3().to_array(),
        upper: upper.as_dvec3().to_array(),
        volume: mesh.volume(),
        components: tet_components(mesh),
        inverted: (0..mesh.tets().len() as u32)
            .filter(|&t| mesh.volume_of(t) <= 0.0)
            .count(),
        folded: folded(mesh),
        dihedral_angles: Spread::of(angles),
        smallest_dihedral_angles: Spread::of(smallest),
        radius_edge: Spread::of(ratios),
        edge_lengths: Spread::of(lengths),
        boundary: inspect_surface(&boundary_surface(mesh)),
    }
}

/// The boundary of a tetrahedral mesh as a surface of its own, facing outward.
#[must_use]
pub fn boundary_surface(mesh: &TetMesh) -> SurfaceMesh {
    let mut new_index = vec![NONE; mesh.positions().len()];
    let mut positions = Vec::new();
    let triangles = mesh
        .boundary()
        .map(|face| {
            face.nodes.map(|n| {
                let index = &mut new_index[n as usize];
                if *index == NONE {
                    *index = positions.len() as u32;
                    positions.push(mesh.positions()[n as usize].as_dvec3());
                }
                *index
            })
        })
        .collect();
    SurfaceMesh::build(positions, triangles).expect("a tet mesh is finite and has a boundary")
}

impl Spread {
    /// Of at least one value.
    fn of(mut values: Vec<f64>) -> Self {
        values.sort_unstable_by(f64::total_cmp);
        let last = values.len() - 1;
        let at = |fraction: f64| values[(fraction * last as f64).round() as usize];
        Self {
            least: values[0],
            permille_1: at(0.001),
            percent_1: at(0.01),
            median: at(0.5),
            percent_99: at(0.99),
            permille_999: at(0.999),
            greatest: values[last],
        }
    }
}

/// Angles between the faces at the six edges, in degrees.
fn dihedral_angles(corners: [DVec3; 4]) -> [f64; 6] {
    TET_EDGES.map(|[a, b]| {
        let [c, d] = {
            let mut others = (0..4).filter(|&k| k != a && k != b);
            [others.next(), others.next()].map(|k| corners[k.expect("four corners")])
        };
        let (a, b) = (corners[a], corners[b]);
        let along = (b - a).normalize_or_zero();
        let (u, v) = (
            (c - a).reject_from_normalized(along),
            (d - a).reject_from_normalized(along),
        );
        libm::atan2(u.cross(v).length(), u.dot(v)).to_degrees()
    })
}

/// Circumradius to shortest edge.
fn radius_edge([a, b, c, d]: [DVec3; 4]) -> f64 {
    let (u, v, w) = (b - a, c - a, d - a);
    let numerator = u.length_squared() * v.cross(w)
        + v.length_squared() * w.cross(u)
        + w.length_squared() * u.cross(v);
    let radius = numerator.length() / (2.0 * u.dot(v.cross(w)).abs());
    let shortest = [u, v, w, c - b, d - b, d - c]
        .into_iter()
        .map(DVec3::length)
        .fold(f64::INFINITY, f64::min);
    radius / shortest
}

/// Neighbours whose common face runs the same way round in both.
fn folded(mesh: &TetMesh) -> usize {
    let face = |t: u32, i: usize| {
        let mut nodes = TET_FACES[i].map(|k| mesh.tets()[t as usize][k]);
        let least = (0..3).min_by_key(|&k| nodes[k]).expect("three nodes");
        nodes.rotate_left(least);
        nodes
    };
    let mut count = 0;
    for (t, across) in mesh.neighbours().iter().enumerate() {
        for i in 0..4 {
            let other = across[i];
            if other == NONE || (other as usize) < t {
                continue;
            }
            let mine = face(t as u32, i);
            count += (0..4).filter(|&j| face(other, j) == mine).count();
        }
    }
    count
}

fn tet_components(mesh: &TetMesh) -> usize {
    let mut sets = Sets::new(mesh.tets().len());
    for (t, across) in mesh.neighbours().iter().enumerate() {
        for &other in across.iter().filter(|&&o| o != NONE) {
            sets.join(t, other as usize);
        }
    }
    sets.count()
}

fn opposite_pairs(triangles: &[[u32; 3]]) -> usize {
    let mut keys: Vec<[u32; 3]> = triangles
        .iter()
        .map(|t| {
            let mut key = *t;
            key.sort_unstable();
            key
        })
        .collect();
    keys.sort_unstable();
    keys.windows(2).filter(|pair| pair[0] == pair[1]).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fracas_core::testing::box_grid;
    use glam::Vec3;

    /// A closed ring of `n` squares around, `m` across: a torus of triangles.
    fn torus(n: u32, m: u32) -> (Vec<DVec3>, Vec<[u32; 3]>) {
        let mut positions = Vec::new();
        let mut triangles = Vec::new();
        for i in 0..n {
            for j in 0..m {
                let (a, b) = (f64::from(i) / f64::from(n), f64::from(j) / f64::from(m));
                let (a, b) = (a * std::f64::consts::TAU, b * std::f64::consts::TAU);
                let r = 3.0 + b.cos();
                positions.push(DVec3::new(r * a.cos(), r * a.sin(), b.sin()));
                let at = |i: u32, j: u32| (i % n) * m + j % m;
                let [p, q, r, s] = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
                triangles.extend([[p, q, r], [p, r, s]]);
            }
        }
        (positions, triangles)
    }

    #[test]
    fn a_torus_is_a_torus() {
        let (positions, triangles) = torus(12, 8);
        let report = inspect_surface(&SurfaceMesh::build(positions, triangles).unwrap());
        assert!(report.closed && report.manifold && report.oriented);
        assert_eq!((report.components, report.genus), (1, Some(1)));
        assert_eq!((report.self_intersections, report.flat_triangles), (0, 0));
        assert!(report.volume > 0.0);
        assert_eq!(report.edges, 3 * report.triangles / 2);
    }

    #[test]
    fn a_hole_a_turned_triangle_and_a_third_one_are_seen() {
        let (positions, triangles) = torus(12, 8);
        let report = |triangles: Vec<[u32; 3]>| {
            inspect_surface(&SurfaceMesh::build(positions.clone(), triangles).unwrap())
        };
        let holed = report(triangles[1..].to_vec());
        assert!(!holed.closed && holed.manifold && holed.genus.is_none());
        assert_eq!(holed.boundary_edges, 3);

        let mut turned = triangles.clone();
        turned[0].swap(1, 2);
        let turned = report(turned);
        assert!(turned.closed && turned.manifold && !turned.oriented);
        assert_eq!((turned.inconsistent_edges, turned.genus), (3, None));

        let mut third = triangles.clone();
        third.push([triangles[0][0], triangles[0][1], 50]);
        assert_eq!(report(third).nonmanifold_edges, 1);

        let mut opposite = triangles.clone();
        opposite.push([triangles[0][0], triangles[0][2], triangles[0][1]]);
        assert_eq!(report(opposite).opposite_pairs, 1);
    }

    #[test]
    fn two_tetrahedra_at_one_vertex_are_pinched_and_apart() {
        let tetrahedron = [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]];
        let other = tetrahedron.map(|t| t.map(|v| if v == 0 { 0 } else { v + 3 }));
        let mut positions = vec![DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z];
        positions.extend([-DVec3::X, -DVec3::Y, -DVec3::Z]);
        let triangles: Vec<_> = tetrahedron.into_iter().chain(other).collect();
        let report = inspect_surface(&SurfaceMesh::build(positions, triangles).unwrap());
        assert_eq!((report.pinched_vertices, report.components), (1, 2));
        assert!(report.closed && !report.manifold);
        assert_eq!(report.genus, Some(0));
    }

    #[test]
    fn a_regular_tetrahedron_has_known_quality() {
        let p = [
            Vec3::new(1.0, 1.0, 1.0),
            Vec3::new(1.0, -1.0, -1.0),
            Vec3::new(-1.0, 1.0, -1.0),
            Vec3::new(-1.0, -1.0, 1.0),
        ];
        let tets = vec![[0, 2, 1, 3]];
        let mesh = TetMesh::build(p.to_vec(), tets)
            .or_else(|_| TetMesh::build(p.to_vec(), vec![[0, 1, 2, 3]]))
            .unwrap();
        let report = inspect_tets(&mesh);
        for angle in [
            report.dihedral_angles.least,
            report.dihedral_angles.greatest,
        ] {
            assert!((angle - 70.528_779_365_509_3).abs() < 1e-9);
        }
        assert!((report.radius_edge.median - 6.0_f64.sqrt() / 4.0).abs() < 1e-12);
        assert_eq!((report.folded, report.components), (0, 1));
        assert_eq!(report.boundary.genus, Some(0));
    }

    #[test]
    fn a_box_of_tets_has_a_box_for_a_boundary() {
        let report = inspect_tets(&box_grid([3, 4, 5], Vec3::new(3.0, 4.0, 5.0)));
        assert!((report.volume - 60.0).abs() < 1e-9);
        assert!((report.boundary.volume - 60.0).abs() < 1e-9);
        assert!(report.boundary.closed && report.boundary.manifold);
        assert_eq!((report.inverted, report.folded), (0, 0));
        assert!((report.dihedral_angles.least - 45.0).abs() < 1e-6);
        assert!((report.edge_lengths.greatest - 3.0_f64.sqrt()).abs() < 1e-6);
    }

    #[test]
    fn tets_folded_over_a_face_are_seen() {
        let p = vec![
            Vec3::ZERO,
            Vec3::X,
            Vec3::Y,
            Vec3::Z,
            Vec3::new(0.1, 0.1, 2.0),
        ];
        let mesh = TetMesh::build(p, vec![[0, 1, 2, 3], [0, 1, 2, 4]]).unwrap();
        assert_eq!(inspect_tets(&mesh).folded, 1);
    }
}
