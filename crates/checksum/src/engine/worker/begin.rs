//! Starts a job: opens, reads and examines its file, and passes it on.

use std::io::{self, ErrorKind};
use std::rc::Rc;
use std::time::Instant;

use rustix::fd::OwnedFd;
use rustix::io::retry_on_intr;

use super::turns::NoRoom;
use super::{Small, Ticket, Worker};
use crate::engine::batch;
use crate::engine::buffer::Buffer;
use crate::engine::hashers::Hashers;
use crate::engine::lanes::in_lanes;
use crate::engine::look::{Begun, Opened, look_at_part, read_and_look};
use crate::engine::plan;
use crate::engine::read::{Io, LaneReader};
use crate::engine::stream::FileStream;
use crate::engine::task::{Input, Serial, Task};
use crate::engine::{Hashed, Source};
use crate::{Algorithms, Error};

/// The place of the first bytes of a file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FirstBytes {
    Batch,
    /// The last free buffer.
    Buffer,
}

/// How a job starts.
enum Begin {
    /// As a regular file.
    File(Begun, FirstBytes),
    /// Serially.
    Alone(Input),
}

impl Worker<'_> {
    /// Starts a job: puts it into a lane, or does a job that needs no lane.
    pub(super) fn begin(&mut self, job: Task) {
        let Task { sequence, source, algorithms } = job;
        if source == Source::Nothing {
            return self.deliver((sequence, source), Ok(Hashed::default()));
        }
        let (mut begun, place) = match self.open(&source) {
            Ok(Begin::File(begun, place)) => (begun, place),
            Ok(Begin::Alone(input)) => {
                return self.alone.hand_in(sequence, Serial { source, algorithms, input });
            }
            Err(error) => return self.end((sequence, source), Err(error)),
        };
        let ticket = (sequence, source);
        if begun.part.is_some() && !self.reader.reads_anywhere() {
            return self.read_part(ticket, begun, algorithms);
        }
        let in_lanes = in_lanes(algorithms);
        let others = algorithms.difference(in_lanes);
        let hashers = match begun.hashers(in_lanes, others, &self.core.options) {
            Ok(hashers) => hashers,
            Err(error) => return self.end(ticket, Err(error)),
        };
        let is_small = begun.is_whole() && begun.read.len() <= batch::SMALL;
        if !in_lanes.is_empty() && is_small && self.batch.reserve() {
            return self.begin_small(ticket, in_lanes, hashers, begun, place);
        }
        let turn = match self.turn_of(&begun) {
            Ok(turn) => turn,
            Err(NoRoom) => return self.defer(ticket, &begun, place, algorithms),
        };
        let mut buffer = self.buffers.pop().expect("a buffer for each lane up to the limit");
        if place == FirstBytes::Batch {
            begun.read = match buffer.bring(self.batch.give_back(begun.read)) {
                Ok(read) => read,
                Err(error) => {
                    self.buffers.push(buffer);
                    return self.end(ticket, Err(error.into()));
                }
            };
        }
        let shared = Rc::clone(&self.shared);
        let mut stream = FileStream::new(ticket, begun, buffer, algorithms, hashers, turn, shared);
        if in_lanes.is_empty() {
            stream.drain();
            self.finish(stream);
        } else {
            self.short_run = if stream.is_short() { self.short_run + 1 } else { 0 };
            self.lanes.push(stream);
        }
    }

    /// Returns the job of a long file from a medium to the queue until its device has room. The
    /// bytes read so far are in the cache by now.
    fn defer(&mut self, ticket: Ticket, begun: &Begun, place: FirstBytes, algorithms: Algorithms) {
        match place {
            FirstBytes::Batch => drop(self.batch.give_back(begun.read.clone())),
            FirstBytes::Buffer => {
                let buffer = self.buffers.last_mut().expect("the one that was read into");
                buffer.lane.release();
            }
        }
        let (range, (sequence, source)) = (begun.range(), ticket);
        let at = plan::Place { inode: begun.version.inode(), length: range.end - range.start };
        self.core.queue.defer(Task { sequence, source, algorithms }, at);
        self.short_run = 0;
    }

    /// Reads a part of a file in the usual way, if lanes use another method.
    fn read_part(&mut self, ticket: Ticket, begun: Begun, algorithms: Algorithms) {
        if self.core.options.io == Io::Direct {
            let why = "parts of a file cannot be read past the cache";
            return self.end(ticket, Err(io::Error::new(ErrorKind::Unsupported, why).into()));
        }
        let hashers = match begun.hashers(Algorithms::NONE, algorithms, &self.core.options) {
            Ok(hashers) => hashers,
            Err(error) => return self.end(ticket, Err(error)),
        };
        let (buffer, shared) = (Buffer::new(0, LaneReader::Read), Rc::clone(&self.shared));
        let mut stream = FileStream::new(ticket, begun, buffer, algorithms, hashers, None, shared);
        stream.drain();
        let (ticket, result, _) = stream.finish(&self.core.options);
        self.end(ticket, result);
    }

    /// Reads the first byte of a chunk as the first read of a round, which shows whether the
    /// medium has to seek.
    fn try_first_byte(&mut self, begun: &Begun) -> Result<(), Error> {
        self.has_sought = false;
        if std::mem::take(&mut self.is_first) {
            let begin = Instant::now();
            retry_on_intr(|| rustix::io::pread(&begun.file, &mut [0; 1], begun.range().start))
                .map_err(io::Error::from)?;
            self.note_first_read(begin.elapsed());
        }
        Ok(())
    }

    /// Handles a file that needs no lane.
    fn begin_small(
        &mut self,
        ticket: Ticket,
        in_lanes: Algorithms,
        hashers: Hashers,
        begun: Begun,
        place: FirstBytes,
    ) {
        let mut read = begun.read;
        if place == FirstBytes::Buffer {
            let buffer = self.buffers.last_mut().expect("the one that was read into");
            read = self.batch.bring(buffer.bytes(read));
            buffer.lane.release();
        }
        self.shared.count(read.len());
        self.shared.closing.borrow_mut().extend([begun.file]);
        let file = Small { ticket, in_lanes, hashers, version: begun.version };
        self.batch.push(file, read, self.shared.bytes.get());
        self.short_run += 1;
    }

    /// Opens a source and examines its kind.
    fn open(&mut self, source: &Source) -> Result<Begin, Error> {
        let Some(path) = source.path() else { return Ok(Begin::Alone(Input::Stdin)) };
        let file = match self.pre_opened.pop_front() {
            None => self.opener.open(path)?,
            Some(pre_opened) => {
                self.buffers.extend(pre_opened.buffer);
                pre_opened.file?
            }
        };
        if let Some(part) = source.part() {
            let (shared, options) = (&self.shared, &self.core.options);
            let begun = look_at_part(file, &part, source.behind(), shared, options)?;
            if source.behind().is_some() {
                self.try_first_byte(&begun)?;
            }
            return Ok(Begin::File(begun, FirstBytes::Buffer));
        }
        let expects_small = self.batch.expects_more() && self.reader.reads_anywhere();
        let place = if expects_small { FirstBytes::Batch } else { FirstBytes::Buffer };
        let Self { batch, buffers, shared, core, .. } = self;
        let buffer = buffers.last_mut().expect("a buffer for each lane up to the limit");
        let read = |file: &OwnedFd| match place {
            FirstBytes::Batch => batch.read_first(file),
            FirstBytes::Buffer => buffer.read_first(file),
        };
        self.has_sought = false;
        let begin = std::mem::take(&mut self.is_first).then(Instant::now);
        let opened = read_and_look(file, read, shared, &core.options);
        if let Some(begin) = begin {
            self.note_first_read(begin.elapsed());
        }
        match opened? {
            Opened::Regular(begun) => Ok(Begin::File(begun, place)),
            Opened::Other(_) if matches!(source, Source::Regular(_)) => Err(Error::Changed),
            Opened::Other(file) => Ok(Begin::Alone(Input::Open(file))),
        }
    }
}
