//! Excludes entries that git ignores, by asking git if possible, and otherwise by the rules of
//! `gitignore(5)`.
//!
//! The active rules form a stack, outermost first. If git has listed the repository of the current
//! directory, the list decides (`git.rs`). Otherwise files of patterns decide (`pattern.rs`): those
//! of the directories from the root of the repository to the argument, which are read once, then
//! those of the walked directories. The innermost file with a matching pattern decides, and within
//! a file the last matching pattern. An ignored directory is not entered, so, as in git, `!` cannot
//! include files below it. A nested repository, detected by its `.git`, ignores the outer rules.
//!
//! Ignore files of another name ([`WalkOptions::ignore_file`](super::WalkOptions::ignore_file))
//! form a second stack of patterns only, without git and repositories.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, openat, statat};
use rustix::io::Errno;

use super::git::{Git, Listed, Listing, Refusal};
use super::pattern::{Pattern, patterns};
use super::{BadLine, Entry, Skip, joined};

/// The active rules in the current directory.
#[derive(Default)]
pub(super) struct Rules {
    /// The git program, if there is one.
    git: Option<Git>,
    sources: Vec<Source>,
    /// A buffer for the path to match.
    scratch: Vec<u8>,
}

/// A source of rules for paths below a directory.
struct Source {
    decides: Decides,
    /// The prefix of paths of the walk, from `skip` on, that makes them relative to the directory.
    prefix: Vec<u8>,
    /// The length of the part of paths of the walk that leads to the directory.
    skip: usize,
}

enum Decides {
    /// The list of git, which decides alone.
    Listing(Listing),
    /// Patterns, and whether they are of the root of a repository, so that outer patterns do not
    /// apply.
    Patterns(Vec<Pattern>, bool),
}

impl Rules {
    /// Makes the rules above an argument that is a directory in a repository. Adds unreadable files
    /// to `failures`.
    pub(super) fn above(
        argument: &Path,
        git: Option<&Path>,
        failures: &mut VecDeque<Entry>,
    ) -> Self {
        let git = git.map(|program| Git::new(program.to_owned()));
        let mut rules = Self { git, ..Self::default() };
        let absolute = match fs::canonicalize(argument) {
            Ok(absolute) => absolute,
            Err(error) => {
                failures.push_back(Entry::Failed { path: argument.to_owned(), error });
                return rules;
            }
        };
        if is_repository(&absolute) {
            return rules;
        }
        let Some(root) = absolute.ancestors().skip(1).find(|folder| is_repository(folder)) else {
            return rules;
        };
        let skip = argument.as_os_str().len() + usize::from(!ends_in_slash(argument));
        let below = |folder| absolute.strip_prefix(folder).expect("an ancestor is a prefix");
        let prefix_below = |folder| [below(folder).as_os_str().as_bytes(), b"/"].concat();
        if let Some(listing) = rules.list_part(root, below(root), failures) {
            rules.push(Decides::Listing(listing), prefix_below(root), skip);
            return rules;
        }
        let inner: Vec<&Path> =
            absolute.ancestors().skip(1).take_while(|folder| folder.starts_with(root)).collect();
        for folder in inner.into_iter().rev() {
            let mut patterns = Vec::new();
            if folder == root {
                add_exclude_file(&mut patterns, root, failures);
            }
            let path = folder.join(".gitignore");
            add_file(&mut patterns, &path, open(CWD, &path, OFlags::NOFOLLOW), failures);
            let patterns = Decides::Patterns(patterns, folder == root);
            rules.push(patterns, prefix_below(folder), skip);
        }
        rules
    }

