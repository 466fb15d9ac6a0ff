//! How fast a run may read, changed while it reads.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::stop::Stop;

/// Whoever waits looks so often whether it has to any more.
const LOOK: Duration = Duration::from_millis(50);

/// So much may be read at once after a time in which less was: what the rate gives in this time.
const BURST: Duration = Duration::from_millis(100);

/// A limit on the bytes that are read in a second, and a word to read nothing for a while. Clones
/// are of one: it holds for all runs that have it together, and may be changed from any thread at
/// any time.
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
    /// Bytes a second.
    rate: Option<u64>,
    /// When all is paid for that was read.
    free: Instant,
    held_until: Instant,
    /// Counts changes of the rate: what was owed under another one is forgiven.
    changes: u64,
}

impl Default for Pace {
    /// No limit.
    fn default() -> Self {
        let now = Instant::now();
        Self(Arc::new(Mutex::new(State { rate: None, free: now, held_until: now, changes: 0 })))
    }
}

impl Pace {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets so many bytes be read in a second from now on; any number where it is `None`. Of 0 it
    /// is 1.
    pub fn set_rate(&self, bytes_per_second: Option<u64>) {
        let mut state = self.lock();
        let rate = bytes_per_second.map(|rate| rate.max(1));
        if state.rate != rate {
            (state.rate, state.free) = (rate, Instant::now());
            state.changes += 1;
        }
    }

    /// Lets nothing more be read for this time; what is being read this moment is.
    pub fn hold(&self, time: Duration) {
        let mut state = self.lock();
        if let Some(until) = Instant::now().checked_add(time) {
            state.held_until = state.held_until.max(until);
        }
    }

    /// Pays for bytes that were read: waits until others may be.
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
            pace.hold(Duration::from_millis(120));
            pace.take(1, &stop);
            assert!(began.elapsed() >= Duration::from_millis(120));

            pace.hold(Duration::from_secs(3600));
            let waits = scope.spawn(|| pace.take(1, &stop));
            thread::sleep(Duration::from_millis(60));
            assert!(!waits.is_finished());
            stop.set();
            waits.join().unwrap();
        });
    }
}
