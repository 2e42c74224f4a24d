//! What a push does: it stops what closes, and moves apart what overlaps.
//!
//! Penalty contact [Marchal 2004, section 5] pushes by `stiffness * measure`, whatever the
//! mass of what it meets. Overlaps here are not paid for by work (at 5 m/s a body is up to 42 mm
//! deep before it is seen, a tear changes the field from one step to the next), so what that force
//! stores comes out as motion that was never put in: a crumb left at depth / substep, up to
//! 3 m/s, and a pile never came to rest. So the two halves of the force are parted:
//!
//! 1. **impulses** take the speed at which two things close, at most all of it: the penalty
//!    force, integrated implicitly, bounded by what stops the closing; with Coulomb friction;
//! 2. **shifts** take out what is left of the depth by moving nodes without giving them speed:
//!    a share of the depth in each substep, no faster than [`FASTEST`].
//!
//! **Guarantee.** No impulse adds kinetic energy. One of size J along n, between things that
//! part at u, adds `J (u + u') / 2`, and `u <= u' <= 0`; friction takes a share of the sliding
//! speed. A shift changes no velocity; the strain that it makes and the height that it lifts by
//! are all that it adds. Both conserve momentum.

use fracas_core::tet_distance::Push;
use glam::{Vec3, Vec3A};

use crate::body::SoftBody;
use crate::cloth::Cloth;

/// m/s: below this sliding velocity friction fades.
const CREEP: f32 = 0.05;

/// m/s: the fastest that things are moved apart.
const FASTEST: f32 = 1.5;

/// The share of the depth that is taken out in a substep.
const SHARE: f32 = 0.2;

/// m: what may stay of an overlap, so that things at rest keep touching.
const SLOP: f32 = 1e-3;

/// What contact goes by in a substep.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Contact {
    /// s: the substep.
    pub h: f32,
    /// As [`crate::SoftWorld::stiffness`].
    pub stiffness: f32,
    /// Coulomb coefficient.
    pub friction: f32,
}

/// A node that pushes act on, in the substep.
#[derive(Clone, Copy, Debug, Default)]
struct Node {
    velocity: Vec3A,
    shift: Vec3A,
    /// Since overlaps were looked for.
    way: Vec3A,
}

/// A push with its nodes by their place in the set: the four that push, and one or two that are
/// pushed (the second with the weight 0).
#[derive(Clone, Copy, Debug)]
struct Link {
    nodes: [u32; 6],
    weights: [f32; 6],
    /// The weights times the inverse masses.
    gives: [f32; 6],
    normal: Vec3,
    depth: f32,
    measure: f32,
    slope: f32,
    /// Speed that an impulse of one parts the two with.
    give: f32,
}

/// The pushes that are known and the nodes that they act on, side by side: in each substep every
/// node is read and written once, however many pushes it has.
#[derive(Clone, Debug, Default)]
pub(crate) struct ContactSet {
    links: Vec<Link>,
    nodes: Vec<Node>,
    /// The body of each node of the set and which of its nodes it is, body by body.
    owners: Vec<(u32, u32)>,
    /// For each body, and the cloth after them, where its nodes begin in `places`.
    firsts: Vec<u32>,
    /// For each node of everything its place in the set.
    places: Vec<u32>,
}

/// No place in the set.
const NOT_HERE: u32 = u32::MAX;

impl ContactSet {
    /// Takes these pushes in place of those that it holds.
    pub fn gather(&mut self, pushes: &[Push], bodies: &[SoftBody], cloth: Option<&Cloth>) {
        self.links.clear();
        self.nodes.clear();
        self.owners.clear();
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
        for push in pushes {
            let pusher = bodies[push.tet.object as usize].tets[push.tet.tet as usize];
            let of = (push.object as usize).min(bodies.len());
            let mut nodes = [0; 6];
            let mut weights = [0.0; 6];
            for k in 0..4 {
                nodes[k] = self.place(push.tet.object as usize, pusher[k]);
                weights[k] = -push.weights[k];
            }
            // A node alone stands in both places.
            for (k, (n, w)) in push.pushed_nodes().enumerate() {
                nodes[4 + k] = self.place(of, n);
                weights[4 + k] = w;
                if k == 0 {
                    nodes[5] = nodes[4];
                }
            }
            let (mut give, mut gives) = (0.0, [0.0; 6]);
            for k in 0..6 {
                let (object, n) = self.owners[nodes[k] as usize];
                let masses = match bodies.get(object as usize) {
                    Some(body) => &body.inverse_masses,
                    None => cloth.map_or(&[][..], |c| &c.inverse_masses),
                };
                gives[k] = weights[k] * masses[n as usize];
                give += weights[k] * gives[k];
            }
            if give > 0.0 && give.is_finite() {
                self.links.push(Link {
                    nodes,
                    weights,
                    gives,
                    normal: push.normal,
                    depth: push.depth,
                    measure: push.measure,
                    slope: push.slope,
                    give,
                });
            }
        }
        self.nodes.resize(self.owners.len(), Node::default());
    }

