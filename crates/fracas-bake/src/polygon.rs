//! Cuts one polygon of a face list into triangles.
//!
//! 1. Project along the largest axis of the Newell normal: two coordinates stay
//!    untouched, so the tests below are exact (`robust` orientation).
//! 2. Convex (every corner turns left): a fan from the first corner.
//! 3. Otherwise ear clipping. Ears are clipped in order of corner, so the result
//!    depends on nothing but the input. Ear flags are kept and only the two
//!    neighbours of a clipped corner are tested again: O(n²).
//! 4. If no ear is left before the end, the outline crosses itself: a fan.
//!
//! **Guarantee**: always n - 2 triangles on the given corners that use every
//! outline edge once in its direction, so neighbours still match; no overlap
//! whenever the projected outline is simple.

use glam::{DVec2, DVec3};
use robust::{Coord, orient2d};

/// The most corners of a polygon that is not convex: bounds the quadratic work.
pub(crate) const CORNER_LIMIT: usize = 4096;

/// How [`triangulate`] went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cut {
    /// The triangles tile the polygon.
    Exact,
    /// The outline crosses itself or has no area; the triangles may overlap.
    Fanned,
    /// Not convex, and more corners than [`CORNER_LIMIT`]: nothing was pushed.
    TooLarge,
}

/// Appends the triangles of a polygon with at least three corners, as corner numbers.
pub(crate) fn triangulate(corners: &[DVec3], triangles: &mut Vec<[u32; 3]>) -> Cut {
    let flat = project(corners);
    let count = corners.len() as u32;
    let fan = (1..count - 1).map(|k| [0, k, k + 1]);
    if is_convex(&flat) {
        triangles.extend(fan);
        return Cut::Exact;
    }
    if corners.len() > CORNER_LIMIT {
        return Cut::TooLarge;
    }
    let start = triangles.len();
    if clip_ears(&flat, triangles) {
        return Cut::Exact;
    }
    triangles.truncate(start);
    triangles.extend(fan);
    Cut::Fanned
}

/// Drops the coordinate along the largest axis of the Newell normal, so that the
/// outline runs counter-clockwise.
fn project(corners: &[DVec3]) -> Vec<DVec2> {
    let origin = corners[0];
    let normal: DVec3 = (0..corners.len())
        .map(|i| (corners[i] - origin).cross(corners[(i + 1) % corners.len()] - origin))
        .sum();
    let size = normal.abs();
    corners
        .iter()
        .map(|p| {
            let (u, v, n) = if size.x >= size.y && size.x >= size.z {
                (p.y, p.z, normal.x)
            } else if size.y >= size.z {
                (p.z, p.x, normal.y)
            } else {
                (p.x, p.y, normal.z)
            };
            if n < 0.0 {
                DVec2::new(v, u)
            } else {
                DVec2::new(u, v)
            }
        })
        .collect()
}

/// Positive when `c` lies to the left of `a` to `b`; exact in sign.
fn turn(a: DVec2, b: DVec2, c: DVec2) -> f64 {
    let coord = |p: DVec2| Coord { x: p.x, y: p.y };
    orient2d(coord(a), coord(b), coord(c))
}

/// Every corner turns left, and the outline goes round once.
fn is_convex(outline: &[DVec2]) -> bool {
    let n = outline.len();
    let all_left =
        (0..n).all(|i| turn(outline[i], outline[(i + 1) % n], outline[(i + 2) % n]) > 0.0);
    // A star turns left everywhere too, but more than once round: its x coordinate
    // then changes direction more than twice.
    let rising = |i: usize| (outline[i].x, outline[i].y) < at(outline, i + 1);
    let changes = (0..n).filter(|&i| rising(i) != rising((i + 1) % n)).count();
    all_left && changes == 2
}

fn at(outline: &[DVec2], i: usize) -> (f64, f64) {
    let p = outline[i % outline.len()];
    (p.x, p.y)
}

