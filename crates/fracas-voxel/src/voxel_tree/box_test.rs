//! Whether the boxes of two cubes overlap, by separating axes: one by one, and in rows of eight
//! with the same bits.

use std::cell::Cell;

use glam::{Mat3, Vec3};

use fracas_geometry::Pose;

/// Overlap of the voxels' boxes of a cube of A and a cube of B by separating axes, with
/// what depends on the rotation alone computed once.
pub(super) struct BoxTest {
    b_to_a: Pose,
    /// |rotation|, by entry, a little enlarged so that parallel edges are safe.
    absolute: Mat3,
    /// The transposes of both, so that columns are at hand either way.
    back: Mat3,
    absolute_back: Mat3,
    /// The narrowest gap seen.
    narrowest: Cell<f32>,
}

/// Boxes are enlarged by this share: rounding of coordinates.
const ROUNDING: f32 = 1.0 + 2e-6;

impl BoxTest {
    pub(super) fn new(b_to_a: &Pose) -> Self {
        let absolute = Mat3::from_cols(
            b_to_a.rotation.x_axis.abs() + 1e-6,
            b_to_a.rotation.y_axis.abs() + 1e-6,
            b_to_a.rotation.z_axis.abs() + 1e-6,
        );
        Self {
            b_to_a: *b_to_a,
            absolute,
            back: b_to_a.rotation.transpose(),
            absolute_back: absolute.transpose(),
            narrowest: Cell::new(f32::INFINITY),
        }
    }

    /// The narrowest gap between boxes that were found apart.
    pub(super) fn narrowest(&self) -> f32 {
        self.narrowest.get()
    }

    /// Whether two boxes overlap, each by its middle and its half edges in its own frame.
    pub(super) fn overlap(&self, a: Boxed, b: Boxed) -> bool {
        self.notes_overlap(self.gap_between(a, b))
    }

    fn notes_overlap(&self, gap: f32) -> bool {
        if gap > 0.0 {
            self.narrowest.set(self.narrowest.get().min(gap));
        }
        // What is not a number overlaps: a contact too many is the safe answer.
        gap <= 0.0 || gap.is_nan()
    }

    /// Which pairs of boxes, the first of A and the second of B, overlap, asked row by row:
    /// `met` is told of each, in order, and of how far they are in each other along the face normals
    /// at least.
    pub(super) fn each_overlap<T: Copy>(
        &self,
        pairs: impl Iterator<Item = (Boxed, Boxed, T)>,
        mut met: impl FnMut(T, f32),
    ) {
        let mut row = Row::default();
        let mut told: [Option<T>; LANES] = [None; LANES];
        let mut count = 0;
        for (a, b, tells) in pairs {
            row.set(count, self.in_a(b.0) - a.0, a.1, b.1);
            told[count] = Some(tells);
            count += 1;
            if count == LANES {
                self.finish_row(&row, &told, &mut met);
                count = 0;
            }
        }
        self.finish_row(&row, &told[..count], &mut met);
    }

    fn finish_row<T: Copy>(&self, row: &Row, told: &[Option<T>], met: &mut impl FnMut(T, f32)) {
        if told.is_empty() {
            return;
        }
        let gaps = self.gaps(row, told.len());
        for (&gap, tells) in gaps.iter().zip(told) {
            if self.notes_overlap(gap)
                && let Some(tells) = *tells
            {
                met(tells, -gap);
            }
        }
    }

    fn in_a(&self, point: Vec3) -> Vec3 {
        self.b_to_a.rotation * point + self.b_to_a.translation
    }

    /// How far two boxes, each by its middle and its half edges in its own frame, are apart
    /// at least; not above zero if they overlap.
    pub(super) fn gap_between(&self, a: Boxed, b: Boxed) -> f32 {
        let offset = self.in_a(b.0) - a.0;
        self.gap(offset, ROUNDING * a.1, ROUNDING * b.1)
    }

