//! PLY, binary, little-endian, double precision. Texture coordinates are left out:
//! programs do not agree on how faces carry them.

use std::io::{self, Write};

use crate::surface_mesh::SurfaceMesh;

/// Writes a surface without texture coordinates.
///
/// # Errors
/// Of `out`.
pub fn write_ply(out: &mut dyn Write, mesh: &SurfaceMesh) -> io::Result<()> {
    writeln!(out, "ply\nformat binary_little_endian 1.0")?;
    writeln!(out, "element vertex {}", mesh.positions().len())?;
    for axis in ["x", "y", "z"] {
        writeln!(out, "property double {axis}")?;
    }
    writeln!(out, "element face {}", mesh.triangles().len())?;
    writeln!(out, "property list uchar uint vertex_indices\nend_header")?;
    for p in mesh.positions() {
        for number in p.to_array() {
            out.write_all(&number.to_le_bytes())?;
        }
    }
    for corners in mesh.triangles() {
        out.write_all(&[3])?;
        for vertex in corners {
            out.write_all(&vertex.to_le_bytes())?;
        }
    }
    Ok(())
}
