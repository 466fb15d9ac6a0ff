//! What a daemon has to read, and when: an event for each file, in memory.
//!
//! Nothing of it is stored: due times are computed from the rows, and a restart computes them again.
//! A root is read in rounds. One begins when a file is due and the last one is an hour old, in the
//! hours of the root, as far as the day's budget goes; it is done in parts of ten thousand files or
//! 8 GiB. Files that are not ok are read again in the first round of each day, whatever the budget;
//! that round takes place also where nothing is due, so that an offline root is noticed.
//!
//! Days are those of the wall's clock, from midnight to midnight.

use std::collections::{BTreeMap, BTreeSet};

use jiff::tz::TimeZone;
use lanesum_events::{EventId, Schedule};

use crate::CatalogError;
use crate::due::{BATCH, DAY, Times, budget, cost, spent};
use crate::model::{midnight, next_midnight};
use crate::options::Options;
use crate::pass::{OnFinding, scrub_ids};
use crate::probe::{Probe, There};
use crate::root::Root;
use crate::settings::{Settings, Steering};
use crate::store::catalog::Catalog;
use crate::store::check::require_rows;
use crate::store::rows::{Finder, State};
use crate::store::run::RunRow;
use crate::store::total::Total;
use crate::summary::{Halt, Summary};

/// Bytes of a part of a round.
const PART: i64 = 8 << 30;
/// Between the beginnings of two rounds.
const ROUND: i64 = 60 * 60;
/// More files than so many are not held all, but those that are due within a week.
const MANY: usize = 8_000_000;
const WEEK: i64 = 7 * DAY;

/// When a root has something to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Next {
    /// Now.
    Now,
    /// Not before this time in seconds since 1970.
    At(i64),
    /// Not before its scrubs are resumed.
    Paused,
}

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

/// The files of a root, by when they are due.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    /// Ids of the files that are ok, by their due times in seconds since 1970.
    schedule: Schedule<u32>,
    /// Ids of the others.
    bad: BTreeSet<u32>,
    /// The day whose first round was begun, by its midnight.
    day: i64,
    /// The next round does not begin before.
    rest: i64,
    /// All files of the root.
    files: u64,
    /// Files that are due later than this are not held.
    horizon: Option<i64>,
}

/// Files that are to be read now.
#[derive(Debug, Default)]
pub(crate) struct Claimed {
    events: Vec<(EventId, u32)>,
    bad: Vec<u32>,
    /// Of the files that are ok.
    bytes: i64,
    /// Their share of the day's budget.
    cost: i64,
}

impl Claimed {
    pub(crate) fn ids(&self) -> Vec<i64> {
        let mut ids: Vec<i64> = self.events.iter().map(|&(_, id)| i64::from(id)).collect();
        ids.sort_unstable();
        // Files that are not ok come last, or they would take up the hours of the rest. They are
        // sorted.
        ids.extend(self.bad.iter().map(|&id| i64::from(id)));
        ids
    }
}

impl Queue {
    /// Holds a recorded file.
    pub(crate) fn add(&mut self, id: u32, is_ok: bool, due: i64) -> Result<(), CatalogError> {
        self.files += 1;
        self.hold(id, is_ok, due)
    }

    fn hold(&mut self, id: u32, is_ok: bool, due: i64) -> Result<(), CatalogError> {
        if !is_ok {
            self.bad.insert(id);
        } else if self.horizon.is_none_or(|horizon| due < horizon) {
            self.schedule.add(seconds(due), id).map_err(|_| too_many())?;
        }
        Ok(())
    }

    /// When the first file is due.
    pub(crate) fn head(&mut self) -> Option<i64> {
        self.schedule.next_deadline().map(|at| at.try_into().unwrap_or(i64::MAX))
    }

    /// Whether files are later than a day.
    pub(crate) fn is_late(&mut self, now: i64) -> bool {
        self.head().is_some_and(|head| head < now - DAY)
    }

    /// What is to be done next. `left` are bytes of the day's budget.
    pub(crate) fn next(
        &mut self,
        (settings, steering): (&Settings, &Steering),
        is_asked: bool,
        now: i64,
        left: i64,
        zone: &TimeZone,
    ) -> Next {
        if steering.paused.is_some() {
            return Next::Paused;
        }
        if let Some(window) = settings.window.filter(|_| !is_asked) {
            let open = window.next_open(now, zone);
            if open > now {
                return Next::At(open);
            }
        }
        if self.day != midnight(now, zone) {
            return Next::Now;
        }
        let tomorrow = next_midnight(now, zone);
        let begins = match self.head() {
            Some(head) if left > 0 => head.max(self.rest),
            _ => tomorrow,
        };
        if begins <= now { Next::Now } else { Next::At(begins.min(tomorrow)) }
    }

