//! The volume of a directory, so that another disk at its path does not look like a lost archive.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// A directory's volume and its inode number there.
///
/// Device numbers change from boot to boot. `statvfs` gives an identifier of the file system, but
/// some file systems derive it from the device. The UUID is better, where udev links it in
/// `/dev/disk/by-uuid`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DirectoryId {
    /// `uuid=... fsid=...`; without the first where it is unknown.
    pub(crate) volume: String,
    pub(crate) inode: i64,
    /// Valid until the next mount.
    pub(crate) device: u64,
}

impl DirectoryId {
    /// # Errors
    /// The system's, and that the path is not a directory.
    pub(crate) fn of(directory: &Path) -> io::Result<Self> {
        let metadata = fs::metadata(directory)?;
        if !metadata.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        let fsid = rustix::fs::statvfs(directory)?.f_fsid;
        let mut volume = String::new();
        if let Some(uuid) = uuid_of(metadata.dev()) {
            // Writing to a String cannot fail.
            let _ = write!(volume, "uuid={uuid} ");
        }
        let _ = write!(volume, "fsid={fsid:x}");
        Ok(Self { volume, inode: metadata.ino().cast_signed(), device: metadata.dev() })
    }

    /// Whether it is the directory with this inode number on this volume.
    pub(crate) fn is_that_of(&self, volume: &str, inode: i64) -> bool {
        self.inode == inode && self.is_on(volume)
    }

    /// Whether it is on the volume with this description.
    pub(crate) fn is_on(&self, volume: &str) -> bool {
        is_same_volume(&self.volume, volume)
    }
}

/// Whether two descriptions are of the same volume. If one of them lacks the UUID, the file
/// system's identifier decides.
pub(crate) fn is_same_volume(one: &str, other: &str) -> bool {
    let word = |all: &str, key: &str| {
        all.split(' ').find_map(|word| word.strip_prefix(key).map(str::to_owned))
    };
    match (word(one, "uuid="), word(other, "uuid=")) {
        (Some(one), Some(other)) => one == other,
        _ => word(one, "fsid=") == word(other, "fsid="),
    }
}

/// The UUID of a block device, from udev.
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
    fn uuid_decides_where_both_have_one() {
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
    fn directory_is_recognized() {
        let directory = tempfile::tempdir().unwrap();
        let id = DirectoryId::of(directory.path()).unwrap();
        assert!(DirectoryId::of(directory.path()).unwrap().is_that_of(&id.volume, id.inode));
        let other = tempfile::tempdir().unwrap();
        assert!(!DirectoryId::of(other.path()).unwrap().is_that_of(&id.volume, id.inode));
        assert!(DirectoryId::of(Path::new("/proc")).unwrap().volume != id.volume);
        assert!(DirectoryId::of(Path::new("/dev/null")).is_err());
    }
}
