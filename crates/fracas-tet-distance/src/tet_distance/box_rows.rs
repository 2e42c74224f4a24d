//! Boxes in rows of eight, each row with a box around it: asked which of them meet a box.
//!
//! Rows are made in the order of the boxes. Elements of a mesh that follow each other mostly lie
//! beside each other, so a row is small, and no tree has to be built.
//!
//! **Guarantee.** Exactly the boxes that have a point in common with the one asked about, in
//! order. A box with a coordinate that is no number meets nothing.

use glam::Vec3;
use wide::f32x8;

const LANES: usize = 8;

/// A row of this level is a block.
const BLOCK: usize = 1;

/// Eight boxes side by side; lanes that hold none meet nothing.
#[derive(Clone, Copy, Debug)]
struct Row {
    lo: [f32x8; 3],
    hi: [f32x8; 3],
}

impl Row {
    fn new(boxes: &[[Vec3; 2]]) -> Self {
        let mut lo = [[f32::NAN; LANES]; 3];
        let mut hi = [[f32::NAN; LANES]; 3];
        for (lane, [from, to]) in boxes.iter().enumerate() {
            for axis in 0..3 {
                lo[axis][lane] = from[axis];
                hi[axis][lane] = to[axis];
            }
        }
        Self {
            lo: lo.map(f32x8::new),
            hi: hi.map(f32x8::new),
        }
    }

    /// One of its boxes.
    fn get(&self, lane: usize) -> [Vec3; 2] {
        [&self.lo, &self.hi].map(|of| Vec3::from_array(of.map(|axis| axis.to_array()[lane])))
    }

    /// A bit for each box that meets the other.
    #[inline]
    fn meeting(&self, [lo, hi]: [Vec3; 2]) -> u32 {
        let mut meets =
            self.lo[0].simd_le(f32x8::splat(hi.x)) & self.hi[0].simd_ge(f32x8::splat(lo.x));
        meets &= self.lo[1].simd_le(f32x8::splat(hi.y)) & self.hi[1].simd_ge(f32x8::splat(lo.y));
        meets &= self.lo[2].simd_le(f32x8::splat(hi.z)) & self.hi[2].simd_ge(f32x8::splat(lo.z));
        meets.to_bitmask()
    }
}

/// The memory of the rows, kept from step to step.
#[derive(Clone, Debug, Default)]
pub(super) struct BoxRows {
    /// Rows of the boxes, rows of the boxes around these rows, and so on up to a single one.
    levels: Vec<Vec<Row>>,
    /// How many of the levels hold something now.
    used: usize,
    /// Around everything.
    whole: [Vec3; 2],
    boxes: Vec<[Vec3; 2]>,
    inside: Vec<[Vec3; 2]>,
    around: Vec<[Vec3; 2]>,
}

/// A box that holds nothing.
pub(super) const NOWHERE: [Vec3; 2] = [Vec3::INFINITY, Vec3::NEG_INFINITY];

/// The box around some points; a coordinate that is no number stays none.
pub(super) fn box_around<const N: usize>(points: [Vec3; N]) -> [Vec3; 2] {
    let (mut lo, mut hi, mut sum) = (points[0], points[0], points[0]);
    for p in &points[1..] {
        (lo, hi, sum) = (lo.min(*p), hi.max(*p), sum + *p);
    }
    if sum.is_finite() {
        [lo, hi]
    } else {
        [Vec3::NAN; 2]
    }
}

pub(super) fn join([lo, hi]: &mut [Vec3; 2], [from, to]: [Vec3; 2]) {
    // What is no number is left out: the minimum of it and a number is the number.
    (*lo, *hi) = (from.min(*lo), to.max(*hi));
}

impl BoxRows {
    /// Puts these in place of what it holds.
    pub(super) fn fill(&mut self, boxes: impl Iterator<Item = [Vec3; 2]>) {
        self.boxes.clear();
        self.boxes.extend(boxes);
        for level in 0.. {
            if self.levels.len() == level {
                self.levels.push(Vec::new());
            }
            let inside = if level == 0 {
                &self.boxes
            } else {
                &self.inside
            };
            let rows = &mut self.levels[level];
            rows.clear();
            rows.extend(inside.chunks(LANES).map(Row::new));
            if rows.len() <= 1 {
                self.whole = NOWHERE;
                inside.iter().for_each(|&b| join(&mut self.whole, b));
                self.used = level + 1;
                return;
            }
            self.around.clear();
            self.around.extend(inside.chunks(LANES).map(|boxes| {
                let mut around = NOWHERE;
                boxes.iter().for_each(|&b| join(&mut around, b));
                around
            }));
            std::mem::swap(&mut self.around, &mut self.inside);
        }
    }

