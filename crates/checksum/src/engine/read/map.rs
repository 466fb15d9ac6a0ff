//! Files that are mapped, a window at a time.
//!
//! Each lane has a window, one part of its file after another, so memory that is mapped does not
//! grow with the files. Where a window lies is for the kernel to choose, each time again: to map a
//! file over addresses that are kept for it (MAP_FIXED) unmaps them first, and when the mapping
//! then fails (a file system's own error, no memory) they are free, and another thread's memory may
//! come to lie there, which the next mapping would destroy. The handler of [`fault`](super::fault)
//! is told of each.
//!
//! Pages come as they are touched, sixteen at a time, which measures better than to ask for all of
//! a window at once (MAP_POPULATE). Whether it is faster than to read depends on the machine
//! (see [`trial`](super::trial)).

#![expect(unsafe_code, reason = "maps files and looks at what is mapped")]

use std::cell::{Cell, OnceCell};
use std::ffi::c_void;
use std::hint::black_box;
use std::io;
use std::ops::Range;
use std::ptr;
use std::rc::Rc;
use std::time::{Duration, Instant};

use rustix::fd::OwnedFd;
use rustix::fs::SeekFrom;
use rustix::io::{pread, retry_on_intr};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

use super::fault::{self, Guard};
use super::memory::page_size;
use super::trial::{MapTrial, Step, Way};
use super::{LaneReader, Piece};
use crate::Error;
use crate::engine::buffer::Buffer;
use crate::engine::version::{FileVersion, can_be_mapped};

pub(super) use super::fault::MAX_LANES;

/// Bytes of a window. What is mapped counts as the process's own, so there is no more than needs to
/// be: windows of 256 KiB are 6 to 8 % slower for files of 1 MiB, larger ones no faster.
pub(super) const WINDOW: usize = 512 << 10;

/// The windows of a worker's lanes, from the first one on that is needed.
pub(in crate::engine) struct Windows {
    /// None when there are too many workers at once.
    guard: OnceCell<Option<Guard>>,
    /// Whether a window could not be unmapped. There are no more then, or each might stay.
    are_stuck: Cell<bool>,
    /// What chooses between mapping and reading, if that is to be chosen.
    trial: Option<MapTrial>,
}

impl Windows {
    pub(super) fn new(trial: Option<MapTrial>) -> Self {
        Self { guard: OnceCell::new(), are_stuck: Cell::new(false), trial }
    }

    fn guard(&self) -> Option<&Guard> {
        self.guard.get_or_init(|| fault::guard().ok()).as_ref()
    }

    /// The guard, when something is or was mapped.
    fn known_guard(&self) -> &Guard {
        self.guard().expect("what is mapped is guarded")
    }
}

/// A lane's window, and what is mapped there.
pub(in crate::engine) struct Window {
    windows: Rc<Windows>,
    index: usize,
    mapped: Option<Mapped>,
}

/// A part of a file that is mapped.
struct Mapped {
    start: *mut c_void,
    /// Where it begins in the file, and its bytes.
    offset: u64,
    length: usize,
    /// The bytes that were given out.
    given: usize,
}

impl Window {
    pub(super) fn new(windows: &Rc<Windows>, index: usize) -> Self {
        assert!(index < MAX_LANES, "{index}");
        Self { windows: Rc::clone(windows), index, mapped: None }
    }

    /// Bytes of the window, counted from its beginning; `None` if nothing is mapped.
    #[inline]
    pub(in crate::engine) fn bytes(&self, range: &Range<usize>) -> Option<&[u8]> {
        let mapped = self.mapped.as_ref()?;
        assert!(range.start <= range.end && range.end <= mapped.given, "{range:?}");
        let start = mapped.start.cast::<u8>();
        // SAFETY: these bytes are mapped until `next` or `release`, which take `&mut self`; those
        // that a shorter file no longer has are zeros (see `fault`). This process does not write to
        // them. Another process may write to the file. No language has a word for that; what we
        // rely on is that whoever gets these bytes is a hash function, which looks at each byte for
        // its value only, never for where to go or what to touch, so that any bytes do no more than
        // give some digest. And that one is not believed: the file has changed.
        Some(unsafe { std::slice::from_raw_parts(start.add(range.start), range.len()) })
    }

