//! A long sweep cut into independent parts, and putting the parts together.
//!
//! A sweep is a list of numbered tasks; shard i of n does the tasks whose number
//! leaves i - 1 when divided by n. Each task adds whole numbers to a tally, so that
//! neither the order nor the number of shards changes a bit of the sum.

use std::collections::BTreeMap;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::bench::{Options, Scale};
use crate::run::blank;
use crate::section::Provenance;
use crate::sections::{SECTIONS, Sweep};
use crate::store::{Store, StoreError};

/// One part of a sweep: `2/8` on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Which, from 1.
    pub index: u64,
    /// Of how many.
    pub count: u64,
}

impl Shard {
    /// All of it.
    pub const WHOLE: Self = Self { index: 1, count: 1 };

    /// The numbers of its tasks, of so many.
    pub fn tasks(self, of: u64) -> impl Iterator<Item = u64> {
        (self.index - 1..of).step_by(self.count as usize)
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (index, count) = text
            .split_once('/')
            .and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)))
            .ok_or("use I/N, for example 2/8")?;
        if index == 0 || index > count {
            return Err(format!("the first number must be from 1 to {count}"));
        }
        Ok(Self { index, count })
    }
}

/// Whole numbers by key: sums of what the tasks measured.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally(pub BTreeMap<u32, Vec<u64>>);

impl Tally {
    /// Adds what one task measured.
    pub fn add(&mut self, key: u32, numbers: &[u64]) {
        let sums = self.0.entry(key).or_default();
        sums.resize(sums.len().max(numbers.len()), 0);
        for (sum, number) in sums.iter_mut().zip(numbers) {
            *sum += number;
        }
    }

    /// Adds another tally.
    pub fn merge(&mut self, other: &Self) {
        for (&key, numbers) in &other.0 {
            self.add(key, numbers);
        }
    }
}

/// The file of one shard.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ShardFile {
    /// The section.
    pub id: String,
    /// Which shard, from 1.
    pub index: u64,
    /// Of how many.
    pub count: u64,
    /// What it measured.
    pub tally: Tally,
    /// Where it comes from.
    pub provenance: Provenance,
}

/// Why parts cannot be put together.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum MergeError {
    /// Reading or writing failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Parts are missing.
    #[error("{id}: shards {missing:?} of {count} are missing; run them with --shard I/{count}")]
    Missing {
        /// The section.
        id: String,
        /// Which.
        missing: Vec<u64>,
        /// Of how many.
        count: u64,
    },
    /// Parts are of different sweeps.
    #[error("{id}: the shards differ in {what}: run them all with the same command and commit")]
    Differ {
        /// The section.
        id: String,
        /// In what.
        what: &'static str,
    },
}

/// Puts reports together: whole sections are taken over (the last folder that has
/// one wins), shards are summed into their section. Returns the sections written.
///
/// # Errors
/// See [`MergeError`].
pub fn merge(from: &[Store], into: &Store) -> Result<Vec<String>, MergeError> {
    let mut written = Vec::new();
    let mut shards: BTreeMap<String, Vec<ShardFile>> = BTreeMap::new();
    for store in from {
        for section in store.sections()? {
            into.keep(&section)?;
            written.push(section.id);
        }
        for shard in store.shards()? {
            shards.entry(shard.id.clone()).or_default().push(shard);
        }
    }
    for (id, parts) in shards {
        let Some((info, sweep)) = SECTIONS
            .iter()
            .find(|s| s.id == id)
            .and_then(|s| Some((s, s.sweep?)))
        else {
            continue;
        };
        let (tally, mut provenance) = put_together(&id, parts)?;
        let scale = [Scale::Tiny, Scale::Default, Scale::Full]
            .into_iter()
            .find(|s| s.name() == provenance.scale)
            .unwrap_or_default();
        let options = Options {
            scale,
            seed: provenance.seed,
            ..Options::default()
        };
        let mut section = blank(info, &options);
        write_sweep(sweep, &options, &tally, &mut section);
        provenance.command = section.provenance.command.clone();
        section.provenance = provenance;
        into.keep(&section)?;
        written.push(id);
    }
    into.draw()?;
    Ok(written)
}

