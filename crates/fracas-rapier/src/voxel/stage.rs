//! Before the engine's step: every pair gets its contacts, within one budget.
//!
//! Steps: bodies that broke have their voxels re-labelled (`pieces.rs`) -> boxes that
//! overlap make pairs, and those known to be apart are dropped (`pairs.rs`) -> which pairs
//! the sphere-tree method takes (both at once only) -> those that hardly moved keep their
//! contacts -> all others are refined, plain shapes first and then the most needy ->
//! contacts are reduced and put in the table (`table.rs`).
//!
//! A budget of time: refinement asks the clock every few hundred tests, and ends when
//! what is left is what reducing the cubes in hand and the engine's own stage will
//! take, by the rates of the steps so far (`rates.rs`).
//!
//! Both at once: what the sphere-tree method will cost is predicted by what it cost in the
//! last step that asked it (for a new pair: all points of the smaller body, or, where a clock
//! watches, what pairs usually cost if that is less). The cheapest pairs come first, as long as
//! their predicted cost fits, and a share of the budget is kept for the voxels of the others.
//! Where a clock watches, those whose turn it is come before them, and the share is kept only
//! where not all fit. What was found is kept until the pair has moved by a tenth of a voxel.
//! Predictions fail when something breaks, so the table asks the clock again before each of them.

use std::collections::BTreeSet;
use std::sync::Arc;

use fracas_core::voxel_tree::{
    Budget, Detection, Other, Progress, SharedPair, Stop, refine_all, refine_while,
};
use fracas_core::{FragmentId, SphereTree};
use parry3d::bounding_volume::BoundingVolume as _;
use parry3d::shape::Shape;
use rapier3d::prelude::{Collider, ColliderSet, RigidBodySet};

use super::pairs::{Answer, Body, Pair, Pairs};
use super::pieces::Pieces;
use super::rates::{EngineWork, StageRates};
use super::reduction::{KEPT_MOTION, Reduction};
use super::sampler::{plane, sampler};
use super::table::{self, Contents, Cost, Entry, SphereTreeTime, StepClock, VoxelTable, key_of};
use super::{FrameBudget, POINT_WORK, VoxelSettings, VoxelStats};
use crate::manifold::PairContact;
use crate::pose::to_pose;
use crate::shape::FragmentShape;

/// Which pairs get voxel contacts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// All pairs with a fragment.
    All,
    /// Those that the sphere-tree method does not fit.
    WhatDoesNotFit,
    /// Pairs with a chosen body.
    Chosen,
}

/// Of the budget, kept for voxels where the sphere-tree method comes first.
const VOXEL_SHARE: f64 = 0.35;

/// Of a time budget, planned with: rates are estimates.
const PLANNED: f64 = 0.6;

/// The same where all that is planned is left to the sphere-tree method: the clock watches.
const SPHERE_TREES_PLANNED: f64 = 0.75;

/// Of a time budget, planned with where something may break: the step is then made again, and
/// the second engine step has the rest.
const BREAK_PLANNED: f64 = 0.4;

/// How far a shape reaches from the origin of its frame.
fn reach_of(shape: &dyn Shape) -> f32 {
    let ball = shape.compute_local_bounding_sphere();
    ball.center().length() + ball.radius()
}

/// What fell from higher than its own radius may break where it lands. Of the usual gravity,
/// whatever the world's is: this plans with time, no result depends on it in a budget of work.
const GRAVITY: f32 = 9.81;

/// Of a time budget, when the sphere-tree method's last query has to be over.
const SPHERE_TREES_UNTIL: f64 = 0.8;

/// A pair's cost may grow by so much from step to step before it is no longer predicted.
const COST_GROWTH: f64 = 1.25;

/// What a pair of which nothing is known may take, in usual pairs of the sphere-tree method.
const NEW_PAIR: f64 = 3.0;

/// A plain shape is refined as if its cubes were this much larger, so to the finest
/// level before any other pair. Floors are cheap, and coarse contacts do not push: a
/// body that has sunk into a floor seen coarsely would stay there.
const PLAIN_WEIGHT: f32 = 1000.0;

/// Of what is planned with, what floors may take whatever the rest is expected to cost.
const PLAIN_SHARE: f64 = 0.6;

