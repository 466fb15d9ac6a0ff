//! What the catalog knows: how many files, how long ago they were checked, what is not well, what
//! was done, and what was found.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use lanesum_list::{Record, Time, Times};
use rusqlite::Row;

use crate::batch::{counts_of, names_of, old_name, was_of_all};
use crate::check::require_rows;
use crate::class::{Class, Status};
use crate::finding::Finding;
use crate::long;
use crate::manners::Manners;
use crate::root::Root;
use crate::rows::{Files, Finder, State, at};
use crate::run::{DAMAGED, EMPTY, UNLISTED};
use crate::scrub::Times as Due;
use crate::sighting::{self, Rowless, Sighting};
use crate::stat::is_beyond;
use crate::summary::Severity;
use crate::table::{EVENT, RUN};
use crate::{Catalog, CatalogError};

/// What is known of a root at a moment.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Overview {
    /// The root.
    pub root: Root,
    /// Its files.
    pub files: u64,
    /// Those that were not read again since they were cataloged.
    pub fresh: u64,
    /// Those that were never read: lists told of them.
    pub never: u64,
    /// Whether an add or an update ever came to its end: before, what else there is is unknown.
    pub is_taken_up: bool,
    /// Those that are known not to be as cataloged.
    pub not_well: BTreeMap<Status, u64>,
    /// How many of these are changed so that an edit cannot be told from rot.
    pub may_be_rot: u64,
    /// What the last look at all of it found that no row stands for, where that was an audit, which
    /// takes nothing up: new files, and moved ones.
    pub not_taken_up: BTreeMap<Class, u64>,
    /// Files whose last check is of the future, by more than a day: the clock was ahead then, or is
    /// behind now. They are among those that are [`late`](Self::late).
    pub ahead: u64,
    /// How many were checked within each third of the period, the newest first; last those that
    /// were not checked within it.
    pub ages: [u64; 4],
    /// The same by thirtieths of the period, and last those that were not checked within it.
    pub by_age: [u64; 31],
    /// The oldest last check of a file, of those that were checked: seconds since 1970.
    pub oldest: Option<i64>,
    /// Files that were not read for longer than
    /// [`Policy::late_after_days`](crate::Policy::late_after_days).
    pub late: u64,
    /// Files that are due.
    pub due: u64,
    /// When the next one is, if none is due.
    pub next_due: Option<i64>,
    /// The long files of which a scrub has read a part, if there are any.
    pub begun: Option<PartlyRead>,
    /// What was done last.
    pub last: Option<Run>,
    /// Whether a process does that now.
    pub is_at_work: bool,
    /// How it is scrubbed.
    pub manners: Manners,
    /// The last look at the root, and the last scrub, where they did not do all that was to be
    /// done.
    pub undone: Vec<Run>,
    /// What the last look at the root could not look at, and no row stands for it: folders, and
    /// files that are new.
    pub unseen: Vec<Unseen>,
}

/// What could not be looked at, and no row stands for it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unseen {
    /// Where it is.
    pub path: PathBuf,
    /// Why it could not be.
    pub why: String,
}

/// Long files of which a part is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PartlyRead {
    /// How many there are.
    pub files: u64,
    /// Bytes of theirs that are read.
    pub read: u64,
    /// All bytes of theirs.
    pub of: u64,
}

/// A run of a verb over a root.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Run {
    /// Its number.
    pub(crate) id: i64,
    /// The verb.
    pub verb: String,
    /// When it began: seconds since 1970.
    pub started: i64,
    /// When it ended; none of one that was interrupted, or is at work.
    pub ended: Option<i64>,
    /// `complete`, `limited`, `partial` (something could not be looked at, or was not read; of an
    /// import, something was not taken), `differs` (an import: a list has other digests),
    /// `empty` (no file is cataloged), `unlisted` (not all files are known, since no add or update
    /// came to its end, or the last look could not look at all of it), `suspended`, `damaged` (the
    /// catalog is), or how a scrub was [halted](crate::Halt); none as above.
    pub outcome: Option<String>,
    /// How many files were of which class.
    pub counts: BTreeMap<Class, u64>,
    /// Files that were read.
    pub files: i64,
    /// Their bytes.
    pub bytes: i64,
    /// Whether it was an audit that was to read everything.
    pub is_of_all: bool,
    /// Of what it counted as new or moved and did not take up, the hashes of the paths.
    pub(crate) names: Vec<u64>,
}

