//! `cargo xtask web`: the page, from Rust and TypeScript to static files; and its
//! tests in a browser.
//!
//! Steps: compile the wasm -> write the JavaScript around it (wasm-bindgen as a
//! library, nothing to install) -> npm packages by the lock file -> Vite -> sizes.
//! What `shatter` writes goes through the Khronos validator first, since Node is at hand.
//! The tests need Chromium; where it is missing and this runs as root on Debian, it
//! is installed, elsewhere it is said what to install.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::skips;
use crate::stage::{Outcome, cargo};

/// What the page is compiled for.
pub const WASM: &str = "wasm32-unknown-unknown";
const FOLDER: &str = "apps/web";
/// Maximum size of the first load, compressed. It was 2.5 MB until worlds learned what games do
/// to things (blows, damage, joints, saves in every state); to be brought down by loading what
/// scenes do not need at first when it is needed.
const MAX_BYTES: u64 = 2_600_000;

/// Builds the page into `apps/web/dist`.
pub fn build() -> Outcome {
    let target = target_folder()?;
    cargo(
        &[
            "build",
            "--profile",
            "web",
            "--target",
            WASM,
            "--package",
            "fracas-web",
        ],
        &[],
    )?;
    let wasm = target.join(WASM).join("web/fracas_web.wasm");
    let glue = Path::new(FOLDER).join("src/wasm");
    let (wasm, glue) = (wasm.display().to_string(), glue.display().to_string());
    cargo(
        &[
            "run",
            "--quiet",
            "--profile",
            "tool",
            "--package",
            "fracas-web-glue",
            "--features",
            "tool",
            "--",
            &wasm,
            &glue,
        ],
        &[],
    )?;
    packages()?;
    program("npm", &["run", "--silent", "build"])?;
    sizes()
}

/// Builds the page and tries it in Chromium.
pub fn test() -> Outcome {
    build()?;
    let chromium = chromium().ok_or("Chromium is not here")?;
    // The native side of the comparisons, by the same build as the tests': nothing is
    // compiled twice. The page's build is optimised a little more, so a ratio of times
    // is, if anything, too kind to the page.
    let what = ["native", "broken_models"].map(|name| ["--example", name]);
    let what = [what.as_flattened(), &["--bin", "fracas"]].concat();
    cargo(&[&["build", "--workspace"], &what[..]].concat(), &[])?;
    let target = target_folder()?;
    let built = target.join("debug");
    validate(&built, &target.join("broken-models"))?;
    let native = built.join("examples/native").display().to_string();
    let command = built.join("fracas").display().to_string();
    let mut tests = Command::new("node");
    tests
        .arg("tests/run.mjs")
        .current_dir(FOLDER)
        .env("CHROMIUM", chromium)
        .env("FRACAS_NATIVE", native)
        .env("FRACAS_COMMAND", command);
    skips::run(&mut tests)
}

/// The Khronos validator finds no error in what broken models are written as.
fn validate(built: &Path, folder: &Path) -> Outcome {
    if folder.exists() {
        fs::remove_dir_all(folder)
            .map_err(|e| format!("cannot empty {}: {e}", folder.display()))?;
    }
    let name = "broken_models";
    run(
        Command::new(built.join("examples").join(name)).arg(folder),
        name,
    )?;
    let folder = folder.display().to_string();
    program("node", &["tests/validate.mjs", &folder])
}

/// Installs what the lock file says, unless it is there.
fn packages() -> Outcome {
    if !has_node() {
        return Err("the page is built with Node.js 20 or newer and npm: install them (https://nodejs.org), then try again".into());
    }
    let folder = Path::new(FOLDER);
    let stamp = folder.join("node_modules/.fracas-lock");
    let lock = fs::read(folder.join("package-lock.json"))
        .map_err(|e| format!("cannot read {FOLDER}/package-lock.json: {e}"))?;
    if fs::read(&stamp).is_ok_and(|old| old == lock) {
        return Ok(());
    }
    // Not `npm ci`: it refuses a lock file that lacks the binaries of other platforms,
    // which npm leaves out where a registry does not have them all.
    program("npm", &["install", "--no-save", "--no-audit", "--no-fund"])?;
    fs::write(&stamp, lock).map_err(|e| format!("cannot write {}: {e}", stamp.display()))
}

