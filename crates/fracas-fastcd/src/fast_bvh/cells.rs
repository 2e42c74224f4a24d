//! What residuals differ by between points of a body that are near one another in the
//! reference shape. Points are sorted into cells of space, once; then the largest
//! difference within and between neighbouring cells bounds it for all of them. Cells are
//! joined by eights to larger ones, [`LEVELS`] times, for points farther apart.
//!
//! Long triangles would ask for wide cells. They count as cut in tiles with edges of at
//! most [`Cuts::longest`]; residuals are linear in a triangle, so those of the tiles'
//! corners are known.
//!
//! **Guarantee**: cells are as wide as their reach plus twice the longest edge of a tile,
//! so two tiles that are at most the reach apart have all their corners in the same or in
//! neighbouring cells, and a point's residual is a mean of its tile's corners.

use glam::{DVec3, Vec3};

use super::fit::Rest;
use super::threads::{map_into, of_chunks};

/// How far apart tiles may be for the finest cells to say something, in mean edge lengths.
pub(crate) const CELL_REACH: f64 = 0.6;
/// The longest edge of a tile, in mean edge lengths, where that makes not too many.
const LONGEST_TILE: f64 = 1.5;
/// Sizes of cells, each twice the last.
pub(crate) const LEVELS: usize = 4;

/// In how many tiles triangles are cut.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cuts {
    /// Mean length of edges.
    pub(crate) spacing: f64,
    /// The longest edge of a tile.
    pub(crate) longest: f64,
}

impl Cuts {
    /// For triangles by the squares of their longest edges, so that there are at most twice
    /// as many corners inside as vertices.
    pub(crate) fn new(spacing: f64, squares: &[f64], vertices: usize) -> Self {
        let mut longest = LONGEST_TILE * spacing;
        loop {
            let cuts = Self { spacing, longest };
            let inside = |square: &f64| {
                let n = f64::from(cuts.along(*square));
                if n > 1.0 { 0.5 * n * (n + 3.0) } else { 0.0 }
            };
            let most = squares.iter().fold(0.0_f64, |a, b| a.max(*b)).sqrt();
            let count: f64 = squares.iter().map(inside).sum();
            if count <= 2.0 * vertices as f64 && most <= 255.0 * longest || most.is_nan() {
                return cuts;
            }
            longest *= 1.5;
        }
    }

    /// Tiles along an edge of a triangle, by the square of its longest edge.
    pub(crate) fn along(&self, square: f64) -> u8 {
        if square <= self.longest * self.longest {
            1
        } else {
            (square.sqrt() / self.longest).ceil().min(255.0) as u8
        }
    }
}

/// A corner of tiles that is no vertex: the corners of its triangle and their weights.
#[derive(Clone, Debug)]
struct Inner {
    corners: [u32; 3],
    weights: [f32; 3],
    cell: u32,
}

/// Cells of one size.
#[derive(Clone, Debug, Default)]
struct Level {
    cells: usize,
    /// Pairs of neighbouring cells.
    neighbours: Vec<[u32; 2]>,
    /// The cell of the next size that holds each.
    parents: Vec<u32>,
    reach: f64,
}

/// The cells of one body.
#[derive(Clone, Debug)]
pub(crate) struct Cells {
    /// Vertices by global id, cell by cell.
    vertices: Vec<u32>,
    /// Where each of the finest cells begins; one more than there are.
    starts: Vec<u32>,
    inner: Vec<Inner>,
    levels: [Level; LEVELS],
}

fn key([x, y, z]: [u32; 3]) -> u32 {
    x << 20 | y << 10 | z
}

fn coordinates(k: u32) -> [u32; 3] {
    [k >> 20, k >> 10 & 1023, k & 1023]
}

/// Pairs of neighbours in a sorted list of cells, whose coordinates are positive.
fn neighbours(keys: &[u32]) -> Vec<[u32; 2]> {
    let mut pairs = Vec::new();
    for (i, &k) in keys.iter().enumerate() {
        let [x, y, z] = coordinates(k);
        // Half of the 26, so that each pair comes once: those with larger keys.
        for (dx, dy) in [(0, 1), (1, -1), (1, 0), (1, 1)] {
            let from = key([x + dx, y.wrapping_add_signed(dy), z - 1]);
            let first = keys.partition_point(|&n| n < from);
            let near = keys[first..].iter().take_while(|&&n| n <= from + 2);
            pairs.extend((first..).zip(near).map(|(j, _)| [i as u32, j as u32]));
        }
        if keys.get(i + 1) == Some(&(k + 1)) {
            pairs.push([i as u32, i as u32 + 1]);
        }
    }
    pairs
}

