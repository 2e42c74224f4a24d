//! A budget for the whole step: which of its work is done now, and which is handed on.
//!
//! Work is counted, not timed: pairs, points asked, contacts solved, nodes of bodies that are
//! decided and broken, each at a fixed rate ([`PAIR`] and the others). So a step with a budget
//! has the same bits on every machine and for any number of threads. What a rate is worth in
//! time depends on the machine.
//!
//! What waits, in this order:
//!
//! 1. pairs that hold contacts none of which closes within the step;
//! 2. pairs without contacts whose bodies part;
//! 3. pairs that have hardly moved since they were asked;
//! 4. bodies that were hit, after the first one: they are decided one of the next steps;
//! 5. parts of a step that is made again, after the first.
//!
//! A pair that waits keeps its contacts at the distances that they have now, and waits for
//! [`MOST_WAITS`] steps at most. (The engine's own recycling of contacts is off with a budget: it
//! would keep a pair that waits for longer.) What never waits: pairs that are new; that move, and
//! whose contacts close within the step; that come nearer and have none; that leave a surface of
//! many parts, which they may meet elsewhere; the first body that was hit; one part. A pair that
//! parts and turns back, or is moved by the user, within those steps is seen late.
//! It is counted as the step's least work ([`super::StepStats::least_work`]): the budget holds
//! but for that.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

use glam::Vec3;
use parry3d::math::Pose;
use rapier3d::prelude::{ColliderHandle, ContactPair, PhysicsWorld, RigidBody};

use crate::counters::Counts;
use crate::pair_plan::{PairPlan, ShapePair, shape_pair};
use crate::pose::{place, place_after};
use crate::shape::FragmentShape;
use crate::voxel::key_of;

/// Nanoseconds of work that each of these counts for.
const PAIR: f64 = 1_000.0;
const POINT: f64 = 2_000.0;
const CONTACT: f64 = 1_500.0;

/// A pair waits for so many steps at most.
const MOST_WAITS: u8 = 3;

/// A pair has hardly moved if by less than this share of its smaller body's reach.
const SLOW: f32 = 0.02;

/// Points that a pair is expected to be asked for, if that is more than what it was asked for
/// last: while it has hardly moved, when it has, and when it was new the last time. (Pieces
/// that have just parted know their contacts from the cut, and ask most a step later.)
const RESTING_POINTS: u32 = 2;
const MOVING_POINTS: u32 = 10;
const YOUNG_POINTS: u32 = 40;

/// Work of a step so far, in nanoseconds at the fixed rates.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Work {
    pub(super) all: f64,
    /// Of it, what could not wait.
    pub(super) least: f64,
}

type Key = [(u32, u32); 2];

/// What is known of a pair that was asked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    /// Where it was then: the second shape in the frame of the first.
    pub(super) at: Pose,
    /// Points that it was asked for.
    pub(super) points: u32,
    /// Steps of the engine in which it has waited since.
    pub(super) waited: u8,
    /// Whether it was new then.
    pub(super) young: bool,
}

/// Why a pair may wait: those that come first wait first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Need {
    /// It has contacts, and none closes.
    Parts,
    /// It has none, and its bodies part.
    Apart,
    /// It has hardly moved.
    Rests,
    /// It cannot wait.
    Needed,
}

/// A pair before a step.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    key: Key,
    shapes: ShapePair,
    at: Pose,
    need: Need,
    /// How far it will be apart at the end of the step, as far as its contacts tell.
    apart: f32,
    /// What it is expected to be asked for is worth.
    cost: f64,
    known: Option<Known>,
    waits: bool,
}

/// The budget, and what it goes by.
pub(super) struct Budget {
    /// In nanoseconds; none: nothing waits.
    limit: Option<f64>,
    plan: Arc<PairPlan>,
    known: BTreeMap<Key, Known>,
    candidates: Vec<Candidate>,
    asked: Vec<(ShapePair, u32)>,
    /// Whether pairs can wait: voxel contacts have a way of their own.
    pairs_wait: bool,
    work: Work,
    /// Work of the engine's last step.
    engine: f64,
    /// Of it, what could not wait.
    engine_least: f64,
    waiting: u64,
}

