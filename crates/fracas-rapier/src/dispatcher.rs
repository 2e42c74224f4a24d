//! The way into the engine: answers every question about a pair with a fragment.
//!
//! Chain it before the default one and give it to the narrow phase; see
//! [`dispatcher`]. Pairs without a fragment are answered `Unsupported`, which hands
//! them on.

use std::cell::RefCell;
use std::sync::Arc;

use fracas_core::sphere_tree::QueryStats;
use parry3d::math::{Pose, Real, Vector};
use parry3d::query::details::NormalConstraints;
use parry3d::query::details::ShapeCastOptions;
use parry3d::query::{
    ClosestPoints, Contact, ContactManifold, ContactManifoldsWorkspace, DefaultQueryDispatcher,
    NonlinearRigidMotion, PersistentQueryDispatcher, QueryDispatcher, ShapeCastHit, ShapeDistance,
    ShapeIntersection, Unsupported,
};
use parry3d::shape::Shape;

use crate::cast::{Question, cast};
use crate::counters::Counters;
use crate::looks::{find_contacts, with_whole_and_convex};
use crate::manifold::{self, PairContact};
use crate::pair::{ContactMode, ContactSettings, Look, Pair, PairScratch};
use crate::pair_memory::PairMemory;
use crate::pair_plan::PairPlan;
use crate::prepared::{PairQuestion, PreparedAnswers, Version, keys_of};
use crate::shape::FragmentShape;
use crate::trace;
use crate::voxel::{Found, VoxelTable};
use crate::workspace::Workspace;

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
    /// Answers that were found before the step.
    pub(crate) prepared: Arc<PreparedAnswers>,
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

thread_local! {
    static SCRATCH: RefCell<PairScratch> = RefCell::default();
}

impl FragmentDispatcher {
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
        let (look, settings) = (Look::within(0.0), ContactSettings::measuring());
        let memory = &mut PairMemory::default();
        SCRATCH.with_borrow_mut(|scratch| {
            pair.ask(pos12, look, &settings, memory, scratch).ok()?;
            let inside = scratch.contacts.iter().filter(|c| c.distance < 0.0);
            let deepest = inside.clone().map(|c| -c.distance).fold(0.0, f32::max);
            Some((inside.count() as u32, deepest))
        })
    }

    /// Answers what the engine will ask of a pair, before it asks. `None`: not a pair of ours,
    /// or nothing to be asked anew.
    #[cfg(all(feature = "world", feature = "parallel"))]
    pub(crate) fn prepare(
        settings: &ContactSettings,
        [g1, g2]: [&dyn Shape; 2],
        question: &PairQuestion,
        mut memory: PairMemory,
    ) -> Option<crate::prepared::Answer> {
        let pair = with_whole_and_convex(Pair::of(g1, g2)?, &settings.mode);
        let _span = span_of(g1, g2);
        if memory.repeats(&question.pos12, question.reach) {
            return None;
        }
        let look = Look::within(question.reach);
        SCRATCH.with_borrow_mut(|scratch| {
            let pos12 = &question.pos12;
            let found = find_contacts(&pair, pos12, look, settings, &mut memory, scratch);
            Some(crate::prepared::Answer {
                stats: found.ok()?,
                contacts: scratch.contacts.clone(),
                memory,
            })
        })
    }

    /// Notes what a question cost. The name of what is remembered now, where it is to be known.
    fn note_asked(
        &self,
        g1: &dyn Shape,
        g2: &dyn Shape,
        stats: &QueryStats,
        memory: &PairMemory,
    ) -> Option<Version> {
        self.plan.note(g1, g2, stats.distance_queries);
        self.prepared
            .note(keys_of(g1, g2), stats.distance_queries, memory)
    }

    /// Counts the contacts of a pair that was not asked.
    fn count_kept<M, C>(&self, manifolds: &[ContactManifold<M, C>]) {
        let points = manifolds.iter().map(|m| m.points.len()).sum();
        self.counters.add_kept(points);
    }

    /// Writes the contacts of a pair for the solver, and counts them.
    fn write<M, C>(
        &self,
        pos12: &Pose,
        scratch: &mut PairScratch,
        manifolds: &mut Vec<ContactManifold<M, C>>,
        stats: &QueryStats,
    ) where
        M: Default + Clone,
        C: Default + Copy,
    {
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
        let points = manifolds.iter().map(|m| m.points.len()).sum();
        self.counters.add(stats, points);
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
        let full = ContactSettings {
            mode: ContactMode::Full,
            ..self.settings
        };
        let (look, memory) = (Look::within(reach), &mut PairMemory::default());
        SCRATCH.with_borrow_mut(|scratch| {
            pair.ask(pos12, look, &full, memory, scratch)?;
            let mut best: Option<&PairContact> = None;
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
        let pair = Pair::of(g1, g2).ok_or(Unsupported)?;
        let pair = with_whole_and_convex(pair, &self.settings.mode);
        let ours = Workspace::of(workspace);
        let version = ours.version.take();
        if self.plan.waits(g1, g2) {
            ours.memory.forget_question();
            manifold::carry_on(manifolds, pos12);
            self.count_kept(manifolds);
            return Ok(());
        }
        let prepared = version.and_then(|version| {
            self.prepared.take(&PairQuestion {
                version,
                pos12: *pos12,
                reach: prediction,
            })
        });
        if let Some(answer) = prepared {
            ours.memory = answer.memory;
            ours.version = self.note_asked(g1, g2, &answer.stats, &ours.memory);
            SCRATCH.with_borrow_mut(|scratch| {
                scratch.contacts = answer.contacts;
                self.write(pos12, scratch, manifolds, &answer.stats);
            });
            return Ok(());
        }
        let _span = span_of(g1, g2);
        let memory = &mut ours.memory;
        SCRATCH.with_borrow_mut(|scratch| {
            let stats = match self.voxels.look_up(pos12, g1, g2, &mut scratch.contacts) {
                Found::Contacts => {
                    memory.forget_question();
                    QueryStats {
                        contacts: scratch.contacts.len() as u32,
                        ..QueryStats::default()
                    }
                }
                Found::SphereTree(Some(kept)) if kept.keeps && memory.was_asked() => {
                    manifold::carry_on(manifolds, pos12);
                    self.count_kept(manifolds);
                    return Ok(());
                }
                Found::SphereTree(Some(late))
                    if late.late && manifold::carry_on(manifolds, pos12) =>
                {
                    self.voxels.note_cost(&late, 0, 0);
                    let points = manifolds.iter().map(|m| m.points.len()).sum();
                    self.counters.add(&QueryStats::default(), points);
                    return Ok(());
                }
                Found::SphereTree(None) if memory.repeats(pos12, prediction) => {
                    // The points of the last step are those of this one: nothing is asked.
                    ours.version = version;
                    self.count_kept(manifolds);
                    return Ok(());
                }
                Found::SphereTree(asked) => {
                    memory.repeats(pos12, prediction);
                    let visits = asked.and_then(|a| a.visits);
                    let look = Look {
                        total: visits.unwrap_or(u32::MAX),
                        ..Look::within(prediction)
                    };
                    let stats = find_contacts(&pair, pos12, look, &self.settings, memory, scratch)?;
                    ours.version = self.note_asked(g1, g2, &stats, memory);
                    if let Some(asked) = asked {
                        let [points, nodes] = [stats.distance_queries, stats.nodes_visited];
                        self.voxels.note_cost(&asked, points, nodes);
                    }
                    stats
                }
            };
            self.write(pos12, scratch, manifolds, &stats);
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
