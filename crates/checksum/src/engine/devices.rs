//! The devices of long files, and the number of files that are read from each at once ([`Width`]).
//!
//! Only reads from a medium count. A file in the cache is read without a permit. A worker that
//! reads a cold file holds a [`Turn`]. Short files, which one read takes whole, share a turn for a
//! round. Each piece is requested ahead of hashing, so that the device reads it in one place. Once
//! all of a turn is requested, the next turn may start to request, unless too much is under way. So
//! a disk continues with the next file without a pause.
//!
//! A worker without a turn continues with its other files, and waits once it has none. No worker
//! waits forever, because a waiting worker holds no turn.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::Options;
use super::width::Width;

/// The largest number of long files that are read at once. More buffers exceed the caches, which
/// costs more than a wider kernel gains: with 64 instead of 32, two threads on Zen 5 take 8 %
/// longer for 2,000 files of 1 MiB.
pub(super) const MOST_LONG: usize = 32;

/// The number of a device, as in the inode of a file.
pub(super) type Number = u64;

/// The number of bytes requested ahead of hashing, for all files. On a disk with 180 MB/s and seeks
/// of 12 ms, pieces of 21 MiB keep 90 % of the rate.
const AHEAD: u64 = 64 << 20;

/// The smallest request in bytes.
const LEAST_AHEAD: u64 = 1 << 20;

/// The largest number of bytes under way before another worker starts to request: per file that is
/// read at once, and in total.
const UNDER_WAY: (u64, u64) = (AHEAD / 2, 4 * AHEAD);

/// A first read that waits this long had to seek: half a rotation alone takes 4 ms. A solid-state
/// disk takes 0.1 ms, and remote parallel storage 1 to 2 ms.
pub(super) const SEEK: Duration = Duration::from_millis(4);

/// A longer read had to wait for the medium.
const WAITED: Duration = Duration::from_micros(500);

/// The time that a worker waits for room before it looks for other work.
const LONGEST_WAIT: Duration = Duration::from_millis(20);

/// The properties of the devices of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Media {
    /// Whether any file came from a medium. Files in the cache give no information.
    pub were_read: bool,
    /// The duration of a first read that had to seek, as on a rotating disk: 4 ms or more. From
    /// then on files are read in the order of their places.
    pub seek: Option<Duration>,
    /// The number of long files that are read at once from each device. Devices with too few files
    /// are missing.
    pub at_once: Vec<AtOnce>,
}

/// The number of long files that are read at once from a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AtOnce {
    /// The number of the device, as in the [`Inode`](lanesum_list::Inode) of a file.
    pub device: u64,
    /// The number of files.
    pub files: usize,
}

/// All devices with cold files.
#[derive(Debug)]
pub(super) struct Devices {
    state: Mutex<State>,
    changed: Condvar,
    begin: Instant,
    /// The largest number of files to read at once from any device.
    most: usize,
}

#[derive(Debug, Default)]
struct State {
    devices: BTreeMap<Number, Device>,
    /// Whether files came from any medium.
    is_cold: bool,
    /// The duration of a long seek on any device.
    seek: Option<Duration>,
    /// The number of changes for waiting workers.
    changes: Changes,
}

/// The number of times that room for a reader or something to read became available.
pub(super) type Changes = u64;

#[derive(Debug)]
struct Device {
    /// The turns in use that have more to request.
    asking: usize,
    /// The turns of long files.
    streams: usize,
    /// The bytes requested and not read yet.
    under_way: u64,
    width: Width,
    /// Held during a request, so that a request is for one place.
    one_by_one: Arc<Mutex<()>>,
}

impl Device {
    fn new(most: usize) -> Self {
        let (width, one_by_one) = (Width::new(most), Arc::default());
        Self { asking: 0, streams: 0, under_way: 0, width, one_by_one }
    }

    fn has_room(&self) -> bool {
        let width = self.width.get();
        self.asking < width && self.under_way < UNDER_WAY.1.min(width as u64 * UNDER_WAY.0)
    }
}

impl State {
    fn device(&mut self, number: Number, most: usize) -> &mut Device {
        self.devices.entry(number).or_insert_with(|| Device::new(most))
    }
}

impl Devices {
    /// Makes the devices of a run with these options.
    pub(super) fn of(options: &Options) -> Arc<Self> {
        Arc::new(Self::new(options.threads * MOST_LONG))
    }

