//! Fragments in their skins, seen as a stranger would: triangles with corners.

use std::collections::HashMap;
use std::sync::Arc;

use glam::{DVec3, Vec3};

use fracas_core::dressing::{Dress, SkinMap, SkinMapError};
use fracas_core::testing::{Rng, box_grid, break_at_random, cube_skin, open_sides};
use fracas_core::{FragmentId, Fragments, TetMesh};

/// All triangles of a dress.
fn shown(dress: &Dress, positions: &[DVec3], triangles: &[[u32; 3]]) -> Vec<[Vec3; 3]> {
    let whole = dress
        .whole
        .iter()
        .map(|&t| triangles[t as usize].map(|v| positions[v as usize].as_vec3()));
    let cut = dress.cut.iter().map(|f| f.corners.map(|c| c.position));
    let cracks = dress.cracks.iter().map(|f| f.corners);
    whole.chain(cut).chain(cracks).collect()
}

fn volume(triangles: &[[Vec3; 3]]) -> f64 {
    triangles
        .iter()
        .map(|t| {
            let [a, b, c] = t.map(Vec3::as_dvec3);
            a.dot(b.cross(c)) / 6.0
        })
        .sum()
}

fn area(triangles: impl Iterator<Item = [DVec3; 3]>) -> f64 {
    triangles
        .map(|[a, b, c]| 0.5 * (b - a).cross(c - a).length())
        .sum()
}

fn check(mesh: &Arc<TetMesh>, positions: &[DVec3], triangles: &[[u32; 3]], seed: u64, what: &str) {
    let map = SkinMap::build(mesh, positions, triangles).unwrap();
    assert_eq!(map.fit().samples_outside, 0, "{what}: {:?}", map.fit());
    assert_eq!(map.fit().solids, 1, "{what}");
    let corners = |t: &[u32; 3]| t.map(|v| positions[v as usize]);
    let wanted_area = area(triangles.iter().map(corners));
    let single: Vec<[Vec3; 3]> = triangles
        .iter()
        .map(|t| corners(t).map(|p| p.as_vec3()))
        .collect();
    let wanted_volume = volume(&single);
    let mut fragments = Fragments::new(mesh.clone());
    let unbroken = map.dress(&fragments, FragmentId(0));
    assert_eq!(unbroken.whole.len(), triangles.len());
    break_at_random(&mut fragments, &mut Rng(seed), 14, 0.03);
    let (mut sum_area, mut sum_volume) = (0.0, 0.0);
    let mut faces: HashMap<[[u32; 3]; 3], usize> = HashMap::new();
    for id in fragments.living() {
        let dress = map.dress(&fragments, id);
        for face in &dress.cracks {
            let mut corners = face.corners.map(|p| p.to_array().map(f32::to_bits));
            corners.sort_unstable();
            *faces.entry(corners).or_default() += 1;
        }
        let all = shown(&dress, positions, triangles);
        let open = open_sides(&all);
        assert!(
            open.is_empty(),
            "{what}, seed {seed}, {id}: {} open sides, {:?}",
            open.len(),
            &open[..open.len().min(4)]
        );
        sum_volume += volume(&all);
        let cut = dress
            .cut
            .iter()
            .map(|f| f.corners.map(|c| c.position.as_dvec3()));
        sum_area += area(cut.chain(dress.whole.iter().map(|&t| corners(&triangles[t as usize]))));
        for face in &dress.cut {
            let given = corners(&triangles[face.triangle as usize]);
            for corner in face.corners {
                let again: DVec3 = (0..3)
                    .map(|k| given[k] * f64::from(corner.weights[k]))
                    .sum();
                assert!(again.distance(corner.position.as_dvec3()) < 1e-6);
            }
        }
    }
    // Pieces fit: each crack face has its like on the other side.
    let single = faces.values().filter(|&&n| n % 2 != 0).count();
    assert!(
        single == 0 && faces.len() > 100,
        "{what}, seed {seed}: {single} of {} crack faces are on one side only",
        faces.len()
    );
    assert!(
        (sum_area / wanted_area - 1.0).abs() < 1e-6,
        "{what}, seed {seed}: area {sum_area} of {wanted_area}"
    );
    assert!(
        (sum_volume / wanted_volume - 1.0).abs() < 1e-6,
        "{what}, seed {seed}: volume {sum_volume} of {wanted_volume}"
    );
}

#[test]
fn a_cube_in_its_own_twelve_triangles_falls_into_closed_pieces() {
    let mesh = Arc::new(box_grid([4; 3], Vec3::ONE));
    let (positions, triangles) = cube_skin(1, |p| p);
    for seed in 0..8 {
        check(&mesh, &positions, &triangles, seed, "cube");
    }
}

#[test]
fn a_finer_skin_that_bulges_in_and_out_is_closed_too() {
    let mesh = Arc::new(box_grid([4; 3], Vec3::ONE));
    // Waves of 3% that are partly inside and partly outside the tetrahedra.
    let wave = |p: DVec3| {
        let q = p - 0.5;
        let by = 0.03 * libm::sin(9.0 * q.x + 5.0 * q.y) * libm::cos(7.0 * q.z - 3.0 * q.y);
        p + q.normalize() * by
    };
    let (positions, triangles) = cube_skin(17, wave);
    for seed in 0..8 {
        check(&mesh, &positions, &triangles, seed, "waves");
    }
}

