//! Turns the lines of lists into jobs of the engine.

use std::borrow::Cow;
use std::collections::{HashSet, VecDeque};
use std::io::{BufRead, BufReader};
use std::iter::{Fuse, Peekable};
use std::mem;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use lanesum_list::formats::{Format, Line, Mixed, Wrong};
use lanesum_list::{
    Dialect, Digests, Etag, Record, has_digest, names_beside_short_digest, names_standard_input,
};

use super::etags::{self, EtagJobs, EtagNote, ReadAs};
use super::format::FormatOfList;
use super::shared::{MOST_BYTES, Share, SharedReads};
use super::{List, ListError, Options, Recognition};
use crate::engine::Hashed;
use crate::etag::SharedSizes;
use crate::list::{self, ListReader, Snapshot};
use crate::{Algorithm, Algorithms, Digest, Job, Source};

/// The largest number of lines that share one read of a file. It bounds the memory for lists of any
/// length.
const MOST_AT_ONCE: usize = 16;

/// The largest number of lines with a digest that are kept until the first checksum line.
const MOST_DOUBTFUL: usize = 1024;

/// The next item in the lists, which a job is for.
pub(super) enum Note {
    Begin(List),
    Malformed {
        line: u64,
        /// Whether the line is a digest without a name.
        is_nameless: bool,
    },
    /// The number of the first line.
    Wrong(u64, Wrong),
    /// The line number, and the name of the algorithm.
    Unknown(u64, String),
    File(Expected),
    /// A line with only a multipart ETag.
    Etag(Box<EtagNote>),
    /// The next file is standard input.
    Stdin,
    End(Option<ListError>),
}

/// Consecutive lines of a list about one file, which is read once for all of them.
pub(super) struct Expected {
    pub(super) name: Vec<u8>,
    /// Rare data of few lists.
    pub(super) place: Option<Box<Whereabouts>>,
    /// Whether the literal name is used.
    pub(super) is_raw: bool,
    pub(super) first: ExpectedLine,
    /// The lines after the first one, usually empty.
    pub(super) others: Vec<ExpectedLine>,
    /// The share of this job in the reads of the file.
    pub(super) share: Share,
    /// The result of the file in an earlier check, if the file has not changed since.
    pub(super) resumed: Option<Box<Hashed>>,
}

/// The data that, together with the name, determine the path of a file.
#[derive(PartialEq, Eq)]
pub(super) struct Whereabouts {
    /// The directory that a previous line of the list has named. A later line may replace it.
    pub(super) folder: Option<Vec<u8>>,
    /// The literal name, for lists whose writer did not encode names.
    raw_name: Option<Vec<u8>>,
}

/// The data of a line about its file.
pub(super) struct ExpectedLine {
    pub(super) digests: Digests,
    pub(super) size: Option<u64>,
    /// The multipart ETag, if there are no digests.
    pub(super) etag: Option<Box<Etag>>,
    /// Whether the line names its algorithms.
    pub(super) is_tagged: bool,
    /// Whether the MD5 is an ETag, or the line has a multipart ETag.
    pub(super) is_of_etag: bool,
    /// Whether the line has only a size, and another line of the list has a digest of the file.
    pub(super) is_backed: bool,
}

impl ExpectedLine {
    /// Returns whether the line has a size, but no digest.
    fn is_of_size(&self) -> bool {
        self.digests.is_empty() && self.etag.is_none() && !self.is_of_etag
    }
}

impl Expected {
    /// Makes the data of a line about a file in a directory that the list may name. Returns `None`
    /// if the line has no data to compare.
    fn of(record: Record<'_>, is_tagged: bool, folder: Option<&[u8]>) -> Option<Self> {
        let Record { name, raw_name, size, digests, etag, .. } = record;
        let is_of_etag = etag.is_some_and(|etag| match etag.parts {
            Some(_) => digests.is_empty(),
            None => digests.contains(&etag.digest),
        });
        let etag = etag.filter(|etag| etag.parts.is_some() && digests.is_empty()).map(Box::new);
        if digests.is_empty() && size.is_none() && etag.is_none() {
            return None;
        }
        Some(Self {
            name: name.into_owned(),
            place: (folder.is_some() || raw_name.is_some()).then(|| {
                let folder = folder.map(<[u8]>::to_vec);
                Box::new(Whereabouts { folder, raw_name: raw_name.map(Cow::into_owned) })
            }),
            is_raw: false,
            first: ExpectedLine { digests, size, etag, is_tagged, is_of_etag, is_backed: false },
            others: Vec::new(),
            share: Share::Only,
            resumed: None,
        })
    }

