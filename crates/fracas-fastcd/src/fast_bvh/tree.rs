//! The hierarchy: nodes and triangles in depth-first order, so that the left child
//! follows its parent, every subtree is one range of nodes and of triangles, and
//! refitting is one loop from the back.

use glam::{DVec3, Vec3, Vec3A, Vec4};

use super::cone::Cone;
use super::fans_state::Fans;
use super::ids::NONE;
pub(crate) use super::leaf::Leaf;
use super::mesh::Mesh;

/// Triangles in a leaf, at most.
pub(crate) const LEAF_TRIANGLES: usize = 4;

/// The nearest point in `f32`. Rounding keeps the order, so the smallest and largest
/// of rounded coordinates are the rounded smallest and largest.
#[inline]
pub(crate) fn nearest(p: DVec3) -> Vec3A {
    let widest = DVec3::splat(f64::from(f32::MAX));
    p.clamp(-widest, widest).as_vec3a()
}

/// An axis-aligned box, rounded outwards from `f64`. Vectors of four lanes, of which
/// three count: they are compared and merged, never added up, so results are the same
/// with and without vector instructions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bounds {
    pub(crate) min: Vec3A,
    pub(crate) max: Vec3A,
}

impl Bounds {
    pub(crate) const EMPTY: Self = Self {
        min: Vec3A::INFINITY,
        max: Vec3A::NEG_INFINITY,
    };

    /// Around points that [`nearest`] rounded.
    #[inline]
    pub(crate) fn around<const N: usize>(points: [Vec3A; N]) -> Self {
        let (mut min, mut max) = (points[0], points[0]);
        for &p in &points[1..] {
            min = min.min(p);
            max = max.max(p);
        }
        // Rounding to the nearest errs by at most half a unit in the last place; an
        // eighth of a millionth of the number is at least a whole one.
        let slack = |v: Vec3A| v.abs() * f32::EPSILON + Vec3A::splat(f32::MIN_POSITIVE);
        Self {
            min: min - slack(min),
            max: max + slack(max),
        }
    }

    #[inline]
    pub(crate) fn union(&self, o: &Self) -> Self {
        Self {
            min: self.min.min(o.min),
            max: self.max.max(o.max),
        }
    }

    #[inline]
    pub(crate) fn overlaps(&self, o: &Self) -> bool {
        (self.min.cmple(o.max) & o.min.cmple(self.max)).all()
    }

    pub(crate) fn contains(&self, o: &Self) -> bool {
        (self.min.cmple(o.min) & o.max.cmple(self.max)).all()
    }

    /// Grown by a distance on all sides.
    #[inline]
    pub(crate) fn widened(&self, by: f32) -> Self {
        Self {
            min: self.min - Vec3A::splat(by),
            max: self.max + Vec3A::splat(by),
        }
    }

    /// How far two boxes are apart.
    pub(crate) fn distance(&self, o: &Self) -> f32 {
        let gap = (o.min - self.max).max(self.min - o.max).max(Vec3A::ZERO);
        let [x, y, z] = gap.to_array();
        (x * x + y * y + z * z).sqrt()
    }

    pub(crate) fn centre(&self) -> [f32; 3] {
        (self.min * 0.5 + self.max * 0.5).to_array()
    }

    #[inline]
    pub(crate) fn extent_sum(&self) -> f32 {
        let e = self.max - self.min;
        e.x + e.y + e.z
    }

    pub(crate) fn area(&self) -> f64 {
        let e = self.max.as_dvec3() - self.min.as_dvec3();
        if e.x < 0.0 {
            0.0
        } else {
            e.x * e.y + e.y * e.z + e.z * e.x
        }
    }

    /// Volume, with each extent thickened, so that flat boxes compare by area. An
    /// empty box has none.
    pub(crate) fn thick_volume(&self, thickness: f32) -> f32 {
        let e = self.max - self.min + Vec3A::splat(thickness);
        if e.x < 0.0 { 0.0 } else { e.x * e.y * e.z }
    }
}

/// The box of a triangle at the start and at the end of the step; between them it
/// moves linearly, as its corners do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct MovingBounds {
    pub(crate) start: Bounds,
    pub(crate) end: Bounds,
}

