//! The running system, on a clock that the tests move.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use lanesum_events::{
    ActionId, AddError, Builder, Cancel, Context, DelayClock, EventSystem, Every, Missed, Shutdown,
    TestClock, TransactionError,
};

const DAY: Duration = Duration::from_secs(24 * 3600);
const YEAR: Duration = Duration::from_secs(365 * 24 * 3600);

fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// A log of the actions that ran, in order.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<&'static str>>>);

impl Log {
    fn entry(&self, text: &'static str) -> impl FnMut(&Context<'_>) + Send + 'static {
        let log = self.0.clone();
        move |_| log.lock().unwrap().push(text)
    }

    fn take(&self) -> Vec<&'static str> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

fn inline() -> (TestClock, EventSystem, Log) {
    with(EventSystem::builder().inline())
}

fn with(builder: Builder) -> (TestClock, EventSystem, Log) {
    let clock = TestClock::new();
    let system = builder.test_clock(&clock).start().unwrap();
    (clock, system, Log::default())
}

/// An action that reports its start and runs until it is released.
fn blocking() -> (impl FnOnce() + Send + 'static, Receiver<()>, Sender<()>) {
    let (begun, has_begun) = channel();
    let (release, released) = channel::<()>();
    let action = move || {
        begun.send(()).unwrap();
        let _ = released.recv();
    };
    (action, has_begun, release)
}

/// Has an action begun that blocks. Tells when it is to end, and whether it has.
fn begin_blocking(
    clock: &TestClock,
    system: &EventSystem,
) -> (ActionId, Sender<()>, Arc<AtomicBool>) {
    let (action, begun, release) = blocking();
    let done = Arc::new(AtomicBool::new(false));
    let flag = done.clone();
    let act = move |_: &Context<'_>| {
        action();
        flag.store(true, Ordering::SeqCst);
    };
    let id = system.add_after(secs(1), act).unwrap();
    clock.advance(secs(1));
    begun.recv().unwrap();
    (id, release, done)
}

#[test]
fn actions_run_in_order_of_their_times() {
    let (clock, system, log) = inline();
    let now = clock.wall();
    system.add_after(secs(3), log.entry("delay 3")).unwrap();
    system.add_at(now + secs(2), log.entry("at 2")).unwrap();
    system.add_after(secs(1), log.entry("delay 1")).unwrap();
    system.add_after(secs(3), log.entry("delay 3 again")).unwrap();
    system.add_at(now + secs(4), log.entry("at 4")).unwrap();
    assert_eq!(system.len(), 5);
    clock.advance(secs(3) - Duration::from_nanos(1));
    system.wait_idle();
    assert_eq!(log.take(), ["delay 1", "at 2"]);
    clock.advance(secs(10));
    system.wait_idle();
    assert_eq!(log.take(), ["delay 3", "delay 3 again", "at 4"]);
    assert!(system.is_empty());
}

#[test]
fn equal_times_run_in_order_of_adding_on_any_thread() {
    let (clock, system, _) = inline();
    let system = Arc::new(system);
    let ran = Arc::new(Mutex::new(Vec::new()));
    for n in 0..100 {
        // Each thread adds to another shard, and each ends before the next begins.
        let (system, ran) = (system.clone(), ran.clone());
        std::thread::spawn(move || {
            system.add_after(secs(1), move |_| ran.lock().unwrap().push(n)).unwrap();
        })
        .join()
        .unwrap();
    }
    clock.advance(secs(1));
    system.wait_idle();
    assert!(ran.lock().unwrap().iter().copied().eq(0..100));
}

