//! Checks lists: turns their lines into jobs, and the outcomes into verdicts.
//!
//! All lists are one run of the [engine]. Lines are read while the files of previous lines are
//! hashed. So many small lists are as fast as one long list, and a list of any length needs the
//! same memory. Lines without a file, and the start and the end of a list, are jobs that read
//! nothing. So all events are in the order of the lists and of their lines.
//!
//! Consecutive lines about one file, usually with several algorithms, are one job: the file is read
//! once, and each line gets its own verdict. The check never waits for the next line to find out.
//! Lines about one file that are far apart share its read as well (`shared.rs`).
//!
//! A multipart ETag in an S3 list does not contain the part size. The check tries likely sizes
//! (`etags.rs`), and first those that matched previous files.
//!
//! A list that is written line by line into a pipe needs one run for each available part, because
//! its writer may wait for the verdict on a line before it writes the next one.

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

/// The options of a check. Start from the defaults and change fields.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// The lines that the lists may contain.
    pub dialect: Dialect,
    /// How lists are distinguished from other files.
    pub recognition: Recognition,
    /// The format of all lists. Without it the format of each list is detected by its start. A
    /// BagIt manifest is detected by its name and the `bagit.txt` next to it. Ignored with
    /// [`Recognition::Gnu`].
    pub from: Option<Kind>,
    /// The name of the single file in a list of the format [`Kind::S3`] without a name, as printed
    /// by `aws s3api head-object`.
    pub name: Option<Vec<u8>>,
    /// Part sizes to try first for multipart ETags, before those of known clients.
    /// Empty by default.
    pub part_sizes: Vec<PartSize>,
    /// The directory of all names, including those that start with `/`. Without it names are used
    /// unchanged, and `-` is standard input.
    pub root: Option<PathBuf>,
    /// Whether names are relative to the directory of their list, even if the list names another
    /// directory. Names that start with `/` are used unchanged. [`Self::root`] has precedence.
    /// Ignored for [`List::Stdin`].
    pub beside: bool,
    /// Whether a line of a list `NAME.md5` with the file name of NAME is about NAME, even if it has
    /// other directories. The same holds for other algorithms. A list that is one digest without a
    /// name is always about NAME. The default is false.
    pub side_files: bool,
    /// The journal of an interrupted check. Files that have not changed since are not read again,
    /// and matching files are added to the journal. The caller removes it at the end of the check.
    /// Files of lines with only a multipart ETag are always read. By default there is no journal.
    pub journal: Option<Arc<Journal>>,
    /// Whether a file that does not exist is [`Verdict::Missing`] instead of
    /// [`Verdict::Unreadable`].
    pub ignore_missing: bool,
    /// How the files are read and hashed. Events are in order for any
    /// [`delivery`](engine::Options::delivery).
    pub engine: engine::Options,
}

/// Accepts lists of any algorithm, detects files that are not lists, and uses names unchanged.
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
            side_files: false,
            journal: None,
            ignore_missing: false,
            engine: engine::Options::default(),
        }
    }
}

impl Options {
    /// Returns the path of the file of a name.
    #[must_use]
    pub fn path(&self, name: &[u8]) -> PathBuf {
        let path = Path::new(OsStr::from_bytes(name));
        match &self.root {
            None => path.to_owned(),
            Some(root) => root.join(path.strip_prefix("/").unwrap_or(path)),
        }
    }

    /// Returns the path of the file of a name in a list that names a directory, or whose
    /// [place](FormatOfList::folder) determines one.
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

/// How lists are distinguished from other files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Recognition {
    /// Files in UTF-16 or with binary data are errors, a byte order mark is skipped, and each list
    /// has its own form.
    Examined,
    /// As in GNU md5sum: all invalid lines are skipped, and the first untagged line of all lists
    /// decides whether the lists have the reversed form.
    Gnu,
}

/// An event of a check.
#[derive(Debug)]
pub enum Event {
    /// A line is neither an entry nor a comment.
    Malformed {
        /// The line number, from 1.
        line: u64,
    },
    /// A record that starts in a line is invalid in the format of its list.
    Wrong {
        /// The line number, from 1.
        line: u64,
        /// The error of the record.
        why: Wrong,
    },
    /// The next file has the literal name in the list, because the program that wrote the list does
    /// not encode names.
    NotEncoded {
        /// The name.
        name: Vec<u8>,
    },
    /// The next file is standard input, which may be a terminal.
    StandardInput,
    /// The next file matches the ETag in the list.
    PartSize {
        /// The part size in bytes that gives this ETag.
        part_size: u64,
    },
    /// A line has an unsupported algorithm, so its file was not checked. With [`Recognition::Gnu`]
    /// such a line is skipped.
    Unknown {
        /// The line number, from 1.
        line: u64,
        /// The name of the algorithm in the line.
        algorithm: String,
    },
    /// A line was compared with its file.
    Checked {
        /// The name in the list, byte for byte.
        name: Vec<u8>,
        /// The directory that the list names, if any.
        folder: Option<Vec<u8>>,
        /// The result of the comparison.
        verdict: Verdict,
    },
    /// The list has ended, or could not be read further.
    End {
        /// The counts of the list.
        tally: Tally,
        /// The reason why the list was not read to its end.
        error: Option<ListError>,
    },
}

