//! Counts files and their sizes ahead of a run, for the total of a progress bar.

use std::io;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use rustix::fs::{FileType, stat};

/// The number of files and bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Totals {
    /// The number of files.
    pub files: u64,
    /// The total size of the regular files in bytes.
    pub bytes: u64,
}

/// A count in a separate thread. Dropping it stops the thread at the next file without waiting.
#[derive(Debug)]
pub struct Count {
    shared: Arc<Tally>,
    /// `None` once it was waited for.
    thread: Option<thread::JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Tally {
    files: AtomicU64,
    bytes: AtomicU64,
    complete: AtomicBool,
    stop: AtomicBool,
}

impl Count {
    /// Starts to count the files that a run will read. `paths` makes their iterator in the new
    /// thread.
    ///
    /// - A file that cannot be examined counts without a size. The run will report it.
    /// - At a FIFO or a device, which has no size, the count ends and is never complete.
    /// - A path that is repeated consecutively counts as one file, and its bytes are counted each
    ///   time.
    ///
    /// # Errors
    ///
    /// Fails if the system refuses a thread.
    pub fn start<F, P>(paths: F) -> io::Result<Self>
    where
        F: FnOnce() -> P + Send + 'static,
        P: Iterator<Item = PathBuf>,
    {
        let shared = Arc::new(Tally::default());
        let thread = thread::Builder::new().name("count".into()).spawn({
            let shared = Arc::clone(&shared);
            move || shared.count(paths())
        })?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// Returns the counts so far.
    #[must_use]
    pub fn so_far(&self) -> Totals {
        self.shared.totals()
    }

    /// Returns the totals, once all files are counted.
    #[must_use]
    pub fn complete(&self) -> Option<Totals> {
        // Acquire, paired with the release in `count`: a thread that sees the end sees all counts.
        self.shared.complete.load(Ordering::Acquire).then(|| self.shared.totals())
    }

    /// Stops the thread.
    pub fn stop(&self) {
        self.shared.stop.store(true, Ordering::Relaxed);
    }

    /// Waits for the thread to end. Returns the totals, or `None` if not all files were counted.
    ///
    /// # Panics
    ///
    /// Panics if the iterator of the paths did, with the same payload.
    #[must_use]
    pub fn wait(mut self) -> Option<Totals> {
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap_or_else(|panic| resume_unwind(panic));
        }
        self.complete()
    }
}

impl Drop for Count {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Tally {
    fn count(&self, paths: impl Iterator<Item = PathBuf>) {
        let mut last = PathBuf::new();
        for path in paths {
            if self.stop.load(Ordering::Relaxed) {
                return;
            }
            let Some(size) = size(&path) else { return };
            self.bytes.fetch_add(size, Ordering::Relaxed);
            let is_again = last == path;
            self.files.fetch_add(u64::from(!is_again), Ordering::Relaxed);
            last = path;
        }
        self.complete.store(true, Ordering::Release);
    }

    fn totals(&self) -> Totals {
        Totals {
            files: self.files.load(Ordering::Relaxed),
            bytes: self.bytes.load(Ordering::Relaxed),
        }
    }
}

/// Returns the size of a regular file, or `None` for a FIFO or a device. Files that cannot be
/// examined count as 0 bytes.
fn size(path: &Path) -> Option<u64> {
    let Ok(stat) = stat(path) else { return Some(0) };
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Some(u64::try_from(stat.st_size).unwrap_or(0)),
        FileType::Directory | FileType::Socket => Some(0),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_files_are_counted_once_in_a_row() {
        let shared = Tally::default();
        let size = std::fs::metadata("Cargo.toml").unwrap().len();
        shared
            .count(["Cargo.toml", "Cargo.toml", ".", "Cargo.toml"].map(PathBuf::from).into_iter());
        assert_eq!(shared.totals(), Totals { files: 3, bytes: 3 * size });
    }

    #[test]
    fn a_stopped_count_is_not_complete() {
        let shared = Tally { stop: AtomicBool::new(true), ..Tally::default() };
        shared.count([PathBuf::from("Cargo.toml")].into_iter());
        assert!(!shared.complete.load(Ordering::Relaxed));
        assert_eq!(shared.totals(), Totals::default());
    }

    #[test]
    fn a_panic_in_the_paths_reaches_the_caller() {
        let paths = || std::iter::once_with(|| std::panic::panic_any(7));
        let wait = || Count::start(paths).unwrap().wait();
        let panic = std::panic::catch_unwind(wait).unwrap_err();
        assert_eq!(panic.downcast_ref(), Some(&7));
    }

    #[test]
    fn devices_make_the_total_incomplete() {
        for (path, is_complete) in [("/dev/null", false), ("/", true), ("/missing", true)] {
            let shared = Tally::default();
            shared.count(["Cargo.toml", path].into_iter().map(PathBuf::from));
            assert_eq!(shared.complete.load(Ordering::Relaxed), is_complete, "{path}");
        }
    }
}
