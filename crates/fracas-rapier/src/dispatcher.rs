//! The way into the engine: answers every question about a pair with a fragment.
//!
//! Chain it before the default one and give it to the narrow phase; see
//! [`dispatcher`]. Pairs without a fragment are answered `Unsupported`, which hands
//! them on.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use fracas_core::sphere_tree::{Motion, QueryStats};
use parry3d::math::{Pose, Real, Vector};
use parry3d::query::details::NormalConstraints;
use parry3d::query::details::ShapeCastOptions;
use parry3d::query::{
    ClosestPoints, Contact, ContactManifold, ContactManifoldsWorkspace, DefaultQueryDispatcher,
    NonlinearRigidMotion, PersistentQueryDispatcher, QueryDispatcher, ShapeCastHit,
    ShapeCastStatus, ShapeDistance, ShapeIntersection, TypedWorkspaceData, Unsupported,
    WorkspaceData,
};
use parry3d::shape::Shape;

use crate::cast::{self, Question};
use crate::convex::{self, Meeting};
use crate::manifold;
use crate::pair::{self, ContactMode, ContactSettings, Look, PairScratch};
use crate::pair_memory::PairMemory;
use crate::pair_plan::PairPlan;
use crate::pose::to_pose;
use crate::shape::FragmentShape;
use crate::trace;
use crate::voxel::{Found, VoxelTable};

/// Work that queries have done since they were last read.
#[derive(Debug, Default)]
pub struct Counters {
    pairs: AtomicU64,
    visited_points: AtomicU64,
    contacts: AtomicU64,
    solver_contacts: AtomicU64,
    /// How often voxel contacts were told to forget what they learnt.
    forgotten: AtomicU64,
}

/// What [`Counters`] held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Pairs asked.
    pub pairs: u64,
    /// Points whose distance was asked.
    pub visited_points: u64,
    /// Contacts found.
    pub contacts: u64,
    /// Contacts handed to the engine.
    pub solver_contacts: u64,
}

impl Counters {
    fn add(&self, stats: &QueryStats, solver_contacts: usize) {
        // Sums do not depend on the order in which threads add.
        self.pairs.fetch_add(1, Ordering::Relaxed);
        self.visited_points
            .fetch_add(u64::from(stats.distance_queries), Ordering::Relaxed);
        self.contacts
            .fetch_add(u64::from(stats.contacts), Ordering::Relaxed);
        self.solver_contacts
            .fetch_add(solver_contacts as u64, Ordering::Relaxed);
    }

    /// Makes voxel contacts forget, before their next step, which pairs were expensive: a saved
    /// state does not hold it.
    pub(crate) fn forget_voxels(&self) {
        self.forgotten.fetch_add(1, Ordering::Relaxed);
    }

    /// How often they were told to forget.
    pub(crate) fn forgotten(&self) -> u64 {
        self.forgotten.load(Ordering::Relaxed)
    }

    /// Reads and clears.
    pub fn take(&self) -> Counts {
        Counts {
            pairs: self.pairs.swap(0, Ordering::Relaxed),
            visited_points: self.visited_points.swap(0, Ordering::Relaxed),
            contacts: self.contacts.swap(0, Ordering::Relaxed),
            solver_contacts: self.solver_contacts.swap(0, Ordering::Relaxed),
        }
    }
}

/// Answers pairs with fragments, adaptively: what [`dispatcher`] chains. Other ways to find
/// contacts need the stages of [`crate::World`].
#[derive(Clone, Debug, Default)]
pub struct FragmentDispatcher {
    /// How contacts are found.
    pub(crate) settings: ContactSettings,
    /// Work done, shared with whoever reads it.
    pub(crate) counters: Arc<Counters>,
    /// Contacts that were found before the step: pairs in it are not asked again.
    pub(crate) voxels: Arc<VoxelTable>,
    /// Pairs that are not asked in this step.
    pub(crate) plan: Arc<PairPlan>,
}

