//! The map, held by a test: nothing imports what stands above it.
//!
//! In every crate the modules, and in every folder its files, are looked through for what
//! they name of each other. Circles are refused. Tests inside modules may use anything. Of the
//! crates of the four systems, each depends on the shared geometry alone.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The crates of the four systems. None depends on another.
const SYSTEMS: [&str; 4] = [
    "fracas-core",
    "fracas-fastcd",
    "fracas-tet-distance",
    "fracas-voxel",
];

/// What they share.
const GEOMETRY: &str = "fracas-geometry";

type Imports = BTreeMap<String, BTreeSet<String>>;

#[test]
fn no_import_runs_back() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates");
    let mut found = Vec::new();
    let mut folders = 0;
    for folder in folders_of(&crates) {
        let name = folder.strip_prefix(&crates).unwrap();
        let name = name.to_str().unwrap().replace('\\', "/");
        let imports = imports_of(&folder, name.ends_with("/src"));
        folders += 1;
        for circle in circles(&imports) {
            found.push(format!("{name}: {circle:?}"));
        }
        if name == "fracas-core/src" {
            assert!(
                imports["sphere_tree"].contains("fragment_field"),
                "{imports:?}"
            );
        }
    }
    assert!(folders > 20, "the folders are found");
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn systems_depend_on_the_shared_geometry_alone() {
    assert!(own_dependencies(GEOMETRY).is_empty());
    for system in SYSTEMS {
        assert_eq!(own_dependencies(system), [GEOMETRY], "{system}");
    }
    // The reader of manifests sees what is there.
    let of_soft = own_dependencies("fracas-soft");
    assert_eq!(of_soft, [GEOMETRY, "fracas-tet-distance"]);
}

/// The crates of this workspace that a crate depends on when it is used, in order.
fn own_dependencies(name: &str) -> Vec<String> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates");
    let manifest = fs::read_to_string(crates.join(name).join("Cargo.toml")).unwrap();
    let (_, rest) = manifest.split_once("\n[dependencies]\n").unwrap();
    let section = rest.split("\n[").next().unwrap();
    let name_of = |line: &str| line.split(['.', ' ']).next().unwrap_or_default().to_owned();
    let mut own: Vec<String> = section.lines().map(name_of).collect();
    own.retain(|name| name.starts_with("fracas"));
    own.sort();
    own
}

#[test]
fn circles_are_found() {
    let of = |edges: &[(&str, &str)]| {
        let mut imports = Imports::new();
        for (a, b) in edges {
            imports.entry((*b).into()).or_default();
            imports.entry((*a).into()).or_default().insert((*b).into());
        }
        circles(&imports)
    };
    assert!(of(&[("a", "b"), ("b", "c"), ("a", "c")]).is_empty());
    assert_eq!(of(&[("a", "b"), ("b", "c"), ("c", "b")]), [["b", "c"]]);
    assert_eq!(of(&[("a", "b"), ("b", "c"), ("c", "a")]), [["a", "b", "c"]]);
}

/// All folders with sources.
fn folders_of(crates: &Path) -> Vec<PathBuf> {
    let mut open: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir(crates).unwrap() {
        open.push(entry.unwrap().path().join("src"));
    }
    let mut all = Vec::new();
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            }
        }
        all.push(folder);
    }
    all.sort();
    all
}

/// Which modules of a folder name which others of it.
fn imports_of(folder: &Path, is_root: bool) -> Imports {
    let mut sources: BTreeMap<String, String> = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let module = path.file_stem().unwrap().to_str().unwrap().to_owned();
        if ["mod", "lib", "main", "tests"].contains(&module.as_str()) {
            continue;
        }
        sources
            .entry(module)
            .or_default()
            .push_str(&source_of(&path));
    }
    let prefix = if is_root { "crate::" } else { "super::" };
    let names: BTreeSet<&String> = sources.keys().collect();
    sources
        .iter()
        .map(|(module, source)| {
            let named = source.split(prefix).skip(1).flat_map(heads);
            let named = named.filter(|n| n != module && names.contains(n));
            (module.clone(), named.collect())
        })
        .collect()
}

/// The source below a path, without tests and comments. A name that the crate's root exports
/// again is not followed.
fn source_of(path: &Path) -> String {
    if path.is_dir() {
        let mut all = String::new();
        for entry in fs::read_dir(path).unwrap() {
            let path = entry.unwrap().path();
            if path.file_stem().is_some_and(|s| s != "tests") {
                all.push_str(&source_of(&path));
            }
        }
        return all;
    }
    if path.extension().is_none_or(|e| e != "rs") {
        return String::new();
    }
    let text = fs::read_to_string(path).unwrap();
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
    let lines = code.lines().filter(|l| !l.trim_start().starts_with("//"));
    lines.flat_map(|l| [l, "\n"]).collect()
}

/// What follows a prefix: one name, or the first names of a list.
fn heads(rest: &str) -> Vec<String> {
    let head = |text: &str| -> String {
        let name = text.trim_start().chars();
        name.take_while(|c| c.is_alphanumeric() || *c == '_')
            .collect()
    };
    match rest.strip_prefix('{') {
        Some(list) => {
            let list = list.split('}').next().unwrap_or_default();
            list.split(',').map(head).collect()
        }
        None => vec![head(rest)],
    }
}

/// Sets of modules of which each comes back to itself through the others.
fn circles(imports: &Imports) -> Vec<Vec<String>> {
    let reach: BTreeMap<&String, BTreeSet<&String>> = imports
        .keys()
        .map(|start| {
            let mut seen = BTreeSet::new();
            let mut open = vec![start];
            while let Some(at) = open.pop() {
                open.extend(imports[at].iter().filter(|next| seen.insert(*next)));
            }
            (start, seen)
        })
        .collect();
    let mut sets = BTreeSet::new();
    for (a, seen) in reach.iter().filter(|(a, seen)| seen.contains(*a)) {
        let circle = seen.iter().filter(|b| reach[*b].contains(*a));
        sets.insert(circle.map(|b| (*b).clone()).collect::<Vec<_>>());
    }
    sets.into_iter().collect()
}
