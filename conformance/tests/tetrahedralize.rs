//! The mesher: positive, conforming, closed, manifold, and near.
//!
//! Small counts keep this quick; the scoreboard (`tetrahedralize/`) has the full table.

use fracas_bake::SurfaceMesh;
use fracas_bake::tetrahedralize::{
    Grading, Options, Tetrahedralization, TetrahedralizeError, boundary_topology, hausdorff, shell,
    surface,
};
use fracas_conformance::{data, procedural};
use glam::DVec3;

fn load(file: &str) -> Option<SurfaceMesh> {
    let path = data::find(file)?;
    Some(fracas_bake::read_surface(path).unwrap().0)
}

/// What every mesh must be, whatever its input.
fn check(file: &str, made: &Tetrahedralization) {
    let mesh = made.mesh();
    mesh.validate().unwrap_or_else(|e| panic!("{file}: {e}"));
    let report = made.report();
    assert!(report.boundary.is_manifold(), "{file}: {report:?}");
    assert!(report.angles.min >= 5.0, "{file}: {report:?}");
    assert!(report.angles.per_mille >= 10.0, "{file}: {report:?}");
    let faces: Vec<[u32; 3]> = mesh.boundary().map(|f| f.nodes).collect();
    let again = boundary_topology(mesh.positions().len(), &faces);
    assert_eq!(again, report.boundary, "{file}");
}

#[test]
fn public_models_are_filled() {
    // File, tetrahedra, largest volume error in percent, largest distance in mean edges.
    for (file, count, volume, distance) in [
        ("surface/bunny_npm_3674.obj", 8_000, 1.0, 0.8),
        ("surface/spot.obj", 8_000, 1.0, 0.8),
        ("surface/knot1.off", 8_000, 1.0, 0.5),
        ("surface/elephant.off", 12_000, 2.0, 1.6),
    ] {
        if let Some(input) = load(file) {
            check_filling(file, &input, count, volume, distance);
        }
    }
    for (file, count) in [("surface/knot1.off", 3_000), ("surface/nut-big.obj", 6_000)] {
        if let Some(input) = load(file) {
            check_genus(file, &input, count);
        }
    }
    if let Some(spot) = load("surface/spot.obj") {
        check_shell(&spot, 0.03);
    }
    if let Some(bunny) = load("surface/bunny_npm_3674.obj") {
        check_grading(&bunny);
    }
    for file in [
        "bad/assimp_sphereWithHole.stl",
        "bad/cgal_elephant-with-holes.off",
        "bad/coacd_Bottle_duplicated_faces.obj",
        "bad/cgal_nested_spheres_same_orientation.off",
        "bad/ipctk_two-cubes-intersecting.ply",
        "bad/cgal_tetra_intersected_by_triangle.off",
        "bad/gc_moebius.obj",
        "surface/bowl_open_shell.obj",
        "surface/cow.off",
    ] {
        if let Some(input) = load(file) {
            check_broken(file, &input);
        }
    }
}

#[test]
fn shapes_are_filled_well() {
    let rabbit = procedural::shape_surface("rabbit", 12_000);
    check_filling("rabbit", &rabbit, 6_000, 1.0, 1.2);
    let ring = procedural::torus(1.0, 0.3, 48, 24);
    check_filling("ring", &ring, 5_000, 1.0, 0.5);
}

fn check_filling(file: &str, input: &SurfaceMesh, count: usize, volume: f64, distance: f64) {
    {
        let made = surface(input, &Options::tets(count)).unwrap();
        check(file, &made);
        let got = made.mesh().tets().len() as f64;
        let ratio = got / count as f64;
        assert!((ratio - 1.0).abs() < 0.12, "{file}: {got} tets");
        let error = 100.0 * (made.report().volume / input.volume() - 1.0);
        assert!(error.abs() < volume, "{file}: volume off by {error}%");
        let edge = f64::from(made.mesh().mean_edge_length());
        let apart = hausdorff(input, made.mesh(), 0.25 * edge);
        let far = apart.surface_to_mesh.max(apart.mesh_to_surface);
        assert!(far < distance * edge, "{file}: {apart:?}, edge {edge}");
    }
}

#[test]
fn shells_have_no_slivers() {
    check_shell(&procedural::torus(1.0, 0.3, 48, 24), 0.05);
}

fn check_shell(input: &SurfaceMesh, wall: f64) {
    let made = shell(input, wall, 1).unwrap();
    let report = made.made.report();
    assert!(report.boundary.is_manifold(), "{report:?}");
    assert!(report.angles.min >= 5.0, "{report:?}");
}

#[test]
fn genus_is_kept() {
    let ring = procedural::torus(1.0, 0.15, 64, 16);
    check_genus("ring", &ring, 3_000);
    // Two rings beside each other: two pieces, a handle each.
    let two = procedural::both(&ring, &procedural::shifted(&ring, DVec3::Y));
    check_genus("two rings", &two, 6_000);
}

fn check_genus(file: &str, input: &SurfaceMesh, count: usize) {
    let made = surface(input, &Options::tets(count)).unwrap();
    let genus = boundary_topology(input.positions().len(), input.triangles()).genus();
    assert!(genus.is_some_and(|g| g > 0), "{file}");
    assert_eq!(made.report().boundary.genus(), genus, "{file}");
}

#[test]
fn broken_surfaces_are_filled() {
    let ball = procedural::shape_surface("ball", 1_500);
    let less = |triangles: &[[u32; 3]]| {
        SurfaceMesh::build(ball.positions().to_vec(), triangles.to_vec()).unwrap()
    };
    let doubled = [ball.triangles(), &ball.triangles()[..40]].concat();
    let (low, high) = ball.bounds();
    let through = procedural::shifted(&ball, 0.3 * (high - low));
    for (name, input) in [
        ("a ball with a hole", less(&ball.triangles()[3..])),
        ("a ball with doubled faces", less(&doubled)),
        (
            "two balls through one another",
            procedural::both(&ball, &through),
        ),
        (
            "a sheet",
            less(&ball.triangles()[..ball.triangles().len() / 3]),
        ),
    ] {
        check_broken(name, &input);
    }
}

fn check_broken(file: &str, input: &SurfaceMesh) {
    // An open sheet becomes a thin plate, which needs some tetrahedra.
    let fill = |tets| surface(input, &Options::tets(tets).with_grading(Grading::Uniform));
    // Walls that are too thin for so few say how many they need.
    let made = match fill(6_000) {
        Err(TetrahedralizeError::WallsTooThin { tets, .. }) => fill(tets),
        other => other,
    };
    let made = made.unwrap_or_else(|error| panic!("{file}: {error}"));
    check(file, &made);
}

#[test]
fn grading_saves_tetrahedra() {
    check_grading(&procedural::shape_surface("rabbit", 8_000));
}

fn check_grading(input: &SurfaceMesh) {
    let (low, high) = input.bounds();
    let edge = (high - low).max_element() / 45.0;
    let count = |grading| {
        let options = Options::edge_length(edge).with_grading(grading);
        surface(input, &options).unwrap().mesh().tets().len() as f64
    };
    let saved = 1.0 - count(Grading::Graded) / count(Grading::Uniform);
    assert!(saved > 0.1, "grading saved {saved}");
}
