//! Wavefront OBJ.

use std::io::{self, Write};

use crate::surface_mesh::SurfaceMesh;

/// Writes a surface, with its texture coordinates where it has them.
///
/// # Errors
/// Of `out`.
pub fn write_obj(out: &mut dyn Write, mesh: &SurfaceMesh) -> io::Result<()> {
    for p in mesh.positions() {
        writeln!(out, "v {} {} {}", p.x, p.y, p.z)?;
    }
    for uv in mesh.uvs().into_iter().flatten().flatten() {
        writeln!(out, "vt {} {}", uv.x, uv.y)?;
    }
    for (t, corners) in mesh.triangles().iter().enumerate() {
        let [a, b, c] = corners.map(|v| v + 1);
        if mesh.uvs().is_some() {
            // Each corner has its own, in order.
            let [x, y, z] = [1, 2, 3].map(|k| 3 * t + k);
            writeln!(out, "f {a}/{x} {b}/{y} {c}/{z}")?;
        } else {
            writeln!(out, "f {a} {b} {c}")?;
        }
    }
    Ok(())
}