    /// Takes files to be read now, as far as the budget goes and one file more. `size` gives none of
    /// a file that is not there. Files that are not ok do not count. Where `goes_on` says false, the
    /// part ends with those that were taken.
    pub(crate) fn claim(
        &mut self,
        now: i64,
        left: i64,
        zone: &TimeZone,
        mut size: impl FnMut(u32) -> Result<Option<i64>, CatalogError>,
        goes_on: &mut dyn FnMut() -> bool,
    ) -> Result<Claimed, CatalogError> {
        let mut claimed = Claimed::default();
        let today = midnight(now, zone);
        if self.day != today {
            self.day = today;
            claimed.bad = self.bad.iter().copied().collect();
        }
        let most = left.min(PART);
        while claimed.cost < most && claimed.events.len() < BATCH {
            if !claimed.events.is_empty() && !goes_on() {
                break;
            }
            let Some(claim) = self.schedule.claim_due(seconds(now)) else { break };
            let (event, id) = (claim.id, *claim.payload);
            if let Some(size) = size(id)? {
                claimed.bytes += size;
                claimed.cost += cost(size);
            }
            claimed.events.push((event, id));
        }
        Ok(claimed)
    }

    /// Puts claimed files back. `known` says of each whether it is ok, and when it is due; none of a
    /// file whose record is gone.
    pub(crate) fn put_back(
        &mut self,
        claimed: Claimed,
        now: i64,
        was_whole: bool,
        mut known: impl FnMut(u32) -> Result<Option<(bool, i64)>, CatalogError>,
    ) -> Result<(), CatalogError> {
        if !was_whole {
            // The day's first round is to be done again.
            self.day = i64::MIN;
        }
        for (event, id) in claimed.events {
            match known(id)? {
                // Its record is gone.
                None => _ = self.schedule.cancel(event),
                Some((false, _)) => {
                    self.schedule.cancel(event);
                    self.bad.insert(id);
                }
                Some((true, due)) if due > now => {
                    if self.horizon.is_none_or(|horizon| due < horizon) {
                        self.schedule.reschedule(event, seconds(due));
                    } else {
                        self.schedule.cancel(event);
                    }
                }
                // It was not read: it was not in its place, say.
                Some((true, _)) if was_whole => {
                    _ = self.schedule.reschedule(event, seconds(now + ROUND));
                }
                Some((true, due)) => _ = self.schedule.reschedule(event, seconds(due)),
            }
        }
        for id in claimed.bad {
            match known(id)? {
                None => _ = self.bad.remove(&id),
                Some((false, _)) => {}
                Some((true, due)) => {
                    self.bad.remove(&id);
                    self.hold(id, true, due)?;
                }
            }
        }
        Ok(())
    }

    /// Bytes that it has allocated for its events.
    pub(crate) fn heap_size(&self) -> usize {
        self.schedule.heap_size()
    }
}

fn periods(roots: &[Root]) -> BTreeMap<i64, u32> {
    roots.iter().map(|root| (root.id(), root.settings.every_days)).collect()
}

fn seconds(at: i64) -> u64 {
    at.max(0).cast_unsigned()
}

fn too_many() -> CatalogError {
    let why = "a daemon cannot hold more than four thousand million files";
    CatalogError::io("the catalog")(std::io::Error::other(why))
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
        self.roots.values().map(|queue| queue.schedule.len() + queue.bad.len()).sum::<usize>()
            as u64
    }

    /// Bytes of memory that it takes for its events.
    #[must_use]
    pub fn heap_size(&self) -> usize {
        self.roots.values().map(Queue::heap_size).sum()
    }

    /// When a root has something to be read. What is due is to be read whatever the hours where
    /// `is_asked`.
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
        // A file that is not there takes nothing from the others.
        let mut size = |id: u32| -> Result<Option<i64>, CatalogError> {
            let file = finder.find(id.into())?;
            let file = file.filter(|file| matches!(probe.look(&file.path()), There::File));
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
            files: (claimed.events.len() + claimed.bad.len()) as u64,
            bytes: bytes.max(0).cast_unsigned(),
            goes_on,
            is_capped: is_due && !goes_on,
            claimed,
        })
    }

    /// Reads a part, and tells what it finds, each once it is on the medium.
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

#[cfg(test)]
mod tests;
