//! Bytes into a file, the way a user expects.
//!
//! | what is there | what happens |
//! | --- | --- |
//! | nothing, or a regular file | written under another name beside it, then renamed: the whole new file, or what was there before |
//! | a link | the same with what it points to; the link stays |
//! | a device, a FIFO, a socket | written through: it is never replaced |
//! | a file in a folder that takes no new files | written in place |
//!
//! The permissions of a file that is replaced are kept.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// Links followed before a loop is suspected, as in Linux.
const MOST_LINKS: usize = 40;

/// Writes `bytes` to `path`; see the module's table.
///
/// # Errors
/// When the system does not take them. A regular file is then as it was before.
pub fn write_file(path: impl AsRef<Path>, bytes: &[u8]) -> io::Result<()> {
    // Before links are followed: those of `/dev/stdout` to a pipe lead to no path.
    if is_special_file(path.as_ref()) {
        return write_through(path.as_ref(), bytes);
    }
    let path = follow_links(path.as_ref())?;
    let there = match fs::metadata(&path) {
        Ok(found) => Some(found),
        Err(e) if e.kind() == io::ErrorKind::NotFound => None,
        Err(e) => return Err(e),
    };
    match there {
        Some(found) if found.is_dir() => Err(io::Error::new(
            io::ErrorKind::IsADirectory,
            "this is a folder",
        )),
        // What may not be written must not be replaced either.
        Some(found) if found.permissions().readonly() => File::options()
            .write(true)
            .open(&path)
            .and_then(|_| replace(&path, bytes, Some(found.permissions()))),
        found => replace(&path, bytes, found.map(|f| f.permissions())),
    }
}

/// Whether `path` names something that is written through, and so may wait for
/// whoever reads it: a FIFO, a device, a socket.
#[must_use]
pub fn is_special_file(path: impl AsRef<Path>) -> bool {
    fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir())
}

/// What the path stands for in the end, whether or not it exists.
fn follow_links(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_path_buf();
    for _ in 0..MOST_LINKS {
        let Ok(next) = fs::read_link(&path) else {
            return Ok(path);
        };
        // Relative links are relative to the folder they stand in.
        path = path.parent().unwrap_or(Path::new("")).join(next);
    }
    Err(io::Error::other("too many links, one after the other"))
}

fn write_through(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::options().write(true).open(path)?;
    file.write_all(bytes)?;
    file.flush()
}

fn replace(path: &Path, bytes: &[u8], mode: Option<fs::Permissions>) -> io::Result<()> {
    let Some(name) = path.file_name() else {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "this is not a file name",
        ));
    };
    let (mut file, beside) = match create_beside(path, name) {
        Err(e) if e.kind() == io::ErrorKind::PermissionDenied && mode.is_some() => {
            let mut file = File::options().write(true).truncate(true).open(path)?;
            return file.write_all(bytes).and_then(|()| file.sync_all());
        }
        created => created?,
    };
    let written = mode
        .map_or(Ok(()), |mode| fs::set_permissions(&beside, mode))
        .and_then(|()| file.write_all(bytes))
        .and_then(|()| file.sync_all())
        .and_then(|()| fs::rename(&beside, path));
    if written.is_err() {
        // The first error is the one to tell.
        let _ = fs::remove_file(&beside);
    }
    written
}

/// Longest part of the name that a temporary one keeps: names end at 255 bytes.
const KEPT_NAME: usize = 120;

fn create_beside(path: &Path, name: &OsStr) -> io::Result<(File, PathBuf)> {
    let mut number = 0;
    loop {
        let kept: String = name.to_string_lossy().chars().take(KEPT_NAME / 4).collect();
        let other = format!("{kept}.{number}.tmp");
        let temporary = path.with_file_name(other);
        match File::options()
            .write(true)
            .create_new(true)
            .open(&temporary)
        {
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists && number < 1000 => number += 1,
            result => return result.map(|file| (file, temporary)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_whole_and_nothing_is_left_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        write_file(&path, b"one").unwrap();
        write_file(&path, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        assert!(write_file(folder.path(), b"x").is_err());
        assert!(write_file(folder.path().join("no/such/a"), b"x").is_err());
        let long = folder.path().join("é".repeat(127));
        write_file(&long, b"long").unwrap();
        assert_eq!(fs::read(&long).unwrap(), b"long");
    }

    #[cfg(unix)]
    #[test]
    fn links_and_modes_stay() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (folder.path().join("real"), folder.path().join("link"));
        symlink("real", &link).unwrap();
        // To a file that is not there yet, and then to one that is.
        for text in ["one", "two"] {
            write_file(&link, text.as_bytes()).unwrap();
            assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
            assert_eq!(fs::read_to_string(&real).unwrap(), text);
            fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
        }
        let mode = fs::metadata(&real).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o640);
        let (a, b) = (folder.path().join("a"), folder.path().join("b"));
        symlink(&a, &b).unwrap();
        symlink(&b, &a).unwrap();
        assert!(write_file(&a, b"x").is_err());
    }

    #[cfg(unix)]
    #[test]
    fn devices_are_written_through() {
        use std::os::unix::fs::{FileTypeExt as _, symlink};
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("null");
        symlink("/dev/null", &link).unwrap();
        write_file(&link, b"gone").unwrap();
        assert!(is_special_file(&link));
        let kind = fs::metadata(&link).unwrap().file_type();
        assert!(kind.is_char_device());
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_device_is_an_error() {
        use std::os::unix::fs::{FileTypeExt as _, symlink};
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("full");
        symlink("/dev/full", &link).unwrap();
        let error = write_file(&link, b"too much").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        assert!(fs::metadata(&link).unwrap().file_type().is_char_device());
    }
}
