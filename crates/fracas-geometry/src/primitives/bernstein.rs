//! Polynomials on `[0, 1]` in Bernstein form, with error bounds: what the
//! continuous tests search for roots.
//!
//! A polynomial lies between the smallest and the largest of its Bernstein
//! coefficients, so coefficients of one sign prove that it has no root. All
//! coefficients carry one absolute bound on their rounding error, and every
//! decision here leaves that much room: "positive" means provably positive.

use glam::{BVec3, DVec3};

use super::exact_ccd::Exact;
use super::moving::Moving;

/// Half a unit in the last place, relative: `2^-53`.
pub const ROUND: f64 = f64::EPSILON * 0.5;

/// The difference of two moving points, at both ends.
#[inline]
pub fn difference(a: &Moving, b: &Moving) -> Moving {
    [a[0] - b[0], a[1] - b[1]]
}

/// The largest coordinate of a moving vector, in absolute value.
#[inline]
pub fn size(a: &Moving) -> f64 {
    a[0].abs().max(a[1].abs()).max_element()
}

/// Where a moving vector is at `t`.
#[inline]
pub(crate) fn at(a: &Moving, t: f64) -> DVec3 {
    a[0] * (1.0 - t) + a[1] * t
}

/// A vector of three quadratics: the cross product of two moving vectors. The
/// component k is the signed area that the two span when the axis k is left out.
#[derive(Clone, Copy, Debug)]
pub struct CrossQuadratic {
    coefficients: [DVec3; 3],
    error: f64,
}

impl CrossQuadratic {
    /// `a(t) x b(t)`, where the ends of both are differences of points, each
    /// rounded once.
    ///
    /// Error: a component is a sum of two products for the outer coefficients and
    /// of four, halved, for the middle one; with two rounded factors per product,
    /// its own rounding and two or three additions, at most 2 * 6 roundings of
    /// `size(a) size(b)`; three levels of interpolation in `on` add at most
    /// 2 * 9. Taken as 64.
    #[inline]
    pub fn new(a: &Moving, b: &Moving) -> Self {
        let middle = (a[1].cross(b[0]) + a[0].cross(b[1])) * 0.5;
        Self {
            coefficients: [a[0].cross(b[0]), middle, a[1].cross(b[1])],
            error: 64.0 * ROUND * size(a) * size(b) + f64::MIN_POSITIVE,
        }
    }

    /// The control vectors over the whole step.
    #[inline]
    pub fn control(&self) -> &[DVec3; 3] {
        &self.coefficients
    }

    /// In which components it is provably positive, provably negative over `[l, r]`.
    #[inline]
    pub fn signs_on(&self, l: f64, r: f64) -> (BVec3, BVec3) {
        let [c0, c1, c2] = self.coefficients;
        let (ml, mr) = (1.0 - l, 1.0 - r);
        let (p, q) = (c0 * ml + c1 * l, c1 * ml + c2 * l);
        let first = p * ml + q * l;
        let middle = p * mr + q * r;
        let (p, q) = (c0 * mr + c1 * r, c1 * mr + c2 * r);
        let last = p * mr + q * r;
        let low = first.min(middle).min(last);
        let high = first.max(middle).max(last);
        (
            low.cmpgt(DVec3::splat(self.error)),
            high.cmplt(DVec3::splat(-self.error)),
        )
    }

    /// The cubic `self(t) . c(t)`: the triple product of three moving vectors.
    ///
    /// Error: six products of three rounded factors, two roundings each, at most
    /// seven additions, so 6 * 12 roundings of the product of the sizes; three
    /// levels of interpolation add at most 6 * 9. Taken as 256.
    #[inline]
    pub(crate) fn dot(&self, c: &Moving, sizes: f64) -> Cubic {
        let [x0, x1, x2] = self.coefficients;
        Cubic {
            coefficients: [
                x0.dot(c[0]),
                (x0.dot(c[1]) + 2.0 * x1.dot(c[0])) / 3.0,
                (2.0 * x1.dot(c[1]) + x2.dot(c[0])) / 3.0,
                x2.dot(c[1]),
            ],
            error: 256.0 * ROUND * sizes + f64::MIN_POSITIVE,
        }
    }
}