    /// Returns whether both lines are about the same file.
    fn is_of_same_file(&self, other: &Self) -> bool {
        self.name == other.name && self.place == other.place
    }

    /// Returns the literal name if only that file exists.
    fn raw_name(&self, path: impl Fn(&Self, &[u8]) -> PathBuf) -> Option<&[u8]> {
        let is_there = |name: &[u8]| path(self, name).symlink_metadata().is_ok();
        let raw = self.place.as_ref()?.raw_name.as_deref()?;
        (!is_there(&self.name) && is_there(raw)).then_some(raw)
    }

    /// Notes that lines with only a size have a digest beside them, if one has.
    fn back_sizes(&mut self) {
        let has_digest = !self.algorithms().is_empty();
        for line in [&mut self.first].into_iter().chain(&mut self.others) {
            line.is_backed |= has_digest && line.is_of_size();
        }
    }

    /// Returns whether a line has only a size, and no other line a digest of the file.
    fn has_size_alone(&self) -> bool {
        self.first.is_of_size() && !self.first.is_backed
    }

    fn algorithms(&self) -> Algorithms {
        let lines = [&self.first].into_iter().chain(&self.others);
        lines.flat_map(|line| line.digests.iter()).map(Digest::algorithm).collect()
    }
}

/// An iterator of the lines of the lists as jobs.
///
/// A list on standard input must not be read while a job reads standard input as a file. So the
/// jobs end before such a list, and [`resume`](Self::resume) continues once the previous jobs are
/// done.
pub(super) struct Jobs<L: Iterator<Item = List>> {
    lists: Peekable<Fuse<L>>,
    options: Options,
    format: Box<dyn Format>,
    /// The directory of the names, if the list has named one.
    folder: Option<PathBuf>,
    /// The open list, and the names of its lines once they were requested. Pipes have none, because
    /// they can be read only once.
    list: Option<List>,
    names: Option<Option<HashSet<Vec<u8>>>>,
    /// The names of lines with digests, once they were requested.
    digested: Option<Option<HashSet<Vec<u8>>>>,
    shared: SharedReads,
    /// The remaining jobs of the previous line if its file is read in parts.
    parts: Option<Box<EtagJobs>>,
    /// The part sizes to try.
    known: SharedSizes,
    state: State,
    /// The next job, if a note about it comes first.
    pending: Option<Job<Note>>,
    /// Whether a job was returned since the last `resume` and may not be done.
    in_flight: bool,
}

enum State {
    BetweenLists,
    InList(Box<OpenList>),
    AtEnd(Option<ListError>),
}

impl<L: Iterator<Item = List>> Jobs<L> {
    pub(super) fn new(lists: L, options: &Options, shared: SharedReads) -> Self {
        Self {
            parts: None,
            pending: None,
            known: SharedSizes::given(&options.part_sizes),
            lists: lists.fuse().peekable(),
            options: options.clone(),
            format: Box::new(Mixed::new(options.dialect)),
            folder: None,
            list: None,
            names: None,
            digested: None,
            shared,
            state: State::BetweenLists,
            in_flight: false,
        }
    }

    /// Returns the part sizes to try, which the verdicts update.
    pub(super) fn known(&self) -> &SharedSizes {
        &self.known
    }