/// Where pairs are many no step can see all of them finely. So a pair that was not seen
/// finely and has not moved keeps what it has until its turn comes, one step in this
/// many or later; and of the pairs that are looked at, one in this many goes before the
/// others.
/// What is then found (apart, or contacts of the finest level) holds until it has moved,
/// and leaves room for the others.
const TURNS: u64 = 8;

/// How much larger the cubes of such a pair count: enough to come to the finest level.
const TURN_WEIGHT: f32 = 100.0;

/// Tests that are made whatever the time: so that a crowd that leaves no time is seen
/// through, pair by pair, rather than stay as it is.
const LEAST_TESTS: u64 = 500;

/// Where there is no time to look at all pairs, until it has moved by this many times as
/// much: half a voxel, within which nothing is exact anyway.
const STALE_MOTION: f32 = 5.0;

/// Of the pairs that wait, so many are looked at whatever the time, and so many at the most.
/// In a budget of time as many as came to the finest level before: a pair that is seen
/// coarsely again has gained nothing.
const LEAST_LOOKS: usize = 16;
const MOST_LOOKS: f64 = 1e4;

/// The world's clock, in seconds.
type Clock = Arc<Box<dyn Fn() -> f64 + Send + Sync>>;

/// What [`VoxelStage::choose_looked`] chose, by places in the list of pairs.
struct Looked {
    keeping: Vec<u32>,
    /// And whether it goes before the others, to the finest level. Plain shapes first.
    looked: Vec<(u32, bool)>,
    /// How many are with plain shapes.
    plain: usize,
    /// Seconds that the engine's own stage will take, the sphere-tree method included.
    after: f64,
}

/// Everything that voxel contacts keep between steps.
pub(crate) struct VoxelStage {
    settings: VoxelSettings,
    scope: Scope,
    /// Objects whose pairs get voxel contacts, by their address.
    chosen: BTreeSet<usize>,
    table: Arc<VoxelTable>,
    pieces: Pieces,
    bodies: Vec<Body>,
    pairs: Pairs,
    engine_work: EngineWork,
    /// The contacts of the last step.
    kept_contacts: Vec<PairContact>,
    detections: Vec<Detection>,
    reduction: Reduction,
    costs: Vec<(u32, Cost)>,
    /// What the sphere-tree method is expected to take in this step, in seconds.
    sphere_tree_seconds: f64,
    /// Which of the pairs that have to wait is looked at first.
    waiting_turn: usize,
    rates: StageRates,
    step: u64,
    stats: VoxelStats,
    /// When the world's step began for the budget, in the clock's seconds: as much before now
    /// as its contacts have taken. Re-labelling is not counted.
    started: f64,
    /// How far the engine looks ahead.
    reach: f32,
    /// Whether something may break in this engine step, and the world's step be made again.
    may_break: bool,
    /// How many of the pairs that wait a step sees to the finest level.
    deep_looks: f64,
}

impl VoxelStage {
    pub(crate) fn new(settings: VoxelSettings, scope: Scope, table: Arc<VoxelTable>) -> Self {
        Self {
            settings,
            scope,
            chosen: BTreeSet::new(),
            table,
            pieces: Pieces::default(),
            bodies: Vec::new(),
            pairs: Pairs::default(),
            engine_work: EngineWork::default(),
            kept_contacts: Vec::new(),
            detections: Vec::new(),
            reduction: Reduction::default(),
            costs: Vec::new(),
            sphere_tree_seconds: 0.0,
            waiting_turn: 0,
            rates: StageRates::default(),
            step: 0,
            stats: VoxelStats::default(),
            started: 0.0,
            reach: 0.0,
            may_break: false,
            deep_looks: LEAST_LOOKS as f64,
        }
    }

    /// Forgets all that it has learnt, as a stage that is new does not know it.
    pub(crate) fn forget(&mut self) {
        let chosen = std::mem::take(&mut self.chosen);
        let kinds = std::mem::take(&mut self.pieces.kinds);
        *self = Self {
            chosen,
            pieces: Pieces::of_kinds(kinds),
            ..Self::new(self.settings, self.scope, Arc::clone(&self.table))
        };
    }

    /// Pairs with bodies of this object get voxel contacts from now on, or no more.
    pub(crate) fn choose(&mut self, object: usize, voxels: bool) {
        if voxels {
            self.chosen.insert(object);
        } else {
            self.chosen.remove(&object);
        }
    }

    pub(crate) fn scope(&self) -> Scope {
        self.scope
    }

    pub(crate) fn stats(&self) -> &VoxelStats {
        &self.stats
    }

