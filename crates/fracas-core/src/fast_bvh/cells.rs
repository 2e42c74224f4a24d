//! What residuals differ by between triangles that are near one another in the
//! reference shape: vertices are sorted into cells of space, once; then the largest
//! difference within and between neighbouring cells bounds it for all of them.
//!
//! **Guarantee**: cells are as wide as `reach` plus twice the longest edge, so two
//! triangles that are at most `reach` apart have all their vertices in the same or in
//! neighbouring cells.

use glam::{DVec3, Vec3};

use super::fit::Rest;

/// How far apart triangles may be for cells to say something, in mean edge lengths.
pub(crate) const CELL_REACH: f64 = 1.0;

/// The cells of one body.
#[derive(Clone, Debug)]
pub(crate) struct Cells {
    /// Vertices by global id, cell by cell.
    vertices: Vec<u32>,
    /// Where each cell begins; one more than there are.
    starts: Vec<u32>,
    /// Pairs of neighbouring cells.
    neighbours: Vec<[u32; 2]>,
    reach: f64,
}

impl Cells {
    /// Of the reference positions; `triangles` are the body's, by their corners,
    /// `spacing` is the mean length of edges.
    pub(crate) fn new(
        rest: &Rest,
        vertices: &[u32],
        triangles: impl Iterator<Item = [u32; 3]>,
        spacing: f64,
    ) -> Self {
        let at = |v: u32| rest.reference[v as usize];
        let mut longest = 0.0_f64;
        for corners in triangles {
            let [a, b, c] = corners.map(at);
            longest = longest
                .max(a.distance_squared(b))
                .max(b.distance_squared(c))
                .max(c.distance_squared(a));
        }
        let reach = CELL_REACH * spacing;
        let (mut low, mut high) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
        for &v in vertices {
            low = low.min(at(v));
            high = high.max(at(v));
        }
        // At most a thousand cells along an axis, so that numbers fit.
        let least = (high - low).max_element() / 1000.0;
        let width = (reach + 2.0 * longest.sqrt()).max(least) * (1.0 + 1e-9);
        let cell = |v: u32| {
            let c = ((at(v) - low) / width).floor();
            // One is added so that neighbours are never negative.
            [c.x, c.y, c.z].map(|c| c as u32 + 1)
        };
        let key = |[x, y, z]: [u32; 3]| x << 20 | y << 10 | z;
        let mut sorted: Vec<(u32, u32)> = vertices.iter().map(|&v| (key(cell(v)), v)).collect();
        sorted.sort_unstable();
        let mut keys: Vec<u32> = Vec::new();
        let mut starts = Vec::new();
        for (i, &(k, _)) in sorted.iter().enumerate() {
            if keys.last() != Some(&k) {
                keys.push(k);
                starts.push(i as u32);
            }
        }
        starts.push(sorted.len() as u32);
        let mut neighbours = Vec::new();
        for (i, &k) in keys.iter().enumerate() {
            let [x, y, z] = [k >> 20, k >> 10 & 1023, k & 1023];
            // Half of the 26, so that each pair comes once: those with larger keys.
            for (dx, dy) in [(0, 1), (1, -1), (1, 0), (1, 1)] {
                let from = key([x + dx, y.wrapping_add_signed(dy), z - 1]);
                let first = keys.partition_point(|&n| n < from);
                let near = keys[first..].iter().take_while(|&&n| n <= from + 2);
                neighbours.extend((first..).zip(near).map(|(j, _)| [i as u32, j as u32]));
            }
            if keys.get(i + 1) == Some(&(k + 1)) {
                neighbours.push([i as u32, i as u32 + 1]);
            }
        }
        Self {
            vertices: sorted.into_iter().map(|s| s.1).collect(),
            starts,
            neighbours,
            reach,
        }
    }

    /// Triangles up to this far apart are covered.
    pub(crate) fn reach(&self) -> f64 {
        self.reach
    }

    /// The largest difference of residuals of vertices in the same or neighbouring
    /// cells, at the start (0) or at the end (1) of the step.
    pub(crate) fn largest_difference(&self, rest: &Rest, end: usize) -> f64 {
        let span = |w: &[u32]| {
            let (mut low, mut high) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
            for &v in &self.vertices[w[0] as usize..w[1] as usize] {
                let r = rest.residuals[end][v as usize];
                low = low.min(r);
                high = high.max(r);
            }
            [low, high]
        };
        let spans: Vec<[Vec3; 2]> = self.starts.windows(2).map(span).collect();
        let mut largest = 0.0_f32;
        for [low, high] in &spans {
            largest = largest.max((*high - *low).length_squared());
        }
        for &[i, j] in &self.neighbours {
            let ([a, b], [c, d]) = (spans[i as usize], spans[j as usize]);
            largest = largest.max((b.max(d) - a.min(c)).length_squared());
        }
        // Residuals and this sum are rounded to f32.
        f64::from(largest).sqrt() * (1.0 + 1e-5)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Rng;

    /// Against all pairs: no two vertices of near triangles differ by more.
    #[test]
    fn the_difference_bounds_all_near_pairs() {
        let mut rng = Rng(21);
        for round in 0..40 {
            let count = 3 * (1 + rng.below(60));
            let scale = [1.0_f32, 0.05][round % 2];
            let mut rest = Rest::default();
            for v in 0..count {
                // Triangles are small, so that there are several cells.
                let at = if v % 3 == 0 {
                    rng.in_box(-Vec3::ONE, Vec3::ONE) * scale
                } else {
                    rest.reference[v - v % 3].as_vec3() + rng.direction() * 0.05 * scale
                };
                rest.push();
                rest.reference[v] = at.as_dvec3();
                rest.residuals[0][v] = rng.direction();
                rest.residuals[1][v] = rng.direction() * 0.1;
            }
            let triangles = (0..count as u32 / 3).map(|t| [0, 1, 2].map(|k| 3 * t + k));
            let vertices: Vec<u32> = (0..count as u32).collect();
            let cells = Cells::new(&rest, &vertices, triangles, 0.1 * f64::from(scale));
            assert!(count < 90 || cells.starts.len() > 10);
            for end in 0..2 {
                let bound = cells.largest_difference(&rest, end);
                let (places, own) = (&rest.reference, &rest.residuals[end]);
                for a in 0..count {
                    for b in 0..count {
                        if places[a].distance(places[b]) <= cells.reach() {
                            let differ = (own[a] - own[b]).length();
                            assert!(f64::from(differ) <= bound, "round {round}");
                        }
                    }
                }
            }
        }
    }
}
