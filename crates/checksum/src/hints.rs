//! What lists that do not check have in common, so that whoever shows it can say what to do.
//!
//! Remedies are options of a command line there and arguments of a function here: [`Says`] has how
//! they are called, and [`Hint`]s are put into words by whoever has more to say.

use std::cell::RefCell;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use lanesum_list::Dialect;
use memchr::memmem;
use unicode_normalization::UnicodeNormalization as _;

use crate::Algorithm;
use crate::check::{List, Tally};

/// How remedies are called where they are said.
#[derive(Clone, Copy, Debug)]
pub struct Says {
    /// The algorithm of lines that do not name theirs: `-a md5`.
    pub algorithm: fn(Algorithm) -> String,
    /// The key: `--key-file FILE`.
    pub key: &'static str,
    /// That a list is a manifest: `--from bagit`.
    pub bagit: &'static str,
}

impl Says {
    /// Of a list with names that are not there and look [encoded](NotFound::is_encoded).
    #[must_use]
    pub fn of_encoded(&self) -> String {
        format!("if it is a manifest of BagIt, say {}", self.bagit)
    }

    /// Of untagged lines of a list that were taken for an algorithm, and of which not one matches:
    /// what else they may be. None where the list's name says the algorithm.
    #[must_use]
    pub fn of_untagged(
        &self,
        list: &List,
        dialect: Dialect,
        taken_for: Algorithm,
        has_key: bool,
    ) -> Option<String> {
        if is_called(list, taken_for) {
            return None;
        }
        let has_its_key = |is: &Algorithm| has_key || !is.needs_key();
        let mut others = dialect.mistaken_for(taken_for).filter(has_its_key);
        let remedy = match others.next() {
            Some(is) => {
                let first = format!("the lines are of {is} (say {})", (self.algorithm)(is));
                others
                    .fold(first, |words, is| format!("{words} or {is} ({})", (self.algorithm)(is)))
            }
            None if taken_for == Algorithm::Sha512 => {
                "the lines are of BLAKE2b (check them with b2sum)".to_owned()
            }
            None => return None,
        };
        Some(format!("read as {taken_for}: the files have changed, or {remedy}"))
    }

    /// Of lines of a checked list of which not one matches: they may be of another algorithm than
    /// they were taken for, which `is_told` says that they are not, or of another key.
    #[must_use]
    pub fn of_doubtful(
        &self,
        list: &List,
        tally: &Tally,
        dialect: Dialect,
        is_told: bool,
        has_key: bool,
    ) -> Vec<String> {
        let mut words = Vec::new();
        if tally.tagged.doubtful().contains(Algorithm::Blake3) {
            words.push(match has_key {
                false => format!(
                    "no line of BLAKE3 matches; if they were made with a key, say {}",
                    self.key
                ),
                true => "no line of BLAKE3 matches; is it the key that made the list?".to_owned(),
            });
        }
        if !tally.etags.doubtful().is_empty() {
            words.push(
                "no ETag in it matches: the files have changed, or the store encrypts with keys of \
                 KMS or of its customers, and then its ETags prove nothing"
                    .to_owned(),
            );
        }
        let untagged = tally.untagged.doubtful();
        let others = untagged.iter().filter(|_| !is_told);
        let others = others.filter_map(|it| self.of_untagged(list, dialect, it, has_key));
        words.extend(others.map(|it| format!("no line without an algorithm matches, {it}")));
        words
    }
}

/// Whether a list says by its name of which algorithm it is: `MD5SUMS`, `photos.md5`.
fn is_called(list: &List, algorithm: Algorithm) -> bool {
    let List::Path(path) = list else { return false };
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    name.contains(algorithm.name())
}

/// Whether a name has what stands for `%`, CR or LF in manifests of BagIt.
fn is_encoded(name: &[u8]) -> bool {
    let of_a_byte =
        |code: &[u8]| [&b"%25"[..], b"%0A", b"%0D"].iter().any(|it| code.eq_ignore_ascii_case(it));
    name.windows(3).any(of_a_byte)
}

/// What entries of a list have in common whose files are not there.
#[derive(Debug)]
pub enum Hint<'a> {
    /// The list says that its names are in this directory.
    Told {
        /// The directory.
        folder: &'a [u8],
        /// Whether the file of the first is in the current directory.
        is_here: bool,
        /// Whether it is beside the list, which [`Hint::Beside`] says.
        is_beside: bool,
    },
    /// The file of the first is beside the list, in this directory.
    Beside(&'a Path),
    /// The file of the first is in a directory, without the directories that its name begins with.
    Without {
        /// These, with the slash behind them.
        prefix: &'a [u8],
        /// Where it is.
        folder: &'a Path,
        /// Where the files of all are without the directory that all names begin with, if they
        /// begin with the prefix.
        fitting: Option<PathBuf>,
    },
    /// A name is written in another way than that of a file that is there.
    Written {
        /// The name.
        name: &'a [u8],
        /// How it is written.
        written: &'a Written,
        /// The directory that this file is in, unless names are as they stand.
        folder: Option<&'a Path>,
    },
    /// Names are those of Windows, and no file is there by them with slashes.
    Backslashes,
}

