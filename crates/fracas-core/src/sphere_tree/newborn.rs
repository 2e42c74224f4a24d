//! Contacts of two fragments that still lie where they were born: known from the cut,
//! without a search.
//!
//! Fragments of one object fit each other where the crack between them opened. As long
//! as they have hardly moved against each other since, what touches is the points at
//! which the crack cut an edge between the two, and nothing is deep. So:
//! 1. Take the points of the body whose cut edge ends in the other body.
//! 2. Order them so that each lies as far as possible from those before it.
//! 3. Tell their distances and normals, in that order, until there are enough: of the crack
//!    polygons that meet where the edge was cut, and the boundary beside them
//!    ([`FragmentDistance::touch_at_cut`]). Neither body's tree of faces is asked, so it need
//!    not be made in the step of the break.
//!
//! Not in Glondu 2013, which searches. The rules by which a normal is chosen are those of the
//! general method ([`super::query`]), which takes over when the pair has moved by more than
//! epsilon (section 5.2), and keeps what it is still near of. An asperity, a facet that
//! stands against its neighbours, bears no load by those rules: the point's normal is that of
//! all facets around its cut, and a facet counts only if it is opposed to it.
//!
//! **Guarantee**: no point is deeper than the pair has moved since the crack opened, hence
//! than epsilon. Distances are exact for the surface around the point's cut; another face may
//! be nearer, by no more than the pair has moved. Points that touch only the rim of the other
//! body are left out.

use glam::Vec3;

use super::SphereTree;
use super::cached_point::{CachedPoint, Kept};
use super::contact_cache::ContactCache;
use super::partner::Sample;
use super::query::{QueryScratch, QueryStats, Question, Run, Stage};
use super::traversal::Visitor as _;
use crate::Contact;
use crate::fragment::{FragmentId, Fragments};
use crate::fragment_field::FragmentDistance;
use crate::tet_mesh::NONE;

/// Points that are kept in order to be asked: some touch sideways and are no contacts.
const MOST_POINTS: usize = 24;

impl SphereTree {
    /// The points at which a crack has parted this body from another fragment of the same
    /// object, as it is now.
    #[cfg_attr(feature = "research", visibility::make(pub))]
    pub(crate) fn points_shared_with<'a>(
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
    pub(super) fn contacts_at_birth(
        &self,
        question: &Question<'_, FragmentDistance<'_>>,
        limit: u32,
        cache: &mut ContactCache,
        scratch: &mut QueryScratch,
        out: &mut Vec<Contact>,
    ) -> QueryStats {
        let (pose, partner) = (question.pose, question.partner);
        let tolerance = question.query.tolerance;
        let stages = [Stage::near(limit, tolerance, self.placement_error(pose))];
        if !cache.is_of_birth(self) {
            let points = &mut scratch.shared;
            points.clear();
            points.extend(self.points_shared_with(partner.fragments(), partner.id()));
            self.spread(points);
            let list = points
                .iter()
                .map(|&i| CachedPoint::unknown(i, pose.point(self.positions[i as usize])));
            cache.begin_at_birth(self, pose, tolerance, list);
        }
        let mut run = Run::new(self, question, &stages, &mut scratch.faces, out);
        for cached in cache.list_mut() {
            if run.is_over() {
                break;
            }
            let p = pose.point(self.positions[cached.point as usize]);
            if !cached.take_kept(&mut run, p, tolerance) {
                *cached = ask_at_cut(&mut run, cached.point, p);
            }
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

/// Asks about a point at which the crack has cut an edge, now placed at `p`.
fn ask_at_cut(run: &mut Run<'_, FragmentDistance<'_>>, point: u32, p: Vec3) -> CachedPoint {
    run.stats.distance_queries += 1;
    let data = &run.tree.points[point as usize];
    let edge = [data.across, data.owner];
    let Question {
        pose,
        partner,
        query,
    } = run.question;
    let found = partner.touch_at_cut(edge, p, query.normals.around(), run.faces);
    let sample = found.map(|found| Sample {
        distance: found.distance,
        normal: found.normal,
    });
    let asked = run.answer(point, p, sample);
    // It lay on the other body's surface when the crack opened.
    let birth_place = run.tree.positions[point as usize];
    CachedPoint {
        point,
        bound: -p.distance(birth_place) - run.tree.placement_error(pose),
        at: p,
        kept: asked.choice.map_or(Kept::NOTHING, Kept::new),
    }
}
