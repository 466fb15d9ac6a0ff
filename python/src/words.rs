//! Texts of messages that several functions use.

use std::path::Path;

use lanesum_checksum::check::ListError;
use lanesum_checksum::hints::{Doubt, Hint, Says, Written};
use lanesum_list::formats::Wrong;
use lanesum_list::start::NotAList;

/// The names of Python arguments in hints.
pub(crate) const SAYS: Says =
    Says { algorithm: |it| format!("algorithm=\"{it}\""), key: "key=", bagit: "from_=\"bagit\"" };

/// Returns a count with its noun: `1 row`, `2 rows`.
pub(crate) fn counted(count: u64, noun: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{ending}")
}

/// Returns why a list was not read, with a hint that names Python arguments.
pub(crate) fn of_list(error: &ListError) -> String {
    match error {
        ListError::NotAList(NotAList::NulEnded) => {
            "its lines end with NUL; use zero=True".to_owned()
        }
        ListError::NotAList(NotAList::NewlineEnded) => {
            "its lines end with newlines; leave out zero=True".to_owned()
        }
        ListError::NotAList(NotAList::Utf16 { filter }) => {
            format!("looks like UTF-16; convert it to UTF-8, for example with {filter}")
        }
        ListError::NotAList(NotAList::Compressed { by, filter }) => {
            format!("compressed with {by}; decompress it with {filter}")
        }
        ListError::NoKey(algorithm) => {
            format!("{algorithm} needs the key that made the list; use check() with key=")
        }
        other => other.to_string(),
    }
}

/// Returns a doubt about a list as one line.
pub(crate) fn of_doubt(Doubt { words, hint }: Doubt) -> String {
    format!("{words}; {hint}")
}

/// Returns the problem of a line, with a hint that names Python arguments.
pub(crate) fn of_line(wrong: &Wrong) -> String {
    match wrong {
        Wrong::NoName => {
            "no file name: no path, Key or Path; if it is about one object, name= names its file"
                .to_owned()
        }
        other => other.to_string(),
    }
}

/// Replaces the option in a mismatch's reason by the Python argument.
pub(crate) fn of_reason(reason: &str) -> String {
    reason.replace("--part-size", "part_size=")
}

/// Returns why files of a list are missing, with a hint that names Python arguments.
pub(crate) fn of_hint(list: &Path, hint: &Hint<'_>) -> String {
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    match hint {
        Hint::Told { folder, is_here, is_beside } => {
            let rest = match (is_here, is_beside) {
                (true, _) => "; its files are in the current directory, use root=\".\"",
                (false, true) => "",
                (false, false) => "; pass their directory here as root=",
            };
            format!("the list was made in {}{rest}", text(folder))
        }
        Hint::Beside(folder) => format!("its files are next to the list; use root={folder:?}"),
        Hint::Without { prefix, folder, fitting } => {
            let say = |fitting| format!("; use compare({list:?}, {fitting:?}, strip=True)");
            let say = fitting.as_ref().map(say).unwrap_or_default();
            format!("its files exist without {} in {}{say}", text(prefix), folder.display())
        }
        Hint::Written { name, written, .. } => {
            let name = match written {
                Written::OfWindows(_) => String::new(),
                _ => format!("{}: ", text(name)),
            };
            format!("{name}{}", of_written(written))
        }
        Hint::Backslashes => of_written(&Written::OfWindows(Vec::new())),
    }
}

/// Returns how to convert the names of a list.
fn of_written(written: &Written) -> String {
    let way = match written {
        Written::Apart => "unicodedata.normalize(\"NFC\", name)".to_owned(),
        Written::InOne => "unicodedata.normalize(\"NFD\", name)".to_owned(),
        Written::Encoded(page) => {
            format!("os.fsencode(name).decode(\"{}\")", page.iconv().to_lowercase())
        }
        Written::Utf8(page) => format!("name.encode(\"{}\")", page.iconv().to_lowercase()),
        Written::Blanks => "name.strip()".to_owned(),
        Written::Case(file) => format!("{:?}", String::from_utf8_lossy(file)),
        Written::OfWindows(before) => {
            let before = String::from_utf8_lossy(before);
            let slashes = "name.replace(\"\\\\\", \"/\")";
            match &*before {
                "" => slashes.to_owned(),
                before => format!("{slashes}.removeprefix({before:?})"),
            }
        }
    };
    let words = written.words();
    format!("{words}; convert the list with read_list() and write_list(), and each path with {way}")
}
