//! Who touches whom in a tet mesh whose positions change every step.
//!
//! A [`Topology`] knows no positions. It is built once, and again only when the
//! body tears; in between, every march, overlap test and response reads it beside
//! whatever positions the step has produced. Nothing is asked of the caller about
//! parts: a mesh cut into many pieces is one mesh whose pieces share no node.
//!
//! What a march needs is prepared here, so that it touches inner nodes only:
//! - `inner`: the inner neighbours of each inner node (boundary nodes are final
//!   before the march begins, so no edge towards them is ever relaxed);
//! - `near`: the inner nodes that have boundary neighbours, with those neighbours
//!   (the seeds of closest *points*) and the distinct boundary triangles around
//!   them (the seeds of closest *features*).
//!
//! Cost: O(nodes + tets). Faces are matched in buckets by their lowest node, not
//! through a hash table: the same result, several times faster.

use std::sync::atomic::{AtomicU64, Ordering};

use fracas_geometry::tet_mesh::{NONE, TET_EDGES, TET_FACES, TetMeshError};

/// Adjacency, boundary and parts of a tet mesh. Immutable once built.
#[derive(Clone, Debug)]
pub struct Topology {
    nodes: usize,
    tets: Vec<[u32; 4]>,
    neighbours: Vec<[u32; 4]>,
    on_boundary: Vec<bool>,
    boundary_nodes: Vec<u32>,
    faces: Vec<[u32; 3]>,
    /// Across each edge of a boundary triangle: another one (itself if alone).
    face_neighbours: Vec<[u32; 3]>,
    parts: Vec<u32>,
    part_count: usize,
    part_tets: Rows,
    /// The nodes of each part's tetrahedra, each once.
    part_nodes: Rows,
    /// Edges of boundary triangles, lower node first, part by part, in order.
    surface_edges: Vec<[u32; 2]>,
    /// Where each part's begin.
    surface_starts: Vec<u32>,
    inner: Rows,
    near: Vec<u32>,
    near_nodes: Rows,
    near_faces: Rows,
    /// Differs between any two builds, so that a field can tell that it is stale.
    revision: u64,
}

/// Rows of indices of varying length in two flat arrays.
#[derive(Clone, Debug, Default, PartialEq)]
struct Rows {
    starts: Vec<u32>,
    items: Vec<u32>,
}

impl Rows {
    fn row(&self, i: usize) -> &[u32] {
        &self.items[self.starts[i] as usize..self.starts[i + 1] as usize]
    }

    /// Inverts `lists`: for each of `rows` values, the lists that contain it, in order.
    fn invert<const N: usize>(rows: usize, lists: &[[u32; N]]) -> Self {
        let mut starts = vec![0_u32; rows + 1];
        for &value in lists.iter().flatten() {
            starts[value as usize + 1] += 1;
        }
        for i in 0..rows {
            starts[i + 1] += starts[i];
        }
        let mut next = starts.clone();
        let mut items = vec![0; lists.len() * N];
        for (i, list) in lists.iter().enumerate() {
            for &value in list {
                items[next[value as usize] as usize] = i as u32;
                next[value as usize] += 1;
            }
        }
        Self { starts, items }
    }
}

impl Topology {
    /// Builds the adjacency of `tets` over `nodes` nodes.
    ///
    /// Nodes that no tetrahedron uses are allowed (a simulation may keep spare
    /// ones); they are never reached by a march.
    ///
    /// # Errors
    /// When an index is out of range or repeated, or a face has three tetrahedra.
    pub fn build(nodes: usize, tets: &[[u32; 4]]) -> Result<Self, TetMeshError> {
        Self::build_with_walls(nodes, tets, |_| true)
    }

    /// As [`Topology::build`], but an unmatched face counts as boundary only where
    /// `is_boundary` says so of its three nodes. The others are planes of symmetry:
    /// a one-layer slab whose top and bottom are left out measures distances as the
    /// two-dimensional meshes of [Marchal 2004, section 4.3] do.
    ///
    /// # Errors
    /// As [`Topology::build`].
    pub fn build_with_walls(
        nodes: usize,
        tets: &[[u32; 4]],
        is_boundary: impl Fn([u32; 3]) -> bool,
    ) -> Result<Self, TetMeshError> {
        let neighbours = Self::neighbours_of(nodes, tets)?;
        Ok(Self::assemble(nodes, tets, neighbours, is_boundary))
    }

