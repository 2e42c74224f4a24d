//! What a breakable object is made of: tetrahedra, their neighbours and their boundary.
//!
//! One [`TetMesh`] is shared by all fragments of an object for as long as it
//! lives; a fracture relabels its nodes and never changes it.
//!
//! Conventions, used by every module:
//! - A tetrahedron is positively oriented: `(b - a) x (c - a) . (d - a) > 0`.
//! - Local face `i` is the face opposite local node `i`; [`TET_FACES`] lists its
//!   nodes so that the normal points out of the tetrahedron.
//! - Node and tetrahedron indices are plain `u32`, as in every mesh file;
//!   handles that outlive a call (such as [`crate::FragmentId`]) are newtypes.

use glam::Vec3;
use thiserror::Error;
use wide::u32x4;

/// Marks the absence of a neighbour, a cut, a node.
pub const NONE: u32 = u32::MAX;

/// Local nodes of the face opposite each local node, outward for a positive tetrahedron.
pub const TET_FACES: [[usize; 3]; 4] = [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]];

/// Local nodes of the six edges.
pub const TET_EDGES: [[usize; 2]; 6] = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]];

/// Why nodes and tetrahedra do not make a [`TetMesh`].
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum TetMeshError {
    /// There is no tetrahedron.
    #[error("the mesh has no tetrahedra")]
    Empty,
    /// More nodes or tetrahedra than 32-bit indices can name.
    #[error("{count} {what} are more than a mesh can index (limit {limit})")]
    TooLarge {
        /// "nodes" or "tetrahedra".
        what: &'static str,
        /// How many were given.
        count: usize,
        /// How many are possible.
        limit: usize,
    },
    /// A coordinate is NaN or infinite.
    #[error("node {node} has a coordinate that is not finite: {position}")]
    NotFinite {
        /// The node.
        node: u32,
        /// Its position as given.
        position: Vec3,
    },
    /// A node is farther from the origin than single precision can cube.
    #[error("node {node} is too far away to compute with: {position} (1e12 at most)")]
    TooFar {
        /// The node.
        node: u32,
        /// Its position as given.
        position: Vec3,
    },
    /// A tetrahedron names a node that does not exist.
    #[error("tetrahedron {tet} names node {node}, but there are only {nodes} nodes")]
    NodeOutOfRange {
        /// The tetrahedron.
        tet: u32,
        /// The index it names.
        node: u32,
        /// The number of nodes.
        nodes: usize,
    },
    /// A tetrahedron names the same node twice.
    #[error("tetrahedron {tet} names node {node} twice")]
    RepeatedNode {
        /// The tetrahedron.
        tet: u32,
        /// The node named twice.
        node: u32,
    },
    /// A tetrahedron is flat or negatively oriented.
    #[error(
        "tetrahedron {tet} has volume {volume:e}, which is not positive; swap two of its nodes if it is inverted, remove it if it is flat"
    )]
    NotPositive {
        /// The tetrahedron.
        tet: u32,
        /// Its signed volume.
        volume: f64,
    },
    /// A triangle is shared by more than two tetrahedra.
    #[error("the triangle {nodes:?} belongs to more than two tetrahedra ({tets:?})")]
    FaceShared {
        /// The nodes of the triangle, sorted.
        nodes: [u32; 3],
        /// Three of its tetrahedra.
        tets: [u32; 3],
    },
    /// A node belongs to no tetrahedron.
    #[error("node {node} belongs to no tetrahedron; remove it")]
    UnusedNode {
        /// The node.
        node: u32,
    },
    /// Every face lies between two tetrahedra: nothing is inside or outside.
    #[error("the tetrahedra have no boundary, so several lie in the same place; remove copies")]
    NoBoundary,
    /// Neighbours that were given are not those of the tetrahedra.
    #[error("what lies across face {face} of tetrahedron {tet} is not what was given")]
    NotNeighbours {
        /// The tetrahedron.
        tet: u32,
        /// Its local face.
        face: u8,
    },
}

/// A conforming tetrahedral mesh with adjacency. Immutable once built.
#[derive(Clone, Debug, PartialEq)]
pub struct TetMesh {
    positions: Vec<Vec3>,
    tets: Vec<[u32; 4]>,
    /// Across local face `i`: the neighbour, or [`NONE`] on the boundary.
    neighbours: Vec<[u32; 4]>,
    node_nodes: Rows,
    node_tets: Rows,
    mean_edge: f32,
}