    fn place(&mut self, object: usize, node: u32) -> u32 {
        let place = &mut self.places[(self.firsts[object] + node) as usize];
        if *place == NOT_HERE {
            *place = self.owners.len() as u32;
            self.owners.push((object as u32, node));
        }
        *place
    }

    /// Applies all pushes, one after the other.
    pub fn apply(&mut self, contact: Contact, bodies: &mut [SoftBody], cloth: Option<&mut Cloth>) {
        self.load(bodies, cloth.as_deref());
        for link in &self.links {
            contact.push(link, &mut self.nodes);
        }
        self.store(bodies, cloth);
    }

    fn load(&mut self, bodies: &[SoftBody], cloth: Option<&Cloth>) {
        for (node, &(object, n)) in self.nodes.iter_mut().zip(&self.owners) {
            let n = n as usize;
            let (velocities, positions, seen) = match (bodies.get(object as usize), cloth) {
                (Some(b), _) => (&b.velocities, &b.positions, &b.seen),
                (None, Some(c)) => (&c.velocities, &c.positions, &c.seen),
                (None, None) => continue,
            };
            *node = Node {
                velocity: velocities[n].into(),
                shift: Vec3A::ZERO,
                way: (positions[n] - seen[n]).into(),
            };
        }
    }

    fn store(&self, bodies: &mut [SoftBody], mut cloth: Option<&mut Cloth>) {
        for (node, &(object, n)) in self.nodes.iter().zip(&self.owners) {
            let n = n as usize;
            let (velocities, positions) = match (bodies.get_mut(object as usize), &mut cloth) {
                (Some(b), _) => (&mut b.velocities, &mut b.positions),
                (None, Some(c)) => (&mut c.velocities, &mut c.positions),
                (None, None) => continue,
            };
            velocities[n] = node.velocity.into();
            positions[n] += Vec3::from(node.shift);
        }
    }
}

impl Contact {
    /// Applies a push to the nodes that carry it.
    #[inline]
    fn push(self, link: &Link, nodes: &mut [Node]) {
        let mut sum = Node::default();
        for (&n, &w) in link.nodes.iter().zip(&link.weights) {
            let node = &nodes[n as usize];
            sum.velocity += w * node.velocity;
            sum.shift += w * node.shift;
            sum.way += w * node.way;
        }
        let [velocity, shift, way] = [sum.velocity, sum.shift, sum.way].map(Vec3::from);
        let deepening = -way.dot(link.normal);
        let depth = link.depth + deepening;
        let measure = link.measure + link.slope * deepening;
        let impulse = self.impulse(link, [measure, depth], velocity);
        let shift = self.shift(link, depth, shift);
        let nothing = impulse == Vec3::ZERO && shift == Vec3::ZERO;
        if nothing || !impulse.is_finite() || !shift.is_finite() {
            return;
        }
        let [impulse, shift] = [impulse, shift].map(Vec3A::from);
        for (&n, &give) in link.nodes.iter().zip(&link.gives) {
            let node = &mut nodes[n as usize];
            node.velocity += give * impulse;
            node.shift += give * shift;
        }
    }

    /// What stops two things that part with `velocity`, as far as the penalty reaches.
    #[inline]
    fn impulse(self, link: &Link, [measure, depth]: [f32; 2], velocity: Vec3) -> Vec3 {
        let give = link.give;
        let parting = velocity.dot(link.normal);
        // What has parted since it was seen may close again.
        let closing = (depth.min(0.0) / self.h - parting).max(0.0);
        // The impulse J with J = h k (measure - h slope (parting + J give)).
        let ease = self.h * link.slope;
        let strength = self.h * self.stiffness;
        let penalty = strength * (measure - ease * parting) / (1.0 + strength * ease * give);
        let normal = penalty.max(0.0).min(closing / give);
        let sliding = velocity - parting * link.normal;
        let speed = sliding.length();
        // Friction opposes sliding and cannot reverse it.
        let drag = (self.friction * normal / (speed + CREEP)).min(1.0 / give);
        normal * link.normal - drag * sliding
    }

    /// What is missing of the shift that takes a share of the depth out.
    #[inline]
    fn shift(self, link: &Link, depth: f32, shift: Vec3) -> Vec3 {
        let wanted = (SHARE * (depth - SLOP)).min(FASTEST * self.h);
        let missing = (wanted - shift.dot(link.normal).max(0.0)).max(0.0);
        (missing / link.give) * link.normal
    }
}

#[cfg(test)]
mod tests;
