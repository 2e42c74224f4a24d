//! How a fracture becomes fragments: the cut.
//!
//! Steps of [`Fragments::apply`]: check the fracture, giving the fragment's nodes
//! their parts crack by crack -> crack by crack, find the edges whose ends part and
//! split the tetrahedra around them -> flood connected fragments -> relabel.
//!
//! Source: Glondu 2013, section 4.1.
//!
//! **Guarantee**: work is proportional to the broken fragment, never to the rest of the
//! object; with an error nothing has changed.

use std::sync::Arc;

use super::tet_cut::{TetCut, parts};
use super::{AT_BOUNDARY, CutEdge, Fragment, FragmentId, Fragments, Split};
use crate::crack::{Crack, Fracture, FractureError};
use crate::cut_piece::cut_point;
use crate::tet_mesh::NONE;

impl Fragments {
    /// Breaks one fragment. Parts that are not connected become several fragments.
    ///
    /// # Errors
    /// See [`FractureError`]; the object is unchanged then.
    pub fn apply(&mut self, fracture: &Fracture) -> Result<Split, FractureError> {
        self.assign_parts(fracture)?;
        let parent = fracture.fragment;
        let nodes = self.fragments[parent.0 as usize].nodes.len();
        let mut cut_tets = Vec::with_capacity(nodes);
        let mut cut_edges = Vec::with_capacity(nodes);
        for crack in &fracture.cracks {
            self.split_tets(&crack.levels, &mut cut_tets, &mut cut_edges);
        }
        cut_tets.sort_unstable();
        cut_tets.dedup();
        // Each crack's edges are in order: a sort that merges runs has little to do.
        if fracture.cracks.len() > 1 {
            cut_edges.sort_by_key(|e: &CutEdge| e.nodes);
        }
        let children = self.relabel(parent);
        Ok(Split {
            parent,
            children,
            cut_tets,
            cut_edges,
        })
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
        if *slot >= AT_BOUNDARY {
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
}