/// A boundary triangle of a [`TetMesh`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BoundaryFace {
    /// Its nodes, counter-clockwise seen from outside.
    pub nodes: [u32; 3],
    /// The tetrahedron it belongs to.
    pub tet: u32,
    /// Which local face of that tetrahedron it is.
    pub face: u8,
}

impl TetMesh {
    /// Checks the input and computes all adjacency, in O(nodes + tets).
    ///
    /// # Errors
    /// The first defect found, see [`TetMeshError`]. Nothing is repaired here;
    /// readers and the mesher repair, and say what they repaired.
    pub fn build(positions: Vec<Vec3>, tets: Vec<[u32; 4]>) -> Result<Self, TetMeshError> {
        check_nodes(&positions)?;
        check_tets(&positions, &tets)?;
        let neighbours = match_faces(positions.len(), &tets)?;
        Self::finish(positions, tets, neighbours)
    }

    /// The same, with neighbours that were found before: [`Self::neighbours`] of the mesh
    /// that was built. They are copied in, and checked in one pass.
    ///
    /// # Errors
    /// As [`Self::build`], and [`TetMeshError::NotNeighbours`]: neighbours must know each
    /// other and share the nodes of the face between them, and no two faces of the boundary
    /// may have the same nodes. (Three tetrahedra at one face, which [`Self::build`] refuses,
    /// go unnoticed where two of them are neighbours.)
    pub fn build_with_neighbours(
        positions: Vec<Vec3>,
        tets: Vec<[u32; 4]>,
        neighbours: Vec<[u32; 4]>,
    ) -> Result<Self, TetMeshError> {
        check_nodes(&positions)?;
        check_tets(&positions, &tets)?;
        let boundary = check_neighbours(&tets, &neighbours)?;
        check_boundary(positions.len(), &tets, &boundary)?;
        Self::finish(positions, tets, neighbours)
    }

    /// What follows from neighbours that are right.
    fn finish(
        positions: Vec<Vec3>,
        tets: Vec<[u32; 4]>,
        neighbours: Vec<[u32; 4]>,
    ) -> Result<Self, TetMeshError> {
        if !neighbours.as_flattened().contains(&NONE) {
            return Err(TetMeshError::NoBoundary);
        }
        let node_tets = rows_of_node_tets(positions.len(), &tets);
        if let Some(node) = (0..positions.len() as u32).find(|&n| node_tets.row(n).is_empty()) {
            return Err(TetMeshError::UnusedNode { node });
        }
        let node_nodes = rows_of_node_nodes(positions.len(), &tets);
        let mean_edge = mean_edge_length(&positions, &node_nodes);
        Ok(Self {
            positions,
            tets,
            neighbours,
            node_nodes,
            node_tets,
            mean_edge,
        })
    }

    /// Positions of all nodes.
    #[must_use]
    #[inline]
    pub fn positions(&self) -> &[Vec3] {
        &self.positions
    }

    /// Node indices of all tetrahedra.
    #[must_use]
    #[inline]
    pub fn tets(&self) -> &[[u32; 4]] {
        &self.tets
    }

    /// For each tetrahedron, its neighbour across each local face ([`NONE`] on the boundary).
    #[must_use]
    #[inline]
    pub fn neighbours(&self) -> &[[u32; 4]] {
        &self.neighbours
    }

    /// The nodes that share an edge with `node`, in increasing order.
    #[must_use]
    #[inline]
    pub fn adjacent_nodes(&self, node: u32) -> &[u32] {
        self.node_nodes.row(node)
    }

    /// The tetrahedra around `node`, in increasing order.
    #[must_use]
    #[inline]
    pub fn adjacent_tets(&self, node: u32) -> &[u32] {
        self.node_tets.row(node)
    }

    /// The four corners of a tetrahedron.
    #[must_use]
    #[inline]
    pub fn corners(&self, tet: u32) -> [Vec3; 4] {
        // Written out: a closure over the array is not inlined.
        let [a, b, c, d] = self.tets[tet as usize];
        let at = &self.positions;
        [
            at[a as usize],
            at[b as usize],
            at[c as usize],
            at[d as usize],
        ]
    }

