//! The destination of a list: standard output, or a file that appears when it is complete.
//!
//! A list in a file is written to a temporary file, which is renamed at the end. Renaming would
//! lose other hard links of an existing list, its ACL, or an owner that cannot be set. Such a list
//! is overwritten in place when the new list is complete.

mod existing;
mod missing;
mod partial;

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use lanesum_checksum::engine::{inode_of, inode_of_file};
use lanesum_checksum::error::message;
use lanesum_list::Inode;
use rustix::fs::{FileType, PROC_SUPER_MAGIC, fstat, stat, statfs};
use rustix::io::Errno;
use tempfile::{NamedTempFile, TempPath};

use crate::console::shown;
use crate::failure::Usage;
use crate::signals::Interruptions;
use existing::{Existing, Overwriting};
pub use missing::{Gap, Missing};
pub use partial::Partial;

/// The destination of a list, before anything is created.
pub enum Target {
    Stdout,
    /// Not a regular file (`/dev/null`, a FIFO), or a descriptor of the process (`/dev/fd/5`). It
    /// is written to directly.
    Special(File),
    /// A file, which need not exist.
    File {
        /// The path as given.
        name: PathBuf,
        /// The path without links.
        path: PathBuf,
        existing: Option<Existing>,
    },
}

impl Target {
    /// Returns the destination at a path. Waits for the reader of a FIFO.
    ///
    /// # Errors
    /// The links form a loop, it is a directory, or it is not writable.
    pub fn of(name: Option<&Path>) -> anyhow::Result<Self> {
        let Some(name) = name.filter(|name| name.as_os_str() != "-") else {
            return Ok(Self::Stdout);
        };
        Self::behind(name).with_context(|| shown(name))
    }

    fn behind(name: &Path) -> io::Result<Self> {
        let found = match stat(name) {
            Ok(found) => Some(found),
            Err(Errno::NOENT) => None,
            Err(error) => return Err(error.into()),
        };
        let kind = found.map(|found| FileType::from_raw_mode(found.st_mode));
        if kind == Some(FileType::Directory) {
            let words = "is a directory; -o names the file for the list";
            return Err(io::Error::new(io::ErrorKind::IsADirectory, words));
        }
        if found.is_some_and(|found| id_of_stdout().is_ok_and(|id| id == inode_of(&found))) {
            // A socket cannot be opened again, and a file must keep its position.
            return Ok(Self::Stdout);
        }
        // Contents are kept, because of a shell's `5>>old`. With `5>new` the file is already empty.
        let special = || File::options().append(true).open(name).map(Self::Special);
        if kind.is_some_and(|kind| kind != FileType::RegularFile) {
            return special();
        }
        let Some(path) = behind_links(name)? else { return special() };
        let existing = match kind {
            Some(_) => Some(Existing::open(&path)?),
            None if is_name_of_file(&path) => None,
            None => return Err(Errno::NOENT.into()),
        };
        Ok(Self::File { name: name.to_owned(), path, existing })
    }

    /// Refuses paths that lead to the target, `-` for standard input, because the list would
    /// replace them.
    ///
    /// # Errors
    /// A path is the target.
    pub fn refuse_as_input<'a>(
        &self,
        mut paths: impl Iterator<Item = &'a Path>,
    ) -> Result<(), Usage> {
        let Self::File { name, existing: Some(existing), .. } = self else { return Ok(()) };
        let Ok(target) = inode_of_file(&existing.file) else { return Ok(()) };
        let found = |input: &Path| match input.to_str() {
            Some("-") => fstat(io::stdin()),
            _ => stat(input),
        };
        let is_target = |input: &&Path| found(input).is_ok_and(|it| inode_of(&it) == target);
        match paths.find(is_target) {
            None => Ok(()),
            Some(input) => Err(Usage(format!(
                "{}: is an input, and would be replaced by the list (--output {})",
                shown(input),
                shown(name)
            ))),
        }
    }

    /// Refuses targets that get each line at once, if the list must be complete or missing.
    ///
    /// # Errors
    /// The target is not a file.
    pub fn refuse_half(&self, all_or_nothing: bool) -> Result<(), Usage> {
        match self {
            Self::Stdout | Self::Special(_) if all_or_nothing => {
                Err(Usage("--all-or-nothing needs a file: --output FILE".into()))
            }
            _ => Ok(()),
        }
    }

    /// Opens the target for writing, without changing it yet. With `is_alone`, by a lock, the
    /// temporary file has a fixed name. It replaces the file of a process that was killed.
    ///
    /// # Errors
    /// No file can be created next to the target.
    pub fn open(self, is_alone: bool) -> anyhow::Result<Output> {
        match self {
            Self::Stdout => Ok(Output::Stdout),
            Self::Special(file) => Ok(Output::Special(file)),
            Self::File { name, path, existing } => {
                let output = Output::beside(path, existing, is_alone);
                output.with_context(|| shown(name))
            }
        }
    }
}

