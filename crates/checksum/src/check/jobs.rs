//! The lines of lists as jobs of the engine.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::iter::{Fuse, Peekable};
use std::os::fd::AsFd as _;

use super::{List, ListError, Options, Reading};
use crate::list::start::{self, NotAList};
use crate::list::{Entry, Line, Lines, Parser, RawLine};
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
/// A list on standard input must not be read while a job reads standard input as a file. So the jobs
/// end before one; [`resume`](Self::resume) goes on once those given out are done.
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
                State::InList(list) => match list.next(&mut self.parser) {
                    Ok(Some(Note::Entry { digest, .. }))
                        if digest.algorithm().needs_key() && self.options.engine.key.is_none() =>
                    {
                        let error = ListError::NoKey(digest.algorithm());
                        self.state = State::AtEnd(Some(error));
                    }
                    Ok(Some(note)) => return Some(note),
                    Ok(None) => self.state = State::AtEnd(None),
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

fn open(list: &List, options: &Options) -> Result<OpenList, ListError> {
    let file = match list {
        List::Stdin => io::stdin().as_fd().try_clone_to_owned().map(File::from),
        List::Path(path) => File::open(path),
    };
    let file = file.map_err(ListError::Open)?;
    let ending = options.dialect.ending();
    let text = BufReader::new(file);
    let text: Box<dyn BufRead + Send> = match options.reading {
        Reading::Gnu => Box::new(text),
        Reading::Examined => Box::new(start::open(text, ending).map_err(|error| match error {
            NotAList::Io(error) => ListError::Read(error),
            other => ListError::NotAList(other),
        })?),
    };
    Ok(OpenList { is_stdin: *list == List::Stdin, lines: Lines::new(text, ending) })
}

impl OpenList {
    /// Goes on to the next line that is not blank.
    fn next(&mut self, parser: &mut Parser) -> io::Result<Option<Note>> {
        loop {
            let Some(RawLine { number, text }) = self.lines.next_line()? else { return Ok(None) };
            match text.map_or(Line::Malformed, |text| parser.parse(text)) {
                Line::Blank => {}
                // The list comes from there, so nothing else can.
                Line::Entry(Entry { name, .. }) if self.is_stdin && name == b"-" => {
                    return Ok(Some(Note::Malformed(number)));
                }
                Line::Entry(Entry { name, digest }) => {
                    return Ok(Some(Note::Entry { name, digest }));
                }
                Line::Malformed => return Ok(Some(Note::Malformed(number))),
            }
        }
    }
}
