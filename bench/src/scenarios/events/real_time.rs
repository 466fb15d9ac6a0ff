//! The cases in real time: 100,000 events added and run, several threads adding, and lateness.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use lanesum_events::{EventSystem, Shutdown};
use tokio::runtime::Runtime;
use tokio_util::time::DelayQueue;

use super::{DOCUMENT, Runs, SCENARIO, child, sample};
use crate::clock;
use crate::options::Options;
use crate::report::Report;
use crate::rig::{self, Case, Competitor};

/// The events of `lateness`, and the time over which they are spread.
const LATENESS: usize = 100_000;
const SECONDS: u64 = 10;

pub fn run(options: &Options, report: &mut Report) -> Result<()> {
    let run = Series::new("run", 100_000, &["delayqueue", "lanesum", "tokio-sleep", "document"]);
    run.case(options, report, "run-1e5", 0)?;
    if options.only.case("run-1e5") {
        println!("{DOCUMENT}");
    }
    let threads = Series::new("threads", 1_000_000, &["lanesum-1-thread", "lanesum-4-threads"]);
    threads.case(options, report, "threads", 0)?;
    let late = ["sorted-list", "lanesum", "delayqueue", "tokio-sleep"];
    let late = Series::new("lateness", LATENESS, &late);
    late.case(options, report, "lateness-p50", 0)?;
    late.case(options, report, "lateness-p99", 1)
}

/// Runs of the same work. Cases that look at several of the numbers it answers with share them.
struct Series<'a> {
    what: &'static str,
    events: usize,
    /// The first is the baseline.
    implementations: &'a [&'static str],
    runs: Runs,
}

impl<'a> Series<'a> {
    fn new(what: &'static str, events: usize, implementations: &'a [&'static str]) -> Self {
        Self { what, events, implementations, runs: Runs::default() }
    }

    /// A case in which a run's sample is one of the numbers it answers with. For a lateness, which
    /// is a time of one event, "seconds" are just that.
    fn case(&self, options: &Options, report: &mut Report, name: &str, which: usize) -> Result<()> {
        if !options.only.case(name) {
            return Ok(());
        }
        let events = (self.events / options.scale).max(4);
        let baseline = self.implementations[0];
        let wanted = self.implementations.iter();
        let wanted = wanted.filter(|&&name| options.only.row(name, baseline));
        let competitors = wanted.map(|&name| {
            let mut round = 0;
            Competitor {
                name,
                every_round: name.starts_with("lanesum"),
                run: Box::new(move || {
                    let run = || child(&[name, self.what], events);
                    let sample = sample(&self.runs, name, round, which, run)?;
                    round += 1;
                    Ok(sample)
                }),
                // The run itself fails unless each event ran once.
                verify: Box::new(|| Ok(())),
            }
        });
        let items = if self.what == "lateness" { 1 } else { events as u64 };
        let case = Case {
            scenario: SCENARIO.name,
            name: name.to_owned(),
            bytes: items * size_of::<u64>() as u64,
            items,
            competitors: competitors.collect(),
        };
        report.add(&rig::measure(case, options.rounds, &options.interrupt, clock::hertz)?)
    }
}

/// The child's side.
pub fn measure(implementation: &str, case: &str, events: usize) -> Result<Vec<f64>> {
    Ok(match (case, implementation) {
        ("run", "lanesum") => vec![run_lanesum(events)?],
        ("run", "delayqueue") => vec![run_delayqueue(events)?],
        ("run", "tokio-sleep") => vec![run_sleeps(events)?],
        ("run", "document") => vec![run_document(events)?],
        ("threads", "lanesum-1-thread") => vec![add_by_threads(1, events)?],
        ("threads", "lanesum-4-threads") => vec![add_by_threads(4, events)?],
        ("lateness", "lanesum") => quantiles(late_lanesum(&offsets(events))?)?,
        ("lateness", "sorted-list") => quantiles(late_list(&offsets(events)))?,
        ("lateness", "delayqueue") => quantiles(late_delayqueue(&offsets(events))?)?,
        ("lateness", "tokio-sleep") => quantiles(late_sleeps(&offsets(events))?)?,
        _ => bail!("{implementation} {case}: no such run"),
    })
}

fn runtime() -> Result<Runtime> {
    Ok(tokio::runtime::Builder::new_current_thread().enable_time().build()?)
}

/// Counts runs, and tells when all have taken place.
#[derive(Clone)]
struct Finish {
    left: Arc<AtomicUsize>,
    done: mpsc::Sender<()>,
}

impl Finish {
    fn new(events: usize) -> (Self, mpsc::Receiver<()>) {
        let (done, is_done) = mpsc::channel();
        (Finish { left: Arc::new(AtomicUsize::new(events)), done }, is_done)
    }

