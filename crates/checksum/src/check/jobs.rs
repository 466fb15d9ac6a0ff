//! The lines of lists as jobs of the engine.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::iter::{Fuse, Peekable};
use std::os::fd::AsFd as _;
use std::path::PathBuf;

use lanesum_list::Record;
use lanesum_list::formats::{Line, Mixed};

use super::shared::{Share, SharedReads};
use super::{List, ListError, Options, Reading};
use crate::list::{self, ListReader, OpenError};
use crate::{Algorithm, Algorithms, Digest, Job, Source};

/// As many lines share one read of their file at most: a list of any length takes the same memory.
const MOST_AT_ONCE: usize = 16;

/// What stands next in the lists: what a job is about.
pub(super) enum Note {
    Begin(List),
    Malformed(u64),
    /// The line's number, and what it calls its algorithm.
    Unknown(u64, String),
    File(Expected),
    End(Option<ListError>),
}

/// What consecutive lines of a list say about one file, which is read once for all of them.
pub(super) struct Expected {
    pub(super) name: Vec<u8>,
    pub(super) first: ExpectedDigest,
    /// Those of the lines after the first; as a rule there are none.
    pub(super) others: Vec<ExpectedDigest>,
    /// Which of the jobs about the file this is.
    pub(super) share: Share,
}

/// The digest in a line.
#[derive(Clone, Copy)]
pub(super) struct ExpectedDigest {
    pub(super) digest: Digest,
    /// Whether the line names its algorithm.
    pub(super) is_tagged: bool,
}

impl Expected {
    /// What a line says of a file; `None` where that is nothing to compare it with.
    fn of(record: Record<'_>, is_tagged: bool) -> Option<Self> {
        let mut digests = record.digests.iter().map(|&digest| ExpectedDigest { digest, is_tagged });
        let (first, others) = (digests.next()?, digests.collect());
        Some(Self { name: record.name.into_owned(), first, others, share: Share::Only })
    }

    fn algorithms(&self) -> Algorithms {
        let digests = [&self.first].into_iter().chain(&self.others);
        digests.map(|expected| expected.digest.algorithm()).collect()
    }
}

/// The lines of the lists as jobs.
///
/// A list on standard input must not be read while a job reads standard input as a file. So the
/// jobs end before one; [`resume`](Self::resume) goes on once those given out are done.
pub(super) struct Jobs<L: Iterator<Item = List>> {
    lists: Peekable<Fuse<L>>,
    options: Options,
    format: Mixed,
    shared: SharedReads,
    state: State,
    /// Whether a job was given out since the last `resume`, and may not be done.
    in_flight: bool,
}

enum State {
    BetweenLists,
    InList(OpenList),
    AtEnd(Option<ListError>),
}

impl<L: Iterator<Item = List>> Jobs<L> {
    pub(super) fn new(lists: L, options: &Options, shared: SharedReads) -> Self {
        Self {
            lists: lists.fuse().peekable(),
            options: options.clone(),
            format: Mixed::new(options.dialect),
            shared,
            state: State::BetweenLists,
            in_flight: false,
        }
    }

    /// Whether there are more jobs, now that those given out are done.
    pub(super) fn resume(&mut self) -> bool {
        self.in_flight = false;
        self.lists.peek().is_some()
    }

    fn note(&mut self) -> Option<Note> {
        let in_flight = self.in_flight;
        loop {
            match &mut self.state {
                State::BetweenLists => {
                    let list = self.lists.next_if(|list| !in_flight || *list != List::Stdin)?;
                    self.state = self.open(&list);
                    return Some(Note::Begin(list));
                }
                State::InList(list) => match list.next(&mut self.format, &self.options) {
                    Ok(Some(note)) => return Some(note),
                    Ok(None) => self.state = State::AtEnd(None),
                    Err(error) => self.state = State::AtEnd(Some(error)),
                },
                State::AtEnd(error) => {
                    let error = error.take();
                    self.state = State::BetweenLists;
                    return Some(Note::End(error));
                }
            }
        }
    }

    fn open(&mut self, list: &List) -> State {
        if self.options.reading == Reading::Examined {
            self.format = Mixed::new(self.options.dialect);
        }
        match OpenList::open(list, &self.options) {
            Ok(list) => State::InList(list),
            Err(error) => State::AtEnd(Some(error)),
        }
    }

    /// What to read for the file of an entry.
    fn source(&self, name: &[u8]) -> Source {
        if name == b"-" && self.options.root.is_none() {
            Source::Stdin
        } else {
            Source::Path(self.options.path(name))
        }
    }
}

impl<L: Iterator<Item = List>> Iterator for Jobs<L> {
    type Item = Job<Note>;

    fn next(&mut self) -> Option<Job<Note>> {
        let mut note = self.note()?;
        self.in_flight = true;
        let (source, algorithms) = match &mut note {
            Note::File(expected) => {
                let mut algorithms = expected.algorithms();
                // Lines that come through a pipe are in no plan.
                if matches!(&self.state, State::InList(list) if list.is_regular) {
                    (expected.share, algorithms) = self.shared.share(&expected.name, algorithms);
                }
                let source = match expected.share {
                    Share::Only | Share::First { .. } => self.source(&expected.name),
                    Share::Later { .. } => Source::Nothing,
                };
                (source, algorithms)
            }
            _ => (Source::Nothing, Algorithms::NONE),
        };
        Some(Job { source, algorithms, context: note })
    }
}

