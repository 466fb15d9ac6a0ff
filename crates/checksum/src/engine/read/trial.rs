//! Chooses between reading and mapping long files, by a trial on each device.
//!
//! Reading copies bytes, and mapping fills page tables. Which is faster depends on the machine. In
//! virtual machines with files in a tmpfs, mapping takes 40 to 60 % of the time of reading on Intel
//! Granite Rapids, and more than twice the time on AMD Zen 4. It also depends on the file system,
//! because some store files in large pieces. So once a worker has read a few MiB from a device,
//! some windows are timed, alternately mapped and read. Each window is used once, because a second
//! pass would find its bytes in the caches.

use std::cell::RefCell;
use std::time::Duration;

use rustix::fd::OwnedFd;

use super::cold::ColdReads;
use crate::engine::buffer::Buffer;
use crate::engine::version::{FileVersion, may_be_mapped};

/// The number of bytes to read from a device before the trial. The trial takes about 0.2 ms, which
/// would slow down a short run.
const READ_BEFORE: u64 = 16 << 20;

/// The number of windows that are timed with each method. The shortest time counts.
const TRIALS: usize = 8;

/// The largest time of mapping in percent of that of reading at which mapping is chosen. The gain
/// must outweigh the signals that a mapped file can cause, and the memory that counts as that of
/// the process.
const WORTH_IT: u32 = 70;

/// How to get the next bytes of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Read,
    Map,
    /// Time a method on these bytes, then read them.
    Try(Way),
}

/// A method that can be timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Map,
    Read,
}

/// The state of the trials of a worker, by device.
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
    /// The number of bytes read so far.
    New(u64),
    /// The number of timed windows, and the shortest times of mapping and reading.
    Trials(usize, [Duration; 2]),
    /// The result: whether to map.
    Decided(bool),
}

impl MapTrial {
    /// Returns how to get the next bytes of a file.
    pub(super) fn step(&self, file: &OwnedFd, version: &FileVersion) -> Step {
        // In a tmpfs a mapped hole takes memory, and a hole that is read does not.
        if version.has_holes() {
            return Step::Read;
        }
        let mut devices = self.devices.borrow_mut();
        let place = devices.iter().position(|device| device.number == version.device());
        let place = place.unwrap_or_else(|| {
            let state = if may_be_mapped(file) { State::New(0) } else { State::Decided(false) };
            devices.push(Device { number: version.device(), state });
            devices.len() - 1
        });
        match &mut devices[place].state {
            State::Decided(false) => Step::Read,
            // Readahead from a medium works better for reads.
            State::Decided(true) if self.cold_reads.are_new() => Step::Read,
            State::Decided(true) => Step::Map,
            State::New(bytes) if *bytes < READ_BEFORE => {
                *bytes += Buffer::CAPACITY as u64;
                Step::Read
            }
            state => {
                // From now on reads from the medium are counted.
                let _ = self.cold_reads.are_new();
                Step::Try(state.next_trial())
            }
        }
    }

    /// Records the time of a window with the tried method, or `None` if it failed.
    pub(super) fn tried(&self, version: &FileVersion, time: Option<Duration>) {
        let mut devices = self.devices.borrow_mut();
        let Some(device) = devices.iter_mut().find(|device| device.number == version.device())
        else {
            return;
        };
        device.state = match time {
            // It waited for the medium, so the time does not count.
            Some(_) if self.cold_reads.are_new() => State::New(0),
            Some(time) => device.state.with(time),
            None => State::Decided(false),
        };
    }
}

impl State {
    /// Returns the next method to try. The methods alternate.
    fn next_trial(&self) -> Way {
        match self {
            Self::Trials(trials, _) if !trials.is_multiple_of(2) => Way::Read,
            _ => Way::Map,
        }
    }

    /// Returns the state after a trial of a given duration.
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
            Self::Decided(mapped * 100 < read * WORTH_IT)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    /// Makes a file that is completely on its medium, with its version.
    fn file() -> (OwnedFd, FileVersion) {
        let file = tempfile::tempfile().unwrap();
        std::io::Write::write_all(&mut &file, &[7; 4096]).unwrap();
        // Many file systems assign no blocks before that.
        file.sync_all().unwrap();
        let file = OwnedFd::from(file);
        let version = FileVersion::of(&rustix::fs::fstat(&file).unwrap());
        (file, version)
    }

    /// Makes a trial that is due, or `None` if files are never mapped here.
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
