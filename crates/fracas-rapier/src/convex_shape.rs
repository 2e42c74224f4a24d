//! Which unbroken objects are convex, and what shape of the engine's they are.
//!
//! What it is for: [`crate::convex`].

use fracas_core::FragmentSurface;
use glam::Vec3;
use parry3d::shape::{ConvexPolyhedron, Shape, SharedShape};

/// How far, as a share of its size, a body may be from convex: rounding.
const FLAT: f32 = 1e-4;
/// Planes of the surface that are looked at before a hull is made.
const PLANES: usize = 32;
/// The engine's contacts of bodies with more faces cost as much as ours.
const MOST_FACES: usize = 32;

/// A convex body as one of the engine's own shapes; `None` where it is not convex, or has
/// too many faces for the engine's contacts to be cheap.
pub(crate) fn of_surface(surface: &FragmentSurface, volume: f64) -> Option<SharedShape> {
    let (points, triangles) = (surface.positions(), surface.triangles());
    let (low, high) = surface.bounds();
    let slack = FLAT * (high - low).length();
    // Some planes first: hardly any body that is not convex gets past a few of them.
    let step = (triangles.len() / PLANES).max(1);
    let is_behind_all = triangles.iter().step_by(step).all(|triangle| {
        let [a, b, c] = triangle.map(|i| points[i as usize]);
        let Some(normal) = (b - a).cross(c - a).try_normalize() else {
            return true;
        };
        points.iter().all(|p| normal.dot(*p - a) <= slack)
    });
    if !is_behind_all {
        return None;
    }
    let hull = ConvexPolyhedron::from_convex_hull(points)?;
    // Rounding leaves points of edges among the corners, which have three faces.
    let corners = hull.points().iter().zip(hull.vertices());
    let corners = corners.filter(|(_, vertex)| vertex.num_adj_faces_or_edge > 2);
    let corners: Vec<Vec3> = corners.map(|(p, _)| *p).collect();
    let hull = ConvexPolyhedron::from_convex_hull(&corners)?;
    let hulls = f64::from(hull.mass_properties(1.0).mass());
    let is_it = (hulls - volume).abs() <= f64::from(FLAT) * volume;
    (is_it && hull.faces().len() <= MOST_FACES).then(|| SharedShape::new(hull))
}