/// The verbs that look at all of a root.
const LOOKS: [&str; 3] = ["add", "update", "audit"];

impl Run {
    /// Whether it was to look at all of a root.
    fn is_look(&self) -> bool {
        LOOKS.contains(&&*self.verb)
    }

    /// Whether it went through all of a root, whatever it could not look at there.
    fn went_through(&self) -> bool {
        matches!(self.outcome.as_deref(), Some("complete" | "partial" | EMPTY | UNLISTED))
    }

    /// Whether it ended since the catalog itself is damaged.
    #[must_use]
    pub fn found_damage(&self) -> bool {
        self.outcome.as_deref() == Some(DAMAGED)
    }
}

/// Something that was found, and when.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Event {
    /// Seconds since 1970.
    pub at: i64,
    /// The path of the root; none where that is not known any more, or the finding tells it.
    pub root: Option<PathBuf>,
    /// What was found.
    pub finding: Finding,
}

/// A file that is not well.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NotWell {
    /// Where it is.
    pub path: PathBuf,
    /// What is wrong.
    pub status: Status,
    /// When it was read as it is cataloged for the last time: seconds since 1970, and 0 where it
    /// never was.
    pub last_good: i64,
}

impl Catalog {
    /// Looks at every root, at this time in seconds since 1970.
    ///
    /// # Errors
    /// Those of the catalog.
    pub fn overviews(&self, now: i64) -> Result<Vec<Overview>, CatalogError> {
        require_rows(&self.db)?;
        let mut all = Vec::new();
        let mut long = long::begun(&self.db)?;
        for root in self.roots()? {
            let begun = long.remove(&root.id);
            let last = self.last_run(&root, |_| true)?;
            let undone = self.undone(&root)?;
            let unseen = self.unseen(&root)?;
            let is_at_work = self.is_at_work(&root, last.as_ref())?;
            let manners = self.manners(&root)?;
            let is_taken_up = self.was_taken_up(&root)?;
            let not_taken_up = self.not_taken_up(&root)?;
            let (files, fresh, never, not_well, may_be_rot) = (0, 0, 0, BTreeMap::new(), 0);
            let (ages, by_age) = ([0; 4], [0; 31]);
            let (oldest, ahead, late, due, next_due) = (None, 0, 0, 0, None);
            all.push(Overview {
                root,
                files,
                fresh,
                never,
                is_taken_up,
                not_well,
                may_be_rot,
                not_taken_up,
                ahead,
                ages,
                by_age,
                oldest,
                late,
                due,
                next_due,
                begun,
                last,
                is_at_work,
                manners,
                undone,
                unseen,
            });
        }
        let times: Vec<_> = all.iter().map(|it| Due::of(self, &it.root, now)).collect();
        let place_of = |id| all.iter().position(|it: &Overview| it.root.id == id);
        let places: BTreeMap<i64, usize> =
            all.iter().filter_map(|it| Some((it.root.id, place_of(it.root.id)?))).collect();
        State::for_each(&self.db, |state| {
            if let Some(&place) = places.get(&state.root) {
                all[place].add(&state, times[place].due(&state), now);
                all[place].late += u64::from(times[place].is_late(&state));
                all[place].ahead += u64::from(times[place].is_ahead(&state));
            }
            Ok(())
        })?;
        for Rowless { root, seen } in self.rowless()? {
            if let Some(&place) = places.get(&root) {
                *all[place].not_well.entry(seen.status).or_default() += 1;
            }
        }
        if all.iter().any(|it| it.not_well.contains_key(&Status::Changed)) {
            let ids = self.may_be_rot()?;
            for it in &mut all {
                it.may_be_rot = ids.get(&it.root.id).map_or(0, |ids| ids.len() as u64);
            }
        }
        Ok(all)
    }

