//! Sphere trees of fragments that were just born, made when somebody asks.
//!
//! A body needs its mass, its box and its reach before the next step; its points only
//! when it is asked for contacts that are not known otherwise. The trees of all fragments
//! of one fracture are made together, on whatever thread asks first, or some steps later
//! at the latest ([`crate::breakables`]).
//!
//! **Guarantee**: the same bits whenever they are made, and whoever asks in what order:
//! they are made of what was there right after the cut, which this keeps until then.

use std::cell::RefCell;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use fracas_core::sphere_tree::{SplitMethod, SplitScratch};
use fracas_core::{Fragments, SphereTree, Split};

use crate::trace;

thread_local! {
    /// Objects are many and seldom break: workspace belongs to threads, not to them.
    static SCRATCH: RefCell<SplitScratch> = RefCell::default();
}

/// What trees are made of.
#[derive(Debug)]
struct Parts {
    parent: Arc<SphereTree>,
    fragments: Arc<Fragments>,
    split: Split,
    restructuring: SplitMethod,
}

/// The trees of all fragments of one fracture, made or not.
#[derive(Debug)]
pub(crate) struct LateTrees {
    /// Until they are made.
    parts: Mutex<Option<Parts>>,
    made: OnceLock<Made>,
}

#[derive(Debug)]
struct Made {
    trees: Vec<Arc<SphereTree>>,
    /// How long it took, in seconds.
    spent: f64,
}

impl LateTrees {
    /// Of a fracture; `fragments` as they are right after it, `parent` the tree of what
    /// broke.
    pub(crate) fn new(
        parent: Arc<SphereTree>,
        fragments: Arc<Fragments>,
        split: Split,
        restructuring: SplitMethod,
    ) -> Self {
        Self {
            parts: Mutex::new(Some(Parts {
                parent,
                fragments,
                split,
                restructuring,
            })),
            made: OnceLock::new(),
        }
    }

    /// The tree of the `child`th fragment, made now if it was not.
    pub(crate) fn get(&self, child: usize) -> &Arc<SphereTree> {
        &self.made().trees[child]
    }

    /// The tree of the `child`th fragment, if it was made.
    pub(crate) fn get_made(&self, child: usize) -> Option<&Arc<SphereTree>> {
        self.made.get().map(|made| &made.trees[child])
    }

    /// Makes all of them, if they were not.
    pub(crate) fn make(&self) {
        self.made();
    }

    /// Seconds that making them took, once they are made.
    pub(crate) fn spent(&self) -> Option<f64> {
        self.made.get().map(|m| m.spent)
    }

    fn made(&self) -> &Made {
        self.made.get_or_init(|| {
            let mut parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
            let Parts {
                parent,
                fragments,
                split,
                restructuring,
            } = parts.take().expect("they are taken once, here");
            let _span = trace::span("tree", || {
                [("fragment", u64::from(split.parent.0)), ("", 0)]
            });
            let start = now();
            let trees = SCRATCH.with_borrow_mut(|scratch| {
                parent.apply(&fragments, &split, restructuring, scratch)
            });
            Made {
                trees: trees.into_iter().map(Arc::new).collect(),
                spent: now() - start,
            }
        })
    }
}

/// Seconds since any moment; always zero where there is no clock.
fn now() -> f64 {
    #[cfg(not(target_arch = "wasm32"))]
    {
        static START: OnceLock<std::time::Instant> = OnceLock::new();
        START
            .get_or_init(std::time::Instant::now)
            .elapsed()
            .as_secs_f64()
    }
    #[cfg(target_arch = "wasm32")]
    0.0
}
