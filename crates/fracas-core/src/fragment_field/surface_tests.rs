//! What is told of the surface near a point, held against the surface itself.

use super::tests::{ball, broken};
use super::*;
use crate::brute_force;
use crate::testing::{Rng, box_grid};
use crate::{FragmentSurface, SurfaceScratch};

/// The place that is told is on the surface, as far away as is told, and the normal leads from
/// it to the point; face and kind are those of a triangle that holds the place.
#[test]
fn the_nearest_place_lies_on_the_surface_and_leads_to_the_point() {
    let (mut rng, mut asked) = (Rng(79), 0);
    let mut scratch = SurfaceScratch::default();
    for (seed, mesh) in [(5, ball(6)), (6, Arc::new(box_grid([5, 4, 3], Vec3::ONE)))] {
        let (fragments, field) = broken(mesh, Propagation::ClosestFeature, seed, 10);
        for id in fragments.living() {
            let surface = FragmentSurface::extract(&fragments, id, &mut scratch);
            let distance = field.of(&fragments, id);
            let (low, high) = surface.bounds();
            let around = Vec3::splat(0.5 * field.edge());
            for _ in 0..60 {
                let p = rng.in_box(low - around, high + around);
                let exact = brute_force::closest(&surface, p).unwrap().distance;
                if exact < 1e-4 || brute_force::inside(&surface, p) {
                    continue;
                }
                let found = distance
                    .nearest(p, 10.0)
                    .expect("no surface is so far away");
                let off = brute_force::closest(&surface, found.point).unwrap();
                assert!(
                    off.distance < 2e-5,
                    "{id} {p}: {found:?} is {} off",
                    off.distance
                );
                let way = p - found.point;
                assert!(
                    (way.length() - found.distance).abs() < 2e-5,
                    "{id} {p}: {found:?}"
                );
                let error = found.normal * found.distance - way;
                assert!(error.length() < 4e-5, "{id} {p}: {found:?}");
                let holds = |t: usize| {
                    let at = found.point.as_dvec3();
                    let corners = surface.corners(t).map(Vec3::as_dvec3);
                    let on = brute_force::closest_on_triangle(at, corners).distance(at);
                    on < 1e-4
                        && surface.kind(t) == found.kind
                        && surface.normal(t).dot(found.face_normal) > 0.99
                };
                assert!(
                    (0..surface.triangles().len()).any(holds),
                    "{id} {p}: {found:?}"
                );
                asked += 1;
            }
        }
    }
    assert!(asked > 500, "{asked}");
}

#[test]
fn weights_of_a_point_in_a_tetrahedron_give_the_point() {
    let (mesh, mut rng) = (ball(4), Rng(83));
    for _ in 0..300 {
        let tet = rng.below(mesh.tets().len()) as u32;
        let mut weights = [0.0; 4].map(|_: f32| rng.unit() + 1e-3);
        let sum: f32 = weights.iter().sum();
        weights = weights.map(|w| w / sum);
        let corners = mesh.corners(tet);
        let p: Vec3 = (0..4).map(|i| corners[i] * weights[i]).sum();
        let found = FragmentField::barycentric(&mesh, tet, p);
        for (found, want) in found.into_iter().zip(weights) {
            assert!((found - want).abs() < 1e-4, "{found} of {want}");
        }
    }
}