    /// Finds the contacts of the coming step of the engine. `spent`: seconds that contacts
    /// have taken in this step of the world, which makes the engine's again if something
    /// breaks: both have one budget.
    pub(crate) fn prepare(
        &mut self,
        bodies: &RigidBodySet,
        colliders: &ColliderSet,
        (reach, spent): (f32, f64),
        clock: &Clock,
    ) {
        self.step += 1;
        self.reach = reach;
        self.stats = VoxelStats::default();
        let start = clock();
        let relabel = self.gather(bodies, colliders, reach, clock);
        self.stats.relabel = relabel * 1e3;
        let begun = start + relabel;
        self.started = begun - spent;
        let chosen_only = self.scope == Scope::Chosen;
        if spent > 0.0 {
            self.pairs.find_again(&self.bodies, chosen_only);
        } else {
            self.pairs.find(&self.bodies, chosen_only);
        }
        self.may_break = spent == 0.0 && self.pairs.may_break(&self.bodies);
        self.engine_work = EngineWork {
            boxes: self.pairs.list.len(),
            voxel_pairs: 0,
        };
        self.stats.apart = self.pairs.apart as u64;
        let found = clock() - begun;
        self.stats.find = found * 1e3;
        self.rates
            .found_pairs(found, self.engine_work.boxes, self.bodies.len());
        self.choose_sphere_tree_pairs(clock);
        self.refine(colliders, reach, clock);
        self.stats.refine = (clock() - begun) * 1e3;
    }

    /// Learns from the engine's own collision stage, in seconds.
    pub(crate) fn learn(&mut self, engine: f64) {
        self.table.take_costs(&mut self.costs);
        let late = self.costs.iter().filter(|(_, cost)| cost.late).count() as u64;
        self.stats.late = late;
        self.stats.fallbacks += late;
        self.stats.sphere_tree_pairs = self.stats.sphere_tree_pairs.saturating_sub(late);
        let (mut seconds, mut visits) = (0.0, 0.0);
        for (_, cost) in &self.costs {
            seconds += f64::from(cost.seconds);
            visits += f64::from(cost.points) + f64::from(cost.visits);
        }
        self.rates.visit.learn(seconds, visits, 100.0);
        let asked = self.costs.iter().filter(|(_, cost)| cost.seconds > 0.0);
        let asked = asked.count() as f64;
        self.rates.sphere_tree_pair.learn(seconds, asked, 1.0);
        let contacts = self.stats.contacts as usize;
        self.rates
            .learn_engine(engine - seconds, self.engine_work, contacts);
        let room = self.kept_motion();
        self.pairs.note_costs(self.costs.drain(..), room);
    }

    /// How far a pair may move and keep what the sphere-tree method found: as far as one that
    /// voxels saw, and no farther than the engine looks ahead (siblings that touch are looked at
    /// less far, `looks.rs`; they are kept as long).
    fn kept_motion(&self) -> f32 {
        let cells = self.bodies.iter().filter_map(|b| b.tree.as_ref());
        let cells = cells
            .filter_map(|tree| tree.levels().last())
            .map(|l| l.cell);
        (KEPT_MOTION * cells.fold(f32::INFINITY, f32::min)).min(self.reach)
    }

