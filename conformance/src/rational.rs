//! Exact arithmetic, small and slow: integers of any size, and with them an exact
//! answer to the two continuous questions. For oracles only.
//!
//! `f64` coordinates are integers times a power of two; scaled by one common power,
//! all coordinates of a query become integers, and so do the Bernstein coefficients
//! of its polynomials (times 2 or 3). Halving an interval keeps integers, if the
//! coefficients of degree n are scaled by 2^n. So every sign is exact.

use std::cmp::Ordering;

use fracas_core::primitives::Moving;

/// A signed integer of any size: sign and magnitude, least digit first.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Integer {
    negative: bool,
    digits: Vec<u32>,
}

impl Integer {
    /// Of a machine integer, times `2^shift`.
    #[must_use]
    pub fn shifted(value: i64, shift: u32) -> Self {
        let mut digits = vec![0_u32; (shift / 32) as usize];
        let wide = u128::from(value.unsigned_abs()) << (shift % 32);
        digits.extend([0, 1, 2, 3].map(|i| (wide >> (32 * i)) as u32));
        Self::new(value < 0, digits)
    }

    fn new(negative: bool, mut digits: Vec<u32>) -> Self {
        while digits.last() == Some(&0) {
            digits.pop();
        }
        Self {
            negative: negative && !digits.is_empty(),
            digits,
        }
    }

    /// -1, 0 or 1.
    #[must_use]
    pub fn sign(&self) -> i32 {
        match (self.digits.is_empty(), self.negative) {
            (true, _) => 0,
            (false, true) => -1,
            (false, false) => 1,
        }
    }

    fn compare_magnitude(&self, o: &Self) -> Ordering {
        let length = self.digits.len().cmp(&o.digits.len());
        length.then_with(|| self.digits.iter().rev().cmp(o.digits.iter().rev()))
    }

    /// The sum.
    #[must_use]
    pub fn plus(&self, o: &Self) -> Self {
        if self.negative == o.negative {
            let mut digits = Vec::with_capacity(self.digits.len().max(o.digits.len()) + 1);
            let mut carry = 0_u64;
            for i in 0..self.digits.len().max(o.digits.len()) {
                let at = |d: &[u32]| u64::from(d.get(i).copied().unwrap_or(0));
                carry += at(&self.digits) + at(&o.digits);
                digits.push(carry as u32);
                carry >>= 32;
            }
            digits.push(carry as u32);
            return Self::new(self.negative, digits);
        }
        let (large, small) = match self.compare_magnitude(o) {
            Ordering::Equal => return Self::default(),
            Ordering::Greater => (self, o),
            Ordering::Less => (o, self),
        };
        let mut digits = Vec::with_capacity(large.digits.len());
        let mut borrow = 0_i64;
        for i in 0..large.digits.len() {
            let d = i64::from(large.digits[i])
                - i64::from(small.digits.get(i).copied().unwrap_or(0))
                + borrow;
            digits.push(d as u32);
            borrow = d >> 32;
        }
        Self::new(large.negative, digits)
    }

    /// The negative.
    #[must_use]
    pub fn negated(&self) -> Self {
        Self::new(!self.negative, self.digits.clone())
    }

    /// The difference.
    #[must_use]
    pub fn minus(&self, o: &Self) -> Self {
        self.plus(&o.negated())
    }

    /// The product.
    #[must_use]
    pub fn times(&self, o: &Self) -> Self {
        let mut digits = vec![0_u32; self.digits.len() + o.digits.len()];
        for (i, &a) in self.digits.iter().enumerate() {
            let mut carry = 0_u64;
            for (j, &b) in o.digits.iter().enumerate() {
                carry += u64::from(a) * u64::from(b) + u64::from(digits[i + j]);
                digits[i + j] = carry as u32;
                carry >>= 32;
            }
            digits[i + o.digits.len()] = carry as u32;
        }
        Self::new(self.negative != o.negative, digits)
    }
}

/// Mantissa and exponent of a finite `f64`.
fn split(x: f64) -> (i64, i32) {
    let bits = x.to_bits();
    let exponent = (bits >> 52 & 0x7ff) as i32;
    let fraction = (bits & ((1 << 52) - 1)) as i64;
    let (mantissa, exponent) = if exponent == 0 {
        (fraction, -1074)
    } else {
        (fraction | 1 << 52, exponent - 1075)
    };
    (if x < 0.0 { -mantissa } else { mantissa }, exponent)
}

type Vector = [Integer; 3];

fn minus(a: &Vector, b: &Vector) -> Vector {
    [0, 1, 2].map(|k| a[k].minus(&b[k]))
}

fn cross(a: &Vector, b: &Vector) -> Vector {
    [0, 1, 2].map(|k| {
        let (i, j) = ((k + 1) % 3, (k + 2) % 3);
        a[i].times(&b[j]).minus(&a[j].times(&b[i]))
    })
}

fn dot(a: &Vector, b: &Vector) -> Integer {
    (0..3).fold(Integer::default(), |sum, k| sum.plus(&a[k].times(&b[k])))
}

/// Bernstein coefficients on the current interval.
#[derive(Clone, Debug)]
struct Polynomial(Vec<Integer>);

