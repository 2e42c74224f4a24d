//! The search of the continuous tests once more, in numbers of twice the precision, for
//! queries that `f64` cannot decide. What these cannot decide either is zero, or nearly,
//! and goes to `exact_ccd.rs`.
//!
//! A number is an unevaluated sum of two `f64` [Dekker 1971]. Differences of coordinates
//! are exact; products and sums err by less than 2^-102 of the size of their terms. So
//! where `f64` leaves 64 or 256 roundings of 2^-53 open (`bernstein.rs` counts them), the
//! same counts of 2^-102 are left here, taken as 2^-92 of the product of the sizes.
//!
//! Most of what comes here are features that are meant to lie in each other: a vertex on
//! an edge of its own rigid piece, off it by the rounding of its coordinates. They are
//! decided by the first look.

use glam::DVec3;

use super::bernstein::{Cubic, Decision, Exactly, ROUND, first_root, size, widened};
use super::exact_ccd::Exact;
use super::moving::Moving;

/// Relative error of an area or a volume.
const ERROR: f64 = ROUND * ROUND * 16384.0;

/// `high + low`, with `low` at most half a unit in the last place of `high`.
#[derive(Clone, Copy, Debug, Default)]
struct Double {
    high: f64,
    low: f64,
}

impl Double {
    /// The exact sum of two numbers.
    #[inline]
    fn sum(a: f64, b: f64) -> Self {
        let high = a + b;
        let part = high - a;
        Self {
            high,
            low: (a - (high - part)) + (b - part),
        }
    }

    #[inline]
    fn plus(self, o: Self) -> Self {
        let s = Self::sum(self.high, o.high);
        let low = s.low + (self.low + o.low);
        let high = s.high + low;
        Self {
            high,
            low: low - (high - s.high),
        }
    }

    #[inline]
    fn minus(self, o: Self) -> Self {
        self.plus(Self {
            high: -o.high,
            low: -o.low,
        })
    }

    /// By [Dekker 1971], without a fused product, so that all machines agree.
    #[inline]
    fn times(self, o: Self) -> Self {
        let halves = |x: f64| {
            let c = 134_217_729.0 * x;
            let upper = c - (c - x);
            (upper, x - upper)
        };
        let product = self.high * o.high;
        let ((a, b), (c, d)) = (halves(self.high), halves(o.high));
        let rest = ((a * c - product) + a * d + b * c) + b * d;
        let low = rest + (self.high * o.low + self.low * o.high);
        let high = product + low;
        Self {
            high,
            low: low - (high - product),
        }
    }
}

type Vector = [Double; 3];

/// A moving vector at both ends of the step, and its largest coordinate.
struct Difference {
    ends: [Vector; 2],
    size: f64,
}

impl Difference {
    fn new(a: &Moving, b: &Moving) -> Self {
        let at = |t: usize| [0, 1, 2].map(|k| Double::sum(a[t][k], -b[t][k]));
        let ends = [at(0), at(1)];
        let size = size(&ends.map(|p| DVec3::from_array(p.map(|x| x.high))));
        Self { ends, size }
    }
}

fn cross(a: &Vector, b: &Vector) -> Vector {
    [0, 1, 2].map(|k| {
        let (i, j) = ((k + 1) % 3, (k + 2) % 3);
        a[i].times(b[j]).minus(a[j].times(b[i]))
    })
}

fn dot(a: &Vector, b: &Vector) -> Double {
    a[0].times(b[0])
        .plus(a[1].times(b[1]))
        .plus(a[2].times(b[2]))
}

/// Twice the Bernstein coefficients of `a(t) x b(t)`, with their error.
struct Area {
    coefficients: [Vector; 3],
    error: f64,
}

