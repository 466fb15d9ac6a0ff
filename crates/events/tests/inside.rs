//! What the code of a user may do wherever the system runs or drops it: use the system, panic, end
//! it, or drop it.

use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Barrier, Mutex};
use std::thread;
use std::time::Duration;

use lanesum_events::{
    ActionId, AddError, Cancel, Context, EventSystem, Every, Handle, Shutdown, TestClock,
    TransactionError,
};

const BOUND: usize = 6;
const SECOND: Duration = Duration::from_secs(1);
const YEAR: Duration = Duration::from_secs(365 * 24 * 3600);

/// Fails where a deadlock would hang.
fn ends(test: impl FnOnce() + Send + 'static) {
    let (end, has_ended) = channel();
    let thread = thread::spawn(move || {
        test();
        end.send(()).unwrap();
    });
    let ended = has_ended.recv_timeout(Duration::from_secs(60));
    assert_ne!(ended, Err(RecvTimeoutError::Timeout), "it hangs");
    thread.join().unwrap();
}

struct World {
    clock: TestClock,
    system: Handle,
    owner: Arc<Mutex<Option<EventSystem>>>,
}

impl World {
    fn new(workers: usize) -> Self {
        let clock = TestClock::new();
        let builder = EventSystem::builder().workers(workers).max_pending(BOUND);
        let owner = builder.test_clock(&clock).start().unwrap();
        World { clock, system: owner.handle(), owner: Arc::new(Mutex::new(Some(owner))) }
    }

    fn pass(&self, time: Duration) {
        self.clock.advance(time);
        self.system.wait_idle();
    }

    /// An event that is due, while an earlier one keeps the thread busy until it is released.
    fn queued(&self, action: impl FnOnce(&Context<'_>) + Send + 'static) -> (ActionId, Sender<()>) {
        let (begun, has_begun) = channel();
        let (release, released) = channel();
        let busy = move |_: &Context<'_>| {
            begun.send(()).unwrap();
            let _ = released.recv();
        };
        self.system.add_after(SECOND, busy).unwrap();
        let id = self.system.add_after(SECOND, action).unwrap();
        self.clock.advance(SECOND);
        has_begun.recv().unwrap();
        (id, release)
    }
}

/// Belongs to an action, and does something when it is dropped.
struct Guest(Option<Box<dyn FnOnce() + Send>>);

impl Drop for Guest {
    fn drop(&mut self) {
        self.0.take().unwrap()();
    }
}

impl Guest {
    /// Makes a closure that calls it own the guest.
    fn stay(&self) {}
}

type Place = fn(&World, Guest);

