//! Every public mesh file loads with the counts of its manifest, and `inspect` finds
//! the topology and the self-intersections that other programs found.

use base64::prelude::{BASE64_STANDARD, Engine as _};
use fracas_bake::{
    Repair, SurfaceMesh, inspect_surface, inspect_tets, read_surface, read_tet_mesh, write_msh,
    write_obj, write_ply, write_vtu,
};
use fracas_conformance::{data, procedural};
use fracas_core::{FragmentId, FragmentSurface, Fragments, SurfaceScratch, TetMesh};
use fracas_fracture::patterns::{VoronoiOptions, voronoi};
use glam::DVec3;

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
fn public_surfaces_have_their_counts() {
    for (name, triangles, vertices, boundary, components, genus, intersections) in SURFACES {
        let Some(path) = data::find(&format!("surface/{name}")) else {
            continue;
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
    // PLY of both byte orders, one of them packed.
    for (name, triangles, vertices) in [
        ("cloth-ball/frames/cloth_ball92.ply.gz", 92230, 46598),
        ("cloth-funnel/frames/227.ply", 18484, 9450),
    ] {
        let Some(path) = data::find(&format!("ccd/scalable-ccd/{name}")) else {
            continue;
        };
        let (mesh, repairs) = read_surface(path).unwrap();
        let welded = repairs.count(Repair::VerticesWelded);
        let found = (mesh.triangles().len(), mesh.positions().len() + welded);
        assert_eq!(found, (triangles, vertices), "{name}: {repairs}");
    }
}

/// In every format that is written.
#[test]
fn surfaces_have_the_counts_they_were_made_with() {
    let ring = procedural::torus(1.0, 0.3, 24, 10);
    let apart = procedural::both(&ring, &procedural::shifted(&ring, 3.0 * DVec3::X));
    let linked = procedural::both(&ring, &procedural::shifted(&ring, 0.8 * DVec3::X));
    let open = SurfaceMesh::build(ring.positions().to_vec(), ring.triangles()[2..].to_vec());
    for (name, mesh, triangles, vertices, boundary, components, genus) in [
        ("ring", ring, 480, 240, 0, 1, Some(1)),
        ("two rings", apart, 960, 480, 0, 2, Some(2)),
        ("two rings that cross", linked, 960, 480, 0, 2, Some(2)),
        ("an open ring", open.unwrap(), 478, 240, 4, 1, None),
    ] {
        type Write = fn(&mut dyn std::io::Write, &SurfaceMesh) -> std::io::Result<()>;
        for (suffix, write) in [("obj", write_obj as Write), ("ply", write_ply)] {
            let mut bytes = Vec::new();
            write(&mut bytes, &mesh).unwrap();
            let path = procedural::file(&format!("{name}.{suffix}"), bytes);
            let (read, repairs) = read_surface(path).unwrap();
            assert!(repairs.is_empty(), "{name}: {repairs}");
            assert_eq!(read, mesh, "{name}");
        }
        let r = inspect_surface(&mesh);
        assert_eq!((r.triangles, r.vertices), (triangles, vertices), "{name}");
        assert_eq!(
            (r.boundary_edges, r.components, r.genus),
            (boundary, components, genus)
        );
        assert_eq!(r.self_intersections > 0, name.ends_with("cross"), "{name}");
        assert_eq!((r.nonmanifold_edges, r.pinched_vertices), (0, 0), "{name}");
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

/// Counts and boundaries are those of the manifest; files that hold the same agree; pieces of
/// broken things are closed and fill their volume.
#[test]
fn public_tets_and_pieces_have_their_counts() {
    for (name, nodes, tets, boundary, nonmanifold, components, euler, inverted) in TETS {
        let Some(path) = data::find(&format!("tet/{name}")) else {
            continue;
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
    let pairs = [
        ("tet/pbd_armadillo_4k.node", "pbd_armadillo_4k.ele"),
        (
            "tet/mujoco_cube_41_ascii_vol.msh",
            "mujoco_cube_41_binary_vol.msh",
        ),
    ];
    for (one, other) in pairs {
        if let Some(one) = data::find(one) {
            let other = one.with_file_name(other);
            assert_eq!(read_tet_mesh(one).unwrap(), read_tet_mesh(other).unwrap());
        }
    }
    for (set, count, volume) in [("wall/wall-piece-", 100, 9.966), ("cube/cell-", 8, 7.978)] {
        let digits = if count == 100 { 5 } else { 1 };
        let names = (0..count).map(|i| format!("fracture/rigid-ipc/{set}{i:0digits$}.obj"));
        let paths: Vec<_> = names.map_while(|name| data::find(&name)).collect();
        if paths.len() == count {
            let volumes = paths.iter().map(|path| {
                let report = inspect_surface(&read_surface(path).unwrap().0);
                assert!(report.closed && report.oriented, "{path:?}: {report:?}");
                report.volume
            });
            let total: f64 = volumes.sum();
            assert!((total - volume).abs() < 1e-3 * volume, "{set}: {total}");
        }
    }
}

/// In every format that is written or easily put together.
#[test]
fn tets_come_back_from_every_format() {
    for (name, mesh) in procedural::tet_meshes() {
        let genus = i64::from(name == "ring");
        let report = inspect_tets(&mesh);
        let surface = &report.boundary;
        assert_eq!((report.components, report.inverted), (1, 0), "{name}");
        let euler = surface.vertices as i64 - surface.edges as i64 + surface.triangles as i64;
        assert_eq!(euler, 2 - 2 * genus, "{name}");
        assert!(
            (surface.volume / report.volume - 1.0).abs() < 1e-6,
            "{name}"
        );
        type Write = fn(&mut Vec<u8>, &TetMesh);
        let formats: [(&str, Write); 3] = [
            ("msh", |out, mesh| write_msh(out, mesh, &[]).unwrap()),
            ("vtu", |out, mesh| write_vtu(out, mesh, &[]).unwrap()),
            ("mesh", medit),
        ];
        for (suffix, write) in formats {
            let mut bytes = Vec::new();
            write(&mut bytes, &mesh);
            let path = procedural::file(&format!("{name}.{suffix}"), bytes);
            let (read, repairs) = read_tet_mesh(path).unwrap();
            assert!(repairs.is_empty(), "{name}.{suffix}: {repairs}");
            assert_eq!(&read, mesh.as_ref(), "{name}.{suffix}");
        }
    }
}

fn medit(out: &mut Vec<u8>, mesh: &TetMesh) {
    let mut text = format!(
        "MeshVersionFormatted 2\nDimension 3\nVertices {}\n",
        mesh.positions().len()
    );
    for p in mesh.positions() {
        text += &format!("{} {} {} 0\n", p.x, p.y, p.z);
    }
    text += &format!("Tetrahedra {}\n", mesh.tets().len());
    for [a, b, c, d] in mesh.tets() {
        text += &format!("{} {} {} {} 0\n", a + 1, b + 1, c + 1, d + 1);
    }
    out.extend((text + "End\n").into_bytes());
}

#[test]
fn either_file_of_a_tetgen_pair_opens_both() {
    let own = procedural::ring_of_tets();
    let mut nodes = format!("{} 3 0 0\n", own.positions().len());
    for (i, p) in own.positions().iter().enumerate() {
        nodes += &format!("{i} {} {} {}\n", p.x, p.y, p.z);
    }
    let mut tets = format!("{} 4 0\n", own.tets().len());
    for (i, [a, b, c, d]) in own.tets().iter().enumerate() {
        tets += &format!("{i} {a} {b} {c} {d}\n");
    }
    let written = procedural::file("pair.node", nodes);
    let _ = procedural::file("pair.ele", tets);
    assert_eq!(read_tet_mesh(&written).unwrap().0, own);
    let ele = written.with_extension("ele");
    assert_eq!(read_tet_mesh(written).unwrap(), read_tet_mesh(ele).unwrap());
}

#[test]
fn binary_and_text_of_one_cube_agree() {
    // VTU as we write it, and the same with its points in base64.
    let own = procedural::ring_of_tets();
    let mut bytes = Vec::new();
    write_vtu(&mut bytes, &own, &[]).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    let head = r#"Name="Points" NumberOfComponents="3" format="#;
    let (before, rest) = text.split_once(head).unwrap();
    let (_, after) = rest.split_once("</DataArray>").unwrap();
    let flat: Vec<f32> = own.positions().iter().flat_map(|p| p.to_array()).collect();
    let mut raw = (4 * flat.len() as u32).to_le_bytes().to_vec();
    raw.extend(flat.iter().flat_map(|x| x.to_le_bytes()));
    let coded = format!(
        "{before}{head}\"binary\">{}</DataArray>{after}",
        BASE64_STANDARD.encode(&raw)
    );
    let binary = procedural::file("coded.vtu", coded);
    assert_eq!(read_tet_mesh(binary).unwrap().0, own);
}

#[test]
fn gzipped_ply_of_either_byte_order_loads() {
    let mesh = procedural::torus(1.0, 0.3, 24, 10);
    let mut bytes = Vec::new();
    write_ply(&mut bytes, &mesh).unwrap();
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut packer, &bytes).unwrap();
    let path = procedural::file("packed.ply.gz", packer.finish().unwrap());
    assert_eq!(read_surface(path).unwrap().0, mesh);
}

#[test]
fn written_pieces_are_closed_and_fill_their_volume() {
    // A shape broken here, its pieces written and read again.
    for (name, mesh) in procedural::tet_meshes() {
        let mut fragments = Fragments::new(mesh);
        let options = VoronoiOptions {
            pieces: 12,
            ..VoronoiOptions::default()
        };
        let fracture = voronoi(&fragments, FragmentId(0), &options).unwrap();
        let split = fragments.apply(&fracture).unwrap();
        let mut total = 0.0;
        for &id in &split.children {
            let piece = FragmentSurface::extract(&fragments, id, &mut SurfaceScratch::default());
            let positions = piece.positions().iter().map(|p| p.as_dvec3()).collect();
            let piece = SurfaceMesh::build(positions, piece.triangles().to_vec()).unwrap();
            let mut bytes = Vec::new();
            write_obj(&mut bytes, &piece).unwrap();
            let path = procedural::file(&format!("{name}-{}.obj", id.0), bytes);
            let report = inspect_surface(&read_surface(path).unwrap().0);
            assert!(report.closed && report.oriented, "{name}, {id}: {report:?}");
            total += report.volume;
        }
        let volume = fragments.mesh().volume();
        assert!(
            (total / volume - 1.0).abs() < 1e-4,
            "{name}: {total} of {volume}"
        );
    }
}
