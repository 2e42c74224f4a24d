//! Changing the tree: after edits of the mesh [Heo 2010, §5.3] and for restructuring.
//!
//! One walk over the old tree writes the new one, in depth-first order. Subtrees
//! that nothing happened to are copied as ranges. The edits' effect:
//!
//! * **delete**: its triangles go, nodes left with one child vanish;
//! * **add**: a subtree is built for the body and becomes the sibling of the node
//!   where it widens boxes least, found from the root down;
//! * **split**: the largest subtrees that lie within one part each stay whole; a
//!   subtree is built over them for each part, one over the parts, and this takes
//!   the place of the old body's lowest common node;
//! * **merge**: the same, over all the bodies' subtrees, then down from the lowest
//!   common ancestor as for add;
//! * **rebuild** of a node: a subtree is built over its triangles.
//!
//! **Deviations**: the paper builds the subtrees of a split from triangles. Building
//! them from the old subtrees costs only what the cracks cut, and keeps what was
//! good; restructuring later mends what was not. The paper's insertion always goes
//! down to a leaf; this one stops where going on would cost more, so a large body
//! is not hung below a small leaf.

use glam::Vec3A;

use super::Builder;
use super::build::{Emit, Item, Ref, build};
use super::ids::NONE;
use super::mesh::{Body, Mesh};
use super::tree::{Bounds, Copied, IN_VAIN, Info, Leaf, Node, ONE_BODY, Tree, nearest};

/// How a body came to be since the last update.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Origin {
    Added,
    /// All parts of one split carry its number.
    Split(u32),
    Merged,
}

/// What happened since the last update.
#[derive(Clone, Debug, Default)]
pub(crate) struct Changes {
    /// Bodies that are new, and how.
    pub(crate) bodies: Vec<(u32, Origin)>,
    /// Places whose triangles are gone.
    pub(crate) dead: Vec<u32>,
    pub(crate) splits: u32,
}

impl Changes {
    pub(crate) fn is_empty(&self) -> bool {
        self.bodies.is_empty() && self.dead.is_empty()
    }
}

/// Where triangles are in the old tree: the first and the last place, and how many.
#[derive(Clone, Copy, Debug)]
struct Placed {
    first: u32,
    last: u32,
    count: u32,
}

impl Placed {
    const NOWHERE: Self = Self {
        first: u32::MAX,
        last: 0,
        count: 0,
    };

    fn with(self, other: Self) -> Self {
        Self {
            first: self.first.min(other.first),
            last: self.last.max(other.last),
            count: self.count + other.count,
        }
    }
}

/// Reused memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct RewriteScratch {
    nodes: Vec<Node>,
    info: Vec<Info>,
    order: Vec<u32>,
    /// Per place: `STAY`, `DEAD`, or the group it goes to.
    class: Vec<u32>,
    /// Per place: one past the run of its class.
    run_end: Vec<u32>,
    /// Per place: how many before it stay.
    staying: Vec<u32>,
    /// Ranges of places that were copied.
    copied: Vec<Copied>,
    leaves: Vec<Leaf>,
    neighbours: Vec<[u32; 3]>,
    /// Per node: the levels of its subtree.
    levels: Vec<u32>,
    /// Per new body: what of it is in the old tree.
    placed: Vec<Placed>,
}

impl RewriteScratch {
    /// Makes room for another tree.
    fn clear(&mut self, tree: &Tree) {
        self.nodes.clear();
        self.info.clear();
        self.order.clear();
        self.copied.clear();
        // A cut adds a node for each unit, of which there are a few: room at once, not by steps.
        self.nodes.reserve(tree.nodes.len() + tree.nodes.len() / 8);
        self.info.reserve(tree.nodes.len() + tree.nodes.len() / 8);
        self.order
            .reserve(tree.leaves.len() + tree.leaves.len() / 8);
    }
}

const STAY: u32 = u32::MAX;
const DEAD: u32 = u32::MAX - 1;

