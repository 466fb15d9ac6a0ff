//! The contents of lists, and the decision about each listed file.

use std::path::{Path, PathBuf};

use lanesum_list::{Digests, Record};

use crate::model::agree;
use crate::store::digests::algorithms;

/// The digests of a file in lists.
#[derive(Debug, Default)]
pub struct Import {
    pub(super) files: Vec<(PathBuf, Digests)>,
}

/// The result of a listed file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Imported {
    /// It has the listed content, and is recorded now.
    Recorded,
    /// It has the listed content, and was already recorded with it.
    Known,
    /// The listed digests replaced those of its record.
    Replaced,
    /// It has a different content than listed. It is recorded as damaged, with the listed digests.
    Differs,
    /// It has the recorded content, and the list differs. Nothing was changed.
    Conflict,
    /// Its content differs from its record, so it was edited or is damaged. Nothing was changed.
    Changed,
    /// Lists contradict each other about it. It was not read.
    Contradicted,
    /// It does not exist.
    Missing,
    /// It is in no root.
    NoRoot,
    /// Its root is offline.
    Offline,
    /// It could not be read, or is not a regular file.
    Unreadable,
}

impl Import {
    /// Adds the digests of a list about a file at a full path. Keyed digests, and lines without
    /// other digests, are ignored.
    pub fn add(&mut self, path: PathBuf, record: &Record<'_>) {
        let digests = record.digests.iter().filter(|digest| !digest.algorithm().needs_key());
        let digests: Digests = digests.copied().collect();
        if !digests.is_empty() {
            self.files.push((path, digests));
        }
    }

    /// Returns whether no list has digests.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Returns the listed paths.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().map(|(path, _)| path.as_path())
    }
}

/// Joins the digests of the first with those of other algorithms of the second.
pub(super) fn join(first: &Digests, second: &Digests) -> Digests {
    let known = algorithms(first);
    let more = second.iter().filter(|digest| !known.contains(digest.algorithm()));
    first.iter().chain(more).copied().collect()
}

/// Decides about a file that was read with all algorithms of its record and the list.
pub(super) fn decide(
    recorded: Option<&Digests>,
    listed: &Digests,
    read: &Digests,
    replace: bool,
) -> Imported {
    let is_listed = agree(listed, read) == Some(true);
    let Some(recorded) = recorded else {
        return if is_listed { Imported::Recorded } else { Imported::Differs };
    };
    let is_recorded = agree(recorded, read) == Some(true);
    match (is_recorded, is_listed) {
        (true, true) => Imported::Known,
        (true, false) if !replace => Imported::Conflict,
        (false, _) if !replace || agree(recorded, listed) == Some(true) => Imported::Changed,
        (_, true) => Imported::Replaced,
        (_, false) => Imported::Differs,
    }
}

#[cfg(test)]
mod tests {
    use lanesum_list::{Algorithm, Digest};

    use super::*;

    /// Contents are numbers: the record, a list and the file have one each.
    #[test]
    fn record_list_and_content_decide_together() {
        use Imported::{Changed, Conflict, Differs, Known, Recorded, Replaced};
        let of = |algorithm: Algorithm, content| {
            Digest::new(algorithm, &vec![content; algorithm.digest_len()]).unwrap()
        };
        let md5 = |content| Digests::from(of(Algorithm::Md5, content));
        let sha = |content| Digests::from(of(Algorithm::Sha256, content));
        let read = join(&md5(1), &sha(1));
        for (recorded, listed, kept, replaced) in [
            (None, md5(1), Recorded, Recorded),
            (None, md5(2), Differs, Differs),
            (Some(md5(1)), md5(1), Known, Known),
            (Some(md5(1)), sha(1), Known, Known),
            (Some(md5(1)), sha(2), Conflict, Differs),
            (Some(md5(1)), md5(2), Conflict, Differs),
            (Some(md5(2)), md5(2), Changed, Changed),
            (Some(md5(2)), md5(1), Changed, Replaced),
            (Some(md5(2)), md5(3), Changed, Differs),
            (Some(md5(2)), sha(1), Changed, Replaced),
            (Some(md5(2)), sha(2), Changed, Differs),
        ] {
            for (replace, expected) in [(false, kept), (true, replaced)] {
                let result = decide(recorded.as_ref(), &listed, &read, replace);
                assert_eq!(result, expected, "{recorded:?}, {listed:?}, replace {replace}");
            }
        }
    }
}
