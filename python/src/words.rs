//! Words of messages that several functions give.

use std::path::Path;

use lanesum_checksum::check::ListError;
use lanesum_checksum::hints::{Doubt, Hint, Says, Written};
use lanesum_list::formats::Wrong;
use lanesum_list::start::NotAList;

/// How remedies are called here.
pub(crate) const SAYS: Says =
    Says { algorithm: |it| format!("algorithm=\"{it}\""), key: "key=", bagit: "from_=\"bagit\"" };

/// So many of something: `1 row`, `2 rows`.
pub(crate) fn counted(count: u64, noun: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{ending}")
}

/// Why a list was not read, with the arguments that help by Python's names.
pub(crate) fn of_list(error: &ListError) -> String {
    match error {
        ListError::NotAList(NotAList::NulEnded) => {
            "its lines end with NUL; zero=True reads them".to_owned()
        }
        ListError::NotAList(NotAList::NewlineEnded) => {
            "its lines end with newlines; leave zero=True out".to_owned()
        }
        ListError::NotAList(NotAList::Utf16 { filter }) => {
            format!("looks like UTF-16; convert it to UTF-8, e.g. {filter}")
        }
        ListError::NotAList(NotAList::Compressed { by, filter }) => {
            format!("compressed with {by}; {filter} prints the list")
        }
        ListError::NoKey(algorithm) => {
            format!("{algorithm} needs the key that made the list; check() it with key=")
        }
        other => other.to_string(),
    }
}

/// A doubt about a list in one line.
pub(crate) fn of_doubt(Doubt { words, hint }: Doubt) -> String {
    format!("{words}; {hint}")
}

/// What is wrong with a line of a list, as [`of_list`] says it.
pub(crate) fn of_line(wrong: &Wrong) -> String {
    match wrong {
        Wrong::NoName => {
            "it names no file: no path, Key or Path; where it is of one object, name= says which"
                .to_owned()
        }
        other => other.to_string(),
    }
}

/// Why a file is not what a list says, with the argument that helps by Python's name.
pub(crate) fn of_reason(reason: &str) -> String {
    reason.replace("--part-size", "part_size=")
}

/// What names of a list have in common that are not there, and what to do then.
pub(crate) fn of_hint(list: &Path, hint: &Hint<'_>) -> String {
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    match hint {
        Hint::Told { folder, is_here, is_beside } => {
            let rest = match (is_here, is_beside) {
                (true, _) => "; its files are in the current folder: say root=\".\"",
                (false, true) => "",
                (false, false) => "; root= says where they are here",
            };
            format!("it says that its names are in {}{rest}", text(folder))
        }
        Hint::Beside(folder) => format!("its files are beside it; say root={folder:?}"),
        Hint::Without { prefix, folder, fitting } => {
            let say = |fitting| format!("; say compare({list:?}, {fitting:?}, strip=True)");
            let say = fitting.as_ref().map(say).unwrap_or_default();
            format!("its files are without {} in {}{say}", text(prefix), folder.display())
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

/// What to do about a list with names that are written so.
fn of_written(written: &Written) -> String {
    let way = match written {
        Written::Apart => "unicodedata.normalize(\"NFC\", name)".to_owned(),
        Written::InOne => "unicodedata.normalize(\"NFD\", name)".to_owned(),
        Written::Latin1 => "os.fsencode(name).decode(\"latin-1\")".to_owned(),
        Written::Utf8 => "name.encode(\"latin-1\")".to_owned(),
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
    format!("{words}; check what write_list() makes of read_list(), with {way} for each path")
}
