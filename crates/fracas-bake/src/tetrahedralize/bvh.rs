//! A tree of boxes over triangles in f64: closest point, segment hits, and the
//! moments from which [`super::winding`] computes winding numbers.
//!
//! Built once by median splits along the longest axis of the centroids; at most
//! [`LEAF`] triangles in a leaf. Degenerate triangles (a segment, a point) are
//! answered like others by the closest-point query and never hit by a segment.

use glam::DVec3;

const LEAF: usize = 4;

/// A node: its box, its children or triangles, and its moments.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub low: DVec3,
    pub high: DVec3,
    /// Leaf: first entry of `order`. Inner: index of the second child (the first follows).
    pub start: u32,
    /// Triangles of a leaf; 0 for an inner node.
    pub count: u32,
    /// Sum of area vectors (half the cross product).
    pub area_vector: DVec3,
    /// Area-weighted centre.
    pub centre: DVec3,
    /// Of the sphere round `centre` that holds all corners.
    pub radius: f64,
}

/// The tree.
#[derive(Clone, Debug)]
pub(crate) struct Bvh {
    pub nodes: Vec<Node>,
    /// Corners in tree order.
    pub corners: Vec<[DVec3; 3]>,
    /// Triangle of each entry.
    pub order: Vec<u32>,
}

/// The closest point of a surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Closest {
    pub point: DVec3,
    pub distance_squared: f64,
    /// Entry in tree order.
    pub entry: u32,
}

/// Where a segment meets a triangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Hit {
    /// Fraction of the segment.
    pub t: f64,
    /// Whether it leaves through the front (along the triangle's normal).
    pub outward: bool,
}

impl Bvh {
    pub(crate) fn build(positions: &[DVec3], triangles: &[[u32; 3]]) -> Self {
        let corners: Vec<[DVec3; 3]> = triangles
            .iter()
            .map(|t| t.map(|v| positions[v as usize]))
            .collect();
        let centroids: Vec<DVec3> = corners.iter().map(|[a, b, c]| (a + b + c) / 3.0).collect();
        let mut order: Vec<u32> = (0..triangles.len() as u32).collect();
        let mut tree = Self {
            nodes: Vec::with_capacity(triangles.len()),
            corners: Vec::new(),
            order: Vec::new(),
        };
        if !order.is_empty() {
            tree.split(&mut order, 0, &corners, &centroids);
        }
        tree.corners = order.iter().map(|&t| corners[t as usize]).collect();
        tree.order = order;
        tree
    }

    fn split(
        &mut self,
        order: &mut [u32],
        first: usize,
        corners: &[[DVec3; 3]],
        centroids: &[DVec3],
    ) {
        let index = self.nodes.len();
        self.nodes.push(summarise(order, first, corners));
        if order.len() <= LEAF {
            return;
        }
        let (mut low, mut high) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
        for &t in order.iter() {
            low = low.min(centroids[t as usize]);
            high = high.max(centroids[t as usize]);
        }
        let extent = high - low;
        let axis = (0..3).fold(0, |best, k| if extent[k] > extent[best] { k } else { best });
        let middle = order.len() / 2;
        order.select_nth_unstable_by(middle, |&a, &b| {
            centroids[a as usize][axis]
                .total_cmp(&centroids[b as usize][axis])
                .then(a.cmp(&b))
        });
        let (left, right) = order.split_at_mut(middle);
        self.split(left, first, corners, centroids);
        let second = self.nodes.len() as u32;
        self.split(right, first + middle, corners, centroids);
        self.nodes[index].start = second;
        self.nodes[index].count = 0;
    }

    /// The closest point, if it is nearer than `reach`.
    pub(super) fn closest(&self, p: DVec3, reach: f64) -> Option<Closest> {
        self.closest_where(p, reach, |_| true)
    }

    /// The closest point of the entries that `counts` takes, if it is nearer than `reach`.
    pub(crate) fn closest_where(
        &self,
        p: DVec3,
        reach: f64,
        counts: impl Fn(u32) -> bool,
    ) -> Option<Closest> {
        let mut best: Option<Closest> = None;
        let mut limit = reach * reach;
        let mut stack = Stack::default();
        stack.push(0, self.box_distance(0, p));
        while let Some((node, distance)) = stack.pop() {
            if distance >= limit {
                continue;
            }
            let n = &self.nodes[node as usize];
            if n.count == 0 {
                let (a, b) = (node + 1, n.start);
                let (da, db) = (self.box_distance(a, p), self.box_distance(b, p));
                if da < db {
                    stack.push(b, db);
                    stack.push(a, da);
                } else {
                    stack.push(a, da);
                    stack.push(b, db);
                }
                continue;
            }
            for entry in n.start..n.start + n.count {
                let point = closest_on_triangle(p, self.corners[entry as usize]);
                let d = point.distance_squared(p);
                if d < limit && counts(entry) {
                    limit = d;
                    best = Some(Closest {
                        point,
                        distance_squared: d,
                        entry,
                    });
                }
            }
        }
        best
    }