    /// All colliders, and the voxels of those that are fragments. Returns how long
    /// re-labelling what broke took.
    fn gather(
        &mut self,
        bodies: &RigidBodySet,
        colliders: &ColliderSet,
        reach: f32,
        clock: &Clock,
    ) -> f64 {
        self.bodies.clear();
        let mut relabel = 0.0;
        for (index, (handle, collider)) in colliders.iter().enumerate() {
            if !collider.is_enabled() || collider.is_sensor() {
                continue;
            }
            let parent = collider.parent();
            let body = parent.and_then(|h| bodies.get(h));
            // A body that the user has moved takes its colliders along in the step.
            let place = body.map_or(*collider.position(), |b| {
                collider
                    .position_wrt_parent()
                    .map_or(*b.position(), |local| *b.position() * *local)
            });
            let shape = collider.shape();
            let fragment = shape.as_shape::<FragmentShape>();
            let placed = fragment.and_then(|f| {
                self.pieces.known(f, self.step).or_else(|| {
                    let start = clock();
                    let all = colliders.iter();
                    let all = all.filter_map(|(_, c)| c.shape().as_shape::<FragmentShape>());
                    let tree = self.pieces.make(f, all, &self.settings, self.step);
                    relabel += clock() - start;
                    tree
                })
            });
            let falls = fragment.zip(body).is_some_and(|(fragment, body)| {
                let speed2 = body.linvel().length_squared();
                fragment.id() == FragmentId(0) && speed2 > 2.0 * GRAVITY * fragment.reach()
            });
            let (tree, radius) = placed.unzip();
            let (at, generation) = handle.into_raw_parts();
            self.bodies.push(Body {
                key: key_of(shape),
                place,
                bounds: shape.compute_aabb(&place).loosened(reach),
                parent,
                moves: body.is_some_and(|b| b.is_dynamic() && !b.is_sleeping()),
                radius: radius.unwrap_or_else(|| fragment.map_or(0.0, |_| reach_of(shape))),
                tree,
                chosen: fragment.is_some_and(|f| self.chosen.contains(&f.object().address())),
                fragment: fragment.is_some(),
                falls,
                points: fragment.map_or(0, |f| self.points_of(f)),
                inner_radius: fragment.map_or(0.0, FragmentShape::inner_radius),
                collider: index,
                name: u64::from(at) << 32 | u64::from(generation),
            });
        }
        self.pieces.forget_unseen(self.step);
        relabel
    }

    /// Sample points of a fragment, where the sphere-tree method is one of two. A tree that was not
    /// made yet (whoever asks for it has to wait) has too many for any budget of time.
    fn points_of(&self, fragment: &FragmentShape) -> u32 {
        let count = |tree: &Arc<SphereTree>| tree.positions().len() as u32;
        match (self.scope, self.settings.budget) {
            (Scope::All | Scope::Chosen, _) => 0,
            (Scope::WhatDoesNotFit, FrameBudget::Milliseconds(_)) => {
                fragment.made_tree().map_or(u32::MAX, count)
            }
            (Scope::WhatDoesNotFit, _) => count(fragment.tree()),
        }
    }

    /// Of a time budget, planned with: a part of `usual` where the step may be made again.
    fn planned(&self, usual: f64) -> f64 {
        if self.may_break { BREAK_PLANNED } else { usual }
    }

    /// Both at once: leaves to the sphere-tree method what fits.
    fn choose_sphere_tree_pairs(&mut self, clock: &Clock) {
        self.sphere_tree_seconds = 0.0;
        if self.scope != Scope::WhatDoesNotFit {
            return;
        }
        let engine = self.rates.engine(self.engine_work);
        let visit = self.rates.visit.get();
        let usual = self.rates.sphere_tree_pair.get();
        // Work counts points, time counts seconds.
        let (mut room, timed) = match self.settings.budget {
            FrameBudget::Unlimited => (f64::INFINITY, false),
            FrameBudget::Work(units) => {
                let points = ((1.0 - VOXEL_SHARE) * units as f64) as u64 / POINT_WORK;
                (points as f64, false)
            }
            FrameBudget::Milliseconds(ms) => {
                let planned = self.planned(SPHERE_TREES_PLANNED);
                let left = planned * ms * 1e-3 - engine - (clock() - self.started);
                (left.max(0.0), true)
            }
        };
        let bodies = &self.bodies;
        let predicted = |pair: &Pair| {
            // A new pair: every point of the smaller body (of the only one) is asked.
            let all = match [pair.a, pair.b].map(|i| bodies[i as usize].points) {
                [n, 0] | [0, n] => n,
                // Of two that meet, both trees are asked for.
                [u32::MAX, _] | [_, u32::MAX] => u32::MAX,
                [n, m] => n.min(m),
            };
            match (pair.cost, timed) {
                // What came too late has to wait for one step.
                (Some(cost), true) if cost.late => f64::INFINITY,
                // A pair's first query makes what later ones use: what it cost may be long ago.
                (Some(cost), true) => {
                    let known = COST_GROWTH * f64::from(cost.seconds).max(visit);
                    known.min(NEW_PAIR * usual)
                }
                (Some(cost), false) => f64::from(cost.points.max(1)),
                (None, true) if all == u32::MAX => f64::INFINITY,
                // Few pairs ask for all points; one that does is stopped by the clock.
                (None, true) => (f64::from(all.max(1)) * visit).min(NEW_PAIR * usual),
                (None, false) => f64::from(all.max(1)),
            }
        };
        let open = self.pairs.list.iter().zip(0_u32..);
        let open = open.filter(|(pair, _)| {
            !pair.by_sphere_tree && !matches!(pair.answer, Answer::Apart | Answer::SphereTree)
        });
        let mut order: Vec<(f64, u32)> = open.map(|(pair, i)| (predicted(pair), i)).collect();
        // Cheap ones first, but those whose turn it is before them.
        let later = |i: u32| timed && !u64::from(i).wrapping_add(self.step).is_multiple_of(TURNS);
        order.sort_unstable_by(|a, b| {
            let by_turn = later(a.1).cmp(&later(b.1));
            by_turn.then(a.0.total_cmp(&b.0)).then(a.1.cmp(&b.1))
        });
        let all: f64 = order.iter().map(|o| o.0).sum();
        if timed && all > room {
            room *= 1.0 - VOXEL_SHARE;
        }
        let mut kept = 0;
        for pair in &mut self.pairs.list {
            if !pair.by_sphere_tree && pair.answer == Answer::SphereTree {
                pair.by_sphere_tree = true;
                kept += 1;
            }
        }
        let mut fit = 0;
        for &(cost, i) in &order {
            let pair = &mut self.pairs.list[i as usize];
            // What is remembered holds for one step; where a clock watches, until the pair is
            // asked again: else one that once did not fit would count as new for ever.
            if !timed || pair.cost.is_some_and(|cost| cost.late) {
                pair.cost = None;
            }
            if cost <= room {
                room -= cost;
                pair.by_sphere_tree = true;
                pair.answer = Answer::None;
                // What the engine does not ask, since their boxes are apart, costs nothing.
                if timed {
                    pair.cost = Some(Cost::default());
                }
                fit += 1;
                self.sphere_tree_seconds += if timed { cost } else { 0.0 };
            }
        }
        self.stats.sphere_tree_pairs = kept + fit;
        self.stats.fallbacks = order.len() as u64 - fit;
    }

