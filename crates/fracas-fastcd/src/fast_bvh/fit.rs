//! How far a body is from an affine image of its reference shape.
//!
//! For a body with reference positions q (relative to their mean) and positions x,
//! the map `x ~ A q + t` is found by least squares with a ridge that draws A towards
//! the rotation R of three landmark vertices:
//!
//! `A = (sum x qT + m R) (sum q qT + m I)^-1`
//!
//! so that flat bodies, whose vertices leave one column of A open, need no special
//! case, and a body that moves rigidly gives `A = R`. A few hundred of its vertices
//! will do for the sums: what counts is not that the map is the best one, but what is
//! then *measured*, over all vertices:
//!
//! * `spread`, a bound on every vertex's residual `|x - (A q + t)|`;
//! * `strain`, a bound on the difference of residuals along every edge, of a tile where
//!   triangles are cut in tiles ([`super::cells`]).
//!
//! **Guarantee**: both bounds hold for the positions given, rounding included: they
//! are widened by far more than the arithmetic errs.

use glam::{DMat3, DVec3, Vec3};

use super::leaf::Leaf;
use super::threads::{ByteSlots, Slots, WideSlots, of_chunks};
use fracas_geometry::primitives::Moving;

/// Room for rounding, relative to the largest coordinate.
const ROUNDING: f64 = 1e-12;
/// Weight of the ridge against the spread of the reference positions.
const RIDGE: f64 = 1e-3;

/// Vertices that the sums are made of, about.
const SAMPLES: usize = 256;

/// What is kept of the vertices of bodies that are watched, by global id.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rest {
    /// Where each was when its body's reference shape was taken.
    pub(crate) reference: WideSlots,
    /// Residuals at the start and at the end of the step.
    pub(crate) residuals: [Slots; 2],
    /// Tiles along an edge of each triangle, by its global id ([`super::cells`]).
    pub(crate) tiles: ByteSlots,
}

impl Rest {
    pub(crate) fn push(&mut self) {
        self.reference.push();
        for residuals in &mut self.residuals {
            residuals.push();
        }
    }

    /// A vertex that comes to be as a copy of another.
    pub(crate) fn copy(&mut self, from: u32, to: u32) {
        self.reference.set(to, self.reference.get(from));
        for residuals in &self.residuals {
            residuals.set(to, residuals.get(from));
        }
    }

    /// Residuals at the start (0) or end (1) of the step of some vertices.
    #[inline]
    pub(crate) fn residuals_of<const N: usize>(&self, end: usize, vertices: [u32; N]) -> [Vec3; N] {
        vertices.map(|v| self.residuals[end].get(v))
    }
}

/// What the fit needs to know of the reference shape, once.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Shape {
    centre: DVec3,
    inverse: DMat3,
    ridge: f64,
    landmarks: [u32; 3],
    frame: DMat3,
    /// Largest coordinate of the reference positions.
    size: f64,
}

/// The affine map at one end of the step, with its bounds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Fit {
    pub(crate) linear: DMat3,
    pub(crate) spread: f64,
    pub(crate) strain: f64,
    /// What rounding can have done to a residual.
    pub(crate) room: f64,
}

impl Fit {
    /// Of the reference shape itself.
    pub(crate) fn of_reference(shape: &Shape) -> Self {
        Self {
            linear: DMat3::IDENTITY,
            spread: ROUNDING * shape.size,
            strain: ROUNDING * shape.size,
            room: ROUNDING * shape.size,
        }
    }
}

impl Shape {
    /// Of the reference positions of a body; `None` when they lie on a line.
    pub(crate) fn of(rest: &Rest, vertices: &[u32]) -> Option<Self> {
        let at = |v: u32| rest.reference.get(v);
        let origin = at(*vertices.first()?);
        let (mut sum, mut count) = (DVec3::ZERO, 0.0);
        let mut far = [(0.0, vertices[0]); 2];
        for v in samples(vertices) {
            let p = at(v);
            sum += p - origin;
            count += 1.0;
            let distance = p.distance_squared(origin);
            if distance > far[0].0 {
                far[0] = (distance, v);
            }
        }
        let centre = origin + sum / count;
        let along = at(far[0].1) - origin;
        let mut spread = DMat3::ZERO;
        for v in samples(vertices) {
            let q = at(v) - centre;
            spread += outer(q, q);
            let area = along.cross(at(v) - origin).length_squared();
            if area > far[1].0 {
                far[1] = (area, v);
            }
        }
        let largest = |size: DVec3, v: &u32| size.max(at(*v).abs());
        let size = vertices.iter().fold(DVec3::ZERO, largest).max_element();
        let landmarks = [vertices[0], far[0].1, far[1].1];
        let frame = frame(landmarks.map(at))?;
        let ridge = RIDGE * (spread.x_axis.x + spread.y_axis.y + spread.z_axis.z);
        let inverse = (spread + DMat3::from_diagonal(DVec3::splat(ridge))).inverse();
        inverse.is_finite().then_some(Self {
            centre,
            inverse,
            ridge,
            landmarks,
            frame,
            size,
        })
    }
}

/// Evenly through the list.
fn samples(vertices: &[u32]) -> impl Iterator<Item = u32> + '_ {
    let step = vertices.len().div_ceil(SAMPLES);
    vertices.iter().copied().step_by(step)
}

fn outer(a: DVec3, b: DVec3) -> DMat3 {
    DMat3::from_cols(a * b.x, a * b.y, a * b.z)
}

/// The orthonormal frame of three points, if they are not on a line.
fn frame([a, b, c]: [DVec3; 3]) -> Option<DMat3> {
    let u = (b - a).try_normalize()?;
    let w = u.cross(c - a);
    let w = w.try_normalize()?;
    Some(DMat3::from_cols(u, w.cross(u), w))
}

