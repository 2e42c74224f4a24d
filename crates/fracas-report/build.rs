//! Tells the crate which commit it is built from: every number names it.

use std::process::Command;

fn main() {
    let git = |arguments: &[&str]| -> Option<String> {
        let output = Command::new("git").args(arguments).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        (output.status.success() && !text.trim().is_empty()).then(|| text.trim().to_owned())
    };
    let commit = git(&["describe", "--always", "--dirty", "--abbrev=10"])
        .unwrap_or_else(|| "no repository".into());
    println!("cargo:rustc-env=FRACAS_COMMIT={commit}");
    // A commit, a checkout, or an edit anywhere in the crates changes the answer.
    if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"]) {
        println!("cargo:rerun-if-changed={log}");
        println!("cargo:rerun-if-changed=..");
    }
}
