//! Does a moving vertex touch a moving triangle during the step, and when first?
//!
//! All four points move linearly over `[0, 1]`. With the triangle's corners taken
//! relative to the vertex, A(t), B(t), C(t):
//!
//! 1. the four are coplanar at the roots of the cubic `A x B . C`;
//! 2. the vertex is inside at such a time only if, seen along any axis, the signed
//!    areas `A x B`, `B x C`, `C x A` (quadratics) have no two opposite signs, and
//!    only if no axis separates the boxes.
//!
//! The roots are searched from the left by clipping (`bernstein.rs`); an
//! interval is dropped only when 1 or 2 proves it empty. What is left is an interval of
//! 1e-10 or less, which counts as a touch; [`first_impact_exactly`] goes on. If the cubic
//! provably changes sign around it while, seen along one axis, all three areas provably have
//! one sign, it is a touch, since where the cubic vanishes the vertex is then inside. If that
//! cannot be proven either, the rest of the step is searched in numbers of twice the
//! precision (`double_ccd.rs`), and what these leave open is decided in integers
//! (`exact_ccd.rs`). So these are met only where something is zero up to rounding: which is
//! seldom, but nearly always on a crack whose sides still touch, where exact answers took
//! minutes a step. So detection asks for the first kind, unless told otherwise
//! (docs/decisions/0024).
//! The most frequent such case is asked first: on a crack that has just opened, corners
//! start in the same place (a difference in `f64` is zero only if its terms are equal).
//!
//! **Guarantee**: no false negative. If the four moving points with these `f64` coordinates
//! touch at some time in `[0, 1]`, the answer is a time, at most that of the first touch
//! (earlier by the time tolerance, 1e-10, or by what the rounding of a grazing cubic leaves
//! open). A false positive is possible where the vertex passes the triangle within rounding;
//! none with [`first_impact_exactly`].
//!
//! **Deviations**: [Heo 2010] cites the usual solution by the cubic formula, whose
//! rounding loses contacts. The filter of [Tang 2010] (all Bernstein coefficients
//! of one sign) is the first look of the search.

use super::bernstein::{
    CrossQuadratic, Decision, Outcome, ROUND, difference, first_root, separated, separated_on,
    size, widened,
};
use super::double_ccd;
use super::moving::Moving;
use glam::DVec3;

/// The first time of impact of `vertex` and the triangle `face`, or `None` when
/// they provably do not touch.
#[must_use]
pub fn first_impact(vertex: &Moving, face: [&Moving; 3]) -> Option<f64> {
    search::<true, false>(vertex, face).time()
}

/// The same without false positives: what rounding leaves open is decided exactly, which may
/// take a thousand times as long where features lie in one plane.
#[must_use]
pub fn first_impact_exactly(vertex: &Moving, face: [&Moving; 3]) -> Option<f64> {
    search::<true, true>(vertex, face).time()
}

