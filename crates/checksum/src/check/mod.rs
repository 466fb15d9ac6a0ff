//! Checks lists: turns their lines into jobs, and the outcomes into verdicts.
//!
//! All lists together are one run of the [engine], read while the files of the lines
//! before are hashed: the next list's files are under way before the last of this list is done, so
//! many small lists go as fast as one long one, and a list of any length takes the same memory.
//! Lines that have no file, and the beginning and the end of a list, go through the engine as jobs
//! that read nothing. So every event comes in the order of the lists and of their lines.
//!
//! Consecutive lines about one file, of several algorithms as a rule, are one job: it is read once,
//! and each line is judged by itself. To see whether the next line is one of them never waits for
//! it. Lines about one file that stand far apart share its read as well (`shared.rs`).
//!
//! An object in a list of S3 whose ETag is of several parts says nothing of their size: that is
//! looked for among what is likely (`etags.rs`), and what held for one file is tried first for the
//! next.
//!
//! Only a list that is written while it is read, line by line into a pipe, takes a run for as much
//! of it as is there: its writer may wait for the verdict on a line before it writes the next.

mod etags;
mod format;
mod jobs;
mod lists;
mod shared;
mod verdicts;

use std::convert::Infallible;
use std::ffi::OsStr;
use std::fmt;
use std::ops::AddAssign;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use lanesum_list::Dialect;
use lanesum_list::formats::{Kind, Wrong};

use crate::engine::{self, Delivery, Run};
use crate::etag::PartSize;
use crate::journal::Journal;
use crate::{Algorithms, Error, Job, Outcome};

pub use format::FormatOfList;
pub use jobs::files;
use jobs::{Jobs, Note};
pub use lists::{List, ListError};
use shared::SharedReads;
use verdicts::Verdicts;

/// How lists are checked: the defaults, changed field by field.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// Which lines the lists may hold.
    pub dialect: Dialect,
    /// How lists are told from other files.
    pub recognition: Recognition,
    /// The format of all lists. Without it each is recognised by its start, or as a manifest of
    /// BagIt by its name and the `bagit.txt` beside it. As to [`Recognition::Gnu`] it does not
    /// count.
    pub from: Option<Kind>,
    /// The name of the one file that a list in the format [`Kind::S3`] does not name, as of `aws
    /// s3api head-object`.
    pub name: Option<Vec<u8>>,
    /// How files are cut whose ETag is of several parts: what is tried before what clients do. The
    /// default is none.
    pub part_sizes: Vec<PartSize>,
    /// The directory that every name is looked up in, those that begin with `/` too. Without it
    /// names are as they stand, and `-` is standard input.
    pub root: Option<PathBuf>,
    /// Names are looked up in the directory of their list, whatever the list itself says, but for
    /// those that begin with `/`. [`Self::root`] comes first; of [`List::Stdin`] it does not count.
    pub beside: bool,
    /// What a check that was interrupted has verified: files that did not change since are not read
    /// again. What matches its lines is kept there in turn; whoever sees the end of the check
    /// removes it. Lines with nothing but an ETag of several parts are always read. The default is
    /// none.
    pub journal: Option<Arc<Journal>>,
    /// A file that does not exist is [`Verdict::Missing`], not [`Verdict::Unreadable`].
    pub ignore_missing: bool,
    /// How the files are read and hashed. Events come in order, whatever its
    /// [`delivery`](engine::Options::delivery) says.
    pub engine: engine::Options,
}

/// Lists of any algorithm, told from other files; names are as they stand.
impl Default for Options {
    fn default() -> Self {
        Self {
            dialect: Dialect::any(),
            recognition: Recognition::Examined,
            from: None,
            name: None,
            part_sizes: Vec::new(),
            root: None,
            beside: false,
            journal: None,
            ignore_missing: false,
            engine: engine::Options::default(),
        }
    }
}

impl Options {
    /// Where the file of a name is looked for.
    #[must_use]
    pub fn path(&self, name: &[u8]) -> PathBuf {
        let path = Path::new(OsStr::from_bytes(name));
        match &self.root {
            None => path.to_owned(),
            Some(root) => root.join(path.strip_prefix("/").unwrap_or(path)),
        }
    }

    /// Where the file of a name is looked for in a list that says of a directory that names are in
    /// it, or whose [place](FormatOfList::folder) says so.
    #[must_use]
    pub fn path_in(&self, name: &[u8], told: Option<&[u8]>, place: Option<&Path>) -> PathBuf {
        let path = self.path(name);
        let told = told.map(|folder| Path::new(OsStr::from_bytes(folder)));
        let folder = if self.beside { place.or(told) } else { told.or(place) };
        match folder {
            Some(folder) if self.root.is_none() => folder.join(path),
            _ => path,
        }
    }
}

/// How lists are told from other files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Recognition {
    /// A list in UTF-16 or of binary data is an error, a byte order mark is passed over, and each
    /// list has a form of its own.
    Examined,
    /// As GNU md5sum: whatever is no checksum line is malformed, and the first untagged line of all
    /// the lists decides whether they are of the reversed form.
    Gnu,
}

