//! Our OBJ and STL readers against `tobj` and `stl_io`, which read the same files by
//! other code; and the reasons for not using them, held true.

use std::io::Cursor;
use std::path::Path;

use fracas_bake::{Mesh, SurfaceMesh, read_bytes, read_surface, write_obj};
use fracas_conformance::{data, procedural};
use glam::DVec3;

/// The corners of all triangles, in order.
fn corners(mesh: &SurfaceMesh) -> Vec<[DVec3; 3]> {
    (0..mesh.triangles().len() as u32)
        .map(|t| mesh.corners(t))
        .collect()
}

fn by_tobj(bytes: &[u8]) -> Result<Vec<[DVec3; 3]>, tobj::LoadError> {
    let options = tobj::LoadOptions {
        triangulate: true,
        ..tobj::LoadOptions::default()
    };
    let no_materials = |_: &std::path::Path| Ok((Vec::new(), Default::default()));
    let (models, _) = tobj::load_obj_buf(&mut Cursor::new(bytes), &options, no_materials)?;
    Ok(models
        .iter()
        .flat_map(|model| {
            let mesh = &model.mesh;
            let position = |v: u32| DVec3::from_slice(&mesh.positions[3 * v as usize..][..3]);
            mesh.indices
                .chunks_exact(3)
                .map(move |t| [position(t[0]), position(t[1]), position(t[2])])
        })
        .collect())
}

#[test]
fn public_surfaces_are_what_others_read() {
    for name in [
        "surface/bowl_open_shell.obj",
        "surface/bunny_manifold_hr.obj",
        "surface/bunny_npm_3674.obj",
        "surface/dragon_100k_watertight.obj",
        "surface/mug.obj",
        "surface/nut-big.obj",
        "surface/screw-big.obj",
        "surface/snowflake.obj",
        "surface/spot.obj",
        "bad/trimesh_jacked.obj",
        "bad/manifold_self_intersectA.obj",
    ] {
        if let Some(path) = data::find(name) {
            check_obj(&path);
        }
    }
    if let Some(path) = data::find("bad/trimesh_busted.STL") {
        check_stl(&path);
    }
}

#[test]
fn obj_surface_is_what_tobj_reads() {
    let mut bytes = Vec::new();
    write_obj(&mut bytes, &procedural::shape_surface("rabbit", 2_000)).unwrap();
    check_obj(&procedural::file("rabbit.obj", bytes));
}

fn check_obj(path: &Path) {
    let theirs = by_tobj(&std::fs::read(path).unwrap()).unwrap();
    let (mesh, _) = read_surface(path).unwrap();
    // Bit for bit, in the same order.
    assert!(corners(&mesh) == theirs, "{}", path.display());
}

#[test]
fn stl_surface_is_what_stl_io_reads() {
    // Binary STL as `stl_io` writes it, of a torus in single precision.
    let torus = procedural::torus(1.0, 0.25, 24, 12);
    let facets: Vec<stl_io::Triangle> = corners(&torus)
        .iter()
        .map(|t| stl_io::Triangle {
            normal: stl_io::Normal::new([0.0; 3]),
            vertices: t.map(|p| stl_io::Vertex::new(p.as_vec3().to_array())),
        })
        .collect();
    let mut bytes = Vec::new();
    stl_io::write_stl(&mut bytes, facets.iter()).unwrap();
    check_stl(&procedural::file("torus.stl", bytes));
}

fn check_stl(path: &Path) {
    let mut file = Cursor::new(std::fs::read(path).unwrap());
    let position = |v: stl_io::Vertex| DVec3::from_array(v.0.map(f64::from));
    let theirs: Vec<[DVec3; 3]> = stl_io::create_stl_reader(&mut file)
        .unwrap()
        .map(|triangle| triangle.unwrap().vertices.map(position))
        .collect();
    let (mesh, _) = read_surface(path).unwrap();
    assert!(corners(&mesh) == theirs);
}

const FACET: &str =
    "facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n";

/// Where this fails, the other reader has become better: think again.
#[test]
fn the_reasons_for_our_own_readers_still_hold() {
    let ours = |name: &str, bytes: &[u8]| match read_bytes(name, bytes) {
        Ok(Mesh::Surface(mesh, _)) => mesh.triangles().len(),
        other => panic!("{name}: {other:?}"),
    };
    let triangle = "v 0 0 0\nv 1 0 0\nv 0 1 0\n";

    // One byte of Latin-1 in a comment.
    let latin = [b"# caf\xe9\n", triangle.as_bytes(), b"f 1 2 3\n"].concat();
    assert!(by_tobj(&latin).is_err());
    assert_eq!(ours("a.obj", &latin), 1);
    // A line that goes on in the next.
    let continued = format!("{triangle}f 1 2 \\\n3\n");
    assert!(by_tobj(continued.as_bytes()).map_or(0, |t| t.len()) != 1);
    assert_eq!(ours("a.obj", continued.as_bytes()), 1);
    // A polygon that is not convex: a fan covers ground outside it.
    let arrow = "v 0 0 0\nv 2 -2 0\nv 0 3 0\nv -2 -2 0\nf 2 3 4 1\n";
    let area = |t: &[[DVec3; 3]]| -> f64 {
        t.iter()
            .map(|[a, b, c]| (*b - *a).cross(*c - *a).length() / 2.0)
            .sum()
    };
    assert!(area(&by_tobj(arrow.as_bytes()).unwrap()) > 6.5);
    let Ok(Mesh::Surface(mesh, _)) = read_bytes("a.obj", arrow.as_bytes()) else {
        panic!("an arrow is a surface");
    };
    assert_eq!(mesh.area(), 6.0);

    // Several solids in one text file.
    let other = FACET.replace("0 0 0", "1 1 0");
    let two = format!("solid a\n{FACET}endsolid a\nsolid b\n{other}endsolid b\n");
    let read = stl_io::read_stl(&mut Cursor::new(two.as_bytes()));
    assert_eq!(read.map_or(0, |mesh| mesh.faces.len()), 1);
    assert_eq!(ours("a.stl", two.as_bytes()), 2);
    // No name after `solid`.
    let unnamed = format!("solid\n{FACET}endsolid\n");
    assert!(stl_io::read_stl(&mut Cursor::new(unnamed.as_bytes())).is_err());
    assert_eq!(ours("a.stl", unnamed.as_bytes()), 1);
}
