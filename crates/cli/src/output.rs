//! Where a list goes: standard output, or a file that appears only when it is whole.

use std::fs::{self, File, Permissions};
use std::io;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use tempfile::{NamedTempFile, TempPath};

/// Where a list is to go. Nothing is made yet.
pub enum Target {
    Stdout,
    /// Not a regular file (`/dev/null`, a FIFO): written to as it is.
    Special(File),
    /// A file, which need not exist.
    File {
        /// As it was given.
        name: PathBuf,
        /// What that leads to.
        path: PathBuf,
        /// Of what is there.
        permissions: Option<Permissions>,
    },
}

impl Target {
    /// What a path leads to. Waits for the reader of a FIFO.
    ///
    /// # Errors
    /// The links lead in a circle, or what is there may not be written to.
    pub fn of(name: Option<&Path>) -> anyhow::Result<Self> {
        let Some(name) = name else { return Ok(Self::Stdout) };
        Self::behind(name).with_context(|| name.display().to_string())
    }

    fn behind(name: &Path) -> io::Result<Self> {
        let path = behind_links(name)?;
        let existing = fs::metadata(&path).ok();
        if existing.as_ref().is_some_and(|target| !target.is_file()) {
            return Ok(Self::Special(File::options().write(true).open(&path)?));
        }
        let permissions = existing.map(|target| target.permissions());
        Ok(Self::File { name: name.to_owned(), path, permissions })
    }

    /// Opens it for writing; nothing of what is there changes yet.
    ///
    /// # Errors
    /// No file can be made beside the target.
    pub fn open(self) -> anyhow::Result<Output> {
        match self {
            Self::Stdout => Ok(Output::Stdout),
            Self::Special(file) => Ok(Output::Special(file)),
            Self::File { name, path, permissions } => {
                Output::beside(path, permissions).with_context(|| name.display().to_string())
            }
        }
    }
}

/// The open target of a list.
pub enum Output {
    Stdout,
    Special(File),
    /// A temporary file beside the target, which takes its place in the end.
    Replace {
        file: File,
        temporary: TempPath,
        target: PathBuf,
    },
}

impl Output {
    fn beside(target: PathBuf, permissions: Option<Permissions>) -> io::Result<Self> {
        let folder = match target.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        // Made by us, since what `tempfile` itself makes is for one user only, and its errors tell the
        // temporary name. This has the mode of a shell's redirection: the umask takes away from it.
        let create = |path: &Path| File::options().write(true).create_new(true).open(path);
        let temporary = tempfile::Builder::new().prefix(".lanesum-").make_in(folder, create)?;
        if let Some(permissions) = permissions {
            temporary.as_file().set_permissions(permissions)?;
        }
        let (file, temporary) = NamedTempFile::into_parts(temporary);
        Ok(Self::Replace { file, temporary, target })
    }

    /// The file to write to; `None` is standard output.
    pub fn file(&self) -> io::Result<Option<File>> {
        match self {
            Self::Stdout => Ok(None),
            Self::Special(file) | Self::Replace { file, .. } => file.try_clone().map(Some),
        }
    }

    /// The file that is to be removed when the run is interrupted.
    pub fn unfinished(&self) -> Option<PathBuf> {
        match self {
            Self::Replace { temporary, .. } => Some(temporary.to_path_buf()),
            Self::Stdout | Self::Special(_) => None,
        }
    }

    /// What a walk should leave out.
    pub fn own_files(&self) -> OwnFiles {
        match self {
            Self::Replace { temporary, target, .. } => OwnFiles(
                [temporary as &Path, target]
                    .into_iter()
                    .filter_map(|path| {
                        let folder = fs::canonicalize(path.parent()?.join(".")).ok()?;
                        Some((folder, path.file_name()?.into()))
                    })
                    .collect(),
            ),
            Self::Stdout | Self::Special(_) => OwnFiles(Vec::new()),
        }
    }

    /// Puts the list in its place: it is on the medium before its name leads to it.
    ///
    /// # Errors
    /// The system's; then the target is as it was.
    pub fn finish(self) -> io::Result<()> {
        self.finish_with(File::sync_all)
    }

    /// With what brings a file to the medium: from outside nobody can see whether it is there.
    fn finish_with(self, sync: impl FnOnce(&File) -> io::Result<()>) -> io::Result<()> {
        match self {
            Self::Stdout | Self::Special(_) => Ok(()),
            Self::Replace { file, temporary, target } => {
                sync(&file)?;
                temporary.persist(target).map_err(|error| error.error)
            }
        }
    }
}

/// The files that a run itself writes, by folder and name.
#[derive(Clone)]
pub struct OwnFiles(Vec<(PathBuf, PathBuf)>);

impl OwnFiles {
    /// Whether a path is one of them.
    pub fn contain(&self, path: &Path) -> bool {
        self.0.iter().any(|(folder, name)| {
            path.file_name() == Some(name.as_os_str())
                && path.parent().is_some_and(|parent| {
                    fs::canonicalize(parent.join(".")).is_ok_and(|parent| parent == *folder)
                })
        })
    }
}

/// What a path leads to, so that a link stays and its target is replaced or made.
///
/// # Errors
/// The links lead in a circle.
fn behind_links(path: &Path) -> io::Result<PathBuf> {
    /// As many as the kernel follows: `MAXSYMLINKS`.
    const MOST_LINKS: usize = 40;
    if let Ok(target) = fs::canonicalize(path) {
        return Ok(target);
    }
    let mut target = path.to_owned();
    for _ in 0..MOST_LINKS {
        let Ok(next) = fs::read_link(&target) else { return Ok(target) };
        target.pop();
        target.push(next);
    }
    Err(rustix::io::Errno::LOOP.into())
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    /// A list of one line, written but not yet in its place; the target is `list` in the folder.
    fn written(folder: &Path, line: &str) -> Output {
        let output = Target::of(Some(&folder.join("list"))).unwrap().open().unwrap();
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
                .finish_with(|_| {
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
        assert!(written(folder.path(), "new").finish_with(refuse).is_err());
        assert_eq!(names(folder.path()), Vec::<PathBuf>::new());

        fs::write(folder.path().join("list"), "old").unwrap();
        assert!(written(folder.path(), "new").finish_with(refuse).is_err());
        assert_eq!(names(folder.path()), [Path::new("list")]);
        assert_eq!(fs::read_to_string(folder.path().join("list")).unwrap(), "old");
    }
}
