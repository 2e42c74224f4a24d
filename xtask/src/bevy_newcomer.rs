//! What a user does who follows "Begin" in the README of integrations/bevy.
//!
//! Manifest and program stand there, as they are to be copied. They become a package outside
//! that workspace: the plugin is compiled with none of the features that its own tests have.
//! Without a window, so that Bevy itself need not be compiled anew: what is changed for that is
//! listed here, and it is an error where the README no longer says it. The program is run until
//! something breaks.

use std::fs;
use std::path::Path;

use crate::bevy::{FOLDER, command, read, write};
use crate::stage::Outcome;

/// Of the plugin's target folder.
const PACKAGE: &str = "target/newcomer";

/// What Bevy's tests have compiled is used again.
const MANIFEST: [(&str, &str); 3] = [
    (
        r#"bevy = "0.20""#,
        r#"bevy = { version = "0.20", default-features = false }"#,
    ),
    (
        r#"bevy_rapier3d = "0.37""#,
        r#"bevy_rapier3d = { version = "0.37", default-features = false, features = ["dim3"] }"#,
    ),
    (
        r#"path = "fracas/integrations/bevy", features = ["render"]"#,
        r#"path = "../..""#,
    ),
];

/// No window; it ends when something has broken, or nothing has.
const PROGRAM: [(&str, &str); 2] = [
    (
        "DefaultPlugins",
        "(MinimalPlugins, TransformPlugin, AssetPlugin::default())",
    ),
    (
        ".run();",
        r#".init_asset::<Mesh>()
        .add_observer(|on: On<Broke>, mut exit: MessageWriter<AppExit>| {
            println!("broke into {} pieces", on.fragments.len());
            exit.write(AppExit::Success);
        })
        .add_systems(FixedUpdate, give_up)
        .run();"#,
    ),
];

const GIVE_UP: &str = r#"
fn give_up(
    mut steps: Local<u32>,
    pieces: Query<(), With<Piece>>,
    failed: Query<(), With<bevy_fracas::Unbreakable>>,
    mut exit: MessageWriter<AppExit>,
) {
    *steps += u32::from(!pieces.is_empty());
    if *steps > 600 || !failed.is_empty() {
        println!("nothing broke");
        exit.write(AppExit::error());
    }
}
"#;

/// Writes the package, builds and runs it.
pub fn check(version: &str) -> Outcome {
    let page = read(&format!("{FOLDER}/README.md"))?;
    let begin = page.split("\n## Begin\n").nth(1);
    let begin = begin.ok_or("the plugin's README has no section Begin")?;
    let manifest = change(block(begin, "toml")?, &MANIFEST)?;
    let program = change(block(begin, "rust,no_run")?, &PROGRAM)?;
    let own = read(&format!("{FOLDER}/Cargo.toml"))?;
    let manifest = format!(
        "[workspace]\n\n[package]\nname = \"newcomer\"\nedition = \"2024\"\n\n{}\n{}",
        // Everything at level 3 takes many minutes to compile.
        manifest.split("\n[profile").next().unwrap_or_default(),
        profile(&own)
    );
    let folder = Path::new(FOLDER).join(PACKAGE);
    let wrong = |e: std::io::Error| format!("cannot write {}: {e}", folder.display());
    fs::create_dir_all(folder.join("src")).map_err(wrong)?;
    // The versions that the plugin is tested with.
    fs::copy(format!("{FOLDER}/Cargo.lock"), folder.join("Cargo.lock")).map_err(wrong)?;
    let place = |name: &str| folder.join(name).display().to_string();
    write(&place("Cargo.toml"), &manifest)?;
    write(&place("src/main.rs"), &format!("{program}{GIVE_UP}"))?;
    let from = format!("{PACKAGE}/Cargo.toml");
    let words = ["run", "--manifest-path", &from, "--target-dir", "target"];
    println!("   cargo +{version} {}", words.join(" "));
    let out = command(version, &words).output();
    let out = out.map_err(|e| format!("cannot run cargo: {e}"))?;
    let [told, errors] = [&out.stdout, &out.stderr].map(|text| String::from_utf8_lossy(text));
    if out.status.success() && told.contains("broke into") {
        println!("   the program of the README {}", told.trim());
        return Ok(());
    }
    Err(format!("the program of the README: {told}{errors}"))
}

/// The first block of a kind.
fn block<'a>(text: &'a str, kind: &str) -> Result<&'a str, String> {
    let start = text.split(&format!("\n```{kind}\n")).nth(1);
    let block = start.and_then(|rest| rest.split("\n```").next());
    block.ok_or_else(|| format!("the plugin's README has no {kind} under Begin"))
}

fn change(text: &str, changes: &[(&str, &str)]) -> Result<String, String> {
    let mut text = text.to_owned();
    for (from, to) in changes {
        if text.matches(from).count() != 1 {
            return Err(format!("the plugin's README says {from} not once"));
        }
        text = text.replace(from, to);
    }
    Ok(text)
}

/// How the plugin's tests are compiled.
fn profile(manifest: &str) -> String {
    let parts = manifest.split("\n[").skip(1);
    let dev = parts.filter(|part| part.starts_with("profile.dev"));
    dev.map(|part| format!("\n[{part}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_found_and_changed() {
        let text = "\n```toml\na = 1\nb = 2\n```\n\n```rust,no_run\nrun();\n```\n";
        assert_eq!(block(text, "toml").unwrap(), "a = 1\nb = 2");
        assert_eq!(block(text, "rust,no_run").unwrap(), "run();");
        assert!(block(text, "sh").is_err());
        assert_eq!(change("a b", &[("b", "c")]).unwrap(), "a c");
        assert!(change("a b", &[("d", "c")]).is_err());
    }

    #[test]
    fn profiles_of_tests_are_taken_over() {
        let text = "[a]\nb = 1\n\n[profile.dev]\nopt-level = 0\n\n[profile.dev.package.x]\nopt-level = 1\n\n[profile.web]\nc = 1\n";
        let found = profile(text);
        assert!(found.contains("[profile.dev]\nopt-level = 0"));
        assert!(found.contains("[profile.dev.package.x]\nopt-level = 1"));
        assert!(!found.contains("web") && !found.contains("b = 1"));
    }
}