/// A cubic with an error bound.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cubic {
    coefficients: [f64; 4],
    error: f64,
}

/// What is known about a cubic on an interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Roots {
    /// Provably none.
    None,
    /// All of them, if any, lie in this part.
    Within(f64, f64),
}

impl Cubic {
    /// Whether it provably has no root in `[0, 1]`: the non-penetration filter of
    /// [Tang 2010], four numbers of one sign.
    #[inline]
    pub(crate) fn has_no_root(&self) -> bool {
        let [a, b, c, d] = self.coefficients;
        let low = a.min(b).min(c.min(d));
        let high = a.max(b).max(c.max(d));
        low > self.error || high < -self.error
    }

    /// Where its roots in `[l, r]` can be: the part of the interval over which
    /// the convex hull of the control points, thickened by the error, meets zero.
    #[inline]
    pub(crate) fn clip(&self, l: f64, r: f64) -> Roots {
        Self::new(self.on(l, r), self.error).clip_own(l, r)
    }

    /// The same of one whose coefficients are those on `[l, r]`.
    #[inline]
    pub(crate) fn clip_own(&self, l: f64, r: f64) -> Roots {
        let (on, e) = (self.coefficients, self.error);
        let low = on[0].min(on[1]).min(on[2].min(on[3]));
        let high = on[0].max(on[1]).max(on[2].max(on[3]));
        if low > e || high < -e {
            return Roots::None;
        }
        let left = Self::hull_reaches_zero(on, e);
        let right = 1.0 - Self::hull_reaches_zero([on[3], on[2], on[1], on[0]], e);
        // Rounding of the two lines below is less than 8 units; the interval is
        // widened by more.
        let slack = 16.0 * ROUND;
        let width = r - l;
        let new_l = (l + left * width - slack).max(l);
        let new_r = (l + right * width + slack).min(r);
        Roots::Within(new_l.min(new_r), new_r.max(new_l))
    }

    /// The smallest parameter at which the hull of the control points reaches
    /// zero, seen from the first.
    fn hull_reaches_zero(on: [f64; 4], e: f64) -> f64 {
        // Mirrored so that the first point lies above zero.
        let s = if on[0] >= 0.0 { 1.0 } else { -1.0 };
        let low = on.map(|v| s * v - e);
        if low[0] <= 0.0 {
            return 0.0;
        }
        let mut t = 1.0_f64;
        for i in 0..3 {
            if low[i] <= 0.0 {
                continue;
            }
            for j in i + 1..4 {
                if low[j] <= 0.0 {
                    let (ti, tj) = (i as f64 / 3.0, j as f64 / 3.0);
                    t = t.min(ti + (tj - ti) * low[i] / (low[i] - low[j]));
                }
            }
        }
        t
    }

    #[inline]
    pub(crate) fn new(coefficients: [f64; 4], error: f64) -> Self {
        Self {
            coefficients,
            error,
        }
    }

    /// Whether nothing is known of any coefficient.
    #[inline]
    pub(crate) fn is_flat(&self) -> bool {
        self.coefficients.iter().all(|c| c.abs() <= self.error)
    }

    /// Whether it provably has opposite signs at `l` and `r`, so a root between them.
    #[inline]
    pub(crate) fn changes_sign(&self, l: f64, r: f64) -> bool {
        Self::new(self.on(l, r), self.error).ends_differ()
    }

    /// The same at the ends of its own interval.
    #[inline]
    pub(crate) fn ends_differ(&self) -> bool {
        let [a, _, _, d] = self.coefficients;
        a.abs() > self.error && d.abs() > self.error && (a < 0.0) != (d < 0.0)
    }