/// False when the outline turned out not to be simple.
fn clip_ears(outline: &[DVec2], triangles: &mut Vec<[u32; 3]>) -> bool {
    let mut ring = Ring::new(outline);
    let (mut k, mut left, mut since_last) = (0, outline.len(), 0);
    while left > 3 {
        if since_last > left {
            return false;
        }
        let next = ring.next[k];
        if ring.is_ear[k] {
            let before = ring.before[k];
            triangles.push([before as u32, k as u32, next as u32]);
            ring.remove(k);
            left -= 1;
            since_last = 0;
            // Skipping one neighbour keeps the pieces from all meeting in one corner.
            k = ring.next[next];
        } else {
            since_last += 1;
            k = next;
        }
    }
    let (before, next) = (ring.before[k], ring.next[k]);
    triangles.push([before as u32, k as u32, next as u32]);
    turn(outline[before], outline[k], outline[next]) >= 0.0
}

struct Ring<'a> {
    outline: &'a [DVec2],
    before: Vec<usize>,
    next: Vec<usize>,
    is_ear: Vec<bool>,
}

impl<'a> Ring<'a> {
    fn new(outline: &'a [DVec2]) -> Self {
        let n = outline.len();
        let mut ring = Self {
            outline,
            before: (0..n).map(|i| (i + n - 1) % n).collect(),
            next: (0..n).map(|i| (i + 1) % n).collect(),
            is_ear: Vec::new(),
        };
        ring.is_ear = (0..n).map(|k| ring.test(k)).collect();
        ring
    }

    /// Turns left, and no other corner lies in its triangle. Corners that coincide
    /// with one of the triangle's own are let pass: bridges to holes repeat corners.
    fn test(&self, k: usize) -> bool {
        let (before, next) = (self.before[k], self.next[k]);
        let [a, b, c] = [before, k, next].map(|i| self.outline[i]);
        if turn(a, b, c) <= 0.0 {
            return false;
        }
        let mut other = self.next[next];
        while other != before {
            let p = self.outline[other];
            let inside = turn(a, b, p) >= 0.0 && turn(b, c, p) >= 0.0 && turn(c, a, p) >= 0.0;
            if inside && p != a && p != b && p != c {
                return false;
            }
            other = self.next[other];
        }
        true
    }

