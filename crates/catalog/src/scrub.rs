//! What is due to be read again, and when.
//!
//! Due times are computed and not stored, so a new policy writes nothing. Each file has its turns,
//! a period P apart, which SipHash makes of its id: they are spread evenly, and stay so, whatever
//! reads all files in an hour. With a number u from 0 to 1 and any whole n:
//!
//! ```text
//! a file that is well     the last of its turns P (n + u) that is within P of its last check
//! one that is not         now
//! ```
//!
//! After a month off a third of everything is due at once. So a day has a budget, of 1.5 times the
//! even load, or twice where files are late: what is due first is read first, and the rest
//! tomorrow. What is not well, or could not be looked at, is tried each time, and behind the
//! others: the budget is spent on what was read and is well, so nothing keeps the rest from being
//! read.

use std::io;
use std::iter;
use std::mem;
use std::sync::Arc;
use std::time::Duration;

use lanesum_siphash::SipHash24;

use crate::batch::spent_of;
use crate::check::require_rows;
use crate::class::Status;
use crate::finding::Finding;
use crate::jobs::{Limits, RowJobs};
use crate::long;
use crate::options::{Options, Verb};
use crate::root::Root;
use crate::rows::{Finder, State};
use crate::summary::{Halt, Summary};
use crate::way::{There, Ways};
use crate::work::Tell;
use crate::{Catalog, CatalogError};

pub(crate) const DAY: i64 = 24 * 60 * 60;

/// What was read so long ago is of another day's budget: a timer is not exact, and of two scrubs
/// that begin a minute less than a day apart the second would read nothing.
const ALMOST_A_DAY: i64 = 22 * 60 * 60;

/// Files that are read in the order of their rows, which is about that of their places on a disk.
pub(crate) const BATCH: usize = 10_000;

/// What a scrub reads. The default is what is due, as far as a day's budget goes.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Due {
    /// Of all files so many in a hundred, those that were checked longest ago.
    pub percent: Option<f64>,
    /// Those that were not checked for so many days.
    pub older_than_days: Option<u32>,
    /// Those that are not well.
    pub bad: bool,
    /// Those that were not read again since they were cataloged.
    pub new: bool,
    /// No longer than that.
    pub max_time: Option<Duration>,
    /// No more bytes than that; one file, or a stretch of a long one, in any case.
    pub max_bytes: Option<u64>,
}

impl Due {
    /// Whether somebody chose, so that neither due times nor the budget count.
    fn is_chosen(&self) -> bool {
        self.percent.is_some() || self.older_than_days.is_some() || self.bad || self.new
    }

    /// The files to be read, those that are due first before the others; of those that somebody
    /// chose, the ones that were checked longest ago.
    fn choose(&self, mut states: Vec<State>, times: &Times<'_>) -> Vec<Candidate> {
        let candidate = |state: &State| Candidate {
            due: times.due(state),
            id: state.id,
            is_good: state.status.is_good(),
        };
        if self.is_chosen() {
            // What is not well comes beside, or it would be the oldest for ever, in place of the
            // rest.
            let age = |state: &State| times.believed(state.checked);
            states.sort_unstable_by_key(|state| (!state.status.is_good(), age(state), state.id));
            let good = states.iter().filter(|state| state.status.is_good()).count();
            let part = self.percent.map_or(0.0, |percent| percent / 100.0);
            let oldest = (good as f64 * part).ceil() as usize;
            let before = self.older_than_days.map(|days| times.now - i64::from(days) * DAY);
            let is_chosen = |(place, state): &(usize, &State)| {
                *place < oldest
                    || self.percent.is_some() && !state.status.is_good()
                    || before.is_some_and(|before| times.believed(state.checked) < before)
                    || self.bad && !state.status.is_good()
                    || self.new && state.status == Status::Fresh
            };
            return states.iter().enumerate().filter(is_chosen).map(|it| candidate(it.1)).collect();
        }
        let mut due: Vec<_> =
            states.iter().map(candidate).filter(|it| it.due <= times.now).collect();
        due.sort_unstable();
        due
    }
}

/// What a scrub reads is a part of.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Part {
    /// Files that are due, and have to wait for another day.
    pub(crate) left: u64,
    /// Files that were to be read before, and could not be.
    pub(crate) unread: u64,
    /// Whether another part follows.
    pub(crate) goes_on: bool,
}

