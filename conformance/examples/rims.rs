//! Gaps and overlaps at the rims of broken models: `rims SEEDS [NAME...]`, all models or
//! those whose name has one of these in it. The scoreboard has the worst of all.

//!
//! Models and seeds go beside each other on all threads (`RAYON_NUM_THREADS`); the table has
//! the same order and numbers on any number of them.

use fracas_conformance::rims::{Rims, measure, model_files};
use rayon::prelude::*;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let seeds = args.first().and_then(|n| n.parse().ok()).unwrap_or(20);
    let names = args.get(1..).unwrap_or_default();
    let folder = std::env::temp_dir().join(format!("fracas-rims-{}", std::process::id()));
    let mut models = model_files(&folder);
    models.retain(|(name, _)| names.is_empty() || names.iter().any(|n| name.contains(n.as_str())));
    let found: Vec<Result<Rims, String>> = models
        .par_iter()
        .with_max_len(1)
        .map(|(name, path)| {
            let found = measure(path, seeds);
            eprintln!("{name}: done");
            found
        })
        .collect();
    for ((name, _), found) in models.iter().zip(found) {
        match found {
            Ok(rims) => println!(
                "{name}: {} tetrahedra, {} of {seeds} broke, {} draped; longest open side {:.1e} \
                 of the diagonal, volume off by {:.1e} in its own triangles, {:.1e} draped",
                rims.tets, rims.broke, rims.draped, rims.widest, rims.off[0], rims.off[1]
            ),
            Err(error) => println!("{name}: left out: {error}"),
        }
    }
    let _ = std::fs::remove_dir_all(&folder);
}
