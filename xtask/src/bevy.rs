//! The stage `bevy` of `cargo xtask test`: the plugin of integrations/bevy.
//!
//! It is a workspace of its own with a newer Rust than the library's. Its tests run with the
//! fewest features of Bevy, without a renderer. Where that Rust or the packages cannot be
//! had, the stage says so and is skipped.
//!
//! `cargo xtask bevy-window`: what draws, the examples with a window, and the tests of layers and
//! gizmos.
//!
//! `cargo xtask bevy-web`: its example `wall` for a browser, with WebGL 2.

use std::fs;
use std::process::{Command, Stdio};

use crate::skips;
use crate::stage::{Outcome, cargo};
use crate::web::WASM;

const FOLDER: &str = "integrations/bevy";

/// What shows the example in a browser.
const PAGE: &str = r#"<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>fracas in Bevy: a wall</title>
<style>html, body { margin: 0; height: 100%; overflow: hidden; background: #333; }</style>
</head>
<body oncontextmenu="return false">
<script type="module">
import start from "./fracas.js";
// Bevy ends `main` by an exception where the browser takes over; that is no error.
start({ module_or_path: "./fracas_bg.wasm" }).catch((e) => { if (!String(e).includes("control flow")) throw e; });
</script>
</body>
</html>
"#;

/// Checks the format of the plugin and runs its tests. Not its lints: clippy would check all
/// of Bevy's crates once more, which takes as long as the tests. Run `cargo clippy` there.
pub fn test() -> Outcome {
    let version = toolchain()?;
    if let Err(why) = ensure_toolchain(&version) {
        let why = format!("there is no Rust {version} for Bevy: {why}");
        return skips::whole("bevy", why);
    }
    if !has_packages(&version) {
        return skips::whole("bevy", "Bevy's packages cannot be fetched".into());
    }
    run(&version, &["fmt", "--check"])?;
    let tests = ["test", "--locked", "--tests", "--examples"];
    println!("   cargo +{version} {}", tests.join(" "));
    skips::run_counted("bevy", &mut command(&version, &tests))?;
    run(&version, &["test", "--locked", "--doc"])
}

/// Compiles, as far as errors are found, what draws and the examples with a window, and runs
/// the tests of what is seen with layers and gizmos. Not in the stage: nearly all of Bevy is compiled
/// once more for each of the two.
pub fn window() -> Outcome {
    let version = toolchain()?;
    ensure_toolchain(&version)?;
    let check = ["check", "--locked", "--features", "window", "--examples"];
    run(&version, &check)?;
    let tests = ["test", "--locked", "--test", "plugin"];
    let seen = ["--features", "gizmos", "--", "looks", "gizmos"];
    run(&version, &[&tests[..], &seen].concat())
}

/// Builds the example `wall` into `integrations/bevy/dist`: wasm, the JavaScript around it,
/// and a page. Any server of files shows it.
pub fn web() -> Outcome {
    let version = toolchain()?;
    ensure_toolchain(&version)?;
    add_target(&version)?;
    let arguments = ["build", "--locked", "--profile", "web", "--target", WASM];
    let example = ["--example", "wall", "--features", "window"];
    run(&version, &[&arguments[..], &example].concat())?;
    let wasm = format!("{FOLDER}/target/{WASM}/web/examples/wall.wasm");
    let dist = format!("{FOLDER}/dist");
    // The page's own tool: both workspaces use the same wasm-bindgen.
    let glue = ["run", "--quiet", "--profile", "tool", "--package"];
    let tool = ["fracas-web-glue", "--features", "tool", "--", &wasm, &dist];
    cargo(&[&glue[..], &tool].concat(), &[])?;
    let page = format!("{dist}/index.html");
    fs::write(&page, PAGE).map_err(|e| format!("cannot write {page}: {e}"))?;
    println!("   {page}: serve the folder, such as by `npx vite preview --outDir dist`");
    Ok(())
}

fn add_target(version: &str) -> Outcome {
    let status = Command::new("rustup")
        .args(["target", "add", WASM, "--toolchain", version])
        .status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("rustup ended with {status}")),
        Err(error) => Err(format!("rustup cannot be run ({error})")),
    }
}

/// The Rust that the folder asks for.
fn toolchain() -> Result<String, String> {
    let file = format!("{FOLDER}/rust-toolchain.toml");
    let text = fs::read_to_string(&file).map_err(|e| format!("cannot read {file}: {e}"))?;
    channel(&text).ok_or_else(|| format!("{file} names no channel"))
}

fn channel(text: &str) -> Option<String> {
    let line = text
        .lines()
        .find_map(|l| l.trim().strip_prefix("channel"))?;
    let value = line.trim_start().strip_prefix('=')?;
    Some(value.trim().trim_matches('"').to_owned())
}

fn ensure_toolchain(version: &str) -> Outcome {
    let probe = format!("+{version}");
    let out = Command::new("cargo")
        .args([&probe, "fmt", "--version"])
        .output();
    let there = out.is_ok_and(|out| out.status.success());
    if there {
        return Ok(());
    }
    println!("   installing Rust {version}");
    let status = Command::new("rustup")
        .args(["toolchain", "install", version, "--profile", "minimal"])
        .args(["--component", "rustfmt"])
        .status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("rustup ended with {status}")),
        Err(error) => Err(format!("rustup cannot be run ({error})")),
    }
}

fn has_packages(version: &str) -> bool {
    let fetched = command(version, &["fetch", "--locked"]).status();
    fetched.is_ok_and(|status| status.success())
}

/// Cargo of that Rust, in the plugin's folder. The cargo that runs us left its own tool chain
/// in the environment.
fn command(version: &str, arguments: &[&str]) -> Command {
    let mut cargo = Command::new("cargo");
    cargo
        .arg(format!("+{version}"))
        .args(arguments)
        .current_dir(FOLDER)
        .stdin(Stdio::null())
        .env_remove("RUSTUP_TOOLCHAIN")
        .env_remove("CARGO")
        .env_remove("CARGO_TARGET_DIR");
    cargo
}

fn run(version: &str, arguments: &[&str]) -> Outcome {
    let words = arguments.join(" ");
    println!("   cargo +{version} {words}");
    match command(version, arguments).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("cargo +{version} {words} ended with {status}")),
        Err(error) => Err(format!("cannot run cargo: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::channel;

    #[test]
    fn the_channel_is_read() {
        let text = "[toolchain]\nchannel = \"1.99.1\"\nprofile = \"minimal\"\n";
        assert_eq!(channel(text).as_deref(), Some("1.99.1"));
        assert_eq!(channel("[toolchain]\n"), None);
    }
}
