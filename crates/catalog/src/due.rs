//! When files are due to be verified again, and which of them a scrub reads.
//!
//! Due times are computed and not stored, so a new period writes nothing. Each file has a fixed
//! series of times, a period P apart. SipHash of its id spreads these times evenly, even if all
//! files are verified within an hour. With a number u from 0 to 1 and any integer n:
//!
//! ```text
//! a file that is ok     the last of the times P (n + u) within P after its last verification
//! any other file        now
//! ```
//!
//! After a month offline, a third of all files are due at once. So a day has a budget of 1.5 times
//! the average load, or twice the average load if files are late. Files that are due first are read
//! first, and the rest on the next day. Files that are not ok are read each time, after the others,
//! and do not count towards the budget.

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

/// Scrubs that began longer ago count towards the budget of an earlier day. A timer is not exact:
/// if two scrubs began a minute less than a day apart, the second would read nothing.
pub(crate) const ALMOST_A_DAY: i64 = 22 * 60 * 60;

/// The number of files that are read in the order of their ids, which is roughly their order on the
/// disk.
const BATCH: usize = 10_000;

/// A file that may be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Candidate {
    due: i64,
    pub(crate) id: i64,
    /// Whether it is ok. Other files do not use the budget.
    is_ok: bool,
}

/// Chooses the files to read, with the earliest due time first. If the caller selects files, those
/// verified longest ago come first.
fn choose(selection: &Selection, mut states: Vec<State>, times: &Times<'_>) -> Vec<Candidate> {
    let candidate =
        |state: &State| Candidate { due: times.due(state), id: state.id, is_ok: state.is_ok() };
    if !selection.is_chosen() {
        let mut due: Vec<_> =
            states.iter().map(candidate).filter(|it| it.due <= times.now).collect();
        due.sort_unstable();
        return due;
    }
    // Files that are not ok are added to the share. Otherwise they would always be the oldest
    // files.
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

/// The due times of files of a root.
#[derive(Debug)]
pub(crate) struct Times<'c> {
    pub(crate) hash: &'c SipHash24,
    pub(crate) now: i64,
    /// In seconds.
    pub(crate) period: i64,
}

/// Returns whether the last verification of an ok file is longer ago than its root allows, or more
/// than a day in the future.
pub(crate) fn is_overdue(state: &State, settings: &Settings, now: i64) -> bool {
    let allowed = i64::from(settings.overdue_after_days()) * DAY;
    state.is_ok() && (now - state.verified > allowed || state.verified > now + DAY)
}

impl<'c> Times<'c> {
    pub(crate) fn of(catalog: &'c Catalog, settings: &Settings, now: i64) -> Self {
        let period = i64::from(settings.every_days) * DAY;
        Self { hash: &catalog.schedule_hash, now, period }
    }

    /// Returns the time of a verification. Times in the future are replaced.
    fn believed(&self, verified: i64) -> i64 {
        if verified > self.now { i64::MIN / 2 } else { verified }
    }

    /// Returns which of `parts` parts of the period the age of a verification is in. The last part
    /// is beyond the period.
    pub(crate) fn age_of(&self, state: &State, parts: usize) -> usize {
        let age = self.now.saturating_sub(self.believed(state.verified)).max(0);
        let part = age.saturating_mul(parts as i64) / self.period.max(1);
        usize::try_from(part).unwrap_or(parts).min(parts)
    }

