//! How files compare with their lines: judged and counted in the order of the lines.

use std::collections::{HashMap, VecDeque};
use std::iter;
use std::mem;
use std::sync::Arc;

use super::etags::EtagNote;
use super::jobs::{Expected, ExpectedLine, Note};
use super::shared::Share;
use super::{Compared, Event, List, Tally, Verdict};
use crate::engine::{self, Hashed};
use crate::etag::{Found, Gatherer, Known};
use crate::{Algorithms, Digest, Error, Outcome, Source};

/// What came of a file.
type Read = Result<Hashed, Arc<Error>>;

/// What came of a file, without the digests of other algorithms.
fn only(algorithms: Algorithms, read: Read) -> Read {
    let mut hashed = read?;
    let is_of_one = |digest: &Digest| algorithms.contains(digest.algorithm());
    hashed.digests = hashed.digests.iter().copied().filter(is_of_one).collect();
    Ok(hashed)
}

/// A line that was compared with its file.
struct Judged {
    verdict: Verdict,
    /// Of the digests that the file has, unless it is empty, and of those that it has not.
    matched: Algorithms,
    mismatched: Algorithms,
    /// Whether the line names them.
    is_tagged: bool,
}

impl Judged {
    fn compare(
        ExpectedLine { digests, size, is_tagged, .. }: ExpectedLine,
        read: &Read,
        found: Option<Found>,
        ignore_missing: bool,
    ) -> Self {
        let (mut matched, mut mismatched) = (Algorithms::NONE, Algorithms::NONE);
        let verdict = match read {
            Ok(hashed) => {
                for digest in digests.iter() {
                    let is_there = hashed.digests.contains(digest);
                    let compared = if is_there { &mut matched } else { &mut mismatched };
                    *compared = compared.with(digest.algorithm());
                }
                match size {
                    Some(listed) if listed != hashed.bytes => {
                        Verdict::OtherSize { listed, found: hashed.bytes }
                    }
                    _ if !mismatched.is_empty() => Verdict::Mismatch,
                    _ if found.is_some() => match found {
                        Some(Found::NoneOf(tried)) => Verdict::OtherParts { tried },
                        Some(Found::Held(_)) => Verdict::Match,
                        _ => Verdict::Mismatch,
                    },
                    _ if matched.is_empty() => Verdict::Unproven,
                    _ => Verdict::Match,
                }
            }
            Err(_) if is_missing(read, ignore_missing) => Verdict::Missing,
            Err(error) => Verdict::Unreadable(Arc::clone(error)),
        };
        // An empty file has the digest of many algorithms that nobody can tell apart: zeros.
        if matches!(read, Ok(hashed) if hashed.bytes == 0) {
            matched = Algorithms::NONE;
        }
        Self { verdict, matched, mismatched, is_tagged }
    }

    fn count(&self, tally: &mut Tally) {
        *match self.verdict {
            Verdict::Match => &mut tally.matched,
            Verdict::Mismatch | Verdict::OtherSize { .. } | Verdict::OtherParts { .. } => {
                &mut tally.mismatched
            }
            Verdict::Unproven => &mut tally.unproven,
            Verdict::Missing => &mut tally.missing,
            Verdict::Unreadable(_) => &mut tally.unreadable,
        } += 1;
        let compared = if self.is_tagged { &mut tally.tagged } else { &mut tally.untagged };
        *compared += Compared { matched: self.matched, mismatched: self.mismatched };
    }
}

/// Counts what was found in each list, and keeps it for whoever asks.
#[derive(Debug)]
pub(super) struct Verdicts {
    ignore_missing: bool,
    /// The list whose lines come; none before the first and between two.
    current: Option<(Arc<List>, Tally)>,
    /// The last file's name in that list; empty before the first.
    last_name: Vec<u8>,
    /// What later lines are compared with, by its number.
    kept: HashMap<usize, Read>,
    /// The parts of a file.
    gatherer: Gatherer,
    known: Known,
    /// How files are read.
    engine: engine::Options,
    events: VecDeque<(Arc<List>, Event)>,
}

/// What came of the file of an entry.
struct Came {
    result: Result<Hashed, Error>,
    /// Where a part size was looked for.
    found: Option<Found>,
    /// Whether the bytes were read, not only counted.
    is_read: bool,
}

impl Verdicts {
    /// `known` are the part sizes of the jobs, `engine` what they run with.
    pub(super) fn new(ignore_missing: bool, known: Known, engine: engine::Options) -> Self {
        Self {
            ignore_missing,
            current: None,
            last_name: Vec::new(),
            kept: HashMap::new(),
            gatherer: Gatherer::default(),
            known,
            engine,
            events: VecDeque::new(),
        }
    }