/// A file that may be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    due: i64,
    id: i64,
    /// Whether it is well, as far as is known: what is not does not fall under the budget.
    is_good: bool,
}

/// When files of a root are due.
#[derive(Debug)]
pub(crate) struct Times<'c> {
    pub(crate) jitter: &'c SipHash24,
    pub(crate) now: i64,
    /// In seconds.
    pub(crate) period: i64,
    pub(crate) late_after: i64,
}

impl<'c> Times<'c> {
    pub(crate) fn of(catalog: &'c Catalog, root: &Root, now: i64) -> Self {
        let [period, late_after] = [root.policy.every_days, root.policy.late_after_days()]
            .map(|days| i64::from(days) * DAY);
        Self { jitter: &catalog.jitter, now, period, late_after }
    }

    /// When a file was checked. A clock that is behind that time, or was ahead then, tells nothing.
    fn believed(&self, checked: i64) -> i64 {
        if checked > self.now { i64::MIN / 2 } else { checked }
    }

    /// Whether a file was not read for longer than
    /// [`Policy::late_after_days`](crate::Policy::late_after_days) lets it be. One that is not well
    /// is told as such.
    pub(crate) fn is_late(&self, state: &State) -> bool {
        let most = self.late_after;
        let is_old = state.checked > 0 && self.now - state.checked > most;
        state.status.is_good() && is_old || self.is_ahead(state)
    }

    /// Whether one that is well was checked in the future. A clock that was a little ahead says
    /// nothing.
    pub(crate) fn is_ahead(&self, state: &State) -> bool {
        state.status.is_good() && state.checked > self.now + DAY
    }

    /// When a file is to be read again.
    pub(crate) fn due(&self, state: &State) -> i64 {
        let checked = self.believed(state.checked);
        if !state.status.is_good() || checked < 0 {
            return checked.min(self.now);
        }
        let u = self.jitter.hash_u64(state.id.cast_unsigned()) as f64 / 2_f64.powi(64);
        let turn = (self.period as f64 * u) as i64;
        let latest = checked.saturating_add(self.period);
        latest - (latest - turn).rem_euclid(self.period)
    }
}

/// What reading a file takes of the budget: its bytes, and as much as a block for finding it, so
/// that empty files take something as well.
pub(crate) fn cost(size: i64) -> i64 {
    size.max(0).saturating_add(4096)
}

/// What a scrub may spend now: a day's budget of so many files with so many bytes, less what others
/// spent within a day.
pub(crate) fn budget(files: u64, bytes: i64, every_days: u32, is_late: bool, read: i64) -> i64 {
    let factor = if is_late { 2.0 } else { 1.5 };
    let total = i64::try_from(files).map_or(i64::MAX, |files| files.saturating_mul(cost(0)));
    let total = total.saturating_add(bytes);
    let day = factor * total as f64 / f64::from(every_days.max(1));
    (day as i64).max(1).saturating_sub(read)
}

impl Catalog {
    /// Reads files of a root whose turn it is, and tells what it finds, each once it is on the
    /// medium. It accepts nothing.
    ///
    /// # Errors
    /// As of [`run`](Self::run).
    pub fn scrub(
        &mut self,
        root: &Root,
        due: &Due,
        options: &Options,
        tell: &mut dyn FnMut(&Finding) -> io::Result<()>,
    ) -> Result<Summary, CatalogError> {
        self.noting_damage(root, Verb::Scrub, options, |catalog| {
            catalog.scrub_due(root, due, options, tell)
        })
    }

    fn scrub_due(
        &mut self,
        root: &Root,
        due: &Due,
        options: &Options,
        tell: Tell<'_>,
    ) -> Result<Summary, CatalogError> {
        require_rows(&self.db)?;
        let now = (options.clock)();
        let plan = |catalog: &Self| {
            let mut states = Vec::new();
            State::for_each(&catalog.db, |state| {
                if state.root == root.id {
                    states.push(state);
                }
                Ok(())
            })?;
            let files = states.len() as u64;
            let chosen = due.choose(states, &Times::of(catalog, root, now));
            let (ids, left) = catalog.within_budget((root, files), due, chosen, (now, options))?;
            Ok((ids, Part { left, ..Part::default() }))
        };
        let limits = Limits::new(due.max_time, due.max_bytes);
        let mut summary = self.scrub_these(root, plan, limits, options, tell)?;
        summary.late = self.late(root, (options.clock)())?;
        Ok(summary)
    }

