//! The pushes that are known and the nodes that they act on, in two halves for two threads.
//!
//! Pushes act one after the other, and what is pushed twice has to be pushed in one order. So space
//! is halved by a plane, where half of the pushes are: what has all its nodes on one side of it
//! makes a half, and the few that have nodes on both sides come after. In each of the three, links
//! that share no node are pushed four side by side ([`crate::colours`]). The order, and with it
//! every bit, is the same on any number of threads.

use fracas_core::tet_distance::{Push, TetOf};
use glam::{Vec3, Vec4};

use crate::body::SoftBody;
use crate::cloth::Cloth;
use crate::colours::{UNCOLOURED, mend, rows_of_four};
use crate::contact::{Contact, Link, LinkRow, Node, are_of_a_segment};
use crate::threads::both;

/// In each substep every node is read and written once, however many pushes it has.
#[derive(Clone, Debug, Default)]
pub(crate) struct ContactSet {
    /// In the first half, in the second, between them.
    groups: [Group; 3],
    /// Nodes of the first half from the front on, those of the second from the back on; the
    /// foremost and the last are all those that never move.
    nodes: Vec<Node>,
    /// Whether the links of the first half and those between were applied from the last to the
    /// first: in every other substep they are.
    backward: bool,
    /// For each node of each half its body and which of its nodes it is.
    owners: [Vec<(u32, u32)>; 2],
    /// For each body, and the cloth after them, where its nodes begin in `places`.
    firsts: Vec<u32>,
    /// For each node of everything its place in the set.
    places: Vec<u32>,
}

/// Links that one thread applies.
#[derive(Clone, Debug, Default)]
struct Group {
    links: Vec<Link>,
    rows: Vec<LinkRow>,
}

/// No place in the set.
const NOT_HERE: u32 = u32::MAX;

/// The place of what never moves, whatever half it is in.
const STILL: u32 = u32::MAX - 1;

/// What pushes act on.
#[derive(Clone, Copy)]
struct Things<'a> {
    bodies: &'a [SoftBody],
    cloth: Option<&'a Cloth>,
}

impl<'a> Things<'a> {
    /// Positions, velocities and where nodes were seen.
    fn nodes(self, object: u32) -> [&'a [Vec3]; 3] {
        match (self.bodies.get(object as usize), self.cloth) {
            (Some(b), _) => [&b.positions, &b.velocities, &b.seen],
            (None, Some(c)) => [&c.positions, &c.velocities, &c.seen],
            (None, None) => [&[]; 3],
        }
    }

    fn inverse_mass(self, object: u32, node: u32) -> f32 {
        let masses = match (self.bodies.get(object as usize), self.cloth) {
            (Some(b), _) => &b.inverse_masses[..],
            (None, Some(c)) => &c.inverse_masses,
            (None, None) => &[],
        };
        masses[node as usize]
    }

    fn is_still(self, object: u32, node: u32) -> bool {
        let body = self.bodies.get(object as usize);
        body.is_some_and(|b| b.fixed && b.velocities[node as usize] == Vec3::ZERO)
    }
}

/// The plane that halves pushes.
#[derive(Clone, Copy)]
struct Plane {
    axis: usize,
    at: f32,
}

impl Plane {
    /// Across the longest way, at the middle one.
    fn halving(pushes: &[Push]) -> Self {
        let (mut lo, mut hi) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
        for p in pushes.iter().map(|push| push.point) {
            // What is no number is left out.
            (lo, hi) = (p.min(lo), p.max(hi));
        }
        let axis = (hi - lo).max_position();
        let mut ways: Vec<f32> = pushes.iter().map(|push| push.point[axis]).collect();
        let half = ways.len() / 2;
        let at = if ways.is_empty() {
            0.0
        } else {
            *ways.select_nth_unstable_by(half, f32::total_cmp).1
        };
        Self { axis, at }
    }

    fn half_of(self, p: Vec3) -> usize {
        usize::from(p[self.axis] >= self.at)
    }
}

