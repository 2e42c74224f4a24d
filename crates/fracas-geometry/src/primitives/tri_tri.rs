//! Do two triangles intersect? Exactly, for any `f64` input.
//!
//! Triangles are closed point sets; a degenerate one is the segment or the point
//! that it covers. Two such sets meet if and only if an edge of one meets the other,
//! so all is built from *segment against triangle*, decided by the signs of
//! `orient3d` and `orient2d` with adaptive precision (crate `robust`): floating
//! point where it is sure, exact expansions where it is not.
//!
//! Neighbours in a mesh always touch; for them the question is whether they share
//! **more than the mesh says**:
//!
//! | share | intersect when | function |
//! | --- | --- | --- |
//! | nothing | the closed triangles meet | [`intersect`] |
//! | a corner | the edge opposite the corner of one meets the other | [`intersect_beyond_corner`] |
//! | an edge | they lie in one plane, folded onto one another | [`folded_over_edge`] |
//! | all corners | always | |
//!
//! **Guarantee**: exact, short of underflow and overflow: coordinates between 1e-60
//! and 1e60 in size (or zero) are safe.

use glam::DVec3;
use robust::{Coord, Coord3D, orient2d, orient3d};

/// Whether two closed triangles meet.
#[must_use]
pub fn intersect(a: [DVec3; 3], b: [DVec3; 3]) -> bool {
    if let Some(certain) = decide(&a, &b) {
        return certain;
    }
    if surely_apart(&a, &b) || surely_apart(&b, &a) {
        return false;
    }
    let b_of_a = b.map(|p| side(a, p));
    if strictly_one_side(b_of_a) {
        return false;
    }
    let a_of_b = a.map(|p| side(b, p));
    if strictly_one_side(a_of_b) {
        return false;
    }
    (0..3).any(|i| {
        let j = (i + 1) % 3;
        segment_meets([b[i], b[j]], [b_of_a[i], b_of_a[j]], a)
            || segment_meets([a[i], a[j]], [a_of_b[i], a_of_b[j]], b)
    })
}

/// For triangles that share the corner `a[0] = b[0]`: whether they share more.
///
/// The common part is convex and contains the corner; if there is more of it, a ray
/// from the corner runs in it until it leaves one of the two, which can only be
/// through the edge opposite the corner.
#[must_use]
pub fn intersect_beyond_corner(a: [DVec3; 3], b: [DVec3; 3]) -> bool {
    let b_of_a = [side(a, b[1]), side(a, b[2])];
    if b_of_a[0] * b_of_a[1] > 0 {
        return false;
    }
    let a_of_b = [side(b, a[1]), side(b, a[2])];
    if a_of_b[0] * a_of_b[1] > 0 {
        return false;
    }
    segment_meets([b[1], b[2]], b_of_a, a) || segment_meets([a[1], a[2]], a_of_b, b)
}

/// For triangles (a, b, c) and (a, b, d) with the common edge ab: whether they
/// share more than the edge.
#[must_use]
pub fn folded_over_edge(a: DVec3, b: DVec3, c: DVec3, d: DVec3) -> bool {
    if side([a, b, c], d) != 0 {
        return false;
    }
    // In one plane. Seen along an axis that shows the plane, c and d lie on one side.
    for axis in 0..3 {
        let (c_side, d_side) = (turn(axis, a, b, c), turn(axis, a, b, d));
        if c_side != 0 && d_side != 0 {
            return c_side == d_side;
        }
    }
    // One of the two is degenerate: a segment that sticks out of ab, or lies on it.
    // With c on the line ab the first is the hull of a, b, c; it shares more if it
    // reaches beyond ab, into the other.
    let more = |p: DVec3, q: [DVec3; 3]| {
        (0..3).all(|axis| turn(axis, a, b, p) == 0) && !on_segment_line(p, a, b) && {
            let other = side(q, p);
            segment_meets([p, p], [other, other], q)
        }
    };
    more(c, [a, b, d]) || more(d, [a, b, c])
}

/// The answer where floating point is sure of every sign it takes: on which side of
/// either plane the other's corners are, and on which side of the edges a crossing
/// edge passes. What most pairs need, at a fraction of the cost of exact signs.
fn decide(a: &[DVec3; 3], b: &[DVec3; 3]) -> Option<bool> {
    let b_of_a = sides(a, b);
    if same(b_of_a) {
        return Some(false);
    }
    let a_of_b = sides(b, a);
    if same(a_of_b) {
        return Some(false);
    }
    if b_of_a.contains(&0) || a_of_b.contains(&0) {
        return None;
    }
    let mut sure = true;
    for (edges, signs, face) in [(b, b_of_a, a), (a, a_of_b, b)] {
        for i in 0..3 {
            let j = (i + 1) % 3;
            if signs[i] != signs[j] {
                match passes_through(edges[i], edges[j], face) {
                    Some(true) => return Some(true),
                    Some(false) => {}
                    None => sure = false,
                }
            }
        }
    }
    sure.then_some(false)
}

