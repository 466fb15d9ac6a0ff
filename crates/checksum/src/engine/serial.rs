//! Inputs that are read one after the other: standard input, FIFOs, devices, terminals.
//!
//! They may block for any time, and one of them may depend on another one, as with `tee >(a) >(b)`.
//! So each is read only after all previous outcomes are returned, as a tool that reads one file
//! after the other would do.

use std::io;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError};
use std::thread::{self, JoinHandle};

use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{FileType, SeekFrom};

use super::core::Core;
use super::open::FileOpener;
use super::read::{is_memory_left, lease};
use super::stop::Stop;
use super::task::{Completed, Input, Sequence, Serial, Worker};
use super::version::{self, FileVersion};
use super::whole::hash;
use super::{Hashed, Options, Source, inode_of, inode_of_file};
use crate::{Algorithms, Error};

/// The largest number of open serial inputs. More are opened when they are read.
pub(super) const MOST_OPEN: usize = 64;

/// The serial inputs of a worker. A thread with the files of the worker reads them, or the worker
/// itself if the system refuses a thread.
pub(super) struct Alone {
    core: Arc<Core>,
    worker: Worker,
    /// The number of open inputs that wait for their turn, and its limit.
    open: Arc<AtomicUsize>,
    most_open: usize,
    thread: Option<JoinHandle<()>>,
    /// Jobs for the worker itself.
    without_thread: usize,
}

impl Alone {
    pub(super) fn new(core: &Arc<Core>, worker: Worker, most_open: usize) -> Self {
        let (core, open) = (Arc::clone(core), Arc::default());
        Self { core, worker, open, most_open, thread: None, without_thread: 0 }
    }

    /// Returns whether the limit of open inputs is reached.
    pub(super) fn is_full(&self) -> bool {
        self.open.load(Ordering::Relaxed) >= self.most_open
    }

    /// Adds a job, to be done after all previous ones.
    pub(super) fn hand_in(&mut self, sequence: Sequence, mut job: Serial) {
        if let Input::Open(file) = &job.input {
            // A FIFO stays open, because its writer may have started.
            if self.is_full() && !is_fifo(file) {
                job.input = Input::Later;
            } else {
                self.open.fetch_add(1, Ordering::Relaxed);
            }
        }
        if self.thread.is_none() {
            self.thread = self.start();
            // The thread also does the earlier ones.
            self.without_thread = if self.thread.is_some() { 0 } else { self.without_thread + 1 };
        }
        self.core.outbox.hand_in_serial(sequence, self.worker, job);
    }

    fn start(&self) -> Option<JoinHandle<()>> {
        if !is_memory_left() {
            return None;
        }
        let (core, worker, open) = (Arc::clone(&self.core), self.worker, Arc::clone(&self.open));
        core.outbox.thread_begins();
        let serve = {
            let core = Arc::clone(&core);
            move || {
                let _end = EndOfThread(&core);
                while serve_one(&core, worker, &open) {}
            }
        };
        let thread = thread::Builder::new().spawn(serve).ok();
        if thread.is_none() {
            core.outbox.thread_ends();
        }
        thread
    }

    /// Does jobs for which there is no thread, in their turns. Returns whether there were any.
    pub(super) fn do_those_without_thread(&mut self) -> bool {
        let jobs = std::mem::take(&mut self.without_thread);
        for _ in 0..jobs {
            serve_one(&self.core, self.worker, &self.open);
        }
        jobs > 0
    }

    /// Waits for the thread, which ends when no worker can add jobs.
    pub(super) fn join(self) {
        let Some(thread) = self.thread else { return };
        let id = thread.thread().id();
        if let Err(panic) = thread.join() {
            self.core.panics.take_over(id);
            resume_unwind(panic);
        }
    }
}

/// Records the end of a serial thread.
struct EndOfThread<'a>(&'a Core);

impl Drop for EndOfThread<'_> {
    fn drop(&mut self) {
        self.0.thread_ends();
    }
}

