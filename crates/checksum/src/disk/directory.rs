//! The identity of a directory: its volume and inode, so that a different directory in its place is
//! detected.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// The volume and the inode of a directory.
///
/// A device number changes at the next boot, so it does not identify a volume. `statvfs` returns an
/// identifier of the file system, but some file systems derive it from the device. The UUID is
/// better, if udev links it in `/dev/disk/by-uuid`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirectoryId {
    /// `uuid=... fsid=...`, with `uuid` only if it is known.
    pub volume: String,
    /// The inode number on that volume.
    pub inode: i64,
    /// The device number, which is valid only until the next mount.
    pub device: u64,
}

impl DirectoryId {
    /// Returns the identity of a directory.
    ///
    /// # Errors
    /// Fails with the error of the system, or if the path is not a directory.
    pub fn of(folder: &Path) -> io::Result<Self> {
        let metadata = fs::metadata(folder)?;
        if !metadata.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        let fsid = rustix::fs::statvfs(folder)?.f_fsid;
        let mut volume = String::new();
        if let Some(uuid) = uuid_of(metadata.dev()) {
            // Writing to a String cannot fail.
            let _ = write!(volume, "uuid={uuid} ");
        }
        let _ = write!(volume, "fsid={fsid:x}");
        Ok(Self { volume, inode: metadata.ino().cast_signed(), device: metadata.dev() })
    }

    /// Returns whether this directory is the one with the given volume and inode.
    #[must_use]
    pub fn is_that_of(&self, volume: &str, inode: i64) -> bool {
        self.inode == inode && is_same_volume(&self.volume, volume)
    }
}

/// Returns whether two descriptions are of the same volume. If one of them lacks the UUID, the
/// `fsid` decides.
fn is_same_volume(one: &str, other: &str) -> bool {
    let word = |all: &str, key: &str| {
        all.split(' ').find_map(|word| word.strip_prefix(key).map(str::to_owned))
    };
    match (word(one, "uuid="), word(other, "uuid=")) {
        (Some(one), Some(other)) => one == other,
        _ => word(one, "fsid=") == word(other, "fsid="),
    }
}

/// Returns the UUID that udev has for a block device.
fn uuid_of(device: u64) -> Option<String> {
    let links = fs::read_dir("/dev/disk/by-uuid").ok()?;
    links.flatten().find_map(|link| {
        let is_it = fs::metadata(link.path()).is_ok_and(|it| it.rdev() == device);
        is_it.then(|| link.file_name().into_string().ok()).flatten()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uuid_decides_if_both_have_one() {
        for (one, other, is_same) in [
            ("uuid=a fsid=1", "uuid=a fsid=2", true),
            ("uuid=a fsid=1", "uuid=b fsid=1", false),
            ("fsid=1", "uuid=b fsid=1", true),
            ("fsid=1", "fsid=2", false),
        ] {
            assert_eq!(is_same_volume(one, other), is_same, "{one} {other}");
        }
    }

    #[test]
    fn a_directory_is_recognized_by_volume_and_inode() {
        let folder = tempfile::tempdir().unwrap();
        let id = DirectoryId::of(folder.path()).unwrap();
        assert!(DirectoryId::of(folder.path()).unwrap().is_that_of(&id.volume, id.inode));
        let other = tempfile::tempdir().unwrap();
        assert!(!DirectoryId::of(other.path()).unwrap().is_that_of(&id.volume, id.inode));
        assert!(DirectoryId::of(Path::new("/proc")).unwrap().volume != id.volume);
        assert!(DirectoryId::of(Path::new("/dev/null")).is_err());
    }
}
