//! Which features are near a point: a shallow tree of boxes over features that lie
//! one after another in memory.
//!
//! Steps: features are put in order by halving ([`order_in_clusters`]) -> eight successive
//! ones share a [`Block`], eight successive blocks the next -> a search opens nearer boxes
//! first and skips those beyond the best distance so far.
//!
//! (Features are also numbered along a space-filling curve before they are made,
//! [`sort_by_place`]: neighbours lie near in memory. As the order of a tree that is not good
//! enough: a fragment's boundary and each of its cracks would be trees of their own, in the
//! same place. Decision 0013.)
//!
//! A tree is built once and never changes. Each fragment has one over its own faces
//! (`own_faces.rs`).
//!
//! **Guarantee**: boxes are exact, and compared with some slack for rounding, so no feature
//! within the limit is missed.

use glam::Vec3;
use wide::f32x8;

/// Children of a block.
const WIDTH: usize = 8;
/// Levels of a tree: eight to this power is more than there are features.
const MOST_LEVELS: usize = 11;
/// Bits of a block's place within its level; ids of features have 30 bits.
const PLACE_BITS: u32 = 28;
/// Relative slack of squared distances to boxes, against rounding.
const SLACK: f32 = 1.0 + 1e-5;

/// An axis-aligned box.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    pub(super) low: Vec3,
    pub(super) high: Vec3,
}

impl Bounds {
    pub(super) const EMPTY: Self = Self {
        low: Vec3::INFINITY,
        high: Vec3::NEG_INFINITY,
    };

    #[inline]
    pub(super) fn of(points: &[Vec3]) -> Self {
        let mut bounds = Self::EMPTY;
        for &p in points {
            bounds.add(p);
        }
        bounds
    }

    #[inline]
    pub(super) fn add(&mut self, p: Vec3) {
        self.low = least(self.low, p);
        self.high = most(self.high, p);
    }

    #[inline]
    fn join(self, other: Self) -> Self {
        Self {
            low: least(self.low, other.low),
            high: most(self.high, other.high),
        }
    }
}

// Comparisons instead of `min` and `max`, which must care for NaN.
#[inline]
pub(super) fn least(a: Vec3, b: Vec3) -> Vec3 {
    let pick = |a: f32, b: f32| if a < b { a } else { b };
    Vec3::new(pick(a.x, b.x), pick(a.y, b.y), pick(a.z, b.z))
}

#[inline]
pub(super) fn most(a: Vec3, b: Vec3) -> Vec3 {
    let pick = |a: f32, b: f32| if a > b { a } else { b };
    Vec3::new(pick(a.x, b.x), pick(a.y, b.y), pick(a.z, b.z))
}

/// Eight boxes, one in each lane. Plain numbers: bytes would take a third of the memory
/// and, to be decoded, three times the time.
#[derive(Clone, Copy, Debug)]
struct Block {
    low: [f32x8; 3],
    high: [f32x8; 3],
}

impl Block {
    /// Around up to eight boxes, and the box of all.
    fn around(boxes: &[Bounds]) -> (Self, Bounds) {
        let mut all = Bounds::EMPTY;
        let (mut low, mut high) = ([[f32::INFINITY; WIDTH]; 3], [[f32::NEG_INFINITY; WIDTH]; 3]);
        for (i, bounds) in boxes.iter().take(WIDTH).enumerate() {
            all = all.join(*bounds);
            for axis in 0..3 {
                low[axis][i] = bounds.low[axis];
                high[axis][i] = bounds.high[axis];
            }
        }
        let block = Self {
            low: low.map(f32x8::new),
            high: high.map(f32x8::new),
        };
        (block, all)
    }

    /// Squared distances from a point to the eight boxes.
    #[inline]
    fn distances_squared(&self, p: Vec3) -> f32x8 {
        let mut sum = f32x8::ZERO;
        for axis in 0..3 {
            let x = f32x8::splat(p[axis]);
            let off = (self.low[axis] - x).fast_max(x - self.high[axis]);
            let off = off.fast_max(f32x8::ZERO);
            sum += off * off;
        }
        sum
    }
}

/// A tree over features that are numbered from zero.
#[derive(Clone, Debug)]
pub(super) struct FaceTree {
    bounds: Bounds,
    /// The lowest level first; the last block is the root.
    blocks: Vec<Block>,
    /// How many things each level's blocks hold: features, then blocks.
    counts: [u32; MOST_LEVELS],
    /// Where each level's blocks begin.
    starts: [u32; MOST_LEVELS],
    levels: usize,
}

