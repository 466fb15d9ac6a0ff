//! Hints: what the user can do about a problem. One line each, a command or a short sentence.

use std::error::Error;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use lanesum_bag::BagError;
use lanesum_checksum::Algorithm;
use lanesum_checksum::check::{List, ListError};
use lanesum_checksum::etag::PartSize;
use lanesum_checksum::hints::{Doubt, Hint, Lookup, NotFound, Says, Written, is_escaped};
use lanesum_checksum::journal::JournalError;
use lanesum_checksum::walk::Skip;
use lanesum_list::Digest;
use lanesum_list::formats::{CannotHold, Closest, Kind, Wrong};
use lanesum_list::start::{self, NotAList};

use crate::console::{Console, shown};
use crate::failure::Hinted;

/// The names of options in hints.
pub const SAYS: Says =
    Says { algorithm: |it| format!("-a {it}"), key: "--key-file FILE", bagit: "--from bagit" };

/// Returns a path as the value of an option. A path that begins with a dash needs `./`.
pub fn value(path: &Path) -> String {
    let is_dashed = path.as_os_str().as_bytes().starts_with(b"-");
    shown(if is_dashed { Path::new(".").join(path) } else { path.to_owned() })
}

/// Returns the options for the lines of a list, as on the command line.
pub fn reading(algorithm: Option<Algorithm>, from: Option<Kind>, zero: bool) -> String {
    let algorithm = algorithm.map(|algorithm| format!(" -a {algorithm}"));
    let from = from.map(|from| format!(" --from {from}"));
    let zero = if zero { " --zero" } else { "" };
    format!("{}{}{zero}", algorithm.unwrap_or_default(), from.unwrap_or_default())
}

/// A command that reads a list from standard input, for hints.
#[derive(Clone, Debug)]
pub struct Command {
    /// The command with the options for reading lists, without the directory of names.
    pub words: String,
    /// The operand for standard input. Some commands need none.
    pub operand: &'static str,
    /// The options with which `lanesum compare` with a directory does the same, without the
    /// directory of names. None if it cannot.
    pub compared: Option<String>,
}

impl Command {
    /// The command with the directory of names.
    pub fn in_folder(&self, folder: Option<&Path>) -> String {
        let root = folder.map(|folder| format!(" --root {}", value(folder)));
        format!("{}{}{}", self.words, root.unwrap_or_default(), self.operand)
    }
}

/// A problem with at most one hint. As an error it has exit code 1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{words}")]
pub struct Problem {
    pub words: String,
    pub hint: Option<String>,
}

impl Problem {
    /// Makes a problem with a hint.
    pub fn new(words: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { words: words.into(), hint: Some(hint.into()) }
    }

    /// Prints `lanesum: NAME: problem`, and the hint on a separate line.
    pub fn print(&self, name: &[u8], console: &mut Console) {
        console.about(name, &self.words);
        if let Some(hint) = &self.hint {
            console.hint(hint);
        }
    }
}

impl From<Doubt> for Problem {
    fn from(Doubt { words, hint }: Doubt) -> Self {
        Self::new(words, hint)
    }
}

/// Returns the hint for an error, if there is one. Ignores the causes of the error.
pub fn of_error(error: &(dyn Error + 'static)) -> Option<String> {
    if let Some(Hinted { hint, .. }) = error.downcast_ref() {
        return Some(hint.clone());
    }
    if let Some(Problem { hint, .. }) = error.downcast_ref() {
        return hint.clone();
    }
    let hint = if let Some(wrong) = error.downcast_ref() {
        of_wrong(wrong)
    } else if let Some(cannot) = error.downcast_ref() {
        of_cannot(cannot)
    } else if let Some(error) = error.downcast_ref() {
        of_journal(error)
    } else if let Some(ListError::Changed) = error.downcast_ref() {
        Some(AT_REST)
    } else {
        None
    };
    hint.map(str::to_owned)
}

/// Returns the hint for an invalid entry of a list.
pub const fn of_wrong(wrong: &Wrong) -> Option<&'static str> {
    Some(match wrong {
        Wrong::Skipped => "write it as \"DIGEST  NAME\", with two spaces",
        Wrong::NothingInHeader => "name the columns md5, sha256 or size, or algorithm and hash",
        Wrong::NoName => "for `aws s3api head-object` or a pointer of Git LFS: --name NAME",
        Wrong::NoObject => "check the names of the bucket and the prefix",
        Wrong::PartSize => ONE_PART_SIZE,
        Wrong::OtherObjects => "use the output of `aws s3api list-objects-v2`",
        Wrong::Truncated => "list all objects: leave out --max-items",
        Wrong::Prefixes => "list all objects: leave out --delimiter, or use --recursive",
        _ => return None,
    })
}