/// The open target of a list.
pub enum Output {
    Stdout,
    Special(File),
    /// A temporary file, which becomes the target at the end.
    File {
        file: File,
        temporary: TempPath,
        target: PathBuf,
        existing: Option<Existing>,
        /// Whether the temporary file may replace the target.
        replaces: bool,
    },
}

impl Output {
    fn beside(target: PathBuf, existing: Option<Existing>, is_alone: bool) -> io::Result<Self> {
        let folder = match target.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let name = target.file_name().filter(|_| is_alone);
        let (made, is_beside) = match temporary_in(folder, name) {
            // A user who may write to the file may not have write permission in its directory.
            Err(error) if existing.is_some() && is_denied(&error) => {
                (temporary_in(&env::temp_dir(), None).map_err(|_| error)?, false)
            }
            made => (made?, true),
        };
        let (file, temporary) = NamedTempFile::into_parts(made);
        let replaces = is_beside && existing.as_ref().is_none_or(|list| list.pass_on(&file));
        if !replaces {
            // No other user can read it there.
            file.set_permissions(Permissions::from_mode(0o600))?;
        }
        Ok(Self::File { file, temporary, target, existing, replaces })
    }

    /// Returns the file to write to, or `None` for standard output.
    pub fn file(&self) -> io::Result<Option<File>> {
        match self {
            Self::Stdout => Ok(None),
            Self::Special(file) | Self::File { file, .. } => file.try_clone().map(Some),
        }
    }

    /// Returns the file to remove when the run is interrupted.
    pub fn unfinished(&self) -> Option<PathBuf> {
        match self {
            Self::File { temporary, .. } => Some(temporary.to_path_buf()),
            Self::Stdout | Self::Special(_) => None,
        }
    }

    /// Returns the inodes of the list, which it cannot contain itself.
    ///
    /// # Errors
    /// Errors of the system.
    pub fn own_files(&self) -> io::Result<Vec<Inode>> {
        match self {
            Self::Stdout => {
                let stdout = fstat(io::stdout())?;
                let kind = FileType::from_raw_mode(stdout.st_mode);
                Ok((kind == FileType::RegularFile).then(|| inode_of(&stdout)).into_iter().collect())
            }
            Self::Special(file) => Ok(vec![inode_of_file(file)?]),
            Self::File { file, existing, .. } => {
                let existing = existing.iter().map(|existing| &existing.file);
                [file].into_iter().chain(existing).map(inode_of_file).collect()
            }
        }
    }

    /// Puts the list in its place. It is on the medium before the name leads to it.
    ///
    /// # Errors
    /// The error, and the state of the target.
    pub fn finish(self, interruptions: &Interruptions) -> Result<(), NotPlaced> {
        self.finish_with(interruptions, File::sync_all)
    }

    /// Includes the sync to the medium, which a test cannot check.
    fn finish_with(
        self,
        interruptions: &Interruptions,
        sync: impl FnOnce(&File) -> io::Result<()>,
    ) -> Result<(), NotPlaced> {
        let Self::File { file, temporary, target, existing, replaces } = self else {
            return Ok(());
        };
        sync(&file).map_err(NotPlaced::AsItWas)?;
        let temporary = if replaces {
            match (temporary.persist(&target), &existing) {
                (Ok(()), _) => return Ok(()),
                (Err(why), None) => return Err(NotPlaced::AsItWas(why.error)),
                // It is a mount point, or a file of another user in a directory where only the
                // owner may remove it.
                (Err(why), Some(_)) => why.path,
            }
        } else {
            temporary
        };
        let Some(mut existing) = existing else { return Ok(()) };
        // An interruption waits until the file is complete.
        let mut unfinished = interruptions.hold();
        match existing.overwrite(&file) {
            Ok(()) => Ok(()),
            Err(Overwriting::NotBegun(error)) => Err(NotPlaced::AsItWas(error)),
            Err(Overwriting::Begun(error)) => {
                *unfinished = None;
                let list = temporary.to_path_buf();
                // On this system there is nothing to do, so nothing fails.
                let _ = temporary.keep();
                Err(NotPlaced::Damaged { error, list })
            }
        }
    }
}

