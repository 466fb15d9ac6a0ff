//! What goes from one room of the engine to another: a job on its way to its outcome.

use rustix::fd::OwnedFd;

use super::{Hashed, Source};
use crate::{Algorithms, Error};

/// A job's number in the order, from 0.
pub(super) type Sequence = u64;

/// A worker's number, from 0.
pub(super) type Worker = usize;

/// What a worker sees of a job: all but its context.
#[derive(Debug)]
pub(super) struct Task {
    pub(super) sequence: Sequence,
    pub(super) source: Source,
    pub(super) algorithms: Algorithms,
}

/// A job to be done alone.
#[derive(Debug)]
pub(super) struct Serial {
    pub(super) source: Source,
    pub(super) algorithms: Algorithms,
    pub(super) input: Input,
}

/// What is read alone.
#[derive(Debug)]
pub(super) enum Input {
    Stdin,
    /// Opened without waiting. It stays open until its turn, so that a writer who waits for a
    /// reader can begin.
    Open(OwnedFd),
    /// The job's path, to be opened in its turn: as many as may be are open already.
    Later,
}

/// What came of a job, without its context, which no worker sees.
#[derive(Debug)]
pub(super) struct Completed {
    pub(super) sequence: Sequence,
    pub(super) source: Source,
    pub(super) result: Result<Hashed, Error>,
}
