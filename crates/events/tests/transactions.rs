//! Transactions take effect completely or not at all.

use std::error::Error;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use lanesum_events::{
    AddError, Cancel, Context, EventSystem, Every, Missed, Shutdown, TestClock, TransactionError,
};

/// The error of the closures here: their own error or that of the system.
#[derive(Debug, PartialEq)]
enum Failed {
    Mine(&'static str),
    System(TransactionError),
}

impl From<TransactionError> for Failed {
    fn from(error: TransactionError) -> Self {
        Failed::System(error)
    }
}

const CLOSED: TransactionError = TransactionError::Refused(AddError::Closed);

fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

struct Fixture {
    clock: TestClock,
    system: EventSystem,
    runs: Arc<AtomicUsize>,
}

impl Fixture {
    fn new() -> Self {
        let clock = TestClock::new();
        let system = EventSystem::builder().inline().max_pending(4).test_clock(&clock).start();
        Fixture { clock, system: system.unwrap(), runs: Arc::default() }
    }

    fn run(&self) -> impl FnOnce(&Context<'_>) + Send + 'static {
        let runs = self.runs.clone();
        move |_| _ = runs.fetch_add(1, Ordering::Relaxed)
    }

    fn repeated(&self) -> impl FnMut(&Context<'_>) + Send + 'static {
        let runs = self.runs.clone();
        move |_| _ = runs.fetch_add(1, Ordering::Relaxed)
    }

    fn runs_after(&self, time: Duration) -> usize {
        self.clock.advance(time);
        self.system.wait_idle();
        self.runs.load(Ordering::Relaxed)
    }
}

#[test]
fn changes_take_effect_at_the_commit() {
    let f = Fixture::new();
    let old = f.system.add_after(secs(10), f.run()).unwrap();
    let moved = f.system.add_after(secs(10), f.run()).unwrap();
    let added = f.system.transaction(|tx| {
        let added = tx.add_after(Duration::ZERO, f.run())?;
        assert!(tx.cancel(old));
        assert!(!tx.cancel(old), "it has been cancelled in here");
        assert!(tx.reschedule_after(moved, Duration::ZERO));
        let undone = tx.add_after(Duration::ZERO, f.run())?;
        assert!(tx.cancel(undone));
        // No change is visible and no action runs, although it is due.
        assert_eq!(f.runs_after(secs(5)), 0);
        assert!(f.system.is_pending(old) && !f.system.is_pending(added));
        assert_eq!((f.system.len(), f.system.cancel(added)), (2, Cancel::Gone));
        Ok::<_, TransactionError>(added)
    });
    assert!(added.is_ok());
    assert_eq!(f.runs_after(Duration::ZERO), 2);
    assert_eq!(f.runs_after(secs(100)), 2);
    assert_eq!(f.system.cancel(old), Cancel::Gone);
}

#[test]
fn a_failed_transaction_has_no_effect() {
    let f = Fixture::new();
    let old = f.system.add_after(secs(10), f.run()).unwrap();
    let failed = f.system.transaction(|tx| {
        for _ in 0..3 {
            tx.add_after(Duration::ZERO, f.run()).unwrap();
        }
        assert_eq!(tx.add_after(Duration::ZERO, f.run()), Err(AddError::Full));
        assert!(tx.cancel(old));
        Err::<(), _>(Failed::Mine("no"))
    });
    assert_eq!(failed, Err(Failed::Mine("no")));
    assert_eq!((f.system.len(), f.runs_after(secs(1))), (1, 0));
    // Its reserved places are free again.
    for _ in 0..3 {
        f.system.add_after(secs(1), f.run()).unwrap();
    }
    assert_eq!(f.runs_after(secs(10)), 4);
}

#[test]
fn a_panicking_transaction_has_no_effect() {
    let f = Fixture::new();
    let old = f.system.add_after(secs(10), f.run()).unwrap();
    let unwound = catch_unwind(AssertUnwindSafe(|| {
        f.system.transaction(|tx| {
            tx.add_after(Duration::ZERO, f.run()).unwrap();
            tx.cancel(old);
            panic!("in the middle");
            #[expect(unreachable_code, reason = "gives the closure its type")]
            Ok::<(), TransactionError>(())
        })
    }));
    assert!(unwound.is_err());
    assert_eq!((f.system.len(), f.runs_after(secs(1))), (1, 0));
    // And the thread can begin another.
    assert_eq!(f.system.transaction(|tx| Ok::<_, TransactionError>(tx.cancel(old))), Ok(true));
    assert_eq!(f.runs_after(secs(100)), 0);
}

#[test]
fn a_nested_transaction_is_refused() {
    let (f, other) = (Fixture::new(), Fixture::new());
    let outer = f.system.transaction(|tx| {
        tx.add_after(secs(1), f.run()).unwrap();
        for system in [&f.system, &other.system] {
            let inner = system.transaction(|_| Ok::<(), TransactionError>(()));
            assert_eq!(inner, Err(TransactionError::Nested));
            let text = inner.unwrap_err().to_string();
            assert!(text.contains("cannot begin within another"), "{text}");
        }
        Ok::<(), TransactionError>(())
    });
    assert_eq!(outer, Ok(()));
    assert_eq!(f.runs_after(secs(1)), 1);
}

/// An event to be cancelled keeps its place until the commit.
#[test]
fn a_full_system_refuses_a_swap() {
    let f = Fixture::new();
    let old = [1, 2, 3, 4].map(|after| f.system.add_after(secs(after), f.run()).unwrap());
    let swap = || {
        f.system.transaction(|tx| {
            tx.cancel(old[0]);
            tx.add_after(secs(5), f.run())?;
            Ok::<_, TransactionError>(())
        })
    };
    assert_eq!(swap(), Err(TransactionError::Refused(AddError::Full)));
    assert!(f.system.is_pending(old[0]));
    assert_eq!(f.system.cancel(old[1]), Cancel::Cancelled);
    assert_eq!(swap(), Ok(()));
    assert_eq!((f.system.len(), f.system.is_pending(old[0])), (3, false));
}

#[test]
fn a_transaction_on_a_finished_event_is_refused() {
    let f = Fixture::new();
    let soon = f.system.add_after(secs(1), f.run()).unwrap();
    let refused = f.system.transaction(|tx| {
        assert!(tx.cancel(soon));
        tx.add_after(secs(1), f.run()).unwrap();
        assert_eq!(f.runs_after(secs(1)), 1);
        Ok::<(), TransactionError>(())
    });
    assert_eq!(refused, Err(TransactionError::Conflict(soon)));
    assert_eq!((f.system.len(), f.runs_after(secs(100))), (0, 1));
}

#[test]
fn a_transaction_after_shutdown_is_refused() {
    let f = Fixture::new();
    let refused = f.system.transaction(|tx| {
        tx.add_after(Duration::ZERO, f.run()).unwrap();
        f.system.shutdown(Shutdown::DropPending);
        Ok::<(), TransactionError>(())
    });
    assert_eq!(refused, Err(CLOSED));
    assert_eq!(f.runs_after(secs(1)), 0);
}

/// Two events that always move together: no reader sees one without the other.
#[test]
fn other_threads_see_all_changes_or_none() {
    let clock = TestClock::new();
    let system = EventSystem::builder().workers(2).test_clock(&clock).start().unwrap();
    let counts = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..2)
            .map(|_| {
                scope.spawn(|| {
                    for _ in 0..5_000 {
                        let pair = system.transaction(|tx| {
                            Ok::<_, TransactionError>([
                                tx.add_after(secs(1), |_| {})?,
                                tx.add_after(secs(2), |_| {})?,
                            ])
                        });
                        let pair = pair.unwrap();
                        let both = system.transaction(|tx| {
                            Ok::<_, TransactionError>(pair.map(|id| tx.cancel(id)))
                        });
                        assert_eq!(both, Ok([true, true]));
                    }
                })
            })
            .collect();
        let mut counts = Vec::new();
        while writers.iter().any(|writer| !writer.is_finished()) {
            counts.push(system.len());
        }
        counts
    });
    assert!(counts.iter().all(|count| count % 2 == 0), "half a transaction was seen");
    assert!(system.is_empty());
}

