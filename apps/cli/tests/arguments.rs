//! Values that make no sense, and files that would take another one's place: refused in the
//! option's own words, with status 2, before anything is written.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A folder of its own for each test.
fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("arguments-{name}"));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn fracas(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_fracas"))
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap()
}

fn stderr(out: &Output) -> String {
    String::from_utf8_lossy(&out.stderr).into_owned()
}

/// Fails with status 2 and says this; nothing is new in the folder.
#[track_caller]
fn refused(folder: &Path, arguments: &[&str], says: &str) {
    let count = |folder: &Path| fs::read_dir(folder).unwrap().count();
    let before = count(folder);
    let out = fracas(folder, arguments);
    let said = stderr(&out);
    assert_eq!(out.status.code(), Some(2), "{arguments:?}: {said}");
    assert!(said.contains(says), "{arguments:?}: {said}");
    // "to pass '-1' as a value, use '-- -1'" helps nobody.
    assert!(!said.contains("-- -"), "{arguments:?}: {said}");
    assert_eq!(count(folder), before, "{arguments:?}");
}

const TETRAHEDRON: &str =
    "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n";

#[test]
fn numbers_are_refused_by_their_option_and_bounds() {
    let folder = folder("numbers");
    for (option, values, says) in [
        (
            "--pieces",
            &["1", "-1", "2.5", "1e5"][..],
            "whole number from 2",
        ),
        ("--rings", &["-1", "x"], "whole number from 0"),
        ("--tets", &["0", "-1", "1e5"], "whole number from 1"),
        (
            "--roughness",
            &["-1", "nan", "100", "inf"],
            "number from 0 to 1",
        ),
        (
            "--explode",
            &["-1", "nan", "inf", "1e30"],
            "number from 0 to 1000",
        ),
        (
            "--crack-detail",
            &["-1", "nan", "0.2"],
            "number from 0 to 0.1",
        ),
        (
            "--crack-scale",
            &["-1", "nan", "0", "inf"],
            "number above 0",
        ),
        ("--mass", &["-1", "nan", "0"], "number above 0"),
    ] {
        for value in values {
            let arguments = ["shatter", "brick", option, value, "-o", "a.glb"];
            refused(&folder, &arguments, option);
            refused(&folder, &arguments, says);
        }
    }
    for (arguments, says) in [
        (
            &["bake", "brick", "--modes", "-1", "-o", "a.fracas"][..],
            "--modes",
        ),
        (&["run", "bricks", "--steps", "-1"], "whole number from 0"),
        (&["run", "bricks", "--steps", "1e3"], "whole number from 0"),
        (
            &["run", "bricks", "--threads", "0"],
            "whole number from 1 to 256",
        ),
        (
            &["run", "bricks", "--threads", "-4"],
            "whole number from 1 to 256",
        ),
        (&["run", "bricks", "--step", "-4"], "--step"),
        (&["run", "bricks", "--budget", "-2"], "--budget"),
    ] {
        refused(&folder, arguments, says);
    }
}

#[test]
fn what_is_read_is_not_replaced_by_what_is_written() {
    let folder = folder("same");
    fs::create_dir(folder.join("sub")).unwrap();
    for (input, command) in [
        ("a.obj", &["shatter", "a.obj", "-o", "a.obj"][..]),
        ("a.obj", &["shatter", "a.obj", "-o", "sub/../a.obj"]),
        ("a", &["bake", "a", "-o", "a"]),
        ("a.off", &["collide", "a.off", "--json", "a.off"]),
        ("b.toml", &["run", "b.toml", "--json", "b.toml"]),
        ("b", &["run", "b", "--json", "b"]),
    ] {
        let path = folder.join(input);
        fs::write(&path, TETRAHEDRON).unwrap();
        let out = fracas(&folder, command);
        assert_ne!(out.status.code(), Some(0), "{command:?}: {}", stderr(&out));
        let kept = fs::read_to_string(&path).unwrap();
        assert_eq!(kept, TETRAHEDRON, "{command:?}");
    }
    let twice = ["shatter", "a.obj", "-o", "a.obj"];
    refused(&folder, &twice, "a.obj is read, too");
    // Two outputs of one name: the second would take the first one's place.
    let twice = ["run", "bricks", "--steps", "1", "--json", "x", "--png", "x"];
    refused(&folder, &twice, "written for another option");
    // What is baked again may take its own place.
    let bake = ["bake", "brick", "--modes", "0", "-o", "c.fracas"];
    assert!(fracas(&folder, &bake).status.success());
    let again = [
        "bake",
        "c.fracas",
        "--material",
        "glass",
        "--modes",
        "4",
        "-o",
        "c.fracas",
    ];
    let out = fracas(&folder, &again);
    assert!(out.status.success(), "{}", stderr(&out));
}