/// Where an action is dropped.
const PLACES: [(&str, Place); 15] = [
    ("has run", |world, guest| {
        world.system.add_after(SECOND, move |_| guest.stay()).unwrap();
        world.pass(SECOND);
    }),
    ("panics", |world, guest| {
        // Dropped before: what panics while another panic unwinds ends the process, as everywhere.
        let action = move |_: &Context<'_>| {
            drop(guest);
            panic!("after that");
        };
        world.system.add_after(SECOND, action).unwrap();
        world.pass(SECOND);
    }),
    ("repeats, and is cancelled while it runs", |world, guest| {
        let (begun, has_begun) = channel();
        let (release, released) = channel::<()>();
        let action = move |_: &Context<'_>| {
            guest.stay();
            begun.send(()).unwrap();
            let _ = released.recv();
        };
        let id = world.system.repeat_after(SECOND, Every::new(SECOND), action).unwrap();
        world.clock.advance(SECOND);
        has_begun.recv().unwrap();
        assert_eq!(world.system.cancel(id), Cancel::Running);
        drop(release);
        world.system.wait_idle();
    }),
    ("repeats, and cancels itself", |world, guest| {
        let action = move |context: &Context<'_>| {
            guest.stay();
            assert_eq!(context.system().cancel(context.id()), Cancel::Running);
        };
        world.system.repeat_after(SECOND, Every::new(SECOND), action).unwrap();
        world.pass(SECOND);
    }),
    ("repeats, and panics", |world, guest| {
        let action = move |_: &Context<'_>| {
            guest.stay();
            panic!("of a repeating one");
        };
        world.system.repeat_after(SECOND, Every::new(SECOND), action).unwrap();
        world.pass(SECOND);
    }),
    ("is cancelled", |world, guest| {
        let id = world.system.add_after(SECOND, move |_| guest.stay()).unwrap();
        assert_eq!(world.system.cancel(id), Cancel::Cancelled);
    }),
    ("is cancelled in the queue", |world, guest| {
        let (id, release) = world.queued(move |_| guest.stay());
        thread::scope(|scope| {
            let cancel = scope.spawn(|| world.system.cancel_and_wait(id));
            while world.system.is_pending(id) {
                thread::yield_now();
            }
            // The guest may wait for the busy one.
            drop(release);
            assert_eq!(cancel.join().unwrap(), Cancel::Cancelled);
        });
        world.system.wait_idle();
    }),
    ("is cancelled by a transaction", |world, guest| {
        let id = world.system.add_after(SECOND, move |_| guest.stay()).unwrap();
        let runs = Arc::new(AtomicUsize::new(0));
        let run = runs.clone();
        let added = world.system.transaction(|tx| {
            assert!(tx.cancel(id));
            tx.add_after(SECOND, move |_| _ = run.fetch_add(1, Ordering::Relaxed))?;
            Ok::<_, TransactionError>(())
        });
        assert_eq!(added, Ok(()));
        // The transaction is whole, unless the guest ended the system after it.
        if !world.system.is_empty() {
            world.pass(SECOND);
            assert_eq!(runs.load(Ordering::Relaxed), 1);
        }
    }),
    ("is taken back in a transaction", |world, guest| {
        let _ = world.system.transaction(|tx| {
            let id = tx.add_after(SECOND, move |_| guest.stay())?;
            assert!(tx.cancel(id));
            Ok::<_, TransactionError>(())
        });
    }),
    ("is in a transaction that fails", |world, guest| {
        let failed = world.system.transaction(|tx| {
            for _ in 1..BOUND {
                tx.add_after(SECOND, |_| {})?;
            }
            tx.add_after(SECOND, move |_| guest.stay())?;
            Err::<(), Box<dyn std::error::Error>>("no".into())
        });
        assert_eq!(failed.unwrap_err().to_string(), "no");
    }),
    ("is in a transaction that panics", |world, guest| {
        let unwound = catch_unwind(AssertUnwindSafe(|| {
            world.system.transaction(|tx| {
                tx.add_after(SECOND, move |_| guest.stay())?;
                tx.add_after(SECOND, |_| {})?;
                panic!("in the middle");
                #[expect(unreachable_code, reason = "gives the closure its type")]
                Ok::<_, TransactionError>(())
            })
        }));
        assert!(unwound.is_err());
    }),
    ("is refused", |world, guest| {
        let ids = [(); BOUND].map(|()| world.system.add_after(YEAR, |_| {}).unwrap());
        let refused = world.system.add_after(SECOND, move |_| guest.stay());
        assert_eq!(refused, Err(AddError::Full));
        ids.into_iter().for_each(|id| _ = world.system.cancel(id));
    }),
    ("is refused after shutdown", |world, guest| {
        world.system.shutdown(Shutdown::DropPending);
        let refused = world.system.add_after(SECOND, move |_| guest.stay());
        assert_eq!(refused, Err(AddError::Closed));
    }),
    ("is pending at shutdown", |world, guest| {
        world.system.add_after(SECOND, move |_| guest.stay()).unwrap();
        world.system.add_after(SECOND, |_| {}).unwrap();
        world.system.shutdown(Shutdown::DropPending);
    }),
    ("is queued at shutdown", |world, guest| {
        let (_, release) = world.queued(move |_| guest.stay());
        thread::scope(|scope| {
            scope.spawn(|| world.system.shutdown(Shutdown::DropPending));
            while world
                .system
                .add_after(YEAR, |_| {})
                .is_ok_and(|id| world.system.cancel(id) == Cancel::Cancelled)
            {}
            drop(release);
        });
    }),
];

