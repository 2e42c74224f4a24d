//! Exact distance to a triangle, in f64.

use glam::Vec3;

/// Returns the squared distance from a point to a triangle in f64, by projection and clamping:
/// the reference that marches are measured against.
#[must_use]
pub fn exact_squared_distance(p: Vec3, triangle: [Vec3; 3]) -> f64 {
    let p = p.as_dvec3();
    let [a, b, c] = triangle.map(Vec3::as_dvec3);
    let normal = (b - a).cross(c - a);
    let squared_area = normal.length_squared();
    if squared_area > 0.0 {
        let inside =
            |from: glam::DVec3, to: glam::DVec3| (to - from).cross(p - from).dot(normal) >= 0.0;
        if inside(a, b) && inside(b, c) && inside(c, a) {
            let height = normal.dot(p - a);
            return height * height / squared_area;
        }
    }
    let to_edge = |from: glam::DVec3, to: glam::DVec3| {
        let edge = to - from;
        let length_squared = edge.length_squared();
        let s = if length_squared > 0.0 {
            ((p - from).dot(edge) / length_squared).clamp(0.0, 1.0)
        } else {
            0.0
        };
        p.distance_squared(from + edge * s)
    };
    to_edge(a, b).min(to_edge(b, c)).min(to_edge(c, a))
}
