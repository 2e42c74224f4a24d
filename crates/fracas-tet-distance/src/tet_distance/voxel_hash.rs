//! Which boxes of different groups overlap? A hashed voxel grid, rebuilt every step.
//!
//! 1. Every box is entered into each voxel it meets (two passes: count, then fill;
//!    no lists, no allocation once warm);
//! 2. inside a voxel all pairs of different groups are compared (boxes lie there in
//!    their order, so a run of one group is skipped at once: of a body that touches
//!    nothing no two boxes are compared);
//! 3. a pair is reported in one voxel only: the one that holds the low corner of
//!    the two boxes' intersection.
//!
//! The broad phase of [Marchal 2004, section 3], after the hash of Teschner 2003.
//!
//! **Deviations.** Boxes instead of bounding spheres: a sphere around a tetrahedron
//! meets several times as many voxels.
//!
//! **Guarantee.** Exactly the overlapping pairs, each once, in a fixed order; boxes
//! that touch count as overlapping. Boxes that are not finite overlap nothing. A box
//! that would meet more than [`MOST_VOXELS`] voxels is compared with all others
//! instead, so no input can exhaust memory.

use glam::Vec3;

/// Integer coordinates of a voxel.
type Voxel = [i32; 3];

/// A box that meets more voxels than this is compared with all others directly.
pub const MOST_VOXELS: usize = 512;

/// A box with the group it belongs to: pairs of one group are not reported.
#[derive(Clone, Copy, Debug)]
pub struct GroupedBox {
    /// Smallest coordinates.
    pub lo: Vec3,
    /// Largest coordinates.
    pub hi: Vec3,
    /// Boxes of one group are not compared.
    pub group: u32,
}

impl GroupedBox {
    /// The box around some points.
    #[must_use]
    pub fn around(points: &[Vec3], group: u32) -> Self {
        let (mut lo, mut hi) = (points[0], points[0]);
        for &p in &points[1..] {
            (lo, hi) = (lo.min(p), hi.max(p));
        }
        Self { lo, hi, group }
    }

    /// Whether two boxes have a point in common.
    #[must_use]
    #[inline]
    pub fn meets(&self, other: &Self) -> bool {
        // One comparison after the other: most pairs are told apart by the first ones.
        self.lo.x <= other.hi.x
            && other.lo.x <= self.hi.x
            && self.lo.y <= other.hi.y
            && other.lo.y <= self.hi.y
            && self.lo.z <= other.hi.z
            && other.lo.z <= self.hi.z
    }

    fn is_finite(&self) -> bool {
        self.lo.is_finite() && self.hi.is_finite() && self.lo.cmple(self.hi).all()
    }
}

/// The grid's memory, kept from step to step.
#[derive(Clone, Debug, Default)]
pub struct VoxelHash {
    starts: Vec<u32>,
    next: Vec<u32>,
    /// (voxel, box), by slot of the hash table.
    entries: Vec<(Voxel, u32)>,
    large: Vec<u32>,
    per_size: f32,
}

impl VoxelHash {
    /// Appends every overlapping pair of different groups to `pairs`, lower index
    /// first, sorted.
    pub fn pairs(&mut self, boxes: &[GroupedBox], pairs: &mut Vec<[u32; 2]>) {
        let first = pairs.len();
        self.visit(boxes, |i, j| pairs.push([i, j]));
        pairs[first..].sort_unstable();
    }

    /// Calls `found` for every overlapping pair of different groups, once each, lower
    /// index first: in a fixed order, that of the hash table.
    pub fn visit(&mut self, boxes: &[GroupedBox], mut found: impl FnMut(u32, u32)) {
        self.fill(boxes);
        self.visit_slots(boxes, 0..self.slots(), &mut found);
        self.visit_large(boxes, found);
    }

