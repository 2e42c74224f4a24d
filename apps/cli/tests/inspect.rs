//! The command as a user runs it: what it prints, and how it exits.

use std::path::PathBuf;
use std::process::{Command, Output};

/// A folder of this test's own, removed at its end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("fracas-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path = self.0.join(name);
        std::fs::write(&path, content).unwrap();
        path.display().to_string()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn fracas(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_fracas"))
        .args(arguments)
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

const TETRAHEDRON: &str =
    "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 2 3 4\nf 1 4 3\nf 1 2 4\nf 1 3 2\n";
const TETS: &str = "MeshVersionFormatted 2\nDimension 3\nVertices 4\n0 0 0 0\n1 0 0 0\n0 1 0 0\n0 0 1 0\nTetrahedra 1\n1 3 2 4 0\nEnd\n";

#[test]
fn a_surface_is_described_in_a_table_and_in_json() {
    let folder = Folder::new("surface");
    let file = folder.file("t.obj", TETRAHEDRON);
    let output = fracas(&["inspect", &file]);
    assert_eq!(output.status.code(), Some(0));
    let table = text(&output.stdout);
    for line in [
        "triangles",
        "closed",
        "genus",
        "self-intersections",
        "volume",
    ] {
        assert!(table.contains(line), "{table}");
    }
    assert!(table.contains("0.166667"), "{table}");

    let output = fracas(&["inspect", "--json", &file]);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["surface"]["triangles"], 4);
    assert_eq!(json["surface"]["genus"], 0);
    assert_eq!(json["surface"]["closed"], true);
}

#[test]
fn tets_are_described_with_quality_and_repairs() {
    let folder = Folder::new("tets");
    let file = folder.file("t.mesh", TETS);
    let table = text(&fracas(&["inspect", &file]).stdout);
    for line in [
        "1 negatively oriented tetrahedra flipped",
        "dihedral",
        "radius",
        "boundary",
    ] {
        assert!(table.contains(line), "{table}");
    }
    let output = fracas(&["inspect", "--json", &file]);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["tets"]["boundary"]["triangles"], 4);
    assert_eq!(json["repairs"][0]["count"], 1);
}

#[test]
fn bad_files_exit_with_1_and_bad_usage_with_2() {
    let folder = Folder::new("bad");
    let file = folder.file("t.obj", TETRAHEDRON.replace("f 1 3 2", "f 1 3 9"));
    let output = fracas(&["inspect", &file]);
    assert_eq!(output.status.code(), Some(1));
    let message = text(&output.stderr);
    assert!(
        message.starts_with("error: ") && message.contains("t.obj, line 8: "),
        "{message}"
    );
    for missing in ["no-such-file.obj", "/"] {
        assert_eq!(fracas(&["inspect", missing]).status.code(), Some(1));
    }
    for usage in [&["inspect"][..], &["no-such-command"], &[]] {
        assert_eq!(fracas(usage).status.code(), Some(2));
    }
    let help = text(&fracas(&["inspect", "--help"]).stdout);
    assert!(help.contains("Examples:"), "{help}");
}

/// Headers that claim billions of things, read by a process that may have 256 MB.
#[cfg(target_os = "linux")]
#[test]
fn headers_that_lie_cost_no_memory() {
    let folder = Folder::new("liars");
    let vertices = "property float x\nproperty float y\nproperty float z\n";
    let mut stl = vec![0; 80];
    stl.extend_from_slice(&u32::MAX.to_le_bytes());
    let files = [
        folder.file("a.off", "OFF\n353535235358 6 0\n0 0 0\n"),
        folder.file("b.ply", format!("ply\nformat binary_little_endian 1.0\nelement vertex 4000000000\n{vertices}end_header\n")),
        folder.file("c.stl", stl),
        folder.file("d.msh", "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n1 4000000000 1 4000000000\n3 1 0 4000000000\n1\n"),
        folder.file("e.msh", "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n4000000000\n1 0 0 0\n"),
        folder.file("f.vtk", "# vtk DataFile Version 2.0\nx\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 4000000000 float\n"),
        folder.file("g.mesh", "MeshVersionFormatted 1\nDimension 3\nVertices 4000000000\n"),
        folder.file("h.gltf", r#"{"asset":{"version":"2.0"},"nodes":[{"mesh":0}],"meshes":[{"primitives":[{"attributes":{"POSITION":0}}]}],"accessors":[{"bufferView":0,"componentType":5126,"count":4000000000,"type":"VEC3"}],"bufferViews":[{"buffer":0,"byteLength":12}],"buffers":[{"uri":"data:;base64,AAAAAAAAAAAAAAAA","byteLength":12}]}"#),
    ];
    for file in files {
        let output = Command::new("sh")
            .arg("-c")
            .arg("ulimit -v 262144; exec \"$0\" inspect \"$1\"")
            .arg(env!("CARGO_BIN_EXE_fracas"))
            .arg(&file)
            .output()
            .unwrap();
        let message = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{file}: {message}");
        assert!(
            message.contains("claims") || message.contains("do not fit"),
            "{message}"
        );
    }
}
