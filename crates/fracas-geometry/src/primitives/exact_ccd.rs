//! The exact answer to the two continuous questions, for the few queries that the
//! search in floating point cannot decide.
//!
//! Coordinates in `f64` are integers times one common power of two, so all that
//! follows is done in integers of any size, and no sign is ever wrong.
//!
//! **What decides.** With the triangle's corners relative to the vertex, A, B, C (or
//! with the ends of two edges), the features touch at the time t if and only if, at t,
//!
//! 1. the four points are coplanar: the cubic vanishes;
//! 2. along no axis have two of the signed areas `A x B`, `B x C`, `C x A` opposite
//!    strict signs (edges: along no axis are both ends of one strictly on one side of
//!    the other);
//! 3. along no axis are all of A, B, C strictly positive, or all strictly negative
//!    (edges: all four differences of ends).
//!
//! Proof for a face. Let (1) hold. If the triangle has an area, the three area vectors
//! are multiples of its doubled normal, and the factors are the barycentric coordinates of
//! the vertex: (2) says that no two have opposite signs, and their sum is 1. If it has none, the three
//! area vectors add up to zero; they are parallel, so either some component has both
//! signs, which (2) forbids and the vertex is off the line, or all vanish and the vertex
//! is on the line of the corners, where (3) says whether it is between them. For edges:
//! if they are not parallel, their lines meet in one point, and (2) says that it is on
//! both. If they are, or if one is a point, the areas vanish only where all four are on
//! one line, where (3) decides. ∎
//!
//! These are the conditions that the search excludes intervals by; here they are asked
//! at the roots of the cubic themselves.
//!
//! **At a root.** The sign of a polynomial g at the only root of f between two points is
//! the difference of the sign changes of the signed remainder sequence of f and f' g at
//! these points (the Tarski query; Sturm's theorem for g = 1, which isolates the roots).
//! It needs no f without multiple roots. If the cubic vanishes at all times (motion in
//! one plane), a set of times at which nothing excludes is closed, so it begins at an
//! end of the interval or at a root of one of the polynomials of (2) and (3), and these
//! are asked.
//!
//! **Cost**: tens of microseconds, milliseconds at worst, against a quarter of a
//! microsecond for what `f64` decides. Polynomials are of degree three at most.
//!
//! **Why.** Of the public sample queries 192 of 2,824 were false positives, all of one
//! scene (a cube that falls past the edges of a cliff), none in the others: a vertex or an
//! edge passes a corner at a distance of 1e-18 to 1e-16 of coordinates around one, where
//! sines and cosines of right angles were rounded. The rounding of one difference hides
//! that; no tolerance tells it from a touch.

use std::cmp::Ordering;

use super::moving::Moving;

/// Digits that are held in place: coordinates of one size have sums and products of
/// three within them.
const IN_PLACE: usize = 8;

/// Digits of an integer, least first. Most are few: memory is asked for by long ones only.
#[derive(Clone, Debug)]
enum Digits {
    Few(usize, [u64; IN_PLACE]),
    Many(Vec<u64>),
}

impl Digits {
    fn zeros(count: usize, room: usize) -> Self {
        if count.max(room) <= IN_PLACE {
            return Self::Few(count, [0; IN_PLACE]);
        }
        let mut digits = Vec::with_capacity(count.max(room));
        digits.resize(count, 0);
        Self::Many(digits)
    }

    /// Within the room that was asked for.
    #[inline]
    fn push(&mut self, digit: u64) {
        match self {
            Self::Few(count, digits) => {
                digits[*count] = digit;
                *count += 1;
            }
            Self::Many(digits) => digits.push(digit),
        }
    }

    fn pop(&mut self) {
        match self {
            Self::Few(count, _) => *count -= 1,
            Self::Many(digits) => {
                digits.pop();
            }
        }
    }
}

impl std::ops::Deref for Digits {
    type Target = [u64];

    #[inline]
    fn deref(&self) -> &[u64] {
        match self {
            Self::Few(count, digits) => &digits[..*count],
            Self::Many(digits) => digits,
        }
    }
}

