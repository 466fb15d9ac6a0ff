//! `sum --side-files`: writes the digests of each file beside it, as `x.bam.md5` beside `x.bam`.
//!
//! An existing side file is never replaced. A new digest of a file that was damaged since would
//! hide the damage.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lanesum_checksum::{Algorithm, Algorithms, Source};
use lanesum_list::formats::{CannotHold, Format as _, Gnu, side_file};
use lanesum_list::{Dialect, Record};

use crate::console::Console;
use crate::counts::{counted, files};
use crate::output::temporary_beside;
use crate::paths::Item;

/// Writes side files, and counts them.
#[derive(Default)]
pub struct SideFiles {
    written: u64,
    /// Files that have all their side files.
    skipped: Arc<AtomicU64>,
    orphans: Orphans,
}

/// Side files whose files do not exist.
type Orphans = Arc<Mutex<Vec<PathBuf>>>;

/// The reason why a side file was not written.
#[derive(Debug, thiserror::Error)]
pub enum NotWritten {
    #[error(transparent)]
    Cannot(#[from] CannotHold),
    #[error("standard input has no side file")]
    Stdin,
    #[error("its side file: {}", lanesum_checksum::error::message(.0))]
    Io(#[from] io::Error),
}

impl SideFiles {
    /// Returns what chooses the files to read.
    pub fn chooser(&self) -> Chooser {
        Chooser { skipped: Arc::clone(&self.skipped), orphans: Arc::clone(&self.orphans) }
    }

    /// Writes the side files of a file, except those that exist.
    pub fn write(&mut self, source: &Source, record: &Record<'_>) -> Result<(), NotWritten> {
        let path = source.path().ok_or(NotWritten::Stdin)?;
        let name = path.file_name().ok_or(CannotHold::EmptyName("gnu"))?;
        for digest in record.digests.iter() {
            let mut line = Vec::new();
            let one = Record::new(name.as_bytes()).with(*digest);
            Gnu::new(Dialect::any()).record(&mut line, &one)?;
            let side = side(path, digest.algorithm());
            if exists(&side) {
                continue;
            }
            let mut file = temporary_beside(&side)?;
            file.write_all(&line)?;
            match file.persist_noclobber(&side) {
                Ok(_) => self.written += 1,
                // Another program wrote it meanwhile.
                Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error.error.into()),
            }
        }
        Ok(())
    }

    /// Whether there was nothing to do, because all files have their side files.
    pub fn are_complete(&self) -> bool {
        self.skipped.load(Relaxed) > 0
    }

    /// Prints the side files without a file, which are not hashed.
    pub fn warn(&self, console: &mut Console) {
        for side in &*lock(&self.orphans) {
            let name = side.as_os_str().as_bytes();
            let file = side_file(name).map_or(name, |(file, _)| file);
            let file = console.shown(OsStr::from_bytes(file));
            let words = format!("skipped: named like a side file, but {file} is missing");
            console.about(name, &words);
        }
    }

    /// Prints the counts.
    pub fn summary(&self, console: &mut Console) {
        let written = counted(self.written, "side file", "side files");
        let skipped = match self.skipped.load(Relaxed) {
            0 => String::new(),
            1 => ", 1 file has one already".to_owned(),
            more => format!(", {} have one already", files(more)),
        };
        console.message(format!("wrote {written}{skipped}").as_bytes());
    }
}

/// Chooses the files to read, and counts the others.
pub struct Chooser {
    skipped: Arc<AtomicU64>,
    orphans: Orphans,
}

impl Chooser {
    /// Whether an item is neither a side file nor a file that has its side files.
    pub fn takes(&self, item: &Item, algorithms: Algorithms) -> bool {
        let (Source::Path(path) | Source::Regular(path)) = &item.source else { return true };
        if let Some((file, _)) = side_file(path.as_os_str().as_bytes()) {
            if !exists(Path::new(OsStr::from_bytes(file))) {
                lock(&self.orphans).push(path.clone());
            }
            return false;
        }
        let is_done = algorithms.iter().all(|it| exists(&side(path, it)));
        self.skipped.fetch_add(u64::from(is_done), Relaxed);
        !is_done
    }
}

/// The path of the side file of a file.
fn side(path: &Path, algorithm: Algorithm) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(".");
    name.push(algorithm.name());
    name.into()
}

fn lock(orphans: &Orphans) -> MutexGuard<'_, Vec<PathBuf>> {
    orphans.lock().unwrap_or_else(PoisonError::into_inner)
}

fn exists(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}
