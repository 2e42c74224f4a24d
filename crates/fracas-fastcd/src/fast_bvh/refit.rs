//! Boxes, normals, cones and the inter-collision cost, from the leaves up
//! [Heo 2010, §5.3].
//!
//! A subtree is one range of nodes and one of triangles, so large ones are cut for threads.
//!
//! Bodies that are clear of themselves need boxes only, and none if they rest.

use std::ops::Range;

use glam::{Vec3, Vec3A};

use super::cone::{self, Cone};
use super::ids::NONE;
use super::mesh::Mesh;
use super::threads::{CHUNK, both, map_into};
use super::tree::{Bounds, ClearRange, Info, Leaf, MovingBounds, Node, Tree, nearest};
use super::{Culling, Detection};
use fracas_geometry::primitives::Moving;

impl Tree {
    /// Brings boxes, cones and `cost_inter` of all nodes up to date with the
    /// positions: one pass over the nodes from the back.
    pub(crate) fn refit(
        &mut self,
        mesh: &Mesh,
        detection: Detection,
        culling: Culling,
        parallel: bool,
    ) {
        self.round = self.round.wrapping_add(1);
        let moving = detection == Detection::Continuous;
        let stride = if culling == Culling::Off {
            0
        } else if moving {
            3
        } else {
            1
        };
        self.normals.resize(self.leaves.len() * stride, Vec3::ZERO);
        self.points.resize(mesh.positions.len(), [Vec3A::ZERO; 2]);
        map_into(parallel, &mesh.positions, &mut self.points, |p, point| {
            *point = p.map(nearest);
        });
        let refit = Refit {
            leaves: &self.leaves,
            neighbours: &self.neighbours,
            points: &self.points,
            positions: &mesh.positions,
            clear: &self.clear,
            moving,
            culling,
            stride,
            parallel,
        };
        refit.subtree(Subtree {
            nodes: &mut self.nodes,
            info: &mut self.info,
            boxes: &mut self.boxes,
            normals: &mut self.normals,
            first_node: 0,
            first_place: 0,
        });
    }
}

/// What refitting reads.
struct Refit<'a> {
    leaves: &'a [Leaf],
    neighbours: &'a [[u32; 3]],
    points: &'a [[Vec3A; 2]],
    positions: &'a [Moving],
    clear: &'a [ClearRange],
    moving: bool,
    culling: Culling,
    /// Directions of normals for each triangle.
    stride: usize,
    parallel: bool,
}

/// A subtree, which is one range of nodes and one of places: what refitting writes of it.
struct Subtree<'a> {
    nodes: &'a mut [Node],
    info: &'a mut [Info],
    boxes: &'a mut [MovingBounds],
    normals: &'a mut [Vec3],
    /// The number of its root.
    first_node: usize,
    first_place: usize,
}

impl Subtree<'_> {
    /// What is below the root, left and right.
    fn below(&mut self, stride: usize) -> [Subtree<'_>; 2] {
        let right = self.nodes[0].link() as usize;
        let left_nodes = right - self.first_node - 1;
        let left_places = self.info[1].count as usize;
        let (left, rest) = self.nodes[1..].split_at_mut(left_nodes);
        let (left_info, rest_info) = self.info[1..].split_at_mut(left_nodes);
        let (left_boxes, rest_boxes) = self.boxes.split_at_mut(left_places);
        let (left_normals, rest_normals) = self.normals.split_at_mut(left_places * stride);
        [
            Subtree {
                nodes: left,
                info: left_info,
                boxes: left_boxes,
                normals: left_normals,
                first_node: self.first_node + 1,
                first_place: self.first_place,
            },
            Subtree {
                nodes: rest,
                info: rest_info,
                boxes: rest_boxes,
                normals: rest_normals,
                first_node: right,
                first_place: self.first_place + left_places,
            },
        ]
    }
}