impl Tree {
    /// Writes the tree anew with all changes, and with the subtrees of `rebuilds`
    /// (sorted, disjoint) built over their triangles.
    pub(crate) fn rewrite(
        &mut self,
        mesh: &Mesh,
        changes: &Changes,
        rebuilds: &[u32],
        builder: Builder,
        scratch: &mut RewriteScratch,
    ) {
        let places = self.leaves.len();
        scratch.clear(self);
        self.classify(mesh, changes, scratch);
        let RewriteScratch {
            nodes,
            info,
            order,
            class,
            run_end,
            staying,
            copied,
            placed,
            ..
        } = scratch;

        // What each group is built from.
        let mut groups: Vec<Vec<Ref>> = vec![Vec::new(); changes.bodies.len()];
        if !self.nodes.is_empty() && !changes.bodies.is_empty() {
            self.collect_units(mesh, 0, class, run_end, staying, &mut groups);
        }
        for ((group, &(b, _)), placed) in groups.iter_mut().zip(&changes.bodies).zip(&*placed) {
            let body = mesh.bodies[b as usize].as_ref();
            let triangles = body.map_or(&[][..], |body| &body.triangles);
            if triangles.len() == placed.count as usize {
                continue;
            }
            for &t in triangles {
                if self.place.get(t as usize).is_none_or(|&p| p == NONE) {
                    group.push(triangle_ref(mesh, t));
                }
            }
        }
        let attached = self.attach_groups(mesh, changes, &groups, (staying, placed));

        let mut writer = Writer {
            old: self,
            mesh,
            class,
            staying,
            groups,
            attached: &attached,
            rebuilds,
            builder,
            nodes,
            info,
            order,
            copied,
        };
        if places > 0 {
            writer.subtree(0);
        } else if !attached.is_empty() {
            let mut items: Vec<Ref> = attached.iter().map(|a| a.1).collect();
            build(builder, &mut items, &mut writer);
        }
        self.take_written(mesh, scratch);
    }

    /// Finds the node of the old tree that each group is hung beside, in the order of
    /// the nodes.
    fn attach_groups(
        &self,
        mesh: &Mesh,
        changes: &Changes,
        groups: &[Vec<Ref>],
        (staying, placed): (&[u32], &[Placed]),
    ) -> Vec<(u32, Ref)> {
        let live = |b: u32| mesh.bodies[b as usize].as_ref();
        // The places that all parts of a split come from.
        let mut split_ranges = vec![Placed::NOWHERE; changes.splits as usize];
        for (&(_, origin), part) in changes.bodies.iter().zip(placed) {
            if let Origin::Split(number) = origin {
                let all = &mut split_ranges[number as usize];
                *all = all.with(*part);
            }
        }
        let mut attached: Vec<(u32, Ref)> = Vec::new();
        for (g, &(b, origin)) in changes.bodies.iter().enumerate() {
            if groups[g].is_empty() {
                continue;
            }
            let root = match origin {
                Origin::Added => 0,
                Origin::Split(number) => self.lowest_common(split_ranges[number as usize]),
                Origin::Merged => self.lowest_common(placed[g]),
            };
            let (node, bounds) = if matches!(origin, Origin::Split(_)) {
                let node = self.nearest_staying(root, staying);
                (node, self.units_bounds(&groups[g]))
            } else {
                let bounds = group_bounds(mesh, live(b));
                (self.best_sibling(root, &bounds, staying), bounds)
            };
            attached.push((
                node,
                Ref {
                    centre: bounds.centre(),
                    item: Item::Group(g as u32),
                },
            ));
        }
        attached.sort_by_key(|a| a.0);
        attached
    }

