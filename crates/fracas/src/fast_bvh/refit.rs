//! Boxes, normals, cones and the inter-collision cost, from the leaves up
//! [Heo 2010, §5.3].

use glam::Vec3;

use super::cone::{self, Cone};
use super::mesh::{Mesh, NONE};
use super::tree::{Bounds, MovingBounds, Tree};
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
        for i in (0..self.nodes.len()).rev() {
            if self.nodes[i].is_leaf() {
                self.refit_leaf(mesh, moving, culling, i);
            } else {
                self.refit_inner(culling, i);
            }
        }
        self.judge_fans(mesh);
    }

    fn refit_leaf(&mut self, mesh: &Mesh, moving: bool, culling: Culling, i: usize) {
        let first = self.nodes[i].link() as usize;
        let count = self.nodes[i].leaf_count() as usize;
        let stride = if moving { 3 } else { 1 };
        let mut bounds = Bounds::EMPTY;
        let mut normals = Cone::EMPTY;
        let mut binormals = Cone::EMPTY;
        for place in first..first + count {
            let [a, b, c] = self.leaves[place].corners;
            let [a, b, c] = [
                &mesh.positions[a as usize],
                &mesh.positions[b as usize],
                &mesh.positions[c as usize],
            ];
            let own = if moving {
                MovingBounds::around(&[a, b, c])
            } else {
                let end = Bounds::outward(a[1].min(b[1]).min(c[1]), a[1].max(b[1]).max(c[1]));
                MovingBounds { start: end, end }
            };
            self.boxes[place] = own;
            bounds = bounds.union(&own.swept());
            if culling == Culling::Off {
                continue;
            }
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
        self.nodes[i].set_bounds(&bounds);
        let info = &mut self.info[i];
        info.normals = normals;
        info.binormals = binormals;
        info.cost_inter = 1.0;
    }

    fn refit_inner(&mut self, culling: Culling, i: usize) {
        let (l, r) = (i + 1, self.nodes[i].link() as usize);
        let (left, right) = (self.nodes[l].bounds(), self.nodes[r].bounds());
        let bounds = left.union(&right);
        self.nodes[i].set_bounds(&bounds);
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
