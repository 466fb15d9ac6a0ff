//! What is due to be verified again, and when.
//!
//! Due times are computed and not stored, so a new period writes nothing. Each file has its turns, a
//! period P apart, which SipHash makes of its id: they are spread evenly, and stay so, whatever
//! verifies all files in an hour. With a number u from 0 to 1 and any whole n:
//!
//! ```text
//! a file that is ok       the last of its turns P (n + u) that is within P of its last verification
//! one that is not         now
//! ```
//!
//! After a month off a third of all files are due at once. So a day has a budget, of 1.5 times the
//! even load, or twice where files are late: those due first are read first, and the rest tomorrow.
//! Files that are not ok are tried each time, after the others. The budget is spent on files that
//! are ok alone, so the others keep nothing from being read.

use lanesum_siphash::SipHash24;
use rusqlite::Connection;

use crate::CatalogError;
use crate::options::{Selection, Verb};
use crate::root::Root;
use crate::settings::Settings;
use crate::store::catalog::Catalog;
use crate::store::rows::{Finder, State};
use crate::store::run::RunRow;
use crate::store::total::Total;

pub(crate) const DAY: i64 = 24 * 60 * 60;

/// What was read so long ago is of another day's budget: a timer is not exact, and of two scrubs
/// that begin a minute less than a day apart the second would read nothing.
const ALMOST_A_DAY: i64 = 22 * 60 * 60;

/// Files that are read in the order of their ids, which is about that of their places on a disk.
pub(crate) const BATCH: usize = 10_000;

/// A file that may be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Candidate {
    due: i64,
    pub(crate) id: i64,
    /// Whether it is ok: a file that is not does not count against the budget.
    is_ok: bool,
}

/// The files to be read, those due first before the others; of those that the caller chose, the
/// ones verified longest ago.
fn choose(selection: &Selection, mut states: Vec<State>, times: &Times<'_>) -> Vec<Candidate> {
    let candidate =
        |state: &State| Candidate { due: times.due(state), id: state.id, is_ok: state.is_ok() };
    if !selection.is_chosen() {
        let mut due: Vec<_> =
            states.iter().map(candidate).filter(|it| it.due <= times.now).collect();
        due.sort_unstable();
        return due;
    }
    // Files that are not ok come on top of a share, or they would be the oldest for ever.
    let age = |state: &State| times.believed(state.verified);
    states.sort_unstable_by_key(|state| (!state.is_ok(), age(state), state.id));
    let ok = states.iter().filter(|state| state.is_ok()).count();
    let share = selection.percent.map_or(0.0, |percent| percent / 100.0);
    let oldest = (ok as f64 * share).ceil() as usize;
    let before = selection.older_than_days.map(|days| times.now - i64::from(days) * DAY);
    let is_chosen = |(place, state): &(usize, &State)| {
        *place < oldest
            || selection.percent.is_some() && !state.is_ok()
            || before.is_some_and(|before| times.believed(state.verified) < before)
            || selection.bad && !state.is_ok()
    };
    states.iter().enumerate().filter(is_chosen).map(|it| candidate(it.1)).collect()
}

/// When files of a root are due.
#[derive(Debug)]
pub(crate) struct Times<'c> {
    pub(crate) hash: &'c SipHash24,
    pub(crate) now: i64,
    /// In seconds.
    pub(crate) period: i64,
    pub(crate) overdue_after: i64,
}

impl<'c> Times<'c> {
    pub(crate) fn of(catalog: &'c Catalog, settings: &Settings, now: i64) -> Self {
        let [period, overdue_after] =
            [settings.every_days, settings.overdue_after_days()].map(|days| i64::from(days) * DAY);
        Self { hash: &catalog.schedule_hash, now, period, overdue_after }
    }

    /// When a file was verified. A time in the future says nothing.
    fn believed(&self, verified: i64) -> i64 {
        if verified > self.now { i64::MIN / 2 } else { verified }
    }

    /// Whether a file that is ok was not verified for longer than its root allows, or in the future.
    /// A clock that was a little ahead says nothing.
    pub(crate) fn is_overdue(&self, state: &State) -> bool {
        let is_old = self.now - state.verified > self.overdue_after;
        state.is_ok() && (is_old || state.verified > self.now + DAY)
    }