    fn box_distance(&self, node: u32, p: DVec3) -> f64 {
        let Some(n) = self.nodes.get(node as usize) else {
            return f64::INFINITY;
        };
        (n.low - p)
            .max(p - n.high)
            .max(DVec3::ZERO)
            .length_squared()
    }

    /// All triangles that the segment crosses, in the order of the tree.
    pub(super) fn hits(&self, a: DVec3, b: DVec3, hits: &mut Vec<Hit>) {
        hits.clear();
        let direction = b - a;
        let inverse = direction.recip();
        let mut stack = Stack::default();
        stack.push(0, 0.0);
        while let Some((node, _)) = stack.pop() {
            let Some(n) = self.nodes.get(node as usize) else {
                return;
            };
            if !segment_meets_box(a, direction, inverse, n.low, n.high) {
                continue;
            }
            if n.count == 0 {
                stack.push(n.start, 0.0);
                stack.push(node + 1, 0.0);
                continue;
            }
            for entry in n.start..n.start + n.count {
                hits.extend(segment_triangle(a, direction, self.corners[entry as usize]));
            }
        }
    }

    /// Unit normal of an entry's triangle; zero if it is degenerate.
    pub(crate) fn normal(&self, entry: u32) -> DVec3 {
        let [a, b, c] = self.corners[entry as usize];
        (b - a).cross(c - a).normalize_or_zero()
    }
}

fn summarise(order: &[u32], first: usize, corners: &[[DVec3; 3]]) -> Node {
    let (mut low, mut high) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
    let (mut area_vector, mut weighted, mut total) = (DVec3::ZERO, DVec3::ZERO, 0.0);
    for &t in order {
        let [a, b, c] = corners[t as usize];
        low = low.min(a).min(b).min(c);
        high = high.max(a).max(b).max(c);
        let vector = 0.5 * (b - a).cross(c - a);
        let area = vector.length();
        area_vector += vector;
        weighted += (a + b + c) * (area / 3.0);
        total += area;
    }
    let centre = if total > 0.0 {
        weighted / total
    } else {
        0.5 * (low + high)
    };
    let radius = order
        .iter()
        .flat_map(|&t| corners[t as usize])
        .map(|p| p.distance_squared(centre))
        .fold(0.0, f64::max)
        .sqrt();
    Node {
        low,
        high,
        start: first as u32,
        count: order.len() as u32,
        area_vector,
        centre,
        radius,
    }
}

/// A stack of nodes: a median tree over 2^32 triangles is never deeper than 64.
struct Stack {
    items: [(u32, f64); 64],
    length: usize,
}

impl Default for Stack {
    fn default() -> Self {
        Self {
            items: [(0, 0.0); 64],
            length: 0,
        }
    }
}

impl Stack {
    fn push(&mut self, node: u32, distance: f64) {
        self.items[self.length] = (node, distance);
        self.length += 1;
    }
    fn pop(&mut self) -> Option<(u32, f64)> {
        self.length = self.length.checked_sub(1)?;
        Some(self.items[self.length])
    }
}

fn segment_meets_box(a: DVec3, direction: DVec3, inverse: DVec3, low: DVec3, high: DVec3) -> bool {
    let (mut near, mut far) = (0.0_f64, 1.0_f64);
    for k in 0..3 {
        if direction[k] == 0.0 {
            if a[k] < low[k] || a[k] > high[k] {
                return false;
            }
            continue;
        }
        let (mut s, mut t) = ((low[k] - a[k]) * inverse[k], (high[k] - a[k]) * inverse[k]);
        if s > t {
            std::mem::swap(&mut s, &mut t);
        }
        near = near.max(s * (1.0 - 1e-15) - 1e-15);
        far = far.min(t * (1.0 + 1e-15) + 1e-15);
    }
    near <= far
}

/// Where the segment crosses a triangle (Moeller and Trumbore 1997), borders included.
fn segment_triangle(from: DVec3, direction: DVec3, [a, b, c]: [DVec3; 3]) -> Option<Hit> {
    let (e1, e2) = (b - a, c - a);
    let p = direction.cross(e2);
    let determinant = e1.dot(p);
    if determinant == 0.0 {
        return None;
    }
    let inverse = determinant.recip();
    let s = from - a;
    let u = s.dot(p) * inverse;
    let q = s.cross(e1);
    let v = direction.dot(q) * inverse;
    let t = e2.dot(q) * inverse;
    const SLACK: f64 = 1e-12;
    let inside = u >= -SLACK && v >= -SLACK && u + v <= 1.0 + SLACK && (0.0..=1.0).contains(&t);
    inside.then_some(Hit {
        t,
        outward: determinant < 0.0,
    })
}

