//! Makes the triangles of a surface face one way, where that is well defined.
//!
//! 1. *Back faces.* A component (across edges) in which every triangle has a twin on
//!    the same corners that faces the other way is a surface given twice, for
//!    programs that draw front sides only. One of each pair stays. A single pair in
//!    an otherwise one-sided component is left: it bounds nothing, and cancels.
//! 2. *Neighbours.* Patches are joined across edges of exactly two triangles. In a
//!    patch that can be oriented, the triangles that disagree with the larger area
//!    are turned. A patch that cannot (a Möbius strip) is left as it is.
//! 3. *Inside out.* A closed, consistently oriented component of negative volume is
//!    turned, unless its box lies within the box of another: then it may be a cavity.
//!    (Beyond a thousand components of negative volume all are left: foam, perhaps,
//!    and the work would grow with the square of their number.)

use glam::DVec3;

use crate::repairs::{Repair, Repairs, retain};
use crate::surface_mesh::CornerUvs;
use crate::topology::{Edges, Sets};

/// The most components of negative volume that are held against all others.
const SUSPICIOUS_LIMIT: usize = 1000;

/// Step 1 at the head of the file.
pub(crate) fn remove_back_faces(
    triangles: &mut Vec<[u32; 3]>,
    uvs: &mut Option<Vec<CornerUvs>>,
    repairs: &mut Repairs,
) {
    let mut order: Vec<([u32; 3], u32)> = (0..triangles.len() as u32)
        .map(|t| {
            let mut key = triangles[t as usize];
            key.sort_unstable();
            (key, t)
        })
        .collect();
    order.sort_unstable();
    // Equal turning senses are gone: a group of two is a pair that faces both ways.
    let mut is_second = vec![false; triangles.len()];
    let mut has_twin = vec![false; triangles.len()];
    for group in order.chunk_by(|a, b| a.0 == b.0) {
        if let [first, second] = group {
            has_twin[first.1 as usize] = true;
            has_twin[second.1 as usize] = true;
            is_second[second.1 as usize] = true;
        }
    }
    if !has_twin.contains(&true) {
        return;
    }
    let mut components = Edges::of(triangles).joined(triangles.len());
    let roots: Vec<usize> = (0..triangles.len()).map(|t| components.root(t)).collect();
    let mut all_twins = vec![true; triangles.len()];
    for (t, &root) in roots.iter().enumerate() {
        all_twins[root] &= has_twin[t];
    }
    let removed = retain(triangles, uvs, |t, _| {
        !(is_second[t] && all_twins[roots[t]])
    });
    repairs.add(Repair::BackFacesRemoved, removed);
}

/// Steps 2 and 3 at the head of the file.
pub(crate) fn turn(
    positions: &[DVec3],
    triangles: &mut [[u32; 3]],
    uvs: &mut Option<Vec<CornerUvs>>,
    repairs: &mut Repairs,
) {
    let edges = Edges::of(triangles);
    if edges.inconsistent > 0 {
        let minority = minority(&edges, positions, triangles);
        apply(&minority, triangles, uvs, Repair::TrianglesTurned, repairs);
    }
    let edges = Edges::of(triangles);
    let inside_out = inside_out(&edges, positions, triangles);
    apply(
        &inside_out,
        triangles,
        uvs,
        Repair::InsideOutTurned,
        repairs,
    );
}

fn apply(
    turned: &[bool],
    triangles: &mut [[u32; 3]],
    uvs: &mut Option<Vec<CornerUvs>>,
    repair: Repair,
    repairs: &mut Repairs,
) {
    for (t, _) in turned.iter().enumerate().filter(|(_, turned)| **turned) {
        triangles[t].swap(1, 2);
        if let Some(uvs) = uvs {
            uvs[t].swap(1, 2);
        }
    }
    repairs.add(repair, turned.iter().filter(|t| **t).count());
}