/// In every place an action with a guest that does `what`; then `then`.
fn in_every_place(what: fn(&Handle, &Mutex<Option<EventSystem>>), then: fn(&str, &World)) {
    for workers in [0, 1] {
        for (name, place) in PLACES {
            println!("an action that {name}, with {workers} workers");
            ends(move || {
                let world = World::new(workers);
                let (system, owner) = (world.system.clone(), world.owner.clone());
                let drops = Arc::new(AtomicUsize::new(0));
                let count = drops.clone();
                let guest = Guest(Some(Box::new(move || {
                    count.fetch_add(1, Ordering::Relaxed);
                    what(&system, &owner);
                })));
                // Only what was refused is dropped by the caller, and may panic there.
                let unwound = catch_unwind(AssertUnwindSafe(|| place(&world, guest))).is_err();
                assert!(!unwound || name.starts_with("is refused"), "{name}");
                assert_eq!(drops.load(Ordering::Relaxed), 1, "{name}");
                then(name, &world);
            });
        }
    }
}

/// All places are free again, and what is added runs, unless the system has been shut down.
fn goes_on(name: &str, world: &World) {
    if name.ends_with("shutdown") {
        return;
    }
    world.pass(YEAR);
    // The events that the caller of a refused addition has not cancelled.
    let runs = Arc::new(AtomicUsize::new(0));
    for _ in 0..BOUND {
        let runs = runs.clone();
        let added =
            world.system.add_after(SECOND, move |_| _ = runs.fetch_add(1, Ordering::Relaxed));
        assert!(added.is_ok(), "{name}: {added:?}");
    }
    assert_eq!(world.system.add_after(SECOND, |_| {}), Err(AddError::Full), "{name}");
    world.pass(SECOND);
    assert_eq!(runs.load(Ordering::Relaxed), BOUND, "{name}");
}

fn has_ended(name: &str, world: &World) {
    assert_eq!(world.system.add_after(SECOND, |_| {}), Err(AddError::Closed), "{name}");
    world.system.shutdown(Shutdown::DropPending);
    assert!(world.system.is_empty(), "{name}");
}

#[test]
fn a_dropped_action_may_use_the_system() {
    in_every_place(
        |system, _| {
            let _ = (system.len(), system.pending());
            if let Ok(id) = system.add_after(YEAR, |_| {}) {
                assert!(system.is_pending(id) && system.reschedule_after(id, 2 * YEAR));
                assert_eq!(system.cancel_and_wait(id), Cancel::Cancelled);
            }
            let added =
                system.transaction(|tx| Ok::<_, TransactionError>(tx.add_after(YEAR, |_| {})?));
            added.into_iter().for_each(|id| _ = system.cancel(id));
            let _ = EventSystem::builder().inline().test_clock(&TestClock::new()).start().unwrap();
        },
        goes_on,
    );
}

#[test]
fn a_dropped_action_may_panic() {
    in_every_place(|_, _| panic!("in `Drop`"), goes_on);
}

#[test]
fn a_dropped_action_may_end_the_system() {
    in_every_place(|system, _| system.shutdown(Shutdown::DropPending), has_ended);
}

#[test]
fn a_dropped_action_may_own_the_system() {
    in_every_place(
        |_, owner| {
            let system = owner.lock().unwrap().take();
            drop(system);
        },
        has_ended,
    );
}

/// After waiting for a repeating action, the action is dropped.
#[test]
fn an_action_is_dropped_before_its_end_is_reported() {
    ends(|| {
        let world = World::new(1);
        let (dropping, is_dropped) = channel();
        let (release, released) = channel::<()>();
        let guest = Guest(Some(Box::new(move || {
            dropping.send(()).unwrap();
            let _ = released.recv();
        })));
        let action = move |context: &Context<'_>| {
            guest.stay();
            let _ = context.system().cancel(context.id());
        };
        let id = world.system.repeat_after(SECOND, Every::new(SECOND), action).unwrap();
        world.clock.advance(SECOND);
        is_dropped.recv().unwrap();
        assert_eq!(world.system.cancel(id), Cancel::Running);
        drop(release);
        let _ = world.system.cancel_and_wait(id);
        assert_eq!(world.system.cancel(id), Cancel::Gone);
    });
}

/// Given to `panic!`: panics when it is dropped, with another one, so many times.
struct Bomb(usize);

impl Drop for Bomb {
    fn drop(&mut self) {
        if self.0 > 0 {
            panic_any(Bomb(self.0 - 1));
        }
    }
}