impl ContactSet {
    /// Takes these pushes in place of those that it holds.
    pub fn gather(
        &mut self,
        pushes: &[Push],
        bodies: &[SoftBody],
        cloth: Option<&Cloth>,
        parallel: bool,
    ) {
        self.groups.iter_mut().for_each(|group| group.links.clear());
        self.owners.iter_mut().for_each(Vec::clear);
        self.firsts.clear();
        let mut sum = 0;
        for body in bodies {
            self.firsts.push(sum);
            sum += body.positions.len() as u32;
        }
        self.firsts.push(sum);
        sum += cloth.map_or(0, |c| c.positions.len()) as u32;
        self.places.clear();
        self.places.resize(sum as usize, NOT_HERE);
        self.nodes.clear();
        self.nodes.resize(sum as usize + 2, Node::default());
        let things = Things { bodies, cloth };
        let plane = Plane::halving(pushes);
        let mut corners = None;
        let mut pushes = pushes.iter().peekable();
        while let Some(push) = pushes.next() {
            let other = pushes.next_if(|other| are_of_a_segment(push, other));
            self.link([Some(push), other], &mut corners, plane, things);
        }
        self.lay_rows(parallel);
    }

    /// Lays the links of each half, and those between, in rows.
    fn lay_rows(&mut self, parallel: bool) {
        let (count, middle) = (self.nodes.len(), self.middle());
        let [first, second, third] = &mut self.groups;
        both(
            || first.lay_rows(0, middle),
            || second.lay_rows(middle, count),
            parallel,
        );
        third.lay_rows(0, count);
    }

    /// Where places of the second half begin.
    fn middle(&self) -> usize {
        self.owners[0].len() + 1
    }

    /// Takes a push, or the two of a segment. `corners` are those of a tetrahedron, with their
    /// places and inverse masses: those of the last one, mostly again.
    fn link(
        &mut self,
        pushes: [Option<&Push>; 2],
        corners: &mut Option<(TetOf, [(u32, f32); 4])>,
        plane: Plane,
        things: Things,
    ) {
        let Some(push) = pushes[0] else { return };
        let mut node = |object: u32, n: u32| {
            let place = self.place(object, n, plane, things);
            (place, things.inverse_mass(object, n))
        };
        let four = match corners {
            Some((tet, four)) if *tet == push.tet => *four,
            _ => {
                let object = push.tet.object;
                let tet = things.bodies[object as usize].tets[push.tet.tet as usize];
                tet.map(|n| node(object, n))
            }
        };
        *corners = Some((push.tet, four));
        let of = push.object.min(things.bodies.len() as u32);
        let mut nodes = [(STILL, 0.0); 6];
        nodes[..4].copy_from_slice(&four);
        for (place, (n, _)) in nodes[4..].iter_mut().zip(push.pushed_nodes()) {
            *place = node(of, n);
        }
        let middle = self.middle();
        let (mut first, mut second) = (false, false);
        for &(place, _) in nodes.iter().filter(|(place, _)| *place != STILL) {
            let is_first = (place as usize) < middle;
            first |= is_first;
            second |= !is_first;
        }
        let half = match (first, second) {
            (false, _) => 1,
            (true, false) => 0,
            (true, true) => 2,
        };
        let still = if half == 1 {
            self.nodes.len() as u32 - 1
        } else {
            0
        };
        let mut places = [still; 6];
        let mut inverse_masses = [0.0; 6];
        for (k, &(place, mass)) in nodes.iter().enumerate() {
            if place != STILL {
                places[k] = place;
            }
            inverse_masses[k] = mass;
        }
        let link = Link::of(pushes, places, inverse_masses);
        self.groups[half].links.extend(link);
    }

    /// The place of a node, from the front or from the back.
    fn place(&mut self, object: u32, node: u32, plane: Plane, things: Things) -> u32 {
        let place = &mut self.places[(self.firsts[object as usize] + node) as usize];
        if *place == NOT_HERE {
            *place = if things.is_still(object, node) {
                STILL
            } else {
                let half = plane.half_of(things.nodes(object)[0][node as usize]);
                let owners = &mut self.owners[half];
                owners.push((object, node));
                let place = owners.len();
                let place = [place, self.nodes.len() - 1 - place][half];
                place as u32
            };
        }
        *place
    }