    fn new(most: usize) -> Self {
        Self {
            state: Mutex::default(),
            changed: Condvar::new(),
            begin: Instant::now(),
            most: most.max(1),
        }
    }

    /// Returns the bytes of a device that are requested and not read yet.
    pub(super) fn under_way(&self, number: Number) -> u64 {
        self.lock().device(number, self.most).under_way
    }

    /// Returns a turn, if there is room for one.
    pub(super) fn try_turn(self: &Arc<Self>, number: Number) -> Option<Turn> {
        let mut state = self.lock();
        let device = state.device(number, self.most);
        device.has_room().then(|| self.turn(number, device))
    }

    /// Returns whether any long file is being read from a medium.
    pub(super) fn are_read(&self) -> bool {
        self.lock().devices.values().any(|device| device.streams > 0)
    }

    /// Records that a first read took as long as a [`SEEK`], unless it waited for requests of
    /// others.
    pub(super) fn note_seek(&self, took: Duration) {
        let mut state = self.lock();
        if state.seek.is_none() && state.devices.values().all(|device| device.under_way == 0) {
            state.seek = Some(took);
        }
    }

    /// Records that files come from a medium.
    pub(super) fn note_cold(&self) {
        self.lock().is_cold = true;
    }

    /// Returns the properties found so far.
    pub(super) fn media(&self) -> Media {
        let state = self.lock();
        let at_once = |(number, device): (&Number, &Device)| {
            Some(AtOnce { device: *number, files: device.width.found()? })
        };
        Media {
            were_read: state.is_cold || state.seek.is_some() || !state.devices.is_empty(),
            seek: state.seek,
            at_once: state.devices.iter().filter_map(at_once).collect(),
        }
    }

    /// Returns whether the order and the number of files read at once matter.
    pub(super) fn have_seeks(&self) -> bool {
        self.lock().seek.is_some()
    }

    /// Returns the current number of changes, for [`wait`](Self::wait).
    pub(super) fn changes(&self) -> Changes {
        self.lock().changes
    }

    /// Waits for a change: room for a reader, or a [notification](Self::notify). Waits only
    /// briefly, because a job may come that needs no room.
    pub(super) fn wait(&self, seen: Changes) {
        let nothing = |state: &mut State| state.changes == seen;
        let waited = self.changed.wait_timeout_while(self.lock(), LONGEST_WAIT, nothing);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }

    /// Notifies waiting workers that there is more to read, or nothing more.
    pub(super) fn notify(&self) {
        self.lock().changes += 1;
        self.changed.notify_all();
    }

    fn turn(self: &Arc<Self>, number: Number, device: &mut Device) -> Turn {
        device.asking += 1;
        let (devices, one_by_one) = (Arc::clone(self), Arc::clone(&device.one_by_one));
        Turn { devices, number, is_asking: true, is_stream: false, under_way: 0, one_by_one }
    }

    /// Returns the state, which is consistent even after a panic.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The permit to read from a medium: a long file, or short files one after the other.
#[derive(Debug)]
pub(super) struct Turn {
    devices: Arc<Devices>,
    number: Number,
    is_asking: bool,
    is_stream: bool,
    under_way: u64,
    one_by_one: Arc<Mutex<()>>,
}

impl Turn {
    /// Turns the permit into one for a long file.
    pub(super) fn for_stream(mut self) -> Self {
        if !self.is_stream {
            self.is_stream = true;
            self.change(|device| device.streams += 1);
        }
        self
    }

    /// Returns whether there is more to request.
    pub(super) fn is_asking(&self) -> bool {
        self.is_asking
    }

    /// Requests a number of bytes by a call, and keeps other workers from requesting meanwhile. If
    /// `is_all`, the turn requests nothing more, and another worker may start.
    pub(super) fn ask(&mut self, bytes: u64, is_all: bool, ask: impl FnOnce()) {
        self.under_way += bytes;
        self.change(|device| device.under_way += bytes);
        let one_by_one = Arc::clone(&self.one_by_one);
        let guard = one_by_one.lock().unwrap_or_else(PoisonError::into_inner);
        ask();
        drop(guard);
        if is_all {
            self.end_asking();
        }
    }

