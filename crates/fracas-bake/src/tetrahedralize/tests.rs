//! Tests of the whole mesher on shapes with known answers.

use super::search::MEAN_EDGE;
use super::*;
use fracas_core::testing::unit_cube;

use std::f64::consts::PI;

fn unimproved(spacing: f64) -> Options {
    Options {
        improve: false,
        ..Options::edge_length(spacing * MEAN_EDGE).with_grading(Grading::Uniform)
    }
}

const CUBE: (DVec3, DVec3) = (DVec3::splat(-1.0), DVec3::splat(1.0));

/// A box of triangles, turned and moved.
fn brick(sides: DVec3, turn: glam::DMat3, offset: DVec3) -> SurfaceMesh {
    let (corners, triangles) = unit_cube();
    let place = |p: DVec3| offset + turn * (p * sides);
    let positions: Vec<DVec3> = corners.into_iter().map(place).collect();
    SurfaceMesh::build(positions, triangles).unwrap()
}

fn turned() -> glam::DMat3 {
    glam::DMat3::from_axis_angle(DVec3::new(1.0, 2.0, 3.0).normalize(), 0.7)
}

#[test]
fn the_volume_of_a_sphere_converges_with_the_square_of_the_spacing() {
    let exact = 4.0 / 3.0 * PI;
    for (spacing, expected) in [(0.5, -5.84), (0.25, -1.60), (0.125, -0.40)] {
        let made = implicit(&|p| p.length() - 1.0, CUBE, &unimproved(spacing)).unwrap();
        let error = (made.report().volume / exact - 1.0) * 100.0;
        assert!((error - expected).abs() < 0.01, "{spacing}: {error}%");
        assert!(made.report().angles.min > 22.0);
        assert!(made.report().angles.max < 137.0);
    }
}

#[test]
fn improvement_keeps_the_volume_of_a_sphere() {
    let exact = 4.0 / 3.0 * PI;
    let options = Options::edge_length(0.25 * MEAN_EDGE);
    let made = implicit(&|p| p.length() - 1.0, CUBE, &options).unwrap();
    let error = made.report().volume / exact - 1.0;
    assert!(error.abs() < 2e-3, "{error}");
    assert!(made.report().angles.min > 15.0);
}

#[test]
fn the_count_is_met_within_a_tenth() {
    // Off the centre, so that symmetry does not make the count jump.
    let f = |p: DVec3| (p - DVec3::new(0.03, 0.05, 0.02)).length() - 0.9;
    for grading in [Grading::Uniform, Grading::Thin, Grading::Graded] {
        for count in [2_000, 8_000] {
            let made = implicit(&f, CUBE, &Options::tets(count).with_grading(grading)).unwrap();
            let got = made.mesh().tets().len() as f64;
            assert!(
                (got / count as f64 - 1.0).abs() < 0.1,
                "{grading:?} {count}: {got}"
            );
        }
    }
}

#[test]
fn grading_saves_tetrahedra_inside() {
    let f = |p: DVec3| p.length() - 0.95;
    let at = |grading| {
        let options = Options::edge_length(0.06).with_grading(grading);
        implicit(&f, CUBE, &options).unwrap().mesh().tets().len() as f64
    };
    let saved = 1.0 - at(Grading::Graded) / at(Grading::Uniform);
    assert!(saved > 0.25, "saved {saved}");
}

#[test]
fn walls_hold_from_one_and_a_half_cells_on() {
    // A plate of 1 x 1 x w, turned so that nothing is aligned with the lattice.
    let turn = turned().transpose();
    let half = |w: f64| DVec3::new(0.5, 0.5, 0.5 * w);
    let plate = |w: f64, spacing: f64| {
        let f = move |p: DVec3| {
            let q = (turn * p).abs() - half(w);
            q.max(DVec3::ZERO).length() + q.max_element().min(0.0)
        };
        implicit(&f, CUBE, &unimproved(spacing))
    };
    let missing =
        |w: f64, spacing: f64| plate(w, spacing).map_or(1.0, |made| 1.0 - made.report().volume / w);
    let wall = 0.12;
    assert!(missing(wall, wall / 0.5) > 0.5);
    assert!(missing(wall, wall / 0.75) > 0.2);
    let sound = plate(wall, wall / 1.5).unwrap();
    assert_eq!(sound.report().boundary.genus(), Some(0));
    assert!(missing(wall, wall / 1.5) < 0.08);
    assert!(missing(wall, wall / 2.0) < missing(wall, wall / 1.5));
}