    /// The files that are not well, in the order of their ids; last those that were forgotten, and
    /// are there all the same.
    ///
    /// # Errors
    /// Those of the catalog.
    pub fn not_well(&self) -> Result<Vec<NotWell>, CatalogError> {
        require_rows(&self.db)?;
        let mut states = Vec::new();
        State::for_each_not_well(&self.db, |state| {
            states.push(state);
            Ok(())
        })?;
        let roots: BTreeMap<i64, Root> =
            self.roots()?.into_iter().map(|root| (root.id, root)).collect();
        let mut finder = Finder::new(self.reader()?);
        let mut files = Vec::new();
        for State { id, root, checked: last_good, status } in states {
            if let (Some(file), Some(root)) = (finder.find(id)?, roots.get(&root)) {
                files.push(NotWell { path: root.path_of(&file.path()), status, last_good });
            }
        }
        for Rowless { root, seen: Sighting { place, status, checked: last_good, .. } } in
            self.rowless()?
        {
            if let Some(root) = roots.get(&root) {
                files.push(NotWell { path: root.path_of(&place), status, last_good });
            }
        }
        Ok(files)
    }

    /// Damaged files that were forgotten, and are there all the same.
    pub(crate) fn rowless(&self) -> Result<Vec<Rowless>, CatalogError> {
        sighting::rowless(&self.db, &self.roots()?)
    }

    /// Gives what was found since a time, oldest first.
    ///
    /// # Errors
    /// Those of the catalog and of `take`.
    pub fn events(
        &self,
        since: i64,
        take: &mut dyn FnMut(&Event) -> io::Result<()>,
    ) -> Result<(), CatalogError> {
        let mut roots = self.forgotten_roots()?;
        roots.extend(self.roots()?.into_iter().map(|root| (root.id, root.path)));
        let columns = EVENT.select("t");
        let sql = format!("SELECT {columns} FROM event t WHERE at >= ?1 ORDER BY id");
        let mut statement = self.db.prepare_cached(&sql)?;
        let mut rows = statement.query([since])?;
        while let Some(row) = rows.next()? {
            take(&event(row, &roots)?).map_err(CatalogError::Told)?;
        }
        Ok(())
    }

    /// The paths of roots that were forgotten: the event of that has them.
    fn forgotten_roots(&self) -> Result<BTreeMap<i64, PathBuf>, CatalogError> {
        let columns = EVENT.select("t");
        let sql = format!("SELECT {columns} FROM event t WHERE class = ?1");
        let mut statement = self.db.prepare_cached(&sql)?;
        let mut rows = statement.query([Class::Forgotten.name()])?;
        let mut roots = BTreeMap::new();
        while let Some(row) = rows.next()? {
            let path = event(row, &BTreeMap::new())?.path();
            if path.is_absolute() {
                roots.insert(row.get(3)?, path);
            }
        }
        Ok(roots)
    }

    /// Whether the event of this number tells only what the look before told as well: of what has
    /// no row, and cannot be looked at, each look tells.
    ///
    /// # Errors
    /// Those of the catalog.
    pub fn is_repeated(&self, event: i64) -> Result<bool, CatalogError> {
        let sql = format!(
            "SELECT EXISTS (SELECT 1 FROM event e JOIN event b USING (root, path, class) \
             WHERE e.id = ?1 AND e.class = ?2 AND b.run = (SELECT max(id) FROM run \
             WHERE root = e.root AND id < e.run AND verb IN ('{}')))",
            LOOKS.join("', '")
        );
        let is_it = (event, Class::Unreadable.name());
        Ok(self.db.query_row(&sql, is_it, |row| row.get(0))?)
    }