    /// Enters the boxes; what they meet is then asked for in any order, on any threads:
    /// [`Self::visit_slots`] for ranges that make up all slots, and [`Self::visit_large`].
    pub fn fill(&mut self, boxes: &[GroupedBox]) {
        self.starts.clear();
        self.large.clear();
        let (mut sum, mut count) = (0.0_f64, 0.0_f64);
        for b in boxes.iter().filter(|b| b.is_finite()) {
            sum += f64::from((b.hi - b.lo).max_element());
            count += 1.0;
        }
        if count < 2.0 {
            return;
        }
        let size = ((1.2 * sum / count) as f32).max(f32::MIN_POSITIVE);
        self.per_size = 1.0 / size;
        let per_size = self.per_size;
        let voxel = |p: Vec3| voxel_of(p, per_size);
        // Coordinates so far out that voxels cannot be numbered make a box large.
        let far = size * 1e9;
        let range = |b: &GroupedBox| -> Option<(Voxel, Voxel)> {
            if b.lo.abs().max(b.hi.abs()).max_element() > far {
                return None;
            }
            let (lo, hi) = (voxel(b.lo), voxel(b.hi));
            let counts: [i64; 3] = std::array::from_fn(|k| i64::from(hi[k]) - i64::from(lo[k]) + 1);
            let most = MOST_VOXELS as i64;
            let small = counts.iter().all(|&c| c <= most) && counts.iter().product::<i64>() <= most;
            small.then_some((lo, hi))
        };

        let slots = (2 * boxes.len()).next_power_of_two();
        self.starts.resize(slots + 1, 0);
        for (i, b) in boxes.iter().enumerate().filter(|(_, b)| b.is_finite()) {
            match range(b) {
                Some((lo, hi)) => each_voxel(lo, hi, |v| self.starts[slot(v, slots) + 1] += 1),
                None => self.large.push(i as u32),
            }
        }
        for i in 0..slots {
            self.starts[i + 1] += self.starts[i];
        }
        self.next.clone_from(&self.starts);
        self.entries.clear();
        self.entries
            .resize(self.starts[slots] as usize, ([0; 3], 0));
        for (i, b) in boxes.iter().enumerate().filter(|(_, b)| b.is_finite()) {
            if let Some((lo, hi)) = range(b) {
                each_voxel(lo, hi, |v| {
                    let next = &mut self.next[slot(v, slots)];
                    self.entries[*next as usize] = (v, i as u32);
                    *next += 1;
                });
            }
        }
    }

