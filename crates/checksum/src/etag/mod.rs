//! Computes the ETags of S3 and similar stores, which depend on the upload.
//!
//! The ETag of a file that was uploaded in one piece is its MD5. The ETag of a multipart upload is
//! the MD5 of the joined MD5s of the parts, and their number: `d41d8cd98f00b204e9800998ecf8427e-2`.
//! So it depends on the part size, which every [`Client`] chooses itself. Stores that encrypt with
//! KMS or customer keys return other ETags.
//!
//! The parts of a file are jobs of the [engine] and fill the lanes, so the ETag of a single large
//! file is computed in parallel. Several part sizes are computed in one read ([`parts`](self)). A
//! file that changes while its parts are read is [`Error::Changed`].
//!
//! ```
//! use lanesum_checksum::etag::{Input, etags};
//! use lanesum_checksum::{Source, engine};
//!
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("file");
//! std::fs::write(&path, vec![0; 5_000_000])?;
//!
//! let part_sizes = ["2MiB".parse()?, "aws-cli".parse()?];
//! let inputs = [Input { source: Source::Path(path), context: () }].into_iter();
//! for outcome in etags(&engine::Options::default(), &part_sizes, inputs) {
//!     let found: Vec<_> = outcome.result?.etags.into_iter().map(|etag| etag.unwrap().to_string()).collect();
//!     assert_eq!(found, ["3e8ecaf21163c02c636eb220a482ae9a-3", "8649ae5a732bc808f228677b27a1e9b6"]);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod client;
mod part_size;
mod parts;
mod reader;
mod search;
mod seen;

use std::convert::Infallible;
use std::fmt;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::fd::AsFd as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use lanesum_list::Etag;

use crate::engine::{self, Delivery, Hashed, Io, Job, Run, Source};
use crate::{Algorithm, Algorithms, Error};

pub use client::{Client, UnknownClient};
pub use part_size::{
    LARGEST_PART, LEAST_PART, MOST_PARTS, NoPartSize, PartSize, TooManyParts, Upload, size_name,
};
pub use reader::etags_of_reader;
pub use search::{MOST as MOST_TRIED, of_other_parts};

pub(crate) use parts::{FileParts, Gatherer, PartNote};
pub(crate) use search::{Found, Search, SharedSizes};
pub(crate) use seen::Seen;

use parts::Cut;

/// An input to compute the ETags of.
#[derive(Clone, Debug)]
pub struct Input<T> {
    /// The source. [`Source::Nothing`] only keeps its place. Other inputs than regular files are
    /// read sequentially after all previous ones. A [part](Source::Extent) has no ETag.
    pub source: Source,
    /// Any data to return with the outcome.
    pub context: T,
}

/// The outcome of an input.
#[derive(Debug)]
#[non_exhaustive]
pub struct Outcome<T> {
    /// The source of the input.
    pub source: Source,
    /// The context of the input.
    pub context: T,
    /// The ETags, or an error.
    pub result: Result<EtagsOfFile, Error>,
}

/// The ETags of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct EtagsOfFile {
    /// The size of the file in bytes.
    pub size: u64,
    /// One ETag for each requested part size, in order.
    pub etags: Vec<Result<Etag, TooManyParts>>,
}

/// Computes the ETags of files, one for each part size, in one read. Returns an iterator of
/// outcomes in the order of the inputs, like [`engine::run`].
///
/// Bytes are read from a medium only once, even for several part sizes, as long as the cache has
/// room for a part of each size. With [`Io::Direct`] a file in parts is [`Error::Io`].
#[must_use = "files are read as outcomes are asked for"]
pub fn etags<T, I>(options: &engine::Options, part_sizes: &[PartSize], inputs: I) -> Etags<T>
where
    T: Send + 'static,
    I: Iterator<Item = Input<T>> + Send + 'static,
{
    // Parts come in order. io_uring only reads the starts of files.
    let io = if options.io == Io::Uring { Io::Read } else { options.io };
    let options = engine::Options { delivery: Delivery::InOrder, io, ..options.clone() };
    let part_sizes: Arc<[PartSize]> = part_sizes.into();
    let jobs = Jobs { inputs, part_sizes: Arc::clone(&part_sizes), current: None };
    let run = engine::run(&options, jobs);
    Etags { run, options, part_sizes, gatherer: Gatherer::default() }
}

