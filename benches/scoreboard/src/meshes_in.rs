//! Mesh files in: every public file loads with the counts of its manifest, and the
//! examination of a large surface takes seconds.

use fracas_bake::{Mesh, inspect_surface, inspect_tets, read, read_surface, read_tet_mesh};
use fracas_conformance::data;

use crate::board::{Board, Measured, Target, best_ms};

/// Rows of mesh files.
pub fn rows(board: &mut Board) {
    let manifest = data::find("MANIFEST.md").and_then(|path| std::fs::read_to_string(path).ok());
    let Some(manifest) = manifest else {
        for name in [
            "meshes/surface-files",
            "meshes/tet-files",
            "meshes/bad-files",
        ] {
            board.skip(name, "the public data are not there");
        }
        return;
    };
    let surfaces = section(&manifest, "## surface");
    files(
        board,
        "meshes/surface-files",
        &surfaces,
        "surface",
        |path, row| {
            // Triangles, vertices, boundary and non-manifold edges, components, and
            // intersecting pairs as CGAL counts them.
            let Ok((mesh, _)) = read_surface(path) else {
                return false;
            };
            let r = inspect_surface(&mesh);
            let found = [
                r.triangles,
                r.vertices,
                r.boundary_edges,
                r.nonmanifold_edges,
                r.components,
            ];
            let same = (0..5).all(|k| row[2 + k].parse() == Ok(found[k]));
            same && row[8].parse() == Ok(r.self_intersections)
        },
    );
    let tets = section(&manifest, "## tet");
    files(board, "meshes/tet-files", &tets, "tet", |path, row| {
        let Ok((mesh, _)) = read_tet_mesh(path) else {
            return false;
        };
        let r = inspect_tets(&mesh);
        let found = [
            r.nodes,
            r.tets,
            r.boundary.triangles,
            r.boundary.nonmanifold_edges,
        ];
        (0..4).all(|k| row[2 + k].parse() == Ok(found[k]))
    });
    let bad = section(&manifest, "## bad");
    files(
        board,
        "meshes/bad-files",
        &bad,
        "bad",
        |path, _| match read(path) {
            Ok(Mesh::Surface(mesh, _)) => mesh.validate().is_ok(),
            Ok(Mesh::Tets(soup)) => soup.into_mesh().is_ok(),
            Err(error) => ![error.file(), error.reason(), error.help()].contains(&""),
        },
    );
    if let Some(path) = data::find("surface/dragon_100k_watertight.obj") {
        board.row(
            "meshes/inspect-100k-triangles",
            "ms",
            Target::AtMost(5000.0),
            || {
                let reading = best_ms(3, || read_surface(&path).expect("it is a good file"));
                let (mesh, _) = read_surface(&path).expect("it is a good file");
                let ms = best_ms(3, || inspect_surface(&mesh));
                Measured::new(ms).note(format!("reading it: {reading:.0} ms"))
            },
        );
    }
}

/// The cells of all rows that name a file, in one section of the manifest.
fn section<'a>(manifest: &'a str, heading: &str) -> Vec<Vec<&'a str>> {
    manifest
        .lines()
        .skip_while(|line| line.trim() != heading)
        .skip(1)
        .take_while(|line| !line.starts_with("## "))
        .filter(|line| line.starts_with("| ") && line.contains('.'))
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
        .filter(|cells: &Vec<&str>| cells[0].contains('.'))
        .collect()
}

/// How many of the files pass; all must.
fn files(
    board: &mut Board,
    name: &str,
    rows: &[Vec<&str>],
    folder: &str,
    passes: impl Fn(&std::path::Path, &[&str]) -> bool,
) {
    let count = rows.len() as f64;
    board.row(name, "files", Target::AtLeast(count.max(1.0)), || {
        let mut failed = Vec::new();
        for row in rows {
            let path = data::find(&format!("{folder}/{}", row[0]));
            if !path.is_some_and(|path| passes(&path, row)) {
                failed.push(row[0]);
            }
        }
        Measured::new(count - failed.len() as f64).note(failed.join(" "))
    });
}
