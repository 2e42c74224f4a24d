//! What makes tetrahedra a solid: face neighbours, pieces, a closed manifold boundary.
//!
//! Where a shape is thinner than the lattice, warped nodes of two surfaces may
//! coincide, so that the mesh touches itself in a node or along an edge. It is made
//! manifold by two repairs, repeated until nothing is left:
//! 1. a node whose tetrahedra fall into groups that share no face gets one copy per group;
//! 2. where that does not help, the smallest of the tetrahedra that make the bad edge
//!    or node touch the boundary is removed.
//!
//! **Guarantee.** The second repair removes something each time, so this ends; what
//! is left has every boundary edge in two faces and every boundary node in one fan.

use fracas_core::tet_mesh::{NONE, TET_FACES};
use glam::DVec3;

use super::quality::volume;
use super::stuffing::{Stuffed, compact};

/// Face neighbours, by sorting all faces.
pub(super) fn neighbours(tets: &[[u32; 4]]) -> Vec<[u32; 4]> {
    let mut faces: Vec<([u32; 3], u32)> = Vec::with_capacity(tets.len() * 4);
    for (t, tet) in tets.iter().enumerate() {
        for i in 0..4 {
            let mut key = TET_FACES[i].map(|k| tet[k]);
            key.sort_unstable();
            faces.push((key, (t * 4 + i) as u32));
        }
    }
    faces.sort_unstable();
    let mut out = vec![[NONE; 4]; tets.len()];
    for pair in faces.windows(2) {
        if pair[0].0 == pair[1].0 {
            let (a, b) = (pair[0].1, pair[1].1);
            out[a as usize / 4][a as usize % 4] = b / 4;
            out[b as usize / 4][b as usize % 4] = a / 4;
        }
    }
    out
}

/// The boundary faces, outward, with their tetrahedron.
pub(super) fn boundary(tets: &[[u32; 4]], neighbours: &[[u32; 4]]) -> Vec<([u32; 3], u32)> {
    let mut faces = Vec::new();
    for (t, (tet, across)) in tets.iter().zip(neighbours).enumerate() {
        for i in 0..4 {
            if across[i] == NONE {
                faces.push((TET_FACES[i].map(|k| tet[k]), t as u32));
            }
        }
    }
    faces
}

/// What a boundary is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BoundaryTopology {
    /// Edges that do not belong to exactly two triangles.
    pub bad_edges: usize,
    /// Nodes whose triangles do not form one fan.
    pub bad_nodes: usize,
    /// Connected pieces.
    pub components: usize,
    /// Nodes - edges + faces: 2 for each sphere, 2 less for each handle.
    pub euler: i64,
}

impl BoundaryTopology {
    /// Closed, and everywhere like a sheet.
    #[must_use]
    pub fn is_manifold(&self) -> bool {
        self.bad_edges == 0 && self.bad_nodes == 0
    }

    /// Handles of all pieces together, if it is manifold.
    #[must_use]
    pub fn genus(&self) -> Option<i64> {
        self.is_manifold()
            .then(|| self.components as i64 - self.euler / 2)
    }
}

/// Examines triangles (indices below `nodes`).
#[must_use]
pub fn boundary_topology(nodes: usize, triangles: &[[u32; 3]]) -> BoundaryTopology {
    let examined = Examined::new(nodes, triangles);
    BoundaryTopology {
        bad_edges: examined.bad_edges.len(),
        bad_nodes: examined.bad_nodes.len(),
        components: examined.components,
        euler: examined.euler,
    }
}

struct Examined {
    bad_edges: Vec<[u32; 2]>,
    bad_nodes: Vec<u32>,
    components: usize,
    euler: i64,
}

impl Examined {
    fn new(nodes: usize, triangles: &[[u32; 3]]) -> Self {
        let mut edges: Vec<([u32; 2], u32)> = Vec::with_capacity(triangles.len() * 3);
        for (t, tri) in triangles.iter().enumerate() {
            for k in 0..3 {
                let (a, b) = (tri[k], tri[(k + 1) % 3]);
                edges.push(([a.min(b), a.max(b)], t as u32));
            }
        }
        edges.sort_unstable();
        // Corners of triangles, united across manifold edges: fans. Triangles: pieces.
        let mut fans = Union::new(triangles.len() * 3);
        let mut pieces = Union::new(triangles.len());
        let mut bad_edges = Vec::new();
        let mut edge_count = 0;
        let mut i = 0;
        while i < edges.len() {
            let key = edges[i].0;
            let run = edges[i..].iter().take_while(|e| e.0 == key).count();
            edge_count += 1;
            for e in &edges[i + 1..i + run] {
                pieces.unite(edges[i].1, e.1);
            }
            if run == 2 {
                let (s, t) = (edges[i].1, edges[i + 1].1);
                for n in key {
                    let corner = |t: u32| {
                        let k = triangles[t as usize].iter().position(|&m| m == n);
                        3 * t + k.unwrap_or(0) as u32
                    };
                    fans.unite(corner(s), corner(t));
                }
            } else {
                bad_edges.push(key);
            }
            i += run;
        }
        let mut fan_of = vec![NONE; nodes];
        let mut bad = vec![false; nodes];
        for (c, &n) in triangles.iter().flatten().enumerate() {
            let root = fans.root(c as u32);
            let slot = &mut fan_of[n as usize];
            if *slot == NONE {
                *slot = root;
            } else if *slot != root {
                bad[n as usize] = true;
            }
        }
        let used = fan_of.iter().filter(|&&f| f != NONE).count() as i64;
        Self {
            bad_edges,
            bad_nodes: (0..nodes as u32).filter(|&n| bad[n as usize]).collect(),
            components: (0..triangles.len() as u32)
                .filter(|&t| pieces.root(t) == t)
                .count(),
            euler: used - edge_count + triangles.len() as i64,
        }
    }
}

