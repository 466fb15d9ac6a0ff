//! What git would ignore, by the rules of `gitignore(5)`.
//!
//! Patterns are the crate `ignore`'s; here is which file of them applies where. The rules in force
//! form a stack, outermost first: of the folders from the repository's root down to the argument
//! (read once), then of the folders being walked. The innermost file with a pattern that matches
//! decides, and within a file the last such pattern. An ignored folder is not entered, so that, as
//! in git, nothing below it can be taken back by a `!`. A repository inside another, known by its
//! `.git`, begins with a clean slate.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{AtFlags, CWD, Mode, OFlags, openat, statat};

use super::{Entry, joined};

/// The rules in force in the current folder.
#[derive(Default)]
pub(super) struct Rules {
    files: Vec<RuleFile>,
    /// The path that is being matched.
    scratch: Vec<u8>,
}

/// The rules of one folder.
struct RuleFile {
    globs: Gitignore,
    /// Whether rules from further out do not apply: it is of the root of a repository.
    is_outermost: bool,
    /// What comes before the walk's paths, from `skip` on, to make them relative to its folder.
    prefix: Vec<u8>,
    /// Length of the part of the walk's paths that leads to its folder.
    skip: usize,
}

impl Rules {
    /// The rules of the folders above an argument, which is a folder itself, if it lies in a
    /// repository. What cannot be read is put to `failures`.
    pub(super) fn above(argument: &Path, failures: &mut VecDeque<Entry>) -> Self {
        let mut rules = Self::default();
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
        let inner: Vec<&Path> =
            absolute.ancestors().skip(1).take_while(|folder| folder.starts_with(root)).collect();
        for folder in inner.into_iter().rev() {
            let mut prefix = absolute
                .strip_prefix(folder)
                .expect("an ancestor is a prefix")
                .as_os_str()
                .as_bytes()
                .to_vec();
            prefix.push(b'/');
            let mut globs = GitignoreBuilder::new("");
            if folder == root {
                add_exclude_file(&mut globs, root, failures);
            }
            let path = folder.join(".gitignore");
            add_file(&mut globs, &path, open(CWD, &path, OFlags::NOFOLLOW), failures);
            rules.push(&globs, folder == root, prefix, skip);
        }
        rules
    }

    /// Adds the rules of a folder that the walk enters; `path` is its path with its slash.
    pub(super) fn enter(&mut self, fd: &OwnedFd, path: &[u8], failures: &mut VecDeque<Entry>) {
        let mut globs = GitignoreBuilder::new("");
        let is_repository = statat(fd, ".git", AtFlags::SYMLINK_NOFOLLOW).is_ok();
        if is_repository {
            add_exclude_file(&mut globs, &joined(path, b""), failures);
        }
        let file = open(fd, Path::new(".gitignore"), OFlags::NOFOLLOW);
        add_file(&mut globs, &joined(path, b".gitignore"), file, failures);
        self.push(&globs, is_repository, Vec::new(), path.len());
    }

    fn push(&mut self, globs: &GitignoreBuilder, is_outermost: bool, prefix: Vec<u8>, skip: usize) {
        // Each glob has been parsed; what can still fail is a set larger than the regex engine's limit.
        let globs = globs.build().unwrap_or_else(|_| Gitignore::empty());
        if is_outermost || !globs.is_empty() {
            self.files.push(RuleFile { globs, is_outermost, prefix, skip });
        }
    }

    /// The walk has come back to the folder whose path with its slash has this length.
    pub(super) fn leave(&mut self, path_len: usize) {
        while self.files.last().is_some_and(|file| file.skip > path_len) {
            self.files.pop();
        }
    }

    /// Whether an entry of the current folder is ignored; `path` is its whole path.
    pub(super) fn ignore(&mut self, path: &[u8], is_folder: bool) -> bool {
        if path.ends_with(b"/.git") {
            return true;
        }
        for file in self.files.iter().rev() {
            self.scratch.clear();
            self.scratch.extend_from_slice(&file.prefix);
            self.scratch.extend_from_slice(&path[file.skip..]);
            match file.globs.matched(Path::new(OsStr::from_bytes(&self.scratch)), is_folder) {
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
                Match::None if file.is_outermost => return false,
                Match::None => {}
            }
        }
        false
    }
}