    /// Which of the pairs that are left to the voxels are looked at: those that moved, as
    /// far as time allows; the others keep the contacts they have.
    fn choose_looked(&mut self, clock: &Clock) -> Looked {
        let (pairs, bodies, rates) = (&self.pairs.list, &self.bodies, &self.rates);
        let piece = |i: u32| {
            let b = pairs[i as usize].b;
            bodies[b as usize].tree.is_some()
        };
        let turn = |i: u32| u64::from(i).wrapping_add(self.step).is_multiple_of(TURNS);
        let timed = matches!(self.settings.budget, FrameBudget::Milliseconds(_));
        let (mut keeping, mut looked, mut waiting) = (Vec::new(), Vec::new(), Vec::new());
        for (pair, i) in pairs.iter().zip(0_u32..) {
            if pair.by_sphere_tree || pair.answer == Answer::Apart {
                continue;
            }
            let Answer::Contacts { level, .. } = pair.answer else {
                looked.push((i, turn(i)));
                continue;
            };
            let moved = pair.moved(bodies);
            if moved < pair.room && (level.is_none() || !(turn(i) || timed)) {
                keeping.push(i);
            } else if moved < STALE_MOTION * pair.room {
                waiting.push((i, turn(i)));
            } else {
                looked.push((i, turn(i)));
            }
        }
        let voxel_pairs = keeping.len() + looked.len() + waiting.len();
        self.engine_work.voxel_pairs = voxel_pairs;
        let after = rates.engine(self.engine_work) + self.sphere_tree_seconds;
        let fit = match self.settings.budget {
            FrameBudget::Milliseconds(ms) => {
                let planned = self.planned(PLANNED);
                let left = planned * ms * 1e-3 - (clock() - self.started) - after;
                let fit = (left / rates.look()).max(0.0) as usize;
                let fit = fit.saturating_sub(looked.len());
                fit.min(self.deep_looks as usize).max(LEAST_LOOKS)
            }
            _ => waiting.len(),
        };
        if fit < waiting.len() {
            // One after the other, from step to step, and those whose turn it is finely.
            let first = self.waiting_turn % waiting.len();
            self.waiting_turn = first + fit;
            waiting.rotate_left(first);
            keeping.extend(waiting.drain(fit..).map(|(i, _)| i));
            waiting.iter_mut().for_each(|(_, deep)| *deep = true);
        }
        looked.append(&mut waiting);
        // Floors come before the others.
        looked.sort_unstable_by_key(|&(i, _)| (piece(i), i));
        for &i in &keeping {
            if let Answer::Contacts { level, .. } = pairs[i as usize].answer {
                self.stats.answered(level);
            }
        }
        self.stats.kept = keeping.len() as u64;
        self.stats.pairs = voxel_pairs as u64;
        Looked {
            plain: looked.partition_point(|&(i, _)| !piece(i)),
            looked,
            keeping,
            after,
        }
    }