/// Returns the hint for a value that a format cannot hold.
pub const fn of_cannot(cannot: &CannotHold) -> Option<&'static str> {
    Some(match cannot {
        CannotHold::NotOne(_) => "use one algorithm, or --format tag, csv or jsonl",
        CannotHold::Name { .. } => "the formats csv, jsonl and tag can hold it",
        CannotHold::EmptyName(_) => "the format tag can hold it",
        CannotHold::Base64(_) => "the formats gnu, tag, csv, json and jsonl can hold it",
        CannotHold::NulEnding(_) => "lines of the formats gnu and tag can",
        _ => return None,
    })
}

const fn of_journal(error: &JournalError) -> Option<&'static str> {
    Some(match error {
        JournalError::NotAJournal => "choose another name",
        JournalError::OtherKey => "use the same key, or remove the file to start again",
        JournalError::Link => "name the file that it leads to",
        JournalError::InUse => "wait until that run ends, or choose another name",
        _ => return None,
    })
}

/// Returns the hint for a file without a digest.
pub const fn of_file(error: &lanesum_checksum::Error) -> Option<&'static str> {
    match error {
        lanesum_checksum::Error::NoDirect => Some("leave out --io direct"),
        _ => None,
    }
}

/// Returns the hint for an entry that a walk skips.
pub fn of_skip(path: &Path, why: Skip) -> Option<String> {
    let repository =
        || path.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match why {
        Skip::ForeignGit => Some(format!(
            "git config --global --add safe.directory {}",
            shown(std::path::absolute(repository()).unwrap_or_else(|_| repository().to_owned()))
        )),
        Skip::BrokenGit => Some(format!("git -C {} status", value(repository()))),
        _ => None,
    }
}

/// The lines of `bagit.txt`, as an argument of `printf`.
const DECLARATION: &str = r"BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n";

/// Returns the hint for a bag that is not created or updated. `folder` is the bag.
pub fn of_bag(error: &BagError, folder: &Path) -> Option<String> {
    let hint = match error {
        BagError::InPayload(_) => "create the bag outside of it",
        BagError::IsABag => return Some(format!("lanesum bag update {}", value(folder))),
        BagError::NotABag => return Some(format!("lanesum bag create {}", value(folder))),
        BagError::NoDeclaration => {
            let file = value(&folder.join("bagit.txt"));
            return Some(format!("to restore bagit.txt: printf '{DECLARATION}' >{file}"));
        }
        BagError::OnlyManifest(_) => "restore them, or move the manifest elsewhere",
        BagError::HalfDone => return Some(format!("lanesum bag create {}", value(folder))),
        BagError::Busy => "wait until it ends",
        BagError::Algorithm(_) => "use md5, sha1, sha224, sha256, sha384 or sha512",
        BagError::Encoding => "convert them to UTF-8, and say so in bagit.txt",
        BagError::InTheWay(_) => "move it elsewhere",
        BagError::NoManifest => {
            "restore the manifest, or accept all files as they are: -a ALG --accept"
        }
        BagError::NotUpdated(_) => "correct these problems first; --accept does not record them",
        BagError::Lost(_) | BagError::Untrusted(_) => {
            "restore it from a backup, or accept the bag as it is: --accept"
        }
        BagError::Doubtful => {
            "restore the files from a backup, or record all as they are: --accept"
        }
        BagError::Gone => "restore the files from a backup, or record the loss: --accept",
        BagError::Unfinished(_) => "run the same command again",
        BagError::Stuck { .. } => "solve the problem, then run the same command again",
        _ => return None,
    };
    Some(hint.to_owned())
}

