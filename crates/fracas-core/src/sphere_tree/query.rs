//! Contacts of a tree of points with a partner: Algorithm 1.
//!
//! Source: [Glondu 2013, section 3, Algorithm 1; sections 5.1 and 5.3]. Again and
//! again: take the next node -> test its sphere; drop it if no contact can be inside
//! -> the first time its point is seen, ask the partner; a point nearer than the
//! tolerance is a contact -> queue its children. The query ends when it has enough
//! contacts or the queue is empty. The order in which nodes are taken is told in
//! [`super::traversal`].
//!
//! | paper | here |
//! | --- | --- |
//! | epsilon, the signed tolerance | [`Query::tolerance`] |
//!
//! **Corrections**: a node is descended if d < r + tolerance (the text's r - epsilon is
//! right only for the negative tolerance of section 5.2, and only if depths are exact; here
//! they may be too large, and a negative tolerance counts as zero). **Deviations**: the
//! sphere test comes first, since it is the cheaper one and most nodes fail it. A point
//! inside its own body is a contact only if it is inside the partner too: where it comes
//! near from outside, the surface before it has long been in contact.
//!
//! **Guarantee**: with [`Selection::All`] exactly the points are found that the same
//! partner reports within the tolerance when it is asked about every point, provided
//! that its sphere test is conservative. Spheres are enlarged by a bound on the
//! rounding of the placement.

use glam::Vec3;

use super::SphereTree;
use super::cached_point::VoidList;
use super::feature::FeatureRef;
use super::normal_choice::{Choice, NormalRule, NormalSettings, choose_normal};
use super::partner::{NearFace, Partner, Sample};
use super::traversal::{
    Entry, Traversal, Visitor, alternating, clear_buckets, plain, widest_first,
};
use crate::{Contact, Pose};

/// How many contacts are wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Selection {
    /// Every point within the tolerance ("full detection").
    #[default]
    All,
    /// The first so many in the order of traversal.
    First(u32),
}

/// Settings of a query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Query {
    /// A point is a contact if its signed distance is below this: positive for
    /// contacts that are about to happen (an engine's prediction distance),
    /// negative to leave out shallow ones.
    pub tolerance: f32,
    /// How many contacts are wanted.
    pub selection: Selection,
    /// In which order nodes are visited.
    #[cfg(feature = "research")]
    pub traversal: Traversal,
    /// How the normals of contacts are chosen.
    pub normals: NormalSettings,
    /// Look at no more than so many nodes and points, for time-critical use; the rest is
    /// dropped.
    pub visit_limit: u32,
}

impl Query {
    /// All contacts within `tolerance`, normals for bodies of the given size (see
    /// [`SphereTree::object_radius`]).
    #[must_use]
    pub fn new(tolerance: f32, object_radius: f32) -> Self {
        Self {
            tolerance,
            selection: Selection::All,
            #[cfg(feature = "research")]
            traversal: Traversal::WidestFirst,
            normals: NormalSettings::for_radius(object_radius),
            visit_limit: u32::MAX,
        }
    }

    /// The orders that ours is compared with need `research`.
    pub(super) fn traversal(&self) -> Traversal {
        #[cfg(feature = "research")]
        return self.traversal;
        #[cfg(not(feature = "research"))]
        Traversal::default()
    }

    /// The same with another selection.
    #[must_use]
    pub fn select(self, selection: Selection) -> Self {
        Self { selection, ..self }
    }
}

/// Work done by one query, in units that do not depend on the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueryStats {
    /// Nodes taken from the queue.
    pub nodes_visited: u32,
    /// Spheres tested against the partner.
    pub sphere_tests: u32,
    /// Points whose distance was asked: "visited points".
    pub distance_queries: u32,
    /// Contacts found.
    pub contacts: u32,
    /// Points within the tolerance for which no normal was acceptable: they touch
    /// sideways (see [`super::normal_choice`]).
    pub normals_rejected: u32,
}

