//! Before the engine's step: every pair gets its contacts, within one budget.
//!
//! Steps: bodies that broke have their voxels re-labelled (`bodies.rs`, `pieces.rs`) -> boxes that
//! overlap make pairs, and those known to be apart are dropped (`pairs.rs`) -> which pairs
//! the sphere-tree method takes (both at once only) -> those that hardly moved keep their
//! contacts -> all others are refined, plain shapes first and then the most needy ->
//! contacts are reduced and put in the table (`table.rs`).
//!
//! A budget of time: refinement asks the clock every few hundred tests (a thousand at the most), and ends when
//! what is left is what reducing the cubes in hand and the engine's own stage will
//! take, by the rates of the steps so far (`rates.rs`).
//!
//! Both at once: what the sphere-tree method will cost is predicted by what it cost in the
//! last step that asked it (for a new pair: all points of the smaller body, or, where a clock
//! watches, some usual pairs if that is less). Cheap pairs come first, as long as
//! their predicted cost fits, and a share of the budget is kept for the voxels of the others
//! (`choose.rs`). Where a clock watches, those that were its before and those whose turn it is
//! come before them, and the share is kept only where not all fit. What was found is kept until
//! the pair has moved by a tenth of a voxel, and by half of one where there is no time.
//! Predictions fail when something breaks, so the table asks the clock again before each of them.
//!
//! Trees that are apart and may meet in the coming step are looked at where they may, after the
//! others (`Work::look_ahead`).

use std::collections::BTreeSet;
use std::sync::Arc;

use fracas_voxel::{
    Budget, Detection, Other, Progress, SharedPair, Stop, refine_all, refine_while,
};
use rapier3d::prelude::{Collider, ColliderSet, RigidBodySet};

use super::pairs::{Answer, Body, Pair, Pairs, SAFE};
use super::pieces::Pieces;
use super::rates::{EngineWork, StageRates};
use super::reduction::{KEPT_MOTION, Reduction, deepest, distance, level};
use super::sampler::{plane, sampler};
use super::table::{self, Contents, Cost, Entry, SphereTreeTime, StepClock, VoxelTable};
use super::{FrameBudget, VoxelSettings, VoxelStats};
use crate::manifold::PairContact;
use crate::pose::to_pose;

/// The engine's sets, how far it looks ahead, and the seconds of its coming step.
#[derive(Clone, Copy)]
pub(crate) struct Surroundings<'a> {
    pub(crate) bodies: &'a RigidBodySet,
    pub(crate) colliders: &'a ColliderSet,
    pub(crate) reach: f32,
    pub(crate) dt: f32,
}

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
pub(super) const VOXEL_SHARE: f64 = 0.35;

/// Of a time budget, planned with: rates are estimates.
pub(super) const PLANNED: f64 = 0.85;

/// The same where the sphere-tree method takes part: the clock watches its queries.
pub(super) const SPHERE_TREES_PLANNED: f64 = 0.85;

/// Of a time budget, planned with whatever a second engine step will cost.
const LEAST_PLANNED: f64 = 0.3;

/// Of a time budget, when the sphere-tree method's last query has to be over.
const SPHERE_TREES_UNTIL: f64 = 0.9;

/// A pair's cost may grow by so much from step to step before it is no longer predicted.
pub(super) const COST_GROWTH: f64 = 1.25;

/// A plain shape is refined to the finest level before any other pair. Floors are cheap, and
/// coarse contacts do not push: a body that has sunk into a floor seen coarsely would stay there.
const PLAIN_WEIGHT: f32 = f32::INFINITY;

/// Of what is planned with, what floors may take whatever the rest is expected to cost.
const PLAIN_SHARE: f64 = 0.6;

/// Where pairs are many no step can see all of them finely. So a pair that was not seen
/// finely and has not moved keeps what it has until its turn comes, one step in this
/// many or later; and of the pairs that are looked at, one in this many goes before the
/// others.
/// What is then found (apart, or contacts of the finest level) holds until it has moved,
/// and leaves room for the others.
pub(super) const TURNS: u64 = 8;

/// Such a pair comes to the finest level before the next.
const TURN_WEIGHT: f32 = f32::INFINITY;

/// Contacts of the finest level are better than a coarse look until the pair has moved by so many
/// voxels.
const FINE_MOTION: f32 = 2.0;

/// How often a pair that is apart is looked at in one step, where it may meet in it.
const LOOKS_AHEAD: usize = 4;

