//! What to do about lists that others wrote: words that several verbs say.

use std::cell::RefCell;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use lanesum_checksum::Algorithm;
use lanesum_checksum::check::{List, ListError};
use lanesum_list::formats::Kind;
use lanesum_list::start::NotAList;
use memchr::memmem;
use unicode_normalization::UnicodeNormalization as _;

use crate::console::{Console, shown};

/// What a command line calls a list.
pub fn operand(list: &List) -> &Path {
    match list {
        List::Stdin => Path::new("-"),
        List::Path(path) => path,
    }
}

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
    /// Whether `lanesum compare` with a folder does what it does, but for names.
    pub is_a_comparison: bool,
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
    if let ListError::NotAList(NotAList::Utf16) = error {
        return through(list, "looks like UTF-16", UTF_8, command);
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
    match (error, list) {
        (ListError::NotAList(NotAList::Utf16), List::Path(path)) => {
            format!("looks like UTF-16; {UTF_8} <{} makes it UTF-8", shown(path))
        }
        _ if is_folder(error) => A_FOLDER.to_owned(),
        _ => error.to_string(),
    }
}

const UTF_8: &str = "iconv -f UTF-16 -t UTF-8";
const A_FOLDER: &str = "is a folder, not a list";

fn is_folder(error: &ListError) -> bool {
    matches!(error, ListError::Open(error) | ListError::Read(error)
        if error.kind() == io::ErrorKind::IsADirectory)
}

/// Whether a name is written as Windows does.
pub fn is_of_windows(name: &[u8]) -> bool {
    name.contains(&b'\\') && !name.contains(&b'/')
}

/// Of a list whose names are so, before the command that read it, which is to read it once more.
pub fn of_backslashes(list: &List, command: &str) -> String {
    of_windows(b"", list, command)
}

/// How a name of a list is written, where a file's that is there is written in another way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Written {
    /// With letters and their marks apart, as macOS does; the file's has both in one.
    Apart,
    /// The other way round.
    InOne,
    /// In Latin-1; the file's in UTF-8.
    Latin1,
    /// The other way round.
    Utf8,
    /// With backslashes, behind a drive and folders that the file's is without, if there are any:
    /// these, with slashes.
    OfWindows(Vec<u8>),
}

impl Written {
    /// That of a name that is not there, if it is so.
    pub fn of(name: &[u8], is_there: impl Fn(&Path) -> bool) -> Option<Self> {
        let is_called =
            |other: &[u8]| other != name && is_there(Path::new(OsStr::from_bytes(other)));
        if name.contains(&b'\\') {
            let slashes: Vec<_> =
                name.iter().map(|&byte| if byte == b'\\' { b'/' } else { byte }).collect();
            if is_called(&slashes) {
                return Some(Self::OfWindows(Vec::new()));
            }
            let has_drive =
                matches!(*slashes, [drive, b':', b'/', ..] if drive.is_ascii_alphabetic());
            let before = has_drive.then(|| without_which_it_is(&slashes, is_called)).flatten();
            if let Some(before) = before {
                return Some(Self::OfWindows(before.to_vec()));
            }
        }
        if name.is_ascii() {
            return None;
        }
        let Ok(text) = str::from_utf8(name) else {
            let text: String = name.iter().copied().map(char::from).collect();
            return is_called(text.as_bytes()).then_some(Self::Latin1);
        };
        if is_called(text.nfc().collect::<String>().as_bytes()) {
            return Some(Self::Apart);
        }
        if is_called(text.nfd().collect::<String>().as_bytes()) {
            return Some(Self::InOne);
        }
        let latin1 =
            |text: &str| text.chars().map(|it| u8::try_from(it).ok()).collect::<Option<Vec<u8>>>();
        let latin1 = latin1(text).or_else(|| latin1(&text.nfc().collect::<String>()));
        latin1.is_some_and(|other| is_called(&other)).then_some(Self::Utf8)
    }

