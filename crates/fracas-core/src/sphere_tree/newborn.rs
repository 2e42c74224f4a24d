//! Contacts of two fragments that still lie where they were born: known from the cut,
//! without a search.
//!
//! Fragments of one object fit each other where the crack between them opened. As long
//! as they have hardly moved against each other since, what touches is the points at
//! which the crack cut an edge between the two, and nothing is deep. So:
//! 1. Take the points of the body whose cut edge ends in the other body.
//! 2. Order them so that each lies as far as possible from those before it.
//! 3. Ask them, in that order, as the general method would, until there are enough.
//!
//! Not in Glondu 2013, which searches. Distances and normals are those of the general
//! method ([`super::query`]), which takes over when the pair has moved by more than
//! epsilon (section 5.2), and keeps what it is still near of.
//!
//! **Guarantee**: no point is deeper than the pair has moved since the crack opened, hence
//! than epsilon. Points that touch only the rim of the other body are left out.

use glam::Vec3;

use super::SphereTree;
use super::cached_point::CachedPoint;
use super::contact_cache::ContactCache;
use super::partner::Partner;
use super::query::{QueryScratch, QueryStats, Question, Run, Stage};
use super::traversal::Visitor as _;
use crate::Contact;
use crate::fragment::{FragmentId, Fragments};
use crate::tet_mesh::NONE;

/// Points that are kept in order to be asked: some touch sideways and are no contacts.
const MOST_POINTS: usize = 24;

impl SphereTree {
    /// The points at which a crack has parted this body from another fragment of the same
    /// object, as it is now.
    pub fn points_shared_with<'a>(
        &'a self,
        fragments: &'a Fragments,
        other: FragmentId,
    ) -> impl Iterator<Item = u32> + 'a {
        let labels = fragments.node_fragment();
        let points = (0..).zip(&self.points);
        points.filter_map(move |(i, point)| {
            (point.across != NONE && labels[point.across as usize] == other).then_some(i)
        })
    }

    /// Contacts of a newborn pair: at most `limit`.
    pub(super) fn contacts_at_birth<P: Partner + ?Sized>(
        &self,
        question: &Question<'_, P>,
        shared: impl Iterator<Item = u32>,
        limit: u32,
        cache: &mut ContactCache,
        scratch: &mut QueryScratch,
        out: &mut Vec<Contact>,
    ) -> QueryStats {
        let (pose, tolerance) = (question.pose, question.query.tolerance);
        let stages = [Stage::new(limit, tolerance)];
        if !cache.is_of_birth(self) {
            let points = &mut scratch.shared;
            points.clear();
            points.extend(shared);
            self.spread(points);
            let list = points
                .iter()
                .map(|&i| CachedPoint::unknown(i, pose.point(self.positions[i as usize])));
            cache.begin_at_birth(self, pose, tolerance, list);
        }
        let mut run = Run::new(self, question, &stages, &mut scratch.faces, out);
        run.newborn = true;
        run.stats.enough = limit == 0;
        for cached in cache.list_mut() {
            if run.is_over() {
                break;
            }
            let p = pose.point(self.positions[cached.point as usize]);
            cached.look_again(&mut run, p);
        }
        run.stats
    }

    /// Orders points so that each is as far as possible from those before it; keeps the
    /// first few.
    fn spread(&self, points: &mut Vec<u32>) {
        let at = |i: u32| self.positions[i as usize];
        let centre = points.iter().map(|&i| at(i)).sum::<Vec3>() / points.len().max(1) as f32;
        let mut gaps: Vec<f32> = Vec::with_capacity(points.len());
        // The first one by the centre, the others by those that were taken.
        for taken in 0..points.len().min(MOST_POINTS) {
            let mut next = (taken, f32::NEG_INFINITY);
            for i in taken..points.len() {
                let gap = match taken {
                    0 => at(points[i]).distance_squared(centre),
                    1 => at(points[i]).distance_squared(at(points[0])),
                    _ => gaps[i].min(at(points[i]).distance_squared(at(points[taken - 1]))),
                };
                if taken == 0 {
                    gaps.push(gap);
                } else {
                    gaps[i] = gap;
                }
                if gap > next.1 {
                    next = (i, gap);
                }
            }
            points.swap(taken, next.0);
            gaps.swap(taken, next.0);
        }
        points.truncate(MOST_POINTS);
    }
}
