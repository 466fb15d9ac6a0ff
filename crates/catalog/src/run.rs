//! The verbs that look at files: add, update, audit and scrub.
//!
//! ```text
//! is the root what it was?                                      volume.rs; suspended if not
//! walk and stat, held against the rows                          scan.rs
//! is more gone than may be?                                     suspended if so
//! the same number, size and time under another name: moved      moves.rs
//! the rest is read: by ids what is cataloged, then what is new  jobs.rs, work.rs
//! the same digest under another name: moved, or a copy          moves.rs
//! what is still gone is missing
//! ```
//!
//! A root without a row is read at once, without the look before. A scrub reads what is due, and
//! looks at all else only where a file is not in its place: it may have another name.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;
use std::mem;
use std::path::Path;

use lanesum_checksum::error::message;
use lanesum_checksum::{Algorithms, Job};
use lanesum_list::Digest;
use rusqlite::OptionalExtension as _;
use rustix::fs::{Access, AtFlags, CWD, accessat};
use rustix::io::Errno;

use crate::batch::{Batch, remove_empty_folders};
use crate::check::{require_rows, require_shape};
use crate::class::{Class, Status};
use crate::digests::{agree, algorithms};
use crate::finding::Finding;
use crate::jobs::{FirstJobs, RowJobs, Task, job_of_new, job_of_row};
use crate::long::begun_files;
use crate::mounts::MountTable;
use crate::moves::{Gone, changed_beside};
use crate::options::{Options, Reread, Verb};
use crate::overview::Run;
use crate::root::NOTHING;
use crate::rows::{self, File, Files, Finder, State, checked};
use crate::scan::{New, Other, Scan, is_blank, scan};
use crate::scrub::Due;
use crate::sighting::{self, Sightings, is_gone};
use crate::stat::{Stat, is_file_of, may_be_another, number};
use crate::summary::{Halt, Summary};
use crate::table::{RUN, int, text};
use crate::work::{Tell, Work, of_row};
use crate::{Catalog, CatalogError, Root};

/// More files than so many have to be gone before a root is suspended for it.
const MANY: u64 = 100;

/// The outcome of a run that went through a root of which no file is cataloged.
pub(crate) const EMPTY: &str = "empty";

/// The outcome of a run that did all that it was to, of a root of which not all files are known.
pub(crate) const UNLISTED: &str = "unlisted";

/// The outcome of a run that ended since the catalog itself is damaged.
pub(crate) const DAMAGED: &str = "damaged";

impl Catalog {
    /// Looks at a root, as the verb says, and tells what it finds, each once it is on the medium.
    /// A scrub reads all that is due; [`scrub`](Self::scrub) chooses.
    ///
    /// # Errors
    /// Those of the catalog, and of `tell`. What was found of a file is no error.
    pub fn run(
        &mut self,
        root: &Root,
        verb: Verb,
        options: &Options,
        tell: &mut dyn FnMut(&Finding) -> io::Result<()>,
    ) -> Result<Summary, CatalogError> {
        if verb == Verb::Scrub {
            return self.scrub(root, &Due::default(), options, tell);
        }
        self.noting_damage(root, verb, options, |catalog| {
            catalog.look_at(root, verb, options, tell)
        })
    }

    fn look_at(
        &mut self,
        root: &Root,
        verb: Verb,
        options: &Options,
        tell: Tell<'_>,
    ) -> Result<Summary, CatalogError> {
        require_rows(&self.db)?;
        let mut work = self.begin(root, verb, options, tell)?;
        let clock_is_behind = work.clock_is_behind()?;
        let mut summary = Summary { clock_is_behind, ..work.summary() };
        if let Some(why) = work.why_not_there() {
            return work.suspend(summary, why);
        }
        work.is_first = verb.accepts() && !work.catalog.was_taken_up(root)?;
        summary.is_first = work.is_first;
        if work.is_first && work.catalog.is_empty(root)? {
            require_shape(&work.catalog.db)?;
            let own = work.catalog.own_files();
            let jobs = FirstJobs::new(root, work.catalog.path(), own)?;
            summary.is_complete = work.read(jobs)?;
            return work.finish(summary);
        }
        let settles = verb == Verb::Audit && work.options.reread == Reread::Needed;
        let settles = settles.then(|| (work.options.clock)());
        let own = work.catalog.own_files();
        let found =
            scan(&work.catalog.db, root, &work.statuses, &own, settles, options.goes_on.as_ref())?;
        if found.is_empty && work.max_gone() < 100 && work.catalog.expects_files(root)? {
            return work.suspend(summary, NOTHING.to_owned());
        }
        work.look(found, &mut summary)?;
        if summary.suspended.is_some() {
            let why = summary.suspended.take().unwrap_or_default();
            return work.suspend(summary, why);
        }
        work.finish(summary)
    }

