//! The staging directory, so that an interrupted run leaves no partial bag.
//!
//! All new files are written to the directory `.lanesum-bag` in the bag. Its `bagit.txt` is written
//! last and marks the other files as complete. Then the files are only moved to their places, and
//! `bagit.txt` is moved last.
//!
//! | staging directory | progress of the interrupted run | next run |
//! |---|---|---|
//! | without `bagit.txt` | it moved no files, or some files of a new bag into `data` | [undoes it](recover) |
//! | with `bagit.txt` | it did everything except the last renames | [finishes it](finish) |
//!
//! A directory without `bagit.txt` is not a bag, so a new bag is valid only after its last rename.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use crate::declaration::{self, Declaration, INFO};
use crate::error::{BagError, at};
use crate::folder;
use crate::manifest::Manifest;

/// The staging directory in the bag.
pub(crate) const NAME: &str = ".lanesum-bag";

/// The staged payload and its destination.
pub(crate) const DATA: &str = "data";

/// The file with the names of manifests to remove, one per line.
const REMOVE: &str = "remove";

/// Returns whether an earlier run was interrupted in the middle.
pub(crate) fn is_unfinished(root: &Path) -> bool {
    folder::names(&root.join(NAME)).is_ok_and(|names| !names.is_empty())
}

/// Returns whether an earlier run was interrupted before it removed the staging directory.
pub(crate) fn is_left_empty(root: &Path) -> bool {
    folder::names(&root.join(NAME)).is_ok_and(|names| names.is_empty())
}

/// Removes a staging directory that [is left empty](is_left_empty).
pub(crate) fn remove_empty(root: &Path) -> Result<(), BagError> {
    let staging = root.join(NAME);
    fs::remove_dir(&staging).map_err(at(&staging))
}

/// Locks a directory against other runs of lanesum.
///
/// # Errors
/// Fails if another run is working on the directory. On file systems without locks there is no
/// lock.
pub(crate) fn lock(root: &Path) -> Result<File, BagError> {
    let folder = File::open(root).map_err(at(root))?;
    match folder.try_lock() {
        Err(TryLockError::WouldBlock) => Err(BagError::Busy),
        Ok(()) | Err(TryLockError::Error(_)) => Ok(folder),
    }
}

/// The result of recovering from an earlier run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Recovery {
    /// There was nothing to recover.
    Nothing,
    /// The earlier run was undone.
    TakenBack,
    /// The earlier run was finished.
    Finished,
}

/// Undoes an interrupted earlier run, or finishes it if it was nearly done.
pub(crate) fn recover(root: &Path) -> Result<Recovery, BagError> {
    let staging = root.join(NAME);
    let names = match folder::names(&staging) {
        Ok(names) => names,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Recovery::Nothing),
        Err(error) => return Err(at(&staging)(error)),
    };
    if let Some(foreign) = names.iter().find(|name| !is_ours(name)) {
        return Err(BagError::InTheWay(staging.join(foreign)));
    }
    if staging.join(declaration::NAME).exists() {
        if !is_whole(root, &staging) {
            return Err(BagError::InTheWay(staging));
        }
        finish(root)?;
        return Ok(Recovery::Finished);
    }
    take_back(root)?;
    Ok(Recovery::TakenBack)
}

/// Returns whether the declaration is staged or already in its place. Otherwise the staging
/// directory was not sealed.
fn is_whole(root: &Path, staging: &Path) -> bool {
    let is_manifest = |name: &OsString| {
        Manifest::of(name.as_encoded_bytes()).is_some_and(|manifest| !manifest.is_tag)
    };
    let has_manifest =
        |folder: &Path| folder::names(folder).is_ok_and(|names| names.iter().any(is_manifest));
    let places = [staging, root];
    places.iter().any(|place| place.join(DATA).is_dir())
        && places.iter().any(|place| has_manifest(place))
}

fn is_ours(name: &OsStr) -> bool {
    let known = [DATA, REMOVE, declaration::NAME, "bagit.txt.part", INFO];
    known.iter().any(|known| name == *known) || Manifest::of(name.as_encoded_bytes()).is_some()
}

/// Undoes a failed run.
pub(crate) fn or_take_back(root: &Path, done: Result<(), BagError>) -> Result<(), BagError> {
    let Err(why) = done else { return Ok(()) };
    Err(match take_back(root) {
        Ok(()) => why,
        Err(undo) => {
            let staging = root.join(NAME);
            BagError::Stuck { why: Box::new(why), undo: Box::new(undo), staging }
        }
    })
}

/// Moves the contents of the new `data` back, and removes all other new files.
fn take_back(root: &Path) -> Result<(), BagError> {
    let staging = root.join(NAME);
    if !staging.exists() {
        return Ok(());
    }
    let (data, sealed) = (staging.join(DATA), staging.join(declaration::NAME));
    if sealed.exists() {
        // An incomplete staging directory must not be finished.
        fs::remove_file(&sealed).map_err(at(&sealed))?;
        sync(&staging)?;
    }
    if data.exists() {
        for name in folder::names(&data).map_err(at(&data))? {
            let place = root.join(&name);
            if place.symlink_metadata().is_ok() {
                return Err(BagError::InTheWay(place));
            }
            fs::rename(data.join(&name), &place).map_err(at(&place))?;
        }
        sync(root)?;
        fs::remove_dir(&data).map_err(at(&data))?;
    }
    for name in folder::names(&staging).map_err(at(&staging))? {
        let path = staging.join(name);
        fs::remove_file(&path).map_err(at(&path))?;
    }
    fs::remove_dir(&staging).map_err(at(&staging))
}

