//! One fracture event: from the impacts of a step to a [`Fracture`], or to the
//! statement why there is none.
//!
//! Steps of [`FractureEvent::decide`]: how the body rings -> whether and when it
//! breaks ([`crate::impact`]) -> stress of all nodes that may exceed their strength
//! at that moment -> again and again: the node with the largest excess -> a crack
//! from there (`crack_growth/`) -> pay for its area by what it releases -> split, and
//! relieve the stress near the new surface -> until stress, energy or the limits
//! are spent. Once a crack runs, others start wherever it would branch, below the strength
//! that flaws leave: strong, brittle glass shatters, and weak, tough granite parts in two.
//! The load goes on for the pieces that the contacts still press: each later moment at which
//! the body would hold twice the energy, and the one at which it would hold most, is asked
//! again, with the stress that the cracks so far leave. So a harder impact, which cracks the
//! body sooner, makes more pieces of it, not fewer.
//! A stout body whose stress holds may still split from the contact (`contact_crack.rs`).
//!
//! Source of the pieces: Rankine's criterion; Griffith 1921; both together, over the
//! finite crack that is made: Leguillon 2002, "Strength or toughness? A criterion for crack
//! onset at a notch"; stress relief beside a crack as in shielding models. The combination is ours: Glondu 2013 takes its
//! fractures from a method whose propagation rule is not published with it.
//!
//! **Guarantee**: a crack costs no more than the strain energy that it relieves, all
//! cracks no more than the strain energy of the moment or what the impact brought; at
//! most `max_cracks` cracks and `max_fragments` pieces; the same seed, body and event
//! give the same fracture.

mod node_strength;
mod relief;
mod stress_field;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use fracas_core::{Crack, Fracture, FragmentId, Fragments, TetMesh, hash64};
use glam::Vec3;

use crate::contact_crack::Splitting;
use crate::crack_growth::{Growth, Seed};
use crate::impact::{ContactZone, Impact, Moments, Shake};
use crate::modes::Modes;
use crate::principal::{Principal, Stress, Tension, principal, principal_values, tension_exceeds};
use crate::random::Random;
use crate::sequence::CrackSequence;
use crate::settings::FractureSettings;
use crate::stress_modes::{LANES, lane};

use node_strength::NodeStrength;
use relief::{Branching, least_crack, price_of, released, stress_left, whole_relief};
use stress_field::StressField;

/// Most moments at which cracks are tried, each with twice the energy of the one before.
const MOST_MOMENTS: usize = 16;

/// Once it breaks: so many cracks in a row that cannot be paid, and the energy counts as
/// spent. Each costs as much time as one that is made.
const MOST_REFUSED: usize = 4;

/// Nor is one tried when less than this share of the energy is left.
const SPENT: f64 = 0.02;

/// Stress is relieved at least up to this many relief lengths from a crack, where
/// less than a sixth would be missing.
const FARTHEST_RELIEF: f32 = 2.5;

/// Why an event ended as it did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Outcome {
    /// No impact with an impulse.
    #[default]
    NoImpact,
    /// The bound of the stress is below the strength: nothing was sampled.
    Harmless,
    /// Sampled, and nowhere too much.
    Held,
    /// Stress was exceeded, but no crack could be paid for or made two pieces.
    NoCrack,
    /// It broke, until stress fell below strength everywhere.
    BrokeStress,
    /// It broke, until the energy was spent.
    BrokeEnergy,
    /// It broke, until a limit of the settings was reached; raise it for more.
    BrokeLimit,
    /// Broken by a pattern, for want of modes.
    BrokePattern,
    /// Declared unbreakable: too small, or broken too often.
    Unbreakable,
}

