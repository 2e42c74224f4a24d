//! Maximum-distance ordering: an order of points such that the first m of them
//! sample the whole set as evenly as greed allows, for every m.
//!
//! Source: [Glondu 2013, section 5.1]. Steps: the two furthest points -> again
//! and again the point furthest from all points chosen so far -> for every point,
//! its closest point among the level above (the first 2^l), its parent.
//!
//! | paper | here |
//! | --- | --- |
//! | L_m | the first m of [`Order::points`] |
//! | min over P_m of the distance | `gap_squared` |
//!
//! The paper compares all pairs, O(n^2). Here a k-d tree keeps, for every box,
//! the largest gap inside: the next point is read off the root, and a new point
//! descends only into boxes closer to it than their largest gap. The furthest
//! pair is found by descending two boxes at a time, largest possible distance first.
//!
//! **Guarantee**: exactly the greedy order, bit for bit that of the O(n^2) loop
//! (a test holds it): squared distances are evaluated in f64 by one formula whose
//! rounding is monotone, so a box's bound never exceeds a distance inside it. Ties
//! go to the lowest index; of several furthest pairs, the lexicographically first
//! counts. The result depends on positions and their indices alone.

use glam::{DVec3, Vec3};

/// Points of a leaf box: few enough to scan, enough to keep the tree small.
const LEAF_POINTS: usize = 8;

/// Points in maximum-distance order, with their parents.
#[derive(Clone, Debug, PartialEq)]
pub struct Order {
    /// Indices of the given points.
    pub points: Vec<u32>,
    /// For each place in the order: the place of its parent, the closest point
    /// among the first 2^l, where 2^l is the largest power of two not above the
    /// place. Place 0 is its own parent.
    pub parents: Vec<u32>,
    /// For each place k: the distance of its point to the closest one before it.
    /// This is the covering radius of the first k points (infinite for k = 0).
    pub gaps: Vec<f32>,
}

/// Orders points; all must be finite. An empty set has an empty order.
#[must_use]
pub fn maximum_distance_order(positions: &[Vec3]) -> Order {
    let n = positions.len();
    let mut order = Order {
        points: Vec::with_capacity(n),
        parents: Vec::with_capacity(n),
        gaps: Vec::with_capacity(n),
    };
    if n == 0 {
        return order;
    }
    let mut boxes = Boxes::build(positions);
    let (first, second) = boxes.furthest_pair();
    boxes.choose(first, 0);
    order.points.push(first);
    order.parents.push(0);
    order.gaps.push(f32::INFINITY);
    // Owners as they were when the level above was complete.
    let mut owners_above = boxes.owner.clone();
    for place in 1..n {
        if place.is_power_of_two() {
            owners_above.copy_from_slice(&boxes.owner);
        }
        // The two furthest points may be one and the same place: then all
        // points coincide, and the root knows the next by its index.
        let point = if place == 1 && second != first {
            second
        } else {
            boxes.tree[0].furthest
        };
        let slot = boxes.slot_of[point as usize] as usize;
        order.points.push(point);
        order.parents.push(owners_above[slot]);
        order.gaps.push(boxes.gap_squared[slot].sqrt() as f32);
        boxes.choose(point, place as u32);
    }
    order
}

/// A node of the k-d tree over slots `start..end`.
#[derive(Clone, Debug)]
struct KdBox {
    low: DVec3,
    high: DVec3,
    start: u32,
    end: u32,
    /// First of two children, or 0 for a leaf (the root is nobody's child).
    children: u32,
    /// Point with the largest gap inside, lowest index first.
    furthest: u32,
    /// Its gap; negative when all points inside are chosen.
    largest_gap_squared: f64,
}

struct Boxes {
    tree: Vec<KdBox>,
    /// Points in the order of the tree's leaves ("slots").
    points: Vec<u32>,
    positions: Vec<DVec3>,
    slot_of: Vec<u32>,
    /// Per slot: squared distance to the closest chosen point; -1 once chosen.
    gap_squared: Vec<f64>,
    /// Per slot: place of the closest chosen point.
    owner: Vec<u32>,
}