/// All on one side, and surely so.
fn same(signs: [i8; 3]) -> bool {
    signs[0] != 0 && signs[0] == signs[1] && signs[1] == signs[2]
}

/// A sign if the value exceeds its error.
#[inline]
fn sure_sign(value: f64, error: f64) -> i8 {
    i8::from(value > error) - i8::from(value < -error)
}

/// On which sides of the plane of `a` the corners of `b` are; 0 where not sure.
#[inline]
fn sides(a: &[DVec3; 3], b: &[DVec3; 3]) -> [i8; 3] {
    let (e, f) = (a[1] - a[0], a[2] - a[0]);
    let [p, q, r] = [b[0] - a[0], b[1] - a[0], b[2] - a[0]];
    let normal = e.cross(f);
    let own = e.abs().max(f.abs()).max_element();
    let reach = p.abs().max(q.abs()).max(r.abs()).max_element();
    // Six products of three differences, each rounded once: at most 30 roundings.
    let error = 64.0 * f64::EPSILON * own * own * reach + f64::MIN_POSITIVE;
    [p, q, r].map(|x| sure_sign(normal.dot(x), error))
}

/// Whether the segment pq, which crosses the plane of the triangle, passes through it.
#[inline]
fn passes_through(p: DVec3, q: DVec3, triangle: &[DVec3; 3]) -> Option<bool> {
    let d = q - p;
    let [a, b, c] = triangle.map(|x| x - p);
    let own = a.abs().max(b.abs()).max(c.abs()).max_element();
    // As above.
    let error = 64.0 * f64::EPSILON * own * own * d.abs().max_element() + f64::MIN_POSITIVE;
    let signs = [a.cross(b), b.cross(c), c.cross(a)].map(|n| sure_sign(d.dot(n), error));
    if same(signs) {
        Some(true)
    } else if signs.contains(&1) && signs.contains(&-1) {
        Some(false)
    } else {
        None
    }
}

/// Whether a plane has all of `a` on one side and all of `b` strictly on the other, by
/// more than rounding: the plane of `a`, or one through an edge of `a` across it.
fn surely_apart(a: &[DVec3; 3], b: &[DVec3; 3]) -> bool {
    let (e, f) = (a[1] - a[0], a[2] - a[0]);
    let [p, q, r] = [b[0] - a[0], b[1] - a[0], b[2] - a[0]];
    let normal = e.cross(f);
    // Coordinates relative to a[0] have a relative error of half a rounding; the
    // products that follow err by less than 32 roundings of the products of sizes.
    let own = e.abs().max(f.abs()).max_element();
    let reach = p.abs().max(q.abs()).max(r.abs()).max_element();
    let error = 64.0 * f64::EPSILON * own * own * reach + f64::MIN_POSITIVE;
    let sides = [normal.dot(p), normal.dot(q), normal.dot(r)];
    if sides.iter().all(|s| *s > error) || sides.iter().all(|s| *s < -error) {
        return true;
    }
    // Across the edges, outwards.
    let error = 512.0 * f64::EPSILON * own * own * own * (own + reach) + f64::MIN_POSITIVE;
    let beyond = |edge: DVec3, from: DVec3| {
        let outward = edge.cross(normal);
        outward.dot(p - from) > error
            && outward.dot(q - from) > error
            && outward.dot(r - from) > error
    };
    beyond(e, DVec3::ZERO) || beyond(f - e, e) || beyond(-f, f)
}

/// Sign of the volume of (triangle, p).
fn side(triangle: [DVec3; 3], p: DVec3) -> i8 {
    let [a, b, c] = triangle.map(coordinates);
    sign(orient3d(a, b, c, coordinates(p)))
}

fn coordinates(p: DVec3) -> Coord3D<f64> {
    Coord3D {
        x: p.x,
        y: p.y,
        z: p.z,
    }
}

fn sign(value: f64) -> i8 {
    i8::from(value > 0.0) - i8::from(value < 0.0)
}

/// The sense in which a, b, c turn, seen with the coordinate `axis` left out.
fn turn(axis: usize, a: DVec3, b: DVec3, c: DVec3) -> i8 {
    let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
    let flat = |p: DVec3| Coord { x: p[u], y: p[v] };
    sign(orient2d(flat(a), flat(b), flat(c)))
}

fn strictly_one_side(sides: [i8; 3]) -> bool {
    sides == [1; 3] || sides == [-1; 3]
}