/// What was decided, and from what.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FractureStats {
    /// How it ended.
    pub outcome: Outcome,
    /// Duration of the contact (s).
    pub contact: f64,
    /// When it broke, after first contact (s).
    pub time: f64,
    /// Largest stress over strength at that time.
    pub overload: f32,
    /// Energy that the impacts brought (J).
    pub brought: f64,
    /// Energy that cracks could use (J).
    pub available: f64,
    /// Energy that they did use (J).
    pub spent: f64,
    /// Area of new cracks, one side (m²).
    pub area: f64,
    /// Cracks made.
    pub cracks: usize,
    /// Pieces made.
    pub pieces: usize,
    /// Cracks given up because energy did not suffice.
    pub unpaid: usize,
    /// Cracks given up because one side was crumbs.
    pub crumbs: usize,
}

impl FractureStats {
    /// The same in SI units, from units in which `units` lengths make a metre.
    #[must_use]
    pub fn in_si(&self, units: f32) -> Self {
        let square = f64::from(units) * f64::from(units);
        Self {
            brought: self.brought / square,
            available: self.available / square,
            spent: self.spent / square,
            area: self.area / square,
            ..*self
        }
    }

    /// Notes a crack of this cost (J) and area (m²) that left so many parts of one piece.
    fn add_crack(&mut self, cost: f64, area: f64, parts: usize) {
        self.spent += cost;
        self.area += area;
        self.cracks += 1;
        self.pieces += parts - 1;
    }
}

/// A fracture or none, and the reasons.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// What to apply to the fragments.
    pub fracture: Option<Fracture>,
    /// How it came about.
    pub stats: FractureStats,
}

/// Seeds of chance of cracks from a contact: apart from those of attempts.
const CONTACT_CHANCE: u64 = 1 << 32;

/// The body that breaks, and how it may.
struct Body<'a> {
    modes: &'a Modes,
    settings: &'a FractureSettings,
    chance: Random,
    zone: ContactZone,
}

/// A node that may start a crack.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    node: u32,
    /// Stress over strength, relieved by cracks so far.
    overload: f32,
}

/// Memory of fracture events; reuse it from event to event.
#[derive(Clone, Debug, Default)]
pub struct FractureEvent {
    growth: Growth,
    candidates: Vec<Candidate>,
    /// Stress of nodes asked for, by mesh node; valid where stamped.
    stresses: Vec<Stress>,
    stamps: Vec<u32>,
    stamp: u32,
    /// Directions of tension of nodes that a crack has passed, by mesh node: cracks come
    /// by again and again. Valid where stamped.
    tensions: Vec<(u32, Tension)>,
    /// Place of each mesh node among the fragment's nodes.
    places: Vec<u32>,
    /// Share of its stress that cracks so far have left to each mesh node.
    left: Vec<f32>,
}

impl FractureEvent {
    /// Memory that grows with use.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Decides whether and how a fragment breaks. `modes` are those of this
    /// fragment; `event` numbers the events of a run, so that chance differs.
    #[must_use]
    pub fn decide(
        &mut self,
        (fragments, id): (&Fragments, FragmentId),
        modes: &Modes,
        impacts: &[Impact],
        step: f32,
        event: u64,
        settings: &FractureSettings,
    ) -> Decision {
        let mut stats = FractureStats::default();
        let refuse = |stats| Decision {
            fracture: None,
            stats,
        };
        let Some(mut shake) = Shake::of(modes, impacts, step) else {
            return refuse(stats);
        };
        stats.contact = shake.contact();
        stats.brought = shake.brought();
        let strength = NodeStrength::new(modes, settings, shake.contact());
        let least_area = least_crack(modes);
        let splitting = Splitting::new(modes.material(), settings);
        let may_split = splitting.planes(shake.press_bound(), least_area) > 0;
        if shake.stress_bound(modes) <= strength.weakest && !may_split {
            stats.outcome = Outcome::Harmless;
            return refuse(stats);
        }
        let Some(mut sequence) = CrackSequence::new(fragments, id) else {
            return refuse(stats);
        };
        let body = Body {
            modes,
            settings,
            chance: Random::new(settings.seed).fork(u64::from(id.0)).fork(event),
            zone: shake.contact_zone(),
        };
        let positions = fragments.mesh().positions();
        let at = |i: usize| {
            let node = modes.nodes()[i];
            if body.zone.contains(positions[node as usize]) {
                f32::INFINITY
            } else {
                strength.of(node)
            }
        };
        stats.outcome = Outcome::Held;
        self.begin(fragments.mesh(), modes);
        let (mut from, mut least) = (0, least_area * price_of(modes, settings));
        for _ in 0..MOST_MOMENTS {
            let (nodes, left) = (modes.nodes(), &self.left);
            let limit = |i: usize| at(i) / left[nodes[i] as usize];
            let moments = Moments {
                from,
                least_energy: least,
            };
            let Some(critical) = shake.critical_time(modes, strength.weakest, limit, moments)
            else {
                break;
            };
            if stats.cracks == 0 {
                stats.time = critical.time;
                stats.overload = critical.overload;
            }
            stats.available = stats.available.max(critical.energy);
            let q = shake.coordinates(modes, critical.sample).to_vec();
            self.find_candidates(fragments.mesh(), &body, &q, &strength);
            self.crack(&mut sequence, &body, &q, critical.energy, &mut stats);
            if stats.outcome == Outcome::BrokeLimit {
                break;
            }
            // A crack that cannot be paid stays a flaw, and the load goes on.
            if stats.cracks > 0 {
                self.unload(modes, shake.touched());
            }
            from = critical.sample + 1;
            let most = shake.most_energy(modes, from);
            least = (2.0 * critical.energy.max(least)).min(most);
            if most <= critical.energy {
                break;
            }
        }
        if stats.cracks == 0 && may_split {
            self.split_from_contact(&mut sequence, &body, &mut shake, &mut stats);
        }
        self.growth.end(modes.nodes());
        Decision {
            fracture: sequence.finish(),
            stats,
        }
    }