    /// Its coefficients on `[l, r]`, by blossoming.
    fn on(&self, l: f64, r: f64) -> [f64; 4] {
        let [a, b, c, d] = self.coefficients;
        let (ml, mr) = (1.0 - l, 1.0 - r);
        let (ab, bc, cd) = (a * ml + b * l, b * ml + c * l, c * ml + d * l);
        let (abc, bcd) = (ab * ml + bc * l, bc * ml + cd * l);
        let first = abc * ml + bcd * l;
        let second = abc * mr + bcd * r;
        let (abr, bcr) = (ab * mr + bc * r, bc * mr + cd * r);
        let third = abr * mr + bcr * r;
        let (a2, b2, c2) = (a * mr + b * r, b * mr + c * r, c * mr + d * r);
        let fourth = (a2 * mr + b2 * r) * mr + (b2 * mr + c2 * r) * r;
        [first, second, third, fourth]
    }
}

/// Whether all of `vectors`, moving linearly, are provably positive (or all
/// negative) in one and the same coordinate over `[l, r]`.
pub(crate) fn separated_on<const N: usize>(
    vectors: &[&Moving; N],
    error: f64,
    l: f64,
    r: f64,
) -> bool {
    let mut low = DVec3::INFINITY;
    let mut high = DVec3::NEG_INFINITY;
    for vector in vectors {
        let (a, b) = (at(vector, l), at(vector, r));
        low = low.min(a).min(b);
        high = high.max(a).max(b);
    }
    low.max_element() > error || high.min_element() < -error
}

/// The same over the whole step.
#[inline]
pub(crate) fn separated<const N: usize>(vectors: &[&Moving; N], error: f64) -> bool {
    let mut low = DVec3::INFINITY;
    let mut high = DVec3::NEG_INFINITY;
    for [start, end] in vectors {
        low = low.min(*start).min(*end);
        high = high.max(*start).max(*end);
    }
    low.max_element() > error || high.min_element() < -error
}

/// How an elementary test ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Outcome {
    /// The non-penetration filter proved that there is no contact.
    Filtered,
    /// The search did.
    Apart,
    /// Contact, not before this time.
    At(f64),
}

impl Outcome {
    /// Time of impact as a share of the step, `0.0..=1.0`; `None` without contact.
    #[inline]
    pub fn time(self) -> Option<f64> {
        match self {
            Self::At(time) => Some(time),
            Self::Filtered | Self::Apart => None,
        }
    }
}

/// Width at which an interval of time is no longer divided.
const TIME_TOLERANCE: f64 = 1e-10;
/// Divisions after which intervals are decided, however wide they are.
const MAX_STEPS: u32 = 400;
/// By how much an interval that is decided may be widened to find the proof of a touch:
/// clipping leaves the cubic within its error at the ends.
const PROOF_WIDTH: f64 = 1e-8;

/// An interval, wider on both sides, in which a proof of touch is looked for.
#[inline]
pub(crate) fn widened(l: f64, r: f64) -> (f64, f64) {
    ((l - PROOF_WIDTH).max(0.0), (r + PROOF_WIDTH).min(1.0))
}

/// What becomes of an interval that cannot be excluded, and is not divided further.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Decision {
    /// The answer to the whole query.
    Answer(Option<f64>),
    /// No touch in it, but perhaps later.
    Later,
}

/// Exact decisions, for the intervals of one query that nothing else decides.
#[derive(Default)]
pub(crate) struct Exactly {
    query: Option<Exact>,
    asked: u32,
}

/// Intervals that are decided one by one. A query that has more (it moves in one plane
/// up to rounding) is decided for all the time that is left at once.
const ONE_BY_ONE: u32 = 16;

