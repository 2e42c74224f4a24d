//! A long sweep cut into independent parts ([`mod@crate::merge`] puts them together).
//!
//! A sweep is a list of numbered tasks; shard i of n does the tasks whose number
//! leaves i - 1 when divided by n. Each task adds whole numbers to a tally, so that
//! neither the order nor the number of shards changes a bit of the sum.

use std::collections::BTreeMap;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::section::Provenance;

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
}
