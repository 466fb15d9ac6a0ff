use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use lanesum_events::{Context, EventSystem, Every, TestClock};
use lanesum_siphash::SipHash24;

use super::*;

const PERIOD: u32 = 90;
/// Between two looks whether the clock was set.
const TICK: Duration = Duration::from_secs(600);

fn wall(at: i64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(at.cast_unsigned())
}

/// A root of a simulated catalog, and the daemon that looks after it.
struct World {
    clock: TestClock,
    began: i64,
    jitter: SipHash24,
    zone: TimeZone,
    settings: Settings,
    queue: Queue,
    /// Of each file by its id: when it was checked by the clock, and in truth; its size; whether it
    /// is new.
    files: Vec<(i64, i64, i64, bool)>,
    total: i64,
    /// Scrubs: when each began by the clock, and what it took of the budget.
    runs: Vec<(i64, i64)>,
    /// Bytes by the days that it was in truth.
    days: BTreeMap<i64, i64>,
    /// How far the clock is ahead of the truth.
    ahead: i64,
    /// Until when it reads.
    busy: i64,
    parts: usize,
}

impl World {
    fn now(&self) -> i64 {
        self.clock.wall().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs().cast_signed()
    }

    fn grow(&mut self, files: usize) {
        let now = self.now();
        for _ in 0..files {
            let id = self.files.len();
            // Most are small; the largest are a hundred times the mean.
            let u = self.jitter.hash_u64(id as u64 + 7) as f64 / 2_f64.powi(64);
            let size = (1e6 / (u + 0.001)) as i64 / 7;
            self.files.push((now, now - self.ahead, size, true));
            self.total += size;
        }
        self.load();
    }

    /// As the daemon does after somebody else wrote, and after the clock was set.
    fn load(&mut self) {
        let times = Times {
            hash: &self.jitter,
            now: self.now(),
            period: i64::from(PERIOD) * DAY,
            overdue_after: i64::MAX,
        };
        let (day, rest) = (self.queue.day, self.queue.rest.min(self.now() + ROUND));
        let mut queue = Queue { day, rest, ..Queue::default() };
        for (id, &(checked, _, _, is_new)) in self.files.iter().enumerate() {
            let _ = is_new;
            let state = State::ok(id as i64, 1, checked);
            queue.add(id as u32, true, times.due(&state)).unwrap();
        }
        self.queue = queue;
    }

    fn left(&mut self, now: i64) -> i64 {
        let today = midnight(now, &self.zone);
        let runs = self.runs.iter().rev().take(4000);
        let read = runs.filter(|(at, _)| (today..=now).contains(at)).map(|(_, cost)| cost).sum();
        budget(
            Total { files: self.files.len() as i64, bytes: self.total },
            PERIOD,
            self.queue.is_late(now),
            read,
        )
    }

    /// What the daemon does when it wakes; when it is to be woken.
    fn turn(&mut self) -> i64 {
        let now = self.now();
        if now < self.busy {
            return self.busy;
        }
        let left = self.left(now);
        let zone = self.zone.clone();
        match self.queue.next((&self.settings, &Steering::default()), false, now, left, &zone) {
            Next::Paused => now + DAY,
            Next::At(at) => at,
            Next::Now => {
                let files = &self.files;
                let claimed = self
                    .queue
                    .claim(now, left, &zone, |id| Ok(Some(files[id as usize].2)), &mut || true)
                    .unwrap();
                let (bytes, cost) = (claimed.bytes, claimed.cost);
                let is_due = self.queue.head().is_some_and(|head| head <= now);
                // It takes its time, and ends when the hours do.
                let took = bytes / self.settings.rate.unwrap() as i64;
                let end = now + took;
                for &(_, id) in &claimed.events {
                    let file = &mut self.files[id as usize];
                    (file.0, file.1, file.3) = (end, end - self.ahead, false);
                }
                self.runs.push((now, cost));
                *self.days.entry(midnight(now - self.ahead, &zone)).or_default() += bytes;
                self.parts += 1;
                let times = Times {
                    hash: &self.jitter,
                    now: end,
                    period: i64::from(PERIOD) * DAY,
                    overdue_after: i64::MAX,
                };
                let files = &self.files;
                let known = |id: u32| {
                    let state = State::ok(id.into(), 1, files[id as usize].0);
                    Ok(Some((true, times.due(&state))))
                };
                self.queue.put_back(claimed, end, true, known).unwrap();
                if !(is_due && left > cost) {
                    self.queue.rest = end + ROUND;
                }
                self.busy = end;
                end
            }
        }
    }

    /// Days since the check that is the longest ago, in truth.
    fn oldest(&self) -> i64 {
        let now = self.now() - self.ahead;
        self.files.iter().map(|file| now - file.1).max().unwrap_or(0) / DAY
    }
}

fn wake(world: &Arc<Mutex<World>>, context: &Context<'_>) {
    let at = {
        let mut world = world.lock().unwrap();
        let at = world.turn();
        at.max(world.now() + 1)
    };
    let world = Arc::clone(world);
    context.system().add_at(wall(at), move |context| wake(&world, context)).unwrap();
}