impl std::ops::DerefMut for Digits {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u64] {
        match self {
            Self::Few(count, digits) => &mut digits[..*count],
            Self::Many(digits) => digits,
        }
    }
}

/// A signed integer of any size: sign and magnitude, no leading zeros.
#[derive(Clone, Debug)]
struct Int {
    negative: bool,
    digits: Digits,
}

impl Default for Int {
    fn default() -> Self {
        Self {
            negative: false,
            digits: Digits::zeros(0, 0),
        }
    }
}

impl Int {
    fn new(negative: bool, mut digits: Digits) -> Self {
        while digits.last() == Some(&0) {
            digits.pop();
        }
        Self {
            negative: negative && !digits.is_empty(),
            digits,
        }
    }

    fn small(value: u64) -> Self {
        let mut digits = Digits::zeros(0, 1);
        digits.push(value);
        Self::new(false, digits)
    }

    fn sign(&self) -> i32 {
        match (self.digits.is_empty(), self.negative) {
            (true, _) => 0,
            (false, true) => -1,
            (false, false) => 1,
        }
    }

    fn negated(mut self) -> Self {
        self.negative = !self.negative && !self.digits.is_empty();
        self
    }

    fn times_sign(self, sign: i32) -> Self {
        match sign {
            1 => self,
            -1 => self.negated(),
            _ => Self::default(),
        }
    }

    fn plus(&self, o: &Self) -> Self {
        let (mut large, mut small) = (self, o);
        let order = large.digits.len().cmp(&small.digits.len());
        let order = order.then_with(|| large.digits.iter().rev().cmp(small.digits.iter().rev()));
        if order == Ordering::Less {
            std::mem::swap(&mut large, &mut small);
        }
        let same = self.negative == o.negative;
        let mut digits = Digits::zeros(0, large.digits.len() + 1);
        let mut carry = false;
        for (i, &a) in large.digits.iter().enumerate() {
            let b = small.digits.get(i).copied().unwrap_or(0);
            let (x, first) = if same {
                a.overflowing_add(b)
            } else {
                a.overflowing_sub(b)
            };
            let (x, second) = if same {
                x.overflowing_add(u64::from(carry))
            } else {
                x.overflowing_sub(u64::from(carry))
            };
            carry = first || second;
            digits.push(x);
        }
        if carry {
            digits.push(1);
        }
        Self::new(large.negative, digits)
    }

    fn minus(&self, o: &Self) -> Self {
        self.plus(&o.clone().negated())
    }

    fn times(&self, o: &Self) -> Self {
        let mut digits = Digits::zeros(self.digits.len() + o.digits.len(), 0);
        for (i, &a) in self.digits.iter().enumerate() {
            let mut carry = 0_u128;
            for (j, &b) in o.digits.iter().enumerate() {
                carry += u128::from(a) * u128::from(b) + u128::from(digits[i + j]);
                digits[i + j] = carry as u64;
                carry >>= 64;
            }
            digits[i + o.digits.len()] = carry as u64;
        }
        Self::new(self.negative != o.negative, digits)
    }

    fn shifted(&self, by: u32) -> Self {
        if self.digits.is_empty() {
            return Self::default();
        }
        let whole = (by / 64) as usize;
        let mut digits = Digits::zeros(whole, whole + self.digits.len() + 1);
        let bits = by % 64;
        let mut carry = 0;
        for &d in self.digits.iter() {
            digits.push(d << bits | carry);
            carry = if bits == 0 { 0 } else { d >> (64 - bits) };
        }
        digits.push(carry);
        Self::new(self.negative, digits)
    }
}

/// Mantissa (odd, or zero) and exponent of a finite `f64`.
fn mantissa(x: f64) -> (Int, i32) {
    let bits = x.to_bits();
    let exponent = (bits >> 52 & 0x7ff) as i32;
    let fraction = bits & ((1 << 52) - 1);
    let (whole, exponent) = if exponent == 0 {
        (fraction, -1074)
    } else {
        (fraction | 1 << 52, exponent - 1075)
    };
    let zeros = if whole == 0 {
        0
    } else {
        whole.trailing_zeros()
    };
    let n = Int::small(whole >> zeros);
    (
        n.times_sign(if x < 0.0 { -1 } else { 1 }),
        exponent + zeros as i32,
    )
}

