//! A worker: its lanes, and the files that go through them.
//!
//! A worker begins with one lane and uses one more for each MiB that it has read, up to
//! as many as keep the CPU busy. So a run of few long files spreads over the workers, also when one of them starts late. Files
//! so short that one read takes them whole go into any free lane at once, and all end together. Those that are small need
//! no lane: they are hashed many at a time (`batch.rs`).

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::io;
use std::mem;
use std::ops::ControlFlow;
use std::rc::Rc;
use std::sync::Arc;
use std::thread::{self, Scope};

use lanesum_md5::{Lanes, most_streams};
use rustix::fd::OwnedFd;
use rustix::fs::FileType;

use super::batch::{self, Batch};
use super::descriptors;
use super::devices::{self, Devices, Turn};
use super::feed::{Feed, Taken};
use super::file::{Begun, Buffer, FileStream, Opened, Shared, read_and_look};
use super::hashers::{Hashers, md5_digest};
use super::open::Opener;
use super::order::{self, Order, Sequence};
use super::read::medium::{self, Medium};
use super::read::{Early, Reader, is_memory_left};
use super::serial::{self, Input, OpenInputs, Serial};
use super::{Hashed, Job, Options, Outcome, Source};
use crate::{Algorithm, Digest, Error};

/// Descriptors that are left to the rest of the program.
const RESERVED_DESCRIPTORS: u64 = 32;

/// How many inputs that wait to be read alone are open at most: more are opened in their turn.
const MOST_ALONE: usize = 64;

/// How many short files are opened at a time, where there are fewer lanes: 100,000 files of 4 KiB take 0.97 of
/// the time of rounds of 32, since the kernel stays with one kind of call for longer.
const ROUND: usize = 64;

/// Bytes to read before another lane is used for a long file: about a millisecond's worth.
const BYTES_A_LANE: u64 = 1 << 20;

/// What a lane keeps of its job.
type Ticket<T> = (Sequence, Source, T);

/// What is kept of the job of a small file, with what is computed beside MD5.
type Small<T> = (Ticket<T>, Hashers);

/// Works until there are no more jobs, or the sink wants no more.
pub(super) fn work<'scope, T, R, M, F>(
    number: order::Worker,
    options: &'scope Options,
    feed: &'scope Feed<T>,
    devices: &'scope Arc<Devices>,
    make: &'scope M,
    order: &'scope Order<T, R, F>,
    scope: &'scope Scope<'scope, '_>,
) where
    T: Send,
    R: Send,
    M: Fn(Outcome<T>) -> R + Sync,
    F: FnMut(R) -> ControlFlow<()> + Send,
{
    /// Tells the others that this worker has ended, also when it ends in a panic.
    struct End<'a, T, R, F: FnMut(R) -> ControlFlow<()>> {
        number: order::Worker,
        feed: Option<&'a Feed<T>>,
        order: &'a Order<T, R, F>,
    }
    impl<T, R, F: FnMut(R) -> ControlFlow<()>> Drop for End<'_, T, R, F> {
        fn drop(&mut self) {
            self.feed.inspect(|feed| feed.worker_ends(self.number));
            self.order.worker_ends();
        }
    }
    let mut end = End { number, feed: Some(feed), order };
    if options.own_descriptors {
        descriptors::own_table();
    }

    let lanes = Lanes::with_backend(options.backend);
    let reader = match Reader::new(options, lanes.capacity()) {
        Ok(reader) => reader,
        Err(_) if feed.leave() => {
            end.feed = None;
            return;
        }
        Err(error) => return refuse(&error, number, options, feed, make, order),
    };
    let descriptors = files_limit(options.threads);
    let most_alone = MOST_ALONE.min(descriptors / 2);
    let files = (descriptors - most_alone).max(1).min(reader.lanes_limit());
    let limit = files.min(lanes.capacity());
    let shared = Shared {
        progress: options.progress.clone(),
        bytes: Cell::default(),
        now: Cell::default(),
        clock: Cell::default(),
        closing: RefCell::default(),
    };
    let mut worker = Worker {
        number,
        options,
        make,
        order,
        lanes,
        limit,
        long_limit: limit.min(most_streams(options.backend)),
        round: files.min(ROUND),
        target: 1,
        short_run: 0,
        shared: Rc::new(shared),
        opener: Opener::default(),
        batch: Batch::new(),
        buffers: (0..limit).rev().map(|index| Buffer::new(index, reader.lane(index))).collect(),
        reader,
        jobs: VecDeque::new(),
        early: VecDeque::new(),
        outcomes: Vec::new(),
        devices,
        medium: Medium::default(),
        // Until the first files show otherwise.
        is_cold: true,
        is_first_round: true,
        turn: None,
        refused: None,
    };
    let open_inputs = Arc::new(OpenInputs::default());
    let mut has_serial_thread = false;
    // Jobs to be done alone by this very thread, where the system gives no other.
    let without_thread = Cell::new(0);
    let mut serial = |sequence, mut job: Serial<T>| {
        if let Input::Open(file) = &job.input {
            // A FIFO stays open, since its writer may have begun.
            if open_inputs.count() >= most_alone && !is_fifo(file) {
                job.input = Input::Later;
            } else {
                open_inputs.add();
            }
        }
        if !has_serial_thread {
            let open_inputs = Arc::clone(&open_inputs);
            let serve = move || serial::serve(options, make, order, number, &open_inputs);
            has_serial_thread =
                is_memory_left() && thread::Builder::new().spawn_scoped(scope, serve).is_ok();
            // Such a thread does those of before as well.
            without_thread.set(if has_serial_thread { 0 } else { without_thread.get() + 1 });
        }
        order.hand_in_serial(sequence, number, job);
    };
    let is_full = || open_inputs.count() >= most_alone;
    while !order.is_stopped() {
        match worker.fill(feed, &mut serial, &is_full) {
            Taken::Some => worker.advance(worker.refused.is_some()),
            // All jobs before these are taken, and whoever has them does not wait for this worker.
            Taken::None | Taken::End if worker.is_idle() && without_thread.get() > 0 => {
                for _ in 0..without_thread.take() {
                    serial::serve_one(options, make, order, number, &open_inputs);
                }
            }
            Taken::End if worker.is_idle() => break,
            Taken::None if worker.is_idle() => {
                worker.shared.closing.borrow_mut().close();
                feed.wait(number);
            }
            Taken::None | Taken::End => worker.advance(true),
        }
    }
}

