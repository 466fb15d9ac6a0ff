//! Whether long files are read or mapped: whichever is faster here, by a trial on each device.
//!
//! Reading copies, mapping has the CPU fill page tables, and which of them costs more differs from
//! machine to machine: of files in a tmpfs a mapping with its pages costs 0.4 to 0.6 of what
//! reading does on an Intel Granite Rapids, and more than twice as much on an AMD Zen 4, each in a
//! virtual machine. It differs by file system as well, since some keep their files in large pieces.
//! So once a worker has read a few MiB from a device, some windows of its files are timed, mapped
//! and read alternately: each in one way only, since a second pass would find much of it in the
//! nearest caches.

use std::cell::RefCell;
use std::time::Duration;

use rustix::fd::OwnedFd;

use super::cold::ColdReads;
use crate::engine::buffer::Buffer;
use crate::engine::version::{FileVersion, may_be_mapped};

/// Bytes to be read from a device before the trial: it costs some 0.2 ms, which a short run would
/// notice.
const READ_BEFORE: u64 = 16 << 20;

/// How many windows are timed in each way. The least time of each counts.
const TRIALS: usize = 8;

/// Mapping is chosen when it takes less than this of the time of reading, in percent: what it saves
/// has to be worth the signals that a mapped file can raise, and the memory that counts as the
/// process's.
const WORTH_IT: u32 = 70;

/// What to do with the next bytes of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Read,
    Map,
    /// Time this way on these bytes, then read.
    Try(Way),
}

/// A way that can be timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Map,
    Read,
}

/// What a worker knows of the devices that its files are on.
#[derive(Default)]
pub(super) struct MapTrial {
    devices: RefCell<Vec<Device>>,
    cold_reads: ColdReads,
}

struct Device {
    number: u64,
    state: State,
}

#[derive(Clone, Copy)]
enum State {
    /// So many bytes were read.
    New(u64),
    /// So many windows were timed; the least times so far, mapped and read.
    Trials(usize, [Duration; 2]),
    /// Mapping is worth it, or not.
    Known(bool),
}

impl MapTrial {
    /// How the next bytes of a file are to come.
    pub(super) fn step(&self, file: &OwnedFd, version: &FileVersion) -> Step {
        // A mapped hole takes memory in a tmpfs, where one that is read takes none.
        if version.has_holes() {
            return Step::Read;
        }
        let mut devices = self.devices.borrow_mut();
        let place = devices.iter().position(|device| device.number == version.device());
        let place = place.unwrap_or_else(|| {
            let state = if may_be_mapped(file) { State::New(0) } else { State::Known(false) };
            devices.push(Device { number: version.device(), state });
            devices.len() - 1
        });
        match &mut devices[place].state {
            State::Known(false) => Step::Read,
            // What comes from the medium is read ahead better for who reads.
            State::Known(true) if self.cold_reads.are_new() => Step::Read,
            State::Known(true) => Step::Map,
            State::New(bytes) if *bytes < READ_BEFORE => {
                *bytes += Buffer::CAPACITY as u64;
                Step::Read
            }
            state => {
                // From now on it counts whether the medium is.
                let _ = self.cold_reads.are_new();
                Step::Try(state.next_trial())
            }
        }
    }

    /// Notes how long it took to bring in a window in the way that was to be tried; `None` when
    /// that could not be done.
    pub(super) fn tried(&self, version: &FileVersion, time: Option<Duration>) {
        let mut devices = self.devices.borrow_mut();
        let Some(device) = devices.iter_mut().find(|device| device.number == version.device())
        else {
            return;
        };
        device.state = match time {
            // It waited for the medium: nothing was learnt.
            Some(_) if self.cold_reads.are_new() => State::New(0),
            Some(time) => device.state.with(time),
            None => State::Known(false),
        };
    }
}

impl State {
    /// The way to try next: they take turns.
    fn next_trial(&self) -> Way {
        match self {
            Self::Trials(trials, _) if !trials.is_multiple_of(2) => Way::Read,
            _ => Way::Map,
        }
    }

    /// After the next trial, which took this long.
    fn with(self, time: Duration) -> Self {
        let (trials, mut least) = match self {
            Self::Trials(trials, least) => (trials, least),
            _ => (0, [Duration::MAX; 2]),
        };
        let least_of_way = &mut least[trials % 2];
        *least_of_way = time.min(*least_of_way);
        let [mapped, read] = least;
        if trials + 1 < 2 * TRIALS {
            Self::Trials(trials + 1, least)
        } else {
            Self::Known(mapped * 100 < read * WORTH_IT)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    /// A file that is all on its medium, with its version.
    fn file() -> (OwnedFd, FileVersion) {
        let file = tempfile::tempfile().unwrap();
        std::io::Write::write_all(&mut &file, &[7; 4096]).unwrap();
        // Until then it has no place there on many file systems.
        file.sync_all().unwrap();
        let file = OwnedFd::from(file);
        let version = FileVersion::of(&rustix::fs::fstat(&file).unwrap());
        (file, version)
    }

    /// A trial that has read so much that the trial is due; `None` where files are never mapped.
    fn due(file: &OwnedFd, version: &FileVersion) -> Option<MapTrial> {
        let trial = MapTrial::default();
        for _ in 0..READ_BEFORE / Buffer::CAPACITY as u64 {
            assert_eq!(trial.step(file, version), Step::Read);
        }
        may_be_mapped(file).then_some(trial)
    }

    #[test]
    fn the_faster_best_trial_wins() {
        let (file, version) = file();
        let outlier = [500 * MS, 500 * MS];
        for (mapped, read, expected) in
            [(69, 100, Step::Map), (71, 100, Step::Read), (250, 100, Step::Read)]
        {
            let Some(trial) = due(&file, &version) else { return };
            let best = [[mapped * MS, 500 * MS], [500 * MS, read * MS]];
            let outliers = std::iter::repeat(outlier);
            for times in outliers.clone().take(2).chain(best).chain(outliers).take(TRIALS) {
                for (way, time) in [Way::Map, Way::Read].into_iter().zip(times) {
                    assert_eq!(trial.step(&file, &version), Step::Try(way));
                    trial.tried(&version, Some(time));
                }
            }
            for _ in 0..3 {
                assert_eq!(trial.step(&file, &version), expected, "{mapped} {read}");
            }
        }
    }

    #[test]
    fn an_unmappable_file_is_read() {
        let (file, version) = file();
        let Some(trial) = due(&file, &version) else { return };
        assert_eq!(trial.step(&file, &version), Step::Try(Way::Map));
        trial.tried(&version, None);
        assert_eq!(trial.step(&file, &version), Step::Read);
    }

    #[test]
    fn sparse_and_memory_files_are_read_without_a_trial() {
        let hole = tempfile::tempfile().unwrap();
        hole.set_len(1 << 30).unwrap();
        let pseudo = std::fs::File::open("/proc/self/maps").unwrap();
        for file in [hole, pseudo].map(OwnedFd::from) {
            let version = FileVersion::of(&rustix::fs::fstat(&file).unwrap());
            let trial = MapTrial::default();
            for _ in 0..2 * READ_BEFORE / Buffer::CAPACITY as u64 {
                assert_eq!(trial.step(&file, &version), Step::Read);
            }
        }
    }
}
