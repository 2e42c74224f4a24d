//! What a pair remembers of its points from step to step, so that a pair that hardly
//! moves is not searched again.
//!
//! Not in Glondu 2013, which searches every step anew. Steps of a query:
//! 1. How far can the pair have moved since the list was begun? Farther than the
//!    list's *skin*: the list is void, begin a new one at the root. What the old list
//!    knew of single points stays true, and is looked up.
//! 2. Go through the list, in the order of traversal. A point knows a lower bound of
//!    its distance and where it was then; if the bound, less the way it has come since,
//!    is above the tolerance, it is no contact and is not asked. A point that was a
//!    contact keeps its face as long as no other could have been chosen ([`Kept`]), and
//!    is brought up to date by the face's plane. Otherwise ask, and remember the answer.
//! 3. Still not enough contacts: go on with the traversal where it stopped, with all
//!    spheres enlarged by the skin. Points within reach are added to the list.
//!
//! A list of neighbours with a skin is what molecular dynamics uses [Verlet 1967]; the
//! bound for each point makes the skin cheap, and parting pieces are asked about again
//! only when their gap has doubled.
//!
//! **Guarantee**: in the first stage (tolerance not negative) a query finds the points that
//! one without a memory finds, in the same order; distances of asked points are the same,
//! those of kept contacts are the plane's of the face that was chosen. Kept contacts do not
//! follow the turn of their point's own normal, by which another face in the band may have
//! come to be the most opposed: of 37,490 contacts in 1,500 random steps 95% have the same
//! distance to 1e-5 of the radius, the others one within the band or, deep inside, the
//! field's error; 7 were decided otherwise (conformance, sphere_tree). For the rest:
//! a node is dropped, in any stage, only if its sphere, enlarged by the tolerance, the skin
//! and the way that the pair had come from the list's begin, is free; no point moves farther
//! against the partner than [`SphereTree::motion_bound`] says; so none below it comes within
//! the tolerance as long as the list holds. A point that is skipped is outside, where
//! distances are exact. In the second stage (tolerance -epsilon) no point is skipped that is truly deeper than
//! epsilon; a point that the field merely believes to be deeper (it may overstate
//! depths) may be skipped.

pub(super) mod save;

use glam::Vec3;

use super::SphereTree;
use super::cached_point::{CachedPoint, Kept, VoidList};
use super::partner::Partner;
use super::query::{Asked, End, QueryScratch, QueryStats, Question, Run, Stage};
use super::traversal::{BUCKETS, Entry, Visitor, clear_buckets, widest_first};
use crate::{Contact, Pose};

// Lengths below are shares of the object's radius.

/// Skin of a new pair, of which nobody knows yet how fast it moves.
const FIRST_SKIN: f32 = 0.01;
/// Least and largest skin of a list that follows another.
const SKINS: [f32; 2] = [0.005, 0.04];
/// A pair that moves farther than this in a step gets no list: it would be void at once.
const FAST: f32 = 0.02;
/// Steps of the present motion for which a list, and a point's distance, should last.
const LIST_STEPS: f32 = 4.0;
const POINT_STEPS: f32 = 8.0;
/// Skipped points are farther than the tolerance by at least this: much more than what
/// rounding can do to a placed point, or to a point on the very boundary of the field.
const NOISE: f32 = 1e-5;

impl CachedPoint {
    /// What a query that asked about a point at `at`, up to `max`, tells of it.
    fn new<P: Partner + ?Sized>(
        run: &Run<'_, P>,
        point: u32,
        at: Vec3,
        max: f32,
        asked: &Asked,
    ) -> Self {
        let bound = run.question.partner.bound(at, max, asked.distance);
        // A contact is kept as long as it is certainly within the limit: that is told by the
        // bound, where it is the distance itself.
        let is_exact = asked.distance == Some(bound);
        let choice = asked.choice.filter(|_| is_exact);
        Self {
            point,
            bound,
            at,
            kept: choice.map_or(Kept::NOTHING, Kept::new),
        }
    }

    /// A point of which nothing is known.
    pub fn unknown(point: u32, at: Vec3) -> Self {
        Self {
            point,
            bound: f32::NEG_INFINITY,
            at,
            kept: Kept::NOTHING,
        }
    }