#[test]
fn setting_the_wall_clock_moves_times_and_not_delays() {
    let (clock, system, log) = inline();
    let start = clock.wall();
    system.add_at(start + secs(10), log.entry("at 10")).unwrap();
    system.add_after(secs(10), log.entry("delay")).unwrap();
    system.add_at(start + YEAR, log.entry("at a year")).unwrap();

    clock.set_wall(start - DAY);
    clock.advance(secs(10));
    system.wait_idle();
    assert_eq!(log.take(), ["delay"], "the wall clock shows a day before");
    clock.advance(DAY);
    system.wait_idle();
    assert_eq!(log.take(), ["at 10"]);
    clock.set_wall(start + YEAR + secs(1));
    system.wait_idle();
    assert_eq!(log.take(), ["at a year"]);
}

#[test]
fn delays_count_suspend_by_the_chosen_clock() {
    for (delays, expected) in
        [(DelayClock::Boot, &["wall", "delay"][..]), (DelayClock::Monotonic, &["wall"][..])]
    {
        let (clock, system, log) = with(EventSystem::builder().inline().delay_clock(delays));
        system.add_at(clock.wall() + secs(50), log.entry("wall")).unwrap();
        system.add_after(secs(60), log.entry("delay")).unwrap();
        clock.suspend(secs(70));
        system.wait_idle();
        assert_eq!(log.take(), expected, "{delays:?}");
    }
}

/// Moves the clock past three runs at once, then past one. Returns the number of runs at each step.
fn runs(missed: Missed) -> [usize; 3] {
    let (clock, system, log) = inline();
    let every = Every::new(secs(10)).missed(missed);
    let id = system.repeat_after(secs(10), every, log.entry("run")).unwrap();
    let count = |by| {
        clock.advance(by);
        system.wait_idle();
        log.take().len()
    };
    let counts = [count(secs(10)), count(secs(35)), count(secs(5))];
    assert_eq!(system.cancel(id), Cancel::Cancelled);
    assert_eq!(count(YEAR), 0);
    counts
}

#[test]
fn missed_runs_follow_the_setting() {
    // Due at 10; at 20, 30 and 40 while the clock goes from 10 to 45; at 50.
    assert_eq!(runs(Missed::RunAll), [1, 3, 1]);
    assert_eq!(runs(Missed::Skip), [1, 1, 1]);
    assert_eq!(runs(Missed::Omit), [1, 0, 1]);
}

#[test]
fn jitter_delays_runs_without_adding_up() {
    let (clock, system, _) = inline();
    let times = Arc::new(Mutex::new(Vec::new()));
    let (log, watch) = (times.clone(), clock.clone());
    let start = clock.wall();
    let every = Every::new(secs(100)).jitter(secs(9)).seed(1).missed(Missed::RunAll);
    let now = move |_: &Context<'_>| {
        log.lock().unwrap().push(watch.wall().duration_since(start).unwrap())
    };
    system.repeat_after(secs(100), every, now).unwrap();
    for _ in 0..2_000 {
        clock.advance(secs(1));
        system.wait_idle();
    }
    let times = times.lock().unwrap();
    assert!(times.len() >= 19);
    let late: Vec<u64> = (1..).zip(times.iter()).map(|(n, at)| at.as_secs() - n * 100).collect();
    assert!(late.iter().all(|&late| late <= 9), "{late:?}");
    assert!(late.iter().any(|late| late != &late_of(&times)), "no two runs differ: {late:?}");
}

fn late_of(times: &[Duration]) -> u64 {
    times[0].as_secs() - 100
}

#[test]
fn a_period_of_zero_is_refused() {
    let (_clock, system, log) = inline();
    let refused = system.repeat_after(secs(1), Every::new(Duration::ZERO), log.entry("never"));
    assert_eq!(refused, Err(AddError::NoInterval));
}

