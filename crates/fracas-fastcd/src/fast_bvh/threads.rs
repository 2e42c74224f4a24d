//! Work that is cut for the caller's rayon pool, where that is wanted.
//!
//! **Guarantee**: the same bits with and without threads, whatever their number. Tasks write
//! each what is theirs alone, and results are joined by operations that give the same in any
//! order (the largest of numbers), or in the order of the tasks.

use std::ops::Range;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering::Relaxed};

use glam::{DVec3, Vec3};

/// Items in a task.
pub(crate) const CHUNK: usize = 4096;

/// Calls `work` for each item, with its index.
pub(crate) fn each<T: Send>(parallel: bool, items: &mut [T], work: impl Fn(usize, &mut T) + Sync) {
    #[cfg(feature = "parallel")]
    if parallel {
        use rayon::prelude::*;
        let items = items.par_iter_mut().enumerate();
        return items.with_max_len(1).for_each(|(i, item)| work(i, item));
    }
    let _ = parallel;
    for (i, item) in items.iter_mut().enumerate() {
        work(i, item);
    }
}

/// Calls both.
pub(crate) fn both(parallel: bool, a: impl FnOnce() + Send, b: impl FnOnce() + Send) {
    #[cfg(feature = "parallel")]
    if parallel {
        rayon::join(a, b);
        return;
    }
    let _ = parallel;
    a();
    b();
}

/// Writes to each item of `out` what belongs to the item of `from` at the same index.
pub(crate) fn map_into<A: Sync, B: Send>(
    parallel: bool,
    from: &[A],
    out: &mut [B],
    map: impl Fn(&A, &mut B) + Sync,
) {
    let run = |(from, out): (&[A], &mut [B])| {
        for (a, b) in from.iter().zip(out) {
            map(a, b);
        }
    };
    #[cfg(feature = "parallel")]
    if parallel && from.len() > CHUNK {
        use rayon::prelude::*;
        let chunks = from.par_chunks(CHUNK).zip(out.par_chunks_mut(CHUNK));
        return chunks.for_each(run);
    }
    let _ = parallel;
    run((from, out));
}

/// What chunks of the items give, in their order.
pub(crate) fn of_chunks<T: Sync, R: Send>(
    parallel: bool,
    items: &[T],
    work: impl Fn(&[T]) -> R + Sync,
) -> Vec<R> {
    #[cfg(feature = "parallel")]
    if parallel && items.len() > CHUNK {
        use rayon::prelude::*;
        return items.par_chunks(CHUNK).map(&work).collect();
    }
    let _ = parallel;
    vec![work(items)]
}

/// The same for chunks of a range of numbers.
pub(crate) fn of_ranges<R: Send>(
    parallel: bool,
    all: Range<usize>,
    work: impl Fn(Range<usize>) -> R + Sync,
) -> Vec<R> {
    #[cfg(feature = "parallel")]
    if parallel && all.len() > CHUNK {
        use rayon::prelude::*;
        let chunks = (0..all.len().div_ceil(CHUNK)).into_par_iter();
        let chunk = |i: usize| {
            let from = all.start + i * CHUNK;
            work(from..all.end.min(from + CHUNK))
        };
        return chunks.with_max_len(1).map(chunk).collect();
    }
    let _ = parallel;
    vec![work(all)]
}

/// Sets all items to what they are at first.
fn clear<T: Default + Send>(parallel: bool, items: &mut [T]) {
    let mut chunks: Vec<&mut [T]> = items.chunks_mut(8 * CHUNK).collect();
    each(parallel, &mut chunks, |_, chunk| {
        for item in chunk.iter_mut() {
            *item = T::default();
        }
    });
}

macro_rules! slots {
    ($name:ident, $vector:ty, $atomic:ty) => {
        /// Vectors that tasks may write at once, each those of its own bodies. No slot is
        /// written by two of them, and none is read by another before they are joined.
        #[derive(Debug, Default)]
        pub(crate) struct $name(Vec<[$atomic; 3]>);

        impl $name {
            #[inline]
            pub(crate) fn get(&self, at: u32) -> $vector {
                let [x, y, z] = &self.0[at as usize];
                let read = |a: &$atomic| a.load(Relaxed);
                <$vector>::new(
                    Self::number(read(x)),
                    Self::number(read(y)),
                    Self::number(read(z)),
                )
            }

            #[inline]
            pub(crate) fn set(&self, at: u32, to: $vector) {
                for (slot, number) in self.0[at as usize].iter().zip(to.to_array()) {
                    slot.store(number.to_bits(), Relaxed);
                }
            }

            pub(crate) fn push(&mut self) {
                self.0.push(Default::default());
            }
        }

        impl Clone for $name {
            fn clone(&self) -> Self {
                let copy = |a: &$atomic| <$atomic>::new(a.load(Relaxed));
                let slots = self.0.iter();
                Self(slots.map(|[x, y, z]| [copy(x), copy(y), copy(z)]).collect())
            }
        }
    };
}

slots!(Slots, Vec3, AtomicU32);
slots!(WideSlots, DVec3, AtomicU64);

impl Slots {
    /// Makes so many, all zero.
    pub(crate) fn reset(&mut self, len: usize, parallel: bool) {
        self.0.resize_with(len, Default::default);
        clear(parallel, &mut self.0);
    }

    #[inline]
    fn number(bits: u32) -> f32 {
        f32::from_bits(bits)
    }
}

impl WideSlots {
    #[inline]
    fn number(bits: u64) -> f64 {
        f64::from_bits(bits)
    }
}

/// The same for bytes.
#[derive(Debug, Default)]
pub(crate) struct ByteSlots(Vec<AtomicU8>);

impl ByteSlots {
    #[inline]
    pub(crate) fn get(&self, at: u32) -> u8 {
        self.0[at as usize].load(Relaxed)
    }

    #[inline]
    pub(crate) fn set(&self, at: u32, to: u8) {
        self.0[at as usize].store(to, Relaxed);
    }

    /// Makes so many, all zero.
    pub(crate) fn reset(&mut self, len: usize, parallel: bool) {
        self.0.resize_with(len, AtomicU8::default);
        clear(parallel, &mut self.0);
    }

    /// Makes room; new ones hold `value`.
    pub(crate) fn grow(&mut self, len: usize, value: u8) {
        if self.0.len() < len {
            self.0.resize_with(len, || AtomicU8::new(value));
        }
    }
}

impl Clone for ByteSlots {
    fn clone(&self) -> Self {
        let copy = |a: &AtomicU8| AtomicU8::new(a.load(Relaxed));
        Self(self.0.iter().map(copy).collect())
    }
}
