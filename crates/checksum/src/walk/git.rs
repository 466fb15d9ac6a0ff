//! What git itself says belongs to a repository: what it tracks, and what it does not ignore.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read as _, Seek as _};
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use rustix::fs::{MemfdFlags, memfd_create};

/// The variables of git's own that it may see: its configuration, and how it looks for a
/// repository. Any other would lead it to another repository or another index than those of the
/// directory.
const KEPT_VARIABLES: [&str; 3] =
    ["GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM", "GIT_EXEC_PATH"];
const KEPT_PREFIX: &[u8] = b"GIT_CONFIG_";

/// A git program.
#[derive(Clone, Debug)]
pub(super) struct Git(PathBuf);

/// What git lists of a repository, in paths relative to a directory of it.
#[derive(Debug, Default)]
pub(super) struct Listing {
    /// The paths, one after another.
    bytes: Vec<u8>,
    /// Where each is, in their order.
    paths: Vec<Range<usize>>,
}

/// What a listing says of a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Listed {
    /// There are paths below it.
    Below,
    /// It is one entry: a repository of its own, or a link.
    Itself,
    Nothing,
}

/// Why there is no listing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// There is no such program.
    NoGit,
    /// The repository is somebody else's.
    Foreign,
    /// Anything else.
    Broken,
}

impl Git {
    pub(super) fn new(program: PathBuf) -> Self {
        Self(program)
    }

    /// What `git ls-files --cached --others --exclude-standard` lists in a directory, or in a part
    /// of it only; and what it warns of.
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
            // As git has put it before and since 2.38.
            let is_foreign = ["unsafe repository", "dubious ownership"];
            let is_foreign = is_foreign.iter().any(|phrase| words.contains(phrase));
            return Err(if is_foreign { Refusal::Foreign } else { Refusal::Broken });
        }
        let warnings = words.lines().filter_map(|line| line.strip_prefix("warning: "));
        Ok((Listing::new(output.stdout), warnings.map(str::to_owned).collect()))
    }

    /// Whether the rules of a repository ignore a part of it, or a directory above that.
    pub(super) fn ignores(&self, repository: &Path, part: &Path) -> bool {
        let mut command = self.command(repository);
        // It does not take literal paths; one that begins so has no magic.
        let part = Path::new(".").join(part);
        command.args(["check-ignore", "--quiet", "--no-index", "--"]).arg(part);
        output(&mut command).is_ok_and(|output| output.status.success())
    }

    fn command(&self, folder: &Path) -> Command {
        let mut command = Command::new(&self.0);
        command.arg("-C").arg(folder);
        // A monitor of the file system is a program that a repository names.
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

/// Runs a command to its end; gives what it wrote.
///
/// It writes into memory, not into pipes: a pipe has an end only when no process can write to it
/// any more, and a worker that gives itself a table of descriptors of its own meanwhile keeps the
/// end that is written to for as long as it lives. It would then wait for files, and the walk for
/// it.
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
    /// From paths, each ended by NUL.
    fn new(bytes: Vec<u8>) -> Self {
        let mut paths: Vec<_> = memchr::memchr_iter(0, &bytes)
            .scan(0, |start, end| Some(std::mem::replace(start, end + 1)..end))
            .collect();
        // Two sorted parts come from git, which this finds out.
        paths.sort_by(|a, b| bytes[a.clone()].cmp(&bytes[b.clone()]));
        Self { bytes, paths }
    }

    /// The path at a place, as far as there is one.
    fn at(&self, place: usize) -> Option<&[u8]> {
        self.paths.get(place).map(|range| &self.bytes[range.clone()])
    }

    /// Where a path is, or would be.
    fn place(&self, path: &[u8]) -> usize {
        self.paths.partition_point(|range| &self.bytes[range.clone()] < path)
    }

    pub(super) fn has_file(&self, path: &[u8]) -> bool {
        self.at(self.place(path)) == Some(path)
    }

    /// About a directory, whose path ends in `/`.
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
