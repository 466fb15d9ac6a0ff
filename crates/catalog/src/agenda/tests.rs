use std::collections::BTreeMap;

use lanesum_siphash::SipHash24;

use super::*;
use crate::due::{Times, budget};
use crate::store::rows::State;
use crate::store::total::Total;

const PERIOD: i64 = 90;

/// A root of a simulated catalog, and the daemon that verifies it.
struct World {
    hash: SipHash24,
    zone: TimeZone,
    settings: Settings,
    queue: Queue,
    /// Of each file its last verification, by the clock and in truth, and its size.
    files: Vec<[i64; 3]>,
    total: i64,
    /// When the runs began by the clock, and what they took of the budget.
    runs: Vec<(i64, i64)>,
    /// The bytes that were read on each day in truth.
    days: BTreeMap<i64, i64>,
    /// How far the clock is ahead of the truth.
    ahead: i64,
}

impl World {
    fn due(&self, id: u32, now: i64) -> i64 {
        let period = PERIOD * DAY;
        let times = Times { hash: &self.hash, now, period };
        times.due(&State::ok(id.into(), 1, self.files[id as usize][0]))
    }

    fn grow(&mut self, files: usize, now: i64) {
        for id in self.files.len()..self.files.len() + files {
            // Most are small. The largest are a hundred times the mean.
            let u = self.hash.hash_u64(id as u64 + 7) as f64 / 2_f64.powi(64);
            let size = (1e6 / (u + 0.001)) as i64 / 7;
            self.files.push([now, now - self.ahead, size]);
            self.total += size;
        }
        self.load(now);
    }

    /// Computes the queue again, as after another run, or after the clock was set.
    fn load(&mut self, now: i64) {
        let (day, rest) = (self.queue.day, self.queue.rest.min(now + ROUND));
        let mut queue = Queue { day, rest, ..Queue::default() };
        for id in 0..self.files.len() as u32 {
            queue.add(id, true, self.due(id, now)).unwrap();
        }
        self.queue = queue;
    }

    /// Does what the daemon does when it wakes. Returns when it wakes next.
    fn wake(&mut self, now: i64) -> i64 {
        let (zone, today) = (self.zone.clone(), midnight(now, &self.zone));
        let of_today = self.runs.iter().filter(|(at, _)| (today..=now).contains(at));
        let spent = of_today.map(|(_, cost)| cost).sum();
        let total = Total { files: self.files.len() as i64, bytes: self.total };
        let left = budget(total, PERIOD as u32, self.queue.is_late(now), spent);
        let steering = Steering::default();
        match self.queue.next((&self.settings, &steering), false, now, left, &zone) {
            Next::At(at) => return at,
            next => assert_eq!(next, Next::Now),
        }
        let files = &self.files;
        let size = |id: u32| Ok(Some(files[id as usize][2]));
        let claimed = self.queue.claim(now, left, &zone, size, &mut || true).unwrap();
        let (bytes, cost) = (claimed.bytes, claimed.cost);
        let goes_on = self.queue.head().is_some_and(|head| head <= now) && left > cost;
        let end = now + bytes / self.settings.rate.unwrap().cast_signed();
        for &(_, id) in &claimed.events {
            let file = &mut self.files[id as usize];
            (file[0], file[1]) = (end, end - self.ahead);
        }
        self.runs.push((now, cost));
        *self.days.entry(midnight(now - self.ahead, &zone)).or_default() += bytes;
        let mut queue = std::mem::take(&mut self.queue);
        queue.put_back(claimed, end, true, |id| Ok(Some((true, self.due(id, end))))).unwrap();
        self.queue = queue;
        if !goes_on {
            self.queue.rest = end + ROUND;
        }
        end
    }
}

/// Growth, a month off, a clock that is set back and ahead, and summer times.
#[test]
fn no_day_is_heavy_and_no_file_gets_old_in_two_years_of_a_daemon() {
    const MOST: usize = 20_000;
    // An hour before midnight in Berlin, in winter.
    let began = 1_767_222_000;
    let mut world = World {
        hash: SipHash24::new(&[3; 16]),
        zone: TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap(),
        settings: Settings { window: "1:00-6:00".parse().ok(), ..Settings::default() },
        queue: Queue::default(),
        files: Vec::new(),
        total: 0,
        runs: Vec::new(),
        days: BTreeMap::new(),
        ahead: 0,
    };
    world.grow(MOST / 2, began);
    // Three times the rate that the files need in the end.
    let rate = 3 * 2 * world.total / PERIOD / (5 * 3600);
    world.settings.rate = Some(rate.cast_unsigned());
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
            if let Some(ahead) = ahead {
                world.ahead = ahead;
                world.load(truth + ahead);
            }
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
        let memory = world.queue.schedule.heap_size() / world.files.len();
        assert!(memory <= 64, "day {day}: {memory} bytes a file");
    }
    let (even, largest) = (world.total as f64 / PERIOD as f64, 150e6);
    assert!(world.files.len() >= MOST * 99 / 100);
    for (date, bytes) in &world.days {
        // The file that uses the budget up is read whole.
        let load = (*bytes as f64 - largest) / even;
        assert!(load <= 2.0, "{date}: {load} times the even load");
    }
}