#[test]
fn a_transaction_can_add_a_repetition() {
    let f = Fixture::new();
    let every = Every::new(secs(10)).jitter(secs(4)).seed(1).missed(Missed::RunAll);
    let [late, moved] = f
        .system
        .transaction(|tx| {
            let late = tx.repeat_after(secs(10), every, f.repeated())?;
            let moved = tx.repeat_at(f.clock.wall() + secs(10), every, f.repeated())?;
            assert!(tx.reschedule_at(moved, f.clock.wall() + secs(1_000)));
            assert_eq!(f.runs_after(secs(0)), 0);
            Ok::<_, TransactionError>([late, moved])
        })
        .unwrap();
    let (first, second) = (f.system.pending()[0], f.system.pending()[1]);
    assert_eq!((first.id, second.id, first.repeats), (late, moved, true));
    assert!(first.remaining <= secs(14) && second.remaining >= secs(1_000));
    // At 10, 20 and 30, each at most 4 s late: jitter does not add up.
    assert_eq!(f.runs_after(secs(34)), 3);
    assert_eq!([f.system.cancel(late), f.system.cancel(moved)], [Cancel::Cancelled; 2]);
    assert_eq!(f.runs_after(secs(10_000)), 3);

    // Each is delayed by its own jitter, not by that of the first.
    let (start, late) = (f.clock.wall(), Arc::new(Mutex::new(Vec::new())));
    let (log, clock) = (late.clone(), f.clock.clone());
    let action = move |_: &Context<'_>| {
        let now = clock.wall().duration_since(start).unwrap();
        log.lock().unwrap().push(Duration::from_nanos(now.as_nanos() as u64 % 10_000_000_000));
    };
    let id = f.system.transaction(|tx| {
        let id = tx.repeat_after(secs(10), every, action)?;
        Ok::<_, TransactionError>(id)
    });
    f.clock.run_until(&f.system, start + secs(1_000));
    let late = late.lock().unwrap();
    assert!(late.len() >= 98 && late.iter().all(|&late| late <= secs(4)), "{late:?}");
    assert_eq!(f.system.cancel(id.unwrap()), Cancel::Cancelled);

    let none = Every::new(Duration::ZERO);
    let refused = f.system.transaction(|tx| {
        tx.repeat_after(secs(1), every, f.repeated())?;
        tx.repeat_after(secs(1), none, f.repeated())?;
        Ok::<_, TransactionError>(())
    });
    assert_eq!(refused, Err(TransactionError::Refused(AddError::NoInterval)));
    assert!(f.system.is_empty());
}

/// The error goes where `?` takes it, also into another thread.
#[test]
fn transaction_error_implements_error() {
    fn commit(system: &EventSystem) -> Result<(), Box<dyn Error + Send + Sync>> {
        system.transaction(|_| Ok::<_, TransactionError>(()))?;
        // A transaction with several kinds of errors.
        system.transaction(|tx| {
            "7".parse::<u64>()?;
            tx.add_after(secs(1), |_| {})?;
            Ok::<_, Box<dyn Error + Send + Sync>>(())
        })
    }
    let f = Fixture::new();
    assert!(commit(&f.system).is_ok());
    f.system.shutdown(Shutdown::DropPending);
    let error = std::thread::scope(|scope| scope.spawn(|| commit(&f.system)).join().unwrap());
    let error = error.unwrap_err();
    assert_eq!(error.downcast_ref(), Some(&CLOSED));
    assert_eq!(error.to_string(), AddError::Closed.to_string());
}
