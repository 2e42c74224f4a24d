//! Which node belongs to whom, and where tetrahedra are cut: the truth about an
//! object that has broken, from which surfaces, distance field and sphere tree
//! are derived.
//!
//! [`Fragments::apply`] breaks a fragment, [`TetCut`] says what lies where
//! in a cut tetrahedron. Why levels with zero extension make exact, conforming pieces:
//! see [`crate::Crack`].

mod apply;
mod tet_cut;

pub use crate::crack::FragmentId;
pub use tet_cut::TetCut;
pub use tet_cut::cut_point;

use std::sync::Arc;

use glam::Vec3;

use crate::chunk_list::ChunkList;
use crate::tet_mesh::{NONE, TET_EDGES, TetMesh};
use crate::triangle_fans::touches_itself;
use tet_cut::parts;

/// A living or broken fragment.
#[derive(Clone, Debug, PartialEq)]
pub struct Fragment {
    nodes: Vec<u32>,
    parent: Option<FragmentId>,
    generation: u32,
    alive: bool,
}

impl Fragment {
    /// Its nodes, in increasing order. Empty once it has broken.
    #[must_use]
    #[inline]
    pub fn nodes(&self) -> &[u32] {
        &self.nodes
    }

    /// What it broke off from.
    #[must_use]
    #[inline]
    pub fn parent(&self) -> Option<FragmentId> {
        self.parent
    }

    /// How many fractures made it: 0 for the unbroken object.
    #[must_use]
    #[inline]
    pub fn generation(&self) -> u32 {
        self.generation
    }

    /// Whether it still is one piece.
    #[must_use]
    #[inline]
    pub fn is_alive(&self) -> bool {
        self.alive
    }
}

/// An edge that a fracture has cut.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CutEdge {
    /// Its ends, the lower index first.
    pub nodes: [u32; 2],
    /// Where it is cut: 0 at the first end, 1 at the second.
    pub t: f32,
    /// The point of the cut.
    pub point: Vec3,
}

/// What [`Fragments::apply`] has done: the news that field and tree update from.
#[derive(Clone, Debug, PartialEq)]
pub struct Split {
    /// The fragment that broke. It is dead now.
    pub parent: FragmentId,
    /// The fragments it broke into, in order of their lowest node.
    pub children: Vec<FragmentId>,
    /// Tetrahedra that gained a plane, in increasing order.
    pub cut_tets: Vec<u32>,
    /// Edges that were cut, in increasing order of their nodes.
    pub cut_edges: Vec<CutEdge>,
}

/// Marks a tetrahedron that has no cut but a face on the object's boundary.
const AT_BOUNDARY: u32 = NONE - 1;

/// One object and all that has become of it: a tet mesh, the fragment of every
/// node, and the planes of every cut tetrahedron.
#[derive(Clone, Debug)]
pub struct Fragments {
    mesh: Arc<TetMesh>,
    node_fragment: Vec<FragmentId>,
    /// Index into `cuts`; for tetrahedra without a cut [`NONE`], or, at the boundary
    /// of the object, [`AT_BOUNDARY`].
    tet_cut: Vec<u32>,
    cuts: ChunkList<TetCut>,
    fragments: Vec<Fragment>,
    touches_itself: bool,
}

impl Fragments {
    /// The unbroken object: one fragment that holds all nodes.
    ///
    /// The mesh must be connected; [`Fragments::new`] does not split it.
    #[must_use]
    pub fn new(mesh: Arc<TetMesh>) -> Self {
        let touches_itself = touches_itself(&mesh);
        Self::with_known_boundary(mesh, touches_itself)
    }

    /// Creates the unbroken object where it is known whether the mesh's boundary touches itself
    /// (is not 2-manifold), which [`Fragments::new`] computes.
    #[must_use]
    pub fn with_known_boundary(mesh: Arc<TetMesh>, touches_itself: bool) -> Self {
        let nodes = mesh.positions().len();
        let whole = Fragment {
            nodes: (0..nodes as u32).collect(),
            parent: None,
            generation: 0,
            alive: true,
        };
        Self {
            node_fragment: vec![FragmentId(0); nodes],
            tet_cut: mesh
                .neighbours()
                .iter()
                .map(|&[a, b, c, d]| {
                    // No neighbour is the largest number.
                    if a.max(b).max(c).max(d) == NONE {
                        AT_BOUNDARY
                    } else {
                        NONE
                    }
                })
                .collect(),
            cuts: ChunkList::default(),
            fragments: vec![whole],
            touches_itself,
            mesh,
        }
    }

    /// The tet mesh that all fragments share.
    #[must_use]
    #[inline]
    pub fn mesh(&self) -> &Arc<TetMesh> {
        &self.mesh
    }

    /// The fragment of each node.
    #[must_use]
    #[inline]
    pub fn node_fragment(&self) -> &[FragmentId] {
        &self.node_fragment
    }

    /// The planes of a tetrahedron, if a crack has passed it.
    #[must_use]
    #[inline]
    pub fn cut(&self, tet: u32) -> Option<&TetCut> {
        self.cuts.get(self.tet_cut[tet as usize] as usize)
    }

    /// A fragment, alive or broken.
    ///
    /// # Panics
    /// When the id is not of this object.
    #[must_use]
    #[inline]
    pub fn fragment(&self, id: FragmentId) -> &Fragment {
        &self.fragments[id.0 as usize]
    }