impl Boxes {
    fn build(positions: &[Vec3]) -> Self {
        let mut points: Vec<u32> = (0..positions.len() as u32).collect();
        let mut tree = vec![bounds_of(positions, &points, 0)];
        let mut next = 0;
        while next < tree.len() {
            let (start, end) = (tree[next].start as usize, tree[next].end as usize);
            if end - start > LEAF_POINTS {
                let size = tree[next].high - tree[next].low;
                let axis = (0..3).fold(0, |best, i| if size[i] > size[best] { i } else { best });
                let middle = (end - start) / 2;
                points[start..end].select_nth_unstable_by(middle, |&a, &b| {
                    positions[a as usize][axis]
                        .total_cmp(&positions[b as usize][axis])
                        .then(a.cmp(&b))
                });
                tree[next].children = tree.len() as u32;
                let (left, right) = points[start..end].split_at(middle);
                tree.push(bounds_of(positions, left, start as u32));
                tree.push(bounds_of(positions, right, (start + middle) as u32));
            }
            next += 1;
        }
        let mut slot_of = vec![0; points.len()];
        for (slot, &p) in points.iter().enumerate() {
            slot_of[p as usize] = slot as u32;
        }
        Self {
            tree,
            positions: points
                .iter()
                .map(|&p| positions[p as usize].as_dvec3())
                .collect(),
            slot_of,
            gap_squared: vec![f64::INFINITY; points.len()],
            owner: vec![0; points.len()],
            points,
        }
    }

    /// Makes `point` the chosen one at `place` and brings all gaps up to date.
    fn choose(&mut self, point: u32, place: u32) {
        let slot = self.slot_of[point as usize];
        self.lower_gaps(0, self.positions[slot as usize], slot, place);
    }

    fn lower_gaps(&mut self, index: usize, p: DVec3, chosen: u32, place: u32) {
        let KdBox {
            low,
            high,
            start,
            end,
            children,
            largest_gap_squared,
            ..
        } = self.tree[index];
        let holds_chosen = (start..end).contains(&chosen);
        let outside = (low - p).max(p - high).max(DVec3::ZERO);
        if !holds_chosen && outside.length_squared() >= largest_gap_squared {
            return;
        }
        let (mut furthest, mut gap) = (u32::MAX, f64::NEG_INFINITY);
        let mut consider = |g: f64, point: u32| {
            if g > gap || (g == gap && point < furthest) {
                (furthest, gap) = (point, g);
            }
        };
        if children == 0 {
            for slot in start as usize..end as usize {
                let d = (self.positions[slot] - p).length_squared();
                if d < self.gap_squared[slot] {
                    self.gap_squared[slot] = d;
                    self.owner[slot] = place;
                }
                if slot == chosen as usize {
                    self.gap_squared[slot] = -1.0;
                }
                consider(self.gap_squared[slot], self.points[slot]);
            }
        } else {
            for child in [children as usize, children as usize + 1] {
                self.lower_gaps(child, p, chosen, place);
                let child = &self.tree[child];
                consider(child.largest_gap_squared, child.furthest);
            }
        }
        self.tree[index].furthest = furthest;
        self.tree[index].largest_gap_squared = gap;
    }

    /// The two points furthest apart, the lower index first.
    fn furthest_pair(&self) -> (u32, u32) {
        let mut best = FurthestPair {
            squared: -1.0,
            pair: (0, 0),
        };
        // A good first guess prunes nearly everything: the point furthest from
        // point 0, then the point furthest from that, twice.
        let mut from = self.slot_of[0] as usize;
        for _ in 0..3 {
            let mut to = from;
            for slot in 0..self.points.len() {
                let d = (self.positions[slot] - self.positions[from]).length_squared();
                best.offer(d, self.points[from], self.points[slot]);
                if d > (self.positions[to] - self.positions[from]).length_squared() {
                    to = slot;
                }
            }
            from = to;
        }
        let mut stack = vec![(0_u32, 0_u32)];
        while let Some((a, b)) = stack.pop() {
            if self.largest_distance_squared(a, b) < best.squared {
                continue;
            }
            let (box_a, box_b) = (&self.tree[a as usize], &self.tree[b as usize]);
            if box_a.children == 0 && box_b.children == 0 {
                for i in box_a.start as usize..box_a.end as usize {
                    for j in box_b.start as usize..box_b.end as usize {
                        let d = (self.positions[i] - self.positions[j]).length_squared();
                        best.offer(d, self.points[i], self.points[j]);
                    }
                }
                continue;
            }
            let count = |b: &KdBox| b.end - b.start;
            let mut pairs: [Option<(u32, u32)>; 3] = [None; 3];
            if a == b {
                let (l, r) = (box_a.children, box_a.children + 1);
                pairs = [Some((l, l)), Some((r, r)), Some((l, r))];
            } else if box_b.children == 0 || (box_a.children != 0 && count(box_a) >= count(box_b)) {
                pairs[0] = Some((box_a.children, b));
                pairs[1] = Some((box_a.children + 1, b));
            } else {
                pairs[0] = Some((a, box_b.children));
                pairs[1] = Some((a, box_b.children + 1));
            }
            // The most promising pair is popped first.
            let bound = |p: &Option<(u32, u32)>| {
                p.map_or(-1.0, |(a, b)| self.largest_distance_squared(a, b))
            };
            pairs.sort_by(|x, y| bound(x).total_cmp(&bound(y)));
            stack.extend(pairs.into_iter().flatten());
        }
        best.pair
    }

