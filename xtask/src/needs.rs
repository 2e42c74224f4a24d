//! What the stages need from the machine: listed, and installed as far as possible, before the
//! first stage.
//!
//! What is missing and cannot be installed skips the stages that need it; they are named at the
//! start and in the summary. Without a part of Rust itself nothing runs.

use std::collections::BTreeMap;
use std::process::Command;

use crate::stage::{Outcome, Stage};
use crate::{bevy, python, web};

/// Something that stages need.
struct Need {
    what: String,
    stages: &'static [&'static str],
    /// Whether it is there.
    is_there: fn() -> bool,
    /// Installs it.
    install: fn() -> Outcome,
    /// How it is installed, in a few words; empty where it must be done by hand.
    how: &'static str,
}

/// Stages that cannot run here, each with the reason.
#[derive(Default)]
pub struct Missing(BTreeMap<String, String>);

impl Missing {
    /// Why a stage cannot run, if it cannot.
    pub fn of_stage(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// For another process.
    pub fn to_text(&self) -> String {
        serde_json::to_string(&self.0).unwrap_or_default()
    }

    /// Inverse of [`Self::to_text`]; nothing is missing in text of another form.
    pub fn of_text(text: &str) -> Self {
        Self(serde_json::from_str(text).unwrap_or_default())
    }
}

fn needs() -> Vec<Need> {
    vec![
        Need {
            what: "the Rust component rustfmt".into(),
            stages: &["format", "bevy"],
            is_there: || succeeds("cargo", &["fmt", "--version"]),
            install: || rustup(&["component", "add", "rustfmt"]),
            how: "by rustup",
        },
        Need {
            what: "the Rust component clippy".into(),
            stages: &["lints"],
            is_there: || succeeds("cargo", &["clippy", "--version"]),
            install: || rustup(&["component", "add", "clippy"]),
            how: "by rustup",
        },
        Need {
            what: format!("the Rust target {}", web::WASM),
            stages: &["page", "web"],
            is_there: has_wasm,
            install: || rustup(&["target", "add", web::WASM]),
            how: "by rustup",
        },
        Need {
            what: "Node.js 20 or newer with npm".into(),
            stages: &["page", "web"],
            is_there: web::has_node,
            install: || Err("install it (https://nodejs.org)".into()),
            how: "",
        },
        Need {
            what: "Chromium".into(),
            stages: &["web"],
            is_there: || web::chromium().is_some(),
            install: web::install_chromium,
            how: "by apt-get, as root",
        },
        Need {
            what: "Python 3.10 or newer with venv and pip".into(),
            stages: &["python"],
            is_there: || python::find_python().is_some(),
            install: || Err("install it".into()),
            how: "",
        },
        Need {
            what: "a virtual environment with the Python tests' packages".into(),
            stages: &["python"],
            is_there: python::has_environment,
            install: python::make_environment,
            how: "by pip, under the target folder",
        },
        Need {
            what: format!("Rust {} for Bevy", bevy::toolchain().unwrap_or_default()),
            stages: &["bevy"],
            is_there: bevy::has_toolchain,
            install: bevy::install_toolchain,
            how: "by rustup",
        },
        Need {
            what: "Bevy's packages".into(),
            stages: &["bevy"],
            is_there: || false,
            install: bevy::fetch,
            how: "by cargo, where not fetched yet",
        },
    ]
}

/// Lists what these stages need and installs what is missing. Returns which of them cannot run.
///
/// # Errors
/// Where a part of Rust is missing that cannot be installed.
pub fn install(stages: &[&Stage]) -> Result<Missing, String> {
    let is_needed = |need: &Need| stages.iter().any(|s| need.stages.contains(&s.name));
    let needs: Vec<Need> = needs().into_iter().filter(is_needed).collect();
    let mut absent = Vec::new();
    for need in needs {
        if (need.is_there)() {
            println!("   here: {}", need.what);
            continue;
        }
        match need.how {
            "" => println!(
                "   MISSING: {} (stages: {})",
                need.what,
                need.stages.join(", ")
            ),
            how => println!("   to install: {}, {how}", need.what),
        }
        absent.push(need);
    }
    let mut missing = Missing::default();
    for need in absent {
        if need.stages.iter().all(|s| missing.of_stage(s).is_some()) {
            continue;
        }
        let Err(why) = (need.install)() else { continue };
        let why = format!("{} is missing: {why}", need.what);
        if need.what.starts_with("the Rust") {
            return Err(why);
        }
        println!("== {} will be SKIPPED: {why}", need.stages.join(" and "));
        for stage in need.stages {
            missing
                .0
                .entry((*stage).to_owned())
                .or_insert_with(|| why.clone());
        }
    }
    Ok(missing)
}

fn succeeds(program: &str, arguments: &[&str]) -> bool {
    let out = Command::new(program).args(arguments).output();
    out.is_ok_and(|out| out.status.success())
}

fn has_wasm() -> bool {
    let folder = Command::new("rustc")
        .args(["--print", "target-libdir", "--target", web::WASM])
        .output();
    folder
        .is_ok_and(|out| std::path::Path::new(String::from_utf8_lossy(&out.stdout).trim()).is_dir())
}

/// Runs rustup.
pub fn rustup(arguments: &[&str]) -> Outcome {
    let command = format!("rustup {}", arguments.join(" "));
    match Command::new("rustup").args(arguments).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("`{command}` ended with {status}: run it by hand")),
        Err(error) => Err(format!(
            "`{command}` cannot be run ({error}): install it by hand"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_need_is_of_a_stage() {
        for need in needs() {
            for stage in need.stages {
                let is_stage = crate::STAGES.iter().any(|s| s.name == *stage);
                assert!(is_stage, "{}: `{stage}`", need.what);
            }
        }
    }

    #[test]
    fn missing_survives_its_text() {
        let missing = Missing([("web".to_owned(), "no \"browser\"".to_owned())].into());
        let read = Missing::of_text(&missing.to_text());
        assert_eq!(read.of_stage("web"), Some("no \"browser\""));
        assert_eq!(read.of_stage("page"), None);
    }
}