/// Whether the segment `s`, whose ends lie on the given sides of the triangle's
/// plane, meets the triangle.
fn segment_meets(s: [DVec3; 2], sides: [i8; 2], triangle: [DVec3; 3]) -> bool {
    if sides[0] * sides[1] > 0 {
        return false;
    }
    if sides == [0, 0] {
        return segment_meets_in_plane(s, triangle);
    }
    // The line crosses the plane in one point: inside if it passes all edges on the
    // same side. (The triangle is not degenerate, or both sides would be zero.)
    let [a, b, c] = triangle;
    let passes = [[a, b], [b, c], [c, a]].map(|[p, q]| side([s[0], s[1], p], q));
    !(passes.contains(&1) && passes.contains(&-1))
}

/// Segment and triangle in one plane, or the triangle is degenerate.
fn segment_meets_in_plane(s: [DVec3; 2], triangle: [DVec3; 3]) -> bool {
    let [a, b, c] = triangle;
    for axis in 0..3 {
        let sense = turn(axis, a, b, c);
        if sense != 0 {
            let contains = |p: DVec3| {
                [[a, b], [b, c], [c, a]]
                    .iter()
                    .all(|[u, v]| turn(axis, *u, *v, p) * sense >= 0)
            };
            return contains(s[0])
                || contains(s[1])
                || [[a, b], [b, c], [c, a]]
                    .iter()
                    .any(|&edge| segments_meet_in_plane(axis, s, edge));
        }
    }
    // A degenerate triangle is the union of its edges.
    [[a, b], [b, c], [c, a]]
        .iter()
        .any(|&edge| segments_meet(s, edge))
}

/// Whether two segments in one plane meet, seen along an axis that shows the plane
/// without loss.
fn segments_meet_in_plane(axis: usize, s: [DVec3; 2], e: [DVec3; 2]) -> bool {
    let (e0, e1) = (turn(axis, s[0], s[1], e[0]), turn(axis, s[0], s[1], e[1]));
    let (s0, s1) = (turn(axis, e[0], e[1], s[0]), turn(axis, e[0], e[1], s[1]));
    if e0 * e1 > 0 || s0 * s1 > 0 {
        return false;
    }
    if [e0, e1, s0, s1] == [0; 4] {
        return boxes_meet(s, e);
    }
    true
}

/// Whether two segments in space meet.
fn segments_meet(s: [DVec3; 2], e: [DVec3; 2]) -> bool {
    if side([s[0], s[1], e[0]], e[1]) != 0 {
        return false;
    }
    // In one plane: an axis that shows it turns one of the triples.
    for axis in 0..3 {
        let turns = [
            turn(axis, s[0], s[1], e[0]),
            turn(axis, s[0], s[1], e[1]),
            turn(axis, e[0], e[1], s[0]),
            turn(axis, e[0], e[1], s[1]),
        ];
        if turns != [0; 4] {
            return segments_meet_in_plane(axis, s, e);
        }
    }
    // On one line, whose points every axis orders alike.
    boxes_meet(s, e)
}

fn boxes_meet(s: [DVec3; 2], e: [DVec3; 2]) -> bool {
    let (s_low, s_high) = (s[0].min(s[1]), s[0].max(s[1]));
    let (e_low, e_high) = (e[0].min(e[1]), e[0].max(e[1]));
    s_low.cmple(e_high).all() && e_low.cmple(s_high).all()
}