/// The result of comparing a file with its line.
#[derive(Debug)]
pub enum Verdict {
    /// The digests match and, if the list has it, the size.
    Match,
    /// A digest differs.
    Mismatch,
    /// The size differs.
    OtherSize {
        /// The size in the list, in bytes.
        listed: u64,
        /// The size of the file in bytes.
        found: u64,
    },
    /// The list has only the size, which matches but proves nothing.
    Unproven,
    /// The list has only a multipart ETag, and no likely part size gives it. The upload may have
    /// used another part size. Or the ETag is not computed with MD5, as in stores that encrypt with
    /// KMS or customer keys.
    OtherParts {
        /// The number of part sizes that were tried.
        tried: usize,
    },
    /// The file does not exist, and missing files are ignored.
    Missing,
    /// There is no reliable digest. Lines that share a read share the reason.
    Unreadable(Arc<Error>),
}

/// The counts of the lines of a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tally {
    /// Lines that are neither entry nor comment.
    pub malformed: u64,
    /// Skipped lines that are a digest of the right length without a name.
    pub nameless: u64,
    /// Records that are invalid in the format of the list.
    pub wrong: u64,
    /// Lines of unsupported algorithms.
    pub unknown: u64,
    /// Entries whose file matches.
    pub matched: u64,
    /// Entries whose file has a different digest or size.
    pub mismatched: u64,
    /// Entries with only a size, which matches.
    pub unproven: u64,
    /// Entries whose file is missing, if missing files are ignored.
    pub missing: u64,
    /// Entries whose file could not be read.
    pub unreadable: u64,
    /// Files that were read for the entries, without missing ones. A file that several entries
    /// share counts once, with the first entry in any list. A file that is read again after another
    /// file counts again.
    pub files: u64,
    /// The bytes of these files.
    pub bytes: u64,
    /// Files that were not read because [`Options::journal`] has them.
    pub resumed: u64,
    /// The algorithms of lines that name their algorithm.
    pub tagged: Compared,
    /// The assumed algorithms of other lines.
    pub untagged: Compared,
    /// ETags of files with a matching size, counted as MD5. An ETag does not count as a mismatch if
    /// only likely part sizes were tried.
    pub etags: Compared,
}

/// The algorithms of lines that were compared with their files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Compared {
    /// The algorithms of matching lines.
    pub matched: Algorithms,
    /// The algorithms of lines that do not match.
    pub mismatched: Algorithms,
}

impl Compared {
    /// Returns the algorithms of which no line matches. These lines may have another algorithm or
    /// another key.
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
    /// Returns the number of lines with a file and its digest or size.
    #[must_use]
    pub const fn entries(&self) -> u64 {
        self.matched + self.mismatched + self.unproven + self.missing + self.unreadable
    }
}

/// Checks lists. Returns an iterator of each list with its events, in the order of the lists and
/// their lines. Each list has one [`Event::End`].
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
    // The end of a list is an outcome after those of its lines.
    let engine = engine::Options { delivery: Delivery::InOrder, ..options.engine.clone() };
    let jobs = Jobs::new(lists, options, shared);
    let verdicts = Verdicts::new(options, jobs.known().clone(), engine.clone());
    Check { jobs: Arc::new(Mutex::new(jobs)), engine, run: None, verdicts }
}

/// The iterator of a [check](check()).
///
/// Dropping it ends the check.
pub struct Check<L: Iterator<Item = List>> {
    jobs: Arc<Mutex<Jobs<L>>>,
    engine: engine::Options,
    run: Option<Run<Note>>,
    verdicts: Verdicts,
}

impl<L: Iterator<Item = List> + Send + 'static> Check<L> {
    /// Returns the next event if it arrives within `patience`, like [`Run::next_within`]. Also
    /// returns `None` at the end.
    pub fn next_within(&mut self, patience: Duration) -> Option<(Arc<List>, Event)> {
        let Ok(event) = self.ask(|run| Ok::<_, Infallible>(run.next_within(patience)));
        event
    }

    /// Returns the next event. Calls `before_waiting` whenever it has to wait.
    ///
    /// # Errors
    /// Fails with the error of `before_waiting`, without waiting.
    pub fn next_or_wait<E>(
        &mut self,
        mut before_waiting: impl FnMut() -> Result<(), E>,
    ) -> Result<Option<(Arc<List>, Event)>, E> {
        self.ask(|run| run.next_or_wait(&mut before_waiting))
    }

    /// Returns the next event. `next` asks a run for an outcome.
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

    /// Returns the run of the next jobs, or `None` at the end.
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

/// The jobs of one run. A run ends if the next job must wait for the results of previous ones.
struct JobsOfRun<L: Iterator<Item = List>>(Arc<Mutex<Jobs<L>>>);

impl<L: Iterator<Item = List>> Iterator for JobsOfRun<L> {
    type Item = Job<Note>;

    fn next(&mut self) -> Option<Job<Note>> {
        lock(&self.0).next()
    }
}

/// The jobs are used by one thread at a time: that of a run, or the caller between two runs.
fn lock<L: Iterator<Item = List>>(jobs: &Mutex<Jobs<L>>) -> MutexGuard<'_, Jobs<L>> {
    jobs.lock().unwrap_or_else(PoisonError::into_inner)
}
