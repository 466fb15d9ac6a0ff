//! `lanesum speed PATH`: how the storage of a path likes to be read.

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use lanesum_checksum::engine::{self, AtOnce, Media, Totals};
use lanesum_checksum::walk::{Entry, WalkOptions, walk};
use lanesum_checksum::{Algorithm, Job, Outcome, Source};
use rustix::fs::{Advice, fadvise};

use crate::limits;
use crate::streams::{self, WriteError};

/// How long files are read at most.
const PATIENCE: Duration = Duration::from_secs(10);

/// Reads what lies at these paths, and prints what that told of its storage.
///
/// # Errors
/// Standard output's.
pub fn run(paths: &[PathBuf]) -> anyhow::Result<ExitCode> {
    let options = engine::Options {
        threads: limits::threads(None, engine::Io::Read),
        own_descriptors: true,
        delivery: engine::Delivery::AsTheyCome,
        ..engine::Options::default()
    };
    let begin = Instant::now();
    let mut run = engine::run(&options, jobs(paths.to_vec()));
    let mut failed = 0;
    while let Some(left) = PATIENCE.checked_sub(begin.elapsed())
        && !run.is_at_end()
    {
        if let Some(Outcome { context, result: Err(error), .. }) = run.next_within(left) {
            failed += 1;
            let _ = writeln!(streams::stderr(), "lanesum: {}: {error}", context.display());
        }
    }
    let time = begin.elapsed();
    let media = run.media();
    let totals = run.finish().unwrap_or_else(|stopped| stopped.totals);
    let words = words(totals, time, &media);
    streams::stdout().write_all(words.as_bytes()).map_err(WriteError)?;
    Ok(if failed > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// A job for each file, which is dropped from the cache when its job is given out.
fn jobs(paths: Vec<PathBuf>) -> impl Iterator<Item = Job<PathBuf>> + Send {
    let options = WalkOptions::default();
    let entries = paths.into_iter().flat_map(move |path| walk(&path, &options));
    entries.filter_map(|entry| {
        let (Entry::File(path) | Entry::Failed { path, .. }) = entry else { return None };
        drop_from_cache(&path);
        let algorithms = Algorithm::Md5.into();
        Some(Job { source: Source::Path(path.clone()), algorithms, context: path })
    })
}

/// Forgets what the cache holds of a file, as far as that is on its medium already.
fn drop_from_cache(path: &Path) {
    if path.is_file()
        && let Ok(file) = File::open(path)
    {
        // Where that is not possible, the files come from the cache, which is told then.
        let _ = fadvise(&file, 0, None, Advice::DontNeed);
    }
}

fn words(totals: Totals, time: Duration, media: &Media) -> String {
    let seconds = time.as_secs_f64();
    let bytes = indicatif::DecimalBytes(totals.bytes);
    let rate = indicatif::DecimalBytes((totals.bytes as f64 / seconds.max(1e-9)) as u64);
    let files = indicatif::HumanCount(totals.outcomes - totals.failed);
    let mut words = format!("{files} files, {bytes} in {seconds:.1} s ({rate}/s)\n");
    if !media.were_read {
        words += "nothing came from a medium: it is in memory, or the system cannot drop it\n";
        return words;
    }
    words += if media.have_seeks {
        "it has to seek, as a rotating disk: files are read in the order in which they lie\n"
    } else {
        "it does not have to seek: files are read in the order in which they come\n"
    };
    for AtOnce { device, files } in &media.at_once {
        let (major, minor) = (rustix::fs::major(*device), rustix::fs::minor(*device));
        words += &match files {
            1 => format!("device {major}:{minor} likes long files to be read one at a time\n"),
            _ => format!("device {major}:{minor} likes {files} long files to be read at once\n"),
        };
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_found_is_told() {
        let totals = Totals { outcomes: 25, failed: 1, bytes: 1_000_000_000 };
        let of = |media| words(totals, Duration::from_secs(5), &media);
        assert_eq!(
            of(Media::default()),
            "24 files, 1.00 GB in 5.0 s (200.00 MB/s)\n\
             nothing came from a medium: it is in memory, or the system cannot drop it\n"
        );
        let one = AtOnce { device: rustix::fs::makedev(8, 1), files: 1 };
        let many = AtOnce { device: rustix::fs::makedev(259, 0), files: 32 };
        let seeks = Media { were_read: true, have_seeks: true, at_once: vec![one, many] };
        assert_eq!(
            of(seeks).split_once('\n').expect("lines").1,
            "it has to seek, as a rotating disk: files are read in the order in which they lie\n\
             device 8:1 likes long files to be read one at a time\n\
             device 259:0 likes 32 long files to be read at once\n"
        );
        let solid = Media { were_read: true, ..Media::default() };
        assert!(of(solid).ends_with("read in the order in which they come\n"));
    }
}