    /// Signed volume of one tetrahedron, in f64.
    #[must_use]
    #[inline]
    pub fn volume_of(&self, tet: u32) -> f64 {
        signed_volume(self.corners(tet))
    }

    /// Volume of the whole mesh, summed in f64.
    #[must_use]
    pub fn volume(&self) -> f64 {
        (0..self.tets.len() as u32).map(|t| self.volume_of(t)).sum()
    }

    /// The mean length of all edges: the scale "h" of tolerances.
    #[must_use]
    #[inline]
    pub fn mean_edge_length(&self) -> f32 {
        self.mean_edge
    }

    /// Smallest and largest coordinates.
    #[must_use]
    pub fn bounds(&self) -> (Vec3, Vec3) {
        self.positions
            .iter()
            .fold((self.positions[0], self.positions[0]), |(lo, hi), &p| {
                (lo.min(p), hi.max(p))
            })
    }

    /// The boundary triangles, in order of tetrahedron and local face.
    #[inline]
    pub fn boundary(&self) -> impl Iterator<Item = BoundaryFace> + '_ {
        self.neighbours
            .iter()
            .zip(&self.tets)
            .enumerate()
            .flat_map(|(t, (across, nodes))| {
                (0..4)
                    .filter(|&i| across[i] == NONE)
                    .map(move |i| BoundaryFace {
                        nodes: TET_FACES[i].map(|k| nodes[k]),
                        tet: t as u32,
                        face: i as u8,
                    })
            })
    }

    /// Whether each node lies on the boundary.
    #[must_use]
    pub fn boundary_nodes(&self) -> Vec<bool> {
        let mut on_boundary = vec![false; self.positions.len()];
        for face in self.boundary() {
            for n in face.nodes {
                on_boundary[n as usize] = true;
            }
        }
        on_boundary
    }

    /// Recomputes everything from nodes and tetrahedra and compares.
    ///
    /// # Errors
    /// As [`TetMesh::build`]; also when the stored adjacency is not the recomputed one.
    pub fn validate(&self) -> Result<(), String> {
        let again =
            Self::build(self.positions.clone(), self.tets.clone()).map_err(|e| e.to_string())?;
        if again == *self {
            Ok(())
        } else {
            Err("stored adjacency differs from the recomputed one".into())
        }
    }
}

/// Signed volume of a tetrahedron with f32 corners, evaluated in f64.
#[must_use]
#[inline]
pub fn signed_volume(corners: [Vec3; 4]) -> f64 {
    let [a, b, c, d] = corners.map(Vec3::as_dvec3);
    (b - a).cross(c - a).dot(d - a) / 6.0
}

/// Rows of indices of varying length in two flat arrays.
#[derive(Clone, Debug, PartialEq)]
struct Rows {
    starts: Vec<u32>,
    items: Vec<u32>,
}

impl Rows {
    #[inline]
    fn row(&self, i: u32) -> &[u32] {
        &self.items[self.starts[i as usize] as usize..self.starts[i as usize + 1] as usize]
    }
}

fn check_nodes(positions: &[Vec3]) -> Result<(), TetMeshError> {
    let limit = (NONE - 1) as usize;
    if positions.len() > limit {
        return Err(TetMeshError::TooLarge {
            what: "nodes",
            count: positions.len(),
            limit,
        });
    }
    let far = |p: &Vec3| !p.is_finite() || p.abs().max_element() > FARTHEST;
    let Some(node) = positions.iter().position(far) else {
        return Ok(());
    };
    let (node, position) = (node as u32, positions[node]);
    Err(if position.is_finite() {
        TetMeshError::TooFar { node, position }
    } else {
        TetMeshError::NotFinite { node, position }
    })
}

/// Volumes of what is larger are no numbers, and so are the cells of grids around it.
const FARTHEST: f32 = 1e12;

