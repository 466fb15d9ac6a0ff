//! What to do about lists that others wrote: words that several verbs say.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use lanesum_checksum::Algorithm;
use lanesum_checksum::check::{List, ListError};
use lanesum_checksum::hints::{Hint, Lookup, NotFound, Says, Written, is_escaped};
use lanesum_list::formats::Kind;

use crate::console::{Console, shown};

/// How remedies are called here.
pub const SAYS: Says =
    Says { algorithm: |it| format!("-a {it}"), key: "--key-file FILE", bagit: "--from bagit" };

/// A path as the value of an option: what begins with a dash would be one itself.
pub fn value(path: &Path) -> String {
    let is_dashed = path.as_os_str().as_bytes().starts_with(b"-");
    shown(if is_dashed { Path::new(".").join(path) } else { path.to_owned() })
}

/// The options that say how the lines of a list are read, as a command line has them.
pub fn reading(algorithm: Option<Algorithm>, from: Option<Kind>, zero: bool) -> String {
    let algorithm = algorithm.map(|algorithm| format!(" -a {algorithm}"));
    let from = from.map(|from| format!(" --from {from}"));
    let zero = if zero { " --zero" } else { "" };
    format!("{}{}{zero}", algorithm.unwrap_or_default(), from.unwrap_or_default())
}

/// A command that reads a list from standard input, as it is to be typed.
#[derive(Clone, Debug)]
pub struct Command {
    /// Its name, with the options that say how lists are read, but for the folder of names.
    pub words: String,
    /// What stands for standard input: some read it without a word.
    pub operand: &'static str,
    /// With which options `lanesum compare` with a folder does what it does, but for names; none
    /// where it cannot.
    pub compared: Option<String>,
}

impl Command {
    /// With the folder that names are looked up in.
    pub fn in_folder(&self, folder: Option<&Path>) -> String {
        let root = folder.map(|folder| format!(" --root {}", value(folder)));
        format!("{}{}{}", self.words, root.unwrap_or_default(), self.operand)
    }
}

/// Why a list could not be read, with the filter through which it is to go before the command.
pub fn of_unread(list: &List, error: &ListError, command: &str) -> String {
    if let Some((words, filter)) = filtered(error) {
        return through(list, &words, filter, command);
    }
    match (is_folder(error), list) {
        (true, List::Path(folder)) => {
            let folder = value(folder);
            format!("{A_FOLDER}: lanesum compare LIST {folder} holds a list against it")
        }
        _ => error.to_string(),
    }
}

/// The same, of a command that has no such place.
pub fn of_unread_by_itself(list: &List, error: &ListError) -> String {
    match (filtered(error), list) {
        (Some((words, filter)), List::Path(path)) => {
            format!("{words}; {filter} <{} makes a list of it", shown(path))
        }
        _ if is_folder(error) => A_FOLDER.to_owned(),
        _ => error.to_string(),
    }
}

/// What a list is that a filter makes one of, and the filter.
fn filtered(error: &ListError) -> Option<(String, &'static str)> {
    let ListError::NotAList(what) = error else { return None };
    let told = what.to_string();
    let words = told.split_once("; ").map_or(&*told, |(words, _)| words);
    Some((words.to_owned(), what.filter()?))
}

const A_FOLDER: &str = "is a folder, not a list";

fn is_folder(error: &ListError) -> bool {
    matches!(error, ListError::Open(error) | ListError::Read(error)
        if error.kind() == io::ErrorKind::IsADirectory)
}

/// Of a list whose names are so, before the command that read it, which is to read it once more.
pub fn of_backslashes(list: &List, command: &str) -> String {
    of_windows(b"", list, command)
}

/// What to do about a list with names that are written so.
pub fn of_written(written: &Written, list: &List, command: &str) -> String {
    let filter = match written {
        Written::Apart => "uconv -x any-nfc",
        Written::InOne => "uconv -x any-nfd",
        Written::Latin1 => "iconv -f LATIN1 -t UTF-8",
        Written::Utf8 => "iconv -f UTF-8 -t LATIN1",
        Written::OfWindows(before) => return of_windows(before, list, command),
    };
    through(list, written.words(), filter, command)
}

/// Of a list whose names are those of Windows, behind this.
fn of_windows(before: &[u8], list: &List, command: &str) -> String {
    let words = Written::OfWindows(Vec::new()).words();
    let is_escaped = is_escaped(list);
    if before.is_empty() && !is_escaped {
        return through(list, words, "tr '\\\\' /", command);
    }
    let mark = if is_escaped { r"s|^\\||; " } else { "" };
    let slashes = format!(r"{mark}s|\\\\*|/|g");
    if before.is_empty() {
        return through(list, words, &sed(&slashes, command), command);
    }
    let told = shown(OsStr::from_bytes(before));
    let words = format!("{words}, and begin with {told}, which those of the files do not");
    match without(before) {
        Some(without) => {
            through(list, &words, &sed(&format!("{slashes}; {without}"), command), command)
        }
        None => words,
    }
}

/// What of `sed` takes this off names, where that is simple.
fn without(before: &[u8]) -> Option<String> {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b" :/_-".contains(byte);
    before.iter().all(is_plain).then(|| format!("s|{}||", String::from_utf8_lossy(before)))
}

