//! What is found out about each line, by the workers, and told and counted in the order of the
//! lines.

use std::collections::HashMap;
use std::iter;
use std::ops::ControlFlow;
use std::sync::Arc;

use super::jobs::{Expected, ExpectedDigest, Note};
use super::shared::Share;
use super::{Event, List, Tally, Verdict};
use crate::engine::Hashed;
use crate::{Algorithm, Algorithms, Error, Outcome};

/// What was found out about a file: all that is kept until its turn comes.
pub(super) enum Finding {
    /// It was read for these lines.
    Read { lines: FileLines, bytes: u64, kept: Option<Kept> },
    /// It was read for other lines, and what came of it is kept under this number.
    Kept { expected: Expected, read: usize, is_last: bool },
}

/// Consecutive lines about one file, compared with it.
pub(super) struct FileLines {
    name: Vec<u8>,
    first: Judged,
    others: Vec<Judged>,
}

/// A line that was compared with its file.
struct Judged {
    verdict: Verdict,
    algorithm: Algorithm,
    /// Whether the line names it.
    is_tagged: bool,
}

/// What came of a file.
type Read = Result<Hashed, Arc<Error>>;

/// What is kept of a read for later lines, with its number.
pub(super) struct Kept(usize, Read);

impl Finding {
    /// Compares an outcome with its lines.
    pub(super) fn of(outcome: Outcome<Note<Expected>>, ignore_missing: bool) -> Note<Self> {
        let Outcome { context, result, .. } = outcome;
        context.map(|expected| Self::of_file(expected, result, ignore_missing))
    }

    fn of_file(expected: Expected, result: Result<Hashed, Error>, ignore_missing: bool) -> Self {
        let share = expected.share;
        if let Share::Later { read, is_last } = share {
            return Self::Kept { expected, read, is_last };
        }
        let read = result.map_err(Arc::new);
        Self::Read {
            lines: FileLines::compare(expected, &read, ignore_missing),
            bytes: read.as_ref().map_or(0, |hashed| hashed.bytes),
            kept: match share {
                Share::First { read: number, later } => Some(Kept(number, only(later, read))),
                Share::Only | Share::Later { .. } => None,
            },
        }
    }
}

/// What came of a file, without the digests of other algorithms.
fn only(algorithms: Algorithms, read: Read) -> Read {
    let mut hashed = read?;
    hashed.digests.retain(|digest| algorithms.contains(digest.algorithm()));
    hashed.digests.shrink_to_fit();
    Ok(hashed)
}

impl FileLines {
    fn compare(expected: Expected, read: &Read, ignore_missing: bool) -> Self {
        let Expected { name, first, others, share: _ } = expected;
        let compare = |expected| Judged::compare(expected, read, ignore_missing);
        Self { name, first: compare(first), others: others.into_iter().map(compare).collect() }
    }
}

impl Judged {
    fn compare(
        ExpectedDigest { digest, is_tagged }: ExpectedDigest,
        read: &Read,
        ignore_missing: bool,
    ) -> Self {
        let verdict = match read {
            Ok(hashed) if hashed.digests.contains(&digest) => Verdict::Match,
            Ok(_) => Verdict::Mismatch,
            Err(error) if ignore_missing && error.is_not_found() => Verdict::Missing,
            Err(error) => Verdict::Unreadable(Arc::clone(error)),
        };
        Self { verdict, algorithm: digest.algorithm(), is_tagged }
    }

    fn count(&self, tally: &mut Tally) {
        *match self.verdict {
            Verdict::Match => &mut tally.matched,
            Verdict::Mismatch => &mut tally.mismatched,
            Verdict::Missing => &mut tally.missing,
            Verdict::Unreadable(_) => &mut tally.unreadable,
        } += 1;
        let compared = if self.is_tagged { &mut tally.tagged } else { &mut tally.untagged };
        match self.verdict {
            Verdict::Match => compared.matched = compared.matched.with(self.algorithm),
            Verdict::Mismatch => compared.mismatched = compared.mismatched.with(self.algorithm),
            Verdict::Missing | Verdict::Unreadable(_) => {}
        }
    }
}

/// Counts what was found in each list, and passes it on.
pub(super) struct Verdicts<F> {
    sink: F,
    ignore_missing: bool,
    /// The list whose lines come; none before the first and between two.
    current: Option<(List, Tally)>,
    /// The last file's name in that list.
    last_name: Option<Vec<u8>>,
    /// What later lines are compared with, by its number.
    kept: HashMap<usize, Read>,
}

impl<F: FnMut(&List, Event<'_>) -> ControlFlow<()>> Verdicts<F> {
    pub(super) fn new(sink: F, ignore_missing: bool) -> Self {
        Self { sink, ignore_missing, current: None, last_name: None, kept: HashMap::new() }
    }

    pub(super) fn take(&mut self, finding: Note<Finding>) -> ControlFlow<()> {
        let Some((list, tally)) = &mut self.current else {
            let Note::Begin(list) = finding else {
                unreachable!("a list begins before anything happens in it")
            };
            self.current = Some((list, Tally::default()));
            return ControlFlow::Continue(());
        };
        match finding {
            Note::Begin(_) => unreachable!("a list ends before the next begins"),
            Note::Malformed(line) => {
                tally.malformed += 1;
                (self.sink)(list, Event::Malformed { line })
            }
            Note::Unknown(line, algorithm) => {
                tally.unknown += 1;
                (self.sink)(list, Event::Unknown { line, algorithm: &algorithm })
            }
            Note::File(finding) => self.file(finding),
            Note::End(error) => {
                let flow = (self.sink)(list, Event::End { tally: *tally, error });
                (self.current, self.last_name) = (None, None);
                flow
            }
        }
    }

    fn file(&mut self, finding: Finding) -> ControlFlow<()> {
        let Some((list, tally)) = &mut self.current else {
            unreachable!("a list begins before its files")
        };
        let FileLines { name, first, others } = match finding {
            Finding::Read { lines, bytes, kept } => {
                self.kept.extend(kept.map(|Kept(number, read)| (number, read)));
                // By their names, since it may take two reads where the list comes through a pipe.
                if !matches!(lines.first.verdict, Verdict::Missing)
                    && self.last_name.as_ref() != Some(&lines.name)
                {
                    tally.files += 1;
                    tally.bytes += bytes;
                }
                lines
            }
            Finding::Kept { expected, read: number, is_last } => {
                let Some(read) = self.kept.get(&number) else {
                    unreachable!("a file is read for the first of its lines")
                };
                let lines = FileLines::compare(expected, read, self.ignore_missing);
                if is_last {
                    self.kept.remove(&number);
                }
                lines
            }
        };
        for judged in iter::once(first).chain(others) {
            judged.count(tally);
            (self.sink)(list, Event::Checked { name: &name, verdict: judged.verdict })?;
        }
        self.last_name = Some(name);
        ControlFlow::Continue(())
    }
}