    /// Records the number of bytes read and the time waited for them. Returns the number of bytes
    /// to request ahead of hashing.
    pub(super) fn read(&mut self, bytes: usize, waited: Duration) -> u64 {
        let now = self.devices.begin.elapsed();
        let bytes = bytes as u64;
        let arrived = bytes.min(self.under_way);
        self.under_way -= arrived;
        let (has_more_room, ahead) = self.change(|device| {
            let had_room = device.has_room();
            device.under_way -= arrived;
            device.width.note(now, device.asking, bytes, waited > WAITED);
            let ahead = AHEAD / (device.asking as u64 + 1);
            (device.has_room() && !had_room, ahead.max(LEAST_AHEAD))
        });
        if has_more_room {
            self.devices.notify();
        }
        ahead
    }

    /// Records whether all requested bytes had arrived when half of them were used, like
    /// [`Width::note_whether_in_time`].
    pub(super) fn note_whether_in_time(&self, is_in_time: bool) {
        let has_more_room = self.change(|device| {
            let had_room = device.has_room();
            device.width.note_whether_in_time(is_in_time);
            device.has_room() && !had_room
        });
        if has_more_room {
            self.devices.notify();
        }
    }

    fn end_asking(&mut self) {
        if std::mem::take(&mut self.is_asking) {
            self.change(|device| device.asking -= 1);
            self.devices.notify();
        }
    }

    fn change<R>(&self, change: impl FnOnce(&mut Device) -> R) -> R {
        let mut state = self.devices.lock();
        change(state.device(self.number, self.devices.most))
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.change(|device| {
            device.asking -= usize::from(self.is_asking);
            device.streams -= usize::from(self.is_stream);
            device.under_way -= self.under_way;
        });
        self.devices.notify();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn a_device_starts_with_one_reader() {
        let devices = Arc::new(Devices::new(8));
        let turn = devices.try_turn(1).expect("no worker reads yet");
        assert!(devices.try_turn(1).is_none());
        let other = devices.try_turn(2).expect("another device");
        drop(turn);
        drop(devices.try_turn(1).expect("no worker reads any more"));
        drop(other);
        assert!(devices.try_turn(2).is_some());
    }

    #[test]
    fn the_next_reader_starts_when_all_bytes_are_requested() {
        let devices = Arc::new(Devices::new(8));
        let mut turns = Vec::new();
        for number in 0..3 {
            let mut turn = devices.try_turn(1).expect("little is under way");
            turn.ask(1 << 20, false, || assert!(devices.try_turn(1).is_none(), "{number}"));
            assert!(devices.try_turn(1).is_none() && turn.is_asking());
            turn.ask(1 << 20, true, || ());
            assert!(!turn.is_asking());
            turns.push(turn);
        }
        let mut turn = devices.try_turn(1).expect("little is under way");
        turn.ask(AHEAD / 2, true, || ());
        assert!(devices.try_turn(1).is_none());
        drop(turns);
        assert!(devices.try_turn(1).is_none());
        turn.read(1, Duration::ZERO);
        assert!(devices.try_turn(1).is_some());
    }

    #[test]
    fn only_long_files_mark_the_device_as_read() {
        let devices = Arc::new(Devices::new(8));
        let turn = devices.try_turn(1).expect("room");
        assert!(!devices.are_read());
        let turn = turn.for_stream().for_stream();
        assert!(devices.are_read());
        drop(turn);
        assert!(!devices.are_read());
    }

    #[test]
    fn waiters_wake_for_room_and_for_more_to_read() {
        let devices = Arc::new(Devices::new(8));
        let turn = devices.try_turn(1).expect("room");
        for what in [Some(turn), None] {
            let seen = devices.changes();
            thread::scope(|scope| {
                let waiting = scope.spawn(|| devices.wait(seen));
                match what {
                    Some(turn) => drop(turn),
                    None => devices.notify(),
                }
                waiting.join().unwrap();
            });
        }
        assert!(devices.try_turn(1).is_some());
    }

    /// As for parallel storage, whose rate grows with the number of readers.
    #[test]
    fn a_device_that_profits_gets_more_readers() {
        let devices = Arc::new(Devices::new(8));
        let begin = Instant::now();
        let mut turns = vec![devices.try_turn(1).expect("room")];
        while turns.len() < 4 {
            assert!(begin.elapsed() < Duration::from_secs(60), "{devices:?}");
            for turn in &mut turns {
                assert!(
                    (LEAST_AHEAD..=AHEAD).contains(&turn.read(1 << 20, Duration::from_millis(1)))
                );
            }
            thread::sleep(Duration::from_millis(1));
            turns.extend(devices.try_turn(1));
        }
    }
}
