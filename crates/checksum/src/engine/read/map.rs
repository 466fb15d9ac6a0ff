//! Files that are mapped, a window at a time.
//!
//! Each lane has a fixed range of addresses as its window, into which one part of its file after
//! another is mapped. So memory that is mapped does not grow with the files, and the handler of
//! [`fault`](super::fault) knows by the address alone whose window is at fault.
//!
//! Pages come as they are touched, sixteen at a time, which measures better than to ask for all of
//! a window at once (MAP_POPULATE). Whether it is faster than to read depends on the machine
//! (see [`choice`](super::choice)).

#![expect(unsafe_code, reason = "maps files and looks at what is mapped")]

use std::cell::OnceCell;
use std::hint::black_box;
use std::io;
use std::ops::Range;
use std::rc::Rc;
use std::time::{Duration, Instant};

use rustix::fd::OwnedFd;
use rustix::fs::SeekFrom;
use rustix::io::pread;
use rustix::mm::{MapFlags, ProtFlags, mmap, mmap_anonymous};

use super::choice::{Choice, Step, Way};
use super::fault::{self, Guard};
use super::memory::{PAGE, Region};
use super::{Lane, Piece};
use crate::Error;
use crate::engine::file::Buffer;
use crate::engine::stamp::Stamp;

pub(super) use super::fault::MAX_LANES;

/// Bytes of a window. What is mapped counts as the process's own, so there is no more than needs to be: windows of 256 KiB
/// are 6 to 8 % slower for files of 1 MiB, larger ones no faster.
pub(super) const WINDOW: usize = 512 << 10;

/// Bytes of all the windows of a worker.
pub(super) const WINDOWS: usize = MAX_LANES * WINDOW;

/// The windows of a worker's lanes, from the first one on that is needed.
pub(in crate::engine) struct Windows {
    /// None when there are no addresses, or too many workers at once.
    addresses: OnceCell<Option<Addresses>>,
    /// What chooses between mapping and reading, if that is to be chosen.
    choice: Option<Choice>,
}

/// Where the windows are.
struct Addresses {
    // Before the region, so that the handler does not know the addresses any longer than we do.
    guard: Guard,
    region: Region,
}

impl Addresses {
    fn new() -> io::Result<Self> {
        let region = Region::addresses(WINDOWS)?;
        let guard = fault::guard(&region)?;
        Ok(Self { guard, region })
    }
}

impl Windows {
    pub(super) fn new(choice: Option<Choice>) -> Self {
        Self { addresses: OnceCell::new(), choice }
    }

    fn addresses(&self) -> Option<&Addresses> {
        self.addresses.get_or_init(|| Addresses::new().ok()).as_ref()
    }

    /// The addresses, when something is or was mapped.
    fn known_addresses(&self) -> &Addresses {
        self.addresses().expect("what is mapped has an address")
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
        Some(unsafe { self.windows.known_addresses().region.bytes(range.clone()) })
    }

    /// The next bytes of a file from `position` on; `None` when they are to be read.
    ///
    /// What one read takes is not mapped: of a small file all, of a long one the end, and whatever
    /// it has become longer by.
    pub(super) fn next(
        &mut self,
        file: &OwnedFd,
        position: u64,
        stamp: &Stamp,
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
        let rest = stamp.size().saturating_sub(position);
        if rest > Buffer::CAPACITY as u64 && position.is_multiple_of(PAGE as u64) {
            let length = usize::try_from(rest).unwrap_or(usize::MAX).min(WINDOW);
            if self.is_worth_it(file, position, length, stamp) && self.map(file, position, length) {
                return Ok(Some(self.give()));
            }
        }
        if self.mapped.is_some() {
            self.release();
            rustix::fs::seek(file, SeekFrom::Start(position)).map_err(io::Error::from)?;
        }
        Ok(None)
    }

    /// Whether to map the next bytes of a file. Of what is mapped, only whole windows are given up for reading.
    fn is_worth_it(&mut self, file: &OwnedFd, position: u64, length: usize, stamp: &Stamp) -> bool {
        let windows = Rc::clone(&self.windows);
        let Some(choice) = &windows.choice else { return true };
        match choice.step(file, stamp) {
            Step::Read => false,
            Step::Map => true,
            Step::Try(_) if length < WINDOW => false,
            Step::Try(way) => {
                let time = match way {
                    Way::Map => self.time_of_mapping(file, position, length),
                    Way::Read => time_of_reading(file, position, length),
                };
                choice.tried(stamp, time);
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
        let bytes = self.bytes(&(self.start()..self.start() + length)).expect("just mapped");
        black_box(bytes.iter().step_by(PAGE).fold(0, |all, byte| all ^ byte));
        let was_hit = self.was_hit();
        self.release();
        (!was_hit).then(|| begin.elapsed())
    }

    /// Whether the window has zeros instead of its file.
    fn was_hit(&self) -> bool {
        self.windows.known_addresses().guard.was_hit(self.index)
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
        let Some(addresses) = self.windows.addresses() else { return false };
        addresses.guard.forget(self.index);
        let at = addresses.region.at(self.start()).cast();
        let flags = MapFlags::PRIVATE | MapFlags::FIXED;
        // SAFETY: what is replaced is our window, at most all of it, and `&mut self` says that nobody
        // has a slice of it.
        let mapped = unsafe { mmap(at, length, ProtFlags::READ, flags, file, offset) };
        if mapped.is_ok() {
            self.mapped = Some(Mapped { offset, length, given: 0 });
        }
        mapped.is_ok()
    }

    /// Lets go of the file. At once, though that interrupts the other threads: any of 64 lanes may be the next one to map, and
    /// what all of them had mapped last would be 32 MiB.
    pub(in crate::engine) fn release(&mut self) {
        if self.mapped.take().is_some() {
            let at = self.windows.known_addresses().region.at(self.start()).cast();
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

/// How long it takes to read these bytes of a file, into memory as a lane has it.
fn time_of_reading(file: &OwnedFd, position: u64, length: usize) -> Option<Duration> {
    let mut buffer = Buffer::new(0, Lane::Read);
    let room = buffer.room();
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
    match pread(file, &mut buffer, mapped.offset) {
        Err(error) => io::Error::from(error).into(),
        Ok(_) => Error::Changed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_are_timed_and_leave_nothing_behind() {
        let file = tempfile::tempfile().unwrap();
        std::io::Write::write_all(&mut &file, &vec![7; 2 * WINDOW]).unwrap();
        let file = OwnedFd::from(file);
        let windows = Rc::new(Windows::new(None));
        let mut window = Window::new(&windows, 3);
        let mapped = window.time_of_mapping(&file, WINDOW as u64, WINDOW).expect("it is there");
        let read = time_of_reading(&file, WINDOW as u64, WINDOW).expect("it is there");
        assert!(!mapped.is_zero() && !read.is_zero());
        assert!(window.bytes(&(0..0)).is_none());

        // What is cut off has no time, and does not count as cut off for the next file.
        let beyond = (WINDOW + PAGE) as u64;
        assert_eq!(window.time_of_mapping(&file, beyond, WINDOW), None);
        assert_eq!(time_of_reading(&file, beyond, WINDOW), None);
        assert!(window.time_of_mapping(&file, 0, WINDOW).is_some());
    }
}
