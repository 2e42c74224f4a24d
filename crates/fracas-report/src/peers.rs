//! Other people's programs, asked one at a time.
//!
//! The Python scripts (`peers/*.py`, part of this crate) read one JSON file and print
//! one line of JSON. Packages are pinned in `peers/requirements.txt`; one that is
//! missing, crashes or takes too long is told with its name, and the report goes on.
//! Box3D is on no package index for Python: a small program of its own
//! (`benches/peers/box3d`) reads the same file.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::bench::Bench;
use crate::options::Skip;

const SCRIPTS: [(&str, &str); 5] = [
    ("peers.py", include_str!("../peers/peers.py")),
    ("common.py", include_str!("../peers/common.py")),
    ("meshes.py", include_str!("../peers/meshes.py")),
    ("engines.py", include_str!("../peers/engines.py")),
    ("tets.py", include_str!("../peers/tets.py")),
];
/// The packages the scripts know, pinned.
pub const REQUIREMENTS: &str = include_str!("../peers/requirements.txt");

/// A peer that says nothing for so long is given up.
const PATIENCE: Duration = Duration::from_secs(240);

/// Asks one peer one question.
///
/// # Errors
/// When no Python was named, or the peer is missing or fails: with what to do about it.
pub fn ask(bench: &Bench<'_>, question: &str, peer: &str, input: &Value) -> Result<Value, Skip> {
    let Some(python) = &bench.options.python else {
        return Err(Skip(
            "the peers: install `crates/fracas-report/peers/requirements.txt` into a Python and name it with `--peers PYTHON`".into(),
        ));
    };
    in_folder(peer, |folder| {
        for (name, text) in SCRIPTS {
            fs::write(folder.join(name), text)?;
        }
        fs::write(folder.join("input.json"), input.to_string())?;
        let mut command = Command::new(python);
        command
            .arg(folder.join("peers.py"))
            .args([question, peer])
            .arg(folder.join("input.json"));
        Ok(command)
    })
}

/// Asks Box3D about the fresh fracture.
///
/// # Errors
/// As [`ask`].
pub fn ask_box3d(bench: &Bench<'_>, input: &Value) -> Result<Value, Skip> {
    let Some(program) = &bench.options.box3d else {
        return Err(Skip(
            "Box3D: build `benches/peers/box3d` and name the program with `--box3d PROGRAM`".into(),
        ));
    };
    in_folder("box3d", |folder| {
        let file = folder.join("input.json");
        fs::write(&file, input.to_string())?;
        let mut command = Command::new(program);
        command.arg(file);
        Ok(command)
    })
}

/// Runs a command in a folder that is gone afterwards, and reads its last line.
fn in_folder(
    peer: &str,
    prepare: impl FnOnce(&Path) -> std::io::Result<Command>,
) -> Result<Value, Skip> {
    let name = format!("fracas-peers-{}-{peer}", std::process::id());
    let folder = std::env::temp_dir().join(name);
    let answer = fs::create_dir_all(&folder)
        .and_then(|()| prepare(&folder))
        .map_err(|e| Skip(format!("{peer}: {e}")))
        .and_then(|command| answer(peer, &folder, command));
    // Nothing is lost if the folder stays.
    let _ = fs::remove_dir_all(&folder);
    answer
}

fn answer(peer: &str, folder: &Path, mut command: Command) -> Result<Value, Skip> {
    let fail = |why: &dyn std::fmt::Display| Skip(format!("{peer}: {why}"));
    let [out, errors] = ["out", "errors"].map(|name| folder.join(name));
    let open = |path: &PathBuf| File::create(path).map(Stdio::from);
    let program = command.get_program().display().to_string();
    let mut child = command
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(open(&out).map_err(|e| fail(&e))?)
        .stderr(open(&errors).map_err(|e| fail(&e))?)
        .spawn()
        .map_err(|e| fail(&format!("cannot run {program}: {e}")))?;
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().map_err(|e| fail(&e))? {
            break status;
        }
        if start.elapsed() > PATIENCE {
            let _ = child.kill();
            let _ = child.wait();
            let seconds = PATIENCE.as_secs();
            return Err(fail(&format!("no answer within {seconds} s")));
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    let read = |path: &PathBuf| {
        let bytes = fs::read(path).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let text = read(&out);
    let said = serde_json::from_str::<Value>(text.lines().last().unwrap_or_default());
    match said {
        Ok(value) => match value["error"].as_str() {
            Some(why) => Err(fail(&why)),
            None => Ok(value),
        },
        Err(_) => {
            let errors = read(&errors);
            let why = errors.lines().last().unwrap_or("it said nothing");
            Err(fail(&format!("{why} ({status})")))
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::options::Options;
    use serde_json::json;

    fn shell(script: &str) -> Result<Value, Skip> {
        in_folder("a-peer", |folder| {
            fs::write(folder.join("x.sh"), script)?;
            let mut command = Command::new("sh");
            command.arg(folder.join("x.sh"));
            Ok(command)
        })
    }

    #[test]
    fn answers_and_failures_are_told_apart() {
        let said = shell("echo noise; echo '{\"ms\": 2}'").unwrap();
        assert_eq!(said["ms"], 2);
        let why = |script| shell(script).unwrap_err().to_string();
        assert!(why("echo '{\"error\": \"no such package\"}'").contains("no such package"));
        assert!(why("echo broken >&2; exit 3").contains("broken"));
        // One that crashes is named.
        let crash = why("kill -SEGV $$");
        assert!(
            crash.contains("a-peer") && crash.contains("signal"),
            "{crash}"
        );
    }

    #[test]
    fn without_programs_the_report_says_how_to_get_them() {
        let options = Options::default();
        let bench = Bench::new(&options, &|_| {});
        let text = ask(&bench, "mesh", "coal", &json!({})).unwrap_err();
        assert!(text.to_string().contains("--peers"));
        let text = ask_box3d(&bench, &json!({})).unwrap_err();
        assert!(text.to_string().contains("--box3d"));
    }
}
