//! Which parts of the skin bound solids, and which nodes of the cage are in them.
//!
//! A part of the skin whose triangles hang together is a solid when every side has
//! another against it; a part that faces inwards is a hollow of the solid around it. The
//! winding number of a solid at a node follows from that of a neighbour by counting the
//! triangles that the edge between them goes through (and for one node from the solid
//! angles of all triangles: Jacobson 2013, equation 5).

use glam::DVec3;

use crate::tet_mesh::{NONE, TET_EDGES, TetMesh};

/// Solids of a skin.
#[derive(Clone, Debug)]
pub(super) struct Solids {
    /// For each triangle its solid, or [`NONE`].
    pub of_triangle: Vec<u32>,
    /// Whether the triangles of a solid face inwards.
    pub turned: Vec<bool>,
    /// For each solid, the winding number at each node of the cage.
    windings: Vec<Vec<i8>>,
}

/// More parts than this are not solids but decoration.
const MOST_SOLIDS: usize = 400;

impl Solids {
    pub fn count(&self) -> usize {
        self.turned.len()
    }

    /// How often a solid winds around a node, counted so that inside is positive.
    pub fn winding(&self, solid: u32, node: u32) -> i32 {
        i32::from(self.windings[solid as usize][node as usize])
    }

    pub fn build(
        mesh: &TetMesh,
        cage: &[DVec3],
        positions: &[DVec3],
        triangles: &[[u32; 3]],
        triangles_of: &dyn Fn(u32) -> Vec<u32>,
    ) -> Self {
        let parts = connected_parts(positions.len(), triangles);
        let mut closed: Vec<Vec<u32>> = parts
            .into_iter()
            .filter(|part| is_closed(part, triangles))
            .collect();
        closed.truncate(MOST_SOLIDS);
        let corners = |t: u32| triangles[t as usize].map(|v| positions[v as usize]);
        let volume = |part: &[u32]| -> f64 {
            let origin = corners(part[0])[0];
            part.iter()
                .map(|&t| {
                    let [a, b, c] = corners(t).map(|p| p - origin);
                    a.dot(b.cross(c)) / 6.0
                })
                .sum()
        };
        let volumes: Vec<f64> = closed.iter().map(|part| volume(part)).collect();
        // Hollows join the smallest solid around them.
        let mut solids: Vec<Vec<u32>> = Vec::new();
        let mut turned = Vec::new();
        let mut number = vec![usize::MAX; closed.len()];
        for (i, part) in closed.iter().enumerate() {
            if volumes[i] >= 0.0 {
                number[i] = solids.len();
                solids.push(part.clone());
                turned.push(false);
            }
        }
        for (i, part) in closed.iter().enumerate() {
            if volumes[i] >= 0.0 {
                continue;
            }
            let p = corners(part[0])[0];
            let around = (0..closed.len())
                .filter(|&j| volumes[j] > -volumes[i])
                .filter(|&j| winding_at(p, closed[j].iter().map(|&t| corners(t))) > 0.5)
                .min_by(|&a, &b| volumes[a].total_cmp(&volumes[b]));
            match around {
                Some(j) => solids[number[j]].extend(part),
                None => {
                    solids.push(part.clone());
                    turned.push(true);
                }
            }
        }
        let mut of_triangle = vec![NONE; triangles.len()];
        for (s, solid) in solids.iter().enumerate() {
            for &t in solid {
                of_triangle[t as usize] = s as u32;
            }
        }
        let windings = (0..solids.len())
            .map(|s| {
                let all = || solids[s].iter().map(|&t| corners(t));
                let own = |t: u32| of_triangle[t as usize] == s as u32;
                node_windings(mesh, cage, &all, &own, &corners, triangles_of, turned[s])
            })
            .collect();
        Self {
            of_triangle,
            turned,
            windings,
        }
    }
}

/// Triangles that hang together by common vertices, in the order of their first.
fn connected_parts(vertices: usize, triangles: &[[u32; 3]]) -> Vec<Vec<u32>> {
    let mut parent: Vec<u32> = (0..vertices as u32).collect();
    fn root(parent: &mut [u32], mut v: u32) -> u32 {
        while parent[v as usize] != v {
            parent[v as usize] = parent[parent[v as usize] as usize];
            v = parent[v as usize];
        }
        v
    }
    for &[a, b, c] in triangles {
        let first = root(&mut parent, a);
        for v in [b, c] {
            let other = root(&mut parent, v);
            parent[other as usize] = first;
        }
    }
    let mut number = vec![usize::MAX; vertices];
    let mut parts: Vec<Vec<u32>> = Vec::new();
    for (t, triangle) in triangles.iter().enumerate() {
        let root = root(&mut parent, triangle[0]) as usize;
        if number[root] == usize::MAX {
            number[root] = parts.len();
            parts.push(Vec::new());
        }
        parts[number[root]].push(t as u32);
    }
    parts
}