impl Polynomial {
    /// 1: provably positive; -1: provably negative; 0: neither.
    fn sign(&self) -> i32 {
        let first = self.0[0].sign();
        if first != 0 && self.0.iter().all(|c| c.sign() == first) {
            first
        } else {
            0
        }
    }

    fn changes_sign(&self) -> bool {
        self.0[0].sign() * self.0[self.0.len() - 1].sign() <= 0
    }

    /// Both halves, scaled by 2^degree.
    fn halves(&self) -> (Self, Self) {
        let n = self.0.len();
        let mut row = self.0.clone();
        let (mut left, mut right) = (Vec::new(), Vec::new());
        for level in 0..n {
            let scale = Integer::shifted(1, (n - 1 - level) as u32);
            left.push(row[0].times(&scale));
            right.push(row[row.len() - 1].times(&scale));
            row = row.windows(2).map(|w| w[0].plus(&w[1])).collect();
        }
        right.reverse();
        (Self(left), Self(right))
    }
}

/// `a(t) x b(t)`, one quadratic per axis, doubled.
fn cross_quadratics(a: &[Vector; 2], b: &[Vector; 2]) -> [Polynomial; 3] {
    let (c00, c01) = (cross(&a[0], &b[0]), cross(&a[0], &b[1]));
    let (c10, c11) = (cross(&a[1], &b[0]), cross(&a[1], &b[1]));
    [0, 1, 2].map(|k| {
        let two = |x: &Integer| x.plus(x);
        Polynomial(vec![two(&c00[k]), c01[k].plus(&c10[k]), two(&c11[k])])
    })
}

/// `a(t) x b(t) . c(t)`, times 3.
fn triple(a: &[Vector; 2], b: &[Vector; 2], c: &[Vector; 2]) -> Polynomial {
    let d = |i: usize, j: usize, k: usize| dot(&cross(&a[i], &b[j]), &c[k]);
    let three = |x: Integer| x.plus(&x).plus(&x);
    Polynomial(vec![
        three(d(0, 0, 0)),
        d(1, 0, 0).plus(&d(0, 1, 0)).plus(&d(0, 0, 1)),
        d(1, 1, 0).plus(&d(1, 0, 1)).plus(&d(0, 1, 1)),
        three(d(1, 1, 1)),
    ])
}

/// A moving vector, one linear polynomial per axis.
fn linear(a: &[Vector; 2]) -> [Polynomial; 3] {
    [0, 1, 2].map(|k| Polynomial(vec![a[0][k].clone(), a[1][k].clone()]))
}

/// What exact arithmetic says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// They touch, first within this interval of time.
    Touch(f64, f64),
    /// They do not.
    Apart,
    /// They come closer than the deepest subdivision can tell: a touch in one point,
    /// a corner, or a motion within one plane.
    Grazing,
}

/// How deep time is divided.
const DEPTH: u32 = 60;

struct Question {
    volume: Polynomial,
    /// Signed areas as seen along each axis.
    areas: Vec<[Polynomial; 3]>,
    /// Where all of these have one sign along an axis, it separates the two.
    between: Vec<[Polynomial; 3]>,
    excluded: fn(&[i32]) -> bool,
    certain: fn(&[i32]) -> bool,
}

impl Question {
    /// The first touch in the interval `[from, from + width]`.
    fn search(&self, from: f64, width: f64, depth: u32, budget: &mut u32) -> Verdict {
        *budget = budget.saturating_sub(1);
        if self.volume.sign() != 0 {
            return Verdict::Apart;
        }
        let along = |k: usize| -> Vec<i32> { self.areas.iter().map(|a| a[k].sign()).collect() };
        let views = [along(0), along(1), along(2)];
        if views.iter().any(|signs| (self.excluded)(signs)) {
            return Verdict::Apart;
        }
        let apart = |k: usize| {
            let mut signs = self.between.iter().map(|b| b[k].sign());
            let first = signs.next().unwrap_or(0);
            first != 0 && signs.all(|s| s == first)
        };
        if (0..3).any(apart) {
            return Verdict::Apart;
        }
        let sure = views.iter().any(|signs| (self.certain)(signs)) && self.volume.changes_sign();
        if sure && depth > 30 {
            return Verdict::Touch(from, from + width);
        }
        if depth == DEPTH || *budget == 0 {
            return Verdict::Grazing;
        }
        let (left, right) = self.halves();
        match left.search(from, width / 2.0, depth + 1, budget) {
            Verdict::Apart => right.search(from + width / 2.0, width / 2.0, depth + 1, budget),
            found => found,
        }
    }

    fn halves(&self) -> (Self, Self) {
        let (lv, rv) = self.volume.halves();
        let divided = |list: &[[Polynomial; 3]]| -> (Vec<_>, Vec<_>) {
            let halves = list.iter().map(|p| {
                let [x, y, z] = [0, 1, 2].map(|k| p[k].halves());
                ([x.0, y.0, z.0], [x.1, y.1, z.1])
            });
            halves.unzip()
        };
        let ((la, ra), (lb, rb)) = (divided(&self.areas), divided(&self.between));
        let make = |volume, areas, between| Self {
            volume,
            areas,
            between,
            excluded: self.excluded,
            certain: self.certain,
        };
        (make(lv, la, lb), make(rv, ra, rb))
    }
}