/// The iterator of [`etags`].
pub struct Etags<T> {
    run: Run<PartOf<T>>,
    options: engine::Options,
    part_sizes: Arc<[PartSize]>,
    gatherer: Gatherer,
}

impl<T: Send + 'static> Etags<T> {
    /// Returns the next outcome. Calls `before_waiting` whenever it has to wait.
    ///
    /// # Errors
    /// Fails with the error of `before_waiting`, without waiting.
    pub fn next_or_wait<E>(
        &mut self,
        mut before_waiting: impl FnMut() -> Result<(), E>,
    ) -> Result<Option<Outcome<T>>, E> {
        while let Some(outcome) = self.run.next_or_wait(&mut before_waiting)? {
            if let PartOf::Alone(_) = outcome.context {
                before_waiting()?;
            }
            if let Some(outcome) = self.take(outcome) {
                return Ok(Some(outcome));
            }
        }
        Ok(None)
    }

    /// Returns the next outcome if it arrives within `patience`. Also returns `None` at the end,
    /// see [`is_at_end`](Self::is_at_end). Inputs other than regular files are read in this call,
    /// which may take longer.
    pub fn next_within(&mut self, patience: Duration) -> Option<Outcome<T>> {
        let begin = Instant::now();
        loop {
            let left = patience.saturating_sub(begin.elapsed());
            let outcome = self.run.next_within(left)?;
            let outcome = self.take(outcome);
            // A file may have thousands of parts.
            if outcome.is_some() || begin.elapsed() >= patience {
                return outcome;
            }
        }
    }

    /// Returns whether all outcomes were returned.
    #[must_use]
    pub fn is_at_end(&self) -> bool {
        self.run.is_at_end()
    }

    /// Returns the outcome that an outcome of the engine completes, if any.
    fn take(&mut self, outcome: engine::Outcome<PartOf<T>>) -> Option<Outcome<T>> {
        let engine::Outcome { context, result, .. } = outcome;
        let (plan, result) = match context {
            PartOf::Parts(note) => {
                let (plan, etags) = self.gatherer.take(note, result, &self.options)?;
                let result = etags.map(|etags| plan.sort(&etags));
                (plan, result)
            }
            PartOf::Whole(plan) => {
                let result = result.and_then(|hashed| self.whole(&plan.source, &hashed));
                (plan, result)
            }
            PartOf::Alone(plan) => {
                let result = self.alone(&plan.source);
                (plan, result)
            }
        };
        let EtagPlan { source, context, .. } = *plan;
        Some(Outcome { source, context, result })
    }

    /// Returns the ETags of a file that was small enough to be read whole.
    fn whole(&self, source: &Source, hashed: &Hashed) -> Result<EtagsOfFile, Error> {
        if *source == Source::Nothing {
            return Ok(EtagsOfFile::default());
        }
        let (size, digest) = (hashed.bytes, hashed.digests.first().ok_or(Error::Changed)?);
        let etag = |part_size: &PartSize| match part_size.of(size) {
            Ok(Upload::Whole) => Ok(Ok(Etag { digest: *digest, parts: None })),
            // It has grown since it was examined.
            Ok(Upload::Parts(_)) => Err(Error::Changed),
            Err(too_many) => Ok(Err(too_many)),
        };
        let etags = self.part_sizes.iter().map(etag).collect::<Result<_, Error>>()?;
        Ok(EtagsOfFile { size, etags })
    }

    /// Returns the ETags of an input that can be read only once.
    fn alone(&self, source: &Source) -> Result<EtagsOfFile, Error> {
        let file = match source {
            Source::Stdin => File::from(io::stdin().as_fd().try_clone_to_owned()?),
            Source::Path(path) => File::open(path)?,
            _ => {
                let why = "a part of a file has no ETag of its own";
                return Err(io::Error::new(ErrorKind::Unsupported, why).into());
            }
        };
        if self.options.taken.contains(&engine::inode_of_file(&file)?) {
            return Err(Error::Taken);
        }
        reader::etags_of_open(&file, &self.part_sizes, self.options.detect_changes)
    }
}

