//! Boxes, cones and the inter-collision cost, from the leaves up [Heo 2010, §5.3].

use super::cone::{self, Cone};
use super::mesh::{Mesh, NONE};
use super::tree::{Bounds, Tree};
use super::{Culling, Detection};

impl Tree {
    /// Brings boxes, cones and `cost_inter` of all nodes up to date with the
    /// positions. One pass over vertices, one over nodes from the back.
    pub(crate) fn refit(&mut self, mesh: &Mesh, detection: Detection, culling: Culling) {
        let moving = detection == Detection::Continuous;
        self.vertex_boxes
            .resize(mesh.positions.len(), Bounds::EMPTY);
        for (bounds, [start, end]) in self.vertex_boxes.iter_mut().zip(&mesh.positions) {
            for k in 0..3 {
                let (low, high) = if start[k] < end[k] {
                    (start[k], end[k])
                } else {
                    (end[k], start[k])
                };
                bounds.min[k] = round_down(low);
                bounds.max[k] = round_up(high);
            }
        }
        self.refit_nodes(mesh, moving, culling, 0, self.nodes.len());
    }

    /// Refits the nodes of a range that holds whole subtrees.
    pub(crate) fn refit_nodes(
        &mut self,
        mesh: &Mesh,
        moving: bool,
        culling: Culling,
        from: usize,
        to: usize,
    ) {
        let with_normals = culling != Culling::Off;
        let with_binormals = culling == Culling::DualCone;
        for i in (from..to).rev() {
            let node = self.nodes[i];
            if node.is_leaf() {
                let (first, count) = (node.link as usize, node.leaf_count as usize);
                let mut bounds = Bounds::EMPTY;
                let mut normals = Cone::EMPTY;
                let mut binormals = Cone::EMPTY;
                for place in first..first + count {
                    let [a, b, c] = self.leaves[place].corners.map(|v| v as usize);
                    let own = self.vertex_boxes[a]
                        .union(&self.vertex_boxes[b])
                        .union(&self.vertex_boxes[c]);
                    self.boxes[place] = own;
                    bounds = bounds.union(&own);
                    if with_normals && normals.is_valid() {
                        let (a, b, c) =
                            (&mesh.positions[a], &mesh.positions[b], &mesh.positions[c]);
                        normals = normals.merge(&cone::of_normals(a, b, c, moving));
                    }
                    if with_binormals {
                        for k in 0..3 {
                            if self.neighbours[place][k] == NONE {
                                let corner = |k: usize| {
                                    &mesh.positions[self.leaves[place].corners[k % 3] as usize]
                                };
                                let own =
                                    cone::of_binormals(corner(k), corner(k + 1), corner(k + 2));
                                binormals = binormals.merge(&own);
                            }
                        }
                    }
                }
                self.nodes[i].bounds = bounds;
                let info = &mut self.info[i];
                info.normals = normals;
                info.binormals = binormals;
                info.cost_inter = 1.0;
                continue;
            }
            let (l, r) = (i + 1, node.link as usize);
            let bounds = self.nodes[l].bounds.union(&self.nodes[r].bounds);
            self.nodes[i].bounds = bounds;
            if with_normals {
                self.info[i].normals = self.info[l].normals.merge(&self.info[r].normals);
            }
            if with_binormals {
                self.info[i].binormals = self.info[l].binormals.merge(&self.info[r].binormals);
            }
            // TC_I = 1 + P(l) TC_I(l) + P(r) TC_I(r), P a ratio of volumes [eq. 6].
            let thickness = 1e-3 * f64::from(bounds.extent_sum()) + f64::MIN_POSITIVE;
            let whole = bounds.thick_volume(thickness);
            let share = |c: usize| {
                let p = self.nodes[c].bounds.thick_volume(thickness) / whole;
                p.min(1.0) as f32 * self.info[c].cost_inter
            };
            self.info[i].cost_inter = 1.0 + share(l) + share(r);
        }
    }
}

#[inline]
fn round_down(x: f64) -> f32 {
    let f = x as f32;
    if f64::from(f) > x { f.next_down() } else { f }
}

#[inline]
fn round_up(x: f64) -> f32 {
    let f = x as f32;
    if f64::from(f) < x { f.next_up() } else { f }
}