impl MovingBounds {
    pub(crate) const EMPTY: Self = Self {
        start: Bounds::EMPTY,
        end: Bounds::EMPTY,
    };

    /// Around points that move, rounded by [`nearest`].
    #[inline]
    pub(crate) fn around<const N: usize>(points: [&[Vec3A; 2]; N]) -> Self {
        Self {
            start: Bounds::around(points.map(|p| p[0])),
            end: Bounds::around(points.map(|p| p[1])),
        }
    }

    #[inline]
    pub(crate) fn swept(&self) -> Bounds {
        self.start.union(&self.end)
    }

    /// Grown by a distance on all sides, at all times.
    #[inline]
    pub(crate) fn widened(&self, by: f32) -> Self {
        Self {
            start: self.start.widened(by),
            end: self.end.widened(by),
        }
    }

    /// False only if one axis separates the two, in the same order, at the start and
    /// at the end: then it separates them at all times.
    #[inline]
    pub(crate) fn may_meet(&self, o: &Self) -> bool {
        let below = self.start.max.cmplt(o.start.min) & self.end.max.cmplt(o.end.min);
        let above = o.start.max.cmplt(self.start.min) & o.end.max.cmplt(self.end.min);
        !(below | above).any()
    }
}

/// What a traversal reads: 32 bytes. The fourth lanes hold what is not the box.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    /// Lower corner; `link` as bits.
    low: Vec4,
    /// Upper corner; `leaf_count` as bits.
    high: Vec4,
}

impl Node {
    pub(crate) fn new(bounds: &Bounds, link: u32, leaf_count: u32) -> Self {
        Self {
            low: bounds.min.extend(f32::from_bits(link)),
            high: bounds.max.extend(f32::from_bits(leaf_count)),
        }
    }

    #[inline]
    pub(crate) fn bounds(&self) -> Bounds {
        Bounds {
            min: Vec3A::from_vec4(self.low),
            max: Vec3A::from_vec4(self.high),
        }
    }

    pub(crate) fn set_bounds(&mut self, bounds: &Bounds) {
        *self = Self::new(bounds, self.link(), self.leaf_count());
    }

    /// Inner: index of the right child (the left is the next node). Leaf: place of
    /// its first triangle.
    #[inline]
    pub(crate) fn link(&self) -> u32 {
        self.low.w.to_bits()
    }

    pub(crate) fn set_link(&mut self, link: u32) {
        self.low.w = f32::from_bits(link);
    }

    /// Triangles of a leaf; zero in an inner node.
    #[inline]
    pub(crate) fn leaf_count(&self) -> u32 {
        self.high.w.to_bits()
    }

    #[inline]
    pub(crate) fn is_leaf(&self) -> bool {
        self.leaf_count() > 0
    }
}

/// What update and culling keep beside it: 56 bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Info {
    /// The cone of normals; with [`super::Culling::StarContour`], which looks at the
    /// normals themselves, its axis is their sum.
    pub(crate) normals: Cone,
    pub(crate) binormals: Cone,
    /// The range of triangles below, by place.
    pub(crate) first: u32,
    pub(crate) count: u32,
    /// TC_I of [Heo 2010, eq. 6].
    pub(crate) cost_inter: f32,
    /// TC_S of [Heo 2010, eq. 7].
    pub(crate) cost_self: f32,
    /// TC_S when this subtree was last built; NaN until it is first known.
    pub(crate) built_cost: f32,
    pub(crate) flags: u32,
}

/// The subtree provably (or, by the paper's modes, supposedly) does not collide
/// with itself.
pub(crate) const CULLED: u32 = 1;
/// Whether the triangles are one component is known, and the answer.
pub(crate) const COMPONENT_KNOWN: u32 = 2;
pub(crate) const ONE_COMPONENT: u32 = 4;
/// Culling was tried and failed: it is tried again only now and then.
pub(crate) const IN_VAIN: u32 = 8;
/// All triangles are of one body.
pub(crate) const ONE_BODY: u32 = 16;
/// The body is clear of itself in this step.
pub(crate) const CLEAR: u32 = 32;