/// Returns the problem of a list that could not be read. `command` is the command that read it.
pub fn of_unread(list: &List, error: &ListError, command: &str) -> Problem {
    if let ListError::NotAList(what) = error
        && let Some(filter) = what.filter()
    {
        return through(list, &what.to_string(), filter, command);
    }
    let words = if is_folder(error) { A_FOLDER.to_owned() } else { error.to_string() };
    Problem { words, hint: of_list(error) }
}

/// Returns the problem of a list to check that is a directory.
pub fn of_folder(list: &List, error: &ListError) -> Option<Problem> {
    let List::Path(folder) = list else { return None };
    let hint = || format!("lanesum compare LIST {}", value(folder));
    is_folder(error).then(|| Problem::new(A_FOLDER, hint()))
}

const AT_REST: &str = "try again when no program writes to it";

/// Returns the hint for a list that was not read.
fn of_list(error: &ListError) -> Option<String> {
    let hint = match error {
        ListError::NotAList(NotAList::NulEnded) => "use --zero",
        ListError::NotAList(NotAList::NewlineEnded) => "leave out --zero",
        ListError::NotAList(NotAList::OfDvc) => "dvc status",
        ListError::NotAList(NotAList::OfPackages { check, .. }) => check,
        ListError::NotAList(NotAList::OfWindows) => {
            "in PowerShell: Get-FileHash -A MD5 * | Export-Csv -Encoding UTF8 list.csv"
        }
        ListError::NoKey(_) => "lanesum check --key-file FILE",
        ListError::NothingCame => "check the command that writes the list",
        ListError::Changed => AT_REST,
        _ => return None,
    };
    Some(hint.to_owned())
}

const A_FOLDER: &str = "a directory, not a checksum list";

fn is_folder(error: &ListError) -> bool {
    matches!(error, ListError::Open(error) | ListError::Read(error)
        if error.kind() == io::ErrorKind::IsADirectory)
}

/// Returns the problem of a list in an unknown format.
pub fn of_unknown_format(list: &List, closest: Option<Closest>) -> Problem {
    let Some(closest) = closest else {
        return Problem::new("no checksum lines", "check that it is a checksum list");
    };
    let words = format!("no checksum lines: {closest}");
    let hint = match (closest.begins_in(), list) {
        (Some(line), List::Path(path)) => {
            format!("tail -n +{line} {} | lanesum check", value(path))
        }
        _ => "check that it is a checksum list".to_owned(),
    };
    Problem::new(words, hint)
}

/// Returns the problem of a list whose names are spelled in this way. `command` can read the
/// converted list.
pub fn of_backslashes(list: &List, command: &str) -> Problem {
    of_windows(b"", list, command)
}

/// Returns the filter that converts the names of a list.
pub fn of_written(written: &Written, list: &List, command: &str) -> Problem {
    let filter = match written {
        Written::Apart => "uconv -x any-nfc".to_owned(),
        Written::InOne => "uconv -x any-nfd".to_owned(),
        Written::Encoded(page) => format!("iconv -f {} -t UTF-8", page.iconv()),
        Written::Utf8(page) => format!("iconv -f UTF-8 -t {}", page.iconv()),
        // The blanks between digest and name, and those behind the name.
        Written::Blanks => sed(r"s|^\(\S*\)\s\s*|\1  |; s|\s*$||", command),
        Written::Case(_) => {
            return Problem::new(
                written.words(),
                "rename the file, or correct the name in the list",
            );
        }
        Written::OfWindows(before) => return of_windows(before, list, command),
    };
    through(list, &written.words(), &filter, command)
}

/// Returns the problem of a list with Windows paths.
fn of_windows(before: &[u8], list: &List, command: &str) -> Problem {
    let words = Written::OfWindows(Vec::new()).words();
    let is_escaped = is_escaped(list);
    if before.is_empty() && !is_escaped {
        return through(list, &words, "tr '\\\\' /", command);
    }
    let mark = if is_escaped { r"s|^\\||; " } else { "" };
    let slashes = format!(r"{mark}s|\\\\*|/|g");
    if before.is_empty() {
        return through(list, &words, &sed(&slashes, command), command);
    }
    let told = shown(OsStr::from_bytes(before));
    let words = format!("{words}, and begin with {told}, unlike those of the files");
    match without(before) {
        Some(without) => {
            through(list, &words, &sed(&format!("{slashes}; {without}"), command), command)
        }
        None => Problem { words, hint: None },
    }
}