/// What the first load weighs: every file of the page but the pictures of maps.
fn sizes() -> Outcome {
    let out = Command::new("node")
        .args(["tests/size.mjs", "dist"])
        .current_dir(FOLDER)
        .output()
        .map_err(|e| format!("cannot run node: {e}"))?;
    let told = String::from_utf8_lossy(&out.stdout);
    print!("{told}");
    let bytes = told
        .lines()
        .find_map(|l| l.strip_prefix("first load, compressed: "))
        .and_then(|l| l.split_whitespace().next()?.parse::<u64>().ok())
        .ok_or("tests/size.mjs did not say what the page weighs")?;
    if bytes > MAX_BYTES {
        return Err(format!(
            "the first load is {bytes} bytes, more than {MAX_BYTES}"
        ));
    }
    Ok(())
}

/// Whether there is Node.js 20 or newer, with npm.
pub fn has_node() -> bool {
    let npm = Command::new("npm").arg("--version").output();
    let node = Command::new("node").arg("--version").output();
    let major = node.ok().and_then(|out| {
        let text = String::from_utf8_lossy(&out.stdout).into_owned();
        text.trim_start_matches('v').split('.').next()?.parse().ok()
    });
    npm.is_ok_and(|out| out.status.success()) && major.is_some_and(|major: u32| major >= 20)
}

/// Where Chromium is.
pub fn chromium() -> Option<String> {
    let places = [
        "/usr/bin/chromium",
        "/usr/bin/chromium-browser",
        "/usr/bin/google-chrome",
        "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    ];
    let given = std::env::var("CHROMIUM").ok();
    given.or_else(|| {
        let found = places.into_iter().find(|p| Path::new(p).exists());
        found.map(String::from)
    })
}

/// Installs Chromium on Debian, as root.
pub fn install_chromium() -> Outcome {
    let root = Command::new("id").arg("-u").output();
    let root = root.is_ok_and(|out| out.stdout.trim_ascii() == b"0");
    if !root || !Path::new("/usr/bin/apt-get").exists() {
        return Err("install Chromium or Chrome, or set CHROMIUM=/path".into());
    }
    println!("   installing Chromium");
    let install = || {
        let what = [
            "install",
            "-y",
            "-qq",
            "--no-install-recommends",
            "chromium",
        ];
        run(
            Command::new("apt-get").args(what),
            "apt-get install chromium",
        )
    };
    if install().is_err() {
        run(
            Command::new("apt-get").args(["update", "-qq"]),
            "apt-get update",
        )?;
        install()?;
    }
    match chromium() {
        Some(_) => Ok(()),
        None => Err("apt-get installed Chromium in an unknown place: set CHROMIUM=/path".into()),
    }
}

/// Where cargo builds.
pub fn target_folder() -> Result<PathBuf, String> {
    let out = Command::new("cargo")
        .args(["metadata", "--no-deps", "--format-version=1"])
        .output()
        .map_err(|e| format!("cannot run cargo metadata: {e}"))?;
    let metadata: Value =
        serde_json::from_slice(&out.stdout).map_err(|e| format!("cargo metadata: {e}"))?;
    let folder = metadata["target_directory"].as_str();
    folder
        .map(PathBuf::from)
        .ok_or_else(|| "cargo metadata does not say where it builds".into())
}

/// Runs a program in the page's folder.
fn program(name: &str, arguments: &[&str]) -> Outcome {
    println!("   {name} {}", arguments.join(" "));
    let mut command = Command::new(name);
    run(command.args(arguments).current_dir(FOLDER), name)
}

fn run(command: &mut Command, name: &str) -> Outcome {
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{name} ended with {status}")),
        Err(error) => Err(format!("cannot run {name}: {error}")),
    }
}