    /// Returns whether there are more jobs, once the previous jobs are done.
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
                    (self.list, self.names, self.digested) = (Some(list.clone()), None, None);
                    return Some(Note::Begin(list));
                }
                State::InList(list) => match list.next(&mut *self.format, &self.options) {
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
        match OpenList::open(list, &self.options) {
            Ok((list, None)) => State::InList(Box::new(list)),
            Ok((list, Some(FormatOfList { format, folder }))) => {
                (self.format, self.folder) = (format, folder);
                State::InList(Box::new(list))
            }
            Err(error) => State::AtEnd(Some(error)),
        }
    }

    /// Returns the source to read for the file of an entry.
    fn source(&self, expected: &Expected) -> Source {
        self.path_of(expected).map_or(Source::Stdin, Source::Path)
    }

    /// Returns the path of the file of an entry, or `None` for standard input.
    fn path_of(&self, expected: &Expected) -> Option<PathBuf> {
        let is_stdin = expected.name == b"-" && self.options.root.is_none() && !self.options.beside;
        if is_stdin { None } else { Some(self.path(expected, &expected.name)) }
    }

    /// Starts with the file of an entry with a multipart ETag.
    fn begin_parts(&mut self, mut expected: Expected, etag: Etag) -> Option<Job<Note>> {
        self.settle_name(&mut expected);
        match etags::begin(self.path_of(&expected), etag, expected, &self.known) {
            ReadAs::Job(job) => Some(*job),
            ReadAs::Jobs(jobs) => self.parts.insert(jobs).next(),
        }
    }

    /// Uses the literal name if only that file exists and no other line has that name.
    fn settle_name(&mut self, expected: &mut Expected) {
        let Some(raw) = expected.raw_name(|it, name| self.path(it, name)) else { return };
        let raw = raw.to_vec();
        let names = self.names.get_or_insert_with(|| {
            let is_encoded = |expected: &Expected| expected.name.contains(&b'%');
            self.list.as_ref().and_then(|list| OpenList::names(list, &self.options, is_encoded))
        });
        // If the other names are unknown, the file is reported as missing.
        if names.as_ref().is_some_and(|names| !names.contains(&raw)) {
            (expected.name, expected.is_raw) = (raw, true);
        }
    }

    /// Looks for a digest of a file in other lines, if this one has only its size.
    fn back_size(&mut self, expected: &mut Expected) {
        let names = self.digested.get_or_insert_with(|| {
            let has_digest = |expected: &Expected| !expected.algorithms().is_empty();
            self.list.as_ref().and_then(|list| OpenList::names(list, &self.options, has_digest))
        });
        let is_backed = names.as_ref().is_some_and(|names| names.contains(&expected.name));
        for line in [&mut expected.first].into_iter().chain(&mut expected.others) {
            line.is_backed |= is_backed && line.is_of_size();
        }
    }

    /// Returns the path of a name: in the directory that the list has named, or in that of the
    /// list.
    fn path(&self, expected: &Expected, name: &[u8]) -> PathBuf {
        let told = expected.place.as_ref().and_then(|place| place.folder.as_deref());
        self.options.path_in(name, told, self.folder.as_deref())
    }
}

impl<L: Iterator<Item = List>> Iterator for Jobs<L> {
    type Item = Job<Note>;

    fn next(&mut self) -> Option<Job<Note>> {
        if let Some(job) = self.parts.as_mut().and_then(|parts| parts.next()) {
            return Some(job);
        }
        self.parts = None;
        if let Some(job) = self.pending.take() {
            return Some(job);
        }
        let mut note = self.note()?;
        self.in_flight = true;
        if let Note::File(expected) = &mut note
            && let Some(etag) = expected.first.etag.take()
            && let Note::File(expected) = note
        {
            return self.begin_parts(expected, *etag);
        }
        let (source, algorithms) = match &mut note {
            Note::File(expected) => {
                self.settle_name(expected);
                if expected.has_size_alone() && self.format.is_of_lines() {
                    self.back_size(expected);
                }
                let mut algorithms = expected.algorithms();
                let mut source = self.source(expected);
                // Lines from a pipe are not planned.
                if matches!(&self.state, State::InList(list) if list.is_regular) {
                    (expected.share, algorithms) = self.shared.share(&source, algorithms);
                }
                if let Share::Later { .. } = expected.share {
                    source = Source::Nothing;
                }
                let known = source.path().zip(self.options.journal.as_deref());
                expected.resumed =
                    known.and_then(|(path, journal)| journal.known(path, algorithms)).map(Box::new);
                (if expected.resumed.is_some() { Source::Nothing } else { source }, algorithms)
            }
            _ => (Source::Nothing, Algorithms::NONE),
        };
        let is_stdin = match &source {
            Source::Stdin => true,
            Source::Path(path) => names_standard_input(path.as_os_str().as_bytes()),
            _ => false,
        };
        let job = Job { source, algorithms, context: note };
        if is_stdin {
            self.pending = Some(job);
            let (source, algorithms) = (Source::Nothing, Algorithms::NONE);
            return Some(Job { source, algorithms, context: Note::Stdin });
        }
        Some(job)
    }
}