    /// As [`Topology::build`], where it is known who shares which face: what
    /// [`Topology::neighbours_of`] would say.
    ///
    /// # Errors
    /// When an index is out of range or repeated.
    ///
    /// # Panics
    /// When `neighbours` are not one entry per tetrahedron, or none of theirs.
    pub fn build_beside(
        nodes: usize,
        tets: &[[u32; 4]],
        neighbours: Vec<[u32; 4]>,
    ) -> Result<Self, TetMeshError> {
        check(nodes, tets)?;
        debug_assert_eq!(match_faces(nodes, tets).as_ref(), Ok(&neighbours));
        Ok(Self::assemble(nodes, tets, neighbours, |_| true))
    }

    /// Everything that follows from who shares which face.
    fn assemble(
        nodes: usize,
        tets: &[[u32; 4]],
        neighbours: Vec<[u32; 4]>,
        is_boundary: impl Fn([u32; 3]) -> bool,
    ) -> Self {
        let (parts, part_count) = flood_parts(&neighbours);
        let (mut faces, mut face_parts) = (Vec::new(), Vec::new());
        for ((across, corners), &part) in neighbours.iter().zip(tets).zip(&parts) {
            for i in (0..4).filter(|&i| across[i] == NONE) {
                let face = TET_FACES[i].map(|k| corners[k]);
                if is_boundary(face) {
                    faces.push(face);
                    face_parts.push(part);
                }
            }
        }
        let mut on_boundary = vec![false; nodes];
        for &n in faces.iter().flatten() {
            on_boundary[n as usize] = true;
        }
        let boundary_nodes = (0..nodes as u32)
            .filter(|&n| on_boundary[n as usize])
            .collect();
        let edges = sorted_edges(&faces);
        let (surface_edges, surface_starts) = edges_of_parts(&edges, &face_parts, part_count);
        let lists: Vec<[u32; 1]> = parts.iter().map(|&part| [part]).collect();
        let part_tets = Rows::invert(part_count, &lists);
        let mut topology = Self {
            nodes,
            part_nodes: nodes_of_parts(nodes, tets, &part_tets, part_count),
            tets: tets.to_vec(),
            neighbours,
            on_boundary,
            boundary_nodes,
            face_neighbours: match_edges(&edges, faces.len()),
            faces,
            parts,
            part_count,
            part_tets,
            surface_edges,
            surface_starts,
            inner: Rows::default(),
            near: Vec::new(),
            near_nodes: Rows::default(),
            near_faces: Rows::default(),
            revision: next_revision(),
        };
        topology.gather_rows();
        topology
    }

    /// The number of nodes.
    #[must_use]
    pub fn nodes(&self) -> usize {
        self.nodes
    }

    /// The tetrahedra.
    #[must_use]
    pub fn tets(&self) -> &[[u32; 4]] {
        &self.tets
    }

    /// Across local face `i` of each tetrahedron: the neighbour, or [`NONE`].
    #[must_use]
    pub fn neighbours(&self) -> &[[u32; 4]] {
        &self.neighbours
    }

    /// The boundary triangles, counter-clockwise seen from outside.
    #[must_use]
    pub fn faces(&self) -> &[[u32; 3]] {
        &self.faces
    }

    /// The nodes of the boundary, in increasing order.
    #[must_use]
    pub fn boundary_nodes(&self) -> &[u32] {
        &self.boundary_nodes
    }

    /// Whether a node lies on the boundary.
    #[must_use]
    pub fn is_boundary(&self, node: u32) -> bool {
        self.on_boundary[node as usize]
    }

    /// For each tetrahedron the part it belongs to: tetrahedra are of one part if
    /// a chain of shared faces joins them. Parts are numbered by their lowest tet.
    #[must_use]
    pub fn parts(&self) -> &[u32] {
        &self.parts
    }

