//! Finds the best number of files to read at once from a device by measuring.
//!
//! A rotating disk reads two files at once at a seventh of the speed of one, unless in large
//! pieces. A solid-state disk and remote storage serve many requests in the time of one. The
//! self-description of a device is unreliable in virtual machines and missing on network file
//! systems. So its speed is measured:
//!
//! ```text
//! start with one file at a time
//! if bytes requested ahead of use arrive in time from the beginning:
//!     the device has capacity left: double the number of files
//! if the rate is higher than any single disk head reaches: start with eight files
//! otherwise measure the rate, and try double the number
//!     if the rate grows by a factor of 1.2: keep it, and try double that number
//!     otherwise: go back, and wait for the next trial, each time twice as long
//!     if the rate falls without a trial: try half the number
//!     at the next trial: try half the number, and keep it if the rate stays the same; at the
//!         trial after that try double the number
//! ```
//!
//! Requested but unread bytes would make any width look fast. So a measurement starts and ends with
//! a read that had to wait, when all arrived bytes were used. This module has no clock. The caller
//! passes the time of each read.

use std::time::Duration;

/// The factor by which the rate must grow for more files to be worth their seeks and memory.
const WORTH_IT: f64 = 1.2;

/// Half as many files are enough if they reach this fraction of the rate.
const AS_GOOD: f64 = 0.95;

/// If the rate falls below this fraction of the previous one, fewer files are tried.
const FALLEN: f64 = 0.6;

/// The minimum size or duration of a measurement.
const PERIOD: (u64, Duration) = (128 << 20, Duration::from_secs(1));

/// The rate and size that no rotating disk reaches, and the number of files to start with on a
/// device that does.
const MORE_THAN_ONE_HEAD: (f64, u64, usize) = (400e6, 32 << 20, 8);

/// The bytes and the time after a change of the width that are not measured, because they were
/// requested at the previous width.
const SETTLING: (u64, Duration) = (64 << 20, Duration::from_millis(250));

/// The number of consecutive requests in time that show that the device has capacity left.
const IN_TIME: u32 = 2;

/// The number of measurements from a failed trial to the next one, initially and at most.
const PATIENCE: (u32, u32) = (16, 1024);

/// The width of a device: the number of files to read at once.
#[derive(Debug)]
pub(super) struct Width {
    width: usize,
    most: usize,
    /// The rate in bytes per second at the best width, once known.
    best: Option<f64>,
    /// The width to return to, if this one is a trial.
    trial_from: Option<usize>,
    /// Whether the last trial was of fewer files.
    tried_fewer: bool,
    /// The number of measurements to the next trial.
    wait: u32,
    patience: u32,
    /// The number of consecutive requests in time.
    in_time: u32,
    /// Whether anything was measured.
    is_measured: bool,
    /// The bytes of [`SETTLING`] read so far, and the start time. `None` once it is over.
    settling: Option<(u64, Option<Duration>)>,
    period: Option<Period>,
}

/// The current measurement.
#[derive(Debug)]
struct Period {
    begin: Duration,
    bytes: u64,
    notes: u64,
    /// The totals of all records.
    readers: u64,
}

impl Width {
    /// Makes the width of an unknown device, with at most `most` files.
    pub(super) fn new(most: usize) -> Self {
        Self {
            width: 1,
            most,
            best: None,
            trial_from: None,
            tried_fewer: true,
            wait: 0,
            patience: PATIENCE.0,
            in_time: 0,
            is_measured: false,
            settling: None,
            period: None,
        }
    }

    /// Returns the number of files to read at once now.
    pub(super) const fn get(&self) -> usize {
        self.width
    }

    /// Returns the number of files to read at once, if it was measured.
    pub(super) fn found(&self) -> Option<usize> {
        self.is_measured.then_some(self.width)
    }

