//! What is read alone, in its turn: standard input, FIFOs, devices, terminals.
//!
//! They may keep us waiting for as long as they like, and one of them may wait for what another
//! gets (`tee >(a) >(b)` and the like), so each is read only when all jobs before it are out, as
//! a tool that reads one file after another would.

use std::io;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{FileType, SeekFrom};
use rustix::io::{Errno, retry_on_intr};

use super::file::Buffer;
use super::hashers::Hashers;
use super::open::Opener;
use super::order::{Order, Worker};
use super::read::{Lane, lease};
use super::stamp::{self, Stamp};
use super::{FileId, Hashed, Job, Options, Outcome, Source};
use crate::{Algorithms, Error};

/// A job to be done alone.
pub(super) struct Serial<T> {
    pub(super) job: Job<T>,
    pub(super) input: Input,
}

/// What is read alone.
pub(super) enum Input {
    Stdin,
    /// Opened without waiting. It stays open until its turn, so that a writer who waits for a reader can begin.
    Open(OwnedFd),
    /// The job's path, to be opened in its turn: as many as may be are open already.
    Later,
}

/// How many inputs of a worker are open and wait for their turn.
#[derive(Default)]
pub(super) struct OpenInputs(AtomicUsize);

impl OpenInputs {
    pub(super) fn count(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    pub(super) fn add(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// Does a worker's serial jobs until no more can come.
pub(super) fn serve<T, R, M, F>(
    options: &Options,
    make: &M,
    order: &Order<T, R, F>,
    worker: Worker,
    open_inputs: &OpenInputs,
) where
    M: Fn(Outcome<T>) -> R,
    F: FnMut(R) -> ControlFlow<()>,
{
    /// Ends the run when this thread panics.
    struct End<'a, T, R, F: FnMut(R) -> ControlFlow<()>>(&'a Order<T, R, F>);
    impl<T, R, F: FnMut(R) -> ControlFlow<()>> Drop for End<'_, T, R, F> {
        fn drop(&mut self) {
            self.0.thread_ends();
        }
    }
    let _end = End(order);
    while serve_one(options, make, order, worker, open_inputs) {}
}

/// Does a worker's next serial job when its turn comes; false when no more can come.
pub(super) fn serve_one<T, R, M, F>(
    options: &Options,
    make: &M,
    order: &Order<T, R, F>,
    worker: Worker,
    open_inputs: &OpenInputs,
) -> bool
where
    M: Fn(Outcome<T>) -> R,
    F: FnMut(R) -> ControlFlow<()>,
{
    let Some((sequence, Serial { job, input })) = order.next_serial(worker) else { return false };
    let result = match input {
        Input::Stdin => hash_stdin(options, job.algorithms),
        Input::Open(file) => {
            let result = hash(options, file.as_fd(), job.algorithms);
            drop(file);
            open_inputs.0.fetch_sub(1, Ordering::Relaxed);
            result
        }
        Input::Later => {
            let open = open(&job.source, options);
            open.and_then(|file| hash(options, file.as_fd(), job.algorithms))
        }
    };
    options.count_file();
    let Job { source, context, .. } = job;
    order.complete(&mut vec![(sequence, make(Outcome { source, context, result }))]);
    true
}

/// Opens a job's file in its turn.
fn open(source: &Source, options: &Options) -> Result<OwnedFd, Error> {
    let (Source::Path(path) | Source::Regular(path)) = source else {
        unreachable!("only what has a path is opened later")
    };
    let file = Opener::default().open(path)?;
    if options.taken.contains(&FileId::of(&file)?) { Err(Error::Taken) } else { Ok(file) }
}

/// Reads standard input to its end. If it is a regular file it is looked at before and after, as any other; it begins where
/// whoever had it before left off.
fn hash_stdin(options: &Options, algorithms: Algorithms) -> Result<Hashed, Error> {
    let file = rustix::stdio::stdin().try_clone_to_owned()?;
    let stat = rustix::fs::fstat(&file).map_err(io::Error::from)?;
    if options.taken.contains(&FileId::from(&stat)) {
        return Err(Error::Taken);
    }
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile || !options.detect_changes {
        return hash(options, file.as_fd(), algorithms);
    }
    if options.own_files.contains(&FileId::from(&stat)) {
        return Err(Error::OwnOutput);
    }
    let before = Stamp::of(&stat);
    if stamp::is_stamped_here(&file) {
        before.await_clock();
    }
    let start = rustix::fs::tell(&file).map_err(io::Error::from)?;
    let had_writer = lease::has_writer(&file);
    let hashed = hash(options, file.as_fd(), algorithms)?;
    // What begins beyond the end has nothing to read, and nothing is missing.
    let end = if start > before.size() { before.size() } else { start + hashed.bytes };
    let (middle, is_settled) = before.look_again(&file, end, had_writer)?;
    if is_settled {
        return Ok(hashed);
    }
    rustix::fs::seek(&file, SeekFrom::Start(start)).map_err(io::Error::from)?;
    let uncounted = Options { progress: None, ..options.clone() };
    let again = hash(&uncounted, file.as_fd(), algorithms)?;
    middle.look_again(&file, end, had_writer)?;
    if again == hashed { Ok(hashed) } else { Err(Error::Changed) }
}

/// Reads a file to its end, by itself.
pub(super) fn hash(
    options: &Options,
    file: BorrowedFd<'_>,
    algorithms: Algorithms,
) -> Result<Hashed, Error> {
    let mut hashers = Hashers::new(algorithms, options.key.as_ref())?;
    let mut buffer = Buffer::new(0, Lane::Read);
    let room = buffer.room()?;
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
