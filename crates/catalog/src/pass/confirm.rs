//! The second read, which distinguishes damage from an error of memory, cable or controller. It
//! bypasses the page cache, and no program may have the file open for writing.

use std::fs::File as OpenFile;
use std::iter;
use std::path::Path;
use std::time::Duration;

use lanesum_checksum::engine::{self, Delivery, Hashed, Io, has_writer};
use lanesum_checksum::{Algorithms, Error, Job, Source};
use lanesum_list::Digests;
use rustix::fd::OwnedFd;
use rustix::fs::{Advice, fadvise};

use crate::model::{Second, Stat, agree};
use crate::store::digests::algorithms;

/// The time to wait for an outcome before the caller is asked whether to continue.
const LOOK: Duration = Duration::from_millis(200);

/// The result of the second read.
#[derive(Debug)]
pub(crate) enum Confirmed {
    /// The content.
    Read(Second),
    /// A program is writing to the file, or it changed.
    Busy,
    /// The run should end.
    Ended,
    Failed(Error),
}

/// Reads a file again whose first read had these digests and this stat.
pub(crate) fn read_again(
    path: &Path,
    recorded: &Digests,
    (first, stat): (&Digests, &Stat),
    options: &engine::Options,
    goes_on: &dyn Fn() -> bool,
) -> Confirmed {
    let is_written = || {
        let opened = OpenFile::open(path).ok().map(OwnedFd::from);
        opened.and_then(|opened| has_writer(&opened)) == Some(true)
    };
    if is_written() {
        return Confirmed::Busy;
    }
    let hashed = match read_past_cache(path, algorithms(first), options, goes_on) {
        Ok(Some(hashed)) => hashed,
        Ok(None) => return Confirmed::Ended,
        Err(Error::Changed) => return Confirmed::Busy,
        Err(error) if error.is_not_found() => return Confirmed::Busy,
        Err(error) => return Confirmed::Failed(error),
    };
    if Stat::of_hashed(&hashed).as_ref() != Some(stat) || is_written() {
        return Confirmed::Busy;
    }
    Confirmed::Read(if agree(recorded, &hashed.digests) == Some(true) {
        Second::Recorded
    } else if agree(first, &hashed.digests) == Some(true) {
        Second::LikeFirst
    } else {
        Second::Third
    })
}

fn read_past_cache(
    path: &Path,
    algorithms: Algorithms,
    options: &engine::Options,
    goes_on: &dyn Fn() -> bool,
) -> Result<Option<Hashed>, Error> {
    let read = |io| {
        let mut options = options.clone();
        (options.threads, options.io, options.delivery) = (1, io, Delivery::InOrder);
        // It has been counted already.
        options.progress = None;
        let job = Job { source: Source::Regular(path.to_owned()), algorithms, context: () };
        let mut job = Some(job);
        // Another thread reads an iterator of unknown length, so that this one can steer.
        let mut run = engine::run(&options, iter::from_fn(move || job.take()));
        loop {
            match run.next_within(LOOK) {
                Some(outcome) => return outcome.result.map(Some),
                None if run.is_at_end() || !goes_on() => return Ok(None),
                None => {}
            }
        }
    };
    match read(Io::Direct) {
        Err(Error::NoDirect) => {
            let file = OpenFile::open(path)?;
            // Mapped and unwritten pages stay in the cache.
            let _ = fadvise(&file, 0, None, Advice::DontNeed);
            read(Io::Read)
        }
        result => result,
    }
}
