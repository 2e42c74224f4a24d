//! `fracas run SCENE --trace FILE`: what Perfetto and Chrome ask of the file, and that it
//! tells every stage, pair and fragment.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

/// A brick that falls on its corner, hard.
const SCENE: &str = r#"
name = "brick"
duration = 0.6
floor = { height = 0.0, friction = 0.6 }

[[body]]
mesh = "brick"
material = "brick"
position = [0.0, 0.4, 0.0]
rotation = [30.0, 0.0, 40.0]
velocity = [0.0, -9.0, 0.0]
"#;

#[test]
fn a_trace_is_valid_and_tells_stages_pairs_and_fragments() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("trace");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    let [scene, trace, png] = ["brick.toml", "trace.json", "brick.png"].map(|f| folder.join(f));
    fs::write(&scene, SCENE).unwrap();
    let out = Command::new(env!("CARGO_BIN_EXE_fracas"))
        .arg("run")
        .arg(&scene)
        .args(["--steps", "30", "--threads", "2", "--trace"])
        .arg(&trace)
        .arg("--png")
        .arg(&png)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{said}");

    let json: Value = serde_json::from_str(&fs::read_to_string(&trace).unwrap()).unwrap();
    let events = json["traceEvents"].as_array().unwrap();
    let mut by_name: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
    for event in events {
        // A complete event: Perfetto refuses what lacks one of these.
        assert_eq!(event["ph"], "X", "{event}");
        assert!(event["pid"].is_u64() && event["tid"].is_u64(), "{event}");
        let number = |key: &str| event[key].as_f64().unwrap_or(f64::NAN);
        assert!(number("ts") >= 0.0 && number("dur") >= 0.0, "{event}");
        let args = event.get("args").map(|args| args.as_object().unwrap());
        assert!(args.is_none_or(|args| args.values().all(Value::is_u64)));
        by_name
            .entry(event["name"].as_str().unwrap())
            .or_default()
            .push(event);
    }

    let count = |name: &str| by_name.get(name).map_or(0, Vec::len);
    assert_eq!(count("step"), 30);
    // A step in which something broke is made again.
    assert!(count("collision") >= 30 && count("physics") == count("collision"));
    for stage in [
        "breaking", "deciding", "decide", "cut", "masses", "field", "tree", "replace",
    ] {
        assert!(count(stage) > 0, "no span of {stage}");
    }
    // Whom a span is about: the brick broke, so there are fragments and pairs of them.
    let of_fragments = &by_name["fragment"];
    assert!(of_fragments.len() >= 2);
    assert!(
        of_fragments
            .iter()
            .all(|e| e["args"]["fragment"].as_u64() > Some(0))
    );
    let pairs = &by_name["pair"];
    let is_of_two =
        |e: &&&Value| e["args"]["fragment1"].is_u64() && e["args"]["fragment2"].is_u64();
    assert!(pairs.iter().filter(is_of_two).count() > 0);
    assert!(
        pairs.len() > pairs.iter().filter(is_of_two).count(),
        "the floor is a pair too"
    );

    // What is done within a step lies within it.
    let span = |e: &Value| {
        let start = e["ts"].as_f64().unwrap();
        (start, start + e["dur"].as_f64().unwrap())
    };
    let steps: Vec<(f64, f64)> = by_name["step"].iter().map(|e| span(e)).collect();
    for name in ["decide", "cut", "fragment", "pair"] {
        for event in &by_name[name] {
            let (from, to) = span(event);
            // Times are told to the nanosecond.
            let inside = steps
                .iter()
                .any(|s| s.0 <= from + 0.002 && to <= s.1 + 0.002);
            assert!(inside, "{event}");
        }
    }
}
