//! What can be broken: cargo-mutants' list, and a sample of it by a seed.

use serde_json::Value;

/// A part of a crate.
pub struct Subject {
    /// As it was named: `CRATE` or `CRATE/WORD`.
    pub name: String,
    /// The crate.
    pub package: String,
    /// A folder or file of it, without `.rs`; empty for all.
    pub word: String,
}

impl Subject {
    /// From its name.
    pub fn parse(name: &str) -> Self {
        let (package, word) = name.split_once('/').unwrap_or((name, ""));
        Self {
            name: name.into(),
            package: package.into(),
            word: word.trim_end_matches(".rs").into(),
        }
    }

    fn holds(&self, mutant: &Value) -> bool {
        let file = mutant["file"].as_str().unwrap_or_default();
        let named = |part: &str| part.strip_suffix(".rs").unwrap_or(part) == self.word;
        mutant["package"].as_str() == Some(&self.package)
            && (self.word.is_empty() || file.split('/').any(named))
    }
}

/// A place in a file: line and column, in characters, from one.
pub type Place = (usize, usize);

/// One way to break a line.
#[derive(Clone, Debug)]
pub struct Mutant {
    /// The subject it was drawn for.
    pub subject: String,
    /// The subject's folder or file.
    pub word: String,
    /// What cargo-mutants calls it: file, line and what is replaced by what.
    pub name: String,
    /// Its crate.
    pub package: String,
    /// Its file, from the root of the repository.
    pub file: String,
    /// From where to where its function reaches, attributes included.
    pub function: (Place, Place),
    /// What is replaced.
    pub span: (Place, Place),
    /// By what.
    pub replacement: String,
    /// `planted`, or why it is not: `unviable` where it does not compile.
    pub state: &'static str,
}

fn span(value: &Value) -> Option<(Place, Place)> {
    let place = |v: &Value| {
        let (line, column) = (v["line"].as_u64()?, v["column"].as_u64()?);
        Some((line as usize, column as usize))
    };
    Some((place(&value["start"])?, place(&value["end"])?))
}

/// A mutant that stands in a function; others (fields of constants) cannot be switched.
fn read(value: &Value, subject: &Subject) -> Option<Mutant> {
    let text = |key: &str| value[key].as_str().map(str::to_owned);
    let signature = value["function"]["return_type"].as_str()?;
    // The two bodies of such a function would be of two types.
    if signature.contains("impl ") {
        return None;
    }
    Some(Mutant {
        subject: subject.name.clone(),
        word: subject.word.clone(),
        name: text("name")?,
        package: text("package")?,
        file: text("file")?,
        function: span(&value["function"]["span"])?,
        span: span(&value["span"])?,
        replacement: text("replacement")?,
        state: "planted",
    })
}

/// As many mutants of each subject as `count` says, drawn by `seed`, in the order of the list.
/// A function or line that two subjects share is drawn for each by itself.
pub fn sample(
    text: &str,
    subjects: &[Subject],
    count: usize,
    seed: u64,
) -> Result<Vec<Mutant>, String> {
    let all: Value =
        serde_json::from_str(text).map_err(|e| format!("not a list of mutants: {e}"))?;
    let all = all.as_array().ok_or("not a list of mutants")?;
    let mut drawn = Vec::new();
    for subject in subjects {
        let of_it = all.iter().filter(|m| subject.holds(m));
        let mut of_it: Vec<Mutant> = of_it.filter_map(|m| read(m, subject)).collect();
        if count > 0 {
            // Ranks, so that a larger sample holds the smaller one.
            of_it.sort_by_cached_key(|m| rank(&m.name, seed));
            of_it.truncate(count);
            of_it.sort_by(|a, b| (&a.file, a.span, &a.name).cmp(&(&b.file, b.span, &b.name)));
        }
        drawn.extend(of_it);
    }
    Ok(drawn)
}

/// A number that looks random (FNV-1a, then the end of SplitMix64).
fn rank(name: &str, seed: u64) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64 ^ seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    for byte in name.bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(file: &str, line: usize, returns: &str) -> Value {
        let place = |l: usize, c: usize| serde_json::json!({ "line": l, "column": c });
        serde_json::json!({
            "package": "a", "file": file, "name": format!("{file}:{line}"),
            "replacement": "-", "span": { "start": place(line, 5), "end": place(line, 6) },
            "function": { "return_type": returns,
                "span": { "start": place(line, 1), "end": place(line + 1, 2) } },
        })
    }

    #[test]
    fn subjects_are_folders_or_files() {
        let of = |name: &str, file: &str| Subject::parse(name).holds(&listed(file, 1, ""));
        assert!(of("a", "crates/a/src/tree/split.rs"));
        assert!(of("a/tree", "crates/a/src/tree/split.rs"));
        assert!(of("a/split", "crates/a/src/tree/split.rs"));
        assert!(of("a/split.rs", "crates/a/src/tree/split.rs"));
        assert!(!of("a/split", "crates/a/src/tree/split_work.rs"));
        assert!(!of("b", "crates/a/src/tree/split.rs"));
    }

    #[test]
    fn a_sample_is_of_its_seed_and_grows() {
        let all: Vec<Value> = (1..100)
            .map(|l| listed("crates/a/src/x.rs", l, ""))
            .collect();
        let text = Value::from(all).to_string();
        let names = |count, seed| -> Vec<String> {
            let drawn = sample(&text, &[Subject::parse("a/x")], count, seed).unwrap();
            drawn.into_iter().map(|m| m.name).collect()
        };
        assert_eq!(names(10, 1), names(10, 1));
        assert_ne!(names(10, 1), names(10, 2));
        let larger = names(20, 1);
        assert_eq!(larger.len(), 20);
        assert!(names(10, 1).iter().all(|n| larger.contains(n)));
        assert_eq!(names(0, 1).len(), 99);
    }

    #[test]
    fn what_cannot_be_switched_is_left_out() {
        let all = [
            listed("crates/a/src/x.rs", 1, "-> impl Iterator"),
            serde_json::json!({ "package": "a", "file": "crates/a/src/x.rs", "name": "constant" }),
        ];
        let text = Value::from(all.to_vec()).to_string();
        let drawn = sample(&text, &[Subject::parse("a")], 0, 1).unwrap();
        assert!(drawn.is_empty());
        assert!(sample("nonsense", &[], 0, 1).is_err());
    }
}