    /// Takes the load off the pieces that no contact presses any more: cracks open across
    /// tension, and hand nothing on. What such a piece meets later is another impact.
    fn unload(&mut self, modes: &Modes, touched: &[u32]) {
        let pressed: BTreeSet<u32> = touched.iter().map(|&n| self.growth.piece(n)).collect();
        for &n in modes.nodes() {
            if !pressed.contains(&self.growth.piece(n)) {
                self.left[n as usize] = 0.0;
            }
        }
    }

    /// Takes the memory that events of a body on this mesh need, and touches it: to be
    /// called beforehand, so that the first event need not. It never shrinks.
    pub fn make_ready(&mut self, mesh: &TetMesh) {
        let nodes = mesh.positions().len();
        self.growth.make_ready(mesh);
        if self.stamps.len() < nodes {
            self.stresses.resize(nodes, [0.0; 6]);
            // No event has this stamp.
            self.stamps.resize(nodes, 0);
            self.tensions.resize(nodes, (0, Tension::default()));
            self.places.resize(nodes, 0);
            self.left.resize(nodes, 1.0);
        }
    }

    /// Makes ready for cracks: all nodes are in one piece.
    fn begin(&mut self, mesh: &TetMesh, modes: &Modes) {
        self.make_ready(mesh);
        self.growth.fit(mesh, modes.mean_edge());
        for (i, &n) in modes.nodes().iter().enumerate() {
            self.places[n as usize] = i as u32;
            self.left[n as usize] = 1.0;
        }
        self.growth.begin(modes.nodes());
    }

    /// Finds the nodes whose stress, as far as cracks have left it, exceeds their strength
    /// at the chosen moment.
    fn find_candidates(
        &mut self,
        mesh: &TetMesh,
        body: &Body<'_>,
        q: &[f32],
        strength: &NodeStrength,
    ) {
        self.stamp += 1;
        self.candidates.clear();
        let modes = body.modes;
        let sizes: Vec<f32> = q.iter().map(|q| q.abs()).collect();
        let stress = modes.stress();
        stress.groups_above(&sizes, strength.weakest, |group, bound| {
            let nodes = &modes.nodes()[group * LANES..];
            let nodes = &nodes[..nodes.len().min(LANES)];
            let mut limits = [f32::INFINITY; LANES];
            for (limit, &node) in limits.iter_mut().zip(nodes) {
                *limit = strength.of(node) / self.left[node as usize];
            }
            // What earlier cracks have unloaded is not summed; where a crack comes by, it is
            // then.
            if limits.iter().all(|&limit| bound <= limit) {
                return;
            }
            let at = stress.at_group(group, q);
            for (l, &node) in nodes.iter().enumerate() {
                let s = lane(&at, l);
                self.stresses[node as usize] = s;
                self.stamps[node as usize] = self.stamp;
                if tension_exceeds(&s, limits[l])
                    && !body.zone.contains(mesh.positions()[node as usize])
                {
                    let overload = principal_values(&s)[0] as f32 / limits[l];
                    self.candidates.push(Candidate { node, overload });
                }
            }
        });
    }