#[test]
fn a_panic_payload_may_panic_when_dropped() {
    for workers in [0, 1] {
        ends(move || {
            let clock = TestClock::new();
            let builder = EventSystem::builder().workers(workers).on_panic(|_| panic_any(Bomb(3)));
            let system = builder.test_clock(&clock).start().unwrap();
            let runs = Arc::new(AtomicUsize::new(0));
            let run = runs.clone();
            system.add_after(SECOND, |_| panic_any(Bomb(3))).unwrap();
            system.repeat_after(SECOND, Every::new(SECOND), |_| panic_any(Bomb(3))).unwrap();
            system.add_after(SECOND, move |_| _ = run.fetch_add(1, Ordering::Relaxed)).unwrap();
            clock.advance(SECOND);
            system.wait_idle();
            assert_eq!((runs.load(Ordering::Relaxed), system.panicked()), (1, 2));
            system.shutdown(Shutdown::Drain);
        });
    }
}

/// The hook runs, and what an action has given to `panic!` is dropped, with no lock held.
#[test]
fn the_hook_may_use_and_end_the_system() {
    for how in [None, Some(Shutdown::Drain), Some(Shutdown::DropPending)] {
        ends(move || {
            let clock = TestClock::new();
            let place = Arc::new(Mutex::new(None::<Handle>));
            let handle = place.clone();
            let builder = EventSystem::builder().workers(1).on_panic(move |panicked| {
                let system = handle.lock().unwrap().clone().unwrap();
                assert!(!system.is_pending(panicked.id));
                assert_eq!(system.cancel_and_wait(panicked.id), Cancel::Running);
                how.into_iter().for_each(|how| system.shutdown(how));
            });
            let system = builder.test_clock(&clock).start().unwrap();
            *place.lock().unwrap() = Some(system.handle());
            let user = system.handle();
            let payload = move || Guest(Some(Box::new(move || assert!(user.pending().is_empty()))));
            let id = system.add_after(SECOND, move |_| panic_any(payload())).unwrap();
            clock.advance(SECOND);
            system.wait_idle();
            assert_eq!((system.panicked(), system.cancel(id)), (1, Cancel::Gone));
            system.shutdown(Shutdown::Drain);
            *place.lock().unwrap() = None;
        });
    }
}

/// Each action waits for the next one in a cycle, and one of them gets `Cancel::Running`.
#[test]
fn actions_that_wait_for_each_other_end() {
    for count in [1, 2, 3, 5] {
        ends(move || {
            let world = World::new(count);
            let barrier = Arc::new(Barrier::new(count));
            let ids = Arc::new(Mutex::new(Vec::new()));
            let (found, told) = channel();
            for n in 0..count {
                let (barrier, shared, found) = (barrier.clone(), ids.clone(), found.clone());
                let action = move |context: &Context<'_>| {
                    barrier.wait();
                    let next = shared.lock().unwrap()[(n + 1) % count];
                    found.send(context.system().cancel_and_wait(next)).unwrap();
                };
                let id = world.system.add_after(SECOND, action).unwrap();
                ids.lock().unwrap().push(id);
            }
            world.pass(SECOND);
            assert_eq!((world.system.ran(), world.system.panicked()), (count as u64, 0));
            // Whoever closes the circle goes on, and so the others do. Of an action that has ended
            // already nothing is found.
            let told: Vec<_> = told.try_iter().collect();
            assert_eq!(told.iter().filter(|found| **found == Cancel::Running).count(), 1);
            assert!(told.len() == count && !told.contains(&Cancel::Cancelled), "{told:?}");
        });
    }
}

#[test]
fn an_action_may_wait_for_idle_and_shutdown() {
    ends(|| {
        let world = World::new(1);
        world
            .system
            .add_after(SECOND, |context| {
                context.system().wait_idle();
                context.system().shutdown(Shutdown::Drain);
                context.system().wait_idle();
            })
            .unwrap();
        world.pass(SECOND);
        world.system.shutdown(Shutdown::Drain);
    });
}

/// The scheduler sleeps for a year, and there is nothing left to sleep for.
#[test]
fn cancelling_the_last_event_ends_a_drain() {
    ends(|| {
        let world = World::new(1);
        let id = world.system.add_after(YEAR, |_| {}).unwrap();
        thread::scope(|scope| {
            scope.spawn(|| world.system.shutdown(Shutdown::Drain));
            while let Ok(more) = world.system.add_after(YEAR, |_| {}) {
                let _ = world.system.cancel(more);
            }
            // Time for the scheduler to fall asleep.
            (0..1_000).for_each(|_| thread::yield_now());
            assert_eq!(world.system.cancel(id), Cancel::Cancelled);
        });
    });
}
