//! The README's figures and numbers, taken from a report.
//!
//! Figures are copied to `docs/pictures` under their names there; the numbers stand
//! in README.md between two marks, with the command, seed, commit and machine of the
//! sections they come from. Nothing else of the file is touched.

use std::fmt::Write as _;
use std::path::Path;

use thiserror::Error;

use crate::page::figures;
use crate::section::{Block, Section, Table, short};
use crate::store::{Store, StoreError, write};

/// Where the numbers begin in README.md.
pub const BEGIN: &str = "<!-- numbers: written by `fracas report readme` -->";
/// Where they end.
pub const END: &str = "<!-- end of numbers -->";

/// Figures of documents: section, number of the figure in it, file in `docs/pictures`.
pub const FIGURES: [(&str, usize, &str); 6] = [
    ("glondu-stills", 1, "piggy-bank.png"),
    ("glondu-fig3", 1, "fragment-field-slice.png"),
    ("glondu-fig12", 4, "bricks-times.svg"),
    ("dingliana-fig6", 1, "voxel-groups.png"),
    ("dingliana-fig9", 1, "voxel-contacts.png"),
    ("peers-fresh-fracture", 1, "fresh-fracture.svg"),
];

/// Why the README cannot be written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReadmeError {
    /// Reading or writing failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// README.md cannot be read.
    #[error("cannot read {path}: {source}; run it from the repository's root")]
    Read {
        /// Which.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// The marks are not there.
    #[error("README.md has no `{0}`: put it back where the numbers belong")]
    NoMark(&'static str),
    /// A section was not measured.
    #[error("the report has no {id}: run `fracas report --only {id}` first")]
    Missing {
        /// Which.
        id: String,
    },
}

/// Writes figures and numbers into a working tree. Returns the files written.
///
/// # Errors
/// See [`ReadmeError`].
pub fn update(store: &Store, root: &Path) -> Result<Vec<String>, ReadmeError> {
    let sections = store.sections()?;
    let find = |id: &str| {
        let there = sections.iter().find(|s| s.id == id && !s.is_skipped());
        there.ok_or_else(|| ReadmeError::Missing { id: id.into() })
    };
    let path = root.join("README.md");
    let text = std::fs::read_to_string(&path).map_err(|source| ReadmeError::Read {
        path: path.display().to_string(),
        source,
    })?;
    let text = between_marks(&text, &numbers(&find)?)?;
    let mut written = Vec::new();
    for (id, number, file) in FIGURES {
        let figures = figures(find(id)?);
        let figure = figures
            .get(number - 1)
            .ok_or_else(|| ReadmeError::Missing { id: id.into() })?;
        write(&root.join("docs/pictures").join(file), &figure.bytes)?;
        written.push(format!("docs/pictures/{file}"));
    }
    write(&path, text.as_bytes())?;
    written.push("README.md".into());
    Ok(written)
}

fn between_marks(text: &str, numbers: &str) -> Result<String, ReadmeError> {
    let (before, rest) = text.split_once(BEGIN).ok_or(ReadmeError::NoMark(BEGIN))?;
    let (_, after) = rest.split_once(END).ok_or(ReadmeError::NoMark(END))?;
    Ok(format!("{before}{BEGIN}\n\n{numbers}\n{END}{after}"))
}

fn numbers<'a>(
    find: &dyn Fn(&str) -> Result<&'a Section, ReadmeError>,
) -> Result<String, ReadmeError> {
    let mut out = String::new();
    let times = find("glondu-table3")?;
    let value = |name: &str| times.values.get(name).map_or("–".into(), |v| short(*v));
    // Writing to a string cannot fail, here and below.
    let _ = writeln!(
        out,
        "The piggy bank, milliseconds a step of 15 ms of world time, one thread ({}):\n",
        source(times)
    );
    let _ = writeln!(out, "| | mean | 99% | max |\n| --- | --- | --- | --- |");
    for what in ["total", "collision", "physics"] {
        let cells = ["mean", "p99", "max"].map(|k| value(&format!("piggy-bank.{what}.{k}")));
        let _ = writeln!(out, "| {what} | {} |", cells.join(" | "));
    }
    for (what, key) in [
        ("update of field and tree, at the break", "update"),
        ("deciding and cutting, at the break", "fracture"),
    ] {
        let _ = writeln!(
            out,
            "| {what} | | | {} |",
            value(&format!("piggy-bank.{key}.max"))
        );
    }
    let fresh = find("peers-fresh-fracture")?;
    let table = fresh.blocks.iter().find_map(|b| match b {
        Block::Table(table) => Some(table),
        _ => None,
    });
    if let Some(table) = table {
        let _ = writeln!(
            out,
            "\nA cube that has just broken into 64 concave pieces, in fracas and in other engines; processor milliseconds, metres ({}):\n",
            source(fresh)
        );
        out += &markdown(table);
    }
    Ok(out)
}