/// Whether a name is written as Windows does.
#[must_use]
pub fn is_of_windows(name: &[u8]) -> bool {
    name.contains(&b'\\') && !name.contains(&b'/')
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
    /// With backslashes, behind a drive and directories that the file's is without, if there are
    /// any: these, with slashes.
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

    /// What is to be said of a list with such names, but for what [`Self::OfWindows`] holds.
    #[must_use]
    pub const fn words(&self) -> &'static str {
        match self {
            Self::Apart => {
                "names are in another Unicode normal form (NFD, as macOS has them) than those of \
                 the files"
            }
            Self::InOne => {
                "names are in another Unicode normal form (NFC) than those of the files (NFD, as \
                 macOS has them)"
            }
            Self::Latin1 => "names are in Latin-1, and those of the files in UTF-8",
            Self::Utf8 => "names are in UTF-8, and those of the files in Latin-1",
            Self::OfWindows(_) => "its names have backslashes, as Windows has them",
        }
    }
}

/// Whether names with a backslash are escaped in a list, as GNU md5sum does: a line begins with one
/// then. Not known of what gives its lines only once.
#[must_use]
pub fn is_escaped(list: &List) -> bool {
    lines_of(list).any(|line| line.starts_with(b"\\"))
}

/// The lines of a list again; none of what gives them only once.
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

/// The title of a column of digests in the header of a list in CSV of which no algorithm is known
/// here, if there is one: `sha384`. Not known of what gives its lines only once.
#[must_use]
pub fn unknown_column(list: &List) -> Option<String> {
    let header = String::from_utf8(lines_of(list).next()?).ok()?;
    let titles = header.trim_start_matches('\u{feff}').split(',');
    let mut titles = titles.map(|title| title.trim().trim_matches('"'));
    let is_of_digests = |title: &&str| {
        let title = title.to_ascii_lowercase();
        let is_word = title.bytes().all(|it| it.is_ascii_alphanumeric() || b"_-/".contains(&it));
        let words = ["sha", "md", "blake", "crc", "xxh", "hash", "digest", "checksum"];
        is_word
            && title.len() <= 32
            && words.iter().any(|word| title.contains(word))
            && title.parse::<Algorithm>().is_err()
    };
    titles.find(is_of_digests).map(str::to_owned)
}

/// The directories that a name begins with, where what is behind them is there.
fn without_which_it_is(name: &[u8], is_there: impl Fn(&[u8]) -> bool) -> Option<&[u8]> {
    let ends = name.iter().enumerate().filter(|&(place, &byte)| byte == b'/' && place > 0);
    let mut prefixes = ends.map(|(place, _)| name.split_at(place + 1));
    prefixes.find_map(|(prefix, rest)| {
        (!rest.is_empty() && !rest.starts_with(b"/") && is_there(rest)).then_some(prefix)
    })
}

/// A list, and the directory that its names are looked up in, where that was said.
#[derive(Clone, Copy, Debug)]
pub struct Lookup<'a> {
    /// The list.
    pub list: &'a List,
    /// That directory.
    pub root: Option<&'a Path>,
    /// Whether the directory of the list is it.
    pub is_beside: bool,
}

impl<'a> Lookup<'a> {
    /// The directory that names are looked up in, where that was said.
    #[must_use]
    pub fn folder(&self) -> Option<&'a Path> {
        let beside = || if self.is_beside { self.list.folder() } else { None };
        self.root.or_else(beside)
    }

    /// The name of the file that is there by another way to write this one, which is not. `told` is
    /// the directory that the list says names are in.
    #[must_use]
    pub fn written_otherwise(&self, name: &[u8], told: Option<&[u8]>) -> Option<Vec<u8>> {
        self.otherwise(name, told).map(|otherwise| otherwise.file)
    }

    fn otherwise(&self, name: &[u8], told: Option<&[u8]>) -> Option<Otherwise> {
        let otherwise = |folder, beside: Option<&Path>| {
            let file = RefCell::new(Vec::new());
            let written = Written::of(name, |path| {
                path.as_os_str().as_bytes().clone_into(&mut file.borrow_mut());
                is_in(folder, path)
            })?;
            let (name, beside) = (name.to_owned(), beside.map(Path::to_owned));
            Some(Otherwise { name, written, file: file.into_inner(), beside })
        };
        let told = told.map(|folder| Path::new(OsStr::from_bytes(folder)));
        let beside = self.folder_of_list();
        otherwise(self.folder().or(told), None)
            .or_else(|| beside.and_then(|beside| otherwise(Some(beside), Some(beside))))
    }

    /// The directory of the list, where names are looked up elsewhere only since nothing was said.
    fn folder_of_list(&self) -> Option<&'a Path> {
        if self.root.is_none() && !self.is_beside { self.list.folder() } else { None }
    }
}

