//! The state of roots and files, from stored columns only, not from events.

use crate::CatalogError;
use crate::due::{Times, is_overdue};
use crate::model::{Attention, Class};
use crate::options::Verb;
use crate::root::Root;
use crate::store::catalog::Catalog;
use crate::store::check::require_rows_but_files;
use crate::store::chunk::partly_read;
use crate::store::pending::pending_of;
use crate::store::rows::State;
use crate::store::run::RunRow;
use crate::store::total::Total;
use crate::summary::{Counts, attention_of};

/// The state of a root.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RootStatus {
    /// The root.
    pub root: Root,
    /// The number of its records.
    pub files: u64,
    /// Its records by their stored classes.
    pub standing: Counts,
    /// The number of unchecked records with I/O errors.
    pub io_errors: u64,
    /// New files of the last scan, which `update` records.
    pub new: u64,
    /// The number of records below directories that the last scan could not read, or under mounts.
    pub unknown: u64,
    /// The number of files and directories without records that the last scan could not read.
    pub unreadable: u64,
    /// Numbers of files by the age of their last verification: thirty parts of the period, and
    /// beyond it.
    pub by_age: [u64; 31],
    /// The oldest verification in seconds since 1970, or none without records.
    pub oldest: Option<i64>,
    /// The number of files whose last verification is longer ago than the root allows.
    pub overdue: u64,
    /// The number of files that are due now.
    pub due: u64,
    /// The next due time of a file that is not due now, in seconds since 1970.
    pub next_due: Option<i64>,
    /// The last run that read or compared files.
    pub last: Option<Run>,
    /// Whether the last update stopped because too many files were edited.
    pub are_edits_refused: bool,
    /// Whether a run is in progress.
    pub is_running: bool,
    /// The partly read long files.
    pub partly_read: Option<PartlyRead>,
}

impl RootStatus {
    /// Returns the attention that it needs.
    #[must_use]
    pub fn attention(&self) -> Attention {
        let files = attention_of(&self.standing, self.root.settings.profile);
        let new = if self.new > 0 { Attention::Changes } else { Attention::Nothing };
        let is_gap = self.root.offline.is_some()
            || !self.root.is_complete
            || self.unknown + self.unreadable + self.overdue > 0
            || self.are_edits_refused;
        let gap = if is_gap { Attention::Incomplete } else { Attention::Nothing };
        let errors = if self.io_errors > 0 { Attention::Problem } else { Attention::Nothing };
        files.max(new).max(gap).max(errors)
    }
}

/// The long files of which a scrub read a part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PartlyRead {
    /// Their number.
    pub files: u64,
    /// Their bytes.
    pub of: u64,
    /// The bytes that were read.
    pub read: u64,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Outcome {
    /// It is in progress, or was interrupted.
    Begun,
    /// Everything was done.
    Complete,
    /// Everything was done, except for files that could not be read.
    Partial,
    /// The root was offline.
    Offline,
    /// It reached a limit of time, bytes or hours, or was stopped.
    Limited,
    /// Scrubs of the root were paused.
    Paused,
    /// It was a part of a longer run.
    Part,
    /// Too many files were edited.
    TooManyEdits,
    /// The catalog itself is damaged.
    CatalogDamaged,
}

impl Outcome {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Begun,
        Self::Complete,
        Self::Partial,
        Self::Offline,
        Self::Limited,
        Self::Paused,
        Self::Part,
        Self::TooManyEdits,
        Self::CatalogDamaged,
    ];

    /// Returns its name in lower case.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Begun => "begun",
            Self::Complete => "complete",
            Self::Partial => "partial",
            Self::Offline => "offline",
            Self::Limited => "limited",
            Self::Paused => "paused",
            Self::Part => "part",
            Self::TooManyEdits => "too-many-edits",
            Self::CatalogDamaged => "catalog-damaged",
        }
    }

    pub(crate) fn from_number(number: i64) -> Option<Self> {
        Self::ALL.into_iter().find(|outcome| *outcome as i64 == number)
    }
}

/// The files that a run covers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Scope {
    /// All contents of the root.
    #[default]
    Everything,
    /// Given paths.
    Named,
    /// Due or selected files.
    Due,
    /// New and different files.
    Changes,
    /// Only names, sizes and times.
    Names,
}

impl Scope {
    pub(crate) const fn from_number(number: i64) -> Option<Self> {
        Some(match number {
            0 => Self::Everything,
            1 => Self::Named,
            2 => Self::Due,
            3 => Self::Changes,
            4 => Self::Names,
            _ => return None,
        })
    }
}

/// A run, as stored.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Run {
    /// Its number.
    pub id: i64,
    /// The id of its root.
    pub root: i64,
    /// Its verb.
    pub verb: Verb,
    /// The files that it covers.
    pub scope: Scope,
    /// The start in seconds since 1970.
    pub started: i64,
    /// The end.
    pub ended: Option<i64>,
    /// The outcome.
    pub outcome: Outcome,
    /// The numbers of files by the classes found.
    pub counts: Counts,
    /// The number of files read.
    pub files: u64,
    /// The number of bytes read.
    pub bytes: u64,
}

impl RunRow {
    /// A run that starts.
    pub(crate) fn begun(id: i64, root: i64, (verb, scope): (Verb, Scope), started: i64) -> Self {
        let (scope, outcome) = (scope as i64, Outcome::Begun as i64);
        Self { id, root, verb: verb.name().to_owned(), scope, started, outcome, ..Self::default() }
    }