/// Does the next serial job of a worker in its turn. Returns false if no further can come.
fn serve_one(core: &Core, worker: Worker, open_inputs: &AtomicUsize) -> bool {
    let Core { options, outbox, stop, .. } = core;
    let Some((sequence, job)) = outbox.next_serial(worker, stop) else { return false };
    let Serial { source, algorithms, input } = job;
    let result = match input {
        Input::Stdin => hash_stdin(options, algorithms, stop),
        Input::Open(file) => {
            let file = before_its_writer(core, &source, file);
            let result = file.and_then(|file| hash(options, file.as_fd(), algorithms, stop));
            open_inputs.fetch_sub(1, Ordering::Relaxed);
            result
        }
        Input::Later => {
            let file = open(&source, options);
            file.and_then(|file| hash(options, file.as_fd(), algorithms, stop))
        }
    };
    options.count(&source);
    outbox.complete(&mut vec![Completed { sequence, source, result }]);
    true
}

/// Returns whether an opened object is a named pipe.
fn is_fifo(file: &OwnedFd) -> bool {
    rustix::fs::fstat(file)
        .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Fifo)
}

/// Returns the file of a job in its turn. A FIFO that another job has read is opened again to wait
/// for its next writer. The earlier descriptor would see the end of the previous writer.
fn before_its_writer(core: &Core, source: &Source, file: OwnedFd) -> Result<OwnedFd, Error> {
    let stat = rustix::fs::fstat(&file).map_err(io::Error::from)?;
    let is_fifo = FileType::from_raw_mode(stat.st_mode) == FileType::Fifo;
    let mut read = core.read_fifos.lock().unwrap_or_else(PoisonError::into_inner);
    // The old descriptor is closed afterwards, because bytes of a writer would be lost otherwise.
    if is_fifo && !read.insert(inode_of(&stat)) { open(source, &core.options) } else { Ok(file) }
}

/// Opens the file of a job in its turn.
fn open(source: &Source, options: &Options) -> Result<OwnedFd, Error> {
    let (Source::Path(path) | Source::Regular(path)) = source else {
        unreachable!("only what has a path is opened later")
    };
    let file = FileOpener::default().open(path)?;
    if options.taken.contains(&inode_of_file(&file)?) { Err(Error::Taken) } else { Ok(file) }
}

/// Reads standard input to its end. A regular file is checked for changes like any other. Reading
/// starts at the current position of the descriptor.
fn hash_stdin(options: &Options, algorithms: Algorithms, stop: &Stop) -> Result<Hashed, Error> {
    let file = rustix::stdio::stdin().try_clone_to_owned()?;
    let stat = rustix::fs::fstat(&file).map_err(io::Error::from)?;
    if options.taken.contains(&inode_of(&stat)) {
        return Err(Error::Taken);
    }
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile || !options.detect_changes {
        return hash(options, file.as_fd(), algorithms, stop);
    }
    if options.own_files.contains(&inode_of(&stat)) {
        return Err(Error::OwnOutput);
    }
    let before = FileVersion::of(&stat);
    if version::is_stamped_here(&file) {
        before.await_clock();
    }
    let start = rustix::fs::tell(&file).map_err(io::Error::from)?;
    let had_writer = lease::has_writer(&file);
    let hashed = hash(options, file.as_fd(), algorithms, stop)?;
    // A position beyond the end leaves nothing to read, which is not an error.
    let end = if start > before.size() { before.size() } else { start + hashed.bytes };
    let (middle, is_settled) = before.look_again(&file, end, had_writer)?;
    if is_settled {
        return Ok(hashed.of(&middle));
    }
    rustix::fs::seek(&file, SeekFrom::Start(start)).map_err(io::Error::from)?;
    let uncounted = Options { progress: None, ..options.clone() };
    let again = hash(&uncounted, file.as_fd(), algorithms, stop)?;
    let (last, _) = middle.look_again(&file, end, had_writer)?;
    if again == hashed { Ok(hashed.of(&last)) } else { Err(Error::Changed) }
}
