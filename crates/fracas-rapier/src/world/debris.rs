//! What becomes of pieces nobody looks at any more.
//!
//! Steps, each step: pieces smaller than the smallest size are removed at birth;
//! pieces older than their lifetime that lie still are removed; while there are
//! more than allowed, the smallest (of equal size: the oldest) goes first.
//! Decisions depend on the state alone, never on a clock or on hashing.

/// Limits on the number and age of fragments. Everything is kept by default.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct DebrisPolicy {
    /// Fragments of less volume than this (in cubic metres) vanish at birth.
    pub smallest_volume: f32,
    /// A fragment that lies still is removed this many steps after its birth.
    pub lifetime_steps: Option<u32>,
    /// At most this many fragments live at once; intact objects do not count.
    pub most_fragments: Option<usize>,
    /// Whether fragments may sleep.
    pub sleep: bool,
}

impl Default for DebrisPolicy {
    fn default() -> Self {
        Self {
            smallest_volume: 0.0,
            lifetime_steps: None,
            most_fragments: None,
            sleep: true,
        }
    }
}

/// What the policy needs to know of a fragment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate<K> {
    pub(crate) key: K,
    pub(crate) volume: f32,
    pub(crate) age: u32,
    pub(crate) still: bool,
    /// Held, anchored or otherwise needed: never removed.
    pub(crate) needed: bool,
}

impl DebrisPolicy {
    /// Whether nothing is ever removed.
    pub(crate) fn keeps_all(&self) -> bool {
        self.smallest_volume <= 0.0
            && self.lifetime_steps.is_none()
            && self.most_fragments.is_none()
    }

    /// Which of `candidates` must go, in order of their keys.
    pub(crate) fn removals<K: Ord + Copy>(&self, candidates: &[Candidate<K>]) -> Vec<K> {
        let mut gone: Vec<K> = Vec::new();
        let mut left: Vec<&Candidate<K>> = Vec::new();
        for c in candidates {
            let small = c.age == 0 && c.volume < self.smallest_volume;
            let old = self
                .lifetime_steps
                .is_some_and(|limit| c.still && c.age >= limit);
            if !c.needed && (small || old) {
                gone.push(c.key);
            } else {
                left.push(c);
            }
        }
        let surplus = self
            .most_fragments
            .map_or(0, |most| left.len().saturating_sub(most));
        left.retain(|c| !c.needed);
        left.sort_by(|a, b| {
            a.volume
                .total_cmp(&b.volume)
                .then(b.age.cmp(&a.age))
                .then(a.key.cmp(&b.key))
        });
        gone.extend(left.iter().take(surplus).map(|c| c.key));
        gone.sort_unstable();
        gone
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(key: u32, volume: f32, age: u32, still: bool) -> Candidate<u32> {
        Candidate {
            key,
            volume,
            age,
            still,
            needed: false,
        }
    }

    #[test]
    fn everything_stays_by_default() {
        let all = [candidate(0, 0.0, 0, true), candidate(1, 1.0, 999_999, true)];
        assert!(DebrisPolicy::default().removals(&all).is_empty());
    }

    #[test]
    fn small_ones_go_at_birth_and_still_ones_when_old() {
        let policy = DebrisPolicy {
            smallest_volume: 0.1,
            lifetime_steps: Some(100),
            ..DebrisPolicy::default()
        };
        let all = [
            candidate(0, 0.05, 0, false),
            candidate(1, 0.05, 7, false),
            candidate(2, 1.0, 100, true),
            candidate(3, 1.0, 100, false),
        ];
        assert_eq!(policy.removals(&all), [0, 2]);
    }

    #[test]
    fn the_smallest_of_too_many_go_first_but_never_what_is_needed() {
        let policy = DebrisPolicy {
            most_fragments: Some(2),
            ..DebrisPolicy::default()
        };
        let mut all = [
            candidate(0, 3.0, 1, false),
            candidate(1, 1.0, 1, false),
            candidate(2, 1.0, 9, false),
            candidate(3, 0.5, 1, false),
        ];
        all[3].needed = true;
        assert_eq!(policy.removals(&all), [1, 2]);
    }
}