    /// Gives what was found after the event of this number, with its number, oldest first.
    ///
    /// # Errors
    /// Those of the catalog and of `take`.
    pub fn events_after(
        &self,
        last: i64,
        take: &mut dyn FnMut(i64, &Event) -> io::Result<()>,
    ) -> Result<(), CatalogError> {
        let roots: BTreeMap<i64, PathBuf> =
            self.roots()?.into_iter().map(|root| (root.id, root.path)).collect();
        let columns = EVENT.select("t");
        let sql = format!("SELECT {columns} FROM event t WHERE id > ?1 ORDER BY id LIMIT 1000");
        let mut statement = self.db.prepare_cached(&sql)?;
        let mut rows = statement.query([last])?;
        while let Some(row) = rows.next()? {
            take(row.get(0)?, &event(row, &roots)?).map_err(CatalogError::Told)?;
        }
        Ok(())
    }

    /// Gives what is cataloged of each file of a root, in byte order of the paths, as records of
    /// lists with the paths below the root.
    ///
    /// # Errors
    /// Those of the catalog and of `take`.
    pub fn records(
        &self,
        root: &Root,
        take: &mut dyn FnMut(Record<'_>) -> io::Result<()>,
    ) -> Result<(), CatalogError> {
        const SECOND: i64 = 1_000_000_000;
        // All of them at one moment, or a file that moves meanwhile is in no line.
        let _moment = self.db.unchecked_transaction()?;
        let mut files = Files::of(&self.db, root.id);
        while let Some(file) = files.next()? {
            let path = file.path();
            let modified = (!is_beyond(file.stat.modified)).then(|| Time {
                seconds: file.stat.modified.div_euclid(SECOND),
                nanoseconds: file.stat.modified.rem_euclid(SECOND).try_into().unwrap_or(0),
            });
            let record = Record {
                size: u64::try_from(file.stat.size).ok(),
                times: Times { modified, changed: None },
                digests: file.digests,
                ..Record::new(&path)
            };
            take(record).map_err(CatalogError::Told)?;
        }
        Ok(())
    }

    /// The last run that looked at all of a root, and the last scrub of it that ended, where they
    /// have not done all that was to be done.
    ///
    /// # Errors
    /// Those of the catalog.
    pub fn undone(&self, root: &Root) -> Result<Vec<Run>, CatalogError> {
        let mut undone = Vec::new();
        let last = self.last_run(root, |_| true)?;
        // What another process does now in this root says nothing yet.
        let is_at_work = self.is_at_work(root, last.as_ref())?;
        let at_work = last.filter(|_| is_at_work);
        let is_at_work = |run: &Run| at_work.as_ref() == Some(run);
        let look = self.last_run(root, |run| run.is_look() && !is_at_work(run))?;
        let scrub = self.last_run(root, |run| run.verb == "scrub" && !is_at_work(run))?;
        // What was to read everything is not done by a look that reads less.
        let is_broken_off = |run: &Run| matches!(run.outcome.as_deref(), None | Some("ended"));
        let is_all = |run: &Run| run.is_of_all && (is_broken_off(run) || run.went_through());
        let all = self.last_run(root, |run| is_all(run) && !is_at_work(run))?;
        let all = all.filter(|run| is_broken_off(run) && look.as_ref() != Some(run));
        for run in look.into_iter().chain(all).chain(scrub) {
            // What a root lacks, whoever looks at it, is told of the root.
            let is_done = matches!(run.outcome.as_deref(), Some("complete" | EMPTY | UNLISTED));
            undone.extend(Some(run).filter(|_| !is_done));
        }
        Ok(undone)
    }

    /// What could not be looked at, and no row stands for it, when the root was looked at last: by
    /// the last run that went through all of it, and those since that did not.
    pub(crate) fn unseen(&self, root: &Root) -> Result<Vec<Unseen>, CatalogError> {
        let mut looks = Vec::new();
        let last = self.last_run(root, |run| {
            if run.is_look() {
                looks.push(run.id);
            }
            run.is_look() && run.went_through()
        })?;
        let saw_all = last.is_some_and(|run| run.outcome.as_deref() != Some("partial"));
        let mut unseen: Vec<Unseen> = Vec::new();
        let Some(&first) = looks.last().filter(|_| !saw_all || looks.len() > 1) else {
            return Ok(unseen);
        };
        self.newest_of(root, first, &mut |run, event| {
            let is_it = matches!(event.finding.class, Class::Unreadable | Class::Busy);
            // What has a row is told by that.
            if !is_it
                || !looks.contains(&run)
                || at(&self.db, root.id, &event.finding.path)?.is_some()
            {
                return Ok(());
            }
            let (path, why) = (event.path(), event.finding.after.unwrap_or_default());
            if unseen.iter().all(|known| known.path != path) {
                unseen.push(Unseen { path, why });
            }
            Ok(())
        })?;
        unseen.reverse();
        Ok(unseen)
    }

    /// Gives the events of a root of this run and of those since, newest first, each with its run.
    fn newest_of(
        &self,
        root: &Root,
        first: i64,
        take: &mut dyn FnMut(i64, Event) -> Result<(), CatalogError>,
    ) -> Result<(), CatalogError> {
        let roots = BTreeMap::from([(root.id, root.path.clone())]);
        let sql = format!("SELECT {} FROM event t ORDER BY id DESC", EVENT.select("t"));
        let mut statement = self.db.prepare_cached(&sql)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let event = event(row, &roots)?;
            let (run, of): (i64, i64) = (row.get(1)?, row.get(3)?);
            if run < first {
                break;
            }
            if of == root.id {
                take(run, event)?;
            }
        }
        Ok(())
    }

