//! The stage `bevy` of `cargo xtask test`: the plugin of integrations/bevy.
//!
//! It is a workspace of its own with a newer Rust than the library's. Its tests run with the
//! fewest features of Bevy, without a renderer. Where that Rust or the packages cannot be
//! had, the stage says so and is skipped.

use std::fs;
use std::process::{Command, Stdio};

use crate::stage::Outcome;

const FOLDER: &str = "integrations/bevy";

/// Checks the format of the plugin and runs its tests. Not its lints: clippy would check all
/// of Bevy's crates once more, which takes as long as the tests. Run `cargo clippy` there.
pub fn test() -> Outcome {
    let version = toolchain()?;
    if let Err(why) = ensure_toolchain(&version) {
        println!("   SKIPPED: there is no Rust {version} for Bevy: {why}");
        return Ok(());
    }
    if !has_packages(&version) {
        println!("   SKIPPED: Bevy's packages cannot be fetched");
        return Ok(());
    }
    run(&version, &["fmt", "--check"])?;
    run(&version, &["test", "--locked", "--tests", "--examples"])
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