impl Budget {
    pub(super) fn new(seconds: Option<f32>, pairs_wait: bool) -> Self {
        Self {
            limit: seconds.map(|s| f64::from(s.max(0.0)) * 1e9),
            plan: Arc::default(),
            known: BTreeMap::new(),
            candidates: Vec::new(),
            asked: Vec::new(),
            pairs_wait,
            work: Work::default(),
            engine: 0.0,
            engine_least: 0.0,
            waiting: 0,
        }
    }

    /// Where the dispatcher reads which pairs wait.
    pub(super) fn plan(&self) -> &Arc<PairPlan> {
        &self.plan
    }

    /// What is known of pairs, for a snapshot.
    pub(super) fn known(&self) -> &BTreeMap<Key, Known> {
        &self.known
    }

    pub(super) fn restore(&mut self, known: BTreeMap<Key, Known>) {
        self.known = known;
    }

    pub(super) fn begin_step(&mut self) {
        self.work = Work::default();
        self.waiting = 0;
    }

    /// What is left for breaking, in nanoseconds.
    pub(super) fn room(&self) -> Option<f64> {
        self.limit.map(|limit| limit - self.work.all)
    }

    pub(super) fn work(&self) -> Work {
        self.work
    }

    /// Pairs that waited in this step.
    pub(super) fn waiting(&self) -> u64 {
        self.waiting
    }

    /// What the engine's last step was worth.
    pub(super) fn engine(&self) -> f64 {
        self.engine
    }

    /// Notes that the engine's last step was a part that need not have been made.
    pub(super) fn could_be_spared(&mut self) {
        self.work.least -= self.engine_least;
    }

    /// Adds what breaking did.
    pub(super) fn add(&mut self, all: f64, least: f64) {
        self.work.all += all;
        self.work.least += least;
    }

    /// Chooses which pairs wait in the engine's coming step. `kept`: what is to be left for
    /// bodies that wait for their decision.
    pub(super) fn choose(&mut self, physics: &PhysicsWorld, kept: f64) {
        let (Some(limit), true) = (self.limit, self.pairs_wait) else {
            return;
        };
        self.candidates.clear();
        let pairs = physics.narrow_phase.contact_pairs();
        let known = &self.known;
        let (mut fixed, mut needed) = (0.0, 0.0);
        for pair in pairs {
            fixed += PAIR + CONTACT * contacts(pair);
            self.candidates.extend(candidate(pair, physics, known));
        }
        for c in self.candidates.iter().filter(|c| c.need == Need::Needed) {
            needed += c.cost;
        }
        let mut room = limit - self.work.all - kept - fixed - needed;
        // Who has waited longest comes first, then what is most needed.
        self.candidates.sort_unstable_by(in_turn);
        for candidate in &mut self.candidates {
            if candidate.need != Need::Needed {
                candidate.waits = candidate.cost > room.max(0.0);
                if !candidate.waits {
                    room -= candidate.cost;
                }
            }
        }
        // Where two colliders share a shape, nothing would tell which pair is meant: all are
        // asked, those too that the engine has yet to find.
        let colliders = physics.colliders.iter();
        let mut shapes: Vec<usize> = colliders.map(|(_, c)| key_of(c.shape())).collect();
        shapes.sort_unstable();
        let is_shared = |shape: &usize| {
            let first = shapes.partition_point(|other| other < shape);
            shapes.get(first + 1) == Some(shape)
        };
        for candidate in &mut self.candidates {
            candidate.waits &= !candidate.shapes.iter().any(is_shared);
        }
        let waiting = self.candidates.iter().filter(|c| c.waits);
        self.waiting += waiting.clone().count() as u64;
        self.plan.choose(waiting.map(|c| c.shapes));
    }

