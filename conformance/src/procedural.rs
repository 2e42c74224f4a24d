//! Cases made in code, which always run: the public data may be absent, and a test
//! that then asserts nothing is none.
//!
//! They stand for the kinds of the public meshes (solid, thin, hollow, ringed) and are
//! small, so that they cost little where the public ones run as well.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use fracas_bake::tetrahedralize::{Options, surface};
use fracas_bake::{SurfaceMesh, boundary_surface, shapes};
use fracas_core::TetMesh;
use glam::DVec3;

/// Tet meshes of every kind, with names.
///
/// # Panics
/// When a shape of the set cannot be made.
#[must_use]
pub fn tet_meshes() -> Vec<(&'static str, Arc<TetMesh>)> {
    let shape = |name: &'static str, tets| {
        let shape = shapes::by_name(name).expect("a shape of the set");
        (name, Arc::new(shape.build_with_tets(tets)))
    };
    vec![
        shape("ball", 2_500),
        shape("bowl", 1_500),
        ("ring", Arc::new(ring_of_tets())),
    ]
}

/// A ring filled with tetrahedra.
///
/// # Panics
/// When it cannot be filled.
#[must_use]
pub fn ring_of_tets() -> TetMesh {
    let options = Options::tets(1_500);
    let made = surface(&torus(1.0, 0.35, 36, 18), &options).expect("a torus is filled");
    made.into_mesh()
}

/// A torus about the y axis: genus 1, `2 around sides` triangles.
///
/// # Panics
/// When a count is below 3.
#[must_use]
pub fn torus(radius: f64, tube: f64, around: u32, sides: u32) -> SurfaceMesh {
    assert!(around > 2 && sides > 2);
    let turn = |i: u32, n: u32| std::f64::consts::TAU * f64::from(i % n) / f64::from(n);
    let number = |i: u32, j: u32| (i % around) * sides + j % sides;
    let (mut positions, mut triangles) = (Vec::new(), Vec::new());
    for i in 0..around {
        for j in 0..sides {
            let (a, b) = (turn(i, around), turn(j, sides));
            let r = radius + tube * b.cos();
            positions.push(DVec3::new(r * a.cos(), tube * b.sin(), r * a.sin()));
            let [a, b] = [number(i, j), number(i, j + 1)];
            let [c, d] = [number(i + 1, j), number(i + 1, j + 1)];
            triangles.extend([[a, b, c], [b, d, c]]);
        }
    }
    SurfaceMesh::build(positions, triangles).expect("a torus is a surface")
}

/// The surface of a shape of the set, about as fine as so many tetrahedra.
///
/// # Panics
/// When there is no such shape.
#[must_use]
pub fn shape_surface(name: &str, tets: usize) -> SurfaceMesh {
    let shape = shapes::by_name(name).expect("a shape of the set");
    boundary_surface(&shape.build_with_tets(tets))
}

/// Two surfaces in one.
///
/// # Panics
/// Never, for surfaces that are sound.
#[must_use]
pub fn both(a: &SurfaceMesh, b: &SurfaceMesh) -> SurfaceMesh {
    let shift = a.positions().len() as u32;
    let positions = [a.positions(), b.positions()].concat();
    let moved = b.triangles().iter().map(|t| t.map(|v| v + shift));
    let triangles = a.triangles().iter().copied().chain(moved).collect();
    SurfaceMesh::build(positions, triangles).expect("two surfaces are one")
}

/// The same surface elsewhere.
///
/// # Panics
/// Never, for finite shifts.
#[must_use]
pub fn shifted(mesh: &SurfaceMesh, by: DVec3) -> SurfaceMesh {
    let positions = mesh.positions().iter().map(|&p| p + by).collect();
    SurfaceMesh::build(positions, mesh.triangles().to_vec()).expect("still a surface")
}

/// Writes a file into a folder of this process and returns its path.
///
/// # Panics
/// When it cannot be written.
#[must_use]
pub fn file(name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| {
        let name = format!("fracas-conformance-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).expect("a temporary folder");
        folder
    });
    let path: PathBuf = Path::new(folder).join(name);
    std::fs::write(&path, bytes).expect("a temporary file");
    path
}
