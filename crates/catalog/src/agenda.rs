//! What a daemon has to read, and when: an event for each file, in memory.
//!
//! Nothing of it is stored: due times are computed of the rows, and a restart computes them anew. A
//! root is read in rounds. One begins when a file is due and the last one is an hour old, in the
//! hours of the root, as far as the day's budget goes; it is done in parts of ten thousand files or
//! 8 GiB. What is not well is read again in the first round of each day, whatever the budget; that
//! round takes place also where nothing is due, so that a root that is not there is seen.
//!
//! Days are those of the wall's clock, from midnight to midnight.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io;

use jiff::tz::TimeZone;
use lanesum_events::{EventId, Schedule};

use crate::check::require_rows;
use crate::finding::Finding;
use crate::jobs::Limits;
use crate::manners::Manners;
use crate::options::{Options, Verb};
use crate::root::Root;
use crate::rows::{Finder, State};
use crate::scrub::{BATCH, DAY, Part as Whole, Times, budget, cost};
use crate::summary::{Halt, Summary};
use crate::table::STATE;
use crate::way::{There, Ways};
use crate::window::{midnight, next_midnight};
use crate::{Catalog, CatalogError};

/// Bytes of a part of a round.
const PART: i64 = 8 << 30;
/// Between the beginnings of two rounds.
const ROUND: i64 = 60 * 60;
/// More files than so many are not held all, but those that are due within a week.
const MANY: usize = 8_000_000;
const WEEK: i64 = 7 * DAY;

/// What is to be done with a root next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Next {
    /// Something is to be read now.
    Now,
    /// Nothing is before this time in seconds since 1970.
    At(i64),
    /// Nothing is until somebody resumes it.
    Paused,
}

/// A part of what is due of a root, which is to be read now.
#[derive(Debug)]
#[non_exhaustive]
pub struct Part {
    /// Its files.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Whether more is to be read today.
    pub goes_on: bool,
    /// Whether more is due, on another day.
    pub is_capped: bool,
    claimed: Claimed,
}

/// What is due of all roots of a catalog.
#[derive(Debug)]
pub struct Agenda {
    roots: BTreeMap<i64, Queue>,
    /// The last run that is accounted for.
    seen: i64,
    /// The periods of the roots that due times were computed with.
    periods: BTreeMap<i64, u32>,
    zone: TimeZone,
}

/// What is due of a root.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    /// Ids of the files that are well, by their due times in seconds since 1970.
    schedule: Schedule<u32>,
    /// Those that are not.
    bad: BTreeSet<u32>,
    /// Those that could not be read when they were to be, and are neither good nor bad.
    deferred: BTreeSet<u32>,
    /// The day whose first round was begun, by its midnight.
    day: i64,
    /// The next round does not begin before.
    rest: i64,
    /// All files of the root.
    files: u64,
    /// What is due later than this is not held.
    horizon: Option<i64>,
}

/// Files that are to be read now.
#[derive(Debug, Default)]
pub(crate) struct Claimed {
    events: Vec<(EventId, u32)>,
    bad: Vec<u32>,
    /// Of the files that are well.
    bytes: i64,
    /// What these take of the day's budget.
    cost: i64,
}

impl Claimed {
    pub(crate) fn ids(&self) -> Vec<i64> {
        let mut ids: Vec<i64> = self.events.iter().map(|&(_, id)| i64::from(id)).collect();
        ids.sort_unstable();
        // What is not well comes last, or it would take up the hours of the rest. It is sorted.
        ids.extend(self.bad.iter().map(|&id| i64::from(id)));
        ids
    }
}

impl Queue {
    /// Holds a file that is cataloged.
    pub(crate) fn add(&mut self, id: u32, is_good: bool, due: i64) -> Result<(), CatalogError> {
        self.files += 1;
        self.hold(id, is_good, due)
    }