    /// Looks again at a point that is now placed at `p`. Returns a lower bound of its
    /// distance.
    #[inline]
    pub fn look_again<P: Partner + ?Sized>(&mut self, run: &mut Run<'_, P>, p: Vec3) -> f32 {
        let limit = run.limit(self.point);
        if let Some(bound) = self.bound_at(p, limit + noise(run)) {
            return bound;
        }
        if self.take_kept(run, p, limit) {
            return self.bound - p.distance(self.at);
        }
        let max = run.farthest(self.point);
        let mut is_deep = false;
        *self = if run.question.partner.sphere_may_touch(p, max) {
            let asked = run.ask(self.point, p, max);
            is_deep = asked.distance.is_some_and(|distance| distance < limit);
            Self::new(run, self.point, p, max, &asked)
        } else {
            Self {
                bound: max,
                ..Self::unknown(self.point, p)
            }
        };
        // Points that are deep are asked every time and do not count, or a query that
        // may do little work would never get past them.
        run.course.spend(!is_deep);
        self.bound
    }

    /// Takes the contact, or the touch that was none, that was kept of a point now placed at
    /// `p`, if it still holds.
    #[inline]
    pub fn take_kept<P: Partner + ?Sized>(
        &self,
        run: &mut Run<'_, P>,
        p: Vec3,
        limit: f32,
    ) -> bool {
        match self.kept.at(self.at, p) {
            // Certainly still within the limit; else it is asked again.
            Some(Some(sample)) if self.bound + p.distance(self.at) < limit => {
                run.push(self.point, p, &sample);
                true
            }
            Some(None) => {
                run.stats.normals_rejected += 1;
                true
            }
            _ => false,
        }
    }

    /// A lower bound of the distance at `p`, if it is above a limit.
    #[inline]
    fn bound_at(&self, p: Vec3, limit: f32) -> Option<f32> {
        let bound = self.bound - p.distance(self.at);
        (bound > limit).then_some(bound)
    }
}

/// A node that the traversal did not come to.
#[derive(Clone, Copy, Debug)]
struct Pending {
    entry: Entry,
    bucket: u8,
}

/// One direction of a pair.
#[derive(Clone, Debug, Default)]
pub(super) struct ContactCache {
    /// In the order of traversal.
    list: Vec<CachedPoint>,
    /// Where the traversal stopped; empty when all is known.
    pending: Vec<Pending>,
    memory: Option<Memory>,
}

#[derive(Clone, Copy, Debug)]
struct Memory {
    /// Another tree voids the list.
    tree: TreeName,
    /// When the list was begun.
    start: Pose,
    /// At the last query.
    last: Pose,
    tolerance: f32,
    /// How far the pair may go from `start`.
    skin: f32,
    /// How far it has been.
    strayed: f32,
    not_deep: Option<NotDeep>,
    /// The list is that of a newborn pair: not of all points in reach.
    of_birth: bool,
}

/// All points of the list from one on were known not to be deep, with some margin.
#[derive(Clone, Copy, Debug)]
struct NotDeep {
    from: usize,
    margin: f32,
    pose: Pose,
}

/// Names a tree well enough to notice another one, and bounds the numbers that a list of
/// its points and nodes may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct TreeName {
    points: u32,
    nodes: u32,
    next_id: u32,
}

impl TreeName {
    fn of(tree: &SphereTree) -> Self {
        Self {
            points: tree.points.len() as u32,
            nodes: tree.nodes.len() as u32,
            next_id: tree.next_id,
        }
    }
}

impl ContactCache {
    /// Whether the list is that of a newborn pair.
    pub fn is_of_birth(&self, tree: &SphereTree) -> bool {
        let memory = self.memory.as_ref();
        memory.is_some_and(|m| m.of_birth && m.tree == TreeName::of(tree))
    }

    /// Begins the list of a newborn pair, in which no other point is to be looked for.
    pub fn begin_at_birth(
        &mut self,
        tree: &SphereTree,
        pose: &Pose,
        tolerance: f32,
        list: impl Iterator<Item = CachedPoint>,
    ) {
        self.list.clear();
        self.list.extend(list);
        self.pending.clear();
        self.memory = Some(Memory {
            tree: TreeName::of(tree),
            start: *pose,
            last: *pose,
            tolerance,
            skin: 0.0,
            strayed: 0.0,
            not_deep: None,
            of_birth: true,
        });
    }