    fn largest_distance_squared(&self, a: u32, b: u32) -> f64 {
        let (a, b) = (&self.tree[a as usize], &self.tree[b as usize]);
        (a.high - b.low).max(b.high - a.low).length_squared()
    }
}

struct FurthestPair {
    squared: f64,
    pair: (u32, u32),
}

impl FurthestPair {
    fn offer(&mut self, squared: f64, a: u32, b: u32) {
        if squared >= self.squared {
            let pair = (a.min(b), a.max(b));
            if squared > self.squared || pair < self.pair {
                *self = Self { squared, pair };
            }
        }
    }
}

fn bounds_of(positions: &[Vec3], points: &[u32], start: u32) -> KdBox {
    let mut low = DVec3::INFINITY;
    let mut high = DVec3::NEG_INFINITY;
    let mut lowest_index = u32::MAX;
    for &p in points {
        let x = positions[p as usize].as_dvec3();
        (low, high) = (low.min(x), high.max(x));
        lowest_index = lowest_index.min(p);
    }
    KdBox {
        low,
        high,
        start,
        end: start + points.len() as u32,
        children: 0,
        furthest: lowest_index,
        largest_gap_squared: f64::INFINITY,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Rng, box_grid};

    /// The definition, O(n^2).
    fn by_the_book(positions: &[Vec3]) -> Order {
        let n = positions.len();
        let d = |a: u32, b: u32| {
            (positions[a as usize].as_dvec3() - positions[b as usize].as_dvec3()).length_squared()
        };
        let mut pair = (0, 0);
        for i in 0..n as u32 {
            for j in i + 1..n as u32 {
                if d(i, j) > d(pair.0, pair.1) {
                    pair = (i, j);
                }
            }
        }
        let mut points: Vec<u32> = Vec::new();
        let mut gaps = Vec::new();
        while points.len() < n {
            let gap = |p: u32| {
                points
                    .iter()
                    .map(|&q| d(p, q))
                    .fold(f64::INFINITY, f64::min)
            };
            let next = match points.len() {
                0 => pair.0,
                1 if pair.0 != pair.1 => pair.1,
                _ => (0..n as u32)
                    .filter(|p| !points.contains(p))
                    .fold(u32::MAX, |best, p| {
                        if best == u32::MAX || gap(p) > gap(best) {
                            p
                        } else {
                            best
                        }
                    }),
            };
            gaps.push(gap(next).sqrt() as f32);
            points.push(next);
        }
        let parents = (0..n)
            .map(|k| {
                let above = if k == 0 { 1 } else { 1 << k.ilog2() };
                (0..above as u32).fold(0, |best, j| {
                    let to = |j: u32| d(points[k], points[j as usize]);
                    if to(j) < to(best) { j } else { best }
                })
            })
            .collect();
        Order {
            points,
            parents,
            gaps,
        }
    }

    #[test]
    fn it_is_the_greedy_order_bit_for_bit() {
        let mut rng = Rng(5);
        for n in [1, 2, 3, 9, 17, 100, 257] {
            let inside: Vec<Vec3> = (0..n).map(|_| rng.in_box(Vec3::ZERO, Vec3::ONE)).collect();
            let shell: Vec<Vec3> = (0..n).map(|_| rng.direction()).collect();
            let flat: Vec<Vec3> = inside.iter().map(|p| Vec3::new(p.x, 0.0, p.z)).collect();
            let same = vec![Vec3::ONE; n];
            let lattice: Vec<Vec3> = (0..n)
                .map(|i| Vec3::new((i % 5) as f32, (i / 5 % 5) as f32, (i / 25) as f32))
                .collect();
            let huge: Vec<Vec3> = inside.iter().map(|p| *p * 1e30).collect();
            let tiny: Vec<Vec3> = inside.iter().map(|p| *p * 1e-30).collect();
            for set in [inside, shell, flat, same, lattice, huge, tiny] {
                assert_eq!(
                    maximum_distance_order(&set),
                    by_the_book(&set),
                    "{n} points"
                );
            }
        }
    }

    #[test]
    fn nothing_is_ordered_as_nothing() {
        assert!(maximum_distance_order(&[]).points.is_empty());
    }

    #[test]
    fn gaps_never_grow_and_every_point_comes_once() {
        let mesh = box_grid([9, 8, 7], Vec3::new(3.0, 1.0, 2.0));
        let order = maximum_distance_order(mesh.positions());
        assert!(order.gaps.windows(2).all(|w| w[0] >= w[1]));
        let mut seen = order.points.clone();
        seen.sort_unstable();
        assert!(seen.iter().enumerate().all(|(i, &p)| i as u32 == p));
    }
}