impl Area {
    fn new(a: &Difference, b: &Difference) -> Self {
        let twice = |v: Vector| v.map(|x| x.plus(x));
        let (first, second) = (cross(&a.ends[1], &b.ends[0]), cross(&a.ends[0], &b.ends[1]));
        Self {
            coefficients: [
                twice(cross(&a.ends[0], &b.ends[0])),
                [0, 1, 2].map(|k| first[k].plus(second[k])),
                twice(cross(&a.ends[1], &b.ends[1])),
            ],
            error: 2.0 * ERROR * a.size * b.size + f64::MIN_POSITIVE,
        }
    }

    /// 1 or -1 where it provably has that sign over `[l, r]` along the axis `k`.
    fn sign_on(&self, k: usize, w: &Weights) -> i32 {
        let [c0, c1, c2] = self.coefficients.map(|c| c[k]);
        let (p, q) = (w.at_left(c0, c1), w.at_left(c1, c2));
        let first = w.at_left(p, q);
        let sign = provable(first, self.error);
        if sign == 0 || provable(w.at_right(p, q), self.error) != sign {
            return 0;
        }
        let (p, q) = (w.at_right(c0, c1), w.at_right(c1, c2));
        if provable(w.at_right(p, q), self.error) == sign {
            sign
        } else {
            0
        }
    }
}

fn provable(x: Double, error: f64) -> i32 {
    i32::from(x.high > error) - i32::from(x.high < -error)
}

/// The ends of an interval, and one minus each.
struct Weights {
    left: [Double; 2],
    right: [Double; 2],
}

impl Weights {
    fn new(l: f64, r: f64) -> Self {
        let of = |t: f64| [Double::sum(1.0, -t), Double { high: t, low: 0.0 }];
        Self {
            left: of(l),
            right: of(r),
        }
    }

    #[inline]
    fn at_left(&self, a: Double, b: Double) -> Double {
        a.times(self.left[0]).plus(b.times(self.left[1]))
    }

    #[inline]
    fn at_right(&self, a: Double, b: Double) -> Double {
        a.times(self.right[0]).plus(b.times(self.right[1]))
    }
}

/// Three times the Bernstein coefficients of the triple product.
struct Volume {
    coefficients: [Double; 4],
    error: f64,
}

impl Volume {
    fn new(area: &Area, c: &Difference, sizes: f64) -> Self {
        // The area is twice itself: six times in all, halved.
        let [x0, x1, x2] = &area.coefficients;
        let [c0, c1] = &c.ends;
        let half = |x: Double| Double {
            high: 0.5 * x.high,
            low: 0.5 * x.low,
        };
        let three = |x: Double| x.plus(x).plus(x);
        let coefficients = [
            half(three(dot(x0, c0))),
            half(dot(x0, c1)).plus(dot(x1, c0)),
            half(dot(x2, c0)).plus(dot(x1, c1)),
            half(three(dot(x2, c1))),
        ];
        Self {
            coefficients,
            error: 4.0 * ERROR * sizes + f64::MIN_POSITIVE,
        }
    }

    /// On an interval, rounded to `f64`, which adds to the error.
    fn on(&self, l: f64, r: f64) -> Cubic {
        let w = Weights::new(l, r);
        let [a, b, c, d] = self.coefficients;
        let (ab, bc, cd) = (w.at_left(a, b), w.at_left(b, c), w.at_left(c, d));
        let (abc, bcd) = (w.at_left(ab, bc), w.at_left(bc, cd));
        let (abr, bcr) = (w.at_right(ab, bc), w.at_right(bc, cd));
        let (a2, b2, c2) = (w.at_right(a, b), w.at_right(b, c), w.at_right(c, d));
        let on = [
            w.at_left(abc, bcd),
            w.at_right(abc, bcd),
            w.at_right(abr, bcr),
            w.at_right(w.at_right(a2, b2), w.at_right(b2, c2)),
        ];
        let on = on.map(|x| x.high);
        let largest = on.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        Cubic::new(on, self.error + 4.0 * ROUND * largest)
    }
}

/// A query: as [`Exact`], but for its numbers.
struct Query {
    volume: Volume,
    areas: Vec<Area>,
    between: Vec<Difference>,
    face: bool,
}