    /// The points that are remembered.
    pub fn list_mut(&mut self) -> impl Iterator<Item = &mut CachedPoint> {
        self.list.iter_mut()
    }

    /// Step 1. Returns the memory as it is now, and how far ahead to look when a point
    /// is asked again.
    fn begin(
        &mut self,
        tree: &SphereTree,
        pose: &Pose,
        tolerance: f32,
        has_bounds: bool,
        void_list: &mut VoidList,
    ) -> (Memory, f32) {
        let radius = tree.object_radius();
        let name = TreeName::of(tree);
        let known = self.memory.filter(|m| m.tree == name);
        let step = known.map(|m| tree.motion_bound(&m.last, pose));
        let mut memory = known.and_then(|mut m| {
            let way = tree.motion_bound(&m.start, pose);
            m.strayed = m.strayed.max(way);
            // A placement that is not a number holds nothing.
            (way <= m.skin && tolerance <= m.tolerance && !m.of_birth).then_some(m)
        });
        if memory.is_none() {
            if known.is_some() {
                void_list.fill(&self.list, tree.points.len());
            }
            self.list.clear();
            self.pending.clear();
            self.pending.push(Pending {
                entry: Entry::ROOT,
                bucket: 0,
            });
        }
        let memory = memory.get_or_insert_with(|| Memory {
            tree: name,
            start: *pose,
            last: *pose,
            tolerance,
            skin: match step {
                _ if !has_bounds => 0.0,
                None => FIRST_SKIN * radius,
                Some(step) if step <= FAST * radius => {
                    (LIST_STEPS * step).clamp(SKINS[0] * radius, SKINS[1] * radius)
                }
                Some(_) => 0.0,
            },
            strayed: 0.0,
            not_deep: None,
            of_birth: false,
        });
        memory.last = *pose;
        let ahead = POINT_STEPS * step.unwrap_or(0.0);
        (*memory, ahead.clamp(0.125 * memory.skin, memory.skin))
    }
}

impl SphereTree {
    /// A bound on how far any point of the tree moves between two placements.
    #[must_use]
    pub fn motion_bound(&self, from: &Pose, to: &Pose) -> f32 {
        let (centre, radius) = self.bounding_sphere();
        let shift = from.point(centre).distance(to.point(centre));
        // The difference of two rotations stretches no vector by more than its Frobenius
        // norm over the square root of two.
        let turn = to.rotation - from.rotation;
        let squared = turn.x_axis.length_squared()
            + turn.y_axis.length_squared()
            + turn.z_axis.length_squared();
        let rounding = self.placement_error(from) + self.placement_error(to);
        (shift + radius * (0.5 * squared).sqrt()) * 1.0001 + rounding
    }

    /// As [`SphereTree::contacts_in_stages`], widest first, with a memory.
    pub(super) fn contacts_cached<P: Partner + ?Sized>(
        &self,
        question: &Question<'_, P>,
        mut stages: [Stage; 2],
        cache: &mut ContactCache,
        scratch: &mut QueryScratch,
        out: &mut Vec<Contact>,
    ) -> (QueryStats, End) {
        let QueryScratch {
            buckets,
            faces,
            void_list,
            ..
        } = scratch;
        let pose = question.pose;
        let has_bounds = question.partner.has_bounds();
        let tolerance = question.query.tolerance;
        let (mut memory, ahead) = cache.begin(self, pose, tolerance, has_bounds, void_list);
        stages[0].reach += memory.skin + memory.strayed;
        stages[0].ahead = ahead;
        if memory.skin > 0.0 {
            // What is left out is left out for as long as the list holds, in all stages.
            stages[1].reach = stages[0].reach;
        }
        let mut run = Run::new(self, question, &stages, faces, out);

        let not_deep = memory
            .not_deep
            .filter(|not_deep| self.motion_bound(&not_deep.pose, pose) < not_deep.margin);
        let complete = cache.pending.is_empty();
        let mut deep_from = cache.list.len();
        let mut least = f32::INFINITY;
        for (i, cached) in cache.list.iter_mut().enumerate() {
            let deep = run.course.stage.deep;
            if run.is_over() || (deep && not_deep.is_some_and(|not_deep| i >= not_deep.from)) {
                break;
            }
            let p = pose.point(self.positions[cached.point as usize]);
            let bound = cached.look_again(&mut run, p);
            if deep {
                deep_from = deep_from.min(i);
                least = least.min(bound);
            }
        }
        let over = run.is_over();
        if not_deep.is_none() {
            let margin = least - run.course.stage.tolerance - noise(&run);
            let searched = complete && run.course.stage.deep && !over;
            memory.not_deep = (searched && margin > 0.0).then_some(NotDeep {
                from: deep_from,
                margin,
                pose: *pose,
            });
        }
        cache.memory = Some(memory);
        if !complete && !over {
            clear_buckets(buckets);
            for pending in cache.pending.drain(..) {
                buckets[usize::from(pending.bucket)].push(pending.entry);
            }
            if memory.skin == 0.0 {
                widest_first(self, buckets, &mut run);
            } else {
                let mut remembering = Remembering {
                    run: &mut run,
                    list: &mut cache.list,
                    void_list,
                };
                widest_first(self, buckets, &mut remembering);
                for (bucket, entries) in buckets[..BUCKETS].iter().enumerate() {
                    cache.pending.extend(entries.iter().map(|&entry| Pending {
                        entry,
                        bucket: bucket as u8,
                    }));
                }
            }
        }
        let answer = (run.stats, run.course.end);
        void_list.clear();
        answer
    }
}