impl Cells {
    /// Of the reference positions; `triangles` are the body's, by number and corners.
    pub(crate) fn new(
        rest: &Rest,
        vertices: &[u32],
        triangles: impl Iterator<Item = (u32, [u32; 3])>,
        cuts: Cuts,
    ) -> Self {
        let at = |v: u32| rest.reference.get(v);
        let (mut low, mut high) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
        for &v in vertices {
            low = low.min(at(v));
            high = high.max(at(v));
        }
        // At most a thousand cells along an axis, so that numbers fit.
        let least = (high - low).max_element() / 1000.0;
        let wanted = CELL_REACH * cuts.spacing + 2.0 * cuts.longest;
        let width = wanted.max(least) * (1.0 + 1e-9);
        let cell = |p: DVec3| {
            let c = ((p - low) / width).floor().max(DVec3::ZERO);
            // One is added so that neighbours are never negative.
            key([c.x, c.y, c.z].map(|c| c as u32 + 1))
        };
        let mut sorted: Vec<(u32, u32)> = vertices.iter().map(|&v| (cell(at(v)), v)).collect();
        sorted.sort_unstable();
        let mut inner = Vec::new();
        for (t, corners) in triangles {
            let n = u32::from(rest.tiles.get(t));
            if n < 2 {
                continue;
            }
            for i in 0..=n {
                for j in 0..=n - i {
                    let parts = [i, j, n - i - j];
                    if parts.contains(&n) {
                        continue;
                    }
                    let share = parts.map(|p| f64::from(p) / f64::from(n));
                    let place: DVec3 = (0..3).map(|k| at(corners[k]) * share[k]).sum();
                    inner.push(Inner {
                        corners,
                        weights: share.map(|s| s as f32),
                        cell: cell(place),
                    });
                }
            }
        }
        let own = sorted.iter().map(|s| s.0);
        let mut keys: Vec<u32> = own.chain(inner.iter().map(|p| p.cell)).collect();
        keys.sort_unstable();
        keys.dedup();
        let mut starts: Vec<u32> = Vec::with_capacity(keys.len() + 1);
        let mut next = 0;
        for &k in &keys {
            starts.push(next as u32);
            while sorted.get(next).is_some_and(|s| s.0 == k) {
                next += 1;
            }
        }
        starts.push(next as u32);
        for point in &mut inner {
            point.cell = keys.partition_point(|&k| k < point.cell) as u32;
        }
        Self {
            vertices: sorted.into_iter().map(|s| s.1).collect(),
            starts,
            inner,
            levels: Self::levels(keys, width, cuts),
        }
    }

    fn levels(mut keys: Vec<u32>, width: f64, cuts: Cuts) -> [Level; LEVELS] {
        let mut size = width;
        std::array::from_fn(|_| {
            // Without what `new` adds for rounding, twice.
            let reach = size * (1.0 - 2e-9) - 2.0 * cuts.longest;
            let larger = |k: u32| key(coordinates(k).map(|c| (c - 1) / 2 + 1));
            let mut next: Vec<u32> = keys.iter().map(|&k| larger(k)).collect();
            next.sort_unstable();
            next.dedup();
            let parent = |&k: &u32| next.partition_point(|&n| n < larger(k)) as u32;
            let level = Level {
                cells: keys.len(),
                neighbours: neighbours(&keys),
                parents: keys.iter().map(parent).collect(),
                reach,
            };
            keys = next;
            size *= 2.0;
            level
        })
    }

    /// Points up to this far apart are covered, for each size of cells.
    pub(crate) fn reaches(&self) -> [f64; LEVELS] {
        [0, 1, 2, 3].map(|l| self.levels[l].reach)
    }

