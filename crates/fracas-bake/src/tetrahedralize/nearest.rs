//! Which tetrahedra are near: boxes that meet a box, and the nearest boundary face.

use fracas_core::TetMesh;
use glam::DVec3;

use super::bvh::Bvh;

/// A tree over boxes.
pub(crate) struct Boxes {
    tree: Bvh,
}

impl Boxes {
    /// Each box is kept as a degenerate triangle that spans it: the tree's boxes are
    /// then those of its members.
    pub(crate) fn build(boxes: impl Iterator<Item = (DVec3, DVec3)>) -> Self {
        let (mut positions, mut entries) = (Vec::new(), Vec::new());
        for (low, high) in boxes {
            let first = positions.len() as u32;
            positions.extend([low, high]);
            entries.push([first, first + 1, first + 1]);
        }
        Self {
            tree: Bvh::build(&positions, &entries),
        }
    }

    /// The boxes that meet a box, in increasing order.
    pub(crate) fn meeting(&self, low: DVec3, high: DVec3, found: &mut Vec<u32>) {
        found.clear();
        let mut stack = vec![0_u32];
        while let Some(index) = stack.pop() {
            let Some(node) = self.tree.nodes.get(index as usize) else {
                return;
            };
            if node.low.cmpgt(high).any() || node.high.cmplt(low).any() {
                continue;
            }
            if node.count == 0 {
                stack.extend([index + 1, node.start]);
                continue;
            }
            for entry in node.start..node.start + node.count {
                let [a, b, _] = self.tree.corners[entry as usize];
                if !(a.cmpgt(high).any() || b.cmplt(low).any()) {
                    found.push(self.tree.order[entry as usize]);
                }
            }
        }
        found.sort_unstable();
    }
}

/// The boundary faces of a mesh, to be asked for the nearest.
pub(crate) struct NearestFace {
    tree: Bvh,
    tets: Vec<u32>,
}

impl NearestFace {
    pub(crate) fn build(mesh: &TetMesh) -> Self {
        let positions: Vec<DVec3> = mesh.positions().iter().map(|p| p.as_dvec3()).collect();
        let (faces, tets): (Vec<[u32; 3]>, Vec<u32>) =
            mesh.boundary().map(|f| (f.nodes, f.tet)).unzip();
        Self {
            tree: Bvh::build(&positions, &faces),
            tets,
        }
    }

    /// The tetrahedron of the boundary face nearest to `p`.
    pub(crate) fn tet(&self, p: DVec3) -> u32 {
        self.tree
            .closest(p, f64::INFINITY)
            .map_or(0, |c| self.tets[self.tree.order[c.entry as usize] as usize])
    }
}
