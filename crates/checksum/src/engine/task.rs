//! The messages between the parts of the engine: jobs and their outcomes.

use rustix::fd::OwnedFd;

use super::{Hashed, Source};
use crate::{Algorithms, Error};

/// The number of a job in the order, from 0.
pub(super) type Sequence = u64;

/// The number of a worker, from 0.
pub(super) type Worker = usize;

/// A job for a worker, without its context.
#[derive(Debug)]
pub(super) struct Task {
    pub(super) sequence: Sequence,
    pub(super) source: Source,
    pub(super) algorithms: Algorithms,
}

/// A serial job.
#[derive(Debug)]
pub(super) struct Serial {
    pub(super) source: Source,
    pub(super) algorithms: Algorithms,
    pub(super) input: Input,
}

/// The input of a serial job.
#[derive(Debug)]
pub(super) enum Input {
    Stdin,
    /// Opened without waiting. It stays open until its turn, so that a writer that waits for a
    /// reader can start.
    Open(OwnedFd),
    /// The path of the job, to open in its turn, because the limit of open inputs is reached.
    Later,
}

/// The outcome of a job without its context.
#[derive(Debug)]
pub(super) struct Completed {
    pub(super) sequence: Sequence,
    pub(super) source: Source,
    pub(super) result: Result<Hashed, Error>,
}