    /// Returns when a file is due again.
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

/// Returns the budget that a file uses: its bytes, plus those of a block for opening it.
pub(crate) fn cost(size: i64) -> i64 {
    size.max(0).saturating_add(4096)
}

/// Returns the rest of a day's budget for this many files and bytes, after this amount was used.
fn budget(total: Total, every_days: u32, is_late: bool, spent: i64) -> i64 {
    let factor = if is_late { 2.0 } else { 1.5 };
    let total = total.files.saturating_mul(cost(0)).saturating_add(total.bytes);
    let day = factor * total as f64 / f64::from(every_days.max(1));
    (day as i64).max(1).saturating_sub(spent)
}

/// Returns the budget that scrubs of a root used which began after one time and not after another.
fn spent(db: &Connection, root: i64, from: i64, to: i64) -> Result<i64, CatalogError> {
    // The runs of a day are among the last ones.
    let which = "WHERE id > (SELECT coalesce(max(id), 0) FROM run) - 20000 \
                 AND root = ?1 AND started > ?2 AND started <= ?3";
    let runs = RunRow::query(db, which, (root, from, to))?;
    let scrubs = runs.iter().filter(|run| run.verb == Verb::Scrub.name());
    Ok(scrubs.fold(0, |spent, run| spent.saturating_add(run.spent)))
}

/// The maximum amount that one run reads of the files after a position.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Most {
    files: usize,
    bytes: i64,
    after: Position,
}

impl Most {
    pub(crate) const ALL: Self =
        Self { files: usize::MAX, bytes: i64::MAX, after: Position::START };

    /// Between two parts, a daemon lets other commands use the catalog.
    pub(crate) const fn part(after: Position) -> Self {
        Self { files: BATCH, bytes: 8 << 30, after }
    }
}

/// A position in the order of due files. A file that could not be verified stays due, and the next
/// part continues after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    due: i64,
    id: i64,
}

impl Position {
    pub(crate) const START: Self = Self { due: i64::MIN, id: 0 };
}

impl Default for Position {
    fn default() -> Self {
        Self::START
    }
}

/// The files that a scrub reads.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    /// Records, in the order in which they are read.
    pub(crate) ids: Vec<i64>,
    /// Their bytes, as far as they use the budget.
    pub(crate) bytes: i64,
    /// The number of due files that the budget leaves for the next day.
    pub(crate) left: u64,
    /// Whether more files must be read at once after these.
    pub(crate) goes_on: bool,
    /// The position of the last one.
    pub(crate) end: Position,
    /// Records of files that are not ok. They come last, so that they do not use up a limit.
    bad: Vec<i64>,
}

impl Plan {
    /// Takes files within the budget, and one more. Calls `size` only with a budget.
    fn of(
        chosen: &[Candidate],
        mut budget: Option<i64>,
        most: Most,
        mut size: impl FnMut(i64) -> Result<i64, CatalogError>,
    ) -> Result<Self, CatalogError> {
        let mut plan = Self::default();
        for candidate in chosen {
            let position = Position { due: candidate.due, id: candidate.id };
            if !candidate.is_ok {
                plan.bad.push(candidate.id);
            } else if position <= most.after {
                // It was in an earlier part.
            } else if budget.is_some_and(|left| left <= 0) {
                plan.left += 1;
            } else if plan.ids.len() >= most.files || plan.bytes >= most.bytes {
                plan.goes_on = true;
            } else {
                if let Some(left) = &mut budget {
                    let size = size(candidate.id)?;
                    *left -= cost(size);
                    plan.bytes += size;
                }
                plan.ids.push(candidate.id);
                plan.end = position;
            }
        }
        if plan.goes_on {
            plan.bad.clear();
        }
        Ok(plan)
    }
}