/// A time `n / 2^k` in `[0, 1]`.
#[derive(Clone, Debug)]
struct Time {
    n: Int,
    k: u32,
}

impl Time {
    /// Of a number in `[0, 1]`.
    fn of(t: f64) -> Self {
        let (n, exponent) = mantissa(t);
        if n.sign() == 0 || exponent >= 0 {
            let n = n.shifted(exponent.max(0) as u32);
            return Self { n, k: 0 };
        }
        let k = exponent.unsigned_abs();
        Self { n, k }
    }

    /// Both over one power of two.
    fn alike(&self, o: &Self) -> (Int, Int, u32) {
        let k = self.k.max(o.k);
        (self.n.shifted(k - self.k), o.n.shifted(k - o.k), k)
    }

    /// `self + (o - self) eighths / 8`.
    fn between(&self, o: &Self, eighths: u64) -> Self {
        let (a, b, k) = self.alike(o);
        let n = a
            .times(&Int::small(8 - eighths))
            .plus(&b.times(&Int::small(eighths)));
        Self { n, k: k + 3 }
    }
}

/// A polynomial in t, constant first, the last coefficient not zero.
#[derive(Clone, Debug)]
struct Polynomial(Vec<Int>);

impl Polynomial {
    fn new(mut coefficients: Vec<Int>) -> Self {
        while coefficients.last().is_some_and(|c| c.sign() == 0) {
            coefficients.pop();
        }
        Self(coefficients)
    }

    fn is_zero(&self) -> bool {
        self.0.is_empty()
    }

    /// Has no root because it is a number, or no sign because it is zero.
    fn is_constant(&self) -> bool {
        self.0.len() < 2
    }

    fn combine(&self, o: &Self, with: impl Fn(&Int, &Int) -> Int) -> Self {
        let zero = Int::default();
        let length = self.0.len().max(o.0.len());
        let at = |p: &Self, i: usize| p.0.get(i).unwrap_or(&zero).clone();
        Self::new((0..length).map(|i| with(&at(self, i), &at(o, i))).collect())
    }

    fn plus(&self, o: &Self) -> Self {
        self.combine(o, Int::plus)
    }

    fn minus(&self, o: &Self) -> Self {
        self.combine(o, Int::minus)
    }

    fn times(&self, o: &Self) -> Self {
        if self.is_zero() || o.is_zero() {
            return Self(Vec::new());
        }
        let mut out = vec![Int::default(); self.0.len() + o.0.len() - 1];
        for (i, a) in self.0.iter().enumerate() {
            for (j, b) in o.0.iter().enumerate() {
                out[i + j] = out[i + j].plus(&a.times(b));
            }
        }
        Self::new(out)
    }

    fn derivative(&self) -> Self {
        let scaled = self.0.iter().enumerate().skip(1);
        Self::new(
            scaled
                .map(|(i, c)| c.times(&Int::small(i as u64)))
                .collect(),
        )
    }

    /// Its value at `t`, times a power of two.
    fn at(&self, t: &Time) -> Int {
        let mut value = Int::default();
        for (i, c) in self.0.iter().rev().enumerate() {
            value = value.times(&t.n).plus(&c.shifted(t.k * i as u32));
        }
        value
    }

    fn sign_at(&self, t: &Time) -> i32 {
        self.at(t).sign()
    }

    /// Its sign over `[from, to]` where its Bernstein coefficients agree, else zero.
    /// Of degree two at most.
    fn sign_on(&self, from: &Time, to: &Time) -> i32 {
        let sign = self.sign_at(from);
        if sign == 0 || self.sign_at(to) != sign {
            return 0;
        }
        if let [c0, c1, c2] = &self.0[..] {
            let (a, b, k) = from.alike(to);
            let middle = c0
                .shifted(2 * k + 1)
                .plus(&c1.times(&a.plus(&b)).shifted(k))
                .plus(&c2.times(&a.times(&b)).shifted(1));
            if middle.sign() != sign {
                return 0;
            }
        }
        sign
    }