    /// The fragments that are in one piece, in order of their id.
    #[inline]
    pub fn living(&self) -> impl Iterator<Item = FragmentId> + '_ {
        self.fragments
            .iter()
            .enumerate()
            .filter(|(_, f)| f.alive)
            .map(|(i, _)| FragmentId(i as u32))
    }

    /// How many ids have been given out, dead ones included.
    #[must_use]
    #[inline]
    pub fn id_count(&self) -> usize {
        self.fragments.len()
    }

    /// The tetrahedra that hold at least one node of a fragment, in increasing order.
    #[must_use]
    pub fn tets_of(&self, id: FragmentId) -> Vec<u32> {
        let mut tets: Vec<u32> = self
            .fragment(id)
            .nodes
            .iter()
            .flat_map(|&n| self.mesh.adjacent_tets(n))
            .copied()
            .collect();
        tets.sort_unstable();
        tets.dedup();
        tets
    }

    /// Calls `visit` once for every tetrahedron that holds a node of a fragment and can
    /// hold surface, with the local index of its lowest such node.
    pub fn for_each_surface_tet_of(&self, id: FragmentId, visit: impl FnMut(u32, usize)) {
        self.for_each_tet_where(id, |tet| self.holds_surface(tet), visit);
    }

    /// Calls `visit` once for every tetrahedron that holds a node of a fragment, with
    /// the local index of its lowest such node.
    pub fn for_each_tet_of(&self, id: FragmentId, visit: impl FnMut(u32, usize)) {
        self.for_each_tet_where(id, |_| true, visit);
    }

    fn for_each_tet_where(
        &self,
        id: FragmentId,
        wanted: impl Fn(u32) -> bool,
        mut visit: impl FnMut(u32, usize),
    ) {
        for &n in &self.fragment(id).nodes {
            for &tet in self.mesh.adjacent_tets(n) {
                if !wanted(tet) {
                    continue;
                }
                let nodes = self.mesh.tets()[tet as usize];
                let mut local = 0;
                let lowest = (0..4).all(|i| {
                    if nodes[i] == n {
                        local = i;
                    }
                    nodes[i] >= n || self.node_fragment[nodes[i] as usize] != id
                });
                if lowest {
                    visit(tet, local);
                }
            }
        }
    }

    /// Whether the unbroken object's surface touches itself (is not 2-manifold).
    #[must_use]
    #[inline]
    pub fn touches_itself(&self) -> bool {
        self.touches_itself
    }

    /// The index of a tetrahedron's cut, counted in the order in which tetrahedra
    /// were first cut, or [`NONE`].
    #[must_use]
    #[inline]
    pub fn cut_index(&self, tet: u32) -> u32 {
        match self.tet_cut[tet as usize] {
            AT_BOUNDARY => NONE,
            index => index,
        }
    }

    /// Whether a tetrahedron can hold surface: it is cut or at the boundary.
    #[must_use]
    #[inline]
    pub fn holds_surface(&self, tet: u32) -> bool {
        self.tet_cut[tet as usize] != NONE
    }

    /// The fragment that holds a point given by tetrahedron and barycentric coordinates.
    #[must_use]
    #[inline]
    pub fn fragment_at(&self, tet: u32, barycentric: [f32; 4]) -> FragmentId {
        let local = self.cut(tet).map_or(0, |cut| cut.node_of(barycentric));
        self.node_fragment[self.mesh.tets()[tet as usize][local] as usize]
    }

    /// Checks everything that holds between the stored parts.
    ///
    /// # Errors
    /// What does not hold, in words.
    pub fn validate(&self) -> Result<(), String> {
        let mut seen = vec![NONE; self.node_fragment.len()];
        for id in self.living() {
            let nodes = self.fragment(id).nodes();
            if nodes.is_empty() || !nodes.is_sorted() {
                return Err(format!("{id} has no nodes or unsorted ones"));
            }
            for &n in nodes {
                if self.node_fragment[n as usize] != id || seen[n as usize] != NONE {
                    return Err(format!("node {n} is listed in {id} but labelled otherwise"));
                }
                seen[n as usize] = id.0;
            }
            if !self.is_connected(nodes) {
                return Err(format!("{id} is not connected"));
            }
        }
        if let Some(n) = seen.iter().position(|&s| s == NONE) {
            return Err(format!("node {n} is in no living fragment"));
        }
        for (t, corners) in self.mesh.tets().iter().enumerate() {
            for [i, j] in TET_EDGES {
                let parted = self.node_fragment[corners[i] as usize]
                    != self.node_fragment[corners[j] as usize];
                let planes = self.cut(t as u32).map_or(0, |cut| {
                    cut.planes()
                        .iter()
                        .filter(|plane| parts(plane[i], plane[j]))
                        .count()
                });
                if planes != usize::from(parted) {
                    return Err(format!(
                        "tetrahedron {t}: edge {i}-{j} is cut {planes} times, parted: {parted}"
                    ));
                }
            }
        }
        Ok(())
    }

    /// Whether nodes of one label are joined by edges, all to all.
    fn is_connected(&self, nodes: &[u32]) -> bool {
        let mut seen = vec![false; self.node_fragment.len()];
        let mut flood = vec![nodes[0]];
        seen[nodes[0] as usize] = true;
        let mut size = 0;
        while let Some(n) = flood.pop() {
            size += 1;
            for &m in self.mesh.adjacent_nodes(n) {
                let same = self.node_fragment[m as usize] == self.node_fragment[n as usize];
                if same && !seen[m as usize] {
                    seen[m as usize] = true;
                    flood.push(m);
                }
            }
        }
        size == nodes.len()
    }

    /// Bytes of labels, cuts and node lists, the mesh not included.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let lists: usize = self.fragments.iter().map(|f| f.nodes.len() * 4).sum();
        self.node_fragment.len() * 4
            + self.tet_cut.len() * 4
            + self.cuts.iter().map(TetCut::bytes).sum::<usize>()
            + self.fragments.len() * size_of::<Fragment>()
            + lists
    }
}

#[cfg(test)]
mod tests;