impl QueryStats {
    /// Adds another query's work.
    pub fn add(&mut self, other: &Self) {
        self.nodes_visited += other.nodes_visited;
        self.sphere_tests += other.sphere_tests;
        self.distance_queries += other.distance_queries;
        self.contacts += other.contacts;
        self.normals_rejected += other.normals_rejected;
    }
}

/// Reusable memory of queries; belongs to the caller, one per thread.
#[derive(Clone, Debug, Default)]
pub struct QueryScratch {
    current: Vec<Entry>,
    next: Vec<Entry>,
    pub(super) buckets: Vec<Vec<Entry>>,
    pub(super) faces: Vec<NearFace>,
    pub(super) void_list: VoidList,
    pub(super) shared: Vec<u32>,
}

/// What a tree of points is held against: where, what, and how.
#[derive(Debug)]
pub struct Question<'a, P: ?Sized> {
    /// Takes the frame of the points to the partner's.
    pub pose: &'a Pose,
    /// The other body.
    pub partner: &'a P,
    /// How far to look, for how many contacts, and at how much.
    pub query: &'a Query,
}

impl<'a, P: ?Sized> Question<'a, P> {
    /// All three of them.
    #[must_use]
    pub fn new(pose: &'a Pose, partner: &'a P, query: &'a Query) -> Self {
        Self {
            pose,
            partner,
            query,
        }
    }
}

impl<P: ?Sized> Clone for Question<'_, P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P: ?Sized> Copy for Question<'_, P> {}

/// A part of a query: up to how many contacts, how far, and by how much work.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stage {
    /// Contacts of this stage and those before it.
    pub limit: u32,
    pub tolerance: f32,
    /// What is added to a sphere's radius when it is tested.
    pub reach: f32,
    /// How far beyond the tolerance a point is asked that is remembered.
    pub ahead: f32,
    /// Whether depth alone counts: then whatever is outside can wait.
    pub deep: bool,
    /// Nodes and points that may be looked at: only of the deep stage is it counted.
    pub work: u32,
}

impl Stage {
    /// What is near, by as much work as it takes; `rounding` is a bound of the placement's.
    pub fn near(limit: u32, tolerance: f32, rounding: f32) -> Self {
        Self {
            limit,
            tolerance,
            // A negative tolerance does not shrink the reach: a partner may report a
            // point deeper than it is, and what it reports is what counts.
            reach: tolerance.max(0.0) + rounding,
            ahead: 0.0,
            deep: false,
            work: u32::MAX,
        }
    }
}

/// Why a query is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// All that is in reach was looked at.
    Complete,
    /// It has the contacts that were wanted.
    Enough,
    /// [`Query::visit_limit`].
    VisitLimit,
    /// Looking for deeper points goes on in the pair's next query (self-adapting selection
    /// only, see [`super::adapt`]).
    Postponed,
}

impl SphereTree {
    /// Finds contacts of this body with `partner`. `pose` takes this body's frame
    /// to the partner's, and contacts are appended to `out` in the partner's frame.
    pub fn contacts<P: Partner + ?Sized>(
        &self,
        pose: &Pose,
        partner: &P,
        query: &Query,
        scratch: &mut QueryScratch,
        out: &mut Vec<Contact>,
    ) -> QueryStats {
        let limit = match query.selection {
            Selection::All => u32::MAX,
            Selection::First(limit) => limit,
        };
        let rounding = self.placement_error(pose);
        let stages = [Stage::near(limit, query.tolerance, rounding)];
        let question = Question::new(pose, partner, query);
        self.contacts_in_stages(&question, &stages, scratch, out).0
    }