    /// Without its root `t`, to the same roots otherwise.
    fn without(&self, t: &Time) -> Self {
        let degree = self.0.len() - 1;
        // In u = 2^k t the root is the integer n, and division is exact.
        let mut quotient = vec![Int::default(); degree];
        let mut carry = Int::default();
        for i in (1..=degree).rev() {
            carry = self.0[i]
                .shifted(t.k * (degree - i) as u32)
                .plus(&carry.times(&t.n));
            quotient[i - 1] = carry.clone();
        }
        let back = quotient.iter().enumerate();
        Self::new(back.map(|(i, c)| c.shifted(t.k * i as u32)).collect())
    }

    /// The remainder of a division by `o`, times something positive.
    fn remainder(&self, o: &Self) -> Self {
        let mut rest = self.clone();
        let Some(lead) = o.0.last() else { return rest };
        let (sign, size) = (lead.sign(), lead.clone().times_sign(lead.sign()));
        while rest.0.len() >= o.0.len() {
            let shift = rest.0.len() - o.0.len();
            let factor = rest.0[rest.0.len() - 1].clone().times_sign(sign);
            let mut next: Vec<Int> = rest.0.iter().map(|c| c.times(&size)).collect();
            for (i, c) in o.0.iter().enumerate() {
                next[shift + i] = next[shift + i].minus(&c.times(&factor));
            }
            next.pop();
            rest = Self::new(next);
        }
        rest
    }

    /// The signed remainder sequence of this polynomial f and f' g.
    fn sequence(&self, g: &Self) -> Vec<Self> {
        let mut sequence = vec![self.clone()];
        let mut next = self.derivative().times(g).remainder(self);
        while !next.is_zero() {
            let Self(rest) = sequence[sequence.len() - 1].remainder(&next);
            sequence.push(next);
            next = Self(rest.into_iter().map(Int::negated).collect());
        }
        sequence
    }

    /// The signs of `g` at the different roots of this polynomial between two points
    /// that are no roots, added up.
    fn signs_at_roots(&self, g: &Self, from: &Time, to: &Time) -> i32 {
        let sequence = self.sequence(g);
        sign_changes(&sequence, from) - sign_changes(&sequence, to)
    }
}

/// How often the sign changes along a sequence, zeros left out.
fn sign_changes(sequence: &[Polynomial], t: &Time) -> i32 {
    let (mut changes, mut last) = (0, 0);
    for p in sequence {
        let sign = p.sign_at(t);
        changes += i32::from(sign * last < 0);
        last = if sign == 0 { last } else { sign };
    }
    changes
}

type Vector = [Polynomial; 3];

fn difference(a: &Vector, b: &Vector) -> Vector {
    [0, 1, 2].map(|k| a[k].minus(&b[k]))
}

fn cross(a: &Vector, b: &Vector) -> Vector {
    [0, 1, 2].map(|k| {
        let (i, j) = ((k + 1) % 3, (k + 2) % 3);
        a[i].times(&b[j]).minus(&a[j].times(&b[i]))
    })
}

fn dot(a: &Vector, b: &Vector) -> Polynomial {
    let [x, y, z] = [0, 1, 2].map(|k| a[k].times(&b[k]));
    x.plus(&y).plus(&z)
}

/// The points as polynomials of time, all of one scale.
fn polynomials(points: [&Moving; 4]) -> [Vector; 4] {
    let all = points
        .iter()
        .flat_map(|p| p.iter().flat_map(|p| p.to_array()));
    let exponents = all.filter(|x| *x != 0.0).map(|x| mantissa(x).1);
    let least = exponents.min().unwrap_or(0);
    let integer = |x: f64| {
        let (n, exponent) = mantissa(x);
        n.shifted((exponent - least).max(0) as u32)
    };
    points.map(|p| {
        [0, 1, 2].map(|k| {
            let (start, end) = (integer(p[0][k]), integer(p[1][k]));
            let rate = end.minus(&start);
            Polynomial::new(vec![start, rate])
        })
    })
}

/// How often the interval of a root is halved before signs are asked for at the root.
const HALVINGS: usize = 24;

