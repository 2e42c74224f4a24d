//! Which node belongs to whom, and where tetrahedra are cut: the truth about an
//! object that has broken, from which surfaces, distance field and sphere tree
//! are derived.
//!
//! Steps of [`Fragments::apply`]: check the fracture -> give the fragment's nodes
//! their parts, crack by crack -> split every tetrahedron the crack passes ->
//! part by part, find connected fragments -> relabel. Work is proportional to the
//! broken fragment, never to the rest of the object.
//!
//! Why levels with zero extension make exact, conforming pieces: see [`crate::crack`].

use std::fmt;
use std::sync::Arc;

use glam::Vec3;

use crate::crack::{Fracture, FractureError};
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
        self.planes().iter().find(|plane| plane[i] * plane[j] < 0.0)
    }

    pub(crate) fn push(&mut self, plane: [f32; 4]) {
        self.planes[self.count as usize] = plane;
        self.count += 1;
    }
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
        self.check(fracture)?;
        let parent = fracture.fragment;
        let nodes = self.fragments[parent.0 as usize].nodes.clone();
        for &n in &nodes {
            self.node_part[n as usize] = 0;
        }
        let (mut cut_tets, mut cut_edges) = (Vec::new(), Vec::new());
        for (k, crack) in fracture.cracks.iter().enumerate() {
            self.split_tets(crack.part, &crack.levels, &mut cut_tets, &mut cut_edges);
            for &(n, level) in &crack.levels {
                if level > 0.0 {
                    self.node_part[n as usize] = k as u32 + 1;
                }
            }
        }
        cut_tets.sort_unstable();
        cut_tets.dedup();
        cut_edges.sort_unstable_by_key(|e: &CutEdge| e.nodes);
        let children = self.relabel(parent, &nodes);
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
            if self.components(nodes).len() != 1 {
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
                        .filter(|plane| plane[i] * plane[j] < 0.0)
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

    fn check(&self, fracture: &Fracture) -> Result<(), FractureError> {
        let id = fracture.fragment;
        let fragment = self.fragments.get(id.0 as usize).filter(|f| f.alive);
        let fragment = fragment.ok_or(FractureError::NoSuchFragment(id))?;
        if fragment.nodes.len() < 2 {
            return Err(FractureError::Unbreakable(id));
        }
        if fracture.cracks.is_empty() {
            return Err(FractureError::NoCrack(id));
        }
        let mut parts = vec![fragment.nodes.clone()];
        for (k, crack) in fracture.cracks.iter().enumerate() {
            let (count, part) = (parts.len() as u32, crack.part);
            let Some(nodes) = parts.get_mut(part as usize) else {
                return Err(FractureError::NoSuchPart {
                    crack: k,
                    part,
                    parts: count,
                });
            };
            let given = crack.levels.iter().map(|&(n, _)| n);
            if !given.clone().eq(nodes.iter().copied()) {
                let first = given
                    .zip(nodes.iter())
                    .find(|(a, b)| a != *b)
                    .map(|(_, b)| *b);
                let node = first
                    .or(nodes.get(crack.levels.len()).copied())
                    .unwrap_or(NONE);
                return Err(FractureError::WrongNodes {
                    crack: k,
                    part,
                    node,
                });
            }
            if let Some(&(node, level)) = crack
                .levels
                .iter()
                .find(|(_, s)| !s.is_finite() || *s == 0.0)
            {
                return Err(FractureError::BadLevel {
                    crack: k,
                    node,
                    level,
                });
            }
            let leaving: Vec<u32> = crack
                .levels
                .iter()
                .filter(|(_, s)| *s > 0.0)
                .map(|&(n, _)| n)
                .collect();
            if leaving.is_empty() || leaving.len() == nodes.len() {
                return Err(FractureError::OneSided { crack: k, part });
            }
            *nodes = crack
                .levels
                .iter()
                .filter(|(_, s)| *s < 0.0)
                .map(|&(n, _)| n)
                .collect();
            parts.push(leaving);
        }
        Ok(())
    }

    /// Gives a plane to every tetrahedron in which the part has nodes of both signs.
    fn split_tets(
        &mut self,
        part: u32,
        levels: &[(u32, f32)],
        cut_tets: &mut Vec<u32>,
        cut_edges: &mut Vec<CutEdge>,
    ) {
        let mesh = Arc::clone(&self.mesh);
        let level_of = |n: u32| {
            levels
                .binary_search_by_key(&n, |&(m, _)| m)
                .map_or(0.0, |at| levels[at].1)
        };
        for &(n, s_n) in levels {
            for &m in mesh.adjacent_nodes(n).iter().filter(|&&m| m > n) {
                let in_part = self.node_part[m as usize] == part;
                let s_m = if in_part { level_of(m) } else { 0.0 };
                if s_n * s_m < 0.0 {
                    let t = s_n / (s_n - s_m);
                    let [a, b] = [n, m].map(|i| mesh.positions()[i as usize].as_dvec3());
                    let point = (a + (b - a) * f64::from(t)).as_vec3();
                    cut_edges.push(CutEdge {
                        nodes: [n, m],
                        t,
                        point,
                    });
                }
            }
            for &tet in mesh.adjacent_tets(n) {
                let corners = mesh.tets()[tet as usize];
                // Each tetrahedron is looked at once: from its lowest node in the part.
                let lowest = corners
                    .iter()
                    .filter(|&&c| self.node_part[c as usize] == part)
                    .min();
                if lowest != Some(&n) {
                    continue;
                }
                let plane = corners.map(|c| {
                    if self.node_part[c as usize] == part {
                        level_of(c)
                    } else {
                        0.0
                    }
                });
                if plane.iter().any(|&s| s < 0.0) && plane.iter().any(|&s| s > 0.0) {
                    self.add_plane(tet, plane);
                    cut_tets.push(tet);
                }
            }
        }
    }

    fn add_plane(&mut self, tet: u32, plane: [f32; 4]) {
        let slot = &mut self.tet_cut[tet as usize];
        if *slot == NONE {
            *slot = self.cuts.len() as u32;
            self.cuts.push(TetCut {
                planes: [[0.0; 4]; 3],
                count: 0,
            });
        }
        self.cuts[*slot as usize].push(plane);
    }

    /// Retires the parent and makes a fragment of every connected part.
    fn relabel(&mut self, parent: FragmentId, nodes: &[u32]) -> Vec<FragmentId> {
        let generation = self.fragments[parent.0 as usize].generation + 1;
        let components = self.components(nodes);
        let retired = &mut self.fragments[parent.0 as usize];
        retired.alive = false;
        retired.nodes = Vec::new();
        let mut children = Vec::with_capacity(components.len());
        for component in components {
            let id = FragmentId(self.fragments.len() as u32);
            for &n in &component {
                self.node_fragment[n as usize] = id;
                self.node_part[n as usize] = NONE;
            }
            self.fragments.push(Fragment {
                nodes: component,
                parent: Some(parent),
                generation,
                alive: true,
            });
            children.push(id);
        }
        children
    }

    /// Groups nodes of equal label and part that are joined by edges, in order of
    /// their lowest node; the nodes of a group are sorted.
    fn components(&self, nodes: &[u32]) -> Vec<Vec<u32>> {
        let place = |n: u32| nodes.binary_search(&n).ok();
        let mut seen = vec![false; nodes.len()];
        let mut components = Vec::new();
        for start in 0..nodes.len() {
            if seen[start] {
                continue;
            }
            seen[start] = true;
            let mut component = vec![nodes[start]];
            let mut next = 0;
            while let Some(&n) = component.get(next) {
                next += 1;
                for &m in self.mesh.adjacent_nodes(n) {
                    let same = self.node_part[m as usize] == self.node_part[n as usize]
                        && self.node_fragment[m as usize] == self.node_fragment[n as usize];
                    if let Some(at) = place(m).filter(|&at| same && !seen[at]) {
                        seen[at] = true;
                        component.push(m);
                    }
                }
            }
            component.sort_unstable();
            components.push(component);
        }
        components
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crack::Crack;
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
