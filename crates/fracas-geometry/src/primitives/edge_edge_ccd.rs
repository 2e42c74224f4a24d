//! Do two moving edges touch during the step, and when first?
//!
//! All four ends move linearly over `[0, 1]`. For the edges ab and cd:
//!
//! 1. the four ends are coplanar at the roots of the cubic
//!    `(b - a) x (c - a) . (d - c)`;
//! 2. they cross at such a time only if, seen along any axis, c and d do not lie
//!    strictly on one side of ab, nor a and b on one side of cd (four quadratics),
//!    and only if no axis separates the boxes.
//!
//! The search and the **guarantee** are those of [`super::vertex_face_ccd`]: no false
//! negative, a time that is never late, and an exact answer where it is asked for. Proof of a
//! touch: the cubic changes sign while, seen along one axis, c and d are on opposite sides of
//! ab, and a and b of cd.

use super::bernstein::{
    CrossQuadratic, Decision, Outcome, ROUND, difference, first_root, separated, separated_on,
    size, widened,
};
use super::double_ccd;
use super::moving::Moving;
use glam::DVec3;

/// The first time of impact of two edges, or `None` when they provably do not touch.
#[must_use]
pub fn first_impact(first: [&Moving; 2], second: [&Moving; 2]) -> Option<f64> {
    search::<true, false>(first, second).time()
}

/// The same without false positives: what rounding leaves open is decided exactly, which may
/// take a thousand times as long where features lie in one plane.
#[must_use]
pub fn first_impact_exactly(first: [&Moving; 2], second: [&Moving; 2]) -> Option<f64> {
    search::<true, true>(first, second).time()
}

/// As [`first_impact`], with the method chosen: `FILTER` runs the non-penetration filter
/// first, `EXACT` decides exactly what rounding leaves open (otherwise it counts as a touch).
/// The result says how it was found.
#[inline]
pub fn search<const FILTER: bool, const EXACT: bool>(
    first: [&Moving; 2],
    second: [&Moving; 2],
) -> Outcome {
    let ([a, b], [c, d]) = (first, second);
    let (ac, ad, bc, bd) = (
        difference(c, a),
        difference(d, a),
        difference(c, b),
        difference(d, b),
    );
    if [ac, ad, bc, bd]
        .iter()
        .any(|[start, _]| *start == DVec3::ZERO)
    {
        return Outcome::At(0.0);
    }
    let largest = size(&ac).max(size(&ad)).max(size(&bc)).max(size(&bd));
    let error = 8.0 * ROUND * largest + f64::MIN_POSITIVE;
    let between = [&ac, &ad, &bc, &bd];
    if separated(&between, error) {
        return Outcome::Apart;
    }
    let (ab, cd) = (difference(b, a), difference(d, c));
    let c_of_ab = CrossQuadratic::new(&ab, &ac);
    let volume = c_of_ab.dot(&cd, size(&ab) * size(&ac) * size(&cd));
    if FILTER && volume.has_no_root() {
        return Outcome::Filtered;
    }
    let d_of_ab = CrossQuadratic::new(&ab, &ad);
    // cd x (c - a) and cd x (c - b): the sides of a and b, both with one sign turned.
    let (a_of_cd, b_of_cd) = (CrossQuadratic::new(&cd, &ac), CrossQuadratic::new(&cd, &bc));
    let excluded = |l, r| {
        let (c, d) = (c_of_ab.signs_on(l, r), d_of_ab.signs_on(l, r));
        if (c.0 & d.0).any() || (c.1 & d.1).any() {
            return true;
        }
        let (a, b) = (a_of_cd.signs_on(l, r), b_of_cd.signs_on(l, r));
        (a.0 & b.0).any() || (a.1 & b.1).any() || separated_on(&between, error, l, r)
    };
    let time = first_root(
        0.0,
        |l, r| volume.clip(l, r),
        excluded,
        |l, r| {
            if !EXACT {
                return Decision::Answer(Some(l));
            }
            let (wide_l, wide_r) = widened(l, r);
            let opposite = |first: &CrossQuadratic, second: &CrossQuadratic| {
                let (p, q) = (
                    first.signs_on(wide_l, wide_r),
                    second.signs_on(wide_l, wide_r),
                );
                p.0 & q.1 | p.1 & q.0
            };
            let crossing = opposite(&c_of_ab, &d_of_ab) & opposite(&a_of_cd, &b_of_cd);
            if crossing.any() && volume.changes_sign(wide_l, wide_r) {
                return Decision::Answer(Some(l));
            }
            Decision::Answer(double_ccd::edge_edge(first, second, l))
        },
    );
    time.map_or(Outcome::Apart, Outcome::At)
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::dvec3;

    fn still(p: DVec3) -> Moving {
        [p, p]
    }

    fn falling(a: DVec3, b: DVec3, by: DVec3) -> Option<f64> {
        let (c, d) = (still(dvec3(0.0, -1.0, 0.0)), still(dvec3(0.0, 1.0, 0.0)));
        first_impact([&[a, a + by], &[b, b + by]], [&c, &d])
    }

    #[test]
    fn crosses_and_misses() {
        let down = dvec3(0.0, 0.0, -4.0);
        let t = falling(dvec3(-1.0, 0.0, 1.0), dvec3(1.0, 0.0, 1.0), down).expect("crosses");
        assert!(t <= 0.25 && t > 0.25 - 1e-9);
        assert_eq!(
            falling(dvec3(-1.0, 1.5, 1.0), dvec3(1.0, 1.5, 1.0), down),
            None
        );
        assert_eq!(
            falling(dvec3(0.5, 0.0, 1.0), dvec3(1.0, 0.0, 1.0), down),
            None
        );
    }

    #[test]
    fn parallel_and_collinear_edges() {
        let down = dvec3(0.0, 0.0, -4.0);
        assert!(falling(dvec3(0.0, 0.0, 1.0), dvec3(0.0, 3.0, 1.0), down).is_some());
        assert_eq!(
            falling(dvec3(0.0, 1.5, 1.0), dvec3(0.0, 3.0, 1.0), down),
            None
        );
        let along = dvec3(0.0, -2.0, 0.0);
        let t = falling(dvec3(0.0, 2.0, 0.0), dvec3(0.0, 3.0, 0.0), along).expect("meets");
        assert!(t <= 0.5 && t > 0.5 - 1e-9, "{t}");
    }

    #[test]
    fn points_as_edges() {
        let p = dvec3(0.0, 0.5, 1.0);
        assert!(falling(p, p, dvec3(0.0, 0.0, -2.0)).is_some());
        assert_eq!(falling(p, p, dvec3(1.0, 0.0, -2.0)), None);
    }
}
