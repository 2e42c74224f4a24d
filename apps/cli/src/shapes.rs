//! `fracas shapes`: the things generated in code.

use std::error::Error;
use std::path::{Path, PathBuf};

use clap::Args;
use fracas_bake::SurfaceMesh;
use fracas_bake::shapes::{self, Counts};
use fracas_bake::write::write_obj;
use fracas_core::TetMesh;
use fracas_picture::Sheet;

use crate::output::say;
use crate::{files, look};

/// Arguments of `fracas shapes`.
#[derive(Args)]
pub struct Shapes {
    /// Also generate all of them and print their counts beside the paper's.
    #[arg(long)]
    counts: bool,
    /// Also write the surface of each to this folder, as OBJ.
    #[arg(long, value_name = "FOLDER")]
    obj: Option<PathBuf>,
    /// Also write a picture of all of them.
    #[arg(long, value_name = "FILE", value_parser = crate::arguments::target(&["png"]))]
    png: Option<PathBuf>,
}

/// Lists the set; generates it where asked.
pub fn run(options: &Shapes) -> Result<(), Box<dyn Error>> {
    for shape in shapes::ALL {
        say!("{:<12} {}", shape.name(), shape.about());
    }
    if !options.counts && options.obj.is_none() && options.png.is_none() {
        return Ok(());
    }
    let mut sheet = Sheet::new(3).title("the procedural set");
    say!(
        "\n{:<12} {:>16} {:>16} {:>16}",
        "",
        "triangles",
        "tetrahedra",
        "points"
    );
    for shape in shapes::ALL {
        let mesh = shape.build();
        let ours = Counts::of(&mesh);
        let beside = |ours: usize, theirs: fn(&Counts) -> usize| {
            let paper = shape
                .paper()
                .map_or(String::new(), |p| format!(" ({})", theirs(&p)));
            format!("{ours}{paper}")
        };
        say!(
            "{:<12} {:>16} {:>16} {:>16}",
            shape.name(),
            beside(ours.triangles, |c| c.triangles),
            beside(ours.tets, |c| c.tets),
            beside(ours.points, |c| c.points),
        );
        if let Some(folder) = &options.obj {
            std::fs::create_dir_all(folder)?;
            write_surface(&mesh, &folder.join(format!("{}.obj", shape.name())))?;
        }
        if options.png.is_some() {
            let picture = look::surface(&mesh, shape.colour(), look::FRONT, [440, 360]);
            let caption = format!(
                "{}\n{} triangles, {} tets",
                shape.name(),
                ours.triangles,
                ours.tets
            );
            sheet.add(picture, caption);
        }
    }
    say!("in brackets: Table 1 of Glondu 2013");
    if let Some(path) = &options.png {
        look::save(&sheet.image(), path)?;
        say!("wrote {}", path.display());
    }
    Ok(())
}

/// Writes the surface; only its own vertices.
fn write_surface(mesh: &TetMesh, path: &Path) -> Result<(), Box<dyn Error>> {
    let mut number = vec![u32::MAX; mesh.positions().len()];
    let mut positions = Vec::new();
    let mut triangles = Vec::new();
    for face in mesh.boundary() {
        triangles.push(face.nodes.map(|n| {
            let slot = &mut number[n as usize];
            if *slot == u32::MAX {
                *slot = positions.len() as u32;
                positions.push(mesh.positions()[n as usize].as_dvec3());
            }
            *slot
        }));
    }
    let mut bytes = Vec::new();
    write_obj(&mut bytes, &SurfaceMesh::build(positions, triangles)?)?;
    Ok(files::save(path, bytes)?)
}
