//! Walks a directory tree and yields its files in byte order of their whole paths.
//!
//! # The order
//!
//! Entries are ordered like the lines of `find -type f | LC_ALL=C sort`, although only the
//! directories above the current one are in memory. Within a directory the entries are sorted by a
//! key: the name of a file, and the name of a directory followed by `/`. This orders the whole
//! paths. Proof for two entries of one directory, whose paths all start with the same bytes:
//!
//! * If the keys differ at a byte that both have, that byte also decides between any path of the
//!   one and any path of the other, because every path starts with the key of its entry.
//! * Otherwise one key is a proper prefix of the other. It is not the key of a directory: its `/`
//!   would be inside the other name, or both names would be equal. So it is the name of a file and
//!   the whole path, and a prefix sorts before the longer path.
//!
//! So all paths of one entry sort before all paths of the other, and by induction over the depth
//! the walk is sorted. For example, `a-b`, `a.b`, `a/x`, `a0` come in this order, because `/` is
//! between `.` and `0`. Sorting the bare names would put `a` (with `a/x`) first.
//!
//! # What it costs
//!
//! A directory is read completely when it is entered, sorted in one buffer, and closed. The kind of
//! an entry comes with its name, so files need no system call. Memory grows only with the sizes of
//! the directories on the current path. Directories are opened by their whole path, so an ordinary
//! walk holds no open descriptor between entries. `open.rs` opens paths that are longer than the
//! kernel accepts.

mod count;
mod exclude;
mod folder;
mod git;
mod gitignore;
mod glob;
mod open;
mod options;
mod pattern;
mod skip;

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io;
use std::iter::FusedIterator;
use std::mem::MaybeUninit;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, FileType, Stat, fstat, statat};
use rustix::io::Errno;

pub use count::{Count, Totals};
pub use exclude::{BadLine, BadPattern, Exclude};
use folder::{Fate, Folder, Kind, Links};
use gitignore::Rules;
use open::FolderOpener;
pub use options::WalkOptions;
pub use skip::Skip;

use crate::hops::Within;

/// The number of bytes of directory entries per system call: about two thousand short names.
const READ_BUFFER: usize = 64 << 10;

/// An item of a walk.
#[derive(Debug)]
pub enum Entry {
    /// A regular file, or an argument that is not a directory. The path starts with the argument,
    /// as printed by `find`.
    File(PathBuf),
    /// An entry that is skipped.
    Skipped {
        /// The path of the entry.
        path: PathBuf,
        /// The reason.
        why: Skip,
    },
    /// An entry that could not be examined: a missing argument, an unreadable directory, or a
    /// followed dangling link. Readable entries of the directory follow. For an ignore file with an
    /// invalid pattern, the error is a [`BadLine`].
    Failed {
        /// The path of the entry.
        path: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
}

impl Entry {
    /// Returns the path of the entry.
    #[must_use]
    pub fn path(&self) -> &Path {
        match self {
            Self::File(path) | Self::Skipped { path, .. } | Self::Failed { path, .. } => path,
        }
    }
}

/// Walks an argument: all files of a directory, or a single file.
///
/// A link given as the argument is followed. The walk is lazy and reads each directory when it gets
/// there.
///
/// ```
/// use std::path::Path;
/// use lanesum_checksum::walk::{Entry, WalkOptions, walk};
///
/// for entry in walk(Path::new("src"), &WalkOptions::default()) {
///     match entry {
///         Entry::File(path) => println!("{}", path.display()),
///         Entry::Skipped { path, why } => eprintln!("{}: {why}", path.display()),
///         Entry::Failed { path, error } => eprintln!("{}: {error}", path.display()),
///     }
/// }
/// ```
#[must_use]
pub fn walk(root: &Path, options: &WalkOptions) -> Walk {
    Walk {
        options: options.clone(),
        argument: Some(root.to_owned()),
        root_len: 0,
        device: None,
        path: Vec::new(),
        folders: Vec::new(),
        opener: FolderOpener::new(options.follow),
        rules: Rules::default(),
        ignore_files: Rules::default(),
        pending: VecDeque::new(),
        buffer: Box::new_uninit_slice(READ_BUFFER),
    }
}

/// An iterator over the entries of a tree. Made by [`walk`].
pub struct Walk {
    options: WalkOptions,
    /// The argument, until the first entry is requested.
    argument: Option<PathBuf>,
    /// The length of the argument with its slash in `path`.
    root_len: usize,
    /// The device of the argument, if the walk must stay on it.
    device: Option<u64>,
    /// The path of the innermost directory of `folders`, with its slash.
    path: Vec<u8>,
    /// The directories from the argument to the current one.
    folders: Vec<Level>,
    opener: FolderOpener,
    rules: Rules,
    /// The patterns of the ignore files that apply in the current directory.
    ignore_files: Rules,
    /// The entries to yield first.
    pending: VecDeque<Entry>,
    buffer: Box<[MaybeUninit<u8>]>,
}

/// A directory on the current path.
struct Level {
    folder: Folder,
    /// The length of its path with its slash.
    path_len: usize,
    /// The identity of the directory, if loops are detected.
    identity: Option<Identity>,
}

/// The identity of a directory: device and inode.
type Identity = (u64, u64);

impl fmt::Debug for Walk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Walk")
            .field("options", &self.options)
            .field("path", &OsStr::from_bytes(&self.path))
            .field("depth", &self.folders.len())
            .finish_non_exhaustive()
    }
}