/// All coordinates as integers of one scale.
fn integers(points: [&Moving; 4]) -> [[Vector; 2]; 4] {
    let all = points
        .iter()
        .flat_map(|p| p.iter())
        .flat_map(|p| p.to_array());
    let least = all
        .filter(|x| *x != 0.0)
        .map(|x| split(x).1)
        .min()
        .unwrap_or(0);
    let integer = |x: f64| {
        if x == 0.0 {
            return Integer::default();
        }
        let (mantissa, exponent) = split(x);
        Integer::shifted(mantissa, (exponent - least) as u32)
    };
    points.map(|p| [0, 1].map(|t| p[t].to_array().map(integer)))
}

fn difference(a: &[Vector; 2], b: &[Vector; 2]) -> [Vector; 2] {
    [minus(&a[0], &b[0]), minus(&a[1], &b[1])]
}

/// Exactly: does the moving vertex touch the moving triangle?
#[must_use]
pub fn vertex_face(vertex: &Moving, face: [&Moving; 3]) -> Verdict {
    let [v, a, b, c] = integers([vertex, face[0], face[1], face[2]]);
    let (a, b, c) = (difference(&a, &v), difference(&b, &v), difference(&c, &v));
    let question = Question {
        volume: triple(&a, &b, &c),
        areas: vec![
            cross_quadratics(&a, &b),
            cross_quadratics(&b, &c),
            cross_quadratics(&c, &a),
        ],
        between: [&a, &b, &c].map(linear).to_vec(),
        excluded: |s| s.contains(&1) && s.contains(&-1),
        certain: |s| s == [1; 3] || s == [-1; 3],
    };
    question.search(0.0, 1.0, 0, &mut 4000)
}

/// Exactly: do the two moving edges touch?
#[must_use]
pub fn edge_edge(first: [&Moving; 2], second: [&Moving; 2]) -> Verdict {
    let [a, b, c, d] = integers([first[0], first[1], second[0], second[1]]);
    let (ab, cd) = (difference(&b, &a), difference(&d, &c));
    let (ac, ad) = (difference(&c, &a), difference(&d, &a));
    let (bc, bd) = (difference(&c, &b), difference(&d, &b));
    let question = Question {
        volume: triple(&ab, &ac, &cd),
        areas: vec![
            cross_quadratics(&ab, &ac),
            cross_quadratics(&ab, &ad),
            cross_quadratics(&cd, &ac),
            cross_quadratics(&cd, &bc),
        ],
        between: [&ac, &ad, &bc, &bd].map(linear).to_vec(),
        excluded: |s| s[0] * s[1] > 0 || s[2] * s[3] > 0,
        certain: |s| s[0] * s[1] < 0 && s[2] * s[3] < 0,
    };
    question.search(0.0, 1.0, 0, &mut 4000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::{DVec3, dvec3};

    #[test]
    fn integers_agree_with_wide_ones() {
        for (a, b) in [
            (0, 5),
            (7, -7),
            (i64::MAX, i64::MIN + 1),
            (-3, 1 << 40),
            (123_456_789_012, -987_654_321),
        ] {
            let (x, y) = (Integer::shifted(a, 0), Integer::shifted(b, 0));
            let wide = |v: i128| {
                // Three parts of 42 bits: two of 62 would lose the top of a product.
                let low = |v: i128| (v & ((1 << 42) - 1)) as i64;
                Integer::shifted((v >> 84) as i64, 84)
                    .plus(&Integer::shifted(low(v >> 42), 42))
                    .plus(&Integer::shifted(low(v), 0))
            };
            assert_eq!(x.plus(&y), wide(i128::from(a) + i128::from(b)));
            assert_eq!(x.minus(&y), wide(i128::from(a) - i128::from(b)));
            assert_eq!(x.times(&y), wide(i128::from(a) * i128::from(b)));
        }
        assert_eq!(
            Integer::shifted(3, 70)
                .minus(&Integer::shifted(3, 70))
                .sign(),
            0
        );
    }

    #[test]
    fn a_vertex_through_a_triangle() {
        let still = |p: DVec3| [p, p];
        let [a, b, c] = [
            dvec3(0.0, 0.0, 0.0),
            dvec3(1.0, 0.0, 0.0),
            dvec3(0.0, 1.0, 0.0),
        ]
        .map(still);
        let fall = |x: f64| [dvec3(x, 0.2, 0.3), dvec3(x, 0.2, -0.7)];
        let Verdict::Touch(low, high) = vertex_face(&fall(0.2), [&a, &b, &c]) else {
            panic!("it falls through");
        };
        assert!(low <= 0.3 && 0.3 <= high + 1e-15 && high - low < 1e-8);
        assert_eq!(vertex_face(&fall(0.9), [&a, &b, &c]), Verdict::Apart);
        assert_eq!(vertex_face(&fall(0.0), [&a, &b, &c]), Verdict::Grazing);
    }
}