    /// The next of the events that came of outcomes.
    pub(super) fn next(&mut self) -> Option<(Arc<List>, Event)> {
        self.events.pop_front()
    }

    pub(super) fn take(&mut self, outcome: Outcome<Note>) {
        if let Note::Begin(list) = outcome.context {
            self.current = Some((Arc::new(list), Tally::default()));
            self.last_name.clear();
            return;
        }
        let Some((list, tally)) = &mut self.current else {
            unreachable!("a list begins before anything happens in it")
        };
        let event = match outcome.context {
            Note::Begin(_) => return,
            Note::Malformed(line) => {
                tally.malformed += 1;
                Event::Malformed { line }
            }
            Note::Wrong(line, why) => {
                tally.wrong += 1;
                Event::Wrong { line, why }
            }
            Note::Unknown(line, algorithm) => {
                tally.unknown += 1;
                Event::Unknown { line, algorithm }
            }
            Note::End(error) => Event::End { tally: *tally, error },
            Note::File(expected) => {
                let came = Came { result: outcome.result, found: None, is_read: true };
                return self.compare(expected, came);
            }
            Note::Etag(note) => return self.take_etag(*note, &outcome.source, outcome.result),
        };
        self.events.push_back((Arc::clone(list), event));
    }

    /// Takes what came of a file whose part size is looked for.
    fn take_etag(&mut self, note: EtagNote, source: &Source, result: Result<Hashed, Error>) {
        let of_size = |bytes| Hashed { bytes, ..Hashed::default() };
        let (expected, came) = match note {
            EtagNote::OtherSize(expected, size) => {
                (expected, Came { result: Ok(of_size(size)), found: None, is_read: false })
            }
            EtagNote::Part(note) => {
                let ended = self.gatherer.take(note, source, result, &self.engine);
                let Some((kept, etags)) = ended else { return };
                let (search, expected) = *kept;
                let size = search.size();
                let found = search.conclude(etags, &self.known, &self.engine);
                let (result, found) = match found {
                    Ok(found) => (Ok(of_size(size)), Some(found)),
                    Err(error) => (Err(error), None),
                };
                (expected, Came { result, found, is_read: true })
            }
        };
        if let (Some(Found::Held(part_size)), Some((list, _))) = (came.found, &self.current) {
            self.events.push_back((Arc::clone(list), Event::PartSize { part_size }));
        }
        self.compare(expected, came);
    }

    /// Compares a file with consecutive lines about it.
    fn compare(&mut self, expected: Expected, Came { result, found, is_read: counts }: Came) {
        let Self { ignore_missing, current: Some((list, tally)), last_name, kept, events, .. } =
            self
        else {
            return;
        };
        let Expected { mut name, is_raw, first, others, share, .. } = expected;
        // What came of the file; and the number under which it is kept for later lines, or of it
        // what is of these algorithms.
        let (read, later) = match share {
            Share::Only => (result.map_err(Arc::new), None),
            Share::First { read: number, later } => {
                (result.map_err(Arc::new), Some((number, Some(later))))
            }
            Share::Later { read: number, is_last } => {
                let read = kept.remove(&number).expect("a file is read for the first of its lines");
                (read, (!is_last).then_some((number, None)))
            }
        };
        // By their names, since it may take two reads where the list comes through a pipe.
        let is_read = !matches!(share, Share::Later { .. }) && *last_name != name;
        if is_read && !is_missing(&read, *ignore_missing) {
            tally.files += 1;
            let bytes = read.as_ref().map_or(0, |hashed| hashed.bytes);
            tally.bytes += if counts { bytes } else { 0 };
        }
        last_name.clone_from(&name);
        if is_raw {
            events.push_back((Arc::clone(list), Event::NotEncoded { name: name.clone() }));
        }
        let mut lines = iter::once(first).chain(others).peekable();
        while let Some(line) = lines.next() {
            let judged = Judged::compare(line, &read, found, *ignore_missing);
            judged.count(tally);
            let is_last = lines.peek().is_none();
            let name = if is_last { mem::take(&mut name) } else { name.clone() };
            let event = Event::Checked { name, verdict: judged.verdict };
            events.push_back((Arc::clone(list), event));
        }
        if let Some((number, algorithms)) = later {
            let read = match algorithms {
                Some(algorithms) => only(algorithms, read),
                None => read,
            };
            kept.insert(number, read);
        }
    }
}

fn is_missing(read: &Read, ignore_missing: bool) -> bool {
    ignore_missing && read.as_ref().is_err_and(|error| error.is_not_found())
}
