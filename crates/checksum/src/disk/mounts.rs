//! Finds mounts below a directory, including bind mounts of the same file system, which have the
//! same device number.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{AtFlags, CWD, StatxAttributes, StatxFlags, statx};
use rustix::io::Errno;

use crate::error::message;

/// The mount table of the system.
pub const MOUNT_TABLE: &str = "/proc/self/mountinfo";

/// The error if the mount table cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{}, so the mounted file systems are unknown", message(.0))]
pub struct MountsError(#[from] pub io::Error);

/// The mount table of the system, which reports changes.
#[derive(Debug)]
pub struct MountTable(File);

impl MountTable {
    /// Opens the mount table.
    ///
    /// # Errors
    /// Fails in the same cases as [`Mounts::below`].
    pub fn open() -> Result<Self, MountsError> {
        Ok(Self(File::open(MOUNT_TABLE)?))
    }

    /// Returns whether anything was mounted or unmounted since the last call.
    #[must_use]
    pub fn has_changed(&self) -> bool {
        // A change is an urgent event, reported once; see proc_pid_mounts(5).
        let mut table = [PollFd::new(&self.0, PollFlags::PRI)];
        poll(&mut table, Some(&Default::default())).is_ok_and(|changed| changed > 0)
    }
}

/// The sorted paths of mounts below a directory.
#[derive(Debug, Default)]
pub struct Mounts(Vec<Vec<u8>>);

impl Mounts {
    /// Finds the mounts below a directory, whose path must have no links.
    ///
    /// # Errors
    /// Fails if the mount table cannot be read, because a mount could hide files.
    pub fn below(root: &Path) -> Result<Self, MountsError> {
        // The path of a root may contain a link by now, and the table has no links.
        let root = &root.canonicalize().unwrap_or_else(|_| root.to_owned());
        let table = fs::read(MOUNT_TABLE)?;
        let mut mounts = points_below(&table, root.as_os_str().as_bytes());
        mounts.retain(|below| is_mounted(&root.join(OsStr::from_bytes(below))));
        mounts.sort_unstable();
        mounts.dedup();
        Ok(Self(mounts))
    }

    /// Returns the mount that contains a path below the directory.
    #[must_use]
    pub fn over(&self, path: &[u8]) -> Option<&[u8]> {
        let is_over = |mount: &&Vec<u8>| {
            path.strip_prefix(&***mount).is_some_and(|rest| rest.is_empty() || rest[0] == b'/')
        };
        self.0.iter().find(is_over).map(|mount| &**mount)
    }

    /// Returns the paths relative to the directory.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.0.iter().map(|mount| &**mount)
    }

    /// Returns the whole paths.
    #[must_use]
    pub fn paths(&self, root: &Path) -> Vec<PathBuf> {
        self.iter().map(|below| root.join(OsStr::from_bytes(below))).collect()
    }
}

/// Returns whether a mount still exists and is not hidden by another one. The table contains both.
fn is_mounted(path: &Path) -> bool {
    let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT;
    match statx(CWD, path, flags, StatxFlags::empty()) {
        Ok(stat) if stat.stx_attributes_mask.contains(StatxAttributes::MOUNT_ROOT) => {
            stat.stx_attributes.contains(StatxAttributes::MOUNT_ROOT)
        }
        // Older systems do not support this, and other errors add nothing to the table.
        Ok(_) => true,
        Err(error) => error != Errno::NOENT && error != Errno::NOTDIR,
    }
}

/// Returns the mount points below a directory in a mount table; see proc_pid_mountinfo(5).
fn points_below(table: &[u8], root: &[u8]) -> Vec<Vec<u8>> {
    let root = root.strip_suffix(b"/").unwrap_or(root);
    let below = |line: &[u8]| {
        let point = line.split(|&byte| byte == b' ').nth(4).map(unescaped)?;
        let below = point.strip_prefix(root)?.strip_prefix(b"/")?;
        (!below.is_empty()).then(|| below.to_vec())
    };
    table.split(|&byte| byte == b'\n').filter_map(below).collect()
}

/// Decodes a path with octal escapes such as `\040`.
fn unescaped(text: &[u8]) -> Vec<u8> {
    let mut path = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&byte, behind)) = rest.split_first() {
        let digits = behind.get(..3).filter(|it| it.iter().all(|it| (b'0'..=b'7').contains(it)));
        match digits {
            Some(&[high, middle, low]) if byte == b'\\' => {
                let digit = |byte: u8| u32::from(byte - b'0');
                path.push((digit(high) * 64 + digit(middle) * 8 + digit(low)) as u8);
                rest = &behind[3..];
            }
            _ => {
                path.push(byte);
                rest = behind;
            }
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mounts_below_a_directory_are_found() {
        let table = b"22 1 0:20 / / rw - ext4 /dev/a rw\n\
            23 22 0:21 / /data rw - ext4 /dev/b rw\n\
            24 22 0:21 /x /data/a\\040b\\134c rw shared:1 - ext4 /dev/b rw\n\
            25 22 0:21 /y /data/sub/f rw - ext4 /dev/b rw\n\
            26 22 0:21 /y /database rw - ext4 /dev/b rw\n";
        let of = |root: &str| points_below(table, root.as_bytes());
        assert_eq!(of("/data"), [b"a b\\c".to_vec(), b"sub/f".to_vec()]);
        assert_eq!(of("/").len(), 4);
        assert_eq!(of("/data/sub"), [b"f".to_vec()]);
        assert!(of("/nowhere").is_empty());
        let mounts = Mounts(of("/data"));
        for (path, over) in
            [("sub/f", Some("sub/f")), ("sub/f/g", Some("sub/f")), ("sub/fg", None), ("sub", None)]
        {
            assert_eq!(mounts.over(path.as_bytes()), over.map(str::as_bytes), "{path}");
        }
    }

    #[test]
    fn a_directory_without_mounts_has_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap();
        assert_eq!(Mounts::below(&path).unwrap().iter().count(), 0);
        assert!(!is_mounted(&folder.path().join("nothing")));
    }
}
