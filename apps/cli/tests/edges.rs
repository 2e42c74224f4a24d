//! What a careful outsider tries: odd targets, closed pipes, full disks, numbers that
//! make no sense, Ctrl-C at the wrong time.

#![cfg(unix)]

use std::fs;
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// A folder of its own for each test.
fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("edges-{name}"));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn command() -> Command {
    Command::new(env!("CARGO_BIN_EXE_fracas"))
}

fn fracas(arguments: &[&str]) -> Output {
    command().args(arguments).output().unwrap()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn stderr(out: &Output) -> String {
    String::from_utf8_lossy(&out.stderr).into_owned()
}

fn stdout(out: &Output) -> String {
    String::from_utf8_lossy(&out.stdout).into_owned()
}

/// By the shell, for pipes and redirections; `$F` is the program.
fn shell(folder: &Path, script: &str) -> Output {
    Command::new("bash")
        .args(["-c", &format!("set -o pipefail; {script}")])
        .env("F", env!("CARGO_BIN_EXE_fracas"))
        .current_dir(folder)
        .output()
        .unwrap()
}

fn interrupt(child: &Child) {
    let pid = child.id().to_string();
    let killed = Command::new("kill").args(["-INT", &pid]).status();
    assert!(killed.unwrap().success());
}

/// Waits, but not for ever.
fn wait(child: &mut Child, seconds: u64) -> Option<i32> {
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(seconds) {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code();
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill().unwrap();
    panic!("it does not end");
}

const CUBE: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nv 0 0 1\nv 1 0 1\nv 0 1 1\nv 1 1 1\nf 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6\n";

#[test]
fn devices_fifos_and_links_stay_what_they_are() {
    let folder = folder("targets");
    // Devices through a link: a mistake must not cost this machine its /dev/null.
    for device in ["/dev/null", "/dev/full"] {
        let link = folder.join("device");
        let _ = fs::remove_file(&link);
        symlink(device, &link).unwrap();
        let out = fracas(&["bake", "brick", "--modes", "0", "-o", text(&link)]);
        assert_eq!(
            out.status.success(),
            device == "/dev/null",
            "{}",
            stderr(&out)
        );
        assert!(fs::metadata(&link).unwrap().file_type().is_char_device());
    }
    // A FIFO gives its reader the bytes.
    let fifo = folder.join("fifo");
    assert!(
        Command::new("mkfifo")
            .arg(&fifo)
            .status()
            .unwrap()
            .success()
    );
    let path = fifo.clone();
    let reader = std::thread::spawn(move || fs::read(path).unwrap());
    let out = fracas(&["bake", "brick", "--modes", "0", "-o", text(&fifo)]);
    assert!(out.status.success(), "{}", stderr(&out));
    let bytes = reader.join().unwrap();
    fracas_bake::Asset::from_bytes(&bytes).unwrap();
    assert!(fs::metadata(&fifo).unwrap().file_type().is_fifo());
    // A link stays, and what it points to keeps its mode.
    let (real, link) = (folder.join("real.fracas"), folder.join("link.fracas"));
    fs::write(&real, "old").unwrap();
    fs::set_permissions(&real, fs::Permissions::from_mode(0o600)).unwrap();
    symlink("real.fracas", &link).unwrap();
    let out = fracas(&["bake", "brick", "--modes", "0", "-o", text(&link)]);
    assert!(out.status.success());
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::read(&real).unwrap(), bytes);
    let mode = fs::metadata(&real).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_closed_pipe_is_no_error_and_files_are_still_written() {
    let folder = folder("pipe");
    // `true` reads nothing and ends at once.
    for (script, file) in [
        ("$F shapes", None),
        ("$F run --list", None),
        (
            "$F run bricks --steps 2 --png a.png --json a.json",
            Some("a.json"),
        ),
        ("$F shatter brick --pieces 3 -o a.glb", Some("a.glb")),
        ("$F run torus-on-cube --steps 1 --png b.png", Some("b.png")),
    ] {
        let out = shell(
            &folder,
            &format!("(sleep 0.2; {script}; echo $? > code) | true"),
        );
        let said = stderr(&out);
        assert!(said.is_empty(), "{script}: {said}");
        assert_eq!(fs::read_to_string(folder.join("code")).unwrap().trim(), "0");
        if let Some(file) = file {
            assert!(folder.join(file).exists(), "{script}");
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_output_is_an_error_after_the_files_are_written() {
    let folder = folder("full");
    fs::write(folder.join("cube.obj"), CUBE).unwrap();
    for (script, file) in [
        ("$F run --list", None),
        ("$F shapes", None),
        ("$F inspect cube.obj", None),
        ("$F inspect --json cube.obj", None),
        ("$F collide cube.obj", None),
        (
            "$F run bricks --steps 2 --png a.png --json a.json",
            Some("a.json"),
        ),
        ("$F shatter brick --pieces 3 -o a.glb", Some("a.glb")),
    ] {
        let out = shell(&folder, &format!("{script} > /dev/full"));
        let said = stderr(&out);
        assert_eq!(out.status.code(), Some(1), "{script}: {said}");
        assert!(
            said.contains("standard output") && !said.contains("panick"),
            "{said}"
        );
        if let Some(file) = file {
            assert!(folder.join(file).exists(), "{script}");
        }
    }
}

#[test]
fn an_interrupted_run_writes_what_was_done() {
    let folder = folder("interrupted");
    let (json, png) = (folder.join("a.json"), folder.join("a.png"));
    // The scene has to be made first, which a busy machine takes its time for.
    for seconds in [3, 12, 50, 200] {
        let mut child = command()
            .args(["run", "bricks", "--steps", "100000", "--json", text(&json)])
            .args(["--png", text(&png)])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_secs(seconds));
        interrupt(&child);
        assert_eq!(wait(&mut child, 300), Some(130));
        let mut said = String::new();
        let mut out = child.stdout.take().unwrap();
        out.read_to_string(&mut said).unwrap();
        if !said.is_empty() {
            assert!(said.contains("interrupted"), "{said}");
            assert!(said.contains("total ms"), "{said}");
            break;
        }
    }
    let told: serde_json::Value = serde_json::from_slice(&fs::read(&json).unwrap()).unwrap();
    assert_eq!(told["interrupted"], true);
    let steps = told["steps"].as_array().unwrap().len();
    assert!((1..100_000).contains(&steps), "{steps}");
    assert!(png.exists());
}

#[test]
fn a_fifo_that_nobody_reads_does_not_hold_up_ctrl_c() {
    let folder = folder("fifo");
    let fifo = folder.join("a.png");
    assert!(
        Command::new("mkfifo")
            .arg(&fifo)
            .status()
            .unwrap()
            .success()
    );
    let mut child = command()
        .args(["run", "blocks", "--steps", "1", "--png", text(&fifo)])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_millis(6000));
    assert!(child.try_wait().unwrap().is_none(), "it waits for a reader");
    interrupt(&child);
    assert_eq!(wait(&mut child, 5), Some(130));
}

/// A disk that is full after so many kilobytes: the limit of a file's size.
#[test]
fn a_full_disk_leaves_no_part_of_a_file() {
    let folder = folder("disk");
    for script in [
        "$F shatter rabbit --pieces 8 -o a.glb",
        "$F bake rabbit --modes 0 -o a.fracas",
        "$F shapes --obj objs",
    ] {
        let script = format!("trap '' XFSZ; ulimit -f 20; {script}");
        let out = shell(&folder, &script);
        assert_eq!(out.status.code(), Some(1), "{script}: {}", stderr(&out));
        let left = |folder: &Path| -> Vec<PathBuf> {
            let Ok(entries) = fs::read_dir(folder) else {
                return Vec::new();
            };
            let files = entries.map(|e| e.unwrap().path()).filter(|p| p.is_file());
            files
                .filter(|p| p.metadata().unwrap().len() >= 20 * 1024)
                .collect()
        };
        let found = [left(&folder), left(&folder.join("objs"))].concat();
        assert!(found.is_empty(), "{script}: {found:?}");
        let temporary = fs::read_dir(&folder).unwrap().any(|e| {
            let name = e.unwrap().file_name();
            name.to_string_lossy().ends_with(".tmp")
        });
        assert!(!temporary, "{script}");
    }
}

#[test]
fn what_encloses_nothing_is_not_baked() {
    let folder = folder("volume");
    let open = CUBE.replace("f 2 4 8 6\n", "");
    for (name, obj) in [
        (
            "sliver",
            "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0.3 0.3 0.000001\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n",
        ),
        (
            "needle",
            "v 0 0 0\nv 1 0 0\nv 0 1e-9 0\nv 0 0 1e-9\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n",
        ),
        ("triangle", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"),
    ] {
        let path = folder.join(format!("{name}.obj"));
        fs::write(&path, obj).unwrap();
        for arguments in [
            ["bake", text(&path), "-o", "out.fracas"],
            ["shatter", text(&path), "-o", "out.glb"],
        ] {
            let out = command()
                .args(arguments)
                .current_dir(&folder)
                .output()
                .unwrap();
            let said = format!("{}{}", stdout(&out), stderr(&out));
            assert_eq!(out.status.code(), Some(1), "{name}: {said}");
            assert!(!said.contains("shell"), "{said}");
            // Numbers of more than six digits help nobody.
            let longest = said
                .split(|c: char| !c.is_ascii_digit())
                .map(str::len)
                .max();
            assert!(longest < Some(9), "{name}: {said}");
        }
    }
    // A cube without a face has an inside by and large, and no volume of its own.
    fs::write(folder.join("open.obj"), open).unwrap();
    let out = command()
        .args(["bake", "open.obj", "--tets", "500", "-o", "o.fracas"])
        .current_dir(&folder)
        .output()
        .unwrap();
    let said = format!("{}{}", stdout(&out), stderr(&out));
    assert!(
        out.status.success() && said.contains("open edges"),
        "{said}"
    );
    let volume = said.lines().find(|l| l.starts_with("volume")).unwrap();
    let volume: f64 = volume.split_whitespace().nth(1).unwrap().parse().unwrap();
    assert!((volume - 1.0).abs() < 0.1, "{said}");
    // With a thickness it is a slab, and says so.
    let out = command()
        .args(["bake", "triangle.obj", "--thicken", "0.1", "-o", "t.fracas"])
        .current_dir(&folder)
        .output()
        .unwrap();
    assert!(out.status.success(), "{}", stderr(&out));
    assert!(stdout(&out).contains("thick"), "{}", stdout(&out));
}

/// A bowl: half a hollow ball, closed, with a wall of this share of its width.
fn bowl(wall: f64) -> String {
    let (around, up) = (48, 12);
    let mut text = String::new();
    let mut rows = Vec::new();
    let mut count = 0;
    let mut row = |text: &mut String, radius: f64, height: f64| {
        let first = count;
        for i in 0..around {
            let a = std::f64::consts::TAU * f64::from(i) / f64::from(around);
            *text += &format!("v {} {} {}\n", radius * a.cos(), height, radius * a.sin());
            count += 1;
        }
        rows.push(first);
    };
    for (sign, r) in [(1.0, 0.5), (-1.0, 0.5 - wall)] {
        for k in 0..up {
            let k = if sign > 0.0 { k } else { up - 1 - k };
            let b = std::f64::consts::FRAC_PI_2 * f64::from(k + 1) / f64::from(up);
            row(&mut text, r * b.sin(), -r * b.cos());
        }
    }
    for pair in rows.windows(2) {
        for i in 0..around {
            let j = (i + 1) % around;
            let [a, b] = [pair[0] + i + 1, pair[0] + j + 1];
            let [c, d] = [pair[1] + i + 1, pair[1] + j + 1];
            text += &format!("f {a} {c} {b}\nf {b} {c} {d}\n");
        }
    }
    let poles = [-0.5, wall - 0.5];
    for (pole, first) in poles.iter().zip([rows[0], rows[rows.len() - 1]]) {
        text += &format!("v 0 {pole} 0\n");
        let tip = count + 1;
        count += 1;
        for i in 0..around {
            let j = (i + 1) % around;
            let [a, b] = [first + i + 1, first + j + 1];
            if first == rows[0] {
                text += &format!("f {tip} {a} {b}\n");
            } else {
                text += &format!("f {tip} {b} {a}\n");
            }
        }
    }
    text
}

#[test]
fn a_thin_wall_is_held_without_being_asked() {
    let folder = folder("bowl");
    // Thinner walls than the usual number of tetrahedra holds.
    fs::write(folder.join("bowl.obj"), bowl(0.03)).unwrap();
    fs::write(folder.join("egg.obj"), bowl(0.0004)).unwrap();
    let bake = |file: &str| {
        command()
            .args(["bake", file, "-o", "out.fracas"])
            .current_dir(&folder)
            .output()
            .unwrap()
    };
    let out = bake("bowl.obj");
    assert!(out.status.success(), "{}", stderr(&out));
    let said = stdout(&out);
    assert!(said.contains("chosen to hold thin walls"), "{said}");
    let percent = said.split("against the surface").next().unwrap();
    let percent = percent.rsplit('(').next().unwrap().trim_end_matches("% ");
    let percent: f64 = percent.trim_end_matches('%').parse().unwrap();
    assert!(percent.abs() < 5.0, "{said}");
    // Ten times thinner than an egg's: refused, and nothing absurd is advised.
    let out = bake("egg.obj");
    let said = stderr(&out);
    assert_eq!(out.status.code(), Some(1), "{said}");
    assert!(said.contains("make the walls thicker"), "{said}");
    assert!(!said.contains("tets 5"), "{said}");
}

#[test]
fn absurd_numbers_are_refused_at_once() {
    let folder = folder("absurd");
    let out = folder.join("out");
    for arguments in [
        ["bake", "rabbit", "--tets", "1000000000"],
        ["bake", "rabbit", "--modes", "100000"],
        ["bake", "rabbit", "--edge", "1e-6"],
        ["shatter", "rabbit", "--pieces", "100000"],
        ["shatter", "rabbit", "--tets", "1000000000"],
    ] {
        let start = Instant::now();
        let run = command()
            .args(arguments)
            .arg("-o")
            .arg(&out)
            .output()
            .unwrap();
        let said = stderr(&run);
        assert_eq!(run.status.code(), Some(1), "{arguments:?}: {said}");
        assert!(start.elapsed() < Duration::from_secs(120), "{arguments:?}");
        assert!(
            said.contains("--no-limits") || said.contains("--tets"),
            "{said}"
        );
        assert!(!out.exists());
    }
    let rings = [
        "shatter",
        "plate",
        "--pattern",
        "radial",
        "--rings",
        "1000000",
    ];
    let run = command().args(rings).arg("-o").arg(&out).output().unwrap();
    assert_eq!(run.status.code(), Some(1), "{}", stderr(&run));
}

#[test]
fn usage_errors_name_the_option_and_exit_with_2() {
    for (arguments, expected) in [
        (
            &["shatter", "brick", "--seed", "-1"][..],
            "whole number from 0",
        ),
        (&["run", "bricks", "--seed", "-1"], "whole number from 0"),
        (&["shatter", "brick", "--direction", "0,0,0"], "--direction"),
        (&["shatter", "brick", "--pieces", "0"], "--pieces"),
        (&["shatter", "brick", "--pieces", "1"], "--pieces"),
        (&["shatter", "brick", "--material", "jelly"], "porcelain"),
        (&["shatter", "brick", "--speed", "-3"], "--speed"),
        (&["run", "bricks", "--contacts", "nonsense"], "--contacts"),
        (&["bake", "brick", "--edge", "-1"], "--edge"),
        (&["bake", "brick", "--tets", "0"], "--tets"),
    ] {
        let mut all = arguments.to_vec();
        if arguments[0] != "run" {
            all.extend(["-o", "/nonexistent/out"]);
        }
        let out = fracas(&all);
        let said = stderr(&out);
        assert_eq!(out.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains(expected), "{arguments:?}: {said}");
        assert!(!said.contains("-- -1"), "{said}");
    }
    let said = stderr(&fracas(&["run", "nosuchscene"]));
    assert!(
        said.contains("torus-on-cube") && said.contains("bricks"),
        "{said}"
    );
}

#[test]
fn nothing_breaks_in_words_and_with_advice_that_fits() {
    let folder = folder("whole");
    let out = folder.join("a.glb");
    let impact = [
        "shatter",
        "brick",
        "--material",
        "brick",
        "--pattern",
        "impact",
    ];
    for (more, advice, not) in [
        (["--drop", "0.001"], "--drop", "--speed"),
        (["--speed", "0.001"], "--speed", "--drop"),
    ] {
        let run = command()
            .args(impact)
            .args(more)
            .arg("-o")
            .arg(&out)
            .output()
            .unwrap();
        let said = stderr(&run);
        assert_eq!(run.status.code(), Some(1), "{said}");
        assert!(said.contains(advice) && !said.contains(not), "{said}");
        // How far below is not known.
        assert!(
            said.contains("below the strength") && !said.contains('%'),
            "{said}"
        );
        for name in ["NoImpact", "Harmless", "Held", "NoCrack"] {
            assert!(!said.contains(name), "{said}");
        }
    }
}

/// How many fragments `shatter` says it made.
fn fragments_told(run: &std::process::Output) -> usize {
    let said = stdout(run);
    let line = said.lines().find(|l| l.contains("fragments"));
    let count = line.and_then(|l| l.split(' ').next()?.parse().ok());
    count.unwrap_or_else(|| panic!("{said}{}", stderr(run)))
}

#[test]
fn pieces_are_at_most_as_many_as_asked_for() {
    let folder = folder("pieces");
    let out = folder.join("a.glb");
    for (shape, pieces) in [("rabbit", "20"), ("piggy-bank", "12"), ("bowl", "2")] {
        let most = pieces.parse().unwrap();
        let arguments = ["--tets", "5000", "--pieces", pieces, "-o", text(&out)];
        let run = fracas(&[&["shatter", shape][..], &arguments].concat());
        let given = fragments_told(&run);
        assert!((2..=most).contains(&given), "{shape}: {given} of {most}");
    }
    // The modes, which an impact needs, are computed once.
    let bowl = folder.join("bowl.fracas");
    let bake = ["bake", "bowl", "--tets", "1500", "--modes", "24"];
    let made = fracas(&[&bake[..], &["--material", "glass", "-o", text(&bowl)]].concat());
    assert!(made.status.success(), "{}", stderr(&made));
    let impact = ["--pattern", "impact", "--speed", "30", "--mass", "0.5"];
    let mut free = 0;
    // Without a limit it makes more: the limit is what is tested.
    for pieces in ["40", "5", "3", "2"] {
        let with = ["--material", "glass", "--pieces", pieces, "-o", text(&out)];
        let run = fracas(&[&["shatter", text(&bowl)][..], &impact, &with].concat());
        let given = fragments_told(&run);
        free = free.max(given);
        let most = pieces.parse().unwrap();
        assert!((2..=most).contains(&given), "{given} of {most}");
    }
    assert!(free > 5, "{free}");
}

#[test]
fn assets_are_known_by_inspect_and_bake_and_named_in_errors() {
    let folder = folder("assets");
    let (asset, again) = (folder.join("a.fracas"), folder.join("b.fracas"));
    assert!(
        fracas(&["bake", "brick", "-o", text(&asset)])
            .status
            .success()
    );
    let out = fracas(&["inspect", text(&asset)]);
    assert!(out.status.success(), "{}", stderr(&out));
    let said = stdout(&out);
    assert!(
        said.contains("modes") && said.contains("tetrahedra"),
        "{said}"
    );
    // Baked again, for another material.
    let glass = [
        "bake",
        text(&asset),
        "--material",
        "glass",
        "-o",
        text(&again),
    ];
    assert!(fracas(&glass).status.success());
    let load = |path: &Path| fracas_bake::Asset::load(path).unwrap();
    assert_eq!(load(&again).mesh(), load(&asset).mesh());
    assert_ne!(load(&again).modes(), load(&asset).modes());
    // Without a material it stays as it was.
    assert!(
        fracas(&["bake", text(&asset), "-o", text(&again)])
            .status
            .success()
    );
    assert_eq!(load(&again), load(&asset));
    let bytes = fs::read(&asset).unwrap();
    fs::write(&again, &bytes[..bytes.len() / 2]).unwrap();
    for command in [
        &["inspect", text(&again)][..],
        &["bake", text(&again), "-o", "/nonexistent/x"],
        &["shatter", text(&again), "-o", "/nonexistent/x"],
    ] {
        let out = fracas(command);
        assert_eq!(out.status.code(), Some(1));
        assert!(stderr(&out).contains("b.fracas"), "{}", stderr(&out));
    }
}

#[test]
fn names_need_not_be_utf_8() {
    let folder = folder("names");
    let odd = folder.join(std::ffi::OsStr::from_bytes(b"caf\xe9.obj"));
    if fs::write(&odd, CUBE).is_err() {
        return; // A file system that has no such names.
    }
    let out = folder.join("a.fracas");
    let run = command()
        .arg("bake")
        .arg(&odd)
        .args(["--tets", "200", "-o"])
        .arg(&out)
        .output()
        .unwrap();
    assert!(run.status.success(), "{}", stderr(&run));
    assert!(out.exists());
}

#[test]
fn seams_are_no_self_intersections() {
    let folder = folder("seams");
    // A cube whose faces share no vertex.
    let mut apart = String::new();
    let corners: Vec<&str> = CUBE.lines().filter(|l| l.starts_with('v')).collect();
    let mut count = 0;
    for face in CUBE.lines().filter(|l| l.starts_with('f')) {
        for corner in face.split(' ').skip(1) {
            let at: usize = corner.parse().unwrap();
            apart += &format!("{}\n", corners[at - 1]);
        }
        apart += &format!(
            "f {} {} {} {}\n",
            count + 1,
            count + 2,
            count + 3,
            count + 4
        );
        count += 4;
    }
    let path = folder.join("apart.obj");
    fs::write(&path, apart).unwrap();
    let json = folder.join("a.json");
    let pairs = |more: &[&str]| {
        let out = fracas(&[&["collide", text(&path), "--json", text(&json)], more].concat());
        assert!(out.status.success(), "{}", stderr(&out));
        let told: serde_json::Value = serde_json::from_slice(&fs::read(&json).unwrap()).unwrap();
        let pairs = told["frames"][0]["tri_pairs"].as_array().unwrap().len();
        (pairs, stdout(&out))
    };
    let (found, said) = pairs(&[]);
    assert_eq!(found, 0, "{said}");
    assert!(said.contains("welded"), "{said}");
    assert!(pairs(&["--as-listed"]).0 > 0);
}