impl FaceTree {
    /// A tree over features with the given boxes, which serve as workspace.
    pub(super) fn build(boxes: &mut Vec<Bounds>) -> Self {
        let mut tree = Self {
            bounds: Bounds::EMPTY,
            blocks: Vec::with_capacity(boxes.len() / (WIDTH - 1) + 2),
            counts: [0; MOST_LEVELS],
            starts: [0; MOST_LEVELS],
            levels: 0,
        };
        while !boxes.is_empty() {
            tree.counts[tree.levels] = boxes.len() as u32;
            tree.starts[tree.levels] = tree.blocks.len() as u32;
            tree.levels += 1;
            let mut made = 0;
            for start in (0..boxes.len()).step_by(WIDTH) {
                let end = (start + WIDTH).min(boxes.len());
                let (block, all) = Block::around(&boxes[start..end]);
                tree.blocks.push(block);
                // Never ahead of what is still to be read.
                boxes[made] = all;
                made += 1;
            }
            if made == 1 {
                tree.bounds = boxes[0];
                break;
            }
            boxes.truncate(made);
        }
        tree
    }

    /// Calls `visit` with the features whose boxes are within the limit, a squared
    /// distance that `visit` may lower. Nearer ones tend to come first.
    #[inline]
    pub(super) fn search(&self, p: Vec3, limit: &mut f32, mut visit: impl FnMut(u32, &mut f32)) {
        let off = p - p.max(self.bounds.low).min(self.bounds.high);
        if self.levels == 0 || off.length_squared() > *limit * SLACK {
            return;
        }
        // Distance; level and place within the level.
        let mut stack = [(0.0_f32, 0_u32); WIDTH * MOST_LEVELS];
        stack[0] = (off.length_squared(), (self.levels as u32 - 1) << PLACE_BITS);
        let mut depth = 1;
        while depth > 0 {
            depth -= 1;
            let (distance, packed) = stack[depth];
            if distance > *limit * SLACK {
                continue;
            }
            let (level, place) = (packed >> PLACE_BITS, packed & ((1 << PLACE_BITS) - 1));
            let block = &self.blocks[(self.starts[level as usize] + place) as usize];
            let distances = block.distances_squared(p);
            let base = place * WIDTH as u32;
            let count = (self.counts[level as usize] - base).min(WIDTH as u32) as usize;
            // Most are beyond the limit: lanes first, then one by one what is left.
            let near = distances.simd_le(f32x8::splat(*limit * SLACK));
            let mut within = near.to_bitmask() & ((1 << count) - 1);
            let distances = distances.to_array();
            let bottom = depth;
            while within != 0 {
                let i = within.trailing_zeros() as usize;
                within &= within - 1;
                if level == 0 {
                    if distances[i] <= *limit * SLACK {
                        visit(base + i as u32, limit);
                    }
                    continue;
                }
                // Kept in order, the nearest on top.
                let mut at = depth;
                while at > bottom && stack[at - 1].0 < distances[i] {
                    stack[at] = stack[at - 1];
                    at -= 1;
                }
                stack[at] = (distances[i], (level - 1) << PLACE_BITS | (base + i as u32));
                depth += 1;
            }
        }
    }

    pub(super) fn bytes(&self) -> usize {
        size_of::<Self>() + self.blocks.len() * size_of::<Block>()
    }
}

/// An order of features in which those that share a block, and blocks that share one, lie
/// close together: halved along the longest side, at places where full blocks end, until a
/// part fills one block.
pub(super) fn order_in_clusters(boxes: &[Bounds]) -> Vec<u32> {
    let centres: Vec<Vec3> = boxes.iter().map(|b| b.low + b.high).collect();
    let mut items: Vec<u64> = (0..boxes.len() as u64).collect();
    let mut full = WIDTH;
    while full * WIDTH < items.len() {
        full *= WIDTH;
    }
    cluster(&mut items, &centres, full);
    items.iter().map(|&item| item as u32).collect()
}