/// For a point on the line ab: whether it is on the segment.
fn on_segment_line(p: DVec3, a: DVec3, b: DVec3) -> bool {
    boxes_meet([p, p], [a, b])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Rng;
    use glam::dvec3;

    const BASE: [DVec3; 3] = [
        dvec3(0.0, 0.0, 0.0),
        dvec3(4.0, 0.0, 0.0),
        dvec3(0.0, 4.0, 0.0),
    ];

    #[test]
    fn pierced_touched_and_missed() {
        let pierce = [
            dvec3(1.0, 1.0, -1.0),
            dvec3(1.0, 1.0, 1.0),
            dvec3(5.0, 5.0, 1.0),
        ];
        assert!(intersect(BASE, pierce) && intersect(pierce, BASE));
        let touch = pierce.map(|p| p + dvec3(0.0, 0.0, 1.0));
        assert!(intersect(BASE, touch));
        let above = pierce.map(|p| p + dvec3(0.0, 0.0, 1.0 + 1e-15));
        assert!(!intersect(BASE, above));
        let beside = pierce.map(|p| p + dvec3(3.0, 3.0, 0.0));
        assert!(!intersect(BASE, beside));
    }

    #[test]
    fn coplanar_cases() {
        let inside = [
            dvec3(0.5, 0.5, 0.0),
            dvec3(1.0, 0.5, 0.0),
            dvec3(0.5, 1.0, 0.0),
        ];
        assert!(intersect(BASE, inside) && intersect(inside, BASE));
        let apart = inside.map(|p| p + dvec3(4.0, 0.0, 0.0));
        assert!(!intersect(BASE, apart));
        let corner = [
            dvec3(4.0, 0.0, 0.0),
            dvec3(5.0, 0.0, 0.0),
            dvec3(5.0, 1.0, 0.0),
        ];
        assert!(intersect(BASE, corner));
    }

    #[test]
    fn degenerate_triangles_are_segments_and_points() {
        let segment = [
            dvec3(1.0, 1.0, -1.0),
            dvec3(1.0, 1.0, 1.0),
            dvec3(1.0, 1.0, 0.5),
        ];
        assert!(intersect(BASE, segment) && intersect(segment, BASE));
        let lying = [
            dvec3(-1.0, 1.0, 0.0),
            dvec3(1.0, 1.0, 0.0),
            dvec3(0.0, 1.0, 0.0),
        ];
        assert!(intersect(BASE, lying) && intersect(lying, BASE));
        let point = [dvec3(1.0, 1.0, 0.0); 3];
        assert!(intersect(BASE, point) && intersect(point, point));
        let off = [dvec3(1.0, 1.0, 1e-300); 3];
        assert!(!intersect(off, point));
        let collinear = [
            dvec3(2.0, 2.0, 0.0),
            dvec3(3.0, 3.0, 0.0),
            dvec3(2.5, 2.5, 0.0),
        ];
        let next = collinear.map(|p| p + dvec3(0.75, 0.75, 0.0));
        assert!(intersect(collinear, next));
        let far = collinear.map(|p| p + dvec3(1.25, 1.25, 0.0));
        assert!(!intersect(collinear, far));
    }

    #[test]
    fn neighbours_share_more_only_when_folded() {
        let o = DVec3::ZERO;
        let (x, y) = (dvec3(1.0, 0.0, 0.0), dvec3(0.0, 1.0, 0.0));
        assert!(!folded_over_edge(o, x, y, -y));
        assert!(folded_over_edge(o, x, y, y + x));
        assert!(!folded_over_edge(o, x, y, y + dvec3(0.0, 0.0, 1e-30)));
        // A degenerate neighbour that lies in its own edge shares no more; one that
        // reaches into the other does.
        assert!(!folded_over_edge(o, x, x * 0.5, y));
        assert!(!folded_over_edge(o, x, x * 2.0, y));
        assert!(!folded_over_edge(o, x, x * 2.0, -x));
        let fan = [o, -x, -y];
        assert!(!intersect_beyond_corner([o, x, y], fan));
        assert!(intersect_beyond_corner([o, x, y], [o, x + y, x * 2.0]));
        assert!(intersect_beyond_corner(
            [o, x, y],
            [o, dvec3(0.2, 0.2, 1.0), dvec3(0.2, 0.2, -1.0)]
        ));
    }

    /// Points on a small grid make every degeneracy; the answer must not depend on
    /// the order of triangles or corners, nor change under an exact motion.
    #[test]
    fn symmetric_under_all_orders_on_a_grid() {
        let mut rng = Rng(5);
        let mut met = 0;
        for _ in 0..4000 {
            let mut point = || {
                dvec3(
                    rng.below(4) as f64,
                    rng.below(4) as f64,
                    rng.below(3) as f64,
                )
            };
            let a = [point(), point(), point()];
            let b = [point(), point(), point()];
            let answer = intersect(a, b);
            met += usize::from(answer);
            assert_eq!(intersect(b, a), answer);
            assert_eq!(intersect([a[1], a[2], a[0]], [b[2], b[1], b[0]]), answer);
            let turned = |t: [DVec3; 3]| t.map(|p| dvec3(p.z - 8.0, p.x * 2.0, -p.y));
            assert_eq!(intersect(turned(a), turned(b)), answer, "{a:?} {b:?}");
            assert_eq!(answer, sampled(a, b) || answer, "{a:?} {b:?}");
        }
        assert!(met > 500);
    }

    /// Looks for a common point on a lattice of both triangles (integer arithmetic:
    /// all coordinates are multiples of 1/60).
    fn sampled(a: [DVec3; 3], b: [DVec3; 3]) -> bool {
        let lattice = |t: [DVec3; 3]| {
            let mut points = Vec::new();
            for i in 0..=4 {
                for j in 0..=4 - i {
                    let p = t[0] * i as f64 + t[1] * j as f64 + t[2] * (4 - i - j) as f64;
                    points.push([p.x as i64, p.y as i64, p.z as i64]);
                }
            }
            points
        };
        let other = lattice(b);
        lattice(a).iter().any(|p| other.contains(p))
    }
}
