//! Every public mesh file loads with the counts of its manifest, and `inspect` finds
//! the topology and the self-intersections that other programs found.

use fracas_bake::{Repair, inspect_surface, inspect_tets, read_surface, read_tet_mesh};
use fracas_conformance::data;

/// Name, triangles, vertices, boundary edges, components, genus, intersecting pairs
/// (exact, by CGAL through libigl).
type Surface = (
    &'static str,
    usize,
    usize,
    usize,
    usize,
    Option<usize>,
    usize,
);

const SURFACES: [Surface; 12] = [
    ("bowl_open_shell.obj", 2560, 1321, 80, 1, None, 0),
    ("bunny_manifold_hr.obj", 59664, 29834, 0, 1, Some(0), 0),
    ("bunny_npm_3674.obj", 3674, 1839, 0, 1, Some(0), 0),
    // The manifest's genus 0.5 is a pinched vertex: taken apart there, genus 0.
    ("cow.off", 5804, 2903, 0, 1, Some(0), 89),
    (
        "dragon_100k_watertight.obj",
        100_000,
        50_000,
        0,
        1,
        Some(1),
        25,
    ),
    ("elephant.off", 5558, 2775, 0, 1, Some(3), 0),
    ("knot1.off", 6400, 3200, 0, 1, Some(1), 0),
    ("mug.obj", 24544, 12272, 0, 1, Some(1), 0),
    ("nut-big.obj", 2418, 1209, 0, 1, Some(1), 0),
    ("screw-big.obj", 2828, 1416, 0, 1, Some(0), 0),
    ("snowflake.obj", 2208, 1080, 0, 1, Some(13), 0),
    ("spot.obj", 5856, 2930, 0, 1, Some(0), 0),
];

#[test]
fn surfaces_have_the_counts_and_topology_of_the_manifest() {
    for (name, triangles, vertices, boundary, components, genus, intersections) in SURFACES {
        let Some(path) = data::find(&format!("surface/{name}")) else {
            return;
        };
        let (mesh, repairs) = read_surface(path).unwrap();
        mesh.validate().unwrap();
        let report = inspect_surface(&mesh);
        let found = (
            report.triangles,
            report.vertices,
            report.boundary_edges,
            report.components,
            report.genus,
            report.self_intersections,
        );
        let expected = (
            triangles,
            vertices,
            boundary,
            components,
            genus,
            intersections,
        );
        assert_eq!(found, expected, "{name}\n{report:?}\n{repairs}");
        assert_eq!(report.nonmanifold_edges, 0, "{name}");
        assert_eq!(
            report.pinched_vertices,
            usize::from(name == "cow.off"),
            "{name}"
        );
        assert!(report.self_intersections_complete);
    }
}

