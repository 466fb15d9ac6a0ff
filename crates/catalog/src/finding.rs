//! What is told of a file, and kept as an event.

use std::fmt::Write as _;

use lanesum_list::Digests;

use crate::Class;
use crate::stat::{Stat, UNKNOWN_SIZE, UNKNOWN_TIME, is_beyond};

/// Why a file counts as edited of which neither size nor time tells it.
const UNSETTLED: &str = "only its content is another; its times were less than a minute old when \
                         it was cataloged, so an edit cannot be told from rot";

/// The same of one that was edited, or touched, once it had been found so.
const UNSETTLED_BEFORE: &str = "only its content was another when it was found so, and an edit \
                                could not be told from rot";

/// What stands behind what is there of such a file.
const PERHAPS: &str = " was=perhaps-rotted";

/// Something that is not as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// What became of it.
    pub class: Class,
    /// Its path below the root; nothing where it is about all of it. A folder's ends in `/`.
    pub path: Vec<u8>,
    /// Where it was, or what it is a copy of.
    pub other: Option<Vec<u8>>,
    /// How many files it is about: more than one where a folder was renamed.
    pub files: u64,
    /// What is cataloged: `size=3 mtime=1700000000.000000000 md5=900150983cd24fb0d6963f7d28e17f72`;
    /// the time is `after-2262` or `before-1677` where it is.
    pub before: Option<String>,
    /// The same of what is there; or why it could not be read.
    pub after: Option<String>,
}

impl Finding {
    pub(crate) fn new(class: Class, path: Vec<u8>) -> Self {
        Self { class, path, other: None, files: 1, before: None, after: None }
    }

    pub(crate) fn before(self, stat: &Stat, digests: &Digests) -> Self {
        Self { before: Some(facts(stat, digests)), ..self }
    }

    pub(crate) fn after(self, stat: &Stat, digests: &Digests) -> Self {
        Self { after: Some(facts(stat, digests)), ..self }
    }

    /// Why it is so, or could not be read, as far as its class does not say that: in half a line.
    #[must_use]
    pub fn why(&self) -> Option<&str> {
        let after = self.after.as_deref()?;
        if !after.starts_with("size=") {
            return Some(after);
        }
        let words = if after.ends_with(PERHAPS) { UNSETTLED_BEFORE } else { UNSETTLED };
        self.may_be_rot().then_some(words)
    }

    /// Whether it counts as edited, and that cannot be told from rot.
    #[must_use]
    pub fn may_be_rot(&self) -> bool {
        let was_so = || self.after.as_deref().is_some_and(|after| after.ends_with(PERHAPS));
        self.class == Class::Changed && (self.is_of_content_alone() || was_so())
    }

    /// Of what was found to be changed by an edit, that it was found so before.
    pub(crate) fn perhaps_rotted(self) -> Self {
        let after = self.after.map(|after| after + PERHAPS);
        Self { class: Class::Changed, after, ..self }
    }

    /// Whether size and time are as cataloged, as far as they are known.
    fn is_of_content_alone(&self) -> bool {
        let [before, after] =
            [&self.before, &self.after].map(|it| it.as_deref().and_then(size_and_time));
        before.is_some() && before == after
    }

    pub(crate) fn because(self, why: impl Into<String>) -> Self {
        Self { after: Some(why.into()), ..self }
    }
}

/// What stands for a size or time that no list told.
const UNKNOWN: &str = "unknown";

/// Size and time of facts; none where one of them is unknown, or all that is known of the time is
/// that it is far away.
fn size_and_time(facts: &str) -> Option<(&str, &str)> {
    let (size, rest) = facts.split_once(' ')?;
    let time = rest.split(' ').next()?;
    let is_near = !time.contains("after-") && !time.contains("before-");
    let is_known = is_near && !size.contains(UNKNOWN) && !time.contains(UNKNOWN);
    is_known.then_some((size, time))
}

fn facts(stat: &Stat, digests: &Digests) -> String {
    let is_told = |is_known: bool, words: String| {
        if is_known || !stat.is_of_list() { words } else { UNKNOWN.to_owned() }
    };
    let size = is_told(stat.size != UNKNOWN_SIZE, stat.size.to_string());
    let time = is_told(stat.modified != UNKNOWN_TIME, seconds(stat.modified));
    let mut words = format!("size={size} mtime={time}");
    for digest in digests.iter() {
        // Writing to a String cannot fail.
        let _ = write!(words, " {}={digest}", digest.algorithm());
    }
    words
}

/// Nanoseconds since 1970 as seconds: `-1.500000000` is half a second before 23:59:59.
fn seconds(nanoseconds: i64) -> String {
    const SECOND: u64 = 1_000_000_000;
    if is_beyond(nanoseconds) {
        return if nanoseconds < 0 { "before-1677" } else { "after-2262" }.to_owned();
    }
    let (sign, whole) = (if nanoseconds < 0 { "-" } else { "" }, nanoseconds.unsigned_abs());
    format!("{sign}{}.{:09}", whole / SECOND, whole % SECOND)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stat::nanoseconds;

    #[test]
    fn times_are_numbers_of_seconds_and_none_that_is_not_known_is_a_date() {
        for (whole, rest, expected) in [
            (0, 0, "0.000000000"),
            (1_700_000_000, 5, "1700000000.000000005"),
            (-1, 500_000_000, "-0.500000000"),
            (-2, 500_000_000, "-1.500000000"),
            (-2, 0, "-2.000000000"),
            (10_413_792_000, 0, "after-2262"),
            (-10_413_792_000, 1, "before-1677"),
        ] {
            assert_eq!(seconds(nanoseconds(whole, rest)), expected);
        }
    }
}
