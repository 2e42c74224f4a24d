//! Which pieces were neighbours, and how large the crack between them is.

use std::collections::BTreeMap;

use fracas_core::FragmentId;
use fracas_core::fragment_surface::FragmentSurface;
use glam::{DVec2, DVec3, Vec3};

/// Two pieces that were one at a crack.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SharedArea {
    /// The pieces, the lower first.
    pub pieces: [FragmentId; 2],
    /// Area of the crack between them, one side.
    pub area: f64,
}

/// Which pieces were neighbours, and how large the crack between them is: in each cut
/// tetrahedron the crack faces of one piece are laid over those of the others on the same
/// plane. In order of the pieces.
#[must_use]
pub fn shared_areas(pieces: &[(FragmentId, &FragmentSurface)]) -> Vec<SharedArea> {
    type Face = (FragmentId, [DVec3; 3]);
    let mut faces: BTreeMap<(u32, u8), Vec<Face>> = BTreeMap::new();
    for &(id, surface) in pieces {
        for t in surface.outer_triangles()..surface.triangles().len() {
            let corners = surface.corners(t).map(Vec3::as_dvec3);
            let plane = (surface.tet(t), surface.side(t));
            faces.entry(plane).or_default().push((id, corners));
        }
    }
    let mut areas: BTreeMap<[FragmentId; 2], f64> = BTreeMap::new();
    for group in faces.values() {
        for (i, (a, first)) in group.iter().enumerate() {
            for (b, second) in &group[i + 1..] {
                // The two sides of a crack look at each other.
                if a == b || normal(first).dot(normal(second)) > 0.0 {
                    continue;
                }
                let area = overlap(first, second);
                if area > 0.0 {
                    *areas.entry([*a.min(b), *a.max(b)]).or_default() += area;
                }
            }
        }
    }
    areas
        .into_iter()
        .map(|(pieces, area)| SharedArea { pieces, area })
        .collect()
}

fn normal(triangle: &[DVec3; 3]) -> DVec3 {
    let [a, b, c] = *triangle;
    (b - a).cross(c - a)
}

/// The area that two triangles of one plane have in common: the second is clipped by the
/// sides of the first, seen along the axis that the plane faces most.
fn overlap(first: &[DVec3; 3], second: &[DVec3; 3]) -> f64 {
    let across = normal(first);
    let size = across.abs();
    let (drop, along) = if size.x >= size.y && size.x >= size.z {
        (0, size.x)
    } else if size.y >= size.z {
        (1, size.y)
    } else {
        (2, size.z)
    };
    if along == 0.0 {
        return 0.0;
    }
    let flat = |p: DVec3| match drop {
        0 => DVec2::new(p.y, p.z),
        1 => DVec2::new(p.z, p.x),
        _ => DVec2::new(p.x, p.y),
    };
    let mut clip = first.map(flat);
    if (clip[1] - clip[0]).perp_dot(clip[2] - clip[0]) < 0.0 {
        clip.swap(1, 2);
    }
    let mut polygon: Vec<DVec2> = second.iter().map(|&p| flat(p)).collect();
    for side in 0..3 {
        let (from, to) = (clip[side], clip[(side + 1) % 3]);
        let inside = |p: DVec2| (to - from).perp_dot(p - from);
        let before = std::mem::take(&mut polygon);
        for (i, &p) in before.iter().enumerate() {
            let q = before[(i + 1) % before.len()];
            let (at_p, at_q) = (inside(p), inside(q));
            if at_p >= 0.0 {
                polygon.push(p);
            }
            if (at_p > 0.0 && at_q < 0.0) || (at_p < 0.0 && at_q > 0.0) {
                polygon.push(p + (q - p) * (at_p / (at_p - at_q)));
            }
        }
        if polygon.len() < 3 {
            return 0.0;
        }
    }
    let origin = polygon[0];
    let twice: f64 = polygon
        .windows(2)
        .map(|pair| (pair[0] - origin).perp_dot(pair[1] - origin))
        .sum();
    // Back from the shadow to the plane.
    0.5 * twice.abs() * across.length() / along
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use fracas_core::Fragments;
    use fracas_core::fragment_surface::SurfaceScratch;

    use super::super::{ShatterOptions, plan};
    use super::*;

    #[test]
    fn cracks_between_neighbours_add_up_to_all_cracks() {
        let mesh = Arc::new(crate::shapes::by_name("bowl").unwrap().build());
        let mut fragments = Fragments::new(mesh);
        let options = ShatterOptions::default();
        let plan = plan(&fragments, FragmentId(0), None, &options, &mut |_| ()).unwrap();
        let split = fragments.apply(&plan.fracture).unwrap();
        let mut scratch = SurfaceScratch::default();
        let surfaces: Vec<FragmentSurface> = split
            .children
            .iter()
            .map(|&id| FragmentSurface::extract(&fragments, id, &mut scratch))
            .collect();
        let pieces: Vec<_> = split.children.iter().copied().zip(&surfaces).collect();
        let shared = shared_areas(&pieces);
        assert!(shared.is_sorted_by_key(|s| s.pieces));
        for (id, surface) in pieces {
            let cracks: f64 = (surface.outer_triangles()..surface.triangles().len())
                .map(|t| 0.5 * normal(&surface.corners(t).map(Vec3::as_dvec3)).length())
                .sum();
            let told = shared.iter().filter(|s| s.pieces.contains(&id));
            let told: f64 = told.map(|s| s.area).sum();
            assert!(
                (told / cracks - 1.0).abs() < 1e-3,
                "{id}: {told} of {cracks}"
            );
        }
    }
}