/// Orders items, which hold a feature in their lower half. `full` is what the largest
/// subtree that is no larger than they are holds. Which items come into which half is
/// unique; in which order the halving leaves them has no say in the result.
fn cluster(items: &mut [u64], centres: &[Vec3], mut full: usize) {
    let feature = |item: u64| item & u64::from(u32::MAX);
    if items.len() <= WIDTH {
        items.iter_mut().for_each(|item| *item = feature(*item));
        items.sort_unstable();
        return;
    }
    while full >= items.len() {
        full /= WIDTH;
    }
    let mut all = Bounds::EMPTY;
    for &item in &*items {
        all.add(centres[feature(item) as usize]);
    }
    let size = all.high - all.low;
    let axis = (1..3).fold(0, |most, i| if size[i] > size[most] { i } else { most });
    for item in &mut *items {
        let bits = centres[feature(*item) as usize][axis].to_bits();
        // Increasing with the number, whatever its sign.
        let rank = bits ^ if bits >> 31 == 1 { u32::MAX } else { 1 << 31 };
        *item = u64::from(rank) << 32 | feature(*item);
    }
    let middle = items.len().div_ceil(full) / 2 * full;
    items.select_nth_unstable(middle);
    let (first, second) = items.split_at_mut(middle);
    cluster(first, centres, full);
    cluster(second, centres, full);
}

/// Orders things by place along a space-filling curve (Morton's) through a box.
#[derive(Clone, Copy, Debug)]
pub(super) struct Curve {
    low: Vec3,
    scale: f32,
}

/// Bits of each coordinate on the curve.
const CURVE_BITS: u32 = 10;
const DIGIT_BITS: u32 = 10;

impl Curve {
    pub(super) fn new(low: Vec3, high: Vec3) -> Self {
        let size = (high - low).max_element().max(f32::MIN_POSITIVE);
        Self {
            low,
            scale: ((1 << CURVE_BITS) - 1) as f32 / size,
        }
    }

    /// The place of a point with an item at it, to be sorted.
    #[inline]
    pub(super) fn item(&self, p: Vec3, item: u32) -> u64 {
        let at = (p - self.low) * self.scale;
        let place = spread(at.x as u32) | spread(at.y as u32) << 1 | spread(at.z as u32) << 2;
        u64::from(place) << 32 | u64::from(item)
    }
}

/// Puts two zeros between the ten low bits.
#[inline]
fn spread(x: u32) -> u32 {
    let x = x & 0x3FF;
    let x = (x | x << 16) & 0x0300_00FF;
    let x = (x | x << 8) & 0x0300_F00F;
    let x = (x | x << 4) & 0x030C_30C3;
    (x | x << 2) & 0x0924_9249
}

