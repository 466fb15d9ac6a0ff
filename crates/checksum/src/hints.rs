//! Hints for lists whose files are not found or do not match.
//!
//! A hint names options of the command line or arguments of Python. [`Says`] holds these names. The
//! caller puts a [`Hint`] into words.

mod written;

use std::cell::RefCell;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use lanesum_list::formats::{Closest, closest};
use lanesum_list::{Dialect, algorithms_called, start};
use memchr::memmem;

use crate::Algorithm;
use crate::check::{List, Tally};

pub(crate) use written::lower;
pub use written::{CodePage, Written};
use written::{in_case, without_which_it_is};

/// The names of options or arguments in hints.
#[derive(Clone, Copy, Debug)]
pub struct Says {
    /// Sets the algorithm of untagged lines: `-a md5`.
    pub algorithm: fn(Algorithm) -> String,
    /// Sets the key: `--key-file FILE`.
    pub key: &'static str,
    /// Reads a list as a manifest: `--from bagit`.
    pub bagit: &'static str,
}

/// A suspicion about a list, and what the user can do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doubt {
    /// The finding.
    pub words: String,
    /// The action that a user can take.
    pub hint: String,
}

impl Says {
    /// Returns the hint for a list with missing names that look
    /// [encoded](NotFound::is_encoded).
    #[must_use]
    pub fn of_encoded(&self) -> String {
        format!("if the list is a BagIt manifest: {}", self.bagit)
    }

    /// Returns the doubt about untagged lines that were read as an algorithm, if none of them
    /// matches. None if the list's name says the algorithm.
    #[must_use]
    pub fn of_untagged(
        &self,
        list: &List,
        dialect: Dialect,
        taken_for: Algorithm,
        has_key: bool,
    ) -> Option<Doubt> {
        if is_called(list, taken_for) {
            return None;
        }
        let has_its_key = |is: &Algorithm| has_key || !is.needs_key();
        let others = dialect.mistaken_for(taken_for).filter(has_its_key);
        let others: Vec<_> = others.collect();
        let (first, rest) = others.split_first()?;
        let mut hint = format!("if the lines are {first}: {}", (self.algorithm)(*first));
        if !rest.is_empty() {
            let rest: Vec<_> = rest.iter().map(|it| it.name()).collect();
            hint = format!("{hint} (or {})", rest.join(", "));
        }
        if taken_for.needs_key() {
            hint = format!("{hint}; if they were made without a key: leave out {}", self.key);
        }
        Some(Doubt { words: format!("no untagged line matches as {taken_for}"), hint })
    }

    /// Returns the doubts about lines of a checked list of which none matches: they may be of
    /// another algorithm, unless `is_told` says that the user named it, or of another key.
    #[must_use]
    pub fn of_doubtful(
        &self,
        list: &List,
        tally: &Tally,
        dialect: Dialect,
        is_told: bool,
        has_key: bool,
    ) -> Vec<Doubt> {
        let mut doubts = Vec::new();
        if tally.tagged.doubtful().contains(Algorithm::Blake3) {
            let hint = match has_key {
                false => format!("if they were made with a key: {}", self.key),
                true => "check that this key made the list".to_owned(),
            };
            doubts.push(Doubt { words: "no BLAKE3 line matches".to_owned(), hint });
        }
        if !tally.etags.doubtful().is_empty() {
            let hint = "if the store encrypts with KMS or customer keys, its ETags prove nothing";
            doubts.push(Doubt { words: "no ETag matches".to_owned(), hint: hint.to_owned() });
        }
        if is_of_dvc(list) && tally.mismatched > 0 {
            let hint = "if DVC 2 made the list, `dvc status` compares text files with LF for CR LF";
            doubts
                .push(Doubt { words: "some MD5s do not match".to_owned(), hint: hint.to_owned() });
        }
        let untagged = tally.untagged.doubtful();
        let others = untagged.iter().filter(|_| !is_told);
        doubts.extend(others.filter_map(|it| self.of_untagged(list, dialect, it, has_key)));
        doubts
    }
}

/// Returns whether a list has the name of one of DVC's lists of a directory.
fn is_of_dvc(list: &List) -> bool {
    matches!(list, List::Path(path) if path.extension().is_some_and(|it| it == "dir"))
}

/// Returns whether the name of a list contains its algorithm: `MD5SUMS`, `photos.md5`.
fn is_called(list: &List, algorithm: Algorithm) -> bool {
    let List::Path(path) = list else { return false };
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    name.contains(algorithm.name()) || algorithms_called(name.as_bytes()).contains(algorithm)
}