    /// Whether a process is in the last run over a root: it has the catalog, and began none since.
    fn is_at_work(&self, root: &Root, last: Option<&Run>) -> Result<bool, CatalogError> {
        if last.is_none_or(|run| run.ended.is_some()) || !self.is_locked() {
            return Ok(false);
        }
        let sql = "SELECT root FROM run ORDER BY id DESC LIMIT 1";
        Ok(self.db.query_row(sql, [], |row| row.get::<_, i64>(0))? == root.id)
    }

    /// What the last look at a root saw that no row tells, where it took up nothing.
    fn not_taken_up(&self, root: &Root) -> Result<BTreeMap<Class, u64>, CatalogError> {
        let is_look = |run: &Run| run.is_look() && run.went_through();
        let look = self.last_run(root, is_look)?.filter(|run| run.verb == "audit");
        let mut counts = look.map_or_else(|| Ok(BTreeMap::new()), |run| self.left_of(root, run))?;
        // A scrub since then may have found more that has another name.
        let is_scrub = |run: &Run| run.verb == "scrub" && run.counts.contains_key(&Class::Moved);
        let last = self.last_run(root, |run| is_look(run) || is_scrub(run))?;
        if let Some(scrub) = last.filter(is_scrub) {
            let moved = self.left_of(root, scrub)?.get(&Class::Moved).copied().unwrap_or(0);
            let most = counts.entry(Class::Moved).or_default();
            *most = moved.max(*most);
        }
        counts.retain(|_, count| *count > 0);
        Ok(counts)
    }

