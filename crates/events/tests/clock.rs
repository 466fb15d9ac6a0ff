//! The test clock runs through chains of events, and late runs behave as in tokio.

use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use lanesum_events::{Context, EventSystem, Every, Shutdown, TestClock};

const YEAR: Duration = Duration::from_secs(365 * 24 * 3600);

fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn with_workers(workers: usize) -> (TestClock, EventSystem) {
    let clock = TestClock::new();
    let system = EventSystem::builder().workers(workers).test_clock(&clock).start().unwrap();
    (clock, system)
}

/// Events that an action adds within the time span run as well, each at its own time.
#[test]
fn the_clock_runs_through_chains_of_events() {
    fn chain(
        log: Arc<Mutex<Vec<(u64, &'static str)>>>,
        clock: TestClock,
        start: SystemTime,
    ) -> impl FnOnce(&Context<'_>) + Send + 'static {
        move |context| {
            let now = clock.wall().duration_since(start).unwrap().as_secs();
            log.lock().unwrap().push((now, "link"));
            let (system, next) = (context.system(), chain(log, clock, start));
            match now % 2 {
                0 => system.add_after(secs(3), next).unwrap(),
                _ => system.add_at(start + secs(now + 3), next).unwrap(),
            };
        }
    }
    for workers in [0, 2] {
        let (clock, system) = with_workers(workers);
        let (start, log) = (clock.wall(), Arc::new(Mutex::new(Vec::new())));
        system.add_after(secs(2), chain(log.clone(), clock.clone(), start)).unwrap();
        let (ticks, watch) = (log.clone(), clock.clone());
        let tick = move |_: &Context<'_>| {
            let now = watch.wall().duration_since(start).unwrap().as_secs();
            ticks.lock().unwrap().push((now, "tick"));
        };
        system.repeat_at(start + secs(4), Every::new(secs(4)), tick).unwrap();
        clock.run_until(&system, start + secs(11));
        let mut seen = std::mem::take(&mut *log.lock().unwrap());
        let expected =
            [(2, "link"), (4, "tick"), (5, "link"), (8, "link"), (8, "tick"), (11, "link")];
        assert!(seen.is_sorted_by_key(|&(at, _)| at), "{seen:?}");
        // Events of the same time run at once.
        seen.sort();
        assert_eq!(seen, expected);
        assert_eq!(clock.wall(), start + secs(11));
        // A past time, and the end of time.
        clock.run_until(&system, start);
        assert_eq!((clock.wall(), log.lock().unwrap().len()), (start + secs(11), 0));
        system.shutdown(Shutdown::DropPending);
        clock.run_until(&system, start + 10_000 * YEAR);
    }
}

#[test]
#[should_panic(expected = "does not take its time from this clock")]
fn a_clock_refuses_another_system() {
    let (clock, _system) = with_workers(0);
    clock.run_until(&EventSystem::start().unwrap(), clock.wall());
}

/// When a repeating action begins whose runs take so long, by tokio's interval and by ours.
#[test]
fn skip_agrees_with_tokio() {
    let takes = [3, 12, 0, 10, 25, 7, 40, 1, 9, 30].map(secs);
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_time().start_paused(true).build().unwrap();
    let theirs: Vec<Duration> = runtime.block_on(async {
        let start = tokio::time::Instant::now();
        let mut interval = tokio::time::interval_at(start + secs(10), secs(10));
        interval.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Skip);
        let mut begins = Vec::new();
        for takes in takes {
            interval.tick().await;
            begins.push(start.elapsed());
            tokio::time::advance(takes).await;
        }
        begins
    });

    let (clock, system) = with_workers(0);
    let (start, begins) = (clock.wall(), Arc::new(Mutex::new(Vec::new())));
    let (log, time, mut takes) = (begins.clone(), clock.clone(), takes.into_iter());
    let action = move |context: &Context<'_>| match takes.next() {
        Some(takes) => {
            log.lock().unwrap().push(time.wall().duration_since(start).unwrap());
            time.advance(takes);
        }
        None => _ = context.system().cancel(context.id()),
    };
    system.repeat_after(secs(10), Every::new(secs(10)), action).unwrap();
    clock.run_until(&system, start + secs(1_000));
    let millis = |times: &[Duration]| times.iter().map(Duration::as_millis).collect::<Vec<_>>();
    assert_eq!(millis(&begins.lock().unwrap()), millis(&theirs));
}