/// The point of a triangle closest to `p` [Ericson 2005, section 5.1.5].
pub(super) fn closest_on_triangle(p: DVec3, [a, b, c]: [DVec3; 3]) -> DVec3 {
    let (ab, ac, ap) = (b - a, c - a, p - a);
    let (d1, d2) = (ab.dot(ap), ac.dot(ap));
    if d1 <= 0.0 && d2 <= 0.0 {
        return a;
    }
    let bp = p - b;
    let (d3, d4) = (ab.dot(bp), ac.dot(bp));
    if d3 >= 0.0 && d4 <= d3 {
        return b;
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 && d1 > d3 {
        return a + ab * (d1 / (d1 - d3));
    }
    let cp = p - c;
    let (d5, d6) = (ab.dot(cp), ac.dot(cp));
    if d6 >= 0.0 && d5 <= d6 {
        return c;
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 && d2 > d6 {
        return a + ac * (d2 / (d2 - d6));
    }
    let va = d3 * d6 - d5 * d4;
    if va <= 0.0 && d4 >= d3 && d5 >= d6 && (d4 - d3) + (d5 - d6) > 0.0 {
        return b + (c - b) * ((d4 - d3) / ((d4 - d3) + (d5 - d6)));
    }
    let sum = va + vb + vc;
    if sum > 0.0 {
        a + ab * (vb / sum) + ac * (vc / sum)
    } else {
        a
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A random number generator for tests.
    pub(in super::super) struct Random(pub u64);

    impl Random {
        pub(in super::super) fn unit(&mut self) -> f64 {
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 11) as f64 / (1_u64 << 53) as f64
        }
        pub(in super::super) fn point(&mut self) -> DVec3 {
            DVec3::new(self.unit(), self.unit(), self.unit())
        }
    }

    fn soup(random: &mut Random, count: usize) -> (Vec<DVec3>, Vec<[u32; 3]>) {
        let mut positions = Vec::new();
        let mut triangles = Vec::new();
        for i in 0..count as u32 {
            let centre = random.point();
            for _ in 0..3 {
                positions.push(centre + 0.2 * (random.point() - 0.5));
            }
            // Some degenerate ones: a segment, a point.
            triangles.push(match i % 17 {
                5 => [3 * i, 3 * i + 1, 3 * i],
                11 => [3 * i; 3],
                _ => [3 * i, 3 * i + 1, 3 * i + 2],
            });
        }
        (positions, triangles)
    }

    #[test]
    fn the_tree_finds_what_brute_force_finds() {
        let mut random = Random(3);
        for count in [1, 2, 5, 300] {
            let (positions, triangles) = soup(&mut random, count);
            let tree = Bvh::build(&positions, &triangles);
            let mut hits = Vec::new();
            for _ in 0..200 {
                let (p, q) = (random.point() * 1.4 - 0.2, random.point());
                let brute = tree
                    .corners
                    .iter()
                    .map(|&c| closest_on_triangle(p, c).distance_squared(p))
                    .fold(f64::INFINITY, f64::min);
                let found = tree.closest(p, f64::INFINITY).unwrap();
                assert_eq!(found.distance_squared, brute);
                assert!(tree.closest(p, brute.sqrt() * 0.999).is_none());
                tree.hits(p, q, &mut hits);
                let brute: Vec<Hit> = tree
                    .corners
                    .iter()
                    .filter_map(|&c| segment_triangle(p, q - p, c))
                    .collect();
                assert_eq!(hits, brute);
            }
        }
    }

    #[test]
    fn the_closest_point_is_no_farther_than_any_sample() {
        let mut random = Random(9);
        for _ in 0..300 {
            let corners = [random.point(), random.point(), random.point()];
            let p = random.point() * 3.0 - 1.0;
            let best = closest_on_triangle(p, corners).distance(p);
            for _ in 0..200 {
                let (mut u, mut v) = (random.unit(), random.unit());
                if u + v > 1.0 {
                    (u, v) = (1.0 - u, 1.0 - v);
                }
                let [a, b, c] = corners;
                let sample = a + (b - a) * u + (c - a) * v;
                assert!(best <= sample.distance(p) + 1e-12);
            }
        }
    }

    #[test]
    fn no_triangles_no_answer() {
        let tree = Bvh::build(&[], &[]);
        assert!(tree.closest(DVec3::ZERO, f64::INFINITY).is_none());
        let mut hits = Vec::new();
        tree.hits(DVec3::ZERO, DVec3::ONE, &mut hits);
        assert!(hits.is_empty());
    }
}
