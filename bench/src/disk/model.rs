//! What a request costs a disk, and what all of them cost: pure arithmetic, without a clock.
//!
//! A disk has hands that serve one request at a time each. A request is served by the hand that is
//! free first, from when it arrives or the hand is free.
//!
//! * [`ROTATING`] has one. A request that does not begin where the last one ended costs a seek and
//!   half a rotation; every byte costs its transfer. A seek takes the mean time by
//!   0.4 + 1.125 sqrt(way), where the way is a share of the disk: over random ways that is 1 on the
//!   average. A way below 1/10,000 costs but a settling of 0.15.
//! * [`FAR`] has many, as network storage has: each request costs a latency and its transfer.

use std::time::Duration;

/// A kind of disk.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Model {
    Rotating {
        mean_seek: Duration,
        rotation: Duration,
        bytes_per_s: f64,
    },
    Far {
        latency: Duration,
        /// Of each hand.
        bytes_per_s: f64,
        hands: usize,
    },
}

/// A disk of 7,200 rotations a minute.
pub const ROTATING: Model = Model::Rotating {
    mean_seek: Duration::from_millis(8),
    rotation: Duration::from_micros(8330),
    bytes_per_s: 180e6,
};

/// Storage behind a network: 1 ms away, 32 requests at once.
pub const FAR: Model =
    Model::Far { latency: Duration::from_millis(1), bytes_per_s: 60e6, hands: 32 };

/// Ways shorter than this share of the disk only need the head to settle.
const SHORT_WAY: f64 = 1e-4;
const SETTLING: f64 = 0.15;

impl Model {
    pub fn is_rotating(&self) -> bool {
        matches!(self, Self::Rotating { .. })
    }

    fn hands(&self) -> usize {
        match self {
            Self::Rotating { .. } => 1,
            Self::Far { hands, .. } => *hands,
        }
    }

    /// The time that one hand needs for `bytes` bytes, `way` away as a share of the disk, or none
    /// where the last request ended.
    fn cost(&self, bytes: u64, way: Option<f64>) -> Duration {
        let transfer = |bytes_per_s| Duration::from_secs_f64(bytes as f64 / bytes_per_s);
        match *self {
            Self::Rotating { mean_seek, rotation, bytes_per_s } => {
                let seek = way.map_or(Duration::ZERO, |way| {
                    let share = if way < SHORT_WAY { SETTLING } else { 0.4 + 1.125 * way.sqrt() };
                    mean_seek.mul_f64(share) + rotation / 2
                });
                seek + transfer(bytes_per_s)
            }
            Self::Far { latency, bytes_per_s, .. } => latency + transfer(bytes_per_s),
        }
    }
}

/// What a disk did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Work {
    pub requests: u64,
    /// Requests that did not begin where the one before ended. None on a disk without a head.
    pub seeks: u64,
    pub bytes: u64,
    /// The time of its hands, all together.
    pub busy: Duration,
}

impl std::ops::Add for Work {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            requests: self.requests + other.requests,
            seeks: self.seeks + other.seeks,
            bytes: self.bytes + other.bytes,
            busy: self.busy + other.busy,
        }
    }
}

/// A disk at work. Times count from any one moment.
pub struct Drive {
    model: Model,
    disk_bytes: u64,
    /// Where the last request ended.
    head: u64,
    /// When each hand is free again.
    hands: Vec<Duration>,
    /// None while the disk serves at once and counts nothing.
    work: Option<Work>,
}

impl Drive {
    /// It serves at once until [`Self::begin`].
    pub fn new(model: Model, disk_bytes: u64) -> Self {
        let hands = vec![Duration::ZERO; model.hands()];
        Self { model, disk_bytes, head: 0, hands, work: None }
    }

    /// Counts from zero, with the head far from all files: nine tenths across the disk.
    pub fn begin(&mut self) {
        self.work = Some(Work::default());
        self.hands.fill(Duration::ZERO);
        self.head = self.disk_bytes / 10 * 9;
    }

    /// Returns what was counted; the disk serves at once from now on.
    pub fn end(&mut self) -> Work {
        self.work.take().unwrap_or_default()
    }

