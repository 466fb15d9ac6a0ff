//! A worker: its lanes and their files.
//!
//! ```text
//! until there are no further jobs:
//!     start files in the free lanes                                  fill, begin.rs
//!     hash as many blocks as all lanes have, and the small files     advance
//!     pass on the outcomes of ended files                            outbox.rs
//! ```
//!
//! A worker starts with one lane and adds one for each MiB that it has read, up to the number that
//! keeps the CPU busy. So a run of few long files spreads over the workers, even if one of them
//! starts late. Short files, which one read takes whole, go into any free lane at once and end
//! together. Small files need no lane and are hashed many at a time (`batch.rs`). Files from a
//! medium wait for a turn of their device (`turns.rs`).

mod begin;
mod turns;

use std::collections::VecDeque;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use rustix::fs::FileType;

use super::batch::Batch;
use super::buffer::Buffer;
use super::core::Core;
use super::descriptors;
use super::devices::{Changes, MOST_LONG, Turn};
use super::hashers::Hashers;
use super::lanes::FileLanes;
use super::open::FileOpener;
use super::queue::{Planned, Taken};
use super::read::cold::ColdReads;
use super::read::{PreOpened, Reader, is_memory_left};
use super::round::LaneShared;
use super::serial::{self, Alone};
use super::stream::FileStream;
use super::task::{self, Completed, Input, Sequence, Serial, Task};
use super::version::FileVersion;
use super::{Hashed, Source};
use crate::{Algorithms, Error};

/// The number of descriptors that are left to the rest of the program.
const RESERVED_DESCRIPTORS: u64 = 32;

/// The number of short files that are opened at a time, also with fewer lanes. 100,000 files of 4
/// KiB take 3 % less time than in rounds of 32, because the kernel handles calls of one kind for
/// longer.
const ROUND: usize = 64;

/// The number of bytes to read before another lane is used for a long file: about one millisecond.
const BYTES_A_LANE: u64 = 1 << 20;

/// The data of a job in a lane.
type Ticket = (Sequence, Source);

/// A small file.
struct Small {
    ticket: Ticket,
    /// The algorithms with lanes, and the other computations.
    in_lanes: Algorithms,
    hashers: Hashers,
    version: FileVersion,
}

/// Works until there are no further jobs or the run is stopped.
pub(super) fn work(number: task::Worker, core: &Arc<Core>) {
    let mut end = EndOfWorker { core, in_queue: Some(number) };
    if core.options.own_descriptors {
        descriptors::own_table();
    }
    match Worker::new(number, core) {
        Ok(mut worker) => {
            worker.run();
            let Worker { alone, .. } = worker;
            drop(end);
            alone.join();
        }
        Err(_) if core.queue.leave() => end.in_queue = None,
        Err(error) => refuse(&error, number, core),
    }
}

/// Notifies the others that a worker has ended, also by a panic.
struct EndOfWorker<'a> {
    core: &'a Core,
    /// The number of the worker, unless it left the jobs to others.
    in_queue: Option<task::Worker>,
}

impl Drop for EndOfWorker<'_> {
    fn drop(&mut self) {
        self.core.worker_ends(self.in_queue);
    }
}

/// Fails all jobs, because no worker has the resources that it needs.
fn refuse(error: &io::Error, number: task::Worker, core: &Core) {
    let (mut jobs, mut outcomes) = (VecDeque::new(), Vec::new());
    loop {
        match core.queue.take(number, ROUND, ROUND, &mut jobs) {
            Taken::Some => {}
            Taken::None => core.queue.wait(number),
            Taken::End => break,
        }
        outcomes.extend(jobs.drain(..).map(|Task { sequence, source, .. }| {
            let result = if source == Source::Nothing {
                Ok(Hashed::default())
            } else {
                core.options.count(&source);
                // An error cannot be cloned.
                let code = error.raw_os_error().map(io::Error::from_raw_os_error);
                Err(code.unwrap_or_else(|| error.kind().into()).into())
            };
            Completed { sequence, source, result }
        }));
        core.outbox.complete(&mut outcomes);
    }
}

/// Returns the number of files that a worker may have open.
fn files_limit(threads: usize) -> usize {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    let descriptors = limit.unwrap_or(u64::MAX).saturating_sub(RESERVED_DESCRIPTORS);
    usize::try_from(descriptors).unwrap_or(usize::MAX).div_euclid(threads).max(1)
}

