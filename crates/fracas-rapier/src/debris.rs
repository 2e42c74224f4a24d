//! Limits on debris: how many fragments there may be, and how long they stay.
//!
//! Two moments. Before a body is cut ([`crate::breakables`]): what would exceed a limit is cut
//! into fewer pieces or not at all, so that no step pays for fragments that it removes again.
//! After the step: fragments that lie still fade, freeze and are removed when their time has
//! come. Decisions depend on the state alone, never on a clock or on hashing.

use glam::Vec3;
use rapier3d::prelude::InteractionGroups;

/// Limits on the number and age of fragments. By default everything is kept.
///
/// ```
/// use fracas_rapier::DebrisPolicy;
///
/// let policy = DebrisPolicy {
///     max_fragments: Some(400),
///     lifetime_steps: Some(600),
///     fade_steps: 30,
///     ..DebrisPolicy::default()
/// };
/// assert_eq!(policy.max_new_fragments(), 100);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct DebrisPolicy {
    /// Maximum number of fragments that exist at once; whole objects do not count. Checked
    /// before a body is cut: to make room, smaller fragments than the new ones are removed, the
    /// smallest first; a body for which that is not enough breaks into fewer pieces, and where
    /// there is no room for two it stays in one piece. Default: no limit.
    pub max_fragments: Option<usize>,
    /// Maximum number of fragments made by impacts in one step. What does not fit breaks in one
    /// of the next steps; one body may always break, into as many pieces as fit. Default: a
    /// quarter of [`Self::max_fragments`], at least 16; no limit without that.
    pub max_new_per_step: Option<usize>,
    /// Minimum volume of a fragment, in cubic length units. Smaller ones do not become bodies:
    /// [`crate::Event::Dust`] is sent instead and their mass leaves the world. Pieces held by
    /// an anchor are kept. Default: 0.
    pub min_volume: f32,
    /// Minimum volume of a fragment that can break again, as a share of the whole object's.
    /// Default: 0.02. With 0 the breaker's own rule ([`fracas_fracture::RefractureRule`])
    /// decides alone.
    pub min_breaking_share: f32,
    /// A fragment that lies still is removed this many steps after its birth. Default: never.
    pub lifetime_steps: Option<u32>,
    /// A fragment at the end of its lifetime stays this many steps longer, and
    /// [`crate::Event::Fading`] is sent at their beginning. Default: 0. (A fragment that is
    /// removed to make room does not fade.)
    pub fade_steps: u32,
    /// A fragment that lies still becomes a fixed body this many steps after its birth: it
    /// costs nothing more, and still breaks. When a piece that touches it breaks or is removed
    /// it moves again. Default: never.
    pub freeze_steps: Option<u32>,
    /// Distance from the point of interest ([`crate::World::set_focus`]), in length units,
    /// from which debris is reduced: at twice the distance a fragment ages twice as fast, and
    /// counts as an eighth of its volume when room is made. Default: none, distance does not
    /// matter.
    pub detail_distance: Option<f32>,
    /// Collision groups of fragments. Default: those of the body that broke.
    pub groups: Option<InteractionGroups>,
    /// Whether fragments may sleep. Default: yes.
    pub sleep: bool,
}

impl Default for DebrisPolicy {
    fn default() -> Self {
        Self {
            max_fragments: None,
            max_new_per_step: None,
            min_volume: 0.0,
            min_breaking_share: 0.02,
            lifetime_steps: None,
            fade_steps: 0,
            freeze_steps: None,
            detail_distance: None,
            groups: None,
            sleep: true,
        }
    }
}

/// What becomes of a fragment that is too old.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ageing {
    Stays,
    Freezes,
    /// Starts to fade, or is removed at once if fading takes no step.
    Ends,
}

impl DebrisPolicy {
    /// Returns the maximum number of fragments made by impacts in one step:
    /// [`Self::max_new_per_step`] or its default.
    #[must_use]
    pub fn max_new_fragments(&self) -> usize {
        let default = self
            .max_fragments
            .map_or(usize::MAX, |max| (max / 4).max(16));
        self.max_new_per_step.unwrap_or(default)
    }

    /// Whether fragments change with age.
    pub(crate) fn is_ageing(&self) -> bool {
        self.lifetime_steps.is_some() || self.freeze_steps.is_some() || self.max_fragments.is_some()
    }

    /// How many times farther than the detail distance a place is: 1 within it.
    pub(crate) fn remoteness(&self, focus: Option<Vec3>, at: Vec3) -> f32 {
        match (self.detail_distance, focus) {
            (Some(near), Some(focus)) if near > 0.0 => (at.distance(focus) / near).max(1.0),
            _ => 1.0,
        }
    }

    /// What becomes of a fragment that lies still, `age` steps after its birth.
    pub(crate) fn ageing(&self, age: u32, remoteness: f32) -> Ageing {
        let age = age as f32 * remoteness;
        let is_over = |limit: Option<u32>| limit.is_some_and(|limit| age >= limit as f32);
        if is_over(self.lifetime_steps) {
            Ageing::Ends
        } else if is_over(self.freeze_steps) {
            Ageing::Freezes
        } else {
            Ageing::Stays
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_stays_by_default() {
        let policy = DebrisPolicy::default();
        assert!(!policy.is_ageing());
        assert_eq!(policy.ageing(999_999, 1.0), Ageing::Stays);
        assert_eq!(policy.max_new_fragments(), usize::MAX);
    }

    #[test]
    fn fragments_freeze_then_end() {
        let policy = DebrisPolicy {
            lifetime_steps: Some(100),
            freeze_steps: Some(50),
            ..DebrisPolicy::default()
        };
        assert_eq!(policy.ageing(49, 1.0), Ageing::Stays);
        assert_eq!(policy.ageing(50, 1.0), Ageing::Freezes);
        assert_eq!(policy.ageing(99, 1.0), Ageing::Freezes);
        assert_eq!(policy.ageing(100, 1.0), Ageing::Ends);
    }

    #[test]
    fn distant_fragments_age_faster() {
        let policy = DebrisPolicy {
            lifetime_steps: Some(100),
            detail_distance: Some(10.0),
            ..DebrisPolicy::default()
        };
        let remoteness = |x: f32| policy.remoteness(Some(Vec3::ZERO), Vec3::X * x);
        assert_eq!((remoteness(3.0), remoteness(20.0)), (1.0, 2.0));
        assert_eq!(policy.remoteness(None, Vec3::X * 20.0), 1.0);
        assert_eq!(policy.ageing(60, remoteness(3.0)), Ageing::Stays);
        assert_eq!(policy.ageing(60, remoteness(20.0)), Ageing::Ends);
    }

    #[test]
    fn limit_per_step_follows_the_limit_on_all() {
        let with = |max_fragments| DebrisPolicy {
            max_fragments: Some(max_fragments),
            ..DebrisPolicy::default()
        };
        assert_eq!(with(200).max_new_fragments(), 50);
        assert_eq!(with(20).max_new_fragments(), 16);
    }
}