    /// Takes up what the engine's step did.
    pub(super) fn learn(&mut self, physics: &PhysicsWorld, counts: Counts) {
        let pairs = physics.narrow_phase.contact_pairs();
        let fixed: f64 = pairs.map(|p| PAIR + CONTACT * contacts(p)).sum();
        let asked = POINT * counts.visited_points as f64;
        self.engine = fixed + asked;
        self.engine_least = self.engine - self.could_have_waited(physics);
        self.work.all += self.engine;
        self.work.least += self.engine_least;
    }

    /// Takes up what pairs were asked for. Returns what those that were asked and could have
    /// waited were worth.
    fn could_have_waited(&mut self, physics: &PhysicsWorld) -> f64 {
        if self.limit.is_none() || !self.pairs_wait {
            return 0.0;
        }
        let mut spared = 0.0;
        self.plan.take_asked(&mut self.asked);
        let asked = &self.asked;
        let points_of = |shapes: &ShapePair| {
            let at = asked.binary_search_by_key(shapes, |(name, _)| *name);
            at.ok().map(|at| asked[at].1)
        };
        // New pairs were not among the candidates: the engine finds them in its step.
        let planned = self.candidates.len();
        let mut names: Vec<Key> = self.candidates.iter().map(|c| c.key).collect();
        names.sort_unstable();
        let is_new = |pair: &&ContactPair| names.binary_search(&key(pair)).is_err();
        let none = BTreeMap::new();
        let new = physics.narrow_phase.contact_pairs().filter(is_new);
        self.candidates
            .extend(new.filter_map(|pair| candidate(pair, physics, &none)));
        for c in &mut self.candidates[planned..] {
            c.at = before(c.key, physics).unwrap_or(c.at);
        }
        self.known.clear();
        for (i, c) in self.candidates.iter().enumerate() {
            let now = match (c.known, c.waits) {
                (Some(known), true) => Known {
                    waited: known.waited + 1,
                    ..known
                },
                (known, _) => Known {
                    at: c.at,
                    points: points_of(&c.shapes).unwrap_or(known.map_or(0, |k| k.points)),
                    waited: 0,
                    young: i >= planned,
                },
            };
            self.known.insert(c.key, now);
            if c.need != Need::Needed && !c.waits {
                let points = points_of(&c.shapes).unwrap_or(0);
                spared += POINT * f64::from(points);
            }
        }
        spared
    }
}

fn in_turn(a: &Candidate, b: &Candidate) -> Ordering {
    let waited = |c: &Candidate| c.known.map_or(0, |k| k.waited);
    let longest = waited(b).cmp(&waited(a));
    let need = longest.then(b.need.cmp(&a.need));
    need.then(a.apart.total_cmp(&b.apart))
        .then(a.key.cmp(&b.key))
}

fn key(pair: &ContactPair) -> Key {
    [pair.collider1, pair.collider2].map(ColliderHandle::into_raw_parts)
}

/// Where the second of two colliders was in the frame of the first, a step ago, by how they
/// move.
fn before(key: Key, physics: &PhysicsWorld) -> Option<Pose> {
    let dt = physics.integration_parameters.dt;
    let then = |(index, generation): (u32, u32)| {
        let collider = ColliderHandle::from_raw_parts(index, generation);
        let collider = physics.colliders.get(collider)?;
        Some(place_after(collider, &physics.bodies, -dt))
    };
    let [first, second] = key.map(then);
    Some(first?.inv_mul(&second?))
}

/// Contacts that a pair has.
fn contacts(pair: &ContactPair) -> f64 {
    let manifolds = pair.rigid().map_or(&[][..], |rigid| &rigid.manifolds);
    let count: usize = manifolds.iter().map(|m| m.points.len()).sum();
    count as f64
}

