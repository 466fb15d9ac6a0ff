//! Verdicts on lines: judged and counted in the order of the lines.

use std::collections::{HashMap, VecDeque};
use std::iter;
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use super::etags::EtagNote;
use super::jobs::{Expected, ExpectedLine, Note};
use super::shared::Share;
use super::{Compared, Event, List, Options, Tally, Verdict};
use crate::engine::{self, Hashed};
use crate::etag::{Found, Gatherer, SharedSizes};
use crate::journal::Journal;
use crate::{Algorithm, Algorithms, Digest, Error, Outcome, Source};

/// The result of a file.
type Read = Result<Hashed, Arc<Error>>;

/// Returns the result of a file, without the digests of other algorithms.
fn only(algorithms: Algorithms, read: Read) -> Read {
    let mut hashed = read?;
    let is_of_one = |digest: &Digest| algorithms.contains(digest.algorithm());
    hashed.digests = hashed.digests.iter().copied().filter(is_of_one).collect();
    Ok(hashed)
}

/// A line that was compared with its file.
struct Judged {
    verdict: Verdict,
    /// The algorithms of matching digests, unless the file is empty, and of those that do not
    /// match.
    matched: Algorithms,
    mismatched: Algorithms,
    /// Whether the line names the algorithms.
    is_tagged: bool,
    is_of_etag: bool,
}

impl Judged {
    fn compare(
        ExpectedLine { digests, size, is_tagged, is_of_etag, is_backed, .. }: ExpectedLine,
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
                    _ if matched.is_empty() && !is_backed => Verdict::Unproven,
                    _ => Verdict::Match,
                }
            }
            Err(_) if is_missing(read, ignore_missing) => Verdict::Missing,
            Err(error) => Verdict::Unreadable(Arc::clone(error)),
        };
        // An empty file has the same digest under many algorithms: zeros.
        if matches!(read, Ok(hashed) if hashed.bytes == 0) {
            matched = Algorithms::NONE;
        }
        Self { verdict, matched, mismatched, is_tagged, is_of_etag }
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
        if self.is_of_etag {
            match self.verdict {
                Verdict::Match => tally.etags.matched = Algorithm::Md5.into(),
                Verdict::Mismatch => tally.etags.mismatched = Algorithm::Md5.into(),
                _ => {}
            }
        }
    }
}

/// Counts the results of each list, and keeps events until the caller asks for them.
#[derive(Debug)]
pub(super) struct Verdicts {
    ignore_missing: bool,
    /// The current list, or `None` before the first list and between lists.
    current: Option<(Arc<List>, Tally)>,
    /// The name of the last file in that list, empty before the first one.
    last_name: Vec<u8>,
    /// The results for later lines, by number.
    kept: HashMap<usize, Read>,
    /// The parts of a file.
    gatherer: Gatherer,
    known: SharedSizes,
    /// How files are read.
    engine: engine::Options,
    journal: Option<Arc<Journal>>,
    events: VecDeque<(Arc<List>, Event)>,
}

/// The result of the file of an entry.
struct Came {
    result: Result<Hashed, Error>,
    /// The result of a search for a part size.
    found: Option<Found>,
    from: From,
}

/// The source of the result of a file.
enum From {
    /// The file was read. The path is set if the result can be kept in the journal.
    Read(Option<PathBuf>),
    /// The size differs from the list.
    Look,
    /// The file was read by an earlier check.
    Journal,
}

impl Verdicts {
    /// Makes empty verdicts. `known` are the part sizes of the jobs, and `engine` are their
    /// options.
    pub(super) fn new(options: &Options, known: SharedSizes, engine: engine::Options) -> Self {
        Self {
            ignore_missing: options.ignore_missing,
            journal: options.journal.clone(),
            current: None,
            last_name: Vec::new(),
            kept: HashMap::new(),
            gatherer: Gatherer::default(),
            known,
            engine,
            events: VecDeque::new(),
        }
    }

