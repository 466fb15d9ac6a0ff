//! `lanesum-events`, whose workers have stacks of `RUST_MIN_STACK` bytes.

use std::panic::resume_unwind;
use std::sync::mpsc::channel;
use std::time::{Duration, SystemTime};

use lanesum_events::{
    AddError, Cancel, Context, DelayClock, EventSystem, Every, Missed, Schedule, Shutdown,
    TestClock, TransactionError,
};

const SECOND: Duration = Duration::from_secs(1);

pub fn call() {
    schedule();
    for workers in [0, 2] {
        let clock = TestClock::at(SystemTime::UNIX_EPOCH + SECOND);
        let builder = EventSystem::builder().workers(workers).test_clock(&clock);
        let builder = builder.max_pending(100).delay_clock(DelayClock::Boot).on_panic(|panicked| {
            assert_eq!(panicked.message(), Some("on purpose"));
        });
        let system = builder.start().unwrap();
        run(&system, &clock);
        change(&system, &clock);
        #[cfg(feature = "more")]
        with_more(&system, &clock);
        system.shutdown(Shutdown::Drain);
        assert_eq!(system.add_after(SECOND, |_| {}), Err(AddError::Closed));
    }
    let system = EventSystem::start().unwrap();
    let (send, receive) = channel();
    system.add_after(Duration::ZERO, move |_| send.send(()).unwrap()).unwrap();
    receive.recv().unwrap();
}

fn run(system: &EventSystem, clock: &TestClock) {
    let (send, receive) = channel();
    let again = move |context: &Context<'_>| {
        send.send(context.id()).unwrap();
        let handle = context.system().clone();
        let send = send.clone();
        handle.add_after(SECOND, move |context| send.send(context.id()).unwrap()).unwrap();
    };
    let first = system.add_at(clock.wall() + SECOND, again).unwrap();
    clock.run_until(system, clock.wall() + 2 * SECOND);
    assert_eq!(receive.try_iter().collect::<Vec<_>>().first(), Some(&first));
    let every = Every::new(SECOND).missed(Missed::RunAll).jitter(SECOND / 10).seed(7);
    let repeat = system.repeat_after(SECOND, every, |_| {}).unwrap();
    system
        .repeat_at(clock.wall(), Every::new(SECOND), |_| {
            // Without a word on standard error.
            resume_unwind(Box::new("on purpose"));
        })
        .unwrap();
    clock.advance(5 * SECOND);
    clock.suspend(SECOND);
    system.wait_idle();
    assert!(system.ran() > 3 && system.panicked() == 1);
    assert!(matches!(system.cancel_and_wait(repeat), Cancel::Cancelled | Cancel::Ended));
}

fn change(system: &EventSystem, clock: &TestClock) {
    let handle = system.handle();
    let id = handle.add_after(SECOND, |_| {}).unwrap();
    let timed = handle.add_at(clock.wall() + SECOND, |_| {}).unwrap();
    assert!(handle.reschedule_after(id, 5 * SECOND));
    assert!(handle.reschedule_at(timed, clock.wall() + 9 * SECOND));
    assert!(handle.is_pending(id) && handle.len() == 2 && !handle.is_empty());
    assert_eq!(handle.pending()[0].remaining, 5 * SECOND);
    let [repeated, added] = handle
        .transaction(|tx| {
            tx.reschedule_after(id, 2 * SECOND);
            tx.reschedule_at(timed, clock.wall());
            tx.cancel(timed);
            tx.repeat_after(SECOND, Every::new(SECOND), |_| {})?;
            let repeated = tx.repeat_at(clock.wall(), Every::new(SECOND), |_| {})?;
            tx.add_at(clock.wall(), |_| {})?;
            Ok::<_, TransactionError>([repeated, tx.add_after(SECOND, |_| {})?])
        })
        .unwrap();
    clock.set_wall(clock.wall() + SECOND);
    clock.advance(3 * SECOND);
    handle.wait_idle();
    assert!(!handle.is_pending(added) && handle.cancel(repeated) == Cancel::Cancelled);
    for action in handle.pending() {
        assert_eq!(handle.cancel(action.id), Cancel::Cancelled);
    }
}

fn schedule() {
    let mut schedule = Schedule::with_bound(1000);
    let ids: Vec<_> = (0..1000).map(|n| schedule.add(n * 7 % 1000, n).unwrap()).collect();
    assert!(schedule.add(1, 1).is_err() && schedule.len() == 1000 && !schedule.is_empty());
    assert!(schedule.reschedule(ids[1], 5000) && schedule.is_pending(ids[1]));
    assert!(schedule.cancel(ids[2]) == Some(2) && schedule.get(ids[2]).is_none());
    *schedule.get_mut(ids[3]).unwrap() = 3;
    let idle = schedule.add_idle(77).unwrap();
    assert!(schedule.idle() == 1 && schedule.cancel(idle) == Some(77));
    assert_eq!(schedule.next_deadline(), Some(0));
    assert_eq!(schedule.peek_due(0), Some((0, &0)));
    let claim = schedule.claim_due(0).unwrap();
    assert_eq!((claim.id, claim.deadline, *claim.payload), (ids[0], 0, 0));
    assert_eq!(schedule.iter().count(), 998);
    let snapshot = schedule.snapshot();
    let mut other = Schedule::new();
    assert_eq!(other.restore(snapshot).unwrap().len(), 998);
    assert!(std::iter::from_fn(|| other.pop_due(u64::MAX)).map(|due| due.0).is_sorted());
    assert!(schedule.heap_size() > 0);
}

#[cfg(feature = "more")]
fn with_more(system: &EventSystem, clock: &TestClock) {
    use futures_core::Stream;
    use std::future::Future;
    use std::pin::{Pin, pin};
    use std::task::{Context, Poll, Waker};

    let mut context = Context::from_waker(Waker::noop());
    let mut sleeps = [
        pin!(system.sleep(SECOND).unwrap()),
        pin!(system.sleep_until(clock.wall() + SECOND).unwrap()),
    ];
    let mut late = pin!(system.timeout(SECOND, std::future::pending::<()>()).unwrap());
    let mut due = system.due_stream();
    due.add_after(SECOND, "after").unwrap();
    due.add_at(clock.wall() + 2 * SECOND, "at").unwrap();
    let last = due.add_after(9 * SECOND, "never").unwrap();
    assert!(due.cancel(last) == Some("never") && late.as_mut().poll(&mut context).is_pending());
    assert!(sleeps.iter_mut().all(|sleep| sleep.as_mut().poll(&mut context).is_pending()));
    assert!(Pin::new(&mut due).poll_next(&mut context).is_pending());
    for _ in 0..3 {
        clock.advance(SECOND);
        system.wait_idle();
    }
    for sleep in &mut sleeps {
        assert_eq!(sleep.as_mut().poll(&mut context), Poll::Ready(Ok(())));
    }
    assert!(matches!(late.as_mut().poll(&mut context), Poll::Ready(Err(_))));
    for expected in [Some("after"), Some("at"), None] {
        let due = Pin::new(&mut due).poll_next(&mut context);
        assert_eq!(due.map(|due| due.map(|due| due.item)), Poll::Ready(expected));
    }
    let mut schedule = Schedule::new();
    schedule.add(7, "seven".to_owned()).unwrap();
    let json = serde_json::to_string(&schedule.snapshot()).unwrap();
    let mut restored = Schedule::<String>::new();
    assert_eq!(restored.restore(serde_json::from_str(&json).unwrap()).unwrap().len(), 1);
}