    /// The number of parts.
    #[must_use]
    pub fn part_count(&self) -> usize {
        self.part_count
    }

    /// The tetrahedra of a part, in increasing order.
    #[must_use]
    pub fn part_tets(&self, part: u32) -> &[u32] {
        self.part_tets.row(part as usize)
    }

    /// The nodes of a part's tetrahedra, each once.
    pub(super) fn part_nodes(&self, part: u32) -> &[u32] {
        self.part_nodes.row(part as usize)
    }

    /// The edges of a part's boundary triangles, lower node first, in order.
    pub(super) fn surface_edges(&self, part: u32) -> &[[u32; 2]] {
        let [from, to] = [part, part + 1].map(|p| self.surface_starts[p as usize] as usize);
        &self.surface_edges[from..to]
    }

    /// The tetrahedra whose four nodes all lie on the boundary: they have no depth
    /// inside, whatever the march does [Marchal 2004, section 6.2].
    pub fn flat_tets(&self) -> impl Iterator<Item = u32> + '_ {
        self.tets
            .iter()
            .enumerate()
            .filter(|(_, corners)| corners.iter().all(|&n| self.on_boundary[n as usize]))
            .map(|(t, _)| t as u32)
    }

    /// As [`Topology::neighbours`], without building anything else.
    ///
    /// # Errors
    /// As [`Topology::build`].
    pub fn neighbours_of(nodes: usize, tets: &[[u32; 4]]) -> Result<Vec<[u32; 4]>, TetMeshError> {
        check(nodes, tets)?;
        match_faces(nodes, tets)
    }

    /// How many nodes lie inside.
    pub(super) fn inner_nodes(&self) -> usize {
        self.nodes - self.boundary_nodes.len()
    }

    /// Inner neighbours of an inner node.
    pub(super) fn inner(&self, node: u32) -> &[u32] {
        self.inner.row(node as usize)
    }

    /// Inner nodes that have boundary neighbours.
    pub(super) fn near(&self) -> &[u32] {
        &self.near
    }

    /// Boundary neighbours of the `i`-th near node.
    pub(super) fn near_nodes(&self, i: usize) -> &[u32] {
        self.near_nodes.row(i)
    }

    /// Boundary triangles with a node that is a neighbour of the `i`-th near node.
    pub(super) fn near_faces(&self, i: usize) -> &[u32] {
        self.near_faces.row(i)
    }

    /// The boundary triangles across the edges of boundary triangle `face`.
    pub(super) fn face_neighbours(&self, face: u32) -> [u32; 3] {
        self.face_neighbours[face as usize]
    }

    pub(super) fn revision(&self) -> u64 {
        self.revision
    }

    /// Checks what the other methods promise, from the tetrahedra alone.
    ///
    /// # Errors
    /// The first promise found broken.
    pub fn validate(&self) -> Result<(), String> {
        check(self.nodes, &self.tets).map_err(|e| e.to_string())?;
        for (t, across) in self.neighbours.iter().enumerate() {
            for (i, &other) in across.iter().enumerate() {
                if other == NONE {
                    continue;
                }
                let mut mine = TET_FACES[i].map(|k| self.tets[t][k]);
                mine.sort_unstable();
                let back = (0..4).any(|j| {
                    let mut theirs = TET_FACES[j].map(|k| self.tets[other as usize][k]);
                    theirs.sort_unstable();
                    theirs == mine && self.neighbours[other as usize][j] == t as u32
                });
                if !back {
                    return Err(format!("tet {t} and {other} disagree on face {mine:?}"));
                }
                if self.parts[t] != self.parts[other as usize] {
                    return Err(format!("neighbours {t} and {other} are of different parts"));
                }
            }
        }
        let listed = (0..self.part_count as u32)
            .flat_map(|part| self.part_tets(part).iter().map(move |&t| (part, t)));
        let sound = |&(part, t): &(u32, u32)| self.parts[t as usize] == part;
        if listed.clone().filter(sound).count() != self.tets.len() {
            return Err("a part lists tetrahedra that are not its own".into());
        }
        if self
            .near
            .iter()
            .chain(&self.inner.items)
            .any(|&n| self.is_boundary(n))
        {
            return Err("a boundary node is listed among the inner ones".into());
        }
        let seeded = self.near_nodes.items.iter().all(|&n| self.is_boundary(n));
        if !seeded {
            return Err("an inner node is listed as a seed".into());
        }
        Ok(())
    }

    fn gather_rows(&mut self) {
        let node_tets = Rows::invert(self.nodes, &self.tets);
        let node_faces = Rows::invert(self.nodes, &self.faces);
        let mut seen = vec![NONE; self.nodes];
        let mut seen_face = vec![NONE; self.faces.len()];
        for rows in [&mut self.inner, &mut self.near_nodes, &mut self.near_faces] {
            rows.starts.push(0);
        }
        for node in 0..self.nodes as u32 {
            if !self.on_boundary[node as usize] {
                let seeds_before = self.near_nodes.items.len();
                let inner_before = self.inner.items.len();
                seen[node as usize] = node;
                for &t in node_tets.row(node as usize) {
                    for n in self.tets[t as usize] {
                        if seen[n as usize] == node {
                            continue;
                        }
                        seen[n as usize] = node;
                        if self.on_boundary[n as usize] {
                            self.near_nodes.items.push(n);
                        } else {
                            self.inner.items.push(n);
                        }
                    }
                }
                self.inner.items[inner_before..].sort_unstable();
                if self.near_nodes.items.len() > seeds_before {
                    self.near_nodes.items[seeds_before..].sort_unstable();
                    self.near.push(node);
                    let faces_before = self.near_faces.items.len();
                    for &n in &self.near_nodes.items[seeds_before..] {
                        for &f in node_faces.row(n as usize) {
                            if seen_face[f as usize] != node {
                                seen_face[f as usize] = node;
                                self.near_faces.items.push(f);
                            }
                        }
                    }
                    self.near_faces.items[faces_before..].sort_unstable();
                    self.near_nodes
                        .starts
                        .push(self.near_nodes.items.len() as u32);
                    self.near_faces
                        .starts
                        .push(self.near_faces.items.len() as u32);
                }
            }
            self.inner.starts.push(self.inner.items.len() as u32);
        }
    }
}