    /// The tree over all bodies, from their triangles.
    pub(crate) fn build_all(
        &mut self,
        mesh: &Mesh,
        builder: Builder,
        scratch: &mut RewriteScratch,
    ) {
        scratch.clear(self);
        let bodies = mesh.bodies.iter().flatten();
        let mut items: Vec<Ref> = bodies
            .flat_map(|b| b.triangles.iter().map(|&t| triangle_ref(mesh, t)))
            .collect();
        let mut writer = Writer::new(self, mesh, builder, scratch);
        if !items.is_empty() {
            build(builder, &mut items, &mut writer);
        }
        self.take_written(mesh, scratch);
    }

    /// A root with two given halves: for tests that need a certain tree.
    #[cfg(test)]
    pub(crate) fn build_two(
        &mut self,
        mesh: &Mesh,
        left: &[u32],
        right: &[u32],
        scratch: &mut RewriteScratch,
    ) {
        scratch.clear(self);
        let mut writer = Writer::new(self, mesh, Builder::Median, scratch);
        let handle = writer.open();
        let refs = |half: &[u32]| {
            half.iter()
                .map(|&t| triangle_ref(mesh, t))
                .collect::<Vec<_>>()
        };
        build(Builder::Median, &mut refs(left), &mut writer);
        writer.middle(handle);
        build(Builder::Median, &mut refs(right), &mut writer);
        writer.close(handle);
        self.take_written(mesh, scratch);
    }

    fn take_written(&mut self, mesh: &Mesh, scratch: &mut RewriteScratch) {
        std::mem::swap(&mut self.nodes, &mut scratch.nodes);
        std::mem::swap(&mut self.info, &mut scratch.info);
        let RewriteScratch {
            order,
            copied,
            leaves,
            neighbours,
            levels,
            ..
        } = scratch;
        std::mem::swap(&mut self.leaves, leaves);
        std::mem::swap(&mut self.neighbours, neighbours);
        self.connect(mesh, order, copied, leaves, neighbours);
        // What was said about places and nodes holds no more.
        self.clear.clear();
        self.fans.forget_places();
        self.uncertain.clear();
        self.find_bodies(mesh, levels);
    }

    fn classify(&self, mesh: &Mesh, changes: &Changes, scratch: &mut RewriteScratch) {
        let places = self.leaves.len();
        let (class, run_end, staying) = (
            &mut scratch.class,
            &mut scratch.run_end,
            &mut scratch.staying,
        );
        class.clear();
        class.resize(places, STAY);
        for &place in &changes.dead {
            class[place as usize] = DEAD;
        }
        scratch.placed.clear();
        for (g, &(b, _)) in changes.bodies.iter().enumerate() {
            let mut all = Placed::NOWHERE;
            if let Some(body) = mesh.bodies[b as usize].as_ref() {
                for &t in &body.triangles {
                    if let Some(&place) = self.place.get(t as usize)
                        && place != NONE
                    {
                        class[place as usize] = g as u32;
                        all = all.with(Placed {
                            first: place,
                            last: place,
                            count: 1,
                        });
                    }
                }
            }
            scratch.placed.push(all);
        }
        run_end.clear();
        run_end.resize(places, 0);
        for i in (0..places).rev() {
            let joined = i + 1 < places && class[i] == class[i + 1];
            run_end[i] = if joined { run_end[i + 1] } else { i as u32 + 1 };
        }
        staying.clear();
        staying.push(0);
        for &c in class.iter() {
            staying.push(staying[staying.len() - 1] + u32::from(c == STAY));
        }
    }

    fn collect_units(
        &self,
        mesh: &Mesh,
        node: u32,
        class: &[u32],
        run_end: &[u32],
        staying: &[u32],
        groups: &mut [Vec<Ref>],
    ) {
        let info = &self.info[node as usize];
        let (first, end) = (info.first as usize, (info.first + info.count) as usize);
        if staying[end] - staying[first] == info.count
            || class[first] == DEAD && run_end[first] as usize >= end
        {
            return;
        }
        if class[first] < DEAD && run_end[first] as usize >= end {
            groups[class[first] as usize].push(Ref {
                centre: self.nodes[node as usize].bounds().centre(),
                item: Item::Subtree(node),
            });
            return;
        }
        if self.nodes[node as usize].is_leaf() {
            for place in first..end {
                if class[place] < DEAD {
                    groups[class[place] as usize].push(triangle_ref(mesh, self.leaves[place].id));
                }
            }
            return;
        }
        self.collect_units(mesh, node + 1, class, run_end, staying, groups);
        self.collect_units(
            mesh,
            self.nodes[node as usize].link(),
            class,
            run_end,
            staying,
            groups,
        );
    }

