//! A run at work: what it is to read is read, as whoever steers says, and taken; whether it is what
//! a row means ([`place`]), and what became of it ([`verdict`]).

mod place;
mod verdict;

pub(crate) use verdict::of_row;

use std::collections::{HashMap, HashSet};
use std::io;
use std::iter;
use std::mem;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use lanesum_checksum::engine::{self, Delivery, Outcome, Pace, look_at};
use lanesum_checksum::{Error, Job};
use lanesum_list::Digests;

use crate::batch::Batch;
use crate::class::{Class, Status};
use crate::finding::Finding;
use crate::jobs::{Limits, Task, job_of_new, job_of_row};
use crate::long::Chain;
use crate::mounts::{MountTable, Mounts};
use crate::moves::{Gone, Moves};
use crate::options::{Options, Verb};
use crate::pressure::Pressure;
use crate::rows::File;
use crate::scan::{Other, prefix_len};
use crate::sighting::Sightings;
use crate::stat::{Stat, tells_births};
use crate::summary::Halt;
use crate::way::There;
use crate::{Catalog, CatalogError};

/// What is being written to is tried so often again, after all else.
const TRIES: u32 = 3;

/// How long an outcome is waited for before there is a look at what is to be committed.
const LOOK: Duration = Duration::from_millis(200);

const WRITTEN: &str = "somebody is writing to it";
/// Whoever is told of findings.
pub(crate) type Tell<'a> = &'a mut dyn FnMut(&Finding) -> io::Result<()>;

fn inode_at(path: &Path) -> Option<[u64; 2]> {
    let metadata = std::fs::metadata(path).ok()?;
    Some([metadata.dev(), metadata.ino()])
}

pub(crate) struct Work<'a> {
    pub(crate) catalog: &'a mut Catalog,
    pub(crate) verb: Verb,
    pub(crate) options: &'a Options,
    pub(crate) batch: Batch,
    /// Of the rows that are not well.
    pub(crate) statuses: HashMap<i64, Status>,
    pub(crate) gone: Gone,
    pub(crate) moves: Moves,
    /// By new names the rows whose file they lead to as well.
    pub(crate) kin: HashMap<Vec<u8>, File>,
    /// Files that were seen to be damaged.
    pub(crate) sightings: Sightings,
    /// Numbers of files that several rows lead to.
    pub(crate) shared: HashSet<i64>,
    /// By the numbers that they are cataloged with, rows whose file has several names, or lies in
    /// another place.
    pub(crate) owners: HashMap<i64, Other>,
    /// Ids of rows that are judged once all others are that lead to the same file.
    deferred: HashSet<i64>,
    pub(crate) limits: Arc<Limits>,
    /// Whether all is new, and so not worth a word.
    pub(crate) is_first: bool,
    /// Files that were inserted, to be told once it is known whether they are copies.
    pub(crate) inserted: Vec<(Vec<u8>, Stat, Digests)>,
    pub(crate) mounts: Vec<Vec<u8>>,
    /// Those of them that a row is below.
    pub(crate) hiding: Vec<Vec<u8>>,
    /// Rows below what is mounted, which were to be read.
    pub(crate) hidden: u64,
    /// Why it ends before all is read.
    pub(crate) halt: Option<Halt>,
    /// Device and inode of the root when it began: the cheap half of whether it is there still.
    place: Option<[u64; 2]>,
    /// Whether the file system says when files were made.
    pub(crate) births_are_known: bool,
    /// What is mounted below it, as of when that was looked up last.
    below: Option<Mounts>,
    looked: Option<Instant>,
    table: MountTable,
    /// Whether something was mounted or unmounted since the last commit.
    mounts_have_changed: bool,
    /// Why the root is not there any more.
    pub(crate) vanished: Option<String>,
    pace: Pace,
    pressure: Pressure,
    /// When it was looked last how it is to behave.
    steered: Option<Instant>,
    /// Whether indices were held against rows.
    pub(crate) is_shape_right: bool,
    /// Whether a scrub looked at all of the root, since a file was missing.
    pub(crate) is_looked_over: bool,
    /// The numbers of files without a row, once a scrub has looked for them.
    pub(crate) new_numbers: Option<HashSet<i64>>,
    /// Where the rows were found that have another name, by their ids.
    pub(crate) elsewhere: HashMap<i64, Box<[u8]>>,
    /// Of rows that were not told last in their places, the other names under which they were, or
    /// none where they were told to be gone; none of it before it is asked.
    told_elsewhere: Option<HashMap<Vec<u8>, Option<Vec<u8>>>>,
    /// Ids of the rows that stand as changed so that it may be rot, once that is asked.
    perhaps_rotted: Option<HashSet<i64>>,
    /// Files that were not in their places when these were looked at, and are to be read: under
    /// another name, or since they are back.
    later: Vec<File>,
    /// Of which a part was read, in this run or before.
    pub(crate) begun: HashSet<i64>,
    /// Whether the file that was judged last differs, and the reading that confirms it was ended.
    pub(crate) is_unconfirmed: bool,
    busy: Vec<(PathBuf, Option<Box<File>>)>,
    tries: u32,
    /// Long files that are being read.
    pub(crate) chain: Option<Arc<Chain>>,
    /// When the first byte was read of the one that is being judged, if that was not now.
    pub(crate) began: Option<i64>,
    tell: Tell<'a>,
}