    /// What to do about such a list.
    pub fn words(&self, list: &List, command: &str) -> String {
        let (words, filter) = match self {
            Self::Apart => (
                "names are in another Unicode normal form (NFD, as macOS has them) than those of \
                 the files",
                "uconv -x any-nfc",
            ),
            Self::InOne => (
                "names are in another Unicode normal form (NFC) than those of the files (NFD, as \
                 macOS has them)",
                "uconv -x any-nfd",
            ),
            Self::Latin1 => (
                "names are in Latin-1, and those of the files in UTF-8",
                "iconv -f LATIN1 -t UTF-8",
            ),
            Self::Utf8 => (
                "names are in UTF-8, and those of the files in Latin-1",
                "iconv -f UTF-8 -t LATIN1",
            ),
            Self::OfWindows(before) => return of_windows(before, list, command),
        };
        through(list, words, filter, command)
    }
}

/// Of a list whose names are those of Windows, behind this.
fn of_windows(before: &[u8], list: &List, command: &str) -> String {
    let words = "its names have backslashes, as Windows has them";
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

/// A filter for the lines of the list that this command reads.
fn sed(script: &str, command: &str) -> String {
    let lines = if command.contains(" --zero") { " -z" } else { "" };
    format!("sed{lines} '{script}'")
}

/// Whether names with a backslash are escaped in a list, as GNU md5sum does: a line begins with one
/// then. Not known of what gives its lines only once.
fn is_escaped(list: &List) -> bool {
    lines_of(list).any(|line| line.starts_with(b"\\"))
}

/// The lines of a list once more; none of what gives them only once.
fn lines_of(list: &List) -> impl Iterator<Item = Vec<u8>> {
    let path = if let List::Path(path) = list { Some(path) } else { None };
    let path = path.filter(|path| path.metadata().is_ok_and(|list| list.is_file()));
    let file = path.and_then(|path| File::open(path).ok());
    file.into_iter().flat_map(|file| BufReader::new(file).split(b'\n').map_while(Result::ok))
}

/// Whether a line of a list has this name, between what stands before and behind one. Not known of
/// what gives its lines only once.
fn names(list: &List, name: &[u8]) -> bool {
    let is_whole = |line: &[u8], at: usize| {
        let [before, behind] = [line[..at].last(), line.get(at + name.len())];
        before.is_none_or(|byte| b" *,(\"\t".contains(byte))
            && behind.is_none_or(|byte| b" ,)\"\r".contains(byte))
    };
    let mut lines = lines_of(list);
    lines.any(|line| memmem::find_iter(&line, name).any(|at| is_whole(&line, at)))
}

/// What is wrong with a list, and the filter through which it is to go before the command.
fn through(list: &List, words: &str, filter: &str, command: &str) -> String {
    match list {
        List::Stdin => format!("{words}: put {filter} before lanesum {command}"),
        List::Path(path) => format!("{words}: {filter} <{} | lanesum {command}", shown(path)),
    }
}

/// The folders that a name begins with, where what is behind them is there.
fn without_which_it_is(name: &[u8], is_there: impl Fn(&[u8]) -> bool) -> Option<&[u8]> {
    let ends = name.iter().enumerate().filter(|&(place, &byte)| byte == b'/' && place > 0);
    let mut prefixes = ends.map(|(place, _)| name.split_at(place + 1));
    prefixes.find_map(|(prefix, rest)| {
        (!rest.is_empty() && !rest.starts_with(b"/") && is_there(rest)).then_some(prefix)
    })
}

/// A list, and the folder that its names are looked up in, where that was said.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    pub list: &'a List,
    pub root: Option<&'a Path>,
    /// Whether the folder of the list is it.
    pub is_beside: bool,
}

impl<'a> Place<'a> {
    /// The folder that names are looked up in, where that was said.
    pub fn folder(&self) -> Option<&'a Path> {
        let beside = || if self.is_beside { self.list.folder() } else { None };
        self.root.or_else(beside)
    }

    /// The folder of the list, where names are looked up elsewhere only since nothing was said.
    fn folder_of_list(&self) -> Option<&'a Path> {
        if self.root.is_none() && !self.is_beside { self.list.folder() } else { None }
    }
}

/// Where a name is in a folder. As with `--root`, those that begin with a slash are, too.
fn path_in(folder: Option<&Path>, name: &Path) -> PathBuf {
    match folder {
        Some(folder) => folder.join(name.strip_prefix("/").unwrap_or(name)),
        None => name.to_owned(),
    }
}