    /// One of the boxes.
    pub(super) fn get(&self, i: usize) -> [Vec3; 2] {
        self.boxes[i]
    }

    /// The box around all of them.
    pub(super) fn whole(&self) -> [Vec3; 2] {
        self.whole
    }

    /// Calls `found` with the index of every box that meets `b`.
    #[inline]
    pub(super) fn visit(&self, b: [Vec3; 2], mut found: impl FnMut(usize)) {
        if let Some(top) = self.used.checked_sub(1) {
            self.visit_row([top, 0], 0, b, &mut found);
        }
    }

    /// Calls `found` with the number of every block that meets `b`: 64 boxes that follow each
    /// other are a block.
    pub(super) fn visit_blocks(&self, b: [Vec3; 2], mut found: impl FnMut(usize)) {
        let Some(top) = self.used.checked_sub(1) else {
            return;
        };
        if top > BLOCK {
            self.visit_row([top, BLOCK + 1], 0, b, &mut found);
        } else if self.whole[0].cmple(b[1]).all() && b[0].cmple(self.whole[1]).all() {
            found(0);
        }
    }

    /// The box around a block.
    pub(super) fn block(&self, block: usize) -> [Vec3; 2] {
        if self.used > BLOCK + 1 {
            self.levels[BLOCK + 1][block / LANES].get(block % LANES)
        } else {
            self.whole
        }
    }

    /// Calls `found` with the index of every box of a block that meets `b`.
    #[inline]
    pub(super) fn visit_in(&self, block: usize, b: [Vec3; 2], mut found: impl FnMut(usize)) {
        if let Some(top) = self.used.checked_sub(1) {
            self.visit_row([top.min(BLOCK), 0], block, b, &mut found);
        }
    }

    /// Goes down from a row of the first level to the lanes of the second one.
    fn visit_row(
        &self,
        [level, last]: [usize; 2],
        row: usize,
        b: [Vec3; 2],
        found: &mut impl FnMut(usize),
    ) {
        let Some(boxes) = self.levels[level].get(row) else {
            return;
        };
        let mut lanes = boxes.meeting(b);
        while lanes != 0 {
            let i = row * LANES + lanes.trailing_zeros() as usize;
            lanes &= lanes - 1;
            if level == last {
                found(i);
            } else {
                self.visit_row([level - 1, last], i, b, found);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fracas_geometry::testing::Rng;

    #[test]
    fn finds_exactly_the_boxes_that_meet() {
        let mut rng = Rng(4);
        let mut rows = BoxRows::default();
        for round in 0..200 {
            let mut any = || {
                let lo = rng.in_box(Vec3::splat(-3.0), Vec3::splat(3.0));
                let mut hi = lo + rng.in_box(Vec3::ZERO, Vec3::splat(1.5));
                // Some touch exactly, some are points, some are nonsense.
                let mut lo = if round % 3 == 0 { lo.round() } else { lo };
                match rng.below(60) {
                    0 => hi = lo,
                    1 => lo.y = f32::NAN,
                    2 => hi.z = f32::INFINITY,
                    3 => (lo, hi) = (Vec3::NAN, Vec3::NAN),
                    _ => {}
                }
                [lo, if round % 3 == 0 { hi.round() } else { hi }]
            };
            let count = [0, 1, 7, 8, 9, 64, 65, 300, 700][round % 9];
            let boxes: Vec<[Vec3; 2]> = (0..count).map(|_| any()).collect();
            let asked: Vec<[Vec3; 2]> = (0..20).map(|_| any()).collect();
            rows.fill(boxes.iter().copied());
            let mut whole = NOWHERE;
            boxes.iter().for_each(|&b| join(&mut whole, b));
            assert_eq!(rows.whole(), whole, "round {round}");
            for b in asked {
                let meets = |other: &&[Vec3; 2]| {
                    (0..3).all(|k| other[0][k] <= b[1][k] && b[0][k] <= other[1][k])
                };
                let indices = boxes.iter().enumerate().filter(|(_, o)| meets(o));
                let expected: Vec<usize> = indices.map(|(i, _)| i).collect();
                let mut found = Vec::new();
                rows.visit(b, |i| found.push(i));
                assert_eq!(found, expected, "round {round}");
                let mut in_blocks = Vec::new();
                rows.visit_blocks(b, |block| {
                    let around = rows.block(block);
                    let boxes = &boxes[64 * block..boxes.len().min(64 * block + 64)];
                    let mut expected = NOWHERE;
                    boxes.iter().for_each(|&b| join(&mut expected, b));
                    assert_eq!(around, expected, "round {round}");
                    rows.visit_in(block, b, |i| in_blocks.push(i));
                });
                assert_eq!(in_blocks, found, "round {round}");
            }
        }
    }
}