    /// What a run found new or moved and did not take up, less what was accepted since, file by
    /// file.
    fn left_of(&self, root: &Root, run: Run) -> Result<BTreeMap<Class, u64>, CatalogError> {
        let Run { id, mut counts, names, .. } = run;
        counts.retain(|class, _| matches!(class, Class::New | Class::Moved));
        if counts.is_empty() || names.is_empty() {
            return Ok(counts);
        }
        let mut accepted = BTreeMap::new();
        self.newest_of(root, id, &mut |_, Event { finding, .. }| {
            // Of which class it was when it was accepted last, if it was not forgotten since.
            let is_noted = |name: &[u8]| names.contains(&self.jitter.hash(name));
            let other = finding.other.as_deref().map(old_name);
            if finding.class == Class::Accepted
                && (is_noted(&finding.path) || other.is_some_and(|other| is_noted(&other)))
                && at(&self.db, root.id, &finding.path)?.is_some()
            {
                let class = if finding.other.is_some() { Class::Moved } else { Class::New };
                accepted.insert(finding.path, class);
            }
            Ok(())
        })?;
        for class in accepted.values() {
            // What moved, and whose old name was forgotten, is accepted as new.
            let others = [Class::New, Class::Moved];
            let left = |class: &&Class| counts.get(*class).is_some_and(|count| *count > 0);
            if let Some(class) = std::iter::once(class).chain(&others).find(left) {
                counts.entry(*class).and_modify(|count| *count -= 1);
            }
        }
        Ok(counts)
    }

    /// Files of a root that were not read for longer than their period, as
    /// [`Overview::late`] counts them.
    ///
    /// # Errors
    /// Those of the catalog.
    pub fn late(&self, root: &Root, now: i64) -> Result<u64, CatalogError> {
        let times = Due::of(self, root, now);
        let mut late = 0;
        State::for_each(&self.db, |state| {
            late += u64::from(state.root == root.id && times.is_late(&state));
            Ok(())
        })?;
        Ok(late)
    }

    /// Files of a root that were busy, hidden or could not be read when they were to be, and were
    /// not read since.
    ///
    /// # Errors
    /// Those of the catalog.
    pub fn unread(&self, root: &Root) -> Result<u64, CatalogError> {
        require_rows(&self.db)?;
        let mut unread = 0;
        State::for_each_not_well(&self.db, |state| {
            unread += u64::from(state.root == root.id && state.status.is_unseen());
            Ok(())
        })?;
        Ok(unread)
    }

    /// Files of a root that were never read: lists told of them.
    ///
    /// # Errors
    /// Those of the catalog.
    pub fn never_read(&self, root: &Root) -> Result<u64, CatalogError> {
        let sql = "SELECT count(*) FROM state WHERE root = ?1 AND checked = 0 AND status < ?2";
        let bad = Status::FIRST_NOT_GOOD.number();
        let count: i64 = self.db.query_row(sql, [root.id, bad], |row| row.get(0))?;
        Ok(count.cast_unsigned())
    }

