//! A small report on tiny settings: every section is there, the page and the JSON
//! file hold them, and relations hold that must hold at any size.

use std::collections::BTreeMap;

use fracas_report::run::chosen;
use fracas_report::sections::SECTIONS;
use fracas_report::{Options, Scale, Shard, Store, merge, run};

fn tiny(jobs: usize) -> Options {
    Options {
        scale: Scale::Tiny,
        jobs,
        ..Options::default()
    }
}

#[test]
fn a_small_report_has_every_section_and_known_relations_hold() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::new(folder.path());
    run(&store, &tiny(2), &chosen(None), None, &|_| {}).unwrap();

    let text = std::fs::read_to_string(store.json_path()).unwrap();
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    let mut values: BTreeMap<String, serde_json::Value> = BTreeMap::new();
    for section in json["sections"].as_array().unwrap() {
        let id = section["id"].as_str().unwrap();
        for field in ["command", "commit", "machine"] {
            let said = section["provenance"][field].as_str().unwrap();
            assert!(!said.is_empty(), "{id} does not name its {field}");
        }
        assert!(
            !section["blocks"].as_array().unwrap().is_empty(),
            "{id} is empty"
        );
        values.insert(id.into(), section["values"].clone());
    }
    for section in SECTIONS {
        assert!(values.contains_key(section.id), "{} is missing", section.id);
    }
    let page = std::fs::read_to_string(store.page_path()).unwrap();
    for section in SECTIONS {
        assert!(page.contains(&format!("<section id=\"{}\">", section.id)));
    }

    let value = |section: &str, name: &str| {
        let found = values[section][name].as_f64();
        found.unwrap_or_else(|| panic!("{section} has no {name}: {}", values[section]))
    };
    // Full detection never puts out fewer contacts than self-adapting detection.
    let (full, adaptive) = (
        value("peers-parry", "fracas, all contacts.contacts"),
        value("peers-parry", "fracas, self-adapting.contacts"),
    );
    assert!(full >= adaptive && adaptive > 0.0, "{full} {adaptive}");
    // Weighted averages err less than simple ones at coarse levels.
    for level in [1, 2] {
        let error = |way: &str| value("dingliana-fig7", &format!("{way}.product of both.{level}"));
        assert!(error("weighted") < error("simple"), "level {level}");
    }
    // Penetration falls from two to eight contacts.
    let depth = |n: u32| value("glondu-fig16", &format!("depth_mm.{n}"));
    assert!(depth(8) < depth(2), "{} {}", depth(8), depth(2));
    // No contact is missed by the culling that claims so.
    assert_eq!(
        value("heo-fig8", "star-shaped contour, proven (ours).missed"),
        0.0
    );
    // Closest features err less than closest points.
    assert!(
        value("marchal-fig9-10", "disc.CFFM.mean") < value("marchal-fig9-10", "disc.CPFM.mean")
    );
}

#[test]
fn the_sweep_does_not_depend_on_shards_or_threads() {
    let sections = chosen(Some("glondu-fig16"));
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| Store::new(folder.path().join(name));
    run(&at("whole"), &tiny(1), &sections, None, &|_| {}).unwrap();
    let parts: Vec<Store> = (1..=3)
        .map(|index| {
            let part = at(&format!("part{index}"));
            let shard = Some(Shard { index, count: 3 });
            run(&part, &tiny(2), &sections, shard, &|_| {}).unwrap();
            part
        })
        .collect();
    // One part missing: refused, and the part is named.
    let error = merge(&parts[..2], &at("merged")).unwrap_err().to_string();
    assert!(error.contains("[3] of 3"), "{error}");
    merge(&parts, &at("merged")).unwrap();
    let (whole, merged) = (
        at("whole").sections().unwrap(),
        at("merged").sections().unwrap(),
    );
    assert_eq!(whole[0].blocks, merged[0].blocks);
    assert_eq!(whole[0].values, merged[0].values);
}