/// A query that writes the points in reach down.
struct Remembering<'r, 'a, P: ?Sized> {
    run: &'r mut Run<'a, P>,
    list: &'r mut Vec<CachedPoint>,
    /// What an earlier list knew of them.
    void_list: &'r VoidList,
}

impl<P: Partner + ?Sized> Visitor for Remembering<'_, '_, P> {
    #[inline]
    fn is_over(&mut self) -> bool {
        self.run.is_over()
    }

    #[inline]
    fn visit(&mut self, entry: Entry) -> Option<f32> {
        let Self {
            run,
            list,
            void_list,
        } = self;
        run.visit_node(entry, |run, point, p| {
            if let Some(mut old) = void_list.get(point) {
                let bound = old.look_again(run, p);
                list.push(old);
                return Some(bound);
            }
            let max = run.farthest(point);
            let asked = run.ask(point, p, max);
            list.push(CachedPoint::new(run, point, p, max, &asked));
            asked.distance
        })
    }
}

/// Points are known to be farther than a limit only if by more than this.
#[inline]
fn noise<P: ?Sized>(run: &Run<'_, P>) -> f32 {
    NOISE * run.tree.object_radius
}

#[cfg(test)]
mod tests {
    use super::super::partner::{Ball, BoxShape, HalfSpace};
    use super::super::{AdaptiveSettings, BuildOptions, PairState, Query};
    use super::*;
    use crate::testing::{Rng, box_grid};

    fn tree() -> SphereTree {
        let mesh = box_grid([8, 3, 5], Vec3::new(1.6, 0.6, 1.0));
        SphereTree::build(&mesh, &BuildOptions::default()).unwrap()
    }

    /// A walk of small and large steps, now and then none at all.
    fn walk(rng: &mut Rng, pose: &Pose) -> Pose {
        let size = [0.0, 0.001, 0.01, 0.01, 0.05, 0.5][rng.below(6)];
        let turn = Pose::new(rng.direction(), rng.range(0.0, size), Vec3::ZERO);
        let moved = pose.then(&turn);
        Pose {
            translation: moved.translation + rng.direction() * rng.range(0.0, size)
                - 0.3 * size * moved.translation,
            ..moved
        }
    }

    #[test]
    fn no_point_moves_farther_than_the_bound() {
        let (tree, mut rng) = (tree(), Rng(41));
        let mut from = Pose::new(rng.direction(), 1.0, rng.direction());
        for _ in 0..300 {
            let to = walk(&mut rng, &from);
            let bound = tree.motion_bound(&from, &to);
            let most = tree
                .positions()
                .iter()
                .map(|&p| from.point(p).distance(to.point(p)))
                .fold(0.0, f32::max);
            assert!(most <= bound, "{most} > {bound}");
            from = to;
        }
    }