/// Whether a folder is the root of a repository or of a worktree (where `.git` is a file).
fn is_repository(folder: &Path) -> bool {
    fs::symlink_metadata(folder.join(".git")).is_ok()
}

fn ends_in_slash(path: &Path) -> bool {
    path.as_os_str().as_bytes().ends_with(b"/")
}

/// Adds the patterns of a repository's `info/exclude`, which come before any `.gitignore`.
fn add_exclude_file(
    globs: &mut GitignoreBuilder,
    repository: &Path,
    failures: &mut VecDeque<Entry>,
) {
    let path = git_folder(repository).join("info/exclude");
    add_file(globs, &path, open(CWD, &path, OFlags::empty()), failures);
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

/// Opens a file of rules; git does not follow links named `.gitignore` either. Never waits: whatever
/// stands there may be a named pipe.
fn open(fd: impl AsFd, path: &Path, more: OFlags) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | more;
    Ok(openat(fd, path, flags, Mode::empty())?.into())
}

/// Adds the patterns of a file, which may be missing.
fn add_file(
    globs: &mut GitignoreBuilder,
    path: &Path,
    file: io::Result<File>,
    failures: &mut VecDeque<Entry>,
) {
    let mut text = Vec::new();
    if let Err(error) = file.and_then(|mut file| file.read_to_end(&mut text)) {
        use io::ErrorKind::{IsADirectory, NotADirectory, NotFound};
        if !matches!(error.kind(), NotFound | NotADirectory | IsADirectory) {
            failures.push_back(Entry::Failed { path: path.to_owned(), error });
        }
        return;
    }
    let text = text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&text);
    for (index, line) in text.split(|&byte| byte == b'\n').enumerate() {
        match std::str::from_utf8(trimmed(line)) {
            // A pattern that cannot be parsed matches nothing, as in git.
            Ok(line) => _ = globs.add_line(None, &without_alternatives(line)),
            Err(_) => {
                let reason = format!("line {}: not valid UTF-8; the rule is not used", index + 1);
                let error = io::Error::new(io::ErrorKind::InvalidData, reason);
                failures.push_back(Entry::Failed { path: path.to_owned(), error });
            }
        }
    }
}

/// A line without its carriage return and without the spaces at its end, up to one with a `\`.
fn trimmed(line: &[u8]) -> &[u8] {
    let mut line = line.strip_suffix(b"\r").unwrap_or(line);
    while let Some(shorter) = line.strip_suffix(b" ")
        && !shorter.ends_with(b"\\")
    {
        line = shorter;
    }
    line
}

/// A line whose braces stand for themselves, as they do in git and not in the crate's globs.
fn without_alternatives(line: &str) -> String {
    let mut plain = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let len = match first {
            '\\' => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
            // A set up to its `]`, which is an element when it comes first.
            '[' => {
                let negation = usize::from(rest[1..].starts_with(['!', '^']));
                let elements = 1 + negation;
                let closing = usize::from(rest[elements..].starts_with(']'));
                rest[elements + closing..].find(']').map_or(1, |end| elements + closing + end + 1)
            }
            '{' | '}' => {
                plain.push('\\');
                1
            }
            other => other.len_utf8(),
        };
        plain.push_str(&rest[..len]);
        rest = &rest[len..];
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn braces_outside_sets_are_escaped() {
        for (line, plain) in [
            ("*.{o,a}", r"*.\{o,a\}"),
            (r"\{x}", r"\{x\}"),
            ("[{]}", r"[{]\}"),
            ("[]{}]{", r"[]{}]\{"),
            ("[!]{]{", r"[!]{]\{"),
            ("[{", r"[\{"),
            ("é{\\", r"é\{\"),
        ] {
            assert_eq!(without_alternatives(line), plain, "{line}");
        }
    }
}