    /// The next bytes of what is left of a file, or of a part of it; `None` when they are to be
    /// read.
    ///
    /// What one read takes is not mapped: of a small file all, of a long one the end, and whatever
    /// it has become longer by.
    pub(super) fn next(
        &mut self,
        file: &OwnedFd,
        Range { start: position, end }: Range<u64>,
        version: &FileVersion,
    ) -> Result<Option<Piece>, Error> {
        if let Some(mapped) = &self.mapped {
            if self.was_hit() {
                let error = why(file, mapped);
                self.release();
                return Err(error);
            }
            if mapped.given < mapped.length {
                return Ok(Some(self.give()));
            }
        }
        // Bytes that were mapped were not read: from here on the file's own position is another.
        let was_mapped = self.unmap();
        let rest = end.min(version.size()).saturating_sub(position);
        if rest > Buffer::CAPACITY as u64 && may_begin_at(position, page_size()) {
            let length = usize::try_from(rest).unwrap_or(usize::MAX).min(WINDOW);
            if self.is_worth_it(file, position, length, version) && self.map(file, position, length)
            {
                return Ok(Some(self.give()));
            }
        }
        if was_mapped {
            rustix::fs::seek(file, SeekFrom::Start(position)).map_err(io::Error::from)?;
        }
        Ok(None)
    }

    /// Whether a trial decides what is mapped.
    pub(super) fn is_by_trial(&self) -> bool {
        self.windows.trial.is_some()
    }

    /// Whether to map the next bytes of a file. Of what is mapped, only whole windows are given up
    /// for reading.
    fn is_worth_it(
        &mut self,
        file: &OwnedFd,
        position: u64,
        length: usize,
        version: &FileVersion,
    ) -> bool {
        let windows = Rc::clone(&self.windows);
        let Some(trial) = &windows.trial else { return can_be_mapped(file) };
        match trial.step(file, version) {
            Step::Read => false,
            Step::Map => true,
            Step::Try(_) if length < WINDOW => false,
            Step::Try(way) => {
                let time = match way {
                    Way::Map => self.time_of_mapping(file, position, length),
                    Way::Read => time_of_reading(file, position, length),
                };
                trial.tried(version, time);
                false
            }
        }
    }

    /// How long it takes to map these bytes of a file, with their pages, and to let go of them.
    fn time_of_mapping(
        &mut self,
        file: &OwnedFd,
        position: u64,
        length: usize,
    ) -> Option<Duration> {
        let begin = Instant::now();
        if !self.map(file, position, length) {
            return None;
        }
        self.mapped.as_mut().expect("just mapped").given = length;
        let bytes = self.bytes(&(0..length)).expect("just mapped");
        black_box(bytes.iter().step_by(page_size()).fold(0, |all, byte| all ^ byte));
        let was_hit = self.was_hit();
        self.release();
        (!was_hit).then(|| begin.elapsed())
    }

    /// Whether the window has zeros instead of its file.
    fn was_hit(&self) -> bool {
        self.windows.known_guard().was_hit(self.index)
    }

    /// Gives out the next bytes of what is mapped.
    fn give(&mut self) -> Piece {
        let mapped = self.mapped.as_mut().expect("something is mapped");
        let from = mapped.given;
        mapped.given = mapped.length.min(from + Buffer::CAPACITY);
        Piece { range: from..mapped.given, is_last: false }
    }

    /// Maps a part of a file, when nothing is mapped; false when that cannot be done.
    fn map(&mut self, file: &OwnedFd, offset: u64, length: usize) -> bool {
        debug_assert!(self.mapped.is_none());
        if self.windows.are_stuck.get() {
            return false;
        }
        let Some(guard) = self.windows.guard() else { return false };
        // SAFETY: it is for the kernel to choose where, so nothing that exists is replaced.
        let mapped = unsafe {
            mmap(ptr::null_mut(), length, ProtFlags::READ, MapFlags::PRIVATE, file, offset)
        };
        let Ok(start) = mapped else { return false };
        let address = start.expose_provenance();
        guard.enter(self.index, address..address + length);
        self.mapped = Some(Mapped { start, offset, length, given: 0 });
        true
    }

    /// Lets go of the file. At once, though that interrupts the other threads: any of
    /// 64 lanes may be the next one to map, and what all of them had mapped last would be 32 MiB.
    pub(in crate::engine) fn release(&mut self) {
        self.unmap();
    }