    fn count(&self) {
        if self.left.fetch_sub(1, Ordering::AcqRel) == 1 {
            // The receiver waits for this.
            let _ = self.done.send(());
        }
    }
}

/// The document's test: all are added to run at once.
fn run_lanesum(events: usize) -> Result<f64> {
    let system = EventSystem::start()?;
    let (finish, is_done) = Finish::new(events);
    let start = Instant::now();
    for _ in 0..events {
        let finish = finish.clone();
        system.add_after(Duration::ZERO, move |_| finish.count())?;
    }
    is_done.recv()?;
    let seconds = start.elapsed().as_secs_f64();
    ensure!(system.ran() <= events as u64, "{} actions ran", system.ran());
    system.shutdown(Shutdown::DropPending);
    Ok(seconds)
}

fn run_delayqueue(events: usize) -> Result<f64> {
    runtime()?.block_on(async {
        let mut queue = DelayQueue::new();
        let start = Instant::now();
        for event in 0..events {
            queue.insert(event, Duration::ZERO);
        }
        for _ in 0..events {
            poll_fn(|context| queue.poll_expired(context)).await.context("events are missing")?;
        }
        Ok(start.elapsed().as_secs_f64())
    })
}

fn run_sleeps(events: usize) -> Result<f64> {
    runtime()?.block_on(async {
        let start = Instant::now();
        let tasks: Vec<_> =
            (0..events).map(|_| tokio::spawn(tokio::time::sleep(Duration::ZERO))).collect();
        for task in tasks {
            task.await?;
        }
        Ok(start.elapsed().as_secs_f64())
    })
}

type Actions = BTreeMap<u64, Box<dyn FnOnce() + Send>>;

/// A map of maps behind a lock, a thread that takes out what is due, and one that runs it.
fn run_document(events: usize) -> Result<f64> {
    let map = Arc::new(Mutex::new(BTreeMap::<Instant, (u64, Actions)>::new()));
    let (finish, is_done) = Finish::new(events);
    let (expired, queue) = mpsc::channel::<Actions>();
    let pending = map.clone();
    let (ended, has_ended) = mpsc::channel::<()>();
    let expire = thread::spawn(move || {
        while has_ended.try_recv().is_err() {
            let mut map = pending.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            let later = map.split_off(&Instant::now());
            let due = std::mem::replace(&mut *map, later);
            drop(map);
            for (_, actions) in due.into_values() {
                // Gone only if nothing is left to run.
                let _ = expired.send(actions);
            }
        }
    });
    let work = thread::spawn(move || {
        for actions in queue {
            actions.into_values().for_each(|action| action());
        }
    });
    let start = Instant::now();
    for _ in 0..events {
        let finish = finish.clone();
        let now = Instant::now();
        let mut map = map.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let (next, actions) = map.entry(now).or_default();
        actions.insert(*next, Box::new(move || finish.count()));
        *next += 1;
    }
    is_done.recv()?;
    let seconds = start.elapsed().as_secs_f64();
    ended.send(())?;
    for thread in [expire, work] {
        thread.join().ok().context("a thread of the document's shape panicked")?;
    }
    Ok(seconds)
}

fn add_by_threads(threads: usize, events: usize) -> Result<f64> {
    let system = EventSystem::start()?;
    let barrier = Barrier::new(threads + 1);
    let each = events / threads;
    let seconds = thread::scope(|scope| {
        let adders: Vec<_> = (0..threads)
            .map(|number| {
                let (system, barrier) = (&system, &barrier);
                scope.spawn(move || {
                    let mut random = fastrand::Rng::with_seed(number as u64);
                    barrier.wait();
                    for _ in 0..each {
                        // An hour away: none of them runs.
                        let delay = Duration::from_nanos(random.u64(0..SECONDS * 1_000_000_000));
                        system.add_after(Duration::from_secs(3600) + delay, |_| {})?;
                    }
                    anyhow::Ok(())
                })
            })
            .collect();
        barrier.wait();
        let start = Instant::now();
        for adder in adders {
            adder.join().ok().context("an adding thread panicked")??;
        }
        anyhow::Ok(start.elapsed().as_secs_f64())
    })?;
    ensure!(system.len() == each * threads, "{} events are pending", system.len());
    Ok(seconds)
}

/// When each event is due, from the start; the rate is that of 10^5 in 10 s.
fn offsets(events: usize) -> Vec<Duration> {
    let span = SECONDS * 1_000_000_000 / (LATENESS as u64) * events as u64;
    let mut random = fastrand::Rng::with_seed(9);
    (0..events).map(|_| Duration::from_nanos(random.u64(0..span))).collect()
}

/// Time for all events to be added before the first is due.
const HEAD_START: Duration = Duration::from_millis(500);

/// p50 and p99, in seconds. Fails if an event was early or did not run.
fn quantiles(mut late: Vec<Option<Duration>>) -> Result<Vec<f64>> {
    late.sort_unstable();
    let at = |hundredths: usize| late[(late.len() - 1) * hundredths / 100];
    ensure!(late[0].is_some(), "an event was early, or did not run");
    Ok([50, 99].iter().filter_map(|&q| at(q)).map(|late| late.as_secs_f64()).collect())
}

/// How long after `due` it is; none if it is before.
fn lateness(due: Instant) -> Option<Duration> {
    Instant::now().checked_duration_since(due)
}

fn late_lanesum(offsets: &[Duration]) -> Result<Vec<Option<Duration>>> {
    let system = EventSystem::start()?;
    let late: Arc<Vec<AtomicU64>> =
        Arc::new(offsets.iter().map(|_| AtomicU64::new(u64::MAX)).collect());
    let (finish, is_done) = Finish::new(offsets.len());
    let start = Instant::now() + HEAD_START;
    for (event, &offset) in offsets.iter().enumerate() {
        let (late, finish, due) = (late.clone(), finish.clone(), start + offset);
        system.add_after(due.saturating_duration_since(Instant::now()), move |_| {
            let nanos = lateness(due).map_or(u64::MAX, |late| late.as_nanos() as u64);
            late[event].store(nanos, Ordering::Relaxed);
            finish.count();
        })?;
    }
    is_done.recv()?;
    let known = |late: &AtomicU64| match late.load(Ordering::Relaxed) {
        u64::MAX => None,
        nanos => Some(Duration::from_nanos(nanos)),
    };
    Ok(late.iter().map(known).collect())
}

fn late_list(offsets: &[Duration]) -> Vec<Option<Duration>> {
    let start = Instant::now() + HEAD_START;
    let mut due: Vec<Instant> = offsets.iter().map(|&offset| start + offset).collect();
    due.sort_unstable();
    due.into_iter()
        .map(|due| {
            loop {
                match due.checked_duration_since(Instant::now()) {
                    Some(left) if !left.is_zero() => thread::park_timeout(left),
                    _ => break lateness(due),
                }
            }
        })
        .collect()
}

fn late_delayqueue(offsets: &[Duration]) -> Result<Vec<Option<Duration>>> {
    runtime()?.block_on(async {
        let mut queue = DelayQueue::new();
        let start = Instant::now() + HEAD_START;
        for &offset in offsets {
            queue.insert_at(start + offset, (start + offset).into());
        }
        let mut late = Vec::with_capacity(offsets.len());
        for _ in offsets {
            let event = poll_fn(|context| queue.poll_expired(context)).await;
            late.push(lateness(event.context("events are missing")?.into_inner()));
        }
        Ok(late)
    })
}

fn late_sleeps(offsets: &[Duration]) -> Result<Vec<Option<Duration>>> {
    runtime()?.block_on(async {
        let start = Instant::now() + HEAD_START;
        let sleep = |due: Instant| async move {
            tokio::time::sleep_until(due.into()).await;
            lateness(due)
        };
        let tasks: Vec<_> =
            offsets.iter().map(|&offset| tokio::spawn(sleep(start + offset))).collect();
        let mut late = Vec::with_capacity(tasks.len());
        for task in tasks {
            late.push(task.await?);
        }
        Ok(late)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_runs_all() {
        for name in ["lanesum", "delayqueue", "tokio-sleep", "document"] {
            assert!(measure(name, "run", 1_000).unwrap()[0] > 0.0, "{name}");
        }
        assert!(measure("lanesum-4-threads", "threads", 1_000).unwrap()[0] > 0.0);
    }

    #[test]
    fn an_event_that_was_early_or_missing_fails_the_run() {
        let millis = Duration::from_millis;
        assert!(quantiles(vec![Some(millis(1)), None]).is_err());
        let late = (1..=100).map(|n| Some(millis(n))).collect();
        assert_eq!(quantiles(late).unwrap(), [0.050, 0.099]);
    }
}