/// Where a name is in a directory. As with `--root`, those that begin with a slash are, too.
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
    /// The directory of the list, if it is there.
    beside: Option<PathBuf>,
}

/// Entries of a list whose file is not there.
#[derive(Debug, Default)]
pub struct NotFound {
    count: u64,
    /// The name of the first.
    first: Vec<u8>,
    /// The directory that it is in by what the list says.
    told: Option<Vec<u8>>,
    /// The innermost directory that all of them are in by their names, with its slash.
    folder: Vec<u8>,
    /// Whether one of them has what manifests of BagIt hold for `%` or the end of a line.
    is_encoded: bool,
    /// The first whose file is there by another way to write its name.
    written: Option<Otherwise>,
}

impl NotFound {
    /// Notes an entry. `told` is the directory that the list says names are in.
    pub fn note(&mut self, name: &[u8], told: Option<&[u8]>, place: Lookup<'_>) {
        self.is_encoded |= is_encoded(name);
        if self.written.is_none() {
            self.written = place.otherwise(name, told);
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

    /// Whether one of the names has what manifests of BagIt hold for `%` or the end of a line.
    #[must_use]
    pub const fn is_encoded(&self) -> bool {
        self.is_encoded
    }

    /// The directory that the list says the first is in.
    #[must_use]
    pub fn told(&self) -> Option<&[u8]> {
        self.told.as_deref()
    }

    /// What they have in common; `entries` are those of the whole list.
    #[must_use]
    pub fn hints<'a>(&'a self, place: Lookup<'a>, entries: u64) -> Vec<Hint<'a>> {
        let mut hints = Vec::new();
        if self.count == 0 {
            return hints;
        }
        let are_all = self.count == entries;
        if are_all {
            self.folder(place, &mut hints);
            hints.extend(self.prefix(place));
        }
        if let Some(Otherwise { name, written, file, beside }) = &self.written {
            // Else it is another's, and this one is lost.
            if !names(place.list, file) {
                let folder = beside.as_deref().or(place.folder());
                hints.push(Hint::Written { name, written, folder });
            }
        } else if are_all && is_of_windows(&self.first) {
            hints.push(Hint::Backslashes);
        }
        hints
    }

    /// Of a list whose files are beside it, or whose own words say where they were.
    fn folder<'a>(&'a self, place: Lookup<'a>, hints: &mut Vec<Hint<'a>>) {
        let first = Path::new(OsStr::from_bytes(&self.first));
        if place.folder().is_some() || place.is_beside || !first.is_relative() {
            return;
        }
        let beside = place.folder_of_list().filter(|folder| folder.join(first).exists());
        if let Some(folder) = &self.told {
            let is_here = first.exists();
            hints.push(Hint::Told { folder, is_here, is_beside: beside.is_some() });
            if is_here {
                return;
            }
        }
        hints.extend(beside.map(Hint::Beside));
    }

    /// Of a list whose names begin with directories that are not there, but only with what is below
    /// them, as in a store.
    fn prefix<'a>(&'a self, place: Lookup<'a>) -> Option<Hint<'a>> {
        let folder = place.folder().unwrap_or(Path::new("."));
        let is_file = |rest: &[u8]| folder.join(OsStr::from_bytes(rest)).is_file();
        let prefix = without_which_it_is(&self.first, is_file)?;
        let fitting = self.folder.strip_prefix(prefix).map(|below| {
            let below = below.strip_suffix(b"/").unwrap_or(below);
            match (folder == Path::new("."), below.is_empty()) {
                (_, true) => folder.to_owned(),
                (true, _) => OsStr::from_bytes(below).into(),
                (false, _) => folder.join(OsStr::from_bytes(below)),
            }
        });
        Some(Hint::Without { prefix, folder, fitting })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_names_have_no_slash() {
        assert!(is_of_windows(b"a\\b") && !is_of_windows(b"a/b\\c") && !is_of_windows(b"a"));
    }

    #[test]
    fn equivalent_spellings_of_a_name_are_found() {
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
    fn a_column_of_an_unknown_algorithm_is_found() {
        let folder = tempfile::tempdir().unwrap();
        for (header, title) in [
            ("path,size,sha384\r\n", Some("sha384")),
            ("\u{feff}\"path\",\"size\",\"SHA3-256\"\n", Some("SHA3-256")),
            ("path,size,md5\n", None),
            ("path,size\n", None),
        ] {
            let list = folder.path().join("list");
            std::fs::write(&list, header).unwrap();
            assert_eq!(unknown_column(&List::Path(list)).as_deref(), title, "{header}");
        }
        assert_eq!(unknown_column(&List::Stdin), None);
    }
}