    /// The candidate of the next crack, unless a limit is reached, none is left, or the energy
    /// is spent: `stats` tell which.
    fn next_candidate(
        &self,
        settings: &FractureSettings,
        is_spent: bool,
        stats: &mut FractureStats,
    ) -> Option<usize> {
        if stats.cracks >= settings.max_cracks || stats.pieces >= settings.max_fragments {
            stats.outcome = Outcome::BrokeLimit;
            return None;
        }
        let worst = self.worst()?;
        if is_spent {
            stats.outcome = Outcome::BrokeEnergy;
            return None;
        }
        Some(worst)
    }

    fn crack(
        &mut self,
        sequence: &mut CrackSequence,
        body: &Body<'_>,
        q: &[f32],
        energy: f64,
        stats: &mut FractureStats,
    ) {
        let Body {
            modes,
            settings,
            chance,
            ..
        } = body;
        let mesh = sequence.mesh();
        let price = price_of(modes, settings);
        let branching = Branching::of(modes);
        stats.pieces = stats.pieces.max(1);
        stats.outcome = Outcome::BrokeStress;
        // Cracks of earlier moments are paid from the same impact.
        let mut budget = energy - stats.spent;
        let (mut made, mut refused) = (0, 0);
        // Each round settles a candidate or makes a crack; crumbs alone cannot go on for ever.
        let most_tries = 4 * settings.max_cracks + 64;
        for attempt in 0..most_tries {
            let is_spent = budget < SPENT * energy;
            let Some(worst) = self.next_candidate(settings, is_spent, stats) else {
                break;
            };
            let Candidate { node, .. } = self.candidates[worst];
            let piece = self.growth.piece(node);
            if sequence.part(piece).len() < settings.least_nodes {
                self.candidates[worst].overload = 0.0;
                continue;
            }
            let mut field = StressField {
                modes,
                q,
                places: &self.places,
                stamps: &mut self.stamps,
                stamp: self.stamp,
                stresses: &mut self.stresses,
                tensions: &mut self.tensions,
            };
            let stress = field.at(node);
            let relief = settings
                .relief
                .unwrap_or_else(|| branching.relief(modes, principal_values(&stress)[0] as f32))
                .max(1e-9);
            let seed = Seed {
                node,
                normal: seed_normal(&principal(&stress), chance, attempt as u64),
                chance: hash64(chance.fork(attempt as u64).bits()),
                piece,
                nodes: sequence.part(piece).len(),
                reach: FARTHEST_RELIEF * relief,
            };
            let grown = self
                .growth
                .grow(mesh, seed, &settings.growth, &mut |n| field.tension(n));
            let Some(grown) = grown else {
                self.candidates[worst].overload = 0.0;
                stats.crumbs += 1;
                continue;
            };
            // A crack across a folded piece may part it in more than two.
            if stats.pieces + grown.parts - 1 > settings.max_fragments {
                self.candidates[worst].overload = 0.0;
                stats.outcome = Outcome::BrokeLimit;
                continue;
            }
            let cost = grown.area * price;
            let size = whole_relief(modes).min(grown.area.sqrt() as f32);
            if cost > budget || cost > released(&self.growth, &mut field, &self.left, size, cost) {
                self.candidates[worst].overload = 0.0;
                self.give_up(piece, size);
                stats.unpaid += 1;
                stats.outcome = Outcome::BrokeEnergy;
                refused += 1;
                if stats.cracks > 0 && refused == MOST_REFUSED {
                    break;
                }
                continue;
            }
            refused = 0;
            let new = self.split(sequence, piece);
            budget -= cost;
            stats.add_crack(cost, grown.area, grown.parts);
            made += 1;
            if made == 1 {
                let origin = mesh.positions()[node as usize];
                self.branch(mesh, body, q, &branching, origin);
            }
            self.relieve(piece, new, relief);
        }
        if stats.cracks == 0 {
            stats.outcome = Outcome::NoCrack;
        }
    }

