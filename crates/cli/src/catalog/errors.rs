//! Messages for errors of the catalog: `lanesum: PATH: problem`, and at most one hint.

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use indicatif::DecimalBytes;
use lanesum_catalog::{Catalog, CatalogError, DEFAULT_EXCLUDES, IGNORE_FILE};
use lanesum_checksum::error::message;

use super::code::Code;
use super::commands::Commands;
use super::{offline, place};
use crate::args::Where;
use crate::console::{Console, fail_to_write};

/// The system's text for a path that does not exist.
const NO_ENTRY: &str = "No such file or directory";

/// The message of an error.
#[derive(Debug)]
pub struct Problem {
    /// The path of the problem, or none if it is about the command itself.
    pub path: Option<PathBuf>,
    /// The problem.
    pub words: String,
    /// The hint.
    pub hint: Option<String>,
}

/// Returns the exit code of an error.
pub const fn code(error: &CatalogError) -> Code {
    match error {
        // A flipped bit in the first page makes the catalog look like a different file.
        CatalogError::Damaged(_) | CatalogError::NotACatalog(_) => Code::CatalogDamaged,
        CatalogError::Offline { .. } | CatalogError::Busy(_) => Code::Incomplete,
        _ => Code::CouldNotRun,
    }
}

/// Prints an error and its hint.
pub fn tell(error: &CatalogError, place: &Where, console: &mut Console) -> Code {
    if let CatalogError::Output(error) = error {
        fail_to_write(error, console);
        return Code::CouldNotRun;
    }
    let Problem { path, words, hint } = explain(error, Commands { place, console });
    match path {
        Some(path) => console.about(path.as_os_str().as_encoded_bytes(), &words),
        None => console.message(words.as_bytes()),
    }
    if let Some(hint) = hint {
        print_hint(&hint, console);
    }
    code(error)
}

/// Prints an error and its hint. Returns the exit code.
pub fn fail(error: &CatalogError, place: &Where, console: &mut Console) -> ExitCode {
    tell(error, place, console).into()
}

/// Prints `hint: ...` on a separate line.
pub fn print_hint(hint: &str, console: &mut Console) {
    console.raw_message(format!("hint: {hint}\n").as_bytes());
}

/// Returns the message of an error, and its hint.
pub fn explain(error: &CatalogError, commands: Commands<'_>) -> Problem {
    of_catalog(error, commands)
        .or_else(|| of_added(error, commands))
        .or_else(|| of_capacity(error))
        .unwrap_or_else(|| of_path(error, commands))
}

fn about(path: &Path, words: impl Into<String>, hint: impl Into<String>) -> Problem {
    Problem { path: Some(path.to_owned()), words: words.into(), hint: Some(hint.into()) }
}

/// Errors of the catalog itself.
fn of_catalog(error: &CatalogError, commands: Commands<'_>) -> Option<Problem> {
    const OTHER_FILE: &str = "name another file with --catalog FILE";
    let catalog = place::path(commands.place).unwrap_or_default();
    let (words, hint): (String, String) = match error {
        CatalogError::Absent(path) => return Some(absent(path, commands)),
        CatalogError::Locked { holder } => {
            (format!("in use by {holder}"), "try again when it has ended".to_owned())
        }
        CatalogError::Damaged(what) => {
            let is_empty = catalog.metadata().is_ok_and(|it| it.len() == 0);
            let hint = match is_empty {
                true => "restore a copy of the catalog, or delete the file if it is new",
                false => "replace it with a copy made by `lanesum catalog backup`",
            };
            (format!("the catalog is damaged: {what}"), hint.to_owned())
        }
        CatalogError::NotACatalog(path) => {
            let hint = "name the catalog with --catalog FILE, or restore it from a copy";
            return Some(about(path, "not a catalog, or damaged at its start", hint));
        }
        CatalogError::Newer { found, known } => (
            format!("the catalog has version {found}, and this lanesum reads version {known}"),
            "update lanesum".to_owned(),
        ),
        CatalogError::Replaced(path) => {
            return Some(about(
                path,
                "the catalog was replaced meanwhile",
                "run the command again",
            ));
        }
        CatalogError::Network { path, kind } => {
            let words = format!("a catalog cannot be on {kind}");
            return Some(about(path, words, "name a file on a local disk with --catalog FILE"));
        }
        CatalogError::SeveralLinks(path) => {
            let hint = format!("remove its other names, or {OTHER_FILE}");
            return Some(about(path, "the catalog has several hard links", hint));
        }
        CatalogError::Full => {
            ("no space left for the catalog".to_owned(), "free space on its disk".to_owned())
        }
        CatalogError::Disk(error) => (
            format!("cannot read or write the catalog: {error}"),
            "check the disk that it is on".to_owned(),
        ),
        CatalogError::Sqlite(error) => (
            format!("cannot read or write the catalog: {error}"),
            format!("check it: {}", commands.of("catalog check")),
        ),
        _ => return None,
    };
    Some(about(&catalog, words, hint))
}