    /// Slots that the boxes were entered into.
    #[must_use]
    pub fn slots(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// The pairs of a range of slots, lower index first, in a fixed order.
    pub fn visit_slots(
        &self,
        boxes: &[GroupedBox],
        slots: std::ops::Range<usize>,
        mut found: impl FnMut(u32, u32),
    ) {
        let voxel = |p: Vec3| voxel_of(p, self.per_size);
        for s in slots {
            let here = &self.entries[self.starts[s] as usize..self.starts[s + 1] as usize];
            // The end of the run of one group that k is in.
            let mut run = 0;
            for (k, &(v, i)) in here.iter().enumerate() {
                let a = &boxes[i as usize];
                if run <= k {
                    let same = |e: &&(Voxel, u32)| boxes[e.1 as usize].group == a.group;
                    run = k + here[k..].iter().take_while(same).count();
                }
                for &(w, j) in &here[run..] {
                    let b = &boxes[j as usize];
                    if v == w && a.group != b.group && a.meets(b) && voxel(a.lo.max(b.lo)) == v {
                        found(i.min(j), i.max(j));
                    }
                }
            }
        }
    }

    /// The pairs of boxes that are too large to be entered.
    pub fn visit_large(&self, boxes: &[GroupedBox], mut found: impl FnMut(u32, u32)) {
        for (k, &i) in self.large.iter().enumerate() {
            let a = &boxes[i as usize];
            for (j, b) in boxes.iter().enumerate() {
                let j = j as u32;
                let twice = self.large[..=k].contains(&j);
                if !twice && b.is_finite() && a.group != b.group && a.meets(b) {
                    found(i.min(j), i.max(j));
                }
            }
        }
    }
}

fn voxel_of(p: Vec3, per_size: f32) -> Voxel {
    // The floor by hand: without it a call for every coordinate.
    let floor = |x: f32| {
        let whole = x as i32;
        whole - i32::from((whole as f32) > x)
    };
    (p * per_size).to_array().map(floor)
}

fn each_voxel(lo: Voxel, hi: Voxel, mut visit: impl FnMut(Voxel)) {
    for z in lo[2]..=hi[2] {
        for y in lo[1]..=hi[1] {
            for x in lo[0]..=hi[0] {
                visit([x, y, z]);
            }
        }
    }
}

fn slot([x, y, z]: Voxel, slots: usize) -> usize {
    let mix = (x as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15)
        ^ (y as u64).wrapping_mul(0xC2B2_AE3D_27D4_EB4F)
        ^ (z as u64).wrapping_mul(0x1656_67B1_9E37_79F9);
    ((mix ^ (mix >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 32) as usize & (slots - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fracas_geometry::testing::Rng;

    fn brute(boxes: &[GroupedBox]) -> Vec<[u32; 2]> {
        let mut pairs = Vec::new();
        for i in 0..boxes.len() {
            for j in i + 1..boxes.len() {
                let (a, b) = (&boxes[i], &boxes[j]);
                if a.group != b.group && a.is_finite() && b.is_finite() && a.meets(b) {
                    pairs.push([i as u32, j as u32]);
                }
            }
        }
        pairs
    }

    #[test]
    fn finds_exactly_the_pairs() {
        let mut hash = VoxelHash::default();
        for seed in 0..40 {
            let mut rng = Rng(seed);
            let boxes: Vec<GroupedBox> = (0..rng.below(200))
                .map(|i| {
                    let lo = rng.in_box(Vec3::splat(-3.0), Vec3::splat(3.0));
                    let size = rng.unit() * rng.unit();
                    let mut b = GroupedBox {
                        lo,
                        hi: lo + Vec3::new(rng.unit(), rng.unit(), rng.unit()) * size,
                        group: rng.below(4) as u32,
                    };
                    match (seed % 4, i % 50) {
                        (1, 7) => b.hi = Vec3::splat(100.0),
                        (1, 9) => b.lo = Vec3::splat(-1e30),
                        (2, 7) => b.lo.x = f32::NAN,
                        (2, 8) => b.hi.y = f32::INFINITY,
                        (3, _) => b.hi = b.lo.round(),
                        _ => {}
                    }
                    b
                })
                .collect();
            let mut pairs = Vec::new();
            hash.pairs(&boxes, &mut pairs);
            assert_eq!(pairs, brute(&boxes), "seed {seed}");
        }
    }

    /// A box that covers all the others, but for one number that is none, meets none of them.
    #[test]
    fn boxes_with_one_number_that_is_none_meet_nothing() {
        let around = |lo: f32, hi: f32, group: u32| GroupedBox {
            lo: Vec3::splat(lo),
            hi: Vec3::splat(hi),
            group,
        };
        let sound = [
            around(0.0, 1.0, 0),
            around(0.5, 1.5, 1),
            around(4.0, 5.0, 2),
        ];
        for none in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            for axis in 0..3 {
                let (mut low, mut high) = (around(-9.0, 9.0, 3), around(-9.0, 9.0, 4));
                low.lo[axis] = none;
                high.hi[axis] = none;
                for wrong in [&[low][..], &[high], &[low, high]] {
                    let boxes = [wrong, &sound].concat();
                    let mut pairs = Vec::new();
                    VoxelHash::default().pairs(&boxes, &mut pairs);
                    let first = wrong.len() as u32;
                    assert_eq!(pairs, [[first, first + 1]], "{none} {axis}");
                }
            }
        }
    }
}