    /// Where a clock watches: until when the sphere-tree method may answer, and how fast it is.
    fn limit_sphere_trees(&self) -> Option<SphereTreeTime> {
        match self.settings.budget {
            FrameBudget::Milliseconds(ms) if self.stats.sphere_tree_pairs > 0 => {
                Some(SphereTreeTime {
                    end: self.started + self.planned(SPHERE_TREES_UNTIL) * ms * 1e-3,
                    calls: self.engine_work.boxes as u32,
                    call: self.rates.engine(self.engine_work)
                        / self.engine_work.boxes.max(1) as f64,
                    visit: self.rates.visit.get(),
                })
            }
            _ => None,
        }
    }

    /// Refines what is left to the voxels, and fills the table.
    fn refine(&mut self, colliders: &ColliderSet, reach: f32, clock: &Clock) {
        let chosen = self.choose_looked(clock);
        let sphere_tree_time = self.limit_sphere_trees();
        let Looked { looked, plain, .. } = &chosen;
        if self.detections.len() < looked.len() {
            self.detections
                .resize_with(looked.len(), Detection::default);
        }
        let colliders: Vec<&Collider> = colliders.iter().map(|(_, c)| c).collect();
        let planned = self.planned(PLANNED);
        let (pairs, bodies) = (&mut self.pairs.list, &self.bodies);
        let solids: Vec<_> = looked[..*plain]
            .iter()
            .map(|&(i, _)| {
                let pair = &pairs[i as usize];
                let (a, b) = (&bodies[pair.a as usize], &bodies[pair.b as usize]);
                sampler(colliders[b.collider].shape(), &pair.pos12, a.inner_radius)
            })
            .collect();
        let mut shared: Vec<SharedPair<'_>> = Vec::with_capacity(looked.len());
        let detections = self.detections.iter_mut();
        for ((&(i, deep), detection), k) in looked.iter().zip(detections).zip(0..) {
            detection.restart();
            let pair = &pairs[i as usize];
            let Some(tree) = &bodies[pair.a as usize].tree else {
                unreachable!("a pair without voxels is the sphere-tree method's")
            };
            let b = &bodies[pair.b as usize];
            let (other, weight) = match &b.tree {
                Some(other) => {
                    let weight = if deep { TURN_WEIGHT } else { 1.0 };
                    (Other::Tree(other, to_pose(&pair.pos12)), weight)
                }
                None => {
                    let floor = plane(colliders[b.collider].shape(), &pair.pos12);
                    let other = floor.map_or(Other::Solid(&solids[k], reach), |floor| {
                        Other::Plane(floor, reach)
                    });
                    (other, PLAIN_WEIGHT)
                }
            };
            shared.push(SharedPair {
                a: tree,
                b: other,
                weight,
                detection,
                stop: None,
            });
        }
        let scope = self.scope;
        self.stats.tests = match self.settings.budget {
            FrameBudget::Unlimited => refine_all(&mut shared, &Budget::default()),
            FrameBudget::Work(units) => {
                let both = scope == Scope::WhatDoesNotFit;
                let share = if both { VOXEL_SHARE } else { 1.0 };
                let budget = Budget {
                    tests: Some((share * units as f64) as u64),
                    ..Budget::default()
                };
                refine_all(&mut shared, &budget)
            }
            FrameBudget::Milliseconds(ms) => {
                let budget = (planned * ms * 1e-3, self.started);
                refine_in_time(&mut shared, &chosen, &mut self.rates, budget, clock)
            }
        };
        self.deep_looks = deep_looks(self.deep_looks, &shared, looked);
        let reducing = clock();
        let most = self.settings.most_groups as usize;
        let (kept_contacts, reduction) = (&mut self.kept_contacts, &mut self.reduction);
        let stats = &mut self.stats;
        self.table.write(|contents| {
            contents.complete = scope != Scope::Chosen;
            contents.sphere_tree_time = sphere_tree_time;
            contents.clock = Some(StepClock {
                seconds: Arc::clone(clock),
                thread: std::thread::current().id(),
            });
            contents.entries.clear();
            std::mem::swap(&mut contents.contacts, kept_contacts);
            contents.contacts.clear();
            let out = &mut contents.contacts;
            for (found, &(i, _)) in shared.iter().zip(looked) {
                let pair = &mut pairs[i as usize];
                let (answer, room) = reduction.contacts(found, &pair.pos12, most, stats, out);
                pair.found(answer, room);
            }
            for &i in &chosen.keeping {
                keep(&mut pairs[i as usize], kept_contacts, out);
            }
            enter(pairs, bodies, contents);
            stats.contacts = contents.contacts.len() as u64;
        });
        let reduction = clock() - reducing;
        stats.reduce = reduction * 1e3;
        self.rates
            .learn_reduction(reduction, stats.primitives as usize, looked.len());
    }
}