/// Returns whether a name contains the encoding of `%`, CR or LF in BagIt manifests.
fn is_encoded(name: &[u8]) -> bool {
    let of_a_byte =
        |code: &[u8]| [&b"%25"[..], b"%0A", b"%0D"].iter().any(|it| code.eq_ignore_ascii_case(it));
    name.windows(3).any(of_a_byte)
}

/// A common cause of missing files of a list.
#[derive(Debug)]
pub enum Hint<'a> {
    /// The list names the directory of its files.
    Told {
        /// The directory.
        folder: &'a [u8],
        /// Whether the first file is in the current directory.
        is_here: bool,
        /// Whether the first file is next to the list, which [`Hint::Beside`] reports.
        is_beside: bool,
    },
    /// The first file is next to the list, in this directory.
    Beside(&'a Path),
    /// The first file is in a directory under its name without a prefix.
    Without {
        /// The prefix, including the slash at its end.
        prefix: &'a [u8],
        /// The directory of the file.
        folder: &'a Path,
        /// The directory of all files without the common directory of all names, if the names start
        /// with the prefix.
        fitting: Option<PathBuf>,
    },
    /// A name is spelled differently than an existing file.
    Written {
        /// The name.
        name: &'a [u8],
        /// How the name differs.
        written: &'a Written,
        /// The directory of the file, unless names are used unchanged.
        folder: Option<&'a Path>,
    },
    /// The names are Windows paths, and no file exists under them with slashes.
    Backslashes,
}

/// Returns whether a name is a Windows path.
#[must_use]
pub fn is_of_windows(name: &[u8]) -> bool {
    name.contains(&b'\\') && !name.contains(&b'/')
}

/// Returns whether a list escapes names with a backslash, as GNU md5sum does: such a line starts
/// with a backslash. Returns false for pipes, which can be read only once.
#[must_use]
pub fn is_escaped(list: &List) -> bool {
    lines_of(list).any(|line| line.starts_with(b"\\"))
}

/// Reads the lines of a list again. Pipes, which can be read only once, have none.
fn lines_of(list: &List) -> impl Iterator<Item = Vec<u8>> {
    let path = if let List::Path(path) = list { Some(path) } else { None };
    let path = path.filter(|path| path.metadata().is_ok_and(|list| list.is_file()));
    let file = path.and_then(|path| File::open(path).ok());
    file.into_iter().flat_map(|file| BufReader::new(file).split(b'\n').map_while(Result::ok))
}

/// Returns whether a line of a list contains this name between delimiters. Returns false for pipes,
/// which can be read only once.
fn names(list: &List, name: &[u8]) -> bool {
    let is_whole = |line: &[u8], at: usize| {
        let [before, behind] = [line[..at].last(), line.get(at + name.len())];
        before.is_none_or(|byte| b" *,(\"\t".contains(byte))
            && behind.is_none_or(|byte| b" ,)\"\r".contains(byte))
    };
    let mut lines = lines_of(list);
    lines.any(|line| memmem::find_iter(&line, name).any(|at| is_whole(&line, at)))
}

/// Returns the format that an unknown list resembles most. Returns `None` for pipes, which can be
/// read only once.
#[must_use]
pub fn closest_format(list: &List, dialect: Dialect) -> Option<Closest> {
    let path = if let List::Path(path) = list { Some(path) } else { None };
    let path = path.filter(|path| path.metadata().is_ok_and(|list| list.is_file()))?;
    let mut head = Vec::new();
    File::open(path).ok()?.take(start::HEAD as u64).read_to_end(&mut head).ok()?;
    closest(&head, dialect)
}

/// Returns the title of a CSV column of digests with an unsupported algorithm, such as `sha3-384`.
/// Returns `None` for pipes, which can be read only once.
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

/// A list, and the directory of its names if the caller has set one.
#[derive(Clone, Copy, Debug)]
pub struct Lookup<'a> {
    /// The list.
    pub list: &'a List,
    /// The directory that the caller has set.
    pub root: Option<&'a Path>,
    /// Whether names are relative to the directory of the list.
    pub is_beside: bool,
}

