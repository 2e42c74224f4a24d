//! Which node belongs to whom, and where tetrahedra are cut: the truth about an
//! object that has broken, from which surfaces, distance field and sphere tree
//! are derived.
//!
//! Steps of [`Fragments::apply`]: check the fracture, giving the fragment's nodes
//! their parts crack by crack -> crack by crack, find the edges whose ends part and
//! split the tetrahedra around them -> flood connected fragments -> relabel. Work is
//! proportional to the broken fragment, never to the rest of the object.
//!
//! Why levels with zero extension make exact, conforming pieces: see [`crate::crack`].

use std::fmt;
use std::sync::Arc;

use glam::Vec3;

use crate::crack::{Crack, Fracture, FractureError};
use crate::cut_piece::cut_point;
use crate::tet_mesh::{NONE, TET_EDGES, TetMesh};

/// Names a fragment of one object, for ever: an id is never used again.
/// The unbroken object is fragment 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FragmentId(pub u32);

impl fmt::Display for FragmentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "fragment {}", self.0)
    }
}

/// The planes by which cracks have cut one tetrahedron, oldest first.
///
/// A plane is its level at the four nodes: the level at a point with barycentric
/// coordinates `l` is their scalar product. Nodes outside the part that the crack
/// split carry zero.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TetCut {
    planes: [[f32; 4]; 3],
    count: u8,
}

impl TetCut {
    /// Levels of each plane at the four nodes, oldest first.
    #[must_use]
    pub fn planes(&self) -> &[[f32; 4]] {
        &self.planes[..self.count as usize]
    }

    /// The local node whose piece holds the point with barycentric coordinates
    /// `l`: exact by the signs of the planes, a level of zero counting as positive.
    /// Every point is in exactly one piece.
    #[must_use]
    pub fn node_of(&self, l: [f32; 4]) -> usize {
        let mut candidates = 0b1111_u8;
        for plane in self.planes() {
            let mut side = 0_u8;
            let mut level = 0.0;
            for i in 0..4 {
                level += plane[i] * l[i];
            }
            for i in 0..4 {
                if plane[i] != 0.0 && (plane[i] > 0.0) == (level >= 0.0) {
                    side |= 1 << i;
                }
            }
            // A plane divides only the part that its crack has split. The nodes
            // of a part carry non-zero levels together or not at all.
            let touched = (0..4).any(|i| candidates & (1 << i) != 0 && plane[i] != 0.0);
            if touched {
                candidates &= side;
            }
        }
        candidates.trailing_zeros() as usize
    }

    /// The plane that parts local nodes `i` and `j`, if they are parted.
    #[must_use]
    pub fn separator(&self, i: usize, j: usize) -> Option<&[f32; 4]> {
        self.planes().iter().find(|plane| parts(plane[i], plane[j]))
    }

    pub(crate) fn push(&mut self, plane: [f32; 4]) {
        self.planes[self.count as usize] = plane;
        self.count += 1;
    }
}

/// Whether two levels have opposite signs. (Their product could underflow to zero.)
fn parts(a: f32, b: f32) -> bool {
    (a > 0.0 && b < 0.0) || (a < 0.0 && b > 0.0)
}

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
    pub fn nodes(&self) -> &[u32] {
        &self.nodes
    }

    /// What it broke off from.
    #[must_use]
    pub fn parent(&self) -> Option<FragmentId> {
        self.parent
    }

    /// How many fractures made it: 0 for the unbroken object.
    #[must_use]
    pub fn generation(&self) -> u32 {
        self.generation
    }

    /// Whether it still is one piece.
    #[must_use]
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

/// One object and all that has become of it: a tet mesh, the fragment of every
/// node, and the planes of every cut tetrahedron.
#[derive(Clone, Debug)]
pub struct Fragments {
    mesh: Arc<TetMesh>,
    node_fragment: Vec<FragmentId>,
    /// Index into `cuts`, or [`NONE`].
    tet_cut: Vec<u32>,
    cuts: Vec<TetCut>,
    fragments: Vec<Fragment>,
    /// Part of each node during `apply`; [`NONE`] outside of it.
    node_part: Vec<u32>,
    /// Level of each node while a crack is applied; zero outside of it.
    node_level: Vec<f32>,
    touches_itself: bool,
}

