//! The locking code under thousands of interleavings.
//!
//! `src/state.rs`, `shard.rs` and `expired.rs` are compiled here a second time, the very files,
//! with shuttle's mutexes, condition variables and atomics in place of the standard library's. Each
//! run then follows one interleaving of the threads' steps, and one in which all of them wait for
//! each other is reported as a deadlock.

// Under a sanitizer there is nothing to see: one thread runs at a time, on stacks that shuttle
// switches and the sanitizer takes for one.
#![cfg(not(sanitized))]
#![expect(dead_code, reason = "the tests do not call all that the system calls")]

#[path = "../src/expired.rs"]
mod expired;
#[path = "../src/job.rs"]
mod job;
#[path = "../src/lock.rs"]
mod lock;
#[path = "../src/outcome.rs"]
mod outcome;
#[path = "../src/shard.rs"]
mod shard;
#[path = "../src/state.rs"]
mod state;
#[path = "../src/waits.rs"]
mod waits;

mod handle {
    /// The argument of an action.
    pub(crate) struct Context<'a> {
        pub(crate) world: &'a super::World,
        pub(crate) id: super::ActionId,
    }
}

mod sync {
    pub(crate) use shuttle::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
    pub(crate) use shuttle::sync::{Condvar, Mutex, MutexGuard};
}

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize as Count, Ordering};

use handle::Context;
use job::{Action, Missed, Repeat};
use lanesum_events::{EventId, Schedule};
use outcome::{ActionId, Base, Cancel, Change, Life, Next, Times, Wake};
use shuttle::sync::mpsc::channel;
use shuttle::sync::{Condvar, Mutex};
use shuttle::thread;
use state::{Core, Pace};

const NOW: Times = Times { wall: 100, steady: 100 };
const RUNS: usize = 2_000;

/// The sleep of the threads. Each expiry of the timer wakes one. The time stands still, so a thread
/// would sleep for ever if it were not woken when it must be.
#[derive(Default)]
struct Bed {
    woken: Mutex<bool>,
    condvar: Condvar,
}

impl Bed {
    fn wake(&self) {
        *lock::lock(&self.woken) = true;
        self.condvar.notify_one();
    }

    fn sleep(&self) {
        let mut woken = lock::lock(&self.woken);
        while !*woken {
            woken = lock::wait(&self.condvar, woken);
        }
        *woken = false;
    }
}

struct World {
    core: Core,
    bed: Bed,
}

impl World {
    /// Starts threads as the system does.
    fn start(shards: usize, workers: usize) -> (Arc<Self>, Vec<thread::JoinHandle<()>>) {
        let pace = Pace { slack: 0, pause: 0, alone: workers == 1 };
        let world = Arc::new(World { core: Core::new(0, shards, 8, pace), bed: Bed::default() });
        let mut threads = vec![];
        for _ in 0..workers {
            let me = world.clone();
            threads.push(thread::spawn(move || me.work()));
        }
        (world, threads)
    }

    fn work(&self) {
        loop {
            match self.core.claim(NOW) {
                Next::Run(wake) => {
                    self.notify(wake);
                    while let Some(id) = self.core.expired.take() {
                        self.perform(id);
                    }
                }
                Next::Sleep => {
                    self.set_timer();
                    self.bed.sleep();
                }
                Next::Stop => break,
            }
        }
        self.core.rouse();
        self.set_timer();
    }

    /// The time stands still: a timer expires at once or never.
    fn set_timer(&self) {
        let alarm = self.core.alarm();
        if alarm.wall <= NOW.wall || alarm.steady <= NOW.steady {
            self.bed.wake();
        }
    }

    fn notify(&self, wake: Wake) {
        if wake.0 {
            self.set_timer();
        }
    }

    fn perform(&self, id: ActionId) {
        match self.core.begin(id) {
            Ok(action) => self.act(id, action),
            Err(job) => self.discard(job),
        }
        self.core.expired.settle();
    }