/// The dispatcher for a narrow phase: fragments first, everything else as before.
///
/// ```
/// # use rapier3d::prelude::*;
/// let narrow_phase = NarrowPhase::with_query_dispatcher(fracas_rapier::dispatcher());
/// ```
#[must_use]
pub fn dispatcher()
-> parry3d::query::QueryDispatcherChain<FragmentDispatcher, DefaultQueryDispatcher> {
    FragmentDispatcher::default().chain(DefaultQueryDispatcher)
}

/// What a pair keeps in the engine between steps.
#[derive(Clone, Default)]
struct Workspace {
    memory: PairMemory,
    #[cfg(feature = "world")]
    saved: crate::saved_workspace::SavedWorkspace,
}

impl Workspace {
    /// What a workspace that is not ours says: one that was saved and restored tells
    /// what it was, any other is a new beginning.
    fn recover(other: &dyn WorkspaceData) -> Self {
        #[cfg(feature = "world")]
        if let Some(memory) = crate::saved_workspace::SavedWorkspace::recover(other) {
            return Self {
                memory,
                ..Self::default()
            };
        }
        let _ = other;
        Self::default()
    }
}

impl WorkspaceData for Workspace {
    #[cfg(not(feature = "world"))]
    fn as_typed_workspace_data(&self) -> TypedWorkspaceData<'_> {
        TypedWorkspaceData::Custom
    }

    /// Asked only when the engine is saved.
    #[cfg(feature = "world")]
    fn as_typed_workspace_data(&self) -> TypedWorkspaceData<'_> {
        self.saved.typed(&self.memory)
    }

    fn clone_dyn(&self) -> Box<dyn WorkspaceData> {
        Box::new(self.clone())
    }
}

thread_local! {
    static SCRATCH: RefCell<PairScratch> = RefCell::default();
}

/// A pair with a fragment, in the order it was given.
enum Pair<'a> {
    Fragments(&'a FragmentShape, &'a FragmentShape),
    First(&'a FragmentShape, &'a dyn Shape),
    Second(&'a dyn Shape, &'a FragmentShape),
}

impl<'a> Pair<'a> {
    fn of(g1: &'a dyn Shape, g2: &'a dyn Shape) -> Option<Self> {
        let [f1, f2] = [g1, g2].map(|g| g.as_shape::<FragmentShape>());
        match (f1, f2) {
            (Some(f1), Some(f2)) => Some(Self::Fragments(f1, f2)),
            (Some(f1), None) => Some(Self::First(f1, g2)),
            (None, Some(f2)) => Some(Self::Second(g1, f2)),
            (None, None) => None,
        }
    }

    /// How far to look for what is near: within a share of the radius of the smaller
    /// object that a fragment of the pair comes from.
    fn near(&self) -> f32 {
        NEAR_SHARE
            * match self {
                Self::Fragments(a, b) => a.tree().object_radius().min(b.tree().object_radius()),
                Self::First(f, _) | Self::Second(_, f) => f.tree().object_radius(),
            }
    }
}

/// Near is what is within this share of the smaller object's radius: about the distance
/// by which engines look ahead in a world of such objects.
const NEAR_SHARE: f32 = 0.025;

/// Nodes and points that a look beyond what is near may visit: enough to find the eight
/// contacts of a new pair. Four times as many make a break twice as expensive, and piles no
/// better.
const FAR_VISITS: u32 = 64;