    /// Unmaps what is mapped; false if that is nothing.
    fn unmap(&mut self) -> bool {
        let Some(mapped) = self.mapped.take() else { return false };
        self.windows.known_guard().leave(self.index);
        // SAFETY: it is our window, and `&mut self` says that there is no slice of it.
        let unmapped = unsafe { munmap(mapped.start, mapped.length) };
        if unmapped.is_err() {
            self.windows.are_stuck.set(true);
        }
        true
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        self.release();
    }
}

/// Whether a window may begin at this offset of a file, with pages of so many bytes. Pages of which
/// a window is not a multiple would have the next one begin in mid-page.
fn may_begin_at(offset: u64, page: usize) -> bool {
    WINDOW.is_multiple_of(page) && offset.is_multiple_of(page as u64)
}

/// How many bytes are left of the page that this offset of a file is in; none at its beginning.
pub(super) fn before_page(offset: u64) -> Option<usize> {
    let page = page_size();
    let within = (offset % page as u64) as usize;
    (within > 0).then(|| page - within)
}

/// How long it takes to read these bytes of a file, into memory as a lane has it.
fn time_of_reading(file: &OwnedFd, position: u64, length: usize) -> Option<Duration> {
    let mut buffer = Buffer::new(0, LaneReader::Read);
    let room = buffer.room().ok()?;
    room.fill(1);
    let begin = Instant::now();
    let mut read = 0;
    while read < length {
        let next = room.len().min(length - read);
        match pread(file, &mut room[..next], position + read as u64) {
            Ok(0) | Err(_) => return None,
            Ok(more) => read += more,
        }
    }
    black_box(room);
    Some(begin.elapsed())
}