fn is_closed(part: &[u32], triangles: &[[u32; 3]]) -> bool {
    let mut sides: Vec<(u32, u32, bool)> = part
        .iter()
        .flat_map(|&t| {
            let [a, b, c] = triangles[t as usize];
            [(a, b), (b, c), (c, a)]
        })
        .filter(|(a, b)| a != b)
        .map(|(a, b)| (a.min(b), a.max(b), a < b))
        .collect();
    sides.sort_unstable();
    !sides.is_empty()
        && sides
            .chunk_by(|a, b| (a.0, a.1) == (b.0, b.1))
            .all(|edge| 2 * edge.iter().filter(|s| s.2).count() == edge.len())
}

/// The winding number of a surface at a point: its solid angle in turns.
pub(super) fn winding_at(p: DVec3, triangles: impl Iterator<Item = [DVec3; 3]>) -> f64 {
    let mut sum = 0.0;
    for corners in triangles {
        let [a, b, c] = corners.map(|q| q - p);
        let (la, lb, lc) = (a.length(), b.length(), c.length());
        let volume = a.dot(b.cross(c));
        let rest = la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb;
        sum += 2.0 * libm::atan2(volume, rest);
    }
    sum / (4.0 * std::f64::consts::PI)
}

/// Signed crossings of the way from `a` to `b` through a triangle: +1 where it goes
/// in (against the normal). `None` where it only touches.
pub(super) fn crossing(a: DVec3, b: DVec3, [p, q, r]: [DVec3; 3]) -> Option<i32> {
    let volume = |a: DVec3, b: DVec3, c: DVec3, d: DVec3| (b - a).cross(c - a).dot(d - a);
    let (from, to) = (volume(p, q, r, a), volume(p, q, r, b));
    if (from > 0.0 && to > 0.0) || (from < 0.0 && to < 0.0) {
        return Some(0);
    }
    let (u, v, w) = (volume(a, b, p, q), volume(a, b, q, r), volume(a, b, r, p));
    let positive = u > 0.0 || v > 0.0 || w > 0.0;
    let negative = u < 0.0 || v < 0.0 || w < 0.0;
    if positive && negative {
        return Some(0);
    }
    if from == 0.0 || to == 0.0 || u == 0.0 || v == 0.0 || w == 0.0 {
        return None;
    }
    // `from` above zero: `a` is on the side that the normal points to.
    Some(if from > 0.0 { 1 } else { -1 })
}

type Corners<'a> = &'a dyn Fn(u32) -> [DVec3; 3];

fn node_windings<I: Iterator<Item = [DVec3; 3]>>(
    mesh: &TetMesh,
    cage: &[DVec3],
    all: &dyn Fn() -> I,
    own: &dyn Fn(u32) -> bool,
    corners: Corners<'_>,
    triangles_of: &dyn Fn(u32) -> Vec<u32>,
    turned: bool,
) -> Vec<i8> {
    // Crossings of each edge, asked once for one tetrahedron that has it.
    let mut steps: Vec<(u32, u32, i32)> = Vec::new();
    for (t, nodes) in mesh.tets().iter().enumerate() {
        let near: Vec<u32> = triangles_of(t as u32)
            .into_iter()
            .filter(|&i| own(i))
            .collect();
        for [i, j] in TET_EDGES {
            let (a, b) = (nodes[i].min(nodes[j]), nodes[i].max(nodes[j]));
            let ends = [a, b].map(|n| cage[n as usize]);
            let crossings = near
                .iter()
                .map(|&t| crossing(ends[0], ends[1], corners(t)))
                .try_fold(0, |sum, c| c.map(|c| sum + c));
            if let Some(crossings) = crossings {
                steps.push((a, b, crossings));
            }
        }
    }
    steps.sort_unstable_by_key(|s| (s.0, s.1));
    steps.dedup_by_key(|s| (s.0, s.1));
    let mut around: Vec<Vec<(u32, i32)>> = vec![Vec::new(); cage.len()];
    for (a, b, by) in steps {
        around[a as usize].push((b, by));
        around[b as usize].push((a, -by));
    }
    let sign = if turned { -1 } else { 1 };
    const UNKNOWN: i8 = i8::MIN;
    let mut windings = vec![UNKNOWN; cage.len()];
    for start in 0..cage.len() {
        if windings[start] != UNKNOWN {
            continue;
        }
        let exact = winding_at(cage[start], all());
        windings[start] = exact.round().clamp(-100.0, 100.0) as i8;
        let mut queue = std::collections::VecDeque::from([start as u32]);
        while let Some(node) = queue.pop_front() {
            for &(next, by) in &around[node as usize] {
                if windings[next as usize] == UNKNOWN {
                    let winding = i32::from(windings[node as usize]) + by;
                    windings[next as usize] = winding.clamp(-100, 100) as i8;
                    queue.push_back(next);
                }
            }
        }
    }
    windings.iter().map(|&w| sign * w).collect()
}
