//! Contacts found before the step, looked up in it.
//!
//! The engine hands the dispatcher two shapes and their relative pose, no names. A
//! shape's address names it for the length of a step; where two colliders share one
//! shape the pose tells them apart. Addresses are compared, never ordered by, in
//! anything that a result depends on.

use std::sync::{Mutex, PoisonError, RwLock};

use parry3d::math::Pose;
use parry3d::shape::Shape;

use crate::manifold::PairContact;

/// A shape for the length of a step.
pub(crate) type ShapeKey = usize;

pub(crate) fn key_of(shape: &dyn Shape) -> ShapeKey {
    std::ptr::from_ref(shape).cast::<()>() as usize
}

/// What a pair gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Voxel contacts: first and number.
    Voxels(u32, u32),
    /// The main method fits the budget.
    Main,
}

#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) keys: [ShapeKey; 2],
    pub(crate) pos12: Pose,
    pub(crate) answer: Answer,
}

#[derive(Debug, Default)]
pub(crate) struct Contents {
    /// Whether pairs that are not here have no contacts (else: the main method).
    pub(crate) complete: bool,
    pub(crate) entries: Vec<Entry>,
    /// Keys of the entries, lower first, sorted, and where they are.
    order: Vec<([ShapeKey; 2], u32)>,
    pub(crate) contacts: Vec<PairContact>,
}

/// What [`VoxelTable::look_up`] found.
pub(crate) enum Found {
    /// Contacts were put out, perhaps none.
    Contacts,
    /// Ask the main method, and note what it costs if asked to.
    Main {
        /// Whether somebody plans with the cost.
        note: bool,
    },
}

/// Contacts of all pairs of one step, shared by stage and dispatcher.
#[derive(Debug, Default)]
pub struct VoxelTable {
    contents: RwLock<Contents>,
    /// Points that the main method asked, by pair, since they were last taken.
    costs: Mutex<Vec<([ShapeKey; 2], u32)>>,
}

impl VoxelTable {
    /// Changes everything, between two steps.
    pub(crate) fn write<R>(&self, change: impl FnOnce(&mut Contents) -> R) -> R {
        change(
            &mut self
                .contents
                .write()
                .unwrap_or_else(PoisonError::into_inner),
        )
    }

    /// The contacts of a pair, told as shapes 1 and 2 were given.
    pub(crate) fn look_up(
        &self,
        pos12: &Pose,
        g1: &dyn Shape,
        g2: &dyn Shape,
        out: &mut Vec<PairContact>,
    ) -> Found {
        let contents = self.contents.read().unwrap_or_else(PoisonError::into_inner);
        let found = contents.find([key_of(g1), key_of(g2)], pos12);
        out.clear();
        match found {
            Some((Answer::Voxels(first, count), swap)) => {
                let range = first as usize..(first + count) as usize;
                out.extend_from_slice(&contents.contacts[range]);
                if swap {
                    out.iter_mut().for_each(|contact| contact.swap(pos12));
                }
                Found::Contacts
            }
            Some((Answer::Main, _)) => Found::Main { note: true },
            None if contents.complete => Found::Contacts,
            None => Found::Main { note: false },
        }
    }

    /// Notes what the main method cost.
    pub(crate) fn note_cost(&self, g1: &dyn Shape, g2: &dyn Shape, points: u32) {
        self.costs
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(([key_of(g1), key_of(g2)], points));
    }

    /// What was noted since the last call, sorted by pair.
    pub(crate) fn take_costs(&self, into: &mut Vec<([ShapeKey; 2], u32)>) {
        into.clear();
        into.append(&mut self.costs.lock().unwrap_or_else(PoisonError::into_inner));
        into.sort_unstable();
    }
}

fn lower_first([a, b]: [ShapeKey; 2]) -> [ShapeKey; 2] {
    [a.min(b), a.max(b)]
}

impl Contents {
    /// To be called when all entries are there.
    pub(crate) fn sort(&mut self) {
        self.order.clear();
        let keys = self.entries.iter().map(|e| lower_first(e.keys));
        self.order.extend(keys.zip(0..));
        self.order.sort_unstable();
    }

    /// What a pair gets, and whether the shapes are given the other way round.
    fn find(&self, keys: [ShapeKey; 2], pos12: &Pose) -> Option<(Answer, bool)> {
        let wanted = lower_first(keys);
        let first = self.order.partition_point(|e| e.0 < wanted);
        let same = self.order[first..].iter().take_while(|e| e.0 == wanted);
        let same = same.map(|e| &self.entries[e.1 as usize]);
        let inverse = |e: &Entry| e.keys != keys;
        let at = |e: &&Entry, p: &Pose| {
            e.pos12.translation == p.translation && e.pos12.rotation == p.rotation
        };
        // Of several colliders with one shape, the one that is there; a pose that was
        // changed meanwhile is still the same pair if there is only one.
        let mut all = same.clone();
        let only = all.next().filter(|_| all.next().is_none());
        if let Some(only) = only {
            return Some((only.answer, inverse(only)));
        }
        let turned = pos12.inverse();
        same.clone()
            .find(|e| !inverse(e) && at(e, pos12))
            .map(|e| (e.answer, false))
            .or_else(|| {
                same.clone()
                    .find(|e| at(e, &turned))
                    .map(|e| (e.answer, true))
            })
    }
}