impl FragmentDispatcher {
    /// An unbroken object that is convex is met as the engine's own shape by fragments, until
    /// it breaks. The body is the same; the questions cost less
    /// (docs/decisions/0020-whole-and-convex.md).
    fn with_whole_and_convex<'a>(&self, pair: Pair<'a>) -> Pair<'a> {
        // Other ways to find contacts are there to be compared.
        let (Pair::Fragments(f1, f2), ContactMode::Adaptive(_)) = (&pair, &self.settings.mode)
        else {
            return pair;
        };
        match (f1.convex(), f2.convex()) {
            (Some(c1), None) => Pair::Second(&**c1, f2),
            (None, Some(c2)) => Pair::First(f1, &**c2),
            (Some(_), Some(_)) | (None, None) => pair,
        }
    }

    /// Two unbroken objects that are convex, where the engine can tell what they have to do
    /// with each other: contacts of faces, or none. `None`: ask their points.
    fn meet_whole(
        &self,
        pair: &Pair<'_>,
        pos12: &Pose,
        prediction: Real,
        scratch: &mut PairScratch,
    ) -> Result<Option<QueryStats>, Unsupported> {
        let (Pair::Fragments(f1, f2), ContactMode::Adaptive(_)) = (pair, &self.settings.mode)
        else {
            return Ok(None);
        };
        let (Some(c1), Some(c2)) = (f1.convex(), f2.convex()) else {
            return Ok(None);
        };
        let near = pair.near();
        match convex::meet(pos12, &**c1, &**c2, prediction, near, scratch)? {
            Meeting::Other => return Ok(None),
            Meeting::Apart => scratch.contacts.clear(),
            Meeting::Faces => {}
        }
        Ok(Some(QueryStats {
            contacts: scratch.contacts.len() as u32,
            ..QueryStats::default()
        }))
    }

    /// Fills `scratch.contacts` for a pair, told as shapes 1 and 2 were given.
    ///
    /// The engine looks ahead as far as bodies move in a step, which can be farther than
    /// they are long. Points in so wide a reach are many, and the few that a query wants
    /// would mostly be far ones. So what is near comes first, whatever the reach; what is
    /// farther is added by a short second look.
    fn collect(
        &self,
        pair: &Pair<'_>,
        pos12: &Pose,
        look: Look,
        memory: &mut PairMemory,
        scratch: &mut PairScratch,
    ) -> Result<QueryStats, Unsupported> {
        if let Some(stats) = self.meet_whole(pair, pos12, look.reach, scratch)? {
            return Ok(stats);
        }
        let near = Look {
            reach: look.reach.min(pair.near()),
            ..look
        };
        let far = Look {
            visits: look.visits.min(FAR_VISITS),
            ..look
        };
        let [near, far] = match *pair {
            Pair::Fragments(f1, f2) => {
                let mode = &self.settings.mode;
                pair::choose_looks(pos12, f1, f2, [near, far], mode, memory)
            }
            _ => [Some(near), (near.reach < far.reach).then_some(far)],
        };
        let mut stats = QueryStats::default();
        scratch.contacts.clear();
        if let Some(near) = near {
            stats = self.collect_within(pair, pos12, near, memory, scratch)?;
        }
        if let Some(far) = far {
            stats.add(&self.look_farther(pair, pos12, far, scratch)?);
        }
        Ok(stats)
    }

    /// Adds contacts that a far look finds to those that are known.
    fn look_farther(
        &self,
        pair: &Pair<'_>,
        pos12: &Pose,
        look: Look,
        scratch: &mut PairScratch,
    ) -> Result<QueryStats, Unsupported> {
        let mut found = std::mem::take(&mut scratch.near);
        std::mem::swap(&mut found, &mut scratch.contacts);
        // What a pair remembers is about what is near.
        let memory = &mut PairMemory::default();
        let stats = self.collect_within(pair, pos12, look, memory, scratch);
        let known = found.len();
        for contact in &scratch.contacts {
            if found[..known]
                .iter()
                .all(|f| f.point_id != contact.point_id)
            {
                found.push(*contact);
            }
        }
        scratch.near = std::mem::replace(&mut scratch.contacts, found);
        stats
    }

    /// The same, all within one reach.
    fn collect_within(
        &self,
        pair: &Pair<'_>,
        pos12: &Pose,
        look: Look,
        memory: &mut PairMemory,
        scratch: &mut PairScratch,
    ) -> Result<QueryStats, Unsupported> {
        let settings = &self.settings;
        match *pair {
            Pair::Fragments(f1, f2) => Ok(pair::ask_fragments(
                pos12, f1, f2, look, settings, memory, scratch,
            )),
            Pair::First(f, g) => {
                pair::ask_fragment_and_shape(pos12, f, g, look, settings, memory, scratch)
                    .ok_or(Unsupported)
            }
            Pair::Second(g, f) => {
                let pos21 = pos12.inverse();
                let stats =
                    pair::ask_fragment_and_shape(&pos21, f, g, look, settings, memory, scratch)
                        .ok_or(Unsupported)?;
                for contact in &mut scratch.contacts {
                    contact.swap(pos12);
                }
                Ok(stats)
            }
        }
    }

    /// Points of both shapes that lie inside the other, and how deep the deepest does
    /// (zero if none): every point is asked. `None` when neither is a fragment.
    #[must_use]
    #[cfg_attr(feature = "research", visibility::make(pub))]
    pub(crate) fn overlap(
        &self,
        pos12: &Pose,
        g1: &dyn Shape,
        g2: &dyn Shape,
    ) -> Option<(u32, f32)> {
        let pair = Pair::of(g1, g2)?;
        let measuring = Self {
            settings: ContactSettings::measuring(),
            ..Self::default()
        };
        SCRATCH.with_borrow_mut(|scratch| {
            measuring
                .collect_within(
                    &pair,
                    pos12,
                    Look::within(0.0),
                    &mut PairMemory::default(),
                    scratch,
                )
                .ok()?;
            let inside = scratch.contacts.iter().filter(|c| c.distance < 0.0);
            let deepest = inside.clone().map(|c| -c.distance).fold(0.0, f32::max);
            Some((inside.count() as u32, deepest))
        })
    }

    /// The deepest contact of a pair.
    fn deepest(
        &self,
        pos12: &Pose,
        g1: &dyn Shape,
        g2: &dyn Shape,
        reach: Real,
    ) -> Result<Option<Contact>, Unsupported> {
        let pair = Pair::of(g1, g2).ok_or(Unsupported)?;
        SCRATCH.with_borrow_mut(|scratch| {
            let full = Self {
                settings: ContactSettings {
                    mode: ContactMode::Full,
                    ..self.settings
                },
                ..Self::default()
            };
            let look = Look::within(reach);
            full.collect_within(&pair, pos12, look, &mut PairMemory::default(), scratch)?;
            let mut best: Option<&manifold::PairContact> = None;
            for contact in &scratch.contacts {
                if best.is_none_or(|b| contact.distance < b.distance) {
                    best = Some(contact);
                }
            }
            Ok(best.map(|c| {
                let normal2 = pos12.rotation.inverse() * -c.normal1;
                Contact::new(c.point1, c.point2, c.normal1, normal2, c.distance)
            }))
        })
    }
}