struct OpenList {
    is_stdin: bool,
    /// The state of the list when it was opened, if changes are checked.
    before: Option<Snapshot>,
    /// Whether lines may be read ahead. The writer of a pipe may wait for the verdict on a line
    /// before it writes the next one.
    is_regular: bool,
    lines: ListReader<Box<dyn BufRead + Send>>,
    /// The item after the last returned one, if it was already read.
    ahead: Option<Result<Step, ListError>>,
    /// Whether all lines so far were blank.
    is_empty: bool,
    /// Whether any line was a checksum line.
    has_lines: bool,
    /// The directory of the names, if it depends on the place of the list.
    folder: Option<PathBuf>,
    /// The algorithms of those lines.
    seen: Algorithms,
    /// Lines with a digest before the first checksum line, and whether they are only a digest. If
    /// none follows, the file is not a list.
    doubtful: Vec<(u64, bool)>,
    /// Items that come before the next line.
    waiting: VecDeque<Note>,
    /// The number of the last line, or `u64::MAX` once the truncation was reported.
    last: u64,
}

/// The effect of the next line of a list.
enum Step {
    /// None, because the line is blank.
    Pass,
    Note(Note),
    End,
}

impl OpenList {
    /// Opens the list, and determines its format unless that of the previous list applies.
    fn open(list: &List, options: &Options) -> Result<(Self, Option<FormatOfList>), ListError> {
        let file = list.open().map_err(ListError::Open)?;
        let snapshot = Snapshot::of(&file).map_err(ListError::Open)?;
        let is_regular = snapshot.is_regular();
        let before = (options.recognition == Recognition::Examined).then_some(snapshot);
        let ending = options.dialect.ending();
        let text = BufReader::new(file);
        let (text, format): (Box<dyn BufRead + Send>, _) = match options.recognition {
            Recognition::Gnu => (Box::new(text), None),
            Recognition::Examined => {
                let text = list::open(text, ending)?;
                let format = FormatOfList::new(list, text.get_ref().0.get_ref(), options);
                (Box::new(text), Some(format))
            }
        };
        let (is_stdin, lines) = (*list == List::Stdin, ListReader::new(text));
        let list = Self {
            is_stdin,
            before,
            is_regular,
            lines,
            ahead: None,
            is_empty: true,
            has_lines: false,
            folder: format.as_ref().and_then(|format: &FormatOfList| format.folder.clone()),
            seen: Algorithms::NONE,
            doubtful: Vec::new(),
            waiting: VecDeque::new(),
            last: 0,
        };
        Ok((list, format))
    }

    /// Returns the names of those lines that are `wanted`, in a list that is a regular file and not
    /// too long for memory.
    fn names(
        list: &List,
        options: &Options,
        wanted: impl Fn(&Expected) -> bool,
    ) -> Option<HashSet<Vec<u8>>> {
        let List::Path(path) = list else { return None };
        // Opening a FIFO waits for its writer.
        path.metadata().ok().filter(|list| list.is_file() && list.len() <= MOST_BYTES)?;
        let (mut list, format) = Self::open(list, options).ok()?;
        let mut format = format?.format;
        let mut names = HashSet::new();
        loop {
            match list.step(&mut *format, options).ok()? {
                Step::Note(Note::File(expected)) if wanted(&expected) => {
                    names.insert(expected.name);
                }
                Step::Note(_) | Step::Pass => {}
                Step::End => return Some(names),
            }
        }
    }