/// Creates an empty staging directory.
pub(crate) fn begin(root: &Path) -> Result<PathBuf, BagError> {
    let staging = root.join(NAME);
    match fs::create_dir(&staging) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            Err(BagError::Unwritable(error))
        }
        _ => Ok(staging),
    }
}

/// Writes a file and syncs it to disk.
pub(crate) fn write(staging: &Path, name: &str, text: &[u8]) -> Result<(), BagError> {
    let path = staging.join(name);
    let written = File::create_new(&path).and_then(|mut file| {
        file.write_all(text)?;
        file.sync_all()
    });
    written.map_err(at(&path))
}

/// Records the manifests to remove.
pub(crate) fn remove_later(staging: &Path, names: &[String]) -> Result<(), BagError> {
    let text: String = names.iter().map(|name| format!("{name}\n")).collect();
    write(staging, REMOVE, text.as_bytes())
}

/// Marks the staging directory as complete. The run can no longer be undone.
pub(crate) fn seal(staging: &Path) -> Result<(), BagError> {
    let (part, whole) = (staging.join("bagit.txt.part"), staging.join(declaration::NAME));
    sync(staging)?;
    write(staging, "bagit.txt.part", Declaration::TEXT.as_bytes())?;
    fs::rename(&part, &whole).map_err(at(&whole))?;
    sync(staging)
}

/// Moves everything to its place. It can be repeated after an interruption.
pub(crate) fn finish(root: &Path) -> Result<(), BagError> {
    let staging = root.join(NAME);
    let remove = staging.join(REMOVE);
    let names = match fs::read_to_string(&remove) {
        Ok(names) => Some(names),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(at(&remove)(error)),
    };
    if let Some(names) = names {
        for name in names.lines().filter(|name| Manifest::of(name.as_bytes()).is_some()) {
            let path = root.join(name);
            match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(at(&path)(error));
                }
                _ => {}
            }
        }
        fs::remove_file(&remove).map_err(at(&remove))?;
    }
    let mut names = folder::names(&staging).map_err(at(&staging))?;
    // The payload is moved first, the declaration last.
    names.sort_by_key(|name| (name == declaration::NAME, name != DATA));
    for name in names {
        let place = root.join(&name);
        if name == DATA && place.symlink_metadata().is_ok() {
            return Err(BagError::InTheWay(place));
        }
        if name == declaration::NAME {
            sync(root)?;
        }
        fs::rename(staging.join(&name), &place).map_err(at(&place))?;
    }
    sync(root)?;
    fs::remove_dir(&staging).map_err(at(&staging))
}

/// Syncs the names in a directory to disk.
pub(crate) fn sync(folder: &Path) -> Result<(), BagError> {
    match File::open(folder).and_then(|folder| folder.sync_all()) {
        // Some file systems cannot sync directories.
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
        synced => synced.map_err(at(folder)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn an_unsealed_creation_is_undone() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        assert_eq!(recover(root).unwrap(), Recovery::Nothing);
        let staging = begin(root).unwrap();
        fs::create_dir(staging.join(DATA)).unwrap();
        fs::write(staging.join("data/a"), "a").unwrap();
        fs::write(root.join("b"), "b").unwrap();
        write(&staging, "manifest-md5.txt", b"half").unwrap();
        write(&staging, "bagit.txt.part", b"").unwrap();
        assert!(is_unfinished(root));
        assert_eq!(recover(root).unwrap(), Recovery::TakenBack);
        assert_eq!(names(root), ["a", "b"]);
    }

    #[test]
    fn a_sealed_creation_is_completed() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        fs::write(root.join("manifest-sha1.txt"), "old").unwrap();
        fs::write(root.join("manifest-md5.txt"), "old").unwrap();
        let staging = begin(root).unwrap();
        fs::create_dir(staging.join(DATA)).unwrap();
        write(&staging, "manifest-md5.txt", b"new").unwrap();
        let gone = ["manifest-sha1.txt", "manifest-sha256.txt", "../x"].map(str::to_owned);
        remove_later(&staging, &gone).unwrap();
        seal(&staging).unwrap();
        assert_eq!(recover(root).unwrap(), Recovery::Finished);
        assert_eq!(names(root), ["bagit.txt", "data", "manifest-md5.txt"]);
        assert_eq!(fs::read(root.join("manifest-md5.txt")).unwrap(), b"new");
    }

    #[test]
    fn foreign_files_are_not_touched() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        let staging = begin(root).unwrap();
        fs::write(staging.join("notes"), "mine").unwrap();
        assert!(matches!(recover(root), Err(BagError::InTheWay(_))));
        fs::rename(staging.join("notes"), root.join("a")).unwrap();
        fs::create_dir(staging.join(DATA)).unwrap();
        fs::write(staging.join("data/a"), "moved").unwrap();
        assert!(matches!(recover(root), Err(BagError::InTheWay(_))));
        assert_eq!(fs::read(root.join("a")).unwrap(), b"mine");
        assert_eq!(fs::read(staging.join("data/a")).unwrap(), b"moved");
    }

    #[test]
    fn a_second_lock_is_refused() {
        let root = tempfile::tempdir().unwrap();
        let held = lock(root.path()).unwrap();
        assert!(matches!(lock(root.path()), Err(BagError::Busy)));
        drop(held);
        assert!(lock(root.path()).is_ok());
    }
}