/// How many of the pairs that wait the next step is to see to the finest level: more, if all
/// of this step came there, fewer if not.
fn deep_looks(now: f64, shared: &[SharedPair<'_>], looked: &[(u32, bool)]) -> f64 {
    let is_open = |s: &SharedPair<'_>| !matches!(s.stop, Some(Stop::Finest | Stop::Apart));
    let mut deep = shared.iter().zip(looked).filter(|(_, looked)| looked.1);
    let next = if deep.any(|(s, _)| is_open(s)) {
        0.8 * now
    } else {
        1.1 * now + 1.0
    };
    next.clamp(LEAST_LOOKS as f64, MOST_LOOKS)
}

/// Refines pairs in a budget of seconds since the step was started, those with plain shapes
/// first. Returns the tests made.
fn refine_in_time(
    shared: &mut [SharedPair<'_>],
    chosen: &Looked,
    rates: &mut StageRates,
    (budget, started): (f64, f64),
    clock: &Clock,
) -> u64 {
    let (floors, others) = shared.split_at_mut(chosen.plain);
    let mut so_far = Progress::default();
    for (pairs, share, least) in [(floors, PLAIN_SHARE, 0), (others, 0.0, LEAST_TESTS)] {
        let least = least + pairs.len() as u64;
        let (begun, roots) = (clock(), pairs.len() as f64);
        let mut first = true;
        let now = refine_while(pairs, &Budget::default(), &mut |progress| {
            let in_hand = so_far.in_hand + progress.in_hand;
            let reduction = rates.reduction(in_hand, chosen.looked.len());
            let now = clock();
            // It is asked first when all roots are tested.
            if std::mem::take(&mut first) {
                rates.root.learn(now - begun, roots, 50.0);
            }
            let spent = now - started;
            progress.tests < least
                || spent < share * budget
                || spent + reduction + chosen.after < budget
        });
        so_far.tests += now.tests;
        so_far.in_hand += now.in_hand;
    }
    so_far.tests
}

/// Takes the contacts of the last step over, with the distances that they have now.
fn keep(pair: &mut Pair, before: &[PairContact], into: &mut Vec<PairContact>) {
    let Answer::Contacts {
        first,
        count,
        level,
    } = pair.answer
    else {
        return;
    };
    let now = into.len() as u32;
    let contacts = &before[first as usize..(first + count) as usize];
    into.extend(contacts.iter().map(|contact| {
        let apart = pair.pos12.transform_point(contact.point2) - contact.point1;
        PairContact {
            distance: apart.dot(contact.normal1),
            ..*contact
        }
    }));
    pair.answer = Answer::Contacts {
        first: now,
        count,
        level,
    };
}

/// Enters all pairs into the table. Those that are apart need not be in it where whatever
/// is not in it has no contacts.
fn enter(pairs: &mut [Pair], bodies: &[Body], contents: &mut Contents) {
    for (i, pair) in pairs.iter_mut().enumerate() {
        let answer = match pair.answer {
            Answer::SphereTree => table::Answer::Kept,
            _ if pair.by_sphere_tree => {
                pair.answer = Answer::None;
                table::Answer::SphereTree
            }
            Answer::Contacts { first, count, .. } => table::Answer::Voxels(first, count),
            Answer::Apart | Answer::None if contents.complete => continue,
            Answer::Apart | Answer::None => table::Answer::Voxels(0, 0),
        };
        contents.entries.push(Entry {
            keys: [pair.a, pair.b].map(|b| bodies[b as usize].key),
            pos12: pair.pos12,
            answer,
            pair: i as u32,
        });
    }
    contents.index();
}
