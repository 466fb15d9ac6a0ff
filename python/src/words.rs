//! Words of messages that several functions give.

use lanesum_checksum::check::ListError;
use lanesum_list::formats::Wrong;
use lanesum_list::start::NotAList;

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
        ListError::NoKey(algorithm) => {
            format!("{algorithm} needs the key that made the list; check() it with key=")
        }
        other => other.to_string(),
    }
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