/// Two years with the daemon: growth, a month off, the clock set back and forth, both changes of it
/// in each year. `LANESUM_FILES` says of how many files in the end; 100,000 otherwise.
#[test]
fn no_day_is_heavy_and_nothing_gets_old_in_two_years_of_a_daemon() {
    let most: usize = std::env::var("LANESUM_FILES").map_or(100_000, |text| text.parse().unwrap());
    let took = Instant::now();
    // In winter, an hour before midnight in Berlin.
    let began = 1_767_222_000;
    let clock = TestClock::at(wall(began));
    let system = EventSystem::builder().inline().test_clock(&clock).start().unwrap();
    let mut world = World {
        clock: clock.clone(),
        began,
        jitter: SipHash24::new(&[3; 16]),
        zone: TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap(),
        settings: Settings { window: "1:00-6:00".parse().ok(), ..Settings::default() },
        queue: Queue::default(),
        files: Vec::new(),
        total: 0,
        runs: Vec::new(),
        days: BTreeMap::new(),
        ahead: 0,
        busy: 0,
        parts: 0,
    };
    world.grow(most / 2);
    // Three times what the files need in the end.
    world.settings.rate =
        Some(3 * 2 * world.total.cast_unsigned() / u64::from(PERIOD) / (5 * 3600));
    let world = Arc::new(Mutex::new(world));
    let first = Arc::clone(&world);
    system.add_after(Duration::ZERO, move |context| wake(&first, context)).unwrap();
    // The daemon's own look whether the clock was set.
    let (ticking, mut last) = (Arc::clone(&world), clock.clone().wall());
    let tick = move |context: &Context<'_>| {
        let mut world = ticking.lock().unwrap();
        let now = world.clock.wall();
        let expected = last + TICK;
        last = now;
        let drift = now.duration_since(expected).unwrap_or_else(|error| error.duration());
        if drift > Duration::from_secs(60) {
            world.busy = 0;
            world.load();
            drop(world);
            let world = Arc::clone(&ticking);
            context.system().add_at(now, move |context| wake(&world, context)).unwrap();
        }
    };
    system.repeat_after(TICK, Every::new(TICK), tick).unwrap();

    let mut heaviest = 0.0_f64;
    let mut most_memory = 0.0_f64;
    let mut last_oldest = 0;
    let mut is_off = false;
    for day in 1..=730_i64 {
        // In truth.
        let truth = world.lock().unwrap().began + day * DAY;
        let until = |truth: i64| {
            let ahead = world.lock().unwrap().ahead;
            clock.run_until(&system, wall(truth + ahead));
        };
        if is_off {
            clock.suspend(Duration::from_secs(DAY.cast_unsigned()));
        } else {
            let set = match day {
                // Back by three days, and right again after a week; forth by forty for a day.
                420 => Some(-3 * DAY),
                427 | 501 => Some(0),
                500 => Some(40 * DAY),
                _ => None,
            };
            if let Some(ahead) = set {
                // At noon: to another day belongs another budget.
                let noon = truth - DAY / 2;
                until(noon);
                world.lock().unwrap().ahead = ahead;
                clock.set_wall(wall(noon + ahead));
            }
            until(truth);
        }
        is_off = (300..330).contains(&day);
        let mut world = world.lock().unwrap();
        if day <= 400 && day % 5 == 0 {
            world.grow(most / 160);
        }
        if day % 7 == 0 || (300..480).contains(&day) {
            let oldest = world.oldest();
            let most = match day {
                300..=400 => i64::from(PERIOD) + 31 + 3,
                // What was checked by a wrong clock is not believed, and read again by and by.
                420..=600 => i64::from(PERIOD) + 8,
                _ => i64::from(PERIOD) + 2,
            };
            assert!(oldest <= most, "day {day}: {oldest} days");
            last_oldest = oldest;
        }
        let memory = world.queue.heap_size() as f64 / world.files.len() as f64;
        most_memory = most_memory.max(memory);
        assert!(memory <= 64.0, "day {day}: {memory} bytes a file");
        let even = world.total as f64 / f64::from(PERIOD);
        let largest = 150e6;
        let days = std::mem::take(&mut world.days);
        for (date, bytes) in &days {
            // The file that uses the budget up is read whole.
            let load = (*bytes as f64 - largest) / even;
            heaviest = heaviest.max(load);
            assert!(load <= 2.0, "day {day} ({date}): {load} times the even load");
        }
        let today = midnight(world.now() - world.ahead, &world.zone);
        world.days = days.into_iter().filter(|(date, _)| *date >= today - 4 * DAY).collect();
    }
    let world = world.lock().unwrap();
    assert!(world.files.len() >= most * 99 / 100 && last_oldest <= i64::from(PERIOD) + 2);
    println!(
        "{} files, {} parts, heaviest day {heaviest:.2}, oldest {last_oldest} d, {most_memory:.0} B a file, {:?}",
        world.files.len(),
        world.parts,
        took.elapsed()
    );
}