    /// The part of the period that the age of its verification is in, of this many; the last one is
    /// beyond the period.
    pub(crate) fn age_of(&self, state: &State, parts: usize) -> usize {
        let age = self.now.saturating_sub(self.believed(state.verified)).max(0);
        let part = i128::from(age) * parts as i128 / i128::from(self.period.max(1));
        usize::try_from(part).unwrap_or(parts).min(parts)
    }

    /// When a file is to be verified again.
    pub(crate) fn due(&self, state: &State) -> i64 {
        let verified = self.believed(state.verified);
        if !state.is_ok() || verified < 0 {
            return verified.min(self.now);
        }
        let u = self.hash.hash_u64(state.id.cast_unsigned()) as f64 / 2_f64.powi(64);
        let turn = (self.period as f64 * u) as i64;
        let latest = verified.saturating_add(self.period);
        latest - (latest - turn).rem_euclid(self.period)
    }
}

/// What reading a file takes of the budget: its bytes, and as much as a block for finding it.
pub(crate) fn cost(size: i64) -> i64 {
    size.max(0).saturating_add(4096)
}

/// What a scrub may spend now: a day's budget of this many files and bytes, less what was spent.
pub(crate) fn budget(total: Total, every_days: u32, is_late: bool, spent: i64) -> i64 {
    let factor = if is_late { 2.0 } else { 1.5 };
    let total = total.files.saturating_mul(cost(0)).saturating_add(total.bytes);
    let day = factor * total as f64 / f64::from(every_days.max(1));
    (day as i64).max(1).saturating_sub(spent)
}

/// What scrubs of a root spent that began after the first of these times, and not after the second.
pub(crate) fn spent(db: &Connection, root: i64, from: i64, to: i64) -> Result<i64, CatalogError> {
    // Those of a day are among the last runs.
    let which = "WHERE id > (SELECT coalesce(max(id), 0) FROM run) - 20000 \
                 AND root = ?1 AND started > ?2 AND started <= ?3";
    let runs = RunRow::query(db, which, (root, from, to))?;
    let scrubs = runs.iter().filter(|run| run.verb == Verb::Scrub.name());
    Ok(scrubs.fold(0, |spent, run| spent.saturating_add(run.spent)))
}

/// What a scrub reads.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    /// Records, in the order in which they are read.
    pub(crate) ids: Vec<i64>,
    /// Files that are due, and that the budget leaves for another day.
    pub(crate) left: u64,
}

/// Plans a scrub of a root.
pub(crate) fn plan(
    catalog: &Catalog,
    root: &Root,
    selection: &Selection,
    now: i64,
) -> Result<Plan, CatalogError> {
    let mut states = Vec::new();
    State::for_each(&catalog.db, |state| {
        if state.root == root.id() {
            states.push(state);
        }
        Ok(())
    })?;
    let chosen = choose(selection, states, &Times::of(catalog, &root.settings, now));
    let mut left = i64::MAX;
    if !selection.is_chosen() {
        let spent = spent(&catalog.db, root.id(), now - ALMOST_A_DAY, now)?;
        let first = chosen.iter().find(|it| it.is_ok);
        let is_late = first.is_some_and(|first| first.due < now - DAY);
        left = budget(Total::of(&catalog.db, root.id())?, root.settings.every_days, is_late, spent);
    }
    let mut finder = Finder::new(catalog.reader()?);
    let (mut ids, mut bad, mut waiting) = (Vec::new(), Vec::new(), 0);
    for candidate in &chosen {
        if !candidate.is_ok {
            bad.push(candidate.id);
        } else if left <= 0 {
            waiting += 1;
        } else {
            if left < i64::MAX
                && let Some(file) = finder.find(candidate.id)?
            {
                left -= cost(file.stat.size);
            }
            ids.push(candidate.id);
        }
    }
    // Where a limit may end the run, the oldest come first one by one: those that are read become
    // the newest, and the next run goes on after them.
    if selection.max_bytes.is_none() && selection.max_time.is_none() {
        ids.chunks_mut(BATCH).for_each(<[i64]>::sort_unstable);
        bad.sort_unstable();
    } else if !bad.is_empty() {
        // Files that stay as they are would be the first each time.
        let start = catalog.schedule_hash.hash(&now.to_le_bytes()) % bad.len() as u64;
        bad.rotate_left(start as usize);
    }
    // After the others, or they would take up each limit.
    ids.append(&mut bad);
    Ok(Plan { ids, left: waiting })
}

