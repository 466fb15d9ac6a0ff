//! Detects whether other processes wait for the disks, so that a scrub can pause.
//!
//! The kernel counts the time that processes wait for disks in `/proc/pressure/io`. This includes
//! the scrub itself, which on an idle machine would yield to itself. So the scrub stops now and
//! then, and checks whether the count continues to grow. If the kernel does not count, the scrub
//! never yields.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::Pace;

/// The time between two checks whether others wait.
const INTERVAL: Duration = Duration::from_secs(5);
/// The time after which reads in progress are done.
const SETTLING: Duration = Duration::from_millis(100);
/// The time between two readings of the count during a pause.
const STEP: Duration = Duration::from_millis(200);
/// The longest pause, so that a busy machine is scrubbed as well.
const LONGEST: Duration = Duration::from_secs(30);
/// The percentage of waiting in the last ten seconds that triggers a check.
const NOTABLE: f64 = 10.0;
/// The percentage of waiting that triggers a pause.
const TOO_MUCH: u128 = 20;

/// Checks whether others wait for the disks, and [pauses](Pace::pause) a pace while they do.
#[derive(Debug)]
pub struct Pressure {
    path: PathBuf,
    looked: Instant,
    /// The state during a pause: its start, and an earlier count with its time.
    still: Option<(Instant, Option<(Instant, u64)>)>,
}

impl Default for Pressure {
    fn default() -> Self {
        Self::at("/proc/pressure/io".into())
    }
}

impl Pressure {
    fn at(path: PathBuf) -> Self {
        Self { path, looked: Instant::now(), still: None }
    }

    /// Returns the percentage of waiting in the last ten seconds, and the total in microseconds.
    fn read(&self) -> Option<(f64, u64)> {
        let text = fs::read_to_string(&self.path).ok()?;
        let some = text.lines().find_map(|line| line.strip_prefix("some "))?;
        let word = |key: &str| some.split(' ').find_map(|word| word.strip_prefix(key));
        Some((word("avg10=")?.parse().ok()?, word("total=")?.trim().parse().ok()?))
    }

    /// Pauses the pace while others wait. Call it several times per second.
    pub fn look(&mut self, pace: &Pace) {
        let now = Instant::now();
        let Some((since, before)) = self.still else {
            if now - self.looked >= INTERVAL {
                self.looked = now;
                if self.read().is_some_and(|(recent, _)| recent >= NOTABLE) {
                    pace.pause(SETTLING + 2 * STEP);
                    self.still = Some((now, None));
                }
            }
            return;
        };
        let due = before.map_or(since + SETTLING, |(at, _)| at + STEP);
        if now < due {
            return;
        }
        let Some((_, total)) = self.read() else {
            self.still = None;
            return;
        };
        if let Some((at, earlier)) = before {
            let waited = u128::from(total.saturating_sub(earlier));
            if waited * 100 < TOO_MUCH * (now - at).as_micros() || now - since > LONGEST {
                (self.still, self.looked) = (None, now);
                return;
            }
        }
        pace.pause(2 * STEP);
        self.still = Some((since, Some((now, total))));
    }

    #[cfg(test)]
    fn is_still(&self) -> bool {
        self.still.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_pauses_while_other_processes_wait() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let mut total = 0;
        let mut write = |recent: u32, more: u64| {
            total += more;
            let words =
                format!("some avg10={recent}.00 avg60=0.00 avg300=0.00 total={total}\nfull x\n");
            fs::write(file.path(), words).unwrap();
        };
        let pace = Pace::default();
        let mut pressure = Pressure::at(file.path().to_owned());
        let later = |pressure: &mut Pressure, time: Duration| {
            // Simulates that the time has passed.
            pressure.looked -= time;
            if let Some((since, before)) = &mut pressure.still {
                *since -= time;
                *before = before.map(|(at, total)| (at - time, total));
            }
            pressure.look(&pace);
            pressure.is_still()
        };
        write(0, 0);
        assert!(!later(&mut pressure, INTERVAL), "no task waits");
        write(90, 0);
        assert!(!later(&mut pressure, Duration::ZERO), "it was looked at just now");
        assert!(later(&mut pressure, INTERVAL));
        assert!(later(&mut pressure, SETTLING), "the first count");
        for _ in 0..3 {
            write(90, 150_000);
            assert!(later(&mut pressure, STEP), "others wait");
        }
        write(90, 0);
        assert!(!later(&mut pressure, STEP), "it was its own waiting");

        assert!(later(&mut pressure, INTERVAL));
        assert!(later(&mut pressure, SETTLING));
        write(90, 100_000_000);
        assert!(!later(&mut pressure, LONGEST), "not for ever");
        fs::remove_file(file.path()).unwrap();
        assert!(!later(&mut pressure, INTERVAL), "where nothing is counted");
    }
}
