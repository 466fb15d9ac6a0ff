//! A file in a lane: read in pieces into a buffer, and checked for changes at the end.

use std::io;
use std::ops::Range;
use std::rc::Rc;
use std::task::Poll;
use std::time::{Duration, Instant};

use lanesum_list::Digests;
use rustix::fd::{AsFd as _, OwnedFd};
use rustix::fs::{Advice, SeekFrom};
use rustix::io::{Errno, retry_on_intr};

use super::buffer::Buffer;
use super::devices::Turn;
use super::hashers::Hashers;
use super::lanes::{FUNCTIONS, IN_LANES, LaneState, in_lanes};
use super::look::Begun;
use super::midstate::Midstate;
use super::read::cold;
use super::round::LaneShared;
use super::stop::Stop;
use super::version::FileVersion;
use super::{Hashed, Options, whole};
use crate::{Algorithm, Algorithms, Error};

/// The size in bytes from which files are announced to the kernel as sequential reads.
const ADVISE_FROM: u64 = 1 << 20;

/// A regular file as a stream of a lane. `T` is the data for its outcome.
pub(super) struct FileStream<T> {
    pub(super) ticket: T,
    /// `None` once all is read and checked.
    file: Option<OwnedFd>,
    before: FileVersion,
    buffer: Buffer,
    /// The part of the buffer that was read last.
    start: usize,
    end: usize,
    /// For each function with lanes the start of what it has not consumed. A function that the file
    /// does not need has consumed everything.
    starts: [usize; FUNCTIONS],
    /// The start of the read, and the number of bytes from there on according to the size.
    offset: u64,
    length: u64,
    /// Whether the bytes after them must not be read.
    is_part: bool,
    /// The initial state for a file that is read in chunks, and whether the file continues after
    /// this chunk.
    behind: Option<Box<Midstate>>,
    is_cut: bool,
    /// Bytes read.
    bytes: u64,
    ended: bool,
    /// [`Error::Changed`] is for a mapped file that was truncated.
    error: Option<Error>,
    /// The algorithms, and the computations outside of the lanes.
    algorithms: Algorithms,
    hashers: Hashers,
    /// The states of those lanes that are finished.
    states: Vec<LaneState>,
    /// Whether another process may have been writing to it when it was opened.
    has_writer: bool,
    /// Whether it is read a second time, which does not count as progress.
    is_again: bool,
    /// The permit to read it, if it comes from a medium.
    turn: Option<Turn>,
    /// The end of the requested bytes, from the start of the file.
    asked: u64,
    /// The position at which half of these bytes are used, to check whether they arrived in time
    /// and to request more.
    half_asked: u64,
    /// The time of the request, and the waiting time of the worker by then.
    asked_at: Option<(Instant, Duration)>,
    shared: Rc<LaneShared>,
}

impl<T> FileStream<T> {
    /// Makes a stream of a file. `buffer` holds its first bytes.
    pub(super) fn new(
        ticket: T,
        begun: Begun,
        buffer: Buffer,
        algorithms: Algorithms,
        hashers: Hashers,
        turn: Option<Turn>,
        shared: Rc<LaneShared>,
    ) -> Self {
        let (is_whole, range) = (begun.is_whole(), begun.range());
        let Begun { file, version: before, read, has_writer, part, behind } = begun;
        let is_cut = behind.is_some() && range.end < before.size();
        let mut stream = Self {
            ticket,
            file: Some(file),
            before,
            buffer,
            start: 0,
            end: 0,
            starts: [0; FUNCTIONS],
            offset: range.start,
            length: range.end - range.start,
            is_part: part.is_some(),
            behind,
            is_cut,
            bytes: 0,
            ended: false,
            error: None,
            algorithms,
            hashers,
            states: Vec::new(),
            has_writer,
            is_again: false,
            turn,
            asked: range.start,
            half_asked: 0,
            asked_at: None,
            shared,
        };
        stream.took(read);
        if is_whole {
            stream.ended = true;
            stream.shared.closing.borrow_mut().extend(stream.file.take());
        }
        stream.advise();
        stream.ask_ahead(Duration::ZERO);
        stream
    }

    /// Returns whether one read takes the whole file.
    pub(super) fn is_short(&self) -> bool {
        self.length <= Buffer::CAPACITY as u64
    }

    /// Returns the algorithms that have lanes.
    pub(super) fn algorithms_in_lanes(&self) -> Algorithms {
        in_lanes(self.algorithms)
    }

    /// Returns the initial state of an algorithm and the number of bytes before it, if the file
    /// does not start at its first byte.
    pub(super) fn behind(&self, algorithm: Algorithm) -> Option<(&[u8], u64)> {
        let behind = self.behind.as_ref()?;
        Some((behind.of(algorithm)?, behind.bytes()))
    }

    /// Adds the state of a lane that is finished.
    pub(super) fn add_state(&mut self, state: LaneState) {
        self.states.push(state);
    }

