//! Faces, not only nodes, near the surface.
//!
//! With its nodes on a curved surface, a mesh cuts off a sagitta on every face: a
//! sphere loses 1.6% of its volume at a quarter of its radius. Moving each boundary
//! node out along its normal by three quarters of the mean deviation of its faces'
//! centroids makes the mean deviation of a face zero (over an equilateral triangle the
//! mean of a paraboloid's sagitta is 3/4 of that at the centroid), so the volume is
//! kept to higher order and the largest deviation falls as well.
//!
//! Flat faces do not deviate, so their nodes do not move; nodes on creases and corners
//! stay. A move is halved while it would leave a worse angle than [`KEEP`].

use glam::DVec3;

use super::domain::Domain;
use super::topology;
use super::work::{Pin, Work};

/// Fraction of the centroid's deviation by which nodes move.
const SHARE: f64 = 0.75;
/// Deviations larger than this part of a face's size are features that the mesh
/// does not resolve, not curvature.
const CURVATURE: f64 = 0.3;
/// Moves may not make an angle smaller than this, unless it was: the sine of 15 degrees.
const KEEP: f64 = 0.26;

/// Moves the boundary nodes.
pub(super) fn fit(work: &mut Work, domain: &dyn Domain) {
    let living: Vec<[u32; 4]> = (0..work.tets.len())
        .filter(|&t| work.alive[t])
        .map(|t| work.tets[t])
        .collect();
    let across = topology::neighbours(&living);
    let mut sums = vec![(DVec3::ZERO, 0.0_f64, 0.0_f64); work.positions.len()];
    for (face, _) in topology::boundary(&living, &across) {
        let [a, b, c] = face.map(|n| work.positions[n as usize]);
        let vector = (b - a).cross(c - a);
        let area = vector.length();
        let size = area.sqrt();
        let centroid = (a + b + c) / 3.0;
        let Some(closest) = domain.closest(centroid, CURVATURE * size) else {
            continue;
        };
        let deviation = (closest - centroid).dot(vector) / area;
        for n in face {
            let sum = &mut sums[n as usize];
            sum.0 += vector;
            sum.1 += area * deviation;
            sum.2 += area;
        }
    }
    for (node, (vector, deviation, area)) in sums.into_iter().enumerate() {
        if work.pins[node] != Pin::Surface || area <= 0.0 {
            continue;
        }
        let at = work.positions[node];
        let full = vector.normalize_or_zero() * (SHARE * deviation / area);
        let now = work.star_quality(node as u32, at, f64::NEG_INFINITY);
        let least = KEEP.min(now * 0.999);
        for part in [1.0, 0.5, 0.25] {
            let place = at + full * part;
            if work.star_quality(node as u32, place, least) > least {
                work.positions[node] = place;
                break;
            }
        }
    }
}