    #[test]
    fn a_pair_with_a_memory_finds_what_one_without_finds() {
        let (tree, mut rng) = (tree(), Rng(42));
        let partners: [&dyn Partner; 3] = [
            &HalfSpace::new(Vec3::Y, -0.6),
            &Ball::new(Vec3::ZERO, 0.5),
            &BoxShape::new(Vec3::new(0.5, 0.4, 0.9)),
        ];
        let (mut scratch, mut touching, mut spared) = (QueryScratch::default(), 0, 0);
        for round in 0..60 {
            let partner = partners[round % 3];
            let first = [8, u32::MAX][rng.below(2)];
            let settings = AdaptiveSettings {
                first,
                ..AdaptiveSettings::default()
            };
            let tolerance = [0.0, 0.02][rng.below(2)];
            let query = Query::new(tolerance, tree.object_radius());
            let mut pose = Pose::new(rng.direction(), 3.0, rng.direction());
            let mut state = PairState::default();
            for _ in 0..40 {
                let (mut found, mut expected) = (Vec::new(), Vec::new());
                let stats = tree.contacts_adaptive(
                    &Question::new(&pose, partner, &query),
                    &settings,
                    &mut state,
                    &mut scratch,
                    &mut found,
                );
                let plain = tree.contacts(&pose, partner, &query, &mut scratch, &mut expected);
                expected.truncate(first as usize);
                // The same points; a kept plane gives the distance up to rounding, and the
                // direction to a curved surface up to the way that the point has come.
                assert!(found.len() >= expected.len());
                for (kept, asked) in found.iter().zip(&expected) {
                    assert_eq!((kept.point_id, kept.point), (asked.point_id, asked.point));
                    assert!(
                        (kept.distance - asked.distance).abs() < 1e-5,
                        "{kept:?} {asked:?}"
                    );
                    assert!(
                        kept.normal.distance(asked.normal) < 3e-3,
                        "{kept:?} {asked:?}"
                    );
                }
                assert!(first == 8 || found.len() == expected.len());
                touching += u32::from(!found.is_empty());
                spared += u32::from(stats.distance_queries < plain.distance_queries);
                pose = walk(&mut rng, &pose);
            }
        }
        assert!(touching > 300 && spared > 300, "{touching}, {spared}");
    }

    #[test]
    fn the_search_for_deep_points_ends_in_time_however_little_is_done_per_query() {
        let (tree, mut rng) = (tree(), Rng(43));
        let mut scratch = QueryScratch::default();
        for deep_work in [1, 16, 1000] {
            let settings = AdaptiveSettings {
                deep_work,
                ..AdaptiveSettings::default()
            };
            let query = Query::new(0.0, tree.object_radius());
            let pose = Pose::new(rng.direction(), 1.0, Vec3::ZERO);
            let epsilon = settings.depth_share * tree.object_radius();
            let floor = HalfSpace::new(Vec3::Y, -0.1);
            let mut all = Vec::new();
            tree.contacts(&pose, &floor, &query, &mut scratch, &mut all);
            let deep = all.iter().filter(|c| c.distance < -epsilon).count();
            let work = tree.node_count() + tree.point_count();
            let most = work.div_ceil(deep_work as usize) + deep + 1;
            let mut state = PairState::default();
            let mut queries = 0;
            while !state.is_adapted() {
                let mut out = Vec::new();
                tree.contacts_adaptive(
                    &Question::new(&pose, &floor, &query),
                    &settings,
                    &mut state,
                    &mut scratch,
                    &mut out,
                );
                queries += 1;
                assert!(queries <= most, "not adapted after {queries} queries");
            }
        }
    }

