//! A triangle surface as a solid shape.
//!
//! - Inside is where the winding number exceeds one half: right for closed surfaces,
//!   for nested and self-intersecting ones, with duplicated faces and small holes.
//! - If the winding numbers are negative on the whole (a surface turned inside out),
//!   all triangles are turned round.
//! - A surface whose winding number is near one half in many places (an open sheet, a
//!   soup) has no inside: then the shape is everything within an offset of it.

use glam::DVec3;

use super::bvh::Bvh;
use super::domain::{Domain, Run, bisect};
use super::winding::winding_number;

/// A surface is ambiguous if more than this part of the samples near it has a
/// winding number nearer than [`CLEAR`] to one half.
const AMBIGUOUS: f64 = 0.05;
const CLEAR: f64 = 0.25;
/// Samples for that question.
const SAMPLES: usize = 1000;
/// Places asked whether a surface runs through itself.
const BURIED: usize = 4000;
/// In how many parts an edge is divided for it, where there are fewer triangles, at most.
const MOST_PARTS: usize = 16;

/// The middles of the triangles into which these many parts of each edge divide one.
fn places([a, b, c]: [DVec3; 3], parts: usize) -> impl Iterator<Item = DVec3> {
    let rows = (0..parts).flat_map(move |i| (0..parts - i).map(move |j| (i, j)));
    rows.flat_map(move |(i, j)| {
        let at = move |shift: f64| {
            let along = |k: usize| (k as f64 + shift) / parts as f64;
            a + (b - a) * along(i) + (c - a) * along(j)
        };
        let turned = (i + j + 1 < parts).then(|| at(2.0 / 3.0));
        std::iter::once(at(1.0 / 3.0)).chain(turned)
    })
}

/// A shape bounded by triangles.
#[derive(Debug)]
pub(super) struct SurfaceDomain {
    pub tree: Bvh,
    bounds: (DVec3, DVec3),
    size: f64,
    /// Thickness on each side of a surface that has no inside.
    offset: Option<f64>,
    /// Whether parts of the surface lie inside the solid.
    crosses_itself: bool,
    /// Whether it came inside out, and its triangles were turned round.
    is_turned: bool,
}

impl SurfaceDomain {
    pub(super) fn new(positions: &[DVec3], triangles: &[[u32; 3]]) -> Self {
        let (mut low, mut high) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
        for p in triangles.iter().flatten().map(|&v| positions[v as usize]) {
            low = low.min(p);
            high = high.max(p);
        }
        let mut triangles = without_copies(triangles);
        let volume: f64 = triangles
            .iter()
            .map(|t| {
                let [a, b, c] = t.map(|v| positions[v as usize] - low);
                a.dot(b.cross(c))
            })
            .sum();
        if volume < 0.0 {
            for [_, b, c] in &mut triangles {
                std::mem::swap(b, c);
            }
        }
        let mut domain = Self {
            tree: Bvh::build(positions, &triangles),
            bounds: (low, high),
            size: (high - low).max_element(),
            offset: None,
            crosses_itself: false,
            is_turned: volume < 0.0,
        };
        domain.crosses_itself = domain.has_buried_parts();
        domain
    }

    /// Whether some of the surface (one place of [`BURIED`], evenly over its triangles, and
    /// over each where they are few) has the solid on both sides.
    fn has_buried_parts(&self) -> bool {
        let count = self.tree.corners.len();
        let step = (count / BURIED).max(1);
        let parts = (BURIED as f64 / count.max(1) as f64).sqrt() as usize;
        (0..count).step_by(step).any(|entry| {
            let off = self.tree.normal(entry as u32) * (1e-3 * self.size);
            let mut places = places(self.tree.corners[entry], parts.clamp(1, MOST_PARTS));
            places.any(|place| {
                // Well beyond what holes and single precision could make of it.
                let winding = |p: DVec3| winding_number(&self.tree, p);
                winding(place + off) > 0.9 && winding(place - off) > 1.5
            })
        })
    }

