//! What is inside: the questions that the mesher asks of a shape.
//!
//! Two shapes answer them: an implicit function ([`Implicit`], here) and a triangle
//! surface ([`super::surface_domain::SurfaceDomain`]).

use glam::DVec3;

/// A solid shape.
pub(super) trait Domain {
    /// Negative inside; the magnitude is about the distance to the surface, or at
    /// least `reach` where that is farther.
    fn value(&self, p: DVec3, reach: f64) -> f64;

    /// About the distance to the surface, or at least `reach` where that is farther.
    fn distance(&self, p: DVec3, reach: f64) -> f64;

    /// Whether `p` is inside.
    fn inside(&self, p: DVec3) -> bool;

    /// Where the segment from a point inside to a point outside leaves the shape,
    /// as a fraction of its length.
    fn crossing(&self, inside: DVec3, outside: DVec3) -> f64;

    /// The nearest point of the surface, or one near it; `None` if none is found
    /// within `reach`.
    fn closest(&self, p: DVec3, reach: f64) -> Option<DVec3>;

    /// How thick the shape is under the surface point nearest to `p`, up to `limit`.
    fn thickness(&self, p: DVec3, limit: f64) -> Run;

    /// How thick the gap outside is over the surface point nearest to `p`, up to `limit`.
    fn gap(&self, p: DVec3, limit: f64) -> Run;
}

/// A straight way through the shape or through a gap.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    /// Its length.
    pub length: f64,
    /// Its direction: the surface's normal, either way.
    pub direction: DVec3,
}

/// Halvings of an edge when its crossing is searched: 2^-24 of it is left.
const BISECTIONS: usize = 24;

/// Bisects `value` between a point inside and a point outside.
pub(super) fn bisect(value: &dyn Fn(DVec3) -> f64, inside: DVec3, outside: DVec3) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..BISECTIONS {
        let middle = 0.5 * (low + high);
        if value(inside.lerp(outside, middle)) < 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

/// A shape given by a function that is negative inside.
pub(super) struct Implicit<'a> {
    function: &'a dyn Fn(DVec3) -> f64,
    /// Step of the finite differences.
    step: f64,
}

impl<'a> Implicit<'a> {
    pub(super) fn new(function: &'a dyn Fn(DVec3) -> f64, size: f64) -> Self {
        Self {
            function,
            step: 1e-5 * size,
        }
    }

    fn gradient(&self, p: DVec3) -> DVec3 {
        let d = |e: DVec3| {
            ((self.function)(p + e * self.step) - (self.function)(p - e * self.step))
                / (2.0 * self.step)
        };
        DVec3::new(d(DVec3::X), d(DVec3::Y), d(DVec3::Z))
    }

    /// The run from the surface on which the sign stays.
    fn run(&self, p: DVec3, inward: f64, limit: f64) -> Run {
        let Some(q) = self.closest(p, f64::INFINITY) else {
            return Run {
                length: limit,
                direction: DVec3::ZERO,
            };
        };
        let normal = self.gradient(q).normalize_or_zero();
        const STEPS: u32 = 16;
        let length = (1..=STEPS)
            .map(|i| limit * f64::from(i) / f64::from(STEPS))
            .find(|s| (self.function)(q - normal * (inward * s)) * inward >= 0.0)
            .unwrap_or(limit);
        Run {
            length,
            direction: normal,
        }
    }
}

impl Domain for Implicit<'_> {
    fn value(&self, p: DVec3, _reach: f64) -> f64 {
        let v = (self.function)(p);
        // Where the function fails is not inside.
        if v.is_nan() { f64::MAX } else { v }
    }

    fn distance(&self, p: DVec3, reach: f64) -> f64 {
        self.value(p, reach).abs()
    }

    fn inside(&self, p: DVec3) -> bool {
        self.value(p, 0.0) < 0.0
    }

    fn crossing(&self, inside: DVec3, outside: DVec3) -> f64 {
        bisect(self.function, inside, outside)
    }

    fn closest(&self, p: DVec3, reach: f64) -> Option<DVec3> {
        let mut q = p;
        for _ in 0..8 {
            let f = self.value(q, reach);
            let g = self.gradient(q);
            let squared = g.length_squared();
            if !squared.is_finite() || squared < 1e-12 {
                return None;
            }
            let step = g * (f / squared);
            q -= step;
            if q.distance(p) > reach {
                return None;
            }
            if step.length() < 1e-3 * self.step {
                break;
            }
        }
        (self.value(q, reach).abs() < self.step).then_some(q)
    }

    fn thickness(&self, p: DVec3, limit: f64) -> Run {
        self.run(p, 1.0, limit)
    }

    fn gap(&self, p: DVec3, limit: f64) -> Run {
        self.run(p, -1.0, limit)
    }
}
