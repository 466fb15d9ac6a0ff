//! Reads and hashes many inputs at once and gives the outcomes back in the order of the jobs.

use std::ops::ControlFlow;
use std::path::PathBuf;

use crate::{Algorithms, Digest, Error};

/// One thing to do.
#[derive(Clone, Debug)]
pub struct Job<T> {
    /// What to read.
    pub source: Source,
    /// What to compute, all in one read.
    pub algorithms: Algorithms,
    /// Whatever the caller wants back with the outcome.
    pub context: T,
}

/// Where the bytes come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// Nowhere: the job only keeps its place in the order (a warning, the end of a list).
    Nothing,
    /// Standard input.
    Stdin,
    /// A file. Regular ones are read many at once; others (a FIFO, a device, a terminal) one after
    /// another in the order of the jobs, without holding the regular ones up.
    Path(PathBuf),
}

/// What came of a job.
#[derive(Debug)]
pub struct Outcome<T> {
    /// The job's source.
    pub source: Source,
    /// The job's context.
    pub context: T,
    /// The digests, one for each algorithm in the order of [`crate::Algorithm::ALL`], and the
    /// number of bytes read; or why there are none.
    pub result: Result<Hashed, Error>,
}

/// Digests of one input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hashed {
    /// One for each algorithm of the job.
    pub digests: Vec<Digest>,
    /// Bytes read.
    pub bytes: u64,
}

/// How to run.
#[derive(Clone, Debug)]
pub struct Options {
    /// Worker threads; 0 means one for each CPU this process may use.
    pub threads: usize,
    /// Report an input whose size or times change while it is read as [`Error::Changed`].
    pub detect_changes: bool,
}

/// Runs the jobs; calls `sink` with each outcome, in the order of the jobs, from whichever worker
/// completes the next one, never from two at once. `ControlFlow::Break` from it ends the run early.
///
/// Memory grows neither with the number of jobs nor with their sizes.
pub fn run<T, I, F>(options: &Options, jobs: I, sink: F)
where
    T: Send,
    I: Iterator<Item = Job<T>> + Send,
    F: FnMut(Outcome<T>) -> ControlFlow<()> + Send,
{
    let _ = (options, jobs, sink);
    unimplemented!("being written")
}
