//! Before the engine's step: every pair gets its contacts, within one budget.
//!
//! Steps: bodies that broke have their voxels re-labelled -> boxes that overlap make
//! pairs -> which pairs the main method takes (both at once only) -> all others are
//! refined, the most needy first -> contacts are reduced and put in the table.
//!
//! Both at once: what the main method will cost is predicted by what it cost in the
//! last step (for a new pair: all points of the smaller body). The cheapest pairs come
//! first, as long as their predicted cost fits; a share of the budget is kept for the
//! voxels of the others.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use fracas::voxel_tree::{
    Averaging, Budget, Detection, FragmentVoxels, GroupContact, Grouping, ObjectVoxels, Other,
    Primitive, SharedPair, SplitScratch, Stop, VoxTree, primitive, primitive_against, reduce,
    refine_all,
};
use fracas::{FragmentId, TetMesh};
use glam::{Mat3, Vec3};
use parry3d::bounding_volume::{Aabb, BoundingVolume as _};
use parry3d::math::Pose;
use rapier3d::prelude::{Collider, ColliderSet, RigidBodyHandle, RigidBodySet};

use super::pace::Pace;
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
const PLANNED: f64 = 0.8;

/// A plain shape is refined as if its cubes were this much larger: floors are cheap,
/// and seeing them coarsely shows most.
const PLAIN_WEIGHT: f32 = 8.0;

/// How often the clock is looked at within a step's refinement.
const ROUNDS: u64 = 6;

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
        self.choose_main(clock);
        self.refine(colliders, reach, clock);
        self.stats.refine = (clock() - self.started) * 1e3;
    }

    /// Learns from the engine's own collision stage, in seconds.
    pub(crate) fn learn(&mut self, engine: f64, points: u64) {
        let in_engine = engine - points as f64 * self.pace.point.get();
        let pairs = self.pairs.len() as f64;
        if points == 0 {
            self.pace.engine_pair.learn(engine, pairs, 4.0);
        } else {
            let rest = pairs * self.pace.engine_pair.get();
            self.pace.point.learn(engine - rest, points as f64, 200.0);
            self.pace.engine_pair.learn(in_engine, pairs, 4.0);
        }
    }

    /// All colliders, and the voxels of those that are fragments.
    fn gather(&mut self, bodies: &RigidBodySet, colliders: &ColliderSet, reach: f32) {
        self.bodies.clear();
        for (index, (_, collider)) in colliders.iter().enumerate() {
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
            });
        }
        let shapes: Vec<Option<&FragmentShape>> = colliders
            .iter()
            .map(|(_, c)| c.shape().as_shape::<FragmentShape>())
            .collect();
        for i in 0..self.bodies.len() {
            if let Some(shape) = shapes[self.bodies[i].collider] {
                self.bodies[i].tree = self.tree_of(shape, &shapes);
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
                let voxels = body.tree.is_some() || other.tree.is_some();
                let wanted = match self.scope {
                    Scope::All | Scope::WhatDoesNotFit => true,
                    Scope::Chosen => body.chosen || other.chosen,
                };
                let same = body.parent.is_some() && body.parent == other.parent;
                if voxels
                    && wanted
                    && !same
                    && (body.moves || other.moves)
                    && body.bounds.intersects(&other.bounds)
                {
                    // The one with voxels is A; of two the earlier.
                    let (a, b) = if i < j { (i, j) } else { (j, i) };
                    let (a, b) = if bodies[a].tree.is_some() {
                        (a, b)
                    } else {
                        (b, a)
                    };
                    self.pairs.push(Pair { a, b, main: false });
                }
            }
            open.push(i);
        }
        self.pairs.sort_unstable_by_key(|p| (p.a, p.b));
    }

    /// Both at once: leaves to the main method what fits.
    fn choose_main(&mut self, clock: &dyn Fn() -> f64) {
        if self.scope != Scope::WhatDoesNotFit {
            return;
        }
        self.table.take_costs(&mut self.costs);
        let engine = self.pairs.len() as f64 * self.pace.engine_pair.get();
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
            self.stats.main_pairs += 1;
        }
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
        let voxel_pairs: Vec<Pair> = pairs.iter().copied().filter(|p| !p.main).collect();
        detections.resize_with(voxel_pairs.len(), Detection::default);
        detections.iter_mut().for_each(Detection::restart);
        let placed: Vec<Pose> = voxel_pairs
            .iter()
            .map(|p| bodies[p.a].place.inv_mul(&bodies[p.b].place))
            .collect();
        let solids: Vec<_> = voxel_pairs
            .iter()
            .zip(&placed)
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
                Some(other) => (Other::Tree(other, to_pose(&placed[i])), 1.0),
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
        let engine = pairs.len() as f64 * pace.engine_pair.get();
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
                let end = self.started + PLANNED * ms * 1e-3 - engine - main * pace.point.get();
                let begin = clock();
                let planned = pace.tests_in(end - begin);
                for round in 0..ROUNDS {
                    let left = pace.tests_in(end - clock());
                    if left == 0 && round > 0 {
                        break;
                    }
                    let tests = (planned / ROUNDS + 1).min(left);
                    let made = refine_all(
                        &mut shared,
                        &Budget {
                            tests: Some(tests),
                            ..Budget::default()
                        },
                    );
                    stats.tests += made;
                    if made < tests {
                        break;
                    }
                }
                pace.test.learn(clock() - begin, stats.tests as f64, 500.0);
            }
        }
        let reducing = clock();
        stats.pairs = shared.len() as u64;
        stats.finished = shared
            .iter()
            .filter(|p| matches!(p.stop, Some(Stop::Finest | Stop::Apart)))
            .count() as u64;
        let (primitives, groups) = (&mut self.primitives, &mut self.groups);
        let most = settings.most_groups as usize;
        let scope = self.scope;
        self.table.write(|contents| {
            contents.complete = scope == Scope::All;
            contents.entries.clear();
            contents.contacts.clear();
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
                for group in groups.iter().take(most) {
                    add_contacts(group, pos12, &mut contents.contacts);
                }
                contents.entries.push(Entry {
                    keys: [bodies[pair.a].key, bodies[pair.b].key],
                    pos12: *pos12,
                    answer: Answer::Voxels(first, contents.contacts.len() as u32 - first),
                });
            }
            contents.entries.sort_by_key(|e| e.keys);
        });
        pace.primitive
            .learn(clock() - reducing, stats.primitives as f64, 200.0);
        pace.left_per_test
            .learn(stats.primitives as f64, stats.tests as f64, 500.0);
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
fn add_contacts(group: &GroupContact, pos12: &Pose, out: &mut Vec<PairContact>) {
    for (i, span) in group.span().iter().enumerate() {
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