/// The reason why a list is not in its place.
#[derive(Debug, thiserror::Error)]
pub enum NotPlaced {
    #[error("{}; the file is unchanged", message(.0))]
    AsItWas(io::Error),
    #[error("{}; the file may be partly overwritten, and the complete list is {}", message(.error), shown(.list))]
    Damaged { error: io::Error, list: PathBuf },
}

/// The prefix of the names of temporary files.
const PREFIX: &str = ".lanesum-";

/// Creates a file with a new random name, or with the name of the list's own temporary file.
fn temporary_in(folder: &Path, list: Option<&OsStr>) -> io::Result<NamedTempFile> {
    // `tempfile` creates files for one user only, and its errors name the temporary file. This file
    // has the mode of a shell redirection, limited by the umask.
    let create = |path: &Path| File::options().read(true).write(true).create_new(true).open(path);
    let Some(list) = list else {
        return tempfile::Builder::new().prefix(PREFIX).make_in(folder, create);
    };
    let mut name = OsString::from(PREFIX);
    name.push(list);
    match fs::remove_file(folder.join(&name)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    tempfile::Builder::new().prefix(&name).rand_bytes(0).make_in(folder, create)
}

/// Creates a file in the directory of a path, to be renamed to it. Dropping it removes it.
pub fn temporary_beside(path: &Path) -> io::Result<NamedTempFile> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    temporary_in(folder.unwrap_or(Path::new(".")), None)
}

/// Returns whether the error is about missing permission to create a file.
fn is_denied(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem)
}

fn id_of_stdout() -> io::Result<Inode> {
    inode_of_file(io::stdout())
}

/// Returns whether a path can name a file, unlike `folder/` or `folder/.`.
fn is_name_of_file(path: &Path) -> bool {
    let last = path.as_os_str().as_bytes().rsplit(|&byte| byte == b'/').next();
    last.is_some_and(|last| ![&b""[..], b".", b".."].contains(&last))
}

/// Returns the target of links, so that a link stays and its target is replaced or created. Returns
/// `None` for a link of /proc, which leads to an open file whatever its text is.
///
/// # Errors
/// The links form a loop.
fn behind_links(path: &Path) -> io::Result<Option<PathBuf>> {
    /// The kernel's limit, `MAXSYMLINKS`.
    const MOST_LINKS: usize = 40;
    let mut target = path.to_owned();
    for _ in 0..=MOST_LINKS {
        let Ok(next) = fs::read_link(&target) else { return Ok(Some(target)) };
        target.pop();
        let folder = if target.as_os_str().is_empty() { Path::new(".") } else { &target };
        if statfs(folder)?.f_type == PROC_SUPER_MAGIC {
            return Ok(None);
        }
        target.push(next);
    }
    Err(Errno::LOOP.into())
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    /// A list of one line, written but not yet in its place. The target is `list` in the directory.
    fn written(folder: &Path, line: &str) -> Output {
        let output = Target::of(Some(&folder.join("list"))).unwrap().open(false).unwrap();
        output.file().unwrap().expect("a file").write_all(line.as_bytes()).unwrap();
        output
    }

    fn names(folder: &Path) -> Vec<PathBuf> {
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into()).collect()
    }

    #[test]
    fn a_list_is_on_the_medium_before_its_name_leads_to_it() {
        let folder = tempfile::tempdir().unwrap();
        let list = folder.path().join("list");
        for (before, after) in [(None, "first"), (Some("first"), "second")] {
            let output = written(folder.path(), after);
            let temporary = output.unfinished().expect("a temporary file");
            let mut synced = None;
            output
                .finish_with(&Interruptions::default(), |_| {
                    assert_eq!(fs::read_to_string(&list).ok().as_deref(), before);
                    synced = Some(fs::read_to_string(&temporary)?);
                    Ok(())
                })
                .unwrap();
            assert_eq!(synced.as_deref(), Some(after), "the whole list");
            assert_eq!(fs::read_to_string(&list).unwrap(), after);
        }
    }

    #[test]
    fn a_list_that_the_medium_refuses_leaves_everything_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let refuse = |_: &File| Err(io::ErrorKind::StorageFull.into());
        assert!(
            written(folder.path(), "new").finish_with(&Interruptions::default(), refuse).is_err()
        );
        assert_eq!(names(folder.path()), Vec::<PathBuf>::new());

        fs::write(folder.path().join("list"), "old").unwrap();
        assert!(
            written(folder.path(), "new").finish_with(&Interruptions::default(), refuse).is_err()
        );
        assert_eq!(names(folder.path()), [Path::new("list")]);
        assert_eq!(fs::read_to_string(folder.path().join("list")).unwrap(), "old");
    }
}