fn absent(path: &Path, commands: Commands<'_>) -> Problem {
    let hint = match place::of_sudo_user(commands.place) {
        Some(path) => format!("this is root's catalog; for your own: --catalog {path}"),
        None => format!("to create a catalog: {} DIR", commands.of("add")),
    };
    about(path, NO_ENTRY, hint)
}

/// Errors of directories that are added or relocated.
fn of_added(error: &CatalogError, commands: Commands<'_>) -> Option<Problem> {
    let console = commands.console;
    Some(match error {
        CatalogError::NotADirectory(path) => {
            about(path, "not a directory", "name the directory that it is in")
        }
        CatalogError::EmptyDirectory(path) => {
            about(path, "the directory has no files to record", "is its disk mounted?")
        }
        CatalogError::Renamed { path, recorded } => {
            let words = format!("in the catalog as {}", console.shown(recorded));
            about(path, words, commands.relocate(recorded, path))
        }
        CatalogError::Overlaps { path, other }
            if path.canonicalize().ok().as_ref() == Some(other) =>
        {
            let words = "is itself a directory of the catalog, so no other can be relocated to it";
            Problem { path: Some(path.clone()), words: words.to_owned(), hint: None }
        }
        CatalogError::Overlaps { path, other } if is_inside(path, other) => {
            let words = format!("already recorded as part of {}", console.shown(other));
            about(path, words, commands.about("update", other))
        }
        CatalogError::Overlaps { path, other } => {
            let words = format!("contains {}, which is in the catalog", console.shown(other));
            let forget = commands.about("forget", other);
            let hint = format!(
                "add the other directories in {} one by one, or first remove {} from the catalog: \
                 {forget}",
                console.shown(path),
                console.shown(other)
            );
            about(path, words, hint)
        }
        CatalogError::OtherFiles { path, checked, matching } => {
            let words = format!(
                "not the recorded directory: {matching} of {checked} sampled files are as recorded, \
                 fewer than 90 %"
            );
            about(
                path,
                words,
                format!("to add it as a new directory: {}", commands.about("add", path)),
            )
        }
        CatalogError::Pattern(words) => Problem {
            path: None,
            words: words.clone(),
            hint: Some("quote patterns for the shell: --exclude '*.tmp'".to_owned()),
        },
        CatalogError::Keyed(algorithm) => Problem {
            path: None,
            words: format!("{algorithm} needs a key, but a catalog keeps no keys"),
            hint: Some("use an algorithm without a key: -a blake3".to_owned()),
        },
        _ => return None,
    })
}

/// Limits that leave too little time.
fn of_capacity(error: &CatalogError) -> Option<Problem> {
    let within = |window: &Option<lanesum_catalog::Window>| {
        window.map_or_else(String::new, |window| format!(" in {window}"))
    };
    Some(match error {
        CatalogError::TooSlow {
            root, bytes, every_days, needed, rate, window, possible, ..
        } => {
            let [bytes, needed, rate, possible] =
                [*bytes, *needed, *rate, *possible].map(DecimalBytes);
            let within = within(window);
            let words = format!(
                "{bytes} in {every_days} d need {needed} a day, but {rate} a second{within} allow \
                 only {possible}"
            );
            about(root, words, "raise --limit, --every or the hours of --between")
        }
        CatalogError::TooShort { root, longest, rate, window, possible, .. } => {
            let [longest, rate, possible] = [*longest, *rate, *possible].map(DecimalBytes);
            let words = format!(
                "{longest} must be read at once, but {rate} a second in {window} allow only \
                 {possible}"
            );
            about(root, words, "raise --limit or the hours of --between")
        }
        _ => return None,
    })
}