impl Info {
    pub(crate) fn new(first: u32, count: u32) -> Self {
        Self {
            normals: Cone::INVALID,
            binormals: Cone::EMPTY,
            first,
            count,
            cost_inter: 1.0,
            cost_self: 0.0,
            built_cost: f32::NAN,
            flags: 0,
        }
    }
}

/// Bytes of a node, all told.
pub(crate) const NODE_BYTES: usize = size_of::<Node>() + size_of::<Info>();

fn leaf_of(mesh: &Mesh, t: u32) -> Leaf {
    let at = t as usize;
    Leaf {
        corners: mesh.corners[at],
        edges: mesh.triangle_edges[at],
        id: t,
        owned: u32::from(mesh.owned_bits(t)),
    }
}

/// The places across the three edges of a triangle.
fn neighbours_of(mesh: &Mesh, place: &[u32], t: u32) -> [u32; 3] {
    mesh.neighbours[t as usize].map(|n| if n == NONE { NONE } else { place[n as usize] })
}

/// The nodes of a body that is not tested against itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClearRange {
    pub(crate) node: u32,
    pub(crate) end: u32,
    pub(crate) body: u32,
    /// Whether its boxes are as they were.
    pub(crate) at_rest: bool,
}

/// A range of places whose triangles stay together in their order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Copied {
    pub(crate) from: u32,
    pub(crate) to: u32,
    pub(crate) count: u32,
}

/// The tree.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tree {
    pub(crate) nodes: Vec<Node>,
    pub(crate) info: Vec<Info>,
    /// Triangles in the order of the leaves: index is the *place*.
    pub(crate) leaves: Vec<Leaf>,
    /// The places across the three edges, `NONE` at a boundary.
    pub(crate) neighbours: Vec<[u32; 3]>,
    /// Boxes of triangles, by place.
    pub(crate) boxes: Vec<MovingBounds>,
    /// Directions of normals, by place: one each, or three (Bernstein coefficients)
    /// in continuous detection.
    pub(crate) normals: Vec<Vec3>,
    /// Place of each triangle, `NONE` when it is not in the tree.
    pub(crate) place: Vec<u32>,
    /// Subtrees of whole bodies, in order: node and body.
    pub(crate) whole: Vec<(u32, u32)>,
    /// Subtrees of whole bodies that are clear in this step, in order.
    pub(crate) clear: Vec<ClearRange>,
    /// Pairs of places that are tested besides the walk.
    pub(crate) uncertain: Vec<[u32; 2]>,
    /// Vertices at the start and at the end of the step, in `f32`, by global id.
    pub(crate) points: Vec<[Vec3A; 2]>,
    /// Which vertices have a fan that is clear, by global id.
    pub(crate) fans: Fans,
    /// Levels.
    pub(crate) depth: usize,
    /// Updates so far, modulo 2^32: decides which nodes are tried again.
    pub(crate) round: u32,
}

impl Tree {
    /// One past the last node of the subtree.
    pub(crate) fn end_of(&self, node: u32) -> u32 {
        let mut i = node;
        while !self.nodes[i as usize].is_leaf() {
            i = self.nodes[i as usize].link();
        }
        i + 1
    }