/// A pair with a fragment that the engine will ask for, as far as is known before.
fn candidate(
    pair: &ContactPair,
    physics: &PhysicsWorld,
    known: &BTreeMap<Key, Known>,
) -> Option<Candidate> {
    let handles = [pair.collider1, pair.collider2];
    let [c1, c2] = [
        physics.colliders.get(handles[0])?,
        physics.colliders.get(handles[1])?,
    ];
    let reaches = [c1, c2].map(|c| c.shape().as_shape::<FragmentShape>().map(|f| f.reach()));
    let reach = reaches.into_iter().flatten().reduce(f32::min)?;
    let bodies = [c1, c2].map(|c| c.parent().and_then(|h| physics.bodies.get(h)));
    let is_awake = |b: &&RigidBody| b.is_dynamic() && !b.is_sleeping();
    bodies.iter().flatten().find(|b| is_awake(b))?;
    let places = [place(c1, &physics.bodies), place(c2, &physics.bodies)];
    let at = places[0].inv_mul(&places[1]);
    let key = key(pair);
    let known = known.get(&key).copied();
    let dt = physics.integration_parameters.dt;
    let apart = apart_after(pair, places, bodies, dt);
    // Whatever it is, it turns and moves with the second body's centre.
    let centre = bodies[1].map_or(places[1].translation, |b| b.center_of_mass());
    let local = places[1].inverse_transform_point(centre);
    let moved = known.map_or(f32::INFINITY, |k| moved_since(&k.at, &at, local, reach));
    // A surface of many parts is met elsewhere than where it is left.
    let is_one_piece = [c1, c2]
        .iter()
        .all(|c| c.shape().as_composite_shape().is_none());
    let need = match (known, apart) {
        (None, _) => Need::Needed,
        (Some(k), _) if k.waited >= MOST_WAITS => Need::Needed,
        (_, Some(apart)) if apart > 0.0 && is_one_piece => Need::Parts,
        (_, Some(_)) if moved < SLOW * reach => Need::Rests,
        (_, None) if part(bodies) => Need::Apart,
        _ => Need::Needed,
    };
    let least = match known {
        Some(known) if known.young => YOUNG_POINTS,
        _ if moved < SLOW * reach => RESTING_POINTS,
        _ => MOVING_POINTS,
    };
    let points = match known {
        None => YOUNG_POINTS,
        // What is where it was asked is not asked again.
        Some(known) if known.at == at && known.waited == 0 => 0,
        Some(known) => known.points.max(least),
    };
    Some(Candidate {
        key,
        shapes: shape_pair(c1.shape(), c2.shape()),
        at,
        need,
        apart: apart.unwrap_or(f32::INFINITY),
        cost: POINT * f64::from(points),
        known,
        waits: false,
    })
}

/// The least distance of the pair's contacts at the end of a step, as they move now.
fn apart_after(
    pair: &ContactPair,
    [p1, p2]: [Pose; 2],
    [b1, b2]: [Option<&RigidBody>; 2],
    dt: f32,
) -> Option<f32> {
    let velocity =
        |body: Option<&RigidBody>, p: Vec3| body.map_or(Vec3::ZERO, |b| b.velocity_at_point(p));
    let mut least: Option<f32> = None;
    for manifold in &pair.rigid()?.manifolds {
        let normal = p1.rotation * manifold.local_n1;
        for point in &manifold.points {
            let (x1, x2) = (p1 * point.local_p1, p2 * point.local_p2);
            let closing = (velocity(b2, x2) - velocity(b1, x1)).dot(normal);
            let then = (x2 - x1).dot(normal) + closing.min(0.0) * dt;
            least = Some(least.map_or(then, |l| l.min(then)));
        }
    }
    least
}

/// How far the pair has moved, at most, within `reach` of a point of the second shape.
fn moved_since(then: &Pose, now: &Pose, local: Vec3, reach: f32) -> f32 {
    let moved = (*now * local).distance(*then * local);
    let cosine = now.rotation.dot(then.rotation).abs().min(1.0);
    // Of half the angle; the chord of the whole one is twice the sine of the half.
    moved + 2.0 * (1.0 - cosine * cosine).max(0.0).sqrt() * reach
}

/// Whether the centres of two bodies move away from each other.
fn part([b1, b2]: [Option<&RigidBody>; 2]) -> bool {
    let (Some(b1), Some(b2)) = (b1, b2) else {
        return false;
    };
    if !b1.is_dynamic() || !b2.is_dynamic() {
        return false;
    }
    let apart = b2.center_of_mass() - b1.center_of_mass();
    (b2.linvel() - b1.linvel()).dot(apart) > 0.0
}
