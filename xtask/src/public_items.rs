//! How many names the libraries show: counted, told, and held against numbers that are kept.
//!
//! Counted is what rustdoc's JSON finds reachable from a crate's root with the features that a
//! program gets by default, hidden items included: types, traits, functions, constants, and the
//! public methods and constants of types and traits. Not fields, variants, modules, and methods
//! of traits that a type implements. `conformance/most-public` holds a number for each crate;
//! more is a failure, fewer asks for the number to be lowered.

use std::collections::{BTreeMap, HashSet};
use std::env;
use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};

use serde_json::Value;

use crate::stage::{Outcome, cargo, check_folder};

const MOST: &str = "conformance/most-public";

/// Set for the copy of this program that cargo runs as rustdoc.
const AS_RUSTDOC: &str = "FRACAS_AS_RUSTDOC";

/// The crates that are published as libraries, with the features that `fracas` turns on.
const CRATES: [(&str, &str); 6] = [
    ("fracas-core", ""),
    ("fracas-sparse", ""),
    ("fracas-fracture", ""),
    ("fracas-bake", ""),
    ("fracas-rapier", "assets"),
    ("fracas-soft", ""),
];

/// What counts as one item.
const KINDS: [&str; 9] = [
    "struct",
    "enum",
    "union",
    "trait",
    "function",
    "type_alias",
    "constant",
    "static",
    "macro",
];

/// Runs rustdoc with its unstable output allowed, where cargo has called this program for it.
/// The variable is set for rustdoc alone: build scripts that look at it would build all of
/// their crates anew.
pub fn run_as_rustdoc() -> Option<ExitCode> {
    env::var_os(AS_RUSTDOC)?;
    let status = Command::new("rustdoc")
        .args(env::args_os().skip(1))
        .env("RUSTC_BOOTSTRAP", "1")
        .status();
    match status {
        Ok(status) if status.success() => Some(ExitCode::SUCCESS),
        Ok(_) => Some(ExitCode::FAILURE),
        Err(error) => {
            eprintln!("error: cannot run rustdoc: {error}");
            Some(ExitCode::FAILURE)
        }
    }
}

/// Counts, and holds the counts against what is kept.
pub fn check() -> Outcome {
    let most = most()?;
    let mut wrong = Vec::new();
    for (name, features) in CRATES {
        let count = count(&document(name, features)?)?;
        let may = most.get(name).copied().unwrap_or(0);
        println!("   {name}: {count} public items ({may} may be)");
        if count > may {
            wrong.push(format!(
                "{name} shows {count} public items, {may} may it (see {MOST}): make those that \
                 no program needs `pub(crate)`, or public with the feature `research` alone"
            ));
        } else if count < may {
            println!("   lower the number of {name} in {MOST}");
        }
    }
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(wrong.join("\n")),
    }
}

/// The numbers that are kept.
fn most() -> Result<BTreeMap<String, usize>, String> {
    let text = fs::read_to_string(MOST).map_err(|e| format!("cannot read {MOST}: {e}"))?;
    let number = |line: &str| {
        let (name, number) = line.split_once(' ')?;
        Some((name.to_owned(), number.trim().parse().ok()?))
    };
    text.lines()
        .map(|l| number(l).ok_or_else(|| format!("{MOST}: `{l}` is no name and number")))
        .collect()
}

/// What rustdoc knows of a crate.
fn document(name: &str, features: &str) -> Result<Value, String> {
    let this = env::current_exe().map_err(|e| format!("where is this program? {e}"))?;
    let this = this.to_str().ok_or("this program's path is no text")?;
    let target = check_folder()?;
    cargo(
        &[
            "rustdoc",
            "--quiet",
            "--package",
            name,
            "--lib",
            "--features",
            features,
            "--",
            "-Zunstable-options",
            "--output-format=json",
            "--document-hidden-items",
            "--cap-lints=allow",
        ],
        &[
            ("RUSTDOC", this),
            (AS_RUSTDOC, "1"),
            ("CARGO_TARGET_DIR", &target),
        ],
    )?;
    let file = format!("doc/{}.json", name.replace('-', "_"));
    let text = fs::read_to_string(Path::new(&target).join(&file));
    let text = text.map_err(|e| format!("cannot read {file}: {e}"))?;
    serde_json::from_str(&text).map_err(|e| format!("{file}: {e}"))
}

