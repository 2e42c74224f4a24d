//! Queries allocate nothing in steady state: counted by an allocator that counts.

#![allow(
    unsafe_code,
    reason = "an allocator is an unsafe trait; this one only counts"
)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use fracas_conformance::broken::Broken;
use fracas_core::sphere_tree::{
    AdaptiveSettings, HalfSpace, PairState, Query, QueryScratch, Question,
};
use fracas_core::testing::{Rng, box_grid};
use fracas_core::{Contact, FragmentId, Pose};
use glam::Vec3;

struct Counting;

thread_local! {
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: every call is handed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.with(|c| c.set(c.get() + 1));
        // SAFETY: as required of our own caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: as required of our own caller.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn queries_reuse_their_memory() {
    let mut rng = Rng(3);
    let mut object = Broken::new(box_grid([7, 7, 7], Vec3::ONE));
    object.break_into(FragmentId(0), 8, &mut rng);
    let living = object.living();
    let floor = HalfSpace::new(Vec3::Y, 0.2);
    let mut scratch = QueryScratch::default();
    let mut out: Vec<Contact> = Vec::new();
    let mut stack = Vec::new();
    let mut states = vec![PairState::default(); living.len() * living.len()];
    // Back and forth between two placements, so far apart that what pairs remember of
    // the one is void at the other.
    let mut all_pairs = |at: f32, scratch: &mut QueryScratch, out: &mut Vec<Contact>| {
        let mut contacts = 0;
        for (i, &a) in living.iter().enumerate() {
            for (j, &b) in living.iter().enumerate().filter(|&(j, _)| j != i) {
                let tree = object.tree(a);
                let query = Query::new(0.01, tree.object_radius());
                out.clear();
                let state = &mut states[i * living.len() + j];
                let (pose, partner) = (Pose::translation(Vec3::X * at), object.distance(b));
                tree.contacts(&pose, &partner, &query, scratch, out);
                tree.contacts(&pose, &floor, &query, scratch, out);
                tree.contacts_adaptive(
                    &Question::new(&pose, &partner, &query),
                    &AdaptiveSettings::default(),
                    state,
                    scratch,
                    out,
                );
                let still = fracas_core::sphere_tree::Motion::rest(Pose::IDENTITY);
                tree.first_impact(&still, &floor, &still, 1e-3, &mut stack);
                contacts += out.len();
            }
        }
        contacts
    };
    // Until every pair has as many contacts as it wants.
    for _ in 0..80 {
        all_pairs(0.0, &mut scratch, &mut out);
        all_pairs(0.012, &mut scratch, &mut out);
    }
    let before = COUNT.with(Cell::get);
    let contacts = all_pairs(0.0, &mut scratch, &mut out);
    all_pairs(0.012, &mut scratch, &mut out);
    let after = COUNT.with(Cell::get);
    assert!(contacts > 100);
    assert_eq!(after - before, 0, "queries allocated");
}
