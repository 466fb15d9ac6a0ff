//! How it goes, for whoever shows it: systemd's status line now.

use std::path::PathBuf;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{DecimalBytes, HumanDuration};
use lanesum_checksum::engine::Progress;

use crate::console;
use crate::counts::files;

/// Over so long the rate is taken.
const WINDOW: Duration = Duration::from_secs(10);

/// What the daemon does at a moment. Clones are of one.
#[derive(Clone, Debug, Default)]
pub struct Live(Arc<Mutex<Option<UnderWay>>>);

/// A part that is being read.
#[derive(Debug)]
struct UnderWay {
    root: PathBuf,
    files: u64,
    bytes: u64,
    progress: Arc<Progress>,
    /// Earlier moments, and the bytes that were read by then.
    marks: Vec<(Instant, u64)>,
}

/// How far a part is.
#[derive(Clone, Debug, PartialEq)]
pub struct PartRead {
    /// The folder.
    pub root: PathBuf,
    /// Its files and bytes that are read in this part.
    pub of_files: u64,
    pub of_bytes: u64,
    /// Those that were.
    pub files: u64,
    pub bytes: u64,
    /// Bytes a second, lately.
    pub rate: u64,
    /// Until the part is read, if it goes on like this.
    pub left: Option<Duration>,
}

impl Live {
    fn lock(&self) -> MutexGuard<'_, Option<UnderWay>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that a part begins.
    pub fn begin(&self, root: PathBuf, files: u64, bytes: u64, progress: Arc<Progress>) {
        let marks = vec![(Instant::now(), progress.bytes.load(Relaxed))];
        *self.lock() = Some(UnderWay { root, files, bytes, progress, marks });
    }

    /// Notes that it ended.
    pub fn end(&self) {
        *self.lock() = None;
    }

    /// How far it is; nothing where nothing is read.
    pub fn reading(&self) -> Option<PartRead> {
        let mut live = self.lock();
        let live = live.as_mut()?;
        let (now, bytes) = (Instant::now(), live.progress.bytes.load(Relaxed));
        // The oldest of those that are not too old, and the last that is.
        let old = live.marks.iter().rposition(|(at, _)| now - *at > WINDOW);
        live.marks.drain(..old.unwrap_or(0));
        let (since, before) = live.marks[0];
        live.marks.push((now, bytes));
        let seconds = (now - since).as_secs_f64();
        let rate = if seconds > 0.0 { ((bytes - before) as f64 / seconds) as u64 } else { 0 };
        let left = live.bytes.saturating_sub(bytes);
        Some(PartRead {
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

impl PartRead {
    /// In a line.
    pub fn words(&self) -> String {
        let (done, of) = (DecimalBytes(self.bytes), DecimalBytes(self.of_bytes));
        let mut words = format!(
            "reads {}: {done} of {of} ({}/s), {} of {}",
            console::shown(&self.root),
            DecimalBytes(self.rate),
            self.files,
            files(self.of_files)
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
    fn it_tells_how_far_a_part_is() {
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
        assert!(words.starts_with("reads /photos: 200.00 MB of 1.00 GB ("), "{words}");
        assert!(words.ends_with("/s), 3 of 10 files, 8 seconds left"), "{words}");
        live.end();
        assert_eq!(live.reading(), None);
    }
}
