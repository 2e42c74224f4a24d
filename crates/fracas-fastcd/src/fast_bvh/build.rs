//! Building subtrees: the fast construction of [Heo 2010, §5.5], and the two it is
//! compared with, median splits and binned SAH.
//!
//! A builder arranges *items* (triangles, or whole subtrees that stay as they are)
//! by their centres. Boxes are not needed: the refit that follows makes them.
//!
//! Grid, k = 1: the items' box is cut into 2 x 2 x 2 cells; each item falls into its
//! cell in constant time, and a balanced tree of three levels stands on the cells.
//! Cells with at least G items are cut again, the others are split at medians.
//!
//! **Deviations**: the grid spans the centres rather than the boxes, so that a cut
//! always divides (unless all centres coincide: then the list is halved). Empty
//! cells make no nodes, so no memory is lost to them. After 16 cuts in a row, which
//! only very uneven input asks for, medians take over, so the depth is bounded by
//! 48 plus the logarithm.

use super::Builder;
use super::tree::{Bounds, LEAF_TRIANGLES};

/// What a builder arranges.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Item {
    /// A triangle.
    Triangle(u32),
    /// A subtree of the old tree, by its root, copied as it is.
    Subtree(u32),
    /// Items of a group, built into a subtree of their own.
    Group(u32),
}

/// An item with its place in space.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ref {
    pub(crate) centre: [f32; 3],
    pub(crate) item: Item,
}

/// Where the shape of a new tree goes, depth first.
pub(crate) trait Emit {
    /// An inner node begins; returns a handle.
    fn open(&mut self) -> usize;
    /// Its left subtree is complete.
    fn middle(&mut self, handle: usize);
    /// Its right subtree is complete.
    fn close(&mut self, handle: usize);
    /// A leaf: one item of any kind, or a few triangles.
    fn leaf(&mut self, items: &[Ref]);
    /// The box of an item, for builders that weigh them.
    fn bounds(&self, item: Item) -> Bounds;
}

/// Arranges `items` (not empty) below one node.
pub(crate) fn build(builder: Builder, items: &mut [Ref], out: &mut impl Emit) {
    match builder {
        Builder::Grid { limit } => grid(items, limit.max(2) as usize, 0, out),
        Builder::Median => median(items, None, out),
        Builder::RandomAxis { seed } => median(items, Some(seed), out),
        Builder::BinnedSah => {
            let mut boxed: Vec<Boxed> = items
                .iter()
                .map(|&r| Boxed {
                    bounds: out.bounds(r.item),
                    r,
                })
                .collect();
            binned_sah(&mut boxed, 0, out);
        }
    }
}

fn is_leaf(items: &[Ref]) -> bool {
    items.len() == 1
        || items.len() <= LEAF_TRIANGLES
            && items.iter().all(|r| matches!(r.item, Item::Triangle(_)))
}

fn centre_bounds(items: &[Ref]) -> ([f32; 3], [f32; 3]) {
    let (mut low, mut high) = ([f32::INFINITY; 3], [f32::NEG_INFINITY; 3]);
    for r in items {
        for k in 0..3 {
            low[k] = low[k].min(r.centre[k]);
            high[k] = high[k].max(r.centre[k]);
        }
    }
    (low, high)
}

fn grid(items: &mut [Ref], limit: usize, depth: usize, out: &mut impl Emit) {
    if items.len() < limit || depth >= 16 {
        return median(items, None, out);
    }
    let (low, high) = centre_bounds(items);
    let middle = [0, 1, 2].map(|k| 0.5 * low[k] + 0.5 * high[k]);
    let cell = |r: &Ref| {
        usize::from(r.centre[0] > middle[0])
            | usize::from(r.centre[1] > middle[1]) << 1
            | usize::from(r.centre[2] > middle[2]) << 2
    };
    // Counting sort by cell, in place.
    let mut count = [0_usize; 8];
    for r in items.iter() {
        count[cell(r)] += 1;
    }
    if count.contains(&items.len()) {
        return median(items, None, out);
    }
    let mut start = [0_usize; 9];
    for c in 0..8 {
        start[c + 1] = start[c] + count[c];
    }
    let mut next = start;
    for c in 0..8 {
        while next[c] < start[c + 1] {
            let home = cell(&items[next[c]]);
            if home == c {
                next[c] += 1;
            } else {
                items.swap(next[c], next[home]);
                next[home] += 1;
            }
        }
    }
    cells(items, &start, 0, 8, limit, depth, out);
}

/// The balanced tree over cells `from..to`, without the empty ones.
fn cells(
    items: &mut [Ref],
    start: &[usize; 9],
    from: usize,
    to: usize,
    limit: usize,
    depth: usize,
    out: &mut impl Emit,
) {
    let offset = start[from];
    if to - from == 1 {
        return grid(items, limit, depth + 1, out);
    }
    let middle = (from + to) / 2;
    let (left, right) = items.split_at_mut(start[middle] - offset);
    match (left.is_empty(), right.is_empty()) {
        (false, false) => {
            let handle = out.open();
            cells(left, start, from, middle, limit, depth, out);
            out.middle(handle);
            cells(right, start, middle, to, limit, depth, out);
            out.close(handle);
        }
        (false, true) => cells(left, start, from, middle, limit, depth, out),
        _ => cells(right, start, middle, to, limit, depth, out),
    }
}