    fn remove(&mut self, k: usize) {
        let (before, next) = (self.before[k], self.next[k]);
        self.next[before] = next;
        self.before[next] = before;
        for neighbour in [before, next] {
            self.is_ear[neighbour] = self.test(neighbour);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn lift(outline: &[(f64, f64)]) -> Vec<DVec3> {
        // A slanted plane, so that the projection has something to do.
        outline
            .iter()
            .map(|&(x, y)| DVec3::new(x, y, 0.25 * x - 3.0 * y))
            .collect()
    }

    fn area(corners: &[DVec3], t: [u32; 3]) -> DVec3 {
        let [a, b, c] = t.map(|k| corners[k as usize]);
        (b - a).cross(c - a) / 2.0
    }

    /// The pieces tile the polygon: none faces the other way, the areas add up, and
    /// every outline edge is used once.
    fn assert_tiles(corners: &[DVec3], triangles: &[[u32; 3]]) {
        assert_eq!(triangles.len(), corners.len() - 2);
        let n = corners.len();
        let total: DVec3 = (0..n)
            .map(|i| (corners[i] - corners[0]).cross(corners[(i + 1) % n] - corners[0]) / 2.0)
            .sum();
        let direction = total.normalize();
        let mut sum = 0.0;
        for &t in triangles {
            let piece = area(corners, t).dot(direction);
            assert!(piece >= -1e-12 * total.length(), "piece {t:?} is turned");
            sum += piece;
        }
        assert!((sum - total.length()).abs() <= 1e-9 * total.length());
        for i in 0..n as u32 {
            let edge = (i, (i + 1) % n as u32);
            let uses = triangles
                .iter()
                .flat_map(|&[a, b, c]| [(a, b), (b, c), (c, a)])
                .filter(|&e| e == edge)
                .count();
            assert_eq!(uses, 1, "outline edge {edge:?}");
        }
    }

    fn cut(outline: &[(f64, f64)]) -> (Cut, Vec<[u32; 3]>, Vec<DVec3>) {
        let corners = lift(outline);
        let mut triangles = Vec::new();
        let how = triangulate(&corners, &mut triangles);
        (how, triangles, corners)
    }

    #[test]
    fn convex_polygons_are_fanned() {
        let (how, triangles, corners) =
            cut(&[(0.0, 0.0), (2.0, 0.0), (3.0, 1.0), (2.0, 2.0), (0.0, 2.0)]);
        assert_eq!(how, Cut::Exact);
        assert_eq!(triangles, [[0, 1, 2], [0, 2, 3], [0, 3, 4]]);
        assert_tiles(&corners, &triangles);
    }

    #[test]
    fn an_arrow_a_comb_and_collinear_corners_are_tiled() {
        let arrow = vec![(0.0, 0.0), (2.0, -2.0), (0.0, 3.0), (-2.0, -2.0)];
        let collinear = vec![
            (0.0, 0.0),
            (1.0, 0.0),
            (2.0, 0.0),
            (2.0, 2.0),
            (1.0, 2.0),
            (0.0, 2.0),
            (0.0, 1.0),
        ];
        let mut comb = vec![(20.0, -1.0), (20.0, 0.0)];
        for i in (0..20).rev() {
            comb.push((f64::from(i) + 0.5, 5.0));
            comb.push((f64::from(i), 0.0));
        }
        comb.push((0.0, -1.0));
        for outline in [arrow, collinear, comb] {
            let (how, triangles, corners) = cut(&outline);
            assert_eq!(how, Cut::Exact);
            assert_tiles(&corners, &triangles);
        }
    }

    #[test]
    fn crossed_and_flat_outlines_are_fanned_and_said_so() {
        let bow_tie = [(0.0, 0.0), (2.0, 2.0), (2.0, 0.0), (0.0, 1.0)];
        let line = [(0.0, 0.0), (1.0, 1.0), (2.0, 2.0), (3.0, 3.0)];
        for outline in [bow_tie, line] {
            let (how, triangles, _) = cut(&outline);
            assert_eq!(how, Cut::Fanned);
            assert_eq!(triangles.len(), 2);
        }
        let star: Vec<_> = (0..5)
            .map(|i| {
                let angle = f64::from(i) * 4.0 * std::f64::consts::PI / 5.0;
                (angle.cos(), angle.sin())
            })
            .collect();
        assert_ne!(cut(&star).1.len(), 0);
    }

    #[test]
    fn a_huge_outline_is_refused_unless_convex() {
        let n = CORNER_LIMIT + 1;
        let ring = |wobble: f64| -> Vec<(f64, f64)> {
            (0..n)
                .map(|i| {
                    let angle = i as f64 * 2.0 * std::f64::consts::PI / n as f64;
                    let r = if i % 2 == 0 { 1.0 } else { 1.0 - wobble };
                    (r * angle.cos(), r * angle.sin())
                })
                .collect()
        };
        assert_eq!(cut(&ring(0.0)).0, Cut::Exact);
        assert_eq!(cut(&ring(0.3)).0, Cut::TooLarge);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn star_shaped_outlines_are_tiled(radii in prop::collection::vec(0.1_f64..1.0, 4..40)) {
            let n = radii.len() as f64;
            let outline: Vec<_> = radii
                .iter()
                .enumerate()
                .map(|(i, r)| {
                    let angle = i as f64 * 2.0 * std::f64::consts::PI / n;
                    (r * angle.cos(), r * angle.sin())
                })
                .collect();
            let (how, triangles, corners) = cut(&outline);
            prop_assert_eq!(how, Cut::Exact);
            assert_tiles(&corners, &triangles);
        }

        #[test]
        fn anything_ends_with_a_triangle_for_each_corner_but_two(
            corners in prop::collection::vec(prop::array::uniform3(-2_i8..3), 3..30)
        ) {
            let corners: Vec<_> = corners
                .iter()
                .map(|c| DVec3::from_array(c.map(f64::from)))
                .collect();
            let mut triangles = Vec::new();
            triangulate(&corners, &mut triangles);
            prop_assert_eq!(triangles.len(), corners.len() - 2);
        }
    }
}