    /// How far two boxes are apart at least; not above zero if they overlap. `offset`
    /// leads from the box of A (half edges `ha`) to that of B (`hb`), in A's frame.
    pub(super) fn gap(&self, offset: Vec3, ha: Vec3, hb: Vec3) -> f32 {
        // Balls around both first: the cheapest way to be sure.
        let (aa, bb) = (ha.length_squared(), hb.length_squared());
        let outer = aa + bb + 2.0 * (aa * bb).sqrt();
        let distance = offset.length_squared();
        if distance > outer * (1.0 + 1e-6) {
            return distance.sqrt() - outer.sqrt();
        }
        // Face normals of A, then of B.
        let gap = (offset.abs() - ha - self.absolute * hb).max_element();
        if gap > 0.0 {
            return gap;
        }
        let in_b = self.back * offset;
        let gap = (in_b.abs() - hb - self.absolute_back * ha).max_element();
        if gap > 0.0 {
            return gap;
        }
        // Products of an edge of A with one of B: axes e_i x b_j, for each j all three.
        // They are at most of length 1, so that the gap is at least what is compared.
        let (r, q) = (&self.b_to_a.rotation, &self.absolute);
        let columns = [
            (r.x_axis, q.x_axis, q.y_axis, q.z_axis, hb.y, hb.z),
            (r.y_axis, q.y_axis, q.z_axis, q.x_axis, hb.z, hb.x),
            (r.z_axis, q.z_axis, q.x_axis, q.y_axis, hb.x, hb.y),
        ];
        for (b, absolute, absolute_1, absolute_2, hb_1, hb_2) in columns {
            let along = b.cross(offset).abs();
            let reach_a = Vec3::new(
                ha.y * absolute.z + ha.z * absolute.y,
                ha.z * absolute.x + ha.x * absolute.z,
                ha.x * absolute.y + ha.y * absolute.x,
            );
            // |e_i x b_j . b_k| is the entry of the third column.
            let reach_b = hb_1 * absolute_2 + hb_2 * absolute_1;
            let gap = (along - reach_a - reach_b).max_element();
            if gap > 0.0 {
                return gap;
            }
        }
        0.0
    }

    /// As [`BoxTest::gap`] for `count` pairs in a row, with the same bits: without branches, so that
    /// vector instructions do several.
    fn gaps(&self, row: &Row, count: usize) -> [f32; LANES] {
        let turn = self.b_to_a.rotation.to_cols_array_2d();
        let absolute = self.absolute.to_cols_array_2d();
        let mut gaps = [0.0; LANES];
        for (lane, gap) in gaps.iter_mut().enumerate() {
            let (offset, ha, hb) = row.lane(lane);
            *gap = face_gap(&turn, &absolute, offset, ha, hb);
        }
        // Edges are asked where faces leave it open.
        if gaps[..count].iter().any(|&gap| gap <= 0.0 || gap.is_nan()) {
            for (lane, gap) in gaps.iter_mut().enumerate() {
                let (offset, ha, hb) = row.lane(lane);
                let edges = edge_gap(&turn, &absolute, offset, ha, hb);
                *gap = if *gap <= 0.0 && edges > 0.0 {
                    edges
                } else {
                    *gap
                };
            }
        }
        gaps
    }
}

/// A box: its middle and its half edges.
pub(super) type Boxed = (Vec3, Vec3);

/// Boxes that are compared at once.
const LANES: usize = 8;

/// Pairs of boxes that are compared at once, coordinate by coordinate.
#[derive(Default)]
struct Row {
    offset: [[f32; LANES]; 3],
    half_a: [[f32; LANES]; 3],
    half_b: [[f32; LANES]; 3],
}

impl Row {
    fn set(&mut self, lane: usize, offset: Vec3, half_a: Vec3, half_b: Vec3) {
        let (half_a, half_b) = (ROUNDING * half_a, ROUNDING * half_b);
        for k in 0..3 {
            self.offset[k][lane] = offset[k];
            self.half_a[k][lane] = half_a[k];
            self.half_b[k][lane] = half_b[k];
        }
    }

    #[inline(always)]
    fn lane(&self, lane: usize) -> ([f32; 3], [f32; 3], [f32; 3]) {
        let of = |lanes: &[[f32; LANES]; 3]| [lanes[0][lane], lanes[1][lane], lanes[2][lane]];
        (of(&self.offset), of(&self.half_a), of(&self.half_b))
    }
}

fn dot(a: [f32; 3], b: [f32; 3]) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn greatest(a: f32, b: f32, c: f32) -> f32 {
    let first = if a > b { a } else { b };
    if first > c { first } else { c }
}

/// Of [`BoxTest::gap`], the balls and the face normals, of one lane: the first gap above zero in
/// its order.
#[inline(always)]
fn face_gap(
    turn: &[[f32; 3]; 3],
    absolute: &[[f32; 3]; 3],
    offset: [f32; 3],
    ha: [f32; 3],
    hb: [f32; 3],
) -> f32 {
    // The last is looked at first, so that the first one above zero stays.
    let of_b = |i: usize| {
        let in_b = dot(turn[i], offset).abs();
        in_b - hb[i] - dot(absolute[i], ha)
    };
    let gap = greatest(of_b(0), of_b(1), of_b(2));
    let of_a = |i: usize| {
        let reach = absolute[0][i] * hb[0] + absolute[1][i] * hb[1] + absolute[2][i] * hb[2];
        offset[i].abs() - ha[i] - reach
    };
    let found = greatest(of_a(0), of_a(1), of_a(2));
    // Where nothing is apart: the least that they are in each other.
    let gap = if found > 0.0 || found > gap {
        found
    } else {
        gap
    };
    let (aa, bb) = (dot(ha, ha), dot(hb, hb));
    let outer = aa + bb + 2.0 * (aa * bb).sqrt();
    let distance = dot(offset, offset);
    if distance > outer * (1.0 + 1e-6) {
        distance.sqrt() - outer.sqrt()
    } else {
        gap
    }
}

