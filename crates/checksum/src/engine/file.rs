//! One file in a lane: opened, read piece by piece into a buffer, and looked at again in the end.

use std::cell::{Cell, RefCell};
use std::io;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use rustix::fd::{AsFd as _, OwnedFd};
use rustix::fs::{Advice, FileType, SeekFrom};
use rustix::io::{Errno, retry_on_intr};
use zerocopy::FromZeros as _;

use super::descriptors::Closing;
use super::devices::Turn;
use super::hashers::Hashers;
use super::read::{Lane, lease, medium};
use super::stamp::{self, Stamp, Time, stamping_clock};
use super::{FileId, Hashed, Options, Progress, serial};
use crate::{Algorithms, Digest, Error};

/// Files of this many bytes and more are announced to the kernel as read in sequence.
const ADVISE_FROM: u64 = 1 << 20;

/// What a path leads to.
pub(super) enum Opened {
    /// A regular file.
    Regular(Begun),
    /// Something to be read alone: a FIFO, a device, a terminal.
    Other(OwnedFd),
}

/// Looks at what was opened.
fn look(file: OwnedFd, Options { own_files, taken, .. }: &Options) -> Result<Opened, Error> {
    let stat = rustix::fs::fstat(&file).map_err(io::Error::from)?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile if own_files.contains(&FileId::from(&stat)) => Err(Error::OwnOutput),
        FileType::RegularFile => {
            let stamp = Stamp::of(&stat);
            Ok(Opened::Regular(Begun { file, stamp, read: 0..0, has_writer: false }))
        }
        FileType::Directory => Err(io::Error::from(Errno::ISDIR).into()),
        _ if taken.contains(&FileId::from(&stat)) => Err(Error::Taken),
        _ => Ok(Opened::Other(file)),
    }
}

/// Memory to read into, and where its data begin.
pub(super) struct Buffer {
    /// Empty before the first read: one file needs one lane's.
    memory: Box<[u8]>,
    first: usize,
    /// The number of the lane.
    index: usize,
    /// Where else the bytes may come from.
    pub(super) lane: Lane,
}

impl Buffer {
    /// What one read takes. The buffers of 32 lanes together leave a second-level cache of 1 MiB with
    /// this, and still it is what measures best: of 2,000 files of 1 MiB, reads of 16, 32, 64 and
    /// 128 KiB take 1.25, 1.12, 1.04 and 1 times as long, since each brings the lanes to a halt.
    pub(super) const CAPACITY: usize = 128 << 10;

    /// Bytes of all sets of a first-level cache, 64 lines, whatever the size of a page: addresses a multiple of
    /// it apart share their sets.
    pub(super) const SETS: usize = 4096;

    /// The buffer of lane `index`.
    pub(super) fn new(index: usize, lane: Lane) -> Self {
        Self { memory: Box::default(), first: 0, index, lane }
    }

    /// Where a read puts its bytes. They begin at a cache line, at another one of the page in each
    /// lane: if they all began at the same one, the 32 lines that the kernel reads at a time would
    /// push each other out of the first-level cache. And a Zen 3 reads a quarter as fast to places 1 to 31 bytes
    /// behind the beginning of a page, among which is where `malloc` puts what is large. The memory is the system's
    /// untouched pages, so what no read reaches costs nothing.
    ///
    /// # Errors
    /// There is no memory.
    pub(super) fn room(&mut self) -> io::Result<&mut [u8]> {
        self.reserve()?;
        Ok(&mut self.memory[self.first..][..Self::CAPACITY])
    }

    /// Whether it needs no more memory to be read to.
    pub(super) fn is_ready(&self) -> bool {
        !self.memory.is_empty() || matches!(self.lane, Lane::Ahead(_))
    }

    /// Takes the memory to read into, if it has none yet.
    ///
    /// # Errors
    /// There is none.
    pub(super) fn reserve(&mut self) -> io::Result<()> {
        const LINE: usize = 64;
        if self.memory.is_empty() {
            self.memory = zeros(Self::CAPACITY + Self::SETS + LINE)?;
            // Odd, so that 64 lanes meet 64 different lines.
            let stagger = self.index * 5 * LINE % Self::SETS;
            self.first = self.memory.as_ptr().align_offset(LINE).min(LINE) + stagger;
        }
        Ok(())
    }