fn next_revision() -> u64 {
    // Only ever compared for equality: decides what is recomputed, never a result.
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

fn check(nodes: usize, tets: &[[u32; 4]]) -> Result<(), TetMeshError> {
    let too_large = |what, count, limit| TetMeshError::TooLarge { what, count, limit };
    if nodes >= NONE as usize {
        return Err(too_large("nodes", nodes, NONE as usize - 1));
    }
    // The largest flat row holds fewer than 66 entries a tetrahedron, indexed by u32.
    if tets.len() > (NONE / 66) as usize {
        return Err(too_large("tetrahedra", tets.len(), (NONE / 66) as usize));
    }
    for (t, corners) in tets.iter().enumerate() {
        let tet = t as u32;
        if let Some(&node) = corners.iter().find(|&&n| n as usize >= nodes) {
            return Err(TetMeshError::NodeOutOfRange { tet, node, nodes });
        }
        if let Some([a, _]) = TET_EDGES.iter().find(|[a, b]| corners[*a] == corners[*b]) {
            return Err(TetMeshError::RepeatedNode {
                tet,
                node: corners[*a],
            });
        }
    }
    Ok(())
}

/// Face neighbours: faces are put into buckets by their lowest node and matched
/// there by the other two.
fn match_faces(nodes: usize, tets: &[[u32; 4]]) -> Result<Vec<[u32; 4]>, TetMeshError> {
    let sorted_face = |t: usize, i: usize| {
        let mut key = TET_FACES[i].map(|k| tets[t][k]);
        key.sort_unstable();
        key
    };
    let mut starts = vec![0_u32; nodes + 1];
    for t in 0..tets.len() {
        for i in 0..4 {
            starts[sorted_face(t, i)[0] as usize + 1] += 1;
        }
    }
    for i in 0..nodes {
        starts[i + 1] += starts[i];
    }
    let mut next = starts.clone();
    // (other two nodes, tet and local face)
    let mut entries = vec![(0_u64, 0_u32); tets.len() * 4];
    for t in 0..tets.len() {
        for i in 0..4 {
            let [a, b, c] = sorted_face(t, i);
            let slot = &mut next[a as usize];
            entries[*slot as usize] = (u64::from(b) << 32 | u64::from(c), (t * 4 + i) as u32);
            *slot += 1;
        }
    }
    let mut neighbours = vec![[NONE; 4]; tets.len()];
    for node in 0..nodes {
        let bucket = &mut entries[starts[node] as usize..starts[node + 1] as usize];
        bucket.sort_unstable();
        let mut i = 0;
        while i + 1 < bucket.len() {
            let ((key, first), (next_key, second)) = (bucket[i], bucket[i + 1]);
            if key != next_key {
                i += 1;
                continue;
            }
            if let Some(&(third_key, third)) = bucket.get(i + 2)
                && third_key == key
            {
                return Err(TetMeshError::FaceShared {
                    nodes: sorted_face(first as usize / 4, first as usize % 4),
                    tets: [first / 4, second / 4, third / 4],
                });
            }
            neighbours[first as usize / 4][first as usize % 4] = second / 4;
            neighbours[second as usize / 4][second as usize % 4] = first / 4;
            i += 2;
        }
    }
    Ok(neighbours)
}

/// An edge of a boundary triangle: its nodes, the lower one first, and three times the
/// triangle and which of its edges it is.
type FaceEdge = (u32, u32, u32);

fn sorted_edges(faces: &[[u32; 3]]) -> Vec<FaceEdge> {
    let mut edges: Vec<FaceEdge> = Vec::with_capacity(faces.len() * 3);
    for (f, face) in faces.iter().enumerate() {
        for i in 0..3 {
            let (a, b) = (face[i], face[(i + 1) % 3]);
            edges.push((a.min(b), a.max(b), (f * 3 + i) as u32));
        }
    }
    edges.sort_unstable();
    edges
}

/// Boundary triangles across edges. Where more than two meet in an edge, each is
/// given the next in order, so that all can be walked to.
fn match_edges(edges: &[FaceEdge], faces: usize) -> Vec<[u32; 3]> {
    let mut across: Vec<[u32; 3]> = (0..faces as u32).map(|f| [f; 3]).collect();
    for ring in edges.chunk_by(|x, y| (x.0, x.1) == (y.0, y.1)) {
        for (k, &(_, _, slot)) in ring.iter().enumerate() {
            let next = ring[(k + 1) % ring.len()].2;
            across[slot as usize / 3][slot as usize % 3] = next / 3;
        }
    }
    across
}

/// The edges of each part's boundary, each once, and where each part's begin. (Parts may touch
/// in an edge: then it is an edge of both.)
fn edges_of_parts(
    edges: &[FaceEdge],
    face_parts: &[u32],
    parts: usize,
) -> (Vec<[u32; 2]>, Vec<u32>) {
    let mut owned: Vec<(u32, [u32; 2])> = Vec::with_capacity(edges.len() / 2);
    for ring in edges.chunk_by(|x, y| (x.0, x.1) == (y.0, y.1)) {
        let from = owned.len();
        for &(a, b, slot) in ring {
            let edge = (face_parts[slot as usize / 3], [a, b]);
            if !owned[from..].contains(&edge) {
                owned.push(edge);
            }
        }
    }
    let mut starts = vec![0_u32; parts + 1];
    for (part, _) in &owned {
        starts[*part as usize + 1] += 1;
    }
    for i in 0..parts {
        starts[i + 1] += starts[i];
    }
    let mut next = starts.clone();
    let mut sorted = vec![[0; 2]; owned.len()];
    for (part, edge) in owned {
        sorted[next[part as usize] as usize] = edge;
        next[part as usize] += 1;
    }
    (sorted, starts)
}

/// The nodes of each part's tetrahedra, each once. (Parts may touch in a node: then it is one of
/// both.)
fn nodes_of_parts(nodes: usize, tets: &[[u32; 4]], part_tets: &Rows, parts: usize) -> Rows {
    let mut seen = vec![NONE; nodes];
    let mut rows = Rows::default();
    rows.starts.push(0);
    for part in 0..parts {
        for n in part_tets.row(part).iter().flat_map(|&t| tets[t as usize]) {
            if seen[n as usize] != part as u32 {
                seen[n as usize] = part as u32;
                rows.items.push(n);
            }
        }
        rows.starts.push(rows.items.len() as u32);
    }
    rows
}

fn flood_parts(neighbours: &[[u32; 4]]) -> (Vec<u32>, usize) {
    let mut parts = vec![NONE; neighbours.len()];
    let (mut count, mut stack) = (0, Vec::new());
    for start in 0..neighbours.len() {
        if parts[start] != NONE {
            continue;
        }
        parts[start] = count;
        stack.push(start);
        while let Some(t) = stack.pop() {
            for &other in neighbours[t].iter().filter(|&&o| o != NONE) {
                if parts[other as usize] == NONE {
                    parts[other as usize] = count;
                    stack.push(other as usize);
                }
            }
        }
        count += 1;
    }
    (parts, count as usize)
}

#[cfg(test)]
mod tests {
    use glam::Vec3;

    use super::*;
    use fracas_geometry::testing::box_grid;

    #[test]
    fn agrees_with_the_adjacency_of_tet_mesh() {
        let mesh = box_grid([3, 4, 5], Vec3::ONE);
        let topology = Topology::build(mesh.positions().len(), mesh.tets()).unwrap();
        assert_eq!(topology.neighbours(), mesh.neighbours());
        assert_eq!(topology.faces().len(), mesh.boundary().count());
        let boundary = mesh.boundary_nodes();
        for node in 0..mesh.positions().len() as u32 {
            assert_eq!(topology.is_boundary(node), boundary[node as usize]);
            if !topology.is_boundary(node) {
                let expected: Vec<u32> = mesh
                    .adjacent_nodes(node)
                    .iter()
                    .copied()
                    .filter(|&n| !boundary[n as usize])
                    .collect();
                assert_eq!(topology.inner(node), expected);
            }
        }
        assert_eq!(topology.part_count(), 1);
        topology.validate().unwrap();
    }

    #[test]
    fn parts_are_found_and_defects_named() {
        let two = [[0, 1, 2, 3], [4, 5, 6, 7]];
        assert_eq!(Topology::build(8, &two).unwrap().parts(), [0, 1]);
        // Joined by an edge only: still two parts.
        let hinged = [[0, 1, 2, 3], [0, 1, 6, 7]];
        let topology = Topology::build(8, &hinged).unwrap();
        assert_eq!(topology.part_count(), 2);
        assert_eq!(topology.part_nodes(0), [0, 1, 2, 3]);
        assert_eq!(topology.part_nodes(1), [0, 1, 6, 7]);
        assert!(matches!(
            Topology::build(3, &[[0, 1, 2, 3]]),
            Err(TetMeshError::NodeOutOfRange { node: 3, .. })
        ));
        assert!(matches!(
            Topology::build(4, &[[0, 1, 2, 2]]),
            Err(TetMeshError::RepeatedNode { node: 2, .. })
        ));
        let crowded = [[0, 1, 2, 3], [0, 1, 2, 4], [0, 1, 2, 5]];
        assert!(matches!(
            Topology::build(6, &crowded),
            Err(TetMeshError::FaceShared { .. })
        ));
        assert_eq!(Topology::build(0, &[]).unwrap().part_count(), 0);
    }

    #[test]
    fn flat_tets_are_those_without_an_inner_node() {
        let one = Topology::build(4, &[[0, 1, 2, 3]]).unwrap();
        assert_eq!(one.flat_tets().count(), 1);
        let split = [[0, 1, 2, 4], [0, 1, 4, 3], [0, 4, 2, 3], [4, 1, 2, 3]];
        assert_eq!(Topology::build(5, &split).unwrap().flat_tets().count(), 0);
    }
}
