//! What is told of a file, and kept as an event.

use std::fmt::Write as _;

use lanesum_list::Digests;

use crate::Class;
use crate::stat::Stat;

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
    /// What is cataloged: `size=3 mtime=1700000000.000000000 md5=900150983cd24fb0d6963f7d28e17f72`.
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

    pub(crate) fn because(self, why: impl Into<String>) -> Self {
        Self { after: Some(why.into()), ..self }
    }
}

fn facts(stat: &Stat, digests: &Digests) -> String {
    const SECOND: i64 = 1_000_000_000;
    let Stat { size, modified, .. } = stat;
    let (seconds, rest) = (modified.div_euclid(SECOND), modified.rem_euclid(SECOND));
    let mut words = format!("size={size} mtime={seconds}.{rest:09}");
    for digest in digests.iter() {
        // Writing to a String cannot fail.
        let _ = write!(words, " {}={digest}", digest.algorithm());
    }
    words
}
