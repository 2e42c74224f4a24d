//! The pushes that are known and the nodes that they act on, in two halves for two threads.
//!
//! Pushes act one after the other, and what is pushed twice has to be pushed in one order. So space
//! is halved by a plane, where half of the pushes are: what has all its nodes on one side of it
//! makes a half, and the few that have nodes on both sides come after. In each of the three, links
//! that share no node are pushed four side by side ([`crate::colours`]). The order, and with it
//! every bit, is the same on any number of threads.

use fracas_tet_distance::{Push, TetOf};
use glam::{Vec3, Vec4};

use crate::body::SoftBody;
use crate::cloth::Cloth;
use crate::colours::{UNCOLOURED, mend, rows_of_four};
use crate::contact::{Contact, Link, LinkRow, Node, are_of_a_segment};
use crate::threads::both;

/// In each substep every node is read and written once, however many pushes it has.
#[derive(Clone, Debug, Default)]
pub(crate) struct ContactSet {
    halves: [Half; 2],
    /// What is between the halves.
    between: Group,
    /// One that never moves, the nodes of the first half, one that never moves, those of the
    /// second.
    nodes: Vec<Node>,
    /// Whether the links of the first half and those between were applied from the last to the
    /// first: in every other substep they are.
    backward: bool,
    /// For each body, and the cloth after them, where its nodes begin in one numbering of all.
    firsts: Vec<u32>,
    /// For each node of everything whether it is on the second side of the plane.
    sides: Vec<bool>,
    /// All links, in the order of the pushes, as many lists as there were tasks. Their nodes are
    /// in the numbering of all, or [`STILL`].
    links: Vec<Vec<Link>>,
}

/// What lies on one side of the plane.
#[derive(Clone, Debug, Default)]
struct Half {
    group: Group,
    /// For each of its nodes which body it is of, and which of its nodes it is. The first is at
    /// place 1: at 0 is what never moves.
    owners: Vec<(u32, u32)>,
    /// For each node of everything its place in this half.
    places: Vec<u32>,
    /// For each link between the halves where its nodes are in this one; 0 for others.
    between: Vec<[u32; 6]>,
}

/// Links that one thread applies.
#[derive(Clone, Debug, Default)]
struct Group {
    /// The nodes of each link.
    nodes: Vec<[u32; 6]>,
    rows: Vec<LinkRow>,
}

/// Has no place in a half.
const NOT_HERE: u32 = u32::MAX;

/// The number of what never moves, in the numbering of all.
const STILL: u32 = u32::MAX - 1;

/// Pushes that a thread takes at a time.
const PUSHES_PER_TASK: usize = 1024;

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

    /// Whether a point is on the second side.
    fn is_beyond(self, p: Vec3) -> bool {
        p[self.axis] >= self.at
    }
}

/// Pushes in tasks, none of which ends within a segment.
fn tasks_of(mut pushes: &[Push]) -> Vec<&[Push]> {
    let mut tasks = Vec::with_capacity(pushes.len() / PUSHES_PER_TASK + 1);
    while !pushes.is_empty() {
        let mut end = PUSHES_PER_TASK.min(pushes.len());
        while end < pushes.len() && are_of_a_segment(&pushes[end - 1], &pushes[end]) {
            end += 1;
        }
        let (task, others) = pushes.split_at(end);
        tasks.push(task);
        pushes = others;
    }
    tasks
}

