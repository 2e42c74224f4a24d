//! What arguments may be: numbers within bounds, and files whose name says what goes into them.

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::builder::{PathBufValueParser, TypedValueParser};
use clap::error::ErrorKind;

/// Endings of names that say what is in a file, ours and other programs'.
const ENDINGS: [&str; 35] = [
    "3ds", "abc", "blend", "bmp", "csv", "dae", "ele", "fbx", "film", "fracas", "gif", "glb",
    "gltf", "html", "jpeg", "jpg", "json", "mesh", "msh", "mtl", "node", "nrrd", "obj", "off",
    "pdf", "ply", "png", "stl", "svg", "toml", "usd", "usda", "vtk", "vtu", "webp",
];

/// A file to write, whose name may end in one of these, or in nothing that says otherwise.
pub fn target(endings: &'static [&'static str]) -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(move |path: PathBuf| {
        if path.as_os_str() == "-" {
            return Err(
                "standard output has what is told: name a file (`./-` for one of that name)"
                    .to_owned(),
            );
        }
        let ending = path.extension().map(|e| e.to_string_lossy().to_lowercase());
        match ending {
            Some(e) if ENDINGS.contains(&&*e) && !endings.contains(&&*e) => Err(format!(
                "a name that ends in .{e} is for another kind of file; this one ends in .{}",
                endings.join(" or .")
            )),
            _ => Ok(path),
        }
    })
}

/// A whole number within bounds.
pub fn whole<T: TryFrom<u64>>(
    least: u64,
    most: u64,
) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync {
    move |text| {
        let number = text.parse().ok().filter(|n| (least..=most).contains(n));
        number.and_then(|n| n.try_into().ok()).ok_or_else(|| {
            if most == u64::MAX {
                format!("must be a whole number from {least}")
            } else {
                format!("must be a whole number from {least} to {most}")
            }
        })
    }
}

/// A number within bounds.
pub fn number<T: FromStr + PartialOrd + Copy + Display + Send + Sync>(
    least: T,
    most: T,
) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync {
    move |text| {
        let number: Option<T> = text.parse().ok();
        number
            .filter(|x| (least..=most).contains(x))
            .ok_or_else(|| format!("must be a number from {least} to {most}"))
    }
}

/// Ends the program where what is written would replace what is read, or two outputs are one
/// file: neither is what anybody wants, and the first cannot be mended.
pub fn refuse_same_files(read: &[&Path], written: &[Option<&Path>]) {
    let written: Vec<&Path> = written.iter().copied().flatten().collect();
    for (i, path) in written.iter().enumerate() {
        let what = if read.iter().any(|r| r.exists() && is_same_file(r, path)) {
            "read"
        } else if written[..i].iter().any(|w| is_same_file(w, path)) {
            "written for another option"
        } else {
            continue;
        };
        let path = path.display();
        let message = format!("{path} is {what}, too, and would be replaced: name another file\n");
        clap::Error::raw(ErrorKind::ArgumentConflict, message).exit();
    }
}

/// Whether two names are of one regular file, there already or not.
fn is_same_file(a: &Path, b: &Path) -> bool {
    match (a.canonicalize(), b.canonicalize()) {
        (Ok(a), Ok(b)) => a == b && a.is_file(),
        (Err(_), Err(_)) => place_of(a).is_some_and(|place| place_of(b) == Some(place)),
        _ => false,
    }
}

/// Where a file that is not there yet will be.
fn place_of(path: &Path) -> Option<PathBuf> {
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    Some(folder.canonicalize().ok()?.join(path.file_name()?))
}

/// Values may be negative numbers everywhere: what says that they are not wanted is the option
/// itself, in its own words.
pub fn allow_negative_numbers(command: clap::Command) -> clap::Command {
    let command = command.mut_args(|argument| {
        let takes_value = argument.get_action().takes_values() && !argument.is_positional();
        if takes_value && !argument.is_allow_hyphen_values_set() {
            argument.allow_negative_numbers(true)
        } else {
            argument
        }
    });
    command.mut_subcommands(allow_negative_numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_file_by_two_names_is_known_before_it_is_there() {
        let here = Path::new("src");
        let same = [
            ("not-there", "./not-there"),
            ("not-there", "src/../not-there"),
        ];
        for (a, b) in same {
            assert!(is_same_file(Path::new(a), Path::new(b)), "{a} {b}");
        }
        let file = here.join("main.rs");
        assert!(is_same_file(&file, &here.join("../src/main.rs")));
        for (a, b) in [
            ("not-there", "src/not-there"),
            ("no-folder/a", "no-folder/b"),
            ("no-folder/a", "other-folder/a"),
            ("src/main.rs", "not-there"),
            ("src", "src"),
        ] {
            assert!(!is_same_file(Path::new(a), Path::new(b)), "{a} {b}");
        }
    }

    #[test]
    fn numbers_keep_to_their_bounds() {
        let pieces = whole::<u32>(2, u64::from(u32::MAX));
        assert_eq!(pieces("2"), Ok(2));
        for wrong in [
            "1",
            "-3",
            "1e5",
            "2.5",
            "",
            "4294967296",
            "99999999999999999999",
        ] {
            assert!(
                pieces(wrong).unwrap_err().contains("whole number from 2"),
                "{wrong}"
            );
        }
        let share = number(0.0_f32, 1.0);
        assert_eq!(share("0.25"), Ok(0.25));
        for wrong in ["-1", "nan", "inf", "1.5", "a", "1e300"] {
            assert_eq!(share(wrong).unwrap_err(), "must be a number from 0 to 1");
        }
    }

    #[test]
    fn endings_are_sorted_and_each_is_there_once() {
        assert!(ENDINGS.is_sorted_by(|a, b| a < b));
    }
}
