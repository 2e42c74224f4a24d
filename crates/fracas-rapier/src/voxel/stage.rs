//! Before the engine's step: every pair gets its contacts, within one budget.
//!
//! Steps: bodies that broke have their voxels re-labelled -> boxes that overlap make
//! pairs -> those whose voxels lie in boxes apart are dropped -> which pairs the main
//! method takes (both at once only) -> all others are refined, plain shapes first and
//! then the most needy -> contacts are reduced and put in the table.
//!
//! A budget of time: refinement asks the clock every few hundred tests, and ends when
//! what is left is what reducing the cubes in hand and the engine's own stage will
//! take, by the rates of the steps so far.
//!
//! Both at once: what the main method will cost is predicted by what it cost in the
//! last step (for a new pair: all points of the smaller body). The cheapest pairs come
//! first, as long as their predicted cost fits; a share of the budget is kept for the
//! voxels of the others.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use fracas::voxel_tree::{
    Averaging, Budget, Detection, FragmentVoxels, GroupContact, Grouping, ObjectVoxels, Other,
    Primitive, Progress, SharedPair, SplitScratch, Stop, VoxTree, primitive, primitive_against,
    reduce, refine_all, refine_while, roots_overlap,
};
use fracas::{FragmentId, TetMesh};
use glam::{Mat3, Vec3};
use parry3d::bounding_volume::{Aabb, BoundingVolume as _};
use parry3d::math::Pose;
use rapier3d::prelude::{Collider, ColliderSet, RigidBodyHandle, RigidBodySet};

use super::pace::{Load, Pace};
use super::sampler::sampler;
use super::table::{Answer, Entry, ShapeKey, VoxelTable, key_of};
use super::{FrameBudget, POINT_WORK, VoxelSettings, VoxelStats};
use crate::manifold::{Feature, PairContact};
use crate::shape::FragmentShape;

/// Which pairs get voxel contacts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// All pairs with a fragment.
    All,
    /// Those that the main method does not fit.
    WhatDoesNotFit,
    /// Pairs with a chosen body.
    Chosen,
}

/// Of the budget, kept for voxels where the main method comes first.
const VOXEL_SHARE: f64 = 0.35;

/// Of a time budget, planned with: rates are estimates.
const PLANNED: f64 = 0.6;

/// A plain shape is refined as if its cubes were this much larger, so to the finest
/// level before any other pair. Floors are cheap, and coarse contacts do not push: a
/// body that has sunk into a floor seen coarsely would stay there.
const PLAIN_WEIGHT: f32 = 1000.0;

/// Of a time budget, what floors may take whatever the rest is expected to cost.
const PLAIN_SHARE: f64 = 0.4;

/// Where pairs are many no step can see all of them finely. So a pair that was not seen
/// finely and has not moved keeps what it has until its turn comes, one step in this
/// many; and of the pairs that are looked at, one in this many goes before the others.
/// What is then found (apart, or contacts of the finest level) holds until it has moved,
/// and leaves room for the others.
const TURNS: u64 = 8;

/// How much larger the cubes of such a pair count: enough to come to the finest level.
const TURN_WEIGHT: f32 = 100.0;

/// Tests that are made whatever the time: so that a crowd that leaves no time is seen
/// through, pair by pair, rather than stay as it is.
const LEAST_TESTS: u64 = 2000;

/// Contacts are kept, by their points on both bodies, until
/// the pair has moved by this share of a voxel.
const KEPT_MOTION: f32 = 0.1;

/// Voxels of a piece.
struct Piece {
    voxels: FragmentVoxels,
    tree: Arc<VoxTree>,
    seen: u64,
}

/// A piece by its object and fragment.
type PieceKey = (usize, FragmentId);

/// One collider of this step.
struct Body {
    key: ShapeKey,
    place: Pose,
    bounds: Aabb,
    parent: Option<RigidBodyHandle>,
    moves: bool,
    tree: Option<Arc<VoxTree>>,
    chosen: bool,
    points: u32,
    inner_radius: f32,
    collider: usize,
    /// The collider's handle, as one number.
    name: u64,
    /// How far the voxels reach from the origin of the shape's frame.
    radius: f32,
}

/// What names a pair from step to step: colliders, and the shapes they had.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct PairName {
    colliders: [u64; 2],
    shapes: [ShapeKey; 2],
}

