//! The engine over real files: digests, order, files that change while they are read, and every way
//! to read them.

mod blocks;
mod cache;
mod layouts;
mod mapped;
mod order;
mod ways;
mod writers;

use std::fs::{self, File, FileTimes};
use std::io::Write as _;
use std::os::unix::fs::{FileExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use lanesum_checksum::engine::{
    self, CHUNK_LEN, Hashed, Io, Midstate, Options, Progress, inode_of_file,
};
use lanesum_checksum::{Algorithm, Algorithms, Error, Job, Outcome, Source};
use lanesum_md5::Backend;
use rustix::fs::{CWD, FileType, Mode, mknodat};

/// MD5 by an independent implementation, in hexadecimal digits.
fn md5(content: &[u8]) -> String {
    use ::md5::Digest as _;
    hex(&::md5::Md5::digest(content))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Bytes that differ between neighbours and between blocks.
fn bytes(length: usize) -> Vec<u8> {
    // Without optimisation, megabytes take seconds one by one.
    let mut bytes = (0..251).collect::<Vec<u8>>().repeat(length / 251 + 1);
    bytes.truncate(length);
    bytes
}

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a file. Returns the job to hash it.
    fn job(&self, name: &str, content: &[u8]) -> Job<String> {
        fs::write(self.path(name), content).unwrap();
        self.job_of(name)
    }

    fn job_of(&self, name: &str) -> Job<String> {
        let source = Source::Path(self.path(name));
        Job { source, algorithms: Algorithm::Md5.into(), context: name.to_owned() }
    }
}

fn on(io: Io, threads: usize) -> Options {
    let mut options = Options::default();
    options.io = io;
    options.threads = threads;
    options
}

/// Returns whether this system supports a method to read the files of tests. Prints a note if not.
fn has(io: Io) -> bool {
    let folder = Folder::new();
    let missing = match io.check() {
        Err(error) => Some(error.to_string()),
        Ok(()) => run(&on(io, 1), std::iter::once(folder.job("a", b"abc")))
            .into_iter()
            .find(|outcome| *outcome == format!("a: {}", Error::NoDirect)),
    };
    if let Some(why) = &missing {
        // Past what the test run holds back.
        let _ = writeln!(std::io::stderr(), "skipped: --io {io}: {why}");
    }
    missing.is_none()
}

/// Runs each of these tests of [`ways`] with every read method.
macro_rules! with_every_way {
    ($($test:ident)*) => {
        with_every_way! { auto Io::Auto: $($test)* }
        with_every_way! { read Io::Read: $($test)* }
        with_every_way! { mmap Io::Mmap: $($test)* }
        with_every_way! { direct Io::Direct: $($test)* }
        with_every_way! { uring Io::Uring: $($test)* }
    };
    ($way:ident $io:path: $($test:ident)*) => {
        mod $way {
            use super::*;
            $(
                #[test]
                fn $test() {
                    if has($io) {
                        ways::$test($io);
                    }
                }
            )*
        }
    };
}

with_every_way! {
    digests_are_right_on_every_backend_with_any_number_of_threads
    long_files_are_read_to_their_ends
    small_and_long_files_alternate
    every_algorithm_gets_all_bytes
    files_with_different_algorithms_share_the_lanes
    jobs_without_a_source_and_failures_keep_their_places
    progress_counts_bytes_and_files
    an_outcome_describes_the_file_that_was_read
    parts_of_a_file_are_jobs_like_any_others
    a_part_of_a_file_that_changes_has_no_digest
    a_file_in_chunks_has_the_digests_of_the_whole
    an_impossible_chunk_is_refused
    an_endless_run_can_be_ended
    a_stop_takes_effect_within_a_file
    a_panic_in_the_jobs_reaches_the_caller
    fifos_are_read_in_the_order_of_the_jobs_without_holding_up_the_lanes
    a_fifo_is_read_once_per_job
    files_without_a_size_are_read_to_their_end
    sparse_and_old_files_are_read
    a_file_that_changes_has_no_digest
    metadata_changes_do_not_count_as_changes
    restored_times_do_not_hide_a_change
    changes_are_ignored_on_request
    own_files_are_known_by_whatever_name
}

#[test]
fn every_io_method_has_a_unique_name() {
    assert_eq!(Io::ALL.map(Io::name), ["auto", "read", "mmap", "direct", "uring"]);
    // Mapping installs a signal handler, which the process must request.
    assert_eq!(Io::default(), Io::Read);
}

/// An outcome in words: the context, and the digests or why there are none.
fn words(outcome: Outcome<String>) -> String {
    let result = match outcome.result {
        Ok(hashed) => {
            let digests: Vec<_> = hashed.digests.iter().map(ToString::to_string).collect();
            digests.join(" ")
        }
        Err(error) => error.to_string(),
    };
    format!("{}: {result}", outcome.context)
}

fn run(options: &Options, jobs: impl Iterator<Item = Job<String>>) -> Vec<String> {
    engine::run(options, jobs.collect::<Vec<_>>().into_iter()).map(words).collect()
}