/// What happened next in a list.
#[derive(Debug)]
pub enum Event {
    /// A line is neither an entry nor a comment.
    Malformed {
        /// Its number, from 1.
        line: u64,
    },
    /// What begins in a line must not stand in a list of its format.
    Wrong {
        /// Its number, from 1.
        line: u64,
        /// What is wrong with it.
        why: Wrong,
    },
    /// The next file has the name that stands in the list, not the one that its format makes of
    /// that: whatever wrote the list does not encode names.
    NotEncoded {
        /// The name.
        name: Vec<u8>,
    },
    /// The next file has the ETag that stands in the list.
    PartSize {
        /// Bytes of the parts that it was found to be of.
        part_size: u64,
    },
    /// A line is of an algorithm that is not known here, so its file was not checked. Of
    /// [`Recognition::Gnu`] it is malformed.
    Unknown {
        /// Its number, from 1.
        line: u64,
        /// What the line calls the algorithm.
        algorithm: String,
    },
    /// A line was compared with its file.
    Checked {
        /// Its name in the list, byte for byte.
        name: Vec<u8>,
        /// The directory that the list says names are in, where it does.
        folder: Option<Vec<u8>>,
        /// How it compares.
        verdict: Verdict,
    },
    /// The list is at its end, or could not be read further.
    End {
        /// What was counted in it.
        tally: Tally,
        /// Why it was not read to its end.
        error: Option<ListError>,
    },
}

/// How a file compares with its line.
#[derive(Debug)]
pub enum Verdict {
    /// The digests are those in the list, and the size is, if it is there.
    Match,
    /// A digest is another one.
    Mismatch,
    /// The size is another one.
    OtherSize {
        /// The one in the list, in bytes.
        listed: u64,
        /// That of the file.
        found: u64,
    },
    /// Nothing but its size is in the list, which is right, and proves nothing.
    Unproven,
    /// Nothing but an ETag of several parts is in the list, and none of the likely part sizes gives
    /// it. It may be of others, or no MD5 of anything, as where a store encrypts with keys of KMS
    /// or of its customers.
    OtherParts {
        /// How many part sizes were tried.
        tried: usize,
    },
    /// The file does not exist, and that is to be ignored.
    Missing,
    /// There is no digest that one could trust. Lines whose file was read once have one reason.
    Unreadable(Arc<Error>),
}

/// How many lines of a list were what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tally {
    /// Lines that are neither entry nor comment.
    pub malformed: u64,
    /// Those of them that are a digest of as many digits as an algorithm has, without a name.
    pub nameless: u64,
    /// What must not stand in a list of its format.
    pub wrong: u64,
    /// Lines of algorithms that are not known here.
    pub unknown: u64,
    /// Entries whose file has the digest.
    pub matched: u64,
    /// Entries whose file has another digest or size.
    pub mismatched: u64,
    /// Entries of which nothing but the size is known, which their file has.
    pub unproven: u64,
    /// Entries whose file is missing, when that is ignored.
    pub missing: u64,
    /// Entries whose file could not be read.
    pub unreadable: u64,
    /// Files that were read for the entries, but for missing ones. One that was read once for
    /// several counts with the first, in whichever list that is, and so does one of entries that
    /// follow one another, however often it is read for them. One that is read again after another
    /// file counts again.
    pub files: u64,
    /// The bytes of those files, counted as they are.
    pub bytes: u64,
    /// Files that [`Options::journal`] knew, so that they were not read.
    pub resumed: u64,
    /// The algorithms of lines that name theirs.
    pub tagged: Compared,
    /// What other lines were taken for.
    pub untagged: Compared,
    /// ETags of files that are of their size: MD5, whatever their parts. One of which only likely
    /// part sizes were tried does not count among those that do not match.
    pub etags: Compared,
}

/// The algorithms of lines that were compared with their files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Compared {
    /// Of those that match.
    pub matched: Algorithms,
    /// Of those that do not.
    pub mismatched: Algorithms,
}

impl Compared {
    /// Those of which not one line matches: the lines may be of another algorithm, or of another
    /// key.
    #[must_use]
    pub const fn doubtful(&self) -> Algorithms {
        self.mismatched.difference(self.matched)
    }
}

impl AddAssign for Compared {
    fn add_assign(&mut self, other: Self) {
        self.matched = self.matched.union(other.matched);
        self.mismatched = self.mismatched.union(other.mismatched);
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.malformed += other.malformed;
        self.nameless += other.nameless;
        self.wrong += other.wrong;
        self.unknown += other.unknown;
        self.matched += other.matched;
        self.mismatched += other.mismatched;
        self.unproven += other.unproven;
        self.missing += other.missing;
        self.unreadable += other.unreadable;
        self.files += other.files;
        self.bytes += other.bytes;
        self.resumed += other.resumed;
        self.tagged += other.tagged;
        self.untagged += other.untagged;
        self.etags += other.etags;
    }
}

