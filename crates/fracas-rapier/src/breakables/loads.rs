//! What pairs of bodies have borne already.
//!
//! The solver's impulse on a body that lies still is its load times the step: nothing
//! that breaks it, however high the pile above. An impact is what comes in addition. So the
//! impulses of a step are remembered, pair by pair, and taken off those of the next.
//!
//! The engine's own contacts hold the impulses of the last step. Only after a step that was
//! made again they hold those of the step that was taken back: then snapshots hold the loads.

use rapier3d::prelude::{ColliderHandle, ContactData, ContactManifold, ContactPair, NarrowPhase};
use serde::{Deserialize, Serialize};

/// Impulses of all pairs in one step.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
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

/// A pair whose bodies pushed each other in the last step.
pub(super) struct Pushed<'a> {
    key: Key,
    pub(super) pair: &'a ContactPair,
    /// What its points bore together (N s).
    pub(super) impulse: f32,
    /// What they bore in the step before.
    pub(super) load: f32,
}

impl Pushed<'_> {
    /// The share of the impulse that the pair did not bear before.
    pub(super) fn fresh(&self) -> f32 {
        ((self.impulse - self.load) / self.impulse).max(0.0)
    }
}

/// What a pair's points bore together in the last step (N s).
fn impulse(manifolds: &[ContactManifold]) -> f32 {
    let points = manifolds.iter().flat_map(pushing_points);
    points.map(|p| p.data.impulse).sum()
}

/// Bit of a solver contact's id that says that it is new.
const IS_NEW: u32 = 1 << 31;

/// The points of a manifold that pushed in the last step. The engine solves four at most; the
/// others keep the impulse of the last step in which they were solved.
pub(super) fn pushing_points(manifold: &ContactManifold) -> impl Iterator<Item = &TrackedContact> {
    let solved = manifold.data.solver_contacts.iter();
    let points = solved.filter_map(|c| manifold.points.get((c.contact_id[0] & !IS_NEW) as usize));
    points.filter(|point| point.data.impulse > 0.0)
}

type TrackedContact = parry3d::query::TrackedContact<ContactData>;

impl Loads {
    /// The pairs that pushed in the last step, in the order of their colliders' handles.
    pub(super) fn pushed<'a>(&self, narrow_phase: &'a NarrowPhase) -> Vec<Pushed<'a>> {
        let mut found: Vec<Pushed<'_>> = narrow_phase
            .contact_pairs()
            .filter_map(|pair| {
                let impulse = impulse(pair.rigid()?.solver_manifolds());
                (impulse > 0.0).then_some(Pushed {
                    key: key(pair.collider1, pair.collider2),
                    pair,
                    impulse,
                    load: 0.0,
                })
            })
            .collect();
        found.sort_unstable_by_key(|pushed| pushed.key);
        // Both lists are in order.
        let mut known = self.pairs.iter().peekable();
        for pushed in &mut found {
            while known.next_if(|(key, _)| *key < pushed.key).is_some() {}
            if let Some((_, load)) = known.next_if(|(key, _)| *key == pushed.key) {
                pushed.load = *load;
            }
        }
        found
    }

    /// Takes the impulses of the last step for what pairs bear from now on.
    pub(super) fn take(&mut self, pushed: &[Pushed<'_>]) {
        self.pairs.clear();
        self.pairs.extend(pushed.iter().map(|p| (p.key, p.impulse)));
    }

    /// Multiplies all impulses: a part of a step bears its share of them.
    pub(super) fn scale(&mut self, by: f32) {
        for (_, impulse) in &mut self.pairs {
            *impulse *= by;
        }
    }

    /// Takes from `other` the pairs with a collider for which `is_other` holds, and keeps the
    /// rest of its own.
    pub(super) fn replace(&mut self, other: Self, is_other: impl Fn(ColliderHandle) -> bool) {
        let is_other = |(key, _): &(Key, f32)| {
            let mut ends = key.iter();
            ends.any(|&(index, generation)| {
                is_other(ColliderHandle::from_raw_parts(index, generation))
            })
        };
        self.pairs.retain(|pair| !is_other(pair));
        self.pairs.extend(other.pairs.into_iter().filter(is_other));
        self.pairs.sort_unstable_by_key(|(key, _)| *key);
    }

    /// The same, read from the engine.
    pub(crate) fn note(&mut self, narrow_phase: &NarrowPhase) {
        let pushed = self.pushed(narrow_phase);
        self.take(&pushed);
    }
}
