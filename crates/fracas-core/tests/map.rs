//! The map of the crate, held by a test: what may import what.
//!
//! Every module stands above all that it imports; nothing runs back. Tests inside modules
//! may use anything.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// From the ground up: a module imports from lines above its own only.
const ORDER: [&str; 23] = [
    "digest",
    "pose",
    "contact",
    "used_vertices",
    "tet_mesh",
    "grid",
    "primitives",
    "triangle_tree",
    "triangle_fans",
    "mass_properties",
    "crack",
    "fragment",
    // Made-up meshes and chance, for tests and specimens.
    "testing",
    "cut_piece",
    "fragment_mass",
    "fragment_surface",
    "dressing",
    "brute_force",
    "fragment_field",
    // The four systems (the first with the field above): none imports another.
    "sphere_tree",
    "fast_bvh",
    "tet_distance",
    "voxel_tree",
];

const SYSTEMS: [&str; 4] = ["sphere_tree", "fast_bvh", "tet_distance", "voxel_tree"];

#[test]
fn no_import_runs_back() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut edges = BTreeSet::new();
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let module = path.file_stem().unwrap().to_str().unwrap().to_owned();
        if module == "lib" {
            continue;
        }
        assert!(
            ORDER.contains(&module.as_str()),
            "{module} is not on the map"
        );
        collect(&path, &module, &mut edges);
    }
    let place = |module: &str| ORDER.iter().position(|m| *m == module);
    let wrong: Vec<String> = edges
        .iter()
        .filter_map(|(from, to)| {
            let both = SYSTEMS.contains(&from.as_str()) && SYSTEMS.contains(&to.as_str());
            let back = place(to) >= place(from);
            (both || back).then(|| format!("{from} imports {to}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(edges.len() > 30, "imports are found: {edges:?}");
}

/// Adds which other modules the files of a module name, tests left out.
fn collect(path: &Path, module: &str, edges: &mut BTreeSet<(String, String)>) {
    if path.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            collect(&entry.unwrap().path(), module, edges);
        }
        return;
    }
    if path
        .file_stem()
        .is_some_and(|s| s == "tests" || s == "determinism" || s == "validate")
    {
        return;
    }
    let text = fs::read_to_string(path).unwrap();
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
    let lines = code.lines().filter(|l| !l.trim_start().starts_with("//"));
    for line in lines {
        for named in line.split("crate::").skip(1) {
            let list = named.strip_prefix('{').unwrap_or(named);
            for name in list.split(',') {
                let name: String = name
                    .trim()
                    .chars()
                    .take_while(|c| c.is_alphanumeric() || *c == '_')
                    .collect();
                let target = if name.starts_with(char::is_uppercase) {
                    home_of(&name)
                } else {
                    Some(name.as_str())
                };
                if let Some(target) = target
                    && target != module
                    && ORDER.contains(&target)
                {
                    edges.insert((module.to_owned(), target.to_owned()));
                }
                if !named.starts_with('{') {
                    break;
                }
            }
        }
    }
}

/// Where a name that `lib.rs` exports again comes from.
fn home_of(name: &str) -> Option<&'static str> {
    let lib = include_str!("../src/lib.rs");
    let exports = lib.lines().filter_map(|l| l.strip_prefix("pub use "));
    for export in exports {
        let (module, names) = export.split_once("::")?;
        let mut names = names.split(|c: char| !c.is_alphanumeric());
        if names.any(|n| n == name) {
            return Some(module);
        }
    }
    None
}