    /// Bytes that are there to be hashed.
    #[inline]
    pub(super) fn bytes(&self, range: Range<usize>) -> &[u8] {
        match &self.lane {
            Lane::Read => &self.memory[range],
            Lane::Map(window) => window.bytes(&range).unwrap_or_else(|| &self.memory[range]),
            Lane::Ahead(ahead) => ahead.bytes(range),
        }
    }

    /// Reads the first bytes of a file, whose position stays at its beginning; gives where they are.
    pub(super) fn read_first(&mut self, file: &OwnedFd) -> Result<Range<usize>, Error> {
        if let Lane::Ahead(ahead) = &mut self.lane {
            return ahead.next(file, 0, u64::MAX).map(|piece| piece.range);
        }
        let room = self.room()?;
        let read =
            retry_on_intr(|| rustix::io::pread(file, &mut *room, 0)).map_err(io::Error::from)?;
        Ok(self.first..self.first + read)
    }

    /// Takes the first bytes of a file that were read elsewhere.
    ///
    /// # Errors
    /// There is no memory.
    pub(super) fn bring(&mut self, bytes: &[u8]) -> io::Result<Range<usize>> {
        self.room()?[..bytes.len()].copy_from_slice(bytes);
        Ok(self.first..self.first + bytes.len())
    }
}

/// Zeros in pages that take no memory before they are touched.
///
/// # Errors
/// The system, or a limit like that of `ulimit -v`, leaves none.
pub(super) fn zeros(length: usize) -> io::Result<Box<[u8]>> {
    <[u8]>::new_box_zeroed_with_elems(length).map_err(|_| Errno::NOMEM.into())
}

/// What all lanes of a worker share.
pub(super) struct Shared {
    pub(super) progress: Option<Arc<Progress>>,
    /// Bytes that the worker has read.
    pub(super) bytes: Cell<u64>,
    /// A time before any file of this round was opened, by the clock that stamps files.
    pub(super) now: Cell<Time>,
    /// The device looked at last, and whether this machine's clock stamps its files.
    pub(super) clock: Cell<Option<(u64, bool)>>,
    /// Files that are read.
    pub(super) closing: RefCell<Closing>,
}

impl Shared {
    /// Notes that bytes of a file were read.
    pub(super) fn count(&self, read: usize) {
        self.bytes.set(self.bytes.get() + read as u64);
        if let Some(progress) = &self.progress {
            progress.bytes.fetch_add(read as u64, Ordering::Relaxed);
        }
    }

    /// Takes the time of the clock that stamps files.
    pub(super) fn look_at_clock(&self) {
        self.now.set(stamping_clock());
    }

    /// Whether a file of this stamp certainly did not change since [`now`](Self::now): its last
    /// change lies before, and was stamped by the same clock.
    fn is_settled(&self, stamp: &Stamp, file: &OwnedFd) -> bool {
        stamp.tells_from(self.now.get()) && self.is_stamped_here(stamp.device(), file)
    }

    /// Waits until whatever changes the file from now on gives it another stamp than this, if this machine's clock does.
    fn await_clock(&self, stamp: &Stamp, file: &OwnedFd) {
        if self.is_stamped_here(stamp.device(), file) {
            stamp.await_clock();
        }
    }

    fn is_stamped_here(&self, device: u64, file: &OwnedFd) -> bool {
        match self.clock.get() {
            Some((known, answer)) if known == device => answer,
            _ => {
                let answer = stamp::is_stamped_here(file);
                self.clock.set(Some((device, answer)));
                answer
            }
        }
    }
}