#[test]
fn what_is_not_well_is_read_each_day_and_what_could_not_be_read_later() {
    let zone = TimeZone::UTC;
    let (settings, steering) = (Settings::default(), Steering::default());
    let now = 1_000 * DAY + 100;
    let mut queue = Queue::default();
    queue.add(1, true, now - 5).unwrap();
    queue.add(2, true, now + 10 * DAY).unwrap();
    queue.add(3, false, now).unwrap();
    assert_eq!(queue.next((&settings, &steering), false, now, 1 << 20, &zone), Next::Now);
    let claimed = queue.claim(now, 1 << 20, &zone, |_| Ok(Some(10)), &mut || true).unwrap();
    assert_eq!(claimed.ids(), [1, 3]);
    // The first was being written to; the other is as bad as it was.
    let known = |id| Ok(Some((id != 3, now - 5)));
    queue.put_back(claimed, now, true, known).unwrap();
    queue.rest = now + ROUND;
    assert_eq!(
        queue.next((&settings, &steering), false, now, 1 << 20, &zone),
        Next::At(now + ROUND)
    );
    let later = now + ROUND;
    assert_eq!(queue.next((&settings, &steering), false, later, 1 << 20, &zone), Next::Now);
    let claimed = queue.claim(later, 1 << 20, &zone, |_| Ok(Some(10)), &mut || true).unwrap();
    assert_eq!(claimed.ids(), [1], "what is bad is read once a day");
    queue.put_back(claimed, later, true, |_| Ok(Some((true, later + DAY * 2)))).unwrap();
    let tomorrow = 1_001 * DAY;
    assert_eq!(
        queue.next((&settings, &steering), false, later, 1 << 20, &zone),
        Next::At(tomorrow)
    );
    assert_eq!(
        queue.next((&settings, &steering), false, later, 0, &zone),
        Next::At(tomorrow),
        "no budget"
    );
    assert_eq!(queue.next((&settings, &steering), false, tomorrow, 1 << 20, &zone), Next::Now);
    let claimed = queue.claim(tomorrow, 1 << 20, &zone, |_| Ok(Some(10)), &mut || true).unwrap();
    assert_eq!(claimed.ids(), [3]);
    // Put right; and a run that ended early begins the day again.
    queue.put_back(claimed, tomorrow, false, |_| Ok(Some((true, tomorrow + DAY)))).unwrap();
    assert_eq!(queue.next((&settings, &steering), false, tomorrow, 1 << 20, &zone), Next::Now);
    assert!(queue.bad.is_empty() && queue.schedule.len() == 3);

    let window = "1:00-2:00".parse().ok();
    let closed = Settings { window, ..settings.clone() };
    assert_eq!(
        queue.next((&closed, &steering), false, tomorrow, 1 << 20, &zone),
        Next::At(tomorrow + 3600)
    );
    assert_eq!(
        queue.next((&closed, &steering), true, tomorrow, 1 << 20, &zone),
        Next::Now,
        "on request"
    );
    let paused = Steering { paused: Some(5), ..Steering::default() };
    assert_eq!(queue.next((&settings, &paused), true, tomorrow, 1 << 20, &zone), Next::Paused);
    // What is forgotten goes.
    let claimed =
        queue.claim(tomorrow + 20 * DAY, 1 << 20, &zone, |_| Ok(Some(10)), &mut || true).unwrap();
    assert_eq!(claimed.ids(), [1, 2, 3]);
    queue.put_back(claimed, tomorrow + 20 * DAY, true, |_| Ok(None)).unwrap();
    assert!(queue.head().is_none() && queue.schedule.idle() == 0);
}

#[test]
fn a_part_ends_with_the_budget_and_with_its_own_size() {
    let (zone, now) = (TimeZone::UTC, 1_000 * DAY);
    let mut queue = Queue::default();
    (0..30_000).for_each(|id| queue.add(id, true, i64::from(id)).unwrap());
    let claimed =
        queue.claim(now, 10 * cost(10) - 5, &zone, |_| Ok(Some(10)), &mut || true).unwrap();
    assert_eq!(claimed.ids(), (0..10).collect::<Vec<_>>(), "what is due first");
    let claimed = queue.claim(now, i64::MAX, &zone, |_| Ok(None), &mut || true).unwrap();
    assert_eq!(claimed.ids().len(), BATCH);
    let claimed = queue.claim(now, i64::MAX, &zone, |_| Ok(Some(PART / 2)), &mut || true).unwrap();
    assert_eq!(claimed.ids().len(), 2);
    let mut looks = 0;
    let mut few = || {
        looks += 1;
        looks < 3
    };
    let claimed = queue.claim(now, i64::MAX, &zone, |_| Ok(Some(1)), &mut few).unwrap();
    assert_eq!(claimed.ids().len(), 3, "where to look takes long");
    assert!(queue.claim(now, 0, &zone, |_| Ok(Some(1)), &mut || true).unwrap().ids().is_empty());
}
