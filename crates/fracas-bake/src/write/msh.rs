//! Gmsh 4.1, text.

use std::io::{self, Write};

use fracas_core::TetMesh;

use super::{Field, FieldOn, check_fields};

/// Writes tetrahedra with scalars on nodes and tetrahedra as Gmsh 4.1.
///
/// # Errors
/// Of `out`, and where a field does not fit the mesh.
pub fn write_msh(out: &mut dyn Write, mesh: &TetMesh, fields: &[Field<'_>]) -> io::Result<()> {
    check_fields(mesh, fields)?;
    let (nodes, tets) = (mesh.positions().len(), mesh.tets().len());
    writeln!(out, "$MeshFormat\n4.1 0 8\n$EndMeshFormat")?;
    // One block of one volume (dimension 3, number 1); numbers count from 1.
    writeln!(out, "$Nodes\n1 {nodes} 1 {nodes}\n3 1 0 {nodes}")?;
    for node in 1..=nodes {
        writeln!(out, "{node}")?;
    }
    for p in mesh.positions() {
        writeln!(out, "{} {} {}", p.x, p.y, p.z)?;
    }
    writeln!(out, "$EndNodes\n$Elements\n1 {tets} 1 {tets}\n3 1 4 {tets}")?;
    for (t, nodes) in mesh.tets().iter().enumerate() {
        let [a, b, c, d] = nodes.map(|n| n + 1);
        writeln!(out, "{} {a} {b} {c} {d}", t + 1)?;
    }
    writeln!(out, "$EndElements")?;
    for field in fields {
        let section = match field.on {
            FieldOn::Nodes => "NodeData",
            FieldOn::Tets => "ElementData",
        };
        // One text tag (the name), one real (the time), three integers: time step,
        // components, values.
        let count = field.values.len();
        writeln!(
            out,
            "${section}\n1\n\"{}\"\n1\n0.0\n3\n0\n1\n{count}",
            field.name
        )?;
        for (i, value) in field.values.iter().enumerate() {
            writeln!(out, "{} {value}", i + 1)?;
        }
        writeln!(out, "$End{section}")?;
    }
    Ok(())
}