/// A regular file, as a stream of a lane. `T` is whatever its outcome needs.
pub(super) struct FileStream<T> {
    pub(super) ticket: T,
    /// None once all is read and looked at.
    file: Option<OwnedFd>,
    before: Stamp,
    buffer: Buffer,
    /// The part of the buffer that is read but not consumed.
    start: usize,
    end: usize,
    /// Bytes read.
    bytes: u64,
    ended: bool,
    /// [`Error::Changed`] is of a file that was mapped and cut off.
    error: Option<Error>,
    /// What is to be computed, and those computations that are done beside the lane's.
    algorithms: Algorithms,
    hashers: Hashers,
    /// Somebody may have been writing to it when it was opened.
    has_writer: bool,
    /// It is read once more, which no progress counts.
    is_again: bool,
    /// Where it comes from a medium, the right to read it.
    turn: Option<Turn>,
    /// How much of it was asked for ahead, in bytes from its beginning.
    asked: u64,
    shared: Rc<Shared>,
}

/// A regular file that was looked at, and how much of it is in the buffer already.
pub(super) struct Begun {
    pub(super) file: OwnedFd,
    pub(super) stamp: Stamp,
    pub(super) read: Range<usize>,
    /// Somebody may be writing to it.
    has_writer: bool,
}

/// Reads the first bytes of what was opened, and looks at it then.
///
/// Most files are small, and looking at them twice costs more than hashing them. What changed for
/// the last time before it was opened did not change since, and if its size is what was read, it is
/// done with. Of a file that may have changed meanwhile nothing counts as read: it is read anew from
/// a time on at which a change shows, and looked at once more in the end. What is read as it comes, a FIFO or a terminal,
/// has no place to read from, and keeps what it holds. Where nobody wants to know of changes, it is looked at first.
///
/// Whether somebody may be writing to it is asked where there is time for that: to ask costs half as much as all the
/// rest with a small file, and such a one is read in some microseconds. So of what is whole it is asked only when it
/// changed a moment ago.
///
/// `read_first` reads and gives the place of what it read.
///
/// # Errors
/// The system's, and [`Error::OwnOutput`].
pub(super) fn read_and_look(
    file: OwnedFd,
    mut read_first: impl FnMut(&OwnedFd) -> Result<Range<usize>, Error>,
    shared: &Shared,
    options: &Options,
) -> Result<Opened, Error> {
    let early = options.detect_changes.then(|| read_first(&file));
    let mut begun = match look(file, options)? {
        Opened::Regular(begun) => begun,
        other => return Ok(other),
    };
    let read = match early {
        Some(read) if shared.is_settled(&begun.stamp, &begun.file) => read?,
        Some(_) => {
            shared.await_clock(&begun.stamp, &begun.file);
            begun.has_writer = lease::has_writer(&begun.file);
            return Ok(Opened::Regular(begun));
        }
        // What is read of a pseudo file may not be there a second time.
        None if !begun.stamp.has_blocks() => return Ok(Opened::Regular(begun)),
        None => read_first(&begun.file)?,
    };
    let mut begun = Begun { read, ..begun };
    if options.detect_changes && (!begun.is_whole() || begun.stamp.is_recent(shared.now.get())) {
        begun.has_writer = lease::has_writer(&begun.file);
        if begun.has_writer {
            // To be read as it comes, and looked at in the end.
            begun.read = 0..0;
        }
    }
    if !begun.read.is_empty() && !begun.is_whole() {
        // From there on it is read as it comes.
        let next = SeekFrom::Start(begun.read.len() as u64);
        rustix::fs::seek(&begun.file, next).map_err(io::Error::from)?;
    }
    Ok(Opened::Regular(begun))
}

impl Begun {
    /// Whether all is read: as much as the size says, unless it is a pseudo file, whose size says nothing. (A file
    /// of nothing but a hole looks like one.)
    pub(super) fn is_whole(&self) -> bool {
        let length = self.read.len() as u64;
        length > 0 && length == self.stamp.size() && self.stamp.has_blocks()
    }
}

