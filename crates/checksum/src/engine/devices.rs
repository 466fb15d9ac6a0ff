//! The devices that long files come from, and from how many files at once each is read: no more
//! than it likes ([`Width`]).
//!
//! Only what comes from a medium counts: a file in the cache is read without asking. Who reads a
//! cold one has a [`Turn`] until it is read. A worker that gets none goes on with what it has, and
//! waits once it has nothing. Short files, which one read takes whole, need no turn: a round of
//! them is asked for together (`read/cold.rs`), and costs a seek or two.
//!
//! Nobody waits for ever: whoever waits has no turn.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::Options;
use super::width::Width;
use super::worker;

/// The number of a device, as a file's inode has it.
pub(super) type Number = u64;

/// Bytes asked for ahead of what is hashed, of all files together: where a seek takes twelve
/// milliseconds, and a second brings 180 MB, pieces of 21 MiB keep nine tenths of a disk's rate.
const AHEAD: u64 = 64 << 20;

/// The least that is asked for ahead, in bytes.
const LEAST_AHEAD: u64 = 1 << 20;

/// All devices that cold files were met on.
#[derive(Debug)]
pub(super) struct Devices {
    state: Mutex<Vec<Device>>,
    /// There may be room for another turn.
    room: Condvar,
    begin: Instant,
    /// The most files to be read at once from any.
    most: usize,
}

#[derive(Debug)]
struct Device {
    number: Number,
    /// Turns that are taken.
    readers: usize,
    width: Width,
    /// Workers that wait for a turn.
    waiting: usize,
}

impl Device {
    fn has_room(&self) -> bool {
        self.readers < self.width.get()
    }
}

impl Devices {
    /// Of a run with these options.
    pub(super) fn of(options: &Options) -> Arc<Self> {
        Arc::new(Self::new(options.threads * worker::MOST_LONG))
    }

    fn new(most: usize) -> Self {
        Self {
            state: Mutex::default(),
            room: Condvar::new(),
            begin: Instant::now(),
            most: most.max(1),
        }
    }

    /// A turn, if there is room for one, and if no worker waits that has nothing else to do.
    pub(super) fn try_turn(self: &Arc<Self>, number: Number) -> Option<Turn> {
        let mut state = self.lock();
        let device = self.device(&mut state, number);
        (device.waiting == 0 && device.has_room()).then(|| self.turn(device))
    }

    /// A turn, whether there is room or not: what is read already has to be counted.
    pub(super) fn take_turn(self: &Arc<Self>, number: Number) -> Turn {
        let mut state = self.lock();
        let device = self.device(&mut state, number);
        self.turn(device)
    }

    /// Waits for a turn. Only for who has none: they would wait for each other.
    pub(super) fn wait_for_turn(self: &Arc<Self>, number: Number) -> Turn {
        let mut state = self.lock();
        self.device(&mut state, number).waiting += 1;
        while !self.device(&mut state, number).has_room() {
            state = self.room.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let device = self.device(&mut state, number);
        device.waiting -= 1;
        self.turn(device)
    }

    /// Whether any long file comes from a medium at present.
    pub(super) fn are_read(&self) -> bool {
        self.lock().iter().any(|device| device.readers > 0)
    }

    fn turn(self: &Arc<Self>, device: &mut Device) -> Turn {
        device.readers += 1;
        Turn { devices: Arc::clone(self), number: device.number }
    }

    fn device<'a>(&self, devices: &'a mut Vec<Device>, number: Number) -> &'a mut Device {
        let place = devices.iter().position(|device| device.number == number);
        let place = place.unwrap_or_else(|| {
            let width = Width::new(self.most);
            devices.push(Device { number, readers: 0, width, waiting: 0 });
            devices.len() - 1
        });
        &mut devices[place]
    }

    /// The state, which no panic leaves half changed.
    fn lock(&self) -> MutexGuard<'_, Vec<Device>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The right to read a long file from its medium.
#[derive(Debug)]
pub(super) struct Turn {
    devices: Arc<Devices>,
    number: Number,
}

impl Turn {
    /// Notes that so many bytes were read, and for how long they were waited for; gives how many to
    /// ask for ahead of what is hashed.
    pub(super) fn read(&self, bytes: usize, waited: Duration) -> u64 {
        let now = self.devices.begin.elapsed();
        let (is_wider, ahead) = self.change(|device| {
            let width = device.width.get();
            device.width.note(now, device.readers, bytes as u64, waited);
            let ahead = AHEAD / (device.readers as u64 + 1);
            (device.width.get() > width, ahead.max(LEAST_AHEAD))
        });
        if is_wider {
            self.devices.room.notify_all();
        }
        ahead
    }

    fn change<R>(&self, change: impl FnOnce(&mut Device) -> R) -> R {
        let mut state = self.devices.lock();
        change(self.devices.device(&mut state, self.number))
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.change(|device| device.readers -= 1);
        self.devices.room.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn a_device_begins_with_one_reader_and_waits_for_no_other() {
        let devices = Arc::new(Devices::new(8));
        assert!(!devices.are_read());
        let turn = devices.try_turn(1).expect("nobody reads yet");
        assert!(devices.try_turn(1).is_none() && devices.are_read());
        let other = devices.try_turn(2).expect("another device");
        drop(turn);
        drop(devices.try_turn(1).expect("nobody reads any more"));
        let over = devices.take_turn(2);
        drop(other);
        assert!(devices.try_turn(2).is_none(), "the one without room still reads");
        drop(over);
        assert!(devices.try_turn(2).is_some());
    }

    #[test]
    fn who_waits_is_next() {
        let devices = Arc::new(Devices::new(8));
        let turn = devices.take_turn(1);
        thread::scope(|scope| {
            let waiting = scope.spawn(|| devices.wait_for_turn(1));
            while devices.lock()[0].waiting == 0 {
                thread::yield_now();
            }
            drop(turn);
            // Whoever ended it does not take it again.
            assert!(devices.try_turn(1).is_none());
            drop(waiting.join().unwrap());
        });
        assert!(devices.try_turn(1).is_some());
    }

    /// As of storage with many hands, whose bytes a second grow with the readers.
    #[test]
    fn a_device_that_gains_by_it_gets_more_readers() {
        let devices = Arc::new(Devices::new(8));
        let begin = Instant::now();
        let mut turns = vec![devices.take_turn(1)];
        while turns.len() < 4 {
            assert!(begin.elapsed() < Duration::from_secs(60), "{devices:?}");
            for turn in &turns {
                assert!(
                    (LEAST_AHEAD..=AHEAD).contains(&turn.read(1 << 20, Duration::from_millis(1)))
                );
            }
            thread::sleep(Duration::from_millis(1));
            turns.extend(devices.try_turn(1));
        }
    }
}
