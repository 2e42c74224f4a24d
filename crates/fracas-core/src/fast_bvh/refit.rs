//! Boxes, normals, cones and the inter-collision cost, from the leaves up
//! [Heo 2010, §5.3].
//!
//! Bodies that are clear of themselves need boxes only, and none if they rest.

use glam::Vec3;

use super::cone::{self, Cone};
use super::ids::NONE;
use super::mesh::Mesh;
use super::tree::{Bounds, MovingBounds, Tree, nearest};
use super::{Culling, Detection};

impl Tree {
    /// Brings boxes, cones, fans and `cost_inter` of all nodes up to date with the
    /// positions: one pass over the nodes from the back, two over the triangles.
    pub(crate) fn refit(&mut self, mesh: &Mesh, detection: Detection, culling: Culling) {
        self.round = self.round.wrapping_add(1);
        let moving = detection == Detection::Continuous;
        let stride = if moving { 3 } else { 1 };
        let normals = if culling == Culling::Off {
            0
        } else {
            self.leaves.len() * stride
        };
        self.normals.resize(normals, Vec3::ZERO);
        self.points.clear();
        self.points
            .extend(mesh.positions.iter().map(|p| p.map(nearest)));
        let mut end = self.nodes.len();
        for c in (0..self.clear.len()).rev() {
            let range = self.clear[c];
            self.refit_range(mesh, moving, culling, range.end as usize..end);
            end = range.node as usize;
            if !range.at_rest {
                for i in (end..range.end as usize).rev() {
                    if self.nodes[i].is_leaf() {
                        self.refit_leaf_box(moving, i);
                    } else {
                        self.refit_inner_box(i);
                    }
                }
            }
            // Normals below are out of date: nothing above may be culled by them.
            self.info[end].normals = Cone {
                axis: Vec3::NAN,
                ..Cone::INVALID
            };
        }
        self.refit_range(mesh, moving, culling, 0..end);
        self.judge_fans(mesh);
    }

    fn refit_range(
        &mut self,
        mesh: &Mesh,
        moving: bool,
        culling: Culling,
        nodes: std::ops::Range<usize>,
    ) {
        for i in nodes.rev() {
            if self.nodes[i].is_leaf() {
                self.refit_leaf_box(moving, i);
                if culling != Culling::Off {
                    self.refit_leaf(mesh, moving, culling, i);
                }
                self.info[i].cost_inter = 1.0;
            } else {
                self.refit_inner_box(i);
                self.refit_inner(culling, i);
            }
        }
    }

    #[inline]
    fn refit_leaf_box(&mut self, moving: bool, i: usize) {
        let first = self.nodes[i].link() as usize;
        let count = self.nodes[i].leaf_count() as usize;
        let mut bounds = Bounds::EMPTY;
        let leaves = self.leaves[first..first + count].iter();
        for (leaf, own) in leaves.zip(&mut self.boxes[first..first + count]) {
            let corners = leaf.corners.map(|v| &self.points[v as usize]);
            let end = Bounds::around(corners.map(|p| p[1]));
            let start = if moving {
                Bounds::around(corners.map(|p| p[0]))
            } else {
                end
            };
            *own = MovingBounds { start, end };
            bounds = bounds.union(&own.swept());
        }
        self.nodes[i].set_bounds(&bounds);
    }

    #[inline]
    fn refit_inner_box(&mut self, i: usize) {
        let (l, r) = (i + 1, self.nodes[i].link() as usize);
        let bounds = self.nodes[l].bounds().union(&self.nodes[r].bounds());
        self.nodes[i].set_bounds(&bounds);
    }

    /// What culling needs of a leaf.
    fn refit_leaf(&mut self, mesh: &Mesh, moving: bool, culling: Culling, i: usize) {
        let first = self.nodes[i].link() as usize;
        let count = self.nodes[i].leaf_count() as usize;
        let stride = if moving { 3 } else { 1 };
        let mut normals = Cone::EMPTY;
        let mut binormals = Cone::EMPTY;
        for place in first..first + count {
            let [a, b, c] = self.leaves[place].corners;
            let [a, b, c] = [
                &mesh.positions[a as usize],
                &mesh.positions[b as usize],
                &mesh.positions[c as usize],
            ];
            let directions = &mut self.normals[place * stride..(place + 1) * stride];
            cone::normal_directions(a, b, c, moving, directions);
            if culling == Culling::StarContour {
                normals.axis += directions[stride / 2];
            } else {
                normals = normals.merge(&Cone::around(directions));
            }
            if culling == Culling::DualCone {
                for k in 0..3 {
                    if self.neighbours[place][k] == NONE {
                        let [p, q, r] = [[a, b, c], [b, c, a], [c, a, b]][k];
                        binormals = binormals.merge(&cone::of_binormals(p, q, r));
                    }
                }
            }
        }
        let info = &mut self.info[i];
        info.normals = normals;
        info.binormals = binormals;
    }

    /// What culling and the cost metric need of an inner node.
    fn refit_inner(&mut self, culling: Culling, i: usize) {
        let (l, r) = (i + 1, self.nodes[i].link() as usize);
        let (left, right) = (self.nodes[l].bounds(), self.nodes[r].bounds());
        let bounds = self.nodes[i].bounds();
        match culling {
            Culling::Off => {}
            Culling::StarContour => {
                self.info[i].normals.axis = self.info[l].normals.axis + self.info[r].normals.axis;
            }
            _ => self.info[i].normals = self.info[l].normals.merge(&self.info[r].normals),
        }
        if culling == Culling::DualCone {
            self.info[i].binormals = self.info[l].binormals.merge(&self.info[r].binormals);
        }
        // TC_I = 1 + P(l) TC_I(l) + P(r) TC_I(r), P a ratio of volumes [eq. 6].
        let thickness = 1e-3 * bounds.extent_sum() + f32::MIN_POSITIVE;
        let whole = bounds.thick_volume(thickness);
        let share = |child: &Bounds, c: usize| {
            // Volumes under- or overflow only where boxes do not count any more.
            let p = (child.thick_volume(thickness) / whole).min(1.0);
            p * self.info[c].cost_inter
        };
        self.info[i].cost_inter = 1.0 + share(&left, l) + share(&right, r);
    }
}