impl<M, C> PersistentQueryDispatcher<M, C> for FragmentDispatcher
where
    M: Default + Clone + Send + Sync,
    C: Default + Copy + Send + Sync,
{
    fn contact_manifolds(
        &self,
        pos12: &Pose,
        g1: &dyn Shape,
        g2: &dyn Shape,
        prediction: Real,
        manifolds: &mut Vec<ContactManifold<M, C>>,
        workspace: &mut Option<ContactManifoldsWorkspace>,
    ) -> Result<(), Unsupported> {
        let pair = self.with_whole_and_convex(Pair::of(g1, g2).ok_or(Unsupported)?);
        let _span = span_of(g1, g2);
        // Always kept: more than one manifold without a workspace breaks the solver.
        let kept = workspace.get_or_insert_with(|| Workspace::default().into());
        if kept.0.downcast_ref::<Workspace>().is_none() {
            *kept = Workspace::recover(&*kept.0).into();
        }
        let ours = kept
            .0
            .downcast_mut::<Workspace>()
            .expect("it was just put there");
        #[cfg(feature = "world")]
        ours.saved.clear();
        if self.plan.waits(g1, g2) {
            ours.memory.forget_question();
            manifold::carry_on(manifolds, pos12);
            let points = manifolds.iter().map(|m| m.points.len()).sum();
            self.counters.add(&QueryStats::default(), points);
            return Ok(());
        }
        SCRATCH.with_borrow_mut(|scratch| {
            let stats = match self.voxels.look_up(pos12, g1, g2, &mut scratch.contacts) {
                Found::Contacts => QueryStats {
                    contacts: scratch.contacts.len() as u32,
                    ..QueryStats::default()
                },
                Found::SphereTree(Some(late))
                    if late.late && manifold::carry_on(manifolds, pos12) =>
                {
                    self.voxels.note_cost(&late, 0, 0);
                    let points = manifolds.iter().map(|m| m.points.len()).sum();
                    self.counters.add(&QueryStats::default(), points);
                    return Ok(());
                }
                Found::SphereTree(None) if ours.memory.repeats(pos12, prediction) => {
                    // The points of the last step are those of this one: nothing is asked.
                    let points: usize = manifolds.iter().map(|m| m.points.len()).sum();
                    let solver = &self.counters.solver_contacts;
                    solver.fetch_add(points as u64, Ordering::Relaxed);
                    return Ok(());
                }
                Found::SphereTree(asked) => {
                    let visits = asked.and_then(|a| a.visits);
                    let look = Look {
                        reach: prediction,
                        visits: visits.unwrap_or(u32::MAX),
                    };
                    let stats = self.collect(&pair, pos12, look, &mut ours.memory, scratch)?;
                    self.plan.note(g1, g2, stats.distance_queries);
                    if let Some(asked) = asked {
                        let [points, nodes] = [stats.distance_queries, stats.nodes_visited];
                        self.voxels.note_cost(&asked, points, nodes);
                    }
                    stats
                }
            };
            let inverse = pos12.rotation.inverse();
            let PairScratch {
                contacts, groups, ..
            } = scratch;
            manifold::write(
                contacts,
                self.settings.solver_points,
                |v| inverse * v,
                manifolds,
                groups,
            );
            self.counters
                .add(&stats, manifolds.iter().map(|m| m.points.len()).sum());
            Ok(())
        })
    }

    fn contact_manifold_convex_convex(
        &self,
        _: &Pose,
        _: &dyn Shape,
        _: &dyn Shape,
        _: Option<&dyn NormalConstraints>,
        _: Option<&dyn NormalConstraints>,
        _: Real,
        _: &mut ContactManifold<M, C>,
    ) -> Result<(), Unsupported> {
        // Fragments are not convex.
        Err(Unsupported)
    }
}

