//! `fracas shapes`: the things generated in code.

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;
use fracas::TetMesh;
use fracas_bake::shapes::{self, Counts};
use fracas_picture::Sheet;

use crate::{interrupt, look};

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
    #[arg(long, value_name = "FILE")]
    png: Option<PathBuf>,
}

/// Lists the set; generates it where asked.
pub fn run(options: &Shapes) -> Result<(), Box<dyn Error>> {
    for shape in shapes::ALL {
        println!("{:<12} {}", shape.name(), shape.about());
    }
    if !options.counts && options.obj.is_none() && options.png.is_none() {
        return Ok(());
    }
    let mut sheet = Sheet::new(3).title("the procedural set");
    println!(
        "\n{:<12} {:>16} {:>16} {:>16}",
        "", "triangles", "tetrahedra", "points"
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
        println!(
            "{:<12} {:>16} {:>16} {:>16}",
            shape.name(),
            beside(ours.triangles, |c| c.triangles),
            beside(ours.tets, |c| c.tets),
            beside(ours.points, |c| c.points),
        );
        if let Some(folder) = &options.obj {
            std::fs::create_dir_all(folder)?;
            write_obj(&mesh, &folder.join(format!("{}.obj", shape.name())))?;
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
    println!("in brackets: Table 1 of Glondu 2013");
    if let Some(path) = &options.png {
        look::save(&sheet.image(), path)?;
        println!("wrote {}", path.display());
    }
    Ok(())
}

/// Writes the surface; only its own vertices, numbered from 1.
fn write_obj(mesh: &TetMesh, path: &Path) -> Result<(), Box<dyn Error>> {
    let mut number = vec![0_u32; mesh.positions().len()];
    let mut vertices = String::new();
    let mut faces = String::new();
    let mut next = 1;
    for face in mesh.boundary() {
        for n in face.nodes {
            if number[n as usize] == 0 {
                number[n as usize] = next;
                next += 1;
                let p = mesh.positions()[n as usize];
                writeln!(vertices, "v {} {} {}", p.x, p.y, p.z)?;
            }
        }
        let [a, b, c] = face.nodes.map(|n| number[n as usize]);
        writeln!(faces, "f {a} {b} {c}")?;
    }
    let _whole = interrupt::lock();
    Ok(std::fs::write(path, vertices + &faces)?)
}
