//! Broken things of the set in their fine surfaces: closed, complete, round at the rims.

use std::collections::HashMap;
use std::sync::Arc;

use fracas_bake::shapes;
use fracas_core::dressing::Dressed;
use fracas_core::{FragmentId, Fragments};
use fracas_fracture::patterns::{self, VoronoiOptions};
use glam::{DVec3, Vec3};

/// Sides that have no other against them, by the bits of their ends.
fn open_sides(dressed: &Dressed) -> usize {
    let key = |v: u32| {
        let p = dressed.positions[v as usize] + Vec3::ZERO;
        p.to_array().map(f32::to_bits)
    };
    let mut balance: HashMap<[[u32; 3]; 2], i32> = HashMap::new();
    for t in &dressed.triangles {
        for i in 0..3 {
            let (a, b) = (key(t[i]), key(t[(i + 1) % 3]));
            if a < b {
                *balance.entry([a, b]).or_default() += 1;
            } else if b < a {
                *balance.entry([b, a]).or_default() -= 1;
            }
        }
    }
    balance.values().filter(|n| **n != 0).count()
}

fn corners(dressed: &Dressed) -> Vec<[DVec3; 3]> {
    let at = |v: u32| dressed.positions[v as usize].as_dvec3();
    dressed.triangles.iter().map(|t| t.map(at)).collect()
}

fn area(triangles: &[[DVec3; 3]]) -> f64 {
    let areas = triangles.iter();
    areas
        .map(|[a, b, c]| 0.5 * (b - a).cross(c - a).length())
        .sum()
}

fn volume(triangles: &[[DVec3; 3]]) -> f64 {
    let volumes = triangles.iter();
    volumes.map(|[a, b, c]| a.dot(b.cross(*c)) / 6.0).sum()
}

#[test]
fn pieces_of_all_rounded_things_are_closed_and_complete() {
    let things = [
        ("piggy-bank", 0.5),
        ("piggy-bank", 1.0),
        ("rabbit", 0.5),
        ("rabbit", 1.0),
        ("plate", 1.0),
        ("bowl", 0.7),
        ("ball-sparse", 1.0),
    ];
    for (name, detail) in things {
        let shape = shapes::by_name(name).unwrap();
        let mesh = Arc::new(shape.build_refined(detail));
        let fine = shape.fine_boundary(&mesh, 1.0).unwrap();
        let whole = fine.triangles();
        let mut worst = 0.0_f64;
        for seed in 0..20 {
            let mut fragments = Fragments::new(mesh.clone());
            let options = VoronoiOptions {
                pieces: 20,
                roughness: 0.002,
                seed,
                ..VoronoiOptions::default()
            };
            let fracture = patterns::voronoi(&fragments, FragmentId(0), &options).unwrap();
            let pieces = fragments.apply(&fracture).unwrap().children;
            let (mut sum_area, mut sum_volume) = (0.0, 0.0);
            for &id in &pieces {
                let dressed = fine.dress(&fragments, id);
                assert_eq!(
                    open_sides(&dressed),
                    0,
                    "{name} {detail}, seed {seed}, {id}"
                );
                let all = corners(&dressed);
                sum_area += area(&all[..dressed.outer_triangles]);
                sum_volume += volume(&all);
                assert!(volume(&all) > 0.0, "{name} {detail}, seed {seed}, {id}");
            }
            let missing = (sum_area / area(&whole) - 1.0).abs();
            assert!(missing < 1e-6, "{name} {detail}, seed {seed}: {missing:e}");
            worst = worst.max((sum_volume / volume(&whole) - 1.0).abs());
        }
        println!(
            "{name} {detail}: {} triangles, volumes off by {worst:.1e}",
            whole.len()
        );
        // The two sides of a crack are filled alike, but where one of them is split.
        assert!(worst < 2e-4, "{name} {detail}: {worst:e}");
    }
}

#[test]
fn all_threads_see_the_same_bits() {
    let shape = shapes::by_name("piggy-bank").unwrap();
    let mesh = Arc::new(shape.build_refined(0.5));
    let mut fragments = Fragments::new(mesh.clone());
    let options = VoronoiOptions {
        pieces: 6,
        ..VoronoiOptions::default()
    };
    let fracture = patterns::voronoi(&fragments, FragmentId(0), &options).unwrap();
    let pieces = fragments.apply(&fracture).unwrap().children;
    let dress = || -> Vec<Dressed> {
        let fine = shape.fine_boundary(&mesh, 1.0).unwrap();
        pieces
            .iter()
            .map(|&id| fine.dress(&fragments, id))
            .collect()
    };
    let alone = dress();
    assert!(alone.iter().all(|d| d.triangles.len() > d.outer_triangles));
    let together = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..3).map(|_| scope.spawn(dress)).collect();
        threads
            .into_iter()
            .map(|t| t.join().unwrap())
            .collect::<Vec<_>>()
    });
    for other in together {
        assert!(other == alone, "threads disagree");
    }
}