impl Iterator for Walk {
    type Item = Entry;

    fn next(&mut self) -> Option<Entry> {
        if let Some(argument) = self.argument.take()
            && let Some(entry) = self.start(argument)
        {
            return Some(entry);
        }
        loop {
            if let Some(entry) = self.pending.pop_front() {
                return Some(entry);
            }
            let level = self.folders.last_mut()?;
            let Some((name, kind)) = level.folder.next() else {
                self.leave();
                continue;
            };
            match kind {
                Kind::File => return Some(Entry::File(joined(&self.path, name))),
                Kind::Skipped(why) => {
                    return Some(Entry::Skipped { path: joined(&self.path, name), why });
                }
                Kind::Failed(error) => {
                    return Some(Entry::Failed {
                        path: joined(&self.path, name),
                        error: error.into(),
                    });
                }
                Kind::Folder => {
                    self.path.extend_from_slice(name);
                    self.descend();
                }
            }
        }
    }
}

impl FusedIterator for Walk {}

impl Walk {
    /// Examines the argument. Enters a directory, and otherwise returns the only entry.
    fn start(&mut self, argument: PathBuf) -> Option<Entry> {
        let failed =
            |path, error: Errno| Some(Entry::Failed { path, error: io::Error::from(error) });
        let within = match Within::reach(argument.as_os_str().as_bytes()) {
            Ok(within) => within,
            Err(error) => return failed(argument, error),
        };
        let stat = match statat(within.folder(), within.rest(), AtFlags::empty()) {
            Ok(stat) => stat,
            Err(error) => return failed(argument, error),
        };
        if FileType::from_raw_mode(stat.st_mode) != FileType::Directory {
            return Some(Entry::File(argument));
        }
        let fd = match open::folder(within.folder(), within.rest(), true) {
            Ok(fd) => fd,
            Err(error) => return failed(argument, error),
        };
        if self.options.gitignore {
            let git = self.options.git.as_deref();
            self.rules = Rules::above(&argument, git, &mut self.pending);
        }
        self.device = self.options.one_file_system.then_some(stat.st_dev);
        self.path = argument.into_os_string().into_vec();
        if !self.path.ends_with(b"/") {
            self.path.push(b'/');
        }
        self.root_len = self.path.len();
        self.enter(&fd, self.options.follow.then(|| identity(&stat)));
        None
    }

    /// Enters the directory that `path` was extended by, or removes it from `path`.
    fn descend(&mut self) {
        match self.admit() {
            Ok(Some((fd, identity))) => self.enter(&fd, identity),
            Ok(None) => self.restore_path(),
            Err(error) => {
                let path = self.folder_path();
                self.pending.push_back(Entry::Failed { path, error });
                self.restore_path();
            }
        }
    }

    /// Opens the directory at `path`. Returns `None` if it must not be walked.
    fn admit(&mut self) -> io::Result<Option<(OwnedFd, Option<Identity>)>> {
        let fd = self.opener.open(&self.path[..self.path.len() - 1])?;
        if self.device.is_none() && !self.options.follow {
            return Ok(Some((fd, None)));
        }
        let stat = fstat(&fd)?;
        if self.device.is_some_and(|device| device != stat.st_dev) {
            if self.options.report_mounts {
                let (path, why) = (self.folder_path(), Skip::OtherDevice);
                self.pending.push_back(Entry::Skipped { path, why });
            }
            return Ok(None);
        }
        let identity = self.options.follow.then(|| identity(&stat));
        if identity.is_some() && self.folders.iter().any(|level| level.identity == identity) {
            self.pending.push_back(Entry::Skipped { path: self.folder_path(), why: Skip::Loop });
            return Ok(None);
        }
        Ok(Some((fd, identity)))
    }

