//! Fracture, held against what must be true of it: closed fragments whose volumes
//! add up, energy that is not exceeded, public meshes that vibrate and break.

use std::sync::Arc;

use fracas_conformance::data::{self, NamedMesh};
use fracas_conformance::procedural;
use fracas_core::fragment_surface::{FragmentSurface, SurfaceScratch};
use fracas_core::testing::box_grid;
use fracas_core::{Fracture, FragmentId, Fragments, TetMesh};
use fracas_fracture::material::STEEL_CONTACT_MODULUS;
use fracas_fracture::modes::count_below;
use fracas_fracture::patterns::{
    self, ConchoidalOptions, RadialOptions, SlicesOptions, VoronoiOptions,
};
use fracas_fracture::stiffness::Elements;
use fracas_fracture::{FractureEvent, FractureSettings, Impact, Material, Modes, ModesOptions};
use glam::Vec3;

/// Applies a fracture and checks that all fragments are closed and fill the whole.
fn break_soundly(fragments: &mut Fragments, fracture: &Fracture, what: &str) -> usize {
    let split = fragments
        .apply(fracture)
        .unwrap_or_else(|e| panic!("{what}: {e}"));
    fragments
        .validate()
        .unwrap_or_else(|e| panic!("{what}: {e}"));
    let mut scratch = SurfaceScratch::default();
    let mut volume = 0.0;
    for id in fragments.living() {
        let surface = FragmentSurface::extract(fragments, id, &mut scratch);
        surface
            .validate()
            .unwrap_or_else(|e| panic!("{what}, {id}: {e}"));
        assert!(surface.mass_properties().volume > 0.0, "{what}, {id}");
        volume += surface.mass_properties().volume;
    }
    let whole = fragments.mesh().volume();
    assert!(
        (volume / whole - 1.0).abs() < 1e-6,
        "{what}: {volume} of {whole}"
    );
    split.children.len()
}

#[test]
fn patterns_break_into_closed_fragments() {
    check_patterns(&procedural::tet_meshes());
}

#[test]
fn ring_has_all_modes_and_breaks_when_hit() {
    check_ring(&procedural::ring_of_tets());
}

#[test]
fn public_meshes_vibrate_and_break() {
    let files = [
        "tet/ipc_torus.msh",
        "tet/ipc_sphere1K.msh",
        "tet/ipc_hammer.msh",
        "tet/bullet_bread.vtk",
    ];
    check_patterns(&data::tet_meshes(&files));
    if let Some(ring) = data::tet_mesh("tet/bullet_torus.vtk") {
        check_ring(&ring);
    }
}

/// Patterns break a mesh into closed fragments, again and again.
fn check_patterns(meshes: &[NamedMesh]) {
    for (file, mesh) in meshes {
        let (lo, hi) = mesh.bounds();
        let size = (hi - lo).length();
        let middle = 0.5 * (lo + hi);
        for seed in 0..2 {
            let mut fragments = Fragments::new(Arc::clone(mesh));
            for round in 0..4 {
                let id = fragments
                    .living()
                    .max_by_key(|&f| fragments.fragment(f).nodes().len())
                    .expect("something lives");
                let fracture = match round {
                    0 => patterns::voronoi(
                        &fragments,
                        id,
                        &VoronoiOptions {
                            pieces: 7,
                            impact: Some(lo),
                            spread: 0.3 * size,
                            roughness: 0.01 * size,
                            seed,
                            ..Default::default()
                        },
                    ),
                    1 => patterns::radial(
                        &fragments,
                        id,
                        &RadialOptions {
                            rings: vec![0.2 * size],
                            seed,
                            ..RadialOptions::at(middle, Vec3::Y)
                        },
                    ),
                    2 => patterns::slices(
                        &fragments,
                        id,
                        &SlicesOptions {
                            pieces: 4,
                            seed,
                            ..Default::default()
                        },
                    ),
                    _ => patterns::conchoidal(
                        &fragments,
                        id,
                        &ConchoidalOptions {
                            seed,
                            ..ConchoidalOptions::at(hi, lo - hi)
                        },
                    ),
                };
                if let Some(fracture) = fracture {
                    break_soundly(&mut fragments, &fracture, &format!("{file} {round}"));
                }
            }
            assert!(fragments.living().count() >= 7, "{file}");
        }
    }
}

