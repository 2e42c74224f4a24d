//! What pairs of bodies have borne already.
//!
//! The solver's impulse on a body that lies still is its load times the step: nothing
//! that breaks it, however high the pile above. A blow is what comes in addition. So the
//! impulses of a step are remembered, pair by pair, and taken off those of the next.
//!
//! Nothing of it has to be saved: the engine's own contacts hold the impulses of the
//! last step.

use rapier3d::prelude::{ColliderHandle, ContactManifold, NarrowPhase};

/// Impulses of all pairs in one step.
#[derive(Clone, Debug, Default)]
pub(crate) struct Loads {
    /// In the order of the keys.
    pairs: Vec<(Key, f32)>,
}

type Key = [(u32, u32); 2];

fn key(a: ColliderHandle, b: ColliderHandle) -> Key {
    let mut key = [a.into_raw_parts(), b.into_raw_parts()];
    key.sort_unstable();
    key
}

/// What a pair's points bore together in the last step (N s).
pub(super) fn impulse(manifolds: &[ContactManifold]) -> f32 {
    let points = manifolds.iter().flat_map(|m| &m.points);
    points.map(|p| p.data.impulse.max(0.0)).sum()
}

impl Loads {
    /// Reads the impulses of the last step.
    pub(crate) fn note(&mut self, narrow_phase: &NarrowPhase) {
        self.pairs.clear();
        for pair in narrow_phase.contact_pairs() {
            let Some(rigid) = pair.rigid() else { continue };
            let sum = impulse(rigid.solver_manifolds());
            if sum > 0.0 {
                self.pairs.push((key(pair.collider1, pair.collider2), sum));
            }
        }
        self.pairs.sort_unstable_by_key(|pair| pair.0);
    }

    /// The impulse between two colliders (N s).
    pub(crate) fn between(&self, a: ColliderHandle, b: ColliderHandle) -> f32 {
        let key = key(a, b);
        let found = self.pairs.binary_search_by_key(&key, |pair| pair.0);
        found.map_or(0.0, |at| self.pairs[at].1)
    }
}