/// Of a list with so many digests, each without a name. A single one is of the file that the list
/// has its name from, where that is there.
pub fn of_nameless(place: Lookup<'_>, digests: u64, command: &Command) -> String {
    let name = match place.list {
        List::Path(path) if digests == 1 => name_of_list(path, place.folder()),
        _ => None,
    };
    if let Some(name) = name {
        let command = command.in_folder(place.folder());
        let filter = sed(&format!(r"/^\s*$/d; s|\s*$|  {name}|"), &command);
        return through(place.list, "holds a digest and no name", &filter, &command);
    }
    let words = if digests == 1 { "a digest and no name" } else { "digests and no names" };
    format!("holds {words}; a line is to be a digest, two blanks and the name")
}

/// The name of the list without its last extension, as the replacement in a script for `sed` where
/// it can stand there as it is, and a file has it where names are looked up.
fn name_of_list(list: &Path, folder: Option<&Path>) -> Option<String> {
    list.extension()?;
    let name = match folder {
        Some(_) => PathBuf::from(list.file_stem()?),
        None => list.with_extension(""),
    };
    let text = name.to_str()?;
    let told = shown(&name);
    // Quoted otherwise, it has what a shell, a terminal or a line of a list does not take.
    let is_plain = told.trim_matches('\'') == text && !text.contains(['\\', '&', '|', '\'']);
    let is_there = folder.map_or_else(|| name.clone(), |folder| folder.join(&name)).is_file();
    (is_plain && is_there && text != "-").then(|| text.to_owned())
}

/// A filter for the lines of the list that this command reads.
fn sed(script: &str, command: &str) -> String {
    let lines = if command.contains(" --zero") { " -z" } else { "" };
    format!("sed{lines} '{script}'")
}

/// What is wrong with a list, and the filter through which it is to go before the command.
fn through(list: &List, words: &str, filter: &str, command: &str) -> String {
    match list {
        List::Stdin => format!("{words}: put {filter} before lanesum {command}"),
        List::Path(path) => format!("{words}: {filter} <{} | lanesum {command}", shown(path)),
    }
}

/// Tells what names have in common that are not there, and what to do then; `entries` are those of
/// the whole list.
pub fn tell(
    not_found: &NotFound,
    place: Lookup<'_>,
    entries: u64,
    command: &Command,
    console: &mut Console,
) {
    let list = place.list.name();
    for hint in not_found.hints(place, entries) {
        match hint {
            Hint::Told { folder, is_here, is_beside } => {
                let mut words = b"it says that its names are in ".to_vec();
                console.quote(&mut words, folder);
                words.extend_from_slice(match (is_here, is_beside) {
                    (true, _) => b"; its files are in the current folder: say --root .",
                    (false, true) => b"",
                    (false, false) => b"; --root DIR says where they are here",
                });
                console.about(list, &String::from_utf8_lossy(&words));
            }
            Hint::Beside(folder) => {
                let folder = value(folder);
                let words = format!("its files are beside it; say --beside, or --root {folder}");
                console.about(list, &words);
            }
            Hint::Without { prefix, folder, fitting } => {
                let mut words = b"its files are without ".to_vec();
                console.quote(&mut words, prefix);
                words.extend_from_slice(b" in ");
                console.quote(&mut words, folder.as_os_str().as_bytes());
                let mut words = String::from_utf8_lossy(&words).into_owned();
                // Where the list says another folder, names are in this one.
                let told_elsewhere = not_found.listed_folder().map(|_| Path::new("."));
                match (fitting, &command.compared, without(prefix)) {
                    (Some(fitting), Some(options), _) => {
                        words += &compare_without(place.list, &fitting, options);
                    }
                    (Some(_), None, Some(without)) => {
                        let command = command.in_folder(place.folder().or(told_elsewhere));
                        words = through(place.list, &words, &sed(&without, &command), &command);
                    }
                    _ => {}
                }
                console.about(list, &words);
            }
            Hint::Written { name, written, folder } => {
                let words = of_written(written, place.list, &command.in_folder(folder));
                let about = if let Written::OfWindows(_) = written { list } else { name };
                console.about(about, &words);
            }
            Hint::Backslashes => {
                let command = command.in_folder(place.folder());
                console.about(list, &of_backslashes(place.list, &command));
            }
        }
    }
}

/// `compare --strip` takes what all names begin with off them: what is told to be compared is the
/// folder that then fits.
fn compare_without(list: &List, fitting: &Path, options: &str) -> String {
    let (say, list) = match list {
        List::Stdin => ("pipe it into", "-".to_owned()),
        List::Path(path) => ("say", value(path)),
    };
    format!("; {say} lanesum compare{options} --strip {list} {}", value(fitting))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_put_through_a_pipe_by_its_name() {
        let words = of_backslashes(&List::Path("my list".into()), "check");
        assert!(words.ends_with(": tr '\\\\' / <'my list' | lanesum check"), "{words}");
        let words = of_backslashes(&List::Stdin, "check");
        assert!(words.ends_with(": put tr '\\\\' / before lanesum check"), "{words}");
    }
}