    /// Traverses once; when a stage's limit is reached, goes on with the next
    /// stage's tolerance, which must not be larger.
    pub(super) fn contacts_in_stages<P: Partner + ?Sized>(
        &self,
        question: &Question<'_, P>,
        stages: &[Stage],
        scratch: &mut QueryScratch,
        out: &mut Vec<Contact>,
    ) -> (QueryStats, End) {
        let mut run = Run::new(self, question, stages, &mut scratch.faces, out);
        match question.query.traversal() {
            Traversal::WidestFirst => {
                clear_buckets(&mut scratch.buckets);
                scratch.buckets[0].push(Entry::ROOT);
                widest_first(self, &mut scratch.buckets, &mut run);
            }
            Traversal::Alternating => {
                alternating(self, &mut scratch.current, &mut scratch.next, &mut run);
            }
            Traversal::Naive => plain(self, &mut scratch.current, &mut run),
        }
        (run.stats, run.course.end)
    }

    /// The slow and certain answer: every point is asked. Oracle of tests.
    #[cfg_attr(feature = "research", visibility::make(pub))]
    pub(crate) fn contacts_of_every_point<P: Partner + ?Sized>(
        &self,
        pose: &Pose,
        partner: &P,
        query: &Query,
        out: &mut Vec<Contact>,
    ) -> QueryStats {
        let mut faces = Vec::new();
        let rounding = self.placement_error(pose);
        let stages = [Stage::near(u32::MAX, query.tolerance, rounding)];
        let question = Question::new(pose, partner, query);
        let mut run = Run::new(self, &question, &stages, &mut faces, out);
        for point in 0..self.points.len() as u32 {
            let p = pose.point(self.positions[point as usize]);
            let max = run.farthest(point);
            if partner.sphere_may_touch(p, max) {
                run.ask(point, p, max);
            }
        }
        run.stats
    }

    /// A bound on how far rounding may move a placed point.
    pub(super) fn placement_error(&self, pose: &Pose) -> f32 {
        let (centre, radius) = self.bounding_sphere();
        8.0 * f32::EPSILON * (centre.length() + radius + pose.translation.length())
    }
}

/// What asking about a point gave.
pub(super) struct Asked {
    /// Signed, if it is inside or within what was asked for.
    pub distance: Option<f32>,
    /// What was chosen for it, where it is within the tolerance.
    pub choice: Option<Choice>,
}

/// Where a query is in its stages: first what is near, then only what is deep.
pub(super) struct Course<'a> {
    /// The stage under way: its work is what is left of it.
    pub stage: Stage,
    later: &'a [Stage],
    pub end: End,
}

impl<'a> Course<'a> {
    fn new(stages: &'a [Stage]) -> Self {
        let stage = stages[0];
        Self {
            stage,
            later: &stages[1..],
            end: if stage.limit == 0 {
                End::Enough
            } else {
                End::Complete
            },
        }
    }

    /// Counts what was looked at for deep points.
    #[inline]
    pub fn spend(&mut self, counts: bool) {
        let Stage { deep, work, .. } = &mut self.stage;
        *work = work.saturating_sub(u32::from(*deep && counts));
    }

    /// Goes on to the next stage when this one has its contacts.
    #[inline]
    fn advance(&mut self, contacts: u32) {
        if contacts < self.stage.limit {
            return;
        }
        match self.later {
            [next, later @ ..] if next.limit > contacts => {
                self.stage = *next;
                self.later = later;
            }
            _ => self.end = End::Enough,
        }
    }

    /// Whether the query is over, when so many nodes and points of a limit were looked at.
    #[inline]
    fn is_over(&mut self, looked_at: u32, visit_limit: u32) -> bool {
        if self.end == End::Complete {
            if looked_at >= visit_limit {
                self.end = End::VisitLimit;
            } else if self.stage.deep && self.stage.work == 0 {
                self.end = End::Postponed;
            }
        }
        self.end != End::Complete
    }
}

/// One query under way: tests spheres, asks points, and writes contacts down.
pub(super) struct Run<'a, P: ?Sized> {
    pub tree: &'a SphereTree,
    pub question: Question<'a, P>,
    pub course: Course<'a>,
    pub stats: QueryStats,
    pub faces: &'a mut Vec<NearFace>,
    out: &'a mut Vec<Contact>,
}

