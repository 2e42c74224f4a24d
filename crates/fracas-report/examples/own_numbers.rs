//! Numbers of one's own as a page like the report's: a table and a claim.
//!
//! `cargo run --release -p fracas-report --example own_numbers`

use std::env;
use std::error::Error;
use std::fs;
use std::sync::Arc;
use std::time::Instant;

use fracas_core::{FragmentId, Fragments, grid::bent_grid};
use fracas_fracture::patterns::{VoronoiOptions, voronoi};
use fracas_report::html::{Chapter, page};
use fracas_report::section::{Role, Section, Table};
use glam::Vec3;

const CHAPTER: Chapter = Chapter {
    group: "Our game",
    about: "What breaking costs in it.",
};

fn main() -> Result<(), Box<dyn Error>> {
    let mesh = Arc::new(bent_grid([20, 10, 10], false, |p: Vec3| 0.01 * p)?);
    let mut table = Table::new("Cutting a block of 12,000 tetrahedra.")
        .columns(Role::Plain, &["pieces"])
        .columns(Role::Ours, &["milliseconds"]);
    let mut worst = 0.0_f64;
    for pieces in [5, 10, 20, 40, 80] {
        let mut fragments = Fragments::new(Arc::clone(&mesh));
        let options = VoronoiOptions {
            pieces,
            ..VoronoiOptions::default()
        };
        let start = Instant::now();
        let fracture = voronoi(&fragments, FragmentId(0), &options).ok_or("it is no solid")?;
        let made = fragments.apply(&fracture)?.children.len();
        let time = start.elapsed().as_secs_f64() * 1e3;
        table.row([made.into(), time.into()]);
        worst = worst.max(time);
    }
    let mut section = Section {
        id: "cutting".into(),
        group: CHAPTER.group.into(),
        title: "Cutting".into(),
        ..Section::default()
    };
    section.table(table);
    let found = format!("{worst:.1} ms at most");
    section.claim(
        "Ours",
        "A break fits a frame.",
        worst < 16.7,
        found,
        "It does not.",
    );
    // Plots and pictures: `Section::plot`, `Section::picture`.
    let path = env::temp_dir().join("own_numbers.html");
    fs::write(&path, page(&[section], &[CHAPTER]))?;
    println!("{}", path.display());
    Ok(())
}