struct OpenList {
    is_stdin: bool,
    /// Its lines are there, and may be read before they are needed. The writer of a pipe may wait
    /// for the verdict on a line before it writes the next.
    is_regular: bool,
    lines: ListReader<Box<dyn BufRead + Send>>,
    /// What comes after the last one given, where that was read already.
    ahead: Option<Result<Step, ListError>>,
    /// Whether no line but blank ones came so far.
    is_empty: bool,
}

/// What the next line makes of a list.
enum Step {
    /// Nothing: it is blank.
    Pass,
    Note(Note),
    End,
}

impl OpenList {
    fn open(list: &List, options: &Options) -> Result<Self, ListError> {
        let file = match list {
            List::Stdin => io::stdin().as_fd().try_clone_to_owned().map(File::from),
            List::Path(path) => File::open(path),
        };
        let file = file.map_err(ListError::Open)?;
        let is_regular = file.metadata().is_ok_and(|metadata| metadata.is_file());
        let ending = options.dialect.ending();
        let text = BufReader::new(file);
        let text: Box<dyn BufRead + Send> = match options.reading {
            Reading::Gnu => Box::new(text),
            Reading::Examined => {
                Box::new(list::open(text, ending).map_err(|error| match error {
                    OpenError::Io(error) => ListError::Read(error),
                    OpenError::NotAList(other) => ListError::NotAList(other),
                })?)
            }
        };
        let is_stdin = *list == List::Stdin;
        Ok(Self { is_stdin, is_regular, lines: ListReader::new(text), ahead: None, is_empty: true })
    }

    /// Goes on to the next line that is not blank, and takes those after it along that are about
    /// the same file.
    fn next(&mut self, format: &mut Mixed, options: &Options) -> Result<Option<Note>, ListError> {
        let mut file = loop {
            let step = self.ahead.take().unwrap_or_else(|| self.step(format, options))?;
            match step {
                Step::Pass => {}
                Step::Note(Note::File(file)) => break file,
                Step::Note(note) => {
                    self.is_empty = false;
                    return Ok(Some(note));
                }
                // A file may be an empty list. Who writes one into a pipe says it by writing
                // nothing, as does a writer that failed.
                Step::End
                    if self.is_empty
                        && !self.is_regular
                        && options.reading == Reading::Examined =>
                {
                    return Err(ListError::NothingCame);
                }
                Step::End => return Ok(None),
            }
        };
        self.is_empty = false;
        while file.others.len() + 1 < MOST_AT_ONCE && self.may_look_ahead(options) {
            match self.step(format, options) {
                Ok(Step::Pass) => {}
                Ok(Step::Note(Note::File(next))) if next.name == file.name => {
                    file.others.push(next.first);
                    file.others.extend(next.others);
                }
                other => {
                    self.ahead = Some(other);
                    break;
                }
            }
        }
        Ok(Some(Note::File(file)))
    }

    /// Whether the next line can be read without waiting for it. GNU md5sum never does.
    fn may_look_ahead(&mut self, options: &Options) -> bool {
        options.reading == Reading::Examined
            && (self.is_regular || self.lines.has_next(options.dialect.ending()))
    }

    /// Reads a line.
    fn step(&mut self, format: &mut Mixed, options: &Options) -> Result<Step, ListError> {
        let line = self.lines.next_line(format).map_err(ListError::Read)?;
        let Some(line) = line else { return Ok(Step::End) };
        let number = line.number;
        let (record, is_tagged) = match line.parse(format) {
            Line::Blank => return Ok(Step::Pass),
            Line::Malformed => return Ok(Step::Note(Note::Malformed(number))),
            Line::Unknown(name) => return Ok(Step::Note(Note::Unknown(number, name.to_owned()))),
            Line::Record { record, is_tagged } => (record, is_tagged),
        };
        if self.is_stdin && options.reading == Reading::Gnu && *record.name == *b"-" {
            // The list comes from there, so nothing else can. Otherwise the engine says so.
            return Ok(Step::Note(Note::Malformed(number)));
        }
        let needs_key = |algorithm: &Algorithm| algorithm.needs_key();
        let mut algorithms = record.digests.iter().map(Digest::algorithm);
        if options.engine.key.is_none()
            && let Some(algorithm) = algorithms.find(needs_key)
        {
            return Err(ListError::NoKey(algorithm));
        }
        // A file without a digest must not pass for one that was checked.
        let expected = Expected::of(record, is_tagged);
        Ok(Step::Note(expected.map_or(Note::Malformed(number), Note::File)))
    }
}

/// The files that a check of these lists reads, in their order: for a total, ahead of the check or
/// beside it. Whatever is wrong with a list is passed over, since the check itself will tell.
///
/// Each list is read for this alone. So none of them may be a pipe, which gives its lines only once
/// ([`List::Stdin`] is never read).
pub fn files<L>(lists: L, options: &Options) -> impl Iterator<Item = PathBuf> + Send + use<L>
where
    L: Iterator<Item = List> + Clone + Send,
{
    let lists = lists.filter(|list| *list != List::Stdin);
    let shared = SharedReads::find(lists.clone(), options);
    Jobs::new(lists, options, shared).filter_map(|job| match job.source {
        Source::Path(path) | Source::Regular(path) | Source::Extent { path, .. } => Some(path),
        // Has a size if it is a regular file.
        Source::Stdin => Some(PathBuf::from("/dev/stdin")),
        Source::Nothing => None,
    })
}
