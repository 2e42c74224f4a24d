//! The stage `public-data`: which tests use public data, compared with the list that is kept.
//!
//! Public data is not part of the repository, so a test that uses it checks nothing where it is
//! absent. Such a test is named `public_...` (`test_public_...` in Python; the functions that
//! find the data refuse others) and is listed in `conformance/public-data` beside tests of the
//! same file that check the same behaviour on shapes made in code. This reads sources alone, so
//! it sees the same whether the data is there or not, before anything is built.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::stage::Outcome;

const LIST: &str = "conformance/public-data";

/// Folders whose tests may use public data.
const FOLDERS: [&str; 2] = ["conformance/tests", "bindings/python/tests"];

/// The only sources that may name the data's folder: those that find it for tests and for the
/// report, and the one that hides it.
const FINDERS: [&str; 4] = [
    "conformance/src/data.rs",
    "bindings/python/tests/conftest.py",
    "apps/cli/src/report.rs",
    "xtask/src/stranger.rs",
];

/// Tests with public data, by file; each with its twins.
pub type Listed = BTreeMap<String, BTreeMap<String, Vec<String>>>;

/// Compares the list with the sources.
pub fn check() -> Outcome {
    let listed = listed()?;
    let mut wrong = Vec::new();
    let mut sources = BTreeMap::new();
    for folder in FOLDERS {
        for file in files(Path::new(folder))? {
            let text = read(&file)?;
            sources.insert(file.display().to_string().replace('\\', "/"), tests(&text));
        }
    }
    compare(&listed, &sources, &mut wrong);
    for file in sources_of_all()? {
        let name = file.display().to_string().replace('\\', "/");
        let name = name.trim_start_matches("./");
        let finds = |line: &str| {
            let code = line.trim_start();
            let is_comment = ["//", "#"].iter().any(|c| code.starts_with(c));
            !is_comment
                && FINDER_WORDS
                    .iter()
                    .any(|words| line.contains(&words.concat()))
        };
        if !FINDERS.contains(&name) && read(&file)?.lines().any(finds) {
            wrong.push(format!(
                "{name} looks for public data itself: use {}",
                FINDERS[0]
            ));
        }
    }
    let count: usize = listed.values().map(BTreeMap::len).sum();
    println!("   {count} tests use public data, each with a twin that does not");
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(format!("{}\n(the list is {LIST})", wrong.join("\n"))),
    }
}

/// How code looks for the data; in two parts, so that this file does not.
const FINDER_WORDS: [[&str; 2]; 3] = [
    ["\"FRACAS_", "DATA\""],
    ["shared/", "data"],
    ["\"shared\" / ", "\"data\""],
];

/// The list.
pub fn listed() -> Result<Listed, String> {
    parse(&read(Path::new(LIST))?)
}

fn parse(text: &str) -> Result<Listed, String> {
    let mut listed = Listed::new();
    let mut file = None;
    for line in text.lines() {
        let words = line.trim();
        if words.is_empty() || words.starts_with('#') {
            continue;
        }
        if !line.starts_with(' ') {
            file = Some(words.to_owned());
            continue;
        }
        let entry = file.as_ref().zip(words.split_once(": "));
        let (file, (test, twins)) =
            entry.ok_or_else(|| format!("{LIST}: `{words}` is not `test: twin, twin`"))?;
        let twins = twins.split(", ").map(str::to_owned).collect();
        let tests = listed.entry(file.clone()).or_default();
        tests.insert(test.to_owned(), twins);
    }
    Ok(listed)
}

fn compare(listed: &Listed, sources: &BTreeMap<String, BTreeSet<String>>, wrong: &mut Vec<String>) {
    for (file, tests) in sources {
        let own = listed.get(file);
        for test in tests.iter().filter(|t| is_public(t)) {
            if !own.is_some_and(|own| own.contains_key(test)) {
                wrong.push(format!("{file}: `{test}` is not listed: add it with a test that checks the same on shapes made in code"));
            }
        }
    }
    for (file, entries) in listed {
        let tests = sources.get(file).cloned().unwrap_or_default();
        for (test, twins) in entries {
            if !tests.contains(test) {
                wrong.push(format!(
                    "{file}: `{test}` is listed, but there is no such test"
                ));
            }
            for twin in twins.iter().filter(|t| is_public(t) || !tests.contains(*t)) {
                wrong.push(format!(
                    "{file}: `{twin}`, the twin of `{test}`, is no test without public data"
                ));
            }
        }
    }
}