impl<T: Send + 'static> Iterator for Etags<T> {
    type Item = Outcome<T>;

    fn next(&mut self) -> Option<Outcome<T>> {
        let Ok(outcome) = self.next_or_wait(|| Ok::<_, Infallible>(()));
        outcome
    }
}

impl<T> fmt::Debug for Etags<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Etags").field("part_sizes", &self.part_sizes).finish_non_exhaustive()
    }
}

/// The plan of an input.
struct EtagPlan<T> {
    source: Source,
    context: T,
    size: u64,
    /// The index of the cut for each part size. Several sizes may share a cut.
    cuts: Vec<Result<usize, TooManyParts>>,
}

impl<T> EtagPlan<T> {
    /// Returns the ETag of each part size from those of the cuts.
    fn sort(&self, etags: &[Etag]) -> EtagsOfFile {
        let of = |cut: &Result<usize, TooManyParts>| cut.map(|cut| etags[cut]);
        EtagsOfFile { size: self.size, etags: self.cuts.iter().map(of).collect() }
    }
}

/// The role of a job.
enum PartOf<T> {
    /// A file that is in one piece for all part sizes, no input, or an input that cannot be
    /// examined. The engine reports the reason.
    Whole(Box<EtagPlan<T>>),
    Parts(PartNote<Box<EtagPlan<T>>>),
    /// An input to read in its turn.
    Alone(Box<EtagPlan<T>>),
}

/// An iterator of the inputs as jobs of the engine.
struct Jobs<I, T> {
    inputs: I,
    part_sizes: Arc<[PartSize]>,
    /// The file whose parts come next.
    current: Option<FileParts<Box<EtagPlan<T>>>>,
}

impl<T, I> Jobs<I, T> {
    fn next_part(&mut self) -> Option<Job<PartOf<T>>> {
        let Job { source, algorithms, context } = self.current.as_mut()?.next()?;
        Some(Job { source, algorithms, context: PartOf::Parts(context) })
    }
}

impl<T, I: Iterator<Item = Input<T>>> Iterator for Jobs<I, T> {
    type Item = Job<PartOf<T>>;

    fn next(&mut self) -> Option<Job<PartOf<T>>> {
        if let Some(job) = self.next_part() {
            return Some(job);
        }
        let Input { source, context } = self.inputs.next()?;
        let seen = match &source {
            Source::Path(path) | Source::Regular(path) => Seen::at(path),
            _ => Ok(None),
        };
        let mut plan = Box::new(EtagPlan { source, context, size: 0, cuts: Vec::new() });
        let (note, source, algorithms) = match (&plan.source, seen) {
            (Source::Nothing, _) => (PartOf::Whole(plan), Source::Nothing, Algorithms::NONE),
            (Source::Path(path), Ok(Some(seen))) | (Source::Regular(path), Ok(Some(seen))) => {
                let (path, source) = (path.clone(), plan.source.clone());
                let cuts = plan.cut(&self.part_sizes, seen.size);
                if cuts.iter().any(|cut| !cut.is_whole) || cuts.is_empty() {
                    self.current = Some(FileParts::new(path, seen, Algorithm::Md5, &cuts, plan));
                    return self.next_part();
                }
                (PartOf::Whole(plan), source, Algorithm::Md5.into())
            }
            (Source::Regular(_), _) | (Source::Path(_), Err(_)) => {
                let source = plan.source.clone();
                (PartOf::Whole(plan), source, Algorithm::Md5.into())
            }
            _ => (PartOf::Alone(plan), Source::Nothing, Algorithms::NONE),
        };
        Some(Job { source, algorithms, context: note })
    }
}

impl<T> EtagPlan<T> {
    /// Cuts a file of `size` bytes, once for all part sizes with equal parts.
    fn cut(&mut self, part_sizes: &[PartSize], size: u64) -> Vec<Cut> {
        let mut cuts = Vec::new();
        self.size = size;
        for part_size in part_sizes {
            self.cuts.push(part_size.of(size).map(|upload| {
                let cut = match upload {
                    Upload::Whole => Cut::none(size),
                    Upload::Parts(bytes) => Cut::in_parts_of(bytes.get()),
                };
                cuts.iter().position(|known| *known == cut).unwrap_or_else(|| {
                    cuts.push(cut);
                    cuts.len() - 1
                })
            }));
        }
        cuts
    }
}