    /// Splits the body along planes through the contact that is pressed hardest, if that
    /// presses hard enough; see [`crate::contact_crack`].
    fn split_from_contact(
        &mut self,
        sequence: &mut CrackSequence,
        body: &Body<'_>,
        shake: &mut Shake,
        stats: &mut FractureStats,
    ) {
        let Body {
            modes,
            settings,
            chance,
            ..
        } = body;
        let press = shake.press();
        let (force, time) = shake.hardest_press(modes);
        let splitting = Splitting::new(modes.material(), settings);
        let (across, along) = press.direction.any_orthonormal_pair();
        let start = chance.fork(CONTACT_CHANCE).range(0.0, std::f32::consts::PI);
        let mut planes = 1;
        let mut plane = 0;
        while plane < planes {
            let turn = start + std::f32::consts::PI * plane as f32 / planes as f32;
            let (sin, cos) = libm::sincosf(turn);
            let normal = cos * across + sin * along;
            for piece in 0..sequence.part_count() as u32 {
                if stats.cracks >= settings.max_cracks || stats.pieces >= settings.max_fragments {
                    stats.outcome = Outcome::BrokeLimit;
                    return;
                }
                let Some(node) = nearest_node(sequence, piece, press.point, modes.mean_edge())
                else {
                    continue;
                };
                let seed = Seed {
                    node,
                    normal,
                    chance: hash64(chance.fork(CONTACT_CHANCE + plane as u64).bits()),
                    piece,
                    nodes: sequence.part(piece).len(),
                    reach: 0.0,
                };
                let flat = Tension {
                    direction: normal,
                    uniaxial: 1.0,
                };
                let mesh = sequence.mesh();
                let grown = self
                    .growth
                    .grow(mesh, seed, &settings.growth, &mut |_| flat);
                let Some(grown) = grown else {
                    stats.crumbs += 1;
                    continue;
                };
                if stats.cracks == 0 {
                    planes = splitting.planes(force, grown.area);
                    if planes == 0 {
                        return;
                    }
                    stats.outcome = Outcome::BrokeEnergy;
                    stats.time = time;
                    stats.available = shake.brought();
                    stats.overload = splitting.overload(force, grown.area) as f32;
                    stats.pieces = 1;
                }
                let cost = grown.area * price_of(modes, settings);
                if stats.spent + cost > stats.available
                    || stats.pieces + grown.parts - 1 > settings.max_fragments
                {
                    stats.unpaid += 1;
                    continue;
                }
                self.split(sequence, piece);
                stats.add_crack(cost, grown.area, grown.parts);
            }
            plane += 1;
        }
    }

