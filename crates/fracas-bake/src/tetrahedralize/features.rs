//! Creases and corners of the input, and pulling the mesh onto them.

use glam::DVec3;

/// Where a node must stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pin {
    /// Anywhere.
    Free,
    /// On the surface.
    Surface,
    /// On a crease.
    Crease,
    /// Where it is.
    Corner,
}

/// The sharp edges of a surface.
#[derive(Clone, Debug, Default)]
pub(super) struct Creases {
    segments: Vec<[DVec3; 2]>,
}

impl Creases {
    /// The closest point on a crease within `reach`.
    pub(super) fn closest(&self, p: DVec3, reach: f64) -> Option<DVec3> {
        let mut best = (reach, None);
        for &[a, b] in &self.segments {
            let ab = b - a;
            let t = ((p - a).dot(ab) / ab.length_squared()).clamp(0.0, 1.0);
            let q = a + ab * t;
            if q.distance(p) < best.0 {
                best = (q.distance(p), Some(q));
            }
        }
        best.1
    }
}