/// Returns whether a path leads to a serial input, without opening it.
fn is_special(source: &Source) -> bool {
    let Source::Path(path) = source else { return false };
    let kind = rustix::fs::stat(path).map(|stat| FileType::from_raw_mode(stat.st_mode));
    !matches!(kind, Ok(FileType::RegularFile | FileType::Directory) | Err(_))
}

struct Worker<'a> {
    number: task::Worker,
    core: &'a Arc<Core>,
    lanes: FileLanes<Ticket>,
    /// Files that need no lane.
    batch: Batch<Small>,
    /// The largest number of lanes.
    limit: usize,
    /// The largest number of lanes for files that are not short.
    long_limit: usize,
    /// The largest number of files to open at a time.
    round: usize,
    /// The current number of lanes for files that are not short.
    target: usize,
    /// The number of consecutive short files.
    short_run: usize,
    shared: Rc<LaneShared>,
    opener: FileOpener,
    reader: Reader,
    /// The buffers of the free lanes.
    buffers: Vec<Buffer>,
    /// The jobs taken but not started.
    jobs: VecDeque<Task>,
    /// The files of the first of these jobs, if files are opened ahead.
    pre_opened: VecDeque<PreOpened>,
    /// The outcomes not passed on yet.
    outcomes: Vec<Completed>,
    alone: Alone,
    cold_reads: ColdReads,
    /// Whether files of this round came from a medium.
    came_from_medium: bool,
    /// Whether no file of this round was read yet.
    is_first: bool,
    /// Whether the medium had to seek for the last opened file.
    has_sought: bool,
    /// Whether files of the last round or of another worker came from a medium, so that those of
    /// this round may as well.
    is_cold: bool,
    /// The permit to read the files of these jobs, if they are planned and may be cold.
    turn: Option<Turn>,
    /// The state of the devices when there was no room, if so.
    no_room_since: Option<Changes>,
}

impl<'a> Worker<'a> {
    /// # Errors
    /// Fails if there is no memory for the options.
    fn new(number: task::Worker, core: &'a Arc<Core>) -> io::Result<Self> {
        let options = &core.options;
        let lanes = FileLanes::new(options.backend);
        let reader = Reader::new(options, lanes.capacity())?;
        let descriptors = files_limit(options.threads);
        let most_alone = serial::MOST_OPEN.min(descriptors / 2);
        let files = (descriptors - most_alone).max(1).min(reader.lanes_limit());
        let limit = files.min(lanes.capacity());
        Ok(Self {
            number,
            core,
            lanes,
            batch: Batch::new(),
            limit,
            long_limit: limit.min(MOST_LONG),
            round: files.min(ROUND),
            target: 1,
            short_run: 0,
            shared: Rc::new(LaneShared::new(
                &core.stop,
                options.progress.clone(),
                options.pace.clone(),
            )),
            opener: FileOpener::default(),
            buffers: (0..limit).rev().map(|index| Buffer::new(index, reader.lane(index))).collect(),
            reader,
            jobs: VecDeque::new(),
            pre_opened: VecDeque::new(),
            outcomes: Vec::new(),
            alone: Alone::new(core, number, most_alone),
            cold_reads: ColdReads::default(),
            came_from_medium: false,
            is_first: false,
            has_sought: false,
            is_cold: false,
            turn: None,
            no_room_since: None,
        })
    }

    fn run(&mut self) {
        while !self.core.stop.is_set() {
            match self.fill() {
                Taken::Some => self.advance(false),
                // All previous jobs are taken, and their workers do not wait for this one.
                _ if self.is_idle() && self.alone.do_those_without_thread() => {}
                Taken::End if self.is_idle() => break,
                Taken::None if self.is_idle() => self.wait(),
                Taken::None | Taken::End => self.advance(true),
            }
        }
    }

    /// Waits for jobs, or until an available job may start.
    fn wait(&mut self) {
        self.shared.closing.borrow_mut().close();
        match self.no_room_since {
            Some(seen) => self.core.devices.wait(seen),
            None => self.core.queue.wait(self.number),
        }
    }

    /// Returns whether nothing is under way.
    fn is_idle(&self) -> bool {
        self.lanes.is_empty() && self.batch.is_empty()
    }