/// An answer that holds until the pair has moved by `room`.
#[derive(Clone, Copy)]
struct Known {
    name: PairName,
    pos12: Pose,
    room: f32,
    /// Whether it cannot be seen more finely.
    finished: bool,
    /// Its contacts among those of the last step: first and number.
    contacts: (u32, u32),
}

impl Known {
    fn find(known: &[Self], name: &PairName) -> Option<Self> {
        // Colliders alone give the order: addresses are compared, never ordered by.
        let at = known.partition_point(|k| k.name.colliders < name.colliders);
        known.get(at).filter(|k| k.name == *name).copied()
    }

    /// Whether B, whose points are within `radius` of its origin, has moved less.
    fn holds(&self, pos12: &Pose, radius: f32) -> bool {
        moved(&self.pos12, pos12, radius) < self.room
    }
}

/// How far points within `radius` of the origin may have moved between two poses.
fn moved(before: &Pose, now: &Pose, radius: f32) -> f32 {
    let [a, b] = [before.rotation, now.rotation].map(|q| [q.x, q.y, q.z, q.w]);
    let turn = |sign: f32| (0..4).map(|i| (a[i] - sign * b[i]).powi(2)).sum::<f32>();
    // Rotations by an angle t differ by 2 sin(t / 2), their quaternions by 2 sin(t / 4).
    let turn = 2.0 * turn(1.0).min(turn(-1.0)).sqrt();
    (before.translation - now.translation).length() + turn * radius
}

/// A pair of this step.
#[derive(Clone, Copy)]
struct Pair {
    a: usize,
    b: usize,
    main: bool,
}

/// Everything that voxel contacts keep between steps.
pub(crate) struct VoxelStage {
    settings: VoxelSettings,
    scope: Scope,
    /// Objects whose pairs get voxel contacts, by their address.
    chosen: BTreeSet<usize>,
    table: Arc<VoxelTable>,
    kinds: Vec<(Arc<TetMesh>, Arc<ObjectVoxels>)>,
    pieces: BTreeMap<PieceKey, Piece>,
    split_scratch: SplitScratch,
    bodies: Vec<Body>,
    pairs: Vec<Pair>,
    load: Load,
    /// Pairs known to be apart, sorted by their colliders, and those of this step.
    apart: Vec<Known>,
    still_apart: Vec<Known>,
    /// Pairs with the contacts they have, and the contacts of the last step.
    kept: Vec<Known>,
    kept_contacts: Vec<PairContact>,
    detections: Vec<Detection>,
    primitives: Vec<Primitive>,
    groups: Vec<GroupContact>,
    costs: Vec<([ShapeKey; 2], u32)>,
    pace: Pace,
    step: u64,
    stats: VoxelStats,
    started: f64,
}

impl VoxelStage {
    pub(crate) fn new(settings: VoxelSettings, scope: Scope, table: Arc<VoxelTable>) -> Self {
        Self {
            settings,
            scope,
            chosen: BTreeSet::new(),
            table,
            kinds: Vec::new(),
            pieces: BTreeMap::new(),
            split_scratch: SplitScratch::default(),
            bodies: Vec::new(),
            pairs: Vec::new(),
            load: Load::default(),
            apart: Vec::new(),
            still_apart: Vec::new(),
            kept: Vec::new(),
            kept_contacts: Vec::new(),
            detections: Vec::new(),
            primitives: Vec::new(),
            groups: Vec::new(),
            costs: Vec::new(),
            pace: Pace::default(),
            step: 0,
            stats: VoxelStats::default(),
            started: 0.0,
        }
    }

