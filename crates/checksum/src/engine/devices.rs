//! The devices that long files come from, and from how many files at once each is read: no more
//! than it likes ([`Width`]).
//!
//! Only what comes from a medium counts: a file in the cache is read without asking. Whoever takes
//! a cold one has a [`Turn`]; short files, which one read takes whole, share one for a round of
//! them. What comes next is asked for ahead of what is hashed, each piece by itself, so that the
//! device has it in one place. Once all of a turn is asked for the next one may begin to ask, if
//! not too much is under way: so a disk goes from one file on to the next without a pause.
//!
//! A worker that gets no turn goes on with what it has, and waits once it has nothing. No worker
//! waits for ever: one that waits has no turn.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::Options;
use super::width::Width;

/// The most long files that are read side by side. More buffers leave the caches, which costs
/// more than a wider kernel gains: with 64 instead of 32 two threads take 8 % longer for 2,000
/// files of 1 MiB on a Zen 5.
pub(super) const MOST_LONG: usize = 32;

/// The number of a device, as a file's inode has it.
pub(super) type Number = u64;

/// Bytes asked for ahead of what is hashed, of all files together: where a seek takes twelve
/// milliseconds, and a second brings 180 MB, pieces of 21 MiB keep nine tenths of a disk's rate.
const AHEAD: u64 = 64 << 20;

/// The least that is asked for ahead, in bytes.
const LEAST_AHEAD: u64 = 1 << 20;

/// The most that may be under way before somebody else begins to ask, in bytes: for each file that
/// the device likes to be read from at once, and of all.
const UNDER_WAY: (u64, u64) = (AHEAD / 2, 4 * AHEAD);

/// A first read that waits for so long had to seek: half a rotation alone takes 4 ms. A solid disk
/// needs a tenth of one, and storage that is far away but has many hands one or two.
pub(super) const SEEK: Duration = Duration::from_millis(4);

/// A read that takes longer than this had to wait for the medium.
const WAITED: Duration = Duration::from_micros(500);

/// How long a worker waits for room without a look at what else there is to do.
const LONGEST_WAIT: Duration = Duration::from_millis(20);

/// What a run found of the devices that files came from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Media {
    /// Whether any file came from a medium: what is in the cache tells nothing.
    pub were_read: bool,
    /// How long the first read of a file took that had to seek, as on a rotating disk: 4 ms or
    /// more. From then on files are read in the order in which they lie.
    pub seek: Option<Duration>,
    /// From how many long files at once each device is read by now; those are missing of which too
    /// few came to tell.
    pub at_once: Vec<AtOnce>,
}

/// From how many long files at once a device is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AtOnce {
    /// The number of the device, as in a file's [`Inode`](lanesum_list::Inode).
    pub device: u64,
    /// How many.
    pub files: usize,
}

/// All devices that cold files were met on.
#[derive(Debug)]
pub(super) struct Devices {
    state: Mutex<State>,
    changed: Condvar,
    begin: Instant,
    /// The most files to be read at once from any.
    most: usize,
}

#[derive(Debug, Default)]
struct State {
    devices: BTreeMap<Number, Device>,
    /// Whether files came from any medium.
    is_cold: bool,
    /// How long it took to go from one place to another, where that took long on any of them.
    seek: Option<Duration>,
    /// How often there was something new for who waits.
    changes: Changes,
}

/// How often there was room for a reader again, or something to read.
pub(super) type Changes = u64;

#[derive(Debug)]
struct Device {
    /// Turns that are taken, and of which more is still to be asked for.
    asking: usize,
    /// Turns of long files.
    streams: usize,
    /// Bytes asked for and not read yet.
    under_way: u64,
    width: Width,
    /// Held while something is asked for: what one asks for lies in one place.
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
    /// Of a run with these options.
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

    /// Bytes of a device that were asked for and are not read yet.
    pub(super) fn under_way(&self, number: Number) -> u64 {
        self.lock().device(number, self.most).under_way
    }

    /// A turn, if there is room for one.
    pub(super) fn try_turn(self: &Arc<Self>, number: Number) -> Option<Turn> {
        let mut state = self.lock();
        let device = state.device(number, self.most);
        device.has_room().then(|| self.turn(number, device))
    }

    /// Whether any long file comes from a medium at present.
    pub(super) fn are_read(&self) -> bool {
        self.lock().devices.values().any(|device| device.streams > 0)
    }

    /// Notes that a first read took as long as a [`SEEK`]: unless it waited for what others had
    /// asked for.
    pub(super) fn note_seek(&self, took: Duration) {
        let mut state = self.lock();
        if state.seek.is_none() && state.devices.values().all(|device| device.under_way == 0) {
            state.seek = Some(took);
        }
    }

    /// Notes that files come from a medium.
    pub(super) fn note_cold(&self) {
        self.lock().is_cold = true;
    }

    /// What was found so far.
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

    /// Whether the order in which files are read matters, and how many at once.
    pub(super) fn have_seeks(&self) -> bool {
        self.lock().seek.is_some()
    }

    /// What there was until now, for [`wait`](Self::wait).
    pub(super) fn changes(&self) -> Changes {
        self.lock().changes
    }

    /// Waits until there is more than there was: room for a reader, or what was [told](Self::tell);
    /// not for long, since a job may come that needs no room.
    pub(super) fn wait(&self, seen: Changes) {
        let nothing = |state: &mut State| state.changes == seen;
        let waited = self.changed.wait_timeout_while(self.lock(), LONGEST_WAIT, nothing);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }

    /// Tells those who wait that there is more to read, or nothing any more.
    pub(super) fn tell(&self) {
        self.lock().changes += 1;
        self.changed.notify_all();
    }

    fn turn(self: &Arc<Self>, number: Number, device: &mut Device) -> Turn {
        device.asking += 1;
        let (devices, one_by_one) = (Arc::clone(self), Arc::clone(&device.one_by_one));
        Turn { devices, number, is_asking: true, is_stream: false, under_way: 0, one_by_one }
    }

    /// The state, which no panic leaves half changed.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The right to read from a medium: a long file, or one short file after another.
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
    /// The same for a long file.
    pub(super) fn for_stream(mut self) -> Self {
        if !self.is_stream {
            self.is_stream = true;
            self.change(|device| device.streams += 1);
        }
        self
    }

    /// Whether more is to be asked for.
    pub(super) fn is_asking(&self) -> bool {
        self.is_asking
    }

    /// Asks the device for so many bytes by this call, and no other worker asks meanwhile; `is_all`
    /// says that they are all. Then it is another worker's turn to ask.
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

    /// Notes that so many bytes were read, and for how long they were waited for; gives how many to
    /// ask for ahead of what is hashed.
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
            self.devices.tell();
        }
        ahead
    }

    /// Notes whether all that was asked for had come when half of it was used, as
    /// [`Width::note_whether_in_time`].
    pub(super) fn note_whether_in_time(&self, is_in_time: bool) {
        let has_more_room = self.change(|device| {
            let had_room = device.has_room();
            device.width.note_whether_in_time(is_in_time);
            device.has_room() && !had_room
        });
        if has_more_room {
            self.devices.tell();
        }
    }

    fn end_asking(&mut self) {
        if std::mem::take(&mut self.is_asking) {
            self.change(|device| device.asking -= 1);
            self.devices.tell();
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
        self.devices.tell();
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
                    None => devices.tell(),
                }
                waiting.join().unwrap();
            });
        }
        assert!(devices.try_turn(1).is_some());
    }

    /// As of storage with many hands, whose bytes a second grow with the readers.
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
