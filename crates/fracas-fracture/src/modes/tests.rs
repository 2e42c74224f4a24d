use std::sync::Arc;

use fracas_core::testing::box_grid;

use super::solve::rigid_motions;
use super::*;

/// The material of the published frequencies.
fn reference() -> Material {
    Material {
        young: 70e9,
        poisson: 0.22,
        density: 2500.0,
        ..Material::GLASS
    }
}

fn grid(cells: [u32; 3], size: [f32; 3]) -> Fragments {
    Fragments::new(Arc::new(box_grid(cells, Vec3::from_array(size))))
}

fn frequencies(fragments: &Fragments, elements: Elements, count: usize) -> Vec<f64> {
    let options = ModesOptions {
        count,
        elements,
        ..Default::default()
    };
    Modes::compute(
        fragments,
        FragmentId(0),
        &reference(),
        &options,
        &mut |_| (),
    )
    .unwrap()
    .frequencies()
}

/// Against Rayleigh-Ritz with Legendre polynomials of degree 14, in percent.
fn errors(found: &[f64], ritz: &[f64]) -> Vec<f64> {
    found
        .iter()
        .zip(ritz)
        .map(|(f, r)| 100.0 * (f / r - 1.0))
        .collect()
}

#[test]
fn a_plate_of_two_layers_is_within_three_percent() {
    let plate = grid([40, 40, 2], [0.2, 0.2, 0.01]);
    let ritz = [861.9, 1262.5, 1471.8, 2179.9, 2179.9, 3729.7, 3729.7];
    let found = frequencies(&plate, Elements::EdgeSmoothed, 8);
    assert!((found[0] - 849.0).abs() < 0.1, "{found:?}");
    let errors = errors(&found, &ritz);
    assert!(errors.iter().all(|e| e.abs() < 3.0), "{errors:?}");
    let stiff = frequencies(&plate, Elements::Linear, 8);
    assert!((stiff[0] - 1132.8).abs() < 0.1, "{stiff:?}");
}

#[test]
fn a_beam_reproduces_the_known_numbers_of_this_mesh_and_misses_no_mode() {
    let beam = grid([60, 6, 4], [0.3, 0.03, 0.02]);
    let known = [
        (Elements::Linear, 1315.1, 55257.4),
        (Elements::EdgeSmoothed, 1182.0, 51623.0),
    ];
    for (elements, first, fortieth) in known {
        let found = frequencies(&beam, elements, 40);
        assert!((found[0] - first).abs() < 0.1, "{found:?}");
        assert!((found[39] - fortieth).abs() < 0.1, "{}", found[39]);
        for count in [1, 7, found.len()] {
            let below = std::f64::consts::TAU * found[count - 1] * (1.0 + 1e-6);
            let inertia = count_below(&beam, FragmentId(0), &reference(), elements, below).unwrap();
            let mine = 6 + found
                .iter()
                .filter(|&&f| f <= found[count - 1] * (1.0 + 1e-6))
                .count();
            assert_eq!(inertia, mine, "below mode {count}");
        }
    }
    let ritz = [
        1190.5, 1753.4, 3196.2, 4574.8, 4800.5, 6046.7, 8375.1, 8816.6,
    ];
    let errors = errors(&frequencies(&beam, Elements::EdgeSmoothed, 40), &ritz);
    assert!(errors.iter().all(|e| e.abs() < 3.6), "{errors:?}");
}

#[test]
fn degenerate_modes_of_a_cube_come_complete() {
    let cube = grid([12, 12, 12], [0.1, 0.1, 0.1]);
    let found = frequencies(&cube, Elements::EdgeSmoothed, 8);
    let ritz = [
        15396.0, 15396.0, 20612.0, 20612.0, 20612.0, 21052.0, 21052.0, 21052.0,
    ];
    let errors = errors(&found, &ritz);
    assert!(errors.iter().all(|e| e.abs() < 2.5), "{errors:?}");
}

#[test]
fn shapes_are_mass_orthonormal_and_free_of_rigid_motion() {
    let fragments = grid([9, 4, 3], [0.215, 0.1025, 0.065]);
    let body = ElasticBody::new(&fragments, FragmentId(0), 2500.0).unwrap();
    let stiffness = body.stiffness(&reference(), Elements::EdgeSmoothed);
    let (omegas, vectors) = solve(
        &body,
        &stiffness,
        FragmentId(0),
        &ModesOptions::default(),
        &mut |_| ControlFlow::Continue(()),
    )
    .unwrap();
    let roots: Vec<f64> = body.masses().iter().map(|m| m.sqrt()).collect();
    let rigid = rigid_motions(body.positions(), &roots);
    let column = |k: usize| vectors[k / BLOCK].iter().map(move |row| row[k % BLOCK]);
    for k in 0..omegas.len() {
        for m in 0..=k {
            let d: f64 = column(k).zip(column(m)).map(|(a, b)| a * b).sum();
            assert!((d - f64::from(u8::from(k == m))).abs() < 1e-10);
        }
        for c in 0..6 {
            let d: f64 = column(k).zip(&rigid).map(|(a, row)| a * row[c]).sum();
            assert!(d.abs() < 1e-10, "mode {k} contains rigid motion");
        }
        // K phi = omega² M phi.
        let phi: Vec<DVec3> = (0..roots.len())
            .map(|n| {
                let at = |c: usize| vectors[k / BLOCK][3 * n + c][k % BLOCK] / roots[n];
                DVec3::new(at(0), at(1), at(2))
            })
            .collect();
        let force = stiffness.times(&phi);
        let (mut residual, mut size) = (0.0, 0.0);
        for n in 0..roots.len() {
            let inertia = omegas[k] * omegas[k] * body.masses()[n] * phi[n];
            residual += (force[n] - inertia).length_squared();
            size += inertia.length_squared();
        }
        assert!(residual.sqrt() < 1e-5 * size.sqrt(), "mode {k}");
    }
}

