//! What git would leave out: by its own word where it can be asked, otherwise by the rules of
//! `gitignore(5)`.
//!
//! What is in force forms a stack, outermost first. Either git has listed the repository that the
//! current directory lies in, and the list decides (`git.rs`). Or files of patterns do
//! (`pattern.rs`): those of the directories from the repository's root down to the argument (read
//! once), then those of the directories being walked. The innermost file with a pattern that
//! matches decides, and within a file the last such pattern. An ignored directory is not entered,
//! so that, as in git, nothing below it can be taken back by a `!`. A repository inside another,
//! known by its `.git`, begins with a clean slate.
//!
//! Ignore files of another name ([`WalkOptions::ignore_file`](super::WalkOptions::ignore_file)) are
//! a second stack, of patterns alone, without git and without repositories.

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
use super::{Entry, Skip, joined};

/// What is in force in the current directory.
#[derive(Default)]
pub(super) struct Rules {
    /// To be asked; none where there is none.
    git: Option<Git>,
    sources: Vec<Source>,
    /// The path that is being matched.
    scratch: Vec<u8>,
}

/// What decides about paths below a directory.
struct Source {
    decides: Decides,
    /// What comes before the walk's paths, from `skip` on, to make them relative to its directory.
    prefix: Vec<u8>,
    /// Length of the part of the walk's paths that leads to its directory.
    skip: usize,
}

enum Decides {
    /// Git's list of the repository. It has the last word.
    Listing(Listing),
    /// Patterns, and whether those from further out do not apply: these are of the root of a
    /// repository.
    Patterns(Vec<Pattern>, bool),
}

impl Rules {
    /// Those above an argument, which is a directory itself, if it lies in a repository. What
    /// cannot be read is put to `failures`.
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

    /// Takes up what decides in a directory that the walk enters; `path` is its path with its
    /// slash.
    pub(super) fn enter(&mut self, fd: &OwnedFd, path: &[u8], failures: &mut VecDeque<Entry>) {
        let is_repository = || statat(fd, ".git", AtFlags::SYMLINK_NOFOLLOW).is_ok();
        match self.listed(path) {
            Some(Listed::Below) => return,
            Some(Listed::Itself | Listed::Nothing) if !is_repository() && !is_link(path) => {
                // A submodule that is not there, of which git lists nothing.
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
        // To git a link is no directory, so nothing it says is about what is behind one.
        let is_outermost = is_repository || self.listed(path).is_some();
        if is_outermost || !patterns.is_empty() {
            self.push(Decides::Patterns(patterns, is_outermost), Vec::new(), path.len());
        }
    }

    /// Adds the patterns of the ignore file `name` in a directory that the walk enters. One that is
    /// gone by now has none.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(super) fn enter_with(
        &mut self,
        fd: &OwnedFd,
        path: &[u8],
        name: &OsStr,
        follow: bool,
    ) -> Result<(), Errno> {
        let link = if follow { OFlags::empty() } else { OFlags::NOFOLLOW };
        let mut text = Vec::new();
        let read = open(fd, Path::new(name), link)
            .and_then(|mut file| file.read_to_end(&mut text))
            .map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO));
        match read {
            Ok(_) => {
                let patterns = Decides::Patterns(patterns(&text).collect(), false);
                self.push(patterns, Vec::new(), path.len());
                Ok(())
            }
            Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// What git's list says of a directory, where one is in force.
    fn listed(&mut self, path: &[u8]) -> Option<Listed> {
        let Some(source @ Source { decides: Decides::Listing(listing), .. }) = self.sources.last()
        else {
            return None;
        };
        // Its own directory was asked about.
        if path.len() == source.skip {
            return Some(Listed::Below);
        }
        Some(listing.folder(source.relative(path, &mut self.scratch)))
    }

    /// What git lists of a part of a repository that the argument is. It says nothing of the
    /// repository's own directory, nor of what it ignores, and such an argument is walked
    /// nevertheless.
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

    /// What git lists of a repository, if there is git. Says so when it refuses.
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

    /// The walk has come back to the directory whose path with its slash has this length.
    pub(super) fn leave(&mut self, path_len: usize) {
        while self.sources.last().is_some_and(|source| source.skip > path_len) {
            self.sources.pop();
        }
    }

    /// Whether an entry of the current directory is left out; `path` is its whole path.
    pub(super) fn ignore(&mut self, path: &[u8], is_folder: bool) -> bool {
        path.ends_with(b"/.git") || self.matches(path, is_folder)
    }

    /// The same by the sources alone: `.git` is nothing special.
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
    /// A path of the walk's, relative to the directory.
    fn relative<'a>(&self, path: &[u8], scratch: &'a mut Vec<u8>) -> &'a [u8] {
        scratch.clear();
        scratch.extend_from_slice(&self.prefix);
        scratch.extend_from_slice(&path[self.skip..]);
        scratch
    }
}

/// Whether a directory is the root of a repository or of a worktree (where `.git` is a file).
fn is_repository(folder: &Path) -> bool {
    fs::symlink_metadata(folder.join(".git")).is_ok()
}

fn ends_in_slash(path: &Path) -> bool {
    path.as_os_str().as_bytes().ends_with(b"/")
}

/// The path of a directory without its slash, unless it is nothing but that.
fn without_slash(path: &[u8]) -> &[u8] {
    path.strip_suffix(b"/").filter(|path| !path.is_empty()).unwrap_or(path)
}

/// Whether a directory, whose path ends in a slash, was reached through a link.
fn is_link(path: &[u8]) -> bool {
    statat(CWD, without_slash(path), AtFlags::SYMLINK_NOFOLLOW)
        .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Symlink)
}

/// Adds the patterns of a repository's `info/exclude`, which come before any `.gitignore`.
fn add_exclude_file(known: &mut Vec<Pattern>, repository: &Path, failures: &mut VecDeque<Entry>) {
    let path = git_folder(repository).join("info/exclude");
    add_file(known, &path, open(CWD, &path, OFlags::empty()), failures);
}

/// Where a repository keeps what all its worktrees share: see `gitrepository-layout(5)`.
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

/// Opens a file of rules; git does not follow links named `.gitignore` either. Never waits:
/// whatever stands there may be a named pipe.
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