fn write_sweep(
    sweep: Sweep,
    options: &Options,
    tally: &Tally,
    section: &mut crate::section::Section,
) {
    (sweep.write)(options, tally, section);
}

/// The sum of all shards of one sweep.
fn put_together(id: &str, mut parts: Vec<ShardFile>) -> Result<(Tally, Provenance), MergeError> {
    parts.sort_by_key(|p| (p.count, p.index));
    // The same part twice (copied folders) counts once.
    parts.dedup_by(|a, b| a.count == b.count && a.index == b.index && a.tally == b.tally);
    let first = parts[0].clone();
    let same = |what: &'static str, of: &dyn Fn(&ShardFile) -> String| {
        if parts.iter().all(|p| of(p) == of(&first)) {
            Ok(())
        } else {
            let id = id.to_owned();
            Err(MergeError::Differ { id, what })
        }
    };
    same("their number", &|p| p.count.to_string())?;
    same("scale", &|p| p.provenance.scale.clone())?;
    same("seed", &|p| p.provenance.seed.to_string())?;
    same("commit", &|p| p.provenance.commit.clone())?;
    let missing: Vec<u64> = (1..=first.count)
        .filter(|i| parts.iter().filter(|p| p.index == *i).count() != 1)
        .collect();
    if !missing.is_empty() {
        return Err(MergeError::Missing {
            id: id.into(),
            missing,
            count: first.count,
        });
    }
    let mut tally = Tally::default();
    let mut provenance = first.provenance.clone();
    provenance.seconds = 0.0;
    for part in &parts {
        tally.merge(&part.tally);
        provenance.seconds += part.provenance.seconds;
    }
    Ok((tally, provenance))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_are_read_and_refused() {
        assert_eq!("2/8".parse(), Ok(Shard { index: 2, count: 8 }));
        for bad in ["", "2", "0/4", "5/4", "a/b", "-1/2", "1/0"] {
            assert!(bad.parse::<Shard>().is_err(), "{bad}");
        }
    }

    #[test]
    fn every_task_is_in_exactly_one_shard() {
        for count in [1, 2, 3, 7, 40] {
            let mut all: Vec<u64> = (1..=count)
                .flat_map(|index| Shard { index, count }.tasks(25))
                .collect();
            all.sort_unstable();
            assert_eq!(all, (0..25).collect::<Vec<_>>());
        }
    }

    fn part(index: u64, count: u64) -> ShardFile {
        let mut tally = Tally::default();
        for task in (Shard { index, count }).tasks(20) {
            tally.add(task as u32 % 3, &[1, task * task]);
        }
        ShardFile {
            id: "x".into(),
            index,
            count,
            tally,
            provenance: Provenance::default(),
        }
    }

    #[test]
    fn the_sum_does_not_depend_on_the_number_of_shards() {
        let whole = part(1, 1).tally;
        for count in [2, 3, 5, 19] {
            let mut parts: Vec<ShardFile> = (1..=count).map(|i| part(i, count)).collect();
            parts.reverse();
            assert_eq!(put_together("x", parts).unwrap().0, whole);
        }
    }

    #[test]
    fn missing_and_foreign_parts_are_named() {
        let text = |parts| put_together("x", parts).unwrap_err().to_string();
        assert!(text(vec![part(1, 3), part(3, 3)]).contains("[2] of 3"));
        assert!(text(vec![part(1, 2), part(1, 3)]).contains("number"));
        let mut other = part(2, 2);
        other.provenance.seed = 9;
        assert!(text(vec![part(1, 2), other]).contains("seed"));
        // A copy of a part does no harm.
        assert!(put_together("x", vec![part(1, 2), part(1, 2), part(2, 2)]).is_ok());
    }
}