/// The triangles that face against the larger area of their patch.
///
/// Each triangle has two states, as it is (2t) and turned (2t + 1); an edge joins the
/// states of its two triangles that agree along it. A patch can be oriented exactly
/// when no triangle's two states are joined.
fn minority(edges: &Edges, positions: &[DVec3], triangles: &[[u32; 3]]) -> Vec<bool> {
    let mut states = Sets::new(2 * triangles.len());
    for group in edges.groups() {
        if let [one, two] = group {
            let (a, b) = (2 * one.triangle(), 2 * two.triangle());
            let crossed = usize::from(one.rising == two.rising);
            states.join(a, b + crossed);
            states.join(a + 1, b + 1 - crossed);
        }
    }
    // Area of each set of states: the larger of a patch's two wins, ties to the one
    // that leaves the patch's first triangle as it is.
    let roots: Vec<[usize; 2]> = (0..triangles.len())
        .map(|t| [states.root(2 * t), states.root(2 * t + 1)])
        .collect();
    let mut area_as_is = vec![0.0; 2 * triangles.len()];
    for (t, root) in roots.iter().enumerate() {
        let [a, b, c] = triangles[t].map(|v| positions[v as usize]);
        area_as_is[root[0]] += (b - a).cross(c - a).length();
    }
    roots
        .iter()
        .map(|&[as_is, turned]| {
            let (mine, other) = (area_as_is[as_is], area_as_is[turned]);
            as_is != turned && (mine < other || (mine == other && as_is > turned))
        })
        .collect()
}

/// The triangles of closed components of negative volume that lie in no other's box.
fn inside_out(edges: &Edges, positions: &[DVec3], triangles: &[[u32; 3]]) -> Vec<bool> {
    let mut sets = edges.joined(triangles.len());
    let roots: Vec<usize> = (0..triangles.len()).map(|t| sets.root(t)).collect();
    let mut sound = vec![true; triangles.len()];
    for group in edges.groups() {
        let matched = matches!(group, [one, two] if one.rising != two.rising);
        if !matched {
            for side in group {
                sound[roots[side.triangle()]] = false;
            }
        }
    }
    let mut components: Vec<Component> = Vec::new();
    let mut index = vec![usize::MAX; triangles.len()];
    for (t, corners) in triangles.iter().enumerate() {
        let corners = corners.map(|v| positions[v as usize]);
        let root = roots[t];
        if index[root] == usize::MAX {
            index[root] = components.len();
            components.push(Component {
                origin: corners[0],
                lower: corners[0],
                upper: corners[0],
                volume: 0.0,
            });
        }
        components[index[root]].add(corners);
    }
    if components.iter().filter(|c| c.volume < 0.0).count() > SUSPICIOUS_LIMIT {
        return vec![false; triangles.len()];
    }
    let suspicious = |c: &Component| {
        let inside = |other: &Component| {
            other.lower.cmplt(c.lower).all() && other.upper.cmpgt(c.upper).all()
        };
        c.volume < 0.0 && !components.iter().any(inside)
    };
    let mut verdict = vec![None; components.len()];
    roots
        .iter()
        .map(|&root| {
            let i = index[root];
            sound[root] && *verdict[i].get_or_insert_with(|| suspicious(&components[i]))
        })
        .collect()
}

struct Component {
    origin: DVec3,
    lower: DVec3,
    upper: DVec3,
    /// Six times the signed volume.
    volume: f64,
}

impl Component {
    fn add(&mut self, corners: [DVec3; 3]) {
        for p in corners {
            self.lower = self.lower.min(p);
            self.upper = self.upper.max(p);
        }
        let [a, b, c] = corners.map(|p| p - self.origin);
        self.volume += a.dot(b.cross(c));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SurfaceMesh;
    use crate::inspect::inspect_surface;

    const TETRAHEDRON: [[u32; 3]; 4] = [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]];

