//! Which licences our dependencies have, and whether they are all permissive.
//!
//! With `cargo-deny` installed it does the work (and looks at advisories). Without
//! it, the licences that `cargo metadata` knows are held against the list in
//! `deny.toml`; that needs no download.

use std::collections::BTreeMap;
use std::process::Command;

use serde_json::Value;

use crate::stage::{self, Outcome};

/// Checks all dependencies.
pub fn check() -> Outcome {
    let has_deny = Command::new("cargo").args(["deny", "--version"]).output();
    if has_deny.is_ok_and(|out| out.status.success()) {
        stage::cargo(&["deny", "check", "licenses", "bans", "sources"], &[])?;
        return advisories();
    }
    println!("   cargo-deny is not installed: licences by `cargo metadata`, no advisories");
    let allowed = allowed_licences(include_str!("../../deny.toml"))?;
    let mut refused = Vec::new();
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for package in packages()? {
        let name = format!("{} {}", text(&package, "name"), text(&package, "version"));
        let licence = text(&package, "license");
        if !permits(&licence, &allowed) {
            refused.push(format!("{name}: `{licence}`"));
        }
        *seen.entry(licence).or_default() += 1;
    }
    let total: usize = seen.values().sum();
    println!("   {total} packages, {} licence expressions", seen.len());
    if refused.is_empty() {
        return Ok(());
    }
    Err(format!(
        "licences that deny.toml does not allow: {}",
        refused.join("; ")
    ))
}

/// Advisories need the network; without it they are skipped, and that is said.
fn advisories() -> Outcome {
    let out = Command::new("cargo")
        .args(["deny", "check", "advisories"])
        .output()
        .map_err(|e| format!("cannot run cargo deny: {e}"))?;
    let said = String::from_utf8_lossy(&out.stderr);
    if out.status.success() {
        return Ok(());
    }
    if said.contains("fetch") {
        println!("   the advisory database cannot be fetched: advisories are not checked");
        return Ok(());
    }
    Err(format!("advisories against a dependency:\n{said}"))
}

fn packages() -> Result<Vec<Value>, String> {
    let host = stage::host()?;
    let out = Command::new("cargo")
        .args([
            "metadata",
            "--format-version=1",
            "--locked",
            "--filter-platform",
            &host,
        ])
        .output()
        .map_err(|e| format!("cannot run cargo metadata: {e}"))?;
    if !out.status.success() {
        return Err(format!(
            "cargo metadata: {}",
            String::from_utf8_lossy(&out.stderr)
        ));
    }
    let mut metadata: Value =
        serde_json::from_slice(&out.stdout).map_err(|e| format!("cargo metadata: {e}"))?;
    match metadata["packages"].take() {
        Value::Array(packages) => Ok(packages),
        _ => Err("cargo metadata lists no packages".into()),
    }
}

fn text(package: &Value, key: &str) -> String {
    package[key].as_str().unwrap_or("none").to_owned()
}

/// The strings of the list `allow` in `deny.toml`.
fn allowed_licences(deny: &str) -> Result<Vec<String>, String> {
    let list = deny
        .split_once("allow = [")
        .and_then(|(_, rest)| rest.split_once(']'))
        .ok_or("deny.toml has no list `allow = [...]`")?;
    Ok(list
        .0
        .split('"')
        .skip(1)
        .step_by(2)
        .map(str::to_owned)
        .collect())
}

/// Whether an SPDX expression can be met with the allowed licences. `AND` binds
/// closer than `OR`; the old `/` means `OR`.
fn permits(expression: &str, allowed: &[String]) -> bool {
    let spaced = expression
        .replace('(', " ( ")
        .replace(')', " ) ")
        .replace('/', " OR ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut parser = Parser {
        words: &words,
        allowed,
        broken: false,
    };
    parser.any_of() && parser.words.is_empty() && !parser.broken
}

struct Parser<'a> {
    words: &'a [&'a str],
    allowed: &'a [String],
    /// A licence was missing where one must be.
    broken: bool,
}

impl Parser<'_> {
    fn any_of(&mut self) -> bool {
        let mut permitted = self.all_of();
        while self.accept("OR") {
            permitted |= self.all_of();
        }
        permitted
    }

    fn all_of(&mut self) -> bool {
        let mut permitted = self.one();
        while self.accept("AND") {
            permitted &= self.one();
        }
        permitted
    }

    fn one(&mut self) -> bool {
        if self.accept("(") {
            let inside = self.any_of();
            return self.accept(")") && inside;
        }
        let Some((first, rest)) = self.words.split_first() else {
            self.broken = true;
            return false;
        };
        self.words = rest;
        let mut licence = (*first).to_owned();
        if self.accept("WITH")
            && let Some((exception, rest)) = self.words.split_first()
        {
            licence = format!("{licence} WITH {exception}");
            self.words = rest;
        }
        self.allowed.contains(&licence)
    }

    fn accept(&mut self, word: &str) -> bool {
        let found = self.words.first() == Some(&word);
        if found {
            self.words = &self.words[1..];
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_understood() {
        let allowed = allowed_licences(include_str!("../../deny.toml")).unwrap();
        assert!(allowed.iter().any(|l| l == "MIT"));
        for good in [
            "MIT",
            "MIT/Apache-2.0",
            "GPL-3.0 OR MIT",
            "(MIT OR GPL-3.0) AND Unicode-3.0",
            "Apache-2.0 WITH LLVM-exception",
        ] {
            assert!(permits(good, &allowed), "{good}");
        }
        for bad in [
            "",
            "none",
            "GPL-3.0",
            "MPL-2.0",
            "MIT AND GPL-3.0",
            "MIT OR",
            "(MIT",
            "MIT Apache-2.0",
            "LGPL-2.1 WITH LLVM-exception",
        ] {
            assert!(!permits(bad, &allowed), "{bad}");
        }
    }
}