/// As [`first_impact`], with the method chosen: `FILTER` runs the non-penetration filter
/// first, `EXACT` decides exactly what rounding leaves open (otherwise it counts as a touch).
/// The result says how it was found.
#[inline]
pub fn search<const FILTER: bool, const EXACT: bool>(
    vertex: &Moving,
    face: [&Moving; 3],
) -> Outcome {
    let [a, b, c] = face.map(|corner| difference(corner, vertex));
    if [a, b, c].iter().any(|[start, _]| *start == DVec3::ZERO) {
        return Outcome::At(0.0);
    }
    let (sa, sb, sc) = (size(&a), size(&b), size(&c));
    let error = 8.0 * ROUND * sa.max(sb).max(sc) + f64::MIN_POSITIVE;
    if separated(&[&a, &b, &c], error) {
        return Outcome::Apart;
    }
    let ab = CrossQuadratic::new(&a, &b);
    let volume = ab.dot(&c, sa * sb * sc);
    if FILTER && volume.has_no_root() {
        return Outcome::Filtered;
    }
    let (bc, ca) = (CrossQuadratic::new(&b, &c), CrossQuadratic::new(&c, &a));
    let signs = |l, r| [&ab, &bc, &ca].map(|area| area.signs_on(l, r));
    let excluded = |l, r| {
        let [ab, bc, ca] = signs(l, r);
        let (plus, minus) = (ab.0 | bc.0 | ca.0, ab.1 | bc.1 | ca.1);
        (plus & minus).any() || separated_on(&[&a, &b, &c], error, l, r)
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
            let [ab, bc, ca] = signs(wide_l, wide_r);
            let inside = (ab.0 & bc.0 & ca.0).any() || (ab.1 & bc.1 & ca.1).any();
            if inside && volume.changes_sign(wide_l, wide_r) {
                return Decision::Answer(Some(l));
            }
            Decision::Answer(double_ccd::vertex_face(vertex, face, l))
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

    const TRIANGLE: [DVec3; 3] = [
        dvec3(0.0, 0.0, 0.0),
        dvec3(1.0, 0.0, 0.0),
        dvec3(0.0, 1.0, 0.0),
    ];

    fn against_still(start: DVec3, end: DVec3) -> Option<f64> {
        let [a, b, c] = TRIANGLE.map(still);
        first_impact(&[start, end], [&a, &b, &c])
    }

    #[test]
    fn falls_through_and_misses() {
        let t = against_still(dvec3(0.2, 0.2, 1.0), dvec3(0.2, 0.2, -3.0)).expect("hits");
        assert!(t <= 0.25 && t > 0.25 - 1e-9);
        assert_eq!(
            against_still(dvec3(0.7, 0.7, 1.0), dvec3(0.7, 0.7, -3.0)),
            None
        );
        assert_eq!(
            against_still(dvec3(0.2, 0.2, 1.0), dvec3(0.2, 0.2, 0.5)),
            None
        );
    }

    #[test]
    fn touches_of_corner_edge_start_and_end_count() {
        assert!(against_still(dvec3(0.0, 0.0, 1.0), dvec3(0.0, 0.0, -1.0)).is_some());
        assert!(against_still(dvec3(0.5, 0.5, 1.0), dvec3(0.5, 0.5, -1.0)).is_some());
        assert_eq!(
            against_still(dvec3(0.1, 0.1, 0.0), dvec3(0.1, 0.1, 1.0)),
            Some(0.0)
        );
        assert!(against_still(dvec3(0.1, 0.1, 1.0), dvec3(0.1, 0.1, 0.0)).is_some());
    }

    #[test]
    fn slides_in_the_plane() {
        let t = against_still(dvec3(-1.0, 0.25, 0.0), dvec3(1.0, 0.25, 0.0)).expect("enters");
        assert!(t <= 0.5 && t > 0.5 - 1e-9, "{t}");
        assert_eq!(
            against_still(dvec3(-1.0, 2.0, 0.0), dvec3(1.0, 1.5, 0.0)),
            None
        );
    }

    #[test]
    fn degenerate_triangles_and_still_points() {
        let p = still(dvec3(0.5, 0.0, 0.0));
        let line = [
            dvec3(0.0, 0.0, 0.0),
            dvec3(1.0, 0.0, 0.0),
            dvec3(2.0, 0.0, 0.0),
        ]
        .map(still);
        assert_eq!(first_impact(&p, [&line[0], &line[1], &line[2]]), Some(0.0));
        let off = still(dvec3(3.0, 0.0, 0.0));
        assert_eq!(first_impact(&off, [&line[0], &line[1], &line[2]]), None);
        let point = [dvec3(1.0, 1.0, 1.0); 3].map(still);
        assert_eq!(first_impact(&p, [&point[0], &point[1], &point[2]]), None);
    }

    #[test]
    fn the_filter_never_drops_an_impact() {
        let mut rng = crate::testing::Rng(11);
        let mut point = || {
            let p = |rng: &mut crate::testing::Rng| {
                rng.in_box(-glam::Vec3::ONE, glam::Vec3::ONE).as_dvec3()
            };
            [p(&mut rng), p(&mut rng)]
        };
        let mut hits = 0;
        for _ in 0..20_000 {
            let (v, a, b, c) = (point(), point(), point(), point());
            let hit = first_impact(&v, [&a, &b, &c]).is_some();
            hits += usize::from(hit);
            assert_eq!(
                search::<false, false>(&v, [&a, &b, &c]).time().is_some(),
                hit
            );
        }
        assert!(hits > 100);
    }
}