impl<'a> Lookup<'a> {
    /// Returns the directory that names are looked up in, if the caller has set one.
    #[must_use]
    pub fn folder(&self) -> Option<&'a Path> {
        let beside = || if self.is_beside { self.list.folder() } else { None };
        self.root.or_else(beside)
    }

    /// Returns the name of an existing file that is spelled differently than the missing `name`.
    /// `told` is the directory that the list names.
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
            });
            let written = written.or_else(|| {
                let found = in_case(folder.unwrap_or(Path::new(".")), name)?;
                found.clone_into(&mut file.borrow_mut());
                Some(Written::Case(found))
            })?;
            let (name, beside) = (name.to_owned(), beside.map(Path::to_owned));
            Some(Otherwise { name, written, file: file.into_inner(), beside })
        };
        let told = told.map(|folder| Path::new(OsStr::from_bytes(folder)));
        let beside = self.folder_of_list();
        otherwise(self.folder().or(told), None)
            .or_else(|| beside.and_then(|beside| otherwise(Some(beside), Some(beside))))
    }

    /// Returns the directory of the list if names are looked up elsewhere only by default.
    fn folder_of_list(&self) -> Option<&'a Path> {
        if self.root.is_none() && !self.is_beside { self.list.folder() } else { None }
    }
}

/// Returns the path of a name in a directory. As with `--root`, this includes names that start with
/// a slash.
fn path_in(folder: Option<&Path>, name: &Path) -> PathBuf {
    match folder {
        Some(folder) => folder.join(name.strip_prefix("/").unwrap_or(name)),
        None => name.to_owned(),
    }
}

fn is_in(folder: Option<&Path>, name: &Path) -> bool {
    path_in(folder, name).symlink_metadata().is_ok()
}

/// A name whose file exists under another spelling.
#[derive(Debug)]
struct Otherwise {
    name: Vec<u8>,
    written: Written,
    /// The name of the file.
    file: Vec<u8>,
    /// The directory of the list, if the file is there.
    beside: Option<PathBuf>,
}

/// The number of missing files whose other spellings are looked for.
const MOST_TRIED: u64 = 100;

/// The entries of a list whose files are missing.
#[derive(Debug, Default)]
pub struct NotFound {
    count: u64,
    /// The name of the first entry.
    first: Vec<u8>,
    /// The directory of the first entry, as named in the list.
    told: Option<Vec<u8>>,
    /// The innermost common directory of all names, with its slash.
    folder: Vec<u8>,
    /// Whether one of the names contains the encoding of `%` or a line end in BagIt manifests.
    is_encoded: bool,
    /// The first name whose file exists under another spelling.
    written: Option<Otherwise>,
}

impl NotFound {
    /// Records an entry. `told` is the directory that the list names.
    pub fn note(&mut self, name: &[u8], told: Option<&[u8]>, place: Lookup<'_>) {
        self.is_encoded |= is_encoded(name);
        // Each attempt may list directories.
        if self.written.is_none() && self.count < MOST_TRIED {
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

    /// Returns the number of entries.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// Returns whether one of the names contains the encoding of `%` or a line end in BagIt
    /// manifests.
    #[must_use]
    pub const fn is_encoded(&self) -> bool {
        self.is_encoded
    }

    /// Returns the name of the first entry.
    #[must_use]
    pub fn first(&self) -> &[u8] {
        &self.first
    }

    /// Returns the directory of the first entry, as named in the list.
    #[must_use]
    pub fn listed_folder(&self) -> Option<&[u8]> {
        self.told.as_deref()
    }

    /// Returns the common causes. `entries` is the number of entries of the whole list.
    #[must_use]
    pub fn hints<'a>(&'a self, place: Lookup<'a>, entries: u64) -> Vec<Hint<'a>> {
        let mut hints = Vec::new();
        if self.count == 0 {
            return hints;
        }
        let are_all = self.count == entries;
        if are_all {
            self.folder(place, &mut hints);
            if !hints.iter().any(|hint| matches!(hint, Hint::Beside(_))) {
                hints.extend(self.prefix(place));
            }
        }
        if let Some(Otherwise { name, written, file, beside }) = &self.written {
            // Otherwise the file belongs to another entry, and this one is missing.
            if *written == Written::Blanks || !names(place.list, file) {
                let folder = beside.as_deref().or(place.folder());
                hints.push(Hint::Written { name, written, folder });
            }
        } else if are_all && is_of_windows(&self.first) {
            hints.push(Hint::Backslashes);
        }
        hints
    }

    /// Finds hints for a list whose files are next to it or in the directory that it names.
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

    /// Finds hints for a list whose names start with missing directories, as in a list of an object
    /// store.
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
    fn a_column_of_an_unknown_algorithm_is_found() {
        let folder = tempfile::tempdir().unwrap();
        for (header, title) in [
            ("path,size,ripemd160_hash\r\n", Some("ripemd160_hash")),
            ("\u{feff}\"path\",\"size\",\"SHA3-384\"\n", Some("SHA3-384")),
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