    /// Starts jobs in the lanes to use.
    fn fill(&mut self) -> Taken {
        loop {
            let free = match self.free_lanes() {
                0 => {
                    self.share();
                    return Taken::Some;
                }
                free => free,
            };
            if self.jobs.is_empty() {
                match self.take_jobs(free) {
                    Taken::Some => {}
                    none => return none,
                }
            }
            for _ in 0..free {
                if self.batch.is_full() || !self.has_memory() {
                    return Taken::Some;
                }
                let Some(job) = self.jobs.pop_front() else { break };
                let was_cold = self.is_cold;
                let since = (self.is_cold || self.turn.is_some()).then(Instant::now);
                self.begin(job);
                if let Some(since) = since {
                    self.shared.note_wait(since.elapsed());
                }
                if self.is_cold && !was_cold && self.core.devices.have_seeks() {
                    // The other files may be cold as well, and are then planned.
                    self.give_back();
                }
            }
            if self.jobs.is_empty() {
                self.turn = None;
            }
            if self.lanes.is_empty() {
                // Jobs without a lane may be long. The outcomes so far do not wait for them.
                self.core.outbox.complete(&mut self.outcomes);
                if self.core.stop.is_set() {
                    return Taken::End;
                }
            }
        }
    }

    /// Returns the number of lanes to fill.
    fn free_lanes(&self) -> usize {
        let used = self.lanes.len();
        match self.target.saturating_sub(used) {
            0 if self.short_run > 0 && used < self.limit => 1,
            0 => 0,
            // One by one, because more may be slower on the device.
            _ if self.is_cold && self.short_run == 0 => 1,
            free => free,
        }
    }

    /// Takes the jobs of the next round, and opens their files.
    fn take_jobs(&mut self, free: usize) -> Taken {
        self.look_anew();
        match self.take_with_turn() {
            Planned::Some(round) => {
                self.open_round(round);
                Taken::Some
            }
            Planned::NoRoom(waiting) if !self.may_defer(waiting) => Taken::None,
            Planned::NoRoom(_) | Planned::None => {
                let taken = self.take_as_they_came(free);
                if taken == Taken::Some {
                    self.open_jobs(self.is_cold);
                }
                taken
            }
        }
    }

    /// Opens the files of the taken jobs, and requests them if they may be cold.
    fn open_jobs(&mut self, ask: bool) {
        self.came_from_medium = false;
        self.is_first = true;
        if self.alone.is_full() {
            self.set_aside();
        }
        let sources = self.jobs.iter().map(|job| &job.source);
        let Self { opener, buffers, pre_opened, .. } = self;
        self.reader.open(sources, ask, opener, buffers, pre_opened);
    }

    /// Takes unplanned jobs.
    fn take_as_they_came(&mut self, free: usize) -> Taken {
        // Only as many as are likely to be short. Others may have to be returned, and are then
        // opened twice.
        let most = self.round.min(2 * self.short_run).saturating_sub(self.lanes.len());
        self.core.queue.take(self.number, free, most.max(free), &mut self.jobs)
    }

    /// Ends the last round, and reads the tree and the clock again.
    fn look_anew(&mut self) {
        if self.cold_reads.are_new() {
            self.came_from_medium = true;
            self.core.devices.note_cold();
        }
        self.is_cold = self.came_from_medium || self.core.devices.are_read();
        self.shared.closing.borrow_mut().close();
        self.shared.look_at_clock();
        self.opener.forget();
    }

    /// Returns whether there is memory for the next file. If the system refuses memory for another
    /// lane, only the lanes in use are used from now on. Without any lane the file is tried and
    /// fails.
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

    /// Returns jobs that are not started if another worker is idle. A long file came up, and they
    /// would start late here.
    fn share(&mut self) {
        if self.core.queue.has_waiting() {
            self.give_back();
        }
    }

    /// Returns the jobs that are not started to the queue.
    fn give_back(&mut self) {
        self.turn = None;
        if self.jobs.is_empty() {
            return;
        }
        for mut buffer in self.pre_opened.drain(..).filter_map(|pre_opened| pre_opened.buffer) {
            buffer.lane.release();
            self.buffers.push(buffer);
        }
        self.core.queue.give_back(self.number, &mut self.jobs);
    }