fn is_in(folder: Option<&Path>, name: &Path) -> bool {
    path_in(folder, name).symlink_metadata().is_ok()
}

/// A name whose file is there by another way to write it.
#[derive(Debug)]
struct Otherwise {
    name: Vec<u8>,
    written: Written,
    /// As the file is called.
    file: Vec<u8>,
    /// The folder of the list, if it is there.
    beside: Option<PathBuf>,
}

/// Entries of a list whose file is not there.
#[derive(Debug, Default)]
pub struct NotFound {
    count: u64,
    /// The name of the first.
    first: Vec<u8>,
    /// The folder that it is in by what the list says.
    told: Option<Vec<u8>>,
    /// The innermost folder that all of them are in by their names, with its slash.
    folder: Vec<u8>,
    /// The first whose file is there by another way to write its name.
    written: Option<Otherwise>,
}

impl NotFound {
    /// Notes an entry. `told` is the folder that the list says names are in.
    pub fn note(&mut self, name: &[u8], told: Option<&[u8]>, place: Place<'_>) {
        if self.written.is_none() {
            let told = told.map(|folder| Path::new(OsStr::from_bytes(folder)));
            let folder = place.folder().or(told);
            let otherwise = |folder, beside: Option<&Path>| {
                let file = RefCell::new(Vec::new());
                let written = Written::of(name, |path| {
                    path.as_os_str().as_bytes().clone_into(&mut file.borrow_mut());
                    is_in(folder, path)
                })?;
                let (name, beside) = (name.to_owned(), beside.map(Path::to_owned));
                Some(Otherwise { name, written, file: file.into_inner(), beside })
            };
            let beside = place.folder_of_list();
            self.written = otherwise(folder, None)
                .or_else(|| beside.and_then(|beside| otherwise(Some(beside), Some(beside))));
        }
        let behind_slash =
            |name: &[u8]| name.iter().rposition(|&byte| byte == b'/').map_or(0, |at| at + 1);
        if self.count == 0 {
            self.first = name.to_owned();
            self.told = told.map(<[u8]>::to_vec);
            self.folder = name[..behind_slash(name)].to_owned();
        } else if !name.starts_with(&self.folder) {
            let same = self.folder.iter().zip(name).take_while(|(one, other)| one == other).count();
            self.folder.truncate(behind_slash(&name[..same]));
        }
        self.count += 1;
    }

    /// Tells what they have in common, and what to do then; `entries` are those of the whole list.
    pub fn tell(&self, place: Place<'_>, entries: u64, command: &Command, console: &mut Console) {
        if self.count == 0 {
            return;
        }
        let list = place.list.name();
        let are_all = self.count == entries;
        if are_all {
            self.tell_folder(place, console);
            self.tell_prefix(place, command, console);
        }
        if let Some(Otherwise { name, written, file, beside }) = &self.written {
            if names(place.list, file) {
                // It is another's, and this one is lost.
                return;
            }
            let folder = beside.as_deref().or(place.folder());
            let words = written.words(place.list, &command.in_folder(folder));
            let about = if let Written::OfWindows(_) = written { list } else { name };
            console.about(about, &words);
        } else if are_all && is_of_windows(&self.first) {
            let command = command.in_folder(place.folder());
            console.about(list, &of_backslashes(place.list, &command));
        }
    }

    /// Tells of a list whose files are beside it, or whose own words say where they were.
    fn tell_folder(&self, place: Place<'_>, console: &mut Console) {
        let first = Path::new(OsStr::from_bytes(&self.first));
        let list = place.list.name();
        if place.folder().is_some() || place.is_beside || !first.is_relative() {
            return;
        }
        let beside = place.folder_of_list().filter(|folder| folder.join(first).exists());
        if let Some(told) = &self.told {
            let mut words = b"it says that its names are in ".to_vec();
            console.quote(&mut words, told);
            words.extend_from_slice(match (first.exists(), beside) {
                (true, _) => b"; its files are in the current folder: say --root .",
                (false, Some(_)) => b"",
                (false, None) => b"; --root DIR says where they are here",
            });
            console.about(list, &String::from_utf8_lossy(&words));
            if first.exists() {
                return;
            }
        }
        if let Some(folder) = beside {
            let folder = value(folder);
            let words = format!("its files are beside it; say --beside, or --root {folder}");
            console.about(list, &words);
        }
    }

