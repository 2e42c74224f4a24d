//! `cargo xtask wheel`, and the stage `python` of `cargo xtask test`.
//!
//! The stage tests the build that the other stages have made already: the module is copied
//! beside its Python files into a virtual environment under the target folder, and pytest
//! compares it with the command line and with Rust's own results.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::skips;
use crate::stage::{Outcome, cargo};
use crate::web::target_folder;

const FOLDER: &str = "bindings/python";
/// What the tests need; the module itself needs numpy alone.
const PACKAGES: &[&str] = &[
    "numpy>=1.24",
    "pytest>=8",
    "pyarrow>=14",
    "trimesh>=4",
    "meshio>=5",
    "scipy",
    "fsspec>=2024.2",
    "tomli>=2; python_version < '3.11'",
];
/// What the tests on a cluster need beside it: 70 MB, and a minute to install.
const RAY: &str = "ray>=2.9";
/// Ends with an error where Python is too old or lacks what makes environments.
const PROBE: &str = "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))";

/// Tests the module from Python, but not on Ray clusters: [`ray`] does that.
pub fn test() -> Outcome {
    println!("   tests on Ray clusters: cargo xtask ray");
    run_tests("test", PACKAGES, &["-m", "not cluster"])
}

/// The tests on clusters of several Ray nodes on this machine, one of which is killed.
pub fn ray() -> Outcome {
    let packages = [PACKAGES, &[RAY]].concat();
    run_tests(
        "ray",
        &packages,
        &["tests/test_cluster.py", "tests/test_sweep.py"],
    )
}

/// Runs some tests, or all of them, with these packages.
fn run_tests(name: &str, packages: &[&str], which: &[&str]) -> Outcome {
    let target = target_folder()?;
    // The same build as the tests': nothing is compiled twice.
    let what = ["--lib", "--bin", "fracas", "--example", "bits"];
    cargo(&[&["build", "--workspace"][..], &what].concat(), &[])?;
    let built = target.join("debug");
    let python = find_python().ok_or("there is no Python 3.10 or newer with venv and pip")?;
    let python = environment(&python, &target, name, packages)?;
    install(&python, &built)?;
    let mut tests = Command::new(&python);
    tests
        .args(["-m", "pytest", "-q", "-ra", "--durations=5"])
        .args(["-p", "no:cacheprovider"])
        .args(which)
        .current_dir(FOLDER)
        .env("FRACAS_BITS", built.join(program("examples/bits")))
        .env("FRACAS_COMMAND", built.join(program("fracas")));
    skips::run(&mut tests)
}

/// Builds the wheel, in release, into `target/wheels`.
pub fn wheel() -> Outcome {
    let python = find_python().ok_or("a wheel is built with Python 3.10 or newer, venv and pip")?;
    let target = target_folder()?;
    let python = environment(&python, &target, "wheel", &["maturin>=1.9,<2"])?;
    let out = target.join("wheels");
    let mut build = Command::new(&python);
    build
        .args(["-m", "maturin", "build", "--release", "--out"])
        .arg(&out)
        .args(["--manifest-path", "bindings/python/Cargo.toml"]);
    run(&mut build)?;
    println!("   the wheel is in {}", out.display());
    Ok(())
}

fn program(name: &str) -> String {
    format!("{name}{}", std::env::consts::EXE_SUFFIX)
}

/// A Python that is new enough.
pub fn find_python() -> Option<String> {
    let given = std::env::var("PYTHON").ok();
    let mut names = given.into_iter().chain(["python3".into(), "python".into()]);
    names.find(|name: &String| {
        let probed = Command::new(name).args(["-c", PROBE]).output();
        probed.is_ok_and(|out| out.status.success())
    })
}

/// Whether the tests' environment is there.
pub fn has_environment() -> bool {
    target_folder().is_ok_and(|target| has_packages(&target.join("python/test"), PACKAGES))
}