    /// Lets serial inputs be opened in their turns.
    fn set_aside(&mut self) {
        let (alone, jobs): (VecDeque<_>, VecDeque<_>) =
            self.jobs.drain(..).partition(|job| is_special(&job.source));
        self.jobs = jobs;
        for Task { sequence, source, algorithms } in alone {
            self.alone.hand_in(sequence, Serial { source, algorithms, input: Input::Later });
        }
    }

    /// Hashes the small files unless they wait for others, advances the lanes, and returns ended
    /// files. With `are_last` no further small files come.
    fn advance(&mut self, are_last: bool) {
        if are_last || self.batch.is_full() || self.batch.is_late(self.shared.bytes.get()) {
            self.hash_batch();
        }
        self.lanes.advance();
        while let Some(stream) = self.lanes.take_finished() {
            self.finish(stream);
        }
        let grown = usize::try_from(self.shared.bytes.get() / BYTES_A_LANE).unwrap_or(usize::MAX);
        self.target = self.long_limit.min(grown.saturating_add(1));
        self.core.outbox.complete(&mut self.outcomes);
    }

    fn hash_batch(&mut self) {
        let Self { batch, core, outcomes, .. } = self;
        let algorithms = |small: &Small| small.in_lanes;
        batch.hash(core.options.backend, algorithms, |small, bytes, mut digests| {
            let Small { ticket: (sequence, source), mut hashers, version, .. } = small;
            hashers.update(bytes);
            hashers.finalize(&mut digests);
            digests.sort();
            core.options.count(&source);
            let hashed = Hashed { digests, bytes: bytes.len() as u64, ..Hashed::default() };
            let result = Ok(hashed.of(&version));
            outcomes.push(Completed { sequence, source, result });
        });
    }

    fn finish(&mut self, stream: FileStream<Ticket>) {
        let (ticket, result, buffer) = stream.finish(&self.core.options);
        self.buffers.push(buffer);
        self.end(ticket, result);
    }

    /// Records the outcome of a job with an input.
    fn end(&mut self, ticket: Ticket, result: Result<Hashed, Error>) {
        self.core.options.count(&ticket.1);
        self.deliver(ticket, result);
    }

    fn deliver(&mut self, (sequence, source): Ticket, result: Result<Hashed, Error>) {
        self.outcomes.push(Completed { sequence, source, result });
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::Algorithm;
    use crate::engine::Options;

    /// If one of many jobs that were expected to be short is long, the others do not wait for it.
    #[test]
    fn long_files_spread_over_the_workers() {
        const SHORT: usize = 6 * ROUND;
        const LONG: usize = 60;
        /// The largest number of long files that are under way together with the first one.
        const BEGUN: usize = 8;
        let folder = tempfile::tempdir().unwrap();
        let paths = [("short", 3), ("long", 1 << 20)].map(|(name, length)| {
            let path = folder.path().join(name);
            fs::write(&path, vec![b'a'; length]).unwrap();
            path
        });
        // Files written a moment ago are not read ahead.
        std::thread::sleep(std::time::Duration::from_millis(30));
        let core = Core::new(Options { threads: 2, ..Options::default() }, true);
        core.queue.all_are_started(0);
        for sequence in 0..SHORT + LONG + SHORT {
            let is_long = (SHORT..SHORT + LONG).contains(&sequence);
            let source = Source::Regular(paths[usize::from(is_long)].clone());
            let algorithms = Algorithm::Md5.into();
            core.queue.push(Task { sequence: sequence as Sequence, source, algorithms });
        }
        core.queue.end();
        let mut worker = Worker::new(0, &core).unwrap();
        let mut most = 0;
        // Short ones need no lane.
        while worker.lanes.is_empty() {
            assert_eq!(worker.fill(), Taken::Some);
            most = most.max(worker.short_run);
            if worker.lanes.is_empty() {
                worker.advance(false);
            }
        }
        assert!(most >= SHORT - ROUND, "the jobs promised to be short: {most}");
        let mut left = VecDeque::new();
        core.queue.take(1, usize::MAX, 0, &mut left);
        // The other worker finishes the available jobs, and the first one continues.
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| core.queue.wait(1));
            while !waiting.is_finished() {
                assert_eq!(worker.fill(), Taken::Some);
            }
        });
        core.queue.take(1, usize::MAX, 0, &mut left);
        let is_long = |job: &&Task| job.source == Source::Regular(paths[1].clone());
        let left = left.iter().filter(is_long).count();
        assert!(left >= LONG - BEGUN, "{left}");
    }
}