    /// Tells of a list whose names begin with folders that are not there, but only with what is
    /// below them, as in a store.
    fn tell_prefix(&self, place: Place<'_>, command: &Command, console: &mut Console) {
        let list = place.list;
        let folder = place.folder().unwrap_or(Path::new("."));
        let is_file = |rest: &[u8]| folder.join(OsStr::from_bytes(rest)).is_file();
        let Some(prefix) = without_which_it_is(&self.first, is_file) else { return };
        let mut words = b"its files are without ".to_vec();
        console.quote(&mut words, prefix);
        words.extend_from_slice(b" in ");
        console.quote(&mut words, folder.as_os_str().as_bytes());
        let mut words = String::from_utf8_lossy(&words).into_owned();
        if let Some(below) = self.folder.strip_prefix(prefix) {
            if command.is_a_comparison {
                words += &compare_without(list, folder, below);
            } else if let Some(without) = without(prefix) {
                let command = command.in_folder(place.folder().or(self.told_elsewhere()));
                words = through(list, &words, &sed(&without, &command), &command);
            }
        }
        console.about(list.name(), &words);
    }

    /// The current folder, where the list says another.
    fn told_elsewhere(&self) -> Option<&'static Path> {
        self.told.is_some().then_some(Path::new("."))
    }
}

/// `compare --strip` takes what all names begin with off them: what is told to be compared is the
/// folder that then fits.
fn compare_without(list: &List, folder: &Path, below: &[u8]) -> String {
    let below = below.strip_suffix(b"/").unwrap_or(below);
    let fitting = match (folder == Path::new("."), below.is_empty()) {
        (_, true) => folder.to_owned(),
        (true, _) => OsStr::from_bytes(below).into(),
        (false, _) => folder.join(OsStr::from_bytes(below)),
    };
    let say = match list {
        List::Stdin => "pipe it into lanesum compare --strip",
        List::Path(_) => "say lanesum compare --strip",
    };
    format!("; {say} {} {}", shown(operand(list)), shown(fitting))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_windows_have_no_slash() {
        assert!(is_of_windows(b"a\\b") && !is_of_windows(b"a/b\\c") && !is_of_windows(b"a"));
    }

    #[test]
    fn a_name_may_be_written_in_another_way() {
        let (apart, in_one, latin1) = ("a\u{308}", "\u{e4}", &b"\xe4"[..]);
        for (name, file, written) in [
            (apart.as_bytes(), in_one.as_bytes(), Some(Written::Apart)),
            (in_one.as_bytes(), apart.as_bytes(), Some(Written::InOne)),
            (latin1, in_one.as_bytes(), Some(Written::Latin1)),
            (in_one.as_bytes(), latin1, Some(Written::Utf8)),
            (apart.as_bytes(), latin1, Some(Written::Utf8)),
            (in_one.as_bytes(), b"a", None),
            (b"a", b"A", None),
            (b"d\\x", b"d/x", Some(Written::OfWindows(Vec::new()))),
            (b"a/d\\x", b"a/d/x", Some(Written::OfWindows(Vec::new()))),
            (b"C:\\data\\x", b"data/x", Some(Written::OfWindows(b"C:/".into()))),
            (b"C:\\data\\x", b"x", Some(Written::OfWindows(b"C:/data/".into()))),
            (b"d\\x", b"x", None),
        ] {
            let is_there = |path: &Path| path.as_os_str().as_bytes() == file;
            assert_eq!(Written::of(name, is_there), written, "{name:?}");
        }
    }

    #[test]
    fn a_list_is_put_through_a_pipe_by_its_name() {
        let words = of_backslashes(&List::Path("my list".into()), "check");
        assert!(words.ends_with(": tr '\\\\' / <'my list' | lanesum check"), "{words}");
        let words = of_backslashes(&List::Stdin, "check");
        assert!(words.ends_with(": put tr '\\\\' / before lanesum check"), "{words}");
    }
}
