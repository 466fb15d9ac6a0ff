//! Where a list goes: standard output, or a file that appears only when it is whole.
//!
//! A list in a file is written beside it and takes its name in the end. That would cut a list that
//! is there off from its other names, and lose its ACL or an owner that cannot be passed on; such a
//! one is overwritten when the new list is whole.

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

/// Where a list is to go. Nothing is made yet.
pub enum Target {
    Stdout,
    /// Not a regular file (`/dev/null`, a FIFO), or one that somebody has open (`/dev/fd/5`):
    /// written to as it is.
    Special(File),
    /// A file, which need not exist.
    File {
        /// As it was given.
        name: PathBuf,
        /// What that leads to.
        path: PathBuf,
        existing: Option<Existing>,
    },
}

impl Target {
    /// What a path leads to. Waits for the reader of a FIFO.
    ///
    /// # Errors
    /// The links lead in a circle, it is a folder, or what is there may not be written to.
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
            return Err(Errno::ISDIR.into());
        }
        if found.is_some_and(|found| id_of_stdout().is_ok_and(|id| id == inode_of(&found))) {
            // A socket cannot be opened once more, and a file has its place to go on.
            return Ok(Self::Stdout);
        }
        // What is in it stays: a shell's `5>>old` wants that, and its `5>new` has left nothing.
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

    /// Refuses paths that lead to the target, `-` for standard input: they would be replaced by the
    /// list that should hold them.
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

    /// Refuses what takes each line as it comes, where all lines are wanted or none.
    ///
    /// # Errors
    /// The target is such.
    pub fn refuse_half(&self, all_or_nothing: bool) -> Result<(), Usage> {
        match self {
            Self::Stdout | Self::Special(_) if all_or_nothing => {
                Err(Usage("--all-or-nothing needs a file: --output FILE".into()))
            }
            _ => Ok(()),
        }
    }

    /// Opens it for writing; nothing of what is there changes yet. Whoever `is_alone`, by a lock,
    /// writes to a file of one name, which replaces what a process left that was killed.
    ///
    /// # Errors
    /// No file can be made beside the target.
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
    /// A temporary file, which becomes the target in the end.
    File {
        file: File,
        temporary: TempPath,
        target: PathBuf,
        existing: Option<Existing>,
        /// Whether the temporary file may take the target's name.
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
            // Who may write to a file need not have a right to its folder.
            Err(error) if existing.is_some() && is_denied(&error) => {
                (temporary_in(&env::temp_dir(), None).map_err(|_| error)?, false)
            }
            made => (made?, true),
        };
        let (file, temporary) = NamedTempFile::into_parts(made);
        let replaces = is_beside && existing.as_ref().is_none_or(|list| list.pass_on(&file));
        if !replaces {
            // No other user reads it there.
            file.set_permissions(Permissions::from_mode(0o600))?;
        }
        Ok(Self::File { file, temporary, target, existing, replaces })
    }

    /// The file to write to; `None` is standard output.
    pub fn file(&self) -> io::Result<Option<File>> {
        match self {
            Self::Stdout => Ok(None),
            Self::Special(file) | Self::File { file, .. } => file.try_clone().map(Some),
        }
    }

    /// The file that is to be removed when the run is interrupted.
    pub fn unfinished(&self) -> Option<PathBuf> {
        match self {
            Self::File { temporary, .. } => Some(temporary.to_path_buf()),
            Self::Stdout | Self::Special(_) => None,
        }
    }

    /// The files that the list goes to, which it cannot hold.
    ///
    /// # Errors
    /// The system's.
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

    /// Puts the list in its place: it is on the medium before its name leads to it.
    ///
    /// # Errors
    /// What came in the way, and what became of the target.
    pub fn finish(self, interruptions: &Interruptions) -> Result<(), NotPlaced> {
        self.finish_with(interruptions, File::sync_all)
    }

    /// With what brings a file to the medium: from outside it cannot be seen whether it is there.
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
                // It is a mount point, or somebody else's in a folder where only the owner may
                // remove it.
                (Err(why), Some(_)) => why.path,
            }
        } else {
            temporary
        };
        let Some(mut existing) = existing else { return Ok(()) };
        // An interruption waits until it is whole.
        let mut unfinished = interruptions.hold();
        match existing.overwrite(&file) {
            Ok(()) => Ok(()),
            Err(Overwriting::NotBegun(error)) => Err(NotPlaced::AsItWas(error)),
            Err(Overwriting::Begun(error)) => {
                *unfinished = None;
                let list = temporary.to_path_buf();
                // On this system nothing has to be done to keep it, so nothing fails.
                let _ = temporary.keep();
                Err(NotPlaced::Damaged { error, list })
            }
        }
    }
}

/// Why a list is not in its place.
#[derive(Debug, thiserror::Error)]
pub enum NotPlaced {
    #[error("{}; the file is unchanged", message(.0))]
    AsItWas(io::Error),
    #[error("{}; the file may be partly overwritten, and the complete list is {}", message(.error), shown(.list))]
    Damaged { error: io::Error, list: PathBuf },
}

/// What the names of temporary files begin with.
const PREFIX: &str = ".lanesum-";

/// Makes a file with a name that nothing has, or that of the list's own temporary file.
fn temporary_in(folder: &Path, list: Option<&OsStr>) -> io::Result<NamedTempFile> {
    // Made by us, since what `tempfile` itself makes is for one user only, and its errors tell the
    // temporary name. This has the mode of a shell's redirection: the umask takes away from it.
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

/// Makes a file in the directory of a path, to be renamed to it. It is removed when it is dropped.
pub fn temporary_beside(path: &Path) -> io::Result<NamedTempFile> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    temporary_in(folder.unwrap_or(Path::new(".")), None)
}

/// Whether somebody has no right to make a file.
fn is_denied(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem)
}

fn id_of_stdout() -> io::Result<Inode> {
    inode_of_file(io::stdout())
}

/// Whether a path can name a file: not `folder/` nor `folder/.`.
fn is_name_of_file(path: &Path) -> bool {
    let last = path.as_os_str().as_bytes().rsplit(|&byte| byte == b'/').next();
    last.is_some_and(|last| ![&b""[..], b".", b".."].contains(&last))
}

/// What a path leads to, so that a link stays and its target is replaced or made. `None` of a link
/// of /proc, which leads to what somebody has open, whatever its text says.
///
/// # Errors
/// The links lead in a circle.
fn behind_links(path: &Path) -> io::Result<Option<PathBuf>> {
    /// As many as the kernel follows: `MAXSYMLINKS`.
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

    /// A list of one line, written but not yet in its place; the target is `list` in the folder.
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