    /// Forgets all that it has learnt, as a stage that is new does not know it.
    pub(crate) fn forget(&mut self) {
        let chosen = std::mem::take(&mut self.chosen);
        let kinds = std::mem::take(&mut self.kinds);
        *self = Self {
            chosen,
            kinds,
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

    pub(crate) fn stats(&self) -> &VoxelStats {
        &self.stats
    }

    /// Finds the contacts of the coming step. `clock` in seconds.
    pub(crate) fn prepare(
        &mut self,
        bodies: &RigidBodySet,
        colliders: &ColliderSet,
        reach: f32,
        clock: &dyn Fn() -> f64,
    ) {
        self.step += 1;
        self.stats = VoxelStats::default();
        let start = clock();
        self.gather(bodies, colliders, reach);
        self.started = clock();
        self.stats.relabel = (self.started - start) * 1e3;
        self.find_pairs();
        let found = clock() - self.started;
        self.pace
            .found_pairs(found, self.load.boxes, self.bodies.len());
        self.choose_main(clock);
        self.refine(colliders, reach, clock);
        self.stats.refine = (clock() - self.started) * 1e3;
    }

    /// Learns from the engine's own collision stage, in seconds.
    pub(crate) fn learn(&mut self, engine: f64, points: u64) {
        let contacts = self.stats.contacts as usize;
        if points == 0 {
            self.pace.learn_engine(engine, self.load, contacts);
        } else {
            let rest = self.pace.engine(self.load);
            self.pace.point.learn(engine - rest, points as f64, 200.0);
            let in_engine = engine - points as f64 * self.pace.point.get();
            self.pace.learn_engine(in_engine, self.load, contacts);
        }
    }

    /// All colliders, and the voxels of those that are fragments.
    fn gather(&mut self, bodies: &RigidBodySet, colliders: &ColliderSet, reach: f32) {
        self.bodies.clear();
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
            self.bodies.push(Body {
                key: key_of(shape),
                place,
                bounds: shape.compute_aabb(&place).loosened(reach),
                parent,
                moves: body.is_some_and(|b| b.is_dynamic() && !b.is_sleeping()),
                tree: None,
                chosen: fragment.is_some_and(|f| self.chosen.contains(&f.object().address())),
                points: fragment.map_or(0, |f| f.tree().positions().len() as u32),
                inner_radius: fragment.map_or(0.0, FragmentShape::inner_radius),
                collider: index,
                name: {
                    let (index, generation) = handle.into_raw_parts();
                    u64::from(index) << 32 | u64::from(generation)
                },
                radius: 0.0,
            });
        }
        let shapes: Vec<Option<&FragmentShape>> = colliders
            .iter()
            .map(|(_, c)| c.shape().as_shape::<FragmentShape>())
            .collect();
        for i in 0..self.bodies.len() {
            if let Some(shape) = shapes[self.bodies[i].collider] {
                self.bodies[i].tree = self.tree_of(shape, &shapes);
                self.bodies[i].radius = self.bodies[i].tree.as_ref().map_or(0.0, |t| t.radius());
            }
        }
        let step = self.step;
        self.pieces.retain(|_, piece| piece.seen == step);
    }

    /// The tree of a piece; of a new one, with all that broke off with it.
    fn tree_of(
        &mut self,
        shape: &FragmentShape,
        shapes: &[Option<&FragmentShape>],
    ) -> Option<Arc<VoxTree>> {
        let key = (shape.object().address(), shape.id());
        if let Some(piece) = self.pieces.get_mut(&key) {
            piece.seen = self.step;
            return Some(piece.tree.clone());
        }
        let state = shape.object().read();
        let fragments = state.fragments();
        let kind = self.kind_of(fragments.mesh())?;
        // The nearest ancestor whose voxels are known; the unbroken object at last.
        let ancestor_of = |id: FragmentId| {
            let mut at = id;
            while let Some(parent) = fragments.fragment(at).parent() {
                if self.pieces.contains_key(&(key.0, parent)) {
                    return Some(parent);
                }
                at = parent;
            }
            None
        };
        let ancestor = ancestor_of(shape.id());
        let new: Vec<FragmentId> = shapes
            .iter()
            .flatten()
            .filter(|s| s.object().is(shape.object()))
            .map(|s| s.id())
            .filter(|&id| {
                !self.pieces.contains_key(&(key.0, id))
                    && id != FragmentId(0)
                    && ancestor_of(id) == ancestor
            })
            .collect();
        let made = if shape.id() == FragmentId(0) {
            vec![(FragmentId(0), kind.whole().clone())]
        } else {
            let parent = ancestor.and_then(|a| self.pieces.get(&(key.0, a)));
            let before = parent.map_or(kind.whole(), |p| &p.voxels);
            let split = kind.split(fragments, before, &new, &mut self.split_scratch);
            new.into_iter().zip(split).collect()
        };
        for (id, voxels) in made {
            let tree = VoxTree::build(&kind.grid(&voxels), self.settings.branching);
            let piece = Piece {
                voxels,
                tree: Arc::new(tree),
                seen: self.step,
            };
            self.pieces.insert((key.0, id), piece);
        }
        self.pieces.get(&key).map(|piece| piece.tree.clone())
    }

    /// The voxels of a kind of object, computed when the first of it appears.
    fn kind_of(&mut self, mesh: &Arc<TetMesh>) -> Option<Arc<ObjectVoxels>> {
        let known = self.kinds.iter().find(|(m, _)| Arc::ptr_eq(m, mesh));
        if let Some((_, voxels)) = known {
            return Some(voxels.clone());
        }
        let positions = mesh.positions().iter();
        let low = positions.clone().fold(Vec3::INFINITY, |a, &b| a.min(b));
        let high = positions.fold(Vec3::NEG_INFINITY, |a, &b| a.max(b));
        let cell = (high - low).max_element() / self.settings.resolution.max(2) as f32;
        // A mesh that cannot be voxelised keeps the main method.
        let voxels = Arc::new(ObjectVoxels::build(mesh, cell).ok()?);
        self.kinds.push((mesh.clone(), voxels.clone()));
        Some(voxels)
    }

    /// Boxes that overlap, by sweeping along x; pairs in order of their colliders.
    fn find_pairs(&mut self) {
        self.pairs.clear();
        self.load = Load::default();
        let bodies = &self.bodies;
        let mut order: Vec<usize> = (0..bodies.len()).collect();
        order.sort_by(|&i, &j| {
            let x = |k: usize| bodies[k].bounds.mins.x;
            x(i).total_cmp(&x(j)).then(i.cmp(&j))
        });
        let mut open: Vec<usize> = Vec::new();
        for &i in &order {
            let body = &bodies[i];
            open.retain(|&j| bodies[j].bounds.maxs.x >= body.bounds.mins.x);
            for &j in &open {
                let other = &bodies[j];
                let fragment = body.points > 0 || other.points > 0;
                let wanted = match self.scope {
                    Scope::All | Scope::WhatDoesNotFit => true,
                    Scope::Chosen => body.chosen || other.chosen,
                };
                let same = body.parent.is_some() && body.parent == other.parent;
                if fragment
                    && wanted
                    && !same
                    && (body.moves || other.moves)
                    && body.bounds.intersects(&other.bounds)
                {
                    self.load.boxes += 1;
                    // The one with voxels is A; of two the earlier.
                    let (a, b) = if i < j { (i, j) } else { (j, i) };
                    let (a, b) = if bodies[a].tree.is_some() {
                        (a, b)
                    } else {
                        (b, a)
                    };
                    // A fragment that could not be voxelised keeps the main method.
                    let plain = |k: usize| bodies[k].points > 0 && bodies[k].tree.is_none();
                    let main = plain(a) || plain(b);
                    let (a_tree, b_tree) = (&bodies[a].tree, &bodies[b].tree);
                    if let (Some(a_tree), Some(b_tree)) = (a_tree, b_tree) {
                        let pos12 = bodies[a].place.inv_mul(&bodies[b].place);
                        let known = Known::find(&self.apart, &name_of(bodies, a, b));
                        if let Some(known) = known
                            && known.holds(&pos12, bodies[b].radius)
                        {
                            self.still_apart.push(known);
                            self.stats.apart += 1;
                            continue;
                        }
                        if !roots_overlap(a_tree, b_tree, &to_pose(&pos12)) {
                            self.stats.apart += 1;
                            continue;
                        }
                    }
                    self.pairs.push(Pair { a, b, main });
                }
            }
            open.push(i);
        }
        self.pairs.sort_unstable_by_key(|p| (p.a, p.b));
        std::mem::swap(&mut self.apart, &mut self.still_apart);
        self.still_apart.clear();
    }

    /// Both at once: leaves to the main method what fits.
    fn choose_main(&mut self, clock: &dyn Fn() -> f64) {
        if self.scope != Scope::WhatDoesNotFit {
            return;
        }
        self.table.take_costs(&mut self.costs);
        let engine = self.pace.engine(Load {
            voxel_pairs: 0,
            ..self.load
        });
        let mut room = match self.settings.budget {
            FrameBudget::Unlimited => u64::MAX,
            FrameBudget::Work(units) => ((1.0 - VOXEL_SHARE) * units as f64) as u64 / POINT_WORK,
            FrameBudget::Milliseconds(ms) => {
                let left = PLANNED * ms * 1e-3 - engine - (clock() - self.started);
                ((1.0 - VOXEL_SHARE) * left.max(0.0) / self.pace.point.get()) as u64
            }
        };
        let (bodies, costs) = (&self.bodies, &self.costs);
        let predicted = |pair: &Pair| {
            let (a, b) = (&bodies[pair.a], &bodies[pair.b]);
            let known = [[a.key, b.key], [b.key, a.key]]
                .into_iter()
                .find_map(|keys| {
                    let at = costs.partition_point(|c| c.0 < keys);
                    costs
                        .get(at)
                        .filter(|c| c.0 == keys)
                        .map(|c| u64::from(c.1))
                });
            // A new pair: every point of the smaller body (of the only one) is asked.
            let all = match (a.points, b.points) {
                (n, 0) | (0, n) => n,
                (n, m) => n.min(m),
            };
            known.unwrap_or(u64::from(all)).max(1)
        };
        let mut order: Vec<(u64, usize)> = self
            .pairs
            .iter()
            .enumerate()
            .map(|(i, pair)| (predicted(pair), i))
            .collect();
        order.sort_unstable();
        for (cost, i) in order {
            if cost > room {
                break;
            }
            room -= cost;
            self.pairs[i].main = true;
        }
        self.stats.main_pairs = self.pairs.iter().filter(|p| p.main).count() as u64;
        self.stats.fallbacks = self.pairs.len() as u64 - self.stats.main_pairs;
    }

    /// Refines what is left to the voxels, and fills the table.
    fn refine(&mut self, colliders: &ColliderSet, reach: f32, clock: &dyn Fn() -> f64) {
        let Self {
            bodies,
            pairs,
            detections,
            settings,
            pace,
            stats,
            ..
        } = self;
        let by_index: Vec<&Collider> = colliders.iter().map(|(_, c)| c).collect();
        let mut voxel_pairs: Vec<Pair> = pairs.iter().copied().filter(|p| !p.main).collect();
        voxel_pairs.sort_by_key(|p| bodies[p.b].tree.is_some());
        self.load.voxel_pairs = voxel_pairs.len();
        let pos12_of = |p: &Pair| bodies[p.a].place.inv_mul(&bodies[p.b].place);
        // Pairs that hardly moved keep their contacts.
        let known = std::mem::take(&mut self.kept);
        let mut keeping: Vec<(Pose, Known)> = Vec::new();
        let mut number = self.step;
        voxel_pairs.retain(|p| {
            number = number.wrapping_add(1);
            let Some(known) = Known::find(&known, &name_of(bodies, p.a, p.b)) else {
                return true;
            };
            let pos12 = pos12_of(p);
            // The floor's origin may be far off: there the body's own points are asked.
            let still = match bodies[p.b].tree {
                Some(_) => known.holds(&pos12, bodies[p.b].radius),
                None => {
                    let (before, now) = (known.pos12.inverse(), pos12.inverse());
                    moved(&before, &now, bodies[p.a].radius) < known.room
                }
            };
            let keeps = still && (known.finished || !number.is_multiple_of(TURNS));
            if keeps {
                keeping.push((pos12, known));
            }
            !keeps
        });
        let placed: Vec<Pose> = voxel_pairs.iter().map(pos12_of).collect();
        detections.resize_with(voxel_pairs.len(), Detection::default);
        detections.iter_mut().for_each(Detection::restart);
        let solids: Vec<_> = voxel_pairs
            .iter()
            .zip(&placed)
            .take_while(|(p, _)| bodies[p.b].tree.is_none())
            .map(|(p, pos12)| {
                let (a, b) = (&bodies[p.a], &bodies[p.b]);
                sampler(by_index[b.collider].shape(), pos12, a.inner_radius)
            })
            .collect();
        let mut shared: Vec<SharedPair<'_>> = Vec::with_capacity(voxel_pairs.len());
        for (i, detection) in detections.iter_mut().enumerate() {
            let (a, b) = (&bodies[voxel_pairs[i].a], &bodies[voxel_pairs[i].b]);
            let Some(tree) = &a.tree else { continue };
            let (other, weight) = match &b.tree {
                Some(other) => {
                    let turn = (i as u64).wrapping_add(self.step).is_multiple_of(TURNS);
                    let weight = if turn { TURN_WEIGHT } else { 1.0 };
                    (Other::Tree(other, to_pose(&placed[i])), weight)
                }
                None => (Other::Solid(&solids[i], reach), PLAIN_WEIGHT),
            };
            shared.push(SharedPair {
                a: tree,
                b: other,
                weight,
                detection,
                stop: None,
            });
        }
        let engine = pace.engine(self.load);
        let main = self.costs.iter().map(|c| f64::from(c.1)).sum::<f64>();
        let main = if stats.main_pairs > 0 { main } else { 0.0 };
        match settings.budget {
            FrameBudget::Unlimited => {
                stats.tests = refine_all(&mut shared, &Budget::default());
            }
            FrameBudget::Work(units) => {
                let share = if self.scope == Scope::WhatDoesNotFit {
                    VOXEL_SHARE
                } else {
                    1.0
                };
                let budget = Budget {
                    tests: Some((share * units as f64) as u64),
                    ..Budget::default()
                };
                stats.tests = refine_all(&mut shared, &budget);
            }
            FrameBudget::Milliseconds(ms) => {
                let after = engine + main * pace.point.get();
                let plain = shared
                    .iter()
                    .take_while(|p| matches!(p.b, Other::Solid(..)))
                    .count();
                let (floors, others) = shared.split_at_mut(plain);
                let mut so_far = Progress::default();
                let budget = ms * 1e-3;
                for (pairs, share, least) in [(floors, PLAIN_SHARE, 0), (others, 0.0, LEAST_TESTS)]
                {
                    let least = least + pairs.len() as u64;
                    let now = refine_while(pairs, &Budget::default(), &mut |progress| {
                        let in_hand = so_far.in_hand + progress.in_hand;
                        let reduction = pace.reduction(in_hand, voxel_pairs.len());
                        let spent = clock() - self.started;
                        progress.tests < least
                            || spent < share * budget
                            || spent + reduction + after < PLANNED * budget
                    });
                    so_far.tests += now.tests;
                    so_far.in_hand += now.in_hand;
                }
                stats.tests = so_far.tests;
            }
        }
        // What was found apart need not be looked at until it has moved.
        for ((pair, pos12), found) in voxel_pairs.iter().zip(&placed).zip(&shared) {
            if found.stop == Some(Stop::Apart) && matches!(found.b, Other::Tree(..)) {
                self.apart.push(Known {
                    name: name_of(bodies, pair.a, pair.b),
                    pos12: *pos12,
                    room: 0.99 * found.detection.gap(),
                    finished: true,
                    contacts: (0, 0),
                });
            }
        }
        self.apart
            .sort_unstable_by_key(|known| known.name.colliders);
        let reducing = clock();
        let finished = shared
            .iter()
            .filter(|p| matches!(p.stop, Some(Stop::Finest | Stop::Apart)));
        let kept_fine = keeping.iter().filter(|(_, known)| known.finished).count();
        stats.kept = keeping.len() as u64;
        stats.pairs = shared.len() as u64 + stats.kept;
        stats.finished = (finished.count() + kept_fine) as u64;
        let (primitives, groups) = (&mut self.primitives, &mut self.groups);
        let (kept, kept_contacts) = (&mut self.kept, &mut self.kept_contacts);
        let most = settings.most_groups as usize;
        let scope = self.scope;
        self.table.write(|contents| {
            contents.complete = scope != Scope::Chosen;
            contents.entries.clear();
            std::mem::swap(&mut contents.contacts, kept_contacts);
            contents.contacts.clear();
            for (pos12, mut known) in keeping {
                let (from, count) = known.contacts;
                let before = &kept_contacts[from as usize..(from + count) as usize];
                known.contacts.0 = contents.contacts.len() as u32;
                contents.contacts.extend(before.iter().map(|contact| {
                    let apart = pos12.transform_point(contact.point2) - contact.point1;
                    PairContact {
                        distance: apart.dot(contact.normal1),
                        ..*contact
                    }
                }));
                contents.entries.push(Entry {
                    keys: known.name.shapes,
                    pos12,
                    answer: Answer::Voxels(known.contacts.0, count),
                });
                kept.push(known);
            }
            for pair in pairs.iter().filter(|p| p.main) {
                contents.entries.push(Entry {
                    keys: [bodies[pair.a].key, bodies[pair.b].key],
                    pos12: bodies[pair.a].place.inv_mul(&bodies[pair.b].place),
                    answer: Answer::Main,
                });
            }
            let with_tree = voxel_pairs.iter().zip(&placed);
            let with_tree = with_tree.filter(|(p, _)| bodies[p.a].tree.is_some());
            for ((pair, pos12), found) in with_tree.zip(&shared) {
                let first = contents.contacts.len() as u32;
                primitives.clear();
                let cubes = found.detection.pairs();
                match &found.b {
                    Other::Tree(b, pose) => {
                        primitives.extend(cubes.map(|p| primitive(found.a, b, pose, p)));
                    }
                    Other::Solid(solid, _) => {
                        primitives
                            .extend(cubes.filter_map(|p| primitive_against(found.a, solid, p)));
                    }
                }
                stats.primitives += primitives.len() as u64;
                let centre_line = centre(found.a)
                    - match &found.b {
                        Other::Tree(b, pose) => pose.point(centre(b)),
                        Other::Solid(..) => centre(found.a) - Vec3::Y,
                    };
                reduce(
                    primitives,
                    Averaging::Weighted,
                    Grouping::ByRegion,
                    centre_line,
                    groups,
                );
                // Coarse contacts only stop a body: between pieces one point for each
                // pair will do. On a floor a body would turn about it.
                let one = found.stop != Some(Stop::Finest) && bodies[pair.b].tree.is_some();
                let (most, points) = if one { (1, 1) } else { (most, usize::MAX) };
                for group in groups.iter().take(most) {
                    add_contacts(group, points, pos12, &mut contents.contacts);
                }
                let count = contents.contacts.len() as u32 - first;
                contents.entries.push(Entry {
                    keys: [bodies[pair.a].key, bodies[pair.b].key],
                    pos12: *pos12,
                    answer: Answer::Voxels(first, count),
                });
                let finest = found.a.levels().last().map_or(0.0, |level| level.cell);
                if found.stop != Some(Stop::Apart) {
                    kept.push(Known {
                        name: name_of(bodies, pair.a, pair.b),
                        pos12: *pos12,
                        room: KEPT_MOTION * finest,
                        finished: found.stop == Some(Stop::Finest),
                        contacts: (first, count),
                    });
                }
            }
            contents.sort();
            kept.sort_unstable_by_key(|known| known.name.colliders);
            stats.contacts = contents.contacts.len() as u64;
        });
        let in_hand = stats.primitives as usize;
        pace.learn_reduction(clock() - reducing, in_hand, voxel_pairs.len());
    }
}

fn name_of(bodies: &[Body], a: usize, b: usize) -> PairName {
    PairName {
        colliders: [bodies[a].name, bodies[b].name],
        shapes: [bodies[a].key, bodies[b].key],
    }
}

/// The middle of a tree's content.
fn centre(tree: &VoxTree) -> Vec3 {
    tree.levels()[0]
        .nodes
        .first()
        .map_or(Vec3::ZERO, |root| 0.5 * (root.content.0 + root.content.1))
}

fn to_pose(pose: &Pose) -> fracas::Pose {
    fracas::Pose {
        rotation: Mat3::from_quat(pose.rotation),
        translation: pose.translation,
    }
}

/// A reduced contact as contacts of the pair, A being shape 1.
fn add_contacts(group: &GroupContact, points: usize, pos12: &Pose, out: &mut Vec<PairContact>) {
    for (i, span) in group.span().iter().take(points).enumerate() {
        let half = group.normal * (0.5 * span.distance);
        // Regions and place in the span name the point from step to step.
        let name = (group.group.0 << 16 ^ group.group.1 << 3) | i as u32;
        out.push(PairContact {
            point1: span.point + half,
            point2: pos12.inverse_transform_point(span.point - half),
            normal1: -group.normal,
            distance: span.distance,
            feature: Feature::OfFirst(name),
        });
    }
}