impl Fragments {
    /// The unbroken object: one fragment that holds all nodes.
    ///
    /// The mesh must be connected; [`Fragments::new`] does not split it.
    #[must_use]
    pub fn new(mesh: Arc<TetMesh>) -> Self {
        let nodes = mesh.positions().len();
        let whole = Fragment {
            nodes: (0..nodes as u32).collect(),
            parent: None,
            generation: 0,
            alive: true,
        };
        Self {
            node_fragment: vec![FragmentId(0); nodes],
            tet_cut: vec![NONE; mesh.tets().len()],
            cuts: Vec::new(),
            fragments: vec![whole],
            node_part: vec![NONE; nodes],
            node_level: vec![0.0; nodes],
            touches_itself: crate::fragment_surface::touches_itself(&mesh),
            mesh,
        }
    }

    /// The tet mesh that all fragments share.
    #[must_use]
    pub fn mesh(&self) -> &Arc<TetMesh> {
        &self.mesh
    }

    /// The fragment of each node.
    #[must_use]
    pub fn node_fragment(&self) -> &[FragmentId] {
        &self.node_fragment
    }

    /// The planes of a tetrahedron, if a crack has passed it.
    #[must_use]
    pub fn cut(&self, tet: u32) -> Option<&TetCut> {
        self.cuts.get(self.tet_cut[tet as usize] as usize)
    }

    /// A fragment, alive or broken.
    ///
    /// # Panics
    /// When the id is not of this object.
    #[must_use]
    pub fn fragment(&self, id: FragmentId) -> &Fragment {
        &self.fragments[id.0 as usize]
    }