    #[test]
    fn no_deep_point_is_left_out_by_a_search_that_is_spread_over_many_queries() {
        let (tree, mut rng) = (tree(), Rng(45));
        let mut scratch = QueryScratch::default();
        let query = Query::new(0.0, tree.object_radius());
        let floor = HalfSpace::new(Vec3::Y, 0.0);
        let (mut adapted, mut lost) = (0, 0);
        for round in 0..100 {
            let settings = AdaptiveSettings {
                deep_work: [2, 16, 128][round % 3],
                ..AdaptiveSettings::default()
            };
            let epsilon = settings.depth_share * tree.object_radius();
            // It lies nearly flat, and sinks and turns by much less than a list's skin.
            let lies = Pose::new(rng.direction(), rng.range(0.0, 0.02), Vec3::ZERO);
            let lowest = tree.positions().iter().map(|&p| lies.point(p).y);
            let height = -lowest.fold(f32::INFINITY, f32::min) - rng.range(0.0, 0.01);
            let mut pose = Pose {
                translation: Vec3::Y * height,
                ..lies
            };
            let mut state = PairState::default();
            for _ in 0..60 {
                let (mut found, mut every) = (Vec::new(), Vec::new());
                tree.contacts_adaptive(
                    &Question::new(&pose, &floor, &query),
                    &settings,
                    &mut state,
                    &mut scratch,
                    &mut found,
                );
                if state.is_adapted() {
                    adapted += 1;
                    tree.contacts_of_every_point(&pose, &floor, &query, &mut every);
                    let is_deep = |c: &&Contact| c.distance < -1.01 * epsilon;
                    lost += every
                        .iter()
                        .filter(is_deep)
                        .filter(|deep| !found.iter().any(|c| c.point_id == deep.point_id))
                        .count();
                }
                let turn = Pose::new(rng.direction(), rng.range(0.0, 1e-3), Vec3::ZERO);
                let place = pose.translation;
                pose = turn.then(&pose);
                pose.translation = place - Vec3::Y * rng.range(-2e-4, 3e-4);
            }
        }
        assert!(adapted > 1000, "{adapted}");
        assert!(lost == 0, "{lost} deep points lost in {adapted} queries");
    }

    /// A point that is nearer than the tolerance by less than rounding can do is a contact
    /// however often it is asked about.
    #[test]
    fn what_just_touches_goes_on_touching() {
        let (tree, mut scratch) = (tree(), QueryScratch::default());
        let radius = tree.object_radius();
        let query = Query::new(0.02, radius);
        let lowest = tree.positions().iter().map(|p| p.y);
        let lowest = lowest.fold(f32::INFINITY, f32::min);
        for share in [0.1, 0.5, 0.9] {
            let floor = HalfSpace::new(Vec3::Y, lowest - 0.02 + share * NOISE * radius);
            let mut state = PairState::default();
            for again in 0..4 {
                let mut found = Vec::new();
                // Hardly moved: as far as rounding does.
                let pose = Pose::translation(Vec3::X * (1e-7 * again as f32));
                tree.contacts_adaptive(
                    &Question::new(&pose, &floor, &query),
                    &AdaptiveSettings::default(),
                    &mut state,
                    &mut scratch,
                    &mut found,
                );
                assert!(found.len() >= 8, "{share}, {again}: {}", found.len());
            }
        }
    }

    /// A list that was begun while the pair was near, gone on with where it had strayed as far
    /// as it may, holds for where it strays on the other side, too.
    #[test]
    fn a_search_that_goes_on_after_the_pair_strayed_leaves_nothing_out() {
        let (tree, mut scratch) = (tree(), QueryScratch::default());
        let radius = tree.object_radius();
        let lowest = tree.positions().iter().map(|p| p.y);
        let lowest = lowest.fold(f32::INFINITY, f32::min);
        let query = Query::new(0.0, radius);
        let floor = HalfSpace::new(Vec3::Y, lowest);
        // Sunk just enough for eight contacts, where the search ends; lifted as far as the
        // list holds, where it is gone on with; sunk as far, where all points are deep.
        let skin = FIRST_SKIN * radius;
        let mut state = PairState::default();
        for (height, deep_work) in [(-0.01, 1), (0.97, u32::MAX), (-0.97, u32::MAX)] {
            let settings = AdaptiveSettings {
                deep_work,
                ..AdaptiveSettings::default()
            };
            let pose = Pose::translation(Vec3::Y * (height * skin));
            let (mut found, mut every) = (Vec::new(), Vec::new());
            tree.contacts_of_every_point(&pose, &floor, &query, &mut every);
            // Each query may have one contact more than the last.
            for _ in 0..=every.len() {
                found.clear();
                tree.contacts_adaptive(
                    &Question::new(&pose, &floor, &query),
                    &settings,
                    &mut state,
                    &mut scratch,
                    &mut found,
                );
                if state.is_adapted() || deep_work == 1 {
                    break;
                }
            }
            let deep = -1.01 * settings.depth_share * radius;
            let count = |all: &[Contact]| all.iter().filter(|c| c.distance < deep).count();
            assert_eq!(count(&found), count(&every), "{height}");
            assert_eq!(found.len().min(8), every.len().min(8), "{height}");
            assert_eq!(every.len() > 50, height < 0.0, "{}", every.len());
        }
    }
}