    /// Reads the directory at `path` and makes it the current one.
    fn enter(&mut self, fd: &OwnedFd, identity: Option<Identity>) {
        let links = self.links();
        let (mut folder, error) = Folder::read(fd, &mut self.buffer, links);
        if let Some(error) = error {
            self.pending.push_back(Entry::Failed { path: self.folder_path(), error });
        }
        if self.options.gitignore {
            self.rules.enter(fd, &self.path, &mut self.pending);
        }
        let unreadable = self.read_ignore_file(fd, &mut folder);
        self.filter(&mut folder, unreadable.as_deref());
        folder.sort();
        self.folders.push(Level { folder, path_len: self.path.len(), identity });
    }

    fn links(&self) -> Links {
        match (self.options.follow, self.options.report_links) {
            (true, _) => Links::Followed,
            (false, true) => Links::Reported,
            (false, false) => Links::LeftOut,
        }
    }

    /// Reads the ignore file of the directory at `path`, if it has one. Returns the name of an
    /// ignore file that cannot be read; its entry is a failure.
    fn read_ignore_file(&mut self, fd: &OwnedFd, folder: &mut Folder) -> Option<OsString> {
        let name = self.options.ignore_file.as_deref()?;
        if !folder.has_file(name.as_bytes()) {
            return None;
        }
        match self.ignore_files.enter_with(fd, &self.path, name, self.options.follow) {
            Ok(None) => None,
            Ok(Some(invalid)) => {
                let path = joined(&self.path, name.as_bytes());
                let error = io::Error::new(io::ErrorKind::InvalidData, invalid);
                self.pending.push_back(Entry::Failed { path, error });
                None
            }
            Err(error) => {
                folder.fail(name.as_bytes(), error);
                Some(name.to_owned())
            }
        }
    }

    /// Removes the entries that rules and patterns exclude from a directory at `path`, but never
    /// the unreadable ignore file.
    fn filter(&mut self, folder: &mut Folder, unreadable: Option<&OsStr>) {
        let Self { options, rules, ignore_files, path, root_len, .. } = self;
        let has_ignore_file = options.ignore_file.is_some();
        if !options.gitignore && options.exclude.is_empty() && !has_ignore_file {
            return;
        }
        let path_len = path.len();
        folder.filter(|name, is_folder| {
            if unreadable.is_some_and(|it| it.as_bytes() == name) {
                return Fate::Kept;
            }
            path.truncate(path_len);
            path.extend_from_slice(name);
            let is_excluded = options.exclude.matches(&path[*root_len..], is_folder)
                || has_ignore_file && ignore_files.matches(path, is_folder);
            match is_excluded {
                true if options.report_excluded => Fate::Skipped(Skip::Excluded),
                true => Fate::LeftOut,
                false if options.gitignore && rules.ignore(path, is_folder) => Fate::LeftOut,
                false => Fate::Kept,
            }
        });
        path.truncate(path_len);
    }

    /// Returns to the parent of the current directory.
    fn leave(&mut self) {
        self.folders.pop();
        self.restore_path();
        self.rules.leave(self.path.len());
        self.ignore_files.leave(self.path.len());
    }

    /// Sets `path` to the current directory again.
    fn restore_path(&mut self) {
        self.path.truncate(self.folders.last().map_or(0, |level| level.path_len));
        self.opener.leave(self.path.len());
    }

    /// Returns the path of the directory at `path` for messages, without the slash.
    fn folder_path(&self) -> PathBuf {
        let path = match self.path.as_slice() {
            [name @ .., b'/'] if !name.is_empty() => name,
            path => path,
        };
        joined(path, b"")
    }
}

/// Returns the identity of a directory from its `stat`.
fn identity(stat: &Stat) -> Identity {
    (stat.st_dev, stat.st_ino)
}

/// Makes a path in an allocation of exactly its size. The caller handles the trailing slash of a
/// directory.
fn joined(folder: &[u8], name: &[u8]) -> PathBuf {
    let mut path = Vec::with_capacity(folder.len() + name.len());
    path.extend_from_slice(folder);
    path.extend_from_slice(name);
    PathBuf::from(OsString::from_vec(path))
}