#[test]
fn bricks_and_plates_stay_flat_and_sharp_however_turned() {
    let offset = DVec3::new(0.3, -0.2, 0.1);
    for (sides, count) in [
        (DVec3::new(0.215, 0.1025, 0.065), 2_000),
        (DVec3::new(1.2, 1.2, 0.1), 1_500),
    ] {
        for turn in [glam::DMat3::IDENTITY, turned()] {
            let made = surface(&brick(sides, turn, offset), &Options::tets(count)).unwrap();
            let volume = made.report().volume / (sides.x * sides.y * sides.z);
            assert!((volume - 1.0).abs() < 1e-5, "volume {volume}");
            let nodes: Vec<DVec3> = made
                .mesh()
                .positions()
                .iter()
                .map(|p| p.as_dvec3())
                .collect();
            let edge = f64::from(made.mesh().mean_edge_length());
            for i in 0..8 {
                let corner = DVec3::new(f64::from(i & 1), f64::from(i >> 1 & 1), f64::from(i >> 2));
                let corner = offset + turn * (corner * sides);
                let nearest = nodes.iter().map(|p| p.distance(corner)).fold(1.0, f64::min);
                assert!(nearest < 1e-3 * edge, "a corner is off by {nearest}");
            }
            // Every boundary node lies on a face of the box.
            for (n, on) in made.mesh().boundary_nodes().into_iter().enumerate() {
                let local = (turn.transpose() * (nodes[n] - offset)) / sides;
                let off = (local - local.round()).abs().min_element();
                assert!(
                    !on || off < 1e-4,
                    "a boundary node is off its face by {off}"
                );
            }
            assert!(
                made.report().angles.min > 10.0,
                "{:?}",
                made.report().angles
            );
        }
    }
}

#[test]
fn the_same_input_gives_the_same_bits() {
    let shape = brick(DVec3::new(1.0, 0.7, 0.4), turned(), DVec3::ZERO);
    let options = Options::tets(800);
    assert_eq!(surface(&shape, &options), surface(&shape, &options));
}

#[test]
fn an_open_sheet_becomes_a_thick_one() {
    let open = SurfaceMesh::build(
        vec![DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::X + DVec3::Y],
        vec![[0, 1, 2], [1, 3, 2]],
    )
    .unwrap();
    let made = surface(&open, &Options::tets(12_000)).unwrap();
    assert!(made.report().boundary.is_manifold());
    assert!(
        (made.report().volume / 0.04 - 1.0).abs() < 0.15,
        "{}",
        made.report().volume
    );
}

#[test]
fn a_missing_and_a_doubled_triangle_change_nothing_much() {
    let whole = brick(DVec3::ONE, turned(), DVec3::ZERO);
    let mut triangles = whole.triangles().to_vec();
    triangles.push(triangles[5]);
    let doubled = SurfaceMesh::build(whole.positions().to_vec(), triangles).unwrap();
    let made = surface(&doubled, &Options::tets(2_000)).unwrap();
    assert!(
        (made.report().volume - 1.0).abs() < 0.02,
        "{}",
        made.report().volume
    );
    assert!(made.report().boundary.is_manifold());
}

#[test]
fn shells_are_closed_and_keep_the_surface() {
    let brick = brick(DVec3::new(1.0, 0.8, 0.6), turned(), DVec3::ZERO);
    for layers in [1, 3] {
        let made = shell(&brick, 0.05, layers).unwrap();
        let report = made.made.report();
        assert_eq!(made.made.mesh().tets().len(), 12 * 3 * layers);
        assert!(report.boundary.is_manifold());
        assert_eq!(report.boundary.components, 2);
        // Single precision is all that moves it.
        assert!(hausdorff(&brick, made.made.mesh(), 0.1).surface_to_mesh < 1e-6);
    }
}

#[test]
fn what_cannot_be_made_is_refused_with_a_reason() {
    let f = |p: DVec3| p.length() - 0.5;
    let refuse = |options: &Options| implicit(&f, CUBE, options).unwrap_err();
    for bad in [f64::NAN, 0.0, -1.0, f64::INFINITY] {
        let error = refuse(&Options::edge_length(bad));
        assert!(
            matches!(error, TetrahedralizeError::BadOption { .. }),
            "{error}"
        );
    }
    assert!(matches!(
        refuse(&Options::tets(0)),
        TetrahedralizeError::BadOption { .. }
    ));
    assert!(matches!(
        refuse(&Options::edge_length(1e-9)),
        TetrahedralizeError::TooFine { .. }
    ));
    let nothing = implicit(&|_| 1.0, CUBE, &Options::tets(1_000)).unwrap_err();
    assert!(
        matches!(nothing, TetrahedralizeError::Empty { .. }),
        "{nothing}"
    );
    let nan = implicit(&|_| f64::NAN, CUBE, &Options::tets(1_000)).unwrap_err();
    assert!(matches!(nan, TetrahedralizeError::Empty { .. }), "{nan}");
    // A large thin plate cannot be made of a handful of tetrahedra.
    let plate = brick(
        DVec3::new(1.0, 1.0, 1e-3),
        glam::DMat3::IDENTITY,
        DVec3::ZERO,
    );
    let thin = surface(&plate, &Options::tets(500)).unwrap_err();
    assert!(matches!(thin, TetrahedralizeError::TooFew { .. }), "{thin}");
}