impl Things<'_> {
    /// Makes links of pushes, two of a segment at a time.
    fn link_all(self, pushes: &[Push], firsts: &[u32], links: &mut Vec<Link>) {
        links.clear();
        let mut corners = None;
        let mut pushes = pushes.iter().peekable();
        while let Some(push) = pushes.next() {
            let other = pushes.next_if(|other| are_of_a_segment(push, other));
            links.extend(self.link((push, other), firsts, &mut corners));
        }
    }

    /// A link of a push, or of the two of a segment. `corners` are those of a tetrahedron, by
    /// their numbers and inverse masses: those of the last one, mostly again.
    fn link(
        self,
        (push, other): (&Push, Option<&Push>),
        firsts: &[u32],
        corners: &mut Option<(TetOf, [(u32, f32); 4])>,
    ) -> Option<Link> {
        let node = |object: u32, n: u32| {
            let number = if self.is_still(object, n) {
                STILL
            } else {
                firsts[object as usize] + n
            };
            (number, self.inverse_mass(object, n))
        };
        let four = match corners {
            Some((tet, four)) if *tet == push.tet => *four,
            _ => {
                let object = push.tet.object;
                let tet = self.bodies[object as usize].tets[push.tet.tet as usize];
                tet.map(|n| node(object, n))
            }
        };
        *corners = Some((push.tet, four));
        let of = push.object.min(self.bodies.len() as u32);
        let (mut nodes, mut inverse_masses) = ([STILL; 6], [0.0; 6]);
        let pushed = push.pushed_nodes().map(|(n, _)| node(of, n));
        for (k, (number, inverse_mass)) in four.into_iter().chain(pushed).enumerate() {
            (nodes[k], inverse_masses[k]) = (number, inverse_mass);
        }
        Link::of([Some(push), other], nodes, inverse_masses)
    }
}

/// Makes links of all pushes, a list for each task.
fn link_tasks(
    pushes: &[Push],
    things: Things,
    firsts: &[u32],
    links: &mut Vec<Vec<Link>>,
    parallel: bool,
) {
    let tasks = tasks_of(pushes);
    links.resize_with(tasks.len(), Vec::new);
    let link = |(task, links): (&&[Push], &mut Vec<Link>)| things.link_all(task, firsts, links);
    #[cfg(feature = "parallel")]
    if parallel {
        use rayon::prelude::*;
        tasks.par_iter().zip(links).for_each(link);
        return;
    }
    let _ = parallel;
    tasks.iter().zip(links).for_each(link);
}