impl Refit<'_> {
    /// A subtree in which some bodies are clear. Large ones are cut in two for threads.
    fn subtree(&self, mut tree: Subtree) {
        let nodes = tree.first_node..tree.first_node + tree.nodes.len();
        let before = |node: usize| self.clear.partition_point(|c| (c.node as usize) < node);
        let clear = &self.clear[before(nodes.start)..before(nodes.end)];
        let whole = clear.first().filter(|c| c.node as usize == nodes.start);
        let cut = self.parallel && tree.boxes.len() > CHUNK;
        if cut && whole.is_none() {
            let [left, right] = tree.below(self.stride);
            both(true, || self.subtree(left), || self.subtree(right));
            self.inner_box(&mut tree, 0);
            self.inner(&mut tree, 0);
            return;
        }
        let mut end = tree.nodes.len();
        for range in clear.iter().rev() {
            let (from, to) = (range.node as usize, range.end as usize);
            let (from, to) = (from - nodes.start, to - nodes.start);
            self.range(&mut tree, to..end);
            end = from;
            if !range.at_rest {
                if cut {
                    // Of a whole subtree.
                    let [left, right] = tree.below(self.stride);
                    both(true, || self.boxes(left), || self.boxes(right));
                    self.inner_box(&mut tree, 0);
                } else {
                    self.box_range(&mut tree, from..to);
                }
            }
            // Normals below are out of date: nothing above may be culled by them.
            tree.info[from].normals = Cone {
                axis: Vec3::NAN,
                ..Cone::INVALID
            };
        }
        self.range(&mut tree, 0..end);
    }

    /// The boxes alone of a subtree of one body.
    fn boxes(&self, mut tree: Subtree) {
        if tree.boxes.len() > CHUNK {
            let [left, right] = tree.below(self.stride);
            both(self.parallel, || self.boxes(left), || self.boxes(right));
            self.inner_box(&mut tree, 0);
        } else {
            let all = 0..tree.nodes.len();
            self.box_range(&mut tree, all);
        }
    }

    fn box_range(&self, tree: &mut Subtree, nodes: Range<usize>) {
        for i in nodes.rev() {
            if tree.nodes[i].is_leaf() {
                self.leaf_box(tree, i);
            } else {
                self.inner_box(tree, i);
            }
        }
    }

    fn range(&self, tree: &mut Subtree, nodes: Range<usize>) {
        for i in nodes.rev() {
            if tree.nodes[i].is_leaf() {
                self.leaf_box(tree, i);
                if self.culling != Culling::Off {
                    self.leaf(tree, i);
                }
                tree.info[i].cost_inter = 1.0;
            } else {
                self.inner_box(tree, i);
                self.inner(tree, i);
            }
        }
    }

    #[inline]
    fn leaf_box(&self, tree: &mut Subtree, i: usize) {
        let first = tree.nodes[i].link() as usize;
        let count = tree.nodes[i].leaf_count() as usize;
        let mut bounds = Bounds::EMPTY;
        let leaves = self.leaves[first..first + count].iter();
        let local = first - tree.first_place;
        for (leaf, own) in leaves.zip(&mut tree.boxes[local..local + count]) {
            let corners = leaf.corners.map(|v| &self.points[v as usize]);
            let end = Bounds::around(corners.map(|p| p[1]));
            let start = if self.moving {
                Bounds::around(corners.map(|p| p[0]))
            } else {
                end
            };
            *own = MovingBounds { start, end };
            bounds = bounds.union(&own.swept());
        }
        tree.nodes[i].set_bounds(&bounds);
    }

    #[inline]
    fn inner_box(&self, tree: &mut Subtree, i: usize) {
        let (l, r) = (i + 1, tree.nodes[i].link() as usize - tree.first_node);
        let bounds = tree.nodes[l].bounds().union(&tree.nodes[r].bounds());
        tree.nodes[i].set_bounds(&bounds);
    }

    /// What culling needs of a leaf.
    fn leaf(&self, tree: &mut Subtree, i: usize) {
        let first = tree.nodes[i].link() as usize;
        let count = tree.nodes[i].leaf_count() as usize;
        let stride = self.stride;
        let mut normals = Cone::EMPTY;
        let mut binormals = Cone::EMPTY;
        for place in first..first + count {
            let [a, b, c] = self.leaves[place]
                .corners
                .map(|v| &self.positions[v as usize]);
            let at = (place - tree.first_place) * stride;
            let directions = &mut tree.normals[at..at + stride];
            cone::normal_directions(a, b, c, self.moving, directions);
            if self.culling == Culling::StarContour {
                normals.axis += directions[stride / 2];
            } else {
                normals = normals.merge(&Cone::around(directions));
            }
            if self.culling == Culling::DualCone {
                for k in 0..3 {
                    if self.neighbours[place][k] == NONE {
                        let [p, q, r] = [[a, b, c], [b, c, a], [c, a, b]][k];
                        binormals = binormals.merge(&cone::of_binormals(p, q, r));
                    }
                }
            }
        }
        let info = &mut tree.info[i];
        info.normals = normals;
        info.binormals = binormals;
    }

    /// What culling and the cost metric need of an inner node.
    fn inner(&self, tree: &mut Subtree, i: usize) {
        let (l, r) = (i + 1, tree.nodes[i].link() as usize - tree.first_node);
        let (left, right) = (tree.nodes[l].bounds(), tree.nodes[r].bounds());
        let bounds = tree.nodes[i].bounds();
        let info = &mut *tree.info;
        match self.culling {
            Culling::Off => {}
            Culling::StarContour => {
                info[i].normals.axis = info[l].normals.axis + info[r].normals.axis;
            }
            _ => info[i].normals = info[l].normals.merge(&info[r].normals),
        }
        if self.culling == Culling::DualCone {
            info[i].binormals = info[l].binormals.merge(&info[r].binormals);
        }
        // TC_I = 1 + P(l) TC_I(l) + P(r) TC_I(r), P a ratio of volumes [eq. 6].
        let thickness = 1e-3 * bounds.extent_sum() + f32::MIN_POSITIVE;
        let whole = bounds.thick_volume(thickness);
        let share = |child: &Bounds, c: usize| {
            // Volumes under- or overflow only where boxes do not count any more.
            let p = (child.thick_volume(thickness) / whole).min(1.0);
            p * info[c].cost_inter
        };
        info[i].cost_inter = 1.0 + share(&left, l) + share(&right, r);
    }
}