    /// Runs a verb, and keeps that it ended, or did not begin, since the catalog is damaged, as far
    /// as that can be written still.
    pub(crate) fn noting_damage(
        &mut self,
        root: &Root,
        verb: Verb,
        options: &Options,
        run: impl FnOnce(&mut Self) -> Result<Summary, CatalogError>,
    ) -> Result<Summary, CatalogError> {
        let last = self.last_run_id()?;
        let ran = run(self);
        if matches!(ran, Err(CatalogError::Damaged(_))) {
            // The damage is told, whatever becomes of this.
            let _ = self.put_damaged(root, verb, last, (options.clock)());
        }
        ran
    }

    /// Puts the run that began after this one down as ended so, or one that did not begin.
    fn put_damaged(
        &self,
        root: &Root,
        verb: Verb,
        last: i64,
        now: i64,
    ) -> Result<(), CatalogError> {
        let sql = "SELECT id, started, counts, files, bytes FROM run WHERE id > ?1 AND root = ?2";
        let begun = self.db.query_row(sql, [last, root.id], |row| {
            let counts = row.get::<_, Option<String>>(2)?.unwrap_or_default();
            Ok(([row.get(0)?, row.get(1)?, row.get(3)?, row.get(4)?], counts))
        });
        let begun = begun.optional()?;
        let ([id, started, files, bytes], counts) =
            begun.unwrap_or(([self.last_run_id()? + 1, now, 0, 0], String::new()));
        let [id, root, started, now] = [id, root.id, started, now].map(int);
        let ([files, bytes], verb) = ([files, bytes].map(int), text(verb.name()));
        let outcome = text(DAMAGED);
        RUN.put(&self.db, &[id, verb, root, started, now, outcome, text(&counts), files, bytes])
    }