/// Sorts what [`Curve::item`] has made by place; of equal places the earlier stays
/// first. Linear in their number.
pub(super) fn sort_by_place(items: &mut Vec<u64>, spare: &mut Vec<u64>) {
    if items.len() < 256 {
        items.sort_by_key(|item| item >> 32);
        return;
    }
    spare.clear();
    spare.resize(items.len(), 0);
    for pass in 0..3 * CURVE_BITS / DIGIT_BITS {
        let digit =
            |item: u64| (item >> (32 + pass * DIGIT_BITS)) as usize & ((1 << DIGIT_BITS) - 1);
        let mut starts = [0_u32; 1 << DIGIT_BITS];
        for &item in items.iter() {
            starts[digit(item)] += 1;
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += std::mem::replace(start, sum);
        }
        for &item in items.iter() {
            let start = &mut starts[digit(item)];
            spare[*start as usize] = item;
            *start += 1;
        }
        std::mem::swap(items, spare);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Rng;

    #[test]
    fn a_search_misses_no_box_in_reach_whatever_its_size() {
        let mut rng = Rng(31);
        for (count, flat) in [(0, false), (1, true), (7, false), (9, true), (700, false)] {
            let made: Vec<Bounds> = (0..count)
                .map(|_| {
                    let mut centre = rng.in_box(Vec3::NEG_ONE, Vec3::ONE) * 10.0;
                    if flat {
                        centre.y = 0.25;
                    }
                    let far = centre + rng.direction() * rng.range(0.0, 2.0);
                    Bounds::of(&[centre, if flat { centre } else { far }])
                })
                .collect();
            let tree = FaceTree::build(&mut made.clone());
            for _ in 0..200 {
                let p = rng.in_box(Vec3::splat(-15.0), Vec3::splat(15.0));
                let exact = |b: &Bounds| p.distance_squared(p.clamp(b.low, b.high));
                // All within a fixed limit.
                let mut limit = rng.range(0.0, 100.0);
                let wanted = limit;
                let mut seen = vec![false; count];
                tree.search(p, &mut limit, |id, _| {
                    assert!(!std::mem::replace(&mut seen[id as usize], true));
                });
                for (b, seen) in made.iter().zip(&seen) {
                    assert!(*seen || exact(b) > wanted);
                    assert!(!*seen || exact(b) <= 1.0001 * wanted);
                }
                // The nearest, with a limit that shrinks.
                let mut best = f32::INFINITY;
                tree.search(p, &mut best, |id, limit| {
                    *limit = limit.min(exact(&made[id as usize]));
                });
                assert_eq!(best, made.iter().map(exact).fold(f32::INFINITY, f32::min));
            }
        }
    }

    #[test]
    fn clusters_hold_every_feature_once_and_are_small() {
        let mut rng = Rng(17);
        for count in [0, 1, 8, 9, 64, 65, 513, 3000] {
            // Two sheets in the same place, one listed after the other.
            let boxes: Vec<Bounds> = (0..count)
                .map(|i| {
                    let p = rng.in_box(Vec3::ZERO, Vec3::ONE);
                    let z = if i < count / 2 { 0.0 } else { 0.01 };
                    // On both sides of zero; boxes of some size, centred on the point.
                    let (p, half) = (Vec3::new(p.x - 0.5, p.y - 0.5, z), rng.range(0.0, 1e-3));
                    Bounds::of(&[p - Vec3::splat(half), p + Vec3::splat(half)])
                })
                .collect();
            let order = order_in_clusters(&boxes);
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert!(sorted.into_iter().eq(0..count as u32));
            // Blocks of equal squares would have sides of this length.
            let side = (8.0 / count.max(8) as f32).sqrt();
            let lengths = order.chunks(WIDTH).map(|block| {
                let all = block.iter().map(|&i| boxes[i as usize]);
                let all = all.fold(Bounds::EMPTY, Bounds::join);
                (all.high - all.low).max_element()
            });
            let mean = lengths.sum::<f32>() / order.len().div_ceil(WIDTH).max(1) as f32;
            assert!(mean <= 1.5 * side, "{count}: {mean} of {side}");
        }
    }

    #[test]
    fn bytes_are_those_of_the_blocks() {
        for (count, blocks) in [(0, 0), (1, 1), (8, 1), (9, 3), (64, 9), (65, 12)] {
            let mut boxes = vec![Bounds::of(&[Vec3::ZERO]); count];
            let tree = FaceTree::build(&mut boxes);
            assert_eq!(
                tree.bytes(),
                size_of::<FaceTree>() + blocks * size_of::<Block>()
            );
        }
    }

    #[test]
    fn a_place_has_the_bits_of_its_coordinates_in_turn() {
        let curve = Curve::new(Vec3::new(-1.0, 2.0, 0.0), Vec3::new(1022.0, 3.0, 4.0));
        let mut rng = Rng(9);
        for _ in 0..300 {
            let [x, y, z] = [(); 3].map(|()| rng.below(1024) as u32);
            let p = Vec3::new(x as f32 - 1.0, y as f32 + 2.0, z as f32) + Vec3::splat(0.25);
            let item = curve.item(p, 77);
            assert_eq!(item as u32, 77);
            for bit in 0..10 {
                for (axis, coordinate) in [x, y, z].into_iter().enumerate() {
                    let told = item >> (32 + 3 * bit + axis) & 1;
                    assert_eq!(told, u64::from(coordinate >> bit & 1));
                }
            }
        }
    }

    #[test]
    fn sorting_by_place_is_sorting() {
        let mut rng = Rng(8);
        let curve = Curve::new(Vec3::NEG_ONE, Vec3::ONE);
        for count in [0, 1, 255, 3000] {
            let mut items: Vec<u64> = (0..count)
                .map(|i| curve.item(rng.in_box(Vec3::NEG_ONE, Vec3::ONE), i))
                .collect();
            let mut expected = items.clone();
            expected.sort_by_key(|item| item >> 32);
            sort_by_place(&mut items, &mut Vec::new());
            assert_eq!(items, expected);
        }
    }
}
