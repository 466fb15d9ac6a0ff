//! The progress of the current read, for systemd and the page.

use std::path::PathBuf;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{DecimalBytes, HumanCount, HumanDuration};
use lanesum_checksum::engine::Progress;

use crate::console;
use crate::counts::files;
use crate::web::Reading;

/// The period over which the rate is measured.
const WINDOW: Duration = Duration::from_secs(10);

/// The current read, if there is one. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Live(Arc<Mutex<Option<UnderWay>>>);

/// A running read.
#[derive(Debug)]
struct UnderWay {
    root: PathBuf,
    files: u64,
    bytes: u64,
    progress: Arc<Progress>,
    /// Earlier times, and the bytes read until then.
    marks: Vec<(Instant, u64)>,
}

impl Live {
    fn lock(&self) -> MutexGuard<'_, Option<UnderWay>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a read.
    pub fn begin(&self, root: PathBuf, files: u64, bytes: u64, progress: Arc<Progress>) {
        let marks = vec![(Instant::now(), progress.bytes.load(Relaxed))];
        *self.lock() = Some(UnderWay { root, files, bytes, progress, marks });
    }

    /// Ends a read.
    pub fn end(&self) {
        *self.lock() = None;
    }

    /// Returns the progress, or none if nothing is read.
    pub fn reading(&self) -> Option<Reading> {
        let mut live = self.lock();
        let live = live.as_mut()?;
        let (now, bytes) = (Instant::now(), live.progress.bytes.load(Relaxed));
        // Removes all old times but the last one before the period.
        let old = live.marks.iter().rposition(|(at, _)| now - *at > WINDOW);
        live.marks.drain(..old.unwrap_or(0));
        let (since, before) = live.marks[0];
        live.marks.push((now, bytes));
        let seconds = (now - since).as_secs_f64();
        let rate = if seconds > 0.0 { ((bytes - before) as f64 / seconds) as u64 } else { 0 };
        let left = live.bytes.saturating_sub(bytes);
        Some(Reading {
            root: live.root.clone(),
            of_files: live.files,
            of_bytes: live.bytes,
            files: live.progress.files.load(Relaxed),
            bytes,
            rate,
            left: left.checked_div(rate).map(Duration::from_secs),
        })
    }
}

/// `reading /srv/photos: 250.00 MB of 1.00 GB, 3 of 10 files, 80.00 MB/s, 5 minutes left`.
pub fn words(reading: &Reading) -> String {
    let mut words = format!(
        "reading {}: {} of {}, {} of {}, {}/s",
        console::shown(&reading.root),
        DecimalBytes(reading.bytes),
        DecimalBytes(reading.of_bytes),
        HumanCount(reading.files),
        files(reading.of_files),
        DecimalBytes(reading.rate),
    );
    if let Some(left) = reading.left {
        words += &format!(", {} left", HumanDuration(left));
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_has_rate_and_remaining_time() {
        let live = Live::default();
        assert_eq!(live.reading(), None);
        let progress = Arc::new(Progress::default());
        live.begin("/photos".into(), 10, 1_000_000_000, Arc::clone(&progress));
        live.lock().as_mut().unwrap().marks[0].0 -= Duration::from_secs(2);
        progress.bytes.store(200_000_000, Relaxed);
        progress.files.store(3, Relaxed);
        let reading = live.reading().unwrap();
        assert!((90_000_000..=100_000_000).contains(&reading.rate), "{reading:?}");
        let left = reading.left.unwrap();
        assert!((8..=9).contains(&left.as_secs()), "{left:?}");
        let words = words(&reading);
        assert!(words.starts_with("reading /photos: 200.00 MB of 1.00 GB, 3 of 10 files, "));
        assert!(words.ends_with("/s, 8 seconds left"), "{words}");
        live.end();
        assert_eq!(live.reading(), None);
    }
}
