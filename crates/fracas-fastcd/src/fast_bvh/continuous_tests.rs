//! What is cleared shares no more than the mesh says: triangles that touch elsewhere, too, are
//! never cleared, though rounding alone decides on which side of a plane they seem to be.

use glam::DVec3;

use super::{clear_beyond_corner, clear_beyond_edge};
use fracas_geometry::primitives::Moving;
use fracas_geometry::testing::Rng;

/// A vector of whole numbers: what is made of few of them has no rounding.
fn whole(rng: &mut Rng, most: usize) -> DVec3 {
    let mut number = || rng.below(2 * most + 1) as f64 - most as f64;
    DVec3::new(number(), number(), number())
}

fn at_rest<const N: usize>(points: [DVec3; N]) -> [Moving; N] {
    points.map(|p| [p, p])
}

/// Two triangles with a common corner, and an edge of each on the same line: they overlap
/// there. The last corners are such that the plane that is tried contains that line, up to
/// rounding.
#[test]
fn triangles_whose_edges_overlap_beyond_their_corner_are_not_cleared() {
    let (mut rng, mut apart) = (Rng(81), 0);
    for round in 0..20_000 {
        let [a, b] = [whole(&mut rng, 1000) * 4.0, whole(&mut rng, 1000)];
        let c = a * [0.75, 0.5, 0.25, 1.25][round % 4];
        if a.cross(b).length() < 1.0 {
            continue;
        }
        // The sum of the one's sides, mirrored at the line, is the direction of the other's.
        let m = a + b;
        let mirrored = a * (2.0 * m.dot(a) / a.length_squared()) - m;
        let d = mirrored * f64::from(rng.range(2.0, 4.0)) - c;
        let shift = whole(&mut rng, 1000);
        let place =
            |sides: [DVec3; 2]| at_rest([DVec3::ZERO, sides[0], sides[1]].map(|p| p + shift));
        let (p, q) = (place([a, b]), place([c, d]));
        let cleared = |p: &[Moving; 3], q: &[Moving; 3]| {
            clear_beyond_corner([&p[0], &p[1], &p[2]], [&q[0], &q[1], &q[2]], (0, 0))
        };
        assert!(!cleared(&p, &q) && !cleared(&q, &p), "{a} {b} {c} {d}");
        // On the other side of the corner they are apart, and most are cleared.
        let q = place([-c, -d]);
        apart += usize::from(cleared(&p, &q));
    }
    assert!(apart > 2000, "{apart}");
}

/// Two triangles over a common edge that lie on one another when the step begins, and part.
/// Each opens as far as the other, so that the direction that is tried lies in the plane in
/// which they were, up to rounding.
#[test]
fn triangles_that_lie_on_one_another_when_the_step_begins_are_not_cleared() {
    let (mut rng, mut apart) = (Rng(82), 0);
    for round in 0..20_000 {
        let (e, f) = (whole(&mut rng, 100), whole(&mut rng, 100) * 4.0);
        let out = e.cross(f);
        if out.length() < 1.0 {
            continue;
        }
        let share = [0.75, 0.5, 1.25, 0.25][round % 4];
        let rise = f64::from(rng.range(0.001, 0.1));
        let shift = whole(&mut rng, 1000);
        let (c, d) = (f, f * share);
        let still = |p: DVec3| -> Moving { [p + shift, p + shift] };
        let rising = |p: DVec3, by: DVec3| -> Moving { [p + shift, p + shift + by] };
        let [o, along] = [still(DVec3::ZERO), still(e)];
        let p = [o, along, rising(c, out * rise)];
        let q = [along, o, rising(d, out * (-rise * share))];
        let cleared = |p: &[Moving; 3], q: &[Moving; 3], at| {
            clear_beyond_edge([&p[0], &p[1], &p[2]], [&q[0], &q[1], &q[2]], at)
        };
        let at = [(0, 1), (1, 0), (0, 0)];
        assert!(
            !cleared(&p, &q, at) && !cleared(&q, &p, at),
            "{e} {f} {rise}"
        );
        // Beyond the edge they are apart.
        let q = [along, o, rising(-d, out * rise)];
        apart += usize::from(cleared(&p, &q, at));
    }
    assert!(apart > 2000, "{apart}");
}