/// Returns the `sed` script that removes this prefix from names, if there is a simple one.
fn without(before: &[u8]) -> Option<String> {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b" :/_-".contains(byte);
    before.iter().all(is_plain).then(|| format!("s|{}||", String::from_utf8_lossy(before)))
}

/// Returns the problem of a list of digests without names. If there is only one digest, and the
/// list has the name of an existing file, the digest is that of this file.
pub fn of_nameless(place: Lookup<'_>, digests: u64, command: &Command) -> Problem {
    let name = match place.list {
        List::Path(path) if digests == 1 => name_of_list(path, place.folder()),
        _ => None,
    };
    if let Some(name) = name {
        let command = command.in_folder(place.folder());
        let filter = with_name(&name, &command);
        return through(place.list, "contains a digest, but no name", &filter, &command);
    }
    let words = if digests == 1 { "a digest, but no name" } else { "digests without file names" };
    let words = format!("contains {words}; expected \"DIGEST  NAME\"");
    Problem { words, hint: None }
}

/// Returns the problem of a list in UTF-16 with one digest and no name, as PowerShell writes it, or
/// `None` for other lists.
pub fn of_nameless_utf16(
    place: Lookup<'_>,
    error: &ListError,
    command: &Command,
) -> Option<Problem> {
    let (List::Path(path), ListError::NotAList(what @ NotAList::Utf16 { filter })) =
        (place.list, error)
    else {
        return None;
    };
    let mut text = String::new();
    let mut list = File::open(path).ok()?.take(start::HEAD as u64);
    let mut bytes = Vec::new();
    list.read_to_end(&mut bytes).ok()?;
    // ASCII in either byte order, without the mark.
    text.extend(bytes.into_iter().filter(u8::is_ascii).filter(|&it| it != 0).map(char::from));
    let text = text.trim();
    let is_digest = |it: Algorithm| Digest::from_hex(it, text.as_bytes()).is_some();
    let is_alone = Algorithm::ALL.into_iter().any(is_digest);
    let name = name_of_list(path, place.folder()).filter(|_| is_alone)?;
    let command = command.in_folder(place.folder());
    let (path, named) = (shown(path), with_name(&name, &command));
    let hint = format!("{filter} <{path} | {named} | lanesum {command}");
    Some(Problem::new(format!("{what}; contains a digest, but no name"), hint))
}

/// Returns the filter that adds a name to a digest.
fn with_name(name: &str, command: &str) -> String {
    sed(&format!(r"/^\s*$/d; s|\s*$|  {name}|"), command)
}

/// Returns the name of the list without its last extension, if a file has this name and a script
/// for `sed` can contain it unchanged.
fn name_of_list(list: &Path, folder: Option<&Path>) -> Option<String> {
    list.extension()?;
    let name = match folder {
        Some(_) => PathBuf::from(list.file_stem()?),
        None => list.with_extension(""),
    };
    let text = name.to_str()?;
    let told = shown(&name);
    // Names that need quotes are excluded: they could contain special characters of the shell, a
    // terminal or a list line.
    let is_plain = told.trim_matches('\'') == text && !text.contains(['\\', '&', '|', '\'']);
    let is_there = folder.map_or_else(|| name.clone(), |folder| folder.join(&name)).is_file();
    (is_plain && is_there && text != "-").then(|| text.to_owned())
}

/// Returns a filter for the lines of the list that this command reads.
fn sed(script: &str, command: &str) -> String {
    let lines = if command.contains(" --zero") { " -z" } else { "" };
    format!("sed{lines} '{script}'")
}

/// Returns a problem of a list whose hint is to filter the list first.
fn through(list: &List, words: &str, filter: &str, command: &str) -> Problem {
    let hint = match list {
        List::Stdin => format!("convert it first: {filter} | lanesum {command}"),
        List::Path(path) => format!("{filter} <{} | lanesum {command}", shown(path)),
    };
    Problem::new(words, hint)
}