fn is_public(test: &str) -> bool {
    test.starts_with("public_") || test.starts_with("test_public_")
}

/// The names of the tests in a source of Rust or Python.
fn tests(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut is_test = false;
    for line in text.lines().map(str::trim_start) {
        let python = line.strip_prefix("def test_").map(|rest| ("test_", rest));
        let rust = line
            .strip_prefix("fn ")
            .filter(|_| is_test)
            .map(|rest| ("", rest));
        if let Some((prefix, rest)) = python.or(rust) {
            let name = rest.split(['(', '<']).next().unwrap_or_default();
            found.insert(format!("{prefix}{name}"));
        }
        // Attributes and comments may stand between.
        is_test = line == "#[test]" || is_test && (line.starts_with('#') || line.starts_with("//"));
    }
    found
}

fn read(file: &Path) -> Result<String, String> {
    fs::read_to_string(file).map_err(|e| format!("cannot read {}: {e}", file.display()))
}

fn files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = fs::read_dir(folder);
    let entries = entries.map_err(|e| format!("cannot read {}: {e}", folder.display()))?;
    let mut files: Vec<PathBuf> = entries.flatten().map(|e| e.path()).collect();
    files.retain(|f| f.extension().is_some_and(|e| e == "rs" || e == "py"));
    files.sort();
    Ok(files)
}

/// All sources of the project.
fn sources_of_all() -> Result<Vec<PathBuf>, String> {
    let mut open: Vec<PathBuf> = vec![".".into()];
    let mut found = Vec::new();
    while let Some(folder) = open.pop() {
        found.extend(files(&folder)?);
        let entries = fs::read_dir(&folder);
        let entries = entries.map_err(|e| format!("cannot read {}: {e}", folder.display()))?;
        for entry in entries.flatten().filter(|e| e.path().is_dir()) {
            let name = entry.file_name().to_string_lossy().into_owned();
            let is_built = name.starts_with('.') || name.starts_with("target");
            if !is_built && !["node_modules", "dist", "out"].contains(&name.as_str()) {
                open.push(entry.path());
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(list: &str, source: &str) -> Vec<String> {
        let mut wrong = Vec::new();
        let sources = BTreeMap::from([("a.rs".to_owned(), tests(source))]);
        compare(&parse(list).unwrap(), &sources, &mut wrong);
        wrong
    }

    const SOURCE: &str =
        "#[test]\n/// Two.\nfn public_a() {\n}\n#[test]\nfn twin() {}\nfn help() {}\n";

    #[test]
    fn list_and_sources_agree() {
        assert_eq!(wrong("# list\na.rs\n    public_a: twin\n", SOURCE), [""; 0]);
    }

    #[test]
    fn test_with_data_must_have_a_twin() {
        assert!(wrong("", SOURCE)[0].contains("`public_a` is not listed"));
        let list = |twins: &str| format!("a.rs\n    public_a: {twins}\n");
        for twins in ["help", "none yet", "public_a", "twin, gone"] {
            assert_eq!(wrong(&list(twins), SOURCE).len(), 1, "{twins}");
        }
        let two = format!("{}    public_b: twin\n", list("twin"));
        assert!(wrong(&two, SOURCE)[0].contains("no such test"));
        assert!(parse("    public_a: twin\n").is_err());
    }

    #[test]
    fn python_tests_are_found() {
        let source =
            "@pytest.mark.slow\ndef test_public_a(x):\n    pass\ndef helper():\n    pass\n";
        assert_eq!(tests(source), ["test_public_a".to_owned()].into());
    }
}