fn check_ring(mesh: &TetMesh) {
    // Scaled to a ring of earthenware some 0.2 m wide.
    let (lo, hi) = mesh.bounds();
    let scale = 0.2 / (hi - lo).max_element();
    let positions = mesh.positions().iter().map(|&p| (p - lo) * scale).collect();
    let mesh = TetMesh::build(positions, mesh.tets().to_vec()).expect("scaling keeps it sound");
    let mut fragments = Fragments::new(Arc::new(mesh));
    let material = Material::EARTHENWARE;
    let modes = Modes::compute(
        &fragments,
        FragmentId(0),
        &material,
        &ModesOptions::default(),
        &mut |_| (),
    )
    .expect("modes");
    let last = modes.omegas()[modes.count() - 1] * (1.0 + 1e-6);
    let below = count_below(
        &fragments,
        FragmentId(0),
        &material,
        Elements::EdgeSmoothed,
        last,
    );
    assert_eq!(below.expect("a factor"), 6 + modes.count());
    let (lo, hi) = fragments.mesh().bounds();
    let hit = |speed: f32| Impact {
        point: Vec3::new(hi.x, 0.5 * (lo.y + hi.y), 0.5 * (lo.z + hi.z)),
        impulse: Vec3::new(-0.2 * speed, 0.0, 0.0),
        speed,
        effective_mass: 0.15,
        radius: 0.02,
        other_modulus: STEEL_CONTACT_MODULUS,
    };
    let mut memory = FractureEvent::new();
    let settings = FractureSettings::default();
    let mut decide = |fragments: &Fragments, speed| {
        memory.decide(
            (fragments, FragmentId(0)),
            &modes,
            &[hit(speed)],
            0.01,
            0,
            &settings,
        )
    };
    assert!(decide(&fragments, 0.01).fracture.is_none(), "a touch");
    let decision = decide(&fragments, 30.0);
    let stats = decision.stats;
    assert!(stats.spent <= stats.brought, "{stats:?}");
    let fracture = decision.fracture.unwrap_or_else(|| panic!("{stats:?}"));
    let pieces = break_soundly(&mut fragments, &fracture, "torus");
    assert!(pieces >= 2, "{stats:?}");
}

#[test]
fn cracks_from_stress_make_closed_fragments_and_cost_no_more_than_was_brought() {
    let mesh = Arc::new(box_grid([16, 2, 16], Vec3::new(0.2, 0.008, 0.2)));
    let material = Material::GLASS;
    let whole = Fragments::new(Arc::clone(&mesh));
    let modes = Modes::compute(
        &whole,
        FragmentId(0),
        &material,
        &ModesOptions::default(),
        &mut |_| (),
    )
    .expect("modes");
    let mut memory = FractureEvent::new();
    let mut before = 0;
    for (event, speed) in [1.0_f32, 4.0, 8.0, 16.0, 32.0].into_iter().enumerate() {
        let mut fragments = whole.clone();
        let settings = FractureSettings {
            max_cracks: 40,
            seed: 3,
            ..Default::default()
        };
        let impact = Impact {
            point: Vec3::new(0.09, 0.008, 0.11),
            impulse: Vec3::new(0.0, -0.05 * speed, 0.0),
            speed,
            effective_mass: 0.033,
            radius: 0.01,
            other_modulus: STEEL_CONTACT_MODULUS,
        };
        let decision = memory.decide(
            (&fragments, FragmentId(0)),
            &modes,
            &[impact],
            0.01,
            event as u64,
            &settings,
        );
        let stats = decision.stats;
        assert!(stats.spent <= stats.available, "{stats:?}");
        assert!(stats.available <= stats.brought, "{stats:?}");
        let pieces = match &decision.fracture {
            None => 1,
            Some(fracture) => break_soundly(&mut fragments, fracture, "plate"),
        };
        if decision.fracture.is_some() {
            assert_eq!(pieces, stats.pieces, "{stats:?}");
            // The area that was paid for is at least what the surfaces have.
            let mut scratch = SurfaceScratch::default();
            let mut area = 0.0;
            for id in fragments.living() {
                let surface = FragmentSurface::extract(&fragments, id, &mut scratch);
                for t in surface.outer_triangles()..surface.triangles().len() {
                    let [a, b, c] = surface.corners(t);
                    area += 0.25 * f64::from((b - a).cross(c - a).length());
                }
            }
            assert!(area <= stats.area * 1.001, "{area} {stats:?}");
        }
        assert!(pieces >= before, "{speed} m/s: {pieces} after {before}");
        before = pieces;
    }
    assert!(before > 4);
}
