//! How far apart two triangles of one body are: a lower bound on the distance of all
//! their features (vertex and face, edge and edge) that share no vertex.
//!
//! | share | bound |
//! | --- | --- |
//! | nothing | the widest gap that an axis shows: of the boxes, between the centres, of either plane, of a plane across either's edges |
//! | a corner | a plane through it with the other corners of one on one side, those of the other on the other, as wide as it gets: the least of their four distances (a tested pair has a feature away from the corner) |
//! | an edge | across the edge, the distance of each apex from the other's half-plane; for the two pairs of outer edges, the gap between their closest points |
//! | all | none |
//!
//! A positive bound also says that the two share no more than the mesh says, by the
//! rule of [`fracas_geometry::primitives::tri_tri`]: disjoint triangles are separated, a common
//! corner is cut off by a plane, over a common edge the apex is off the other's plane
//! or beyond the edge.

use glam::DVec3;

/// Room for rounding, relative to the size of the two triangles.
const ROUNDING: f64 = 1e-14;
/// Steps towards the widest plane at a corner.
const STEPS: usize = 12;

/// Triangles without a common corner. Stops looking at `enough`.
pub(crate) fn disjoint(p: [DVec3; 3], q: [DVec3; 3], enough: f64) -> f64 {
    let q = q.map(|x| x - p[0]);
    let p = [DVec3::ZERO, p[1] - p[0], p[2] - p[0]];
    let size = extent(&p).max(extent(&q));
    let room = ROUNDING * size;
    let between = (q[0] + q[1] + q[2]) - (p[1] + p[2]);
    let mut best = gap(between, &p, &q, room);
    if best >= enough {
        return best;
    }
    for (a, b) in [(&p, &q), (&q, &p)] {
        let [e, f, g] = [a[1] - a[0], a[2] - a[1], a[0] - a[2]];
        let normal = e.cross(f);
        best = best
            .max(gap(normal, a, b, room))
            .max(gap(-normal, a, b, room));
        for edge in [e, f, g] {
            if best >= enough {
                return best;
            }
            best = best.max(gap(edge.cross(normal), a, b, room));
        }
    }
    best
}

/// What the axis shows between a and b, if b is beyond a.
fn gap(axis: DVec3, a: &[DVec3; 3], b: &[DVec3; 3], room: f64) -> f64 {
    let length = axis.length_squared().sqrt();
    let far = axis.dot(a[0]).max(axis.dot(a[1])).max(axis.dot(a[2]));
    let near = axis.dot(b[0]).min(axis.dot(b[1])).min(axis.dot(b[2]));
    certain((near - far) / length - room)
}

/// Not a number is no distance.
fn certain(distance: f64) -> f64 {
    if distance > 0.0 { distance } else { 0.0 }
}

fn extent(points: &[DVec3; 3]) -> f64 {
    let [a, b, c] = points.map(DVec3::abs);
    a.max(b).max(c).max_element()
}

/// Triangles with the one common corner `p[0] = q[0]`. Stops looking at `enough`.
///
/// The plane with the widest margin is across the shortest vector of the hull of the
/// one's sides and the other's, negated: found step by step, each the shortest
/// between the last and a corner of the hull [Gilbert 1966]. Every step's vector is a
/// plane, whether or not it is the best, so stopping early is safe.
pub(crate) fn at_corner(p: [DVec3; 3], q: [DVec3; 3], enough: f64) -> f64 {
    let sides = [p[1] - p[0], p[2] - p[0], p[0] - q[1], p[0] - q[2]];
    let [a, b, c, d] = sides.map(DVec3::abs);
    let room = ROUNDING * a.max(b).max(c).max(d).max_element();
    let (m, n) = (sides[0] + sides[1], sides[2] + sides[3]);
    let mut axis = m * n.length_squared().sqrt() + n * m.length_squared().sqrt();
    let mut best = 0.0_f64;
    for step in 0..STEPS {
        let mut least = (f64::INFINITY, DVec3::ZERO);
        for side in sides {
            let reach = axis.dot(side);
            if reach < least.0 {
                least = (reach, side);
            }
        }
        let squared = axis.length_squared();
        best = best.max(certain(least.0 / squared.sqrt() - room));
        if best >= enough || step > 0 && least.0 > 0.9 * squared {
            break;
        }
        if step == 0 {
            // From here on a vector of the hull.
            axis = (m + n) * 0.25;
            continue;
        }
        let towards = least.1 - axis;
        let share = -axis.dot(towards) / towards.length_squared();
        axis += towards * share.clamp(0.0, 1.0);
    }
    best
}