    /// As the system does it.
    fn act(&self, id: ActionId, action: Action) {
        let context = Context { world: self, id };
        match action {
            Action::Once(once) => _ = self.catch(|| once(&context)),
            Action::Repeated(mut repeated) => {
                let ended = self.catch(|| repeated(&context));
                let action = Action::Repeated(repeated);
                let left = if ended { self.core.repeat(id, action) } else { Err(action) };
                match left {
                    Ok(wake) => return self.notify(wake),
                    Err(action) => self.discard(action),
                }
            }
        }
        self.core.end(id);
    }

    fn catch(&self, run: impl FnOnce()) -> bool {
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).is_ok()
    }

    fn discard<T>(&self, what: T) {
        self.catch(|| drop(what));
    }

    fn cancel(&self, id: ActionId) -> Cancel {
        let (found, action, wake) = self.core.cancel(id);
        self.notify(wake);
        self.discard(action);
        found
    }

    fn cancel_and_wait(&self, waiter: Option<ActionId>, id: ActionId) -> Cancel {
        match self.cancel(id) {
            Cancel::Running => self.core.wait_for(waiter, id),
            found => found,
        }
    }

    fn close(&self, life: Life) {
        let taken = self.core.close(life);
        self.set_timer();
        self.discard(taken);
    }

    fn add(&self, shard: usize, deadline: Option<u64>, runs: &Arc<Count>) -> ActionId {
        let runs = runs.clone();
        let action = Action::Once(Box::new(move |_| _ = runs.fetch_add(1, Ordering::SeqCst)));
        let (id, wake) = self.core.add(shard, Base::Steady, deadline, action, None).unwrap();
        self.notify(wake);
        id
    }

    fn end(&self, life: Life, threads: Vec<thread::JoinHandle<()>>) {
        self.close(life);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    }
}

fn check(test: fn()) {
    shuttle::check_random(test, RUNS);
    shuttle::check_pct(test, RUNS, 3);
}

/// All threads sleep, or are about to: whoever adds wakes one. Nothing else does so here before
/// all have run, so that an alarm missed is a deadlock.
#[test]
fn no_addition_is_lost() {
    check(|| {
        let (world, threads) = World::start(2, 1);
        let (ran, has_run) = channel();
        let adders: Vec<_> = (0..2)
            .map(|shard| {
                let (world, ran) = (world.clone(), ran.clone());
                thread::spawn(move || {
                    for deadline in [100, 50] {
                        let ran = ran.clone();
                        let action = Action::Once(Box::new(move |_| ran.send(()).unwrap()));
                        let added =
                            world.core.add(shard, Base::Steady, Some(deadline), action, None);
                        world.notify(added.unwrap().1);
                    }
                })
            })
            .collect();
        (0..4).for_each(|_| has_run.recv().unwrap());
        adders.into_iter().for_each(|adder| adder.join().unwrap());
        world.core.expired.wait_idle();
        world.end(Life::Draining, threads);
    });
}

#[test]
fn an_event_is_cancelled_or_runs() {
    check(|| {
        let (world, threads) = World::start(1, 2);
        let runs = Arc::new(Count::new(0));
        let ids = [world.add(0, Some(100), &runs), world.add(0, Some(99), &runs)];
        let cancelled = Arc::new(Count::new(0));
        let cancellers: Vec<_> = [ids, [ids[1], ids[0]]]
            .map(|ids| {
                let (world, cancelled) = (world.clone(), cancelled.clone());
                thread::spawn(move || {
                    for id in ids {
                        if world.cancel_and_wait(None, id) == Cancel::Cancelled {
                            cancelled.fetch_add(1, Ordering::SeqCst);
                        }
                    }
                })
            })
            .into();
        cancellers.into_iter().for_each(|thread| thread.join().unwrap());
        world.end(Life::Draining, threads);
        let (ran, cancelled) = (runs.load(Ordering::SeqCst), cancelled.load(Ordering::SeqCst));
        assert_eq!(ran + cancelled, 2, "{ran} ran, {cancelled} were cancelled");
    });
}