/// A query in integers.
pub(crate) struct Exact {
    volume: Polynomial,
    /// Signed areas: of the face's sides, or c, d of ab and a, b of cd.
    areas: Vec<Vector>,
    /// What is of one sign where an axis separates the features.
    between: Vec<Vector>,
    face: bool,
}

impl Exact {
    #[cold]
    #[inline(never)]
    pub(crate) fn vertex_face(vertex: &Moving, face: [&Moving; 3]) -> Self {
        let [v, a, b, c] = polynomials([vertex, face[0], face[1], face[2]]);
        let (a, b, c) = (difference(&a, &v), difference(&b, &v), difference(&c, &v));
        let ab = cross(&a, &b);
        Self {
            volume: dot(&ab, &c),
            areas: vec![ab, cross(&b, &c), cross(&c, &a)],
            between: vec![a, b, c],
            face: true,
        }
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn edge_edge(first: [&Moving; 2], second: [&Moving; 2]) -> Self {
        let [a, b, c, d] = polynomials([first[0], first[1], second[0], second[1]]);
        let (ab, cd) = (difference(&b, &a), difference(&d, &c));
        let (ac, ad) = (difference(&c, &a), difference(&d, &a));
        let (bc, bd) = (difference(&c, &b), difference(&d, &b));
        let c_of_ab = cross(&ab, &ac);
        Self {
            volume: dot(&c_of_ab, &cd),
            areas: vec![c_of_ab, cross(&ab, &ad), cross(&cd, &ac), cross(&cd, &bc)],
            between: vec![ac, ad, bc, bd],
            face: false,
        }
    }

    /// Whether (2) or (3) excludes a touch, by the signs that are asked for.
    fn excluded(&self, mut sign: impl FnMut(&Polynomial) -> i32) -> bool {
        for k in 0..3 {
            let mut between = self.between.iter().map(|v| sign(&v[k]));
            let first = between.next().unwrap_or(0);
            if first != 0 && between.all(|s| s == first) {
                return true;
            }
        }
        for k in 0..3 {
            if self.face {
                let signs = [0, 1, 2].map(|i| sign(&self.areas[i][k]));
                if signs.contains(&1) && signs.contains(&-1) {
                    return true;
                }
                continue;
            }
            for pair in self.areas.chunks_exact(2) {
                let first = sign(&pair[0][k]);
                if first != 0 && first == sign(&pair[1][k]) {
                    return true;
                }
            }
        }
        false
    }

    /// Whether they touch at some time of the closed interval.
    pub(crate) fn touches(&self, from: f64, to: f64) -> bool {
        let (from, to) = (Time::of(from), Time::of(to));
        for end in [&from, &to] {
            if self.volume.sign_at(end) == 0 && !self.excluded(|p| p.sign_at(end)) {
                return true;
            }
        }
        if self.excluded(|p| p.sign_on(&from, &to)) {
            return false;
        }
        if !self.volume.is_zero() {
            return self.touches_at_roots(&self.volume, from, to);
        }
        let bounding = self.areas.iter().chain(&self.between).flatten();
        bounding
            .filter(|p| !p.is_constant())
            .any(|p| self.touches_at_roots(p, from.clone(), to.clone()))
    }

    /// Whether they touch at a root of `f` strictly inside the interval; the cubic
    /// vanishes at the roots of `f`.
    fn touches_at_roots(&self, f: &Polynomial, from: Time, to: Time) -> bool {
        let mut f = f.clone();
        for end in [&from, &to] {
            while !f.is_constant() && f.sign_at(end) == 0 {
                f = f.without(end);
            }
        }
        if f.is_constant() {
            return false;
        }
        let sequence = f.sequence(&Polynomial(vec![Int::small(1)]));
        let mut open = vec![(from, to)];
        while let Some((mut from, mut to)) = open.pop() {
            let roots = sign_changes(&sequence, &from) - sign_changes(&sequence, &to);
            if roots == 0 || self.excluded(|p| p.sign_on(&from, &to)) {
                continue;
            }
            if roots == 1 {
                // Around a narrow interval hardly a sign is left open.
                let first = sign_changes(&sequence, &from);
                for _ in 0..HALVINGS {
                    let middle = from.between(&to, 4);
                    if f.sign_at(&middle) == 0 {
                        break;
                    }
                    if sign_changes(&sequence, &middle) == first {
                        from = middle;
                    } else {
                        to = middle;
                    }
                }
                let at_root = |p: &Polynomial| match p.sign_on(&from, &to) {
                    0 => f.signs_at_roots(p, &from, &to),
                    sign => sign,
                };
                if !self.excluded(at_root) {
                    return true;
                }
                continue;
            }
            // Three roots at most: one of four points is none.
            let points = [4, 3, 5, 2].map(|eighths| from.between(&to, eighths));
            let Some(middle) = points.into_iter().find(|t| f.sign_at(t) != 0) else {
                return true;
            };
            open.push((from, middle.clone()));
            open.push((middle, to));
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::{edge_edge_ccd, vertex_face_ccd};
    use crate::testing::Rng;
    use glam::{DVec3, dvec3};

    fn int(value: i128) -> Int {
        let size = value.unsigned_abs();
        let mut digits = Digits::zeros(0, 2);
        digits.push(size as u64);
        digits.push((size >> 64) as u64);
        Int::new(value < 0, digits)
    }

    impl PartialEq for Int {
        fn eq(&self, o: &Self) -> bool {
            self.negative == o.negative && self.digits[..] == o.digits[..]
        }
    }

    fn poly(coefficients: &[i128]) -> Polynomial {
        Polynomial::new(coefficients.iter().map(|&c| int(c)).collect())
    }

    #[test]
    fn integers_agree_with_wide_ones() {
        let mut rng = Rng(5);
        let mut number = |bits: u32| {
            let wide = i128::from(rng.bits());
            (wide & ((1 << bits) - 1)) - (1 << (bits - 1))
        };
        for i in 0..2000 {
            let (a, b) = (number(60), number(1 + i % 62));
            assert_eq!(int(a).plus(&int(b)), int(a + b));
            assert_eq!(int(a).minus(&int(b)), int(a - b));
            assert_eq!(int(a).times(&int(b)), int(a * b));
            assert_eq!(int(a).shifted(i % 60), int(a << (i % 60)));
        }
        // Beyond one digit, and beyond those in place: (x + y)^2 - (x - y)^2 = 4 x y.
        for bits in [64, 200, 255, 256, 511, 512, 900] {
            let (x, y) = (int(3).shifted(bits), int(-7).shifted(64).plus(&int(1)));
            let (p, m) = (x.plus(&y), x.minus(&y));
            assert_eq!(p.times(&p).minus(&m.times(&m)), x.times(&y).shifted(2));
        }
    }

    #[test]
    fn signs_at_roots_that_no_float_tells_apart() {
        let (zero, one) = (Time::of(0.0), Time::of(1.0));
        // The root 1/3 of a cubic; a quadratic that vanishes there, too, and two that
        // are off by 2^-80.
        let f = poly(&[-1, 3]).times(&poly(&[1, 0, 1]));
        let root = poly(&[-1, 3]).times(&poly(&[1, 1]));
        assert_eq!(f.signs_at_roots(&root, &zero, &one), 0);
        for sign in [1, -1] {
            let off = poly(&[-(1 << 80) + sign, 3 << 80]).times(&poly(&[1, 1]));
            assert_eq!(f.signs_at_roots(&off, &zero, &one), sign as i32);
        }
        // Double and triple roots count once.
        let double = poly(&[-1, 3]).times(&poly(&[-1, 3]));
        let ours = poly(&[1]);
        assert_eq!(double.signs_at_roots(&ours, &zero, &one), 1);
        assert_eq!(
            double
                .times(&poly(&[-1, 3]))
                .signs_at_roots(&ours, &zero, &one),
            1
        );
        assert_eq!(
            double
                .times(&poly(&[-1, 2]))
                .signs_at_roots(&ours, &zero, &one),
            2
        );
        // A root that is divided out.
        let half = Time::of(0.5);
        let rest = double.times(&poly(&[-1, 2])).without(&half);
        assert_eq!(rest.signs_at_roots(&ours, &zero, &one), 1);
        assert_ne!(rest.sign_at(&half), 0);
    }

    fn still(p: DVec3) -> Moving {
        [p, p]
    }

    /// A vertex falls past an edge of the triangle: on it, one unit in the last place
    /// inside, and one outside.
    #[test]
    fn one_unit_in_the_last_place_decides() {
        let [a, b, c] = [
            dvec3(0.1, 0.1, 0.3),
            dvec3(1.7, 0.1, 0.3),
            dvec3(0.1, 1.9, 0.3),
        ]
        .map(still);
        let falls = |y: f64| {
            let vertex = [dvec3(0.6, y, 1.1), dvec3(0.6, y, -0.7)];
            vertex_face_ccd::first_impact_exactly(&vertex, [&a, &b, &c]).is_some()
        };
        assert!(falls(0.1));
        assert!(falls(0.1_f64.next_up()));
        assert!(!falls(0.1_f64.next_down()));
        let ends = |y: f64| {
            let ab = [still(dvec3(0.0, y, 0.0)), still(dvec3(0.0, 1.0, 0.0))];
            let cd = [dvec3(-1.0, 0.3, 1.0), dvec3(1.0, 0.3, 1.0)];
            let cd = cd.map(|p| [p, p - dvec3(0.0, 0.0, 1.7)]);
            edge_edge_ccd::first_impact_exactly([&ab[0], &ab[1]], [&cd[0], &cd[1]]).is_some()
        };
        assert!(ends(0.3));
        assert!(ends(0.3_f64.next_down()));
        assert!(!ends(0.3_f64.next_up()));
    }

    /// Motion in one plane, where the cubic vanishes at all times.
    #[test]
    fn in_one_plane() {
        let [a, b, c] = [
            dvec3(0.0, 0.0, 0.0),
            dvec3(1.0, 0.0, 0.0),
            dvec3(0.0, 1.0, 0.0),
        ]
        .map(still);
        let slides = |from: DVec3, to: DVec3| {
            vertex_face_ccd::first_impact_exactly(&[from, to], [&a, &b, &c])
        };
        // Through the corner (1, 0), past it by one unit, and up to it.
        let passes = |x: f64| slides(dvec3(x, -1.0, 0.0), dvec3(x, 1.0, 0.0));
        assert!(passes(1.0).is_some_and(|t| t <= 0.5 && t > 0.4999));
        assert!(passes(1.0_f64.next_up()).is_none());
        assert!(slides(dvec3(2.0, 0.0, 0.0), dvec3(1.0, 0.0, 0.0)).is_some());
        let beyond = 1.0_f64.next_up();
        assert!(slides(dvec3(2.0, 0.0, 0.0), dvec3(beyond, 0.0, 0.0)).is_none());
    }

    /// All four points on a small grid, at rest at the end: the answer at the end alone
    /// is that of the exact triangle test.
    #[test]
    fn a_touch_at_the_end_of_the_step_counts() {
        let [a, b, c] = [
            dvec3(0.0, 0.0, 0.0),
            dvec3(4.0, 0.0, 1.0),
            dvec3(0.0, 4.0, 2.0),
        ]
        .map(still);
        let (mut on, mut off) = (0, 0);
        for x in -1..5 {
            for y in -1..5 {
                // On the plane, in exact numbers, from above.
                let end = dvec3(
                    f64::from(x),
                    f64::from(y),
                    f64::from(x) / 4.0 + f64::from(y) / 2.0,
                );
                let inside = x >= 0 && y >= 0 && x + y <= 4;
                let found = |end| {
                    let from = dvec3(0.3, 0.7, 9.1);
                    vertex_face_ccd::first_impact_exactly(&[from, end], [&a, &b, &c]).is_some()
                };
                assert_eq!(found(end), inside, "{x} {y}");
                assert!(!found(end + DVec3::Z * 1e-15), "{x} {y}");
                *(if inside { &mut on } else { &mut off }) += 1;
            }
        }
        assert!(on == 15 && off == 21);
    }
}