/// Triangles (a, b, c) and (a, b, d). Stops looking at `enough`.
///
/// The first look is one plane through the edge with the apexes on different sides, at least
/// h from it. Each apex is h from the other triangle. Points of two outer edges are `s` and
/// `t` of the way from the ends of the edge, of length L, to the apexes: at least `(s + t) h`
/// apart across the plane and `L - (s + t) X` along the edge, where X is how far an apex lies
/// from an end, along the edge, at most. So the larger of the two is at least
/// `L h / (h + X)`, whatever s and t are.
pub(crate) fn at_edge(a: DVec3, b: DVec3, c: DVec3, d: DVec3, enough: f64) -> f64 {
    let [b, c, d] = [b - a, c - a, d - a];
    let room = ROUNDING * b.abs().max(c.abs()).max(d.abs()).max_element();
    let squared = b.length_squared();
    let quick = plane_at_edge([b, c, d], squared) - room;
    if quick >= enough {
        return quick;
    }
    let across = |x: DVec3| x - b * (b.dot(x) / squared);
    let (c_off, d_off) = (across(c), across(d));
    let (c_long, d_long) = (c_off.length_squared().sqrt(), d_off.length_squared().sqrt());
    // Beyond the edge: as far as the edge is. Folded: as far as the half-planes are.
    let apex = if c_off.dot(d_off) <= 0.0 {
        c_long.min(d_long)
    } else {
        c_off.cross(d_off).length_squared().sqrt() / c_long.max(d_long)
    };
    certain(apex - room)
        .min(outer_edges([DVec3::ZERO, c], [b, d], room))
        .min(outer_edges([b, c], [DVec3::ZERO, d], room))
}

/// What the plane across the difference of the apexes shows.
fn plane_at_edge([b, c, d]: [DVec3; 3], squared: f64) -> f64 {
    let (along_c, along_d) = (b.dot(c), b.dot(d));
    let (c_off, d_off) = (c - b * (along_c / squared), d - b * (along_d / squared));
    let normal = c_off - d_off;
    let scale = 1.0 / normal.length_squared().sqrt();
    let h = normal.dot(c_off).min(-normal.dot(d_off)) * scale;
    let length = squared.sqrt();
    let far = along_c.max(along_d).max(squared - along_c.min(along_d)) / length;
    certain(h).min(certain(length * h / (h + far)))
}