    /// How many links are in the first half, in the second, and between them.
    #[cfg(test)]
    pub fn counts(&self) -> [usize; 3] {
        [0, 1, 2].map(|i| self.groups[i].links.len())
    }

    /// Applies all pushes; on two threads of the caller's pool, if `parallel` (with the feature of
    /// that name), with the same bits.
    pub fn apply(
        &mut self,
        contact: Contact,
        bodies: &mut [SoftBody],
        mut cloth: Option<&mut Cloth>,
        parallel: bool,
    ) {
        let things = Things {
            bodies,
            cloth: cloth.as_deref(),
        };
        if self.nodes.is_empty() {
            return;
        }
        let middle = self.middle();
        self.backward = !self.backward;
        let backward = self.backward;
        let (nodes, other_nodes) = self.nodes.split_at_mut(middle);
        let [owners, others] = &self.owners;
        let rows = [0, 1, 2].map(|i| &self.groups[i].rows);
        let first = || {
            let all = nodes[1..].iter_mut().zip(owners);
            all.for_each(|(node, &owner)| *node = things.load(owner));
            in_turn(rows[0], backward, |row| contact.push(row, nodes));
        };
        let second = || {
            let all = other_nodes.iter_mut().rev().skip(1).zip(others);
            all.for_each(|(node, &owner)| *node = things.load(owner));
            // Not turned: why is in decision 0026.
            in_turn(rows[1], false, |row| contact.push(row, other_nodes));
        };
        both(first, second, parallel);
        let all = &mut self.nodes;
        in_turn(rows[2], backward, |row| contact.push(row, all));
        let first = all[1..].iter().zip(owners);
        let second = all.iter().rev().skip(1).zip(others);
        for (node, &(object, n)) in first.chain(second) {
            let n = n as usize;
            let (velocities, positions) = match (bodies.get_mut(object as usize), &mut cloth) {
                (Some(b), _) => (&mut b.velocities, &mut b.positions),
                (None, Some(c)) => (&mut c.velocities, &mut c.positions),
                (None, None) => continue,
            };
            velocities[n] = node.velocity.truncate();
            positions[n] += node.shift.truncate();
        }
    }
}

impl Things<'_> {
    /// What pushes act on.
    fn load(self, (object, node): (u32, u32)) -> Node {
        let [p, v, seen] = self.nodes(object).map(|of| of[node as usize]);
        Node {
            velocity: v.extend(self.inverse_mass(object, node)),
            shift: Vec4::ZERO,
            way: (p - seen).extend(0.0),
        }
    }
}

/// Does something to each row, from the first on or from the last.
fn in_turn(rows: &[LinkRow], backward: bool, push: impl FnMut(&LinkRow)) {
    if backward {
        rows.iter().rev().for_each(push);
    } else {
        rows.iter().for_each(push);
    }
}

impl Group {
    /// Lays links in rows whose nodes are counted from `begin` on; those of the group end before
    /// `end`.
    fn lay_rows(&mut self, begin: usize, end: usize) {
        let links = &mut self.links;
        let still = if begin == 0 {
            0
        } else {
            (end - begin - 1) as u32
        };
        let mut nodes: Vec<[u32; 6]> = Vec::with_capacity(links.len());
        for link in links.iter_mut() {
            link.nodes = link.nodes.map(|n| n - begin as u32);
            // What never moves may be shared: another node of the link stands for it.
            let moving = link.nodes.into_iter().find(|&n| n != still);
            let moving = moving.unwrap_or(still);
            nodes.push(link.nodes.map(|n| if n == still { moving } else { n }));
        }
        let mut colours = vec![UNCOLOURED; links.len()];
        mend(end - begin, nodes.iter().copied(), &mut colours);
        let rows = rows_of_four(end - begin, |i| nodes[i as usize], &colours);
        self.rows.clear();
        self.rows.extend(rows.iter().map(|row| {
            let row = row.map(|i| links.get(i as usize));
            LinkRow::of(row, still)
        }));
    }
}