#[test]
fn a_name_says_what_goes_into_the_file() {
    let folder = folder("names");
    for (arguments, says) in [
        (&["bake", "brick", "-o", "a.obj"][..], ".fracas"),
        (&["bake", "brick", "-o", "a.GLB"], ".fracas"),
        (
            &["shatter", "brick", "-o", "a.fracas"],
            ".glb or .gltf or .obj",
        ),
        (
            &["shatter", "brick", "-o", "a.ply"],
            ".glb or .gltf or .obj",
        ),
        (
            &["shatter", "brick", "--picture", "a.jpg", "-o", "a.glb"],
            ".png",
        ),
        (&["run", "bricks", "--png", "a.jpg"], ".png"),
        (&["run", "bricks", "--json", "a.png"], ".json"),
        (&["run", "bricks", "--recording", "a.glb"], ".film"),
        (&["shapes", "--png", "a.svg"], ".png"),
        (&["bake", "brick", "-o", "-"], "./-"),
        (&["run", "bricks", "--json", "-"], "./-"),
    ] {
        refused(&folder, arguments, says);
    }
    // Names that say nothing else are taken.
    for name in ["a", "a.asset", "a.fracas", "./-"] {
        let out = fracas(&folder, &["bake", "brick", "--modes", "0", "-o", name]);
        assert!(out.status.success(), "{name}: {}", stderr(&out));
        let bytes = fs::read(folder.join(name)).unwrap();
        fracas_bake::Asset::from_bytes(&bytes).unwrap();
    }
}

/// Behind `/dev/stdout` there may be a pipe, which has no path of its own.
#[cfg(target_os = "linux")]
#[test]
fn standard_output_by_its_name_is_written_through() {
    let folder = folder("stdout");
    let child = Command::new(env!("CARGO_BIN_EXE_fracas"))
        .args(["bake", "brick", "--modes", "0", "-o", "/dev/stdout"])
        .current_dir(&folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let out = child.wait_with_output().unwrap();
    assert!(out.status.success(), "{}", stderr(&out));
    let find = |what: &[u8]| out.stdout.windows(what.len()).position(|w| w == what);
    assert_eq!(find(b"\x93FRACAS"), Some(0), "the asset comes first");
    assert!(find(b"wrote        /dev/stdout").is_some());
}

#[test]
fn advice_names_options_that_there_are() {
    let folder = folder("advice");
    fs::write(
        folder.join("open.obj"),
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n",
    )
    .unwrap();
    for command in ["bake", "shatter"] {
        let out = fracas(&folder, &[command, "open.obj", "-o", "a"]);
        assert_eq!(out.status.code(), Some(1));
        assert!(stderr(&out).contains("--thicken"), "{}", stderr(&out));
    }
    let mut far = TETRAHEDRON.to_owned();
    for (here, there) in [
        ("1 0 0", "1e300 0 0"),
        ("0 1 0", "0 1e300 0"),
        ("0 0 1", "0 0 1e300"),
    ] {
        far = far.replace(&format!("v {here}"), &format!("v {there}"));
    }
    fs::write(folder.join("far.obj"), far).unwrap();
    let out = fracas(&folder, &["bake", "far.obj", "-o", "a"]);
    assert_eq!(out.status.code(), Some(1));
    assert!(stderr(&out).contains("1e12 at most"), "{}", stderr(&out));
    // Five tetrahedra have fewer modes than are looked for.
    let out = fracas(&folder, &["bake", "brick", "--tets", "1", "-o", "a"]);
    assert!(
        out.status.success() || stderr(&out).contains("--modes 0"),
        "{}",
        stderr(&out)
    );
}

#[test]
fn what_has_tetrahedra_of_its_own_says_that_it_keeps_them() {
    let folder = folder("own");
    let bake = ["bake", "brick", "--modes", "0", "-o", "a.fracas"];
    assert!(fracas(&folder, &bake).status.success());
    for (arguments, told) in [
        (
            &["bake", "a.fracas", "--tets", "9", "-o", "b.fracas"][..],
            true,
        ),
        (&["bake", "a.fracas", "-o", "b.fracas"], false),
        (&["shatter", "a.fracas", "--tets", "9", "-o", "b.glb"], true),
        (&["shatter", "a.fracas", "-o", "b.glb"], false),
        (
            &[
                "bake", "brick", "--tets", "300", "--modes", "0", "-o", "b.fracas",
            ],
            false,
        ),
    ] {
        let out = fracas(&folder, arguments);
        let said = String::from_utf8_lossy(&out.stdout).into_owned();
        assert!(out.status.success(), "{arguments:?}: {}", stderr(&out));
        assert_eq!(said.contains("own tetrahedra are kept"), told, "{said}");
    }
    // An asset collides by its boundary, as other tetrahedra do.
    let out = fracas(&folder, &["collide", "a.fracas"]);
    assert!(out.status.success(), "{}", stderr(&out));
    assert!(String::from_utf8_lossy(&out.stdout).contains("404"));
    fs::write(folder.join("c.fracas"), "nothing").unwrap();
    let out = fracas(&folder, &["collide", "c.fracas"]);
    assert!(stderr(&out).contains("c.fracas"), "{}", stderr(&out));
}