    /// A crack that runs branches wherever it is driven hard enough: it needs no flaw there.
    fn branch(
        &mut self,
        mesh: &TetMesh,
        body: &Body<'_>,
        q: &[f32],
        branching: &Branching,
        origin: Vec3,
    ) {
        let modes = body.modes;
        let stress = modes.stress();
        let sizes: Vec<f32> = q.iter().map(|q| q.abs()).collect();
        let farthest = 2.0 * modes.radius();
        for c in &mut self.candidates {
            let far = mesh.positions()[c.node as usize].distance(origin);
            let tension = principal_values(&self.stresses[c.node as usize])[0] as f32;
            let left = self.left[c.node as usize];
            c.overload = c.overload.max(left * tension / branching.limit(far));
        }
        // They were found in the order of their nodes.
        let known: Vec<u32> = self.candidates.iter().map(|c| c.node).collect();
        debug_assert!(known.is_sorted());
        stress.groups_above(&sizes, branching.limit(farthest), |group, bound| {
            let nodes = &modes.nodes()[group * LANES..];
            let nodes = &nodes[..nodes.len().min(LANES)];
            let mut limits = [f32::INFINITY; LANES];
            for (limit, &node) in limits.iter_mut().zip(nodes) {
                let far = mesh.positions()[node as usize].distance(origin);
                *limit = branching.limit(far) / self.left[node as usize];
            }
            // Groups are known as a whole or not at all.
            if self.stamps[nodes[0] as usize] != self.stamp {
                if limits.iter().all(|&limit| bound <= limit) {
                    return;
                }
                let at = stress.at_group(group, q);
                for (l, &node) in nodes.iter().enumerate() {
                    self.stresses[node as usize] = lane(&at, l);
                    self.stamps[node as usize] = self.stamp;
                }
            }
            for (&node, &limit) in nodes.iter().zip(&limits) {
                let s = self.stresses[node as usize];
                let at = mesh.positions()[node as usize];
                if tension_exceeds(&s, limit)
                    && known.binary_search(&node).is_err()
                    && !body.zone.contains(at)
                {
                    let overload = principal_values(&s)[0] as f32 / limit;
                    self.candidates.push(Candidate { node, overload });
                }
            }
        });
    }

    fn worst(&self) -> Option<usize> {
        let mut best: Option<usize> = None;
        for (i, c) in self.candidates.iter().enumerate() {
            if c.overload > 1.0 && best.is_none_or(|b| c.overload > self.candidates[b].overload) {
                best = Some(i);
            }
        }
        best
    }

    /// A crack from beside one that cannot be paid would go the same way, and free the same
    /// energy: nodes of the piece that it would have relieved are not asked.
    fn give_up(&mut self, piece: u32, size: f32) {
        let growth = &self.growth;
        self.candidates.retain(|c| {
            let near = growth.distance(c.node).is_some_and(|d| d < size);
            growth.piece(c.node) != piece || !near
        });
    }

    /// Writes the crack down and gives the leaving side its piece number.
    fn split(&mut self, sequence: &mut CrackSequence, piece: u32) -> u32 {
        let levels = self.growth.levels(sequence.mesh(), sequence.part(piece));
        let new = sequence.push(Crack {
            part: piece,
            levels,
        });
        self.growth.divide(piece, sequence.part(new));
        new
    }

    /// Stress near the new surface is gone.
    fn relieve(&mut self, old: u32, new: u32, relief: f32) {
        let growth = &self.growth;
        for c in &mut self.candidates {
            let piece = growth.piece(c.node);
            if (piece == old || piece == new)
                && let Some(distance) = growth.distance(c.node)
            {
                c.overload *= stress_left(distance / relief);
            }
        }
        for (n, distance) in growth.near_crack() {
            self.left[n as usize] *= stress_left(distance / relief);
        }
        self.candidates.retain(|c| c.overload > 1.0);
    }
}

/// The node of a piece that is nearest to a contact, if that is within two edges.
fn nearest_node(sequence: &CrackSequence, piece: u32, point: Vec3, edge: f32) -> Option<u32> {
    let positions = sequence.mesh().positions();
    let far = |n: u32| positions[n as usize].distance_squared(point);
    let nodes = sequence.part(piece).iter().copied();
    let nearest = nodes.min_by(|&a, &b| far(a).total_cmp(&far(b)))?;
    (far(nearest) < 4.0 * edge * edge).then_some(nearest)
}

/// The normal of the crack at its seed: across the largest tension. Where tension
/// is alike in two directions, chance decides between them.
fn seed_normal(stress: &Principal, chance: &Random, attempt: u64) -> Vec3 {
    let [first, second, _] = stress.values;
    if first - second >= 0.15 * first {
        return stress.first;
    }
    let mut random = chance.fork(attempt ^ 0xA11CE);
    let angle = random.range(0.0, std::f32::consts::PI);
    let (sin, cos) = libm::sincosf(angle);
    (cos * stress.first + sin * stress.second).normalize()
}
