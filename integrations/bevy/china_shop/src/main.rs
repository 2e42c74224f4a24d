//! `china-shop FOLDER [TETS]`: writes the scene into a folder, as `china_shop.glb`, and beside
//! it a `.fracas` file for each thing, filled with about so many tetrahedra, where it brings
//! none.

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;

use china_shop::{bake_thing, file_name, things, write};

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let tets = words.get(1).map(|word| word.parse());
    let (Some(folder), Ok(tets), 1..=2) = (words.first(), tets.transpose(), words.len()) else {
        eprintln!("usage: china-shop FOLDER [TETS]");
        return ExitCode::from(2);
    };
    match write_all(Path::new(folder), tets) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn write_all(folder: &Path, tets: Option<usize>) -> Result<(), Box<dyn Error>> {
    std::fs::create_dir_all(folder)?;
    let things = things();
    let scene = write(&things);
    std::fs::write(folder.join("china_shop.glb"), &scene)?;
    println!("   china_shop.glb: {} kB", scene.len() / 1000);
    for thing in &things {
        let baked = bake_thing(thing, tets)?;
        let name = file_name(&thing.name);
        let (bytes, count) = (baked.asset.to_bytes(), baked.asset.mesh().tets().len());
        println!("   {name}: {count} tetrahedra, {} kB", bytes.len() / 1000);
        for note in &baked.notes {
            println!("   {name}: {note}");
        }
        std::fs::write(folder.join(name), bytes)?;
    }
    Ok(())
}