/// A transaction replaces one event by two: either it was in time and the two run, or it was not
/// and the one did.
#[test]
fn a_transaction_is_atomic() {
    check(|| {
        let (world, threads) = World::start(2, 1);
        let (old_runs, new_runs) = (Arc::new(Count::new(0)), Arc::new(Count::new(0)));
        let old = world.add(1, Some(100), &old_runs);
        let new = [0, 1].map(|shard| world.add(shard, None, &new_runs));
        let changes = [Change::Cancel(old), Change::Arm(new[0], 100), Change::Arm(new[1], 10)];
        let committed = world.core.commit(&changes);
        let committed = committed.map(|(wake, _taken)| world.notify(wake)).is_ok();
        if !committed {
            new.into_iter().for_each(|id| drop(world.core.forget(id)));
        }
        world.end(Life::Draining, threads);
        let ran = (old_runs.load(Ordering::SeqCst), new_runs.load(Ordering::SeqCst));
        assert_eq!(ran, if committed { (0, 2) } else { (1, 0) });
    });
}

/// An action adds a due event. If the system is idle, both have run.
#[test]
fn idle_waits_for_events_added_by_actions() {
    check(|| {
        let (world, threads) = World::start(2, 1);
        let runs = Arc::new(Count::new(0));
        let count = runs.clone();
        let first = Action::Once(Box::new(move |context: &Context<'_>| {
            context.world.add(0, Some(100), &count);
        }));
        world.notify(world.core.add(1, Base::Steady, Some(100), first, None).unwrap().1);
        while world.core.is_busy(NOW) {
            world.core.expired.wait_idle();
            thread::yield_now();
        }
        assert_eq!(runs.load(Ordering::SeqCst), 1);
        world.end(Life::Draining, threads);
    });
}

/// An event that is moved while it is queued, or run, runs once.
#[test]
fn a_moved_event_runs_once() {
    check(|| {
        let (world, threads) = World::start(1, 2);
        let runs = Arc::new(Count::new(0));
        let id = world.add(0, Some(100), &runs);
        for deadline in [90, 80] {
            world.core.reschedule(id, deadline).into_iter().for_each(|wake| world.notify(wake));
        }
        world.end(Life::Draining, threads);
        assert_eq!(runs.load(Ordering::SeqCst), 1);
    });
}

/// Whatever the order, the threads end; and what was dropped does not run afterwards.
#[test]
fn closing_ends_all_threads() {
    check(|| {
        let (world, threads) = World::start(2, 2);
        let runs = Arc::new(Count::new(0));
        let other = world.clone();
        let more = runs.clone();
        let adder = thread::spawn(move || {
            let action = Action::Once(Box::new(move |_| _ = more.fetch_add(1, Ordering::SeqCst)));
            if let Ok((_, wake)) = other.core.add(1, Base::Wall, Some(1), action, None) {
                other.notify(wake);
            }
        });
        world.add(0, Some(100), &runs);
        world.end(Life::Closed, threads);
        let ran = runs.load(Ordering::SeqCst);
        adder.join().unwrap();
        assert!(ran <= 2 && ran == runs.load(Ordering::SeqCst));
    });
}

/// Belongs to an action. When it is dropped it uses the system under all its locks, and panics.
struct Guest {
    world: Arc<World>,
    drops: Arc<Count>,
}

impl Drop for Guest {
    fn drop(&mut self) {
        let core = &self.world.core;
        let far = core.add(0, Base::Wall, Some(u64::MAX), Action::Once(Box::new(|_| ())), None);
        if let Ok((id, wake)) = far {
            self.world.notify(wake);
            let _ = self.world.cancel(id);
        }
        core.len();
        self.drops.fetch_add(1, Ordering::SeqCst);
        panic();
    }
}

/// Without the message, which would be printed thousands of times.
fn panic() {
    if !std::thread::panicking() {
        std::panic::resume_unwind(Box::new(()));
    }
}

/// Due three times by now.
fn repeat() -> Option<Box<Repeat>> {
    Some(Box::new(Repeat { every: 1, jitter: 0, missed: Missed::RunAll, grid: 98, random: 0 }))
}

