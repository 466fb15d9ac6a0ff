//! Jobs whose files come from a medium: planned first (`plan.rs`), then taken with a turn of their
//! device (`devices.rs`).

use std::mem;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::Worker;
use crate::engine::core::Core;
use crate::engine::devices::{self, Turn};
use crate::engine::look::Begun;
use crate::engine::plan::{Round, places_of};
use crate::engine::queue::Planned;
use crate::engine::read::cold;
use crate::engine::task::Task;

/// The largest number of long files that wait for room while later jobs start. The start of each is
/// read twice.
const MOST_DEFERRED: usize = 16;

impl Worker<'_> {
    /// Takes jobs with a turn of their device, if files come from a medium that has to seek, or if
    /// long files come from any medium.
    pub(super) fn take_with_turn(&mut self) -> Planned<Turn> {
        let has_order = self.is_cold && self.core.devices.have_seeks();
        if has_order {
            self.plan(true);
            if let Some(progress) = &self.core.options.progress {
                progress.seeks.store(!self.core.queue.is_all_planned(), Ordering::Relaxed);
            }
        }
        match self.take_planned() {
            // Jobs of another device may follow so many.
            Planned::NoRoom(waiting) if !has_order && waiting >= MOST_DEFERRED => {
                self.plan(false);
                self.take_planned()
            }
            planned => planned,
        }
    }

    /// Looks up the places of the waiting jobs.
    fn plan(&self, has_order: bool) {
        let Core { devices, queue, stop, .. } = &**self.core;
        let mut jobs = queue.take_unplanned(self.number, has_order);
        if !jobs.is_empty() {
            // By directory, and within a directory by inode.
            jobs.sort_by(|one, other| path(one).cmp(path(other)));
            let places = places_of(&jobs, stop);
            queue.plan(self.number, jobs.into_iter().zip(places));
            devices.notify();
        }
    }

    /// Takes planned jobs with a turn of their device. The worker that planned them has found that
    /// files come from it.
    fn take_planned(&mut self) -> Planned<Turn> {
        let Core { devices, queue, .. } = &**self.core;
        let seen = devices.changes();
        let most = self.round.saturating_sub(self.lanes.len()).max(1);
        let (load, room) = (|device| devices.under_way(device), |device| devices.try_turn(device));
        let planned = queue.take_planned(self.number, most, load, room, &mut self.jobs);
        self.no_room_since = matches!(planned, Planned::NoRoom(_)).then_some(seen);
        planned
    }

    /// Returns whether more jobs may start while so many wait for room.
    pub(super) fn may_defer(&self, waiting: usize) -> bool {
        waiting < MOST_DEFERRED && !self.core.devices.have_seeks()
    }

    /// Opens the files of a round, and requests short ones.
    pub(super) fn open_round(&mut self, Round { room: turn, bytes, is_long }: Round<Turn>) {
        match turn {
            Some(mut turn) if !is_long => {
                turn.ask(bytes, true, || self.open_jobs(true));
                self.turn = Some(turn);
            }
            turn => {
                self.open_jobs(false);
                self.turn = turn;
            }
        }
    }

    /// Records the time of the first read of a round, which may have had to seek.
    pub(super) fn note_first_read(&mut self, took: Duration) {
        if took >= devices::SEEK && self.cold_reads.are_new() {
            (self.came_from_medium, self.has_sought) = (true, true);
            self.core.devices.note_seek(took);
        }
    }

    /// Returns the turn of a file that goes into a lane, or `None` if the rest of the file is in
    /// the cache.
    ///
    /// # Errors
    /// Fails if the device has no room.
    pub(super) fn turn_of(&mut self, begun: &Begun) -> Result<Option<Turn>, NoRoom> {
        // A file of a round of short files leaves the turn to the following ones.
        if begun.is_whole() {
            return Ok(None);
        }
        // For a part, no read has shown that it is cold. If the file system cannot tell, like a
        // tmpfs, the file need not be cold.
        let is_missing = |offset| cold::is_missing(&begun.file, offset);
        let is_cold_part = begun.part.is_some() && ends(begun).into_iter().any(is_missing);
        let may_be_cold = is_cold_part || self.turn.is_some() || self.came_from_medium;
        let is_cold = mem::take(&mut self.has_sought)
            || self.cold_reads.are_new()
            || (may_be_cold && !is_cached(begun));
        if !is_cold {
            return Ok(None);
        }
        (self.came_from_medium, self.is_cold) = (true, true);
        let turn = self.turn.take_if(|turn| turn.is_asking());
        let turn = turn.or_else(|| self.core.devices.try_turn(begun.version.device()));
        turn.map(|turn| Some(turn.for_stream())).ok_or(NoRoom)
    }
}

/// Returns whether both ends of the rest of a file are in the cache. The kernel may have read
/// ahead.
fn is_cached(begun: &Begun) -> bool {
    ends(begun).into_iter().all(|offset| cold::is_cached(&begun.file, offset))
}

