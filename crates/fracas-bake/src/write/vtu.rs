//! VTK XML unstructured grid, text: what ParaView opens.

use std::fmt::Display;
use std::io::{self, Write};

use fracas_core::TetMesh;

use super::{Field, FieldOn, check_fields};

/// VTK's number for a linear tetrahedron.
const TETRA: u8 = 10;

/// Writes tetrahedra with scalars on nodes and tetrahedra as `.vtu`.
///
/// # Errors
/// Of `out`, and where a field does not fit the mesh.
pub fn write_vtu(out: &mut dyn Write, mesh: &TetMesh, fields: &[Field<'_>]) -> io::Result<()> {
    check_fields(mesh, fields)?;
    let (nodes, tets) = (mesh.positions().len(), mesh.tets().len());
    writeln!(out, r#"<?xml version="1.0"?>"#)?;
    writeln!(
        out,
        r#"<VTKFile type="UnstructuredGrid" version="0.1" byte_order="LittleEndian">"#
    )?;
    writeln!(out, "<UnstructuredGrid>")?;
    writeln!(
        out,
        r#"<Piece NumberOfPoints="{nodes}" NumberOfCells="{tets}">"#
    )?;
    for (section, on) in [("PointData", FieldOn::Nodes), ("CellData", FieldOn::Tets)] {
        writeln!(out, "<{section}>")?;
        for field in fields.iter().filter(|f| f.on == on) {
            array(out, "Float32", field.name, 1, field.values.iter())?;
        }
        writeln!(out, "</{section}>")?;
    }
    writeln!(out, "<Points>")?;
    let coordinates = mesh.positions().iter().flat_map(|p| p.to_array());
    array(out, "Float32", "Points", 3, coordinates)?;
    writeln!(out, "</Points>\n<Cells>")?;
    array(
        out,
        "Int32",
        "connectivity",
        1,
        mesh.tets().iter().flatten(),
    )?;
    array(out, "Int64", "offsets", 1, (1..=tets).map(|t| 4 * t))?;
    array(out, "UInt8", "types", 1, (0..tets).map(|_| TETRA))?;
    writeln!(out, "</Cells>\n</Piece>\n</UnstructuredGrid>\n</VTKFile>")
}

fn array(
    out: &mut dyn Write,
    kind: &str,
    name: &str,
    components: usize,
    values: impl Iterator<Item = impl Display>,
) -> io::Result<()> {
    writeln!(
        out,
        r#"<DataArray type="{kind}" Name="{name}" NumberOfComponents="{components}" format="ascii">"#
    )?;
    for (i, value) in values.enumerate() {
        let gap = if i % 12 == 11 { '\n' } else { ' ' };
        write!(out, "{value}{gap}")?;
    }
    writeln!(out, "\n</DataArray>")
}