impl Catalog {
    /// Files of a root whose last verification is longer ago than it allows.
    ///
    /// # Errors
    /// Those of the catalog.
    pub fn overdue(&self, root: &Root, now: i64) -> Result<u64, CatalogError> {
        let times = Times::of(self, &root.settings, now);
        let mut overdue = 0;
        State::for_each(&self.db, |state| {
            overdue += u64::from(state.root == root.id() && times.is_overdue(&state));
            Ok(())
        })?;
        Ok(overdue)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Class;

    const PERIOD: i64 = 90;

    fn state(id: i64, verified: i64, class: Class) -> State {
        State { class, ..State::ok(id, 1, verified) }
    }

    fn times(hash: &SipHash24, now: i64) -> Times<'_> {
        Times { hash, now, period: PERIOD * DAY, overdue_after: 2 * PERIOD * DAY }
    }

    #[test]
    fn files_are_due_within_their_period_and_others_at_once() {
        let hash = SipHash24::new(&[7; 16]);
        let (start, now) = (1_000 * DAY, 1_001 * DAY);
        let times = times(&hash, now);
        for id in 0..1000 {
            let due = |class| times.due(&state(id, start, class)) - start;
            assert!((1..=PERIOD * DAY).contains(&due(Class::Ok)));
            // Read in its turn it is due a period later, read before in its turn all the same.
            let turn = start + due(Class::Ok);
            let later = self::times(&hash, turn);
            let due_after = |checked| later.due(&state(id, checked, Class::Ok));
            assert_eq!(due_after(turn - PERIOD * DAY), turn);
            assert_eq!(due_after(turn - 1), turn);
            assert_eq!(due_after(turn), turn + PERIOD * DAY);
            for class in [Class::Damaged, Class::Missing, Class::Unchecked] {
                assert!(due(class) <= now - start);
            }
            // From before the clock was set back.
            assert!(times.due(&state(id, now + 1, Class::Ok)) < now);
        }
    }

    /// No day of the next period is heavy, and none is without work.
    #[test]
    fn verifying_everything_at_once_leaves_the_turns_spread() {
        let hash = SipHash24::new(&[3; 16]);
        let all_at = 1_000 * DAY;
        let mut states: Vec<_> = (0..3000).map(|id| state(id, all_at, Class::Ok)).collect();
        for day in 1..=2 * PERIOD {
            let now = all_at + day * DAY;
            let chosen = choose(&Selection::default(), states.clone(), &times(&hash, now));
            assert!((10..60).contains(&chosen.len()), "day {day}: {}", chosen.len());
            for candidate in chosen {
                states[candidate.id as usize].verified = now;
            }
            let oldest = states.iter().map(|state| now - state.verified).max();
            assert!(oldest <= Some((PERIOD + 1) * DAY), "day {day}");
        }
    }

    #[test]
    fn a_selection_names_its_files() {
        let hash = SipHash24::new(&[7; 16]);
        let now = 1_000 * DAY;
        let states: Vec<_> = (0..100)
            .map(|id| {
                let class = if id % 10 == 3 { Class::Damaged } else { Class::Ok };
                state(id, now - id * DAY, class)
            })
            .collect();
        let ids = |selection: Selection| {
            let chosen = choose(&selection, states.clone(), &times(&hash, now));
            let mut ids: Vec<_> = chosen.into_iter().map(|it| it.id).collect();
            ids.sort_unstable();
            ids
        };
        let none = Selection::default;
        let oldest = ids(Selection { percent: Some(2.0), ..none() });
        assert_eq!(oldest.len(), 12, "files that are not ok come on top: {oldest:?}");
        assert!(oldest.ends_with(&[98, 99]));
        assert_eq!(ids(Selection { older_than_days: Some(97), ..none() }), [98, 99]);
        assert_eq!(ids(Selection { bad: true, ..none() }).len(), 10);
        assert_eq!(ids(Selection { bad: true, percent: Some(1.0), ..none() }).len(), 11);
        let due = ids(none());
        assert!((91..100).all(|id| due.contains(&id)) && !due.contains(&1), "{due:?}");
    }
}