/// Ends all jobs without an attempt, since no worker has what it needs.
fn refuse<T, R, M, F>(
    error: &io::Error,
    number: order::Worker,
    options: &Options,
    feed: &Feed<T>,
    make: &M,
    order: &Order<T, R, F>,
) where
    M: Fn(Outcome<T>) -> R,
    F: FnMut(R) -> ControlFlow<()>,
{
    let (mut jobs, mut outcomes) = (VecDeque::new(), Vec::new());
    while !order.is_stopped() {
        match feed.take(number, ROUND, ROUND, &mut jobs) {
            Taken::Some => {}
            Taken::None => feed.wait(number),
            Taken::End => break,
        }
        outcomes.extend(jobs.drain(..).map(|(sequence, job)| {
            let Job { source, context, .. } = job;
            let result = if source == Source::Nothing {
                Ok(Hashed::default())
            } else {
                options.count_file();
                // An error cannot be cloned.
                let code = error.raw_os_error().map(io::Error::from_raw_os_error);
                Err(code.unwrap_or_else(|| error.kind().into()).into())
            };
            (sequence, make(Outcome { source, context, result }))
        }));
        order.complete(&mut outcomes);
    }
}

/// How many files a worker may have open.
fn files_limit(threads: usize) -> usize {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    let descriptors = limit.unwrap_or(u64::MAX).saturating_sub(RESERVED_DESCRIPTORS);
    usize::try_from(descriptors).unwrap_or(usize::MAX).div_euclid(threads).max(1)
}

/// Whether what was opened is a named pipe.
fn is_fifo(file: &OwnedFd) -> bool {
    rustix::fs::fstat(file)
        .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Fifo)
}

/// Whether a path leads to something that is read alone, by a look that opens nothing.
fn is_special(source: &Source) -> bool {
    let Source::Path(path) = source else { return false };
    let kind = rustix::fs::stat(path).map(|stat| FileType::from_raw_mode(stat.st_mode));
    !matches!(kind, Ok(FileType::RegularFile | FileType::Directory) | Err(_))
}