/// Returns the start of the rest of a file, and its last byte.
fn ends(begun: &Begun) -> [u64; 2] {
    let last = begun.range().end.saturating_sub(1).max(begun.position());
    [begun.position(), last]
}

/// The error if the device of a cold file has no room for another reader.
pub(super) struct NoRoom;

fn path(job: &Task) -> &[u8] {
    job.source.path().map_or(b"", |path| path.as_os_str().as_encoded_bytes())
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::fs::{self, File};
    use std::io::{Seek as _, Write as _};
    use std::os::unix::fs::MetadataExt as _;
    use std::path::Path;
    use std::rc::Rc;
    use std::sync::Arc;
    use std::thread;

    use rustix::fs::{CWD, FileType, Mode, mknodat};

    use super::*;
    use crate::engine::buffer::Buffer;
    use crate::engine::devices::Devices;
    use crate::engine::hashers::Hashers;
    use crate::engine::queue::Taken;
    use crate::engine::read::LaneReader;
    use crate::engine::round::LaneShared;
    use crate::engine::stream::FileStream;
    use crate::engine::task::Completed;
    use crate::engine::version::FileVersion;
    use crate::engine::worker::work;
    use crate::engine::{Delivery, Io, Options, Source};
    use crate::{Algorithm, Error};

    /// Makes a run whose files may all be cold, on a medium that has to seek.
    fn core(options: Options) -> (Arc<Core>, Turn) {
        let core = Core::new(options, true);
        core.devices.note_seek(devices::SEEK);
        // Another reader reads a long file from a different device.
        let turn = core.devices.try_turn(u64::MAX).expect("room").for_stream();
        core.queue.all_are_started(0);
        (core, turn)
    }

    fn push(core: &Core, sources: impl IntoIterator<Item = Source>) {
        for (sequence, source) in (0..).zip(sources) {
            core.queue.push(Task { sequence, source, algorithms: Algorithm::Md5.into() });
        }
        core.queue.end();
    }

    #[test]
    fn cold_jobs_start_in_inode_order() {
        let folder = tempfile::tempdir().unwrap();
        let paths: Vec<_> = (0..300).map(|number| folder.path().join(number.to_string())).collect();
        paths.iter().for_each(|path| fs::write(path, "abc").unwrap());
        // Every seventh file, in several rounds.
        let order = (0..300).map(|place| paths[place * 7 % 300].clone());
        let (core, _turn) = core(Options { threads: 1, ..Options::default() });
        push(&core, order.map(Source::Regular));
        let mut worker = Worker::new(0, &core).unwrap();
        let mut inodes = Vec::new();
        while inodes.len() < 300 {
            assert_eq!(worker.take_jobs(1), Taken::Some);
            let taken = worker.jobs.drain(..);
            inodes.extend(taken.map(|job| fs::metadata(path_of(&job)).unwrap().ino()));
            worker.pre_opened.clear();
            worker.turn = None;
        }
        assert!(inodes.is_sorted(), "{inodes:?}");
    }

    fn path_of(job: &Task) -> &Path {
        job.source.path().expect("each has one")
    }

    /// Returns files of all lengths, parts of some, and other objects, with the expected outcomes.
    fn sources(folder: &Path, io: Io) -> Vec<(Source, String)> {
        let md5 = |bytes: &[u8]| lanesum_md5::md5(bytes).to_string();
        let lengths = [0, 1, 64, 5000, 40_000, 128 << 10, (128 << 10) + 1, 3 << 20];
        let mut sources = Vec::new();
        for (number, length) in lengths.into_iter().cycle().take(160).enumerate() {
            let period: Vec<u8> = (0..256).map(|at| (at * 31 + number) as u8).collect();
            let mut content = period.repeat(length / 256 + 1);
            content.truncate(length);
            let path = folder.join(format!("{}/{number}", number % 7));
            fs::create_dir_all(path.parent().expect("a folder")).unwrap();
            fs::write(&path, &content).unwrap();
            if io != Io::Direct && number % 5 == 0 {
                let (offset, end) = (length / 3, length / 2);
                let (offset, part) = (offset as u64, &content[offset..end]);
                let length = part.len() as u64;
                sources.push((Source::Extent { path: path.clone(), offset, length }, md5(part)));
            }
            sources.push((Source::Path(path), md5(&content)));
        }
        let missing = Source::Path(folder.join("missing"));
        sources.insert(9, (missing, "No such file or directory".to_owned()));
        sources.insert(99, (Source::Path(folder.join("3")), "Is a directory".to_owned()));
        for place in [5, 70] {
            let fifo = folder.join(format!("fifo {place}"));
            mknodat(CWD, &fifo, FileType::Fifo, Mode::RWXU, 0).unwrap();
            let writer = fifo.clone();
            thread::spawn(move || File::create(writer).unwrap().write_all(b"flow").unwrap());
            sources.insert(place, (Source::Path(fifo), md5(b"flow")));
        }
        sources
    }

    /// As on a file system with unknown file sizes, or for a growing file.
    #[test]
    fn a_cold_file_without_a_size_is_read_to_its_end() {
        let content: Vec<u8> = (0..1 << 20).map(|at: u32| (at * 31 / 7) as u8).collect();
        let mut file = tempfile::tempfile().unwrap();
        let version = FileVersion::of(&rustix::fs::fstat(&file).unwrap());
        file.write_all(&content).unwrap();
        file.rewind().unwrap();
        let begun = Begun {
            file: file.into(),
            version,
            read: 0..0,
            has_writer: false,
            part: None,
            behind: None,
        };
        let devices = Devices::of(&Options::default());
        let turn = devices.try_turn(1).expect("room").for_stream();
        let hashers = Hashers::new(Algorithm::Sha256.into(), None).unwrap();
        let shared = Rc::new(LaneShared::new(&Arc::default(), None, None));
        let buffer = Buffer::new(0, LaneReader::Read);
        let algorithms = Algorithm::Sha256.into();
        let mut stream =
            FileStream::new((), begun, buffer, algorithms, hashers, Some(turn), shared);
        stream.drain();
        let options = Options { detect_changes: false, ..Options::default() };
        let hashed = stream.finish(&options).1.unwrap();
        let mut expected = Hashers::new(algorithms, None).unwrap();
        expected.update(&content);
        let mut digests = lanesum_list::Digests::default();
        expected.finalize(&mut digests);
        assert_eq!(hashed.digests, digests);
    }

    #[test]
    fn long_files_wait_for_room_and_short_ones_continue() {
        const LONG: usize = MOST_DEFERRED - 1;
        for io in Io::ALL.into_iter().filter(|io| io.check().is_ok()) {
            let folder = tempfile::tempdir().unwrap();
            let path = |name: usize| folder.path().join(format!("{name:03}"));
            for name in 0..4 * LONG {
                let length = if name < LONG { 1 << 20 } else { 100 };
                let mut file = File::create(path(name)).unwrap();
                file.write_all(&vec![name as u8; length]).unwrap();
                if !cold::drop_from_cache(&file) {
                    return;
                }
            }
            let options =
                Options { threads: 1, io, delivery: Delivery::AsTheyCome, ..Options::default() };
            let core = Core::new(options, false);
            core.queue.all_are_started(0);
            let device = fs::metadata(folder.path()).unwrap().dev();
            let mut turn = core.devices.try_turn(device).expect("room").for_stream();
            // A waiting reader does not take this for a seek.
            turn.ask(1, false, || ());
            push(&core, (0..4 * LONG).map(|name| Source::Path(path(name))));
            let mut outcomes = VecDeque::new();
            thread::scope(|scope| {
                scope.spawn(|| work(0, &core));
                while outcomes.len() < 3 * LONG {
                    assert!(core.outbox.take(&mut outcomes, None, &core.stop));
                }
                let is_short = |outcome: &Completed| outcome.sequence >= LONG as u64;
                assert!(outcomes.iter().all(is_short), "{io}");
                drop(turn);
                while core.outbox.take(&mut outcomes, None, &core.stop) {}
            });
            assert_eq!(outcomes.len(), 4 * LONG, "{io}");
            for Completed { source, result, .. } in outcomes {
                let content = fs::read(source.path().expect("each has one")).unwrap();
                let found = result.unwrap().digests[0].to_string();
                assert_eq!(found, lanesum_md5::md5(&content).to_string(), "{io}");
            }
        }
    }

    #[test]
    fn outcomes_are_right_and_ordered_for_any_read_order() {
        for (io, threads) in Io::ALL.into_iter().flat_map(|io| [(io, 1), (io, 3)]) {
            if io.check().is_err() {
                continue;
            }
            let folder = tempfile::tempdir().unwrap();
            let sources = sources(folder.path(), io);
            let (core, _turn) = core(Options { threads, io, ..Options::default() });
            push(&core, sources.iter().map(|(source, _)| source.clone()));
            let mut outcomes = VecDeque::new();
            thread::scope(|scope| {
                let core = &core;
                (0..threads).for_each(|number| drop(scope.spawn(move || work(number, core))));
                while core.outbox.take(&mut outcomes, None, &core.stop) {}
            });
            assert_eq!(outcomes.len(), sources.len(), "{io} {threads}");
            for (Completed { source, result, .. }, (expected, words)) in
                outcomes.iter().zip(&sources)
            {
                assert_eq!(source, expected);
                let found = match result {
                    Ok(hashed) => hashed.digests[0].to_string(),
                    Err(Error::NoDirect) => continue,
                    Err(error) => error.to_string(),
                };
                assert_eq!(found, *words, "{io} {threads} {source:?}");
            }
        }
    }
}