    fn hold(&mut self, id: u32, is_good: bool, due: i64) -> Result<(), CatalogError> {
        if !is_good {
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
        manners: &Manners,
        is_asked: bool,
        now: i64,
        left: i64,
        zone: &TimeZone,
    ) -> Next {
        if manners.paused.is_some() {
            return Next::Paused;
        }
        if let Some(window) = manners.window.filter(|_| !is_asked) {
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

    /// Takes what is to be read now: so much of the budget at most, but for the last file. `size`
    /// is of a file that is there. What is not well does not count. Where somebody has waited long
    /// enough for it, as `goes_on` says, it is what there is by then.
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

    /// Puts files back that were claimed, with what is known of each now: whether it is well, and
    /// when it is due. Of one that was not reached in a run that ended early nothing is said.
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
            self.deferred.remove(&id);
            match known(id)? {
                // It is not cataloged any more.
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
                // It was not read: somebody was writing to it, say.
                Some((true, _)) if was_whole => {
                    self.deferred.insert(id);
                    self.schedule.reschedule(event, seconds(now + ROUND));
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
    roots.iter().map(|root| (root.id, root.policy.every_days)).collect()
}

fn seconds(at: i64) -> u64 {
    at.max(0).cast_unsigned()
}

fn too_many() -> CatalogError {
    let why =
        "more than four thousand million files were cataloged in it, which a daemon cannot hold";
    CatalogError::io("the catalog")(io::Error::other(why))
}

fn number(id: i64) -> Result<u32, CatalogError> {
    u32::try_from(id).map_err(|_| too_many())
}

impl Agenda {
    /// Computes of a catalog what is due, at this time in seconds since 1970.
    ///
    /// # Errors
    /// Those of the catalog.
    pub fn of(catalog: &Catalog, now: i64, zone: &TimeZone) -> Result<Self, CatalogError> {
        require_rows(&catalog.db)?;
        let seen = catalog.last_run_id()?;
        let roots = catalog.roots()?;
        let times: BTreeMap<i64, _> =
            roots.iter().map(|root| (root.id, Times::of(catalog, root, now))).collect();
        let mut queues: BTreeMap<i64, Queue> =
            roots.iter().map(|root| (root.id, Queue::default())).collect();
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
            queue.add(number(state.id)?, state.status.is_good(), times.due(&state))
        })?;
        Ok(Self { roots: queues, seen, periods: periods(&roots), zone: zone.clone() })
    }

    /// Computes it anew where somebody else changed the catalog, or what is held is read. What it
    /// remembers of a day's rounds stays.
    ///
    /// # Errors
    /// Those of the catalog.
    pub fn refresh(&mut self, catalog: &Catalog, now: i64) -> Result<(), CatalogError> {
        let is_near = |queue: &Queue| queue.horizon.is_some_and(|horizon| now > horizon - DAY);
        let is_current = catalog.last_run_id()? == self.seen
            && periods(&catalog.roots()?) == self.periods
            && !self.roots.values().any(is_near);
        if is_current { Ok(()) } else { self.load(catalog, now) }
    }

    /// Computes it anew, as after the clock was set.
    ///
    /// # Errors
    /// Those of the catalog.
    pub fn load(&mut self, catalog: &Catalog, now: i64) -> Result<(), CatalogError> {
        let mut fresh = Self::of(catalog, now, &self.zone)?;
        for (id, queue) in &mut fresh.roots {
            if let Some(old) = self.roots.get_mut(id) {
                (queue.day, queue.rest) = (old.day, old.rest.min(now + ROUND));
                queue.deferred = std::mem::take(&mut old.deferred);
            }
        }
        *self = fresh;
        Ok(())
    }

    /// When the day began that it is at this time.
    #[must_use]
    pub fn day(&self, now: i64) -> i64 {
        midnight(now, &self.zone)
    }

    /// Lets what is due of a root, and what is not well, be read as if its day began now.
    pub fn begin_again(&mut self, root: &Root) {
        let queue = self.roots.entry(root.id).or_default();
        (queue.day, queue.rest) = (i64::MIN, i64::MIN);
    }

    /// How many files it holds.
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

    /// What is to be done with a root next. What is due is to be read whatever the hours where
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
        let manners = catalog.manners(root)?;
        let left = self.left(catalog, root, now)?;
        let zone = self.zone.clone();
        let queue = self.roots.entry(root.id).or_default();
        Ok(queue.next(&manners, is_asked, now, left, &zone))
    }

    /// Bytes of the day's budget of a root.
    fn left(&mut self, catalog: &Catalog, root: &Root, now: i64) -> Result<i64, CatalogError> {
        let queue = self.roots.entry(root.id).or_default();
        let (is_late, files) = (queue.is_late(now), queue.files);
        let read = catalog.scrubbed(root, midnight(now, &self.zone) - 1, now)?;
        Ok(budget(files, root.bytes, root.policy.every_days, is_late, read))
    }
}

impl Catalog {
    /// Takes the next part of what is due of a root out of an agenda, at this time in seconds since
    /// 1970: for [`scrub_part`](Self::scrub_part), which puts it back. Each file of it is looked
    /// at; before each, `goes_on` is asked whether the part may be longer.
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
        let queue = agenda.roots.entry(root.id).or_default();
        let mut finder = Finder::new(self.reader()?);
        let mut ways = Ways::of(&root.path)?;
        // What is not there, or hidden, takes nothing from the others.
        let mut size = |id: u32| -> Result<Option<i64>, CatalogError> {
            let file = finder.find(id.into())?;
            let file = file.filter(|file| matches!(ways.look(&file.path()), There::File));
            Ok(file.map(|file| file.stat.bytes()))
        };
        // Until it is put back, it is to be computed anew.
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
        tell: &mut dyn FnMut(&Finding) -> io::Result<()>,
    ) -> Result<Summary, CatalogError> {
        let Part { claimed, goes_on, .. } = part;
        let queue = agenda.roots.entry(root.id).or_default();
        let ids = claimed.ids();
        let claimed_now: HashSet<i64> = ids.iter().copied().collect();
        let unread = queue.deferred.iter().filter(|&&id| !claimed_now.contains(&id.into()));
        let of = Whole { left: 0, unread: unread.count() as u64, goes_on };
        let summary = self.noting_damage(root, Verb::Scrub, options, |catalog| {
            catalog.scrub_these(root, |_| Ok((ids, of)), Limits::default(), options, tell)
        })?;
        let now = (options.clock)();
        let times = Times::of(self, root, now);
        let was_whole = summary.is_complete || summary.halt == Some(Halt::More);
        queue.put_back(claimed, now, was_whole, |id| {
            let state = self.state(id.into())?;
            Ok(state.map(|state| (state.status.is_good(), times.due(&state))))
        })?;
        // Whether it is the right folder again shows at once, but of one that has lost too much
        // only when all of it is looked at.
        let is_there = self.why_not_there(root)?.is_none();
        let has_lost = summary.suspended.is_some() && is_there;
        if has_lost {
            queue.day = midnight(now, &agenda.zone);
        }
        if was_whole && !goes_on || has_lost {
            queue.rest = now + ROUND;
        }
        agenda.seen = self.last_run_id()?;
        Ok(summary)
    }

    fn state(&self, id: i64) -> Result<Option<State>, CatalogError> {
        let sql = format!("SELECT {} FROM state t WHERE id = ?1", STATE.select("t"));
        let mut statement = self.db.prepare_cached(&sql)?;
        let mut rows = statement.query([id])?;
        rows.next()?.map(State::read).transpose()
    }

    /// The number of the last run that began.
    pub(crate) fn last_run_id(&self) -> Result<i64, CatalogError> {
        let sql = "SELECT coalesce(max(id), 0) FROM run";
        Ok(self.db.query_row(sql, [], |row| row.get(0))?)
    }
}

#[cfg(test)]
mod tests;