struct Worker<'a, T, R, M, F> {
    number: order::Worker,
    options: &'a Options,
    make: &'a M,
    order: &'a Order<T, R, F>,
    lanes: Lanes<FileStream<Ticket<T>>>,
    /// Files that need no lane.
    batch: Batch<Small<T>>,
    /// The most lanes to use.
    limit: usize,
    /// The most for files that are not short. More buffers leave the caches, which costs more than a wider kernel gains:
    /// on Zen 5, with 64 instead of 32, two threads took 1.08 times as long for 2,000 files of 1 MiB.
    long_limit: usize,
    /// The most files to open at a time.
    round: usize,
    /// How many lanes to use for files that are not short.
    target: usize,
    /// How many files in a row were short.
    short_run: usize,
    shared: Rc<Shared>,
    opener: Opener,
    reader: Reader,
    /// Buffers of the lanes that are free.
    buffers: Vec<Buffer>,
    /// Jobs taken but not begun.
    jobs: VecDeque<(Sequence, Job<T>)>,
    /// The files of the first of these jobs, where files are opened before their turn.
    early: VecDeque<Early>,
    /// Outcomes not handed over yet.
    outcomes: Vec<(Sequence, R)>,
    devices: &'a Arc<Devices>,
    medium: Medium,
    /// Whether files of the last round came from a medium, or somebody else's do, so that those of this one may as well.
    is_cold: bool,
    is_first_round: bool,
    /// The right to read the next job's file, where that is long and cold.
    turn: Option<Turn>,
    /// The device of that file, where it has no room for one more reader.
    refused: Option<devices::Number>,
}