    /// Fills in what depends on the mesh's connectivity, once the order is set. What was
    /// copied from `old_leaves` and `old_neighbours` is taken over from there, which is
    /// several times faster than asking the mesh, all over memory.
    pub(crate) fn connect(
        &mut self,
        mesh: &Mesh,
        order: &[u32],
        copied: &[Copied],
        old_leaves: &[Leaf],
        old_neighbours: &[[u32; 3]],
    ) {
        self.place.clear();
        self.place.resize(mesh.corners.len(), NONE);
        for (place, &t) in order.iter().enumerate() {
            self.place[t as usize] = place as u32;
        }
        self.leaves.clear();
        self.neighbours.clear();
        self.leaves.reserve(order.len());
        self.neighbours.reserve(order.len());
        let nowhere = Copied {
            from: 0,
            to: order.len() as u32,
            count: 0,
        };
        for range in copied.iter().chain([&nowhere]) {
            for &t in &order[self.leaves.len()..range.to as usize] {
                self.leaves.push(leaf_of(mesh, t));
                self.neighbours.push(neighbours_of(mesh, &self.place, t));
            }
            let old = range.from as usize..(range.from + range.count) as usize;
            self.leaves.extend_from_slice(&old_leaves[old.clone()]);
            let place = &self.place;
            let moved = |n: u32| {
                let within = n.wrapping_sub(range.from);
                if n == NONE {
                    NONE
                } else if within < range.count {
                    range.to + within
                } else {
                    place[old_leaves[n as usize].id as usize]
                }
            };
            let neighbours = old_neighbours[old].iter();
            self.neighbours.extend(neighbours.map(|n| n.map(moved)));
        }
        // What was not copied was asked for above.
        let was_copied = |place: u32| {
            let after = copied.partition_point(|c| c.to <= place);
            after > 0 && place - copied[after - 1].to < copied[after - 1].count
        };
        for &t in &mesh.changed {
            let place = self.place.get(t as usize).copied().unwrap_or(NONE);
            if place != NONE && was_copied(place) {
                self.leaves[place as usize] = leaf_of(mesh, t);
                self.neighbours[place as usize] = neighbours_of(mesh, &self.place, t);
            }
        }
        self.boxes.resize(order.len(), MovingBounds::EMPTY);
    }

    /// Notes which nodes hold triangles of one body only, once the order is set. Nodes
    /// that are noted already stay so: bodies are split only where the tree is. Counts the
    /// levels on the way.
    pub(crate) fn find_bodies(&mut self, mesh: &Mesh, levels: &mut Vec<u32>) {
        levels.clear();
        levels.resize(self.nodes.len(), 1);
        let body_of = |place: u32| mesh.triangle_body[self.leaves[place as usize].id as usize];
        for i in (0..self.nodes.len()).rev() {
            let node = &self.nodes[i];
            if !node.is_leaf() {
                levels[i] = 1 + levels[i + 1].max(levels[node.link() as usize]);
            }
            if self.info[i].flags & ONE_BODY != 0 {
                continue;
            }
            let own = self.info[i];
            let first = body_of(own.first);
            let one = if node.is_leaf() {
                (own.first..own.first + own.count).all(|p| body_of(p) == first)
            } else {
                let (left, right) = (&self.info[i + 1], &self.info[node.link() as usize]);
                left.flags & right.flags & ONE_BODY != 0 && body_of(right.first) == first
            };
            self.info[i].flags |= if one { ONE_BODY } else { 0 };
        }
        self.depth = levels.first().map_or(0, |&levels| levels as usize);
        self.find_whole(mesh);
    }

    /// Finds the subtrees that hold a whole body each, in order.
    fn find_whole(&mut self, mesh: &Mesh) {
        self.whole.clear();
        let mut stack = if self.nodes.is_empty() {
            vec![]
        } else {
            vec![0_u32]
        };
        while let Some(node) = stack.pop() {
            let info = &self.info[node as usize];
            if info.flags & ONE_BODY == 0 {
                if !self.nodes[node as usize].is_leaf() {
                    stack.extend([self.nodes[node as usize].link(), node + 1]);
                }
                continue;
            }
            let triangle = self.leaves[info.first as usize].id;
            let number = mesh.triangle_body[triangle as usize];
            let body = mesh.bodies[number as usize].as_ref();
            if body.is_some_and(|b| b.triangles.len() == info.count as usize) {
                self.whole.push((node, number));
            }
        }
    }

    /// Notes the subtrees of bodies that are clear, and returns those whose clearance
    /// is wanted, as node and body.
    pub(crate) fn find_clear(&mut self, mesh: &Mesh, edited: bool) -> Vec<(u32, u32)> {
        let mut wanted = Vec::new();
        for range in self.clear.drain(..) {
            self.info[range.node as usize].flags &= !CLEAR;
        }
        for &(node, number) in &self.whole {
            let Some(body) = mesh.bodies[number as usize].as_ref() else {
                continue;
            };
            if body.clearance.is_clear() {
                self.info[node as usize].flags |= CLEAR;
                self.clear.push(ClearRange {
                    node,
                    end: self.end_of(node),
                    body: number,
                    at_rest: body.is_at_rest() && !edited,
                });
            } else if body.clearance.is_wanted() {
                wanted.push((node, number));
            }
        }
        wanted
    }