#[test]
fn cancel_reports_the_state_of_the_action() {
    let (clock, system, log) = with(EventSystem::builder().workers(1));
    let early = system.add_after(secs(5), log.entry("cancelled")).unwrap();
    assert_eq!(system.cancel(early), Cancel::Cancelled);
    assert_eq!(system.cancel(early), Cancel::Gone);

    let (action, begun, release) = blocking();
    let running = system.add_after(secs(1), move |_| action()).unwrap();
    let queued = system.add_after(secs(2), log.entry("queued")).unwrap();
    clock.advance(secs(10));
    begun.recv().unwrap();
    assert_eq!(system.cancel(running), Cancel::Running);
    assert!(!system.is_pending(running));
    // It is due, but the only worker is busy: not too late.
    assert_eq!(system.cancel(queued), Cancel::Cancelled);
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| system.cancel_and_wait(running));
        release.send(()).unwrap();
        assert!(matches!(waiting.join().unwrap(), Cancel::Ended | Cancel::Gone));
    });
    system.wait_idle();
    assert_eq!(system.cancel(running), Cancel::Gone);
    assert!(log.take().is_empty());
}

#[test]
fn waiting_for_an_action_ends_after_it() {
    let (clock, system, _) = with(EventSystem::builder().workers(1));
    let (id, release, done) = begin_blocking(&clock, &system);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            assert_ne!(system.cancel_and_wait(id), Cancel::Cancelled);
            assert!(done.load(Ordering::SeqCst));
        });
        release.send(()).unwrap();
    });
}

#[test]
fn an_action_can_cancel_itself_and_its_repetition() {
    let (clock, system, _) = inline();
    let runs = Arc::new(AtomicUsize::new(0));
    let count = runs.clone();
    system
        .repeat_after(secs(1), Every::new(secs(1)), move |context| {
            count.fetch_add(1, Ordering::SeqCst);
            assert_eq!(context.system().cancel_and_wait(context.id()), Cancel::Running);
        })
        .unwrap();
    for _ in 0..5 {
        clock.advance(secs(1));
        system.wait_idle();
    }
    assert_eq!(runs.load(Ordering::SeqCst), 1);
    assert_eq!(system.panicked(), 0);
}

#[test]
fn events_can_be_moved() {
    let (clock, system, log) = inline();
    let delayed = system.add_after(secs(5), log.entry("delayed")).unwrap();
    let timed = system.add_at(clock.wall() + secs(5), log.entry("timed")).unwrap();
    assert!(system.reschedule_after(delayed, secs(20)));
    assert!(system.reschedule_at(timed, clock.wall() + secs(10)));
    assert!(!system.reschedule_at(delayed, clock.wall()), "it is on the other clock");
    let pending: Vec<_> = system.pending().iter().map(|p| (p.id, p.remaining)).collect();
    assert_eq!(pending, [(timed, secs(10)), (delayed, secs(20))]);
    clock.advance(secs(10));
    system.wait_idle();
    assert_eq!(log.take(), ["timed"]);
    assert!(!system.reschedule_at(timed, clock.wall()), "it has run");
    clock.advance(secs(10));
    system.wait_idle();
    assert_eq!(log.take(), ["delayed"]);
}

#[test]
fn a_panicking_action_is_reported_and_others_continue() {
    let reports = Arc::new(Mutex::new(Vec::new()));
    let seen = reports.clone();
    let builder = EventSystem::builder().inline().on_panic(move |panicked| {
        seen.lock().unwrap().push((panicked.id, panicked.message().map(str::to_owned)));
        panic!("and the hook panics too");
    });
    let (clock, system, log) = with(builder);
    let bad = system.add_after(secs(1), |_| panic!("of this {}", "action")).unwrap();
    let often = Every::new(secs(1));
    let worse = system.repeat_after(secs(2), often, |_| panic!("of a repeating one")).unwrap();
    system.add_after(secs(3), log.entry("after")).unwrap();
    for _ in 0..5 {
        clock.advance(secs(1));
        system.wait_idle();
    }
    assert_eq!(log.take(), ["after"]);
    assert_eq!((system.ran(), system.panicked()), (3, 2));
    let texts = [(bad, "of this action"), (worse, "of a repeating one")];
    let expected: Vec<_> = texts.map(|(id, text)| (id, Some(text.to_owned()))).into();
    assert_eq!(*reports.lock().unwrap(), expected);
}