impl<'a> Work<'a> {
    pub(crate) fn new(
        catalog: &'a mut Catalog,
        verb: Verb,
        options: &'a Options,
        batch: Batch,
        table: MountTable,
        tell: Tell<'a>,
    ) -> Self {
        Self {
            catalog,
            verb,
            options,
            statuses: HashMap::new(),
            gone: Gone::default(),
            moves: Moves::default(),
            kin: HashMap::new(),
            sightings: Sightings::default(),
            shared: HashSet::new(),
            owners: HashMap::new(),
            deferred: HashSet::new(),
            limits: Arc::default(),
            is_first: false,
            inserted: Vec::new(),
            mounts: Vec::new(),
            hiding: Vec::new(),
            hidden: 0,
            halt: None,
            place: inode_at(&batch.root.path),
            births_are_known: tells_births(&batch.root.path),
            below: None,
            looked: None,
            table,
            mounts_have_changed: false,
            batch,
            vanished: None,
            pace: options.engine.pace.clone().unwrap_or_default(),
            pressure: Pressure::default(),
            steered: None,
            is_shape_right: false,
            is_looked_over: false,
            new_numbers: None,
            elsewhere: HashMap::new(),
            told_elsewhere: None,
            perhaps_rotted: None,
            later: Vec::new(),
            begun: HashSet::new(),
            is_unconfirmed: false,
            busy: Vec::new(),
            tries: 0,
            chain: None,
            began: None,
            tell,
        }
    }

    /// Seconds since 1970. That a check was at 0 says that there was none.
    pub(crate) fn now(&self) -> i64 {
        (self.options.clock)().max(1)
    }

    /// A time before the first byte was read of what is being judged: what is at rest then was
    /// whole, however long it took to read it.
    fn began(&self) -> i64 {
        self.began.unwrap_or(self.batch.run.started)
    }

    /// Commits, and tells what is on the medium then.
    pub(crate) fn commit(&mut self) -> Result<(), CatalogError> {
        self.look_at_root()?;
        self.take_back_what_was_mounted()?;
        let told = self.batch.commit(&mut self.catalog.db)?;
        told.iter().try_for_each(|finding| (self.tell)(finding)).map_err(CatalogError::Told)
    }