    /// A run over given paths, which is done at once.
    pub(crate) fn done(id: i64, root: i64, verb: Verb, now: i64) -> Self {
        let begun = Self::begun(id, root, (verb, Scope::Named), now);
        Self { ended: Some(now), outcome: Outcome::Complete as i64, ..begun }
    }
}

impl Run {
    pub(crate) fn of(row: RunRow) -> Result<Self, CatalogError> {
        let unknown = |what: &str| CatalogError::Damaged(format!("run {} has {what}", row.id));
        Ok(Self {
            id: row.id,
            root: row.root,
            verb: Verb::from_name(&row.verb).ok_or_else(|| unknown("an unknown verb"))?,
            scope: Scope::from_number(row.scope).ok_or_else(|| unknown("an unknown scope"))?,
            started: row.started,
            ended: row.ended,
            outcome: Outcome::from_number(row.outcome)
                .ok_or_else(|| unknown("an unknown outcome"))?,
            files: row.files.max(0).cast_unsigned(),
            bytes: row.bytes.max(0).cast_unsigned(),
            counts: row.counts,
        })
    }
}

impl Catalog {
    /// Returns the state of all roots at a time in seconds since 1970, in the order of adding.
    ///
    /// # Errors
    /// Errors of the catalog.
    pub fn status(&self, now: i64) -> Result<Vec<RootStatus>, CatalogError> {
        // In one transaction, because another process may write meanwhile.
        let _moment = self.db.unchecked_transaction()?;
        require_rows_but_files(&self.db)?;
        let roots = self.roots()?;
        let times: Vec<_> = roots.iter().map(|root| Times::of(self, &root.settings, now)).collect();
        let newest = RunRow::find(&self.db, RunRow::last_id(&self.db)?)?;
        // The runs of one command over several roots start together.
        let running = newest.filter(|_| self.is_locked()).map(|run| run.started);
        let partly = partly_read(&self.db)?;
        let mut all = Vec::new();
        for root in roots {
            let mut status = self.empty_status(root, running)?;
            let parts = partly.get(&status.root.id());
            status.partly_read = parts.map(|&[files, of, read]| PartlyRead { files, of, read });
            all.push(status);
        }
        let mut place = 0;
        State::for_each(&self.db, |state| {
            // Files with adjacent ids are usually in the same root.
            let is_of_root = |status: &RootStatus| status.root.id() == state.root;
            if !all.get(place).is_some_and(is_of_root) {
                let Some(found) = all.iter().position(is_of_root) else { return Ok(()) };
                place = found;
            }
            all[place].add(&state, &times[place]);
            Ok(())
        })?;
        for status in &all {
            let total = Total::of(&self.db, status.root.id())?;
            if total.files != status.files.cast_signed() {
                let path = status.root.path.display();
                let fault = format!("{} of {} states found of {path}", status.files, total.files);
                return Err(CatalogError::Damaged(fault));
            }
        }
        Ok(all)
    }

    /// Returns the status of a root before its records are counted. `running` is the start of the
    /// newest run, if a process has the catalog.
    fn empty_status(&self, root: Root, running: Option<i64>) -> Result<RootStatus, CatalogError> {
        let is_reading = |run: &RunRow| {
            let verb = Verb::from_name(&run.verb);
            matches!(verb, Some(Verb::Add | Verb::Scan | Verb::Update | Verb::Verify | Verb::Scrub))
        };
        let last = RunRow::last(&self.db, root.id(), is_reading)?.map(Run::of).transpose()?;
        let is_update =
            |run: &RunRow| [Verb::Add.name(), Verb::Update.name()].contains(&&*run.verb);
        let updated = RunRow::last(&self.db, root.id(), is_update)?;
        let refused = Outcome::TooManyEdits as i64;
        let are_edits_refused = updated.is_some_and(|run| run.outcome == refused);
        let begun = last.as_ref().filter(|run| run.outcome == Outcome::Begun);
        let (mut new, mut unknown, mut unreadable) = (0, 0, 0);
        for row in pending_of(&self.db, root.id())? {
            match row.class {
                Class::New => new += 1,
                Class::Unchecked if row.files == 0 => unreadable += 1,
                Class::Unchecked => unknown += row.files,
                _ => {}
            }
        }
        Ok(RootStatus {
            is_running: begun.is_some_and(|run| Some(run.started) == running),
            last,
            root,
            files: 0,
            standing: Counts::new(),
            io_errors: 0,
            new,
            unknown,
            unreadable,
            by_age: [0; 31],
            oldest: None,
            overdue: 0,
            due: 0,
            next_due: None,
            are_edits_refused,
            partly_read: None,
        })
    }
}

impl RootStatus {
    fn add(&mut self, state: &State, times: &Times<'_>) {
        self.files += 1;
        *self.standing.entry(state.class).or_default() += 1;
        self.io_errors += u64::from(state.has_io_error());
        self.overdue += u64::from(is_overdue(state, &self.root.settings, times.now));
        self.by_age[times.age_of(state, self.by_age.len() - 1)] += 1;
        if state.verified > 0 {
            let oldest = self.oldest.map_or(state.verified, |oldest| oldest.min(state.verified));
            self.oldest = Some(oldest);
        }
        let due = times.due(state);
        if due <= times.now {
            self.due += 1;
        } else {
            self.next_due = Some(self.next_due.map_or(due, |next| next.min(due)));
        }
    }
}
