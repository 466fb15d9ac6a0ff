//! When files are due to be verified again, and which of them a scrub reads.
//!
//! Due times are computed and not stored, so a new period writes nothing. Each file has turns, a
//! period P apart. SipHash of its id spreads the turns evenly, and they stay spread when all files
//! are verified within an hour. With a number u from 0 to 1 and any whole n:
//!
//! ```text
//! a file that is ok       its last turn P (n + u) that is within P of its last verification
//! a file that is not      now
//! ```
//!
//! After a month off, a third of all files are due at once. So a day has a budget of 1.5 times the
//! even load, or twice the even load where files are late. Files that are due first are read first,
//! and the rest on the next day. Files that are not ok are read each time, after the others, and
//! take nothing from the budget.

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

/// Scrubs that began longer ago belong to the budget of another day. A timer is not exact: if two
/// scrubs began a minute less than a day apart, the second would read nothing.
const ALMOST_A_DAY: i64 = 22 * 60 * 60;

/// Files that are read in the order of their ids, which is about their order on the disk.
pub(crate) const BATCH: usize = 10_000;

/// A file that may be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Candidate {
    due: i64,
    pub(crate) id: i64,
    /// Whether it is ok. Other files do not count against the budget.
    is_ok: bool,
}

/// Chooses the files to be read, those that are due first at the beginning. If the caller selects
/// files, those that were verified longest ago come first.
fn choose(selection: &Selection, mut states: Vec<State>, times: &Times<'_>) -> Vec<Candidate> {
    let candidate =
        |state: &State| Candidate { due: times.due(state), id: state.id, is_ok: state.is_ok() };
    if !selection.is_chosen() {
        let mut due: Vec<_> =
            states.iter().map(candidate).filter(|it| it.due <= times.now).collect();
        due.sort_unstable();
        return due;
    }
    // Files that are not ok come on top of a share. Otherwise they would be the oldest of all,
    // always.
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
}

/// Whether a file that is ok was verified longer ago than its root allows, or more than a day in
/// the future.
pub(crate) fn is_overdue(state: &State, settings: &Settings, now: i64) -> bool {
    let allowed = i64::from(settings.overdue_after_days()) * DAY;
    state.is_ok() && (now - state.verified > allowed || state.verified > now + DAY)
}

impl<'c> Times<'c> {
    pub(crate) fn of(catalog: &'c Catalog, settings: &Settings, now: i64) -> Self {
        let period = i64::from(settings.every_days) * DAY;
        Self { hash: &catalog.schedule_hash, now, period }
    }

    /// The time of a verification. Times in the future are not believed.
    fn believed(&self, verified: i64) -> i64 {
        if verified > self.now { i64::MIN / 2 } else { verified }
    }

    /// The part of the period that the age of a verification is in, of this many parts. The last
    /// one is beyond the period.
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

/// The share of the budget that a file takes: its bytes, and those of a block for opening it.
pub(crate) fn cost(size: i64) -> i64 {
    size.max(0).saturating_add(4096)
}

/// The rest of a day's budget for this many files and bytes, after this much was spent.
pub(crate) fn budget(total: Total, every_days: u32, is_late: bool, spent: i64) -> i64 {
    let factor = if is_late { 2.0 } else { 1.5 };
    let total = total.files.saturating_mul(cost(0)).saturating_add(total.bytes);
    let day = factor * total as f64 / f64::from(every_days.max(1));
    (day as i64).max(1).saturating_sub(spent)
}

/// The share of the budget of the scrubs of a root that began after one time, and not after
/// another.
pub(crate) fn spent(db: &Connection, root: i64, from: i64, to: i64) -> Result<i64, CatalogError> {
    // Those of a day are among the last runs.
    let which = "WHERE id > (SELECT coalesce(max(id), 0) FROM run) - 20000 \
                 AND root = ?1 AND started > ?2 AND started <= ?3";
    let runs = RunRow::query(db, which, (root, from, to))?;
    let scrubs = runs.iter().filter(|run| run.verb == Verb::Scrub.name());
    Ok(scrubs.fold(0, |spent, run| spent.saturating_add(run.spent)))
}

/// The files that a scrub reads.
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
    // If a limit may end the run, the files stay in the order of their due times. Files that were
    // read become the newest, and the next run goes on after them.
    if selection.max_bytes.is_none() && selection.max_time.is_none() {
        ids.chunks_mut(BATCH).for_each(<[i64]>::sort_unstable);
        bad.sort_unstable();
    } else if !bad.is_empty() {
        // Without a rotation each run would begin with the same files.
        let start = catalog.schedule_hash.hash(&now.to_le_bytes()) % bad.len() as u64;
        bad.rotate_left(start as usize);
    }
    // They come last, so that they do not use up a limit.
    ids.append(&mut bad);
    Ok(Plan { ids, left: waiting })
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
        Times { hash, now, period: PERIOD * DAY }
    }

    #[test]
    fn files_are_due_within_their_period_and_others_at_once() {
        let hash = SipHash24::new(&[7; 16]);
        let (start, now) = (1_000 * DAY, 1_001 * DAY);
        let times = times(&hash, now);
        for id in 0..1000 {
            let due = |class| times.due(&state(id, start, class)) - start;
            assert!((1..=PERIOD * DAY).contains(&due(Class::Ok)));
            // A file that is read in its turn is due a period later. One that is read before is
            // still due in its turn.
            let turn = start + due(Class::Ok);
            let later = self::times(&hash, turn);
            let due_after = |checked| later.due(&state(id, checked, Class::Ok));
            assert_eq!(due_after(turn - PERIOD * DAY), turn);
            assert_eq!(due_after(turn - 1), turn);
            assert_eq!(due_after(turn), turn + PERIOD * DAY);
            for class in [Class::Damaged, Class::Missing, Class::Unchecked] {
                assert!(due(class) <= now - start);
            }
            // It was verified before the clock was set back.
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