    /// -1 where the surface came inside out, else 1.
    pub(super) fn turned(&self) -> f64 {
        if self.is_turned { -1.0 } else { 1.0 }
    }

    /// Whether parts of the surface lie inside the solid: it runs through itself.
    pub(super) fn crosses_itself(&self) -> bool {
        self.crosses_itself
    }

    /// Whether the winding number does not tell inside from outside: sampled off the
    /// surface on both sides, evenly over its area.
    pub(super) fn is_ambiguous(&self) -> bool {
        let tree = &self.tree;
        let areas: Vec<f64> = tree
            .corners
            .iter()
            .map(|[a, b, c]| (b - a).cross(c - a).length())
            .collect();
        let total: f64 = areas.iter().sum();
        if total <= 0.0 {
            return true;
        }
        let step = total / SAMPLES as f64;
        let (mut next, mut sum) = (0.5 * step, 0.0);
        let (mut unclear, mut inside, mut samples) = (0, 0, 0);
        for (entry, area) in areas.iter().enumerate() {
            sum += area;
            while next < sum {
                next += step;
                let [a, b, c] = tree.corners[entry];
                let normal = tree.normal(entry as u32);
                for side in [-1.0, 1.0] {
                    let p = (a + b + c) / 3.0 + normal * (side * 0.01 * self.size);
                    let w = winding_number(tree, p);
                    samples += 1;
                    inside += usize::from(w > 0.5);
                    unclear += usize::from((w - 0.5).abs() < CLEAR);
                }
            }
        }
        // Two sides of one sheet cancel: then nothing is inside either.
        unclear as f64 > AMBIGUOUS * samples as f64 || inside == 0
    }

    /// Makes the shape everything within `offset` of the surface.
    pub(super) fn thicken(&mut self, offset: f64) {
        self.offset = Some(offset);
    }

    pub(super) fn bounds(&self) -> (DVec3, DVec3) {
        let margin = self.offset.unwrap_or(0.0);
        (self.bounds.0 - margin, self.bounds.1 + margin)
    }

    pub(super) fn offset(&self) -> Option<f64> {
        self.offset
    }

    pub(super) fn size(&self) -> f64 {
        self.size
    }

    fn signed(&self, p: DVec3) -> f64 {
        0.5 - winding_number(&self.tree, p)
    }

    /// The first run from the surface along its normal (`side` = 1) or against it.
    fn run(&self, p: DVec3, side: f64, limit: f64) -> Run {
        let Some(closest) = self.tree.closest(p, f64::INFINITY) else {
            return Run {
                length: limit,
                direction: DVec3::ZERO,
            };
        };
        let normal = self.tree.normal(closest.entry);
        let start = closest.point + normal * (side * 1e-7 * self.size);
        let mut hits = Vec::new();
        self.tree
            .hits(start, start + normal * (side * limit), &mut hits);
        let ends = |t: f64| {
            // Where a surface runs through itself, most hits lie inside the solid: a run
            // ends where the solid does. Otherwise such places would count as thin walls.
            let beyond = start + normal * (side * (t * limit + 1e-4 * self.size));
            !self.crosses_itself || (self.signed(beyond) < 0.0) == (side > 0.0)
        };
        hits.retain(|h| h.outward == (side < 0.0));
        hits.sort_unstable_by(|a, b| a.t.total_cmp(&b.t));
        let first = hits.iter().find(|h| ends(h.t));
        let length = first.map_or(limit, |h| h.t * limit);
        Run {
            length,
            direction: normal,
        }
    }

    /// Wall thickness that one in ten places of the surface stays below.
    pub(super) fn thin_wall(&self) -> f64 {
        self.wall(0.1)
    }

    /// Wall thickness that this share of the surface's places stays below.
    pub(super) fn wall(&self, share: f64) -> f64 {
        let step = (self.tree.corners.len() / 500).max(1);
        let mut all: Vec<f64> = (0..self.tree.corners.len())
            .step_by(step)
            .map(|entry| {
                let [a, b, c] = self.tree.corners[entry];
                self.run((a + b + c) / 3.0, -1.0, self.size).length
            })
            .collect();
        all.sort_unstable_by(f64::total_cmp);
        let at = (share * all.len() as f64) as usize;
        all.get(at).copied().unwrap_or(0.0)
    }
}

