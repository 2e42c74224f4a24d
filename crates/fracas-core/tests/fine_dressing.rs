//! Fragments in fine surfaces, seen as a stranger would: triangles with corners.

use std::collections::HashMap;
use std::sync::Arc;

use glam::{DVec3, Vec3};

use fracas_core::dressing::{Dressed, FacePoint, FineBoundary, FinePoint, FineSurface};
use fracas_core::testing::{Rng, box_grid, break_at_random, open_sides};
use fracas_core::{FragmentId, Fragments, TetMesh};

/// A surface given by where each point of the flat one goes.
struct Moved<F: Fn(DVec3) -> DVec3>(F);

impl<F: Fn(DVec3) -> DVec3> FineSurface for Moved<F> {
    fn part_of(&self, nodes: [u32; 3]) -> u32 {
        // Any parting will do: only normals depend on it.
        nodes[0] % 2
    }

    fn place(&self, point: &FacePoint) -> FinePoint {
        FinePoint {
            position: (self.0)(point.flat),
            normal: Vec3::Z,
        }
    }
}

fn corners(dressed: &Dressed) -> Vec<[Vec3; 3]> {
    let at = |v: u32| dressed.positions[v as usize];
    dressed.triangles.iter().map(|t| t.map(at)).collect()
}

fn volume<'a>(triangles: impl Iterator<Item = &'a [DVec3; 3]>) -> f64 {
    triangles.map(|[a, b, c]| a.dot(b.cross(*c)) / 6.0).sum()
}

fn area<'a>(triangles: impl Iterator<Item = &'a [DVec3; 3]>) -> f64 {
    triangles
        .map(|[a, b, c]| 0.5 * (b - a).cross(c - a).length())
        .sum()
}

/// Breaks a mesh and looks at all pieces; returns by how much their volumes miss that of
/// the surface, as a share.
fn check(mesh: &Arc<TetMesh>, fine: &FineBoundary, seed: u64, times: usize, what: &str) -> f64 {
    let whole = fine.triangles();
    assert_eq!(whole.len(), fine.triangle_count());
    let mut fragments = Fragments::new(mesh.clone());
    let unbroken = fine.dress(&fragments, FragmentId(0));
    assert_eq!(unbroken.triangles.len(), whole.len());
    assert_eq!(unbroken.outer_triangles, whole.len());
    let open = open_sides(&corners(&unbroken));
    assert!(open.is_empty(), "{what}, unbroken");
    break_at_random(&mut fragments, &mut Rng(seed), times, 0.06);
    let (mut sum_area, mut sum_volume, mut cut) = (0.0, 0.0, 0);
    let mut crack_faces: HashMap<[[u32; 3]; 3], u32> = HashMap::new();
    for id in fragments.living() {
        let dressed = fine.dress(&fragments, id);
        let all = corners(&dressed);
        for t in &all[dressed.outer_triangles..] {
            let mut t = t.map(|p| (p + Vec3::ZERO).to_array().map(f32::to_bits));
            t.sort_unstable();
            *crack_faces.entry(t).or_default() += 1;
        }
        assert!(open_sides(&all).is_empty(), "{what}, seed {seed}, {id}");
        let exact: Vec<[DVec3; 3]> = all.iter().map(|t| t.map(|p| p.as_dvec3())).collect();
        sum_volume += volume(exact.iter());
        sum_area += area(exact[..dressed.outer_triangles].iter());
        cut += dressed.outer_triangles;
        assert_eq!(dressed.normals.len(), dressed.positions.len());
        let unit = |n: &Vec3| (n.length() - 1.0).abs() < 1e-5;
        assert!(dressed.normals.iter().all(unit), "{what}, seed {seed}");
    }
    assert!(cut > whole.len(), "{what}: no small triangle was cut");
    let single = crack_faces.values().filter(|&&n| n != 2).count();
    let of = crack_faces.len();
    assert_eq!(single, 0, "{what}, seed {seed}: of {of} crack faces");
    let wanted = area(whole.iter());
    assert!(
        (sum_area / wanted - 1.0).abs() < 1e-6,
        "{what}, seed {seed}: area {sum_area} of {wanted}"
    );
    (sum_volume / volume(whole.iter()) - 1.0).abs()
}

#[test]
fn pieces_in_a_round_surface_are_closed_and_cover_it() {
    let mesh = Arc::new(box_grid([4; 3], Vec3::ONE));
    let round = Moved(|p: DVec3| {
        let q = p - 0.5;
        let by = 0.04 * libm::sin(9.0 * q.x + 5.0 * q.y) * libm::cos(7.0 * q.z - 3.0 * q.y);
        p + q.normalize() * by
    });
    for divisions in 1..=5 {
        let fine = FineBoundary::build(&mesh, divisions, &round);
        for seed in 0..8 {
            let missing = check(&mesh, &fine, seed, 20, "waves");
            println!("waves {divisions} {seed}: {missing:.2e}");
            assert!(missing < 1e-6, "{divisions}, seed {seed}: {missing:e}");
        }
    }
}

#[test]
fn a_wall_thinner_than_its_edges_is_no_harder() {
    // Edges of 1/8, a wall of 1/40, bent by more than its thickness.
    let mesh = Arc::new(box_grid([8, 8, 1], Vec3::new(1.0, 1.0, 0.025)));
    let bent = Moved(|p: DVec3| p + DVec3::Z * 0.08 * libm::sin(5.0 * p.x) * libm::cos(4.0 * p.y));
    let fine = FineBoundary::build(&mesh, 4, &bent);
    for seed in 0..12 {
        let missing = check(&mesh, &fine, seed, 16, "wall");
        println!("wall {seed}: {missing:.2e}");
        assert!(missing < 1e-6, "seed {seed}: {missing:e}");
    }
}

#[test]
fn a_flat_surface_stays_what_it_is() {
    let mesh = Arc::new(box_grid([3, 4, 5], Vec3::ONE));
    let fine = FineBoundary::build(&mesh, 3, &Moved(|p| p));
    for seed in 0..8 {
        let missing = check(&mesh, &fine, seed, 30, "flat");
        assert!(missing < 1e-6, "seed {seed}: {missing:e}");
    }
}
