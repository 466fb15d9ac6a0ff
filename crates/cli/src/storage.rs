//! `lanesum speed PATH`: how to read the storage of a path fastest.

use std::fs::File;
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use lanesum_checksum::engine::{self, AtOnce, Media, Progress};
use lanesum_checksum::walk::{Entry, WalkOptions, walk};
use lanesum_checksum::{Algorithm, Error, Job, Outcome, Source};
use rustix::fs::{Advice, fadvise};

use crate::console::{Console, locale_of_process};
use crate::counts::{self, bytes_in};
use crate::limits;
use crate::streams::{self, WriteError};

/// The maximum time for reading files.
const PATIENCE: Duration = Duration::from_secs(10);

/// Reads the files at these paths, and prints the facts about their storage.
///
/// # Errors
/// Errors of standard output.
pub fn run(paths: &[PathBuf]) -> anyhow::Result<ExitCode> {
    let progress = Arc::new(Progress::default());
    let mut options = engine::Options::default();
    options.threads = limits::threads(None, engine::Io::Read);
    options.own_descriptors = true;
    options.delivery = engine::Delivery::AsTheyCome;
    options.progress = Some(Arc::clone(&progress));
    let mut console = Console::new(b"lanesum", locale_of_process()).context("standard output")?;
    let begin = Instant::now();
    let mut run = engine::run(&options, jobs(paths.to_vec()));
    let (mut read, mut failed) = (0, 0);
    while let Some(left) = PATIENCE.checked_sub(begin.elapsed())
        && !run.is_at_end()
    {
        let Some(Outcome { context: Found { path, error }, result, .. }) = run.next_within(left)
        else {
            continue;
        };
        match error.or(result.err()) {
            None => read += 1,
            Some(error) => {
                failed += 1;
                console.about(path.as_os_str().as_bytes(), &error.to_string());
            }
        }
    }
    let time = begin.elapsed();
    let media = run.media();
    // Bytes of unfinished files count, too.
    let bytes = progress.bytes.load(Ordering::Relaxed);
    drop(run);
    if bytes == 0 {
        console.message(b"nothing was read");
        console.hint("name files that are not empty, or directories of such files");
        return Ok(ExitCode::FAILURE);
    }
    let words = words(read, bytes, time, &media);
    streams::stdout().write_all(words.as_bytes()).map_err(WriteError)?;
    Ok(if failed > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// An entry of a walk.
struct Found {
    path: PathBuf,
    /// The read error, if it is known.
    error: Option<Error>,
}

/// Yields a job for each file, which is dropped from the cache at that moment.
fn jobs(paths: Vec<PathBuf>) -> impl Iterator<Item = Job<Found>> + Send {
    let options = WalkOptions::default();
    let entries = paths.into_iter().flat_map(move |path| walk(&path, &options));
    entries.filter_map(|entry| {
        let (path, result) = match entry {
            Entry::Skipped { .. } => return None,
            Entry::Failed { path, error } => (path, Err(error)),
            Entry::File(path) => {
                let result = drop_from_cache(&path);
                (path, result)
            }
        };
        let source = if result.is_ok() { Source::Regular(path.clone()) } else { Source::Nothing };
        let context = Found { path, error: result.err().map(Error::from) };
        Some(Job { source, algorithms: Algorithm::Md5.into(), context })
    })
}

/// Drops a file from the cache, as far as its data are on the medium.
///
/// # Errors
/// Errors of the system, or the file is not regular.
fn drop_from_cache(path: &Path) -> io::Result<()> {
    if !path.metadata()?.is_file() {
        return Err(io::Error::new(ErrorKind::InvalidInput, "not a regular file, skipped"));
    }
    // If that is impossible, the file comes from the cache, which the report says. If it is
    // unreadable, the read reports that.
    if let Ok(file) = File::open(path) {
        let _ = fadvise(&file, 0, None, Advice::DontNeed);
    }
    Ok(())
}

/// Returns the report for this number of files and bytes, read in this time.
fn words(files: u64, bytes: u64, time: Duration, media: &Media) -> String {
    let mut words = format!("{}, {}\n", counts::files(files), bytes_in(bytes, time));
    if !media.were_read {
        words += "all data came from memory, none from a storage medium\n";
        return words;
    }
    words += &match media.seek {
        Some(seek) => format!(
            "first reads take {:.1} ms, as on a hard disk: files are read in their order on the disk\n",
            seek.as_secs_f64() * 1e3
        ),
        None => "first reads take less than 4 ms: short files are read in the order of the walk\n"
            .into(),
    };
    if media.at_once.is_empty() {
        words += "too few long files to measure how many should be read at once\n";
    }
    for AtOnce { device, files, .. } in &media.at_once {
        let (major, minor) = (rustix::fs::major(*device), rustix::fs::minor(*device));
        words += &match files {
            1 => format!("device {major}:{minor} reads long files fastest one at a time\n"),
            _ => format!("device {major}:{minor} reads long files fastest {files} at once\n"),
        };
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measurements_are_printed() {
        let of = |media| words(24, 1_000_000_000, Duration::from_secs(5), &media);
        assert_eq!(
            of(Media::default()),
            "24 files, 1.00 GB in 5.00 s (200.00 MB/s)\n\
             all data came from memory, none from a storage medium\n"
        );
        let at_once = |device, files| {
            let mut at_once = AtOnce::default();
            (at_once.device, at_once.files) = (device, files);
            at_once
        };
        let one = at_once(rustix::fs::makedev(8, 1), 1);
        let many = at_once(rustix::fs::makedev(259, 0), 32);
        let mut seeks = Media::default();
        seeks.were_read = true;
        seeks.seek = Some(Duration::from_micros(8100));
        seeks.at_once = vec![one, many];
        assert_eq!(
            of(seeks).split_once('\n').expect("lines").1,
            "first reads take 8.1 ms, as on a hard disk: files are read in their order on the disk\n\
             device 8:1 reads long files fastest one at a time\n\
             device 259:0 reads long files fastest 32 at once\n"
        );
        let mut solid = Media::default();
        solid.were_read = true;
        let words = of(solid);
        assert!(words.contains("less than 4 ms: short files are read in the order of the walk\n"));
        assert!(words.ends_with("too few long files to measure how many should be read at once\n"));
    }
}