fn source(section: &Section) -> String {
    let p = &section.provenance;
    format!(
        "`{}`, seed {}, commit {}, {}",
        p.command, p.seed, p.commit, p.machine
    )
}

fn markdown(table: &Table) -> String {
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let mut out = line(table.columns.iter().map(|c| c.head.clone()).collect());
    out += &line(vec!["---".into(); table.columns.len()]);
    for row in &table.rows {
        out += &line(row.iter().map(|c| c.text.replace('|', "/")).collect());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::{Mark, Plot};
    use crate::section::{Provenance, Role};

    fn report(folder: &Path) -> Store {
        let store = Store::new(folder);
        let mut ids: Vec<&str> = FIGURES.iter().map(|f| f.0).collect();
        ids.push("glondu-table3");
        for id in ids {
            let mut section = Section {
                id: id.into(),
                provenance: Provenance {
                    command: format!("report --only {id}"),
                    ..Provenance::default()
                },
                ..Section::default()
            };
            section.value("piggy-bank.total.mean", 2.5);
            let mut table = Table::new("t").columns(Role::Ours, &["n"]);
            table.row([7.0.into()]);
            section.table(table);
            for _ in 0..4 {
                let mut plot = Plot::new("p", "x", "y");
                plot.add("s", Mark::Line, [(0.0, 1.0), (1.0, 2.0)]);
                section.plot(plot);
            }
            store.keep(&section).unwrap();
        }
        store
    }

    #[test]
    fn numbers_and_figures_are_replaced_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let readme = folder.path().join("README.md");
        let store = report(&folder.path().join("report"));
        std::fs::write(&readme, "no marks").unwrap();
        let error = update(&store, folder.path()).unwrap_err();
        assert!(matches!(error, ReadmeError::NoMark(_)), "{error}");
        std::fs::write(&readme, format!("head\n{BEGIN}\nold\n{END}\ntail\n")).unwrap();
        let written = update(&store, folder.path()).unwrap();
        assert_eq!(written.len(), FIGURES.len() + 1);
        let text = std::fs::read_to_string(&readme).unwrap();
        assert!(text.starts_with("head\n") && text.ends_with("\ntail\n"));
        assert!(text.contains("| total | 2.50 | – | – |") && !text.contains("old"));
        assert!(text.contains("`report --only glondu-table3`"));
        // Again: the same.
        update(&store, folder.path()).unwrap();
        assert_eq!(std::fs::read_to_string(&readme).unwrap(), text);
        let svg = folder.path().join("docs/pictures/bricks-times.svg");
        assert!(std::fs::read_to_string(svg).unwrap().contains("xmlns"));
    }

    #[test]
    fn a_section_that_was_not_measured_is_named() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("README.md"), format!("{BEGIN}{END}")).unwrap();
        let error = update(&Store::new(folder.path()), folder.path()).unwrap_err();
        assert!(
            error.to_string().contains("--only glondu-table3"),
            "{error}"
        );
    }
}