/// Plans a scrub of a root. The scrubs that began after `since` use its budget.
pub(crate) fn plan(
    catalog: &Catalog,
    root: &Root,
    selection: &Selection,
    (since, now): (i64, i64),
    most: Most,
) -> Result<Plan, CatalogError> {
    let mut states = Vec::new();
    State::for_each(&catalog.db, |state| {
        if state.root == root.id() {
            states.push(state);
        }
        Ok(())
    })?;
    let chosen = choose(selection, states, &Times::of(catalog, &root.settings, now));
    let budget = if selection.is_chosen() {
        None
    } else {
        let spent = spent(&catalog.db, root.id(), since, now)?;
        let total = Total::of(&catalog.db, root.id())?;
        Some(budget(total, root.settings.every_days, is_late(&chosen, now), spent))
    };
    let mut finder = Finder::new(catalog.reader()?);
    let size = |id| Ok(finder.find(id)?.map_or(0, |file| file.stat.size));
    let mut plan = Plan::of(&chosen, budget, most, size)?;
    // If a limit may end the run, files stay in the order of their due times. Files that were read
    // become the newest, so the next run continues after them.
    if selection.max_bytes.is_none() && selection.max_time.is_none() {
        plan.ids.chunks_mut(BATCH).for_each(<[i64]>::sort_unstable);
        plan.bad.sort_unstable();
    } else if !plan.bad.is_empty() {
        // Without a rotation, each run would start with the same files.
        let start = catalog.schedule_hash.hash(&now.to_le_bytes()) % plan.bad.len() as u64;
        plan.bad.rotate_left(start as usize);
    }
    plan.ids.append(&mut plan.bad);
    Ok(plan)
}

