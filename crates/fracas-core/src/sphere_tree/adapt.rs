//! Self-adapting contact selection: few contacts at first, one more per step as
//! long as some point is left deep inside.
//!
//! Source: [Glondu 2013, section 5.2]. A pair begins with m = 8 contacts. A query
//! takes the first 8 points within the tolerance, then goes on with the negative
//! tolerance -epsilon, epsilon = 0.2% of the object's radius, up to m contacts in
//! all. If m are found, more may have been missed, and the pair's next query may
//! have m + 1. When the pair parts, m is 8 again.
//!
//! **Deviations**: a pair remembers its points and is not searched anew every step
//! (`contact_cache.rs`), and the search for points deeper than epsilon is spread over
//! several steps: at most [`AdaptiveSettings::deep_work`] nodes and points are looked at
//! per query once the first 8 contacts are found. It goes on where it stopped, since the
//! memory knows which points have been asked. (With freshly broken pieces every crack
//! point must be asked once, and all of them lie at distance zero: no bound can spare it.)
//!
//! | paper | here |
//! | --- | --- |
//! | m | [`PairState::limit`] |
//! | epsilon | [`AdaptiveSettings::depth_share`] times [`SphereTree::object_radius`] |
//!
//! **Guarantee**: at most [`PairState::limit`] contacts. Once a query ends below its
//! limit and within its work ([`PairState::is_adapted`]), every point that is truly
//! deeper than epsilon is a contact, so one of the contacts is within epsilon (plus a
//! positive tolerance, plus the field's own error) of the deepest. A pair that stays as
//! it is takes at most (nodes + points of the tree) / deep work + (points deeper than
//! epsilon) queries to adapt: each one uses up its work on nodes and points that are not
//! asked again, or raises the limit by one. The solver's drift correction is expected to
//! push the pair apart meanwhile.

use super::SphereTree;
use super::contact_cache::ContactCache;
use super::contact_cache::save::Reader;
use super::partner::Partner;
use super::query::{End, Query, QueryScratch, QueryStats, Question, Stage};
use super::traversal::Traversal;
use crate::fragment_field::FragmentDistance;
use crate::{Contact, Pose};

/// Settings of self-adapting selection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdaptiveSettings {
    /// Contacts of a new pair. Fewer than 6 cannot lock a rigid body; more than 8
    /// bring little (Fig. 16).
    pub first: u32,
    /// Depth beyond which a missed point matters, as a share of the object's radius.
    pub depth_share: f32,
    /// Nodes and points that a query may look at for points deeper than that, once it
    /// has the first contacts; the rest is left to the next. More adapts faster and makes
    /// the steps after a fracture more expensive.
    pub deep_work: u32,
}

impl Default for AdaptiveSettings {
    fn default() -> Self {
        Self {
            first: 8,
            depth_share: 0.002,
            deep_work: 128,
        }
    }
}

/// What a pair (one direction of it) remembers from step to step. Belongs to the
/// caller; a new one for a new pair: it holds only as long as tree and partner are the
/// same bodies.
#[derive(Clone, Debug, Default)]
pub struct PairState {
    /// Contacts beyond the first ones that the next query may have.
    beyond_first: u32,
    adapted: bool,
    cache: ContactCache,
}

impl PairState {
    /// How many contacts the next query may have: m.
    #[must_use]
    #[cfg_attr(feature = "research", visibility::make(pub))]
    pub(crate) fn limit(&self, settings: &AdaptiveSettings) -> u32 {
        settings.first.saturating_add(self.beyond_first)
    }

    /// Appends the state, what is remembered of points included, to save it with.
    pub fn save(&self, out: &mut Vec<u32>) {
        let Self {
            beyond_first,
            adapted,
            cache,
        } = self;
        out.extend([*beyond_first, u32::from(*adapted)]);
        cache.save(out);
    }

    /// Takes a state that [`PairState::save`] wrote off the front; `None` where there is
    /// none. It holds for the same tree and partner.
    #[must_use]
    pub fn load(words: &mut &[u32]) -> Option<Self> {
        let from = &mut Reader(words);
        Some(Self {
            beyond_first: from.word()?,
            adapted: from.word()? == 1,
            cache: ContactCache::load(from)?,
        })
    }

    /// Whether the last query ended below its limit: no deep point was left out.
    #[must_use]
    #[cfg_attr(feature = "research", visibility::make(pub))]
    pub(crate) fn is_adapted(&self) -> bool {
        self.adapted
    }
}

impl SphereTree {
    /// Whether this body has moved by less than epsilon against another fragment of the
    /// same object since the crack between them opened. `pose` is told in the object's
    /// frame, where it is the identity at birth.
    #[must_use]
    pub fn is_where_born(&self, pose: &Pose, settings: &AdaptiveSettings) -> bool {
        // Not so where the placement is not a number.
        let moved = self.motion_bound(&Pose::IDENTITY, pose);
        moved < settings.depth_share * self.object_radius()
    }

    /// Contacts with another fragment of the same object, as long as both lie where they
    /// were born: `None` once the pair has moved by more than epsilon. The pose is told in
    /// the object's frame, where it is the identity at birth. See `newborn.rs`.
    pub fn contacts_with_sibling(
        &self,
        question: &Question<'_, FragmentDistance<'_>>,
        settings: &AdaptiveSettings,
        state: &mut PairState,
        scratch: &mut QueryScratch,
        out: &mut Vec<Contact>,
    ) -> Option<QueryStats> {
        let Question {
            pose,
            partner,
            query,
        } = *question;
        if !self.is_where_born(pose, settings) {
            return None;
        }
        // The points lay on the other's surface and have moved by less than epsilon: a look
        // as far as that, and as far as faces have a say in the normal, sees all there is.
        let epsilon = settings.depth_share * self.object_radius();
        let reach = epsilon + query.normals.around().band;
        let query = &Query {
            tolerance: query.tolerance.min(1.01 * reach),
            ..*query
        };
        let question = Question::new(pose, partner, query);
        let (limit, cache) = (settings.first, &mut state.cache);
        let stats = self.contacts_at_birth(&question, limit, cache, scratch, out);
        state.adapted = true;
        Some(stats)
    }

    /// As [`SphereTree::contacts`], with the pair's own limit in place of
    /// [`Query::selection`].
    pub fn contacts_adaptive<P: Partner + ?Sized>(
        &self,
        question: &Question<'_, P>,
        settings: &AdaptiveSettings,
        state: &mut PairState,
        scratch: &mut QueryScratch,
        out: &mut Vec<Contact>,
    ) -> QueryStats {
        let epsilon = settings.depth_share * self.object_radius();
        let query = question.query;
        let limit = state.limit(settings);
        let rounding = self.placement_error(question.pose);
        let near = Stage::near(settings.first, query.tolerance, rounding);
        let mut deep = Stage {
            deep: true,
            ..Stage::near(limit, query.tolerance.min(-epsilon), rounding)
        };
        let (stats, end) = if query.traversal() == Traversal::WidestFirst {
            // Only a search that is remembered goes on where it stopped.
            deep.work = settings.deep_work;
            self.contacts_cached(question, [near, deep], &mut state.cache, scratch, out)
        } else {
            self.contacts_in_stages(question, &[near, deep], scratch, out)
        };
        state.adapted = end == End::Complete;
        if stats.contacts == 0 {
            state.beyond_first = 0;
        } else if end == End::Enough {
            state.beyond_first = state.beyond_first.saturating_add(1);
        }
        stats
    }
}
