//! `china-shop FOLDER TETS`: writes the scene into a folder, as `china_shop.glb`, and beside it
//! a `.fracas` file for each thing, filled with about so many tetrahedra, where it brings none.

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;

use china_shop::{bake_thing, file_name, things, write};

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [folder, count] = words.as_slice() else {
        eprintln!("usage: china-shop FOLDER TETS");
        return ExitCode::from(2);
    };
    let written = count.parse().map_err(Into::into);
    match written.and_then(|count| write_all(Path::new(folder), count)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn write_all(folder: &Path, count: usize) -> Result<(), Box<dyn Error>> {
    std::fs::create_dir_all(folder)?;
    let save = |name: &str, bytes: &[u8]| {
        println!("   {name}: {} kB", bytes.len() / 1000);
        std::fs::write(folder.join(name), bytes)
    };
    let things = things();
    save("china_shop.glb", &write(&things))?;
    for thing in &things {
        let baked = bake_thing(thing, count)?;
        for note in &baked.notes {
            println!("   {}: {note}", thing.name);
        }
        println!(
            "   {}: {} tetrahedra",
            thing.name,
            baked.asset.mesh().tets().len()
        );
        save(&file_name(&thing.name), &baked.asset.to_bytes())?;
    }
    Ok(())
}