impl<'a, P: Partner + ?Sized> Run<'a, P> {
    pub fn new(
        tree: &'a SphereTree,
        question: &Question<'a, P>,
        stages: &'a [Stage],
        faces: &'a mut Vec<NearFace>,
        out: &'a mut Vec<Contact>,
    ) -> Self {
        Self {
            tree,
            question: *question,
            course: Course::new(stages),
            stats: QueryStats::default(),
            faces,
            out,
        }
    }

    /// Tests a node; `Some` with its representative's distance if its children may
    /// hold contacts. The first time that its point is seen, and is in reach, `look` tells
    /// a lower bound of its distance, if there is one.
    #[inline]
    pub fn visit_node(
        &mut self,
        entry: Entry,
        look: impl FnOnce(&mut Self, u32, Vec3) -> Option<f32>,
    ) -> Option<f32> {
        self.stats.nodes_visited += 1;
        self.course.spend(true);
        let tree = self.tree;
        let node = &tree.nodes[entry.node as usize];
        let own_reach = self.course.stage.reach;
        let reach = node.radius + own_reach;
        let known = entry.distance;
        if known.is_finite() {
            return (known < reach).then_some(known);
        }
        let p = self.question.pose.point(node.centre);
        self.stats.sphere_tests += 1;
        let partner = self.question.partner;
        if !partner.sphere_may_touch(p, reach) {
            return None;
        }
        if !known.is_nan() {
            return Some(known);
        }
        // A leaf's sphere is its point.
        let is_leaf = node.child_count == 0;
        if !is_leaf && !partner.sphere_may_touch(p, own_reach) {
            return Some(f32::INFINITY);
        }
        // What is farther than the tolerance may still be near enough for the sphere.
        look(self, node.point, p).map_or(Some(f32::INFINITY), |d| (d < reach).then_some(d))
    }

    /// Below which distance a point is a contact.
    #[inline]
    pub fn limit(&self, point: u32) -> f32 {
        if self.tree.points[point as usize].feature == FeatureRef::INTERIOR {
            self.course.stage.tolerance.min(0.0)
        } else {
            self.course.stage.tolerance
        }
    }

    /// Up to which distance to ask about a point.
    #[inline]
    pub fn farthest(&self, point: u32) -> f32 {
        let Stage { ahead, deep, .. } = self.course.stage;
        if deep {
            0.0
        } else {
            self.limit(point).max(0.0) + ahead
        }
    }

    /// Asks about a point placed at `p`, up to `max`; makes it a contact if it is one. The
    /// ball of that radius has passed the sphere test.
    #[inline]
    pub fn ask(&mut self, point: u32, p: Vec3, max: f32) -> Asked {
        self.stats.distance_queries += 1;
        let Question { partner, query, .. } = self.question;
        let normals = &query.normals;
        let is_interior = self.tree.points[point as usize].feature == FeatureRef::INTERIOR;
        let sample = if normals.rule == NormalRule::Field || is_interior {
            partner.sample(p, max)
        } else {
            partner.touch(p, max, normals.around(), self.faces)
        };
        self.answer(point, p, sample)
    }

    /// Makes a contact of what was found at a point placed at `p`, if it is one.
    #[inline]
    pub fn answer(&mut self, point: u32, p: Vec3, sample: Option<Sample>) -> Asked {
        let within = sample.filter(|sample| sample.distance < self.limit(point));
        Asked {
            distance: sample.map(|sample| sample.distance),
            choice: within.map(|sample| self.choose(point, p, &sample)),
        }
    }

    fn choose(&mut self, point: u32, p: Vec3, sample: &Sample) -> Choice {
        let choice = choose_normal(
            || self.tree.feature(point),
            self.question.pose,
            sample,
            &self.question.query.normals,
            self.faces,
        );
        match choice.contact {
            Some(sample) => self.push(point, p, &sample),
            None => self.stats.normals_rejected += 1,
        }
        choice
    }

    /// Writes a contact down.
    pub fn push(&mut self, point: u32, p: Vec3, &Sample { distance, normal }: &Sample) {
        self.out.push(Contact {
            point: p,
            distance,
            normal,
            point_id: self.tree.points[point as usize].id,
        });
        self.stats.contacts += 1;
        self.course.advance(self.stats.contacts);
    }
}