/// Fits the reference shape to where the body is at the end of the step, and notes
/// the residual of each vertex. `vertices` and `triangles` are the body's. `None` when
/// there is no sensible fit. Strain up to `fine` is taken for twice the spread, which
/// bounds it.
pub(crate) fn fit(
    shape: &Shape,
    vertices: &[u32],
    positions: &[Moving],
    triangles: &[Leaf],
    rest: &Rest,
    fine: f64,
    parallel: bool,
) -> Option<Fit> {
    let at = |v: u32| positions[v as usize][1];
    let origin = at(vertices[0]);
    let (mut sum, mut product) = (DVec3::ZERO, DMat3::ZERO);
    let (mut weight, mut count) = (DVec3::ZERO, 0.0);
    for v in samples(vertices) {
        let x = at(v) - origin;
        let q = rest.reference.get(v) - shape.centre;
        sum += x;
        weight += q;
        count += 1.0;
        product += outer(x, q);
    }
    let mean = sum / count;
    // The reference is centred but for rounding.
    product -= outer(mean, weight);
    let turn = frame(shape.landmarks.map(at))? * shape.frame.transpose();
    let linear = (product + turn * shape.ridge) * shape.inverse;
    let offset = mean + origin;
    if !linear.is_finite() {
        return None;
    }
    let measure = |vertices: &[u32]| {
        let (mut spread, mut size) = (0.0_f64, DVec3::splat(shape.size));
        for &v in vertices {
            let (x, q) = (at(v), rest.reference.get(v) - shape.centre);
            let residual = x - offset - linear * q;
            spread = spread.max(residual.length_squared());
            size = size.max(x.abs());
            let [start, end] = &rest.residuals;
            start.set(v, end.get(v));
            end.set(v, residual.as_vec3());
        }
        (spread, size)
    };
    let parts = of_chunks(parallel, vertices, measure).into_iter();
    let (spread, size) = parts.fold((0.0_f64, DVec3::ZERO), |a, b| (a.0.max(b.0), a.1.max(b.1)));
    // Residuals are kept in f32: one part in ten million each.
    let spread = spread.sqrt();
    let room = ROUNDING * size.max_element() + 1e-6 * spread;
    let mut fit = Fit {
        linear,
        spread: spread + room,
        strain: 2.0 * spread + room,
        room,
    };
    if fit.strain > fine {
        let strain_of = |triangles: &[Leaf]| {
            let mut strain = 0.0_f32;
            for triangle in triangles {
                let [a, b, c] = rest.residuals_of(1, triangle.corners);
                let longest = (a - b)
                    .length_squared()
                    .max((b - c).length_squared())
                    .max((c - a).length_squared());
                let tiles = f32::from(rest.tiles.get(triangle.id));
                strain = strain.max(longest / (tiles * tiles));
            }
            strain
        };
        let parts = of_chunks(parallel, triangles, strain_of).into_iter();
        let strain = parts.fold(0.0, f32::max);
        fit.strain = f64::from(strain).sqrt() * (1.0 + 1e-6) + room;
    }
    (fit.spread.is_finite() && fit.strain.is_finite()).then_some(fit)
}

/// A lower bound on how much the map between two fits shrinks a distance, at any time
/// of the step.
///
/// Between the ends the map is `(1 - s) A + s B`. The matrix of its squared lengths is
/// a combination, with the positive weights of a quadratic in Bernstein form, of
/// `AT A`, `(AT B + BT A) / 2` and `BT B`; each is the identity plus something whose
/// Frobenius norm bounds what it takes off a squared length.
pub(crate) fn least_stretch(a: &DMat3, b: &DMat3) -> f64 {
    let (at, bt) = (a.transpose(), b.transpose());
    let off = |m: DMat3| {
        let e = m - DMat3::IDENTITY;
        (e.x_axis.length_squared() + e.y_axis.length_squared() + e.z_axis.length_squared()).sqrt()
    };
    let worst = off(at * *a)
        .max(off((at * *b + bt * *a) * 0.5))
        .max(off(bt * *b));
    let squared = 1.0 - worst - ROUNDING;
    // NaN is no stretch, too.
    if squared > 0.0 { squared.sqrt() } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fracas_geometry::testing::Rng;

    /// The bound holds for sampled times and directions, and is tight for a turn.
    #[test]
    fn least_stretch_bounds_all_directions_and_times() {
        let mut rng = Rng(11);
        let mut useful = 0;
        for _ in 0..500 {
            let axis = rng.direction().as_dvec3();
            let (angle, noise) = (f64::from(rng.range(0.0, 1.0)), 0.05);
            let turned = |p: DVec3, by: f64| {
                let (s, c) = (libm::sin(by), libm::cos(by));
                p * c + axis.cross(p) * s + axis * axis.dot(p) * (1.0 - c)
            };
            let mut matrix = |by: f64| {
                let mut column = |p| turned(p, by) + rng.direction().as_dvec3() * noise;
                DMat3::from_cols(column(DVec3::X), column(DVec3::Y), column(DVec3::Z))
            };
            let (a, b) = (matrix(0.3), matrix(0.3 + angle));
            let bound = least_stretch(&a, &b);
            useful += usize::from(bound > 0.5);
            for i in 0..=10 {
                let s = f64::from(i) / 10.0;
                for _ in 0..10 {
                    let d = rng.direction().as_dvec3();
                    let length = ((a * (1.0 - s) + b * s) * d).length();
                    assert!(length >= bound * d.length(), "{length} {bound}");
                }
            }
        }
        assert!(useful > 300, "{useful}");
    }
}
