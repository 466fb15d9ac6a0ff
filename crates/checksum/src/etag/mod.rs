//! The ETags that S3 and stores like it give to files, by how these are uploaded.
//!
//! Of a file in one piece the ETag is its MD5. Of one in parts it is the MD5 of the MD5s of the
//! parts, and their number: `d41d8cd98f00b204e9800998ecf8427e-2`. So it depends on the size of the
//! parts, which every [`Client`] chooses for itself. (A store that encrypts with keys of KMS or of
//! its customers gives ETags that are none of this.)
//!
//! The parts of a file are jobs of the [engine], so they fill the lanes: this is the one MD5 of a
//! single large file that gains by them. Several sizes are computed in one read
//! ([`parts`](self)), and a file that changes while its parts are read is [`Error::Changed`]: all
//! parts are of one version.
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
pub(crate) use search::{Found, Known, Search};
pub(crate) use seen::Seen;

use parts::Cut;

/// One thing to compute the ETags of.
#[derive(Clone, Debug)]
pub struct Input<T> {
    /// What to read. [`Source::Nothing`] only keeps its place; what is no regular file is read as
    /// it comes, when all before it is done; a [part](Source::Extent) has no ETag.
    pub source: Source,
    /// Whatever the caller wants back with the outcome.
    pub context: T,
}

/// What came of an input.
#[derive(Debug)]
#[non_exhaustive]
pub struct Outcome<T> {
    /// The input's source.
    pub source: Source,
    /// The input's context.
    pub context: T,
    /// Its ETags, or why there are none.
    pub result: Result<EtagsOfFile, Error>,
}

/// The ETags of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct EtagsOfFile {
    /// Bytes of the file.
    pub size: u64,
    /// One for each part size that was asked for, in their order.
    pub etags: Vec<Result<Etag, TooManyParts>>,
}

/// Computes the ETags of files, one for each part size, all in one read. The outcomes are the
/// iterator's, in the order of the inputs, as of [`engine::run`].
///
/// Bytes come from a medium once, also with several part sizes, as long as the system's cache has
/// room for a part of each. A part is never read past the cache: with [`Io::Direct`], a file in
/// parts is [`Error::Io`].
#[must_use = "files are read as outcomes are asked for"]
pub fn etags<T, I>(options: &engine::Options, part_sizes: &[PartSize], inputs: I) -> Etags<T>
where
    T: Send + 'static,
    I: Iterator<Item = Input<T>> + Send + 'static,
{
    // Parts come in order; and io_uring reads the beginnings of files, which parts are not.
    let io = if options.io == Io::Uring { Io::Read } else { options.io };
    let options = engine::Options { delivery: Delivery::InOrder, io, ..options.clone() };
    let part_sizes: Arc<[PartSize]> = part_sizes.into();
    let jobs = Jobs { inputs, part_sizes: Arc::clone(&part_sizes), current: None };
    let run = engine::run(&options, jobs);
    Etags { run, options, part_sizes, gatherer: Gatherer::default() }
}

/// The ETags of files, as [`etags`] computes them.
pub struct Etags<T> {
    run: Run<PartOf<T>>,
    options: engine::Options,
    part_sizes: Arc<[PartSize]>,
    gatherer: Gatherer,
}

impl<T: Send + 'static> Etags<T> {
    /// The next outcome; `before_waiting` is called whenever it has to be waited for.
    ///
    /// # Errors
    /// Those of `before_waiting`, and then nothing was waited for.
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

    /// The next outcome if it comes within this time; none at the end, too, as
    /// [`is_at_end`](Self::is_at_end) tells. What is no regular file is read here, for as long as
    /// that takes.
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

    /// Whether no outcome comes any more.
    #[must_use]
    pub fn is_at_end(&self) -> bool {
        self.run.is_at_end()
    }

    /// What an outcome of the engine completes, if it does.
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

    /// Of a file that was read whole, since it was small enough.
    fn whole(&self, source: &Source, hashed: &Hashed) -> Result<EtagsOfFile, Error> {
        if *source == Source::Nothing {
            return Ok(EtagsOfFile::default());
        }
        let (size, digest) = (hashed.bytes, hashed.digests.first().ok_or(Error::Changed)?);
        let etag = |part_size: &PartSize| match part_size.of(size) {
            Ok(Upload::Whole) => Ok(Ok(Etag { digest: *digest, parts: None })),
            // It has grown since somebody looked.
            Ok(Upload::Parts(_)) => Err(Error::Changed),
            Err(too_many) => Ok(Err(too_many)),
        };
        let etags = self.part_sizes.iter().map(etag).collect::<Result<_, Error>>()?;
        Ok(EtagsOfFile { size, etags })
    }

    /// Of what gives its bytes once.
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

/// What is to come of an input.
struct EtagPlan<T> {
    source: Source,
    context: T,
    size: u64,
    /// Of each part size the number of its cut, which several may share.
    cuts: Vec<Result<usize, TooManyParts>>,
}

impl<T> EtagPlan<T> {
    /// The ETag of each part size from those of the cuts.
    fn sort(&self, etags: &[Etag]) -> EtagsOfFile {
        let of = |cut: &Result<usize, TooManyParts>| cut.map(|cut| etags[cut]);
        EtagsOfFile { size: self.size, etags: self.cuts.iter().map(of).collect() }
    }
}

/// What a job is about.
enum PartOf<T> {
    /// A file that is in one piece whatever the part size; nothing; or what cannot be looked at, of
    /// which the engine tells why.
    Whole(Box<EtagPlan<T>>),
    Parts(PartNote<Box<EtagPlan<T>>>),
    /// What is to be read when it is its turn.
    Alone(Box<EtagPlan<T>>),
}

/// The inputs as jobs of the engine.
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
                    self.current = Some(FileParts::new(path, seen, &cuts, plan));
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
    /// Cuts a file of so many bytes, once for all part sizes that come to the same.
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
