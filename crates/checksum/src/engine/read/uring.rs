//! Asynchronous reads of the lanes of a worker, at most one per lane, by io_uring if available.
//!
//! The kernel writes to the memory at any time. So the queue owns the memory, and is not dropped
//! before the last read has ended.

#![expect(unsafe_code, reason = "the kernel is given addresses to write to")]

use std::io;
use std::ops::Range;
use std::rc::Rc;

use io_uring::{IoUring, opcode, types};
use rustix::fd::{AsRawFd as _, OwnedFd};
use rustix::io::{Errno, pread, retry_on_intr};

use super::memory::Region;

/// The reads of the lanes of a worker.
pub(super) struct Queue {
    /// `None` without io_uring. A read is then done when it is pushed.
    ring: Option<IoUring>,
    memory: Rc<Region>,
    lanes: Vec<Read>,
    /// The error if reads can no longer be waited for. Then no reads are started, because the
    /// kernel may still write to the memory of reads under way.
    failed: Option<Errno>,
    /// The largest number of bytes of a read, for tests. A file system may return short reads.
    #[cfg(test)]
    pub(super) most_of_a_read: usize,
}

/// The read of a lane.
#[derive(Clone)]
enum Read {
    None,
    /// Pushed, and in use by the kernel until its completion is read.
    UnderWay,
    Done(Result<usize, Errno>),
}

/// Checks whether the system has io_uring.
pub(super) fn check() -> io::Result<()> {
    ring(1).map(drop)
}

fn ring(entries: usize) -> io::Result<IoUring> {
    let entries = u32::try_from(entries).expect("as many as lanes");
    // Completions are processed on request, not whenever the kernel has one (Linux 6.1).
    let deferred = IoUring::builder().setup_single_issuer().setup_defer_taskrun().build(entries);
    match deferred {
        Err(error) if error.raw_os_error() == Some(Errno::INVAL.raw_os_error()) => {
            IoUring::new(entries)
        }
        result => result,
    }
}

impl Queue {
    /// Makes a queue for a number of lanes, which read into memory of a given size.
    pub(super) fn with_ring(memory: usize, lanes: usize) -> io::Result<Self> {
        let ring = ring(lanes)?;
        let mut queue = Self::without_ring(memory, lanes)?;
        queue.ring = Some(ring);
        Ok(queue)
    }

    /// Makes a queue without io_uring.
    pub(super) fn without_ring(memory: usize, lanes: usize) -> io::Result<Self> {
        let memory = Region::zeros(memory)?;
        let lanes = vec![Read::None; lanes];
        Ok(Self {
            ring: None,
            memory: Rc::new(memory),
            lanes,
            failed: None,
            #[cfg(test)]
            most_of_a_read: usize::MAX,
        })
    }

    /// Returns the memory that is read to.
    pub(super) fn memory(&self) -> &Rc<Region> {
        &self.memory
    }

    /// Adds a read of a lane from an offset of a file into a range of the memory.
    /// [`submit`](Self::submit) or [`wait`](Self::wait) starts it, and the file must be open until
    /// then.
    ///
    /// # Safety
    /// No other code may use the range until [`wait`](Self::wait) was called for the lane.
    pub(super) unsafe fn push(
        &mut self,
        lane: usize,
        file: &OwnedFd,
        offset: u64,
        range: Range<usize>,
    ) {
        if self.failed.is_some() {
            return;
        }
        assert!(matches!(self.lanes[lane], Read::None), "one read in a lane at a time");
        #[cfg(test)]
        let range = self.shortened(range);
        let Some(ring) = &mut self.ring else {
            // SAFETY: the caller guarantees exclusive use of the range.
            self.lanes[lane] = Read::Done(unsafe { self.read(file, offset, range) });
            return;
        };
        let _ = self.memory.at(range.end);
        let length = u32::try_from(range.len()).expect("pieces are shorter than 4 GiB");
        let file = types::Fd(file.as_raw_fd());
        let entry = opcode::Read::new(file, self.memory.at(range.start), length)
            .offset(offset)
            .build()
            .user_data(lane as u64);
        // SAFETY: the addresses are in the memory of the queue, which `drop` keeps until the read
        // has ended. The caller guarantees exclusive use of the range.
        unsafe { ring.submission().push(&entry) }.expect("an entry for each lane");
        self.lanes[lane] = Read::UnderWay;
    }