    /// Begins a run, which is on the medium from then on.
    pub(crate) fn begin<'a>(
        &'a mut self,
        root: &Root,
        verb: Verb,
        options: &'a Options,
        tell: Tell<'a>,
    ) -> Result<Work<'a>, CatalogError> {
        let statuses = self.statuses(root.id)?;
        // What the caller has may be older than another run.
        let mut roots = self.roots()?.into_iter();
        let root = roots
            .find(|known| known.id == root.id)
            .ok_or_else(|| CatalogError::NoRoot(root.path.clone()))?;
        let table = MountTable::open()?;
        let mut batch = Batch::begin(&self.db, root, verb.name(), (options.clock)())?;
        if verb == Verb::Audit && options.reread == Reread::All {
            batch.is_of_all(&self.db)?;
        }
        let begun = begun_files(&self.db)?;
        let mut work = Work::new(self, verb, options, batch, table, tell);
        work.sightings = Sightings::of(&work.catalog.db, &work.batch.root)?;
        (work.statuses, work.begun) = (statuses, begun);
        Ok(work)
    }

    /// Whether an add or an update of a root ever came to its end. Until then, also after one that
    /// was interrupted, the catalog does not know all that is there, and that each file is new is
    /// no news.
    ///
    /// # Errors
    /// Those of the catalog.
    pub fn was_taken_up(&self, root: &Root) -> Result<bool, CatalogError> {
        let is_it = |run: &Run| {
            matches!(&*run.verb, "add" | "update")
                && matches!(run.outcome.as_deref(), Some("complete" | "partial" | EMPTY))
        };
        Ok(self.last_run(root, is_it)?.is_some())
    }

    /// How the rows of a root stand that are not well.
    pub(crate) fn statuses(&self, root: i64) -> Result<HashMap<i64, Status>, CatalogError> {
        let mut statuses = HashMap::new();
        State::for_each_not_well(&self.db, |state| {
            if state.root == root {
                statuses.insert(state.id, state.status);
            }
            Ok(())
        })?;
        Ok(statuses)
    }

    fn is_empty(&self, root: &Root) -> Result<bool, CatalogError> {
        let sql = "SELECT 1 FROM folder d JOIN file f ON f.folder = d.id WHERE d.root = ?1 LIMIT 1";
        Ok(self.db.query_row(sql, [root.id], |_| Ok(())).optional()?.is_none())
    }

    /// Whether some file of a root is not known to be missing: that all are gone is told once, and
    /// stands then.
    fn expects_files(&self, root: &Root) -> Result<bool, CatalogError> {
        let sql = "SELECT EXISTS (SELECT 1 FROM state WHERE root = ?1 AND status != ?2)";
        Ok(self.db.query_row(sql, (root.id, Status::Missing.number()), |row| row.get(0))?)
    }

    /// Why there is nothing to be seen of a root that has files: it cannot be read, or it is empty.
    pub(crate) fn why_blank(
        &self,
        root: &Root,
        max_gone: u32,
    ) -> Result<Option<String>, CatalogError> {
        let why = match is_blank(&root.path) {
            Err(error) => Some(format!("it cannot be read: {}", message(&error))),
            Ok(is_blank) => (is_blank && max_gone < 100).then(|| NOTHING.to_owned()),
        };
        // Only then, since rows are looked through for that.
        if why.is_some() && !self.expects_files(root)? {
            return Ok(None);
        }
        Ok(why)
    }

    /// The class of the last event of a row, which may have told of it under another name.
    pub(crate) fn last_class_of(
        &self,
        root: i64,
        path: &[u8],
    ) -> Result<Option<Class>, CatalogError> {
        // Events are sealed, but what depends on this one is only whether there is another.
        let sql = "SELECT class FROM event WHERE root = ?1 AND coalesce(other, path) = ?2 \
                   ORDER BY id DESC LIMIT 1";
        let mut statement = self.db.prepare_cached(sql)?;
        let class = statement.query_row((root, path), |row| {
            Ok(row.get_ref(0)?.as_str().ok().and_then(Class::from_name))
        });
        Ok(class.optional()?.flatten())
    }

    /// When a file was checked last.
    pub(crate) fn checked(&self, id: i64) -> Result<i64, CatalogError> {
        checked(&self.db, id)
    }
}