    /// The fragments that are in one piece, in order of their id.
    pub fn living(&self) -> impl Iterator<Item = FragmentId> + '_ {
        self.fragments
            .iter()
            .enumerate()
            .filter(|(_, f)| f.alive)
            .map(|(i, _)| FragmentId(i as u32))
    }

    /// How many ids have been given out, dead ones included.
    #[must_use]
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

    /// Calls `visit` once for every tetrahedron that holds a node of a fragment, with
    /// the local index of its lowest such node.
    pub(crate) fn for_each_tet_of(&self, id: FragmentId, mut visit: impl FnMut(u32, usize)) {
        for &n in &self.fragment(id).nodes {
            for &tet in self.mesh.adjacent_tets(n) {
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

    /// Whether the unbroken object's surface is not 2-manifold.
    pub(crate) fn touches_itself(&self) -> bool {
        self.touches_itself
    }

    /// The index of a tetrahedron's cut, counted in the order in which tetrahedra
    /// were first cut, or [`NONE`].
    pub(crate) fn cut_index(&self, tet: u32) -> u32 {
        self.tet_cut[tet as usize]
    }

    /// The fragment that holds a point given by tetrahedron and barycentric coordinates.
    #[must_use]
    pub fn fragment_at(&self, tet: u32, barycentric: [f32; 4]) -> FragmentId {
        let local = self.cut(tet).map_or(0, |cut| cut.node_of(barycentric));
        self.node_fragment[self.mesh.tets()[tet as usize][local] as usize]
    }

    /// Breaks one fragment. Parts that are not connected become several fragments.
    ///
    /// # Errors
    /// See [`FractureError`]; the object is unchanged then.
    pub fn apply(&mut self, fracture: &Fracture) -> Result<Split, FractureError> {
        self.assign_parts(fracture)?;
        let parent = fracture.fragment;
        let (mut cut_tets, mut cut_edges) = (Vec::new(), Vec::new());
        for crack in &fracture.cracks {
            self.split_tets(&crack.levels, &mut cut_tets, &mut cut_edges);
        }
        cut_tets.sort_unstable();
        cut_tets.dedup();
        if fracture.cracks.len() > 1 {
            cut_edges.sort_unstable_by_key(|e: &CutEdge| e.nodes);
        }
        let children = self.relabel(parent);
        Ok(Split {
            parent,
            children,
            cut_tets,
            cut_edges,
        })
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

    /// Checks a fracture and gives the nodes of its fragment the parts they will
    /// have after the last crack. With an error, nothing has changed.
    fn assign_parts(&mut self, fracture: &Fracture) -> Result<(), FractureError> {
        let id = fracture.fragment;
        let fragment = self.fragments.get(id.0 as usize).filter(|f| f.alive);
        let fragment = fragment.ok_or(FractureError::NoSuchFragment(id))?;
        if fragment.nodes.len() < 2 {
            return Err(FractureError::Unbreakable(id));
        }
        if fracture.cracks.is_empty() {
            return Err(FractureError::NoCrack(id));
        }
        for &n in &fragment.nodes {
            self.node_part[n as usize] = 0;
        }
        let mut sizes = vec![fragment.nodes.len()];
        for (k, crack) in fracture.cracks.iter().enumerate() {
            if let Err(error) = self.assign_part(id, k, crack, &mut sizes) {
                for &n in &self.fragments[id.0 as usize].nodes {
                    self.node_part[n as usize] = NONE;
                }
                return Err(error);
            }
        }
        Ok(())
    }

    fn assign_part(
        &mut self,
        id: FragmentId,
        k: usize,
        crack: &Crack,
        sizes: &mut Vec<usize>,
    ) -> Result<(), FractureError> {
        let part = crack.part;
        let Some(&size) = sizes.get(part as usize) else {
            return Err(FractureError::NoSuchPart {
                crack: k,
                part,
                parts: sizes.len() as u32,
            });
        };
        // As many as the part has, increasing, and all of the part: just the part.
        let increasing = crack.levels.is_sorted_by(|a, b| a.0 < b.0);
        let belongs = |&(n, _): &(u32, f32)| self.node_part.get(n as usize) == Some(&part);
        if crack.levels.len() != size || !increasing || !crack.levels.iter().all(belongs) {
            let nodes = &self.fragments[id.0 as usize].nodes;
            let mut expected = nodes
                .iter()
                .filter(|&&n| self.node_part[n as usize] == part);
            let mut given = crack.levels.iter().map(|(n, _)| n);
            let differs = expected.find(|&n| given.next() != Some(n));
            return Err(FractureError::WrongNodes {
                crack: k,
                part,
                node: differs.copied().unwrap_or(NONE),
            });
        }
        let bad = |(_, s): &&(u32, f32)| !s.is_finite() || *s == 0.0;
        if let Some(&(node, level)) = crack.levels.iter().find(bad) {
            return Err(FractureError::BadLevel {
                crack: k,
                node,
                level,
            });
        }
        let leaving = crack.levels.iter().filter(|(_, s)| *s > 0.0).count();
        if leaving == 0 || leaving == size {
            return Err(FractureError::OneSided { crack: k, part });
        }
        for &(n, level) in &crack.levels {
            if level > 0.0 {
                self.node_part[n as usize] = k as u32 + 1;
            }
        }
        sizes[part as usize] -= leaving;
        sizes.push(leaving);
        Ok(())
    }

    /// Cuts every edge whose ends part, and gives a plane to every tetrahedron
    /// around such an edge. Edges come in increasing order of their nodes.
    fn split_tets(
        &mut self,
        levels: &[(u32, f32)],
        cut_tets: &mut Vec<u32>,
        cut_edges: &mut Vec<CutEdge>,
    ) {
        let mesh = Arc::clone(&self.mesh);
        let positions = mesh.positions();
        // Nodes outside the part keep level zero: an edge to them is not cut.
        for &(n, s) in levels {
            self.node_level[n as usize] = s;
        }
        for &(n, s_n) in levels {
            let mut cut_here = false;
            for &m in mesh.adjacent_nodes(n) {
                let s_m = self.node_level[m as usize];
                if parts(s_n, s_m) {
                    cut_here = true;
                    if m > n {
                        let [a, b] = [n, m].map(|i| positions[i as usize]);
                        let (t, point) = cut_point(a, b, s_n, s_m);
                        cut_edges.push(CutEdge {
                            nodes: [n, m],
                            t: t as f32,
                            point: point.as_vec3(),
                        });
                    }
                }
            }
            // Every cut tetrahedron has a negative node with a cut edge; it is
            // looked at from the lowest.
            if !cut_here || s_n > 0.0 {
                continue;
            }
            for &tet in mesh.adjacent_tets(n) {
                let corners = mesh.tets()[tet as usize];
                let plane = corners.map(|c| self.node_level[c as usize]);
                let lowest = (0..4).all(|i| corners[i] >= n || plane[i] >= 0.0);
                if lowest && plane.iter().any(|&s| s > 0.0) {
                    self.add_plane(tet, plane);
                    cut_tets.push(tet);
                }
            }
        }
        for &(n, _) in levels {
            self.node_level[n as usize] = 0.0;
        }
    }

    fn add_plane(&mut self, tet: u32, plane: [f32; 4]) {
        let slot = &mut self.tet_cut[tet as usize];
        if *slot == NONE {
            *slot = self.cuts.len() as u32;
            self.cuts.push(TetCut::default());
        }
        self.cuts[*slot as usize].push(plane);
    }

    /// Retires the parent and makes a fragment of every connected part, in order of
    /// their lowest node.
    fn relabel(&mut self, parent: FragmentId) -> Vec<FragmentId> {
        let generation = self.fragments[parent.0 as usize].generation + 1;
        let retired = &mut self.fragments[parent.0 as usize];
        retired.alive = false;
        let nodes = std::mem::take(&mut retired.nodes);
        let first_child = self.fragments.len();
        let mut flood = Vec::new();
        for &start in &nodes {
            let part = self.node_part[start as usize];
            if part == NONE {
                continue;
            }
            let id = FragmentId(self.fragments.len() as u32);
            self.node_part[start as usize] = NONE;
            self.node_fragment[start as usize] = id;
            flood.push(start);
            let mut size = 0;
            while let Some(n) = flood.pop() {
                size += 1;
                for &m in self.mesh.adjacent_nodes(n) {
                    // Only nodes of the parent have a part now.
                    if self.node_part[m as usize] == part {
                        self.node_part[m as usize] = NONE;
                        self.node_fragment[m as usize] = id;
                        flood.push(m);
                    }
                }
            }
            self.fragments.push(Fragment {
                nodes: Vec::with_capacity(size),
                parent: Some(parent),
                generation,
                alive: true,
            });
        }
        for n in nodes {
            let id = self.node_fragment[n as usize];
            self.fragments[id.0 as usize].nodes.push(n);
        }
        (first_child..self.fragments.len())
            .map(|i| FragmentId(i as u32))
            .collect()
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
        self.node_fragment.len() * 12
            + self.tet_cut.len() * 4
            + self.cuts.len() * size_of::<TetCut>()
            + self.fragments.len() * size_of::<Fragment>()
            + lists
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Rng, box_grid};

    fn grid() -> Fragments {
        Fragments::new(Arc::new(box_grid([4, 4, 4], Vec3::ONE)))
    }

    fn break_by(
        fragments: &mut Fragments,
        id: FragmentId,
        mut level: impl FnMut(Vec3) -> f32,
    ) -> Option<Split> {
        let mesh = fragments.mesh().clone();
        let nodes = fragments.fragment(id).nodes();
        let crack = Crack::from_level(&mesh, 0, nodes, |n| level(mesh.positions()[n as usize]))?;
        Some(
            fragments
                .apply(&Fracture {
                    fragment: id,
                    cracks: vec![crack],
                })
                .unwrap(),
        )
    }

    #[test]
    fn a_plane_makes_two_halves_and_cuts_the_edges_that_cross_it() {
        let mut fragments = grid();
        let split = break_by(&mut fragments, FragmentId(0), |p| p.x - 0.6).unwrap();
        assert_eq!(split.children, [FragmentId(1), FragmentId(2)]);
        assert!(
            split
                .cut_edges
                .iter()
                .all(|e| (e.point.x - 0.6).abs() < 1e-6)
        );
        fragments.validate().unwrap();
    }

    #[test]
    fn parts_that_are_not_connected_become_fragments_of_their_own() {
        let mut fragments = grid();
        let split = break_by(&mut fragments, FragmentId(0), |p| 0.2 - (p.x - 0.5).abs()).unwrap();
        assert_eq!(split.children.len(), 3, "a slab leaves two sides");
        fragments.validate().unwrap();
    }

    #[test]
    fn it_breaks_again_until_every_fragment_is_one_node_and_says_so() {
        let mut fragments = Fragments::new(Arc::new(box_grid([2, 2, 2], Vec3::ONE)));
        let mut rng = Rng(7);
        loop {
            let breakable: Vec<_> = fragments
                .living()
                .filter(|&f| fragments.fragment(f).nodes().len() > 1)
                .collect();
            if breakable.is_empty() {
                break;
            }
            for id in breakable {
                break_by(&mut fragments, id, |_| rng.range(-1.0, 1.0));
                fragments.validate().unwrap();
            }
        }
        assert_eq!(fragments.living().count(), 27);
        let last = fragments.living().last().unwrap();
        let fracture = Fracture {
            fragment: last,
            cracks: vec![],
        };
        assert_eq!(
            fragments.apply(&fracture),
            Err(FractureError::Unbreakable(last))
        );
    }

    #[test]
    fn several_cracks_in_one_fracture_split_parts_of_parts() {
        let mut fragments = grid();
        let mesh = fragments.mesh().clone();
        let all: Vec<u32> = (0..mesh.positions().len() as u32).collect();
        let x = |n: u32| mesh.positions()[n as usize].x - 0.45;
        let y = |n: u32| mesh.positions()[n as usize].y - 0.55;
        let first = Crack::from_level(&mesh, 0, &all, x).unwrap();
        let right: Vec<u32> = all.iter().copied().filter(|&n| x(n) > 0.0).collect();
        let second = Crack::from_level(&mesh, 1, &right, y).unwrap();
        let split = fragments
            .apply(&Fracture {
                fragment: FragmentId(0),
                cracks: vec![first, second],
            })
            .unwrap();
        assert_eq!(split.children.len(), 3);
        fragments.validate().unwrap();
    }

    #[test]
    fn every_point_of_a_cut_tet_is_in_the_piece_that_the_planes_say() {
        let mut fragments = grid();
        let mut rng = Rng(3);
        for id in [0, 1, 2] {
            break_by(&mut fragments, FragmentId(id), |p| {
                p.dot(Vec3::new(1.0, 0.3, -0.2)) - 0.2 - 0.2 * id as f32
            });
        }
        for tet in 0..fragments.mesh().tets().len() as u32 {
            for i in 0..4 {
                let mut corner = [0.0; 4];
                corner[i] = 1.0;
                let node = fragments.mesh().tets()[tet as usize][i];
                assert_eq!(
                    fragments.fragment_at(tet, corner),
                    fragments.node_fragment()[node as usize]
                );
            }
            let Some(cut) = fragments.cut(tet) else {
                continue;
            };
            for _ in 0..20 {
                let mut l = [rng.unit(), rng.unit(), rng.unit(), rng.unit()];
                let sum: f32 = l.iter().sum();
                l.iter_mut().for_each(|x| *x /= sum);
                let i = cut.node_of(l);
                for j in 0..4 {
                    let Some(plane) = cut.separator(i, j) else {
                        continue;
                    };
                    let level: f32 = (0..4).map(|k| plane[k] * l[k]).sum();
                    assert_eq!(level >= 0.0, plane[i] > 0.0);
                }
            }
        }
    }

    #[test]
    fn levels_too_small_to_multiply_still_part_their_nodes() {
        let mut fragments = grid();
        let all = fragments.fragment(FragmentId(0)).nodes().to_vec();
        let levels = all
            .iter()
            .map(|&n| (n, if n % 3 == 0 { 1e-30 } else { -1e-30 }));
        let crack = Crack {
            part: 0,
            levels: levels.collect(),
        };
        let fracture = Fracture {
            fragment: FragmentId(0),
            cracks: vec![crack],
        };
        fragments.apply(&fracture).unwrap();
        fragments.validate().unwrap();
    }

    #[test]
    fn bad_fractures_are_refused_and_change_nothing() {
        let mut fragments = grid();
        let all = fragments.fragment(FragmentId(0)).nodes().to_vec();
        let id = FragmentId(0);
        let levels = |f: &dyn Fn(u32) -> f32| all.iter().map(|&n| (n, f(n))).collect::<Vec<_>>();
        let mut refuse =
            |fragment, cracks| fragments.apply(&Fracture { fragment, cracks }).unwrap_err();
        assert_eq!(
            refuse(FragmentId(9), vec![]),
            FractureError::NoSuchFragment(FragmentId(9))
        );
        assert_eq!(refuse(id, vec![]), FractureError::NoCrack(id));
        let one_sided = Crack {
            part: 0,
            levels: levels(&|_| 1.0),
        };
        assert_eq!(
            refuse(id, vec![one_sided]),
            FractureError::OneSided { crack: 0, part: 0 }
        );
        let nan = Crack {
            part: 0,
            levels: levels(&|n| if n == 5 { f32::NAN } else { -1.0 }),
        };
        assert!(matches!(
            refuse(id, vec![nan]),
            FractureError::BadLevel { node: 5, .. }
        ));
        let mut short = levels(&|n| n as f32 - 3.5);
        short.remove(2);
        let short = Crack {
            part: 0,
            levels: short,
        };
        assert_eq!(
            refuse(id, vec![short]),
            FractureError::WrongNodes {
                crack: 0,
                part: 0,
                node: 2
            }
        );
        let ahead = Crack {
            part: 1,
            levels: levels(&|n| n as f32 - 3.5),
        };
        assert!(matches!(
            refuse(id, vec![ahead]),
            FractureError::NoSuchPart {
                part: 1,
                parts: 1,
                ..
            }
        ));
        fragments.validate().unwrap();
        assert_eq!(fragments.living().count(), 1);
    }
}