#[test]
fn modes_repeat_and_survive_storage_unless_it_is_damaged() {
    let fragments = grid([10, 5, 2], [0.2, 0.1, 0.02]);
    let compute = || {
        let options = ModesOptions::default();
        Modes::compute(
            &fragments,
            FragmentId(0),
            &reference(),
            &options,
            &mut |_| (),
        )
        .unwrap()
    };
    let modes = compute();
    assert_eq!(modes, compute(), "it repeats");
    let data = modes.to_data();
    assert_eq!(Modes::from_data(data.clone()).unwrap(), modes);
    let refused = |spoil: &dyn Fn(&mut ModesData)| {
        let mut data = data.clone();
        spoil(&mut data);
        Modes::from_data(data).unwrap_err()
    };
    let sizes = |what| ModesDataError::Sizes { what };
    let numbers = |what| ModesDataError::Numbers { what };
    assert_eq!(refused(&|d| _ = d.shapes.pop()), sizes("shapes"));
    assert_eq!(refused(&|d| _ = d.stress.pop()), sizes("stresses"));
    assert_eq!(refused(&|d| d.surface[0] = 9_999), sizes("surface nodes"));
    assert_eq!(refused(&|d| d.surface.clear()), sizes("surface nodes"));
    assert_eq!(refused(&|d| d.nodes.swap(0, 1)), sizes("nodes"));
    assert_eq!(refused(&|d| d.omegas.clear()), sizes("frequencies"));
    assert_eq!(refused(&|d| d.omegas[3] = -1.0), numbers("frequencies"));
    assert_eq!(refused(&|d| d.omegas.swap(0, 9)), numbers("frequencies"));
    assert_eq!(refused(&|d| d.stress[0][0] = f32::NAN), numbers("stresses"));
    assert_eq!(refused(&|d| d.shapes[0].y = f32::NAN), numbers("shapes"));
    assert_eq!(refused(&|d| d.mass = 0.0), numbers("mass"));
    assert_eq!(refused(&|d| d.radius = -1.0), numbers("lengths"));
    assert!(matches!(
        refused(&|d| d.material.poisson = 0.7),
        ModesDataError::Material(_)
    ));
}

#[test]
fn fragments_have_modes_and_small_or_dead_ones_say_why_not() {
    let mut fragments = grid([12, 6, 2], [0.2, 0.1, 0.02]);
    let whole = frequencies(&fragments, Elements::EdgeSmoothed, 10);
    let fracture = crate::patterns::user(
        &fragments,
        FragmentId(0),
        &[&|p| p.x - 0.13, &|p| p.distance(Vec3::ZERO) - 0.02],
    )
    .unwrap();
    fragments.apply(&fracture).unwrap();
    let compute = |id| {
        Modes::compute(
            &fragments,
            id,
            &reference(),
            &ModesOptions::default(),
            &mut |_| (),
        )
    };
    let mut kinds = [0; 2];
    for id in fragments.living() {
        match compute(id) {
            Ok(modes) => {
                // Shorter pieces sound higher.
                assert!(modes.frequencies()[0] > 1.1 * whole[0]);
                assert_eq!(modes.nodes(), fragments.fragment(id).nodes());
                kinds[0] += 1;
            }
            Err(ModesError::TooSmall { nodes, .. }) => {
                assert!(nodes < LEAST_NODES);
                kinds[1] += 1;
            }
            Err(other) => panic!("{other}"),
        }
    }
    assert!(kinds[0] >= 2 && kinds[1] >= 1, "{kinds:?}");
    assert_eq!(
        compute(FragmentId(0)).unwrap_err(),
        ModesError::NoSuchFragment(FragmentId(0))
    );
}

#[test]
fn scaled_modes_are_those_of_the_scaled_body() {
    // With a power of four nothing is rounded on the way, so all bits are equal.
    let compute = |scale: f32| {
        let bar = grid([7, 3, 2], [0.31, 0.07, 0.04].map(|x| x * scale));
        let options = ModesOptions {
            count: 10,
            ..Default::default()
        };
        let found = Modes::compute(&bar, FragmentId(0), &reference(), &options, &mut |_| ());
        found.unwrap()
    };
    let own = compute(1.0);
    assert_eq!(own.scaled(4.0), compute(4.0));
    assert_eq!(own.scaled(0.25), compute(0.25));
    let (scaled, computed) = (own.scaled(1.3), compute(1.3));
    for (a, b) in scaled.omegas().iter().zip(computed.omegas()) {
        assert!((a / b - 1.0).abs() < 1e-5, "{a} and {b} rad/s");
    }
}
