//! Which volume a directory is on, so that another one in its place is told apart.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// A directory's volume and its number there.
///
/// The number of a device says nothing: it is another one at the next boot. A file system has an
/// identifier of its own, which `statvfs` gives, but some kinds of them make it of the device. The
/// UUID is the better one where udev links it in `/dev/disk/by-uuid`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirectoryId {
    /// `uuid=... fsid=...`, the first where it is known.
    pub volume: String,
    /// Its number on that volume.
    pub inode: i64,
    /// Good until the next mount only.
    pub device: u64,
}

impl DirectoryId {
    /// That of a directory.
    ///
    /// # Errors
    /// The system's, and that the path is no directory.
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

    /// Whether the directory of this place is the one that was on this volume with this number.
    #[must_use]
    pub fn is_that_of(&self, volume: &str, inode: i64) -> bool {
        self.inode == inode && is_same_volume(&self.volume, volume)
    }
}

/// Whether two descriptions are one volume's. Where one of them lacks the UUID, the other word
/// decides.
fn is_same_volume(one: &str, other: &str) -> bool {
    let word = |all: &str, key: &str| {
        all.split(' ').find_map(|word| word.strip_prefix(key).map(str::to_owned))
    };
    match (word(one, "uuid="), word(other, "uuid=")) {
        (Some(one), Some(other)) => one == other,
        _ => word(one, "fsid=") == word(other, "fsid="),
    }
}

/// The UUID that udev knows of a block device.
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