    /// The last run over a root that a condition holds for. Each run since is held against its
    /// seal, or a flipped bit would let an earlier one stand for it.
    pub(crate) fn last_run(
        &self,
        root: &Root,
        mut is_it: impl FnMut(&Run) -> bool,
    ) -> Result<Option<Run>, CatalogError> {
        let sql = format!("SELECT {} FROM run t ORDER BY id DESC", RUN.select("t"));
        let mut statement = self.db.prepare_cached(&sql)?;
        let mut rows = statement.query([])?;
        let mut next = None;
        while let Some(row) = rows.next()? {
            let id: i64 = row.get(0)?;
            if next.is_some_and(|next| next != id) {
                return Err(CatalogError::Damaged(format!("run {id} is not the one before")));
            }
            next = Some(id - 1);
            let found = run(row)?;
            if row.get::<_, i64>(2)? == root.id && is_it(&found) {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }
}

impl Overview {
    /// How bad the worst is that is known of it.
    #[must_use]
    pub fn severity(&self) -> Severity {
        let known = self.not_well.keys().map(|status| status.severity()).max();
        let is_left = self.root.suspended.is_some() || self.manners.paused.is_some();
        let is_unknown = self.never > 0 || self.late > 0 || !self.is_taken_up || self.files == 0;
        let is_undone = is_left || is_unknown || !self.undone.is_empty();
        let least = match (is_undone, self.not_taken_up.is_empty()) {
            (true, _) => Severity::NotAllDone,
            (false, false) => Severity::Differences,
            (false, true) => Severity::AsCataloged,
        };
        known.unwrap_or(least).max(least)
    }

    /// Whether all of it was looked at, and no regular file was there: its disk may not be mounted.
    #[must_use]
    pub fn has_no_file(&self) -> bool {
        let is_known = self.is_taken_up && self.root.suspended.is_none();
        let is_seen = self.unseen.is_empty() && self.not_taken_up.is_empty();
        self.files == 0 && is_known && is_seen
    }

    fn add(&mut self, state: &State, due: i64, now: i64) {
        self.files += 1;
        self.fresh += u64::from(state.status == Status::Fresh);
        if !state.status.is_good() {
            *self.not_well.entry(state.status).or_default() += 1;
        }
        let period = i64::from(self.root.policy.every_days.max(1)) * 24 * 60 * 60;
        // What was checked in the future was not checked at all.
        let age = if state.checked > now { i64::MAX } else { now - state.checked };
        let part = if age < period { 30 * age / period } else { 30 };
        let part = usize::try_from(part).unwrap_or(30);
        self.by_age[part] += 1;
        self.ages[part / 10] += 1;
        if state.checked == 0 {
            self.never += u64::from(state.status.is_good());
        } else if state.checked <= now {
            let oldest = self.oldest.map_or(state.checked, |oldest| oldest.min(state.checked));
            self.oldest = Some(oldest);
        }
        if due <= now {
            self.due += 1;
        } else {
            self.next_due = Some(self.next_due.map_or(due, |next| next.min(due)));
        }
    }
}

/// A row of `RUN`.
pub(crate) fn run(row: &Row<'_>) -> Result<Run, CatalogError> {
    RUN.verify(row, 0)?;
    let counts = row.get::<_, Option<String>>(6)?.unwrap_or_default();
    Ok(Run {
        id: row.get(0)?,
        verb: row.get(1)?,
        started: row.get(3)?,
        ended: row.get(4)?,
        outcome: row.get(5)?,
        counts: counts_of(&counts),
        files: row.get(7)?,
        bytes: row.get(8)?,
        is_of_all: was_of_all(&counts),
        names: names_of(&counts),
    })
}

/// A row of `EVENT`.
pub(crate) fn event(row: &Row<'_>, roots: &BTreeMap<i64, PathBuf>) -> Result<Event, CatalogError> {
    EVENT.verify(row, 0)?;
    let class: String = row.get(5)?;
    let class = Class::from_name(&class)
        .ok_or_else(|| CatalogError::Damaged(format!("an event has the class {class}")))?;
    let mut root = roots.get(&row.get(3)?).cloned();
    let finding = Finding {
        class,
        path: row.get(4)?,
        other: row.get(6)?,
        files: row.get::<_, i64>(7)?.cast_unsigned(),
        before: row.get(8)?,
        after: row.get(9)?,
    };
    if finding.path.starts_with(b"/") {
        // It tells itself of which root it is.
        root = None;
    }
    Ok(Event { at: row.get(2)?, root, finding })
}

impl Event {
    /// The path that it is about, with that of its root where that is known still.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        let below = OsStr::from_bytes(&self.finding.path);
        match &self.root {
            Some(root) if below.is_empty() => root.clone(),
            Some(root) => root.join(below),
            None => PathBuf::from(below),
        }
    }

    /// Whether it is of this folder, or of what is in it.
    #[must_use]
    pub fn is_of(&self, root: &Root) -> bool {
        self.root.as_ref().is_some_and(|path| *path == root.path) || self.path() == root.path
    }
}