fn check_tets(positions: &[Vec3], tets: &[[u32; 4]]) -> Result<(), TetMeshError> {
    // Six entries a tetrahedron in the flat rows, which are indexed by u32 too.
    let limit = (NONE / 6) as usize;
    if tets.is_empty() {
        return Err(TetMeshError::Empty);
    }
    if tets.len() > limit {
        return Err(TetMeshError::TooLarge {
            what: "tetrahedra",
            count: tets.len(),
            limit,
        });
    }
    for (t, nodes) in tets.iter().enumerate() {
        let tet = t as u32;
        if let Some(&node) = nodes.iter().find(|&&n| n as usize >= positions.len()) {
            return Err(TetMeshError::NodeOutOfRange {
                tet,
                node,
                nodes: positions.len(),
            });
        }
        if let Some([a, _]) = TET_EDGES.iter().find(|[a, b]| nodes[*a] == nodes[*b]) {
            return Err(TetMeshError::RepeatedNode {
                tet,
                node: nodes[*a],
            });
        }
        let volume = signed_volume(nodes.map(|n| positions[n as usize]));
        if volume <= 0.0 || volume.is_nan() {
            return Err(TetMeshError::NotPositive { tet, volume });
        }
    }
    Ok(())
}

fn mean_edge_length(positions: &[Vec3], node_nodes: &Rows) -> f32 {
    let (mut sum, mut count) = (0.0_f64, 0_u64);
    for a in 0..positions.len() as u32 {
        for &b in node_nodes.row(a).iter().filter(|&&b| b > a) {
            sum += f64::from(positions[a as usize].distance(positions[b as usize]));
            count += 1;
        }
    }
    (sum / count as f64) as f32
}

/// Neighbours across faces: the faces of each lowest node together, sorted by the other
/// two. A node is the lowest of few, so that each list is sorted in place and in cache.
fn match_faces(nodes: usize, tets: &[[u32; 4]]) -> Result<Vec<[u32; 4]>, TetMeshError> {
    let sorted = |nodes: &[u32; 4], i: usize| sorted_nodes(TET_FACES[i].map(|k| nodes[k]));
    let mut starts = vec![0_u32; nodes + 1];
    for nodes in tets {
        for i in 0..4 {
            starts[sorted(nodes, i)[0] as usize + 1] += 1;
        }
    }
    for n in 0..nodes {
        starts[n + 1] += starts[n];
    }
    // The other two nodes, and four times the tetrahedron plus the local face.
    let mut faces = vec![(0_u64, 0_u32); tets.len() * 4];
    for (t, nodes) in tets.iter().enumerate() {
        for i in 0..4 {
            let [low, middle, high] = sorted(nodes, i);
            let next = &mut starts[low as usize];
            let others = u64::from(middle) << 32 | u64::from(high);
            faces[*next as usize] = (others, (t * 4 + i) as u32);
            *next += 1;
        }
    }
    let mut neighbours = vec![[NONE; 4]; tets.len()];
    // The third face of a triangle, and the first two.
    let mut shared: Option<[u32; 3]> = None;
    let mut start = 0;
    for &end in &starts[..nodes] {
        // Each start has moved to the end of its list.
        let list = &mut faces[start as usize..end as usize];
        start = end;
        list.sort_unstable();
        for same in list.chunk_by(|a, b| a.0 == b.0) {
            match *same {
                [(_, a), (_, b)] => {
                    neighbours[a as usize / 4][a as usize % 4] = b / 4;
                    neighbours[b as usize / 4][b as usize % 4] = a / 4;
                }
                [(_, a), (_, b), (_, third), ..] if shared.is_none_or(|s| third < s[0]) => {
                    shared = Some([third, a, b]);
                }
                _ => (),
            }
        }
    }
    match shared {
        None => Ok(neighbours),
        Some([third, first, second]) => Err(TetMeshError::FaceShared {
            nodes: sorted(&tets[third as usize / 4], third as usize % 4),
            tets: [first, second, third].map(|face| face / 4),
        }),
    }
}

fn rows_of_node_tets(nodes: usize, tets: &[[u32; 4]]) -> Rows {
    let mut starts = vec![0_u32; nodes + 1];
    for n in tets.iter().flatten() {
        starts[*n as usize + 1] += 1;
    }
    for i in 0..nodes {
        starts[i + 1] += starts[i];
    }
    let mut next = starts.clone();
    let mut items = vec![0; tets.len() * 4];
    for (t, corners) in tets.iter().enumerate() {
        for n in corners {
            items[next[*n as usize] as usize] = t as u32;
            next[*n as usize] += 1;
        }
    }
    Rows { starts, items }
}