    /// Reads, and what is being written to once more; whether all was done.
    pub(crate) fn read(
        &mut self,
        jobs: impl Iterator<Item = Job<Task>> + Send + 'static,
    ) -> Result<bool, CatalogError> {
        self.tries = 0;
        let mut is_done = self.read_once(jobs)?;
        while is_done && !self.busy.is_empty() {
            self.tries += 1;
            let again = mem::take(&mut self.busy).into_iter().map(|(path, file)| match file {
                Some(file) => job_of_row(&self.batch.root, *file),
                None => {
                    let stat = look_at(&path).ok().and_then(|stat| Stat::of(&stat));
                    let stat = stat.as_ref().map(|(stat, _)| stat);
                    let algorithms = self.algorithms_of(&self.below(&path), stat);
                    job_of_new(path, algorithms)
                }
            });
            let again: Vec<_> = again.collect();
            is_done = self.read_once(again.into_iter())?;
        }
        Ok(is_done && !self.limits.is_reached())
    }

    /// Reads what was not in its place, and is elsewhere or back.
    pub(crate) fn read_later(&mut self) -> Result<bool, CatalogError> {
        let later = mem::take(&mut self.later);
        let (root, limits) = (self.batch.root.clone(), Arc::clone(&self.limits));
        let allowed = later.into_iter().take_while(move |file| limits.allow(file.stat.size));
        self.read(allowed.map(move |file| job_of_row(&root, file)))
    }

    fn read_once(
        &mut self,
        jobs: impl Iterator<Item = Job<Task>> + Send + 'static,
    ) -> Result<bool, CatalogError> {
        let mut options = self.engine();
        // One long file must not hold up what others have proved.
        options.delivery = Delivery::AsTheyCome;
        options.detect_changes = true;
        let progress = Arc::clone(options.progress.get_or_insert_default());
        let bytes = || progress.bytes.load(Ordering::Relaxed);
        let (before, known) = (bytes(), self.batch.run.bytes);
        let mut jobs = jobs;
        // An iterator of unknown length is read in other threads, so that this one can steer.
        let mut run = engine::run(&options, iter::from_fn(move || jobs.next()));
        loop {
            match run.next_within(LOOK) {
                Some(outcome) => {
                    self.take(outcome)?;
                    if let Some(chain) = &self.chain {
                        chain.note(&run.media());
                    }
                }
                None if run.is_at_end() => break,
                None => {}
            }
            if self.batch.is_due() {
                self.commit()?;
            }
            if self.limits.is_late() || !self.steer()? || self.vanished.is_some() {
                run.stopper().stop();
            }
        }
        let is_done = run.finish().is_ok();
        if !is_done {
            // Also what was read of files that were not read to their end.
            let read = known.saturating_add_unsigned(bytes().wrapping_sub(before));
            self.batch.run.bytes = self.batch.run.bytes.max(read);
        }
        self.commit()?;
        Ok(is_done)
    }

    /// How files are read: a scrub at its pace.
    fn engine(&self) -> engine::Options {
        let mut options = self.options.engine.clone();
        if self.verb == Verb::Scrub {
            options.pace = Some(self.pace.clone());
        }
        options
    }

    /// Behaves as whoever steers says; whether to go on.
    pub(crate) fn steer(&mut self) -> Result<bool, CatalogError> {
        if self.steered.is_some_and(|at| at.elapsed() < LOOK) {
            return Ok(self.halt.is_none());
        }
        let is_first = self.steered.replace(Instant::now()).is_none();
        if self.options.goes_on.as_ref().is_some_and(|goes_on| !goes_on.says()) {
            self.halt.get_or_insert(Halt::Ended);
        }
        if self.verb == Verb::Scrub {
            let manners = self.catalog.manners(&self.batch.root)?;
            let (now, zone) = (self.now(), &self.options.zone);
            let is_open = manners.window.is_none_or(|window| window.is_open(now, zone));
            if let Some(since) = manners.paused {
                self.halt.get_or_insert(Halt::Paused(since));
            } else if !is_open && !self.options.at_any_time {
                self.halt.get_or_insert(Halt::Closed);
            }
            self.pace.set_rate(manners.rate);
            if self.options.yields && !is_first {
                self.pressure.look(&self.pace);
            }
        }
        if self.halt.is_some() {
            self.limits.reach();
        }
        Ok(self.halt.is_none())
    }