impl<T, R, M, F> Worker<'_, T, R, M, F>
where
    M: Fn(Outcome<T>) -> R,
    F: FnMut(R) -> ControlFlow<()>,
{
    /// Whether nothing is under way.
    fn is_idle(&self) -> bool {
        self.lanes.is_empty() && self.batch.is_empty()
    }

    /// Begins jobs in the lanes that are to be used. `is_full` says whether as many as may be are open that wait to be
    /// read alone.
    fn fill(
        &mut self,
        feed: &Feed<T>,
        serial: &mut dyn FnMut(Sequence, Serial<T>),
        is_full: &dyn Fn() -> bool,
    ) -> Taken {
        loop {
            if !self.ask_again() {
                return Taken::Some;
            }
            let used = self.lanes.len();
            let free = match self.target.saturating_sub(used) {
                0 if self.short_run > 0 && used < self.limit => 1,
                0 => {
                    self.give_back(feed);
                    return Taken::Some;
                }
                // One by one, since the device may not like more.
                _ if self.is_cold && self.short_run == 0 => 1,
                free => free,
            };
            if self.jobs.is_empty() {
                self.look_anew();
                // No more than there is reason to expect short ones: the others are given back, which costs opening
                // them twice.
                let most = self.round.min(2 * self.short_run).saturating_sub(used);
                match feed.take(self.number, free, most.max(free), &mut self.jobs) {
                    Taken::Some => {}
                    none => return none,
                }
                if is_full() {
                    self.set_aside(serial);
                }
                let sources = self.jobs.iter().map(|(_, job)| &job.source);
                self.reader.open(sources, &mut self.opener, &mut self.buffers, &mut self.early);
            }
            for _ in 0..free {
                if self.batch.is_full() || !self.has_memory() {
                    return Taken::Some;
                }
                let Some((sequence, job)) = self.jobs.pop_front() else { break };
                self.begin(sequence, job, serial);
                // Of a file that failed.
                self.turn = None;
                if self.refused.is_some() {
                    self.keep_the_first(feed);
                    return Taken::Some;
                }
            }
            if self.lanes.is_empty() {
                // Jobs without a lane may be long ones; nobody should wait for their outcomes.
                self.order.complete(&mut self.outcomes);
                if self.order.is_stopped() {
                    return Taken::End;
                }
            }
        }
    }

    /// Whether there is memory for the next file to be read to. Where the system refuses it to another lane, those in use are
    /// all there are from now on. Without any the file has to try, and fail.
    fn has_memory(&mut self) -> bool {
        let used = self.lanes.len();
        let is_there = |buffer: &mut Buffer| {
            buffer.is_ready() || (is_memory_left() && buffer.reserve().is_ok())
        };
        if used == 0 || self.buffers.last_mut().is_none_or(is_there) {
            return true;
        }
        self.limit = used;
        self.long_limit = self.long_limit.min(used);
        self.target = self.target.min(used);
        false
    }

    /// Gives back the jobs that are not begun: a long file came up, and other workers may have nothing to do.
    fn give_back(&mut self, feed: &Feed<T>) {
        self.turn = None;
        if self.jobs.is_empty() {
            return;
        }
        for mut buffer in self.early.drain(..).filter_map(|early| early.buffer) {
            buffer.lane.release();
            self.buffers.push(buffer);
        }
        feed.give_back(self.number, &mut self.jobs);
    }

    /// Gives back all but the first, which waits for its device.
    fn keep_the_first(&mut self, feed: &Feed<T>) {
        let (job, early) = (self.jobs.pop_front(), self.early.pop_front());
        self.give_back(feed);
        self.jobs.extend(job);
        self.early.extend(early);
    }

    /// Asks once more for the turn that was refused, and waits for it where there is nothing else to do; false where there
    /// still is none.
    fn ask_again(&mut self) -> bool {
        let Some(device) = self.refused else { return true };
        self.turn = if self.is_idle() {
            self.shared.closing.borrow_mut().close();
            Some(self.devices.wait_for_turn(device))
        } else {
            self.devices.try_turn(device)
        };
        if self.turn.is_some() {
            self.refused = None;
        }
        self.refused.is_none()
    }

    /// Whether a file may be read now: what is long and not in the cache takes a turn of its device.
    fn may_read(&mut self, file: &OwnedFd) -> bool {
        if !self.is_cold || !self.reader.reads_anywhere() || self.turn.is_some() {
            return true;
        }
        let Ok(stat) = rustix::fs::fstat(file) else { return true };
        let is_long = stat.st_size > Buffer::CAPACITY as i64;
        let is_regular = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
        if is_long && is_regular && !medium::is_cached(file) {
            self.turn = self.devices.try_turn(stat.st_dev);
            self.refused = self.turn.is_none().then_some(stat.st_dev);
        }
        self.refused.is_none()
    }

    /// The turn of a file that goes into a lane.
    fn turn_of(&mut self, begun: &Begun) -> Option<Turn> {
        let turn = self.turn.take();
        if begun.is_whole() || turn.is_some() || !self.reader.reads_anywhere() {
            return turn;
        }
        // Where its beginning came from the medium, so will the rest, though nobody asked.
        self.medium.is_in_use().then(|| {
            self.is_cold = true;
            self.devices.take_turn(begun.stamp.device())
        })
    }

    /// Has what is read alone opened in its turn.
    fn set_aside(&mut self, serial: &mut dyn FnMut(Sequence, Serial<T>)) {
        let (alone, jobs): (VecDeque<_>, VecDeque<_>) =
            self.jobs.drain(..).partition(|(_, job)| is_special(&job.source));
        self.jobs = jobs;
        for (sequence, job) in alone {
            serial(sequence, Serial { job, input: Input::Later });
        }
    }

    /// Is done with the files of the last round; looks at the tree and at the clock as they are now.
    fn look_anew(&mut self) {
        let is_first = mem::take(&mut self.is_first_round);
        self.is_cold = self.medium.is_in_use() || self.devices.are_read() || is_first;
        self.shared.closing.borrow_mut().close();
        self.shared.look_at_clock();
        self.opener.forget();
    }

    /// Begins a job: puts it into a lane, or does what needs none.
    fn begin(
        &mut self,
        sequence: Sequence,
        job: Job<T>,
        serial: &mut dyn FnMut(Sequence, Serial<T>),
    ) {
        let Job { source, algorithms, context } = job;
        if source == Source::Nothing {
            return self.deliver((sequence, source, context), Ok(Hashed::default()));
        }
        let (mut begun, place) = match self.open(&source) {
            Ok(Begin::File(begun, place)) => (begun, place),
            Ok(Begin::Refused(file)) => {
                self.early.push_front(Early { file: Ok(file), buffer: None });
                return self.jobs.push_front((sequence, Job { source, algorithms, context }));
            }
            Ok(Begin::Alone(input)) => {
                let job = Job { source, algorithms, context };
                return serial(sequence, Serial { job, input });
            }
            Err(error) => return self.end((sequence, source, context), Err(error)),
        };
        let in_lane = algorithms.contains(Algorithm::Md5);
        let ticket = (sequence, source, context);
        let others = algorithms.without(Algorithm::Md5);
        let hashers = match Hashers::new(others, self.options.key.as_ref()) {
            Ok(hashers) => hashers,
            Err(error) => return self.end(ticket, Err(error)),
        };
        let is_small = begun.is_whole() && begun.read.len() <= batch::SMALL;
        if in_lane && is_small && self.batch.reserve() {
            return self.begin_small((ticket, hashers), begun, place);
        }
        let mut buffer = self.buffers.pop().expect("a buffer for each lane up to the limit");
        if place == Place::Batch {
            begun.read = match buffer.bring(self.batch.give_back(begun.read)) {
                Ok(read) => read,
                Err(error) => {
                    self.buffers.push(buffer);
                    return self.end(ticket, Err(error.into()));
                }
            };
        }
        let turn = self.turn_of(&begun);
        let shared = Rc::clone(&self.shared);
        let mut stream = FileStream::new(ticket, begun, buffer, algorithms, hashers, turn, shared);
        if in_lane {
            self.short_run = if stream.is_short() { self.short_run + 1 } else { 0 };
            self.lanes.push(stream);
        } else {
            stream.drain();
            self.finish(stream, None);
        }
    }

    /// Takes a file that needs no lane.
    fn begin_small(&mut self, file: Small<T>, begun: Begun, place: Place) {
        let mut read = begun.read;
        if place == Place::Buffer {
            let buffer = self.buffers.last_mut().expect("the one that was read into");
            read = self.batch.bring(buffer.bytes(read));
            buffer.lane.release();
        }
        self.shared.count(read.len());
        self.shared.closing.borrow_mut().extend([begun.file]);
        self.batch.push(file, read, self.shared.bytes.get());
        self.short_run += 1;
    }

    /// Opens a source and looks what it is.
    fn open(&mut self, source: &Source) -> Result<Begin, Error> {
        let (path, known) = match source {
            Source::Nothing | Source::Stdin => return Ok(Begin::Alone(Input::Stdin)),
            Source::Path(path) => (path, false),
            Source::Regular(path) => (path, true),
        };
        let file = match self.early.pop_front() {
            None => self.opener.open(path)?,
            Some(early) => {
                self.buffers.extend(early.buffer);
                early.file?
            }
        };
        if !self.may_read(&file) {
            return Ok(Begin::Refused(file));
        }
        let expects_small = self.batch.expects_more() && self.reader.reads_anywhere();
        let place = if expects_small { Place::Batch } else { Place::Buffer };
        let Self { batch, buffers, shared, .. } = self;
        let buffer = buffers.last_mut().expect("a buffer for each lane up to the limit");
        let read = |file: &OwnedFd| match place {
            Place::Batch => batch.read_first(file),
            Place::Buffer => buffer.read_first(file),
        };
        match read_and_look(file, read, shared, self.options)? {
            Opened::Regular(begun) => Ok(Begin::File(begun, place)),
            Opened::Other(_) if known => Err(Error::Changed),
            Opened::Other(file) => Ok(Begin::Alone(Input::Open(file))),
        }
    }

    /// Hashes the small files, unless they wait for others (none come now where `are_last`), takes the lanes forward, and
    /// gives back what has ended.
    fn advance(&mut self, are_last: bool) {
        if are_last || self.batch.is_full() || self.batch.is_late(self.shared.bytes.get()) {
            self.hash_batch();
        }
        self.lanes.advance();
        while let Some((stream, digest)) = self.lanes.take_finished() {
            self.finish(stream, Some(md5_digest(digest)));
        }
        let grown = usize::try_from(self.shared.bytes.get() / BYTES_A_LANE).unwrap_or(usize::MAX);
        self.target = self.long_limit.min(grown.saturating_add(1));
        self.order.complete(&mut self.outcomes);
    }

    fn hash_batch(&mut self) {
        let Self { batch, options, make, outcomes, .. } = self;
        batch.hash(options.backend, |((sequence, source, context), mut hashers), bytes, md5| {
            let mut digests = vec![md5_digest(md5)];
            hashers.update(bytes);
            hashers.finalize(&mut digests);
            options.count_file();
            let result = Ok(Hashed { digests, bytes: bytes.len() as u64 });
            outcomes.push((sequence, make(Outcome { source, context, result })));
        });
    }

    fn finish(&mut self, stream: FileStream<Ticket<T>>, md5: Option<Digest>) {
        let (ticket, result, buffer) = stream.finish(md5, self.options);
        self.buffers.push(buffer);
        self.end(ticket, result);
    }

    /// Notes the outcome of a job that had something to read.
    fn end(&mut self, ticket: Ticket<T>, result: Result<Hashed, Error>) {
        self.options.count_file();
        self.deliver(ticket, result);
    }

    fn deliver(&mut self, (sequence, source, context): Ticket<T>, result: Result<Hashed, Error>) {
        self.outcomes.push((sequence, (self.make)(Outcome { source, context, result })));
    }
}

/// Where the first bytes of a file were read to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Batch,
    /// The last of the free buffers.
    Buffer,
}

/// How a job begins.
enum Begin {
    /// As a regular file.
    File(Begun, Place),
    /// By itself.
    Alone(Input),
    /// Not yet: its device is read by as many as it likes.
    Refused(OwnedFd),
}
