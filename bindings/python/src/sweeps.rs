//! The report's long sweeps: one part of them, and putting the parts together.

use std::path::PathBuf;

use fracas_report::run::chosen;
use fracas_report::{Options, Scale, Shard, Store};
use pyo3::prelude::*;

use crate::errors::{refuse, run_long};

/// The most shards of a sweep: as many as the largest has tasks.
const MOST_SHARDS: u64 = 490_000;

/// Measures part `index` of `count` (from 1) of a sweep of the report, as
/// `fracas report --only SECTION --shard INDEX/COUNT` does, and keeps it in the folder
/// `out`. `scale` is tiny, default or full. It is done on one thread, and so is all that
/// the process does later: use a process of its own.
#[pyfunction]
#[pyo3(signature = (section, index, count, out, scale = "default", seed = 0))]
pub fn measure_shard(
    py: Python<'_>,
    section: &str,
    index: u64,
    count: u64,
    out: PathBuf,
    scale: &str,
    seed: u64,
) -> PyResult<()> {
    let mut sections = chosen(Some(section));
    sections.retain(|s| s.sweep.is_some() && s.id == section);
    if sections.is_empty() {
        return Err(refuse(format!("no sweep is called {section}")));
    }
    let scales = [Scale::Tiny, Scale::Default, Scale::Full];
    let scale = scales
        .into_iter()
        .find(|s| s.name() == scale)
        .ok_or_else(|| refuse(format!("a scale is tiny, default or full, not {scale}")))?;
    if index == 0 || index > count || count > MOST_SHARDS {
        let why = format!("shard {index} of {count}: use 1 to N of N, at most {MOST_SHARDS}");
        return Err(refuse(why));
    }
    let options = Options {
        scale,
        seed,
        jobs: 1,
        ..Options::default()
    };
    let shard = Some(Shard { index, count });
    run_long(py, move || {
        fracas_report::run(&Store::new(out), &options, &sections, shard, &|_| ())
    })?
    .map_err(refuse)
}

/// Puts parts of sweeps together, as `fracas report merge` does: takes the shards of the
/// folders `parts`, writes sections and page into the folder `out`. Returns the names of
/// the sections.
#[pyfunction]
pub fn merge_shards(py: Python<'_>, parts: Vec<PathBuf>, out: PathBuf) -> PyResult<Vec<String>> {
    run_long(py, move || {
        let parts: Vec<Store> = parts.into_iter().map(Store::new).collect();
        fracas_report::merge(&parts, &Store::new(out))
    })?
    .map_err(refuse)
}