    /// Reads synchronously.
    ///
    /// # Safety
    /// No other code may use the range during the call.
    pub(super) unsafe fn read(
        &self,
        file: &OwnedFd,
        offset: u64,
        range: Range<usize>,
    ) -> Result<usize, Errno> {
        self.failed.map_or(Ok(()), Err)?;
        #[cfg(test)]
        let range = self.shortened(range);
        // SAFETY: the caller guarantees exclusive use of the range.
        let memory = unsafe { self.memory.bytes_mut(range) };
        retry_on_intr(|| pread(file, &mut *memory, offset))
    }

    #[cfg(test)]
    fn shortened(&self, range: Range<usize>) -> Range<usize> {
        range.start..range.end.min(range.start.saturating_add(self.most_of_a_read))
    }

    /// Submits the pushed reads.
    pub(super) fn submit(&mut self) {
        if let Some(ring) = &self.ring {
            // Reads that cannot be submitted now are submitted when they are waited for.
            let _ = ring.submit();
        }
    }

    /// Waits for the read of a lane. Returns the number of bytes read.
    pub(super) fn wait(&mut self, lane: usize) -> Result<usize, Errno> {
        loop {
            match std::mem::replace(&mut self.lanes[lane], Read::None) {
                Read::Done(result) => return result,
                read => self.lanes[lane] = read,
            }
            self.wait_for_any()?;
        }
    }

    /// Processes completions. Waits for one if none is ready.
    fn wait_for_any(&mut self) -> Result<(), Errno> {
        self.failed.map_or(Ok(()), Err)?;
        let ring = self.ring.as_mut().expect("without a ring every read is done");
        if ring.completion().is_empty() {
            match ring.submit_and_wait(1) {
                Ok(_) => {}
                Err(error) => match Errno::from_io_error(&error) {
                    // A signal, or no room at the moment, so other completions must be processed
                    // first.
                    Some(Errno::INTR | Errno::AGAIN | Errno::BUSY) => {}
                    error => {
                        let error = error.unwrap_or(Errno::IO);
                        self.failed = Some(error);
                        return Err(error);
                    }
                },
            }
        }
        for entry in ring.completion() {
            let lane = usize::try_from(entry.user_data()).expect("the number of a lane");
            self.lanes[lane] = Read::Done(match entry.result() {
                error @ ..0 => Err(Errno::from_raw_os_error(-error)),
                read => Ok(read.cast_unsigned() as usize),
            });
        }
        Ok(())
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        while self.lanes.iter().any(|read| matches!(read, Read::UnderWay)) {
            if self.wait_for_any().is_err() {
                // The kernel may still write to the memory, so it is never freed.
                std::mem::forget(Rc::clone(&self.memory));
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_stop_when_waiting_fails() {
        let Ok(mut queue) = Queue::with_ring(2, 2) else { return };
        let file = OwnedFd::from(std::fs::File::open("/dev/zero").unwrap());
        // SAFETY: only this test has the memory.
        unsafe { queue.push(0, &file, 0, 0..1) };
        queue.failed = Some(Errno::BADF);
        // SAFETY: the same.
        unsafe { queue.push(1, &file, 0, 1..2) };
        assert!(matches!(queue.lanes[..], [Read::UnderWay, Read::None]));
        assert_eq!([0, 1].map(|lane| queue.wait(lane)), [Err(Errno::BADF); 2]);
        // SAFETY: the same.
        assert_eq!(unsafe { queue.read(&file, 0, 1..2) }, Err(Errno::BADF));
        // The kernel may still write to the memory, so it is never freed.
        let memory = Rc::clone(&queue.memory);
        drop(queue);
        assert_eq!(Rc::strong_count(&memory), 2);
    }
}
