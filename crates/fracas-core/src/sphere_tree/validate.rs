//! Everything that must hold of a tree, checked the slow way.

use super::{EXTRA, SphereTree};
use crate::{FragmentId, Fragments};

impl SphereTree {
    /// Checks the tree by itself: children after parents and on deeper levels,
    /// own child first, ranges of points nested and exact, every point in one
    /// leaf, every sphere around all its points.
    ///
    /// # Errors
    /// What does not hold, in words.
    #[cfg_attr(feature = "research", visibility::make(pub))]
    pub(crate) fn validate(&self) -> Result<(), String> {
        let (nodes, points) = (self.nodes.len(), self.points.len());
        if nodes == 0 || points == 0 {
            return Err("the tree is empty".into());
        }
        if self.levels.len() != nodes || self.positions.len() != points {
            return Err("arrays of different length".into());
        }
        if self.nodes[0].point_range() != (0..points) {
            return Err("the root does not hold all points".into());
        }
        let mut parents = vec![0_u32; nodes];
        let mut leaves = 0;
        for (i, node) in self.nodes.iter().enumerate() {
            if node.centre != self.positions[node.point as usize] {
                return Err(format!("node {i} is not centred at its representative"));
            }
            if let Some(p) = node.point_range().find(|&p| {
                let d = self.positions[p]
                    .as_dvec3()
                    .distance(node.centre.as_dvec3());
                d > f64::from(node.radius)
            }) {
                return Err(format!("the sphere of node {i} does not hold point {p}"));
            }
            if node.child_count == 0 {
                if node.point_count != 1 {
                    return Err(format!("leaf {i} holds {} points", node.point_count));
                }
                leaves += 1;
                continue;
            }
            let mut at = node.point;
            for child in node.children() {
                let below = self
                    .nodes
                    .get(child as usize)
                    .filter(|_| child as usize > i)
                    .ok_or_else(|| format!("node {i} has child {child}, which is not after it"))?;
                if below.point != at {
                    return Err(format!(
                        "child {child} of node {i} leaves a gap in the points"
                    ));
                }
                if self.levels[child as usize] <= self.levels[i] && self.levels[i] != u8::MAX {
                    return Err(format!(
                        "child {child} of node {i} is not on a deeper level"
                    ));
                }
                at += below.point_count;
                parents[child as usize] += 1;
            }
            if at as usize != node.point_range().end {
                return Err(format!(
                    "the children of node {i} do not hold all its points"
                ));
            }
        }
        if parents[0] != 0 || parents[1..].iter().any(|&p| p != 1) {
            return Err("not every node has exactly one parent".into());
        }
        if leaves != points {
            return Err(format!("{leaves} leaves for {points} points"));
        }
        let mut ids: Vec<u32> = self.points.iter().map(|p| p.id).collect();
        ids.sort_unstable();
        if ids.windows(2).any(|w| w[0] == w[1]) || ids.last() >= Some(&self.next_id) {
            return Err("point names repeat or are out of range".into());
        }
        Ok(())
    }

    /// Checks also that the tree holds exactly the points of a fragment: all its
    /// nodes, one point for every cut edge at such a node, and nobody else's.
    ///
    /// # Errors
    /// What does not hold, in words.
    #[cfg_attr(feature = "research", visibility::make(pub))]
    pub(crate) fn validate_for(&self, fragments: &Fragments, id: FragmentId) -> Result<(), String> {
        self.validate()?;
        let mesh = fragments.mesh();
        let label = fragments.node_fragment();
        let node_count = mesh.positions().len() as u32;
        let mut expected: Vec<u32> = fragments.fragment(id).nodes().to_vec();
        for &a in fragments.fragment(id).nodes() {
            for &b in mesh.adjacent_nodes(a) {
                if label[b as usize] != id {
                    expected.push(a);
                }
            }
        }
        expected.sort_unstable();
        let mut owners = Vec::new();
        for (point, position) in self.points.iter().zip(&self.positions) {
            if point.owner & EXTRA != 0 {
                let extra = self.extras[(point.owner & !EXTRA) as usize];
                if fragments.fragment_at(extra.tet, extra.barycentric) != id {
                    return Err(format!("an extra sample of another fragment is in {id}"));
                }
                continue;
            }
            owners.push(point.owner);
            if point.id < node_count && mesh.positions()[point.id as usize] != *position {
                return Err(format!("node {} is at the wrong place", point.id));
            }
        }
        owners.sort_unstable();
        if owners == expected {
            Ok(())
        } else {
            Err(format!(
                "{id} should have {} points of nodes and cut edges, and has {}, or others",
                expected.len(),
                owners.len()
            ))
        }
    }
}