    /// About where a part of a split is, by the boxes of what it is built from: those of the
    /// last step, which are at hand.
    fn units_bounds(&self, units: &[Ref]) -> Bounds {
        let of = |unit: &Ref| match unit.item {
            Item::Subtree(node) => self.nodes[node as usize].bounds(),
            _ => Bounds::around([Vec3A::from_array(unit.centre)]),
        };
        units.iter().fold(Bounds::EMPTY, |all, u| all.union(&of(u)))
    }

    /// The lowest node whose triangles include the range of places.
    fn lowest_common(&self, range: Placed) -> u32 {
        let mut node = 0;
        if range.count == 0 {
            return node;
        }
        while !self.nodes[node as usize].is_leaf() {
            let right = self.nodes[node as usize].link();
            let border = self.info[right as usize].first;
            if range.last < border {
                node += 1;
            } else if range.first >= border {
                node = right;
            } else {
                break;
            }
        }
        node
    }

    /// The node itself if anything of it stays, else the closest ancestor, as seen
    /// from the root, of which something does; the root if nothing does at all.
    fn nearest_staying(&self, target: u32, staying: &[u32]) -> u32 {
        let mut node = 0;
        let mut found = 0;
        loop {
            if self.stays(node, staying) > 0 {
                found = node;
            }
            if node == target || self.nodes.is_empty() || self.nodes[node as usize].is_leaf() {
                return found;
            }
            let right = self.nodes[node as usize].link();
            node = if target >= right { right } else { node + 1 };
        }
    }

    fn stays(&self, node: u32, staying: &[u32]) -> u32 {
        self.info.get(node as usize).map_or(0, |info| {
            staying[(info.first + info.count) as usize] - staying[info.first as usize]
        })
    }

    /// From `root` down, the node beside which a new subtree widens boxes least.
    fn best_sibling(&self, root: u32, bounds: &Bounds, staying: &[u32]) -> u32 {
        let mut node = self.nearest_staying(root, staying);
        if self.stays(node, staying) == 0 {
            return 0;
        }
        loop {
            let n = &self.nodes[node as usize];
            if n.is_leaf() {
                return node;
            }
            let (l, r) = (node + 1, n.link());
            match (self.stays(l, staying) > 0, self.stays(r, staying) > 0) {
                (true, false) => node = l,
                (false, true) => node = r,
                _ => {
                    // Here: a new node over both, the area of their union. Below:
                    // this node grows to that union, and the new node is over a
                    // child: better if its area is less than this node's own.
                    let over = |c: u32| self.nodes[c as usize].bounds().union(bounds).area();
                    let (ol, or) = (over(l), over(r));
                    if n.bounds().area() <= ol.min(or) {
                        return node;
                    }
                    let grown = |c: u32, over: f64| over - self.nodes[c as usize].bounds().area();
                    node = if grown(l, ol) <= grown(r, or) { l } else { r };
                }
            }
        }
    }
}

pub(crate) fn triangle_ref(mesh: &Mesh, t: u32) -> Ref {
    let sum: glam::DVec3 = mesh.corners[t as usize]
        .iter()
        .map(|&v| mesh.positions[v as usize][1])
        .sum();
    Ref {
        centre: (sum / 3.0).as_vec3().to_array(),
        item: Item::Triangle(t),
    }
}