    fn take(&mut self, outcome: Outcome<Task>) -> Result<(), CatalogError> {
        if self.vanished.is_some() {
            return Ok(());
        }
        let Outcome { source, context, result, .. } = outcome;
        let path = source.path().unwrap_or(Path::new("")).to_owned();
        if let Ok(hashed) = &result {
            self.batch.run.files += i64::from(source.path().is_some() && hashed.midstate.is_none());
            self.batch.run.bytes = self.batch.run.bytes.saturating_add_unsigned(hashed.bytes);
        }
        let Some(context) = self.in_place(&path, context, &result)? else { return Ok(()) };
        match (context, result) {
            (Task::Failed(error), _) => Err(error),
            (Task::Mount(path), _) => {
                let below = self.below(&path);
                self.mounts.push(below);
                Ok(())
            }
            (Task::Gone(file), _) => match self.look_again(&file.path())? {
                There::Mount(mount) => self.hide(mount, file.id),
                There::Gone => self.miss(&file),
                There::File => {
                    self.later.push(*file);
                    Ok(())
                }
            },
            (Task::Hidden(mount, id), _) => self.hide(mount, id),
            (Task::Unreadable(path, why), _) => {
                let finding = Finding::new(Class::Unreadable, self.below(&path)).because(why);
                self.found(finding);
                Ok(())
            }
            (Task::Row(file), result) => {
                if self.begun.remove(&file.id) {
                    self.batch.is_read_through(file.id);
                }
                self.take_row(&path, *file, result)
            }
            (Task::Long(long, ticket), result) => self.take_stretch(*long, &ticket, result),
            // Of a first run, all of whose files are new, the root alone is looked at, by commits.
            (Task::New, Ok(hashed)) if !self.is_first && self.was_elsewhere(&path, &hashed) => {
                self.is_busy(path, None)
            }
            (Task::New, Ok(hashed)) => self.judge_new(&path, hashed),
            (Task::New, Err(Error::OwnOutput)) => Ok(()),
            (Task::New, Err(error @ Error::NoDirect)) => Err(no_direct(&path, &error)),
            (Task::New, Err(Error::Changed)) => self.is_busy(path, None),
            // It came and went.
            (Task::New, Err(error)) if error.is_not_found() => Ok(()),
            (Task::New, Err(error)) => {
                let finding = Finding::new(Class::Unreadable, self.below(&path));
                self.found(finding.because(error.to_string()));
                Ok(())
            }
        }
    }

    /// A path below the root.
    fn below(&self, path: &Path) -> Vec<u8> {
        let length = prefix_len(&self.batch.root.path);
        path.as_os_str().as_bytes().get(length..).unwrap_or_default().to_vec()
    }

    /// What is being written to is tried again later, or told.
    fn is_busy(&mut self, path: PathBuf, file: Option<Box<File>>) -> Result<(), CatalogError> {
        if self.tries < TRIES {
            self.busy.push((path, file));
            return Ok(());
        }
        if let Some(file) = file {
            return self.tell_busy(&file);
        }
        let below = self.below(&path);
        self.found(Finding::new(Class::Busy, below).because(WRITTEN));
        Ok(())
    }

    pub(crate) fn tell_busy(&mut self, file: &File) -> Result<(), CatalogError> {
        self.batch.count(Class::Busy, 1);
        self.stands(file, of_row(Class::Busy, file).because(WRITTEN))
    }

    /// Notes for whoever shows it that a file is done that was read in stretches.
    pub(crate) fn count_file(&self) {
        if let Some(progress) = &self.options.engine.progress {
            progress.files.fetch_add(1, Ordering::Relaxed);
        }
    }
}

fn no_direct(path: &Path, error: &Error) -> CatalogError {
    let error = io::Error::new(io::ErrorKind::Unsupported, error.to_string());
    CatalogError::io(path)(error)
}
