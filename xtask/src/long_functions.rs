//! How long functions are: none over a hundred lines.
//!
//! A function is counted from its `fn` to its closing brace, comments and blank lines
//! included, by the indentation that rustfmt gives it.

use std::fs;
use std::path::Path;

use crate::stage::Outcome;

const MOST_LINES: usize = 100;

/// Where our sources are.
const FOLDERS: [&str; 7] = [
    "apps",
    "benches",
    "bindings",
    "conformance",
    "crates",
    "integrations",
    "xtask",
];

/// A function that is over the limit.
#[derive(Debug, PartialEq)]
struct Long {
    file: String,
    name: String,
    lines: usize,
}

/// Fails where a function is too long.
pub fn check() -> Outcome {
    let mut found = Vec::new();
    for folder in FOLDERS {
        look_through(Path::new(folder), &mut found)?;
    }
    judge(&found)
}

fn judge(found: &[Long]) -> Outcome {
    if found.is_empty() {
        return Ok(());
    }
    let told = found.iter().map(|Long { file, name, lines }| {
        format!("{name} in {file} has {lines} lines, {MOST_LINES} may it have")
    });
    Err(told.collect::<Vec<_>>().join("\n"))
}

fn look_through(folder: &Path, found: &mut Vec<Long>) -> Outcome {
    let wrong = |e: std::io::Error| format!("cannot read {}: {e}", folder.display());
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(wrong)? {
        paths.push(entry.map_err(wrong)?.path());
    }
    paths.sort();
    for path in paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_ours =
            !["target", "node_modules", "dist"].contains(&&*name) && !name.starts_with('.');
        if path.is_dir() && is_ours {
            look_through(&path, found)?;
        } else if path.extension().is_some_and(|e| e == "rs") {
            let text = fs::read_to_string(&path).map_err(wrong)?;
            let file = path.to_string_lossy().replace('\\', "/");
            found.extend(long_ones(&file, &text));
        }
    }
    Ok(())
}

/// The functions of a file that are over the limit.
fn long_ones(file: &str, text: &str) -> Vec<Long> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (start, line) in lines.iter().enumerate() {
        let Some(name) = name_of_function(line) else {
            continue;
        };
        let indent = &line[..line.len() - line.trim_start().len()];
        let end = format!("{indent}}}");
        let Some(after) = lines[start..].iter().position(|l| *l == end) else {
            continue;
        };
        // What ends on its first line has no brace of its own line.
        if after + 1 > MOST_LINES && !line.ends_with(['}', ';']) {
            found.push(Long {
                file: file.into(),
                name: name.into(),
                lines: after + 1,
            });
        }
    }
    found
}

fn name_of_function(line: &str) -> Option<&str> {
    let (before, rest) = line.split_once("fn ")?;
    let is_word = |w: &str| {
        w.starts_with("pub") || ["const", "async", "unsafe", "extern", "\"C\""].contains(&w)
    };
    if !before.split_whitespace().all(is_word) {
        return None;
    }
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_')?;
    Some(&rest[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn function(lines: usize) -> String {
        format!(
            "impl A {{\n    pub fn long(&self) {{\n{}    }}\n}}\n",
            "        a();\n".repeat(lines - 2)
        )
    }

    #[test]
    fn a_function_is_counted_with_its_braces() {
        assert_eq!(long_ones("a.rs", &function(100)), []);
        let found = long_ones("a.rs", &function(101));
        assert_eq!(found[0].lines, 101);
        assert_eq!(found[0].name, "long");
    }

    #[test]
    fn none_may_be_too_long() {
        let found = long_ones("a.rs", &function(120));
        assert!(judge(&found).unwrap_err().contains("120 lines"));
        assert!(judge(&[]).is_ok());
    }

    #[test]
    fn a_call_is_no_function() {
        assert_eq!(
            name_of_function("    pub(crate) const fn a<T>() {"),
            Some("a")
        );
        assert_eq!(name_of_function("    let a: fn (u8) = b;"), None);
        assert_eq!(name_of_function("    // what fn a() does"), None);
    }
}