/// Of [`BoxTest::gap`], the products of edges: the first gap above zero in its order, else zero.
#[inline(always)]
fn edge_gap(
    turn: &[[f32; 3]; 3],
    absolute: &[[f32; 3]; 3],
    offset: [f32; 3],
    ha: [f32; 3],
    hb: [f32; 3],
) -> f32 {
    let mut gap = 0.0;
    for j in [2, 1, 0] {
        let (one, two) = ((j + 1) % 3, (j + 2) % 3);
        let (r, q, q_1, q_2) = (turn[j], absolute[j], absolute[one], absolute[two]);
        let axis = |i: usize| {
            let (k, l) = ((i + 1) % 3, (i + 2) % 3);
            let along = (r[k] * offset[l] - offset[k] * r[l]).abs();
            let reach_a = ha[k] * q[l] + ha[l] * q[k];
            let reach_b = hb[one] * q_2[i] + hb[two] * q_1[i];
            along - reach_a - reach_b
        };
        let found = greatest(axis(0), axis(1), axis(2));
        gap = if found > 0.0 { found } else { gap };
    }
    gap
}

#[cfg(test)]
mod tests {
    use super::*;
    use fracas_geometry::testing::Rng;

    #[test]
    fn what_is_not_a_number_overlaps_one_by_one_and_in_rows() {
        let boxed = (Vec3::ZERO, Vec3::splat(0.1));
        for bad in [Vec3::new(f32::NAN, 0.0, 0.0), Vec3::NAN] {
            let test = BoxTest::new(&Pose {
                rotation: Mat3::IDENTITY,
                translation: bad,
            });
            assert!(test.overlap(boxed, boxed));
            let mut met = 0;
            test.each_overlap([(boxed, boxed, ()); 3].into_iter(), |(), _| met += 1);
            assert_eq!(met, 3);
        }
    }

    #[test]
    fn boxes_are_in_each_other_by_the_least_along_the_normals_of_both() {
        let test = BoxTest::new(&Pose {
            rotation: Mat3::from_rotation_z(0.3),
            translation: Vec3::new(0.0, 0.0, 0.15),
        });
        let (flat, tall) = (Vec3::new(0.5, 0.5, 0.1), Vec3::new(0.1, 0.1, 0.1));
        for (a, b) in [(flat, tall), (tall, flat)] {
            let pair = ((Vec3::ZERO, a), (Vec3::ZERO, b), ());
            test.each_overlap([pair].into_iter(), |(), overlap| {
                assert!((overlap - 0.05).abs() < 1e-4, "{overlap}");
            });
        }
    }

    #[test]
    fn rows_have_the_bits_of_single_boxes() {
        let mut rng = Rng(91);
        let (mut met, mut apart) = (0, 0);
        for round in 0..4000 {
            let pose = Pose {
                rotation: Mat3::from_axis_angle(rng.direction(), rng.range(0.0, 3.0)),
                translation: rng.direction() * rng.range(0.0, 0.3),
            };
            let mut one = |size: f32| {
                let (low, high) = (Vec3::splat(0.01 * size), Vec3::splat(size));
                (
                    rng.direction() * rng.range(0.0, 2.0 * size),
                    rng.in_box(low, high),
                )
            };
            // Whole rows, and some that are not.
            let count = round % 21;
            let pairs: Vec<(Boxed, Boxed)> = (0..count).map(|_| (one(0.2), one(0.3))).collect();
            let (rows, single) = (BoxTest::new(&pose), BoxTest::new(&pose));
            let mut found = Vec::new();
            let named = pairs.iter().zip(0..);
            rows.each_overlap(named.map(|(&(a, b), i)| (a, b, i)), |i: usize, _| {
                found.push(i)
            });
            let wanted = (0..count).filter(|&i| single.overlap(pairs[i].0, pairs[i].1));
            assert_eq!(found, wanted.collect::<Vec<_>>());
            let narrowest = [&rows, &single].map(|test| test.narrowest().to_bits());
            assert_eq!(narrowest[0], narrowest[1]);
            (met, apart) = (met + found.len(), apart + count - found.len());
            if let Some((row, _)) = pairs.split_first_chunk::<LANES>() {
                let mut lanes = Row::default();
                for (lane, (a, b)) in row.iter().enumerate() {
                    lanes.set(lane, single.in_a(b.0) - a.0, a.1, b.1);
                }
                let gaps = single.gaps(&lanes, LANES);
                for (gap, &(a, b)) in gaps.iter().zip(row) {
                    // What overlaps has any gap that is not above zero.
                    let wanted = single.gap_between(a, b);
                    assert!(gap.to_bits() == wanted.to_bits() || gap.max(wanted) <= 0.0);
                }
            }
        }
        assert!(met > 8000 && apart > 8000, "{met} met, {apart} apart");
    }
}
