//! A limit on the read rate that can change during a run.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::stop::Stop;

/// The interval at which a waiting thread checks whether it can continue.
const LOOK: Duration = Duration::from_millis(50);

/// The burst after a slower period, as the time in which the rate allows it.
const BURST: Duration = Duration::from_millis(100);

/// A limit on the bytes read per second, with a way to pause. All clones share one limit, which
/// applies to all their runs together and can be changed from any thread at any time.
///
/// ```
/// use std::time::{Duration, Instant};
/// use lanesum_checksum::{Algorithm, Job, Source, engine};
///
/// let file = tempfile::NamedTempFile::new()?;
/// std::fs::write(&file, vec![7; 1_000_000])?;
/// let mut options = engine::Options::default();
/// let pace = engine::Pace::default();
/// pace.set_rate(Some(5_000_000));
/// options.pace = Some(pace);
/// let (source, algorithms) = (Source::Path(file.path().into()), Algorithm::Md5.into());
/// let began = Instant::now();
/// engine::run(&options, std::iter::once(Job { source, algorithms, context: () })).count();
/// assert!(began.elapsed() >= Duration::from_millis(90));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Pace(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    /// The rate in bytes per second.
    rate: Option<u64>,
    /// The time at which all read bytes are allowed by the rate.
    free: Instant,
    held_until: Instant,
    /// The number of changes of the rate. A change cancels the waiting time of the previous rate.
    changes: u64,
}

impl Default for Pace {
    /// Makes a pace without a limit.
    fn default() -> Self {
        let now = Instant::now();
        Self(Arc::new(Mutex::new(State { rate: None, free: now, held_until: now, changes: 0 })))
    }
}

impl Pace {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the limit in bytes per second, or removes it with `None`. A rate of 0 counts as 1.
    pub fn set_rate(&self, bytes_per_second: Option<u64>) {
        let mut state = self.lock();
        let rate = bytes_per_second.map(|rate| rate.max(1));
        if state.rate != rate {
            (state.rate, state.free) = (rate, Instant::now());
            state.changes += 1;
        }
    }

    /// Pauses reading for a time. Reads in progress continue.
    pub fn pause(&self, time: Duration) {
        let mut state = self.lock();
        if let Some(until) = Instant::now().checked_add(time) {
            state.held_until = state.held_until.max(until);
        }
    }

    /// Accounts for bytes that were read, and waits until more may be read.
    pub(super) fn take(&self, bytes: u64, stop: &Stop) {
        let (until, changes) = {
            let mut state = self.lock();
            let now = Instant::now();
            if let Some(rate) = state.rate {
                let earliest = now.checked_sub(BURST).unwrap_or(now);
                let cost = Duration::from_secs_f64(bytes as f64 / rate as f64);
                let free = state.free.max(earliest);
                state.free = free.checked_add(cost).unwrap_or(free);
            }
            (if state.rate.is_some() { state.free } else { now }, state.changes)
        };
        while !stop.is_set() {
            let until = {
                let state = self.lock();
                let until = if state.changes == changes { until } else { state.free };
                until.max(state.held_until)
            };
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            thread::sleep(left.min(LOOK));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_share_a_rate() {
        let (pace, stop) = (Pace::default(), Stop::default());
        pace.set_rate(Some(1_000_000));
        let began = Instant::now();
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..10).for_each(|_| pace.take(10_000, &stop)));
            }
        });
        let took = began.elapsed();
        assert!(took >= Duration::from_millis(295), "400,000 bytes, less a burst: {took:?}");
    }

    #[test]
    fn rate_stop_and_resume_take_effect_at_once() {
        let (pace, stop) = (Pace::default(), Stop::default());
        pace.set_rate(Some(1));
        thread::scope(|scope| {
            let waits = scope.spawn(|| pace.take(1_000_000, &stop));
            thread::sleep(Duration::from_millis(60));
            assert!(!waits.is_finished());
            pace.set_rate(None);
            waits.join().unwrap();

            let began = Instant::now();
            pace.pause(Duration::from_millis(120));
            pace.take(1, &stop);
            assert!(began.elapsed() >= Duration::from_millis(120));

            pace.pause(Duration::from_secs(3600));
            let waits = scope.spawn(|| pace.take(1, &stop));
            thread::sleep(Duration::from_millis(60));
            assert!(!waits.is_finished());
            stop.set();
            waits.join().unwrap();
        });
    }
}
