//! Files that break other programs: each ends in a usable mesh with the repairs
//! named, or in an error that names file, place, reason and remedy.
//!
//! Why an error and not a repair: a count that promises more than there is
//! (`OutOfMemory`, `missing_element`, `missing_node`) means that a part of the solid
//! is gone, and only the file's owner can say which; a face that names vertices that
//! do not exist (`invalid`) has no place; a cloud of points or an empty file has no
//! surface. Everything else is a surface, with holes or crossings that the mesher
//! copes with and `inspect` reports.

use Outcome::{Error, Usable};
use fracas_bake::Repair::{
    BackFacesRemoved, DegenerateFacesRemoved, InsideOutTurned, PolygonsTriangulated,
    ShortFacesRemoved, TrianglesTurned, UnusedVerticesRemoved, VerticesWelded,
};
use fracas_bake::{Mesh, Place, ReadErrorKind, Repair, inspect_surface, read};
use fracas_conformance::{data, procedural};

#[derive(Debug, PartialEq)]
enum Outcome {
    /// Triangles, vertices, boundary edges, non-manifold edges, components,
    /// intersecting pairs; and the repairs.
    Usable([usize; 6], &'static [(Repair, usize)]),
    Error(ReadErrorKind, Place),
}

#[rustfmt::skip]
const FILES: [(&str, Outcome); 37] = [
    ("assimp_OutOfMemory.off", Error(ReadErrorKind::Truncated, Place::Line(2))),
    ("assimp_crash-30d6d0f7.ply", Error(ReadErrorKind::Syntax, Place::Line(7))),
    ("assimp_invalid.off", Error(ReadErrorKind::IndexOutOfRange, Place::Line(8))),
    ("assimp_malformed2.obj", Usable([10, 8, 4, 0, 1, 0], &[(PolygonsTriangulated, 5), (ShortFacesRemoved, 1)])),
    ("assimp_sphereWithHole.stl", Usable([285, 146, 9, 0, 1, 0], &[])),
    ("bullet_plate.obj", Usable([420, 212, 0, 0, 1, 0], &[(VerticesWelded, 58), (DegenerateFacesRemoved, 120)])),
    ("cgal_bunny_random_perturbation.off", Usable([4968, 14904, 14904, 0, 4968, 4281], &[])),
    ("cgal_degenerated-sd.off", Usable([13473, 7065, 663, 0, 8, 8], &[(VerticesWelded, 3), (DegenerateFacesRemoved, 4)])),
    ("cgal_elephant-with-holes.off", Usable([4463, 2733, 1353, 0, 1, 0], &[(VerticesWelded, 65)])),
    ("cgal_fused_vertices.off", Usable([38, 34, 36, 0, 1, 0], &[(VerticesWelded, 6), (DegenerateFacesRemoved, 7)])),
    ("cgal_nested_spheres_same_orientation.off", Usable([640, 324, 0, 0, 2, 0], &[])),
    ("cgal_non_manifold_face_graph.off", Usable([21, 21, 20, 1, 2, 0], &[(VerticesWelded, 3), (PolygonsTriangulated, 10)])),
    ("cgal_small_ccs.off", Usable([228, 141, 40, 0, 4, 0], &[])),
    ("cgal_tetra_intersected_by_triangle.off", Usable([5, 7, 3, 0, 2, 1], &[(InsideOutTurned, 4)])),
    ("cgal_tetrahedron_flat.off", Usable([4, 4, 0, 0, 1, 0], &[])),
    ("cgal_three_knives.off", Usable([68, 32, 0, 16, 1, 0], &[])),
    // Every face is there twice, facing both ways; as given it has no inside at all.
    ("coacd_Bottle_duplicated_faces.obj", Usable([1126, 600, 72, 0, 2, 100], &[(BackFacesRemoved, 1126), (TrianglesTurned, 1)])),
    ("draco_deg_faces.obj", Usable([3, 5, 5, 0, 1, 0], &[(DegenerateFacesRemoved, 1), (UnusedVerticesRemoved, 1)])),
    ("draco_eof_test.obj", Usable([1, 3, 3, 0, 1, 0], &[])),
    ("draco_float_inf_point_cloud.ply", Error(ReadErrorKind::Empty, Place::File)),
    ("draco_multiple_isolated_triangles.obj", Usable([5, 15, 15, 0, 5, 0], &[])),
    ("gc_fan3.obj", Usable([3, 5, 6, 1, 1, 0], &[])),
    ("gc_moebius.obj", Usable([448, 280, 112, 0, 1, 0], &[(PolygonsTriangulated, 224)])),
    ("ipctk_two-cubes-close.ply", Usable([480, 244, 0, 0, 2, 0], &[(UnusedVerticesRemoved, 18)])),
    ("ipctk_two-cubes-intersecting.ply", Usable([480, 244, 0, 0, 2, 96], &[(UnusedVerticesRemoved, 18)])),
    ("manifold_Havocglass8_left.obj", Usable([164, 84, 0, 0, 1, 0], &[])),
    ("manifold_self_intersectA.obj", Usable([17160, 8582, 0, 0, 1, 338], &[])),
    ("mujoco_malformed_22_missing_element.msh", Error(ReadErrorKind::Syntax, Place::Line(46))),
    ("mujoco_malformed_41_missing_node.msh", Error(ReadErrorKind::Syntax, Place::Line(38))),
    ("trimesh_busted.STL", Usable([3878, 1941, 0, 0, 1, 0], &[])),
    ("trimesh_empty.obj", Error(ReadErrorKind::Empty, Place::File)),
    ("trimesh_empty.stl", Error(ReadErrorKind::Empty, Place::File)),
    ("trimesh_jacked.obj", Usable([12, 8, 0, 0, 1, 0], &[])),
    // Two bodies, both inside out for the most part.
    ("trimesh_multibody.stl", Usable([32, 20, 0, 0, 2, 0], &[(TrianglesTurned, 6), (InsideOutTurned, 32)])),
    ("trimesh_negative_indices.obj", Usable([12, 8, 0, 0, 1, 0], &[(PolygonsTriangulated, 6)])),
    ("trimesh_quadknot.obj", Usable([2880, 1440, 0, 0, 1, 0], &[(PolygonsTriangulated, 1440)])),
    // Non-convex polygons with bridges to holes: fans cross themselves 50 times and
    // open the wall, ears tile it.
    ("trimesh_wallhole.obj", Usable([66, 35, 0, 0, 1, 0], &[(VerticesWelded, 57), (PolygonsTriangulated, 13)])),
];

/// The same faults in files written here.
#[rustfmt::skip]
const OWN: [(&str, &str, Outcome); 8] = [
    ("claims_too_much.off", "OFF\n353535235 6 0\n0 0 0\n", Error(ReadErrorKind::Truncated, Place::Line(2))),
    ("no_such_vertex.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 4\n", Error(ReadErrorKind::IndexOutOfRange, Place::Line(4))),
    ("no_number.off", "OFF\n3 1 0\n0 0 0\n1 0 x\n0 1 0\n3 0 1 2\n", Error(ReadErrorKind::Syntax, Place::Line(4))),
    ("points_only.obj", "v 0 0 0\nv 1 0 0\n", Error(ReadErrorKind::Empty, Place::File)),
    ("one_triangle.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", Usable([1, 3, 3, 0, 1, 0], &[])),
    ("seam.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nf 1 2 3\nf 4 6 5\n", Usable([2, 4, 4, 0, 1, 0], &[(VerticesWelded, 2)])),
    ("flat_and_short.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 5 5 5\nf 1 2 3\nf 1 2\nf 2 2 3\n", Usable([1, 3, 3, 0, 1, 0], &[(ShortFacesRemoved, 1), (DegenerateFacesRemoved, 1), (UnusedVerticesRemoved, 1)])),
    ("crossing.off", "OFF\n6 2 0\n0 0 0\n2 0 0\n0 2 0\n0.5 0.5 -1\n0.5 0.5 1\n3 3 0.5\n3 0 1 2\n3 3 4 5\n", Usable([2, 6, 6, 0, 2, 1], &[])),
];

#[test]
fn bad_files_are_repaired_or_refused() {
    for (name, text, expected) in OWN {
        check(name, &procedural::file(name, text), expected);
    }
}

/// As above; and no file of the folder is missing from the table.
#[test]
fn public_bad_files_are_repaired_or_refused() {
    for (name, expected) in FILES {
        if let Some(path) = data::find(&format!("bad/{name}")) {
            check(name, &path, expected);
        }
    }
    // Compared below with what is in the folder, sorted.
    let names = FILES.map(|(name, _)| name);
    assert!(names.is_sorted_by(|a, b| a < b), "sorted, and each once");
    let Some(folder) = data::find("bad") else {
        return;
    };
    let mut found: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    found.sort();
    assert_eq!(found, FILES.map(|(name, _)| name.to_owned()));
}

fn check(name: &str, path: &std::path::Path, expected: Outcome) {
    {
        match (read(path), expected) {
            (Ok(Mesh::Surface(mesh, repairs)), Usable(counts, wanted)) => {
                mesh.validate().unwrap();
                let r = inspect_surface(&mesh);
                let found = [
                    r.triangles,
                    r.vertices,
                    r.boundary_edges,
                    r.nonmanifold_edges,
                    r.components,
                    r.self_intersections,
                ];
                assert_eq!(found, counts, "{name}: {repairs}");
                assert_eq!(repairs.iter().collect::<Vec<_>>(), wanted, "{name}");
                let strip = name == "gc_moebius.obj";
                assert_eq!(r.oriented, !strip, "{name}");
                assert!(!r.closed || r.volume > 0.0, "{name} is inside out");
            }
            (Err(error), Error(kind, place)) => {
                assert_eq!((error.kind(), error.place()), (kind, place), "{error}");
                let text = error.to_string();
                for part in [name, error.reason(), error.help()] {
                    assert!(text.contains(part), "{text}");
                }
            }
            (result, expected) => panic!("{name}: {result:?} where {expected:?} was expected"),
        }
    }
}
