//! The names in a directory.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::fs::{CWD, Dir, Mode, OFlags, openat};

/// Returns all names in a directory in unspecified order.
///
/// `read_dir` of the standard library panics if a directory cannot be closed.
///
/// # Errors
/// Fails with the error of the system if a name cannot be read.
pub(crate) fn names(folder: &Path) -> io::Result<Vec<OsString>> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut names = Vec::new();
    for entry in Dir::new(openat(CWD, folder, flags, Mode::empty())?)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if name != b"." && name != b".." {
            names.push(OsStr::from_bytes(name).to_owned());
        }
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_leave_out_dot_and_dot_dot() {
        let folder = tempfile::tempdir().unwrap();
        assert!(names(folder.path()).unwrap().is_empty());
        let file = OsStr::from_bytes(b".a\xff\n");
        std::fs::write(folder.path().join(file), "").unwrap();
        assert_eq!(names(folder.path()).unwrap(), [file]);
        let no_folder = names(&folder.path().join(file)).unwrap_err();
        assert_eq!(no_folder.kind(), io::ErrorKind::NotADirectory);
    }
}
