//! Asks git for the files of a repository: those that it tracks and those that it does not ignore.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read as _, Seek as _};
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use rustix::fs::{MemfdFlags, memfd_create};

/// The git variables that are passed on: its configuration, and how it finds a repository. Others
/// could lead it to another repository or index.
const KEPT_VARIABLES: [&str; 3] =
    ["GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM", "GIT_EXEC_PATH"];
const KEPT_PREFIX: &[u8] = b"GIT_CONFIG_";

/// A git program.
#[derive(Clone, Debug)]
pub(super) struct Git(PathBuf);

/// The files that git lists in a repository, with paths relative to one of its directories.
#[derive(Debug, Default)]
pub(super) struct Listing {
    /// The joined paths.
    bytes: Vec<u8>,
    /// The place of each path, in order.
    paths: Vec<Range<usize>>,
}

/// The content of a listing for a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Listed {
    /// The listing has paths below the directory.
    Below,
    /// The path is a single entry: a nested repository or a link.
    Itself,
    Nothing,
}

/// The reason why there is no listing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// The program was not found.
    NoGit,
    /// The repository belongs to another user.
    Foreign,
    /// Any other error.
    Broken,
}

impl Git {
    pub(super) fn new(program: PathBuf) -> Self {
        Self(program)
    }

    /// Returns the output of `git ls-files --cached --others --exclude-standard` in a directory or
    /// a part of it, and its warnings.
    pub(super) fn list(
        &self,
        folder: &Path,
        part: Option<&Path>,
    ) -> Result<(Listing, Vec<String>), Refusal> {
        let mut command = self.command(folder);
        command.args(["--literal-pathspecs", "ls-files", "-z"]);
        command.args(["--cached", "--others", "--exclude-standard", "--"]);
        let output = output(command.args(part)).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied => Refusal::NoGit,
            _ => Refusal::Broken,
        })?;
        let words = String::from_utf8_lossy(&output.stderr);
        if !output.status.success() {
            // The messages of git before and since 2.38.
            let is_foreign = ["unsafe repository", "dubious ownership"];
            let is_foreign = is_foreign.iter().any(|phrase| words.contains(phrase));
            return Err(if is_foreign { Refusal::Foreign } else { Refusal::Broken });
        }
        let warnings = words.lines().filter_map(|line| line.strip_prefix("warning: "));
        Ok((Listing::new(output.stdout), warnings.map(str::to_owned).collect()))
    }

    /// Returns whether the rules of a repository ignore a part of it or one of its parents.
    pub(super) fn ignores(&self, repository: &Path, part: &Path) -> bool {
        let mut command = self.command(repository);
        // The command does not accept literal paths. A path with this prefix has no pattern magic.
        let part = Path::new(".").join(part);
        command.args(["check-ignore", "--quiet", "--no-index", "--"]).arg(part);
        output(&mut command).is_ok_and(|output| output.status.success())
    }

    fn command(&self, folder: &Path) -> Command {
        let mut command = Command::new(&self.0);
        command.arg("-C").arg(folder);
        // A repository could name a program as its file system monitor.
        command.args(["-c", "core.fsmonitor="]);
        command.stdin(Stdio::null()).env("LC_ALL", "C").env("GIT_TERMINAL_PROMPT", "0");
        for (name, _) in std::env::vars_os() {
            let bytes = name.as_bytes();
            let is_kept = bytes.starts_with(KEPT_PREFIX)
                || KEPT_VARIABLES.iter().any(|kept| name == OsStr::new(kept));
            if bytes.starts_with(b"GIT_") && bytes != b"GIT_TERMINAL_PROMPT" && !is_kept {
                command.env_remove(name);
            }
        }
        command
    }
}

/// Runs a command to its end. Returns its output.
///
/// The output goes to memory files, not to pipes. A pipe ends only when no process can write to it.
/// A worker that copies its descriptor table meanwhile would keep the write end. The worker would
/// wait for files, and the walk would wait for the worker.
fn output(command: &mut Command) -> io::Result<Output> {
    let memory = || memfd_create("git", MemfdFlags::CLOEXEC).map(File::from);
    let (stdout, stderr) = (memory()?, memory()?);
    command.stdout(stdout.try_clone()?).stderr(stderr.try_clone()?);
    let status = command.status()?;
    let read = |mut file: File| {
        let mut bytes = Vec::new();
        file.rewind()?;
        file.read_to_end(&mut bytes)?;
        // A worker may keep it as well.
        file.set_len(0).map(|()| bytes)
    };
    Ok(Output { status, stdout: read(stdout)?, stderr: read(stderr)? })
}

impl Listing {
    /// Makes a listing from NUL-terminated paths.
    fn new(bytes: Vec<u8>) -> Self {
        let mut paths: Vec<_> = memchr::memchr_iter(0, &bytes)
            .scan(0, |start, end| Some(std::mem::replace(start, end + 1)..end))
            .collect();
        // git returns two sorted parts, which this sort detects.
        paths.sort_by(|a, b| bytes[a.clone()].cmp(&bytes[b.clone()]));
        Self { bytes, paths }
    }

    /// Returns the path at an index.
    fn at(&self, place: usize) -> Option<&[u8]> {
        self.paths.get(place).map(|range| &self.bytes[range.clone()])
    }

    /// Returns the index of a path, or where it would be.
    fn place(&self, path: &[u8]) -> usize {
        self.paths.partition_point(|range| &self.bytes[range.clone()] < path)
    }

    pub(super) fn has_file(&self, path: &[u8]) -> bool {
        self.at(self.place(path)) == Some(path)
    }

    /// Returns the content for a directory, whose path ends in `/`.
    pub(super) fn folder(&self, path: &[u8]) -> Listed {
        let name = path.strip_suffix(b"/").unwrap_or(path);
        let place = self.place(path);
        match self.at(place) {
            Some(found) if found == path => Listed::Itself,
            Some(found) if found.starts_with(path) => Listed::Below,
            _ if self.has_file(name) => Listed::Itself,
            _ => Listed::Nothing,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listing_has_files_directories_and_repositories() {
        let listing = Listing::new(b"b/c\0sub/\0a\0b-\0b/d/e\0link\0a\0".to_vec());
        for (path, is_listed) in
            [("a", true), ("b-", true), ("b/c", true), ("b/d/e", true), ("b", false), ("c", false)]
        {
            assert_eq!(listing.has_file(path.as_bytes()), is_listed, "{path}");
        }
        for (path, listed) in [
            ("b/", Listed::Below),
            ("b/d/", Listed::Below),
            ("sub/", Listed::Itself),
            ("link/", Listed::Itself),
            ("b/c/", Listed::Itself),
            ("c/", Listed::Nothing),
            ("z/", Listed::Nothing),
        ] {
            assert_eq!(listing.folder(path.as_bytes()), listed, "{path}");
        }
        assert!(!Listing::default().has_file(b"a"));
    }
}