impl SurfaceDomain {
    /// Whether a point of the surface lies on the solid's boundary: outside on one
    /// side and inside on the other. Surfaces that run through one another have parts
    /// that do not.
    pub(super) fn bounds_solid(&self, p: DVec3, normal: DVec3) -> bool {
        let step = normal * (1e-4 * self.size);
        self.signed(p + step) >= 0.0 && self.signed(p - step) < 0.0
    }
}

/// Each triangle once, whichever way round its copies look; the first is kept.
fn without_copies(triangles: &[[u32; 3]]) -> Vec<[u32; 3]> {
    let mut keys: Vec<([u32; 3], usize)> = triangles
        .iter()
        .enumerate()
        .map(|(i, &t)| {
            let mut key = t;
            key.sort_unstable();
            (key, i)
        })
        .collect();
    keys.sort_unstable();
    keys.dedup_by(|later, first| later.0 == first.0);
    let mut kept: Vec<usize> = keys.into_iter().map(|k| k.1).collect();
    kept.sort_unstable();
    kept.into_iter().map(|i| triangles[i]).collect()
}

impl Domain for SurfaceDomain {
    fn value(&self, p: DVec3, reach: f64) -> f64 {
        let distance = self.distance(p, reach);
        match self.offset {
            Some(_) => distance,
            None if self.inside(p) => -distance,
            None => distance,
        }
    }

    fn distance(&self, p: DVec3, reach: f64) -> f64 {
        let offset = self.offset.unwrap_or(0.0);
        self.tree
            .closest(p, reach + offset)
            .map_or(reach, |c| c.distance_squared.sqrt() - offset)
    }

    fn inside(&self, p: DVec3) -> bool {
        if self.offset.is_some() {
            return self.distance(p, 0.0) < 0.0;
        }
        let (low, high) = self.bounds;
        (low - p).max(p - high).max_element() <= 0.0 && self.signed(p) < 0.0
    }

    fn crossing(&self, inside: DVec3, outside: DVec3) -> f64 {
        if self.offset.is_some() {
            return bisect(&|p| self.distance(p, self.size), inside, outside);
        }
        let mut hits = Vec::new();
        self.tree.hits(inside, outside, &mut hits);
        hits.sort_unstable_by(|a, b| a.t.total_cmp(&b.t));
        // A hit on an edge or on a doubled face counts once.
        hits.dedup_by(|a, b| (a.t - b.t).abs() < 1e-9);
        match hits.as_slice() {
            [one] => one.t,
            [] => bisect(&|p| self.signed(p), inside, outside),
            many => {
                // The winding number decides between hits: between two of them it is constant.
                for pair in many.windows(2) {
                    let t = 0.5 * (pair[0].t + pair[1].t);
                    if self.signed(inside.lerp(outside, t)) >= 0.0 {
                        return pair[0].t;
                    }
                }
                many[many.len() - 1].t
            }
        }
    }

    fn closest(&self, p: DVec3, reach: f64) -> Option<DVec3> {
        let Some(offset) = self.offset else {
            return self.tree.closest(p, reach).map(|c| c.point);
        };
        let closest = self.tree.closest(p, reach + offset)?;
        let away = (p - closest.point).try_normalize()?;
        let q = closest.point + away * offset;
        (q.distance(p) <= reach).then_some(q)
    }

    fn thickness(&self, p: DVec3, limit: f64) -> Run {
        match self.offset {
            Some(offset) => Run {
                length: (2.0 * offset).min(limit),
                direction: DVec3::ZERO,
            },
            None => self.run(p, -1.0, limit),
        }
    }

    fn gap(&self, p: DVec3, limit: f64) -> Run {
        match self.offset {
            Some(_) => Run {
                length: limit,
                direction: DVec3::ZERO,
            },
            None => self.run(p, 1.0, limit),
        }
    }
}