/// Who shares an edge with whom, without sorting: first the higher neighbours of each node, in
/// any order; then each node, in order, is added to these, and they to it.
fn rows_of_node_nodes(nodes: usize, tets: &[[u32; 4]]) -> Rows {
    let (higher, ends) = higher_neighbours(nodes, tets);
    // Lower neighbours come first in a row.
    let mut lower = vec![0_u32; nodes];
    for &n in &higher {
        lower[n as usize] += 1;
    }
    let (mut starts, mut start) = (Vec::with_capacity(nodes + 1), 0);
    starts.push(0);
    for (lower, ends) in lower.iter().zip(ends.windows(2)) {
        start += lower + ends[1] - ends[0];
        starts.push(start);
    }
    let mut next = starts[..nodes].to_vec();
    let mut items = vec![0; 2 * higher.len()];
    for node in 0..nodes {
        for &n in &higher[ends[node] as usize..ends[node + 1] as usize] {
            items[next[n as usize] as usize] = node as u32;
            next[n as usize] += 1;
        }
    }
    // Those of lower nodes are complete now, and each begins to list higher ones.
    for node in 0..nodes {
        let start = starts[node] as usize;
        for at in start..start + lower[node] as usize {
            let next = &mut next[items[at] as usize];
            items[*next as usize] = node as u32;
            *next += 1;
        }
    }
    Rows { starts, items }
}

/// For each node those with a higher number that share an edge with it, in any order; and
/// where they begin.
fn higher_neighbours(nodes: usize, tets: &[[u32; 4]]) -> (Vec<u32>, Vec<u32>) {
    // With repeats: an edge belongs to several tetrahedra.
    let mut starts = vec![0_u32; nodes + 1];
    for &tet in tets {
        let [a, b, c, _] = in_order(tet);
        starts[a as usize + 1] += 3;
        starts[b as usize + 1] += 2;
        starts[c as usize + 1] += 1;
    }
    for n in 0..nodes {
        starts[n + 1] += starts[n];
    }
    let mut higher = vec![0; 6 * tets.len()];
    for &tet in tets {
        let [a, b, c, d] = in_order(tet);
        let mut list = |node: u32, those: &[u32]| {
            let next = &mut starts[node as usize];
            let start = *next as usize;
            higher[start..start + those.len()].copy_from_slice(those);
            *next += those.len() as u32;
        };
        list(a, &[b, c, d]);
        list(b, &[c, d]);
        list(c, &[d]);
    }
    let mut last_seen_by = vec![NONE; nodes];
    let mut kept_starts = Vec::with_capacity(nodes + 1);
    kept_starts.push(0);
    let (mut kept, mut start) = (0, 0);
    // Each start has moved to the end of its list.
    for (node, &end) in starts[..nodes].iter().enumerate() {
        for at in start..end as usize {
            // Each is written, and stays where it is new: which ones are cannot be predicted.
            let n = higher[at];
            higher[kept] = n;
            kept += usize::from(last_seen_by[n as usize] != node as u32);
            last_seen_by[n as usize] = node as u32;
        }
        start = end as usize;
        kept_starts.push(kept as u32);
    }
    higher.truncate(kept);
    (higher, kept_starts)
}

/// Four different numbers, increasing.
#[inline]
fn in_order([a, b, c, d]: [u32; 4]) -> [u32; 4] {
    let ([a, b], [c, d]) = ([a.min(b), a.max(b)], [c.min(d), c.max(d)]);
    let ([a, c], [b, d]) = ([a.min(c), a.max(c)], [b.min(d), b.max(d)]);
    [a, b.min(c), b.max(c), d]
}

