//! The fragment distance field, against brute force over every
//! fragment's real triangles.

use std::sync::Arc;

use fracas_conformance::data::{self, NamedMesh};
use fracas_conformance::procedural;
use fracas_core::testing::Rng;
use fracas_core::{
    FieldOptions, FragmentField, FragmentId, FragmentSurface, Fragments, Propagation,
    SurfaceScratch, TetMesh, brute_force,
};
use fracas_fracture::patterns::{VoronoiOptions, voronoi};
use glam::Vec3;

/// Broken into cells, then the largest cells broken again.
fn broken(
    mesh: &Arc<TetMesh>,
    pieces: u32,
    propagation: Propagation,
) -> (Fragments, FragmentField) {
    let mut fragments = Fragments::new(mesh.clone());
    let options = FieldOptions {
        propagation,
        ..FieldOptions::default()
    };
    let mut field = FragmentField::build(&fragments, &options).expect("a field");
    let mut id = FragmentId(0);
    for (round, pieces) in [pieces, 3, 2].into_iter().enumerate() {
        let options = VoronoiOptions {
            pieces,
            seed: 11 + round as u64,
            ..VoronoiOptions::default()
        };
        let Some(fracture) = voronoi(&fragments, id, &options) else {
            break;
        };
        let split = fragments.apply(&fracture).expect("a pattern is sound");
        field.apply(&fragments, &split);
        field.validate(&fragments).expect("a sound field");
        id = fragments
            .living()
            .max_by_key(|&id| fragments.fragment(id).nodes().len())
            .expect("something is left");
    }
    (fragments, field)
}

/// A random point in or around a fragment, often close to its surface.
fn point_around(surface: &FragmentSurface, rng: &mut Rng) -> Vec3 {
    let (low, high) = surface.bounds();
    if rng.unit() < 0.4 {
        let margin = (high - low) * 0.3;
        return rng.in_box(low - margin, high + margin);
    }
    let t = rng.below(surface.triangles().len());
    let [a, b, c] = surface.corners(t);
    let (u, v) = (rng.unit(), rng.unit());
    let (u, v) = if u + v > 1.0 {
        (1.0 - u, 1.0 - v)
    } else {
        (u, v)
    };
    let reach = (high - low).max_element() * 0.1;
    a + (b - a) * u + (c - a) * v + rng.direction() * reach * rng.unit() * rng.unit()
}

#[test]
fn queries_agree_with_brute_force() {
    check_queries(&procedural::tet_meshes());
}

#[test]
fn nodes_are_rarely_above_the_exact_distance() {
    check_nodes(&procedural::tet_meshes());
}

#[test]
fn penetration_is_deep_enough_and_points_out() {
    check_penetration(&procedural::tet_meshes());
}

#[test]
fn public_meshes_have_sound_fields() {
    let meshes = data::breakable();
    check_queries(&meshes);
    check_nodes(&meshes);
    check_penetration(&meshes);
}

fn check_queries(meshes: &[NamedMesh]) {
    for (file, mesh) in meshes {
        let (fragments, field) = broken(mesh, 12, Propagation::ClosestFeature);
        let size = f64::from((mesh.bounds().1 - mesh.bounds().0).max_element());
        let rounding = 2e-6 * size;
        let mut scratch = SurfaceScratch::default();
        let mut rng = Rng(5);
        let (mut culled, mut spheres, mut worst, mut on_surface) = (0, 0, 0.0_f64, 0);
        for id in fragments.living() {
            let surface = FragmentSurface::extract(&fragments, id, &mut scratch);
            let distance = field.of(&fragments, id);
            for _ in 0..120 {
                let p = point_around(&surface, &mut rng);
                let exact = brute_force::closest(&surface, p).expect("a surface");
                if exact.distance < rounding {
                    on_surface += 1;
                    continue;
                }
                let inside = brute_force::inside(&surface, p);
                let found = distance.inside(p);
                assert_eq!(found.is_some(), inside, "{file} {id} {p} {exact:?}");
                if let Some(at) = found {
                    let depth = f64::from(distance.penetration(&at).depth);
                    assert!(depth >= exact.distance - rounding, "{file} {id} {p}");
                    continue;
                }
                let radius = rng.unit() * rng.unit() * 0.3 * size as f32;
                let may = distance.sphere_may_touch(p, radius);
                assert!(
                    may || f64::from(radius) < exact.distance,
                    "{file} {id} {p} {radius}"
                );
                if f64::from(radius) < exact.distance {
                    spheres += 1;
                    culled += usize::from(!may);
                }
                let max = 0.2 * size as f32;
                let nearest = distance.nearest(p, max);
                if (exact.distance - f64::from(max)).abs() > rounding {
                    assert_eq!(nearest.is_some(), exact.distance < f64::from(max));
                }
                if let Some(nearest) = nearest {
                    let off = (f64::from(nearest.distance) - exact.distance).abs();
                    worst = worst.max(off / size);
                    assert!(off < rounding, "{file} {id} {p}: {nearest:?} {exact:?}");
                    assert!((nearest.normal.length() - 1.0).abs() < 1e-3);
                }
            }
        }
        println!(
            "{file}: nearest off by at most {worst:.1e} of the object, {culled} of {spheres} free spheres culled, {on_surface} points on a surface left out"
        );
    }
}

