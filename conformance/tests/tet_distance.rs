//! Marchal 2004 against exact arithmetic and on public tet meshes.

use fracas_conformance::data;
use fracas_conformance::rational_tets::{LARGEST, Point, tets_overlap, triangle_enters};
use fracas_core::primitives::tet_tet::tet_tet_overlap;
use fracas_core::primitives::tri_tet::tri_tet_overlap;
use fracas_core::testing::Rng;
use fracas_tet_distance::unstable::exact_squared_distance;
use fracas_tet_distance::{DepthField, Method, Topology};
use glam::Vec3;

/// Random corners on a lattice: a coarse one makes touching and flat cases common.
fn lattice<const N: usize>(rng: &mut Rng, size: usize) -> [Point; N] {
    std::array::from_fn(|_| std::array::from_fn(|_| rng.below(size) as i64))
}

fn float<const N: usize>(points: &[Point; N], scale: f32) -> [Vec3; N] {
    points.map(|p| Vec3::from(p.map(|x| x as f32)) * scale)
}

const SIZES: [usize; 7] = [2, 3, 4, 6, 10, 40, LARGEST as usize];

#[test]
fn tetrahedra_agree_with_rational_arithmetic() {
    let mut rng = Rng(1);
    let (mut overlaps, mut count) = (0, 0);
    for size in SIZES {
        for _ in 0..6_000 {
            let a: [Point; 4] = lattice(&mut rng, size);
            let mut b: [Point; 4] = lattice(&mut rng, size);
            // Often with shared corners, as neighbours in a mesh have.
            for i in 0..rng.below(4) {
                b[i] = a[rng.below(4)];
            }
            let expected = tets_overlap(&a, &b);
            let verdict = tet_tet_overlap(float(&a, 1.0), float(&b, 1.0));
            assert_eq!(verdict, expected, "{a:?} {b:?}");
            overlaps += i32::from(expected);
            count += 1;
        }
    }
    assert!(
        (count / 10..count * 9 / 10).contains(&overlaps),
        "{overlaps} of {count}"
    );
}

#[test]
fn the_verdict_does_not_depend_on_scale() {
    // Powers of two scale exactly: tiny and huge tetrahedra get the same verdict.
    let mut rng = Rng(2);
    for _ in 0..3_000 {
        let a: [Point; 4] = lattice(&mut rng, 7);
        let b: [Point; 4] = lattice(&mut rng, 7);
        let expected = tets_overlap(&a, &b);
        for exponent in [-100, -40, -3, 40, 100] {
            let scale = 2.0_f32.powi(exponent);
            let verdict = tet_tet_overlap(float(&a, scale), float(&b, scale));
            assert_eq!(verdict, expected, "2^{exponent}");
        }
    }
}

#[test]
fn triangles_agree_with_rational_arithmetic() {
    let mut rng = Rng(3);
    let (mut overlaps, mut count) = (0, 0);
    for size in SIZES {
        for _ in 0..6_000 {
            let tet: [Point; 4] = lattice(&mut rng, size);
            let mut triangle: [Point; 3] = lattice(&mut rng, size);
            for i in 0..rng.below(3) {
                triangle[i] = tet[rng.below(4)];
            }
            let expected = triangle_enters(&triangle, &tet);
            let verdict = tri_tet_overlap(float(&triangle, 1.0), float(&tet, 1.0));
            assert_eq!(verdict, expected, "{triangle:?} {tet:?}");
            overlaps += i32::from(expected);
            count += 1;
        }
    }
    assert!(
        (count / 20..count * 9 / 10).contains(&overlaps),
        "{overlaps} of {count}"
    );
}

/// Nodes and tetrahedra of a TetGen pair, counted from zero.
fn tetgen(name: &str) -> Option<(Vec<Vec3>, Vec<[u32; 4]>)> {
    let rows = |extension: &str| -> Option<Vec<Vec<f64>>> {
        let path = data::find(&format!("tet/{name}.{extension}"))?;
        let text = std::fs::read_to_string(path).ok()?;
        let rows = text
            .lines()
            .filter(|line| !line.trim_start().starts_with('#'))
            .map(|line| {
                line.split_whitespace()
                    .filter_map(|x| x.parse().ok())
                    .collect()
            })
            .filter(|row: &Vec<f64>| !row.is_empty());
        Some(rows.skip(1).collect())
    };
    let positions = rows("node")?
        .iter()
        .map(|r| Vec3::new(r[1] as f32, r[2] as f32, r[3] as f32))
        .collect();
    let tets = rows("ele")?
        .iter()
        .map(|r| [1, 2, 3, 4].map(|k| r[k] as u32))
        .collect();
    Some((positions, tets))
}

#[test]
fn marches_are_near_the_truth() {
    let rabbit = fracas_bake::shapes::by_name("rabbit").unwrap();
    let rabbit = rabbit.build_with_tets(3_000);
    check_marches(rabbit.positions(), rabbit.tets());
}

#[test]
fn public_mesh_is_marched_near_the_truth() {
    if let Some((positions, tets)) = tetgen("pbd_armadillo_4k") {
        check_marches(&positions, &tets);
    }
}

fn check_marches(positions: &[Vec3], tets: &[[u32; 4]]) {
    let topology = Topology::build(positions.len(), tets).unwrap();
    let exact: Vec<f64> = (0..positions.len() as u32)
        .map(|n| {
            let to = |f: &[u32; 3]| {
                exact_squared_distance(positions[n as usize], f.map(|m| positions[m as usize]))
            };
            let squared = topology
                .faces()
                .iter()
                .map(to)
                .fold(f64::INFINITY, f64::min);
            if topology.is_boundary(n) {
                0.0
            } else {
                squared.sqrt()
            }
        })
        .collect();
    let deepest = exact.iter().copied().fold(0.0, f64::max);
    for (method, mean_limit, max_limit) in [
        (Method::ClosestFeature, 1e-3, 0.1),
        (Method::ClosestPoint, 0.05, 0.6),
    ] {
        let mut field = DepthField::new(method);
        field.march(&topology, positions);
        field.validate(&topology, positions).unwrap();
        let errors: Vec<f64> = field
            .depths()
            .iter()
            .zip(&exact)
            .map(|(d, e)| f64::from(*d) - e)
            .collect();
        let below = errors.iter().any(|e| *e < -1e-5 * deepest);
        assert!(!below, "a depth is never below the truth");
        let mean = errors.iter().sum::<f64>() / errors.len() as f64 / deepest;
        let max = errors.iter().copied().fold(0.0, f64::max) / deepest;
        println!("{method:?}: mean {mean:.5}, max {max:.4} of the deepest");
        assert!(
            mean < mean_limit && max < max_limit,
            "{method:?}: {mean} {max}"
        );

        let mut partial = DepthField::new(method);
        for t in (0..tets.len() as u32).step_by(97) {
            partial.march_to(&topology, positions, &[t]);
            for n in 0..positions.len() as u32 {
                if let Some(d) = partial.depth(n) {
                    assert_eq!(Some(d), field.depth(n));
                }
            }
            assert!(tets[t as usize].iter().all(|&n| partial.depth(n).is_some()));
        }
    }
}