    /// Tetrahedra of the given sizes about one centre.
    fn nested(sizes: &[f64]) -> (Vec<DVec3>, Vec<[u32; 3]>) {
        let (mut positions, mut triangles) = (Vec::new(), Vec::new());
        for &size in sizes {
            let first = positions.len() as u32;
            triangles.extend(TETRAHEDRON.map(|t| t.map(|v| v + first)));
            let corners = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z];
            positions.extend(corners.map(|p| size * (p - 0.25)));
        }
        (positions, triangles)
    }

    fn turned(mut triangle: [u32; 3]) -> [u32; 3] {
        triangle.swap(1, 2);
        triangle
    }

    #[test]
    fn a_turned_triangle_is_turned_back() {
        let (positions, mut triangles) = nested(&[1.0]);
        let original = triangles.clone();
        triangles[2] = turned(triangles[2]);
        let (mesh, repairs) = SurfaceMesh::repair(positions, &triangles).unwrap();
        assert_eq!(mesh.triangles(), original);
        assert_eq!(repairs.count(Repair::TrianglesTurned), 1);
        assert_eq!(repairs.count(Repair::InsideOutTurned), 0);
    }

    #[test]
    fn inside_out_is_turned_but_a_cavity_stays() {
        let (positions, triangles) = nested(&[1.0]);
        let inside_out: Vec<_> = triangles.into_iter().map(turned).collect();
        let (mesh, repairs) = SurfaceMesh::repair(positions, &inside_out).unwrap();
        assert!(mesh.volume() > 0.0);
        assert_eq!(repairs.count(Repair::InsideOutTurned), 4);

        let (positions, mut triangles) = nested(&[2.0, 1.0]);
        for t in &mut triangles[4..] {
            *t = turned(*t);
        }
        let (mesh, repairs) = SurfaceMesh::repair(positions, &triangles).unwrap();
        assert!(repairs.is_empty(), "{repairs}");
        assert!((mesh.volume() - 7.0 / 6.0).abs() < 1e-12);
    }

    #[test]
    fn a_surface_given_twice_is_kept_once_and_faces_outward() {
        let (positions, triangles) = nested(&[1.0]);
        let mut both: Vec<_> = triangles.iter().copied().map(turned).collect();
        both.extend(&triangles);
        both.swap(0, 5);
        let (mesh, repairs) = SurfaceMesh::repair(positions, &both).unwrap();
        let report = inspect_surface(&mesh);
        assert!(report.closed && report.oriented && report.volume > 0.0);
        assert_eq!((report.triangles, report.opposite_pairs), (4, 0));
        assert_eq!(repairs.count(Repair::BackFacesRemoved), 4);
    }

    #[test]
    fn a_single_pair_and_a_moebius_strip_are_left() {
        let (positions, mut triangles) = nested(&[1.0]);
        triangles.push(turned(triangles[0]));
        let (mesh, repairs) = SurfaceMesh::repair(positions, &triangles).unwrap();
        assert!(repairs.is_empty(), "{repairs}");
        assert_eq!(mesh.triangles(), triangles);

        let strip = [
            [0, 1, 2],
            [1, 3, 2],
            [2, 3, 4],
            [3, 5, 4],
            [4, 5, 1],
            [5, 0, 1],
        ];
        let positions: Vec<_> = (0..6)
            .map(|v| {
                let angle = f64::from(v / 2) * 2.0;
                DVec3::new(angle.cos(), angle.sin(), f64::from(v % 2))
            })
            .collect();
        let (mesh, repairs) = SurfaceMesh::repair(positions, &strip).unwrap();
        assert!(repairs.is_empty(), "{repairs}");
        assert_eq!(mesh.triangles(), strip);
        assert!(inspect_surface(&mesh).inconsistent_edges > 0);
    }

    #[test]
    fn two_bodies_side_by_side_are_oriented_each() {
        let (mut positions, mut triangles) = nested(&[1.0, 1.0]);
        for p in &mut positions[4..] {
            p.x += 5.0;
        }
        for t in &mut triangles[4..] {
            *t = turned(*t);
        }
        let (mesh, repairs) = SurfaceMesh::repair(positions, &triangles).unwrap();
        assert!((mesh.volume() - 2.0 / 6.0).abs() < 1e-12);
        assert_eq!(repairs.count(Repair::InsideOutTurned), 4);
    }
}