fn triangle_bounds(mesh: &Mesh, t: u32) -> Bounds {
    let mut bounds = Bounds::EMPTY;
    for v in mesh.corners[t as usize] {
        for p in mesh.positions[v as usize] {
            bounds = bounds.union(&Bounds::around([nearest(p)]));
        }
    }
    bounds
}

fn group_bounds(mesh: &Mesh, body: Option<&Body>) -> Bounds {
    let mut bounds = Bounds::EMPTY;
    for &v in body.map_or(&[][..], |b| &b.vertices) {
        let p = mesh.positions[v as usize][1];
        bounds = bounds.union(&Bounds::around([nearest(p)]));
    }
    bounds
}

struct Writer<'a> {
    old: &'a Tree,
    mesh: &'a Mesh,
    class: &'a [u32],
    staying: &'a [u32],
    groups: Vec<Vec<Ref>>,
    attached: &'a [(u32, Ref)],
    rebuilds: &'a [u32],
    builder: Builder,
    nodes: &'a mut Vec<Node>,
    info: &'a mut Vec<Info>,
    order: &'a mut Vec<u32>,
    copied: &'a mut Vec<Copied>,
}

impl<'a> Writer<'a> {
    /// Of a tree that nothing of the old one stays in.
    fn new(
        old: &'a Tree,
        mesh: &'a Mesh,
        builder: Builder,
        scratch: &'a mut RewriteScratch,
    ) -> Self {
        Self {
            old,
            mesh,
            class: &[],
            staying: &[],
            groups: Vec::new(),
            attached: &[],
            rebuilds: &[],
            builder,
            nodes: &mut scratch.nodes,
            info: &mut scratch.info,
            order: &mut scratch.order,
            copied: &mut scratch.copied,
        }
    }

    /// Those of a sorted list that lie in a range of nodes.
    fn within<T>(list: &[T], key: impl Fn(&T) -> u32, from: u32, to: u32) -> &[T] {
        let a = list.partition_point(|x| key(x) < from);
        let b = list.partition_point(|x| key(x) < to);
        &list[a..b]
    }

    /// Writes what is left of a subtree, with what is attached in it.
    fn subtree(&mut self, node: u32) {
        let here = Self::within(self.attached, |a| a.0, node, node + 1);
        let left = self.old.stays(node, self.staying);
        if here.is_empty() {
            if left > 0 {
                self.rest(node, left);
            } else {
                // Nothing stays, but something is attached below.
                self.children(node);
            }
            return;
        }
        let mut items: Vec<Ref> = here.iter().map(|a| a.1).collect();
        if left == 0 && !self.more_inside(node) {
            build(self.builder, &mut items, self);
            return;
        }
        let handle = self.open();
        if left > 0 {
            self.rest(node, left);
        } else {
            self.children(node);
        }
        self.middle(handle);
        build(self.builder, &mut items, self);
        self.close(handle);
    }

    /// Whether anything is attached strictly below.
    fn more_inside(&self, node: u32) -> bool {
        !Self::within(self.attached, |a| a.0, node + 1, self.old.end_of(node)).is_empty()
    }

    /// A node of which something stays, without what is attached at itself.
    fn rest(&mut self, node: u32, left: u32) {
        let info = self.old.info[node as usize];
        let end = self.old.end_of(node);
        let attached = self.more_inside(node);
        let rebuilds = Self::within(self.rebuilds, |r| *r, node, end);
        if left == info.count && !attached && rebuilds.is_empty() {
            return self.copy(node, end);
        }
        if rebuilds.first() == Some(&node) && !attached {
            let mut items: Vec<Ref> = (info.first..info.first + info.count)
                .filter(|&p| self.class[p as usize] == STAY)
                .map(|p| triangle_ref(self.mesh, self.old.leaves[p as usize].id))
                .collect();
            return build(self.builder, &mut items, self);
        }
        if self.old.nodes[node as usize].is_leaf() {
            let first = self.order.len() as u32;
            for place in info.first..info.first + info.count {
                if self.class[place as usize] == STAY {
                    self.order.push(self.old.leaves[place as usize].id);
                }
            }
            self.push_leaf(first);
            return;
        }
        self.children(node);
    }