/// Whether neighbours that were given know each other and share a face. Gives the faces of
/// the boundary: four times the tetrahedron, plus the local face.
fn check_neighbours(tets: &[[u32; 4]], neighbours: &[[u32; 4]]) -> Result<Vec<u32>, TetMeshError> {
    if tets.len() != neighbours.len() {
        let tet = tets.len().min(neighbours.len()) as u32;
        return Err(TetMeshError::NotNeighbours { tet, face: 0 });
    }
    let mut boundary = Vec::with_capacity(tets.len());
    for (t, (nodes, across)) in tets.iter().zip(neighbours).enumerate() {
        let nodes = nodes.map(u32x4::splat);
        for (face, &u) in across.iter().enumerate() {
            if u == NONE {
                boundary.push((t * 4 + face) as u32);
                continue;
            }
            // Which nodes of the other one are of this face: all but the one opposite to it.
            let other = tets
                .get(u as usize)
                .map_or(u32x4::splat(NONE), |&n| n.into());
            let [a, b, c] = TET_FACES[face].map(|k| other.simd_eq(nodes[k]));
            let opposite = (!(a | b | c).to_bitmask()).trailing_zeros() as usize;
            let are_three = (a | b | c).to_bitmask().count_ones() == 3;
            let back = neighbours
                .get(u as usize)
                .map(|theirs| theirs[opposite & 3]);
            if !are_three || back != Some(t as u32) || u == t as u32 {
                let (tet, face) = (t as u32, face as u8);
                return Err(TetMeshError::NotNeighbours { tet, face });
            }
        }
    }
    Ok(boundary)
}

/// Whether no two faces of the boundary have the same nodes: they would be neighbours.
fn check_boundary(nodes: usize, tets: &[[u32; 4]], boundary: &[u32]) -> Result<(), TetMeshError> {
    let nodes_of = |face: u32| {
        let nodes = tets[face as usize / 4];
        sorted_nodes(TET_FACES[face as usize % 4].map(|k| nodes[k]))
    };
    // The faces of each lowest node together, as in `match_faces`.
    let mut starts = vec![0_u32; nodes + 1];
    for &face in boundary {
        starts[nodes_of(face)[0] as usize + 1] += 1;
    }
    for n in 0..nodes {
        starts[n + 1] += starts[n];
    }
    let mut faces = vec![(0_u64, 0_u32); boundary.len()];
    for &face in boundary {
        let [low, middle, high] = nodes_of(face);
        let next = &mut starts[low as usize];
        faces[*next as usize] = (u64::from(middle) << 32 | u64::from(high), face);
        *next += 1;
    }
    let mut start = 0;
    for &end in &starts[..nodes] {
        let list = &mut faces[start as usize..end as usize];
        start = end;
        list.sort_unstable();
        if let Some(same) = list.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            let (tet, face) = (same[1].1 / 4, (same[1].1 % 4) as u8);
            return Err(TetMeshError::NotNeighbours { tet, face });
        }
    }
    Ok(())
}