    /// When a request that arrives at `now` is served.
    pub fn serve(&mut self, now: Duration, at: u64, bytes: u64) -> Duration {
        let Some(work) = &mut self.work else { return now };
        let way = at.abs_diff(self.head);
        self.head = at + bytes;
        let way = (way > 0).then(|| way as f64 / self.disk_bytes as f64);
        let cost = self.model.cost(bytes, way);
        work.requests += 1;
        work.seeks += u64::from(way.is_some() && self.model.is_rotating());
        work.bytes += bytes;
        work.busy += cost;
        let hand = self.hands.iter_mut().min().expect("at least one hand");
        *hand = now.max(*hand) + cost;
        *hand
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DISK: u64 = 4 << 30;

    fn milliseconds(time: Duration) -> f64 {
        time.as_secs_f64() * 1e3
    }

    fn near(value: f64, expected: f64) -> bool {
        (value / expected - 1.0).abs() < 1e-6
    }

    fn counting(model: Model) -> Drive {
        let mut drive = Drive::new(model, DISK);
        drive.begin();
        drive
    }

    #[test]
    fn a_rotating_disk_pays_for_the_way_and_for_the_bytes() {
        let transfer = 180_000.0 / 180e6 * 1e3;
        let rotation = 8.33 / 2.0;
        for (way, seek) in [
            (None, 0.0),
            (Some(0.25), 8.0 * (0.4 + 1.125 * 0.5) + rotation),
            (Some(1.0), 8.0 * 1.525 + rotation),
            (Some(1e-4), 8.0 * (0.4 + 1.125 * 0.01) + rotation),
            (Some(0.9e-4), 8.0 * 0.15 + rotation),
        ] {
            let cost = milliseconds(ROTATING.cost(180_000, way));
            assert!(near(cost, seek + transfer), "{way:?}: {cost} ms");
        }
    }

    #[test]
    fn a_random_way_costs_the_mean_seek() {
        // The distance of two random places has the density 2 - 2 x.
        let steps = 100_000;
        let mean: f64 = (0..steps)
            .map(|step| (f64::from(step) + 0.5) / f64::from(steps))
            .map(|way| milliseconds(ROTATING.cost(0, Some(way))) * (2.0 - 2.0 * way))
            .sum::<f64>()
            / f64::from(steps);
        assert!((mean - 8.0 - 8.33 / 2.0).abs() < 0.02, "{mean} ms");
    }

    #[test]
    fn requests_in_a_row_need_one_seek_and_wait_for_each_other() {
        let mut drive = counting(ROTATING);
        let first = drive.serve(Duration::ZERO, 0, 18_000);
        let second = drive.serve(Duration::ZERO, 18_000, 18_000);
        assert!(near(milliseconds(second - first), 0.1));
        // Long after, from when it arrives.
        let late = Duration::from_secs(100);
        assert!(near(milliseconds(drive.serve(late, 36_000, 18_000) - late), 0.1));
        let work = drive.end();
        assert_eq!((work.requests, work.seeks, work.bytes), (3, 1, 54_000));
        assert!(near(milliseconds(work.busy), milliseconds(second) + 0.1));
    }

    #[test]
    fn the_head_begins_far_away() {
        let mut drive = Drive::new(ROTATING, DISK);
        drive.serve(Duration::ZERO, 0, 4096);
        drive.begin();
        let served = drive.serve(Duration::ZERO, 4096, 0);
        let way = (DISK / 10 * 9 - 4096) as f64 / DISK as f64;
        assert!(near(milliseconds(served), 8.0 * (0.4 + 1.125 * way.sqrt()) + 8.33 / 2.0));
    }

    #[test]
    fn a_far_disk_serves_as_many_at_once_as_it_has_hands() {
        let mut drive = counting(FAR);
        let mut serve = || milliseconds(drive.serve(Duration::ZERO, 0, 60_000));
        let first: Vec<f64> = (0..32).map(|_| serve()).collect();
        assert!(first.iter().all(|end| near(*end, 2.0)), "{first:?}");
        assert!(near(serve(), 4.0), "the 33rd waits");
        let work = drive.end();
        assert_eq!((work.requests, work.seeks, work.bytes), (33, 0, 33 * 60_000));
        assert!(near(milliseconds(work.busy), 66.0));
    }

    #[test]
    fn a_disk_that_does_not_count_serves_at_once() {
        let mut drive = Drive::new(ROTATING, DISK);
        let now = Duration::from_secs(7);
        assert_eq!(drive.serve(now, 1 << 20, 1 << 20), now);
        assert_eq!(drive.end(), Work::default());
        drive.begin();
        drive.serve(now, 0, 1);
        assert_eq!(drive.end().requests, 1);
        assert_eq!(drive.serve(now, 0, 1), now);
    }

    #[test]
    fn the_work_of_two_disks_is_added() {
        let one = Work { requests: 1, seeks: 2, bytes: 3, busy: Duration::from_secs(4) };
        let both = one + one;
        assert_eq!((both.requests, both.seeks, both.bytes), (2, 4, 6));
        assert_eq!(both.busy, Duration::from_secs(8));
    }
}