impl QueryDispatcher for FragmentDispatcher {
    fn intersection_test(
        &self,
        pos12: &Pose,
        g1: &dyn Shape,
        g2: &dyn Shape,
    ) -> Result<ShapeIntersection, Unsupported> {
        let found = self.deepest(pos12, g1, g2, 0.0)?;
        Ok(ShapeIntersection::new(
            found.is_some_and(|contact| contact.dist <= 0.0),
        ))
    }

    fn distance(
        &self,
        pos12: &Pose,
        g1: &dyn Shape,
        g2: &dyn Shape,
    ) -> Result<ShapeDistance, Unsupported> {
        // Wide enough to reach from anywhere to anywhere.
        let reach = reach_of(pos12, g1, g2);
        let found = self.deepest(pos12, g1, g2, reach)?;
        Ok(ShapeDistance::new(
            found.map_or(reach, |contact| contact.dist.max(0.0)),
        ))
    }

    fn contact(
        &self,
        pos12: &Pose,
        g1: &dyn Shape,
        g2: &dyn Shape,
        prediction: Real,
    ) -> Result<Option<Contact>, Unsupported> {
        self.deepest(pos12, g1, g2, prediction)
    }

    fn closest_points(
        &self,
        pos12: &Pose,
        g1: &dyn Shape,
        g2: &dyn Shape,
        max_dist: Real,
    ) -> Result<ClosestPoints, Unsupported> {
        Ok(match self.deepest(pos12, g1, g2, max_dist)? {
            Some(contact) if contact.dist <= 0.0 => ClosestPoints::Intersecting,
            Some(contact) => ClosestPoints::WithinMargin(contact.point1, contact.point2),
            None => ClosestPoints::Disjoint,
        })
    }