impl<T> FileStream<T> {
    /// A file as a stream; `buffer` holds what is read of it.
    pub(super) fn new(
        ticket: T,
        begun: Begun,
        buffer: Buffer,
        algorithms: Algorithms,
        hashers: Hashers,
        turn: Option<Turn>,
        shared: Rc<Shared>,
    ) -> Self {
        let is_whole = begun.is_whole();
        let Begun { file, stamp: before, read, has_writer } = begun;
        let mut stream = Self {
            ticket,
            file: Some(file),
            before,
            buffer,
            start: 0,
            end: 0,
            bytes: 0,
            ended: false,
            error: None,
            algorithms,
            hashers,
            has_writer,
            is_again: false,
            turn,
            asked: 0,
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

    /// Whether one read takes all of it.
    pub(super) fn is_short(&self) -> bool {
        self.before.size() <= Buffer::CAPACITY as u64
    }

    /// Announces a long file to the kernel as read in sequence.
    fn advise(&self) {
        if let Some(file) = &self.file
            && self.before.size() >= ADVISE_FROM
        {
            // A hint; a file system that has no use for it says so, and nothing is lost.
            let _ = rustix::fs::fadvise(file, 0, None, Advice::Sequential);
        }
    }

    /// Reads all that is left for the sake of the algorithms that need no lane.
    pub(super) fn drain(&mut self) {
        while !self.ended {
            self.refill();
        }
    }

    /// Fills the buffer, or notes the end or an error.
    fn refill(&mut self) {
        let begin = self.turn.as_ref().map(|_| Instant::now());
        self.fill();
        self.ask_ahead(begin.map_or(Duration::ZERO, |begin| begin.elapsed()));
    }

    /// As [`refill`](Self::refill), without a look at what comes next.
    fn fill(&mut self) {
        let Some(file) = &self.file else { return };
        match self.buffer.lane.next(file, self.bytes, &self.before) {
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
        let room = match self.buffer.room() {
            Ok(room) => room,
            Err(error) => {
                self.error = Some(error.into());
                self.ended = true;
                return self.took(0..0);
            }
        };
        let mut filled = 0;
        while filled < room.len() && !self.ended {
            match retry_on_intr(|| rustix::io::read(file, &mut room[filled..])) {
                Ok(read) => {
                    filled += read;
                    // A short read that comes to the size is the end: no need to ask once more.
                    let is_short = filled < room.len() && self.before.has_blocks();
                    let bytes = self.bytes + filled as u64;
                    self.ended = read == 0 || (is_short && bytes == self.before.size());
                }
                Err(error) => {
                    self.error = Some(io::Error::from(error).into());
                    self.ended = true;
                }
            }
        }
        self.took(self.buffer.first..self.buffer.first + filled);
    }

    /// Notes that these bytes of the buffer were read.
    fn took(&mut self, range: Range<usize>) {
        self.bytes += range.len() as u64;
        if !self.is_again {
            self.shared.count(range.len());
        }
        (self.start, self.end) = (range.start, range.end);
        self.hashers.update(self.buffer.bytes(range));
    }

    /// Has the medium bring what comes next, while this is hashed: in pieces, since each may cost it a seek.
    fn ask_ahead(&mut self, waited: Duration) {
        if self.ended {
            self.turn = None;
        }
        let (Some(turn), Some(file)) = (&mut self.turn, &self.file) else { return };
        let ahead = turn.read(self.end - self.start, waited);
        let size = self.before.size();
        if self.asked < size && self.asked < self.bytes + ahead / 2 {
            let end = size.min(self.bytes + ahead);
            medium::ask_for_part(file, self.asked.max(self.bytes)..end);
            self.asked = end;
        }
    }

    /// The result with the lane's digest, when there was a lane; the ticket; and the buffer for the
    /// next file.
    pub(super) fn finish(
        mut self,
        md5: Option<Digest>,
        options: &Options,
    ) -> (T, Result<Hashed, Error>, Buffer) {
        self.buffer.lane.release();
        let mut digests: Vec<_> = md5.into_iter().collect();
        std::mem::take(&mut self.hashers).finalize(&mut digests);
        let hashed = Hashed { digests, bytes: self.bytes };
        let result = match (self.error.take(), self.file.take()) {
            // What is left of it counts.
            (Some(Error::Changed), Some(file)) if !options.detect_changes => {
                read_again(&file, self.algorithms, options)
            }
            (Some(error), _) => Err(error),
            (None, Some(file)) if options.detect_changes => self.confirm(file, hashed, options),
            (None, _) => Ok(hashed),
        };
        (self.ticket, result, self.buffer)
    }

    /// Looks whether the file stayed as it was. Where its stamp does not tell, its content has to be the same twice.
    fn confirm(
        &mut self,
        file: OwnedFd,
        hashed: Hashed,
        options: &Options,
    ) -> Result<Hashed, Error> {
        let is_settled;
        (self.before, is_settled) = self.before.look_again(&file, self.bytes, self.has_writer)?;
        if self.is_again || is_settled {
            return Ok(hashed);
        }
        let again = self.hash_again(file, options)?;
        if again == hashed { Ok(hashed) } else { Err(Error::Changed) }
    }

    /// Reads the file a second time, from its stamp on.
    fn hash_again(&mut self, file: OwnedFd, options: &Options) -> Result<Hashed, Error> {
        rustix::fs::seek(&file, SeekFrom::Start(0)).map_err(io::Error::from)?;
        (self.start, self.end, self.bytes) = (0, 0, 0);
        (self.ended, self.is_again) = (false, true);
        self.hashers = Hashers::new(self.algorithms, options.key.as_ref())?;
        self.file = Some(file);
        self.drain();
        self.buffer.lane.release();
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        let mut digests = Vec::new();
        std::mem::take(&mut self.hashers).finalize(&mut digests);
        let hashed = Hashed { digests, bytes: self.bytes };
        let file = self.file.take().expect("it is put there, and reading leaves it there");
        self.confirm(file, hashed, options)
    }
}

/// Reads a file from its beginning, by itself.
fn read_again(file: &OwnedFd, algorithms: Algorithms, options: &Options) -> Result<Hashed, Error> {
    rustix::fs::seek(file, SeekFrom::Start(0)).map_err(io::Error::from)?;
    serial::hash(options, file.as_fd(), algorithms)
}

impl<T> lanesum_md5::Stream for FileStream<T> {
    #[inline]
    fn chunk(&mut self) -> &[u8] {
        if self.start == self.end && !self.ended {
            self.refill();
        }
        self.buffer.bytes(self.start..self.end)
    }

    #[inline]
    fn consume(&mut self, count: usize) {
        self.start += count;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_begin_at_different_lines_of_a_page() {
        let mut lines: Vec<_> = (0..32)
            .map(|index| {
                let mut buffer = Buffer::new(index, Lane::Read);
                assert_eq!(buffer.room().unwrap().len(), Buffer::CAPACITY);
                let address = buffer.room().unwrap().as_ptr().addr();
                assert_eq!(address % 64, 0);
                address % Buffer::SETS
            })
            .collect();
        lines.sort_unstable();
        lines.dedup();
        assert!(lines.len() > 16, "{lines:?}");
    }

    #[test]
    fn a_file_is_read_when_a_change_would_show() {
        let shared = Shared {
            progress: None,
            bytes: Cell::default(),
            now: Cell::default(),
            clock: Cell::default(),
            closing: RefCell::default(),
        };
        let mut buffer = Buffer::new(0, Lane::Read);
        for round in 0..20 {
            let file = tempfile::NamedTempFile::new().unwrap();
            std::fs::write(&file, "abc").unwrap();
            shared.look_at_clock();
            let read_first = |file: &OwnedFd| buffer.read_first(file);
            let Opened::Regular(begun) =
                read_and_look(file.into_file().into(), read_first, &shared, &Options::default())
                    .unwrap()
            else {
                panic!("a regular file")
            };
            if shared.is_stamped_here(begun.stamp.device(), &begun.file) {
                assert!(begun.stamp.tells_from(stamping_clock()), "{round}");
                // Only what was read after that counts.
                assert!(begun.read.is_empty() || begun.stamp.tells_from(shared.now.get()));
            }
        }
    }
}