    /// Records whether all requested bytes had arrived when half of them were used. The caller must
    /// not have waited for something else meanwhile.
    pub(super) fn note_whether_in_time(&mut self, is_in_time: bool) {
        self.in_time = if is_in_time { self.in_time + 1 } else { 0 };
        // Measurements are more reliable: on a busy machine most requests are in time.
        if self.in_time >= IN_TIME && self.width < self.most && !self.is_measured {
            self.width = self.most.min(2 * self.width);
            // If they were in the cache, fewer files are tried next.
            self.tried_fewer = false;
            (self.in_time, self.period) = (0, None);
        }
    }

    /// Records the bytes read until now, whether the read had to wait, and the number of files read
    /// at once.
    pub(super) fn note(&mut self, now: Duration, readers: usize, bytes: u64, has_waited: bool) {
        if let Some((settled, begin)) = &mut self.settling {
            *settled += bytes;
            let begin = *begin.get_or_insert(now);
            if *settled < SETTLING.0 && now.saturating_sub(begin) < SETTLING.1 {
                return;
            }
            self.settling = None;
        }
        let Some(period) = &mut self.period else {
            if has_waited {
                self.period = Some(Period { begin: now, bytes: 0, notes: 0, readers: 0 });
            }
            return;
        };
        period.bytes += bytes;
        period.notes += 1;
        period.readers += readers as u64;
        let time = now.saturating_sub(period.begin);
        let rate = period.bytes as f64 / time.as_secs_f64().max(1e-9);
        let (one_head, enough, many) = MORE_THAN_ONE_HEAD;
        let has_many = !self.is_measured && rate > one_head && period.bytes >= enough;
        let is_over = period.bytes >= PERIOD.0 || time >= PERIOD.1;
        if !has_waited || !(is_over || has_many) {
            return;
        }
        // With fewer files, or with more from an earlier trial, the measurement does not apply to
        // this width.
        let readers = period.readers as f64 / period.notes as f64 / self.width as f64;
        self.period = None;
        if has_many && self.width < many {
            self.go_to(many.min(self.most));
        } else if (0.75..=1.25).contains(&readers) {
            self.learn(rate);
        }
    }

    fn learn(&mut self, rate: f64) {
        self.is_measured = true;
        match (self.best, self.trial_from.take()) {
            (Some(best), Some(from)) => {
                let is_worth_it = if self.width > from { WORTH_IT } else { AS_GOOD };
                if rate >= is_worth_it * best {
                    self.best = Some(rate);
                    self.patience = PATIENCE.0;
                    self.try_next(self.width < from);
                } else {
                    self.go_to(from);
                    self.wait = self.patience;
                    self.patience = PATIENCE.1.min(2 * self.patience);
                }
            }
            (Some(best), None) if rate < FALLEN * best && self.width > 1 => {
                self.best = Some(rate);
                self.try_next(true);
            }
            (best, _) => {
                // The latest rate counts.
                self.best = Some(best.map_or(rate, |best| (3.0 * best + rate) / 4.0));
                self.wait = self.wait.saturating_sub(1);
                if self.wait == 0 {
                    self.try_next(!self.tried_fewer);
                }
            }
        }
    }

    fn go_to(&mut self, width: usize) {
        self.width = width;
        self.settling = Some((0, None));
    }

    /// Tries fewer or more files as requested, or the reverse if that is not possible.
    fn try_next(&mut self, fewer: bool) {
        let fewer = if self.width == 1 { false } else { fewer || self.width == self.most };
        let next = if fewer { self.width / 2 } else { self.most.min(2 * self.width) };
        if next != self.width {
            self.trial_from = Some(self.width);
            self.go_to(next);
        }
        self.tried_fewer = fewer;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MB: f64 = 1e6;
    const MOST: usize = 64;
    const HASHED: f64 = 10_000.0 * MB;

    /// A device model: the rate in bytes per second by the number of files.
    struct Model<'a> {
        rate: &'a dyn Fn(usize) -> f64,
        /// The hash rate in bytes per second. Faster reads do not wait.
        hashed: f64,
        now: Duration,
    }

