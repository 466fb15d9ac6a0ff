//! The lines of lists as jobs of the engine.

use std::fs::{self, File};
use std::io::{self, BufRead};
use std::iter::{Fuse, Peekable};
use std::os::fd::AsFd as _;

use super::{List, ListError, Options, Reading};
use crate::list::start::{self, NotAList};
use crate::list::{Entry, Line, Lines, Parser, RawLine};
use crate::stream::{self, Watch};
use crate::{Algorithms, Digest, Job, Source};

/// What a job is about.
pub(super) enum Note {
    Begin(List),
    Malformed(u64),
    Entry { name: Vec<u8>, digest: Digest },
    End(Option<ListError>),
}

/// The lines of the lists as jobs.
///
/// A list from a pipe or a terminal may let wait for its next line, and whoever writes it may wait
/// for the verdict on the last. So the jobs end where reading on would block, and before a list of which only
/// opening it may block or that is on standard input; [`resume`](Self::resume) goes on once those given out are
/// done. This also keeps apart a list on standard input and a job that reads standard input as a file.
pub(super) struct Jobs<'a, L: Iterator<Item = List>> {
    lists: Peekable<Fuse<L>>,
    options: &'a Options,
    parser: Parser,
    state: State,
    /// Whether a job was given out since the last `resume`, and may not be done.
    in_flight: bool,
}

enum State {
    BetweenLists,
    InList(OpenList),
    AtEnd(Option<ListError>),
}

struct OpenList {
    is_stdin: bool,
    lines: Lines<Box<dyn BufRead + Send>>,
    /// Tells whether the next line is there; none for a regular file, where it always is.
    watch: Option<Watch>,
}

/// What comes next in a list.
enum Step {
    Note(Note),
    /// Nothing before more of the list is written.
    Wait,
    End,
}

impl<'a, L: Iterator<Item = List>> Jobs<'a, L> {
    pub(super) fn new(lists: L, options: &'a Options) -> Self {
        Self {
            lists: lists.fuse().peekable(),
            options,
            parser: Parser::new(options.dialect),
            state: State::BetweenLists,
            in_flight: false,
        }
    }

    /// Whether there are more jobs, now that those given out are done.
    pub(super) fn resume(&mut self) -> bool {
        self.in_flight = false;
        !matches!(self.state, State::BetweenLists) || self.lists.peek().is_some()
    }

    fn note(&mut self) -> Option<Note> {
        let in_flight = self.in_flight;
        loop {
            match &mut self.state {
                State::BetweenLists => {
                    let list = self.lists.next_if(|list| !in_flight || !may_block(list))?;
                    self.state = self.open(&list);
                    return Some(Note::Begin(list));
                }
                State::InList(list) => match list.step(&mut self.parser, in_flight) {
                    Ok(Step::Note(Note::Entry { digest, .. }))
                        if digest.algorithm().needs_key() && self.options.engine.key.is_none() =>
                    {
                        let error = ListError::NoKey(digest.algorithm());
                        self.state = State::AtEnd(Some(error));
                    }
                    Ok(Step::Note(note)) => return Some(note),
                    Ok(Step::Wait) => return None,
                    Ok(Step::End) => self.state = State::AtEnd(None),
                    Err(error) => self.state = State::AtEnd(Some(ListError::Read(error))),
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
            self.parser = Parser::new(self.options.dialect);
        }
        match open(list, self.options) {
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

impl<L: Iterator<Item = List>> Iterator for Jobs<'_, L> {
    type Item = Job<Note>;

    fn next(&mut self) -> Option<Job<Note>> {
        let note = self.note()?;
        self.in_flight = true;
        let (source, algorithms) = match &note {
            Note::Entry { name, digest } => (self.source(name), digest.algorithm().into()),
            _ => (Source::Nothing, Algorithms::NONE),
        };
        Some(Job { source, algorithms, context: note })
    }
}

/// Whether beginning with a list may take as long as somebody else likes: a FIFO opens when it has a writer.
fn may_block(list: &List) -> bool {
    match list {
        List::Stdin => true,
        List::Path(path) => fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()),
    }
}

fn open(list: &List, options: &Options) -> Result<OpenList, ListError> {
    // Not the standard library's stdin: that one is locked by thread, and any worker may read on.
    let file = match list {
        List::Stdin => io::stdin().as_fd().try_clone_to_owned().map(File::from),
        List::Path(path) => File::open(path),
    };
    let file = file.map_err(ListError::Open)?;
    let ending = options.dialect.ending();
    let (text, watch) = stream::read(file, ending);
    let text = match options.reading {
        Reading::Gnu => text,
        Reading::Examined => Box::new(start::open(text, ending).map_err(|error| match error {
            NotAList::Io(error) => ListError::Read(error),
            other => ListError::NotAList(other),
        })?),
    };
    Ok(OpenList { is_stdin: *list == List::Stdin, lines: Lines::new(text, ending), watch })
}

impl OpenList {
    /// Goes on to the next line that is not blank; waits for it only if `in_flight` says that
    /// nobody waits for a job.
    fn step(&mut self, parser: &mut Parser, in_flight: bool) -> io::Result<Step> {
        loop {
            if in_flight && self.watch.as_ref().is_some_and(Watch::would_block) {
                return Ok(Step::Wait);
            }
            let Some(RawLine { number, text }) = self.lines.next_line()? else {
                return Ok(Step::End);
            };
            match text.map_or(Line::Malformed, |text| parser.parse(text)) {
                Line::Blank => {}
                // The list comes from there, so nothing else can.
                Line::Entry(Entry { name, .. }) if self.is_stdin && name == b"-" => {
                    return Ok(Step::Note(Note::Malformed(number)));
                }
                Line::Entry(Entry { name, digest }) => {
                    return Ok(Step::Note(Note::Entry { name, digest }));
                }
                Line::Malformed => return Ok(Step::Note(Note::Malformed(number))),
            }
        }
    }
}