#[test]
fn bad_files_are_read_once_a_day_and_absent_ones_an_hour_later() {
    let (settings, steering, zone) = (Settings::default(), Steering::default(), TimeZone::UTC);
    let (now, later, tomorrow) = (1_000 * DAY + 100, 1_000 * DAY + 100 + ROUND, 1_001 * DAY);
    let mut queue = Queue::default();
    queue.add(1, true, now - 5).unwrap();
    queue.add(2, true, now + 10 * DAY).unwrap();
    queue.add(3, false, now).unwrap();
    let next =
        |queue: &mut Queue, now, left| queue.next((&settings, &steering), false, now, left, &zone);
    let claim = |queue: &mut Queue, now| {
        queue.claim(now, 1 << 20, &zone, |_| Ok(Some(10)), &mut || true).unwrap()
    };
    assert_eq!(next(&mut queue, now, 1 << 20), Next::Now);
    let claimed = claim(&mut queue, now);
    assert_eq!(claimed.ids(), [1, 3]);
    // The first was not at its path, and the other is as bad as it was.
    queue.put_back(claimed, now, true, |id| Ok(Some((id != 3, now - 5)))).unwrap();
    queue.rest = later;
    assert_eq!(next(&mut queue, now, 1 << 20), Next::At(later));
    let claimed = claim(&mut queue, later);
    assert_eq!(claimed.ids(), [1]);
    queue.put_back(claimed, later, true, |_| Ok(Some((true, later + DAY * 2)))).unwrap();
    assert_eq!(next(&mut queue, later, 1 << 20), Next::At(tomorrow));
    assert_eq!(next(&mut queue, later, 0), Next::At(tomorrow), "no budget");
    assert_eq!(next(&mut queue, tomorrow, 1 << 20), Next::Now);
    let claimed = claim(&mut queue, tomorrow);
    assert_eq!(claimed.ids(), [3]);
    // It is ok again; and a run that ended early begins the day again.
    queue.put_back(claimed, tomorrow, false, |_| Ok(Some((true, tomorrow + DAY)))).unwrap();
    assert_eq!(next(&mut queue, tomorrow, 1 << 20), Next::Now);
    assert_eq!((queue.bad.len(), queue.schedule.len()), (0, 3));
    // Records that are deleted leave it.
    let claimed = claim(&mut queue, tomorrow + 20 * DAY);
    assert_eq!(claimed.ids(), [1, 2, 3]);
    queue.put_back(claimed, tomorrow + 20 * DAY, true, |_| Ok(None)).unwrap();
    assert!(queue.head().is_none() && queue.schedule.idle() == 0);
}

#[test]
fn hours_and_a_pause_hold_a_round_back() {
    let (zone, now) = (TimeZone::UTC, 1_000 * DAY);
    let closed = Settings { window: "1:00-2:00".parse().ok(), ..Settings::default() };
    let paused = Steering { paused: Some(5), ..Steering::default() };
    let next = |steering: &Steering, is_asked| {
        Queue::default().next((&closed, steering), is_asked, now, 1 << 20, &zone)
    };
    assert_eq!(next(&Steering::default(), false), Next::At(now + 3600));
    assert_eq!(next(&Steering::default(), true), Next::Now);
    assert_eq!(next(&paused, true), Next::Paused);
}

#[test]
fn part_ends_with_the_budget_and_with_its_own_size() {
    let (zone, now) = (TimeZone::UTC, 1_000 * DAY);
    let mut queue = Queue::default();
    (0..30_000).for_each(|id| queue.add(id, true, i64::from(id)).unwrap());
    let mut claim = |left, size, looks: usize| {
        let mut asked = 0;
        let mut goes_on = || {
            asked += 1;
            asked < looks
        };
        queue.claim(now, left, &zone, |_| Ok(size), &mut goes_on).unwrap().ids()
    };
    let first = claim(10 * cost(10) - 5, Some(10), usize::MAX);
    assert_eq!(first, (0..10).collect::<Vec<_>>(), "those due first");
    assert_eq!(claim(i64::MAX, None, usize::MAX).len(), BATCH);
    assert_eq!(claim(i64::MAX, Some(PART / 2), usize::MAX).len(), 2);
    assert_eq!(claim(i64::MAX, Some(1), 3).len(), 3, "the caller ends it");
    assert!(claim(0, Some(1), usize::MAX).is_empty());
}
