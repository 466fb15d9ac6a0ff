//! A run at work: what was read is held against its row, and what comes of that is written and
//! told.

use std::cell::{Cell, RefCell};
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

use lanesum_checksum::engine::{self, Delivery, Hashed, Outcome, Pace};
use lanesum_checksum::{Error, Job};
use lanesum_list::Digests;

use crate::batch::Batch;
use crate::class::{Case, Class, Status, case};
use crate::confirm::{Confirmed, confirm};
use crate::digests::{agree, algorithms};
use crate::finding::Finding;
use crate::jobs::{Limits, Task, job_of_new, job_of_row};
use crate::long::Chain;
use crate::mounts::Mounts;
use crate::moves::{Gone, Moves};
use crate::options::{GoesOn, Options, Verb};
use crate::pressure::Pressure;
use crate::rows::File;
use crate::scan::prefix_len;
use crate::scrub::cost;
use crate::stat::{Stat, may_be_another, tells_births};
use crate::summary::Halt;
use crate::way::{There, Ways};
use crate::{Catalog, CatalogError};

/// What is being written to is tried so often again, after all else.
const TRIES: u32 = 3;

/// How long an outcome is waited for before there is a look at what is to be committed.
const LOOK: Duration = Duration::from_millis(200);

const WRITTEN: &str = "somebody is writing to it";
const UNCONFIRMED: &str =
    "it is not as cataloged; the second reading, which tells whether it rotted, was ended";

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
    pub(crate) limits: Arc<Limits>,
    /// Whether all is new, and so not worth a word.
    pub(crate) is_first: bool,
    /// Files that were inserted, to be told once it is known whether they are copies.
    pub(crate) inserted: Vec<(Vec<u8>, Stat, Digests)>,
    pub(crate) mounts: Vec<Vec<u8>>,
    /// Rows below what is mounted, which were to be read.
    pub(crate) hidden: u64,
    /// Why it ends before all is read.
    pub(crate) halt: Option<Halt>,
    /// Device and inode of the root when it began: the cheap half of whether it is there still.
    place: Option<[u64; 2]>,
    /// Whether the file system says when files were made.
    pub(crate) births_are_known: bool,
    /// What was mounted below it when that was looked up last.
    below: Option<(Instant, Mounts)>,
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
    /// Where the rows were found that have another name, by their ids.
    pub(crate) elsewhere: HashMap<i64, Box<[u8]>>,
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
        tell: Tell<'a>,
    ) -> Self {
        Self {
            catalog,
            verb,
            options,
            statuses: HashMap::new(),
            gone: Gone::default(),
            moves: Moves::default(),
            limits: Arc::default(),
            is_first: false,
            inserted: Vec::new(),
            mounts: Vec::new(),
            hidden: 0,
            halt: None,
            place: inode_at(&batch.root.path),
            births_are_known: tells_births(&batch.root.path),
            below: None,
            batch,
            vanished: None,
            pace: options.engine.pace.clone().unwrap_or_default(),
            pressure: Pressure::default(),
            steered: None,
            is_shape_right: false,
            is_looked_over: false,
            elsewhere: HashMap::new(),
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

    pub(crate) fn now(&self) -> i64 {
        (self.options.clock)()
    }

    /// Commits, and tells what is on the medium then.
    pub(crate) fn commit(&mut self) -> Result<(), CatalogError> {
        self.look_at_root()?;
        let told = self.batch.commit(&mut self.catalog.db)?;
        told.iter().try_for_each(|finding| (self.tell)(finding)).map_err(CatalogError::Told)
    }

    /// Whether the root is what it was when the run began. Where it is not, what is not committed
    /// may be of either of the two: nothing of that is kept.
    pub(crate) fn look_at_root(&mut self) -> Result<(), CatalogError> {
        if self.vanished.is_none()
            && inode_at(&self.batch.root.path) != self.place
            && let Some(why) = self.batch.root.why_not_there()
        {
            self.vanished = Some(why);
            self.batch.discard(&self.catalog.db)?;
        }
        Ok(())
    }

    /// What is mounted over a path below the root, perhaps since the run began; as of this moment,
    /// or of a moment ago.
    pub(crate) fn mount_over(&mut self, below: &[u8], is_exact: bool) -> Option<Vec<u8>> {
        const MOMENT: Duration = Duration::from_millis(10);
        let is_old = |at: Instant| is_exact || at.elapsed() > MOMENT;
        if self.below.as_ref().is_none_or(|(at, _)| is_old(*at)) {
            self.below = Some((Instant::now(), Mounts::below(&self.batch.root.path)));
        }
        self.below.as_ref().and_then(|(_, mounts)| mounts.over(below)).map(<[u8]>::to_vec)
    }

    /// What is at the place of a row, where something else was read than its file, or nothing: a
    /// mount or a link may have come since the way to it was looked at.
    fn there(&self, file: &File, result: &Result<Hashed, Error>) -> There {
        if self.is_of_row(file, result) { There::File } else { self.look_again(&file.place()) }
    }

    /// Whether the inode that was read is the row's.
    fn is_of_row(&self, file: &File, result: &Result<Hashed, Error>) -> bool {
        let own = self.place.map(|[device, _]| device);
        let is_number =
            |number: u64| !self.batch.root.inodes_last || number == file.stat.inode.cast_unsigned();
        let inode = result.as_ref().ok().and_then(|hashed| hashed.inode);
        inode.is_some_and(|it| Some(it.device) == own && is_number(it.number))
    }

    /// Whether what was read is not what is at its path now: something was mounted there, or
    /// another file took its place, and nothing of it is known.
    fn was_elsewhere(&self, path: &Path, hashed: &Hashed) -> bool {
        let Some(read) = hashed.inode else { return false };
        // Over the root, which is none of the mounts in it.
        if inode_at(&self.batch.root.path) != self.place {
            return true;
        }
        let own = self.place.map(|[device, _]| device);
        let Ok(now) = rustix::fs::lstat(path) else { return false };
        own.is_some_and(|own| own != read.device) || engine::inode_of(&now) != read
    }

    /// What is at a path now, with all that is on the way.
    fn look_again(&self, below: &[u8]) -> There {
        Ways::of(&self.batch.root.path).look(below)
    }

    /// What hides the new file that was to be read, if another one was.
    fn hidden_by(&mut self, path: &Path, result: &Result<Hashed, Error>) -> Option<Vec<u8>> {
        let own = self.place.map(|[device, _]| device);
        let is_own = match result {
            Ok(hashed) => hashed.inode.map(|inode| inode.device) == own,
            Err(_) => false,
        };
        let below = self.below(path);
        if is_own { None } else { self.mount_over(&below, true) }
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
            let root = self.batch.root.clone();
            let job = move |(path, file): (PathBuf, Option<Box<File>>)| match file {
                Some(file) => job_of_row(&root, *file),
                None => job_of_new(path, root.policy.algorithms),
            };
            let again = mem::take(&mut self.busy).into_iter().map(job);
            is_done = self.read_once(again)?;
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
        let mut jobs = jobs;
        // Of a number that is not known none is read in this thread, which has to steer.
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
        let of_row = match &context {
            Task::Row(file) => Some(&**file),
            Task::Long(long, _) => Some(&long.file),
            _ => None,
        };
        match of_row.map(|file| (self.there(file, &result), file)) {
            Some((There::Mount(mount), file)) => return self.hide(mount, file.id),
            Some((There::Gone, file)) => return self.miss(&file.clone()),
            Some((There::File, file))
                if !self.is_of_row(file, &result)
                    && result.as_ref().is_ok_and(|hashed| self.was_elsewhere(&path, hashed)) =>
            {
                if let Task::Row(file) = context {
                    return self.is_busy(path, Some(file));
                }
                self.hidden += 1;
                return Ok(());
            }
            Some((There::File, _)) | None => {}
        }
        if matches!(context, Task::New)
            && let Some(mount) = self.hidden_by(&path, &result)
        {
            if !self.mounts.contains(&mount) {
                self.mounts.push(mount);
            }
            return Ok(());
        }
        match (context, result) {
            (Task::Failed(error), _) => Err(error),
            (Task::Mount(path), _) => {
                let below = self.below(&path);
                self.mounts.push(below);
                Ok(())
            }
            (Task::Gone(file), _) => match self.look_again(&file.path()) {
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

    /// What came of reading the file of a row.
    pub(crate) fn take_row(
        &mut self,
        path: &Path,
        file: File,
        result: Result<Hashed, Error>,
    ) -> Result<(), CatalogError> {
        match result {
            Ok(hashed) => self.judge(path, file, hashed),
            Err(Error::OwnOutput) => Ok(()),
            Err(error @ Error::NoDirect) => Err(no_direct(path, &error)),
            Err(Error::Changed) => self.is_busy(path.to_owned(), Some(Box::new(file))),
            Err(error) if error.is_not_found() => self.miss(&file),
            Err(error) => {
                let finding = of_row(Class::Unreadable, &file).because(error.to_string());
                self.is_damaged(&file, finding)
            }
        }
    }

    /// Notes that a file is hidden by a mount. It stays known that it could not be looked at, but
    /// not in place of what is known.
    pub(crate) fn hide(&mut self, mount: Vec<u8>, id: i64) -> Result<(), CatalogError> {
        self.hidden += 1;
        if !self.statuses.contains_key(&id) {
            self.batch.state(id, self.catalog.checked(id)?, Status::Hidden);
            self.statuses.insert(id, Status::Hidden);
        }
        if !self.mounts.contains(&mount) {
            self.mounts.push(mount);
        }
        Ok(())
    }

    /// A path below the root.
    fn below(&self, path: &Path) -> Vec<u8> {
        let length = prefix_len(&self.batch.root.path);
        path.as_os_str().as_bytes().get(length..).unwrap_or_default().to_vec()
    }

    /// Holds what was read against its row.
    fn judge(&mut self, path: &Path, file: File, hashed: Hashed) -> Result<(), CatalogError> {
        let Some(stat) = Stat::of_hashed(&hashed) else {
            return self.is_busy(path.to_owned(), Some(Box::new(file)));
        };
        let is_same = agree(&file.digests, &hashed.digests) == Some(true);
        if let (false, Some(_)) = (is_same, &file.renamed)
            && may_be_another(&file.stat, &stat, self.births_are_known)
        {
            self.judge_new(path, hashed)?;
            return self.miss(&File { renamed: None, ..file });
        }
        let digests = hashed.digests;
        let class = match case(&file.stat, &stat, is_same) {
            // Whoever writes a file anew empties it first, and moves its time a moment later.
            Case::Is(class @ (Class::Altered | Class::Emptied)) => Case::Is(class),
            Case::Is(class) => return self.judged(class, file, stat, digests),
            Case::Suspicious if !file.is_settled => {
                return self.judged(Class::Changed, file, stat, digests);
            }
            // The time of the inode is that of a look after the move.
            Case::Suspicious if file.was_moved => Case::Is(Class::Altered),
            Case::Suspicious => Case::Suspicious,
        };
        // Whatever ends that: somebody has to look again at what is not as cataloged.
        if !self.statuses.contains_key(&file.id) {
            self.batch.state(file.id, self.catalog.checked(file.id)?, Status::Busy);
        }
        // What waits would wait for as long as that takes.
        self.commit()?;
        match (self.confirm(path, &file, (&digests, &stat)), class) {
            (Confirmed::Busy, _) if self.is_unconfirmed => {
                self.batch.count(Class::Busy, 1);
                self.stands(&file, of_row(Class::Busy, &file).because(UNCONFIRMED))
            }
            (Confirmed::Busy, _) => self.is_busy(path.to_owned(), Some(Box::new(file))),
            (Confirmed::Unreadable(why), _) => {
                let finding = of_row(Class::Unreadable, &file).because(why);
                self.is_damaged(&file, finding)
            }
            (Confirmed::Transient, _) => self.judged(Class::Transient, file, stat, digests),
            (Confirmed::Unstable, _) => self.judged(Class::Unstable, file, stat, digests),
            (Confirmed::Same, Case::Suspicious) => self.judged(Class::Rotted, file, stat, digests),
            (Confirmed::Same, Case::Is(class)) => self.judged(class, file, stat, digests),
        }
    }

    /// Looks once more at a file that differs, as slowly as a scrub is to be, and no longer than it
    /// may.
    fn confirm(&mut self, path: &Path, file: &File, first: (&Digests, &Stat)) -> Confirmed {
        let options = self.engine();
        let Self { catalog, options: asked, batch, pace, pressure, verb, .. } = self;
        let (pressure, has_ended) = (RefCell::new(pressure), Cell::new(false));
        let goes_on = || {
            let mut goes_on = asked.goes_on.as_ref().is_none_or(GoesOn::says);
            if *verb == Verb::Scrub {
                // Where the catalog cannot be read, whoever commits next says so.
                if let Ok(manners) = catalog.manners(&batch.root) {
                    goes_on &= manners.paused.is_none();
                    pace.set_rate(manners.rate);
                }
                if asked.yields {
                    pressure.borrow_mut().look(pace);
                }
            }
            has_ended.set(!goes_on);
            goes_on
        };
        let confirmed = confirm(path, file, first, &options, &goes_on);
        self.is_unconfirmed = has_ended.get();
        confirmed
    }

    fn judged(
        &mut self,
        class: Class,
        file: File,
        stat: Stat,
        digests: Digests,
    ) -> Result<(), CatalogError> {
        if matches!(class, Class::Ok | Class::Touched) {
            return self.is_good(class, file, stat, digests);
        }
        let finding = of_reading(class, &file, &stat, &digests);
        match class {
            Class::Changed | Class::Older => self.is_edited(finding, file, stat, digests),
            _ => self.is_damaged(&file, finding),
        }
    }

    fn is_good(
        &mut self,
        class: Class,
        file: File,
        stat: Stat,
        digests: Digests,
    ) -> Result<(), CatalogError> {
        let now = self.now();
        // A list knows too little for anything to be touched.
        let class = if file.stat.is_of_list() { Class::Ok } else { class };
        self.batch.state(file.id, self.began.unwrap_or(now), Status::Good);
        match self.statuses.remove(&file.id) {
            None => {
                self.batch.run.spent = self.batch.run.spent.saturating_add(cost(stat.size));
            }
            // None of these was told one by one.
            Some(Status::Hidden) => {}
            Some(_) => {
                // Whoever was told that it is not well is told that it is.
                let finding = of_reading(class, &file, &stat, &digests);
                self.batch.event(finding.clone(), now);
                self.batch.tell(finding);
            }
        }
        if let Some(to) = file.renamed.clone() {
            return self.moved(file, to.into(), stat, Some(digests));
        }
        self.batch.count(class, 1);
        // At rest before its first byte was read.
        let is_settled = file.stays_settled(&stat, self.began.unwrap_or(now));
        let has_same_digests = algorithms(&file.digests) == algorithms(&digests);
        let is_more_settled = is_settled && !file.is_settled || file.was_moved;
        if stat != file.stat || !has_same_digests || is_more_settled {
            let after = File { stat, digests, is_settled, was_moved: false, ..file.clone() };
            self.batch.replace(&file, after, None);
        }
        Ok(())
    }

    fn is_edited(
        &mut self,
        mut finding: Finding,
        file: File,
        stat: Stat,
        digests: Digests,
    ) -> Result<(), CatalogError> {
        let now = self.now();
        if let Some(status) = self.statuses.get(&file.id).filter(|status| status.is_kept()) {
            // Its last good digest is the only one that there is: it stays until somebody says so.
            finding.class = match status {
                Status::Altered => Class::Altered,
                Status::Emptied => Class::Emptied,
                _ => Class::Rotted,
            };
            self.batch.count(finding.class, 1);
            self.batch.tell(finding);
            return Ok(());
        }
        self.batch.count(finding.class, 1);
        if !self.verb.accepts() {
            return self.stands(&file, finding);
        }
        {
            self.statuses.remove(&file.id);
            self.batch.event(finding.clone(), now);
            self.batch.state(file.id, now, Status::Fresh);
            let is_settled = stat.is_settled_at(now);
            let after = File { stat, digests, is_settled, was_moved: false, ..file.clone() };
            let to = file.renamed.clone().map(Vec::from);
            self.batch.replace(&file, after, to);
            self.batch.keep_old(file, now);
        }
        self.batch.tell(finding);
        Ok(())
    }

    /// Notes what is wrong with a row, whose digest and stat stay.
    fn is_damaged(&mut self, file: &File, finding: Finding) -> Result<(), CatalogError> {
        if matches!(finding.class, Class::Missing | Class::Unreadable) && self.is_away() {
            return Ok(());
        }
        if self.vanished.is_some() {
            return Ok(());
        }
        self.batch.count(finding.class, 1);
        if self.verb.accepts() && finding.class != Class::Missing && file.renamed.is_some() {
            // It takes its name along, and nothing else.
            let to = file.renamed.clone().map(Vec::from);
            self.batch.replace(file, file.clone(), to);
        }
        self.stands(file, finding)
    }

    /// Whether the root went away while a file was looked for, of which nothing is said then.
    fn is_away(&mut self) -> bool {
        if inode_at(&self.batch.root.path) != self.place
            && let Some(why) = self.batch.root.why_not_there()
        {
            self.vanished.get_or_insert(why);
        }
        self.vanished.is_some()
    }

    /// Notes how a row stands since now, until it is read as it was, taken up, accepted or
    /// forgotten; and tells of it.
    fn stands(&mut self, file: &File, finding: Finding) -> Result<(), CatalogError> {
        let before = self.statuses.get(&file.id).copied();
        if let Some(status) = Status::of_class(finding.class)
            && before != Some(status)
        {
            // That it was looked at is no check of it.
            let checked = self.catalog.checked(file.id)?;
            let is_news = before.is_none_or(|before| before.gives_way_to(status));
            if is_news {
                self.batch.state(file.id, checked, status);
                self.statuses.insert(file.id, status);
            }
            // What stands as something worse is an event when it is found, and none at each run.
            let (root, path) = (self.batch.root.id, &finding.path);
            if is_news || self.catalog.last_class_of(root, path)? != Some(finding.class) {
                self.batch.event(finding.clone(), self.now());
            }
        }
        self.batch.tell(finding);
        Ok(())
    }

    /// Notes that a row's file is not there.
    pub(crate) fn miss(&mut self, file: &File) -> Result<(), CatalogError> {
        // So many may be missing that no row counts; or it has another name.
        if self.verb == Verb::Scrub
            && !self.is_away()
            && !self.is_looked_over
            && let Some(why) = self.why_too_few()?
        {
            self.vanished.get_or_insert(why);
        }
        if file.renamed.is_none()
            && let Some(to) = self.elsewhere.remove(&file.id)
        {
            self.later.push(File { renamed: Some(to), ..file.clone() });
            return Ok(());
        }
        let finding = Finding::new(Class::Missing, file.path()).before(&file.stat, &file.digests);
        self.is_damaged(file, finding)
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

    /// Something that has no row, or that its row says nothing of.
    pub(crate) fn found(&mut self, finding: Finding) {
        self.batch.count(finding.class, finding.files);
        if self.verb.accepts() || finding.class.is_damage() {
            let now = self.now();
            self.batch.event(finding.clone(), now);
        }
        self.batch.tell(finding);
    }

    /// A file without a row: perhaps one that was elsewhere.
    fn judge_new(&mut self, path: &Path, hashed: Hashed) -> Result<(), CatalogError> {
        let Some(stat) = Stat::of_hashed(&hashed) else {
            return self.is_busy(path.to_owned(), None);
        };
        let (path, digests, now) = (self.below(path), hashed.digests, self.now());
        if let Some(file) = self.gone.take_same(&path, stat.size, &digests) {
            self.moved(file, path, stat, Some(digests))?;
        } else if self.is_first {
            self.batch.count(Class::New, 1);
            self.batch.insert(path, stat, digests, now);
        } else if self.verb.accepts() {
            self.inserted.push((path.clone(), stat, digests.clone()));
            self.batch.insert(path, stat, digests, now);
        } else {
            self.found(Finding::new(Class::New, path).after(&stat, &digests));
        }
        Ok(())
    }

    /// A row whose file has another path now; with what was read of it, if it was.
    pub(crate) fn moved(
        &mut self,
        file: File,
        to: Vec<u8>,
        stat: Stat,
        read: Option<Digests>,
    ) -> Result<(), CatalogError> {
        self.batch.count(Class::Moved, 1);
        self.moves.add(file.path(), to.clone());
        if !self.verb.accepts() {
            // The row stands as it did: what is not taken up may be gone again tomorrow.
            return Ok(());
        }
        let now = self.now();
        if read.is_some() {
            self.batch.state(file.id, now, Status::Good);
            self.statuses.remove(&file.id);
        }
        let after = match read {
            Some(digests) => {
                let is_settled = file.stays_settled(&stat, now);
                File { stat, digests, is_settled, was_moved: false, ..file.clone() }
            }
            // It was not read, so it stays known when it was last; but not that it is missing.
            None => {
                if self.statuses.get(&file.id).is_some_and(|status| !status.is_kept()) {
                    self.batch.state(file.id, self.catalog.checked(file.id)?, Status::Good);
                    self.statuses.remove(&file.id);
                }
                let was_moved = file.was_moved || stat.changed != file.stat.changed;
                File { stat, was_moved, ..file.clone() }
            }
        };
        self.batch.replace(&file, after, Some(to));
        Ok(())
    }
}

fn no_direct(path: &Path, error: &Error) -> CatalogError {
    let error = io::Error::new(io::ErrorKind::Unsupported, error.to_string());
    CatalogError::io(path)(error)
}

/// What is found of a row's file: under the name that it has now, with the one that it had.
pub(crate) fn of_row(class: Class, file: &File) -> Finding {
    let other = file.renamed.as_ref().map(|_| file.path());
    Finding { other, ..Finding::new(class, file.place()) }
}

/// The same of what was read of it.
fn of_reading(class: Class, file: &File, stat: &Stat, digests: &Digests) -> Finding {
    of_row(class, file).before(&file.stat, &file.digests).after(stat, digests)
}
