//! Names of files that a model asks for: beside it, or in folders below its own.
//!
//! A model comes from anywhere, and must not make a program read what lies elsewhere:
//! nothing above its folder, no absolute path, no drive, no share, no scheme. Links in the
//! folder itself are the user's own.

/// The path of a file below the model's folder, its parts parted by `/`; `None` where the
/// name leads elsewhere. A URI must be decoded before.
pub(crate) fn path_below(name: &str) -> Option<String> {
    // A colon names a drive, a scheme or a stream; a backslash parts folders on Windows alone.
    if name.contains(['\\', ':']) || name.contains(char::is_control) {
        return None;
    }
    let mut parts = Vec::new();
    for part in name.split('/') {
        match part {
            // An empty part is a root, a share, or a folder in the place of a file.
            "" | ".." => return None,
            "." => {}
            // Windows drops dots and spaces at the end: `.. ` would be `..`.
            _ if part.ends_with(['.', ' ']) => return None,
            _ => parts.push(part),
        }
    }
    (!parts.is_empty()).then(|| parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_beside_and_below_are_found() {
        for (name, path) in [
            ("a.png", "a.png"),
            ("textures/a.png", "textures/a.png"),
            ("./textures/./deep/a.b.png", "textures/deep/a.b.png"),
            ("..a/b..png", "..a/b..png"),
            ("with space/a (1).png", "with space/a (1).png"),
        ] {
            assert_eq!(path_below(name).as_deref(), Some(path), "{name}");
        }
    }

    #[test]
    fn names_that_lead_elsewhere_are_refused() {
        for name in [
            "",
            ".",
            "./",
            "..",
            "../a.png",
            "textures/../../a.png",
            "textures/..",
            "/etc/passwd",
            "//host/share/a.png",
            "textures//a.png",
            "textures/",
            "C:/a.png",
            "c:a.png",
            "file:///etc/passwd",
            "https://a.example/a.png",
            "a.png:stream",
            "..\\a.png",
            "textures\\..\\..\\a.png",
            "\\\\host\\share\\a.png",
            ".. /a.png",
            "... /a.png",
            "a.png\0.txt",
            "a\n.png",
        ] {
            assert_eq!(path_below(name), None, "{name:?}");
        }
    }
}
