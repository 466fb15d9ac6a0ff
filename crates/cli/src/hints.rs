//! What to do about lists that others wrote: words that several verbs say.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use lanesum_checksum::check::List;
use unicode_normalization::UnicodeNormalization as _;

use crate::console::shown;

/// What a command line calls a list.
pub fn operand(list: &List) -> &Path {
    match list {
        List::Stdin => Path::new("-"),
        List::Path(path) => path,
    }
}

/// Whether a name is written as Windows does.
pub fn is_of_windows(name: &[u8]) -> bool {
    name.contains(&b'\\') && !name.contains(&b'/')
}

/// Of a list whose names are so, before the command that read it, which is to read it once more.
pub fn of_backslashes(list: &List, command: &str) -> String {
    through(list, "its names have backslashes, as Windows has them", "tr '\\\\' /", command)
}

/// How a name of a list is written, where a file's that is there is written in another way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// With letters and their marks apart, as macOS does; the file's has both in one.
    Apart,
    /// The other way round.
    InOne,
    /// In Latin-1; the file's in UTF-8.
    Latin1,
    /// The other way round.
    Utf8,
}

impl Written {
    /// That of a name that is not there, if it is so.
    pub fn of(name: &[u8], is_there: impl Fn(&Path) -> bool) -> Option<Self> {
        if name.is_ascii() {
            return None;
        }
        let is_called =
            |other: &[u8]| other != name && is_there(Path::new(OsStr::from_bytes(other)));
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
    pub fn words(self, list: &List, command: &str) -> String {
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
        };
        through(list, words, filter, command)
    }
}

/// What is wrong with a list, and the filter through which it is to go before the command.
fn through(list: &List, words: &str, filter: &str, command: &str) -> String {
    match list {
        List::Stdin => format!("{words}: put {filter} before lanesum {command}"),
        List::Path(path) => format!("{words}: {filter} <{} | lanesum {command}", shown(path)),
    }
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