    /// Reads the files of a root that are planned, in this order. To plan is a part of the run:
    /// interrupted, it is known not to be done.
    pub(crate) fn scrub_these(
        &mut self,
        root: &Root,
        plan: impl FnOnce(&Self) -> Result<(Vec<i64>, Part), CatalogError>,
        limits: Limits,
        options: &Options,
        tell: &mut dyn FnMut(&Finding) -> io::Result<()>,
    ) -> Result<Summary, CatalogError> {
        let read_nothing = self.read_nothing(root)?;
        let mut work = self.begin(root, Verb::Scrub, options, tell)?;
        work.limits = Arc::new(limits);
        let clock_is_behind = work.clock_is_behind()?;
        let (ids, Part { left, unread, goes_on }) = plan(work.catalog)?;
        let is_taken_up = work.catalog.was_taken_up(root)?;
        let summary = Summary { clock_is_behind, is_taken_up, left, unread, ..work.summary() };
        // It looks for nothing that no row stands for.
        let mut summary = Summary { unseen: work.catalog.unseen(root)?, ..summary };
        let why = work.why_not_there().map_or_else(|| work.why_not_whole(), |why| Ok(Some(why)))?;
        if let Some(why) = why {
            return work.suspend(summary, why);
        }
        if !work.steer()? {
            summary.is_complete = false;
            return work.finish(summary);
        }
        // What is not well comes last.
        let [long, long_bad, ids] = work.long_of(ids, read_nothing)?;
        // A stretch of a long file may take longer than a scrub may last: where the last one read
        // neither one nor a file to its end, the others have their turn.
        let is_begun = long::begun(&work.catalog.db)?.contains_key(&root.id);
        let is_too_long = read_nothing && !is_begun;
        let (first, behind) = if is_too_long { (Vec::new(), long) } else { (long, Vec::new()) };
        summary.is_complete = work.read_long(first)?;
        for ids in pieces(ids, work.limits.has_time()) {
            if !summary.is_complete {
                break;
            }
            let reader = work.catalog.reader()?;
            let jobs = RowJobs::new(reader, ids, root.clone(), Arc::clone(&work.limits))?;
            summary.is_complete = work.read(jobs)?;
        }
        summary.is_complete = summary.is_complete
            && work.read_long(behind)?
            && work.read_long(long_bad)?
            && work.read_later()?;
        if summary.is_complete && goes_on {
            (summary.is_complete, summary.halt) = (false, Some(Halt::More));
        }
        work.finish(summary)
    }

    /// Whether the last scrub of a root ended before it had read a file.
    fn read_nothing(&self, root: &Root) -> Result<bool, CatalogError> {
        let last = self.last_run(root, |run| run.verb == "scrub")?;
        Ok(last.is_some_and(|run| run.files == 0 && run.outcome.as_deref() != Some("complete")))
    }

    /// Bytes of the day's budget of a root that scrubs spent which began after the first of these
    /// times, and not after the second.
    pub(crate) fn scrubbed(&self, root: &Root, from: i64, to: i64) -> Result<i64, CatalogError> {
        // Those of a day are among the last, and years of others need not be looked at.
        let sql = "SELECT counts FROM run \
                   WHERE id > (SELECT coalesce(max(id), 0) FROM run) - 20000 \
                   AND root = ?1 AND verb = 'scrub' AND started > ?2 AND started <= ?3";
        let mut statement = self.db.prepare_cached(sql)?;
        let mut rows = statement.query((root.id, from, to))?;
        let mut spent = 0_i64;
        while let Some(row) = rows.next()? {
            spent = spent
                .saturating_add(spent_of(&row.get::<_, Option<String>>(0)?.unwrap_or_default()));
        }
        Ok(spent)
    }

