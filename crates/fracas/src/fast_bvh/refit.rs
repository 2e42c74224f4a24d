//! Boxes, cones and the inter-collision cost, from the leaves up [Heo 2010, §5.3].

use glam::{DVec3, Vec3};

use super::cone::{self, Cone};
use super::mesh::{Mesh, NONE};
use super::tree::{Bounds, MovingBounds, Tree};
use super::{Culling, Detection};

impl Tree {
    /// Brings boxes, cones and `cost_inter` of all nodes up to date with the
    /// positions. One pass over vertices, one over nodes from the back.
    pub(crate) fn refit(&mut self, mesh: &Mesh, detection: Detection, culling: Culling) {
        let moving = detection == Detection::Continuous;
        self.vertex_boxes
            .resize(mesh.positions.len(), MovingBounds::EMPTY);
        for (bounds, [start, end]) in self.vertex_boxes.iter_mut().zip(&mesh.positions) {
            bounds.end = outward(*end);
            bounds.start = if moving { outward(*start) } else { bounds.end };
        }
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
    }

    fn refit_leaf(&mut self, mesh: &Mesh, moving: bool, culling: Culling, i: usize) {
        let (first, count) = (
            self.nodes[i].link as usize,
            self.nodes[i].leaf_count as usize,
        );
        let stride = if moving { 3 } else { 1 };
        let mut bounds = Bounds::EMPTY;
        let mut normals = Cone::EMPTY;
        let mut binormals = Cone::EMPTY;
        for place in first..first + count {
            let corners = self.leaves[place].corners;
            let [a, b, c] = corners.map(|v| &self.vertex_boxes[v as usize]);
            let own = a.union(b).union(c);
            self.boxes[place] = own;
            bounds = bounds.union(&own.start).union(&own.end);
            if culling == Culling::Off {
                continue;
            }
            let [a, b, c] = corners.map(|v| &mesh.positions[v as usize]);
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
        self.nodes[i].bounds = bounds;
        let info = &mut self.info[i];
        info.normals = normals;
        info.binormals = binormals;
        info.cost_inter = 1.0;
    }

    fn refit_inner(&mut self, culling: Culling, i: usize) {
        let (l, r) = (i + 1, self.nodes[i].link as usize);
        let bounds = self.nodes[l].bounds.union(&self.nodes[r].bounds);
        self.nodes[i].bounds = bounds;
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
        let thickness = 1e-3 * f64::from(bounds.extent_sum()) + f64::MIN_POSITIVE;
        let whole = bounds.thick_volume(thickness);
        let share = |c: usize| {
            let p = self.nodes[c].bounds.thick_volume(thickness) / whole;
            p.min(1.0) as f32 * self.info[c].cost_inter
        };
        self.info[i].cost_inter = 1.0 + share(l) + share(r);
    }
}

/// The smallest box in `f32` around a point.
#[inline]
fn outward(p: DVec3) -> Bounds {
    Bounds {
        min: [round_down(p.x), round_down(p.y), round_down(p.z)],
        max: [round_up(p.x), round_up(p.y), round_up(p.z)],
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