impl World {
    fn repeat(&self, shard: usize, action: impl FnMut(&Context<'_>) + Send + 'static) -> ActionId {
        let action = Action::Repeated(Box::new(action));
        let (id, wake) = self.core.add(shard, Base::Steady, Some(98), action, repeat()).unwrap();
        self.notify(wake);
        id
    }
}

/// Wherever it is dropped: after a run in which it was cancelled, by itself or by others, after a
/// panic, in a transaction, out of the queue, or at the end.
#[test]
fn an_action_may_use_the_system_and_panic_when_it_is_dropped() {
    check(|| {
        let (world, threads) = World::start(2, 2);
        let drops = Arc::new(Count::new(0));
        let guest = || Guest { world: world.clone(), drops: drops.clone() };
        let runs = Arc::new(Count::new(0));
        let (mine, count) = (guest(), runs.clone());
        world.repeat(0, move |context| {
            let _ = &mine;
            if count.fetch_add(1, Ordering::SeqCst) == 1 {
                let _ = context.world.cancel_and_wait(Some(context.id), context.id);
            }
        });
        let mine = guest();
        world.repeat(1, move |_| {
            let _ = &mine;
            panic();
        });
        let mine = guest();
        let repeated = world.repeat(1, move |_| _ = &mine);
        let mine = guest();
        let once = Action::Once(Box::new(move |_| drop(mine)));
        let (once, wake) = world.core.add(0, Base::Steady, Some(100), once, None).unwrap();
        world.notify(wake);
        let other = world.clone();
        let canceller = thread::spawn(move || {
            let _ = other.cancel_and_wait(None, repeated);
        });
        if let Ok((wake, taken)) = world.core.commit(&[Change::Cancel(once)]) {
            world.notify(wake);
            taken.into_iter().for_each(|job| world.discard(job));
        }
        canceller.join().unwrap();
        world.end(Life::Draining, threads);
        assert_eq!(drops.load(Ordering::SeqCst), 4);
        // Once if the system was closed before the second time.
        assert!((1..=2).contains(&runs.load(Ordering::SeqCst)));
        assert_eq!(world.core.len(), 0);
        // All places under the bound of 8 are free.
        assert_eq!(world.core.held.load(Ordering::SeqCst), 0);
    });
}

/// Each waits for the next one round about, if they run at the same time.
#[test]
fn actions_that_wait_for_each_other_end() {
    for count in [2, 3] {
        let test = move || {
            let (world, threads) = World::start(2, count);
            let ids = Arc::new(Mutex::new(Vec::new()));
            let mut circle = ids.lock().unwrap();
            for n in 0..count {
                let ids = ids.clone();
                let action = Action::Once(Box::new(move |context: &Context<'_>| {
                    let next = ids.lock().unwrap()[(n + 1) % count];
                    let _ = context.world.cancel_and_wait(Some(context.id), next);
                }));
                let added = world.core.add(n, Base::Steady, Some(100), action, None);
                let (id, wake) = added.unwrap();
                world.notify(wake);
                circle.push(id);
            }
            drop(circle);
            world.end(Life::Draining, threads);
        };
        shuttle::check_random(test, RUNS);
        shuttle::check_pct(test, RUNS, 3);
    }
}

#[test]
fn an_action_may_close_the_system() {
    for life in [Life::Draining, Life::Closed] {
        let test = move || {
            let (world, threads) = World::start(2, 2);
            let drops = Arc::new(Count::new(0));
            let guest = || Guest { world: world.clone(), drops: drops.clone() };
            // All but the first may be too late and are dropped here, which panics.
            for shard in 0..2 {
                let mine = guest();
                let close = move |context: &Context<'_>| {
                    let _ = &mine;
                    context.world.close(life);
                };
                world.catch(|| _ = world.repeat(shard, close));
            }
            let mine = guest();
            let far = Action::Once(Box::new(move |_| drop(mine)));
            world.catch(|| {
                let added = world.core.add(1, Base::Wall, Some(u64::MAX), far, None);
                if let Ok((id, wake)) = added {
                    world.notify(wake);
                    let _ = world.cancel(id);
                }
            });
            threads.into_iter().for_each(|thread| thread.join().unwrap());
            assert_eq!(
                (drops.load(Ordering::SeqCst), world.core.held.load(Ordering::SeqCst)),
                (3, 0)
            );
        };
        shuttle::check_random(test, RUNS);
        shuttle::check_pct(test, RUNS, 3);
    }
}