/// Returns whether files are late by more than a day.
fn is_late(chosen: &[Candidate], now: i64) -> bool {
    chosen.iter().find(|it| it.is_ok).is_some_and(|first| first.due < now - DAY)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use jiff::tz::TimeZone;

    use super::*;
    use crate::model::{Class, Window, midnight};

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

    #[test]
    fn plan_ends_with_the_budget_or_its_part_and_bad_files_come_last() {
        let candidate = |id: i64| Candidate { due: id, id, is_ok: id % 100 != 7 };
        let chosen: Vec<_> = (0..30_000).map(candidate).collect();
        let of = |budget, most, size| Plan::of(&chosen, budget, most, |_| Ok(size)).unwrap();
        let plan = of(Some(10 * cost(10) - 5), Most::ALL, 10);
        assert_eq!((plan.ids.len(), plan.ids[9], plan.bytes), (10, 10, 100), "those due first");
        assert_eq!((plan.left, plan.bad.len(), plan.goes_on), (29_690, 300, false));
        assert!(of(Some(0), Most::ALL, 1).ids.is_empty());
        assert_eq!(of(None, Most::ALL, 1).ids.len(), 29_700);
        let part = of(Some(i64::MAX), Most::part(Position::START), 1);
        assert_eq!((part.ids.len(), part.bad.len(), part.goes_on), (BATCH, 0, true));
        // No file of it was verified: it was deleted meanwhile, for example.
        let next = of(Some(i64::MAX), Most::part(part.end), 1);
        assert!(part.ids.last() < next.ids.first() && next.goes_on);
        let last = of(Some(i64::MAX), Most::part(next.end), 1);
        assert_eq!((last.ids.len(), last.bad.len(), last.goes_on), (9_700, 300, false));
        assert_eq!(of(Some(i64::MAX), Most::part(Position::START), 4 << 30).ids.len(), 2);
        let last = Plan::of(&chosen[..100], Some(i64::MAX), Most::part(Position::START), |_| Ok(1))
            .unwrap();
        assert_eq!((last.ids.len(), last.bad.len(), last.goes_on), (99, 1, false));
    }

    /// A root, and the daemon that verifies it.
    struct World {
        hash: SipHash24,
        zone: TimeZone,
        window: Window,
        rate: i64,
        /// For each file: its last verification, by the clock and in truth, and its size.
        files: Vec<[i64; 3]>,
        total: i64,
        /// When the runs began by the clock, and what they took of the budget.
        runs: Vec<(i64, i64)>,
        /// The bytes that were read on each day in truth.
        days: BTreeMap<i64, i64>,
        /// The day on which everything due was read.
        done: i64,
        /// How far the clock is ahead of the truth.
        ahead: i64,
    }

    impl World {
        fn grow(&mut self, files: usize, now: i64) {
            for id in self.files.len()..self.files.len() + files {
                // Most are small. The largest are a hundred times the mean.
                let u = self.hash.hash_u64(id as u64 + 7) as f64 / 2_f64.powi(64);
                let size = (1e6 / (u + 0.001)) as i64 / 7;
                self.files.push([now, now - self.ahead, size]);
                self.total += size;
            }
        }

        /// Does what the daemon does when it wakes. Returns when it wakes next.
        fn wake(&mut self, now: i64) -> i64 {
            const QUARTER: i64 = 15 * 60;
            let today = midnight(now, &self.zone);
            if self.done == today || !self.window.is_open(now, &self.zone) {
                return now + QUARTER - now % QUARTER;
            }
            let states = self.files.iter().zip(0..).map(|(file, id)| state(id, file[0], Class::Ok));
            let chosen = choose(&Selection::default(), states.collect(), &times(&self.hash, now));
            let of_today = self.runs.iter().filter(|(at, _)| (today..=now).contains(at));
            let spent = of_today.map(|(_, cost)| cost).sum();
            let total = Total { files: self.files.len() as i64, bytes: self.total };
            let left = budget(total, PERIOD as u32, is_late(&chosen, now), spent);
            let files = &self.files;
            let size = |id: i64| Ok(files[id as usize][2]);
            let plan = Plan::of(&chosen, Some(left), Most::part(Position::START), size).unwrap();
            let end = now + plan.bytes / self.rate;
            for &id in &plan.ids {
                let file = &mut self.files[id as usize];
                (file[0], file[1]) = (end, end - self.ahead);
            }
            self.runs.push((now, plan.ids.len() as i64 * cost(0) + plan.bytes));
            *self.days.entry(midnight(now - self.ahead, &self.zone)).or_default() += plan.bytes;
            if !plan.goes_on {
                self.done = today;
            }
            end
        }
    }

    /// Growth, a month off, a clock that is set back and ahead, and summer times.
    #[test]
    fn no_day_is_heavy_and_no_file_gets_old_in_two_years_of_a_daemon() {
        const MOST: usize = 10_000;
        // An hour before midnight in Berlin, in winter.
        let began = 1_767_222_000;
        let mut world = World {
            hash: SipHash24::new(&[3; 16]),
            zone: TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap(),
            window: "1:00-6:00".parse().unwrap(),
            rate: 1,
            files: Vec::new(),
            total: 0,
            runs: Vec::new(),
            days: BTreeMap::new(),
            done: 0,
            ahead: 0,
        };
        world.grow(MOST / 2, began);
        // Three times the rate that the files need in the end.
        world.rate = 3 * 2 * world.total / PERIOD / (5 * 3600);
        let mut truth = began;
        for day in 1..=730 {
            let end = began + day * DAY;
            // The clock is set at noon. A wrong one is right again after a week, and after a day.
            let set = [(420, -3 * DAY), (427, 0), (500, 40 * DAY), (501, 0)];
            let set = set.iter().find(|(date, _)| *date == day).map(|(_, ahead)| *ahead);
            for (until, ahead) in [(end - DAY / 2, set), (end, None)] {
                while truth < until && !(301..=330).contains(&day) {
                    let now = truth + world.ahead;
                    truth = (world.wake(now).max(now + 1) - world.ahead).min(until.max(truth + 1));
                }
                truth = truth.max(until);
                world.ahead = ahead.unwrap_or(world.ahead);
            }
            if day <= 400 && day % 5 == 0 {
                world.grow(MOST / 160, truth + world.ahead);
            }
            let oldest = world.files.iter().map(|file| truth - file[1]).max().unwrap() / DAY;
            let most = match day {
                300..=400 => PERIOD + 31 + 3,
                // Verifications at a wrong time are not believed, and repeated over the next days.
                420..=600 => PERIOD + 8,
                _ => PERIOD + 2,
            };
            assert!(oldest <= most, "day {day}: {oldest} days");
        }
        let (even, largest) = (world.total as f64 / PERIOD as f64, 150e6);
        assert!(world.files.len() >= MOST * 99 / 100);
        for (date, bytes) in &world.days {
            // The file that uses the budget up is read whole.
            let load = (*bytes as f64 - largest) / even;
            assert!(load <= 2.0, "{date}: {load} times the even load");
        }
    }
}
