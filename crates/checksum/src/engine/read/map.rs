//! Maps files, one window at a time.
//!
//! Each lane has a window that moves through its file, so the mapped memory does not grow with the
//! files. The kernel chooses the address of each window. Mapping at fixed addresses (MAP_FIXED)
//! would unmap them first. If the mapping then failed, memory of another thread could be mapped
//! there, and the next mapping would destroy it. The handler of [`fault`](super::fault) knows each
//! window.
//!
//! The kernel maps sixteen pages at each first access, which is faster than mapping all pages of a
//! window at once (MAP_POPULATE). Whether mapping is faster than reading depends on the machine,
//! see [`trial`](super::trial).

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

/// The size of a window in bytes. Mapped memory counts as memory of the process, so windows are as
/// small as possible. Windows of 256 KiB are 6 to 8 % slower for files of 1 MiB, and larger ones
/// are not faster.
pub(super) const WINDOW: usize = 512 << 10;

/// The windows of the lanes of a worker, made on first use.
pub(in crate::engine) struct Windows {
    /// `None` if there are too many workers.
    guard: OnceCell<Option<Guard>>,
    /// Whether a window could not be unmapped. Then no further windows are made, because each might
    /// stay.
    are_stuck: Cell<bool>,
    /// The trial that chooses between mapping and reading, if any.
    trial: Option<MapTrial>,
}

impl Windows {
    pub(super) fn new(trial: Option<MapTrial>) -> Self {
        Self { guard: OnceCell::new(), are_stuck: Cell::new(false), trial }
    }

    fn guard(&self) -> Option<&Guard> {
        self.guard.get_or_init(|| fault::guard().ok()).as_ref()
    }

    /// Returns the guard, if anything is or was mapped.
    fn known_guard(&self) -> &Guard {
        self.guard().expect("what is mapped is guarded")
    }
}

/// The window of a lane, and its mapped bytes.
pub(in crate::engine) struct Window {
    windows: Rc<Windows>,
    index: usize,
    mapped: Option<Mapped>,
}

/// A mapped part of a file.
struct Mapped {
    start: *mut c_void,
    /// Its offset in the file, and its bytes.
    offset: u64,
    length: usize,
    /// The range of bytes that was returned.
    given: usize,
}

impl Window {
    pub(super) fn new(windows: &Rc<Windows>, index: usize) -> Self {
        assert!(index < MAX_LANES, "{index}");
        Self { windows: Rc::clone(windows), index, mapped: None }
    }

    /// Returns bytes of the window, counted from its start, or `None` if nothing is mapped.
    #[inline]
    pub(in crate::engine) fn bytes(&self, range: &Range<usize>) -> Option<&[u8]> {
        let mapped = self.mapped.as_ref()?;
        assert!(range.start <= range.end && range.end <= mapped.given, "{range:?}");
        let start = mapped.start.cast::<u8>();
        // SAFETY: these bytes are mapped until `next` or `release`, which take `&mut self`. Bytes
        // that a truncated file no longer has are zeros (see `fault`). This process does not write
        // to them, but another process may write to the file, which no language model covers. The
        // code relies on the fact that only a hash function reads these bytes. It uses each byte
        // only as a value, never for branches or addresses, so any bytes only give some digest.
        // That digest is rejected, because the file has changed.
        Some(unsafe { std::slice::from_raw_parts(start.add(range.start), range.len()) })
    }

    /// Returns the next bytes of the rest of a file or part, or `None` if they must be read.
    ///
    /// Bytes that one read takes are not mapped: small files, the end of long files, and appended
    /// bytes.
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
        // Mapped bytes do not advance the position of the file, so it is set here.
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

    /// Returns whether a trial decides what is mapped.
    pub(super) fn is_by_trial(&self) -> bool {
        self.windows.trial.is_some()
    }

    /// Returns whether to map the next bytes of a file. Mapped files switch to reading only at the
    /// end of a window.
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

    /// Measures the time to map bytes of a file with their pages, and to unmap them.
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

    /// Returns whether the window has zeros instead of its file.
    fn was_hit(&self) -> bool {
        self.windows.known_guard().was_hit(self.index)
    }

    /// Returns the next mapped bytes.
    fn give(&mut self) -> Piece {
        let mapped = self.mapped.as_mut().expect("something is mapped");
        let from = mapped.given;
        mapped.given = mapped.length.min(from + Buffer::CAPACITY);
        Piece { range: from..mapped.given, is_last: false }
    }

    /// Maps a part of a file if nothing is mapped. Returns false if that fails.
    fn map(&mut self, file: &OwnedFd, offset: u64, length: usize) -> bool {
        debug_assert!(self.mapped.is_none());
        if self.windows.are_stuck.get() {
            return false;
        }
        let Some(guard) = self.windows.guard() else { return false };
        // SAFETY: the kernel chooses the address, so no existing memory is replaced.
        let mapped = unsafe {
            mmap(ptr::null_mut(), length, ProtFlags::READ, MapFlags::PRIVATE, file, offset)
        };
        let Ok(start) = mapped else { return false };
        let address = start.expose_provenance();
        guard.enter(self.index, address..address + length);
        self.mapped = Some(Mapped { start, offset, length, given: 0 });
        true
    }

    /// Releases the file. Unmaps at once although that interrupts other threads, because the last
    /// windows of 64 lanes would be 32 MiB.
    pub(in crate::engine) fn release(&mut self) {
        self.unmap();
    }

    /// Unmaps the window. Returns false if nothing is mapped.
    fn unmap(&mut self) -> bool {
        let Some(mapped) = self.mapped.take() else { return false };
        self.windows.known_guard().leave(self.index);
        // SAFETY: this value owns the window, and because of `&mut self` no slice of it exists.
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

/// Returns whether a window may start at an offset of a file, for a page size. If a window is not a
/// multiple of the page size, the next one would start within a page.
fn may_begin_at(offset: u64, page: usize) -> bool {
    WINDOW.is_multiple_of(page) && offset.is_multiple_of(page as u64)
}

/// Returns the number of bytes left in the page of an offset, 0 at the start of a page.
pub(super) fn before_page(offset: u64) -> Option<usize> {
    let page = page_size();
    let within = (offset % page as u64) as usize;
    (within > 0).then(|| page - within)
}

/// Measures the time to read bytes of a file into memory like that of a lane.
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

/// Returns why a mapped part of a file was missing, with the error of the system if there is one.
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

    /// Makes a file of a given size.
    fn file_of(length: usize) -> OwnedFd {
        let file = tempfile::tempfile().unwrap();
        io::Write::write_all(&mut &file, &vec![7; length]).unwrap();
        file.into()
    }

    /// A file for which mmap always fails after the kernel has reserved addresses.
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

        // A truncated file has no time, and the truncation does not affect the next file.
        let beyond = (WINDOW + page_size()) as u64;
        assert_eq!(window.time_of_mapping(&file, beyond, WINDOW), None);
        assert_eq!(time_of_reading(&file, beyond, WINDOW), None);
        assert!(window.time_of_mapping(&file, 0, WINDOW).is_some());
    }

    /// Returns a version with a given file size.
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

    /// If mapping fails in the middle of a file, the rest is read from the end of the last window.
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
