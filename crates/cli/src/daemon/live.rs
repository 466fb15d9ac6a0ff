//! The progress of the current read, for systemd and the page.

use std::path::PathBuf;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{DecimalBytes, HumanCount, HumanDuration};
use lanesum_checksum::engine::Progress;

use crate::console;
use crate::counts::files;

/// The rate is that of so long.
const WINDOW: Duration = Duration::from_secs(10);

/// The current read, if there is one. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Live(Arc<Mutex<Option<UnderWay>>>);

/// A read at work.
#[derive(Debug)]
struct UnderWay {
    root: PathBuf,
    files: u64,
    bytes: u64,
    progress: Arc<Progress>,
    /// Earlier times, and the bytes that were read by then.
    marks: Vec<(Instant, u64)>,
}

/// The progress of a read.
#[derive(Clone, Debug, PartialEq)]
pub struct Progressed {
    /// The root.
    pub root: PathBuf,
    /// Files and bytes that this read has.
    pub of_files: u64,
    pub of_bytes: u64,
    /// Files and bytes that were read.
    pub files: u64,
    pub bytes: u64,
    /// Bytes a second.
    pub rate: u64,
    /// The time until the end at this rate.
    pub left: Option<Duration>,
}

impl Live {
    fn lock(&self) -> MutexGuard<'_, Option<UnderWay>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a read.
    pub fn begin(&self, root: PathBuf, files: u64, bytes: u64, progress: Arc<Progress>) {
        let marks = vec![(Instant::now(), progress.bytes.load(Relaxed))];
        *self.lock() = Some(UnderWay { root, files, bytes, progress, marks });
    }

    /// Ends it.
    pub fn end(&self) {
        *self.lock() = None;
    }

    /// The progress; none while nothing is read.
    pub fn reading(&self) -> Option<Progressed> {
        let mut live = self.lock();
        let live = live.as_mut()?;
        let (now, bytes) = (Instant::now(), live.progress.bytes.load(Relaxed));
        // Marks of the window, and the last one before it.
        let old = live.marks.iter().rposition(|(at, _)| now - *at > WINDOW);
        live.marks.drain(..old.unwrap_or(0));
        let (since, before) = live.marks[0];
        live.marks.push((now, bytes));
        let seconds = (now - since).as_secs_f64();
        let rate = if seconds > 0.0 { ((bytes - before) as f64 / seconds) as u64 } else { 0 };
        let left = live.bytes.saturating_sub(bytes);
        Some(Progressed {
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

impl Progressed {
    /// `reading /srv/photos: 250.00 MB of 1.00 GB, 3 of 10 files, 80.00 MB/s, 5 minutes left`.
    pub fn words(&self) -> String {
        let mut words = format!(
            "reading {}: {} of {}, {} of {}, {}/s",
            console::shown(&self.root),
            DecimalBytes(self.bytes),
            DecimalBytes(self.of_bytes),
            HumanCount(self.files),
            files(self.of_files),
            DecimalBytes(self.rate),
        );
        if let Some(left) = self.left {
            words += &format!(", {} left", HumanDuration(left));
        }
        words
    }
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
        let words = reading.words();
        assert!(words.starts_with("reading /photos: 200.00 MB of 1.00 GB, 3 of 10 files, "));
        assert!(words.ends_with("/s, 8 seconds left"), "{words}");
        live.end();
        assert_eq!(live.reading(), None);
    }
}
