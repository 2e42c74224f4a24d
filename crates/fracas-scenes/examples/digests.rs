//! `cargo xtask digests`: the digests of all scenes, compared with those that are kept.
//!
//! Arguments: `print`, `check` or `write`, then the file. `FRACAS_DIGESTS_ONLY` names a
//! part of the scenes, for printing.

use std::error::Error;

use fracas_scenes::digests::{compare, measure, to_text};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let task = arguments.next().unwrap_or_else(|| "print".into());
    let file = arguments.next();
    match (task.as_str(), file) {
        ("print", _) => {
            let only = std::env::var("FRACAS_DIGESTS_ONLY").unwrap_or_default();
            print!("{}", to_text(&measure(&only, 1)?));
        }
        ("write", Some(file)) => {
            std::fs::write(&file, to_text(&measure("", 1)?))?;
            println!("wrote {file}");
        }
        ("check", Some(file)) => {
            let differ = compare(&measure("", 1)?, &std::fs::read_to_string(&file)?);
            for line in &differ {
                println!("{line}");
            }
            if !differ.is_empty() {
                return Err(format!(
                    "{} scenes differ from {file}; where that is meant, run `cargo xtask digests --write` and say so in the commit",
                    differ.len()
                )
                .into());
            }
            println!("all scenes end as they are kept");
        }
        _ => return Err("use: print | check FILE | write FILE".into()),
    }
    Ok(())
}