/// Name, nodes, tets, boundary triangles, non-manifold boundary edges, solid
/// components, Euler characteristic of the boundary, inverted as read.
type Tets = (&'static str, usize, usize, usize, usize, usize, i64, usize);

const TETS: [Tets; 14] = [
    ("bullet_bread.vtk", 600, 2425, 688, 0, 1, 2, 0),
    ("bullet_torus.vtk", 1036, 4436, 1002, 0, 1, 0, 0),
    ("cgal_mesh3_elephant.mesh", 2358, 6590, 4584, 0, 1, -4, 0),
    (
        "derived_ftetwild_mug.msh",
        7064,
        25307,
        10484,
        0,
        1,
        0,
        25307,
    ),
    ("ipc_bunny.msh", 4670, 19379, 6266, 0, 1, 2, 0),
    ("ipc_hammer.msh", 2705, 9683, 4090, 0, 1, 2, 0),
    ("ipc_plate1.msh", 3362, 9600, 6720, 0, 1, 2, 0),
    ("ipc_sphere1K.msh", 1760, 6851, 2474, 0, 1, 2, 0),
    ("ipc_torus.msh", 200, 491, 400, 0, 1, 0, 0),
    ("mujoco_cube_41_ascii_vol.msh", 14, 24, 24, 0, 1, 2, 0),
    ("mujoco_cube_41_binary_vol.msh", 14, 24, 24, 0, 1, 2, 0),
    (
        "mujoco_shark_fTetWild_ascii22.msh",
        425,
        1070,
        786,
        1,
        1,
        1,
        0,
    ),
    (
        "mujoco_shark_fTetWild_bin22.msh",
        429,
        1073,
        792,
        1,
        1,
        1,
        0,
    ),
    ("pbd_armadillo_4k.ele", 1180, 3717, 2102, 0, 1, 2, 0),
];

#[test]
fn tets_have_the_counts_and_boundary_of_the_manifest() {
    for (name, nodes, tets, boundary, nonmanifold, components, euler, inverted) in TETS {
        let Some(path) = data::find(&format!("tet/{name}")) else {
            return;
        };
        let (mesh, repairs) = read_tet_mesh(path).unwrap();
        mesh.validate().unwrap();
        let report = inspect_tets(&mesh);
        let surface = &report.boundary;
        let found = (
            report.nodes,
            report.tets,
            surface.triangles,
            surface.nonmanifold_edges,
            report.components,
            surface.vertices as i64 - surface.edges as i64 + surface.triangles as i64,
            repairs.count(Repair::TetsFlipped),
        );
        let expected = (
            nodes,
            tets,
            boundary,
            nonmanifold,
            components,
            euler,
            inverted,
        );
        assert_eq!(found, expected, "{name}\n{repairs}");
        assert!(surface.closed, "{name}");
        assert_eq!((report.inverted, report.folded), (0, 0), "{name}");
        let relative = (surface.volume - report.volume).abs() / report.volume;
        assert!(
            relative < 1e-6,
            "{name}: boundary encloses what the tets fill"
        );
    }
}

#[test]
fn either_file_of_a_tetgen_pair_opens_both() {
    let Some(node) = data::find("tet/pbd_armadillo_4k.node") else {
        return;
    };
    let ele = node.with_extension("ele");
    assert_eq!(read_tet_mesh(node).unwrap(), read_tet_mesh(ele).unwrap());
}

#[test]
fn binary_and_text_of_one_cube_agree() {
    let Some(text) = data::find("tet/mujoco_cube_41_ascii_vol.msh") else {
        return;
    };
    let binary = text.with_file_name("mujoco_cube_41_binary_vol.msh");
    assert_eq!(read_tet_mesh(text).unwrap(), read_tet_mesh(binary).unwrap());
}

#[test]
fn gzipped_ply_of_either_byte_order_loads() {
    for (name, triangles, vertices) in [
        ("cloth-ball/frames/cloth_ball92.ply.gz", 92230, 46598),
        ("cloth-funnel/frames/227.ply", 18484, 9450),
    ] {
        let Some(path) = data::find(&format!("ccd/scalable-ccd/{name}")) else {
            return;
        };
        let (mesh, repairs) = read_surface(path).unwrap();
        let welded = repairs.count(Repair::VerticesWelded);
        assert_eq!(mesh.triangles().len(), triangles, "{name}: {repairs}");
        assert_eq!(
            mesh.positions().len() + welded,
            vertices,
            "{name}: {repairs}"
        );
    }
}

#[test]
fn pieces_of_a_broken_wall_are_closed_and_fill_their_volume() {
    for (set, count, volume) in [("wall/wall-piece-", 100, 9.966), ("cube/cell-", 8, 7.978)] {
        let mut total = 0.0;
        for piece in 0..count {
            let digits = if count == 100 { 5 } else { 1 };
            let name = format!("fracture/rigid-ipc/{set}{piece:0digits$}.obj");
            let Some(path) = data::find(&name) else {
                return;
            };
            let (mesh, _) = read_surface(path).unwrap();
            let report = inspect_surface(&mesh);
            assert!(report.closed && report.oriented, "{name}: {report:?}");
            total += report.volume;
        }
        assert!((total - volume).abs() < 1e-3 * volume, "{set}: {total}");
    }
}