impl Query {
    /// Signs of the areas along an axis.
    fn signs(&self, k: usize, w: &Weights) -> [i32; 4] {
        let mut signs = [0; 4];
        for (sign, area) in signs.iter_mut().zip(&self.areas) {
            *sign = area.sign_on(k, w);
        }
        signs
    }

    fn excluded(&self, l: f64, r: f64) -> bool {
        let w = Weights::new(l, r);
        (0..3).any(|k| {
            let sign = |d: &Difference| {
                let [a, b] = d.ends.map(|end| end[k]);
                let error = ERROR * d.size + f64::MIN_POSITIVE;
                let (l, r) = (w.at_left(a, b), w.at_right(a, b));
                let sign = provable(l, error);
                if sign == provable(r, error) { sign } else { 0 }
            };
            let first = sign(&self.between[0]);
            first != 0 && self.between[1..].iter().all(|d| sign(d) == first)
        }) || (0..3).any(|k| {
            let s = self.signs(k, &w);
            if self.face {
                s.contains(&1) && s.contains(&-1)
            } else {
                s[0] * s[1] > 0 || s[2] * s[3] > 0
            }
        })
    }

    fn touches(&self, l: f64, r: f64) -> bool {
        if !self.volume.on(l, r).ends_differ() {
            return false;
        }
        let w = Weights::new(l, r);
        (0..3).any(|k| {
            let s = self.signs(k, &w);
            if self.face {
                s[..3] == [1; 3] || s[..3] == [-1; 3]
            } else {
                s[0] * s[1] < 0 && s[2] * s[3] < 0
            }
        })
    }

    fn search(&self, from: f64, make: impl Fn() -> Exact) -> Option<f64> {
        let mut exact = Exactly::default();
        // Nearly all four on one line: the cubic says nothing at any time, and no
        // interval would be narrow enough.
        if self.volume.on(from, 1.0).is_flat()
            && (self.excluded(from, 1.0) || !exact.touches(&make, from))
        {
            return None;
        }
        let clip = |l, r| self.volume.on(l, r).clip_own(l, r);
        let excluded = |l, r| self.excluded(l, r);
        first_root(from, clip, excluded, |l, r| {
            let (wide_l, wide_r) = widened(l, r);
            if self.touches(wide_l, wide_r) {
                return Decision::Answer(Some(l));
            }
            exact.decide(&make, l, r)
        })
    }
}

/// The first touch of a vertex and a face from `from` on.
#[cold]
#[inline(never)]
pub(crate) fn vertex_face(vertex: &Moving, face: [&Moving; 3], from: f64) -> Option<f64> {
    let [a, b, c] = face.map(|corner| Difference::new(corner, vertex));
    let ab = Area::new(&a, &b);
    let query = Query {
        volume: Volume::new(&ab, &c, a.size * b.size * c.size),
        areas: vec![ab, Area::new(&b, &c), Area::new(&c, &a)],
        between: vec![a, b, c],
        face: true,
    };
    query.search(from, || Exact::vertex_face(vertex, face))
}

/// The first touch of two edges from `from` on.
#[cold]
#[inline(never)]
pub(crate) fn edge_edge(first: [&Moving; 2], second: [&Moving; 2], from: f64) -> Option<f64> {
    let ([a, b], [c, d]) = (first, second);
    let (ab, cd) = (Difference::new(b, a), Difference::new(d, c));
    let (ac, ad) = (Difference::new(c, a), Difference::new(d, a));
    let (bc, bd) = (Difference::new(c, b), Difference::new(d, b));
    let c_of_ab = Area::new(&ab, &ac);
    let query = Query {
        volume: Volume::new(&c_of_ab, &cd, ab.size * ac.size * cd.size),
        areas: vec![
            c_of_ab,
            Area::new(&ab, &ad),
            Area::new(&cd, &ac),
            Area::new(&cd, &bc),
        ],
        between: vec![ac, ad, bc, bd],
        face: false,
    };
    query.search(from, || Exact::edge_edge(first, second))
}
