//! Exact verdicts on tetrahedra and triangles, in integers: the oracle of
//! `tests/tet_distance.rs`.
//!
//! Corners are integers (an f32 with few bits scaled by a power of two is one), so
//! every vertex of the intersection is a quotient of integers, kept as numerator and
//! denominator: rational arithmetic without rounding. The method shares nothing with
//! the one under test: no separating planes, but the vertices of the intersection
//! itself.

/// A point with integer coordinates of at most [`LARGEST`].
pub type Point = [i64; 3];

/// The largest coordinate with which no product overflows.
pub const LARGEST: i64 = 1 << 11;

/// A half space `n . x <= d`.
type Half = ([i128; 3], i128);

fn cross(a: [i128; 3], b: [i128; 3]) -> [i128; 3] {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

fn dot(a: [i128; 3], b: [i128; 3]) -> i128 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn minus(a: Point, b: Point) -> [i128; 3] {
    [0, 1, 2].map(|k| i128::from(a[k] - b[k]))
}

fn wide(a: Point) -> [i128; 3] {
    a.map(i128::from)
}

/// The four half spaces whose intersection is the tetrahedron; `None` if it is flat.
fn halves(tet: &[Point; 4]) -> Option<[Half; 4]> {
    let mut out = [([0; 3], 0); 4];
    for i in 0..4 {
        let [a, b, c] = [1, 2, 3].map(|k| tet[(i + k) % 4]);
        let mut normal = cross(minus(b, a), minus(c, a));
        let side = dot(normal, minus(tet[i], a));
        if side == 0 {
            return None;
        }
        if side > 0 {
            normal = normal.map(|x| -x);
        }
        out[i] = (normal, dot(normal, wide(a)));
    }
    Some(out)
}

/// Whether a bounded intersection of half spaces has inner points: exactly if it
/// has vertices and no half space has all of them on its plane.
fn has_inside(halves: &[Half]) -> bool {
    let mut strict = vec![false; halves.len()];
    for i in 0..halves.len() {
        for j in i + 1..halves.len() {
            for k in j + 1..halves.len() {
                let [(a, da), (b, db), (c, dc)] = [halves[i], halves[j], halves[k]];
                let mut w = dot(a, cross(b, c));
                if w == 0 {
                    continue;
                }
                let (bc, ca, ab) = (cross(b, c), cross(c, a), cross(a, b));
                let mut x = [0, 1, 2].map(|m| da * bc[m] + db * ca[m] + dc * ab[m]);
                if w < 0 {
                    w = -w;
                    x = x.map(|v| -v);
                }
                // The vertex is x / w.
                if halves.iter().all(|(n, d)| dot(*n, x) <= d * w) {
                    for (s, (n, d)) in strict.iter_mut().zip(halves) {
                        *s |= dot(*n, x) < d * w;
                    }
                }
            }
        }
    }
    strict.iter().all(|s| *s)
}

/// Whether the interiors of two tetrahedra meet.
#[must_use]
pub fn tets_overlap(a: &[Point; 4], b: &[Point; 4]) -> bool {
    match (halves(a), halves(b)) {
        (Some(a), Some(b)) => has_inside(&[a, b].concat()),
        _ => false,
    }
}

/// Whether a point of the closed triangle lies strictly inside the tetrahedron: the
/// triangle is clipped to the tetrahedron's half spaces, in exact fractions.
#[must_use]
pub fn triangle_enters(triangle: &[Point; 3], tet: &[Point; 4]) -> bool {
    let Some(halves) = halves(tet) else {
        return false;
    };
    // Heights above each face's plane are linear over the triangle, so a strictly
    // inner point exists exactly if the polygon of points with all heights <= 0 has,
    // for each face, a vertex of height < 0. Its vertices are triangle corners,
    // crossings of edges with planes, and crossings of two planes with the triangle.
    let heights: Vec<[i128; 3]> = halves
        .iter()
        .map(|(n, d)| [0, 1, 2].map(|k| dot(*n, wide(triangle[k])) - d))
        .collect();
    // In barycentric coordinates (u, v, w), all three sides are half planes too.
    let mut lines: Vec<[i128; 3]> = heights;
    lines.extend([[-1, 0, 0], [0, -1, 0], [0, 0, -1]]);
    let mut strict = [false; 4];
    for i in 0..lines.len() {
        for j in i + 1..lines.len() {
            let mut at = cross(lines[i], lines[j]);
            let mut total: i128 = at.iter().sum();
            if total == 0 {
                continue;
            }
            if total < 0 {
                at = at.map(|x| -x);
                total = -total;
            }
            debug_assert!(total > 0);
            if lines.iter().all(|line| dot(*line, at) <= 0) {
                for (s, line) in strict.iter_mut().zip(&lines) {
                    *s |= dot(*line, at) < 0;
                }
            }
        }
    }
    strict.iter().all(|s| *s)
}