    /// Lists what is tested besides the walk: the uncertain pairs of clear bodies.
    pub(crate) fn list_uncertain(&mut self, mesh: &Mesh) {
        self.uncertain.clear();
        for range in &self.clear {
            if let Some(body) = mesh.bodies[range.body as usize].as_ref() {
                let pairs = body.clearance.pairs.iter();
                self.uncertain
                    .extend(pairs.map(|p| p.map(|t| self.place[t as usize])));
            }
        }
    }

    /// Checks everything the queries rely on.
    pub(crate) fn validate(&self, mesh: &Mesh) -> Result<(), String> {
        let n = self.leaves.len();
        if n != mesh.live_triangles {
            return Err(format!(
                "{n} triangles in the tree, {} in the mesh",
                mesh.live_triangles
            ));
        }
        for (place, leaf) in self.leaves.iter().enumerate() {
            let t = leaf.id as usize;
            if self.place[t] != place as u32
                || leaf.corners != mesh.corners[t]
                || leaf.edges != mesh.triangle_edges[t]
                || leaf.owned != u32::from(mesh.owned_bits(t as u32))
                || self.neighbours[place] != neighbours_of(mesh, &self.place, t as u32)
            {
                return Err(format!("triangle {t} at place {place} is out of date"));
            }
            let moving = &self.boxes[place];
            for v in leaf.corners {
                let ends = mesh.positions[v as usize];
                for (bounds, p) in [(&moving.start, ends[0]), (&moving.end, ends[1])] {
                    let inside = (0..3).all(|k| {
                        f64::from(bounds.min[k]) <= p[k] && p[k] <= f64::from(bounds.max[k])
                    });
                    if !inside {
                        return Err(format!(
                            "vertex {v} at {p} is outside the box of its triangle {t}"
                        ));
                    }
                }
            }
        }
        if n == 0 {
            return if self.nodes.is_empty() {
                Ok(())
            } else {
                Err("nodes without triangles".into())
            };
        }
        let mut stack = vec![(0_u32, 1)];
        let (mut visited, mut deepest) = (0, 0);
        while let Some((i, depth)) = stack.pop() {
            visited += 1;
            deepest = deepest.max(depth);
            let (node, info) = (&self.nodes[i as usize], &self.info[i as usize]);
            let body_of = |leaf: &Leaf| mesh.triangle_body[leaf.id as usize];
            let below = &self.leaves[info.first as usize..(info.first + info.count) as usize];
            let one = below.iter().all(|leaf| body_of(leaf) == body_of(&below[0]));
            if one != (info.flags & ONE_BODY != 0) {
                return Err(format!("node {i} does not know whether it has one body"));
            }
            if node.is_leaf() {
                if (node.link(), node.leaf_count()) != (info.first, info.count) {
                    return Err(format!("leaf {i} and its range differ"));
                }
                for place in info.first..info.first + info.count {
                    if !node.bounds().contains(&self.boxes[place as usize].swept()) {
                        return Err(format!(
                            "leaf {i} does not contain its triangle at place {place}"
                        ));
                    }
                }
                continue;
            }
            let (l, r) = (i as usize + 1, node.link() as usize);
            let (left, right) = (&self.info[l], &self.info[r]);
            if left.first != info.first
                || right.first != left.first + left.count
                || left.count + right.count != info.count
            {
                return Err(format!("node {i} and its children differ in range"));
            }
            if self.end_of(l as u32) != r as u32 {
                return Err(format!(
                    "node {i}: the right child does not follow the left subtree"
                ));
            }
            if !node.bounds().contains(&self.nodes[l].bounds())
                || !node.bounds().contains(&self.nodes[r].bounds())
            {
                return Err(format!("node {i} does not contain its children"));
            }
            stack.extend([(l as u32, depth + 1), (r as u32, depth + 1)]);
        }
        if visited != self.nodes.len() || self.info[0].count as usize != n {
            return Err(format!("{visited} of {} nodes reached", self.nodes.len()));
        }
        if deepest != self.depth {
            return Err(format!("{deepest} levels, {} are noted", self.depth));
        }
        Ok(())
    }
}