/// Why a mapped part of a file was not there: the system's words for it, if it has any.
fn why(file: &OwnedFd, mapped: &Mapped) -> Error {
    let mut buffer = vec![0; mapped.length];
    let mut read = 0;
    while read < mapped.length {
        match retry_on_intr(|| pread(file, &mut buffer[read..], mapped.offset + read as u64)) {
            Err(error) => return io::Error::from(error).into(),
            Ok(0) => break,
            Ok(more) => read += more,
        }
    }
    Error::Changed
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;

    use super::*;
    use crate::engine::read::fault::tests::alone;
    use crate::engine::read::memory::Region;

    /// A file of so many bytes.
    fn file_of(length: usize) -> OwnedFd {
        let file = tempfile::tempfile().unwrap();
        io::Write::write_all(&mut &file, &vec![7; length]).unwrap();
        file.into()
    }

    /// What has an answer to mmap which is always an error, after the kernel has made room.
    fn never_mapped() -> OwnedFd {
        UnixStream::pair().unwrap().0.into()
    }

    #[test]
    fn timing_maps_and_reads_leaves_no_window() {
        let _alone = alone();
        let file = file_of(2 * WINDOW);
        let windows = Rc::new(Windows::new(None));
        let mut window = Window::new(&windows, 3);
        let mapped = window.time_of_mapping(&file, WINDOW as u64, WINDOW).expect("it is there");
        let read = time_of_reading(&file, WINDOW as u64, WINDOW).expect("it is there");
        assert!(!mapped.is_zero() && !read.is_zero());
        assert!(window.bytes(&(0..0)).is_none());

        // What is cut off has no time, and does not count as cut off for the next file.
        let beyond = (WINDOW + page_size()) as u64;
        assert_eq!(window.time_of_mapping(&file, beyond, WINDOW), None);
        assert_eq!(time_of_reading(&file, beyond, WINDOW), None);
        assert!(window.time_of_mapping(&file, 0, WINDOW).is_some());
    }

    /// A version that says that the file has so many bytes.
    fn version_of(file: &OwnedFd, size: usize) -> FileVersion {
        let mut stat = rustix::fs::fstat(file).unwrap();
        stat.st_size = size as i64;
        FileVersion::of(&stat)
    }

    #[test]
    fn a_failed_mapping_leaves_other_memory_mapped() {
        const ROUNDS: usize = 2000;
        const PIECES: usize = 16;
        let _alone = alone();
        let ended = AtomicUsize::new(0);
        thread::scope(|scope| {
            for index in 0..2 {
                let ended = &ended;
                scope.spawn(move || {
                    let (file, socket) = (file_of(WINDOW), never_mapped());
                    let versions = [&file, &socket].map(|file| version_of(file, WINDOW));
                    let mut window = Window::new(&Rc::new(Windows::new(None)), index);
                    for _ in 0..ROUNDS {
                        assert!(window.next(&socket, 0..u64::MAX, &versions[1]).unwrap().is_none());
                        thread::yield_now();
                        let piece =
                            window.next(&file, 0..u64::MAX, &versions[0]).unwrap().expect("mapped");
                        let bytes = window.bytes(&piece.range).expect("mapped");
                        assert!(bytes.iter().step_by(512).all(|byte| *byte == 7));
                        window.release();
                    }
                    ended.fetch_add(1, Ordering::Relaxed);
                });
                scope.spawn(move || {
                    while ended.load(Ordering::Relaxed) < 2 {
                        let pieces: [_; PIECES] = std::array::from_fn(|number| {
                            let piece = Region::zeros(WINDOW).unwrap();
                            // SAFETY: only this test has it.
                            unsafe { piece.bytes_mut(0..WINDOW) }.fill(number as u8 + 1);
                            piece
                        });
                        for (number, piece) in pieces.iter().enumerate() {
                            // SAFETY: as before.
                            let bytes = unsafe { piece.bytes(0..WINDOW) };
                            let is_own = |byte: &u8| usize::from(*byte) == number + 1;
                            assert!(bytes.iter().all(is_own), "another one's memory");
                        }
                    }
                });
            }
        });
    }

    /// A file that goes on after the windows, of which a mapping fails, is read from where the last
    /// one ended.
    #[test]
    fn a_failed_mapping_continues_by_reading() {
        let _alone = alone();
        let mut content = vec![7; WINDOW];
        content.extend((0..WINDOW).map(|at| (at % 251) as u8));
        let mut file = tempfile::tempfile().unwrap();
        io::Write::write_all(&mut file, &content).unwrap();
        io::Seek::rewind(&mut file).unwrap();
        let file = OwnedFd::from(file);
        let version = version_of(&file, content.len());
        let windows = Rc::new(Windows::new(None));
        let mut window = Window::new(&windows, 0);
        let mut position = 0;
        while position < WINDOW {
            let piece =
                window.next(&file, position as u64..u64::MAX, &version).unwrap().expect("mapped");
            assert!(
                window.bytes(&piece.range).unwrap() == &content[position..][..piece.range.len()]
            );
            position += piece.range.len();
        }
        windows.are_stuck.set(true);
        assert!(window.next(&file, position as u64..u64::MAX, &version).unwrap().is_none());
        assert!(window.bytes(&(0..0)).is_none(), "nothing is mapped");
        let mut rest = Vec::new();
        io::Read::read_to_end(&mut std::fs::File::from(file), &mut rest).unwrap();
        assert!(rest == content[WINDOW..]);
    }

    #[test]
    fn truncation_is_survived_with_the_signal_blocked() {
        let _alone = alone();
        let was_blocked = fault::block(libc::SIG_BLOCK).unwrap();
        let file = file_of(WINDOW);
        let version = version_of(&file, WINDOW);
        let mut window = Window::new(&Rc::new(Windows::new(None)), 0);
        let piece = window.next(&file, 0..u64::MAX, &version).unwrap().expect("mapped");
        rustix::fs::ftruncate(&file, 0).unwrap();
        assert!(window.bytes(&piece.range).unwrap().iter().all(|byte| *byte == 0));
        assert!(matches!(
            window.next(&file, WINDOW as u64..u64::MAX, &version),
            Err(Error::Changed)
        ));
        drop(window);
        assert!(fault::block(libc::SIG_BLOCK).unwrap(), "as it was before");
        if !was_blocked {
            fault::block(libc::SIG_UNBLOCK).unwrap();
        }
    }

    #[test]
    fn windows_begin_at_pages_of_any_size() {
        for page in [4 << 10, 16 << 10, 64 << 10] {
            for (offset, may) in [(0, true), (page - 1, false), (page, true), (page + 4095, false)]
            {
                assert_eq!(may_begin_at(offset, page as usize), may, "{offset} {page}");
            }
        }
        assert!(!may_begin_at(12 << 10, 16 << 10) && may_begin_at(12 << 10, 4 << 10));
        assert!(!may_begin_at(0, 2 * WINDOW), "longer than a window");
    }
}
