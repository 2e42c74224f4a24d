//! How a fracture becomes fragments: the cut.
//!
//! Steps of [`Fragments::apply`]: check the fracture, giving the fragment's nodes
//! their parts crack by crack -> find the nodes whose edges are cut, in one look at the
//! final parts -> crack by crack, cut these nodes' edges and split the tetrahedra around
//! them -> flood connected fragments -> relabel.
//!
//! An edge is cut where its ends are in different parts at last, and only there. Which
//! crack has cut it follows from the two parts ([`separating_crack`]), so that no crack
//! has to look at all nodes of the part it splits.
//!
//! Source: Glondu 2013, section 4.1.
//!
//! **Guarantee**: work is proportional to the broken fragment, never to the rest of the
//! object; with an error nothing has changed.

use std::cell::RefCell;
use std::sync::Arc;

use super::tet_cut::{TetCut, cut_point, parts};
use super::{AT_BOUNDARY, CutEdge, Fragment, FragmentId, Fragments, Split};
use crate::crack::{Crack, Fracture, FractureError};
use crate::tet_mesh::{NONE, TetMesh};

thread_local! {
    /// Objects are many and seldom break: workspace belongs to threads, not to them.
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// What is known of nodes while a fracture is applied. Between two fractures it says
/// nothing about any node, so that it serves objects of all sizes.
#[derive(Default)]
struct Scratch {
    /// Part of each node of the fragment; [`NONE`] for all others.
    parts: Vec<u32>,
    /// Level of each node of the part that a crack splits; zero for all others.
    levels: Vec<f32>,
}

impl Scratch {
    fn fit(&mut self, nodes: usize) {
        if self.parts.len() < nodes {
            self.parts.resize(nodes, NONE);
            self.levels.resize(nodes, 0.0);
        }
    }
}

impl Fragments {
    /// Breaks one fragment. Parts that are not connected become several fragments.
    ///
    /// # Errors
    /// See [`FractureError`]; the object is unchanged then.
    pub fn apply(&mut self, fracture: &Fracture) -> Result<Split, FractureError> {
        // Taken out: after a panic nobody finds it half used.
        let mut scratch = SCRATCH.take();
        scratch.fit(self.node_fragment.len());
        let split = self.apply_in(fracture, &mut scratch);
        SCRATCH.set(scratch);
        split
    }

    /// Returns into how many fragments a fracture would break its fragment, without cutting
    /// anything. Never falls when a crack is added.
    ///
    /// # Errors
    /// See [`FractureError`].
    pub fn count_children(&self, fracture: &Fracture) -> Result<usize, FractureError> {
        let mut scratch = SCRATCH.take();
        scratch.fit(self.node_fragment.len());
        let assigned = self.assign_parts(fracture, &mut scratch.parts);
        let count = assigned.map(|()| {
            let nodes = &self.fragments[fracture.fragment.0 as usize].nodes;
            let mut stack = Vec::new();
            let flooded = nodes.iter().filter(|&&start| {
                let is_new = scratch.parts[start as usize] != NONE;
                if is_new {
                    flood(&self.mesh, start, &mut scratch.parts, &mut stack, |_| ());
                }
                is_new
            });
            flooded.count()
        });
        SCRATCH.set(scratch);
        count
    }

    fn apply_in(
        &mut self,
        fracture: &Fracture,
        scratch: &mut Scratch,
    ) -> Result<Split, FractureError> {
        self.assign_parts(fracture, &mut scratch.parts)?;
        let parent = fracture.fragment;
        let nodes = self.fragments[parent.0 as usize].nodes.len();
        let mut cut_tets = Vec::with_capacity(nodes);
        let mut cut_edges = Vec::with_capacity(nodes);
        let (beside, starts) = self.nodes_beside_cracks(fracture, &scratch.parts);
        for (k, crack) in fracture.cracks.iter().enumerate() {
            let beside = &beside[starts[k] as usize..starts[k + 1] as usize];
            let levels = &mut scratch.levels;
            self.split_tets(&crack.levels, beside, levels, &mut cut_tets, &mut cut_edges);
        }
        cut_tets.sort_unstable();
        cut_tets.dedup();
        // Each crack's edges are in order: a sort that merges runs has little to do.
        if fracture.cracks.len() > 1 {
            cut_edges.sort_by_key(|e: &CutEdge| e.nodes);
        }
        let children = self.relabel(parent, &mut scratch.parts);
        Ok(Split {
            parent,
            children,
            cut_tets,
            cut_edges,
        })
    }

    /// Checks a fracture and gives the nodes of its fragment the parts they will
    /// have after the last crack. With an error, nothing has changed.
    fn assign_parts(
        &self,
        fracture: &Fracture,
        node_part: &mut [u32],
    ) -> Result<(), FractureError> {
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
            node_part[n as usize] = 0;
        }
        let mut sizes = vec![fragment.nodes.len()];
        for (k, crack) in fracture.cracks.iter().enumerate() {
            if let Err(error) = self.assign_part(id, k, crack, &mut sizes, node_part) {
                for &n in &self.fragments[id.0 as usize].nodes {
                    node_part[n as usize] = NONE;
                }
                return Err(error);
            }
        }
        Ok(())
    }

    fn assign_part(
        &self,
        id: FragmentId,
        k: usize,
        crack: &Crack,
        sizes: &mut Vec<usize>,
        node_part: &mut [u32],
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
        let mut sound = crack.levels.len() == size;
        let (mut next, mut leaving) = (0, 0);
        for &(n, level) in &crack.levels {
            let belongs = node_part.get(n as usize) == Some(&part);
            sound &= n >= next && belongs && level.is_finite() && level != 0.0;
            next = n.saturating_add(1);
            leaving += usize::from(level > 0.0);
        }
        if !sound {
            return Err(self.diagnose(id, k, crack, node_part));
        }
        if leaving == 0 || leaving == size {
            return Err(FractureError::OneSided { crack: k, part });
        }
        for &(n, level) in &crack.levels {
            if level > 0.0 {
                node_part[n as usize] = k as u32 + 1;
            }
        }
        sizes[part as usize] -= leaving;
        sizes.push(leaving);
        Ok(())
    }

    /// What is wrong with a crack whose part exists.
    fn diagnose(
        &self,
        id: FragmentId,
        k: usize,
        crack: &Crack,
        node_part: &[u32],
    ) -> FractureError {
        let part = crack.part;
        let nodes = &self.fragments[id.0 as usize].nodes;
        let mut expected = nodes.iter().filter(|&&n| node_part[n as usize] == part);
        let mut given = crack.levels.iter().map(|(n, _)| n);
        let differs = expected.find(|&n| given.next() != Some(n)).copied();
        let bad = |(_, s): &&(u32, f32)| !s.is_finite() || *s == 0.0;
        match (
            differs.or(given.next().map(|_| NONE)),
            crack.levels.iter().find(bad),
        ) {
            (None, Some(&(node, level))) => FractureError::BadLevel {
                crack: k,
                node,
                level,
            },
            (differs, _) => FractureError::WrongNodes {
                crack: k,
                part,
                node: differs.unwrap_or(NONE),
            },
        }
    }

    /// The nodes with an edge that is cut, crack by crack, in increasing order; and where
    /// those of each crack begin.
    fn nodes_beside_cracks(&self, fracture: &Fracture, node_part: &[u32]) -> (Vec<u32>, Vec<u32>) {
        let mesh = &self.mesh;
        let cracks = &fracture.cracks;
        let mut found: Vec<(u32, u32)> = Vec::new();
        for &n in &self.fragments[fracture.fragment.0 as usize].nodes {
            let part = node_part[n as usize];
            let first = found.len();
            for &m in mesh.adjacent_nodes(n) {
                let other = node_part[m as usize];
                if other == part || other == NONE {
                    continue;
                }
                let crack = separating_crack(cracks, part, other);
                if !found[first..].iter().any(|f| f.0 == crack) {
                    found.push((crack, n));
                }
            }
        }
        let mut starts = vec![0_u32; cracks.len() + 1];
        for (crack, _) in &found {
            starts[*crack as usize + 1] += 1;
        }
        for k in 0..cracks.len() {
            starts[k + 1] += starts[k];
        }
        let mut next = starts.clone();
        let mut nodes = vec![0; found.len()];
        for (crack, n) in found {
            let at = &mut next[crack as usize];
            nodes[*at as usize] = n;
            *at += 1;
        }
        (nodes, starts)
    }

    /// Cuts every edge whose ends part, and gives a plane to every tetrahedron
    /// around such an edge. Edges come in increasing order of their nodes. `beside` are
    /// the nodes that have such an edge.
    fn split_tets(
        &mut self,
        levels: &[(u32, f32)],
        beside: &[u32],
        node_level: &mut [f32],
        cut_tets: &mut Vec<u32>,
        cut_edges: &mut Vec<CutEdge>,
    ) {
        let mesh = Arc::clone(&self.mesh);
        let positions = mesh.positions();
        // Nodes outside the part keep level zero: an edge to them is not cut.
        for &(n, s) in levels {
            node_level[n as usize] = s;
        }
        for &n in beside {
            let s_n = node_level[n as usize];
            for &m in mesh.adjacent_nodes(n) {
                let s_m = node_level[m as usize];
                if m > n && parts(s_n, s_m) {
                    let [a, b] = [n, m].map(|i| positions[i as usize]);
                    let (t, point) = cut_point(a, b, s_n, s_m);
                    cut_edges.push(CutEdge {
                        nodes: [n, m],
                        t: t as f32,
                        point: point.as_vec3(),
                    });
                }
            }
            // Every cut tetrahedron has a negative node with a cut edge; it is
            // looked at from the lowest.
            if s_n > 0.0 {
                continue;
            }
            for &tet in mesh.adjacent_tets(n) {
                let corners = mesh.tets()[tet as usize];
                let plane = corners.map(|c| node_level[c as usize]);
                let lowest = (0..4).all(|i| corners[i] >= n || plane[i] >= 0.0);
                if lowest && plane.iter().any(|&s| s > 0.0) {
                    self.add_plane(tet, plane);
                    cut_tets.push(tet);
                }
            }
        }
        for &(n, _) in levels {
            node_level[n as usize] = 0.0;
        }
    }

    fn add_plane(&mut self, tet: u32, plane: [f32; 4]) {
        let slot = &mut self.tet_cut[tet as usize];
        if *slot >= AT_BOUNDARY {
            *slot = self.cuts.len() as u32;
            self.cuts.push(TetCut::default());
        }
        self.cuts[*slot as usize].push(plane);
    }

    /// Retires the parent and makes a fragment of every connected part, in order of
    /// their lowest node.
    fn relabel(&mut self, parent: FragmentId, node_part: &mut [u32]) -> Vec<FragmentId> {
        let generation = self.fragments[parent.0 as usize].generation + 1;
        let retired = &mut self.fragments[parent.0 as usize];
        retired.alive = false;
        let nodes = std::mem::take(&mut retired.nodes);
        let first_child = self.fragments.len();
        let mut stack = Vec::new();
        for &start in &nodes {
            if node_part[start as usize] == NONE {
                continue;
            }
            let id = FragmentId(self.fragments.len() as u32);
            let mut size = 0;
            flood(&self.mesh, start, node_part, &mut stack, |n| {
                size += 1;
                self.node_fragment[n as usize] = id;
            });
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
}

/// Visits the nodes of a part that are connected to `start`, and takes their part away: only
/// nodes of the fragment that breaks have one.
fn flood(
    mesh: &TetMesh,
    start: u32,
    node_part: &mut [u32],
    stack: &mut Vec<u32>,
    mut visit: impl FnMut(u32),
) {
    let part = std::mem::replace(&mut node_part[start as usize], NONE);
    stack.push(start);
    while let Some(n) = stack.pop() {
        visit(n);
        for &m in mesh.adjacent_nodes(n) {
            if node_part[m as usize] == part {
                node_part[m as usize] = NONE;
                stack.push(m);
            }
        }
    }
}

/// The crack that has put two nodes into different parts, from the parts they are in at
/// last. The higher part was made by the crack before its number, out of the part that
/// this crack split: if that is where the other node was, they parted there; else they
/// had parted before.
fn separating_crack(cracks: &[Crack], a: u32, b: u32) -> u32 {
    let (mut low, mut high) = (a.min(b), a.max(b));
    loop {
        let from = cracks[high as usize - 1].part;
        if from == low {
            return high - 1;
        }
        (low, high) = (low.min(from), low.max(from));
    }
}