impl Half {
    /// Takes the links all of whose nodes are on its side; returns those that have some there.
    fn take<'a>(
        &mut self,
        side: bool,
        links: &'a [Vec<Link>],
        sides: &[bool],
        firsts: &[u32],
    ) -> Vec<&'a Link> {
        self.places.clear();
        self.places.resize(sides.len(), NOT_HERE);
        self.owners.clear();
        self.between.clear();
        self.group.nodes.clear();
        let (mut own, mut shared) = (Vec::new(), Vec::new());
        for link in links.iter().flatten() {
            let (mut is_here, mut is_beyond) = (false, false);
            let mut places = [0; 6];
            for (place, &n) in places.iter_mut().zip(&link.nodes) {
                if n == STILL {
                    continue;
                }
                if sides[n as usize] == side {
                    is_here = true;
                    *place = self.place(n, firsts);
                } else {
                    is_beyond = true;
                }
            }
            if is_here && is_beyond {
                self.between.push(places);
                shared.push(link);
            } else if is_here {
                self.group.nodes.push(places);
                own.push(link);
            }
        }
        self.group.lay_rows(self.owners.len() + 1, &own);
        shared
    }

    /// The place of a node of the numbering of all.
    fn place(&mut self, node: u32, firsts: &[u32]) -> u32 {
        let place = &mut self.places[node as usize];
        if *place == NOT_HERE {
            let object = firsts.partition_point(|&first| first <= node) - 1;
            self.owners.push((object as u32, node - firsts[object]));
            *place = self.owners.len() as u32;
        }
        *place
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
        let things = Things { bodies, cloth };
        self.number(things);
        let (links, firsts) = (&mut self.links, &self.firsts);
        let (plane, ()) = both(
            || Plane::halving(pushes),
            || link_tasks(pushes, things, firsts, links, parallel),
            parallel,
        );
        self.sides.clear();
        let positions = bodies.iter().flat_map(|b| &b.positions);
        let positions = positions.chain(cloth.into_iter().flat_map(|c| &c.positions));
        self.sides.extend(positions.map(|&p| plane.is_beyond(p)));
        let (links, sides) = (&self.links, &self.sides);
        let [first, second] = &mut self.halves;
        let (between, _) = both(
            || first.take(false, links, sides, firsts),
            || second.take(true, links, sides, firsts),
            parallel,
        );
        let middle = first.owners.len() as u32 + 1;
        self.between.nodes.clear();
        let nodes = first.between.iter().zip(&second.between);
        self.between.nodes.extend(nodes.map(|(mine, theirs)| {
            std::array::from_fn(|k| match (mine[k], theirs[k]) {
                (0, 0) => 0,
                (0, place) => middle + place,
                (place, _) => place,
            })
        }));
        let count = first.owners.len() + second.owners.len() + 2;
        self.between.lay_rows(count, &between);
        self.nodes.clear();
        self.nodes.resize(count, Node::default());
    }

    /// Numbers the nodes of everything.
    fn number(&mut self, things: Things) {
        self.firsts.clear();
        let mut sum = 0;
        for body in things.bodies {
            self.firsts.push(sum);
            sum += body.positions.len() as u32;
        }
        self.firsts.push(sum);
    }

    /// Where places of the second half begin.
    fn middle(&self) -> usize {
        self.halves[0].owners.len() + 1
    }

    /// How many links are in the first half, in the second, and between them.
    #[cfg(test)]
    pub fn counts(&self) -> [usize; 3] {
        let [first, second] = &self.halves;
        [&first.group, &second.group, &self.between].map(|group| group.nodes.len())
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
        let [owners, others] = [0, 1].map(|i| &self.halves[i].owners);
        let rows = [0, 1].map(|i| &self.halves[i].group.rows);
        let first = || {
            let all = nodes[1..].iter_mut().zip(owners);
            all.for_each(|(node, &owner)| *node = things.load(owner));
            in_turn(rows[0], backward, |row| contact.push(row, nodes));
        };
        let second = || {
            let all = other_nodes[1..].iter_mut().zip(others);
            all.for_each(|(node, &owner)| *node = things.load(owner));
            // Not turned: why is in decision 0026.
            in_turn(rows[1], false, |row| contact.push(row, other_nodes));
        };
        both(first, second, parallel);
        let all = &mut self.nodes;
        in_turn(&self.between.rows, backward, |row| contact.push(row, all));
        let first = all[1..].iter().zip(owners);
        let second = all[middle + 1..].iter().zip(others);
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
    /// Lays links in rows; they have so many `nodes` in all.
    fn lay_rows(&mut self, nodes: usize, links: &[&Link]) {
        // What never moves may be shared: another node of the link stands for it.
        let apart = |of: &[u32; 6]| {
            let moving = of.iter().copied().find(|&n| n != 0).unwrap_or(0);
            of.map(|n| if n == 0 { moving } else { n })
        };
        let apart: Vec<[u32; 6]> = self.nodes.iter().map(apart).collect();
        let mut colours = vec![UNCOLOURED; apart.len()];
        mend(nodes, apart.iter().copied(), &mut colours);
        let rows = rows_of_four(nodes, |i| apart[i as usize], &colours);
        self.rows.clear();
        let of = &self.nodes;
        self.rows.extend(rows.iter().map(|row| {
            let links = row.map(|i| Some((*links.get(i as usize)?, of[i as usize])));
            LinkRow::of(links, 0)
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fracas_tet_distance::Pushed;

    fn push(tet: u32, edge: Option<[u32; 2]>) -> Push {
        Push {
            object: 1,
            pushed: edge.map_or(Pushed::Node(0), |ends| Pushed::Edge(ends, [0.5; 2])),
            tet: TetOf { object: 0, tet },
            weights: [0.25; 4],
            point: Vec3::ZERO,
            normal: Vec3::Y,
            depth: 0.1,
            measure: 0.1,
            slope: 1.0,
        }
    }

    /// No task ends between the two pushes of a segment, and all pushes are in one, in order.
    #[test]
    fn no_segment_is_divided_between_tasks() {
        for segments in [0, 1, 511, 512, 513, 5000] {
            // One alone before: every even place is the second of a segment.
            for alone in 0..2 {
                let mut pushes = vec![push(0, None); alone];
                for tet in 0..segments {
                    pushes.extend([push(tet, Some([tet, tet + 1])); 2]);
                }
                let tasks = tasks_of(&pushes);
                assert!(tasks.concat() == pushes);
                assert!(tasks.iter().all(|task| task.len() <= PUSHES_PER_TASK + 1));
                for two in tasks.windows(2) {
                    let [last, first] = [two[0].last().unwrap(), &two[1][0]];
                    assert!(!are_of_a_segment(last, first));
                }
            }
        }
    }
}
