//! Work on several threads, or one after the other where there are none.
//!
//! With the feature `parallel` on the rayon pool of the caller; without it, and on wasm,
//! in order. What is computed never depends on which: results are put together in the
//! order of the input.

/// Does both, perhaps at once.
#[cfg(feature = "parallel")]
pub(crate) fn both<A: Send, B: Send>(
    first: impl FnOnce() -> A + Send,
    second: impl FnOnce() -> B + Send,
) -> (A, B) {
    rayon::join(first, second)
}

/// Does both, perhaps at once.
#[cfg(not(feature = "parallel"))]
pub(crate) fn both<A: Send, B: Send>(
    first: impl FnOnce() -> A + Send,
    second: impl FnOnce() -> B + Send,
) -> (A, B) {
    (first(), second())
}

/// Does the same to every item, perhaps at once; results in the items' order.
#[cfg(feature = "parallel")]
pub(crate) fn map<T: Send, R: Send>(items: Vec<T>, work: impl Fn(T) -> R + Sync + Send) -> Vec<R> {
    use rayon::prelude::*;
    if items.len() < 2 {
        return items.into_iter().map(work).collect();
    }
    items.into_par_iter().with_max_len(1).map(work).collect()
}

/// Does the same to every item, perhaps at once; results in the items' order.
#[cfg(not(feature = "parallel"))]
pub(crate) fn map<T: Send, R: Send>(items: Vec<T>, work: impl Fn(T) -> R + Sync + Send) -> Vec<R> {
    items.into_iter().map(work).collect()
}