    /// Returns whether all lanes are finished.
    pub(super) fn has_all_states(&self) -> bool {
        self.states.len() == self.algorithms_in_lanes().iter().count()
    }

    /// Announces a long file to the kernel as sequential reads.
    fn advise(&self) {
        if let Some(file) = &self.file
            && self.length >= ADVISE_FROM
        {
            // A hint. A file system that does not support it returns an error, which is ignored.
            let _ = rustix::fs::fadvise(file, 0, None, Advice::Sequential);
        }
    }

    /// Reads the rest for the algorithms outside of the lane.
    pub(super) fn drain(&mut self) {
        while !self.ended {
            self.refill();
        }
    }

    /// Fills the buffer, or records the end or an error.
    fn refill(&mut self) {
        if self.turn.is_none() {
            return self.fill();
        }
        let begin = Instant::now();
        self.fill();
        let waited = begin.elapsed();
        self.shared.note_wait(waited);
        self.ask_ahead(waited);
    }

    /// Like [`refill`](Self::refill), without requests ahead.
    fn fill(&mut self) {
        let Some(file) = &self.file else { return };
        if self.shared.stop.is_set() {
            // The outcome is no longer wanted.
            self.error = Some(io::Error::from(Errno::CANCELED).into());
            self.ended = true;
            return self.took(0..0);
        }
        let is_cold = self.turn.is_some();
        let position = self.offset + self.bytes;
        let elsewhere = if is_cold && self.buffer.lane.maps_by_trial() {
            None
        } else {
            let end = if self.is_part { self.offset + self.length } else { self.before.size() };
            self.buffer.lane.next(file, position..end.max(position), &self.before)
        };
        match elsewhere {
            None => {}
            Some(Ok(piece)) => {
                self.ended = piece.is_last;
                return self.took(piece.range);
            }
            Some(Err(error)) => {
                self.error = Some(error);
                self.ended = true;
                return self.took(0..0);
            }
        }
        let head = self.buffer.lane.before_window(position);
        let room = match self.buffer.room() {
            Ok(room) => room,
            Err(error) => {
                self.error = Some(error.into());
                self.ended = true;
                return self.took(0..0);
            }
        };
        let room = if self.is_part {
            let left = usize::try_from(self.length - self.bytes).unwrap_or(usize::MAX);
            let length = room.len().min(left);
            // Mapped bytes start at a page, even if the part does not.
            &mut room[..head.filter(|_| left > Buffer::CAPACITY).unwrap_or(length)]
        } else {
            room
        };
        self.ended = room.is_empty();
        let mut filled = 0;
        while filled < room.len() && !self.ended {
            match retry_on_intr(|| rustix::io::read(file, &mut room[filled..])) {
                Ok(read) => {
                    filled += read;
                    // A short read that reaches the size is the end, so no further read is needed.
                    let is_short = filled < room.len() && self.before.has_blocks();
                    let bytes = self.bytes + filled as u64;
                    let is_all = is_short || self.is_part;
                    self.ended = read == 0 || (is_all && bytes == self.length);
                }
                Err(error) => {
                    self.error = Some(io::Error::from(error).into());
                    self.ended = true;
                }
            }
        }
        self.took(self.buffer.place_of(filled));
    }

    /// Records bytes read into the buffer.
    fn took(&mut self, range: Range<usize>) {
        self.bytes += range.len() as u64;
        if self.is_again {
            self.shared.pay(range.len());
        } else {
            self.shared.count(range.len());
        }
        (self.start, self.end) = (range.start, range.end);
        let in_lanes = self.algorithms_in_lanes();
        for (start, algorithm) in self.starts.iter_mut().zip(IN_LANES) {
            *start = if in_lanes.contains(algorithm) { range.start } else { range.end };
        }
        self.hashers.update(self.buffer.bytes(range));
    }

    /// Requests the next bytes from the medium while these are hashed. Requests in large pieces,
    /// because each may cost a seek.
    fn ask_ahead(&mut self, waited: Duration) {
        if self.ended {
            self.turn = None;
        }
        let (Some(turn), Some(file)) = (&mut self.turn, &self.file) else { return };
        let ahead = turn.read(self.end - self.start, waited);
        if !self.buffer.lane.has_cache() {
            return;
        }
        let (at, all) = (self.offset + self.bytes, self.offset + self.length);
        if at < self.half_asked {
            return;
        }
        let now = (Instant::now(), self.shared.waited.get());
        if let (Some((then, waited)), Some(last)) =
            (self.asked_at.replace(now), self.asked.checked_sub(1))
        {
            let is_there = cold::is_cached(file, last);
            // While the worker waits for one file, the others have time to arrive.
            let is_busy = (now.1 - waited) * 4 < now.0 - then;
            if is_busy || !is_there {
                turn.note_whether_in_time(is_there);
            }
        }
        self.half_asked = u64::MAX;
        if turn.is_asking() {
            let part = self.asked.max(at).min(all)..all.min(at + ahead);
            (self.asked, self.half_asked) = (part.end, at.midpoint(part.end));
            let (bytes, is_all) = (part.end.saturating_sub(part.start), part.end >= all);
            turn.ask(bytes, is_all, || cold::ask_for_part(file, part));
        }
    }