    impl Model<'_> {
        /// Reads a number of bytes. Returns the widths and the bytes read at each.
        fn read(&mut self, width: &mut Width, bytes: u64) -> Vec<(usize, u64)> {
            const PIECE: u64 = 128 << 10;
            /// The size of a request.
            const ASKED: u64 = 32 << 20;
            let mut widths: Vec<(usize, u64)> = Vec::new();
            for piece in 0..bytes / PIECE {
                let readers = width.get();
                match widths.last_mut() {
                    Some((last, bytes)) if *last == readers => *bytes += PIECE,
                    _ => widths.push((readers, PIECE)),
                }
                let hashing = Duration::from_secs_f64(PIECE as f64 / self.hashed);
                let reading = Duration::from_secs_f64(PIECE as f64 / (self.rate)(readers));
                self.now += reading.max(hashing);
                let has_waited = reading > hashing;
                width.note(self.now, readers, PIECE, has_waited);
                if (piece * PIECE).is_multiple_of(ASKED) {
                    width.note_whether_in_time(!has_waited);
                }
            }
            widths
        }
    }

    fn model(rate: &dyn Fn(usize) -> f64) -> (Width, Model<'_>) {
        (Width::new(MOST), Model { rate, hashed: HASHED, now: Duration::ZERO })
    }

    fn read_at(widths: &[(usize, u64)], width: usize) -> f64 {
        let bytes = |which: &dyn Fn(usize) -> bool| -> u64 {
            widths.iter().filter(|(width, _)| which(*width)).map(|(_, bytes)| bytes).sum()
        };
        bytes(&|at| at == width) as f64 / bytes(&|_| true) as f64
    }

    /// A disk with one head, which seeks between files.
    fn rotating(readers: usize) -> f64 {
        if readers == 1 { 180.0 * MB } else { 12.0 * MB }
    }

    /// Parallel storage with independent channels.
    fn parallel(readers: usize) -> f64 {
        readers.min(32) as f64 * 60.0 * MB
    }

    #[test]
    fn a_rotating_disk_reads_one_file_at_a_time() {
        let (mut width, mut disk) = model(&rotating);
        let widths = disk.read(&mut width, 4 << 30);
        assert!(read_at(&widths, 1) > 0.98, "{widths:?}");
        assert!(widths.iter().all(|&(width, bytes)| width == 1 || width == 2 && bytes <= 40 << 20));
        // Tried again rarely, because the device may have changed.
        let trials = widths.iter().filter(|(width, _)| *width == 2).count();
        assert!((2..=8).contains(&trials), "{widths:?}");
    }

    #[test]
    fn a_parallel_device_soon_uses_all_readers() {
        let (mut width, mut storage) = model(&parallel);
        storage.read(&mut width, 2 << 30);
        assert!(width.get() >= 32, "{width:?}");
        assert!(storage.now < Duration::from_secs(10), "{:?}", storage.now);
        let widths = storage.read(&mut width, 4 << 30);
        assert!(read_at(&widths, 32) > 0.9, "{widths:?}");
    }

    /// As for storage behind a fast network. The first measurement shows that it is not a rotating
    /// disk.
    #[test]
    fn fast_storage_soon_reads_many_files() {
        let (mut width, mut storage) = model(&|readers| readers.min(16) as f64 * 500.0 * MB);
        storage.read(&mut width, 64 << 20);
        assert_eq!(width.get(), 8);
        storage.read(&mut width, 1 << 30);
        assert_eq!(width.get(), 16);
    }

    /// Part of the first measurement was in the cache.
    #[test]
    fn a_misjudged_disk_returns_to_one_reader() {
        let (mut width, mut storage) = model(&|_| 500.0 * MB);
        storage.read(&mut width, 64 << 20);
        assert_eq!(width.get(), 8);
        let mut disk = Model { rate: &rotating, hashed: HASHED, now: storage.now };
        disk.read(&mut width, 1 << 30);
        assert_eq!(width.get(), 1);
    }

    /// A solid-state disk is faster than one lane, which is found without a trial.
    #[test]
    fn a_device_with_no_queue_is_read_from_more_files_at_once() {
        let mut width = Width::new(MOST);
        let rate = |_| 3000.0 * MB;
        let mut disk = Model { rate: &rate, hashed: 700.0 * MB, now: Duration::ZERO };
        disk.read(&mut width, 512 << 20);
        assert_eq!(width.get(), MOST);
    }

    #[test]
    fn timeliness_is_ignored_after_measurements() {
        let (mut width, mut disk) = model(&rotating);
        disk.read(&mut width, 1 << 30);
        assert_eq!(width.get(), 1);
        (0..100).for_each(|_| width.note_whether_in_time(true));
        assert_eq!(width.get(), 1);
    }

    #[test]
    fn nothing_is_concluded_before_a_measurement() {
        let (mut width, mut disk) = model(&rotating);
        assert_eq!(width.found(), None);
        disk.read(&mut width, 64 << 20);
        assert_eq!(width.found(), None);
        disk.read(&mut width, 1 << 30);
        assert_eq!(width.found(), Some(1));
    }

    #[test]
    fn occasional_timeliness_is_ignored() {
        let mut width = Width::new(MOST);
        (0..100).for_each(|time| width.note_whether_in_time(time % IN_TIME != 0));
        assert_eq!(width.get(), 1);
    }

    /// Some files are in the cache, which gives no information about the disk.
    #[test]
    fn a_disk_misjudged_as_fast_returns_to_one_reader() {
        let (mut width, mut disk) = model(&rotating);
        (0..8).for_each(|_| width.note_whether_in_time(true));
        assert!(width.get() > 8);
        disk.read(&mut width, 2 << 30);
        assert_eq!(width.get(), 1);
    }

    #[test]
    fn no_more_files_are_read_than_help() {
        // As for an array of four disks.
        let (mut width, mut storage) = model(&|readers| readers.min(4) as f64 * 180.0 * MB);
        storage.read(&mut width, 512 << 20);
        let widths = storage.read(&mut width, 8 << 30);
        assert!(read_at(&widths, 4) > 0.9, "{widths:?}");
    }

    #[test]
    fn a_device_that_slows_down_gets_fewer_readers() {
        let (mut width, mut storage) = model(&parallel);
        storage.read(&mut width, 1 << 30);
        let now = storage.now;
        let mut disk = Model { rate: &rotating, hashed: HASHED, now };
        let widths = disk.read(&mut width, 2 << 30);
        assert_eq!(widths.last().expect("some were read").0, 1, "{widths:?}");
        assert!(read_at(&widths, 1) > 0.5, "{widths:?}");
        let mut storage = Model { rate: &parallel, hashed: HASHED, now: disk.now };
        storage.read(&mut width, 16 << 30);
        assert_eq!(width.get(), 32);
    }

    #[test]
    fn a_width_without_enough_readers_is_not_judged() {
        let mut width = Width::new(MOST);
        let mut now = Duration::ZERO;
        let mut note = |width: &mut Width, readers| {
            for _ in 0..1000 {
                now += Duration::from_millis(10);
                width.note(now, readers, 1 << 20, true);
            }
        };
        note(&mut width, 1);
        assert_eq!(width.get(), 2, "a trial");
        note(&mut width, 1);
        assert_eq!(width.get(), 2, "there was no second file to try it with");
    }

    #[test]
    fn the_width_never_exceeds_the_lanes() {
        for most in [1, 2, 3, 5] {
            let mut width = Width::new(most);
            let mut storage = Model { rate: &parallel, hashed: HASHED, now: Duration::ZERO };
            let widths = storage.read(&mut width, 2 << 30);
            assert!(widths.iter().all(|(width, _)| (1..=most).contains(width)), "{widths:?}");
            assert!(read_at(&widths, most) > 0.6, "{most}: {widths:?}");
        }
    }
}