#[test]
fn a_skin_far_inside_and_with_a_hollow_is_closed() {
    let mesh = Arc::new(box_grid([5; 3], Vec3::ONE));
    let (mut positions, mut triangles) = cube_skin(6, |p| 0.5 + (p - 0.5) * 0.93);
    let (inner, turned) = cube_skin(3, |p| 0.5 + (p - 0.5) * 0.4);
    let first = positions.len() as u32;
    positions.extend(inner);
    triangles.extend(turned.iter().map(|t| [t[0], t[2], t[1]].map(|v| v + first)));
    for seed in 0..6 {
        check(&mesh, &positions, &triangles, seed, "hollow");
    }
}

/// A ball of tetrahedra: a box with its shells made round.
fn ball(n: u32) -> TetMesh {
    let grid = box_grid([n; 3], Vec3::splat(2.0));
    let round = |p: &Vec3| {
        let q = *p - Vec3::ONE;
        // Corners of the box stay a little, so that no tetrahedron becomes flat.
        let far = q.abs().max_element() / q.length().max(1e-6);
        q * (0.3 + 0.7 * far)
    };
    let places = grid.positions().iter().map(round).collect();
    TetMesh::build(places, grid.tets().to_vec()).unwrap()
}

#[test]
fn round_skins_with_bumps_are_closed() {
    // Between its vertices, which the cage holds, a triangle may leave the cage over a hollow.
    let mesh = Arc::new(ball(8));
    for (n, height) in [(9, 0.03), (20, 0.04)] {
        let bump = |p: DVec3| {
            let q = 2.0 * p - 1.0;
            let direction = q.normalize();
            let far = q.abs().max_element() / q.length();
            let shell = q * (0.3 + 0.7 * far);
            let [x, y, z] = [9.0 * direction.x, 8.0 * direction.y, 7.0 * direction.z];
            shell * (1.0 + height * libm::sin(x) * libm::sin(y) * libm::cos(z))
        };
        let (positions, triangles) = cube_skin(n, bump);
        for seed in 0..6 {
            check(&mesh, &positions, &triangles, seed, "bumps");
        }
    }
}

/// Sheets that cross the tetrahedra anyhow and leave them far behind: each triangle is still
/// some fragment's, once.
#[test]
fn skins_that_leave_the_tetrahedra_are_covered_once() {
    let mesh = Arc::new(box_grid([4, 4, 4], Vec3::ONE));
    for seed in 0..20 {
        // The last ones a hundred times as wide as the tetrahedra.
        let far = if seed < 15 { 0.7 } else { 50.0 };
        let mut rng = Rng(100 + seed);
        let mut point = || {
            rng.in_box(Vec3::splat(-far), Vec3::splat(1.0 + far))
                .as_dvec3()
        };
        let positions: Vec<DVec3> = (0..30).map(|_| point()).collect();
        let triangles: Vec<[u32; 3]> = (0..10).map(|i| [3 * i, 3 * i + 1, 3 * i + 2]).collect();
        let map = SkinMap::build(&mesh, &positions, &triangles).unwrap();
        let mut fragments = Fragments::new(mesh.clone());
        break_at_random(&mut fragments, &mut Rng(seed), 14, 0.03);
        let wanted = area(triangles.iter().map(|t| t.map(|v| positions[v as usize])));
        let found: f64 = fragments
            .living()
            .map(|id| {
                let dress = map.dress(&fragments, id);
                let faces = shown(&dress, &positions, &triangles);
                let skin = faces.len() - dress.cracks.len();
                area(faces[..skin].iter().map(|t| t.map(Vec3::as_dvec3)))
            })
            .sum();
        assert!(
            (found / wanted - 1.0).abs() < 1e-6,
            "seed {seed}: {found} of {wanted}"
        );
    }
}

#[test]
fn open_skins_are_dressed_and_nonsense_is_refused() {
    let mesh = Arc::new(box_grid([3; 3], Vec3::ONE));
    let (positions, mut triangles) = cube_skin(3, |p| p);
    triangles.truncate(triangles.len() - 5);
    // A triangle without area, and one far away.
    triangles.push([0, 1, 1]);
    let map = SkinMap::build(&mesh, &positions, &triangles).unwrap();
    assert_eq!(map.fit().open_triangles, triangles.len());
    let mut fragments = Fragments::new(mesh.clone());
    break_at_random(&mut fragments, &mut Rng(3), 6, 0.0);
    let (mut covered, mut cracks) = (0.0, 0);
    for id in fragments.living() {
        let dress = map.dress(&fragments, id);
        cracks += dress.cracks.len();
        let cut = dress
            .cut
            .iter()
            .map(|f| f.corners.map(|c| c.position.as_dvec3()));
        let whole = dress
            .whole
            .iter()
            .map(|&t| triangles[t as usize].map(|v| positions[v as usize]));
        covered += area(cut.chain(whole));
    }
    let wanted = area(triangles.iter().map(|t| t.map(|v| positions[v as usize])));
    assert!((covered / wanted - 1.0).abs() < 1e-6 && cracks > 10);
    assert_eq!(
        SkinMap::build(&mesh, &positions, &[]).unwrap_err(),
        SkinMapError::Empty
    );
    let bad = SkinMap::build(&mesh, &[DVec3::NAN; 3], &[[0, 1, 2]]);
    assert!(matches!(
        bad,
        Err(SkinMapError::NotFinite { vertex: 0, .. })
    ));
    let bad = SkinMap::build(&mesh, &positions, &[[0, 1, 9999]]);
    assert!(matches!(
        bad,
        Err(SkinMapError::VertexOutOfRange { vertex: 9999, .. })
    ));
}