    /// The ids of what may be read today, in the order in which it is read; and how many files
    /// have to wait.
    fn within_budget(
        &self,
        (root, files): (&Root, u64),
        due: &Due,
        chosen: Vec<Candidate>,
        (now, options): (i64, &Options),
    ) -> Result<(Vec<i64>, u64), CatalogError> {
        let (mut ids, mut bad) = (Vec::new(), Vec::new());
        let mut left = if due.is_chosen() {
            i64::MAX
        } else {
            let read = self.scrubbed(root, now - ALMOST_A_DAY, now)?;
            let first = chosen.iter().find(|it| it.is_good);
            let is_late = first.is_some_and(|first| first.due < now - DAY);
            budget(files, root.bytes, root.policy.every_days, is_late, read)
        };
        let mut finder = Finder::new(self.reader()?);
        let mut ways = Ways::of(&root.path)?;
        for candidate in &chosen {
            // Where each look waits for a disk, somebody may want it to end.
            if options.goes_on.as_ref().is_some_and(|goes_on| !goes_on.says()) {
                break;
            }
            if !candidate.is_good {
                bad.push(candidate.id);
                continue;
            }
            if left <= 0 {
                continue;
            }
            if left < i64::MAX
                && let Some(file) = finder.find(candidate.id)?
                // What is hidden takes nothing from the others. What is not there may have another
                // name; as long as it has none, it is not well from now on.
                && !matches!(ways.look(&file.path()), There::Mount(_))
            {
                left -= cost(file.stat.size);
            }
            ids.push(candidate.id);
        }
        // Where a limit will cut, the oldest come first one by one: what is read becomes the
        // newest, and the next run goes on behind it.
        if due.max_bytes.is_none() && due.max_time.is_none() {
            ids.chunks_mut(BATCH).for_each(<[i64]>::sort_unstable);
            bad.sort_unstable();
        } else if !bad.is_empty() {
            // What stays as it is would be the first each time.
            let start = self.jitter.hash(&now.to_le_bytes()) % bad.len() as u64;
            bad.rotate_left(start as usize);
        }
        // Behind the others, or they would take up each limit.
        ids.append(&mut bad);
        let waiting = (chosen.len() - ids.len()) as u64;
        Ok((ids, waiting))
    }
}