    /// Adds the rules of a directory that the walk enters. `path` is its path with its slash.
    pub(super) fn enter(&mut self, fd: &OwnedFd, path: &[u8], failures: &mut VecDeque<Entry>) {
        let is_repository = || statat(fd, ".git", AtFlags::SYMLINK_NOFOLLOW).is_ok();
        match self.listed(path) {
            Some(Listed::Below) => return,
            Some(Listed::Itself | Listed::Nothing) if !is_repository() && !is_link(path) => {
                // A missing submodule, for which git lists nothing.
                return self.push(Decides::Listing(Listing::default()), Vec::new(), path.len());
            }
            Some(Listed::Itself | Listed::Nothing) | None => {}
        }
        let is_repository = is_repository();
        let mut patterns = Vec::new();
        if is_repository {
            let folder = joined(without_slash(path), b"");
            if let Some(listing) = self.list(&folder, None, failures) {
                return self.push(Decides::Listing(listing), Vec::new(), path.len());
            }
            add_exclude_file(&mut patterns, &folder, failures);
        }
        let file = open(fd, Path::new(".gitignore"), OFlags::NOFOLLOW);
        add_file(&mut patterns, &joined(path, b".gitignore"), file, failures);
        // git does not treat a link as a directory, so its list does not cover files behind links.
        let is_outermost = is_repository || self.listed(path).is_some();
        if is_outermost || !patterns.is_empty() {
            self.push(Decides::Patterns(patterns, is_outermost), Vec::new(), path.len());
        }
    }

    /// Adds the patterns of the ignore file `name` in a directory that the walk enters. A file that
    /// was removed meanwhile has none. Returns its first invalid line, if there is one.
    ///
    /// # Errors
    /// Fails if the file cannot be read.
    pub(super) fn enter_with(
        &mut self,
        fd: &OwnedFd,
        path: &[u8],
        name: &OsStr,
        follow: bool,
    ) -> Result<Option<BadLine>, Errno> {
        let link = if follow { OFlags::empty() } else { OFlags::NOFOLLOW };
        let mut text = Vec::new();
        let read = open(fd, Path::new(name), link)
            .and_then(|mut file| file.read_to_end(&mut text))
            .map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO));
        match read {
            Ok(_) => {
                let patterns = Decides::Patterns(patterns(&text).collect(), false);
                self.push(patterns, Vec::new(), path.len());
                Ok(BadLine::of(&text))
            }
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns the content of the active git list for a directory.
    fn listed(&mut self, path: &[u8]) -> Option<Listed> {
        let Some(source @ Source { decides: Decides::Listing(listing), .. }) = self.sources.last()
        else {
            return None;
        };
        // The list is for this directory itself.
        if path.len() == source.skip {
            return Some(Listed::Below);
        }
        Some(listing.folder(source.relative(path, &mut self.scratch)))
    }

    /// Returns the git list of an argument that is a part of a repository. There is no list for the
    /// `.git` directory or for ignored directories, which are still walked as arguments.
    fn list_part(
        &mut self,
        root: &Path,
        part: &Path,
        failures: &mut VecDeque<Entry>,
    ) -> Option<Listing> {
        if part.components().any(|name| name == Component::Normal(OsStr::new(".git"))) {
            return None;
        }
        let listing = self.list(root, Some(part), failures)?;
        let is_ignored = self.git.as_ref().is_some_and(|git| git.ignores(root, part));
        (!is_ignored).then_some(listing)
    }

    /// Returns the git list of a repository, if there is git. Reports if git refuses.
    fn list(
        &mut self,
        folder: &Path,
        part: Option<&Path>,
        failures: &mut VecDeque<Entry>,
    ) -> Option<Listing> {
        let why = match self.git.as_ref()?.list(folder, part) {
            Ok((listing, warnings)) => {
                failures.extend(warnings.into_iter().map(|warning| Entry::Failed {
                    path: folder.to_owned(),
                    error: io::Error::other(format!("git: {warning}")),
                }));
                return Some(listing);
            }
            Err(Refusal::NoGit) => {
                self.git = None;
                return None;
            }
            Err(Refusal::Foreign) => Skip::ForeignGit,
            Err(Refusal::Broken) => Skip::BrokenGit,
        };
        failures.push_back(Entry::Skipped { path: folder.join(".git"), why });
        None
    }

    fn push(&mut self, decides: Decides, prefix: Vec<u8>, skip: usize) {
        self.sources.push(Source { decides, prefix, skip });
    }

    /// Notes that the walk returns to the directory whose path with its slash has this length.
    pub(super) fn leave(&mut self, path_len: usize) {
        while self.sources.last().is_some_and(|source| source.skip > path_len) {
            self.sources.pop();
        }
    }

    /// Returns whether an entry of the current directory is excluded. `path` is its whole path.
    pub(super) fn ignore(&mut self, path: &[u8], is_folder: bool) -> bool {
        path.ends_with(b"/.git") || self.matches(path, is_folder)
    }

    /// Returns whether the sources exclude an entry, without special treatment of `.git`.
    pub(super) fn matches(&mut self, path: &[u8], is_folder: bool) -> bool {
        for source in self.sources.iter().rev() {
            let relative = source.relative(path, &mut self.scratch);
            match &source.decides {
                Decides::Listing(listing) if is_folder => {
                    self.scratch.push(b'/');
                    return listing.folder(&self.scratch) == Listed::Nothing;
                }
                Decides::Listing(listing) => return !listing.has_file(relative),
                Decides::Patterns(patterns, is_outermost) => {
                    let mut last_first = patterns.iter().rev();
                    match last_first.find(|pattern| pattern.matches(relative, is_folder)) {
                        Some(pattern) => return !pattern.is_negation,
                        None if *is_outermost => return false,
                        None => {}
                    }
                }
            }
        }
        false
    }
}