    /// Advances to the next line that is not blank, and adds the following lines about the same
    /// file.
    fn next(
        &mut self,
        format: &mut dyn Format,
        options: &Options,
    ) -> Result<Option<Note>, ListError> {
        let mut file = loop {
            let step = self.ahead.take().unwrap_or_else(|| self.step(format, options))?;
            match step {
                Step::Pass => {}
                Step::Note(Note::File(file)) => break file,
                Step::Note(note) => {
                    self.is_empty = false;
                    return Ok(Some(note));
                }
                // A file may be an empty list. For a pipe an empty list cannot be distinguished
                // from a writer that failed.
                Step::End
                    if self.is_empty
                        && !self.is_regular
                        && options.recognition == Recognition::Examined =>
                {
                    return Err(ListError::NothingCame);
                }
                Step::End if self.before.as_ref().is_some_and(Snapshot::has_changed) => {
                    return Err(ListError::Changed);
                }
                Step::End => return Ok(None),
            }
        };
        self.is_empty = false;
        while file.others.len() + 1 < MOST_AT_ONCE && self.may_look_ahead(format, options) {
            match self.step(format, options) {
                Ok(Step::Pass) => {}
                Ok(Step::Note(Note::File(next)))
                    if next.is_of_same_file(&file)
                        && file.first.etag.is_none()
                        && next.first.etag.is_none() =>
                {
                    file.others.push(next.first);
                }
                other => {
                    self.ahead = Some(other);
                    break;
                }
            }
        }
        file.back_sizes();
        Ok(Some(Note::File(file)))
    }

    /// Returns whether the next line can be read without waiting. In GNU mode lines are never read
    /// ahead.
    fn may_look_ahead(&mut self, format: &dyn Format, options: &Options) -> bool {
        let has_next = |lines: &mut ListReader<_>| {
            format.is_of_lines() && lines.has_next(options.dialect.ending())
        };
        options.recognition == Recognition::Examined
            && (self.is_regular || has_next(&mut self.lines))
    }

