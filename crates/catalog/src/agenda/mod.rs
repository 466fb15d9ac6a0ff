//! What a daemon reads, and when: an event for each file, in memory.
//!
//! Nothing of it is stored. Due times are computed from the rows, and a restart computes them
//! again. A root is read in rounds. A round begins when a file is due and the last round is an hour
//! old, in the hours of the root. It goes as far as the day's budget, in parts of ten thousand
//! files or 8 GiB. The first round of each day also reads the files that are not ok, whatever the
//! budget. It takes place even if no file is due, so that an offline root is noticed.
//!
//! Days are those of the wall clock, from midnight to midnight.

mod queue;

use std::collections::BTreeMap;

use jiff::tz::TimeZone;
use lanesum_checksum::disk::{PathState, Probe};

use crate::CatalogError;
use crate::due::{DAY, Times, budget, spent};
use crate::model::midnight;
use crate::options::Options;
use crate::pass::{OnFinding, scrub_ids};
use crate::root::Root;
use crate::settings::Settings;
use crate::store::catalog::Catalog;
use crate::store::check::require_rows;
use crate::store::rows::{Finder, State};
use crate::store::run::RunRow;
use crate::store::total::Total;
use crate::summary::{Halt, Summary};
pub use queue::Next;
use queue::{Claimed, Queue, ROUND, too_many};

/// Of more files than this only those that are due within a week are held.
const MANY: usize = 8_000_000;
const WEEK: i64 = 7 * DAY;

/// A part of a round: files of a root that are read in one run.
#[derive(Debug)]
#[non_exhaustive]
pub struct Part {
    /// Its files.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Whether another part follows at once.
    pub goes_on: bool,
    /// Whether more is due, which the day's budget leaves for another day.
    pub is_capped: bool,
    claimed: Claimed,
}

/// The files of all roots, by when they are due.
#[derive(Debug)]
pub struct Agenda {
    roots: BTreeMap<i64, Queue>,
    /// The last run that is accounted for.
    seen: i64,
    /// The periods of the roots that due times were computed with.
    periods: BTreeMap<i64, u32>,
    zone: TimeZone,
}

fn periods(roots: &[Root]) -> BTreeMap<i64, u32> {
    roots.iter().map(|root| (root.id(), root.settings.every_days)).collect()
}

fn number(id: i64) -> Result<u32, CatalogError> {
    u32::try_from(id).map_err(|_| too_many())
}

impl Agenda {
    /// Computes it from the rows of a catalog, at this time in seconds since 1970.
    ///
    /// # Errors
    /// Those of the catalog.
    pub fn of(catalog: &Catalog, now: i64, zone: &TimeZone) -> Result<Self, CatalogError> {
        require_rows(&catalog.db)?;
        let seen = RunRow::last_id(&catalog.db)?;
        let roots = catalog.roots()?;
        let times: BTreeMap<i64, _> =
            roots.iter().map(|root| (root.id(), Times::of(catalog, &root.settings, now))).collect();
        let mut queues: BTreeMap<i64, Queue> =
            roots.iter().map(|root| (root.id(), Queue::default())).collect();
        let sql = "SELECT count(*) FROM (SELECT 1 FROM state LIMIT ?1)";
        let most = MANY as i64 + 1;
        let files: i64 = catalog.db.query_row(sql, [most], |row| row.get(0))?;
        if files == most {
            queues.values_mut().for_each(|queue| queue.horizon = Some(now + WEEK));
        }
        State::for_each(&catalog.db, |state| {
            let (Some(queue), Some(times)) = (queues.get_mut(&state.root), times.get(&state.root))
            else {
                return Ok(());
            };
            queue.add(number(state.id)?, state.is_ok(), times.due(&state))
        })?;
        Ok(Self { roots: queues, seen, periods: periods(&roots), zone: zone.clone() })
    }

    /// Computes it again if other runs or settings changed it, or all that it holds is read. It
    /// remembers the rounds of the day.
    ///
    /// # Errors
    /// Those of the catalog.
    pub fn refresh(&mut self, catalog: &Catalog, now: i64) -> Result<(), CatalogError> {
        let is_near = |queue: &Queue| queue.horizon.is_some_and(|horizon| now > horizon - DAY);
        let is_current = RunRow::last_id(&catalog.db)? == self.seen
            && periods(&catalog.roots()?) == self.periods
            && !self.roots.values().any(is_near);
        if is_current { Ok(()) } else { self.load(catalog, now) }
    }

    /// Computes it again, as after the clock was set.
    ///
    /// # Errors
    /// Those of the catalog.
    pub fn load(&mut self, catalog: &Catalog, now: i64) -> Result<(), CatalogError> {
        let mut fresh = Self::of(catalog, now, &self.zone)?;
        for (id, queue) in &mut fresh.roots {
            if let Some(old) = self.roots.get_mut(id) {
                (queue.day, queue.rest) = (old.day, old.rest.min(now + ROUND));
            }
        }
        *self = fresh;
        Ok(())
    }

