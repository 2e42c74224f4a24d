//! Puts reports together that were measured apart.

use std::collections::BTreeMap;

use thiserror::Error;

use crate::options::{Options, Scale};
use crate::run::blank;
use crate::section::Provenance;
use crate::sections::SECTIONS;
use crate::shards::{ShardFile, Tally};
use crate::store::{Store, StoreError};

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
        (sweep.write)(&options, &tally, &mut section);
        provenance.command = section.provenance.command.clone();
        section.provenance = provenance;
        into.keep(&section)?;
        written.push(id);
    }
    into.draw()?;
    Ok(written)
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
    use crate::shards::Shard;

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