/// Halves at the median of the longest axis, or of a random one.
fn median(items: &mut [Ref], random: Option<u64>, out: &mut impl Emit) {
    if is_leaf(items) {
        return out.leaf(items);
    }
    let (low, high) = centre_bounds(items);
    let axis = match random {
        None => longest([0, 1, 2].map(|k| high[k] - low[k])),
        Some(seed) => (mix(seed) % 3) as usize,
    };
    // Whole leaves on the left, so that leaves are full.
    let half = items.len() / 2;
    let half = if items.len() > 2 * LEAF_TRIANGLES {
        half.next_multiple_of(LEAF_TRIANGLES)
    } else {
        half
    };
    items.select_nth_unstable_by(half, |a, b| a.centre[axis].total_cmp(&b.centre[axis]));
    let (left, right) = items.split_at_mut(half);
    let handle = out.open();
    median(left, random.map(|seed| mix(seed ^ 1)), out);
    out.middle(handle);
    median(right, random.map(|seed| mix(seed ^ 2)), out);
    out.close(handle);
}

/// The next number of a splitmix64 sequence.
fn mix(seed: u64) -> u64 {
    let mut state = seed;
    fracas_geometry::splitmix64(&mut state)
}

fn longest(e: [f32; 3]) -> usize {
    if e[0] >= e[1] && e[0] >= e[2] {
        0
    } else if e[1] >= e[2] {
        1
    } else {
        2
    }
}

#[derive(Clone, Copy)]
struct Boxed {
    bounds: Bounds,
    r: Ref,
}

const BINS: usize = 16;

/// Surface area heuristic over 16 bins on the longest axis of the centres.
fn binned_sah(items: &mut [Boxed], depth: usize, out: &mut impl Emit) {
    let all_triangles = items.iter().all(|b| matches!(b.r.item, Item::Triangle(_)));
    if items.len() == 1 || items.len() <= LEAF_TRIANGLES && all_triangles {
        let mut few = [items[0].r; LEAF_TRIANGLES];
        for (slot, b) in few.iter_mut().zip(items.iter()) {
            *slot = b.r;
        }
        return out.leaf(&few[..items.len()]);
    }
    let (mut low, mut high) = ([f32::INFINITY; 3], [f32::NEG_INFINITY; 3]);
    for b in items.iter() {
        for k in 0..3 {
            low[k] = low[k].min(b.r.centre[k]);
            high[k] = high[k].max(b.r.centre[k]);
        }
    }
    let axis = longest([0, 1, 2].map(|k| high[k] - low[k]));
    let width = high[axis] - low[axis];
    let mut split = None;
    let scale = BINS as f32 * (1.0 - 1e-6) / width;
    if width > 0.0 && scale.is_finite() && depth < 64 {
        let bin = |b: &Boxed| (((b.r.centre[axis] - low[axis]) * scale) as usize).min(BINS - 1);
        let mut bins = [(Bounds::EMPTY, 0_usize); BINS];
        for b in items.iter() {
            let slot = &mut bins[bin(b)];
            slot.0 = slot.0.union(&b.bounds);
            slot.1 += 1;
        }
        let mut from_right = [(0.0_f64, 0_usize); BINS];
        let (mut bounds, mut count) = (Bounds::EMPTY, 0);
        for i in (1..BINS).rev() {
            bounds = bounds.union(&bins[i].0);
            count += bins[i].1;
            from_right[i] = (bounds.area(), count);
        }
        let (mut bounds, mut count) = (Bounds::EMPTY, 0);
        let mut best = f64::INFINITY;
        for i in 1..BINS {
            bounds = bounds.union(&bins[i - 1].0);
            count += bins[i - 1].1;
            if count == 0 || from_right[i].1 == 0 {
                continue;
            }
            let cost = bounds.area() * count as f64 + from_right[i].0 * from_right[i].1 as f64;
            if cost < best {
                best = cost;
                split = Some(i);
            }
        }
        if let Some(split) = split {
            let mut left = 0;
            for i in 0..items.len() {
                if bin(&items[i]) < split {
                    items.swap(left, i);
                    left += 1;
                }
            }
            let (a, b) = items.split_at_mut(left);
            let handle = out.open();
            binned_sah(a, depth + 1, out);
            out.middle(handle);
            binned_sah(b, depth + 1, out);
            return out.close(handle);
        }
    }
    let half = items.len() / 2;
    items.select_nth_unstable_by(half, |a, b| a.r.centre[axis].total_cmp(&b.r.centre[axis]));
    let (a, b) = items.split_at_mut(half);
    let handle = out.open();
    binned_sah(a, depth + 1, out);
    out.middle(handle);
    binned_sah(b, depth + 1, out);
    out.close(handle);
}
