//! Whether a file really holds other bytes than it did: it has no writer, and a second reading,
//! which comes from the medium and not from memory, says the same.

use std::fs::File as OpenFile;
use std::iter;
use std::path::Path;
use std::time::Duration;

use lanesum_checksum::engine::{self, Delivery, Hashed, Io, has_writer};
use lanesum_checksum::{Algorithms, Error, Job, Source};
use lanesum_list::Digests;
use rustix::fd::OwnedFd;
use rustix::fs::{Advice, fadvise};

use crate::digests::{agree, algorithms};
use crate::rows::File;
use crate::stat::Stat;

/// How long it is waited for before somebody is asked whether to go on.
const LOOK: Duration = Duration::from_millis(200);

/// What a second look says of a file whose digest was not the stored one.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Confirmed {
    /// It is being written to, or something changed while we looked.
    Busy,
    /// It holds what it held.
    Transient,
    /// It holds what the first reading said.
    Same,
    /// It says something else each time.
    Unstable,
    /// The medium does not give it.
    Unreadable(String),
}

/// Looks again at a file that once had `first` as its digests, and this stat.
///
/// Where the system does not say whether there is a writer, the two readings and the stat between
/// them have to do.
pub(crate) fn confirm(
    path: &Path,
    file: &File,
    first: (&Digests, &Stat),
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
    let (digests, stat) = first;
    let hashed = match read_past_cache(path, algorithms(digests), options, goes_on) {
        Ok(hashed) => hashed,
        Err(Error::Changed) => return Confirmed::Busy,
        Err(error) if error.is_not_found() => return Confirmed::Busy,
        Err(error) => return Confirmed::Unreadable(error.to_string()),
    };
    if Stat::of_hashed(&hashed).as_ref() != Some(stat) || is_written() {
        return Confirmed::Busy;
    }
    let is_as_long = file.stat.completed_by(stat).size == stat.size;
    if agree(&file.digests, &hashed.digests) == Some(true) && is_as_long {
        Confirmed::Transient
    } else if agree(digests, &hashed.digests) == Some(true) {
        Confirmed::Same
    } else {
        Confirmed::Unstable
    }
}

fn read_past_cache(
    path: &Path,
    algorithms: Algorithms,
    options: &engine::Options,
    goes_on: &dyn Fn() -> bool,
) -> Result<Hashed, Error> {
    let read = |io| {
        let mut options = options.clone();
        (options.threads, options.io, options.delivery) = (1, io, Delivery::InOrder);
        // It is counted already.
        options.progress = None;
        let job = Job { source: Source::Regular(path.to_owned()), algorithms, context: () };
        let mut job = Some(job);
        // An iterator of unknown length is read in another thread, so that this one can steer.
        let mut run = engine::run(&options, iter::from_fn(move || job.take()));
        loop {
            match run.next_within(LOOK) {
                Some(outcome) => return outcome.result,
                // Nothing is said of what was not read to its end.
                None if run.is_at_end() || !goes_on() => return Err(Error::Changed),
                None => {}
            }
        }
    };
    match read(Io::Direct) {
        Err(Error::NoDirect) => {
            let file = OpenFile::open(path)?;
            // What is not dropped, because somebody has it mapped or it is still to be written, is
            // read from memory once more.
            let _ = fadvise(&file, 0, None, Advice::DontNeed);
            read(Io::Read)
        }
        result => result,
    }
}
