//! Files that are mapped, a window at a time.
//!
//! Each lane has a fixed range of addresses as its window, into which one part of its file after
//! another is mapped. So memory that is mapped does not grow with the files, and the handler of
//! [`fault`](super::fault) knows by the address alone whose window is at fault.
//!
//! Pages come as they are touched, sixteen at a time, which measures better than to ask for all of
//! a window at once (MAP_POPULATE); and neither is as fast as to read.

#![expect(unsafe_code, reason = "maps files and looks at what is mapped")]

use std::io;
use std::ops::Range;
use std::rc::Rc;

use rustix::fd::OwnedFd;
use rustix::fs::SeekFrom;
use rustix::io::pread;
use rustix::mm::{MapFlags, ProtFlags, mmap, mmap_anonymous};

use super::Piece;
use super::fault::{self, Guard};
use super::memory::{PAGE, Region};
use crate::Error;
use crate::engine::file::Buffer;

pub(super) use super::fault::MAX_LANES;

/// Bytes of a window.
pub(super) const WINDOW: usize = 2 << 20;

/// Bytes of all the windows of a worker.
pub(super) const WINDOWS: usize = MAX_LANES * WINDOW;

/// The windows of a worker's lanes.
pub(in crate::engine) struct Windows {
    // Before the region, so that the handler does not know the addresses any longer than we do.
    guard: Guard,
    region: Region,
}

impl Windows {
    /// # Errors
    /// When there are no addresses, or too many workers at once.
    pub(super) fn new() -> io::Result<Self> {
        let region = Region::addresses(WINDOWS)?;
        let guard = fault::guard(&region)?;
        Ok(Self { guard, region })
    }
}

/// A lane's window, and what is mapped into it.
pub(in crate::engine) struct Window {
    windows: Rc<Windows>,
    index: usize,
    mapped: Option<Mapped>,
}

/// A part of a file that is mapped.
struct Mapped {
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

    /// Bytes of the window; `None` if nothing is mapped.
    #[inline]
    pub(in crate::engine) fn bytes(&self, range: &Range<usize>) -> Option<&[u8]> {
        let mapped = self.mapped.as_ref()?;
        let start = self.start();
        assert!(range.start >= start && range.end <= start + mapped.given, "{range:?}");
        // SAFETY: these bytes are mapped until `next` or `release`, which take `&mut self`; those that
        // a shorter file no longer has are zeros (see `fault`). Nobody of this process writes to them.
        // Another process may write to the file. No language has a word for that; what we rely on
        // is that whoever gets these bytes is a hash function, which looks at each byte for its value
        // only, never for where to go or what to touch, so that any bytes do no more than give some
        // digest. And that one is not believed: the file has changed.
        Some(unsafe { self.windows.region.bytes(range.clone()) })
    }

    /// The next bytes of a file from `position` on; `None` when they are to be read.
    ///
    /// What one read takes is not mapped: of a small file all, of a long one the end, and whatever
    /// it has become longer by.
    pub(super) fn next(
        &mut self,
        file: &OwnedFd,
        position: u64,
        size: u64,
    ) -> Result<Option<Piece>, Error> {
        if let Some(mapped) = &self.mapped {
            if self.windows.guard.was_hit(self.index) {
                let error = why(file, mapped);
                self.release();
                return Err(error);
            }
            if mapped.given < mapped.length {
                return Ok(Some(self.give()));
            }
        }
        let rest = size.saturating_sub(position);
        if rest > Buffer::CAPACITY as u64 && position.is_multiple_of(PAGE as u64) {
            let length = usize::try_from(rest).unwrap_or(usize::MAX).min(WINDOW);
            if self.map(file, position, length) {
                return Ok(Some(self.give()));
            }
        }
        if self.mapped.is_some() {
            self.release();
            rustix::fs::seek(file, SeekFrom::Start(position)).map_err(io::Error::from)?;
        }
        Ok(None)
    }

    /// Gives out the next bytes of what is mapped.
    fn give(&mut self) -> Piece {
        let start = self.start();
        let mapped = self.mapped.as_mut().expect("something is mapped");
        let from = mapped.given;
        mapped.given = mapped.length.min(from + Buffer::CAPACITY);
        Piece { range: start + from..start + mapped.given, is_last: false }
    }

    /// Maps a part of a file in place of what is mapped; false when that cannot be done.
    fn map(&mut self, file: &OwnedFd, offset: u64, length: usize) -> bool {
        self.windows.guard.forget(self.index);
        let at = self.windows.region.at(self.start()).cast();
        let flags = MapFlags::PRIVATE | MapFlags::FIXED;
        // SAFETY: what is replaced is our window, at most all of it, and `&mut self` says that nobody
        // has a slice of it.
        let mapped = unsafe { mmap(at, length, ProtFlags::READ, flags, file, offset) };
        if mapped.is_ok() {
            self.mapped = Some(Mapped { offset, length, given: 0 });
        }
        mapped.is_ok()
    }

    /// Lets go of the file.
    pub(in crate::engine) fn release(&mut self) {
        if self.mapped.take().is_some() {
            let at = self.windows.region.at(self.start()).cast();
            let flags = MapFlags::PRIVATE | MapFlags::FIXED | MapFlags::NORESERVE;
            // SAFETY: as in `map`. Should it fail the file stays mapped until the next one is, or
            // the run ends; nobody looks at it.
            let _ = unsafe { mmap_anonymous(at, WINDOW, ProtFlags::empty(), flags) };
        }
    }

    /// Where the window lies in the region.
    fn start(&self) -> usize {
        self.index * WINDOW
    }
}

/// Why a mapped part of a file was not there: the system's words for it, if it has any.
fn why(file: &OwnedFd, mapped: &Mapped) -> Error {
    let mut buffer = vec![0; mapped.length];
    match pread(file, &mut buffer, mapped.offset) {
        Err(error) => io::Error::from(error).into(),
        Ok(_) => Error::Changed,
    }
}
