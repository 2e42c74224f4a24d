//! `fracas bake` as a user runs it.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use fracas_bake::Asset;

/// A folder of its own for each test.
fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn fracas(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_fracas"))
        .args(arguments)
        .output()
        .unwrap()
}

#[test]
fn a_shape_is_baked_and_in_a_pipe_there_is_no_bar() {
    let path = folder("baked").join("brick.fracas");
    let out = fracas(&["bake", "brick", "-o", path.to_str().unwrap()]);
    assert!(out.status.success());
    assert!(
        out.stderr.is_empty(),
        "{}",
        String::from_utf8_lossy(&out.stderr)
    );
    let said = String::from_utf8(out.stdout).unwrap();
    assert!(!said.contains('\u{1b}'));
    let asset = Asset::load(&path).unwrap();
    assert!(
        said.contains(&asset.mesh().tets().len().to_string()),
        "{said}"
    );
    assert!(said.contains("volume") && said.contains("angles") && said.contains("seconds"));
    // A shape has a material of its own, and so modes; others where asked for.
    let brick = asset.modes().unwrap();
    assert!(brick.count() >= 40 && said.contains("modes"), "{said}");
    let glass = ["--material", "glass", "--modes", "9"];
    let with = |more: &[&str]| {
        let out = fracas(&[&["bake", "brick", "-o", path.to_str().unwrap()], more].concat());
        assert!(out.status.success());
        Asset::load(&path).unwrap()
    };
    let glass = with(&glass);
    let glass = glass.modes().unwrap();
    assert!(glass.count() < 20 && glass.omegas()[0] > brick.omegas()[0]);
    assert!(with(&["--modes", "0"]).modes().is_none());
}

#[test]
fn what_was_baked_breaks_without_computing_modes_again() {
    let folder = folder("baked-modes");
    let (asset, out) = (folder.join("brick.fracas"), folder.join("out.glb"));
    let (asset, out) = (asset.to_str().unwrap(), out.to_str().unwrap());
    assert!(fracas(&["bake", "brick", "-o", asset]).status.success());
    let shatter = |mesh: &str, more: &[&str]| {
        let drop = ["--pattern", "impact", "--drop", "3", "-o", out];
        let run = fracas(&[&["shatter", mesh], &drop[..], more].concat());
        assert!(run.status.success());
        String::from_utf8(run.stdout).unwrap()
    };
    let stored = shatter(asset, &["--material", "brick"]);
    assert!(!stored.contains("computing"), "{stored}");
    // The same pieces as without the file; another material needs its own modes.
    let fresh = shatter("brick", &["--material", "brick"]);
    let pieces = |said: &str| {
        said.lines()
            .find(|l| l.contains("fragments"))
            .unwrap()
            .to_owned()
    };
    assert_eq!(pieces(&stored), pieces(&fresh));
    assert!(shatter(asset, &["--material", "ice"]).contains("computing"));
}

#[test]
fn errors_say_what_to_do() {
    let path = folder("errors").join("x.fracas");
    let path = path.to_str().unwrap();
    let unknown = fracas(&["bake", "unicorn", "-o", path]);
    assert!(!unknown.status.success());
    let said = String::from_utf8_lossy(&unknown.stderr).into_owned();
    assert!(
        said.contains("unicorn") && said.contains("piggy-bank"),
        "{said}"
    );
    let nowhere = fracas(&["bake", "brick", "-o", "/no/such/folder/x.fracas"]);
    assert!(!nowhere.status.success());
    assert!(String::from_utf8_lossy(&nowhere.stderr).contains("/no/such/folder"));
    assert!(!fracas(&["run", "unicorn"]).status.success());
}

#[cfg(unix)]
#[test]
fn an_interrupted_bake_leaves_the_old_file_and_no_other() {
    use std::time::Duration;

    let folder = folder("interrupted");
    let path = folder.join("rabbit.fracas");
    fs::write(&path, "what was there before").unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_fracas"))
        .args(["bake", "rabbit", "--tets", "600000", "-o"])
        .arg(&path)
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_millis(600));
    let pid = child.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-INT", &pid])
            .status()
            .unwrap()
            .success()
    );
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(fs::read_to_string(&path).unwrap(), "what was there before");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
}

#[test]
fn the_set_is_listed() {
    let out = fracas(&["shapes"]);
    let said = String::from_utf8(out.stdout).unwrap();
    for name in [
        "piggy-bank",
        "rabbit",
        "brick",
        "plate",
        "shelf",
        "bowl",
        "ball",
    ] {
        assert!(said.contains(name), "{said}");
    }
}