    fn children(&mut self, node: u32) {
        if self.old.nodes[node as usize].is_leaf() {
            return;
        }
        let (l, r) = (node + 1, self.old.nodes[node as usize].link());
        let any = |w: &Self, c: u32| {
            w.old.stays(c, w.staying) > 0
                || !Self::within(w.attached, |a| a.0, c, w.old.end_of(c)).is_empty()
        };
        match (any(self, l), any(self, r)) {
            (true, true) => {
                let handle = self.open();
                self.subtree(l);
                self.middle(handle);
                self.subtree(r);
                self.close(handle);
                // The subtree changed below, but is the same node: what it cost
                // when built still counts.
                self.info[handle].built_cost = self.old.info[node as usize].built_cost;
            }
            (true, false) => self.subtree(l),
            (false, true) => self.subtree(r),
            (false, false) => {}
        }
    }

    fn copy(&mut self, node: u32, end: u32) {
        let shift = (self.nodes.len() as u32).wrapping_sub(node);
        let first = self.old.info[node as usize].first;
        let count = self.old.info[node as usize].count;
        let moved = (self.order.len() as u32).wrapping_sub(first);
        let range = node as usize..end as usize;
        self.nodes
            .extend(self.old.nodes[range.clone()].iter().map(|&old| {
                let mut n = old;
                let by = if n.is_leaf() { moved } else { shift };
                n.set_link(n.link().wrapping_add(by));
                n
            }));
        self.info
            .extend(self.old.info[range].iter().map(|old| Info {
                first: old.first.wrapping_add(moved),
                // Links may have changed within. A subtree of one body stays one, and what
                // could not be culled waits for its turn.
                flags: old.flags & (ONE_BODY | IN_VAIN),
                ..*old
            }));
        self.copied.push(Copied {
            from: first,
            to: self.order.len() as u32,
            count,
        });
        let leaves = &self.old.leaves[first as usize..(first + count) as usize];
        self.order.extend(leaves.iter().map(|l| l.id));
    }

    fn push_leaf(&mut self, first: u32) {
        let count = self.order.len() as u32 - first;
        self.nodes.push(Node::new(&Bounds::EMPTY, first, count));
        self.info.push(Info::new(first, count));
    }
}

impl Emit for Writer<'_> {
    fn open(&mut self) -> usize {
        self.nodes.push(Node::new(&Bounds::EMPTY, NONE, 0));
        self.info.push(Info::new(self.order.len() as u32, 0));
        self.nodes.len() - 1
    }

    fn middle(&mut self, handle: usize) {
        let right = self.nodes.len() as u32;
        self.nodes[handle].set_link(right);
    }

    fn close(&mut self, handle: usize) {
        self.info[handle].count = self.order.len() as u32 - self.info[handle].first;
    }

    fn leaf(&mut self, items: &[Ref]) {
        match items[0].item {
            Item::Subtree(node) => self.copy(node, self.old.end_of(node)),
            Item::Group(g) => {
                let mut units = std::mem::take(&mut self.groups[g as usize]);
                build(self.builder, &mut units, self);
            }
            Item::Triangle(_) => {
                let first = self.order.len() as u32;
                for r in items {
                    if let Item::Triangle(t) = r.item {
                        self.order.push(t);
                    }
                }
                self.push_leaf(first);
            }
        }
    }

    fn bounds(&self, item: Item) -> Bounds {
        match item {
            Item::Triangle(t) => triangle_bounds(self.mesh, t),
            Item::Subtree(node) => self.old.nodes[node as usize].bounds(),
            Item::Group(g) => self.groups[g as usize]
                .iter()
                .fold(Bounds::EMPTY, |b, r| b.union(&self.bounds(r.item))),
        }
    }
}