#[test]
fn the_bound_counts_pending_and_running_actions() {
    let (clock, system, log) = with(EventSystem::builder().inline().max_pending(2));
    let first = system.add_after(secs(1), log.entry("first")).unwrap();
    system.add_after(secs(2), log.entry("second")).unwrap();
    assert_eq!(system.add_after(secs(3), log.entry("third")), Err(AddError::Full));
    assert_eq!(system.cancel(first), Cancel::Cancelled);
    system.add_after(secs(3), log.entry("third")).unwrap();
    clock.advance(secs(3));
    system.wait_idle();
    assert_eq!(log.take(), ["second", "third"]);
    system.add_after(secs(1), log.entry("fourth")).unwrap();
    system.add_after(secs(1), log.entry("fifth")).unwrap();
    assert_eq!(system.add_after(secs(1), log.entry("sixth")), Err(AddError::Full));
}

#[test]
fn extreme_times_and_delays_do_not_panic() {
    let (clock, system, log) = inline();
    let past = [SystemTime::UNIX_EPOCH - 100 * YEAR, SystemTime::UNIX_EPOCH];
    for at in past {
        system.add_at(at, log.entry("past")).unwrap();
    }
    system.add_after(Duration::ZERO, log.entry("zero")).unwrap();
    system.wait_idle();
    assert_eq!(log.take().len(), 3);
    for far in [Duration::from_nanos(u64::MAX), Duration::MAX] {
        system.add_after(far, log.entry("far")).unwrap();
        system.repeat_after(far, Every::new(far).jitter(far), log.entry("far")).unwrap();
    }
    system.add_at(SystemTime::UNIX_EPOCH + 2_000 * YEAR, log.entry("far")).unwrap();
    clock.advance(500 * YEAR);
    system.wait_idle();
    assert_eq!((log.take().len(), system.len()), (0, 5));
}

#[test]
fn drain_runs_all_and_drop_pending_none() {
    let (clock, system, log) = with(EventSystem::builder().workers(1));
    system.add_after(secs(1), log.entry("one")).unwrap();
    system.repeat_after(secs(2), Every::new(secs(2)), log.entry("two")).unwrap();
    std::thread::scope(|scope| {
        let end = scope.spawn(|| system.shutdown(Shutdown::Drain));
        // Until the other thread has reached this point.
        while let Ok(id) = system.add_after(YEAR, |_| {}) {
            assert_eq!(system.cancel(id), Cancel::Cancelled);
        }
        while !end.is_finished() {
            clock.advance(secs(1));
            std::thread::yield_now();
        }
    });
    assert_eq!(log.take(), ["one", "two"]);

    for workers in [0, 2] {
        let (_clock, system, log) = with(EventSystem::builder().workers(workers));
        let kept = Arc::new(());
        let held = kept.clone();
        system.add_after(secs(1), move |_| drop(held)).unwrap();
        system.add_at(SystemTime::now() + YEAR, log.entry("never")).unwrap();
        system.shutdown(Shutdown::DropPending);
        assert_eq!(Arc::strong_count(&kept), 1, "the action was dropped");
        assert!(log.take().is_empty());
    }
}

#[test]
fn drop_does_not_wait_for_an_action() {
    for workers in [0, 1] {
        let (clock, system, log) = with(EventSystem::builder().workers(workers));
        let (action, begun, release) = blocking();
        let (ended, has_ended) = channel();
        system
            .add_after(secs(1), move |_| {
                action();
                ended.send(()).unwrap();
            })
            .unwrap();
        system.add_after(secs(1), log.entry("after it")).unwrap();
        clock.advance(secs(1));
        begun.recv().unwrap();
        drop(system);
        release.send(()).unwrap();
        has_ended.recv().unwrap();
        assert!(log.take().is_empty());
    }
}