impl Tally {
    /// Lines that name a file and its digest, or its size.
    #[must_use]
    pub const fn entries(&self) -> u64 {
        self.matched + self.mismatched + self.unproven + self.missing + self.unreadable
    }
}

/// Checks the lists; gives each list with what happened in it, in the order of the lists and their
/// lines, [`Event::End`] once for each list.
///
/// ```
/// use lanesum_checksum::check::{Event, List, Options, check};
///
/// let folder = tempfile::tempdir()?;
/// std::fs::write(folder.path().join("a"), "abc")?;
/// let list = folder.path().join("list");
/// std::fs::write(&list, "900150983cd24fb0d6963f7d28e17f72  a\n")?;
///
/// let mut options = Options::default();
/// options.root = Some(folder.path().to_owned());
/// let mut matched = 0;
/// for (_list, event) in check([List::Path(list)].into_iter(), &options) {
///     if let Event::End { tally, .. } = event {
///         matched += tally.matched;
///     }
/// }
/// assert_eq!(matched, 1);
/// # Ok::<(), std::io::Error>(())
/// ```
#[must_use = "lists are checked as events are asked for"]
pub fn check<L>(lists: L, options: &Options) -> Check<L>
where
    L: Iterator<Item = List> + Clone + Send + 'static,
{
    let shared = SharedReads::find(lists.clone(), options);
    // The end of a list is an outcome behind those of its lines.
    let engine = engine::Options { delivery: Delivery::InOrder, ..options.engine.clone() };
    let jobs = Jobs::new(lists, options, shared);
    let verdicts = Verdicts::new(options, jobs.known().clone(), engine.clone());
    Check { jobs: Arc::new(Mutex::new(jobs)), engine, run: None, verdicts }
}

/// What happens in lists that are [checked](check()), event by event, each with its list.
///
/// To drop it ends the check.
pub struct Check<L: Iterator<Item = List>> {
    jobs: Arc<Mutex<Jobs<L>>>,
    engine: engine::Options,
    run: Option<Run<Note>>,
    verdicts: Verdicts,
}

impl<L: Iterator<Item = List> + Send + 'static> Check<L> {
    /// The next event if it comes within this time, as [`Run::next_within`] gives outcomes. None at
    /// the end, too.
    pub fn next_within(&mut self, patience: Duration) -> Option<(Arc<List>, Event)> {
        let Ok(event) = self.ask(|run| Ok::<_, Infallible>(run.next_within(patience)));
        event
    }

    /// The next event; `before_waiting` is called whenever it has to be waited for.
    ///
    /// # Errors
    /// Those of `before_waiting`, and then nothing was waited for.
    pub fn next_or_wait<E>(
        &mut self,
        mut before_waiting: impl FnMut() -> Result<(), E>,
    ) -> Result<Option<(Arc<List>, Event)>, E> {
        self.ask(|run| run.next_or_wait(&mut before_waiting))
    }

    /// The next event, with a way to ask a run for an outcome.
    fn ask<E>(
        &mut self,
        mut outcome: impl FnMut(&mut Run<Note>) -> Result<Option<Outcome<Note>>, E>,
    ) -> Result<Option<(Arc<List>, Event)>, E> {
        loop {
            if let Some(event) = self.verdicts.next() {
                return Ok(Some(event));
            }
            let Some(run) = self.run() else { return Ok(None) };
            match outcome(run)? {
                Some(outcome) => self.verdicts.take(outcome),
                None if run.is_at_end() => self.run = None,
                None => return Ok(None),
            }
        }
    }

    /// The run of the jobs that come next; none at the end.
    fn run(&mut self) -> Option<&mut Run<Note>> {
        if self.run.is_none() && lock(&self.jobs).resume() {
            self.run = Some(engine::run(&self.engine, JobsOfRun(Arc::clone(&self.jobs))));
        }
        self.run.as_mut()
    }
}

impl<L: Iterator<Item = List> + Send + 'static> Iterator for Check<L> {
    type Item = (Arc<List>, Event);

    fn next(&mut self) -> Option<(Arc<List>, Event)> {
        let Ok(event) = self.ask(|run| Ok::<_, Infallible>(run.next()));
        event
    }
}

impl<L: Iterator<Item = List>> fmt::Debug for Check<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Check").field("run", &self.run).finish_non_exhaustive()
    }
}

/// The jobs of one run. A run ends where the next job has to wait for what comes of those before.
struct JobsOfRun<L: Iterator<Item = List>>(Arc<Mutex<Jobs<L>>>);

impl<L: Iterator<Item = List>> Iterator for JobsOfRun<L> {
    type Item = Job<Note>;

    fn next(&mut self) -> Option<Job<Note>> {
        lock(&self.0).next()
    }
}

/// One thread at a time has the jobs: that of a run, or between two runs the caller's.
fn lock<L: Iterator<Item = List>>(jobs: &Mutex<Jobs<L>>) -> MutexGuard<'_, Jobs<L>> {
    jobs.lock().unwrap_or_else(PoisonError::into_inner)
}