    /// Reads a line.
    fn step(&mut self, format: &mut dyn Format, options: &Options) -> Result<Step, ListError> {
        if let Some(note) = self.waiting.pop_front() {
            return Ok(Step::Note(note));
        }
        let line = self.lines.next_line(format).map_err(ListError::Read)?;
        let Some(line) = line else {
            let malformed = |(line, is_nameless)| Note::Malformed { line, is_nameless };
            self.waiting.extend(self.doubtful.drain(..).map(malformed));
            if let Some(note) = self.waiting.pop_front() {
                return Ok(Step::Note(note));
            }
            let last = mem::replace(&mut self.last, u64::MAX);
            let is_cut = last < u64::MAX && !format.may_end();
            let cut = Step::Note(Note::Wrong(last.max(1), Wrong::CutOff));
            return Ok(if is_cut { cut } else { Step::End });
        };
        let number = line.number;
        self.last = number;
        let is_examined = options.recognition == Recognition::Examined;
        // The GNU tools do not detect truncated lists.
        let tells_cut = self.has_lines && is_examined;
        let (record, is_tagged) = match line.parse_behind(tells_cut, format) {
            Line::Blank => return Ok(Step::Pass),
            Line::Malformed => {
                let Some(text) = line.text else {
                    let too_long = Note::Wrong(number, Wrong::TooLong);
                    let malformed = Note::Malformed { line: number, is_nameless: false };
                    return Ok(Step::Note(if is_examined { too_long } else { malformed }));
                };
                let is_nameless = is_digest(text, options.dialect);
                // With a key, every line that is not for it makes the check fail.
                let has_key = options.engine.key.is_some();
                if !is_examined
                    || has_key
                    || !is_skipped(text, self.seen, options, self.folder.as_deref())
                {
                    return Ok(Step::Note(Note::Malformed { line: number, is_nameless }));
                }
                if self.has_lines {
                    return Ok(Step::Note(Note::Wrong(number, Wrong::Skipped)));
                }
                if self.doubtful.len() >= MOST_DOUBTFUL {
                    return Ok(Step::Note(Note::Malformed { line: number, is_nameless }));
                }
                self.doubtful.push((number, is_nameless));
                return Ok(Step::Pass);
            }
            Line::Wrong(why) => {
                if why == Wrong::CutOff {
                    self.last = u64::MAX;
                }
                return Ok(Step::Note(Note::Wrong(number, why)));
            }
            Line::Unknown(name) => return Ok(Step::Note(Note::Unknown(number, name.to_owned()))),
            // An owner of the key does not write MD5 lines.
            Line::Record { record, is_tagged } if options.engine.key.is_none() => {
                (record.with_etag_as_md5(), is_tagged)
            }
            Line::Record { record, is_tagged } => (Record { etag: None, ..record }, is_tagged),
        };
        self.seen = self.seen.union(record.algorithms());
        self.has_lines = true;
        if self.is_stdin && options.recognition == Recognition::Gnu && *record.name == *b"-" {
            // The list itself is read from standard input. In other cases the engine reports the
            // conflict.
            return Ok(Step::Note(Note::Malformed { line: number, is_nameless: false }));
        }
        let needs_key = |algorithm: &Algorithm| algorithm.needs_key();
        let mut algorithms = record.digests.iter().map(Digest::algorithm);
        if options.engine.key.is_none()
            && let Some(algorithm) = algorithms.find(needs_key)
        {
            return Err(ListError::NoKey(algorithm));
        }
        // A file without any data to compare must not count as checked.
        let nothing = Note::Wrong(number, Wrong::NothingKnown);
        let expected = Expected::of(record, is_tagged, format.folder());
        let note = expected.map_or(nothing, Note::File);
        if self.doubtful.is_empty() {
            return Ok(Step::Note(note));
        }
        self.waiting
            .extend(self.doubtful.drain(..).map(|(line, _)| Note::Wrong(line, Wrong::Skipped)));
        self.waiting.push_back(note);
        Ok(self.waiting.pop_front().map_or(Step::Pass, Step::Note))
    }
}

/// Returns whether a line that is not a checksum line seems to be about a file.
fn is_skipped(text: &[u8], seen: Algorithms, options: &Options, folder: Option<&Path>) -> bool {
    let is_file = |name: &[u8]| !name.is_empty() && options.path_in(name, None, folder).is_file();
    has_digest(text, seen) || names_beside_short_digest(text).any(is_file)
}

/// Returns whether a line has only hexadecimal digits and would be valid with a name.
fn is_digest(line: &[u8], dialect: Dialect) -> bool {
    let digits = line.trim_ascii();
    let is_hex = digits.iter().all(u8::is_ascii_hexdigit);
    let with_name = || [digits, b"  name"].concat();
    is_hex && matches!(Mixed::new(dialect).next(&with_name()), Line::Record { .. })
}

/// Returns the files that a check of these lists reads, in order. It is used for a total, before or
/// during the check. Errors in lists are ignored, because the check reports them.
///
/// Each list is read separately for this. So no list may be a pipe, which can be read only once.
/// [`List::Stdin`] is never read.
pub fn files<L>(lists: L, options: &Options) -> impl Iterator<Item = PathBuf> + Send + use<L>
where
    L: Iterator<Item = List> + Clone + Send,
{
    let lists = lists.filter(|list| *list != List::Stdin);
    let options = &Options { journal: None, ..options.clone() };
    let shared = SharedReads::find(lists.clone(), options);
    Jobs::new(lists, options, shared).filter_map(|job| match job.source {
        Source::Path(path) | Source::Regular(path) => Some(path),
        // Once for each part size to try.
        Source::Extent { path, offset: 0, .. } => Some(path),
        Source::Extent { .. } | Source::Chunk { .. } => None,
        // It has a size if it is a regular file.
        Source::Stdin => Some(PathBuf::from("/dev/stdin")),
        Source::Nothing => None,
    })
}