    /// Returns the next event.
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
            Note::Malformed { line, is_nameless } => {
                tally.malformed += 1;
                tally.nameless += u64::from(is_nameless);
                Event::Malformed { line }
            }
            Note::Wrong(line, why) => {
                tally.wrong += 1;
                Event::Wrong { line, why }
            }
            Note::Stdin => Event::StandardInput,
            Note::Unknown(line, algorithm) => {
                tally.unknown += 1;
                Event::Unknown { line, algorithm }
            }
            Note::End(error) => Event::End { tally: *tally, error },
            Note::File(mut expected) => {
                // A file whose parts cannot be read counts as a file as well.
                if matches!(outcome.source, Source::Extent { .. }) {
                    self.engine.count_file();
                }
                let came = match expected.resumed.take() {
                    Some(hashed) => Came { result: Ok(*hashed), found: None, from: From::Journal },
                    None => {
                        let path = outcome.source.path().map(Path::to_owned);
                        Came { result: outcome.result, found: None, from: From::Read(path) }
                    }
                };
                return self.compare(expected, came);
            }
            Note::Etag(note) => return self.take_etag(*note, outcome.result),
        };
        self.events.push_back((Arc::clone(list), event));
    }

    /// Adds the result of a file whose part size is being searched.
    fn take_etag(&mut self, note: EtagNote, result: Result<Hashed, Error>) {
        let of_size = |bytes| Hashed { bytes, ..Hashed::default() };
        let (expected, came) = match note {
            EtagNote::OtherSize(expected, size) => {
                (expected, Came { result: Ok(of_size(size)), found: None, from: From::Look })
            }
            EtagNote::Part(note) => {
                let ended = self.gatherer.take(note, result, &self.engine);
                let Some((kept, etags)) = ended else { return };
                let (search, expected) = *kept;
                let size = search.size();
                let found = search.conclude(etags, &self.known, &self.engine);
                let (result, found) = match found {
                    Ok(found) => (Ok(of_size(size)), Some(found)),
                    Err(error) => (Err(error), None),
                };
                (expected, Came { result, found, from: From::Read(None) })
            }
        };
        if let (Some(Found::Held(part_size)), Some((list, _))) = (came.found, &self.current) {
            self.events.push_back((Arc::clone(list), Event::PartSize { part_size }));
        }
        self.compare(expected, came);
    }

    /// Compares a file with consecutive lines about it.
    fn compare(&mut self, expected: Expected, Came { result, found, from }: Came) {
        let Self { current: Some((list, tally)), last_name, kept, events, .. } = self else {
            return;
        };
        let ignore_missing = &self.ignore_missing;
        let Expected { mut name, place, is_raw, first, others, share, .. } = expected;
        let mut folder = place.and_then(|place| place.folder);
        // The result of the file, and the number and algorithms under which it is kept for later
        // lines.
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
        // Compared by name, because a list from a pipe may need two reads.
        let is_new = !matches!(share, Share::Later { .. }) && *last_name != name;
        if is_new && !is_missing(&read, *ignore_missing) {
            let bytes = read.as_ref().map_or(0, |hashed| hashed.bytes);
            let (files, read) = match from {
                From::Read(_) => (&mut tally.files, bytes),
                From::Look => (&mut tally.files, 0),
                From::Journal => (&mut tally.resumed, 0),
            };
            *files += 1;
            tally.bytes += read;
        }
        if let (From::Journal, Some(progress)) = (&from, &self.engine.progress) {
            progress.files.fetch_add(1, Relaxed);
            progress.bytes.fetch_add(read.as_ref().map_or(0, |hashed| hashed.bytes), Relaxed);
        }
        last_name.clone_from(&name);
        if is_raw {
            events.push_back((Arc::clone(list), Event::NotEncoded { name: name.clone() }));
        }
        let mut all_match = true;
        let mut lines = iter::once(first).chain(others).peekable();
        while let Some(line) = lines.next() {
            let judged = Judged::compare(line, &read, found, *ignore_missing);
            judged.count(tally);
            all_match &= matches!(judged.verdict, Verdict::Match);
            let is_last = lines.peek().is_none();
            let (name, folder) = match is_last {
                true => (mem::take(&mut name), folder.take()),
                false => (name.clone(), folder.clone()),
            };
            let event = Event::Checked { name, folder, verdict: judged.verdict };
            events.push_back((Arc::clone(list), event));
        }
        // A mismatch may be a read error, so the file is read again.
        if let (Some(journal), From::Read(Some(path)), Ok(hashed)) = (&self.journal, &from, &read)
            && all_match
        {
            journal.keep(path, hashed);
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