    /// The largest difference of residuals of points in the same or neighbouring cells, for
    /// each size, at the start (0) or at the end (1) of the step.
    pub(crate) fn largest_differences(
        &self,
        rest: &Rest,
        end: usize,
        parallel: bool,
    ) -> [f64; LEVELS] {
        let residuals = &rest.residuals[end];
        let none = [Vec3::INFINITY, Vec3::NEG_INFINITY];
        let widen = |[low, high]: &mut [Vec3; 2], by: [Vec3; 2]| {
            *low = low.min(by[0]);
            *high = high.max(by[1]);
        };
        let span = |w: &[u32]| {
            let mut span = none;
            for &v in &self.vertices[w[0] as usize..w[1] as usize] {
                widen(&mut span, [residuals.get(v); 2]);
            }
            span
        };
        let mut spans = vec![none; self.starts.len() - 1];
        let ranges: Vec<&[u32]> = self.starts.windows(2).collect();
        map_into(parallel, &ranges, &mut spans, |w, out| *out = span(w));
        for point in &self.inner {
            let [a, b, c] = point.corners.map(|v| residuals.get(v));
            let [u, v, w] = point.weights;
            widen(&mut spans[point.cell as usize], [a * u + b * v + c * w; 2]);
        }
        [0, 1, 2, 3].map(|l: usize| {
            let level = &self.levels[l];
            let mut largest = 0.0_f32;
            for [low, high] in &spans {
                largest = largest.max((*high - *low).length_squared());
            }
            let between = |pairs: &[[u32; 2]]| {
                let mut largest = 0.0_f32;
                for &[i, j] in pairs {
                    let ([a, b], [c, d]) = (spans[i as usize], spans[j as usize]);
                    largest = largest.max((b.max(d) - a.min(c)).length_squared());
                }
                largest
            };
            let parts = of_chunks(parallel, &level.neighbours, between).into_iter();
            largest = parts.fold(largest, f32::max);
            let cells = self.levels.get(l + 1).map_or(0, |next| next.cells);
            let mut next = vec![none; cells];
            if cells > 0 {
                for (own, &parent) in spans.iter().zip(&level.parents) {
                    widen(&mut next[parent as usize], *own);
                }
            }
            spans = next;
            // Residuals, their means and this sum are rounded to f32.
            f64::from(largest).sqrt() * (1.0 + 1e-5)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fracas_geometry::testing::Rng;

    /// Against sampled points of all pairs of triangles, long ones among them.
    #[test]
    fn the_differences_bound_those_of_near_points() {
        let mut rng = Rng(21);
        let mut inside = 0;
        for round in 0..40 {
            let triangles = 1 + rng.below(60);
            let scale = [1.0_f32, 0.05][round % 2];
            let spacing = 0.1 * f64::from(scale);
            let (mut rest, mut squares) = (Rest::default(), Vec::new());
            for t in 0..triangles {
                let middle = rng.in_box(-Vec3::ONE, Vec3::ONE) * scale;
                let size = if rng.below(4) == 0 { 0.5 } else { 0.05 } * scale;
                let corners = [0, 1, 2].map(|_| (middle + rng.direction() * size).as_dvec3());
                for (k, corner) in corners.into_iter().enumerate() {
                    rest.push();
                    let v = (3 * t + k) as u32;
                    rest.reference.set(v, corner);
                    rest.residuals[0].set(v, rng.direction());
                    rest.residuals[1].set(v, rng.direction() * 0.1);
                }
                let side = |k: usize| corners[k].distance_squared(corners[(k + 1) % 3]);
                squares.push(side(0).max(side(1)).max(side(2)));
            }
            // Room for the corners of tiles: here they are more than vertices.
            let cuts = Cuts::new(spacing, &squares, 100 * triangles);
            rest.tiles.grow(triangles, 1);
            for (t, square) in squares.iter().enumerate() {
                rest.tiles.set(t as u32, cuts.along(*square));
            }
            let corners = |t: usize| [0, 1, 2].map(|k| (3 * t + k) as u32);
            let vertices: Vec<u32> = (0..3 * triangles as u32).collect();
            let all = (0..triangles).map(|t| (t as u32, corners(t)));
            let cells = Cells::new(&rest, &vertices, all, cuts);
            inside += cells.inner.len();
            let mut points = Vec::new();
            for t in 0..triangles {
                for _ in 0..12 {
                    let w: [f32; 3] = [0, 1, 2].map(|_| rng.unit());
                    let sum: f32 = w.iter().sum();
                    let at = |k: usize| (3 * t + k, w[k] / sum);
                    points.push([0, 1, 2].map(at));
                }
            }
            let place = |p: &[(usize, f32); 3]| -> DVec3 {
                p.iter()
                    .map(|&(v, w)| rest.reference.get(v as u32) * f64::from(w))
                    .sum()
            };
            for end in 0..2 {
                let bounds = cells.largest_differences(&rest, end, false);
                let residual = |p: &[(usize, f32); 3]| -> Vec3 {
                    p.iter()
                        .map(|&(v, w)| rest.residuals[end].get(v as u32) * w)
                        .sum()
                };
                for a in &points {
                    for b in &points {
                        let (apart, differ) = (
                            place(a).distance(place(b)),
                            f64::from((residual(a) - residual(b)).length()),
                        );
                        for (reach, bound) in cells.reaches().into_iter().zip(bounds) {
                            assert!(apart > reach || differ <= bound + 1e-6, "round {round}");
                        }
                    }
                }
                assert!(bounds.is_sorted(), "{bounds:?}");
            }
            assert!(cells.reaches().is_sorted());
            assert!(triangles < 30 || cells.levels[0].cells > 10);
        }
        assert!(inside > 1000, "{inside}");
    }
}