/// What is read one after the other. A disk that seeks is read in its own order, so where time is
/// up, what lies last on it is left, and would be each time. So no piece is longer than all before
/// it: half of what is read, at least, is the oldest that there is.
fn pieces(mut ids: Vec<i64>, is_cut: bool) -> impl Iterator<Item = Vec<i64>> {
    let mut read = 0;
    iter::from_fn(move || {
        let length = if is_cut { ids.len().min(read.max(1)) } else { ids.len() };
        read += length;
        let rest = ids.split_off(length);
        Some(mem::replace(&mut ids, rest)).filter(|piece| !piece.is_empty())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PERIOD: i64 = 90;

    fn state(id: i64, checked: i64, status: Status) -> State {
        State { id, root: 1, checked, status }
    }

    fn times(jitter: &SipHash24, now: i64) -> Times<'_> {
        Times { jitter, now, period: PERIOD * DAY, late_after: 2 * PERIOD * DAY }
    }

    #[test]
    fn half_of_what_is_read_until_time_is_up_is_the_oldest() {
        let lengths = |is_cut| pieces((0..10).collect(), is_cut).map(|piece| piece.len());
        assert_eq!(lengths(true).collect::<Vec<_>>(), [1, 1, 2, 4, 2]);
        assert_eq!(lengths(false).collect::<Vec<_>>(), [10]);
        assert!(pieces((0..10).collect(), true).flatten().eq(0..10));
        assert_eq!(pieces(Vec::new(), true).count(), 0);
    }

    #[test]
    fn files_are_due_within_their_period_and_those_not_well_at_once() {
        let jitter = SipHash24::new(&[7; 16]);
        let (start, now) = (1_000 * DAY, 1_001 * DAY);
        let times = times(&jitter, now);
        for id in 0..1000 {
            let due = |status| times.due(&state(id, start, status)) - start;
            assert!((1..=PERIOD * DAY).contains(&due(Status::Fresh)));
            assert_eq!(due(Status::Good), due(Status::Fresh));
            // Read in its turn it is due a period later, read before in its turn all the same.
            let turn = start + due(Status::Good);
            let later = self::times(&jitter, turn);
            let due_after = |checked| later.due(&state(id, checked, Status::Good));
            assert_eq!(due_after(turn - PERIOD * DAY), turn);
            assert_eq!(due_after(turn - 1), turn);
            assert_eq!(due_after(turn), turn + PERIOD * DAY);
            for status in [Status::Rotted, Status::Transient, Status::Unreadable] {
                assert!(due(status) <= now - start);
            }
            // From before the clock was set back.
            assert!(times.due(&state(id, now + 1, Status::Good)) < now);
        }
    }

    /// An audit of everything, or a first read of what a list told, makes no day of the next
    /// period a heavy one, and leaves none without work.
    #[test]
    fn what_reads_all_at_once_leaves_the_turns_spread() {
        let jitter = SipHash24::new(&[3; 16]);
        let all_at = 1_000 * DAY;
        let mut states: Vec<_> = (0..3000).map(|id| state(id, all_at, Status::Good)).collect();
        for day in 1..=2 * PERIOD {
            let now = all_at + day * DAY;
            let chosen = Due::default().choose(states.clone(), &times(&jitter, now));
            assert!((10..60).contains(&chosen.len()), "day {day}: {}", chosen.len());
            for candidate in chosen {
                states[candidate.id as usize].checked = now;
            }
            let oldest = states.iter().map(|state| now - state.checked).max();
            assert!(oldest <= Some((PERIOD + 1) * DAY), "day {day}");
        }
    }

    #[test]
    fn what_is_chosen_is_what_was_asked_for() {
        let jitter = SipHash24::new(&[7; 16]);
        let now = 1_000 * DAY;
        let states: Vec<_> = (0..100)
            .map(|id| {
                let status = if id % 10 == 3 { Status::Rotted } else { Status::Good };
                state(id, now - id * DAY, if id == 5 { Status::Fresh } else { status })
            })
            .collect();
        let ids = |due: Due| {
            let chosen = due.choose(states.clone(), &times(&jitter, now));
            let mut ids: Vec<_> = chosen.into_iter().map(|it| it.id).collect();
            ids.sort_unstable();
            ids
        };
        let none = Due::default;
        let oldest = ids(Due { percent: Some(2.0), ..none() });
        assert_eq!(oldest.len(), 12, "what is not well comes beside: {oldest:?}");
        assert!(oldest.ends_with(&[98, 99]));
        assert_eq!(ids(Due { older_than_days: Some(97), ..none() }), [98, 99]);
        assert_eq!(ids(Due { new: true, ..none() }), [5]);
        assert_eq!(ids(Due { bad: true, ..none() }).len(), 10);
        assert_eq!(ids(Due { bad: true, percent: Some(1.0), ..none() }).len(), 11);
        let due = ids(none());
        assert!((91..100).all(|id| due.contains(&id)) && !due.contains(&1), "{due:?}");
    }

    /// Two years of days, with growth and a month off: no day is heavier than the budget, nothing
    /// gets older than the period and the month, and all is caught up with.
    #[test]
    fn no_day_is_heavy_and_nothing_gets_old() {
        let jitter = SipHash24::new(&[9; 16]);
        let mut states: Vec<_> = (0..4000).map(|id| state(id, 0, Status::Fresh)).collect();
        let sizes = |id: i64| 1 + (jitter.hash_u64(id.cast_unsigned()) % 1000).cast_signed();
        let mut total: i64 = (0..4000).map(sizes).sum();
        let mut oldest_at_the_end = 0;
        for day in 1..730 {
            let now = day * DAY;
            if day % 3 == 0 {
                for _ in 0..states.len() / 100 {
                    let id = states.len() as i64;
                    states.push(state(id, now, Status::Fresh));
                    total += sizes(id);
                }
            }
            if (300..330).contains(&day) {
                continue;
            }
            let chosen = Due::default().choose(states.clone(), &times(&jitter, now));
            let is_late = chosen.first().is_some_and(|first| first.due < now - DAY);
            let files = states.len() as u64;
            let whole = budget(files, total, PERIOD as u32, is_late, 0);
            let mut left = whole;
            for candidate in chosen {
                if left <= 0 {
                    break;
                }
                left -= cost(sizes(candidate.id));
                states[candidate.id as usize].checked = now;
                states[candidate.id as usize].status = Status::Good;
            }
            let even = (total + cost(0) * files as i64) as f64 / PERIOD as f64;
            assert!((whole - left) as f64 <= 2.0 * even + cost(1000) as f64, "day {day}");
            let oldest = states.iter().map(|state| (now - state.checked) / DAY).max().unwrap();
            let most = if (300..450).contains(&day) { PERIOD + 35 } else { PERIOD + 5 };
            assert!(oldest <= most, "day {day}: {oldest}");
            oldest_at_the_end = oldest;
        }
        assert!(oldest_at_the_end <= PERIOD + 2, "{oldest_at_the_end}");
    }
}