#[test]
fn an_action_may_end_the_system() {
    for how in [Shutdown::Drain, Shutdown::DropPending] {
        for workers in [0, 1] {
            let (clock, system, _) = with(EventSystem::builder().workers(workers));
            let place = Arc::new(Mutex::new(None::<EventSystem>));
            let (ended, has_ended) = channel();
            let mine = place.clone();
            system
                .add_after(secs(1), move |_| {
                    mine.lock().unwrap().take().unwrap().shutdown(how);
                    ended.send(()).unwrap();
                })
                .unwrap();
            *place.lock().unwrap() = Some(system);
            clock.advance(secs(1));
            has_ended.recv().unwrap();
        }
    }
}

/// Exactly one of "cancelled" and "ran", for each of 10^6 events.
#[test]
fn a_race_between_cancel_and_run_has_one_winner() {
    const EVENTS: usize = 1_000_000;
    const ROUND: usize = 10_000;
    let (clock, system, _) = with(EventSystem::builder().workers(2));
    let outcome: Arc<Vec<AtomicU64>> = Arc::new((0..EVENTS).map(|_| AtomicU64::new(0)).collect());
    let mut late = 0;
    for start in (0..EVENTS).step_by(ROUND) {
        let ids: Vec<_> = (start..start + ROUND)
            .map(|n| {
                let outcome = outcome.clone();
                let delay = Duration::from_nanos(n as u64 % 7);
                let run = move |_: &Context<'_>| _ = outcome[n].fetch_add(1, Ordering::Relaxed);
                (n, system.add_after(delay, run).unwrap())
            })
            .collect();
        clock.advance(Duration::from_nanos(7));
        // From both ends, so that it meets the workers somewhere.
        for &(n, id) in ids.iter().rev() {
            match system.cancel_and_wait(id) {
                Cancel::Cancelled => _ = outcome[n].fetch_add(1 << 32, Ordering::Relaxed),
                found => {
                    assert!(matches!(found, Cancel::Ended | Cancel::Gone));
                    late += 1;
                }
            }
        }
    }
    system.wait_idle();
    let both = outcome.iter().map(|one| one.load(Ordering::Relaxed));
    let (ran, cancelled) = both.fold((0, 0), |(ran, cancelled), one| {
        assert!(one == 1 || one == 1 << 32, "ran {} times, cancelled {}", one & 0xff, one >> 32);
        (ran + (one & 1), cancelled + (one >> 32))
    });
    assert_eq!((ran, ran + cancelled), (late, EVENTS as u64));
    assert!(system.is_empty());
}

/// The document's bug, in the running system: earlier events arrive while older ones expire.
#[test]
fn earlier_events_while_others_expire_are_not_lost() {
    const EVENTS: usize = 400_000;
    let (clock, system, _) = with(EventSystem::builder().workers(1));
    let runs: Arc<Vec<AtomicUsize>> = Arc::new((0..EVENTS).map(|_| AtomicUsize::new(0)).collect());
    std::thread::scope(|scope| {
        for half in 0..2 {
            let (system, runs, clock) = (&system, &runs, &clock);
            scope.spawn(move || {
                for n in (half..EVENTS).step_by(2) {
                    let (runs, delay) =
                        (runs.clone(), Duration::from_nanos(1_000 - n as u64 % 997));
                    let run = move |_: &Context<'_>| _ = runs[n].fetch_add(1, Ordering::Relaxed);
                    system.add_after(delay, run).unwrap();
                    if n % 16 == 0 {
                        clock.advance(Duration::from_nanos(100));
                    }
                }
            });
        }
    });
    clock.advance(secs(1));
    system.wait_idle();
    assert!(runs.iter().all(|runs| runs.load(Ordering::Relaxed) == 1));
}

