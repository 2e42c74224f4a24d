//! Runs sections one after the other and keeps each as soon as it is measured.

use crate::bench::Bench;
use crate::machine;
use crate::options::Options;
use crate::section::{Provenance, Section};
use crate::sections::{SECTIONS, SectionInfo};
use crate::shards::{Shard, ShardFile};
use crate::store::{Store, StoreError};

/// What is under way, for a progress bar.
#[derive(Clone, Copy, Debug)]
pub enum Progress<'a> {
    /// A section begins.
    Section {
        /// How many are done.
        done: usize,
        /// How many there are.
        of: usize,
        /// Its name.
        id: &'a str,
    },
    /// A part of it begins.
    Stage(&'a str),
}

/// Makes the calling thread the only one that its own parallel work runs on: times are those
/// of one thread, and what other threads did for it would not be counted.
fn work_alone() {
    thread_local! {
        static ALONE: Option<rayon::ThreadPool> = rayon::ThreadPoolBuilder::new()
            .num_threads(1)
            .use_current_thread()
            .build()
            .ok();
    }
    ALONE.with(|_| ());
}

/// Sections whose name contains `only`, or all.
pub fn chosen(only: Option<&str>) -> Vec<&'static SectionInfo> {
    SECTIONS
        .iter()
        .filter(|s| only.is_none_or(|only| s.id.contains(only)))
        .collect()
}

/// The command that measures a section again.
#[must_use]
pub fn command(id: &str, options: &Options) -> String {
    let mut text = String::new();
    // Public meshes stand in for generated ones where they are at hand.
    if options.data.is_some() && (id.starts_with("heo") || id == "peers-tets") {
        text += "FRACAS_DATA=DATA ";
    }
    text += &format!("cargo run --release -- report --only {id}");
    match options.scale.name() {
        "default" => {}
        scale => text += &format!(" --{scale}"),
    }
    if options.seed != 0 {
        text += &format!(" --seed {}", options.seed);
    }
    if options.python.is_some() && id.starts_with("peers") {
        text += " --peers python3";
    }
    if options.box3d.is_some() && id == "peers-fresh-fracture" {
        text += " --box3d fracas-peer-box3d";
    }
    text
}

/// Where the numbers of a section measured now come from.
#[must_use]
pub fn provenance(id: &str, options: &Options) -> Provenance {
    Provenance {
        command: command(id, options),
        seed: options.seed,
        commit: machine::COMMIT.into(),
        machine: machine::name(),
        scale: options.scale.name().into(),
        seconds: 0.0,
    }
}

/// An empty section.
pub(crate) fn blank(info: &SectionInfo, options: &Options) -> Section {
    Section {
        id: info.id.into(),
        group: info.group.into(),
        title: info.title.into(),
        provenance: provenance(info.id, options),
        ..Section::default()
    }
}

/// Measures sections and keeps them. With a shard, only sections that can be cut
/// into shards are measured, and their part is kept.
///
/// # Errors
/// See [`StoreError`].
pub fn run(
    store: &Store,
    options: &Options,
    sections: &[&SectionInfo],
    shard: Option<Shard>,
    progress: &dyn Fn(Progress<'_>),
) -> Result<(), StoreError> {
    work_alone();
    let stage = |text: &str| progress(Progress::Stage(text));
    let bench = Bench::new(options, &stage);
    for (done, info) in sections.iter().enumerate() {
        progress(Progress::Section {
            done,
            of: sections.len(),
            id: info.id,
        });
        let start = machine::wall_seconds();
        let mut section = blank(info, options);
        if let Some(shard) = shard {
            let Some(sweep) = info.sweep else { continue };
            let mut provenance = section.provenance.clone();
            provenance.command += &format!(" --shard {}/{}", shard.index, shard.count);
            let tally = (sweep.measure)(&bench, shard);
            provenance.seconds = machine::wall_seconds() - start;
            store.keep_shard(&ShardFile {
                id: info.id.into(),
                index: shard.index,
                count: shard.count,
                tally,
                provenance,
            })?;
            continue;
        }
        if let Err(skip) = (info.run)(&bench, &mut section) {
            section.notice(skip.to_string());
        }
        section.provenance.seconds = machine::wall_seconds() - start;
        store.keep(&section)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_timed_has_no_helpers() {
        let own = std::thread::current().id();
        work_alone();
        work_alone();
        assert_eq!(rayon::current_num_threads(), 1);
        let who = || std::thread::current().id();
        assert_eq!(rayon::join(who, who), (own, own));
    }
}