const ONE_PART_SIZE: &str =
    "`lanesum etag -p SIZE`, with one size, prints lists that can be checked";

/// Returns whether a name looks like one of `etag` with several part sizes: `16MiB  FILE`.
fn begins_with_part_size(name: &[u8]) -> bool {
    let before = str::from_utf8(name).ok().and_then(|name| name.split_once("  "));
    before.is_some_and(|(size, _)| size.parse::<PartSize>().is_ok())
}

/// Prints a common cause of missing names, and a hint. `entries` is the number of entries in the
/// whole list.
pub fn tell(
    not_found: &NotFound,
    place: Lookup<'_>,
    entries: u64,
    command: &Command,
    console: &mut Console,
) {
    let list = place.list.name();
    let hints = not_found.hints(place, entries);
    if hints.is_empty() && entries > 1 && not_found.count() == entries && place.folder().is_none() {
        let problem = match begins_with_part_size(not_found.first()) {
            true => Problem::new("part sizes before the names", ONE_PART_SIZE),
            false => Problem::new(
                format!("all of its {entries} files are missing"),
                "--root DIR names the directory of the files",
            ),
        };
        problem.print(list, console);
    }
    for hint in hints {
        match hint {
            Hint::Told { folder, is_here, is_beside } => {
                let folder = console.shown(OsStr::from_bytes(folder));
                let words = format!("its files were in {folder}");
                let hint = match (is_here, is_beside) {
                    (true, _) => Some("the files are in the current directory: --root ."),
                    (false, true) => None,
                    (false, false) => Some("--root DIR names the directory of the files"),
                };
                Problem { words, hint: hint.map(str::to_owned) }.print(list, console);
            }
            Hint::Beside(folder) => {
                let hint = format!("use --beside, or --root {}", value(folder));
                Problem::new("its files are in the directory of the list", hint)
                    .print(list, console);
            }
            Hint::Without { prefix, folder, fitting } => {
                let prefix_shown = console.shown(OsStr::from_bytes(prefix));
                let folder = match folder == Path::new(".") {
                    true => "the current directory".to_owned(),
                    false => console.shown(folder),
                };
                let words = format!(
                    "its files are in {folder}, but their names in the list begin with {prefix_shown}"
                );
                // The list names a different directory than the one in which names are looked up.
                let told_elsewhere = not_found.listed_folder().map(|_| Path::new("."));
                let problem = match (fitting, &command.compared, without(prefix)) {
                    (Some(fitting), Some(options), _) => {
                        Problem::new(words, compare_without(place.list, &fitting, options))
                    }
                    (Some(_), None, Some(without)) => {
                        let command = command.in_folder(place.folder().or(told_elsewhere));
                        through(place.list, &words, &sed(&without, &command), &command)
                    }
                    _ => Problem { words, hint: None },
                };
                problem.print(list, console);
            }
            Hint::Written { name, written, folder } => {
                let problem = of_written(written, place.list, &command.in_folder(folder));
                let about = if let Written::OfWindows(_) = written { list } else { name };
                problem.print(about, console);
            }
            Hint::Backslashes => {
                let command = command.in_folder(place.folder());
                of_backslashes(place.list, &command).print(list, console);
            }
        }
    }
}

/// `compare --strip` removes the common directory of all names. So the hint names the directory
/// that then matches.
fn compare_without(list: &List, fitting: &Path, options: &str) -> String {
    let (begin, list) = match list {
        List::Stdin => ("pipe it into ", "-".to_owned()),
        List::Path(path) => ("", value(path)),
    };
    format!("{begin}lanesum compare{options} --strip {list} {}", value(fitting))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hint_is_a_pipeline_from_the_list() {
        let hint = of_backslashes(&List::Path("my list".into()), "check").hint.unwrap();
        assert_eq!(hint, "tr '\\\\' / <'my list' | lanesum check");
        let hint = of_backslashes(&List::Stdin, "check").hint.unwrap();
        assert_eq!(hint, "convert it first: tr '\\\\' / | lanesum check");
    }
}