/// Errors of a given path.
fn of_path(error: &CatalogError, commands: Commands<'_>) -> Problem {
    match error {
        CatalogError::NoRoot(path) if path.is_dir() => {
            about(path, "not in the catalog", commands.about("add", path))
        }
        CatalogError::NoRoot(path) => not_in_catalog(path, commands),
        CatalogError::NotARoot { path, root } => {
            let root = commands.console.shown(root);
            let words = format!("only a part of {root}");
            about(path, words, format!("name the whole directory: {root}"))
        }
        CatalogError::NotRecorded(path) if path.symlink_metadata().is_err() => {
            about(path, "not recorded in the catalog", commands.of("status"))
        }
        CatalogError::NotRecorded(path) if !path.is_dir() && !is_regular(path) => Problem {
            path: Some(path.clone()),
            words: "not recorded: not a regular file".to_owned(),
            hint: None,
        },
        CatalogError::NotRecorded(path) if is_forbidden(path) => {
            about(path, "not recorded: permission denied", offline::PERMISSION)
        }
        CatalogError::NotRecorded(path) => {
            about(path, "not recorded", format!("record new files: {}", commands.of("update")))
        }
        CatalogError::Excluded { path, pattern: None } => {
            about(path, format!("not recorded: excluded by {IGNORE_FILE}"), "edit that file")
        }
        CatalogError::Excluded { path, pattern: Some(pattern) } => {
            let option = match DEFAULT_EXCLUDES.iter().any(|it| pattern == it) {
                true => "--no-default-excludes",
                false => "--exclude GLOB",
            };
            let pattern = commands.console.shown(pattern);
            let hint = format!("to change the patterns: {} {option} DIR", commands.of("add"));
            about(path, format!("not recorded: excluded by the pattern {pattern}"), hint)
        }
        CatalogError::NotAFile(path) if path.symlink_metadata().is_ok() => {
            Problem { path: Some(path.clone()), words: "not a regular file".to_owned(), hint: None }
        }
        CatalogError::NotAFile(path) => {
            let hint = format!("if it was deleted: {}", commands.about("forget", path));
            about(path, "missing", hint)
        }
        CatalogError::Busy(path) => {
            about(path, "a program is writing to it", "try again when it is closed")
        }
        CatalogError::Offline { path, reason } => {
            let words = format!("offline: {}", offline::words_of(*reason));
            about(path, words, offline::hint_for(path, *reason, commands))
        }
        CatalogError::Io { path, error } if is_catalog(path, error, commands) => {
            about(path, "a directory, not a catalog", "name the file: --catalog FILE")
        }
        CatalogError::Io { path, error } => Problem {
            path: Some(path.clone()),
            words: message(error),
            hint: unit_alone(path, error).map(str::to_owned),
        },
        error => Problem { path: None, words: error.to_string(), hint: None },
    }
}

/// The message for a path without records, which a command needs.
pub fn not_in_catalog(path: &Path, commands: Commands<'_>) -> Problem {
    let hint = format!("to list the directories in the catalog: {}", commands.of("status"));
    about(path, "not in the catalog", hint)
}

/// Returns the hint for a missing path that looks like a unit separated from its number.
fn unit_alone(path: &Path, error: &io::Error) -> Option<&'static str> {
    const UNITS: [&str; 9] =
        ["day", "days", "week", "weeks", "month", "months", "year", "years", "MB/s"];
    let is_unit = UNITS.iter().any(|unit| path == Path::new(unit));
    (is_unit && error.kind() == io::ErrorKind::NotFound)
        .then_some("a unit follows its number without a space: --every 90d, --limit 80M")
}

/// Returns the error of a path that is in no root. It lists the roots below the path, if there are
/// any.
pub fn name_roots_below(
    error: CatalogError,
    catalog: &Catalog,
    console: &Console,
) -> anyhow::Error {
    let CatalogError::NoRoot(path) = &error else { return error.into() };
    if let Err(missing) = path.symlink_metadata() {
        return CatalogError::Io { path: path.clone(), error: missing }.into();
    }
    let whole = path.canonicalize().unwrap_or_else(|_| path.clone());
    let roots = catalog.roots().unwrap_or_default();
    let below: Vec<_> = roots
        .iter()
        .filter(|root| root.path.starts_with(&whole))
        .map(|root| console.shown(&root.path))
        .collect();
    if below.is_empty() {
        return error.into();
    }
    crate::failure::Hinted {
        words: format!("{}: not in the catalog", console.shown(path)),
        hint: format!("directories in it are: {}", below.join(" ")),
    }
    .into()
}

/// Returns whether a directory is in another one.
fn is_inside(path: &Path, other: &Path) -> bool {
    path.canonicalize().is_ok_and(|path| path.starts_with(other))
}

/// Returns whether a path is a regular file, and not a link.
fn is_regular(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|it| it.is_file())
}

fn is_forbidden(path: &Path) -> bool {
    std::fs::File::open(path).is_err_and(|it| it.kind() == io::ErrorKind::PermissionDenied)
}

/// Returns whether the error is that the catalog's path is a directory.
fn is_catalog(path: &Path, error: &io::Error, commands: Commands<'_>) -> bool {
    error.kind() == io::ErrorKind::IsADirectory
        && place::path(commands.place).is_ok_and(|catalog| catalog == path)
}
