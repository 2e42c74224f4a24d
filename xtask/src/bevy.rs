//! The stage `bevy` of `cargo xtask test`: the plugin of integrations/bevy.
//!
//! It is a workspace of its own with a newer Rust than the library's. Its tests run with the
//! fewest features of Bevy, without a renderer.
//!
//! `cargo xtask bevy-window`: what draws, the examples with a window, and the tests of layers,
//! gizmos and materials.
//!
//! `cargo xtask bevy-web`: its examples `wall` and `china_shop` for a browser, with WebGL 2.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::needs::rustup;
use crate::skips;
use crate::stage::{Outcome, cargo};
use crate::web::WASM;

const FOLDER: &str = "integrations/bevy";

/// The examples for a browser, and what they are called there.
const PAGES: [(&str, &str); 2] = [("wall", "a wall"), ("china_shop", "a china shop")];

/// With so many tetrahedra each, things of the china shop are loaded quickly, and walls hold.
const SHOP_TETS: &str = "12000";

/// Checks the format of the plugin and runs its tests. Not its lints: clippy would check all
/// of Bevy's crates once more, which takes as long as the tests. Run `cargo clippy` there.
pub fn test() -> Outcome {
    let version = toolchain()?;
    let packages = ["--package", "bevy_fracas", "--package", "china-shop"];
    run(&version, &[&["fmt", "--check"], &packages[..]].concat())?;
    let tests = ["test", "--locked", "--tests", "--examples"];
    println!("   cargo +{version} {}", tests.join(" "));
    skips::run(&mut command(&version, &tests))?;
    run(&version, &["test", "--locked", "--doc"])
}

/// Compiles, as far as errors are found, what draws and the examples with a window, and runs
/// the tests of what is seen with layers, gizmos and materials. Not in the stage: nearly all of
/// Bevy is compiled once more for each of the two.
pub fn window() -> Outcome {
    let version = toolchain()?;
    install_toolchain()?;
    let check = ["check", "--locked", "--features", "window", "--examples"];
    run(&version, &check)?;
    let tests = ["test", "--locked", "--test", "plugin"];
    let seen = ["--features", "render", "--", "looks", "gizmos", "materials"];
    run(&version, &[&tests[..], &seen].concat())
}

/// Builds the examples `wall` and `china_shop` into `integrations/bevy/dist`: for each its
/// wasm, the JavaScript around it, and a page; and what the china shop loads. Any server of
/// files shows it.
pub fn web() -> Outcome {
    let version = toolchain()?;
    install_toolchain()?;
    add_target(&version)?;
    let arguments = ["build", "--locked", "--profile", "web", "--target", WASM];
    let features = ["--features", "window"];
    let examples = PAGES.map(|(name, _)| ["--example", name]);
    run(
        &version,
        &[&arguments[..], &features, examples.as_flattened()].concat(),
    )?;
    let dist = format!("{FOLDER}/dist");
    let text = read(&format!("{FOLDER}/web/example.html"))?;
    for ((name, title), (other, other_title)) in PAGES.into_iter().zip([PAGES[1], PAGES[0]]) {
        let wasm = format!("{FOLDER}/target/{WASM}/web/examples/{name}.wasm");
        let folder = format!("{dist}/{name}");
        // The page's own tool: both workspaces use the same wasm-bindgen.
        let glue = ["run", "--quiet", "--profile", "tool", "--package"];
        let tool = ["fracas-web-glue", "--features", "tool", "--"];
        let what = [wasm.as_str(), &folder, "--stripped"];
        cargo(&[&glue[..], &tool, &what].concat(), &[])?;
        let words = [
            ("{TITLE}", title),
            ("{OTHER}", other),
            ("{OTHER_TITLE}", other_title),
        ];
        let page = words
            .iter()
            .fold(text.clone(), |text, (from, to)| text.replace(from, to));
        write(&format!("{folder}/index.html"), &page)?;
    }
    let index = read(&format!("{FOLDER}/web/index.html"))?;
    write(&format!("{dist}/index.html"), &index)?;
    // Natively: in a browser baking stops the page.
    let bake = ["run", "--locked", "--release", "--package", "china-shop"];
    let into = ["--", "dist/china_shop/assets", SHOP_TETS];
    run(&version, &[&bake[..], &into].concat())?;
    for (name, _) in PAGES {
        let bytes = size(Path::new(&format!("{dist}/{name}")))?;
        println!("   {name}: {:.1} MB", bytes as f64 / 1e6);
    }
    println!("   {dist}/index.html: serve the folder, such as by `npx vite preview --outDir dist`");
    Ok(())
}

fn read(file: &str) -> Result<String, String> {
    fs::read_to_string(file).map_err(|e| format!("cannot read {file}: {e}"))
}

fn write(file: &str, text: &str) -> Outcome {
    fs::write(file, text).map_err(|e| format!("cannot write {file}: {e}"))
}

/// Bytes in a folder.
fn size(folder: &Path) -> Result<u64, String> {
    let wrong = |e: std::io::Error| format!("cannot read {}: {e}", folder.display());
    let mut bytes = 0;
    for entry in fs::read_dir(folder).map_err(wrong)? {
        let entry = entry.map_err(wrong)?;
        let about = entry.metadata().map_err(wrong)?;
        bytes += match about.is_dir() {
            true => size(&entry.path())?,
            false => about.len(),
        };
    }
    Ok(bytes)
}

fn add_target(version: &str) -> Outcome {
    rustup(&["target", "add", WASM, "--toolchain", version])
}

/// The Rust that the folder asks for.
pub fn toolchain() -> Result<String, String> {
    let file = format!("{FOLDER}/rust-toolchain.toml");
    let text = read(&file)?;
    channel(&text).ok_or_else(|| format!("{file} names no channel"))
}

fn channel(text: &str) -> Option<String> {
    let line = text
        .lines()
        .find_map(|l| l.trim().strip_prefix("channel"))?;
    let value = line.trim_start().strip_prefix('=')?;
    Some(value.trim().trim_matches('"').to_owned())
}

/// Whether the Rust for Bevy is there, with rustfmt.
pub fn has_toolchain() -> bool {
    let Ok(version) = toolchain() else {
        return false;
    };
    let probe = format!("+{version}");
    let out = Command::new("cargo")
        .args([&probe, "fmt", "--version"])
        .output();
    out.is_ok_and(|out| out.status.success())
}

/// Installs the Rust for Bevy, unless it is there.
pub fn install_toolchain() -> Outcome {
    if has_toolchain() {
        return Ok(());
    }
    let version = toolchain()?;
    println!("   installing Rust {version}");
    let what = ["--profile", "minimal", "--component", "rustfmt"];
    rustup(&[&["toolchain", "install", &version][..], &what].concat())
}

/// Fetches Bevy's packages.
pub fn fetch() -> Outcome {
    run(&toolchain()?, &["fetch", "--locked"])
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
