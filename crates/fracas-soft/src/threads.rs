//! Two things at once.

/// Runs both: on two threads of the caller's pool, if `parallel` (with the feature of that name).
pub(crate) fn both<A: Send, B: Send>(
    first: impl FnOnce() -> A + Send,
    second: impl FnOnce() -> B + Send,
    parallel: bool,
) -> (A, B) {
    #[cfg(feature = "parallel")]
    if parallel {
        return rayon::join(first, second);
    }
    let _ = parallel;
    (first(), second())
}