/// Two segments: the gap along the line between their closest points, as far as
/// rounding finds them.
fn outer_edges(e: [DVec3; 2], f: [DVec3; 2], room: f64) -> f64 {
    let along = |axis: DVec3| {
        let (far, near) = (
            axis.dot(e[0]).max(axis.dot(e[1])),
            axis.dot(f[0]).min(axis.dot(f[1])),
        );
        certain((near - far) / axis.length_squared().sqrt() - room)
    };
    let (u, v, w) = (e[1] - e[0], f[1] - f[0], e[0] - f[0]);
    let (uu, vv, uv, uw, vw) = (u.dot(u), v.dot(v), u.dot(v), u.dot(w), v.dot(w));
    let clamped = |x: f64| if x > 0.0 { x.min(1.0) } else { 0.0 };
    let s = clamped((uv * vw - vv * uw) / (uu * vv - uv * uv));
    let t = clamped((uv * s + vw) / vv);
    let s = clamped((uv * t - uw) / uu);
    along(f[0] + v * t - (e[0] + u * s))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fracas_geometry::testing::Rng;
    use glam::Vec3;

    /// A point of the triangle.
    fn sample(t: &[DVec3], rng: &mut Rng) -> DVec3 {
        let mut w: Vec<f64> = t.iter().map(|_| f64::from(rng.unit())).collect();
        if w.len() > 1 && rng.below(2) == 0 {
            let zero = rng.below(w.len());
            w[zero] = 0.0;
        }
        let sum: f64 = w.iter().sum::<f64>().max(1e-9);
        t.iter().zip(&w).map(|(p, w)| *p * (w / sum)).sum()
    }

    /// No pair of sampled points of features that share no vertex is closer than the
    /// bound; and the bound is not idle.
    #[test]
    fn margins_are_below_the_distance_of_all_features() {
        let mut rng = Rng(5);
        let mut useful = [0; 3];
        for round in 0..6000 {
            let mut point = || rng.in_box(-Vec3::ONE, Vec3::ONE).as_dvec3();
            let flat = round % 5 == 0;
            let mut v: Vec<DVec3> = (0..6).map(|_| point()).collect();
            if flat {
                v.iter_mut().for_each(|p| p.z = 0.0);
            }
            let shared = round % 3;
            let (p, q) = match shared {
                0 => ([0, 1, 2], [3, 4, 5]),
                1 => ([0, 1, 2], [0, 3, 4]),
                _ => ([0, 1, 2], [1, 0, 3]),
            };
            let at = |t: [usize; 3]| t.map(|i| v[i]);
            let margin = match shared {
                0 => disjoint(at(p), at(q), 10.0),
                1 => at_corner(at(p), at(q), 10.0),
                _ => at_edge(v[0], v[1], v[2], v[3], [10.0, 0.0, 0.05][round / 3 % 3]),
            };
            useful[shared] += usize::from(margin > 0.01);
            let features = |t: [usize; 3]| {
                [
                    vec![t[0]],
                    vec![t[1]],
                    vec![t[2]],
                    vec![t[0], t[1]],
                    vec![t[1], t[2]],
                    vec![t[2], t[0]],
                    t.to_vec(),
                ]
            };
            for a in features(p) {
                for b in features(q) {
                    // Vertex and face, face and vertex, edge and edge.
                    let tested = a.len() + b.len() == 4;
                    if !tested || a.iter().any(|i| b.contains(i)) {
                        continue;
                    }
                    let spots = |f: &[usize]| f.iter().map(|&i| v[i]).collect::<Vec<_>>();
                    let (a, b) = (spots(&a), spots(&b));
                    for _ in 0..4 {
                        let (x, y) = (sample(&a, &mut rng), sample(&b, &mut rng));
                        assert!(x.distance(y) >= margin, "{round}: {margin}");
                    }
                }
            }
        }
        assert!(useful.iter().all(|&n| n > 300), "{useful:?}");
    }

    #[test]
    fn the_gap_of_outer_edges_is_their_distance() {
        let mut rng = Rng(6);
        for _ in 0..2000 {
            let mut point = || rng.in_box(-Vec3::ONE, Vec3::ONE).as_dvec3();
            let (e, f) = ([point(), point()], [point(), point()]);
            let exact = fracas_geometry::primitives::closest_features::edge_edge(e, f);
            let exact = exact.apart.length();
            let found = outer_edges(e, f, 0.0);
            assert!(found <= exact + 1e-12 && found >= 0.0);
            // The step to the closest points is done once: mostly that is enough.
            assert!(found > 0.0 || exact < 0.5);
        }
        // Ends, and insides, in places known by hand.
        let [o, x, y, z] = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z];
        for (e, f, gap) in [
            ([o, x], [x * 0.25 + z + y, x * 0.25 + z - y], 1.0),
            ([o, x * 2.0], [x * 5.0 + y * 4.0, x * 5.0 + y * 8.0], 5.0),
            ([o, x * 2.0], [x * 5.0 - y * 4.0, x * 5.0 + y * 8.0], 3.0),
            ([x * 2.0, o], [x * -3.0 + y * 4.0, x * -6.0 + y * 8.0], 5.0),
            ([o, y], [x * 2.0 + z * 3.0, x * 2.0 - z + y * 0.5], 2.0),
        ] {
            for (e, f) in [(e, f), ([e[1], e[0]], f), (e, [f[1], f[0]]), (f, e)] {
                let found = outer_edges(e, f, 0.0);
                assert!((found - gap).abs() < 1e-12, "{e:?} {f:?}: {found} of {gap}");
            }
        }
    }

    #[test]
    fn margins_of_triangles_set_by_hand_are_their_gaps() {
        let [o, x, y, z] = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z];
        let close = |found: f64, want: f64| assert!((found - want).abs() < 1e-9, "{found}");
        // One above the other; beside each other; across.
        let low = [o, x, y];
        close(disjoint(low, low.map(|p| p + z * 0.3), 9.0), 0.3);
        close(disjoint(low, low.map(|p| p - z * 0.2), 9.0), 0.2);
        close(disjoint(low, low.map(|p| p + x * 1.5), 9.0), 0.5);
        close(disjoint(low, low.map(|p| -p - y * 0.25), 9.0), 0.25);
        // At a corner, as wide as the sides that are nearest to the plane.
        let wedge = |s: f64| [o, x * s + y, x * s - y];
        close(at_corner(wedge(1.0), wedge(-1.0), 9.0), 1.0);
        close(at_corner(wedge(0.5), wedge(-0.5), 9.0), 0.5);
        close(at_corner(wedge(1.0), wedge(1.0), 9.0), 0.0);
        // Over an edge: flat, folded square, folded flat.
        let at_edge = |a, b, c, d| at_edge(a, b, c, d, 9.0);
        close(at_edge(o, x, y, -y), 0.0_f64.max(at_edge(o, x, y, -y)));
        // The first look alone: one plane.
        close(plane_at_edge([x, y, -y], 1.0), 0.5);
        close(plane_at_edge([x, y, y * 0.5], 1.0), 0.0);
        assert!(at_edge(o, x, y + x * 0.5, -y + x * 0.5) > 0.5);
        assert!(at_edge(o, x, y + x * 0.5, z + x * 0.5) > 0.5);
        close(at_edge(o, x, y, y), 0.0);
    }

    #[test]
    fn degenerate_triangles_have_no_margin() {
        let o = DVec3::ZERO;
        assert_eq!(disjoint([o; 3], [o; 3], 1.0), 0.0);
        assert_eq!(at_corner([o; 3], [o; 3], 1.0), 0.0);
        for enough in [0.0, 1.0] {
            assert_eq!(at_edge(o, o, DVec3::X, DVec3::Y, enough), 0.0);
            assert_eq!(at_edge(o, DVec3::X, DVec3::Y, DVec3::Y, enough), 0.0);
        }
    }
}