impl Work<'_> {
    pub(crate) fn summary(&self) -> Summary {
        Summary::new(self.batch.root.path.clone(), self.verb)
    }

    pub(crate) fn clock_is_behind(&self) -> Result<bool, CatalogError> {
        let (db, now) = (&self.catalog.db, (self.options.clock)());
        let sql = "SELECT coalesce(max(started), 0) FROM run";
        let last: i64 = db.query_row(sql, [], |row| row.get(0))?;
        if now >= last {
            return Ok(false);
        }
        // Of a clock that was ahead once nothing is left when all is checked anew.
        let sql = "SELECT EXISTS (SELECT 1 FROM state WHERE checked > ?1)";
        Ok(db.query_row(sql, [now], |row| row.get(0))?)
    }

    fn max_gone(&self) -> u32 {
        self.options.max_gone.unwrap_or(self.batch.root.policy.max_gone)
    }

    /// Why the folder is not the one that was cataloged, if it is not.
    pub(crate) fn why_not_there(&self) -> Option<String> {
        self.batch.root.why_not_there()
    }

    /// Why nothing of a root is to be scrubbed although the folder is the right one: it cannot be
    /// read, nothing is in it, or it was suspended, and too many files are gone still.
    pub(crate) fn why_not_whole(&mut self) -> Result<Option<String>, CatalogError> {
        let blank = self.catalog.why_blank(&self.batch.root, self.max_gone())?;
        if blank.is_some() || self.batch.root.suspended.is_none() {
            return Ok(blank);
        }
        self.why_too_few()
    }

    /// Why a root is suspended that has lost too much, as a look at all of it tells; and where the
    /// files are that have another name.
    pub(crate) fn why_too_few(&mut self) -> Result<Option<String>, CatalogError> {
        self.is_looked_over = true;
        let own = self.catalog.own_files();
        let found = scan(
            &self.catalog.db,
            &self.batch.root,
            &self.statuses,
            &own,
            None,
            self.options.goes_on.as_ref(),
        )?;
        let is_emptied = found.is_empty && self.max_gone() < 100;
        if is_emptied && self.catalog.expects_files(&self.batch.root)? {
            return Ok(Some(NOTHING.to_owned()));
        }
        let rows = found.rows();
        let mut gone = Gone::new(found.gone, &self.batch.root, &self.statuses);
        for new in found.new {
            if let Some(file) = gone.take_renamed(&self.batch.root, &self.sightings, &new) {
                self.elsewhere.insert(file.id, new.path.into());
            }
        }
        Ok(self.too_many(gone.newly(&self.statuses), rows))
    }

    /// Why a root is suspended of which so many files are gone that were not told of, if it is.
    fn too_many(&self, gone: u64, rows: u64) -> Option<String> {
        let most = u64::from(self.max_gone());
        let is_too_much = gone > MANY && gone * 100 > rows * most;
        is_too_much.then(|| format!("{gone} of {rows} files are gone, more than {most} % of them"))
    }

    /// Does with a scan what the verb says.
    fn look(&mut self, found: Scan, summary: &mut Summary) -> Result<(), CatalogError> {
        let rows = found.rows();
        if self.verb.accepts() && !(found.new.is_empty() && found.gone.is_empty()) {
            self.require_shape()?;
        }
        let Scan { mut same, mut renumbered, mut doubtful, mut gone, new, mut unknown, .. } = found;
        self.mounts = found.mounts;
        // Numbers that are given at every mount are no file's own: those of most files differ then.
        // Where they hold they are believed again.
        self.batch.root.inodes_last = renumbered.len() <= same.len();
        // Another file that looks the same: of that nothing is known.
        if self.numbers_tell() { &mut doubtful } else { &mut same }.append(&mut renumbered);
        self.owners = found.others.iter().map(|other| (other.known, *other)).collect();
        let out_of_sight = self.kin_of(&new)?;
        self.shared = shared(&found.others);
        // What is in the place of a damaged row is judged with that, and its other names behind it.
        let is_kept = |id| self.statuses.get(id).is_some_and(|status| status.is_kept());
        let in_bad_places = found.others.iter().filter(|other| is_kept(&other.id));
        let in_bad_places: HashSet<i64> = in_bad_places.filter_map(|other| other.there).collect();
        unknown -= out_of_sight.len() as u64;
        gone.extend(out_of_sight);
        summary.unknown = unknown;
        self.gone = Gone::new(gone, &self.batch.root, &self.statuses);
        let (renamed, mut new) = self.take_renamed(new);
        if let Some(why) = self.too_many(self.gone.newly(&self.statuses), rows) {
            summary.suspended = Some(why);
            return Ok(());
        }
        for finding in found.unreadable {
            self.found(finding);
        }
        for (mount, files) in found.hidden.into_iter().filter(|(_, files)| *files > 0) {
            self.hiding.push(mount.clone());
            if let Some(file) = rows::at(&self.catalog.db, self.batch.root.id, &mount)? {
                // Of a file the row tells it.
                self.hide_row(file.id)?;
                continue;
            }
            // It is told among the mounts, and named until a look sees what is below it.
            let hidden = if files == 1 { "1 file" } else { &*format!("{files} files") };
            let finding = Finding { files, ..Finding::new(Class::Unreadable, mount) }
                .because(format!("something is mounted over {hidden} of the catalog"));
            self.batch.event(finding, self.now());
        }
        let renamed = self.take_up_names(renamed)?;
        match self.options.reread {
            Reread::Nothing => {
                summary.same = same.len() as u64;
                return self.leave_unread(doubtful, renamed, new, summary);
            }
            Reread::All => doubtful.append(&mut same),
            Reread::Needed => summary.same = same.len() as u64,
        }
        doubtful.sort_unstable();
        if new.iter().any(|new| self.is_akin(new)) {
            self.require_shape()?;
        }
        if !self.verb.accepts() {
            new = self.tell_new(new);
        }
        let root = self.batch.root.clone();
        let rows =
            RowJobs::new(self.catalog.reader()?, doubtful, root.clone(), self.limits.clone())?;
        let of_root = root.clone();
        let renamed = renamed.into_iter().map(move |file| job_of_row(&of_root, file));
        // First what rows say that may be replaced next.
        let (akin, new): (Vec<_>, Vec<_>) = new.into_iter().partition(|new| self.is_akin(new));
        let akin = self.jobs_of(&akin);
        let (behind, new): (Vec<_>, Vec<_>) =
            new.into_iter().partition(|new| in_bad_places.contains(&new.stat.inode));
        let with_algorithms = |new: New| (self.gone.algorithms_of(new.stat.size), new.path);
        let new: Vec<_> = new.into_iter().map(with_algorithms).collect();
        let of_root = root.clone();
        let new = new.into_iter().map(move |(of_gone, path)| {
            job_of_new(of_root.path_of(&path), of_root.policy.algorithms.union(of_gone))
        });
        let jobs = rows.chain(renamed).chain(new);
        summary.is_complete =
            self.read(akin.into_iter())? && self.read(jobs)? && self.read_behind(&behind)?;
        if self.vanished.is_some() {
            return Ok(());
        }
        self.tell_inserted()?;
        self.look_for_gone(summary)
    }

    /// Reads what is to be read once all else is: new names, then rows.
    fn read_behind(&mut self, new: &[New]) -> Result<bool, CatalogError> {
        let jobs = self.jobs_of(new);
        Ok(self.read(jobs.into_iter())? && self.read_later()?)
    }

    /// New names, with what is known of their files by now.
    fn jobs_of(&self, new: &[New]) -> Vec<Job<Task>> {
        let job = |new: &New| {
            let algorithms = self.algorithms_of(&new.path, Some(&new.stat));
            job_of_new(self.batch.root.path_of(&new.path), algorithms)
        };
        new.iter().map(job).collect()
    }

    /// Holds indices against rows, once.
    fn require_shape(&mut self) -> Result<(), CatalogError> {
        if !self.is_shape_right {
            require_shape(&self.catalog.db)?;
            self.is_shape_right = true;
        }
        Ok(())
    }

    /// Finds the rows whose file, or what was their file, a new name leads to as well, and keeps
    /// them in mind. Gives those of them that are out of sight and whose file has no other name.
    fn kin_of(&mut self, new: &[New]) -> Result<Vec<File>, CatalogError> {
        let mut out_of_sight = Vec::new();
        if new.is_empty() || self.owners.is_empty() {
            return Ok(out_of_sight);
        }
        let mut finder = Finder::new(self.catalog.reader()?);
        for new in new {
            let Some(other) = self.owners.get(&new.stat.inode) else { continue };
            // What is there by both names at once is one file, whatever numbers tell else.
            let is_link = other.there == Some(new.stat.inode);
            if !is_link && !self.numbers_tell() {
                continue;
            }
            let Some(file) = finder.find(other.id)? else { continue };
            let path = self.batch.root.path_of(&new.path);
            if !is_file_of(&file.stat, &path, &new.stat, self.births_are_known) {
                continue;
            }
            if other.there.is_none() && new.is_only_name {
                out_of_sight.push(file);
            } else {
                self.kin.insert(new.path.clone(), file);
            }
        }
        Ok(out_of_sight)
    }

    /// Whether the number of a file tells that it is the one that had it.
    pub(crate) fn numbers_tell(&self) -> bool {
        self.batch.root.inodes_last && self.births_are_known
    }

    /// Whether something is known of the file that a new name leads to.
    fn is_akin(&self, new: &New) -> bool {
        let was_seen = || self.seen(&new.stat, || new.path.clone()).is_some();
        self.kin.contains_key(&new.path) || was_seen()
    }

    /// What is computed of a new name's file, which looks so: what the policy says, and what is
    /// known of it.
    pub(crate) fn algorithms_of(&self, path: &[u8], stat: Option<&Stat>) -> Algorithms {
        let kin = self.kin.get(path).map(|row| &row.digests);
        let seen = stat.and_then(|stat| self.seen(stat, || path.to_vec()));
        let known = [kin, seen.map(|seen| &seen.digests)].into_iter().flatten().map(algorithms);
        let of_gone = stat.map_or(Algorithms::NONE, |stat| self.gone.algorithms_of(stat.size));
        known.fold(self.batch.root.policy.algorithms.union(of_gone), Algorithms::union)
    }

    /// Rows that have another name now, with what their files look like; and what is new.
    fn take_renamed(&mut self, new: Vec<New>) -> (Vec<(File, Stat)>, Vec<New>) {
        let (mut renamed, mut others) = (Vec::new(), Vec::new());
        let mut taken: HashMap<i64, File> = HashMap::new();
        for new in new {
            match self.gone.take_renamed(&self.batch.root, &self.sightings, &new) {
                Some(file) => {
                    if !new.is_only_name {
                        taken.insert(new.stat.inode, file.clone());
                    }
                    renamed.push((File { renamed: Some(new.path.into()), ..file }, new.stat))
                }
                None => {
                    if let Some(file) = taken.get(&new.stat.inode) {
                        self.kin.insert(new.path.clone(), file.clone());
                    }
                    others.push(new);
                }
            }
        }
        (renamed, others)
    }

    /// Takes note of other names; those that are to be read under theirs are given back.
    fn take_up_names(&mut self, renamed: Vec<(File, Stat)>) -> Result<Vec<File>, CatalogError> {
        let mut to_be_read = Vec::new();
        let beside = changed_beside(&renamed);
        for (file, stat) in renamed {
            // Another name makes nothing well: what is known not to be is read, as in its place.
            let is_known = self.statuses.contains_key(&file.id);
            let is_doubtful = may_be_another(&file.stat, &stat, self.births_are_known)
                || number(&file.stat) != number(&stat);
            if self.options.reread == Reread::All
                || is_known
                || is_doubtful
                || beside.contains(&file.id)
                || file.stat.is_of_list()
            {
                to_be_read.push(file);
                continue;
            }
            let to = file.place();
            self.moved(file, to, stat, None)?;
            if self.batch.is_due() {
                self.commit()?;
            }
        }
        Ok(to_be_read)
    }

    /// Tells of what is new; what may have been elsewhere, or is held against a row, as its content
    /// will say, is given back.
    fn tell_new(&mut self, new: Vec<New>) -> Vec<New> {
        let (may_be, others): (Vec<_>, Vec<_>) =
            new.into_iter().partition(|new| self.gone.may_be(new.stat.size) || self.is_akin(new));
        for new in others {
            // It stays known that it may not be read.
            let finding = match access_to(&self.batch.root.path_of(&new.path)) {
                Ok(()) => Finding::new(Class::New, new.path),
                Err(why) => Finding::new(Class::Unreadable, new.path).because(why),
            };
            self.found(finding);
        }
        may_be
    }

    /// Looks once more for what was gone, and reads what is back: names were looked at when the run
    /// began, which may be hours ago.
    fn look_for_gone(&mut self, summary: &mut Summary) -> Result<(), CatalogError> {
        let mut back = Vec::new();
        for file in mem::take(&mut self.gone).into_missing() {
            match self.mount_over(&file.path(), false)? {
                Some(mount) => self.hide(mount, file.id)?,
                None => match self.is_there(&file) {
                    Ok(true) if summary.is_complete => back.push(file.id),
                    Ok(_) => self.miss(&file)?,
                    // It may be there, as far as anybody can see.
                    Err(_) => summary.unknown += 1,
                },
            }
        }
        if !back.is_empty() {
            back.sort_unstable();
            let (reader, root) = (self.catalog.reader()?, self.batch.root.clone());
            let rows = RowJobs::new(reader, back, root, self.limits.clone())?;
            summary.is_complete = self.read(rows)?;
        }
        Ok(())
    }

    /// Whether a regular file has the name of a row.
    ///
    /// # Errors
    /// That it cannot be looked for.
    fn is_there(&self, file: &File) -> io::Result<bool> {
        let path = self.batch.root.path_of(&file.path());
        match path.symlink_metadata() {
            Ok(stat) => Ok(stat.is_file()),
            Err(error) if is_gone(&error) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// What looks otherwise, where nothing is to be read.
    fn leave_unread(
        &mut self,
        doubtful: Vec<i64>,
        renamed: Vec<File>,
        new: Vec<New>,
        summary: &mut Summary,
    ) -> Result<(), CatalogError> {
        summary.unread = (doubtful.len() + renamed.len() + new.len()) as u64;
        let mut finder = Finder::new(self.catalog.reader()?);
        for id in doubtful {
            if let Some(file) = finder.find(id)? {
                self.leave(&file);
            }
        }
        renamed.iter().for_each(|file| self.leave(file));
        for new in new {
            if let Err(why) = access_to(&self.batch.root.path_of(&new.path)) {
                self.found(Finding::new(Class::Unreadable, new.path).because(why));
                continue;
            }
            self.batch.count(Class::New, 1);
            self.note_name(&new.path);
            self.batch.tell(Finding::new(Class::New, new.path).because("not read"));
        }
        for file in mem::take(&mut self.gone).into_missing() {
            self.miss(&file)?;
        }
        Ok(())
    }

    /// Tells how a file stands that would have to be read, as far as that is known.
    fn leave(&mut self, file: &File) {
        let class = match self.statuses.get(&file.id) {
            Some(Status::Rotted) => Class::Rotted,
            Some(Status::Altered) => Class::Altered,
            Some(Status::Emptied) => Class::Emptied,
            Some(Status::Transient) => Class::Transient,
            Some(Status::Unreadable) => Class::Unreadable,
            Some(Status::Changed) => Class::Changed,
            Some(Status::Busy) => Class::Busy,
            None if !file.stat.is_of_list() => Class::Changed,
            // It was never read, or is back as it may have been: only that it is unread is true.
            _ => return,
        };
        self.batch.count(class, 1);
        self.batch.tell(of_row(class, file).because("not read"));
    }

    /// Tells what was inserted: new, or a copy of what was there before.
    fn tell_inserted(&mut self) -> Result<(), CatalogError> {
        let inserted = mem::take(&mut self.inserted);
        if inserted.is_empty() {
            return Ok(());
        }
        let mut by_digest: HashMap<Digest, Vec<usize>> = HashMap::new();
        // Empty files match nothing.
        for (place, (_, _, digests)) in inserted.iter().enumerate().filter(|it| it.1.1.size > 0) {
            for digest in digests.iter() {
                by_digest.entry(*digest).or_default().push(place);
            }
        }
        let paths: HashSet<&[u8]> = inserted.iter().map(|(path, ..)| &**path).collect();
        let mut originals: Vec<Option<Vec<u8>>> = vec![None; inserted.len()];
        let mut files = Files::of(&self.catalog.db, self.batch.root.id);
        while let Some(file) = files.next()? {
            // What is damaged has another content than its row.
            let is_whole =
                !self.statuses.get(&file.id).is_some_and(|status| status.may_be_damaged());
            let digest = file.digests.first().filter(|_| is_whole);
            let places = digest.and_then(|digest| by_digest.get(digest));
            for &place in places.into_iter().flatten() {
                let (_, stat, digests) = &inserted[place];
                let is_same =
                    file.stat.size == stat.size && agree(&file.digests, digests) == Some(true);
                if is_same && originals[place].is_none() && !paths.contains(&*file.path()) {
                    originals[place] = Some(file.path());
                }
            }
        }
        for ((path, stat, digests), other) in inserted.into_iter().zip(originals) {
            let class = if other.is_some() { Class::Copied } else { Class::New };
            let finding = Finding { other, ..Finding::new(class, path).after(&stat, &digests) };
            self.found(finding);
        }
        Ok(())
    }

    /// Leaves a root alone, and says why.
    pub(crate) fn suspend(
        mut self,
        mut summary: Summary,
        why: String,
    ) -> Result<Summary, CatalogError> {
        let finding = Finding::new(Class::Suspended, Vec::new()).because(&*why);
        if self.batch.root.suspended.as_ref() != Some(&why) {
            self.batch.event(finding.clone(), (self.options.clock)());
        }
        self.batch.count(Class::Suspended, 1);
        self.batch.tell(finding);
        self.batch.root.suspended = Some(why.clone());
        summary.suspended = Some(why);
        summary.is_complete = false;
        self.end(summary, "suspended")
    }

    /// Ends a run that went through.
    pub(crate) fn finish(mut self, mut summary: Summary) -> Result<Summary, CatalogError> {
        summary.unknown += self.hidden;
        self.look_at_root()?;
        if let Some(why) = self.vanished.clone() {
            return self.suspend(summary, why);
        }
        for finding in mem::take(&mut self.moves).into_findings() {
            if self.verb.accepts() {
                let now = (self.options.clock)();
                self.batch.event(finding.clone(), now);
            }
            self.batch.tell(finding);
        }
        self.batch.root.suspended = None;
        summary.halt = summary.halt.or(self.halt);
        let counts = self.batch.run.counts.clone();
        let is_empty = !self.batch.inserts_any() && self.catalog.is_empty(&self.batch.root)?;
        // What is stored is what is printed. What another verb puts right has a word of its own.
        let (is_taken_up, unseen) = (true, Vec::new());
        let done = Summary { counts, is_taken_up, unseen, ..summary.clone() };
        let outcome = match summary.is_complete {
            false => summary.halt.map_or("limited", Halt::name),
            true if !done.is_all_done() => "partial",
            true if is_empty => EMPTY,
            true if !summary.is_taken_up || !summary.unseen.is_empty() => UNLISTED,
            true => "complete",
        };
        self.end(summary, outcome)
    }

    /// How many files stand otherwise than well, read now or not, forgotten or not.
    fn known(&self) -> Result<BTreeMap<Status, u64>, CatalogError> {
        let mut known = BTreeMap::new();
        let root = &self.batch.root;
        let rowless = sighting::rowless(&self.catalog.db, std::slice::from_ref(root))?;
        let forgotten = rowless.into_iter().map(|it| it.seen.status);
        let statuses = self.statuses.values().copied().chain(forgotten);
        for status in statuses.filter(|status| !status.is_good()) {
            *known.entry(status).or_default() += 1;
        }
        Ok(known)
    }

    fn end(mut self, summary: Summary, outcome: &'static str) -> Result<Summary, CatalogError> {
        self.batch.run.ended = Some((self.options.clock)());
        self.batch.run.outcome = Some(outcome);
        self.commit()?;
        self.catalog.bring_home()?;
        // Folders lose files by moves alone, and an index that is wrong must not make one look
        // empty.
        if self.is_shape_right {
            remove_empty_folders(&self.catalog.db, self.batch.root.id)?;
        }
        let is_empty = self.catalog.is_empty(&self.batch.root)?;
        // What is cataloged by itself needs no word.
        let mut mounts = mem::take(&mut self.mounts);
        let roots = self.catalog.roots()?;
        mounts.retain(|mount| {
            let path = self.batch.root.path_of(mount);
            let is_of_root = roots.iter().any(|root| root.path.starts_with(&path));
            !is_of_root || self.hiding.contains(mount)
        });
        let known = self.known()?;
        let may_be_rot = match known.contains_key(&Status::Changed) {
            true => {
                let ids = self.catalog.may_be_rot()?;
                ids.get(&self.batch.root.id).map_or(0, |ids| ids.len() as u64)
            }
            false => 0,
        };
        let run = &self.batch.run;
        Ok(Summary {
            is_empty,
            may_be_rot,
            counts: run.counts.clone(),
            files: run.files.cast_unsigned(),
            bytes: run.bytes.cast_unsigned(),
            mounts,
            known,
            ..summary
        })
    }
}

/// The numbers of files that several of these rows lead to, or led to.
fn shared(others: &[Other]) -> HashSet<i64> {
    let mut rows = HashMap::new();
    let mut shared = HashSet::new();
    for other in others {
        for number in [Some(other.known), other.there].into_iter().flatten() {
            if *rows.entry(number).or_insert(other.id) != other.id {
                shared.insert(number);
            }
        }
    }
    shared
}

/// Why a file cannot be read, as far as its mode tells.
fn access_to(path: &Path) -> Result<(), String> {
    match accessat(CWD, path, Access::READ_OK, AtFlags::EACCESS) {
        // What is gone meanwhile needs no access.
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        // A system that cannot say, or a path that is too long for one call.
        Err(Errno::NOSYS | Errno::INVAL | Errno::NAMETOOLONG) => Ok(()),
        Err(error) => Err(message(&error.into())),
    }
}
