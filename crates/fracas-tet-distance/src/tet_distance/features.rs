//! Boundary features: how far a node is from a triangle, and from which part of it.
//!
//! A closed triangle contains its edges and corners, so a march that carries the
//! nearest *triangle* carries the nearest feature of any kind: which kind it is
//! follows from where the closest point falls, and is computed when asked.
//! [Marchal 2004, section 4.2]
//!
//! [`TriangleDistance`] is set up once for a triangle and asked for all neighbours
//! of a node: its divisions are shared by a dozen evaluations.
//!
//! Guarantee: evaluated in f32; the distance differs from the exact one by a few
//! units in the last place of the largest coordinate difference. Flat triangles
//! (needles, points) are answered by their edges.

use glam::Vec3;

/// The part of the boundary that is closest to a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feature {
    /// A boundary node.
    Vertex(u32),
    /// A boundary edge.
    Edge(u32, u32),
    /// The inside of a boundary triangle.
    Triangle(u32, u32, u32),
}

/// A triangle prepared for many distances.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TriangleDistance {
    corner: Vec3,
    /// The edges `b - a`, `c - a`, `c - b`.
    ab: Vec3,
    ac: Vec3,
    bc: Vec3,
    /// One over their squared lengths; 0 for an edge without length.
    per_ab: f32,
    per_ac: f32,
    per_bc: f32,
    /// Unit normal; zero for a flat triangle.
    normal: Vec3,
    /// Barycentric coordinates of `b` and `c` are `dot(to_b, p - a)` and `dot(to_c, p - a)`.
    to_b: Vec3,
    to_c: Vec3,
}

fn reciprocal(x: f32) -> f32 {
    let y = 1.0 / x;
    if y.is_finite() { y } else { 0.0 }
}

impl TriangleDistance {
    #[inline]
    pub fn new([a, b, c]: [Vec3; 3]) -> Self {
        let (ab, ac, bc) = (b - a, c - a, c - b);
        let cross = ab.cross(ac);
        let per_cross = reciprocal(cross.length_squared());
        Self {
            corner: a,
            ab,
            ac,
            bc,
            per_ab: reciprocal(ab.length_squared()),
            per_ac: reciprocal(ac.length_squared()),
            per_bc: reciprocal(bc.length_squared()),
            normal: cross * per_cross.sqrt(),
            to_b: ac.cross(cross) * per_cross,
            to_c: cross.cross(ab) * per_cross,
        }
    }

    /// Squared distance from `p` to the closed triangle, and whether the closest
    /// point lies inside it; infinite if the plane alone is farther than `limit`.
    #[inline(always)] // most calls end at the height
    pub fn squared_within(&self, p: Vec3, limit: f32) -> (f32, bool) {
        let ap = p - self.corner;
        let height = self.normal.dot(ap);
        let height_squared = height * height;
        if height_squared > limit {
            return (f32::INFINITY, false);
        }
        let (v, w) = (self.to_b.dot(ap), self.to_c.dot(ap));
        // Strict: a flat triangle has v = w = 0 and goes on to its edges.
        if v > 0.0 && w > 0.0 && v + w < 1.0 {
            return (height_squared, true);
        }
        (self.squared_to_edges(ap), false)
    }

    /// Squared distance from `corner + ap` to the nearest edge.
    fn squared_to_edges(&self, ap: Vec3) -> f32 {
        let to_edge = |from: Vec3, edge: Vec3, per: f32| {
            (from - edge * (from.dot(edge) * per).clamp(0.0, 1.0)).length_squared()
        };
        to_edge(ap, self.ab, self.per_ab)
            .min(to_edge(ap, self.ac, self.per_ac))
            .min(to_edge(ap - self.ab, self.bc, self.per_bc))
    }

    /// The closest point and the feature of the triangle `nodes` it lies on.
    pub fn closest(&self, nodes: [u32; 3], p: Vec3) -> (Vec3, Feature) {
        let ap = p - self.corner;
        let (v, w) = (self.to_b.dot(ap), self.to_c.dot(ap));
        let [a, b, c] = nodes;
        if v > 0.0 && w > 0.0 && v + w < 1.0 {
            let point = p - self.normal * self.normal.dot(ap);
            return (point, Feature::Triangle(a, b, c));
        }
        let b_corner = self.corner + self.ab;
        let edges = [
            (self.corner, self.ab, self.per_ab, [a, b]),
            (self.corner, self.ac, self.per_ac, [a, c]),
            (b_corner, self.bc, self.per_bc, [b, c]),
        ];
        let mut best = (f32::INFINITY, self.corner, Feature::Vertex(a));
        for (from, edge, per, [start, end]) in edges {
            let s = ((p - from).dot(edge) * per).clamp(0.0, 1.0);
            let point = from + edge * s;
            let squared = p.distance_squared(point);
            if squared < best.0 {
                let feature = match s {
                    0.0 => Feature::Vertex(start),
                    1.0 => Feature::Vertex(end),
                    _ => Feature::Edge(start, end),
                };
                best = (squared, point, feature);
            }
        }
        (best.1, best.2)
    }
}

#[cfg(test)]
mod tests {
    use super::super::reference::exact::exact_squared_distance;
    use super::*;
    use fracas_geometry::testing::Rng;

    #[test]
    fn agrees_with_f64_on_random_and_flat_triangles() {
        let mut rng = Rng(1);
        let (lo, hi) = (Vec3::splat(-1.0), Vec3::splat(1.0));
        for round in 0..20_000 {
            let a = rng.in_box(lo, hi);
            let b = rng.in_box(lo, hi);
            let c = match round % 5 {
                0 => a,
                1 => a + (b - a) * rng.range(-1.0, 2.0),
                _ => rng.in_box(lo, hi),
            };
            let b = if round % 35 == 0 { a } else { b };
            let p = rng.in_box(lo * 2.0, hi * 2.0);
            let frame = TriangleDistance::new([a, b, c]);
            let exact = exact_squared_distance(p, [a, b, c]).sqrt();
            let fast = f64::from(frame.squared_within(p, f32::INFINITY).0.sqrt());
            assert!(
                (fast - exact).abs() < 2e-6,
                "{a} {b} {c} {p}: {fast} {exact}"
            );
            let (point, _) = frame.closest([0, 1, 2], p);
            assert!((f64::from(point.distance(p)) - exact).abs() < 2e-6);
        }
    }

    #[test]
    fn names_the_feature() {
        let frame = TriangleDistance::new([Vec3::ZERO, Vec3::X, Vec3::Y]);
        let at = |x, y| frame.closest([7, 8, 9], Vec3::new(x, y, 1.0)).1;
        assert_eq!(at(0.2, 0.2), Feature::Triangle(7, 8, 9));
        assert_eq!(at(-1.0, -1.0), Feature::Vertex(7));
        assert_eq!(at(2.0, 0.0), Feature::Vertex(8));
        assert_eq!(at(0.5, -1.0), Feature::Edge(7, 8));
        assert_eq!(at(1.0, 1.0), Feature::Edge(8, 9));
    }

    #[test]
    fn nan_is_never_a_distance() {
        let frame = TriangleDistance::new([Vec3::NAN, Vec3::X, Vec3::Y]);
        assert!(
            frame.squared_within(Vec3::ONE, f32::INFINITY).0.is_nan()
                || frame.squared_within(Vec3::ONE, f32::INFINITY).0 >= 0.0
        );
    }
}