impl<P: Partner + ?Sized> Visitor for Run<'_, P> {
    #[inline]
    fn is_over(&mut self) -> bool {
        let looked_at = self.stats.nodes_visited + self.stats.distance_queries;
        let visit_limit = self.question.query.visit_limit;
        self.course.is_over(looked_at, visit_limit)
    }

    #[inline]
    fn visit(&mut self, entry: Entry) -> Option<f32> {
        self.visit_node(entry, |run, point, p| {
            let max = run.farthest(point);
            run.ask(point, p, max).distance
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::partner::{Ball, BoxShape, HalfSpace};
    use super::super::{AdaptiveSettings, BuildOptions, PairState};
    use super::*;
    use crate::testing::{Rng, box_grid};

    fn tree() -> SphereTree {
        let mesh = box_grid([8, 3, 5], Vec3::new(1.6, 0.6, 1.0));
        SphereTree::build(&mesh, &BuildOptions::default()).unwrap()
    }

    fn by_name(contacts: &[Contact]) -> Vec<Contact> {
        let mut sorted = contacts.to_vec();
        sorted.sort_by_key(|c| c.point_id);
        sorted
    }

    #[test]
    fn full_detection_finds_exactly_what_every_point_says() {
        let (tree, mut rng) = (tree(), Rng(21));
        let partners: [&dyn Partner; 3] = [
            &HalfSpace::new(Vec3::Y, 0.0),
            &Ball::new(Vec3::ZERO, 0.7),
            &BoxShape::new(Vec3::new(0.5, 0.4, 0.9)),
        ];
        let (mut scratch, mut touching) = (QueryScratch::default(), 0);
        for _ in 0..1000 {
            let pose = Pose::new(rng.direction(), rng.range(0.0, 6.0), rng.direction());
            let tolerance = [0.0, 0.05, -0.05][rng.below(3)];
            let partner = partners[rng.below(3)];
            let mut query = Query::new(tolerance, tree.object_radius());
            if rng.below(2) == 0 {
                query.normals = NormalSettings::field();
            }
            query.traversal = [
                Traversal::WidestFirst,
                Traversal::Alternating,
                Traversal::Naive,
            ][rng.below(3)];
            let (mut found, mut expected) = (Vec::new(), Vec::new());
            let stats = tree.contacts(&pose, partner, &query, &mut scratch, &mut found);
            tree.contacts_of_every_point(&pose, partner, &query, &mut expected);
            assert_eq!(by_name(&found), by_name(&expected));
            assert_eq!(stats.contacts as usize, found.len());
            touching += u32::from(!found.is_empty());
        }
        assert!(touching > 300, "only {touching} of 1000 poses touch");
    }

    #[test]
    fn the_first_m_are_a_prefix_of_all() {
        let (tree, floor) = (tree(), HalfSpace::new(Vec3::Y, 0.1));
        let query = Query::new(0.0, tree.object_radius());
        let question = Question::new(&Pose::IDENTITY, &floor, &query);
        let (mut scratch, mut all) = (QueryScratch::default(), Vec::new());
        tree.contacts(&Pose::IDENTITY, &floor, &query, &mut scratch, &mut all);
        for m in 0..=all.len() + 1 {
            let (mut first, mut in_stages) = (Vec::new(), Vec::new());
            let query = query.select(Selection::First(m as u32));
            tree.contacts(&Pose::IDENTITY, &floor, &query, &mut scratch, &mut first);
            assert_eq!(first, all[..m.min(all.len())]);
            let stages = [Stage::near(
                m as u32,
                0.0,
                tree.placement_error(&Pose::IDENTITY),
            )];
            let (_, end) =
                tree.contacts_in_stages(&question, &stages, &mut scratch, &mut in_stages);
            assert_eq!(in_stages, first);
            assert_eq!(end == End::Enough, m <= all.len(), "{end:?}");
        }
    }

    #[test]
    fn a_visit_limit_ends_the_query_and_says_so() {
        let (tree, floor) = (tree(), HalfSpace::new(Vec3::Y, 0.1));
        let mut query = Query::new(0.0, tree.object_radius());
        query.visit_limit = 5;
        let (mut scratch, mut out) = (QueryScratch::default(), Vec::new());
        let question = Question::new(&Pose::IDENTITY, &floor, &query);
        let stages = [Stage::near(u32::MAX, 0.0, 0.0)];
        let (stats, end) = tree.contacts_in_stages(&question, &stages, &mut scratch, &mut out);
        // The last node is looked at with its point.
        let looked_at = stats.nodes_visited + stats.distance_queries;
        assert_eq!(end, End::VisitLimit);
        assert!((5..=6).contains(&looked_at), "{stats:?}");
    }

    #[test]
    fn adaptive_selection_grows_until_nothing_deep_is_left_out() {
        let (tree, mut rng) = (tree(), Rng(31));
        let settings = AdaptiveSettings::default();
        let epsilon = settings.depth_share * tree.object_radius();
        let query = Query::new(0.0, tree.object_radius());
        let mut scratch = QueryScratch::default();
        for _ in 0..100 {
            let pose = Pose::new(rng.direction(), rng.range(0.0, 6.0), Vec3::ZERO);
            let lowest = tree
                .positions()
                .iter()
                .map(|&p| pose.point(p).y)
                .fold(f32::INFINITY, f32::min);
            let floor = HalfSpace::new(Vec3::Y, lowest + rng.range(0.0, 0.05));
            let mut state = PairState::default();
            for step in 0.. {
                let limit = state.limit(&settings);
                let mut out = Vec::new();
                tree.contacts_adaptive(
                    &Question::new(&pose, &floor, &query),
                    &settings,
                    &mut state,
                    &mut scratch,
                    &mut out,
                );
                assert!(out.len() <= limit as usize);
                if state.is_adapted() {
                    let mut all = Vec::new();
                    tree.contacts_of_every_point(&pose, &floor, &query, &mut all);
                    let deepest = |c: &[Contact]| c.iter().map(|c| c.distance).fold(0.0, f32::min);
                    assert!(deepest(&out) <= deepest(&all) + epsilon);
                    break;
                }
                assert!(step < 500, "it never adapts");
            }
            // Lifted off, the pair parts and starts again.
            let mut out = Vec::new();
            let lifted = Pose {
                translation: pose.translation + Vec3::Y,
                ..pose
            };
            tree.contacts_adaptive(
                &Question::new(&lifted, &floor, &query),
                &settings,
                &mut state,
                &mut scratch,
                &mut out,
            );
            assert!(out.is_empty());
            assert_eq!(state.limit(&settings), 8);
        }
    }

    #[test]
    fn the_first_contacts_of_a_plate_are_spread_wider_than_with_a_plain_queue() {
        let mesh = box_grid([30, 2, 30], Vec3::new(2.0, 0.1, 2.0));
        let tree = SphereTree::build(&mesh, &BuildOptions::default()).unwrap();
        let floor = HalfSpace::new(Vec3::Y, 0.0);
        let spread = |traversal| {
            let mut query = Query::new(0.01, tree.object_radius()).select(Selection::First(8));
            query.traversal = traversal;
            let mut out = Vec::new();
            tree.contacts(
                &Pose::IDENTITY,
                &floor,
                &query,
                &mut QueryScratch::default(),
                &mut out,
            );
            assert_eq!(out.len(), 8);
            let spacing = |c: &Contact| {
                let others = out.iter().filter(|d| d.point_id != c.point_id);
                others
                    .map(|d| d.point.distance(c.point))
                    .fold(f32::INFINITY, f32::min)
            };
            out.iter().map(spacing).sum::<f32>() / 8.0
        };
        let (ours, naive) = (spread(Traversal::WidestFirst), spread(Traversal::Naive));
        assert!(ours >= 1.02 * naive, "{ours} against {naive}");
    }
}