fn sorted_nodes([a, b, c]: [u32; 3]) -> [u32; 3] {
    let (low, high) = (a.min(b), a.max(b));
    [low.min(c), low.max(high.min(c)), high.max(c)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::box_grid;

    #[test]
    fn one_tet_has_four_outward_boundary_faces() {
        let mesh = TetMesh::build(
            vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z],
            vec![[0, 1, 2, 3]],
        )
        .unwrap();
        let centre = Vec3::splat(0.25);
        assert_eq!(mesh.boundary().count(), 4);
        for face in mesh.boundary() {
            let [a, b, c] = face.nodes.map(|n| mesh.positions()[n as usize]);
            assert!(
                (b - a).cross(c - a).dot(a - centre) > 0.0,
                "face {face:?} looks inward"
            );
        }
    }

    #[test]
    fn a_box_is_closed_and_full() {
        let mesh = box_grid([3, 4, 5], Vec3::new(3.0, 4.0, 5.0));
        assert_eq!(mesh.tets().len(), 6 * 60);
        assert_eq!(mesh.boundary().count(), 4 * (12 + 20 + 15));
        assert!((mesh.volume() - 60.0).abs() < 1e-9);
        mesh.validate().unwrap();
    }

    #[test]
    fn defects_are_named() {
        let p = vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z];
        let build = |tets: Vec<[u32; 4]>| TetMesh::build(p.clone(), tets).unwrap_err();
        assert_eq!(build(vec![]), TetMeshError::Empty);
        assert!(matches!(
            build(vec![[0, 1, 2, 9]]),
            TetMeshError::NodeOutOfRange {
                tet: 0,
                node: 9,
                nodes: 4
            }
        ));
        assert!(matches!(
            build(vec![[0, 1, 2, 2]]),
            TetMeshError::RepeatedNode { node: 2, .. }
        ));
        assert!(matches!(
            build(vec![[0, 2, 1, 3]]),
            TetMeshError::NotPositive { tet: 0, .. }
        ));
        let mut bad = p.clone();
        bad[2].y = f32::NAN;
        assert!(matches!(
            TetMesh::build(bad, vec![[0, 1, 2, 3]]),
            Err(TetMeshError::NotFinite { node: 2, .. })
        ));
        // Its edges have no length in single precision, and grids around it no cells.
        let mut far = p.clone();
        far[3].z = 1.5e26;
        assert!(matches!(
            TetMesh::build(far.clone(), vec![[0, 1, 2, 3]]),
            Err(TetMeshError::TooFar { node: 3, .. })
        ));
        far[3].z = 1e12;
        let largest = TetMesh::build(far, vec![[0, 1, 2, 3]]).unwrap();
        assert!(largest.mean_edge_length().is_finite() && largest.volume().is_finite());
        assert_eq!(build(vec![[0, 1, 2, 3]; 2]), TetMeshError::NoBoundary);
        let mut extra = p.clone();
        extra.push(Vec3::ONE);
        assert!(matches!(
            TetMesh::build(extra, vec![[0, 1, 2, 3]]),
            Err(TetMeshError::UnusedNode { node: 4 })
        ));
    }

    #[test]
    fn a_face_of_three_tets_is_refused() {
        let p = vec![
            Vec3::ZERO,
            Vec3::X,
            Vec3::Y,
            Vec3::Z,
            Vec3::new(0.1, 0.1, 2.0),
            Vec3::new(0.1, 0.1, 3.0),
        ];
        let tets = vec![[0, 1, 2, 3], [0, 1, 2, 4], [0, 1, 2, 5]];
        assert!(matches!(
            TetMesh::build(p, tets),
            Err(TetMeshError::FaceShared {
                nodes: [0, 1, 2],
                tets: [0, 1, 2],
            })
        ));
    }

    #[test]
    fn adjacency_is_that_of_brute_force_whatever_the_numbers() {
        use crate::testing::Rng;
        let grid = box_grid([3, 2, 2], Vec3::ONE);
        for seed in 0..10 {
            let mut rng = Rng(seed);
            let mut shuffled = |count: usize| {
                let mut order: Vec<usize> = (0..count).collect();
                (1..count)
                    .rev()
                    .for_each(|i| order.swap(i, rng.below(i + 1)));
                order
            };
            let (names, order) = (
                shuffled(grid.positions().len()),
                shuffled(grid.tets().len()),
            );
            let mut positions = vec![Vec3::ZERO; names.len()];
            for (&name, &p) in names.iter().zip(grid.positions()) {
                positions[name] = p;
            }
            let tets: Vec<[u32; 4]> = order
                .iter()
                .map(|&t| grid.tets()[t].map(|n| names[n as usize] as u32))
                .collect();
            let mesh = TetMesh::build(positions, tets.clone()).unwrap();
            let holds = |t: usize, n: u32| tets[t].contains(&n);
            for (t, nodes) in tets.iter().enumerate() {
                for i in 0..4 {
                    let face = TET_FACES[i].map(|k| nodes[k]);
                    let across =
                        (0..tets.len()).find(|&u| u != t && face.iter().all(|&n| holds(u, n)));
                    let across = across.map_or(NONE, |u| u as u32);
                    assert_eq!(mesh.neighbours()[t][i], across);
                }
            }
            for n in 0..mesh.positions().len() as u32 {
                let around: Vec<usize> = (0..tets.len()).filter(|&t| holds(t, n)).collect();
                let mut nodes: Vec<u32> = around.iter().flat_map(|&t| tets[t]).collect();
                nodes.sort_unstable();
                nodes.dedup();
                nodes.retain(|&m| m != n);
                assert_eq!(mesh.adjacent_nodes(n), nodes);
                let around: Vec<u32> = around.iter().map(|&t| t as u32).collect();
                assert_eq!(mesh.adjacent_tets(n), around);
            }
        }
    }
}