    /// Returns the result with the digests of the lanes, the ticket, and the buffer for the next
    /// file.
    pub(super) fn finish(mut self, options: &Options) -> (T, Result<Hashed, Error>, Buffer) {
        self.buffer.lane.release();
        let hashed = self.hashed();
        let result = match (self.error.take(), self.file.take()) {
            // The rest of the file counts. (A truncated part may have no rest.)
            (Some(Error::Changed), Some(file)) if !options.detect_changes && !self.is_part => {
                read_again(&file, self.algorithms, options, &self.shared.stop)
            }
            (Some(error), _) => Err(error),
            (None, Some(file)) if options.detect_changes => self.confirm(file, hashed, options),
            (None, _) => Ok(hashed),
        };
        let mut result = result.map(|hashed| hashed.of(&self.before));
        let is_extent = self.is_part && self.behind.is_none();
        if let (true, true, Ok(hashed)) = (is_extent, self.is_again, &mut result) {
            hashed.times.changed = None;
        }
        (self.ticket, result, self.buffer)
    }

    /// Returns the result of the whole read, with the digests or states of the lanes, if any.
    fn hashed(&mut self) -> Hashed {
        let hashers = std::mem::take(&mut self.hashers);
        let lanes = std::mem::take(&mut self.states);
        let bytes = self.bytes;
        if self.is_cut {
            // A file that ended early has no midstate. The check for changes finds the reason.
            let is_stored = bytes == self.length && Midstate::exists_of(self.algorithms);
            let states = hashers.save().filter(|_| is_stored);
            let midstate = states.map(|mut states| {
                states.extend(lanes.into_iter().map(|lane| (lane.algorithm, lane.state)));
                Box::new(Midstate::new(self.offset + bytes, states))
            });
            return Hashed { bytes, midstate, ..Hashed::default() };
        }
        let mut digests: Digests = lanes.iter().map(LaneState::digest).collect();
        hashers.finalize(&mut digests);
        digests.sort();
        Hashed { digests, bytes, ..Hashed::default() }
    }

    /// Checks whether the file has changed. If its version does not tell, two reads must give the
    /// same content.
    fn confirm(
        &mut self,
        file: OwnedFd,
        hashed: Hashed,
        options: &Options,
    ) -> Result<Hashed, Error> {
        let is_settled;
        // Bytes outside of a part count as read.
        let read = self.before.size().saturating_sub(self.length) + self.bytes;
        (self.before, is_settled) = self.before.look_again(&file, read, self.has_writer)?;
        if self.is_again || is_settled {
            return Ok(hashed);
        }
        let again = self.hash_again(file, options)?;
        if again == hashed { Ok(hashed) } else { Err(Error::Changed) }
    }

    /// Reads the file a second time, and checks it against its version.
    fn hash_again(&mut self, file: OwnedFd, options: &Options) -> Result<Hashed, Error> {
        rustix::fs::seek(&file, SeekFrom::Start(self.offset)).map_err(io::Error::from)?;
        (self.start, self.end, self.starts) = (0, 0, [0; FUNCTIONS]);
        self.bytes = 0;
        (self.ended, self.is_again) = (false, true);
        let nothing = Midstate::default();
        let behind = self.behind.as_deref().unwrap_or(&nothing);
        self.hashers = Hashers::behind(self.algorithms, options.key.as_ref(), behind)?;
        self.file = Some(file);
        self.drain();
        self.buffer.lane.release();
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        let hashed = self.hashed();
        let file = self.file.take().expect("it is put there, and reading leaves it there");
        self.confirm(file, hashed, options)
    }
}

/// Reads a file from its start, outside of a lane.
fn read_again(
    file: &OwnedFd,
    algorithms: Algorithms,
    options: &Options,
    stop: &Stop,
) -> Result<Hashed, Error> {
    rustix::fs::seek(file, SeekFrom::Start(0)).map_err(io::Error::from)?;
    whole::hash(options, file.as_fd(), algorithms, stop)
}

/// A file as a [`Stream`](lanesum_blockhash::Stream) of each function.
impl<T> FileStream<T> {
    /// Returns what a function has not consumed. Reads more once all functions have consumed
    /// everything. A function that comes before then has nothing yet.
    #[inline]
    pub(super) fn chunk(&mut self, function: usize) -> Poll<&[u8]> {
        if self.starts[function] == self.end && !self.ended {
            if self.starts.iter().any(|&start| start < self.end) {
                return Poll::Pending;
            }
            self.refill();
        }
        Poll::Ready(self.buffer.bytes(self.starts[function]..self.end))
    }

    #[inline]
    pub(super) fn consume(&mut self, function: usize, count: usize) {
        self.starts[function] += count;
    }

    /// A failed file has ended.
    pub(super) fn is_cut(&self) -> bool {
        self.is_cut && self.bytes == self.length
    }
}