    fn cast_shapes(
        &self,
        pos12: &Pose,
        vel12: Vector,
        g1: &dyn Shape,
        g2: &dyn Shape,
        options: ShapeCastOptions,
    ) -> Result<Option<ShapeCastHit>, Unsupported> {
        let rest = NonlinearRigidMotion::identity();
        let moving = NonlinearRigidMotion::new(*pos12, Vector::ZERO, vel12, Vector::ZERO);
        let times = [0.0, options.max_time_of_impact];
        let hit = cast(Question::Touches, [&rest, &moving], [g1, g2], times)?;
        Ok(hit.filter(|hit| options.stop_at_penetration || hit.time_of_impact > 0.0))
    }

    fn cast_shapes_nonlinear(
        &self,
        motion1: &NonlinearRigidMotion,
        g1: &dyn Shape,
        motion2: &NonlinearRigidMotion,
        g2: &dyn Shape,
        start_time: Real,
        end_time: Real,
        stop_at_penetration: bool,
    ) -> Result<Option<ShapeCastHit>, Unsupported> {
        // The engine asks for the latter to keep bodies from passing through each other.
        let question = if stop_at_penetration {
            Question::Touches
        } else {
            Question::GoesThrough
        };
        let times = [start_time, end_time];
        cast(question, [motion1, motion2], [g1, g2], times)
    }
}

/// Asks about two shapes that move from a start time to an end time.
fn cast(
    question: Question,
    [motion1, motion2]: [&NonlinearRigidMotion; 2],
    [g1, g2]: [&dyn Shape; 2],
    [start_time, end_time]: [Real; 2],
) -> Result<Option<ShapeCastHit>, Unsupported> {
    let [m1, m2] = [motion1, motion2].map(|m| to_motion(m, start_time, end_time));
    let hit = match Pair::of(g1, g2).ok_or(Unsupported)? {
        Pair::Fragments(f1, f2) => cast::fragments(question, f1, &m1, f2, &m2),
        Pair::First(f, g) => cast::at_shape(question, f, &m1, g, &m2)?.map(|(t, n)| (t, -n)),
        Pair::Second(g, f) => cast::at_shape(question, f, &m2, g, &m1)?,
    };
    Ok(hit.map(|(share, normal)| {
        let time = start_time + share * (end_time - start_time);
        // `normal` points from 1 to 2, in the world, at the time of the impact.
        let [turn1, turn2] = [motion1, motion2].map(|m| m.position_at_time(time).rotation);
        ShapeCastHit {
            time_of_impact: time,
            witness1: Vector::ZERO,
            witness2: Vector::ZERO,
            normal1: turn1.inverse() * normal,
            normal2: turn2.inverse() * -normal,
            subshape1: 0,
            subshape2: 0,
            status: if time <= start_time {
                ShapeCastStatus::PenetratingOrWithinTargetDist
            } else {
                ShapeCastStatus::Converged
            },
        }
    }))
}

fn to_motion(motion: &NonlinearRigidMotion, start_time: f32, end_time: f32) -> Motion {
    let span = end_time - start_time;
    Motion {
        start: to_pose(&motion.position_at_time(start_time)),
        centre: motion.local_center,
        displacement: motion.linvel * span,
        rotation: motion.angvel * span,
    }
}

fn reach_of(pos12: &Pose, g1: &dyn Shape, g2: &dyn Shape) -> f32 {
    let radius = |g: &dyn Shape| {
        let sphere = g.compute_local_bounding_sphere();
        sphere.center().length() + sphere.radius()
    };
    (pos12.translation.length() + radius(g1) + radius(g2)).min(1e6)
}

/// The query of a pair: fragments by their numbers, other shapes without.
#[inline]
fn span_of(g1: &dyn Shape, g2: &dyn Shape) -> trace::Open {
    trace::span("pair", || {
        let of = |name, g: &dyn Shape| {
            let fragment = g.as_shape::<FragmentShape>();
            fragment.map_or(("", 0), |f| (name, u64::from(f.id().0)))
        };
        [of("fragment1", g1), of("fragment2", g2)]
    })
}