fn count(crate_: &Value) -> Result<usize, String> {
    let mut walk = Walk {
        index: &crate_["index"],
        seen: HashSet::new(),
        count: 0,
    };
    let root = id(&crate_["root"]).ok_or("rustdoc's JSON has no root")?;
    walk.item(&root);
    match walk.count {
        0 => Err("rustdoc's JSON is not read right: nothing is public".into()),
        count => Ok(count),
    }
}

struct Walk<'a> {
    index: &'a Value,
    seen: HashSet<String>,
    count: usize,
}

impl Walk<'_> {
    fn item(&mut self, id_of_item: &str) {
        let item = &self.index[id_of_item];
        let Some((kind, inner)) = kind_of(item) else {
            return;
        };
        if kind == "use" {
            let target = id(&inner["id"]).unwrap_or_default();
            match inner["is_glob"].as_bool() {
                Some(true) => self.all(&self.index[&target]["inner"]["module"]["items"].clone()),
                _ => self.item(&target),
            }
            return;
        }
        if item["crate_id"].as_u64() != Some(0) || !self.seen.insert(id_of_item.into()) {
            return;
        }
        if kind == "module" {
            self.all(&inner["items"].clone());
        } else if KINDS.contains(&kind) {
            self.count += 1;
            self.members(kind, inner);
        }
    }

    fn all(&mut self, ids: &Value) {
        for item in ids.as_array().into_iter().flatten() {
            self.item(&id(item).unwrap_or_default());
        }
    }

    /// Methods and constants of a type's own, or of a trait.
    fn members(&mut self, kind: &str, inner: &Value) {
        let of_trait = if kind == "trait" {
            &inner["items"]
        } else {
            &Value::Null
        };
        for member in of_trait.as_array().into_iter().flatten() {
            self.member(member);
        }
        for block in inner["impls"].as_array().into_iter().flatten() {
            let block = &self.index[id(block).unwrap_or_default()]["inner"]["impl"];
            if kind == "trait" || !block["trait"].is_null() || block["is_synthetic"] == true {
                continue;
            }
            for member in block["items"].as_array().into_iter().flatten() {
                let item = &self.index[id(member).unwrap_or_default()];
                if item["visibility"] == "public" {
                    self.member(member);
                }
            }
        }
    }

    fn member(&mut self, member: &Value) {
        if self.seen.insert(id(member).unwrap_or_default()) {
            self.count += 1;
        }
    }
}

/// Ids are numbers or texts, by rustdoc's version.
fn id(value: &Value) -> Option<String> {
    match value {
        Value::Number(number) => Some(number.to_string()),
        Value::String(text) => Some(text.clone()),
        _ => None,
    }
}

fn kind_of(item: &Value) -> Option<(&str, &Value)> {
    let (kind, inner) = item["inner"].as_object()?.iter().next()?;
    Some((kind, inner))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// A module with a type of one public and one private method, shown twice.
    #[test]
    fn what_is_reachable_is_counted_once() {
        let made = json!({ "root": 0, "index": {
            "0": { "crate_id": 0, "inner": { "module": { "items": [1, 2, 3] } } },
            "1": { "crate_id": 0, "inner": { "module": { "items": [4] } } },
            "2": { "crate_id": 0, "inner": { "use": { "id": 4, "is_glob": false } } },
            "3": { "crate_id": 0, "inner": { "use": { "id": 9, "is_glob": false } } },
            "4": { "crate_id": 0, "inner": { "struct": { "impls": [5, 6] } } },
            "5": { "crate_id": 0, "inner": { "impl": { "trait": null, "items": [7, 8] } } },
            "6": { "crate_id": 0, "inner": { "impl": { "trait": { "id": 9 }, "items": [10] } } },
            "7": { "crate_id": 0, "visibility": "public", "inner": { "function": {} } },
            "8": { "crate_id": 0, "visibility": "default", "inner": { "function": {} } },
            "9": { "crate_id": 1, "inner": { "struct": { "impls": [] } } },
        } });
        assert_eq!(count(&made), Ok(2));
    }
}