/// Nodes are never below the exact distance, and rarely far above it.
fn check_nodes(meshes: &[NamedMesh]) {
    println!("nodes above the exact distance, in mean edges");
    for (file, mesh) in meshes {
        for pieces in [2, 8, 64] {
            let (fragments, field) = broken(mesh, pieces, Propagation::ClosestFeature);
            let (_, exact) = broken(mesh, pieces, Propagation::Exact);
            let nodes = mesh.positions().len();
            let (mut far, mut largest, mut sum) = (0, 0.0_f32, 0.0_f64);
            for n in 0..nodes as u32 {
                let over = (field.at_node(n).0 - exact.at_node(n).0) / field.edge();
                assert!(over > -1e-3, "{file}: node {n} is {over} edges below");
                far += usize::from(over > 0.2);
                largest = largest.max(over);
                sum += f64::from(over.max(0.0));
            }
            println!(
                "{file} {:>4} fragments: mean {:.4}, largest {largest:.3}, above 0.2: {far} of {nodes}",
                fragments.living().count(),
                sum / nodes as f64
            );
            assert!(
                far * 1000 <= nodes,
                "{file}: {far} of {nodes} nodes are far off"
            );
        }
    }
}

/// Errors of penetration over random inner points of all fragments.
struct Errors {
    depth: Vec<f64>,
    angle: Vec<f64>,
}

fn percentile(values: &mut [f64], share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let at = (values.len() as f64 * share) as usize;
    values
        .get(at.min(values.len().saturating_sub(1)))
        .copied()
        .unwrap_or(0.0)
}

fn errors(mesh: &Arc<TetMesh>, propagation: Propagation) -> Errors {
    let (fragments, field) = broken(mesh, 12, propagation);
    let mut scratch = SurfaceScratch::default();
    let mut errors = Errors {
        depth: Vec::new(),
        angle: Vec::new(),
    };
    let mut rng = Rng(17);
    for id in fragments.living() {
        let surface = FragmentSurface::extract(&fragments, id, &mut scratch);
        let distance = field.of(&fragments, id);
        let (low, high) = surface.bounds();
        // The inner radius: the largest exact depth of the sampled points.
        let mut samples = Vec::new();
        let mut tries = 0;
        while samples.len() < 150 && tries < 20_000 {
            tries += 1;
            let p = if tries % 2 == 0 {
                rng.in_box(low, high)
            } else {
                point_around(&surface, &mut rng)
            };
            if let Some(at) = distance.inside(p) {
                let exact = brute_force::closest(&surface, p).expect("a surface");
                samples.push((at, exact));
            }
        }
        let radius = samples.iter().fold(0.0_f64, |r, (_, e)| r.max(e.distance));
        for (at, exact) in &samples {
            let found = distance.penetration(at);
            errors
                .depth
                .push((f64::from(found.depth) - exact.distance).abs() / radius);
            let way = exact.point - at.point.as_dvec3();
            if exact.distance < 0.1 * radius && exact.distance > 1e-4 * f64::from(field.edge()) {
                let cosine = found.normal.as_dvec3().dot(way.normalize());
                errors
                    .angle
                    .push(cosine.clamp(-1.0, 1.0).acos().to_degrees());
            }
        }
    }
    errors
}

fn check_penetration(meshes: &[NamedMesh]) {
    println!(
        "penetration: depth error over inner radius (mean, 95%, max); degrees at less than a tenth of it (median, 95%)"
    );
    for (file, mesh) in meshes {
        for (name, propagation) in [
            ("closest feature", Propagation::ClosestFeature),
            ("exact nodes", Propagation::Exact),
            ("averaging", Propagation::Averaging),
        ] {
            let mut errors = errors(mesh, propagation);
            let mean = errors.depth.iter().sum::<f64>() / errors.depth.len() as f64;
            let p95 = percentile(&mut errors.depth, 0.95);
            let max = percentile(&mut errors.depth, 1.0);
            let (median, angle) = (
                percentile(&mut errors.angle, 0.5),
                percentile(&mut errors.angle, 0.95),
            );
            println!(
                "{file} {name:>16}: {mean:.4} {p95:.4} {max:.4}; {median:.2} {angle:.2} ({} points)",
                errors.angle.len()
            );
            if propagation == Propagation::ClosestFeature {
                assert!(angle < 15.0, "{file}: {angle} degrees");
            }
        }
    }
}

#[test]
fn same_fracture_gives_the_same_bits() {
    let (_, mesh) = procedural::tet_meshes().swap_remove(0);
    let digest = |field: &FragmentField| {
        (0..mesh.positions().len() as u32).fold(0_u64, |hash, n| {
            let (distance, normal) = field.at_node(n);
            [distance, normal.x, normal.y, normal.z]
                .iter()
                .fold(hash, |h, x| {
                    (h ^ u64::from(x.to_bits())).wrapping_mul(0x100_0000_01B3)
                })
        })
    };
    let (_, first) = broken(&mesh, 16, Propagation::ClosestFeature);
    let (_, second) = broken(&mesh, 16, Propagation::ClosestFeature);
    assert_eq!(digest(&first), digest(&second));
}