/// Tests that are made whatever the time: so that a crowd that leaves no time is seen
/// through, pair by pair, rather than stay as it is.
const LEAST_TESTS: u64 = 500;

/// Of the pairs that wait, so many are looked at whatever the time, and so many at the most.
/// In a budget of time as many as came to the finest level before: a pair that is seen
/// coarsely again has gained nothing.
pub(super) const LEAST_LOOKS: usize = 16;
const MOST_LOOKS: f64 = 1e4;

/// The world's clock, in seconds.
pub(super) type Clock = Arc<Box<dyn Fn() -> f64 + Send + Sync>>;

/// What [`VoxelStage::choose_looked`] chose, by places in the list of pairs.
pub(super) struct Looked {
    pub(super) keeping: Vec<u32>,
    /// And whether it goes before the others, to the finest level. Plain shapes first.
    pub(super) looked: Vec<(u32, bool)>,
    /// How many are with plain shapes.
    pub(super) plain: usize,
    /// Seconds that the engine's own stage will take, the sphere-tree method included.
    pub(super) after: f64,
}

/// Everything that voxel contacts keep between steps.
pub(crate) struct VoxelStage {
    pub(super) settings: VoxelSettings,
    pub(super) scope: Scope,
    /// Objects whose pairs get voxel contacts, by their address.
    pub(super) chosen: BTreeSet<usize>,
    pub(super) table: Arc<VoxelTable>,
    pub(super) pieces: Pieces,
    pub(super) bodies: Vec<Body>,
    pub(super) pairs: Pairs,
    pub(super) engine_work: EngineWork,
    /// The contacts of the last step.
    pub(super) kept_contacts: Vec<PairContact>,
    pub(super) detections: Vec<Detection>,
    pub(super) reduction: Reduction,
    pub(super) costs: Vec<(u32, Cost)>,
    /// What the sphere-tree method is expected to take in this step, in seconds.
    pub(super) sphere_tree_seconds: f64,
    /// Which of the pairs that have to wait is looked at first.
    pub(super) waiting_turn: usize,
    pub(super) rates: StageRates,
    pub(super) step: u64,
    pub(super) stats: VoxelStats,
    /// When the world's step began for the budget, in the clock's seconds: as much before now
    /// as its contacts have taken. Re-labelling is not counted.
    pub(super) started: f64,
    /// How far the engine looks ahead.
    pub(super) reach: f32,
    /// Whether something may break in this engine step, and the world's step be made again.
    pub(super) may_break: bool,
    /// How many of the pairs that wait a step sees to the finest level.
    pub(super) fine_looks: f64,
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
            fine_looks: LEAST_LOOKS as f64,
        }
    }

    /// Forgets all that it has learnt, as a stage that is new does not know it. A snapshot costs
    /// that: coarse contacts are at distance zero once more, and get new names, so the solver
    /// begins without their impulses.
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
    pub(crate) fn prepare(&mut self, around: &Surroundings<'_>, spent: f64, clock: &Clock) {
        self.step += 1;
        self.reach = around.reach;
        self.stats = VoxelStats::default();
        let start = clock();
        let relabel = self.gather(around, clock);
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
        // Of the pairs that voxels will answer as many as in the last step, until it is known.
        self.engine_work.boxes = self.pairs.list.len();
        self.stats.apart = self.pairs.apart as u64;
        let found = clock() - begun;
        self.stats.find = found * 1e3;
        self.rates
            .found_pairs(found, self.engine_work.boxes, self.bodies.len());
        self.choose_sphere_tree_pairs(clock);
        self.refine(around, clock);
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
        let predicted = self.sphere_tree_seconds;
        self.rates.predicted.learn(seconds, predicted, 1e-5);
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
        let trees = self.bodies.iter().filter_map(|b| b.tree.as_ref());
        let cells = trees.map(|tree| tree.finest_cell());
        (KEPT_MOTION * cells.fold(f32::INFINITY, f32::min)).min(self.reach)
    }

    /// Of a time budget, planned with.
    pub(super) fn planned_share(&self) -> f64 {
        match self.scope {
            Scope::WhatDoesNotFit => SPHERE_TREES_PLANNED,
            Scope::All | Scope::Chosen => PLANNED,
        }
    }

    /// The seconds of a budget that are planned with: a share of it, less what is done a second
    /// time where the step may be made again.
    pub(super) fn planned(&self, share: f64, ms: f64) -> f64 {
        let budget = ms * 1e-3;
        let again = if self.may_break {
            self.rates.engine(self.engine_work) + 1e-3 * self.stats.find
        } else {
            0.0
        };
        (share * budget - again).max(LEAST_PLANNED * budget)
    }

    /// Where a clock watches: until when the sphere-tree method may answer, and how fast it is.
    fn limit_sphere_trees(&self) -> Option<SphereTreeTime> {
        match self.settings.budget {
            FrameBudget::Milliseconds(ms) if self.scope == Scope::WhatDoesNotFit => {
                Some(SphereTreeTime {
                    end: self.started + self.planned(SPHERE_TREES_UNTIL, ms),
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
    fn refine(&mut self, around: &Surroundings<'_>, clock: &Clock) {
        let chosen = self.choose_looked(clock);
        let sphere_tree_time = self.limit_sphere_trees();
        let planned = match self.settings.budget {
            FrameBudget::Milliseconds(ms) => self.planned(self.planned_share(), ms),
            _ => f64::INFINITY,
        };
        let looked = &chosen.looked;
        if self.detections.len() < looked.len() {
            self.detections
                .resize_with(looked.len(), Detection::default);
        }
        let colliders: Vec<&Collider> = around.colliders.iter().map(|(_, c)| c).collect();
        let solids: Vec<_> = looked[..chosen.plain]
            .iter()
            .map(|&(i, _)| {
                let pair = &self.pairs.list[i as usize];
                let [a, b] = [pair.a, pair.b].map(|i| &self.bodies[i as usize]);
                sampler(colliders[b.collider].shape(), &pair.pos12, a.inner_radius)
            })
            .collect();
        let (pairs, bodies) = (&mut self.pairs.list, &self.bodies);
        let mut shared: Vec<SharedPair<'_>> = Vec::with_capacity(looked.len());
        let detections = self.detections.iter_mut();
        for ((&(i, fine), detection), k) in looked.iter().zip(detections).zip(0..) {
            detection.restart();
            let pair = &pairs[i as usize];
            let [a, b] = [pair.a, pair.b].map(|i| &bodies[i as usize]);
            let Some(tree) = &a.tree else {
                unreachable!("a pair without voxels is the sphere-tree method's")
            };
            let (other, weight) = match &b.tree {
                Some(other) => {
                    let weight = if fine { TURN_WEIGHT } else { 1.0 };
                    (Other::Tree(other, to_pose(&pair.then)), weight)
                }
                None => {
                    let reach = around.reach + pair.ahead;
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
                seeks_deep: pair.may_be_deep(tree),
                detection,
                stop: None,
            });
        }
        let mut work = Work {
            scope: self.scope,
            budget: self.settings.budget,
            planned,
            started: self.started,
            chosen: &chosen,
            rates: &mut self.rates,
            clock,
            done: Progress::default(),
        };
        work.refine(&mut shared, chosen.plain);
        self.fine_looks = fine_looks(self.fine_looks, &shared, looked);
        let of = looked.iter().map(|&(i, _)| i);
        let shared = work.look_ahead(shared.into_iter().zip(of).collect(), pairs, bodies);
        self.stats.tests = work.done.tests;
        let reducing = clock();
        let most = self.settings.most_groups as usize;
        let (kept_contacts, reduction) = (&mut self.kept_contacts, &mut self.reduction);
        let stats = &mut self.stats;
        self.table.write(|contents| {
            contents.begin(sphere_tree_time, StepClock::of_this_thread(clock));
            contents.complete = self.scope != Scope::Chosen;
            std::mem::swap(&mut contents.contacts, kept_contacts);
            contents.contacts.clear();
            let out = &mut contents.contacts;
            for (found, i) in &shared {
                let pair = &mut pairs[*i as usize];
                if keeps_fine(found, pair, bodies) {
                    stats.answered(Some(level(found)));
                    keep(pair, kept_contacts, out);
                    continue;
                }
                reduction.contacts(found, pair, (most, kept_contacts), stats, out);
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

/// Refinement within what is left of the budget.
struct Work<'a> {
    scope: Scope,
    budget: FrameBudget,
    planned: f64,
    started: f64,
    chosen: &'a Looked,
    rates: &'a mut StageRates,
    clock: &'a Clock,
    done: Progress,
}

impl Work<'_> {
    /// Refines pairs, those with plain shapes (`plain` of them) first where a clock watches.
    fn refine(&mut self, shared: &mut [SharedPair<'_>], plain: usize) {
        let tests = match self.budget {
            FrameBudget::Unlimited => refine_all(shared, &Budget::default()),
            FrameBudget::Work(units) => {
                let both = self.scope == Scope::WhatDoesNotFit;
                let share = if both { VOXEL_SHARE } else { 1.0 };
                let tests = (share * units as f64) as u64;
                let budget = Budget {
                    tests: Some(tests.saturating_sub(self.done.tests)),
                    ..Budget::default()
                };
                refine_all(shared, &budget)
            }
            FrameBudget::Milliseconds(_) => {
                let budget = self.planned;
                let (floors, others) = shared.split_at_mut(plain);
                self.refine_in_time(floors, PLAIN_SHARE, budget, 0);
                let least = if self.done.tests == 0 { LEAST_TESTS } else { 0 };
                self.refine_in_time(others, 0.0, budget, least);
                0
            }
        };
        self.done.tests += tests;
    }

    /// Refines pairs until `budget` seconds of the step are over, less what is still to come; and
    /// whatever that takes, until `share` of it are.
    fn refine_in_time(
        &mut self,
        pairs: &mut [SharedPair<'_>],
        share: f64,
        budget: f64,
        least: u64,
    ) {
        let least = least + pairs.len() as u64;
        let (begun, roots) = ((self.clock)(), pairs.len() as f64);
        let mut first = true;
        let now = refine_while(pairs, &Budget::default(), &mut |progress| {
            let in_hand = self.done.in_hand + progress.in_hand;
            let reduction = self.rates.reduction(in_hand, self.chosen.looked.len());
            let now = (self.clock)();
            // It is asked first when all roots are tested.
            if std::mem::take(&mut first) {
                self.rates.root.learn(now - begun, roots, 50.0);
            }
            let spent = now - self.started;
            progress.tests < least
                || spent < share * budget
                || spent + reduction + self.chosen.after < budget
        });
        self.done.tests += now.tests;
        self.done.in_hand += now.in_hand;
    }

    /// Pairs that are apart where they were looked at and may meet in the coming step are looked
    /// at there. Returns all, as they were seen last.
    fn look_ahead<'a>(
        &mut self,
        mut open: Vec<(SharedPair<'a>, u32)>,
        pairs: &mut [Pair],
        bodies: &[Body],
    ) -> Vec<(SharedPair<'a>, u32)> {
        let mut seen = Vec::with_capacity(open.len());
        for _ in 0..LOOKS_AHEAD {
            let mut again = Vec::new();
            let mut of = Vec::new();
            for (mut shared, i) in open {
                let pair = &mut pairs[i as usize];
                let cell = shared.a.finest_cell();
                let gap = SAFE * shared.detection.gap();
                if shared.stop == Some(Stop::Apart)
                    && let Other::Tree(_, pose) = &mut shared.b
                    && pair.advance(gap, cell, bodies)
                {
                    *pose = to_pose(&pair.then);
                    shared.detection.restart();
                    again.push(shared);
                    of.push(i);
                } else {
                    seen.push((shared, i));
                }
            }
            if again.is_empty() {
                return seen;
            }
            self.refine(&mut again, 0);
            open = again.into_iter().zip(of).collect();
        }
        seen.extend(open);
        seen
    }
}

/// How many of the pairs that wait the next step is to see to the finest level: more, if all
/// of this step came there, fewer if not.
fn fine_looks(now: f64, shared: &[SharedPair<'_>], looked: &[(u32, bool)]) -> f64 {
    let mut fine = shared.iter().zip(looked).filter(|(_, looked)| looked.1);
    let next = if fine.any(|(s, _)| !is_seen_finely(s)) {
        0.8 * now
    } else {
        1.1 * now + 1.0
    };
    next.clamp(LEAST_LOOKS as f64, MOST_LOOKS)
}

/// Whether there is nothing more to see of a pair: time for it did not run out.
fn is_seen_finely(found: &SharedPair<'_>) -> bool {
    matches!(found.stop, Some(Stop::Finest | Stop::Deep | Stop::Apart))
}

/// Whether contacts that were seen finely stay, though the pair has moved on, since there was time
/// for a coarse look only: what that tells is farther from the truth.
fn keeps_fine(found: &SharedPair<'_>, pair: &Pair, bodies: &[Body]) -> bool {
    let is_fine = matches!(
        pair.answer,
        Answer::Contacts {
            level: None,
            count: 1..,
            ..
        }
    );
    is_fine && !is_seen_finely(found) && pair.moved(bodies) < FINE_MOTION * found.a.finest_cell()
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
    into.extend(contacts.iter().map(|contact| PairContact {
        distance: distance(contact, &pair.pos12),
        ..*contact
    }));
    pair.deepest = deepest(&into[now as usize..]);
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
