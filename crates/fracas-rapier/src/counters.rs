//! What queries cost, counted over all threads: sums do not depend on the order in which
//! threads add.

use std::sync::atomic::{AtomicU64, Ordering};

use fracas_core::sphere_tree::QueryStats;

/// Work that queries have done since they were last read.
#[derive(Debug, Default)]
pub struct Counters {
    pairs: AtomicU64,
    visited_points: AtomicU64,
    contacts: AtomicU64,
    solver_contacts: AtomicU64,
}

/// What [`Counters`] held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Pairs asked.
    pub pairs: u64,
    /// Points whose distance was asked.
    pub visited_points: u64,
    /// Contacts found.
    pub contacts: u64,
    /// Contacts handed to the engine.
    pub solver_contacts: u64,
}

impl Counters {
    /// Adds a pair.
    pub fn add(&self, stats: &QueryStats, solver_contacts: usize) {
        self.pairs.fetch_add(1, Ordering::Relaxed);
        self.visited_points
            .fetch_add(u64::from(stats.distance_queries), Ordering::Relaxed);
        self.contacts
            .fetch_add(u64::from(stats.contacts), Ordering::Relaxed);
        self.add_kept(solver_contacts);
    }

    /// Adds a pair that kept its contacts: nothing was asked.
    pub fn add_kept(&self, solver_contacts: usize) {
        self.solver_contacts
            .fetch_add(solver_contacts as u64, Ordering::Relaxed);
    }

    /// Reads and clears.
    pub fn take(&self) -> Counts {
        Counts {
            pairs: self.pairs.swap(0, Ordering::Relaxed),
            visited_points: self.visited_points.swap(0, Ordering::Relaxed),
            contacts: self.contacts.swap(0, Ordering::Relaxed),
            solver_contacts: self.solver_contacts.swap(0, Ordering::Relaxed),
        }
    }
}