impl Exactly {
    /// Whether there is a touch from `from` on.
    #[inline]
    pub(crate) fn touches(&mut self, make: impl FnOnce() -> Exact, from: f64) -> bool {
        self.query.get_or_insert_with(make).touches(from, 1.0)
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn decide(&mut self, make: impl FnOnce() -> Exact, l: f64, r: f64) -> Decision {
        let query = self.query.get_or_insert_with(make);
        self.asked += 1;
        if query.touches(l, r) {
            Decision::Answer(Some(l))
        } else if self.asked != ONE_BY_ONE || query.touches(r, 1.0) {
            Decision::Later
        } else {
            Decision::Answer(None)
        }
    }
}

/// The first time in `[from, 1]` at which a cubic has a root that `excluded(l, r)`
/// cannot rule out and `decide(l, r)` calls a touch; a lower bound of it, never later.
/// `clip` says where the roots of the cubic can be.
///
/// Intervals are visited from the left; a root's interval shrinks by clipping
/// (quadratically at a simple root) or is halved where clipping stalls. Nothing is
/// dropped unless the cubic has provably no root in it, or one of the two says so.
pub(crate) fn first_root(
    from: f64,
    clip: impl Fn(f64, f64) -> Roots,
    mut excluded: impl FnMut(f64, f64) -> bool,
    mut decide: impl FnMut(f64, f64) -> Decision,
) -> Option<f64> {
    let mut later = [(0.0_f64, 0.0_f64); 64];
    let mut waiting = 0;
    let (mut l, mut r) = (from, 1.0_f64);
    let mut steps = 0;
    loop {
        steps += 1;
        let mut open = match clip(l, r) {
            Roots::None => None,
            Roots::Within(new_l, new_r) if excluded(new_l, new_r) => None,
            within => Some(within),
        };
        if let Some(Roots::Within(new_l, new_r)) = open {
            if new_r - new_l <= TIME_TOLERANCE || steps >= MAX_STEPS {
                match decide(new_l, new_r) {
                    Decision::Answer(answer) => return answer,
                    Decision::Later => open = None,
                }
            } else if new_r - new_l > 0.6 * (r - l) {
                // Depth is bounded: each halving divides the width, which ends at
                // the tolerance after 34.
                let middle = 0.5 * (new_l + new_r);
                later[waiting] = (middle, new_r);
                waiting += 1;
                (l, r) = (new_l, middle);
            } else {
                (l, r) = (new_l, new_r);
            }
        }
        if open.is_some() {
            continue;
        }
        if waiting == 0 {
            return None;
        }
        waiting -= 1;
        (l, r) = later[waiting];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cubic(coefficients: [f64; 4]) -> Cubic {
        Cubic {
            coefficients,
            error: 1e-15,
        }
    }

    fn first(f: &Cubic, excluded: impl FnMut(f64, f64) -> bool) -> Option<f64> {
        first_root(
            0.0,
            |l, r| f.clip(l, r),
            excluded,
            |l, _| Decision::Answer(Some(l)),
        )
    }

    #[test]
    fn a_simple_root_is_found_from_the_left() {
        // Bernstein coefficients of t - 0.25 raised to degree three.
        let f = cubic([-0.25, 1.0 / 3.0 - 0.25, 2.0 / 3.0 - 0.25, 0.75]);
        let t = first(&f, |_, _| false).expect("there is one");
        assert!(t <= 0.25 && t > 0.25 - 1e-9, "{t}");
    }

    #[test]
    fn the_second_root_is_found_when_the_first_is_excluded() {
        // (t - 0.2)(t - 0.7)(t + 1), by values at the Bernstein nodes' blossom.
        let (r1, r2, r3) = (0.2, 0.7, -1.0);
        let blossom = |a: f64, b: f64, c: f64| {
            let s = [
                (a, b, c),
                (a, c, b),
                (b, a, c),
                (b, c, a),
                (c, a, b),
                (c, b, a),
            ];
            s.iter()
                .map(|(x, y, z)| (x - r1) * (y - r2) * (z - r3))
                .sum::<f64>()
                / 6.0
        };
        let f = cubic([
            blossom(0.0, 0.0, 0.0),
            blossom(0.0, 0.0, 1.0),
            blossom(0.0, 1.0, 1.0),
            blossom(1.0, 1.0, 1.0),
        ]);
        let t = first(&f, |_, _| false).expect("two roots");
        assert!((t - 0.2).abs() < 1e-8, "{t}");
        let t = first(&f, |_, r| r < 0.4).expect("one root left");
        assert!((t - 0.7).abs() < 1e-8, "{t}");
        assert_eq!(first(&f, |_, r| r < 0.4 || r - 0.7 > 0.0 && r < 0.71), None);
    }

    #[test]
    fn a_vanishing_cubic_ends() {
        let f = cubic([0.0; 4]);
        assert_eq!(first(&f, |_, _| false), Some(0.0));
        assert_eq!(first(&f, |l, r| r - l < 1e-2), None);
    }
}