impl Source {
    /// Returns a path of the walk relative to the directory.
    fn relative<'a>(&self, path: &[u8], scratch: &'a mut Vec<u8>) -> &'a [u8] {
        scratch.clear();
        scratch.extend_from_slice(&self.prefix);
        scratch.extend_from_slice(&path[self.skip..]);
        scratch
    }
}

/// Returns whether a directory is the root of a repository or of a worktree, where `.git` is a
/// file.
fn is_repository(folder: &Path) -> bool {
    fs::symlink_metadata(folder.join(".git")).is_ok()
}

fn ends_in_slash(path: &Path) -> bool {
    path.as_os_str().as_bytes().ends_with(b"/")
}

/// Returns the path of a directory without its slash, unless it is only a slash.
fn without_slash(path: &[u8]) -> &[u8] {
    path.strip_suffix(b"/").filter(|path| !path.is_empty()).unwrap_or(path)
}

/// Returns whether a directory, whose path ends in a slash, was reached through a link.
fn is_link(path: &[u8]) -> bool {
    statat(CWD, without_slash(path), AtFlags::SYMLINK_NOFOLLOW)
        .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Symlink)
}

/// Adds the patterns of `info/exclude` of a repository, which come before any `.gitignore`.
fn add_exclude_file(known: &mut Vec<Pattern>, repository: &Path, failures: &mut VecDeque<Entry>) {
    let path = git_folder(repository).join("info/exclude");
    add_file(known, &path, open(CWD, &path, OFlags::empty()), failures);
}

/// Returns the common directory of all worktrees of a repository; see `gitrepository-layout(5)`.
fn git_folder(repository: &Path) -> PathBuf {
    let dot_git = repository.join(".git");
    let target_in = |path: &Path, label: &[u8]| {
        let text = fs::read(path).ok()?;
        Some(PathBuf::from(OsStr::from_bytes(text.strip_prefix(label)?.trim_ascii_end())))
    };
    // Joining an absolute path gives that path.
    let own = match target_in(&dot_git, b"gitdir: ") {
        Some(target) => repository.join(target),
        None => dot_git,
    };
    match target_in(&own.join("commondir"), b"") {
        Some(target) => own.join(target),
        None => own,
    }
}

/// Opens a file of rules without following links, as git does for `.gitignore`. Never blocks,
/// because the file may be a named pipe.
fn open(fd: impl AsFd, path: &Path, more: OFlags) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | more;
    Ok(openat(fd, path, flags, Mode::empty())?.into())
}

/// Adds the patterns of a file, which may be missing.
fn add_file(
    known: &mut Vec<Pattern>,
    path: &Path,
    file: io::Result<File>,
    failures: &mut VecDeque<Entry>,
) {
    let mut text = Vec::new();
    match file.and_then(|mut file| file.read_to_end(&mut text)) {
        Ok(_) => known.extend(patterns(&text)),
        Err(error) => {
            use io::ErrorKind::{IsADirectory, NotADirectory, NotFound};
            if !matches!(error.kind(), NotFound | NotADirectory | IsADirectory) {
                failures.push_back(Entry::Failed { path: path.to_owned(), error });
            }
        }
    }
}