/// Disjoint sets; the root of a set is its smallest member.
struct Union(Vec<u32>);

impl Union {
    fn new(count: usize) -> Self {
        Self((0..count as u32).collect())
    }
    fn root(&mut self, mut i: u32) -> u32 {
        while self.0[i as usize] != i {
            self.0[i as usize] = self.0[self.0[i as usize] as usize];
            i = self.0[i as usize];
        }
        i
    }
    fn unite(&mut self, a: u32, b: u32) {
        let (a, b) = (self.root(a), self.root(b));
        self.0[a.max(b) as usize] = a.min(b);
    }
}

/// Removes face-connected pieces with less than `fraction` of the volume of the
/// largest; returns how many, and the volume that went with them.
pub(super) fn keep_large_pieces(mesh: &mut Stuffed, fraction: f64) -> (usize, f64) {
    let mut sets = Union::new(mesh.tets.len());
    for (t, across) in neighbours(&mesh.tets).iter().enumerate() {
        for &n in across.iter().filter(|&&n| n != NONE) {
            sets.unite(t as u32, n);
        }
    }
    let mut volumes = vec![0.0; mesh.tets.len()];
    for (t, tet) in mesh.tets.iter().enumerate() {
        volumes[sets.root(t as u32) as usize] += volume(tet.map(|n| mesh.positions[n as usize]));
    }
    let largest = volumes.iter().copied().fold(0.0, f64::max);
    let small = |v: f64| v < fraction * largest;
    let roots: Vec<usize> = (0..volumes.len())
        .filter(|&t| sets.root(t as u32) as usize == t)
        .collect();
    let dropped: Vec<f64> = roots
        .iter()
        .map(|&r| volumes[r])
        .filter(|&v| small(v))
        .collect();
    if !dropped.is_empty() {
        let mut t = 0;
        mesh.tets.retain(|_| {
            t += 1;
            !small(volumes[sets.root(t - 1) as usize])
        });
        *mesh = compact(std::mem::take(mesh));
    }
    (dropped.len(), dropped.iter().sum())
}

/// The nodes where the boundary is not manifold, or where the mesh touches itself.
pub(super) fn bad_nodes(mesh: &Stuffed) -> Vec<u32> {
    let faces = boundary(&mesh.tets, &neighbours(&mesh.tets));
    let triangles: Vec<[u32; 3]> = faces.iter().map(|f| f.0).collect();
    let found = Examined::new(mesh.positions.len(), &triangles);
    let mut nodes: Vec<u32> = found.bad_edges.into_iter().flatten().collect();
    nodes.extend(found.bad_nodes);
    nodes.sort_unstable();
    nodes.dedup();
    nodes
}

/// Makes the boundary manifold; returns how many nodes were copied and how many
/// tetrahedra removed.
pub(super) fn make_manifold(mesh: &mut Stuffed) -> (usize, usize) {
    let (mut copied, mut removed) = (0, 0);
    while !mesh.tets.is_empty() {
        let across = neighbours(&mesh.tets);
        let faces = boundary(&mesh.tets, &across);
        let triangles: Vec<[u32; 3]> = faces.iter().map(|f| f.0).collect();
        let found = Examined::new(mesh.positions.len(), &triangles);
        if found.bad_edges.is_empty() && found.bad_nodes.is_empty() {
            break;
        }
        let mut suspects: Vec<u32> = found.bad_edges.iter().flatten().copied().collect();
        suspects.extend(&found.bad_nodes);
        suspects.sort_unstable();
        suspects.dedup();
        let mut is_suspect = vec![false; mesh.positions.len()];
        for &n in &suspects {
            is_suspect[n as usize] = true;
        }
        let mut around: Vec<Vec<u32>> = vec![Vec::new(); mesh.positions.len()];
        for (t, tet) in mesh.tets.iter().enumerate() {
            for &n in tet.iter().filter(|&&n| is_suspect[n as usize]) {
                around[n as usize].push(t as u32);
            }
        }
        let mut separated = 0;
        for &n in &suspects {
            separated += separate(mesh, &across, n, &around[n as usize]);
        }
        copied += separated;
        if separated > 0 {
            continue;
        }
        // The smallest tetrahedron with a boundary face at each bad place.
        let mut on_boundary = vec![0_u8; mesh.tets.len()];
        for f in &faces {
            on_boundary[f.1 as usize] += 1;
        }
        let mut dead = vec![false; mesh.tets.len()];
        let mut kill = |candidates: &mut dyn Iterator<Item = u32>| {
            let worst = candidates
                .filter(|&t| on_boundary[t as usize] > 0)
                .map(|t| (mesh.tets[t as usize], t))
                .map(|(tet, t)| (volume(tet.map(|n| mesh.positions[n as usize])), t))
                .min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            if let Some((_, t)) = worst {
                dead[t as usize] = true;
            }
        };
        for &[a, b] in &found.bad_edges {
            kill(
                &mut around[a as usize]
                    .iter()
                    .copied()
                    .filter(|&t| mesh.tets[t as usize].contains(&b)),
            );
        }
        if found.bad_edges.is_empty() {
            for &n in &found.bad_nodes {
                kill(&mut around[n as usize].iter().copied());
            }
        }
        let before = mesh.tets.len();
        let mut t = 0;
        mesh.tets.retain(|_| {
            t += 1;
            !dead[t - 1]
        });
        removed += before - mesh.tets.len();
    }
    *mesh = compact(std::mem::take(mesh));
    (copied, removed)
}