    /// When the day of a time began, in seconds since 1970.
    #[must_use]
    pub fn day(&self, now: i64) -> i64 {
        midnight(now, &self.zone)
    }

    /// Lets the first round of the day be done again for a root.
    pub fn begin_again(&mut self, root: &Root) {
        let queue = self.roots.entry(root.id()).or_default();
        (queue.day, queue.rest) = (i64::MIN, i64::MIN);
    }

    /// The files that it holds.
    #[must_use]
    pub fn files(&self) -> u64 {
        self.roots.values().map(Queue::files).sum::<usize>() as u64
    }

    /// When a root has something to be read; `is_asked` lets its hours not count.
    ///
    /// # Errors
    /// Those of the catalog.
    pub fn next(
        &mut self,
        catalog: &Catalog,
        root: &Root,
        is_asked: bool,
        now: i64,
    ) -> Result<Next, CatalogError> {
        let (settings, steering) = Settings::of(&catalog.db, root.id())?;
        let left = self.left(catalog, root, now)?;
        let zone = self.zone.clone();
        let queue = self.roots.entry(root.id()).or_default();
        Ok(queue.next((&settings, &steering), is_asked, now, left, &zone))
    }

    /// Bytes of the day's budget of a root.
    fn left(&mut self, catalog: &Catalog, root: &Root, now: i64) -> Result<i64, CatalogError> {
        let queue = self.roots.entry(root.id()).or_default();
        let is_late = queue.is_late(now);
        let spent = spent(&catalog.db, root.id(), midnight(now, &self.zone) - 1, now)?;
        let total = Total::of(&catalog.db, root.id())?;
        Ok(budget(total, root.settings.every_days, is_late, spent))
    }
}

impl Catalog {
    /// Takes the next part of a root out of an agenda, for [`scrub_part`](Self::scrub_part), which
    /// puts it back. Before each file, `goes_on` is asked whether the part may be longer.
    ///
    /// # Errors
    /// Those of the catalog.
    pub fn next_part(
        &self,
        agenda: &mut Agenda,
        root: &Root,
        now: i64,
        goes_on: &mut dyn FnMut() -> bool,
    ) -> Result<Part, CatalogError> {
        agenda.refresh(self, now)?;
        let left = agenda.left(self, root, now)?;
        let queue = agenda.roots.entry(root.id()).or_default();
        let mut finder = Finder::new(self.reader()?);
        let probe = Probe::of(&root.path)?;
        // A file that is not at its path takes nothing from the budget.
        let mut size = |id: u32| -> Result<Option<i64>, CatalogError> {
            let file = finder.find(id.into())?;
            let file = file.filter(|file| matches!(probe.look(&file.path()), PathState::File));
            Ok(file.map(|file| file.stat.size))
        };
        // Until the part is put back, the agenda is out of date.
        agenda.seen = -1;
        let claimed = queue.claim(now, left, &agenda.zone, &mut size, goes_on)?;
        let mut bytes = claimed.bytes;
        for &id in &claimed.bad {
            if !goes_on() {
                break;
            }
            bytes += size(id)?.unwrap_or(0);
        }
        let is_due = queue.head().is_some_and(|head| head <= now);
        let goes_on = is_due && left > claimed.cost;
        Ok(Part {
            files: claimed.files() as u64,
            bytes: bytes.max(0).cast_unsigned(),
            goes_on,
            is_capped: is_due && !goes_on,
            claimed,
        })
    }

    /// Reads a part, without a scan before, and reports what it finds, each once it is on disk.
    ///
    /// # Errors
    /// As of [`run`](Self::run).
    pub fn scrub_part(
        &mut self,
        agenda: &mut Agenda,
        root: &Root,
        part: Part,
        options: &Options,
        on_finding: OnFinding<'_>,
    ) -> Result<Summary, CatalogError> {
        let Part { claimed, goes_on, .. } = part;
        let summary = scrub_ids(self, root, claimed.ids(), goes_on, options, on_finding)?;
        let queue = agenda.roots.entry(root.id()).or_default();
        let now = (options.clock)();
        let times = Times::of(self, &root.settings, now);
        let is_whole =
            summary.offline().is_none() && matches!(summary.halt, None | Some(Halt::Part));
        queue.put_back(claimed, now, is_whole, |id| {
            let state = State::find(&self.db, id.into())?;
            Ok(state.map(|state| (state.is_ok(), times.due(&state))))
        })?;
        if is_whole && !goes_on {
            queue.rest = now + ROUND;
        }
        agenda.seen = RunRow::last_id(&self.db)?;
        Ok(summary)
    }
}