/// On the machine's own clocks: the sleep is woken for an earlier event, and none begins early.
#[test]
fn no_event_is_early_on_the_system_clock() {
    let system = EventSystem::start().unwrap();
    let (send, receive) = channel();
    system.add_after(YEAR, |_| {}).unwrap();
    system.add_at(SystemTime::now() + YEAR, |_| {}).unwrap();
    for delay in [Duration::from_millis(2), Duration::ZERO, Duration::from_micros(100)] {
        let (at, by_wall) = (SystemTime::now() + delay, send.clone());
        let start = std::time::Instant::now();
        let by_delay = send.clone();
        system.add_at(at, move |_| by_wall.send(SystemTime::now() >= at).unwrap()).unwrap();
        system.add_after(delay, move |_| by_delay.send(start.elapsed() >= delay).unwrap()).unwrap();
    }
    for _ in 0..6 {
        assert!(receive.recv().unwrap());
    }
    system.shutdown(Shutdown::DropPending);
}

#[test]
fn nothing_is_added_after_shutdown() {
    let (_clock, system, log) = inline();
    system.shutdown(Shutdown::Drain);
    assert_eq!(system.add_after(secs(1), log.entry("never")), Err(AddError::Closed));
    // A second time is harmless.
    system.shutdown(Shutdown::DropPending);
}

#[test]
fn every_shutdown_waits_for_the_end() {
    let (clock, system, _) = with(EventSystem::builder().workers(1));
    let (_, release, done) = begin_blocking(&clock, &system);
    std::thread::scope(|scope| {
        for how in [Shutdown::DropPending, Shutdown::Drain] {
            let (system, done) = (&system, &done);
            scope.spawn(move || {
                system.shutdown(how);
                assert!(done.load(Ordering::SeqCst), "{how:?} does not wait");
            });
        }
        while system.add_after(YEAR, |_| {}).is_ok() {}
        // Time for one that does not wait.
        (0..10_000).for_each(|_| std::thread::yield_now());
        release.send(()).unwrap();
    });
}

#[test]
fn an_id_of_another_system_is_unknown() {
    let (_clock, system, log) = with(EventSystem::builder().workers(1));
    let (clock, other, _) = with(EventSystem::builder().workers(1));
    let id = system.add_after(secs(1), log.entry("theirs")).unwrap();
    other.add_after(secs(1), log.entry("ours")).unwrap();
    assert_eq!(other.cancel(id), Cancel::Gone);
    assert_eq!(other.cancel_and_wait(id), Cancel::Gone);
    assert!(!other.is_pending(id) && !other.reschedule_after(id, secs(9)));
    let changed = other.transaction(|tx| {
        Ok::<_, TransactionError>(tx.cancel(id) || tx.reschedule_after(id, secs(9)))
    });
    assert_eq!(changed, Ok(false));
    clock.advance(secs(1));
    other.wait_idle();
    assert_eq!(log.take(), ["ours"]);
    assert!(system.is_pending(id));
}

#[test]
fn a_handle_does_not_keep_the_system_running() {
    for workers in [0, 1] {
        let (clock, system, log) = with(EventSystem::builder().workers(workers));
        let handle = system.handle();
        let mine = handle.clone();
        let mut action = log.entry("ran");
        // The system has an action that has a handle to the system.
        let kept = Arc::new(());
        let held = kept.clone();
        let count = move |context: &Context<'_>| {
            assert!(context.system().is_empty() && mine.is_empty() && Arc::strong_count(&held) > 0);
            action(context);
        };
        handle.repeat_after(secs(1), Every::new(secs(1)), count).unwrap();
        clock.advance(secs(1));
        handle.wait_idle();
        assert_eq!(log.take(), ["ran"]);
        drop(system);
        assert_eq!(Arc::strong_count(&kept), 1, "the action is dropped with the system");
        assert_eq!(handle.add_after(secs(1), |_| {}), Err(AddError::Closed));
        handle.shutdown(Shutdown::Drain);
    }
}