/// Makes the tests' environment.
pub fn make_environment() -> Outcome {
    let python = find_python().ok_or("there is no Python 3.10 or newer with venv and pip")?;
    environment(&python, &target_folder()?, "test", PACKAGES).map(|_| ())
}

/// The Python of a virtual environment.
fn inside(folder: &Path) -> PathBuf {
    folder.join(if cfg!(windows) {
        "Scripts/python.exe"
    } else {
        "bin/python"
    })
}

/// Written into an environment when it is complete.
const STAMP: &str = "fracas-packages";

fn has_packages(folder: &Path, packages: &[&str]) -> bool {
    let list = fs::read_to_string(folder.join(STAMP));
    inside(folder).exists() && list.is_ok_and(|list| list == packages.join("\n"))
}

/// A virtual environment of a name with these packages, made once. Returns its Python.
fn environment(
    python: &str,
    target: &Path,
    name: &str,
    packages: &[&str],
) -> Result<PathBuf, String> {
    let folder = target.join("python").join(name);
    let inside = inside(&folder);
    if has_packages(&folder, packages) {
        return Ok(inside);
    }
    println!("   making a virtual environment in {}", folder.display());
    run(Command::new(python)
        .args(["-m", "venv", "--clear"])
        .arg(&folder))?;
    let mut pip = Command::new(&inside);
    run(pip.args(["-m", "pip", "install", "--quiet"]).args(packages))?;
    let stamp = folder.join(STAMP);
    fs::write(&stamp, packages.join("\n"))
        .map_err(|e| format!("cannot write {}: {e}", stamp.display()))?;
    Ok(inside)
}

/// Puts the package into the environment, as a wheel would.
fn install(python: &Path, built: &Path) -> Outcome {
    let ask = "import sysconfig; print(sysconfig.get_path('purelib'))";
    let out = Command::new(python).args(["-c", ask]).output();
    let out = out.map_err(|e| format!("cannot run {}: {e}", python.display()))?;
    let packages = PathBuf::from(String::from_utf8_lossy(&out.stdout).trim());
    let into = packages.join("fracas");
    if into.exists() {
        fs::remove_dir_all(&into).map_err(|e| format!("cannot empty {}: {e}", into.display()))?;
    }
    copy_folder(&Path::new(FOLDER).join("python/fracas"), &into)?;
    let library = format!(
        "{}_fracas{}",
        std::env::consts::DLL_PREFIX,
        std::env::consts::DLL_SUFFIX
    );
    let module = if cfg!(windows) {
        "_fracas.pyd"
    } else {
        "_fracas.abi3.so"
    };
    copy(&built.join(library), &into.join(module))
}

fn copy_folder(from: &Path, into: &Path) -> Outcome {
    let fail = |e: std::io::Error| format!("cannot copy {}: {e}", from.display());
    fs::create_dir_all(into).map_err(fail)?;
    for entry in fs::read_dir(from).map_err(fail)? {
        let path = entry.map_err(fail)?.path();
        let name = path.file_name().unwrap_or_default();
        if path.is_dir() {
            if name != OsStr::new("__pycache__") {
                copy_folder(&path, &into.join(name))?;
            }
        } else {
            copy(&path, &into.join(name))?;
        }
    }
    Ok(())
}

fn copy(from: &Path, to: &Path) -> Outcome {
    fs::copy(from, to)
        .map(|_| ())
        .map_err(|e| format!("cannot copy {} to {}: {e}", from.display(), to.display()))
}

fn run(command: &mut Command) -> Outcome {
    let name = command.get_program().to_string_lossy().into_owned();
    let words: Vec<_> = command.get_args().map(|a| a.to_string_lossy()).collect();
    let words = words.join(" ");
    println!("   {name} {words}");
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("`{name} {words}` ended with {status}")),
        Err(error) => Err(format!("cannot run {name}: {error}")),
    }
}