/// Gives each group of face-connected tetrahedra round `node` its own copy of it.
fn separate(mesh: &mut Stuffed, across: &[[u32; 4]], node: u32, around: &[u32]) -> usize {
    let place = |t: u32| around.binary_search(&t).ok();
    let mut sets = Union::new(around.len());
    for (i, &t) in around.iter().enumerate() {
        for k in 0..4 {
            // Local face k holds the node unless the node is opposite it.
            if mesh.tets[t as usize][k] != node
                && let Some(j) = place(across[t as usize][k])
            {
                sets.unite(i as u32, j as u32);
            }
        }
    }
    let mut copies = 0;
    for root in 1..around.len() as u32 {
        if sets.root(root) != root {
            continue;
        }
        let copy = mesh.positions.len() as u32;
        let (position, surface): (DVec3, bool) = (
            mesh.positions[node as usize],
            mesh.on_surface[node as usize],
        );
        mesh.positions.push(position);
        mesh.on_surface.push(surface);
        mesh.origin.push(mesh.origin[node as usize]);
        copies += 1;
        for (i, &t) in around.iter().enumerate() {
            if sets.root(i as u32) == root {
                for n in &mut mesh.tets[t as usize] {
                    if *n == node {
                        *n = copy;
                    }
                }
            }
        }
    }
    copies
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mesh(positions: &[[f64; 3]], tets: &[[u32; 4]]) -> Stuffed {
        Stuffed {
            positions: positions.iter().map(|&p| DVec3::from_array(p)).collect(),
            tets: tets.to_vec(),
            on_surface: vec![true; positions.len()],
            origin: vec![NONE; positions.len()],
        }
    }

    fn examine(mesh: &Stuffed) -> BoundaryTopology {
        let faces = boundary(&mesh.tets, &neighbours(&mesh.tets));
        let triangles: Vec<[u32; 3]> = faces.iter().map(|f| f.0).collect();
        boundary_topology(mesh.positions.len(), &triangles)
    }

    const CORNERS: [[f64; 3]; 7] = [
        [0., 0., 0.],
        [1., 0., 0.],
        [0., 1., 0.],
        [0., 0., 1.],
        [-1., 0., 0.],
        [0., -1., 0.],
        [0., 0., -1.],
    ];

    #[test]
    fn two_tets_that_touch_in_a_node_are_separated() {
        let mut m = mesh(&CORNERS, &[[0, 1, 2, 3], [0, 5, 4, 6]]);
        assert!(volume(m.tets[1].map(|n| m.positions[n as usize])) > 0.0);
        assert_eq!(examine(&m).bad_nodes, 1);
        assert_eq!(make_manifold(&mut m), (1, 0));
        let after = examine(&m);
        assert!(after.is_manifold());
        assert_eq!((after.components, after.genus()), (2, Some(0)));
    }

    #[test]
    fn two_tets_that_touch_along_an_edge_are_separated() {
        let mut m = mesh(&CORNERS, &[[0, 1, 2, 3], [0, 5, 4, 3]]);
        m.tets[1] = [0, 4, 5, 3];
        assert_eq!(examine(&m).bad_edges, 1);
        make_manifold(&mut m);
        assert!(examine(&m).is_manifold());
        assert_eq!(m.tets.len(), 2);
    }

    #[test]
    fn small_pieces_are_dropped() {
        let mut positions = CORNERS.to_vec();
        positions.extend(CORNERS[..4].iter().map(|p| p.map(|x| 5.0 + 0.1 * x)));
        let mut m = mesh(&positions, &[[0, 1, 2, 3], [7, 8, 9, 10]]);
        let (dropped, lost) = keep_large_pieces(&mut m, 0.01);
        assert_eq!((dropped, m.tets.len(), m.positions.len()), (1, 1, 4));
        assert!((lost - 1e-3 / 6.0).abs() < 1e-12);
    }
}
