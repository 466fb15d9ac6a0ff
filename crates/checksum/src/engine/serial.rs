//! What is read alone, in its turn: standard input, FIFOs, devices, terminals.
//!
//! They may keep us waiting for as long as they like, and one of them may wait for what another
//! gets (`tee >(a) >(b)` and the like), so each is read only when all jobs before it are out, as
//! a tool that reads one file after another would.

use std::io;
use std::ops::ControlFlow;
use std::sync::atomic::Ordering;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::{Errno, retry_on_intr};

use super::file::Buffer;
use super::hashers::Hashers;
use super::order::{Order, Sequence, Worker};
use super::read::Lane;
use super::{Hashed, Job, Options, Outcome};
use crate::{Algorithms, Error};

/// A job to be done alone.
pub(super) struct Serial<T> {
    pub(super) job: Job<T>,
    /// What was opened, without waiting; `None` stands for standard input.
    pub(super) file: Option<OwnedFd>,
}

/// Does a worker's serial jobs until no more can come.
pub(super) fn serve<T, R, M, F>(options: &Options, make: &M, order: &Order<T, R, F>, worker: Worker)
where
    M: Fn(Outcome<T>) -> R,
    F: FnMut(R) -> ControlFlow<()>,
{
    while let Some((sequence, Serial { job, file })) = order.next_serial(worker) {
        let result = match &file {
            Some(file) => hash(options, file.as_fd(), job.algorithms),
            None => hash(options, rustix::stdio::stdin(), job.algorithms),
        };
        options.count_file();
        deliver(sequence, job, result, make, order);
    }
}

/// Hands over what came of a job.
pub(super) fn deliver<T, R, M, F>(
    sequence: Sequence,
    job: Job<T>,
    result: Result<Hashed, Error>,
    make: &M,
    order: &Order<T, R, F>,
) where
    M: Fn(Outcome<T>) -> R,
    F: FnMut(R) -> ControlFlow<()>,
{
    let Job { source, context, .. } = job;
    order.complete(&mut vec![(sequence, make(Outcome { source, context, result }))]);
}

/// Reads a file to its end, by itself.
pub(super) fn hash(
    options: &Options,
    file: BorrowedFd<'_>,
    algorithms: Algorithms,
) -> Result<Hashed, Error> {
    let mut hashers = Hashers::new(algorithms, options.key.as_ref())?;
    let mut buffer = Buffer::new(0, Lane::Read);
    let room = buffer.room();
    let mut hashed = Hashed::default();
    loop {
        let read = read(file, room).map_err(io::Error::from)?;
        if read == 0 {
            break;
        }
        hashers.update(&room[..read]);
        hashed.bytes += read as u64;
        if let Some(progress) = &options.progress {
            progress.bytes.fetch_add(read as u64, Ordering::Relaxed);
        }
    }
    hashers.finalize(&mut hashed.digests);
    Ok(hashed)
}

/// Reads what there is; waits for it where the file was opened without waiting.
///
/// A FIFO that no writer has opened yet reads as ended, but polls as not ready; one whose last
/// writer has gone polls as ready. So polling first gives the end when it is one.
fn read(file: BorrowedFd<'_>, buffer: &mut [u8]) -> Result<usize, Errno> {
    loop {
        let mut ready = [PollFd::new(&file, PollFlags::IN)];
        retry_on_intr(|| poll(&mut ready, None))?;
        match retry_on_intr(|| rustix::io::read(file, &mut *buffer)) {
            // Somebody else was faster to what was there.
            Err(Errno::AGAIN) => {}
            read => return read,
        }
    }
}
